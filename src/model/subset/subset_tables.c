/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subset_tables.c - copies the selected rows of each table.
 *
 * Slices get new places when some of them are left out, and rows of other tables refer to slices by
 * their place.  So the references are collected before the slices are copied, and looked up after:
 *
 *     collect   the slices that a wait, a flow or an extra refers to, sorted by (row, index)
 *     copy      subset.c walks each row in order and notes the new place of its references
 *     look up   each row of a table is copied with the new place, or left out when there is none
 *
 * Memory is thus proportional to the references and not to the slices, which are many more.
 */
#include "model/subset/subset_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "model/tables.h"

/* ---- References ---- */

/* Find the slice that waited.  A wait names a depth and a time, and no index. */
static bool subset_find_waiter(const struct tv_trace *trace, const struct tv_track *track,
                               const struct tv_wait *wait, uint32_t *row, uint32_t *index)
{
    tv_ns tick = trace->head->inputs[track->input].tick_ns;
    if (wait->depth >= track->row_count)
        return false;
    *row = track->first_row + wait->depth;
    *index = tv_row_find(trace, *row, wait->start * tick + trace->offset[track->input]);
    return *index < trace->rows[*row].count;
}

struct refs_collection {
    struct tv_sort_key *keys;
    size_t count;
};

static void refs_add(struct refs_collection *gathering, uint32_t row, uint32_t index)
{
    gathering->keys[gathering->count++] = (struct tv_sort_key){(uint64_t)row << 32 | index, 0};
}

static size_t refs_count_waits(const struct tv_trace *trace)
{
    size_t count = 0;
    for (uint32_t i = 0; i < trace->track_count; i++)
        count += trace->tracks[i].wait_count;
    return count;
}

static void refs_add_waiters(struct refs_collection *gathering, const struct tv_trace *trace)
{
    for (uint32_t i = 0; i < trace->track_count; i++) {
        const struct tv_track *track = &trace->tracks[i];
        uint32_t row, index;
        for (uint32_t j = 0; j < track->wait_count; j++)
            if (subset_find_waiter(trace, track, &track->waits[j], &row, &index))
                refs_add(gathering, row, index);
    }
}

static void refs_add_flow_end(struct refs_collection *gathering, const struct tv_flow_end *end)
{
    if (end->row != TV_NONE)
        refs_add(gathering, end->row, end->index);
}

void tv_subset_refs_collect(struct tv_subset_refs *refs, const struct tv_trace *trace)
{
    const struct tv_tables *tables = &trace->tables;
    size_t most = refs_count_waits(trace) + tables->flows.count * 2 + tables->slice_extras.count +
                  tables->async_extras.count;
    struct refs_collection gathering = {tv_alloc(most, sizeof *gathering.keys), 0};
    refs_add_waiters(&gathering, trace);
    for (size_t i = 0; i < tables->flows.count; i++) {
        refs_add_flow_end(&gathering, &tables->flows.rows[i].from);
        refs_add_flow_end(&gathering, &tables->flows.rows[i].to);
    }
    for (size_t i = 0; i < tables->slice_extras.count; i++)
        refs_add(&gathering, tables->slice_extras.rows[i].row, tables->slice_extras.rows[i].index);
    for (size_t i = 0; i < tables->async_extras.count; i++)
        refs_add(&gathering, tables->async_extras.rows[i].row, tables->async_extras.rows[i].index);
    tv_sort_keys(gathering.keys, gathering.count);
    refs->rows = tv_alloc(gathering.count, sizeof *refs->rows);
    refs->count = 0;
    for (size_t i = 0; i < gathering.count; i++) {
        uint64_t key = gathering.keys[i].key;
        if (i > 0 && key == gathering.keys[i - 1].key)
            continue;
        refs->rows[refs->count++] =
            (struct tv_subset_ref){(uint32_t)(key >> 32), (uint32_t)key, TV_NONE, 0, false};
    }
    tv_free(gathering.keys);
}

void tv_subset_refs_release(struct tv_subset_refs *refs)
{
    tv_free(refs->rows);
    *refs = (struct tv_subset_refs){NULL, 0};
}

static bool ref_is_before(const struct tv_subset_ref *ref, uint32_t row, uint32_t index)
{
    return ref->row != row ? ref->row < row : ref->index < index;
}

/* Return the first reference at or after a slice. */
static size_t refs_lower_bound(const struct tv_subset_refs *refs, uint32_t row, uint32_t index)
{
    size_t low = 0;
    TV_LOWER_BOUND(low, refs->count, i, ref_is_before(&refs->rows[i], row, index));
    return low;
}

