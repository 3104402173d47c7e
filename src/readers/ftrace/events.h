/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.h - what each event of ftrace text means (ftrace.md section 3).
 *
 * A table names the events with a meaning; everything else is an instant on the thread that emitted
 * it.  Families of events stand in files of their own, each with a table that ends with a NULL
 * name.
 */
#ifndef TV_READERS_FTRACE_EVENTS_H
#define TV_READERS_FTRACE_EVENTS_H

#include "readers/ftrace/part.h"

/* The result of reading the fields of a known event. */
enum tv_ft_taken {
    TV_FT_MALFORMED, /* its fields cannot be read: counted (TV_DIAGNOSTIC_BAD_FIELDS), an instant */
    TV_FT_TAKEN,
    TV_FT_INSTANT, /* its fields say that it is no more than an instant */
};

typedef enum tv_ft_taken tv_ft_handler(struct tv_ft_part *part, const struct tv_ft_line *line,
                                       const struct tv_ft_at *at, const struct tv_ft_event *event);

struct tv_ft_event {
    const char *name;
    tv_ft_handler *handle;
    /* What handlers that serve several events need: */
    const char *title, *category, *key, *value, *series;
};

extern const struct tv_ft_event tv_ft_sched_events[];   /* switch.c: who runs, who is woken */
extern const struct tv_ft_event tv_ft_mark_events[];    /* marks.c: what programs wrote */
extern const struct tv_ft_event tv_ft_kernel_events[];  /* kernel.c: slices of the kernel */
extern const struct tv_ft_event tv_ft_counter_events[]; /* counters.c: frequencies, voltages */
extern const struct tv_ft_event tv_ft_disk_events[];    /* disk.c: block, ext4, f2fs */
extern const struct tv_ft_event tv_ft_binder_events[];  /* binder.c: transactions */
extern const struct tv_ft_event tv_ft_gpu_events[];     /* gpu.c: fences, flips, jobs */
extern const struct tv_ft_event tv_ft_mali_events[];    /* mali.c: counters of Mali */
extern const struct tv_ft_event tv_ft_mali_slot, tv_ft_mali_other; /* by beginnings of names */

/* Takes in one event. */
void tv_ft_take(struct tv_ft_part *part, const struct tv_ft_line *line, uint64_t offset);

#endif
