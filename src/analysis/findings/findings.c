/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings: each rule has a condition, a function that scans the selection and reports places.
 *
 *   rule (finding_rules.c)       condition
 *   TV_RULE_CALLS, WAITS         scan the length columns of tracks, deepest row first
 *   TV_RULE_FRAMES               look at the display frames (display_frames.h)
 *   TV_RULE_CLOCK, RECURSION     walk the call tree by method
 *   TV_RULE_DIAGNOSTICS, SAMPLED look at the head
 *
 * Names are matched once per frame, and the result is spread over paths and depths, so that rows
 * without a listed name are skipped.
 */
#include "analysis/findings/findings.h"

#include <assert.h>
#include <string.h>

#include "analysis/calltree/derived_trees.h"
#include "analysis/findings/display_internal.h"
#include "analysis/search/call_search.h"
#include "base/memory.h"

/* State that the conditions of all rules share. */
struct finding_context {
    const struct tv_trace *trace;
    const struct tv_call_tree *tree;
    const struct tv_selection *selection;
    bool *wanted; /* [tracks] tracks of calls with times */
    bool *main;   /* [tracks] the wanted ones that belong to main threads */
    struct tv_listed_calls listed;
    const struct tv_display_frames *frames;
    const struct tv_display_interval *intervals; /* [inputs]; NULL: no rule needs them */
};

/* Evaluates a rule; `finding` starts with all numbers 0. */
typedef void finding_condition(const struct finding_context *context, const struct tv_rule *rule,
                               struct tv_finding *finding);

/* ---- Shared by the rules ---- */

/* Return true if `part` is at least so many thousandths of `whole`. */
static bool finding_is_share(int64_t part, int64_t whole, uint32_t thousandths)
{
    return part >= whole / 1000 * thousandths + whole % 1000 * thousandths / 1000;
}

/* Insert a place if it is among the worst by `by`; equal ones stay in order. */
static void finding_add_place(struct tv_finding *finding, const struct tv_finding_place *place,
                              int64_t (*by)(const struct tv_finding_place *place))
{
    assert(finding->place_count <= TV_FINDING_PLACES);
    struct tv_finding_place *places = finding->places;
    uint32_t at = finding->place_count;
    if (at == TV_FINDING_PLACES && by(&places[at - 1]) >= by(place))
        return;
    at -= at == TV_FINDING_PLACES;
    for (; at > 0 && by(&places[at - 1]) < by(place); at--)
        places[at] = places[at - 1];
    places[at] = *place;
    finding->place_count += finding->place_count < TV_FINDING_PLACES;
}

/* Return how much of [start, start + length) is in the range. */
static tv_ns finding_time_in_range(const struct finding_context *context, tv_ns start, tv_ns length)
{
    tv_ns end = start + length;
    if (start < context->selection->from)
        start = context->selection->from;
    if (end > context->selection->to)
        end = context->selection->to;
    return end > start ? end - start : 0;
}

static int64_t finding_by_count(const struct tv_finding_place *place)
{
    return (int64_t)place->count;
}

/* ---- Rules about whole files ---- */

/* Evaluate TV_RULE_DIAGNOSTICS. */
static void finding_check_diagnostics(const struct finding_context *context,
                                      const struct tv_rule *rule, struct tv_finding *finding)
{
    const struct tv_diagnostic *kinds = context->trace->head->diagnostics.kinds;
    for (uint32_t i = 0; i < rule->kind_count; i++) {
        struct tv_finding_place place = {TV_NONE, 0, TV_NONE, rule->kinds[i],
                                         0,       0, 0,       kinds[rule->kinds[i]].count};
        if (place.count == 0)
            continue;
        finding->count += place.count;
        finding_add_place(finding, &place, finding_by_count);
    }
    finding->found = finding->count > 0;
}

/* Report the coarsest interval of all inputs: it limits what to trust. */
static void finding_check_sampling(const struct finding_context *context,
                                   const struct tv_rule *rule, struct tv_finding *finding)
{
    const struct tv_trace_info *head = context->trace->head;
    (void)rule;
    for (uint32_t i = 0; i < head->input_count; i++) {
        if (head->inputs[i].figures != TV_FIGURES_SAMPLED)
            continue;
        finding->count++;
        if (head->inputs[i].sampled_ns > finding->limit)
            finding->limit = head->inputs[i].sampled_ns;
    }
    finding->found = finding->count > 0;
}

