/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stitch.c - two runs over the chunks of each thread.
 *
 * The first run uses recorded calls alone and collects the exits that match none of them: their
 * calls must be supplied.  The second run starts with the supplied calls at the bottom of the stack
 * and stores the stack at the start of every chunk.
 *
 *     events of a thread     >a >b <b   |   >c <c <a   |   <m >d
 *     exits below                       |   <a         |   <m       (set aside by the chunks)
 *
 *     first run, stack       [ ]        |   [a]        |   [ ]      <m finds nothing: unmatched
 *     supplied                                                      m began before the trace
 *     second run, stack      [m]        |   [m a]      |   [m]      the start of each chunk
 *
 * Neither run reads events.  A chunk's summary suffices: the exits that it set aside, in order, and
 * the calls that it left open.  So stitching costs time in proportion to the borders of chunks.
 *
 * Both runs stop when an exit names another frame than the top of the stack: whether the entry or
 * the exit is wrong depends on events between them, which only a serial reading sees.
 */
#include "model/builder/stitch.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"

/* The true stack of one thread while stitching goes through the chunks. */
struct stitch_stack {
    struct tv_open *stack; /* supplied calls, then recorded ones */
    size_t capacity;
    uint32_t depth, floor;
    bool seen;
    int64_t last_wall, last_cpu;
};

static void stitch_push(struct stitch_stack *fit, struct tv_open open)
{
    fit->stack =
        tv_array_reserve(fit->stack, &fit->capacity, (size_t)fit->depth + 1, sizeof *fit->stack);
    fit->stack[fit->depth++] = open;
}

static void stitch_push_opened(struct stitch_stack *fit, const struct tv_walk_thread *t)
{
    for (uint32_t i = 0; i < t->depth; i++)
        stitch_push(fit, t->stack[i]);
    if (t->seen) {
        fit->seen = true;
        fit->last_wall = t->last_wall;
        fit->last_cpu = t->last_cpu;
    }
}

/* Return the number of levels of recorded entries that the chunk reaches when `open` calls are open
 * at its start. */
static uint32_t stitch_levels_reached(const struct tv_walk_thread *t, uint32_t open)
{
    uint32_t deepest = 0;
    for (uint32_t i = 0; i <= t->below_count; i++) {
        uint32_t own = i < t->below_count ? t->below[i].max_depth : t->max_depth;
        uint32_t levels = open + own;
        if (own && levels > deepest)
            deepest = levels;
        if (open)
            open--;
    }
    return deepest;
}

/*
 * First run over a thread's chunks, with recorded calls alone.  Append exits that match none to
 * `unmatched`.  Return false when an exit contradicts the stack.
 */
static bool stitch_find_unmatched(struct stitch_stack *fit, const struct tv_walk *chunks,
                                  unsigned chunk_count, uint32_t thread,
                                  struct stitch_stack *unmatched)
{
    for (unsigned chunk = 0; chunk < chunk_count; chunk++) {
        const struct tv_walk_thread *t = &chunks[chunk].threads[thread];
        if (chunk_count > 1 &&
            (t->too_deep || stitch_levels_reached(t, fit->depth) > TV_DEPTH_LIMIT))
            return false;
        for (uint32_t i = 0; i < t->below_count; i++) {
            const struct tv_pending_exit *below = &t->below[i];
            if (!fit->depth) {
                stitch_push(unmatched, (struct tv_open){.frame = below->frame});
                continue;
            }
            uint32_t top = fit->stack[--fit->depth].frame;
            if (top != below->frame && below->frame != TV_ANY_FRAME)
                return false;
        }
        stitch_push_opened(fit, t);
    }
    return unmatched->depth <= TV_DEPTH_LIMIT || chunk_count == 1;
}

static void stitch_keep_start(struct tv_walk_start *start, const struct stitch_stack *fit)
{
    *start = (struct tv_walk_start){
        .stack = tv_alloc(fit->depth, sizeof *start->stack),
        .depth = fit->depth,
        .floor = fit->floor,
        .seen = fit->seen,
        .last_wall = fit->last_wall,
        .last_cpu = fit->last_cpu,
    };
    if (fit->depth)
        memcpy(start->stack, fit->stack, fit->depth * sizeof *start->stack);
}

