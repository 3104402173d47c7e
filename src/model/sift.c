/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two walks over each track, each call before those that it made: the first counts what goes to
 * which new depth, the second puts it there.  So slices come to their new rows in order of time,
 * and parents before children.
 *
 * Workers have neighbouring tracks each, and paths and side tables of their own, which are joined
 * in the order of the tracks: the trace is the same whatever their number.
 */
#include "model/sift.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/workers.h"
#include "model/builder_store.h"
#include "model/sift_tables.h"

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

void tv_sieve_release(struct tv_sieve *sieve)
{
    tv_slice_set_release(&sieve->slices);
    tv_free(sieve->instants);
    tv_free(sieve->counters);
    tv_free(sieve->objects);
    tv_free(sieve->samples);
    tv_free(sieve->memory_dumps);
}

/* One level of a walk, and one new depth. */
struct level {
    const uint8_t *flags;
    uint64_t first; /* of the row, in the columns */
    uint32_t row, count, next;
    uint32_t depth;                        /* new: where a slice of this level goes if it is kept */
    struct tv_sift_spot *spot, *spots_end; /* what is asked of this level, from here on */
    /* Of the slice that was kept last at this new depth: */
    uint64_t at;
    uint32_t path, index;
};

/* The new path that an old one became last, below which new one: mostly the same again. */
struct recent_path {
    uint32_t parent, path; /* path 0: none yet */
};

/* The ends of the range on the clocks of a track's input, ticks. */
struct edges {
    int64_t from, to; /* on the axis */
    int64_t cpu_from, cpu_to;
};

struct sifting {
    const struct tv_trace *from;
    const struct tv_sieve *sieve;
    struct tv_trace *to;
    struct tv_sift_spots spots;
    struct level *levels;
    size_t level_capacity, row_capacity;
    struct tv_place *places; /* [new depth], of the track at hand */
    size_t place_capacity;
    struct recent_path *recent; /* [from->paths.count] */
    /* Where slices go: columns of `to` whose side tables are the worker's, and paths of its own;
     * the first worker's are those of `to`. */
    struct tv_columns *columns;
    struct tv_paths *paths, own_paths;
    struct edges edges; /* of the track at hand, where the sieve has a range */
};

/* ---- Walking ---- */

static void open_track(struct sifting *s, const struct tv_track *track)
{
    const struct tv_trace *from = s->from;
    s->levels = tv_array_reserve(s->levels, &s->level_capacity, (size_t)track->row_count + 1,
                                 sizeof *s->levels);
    for (uint32_t i = 0; i < track->row_count; i++) {
        uint32_t row = track->first_row + i;
        const struct tv_row *r = &from->rows[row];
        assert(r->columns == from->rows[track->first_row].columns);
        s->levels[i] = (struct level){
            .flags = from->columns[r->columns].flags + r->first,
            .first = r->first,
            .row = row,
            .count = r->count,
        };
        tv_sift_spots_of_row(&s->spots, row, &s->levels[i].spot, &s->levels[i].spots_end);
    }
    s->levels[track->row_count] = (struct level){.count = 0};
}

/* From a level whose slice is done to that of the next slice; false: there is none. */
TV_INLINE bool go_on(const struct level *levels, uint32_t *level)
{
    const struct level *l = &levels[*level];
    while (*level > 0 && (l->next == l->count || l->flags[l->next] & TV_SLICE_FIRST_CHILD))
        l = &levels[--*level];
    return l->next < l->count;
}

/* How many slices of a track go to each new depth: counts[depth].  Returns how many depths. */
static uint32_t count_track(struct sifting *s, const struct tv_track *track, uint32_t *counts)
{
    const uint64_t *bits = s->sieve->slices.bits[s->from->rows[track->first_row].columns];
    uint32_t level = 0, depths = 0;
    open_track(s, track);
    for (;;) {
        struct level *l = &s->levels[level];
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
        else if (!go_on(s->levels, &level))
            return depths;
    }
}

