/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Async slices find their tracks: those of one name and owner share lanes, as Trace Viewer lays
 * them out (trace-event.md section 4, "Async rows").
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "model/assembly.h"
#include "model/assembly_state.h"
#include "model/builder_store.h"
#include "model/spans.h"

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* One slice on its way. */
struct item {
    int64_t start, length;
    uint32_t slice;
    uint32_t parent;  /* index among the slices; TV_NONE: on top */
    uint32_t nesting; /* how deep it is to lie */
    uint32_t top;     /* index in tops */
    uint32_t depth;   /* below its top; 0: it is on top */
    uint32_t above;   /* index in items; TV_NONE: it is on top */
    uint32_t path;
    uint8_t flags;
};

/* A slice on top with all that lies below it. */
struct top {
    int64_t start, end; /* of all */
    uint32_t process;
    uint32_t thread; /* the one that all is on; TV_NONE: several */
    uint32_t name;
    uint32_t group; /* of joined ids: they share a track; TV_NONE */
    uint32_t slice;
    uint32_t levels;
    uint32_t track; /* index in the trace */
    /* Of the level looked at last: */
    uint32_t level, last_parent;
    int64_t last_end;
};

struct tv_async_plan {
    const struct tv_head *head;
    struct tv_trace *trace; /* once it is made */
    uint32_t input;
    const struct tv_async_slice *slices;
    size_t count;
    struct item *items; /* by nesting and start */
    uint32_t *item_of;  /* [slices] */
    struct top *tops;
    size_t top_count;
};

/* ---- What lies below what ---- */

static int compare_items(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    if (a->nesting != b->nesting)
        return COMPARE(a->nesting, b->nesting);
    if (a->start != b->start)
        return COMPARE(a->start, b->start);
    if (a->length != b->length)
        return COMPARE(a->length, b->length);
    return COMPARE(a->slice, b->slice);
}

static void sort_items(struct tv_async_plan *layout)
{
    struct tv_async_place *places = tv_alloc(layout->count, sizeof *places);
    for (uint32_t i = 0; i < layout->count; i++) {
        uint32_t parent = layout->slices[i].parent;
        places[i].parent = parent;
        places[i].nesting = parent == TV_NONE ? 0 : places[parent].nesting + 1;
    }
    tv_async_join(layout->slices, layout->count, places);
    for (uint32_t i = 0; i < layout->count; i++)
        layout->items[i] = (struct item){
            .start = layout->slices[i].start,
            .length = layout->slices[i].length,
            .slice = i,
            .parent = places[i].parent,
            .nesting = places[i].nesting,
        };
    tv_free(places);
    qsort(layout->items, layout->count, sizeof *layout->items, compare_items);
    for (uint32_t i = 0; i < layout->count; i++)
        layout->item_of[layout->items[i].slice] = i;
}

/* Whether an item can lie below its parent: in the rows of a track nothing overlaps, and children
 * stand in the order of their parents. */
static bool fits_below(struct tv_async_plan *layout, const struct item *item, uint32_t parent)
{
    const struct item *above = &layout->items[parent];
    struct top *top = &layout->tops[above->top];
    if (top->level != above->depth + 1) {
        top->level = above->depth + 1;
        top->last_end = INT64_MIN;
        top->last_parent = 0;
    }
    if (item->start < top->last_end || parent < top->last_parent)
        return false;
    top->last_end = item->start + item->length;
    top->last_parent = parent;
    return true;
}

static void add_top(struct tv_async_plan *layout, struct item *item)
{
    const struct tv_async_slice *slice = &layout->slices[item->slice];
    const struct tv_head *head = layout->head;
    item->top = (uint32_t)layout->top_count;
    item->depth = 0;
    layout->tops[layout->top_count++] = (struct top){
        .start = item->start,
        .end = item->start + item->length,
        .process =
            slice->start_thread == TV_NONE ? TV_NONE : head->threads[slice->start_thread].process,
        .thread = slice->track == TV_EMPTY_STRING ? slice->start_thread : TV_NONE,
        .name = slice->track == TV_EMPTY_STRING ? head->frames[slice->frame].name : slice->track,
        .group = slice->group,
        .slice = item->slice,
        .levels = 1,
    };
}

