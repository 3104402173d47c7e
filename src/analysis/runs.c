/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/runs.h"

#include "base/memory.h"
#include "base/workers.h"

void tv_runs_init(struct tv_runs *runs, uint32_t rows)
{
    *runs = (struct tv_runs){.list = tv_alloc(rows, sizeof *runs->list)};
}

void tv_runs_release(struct tv_runs *runs)
{
    tv_free(runs->list);
}

void tv_runs_add(struct tv_runs *runs, struct tv_run run)
{
    if (run.count == 0)
        return;
    runs->list[runs->count++] = run;
    runs->slices += run.count;
}

unsigned tv_runs_workers(const struct tv_runs *runs, uint64_t least, unsigned asked)
{
    uint64_t useful = runs->slices / least + 1;
    unsigned workers = tv_workers_available();
    if (asked)
        return asked;
    return workers < useful ? workers : (unsigned)useful;
}

void tv_runs_share(const struct tv_runs *runs, unsigned index, unsigned workers,
                   void (*take)(void *context, const struct tv_run *run), void *context)
{
    uint64_t first = runs->slices * index / workers, end = runs->slices * (index + 1) / workers;
    uint64_t at = 0;
    for (uint32_t i = 0; i < runs->count && at < end; i++) {
        struct tv_run run = runs->list[i];
        uint64_t low = first > at ? first - at : 0;
        uint64_t high = end - at < run.count ? end - at : run.count;
        at += run.count;
        if (low >= high)
            continue;
        run.first += (uint32_t)low;
        run.count = (uint32_t)(high - low);
        take(context, &run);
    }
}
