/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sched.h - who ran on each processor, and the states of each thread (ftrace.md section 5).
 */
#ifndef TV_READERS_FTRACE_SCHED_H
#define TV_READERS_FTRACE_SCHED_H

#include "model/assembly/assembly.h"
#include "readers/ftrace/part.h"

/* What of the whole file is sorted by time; tasks are threads of the head, TV_NONE the idle one,
 * frames and texts those of the head. */
struct tv_ft_schedule {
    struct tv_assembly *assembly;
    struct tv_trace_info *head;
    struct tv_tables *tables; /* wake-ups and reasons go there */
    uint32_t input;
    struct tv_ft_switch *switches;
    size_t switch_count;
    struct tv_ft_wakeup *wakeups;
    size_t wakeup_count;
    int64_t end; /* what goes on at the end goes on until then */
    /* Found: */
    struct tv_state_track *strips;    /* of the processors, then of all threads */
    struct tv_state_rows *rows; /* of these: what they show.  NULL: there is nothing */
    size_t processor_count;
    int64_t *known_since;        /* of processors: their first switches */
    struct tv_running *runs;         /* of all threads */
    struct tv_running_clock *clocks; /* of each thread of the head; NULL: none is seen running */
};

/* Fills what is to be found, by that many threads; nothing when there are neither switches nor
 * wake-ups. */
void tv_ft_schedule_find(struct tv_ft_schedule *schedule, unsigned workers);

/* Makes the tracks, after tv_assembly_build_rows.  Clocks of threads are needed no more. */
void tv_ft_schedule_place(struct tv_ft_schedule *schedule);

/* After the strips were made: instants of processors, told by their numbers as yet, get their
 * tracks.  Those of processors that have none are of the whole trace. */
void tv_ft_schedule_tracks(const struct tv_ft_schedule *schedule, struct tv_trace *trace);
void tv_ft_schedule_release(struct tv_ft_schedule *schedule);

#endif
