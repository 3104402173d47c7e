/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assembly_thread.c - one thread from its gathered blocks to its rows.
 *
 *     unpack blocks -> close unfinished spans -> sort by time -> pair
 *                   -> sort by start -> nest -> write
 *
 * Threads without begins and ends skip sorting by time and pairing.
 *
 *     begin a 0, whole b 2+3, end a 9        one span each; whole spans have a length
 *     paired          a 0+9, b 2+3
 *     by start        a, b                   the longer of two with one start first
 *     nested          row 0: a    row 1: b   so a span is always placed after the one around it
 *
 * A worker takes one thread after the other and keeps its memory (struct tv_span_scratch): a trace
 * may have a hundred thousand threads with a few slices each.
 *
 * Events are mostly in order.  So every sort begins with a look whether there is anything to do,
 * and merges leave the beginnings of both halves where they are.
 *
 * Rare properties (CPU times, the offset of the end event) are in records beside the spans: a span
 * stays small, and sorting moves less.
 */
#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"
#include "model/assembly/assembly_internal.h"

/* Append a record of the rare properties of a span and return its number. */
static uint32_t spans_add_extra(struct tv_spans *spans, const struct tv_cpu_times *cpu)
{
    spans->sides = tv_array_reserve(spans->sides, &spans->side_capacity, spans->side_count + 1,
                                    sizeof *spans->sides);
    spans->sides[spans->side_count] = (struct tv_span_extra){
        .cpu_start = cpu->start, .cpu_length = cpu->length, .end_offset = TV_EXTRA_NO_OFFSET};
    return (uint32_t)spans->side_count++;
}

/* Append the spans of a block with the frame numbers of the trace. */
static void thread_unpack_block(const uint32_t *frames, const struct tv_span_block *block,
                                struct tv_spans *spans)
{
    struct tv_span_reader reader = {.block = block};
    struct tv_cpu_times cpu;
    while (tv_span_read(&reader, &spans->spans[spans->count], &cpu)) {
        struct tv_span *span = &spans->spans[spans->count++];
        if (cpu.start != TV_NO_TIME || cpu.length != TV_NO_TIME)
            span->side = spans_add_extra(spans, &cpu);
        if (!(span->flags & TV_SPAN_NAMELESS))
            span->frame = frames[span->frame];
    }
}

/* Unpack all spans of the thread in file order and free the blocks. */
static void thread_unpack_spans(const struct tv_assembly *assembly, struct assembly_thread *work,
                                struct tv_spans *spans)
{
    spans->spans =
        tv_scratch_get(&spans->scratch->spans, (size_t)work->count, sizeof *spans->spans);
    for (size_t i = 0; i < work->list_count; i++)
        for (struct tv_span_block *block = work->lists[i].first, *next; block; block = next) {
            next = block->next;
            thread_unpack_block(assembly->chunks[work->lists[i].chunk], block, spans);
            tv_span_block_free(block);
        }
    tv_free(work->lists);
    work->lists = NULL;
    work->list_count = 0;
}

/* Return the last time at which the thread is known to act. */
static int64_t spans_last_time(const struct tv_spans *spans)
{
    int64_t last = INT64_MIN;
    for (size_t i = 0; i < spans->count; i++) {
        const struct tv_span *span = &spans->spans[i];
        bool whole = (span->flags & (TV_SPAN_KIND | TV_SPAN_UNFINISHED)) == TV_SPAN_WHOLE;
        int64_t end = whole ? tv_span_end(span) : span->time;
        last = end > last ? end : last;
    }
    return last;
}

/* Give spans of unknown length one that ends at the last activity of the thread, `seen` included.
 * Return whether there are begins or ends to pair. */
static bool spans_close_unfinished(struct tv_spans *spans, int64_t seen, int64_t idle_end)
{
    int64_t last = spans_last_time(spans);
    bool halves = false;
    struct tv_open_ends ends = {.end = seen > last ? seen : last, .idle_end = idle_end};
    for (size_t i = 0; i < spans->count; i++) {
        struct tv_span *span = &spans->spans[i];
        halves |= (span->flags & TV_SPAN_KIND) != TV_SPAN_WHOLE;
        if (span->flags & TV_SPAN_UNFINISHED) {
            span->length = tv_open_end(&ends, span, spans->diagnostics) - span->time;
            span->slice_flags |= TV_SLICE_OPEN;
            tv_diagnostics_add(spans->diagnostics, TV_DIAGNOSTIC_OPEN_CALL, span->offset);
        }
    }
    return halves;
}

