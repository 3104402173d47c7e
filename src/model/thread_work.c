/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread from its gathered blocks to its rows.
 */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "model/assembly_state.h"

static uint32_t add_side(struct tv_spans *spans, const struct tv_cpu_times *cpu)
{
    spans->sides = tv_array_reserve(spans->sides, &spans->side_capacity, spans->side_count + 1,
                                    sizeof *spans->sides);
    spans->sides[spans->side_count] = (struct tv_side){
        .cpu_start = cpu->start, .cpu_length = cpu->length, .end_offset = TV_SIDE_NO_OFFSET};
    return (uint32_t)spans->side_count++;
}

/* Copies a block's spans behind the others, with the numbers of the head. */
static void collect_block(const uint32_t *frames, const struct tv_span_block *block,
                          struct tv_spans *spans)
{
    struct tv_span_reader reader = {.block = block};
    struct tv_cpu_times cpu;
    while (tv_span_read(&reader, &spans->spans[spans->count], &cpu)) {
        struct tv_span *span = &spans->spans[spans->count++];
        if (cpu.start != TV_NO_TIME || cpu.length != TV_NO_TIME)
            span->side = add_side(spans, &cpu);
        if (!(span->flags & TV_SPAN_NAMELESS))
            span->frame = frames[span->frame];
    }
}

/* Gathers the thread's spans in the order of the file, giving the blocks back. */
static void collect(const struct tv_assembly *assembly, struct thread_work *work,
                    struct tv_spans *spans)
{
    spans->spans = tv_room_take(&spans->rooms->spans, (size_t)work->count, sizeof *spans->spans);
    for (size_t i = 0; i < work->piece_count; i++)
        for (struct tv_span_block *block = work->pieces[i].first, *next; block; block = next) {
            next = block->next;
            collect_block(assembly->parts[work->pieces[i].part], block, spans);
            tv_span_block_free(block);
        }
    tv_free(work->pieces);
    work->pieces = NULL;
    work->piece_count = 0;
}

/* The time of the last thing that the thread is known to do. */
static int64_t last_time(const struct tv_spans *spans)
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

/* Makes whole what has no length, as the thread was seen until then, and tells whether there are
 * beginnings or ends. */