/* ---- New rows ---- */

static void add_row(struct sifting *s, const struct tv_track *track, uint32_t count, uint32_t depth)
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

/* A track without slices stays when its thread does. */
static bool keeps_empty(const struct sifting *s, const struct tv_track *track)
{
    const bool *threads = s->sieve->threads, *tracks = s->sieve->tracks;
    return track->slice_count == 0 && (!tracks || tracks[track - s->from->tracks]) &&
           (track->thread == TV_NONE || !threads || threads[track->thread]);
}

/* The track with its rows, still without slices, counts[depth] of them; false: nothing of it is
 * kept. */
static bool add_track(struct sifting *s, const struct tv_track *track, const uint32_t *counts,
                      uint32_t depths)
{
    struct tv_trace *to = s->to;
    bool kept = depths > 0 || keeps_empty(s, track);
    if (track->slice_count == 0)
        depths = track->row_count; /* rows without slices */
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
            add_row(s, track, counts[i], i);
        }
        to->slice_count += made->slice_count;
        to->track_count++;
    }
    return kept;
}

static void make_columns(struct sifting *s)
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

/* ---- Slices to their places ---- */

/* Where a slice of this level went, or else the nearest one around it that is kept. */
static void answer_spots(const struct sifting *s, const struct tv_track *made, struct level *l,
                         uint32_t index, bool kept)
{
    for (; l->spot < l->spots_end && l->spot->index == index; l->spot++) {
        uint32_t depths = l->depth + kept;
        l->spot->kept = kept;
        l->spot->new_row = depths > 0 ? made->first_row + depths - 1 : TV_NONE;
        l->spot->new_index = depths > 0 ? s->levels[depths - 1].index : 0;
    }
}

struct columns_pair {
    const struct tv_columns *old;
    struct tv_columns *made;
};

TV_INLINE uint32_t find_path(struct sifting *s, uint32_t parent, uint32_t old)
{
    struct recent_path *recent = &s->recent[old];
    if (recent->path == TV_ROOT_PATH || recent->parent != parent)
        *recent = (struct recent_path){
            parent, tv_paths_child(s->paths, parent, s->from->paths.nodes[old].frame)};
    return recent->path;
}

/* A time on the axis in ticks of the track's clock, rounded down or up. */
static int64_t ticks_at(const struct tv_trace *trace, const struct tv_track *track, tv_ns time,
                        bool up)
{
    int64_t tick = trace->head->inputs[track->input].tick_ns, ticks;
    time -= trace->offset[track->input];
    ticks = time / tick - (time % tick < 0);
    return ticks + (up && ticks * tick < time);
}

/* The ends of the range for a track, and the CPU time that its thread had there. */
static struct edges find_edges(const struct sifting *s, const struct tv_track *track)
{
    const struct tv_trace *trace = s->from;
    const struct tv_sieve_range *range = s->sieve->range;
    tv_ns tick = trace->head->inputs[track->input].tick_ns, offset = trace->offset[track->input];
    uint32_t number = (uint32_t)(track - trace->tracks);
    struct edges edges = {ticks_at(trace, track, range->from, false),
                          ticks_at(trace, track, range->to, true), 0, 0};
    if (tv_track_has_wall(trace, number) && tv_track_has_cpu(trace, number)) {
        edges.cpu_from = tv_track_cpu_at(trace, number, edges.from * tick + offset) / tick;
        edges.cpu_to = tv_track_cpu_at(trace, number, edges.to * tick + offset) / tick;
    }
    return edges;
}

/* Cuts a slice to the range.  What began or ended at its ends did so for all that follows. */
static void cut_slice(const struct sifting *s, struct tv_slice_times *times, unsigned *flags)
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

