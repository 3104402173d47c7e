/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each part makes a path tree of its own.  A part does not know what was open at its start, so its paths hang
 * on stand-ins: one for each thread and number of exits set aside so far, a node whose frame is STAND_IN and
 * its number.  The splice knows the true stack there, and with it the path in the whole tree that the
 * stand-in is.
 *
 * Own time is credited record by record to the path on top; inclusive times are sums over the tree at the end.
 */
#include "analysis/tree_sink.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "model/seam.h"

#define WAIT_THRESHOLD_NS 100000
#define STAND_IN 0xC0000000u

struct cost {
    uint64_t calls;
    int64_t wall, cpu; /* of the path itself, ticks */
};

struct stand_in {
    uint32_t thread;
    uint32_t below; /* exits set aside before it */
    struct cost waits;
};

struct part {
    struct tv_walk walk;
    struct tv_diagnostics diagnostics;
    const uint32_t *fold; /* [fold_count] frame -> the frame that stands for it, or NULL */
    uint32_t fold_count;
    struct tv_paths paths;
    struct cost *costs; /* of each path */
    size_t cost_capacity;
    uint32_t *bottom; /* of each thread: the stand-in's path, or TV_NONE before it is needed */
    struct stand_in *stand_ins;
    size_t stand_in_count, stand_in_capacity;
    struct cost waits;
    int64_t wait_threshold;
};

struct tv_tree_sink {
    struct tv_sink sink;
    struct tv_tree_sink_options options;
    struct tv_head *head;
    uint32_t input;
    bool *skip;
    uint32_t *fold;
    unsigned part_count;
    struct part *parts;
    struct tv_paths paths; /* of the inputs that are done */
    struct tv_path_cost *costs; /* self times, nanoseconds */
    size_t cost_capacity;
    struct tv_path_cost waits;
};

/* --- While events come ------------------------------------------------------------------------------- */

static TV_NOINLINE void grow_costs(struct part *part)
{
    size_t before = part->cost_capacity;
    part->costs =
        tv_array_reserve(part->costs, &part->cost_capacity, part->paths.count, sizeof *part->costs);
    memset(part->costs + before, 0, (part->cost_capacity - before) * sizeof *part->costs);
}

TV_INLINE uint32_t child_path(struct part *part, uint32_t parent, uint32_t frame)
{
    if (part->fold && frame < part->fold_count)
        frame = part->fold[frame];
    uint32_t path = tv_paths_child(&part->paths, parent, frame);
    if (TV_UNLIKELY(path >= part->cost_capacity))
        grow_costs(part);
    return path;
}

static TV_NOINLINE uint32_t make_bottom(struct part *part, uint32_t thread, uint32_t below)
{
    assert(part->stand_in_count < UINT32_MAX - STAND_IN);
    part->stand_ins = tv_array_reserve(part->stand_ins, &part->stand_in_capacity,
                                       part->stand_in_count + 1, sizeof *part->stand_ins);
    part->stand_ins[part->stand_in_count] = (struct stand_in){.thread = thread, .below = below};
    uint32_t frame = STAND_IN + (uint32_t)part->stand_in_count++;
    return part->bottom[thread] = child_path(part, TV_ROOT_PATH, frame);
}

/* The path that was on top. */
TV_INLINE uint32_t top_path(struct part *part, uint32_t thread, const struct tv_walk_thread *t)
{
    if (TV_LIKELY(t->depth))
        return t->stack[t->depth - 1].tag;
    uint32_t path = part->bottom[thread];
    return path != TV_NONE ? path : make_bottom(part, thread, t->below_count);
}

static TV_NOINLINE void add_wait(struct part *part, const struct tv_walk_thread *t, uint32_t path,
                                 int64_t length)
{
    struct cost *waits = &part->waits;
    if (!t->depth)
        waits = &part->stand_ins[part->paths.nodes[path].frame - STAND_IN].waits;
    waits->calls++;
    waits->wall += length;
}