void tv_subset_refs_of_row(const struct tv_subset_refs *refs, uint32_t row,
                           struct tv_subset_ref **first, struct tv_subset_ref **end)
{
    *first = *end = NULL;
    if (refs->count == 0)
        return;
    *first = refs->rows + refs_lower_bound(refs, row, 0);
    *end = refs->rows + refs_lower_bound(refs, row + 1, 0);
}

static const struct tv_subset_ref *refs_get(const struct tv_subset_refs *refs, uint32_t row,
                                            uint32_t index)
{
    size_t at = refs_lower_bound(refs, row, index);
    assert(at < refs->count && refs->rows[at].row == row && refs->rows[at].index == index);
    return &refs->rows[at];
}

/* ---- Tables that refer to slices ---- */

/* Clip a wait; return false when it is outside of the range. */
static bool subset_clip_wait(const struct tv_trace *from, const struct tv_track *track,
                             const struct tv_subset_range *range, struct tv_wait *wait)
{
    int64_t tick = from->head->inputs[track->input].tick_ns;
    tv_ns offset = from->offset[track->input];
    if (!range)
        return true;
    int64_t first = (range->from - offset) / tick, behind = (range->to - offset) / tick;
    int64_t start = wait->start > first ? wait->start : first;
    int64_t end = wait->start + wait->length < behind ? wait->start + wait->length : behind;
    wait->start = start;
    wait->length = end - start;
    return end > start;
}

/* Copy the waits of the tracks that stay; made[] maps old to new tracks.  The waiting call may have
 * moved to another depth, and its path belongs to the new tree. */
static void subset_waits(struct tv_trace *to, const struct tv_trace *from,
                         const struct tv_subset_range *range, const struct tv_subset_refs *refs,
                         const uint32_t *made)
{
    for (uint32_t i = 0; i < from->track_count; i++) {
        const struct tv_track *track = &from->tracks[i];
        uint32_t row, index;
        if (made[i] == TV_NONE || track->wait_count == 0)
            continue;
        struct tv_track *own = &to->tracks[made[i]];
        own->waits = tv_alloc(track->wait_count, sizeof *own->waits);
        for (uint32_t j = 0; j < track->wait_count; j++) {
            if (!subset_find_waiter(from, track, &track->waits[j], &row, &index))
                continue;
            const struct tv_subset_ref *ref = refs_get(refs, row, index);
            if (ref->new_row == TV_NONE)
                continue;
            struct tv_wait *wait = &own->waits[own->wait_count];
            *wait = track->waits[j];
            if (!subset_clip_wait(from, track, range, wait))
                continue;
            own->wait_count++;
            wait->depth = ref->new_row - own->first_row;
            wait->path = tv_slice_get(to, ref->new_row, ref->new_index).path;
        }
    }
}

/* Update a flow end; return false when it is gone.  instants[] maps old to new numbers.  `own`: an
 * ancestor does not count. */
static bool subset_move_flow_end(struct tv_flow_end *end, const struct tv_subset_refs *refs,
                                 const uint32_t *instants, bool own)
{
    if (end->row == TV_NONE) {
        end->index = instants[end->index];
        return end->index != TV_NONE;
    }
    const struct tv_subset_ref *ref = refs_get(refs, end->row, end->index);
    end->row = ref->new_row;
    end->index = ref->new_index;
    return ref->new_row != TV_NONE && (ref->kept || !own);
}

static bool subset_is_in_range(const struct tv_trace *trace, const struct tv_subset_range *range,
                               uint32_t input, tv_ns time)
{
    time = tv_trace_time(trace, input, time);
    return !range || (time >= range->from && time < range->to);
}

static bool flow_ends_are_equal(const struct tv_flow_end *a, const struct tv_flow_end *b)
{
    return a->row == b->row && a->index == b->index;
}

/* Drop a flow that would lead from a slice to itself, unless it did so before. */
static void subset_flows(struct tv_tables *to, const struct tv_trace *trace,
                         const struct tv_subset_filter *filter, const struct tv_subset_refs *refs,
                         const uint32_t *instants)
{
    for (size_t i = 0; i < trace->tables.flows.count; i++) {
        const struct tv_flow *old = &trace->tables.flows.rows[i];
        struct tv_flow flow = *old;
        bool there = subset_move_flow_end(&flow.from, refs, instants, filter->own_ends) &&
                     subset_move_flow_end(&flow.to, refs, instants, filter->own_ends) &&
                     subset_is_in_range(trace, filter->range, flow.input, flow.from.time) &&
                     subset_is_in_range(trace, filter->range, flow.input, flow.to.time);
        if (there && (!flow_ends_are_equal(&flow.from, &flow.to) ||
                      flow_ends_are_equal(&old->from, &old->to)))
            *tv_table_add(&to->flows) = flow;
    }
}

