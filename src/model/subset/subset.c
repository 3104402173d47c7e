/* SPDX-License-Identifier: Apache-2.0 */
/*
 * subset.c - copies the selected slices to new rows in two walks over each track.
 *
 * A walk visits each call before the calls it made.  The first walk counts the slices for each new
 * depth; the second writes them.  So slices arrive in their new rows in order of time, parents
 * before children:
 *
 *     old depth   0  a*          new depth   0  a*
 *                 1  b                       1  d*        b is not selected, so a becomes the
 *                 2  d*                                   parent of d
 *
 * Each worker gets consecutive tracks, with paths and wide times of its own, which are merged in
 * the order of the tracks: the result does not depend on the number of workers.
 *
 * Both walks must take the same decisions, as `places` has room for exactly the counted slices.
 * Other tables that name a slice (flows, extras) ask where it went: their references are sorted by
 * row and index, and the second walk answers each as it passes the slice.
 */
#include "model/subset/subset.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/workers.h"
#include "model/columns.h"
#include "model/subset/subset_internal.h"

void tv_slice_set_init(struct tv_slice_set *set, const struct tv_trace *trace)
{
    set->columns_count = trace->columns_count;
    set->bits = tv_alloc(trace->columns_count, sizeof *set->bits);
    for (uint32_t i = 0; i < trace->columns_count; i++)
        set->bits[i] = tv_alloc((size_t)(trace->columns[i].count / 64 + 1), sizeof *set->bits[i]);
}

void tv_slice_set_release(struct tv_slice_set *set)
{
    for (uint32_t i = 0; i < set->columns_count; i++)
        tv_free(set->bits[i]);
    tv_free(set->bits);
    *set = (struct tv_slice_set){NULL, 0};
}

void tv_subset_filter_release(struct tv_subset_filter *filter)
{
    tv_slice_set_release(&filter->slices);
    tv_free(filter->instants);
    tv_free(filter->counters);
    tv_free(filter->objects);
    tv_free(filter->samples);
    tv_free(filter->memory_dumps);
}

/* A level of the walk and, by the same index, a new depth. */
struct subset_level {
    const uint8_t *flags;
    uint64_t first; /* of the row, in the columns */
    uint32_t row, count, next;
    uint32_t depth;                       /* new depth of a selected slice of this level */
    struct tv_subset_ref *ref, *refs_end; /* refs to slices of this level from here on */
    /* The last slice written at this new depth: */
    uint64_t at;
    uint32_t path, index;
};

/* Cache: the new path that an old one became under some new parent. */
struct subset_recent_path {
    uint32_t parent, path; /* path 0: empty */
};

/* The range on the clocks of a track's input, ticks. */
struct subset_edges {
    int64_t from, to; /* on the axis */
    int64_t cpu_from, cpu_to;
};

struct subset_work {
    const struct tv_trace *from;
    const struct tv_subset_filter *filter;
    struct tv_trace *to;
    struct tv_subset_refs refs;
    struct subset_level *levels;
    size_t level_capacity, row_capacity;
    struct tv_row_writer *places; /* [new depth] of the current track */
    size_t place_capacity;
    struct subset_recent_path *recent; /* [from->paths.count] */
    /* Destination of the slices: columns of `to` with wide times of the worker, and paths of the
     * worker; worker 0 uses those of `to`. */
    struct tv_columns *columns;
    struct tv_paths *paths, own_paths;
    struct subset_edges edges; /* edges of the current track, if the filter has a range */
};

/* ---- Walking ---- */

/* Start a walk at the first slice of each row of a track. */
static void subset_open_track(struct subset_work *s, const struct tv_track *track)
{
    const struct tv_trace *from = s->from;
    s->levels = tv_array_reserve(s->levels, &s->level_capacity, (size_t)track->row_count + 1,
                                 sizeof *s->levels);
    for (uint32_t i = 0; i < track->row_count; i++) {
        uint32_t row = track->first_row + i;
        const struct tv_row *r = &from->rows[row];
        assert(r->columns == from->rows[track->first_row].columns);
        s->levels[i] = (struct subset_level){
            .flags = from->columns[r->columns].flags + r->first,
            .first = r->first,
            .row = row,
            .count = r->count,
        };
        tv_subset_refs_of_row(&s->refs, row, &s->levels[i].ref, &s->levels[i].refs_end);
    }
    s->levels[track->row_count] = (struct subset_level){.count = 0};
}

