/* SPDX-License-Identifier: Apache-2.0 */
#include "model/seam.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"

/* One thread's true stack while the parts are gone through. */
struct fit {
    struct tv_open *stack; /* supplied calls first, then recorded ones */
    size_t capacity;
    uint32_t depth, floor;
    bool seen;
    int64_t last_wall, last_cpu;
};

static void push(struct fit *fit, struct tv_open open)
{
    fit->stack =
        tv_array_reserve(fit->stack, &fit->capacity, (size_t)fit->depth + 1, sizeof *fit->stack);
    fit->stack[fit->depth++] = open;
}

static void push_opened(struct fit *fit, const struct tv_walk_thread *t)
{
    for (uint32_t i = 0; i < t->depth; i++)
        push(fit, t->stack[i]);
    if (t->seen) {
        fit->seen = true;
        fit->last_wall = t->last_wall;
        fit->last_cpu = t->last_cpu;
    }
}

/* Levels of recorded entries that the part reached, given how many were open at its start. */
static uint32_t reached(const struct tv_walk_thread *t, uint32_t open)
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
 * Goes through a thread's parts with recorded calls alone.  Exits that find none open are
 * appended to `unmatched`.  False when an exit contradicts the stack.
 */
static bool find_unmatched(struct fit *fit, const struct tv_walk *parts, unsigned part_count,
                           uint32_t thread, struct fit *unmatched)
{
    for (unsigned part = 0; part < part_count; part++) {
        const struct tv_walk_thread *t = &parts[part].threads[thread];
        if (part_count > 1 && (t->too_deep || reached(t, fit->depth) > TV_DEPTH_LIMIT))
            return false;
        for (uint32_t i = 0; i < t->below_count; i++) {
            const struct tv_below *below = &t->below[i];
            if (!fit->depth) {
                push(unmatched, (struct tv_open){.frame = below->frame});
                continue;
            }
            uint32_t top = fit->stack[--fit->depth].frame;
            if (top != below->frame && below->frame != TV_ANY_FRAME)
                return false;
        }
        push_opened(fit, t);
    }
    return unmatched->depth <= TV_DEPTH_LIMIT || part_count == 1;
}

static void keep_start(struct tv_walk_start *start, const struct fit *fit)
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

/* Goes through the parts again with the supplied calls at the bottom, keeping each start. */
static void fit_thread(struct tv_seam *seam, const struct tv_walk *parts, uint32_t thread,
                       const struct fit *unmatched)
{
    struct fit fit = {0};
    for (uint32_t i = unmatched->depth; i > 0; i--) {
        seam->nameless |= unmatched->stack[i - 1].frame == TV_ANY_FRAME;
        push(&fit, (struct tv_open){.wall = seam->first_wall[thread],
                                    .cpu = seam->first_cpu[thread],
                                    .frame = unmatched->stack[i - 1].frame,
                                    .tag = i > 1});
    }
    fit.floor = fit.depth;
    fit.last_wall = seam->first_wall[thread];
    fit.last_cpu = seam->first_cpu[thread];
    for (unsigned part = 0; part < seam->part_count; part++) {
        const struct tv_walk_thread *t = &parts[part].threads[thread];
        uint32_t levels = reached(t, fit.depth - fit.floor);
        if (levels > seam->max_depth[thread])
            seam->max_depth[thread] = levels;
        keep_start(tv_seam_start(seam, part, thread), &fit);
        fit.depth -= t->below_count;
        if (fit.floor > fit.depth)
            fit.floor = fit.depth;
        if (t->had_child && fit.depth)
            fit.stack[fit.depth - 1].tag = 1;
        push_opened(&fit, t);
        seam->entries += t->entries;
    }
    keep_start(tv_seam_start(seam, seam->part_count, thread), &fit);
    assert(fit.floor == 0);
    seam->supplied[thread] = unmatched->depth;
    seam->unmatched_exits += unmatched->depth;
    seam->open_calls += fit.depth;
    seam->threads_with_events += fit.seen;
    tv_free(fit.stack);
}

static void find_first_record(struct tv_seam *seam, const struct tv_walk *parts, uint32_t thread)
{
    for (unsigned part = 0; part < seam->part_count; part++) {
        const struct tv_walk_thread *t = &parts[part].threads[thread];
        if (t->seen) {
            seam->first_wall[thread] = t->first_wall;
            seam->first_cpu[thread] = t->first_cpu;
            return;
        }
    }
}

