/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h - names for the places of a recording: from the symbols and DWARF of ELF files, from
 * /tmp/perf-PID.map and jitdump files for code that was made at run time, from /proc/kallsyms for
 * the kernel.
 *
 * A file that is not the one that was mapped (another build id) gives no names: wrong ones are
 * worse than none.
 */
#ifndef TV_PERF_NAMES_H
#define TV_PERF_NAMES_H

#include "perf/collect.h"

/* Samples of names from those of places; *samples is empty. */
void tv_perf_names_resolve(const struct tv_perf_collector *collector, struct tv_samples *samples);

#endif
