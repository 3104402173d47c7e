/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each part makes a path tree of its own.  A part does not know what was open at its start, so
 * its paths hang on stand-ins: one for each thread and number of exits set aside so far, a node
 * whose frame is STAND_IN and its number.  The splice knows the true stack there, and with it the
 * path in the whole tree that the stand-in is.
 *
 * A call's own time is its length less that of the calls it made; inclusive times are sums over
 * the tree at the end.
 */
#include "analysis/tree_sink.h"

#include <assert.h>
#include <string.h>

#include "analysis/ahead.h"
#include "analysis/tree_shape.h"
#include "base/memory.h"
#include "base/workers.h"
#include "model/builder/stitch.h"

#define STAND_IN 0xC0000000u

struct cost {
    uint64_t calls;
    int64_t wall, cpu; /* of the path itself, ticks */
};

struct stand_in {
    uint32_t node;
    uint32_t thread;
    uint32_t before; /* the thread's last one in the part, or TV_NONE */
    uint32_t below;  /* exits set aside before it */
    struct cost own; /* time with nothing of the part open */
    struct cost waits;
};

struct part {
    struct tv_walk walk;
    struct tv_diagnostics diagnostics;
    const uint32_t *fold; /* [fold_count] frame -> the frame that stands for it, or NULL */
    uint32_t fold_count;
    struct tv_tally tally;
    struct tv_ahead ahead;
    const uint32_t *guess; /* of the next call that begins */
    struct stand_in *stand_ins;
    size_t stand_in_count, stand_in_capacity;
    struct cost waits;
    struct tv_tally_ground ground;
};

struct tv_tree_sink {
    struct tv_sink sink;
    struct tv_tree_sink_options options;
    struct tv_trace_info *head;
    uint32_t input;
    bool *skip;
    uint32_t *fold;
    unsigned part_count;
    struct part *parts;
    struct tv_tally tally; /* of the inputs that are done; nanoseconds */
    struct tv_path_cost waits;
    tv_ns wall, cpu; /* of all threads, from their first records to their last */
    bool careful;    /* own times are added up with a limit: without one they do not fit */
};

static int64_t tick_of(const struct tv_tree_sink *sink)
{
    return sink->head->inputs[sink->input].tick_ns;
}

/* ---- While events come ---- */

TV_INLINE uint32_t folded(const struct part *part, uint32_t frame)
{
    return part->fold && frame < part->fold_count ? part->fold[frame] : frame;
}

/* Hangs the thread's calls of depth 0 on a new stand-in. */
static TV_NOINLINE void set_stand_in(struct part *part, uint32_t thread, struct tv_walk_thread *t,
                                     uint32_t before)
{
    assert(part->stand_in_count < UINT32_MAX - STAND_IN);
    part->stand_ins = tv_array_reserve(part->stand_ins, &part->stand_in_capacity,
                                       part->stand_in_count + 1, sizeof *part->stand_ins);
    uint32_t frame = STAND_IN + (uint32_t)part->stand_in_count;
    uint32_t node = tv_tally_child(&part->tally, TV_ROOT_PATH, frame);
    part->stand_ins[part->stand_in_count++] = (struct stand_in){
        .node = node, .thread = thread, .before = before, .below = t->below_count};
    t->stack[-1].tag = node;
}

static struct stand_in *stand_in_of(struct part *part, const struct tv_walk_thread *t)
{
    return &part->stand_ins[part->tally.nodes[t->stack[-1].tag].frame - STAND_IN];
}

TV_INLINE void add_own(struct tv_tally_node *node, const struct tv_step *step, bool careful)
{
    int64_t wall = step->wall - (step->call->inner_wall & step->exit);
    int64_t cpu = step->cpu - (step->call->inner_cpu & step->exit);
    if (careful) {
        tv_time_add(&node->wall, wall);
        tv_time_add(&node->cpu, cpu);
    } else {
        tv_time_add_fitting(&node->wall, wall);
        tv_time_add_fitting(&node->cpu, cpu);
    }
}

/* The path of a call that ends is its tag; that of one that begins is guessed. `careful` is a
 * constant where this is called. */
