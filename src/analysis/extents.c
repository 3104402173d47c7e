/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/extents.h"

#include "analysis/search.h"
#include "base/memory.h"
#include "base/workers.h"

static void add(struct tv_track_extents *extents, struct tv_extent extent, tv_ns pixel)
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

/* Merges what was found in one row into the track's list; `found` is empty afterwards. */
static void merge(struct tv_track_extents *track, struct tv_track_extents *found, tv_ns pixel)
{
    struct tv_track_extents merged = {0};
    uint32_t i = 0, k = 0;
    if (found->count == 0)
        return;
    while (i < track->count || k < found->count) {
        bool first =
            k == found->count || (i < track->count && track->list[i].start <= found->list[k].start);
        add(&merged, first ? track->list[i++] : found->list[k++], pixel);
    }
    tv_free(track->list);
    *track = merged;
    found->count = 0;
}

struct run {
    uint32_t row, first, count;
};

struct job {
    const struct tv_trace *trace;
    struct tv_search search;
    tv_ns pixel;
    struct run *runs;
    uint32_t run_count;
    uint64_t slices;
    unsigned workers;
    struct tv_track_extents *tracks; /* [workers][track_count] */
};

static void search_run(const struct job *job, const struct run *run, struct tv_track_extents *found)
{
    uint32_t end = run->first + run->count;
    for (uint32_t i = run->first; (i = tv_search_next(&job->search, run->row, i, end)) < end; i++) {
        tv_ns start = tv_slice_start(job->trace, run->row, i);
        add(found, (struct tv_extent){start, tv_slice_end(job->trace, run->row, i)}, job->pixel);
    }
}

/* Each worker takes the slices of its share of all runs laid end to end. */
static void search_share(void *context, unsigned index)
{
    struct job *job = context;
    struct tv_track_extents *tracks = job->tracks + (size_t)index * job->trace->track_count;
    uint64_t first = job->slices * index / job->workers,
             end = job->slices * (index + 1) / job->workers;
    struct tv_track_extents found = {0};
    uint64_t at = 0;
    for (uint32_t i = 0; i < job->run_count && at < end; i++) {
        struct run run = job->runs[i];
        uint64_t low = first > at ? first - at : 0,
                 high = end - at < run.count ? end - at : run.count;
        at += run.count;
        if (low >= high)
            continue;
        run.first += (uint32_t)low;
        run.count = (uint32_t)(high - low);
        search_run(job, &run, &found);
        merge(&tracks[job->trace->rows[run.row].track], &found, job->pixel);
    }
    tv_free(found.list);
}

static void plan(struct job *job, const struct tv_selection *selection)
{
    const struct tv_trace *trace = job->trace;
    bool *wanted = tv_selection_wanted(trace, selection);
    job->runs = tv_alloc(trace->row_count, sizeof *job->runs);
    for (uint32_t i = 0; i < trace->row_count && selection->from < selection->to; i++) {
        uint32_t first, end;
        if (!wanted[trace->rows[i].track] || !tv_search_in_row(&job->search, i))
            continue;
        tv_row_overlap(trace, i, selection->from, selection->to, &first, &end);
        if (first == end)
            continue;
        job->runs[job->run_count++] = (struct run){i, first, end - first};
        job->slices += end - first;
    }
    tv_free(wanted);
}

/* Below so many slices a second thread costs more than it brings. */
#define SLICES_A_WORKER 1000000u

struct tv_extents *tv_extents_of(const struct tv_trace *trace, uint32_t frame,
                                 const struct tv_selection *selection, tv_ns pixel,
                                 unsigned workers)
{
    struct tv_extents *extents = tv_alloc(1, sizeof *extents);
    struct job job = {.trace = trace, .pixel = pixel > 1 ? pixel : 1};
    tv_search_init(&job.search, trace, frame);
    plan(&job, selection);
    job.workers = workers ? workers : tv_workers_available();
    if (!workers && job.workers > job.slices / SLICES_A_WORKER + 1)
        job.workers = (unsigned)(job.slices / SLICES_A_WORKER + 1);
    job.tracks = tv_alloc(tv_size_mul(job.workers, trace->track_count), sizeof *job.tracks);
    tv_workers_run(job.workers, search_share, &job);
    for (size_t i = trace->track_count; i < (size_t)job.workers * trace->track_count; i++) {
        merge(&job.tracks[i % trace->track_count], &job.tracks[i], job.pixel);
        tv_free(job.tracks[i].list);
    }
    extents->track_count = trace->track_count;
    extents->tracks = job.tracks;
    tv_free(job.runs);
    tv_search_release(&job.search);
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
