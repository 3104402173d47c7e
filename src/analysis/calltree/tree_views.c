/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each view first builds the paths of the new tree, with a map from old nodes to new ones, then
 * adds the costs up:
 *
 *     old node    1 main  2 main>read  3 main>read>log  4 main>log     drop `read`
 *     new node    1       -            -                2
 *
 * Parents have smaller numbers than their children, so one pass finds all paths.  No
 * tv_call_tree_settle is needed: self times are sums of self times.
 */
#include "analysis/calltree/tree_views.h"

#include <assert.h>
#include <string.h>

#include "analysis/flame/flame.h"
#include "base/map.h"
#include "base/memory.h"

struct tree_view {
    const struct tv_call_tree *from;
    struct tv_paths paths;
    uint32_t *node; /* [from->count] the new node */
};

static struct tree_view tree_view_begin(const struct tv_call_tree *from)
{
    struct tree_view making = {.from = from};
    tv_paths_init(&making.paths);
    making.node = tv_pages_alloc(tv_size_mul(from->count, sizeof *making.node));
    return making;
}

static struct tv_call_tree *tree_view_finish(struct tree_view *making)
{
    struct tv_call_tree *tree = tv_call_tree_new(making->from->head, &making->paths);
    tree->clocks = making->from->clocks;
    tree->waits = making->from->waits;
    tree->figures = making->from->figures;
    return tree;
}

/* Copy the map to `node` unless that is NULL, and free what making the view needed. */
static void tree_view_release(struct tree_view *making, uint32_t *node)
{
    if (node)
        memcpy(node, making->node, making->from->count * sizeof *node);
    tv_pages_free(making->node, tv_size_mul(making->from->count, sizeof *making->node));
    tv_paths_release(&making->paths);
}

static void tree_view_add_cost(struct tv_call_tree *tree, uint32_t node,
                               const struct tv_path_cost *cost)
{
    tree->cost[node].calls += cost->calls;
    tv_time_add(&tree->cost[node].wall, cost->wall);
    tv_time_add(&tree->cost[node].cpu, cost->cpu);
}

static void tree_view_add_self(struct tv_call_tree *tree, uint32_t to,
                               const struct tv_call_tree *from, uint32_t node)
{
    tv_time_add(&tree->self_wall[to], from->self_wall[node]);
    tv_time_add(&tree->self_cpu[to], from->self_cpu[node]);
}

struct tv_call_tree *tv_call_tree_fold(const struct tv_call_tree *tree)
{
    struct tree_view making = tree_view_begin(tree);
    for (uint32_t i = 1; i < tree->count; i++) {
        uint32_t parent = tree->parent[i];
        bool direct = parent != TV_ROOT_PATH && tree->frame[parent] == tree->frame[i];
        making.node[i] = direct
                             ? making.node[parent]
                             : tv_paths_child(&making.paths, making.node[parent], tree->frame[i]);
    }
    struct tv_call_tree *folded = tree_view_finish(&making);
    for (uint32_t i = 1; i < tree->count; i++) {
        uint32_t parent = tree->parent[i];
        if (making.node[i] != making.node[parent])
            tree_view_add_cost(folded, making.node[i], &tree->cost[i]);
        tree_view_add_self(folded, making.node[i], tree, i);
    }
    tree_view_release(&making, NULL);
    return folded;
}

uint32_t *tv_frames_first_of_names(const struct tv_trace_info *head)
{
    uint32_t *first = tv_alloc(head->frame_count, sizeof *first);
    struct tv_map names;
    tv_map_init(&names);
    for (uint32_t i = 0; i < head->frame_count; i++)
        first[i] = tv_map_add(&names,
                              (uint64_t)head->frames[i].class_name << 32 | head->frames[i].name, i);
    tv_map_release(&names);
    return first;
}

struct tv_call_tree *tv_call_tree_fold_names(const struct tv_call_tree *tree)
{
    struct tree_view making = tree_view_begin(tree);
    uint32_t *first = tv_frames_first_of_names(tree->head);
    for (uint32_t i = 1; i < tree->count; i++) {
        uint32_t frame = tree->frame[i]; /* or a thread's (TV_THREAD_FRAME) */
        if (frame < tree->head->frame_count)
            frame = first[frame];
        making.node[i] = tv_paths_child(&making.paths, making.node[tree->parent[i]], frame);
    }
    struct tv_call_tree *folded = tree_view_finish(&making);
    for (uint32_t i = 1; i < tree->count; i++) {
        tree_view_add_cost(folded, making.node[i], &tree->cost[i]);
        tree_view_add_self(folded, making.node[i], tree, i);
    }
    tv_free(first);
    tree_view_release(&making, NULL);
    return folded;
}

