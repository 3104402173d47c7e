/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Searching for the calls of one frame, and where they lie.
 *
 * A search has two tables: a bit for each call path that ends in the frame, and the depths at
 * which such paths lie.  Whole rows are skipped by depth, and a call costs one bit to test, so
 * that even traces of many millions of calls are searched while the user waits.
 *
 * Two orders are in use: by start alone (stepping to the next call in time), and by (start, row,
 * index), in which every call has a number of its own ("3 of 17").
 */
#include "analysis/search/call_search.h"

#include <assert.h>

#include "analysis/subset/selection.h"
#include "base/memory.h"
#include "base/workers.h"

/* Search for one frame, or for the frames of a set if that is given. */
static void call_search_init(struct tv_call_search *search, const struct tv_trace *trace,
                             uint32_t frame, const uint8_t *frames)
{
    const struct tv_paths *paths = &trace->paths;
    uint32_t *depth = tv_alloc(paths->count, sizeof *depth); /* by path; the root has 0 */
    search->trace = trace;
    search->nodes = tv_alloc((size_t)paths->count / 64 + 1, sizeof *search->nodes);
    search->depth_count = 0;
    for (uint32_t i = 1; i < paths->count; i++) {
        uint32_t own = paths->nodes[i].frame;
        depth[i] = depth[paths->nodes[i].parent] + 1;
        if (frames ? frames[own] == 0 : own != frame)
            continue;
        search->nodes[i / 64] |= UINT64_C(1) << i % 64;
        if (depth[i] > search->depth_count)
            search->depth_count = depth[i];
    }
    search->depths = tv_alloc(search->depth_count, sizeof *search->depths);
    for (uint32_t i = 1; i < paths->count; i++) {
        if (search->nodes[i / 64] >> i % 64 & 1)
            search->depths[depth[i] - 1] = true;
    }
    tv_free(depth);
}

void tv_call_search_init(struct tv_call_search *search, const struct tv_trace *trace,
                         uint32_t frame)
{
    call_search_init(search, trace, frame, NULL);
}

void tv_call_search_init_frames(struct tv_call_search *search, const struct tv_trace *trace,
                                const uint8_t *frames)
{
    assert(frames != NULL);
    call_search_init(search, trace, TV_NONE, frames);
}

void tv_call_search_release(struct tv_call_search *search)
{
    tv_free(search->nodes);
    tv_free(search->depths);
}

bool tv_call_search_has_row(const struct tv_call_search *search, uint32_t row)
{
    uint32_t depth = search->trace->rows[row].depth;
    return depth < search->depth_count && search->depths[depth];
}

/* Return the paths of the calls of a row. */
static const uint32_t *call_search_paths(const struct tv_call_search *search, uint32_t row)
{
    const struct tv_row *r = &search->trace->rows[row];
    return search->trace->columns[r->columns].path + r->first;
}

/* Return 1 when the path is among those searched for. */
TV_INLINE unsigned call_search_has_path(const uint64_t *nodes, uint32_t path)
{
    assert(nodes != NULL);
    return (unsigned)(nodes[path / 64] >> path % 64) & 1;
}

uint32_t tv_call_search_next(const struct tv_call_search *search, uint32_t row, uint32_t first,
                             uint32_t end)
{
    assert(first <= end && end <= search->trace->rows[row].count);
    const uint32_t *path = call_search_paths(search, row);
    const uint64_t *nodes = search->nodes;
    /* Most calls are of other frames: test eight at once, with a single branch for them. */
    while (end - first >= 8) {
        const uint32_t *p = path + first;
        unsigned any = call_search_has_path(nodes, p[0]) | call_search_has_path(nodes, p[1]) |
                       call_search_has_path(nodes, p[2]) | call_search_has_path(nodes, p[3]) |
                       call_search_has_path(nodes, p[4]) | call_search_has_path(nodes, p[5]) |
                       call_search_has_path(nodes, p[6]) | call_search_has_path(nodes, p[7]);
        if (any)
            break;
        first += 8;
    }
    while (first < end && !call_search_has_path(nodes, path[first]))
        first++;
    return first;
}

