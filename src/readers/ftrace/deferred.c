/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deferred.c - work that needs events of more than one chunk: deferred events (binder.c, gpu.c) and
 * async slices.
 *
 * A handler stores a deferred event as a row of its chunk (struct tv_ft_deferred).  After the merge
 * the rows of all chunks are sorted by time and replayed; the replay emits slices, instants and
 * arrows through struct tv_ft_emitter.
 *
 *     chunk 0: rows  \                         binder      --> slices and arrows of transactions
 *     chunk 1: rows   > sorted by time, replay
 *     chunk 2: rows  /                         time lines  --> slices of pseudo-threads
 *
 * Emitted slices go into one more gather, as if they came from a last chunk, whose numbers of
 * threads and frames are those of the trace already.
 *
 * Async slices are paired on another thread while the assembly nests the others
 * (tv_ft_plan_asyncs).
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/ftrace/merge.h"

/* ---- Emitting ---- */

void tv_ft_emitter_init(struct tv_ft_emitter *emitter, struct tv_ft_merge *merge)
{
    *emitter = (struct tv_ft_emitter){merge, tv_gather_new()};
}

static void ft_emit_add_span(struct tv_ft_emitter *emitter, const struct tv_ft_emitted *emitted,
                             int64_t length, unsigned flags)
{
    assert(emitted->thread < emitter->merge->trace->head->thread_count);
    struct tv_span span = {.time = emitted->start,
                           .length = length,
                           .offset = emitted->offset & TV_OFFSET_MASK,
                           .flags = (flags | TV_SPAN_KERNEL) & 0xff,
                           .frame = emitted->frame};
    tv_gather_span(emitter->gather, emitted->thread, &span, NULL);
}

void tv_ft_emit_slice(struct tv_ft_emitter *emitter, const struct tv_ft_emitted *emitted)
{
    ft_emit_add_span(emitter, emitted, emitted->length, TV_SPAN_WHOLE);
}

void tv_ft_emit_open_slice(struct tv_ft_emitter *emitter, const struct tv_ft_emitted *emitted)
{
    ft_emit_add_span(emitter, emitted, TV_NO_TIME, TV_SPAN_BEGIN);
}

void tv_ft_emit_instant(struct tv_ft_emitter *emitter, const struct tv_ft_emitted *emitted)
{
    *tv_table_add(&emitter->merge->trace->tables.instants) = (struct tv_instant){
        .time = emitted->start,
        .offset = emitted->offset,
        .frame = emitted->frame,
        .of = emitted->thread,
        .input = emitter->merge->input,
        .scope = TV_SCOPE_THREAD,
    };
}

/* Return the numbers from 0 on, as a translation that changes nothing. */
static uint32_t *ft_emit_identity(uint32_t count)
{
    uint32_t *numbers = tv_alloc(count, sizeof *numbers);
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = i;
    return numbers;
}

void tv_ft_emitter_finish(struct tv_ft_emitter *emitter)
{
    assert(emitter->gather);
    const struct tv_trace_info *head = emitter->merge->trace->head;
    uint32_t *threads = ft_emit_identity(head->thread_count),
             *frames = ft_emit_identity(head->frame_count);
    tv_assembly_add_chunk(emitter->merge->assembly, emitter->gather, threads, frames);
    tv_free(threads);
    tv_free(frames);
    emitter->gather = NULL;
}

/* Add a pseudo-thread; the caller makes sure that it is a new one. */
uint32_t tv_ft_merge_pseudo_thread(struct tv_ft_merge *merge, struct tv_bytes name)
{
    struct tv_trace_info *head = merge->trace->head;
    uint32_t text = tv_trace_info_string(head, name);
    struct tv_thread thread = {
        .key = text,
        .name = text,
        .process = tv_ft_merge_process(merge, TV_FT_NO_ID),
        .input = merge->input,
        .listed = true,
        .line = true,
    };
    return tv_trace_info_add_thread(head, &thread);
}

