/* SPDX-License-Identifier: Apache-2.0 */
/*
 * async.c - lays out async slices in tracks as Trace Viewer does (trace-event.md section 4, "Async
 * rows").
 *
 *     slices with parents  ->  trees (roots)  ->  tracks by owner and name  ->  lanes  ->  rows
 *
 * A root with all slices below it occupies as many rows as it has levels.  Roots of one track that
 * overlap in time go to different lanes:
 *
 *     lane 0   [ request 1        ]       [ request 3 ]      level 0 of both trees: one row
 *                [ read ] [ write ]         [ read ]         level 1: another row
 *     lane 1        [ request 2              ]               a track of its own, with its own rows
 *
 * Invariants of a row, as of rows of threads: its slices do not overlap and are in order of time,
 * and children have the order of their parents.  A slice that would break one of them becomes a
 * root (async_fits_below), as does one without a parent.
 *
 * All numbers (tracks, rows, paths) belong to the plan until it is added to the trace, so the plan
 * can be made in parallel with the threads.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"
#include "model/assembly/assembly.h"
#include "model/assembly/assembly_internal.h"
#include "model/columns.h"

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* A slice during layout. */
struct async_item {
    int64_t start, length;
    uint32_t slice;
    uint32_t parent;  /* index among the slices; TV_NONE: a root */
    uint32_t nesting; /* number of ancestors */
    uint32_t root;    /* index in roots */
    uint32_t depth;   /* below its root; 0: it is a root */
    uint32_t above;   /* index in items; TV_NONE: it is a root */
    uint32_t path;
    uint8_t flags;
};

/* A root with everything below it. */
struct async_root {
    int64_t start, end; /* extent of the tree */
    uint32_t process;
    uint32_t thread; /* the only thread of the tree; TV_NONE: several */
    uint32_t name;
    uint32_t group; /* joined ids share a track; or TV_NONE */
    uint32_t slice;
    uint32_t levels;
    uint32_t track; /* index in the plan */
    /* State of the level that was filled last: */
    uint32_t level, last_parent;
    int64_t last_end;
};

/* Tracks, rows and paths have numbers of the plan until it is added to the trace. */
struct tv_async_plan {
    const struct tv_trace_info *head;
    size_t count;
    struct tv_paths paths;
    TV_TABLE(tv_track) tracks;
    struct tv_row *rows;
    uint32_t row_count;
    struct tv_columns columns;
    struct tv_async_extra *async_extras; /* [count] */
    TV_TABLE(tv_slice_extra) slice_extras;
    /* Only during layout: */
    const struct tv_async_slice *slices;
    struct async_item *items; /* by nesting and start */
    uint32_t *item_of;        /* [slices] index in items */
    struct async_root *roots;
    size_t root_count;
};

/* ---- Trees ---- */

/* Sort by several keys: call this with the least significant key first. */
static void async_sort_by(struct tv_sort_key *order, size_t count, const void *rows,
                          uint64_t (*key)(const void *rows, uint64_t index))
{
    for (size_t i = 0; i < count; i++)
        order[i].key = key(rows, order[i].index);
    tv_sort_keys(order, count);
}

/* Return the order 0, 1, 2, ... to be sorted. */
static struct tv_sort_key *async_order_new(size_t count)
{
    struct tv_sort_key *order = tv_alloc(count, sizeof *order);
    for (size_t i = 0; i < count; i++)
        order[i].index = i;
    return order;
}

static uint64_t async_slice_length_key(const void *slices, uint64_t index)
{
    return tv_sort_signed(((const struct tv_async_slice *)slices)[index].length);
}

static uint64_t async_slice_start_key(const void *slices, uint64_t index)
{
    return tv_sort_signed(((const struct tv_async_slice *)slices)[index].start);
}

static uint64_t async_nesting_key(const void *places, uint64_t index)
{
    return ((const struct tv_async_place *)places)[index].nesting;
}