/* ---- Rules about calls ----
 *
 * Lengths are a column: a scan over it leaves the few calls that are long enough to be looked at.
 */

#define READ_AT_ONCE 256u

/* Ascending indices in a row. */
struct finding_list {
    uint32_t *items;
    size_t count, capacity;
};

static void finding_list_add(struct finding_list *list, uint32_t index)
{
    assert(list->count == 0 || list->items[list->count - 1] <= index);
    if (list->count > 0 && list->items[list->count - 1] == index)
        return;
    list->items =
        tv_array_reserve(list->items, &list->capacity, list->count + 1, sizeof *list->items);
    list->items[list->count++] = index;
}

static void finding_list_swap(struct finding_list *a, struct finding_list *b)
{
    struct finding_list other = *a;
    *a = *b;
    *b = other;
}

/* One rule on the rows of one track, from the deepest row up. */
struct finding_scan {
    const struct finding_context *context;
    const struct tv_rule *rule;
    struct tv_finding *finding;
    tv_ns longer; /* the rule's limit on this track */
    uint32_t row;
    struct finding_list covered; /* calls of this row that contain a reported or a waiting call */
    size_t passed;               /* how many of them are before the current call */
    struct finding_list above;   /* the same for the row above */
};

typedef void finding_check_call(struct finding_scan *scan, uint32_t index);

static int64_t finding_by_part(const struct tv_finding_place *place)
{
    return place->part;
}

/* Report a call; `part` is the time that the rule reports. */
static void finding_report_call(struct finding_scan *scan, uint32_t index,
                                const struct tv_slice *slice, tv_ns part)
{
    struct tv_finding_place place = {
        .row = scan->row,
        .index = index,
        .frame = scan->context->trace->paths.nodes[slice->path].frame,
        .kind = TV_NONE,
        .start = slice->start,
        .length = slice->length,
        .part = part,
        .count = 1,
    };
    tv_ns within = finding_time_in_range(scan->context, slice->start, slice->length);
    /* Displays of several files may differ: all calls are longer than the least limit. */
    if (scan->finding->count == 0 || scan->longer < scan->finding->limit)
        scan->finding->limit = scan->longer;
    scan->finding->count++;
    tv_time_add(&scan->finding->total, part < within ? part : within);
    finding_add_place(scan->finding, &place, finding_by_part);
}

/* ---- Candidates: calls longer than the rule's limit ---- */

/* Slices of one block whose columns hold the times as they are. */
static void finding_scan_packed(struct finding_scan *scan, uint32_t first, uint32_t count,
                                finding_check_call *look_at)
{
    const struct tv_trace *trace = scan->context->trace;
    const struct tv_row *row = &trace->rows[scan->row];
    const struct tv_columns *columns = &trace->columns[row->columns];
    const uint32_t *length =
        (columns->length ? columns->length : columns->cpu_length) + row->first + first;
    int64_t most = scan->longer / trace->head->inputs[row->input].tick_ns;
    for (uint32_t i = 0; i < count; i++)
        if (TV_UNLIKELY(length[i] > most))
            look_at(scan, first + i);
}

/* Scan slices of blocks with 64-bit times. */
static void finding_scan_wide(struct finding_scan *scan, uint32_t first, uint32_t count,
                              finding_check_call *look_at)
{
    struct tv_slice slices[READ_AT_ONCE];
    for (uint32_t done = 0; done < count;) {
        uint32_t some = count - done < READ_AT_ONCE ? count - done : READ_AT_ONCE;
        tv_slices_read(scan->context->trace, scan->row, first + done, some, slices);
        for (uint32_t i = 0; i < some; i++)
            if (slices[i].length > scan->longer)
                look_at(scan, first + done + i);
        done += some;
    }
}

