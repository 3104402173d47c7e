/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs.h - the slices that a question is about, row by row, and their division among workers.
 */
#ifndef TV_ANALYSIS_RUNS_H
#define TV_ANALYSIS_RUNS_H

#include "base/types.h"

/* Neighbouring slices of one row. */
struct tv_run {
    uint32_t row, first, count;
};

struct tv_runs {
    struct tv_run *list; /* owned */
    uint32_t count;
    uint64_t slices; /* of all runs */
};

/* Room for so many runs, one a row; released by tv_runs_release. */
void tv_runs_init(struct tv_runs *runs, uint32_t rows);
void tv_runs_release(struct tv_runs *runs);

/* Adds a run, unless it is empty. */
void tv_runs_add(struct tv_runs *runs, struct tv_run run);

/* How many workers are worth starting when each should have `least` slices; `asked` unless it is
 * 0. */
unsigned tv_runs_workers(const struct tv_runs *runs, uint64_t least, unsigned asked);

/* Calls `take` with each run, or part of one, that is the share of a worker (index < workers) when
 * all slices are laid end to end and divided evenly. */
void tv_runs_share(const struct tv_runs *runs, unsigned index, unsigned workers,
                   void (*take)(void *context, const struct tv_run *run), void *context);

#endif
