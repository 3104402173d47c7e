/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h - what a screen asks of a trace, and the exact bytes it gets (docs/view-protocol.md).
 *
 * No HTTP here: the same questions can be asked by a server, a test or another host of the engine.
 * A question is a name ("profile") with parameters; nothing about them is trusted.
 */
#ifndef TV_VIEW_VIEW_H
#define TV_VIEW_VIEW_H

#include "base/error.h"
#include "base/out.h"
#include "model/trace.h"

struct tv_view;

/* Prepares all that screens ask again and again: pyramid, ranks, the tree of the whole trace. The
 * trace must live as long as the view. */
struct tv_view *tv_view_new(const struct tv_trace *trace);
void tv_view_free(struct tv_view *view);

struct tv_view_parameter {
    struct tv_bytes name, value; /* decoded */
};

struct tv_view_question {
    struct tv_bytes name; /* what stands behind "api/" */
    const struct tv_view_parameter *parameters;
    size_t count;
};

/* Whether there is such a question; *binary: its answer is bytes, not JSON. */
bool tv_view_knows(struct tv_bytes name, bool *binary);

/* Whether its answer is as large as the trace: better for an `out` that hands on what it gets. */
bool tv_view_is_large(struct tv_bytes name);

/* Adds the answer to `out`, which is empty.  TV_ERR_USAGE: the question is wrong, and why; nothing
 * was added then.  Any question may have a parameter "filter" (docs/filter.md): where that is wrong
 * err->offset tells the character of it, from 1.  Any number of threads may ask at once. */
enum tv_status tv_view_answer(const struct tv_view *view, const struct tv_view_question *question,
                              struct tv_out *out, struct tv_error *err) TV_MUST_CHECK;

#endif
