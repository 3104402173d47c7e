/* SPDX-License-Identifier: Apache-2.0 */
/*
 * te_binding.h - which slice of a thread a flow event means: the deepest around its time, or the
 * next.
 *
 * Asked in the order of time, each thread is gone through once, whatever the number of questions
 * and however deep its slices are.  Times are on the trace's axis.
 */
#ifndef TV_READERS_TE_BINDING_H
#define TV_READERS_TE_BINDING_H

#include "model/assembly.h"

struct tv_te_binding;

struct tv_te_binding *tv_te_binding_new(const struct tv_trace *trace,
                                        const struct tv_assembly *assembly);
void tv_te_binding_free(struct tv_te_binding *binding);

/* The deepest slice with start <= time <= end; at a shared boundary the earlier one.  Times must
 * not go back within a thread. */
bool tv_te_binding_around(struct tv_te_binding *binding, uint32_t thread, tv_ns time, uint32_t *row,
                          uint32_t *index);

/* The first slice, at any depth, that starts after the time; or at it, when its event stands behind
 * `offset` in the file. The same rule for times. */
bool tv_te_binding_next(struct tv_te_binding *binding, uint32_t thread, tv_ns time, uint64_t offset,
                        uint32_t *row, uint32_t *index);

#endif