/* Copy the extras of kept slices.  An extra describes its slice alone, so the nearest kept
 * ancestor, which takes over flows and waits, does not get it. */
static void subset_extras(struct tv_tables *to, const struct tv_tables *from,
                          const struct tv_subset_refs *refs)
{
    for (size_t i = 0; i < from->slice_extras.count; i++) {
        struct tv_slice_extra extra = from->slice_extras.rows[i];
        const struct tv_subset_ref *ref = refs_get(refs, extra.row, extra.index);
        if (!ref->kept)
            continue;
        extra.row = ref->new_row;
        extra.index = ref->new_index;
        *tv_table_add(&to->slice_extras) = extra;
    }
    for (size_t i = 0; i < from->async_extras.count; i++) {
        struct tv_async_extra extra = from->async_extras.rows[i];
        const struct tv_subset_ref *ref = refs_get(refs, extra.row, extra.index);
        if (!ref->kept)
            continue;
        extra.row = ref->new_row;
        extra.index = ref->new_index;
        *tv_table_add(&to->async_extras) = extra;
    }
}

/* ---- Other tables ---- */

#define COPY_TABLE(to, from, table, condition)                                                     \
    for (size_t i = 0; i < (from)->table.count; i++)                                               \
        if (condition)                                                                             \
    *tv_table_add(&(to)->table) = (from)->table.rows[i]

static bool subset_keeps(const bool *which, size_t number)
{
    return !which || which[number];
}

static bool subset_keeps_thread(const struct tv_subset_filter *filter, uint32_t thread)
{
    return !filter->threads || (thread != TV_NONE && filter->threads[thread]);
}

/* instants[] becomes the map from old to new numbers, or TV_NONE. */
static void subset_instants(struct tv_tables *to, const struct tv_tables *from, const bool *kept,
                            uint32_t *instants)
{
    for (size_t i = 0; i < from->instants.count; i++) {
        instants[i] = subset_keeps(kept, i) ? (uint32_t)to->instants.count : TV_NONE;
        if (instants[i] != TV_NONE)
            *tv_table_add(&to->instants) = from->instants.rows[i];
    }
}

/* Return the samples of a counter in the range.  The first one may precede it, because its value
 * holds at the start of the range. */
static void subset_find_counter_samples(const struct tv_trace *trace,
                                        const struct tv_counter *counter,
                                        const struct tv_subset_range *range, uint32_t *first,
                                        uint32_t *end)
{
    *first = 0;
    *end = counter->sample_count;
    if (!range || counter->sample_count == 0)
        return;
    const tv_ns *times = trace->tables.counter_times + counter->first_sample;
    while (*end > 0 && tv_trace_time(trace, counter->input, times[*end - 1]) >= range->to)
        --*end;
    while (*first + 1 < *end &&
           tv_trace_time(trace, counter->input, times[*first + 1]) <= range->from)
        ++*first;
}

/* Copy a counter with its samples in the range.  A sample before the range, whose value still holds
 * there, moves to the start of the range. */
static void subset_counter(struct tv_tables *to, const struct tv_trace *trace,
                           const struct tv_counter *counter, const struct tv_subset_range *range)
{
    const struct tv_tables *from = &trace->tables;
    struct tv_counter cut = *counter;
    uint32_t first, end, *names;
    subset_find_counter_samples(trace, counter, range, &first, &end);
    if (first == end)
        return;
    cut.sample_count = end - first;
    names = tv_alloc(counter->series_count, sizeof *names);
    for (uint32_t j = 0; j < counter->series_count; j++)
        names[j] = from->series.rows[counter->first_series + j].name;
    tv_tables_add_counter(to, &cut, names, from->counter_times + counter->first_sample + first,
                          from->counter_offsets + counter->first_sample + first,
                          from->counter_values + counter->first_value +
                              (size_t)first * counter->series_count);
    tv_free(names);
    tv_ns *time = &to->counter_times[to->counters.rows[to->counters.count - 1].first_sample];
    if (range && tv_trace_time(trace, counter->input, *time) < range->from)
        *time = range->from - trace->offset[counter->input];
}

static void subset_counters(struct tv_tables *to, const struct tv_trace *trace,
                            const struct tv_subset_filter *filter)
{
    for (size_t i = 0; i < trace->tables.counters.count; i++)
        if (subset_keeps(filter->counters, i))
            subset_counter(to, trace, &trace->tables.counters.rows[i], filter->range);
}