TV_INLINE void tree_gap(void *context, uint32_t thread, struct tv_walk_thread *t, int64_t wall, int64_t cpu)
{
    struct part *part = context;
    uint32_t path = top_path(part, thread, t);
    part->costs[path].wall += wall;
    part->costs[path].cpu += cpu;
    if (TV_UNLIKELY(wall - cpu > part->wait_threshold))
        add_wait(part, t, path, wall - cpu);
}

TV_INLINE uint32_t tree_enter(void *context, uint32_t thread, struct tv_walk_thread *t,
                              const struct tv_event *event)
{
    struct part *part = context;
    uint32_t path = child_path(part, top_path(part, thread, t), event->frame);
    part->costs[path].calls++;
    return path;
}

TV_INLINE void tree_leave(void *context, uint32_t thread, struct tv_walk_thread *t,
                          const struct tv_event *event, unsigned flags)
{
    (void)context, (void)thread, (void)t, (void)event, (void)flags;
}

static void tree_below(void *context, uint32_t thread, struct tv_walk_thread *t, struct tv_below *below)
{
    (void)t, (void)below;
    ((struct part *)context)->bottom[thread] = TV_NONE;
}

static void tree_take(struct tv_sink *sink, unsigned pass, unsigned number, const struct tv_batch *batch)
{
    static const struct tv_walk_calls calls = {tree_gap, tree_enter, tree_leave, tree_below};
    struct part *part = &((struct tv_tree_sink *)sink)->parts[number];
    (void)pass;
    tv_walk_batch(&part->walk, batch, &calls, part);
}

/* --- Before and after -------------------------------------------------------------------------------- */

static void release_parts(struct tv_tree_sink *sink)
{
    for (unsigned i = 0; i < sink->part_count; i++) {
        struct part *part = &sink->parts[i];
        tv_paths_release(&part->paths);
        tv_free(part->costs);
        tv_free(part->bottom);
        tv_free(part->stand_ins);
        tv_walk_release(&part->walk);
    }
    tv_free(sink->parts);
    tv_free(sink->skip);
    tv_free(sink->fold);
    sink->parts = NULL;
    sink->skip = NULL;
    sink->fold = NULL;
    sink->part_count = 0;
}

static bool *find_skipped(const struct tv_tree_sink *sink)
{
    if (!sink->options.wanted)
        return NULL;
    bool *skip = tv_alloc(sink->head->thread_count, sizeof *skip);
    for (uint32_t i = 0; i < sink->head->thread_count; i++)
        skip[i] = !sink->options.wanted(sink->head, i, sink->options.context);
    return skip;
}

/* For each frame the first that has its class and name. */
static uint32_t *find_folds(const struct tv_tree_sink *sink)
{
    if (!sink->options.fold_names)
        return NULL;
    const struct tv_head *head = sink->head;
    uint32_t *fold = tv_alloc(head->frame_count, sizeof *fold);
    struct tv_map first;
    tv_map_init(&first);
    for (uint32_t i = 0; i < head->frame_count; i++)
        fold[i] = tv_map_add(&first, (uint64_t)head->frames[i].class_name << 32 | head->frames[i].name, i);
    tv_map_release(&first);
    return fold;
}

static void init_part(struct tv_tree_sink *sink, unsigned number)
{
    const struct tv_input *input = &sink->head->inputs[sink->input];
    struct part *part = &sink->parts[number];
    uint32_t threads = sink->head->thread_count;
    tv_walk_init(&part->walk, threads, number == 0, &part->diagnostics);
    part->walk.skip = sink->skip;
    part->fold = sink->fold;
    part->fold_count = sink->head->frame_count;
    tv_paths_init(&part->paths);
    grow_costs(part);
    part->bottom = tv_alloc(threads, sizeof *part->bottom);
    memset(part->bottom, 0xff, threads * sizeof *part->bottom);
    part->wait_threshold = input->clocks == (TV_CLOCK_WALL | TV_CLOCK_CPU)
                               ? WAIT_THRESHOLD_NS / input->tick_ns
                               : INT64_MAX;
}

