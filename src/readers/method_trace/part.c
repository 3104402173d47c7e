/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/method_trace/part.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "model/sketch.h"
#include "readers/method_trace/deltas.h"
#include "readers/method_trace/records.h"
#include "readers/method_trace/times.h"

static bool others_stopped(struct tv_mt_part *part)
{
    return atomic_load_explicit(&part->delivery->stop, memory_order_relaxed);
}

/* ---- The sketch ---- */

/* One event of so many: it costs next to nothing. */
#define MARKED 64

/* "[2714] main", as the time line has it. */
static uint32_t find_sketched(const struct tv_mt_file *file, uint32_t thread)
{
    char name[TV_SKETCH_NAME + 1];
    struct tv_bytes told = tv_trace_info_text(file->head, file->head->threads[thread].name);
    int length = snprintf(name, sizeof name, "[%" PRIu64 "] %.*s", file->head->threads[thread].id,
                          told.length < TV_SKETCH_NAME ? (int)told.length : (int)TV_SKETCH_NAME,
                          (const char *)told.data);
    size_t kept = length < 0 ? 0 : (size_t)length < sizeof name ? (size_t)length : TV_SKETCH_NAME;
    return tv_sketch_track(file->progress->sketch, (struct tv_bytes){(const uint8_t *)name, kept});
}

/* Parts that ask for the same thread at once get the same answer. */
static uint32_t sketched(const struct tv_mt_delivery *delivery, uint32_t thread)
{
    _Atomic uint32_t *known = &delivery->sketched[thread - delivery->file->first_thread];
    uint32_t track = atomic_load_explicit(known, memory_order_relaxed);
    if (track == 0) {
        track = find_sketched(delivery->file, thread);
        track += track != TV_NONE;
        atomic_store_explicit(known, track, memory_order_relaxed);
    }
    return track == TV_NONE ? TV_NONE : track - 1;
}

static int64_t sketched_time(const struct tv_mt_file *file, const struct tv_event *event)
{
    int64_t time = file->clocks & TV_CLOCK_WALL ? event->wall : event->cpu;
    int64_t tick = file->head->inputs[file->input].tick_ns;
    int64_t limit = INT64_MAX / tick;
    return time > limit ? INT64_MAX : time < -limit ? -INT64_MAX : time * tick;
}

/* The first pass sees all there is. */
static void sketch(const struct tv_mt_delivery *delivery, const struct tv_batch *batch)
{
    struct tv_sketch_mark marks[TV_BATCH_EVENTS / MARKED];
    size_t count = 0;
    if (!delivery->sketched || delivery->pass > 0)
        return;
    for (size_t i = 0; i < batch->count; i += MARKED) {
        const struct tv_event *event = &batch->events[i];
        marks[count++] = (struct tv_sketch_mark){sketched_time(delivery->file, event),
                                                 sketched(delivery, event->thread)};
    }
    tv_sketch_add(delivery->file->progress->sketch, marks, count);
}

/* ---- Handing on ---- */

/* A sink that writes cannot be told later that the clock had wrapped.  While no record's time lies
 * that far before the one in front of it, whatever may be found out later leaves times as they are
 * (times.h). */
static bool may_wrap(const struct tv_mt_part *part, const struct tv_batch *batch)
{
    const struct tv_mt_delivery *delivery = part->delivery;
    if (!delivery->fast || !delivery->writes || delivery->file->wraps != TV_MT_WRAPS_UNKNOWN)
        return false;
    int64_t last = part->has_events ? part->last_wall : 0;
    for (size_t i = 0; i < batch->count; i++) {
        if (last - batch->events[i].wall > TV_MT_WRAP_SLACK)
            return true;
        last = batch->events[i].wall;
    }
    return false;
}

/* Without the events that the sink has had. */
static struct tv_batch take_off_had(const struct tv_mt_part *part, const struct tv_batch *batch)
{
    uint64_t had = part->delivery->had, before = part->records;
    struct tv_batch rest = *batch;
    uint64_t off = had <= before ? 0 : had - before;
    if (off > batch->count)
        off = batch->count;
    rest.events += off;
    rest.count -= (size_t)off;
    if (batch->offsets)
        rest.offsets += off;
    else
        rest.offset += off * batch->stride;
    return rest;
}

static void hand_on(struct tv_mt_part *part, const struct tv_batch *batch)
{
    struct tv_mt_delivery *delivery = part->delivery;
    if (batch->count == 0)
        return;
    struct tv_batch rest = take_off_had(part, batch);
    if (!part->has_events)
        part->first_wall = batch->events[0].wall;
    part->has_events = true;
    part->last_wall = batch->events[batch->count - 1].wall;
    part->records += batch->count;
    sketch(delivery, batch);
    if (rest.count > 0)
        delivery->sink->ops->take(delivery->sink, delivery->pass, part->index, &rest);
}