/* Return the last call of the frame in [first, end), or TV_NONE. */
static uint32_t call_search_find_last(const struct tv_call_search *search, uint32_t row,
                                      uint32_t first, uint32_t end)
{
    const uint32_t *path = call_search_paths(search, row);
    while (end > first) {
        if (call_search_has_path(search->nodes, path[--end]))
            return end;
    }
    return TV_NONE;
}

uint32_t tv_call_search_count(const struct tv_call_search *search, uint32_t row, uint32_t first,
                              uint32_t end)
{
    const uint32_t *path = call_search_paths(search, row);
    const uint64_t *nodes = search->nodes;
    uint32_t count = 0;
    for (uint32_t i = first; i < end; i++)
        count += call_search_has_path(nodes, path[i]);
    return count;
}

/* The closest call so far. */
struct closest_call {
    uint32_t row, index;
    tv_ns start;
};

/* Remember a call if it is closer than the best one so far. */
static void call_search_consider(const struct tv_call_search *search, struct closest_call *best,
                                 uint32_t row, uint32_t index, int direction)
{
    tv_ns start = tv_slice_start(search->trace, row, index);
    if (best->row == TV_NONE || (direction < 0 ? start > best->start : start < best->start))
        *best = (struct closest_call){row, index, start};
}

/* Look in a row for the first call after a time. */
static void call_search_step_forward(const struct tv_call_search *search, struct closest_call *best,
                                     uint32_t row, tv_ns time)
{
    const struct tv_trace *trace = search->trace;
    uint32_t count = trace->rows[row].count;
    if (time == INT64_MAX)
        return;
    uint32_t first = tv_row_find_start(trace, row, time + 1);
    uint32_t end = best->row == TV_NONE ? count : tv_row_find_start(trace, row, best->start);
    if (first >= end)
        return;
    uint32_t found = tv_call_search_next(search, row, first, end);
    if (found < end)
        call_search_consider(search, best, row, found, 1);
}

/* Look in a row for the last call before a time. */
static void call_search_step_back(const struct tv_call_search *search, struct closest_call *best,
                                  uint32_t row, tv_ns time)
{
    const struct tv_trace *trace = search->trace;
    uint32_t end = tv_row_find_start(trace, row, time);
    uint32_t first = best->row == TV_NONE ? 0 : tv_row_find_start(trace, row, best->start);
    uint32_t found = call_search_find_last(search, row, first, end);
    if (found != TV_NONE)
        call_search_consider(search, best, row, found, -1);
}

bool tv_call_search_step(const struct tv_call_search *search, const bool *wanted, tv_ns time,
                         int direction, uint32_t *row, uint32_t *index)
{
    const struct tv_trace *trace = search->trace;
    struct closest_call best = {TV_NONE, TV_NONE, 0};
    for (uint32_t i = 0; i < trace->row_count; i++) {
        if (!wanted[trace->rows[i].track] || !tv_call_search_has_row(search, i))
            continue;
        if (direction < 0)
            call_search_step_back(search, &best, i, time);
        else
            call_search_step_forward(search, &best, i, time);
    }
    *row = best.row;
    *index = best.index;
    return best.row != TV_NONE;
}

/* Return how many calls of a row, sought or not, are at or before a place. */
static uint32_t call_search_row_until(const struct tv_trace *trace, uint32_t row,
                                      const struct tv_call_place *place)
{
    uint32_t count = trace->rows[row].count;
    if (row < place->row)
        return place->start == INT64_MAX ? count : tv_row_find_start(trace, row, place->start + 1);
    uint32_t before = tv_row_find_start(trace, row, place->start);
    if (row > place->row || place->index < before)
        return before;
    uint32_t until =
        place->start == INT64_MAX ? count : tv_row_find_start(trace, row, place->start + 1);
    return place->index < until ? place->index + 1 : until;
}

/* Return true if `a` is before `b`. */
static bool call_place_before(const struct tv_call_place *a, const struct tv_call_place *b)
{
    if (a->start != b->start)
        return a->start < b->start;
    return a->row != b->row ? a->row < b->row : a->index < b->index;
}

/* Return the call of a row that is next to a place, or TV_NONE.  `best`: the result so far, which
 * limits how far to look. */