static bool finish_unfinished(struct tv_spans *spans, int64_t seen, int64_t quiet)
{
    int64_t last = last_time(spans);
    bool halves = false;
    struct tv_open_ends ends = {.end = seen > last ? seen : last, .quiet = quiet};
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

static void add_extra(struct thread_work *work, const struct tv_spans *spans,
                      const struct tv_span *span, uint32_t row, uint32_t index)
{
    uint64_t end_offset =
        span->side == TV_NONE ? TV_SIDE_NO_OFFSET : spans->sides[span->side].end_offset;
    end_offset = end_offset == TV_SIDE_NO_OFFSET ? TV_NO_OFFSET : end_offset;
    if (end_offset == TV_NO_OFFSET && span->colour == 0)
        return;
    *tv_table_add(&work->extras) = (struct tv_slice_extra){
        .row = row, .index = index, .end_offset = end_offset, .colour = (uint8_t)span->colour};
}

int64_t tv_run_clock_at(const struct tv_run_clock *clock, int64_t time, size_t *near)
{
    size_t low = *near, high = clock->count; /* runs before `low` begin up to `time` */
    if (low > 0 && clock->runs[low - 1].start > time) {
        high = low - 1;
        low = 0;
    }
    /* Steps double until they go too far. */
    for (size_t step = 1; high - low > step; step *= 2) {
        if (clock->runs[low + step].start > time)
            high = low + step;
        else
            low += step + 1;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (clock->runs[middle].start <= time)
            low = middle + 1;
        else
            high = middle;
    }
    *near = low;
    if (low == 0)
        return 0;
    const struct tv_run *run = &clock->runs[low - 1];
    return run->before + (time < run->end ? time : run->end) - run->start;
}

/* Gives the spans without CPU time that of their thread's clock. */
static void read_clock(struct tv_spans *spans, const struct tv_run_clock *clock)
{
    size_t near = 0;
    for (size_t i = 0; clock->count > 0 && i < spans->count; i++) {
        struct tv_span *span = &spans->spans[i];
        if (span->side == TV_NONE) {
            struct tv_cpu_times none = {TV_NO_TIME, TV_NO_TIME};
            span->side = add_side(spans, &none);
        }
        struct tv_side *side = &spans->sides[span->side];
        if (side->cpu_start == TV_NO_TIME) {
            side->cpu_start = tv_run_clock_at(clock, span->time, &near);
            size_t end = near;
            side->cpu_length = tv_run_clock_at(clock, tv_span_end(span), &end) - side->cpu_start;
        }
    }
}

/* Writes the slices of a thread; slices without CPU time stand where the CPU clock stood last. */
static void write_rows(struct thread_work *work, const struct tv_spans *spans,
                       struct tv_place *places)
{
    struct tv_columns *columns = &work->columns;
    int64_t cpu = 0;
    for (size_t i = 0; i < spans->count; i++) {
        const struct tv_span *span = &spans->spans[i];
        const struct tv_side *side = span->side == TV_NONE ? NULL : &spans->sides[span->side];
        struct tv_slice_times times = {span->time, span->length, cpu, 0};
        uint32_t row = work->nesting.row_of[i];
        struct tv_place *place = &places[row];
        uint64_t at = place->first + place->next;
        unsigned flags = span->slice_flags;
        if (side && side->cpu_start != TV_NO_TIME && side->cpu_length != TV_NO_TIME) {
            times.cpu_start = cpu = side->cpu_start;
            times.cpu_length = side->cpu_length;
        } else if (columns->cpu_start) {
            flags |= TV_SLICE_NO_CPU;
        }
        add_extra(work, spans, span, row, place->next);
        columns->path[at] = span->frame;
        columns->flags[at] = (uint8_t)flags;
        tv_columns_set_offset(columns, at, span->offset);
        tv_place_slice(columns, place, &times);
    }
}

static void find_cpu_span(struct thread_work *work, const struct tv_spans *spans)
{
    work->first_cpu = INT64_MAX;
    work->last_cpu = INT64_MIN;
    for (size_t i = 0; i < spans->side_count; i++) {
        const struct tv_side *side = &spans->sides[i];
        if (side->cpu_start == TV_NO_TIME || side->cpu_length == TV_NO_TIME)
            continue;
        if (side->cpu_start < work->first_cpu)
            work->first_cpu = side->cpu_start;
        if (side->cpu_start + side->cpu_length > work->last_cpu)
            work->last_cpu = side->cpu_start + side->cpu_length;
    }
}

static void place_thread(const struct tv_assembly *assembly, struct thread_work *work,
                         const struct tv_spans *spans)
{
    const struct tv_nesting *nesting = &work->nesting;
    const struct tv_input *input = &assembly->trace->head->inputs[assembly->input];
    struct tv_place *places = tv_alloc(nesting->row_count, sizeof *places);
    uint64_t count = 0, blocks = 0;
    for (size_t i = 0; i < nesting->row_count; i++) {
        places[i] = (struct tv_place){count, blocks, 0, nesting->rows[i].count};
        count += nesting->rows[i].count;
        blocks += tv_blocks_for(nesting->rows[i].count);
    }
    find_cpu_span(work, spans);
    bool cpu = work->first_cpu <= work->last_cpu;
    tv_columns_init(&work->columns, count, blocks, TV_CLOCK_WALL | (cpu ? TV_CLOCK_CPU : 0));
    tv_columns_add_offsets(&work->columns, input->bytes);
    write_rows(work, spans, places);
    tv_columns_fit(&work->columns);
    tv_free(places);
}

/* Moves what a thread told to its work: `diagnostics` is empty again. */
static void keep_told(struct thread_work *work, struct tv_diagnostics *diagnostics)
{
    work->quiet = diagnostics->quiet;
    diagnostics->quiet = 0;
    for (unsigned kind = 0; kind < TV_DIAGNOSTIC_COUNT; kind++) {
        struct tv_diagnostic *told = &diagnostics->kinds[kind];
        if (told->count == 0)
            continue;
        *tv_table_add(&work->told) = (struct told_kind){(enum tv_diagnostic_kind)kind, *told};
        *told = (struct tv_diagnostic){0};
    }
}

/* Where slices of the thread end that nobody ends. */
static int64_t open_end(const struct tv_assembly *assembly, const struct tv_placing *placing,
                        const struct thread_work *work, const struct tv_spans *spans)
{
    int64_t own = placing->ends ? placing->ends[work - assembly->threads] : placing->end;
    return own >= last_time(spans) ? own : placing->end;
}

void tv_thread_work(const struct tv_assembly *assembly, const struct tv_placing *placing,
                    struct tv_spans_rooms *rooms, struct thread_work *work)
{
    struct tv_spans spans = {.rooms = rooms, .names = assembly->names};
    spans.diagnostics = rooms->diagnostics;
    collect(assembly, work, &spans);
    uint32_t thread = (uint32_t)(work - assembly->threads);
    uint32_t process = assembly->trace->head->threads[thread].process;
    int64_t seen = placing->lasts ? placing->lasts[thread] : INT64_MIN;
    int64_t quiet = placing->quiets ? placing->quiets[process] : TV_NO_TIME;
    if (finish_unfinished(&spans, seen, quiet)) {
        struct tv_open_ends ends = {open_end(assembly, placing, work, &spans), quiet};
        tv_spans_sort_by_time(&spans);
        tv_spans_pair(&spans, &ends);
    }
    tv_spans_sort_by_start(&spans);
    if (spans.count > 0) {
        work->first = spans.spans[0].time;
        work->last = last_time(&spans);
    }
    if (placing->clocks)
        read_clock(&spans, &placing->clocks[thread]);
    tv_spans_nest(&spans, placing->tolerance, &work->nesting);
    place_thread(assembly, work, &spans);
    work->nesting.row_of = NULL;
    tv_room_leave(&rooms->row_of);
    tv_room_leave(&rooms->spans);
    tv_free(spans.sides);
    keep_told(work, rooms->diagnostics);
    work->placed = true;
}