/* Sort by nesting, start, length and position in the array. */
static void async_sort_items(struct tv_async_plan *plan)
{
    struct tv_async_place *places = tv_alloc(plan->count, sizeof *places);
    for (uint32_t i = 0; i < plan->count; i++) {
        uint32_t parent = plan->slices[i].parent;
        places[i].parent = parent;
        places[i].nesting = parent == TV_NONE ? 0 : places[parent].nesting + 1;
    }
    tv_async_join(plan->slices, plan->count, places);
    struct tv_sort_key *order = async_order_new(plan->count);
    async_sort_by(order, plan->count, plan->slices, async_slice_length_key);
    async_sort_by(order, plan->count, plan->slices, async_slice_start_key);
    async_sort_by(order, plan->count, places, async_nesting_key);
    for (uint32_t i = 0; i < plan->count; i++) {
        uint32_t slice = (uint32_t)order[i].index;
        plan->items[i] = (struct async_item){
            .start = plan->slices[slice].start,
            .length = plan->slices[slice].length,
            .slice = slice,
            .parent = places[slice].parent,
            .nesting = places[slice].nesting,
        };
        plan->item_of[slice] = i;
    }
    tv_free(order);
    tv_free(places);
}

/* Return whether an item may be below its parent.  Slices of a row must not overlap, and children
 * must have the order of their parents. */
static bool async_fits_below(struct tv_async_plan *plan, const struct async_item *item,
                             uint32_t parent)
{
    const struct async_item *above = &plan->items[parent];
    struct async_root *root = &plan->roots[above->root];
    if (root->level != above->depth + 1) {
        root->level = above->depth + 1;
        root->last_end = INT64_MIN;
        root->last_parent = 0;
    }
    if (item->start < root->last_end || parent < root->last_parent)
        return false;
    root->last_end = item->start + item->length;
    root->last_parent = parent;
    return true;
}

/* Make the slice the root of a tree, which gets rows of its own. */
static void async_add_root(struct tv_async_plan *plan, struct async_item *item)
{
    const struct tv_async_slice *slice = &plan->slices[item->slice];
    const struct tv_trace_info *head = plan->head;
    item->root = (uint32_t)plan->root_count;
    item->depth = 0;
    plan->roots[plan->root_count++] = (struct async_root){
        .start = item->start,
        .end = item->start + item->length,
        .process = slice->process != TV_NONE || slice->start_thread == TV_NONE
                       ? slice->process
                       : head->threads[slice->start_thread].process,
        .thread = slice->track == TV_EMPTY_STRING ? slice->start_thread : TV_NONE,
        .name = slice->track == TV_EMPTY_STRING ? head->frames[slice->frame].name : slice->track,
        .group = slice->group,
        .slice = item->slice,
        .levels = 1,
    };
}

/* Put the slice below its parent, and widen the tree to contain it. */
static void async_join_root(struct tv_async_plan *plan, struct async_item *item,
                            struct async_item *parent)
{
    struct async_root *root = &plan->roots[parent->root];
    item->root = parent->root;
    item->depth = parent->depth + 1;
    if (!(parent->flags & TV_SLICE_HAS_CHILDREN))
        item->flags |= TV_SLICE_FIRST_CHILD;
    parent->flags |= TV_SLICE_HAS_CHILDREN;
    if (item->depth + 1 > root->levels)
        root->levels = item->depth + 1;
    if (item->start < root->start)
        root->start = item->start;
    if (item->start + item->length > root->end)
        root->end = item->start + item->length;
}

/* Find the tree of each slice. A slice that does not fit below its parent becomes a root. */
static void async_find_roots(struct tv_async_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        struct async_item *item = &plan->items[i];
        const struct tv_async_slice *slice = &plan->slices[item->slice];
        uint32_t parent = item->parent == TV_NONE ? TV_NONE : plan->item_of[item->parent];
        item->above = TV_NONE;
        if (parent != TV_NONE && async_fits_below(plan, item, parent)) {
            async_join_root(plan, item, &plan->items[parent]);
            item->above = parent;
        } else {
            async_add_root(plan, item);
        }
        item->flags |= slice->flags;
        struct async_root *root = &plan->roots[item->root];
        if (slice->start_thread != root->thread ||
            (slice->end_thread != TV_NONE && slice->end_thread != root->thread))
            root->thread = TV_NONE;
    }
}