/* ---- Records of one size, fast ---- */

/* Events that wait for their batch to fill: units of streaming files are short. */
struct pending {
    struct tv_event events[TV_BATCH_EVENTS];
    uint32_t offsets[TV_BATCH_EVENTS];
    struct tv_batch batch;
};

/* False: the part stopped. */
static bool flush(struct tv_mt_part *part, struct pending *pending)
{
    bool good = !may_wrap(part, &pending->batch);
    if (good)
        hand_on(part, &pending->batch);
    else
        part->stop = TV_MT_STOP_WRAPS;
    pending->batch.count = 0;
    return good;
}

static bool begin_batch(struct tv_mt_part *part, struct pending *pending, uint64_t offset)
{
    struct tv_batch *batch = &pending->batch;
    bool full = batch->count == TV_BATCH_EVENTS ||
                (batch->count > 0 && offset - batch->offset > UINT32_MAX / 2);
    if (full && !flush(part, pending))
        return false;
    if (batch->count == 0)
        batch->offset = offset;
    return true;
}

static void add_offsets(struct pending *pending, uint64_t offset, size_t count, uint32_t size)
{
    struct tv_batch *batch = &pending->batch;
    uint32_t distance = (uint32_t)(offset - batch->offset);
    for (size_t i = 0; i < count; i++, distance += size)
        pending->offsets[batch->count + i] = distance;
}

/* Takes the records of `bytes`, which are whole, or stops the part. */
static void take_chunk(struct tv_mt_part *part, struct tv_mt_fast *fast, struct pending *pending,
                       struct tv_bytes bytes, uint64_t offset)
{
    const uint32_t size = fast->file->record_size;
    size_t left = bytes.length / size;
    const uint8_t *at = bytes.data;
    while (left > 0) {
        if (!begin_batch(part, pending, offset))
            return;
        struct tv_batch *batch = &pending->batch;
        size_t room = TV_BATCH_EVENTS - batch->count;
        size_t want = left < room ? left : room;
        size_t got = tv_mt_fast_take(fast, at, offset, want, pending->events + batch->count);
        if (batch->offsets)
            add_offsets(pending, offset, got, size);
        batch->count += got;
        if (fast->stop == TV_MT_SKIP) {
            tv_diagnostics_add(&part->diagnostics, TV_DIAGNOSTIC_BAD_ACTION, offset + got * size);
            if (!flush(part, pending))
                return;
            got++;
        } else if (fast->stop != TV_MT_GO_ON) {
            part->stop = fast->stop;
            return;
        }
        left -= got;
        at += got * size;
        offset += got * size;
    }
}

/* The stretch of a unit that belongs to the part. */
static void unit_range(const struct tv_mt_part *part, size_t index, uint64_t *from, uint64_t *to)
{
    const struct tv_mt_unit *unit = &part->delivery->file->units[index];
    *from = unit->offset + (index == part->start.unit ? part->start.done : 0);
    *to = unit->offset + (index == part->end.unit ? part->end.done : unit->size);
}

static enum tv_status read_fast_unit(struct tv_mt_part *part, struct tv_mt_fast *fast,
                                     struct pending *pending, struct tv_window *window, size_t unit)
{
    struct tv_mt_file *file = part->delivery->file;
    uint64_t from, to;
    unit_range(part, unit, &from, &to);
    while (from < to && part->stop == TV_MT_GO_ON && !others_stopped(part)) {
        struct tv_bytes bytes;
        enum tv_status status = tv_window_at(window, from, file->record_size, &bytes, &part->error);
        if (status != TV_OK)
            return status;
        if (bytes.length < file->record_size) {
            tv_mt_end_open(file);
            break;
        }
        if (bytes.length > to - from)
            bytes.length = (size_t)(to - from);
        bytes.length -= bytes.length % file->record_size;
        take_chunk(part, fast, pending, bytes, from);
        /* What has come by now does not wait for what fills the batch. */
        if (file->open && part->stop == TV_MT_GO_ON)
            flush(part, pending);
        from += bytes.length;
        status =
            tv_mt_records_pass(file, bytes.length, bytes.length / file->record_size, &part->error);
        if (status != TV_OK)
            return status;
    }
    return TV_OK;
}

static enum tv_status read_fast(struct tv_mt_part *part)
{
    struct tv_mt_file *file = part->delivery->file;
    struct tv_mt_fast fast;
    struct tv_window window;
    enum tv_status status = TV_OK;
    struct pending *pending = tv_alloc(1, sizeof *pending);
    pending->batch.events = pending->events;
    pending->batch.stride = file->record_size;
    pending->batch.offsets = file->unit_count > 1 ? pending->offsets : NULL;
    tv_mt_fast_init(&fast, file, &part->delivery->frames, part->spans, &part->diagnostics);
    tv_window_init(&window, file->source);

