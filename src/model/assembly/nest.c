/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nest.c - assigns whole spans to rows by nesting (trace-event.md section 4).
 *
 * Spans come sorted by start, the longest first, so one pass with a stack per lane suffices:
 *
 *     lane 0    depth 0   | a ----------------------- |
 *               depth 1     | b -------- |  | d --- |
 *     lane 1    depth 0              | c ----- |          overlaps b without nesting
 *
 * A span goes below the innermost open span that contains it.  A span that overlaps an open span
 * goes to the first overflow lane where it nests.  Producers round starts and lengths separately,
 * so an overlap below the tolerance is clipped instead.  A span of length 0 nests in another one at
 * the same time only where begins and ends say so (`inside`, pair.c).  Where these tell the depth
 * of every span of a thread, times are not asked.
 */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "model/assembly/assembly_internal.h"

/* Lane 0 and the first overflow lanes nest; later ones, for hundreds of overlaps, are flat. */
#define NESTING_LANES 17u

struct nest_level {
    uint32_t span;
    uint32_t path;
};

struct nest_lane {
    struct nest_level *levels;
    uint32_t *rows; /* [depth] */
    size_t depth, capacity;
    size_t row_count, row_capacity;
};

struct nest_state {
    struct tv_spans *spans;
    struct tv_nesting *nesting;
    int64_t tolerance;
    size_t row_capacity;
    struct nest_lane lanes[NESTING_LANES];
    uint32_t lanes_used;
    struct tv_lanes flat;
    uint32_t *flat_rows;
    size_t flat_count, flat_capacity;
};

static struct tv_span *nest_span_at(const struct nest_state *nest, const struct nest_lane *lane,
                                    size_t level)
{
    return &nest->spans->spans[lane->levels[level].span];
}

/* Return how many of the following spans are in one of length 0. */
static size_t nest_count_inside(const struct nest_state *nest, const struct tv_span *open)
{
    return open->side == TV_NONE ? 0 : nest->spans->sides[open->side].inside;
}

/* Return true when an open span is over where another one begins. */
static bool nest_has_ended(const struct nest_state *nest, const struct tv_span *open,
                           const struct tv_span *span)
{
    int64_t end = tv_span_end(open);
    if (end != span->time)
        return end < span->time;
    return open->length > 0 || (size_t)(span - open) > nest_count_inside(nest, open);
}

enum nest_relation {
    OVER,   /* it has ended, or nearly */
    INSIDE, /* the span is in it, or nearly */
    ACROSS,
};

/* Tell how a span lies to an open one: inside, after it, or across its end. Small overhangs are
 * rounding errors of the recorder. */
static enum nest_relation nest_relate(const struct nest_state *nest, const struct tv_span *open,
                                      const struct tv_span *span)
{
    if (nest_has_ended(nest, open, span))
        return OVER;
    int64_t inside = tv_span_end(open) - span->time;
    int64_t overhang = tv_span_end(span) - tv_span_end(open);
    if (overhang <= 0)
        return INSIDE;
    if (span->time == open->time)
        return ACROSS;
    if (overhang < nest->tolerance && inside >= overhang)
        return INSIDE;
    return inside < nest->tolerance ? OVER : ACROSS;
}

/* Find the depth at which the span fits into the lane; return false when it does not. */
static bool nest_find_depth(struct nest_state *nest, struct nest_lane *lane,
                            const struct tv_span *span, size_t *depth)
{
    while (lane->depth > 0 && nest_has_ended(nest, nest_span_at(nest, lane, lane->depth - 1), span))
        lane->depth--;
    size_t level = lane->depth;
    while (level > 0) {
        enum nest_relation relation = nest_relate(nest, nest_span_at(nest, lane, level - 1), span);
        if (relation == ACROSS)
            return false;
        if (relation == INSIDE)
            break;
        level--;
    }
    *depth = level;
    return level < TV_NEST_DEPTH_LIMIT;
}

static void nest_clip(struct nest_state *nest, struct tv_span *span, int64_t end)
{
    if ((span->slice_flags & TV_SLICE_CLIPPED) == 0)
        tv_diagnostics_add(nest->spans->diagnostics, TV_DIAGNOSTIC_OVERHANG, span->offset);
    span->length = end - span->time;
    span->slice_flags |= TV_SLICE_CLIPPED;
}