/* Find the call path of each slice; parents come first, so theirs are known. */
static void async_find_paths(struct tv_async_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        struct async_item *item = &plan->items[i];
        uint32_t above = item->above == TV_NONE ? TV_ROOT_PATH : plan->items[item->above].path;
        item->path = tv_paths_child(&plan->paths, above, plan->slices[item->slice].frame);
    }
}

/* ---- Tracks ---- */

/* Sort by group, then by start and slice; roots without a group (TV_NONE) come last. */
static int async_compare_groups(const void *left, const void *right)
{
    const struct async_root *a = left, *b = right;
    if (a->group != b->group)
        return COMPARE(a->group, b->group);
    if (a->start != b->start)
        return COMPARE(a->start, b->start);
    return COMPARE(a->slice, b->slice);
}

/* Tell whether any ids are joined; few traces have that, and sorting for it is not free. */
static bool async_has_groups(const struct tv_async_plan *plan)
{
    for (size_t i = 0; i < plan->root_count; i++)
        if (plan->roots[i].group != TV_NONE)
            return true;
    return false;
}

/* Roots of a group go to the track of the earliest one: they take its name, its process, and its
 * thread if all have the same. */
static void async_share_tracks(struct tv_async_plan *plan)
{
    size_t first = 0, end;
    if (!async_has_groups(plan))
        return;
    qsort(plan->roots, plan->root_count, sizeof *plan->roots, async_compare_groups);
    for (; first < plan->root_count && plan->roots[first].group != TV_NONE; first = end) {
        struct async_root *roots = &plan->roots[first];
        uint32_t thread = roots->thread;
        size_t count = 1;
        while (first + count < plan->root_count && roots[count].group == roots->group)
            if (roots[count++].thread != thread)
                thread = TV_NONE;
        end = first + count;
        for (size_t i = 0; i < count; i++) {
            roots[i].process = roots->process;
            roots[i].thread = thread;
            roots[i].name = roots->name;
        }
    }
}

static uint64_t async_root_slice_key(const void *roots, uint64_t index)
{
    return ((const struct async_root *)roots)[index].slice;
}

static uint64_t async_root_start_key(const void *roots, uint64_t index)
{
    return tv_sort_signed(((const struct async_root *)roots)[index].start);
}

static uint64_t async_root_name_key(const void *roots, uint64_t index)
{
    const struct async_root *root = &((const struct async_root *)roots)[index];
    return (uint64_t)root->name << 32 | root->group;
}

static uint64_t async_root_owner_key(const void *roots, uint64_t index)
{
    const struct async_root *root = &((const struct async_root *)roots)[index];
    return (uint64_t)root->process << 32 | root->thread;
}

/* Sort by owner, name, group, start and slice, and renumber the roots of the items. */
static void async_sort_roots(struct tv_async_plan *plan)
{
    struct tv_sort_key *order = async_order_new(plan->root_count);
    struct async_root *sorted = tv_alloc(plan->root_count, sizeof *sorted);
    uint32_t *rank = tv_alloc(plan->count, sizeof *rank); /* by the root's slice */
    async_sort_by(order, plan->root_count, plan->roots, async_root_slice_key);
    async_sort_by(order, plan->root_count, plan->roots, async_root_start_key);
    async_sort_by(order, plan->root_count, plan->roots, async_root_name_key);
    async_sort_by(order, plan->root_count, plan->roots, async_root_owner_key);
    for (uint32_t i = 0; i < plan->root_count; i++) {
        sorted[i] = plan->roots[order[i].index];
        rank[sorted[i].slice] = i;
    }
    for (size_t i = 0; i < plan->count; i++)
        plan->items[i].root = rank[plan->items[i].root];
    tv_free(plan->roots);
    tv_free(order);
    tv_free(rank);
    plan->roots = sorted;
}