static void place_slice(struct sifting *s, const struct columns_pair *columns,
                        const struct level *l, uint32_t index)
{
    const struct tv_columns *old = columns->old;
    struct tv_columns *made = columns->made;
    struct level *levels = s->levels, *own = &levels[l->depth];
    struct tv_place *place = &s->places[l->depth];
    uint64_t from = l->first + index, at = place->first + place->next;
    struct tv_wide_time ticks = tv_columns_ticks(old, &s->from->rows[l->row], index);
    struct tv_slice_times times = {ticks.start, ticks.length, ticks.cpu_start, ticks.cpu_length};
    unsigned flags = old->flags[from] & ~(unsigned)(TV_SLICE_HAS_CHILDREN | TV_SLICE_FIRST_CHILD);
    uint32_t parent = l->depth > 0 ? own[-1].path : TV_ROOT_PATH;
    if (s->sieve->range)
        cut_slice(s, &times, &flags);
    own->path = find_path(s, parent, old->path[from]);
    own->at = at;
    own->index = place->next;
    if (l->depth > 0 && !(made->flags[own[-1].at] & TV_SLICE_HAS_CHILDREN)) {
        made->flags[own[-1].at] |= TV_SLICE_HAS_CHILDREN;
        flags |= TV_SLICE_FIRST_CHILD;
    }
    tv_place_slice(made, place, &times);
    made->path[at] = own->path;
    made->flags[at] = (uint8_t)flags;
    if (made->offset)
        made->offset[at] = old->offset[from];
    if (made->offset_high)
        made->offset_high[at] = old->offset_high[from];
}

static void place_track(struct sifting *s, const struct tv_track *track,
                        const struct tv_track *made)
{
    struct tv_trace *to = s->to;
    uint32_t number = s->from->rows[track->first_row].columns, level = 0;
    const uint64_t *bits = s->sieve->slices.bits[number];
    struct columns_pair columns = {&s->from->columns[number], &s->columns[number]};
    open_track(s, track);
    if (s->sieve->range)
        s->edges = find_edges(s, track);
    s->places = tv_array_reserve(s->places, &s->place_capacity, made->row_count, sizeof *s->places);
    for (uint32_t i = 0; i < made->row_count; i++) {
        const struct tv_row *row = &to->rows[made->first_row + i];
        s->places[i] = (struct tv_place){row->first, row->first_block, 0, row->count};
    }
    for (;;) {
        struct level *l = &s->levels[level];
        uint32_t i = l->next++;
        uint64_t at = l->first + i;
        bool kept = bits[at / 64] >> (at % 64) & 1;
        if (kept)
            place_slice(s, &columns, l, i);
        if (TV_UNLIKELY(l->spot < l->spots_end))
            answer_spots(s, made, l, i, kept);
        l[1].depth = l->depth + kept;
        if (l->flags[i] & TV_SLICE_HAS_CHILDREN)
            level++;
        else if (!go_on(s->levels, &level))
            break;
    }
    for (uint32_t i = 0; i < made->row_count; i++)
        tv_columns_rank(&s->columns[number], &to->rows[made->first_row + i]);
}

/* ---- Workers ---- */

struct crew {
    struct sifting *all;     /* what they have in common */
    struct sifting *workers; /* [count] */
    unsigned count;
    uint32_t *first;  /* [count + 1]: tracks of each */
    uint32_t *counts; /* of each row of `from`: the slices that go to this depth of its track */
    uint32_t *depths; /* of each track */
    uint32_t *made;   /* [track_count]: its number in `to`; TV_NONE: none of it is kept */
    uint32_t **maps;  /* [count]: from the worker's paths to those of `to`; NULL: they are these */
};

/* Below so many slices a second thread costs more than it brings. */
#define SLICES_A_WORKER 200000u

static unsigned useful_workers(const struct tv_trace *trace, unsigned asked)
{
    uint64_t useful = trace->slice_count / SLICES_A_WORKER + 1;
    unsigned available = tv_workers_available();
    if (asked)
        return asked;
    return available < useful ? available : (unsigned)useful;
}