/* Second run, with the supplied calls at the bottom: store the stack at each start. */
static void stitch_compute_starts(struct tv_stitch *stitch, const struct tv_walk *chunks,
                                  uint32_t thread, const struct stitch_stack *unmatched)
{
    struct stitch_stack fit = {0};
    for (uint32_t i = unmatched->depth; i > 0; i--) {
        stitch->nameless |= unmatched->stack[i - 1].frame == TV_ANY_FRAME;
        stitch_push(&fit, (struct tv_open){.wall = stitch->first_wall[thread],
                                           .cpu = stitch->first_cpu[thread],
                                           .frame = unmatched->stack[i - 1].frame,
                                           .tag = i > 1});
    }
    fit.floor = fit.depth;
    fit.last_wall = stitch->first_wall[thread];
    fit.last_cpu = stitch->first_cpu[thread];
    for (unsigned chunk = 0; chunk < stitch->chunk_count; chunk++) {
        const struct tv_walk_thread *t = &chunks[chunk].threads[thread];
        uint32_t levels = stitch_levels_reached(t, fit.depth - fit.floor);
        if (levels > stitch->max_depth[thread])
            stitch->max_depth[thread] = levels;
        stitch_keep_start(tv_stitch_start(stitch, chunk, thread), &fit);
        assert(t->below_count <= fit.depth); /* the supplied calls make up for it */
        fit.depth -= t->below_count;
        if (fit.floor > fit.depth)
            fit.floor = fit.depth;
        if (t->had_child && fit.depth)
            fit.stack[fit.depth - 1].tag = 1;
        stitch_push_opened(&fit, t);
        stitch->entries += t->entries;
    }
    stitch_keep_start(tv_stitch_start(stitch, stitch->chunk_count, thread), &fit);
    assert(fit.floor == 0);
    stitch->supplied[thread] = unmatched->depth;
    stitch->unmatched_exits += unmatched->depth;
    stitch->open_calls += fit.depth;
    stitch->threads_with_events += fit.seen;
    tv_free(fit.stack);
}

static void stitch_find_first_event(struct tv_stitch *stitch, const struct tv_walk *chunks,
                                    uint32_t thread)
{
    for (unsigned chunk = 0; chunk < stitch->chunk_count; chunk++) {
        const struct tv_walk_thread *t = &chunks[chunk].threads[thread];
        if (t->seen) {
            stitch->first_wall[thread] = t->first_wall;
            stitch->first_cpu[thread] = t->first_cpu;
            return;
        }
    }
}

static bool stitch_thread(struct tv_stitch *stitch, const struct tv_walk *chunks, uint32_t thread)
{
    struct stitch_stack open = {0}, unmatched = {0};
    stitch_find_first_event(stitch, chunks, thread);
    bool decided = stitch_find_unmatched(&open, chunks, stitch->chunk_count, thread, &unmatched);
    if (decided)
        stitch_compute_starts(stitch, chunks, thread, &unmatched);
    tv_free(open.stack);
    tv_free(unmatched.stack);
    return decided;
}

/* Count exits without an entry, and calls that are open at the end. */
static void stitch_count_unmatched(struct tv_trace_info *head, const struct tv_stitch *stitch,
                                   const struct tv_walk *chunks)
{
    for (unsigned chunk = 0; chunk < stitch->chunk_count; chunk++)
        for (uint32_t thread = 0; thread < stitch->thread_count; thread++) {
            const struct tv_walk_start *start = tv_stitch_start(stitch, chunk, thread);
            const struct tv_walk_thread *t = &chunks[chunk].threads[thread];
            for (uint32_t i = start->depth - start->floor; i < t->below_count; i++)
                tv_diagnostics_add(&head->diagnostics, TV_DIAGNOSTIC_UNMATCHED_EXIT,
                                   t->below[i].offset);
        }
    for (uint64_t i = 0; i < stitch->open_calls; i++)
        tv_diagnostics_add(&head->diagnostics, TV_DIAGNOSTIC_OPEN_CALL, UINT64_MAX);
}

