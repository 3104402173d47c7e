/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tell.h - slices, instants and arrows that are found when all parts of a file are put together.
 *
 * Threads and frames are those of the head.
 */
#ifndef TV_READERS_FTRACE_TELL_H
#define TV_READERS_FTRACE_TELL_H

#include "readers/ftrace/merge.h"

struct tv_ft_told {
    uint32_t thread, frame;
    int64_t start, length;
    uint64_t offset;
};

struct tv_ft_tell {
    struct tv_ft_merge *merge;
    struct tv_gather *gather;
};

void tv_ft_tell_init(struct tv_ft_tell *tell, struct tv_ft_merge *merge);

/* A slice of the kernel's. */
void tv_ft_tell_slice(struct tv_ft_tell *tell, const struct tv_ft_told *told);

/* One that goes on to the end of the trace. */
void tv_ft_tell_open(struct tv_ft_tell *tell, const struct tv_ft_told *told);
void tv_ft_tell_instant(struct tv_ft_tell *tell, const struct tv_ft_told *told);

/* Gives the slices to the assembly. */
void tv_ft_tell_end(struct tv_ft_tell *tell);

/* A line of the kernel's own. */
uint32_t tv_ft_add_line(struct tv_ft_merge *merge, struct tv_bytes name);
uint32_t tv_ft_add_frame(struct tv_ft_merge *merge, struct tv_bytes name, const char *category);

#endif
