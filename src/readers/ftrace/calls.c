/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the function_graph tracer become slices: each task has a stack of its own.  Where lines
 * have no times, calls lie one behind the other by their durations, from the first event on. */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"
#include "readers/ftrace/graph.h"
#include "readers/ftrace/tell.h"

/* Deeper calls are not kept: the kernel's tracer itself ends at 50. */
#define DEEPEST 4096u

struct open_call {
    size_t place; /* in what is told: a call stands there before those that it makes */
    bool interrupt;
};

struct stack {
    uint32_t thread;
    int64_t clock; /* nothing begins or ends earlier any more */
    TV_TABLE(open_call) open;
};

struct processor {
    int64_t clock;   /* of lines without times */
    uint32_t thread; /* that runs; TV_NONE: unknown */
};

struct placing {
    struct tv_ft_merge *merge;
    struct tv_ft_tell tell;
    TV_TABLE(stack) stacks;
    struct tv_map stack_of; /* thread -> index */
    TV_TABLE(tv_ft_told) told;
    TV_TABLE(tv_ft_told) unknown; /* calls that began before the trace */
    TV_TABLE(processor) processors;
    struct tv_map lanes; /* cpu -> thread of calls of an unknown task */
    int64_t base;        /* where lines without times begin */
    bool relative;
};

static struct processor *processor_of(struct placing *p, uint32_t cpu)
{
    while (p->processors.count <= cpu)
        *tv_table_add(&p->processors) = (struct processor){p->base, TV_NONE};
    return &p->processors.rows[cpu];
}

/* The first switch of a processor tells who ran before it. */
static void find_first_tasks(struct placing *p)
{
    struct tv_ft_merge *merge = p->merge;
    for (size_t i = 0; i < merge->text_count; i++) {
        const struct tv_ft_part *part = &merge->texts[i].part;
        for (size_t k = 0; k < part->graph.count; k++) {
            const struct tv_ft_graph *row = &part->graph.rows[k];
            struct processor *processor = processor_of(p, row->cpu);
            if (row->kind == TV_FT_GRAPH_SWITCH && processor->thread == TV_NONE)
                processor->thread = merge->numbers[i].threads[row->task];
        }
    }
}

/* "functions cpu 3" */
static uint32_t lane_of(struct placing *p, uint32_t cpu)
{
    uint32_t thread = tv_map_find(&p->lanes, cpu);
    char name[32];
    if (thread != TV_NONE)
        return thread;
    snprintf(name, sizeof name, "functions cpu %u", cpu);
    thread = tv_ft_add_line(p->merge, tv_bytes_of(name));
    tv_map_set(&p->lanes, cpu, thread);
    return thread;
}

static struct stack *stack_of(struct placing *p, uint32_t thread)
{
    uint32_t number = tv_map_add(&p->stack_of, thread, (uint32_t)p->stacks.count);
    if (number == p->stacks.count)
        *tv_table_add(&p->stacks) = (struct stack){.thread = thread, .clock = INT64_MIN};
    return &p->stacks.rows[number];
}

/* A duration later, where that is a time at all. */
static int64_t later(int64_t time, int64_t duration)
{
    return duration == TV_NO_TIME || duration > INT64_MAX - time ? time : time + duration;
}

/* Adds a call; its length is not known yet when it is an open one. */
static size_t add_call(struct placing *p, struct stack *stack, const struct tv_ft_told *call)
{
    *tv_table_add(&p->told) = *call;
    stack->clock = call->length == TV_NO_TIME ? call->start : call->start + call->length;
    return p->told.count - 1;
}

static void begin_call(struct placing *p, struct stack *stack, const struct tv_ft_told *call,
                       bool interrupt)
{
    struct tv_ft_told begun = *call;
    begun.length = TV_NO_TIME;
    size_t place = add_call(p, stack, &begun);
    *tv_table_add(&stack->open) = (struct open_call){place, interrupt};
}

/* Ends the innermost call; it cannot end before those that it made. */
static void close_call(struct placing *p, struct stack *stack, int64_t time)
{
    struct tv_ft_told *call = &p->told.rows[stack->open.rows[--stack->open.count].place];
    stack->clock = time < stack->clock ? stack->clock : time;
    call->length = stack->clock - call->start;
}

/* The level of what an end ends; open.count: it began before the trace. */
static size_t find_level(const struct placing *p, const struct stack *stack,
                         const struct tv_ft_graph *row, uint32_t frame)
{
    size_t level = stack->open.count;
    bool interrupt = row->kind == TV_FT_GRAPH_INTERRUPT_END;
    while (level-- > 0) {
        const struct open_call *call = &stack->open.rows[level];
        if (interrupt ? call->interrupt
                      : frame == TV_NONE || p->told.rows[call->place].frame == frame)
            return level;
    }
    return stack->open.count;
}

/* What began before the trace: its duration says when. */
static void end_unknown(struct placing *p, struct stack *stack, const struct tv_ft_graph *row,
                        const struct tv_ft_told *end)
{
    struct tv_ft_told call = *end;
    tv_diagnostics_add(&p->merge->trace->head->diagnostics, TV_DIAGNOSTIC_UNMATCHED_EXIT,
                       row->offset);
    if (call.frame == TV_NONE)
        call.frame = tv_ft_add_frame(p->merge, TV_BYTES("(unknown function)"), "function");
    call.start = p->base < end->start ? p->base : end->start;
    if (row->duration != TV_NO_TIME && end->start - row->duration > call.start)
        call.start = end->start - row->duration;
    call.length = end->start - call.start;
    *tv_table_add(&p->unknown) = call;
    stack->clock = end->start;
}