    for (size_t unit = part->start.unit; unit < file->unit_count && unit <= part->end.unit &&
                                         status == TV_OK && part->stop == TV_MT_GO_ON;
         unit++)
        status = read_fast_unit(part, &fast, pending, &window, unit);
    if (status == TV_OK && part->stop == TV_MT_GO_ON)
        flush(part, pending);

    part->unrolls = fast.unrolls;
    tv_window_release(&window);
    tv_mt_fast_release(&fast);
    tv_free(pending);
    return status;
}

/* ---- Delta-coded entries, fast ---- */

/* Takes whole records from the block's bytes at `offset`, or stops the part. Returns how many. */
static uint64_t take_deltas(struct tv_mt_part *part, struct tv_mt_deltas *deltas,
                            struct pending *pending, struct tv_mt_deltas_left *left,
                            uint64_t offset)
{
    struct tv_batch *batch = &pending->batch;
    uint64_t taken = 0;
    size_t got;
    do {
        if (!begin_batch(part, pending, offset))
            return taken;
        const uint8_t *start = left->bytes.data;
        uint32_t distance = (uint32_t)(offset - batch->offset), *offsets;
        offsets = pending->offsets + batch->count;
        got = tv_mt_deltas_take(deltas, left, TV_BATCH_EVENTS - batch->count,
                                pending->events + batch->count, offsets);
        for (size_t i = 0; i < got; i++)
            offsets[i] += distance;
        batch->count += got;
        taken += got;
        offset += (uint64_t)(left->bytes.data - start);
    } while (got > 0 && deltas->stop == TV_MT_GO_ON);
    part->stop = deltas->stop;
    return taken;
}

static enum tv_status read_deltas_unit(struct tv_mt_part *part, struct tv_mt_deltas *deltas,
                                       struct pending *pending, struct tv_window *window,
                                       const struct tv_mt_unit *unit)
{
    uint64_t from = unit->offset, to = unit->offset + unit->size;
    while (from < to && part->stop == TV_MT_GO_ON && !others_stopped(part)) {
        struct tv_mt_deltas_left left;
        size_t least =
            to - from < TV_MT_LONGEST_DELTAS ? (size_t)(to - from) : TV_MT_LONGEST_DELTAS;
        enum tv_status status = tv_window_at(window, from, least, &left.bytes, &part->error);
        if (status != TV_OK)
            return status;
        left.all = left.bytes.length >= to - from;
        if (left.all)
            left.bytes.length = (size_t)(to - from);
        if (left.bytes.length < least) { /* the file has become shorter */
            part->stop = TV_MT_STOP_ODD;
            return TV_OK;
        }
        size_t length = left.bytes.length;
        uint64_t count = take_deltas(part, deltas, pending, &left, from);
        uint64_t size = length - left.bytes.length;
        from += size;
        status = tv_mt_records_pass(part->delivery->file, size, count, &part->error);
        if (status != TV_OK)
            return status;
    }
    return TV_OK;
}

/* Parts consist of whole units. */
static enum tv_status read_deltas(struct tv_mt_part *part)
{
    struct tv_mt_file *file = part->delivery->file;
    struct tv_mt_deltas deltas;
    struct tv_window window;
    enum tv_status status = TV_OK;
    struct pending *pending = tv_alloc(1, sizeof *pending);
    pending->batch.events = pending->events;
    pending->batch.offsets = pending->offsets;
    tv_mt_deltas_init(&deltas, file, part->spans);
    tv_window_init(&window, file->source);

    for (size_t unit = part->start.unit;
         unit < part->end.unit && status == TV_OK && part->stop == TV_MT_GO_ON; unit++) {
        tv_mt_deltas_seek(&deltas, unit);
        part->stop = deltas.stop;
        if (part->stop == TV_MT_GO_ON)
            status = read_deltas_unit(part, &deltas, pending, &window, &file->units[unit]);
    }
    if (status == TV_OK && part->stop == TV_MT_GO_ON)
        flush(part, pending);

    part->unrolls = deltas.unrolls;
    tv_window_release(&window);
    tv_free(pending);
    return status;
}

/* ---- Any records, plainly ---- */

/* How far a part that reads plainly is. */
struct plain {
    struct tv_mt_part *part;
    struct tv_mt_records records;
    struct tv_event events[TV_BATCH_EVENTS];
    uint32_t offsets[TV_BATCH_EVENTS];
    int64_t wall, cpu; /* of the last record of any thread */
};

static bool wraps(const struct tv_mt_file *file)
{
    return file->wraps == TV_MT_WRAPS_BY_THREAD || file->wraps == TV_MT_WRAPS_BY_ORDER;
}