static bool async_roots_share_track(const struct async_root *a, const struct async_root *b)
{
    return a->process == b->process && a->thread == b->thread && a->name == b->name &&
           a->group == b->group;
}

/* Add a track for a tree and those that follow it in the lane. */
static uint32_t async_add_track(struct tv_async_plan *plan, const struct async_root *root,
                                uint32_t lane)
{
    *tv_table_add(&plan->tracks) = (struct tv_track){
        .kind = TV_TRACK_ASYNC,
        .name = root->name,
        .process = root->process,
        .lane = lane,
        .thread = root->thread,
        .first_wall = root->start,
        .last_wall = root->end,
    };
    return (uint32_t)plan->tracks.count - 1;
}

/* Make a track as high as the tree and as long as its end.  The start of a track is that of its
 * first tree, as trees come in order of time. */
static void async_extend_track(struct tv_track *track, const struct async_root *root)
{
    if (root->levels > track->row_count)
        track->row_count = root->levels;
    if (root->end > track->last_wall)
        track->last_wall = root->end;
}

/* Give each tree a lane in which nothing else lies at its time. */
static void async_find_tracks(struct tv_async_plan *plan)
{
    struct tv_lanes lanes = {0};
    uint32_t first = 0;
    for (size_t i = 0; i < plan->root_count; i++) {
        struct async_root *root = &plan->roots[i];
        if (i == 0 || !async_roots_share_track(root, root - 1)) {
            tv_lanes_release(&lanes);
            first = (uint32_t)plan->tracks.count;
        }
        size_t before = lanes.count;
        uint32_t lane = tv_lanes_claim(&lanes, root->start, root->end);
        root->track = lane < before ? first + lane : async_add_track(plan, root, lane);
        async_extend_track(&plan->tracks.rows[root->track], root);
    }
    tv_lanes_release(&lanes);
}

/* ---- Rows and columns ---- */

/* Return the row of an item: one a level, from the first row of its track on. */
static uint32_t async_row_of(const struct tv_async_plan *plan, const struct async_item *item)
{
    return plan->tracks.rows[plan->roots[item->root].track].first_row + item->depth;
}

/* Each level of a track is a row. */
static void async_make_rows(struct tv_async_plan *plan)
{
    uint64_t first = 0, block = 0;
    for (size_t i = 0; i < plan->tracks.count; i++) {
        plan->tracks.rows[i].first_row = plan->row_count;
        plan->row_count += plan->tracks.rows[i].row_count;
    }
    plan->rows = tv_alloc(plan->row_count, sizeof *plan->rows);
    for (size_t i = 0; i < plan->tracks.count; i++)
        for (uint32_t depth = 0; depth < plan->tracks.rows[i].row_count; depth++) {
            struct tv_row *row = &plan->rows[plan->tracks.rows[i].first_row + depth];
            row->track = (uint32_t)i;
            row->depth = depth;
        }
    for (size_t i = 0; i < plan->count; i++) {
        plan->rows[async_row_of(plan, &plan->items[i])].count++;
        plan->tracks.rows[plan->roots[plan->items[i].root].track].slice_count++;
    }
    for (uint32_t i = 0; i < plan->row_count; i++) {
        plan->rows[i].first = first;
        plan->rows[i].first_block = block;
        first += plan->rows[i].count;
        block += tv_blocks_for(plan->rows[i].count);
    }
    plan->columns.block_count = block;
}