/* Move from a finished slice to the level of the next one; return false at the end. */
TV_INLINE bool subset_next_level(const struct subset_level *levels, uint32_t *level)
{
    const struct subset_level *l = &levels[*level];
    while (*level > 0 && (l->next == l->count || l->flags[l->next] & TV_SLICE_FIRST_CHILD))
        l = &levels[--*level];
    return l->next < l->count;
}

/* Count the slices of a track for each new depth and return the number of depths. */
static uint32_t subset_count_track(struct subset_work *s, const struct tv_track *track,
                                   uint32_t *counts)
{
    const uint64_t *bits = s->filter->slices.bits[s->from->rows[track->first_row].columns];
    uint32_t level = 0, depths = 0;
    subset_open_track(s, track);
    for (;;) {
        struct subset_level *l = &s->levels[level];
        uint32_t i = l->next++, depth = l->depth;
        uint64_t at = l->first + i;
        bool kept = bits[at / 64] >> (at % 64) & 1;
        counts[depth] += kept;
        depth += kept;
        if (depth > depths)
            depths = depth;
        l[1].depth = depth;
        if (l->flags[i] & TV_SLICE_HAS_CHILDREN)
            level++;
        else if (!subset_next_level(s->levels, &level))
            return depths;
    }
}

/* ---- New rows ---- */

/* Append a row for `count` slices, and room for them in the columns. */
static void subset_add_row(struct subset_work *s, const struct tv_track *track, uint32_t count,
                           uint32_t depth)
{
    struct tv_trace *to = s->to;
    const struct tv_row *like = &s->from->rows[track->first_row];
    struct tv_columns *columns = &to->columns[like->columns];
    to->rows =
        tv_array_reserve(to->rows, &s->row_capacity, (size_t)to->row_count + 1, sizeof *to->rows);
    to->rows[to->row_count++] = (struct tv_row){
        .first = columns->count,
        .first_block = columns->block_count,
        .count = count,
        .track = to->track_count,
        .depth = depth,
        .input = like->input,
        .columns = like->columns,
    };
    columns->count += count;
    columns->block_count += tv_blocks_for(count);
}

/* A track without slices stays if its thread is selected. */
static bool subset_keeps_empty_track(const struct subset_work *s, const struct tv_track *track)
{
    const bool *threads = s->filter->threads, *tracks = s->filter->tracks;
    return track->slice_count == 0 && (!tracks || tracks[track - s->from->tracks]) &&
           (track->thread == TV_NONE || !threads || threads[track->thread]);
}

/* Add a track with rows for counts[depth] slices; return false when nothing of it is selected. */
static bool subset_add_track(struct subset_work *s, const struct tv_track *track,
                             const uint32_t *counts, uint32_t depths)
{
    struct tv_trace *to = s->to;
    bool kept = depths > 0 || subset_keeps_empty_track(s, track);
    if (track->slice_count == 0)
        depths = track->row_count; /* empty rows */
    if (kept) {
        struct tv_track *made = &to->tracks[to->track_count];
        *made = *track;
        made->waits = NULL;
        made->wait_count = 0;
        made->first_row = to->row_count;
        made->row_count = depths;
        made->slice_count = 0;
        for (uint32_t i = 0; i < depths; i++) {
            made->slice_count += counts[i];
            subset_add_row(s, track, counts[i], i);
        }
        to->slice_count += made->slice_count;
        to->track_count++;
    }
    return kept;
}

/* Allocate the new columns, with the clocks and offsets that the old ones have. */
static void subset_make_columns(struct subset_work *s)
{
    for (uint32_t i = 0; i < s->to->columns_count; i++) {
        const struct tv_columns *old = &s->from->columns[i];
        struct tv_columns *columns = &s->to->columns[i];
        unsigned clocks = (old->start ? TV_CLOCK_WALL : 0) | (old->cpu_start ? TV_CLOCK_CPU : 0);
        if (columns->count == 0)
            continue;
        tv_columns_init(columns, columns->count, columns->block_count, clocks);
        if (old->offset)
            tv_columns_add_offsets(columns, old->offset_high ? UINT64_MAX : 0);
    }
}

