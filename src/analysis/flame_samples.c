/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames of a sample are numbered one after the other, those of all samples before it first:
 * such a number is the name of the flame's frame that begins with it.
 */
#include "analysis/flame_samples.h"

#include "analysis/flame_growth.h"
#include "analysis/tree_sink.h"
#include "base/memory.h"

/* So many frames of stacks are looked at; samples behind them are left out.  Deep stacks that
 * samples share could keep us for minutes otherwise. */
#define STEP_LIMIT ((uint64_t)1 << 27)

struct walk {
    const struct tv_trace *trace;
    const struct tv_flame_samples_options *options;
    struct tv_flame_growth growth;
    int64_t *measures;    /* [samples]; -1: passed over */
    uint64_t *first_name; /* [samples + 1] of its lowest frame; behind them that of thread 0 */
    size_t *order;        /* samples thread by thread, those of none last */
    uint32_t *stack;      /* the frames of one */
    bool several;         /* threads */
    size_t root_sample;   /* the first that the root may have; else 0 */
    uint64_t steps;       /* frames of stacks that were looked at */
};

static const struct tv_sample *sample_at(const struct walk *walk, size_t index)
{
    return &walk->trace->tables.samples.rows[index];
}

static uint32_t thread_of(const struct walk *walk, size_t index)
{
    uint32_t threads = walk->trace->head->thread_count, thread = sample_at(walk, index)->thread;
    return thread < threads ? thread : threads;
}

static uint32_t as_name(uint64_t name)
{
    return name < TV_NONE ? (uint32_t)name : TV_NONE;
}

/* Numbers of frames; returns how many the deepest stack has. */
static uint32_t number_frames(struct walk *walk)
{
    const struct tv_paths *paths = &walk->trace->paths;
    size_t samples = walk->trace->tables.samples.count;
    uint32_t *depth = tv_alloc(paths->count, sizeof *depth), deepest = 0;
    walk->first_name = tv_alloc(samples + 1, sizeof *walk->first_name);
    for (uint32_t i = 1; i < paths->count; i++)
        depth[i] = depth[paths->nodes[i].parent] + 1;
    walk->first_name[0] = 1;
    for (size_t i = 0; i < samples; i++) {
        uint32_t own = depth[sample_at(walk, i)->path];
        walk->first_name[i + 1] = walk->first_name[i] + own;
        deepest = own > deepest ? own : deepest;
    }
    tv_free(depth);
    return deepest;
}

/* By counting; within a thread they stay in the order of time, which the table has. */
static void order_samples(struct walk *walk)
{
    size_t samples = walk->trace->tables.samples.count, before = 0;
    uint32_t threads = walk->trace->head->thread_count, seen = 0;
    size_t *next = tv_alloc((size_t)threads + 1, sizeof *next);
    walk->order = tv_alloc(samples, sizeof *walk->order);
    for (size_t i = 0; i < samples; i++)
        if (walk->measures[i] >= 0)
            next[thread_of(walk, i)]++;
    for (uint32_t thread = 0; thread <= threads; thread++) {
        size_t count = next[thread];
        seen += count > 0;
        next[thread] = before;
        before += count;
    }
    walk->several = seen > 1;
    for (size_t i = 0; i < samples; i++)
        if (walk->measures[i] >= 0)
            walk->order[next[thread_of(walk, i)]++] = i + 1;
    tv_free(next);
}

/* Lays the stack of a sample on a frame. */
static void add_sample(struct walk *walk, size_t index, uint32_t on)
{
    const struct tv_paths *paths = &walk->trace->paths;
    uint64_t name = walk->first_name[index];
    uint32_t depth = 0;
    if (walk->steps >= STEP_LIMIT) {
        tv_growth_skip(&walk->growth, on, walk->measures[index]);
        return;
    }
    for (uint32_t at = sample_at(walk, index)->path; at != TV_ROOT_PATH;
         at = paths->nodes[at].parent)
        walk->stack[depth++] = paths->nodes[at].frame;
    walk->steps += depth;
    for (; depth > 0; depth--, name++) {
        uint32_t frame = walk->stack[depth - 1];
        if (walk->options->fold && walk->growth.frames[on].frame == frame)
            continue;
        on = tv_growth_enter(&walk->growth, on, frame, as_name(name));
        if (on == TV_NONE)
            return;
        walk->growth.frames[on].own += walk->measures[index];
        walk->growth.frames[on].calls++;
    }
}