struct tv_call_tree *tv_call_tree_of_frames(const struct tv_call_tree *tree, const bool *frames,
                                            uint32_t *node)
{
    struct tree_view making = tree_view_begin(tree);
    for (uint32_t i = 1; i < tree->count; i++) {
        uint32_t parent = making.node[tree->parent[i]];
        bool gone = tv_call_tree_is_call(tree, i) && !frames[tree->frame[i]];
        making.node[i] = gone ? parent : tv_paths_child(&making.paths, parent, tree->frame[i]);
    }
    struct tv_call_tree *fewer = tree_view_finish(&making);
    for (uint32_t i = 1; i < tree->count; i++) {
        if (!tv_call_tree_is_call(tree, i) || frames[tree->frame[i]])
            tree_view_add_cost(fewer, making.node[i], &tree->cost[i]);
        if (tv_call_tree_is_call(fewer, making.node[i])) /* without a caller, the time is gone */
            tree_view_add_self(fewer, making.node[i], tree, i);
    }
    tree_view_release(&making, node);
    return fewer;
}

/* Mark calls by the frames in `wanted`: outermost calls of any of them, and everything below
 * those. */
enum tree_mark { UNMARKED, OUTERMOST, BELOW };

/* Return the marks of all nodes; free them with tv_free. */
static uint8_t *tree_view_mark(const struct tv_call_tree *tree, const bool *wanted)
{
    uint8_t *marks = tv_alloc(tree->count, 1);
    for (uint32_t i = 1; i < tree->count; i++) {
        if (marks[tree->parent[i]] != UNMARKED)
            marks[i] = BELOW;
        else if (tv_call_tree_is_call(tree, i) && wanted[tree->frame[i]])
            marks[i] = OUTERMOST;
    }
    return marks;
}

/* Return the node of the thread that each call belongs to, or the root, as making->node. */
static void tree_view_place_on_threads(struct tree_view *making)
{
    const struct tv_call_tree *tree = making->from;
    for (uint32_t i = 1; i < tree->count; i++) {
        uint32_t on = making->node[tree->parent[i]];
        making->node[i] =
            tv_call_tree_is_call(tree, i) ? on : tv_paths_child(&making->paths, on, tree->frame[i]);
    }
}

/* Keep the outermost calls of the frames and everything below, on the root, or on their threads'
 * nodes. */
static struct tv_call_tree *tree_view_focus(const struct tv_call_tree *tree, const bool *frames,
                                            bool on_threads, uint32_t *node)
{
    struct tree_view making = tree_view_begin(tree);
    uint8_t *marks = tree_view_mark(tree, frames);
    if (on_threads)
        tree_view_place_on_threads(&making);
    for (uint32_t i = 1; i < tree->count; i++) {
        uint32_t on = marks[i] == BELOW ? making.node[tree->parent[i]] : making.node[i];
        if (marks[i] != UNMARKED)
            making.node[i] = tv_paths_child(&making.paths, on, tree->frame[i]);
    }
    struct tv_call_tree *focused = tree_view_finish(&making);
    for (uint32_t i = 1; i < tree->count; i++) {
        if (marks[i] == UNMARKED)
            continue;
        tree_view_add_cost(focused, making.node[i], &tree->cost[i]);
        tree_view_add_self(focused, making.node[i], tree, i);
    }
    tv_free(marks);
    tree_view_release(&making, node);
    return focused;
}

struct tv_call_tree *tv_call_tree_focus(const struct tv_call_tree *tree, const bool *frames,
                                        uint32_t *node)
{
    return tree_view_focus(tree, frames, true, node);
}

/* Subtract a dropped call from the figures of a caller.  The caller was still called, but a sample
 * with a dropped call is gone. */
static void tree_view_subtract(struct tv_path_cost *cost, const struct tv_path_cost *part,
                               bool samples)
{
    cost->calls -= samples ? part->calls : 0;
    tv_time_add(&cost->wall, -part->wall);
    tv_time_add(&cost->cpu, -part->cpu);
}