/* Call `look_at` for each call of [first, end) that is longer than the rule's limit. */
static void finding_scan_long(struct finding_scan *scan, uint32_t first, uint32_t end,
                              finding_check_call *look_at)
{
    const struct tv_trace *trace = scan->context->trace;
    const struct tv_row *row = &trace->rows[scan->row];
    const struct tv_slice_block *blocks = trace->columns[row->columns].blocks + row->first_block;
    for (uint32_t at = first; at < end;) {
        uint32_t left = TV_BLOCK_SLICES - at % TV_BLOCK_SLICES;
        uint32_t count = end - at < left ? end - at : left;
        if (TV_LIKELY(blocks[at / TV_BLOCK_SLICES].wide == TV_NONE))
            finding_scan_packed(scan, at, count, look_at);
        else
            finding_scan_wide(scan, at, count, look_at);
        at += count;
    }
}

/* ---- Calls by name: the outermost ---- */

/* Report the outermost calls of the rule's names in [first, end). */
static void finding_scan_named(struct finding_scan *scan, uint32_t first, uint32_t end)
{
    const struct finding_context *context = scan->context;
    const struct tv_row *row = &context->trace->rows[scan->row];
    const uint32_t *path = tv_row_columns(context->trace, scan->row)->path + row->first;
    unsigned names = scan->rule->names;
    for (uint32_t i = first; i < end; i++) {
        if (TV_LIKELY(!(context->listed.paths[path[i]] & names)) ||
            context->listed.around[path[i]] & names)
            continue;
        struct tv_slice slice = tv_slice_get(context->trace, scan->row, i);
        if (slice.length > scan->longer)
            finding_report_call(scan, i, &slice, slice.length);
    }
}

/* ---- Calls of any name: the innermost ---- */

/* Return true if a call contains a reported or waiting call; indices must ascend. */
static bool finding_is_covered(struct finding_scan *scan, uint32_t index)
{
    const struct finding_list *covered = &scan->covered;
    while (scan->passed < covered->count && covered->items[scan->passed] < index)
        scan->passed++;
    return scan->passed < covered->count && covered->items[scan->passed] == index;
}

/* A reported call covers its parent, which is longer still. */
static void finding_check_long(struct finding_scan *scan, uint32_t index)
{
    const struct finding_context *context = scan->context;
    struct tv_slice slice = tv_slice_get(context->trace, scan->row, index);
    unsigned lists = context->listed.depth_count > 0 ? context->listed.paths[slice.path] : 0;
    bool covered = finding_is_covered(scan, index);
    if (!covered && (lists & scan->rule->passes) && !(lists & scan->rule->waits))
        return;
    if (!covered && !(lists & scan->rule->waits))
        finding_report_call(scan, index, &slice, slice.length);
    if (context->trace->rows[scan->row].depth > 0)
        finding_list_add(&scan->above, tv_slice_parent(context->trace, scan->row, index));
}

/* ---- Waiting ---- */

/* Add up the times of calls inside a call; unknown CPU times count as 0. */
static void finding_add_children(const struct tv_trace *trace, uint32_t row,
                                 const uint32_t range[2], struct tv_slice *sum)
{
    struct tv_slice slices[READ_AT_ONCE];
    for (uint32_t at = range[0]; at < range[1];) {
        uint32_t some = range[1] - at < READ_AT_ONCE ? range[1] - at : READ_AT_ONCE;
        tv_slices_read(trace, row, at, some, slices);
        for (uint32_t i = 0; i < some; i++) {
            tv_time_add(&sum->length, slices[i].length);
            tv_time_add(&sum->cpu_length,
                        slices[i].flags & TV_SLICE_NO_CPU ? 0 : slices[i].cpu_length);
        }
        at += some;
    }
}

