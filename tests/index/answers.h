/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answers.h - all that a trace says: every question of a view about it, each with what the trace
 * has of what it asks for, and the trace itself.
 */
#ifndef TV_TESTS_ANSWERS_H
#define TV_TESTS_ANSWERS_H

#include "model/trace.h"
#include "view/view.h"

/* Adds questions and answers, errors included.  `most` bounds how many of a kind are asked. */
void answers_write(const struct tv_view *view, const struct tv_trace *trace, uint32_t most,
                   struct tv_out *out);

#endif
