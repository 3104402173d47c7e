/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrows.c - the rows of the slices that arrows join.
 *
 * An arrow's end names its slice by the event that began it, or by a time:
 *
 *     TV_FT_BY_EVENT    thread, start and offset of the event       a search in the thread's rows
 *                       the offset alone: a slice of another        one walk over the rows of such
 *                       track, or an instant                        tracks and over the instants
 *     TV_FT_ENCLOSING   the slice around the time, or the one that  flow_binding.c of Trace Event
 *     TV_FT_NEXT        begins next after it
 *
 * All three need the rows, so this comes after the assembly has placed the slices.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"
#include "base/workers.h"
#include "readers/ftrace/merge.h"
#include "readers/trace_event/join/flows.h"

/* With fewer arrows, one worker looks up all. */
#define MIN_STRETCH 4096u

struct ft_flow_search {
    const struct tv_ft_merge *merge;
    struct tv_flow *flows; /* merge->flows; an end whose `index` is TV_NONE is not found */
    size_t count;
    unsigned workers;
};

/* ---- By the event: slices of threads ---- */

/* Lookups come nearly in time order, so `near` remembers, row by row, where the last one ended.
 * The caller frees it. */
static struct tv_search_hint *ft_flow_new_near(const struct tv_ft_merge *merge)
{
    return tv_alloc(merge->trace->row_count, sizeof(struct tv_search_hint));
}

static void ft_flow_find_end(const struct tv_ft_merge *merge, const struct tv_ft_flow_end *end,
                             struct tv_search_hint *near, struct tv_flow_end *found)
{
    struct tv_slice_query sought = {end->thread, end->start, end->offset, near};
    *found = (struct tv_flow_end){end->time, TV_NONE, TV_NONE};
    if (end->thread == TV_NONE || end->binding != TV_FT_BY_EVENT)
        return;
    if (!tv_assembly_find_slice(merge->assembly, &sought, &found->row, &found->index))
        found->row = found->index = TV_NONE;
}

/* Store the events that end slices, for describe. */
static void ft_flow_place_ends(struct tv_ft_merge *merge)
{
    struct tv_search_hint *near = ft_flow_new_near(merge);
    for (size_t i = 0; i < merge->slice_ends.count; i++) {
        const struct tv_ft_slice_end *end = &merge->slice_ends.rows[i];
        struct tv_flow_end found;
        ft_flow_find_end(merge, &end->slice, near, &found);
        if (found.index != TV_NONE)
            *tv_table_add(&merge->trace->tables.slice_extras) = (struct tv_slice_extra){
                .row = found.row, .index = found.index, .end_offset = end->end_offset};
    }
    tv_free(near);
}

/* Look up a range of the arrows. */
static void ft_flow_find_range(void *context, unsigned index)
{
    struct ft_flow_search *search = context;
    size_t stretch = search->count / search->workers + 1;
    size_t end = stretch * (index + 1) < search->count ? stretch * (index + 1) : search->count;
    struct tv_search_hint *near = ft_flow_new_near(search->merge);
    for (size_t i = stretch * index; i < end; i++) {
        const struct tv_ft_flow *arrow = &search->merge->flows.rows[i];
        struct tv_flow *flow = &search->flows[i];
        *flow = (struct tv_flow){
            .offset = arrow->offset,
            .end_offset = arrow->end_offset,
            .frame = arrow->frame,
            .id = arrow->id,
            .input = search->merge->input,
        };
        ft_flow_find_end(search->merge, &arrow->from, near, &flow->from);
        ft_flow_find_end(search->merge, &arrow->to, near, &flow->to);
    }
    tv_free(near);
}

/* ---- Ends that are not found so ---- */

/* An end of an arrow, and where its row is stored. */
struct ft_open_end {
    const struct tv_ft_flow_end *end;
    struct tv_flow_end *found;
};

struct ft_open_ends {
    TV_TABLE(ft_open_end) by_event, by_time;
};

static void ft_open_end_add(struct ft_open_ends *ends, const struct tv_ft_flow_end *end,
                            struct tv_flow_end *found)
{
    if (found->index != TV_NONE)
        return;
    struct ft_open_end row = {end, found};
    if (end->binding == TV_FT_BY_EVENT)
        *tv_table_add(&ends->by_event) = row;
    else if (end->thread != TV_NONE)
        *tv_table_add(&ends->by_time) = row;
}

/* ---- By the event: slices of other tracks, and instants ---- */

/* Offsets of the events that are sought, in their order. */
struct ft_sought_offsets {
    const struct ft_open_end *ends;
    struct tv_sort_key *keys; /* offset; number in `ends` */
    size_t count;
};

/* Give a slice or an instant to the ends that seek the event at this offset. */
static void ft_offset_found(const struct ft_sought_offsets *sought, uint64_t offset, uint32_t row,
                            uint32_t index)
{
    if (offset < sought->keys[0].key || offset > sought->keys[sought->count - 1].key)
        return;
    size_t at = 0;
    TV_LOWER_BOUND(at, sought->count, i, sought->keys[i].key < offset);
    for (; at < sought->count && sought->keys[at].key == offset; at++) {
        struct tv_flow_end *found = sought->ends[sought->keys[at].index].found;
        if (found->index != TV_NONE)
            continue;
        found->row = row;
        found->index = index;
    }
}