/* Makes a record's times those of an event. */
static void set_times(struct plain *plain, struct tv_mt_span *span, struct tv_mt_record *record)
{
    struct tv_mt_part *part = plain->part;
    const struct tv_mt_file *file = part->delivery->file;
    if (wraps(file)) {
        int64_t raw_wall = record->wall, raw_cpu = record->cpu;
        bool by_order = file->wraps == TV_MT_WRAPS_BY_ORDER;
        if (file->clocks & TV_CLOCK_WALL)
            record->wall =
                tv_mt_times_unwrap(by_order, raw_wall, span->seen, span->last_wall, plain->wall);
        if (!by_order && !span->seen && file->latest_start)
            record->wall = tv_mt_times_not_after(raw_wall, record->wall,
                                                 file->latest_start[span - part->spans]);
        record->cpu = tv_mt_times_unwrap(false, raw_cpu, span->seen, span->last_cpu, -1);
        if (record->wall - raw_wall != span->wall_epoch || record->cpu - raw_cpu != span->cpu_epoch)
            tv_diagnostics_add(&part->diagnostics, TV_DIAGNOSTIC_WRAPPED_CLOCK, record->offset);
        span->wall_epoch = record->wall - raw_wall;
        span->cpu_epoch = record->cpu - raw_cpu;
    }
    plain->wall = record->wall;
    if (!span->seen) {
        *span = (struct tv_mt_span){
            .seen = true,
            .first_wall = record->wall,
            .first_cpu = record->cpu,
            .wall_epoch = span->wall_epoch,
            .cpu_epoch = span->cpu_epoch,
        };
    } else if (record->wall < span->last_wall || record->cpu < span->last_cpu) {
        tv_diagnostics_add(&part->diagnostics, TV_DIAGNOSTIC_TIME_BACKWARDS, record->offset);
        record->wall = record->wall < span->last_wall ? span->last_wall : record->wall;
        record->cpu = record->cpu < span->last_cpu ? span->last_cpu : record->cpu;
    }
    span->last_wall = record->wall;
    span->last_cpu = record->cpu;
}

/* Threads and frames are in the head by now: plain reading begins with the survey of ids. */
static struct tv_event make_event(struct plain *plain, struct tv_mt_record *record)
{
    struct tv_mt_part *part = plain->part;
    const struct tv_mt_file *file = part->delivery->file;
    uint32_t thread = tv_map_find(&file->threads, record->tid);
    uint32_t frame = TV_ANY_FRAME;
    if (thread == TV_NONE)
        thread = file->other_thread;
    if (record->id != TV_MT_NO_ID)
        frame = tv_map_find(&file->methods, record->id);
    if (frame == TV_NONE)
        frame = file->other_frame;
    set_times(plain, &part->spans[thread - file->first_thread], record);
    part->unrolls += record->action == TV_MT_UNROLL;
    return (struct tv_event){
        .wall = record->wall,
        .cpu = record->cpu,
        .thread = thread,
        .action = record->action & 3,
        .frame = frame & TV_ANY_FRAME,
    };
}

static void hand_on_records(struct plain *plain)
{
    struct tv_mt_records *records = &plain->records;
    struct tv_batch batch = {
        .events = plain->events,
        .count = records->count,
        .offset = records->records[0].offset,
        .offsets = plain->offsets,
    };
    for (size_t i = 0; i < records->count; i++) {
        struct tv_mt_record *record = &records->records[i];
        plain->offsets[i] = (uint32_t)(record->offset - batch.offset);
        plain->events[i] = make_event(plain, record);
    }
    hand_on(plain->part, &batch);
}

/* A part that is read plainly consists of whole units. */
static enum tv_status read_plain(struct tv_mt_part *part)
{
    struct tv_mt_file *file = part->delivery->file;
    struct plain *plain = tv_alloc(1, sizeof *plain);
    enum tv_status status = TV_OK;
    plain->part = part;
    plain->wall = -1;
    tv_mt_records_init(&plain->records, file, &part->diagnostics);
    for (size_t unit = part->start.unit; unit < part->end.unit && status == TV_OK; unit++) {
        if (file->switch_count > 0)
            tv_mt_switch_to(file, unit);
        tv_mt_records_seek(&plain->records, unit);
        do {
            status = tv_mt_records_next(&plain->records, &part->error);
            if (status == TV_OK && plain->records.count > 0)
                hand_on_records(plain);
        } while (status == TV_OK && plain->records.count > 0 && !others_stopped(part));
    }
    tv_mt_records_release(&plain->records);
    tv_free(plain);
    return status;
}

void tv_mt_part_read(struct tv_mt_part *part)
{
    const struct tv_mt_delivery *delivery = part->delivery;
    part->status = delivery->fast     ? read_fast(part)
                   : delivery->deltas ? read_deltas(part)
                                      : read_plain(part);
    if (part->status != TV_OK || part->stop != TV_MT_GO_ON)
        atomic_store_explicit(&part->delivery->stop, true, memory_order_relaxed);
}