static void tree_begin(struct tv_sink *base, struct tv_head *head, uint32_t input, unsigned parts)
{
    struct tv_tree_sink *sink = (struct tv_tree_sink *)base;
    release_parts(sink);
    sink->head = head;
    sink->input = input;
    sink->skip = find_skipped(sink);
    sink->fold = find_folds(sink);
    sink->part_count = parts;
    sink->parts = tv_alloc(parts, sizeof *sink->parts);
    for (unsigned i = 0; i < parts; i++)
        init_part(sink, i);
}

/* --- The splice -------------------------------------------------------------------------------------- */

static void reserve_costs(struct tv_tree_sink *sink)
{
    size_t before = sink->cost_capacity;
    sink->costs = tv_array_reserve(sink->costs, &sink->cost_capacity, sink->paths.count, sizeof *sink->costs);
    memset(sink->costs + before, 0, (sink->cost_capacity - before) * sizeof *sink->costs);
}

static uint32_t whole_child(struct tv_tree_sink *sink, uint32_t parent, uint32_t frame)
{
    if (frame == TV_ANY_FRAME)
        frame = tv_seam_unknown_frame(sink->head);
    if (sink->fold && frame < sink->parts[0].fold_count)
        frame = sink->fold[frame];
    uint32_t path = tv_paths_child(&sink->paths, parent, frame);
    if (TV_UNLIKELY(path >= sink->cost_capacity))
        reserve_costs(sink);
    return path;
}

/* The path of the lowest `depth` calls of a stack. */
static uint32_t whole_path(struct tv_tree_sink *sink, uint32_t thread, const struct tv_walk_start *start,
                           uint32_t depth)
{
    uint32_t path = TV_ROOT_PATH;
    if (sink->options.split_threads)
        path = whole_child(sink, path, TV_THREAD_FRAME + thread);
    for (uint32_t i = 0; i < depth; i++)
        path = whole_child(sink, path, start->stack[i].frame);
    return path;
}

static uint32_t place_stand_in(struct tv_tree_sink *sink, const struct tv_seam *seam, unsigned number,
                               const struct stand_in *stand_in)
{
    const struct tv_walk_start *start = tv_seam_start(seam, number, stand_in->thread);
    uint32_t depth = start->depth - stand_in->below;
    if (depth) {
        sink->waits.calls += stand_in->waits.calls;
        sink->waits.wall += stand_in->waits.wall * sink->head->inputs[sink->input].tick_ns;
    }
    return whole_path(sink, stand_in->thread, start, depth);
}

/* Adds a part's tree to the whole. */
static void splice_part(struct tv_tree_sink *sink, const struct tv_seam *seam, unsigned number)
{
    struct part *part = &sink->parts[number];
    int64_t tick = sink->head->inputs[sink->input].tick_ns;
    uint32_t *map = tv_alloc(part->paths.count, sizeof *map);
    for (uint32_t i = 1; i < part->paths.count; i++) {
        const struct tv_path_node *node = &part->paths.nodes[i];
        if (node->frame >= STAND_IN)
            map[i] = place_stand_in(sink, seam, number, &part->stand_ins[node->frame - STAND_IN]);
        else
            map[i] = whole_child(sink, map[node->parent], node->frame);
        struct tv_path_cost *cost = &sink->costs[map[i]];
        cost->calls += part->costs[i].calls;
        cost->wall += part->costs[i].wall * tick;
        cost->cpu += part->costs[i].cpu * tick;
    }
    tv_free(map);
    sink->waits.calls += part->waits.calls;
    sink->waits.wall += part->waits.wall * tick;
}

/* Time between two parts belongs to the top of the stack there. */
static void splice_gap(struct tv_tree_sink *sink, const struct tv_seam *seam, unsigned number, uint32_t thread)
{
    const struct part *part = &sink->parts[number];
    const struct tv_walk_start *start = tv_seam_start(seam, number, thread);
    int64_t wall, cpu, tick = sink->head->inputs[sink->input].tick_ns;
    if (!tv_seam_gap(start, &part->walk.threads[thread], &wall, &cpu) || !start->depth)
        return;
    struct tv_path_cost *cost = &sink->costs[whole_path(sink, thread, start, start->depth)];
    cost->wall += wall * tick;
    cost->cpu += cpu * tick;
    if (wall - cpu > part->wait_threshold) {
        sink->waits.calls++;
        sink->waits.wall += (wall - cpu) * tick;
    }
}