enum tv_stitch_result tv_stitch_init(struct tv_stitch *stitch, const struct tv_walk *chunks,
                                     unsigned chunk_count)
{
    uint32_t threads = chunks[0].thread_count;
    *stitch = (struct tv_stitch){
        .chunk_count = chunk_count,
        .thread_count = threads,
        .starts = tv_alloc(tv_size_mul((size_t)chunk_count + 1, threads), sizeof *stitch->starts),
        .supplied = tv_alloc(threads, sizeof *stitch->supplied),
        .max_depth = tv_alloc(threads, sizeof *stitch->max_depth),
        .first_wall = tv_alloc(threads, sizeof *stitch->first_wall),
        .first_cpu = tv_alloc(threads, sizeof *stitch->first_cpu),
    };
    bool decided = true;
    for (unsigned chunk = 0; chunk < chunk_count; chunk++)
        decided = decided && !chunks[chunk].undecided;
    for (uint32_t thread = 0; decided && thread < threads; thread++)
        decided = stitch_thread(stitch, chunks, thread);
    if (decided)
        return TV_STITCH_DONE;
    tv_stitch_release(stitch);
    return TV_STITCH_SERIAL;
}

void tv_stitch_add_diagnostics(const struct tv_stitch *stitch, const struct tv_walk *chunks,
                               struct tv_trace_info *head)
{
    for (unsigned chunk = 0; chunk < stitch->chunk_count; chunk++)
        if (chunks[chunk].diagnostics)
            tv_diagnostics_merge(&head->diagnostics, chunks[chunk].diagnostics);
    stitch_count_unmatched(head, stitch, chunks);
}

enum tv_stitch_result tv_stitch_chunks(struct tv_stitch *stitch, const struct tv_walk *first,
                                       size_t stride, unsigned chunk_count,
                                       struct tv_trace_info *head)
{
    struct tv_walk *walks = tv_alloc(chunk_count, sizeof *walks);
    for (unsigned i = 0; i < chunk_count; i++)
        memcpy(&walks[i], (const char *)first + i * stride, sizeof walks[i]);
    enum tv_stitch_result result = tv_stitch_init(stitch, walks, chunk_count);
    if (result == TV_STITCH_DONE)
        tv_stitch_add_diagnostics(stitch, walks, head);
    tv_free(walks);
    return result;
}

void tv_stitch_release(struct tv_stitch *stitch)
{
    for (size_t i = 0; i < ((size_t)stitch->chunk_count + 1) * stitch->thread_count; i++)
        tv_free(stitch->starts[i].stack);
    tv_free(stitch->starts);
    tv_free(stitch->supplied);
    tv_free(stitch->max_depth);
    tv_free(stitch->first_wall);
    tv_free(stitch->first_cpu);
    memset(stitch, 0, sizeof *stitch);
}

bool tv_stitch_gap(const struct tv_walk_start *start, const struct tv_walk_thread *t, int64_t *wall,
                   int64_t *cpu)
{
    *wall = t->first_wall - start->last_wall;
    *cpu = t->first_cpu - start->last_cpu;
    return start->seen && t->seen;
}

void tv_stitch_add_spans(const struct tv_stitch *stitch, int64_t tick, tv_ns *wall, tv_ns *cpu)
{
    for (uint32_t thread = 0; thread < stitch->thread_count; thread++) {
        const struct tv_walk_start *last = tv_stitch_start(stitch, stitch->chunk_count, thread);
        if (!last->seen)
            continue;
        tv_time_add(wall, tv_time_times(last->last_wall - stitch->first_wall[thread], tick));
        tv_time_add(cpu, tv_time_times(last->last_cpu - stitch->first_cpu[thread], tick));
    }
}

int64_t tv_stitch_open_end(const struct tv_input *input, int64_t last_wall)
{
    int64_t elapsed = input->elapsed_ns / input->tick_ns;
    if (input->figures != TV_FIGURES_SAMPLED || !(input->clocks & TV_CLOCK_WALL))
        return last_wall;
    /* Once the buffer was full, the stacks may have changed unseen. */
    return elapsed > input->last_wall && !input->overflow ? elapsed : input->last_wall;
}

uint32_t tv_stitch_unknown_frame(struct tv_trace_info *head)
{
    struct tv_frame frame = {.name = tv_trace_info_string(head, TV_BYTES("(unknown)"))};
    return tv_trace_info_add_frame(head, &frame);
}