/* ---- Writing ---- */

/* Store where a slice of this level went, or its nearest selected ancestor. */
static void subset_answer_refs(const struct subset_work *s, const struct tv_track *made,
                               struct subset_level *l, uint32_t index, bool kept)
{
    for (; l->ref < l->refs_end && l->ref->index == index; l->ref++) {
        uint32_t depths = l->depth + kept;
        l->ref->kept = kept;
        l->ref->new_row = depths > 0 ? made->first_row + depths - 1 : TV_NONE;
        l->ref->new_index = depths > 0 ? s->levels[depths - 1].index : 0;
    }
}

/* Columns between which the slices of a track are copied. */
struct subset_columns {
    const struct tv_columns *old;
    struct tv_columns *made;
};

/* Return the path of a slice below its new parent. Slices with one old path mostly have one new
 * parent, which the cache remembers. */
TV_INLINE uint32_t subset_find_path(struct subset_work *s, uint32_t parent, uint32_t old)
{
    struct subset_recent_path *recent = &s->recent[old];
    if (recent->path == TV_ROOT_PATH || recent->parent != parent)
        *recent = (struct subset_recent_path){
            parent, tv_paths_child(s->paths, parent, s->from->paths.nodes[old].frame)};
    return recent->path;
}

/* Convert a time on the axis to ticks of the track's clock, rounded down or up. */
static int64_t subset_ticks_at(const struct tv_trace *trace, const struct tv_track *track,
                               tv_ns time, bool up)
{
    int64_t tick = trace->head->inputs[track->input].tick_ns, ticks;
    time -= trace->offset[track->input];
    ticks = time / tick - (time % tick < 0);
    return ticks + (up && ticks * tick < time);
}

/* Compute the range for a track, and its thread's CPU time at both ends. */
static struct subset_edges subset_find_edges(const struct subset_work *s,
                                             const struct tv_track *track)
{
    const struct tv_trace *trace = s->from;
    const struct tv_subset_range *range = s->filter->range;
    tv_ns tick = trace->head->inputs[track->input].tick_ns, offset = trace->offset[track->input];
    uint32_t number = (uint32_t)(track - trace->tracks);
    struct subset_edges edges = {subset_ticks_at(trace, track, range->from, false),
                                 subset_ticks_at(trace, track, range->to, true), 0, 0};
    if (tv_track_has_wall(trace, number) && tv_track_has_cpu(trace, number)) {
        edges.cpu_from = tv_track_cpu_at(trace, number, edges.from * tick + offset) / tick;
        edges.cpu_to = tv_track_cpu_at(trace, number, edges.to * tick + offset) / tick;
    }
    return edges;
}

/* Clip a slice to the range.  A clipped end is a normal begin or end for everything that follows.
 */
static void subset_clip_slice(const struct subset_work *s, struct tv_slice_times *times,
                              unsigned *flags)
{
    bool cpu_axis = s->from->cpu_axis, has_cpu = !cpu_axis && !(*flags & TV_SLICE_NO_CPU);
    int64_t *start = cpu_axis ? &times->cpu_start : &times->start;
    int64_t *length = cpu_axis ? &times->cpu_length : &times->length;
    int64_t end = *start + *length, cpu_end = times->cpu_start + times->cpu_length;
    if (*start < s->edges.from) {
        *flags &= ~(unsigned)TV_SLICE_ENTERED_BEFORE;
        *start = s->edges.from;
        if (has_cpu)
            times->cpu_start = s->edges.cpu_from;
    }
    if (end > s->edges.to) {
        *flags &= ~(unsigned)(TV_SLICE_OPEN | TV_SLICE_MISSING_EXIT | TV_SLICE_UNROLLED |
                              TV_SLICE_CLIPPED);
        end = s->edges.to;
        cpu_end = has_cpu ? s->edges.cpu_to : cpu_end;
    }
    *length = end - *start;
    if (!cpu_axis)
        times->cpu_length = cpu_end > times->cpu_start ? cpu_end - times->cpu_start : 0;
}