static void join_top(struct tv_async_plan *layout, struct item *item, struct item *parent)
{
    struct top *top = &layout->tops[parent->top];
    item->top = parent->top;
    item->depth = parent->depth + 1;
    if (!(parent->flags & TV_SLICE_HAS_CHILDREN))
        item->flags |= TV_SLICE_FIRST_CHILD;
    parent->flags |= TV_SLICE_HAS_CHILDREN;
    if (item->depth + 1 > top->levels)
        top->levels = item->depth + 1;
    if (item->start < top->start)
        top->start = item->start;
    if (item->start + item->length > top->end)
        top->end = item->start + item->length;
}

static void find_tops(struct tv_async_plan *layout)
{
    for (size_t i = 0; i < layout->count; i++) {
        struct item *item = &layout->items[i];
        const struct tv_async_slice *slice = &layout->slices[item->slice];
        uint32_t parent = item->parent == TV_NONE ? TV_NONE : layout->item_of[item->parent];
        item->above = TV_NONE;
        if (parent != TV_NONE && fits_below(layout, item, parent)) {
            join_top(layout, item, &layout->items[parent]);
            item->above = parent;
        } else {
            add_top(layout, item);
        }
        item->flags |= slice->flags;
        struct top *top = &layout->tops[item->top];
        if (slice->start_thread != top->thread ||
            (slice->end_thread != TV_NONE && slice->end_thread != top->thread))
            top->thread = TV_NONE;
    }
}

static void find_paths(struct tv_async_plan *layout)
{
    for (size_t i = 0; i < layout->count; i++) {
        struct item *item = &layout->items[i];
        uint32_t above = item->above == TV_NONE ? TV_ROOT_PATH : layout->items[item->above].path;
        item->path =
            tv_paths_child(&layout->trace->paths, above, layout->slices[item->slice].frame);
    }
}

/* ---- Tracks ---- */

static int compare_groups(const void *left, const void *right)
{
    const struct top *a = left, *b = right;
    if (a->group != b->group)
        return COMPARE(a->group, b->group);
    if (a->start != b->start)
        return COMPARE(a->start, b->start);
    return COMPARE(a->slice, b->slice);
}

static bool has_groups(const struct tv_async_plan *layout)
{
    for (size_t i = 0; i < layout->top_count; i++)
        if (layout->tops[i].group != TV_NONE)
            return true;
    return false;
}

/* What joined ids have on top stands in the track of the earliest: under its name, in its process,
 * and on its thread when all are. */
static void share_tracks(struct tv_async_plan *layout)
{
    size_t first = 0, end;
    if (!has_groups(layout))
        return;
    qsort(layout->tops, layout->top_count, sizeof *layout->tops, compare_groups);
    for (; first < layout->top_count && layout->tops[first].group != TV_NONE; first = end) {
        struct top *tops = &layout->tops[first];
        uint32_t thread = tops->thread;
        size_t count = 1;
        while (first + count < layout->top_count && tops[count].group == tops->group)
            if (tops[count++].thread != thread)
                thread = TV_NONE;
        end = first + count;
        for (size_t i = 0; i < count; i++) {
            tops[i].process = tops->process;
            tops[i].thread = thread;
            tops[i].name = tops->name;
        }
    }
}

static int compare_tops(const void *left, const void *right)
{
    const struct top *a = left, *b = right;
    if (a->process != b->process)
        return COMPARE(a->process, b->process);
    if (a->thread != b->thread)
        return COMPARE(a->thread, b->thread);
    if (a->name != b->name)
        return COMPARE(a->name, b->name);
    if (a->group != b->group)
        return COMPARE(a->group, b->group);
    if (a->start != b->start)
        return COMPARE(a->start, b->start);
    return COMPARE(a->slice, b->slice);
}

static bool same_group(const struct top *a, const struct top *b)
{
    return a->process == b->process && a->thread == b->thread && a->name == b->name &&
           a->group == b->group;
}