/* Close the levels that have ended, clipping those that overlap the span. */
static void nest_leave(struct nest_state *nest, struct nest_lane *lane, const struct tv_span *span,
                       size_t depth)
{
    for (; lane->depth > depth; lane->depth--) {
        struct tv_span *open = nest_span_at(nest, lane, lane->depth - 1);
        if (tv_span_end(open) > span->time)
            nest_clip(nest, open, span->time);
    }
}

/* Add an empty row and return its number. */
static uint32_t nest_add_row(struct nest_state *nest, uint32_t lane, uint32_t depth)
{
    struct tv_nesting *nesting = nest->nesting;
    nesting->rows = tv_array_reserve(nesting->rows, &nest->row_capacity, nesting->row_count + 1,
                                     sizeof *nesting->rows);
    nesting->rows[nesting->row_count] = (struct tv_nested_row){lane, depth, 0};
    return (uint32_t)nesting->row_count++;
}

/* Put the span at a depth of a lane. */
static void nest_enter(struct nest_state *nest, uint32_t number, size_t index, size_t depth)
{
    struct nest_lane *lane = &nest->lanes[number];
    struct tv_span *span = &nest->spans->spans[index];
    uint32_t parent_path = TV_ROOT_PATH;
    nest_leave(nest, lane, span, depth);
    if (depth > 0) {
        struct tv_span *parent = nest_span_at(nest, lane, depth - 1);
        if (tv_span_end(span) > tv_span_end(parent))
            nest_clip(nest, span, tv_span_end(parent));
        if (!(parent->slice_flags & TV_SLICE_HAS_CHILDREN))
            span->slice_flags |= TV_SLICE_FIRST_CHILD;
        parent->slice_flags |= TV_SLICE_HAS_CHILDREN;
        parent_path = lane->levels[depth - 1].path;
    }
    assert(lane->depth == depth && depth <= lane->row_count);
    if (depth == lane->row_count) {
        lane->rows =
            tv_array_reserve(lane->rows, &lane->row_capacity, depth + 1, sizeof *lane->rows);
        lane->rows[lane->row_count++] = nest_add_row(nest, number, (uint32_t)depth);
    }
    span->frame = tv_paths_child(&nest->spans->scratch->paths, parent_path, span->frame);
    lane->levels = tv_array_reserve(lane->levels, &lane->capacity, depth + 1, sizeof *lane->levels);
    lane->levels[lane->depth++] = (struct nest_level){(uint32_t)index, span->frame};
    nest->nesting->row_of[index] = lane->rows[depth];
}

/* Put a span that fits nowhere into a lane without nesting. */
static void nest_enter_flat(struct nest_state *nest, size_t index)
{
    struct tv_span *span = &nest->spans->spans[index];
    uint32_t lane = tv_lanes_claim(&nest->flat, span->time, tv_span_end(span));
    if (lane == nest->flat_count) {
        nest->flat_rows = tv_array_reserve(nest->flat_rows, &nest->flat_capacity,
                                           nest->flat_count + 1, sizeof *nest->flat_rows);
        nest->flat_rows[nest->flat_count++] = nest_add_row(nest, NESTING_LANES + lane, 0);
    }
    span->frame = tv_paths_child(&nest->spans->scratch->paths, TV_ROOT_PATH, span->frame);
    nest->nesting->row_of[index] = nest->flat_rows[lane];
}

/* Put a span into the first lane in which it nests. */
static void nest_place(struct nest_state *nest, size_t index)
{
    const struct tv_span *span = &nest->spans->spans[index];
    for (uint32_t i = 0; i < NESTING_LANES; i++) {
        size_t depth;
        if (!nest_find_depth(nest, &nest->lanes[i], span, &depth))
            continue;
        if (i > 0)
            tv_diagnostics_add(nest->spans->diagnostics, TV_DIAGNOSTIC_OVERLAP, span->offset);
        if (i >= nest->lanes_used)
            nest->lanes_used = i + 1;
        nest_enter(nest, i, index, depth);
        return;
    }
    tv_diagnostics_add(nest->spans->diagnostics, TV_DIAGNOSTIC_OVERLAP, span->offset);
    nest_enter_flat(nest, index);
}