static uint32_t call_search_row_next(const struct tv_call_search *search, uint32_t row,
                                     const struct tv_call_place *from, int direction,
                                     const struct tv_call_place *best)
{
    const struct tv_trace *trace = search->trace;
    uint32_t until = call_search_row_until(trace, row, from);
    if (direction > 0) {
        uint32_t end =
            best->row == TV_NONE ? trace->rows[row].count : call_search_row_until(trace, row, best);
        if (until >= end)
            return TV_NONE;
        uint32_t found = tv_call_search_next(search, row, until, end);
        return found < end ? found : TV_NONE;
    }
    bool itself = row == from->row && until == from->index + (uint64_t)1 &&
                  tv_slice_start(trace, row, from->index) == from->start;
    uint32_t first = best->row == TV_NONE ? 0 : call_search_row_until(trace, row, best);
    return call_search_find_last(search, row, first, itself ? until - 1 : until);
}

bool tv_call_search_next_place(const struct tv_call_search *search, const bool *wanted,
                               const struct tv_call_place *from, int direction,
                               struct tv_call_place *found)
{
    const struct tv_trace *trace = search->trace;
    *found = (struct tv_call_place){0, TV_NONE, TV_NONE};
    for (uint32_t i = 0; i < trace->row_count; i++) {
        if (!wanted[trace->rows[i].track] || !tv_call_search_has_row(search, i))
            continue;
        uint32_t index = call_search_row_next(search, i, from, direction, found);
        if (index == TV_NONE)
            continue;
        struct tv_call_place place = {tv_slice_start(trace, i, index), i, index};
        bool nearer =
            direction > 0 ? call_place_before(&place, found) : call_place_before(found, &place);
        if (found->row == TV_NONE || nearer)
            *found = place;
    }
    return found->row != TV_NONE;
}

uint64_t tv_call_search_count_places(const struct tv_call_search *search, const bool *wanted,
                                     const struct tv_call_place *place, uint64_t *of)
{
    const struct tv_trace *trace = search->trace;
    uint64_t before = 0;
    *of = 0;
    for (uint32_t i = 0; i < trace->row_count; i++) {
        if (!wanted[trace->rows[i].track] || !tv_call_search_has_row(search, i))
            continue;
        uint32_t until = call_search_row_until(trace, i, place);
        uint32_t first_part = tv_call_search_count(search, i, 0, until);
        before += first_part;
        *of += first_part + tv_call_search_count(search, i, until, trace->rows[i].count);
    }
    return before;
}

uint64_t tv_call_search_rank(const struct tv_call_search *search, uint32_t row, uint32_t index,
                             uint64_t *of)
{
    assert(index < search->trace->rows[row].count);
    const struct tv_trace *trace = search->trace;
    const struct tv_track *track = &trace->tracks[trace->rows[row].track];
    tv_ns start = tv_slice_start(trace, row, index);
    uint64_t before = 0;
    *of = 0;
    for (uint32_t i = track->first_row; i < track->first_row + track->row_count; i++) {
        if (!tv_call_search_has_row(search, i))
            continue;
        /* Calls that start at the same time count as earlier if their row is above. */
        uint32_t mine = i == row  ? index
                        : i < row ? tv_row_find_start(trace, i, start + 1)
                                  : tv_row_find_start(trace, i, start);
        uint32_t first_part = tv_call_search_count(search, i, 0, mine);
        before += first_part;
        *of += first_part + tv_call_search_count(search, i, mine, trace->rows[i].count);
    }
    return before + 1;
}

/* Append an extent, or extend the last one if the gap is less than a pixel. */
static void extents_add(struct tv_track_extents *extents, struct tv_extent extent, tv_ns pixel)
{
    struct tv_extent *last = extents->count ? &extents->list[extents->count - 1] : NULL;
    if (last && extent.start - last->end < pixel) {
        last->end = extent.end > last->end ? extent.end : last->end;
        return;
    }
    extents->list = tv_array_reserve(extents->list, &extents->capacity, (size_t)extents->count + 1,
                                     sizeof *extents->list);
    extents->list[extents->count++] = extent;
}

