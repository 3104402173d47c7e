/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk.c - reading a chunk: records become events, events become batches for the sink.
 *
 *     mt_chunk_read_fast     records of one size          fast.c     most files
 *     mt_chunk_read_deltas   delta-coded entries          deltas     packet files
 *     mt_chunk_read_plain    any layout, one by one       records.c  everything else
 *
 * The fast ways know the ids of the head only, and assume that clocks do not wrap. When a record
 * does not fit (an id that is not listed, a step back in time that may be a wrap, a block out of
 * order), they stop the chunk, and through `stop` all others: deliver.c then reads again, the
 * general way or after a survey.
 * Nothing is corrected halfway, so all ways give the same events.
 *
 * A batch has at most TV_BATCH_EVENTS events, in the order of the file. The offset of an event is
 * the batch's and a stride, or, where units lie between, 32 bits for each.
 */
#include "readers/method_trace/deliver.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "model/sketch.h"
#include "readers/method_trace/records.h"

/* Has a chunk found that everything must be read another way? Then the work here is wasted. */
static bool mt_chunk_others_stopped(struct tv_mt_chunk *chunk)
{
    return atomic_load_explicit(&chunk->delivery->stop, memory_order_relaxed);
}

/* ---- The sketch ---- */

/* One of this many events goes into the sketch, so it costs next to nothing. */
#define MARKED 64

/* Add a track to the sketch, with a name like in the timeline: "[2714] main". */
static uint32_t mt_sketch_add_thread(const struct tv_mt_file *file, uint32_t thread)
{
    char name[TV_SKETCH_NAME + 1];
    struct tv_bytes told = tv_trace_info_text(file->head, file->head->threads[thread].name);
    int length = snprintf(name, sizeof name, "[%" PRIu64 "] %.*s", file->head->threads[thread].id,
                          told.length < TV_SKETCH_NAME ? (int)told.length : (int)TV_SKETCH_NAME,
                          (const char *)told.data);
    size_t kept = length < 0 ? 0 : (size_t)length < sizeof name ? (size_t)length : TV_SKETCH_NAME;
    return tv_sketch_track(file->progress->sketch, (struct tv_bytes){(const uint8_t *)name, kept});
}

/* Return the sketch track of a thread. Chunks that add the same thread at the same time get the
 * same track. */
static uint32_t mt_sketch_find_thread(const struct tv_mt_delivery *delivery, uint32_t thread)
{
    assert(thread >= delivery->file->first_thread);
    _Atomic uint32_t *known = &delivery->sketched[thread - delivery->file->first_thread];
    uint32_t track = atomic_load_explicit(known, memory_order_relaxed);
    if (track == 0) {
        track = mt_sketch_add_thread(delivery->file, thread);
        track += track != TV_NONE;
        atomic_store_explicit(known, track, memory_order_relaxed);
    }
    return track == TV_NONE ? TV_NONE : track - 1;
}

/* Return the time of an event in nanoseconds; a damaged one stays at the limits. */
static int64_t mt_sketch_time(const struct tv_mt_file *file, const struct tv_event *event)
{
    int64_t time = file->clocks & TV_CLOCK_WALL ? event->wall : event->cpu;
    int64_t tick = file->head->inputs[file->input].tick_ns;
    int64_t limit = INT64_MAX / tick;
    return time > limit ? INT64_MAX : time < -limit ? -INT64_MAX : time * tick;
}

/* Add a batch to the sketch; the first pass does this for all events. */
static void mt_sketch_batch(const struct tv_mt_delivery *delivery, const struct tv_batch *batch)
{
    struct tv_sketch_mark marks[TV_BATCH_EVENTS / MARKED];
    size_t count = 0;
    if (!delivery->sketched || delivery->pass > 0)
        return;
    for (size_t i = 0; i < batch->count; i += MARKED) {
        const struct tv_event *event = &batch->events[i];
        marks[count++] = (struct tv_sketch_mark){mt_sketch_time(delivery->file, event),
                                                 mt_sketch_find_thread(delivery, event->thread)};
    }
    tv_sketch_add(delivery->file->progress->sketch, marks, count);
}

/* ---- Delivering events ---- */

/* A sink that writes cannot correct times later. Return true when a time lies so far before the
 * one in front of it that a survey may find a wrap; while there is none, times stay as they are
 * whatever a survey finds (records.h). */