/* Copy a slice to its new depth, and make it a child of the slice above. */
static void subset_write_slice(struct subset_work *s, const struct subset_columns *columns,
                               const struct subset_level *l, uint32_t index)
{
    const struct tv_columns *old = columns->old;
    struct tv_columns *made = columns->made;
    struct subset_level *levels = s->levels, *own = &levels[l->depth];
    struct tv_row_writer *place = &s->places[l->depth];
    uint64_t from = l->first + index, at = place->first + place->next;
    struct tv_wide_time ticks = tv_columns_ticks(old, &s->from->rows[l->row], index);
    struct tv_slice_times times = {ticks.start, ticks.length, ticks.cpu_start, ticks.cpu_length};
    unsigned flags = old->flags[from] & ~(unsigned)(TV_SLICE_HAS_CHILDREN | TV_SLICE_FIRST_CHILD);
    uint32_t parent = l->depth > 0 ? own[-1].path : TV_ROOT_PATH;
    assert(place->next < place->count);
    if (s->filter->range)
        subset_clip_slice(s, &times, &flags);
    own->path = subset_find_path(s, parent, old->path[from]);
    own->at = at;
    own->index = place->next;
    if (l->depth > 0 && !(made->flags[own[-1].at] & TV_SLICE_HAS_CHILDREN)) {
        made->flags[own[-1].at] |= TV_SLICE_HAS_CHILDREN;
        flags |= TV_SLICE_FIRST_CHILD;
    }
    tv_row_write_slice(made, place, &times);
    made->path[at] = own->path;
    made->flags[at] = (uint8_t)flags;
    if (made->offset)
        made->offset[at] = old->offset[from];
    if (made->offset_high)
        made->offset_high[at] = old->offset_high[from];
}

/* Second walk over a track: copy its selected slices. */
static void subset_write_track(struct subset_work *s, const struct tv_track *track,
                               const struct tv_track *made)
{
    struct tv_trace *to = s->to;
    uint32_t number = s->from->rows[track->first_row].columns, level = 0;
    const uint64_t *bits = s->filter->slices.bits[number];
    struct subset_columns columns = {&s->from->columns[number], &s->columns[number]};
    subset_open_track(s, track);
    if (s->filter->range)
        s->edges = subset_find_edges(s, track);
    s->places = tv_array_reserve(s->places, &s->place_capacity, made->row_count, sizeof *s->places);
    for (uint32_t i = 0; i < made->row_count; i++) {
        const struct tv_row *row = &to->rows[made->first_row + i];
        s->places[i] = (struct tv_row_writer){row->first, row->first_block, 0, row->count};
    }
    for (;;) {
        struct subset_level *l = &s->levels[level];
        uint32_t i = l->next++;
        uint64_t at = l->first + i;
        bool kept = bits[at / 64] >> (at % 64) & 1;
        if (kept)
            subset_write_slice(s, &columns, l, i);
        if (TV_UNLIKELY(l->ref < l->refs_end))
            subset_answer_refs(s, made, l, i, kept);
        l[1].depth = l->depth + kept;
        if (l->flags[i] & TV_SLICE_HAS_CHILDREN)
            level++;
        else if (!subset_next_level(s->levels, &level))
            break;
    }
    for (uint32_t i = 0; i < made->row_count; i++)
        tv_columns_rank(&s->columns[number], &to->rows[made->first_row + i]);
}

/* ---- Workers ---- */

struct subset_workers {
    struct subset_work *all;     /* shared state */
    struct subset_work *workers; /* [count] */
    unsigned count;
    uint32_t *first;  /* [count + 1] first track of each worker */
    uint32_t *counts; /* per row of `from`: slices that go to this depth of its track */
    uint32_t *depths; /* per track */
    uint32_t *made;   /* [track_count] number in `to`; TV_NONE: nothing is selected */
    uint32_t **maps;  /* [count] worker's path -> path in `to`; NULL: identical */
};

/* With fewer slices a second thread costs more than it saves. */
#define SLICES_A_WORKER 200000u