static uint32_t add_track(struct tv_async_plan *layout, const struct top *top, uint32_t lane,
                          size_t *capacity)
{
    struct tv_trace *trace = layout->trace;
    trace->tracks = tv_array_reserve(trace->tracks, capacity, (size_t)trace->track_count + 1,
                                     sizeof *trace->tracks);
    trace->tracks[trace->track_count] = (struct tv_track){
        .kind = TV_TRACK_ASYNC,
        .name = top->name,
        .process = top->process,
        .lane = lane,
        .thread = top->thread,
        .input = layout->input,
        .first_wall = top->start,
        .last_wall = top->end,
    };
    return trace->track_count++;
}

static void join_track(struct tv_track *track, const struct top *top)
{
    if (top->levels > track->row_count)
        track->row_count = top->levels;
    if (top->end > track->last_wall)
        track->last_wall = top->end;
}

static void find_tracks(struct tv_async_plan *layout)
{
    size_t capacity = layout->trace->track_count;
    struct tv_lanes lanes = {0};
    uint32_t first = 0;
    for (size_t i = 0; i < layout->top_count; i++) {
        struct top *top = &layout->tops[i];
        if (i == 0 || !same_group(top, top - 1)) {
            tv_lanes_release(&lanes);
            first = layout->trace->track_count;
        }
        size_t before = lanes.count;
        uint32_t lane = tv_lanes_take(&lanes, top->start, top->end);
        top->track = lane < before ? first + lane : add_track(layout, top, lane, &capacity);
        join_track(&layout->trace->tracks[top->track], top);
    }
    tv_lanes_release(&lanes);
}

/* ---- Rows and columns ---- */

/* What decides where an item stands in its row: rows are filled in this order. */
struct placed {
    uint32_t track, top, depth, item;
};

static int compare_placed(const void *left, const void *right)
{
    const struct placed *a = left, *b = right;
    if (a->track != b->track)
        return COMPARE(a->track, b->track);
    if (a->depth != b->depth)
        return COMPARE(a->depth, b->depth);
    if (a->top != b->top)
        return COMPARE(a->top, b->top);
    return COMPARE(a->item, b->item);
}

/* By track, depth, and time: the order of the columns. */
static struct placed *place_items(const struct tv_async_plan *layout)
{
    struct placed *placed = tv_alloc(layout->count, sizeof *placed);
    uint32_t *rank = tv_alloc(layout->count, sizeof *rank); /* of tops, by their first slice */
    for (uint32_t i = 0; i < layout->top_count; i++)
        rank[layout->tops[i].slice] = i;
    for (uint32_t i = 0; i < layout->count; i++) {
        const struct item *item = &layout->items[i];
        uint32_t top = rank[item->top];
        placed[i] = (struct placed){layout->tops[top].track, top, item->depth, i};
    }
    tv_free(rank);
    qsort(placed, layout->count, sizeof *placed, compare_placed);
    return placed;
}

static void add_rows(struct tv_async_plan *layout, const struct placed *placed,
                     struct tv_columns *columns)
{
    struct tv_trace *trace = layout->trace;
    size_t capacity = trace->row_count;
    for (size_t i = 0; i < layout->count; i++) {
        bool same = i > 0 && placed[i].track == placed[i - 1].track;
        struct tv_track *track = &trace->tracks[placed[i].track];
        track->slice_count++;
        if (!same)
            track->first_row = trace->row_count;
        if (!same || placed[i].depth != placed[i - 1].depth) {
            trace->rows = tv_array_reserve(trace->rows, &capacity, (size_t)trace->row_count + 1,
                                           sizeof *trace->rows);
            trace->rows[trace->row_count++] = (struct tv_row){
                .first = i,
                .first_block = columns->block_count,
                .track = placed[i].track,
                .depth = placed[i].depth,
                .input = layout->input,
                .columns = (uint32_t)(columns - trace->columns),
            };
        }
        struct tv_row *row = &trace->rows[trace->row_count - 1];
        if (row->count++ % TV_BLOCK_SLICES == 0)
            columns->block_count++;
    }
}

static void add_extras(struct tv_tables *tables, const struct tv_async_slice *slice, uint32_t row,
                       uint32_t index)
{
    *tv_table_add(&tables->async_extras) = (struct tv_async_extra){
        row, index, slice->id, slice->start_thread, slice->end_thread, slice->group};
    if (slice->end_offset != TV_NO_OFFSET || slice->colour != 0)
        *tv_table_add(&tables->slice_extras) =
            (struct tv_slice_extra){row, index, slice->end_offset, slice->colour};
}

