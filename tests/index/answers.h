/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answers.h - asks a view of a trace every question, with items that the trace has, so that two
 * traces can be compared by their answers.
 */
#ifndef TV_TESTS_ANSWERS_H
#define TV_TESTS_ANSWERS_H

#include "model/trace.h"
#include "view/view.h"

/* Write questions and answers, errors included.  Ask at most `most` questions of a kind. */
void answers_write(const struct tv_view *view, const struct tv_trace *trace, uint32_t most,
                   struct tv_out *out);

#endif