/* Report a call that did not run for too long, its children's time excluded. */
static void finding_check_waiting(struct finding_scan *scan, uint32_t index)
{
    const struct finding_context *context = scan->context;
    struct tv_slice slice = tv_slice_get(context->trace, scan->row, index), inside = {0};
    unsigned lists = context->listed.depth_count > 0 ? context->listed.paths[slice.path] : 0;
    uint32_t range[2] = {0, 0}, count;
    if (slice.flags & TV_SLICE_NO_CPU || lists & scan->rule->passes)
        return;
    if (slice.length - slice.cpu_length <= scan->longer)
        return;
    if (slice.flags & TV_SLICE_HAS_CHILDREN) {
        tv_slice_children(context->trace, scan->row, index, &range[0], &count);
        range[1] = range[0] + count;
        finding_add_children(context->trace, scan->row + 1, range, &inside);
    }
    tv_ns own = slice.length - inside.length;
    tv_ns ran = slice.cpu_length > inside.cpu_length ? slice.cpu_length - inside.cpu_length : 0;
    if (own - ran > scan->longer && finding_is_share(own - ran, own, scan->rule->share))
        finding_report_call(scan, index, &slice, own - ran);
}

/* ---- Tracks ---- */

/* Scan one row; the list of covered calls moves up by one row. */
static void finding_scan_row(struct finding_scan *scan, finding_check_call *look_at)
{
    assert(scan->row < scan->context->trace->row_count);
    const struct finding_context *context = scan->context;
    uint32_t first, end, depth = context->trace->rows[scan->row].depth;
    bool named =
        depth < context->listed.depth_count && context->listed.depths[depth] & scan->rule->names;
    finding_list_swap(&scan->covered, &scan->above);
    scan->above.count = 0;
    scan->passed = 0;
    if (!look_at && !named)
        return;
    tv_row_overlap(context->trace, scan->row, context->selection->from, context->selection->to,
                   &first, &end);
    if (look_at)
        finding_scan_long(scan, first, end, look_at);
    else
        finding_scan_named(scan, first, end);
}

/* Return the limit of a rule on the calls of a track. */
static tv_ns finding_limit_on(const struct finding_context *context, const struct tv_rule *rule,
                              const struct tv_track *track)
{
    if (!rule->one_picture || !context->intervals || track->row_count == 0)
        return rule->longer;
    return context->intervals[context->trace->rows[track->first_row].input].period;
}

/* Scan the rows of a track, deepest first. */
static void finding_scan_track(struct finding_scan *scan, uint32_t track,
                               finding_check_call *look_at)
{
    const struct tv_track *t = &scan->context->trace->tracks[track];
    scan->above.count = 0;
    scan->longer = finding_limit_on(scan->context, scan->rule, t);
    for (uint32_t row = t->first_row + t->row_count; row-- > t->first_row;) {
        scan->row = row;
        finding_scan_row(scan, look_at);
    }
}

static void finding_scan_release(struct finding_scan *scan)
{
    tv_free(scan->covered.items);
    tv_free(scan->above.items);
}

/* Rules with a share need that part of the range; other rules report everything. */
static bool finding_is_enough(const struct finding_context *context, const struct tv_rule *rule,
                              const struct tv_finding *finding)
{
    const struct tv_trace *trace = context->trace;
    tv_ns looked_at = finding_time_in_range(context, trace->start, trace->end - trace->start);
    return finding->count > 0 && finding_is_share(finding->total, looked_at, rule->share);
}

static bool finding_any_track(const struct finding_context *context)
{
    for (uint32_t i = 0; i < context->trace->track_count; i++)
        if (context->wanted[i])
            return true;
    return false;
}

/* Evaluate TV_RULE_CALLS. */
static void finding_check_calls(const struct finding_context *context, const struct tv_rule *rule,
                                struct tv_finding *finding)
{
    struct finding_scan scan = {.context = context, .rule = rule, .finding = finding};
    const bool *tracks = rule->on_main ? context->main : context->wanted;
    bool any = false;
    for (uint32_t i = 0; i < context->trace->track_count; i++) {
        any |= tracks[i];
        if (tracks[i])
            finding_scan_track(&scan, i, rule->names ? NULL : finding_check_long);
    }
    if (!any)
        finding->missing = rule->on_main ? "a main thread that is known" : "calls with times";
    finding->found = finding_is_enough(context, rule, finding);
    finding_scan_release(&scan);
}