static bool splice_thread(struct tv_seam *seam, const struct tv_walk *parts, uint32_t thread)
{
    struct fit open = {0}, unmatched = {0};
    find_first_record(seam, parts, thread);
    bool decided = find_unmatched(&open, parts, seam->part_count, thread, &unmatched);
    if (decided)
        fit_thread(seam, parts, thread, &unmatched);
    tv_free(open.stack);
    tv_free(unmatched.stack);
    return decided;
}

static void count_unmatched(struct tv_head *head, const struct tv_seam *seam,
                            const struct tv_walk *parts)
{
    for (unsigned part = 0; part < seam->part_count; part++)
        for (uint32_t thread = 0; thread < seam->thread_count; thread++) {
            const struct tv_walk_start *start = tv_seam_start(seam, part, thread);
            const struct tv_walk_thread *t = &parts[part].threads[thread];
            for (uint32_t i = start->depth - start->floor; i < t->below_count; i++)
                tv_diagnostics_add(&head->diagnostics, TV_DIAGNOSTIC_UNMATCHED_EXIT,
                                   t->below[i].offset);
        }
    for (uint64_t i = 0; i < seam->open_calls; i++)
        tv_diagnostics_add(&head->diagnostics, TV_DIAGNOSTIC_OPEN_CALL, UINT64_MAX);
}

enum tv_splice tv_seam_init(struct tv_seam *seam, const struct tv_walk *parts, unsigned part_count)
{
    uint32_t threads = parts[0].thread_count;
    *seam = (struct tv_seam){
        .part_count = part_count,
        .thread_count = threads,
        .starts = tv_alloc(tv_size_mul((size_t)part_count + 1, threads), sizeof *seam->starts),
        .supplied = tv_alloc(threads, sizeof *seam->supplied),
        .max_depth = tv_alloc(threads, sizeof *seam->max_depth),
        .first_wall = tv_alloc(threads, sizeof *seam->first_wall),
        .first_cpu = tv_alloc(threads, sizeof *seam->first_cpu),
    };
    bool decided = true;
    for (unsigned part = 0; part < part_count; part++)
        decided = decided && !parts[part].undecided;
    for (uint32_t thread = 0; decided && thread < threads; thread++)
        decided = splice_thread(seam, parts, thread);
    if (decided)
        return TV_SPLICE_DONE;
    tv_seam_release(seam);
    return TV_SPLICE_SERIAL;
}

void tv_seam_add_diagnostics(const struct tv_seam *seam, const struct tv_walk *parts,
                             struct tv_head *head)
{
    for (unsigned part = 0; part < seam->part_count; part++)
        if (parts[part].diagnostics)
            tv_diagnostics_merge(&head->diagnostics, parts[part].diagnostics);
    count_unmatched(head, seam, parts);
}

void tv_seam_release(struct tv_seam *seam)
{
    for (size_t i = 0; i < ((size_t)seam->part_count + 1) * seam->thread_count; i++)
        tv_free(seam->starts[i].stack);
    tv_free(seam->starts);
    tv_free(seam->supplied);
    tv_free(seam->max_depth);
    tv_free(seam->first_wall);
    tv_free(seam->first_cpu);
    memset(seam, 0, sizeof *seam);
}

bool tv_seam_gap(const struct tv_walk_start *start, const struct tv_walk_thread *t, int64_t *wall,
                 int64_t *cpu)
{
    *wall = t->first_wall - start->last_wall;
    *cpu = t->first_cpu - start->last_cpu;
    return start->seen && t->seen;
}

void tv_seam_add_spans(const struct tv_seam *seam, int64_t tick, tv_ns *wall, tv_ns *cpu)
{
    for (uint32_t thread = 0; thread < seam->thread_count; thread++) {
        const struct tv_walk_start *last = tv_seam_start(seam, seam->part_count, thread);
        if (!last->seen)
            continue;
        tv_time_add(wall, tv_time_times(last->last_wall - seam->first_wall[thread], tick));
        tv_time_add(cpu, tv_time_times(last->last_cpu - seam->first_cpu[thread], tick));
    }
}

int64_t tv_seam_open_end(const struct tv_input *input, int64_t last_wall)
{
    int64_t elapsed = input->elapsed_ns / input->tick_ns;
    if (input->figures != TV_FIGURES_SAMPLED || !(input->clocks & TV_CLOCK_WALL))
        return last_wall;
    /* After the buffer was full, the stacks may have changed at any time. */
    return elapsed > input->last_wall && !input->overflow ? elapsed : input->last_wall;
}

uint32_t tv_seam_unknown_frame(struct tv_head *head)
{
    struct tv_frame frame = {.name = tv_head_string(head, TV_BYTES("(unknown)"))};
    return tv_head_add_frame(head, &frame);
}