/* Find the async slices and instants at the sought offsets, in one pass. */
static void ft_offsets_seek(const struct tv_ft_merge *merge, const struct ft_sought_offsets *sought)
{
    const struct tv_trace *trace = merge->trace;
    for (uint32_t row = 0; row < trace->row_count; row++)
        if (trace->rows[row].input == merge->input &&
            trace->tracks[trace->rows[row].track].kind == TV_TRACK_ASYNC)
            for (uint32_t i = 0; i < trace->rows[row].count; i++)
                ft_offset_found(sought, tv_slice_offset(trace, row, i), row, i);
    for (size_t i = 0; i < trace->tables.instants.count; i++)
        if (trace->tables.instants.rows[i].input == merge->input)
            ft_offset_found(sought, trace->tables.instants.rows[i].offset, TV_NONE, (uint32_t)i);
}

static void ft_flow_find_by_event(const struct tv_ft_merge *merge, const struct ft_open_end *ends,
                                  size_t count)
{
    if (count == 0)
        return;
    struct ft_sought_offsets sought = {.ends = ends, .count = count};
    sought.keys = tv_alloc(count, sizeof *sought.keys);
    for (size_t i = 0; i < count; i++)
        sought.keys[i] = (struct tv_sort_key){ends[i].end->offset, i};
    tv_sort_keys(sought.keys, count);
    ft_offsets_seek(merge, &sought);
    tv_free(sought.keys);
}

/* ---- By the time ---- */

/* Find the slices of ends of flows that are bound by time: the one around, or the next one. */
static void ft_flow_find_by_time(const struct tv_ft_merge *merge, const struct ft_open_end *ends,
                                 size_t count, unsigned workers)
{
    if (count == 0)
        return;
    struct tv_te_flow_event *queries = tv_alloc(count, sizeof *queries);
    struct tv_sort_key *keys = tv_alloc(count, sizeof *keys);
    uint32_t *order = tv_alloc(count, sizeof *order);
    assert(count < TV_NONE);
    for (size_t i = 0; i < count; i++) {
        const struct tv_ft_flow_end *end = ends[i].end;
        queries[i] = (struct tv_te_flow_event){
            .time = end->time,
            .offset = end->offset & TV_OFFSET_MASK,
            .next = end->binding == TV_FT_NEXT,
            .asks = 1,
            .of = end->thread,
            .row = TV_NONE,
            .index = TV_NONE,
        };
        keys[i] = (struct tv_sort_key){tv_sort_signed(end->time), i};
    }
    tv_sort_keys(keys, count);
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)keys[i].index;
    const struct tv_te_binding_queries all = {queries, order, count,
                                              merge->trace->offset[merge->input]};
    tv_te_flows_bind(merge->assembly, merge->trace, &all, workers);
    tv_te_flows_bind_instants(merge->trace, merge->input, &all);
    for (size_t i = 0; i < count; i++) {
        ends[i].found->row = queries[i].row;
        ends[i].found->index = queries[i].index;
    }
    tv_free(queries);
    tv_free(keys);
    tv_free(order);
}

/* ---- All arrows ---- */

static void ft_flow_find_open_ends(const struct ft_flow_search *search)
{
    struct ft_open_ends open = {0};
    for (size_t i = 0; i < search->count; i++) {
        ft_open_end_add(&open, &search->merge->flows.rows[i].from, &search->flows[i].from);
        ft_open_end_add(&open, &search->merge->flows.rows[i].to, &search->flows[i].to);
    }
    ft_flow_find_by_event(search->merge, open.by_event.rows, open.by_event.count);
    ft_flow_find_by_time(search->merge, open.by_time.rows, open.by_time.count, search->workers);
    tv_free(open.by_event.rows);
    tv_free(open.by_time.rows);
}

void tv_ft_merge_flows(struct tv_ft_merge *merge)
{
    struct ft_flow_search search = {.merge = merge, .count = merge->flows.count, .workers = 1};
    search.flows = tv_alloc(search.count, sizeof *search.flows);
    /* Use as many workers as read the file. */
    if (search.count >= MIN_STRETCH)
        search.workers = (unsigned)merge->reader_count;
    ft_flow_place_ends(merge);
    tv_workers_run(search.workers, ft_flow_find_range, &search);
    ft_flow_find_open_ends(&search);
    for (size_t i = 0; i < search.count; i++) {
        const struct tv_flow *flow = &search.flows[i];
        if (flow->from.index != TV_NONE && flow->to.index != TV_NONE)
            *tv_table_add(&merge->trace->tables.flows) = *flow;
        else
            tv_diagnostics_add(&merge->trace->head->diagnostics, TV_DIAGNOSTIC_FLOW_NO_SLICE,
                               flow->offset);
    }
    tv_free(search.flows);
}