/* Evaluate TV_RULE_FRAMES. */
static void finding_check_frames(const struct finding_context *context, const struct tv_rule *rule,
                                 struct tv_finding *finding)
{
    const struct tv_display_frames *frames = context->frames;
    const struct tv_display_frame *worst = NULL;
    (void)rule;
    if (frames->count == 0 && !finding_any_track(context))
        finding->missing = "calls with times";
    for (size_t i = 0; i < frames->count; i++) {
        const struct tv_display_frame *frame = &frames->list[i];
        struct tv_finding_place place = {frame->row,   frame->index,  frame->name,   TV_NONE,
                                         frame->start, frame->length, frame->length, 1};
        if (!frame->late)
            continue;
        if (!worst || frame->length > worst->length)
            worst = frame;
        finding->count++;
        tv_time_add(&finding->total, finding_time_in_range(context, frame->start, frame->length));
        finding_add_place(finding, &place, finding_by_part);
    }
    if (worst) {
        finding->found = true;
        finding->limit = worst->deadline;
        finding->interval = tv_display_frame_interval(frames, worst);
    }
}

/* Evaluate TV_RULE_WAITS. */
static void finding_check_waits(const struct finding_context *context, const struct tv_rule *rule,
                                struct tv_finding *finding)
{
    struct finding_scan scan = {.context = context, .rule = rule, .finding = finding};
    finding->missing = "both clocks, real and CPU";
    for (uint32_t i = 0; i < context->trace->track_count; i++) {
        if (!context->wanted[i] || !tv_track_has_wall(context->trace, i) ||
            !tv_track_has_cpu(context->trace, i))
            continue;
        finding->missing = NULL;
        finding_scan_track(&scan, i, finding_check_waiting);
    }
    finding->found = finding->count > 0;
    finding_scan_release(&scan);
}

/* ---- Rules about methods ----
 */

/* Set the call of a place. */
static void finding_set_call(const struct tv_trace *trace, struct tv_finding_place *place,
                             uint32_t row, uint32_t index)
{
    struct tv_slice slice = tv_slice_get(trace, row, index);
    place->row = row;
    place->index = index;
    place->start = slice.start;
    place->length = slice.length;
}

/* ---- The cost of the clock ---- */

struct method_own {
    uint64_t calls;
    int64_t time;
};