/* Keep the colour and the offset of the end event, when the span has one of them. */
static void thread_add_slice_extra(struct assembly_thread *work, const struct tv_spans *spans,
                                   const struct tv_span *span, uint32_t row, uint32_t index)
{
    uint64_t end_offset =
        span->side == TV_NONE ? TV_EXTRA_NO_OFFSET : spans->sides[span->side].end_offset;
    end_offset = end_offset == TV_EXTRA_NO_OFFSET ? TV_NO_OFFSET : end_offset;
    if (end_offset == TV_NO_OFFSET && span->colour == 0)
        return;
    *tv_table_add(&work->extras) = (struct tv_slice_extra){
        .row = row, .index = index, .end_offset = end_offset, .colour = (uint8_t)span->colour};
}

int64_t tv_running_clock_at(const struct tv_running_clock *clock, int64_t time, size_t *near)
{
    size_t low = *near, high = clock->count; /* the first `low` runs begin at or before `time` */
    if (low > 0 && clock->runs[low - 1].start > time) {
        high = low - 1;
        low = 0;
    }
    /* Double the step until it overshoots, then search within it. */
    for (size_t step = 1; high - low > step; step *= 2) {
        if (clock->runs[low + step].start > time)
            high = low + step;
        else
            low += step + 1;
    }
    TV_LOWER_BOUND(low, high, i, clock->runs[i].start <= time);
    *near = low;
    if (low == 0)
        return 0;
    const struct tv_running *run = &clock->runs[low - 1];
    return run->before + (time < run->end ? time : run->end) - run->start;
}

/* Take missing CPU times from the thread's list of running times. */
static void spans_read_clock(struct tv_spans *spans, const struct tv_running_clock *clock)
{
    size_t near = 0;
    for (size_t i = 0; clock->count > 0 && i < spans->count; i++) {
        struct tv_span *span = &spans->spans[i];
        if (span->side == TV_NONE) {
            struct tv_cpu_times none = {TV_NO_TIME, TV_NO_TIME};
            span->side = spans_add_extra(spans, &none);
        }
        struct tv_span_extra *side = &spans->sides[span->side];
        if (side->cpu_start == TV_NO_TIME) {
            side->cpu_start = tv_running_clock_at(clock, span->time, &near);
            size_t end = near;
            side->cpu_length =
                tv_running_clock_at(clock, tv_span_end(span), &end) - side->cpu_start;
        }
    }
}

/* Write the slices of a thread.  The CPU start of a slice without CPU time repeats the previous
 * one. */
static void thread_write_rows(struct assembly_thread *work, const struct tv_spans *spans,
                              struct tv_row_writer *places)
{
    struct tv_columns *columns = &work->columns;
    int64_t cpu = 0;
    for (size_t i = 0; i < spans->count; i++) {
        const struct tv_span *span = &spans->spans[i];
        const struct tv_span_extra *side = span->side == TV_NONE ? NULL : &spans->sides[span->side];
        struct tv_slice_times times = {span->time, span->length, cpu, 0};
        uint32_t row = work->nesting.row_of[i];
        struct tv_row_writer *place = &places[row];
        uint64_t at = place->first + place->next;
        unsigned flags = span->slice_flags;
        assert(place->next < place->count);
        if (side && side->cpu_start != TV_NO_TIME && side->cpu_length != TV_NO_TIME) {
            times.cpu_start = cpu = side->cpu_start;
            times.cpu_length = side->cpu_length;
        } else if (columns->cpu_start) {
            flags |= TV_SLICE_NO_CPU;
        }
        thread_add_slice_extra(work, spans, span, row, place->next);
        columns->path[at] = span->frame;
        columns->flags[at] = (uint8_t)flags;
        tv_columns_set_offset(columns, at, span->offset);
        tv_row_write_slice(columns, place, &times);
    }
}

/* Find the first and the last reading of the CPU clock. first > last: there is none, and the
 * columns need no CPU times. */
static void thread_find_cpu_extent(struct assembly_thread *work, const struct tv_spans *spans)
{
    work->first_cpu = INT64_MAX;
    work->last_cpu = INT64_MIN;
    for (size_t i = 0; i < spans->side_count; i++) {
        const struct tv_span_extra *side = &spans->sides[i];
        if (side->cpu_start == TV_NO_TIME || side->cpu_length == TV_NO_TIME)
            continue;
        if (side->cpu_start < work->first_cpu)
            work->first_cpu = side->cpu_start;
        if (side->cpu_start + side->cpu_length > work->last_cpu)
            work->last_cpu = side->cpu_start + side->cpu_length;
    }
}