/* Return the items root by root, in their order. */
static uint32_t *async_order_by_root(const struct tv_async_plan *plan)
{
    uint32_t *order = tv_alloc(plan->count, sizeof *order);
    uint32_t *next = tv_alloc(plan->root_count, sizeof *next), sum = 0;
    for (size_t i = 0; i < plan->count; i++)
        next[plan->items[i].root]++;
    for (size_t i = 0; i < plan->root_count; i++) {
        uint32_t count = next[i];
        next[i] = sum;
        sum += count;
    }
    for (uint32_t i = 0; i < plan->count; i++)
        order[next[plan->items[i].root]++] = i;
    tv_free(next);
    return order;
}

/* Add what only async slices have: id, threads and group. */
static void async_add_extras(struct tv_async_plan *plan, const struct tv_async_slice *slice,
                             uint32_t row, const struct tv_row_writer *place)
{
    plan->async_extras[place->first + place->next] = (struct tv_async_extra){
        .row = row,
        .index = place->next,
        .id = slice->id,
        .start_thread = slice->start_thread,
        .end_thread = slice->end_thread,
        .group = slice->group,
        .lifetime = slice->lifetime,
    };
    if (slice->end_offset != TV_NO_OFFSET || slice->colour != 0)
        *tv_table_add(&plan->slice_extras) =
            (struct tv_slice_extra){.row = row,
                                    .index = place->next,
                                    .end_offset = slice->end_offset,
                                    .colour = slice->colour};
}

/* Write a slice at the next place of its row. */
static void async_write_item(struct tv_async_plan *plan, const struct async_item *item,
                             struct tv_row_writer *places)
{
    const struct tv_async_slice *slice = &plan->slices[item->slice];
    struct tv_columns *columns = &plan->columns;
    uint32_t row = async_row_of(plan, item);
    struct tv_row_writer *place = &places[row];
    uint64_t at = place->first + place->next;
    bool cpu = slice->cpu_start != TV_NO_TIME && slice->cpu_length != TV_NO_TIME;
    struct tv_slice_times times = {item->start, item->length, cpu ? slice->cpu_start : 0,
                                   cpu ? slice->cpu_length : 0};
    unsigned flags = item->flags;
    if (columns->cpu_start && !cpu)
        flags |= TV_SLICE_NO_CPU;
    columns->path[at] = item->path;
    columns->flags[at] = (uint8_t)flags;
    tv_columns_set_offset(columns, at, slice->offset);
    async_add_extras(plan, slice, row, place);
    tv_row_write_slice(columns, place, &times);
}

/* Allocate the columns, with a CPU clock if any slice has one. */
static void async_make_columns(struct tv_async_plan *plan)
{
    unsigned clocks = TV_CLOCK_WALL;
    uint64_t input_bytes = 0; /* largest offset of a slice */
    for (size_t i = 0; i < plan->count; i++) {
        const struct tv_async_slice *slice = &plan->slices[i];
        clocks |= slice->cpu_start != TV_NO_TIME ? (unsigned)TV_CLOCK_CPU : 0;
        input_bytes = slice->offset > input_bytes ? slice->offset : input_bytes;
    }
    tv_columns_init(&plan->columns, plan->count, plan->columns.block_count, clocks);
    tv_columns_add_offsets(&plan->columns, input_bytes);
}

/* Fill the rows root by root; within a root by time. */
static void async_write_columns(struct tv_async_plan *plan)
{
    struct tv_row_writer *places = tv_alloc(plan->row_count, sizeof *places);
    uint32_t *order = async_order_by_root(plan);
    async_make_columns(plan);
    plan->async_extras = tv_alloc(plan->count, sizeof *plan->async_extras);
    for (uint32_t i = 0; i < plan->row_count; i++)
        places[i] = (struct tv_row_writer){plan->rows[i].first, plan->rows[i].first_block, 0,
                                           plan->rows[i].count};
    for (size_t i = 0; i < plan->count; i++)
        async_write_item(plan, &plan->items[order[i]], places);
    for (uint32_t i = 0; i < plan->row_count; i++)
        tv_columns_rank(&plan->columns, &plan->rows[i]);
    tv_free(places);
    tv_free(order);
}