/* Clip the lifetime of an object to the range. */
static void subset_clip_object(const struct tv_trace *trace, const struct tv_subset_range *range,
                               struct tv_object *object)
{
    tv_ns offset = trace->offset[object->input];
    if (!range)
        return;
    if (object->created + offset < range->from)
        object->created = range->from - offset;
    if (object->deleted + offset < range->to)
        return;
    object->deleted = range->to - offset;
    object->flags &= (uint8_t)~TV_OBJECT_DELETED;
}

/* Copy the snapshots in the range, and the one that is valid at its start. */
static void subset_snapshots(struct tv_tables *to, const struct tv_trace *trace,
                             const struct tv_object *old, const struct tv_subset_range *range)
{
    struct tv_object *object = &to->objects.rows[to->objects.count - 1];
    object->first_snapshot = (uint32_t)to->snapshots.count;
    object->snapshot_count = 0;
    if (old->snapshot_count == 0) /* the table may be empty */
        return;
    const struct tv_snapshot *rows = &trace->tables.snapshots.rows[old->first_snapshot];
    for (uint32_t i = 0; i < old->snapshot_count; i++) {
        bool held = i + 1 == old->snapshot_count ||
                    tv_trace_time(trace, old->input, rows[i + 1].time) > (range ? range->from : 0);
        tv_ns time = tv_trace_time(trace, old->input, rows[i].time);
        if (range && (time >= range->to || (time < range->from && !held)))
            continue;
        struct tv_snapshot *snapshot = tv_table_add(&to->snapshots);
        *snapshot = rows[i];
        snapshot->object = (uint32_t)(to->objects.count - 1);
        if (range && time < range->from)
            snapshot->time = range->from - trace->offset[old->input];
        object->snapshot_count++;
    }
}

/* Copy the objects; snapshots of one object stay together and in order. */
static void subset_objects(struct tv_tables *to, const struct tv_trace *trace,
                           const struct tv_subset_filter *filter)
{
    const struct tv_tables *from = &trace->tables;
    uint32_t *numbers = tv_alloc(from->objects.count, sizeof *numbers);
    size_t keys = 0;
    for (size_t i = 0; i < from->objects.count; i++) {
        numbers[i] = subset_keeps(filter->objects, i) ? (uint32_t)to->objects.count : TV_NONE;
        if (numbers[i] == TV_NONE)
            continue;
        struct tv_object *object = tv_table_add(&to->objects);
        *object = from->objects.rows[i];
        subset_clip_object(trace, filter->range, object);
        subset_snapshots(to, trace, &from->objects.rows[i], filter->range);
    }
    to->object_keys = tv_alloc(to->objects.count, sizeof *to->object_keys);
    for (size_t i = 0; i < from->objects.count; i++) {
        struct tv_object_key key = from->object_keys[i];
        key.object = numbers[key.object];
        if (key.object != TV_NONE)
            to->object_keys[keys++] = key;
    }
    tv_free(numbers);
}

/* Copy the selected memory dumps with their figures. */
static void subset_memory_dumps(struct tv_tables *to, const struct tv_tables *from,
                                const bool *kept)
{
    for (size_t i = 0; i < from->memory_dumps.count; i++) {
        const struct tv_memory_dump *dump = &from->memory_dumps.rows[i];
        uint32_t first = (uint32_t)to->memory_figures.count;
        if (!subset_keeps(kept, i))
            continue;
        for (uint32_t j = 0; j < dump->figure_count; j++)
            *tv_table_add(&to->memory_figures) = from->memory_figures.rows[dump->first_figure + j];
        struct tv_memory_dump *added = tv_table_add(&to->memory_dumps);
        *added = *dump;
        added->first_figure = first;
    }
}

/* ---- Stacks ---- */

/* Return the new path of a stack without the frames that are dropped; `map` is a cache. */
static uint32_t subset_path(struct tv_trace *to, const struct tv_path_node *nodes, uint32_t path,
                            const bool *frames, uint32_t *map)
{
    uint32_t known = path, *chain, count = 0;
    while (map[known] == TV_NONE) {
        known = nodes[known].parent;
        count++;
    }
    if (count == 0)
        return map[path];
    chain = tv_alloc(count, sizeof *chain);
    for (uint32_t node = path, i = count; i > 0; node = nodes[node].parent)
        chain[--i] = node;
    for (uint32_t i = 0; i < count; i++) {
        const struct tv_path_node *node = &nodes[chain[i]];
        uint32_t parent = map[node->parent];
        map[chain[i]] = subset_keeps(frames, node->frame)
                            ? tv_paths_child(&to->paths, parent, node->frame)
                            : parent;
    }
    tv_free(chain);
    return map[path];
}