TV_INLINE uint32_t take_step(struct part *part, const struct tv_step *step, bool careful)
{
    uint32_t exit = (uint32_t)step->exit, parent = step->caller->tag;
    uint32_t path = (step->call->tag & exit) | (*part->guess & ~exit);
    uint32_t frame = folded(part, step->frame);
    struct tv_tally_node *node = &part->tally.nodes[path];
    if (TV_UNLIKELY((((node->parent ^ parent) | (node->frame ^ frame)) & ~exit) != 0)) {
        path = tv_tally_child(&part->tally, parent, frame);
        node = &part->tally.nodes[path];
    }
    part->guess += 1 + step->exit;
    node->calls += (uint64_t)(1 + step->exit);
    add_own(node, step, careful);
    tv_walk_add_inner(step);
    return path;
}

TV_INLINE uint32_t tree_step(void *context, const struct tv_step *step)
{
    return take_step(context, step, false);
}

TV_INLINE uint32_t tree_step_careful(void *context, const struct tv_step *step)
{
    return take_step(context, step, true);
}

static void tree_first(void *context, uint32_t thread, struct tv_walk_thread *t)
{
    set_stand_in(context, thread, t, TV_NONE);
}

static void tree_below(void *context, uint32_t thread, struct tv_walk_thread *t,
                       struct tv_pending_exit *below)
{
    struct part *part = context;
    uint32_t before = part->tally.nodes[below->tag].frame - STAND_IN;
    part->stand_ins[before].own.wall = below->level_wall;
    part->stand_ins[before].own.cpu = below->level_cpu;
    set_stand_in(part, thread, t, before);
}

static TV_NOINLINE void tree_wait(void *context, uint32_t thread, struct tv_walk_thread *t,
                                  int64_t wall, int64_t cpu)
{
    struct part *part = context;
    struct cost *waits = t->depth ? &part->waits : &stand_in_of(part, t)->waits;
    (void)thread;
    waits->calls++;
    tv_time_add(&waits->wall, wall - cpu);
}

static void tree_take(struct tv_sink *sink, unsigned pass, unsigned number,
                      const struct tv_batch *batch)
{
    static const struct tv_walk_calls calls = {tree_step, tree_first, tree_below, tree_wait};
    static const struct tv_walk_calls careful = {tree_step_careful, tree_first, tree_below,
                                                 tree_wait};
    const struct tv_tree_sink *tree_sink = (struct tv_tree_sink *)sink;
    struct part *part = &tree_sink->parts[number];
    (void)pass;
    for (size_t i = 0; i < batch->count; i += TV_BATCH_EVENTS) {
        struct tv_batch slice = tv_batch_slice(batch, i, TV_BATCH_EVENTS);
        tv_ahead_look(&part->ahead, &part->walk, &part->tally, &slice);
        part->guess = part->ahead.nodes;
        if (TV_UNLIKELY(tree_sink->careful))
            tv_walk_batch(&part->walk, &slice, &careful, part);
        else
            tv_walk_batch(&part->walk, &slice, &calls, part);
    }
}

/* ---- Before and after ---- */

