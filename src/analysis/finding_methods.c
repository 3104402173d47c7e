/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about methods: what reading the clock costs them, and how often they stand on one stack.
 */
#include "analysis/calltree/derived_trees.h"
#include "analysis/finding_parts.h"
#include "analysis/search/call_search.h"
#include "analysis/visit.h"
#include "base/memory.h"

/* Gives a place its call. */
static void set_call(const struct tv_trace *trace, struct tv_finding_place *place, uint32_t row,
                     uint32_t index)
{
    struct tv_slice slice = tv_slice_get(trace, row, index);
    place->row = row;
    place->index = index;
    place->start = slice.start;
    place->length = slice.length;
}

/* ---- The cost of the clock ---- */

struct own {
    uint64_t calls;
    int64_t time;
};

/* What each frame did by itself; *all of them together. */
static struct own *find_own(const struct tv_finding_look *look, int64_t *all)
{
    const struct tv_call_tree *tree = look->tree;
    const int64_t *self = look->trace->cpu_axis ? tree->self_cpu : tree->self_wall;
    struct own *own = tv_alloc(tree->head->frame_count, sizeof *own);
    *all = 0;
    for (uint32_t i = 1; i < tree->count; i++) {
        if (!tv_call_tree_is_call(tree, i))
            continue;
        own[tree->frame[i]].calls += tree->cost[i].calls;
        tv_time_add(&own[tree->frame[i]].time, self[i]);
        tv_time_add(all, self[i]);
    }
    return own;
}

/* The first call of the range, in the first row that has one. */
static void find_first(const struct tv_finding_look *look, struct tv_finding_place *place)
{
    struct tv_call_search search;
    uint32_t first, end;
    tv_call_search_init(&search, look->trace, place->frame);
    for (uint32_t row = 0; row < look->trace->row_count && place->row == TV_NONE; row++) {
        if (!look->wanted[look->trace->rows[row].track] || !tv_call_search_has_row(&search, row))
            continue;
        tv_row_overlap(look->trace, row, look->selection->from, look->selection->to, &first, &end);
        first = tv_call_search_next(&search, row, first, end);
        if (first < end)
            set_call(look->trace, place, row, first);
    }
    tv_call_search_release(&search);
}

static int64_t by_part(const struct tv_finding_place *place)
{
    return place->part;
}

void tv_finding_clock(const struct tv_finding_look *look, const struct tv_rule *rule,
                      struct tv_finding *finding)
{
    tv_ns cost = tv_clock_cost(look->trace->head);
    int64_t all;
    if (cost == 0)
        finding->missing = "the cost of its clock";
    else if (tv_head_figures(look->trace->head) == TV_FIGURES_SAMPLED)
        finding->missing = "each single call, as it was sampled";
    if (finding->missing)
        return;
    struct own *own = find_own(look, &all);
    for (uint32_t i = 0; i < look->trace->head->frame_count; i++) {
        tv_ns part = own[i].calls < (uint64_t)(INT64_MAX / cost) ? (tv_ns)own[i].calls * cost : 0;
        struct tv_finding_place place = {TV_NONE, 0, i, TV_NONE, 0, 0, part, own[i].calls};
        if (part == 0 || !tv_finding_is_share(part, own[i].time, rule->share) ||
            !tv_finding_is_share(part, all, rule->least))
            continue;
        finding->count++;
        tv_time_add(&finding->total, part);
        tv_finding_keep(finding, &place, by_part);
    }
    tv_free(own);
    for (uint32_t i = 0; i < finding->place_count; i++)
        find_first(look, &finding->places[i]);
    finding->limit = cost;
    finding->found = finding->count > 0;
}

/* ---- Recursion ---- */

/* Where a frame stands on a stack most often. */
struct deepest {
    uint32_t levels, node;
};

static void find_deepest(const struct tv_call_tree *tree, struct deepest *deepest)
{
    struct tree_visit visit;
    tree_visit_init(&visit, tree);
    while (tree_visit_next(&visit)) {
        if (!tv_call_tree_is_call(tree, visit.node) || tree->cost[visit.node].calls == 0)
            continue;
        uint32_t frame = tree->frame[visit.node];
        if (visit.active[frame] > deepest[frame].levels)
            deepest[frame] = (struct deepest){visit.active[frame], visit.node};
    }
    tree_visit_release(&visit);
}

/* The first call of a path in the range. */
static void find_path(const struct tv_finding_look *look, uint32_t path,
                      struct tv_finding_place *place)
{
    const struct tv_trace *trace = look->trace;
    uint32_t depth = 0, first, end;
    for (uint32_t at = trace->paths.nodes[path].parent; at != TV_ROOT_PATH;
         at = trace->paths.nodes[at].parent)
        depth++;
    for (uint32_t i = 0; i < trace->track_count; i++) {
        const struct tv_track *track = &trace->tracks[i];
        if (!look->wanted[i] || depth >= track->row_count)
            continue;
        uint32_t row = track->first_row + depth;
        const uint32_t *paths = tv_row_columns(trace, row)->path + trace->rows[row].first;
        tv_row_overlap(trace, row, look->selection->from, look->selection->to, &first, &end);
        while (first < end && paths[first] != path)
            first++;
        if (first < end) {
            set_call(trace, place, row, first);
            return;
        }
    }
}

static int64_t by_count(const struct tv_finding_place *place)
{
    return (int64_t)place->count;
}

void tv_finding_recursion(const struct tv_finding_look *look, const struct tv_rule *rule,
                          struct tv_finding *finding)
{
    const struct tv_head *head = look->trace->head;
    if (look->trace->max_depth < rule->levels)
        return;
    struct deepest *deepest = tv_alloc(head->frame_count, sizeof *deepest);
    find_deepest(look->tree, deepest);
    for (uint32_t i = 0; i < head->frame_count; i++) {
        if (deepest[i].levels < rule->levels)
            continue;
        struct tv_finding_place place = {TV_NONE, 0, i, TV_NONE, 0, 0, 0, deepest[i].levels};
        finding->count++;
        tv_finding_keep(finding, &place, by_count);
    }
    for (uint32_t i = 0; i < finding->place_count; i++)
        find_path(look, deepest[finding->places[i].frame].node, &finding->places[i]);
    tv_free(deepest);
    finding->found = finding->count > 0;
}