/* Ends a call, and what is open above it. The duration that is printed counts. */
static void end_call(struct placing *p, struct stack *stack, const struct tv_ft_graph *row,
                     const struct tv_ft_told *end)
{
    size_t level = find_level(p, stack, row, end->frame);
    if (level == stack->open.count) {
        end_unknown(p, stack, row, end);
        return;
    }
    while (stack->open.count > level + 1) {
        tv_diagnostics_add(&p->merge->trace->head->diagnostics, TV_DIAGNOSTIC_MISSING_EXIT,
                           p->told.rows[stack->open.rows[stack->open.count - 1].place].offset);
        close_call(p, stack, end->start);
    }
    const struct tv_ft_told *call = &p->told.rows[stack->open.rows[level].place];
    int64_t start = call->start;
    if (row->returns)
        *tv_table_add(&p->merge->slice_ends) = (struct tv_ft_slice_end){
            .slice = {call->thread, start, 0, call->offset}, .end_offset = row->offset};
    close_call(p, stack, row->duration == TV_NO_TIME ? end->start : later(start, row->duration));
}

/* Where lines have no times, the file reaches from its first call to its last. */
static void stretch(struct tv_ft_merge *merge, const struct tv_ft_told *told)
{
    int64_t end = told->start + (told->length == TV_NO_TIME ? 0 : told->length);
    merge->first = told->start < merge->first ? told->start : merge->first;
    merge->last = end > merge->last ? end : merge->last;
}

static void take_row(struct placing *p, const struct tv_ft_numbers *numbers,
                     const struct tv_ft_graph *row)
{
    struct processor *processor = processor_of(p, row->cpu);
    if (row->kind == TV_FT_GRAPH_SWITCH) {
        processor->thread = numbers->threads[row->frame];
        return;
    }
    uint32_t thread = row->task != TV_NONE ? numbers->threads[row->task] : processor->thread;
    struct stack *stack = stack_of(p, thread != TV_NONE ? thread : lane_of(p, row->cpu));
    uint32_t frame = row->frame == TV_NONE ? TV_NONE : numbers->frames[row->frame];
    int64_t time = row->time == TV_NO_TIME ? processor->clock : row->time;
    p->relative |= row->time == TV_NO_TIME;
    struct tv_ft_told told = {stack->thread, frame, time < stack->clock ? stack->clock : time, 0,
                              row->offset};
    if (row->kind == TV_FT_GRAPH_EVENT) {
        tv_ft_tell_instant(&p->tell, &told);
        stretch(p->merge, &told);
    } else if (row->kind == TV_FT_GRAPH_EXIT || row->kind == TV_FT_GRAPH_INTERRUPT_END) {
        end_call(p, stack, row, &told);
    } else if (row->kind == TV_FT_GRAPH_LEAF) {
        told.length = later(told.start, row->duration) - told.start;
        add_call(p, stack, &told);
    } else if (stack->open.count == DEEPEST) {
        tv_diagnostics_add(&p->merge->trace->head->diagnostics, TV_DIAGNOSTIC_TOO_DEEP,
                           row->offset);
    } else {
        begin_call(p, stack, &told, row->kind == TV_FT_GRAPH_INTERRUPT);
    }
    if (row->time == TV_NO_TIME && stack->clock > processor->clock)
        processor->clock = stack->clock;
}

static void tell_all(struct placing *p)
{
    /* Of calls with the same times the one that is told first encloses the other: what began before
     * the trace and ended last. */
    for (size_t i = p->unknown.count; i-- > 0;) {
        stretch(p->merge, &p->unknown.rows[i]);
        tv_ft_tell_slice(&p->tell, &p->unknown.rows[i]);
    }
    for (size_t i = 0; i < p->told.count; i++) {
        struct tv_ft_told *call = &p->told.rows[i];
        stretch(p->merge, call);
        if (call->length != TV_NO_TIME) {
            tv_ft_tell_slice(&p->tell, call);
            continue;
        }
        call->length = 0;
        tv_ft_tell_open(&p->tell, call);
    }
    for (size_t i = 0; i < p->stacks.count; i++)
        tv_free(p->stacks.rows[i].open.rows);
}

static void place_all(struct placing *p)
{
    struct tv_ft_merge *merge = p->merge;
    find_first_tasks(p);
    for (size_t i = 0; i < merge->text_count; i++) {
        const struct tv_ft_part *part = &merge->texts[i].part;
        for (size_t k = 0; k < part->graph.count; k++)
            take_row(p, &merge->numbers[i], &part->graph.rows[k]);
    }
    tell_all(p);
    if (p->relative)
        tv_trace_info_add_metadata(merge->trace->head, merge->input, TV_BYTES("times"),
                             TV_BYTES("relative: calls lie one behind the other by durations"));
}

void tv_ft_place_calls(struct tv_ft_merge *merge)
{
    struct placing p = {.merge = merge, .base = merge->first <= merge->last ? merge->first : 0};
    size_t rows = 0;
    for (size_t i = 0; i < merge->text_count; i++)
        rows += merge->texts[i].part.graph.count;
    if (rows == 0)
        return;
    tv_map_init(&p.stack_of);
    tv_map_init(&p.lanes);
    tv_ft_tell_init(&p.tell, merge);
    place_all(&p);
    tv_ft_tell_end(&p.tell);
    tv_map_release(&p.stack_of);
    tv_map_release(&p.lanes);
    tv_free(p.stacks.rows);
    tv_free(p.told.rows);
    tv_free(p.unknown.rows);
    tv_free(p.processors.rows);
}