static uint32_t *subset_new_path_map(const struct tv_paths *paths)
{
    uint32_t *map = tv_alloc(paths->count, sizeof *map);
    memset(map, 0xff, paths->count * sizeof *map);
    map[TV_ROOT_PATH] = TV_ROOT_PATH;
    return map;
}

/* Copy the selected samples. Frames that are not selected leave their stacks; a stack without any
 * is dropped. */
static void subset_samples(struct tv_trace *to, const struct tv_trace *from,
                           const struct tv_subset_filter *filter)
{
    if (from->tables.samples.count == 0)
        return;
    uint32_t *map = subset_new_path_map(&from->paths);
    for (size_t i = 0; i < from->tables.samples.count; i++) {
        struct tv_sample sample = from->tables.samples.rows[i];
        bool had_stack = sample.path != TV_ROOT_PATH;
        if (!subset_keeps(filter->samples, i))
            continue;
        sample.line_path =
            sample.line_path == sample.path
                ? TV_NONE
                : subset_path(to, from->paths.nodes, sample.line_path, filter->frames, map);
        sample.path = subset_path(to, from->paths.nodes, sample.path, filter->frames, map);
        if (sample.line_path == TV_NONE)
            sample.line_path = sample.path;
        if (sample.path != TV_ROOT_PATH || (!had_stack && !filter->frames))
            *tv_table_add(&to->tables.samples) = sample;
    }
    tv_free(map);
}

/* Events refer to these entries, whatever is selected. */
static void subset_copy_stack_frames(struct tv_trace *to, const struct tv_trace *from)
{
    if (from->tables.stack_frames.count == 0)
        return;
    uint32_t *map = subset_new_path_map(&from->paths);
    for (size_t i = 0; i < from->tables.stack_frames.count; i++) {
        struct tv_stack_frame frame = from->tables.stack_frames.rows[i];
        frame.path = subset_path(to, from->paths.nodes, frame.path, NULL, map);
        *tv_table_add(&to->tables.stack_frames) = frame;
    }
    tv_free(map);
}

/* Copy the contexts of selected threads, clipped to the range. */
static void subset_contexts(struct tv_tables *to, const struct tv_trace *trace,
                            const struct tv_subset_filter *filter)
{
    for (size_t i = 0; i < trace->tables.contexts.count; i++) {
        struct tv_context context = trace->tables.contexts.rows[i];
        tv_ns offset = trace->offset[context.input];
        const struct tv_subset_range *range = filter->range;
        if (!subset_keeps_thread(filter, context.thread) ||
            (range && (context.start + offset >= range->to || context.end + offset <= range->from)))
            continue;
        if (range && context.start + offset < range->from)
            context.start = range->from - offset;
        if (range && context.end + offset > range->to)
            context.end = range->to - offset;
        *tv_table_add(&to->contexts) = context;
    }
}

void tv_subset_tables(struct tv_trace *to, const struct tv_trace *from,
                      const struct tv_subset_filter *filter, const struct tv_subset_refs *refs,
                      const uint32_t *made)
{
    struct tv_tables *t = &to->tables;
    const struct tv_tables *f = &from->tables;
    uint32_t *instants = tv_alloc(f->instants.count, sizeof *instants);
    subset_waits(to, from, filter->range, refs, made);
    subset_instants(t, f, filter->instants, instants);
    subset_flows(t, from, filter, refs, instants);
    subset_extras(t, f, refs);
    subset_counters(t, from, filter);
    subset_objects(t, from, filter);
    subset_memory_dumps(t, f, filter->memory_dumps);
    COPY_TABLE(t, f, value_types, true);
    COPY_TABLE(t, f, event_types, true);
    subset_samples(to, from, filter);
    subset_copy_stack_frames(to, from);
    subset_contexts(t, from, filter);
    COPY_TABLE(t, f, wakeups,
               subset_keeps_thread(filter, f->wakeups.rows[i].thread) &&
                   subset_is_in_range(from, filter->range, f->wakeups.rows[i].input,
                                      f->wakeups.rows[i].time));
    COPY_TABLE(t, f, blockings,
               subset_keeps_thread(filter, f->blockings.rows[i].thread) &&
                   subset_is_in_range(from, filter->range, f->blockings.rows[i].input,
                                      f->blockings.rows[i].time));
    COPY_TABLE(t, f, joins, true);
    COPY_TABLE(t, f, clock_syncs, true);
    COPY_TABLE(t, f, known_names, true);
    COPY_TABLE(t, f, task_facts, true);
    tv_tables_finish(t);
    tv_free(instants);
}
