/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/thread_tree.h"

#include "analysis/tree_sink.h"
#include "base/memory.h"
#include "base/sort.h"

/* The trees of the threads one after the other, gathered under nodes of theirs.  A thread costs
 * what its slices do, not what all nodes of the trace do: there may be tens of thousands of both.
 */
struct gathering {
    const struct tv_trace *trace;
    const struct tv_selection *selection;
    unsigned workers;
    struct tv_call_tree *one; /* of the thread that is its turn; all figures are 0 in between */
    struct tv_paths paths;
    struct tv_path_cost *cost; /* of the nodes of `paths` */
    size_t capacity;
    struct tv_sort_key *reached; /* nodes of `one` with calls, by number */
    size_t reached_count;
    uint8_t *noted;  /* of a node of `one`: it is among them */
    uint32_t *used;  /* the nodes of a chain, the innermost first */
    uint32_t *turn;  /* of a node of `one`: the thread, counted from 1, for which it has `found` */
    uint32_t *found; /* the node of `paths` that stands for it */
    uint32_t turns;
};

/* The node under the thread's node that stands for a node of the trace. */
static uint32_t find_node(struct gathering *g, uint32_t thread_node, uint32_t node)
{
    size_t depth = 0;
    for (; node != TV_ROOT_PATH && g->turn[node] != g->turns; node = g->one->parent[node])
        g->used[depth++] = node;
    uint32_t found = node == TV_ROOT_PATH ? thread_node : g->found[node];
    while (depth > 0) {
        node = g->used[--depth];
        found = tv_paths_child(&g->paths, found, g->one->frame[node]);
        g->found[node] = found;
        g->turn[node] = g->turns;
    }
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

static void note_row(struct gathering *g, uint32_t row)
{
    const struct tv_row *r = &g->trace->rows[row];
    const uint32_t *path = g->trace->columns[r->columns].path + r->first;
    uint32_t first, end;
    tv_row_overlap(g->trace, row, g->selection->from, g->selection->to, &first, &end);
    for (uint32_t i = first; i < end; i++) {
        if (g->noted[path[i]] || g->one->cost[path[i]].calls == 0)
            continue;
        g->noted[path[i]] = 1;
        g->reached[g->reached_count++] = (struct tv_sort_key){path[i], 0};
    }
}

/* The nodes that the calls of some tracks reach, in their order. */
static void find_reached(struct gathering *g, const uint32_t *tracks, uint32_t count)
{
    uint64_t slices = 0;
    g->reached_count = 0;
    for (uint32_t i = 0; i < count; i++)
        slices += g->trace->tracks[tracks[i]].slice_count;
    if (slices < g->one->count) {
        for (uint32_t i = 0; i < count; i++) {
            const struct tv_track *track = &g->trace->tracks[tracks[i]];
            for (uint32_t row = 0; row < track->row_count; row++)
                note_row(g, track->first_row + row);
        }
        tv_sort_keys(g->reached, g->reached_count);
        return;
    }
    for (uint32_t i = 1; i < g->one->count; i++)
        if (g->one->cost[i].calls > 0)
            g->reached[g->reached_count++] = (struct tv_sort_key){i, 0};
}

static void add_thread(struct gathering *g, uint32_t thread, const uint32_t *tracks, uint32_t count)
{
    struct tv_selection own = *g->selection;
    own.tracks = tracks;
    own.track_count = count;
    tv_call_tree_add(g->one, g->trace, &own, g->workers);
    find_reached(g, tracks, count);
    uint32_t thread_node = tv_paths_child(&g->paths, TV_ROOT_PATH, TV_THREAD_FRAME + thread);
    g->turns++;
    for (size_t i = 0; i < g->reached_count; i++) {
        uint32_t node = (uint32_t)g->reached[i].key;
        add_cost(g, find_node(g, thread_node, node), &g->one->cost[node]);
        g->one->cost[node] = (struct tv_path_cost){0};
        g->noted[node] = 0;
    }
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
    g.turn = tv_alloc(trace->paths.count, sizeof *g.turn);
    g.found = tv_alloc(trace->paths.count, sizeof *g.found);
    g.noted = tv_alloc(trace->paths.count, sizeof *g.noted);
    g.reached = tv_alloc(trace->paths.count, sizeof *g.reached);
    tv_paths_init(&g.paths);
    add_threads(&g);
    struct tv_call_tree *tree = tv_call_tree_new(trace->head, &g.paths);
    for (uint32_t i = 0; i < g.paths.count && i < g.capacity; i++)
        tree->cost[i] = g.cost[i];
    tree->waits = g.one->waits;
    tv_call_tree_settle(tree);
    tv_paths_release(&g.paths);
    tv_call_tree_free(g.one);
    tv_free(g.cost);
    tv_free(g.used);
    tv_free(g.turn);
    tv_free(g.found);
    tv_free(g.noted);
    tv_free(g.reached);
    return tree;
}