/* Return what each frame did by itself; *all: the sum. */
static struct method_own *finding_own_times(const struct finding_context *context, int64_t *all)
{
    const struct tv_call_tree *tree = context->tree;
    const int64_t *self = context->trace->cpu_axis ? tree->self_cpu : tree->self_wall;
    struct method_own *own = tv_alloc(tree->head->frame_count, sizeof *own);
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

/* Find the first call in the range, in the first row that has one. */
static void finding_first_call(const struct finding_context *context,
                               struct tv_finding_place *place)
{
    struct tv_call_search search;
    uint32_t first, end;
    tv_call_search_init(&search, context->trace, place->frame);
    for (uint32_t row = 0; row < context->trace->row_count && place->row == TV_NONE; row++) {
        if (!context->wanted[context->trace->rows[row].track] ||
            !tv_call_search_has_row(&search, row))
            continue;
        tv_row_overlap(context->trace, row, context->selection->from, context->selection->to,
                       &first, &end);
        first = tv_call_search_next(&search, row, first, end);
        if (first < end)
            finding_set_call(context->trace, place, row, first);
    }
    tv_call_search_release(&search);
}

/* Evaluate TV_RULE_CLOCK. */
static void finding_check_clock(const struct finding_context *context, const struct tv_rule *rule,
                                struct tv_finding *finding)
{
    tv_ns cost = tv_clock_cost(context->trace->head);
    int64_t all;
    if (cost == 0)
        finding->missing = "the cost of its clock";
    else if (tv_trace_info_figures(context->trace->head) == TV_FIGURES_SAMPLED)
        finding->missing = "each single call, as it was sampled";
    if (finding->missing)
        return;
    struct method_own *own = finding_own_times(context, &all);
    for (uint32_t i = 0; i < context->trace->head->frame_count; i++) {
        tv_ns part = own[i].calls < (uint64_t)(INT64_MAX / cost) ? (tv_ns)own[i].calls * cost : 0;
        struct tv_finding_place place = {TV_NONE, 0, i, TV_NONE, 0, 0, part, own[i].calls};
        if (part == 0 || !finding_is_share(part, own[i].time, rule->share) ||
            !finding_is_share(part, all, rule->least))
            continue;
        finding->count++;
        tv_time_add(&finding->total, part);
        finding_add_place(finding, &place, finding_by_part);
    }
    tv_free(own);
    for (uint32_t i = 0; i < finding->place_count; i++)
        finding_first_call(context, &finding->places[i]);
    finding->limit = cost;
    finding->found = finding->count > 0;
}

/* ---- Recursion ---- */

/* A depth-first walk over a call tree, without recursion, that knows which frames are on the
 * current path. */
struct tree_visit {
    const struct tv_call_tree *tree;
    uint32_t *first_child; /* [count] TV_NONE: none */
    uint32_t *next;        /* [count] the parent's next child, ascending; TV_NONE: the last */
    uint32_t *active;      /* [head->frame_count] how often a frame is on the path */
    uint32_t node;         /* current node; TV_ROOT_PATH before the first */
};

static void tree_visit_init(struct tree_visit *visit, const struct tv_call_tree *tree)
{
    size_t size = tv_size_mul(tree->count, sizeof(uint32_t));
    visit->tree = tree;
    visit->first_child = tv_pages_alloc(2 * size);
    visit->next = visit->first_child + tree->count;
    visit->active = tv_alloc(tree->head->frame_count, sizeof *visit->active);
    visit->node = TV_ROOT_PATH;
    memset(visit->first_child, 0xff, size);
    visit->next[TV_ROOT_PATH] = TV_NONE;
    for (uint32_t i = tree->count; i-- > 1;) {
        uint32_t parent = tree->parent[i];
        visit->next[i] = visit->first_child[parent];
        visit->first_child[parent] = i;
    }
}

static void tree_visit_release(struct tree_visit *visit)
{
    tv_pages_free(visit->first_child, 2 * tv_size_mul(visit->tree->count, sizeof(uint32_t)));
    tv_free(visit->active);
}

/* Move to the next node in depth-first order; false after the last.  `active` counts the current
 * node's frame: 1 means that this activation is the outermost. */
TV_INLINE bool tree_visit_next(struct tree_visit *visit)
{
    const struct tv_call_tree *tree = visit->tree;
    uint32_t node = visit->first_child[visit->node];
    uint32_t left = visit->node;
    while (node == TV_NONE) {
        if (left == TV_ROOT_PATH)
            return false;
        if (tv_call_tree_is_call(tree, left))
            visit->active[tree->frame[left]]--;
        node = visit->next[left];
        left = tree->parent[left];
    }
    visit->node = node;
    if (tv_call_tree_is_call(tree, node))
        visit->active[tree->frame[node]]++;
    return true;
}

/* The node at which a frame is on a stack most often. */
struct deepest_call {
    uint32_t levels, node;
};

/* Find the deepest node of each frame by counting its activations on the path. */
static void finding_deepest_calls(const struct tv_call_tree *tree, struct deepest_call *deepest)
{
    struct tree_visit visit;
    tree_visit_init(&visit, tree);
    while (tree_visit_next(&visit)) {
        if (!tv_call_tree_is_call(tree, visit.node) || tree->cost[visit.node].calls == 0)
            continue;
        uint32_t frame = tree->frame[visit.node];
        if (visit.active[frame] > deepest[frame].levels)
            deepest[frame] = (struct deepest_call){visit.active[frame], visit.node};
    }
    tree_visit_release(&visit);
}

/* Find the first call of a path in the range. */
static void finding_first_call_of_path(const struct finding_context *context, uint32_t path,
                                       struct tv_finding_place *place)
{
    const struct tv_trace *trace = context->trace;
    uint32_t depth = 0, first, end;
    for (uint32_t at = trace->paths.nodes[path].parent; at != TV_ROOT_PATH;
         at = trace->paths.nodes[at].parent)
        depth++;
    for (uint32_t i = 0; i < trace->track_count; i++) {
        const struct tv_track *track = &trace->tracks[i];
        if (!context->wanted[i] || depth >= track->row_count)
            continue;
        uint32_t row = track->first_row + depth;
        const uint32_t *paths = tv_row_columns(trace, row)->path + trace->rows[row].first;
        tv_row_overlap(trace, row, context->selection->from, context->selection->to, &first, &end);
        while (first < end && paths[first] != path)
            first++;
        if (first < end) {
            finding_set_call(trace, place, row, first);
            return;
        }
    }
}

/* Evaluate TV_RULE_RECURSION. */
static void finding_check_recursion(const struct finding_context *context,
                                    const struct tv_rule *rule, struct tv_finding *finding)
{
    const struct tv_trace_info *head = context->trace->head;
    if (context->trace->max_depth < rule->levels)
        return;
    struct deepest_call *deepest = tv_alloc(head->frame_count, sizeof *deepest);
    finding_deepest_calls(context->tree, deepest);
    for (uint32_t i = 0; i < head->frame_count; i++) {
        if (deepest[i].levels < rule->levels)
            continue;
        struct tv_finding_place place = {TV_NONE, 0, i, TV_NONE, 0, 0, 0, deepest[i].levels};
        finding->count++;
        finding_add_place(finding, &place, finding_by_count);
    }
    for (uint32_t i = 0; i < finding->place_count; i++)
        finding_first_call_of_path(context, deepest[finding->places[i].frame].node,
                                   &finding->places[i]);
    tv_free(deepest);
    finding->found = finding->count > 0;
}

/* ---- All rules ---- */

static finding_condition *const conditions[] = {
    [TV_RULE_CALLS] = finding_check_calls,
    [TV_RULE_FRAMES] = finding_check_frames,
    [TV_RULE_WAITS] = finding_check_waits,
    [TV_RULE_CLOCK] = finding_check_clock,
    [TV_RULE_RECURSION] = finding_check_recursion,
    [TV_RULE_DIAGNOSTICS] = finding_check_diagnostics,
    [TV_RULE_SAMPLED] = finding_check_sampling,
};

/* Find the wanted tracks, and those of main threads among them. */
static void finding_choose_tracks(struct finding_context *context)
{
    const struct tv_trace *trace = context->trace;
    context->wanted = tv_selection_wanted(trace, context->selection);
    context->main = tv_alloc(trace->track_count, sizeof *context->main);
    for (uint32_t i = 0; i < trace->track_count; i++) {
        const struct tv_track *track = &trace->tracks[i];
        context->wanted[i] = context->wanted[i] && tv_track_has_calls(track);
        context->main[i] = context->wanted[i] && track->thread != TV_NONE &&
                           tv_rule_is_main(trace->head, track->thread);
    }
}

/* Return the length of the range within the trace. */
static tv_ns finding_range_length(const struct tv_trace *trace,
                                  const struct tv_selection *selection)
{
    tv_ns from = selection->from > trace->start ? selection->from : trace->start;
    tv_ns to = selection->to < trace->end ? selection->to : trace->end;
    return to > from ? to - from : 0;
}

struct tv_findings *tv_findings_of(const struct tv_trace *trace, const struct tv_call_tree *tree,
                                   const struct tv_selection *selection)
{
    struct finding_context context = {.trace = trace, .tree = tree, .selection = selection};
    struct tv_findings *findings = tv_alloc(1, sizeof *findings);
    findings->head = trace->head;
    findings->looked_at = finding_range_length(trace, selection);
    finding_choose_tracks(&context);
    tv_listed_calls_init(&context.listed, trace);
    struct tv_display_frames *frames = tv_display_frames_of(trace, selection, &context.listed);
    context.frames = frames;
    findings->frames = frames;
    struct tv_display_interval *intervals = NULL;
    if (context.listed.depth_count > 0)
        intervals = tv_display_intervals_of(trace->base ? trace->base : trace);
    context.intervals = intervals;
    for (uint32_t i = 0; i < TV_RULES; i++) {
        findings->of[i].limit = tv_rules[i].longer;
        conditions[tv_rules[i].condition](&context, &tv_rules[i], &findings->of[i]);
    }
    tv_free(context.wanted);
    tv_free(context.main);
    tv_listed_calls_release(&context.listed);
    tv_free(intervals);
    return findings;
}

void tv_findings_free(struct tv_findings *findings)
{
    if (findings)
        tv_display_frames_free(findings->frames);
    tv_free(findings);
}
