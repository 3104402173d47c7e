/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/method_trace/part.h"

#include <string.h>

#include "base/memory.h"
#include "readers/method_trace/records.h"
#include "readers/method_trace/times.h"

static bool others_stopped(struct tv_mt_part *part)
{
    return atomic_load_explicit(&part->delivery->stop, memory_order_relaxed);
}

static void hand_on(struct tv_mt_part *part, const struct tv_batch *batch)
{
    struct tv_mt_delivery *delivery = part->delivery;
    if (batch->count == 0)
        return;
    if (!part->has_events)
        part->first_wall = batch->events[0].wall;
    part->has_events = true;
    part->last_wall = batch->events[batch->count - 1].wall;
    part->records += batch->count;
    delivery->sink->ops->take(delivery->sink, delivery->pass, part->index, batch);
}

/* ---- Records of one size, fast ---- */

/* Events that wait for their batch to fill: units of streaming files are short. */
struct pending {
    struct tv_event events[TV_BATCH_EVENTS];
    uint32_t offsets[TV_BATCH_EVENTS];
    struct tv_batch batch;
};

static void flush(struct tv_mt_part *part, struct pending *pending)
{
    hand_on(part, &pending->batch);
    pending->batch.count = 0;
}

static void begin_batch(struct tv_mt_part *part, struct pending *pending, uint64_t offset)
{
    struct tv_batch *batch = &pending->batch;
    if (batch->count == TV_BATCH_EVENTS ||
        (batch->count > 0 && offset - batch->offset > UINT32_MAX / 2))
        flush(part, pending);
    if (batch->count == 0)
        batch->offset = offset;
}

static void add_offsets(struct pending *pending, uint64_t offset, size_t count, uint32_t size)
{
    struct tv_batch *batch = &pending->batch;
    uint32_t distance = (uint32_t)(offset - batch->offset);
    for (size_t i = 0; i < count; i++, distance += size)
        pending->offsets[batch->count + i] = distance;
}

/* Takes the records of `bytes`; *taken of them, whole. False: the part stopped. */
static bool take_chunk(struct tv_mt_part *part, struct tv_mt_fast *fast, struct pending *pending,
                       struct tv_bytes bytes, uint64_t offset)
{
    const uint32_t size = fast->file->record_size;
    size_t left = bytes.length / size;
    const uint8_t *at = bytes.data;
    while (left > 0) {
        begin_batch(part, pending, offset);
        struct tv_batch *batch = &pending->batch;
        size_t room = TV_BATCH_EVENTS - batch->count;
        size_t want = left < room ? left : room;
        size_t got = tv_mt_fast_take(fast, at, offset, want, pending->events + batch->count);
        if (batch->offsets)
            add_offsets(pending, offset, got, size);
        batch->count += got;
        if (fast->stop == TV_MT_SKIP) {
            tv_diagnostics_add(&part->diagnostics, TV_DIAGNOSTIC_BAD_ACTION, offset + got * size);
            flush(part, pending);
            got++;
        } else if (fast->stop != TV_MT_GO_ON) {
            return false;
        }
        left -= got;
        at += got * size;
        offset += got * size;
    }
    return true;
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
        if (bytes.length > to - from)
            bytes.length = (size_t)(to - from);
        bytes.length -= bytes.length % file->record_size;
        if (!take_chunk(part, fast, pending, bytes, from))
            part->stop = fast->stop;
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
    part->status = part->delivery->fast ? read_fast(part) : read_plain(part);
    if (part->status != TV_OK || part->stop != TV_MT_GO_ON)
        atomic_store_explicit(&part->delivery->stop, true, memory_order_relaxed);
}
