/* SPDX-License-Identifier: Apache-2.0 */
/*
 * details.h - what stands behind an event, as arguments with names: "key=value" of most events,
 * and the forms of those that write something else.
 */
#ifndef TV_READERS_FTRACE_DETAILS_H
#define TV_READERS_FTRACE_DETAILS_H

#include "base/types.h"

struct tv_ft_put {
    void (*pair)(void *context, struct tv_bytes key, struct tv_bytes value);
    void *context;
};

/* Calls put->pair for each argument, in the order of the text. */
void tv_ft_put_details(struct tv_bytes event, struct tv_bytes details, const struct tv_ft_put *put);

/* The same of plain text that a program marked, when it has a form that is known. */
void tv_ft_put_said(struct tv_bytes text, const struct tv_ft_put *put);

#endif