static bool mt_chunk_may_wrap(const struct tv_mt_chunk *chunk, const struct tv_batch *batch)
{
    const struct tv_mt_delivery *delivery = chunk->delivery;
    if (!delivery->fast || !delivery->writes || delivery->file->wraps != TV_MT_WRAPS_UNKNOWN)
        return false;
    int64_t last = chunk->has_events ? chunk->last_wall : 0;
    for (size_t i = 0; i < batch->count; i++) {
        if (last - batch->events[i].wall > TV_MT_WRAP_SLACK)
            return true;
        last = batch->events[i].wall;
    }
    return false;
}

/* Return the batch without the events that the sink got from an earlier attempt. */
static struct tv_batch mt_chunk_drop_delivered(const struct tv_mt_chunk *chunk,
                                               const struct tv_batch *batch)
{
    uint64_t had = chunk->delivery->had, before = chunk->records;
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

/* Deliver a batch to the sink, and note the first and last times. */
static void mt_chunk_deliver(struct tv_mt_chunk *chunk, const struct tv_batch *batch)
{
    assert(batch->count <= TV_BATCH_EVENTS);
    struct tv_mt_delivery *delivery = chunk->delivery;
    if (batch->count == 0)
        return;
    struct tv_batch rest = mt_chunk_drop_delivered(chunk, batch);
    if (!chunk->has_events)
        chunk->first_wall = batch->events[0].wall;
    chunk->has_events = true;
    chunk->last_wall = batch->events[batch->count - 1].wall;
    chunk->records += batch->count;
    mt_sketch_batch(delivery, batch);
    if (rest.count > 0)
        delivery->sink->ops->take(delivery->sink, delivery->pass, chunk->index, &rest);
}

/* ---- Records of one size, fast ---- */

/* A batch that is being filled, because units of streaming files are short. */
struct mt_pending_batch {
    struct tv_event events[TV_BATCH_EVENTS];
    uint32_t offsets[TV_BATCH_EVENTS];
    struct tv_batch batch;
};

/* Deliver the batch. Return false when the chunk stops instead. */
static bool mt_chunk_flush(struct tv_mt_chunk *chunk, struct mt_pending_batch *pending)
{
    bool good = !mt_chunk_may_wrap(chunk, &pending->batch);
    if (good)
        mt_chunk_deliver(chunk, &pending->batch);
    else
        chunk->stop = TV_MT_STOP_WRAPS;
    pending->batch.count = 0;
    return good;
}

/* Make room for events at an offset: deliver the batch if it is full, or if the offset is too
 * far for 32 bits. Return false when the chunk stops. */
static bool mt_chunk_begin_batch(struct tv_mt_chunk *chunk, struct mt_pending_batch *pending,
                                 uint64_t offset)
{
    struct tv_batch *batch = &pending->batch;
    bool full = batch->count == TV_BATCH_EVENTS ||
                (batch->count > 0 && offset - batch->offset > UINT32_MAX / 2);
    if (full && !mt_chunk_flush(chunk, pending))
        return false;
    if (batch->count == 0)
        batch->offset = offset;
    return true;
}

/* Note the offsets of records that follow each other. */
static void mt_chunk_add_offsets(struct mt_pending_batch *pending, uint64_t offset, size_t count,
                                 uint32_t size)
{
    assert(pending->batch.count + count <= TV_BATCH_EVENTS);
    struct tv_batch *batch = &pending->batch;
    uint32_t distance = (uint32_t)(offset - batch->offset);
    for (size_t i = 0; i < count; i++, distance += size)
        pending->offsets[batch->count + i] = distance;
}

/* Take the whole records of `bytes`, or stop the chunk. */
static void mt_chunk_take_fixed(struct tv_mt_chunk *chunk, struct tv_mt_fast *fast,
                                struct mt_pending_batch *pending, struct tv_bytes bytes,
                                uint64_t offset)
{
    const uint32_t size = fast->file->record_size;
    size_t left = bytes.length / size;
    const uint8_t *at = bytes.data;
    while (left > 0) {
        if (!mt_chunk_begin_batch(chunk, pending, offset))
            return;
        struct tv_batch *batch = &pending->batch;
        size_t room = TV_BATCH_EVENTS - batch->count;
        size_t want = left < room ? left : room;
        size_t got = tv_mt_fast_take(fast, at, offset, want, pending->events + batch->count);
        if (batch->offsets)
            mt_chunk_add_offsets(pending, offset, got, size);
        batch->count += got;
        if (fast->stop == TV_MT_SKIP) {
            tv_diagnostics_add(&chunk->diagnostics, TV_DIAGNOSTIC_BAD_ACTION, offset + got * size);
            if (!mt_chunk_flush(chunk, pending))
                return;
            got++;
        } else if (fast->stop != TV_MT_GO_ON) {
            chunk->stop = fast->stop;
            return;
        }
        left -= got;
        at += got * size;
        offset += got * size;
    }
}

/* Return the range of a unit that belongs to the chunk. */
static void mt_chunk_unit_range(const struct tv_mt_chunk *chunk, size_t index, uint64_t *from,
                                uint64_t *to)
{
    const struct tv_mt_unit *unit = &chunk->delivery->file->units[index];
    *from = unit->offset + (index == chunk->start.unit ? chunk->start.done : 0);
    *to = unit->offset + (index == chunk->end.unit ? chunk->end.done : unit->size);
}

/* Read the chunk's part of a unit. The last unit of a pipe is open: it grows while it is read. */
static enum tv_status mt_chunk_read_fast_unit(struct tv_mt_chunk *chunk, struct tv_mt_fast *fast,
                                              struct mt_pending_batch *pending,
                                              struct tv_window *window, size_t unit)
{
    struct tv_mt_file *file = chunk->delivery->file;
    uint64_t from, to;
    mt_chunk_unit_range(chunk, unit, &from, &to);
    while (from < to && chunk->stop == TV_MT_GO_ON && !mt_chunk_others_stopped(chunk)) {
        struct tv_bytes bytes;
        enum tv_status status =
            tv_window_at(window, from, file->record_size, &bytes, &chunk->error);
        if (status != TV_OK)
            return status;
        if (bytes.length < file->record_size) {
            tv_mt_file_close_unit(file);
            break;
        }
        if (bytes.length > to - from)
            bytes.length = (size_t)(to - from);
        bytes.length -= bytes.length % file->record_size;
        mt_chunk_take_fixed(chunk, fast, pending, bytes, from);
        /* Deliver at once what has come: the rest of the batch may come much later. */
        if (file->open && chunk->stop == TV_MT_GO_ON)
            mt_chunk_flush(chunk, pending);
        from += bytes.length;
        status = tv_mt_records_add_progress(file, bytes.length, bytes.length / file->record_size,
                                            &chunk->error);
        if (status != TV_OK)
            return status;
    }
    return TV_OK;
}

/* Read the chunk with fast.c. */
static enum tv_status mt_chunk_read_fast(struct tv_mt_chunk *chunk)
{
    struct tv_mt_file *file = chunk->delivery->file;
    struct tv_mt_fast fast;
    struct tv_window window;
    enum tv_status status = TV_OK;
    struct mt_pending_batch *pending = tv_alloc(1, sizeof *pending);
    pending->batch.events = pending->events;
    pending->batch.stride = file->record_size;
    pending->batch.offsets = file->unit_count > 1 ? pending->offsets : NULL;
    tv_mt_fast_init(&fast, file, &chunk->delivery->frames, chunk->thread_times,
                    &chunk->diagnostics);
    tv_window_init(&window, file->source);

    for (size_t unit = chunk->start.unit; unit < file->unit_count && unit <= chunk->end.unit &&
                                          status == TV_OK && chunk->stop == TV_MT_GO_ON;
         unit++)
        status = mt_chunk_read_fast_unit(chunk, &fast, pending, &window, unit);
    if (status == TV_OK && chunk->stop == TV_MT_GO_ON)
        mt_chunk_flush(chunk, pending);

    chunk->unrolls = fast.unrolls;
    tv_window_release(&window);
    tv_mt_fast_release(&fast);
    tv_free(pending);
    return status;
}

/* ---- Delta-coded entries, fast ---- */

/* Take whole records of a block, or stop the chunk. Return their number. */
static uint64_t mt_chunk_take_deltas(struct tv_mt_chunk *chunk, struct tv_mt_deltas *deltas,
                                     struct mt_pending_batch *pending,
                                     struct tv_mt_deltas_left *left, uint64_t offset)
{
    struct tv_batch *batch = &pending->batch;
    uint64_t taken = 0;
    size_t got;
    do {
        if (!mt_chunk_begin_batch(chunk, pending, offset))
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
    chunk->stop = deltas->stop;
    return taken;
}

/* Read a unit. The window shows at least the longest group of entries that the decoder takes at
 * once, or the rest of the unit. */
static enum tv_status mt_chunk_read_delta_unit(struct tv_mt_chunk *chunk,
                                               struct tv_mt_deltas *deltas,
                                               struct mt_pending_batch *pending,
                                               struct tv_window *window,
                                               const struct tv_mt_unit *unit)
{
    uint64_t from = unit->offset, to = unit->offset + unit->size;
    while (from < to && chunk->stop == TV_MT_GO_ON && !mt_chunk_others_stopped(chunk)) {
        struct tv_mt_deltas_left left;
        size_t least =
            to - from < TV_MT_LONGEST_DELTAS ? (size_t)(to - from) : TV_MT_LONGEST_DELTAS;
        enum tv_status status = tv_window_at(window, from, least, &left.bytes, &chunk->error);
        if (status != TV_OK)
            return status;
        left.all = left.bytes.length >= to - from;
        if (left.all)
            left.bytes.length = (size_t)(to - from);
        if (left.bytes.length < least) { /* the file has become shorter meanwhile */
            chunk->stop = TV_MT_STOP_ODD;
            return TV_OK;
        }
        size_t length = left.bytes.length;
        uint64_t count = mt_chunk_take_deltas(chunk, deltas, pending, &left, from);
        uint64_t size = length - left.bytes.length;
        from += size;
        status = tv_mt_records_add_progress(chunk->delivery->file, size, count, &chunk->error);
        if (status != TV_OK)
            return status;
    }
    return TV_OK;
}

/* Read whole units of delta-coded entries. */
static enum tv_status mt_chunk_read_deltas(struct tv_mt_chunk *chunk)
{
    struct tv_mt_file *file = chunk->delivery->file;
    struct tv_mt_deltas deltas;
    struct tv_window window;
    enum tv_status status = TV_OK;
    struct mt_pending_batch *pending = tv_alloc(1, sizeof *pending);
    pending->batch.events = pending->events;
    pending->batch.offsets = pending->offsets;
    tv_mt_deltas_init(&deltas, file, chunk->thread_times);
    tv_window_init(&window, file->source);

    for (size_t unit = chunk->start.unit;
         unit < chunk->end.unit && status == TV_OK && chunk->stop == TV_MT_GO_ON; unit++) {
        tv_mt_deltas_seek(&deltas, unit);
        chunk->stop = deltas.stop;
        if (chunk->stop == TV_MT_GO_ON)
            status = mt_chunk_read_delta_unit(chunk, &deltas, pending, &window, &file->units[unit]);
    }
    if (status == TV_OK && chunk->stop == TV_MT_GO_ON)
        mt_chunk_flush(chunk, pending);

    chunk->unrolls = deltas.unrolls;
    tv_window_release(&window);
    tv_free(pending);
    return status;
}

/* ---- Records of any layout, the general way ---- */

/* State of reading the general way. */
struct mt_plain {
    struct tv_mt_chunk *chunk;
    struct tv_mt_records records;
    struct tv_event events[TV_BATCH_EVENTS];
    uint32_t offsets[TV_BATCH_EVENTS];
    int64_t wall, cpu; /* times of the last record of any thread */
};

/* Has the survey found a clock that began again at 0 (32 bits of microseconds: 71 minutes)? */
static bool mt_file_has_wraps(const struct tv_mt_file *file)
{
    return file->wraps == TV_MT_WRAPS_BY_THREAD || file->wraps == TV_MT_WRAPS_BY_ORDER;
}

/* Extend the record's times, and make them not go back. */
static void mt_plain_set_times(struct mt_plain *plain, struct tv_mt_thread_times *times,
                               struct tv_mt_record *record)
{
    struct tv_mt_chunk *chunk = plain->chunk;
    const struct tv_mt_file *file = chunk->delivery->file;
    if (mt_file_has_wraps(file)) {
        int64_t raw_wall = record->wall, raw_cpu = record->cpu;
        bool by_order = file->wraps == TV_MT_WRAPS_BY_ORDER;
        if (file->clocks & TV_CLOCK_WALL)
            record->wall =
                tv_mt_times_unwrap(by_order, raw_wall, times->seen, times->last_wall, plain->wall);
        if (!by_order && !times->seen && file->latest_start)
            record->wall = tv_mt_times_not_after(raw_wall, record->wall,
                                                 file->latest_start[times - chunk->thread_times]);
        record->cpu = tv_mt_times_unwrap(false, raw_cpu, times->seen, times->last_cpu, -1);
        if (record->wall - raw_wall != times->wall_epoch ||
            record->cpu - raw_cpu != times->cpu_epoch)
            tv_diagnostics_add(&chunk->diagnostics, TV_DIAGNOSTIC_WRAPPED_CLOCK, record->offset);
        times->wall_epoch = record->wall - raw_wall;
        times->cpu_epoch = record->cpu - raw_cpu;
    }
    plain->wall = record->wall;
    if (!times->seen) {
        *times = (struct tv_mt_thread_times){
            .seen = true,
            .first_wall = record->wall,
            .first_cpu = record->cpu,
            .wall_epoch = times->wall_epoch,
            .cpu_epoch = times->cpu_epoch,
        };
    } else if (record->wall < times->last_wall || record->cpu < times->last_cpu) {
        tv_diagnostics_add(&chunk->diagnostics, TV_DIAGNOSTIC_TIME_BACKWARDS, record->offset);
        record->wall = record->wall < times->last_wall ? times->last_wall : record->wall;
        record->cpu = record->cpu < times->last_cpu ? times->last_cpu : record->cpu;
    }
    times->last_wall = record->wall;
    times->last_cpu = record->cpu;
}

/* Make an event. The head has all ids: reading the general way begins with their survey. */
static struct tv_event mt_plain_make_event(struct mt_plain *plain, struct tv_mt_record *record)
{
    struct tv_mt_chunk *chunk = plain->chunk;
    const struct tv_mt_file *file = chunk->delivery->file;
    uint32_t thread = tv_map_find(&file->ids.threads, record->tid);
    uint32_t frame = TV_ANY_FRAME;
    if (thread == TV_NONE)
        thread = file->ids.other_thread;
    if (record->id != TV_MT_NO_ID)
        frame = tv_map_find(&file->ids.methods, record->id);
    if (frame == TV_NONE)
        frame = file->ids.other_frame;
    mt_plain_set_times(plain, &chunk->thread_times[thread - file->first_thread], record);
    chunk->unrolls += record->action == TV_MT_UNROLL;
    return (struct tv_event){
        .wall = record->wall,
        .cpu = record->cpu,
        .thread = thread,
        .action = record->action & 3,
        .frame = frame & TV_ANY_FRAME,
    };
}

/* Make events of the decoded records and deliver them. */
static void mt_plain_deliver_records(struct mt_plain *plain)
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
        plain->events[i] = mt_plain_make_event(plain, record);
    }
    mt_chunk_deliver(plain->chunk, &batch);
}

