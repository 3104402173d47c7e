/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof.h - a trace as a pprof profile (profile.proto), not yet compressed: files of this format
 * are packed with gzip.
 *
 * A trace with samples keeps all of its value types.  A trace of calls becomes a profile with the
 * number of calls and their own time.  Equal stacks of a thread are one sample.
 */
#ifndef TV_WRITERS_STACKS_PPROF_H
#define TV_WRITERS_STACKS_PPROF_H

#include "base/error.h"
#include "base/out.h"
#include "model/trace.h"
#include "writers/stacks/profile_losses.h"

/* Counts of everything that the format cannot hold. */
struct tv_pprof_losses {
    uint64_t times;   /* samples whose times are lost */
    uint64_t merged;  /* samples that are part of another one of the same stack */
    uint64_t calls;   /* calls that are added up by stack: their times are lost */
    uint64_t slices;  /* of a trace with samples, or of no thread */
    uint64_t tables;  /* instants and counters */
    uint64_t columns; /* functions whose column is lost */
    struct tv_profile_losses profile;
};

/* Write the whole trace; *losses says what the file lacks, and is released by
 * tv_pprof_losses_write.  `types` [value_types.count]: write only
 * these value types, which all samples of the trace have; NULL: all.  TV_ERR_UNSUPPORTED: the trace
 * has neither samples nor calls of threads. */
enum tv_status tv_pprof_write(struct tv_out *out, const struct tv_trace *trace, const bool *types,
                              struct tv_pprof_losses *losses, struct tv_error *err) TV_MUST_CHECK;

/* Put the losses into words, a line for each kind, and release them. */
void tv_pprof_losses_write(struct tv_out *out, struct tv_pprof_losses *losses);

#endif