/* Return the number of workers that pay off; `asked` overrules, for tests. */
static unsigned subset_useful_workers(const struct tv_trace *trace, unsigned asked)
{
    uint64_t useful = trace->slice_count / SLICES_A_WORKER + 1;
    unsigned available = tv_workers_available();
    if (asked)
        return asked;
    return available < useful ? available : (unsigned)useful;
}

/* Distribute the tracks, about the same number of slices to each worker. */
static void subset_assign_tracks(struct subset_workers *team, struct subset_work *all)
{
    const struct tv_trace *from = all->from;
    uint64_t before = 0;
    unsigned worker = 0;
    team->all = all;
    team->count = subset_useful_workers(from, all->filter->workers);
    team->workers = tv_alloc(team->count, sizeof *team->workers);
    team->first = tv_alloc((size_t)team->count + 1, sizeof *team->first);
    team->maps = tv_alloc(team->count, sizeof *team->maps);
    team->counts = tv_alloc(from->row_count, sizeof *team->counts);
    team->depths = tv_alloc(from->track_count, sizeof *team->depths);
    team->made = tv_alloc(from->track_count, sizeof *team->made);
    for (uint32_t i = 0; i < from->track_count; i++) {
        while (worker + 1 < team->count && before > 0 &&
               before * team->count >= from->slice_count * (worker + 1))
            team->first[++worker] = i;
        before += from->tracks[i].slice_count;
    }
    while (worker < team->count)
        team->first[++worker] = from->track_count;
    for (unsigned k = 0; k < team->count; k++)
        team->workers[k] = *all;
}

/* First walk over the tracks of a worker. */
static void subset_worker_count(void *context, unsigned index)
{
    struct subset_workers *team = context;
    for (uint32_t i = team->first[index]; i < team->first[index + 1]; i++) {
        const struct tv_track *track = &team->all->from->tracks[i];
        if (track->slice_count > 0)
            team->depths[i] =
                subset_count_track(&team->workers[index], track, team->counts + track->first_row);
    }
}

/* Return the new track of an old one, or NULL when it has no slices. */
static const struct tv_track *subset_new_track(const struct subset_workers *team, uint32_t track)
{
    const struct tv_trace *to = team->all->to;
    const struct tv_track *made =
        team->made[track] != TV_NONE ? &to->tracks[team->made[track]] : NULL;
    return made && made->slice_count > 0 ? made : NULL;
}

/* Second walk over the tracks of a worker. */
static void subset_worker_write(void *context, unsigned index)
{
    struct subset_workers *team = context;
    struct subset_work *s = &team->workers[index];
    s->recent = tv_alloc(s->from->paths.count, sizeof *s->recent);
    for (uint32_t i = team->first[index]; i < team->first[index + 1]; i++) {
        const struct tv_track *made = subset_new_track(team, i);
        if (made)
            subset_write_track(s, &s->from->tracks[i], made);
    }
    tv_free(s->levels);
    tv_free(s->places);
    tv_free(s->recent);
}

/* The worker's wide times go after those of the trace: adjust the indices in the blocks. */
static void subset_shift_wide_blocks(struct tv_trace *to, const struct tv_track *track)
{
    for (uint32_t r = track->first_row; r < track->first_row + track->row_count; r++) {
        const struct tv_row *row = &to->rows[r];
        const struct tv_columns *columns = &to->columns[row->columns];
        struct tv_slice_block *blocks = columns->blocks + row->first_block;
        for (uint32_t i = 0; i < tv_blocks_for(row->count); i++)
            if (blocks[i].wide != TV_NONE)
                blocks[i].wide += (uint32_t)columns->wide_count;
    }
}

