/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite.h - a trace of any inputs as one Trace Event file.
 *
 * Trace Event files are written event by event, as they are (trace_event/rewrite.h).  Of other
 * inputs the text stands beside the events where the format has a place for it (ftrace, power
 * samples, lists of processes); what has none, and of which only a part is wanted, is written from
 * the model (trace_event.h).
 */
#ifndef TV_WRITERS_REWRITE_H
#define TV_WRITERS_REWRITE_H

#include "analysis/keep.h"
#include "base/out.h"
#include "readers/trace_event/rewrite.h"
#include "writers/trace_event.h"

struct tv_rewrite_losses {
    struct tv_trace_event_losses model; /* of what was written from the model */
    uint64_t samples;                   /* of threads whose ids several files have */
};

/* Whether any input has more than calls. */
bool tv_rewrite_can(const struct tv_trace *trace);

/* What was left when the trace was made (analysis/cut.h), of a part of what its inputs hold. */
struct tv_rewrite_part {
    const struct tv_keep *keep; /* of the processes, threads and categories */
    bool tracks_only;           /* as in struct tv_cut */
    bool modelled;              /* nothing is to be taken from the text of its inputs */
    bool ranged;                /* it is cut to [from, to) of the axis */
    tv_ns from, to;
    const struct tv_event_limit *limit; /* NULL: nothing is too long or too late */
};

/* Every event of the trace; `part` NULL: it is all that its inputs hold. */
enum tv_status tv_rewrite(const struct tv_trace *trace, const struct tv_rewrite_part *part,
                          struct tv_out *out, struct tv_rewrite_losses *losses,
                          struct tv_error *err) TV_MUST_CHECK;

/* ---- rewrite_choice.c: which events of one Trace Event file are wanted ---- */

struct tv_rewrite_choice;

/* `machine`: that of the input's processes (model/machines.h), or TV_NONE: of any. */
struct tv_rewrite_choice *tv_rewrite_choice_new(const struct tv_trace *trace,
                                                const struct tv_rewrite_part *part, uint32_t input,
                                                uint32_t machine);
void tv_rewrite_choice_free(struct tv_rewrite_choice *choice);
struct tv_te_rewrite_selection tv_rewrite_choice_of(struct tv_rewrite_choice *choice);

#endif
