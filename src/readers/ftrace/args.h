/* SPDX-License-Identifier: Apache-2.0 */
/*
 * args.h - what stands behind the event in a line of ftrace text: "pid=12 comm=a b prio=120".
 */
#ifndef TV_READERS_FTRACE_ARGS_H
#define TV_READERS_FTRACE_ARGS_H

#include "base/types.h"

/* What stands behind the first `mark`; data NULL: there is none. */
struct tv_bytes tv_ft_behind(struct tv_bytes text, const char *mark);

/* The value of a key: up to the next space or comma; data NULL: the key is not there.  The key
 * stands at the beginning or behind a space, a comma or a '('. */
struct tv_bytes tv_ft_arg(struct tv_bytes details, const char *key);

/* The same of a number, decimal or 0x...; false: there is none. */
bool tv_ft_arg_number(struct tv_bytes details, const char *key, int64_t *number);

/* The first word, without spaces around it. */
struct tv_bytes tv_ft_word(struct tv_bytes text);

/* A decimal number or 0x... that is the whole text. */
bool tv_ft_number(struct tv_bytes text, int64_t *number);

/* A decimal number of any size, with a fraction or without: what 64 bits do not hold exactly is as
 * near as a double comes. */
bool tv_ft_quantity(struct tv_bytes text, double *number);

/* The value of a key as such a number, or as 0x...; false: there is none. */
bool tv_ft_arg_quantity(struct tv_bytes details, const char *key, double *number);

/* "bash:10 [120]", as trace-cmd's plugins write a task. */
struct tv_ft_end {
    struct tv_bytes name, tid, priority;
};

/* Takes one from the beginning; false: there is none. */
bool tv_ft_take_end(struct tv_bytes *text, struct tv_ft_end *end);

#endif