/* Append a worker's wide times to those of the trace. */
static void subset_join_columns(struct subset_workers *team, unsigned index)
{
    struct subset_work *s = &team->workers[index];
    for (uint32_t i = team->first[index]; i < team->first[index + 1]; i++) {
        const struct tv_track *made = subset_new_track(team, i);
        if (made)
            subset_shift_wide_blocks(s->to, made);
    }
    for (uint32_t i = 0; i < s->to->columns_count; i++) {
        struct tv_columns *own = &s->columns[i], *all = &s->to->columns[i];
        if (own->wide_count > 0) {
            all->wide = tv_array_reserve(all->wide, &all->wide_capacity,
                                         all->wide_count + own->wide_count, sizeof *all->wide);
            memcpy(all->wide + all->wide_count, own->wide, own->wide_count * sizeof *own->wide);
            all->wide_count += own->wide_count;
        }
        tv_free(own->wide);
    }
    tv_free(s->columns);
}

/* Translate the worker's paths to those of the trace. */
static void subset_worker_renumber(void *context, unsigned index)
{
    const struct subset_workers *team = context;
    const struct tv_trace *to = team->all->to;
    const uint32_t *map = team->maps[index];
    for (uint32_t i = team->first[index]; map && i < team->first[index + 1]; i++) {
        const struct tv_track *made = subset_new_track(team, i);
        for (uint32_t r = 0; made && r < made->row_count; r++) {
            const struct tv_row *row = &to->rows[made->first_row + r];
            uint32_t *path = to->columns[row->columns].path + row->first;
            for (uint32_t k = 0; k < row->count; k++)
                path[k] = map[path[k]];
        }
    }
}

/* Give a worker its own wide times and paths. */
static void subset_init_worker(struct subset_work *s)
{
    const struct tv_trace *to = s->to;
    s->columns = tv_alloc(to->columns_count, sizeof *s->columns);
    for (uint32_t i = 0; i < to->columns_count; i++)
        s->columns[i] = to->columns[i];
    s->paths = &s->own_paths;
    tv_paths_init(s->paths);
}

/* Write all tracks, then merge paths and wide times in the order of the workers. */
static void subset_write_tracks(struct subset_workers *team)
{
    struct tv_trace *to = team->all->to;
    team->workers[0].columns = to->columns;
    team->workers[0].paths = &to->paths;
    for (unsigned k = 1; k < team->count; k++)
        subset_init_worker(&team->workers[k]);
    tv_workers_run(team->count, subset_worker_write, team);
    for (unsigned k = 1; k < team->count; k++) {
        struct tv_paths *paths = team->workers[k].paths;
        team->maps[k] = tv_alloc(paths->count, sizeof **team->maps);
        tv_paths_merge(&to->paths, paths, team->maps[k]);
        tv_paths_release(paths);
        subset_join_columns(team, k);
    }
    if (team->count > 1)
        tv_workers_run(team->count, subset_worker_renumber, team);
}

static void subset_release_workers(struct subset_workers *team)
{
    for (unsigned k = 0; k < team->count; k++)
        tv_free(team->maps[k]);
    tv_free(team->maps);
    tv_free(team->workers);
    tv_free(team->first);
    tv_free(team->counts);
    tv_free(team->depths);
    tv_free(team->made);
}

/* ---- Totals ---- */

/* Add the calls of a row to the totals of the trace. */
static void subset_count_calls(struct tv_trace *trace, uint32_t row)
{
    const struct tv_row *r = &trace->rows[row];
    const uint8_t *flags = trace->columns[r->columns].flags + r->first;
    uint64_t supplied = 0, open = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        supplied += (flags[i] & TV_SLICE_ENTERED_BEFORE) != 0;
        open += (flags[i] & TV_SLICE_OPEN) != 0;
    }
    trace->recorded_calls += r->count - supplied;
    trace->unmatched_exits += supplied;
    trace->open_calls += open;
    if (supplied < r->count && r->depth >= trace->max_depth)
        trace->max_depth = r->depth + 1;
}

/* Set the totals. When nothing was left out, those of the original are taken, which know more than
 * the flags. */
static void subset_count_facts(struct subset_work *s)
{
    struct tv_trace *to = s->to;
    const struct tv_trace *from = s->from;
    if (to->slice_count == from->slice_count && !s->filter->range) {
        to->recorded_calls = from->recorded_calls;
        to->unmatched_exits = from->unmatched_exits;
        to->open_calls = from->open_calls;
        to->max_depth = from->max_depth;
        return;
    }
    for (uint32_t row = 0; row < to->row_count; row++)
        if (tv_track_has_calls(&to->tracks[to->rows[row].track]))
            subset_count_calls(to, row);
}