/* Merge the extents of one row into those of the track; `found` is empty afterwards. */
static void extents_merge(struct tv_track_extents *track, struct tv_track_extents *found,
                          tv_ns pixel)
{
    struct tv_track_extents merged = {0};
    uint32_t i = 0, k = 0;
    if (found->count == 0)
        return;
    while (i < track->count || k < found->count) {
        bool first =
            k == found->count || (i < track->count && track->list[i].start <= found->list[k].start);
        extents_add(&merged, first ? track->list[i++] : found->list[k++], pixel);
    }
    tv_free(track->list);
    *track = merged;
    found->count = 0;
}

/* Search for extents, shared by workers. */
struct extents_job {
    const struct tv_trace *trace;
    struct tv_call_search search;
    tv_ns pixel;
    struct tv_slice_runs runs;
    unsigned workers;
    struct tv_track_extents *tracks; /* [workers][track_count] */
};

/* State of one worker: extents by track, and those of the current run. */
struct extents_share {
    const struct extents_job *job;
    struct tv_track_extents *tracks; /* [track_count] */
    struct tv_track_extents found;
};

/* Search one run and merge its extents into the track's. */
static void extents_search_run(void *context, const struct tv_slice_run *run)
{
    struct extents_share *share = context;
    const struct extents_job *job = share->job;
    uint32_t end = run->first + run->count;
    for (uint32_t i = run->first; (i = tv_call_search_next(&job->search, run->row, i, end)) < end;
         i++) {
        tv_ns start = tv_slice_start(job->trace, run->row, i);
        extents_add(&share->found, (struct tv_extent){start, tv_slice_end(job->trace, run->row, i)},
                    job->pixel);
    }
    extents_merge(&share->tracks[job->trace->rows[run->row].track], &share->found, job->pixel);
}

/* Search the runs of one worker. */
static void extents_search_share(void *context, unsigned index)
{
    struct extents_job *job = context;
    struct extents_share share = {.job = job,
                                  .tracks = job->tracks + (size_t)index * job->trace->track_count};
    tv_slice_runs_share(&job->runs, index, job->workers, extents_search_run, &share);
    tv_free(share.found.list);
}

/* List the runs of all rows that may hold calls of the frame. */
static void extents_plan(struct extents_job *job, const struct tv_selection *selection)
{
    const struct tv_trace *trace = job->trace;
    bool *wanted = tv_selection_wanted(trace, selection);
    tv_slice_runs_init(&job->runs, trace->row_count);
    for (uint32_t i = 0; i < trace->row_count && selection->from < selection->to; i++) {
        uint32_t first, end;
        if (!wanted[trace->rows[i].track] || !tv_call_search_has_row(&job->search, i))
            continue;
        tv_row_overlap(trace, i, selection->from, selection->to, &first, &end);
        tv_slice_runs_add(&job->runs, (struct tv_slice_run){i, first, end - first});
    }
    tv_free(wanted);
}

/* With fewer slices than this, a second thread costs more than it saves. */
#define SLICES_A_WORKER 1000000u

struct tv_extents *tv_extents_of(const struct tv_trace *trace, uint32_t frame,
                                 const struct tv_selection *selection, tv_ns pixel,
                                 unsigned workers)
{
    struct tv_extents *extents = tv_alloc(1, sizeof *extents);
    struct extents_job job = {.trace = trace, .pixel = pixel > 1 ? pixel : 1};
    tv_call_search_init(&job.search, trace, frame);
    extents_plan(&job, selection);
    job.workers = tv_slice_runs_workers(&job.runs, SLICES_A_WORKER, workers);
    job.tracks = tv_alloc(tv_size_mul(job.workers, trace->track_count), sizeof *job.tracks);
    tv_workers_run(job.workers, extents_search_share, &job);
    for (size_t i = trace->track_count; i < (size_t)job.workers * trace->track_count; i++) {
        extents_merge(&job.tracks[i % trace->track_count], &job.tracks[i], job.pixel);
        tv_free(job.tracks[i].list);
    }
    extents->track_count = trace->track_count;
    extents->tracks = job.tracks;
    tv_slice_runs_release(&job.runs);
    tv_call_search_release(&job.search);
    return extents;
}

void tv_extents_free(struct tv_extents *extents)
{
    if (!extents)
        return;
    for (uint32_t i = 0; i < extents->track_count; i++)
        tv_free(extents->tracks[i].list);
    tv_free(extents->tracks);
    tv_free(extents);
}