uint32_t tv_ft_merge_frame(struct tv_ft_merge *merge, struct tv_bytes name, const char *category)
{
    struct tv_trace_info *head = merge->trace->head;
    struct tv_frame frame = {.name = tv_trace_info_string(head, name),
                             .category = tv_trace_info_string(head, tv_bytes_of(category))};
    return tv_trace_info_add_frame(head, &frame);
}

/* ---- Deferred events ---- */

TV_FT_DEFINE_SORT(deferred, tv_ft_deferred)

/* Move the rows out of all chunks, with numbers of the trace. The caller frees the result. */
static struct tv_ft_deferred *ft_deferred_collect(struct tv_ft_merge *merge, size_t count)
{
    struct tv_ft_deferred *rows = tv_alloc(count, sizeof *rows);
    size_t filled = 0;
    for (size_t i = 0; i < merge->reader_count; i++) {
        struct tv_ft_chunk *chunk = &merge->readers[i].chunk;
        const struct tv_ft_numbers *numbers = &merge->numbers[i];
        for (size_t k = 0; k < chunk->deferred.count; k++) {
            struct tv_ft_deferred *row = &rows[filled++];
            *row = chunk->deferred.rows[k];
            row->task = numbers->threads[row->task];
            row->line = row->line == TV_NONE ? TV_NONE : numbers->threads[row->line];
            row->text = numbers->texts[row->text];
        }
        tv_free(chunk->deferred.rows);
        chunk->deferred.rows = NULL;
    }
    ft_sort_deferred(rows, count);
    return rows;
}

/* Replay the deferred events in time order. */
static void ft_deferred_replay(struct tv_ft_merge *merge, const struct tv_ft_deferred *rows,
                               size_t count)
{
    struct tv_ft_emitter emitter;
    tv_ft_emitter_init(&emitter, merge);
    struct tv_ft_binder *binder = tv_ft_binder_new(&emitter);
    struct tv_ft_timelines *lines = tv_ft_timelines_new(&emitter);
    for (size_t i = 0; i < count; i++) {
        if (rows[i].kind <= TV_FT_BINDER_FAILED)
            tv_ft_binder_take(binder, &rows[i]);
        else
            tv_ft_timelines_take(lines, &rows[i]);
    }
    tv_ft_binder_finish(binder);
    tv_ft_timelines_finish(lines);
    tv_ft_emitter_finish(&emitter);
}

void tv_ft_merge_deferred(struct tv_ft_merge *merge)
{
    size_t count = 0;
    for (size_t i = 0; i < merge->reader_count; i++)
        count += merge->readers[i].chunk.deferred.count;
    if (count == 0)
        return;
    struct tv_ft_deferred *rows = ft_deferred_collect(merge, count);
    ft_deferred_replay(merge, rows, count);
    tv_free(rows);
}

/* ---- Async slices ---- */

/* An end matches the latest open begin of its key; of marks with one cookie only
 * the first begin counts, and counted begins have one slice until as many ends. A slice without an
 * end lasts until the end of the trace; one without a begin began before the trace. */

struct ft_open_async {
    uint32_t slice;
    uint32_t before; /* the slice of the same key that was open before; TV_NONE: none */
};

struct ft_async_pairing {
    struct tv_ft_merge *merge;
    TV_TABLE(tv_async_slice) slices;
    TV_TABLE(ft_open_async) open;
    uint32_t *latest; /* index in `open` of the latest one of each key; TV_NONE: none */
    uint32_t *again;  /* by key: begins since the one that has the slice */
};

/* Add a slice from `start` to the event; the pointer is valid until the next one is added. */
static struct tv_async_slice *ft_async_add_slice(struct ft_async_pairing *p,
                                                 const struct tv_ft_async *event, int64_t start)
{
    struct tv_async_slice *slice = tv_table_add(&p->slices);
    *slice = tv_async_slice_of(start, event->offset, event->task);
    slice->length = event->time - start;
    slice->frame = event->frame;
    slice->process = event->process;
    slice->id = event->id;
    slice->track = event->track;
    return slice;
}