/* Lay out all slices: trees, tracks, rows, columns, in this order. */
static void async_lay_out(struct tv_async_plan *plan)
{
    plan->items = tv_alloc(plan->count, sizeof *plan->items);
    plan->item_of = tv_alloc(plan->count, sizeof *plan->item_of);
    plan->roots = tv_alloc(plan->count, sizeof *plan->roots);
    async_sort_items(plan);
    async_find_roots(plan);
    /* Sorting moves the roots, so items refer to them by their slice from here on. */
    for (size_t i = 0; i < plan->count; i++)
        plan->items[i].root = plan->roots[plan->items[i].root].slice;
    async_share_tracks(plan);
    async_sort_roots(plan);
    async_find_paths(plan);
    async_find_tracks(plan);
    async_make_rows(plan);
    async_write_columns(plan);
    assert(plan->root_count <= plan->count);
    tv_free(plan->items);
    tv_free(plan->item_of);
    tv_free(plan->roots);
}

struct tv_async_plan *tv_async_plan_new(const struct tv_trace_info *head,
                                        const struct tv_async_slice *slices, size_t count)
{
    struct tv_async_plan *plan = tv_alloc(1, sizeof *plan);
    if (count >= TV_NONE)
        tv_memory_exhausted();
    *plan = (struct tv_async_plan){.head = head, .slices = slices, .count = count};
    tv_paths_init(&plan->paths);
    if (count > 0)
        async_lay_out(plan);
    return plan;
}

void tv_async_plan_free(struct tv_async_plan *plan)
{
    if (!plan)
        return;
    tv_columns_release(&plan->columns);
    tv_paths_release(&plan->paths);
    tv_free(plan->tracks.rows);
    tv_free(plan->rows);
    tv_free(plan->async_extras);
    tv_free(plan->slice_extras.rows);
    tv_free(plan);
}

/* ---- Adding the plan to the trace ---- */

/* Append the tracks and rows to the trace; their numbers so far begin at 0. */
static void async_add_tracks(struct tv_trace *trace, const struct tv_async_plan *plan,
                             uint32_t input)
{
    size_t tracks = trace->track_count + plan->tracks.count;
    size_t rows = (size_t)trace->row_count + plan->row_count;
    if (tracks >= TV_NONE || rows >= TV_NONE)
        tv_memory_exhausted();
    trace->tracks = tv_realloc(trace->tracks, tracks, sizeof *trace->tracks);
    trace->rows = tv_realloc(trace->rows, rows, sizeof *trace->rows);
    for (uint32_t i = 0; i < plan->row_count; i++) {
        struct tv_row *row = &trace->rows[trace->row_count + i];
        *row = plan->rows[i];
        row->track += trace->track_count;
        row->input = input;
        row->columns = trace->columns_count;
    }
    for (size_t i = 0; i < plan->tracks.count; i++) {
        struct tv_track *track = &trace->tracks[trace->track_count + i];
        *track = plan->tracks.rows[i];
        track->first_row += trace->row_count;
        track->input = input;
    }
    trace->track_count = (uint32_t)tracks;
    trace->row_count = (uint32_t)rows;
}

/* Move the columns to the trace, with paths of its tree. */
static void async_add_columns(struct tv_trace *trace, struct tv_async_plan *plan)
{
    uint32_t *map = tv_alloc(plan->paths.count, sizeof *map);
    tv_paths_merge(&trace->paths, &plan->paths, map);
    for (size_t i = 0; i < plan->count; i++)
        plan->columns.path[i] = map[plan->columns.path[i]];
    tv_free(map);
    trace->columns =
        tv_realloc(trace->columns, (size_t)trace->columns_count + 1, sizeof *trace->columns);
    trace->columns[trace->columns_count++] = plan->columns;
    plan->columns = (struct tv_columns){.count = 0};
}