struct tv_call_tree *tv_call_tree_drop(const struct tv_call_tree *tree, const bool *frames,
                                       uint32_t *node)
{
    struct tree_view making = tree_view_begin(tree);
    uint8_t *marks = tree_view_mark(tree, frames);
    struct tv_path_cost *gone = tv_alloc(tree->count, sizeof *gone); /* within each node */
    for (uint32_t i = 1; i < tree->count; i++)
        if (marks[i] == UNMARKED)
            making.node[i] =
                tv_paths_child(&making.paths, making.node[tree->parent[i]], tree->frame[i]);
    struct tv_call_tree *dropped = tree_view_finish(&making);
    for (uint32_t i = tree->count; i-- > 1;) {
        if (marks[i] == BELOW)
            continue;
        if (marks[i] == OUTERMOST)
            gone[i] = tree->cost[i];
        gone[tree->parent[i]].calls += gone[i].calls;
        tv_time_add(&gone[tree->parent[i]].wall, gone[i].wall);
        tv_time_add(&gone[tree->parent[i]].cpu, gone[i].cpu);
        if (marks[i] == OUTERMOST)
            continue;
        tree_view_add_cost(dropped, making.node[i], &tree->cost[i]);
        tree_view_add_self(dropped, making.node[i], tree, i);
        if (tv_call_tree_is_call(tree, i))
            tree_view_subtract(&dropped->cost[making.node[i]], &gone[i], tree->figures.sampled);
    }
    tv_free(gone);
    tv_free(marks);
    tree_view_release(&making, node);
    return dropped;
}

struct tv_call_tree *tv_call_tree_collapse(const struct tv_call_tree *tree, const bool *frames,
                                           uint32_t as, uint32_t *node)
{
    struct tree_view making = tree_view_begin(tree);
    uint8_t *within = tv_alloc(tree->count, 1); /* 1: the first call of a run; 2: inside it */
    for (uint32_t i = 1; i < tree->count; i++) {
        uint32_t on = making.node[tree->parent[i]], frame = tree->frame[i];
        if (tv_call_tree_is_call(tree, i) && frames[frame]) {
            within[i] = within[tree->parent[i]] ? 2 : 1;
            frame = as;
        }
        making.node[i] = within[i] == 2 ? on : tv_paths_child(&making.paths, on, frame);
    }
    struct tv_call_tree *collapsed = tree_view_finish(&making);
    for (uint32_t i = 1; i < tree->count; i++) {
        if (within[i] != 2)
            tree_view_add_cost(collapsed, making.node[i], &tree->cost[i]);
        tree_view_add_self(collapsed, making.node[i], tree, i);
    }
    tv_free(within);
    tree_view_release(&making, node);
    return collapsed;
}

/* Return an array that holds one frame; free it with tv_free. */
static bool *tree_view_one_frame(const struct tv_call_tree *tree, uint32_t frame)
{
    bool *frames = tv_alloc((size_t)tree->head->frame_count + 1, sizeof *frames);
    assert(frame < tree->head->frame_count);
    frames[frame] = true;
    return frames;
}

struct tv_call_tree *tv_call_tree_callees(const struct tv_call_tree *tree, uint32_t frame)
{
    bool *frames = tree_view_one_frame(tree, frame);
    struct tv_call_tree *callees = tree_view_focus(tree, frames, false, NULL);
    tv_free(frames);
    return callees;
}

/* Limit on the steps towards the root, for trees whose chains share little. */
#define CALLERS_STEP_LIMIT ((uint64_t)1 << 26)

/* Chains of callers, outwards from some frames. */
struct caller_chains {
    struct tree_view making;
    const uint8_t *marks;
    bool on_threads;     /* each thread's chains are on its node, else the thread ends the chain */
    int64_t *wall, *cpu; /* [nodes] self time with everything below */
    uint64_t steps;
    uint32_t end;   /* the first node whose chain is too much */
    uint32_t *node; /* the map to fill, or NULL */
};

static bool caller_chains_has(const struct caller_chains *chains, uint32_t node)
{
    return chains->marks[node] == OUTERMOST && chains->making.from->cost[node].calls > 0;
}

/* Add the calls of a node to each frame of its chain of callers; return the last one.  Without
 * `callers`, only make the nodes. */