static bool is_passed_over(const struct walk *walk, size_t index, uint32_t root_thread)
{
    return index < walk->root_sample ||
           (root_thread != TV_NONE && thread_of(walk, index) != root_thread);
}

/* `root_thread`: that alone; TV_NONE: all. */
static void walk_samples(struct walk *walk, uint32_t root_thread)
{
    size_t samples = walk->trace->tables.samples.count, threads = walk->trace->head->thread_count;
    walk->steps = 0;
    tv_growth_begin(&walk->growth);
    for (size_t i = 0; i < samples && walk->order[i] > 0 && !walk->growth.done; i++) {
        size_t index = walk->order[i] - 1;
        uint32_t thread = thread_of(walk, index), on = 0;
        if (is_passed_over(walk, index, root_thread))
            continue;
        if (walk->several && thread < threads)
            on = tv_growth_enter(&walk->growth, 0, TV_THREAD_FRAME + thread,
                                 as_name(walk->first_name[samples] + thread));
        if (on != TV_NONE)
            add_sample(walk, index, on);
    }
    tv_growth_end(&walk->growth);
}

/* The thread of a root, whose samples before it are passed over; TV_NONE: it is none. */
static uint32_t find_root(struct walk *walk)
{
    uint64_t root = walk->options->root;
    size_t low = 0, high = walk->trace->tables.samples.count;
    uint64_t threads = walk->first_name[high];
    if (root >= threads)
        return root - threads < walk->trace->head->thread_count ? (uint32_t)(root - threads)
                                                                : TV_NONE;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (walk->first_name[middle + 1] <= root)
            low = middle + 1;
        else
            high = middle;
    }
    walk->root_sample = low;
    return thread_of(walk, low);
}

/* A root is walked twice, the first time for its width: what is too narrow depends on that. */
static void walk_root(struct walk *walk, struct tv_flame *flame)
{
    uint32_t thread = find_root(walk);
    if (thread == TV_NONE)
        return;
    walk->growth.wanted_root = walk->options->root;
    walk->growth.threshold = INT64_MAX;
    walk_samples(walk, thread);
    if (walk->growth.root == TV_NONE)
        return;
    walk->growth.threshold = tv_flame_threshold(
        tv_growth_width(&walk->growth.frames[walk->growth.root]), walk->options->min_share);
    walk_samples(walk, thread);
    tv_growth_tell(&walk->growth, walk->growth.root, flame);
}

static void walk_all(struct walk *walk, struct tv_flame *flame)
{
    int64_t total = 0;
    for (size_t i = 0; i < walk->trace->tables.samples.count; i++)
        total += walk->measures[i] > 0 ? walk->measures[i] : 0;
    walk->growth.threshold = tv_flame_threshold(total, walk->options->min_share);
    walk_samples(walk, TV_NONE);
    tv_growth_tell(&walk->growth, 0, flame);
}

struct tv_flame *tv_flame_of_samples(const struct tv_trace *trace,
                                     const struct tv_selection *selection,
                                     const struct tv_flame_samples_options *options)
{
    struct tv_flame *flame = tv_alloc(1, sizeof *flame);
    struct walk walk = {.trace = trace, .options = options};
    walk.measures = tv_sample_measures(trace, selection, NULL, options->measure);
    walk.stack = tv_alloc(number_frames(&walk), sizeof *walk.stack);
    order_samples(&walk);
    if (options->root != TV_ROOT_PATH)
        walk_root(&walk, flame);
    else
        walk_all(&walk, flame);
    tv_growth_release(&walk.growth);
    tv_free(walk.measures);
    tv_free(walk.first_name);
    tv_free(walk.order);
    tv_free(walk.stack);
    return flame;
}