/* Allocate the columns of a thread, row after row, and write them. */
static void thread_build_columns(const struct tv_assembly *assembly, struct assembly_thread *work,
                                 const struct tv_spans *spans)
{
    const struct tv_nesting *nesting = &work->nesting;
    const struct tv_input *input = &assembly->trace->head->inputs[assembly->input];
    struct tv_row_writer *places = tv_alloc(nesting->row_count, sizeof *places);
    uint64_t count = 0, blocks = 0;
    for (size_t i = 0; i < nesting->row_count; i++) {
        places[i] = (struct tv_row_writer){count, blocks, 0, nesting->rows[i].count};
        count += nesting->rows[i].count;
        blocks += tv_blocks_for(nesting->rows[i].count);
    }
    thread_find_cpu_extent(work, spans);
    bool cpu = work->first_cpu <= work->last_cpu;
    tv_columns_init(&work->columns, count, blocks, TV_CLOCK_WALL | (cpu ? TV_CLOCK_CPU : 0));
    tv_columns_add_offsets(&work->columns, input->bytes);
    thread_write_rows(work, spans, places);
    tv_columns_fit(&work->columns);
    tv_free(places);
}

/* Move the diagnostics of the thread to `work`; `diagnostics` is empty again. */
static void thread_keep_diagnostics(struct assembly_thread *work,
                                    struct tv_diagnostics *diagnostics)
{
    work->idle_end = diagnostics->quiet;
    diagnostics->quiet = 0;
    for (unsigned kind = 0; kind < TV_DIAGNOSTIC_COUNT; kind++) {
        struct tv_diagnostic *noted = &diagnostics->kinds[kind];
        if (noted->count == 0)
            continue;
        *tv_table_add(&work->noted) =
            (struct thread_diagnostic){(enum tv_diagnostic_kind)kind, *noted};
        *noted = (struct tv_diagnostic){0};
    }
}

/* Return the end of slices that no event ends. */
static int64_t thread_open_end(const struct tv_assembly *assembly,
                               const struct tv_row_options *placing,
                               const struct assembly_thread *work, const struct tv_spans *spans)
{
    int64_t own = placing->ends ? placing->ends[work - assembly->threads] : placing->end;
    return own >= spans_last_time(spans) ? own : placing->end;
}

void tv_assembly_thread_build(const struct tv_assembly *assembly,
                              const struct tv_row_options *placing, struct tv_span_scratch *scratch,
                              struct assembly_thread *work)
{
    struct tv_spans spans = {.scratch = scratch, .names = assembly->names};
    spans.diagnostics = scratch->diagnostics;
    assert(!work->placed && work->count > 0);
    thread_unpack_spans(assembly, work, &spans);
    uint32_t thread = (uint32_t)(work - assembly->threads);
    int64_t seen = placing->lasts ? placing->lasts[thread] : INT64_MIN;
    int64_t idle_end = placing->idle_ends ? placing->idle_ends[thread] : TV_NO_TIME;
    if (spans_close_unfinished(&spans, seen, idle_end)) {
        struct tv_open_ends ends = {thread_open_end(assembly, placing, work, &spans), idle_end};
        tv_spans_sort_by_time(&spans);
        tv_spans_pair(&spans, &ends);
    }
    if (!spans.depths)
        tv_spans_sort_by_start(&spans);
    if (spans.count > 0) {
        work->first = spans.spans[0].time;
        work->last = spans_last_time(&spans);
    }
    if (placing->clocks)
        spans_read_clock(&spans, &placing->clocks[thread]);
    tv_spans_nest(&spans, placing->tolerance, &work->nesting);
    thread_build_columns(assembly, work, &spans);
    work->nesting.row_of = NULL;
    tv_scratch_trim(&scratch->row_of);
    tv_scratch_trim(&scratch->spans);
    tv_free(spans.sides);
    thread_keep_diagnostics(work, scratch->diagnostics);
    work->placed = true;
}

/*
 * ---- Sorting ----
 *
 * A stable merge sort that is fast for nearly sorted spans, which is the usual case: programs write
 * events when they happen or when they end.
 */

/* Runs of this length are sorted by insertion. */
#define RUN 16u

typedef bool less_function(const struct tv_span *a, const struct tv_span *b);

TV_INLINE bool span_is_earlier(const struct tv_span *a, const struct tv_span *b)
{
    return a->time < b->time;
}

/* Order for nesting: a span comes before those inside it, so the longer of two with one start is
 * first. */
TV_INLINE bool span_is_outer(const struct tv_span *a, const struct tv_span *b)
{
    return a->time < b->time || (a->time == b->time && a->length > b->length);
}