/* Renumber the rows, which were created on demand, by lane and depth. */
static void nest_order_rows(struct nest_state *nest)
{
    struct tv_nesting *nesting = nest->nesting;
    struct tv_nested_row *rows = tv_alloc(nesting->row_count, sizeof *rows);
    uint32_t *renamed = tv_alloc(nesting->row_count, sizeof *renamed), next = 0;
    for (uint32_t i = 0; i < nest->lanes_used; i++)
        for (size_t depth = 0; depth < nest->lanes[i].row_count; depth++)
            renamed[nest->lanes[i].rows[depth]] = next++;
    for (size_t i = 0; i < nest->flat_count; i++)
        renamed[nest->flat_rows[i]] = next++;
    for (size_t i = 0; i < nesting->row_count; i++)
        rows[renamed[i]] = nesting->rows[i];
    for (size_t i = 0; i < nest->spans->count; i++) {
        nesting->row_of[i] = renamed[nesting->row_of[i]];
        rows[nesting->row_of[i]].count++;
    }
    tv_free(nesting->rows);
    tv_free(renamed);
    nesting->rows = rows;
    nesting->lane_count = nest->lanes_used + (uint32_t)nest->flat_count;
}

static void nest_keep_paths(struct tv_nesting *nesting, const struct tv_paths *paths)
{
    nesting->node_count = paths->count;
    nesting->nodes = tv_alloc(paths->count, sizeof *nesting->nodes);
    memcpy(nesting->nodes, paths->nodes, paths->count * sizeof *nesting->nodes);
}

void tv_spans_nest(struct tv_spans *spans, int64_t tolerance, struct tv_nesting *nesting)
{
    struct nest_state *nest = tv_alloc(1, sizeof *nest);
    *nest = (struct nest_state){.spans = spans, .nesting = nesting, .tolerance = tolerance};
    memset(nesting, 0, sizeof *nesting);
    tv_paths_clear(&spans->scratch->paths);
    nesting->row_of =
        tv_scratch_get(&spans->scratch->row_of, spans->count, sizeof *nesting->row_of);
    for (size_t i = 0; i < spans->count; i++) {
        if (spans->depths)
            nest_enter(nest, 0, i, spans->depths[i]);
        else
            nest_place(nest, i);
    }
    nest->lanes_used = spans->depths && spans->count > 0 ? 1 : nest->lanes_used;
    nest_order_rows(nest);
    for (uint32_t i = 0; i < nest->lanes_used; i++) {
        tv_free(nest->lanes[i].levels);
        tv_free(nest->lanes[i].rows);
    }
    tv_lanes_release(&nest->flat);
    tv_free(nest->flat_rows);
    tv_free(nest);
    nest_keep_paths(nesting, &spans->scratch->paths);
}

/* ---- Lanes ----
 *
 * The first free lane is found in a tree of minima: a thousand overlapping slices need a thousand
 * lanes, and testing each lane every time would be quadratic. */

#define FIRST_LEAVES 8u

/* Double the tree of lanes. busy[i] is the smallest end of the lanes below i, so a free lane is
 * found from the root down. */
static void lanes_grow(struct tv_lanes *lanes)
{
    size_t leaves = lanes->leaves ? lanes->leaves * 2 : FIRST_LEAVES;
    int64_t *busy = tv_alloc(tv_size_mul(leaves, 2), sizeof *busy);
    for (size_t i = 0; i < leaves; i++)
        busy[leaves + i] = i < lanes->count ? lanes->busy[lanes->leaves + i] : INT64_MIN;
    for (size_t i = leaves - 1; i > 0; i--)
        busy[i] = busy[2 * i] < busy[2 * i + 1] ? busy[2 * i] : busy[2 * i + 1];
    tv_free(lanes->busy);
    lanes->busy = busy;
    lanes->leaves = leaves;
}

uint32_t tv_lanes_claim(struct tv_lanes *lanes, int64_t start, int64_t end)
{
    if (lanes->leaves == 0 || lanes->busy[1] > start)
        lanes_grow(lanes);
    size_t node = 1;
    while (node < lanes->leaves)
        node = 2 * node + (lanes->busy[2 * node] > start);
    size_t lane = node - lanes->leaves;
    assert(lane <= lanes->count && lanes->busy[node] <= start);
    for (lanes->busy[node] = end; node > 1; node /= 2) {
        int64_t other = lanes->busy[node ^ 1];
        lanes->busy[node / 2] = lanes->busy[node] < other ? lanes->busy[node] : other;
    }
    if (lane >= lanes->count)
        lanes->count = lane + 1;
    return (uint32_t)lane;
}

void tv_lanes_release(struct tv_lanes *lanes)
{
    tv_free(lanes->busy);
    memset(lanes, 0, sizeof *lanes);
}