static uint32_t caller_chains_add(struct caller_chains *chains, struct tv_call_tree *callers,
                                  uint32_t node)
{
    const struct tv_call_tree *tree = chains->making.from;
    uint32_t at = chains->making.node[node];
    for (uint32_t up = node; up != TV_ROOT_PATH; up = tree->parent[up]) {
        if (chains->on_threads && !tv_call_tree_is_call(tree, up))
            break;
        at = tv_paths_child(&chains->making.paths, at, tree->frame[up]);
        if (callers)
            tree_view_add_cost(callers, at, &tree->cost[node]);
        chains->steps++;
        if (node >= chains->end)
            break;
    }
    return at;
}

/* Make the nodes of all chains.  Beyond the limits, a chain is only its first frame. */
static void caller_chains_make(struct caller_chains *chains)
{
    uint32_t count = chains->making.from->count;
    if (chains->on_threads)
        tree_view_place_on_threads(&chains->making);
    for (uint32_t i = 1; i < count; i++) {
        if (chains->end == TV_NONE &&
            (chains->making.paths.count >= TV_CALLERS_NODES || chains->steps >= CALLERS_STEP_LIMIT))
            chains->end = i;
        if (caller_chains_has(chains, i))
            caller_chains_add(chains, NULL, i);
    }
}

/* Make the tree.  With left_out, it lacks the calls whose chains are too much; otherwise these
 * stay, without their callers. */
static struct tv_call_tree *caller_chains_tree(struct caller_chains *chains,
                                               struct tv_path_cost *left_out)
{
    const struct tv_call_tree *tree = chains->making.from;
    caller_chains_make(chains);
    struct tv_call_tree *callers = tree_view_finish(&chains->making);
    for (uint32_t i = 1; i < tree->count; i++) {
        if (chains->node && chains->marks[i] == BELOW)
            chains->node[i] = chains->node[tree->parent[i]];
        if (!caller_chains_has(chains, i))
            continue;
        if (left_out && i >= chains->end) {
            left_out->calls += tree->cost[i].calls;
            tv_time_add(&left_out->wall, chains->wall[i]);
            tv_time_add(&left_out->cpu, chains->cpu[i]);
            continue;
        }
        uint32_t last = caller_chains_add(chains, callers, i);
        if (chains->node)
            chains->node[i] = last;
        tv_time_add(&callers->self_wall[last], chains->wall[i]);
        tv_time_add(&callers->self_cpu[last], chains->cpu[i]);
    }
    return callers;
}

/* Return the callers.  With `node`, which is all 0, it is filled as in tree_views.h. */
static struct tv_call_tree *tree_view_callers(const struct tv_call_tree *tree, const bool *frames,
                                              bool on_threads, struct tv_path_cost *left_out,
                                              uint32_t *node)
{
    uint8_t *marks = tree_view_mark(tree, frames);
    struct caller_chains chains = {
        .making = tree_view_begin(tree),
        .marks = marks,
        .on_threads = on_threads,
        .wall = tv_flame_widths(tree->count, tree->parent, tree->self_wall),
        .cpu = tv_flame_widths(tree->count, tree->parent, tree->self_cpu),
        .end = TV_NONE,
        .node = node,
    };
    struct tv_call_tree *callers = caller_chains_tree(&chains, left_out);
    tv_pages_free(chains.wall, tv_size_mul(tree->count, sizeof *chains.wall));
    tv_pages_free(chains.cpu, tv_size_mul(tree->count, sizeof *chains.cpu));
    tree_view_release(&chains.making, NULL);
    tv_free(marks);
    return callers;
}

struct tv_call_tree *tv_call_tree_callers_of(const struct tv_call_tree *tree, const bool *frames,
                                             uint32_t *node)
{
    if (node)
        memset(node, 0, tree->count * sizeof *node);
    return tree_view_callers(tree, frames, true, NULL, node);
}

struct tv_call_tree *tv_call_tree_callers(const struct tv_call_tree *tree, uint32_t frame,
                                          struct tv_path_cost *left_out)
{
    bool *frames = tree_view_one_frame(tree, frame);
    *left_out = (struct tv_path_cost){0};
    struct tv_call_tree *callers = tree_view_callers(tree, frames, false, left_out, NULL);
    tv_free(frames);
    return callers;
}