static void write_row(struct tv_async_plan *layout, const struct placed *placed, uint32_t row)
{
    struct tv_trace *trace = layout->trace;
    const struct tv_row *r = &trace->rows[row];
    struct tv_columns *columns = &trace->columns[r->columns];
    struct tv_place place = {r->first, r->first_block, 0, r->count};
    for (uint32_t i = 0; i < r->count; i++) {
        const struct item *item = &layout->items[placed[r->first + i].item];
        const struct tv_async_slice *slice = &layout->slices[item->slice];
        bool cpu = slice->cpu_start != TV_NO_TIME && slice->cpu_length != TV_NO_TIME;
        struct tv_slice_times times = {item->start, item->length, cpu ? slice->cpu_start : 0,
                                       cpu ? slice->cpu_length : 0};
        unsigned flags = item->flags;
        if (columns->cpu_start && !cpu)
            flags |= TV_SLICE_NO_CPU;
        columns->path[r->first + i] = item->path;
        columns->flags[r->first + i] = (uint8_t)flags;
        tv_columns_set_offset(columns, r->first + i, slice->offset);
        tv_place_slice(columns, &place, &times);
        add_extras(&trace->tables, slice, row, i);
    }
    tv_columns_rank(columns, r);
}

static unsigned clocks_of(const struct tv_async_plan *layout)
{
    for (size_t i = 0; i < layout->count; i++)
        if (layout->slices[i].cpu_start != TV_NO_TIME)
            return TV_CLOCK_WALL | TV_CLOCK_CPU;
    return TV_CLOCK_WALL;
}

static void write_columns(struct tv_async_plan *layout)
{
    struct tv_trace *trace = layout->trace;
    struct placed *placed = place_items(layout);
    uint32_t first_row = trace->row_count;
    trace->columns =
        tv_realloc(trace->columns, (size_t)trace->columns_count + 1, sizeof *trace->columns);
    struct tv_columns *columns = &trace->columns[trace->columns_count++];
    memset(columns, 0, sizeof *columns);
    add_rows(layout, placed, columns);
    tv_columns_init(columns, layout->count, columns->block_count, clocks_of(layout));
    tv_columns_add_offsets(columns, trace->head->inputs[layout->input].bytes);
    for (uint32_t row = first_row; row < trace->row_count; row++)
        write_row(layout, placed, row);
    tv_free(placed);
}

struct tv_async_plan *tv_async_plan_new(const struct tv_head *head,
                                        const struct tv_async_slice *slices, size_t count)
{
    struct tv_async_plan *plan = tv_alloc(1, sizeof *plan);
    if (count >= TV_NONE)
        tv_memory_exhausted();
    *plan = (struct tv_async_plan){
        .head = head,
        .slices = slices,
        .count = count,
        .items = tv_alloc(count, sizeof *plan->items),
        .item_of = tv_alloc(count, sizeof *plan->item_of),
        .tops = tv_alloc(count, sizeof *plan->tops),
    };
    sort_items(plan);
    find_tops(plan);
    /* Sorting the tops moves them: from here on items name them by their first slice. */
    for (size_t i = 0; i < count; i++)
        plan->items[i].top = plan->tops[plan->items[i].top].slice;
    share_tracks(plan);
    qsort(plan->tops, plan->top_count, sizeof *plan->tops, compare_tops);
    return plan;
}

void tv_async_plan_free(struct tv_async_plan *plan)
{
    if (!plan)
        return;
    tv_free(plan->items);
    tv_free(plan->item_of);
    tv_free(plan->tops);
    tv_free(plan);
}

void tv_assembly_async(struct tv_assembly *assembly, struct tv_async_plan *plan)
{
    plan->trace = assembly->trace;
    plan->input = assembly->input;
    if (plan->count > 0) {
        find_paths(plan);
        find_tracks(plan);
        write_columns(plan);
        plan->trace->slice_count += plan->count;
    }
    tv_async_plan_free(plan);
}