/* Return an empty trace on the axis of `from`, with which it shares the trace info. */
static struct tv_trace *subset_new_trace(const struct tv_trace *from)
{
    struct tv_trace *to = tv_alloc(1, sizeof *to);
    to->head = from->head;
    to->base = from;
    to->is_subset = true;
    to->columns_count = from->columns_count;
    to->columns = tv_alloc(from->columns_count, sizeof *to->columns);
    to->tracks = tv_alloc(from->track_count, sizeof *to->tracks);
    to->offset_count = from->offset_count;
    to->offset = tv_alloc(from->offset_count, sizeof *to->offset);
    if (from->offset_count > 0)
        memcpy(to->offset, from->offset, from->offset_count * sizeof *to->offset);
    to->origin = from->origin;
    to->start = from->start;
    to->end = from->end;
    to->cpu_axis = from->cpu_axis;
    tv_paths_init(&to->paths);
    return to;
}

/* Clip the first and last record of a track to the range. */
static void subset_clip_track(const struct subset_work *s, const struct tv_track *track,
                              struct tv_track *made)
{
    struct subset_edges edges = subset_find_edges(s, track);
    bool cpu_axis = s->from->cpu_axis;
    int64_t *first = cpu_axis ? &made->first_cpu : &made->first_wall;
    int64_t *last = cpu_axis ? &made->last_cpu : &made->last_wall;
    if (*first < edges.from) {
        *first = edges.from;
        made->first_cpu = cpu_axis ? edges.from : edges.cpu_from;
    }
    if (*last > edges.to) {
        *last = edges.to;
        made->last_cpu = cpu_axis ? edges.to : edges.cpu_to;
    }
}

/* Clip tracks and trace to the range, so that the timeline ends there. */
static void subset_clip_tracks(struct subset_work *s, const uint32_t *made)
{
    const struct tv_subset_range *range = s->filter->range;
    for (uint32_t i = 0; range && i < s->from->track_count; i++)
        if (made[i] != TV_NONE)
            subset_clip_track(s, &s->from->tracks[i], &s->to->tracks[made[i]]);
    if (range && s->to->start < range->from)
        s->to->start = range->from;
    if (range && s->to->end > range->to)
        s->to->end = range->to;
}

bool tv_trace_is_empty(const struct tv_trace *trace)
{
    const struct tv_tables *t = &trace->tables;
    return trace->slice_count == 0 && t->instants.count == 0 && t->counters.count == 0 &&
           t->objects.count == 0 && t->samples.count == 0 && t->memory_dumps.count == 0;
}

struct tv_trace *tv_trace_subset(const struct tv_trace *trace,
                                 const struct tv_subset_filter *filter)
{
    struct subset_work s = {.from = trace, .filter = filter, .to = subset_new_trace(trace)};
    struct subset_workers team;
    tv_subset_refs_collect(&s.refs, trace);
    subset_assign_tracks(&team, &s);
    tv_workers_run(team.count, subset_worker_count, &team);
    for (uint32_t i = 0; i < trace->track_count; i++) {
        const struct tv_track *track = &trace->tracks[i];
        team.made[i] = s.to->track_count;
        if (!subset_add_track(&s, track, team.counts + track->first_row, team.depths[i]))
            team.made[i] = TV_NONE;
    }
    subset_make_columns(&s);
    subset_write_tracks(&team);
    tv_subset_tables(s.to, trace, filter, &s.refs, team.made);
    tv_paths_finish(&s.to->paths);
    subset_clip_tracks(&s, team.made);
    subset_count_facts(&s);
    tv_subset_refs_release(&s.refs);
    subset_release_workers(&team);
    return s.to;
}

void tv_trace_take_over(struct tv_trace *subset, struct tv_trace *from)
{
    assert(subset->base == from);
    subset->base = from->base;
    subset->sources = from->sources;
    subset->source_count = from->source_count;
    subset->inner_count = from->inner_count;
    from->sources = NULL;
    from->source_count = 0;
    from->base = subset;
    tv_trace_free(from);
}