/* Return true when nothing needs to be moved, which is common. */
TV_INLINE bool spans_are_sorted(const struct tv_span *spans, size_t count, less_function *less)
{
    for (size_t i = 1; i < count; i++)
        if (less(&spans[i], &spans[i - 1]))
            return false;
    return true;
}

/* Sort a short run by insertion; a span moves only past those that are greater, so order among
 * equals stays. */
TV_INLINE void spans_sort_run(struct tv_span *spans, size_t count, less_function *less)
{
    for (size_t i = 1; i < count; i++) {
        struct tv_span span = spans[i];
        size_t at = i;
        for (; at > 0 && less(&span, &spans[at - 1]); at--)
            spans[at] = spans[at - 1];
        spans[at] = span;
    }
}

/* Merge [0, middle) and [middle, count); `spare` has room for the first half. */
TV_INLINE void spans_merge(struct tv_span *spans, size_t middle, size_t count,
                           struct tv_span *spare, less_function *less)
{
    size_t stays = 0; /* this prefix is in place already */
    while (stays < middle && !less(&spans[middle], &spans[stays]))
        stays++;
    if (stays == middle)
        return;
    size_t left = 0, lefts = middle - stays, right = middle, to = stays;
    memcpy(spare, spans + stays, lefts * sizeof *spare);
    while (left < lefts && right < count)
        spans[to++] = less(&spans[right], &spare[left]) ? spans[right++] : spare[left++];
    memcpy(spans + to, spare + left, (lefts - left) * sizeof *spare);
}

/* Sort by `less`, which the compiler inlines, as this function is. */
TV_INLINE void spans_sort(struct tv_spans *all, less_function *less)
{
    struct tv_span *spans = all->spans;
    size_t count = all->count;
    if (spans_are_sorted(spans, count, less))
        return;
    for (size_t i = 0; i < count; i += RUN)
        spans_sort_run(spans + i, count - i < RUN ? count - i : RUN, less);
    struct tv_span *spare = tv_scratch_get(&all->scratch->spare, count, sizeof *spare);
    for (size_t width = RUN; width < count; width *= 2)
        for (size_t i = 0; count - i > width; i += 2 * width) {
            size_t end = count - i < 2 * width ? count - i : 2 * width;
            spans_merge(spans + i, width, end, spare, less);
            if (end < 2 * width)
                break;
        }
    tv_scratch_trim(&all->scratch->spare);
}

void tv_spans_sort_by_time(struct tv_spans *spans)
{
    spans_sort(spans, span_is_earlier);
}

void tv_spans_sort_by_start(struct tv_spans *spans)
{
    spans_sort(spans, span_is_outer);
}

/* ---- Scratch memory ---- */

/* Larger memory is rare, and would add to the memory of the rows. */
#define KEPT_MAX ((size_t)32 << 20)

#define FIRST_SIZE ((size_t)4 << 10)

void *tv_scratch_get(struct tv_scratch *scratch, size_t count, size_t size)
{
    size_t bytes = tv_size_mul(count, size), roomy = FIRST_SIZE;
    if (bytes <= scratch->size)
        return scratch->memory;
    tv_scratch_release(scratch);
    while (roomy < bytes && roomy < KEPT_MAX)
        roomy *= 2; /* untouched pages cost nothing */
    scratch->size = roomy < bytes ? bytes : roomy;
    scratch->memory = tv_pages_alloc(scratch->size);
    return scratch->memory;
}

void tv_scratch_trim(struct tv_scratch *scratch)
{
    if (scratch->size > KEPT_MAX)
        tv_scratch_release(scratch);
}

void tv_scratch_release(struct tv_scratch *scratch)
{
    if (scratch->memory)
        tv_pages_free(scratch->memory, scratch->size);
    *scratch = (struct tv_scratch){NULL, 0};
}

void tv_span_scratch_init(struct tv_span_scratch *scratch)
{
    memset(scratch, 0, sizeof *scratch);
    tv_paths_init(&scratch->paths);
    scratch->diagnostics = tv_alloc(1, sizeof *scratch->diagnostics);
}

void tv_span_scratch_release(struct tv_span_scratch *scratch)
{
    tv_scratch_release(&scratch->spans);
    tv_scratch_release(&scratch->spare);
    tv_scratch_release(&scratch->row_of);
    tv_scratch_release(&scratch->depths);
    tv_paths_release(&scratch->paths);
    tv_diagnostics_clear(scratch->diagnostics);
    tv_free(scratch->diagnostics);
}