/* Begin an async slice, or count an ignored begin. */
static void ft_async_begin(struct ft_async_pairing *p, const struct tv_ft_async *event)
{
    assert(event->key < p->merge->key_count);
    if (p->latest[event->key] == TV_NONE) {
        p->again[event->key] = 0;
    } else if (event->counted) {
        p->again[event->key]++;
        return;
    } else if (event->single) {
        p->again[event->key]++;
        if (!p->merge->repeated)
            p->merge->repeated = tv_alloc(1, sizeof *p->merge->repeated);
        tv_diagnostics_add(p->merge->repeated, TV_DIAGNOSTIC_ASYNC_BEGUN_TWICE, event->offset);
        return;
    }
    struct ft_open_async *open = tv_table_add(&p->open);
    *open = (struct ft_open_async){(uint32_t)p->slices.count, p->latest[event->key]};
    p->latest[event->key] = (uint32_t)p->open.count - 1;
    struct tv_async_slice *slice = ft_async_add_slice(p, event, event->time);
    slice->length = p->merge->last - event->time;
    slice->flags = TV_SLICE_OPEN;
}

/* End the latest open slice of the key. */
static void ft_async_end(struct ft_async_pairing *p, const struct tv_ft_async *event)
{
    assert(event->key < p->merge->key_count);
    uint32_t latest = p->latest[event->key];
    if ((latest == TV_NONE || event->counted) && p->again[event->key] > 0) {
        p->again[event->key]--; /* this end belongs to a begin without a slice */
        return;
    }
    if (latest == TV_NONE && event->if_open)
        return;
    if (latest == TV_NONE) {
        ft_async_add_slice(p, event, p->merge->first)->flags = TV_SLICE_ENTERED_BEFORE;
        return;
    }
    struct tv_async_slice *slice = &p->slices.rows[p->open.rows[latest].slice];
    slice->length = event->time - slice->start;
    slice->end_offset = event->offset;
    slice->end_thread = event->task;
    slice->flags = 0;
    p->latest[event->key] = p->open.rows[latest].before;
}

/* Add the async slices that need no pairing, with their parents renumbered. */
static void ft_async_add_whole(struct ft_async_pairing *p)
{
    const struct tv_ft_merge *merge = p->merge;
    uint32_t before = (uint32_t)p->slices.count;
    for (size_t i = 0; i < merge->whole_asyncs.count; i++) {
        struct tv_async_slice *slice = tv_table_add(&p->slices);
        *slice = merge->whole_asyncs.rows[i];
        if (slice->parent != TV_NONE)
            slice->parent += before;
    }
}

void tv_ft_plan_asyncs(void *context)
{
    assert(!((struct tv_ft_merge *)context)->async_plan);
    struct tv_ft_merge *merge = context;
    struct ft_async_pairing p = {.merge = merge,
                                 .latest = tv_alloc(merge->key_count, sizeof *p.latest),
                                 .again = tv_alloc(merge->key_count, sizeof *p.again)};
    for (uint32_t i = 0; i < merge->key_count; i++)
        p.latest[i] = TV_NONE;
    for (size_t i = 0; i < merge->asyncs.count; i++) {
        const struct tv_ft_async *event = &merge->asyncs.rows[i];
        if (event->kind == TV_FT_ASYNC_BEGIN)
            ft_async_begin(&p, event);
        else if (event->kind == TV_FT_ASYNC_POINT)
            ft_async_add_slice(&p, event, event->time);
        else
            ft_async_end(&p, event);
    }
    ft_async_add_whole(&p);
    merge->async_plan = tv_async_plan_new(merge->trace->head, p.slices.rows, p.slices.count);
    tv_free(p.slices.rows);
    tv_free(p.open.rows);
    tv_free(p.latest);
    tv_free(p.again);
}
