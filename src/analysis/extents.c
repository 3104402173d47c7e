/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/extents.h"

#include "analysis/subset/selection.h"
#include "analysis/search/call_search.h"
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

struct job {
    const struct tv_trace *trace;
    struct tv_call_search search;
    tv_ns pixel;
    struct tv_slice_runs runs;
    unsigned workers;
    struct tv_track_extents *tracks; /* [workers][track_count] */
};

struct share {
    const struct job *job;
    struct tv_track_extents *tracks; /* [track_count] */
    struct tv_track_extents found;
};

static void search_run(void *context, const struct tv_slice_run *run)
{
    struct share *share = context;
    const struct job *job = share->job;
    uint32_t end = run->first + run->count;
    for (uint32_t i = run->first; (i = tv_call_search_next(&job->search, run->row, i, end)) < end;
         i++) {
        tv_ns start = tv_slice_start(job->trace, run->row, i);
        add(&share->found, (struct tv_extent){start, tv_slice_end(job->trace, run->row, i)},
            job->pixel);
    }
    merge(&share->tracks[job->trace->rows[run->row].track], &share->found, job->pixel);
}

static void search_share(void *context, unsigned index)
{
    struct job *job = context;
    struct share share = {.job = job,
                          .tracks = job->tracks + (size_t)index * job->trace->track_count};
    tv_slice_runs_share(&job->runs, index, job->workers, search_run, &share);
    tv_free(share.found.list);
}

static void plan(struct job *job, const struct tv_selection *selection)
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

/* Below so many slices a second thread costs more than it brings. */
#define SLICES_A_WORKER 1000000u

struct tv_extents *tv_extents_of(const struct tv_trace *trace, uint32_t frame,
                                 const struct tv_selection *selection, tv_ns pixel,
                                 unsigned workers)
{
    struct tv_extents *extents = tv_alloc(1, sizeof *extents);
    struct job job = {.trace = trace, .pixel = pixel > 1 ? pixel : 1};
    tv_call_search_init(&job.search, trace, frame);
    plan(&job, selection);
    job.workers = tv_slice_runs_workers(&job.runs, SLICES_A_WORKER, workers);
    job.tracks = tv_alloc(tv_size_mul(job.workers, trace->track_count), sizeof *job.tracks);
    tv_workers_run(job.workers, search_share, &job);
    for (size_t i = trace->track_count; i < (size_t)job.workers * trace->track_count; i++) {
        merge(&job.tracks[i % trace->track_count], &job.tracks[i], job.pixel);
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
