/* SPDX-License-Identifier: Apache-2.0 */
/*
 * later.h - events whose meaning hangs on others, told in the order of time: transactions of
 * binder, time lines of fences, jobs of graphics processors.
 */
#ifndef TV_READERS_FTRACE_LATER_H
#define TV_READERS_FTRACE_LATER_H

#include "readers/ftrace/tell.h"

/* Tells all of them; before the assembly places the slices. */
void tv_ft_tell_later(struct tv_ft_merge *merge);

/* The arrows between their slices, and the events that end them; behind it. */
void tv_ft_place_flows(struct tv_ft_merge *merge);

/* Rows of the whole file: tasks, lines and texts are those of the head. */

/* binder.c: who waits for whom. */
struct tv_ft_binder;
struct tv_ft_binder *tv_ft_binder_new(struct tv_ft_tell *tell);
void tv_ft_binder_take(struct tv_ft_binder *binder, const struct tv_ft_later *row);
void tv_ft_binder_end(struct tv_ft_binder *binder);

/* gpu.c: lines that show one thing at a time. */
struct tv_ft_lines;
struct tv_ft_lines *tv_ft_lines_new(struct tv_ft_tell *tell);
void tv_ft_lines_take(struct tv_ft_lines *lines, const struct tv_ft_later *row);
void tv_ft_lines_end(struct tv_ft_lines *lines);

#endif
