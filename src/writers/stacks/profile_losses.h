/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_losses.h - what no profile of other tools holds: pprof, speedscope, Firefox, .cpuprofile.
 */
#ifndef TV_WRITERS_STACKS_PROFILE_LOSSES_H
#define TV_WRITERS_STACKS_PROFILE_LOSSES_H

#include "base/map.h"
#include "base/out.h"
#include "model/trace.h"

struct tv_profile_losses {
    uint64_t arguments; /* samples of inputs whose samples have labels or fields */
    uint64_t cpus;      /* samples whose processor is known */
    uint64_t zeros;     /* samples of pprof whose values are all 0, which are no rows */
    uint64_t kinds;     /* functions that are of the kernel, compiled at run time, ... */
    uint64_t flows;
    uint64_t others;     /* objects, snapshots, memory dumps, contexts */
    uint64_t signatures; /* signatures of functions */
    uint64_t sums;  /* of value types that have exact costs, which the sum of their stacks is not */
    uint64_t costs; /* exact figures of functions, of files without stacks */
    uint64_t metadata;     /* properties of inputs */
    bool *has_arguments;   /* [inputs] */
    struct tv_map offsets; /* input << 40 | offset of the samples that were counted */
};

/* Count what belongs to no sample.  Release the losses later. */
void tv_profile_losses_init(struct tv_profile_losses *losses, const struct tv_trace *trace);
void tv_profile_losses_release(struct tv_profile_losses *losses);

/* Count what is lost of a sample that is written. */
void tv_profile_losses_add_sample(struct tv_profile_losses *losses, const struct tv_sample *sample);

/* Put the losses into words, a line for each kind. */
void tv_profile_losses_write(struct tv_out *out, const struct tv_profile_losses *losses);

#endif