/* Deals the tracks out, about the same number of slices to each worker. */
static void hire(struct crew *crew, struct sifting *all)
{
    const struct tv_trace *from = all->from;
    uint64_t before = 0;
    unsigned worker = 0;
    crew->all = all;
    crew->count = useful_workers(from, all->sieve->workers);
    crew->workers = tv_alloc(crew->count, sizeof *crew->workers);
    crew->first = tv_alloc((size_t)crew->count + 1, sizeof *crew->first);
    crew->maps = tv_alloc(crew->count, sizeof *crew->maps);
    crew->counts = tv_alloc(from->row_count, sizeof *crew->counts);
    crew->depths = tv_alloc(from->track_count, sizeof *crew->depths);
    crew->made = tv_alloc(from->track_count, sizeof *crew->made);
    for (uint32_t i = 0; i < from->track_count; i++) {
        while (worker + 1 < crew->count && before > 0 &&
               before * crew->count >= from->slice_count * (worker + 1))
            crew->first[++worker] = i;
        before += from->tracks[i].slice_count;
    }
    while (worker < crew->count)
        crew->first[++worker] = from->track_count;
    for (unsigned k = 0; k < crew->count; k++)
        crew->workers[k] = *all;
}

static void count_share(void *context, unsigned index)
{
    struct crew *crew = context;
    for (uint32_t i = crew->first[index]; i < crew->first[index + 1]; i++) {
        const struct tv_track *track = &crew->all->from->tracks[i];
        if (track->slice_count > 0)
            crew->depths[i] =
                count_track(&crew->workers[index], track, crew->counts + track->first_row);
    }
}

/* The new track with slices of an old one; NULL: there is none. */
static const struct tv_track *made_of(const struct crew *crew, uint32_t track)
{
    const struct tv_trace *to = crew->all->to;
    const struct tv_track *made =
        crew->made[track] != TV_NONE ? &to->tracks[crew->made[track]] : NULL;
    return made && made->slice_count > 0 ? made : NULL;
}

static void place_share(void *context, unsigned index)
{
    struct crew *crew = context;
    struct sifting *s = &crew->workers[index];
    s->recent = tv_alloc(s->from->paths.count, sizeof *s->recent);
    for (uint32_t i = crew->first[index]; i < crew->first[index + 1]; i++) {
        const struct tv_track *made = made_of(crew, i);
        if (made)
            place_track(s, &s->from->tracks[i], made);
    }
    tv_free(s->levels);
    tv_free(s->places);
    tv_free(s->recent);
}

/* The side table that is the worker's goes behind what there is in the trace's. */
static void move_blocks(struct tv_trace *to, const struct tv_track *track)
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

