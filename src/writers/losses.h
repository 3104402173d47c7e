/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ---- What a trace lost when it was written, a line for each loss ----
 */
#ifndef TV_WRITERS_LOSSES_H
#define TV_WRITERS_LOSSES_H

#include "writers/piece.h"

/* `trace`: the whole trace that was read. */
void tv_losses_write_method_trace(struct tv_out *out, const struct tv_trace *trace,
                                  enum tv_trace_target target,
                                  const struct tv_trace_file_losses *losses);
void tv_losses_write_events(struct tv_out *out, const struct tv_trace *trace,
                            const struct tv_excerpt_losses *losses);

/* The same for an excerpt that was written as a method trace (`file`) or as events. */
void tv_losses_write_excerpt(struct tv_out *out, const struct tv_excerpt *excerpt, bool file,
                             const struct tv_excerpt_losses *losses);

#endif