static void release_parts(struct tv_tree_sink *sink)
{
    for (unsigned i = 0; i < sink->part_count; i++) {
        struct part *part = &sink->parts[i];
        tv_tally_release(&part->tally);
        tv_tally_release(&part->ground.paths);
        tv_free(part->ground.on);
        tv_ahead_release(&part->ahead);
        tv_free(part->stand_ins);
        tv_walk_release(&part->walk);
        tv_diagnostics_clear(&part->diagnostics);
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
    const struct tv_trace_info *head = sink->head;
    uint32_t *fold = tv_alloc(head->frame_count, sizeof *fold);
    struct tv_map first;
    tv_map_init(&first);
    for (uint32_t i = 0; i < head->frame_count; i++)
        fold[i] = tv_map_add(&first,
                             (uint64_t)head->frames[i].class_name << 32 | head->frames[i].name, i);
    tv_map_release(&first);
    return fold;
}

static void init_part(struct tv_tree_sink *sink, unsigned number)
{
    struct part *part = &sink->parts[number];
    tv_walk_init(&part->walk, sink->head, sink->input, number == 0, &part->diagnostics);
    part->walk.skip = sink->skip;
    part->fold = sink->fold;
    part->fold_count = sink->head->frame_count;
    tv_tally_init(&part->tally);
    tv_ahead_init(&part->ahead, part->walk.thread_count, part->fold, part->fold_count);
}

static void tree_begin(struct tv_sink *base, struct tv_trace_info *head, uint32_t input, unsigned parts)
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

/* ---- The splice ---- */

static uint32_t whole_frame(struct tv_tree_sink *sink, uint32_t frame)
{
    if (frame == TV_ANY_FRAME)
        frame = tv_stitch_unknown_frame(sink->head);
    if (sink->fold && frame < sink->parts[0].fold_count)
        frame = sink->fold[frame];
    return frame;
}

/* The path of the lowest `depth` calls of a stack. */
static uint32_t whole_path(struct tv_tree_sink *sink, struct tv_tally *tally, uint32_t thread,
                           const struct tv_walk_start *start, uint32_t depth)
{
    uint32_t path = TV_ROOT_PATH;
    if (sink->options.split_threads)
        path = tv_tally_child(tally, path, TV_THREAD_FRAME + thread);
    for (uint32_t i = 0; i < depth; i++)
        path = tv_tally_child(tally, path, whole_frame(sink, start->stack[i].frame));
    return path;
}

/* Own times, up to the part's end, of what is still open there. */
static void add_rest(struct part *part)
{
    for (uint32_t thread = 0; thread < part->walk.thread_count; thread++) {
        const struct tv_walk_thread *t = &part->walk.threads[thread];
        if (!t->seen)
            continue;
        struct stand_in *bottom = stand_in_of(part, t);
        tv_walk_base_time(t, t->last_wall, t->last_cpu, &bottom->own.wall, &bottom->own.cpu);
        for (uint32_t i = 0; i < t->depth; i++) {
            const struct tv_open *open = &t->stack[i];
            bool top = i + 1 == t->depth;
            struct tv_tally_node *cost = &part->tally.nodes[open->tag];
            int64_t wall = top ? t->last_wall : t->stack[i + 1].wall;
            int64_t cpu = top ? t->last_cpu : t->stack[i + 1].cpu;
            tv_time_add(&cost->wall, wall - open->wall - open->inner_wall);
            tv_time_add(&cost->cpu, cpu - open->cpu - open->inner_cpu);
        }
    }
}

/* The path of the lowest `depth` calls at a stand-in.  Exits only take calls off, so that it lies
 * on the one of the thread's last stand-in: a part's stand-ins take as long as its exits are many.
 */
static uint32_t stand_in_path(struct tv_tree_sink *sink, struct part *part,
                              const struct stand_in *stand_in, const struct tv_walk_start *start,
                              uint32_t depth)
{
    if (stand_in->before == TV_NONE)
        return whole_path(sink, &part->ground.paths, stand_in->thread, start, depth);
    uint32_t path = part->ground.on[stand_in->before];
    for (uint32_t i = part->stand_ins[stand_in->before].below; i < stand_in->below; i++)
        path = part->ground.paths.nodes[path].parent;
    return path;
}

/* The path that a stand-in is; its own time becomes that of its node. */
static uint32_t place_stand_in(struct tv_tree_sink *sink, const struct tv_stitch *seam,
                               unsigned number, const struct stand_in *stand_in)
{
    struct part *part = &sink->parts[number];
    const struct tv_walk_start *start = tv_stitch_start(seam, number, stand_in->thread);
    uint32_t depth = start->depth - stand_in->below;
    if (depth) {
        sink->waits.calls += stand_in->waits.calls;
        tv_time_add(&sink->waits.wall, tv_time_times(stand_in->waits.wall, tick_of(sink)));
    }
    struct tv_tally_node *node = &part->tally.nodes[stand_in->node];
    node->calls = stand_in->own.calls;
    node->wall = stand_in->own.wall;
    node->cpu = stand_in->own.cpu;
    return stand_in_path(sink, part, stand_in, start, depth);
}

static void find_ground(struct tv_tree_sink *sink, const struct tv_stitch *seam, unsigned number)
{
    struct part *part = &sink->parts[number];
    tv_tally_init(&part->ground.paths);
    part->ground.first = STAND_IN;
    part->ground.on = tv_alloc(part->stand_in_count, sizeof *part->ground.on);
    for (size_t i = 0; i < part->stand_in_count; i++)
        part->ground.on[i] = place_stand_in(sink, seam, number, &part->stand_ins[i]);
    sink->waits.calls += part->waits.calls;
    tv_time_add(&sink->waits.wall, tv_time_times(part->waits.wall, tick_of(sink)));
}

static void stand_on_ground(void *context, unsigned number)
{
    const struct tv_tree_sink *sink = context;
    struct part *part = &sink->parts[number];
    tv_tally_stand_on(&part->tally, &part->ground, tick_of(sink));
}

/* Of the lowest `depth` calls of a stack. */
static struct tv_tally_node *whole_node(struct tv_tree_sink *sink, uint32_t thread,
                                        const struct tv_walk_start *start, uint32_t depth)
{
    uint32_t path = whole_path(sink, &sink->tally, thread, start, depth);
    return &sink->tally.nodes[path];
}

/* Time between two parts belongs to the top of the stack there. */
static void splice_gap(struct tv_tree_sink *sink, const struct tv_stitch *seam, unsigned number,
                       uint32_t thread)
{
    const struct part *part = &sink->parts[number];
    const struct tv_walk_start *start = tv_stitch_start(seam, number, thread);
    int64_t wall, cpu, tick = tick_of(sink);
    if (!tv_stitch_gap(start, &part->walk.threads[thread], &wall, &cpu) || !start->depth)
        return;
    struct tv_tally_node *cost = whole_node(sink, thread, start, start->depth);
    tv_time_add(&cost->wall, tv_time_times(wall, tick));
    tv_time_add(&cost->cpu, tv_time_times(cpu, tick));
    if (wall - cpu > part->walk.wait_threshold) {
        sink->waits.calls++;
        tv_time_add(&sink->waits.wall, tv_time_times(wall - cpu, tick));
    }
}

/* Calls that began before the trace count as calls. */
static void add_begun(struct tv_tree_sink *sink, uint32_t thread, const struct tv_walk_start *first)
{
    uint32_t path = first->depth ? whole_path(sink, &sink->tally, thread, first, first->depth) : 0;
    for (uint32_t depth = first->depth; depth > 0; depth--) {
        sink->tally.nodes[path].calls++;
        path = sink->tally.nodes[path].parent;
    }
}

/* What lies between parts and beyond them; calls open at the end of a sampled trace last
 * to it. */
static void splice_edges(struct tv_tree_sink *sink, const struct tv_stitch *seam, uint32_t thread)
{
    const struct tv_input *input = &sink->head->inputs[sink->input];
    const struct tv_walk_start *first = tv_stitch_start(seam, 0, thread);
    const struct tv_walk_start *last = tv_stitch_start(seam, sink->part_count, thread);
    for (unsigned part = 1; part < sink->part_count; part++)
        splice_gap(sink, seam, part, thread);
    add_begun(sink, thread, first);
    int64_t rest = tv_stitch_open_end(input, last->last_wall) - last->last_wall;
    if (last->depth && rest)
        tv_time_add(&whole_node(sink, thread, last, last->depth)->wall,
                    tv_time_times(rest, input->tick_ns));
}

/* A tree is taken as it is where there is none yet. */
static void add_tree(struct tv_tree_sink *sink, struct tv_tally *tally)
{
    if (sink->tally.count > 1) {
        tv_tally_merge(&sink->tally, tally);
        tv_tally_release(tally);
        return;
    }
    tv_tally_release(&sink->tally);
    sink->tally = *tally;
    memset(tally, 0, sizeof *tally);
}

static void splice_parts(struct tv_tree_sink *sink, const struct tv_stitch *seam)
{
    for (unsigned i = 0; i < sink->part_count; i++) {
        add_rest(&sink->parts[i]);
        find_ground(sink, seam, i);
    }
    tv_workers_run(sink->part_count, stand_on_ground, sink);
    for (unsigned i = 0; i < sink->part_count; i++)
        add_tree(sink, &sink->parts[i].tally);
}

/* Time with no call open is nobody's: of the root, and of a thread's node. */
static bool is_nobody(const struct tv_tally_node *node, uint32_t path)
{
    return path == TV_ROOT_PATH || (node->frame & TV_THREAD_FRAME);
}

/* Sums of own times of a part wrapped around: all is read again. */
static bool must_be_careful(const struct tv_tree_sink *sink)
{
    bool fit = true;
    for (unsigned i = 0; i < sink->part_count; i++)
        fit = fit && tv_walk_sums_fit(&sink->parts[i].walk);
    return !fit && !sink->careful;
}

static void tell_saturation(struct tv_tree_sink *sink)
{
    tv_ns wall = 0, cpu = 0;
    if (sink->wall < INT64_MAX && sink->cpu < INT64_MAX)
        return;
    for (uint32_t i = 0; i < sink->tally.count; i++) {
        const struct tv_tally_node *node = &sink->tally.nodes[i];
        tv_time_add(&wall, is_nobody(node, i) ? 0 : node->wall);
        tv_time_add(&cpu, is_nobody(node, i) ? 0 : node->cpu);
    }
    tv_trace_info_note_saturation(sink->head, wall, cpu);
}

static enum tv_stitch_result tree_splice(struct tv_sink *base, unsigned pass)
{
    struct tv_tree_sink *sink = (struct tv_tree_sink *)base;
    struct tv_stitch seam;
    (void)pass;
    if (must_be_careful(sink)) {
        sink->careful = true;
        return TV_STITCH_SERIAL;
    }
    struct tv_walk *walks = tv_alloc(sink->part_count, sizeof *walks);
    for (unsigned i = 0; i < sink->part_count; i++)
        walks[i] = sink->parts[i].walk;
    enum tv_stitch_result result = tv_stitch_init(&seam, walks, sink->part_count);
    if (result == TV_STITCH_DONE)
        tv_stitch_add_diagnostics(&seam, walks, sink->head);
    tv_free(walks);
    if (result != TV_STITCH_DONE)
        return result;
    splice_parts(sink, &seam);
    for (uint32_t thread = 0; thread < seam.thread_count; thread++)
        splice_edges(sink, &seam, thread);
    tv_stitch_add_spans(&seam, tick_of(sink), &sink->wall, &sink->cpu);
    tell_saturation(sink);
    tv_stitch_release(&seam);
    return TV_STITCH_DONE;
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
    tv_tally_init(&sink->tally);
    return sink;
}

struct tv_sink *tv_tree_sink_sink(struct tv_tree_sink *sink)
{
    return &sink->sink;
}

struct tv_call_tree *tv_tree_sink_finish(struct tv_tree_sink *sink, const struct tv_trace_info *head)
{
    tv_tally_finish(&sink->tally);
    struct tv_tree_shape *shape = tv_tree_shape_blank(head, sink->tally.count);
    struct tv_call_tree *tree = tv_call_tree_of_shape(shape);
    tree->owns_shape = true;
    tree->waits = sink->waits;
    for (uint32_t i = tree->count; i-- > 0;) {
        const struct tv_tally_node *node = &sink->tally.nodes[i];
        bool nobody = is_nobody(node, i);
        shape->parent[i] = node->parent;
        shape->frame[i] = node->frame;
        tree->self_wall[i] = nobody ? 0 : node->wall;
        tree->self_cpu[i] = nobody ? 0 : node->cpu;
        tree->cost[i].calls = node->calls;
        tv_time_add(&tree->cost[i].wall, tree->self_wall[i]);
        tv_time_add(&tree->cost[i].cpu, tree->self_cpu[i]);
        if (i != TV_ROOT_PATH) {
            struct tv_path_cost *parent = &tree->cost[node->parent];
            tv_time_add(&parent->wall, tree->cost[i].wall);
            tv_time_add(&parent->cpu, tree->cost[i].cpu);
        }
    }
    release_parts(sink);
    tv_tally_release(&sink->tally);
    tv_free(sink);
    return tree;
}
