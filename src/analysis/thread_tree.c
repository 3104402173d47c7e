/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/thread_tree.h"

#include "analysis/tree_sink.h"
#include "base/memory.h"

/* The trees of the threads one after the other, gathered under nodes of theirs. */
struct gathering {
    const struct tv_trace *trace;
    const struct tv_selection *selection;
    unsigned workers;
    struct tv_call_tree *one; /* of the thread that is its turn */
    struct tv_paths paths;
    struct tv_path_cost *cost; /* of the nodes of `paths` */
    size_t capacity;
    struct tv_path_cost waits;
    uint32_t *used; /* the nodes of a chain, the innermost first */
};

/* The node under the thread's node that stands for a node of the trace. */
static uint32_t find_node(struct gathering *g, uint32_t thread_node, uint32_t node)
{
    size_t depth = 0;
    for (; node != TV_ROOT_PATH; node = g->one->parent[node])
        g->used[depth++] = node;
    uint32_t found = thread_node;
    while (depth > 0)
        found = tv_paths_child(&g->paths, found, g->one->frame[g->used[--depth]]);
    return found;
}

static void add_cost(struct gathering *g, uint32_t node, const struct tv_path_cost *cost)
{
    size_t before = g->capacity;
    g->cost = tv_array_reserve(g->cost, &g->capacity, g->paths.count, sizeof *g->cost);
    for (size_t i = before; i < g->capacity; i++)
        g->cost[i] = (struct tv_path_cost){0};
    g->cost[node] = *cost;
}

static void add_thread(struct gathering *g, uint32_t thread, const uint32_t *tracks, uint32_t count)
{
    struct tv_selection own = *g->selection;
    own.tracks = tracks;
    own.track_count = count;
    tv_call_tree_count(g->one, g->trace, &own, g->workers);
    uint32_t thread_node = tv_paths_child(&g->paths, TV_ROOT_PATH, TV_THREAD_FRAME + thread);
    for (uint32_t i = 1; i < g->one->count; i++)
        if (g->one->cost[i].calls > 0)
            add_cost(g, find_node(g, thread_node, i), &g->one->cost[i]);
    g->waits.calls += g->one->waits.calls;
    g->waits.wall += g->one->waits.wall;
}

/* The tracks of a thread stand one behind the other. */
static void add_threads(struct gathering *g)
{
    bool *wanted = tv_selection_wanted(g->trace, g->selection);
    uint32_t *tracks = tv_alloc(g->trace->track_count, sizeof *tracks), count = 0;
    for (uint32_t i = 0; i < g->trace->track_count; i++) {
        uint32_t thread = g->trace->tracks[i].thread;
        if (wanted[i])
            tracks[count++] = i;
        bool last = i + 1 == g->trace->track_count || g->trace->tracks[i + 1].thread != thread;
        if (last && count > 0) {
            add_thread(g, thread, tracks, count);
            count = 0;
        }
    }
    tv_free(tracks);
    tv_free(wanted);
}

struct tv_call_tree *tv_call_tree_by_thread(const struct tv_trace *trace,
                                            const struct tv_selection *selection, unsigned workers)
{
    struct gathering g = {.trace = trace, .selection = selection, .workers = workers};
    g.one = tv_call_tree_new(trace->head, &trace->paths);
    g.used = tv_alloc(trace->paths.count, sizeof *g.used);
    tv_paths_init(&g.paths);
    add_threads(&g);
    struct tv_call_tree *tree = tv_call_tree_new(trace->head, &g.paths);
    for (uint32_t i = 0; i < g.paths.count && i < g.capacity; i++)
        tree->cost[i] = g.cost[i];
    tree->waits = g.waits;
    tv_call_tree_settle(tree);
    tv_paths_release(&g.paths);
    tv_call_tree_free(g.one);
    tv_free(g.cost);
    tv_free(g.used);
    return tree;
}
