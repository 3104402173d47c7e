/* SPDX-License-Identifier: Apache-2.0 */
/*
 * battor.h - what a BattOr (a power meter of Google's) measured beside a trace.
 *
 *     # BattOr
 *     # sample_rate 2000 Hz, gain 5.0x
 *     2.500000 1.000000 4000.000000 <sync id>
 *
 * A line is milliseconds, millivolts, milliamperes and maybe the id of a clock mark.
 */
#ifndef TV_READERS_BATTOR_H
#define TV_READERS_BATTOR_H

#include "readers/reader.h"

struct tv_battor_line {
    tv_ns time;
    double watts;            /* negative: the meter was wrong, nothing but the mark counts */
    struct tv_bytes sync_id; /* length 0: none */
};

/* False: the line is no sample. Comments and blank lines are none. */
bool tv_battor_line(struct tv_bytes text, struct tv_battor_line *line);

/* One counter of power; the ids are clock syncs, the comments metadata. */
extern const struct tv_reader tv_reader_battor;

#endif