/* Calls that began before the trace count as calls; calls open at the end of a sampled trace last to it. */
static void splice_edges(struct tv_tree_sink *sink, const struct tv_seam *seam, uint32_t thread)
{
    const struct tv_input *input = &sink->head->inputs[sink->input];
    const struct tv_walk_start *first = tv_seam_start(seam, 0, thread);
    const struct tv_walk_start *last = tv_seam_start(seam, sink->part_count, thread);
    for (unsigned part = 1; part < sink->part_count; part++)
        splice_gap(sink, seam, part, thread);
    for (uint32_t depth = 1; depth <= first->depth; depth++)
        sink->costs[whole_path(sink, thread, first, depth)].calls++;
    int64_t rest = tv_seam_open_end(input, last->last_wall) - last->last_wall;
    if (last->depth && rest)
        sink->costs[whole_path(sink, thread, last, last->depth)].wall += rest * input->tick_ns;
}

static enum tv_splice tree_splice(struct tv_sink *base, unsigned pass)
{
    struct tv_tree_sink *sink = (struct tv_tree_sink *)base;
    struct tv_seam seam;
    (void)pass;
    struct tv_walk *walks = tv_alloc(sink->part_count, sizeof *walks);
    for (unsigned i = 0; i < sink->part_count; i++)
        walks[i] = sink->parts[i].walk;
    enum tv_splice result = tv_seam_init(&seam, walks, sink->part_count, sink->head);
    tv_free(walks);
    if (result != TV_SPLICE_DONE)
        return result;
    for (unsigned i = 0; i < sink->part_count; i++)
        splice_part(sink, &seam, i);
    for (uint32_t thread = 0; thread < seam.thread_count; thread++)
        splice_edges(sink, &seam, thread);
    tv_seam_release(&seam);
    return TV_SPLICE_DONE;
}

static void tree_end(struct tv_sink *base)
{
    release_parts((struct tv_tree_sink *)base);
}

static const struct tv_sink_ops tree_ops = {
    .passes = 1,
    .begin = tree_begin,
    .take = tree_take,
    .splice = tree_splice,
    .end = tree_end,
};

struct tv_tree_sink *tv_tree_sink_new(const struct tv_tree_sink_options *options)
{
    struct tv_tree_sink *sink = tv_alloc(1, sizeof *sink);
    sink->sink.ops = &tree_ops;
    sink->options = *options;
    tv_paths_init(&sink->paths);
    reserve_costs(sink);
    return sink;
}

struct tv_sink *tv_tree_sink_sink(struct tv_tree_sink *sink)
{
    return &sink->sink;
}

/* Time with no call open is nobody's: of the root, and of a thread's node. */
static bool is_nobody(const struct tv_path_node *node, uint32_t path)
{
    return path == TV_ROOT_PATH || (node->frame & TV_THREAD_FRAME);
}

struct tv_call_tree *tv_tree_sink_finish(struct tv_tree_sink *sink, const struct tv_head *head)
{
    struct tv_call_tree *tree = tv_call_tree_new(head, &sink->paths);
    tree->waits = sink->waits;
    for (uint32_t i = tree->count; i-- > 0;) {
        struct tv_path_cost self = sink->costs[i];
        if (is_nobody(&sink->paths.nodes[i], i))
            self.wall = self.cpu = 0;
        tree->self_wall[i] = self.wall;
        tree->self_cpu[i] = self.cpu;
        tree->cost[i].calls = self.calls;
        tree->cost[i].wall += self.wall;
        tree->cost[i].cpu += self.cpu;
        if (i != TV_ROOT_PATH) {
            struct tv_path_cost *parent = &tree->cost[tree->parent[i]];
            parent->wall += tree->cost[i].wall;
            parent->cpu += tree->cost[i].cpu;
        }
    }
    release_parts(sink);
    tv_paths_release(&sink->paths);
    tv_free(sink->costs);
    tv_free(sink);
    return tree;
}
