/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite.h - a trace of any inputs as one Trace Event file.
 *
 * Each input takes one of three ways into the new file:
 *
 *     Trace Event file          its events one by one, unchanged (readers/trace_event/rewrite.h)
 *     ftrace, power samples,    its text, as a member beside the events
 *     process lists
 *     anything else, or an      events written from the model (writers/trace/trace_event.h)
 *     excerpt of these
 */
#ifndef TV_WRITERS_REWRITE_H
#define TV_WRITERS_REWRITE_H

#include "analysis/subset/subset.h"
#include "base/out.h"
#include "readers/trace_event/rewrite.h"
#include "writers/trace/trace_event.h"

struct tv_rewrite_losses {
    struct tv_trace_event_losses model; /* of the inputs that were written from the model */
    uint64_t samples;                   /* samples of threads whose IDs occur in several files */
};

/* Return true when any input contains more than calls. */
bool tv_rewrite_can(const struct tv_trace *trace);

/* Return true when the text of any input is written as it stands, also where it has no events. */
bool tv_rewrite_keeps_text(const struct tv_trace *trace);

/* The selection that the trace was cut to (analysis/subset/subset.h). */
struct tv_rewrite_excerpt {
    const struct tv_subset *keep; /* processes, threads and categories */
    bool tracks_only;             /* as in struct tv_crop */
    bool modelled;                /* write everything from the model, nothing from the text of the
                                   * inputs */
    bool ranged;                  /* it is cut to [from, to) of the axis */
    tv_ns from, to;
    const struct tv_event_limit *limit; /* NULL: no limits */
};

/* Write every event of the trace. `excerpt` NULL: the trace contains all of its inputs. */
enum tv_status tv_rewrite(const struct tv_trace *trace, const struct tv_rewrite_excerpt *excerpt,
                          struct tv_out *out, struct tv_rewrite_losses *losses,
                          struct tv_error *err) TV_MUST_CHECK;

/* ---- rewrite_selection.c: the selected events of one Trace Event file ---- */

struct tv_rewrite_selection;

/* `machine`: the machine of the input's processes (model/finalize.h), or TV_NONE: any. */
struct tv_rewrite_selection *tv_rewrite_selection_new(const struct tv_trace *trace,
                                                      const struct tv_rewrite_excerpt *excerpt,
                                                      uint32_t input, uint32_t machine);
void tv_rewrite_selection_free(struct tv_rewrite_selection *choice);
struct tv_te_rewrite_selection tv_rewrite_selection_of(struct tv_rewrite_selection *choice);

#endif