/* Move the rare properties; their rows so far count from the first one of the plan. */
static void async_move_extras(struct tv_tables *tables, const struct tv_async_plan *plan,
                              uint32_t first_row)
{
    for (size_t i = 0; i < plan->count; i++) {
        struct tv_async_extra *extra = tv_table_add(&tables->async_extras);
        *extra = plan->async_extras[i];
        extra->row += first_row;
    }
    for (size_t i = 0; i < plan->slice_extras.count; i++) {
        struct tv_slice_extra *extra = tv_table_add(&tables->slice_extras);
        *extra = plan->slice_extras.rows[i];
        extra->row += first_row;
    }
}

void tv_assembly_add_async(struct tv_assembly *assembly, struct tv_async_plan *plan)
{
    struct tv_trace *trace = assembly->trace;
    if (plan->count > 0) {
        async_move_extras(&trace->tables, plan, trace->row_count);
        async_add_tracks(trace, plan, assembly->input);
        async_add_columns(trace, plan);
        trace->slice_count += plan->count;
    }
    tv_async_plan_free(plan);
}

/*
 * ---- Joined ids ----
 *
 * Slices whose ids are joined form one tree: each one is in the innermost slice that is open at
 * its start, whatever its id.  Of slices with equal starts the longest is the outer one.
 */

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* A slice with a joined id; `nesting` is the one it had by its own id. */
struct async_joined {
    int64_t start, length;
    uint32_t group, nesting, slice;
};

/* A slice that contains the time that has been reached. */
struct async_open {
    int64_t end;
    uint32_t slice;
};

/* Order for nesting: by group and start, and of several with one start the longer first. */
static int async_compare_joined(const void *left, const void *right)
{
    const struct async_joined *a = left, *b = right;
    if (a->group != b->group)
        return COMPARE(a->group, b->group);
    if (a->start != b->start)
        return COMPARE(a->start, b->start);
    if (a->length != b->length)
        return COMPARE(b->length, a->length);
    if (a->nesting != b->nesting)
        return COMPARE(a->nesting, b->nesting);
    return COMPARE(a->slice, b->slice);
}

/* Collect the slices with joined ids, group by group in order of time. */
static struct async_joined *async_collect_joined(const struct tv_async_slice *slices, size_t count,
                                                 const struct tv_async_place *places, size_t *found)
{
    struct async_joined *all = NULL;
    size_t capacity = 0;
    *found = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (slices[i].group == TV_NONE)
            continue;
        all = tv_array_reserve(all, &capacity, *found + 1, sizeof *all);
        all[(*found)++] = (struct async_joined){slices[i].start, slices[i].length, slices[i].group,
                                                places[i].nesting, i};
    }
    if (*found > 1)
        qsort(all, *found, sizeof *all, async_compare_joined);
    return all;
}

/* Return whether an open slice has ended when the next one starts.  A slice of length 0 stays open
 * for its own children. */
static bool async_open_has_ended(const struct async_open *open, const struct async_joined *next,
                                 uint32_t own_parent)
{
    return open->end < next->start || (open->end == next->start && open->slice != own_parent);
}

void tv_async_join(const struct tv_async_slice *slices, size_t count, struct tv_async_place *places)
{
    size_t found, depth = 0;
    struct async_joined *all = async_collect_joined(slices, count, places, &found);
    struct async_open *open = tv_alloc(found, sizeof *open);
    for (size_t i = 0; i < found; i++) {
        const struct async_joined *next = &all[i];
        struct tv_async_place *place = &places[next->slice];
        if (i > 0 && next->group != next[-1].group)
            depth = 0;
        while (depth > 0 &&
               async_open_has_ended(&open[depth - 1], next, slices[next->slice].parent))
            depth--;
        place->parent = depth > 0 ? open[depth - 1].slice : TV_NONE;
        place->nesting = depth > 0 ? places[place->parent].nesting + 1 : 0;
        open[depth++] = (struct async_open){next->start + next->length, next->slice};
    }
    tv_free(all);
    tv_free(open);
}
