/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Async slices find their tracks: those of one name and owner share lanes, as Trace Viewer lays
 * them out (trace-event.md section 4, "Async rows").
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"
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

/* Tracks, rows and paths have numbers of the plan's own, until it is carried out. */
struct tv_async_plan {
    const struct tv_head *head;
    size_t count;
    struct tv_paths paths;
    TV_TABLE(tv_track) tracks;
    struct tv_row *rows;
    uint32_t row_count;
    struct tv_columns columns;
    struct tv_async_extra *async_extras; /* [count] */
    TV_TABLE(tv_slice_extra) slice_extras;
    /* While it is made: */
    const struct tv_async_slice *slices;
    struct item *items; /* by nesting and start */
    uint32_t *item_of;  /* [slices] */
    struct top *tops;
    size_t top_count;
};

/* ---- What lies below what ---- */

/* Sorts by one number after the other, the one that counts least first. */
static void sort_by(struct tv_sort_key *order, size_t count, const void *rows,
                    uint64_t (*key)(const void *rows, uint64_t index))
{
    for (size_t i = 0; i < count; i++)
        order[i].key = key(rows, order[i].index);
    tv_sort_keys(order, count);
}

static struct tv_sort_key *new_order(size_t count)
{
    struct tv_sort_key *order = tv_alloc(count, sizeof *order);
    for (size_t i = 0; i < count; i++)
        order[i].index = i;
    return order;
}

static uint64_t slice_length(const void *slices, uint64_t index)
{
    return tv_sort_signed(((const struct tv_async_slice *)slices)[index].length);
}

static uint64_t slice_start(const void *slices, uint64_t index)
{
    return tv_sort_signed(((const struct tv_async_slice *)slices)[index].start);
}

static uint64_t place_nesting(const void *places, uint64_t index)
{
    return ((const struct tv_async_place *)places)[index].nesting;
}