static void join_columns(struct crew *crew, unsigned index)
{
    struct sifting *s = &crew->workers[index];
    for (uint32_t i = crew->first[index]; i < crew->first[index + 1]; i++) {
        const struct tv_track *made = made_of(crew, i);
        if (made)
            move_blocks(s->to, made);
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

/* From the worker's paths to those of the trace. */
static void rename_share(void *context, unsigned index)
{
    const struct crew *crew = context;
    const struct tv_trace *to = crew->all->to;
    const uint32_t *map = crew->maps[index];
    for (uint32_t i = crew->first[index]; map && i < crew->first[index + 1]; i++) {
        const struct tv_track *made = made_of(crew, i);
        for (uint32_t r = 0; made && r < made->row_count; r++) {
            const struct tv_row *row = &to->rows[made->first_row + r];
            uint32_t *path = to->columns[row->columns].path + row->first;
            for (uint32_t k = 0; k < row->count; k++)
                path[k] = map[path[k]];
        }
    }
}

/* Columns of the trace with side tables of the worker's own, and paths. */
static void equip(struct sifting *s)
{
    const struct tv_trace *to = s->to;
    s->columns = tv_alloc(to->columns_count, sizeof *s->columns);
    for (uint32_t i = 0; i < to->columns_count; i++)
        s->columns[i] = to->columns[i];
    s->paths = &s->own_paths;
    tv_paths_init(s->paths);
}

static void place_tracks(struct crew *crew)
{
    struct tv_trace *to = crew->all->to;
    crew->workers[0].columns = to->columns;
    crew->workers[0].paths = &to->paths;
    for (unsigned k = 1; k < crew->count; k++)
        equip(&crew->workers[k]);
    tv_workers_run(crew->count, place_share, crew);
    for (unsigned k = 1; k < crew->count; k++) {
        struct tv_paths *paths = crew->workers[k].paths;
        crew->maps[k] = tv_alloc(paths->count, sizeof **crew->maps);
        tv_paths_merge(&to->paths, paths, crew->maps[k]);
        tv_paths_release(paths);
        join_columns(crew, k);
    }
    if (crew->count > 1)
        tv_workers_run(crew->count, rename_share, crew);
}

static void dismiss(struct crew *crew)
{
    for (unsigned k = 0; k < crew->count; k++)
        tv_free(crew->maps[k]);
    tv_free(crew->maps);
    tv_free(crew->workers);
    tv_free(crew->first);
    tv_free(crew->counts);
    tv_free(crew->depths);
    tv_free(crew->made);
}

/* ---- Facts ---- */

static void count_calls(struct tv_trace *trace, uint32_t row)
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

static void find_facts(struct sifting *s)
{
    struct tv_trace *to = s->to;
    const struct tv_trace *from = s->from;
    if (to->slice_count == from->slice_count && !s->sieve->range) {
        to->recorded_calls = from->recorded_calls;
        to->unmatched_exits = from->unmatched_exits;
        to->open_calls = from->open_calls;
        to->max_depth = from->max_depth;
        return;
    }
    for (uint32_t row = 0; row < to->row_count; row++)
        if (tv_track_has_calls(&to->tracks[to->rows[row].track]))
            count_calls(to, row);
}

static struct tv_trace *new_trace(const struct tv_trace *from)
{
    struct tv_trace *to = tv_alloc(1, sizeof *to);
    to->head = from->head;
    to->base = from;
    to->sifted = true;
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

/* Of its records those in the range, and the ends of what was cut. */
static void cut_track(const struct sifting *s, const struct tv_track *track, struct tv_track *made)
{
    struct edges edges = find_edges(s, track);
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

static void cut_ends(struct sifting *s, const uint32_t *made)
{
    const struct tv_sieve_range *range = s->sieve->range;
    for (uint32_t i = 0; range && i < s->from->track_count; i++)
        if (made[i] != TV_NONE)
            cut_track(s, &s->from->tracks[i], &s->to->tracks[made[i]]);
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

struct tv_trace *tv_trace_sift(const struct tv_trace *trace, const struct tv_sieve *sieve)
{
    struct sifting s = {.from = trace, .sieve = sieve, .to = new_trace(trace)};
    struct crew crew;
    tv_sift_spots_gather(&s.spots, trace);
    hire(&crew, &s);
    tv_workers_run(crew.count, count_share, &crew);
    for (uint32_t i = 0; i < trace->track_count; i++) {
        const struct tv_track *track = &trace->tracks[i];
        crew.made[i] = s.to->track_count;
        if (!add_track(&s, track, crew.counts + track->first_row, crew.depths[i]))
            crew.made[i] = TV_NONE;
    }
    make_columns(&s);
    place_tracks(&crew);
    tv_sift_tables(s.to, trace, sieve, &s.spots, crew.made);
    tv_paths_finish(&s.to->paths);
    cut_ends(&s, crew.made);
    find_facts(&s);
    tv_sift_spots_release(&s.spots);
    dismiss(&crew);
    return s.to;
}

void tv_trace_take_over(struct tv_trace *sifted, struct tv_trace *from)
{
    assert(sifted->base == from);
    sifted->base = from->base;
    sifted->sources = from->sources;
    sifted->source_count = from->source_count;
    sifted->inner_count = from->inner_count;
    from->sources = NULL;
    from->source_count = 0;
    from->base = sifted;
    tv_trace_free(from);
}