/* Read whole units the general way. */
static enum tv_status mt_chunk_read_plain(struct tv_mt_chunk *chunk)
{
    struct tv_mt_file *file = chunk->delivery->file;
    struct mt_plain *plain = tv_alloc(1, sizeof *plain);
    enum tv_status status = TV_OK;
    plain->chunk = chunk;
    plain->wall = -1;
    tv_mt_records_init(&plain->records, file, &chunk->diagnostics);
    for (size_t unit = chunk->start.unit; unit < chunk->end.unit && status == TV_OK; unit++) {
        if (file->ids.id_change_count > 0)
            tv_mt_file_apply_id_changes(file, unit);
        tv_mt_records_seek(&plain->records, unit);
        do {
            status = tv_mt_records_next(&plain->records, &chunk->error);
            if (status == TV_OK && plain->records.count > 0)
                mt_plain_deliver_records(plain);
        } while (status == TV_OK && plain->records.count > 0 && !mt_chunk_others_stopped(chunk));
    }
    tv_mt_records_release(&plain->records);
    tv_free(plain);
    return status;
}

void tv_mt_chunk_read(struct tv_mt_chunk *chunk)
{
    assert(!(chunk->delivery->fast && chunk->delivery->deltas));
    const struct tv_mt_delivery *delivery = chunk->delivery;
    chunk->status = delivery->fast     ? mt_chunk_read_fast(chunk)
                    : delivery->deltas ? mt_chunk_read_deltas(chunk)
                                       : mt_chunk_read_plain(chunk);
    if (chunk->status != TV_OK || chunk->stop != TV_MT_GO_ON)
        atomic_store_explicit(&chunk->delivery->stop, true, memory_order_relaxed);
}