/* By nesting, start, length and place among the slices. */
static void sort_items(struct tv_async_plan *layout)
{
    struct tv_async_place *places = tv_alloc(layout->count, sizeof *places);
    for (uint32_t i = 0; i < layout->count; i++) {
        uint32_t parent = layout->slices[i].parent;
        places[i].parent = parent;
        places[i].nesting = parent == TV_NONE ? 0 : places[parent].nesting + 1;
    }
    tv_async_join(layout->slices, layout->count, places);
    struct tv_sort_key *order = new_order(layout->count);
    sort_by(order, layout->count, layout->slices, slice_length);
    sort_by(order, layout->count, layout->slices, slice_start);
    sort_by(order, layout->count, places, place_nesting);
    for (uint32_t i = 0; i < layout->count; i++) {
        uint32_t slice = (uint32_t)order[i].index;
        layout->items[i] = (struct item){
            .start = layout->slices[slice].start,
            .length = layout->slices[slice].length,
            .slice = slice,
            .parent = places[slice].parent,
            .nesting = places[slice].nesting,
        };
        layout->item_of[slice] = i;
    }
    tv_free(order);
    tv_free(places);
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
        .process = slice->start_thread == TV_NONE ? slice->process
                                                  : head->threads[slice->start_thread].process,
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
        item->path = tv_paths_child(&layout->paths, above, layout->slices[item->slice].frame);
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

static uint64_t top_slice(const void *tops, uint64_t index)
{
    return ((const struct top *)tops)[index].slice;
}

static uint64_t top_start(const void *tops, uint64_t index)
{
    return tv_sort_signed(((const struct top *)tops)[index].start);
}

static uint64_t top_name(const void *tops, uint64_t index)
{
    const struct top *top = &((const struct top *)tops)[index];
    return (uint64_t)top->name << 32 | top->group;
}

static uint64_t top_owner(const void *tops, uint64_t index)
{
    const struct top *top = &((const struct top *)tops)[index];
    return (uint64_t)top->process << 32 | top->thread;
}

/* By owner, name, group, start and slice. Items then name them by the places that they have. */
static void sort_tops(struct tv_async_plan *layout)
{
    struct tv_sort_key *order = new_order(layout->top_count);
    struct top *sorted = tv_alloc(layout->top_count, sizeof *sorted);
    uint32_t *rank = tv_alloc(layout->count, sizeof *rank); /* by the first slice */
    sort_by(order, layout->top_count, layout->tops, top_slice);
    sort_by(order, layout->top_count, layout->tops, top_start);
    sort_by(order, layout->top_count, layout->tops, top_name);
    sort_by(order, layout->top_count, layout->tops, top_owner);
    for (uint32_t i = 0; i < layout->top_count; i++) {
        sorted[i] = layout->tops[order[i].index];
        rank[sorted[i].slice] = i;
    }
    for (size_t i = 0; i < layout->count; i++)
        layout->items[i].top = rank[layout->items[i].top];
    tv_free(layout->tops);
    tv_free(order);
    tv_free(rank);
    layout->tops = sorted;
}

static bool same_group(const struct top *a, const struct top *b)
{
    return a->process == b->process && a->thread == b->thread && a->name == b->name &&
           a->group == b->group;
}

static uint32_t add_track(struct tv_async_plan *layout, const struct top *top, uint32_t lane)
{
    *tv_table_add(&layout->tracks) = (struct tv_track){
        .kind = TV_TRACK_ASYNC,
        .name = top->name,
        .process = top->process,
        .lane = lane,
        .thread = top->thread,
        .first_wall = top->start,
        .last_wall = top->end,
    };
    return (uint32_t)layout->tracks.count - 1;
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
    struct tv_lanes lanes = {0};
    uint32_t first = 0;
    for (size_t i = 0; i < layout->top_count; i++) {
        struct top *top = &layout->tops[i];
        if (i == 0 || !same_group(top, top - 1)) {
            tv_lanes_release(&lanes);
            first = (uint32_t)layout->tracks.count;
        }
        size_t before = lanes.count;
        uint32_t lane = tv_lanes_take(&lanes, top->start, top->end);
        top->track = lane < before ? first + lane : add_track(layout, top, lane);
        join_track(&layout->tracks.rows[top->track], top);
    }
    tv_lanes_release(&lanes);
}

/* ---- Rows and columns ---- */

static uint32_t row_of(const struct tv_async_plan *layout, const struct item *item)
{
    return layout->tracks.rows[layout->tops[item->top].track].first_row + item->depth;
}

/* Each level of a track is a row. */
static void make_rows(struct tv_async_plan *layout)
{
    uint64_t first = 0, block = 0;
    for (size_t i = 0; i < layout->tracks.count; i++) {
        layout->tracks.rows[i].first_row = layout->row_count;
        layout->row_count += layout->tracks.rows[i].row_count;
    }
    layout->rows = tv_alloc(layout->row_count, sizeof *layout->rows);
    for (size_t i = 0; i < layout->tracks.count; i++)
        for (uint32_t depth = 0; depth < layout->tracks.rows[i].row_count; depth++) {
            struct tv_row *row = &layout->rows[layout->tracks.rows[i].first_row + depth];
            row->track = (uint32_t)i;
            row->depth = depth;
        }
    for (size_t i = 0; i < layout->count; i++) {
        layout->rows[row_of(layout, &layout->items[i])].count++;
        layout->tracks.rows[layout->tops[layout->items[i].top].track].slice_count++;
    }
    for (uint32_t i = 0; i < layout->row_count; i++) {
        layout->rows[i].first = first;
        layout->rows[i].first_block = block;
        first += layout->rows[i].count;
        block += tv_blocks_for(layout->rows[i].count);
    }
    layout->columns.block_count = block;
}

/* The items of each top one behind the other, in their order. */
static uint32_t *order_by_top(const struct tv_async_plan *layout)
{
    uint32_t *order = tv_alloc(layout->count, sizeof *order);
    uint32_t *next = tv_alloc(layout->top_count, sizeof *next), sum = 0;
    for (size_t i = 0; i < layout->count; i++)
        next[layout->items[i].top]++;
    for (size_t i = 0; i < layout->top_count; i++) {
        uint32_t count = next[i];
        next[i] = sum;
        sum += count;
    }
    for (uint32_t i = 0; i < layout->count; i++)
        order[next[layout->items[i].top]++] = i;
    tv_free(next);
    return order;
}

static void add_extras(struct tv_async_plan *layout, const struct tv_async_slice *slice,
                       uint32_t row, const struct tv_place *place)
{
    layout->async_extras[place->first + place->next] = (struct tv_async_extra){
        .row = row,
        .index = place->next,
        .id = slice->id,
        .start_thread = slice->start_thread,
        .end_thread = slice->end_thread,
        .group = slice->group,
        .lifetime = slice->lifetime,
    };
    if (slice->end_offset != TV_NO_OFFSET || slice->colour != 0)
        *tv_table_add(&layout->slice_extras) =
            (struct tv_slice_extra){.row = row,
                                    .index = place->next,
                                    .end_offset = slice->end_offset,
                                    .colour = slice->colour};
}

static void write_item(struct tv_async_plan *layout, const struct item *item,
                       struct tv_place *places)
{
    const struct tv_async_slice *slice = &layout->slices[item->slice];
    struct tv_columns *columns = &layout->columns;
    uint32_t row = row_of(layout, item);
    struct tv_place *place = &places[row];
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
    add_extras(layout, slice, row, place);
    tv_place_slice(columns, place, &times);
}

static void make_columns(struct tv_async_plan *layout)
{
    unsigned clocks = TV_CLOCK_WALL;
    uint64_t input_bytes = 0; /* as far as its slices reach */
    for (size_t i = 0; i < layout->count; i++) {
        const struct tv_async_slice *slice = &layout->slices[i];
        clocks |= slice->cpu_start != TV_NO_TIME ? (unsigned)TV_CLOCK_CPU : 0;
        input_bytes = slice->offset > input_bytes ? slice->offset : input_bytes;
    }
    tv_columns_init(&layout->columns, layout->count, layout->columns.block_count, clocks);
    tv_columns_add_offsets(&layout->columns, input_bytes);
}

/* Rows are filled in the order of the tops, those of one top by time. */
static void write_columns(struct tv_async_plan *layout)
{
    struct tv_place *places = tv_alloc(layout->row_count, sizeof *places);
    uint32_t *order = order_by_top(layout);
    make_columns(layout);
    layout->async_extras = tv_alloc(layout->count, sizeof *layout->async_extras);
    for (uint32_t i = 0; i < layout->row_count; i++)
        places[i] = (struct tv_place){layout->rows[i].first, layout->rows[i].first_block, 0,
                                      layout->rows[i].count};
    for (size_t i = 0; i < layout->count; i++)
        write_item(layout, &layout->items[order[i]], places);
    for (uint32_t i = 0; i < layout->row_count; i++)
        tv_columns_rank(&layout->columns, &layout->rows[i]);
    tv_free(places);
    tv_free(order);
}

static void lay_out(struct tv_async_plan *plan)
{
    plan->items = tv_alloc(plan->count, sizeof *plan->items);
    plan->item_of = tv_alloc(plan->count, sizeof *plan->item_of);
    plan->tops = tv_alloc(plan->count, sizeof *plan->tops);
    sort_items(plan);
    find_tops(plan);
    /* Sorting the tops moves them: from here on items name them by their first slice. */
    for (size_t i = 0; i < plan->count; i++)
        plan->items[i].top = plan->tops[plan->items[i].top].slice;
    share_tracks(plan);
    sort_tops(plan);
    find_paths(plan);
    find_tracks(plan);
    make_rows(plan);
    write_columns(plan);
    tv_free(plan->items);
    tv_free(plan->item_of);
    tv_free(plan->tops);
}

struct tv_async_plan *tv_async_plan_new(const struct tv_head *head,
                                        const struct tv_async_slice *slices, size_t count)
{
    struct tv_async_plan *plan = tv_alloc(1, sizeof *plan);
    if (count >= TV_NONE)
        tv_memory_exhausted();
    *plan = (struct tv_async_plan){.head = head, .slices = slices, .count = count};
    tv_paths_init(&plan->paths);
    if (count > 0)
        lay_out(plan);
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

/* ---- Carrying it out ---- */

static void add_tracks(struct tv_trace *trace, const struct tv_async_plan *plan, uint32_t input)
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

static void add_columns(struct tv_trace *trace, struct tv_async_plan *plan)
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

static void move_extras(struct tv_tables *tables, const struct tv_async_plan *plan,
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

void tv_assembly_async(struct tv_assembly *assembly, struct tv_async_plan *plan)
{
    struct tv_trace *trace = assembly->trace;
    if (plan->count > 0) {
        move_extras(&trace->tables, plan, trace->row_count);
        add_tracks(trace, plan, assembly->input);
        add_columns(trace, plan);
        trace->slice_count += plan->count;
    }
    tv_async_plan_free(plan);
}
