/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_lengths.h - how long the slices of a trace are, and how much of its time those tell that are
 * not short.
 *
 * The time of a slice is its self time: that of one that is left out becomes self time of the one
 * around it, which then tells less of it.
 */
#ifndef TV_CLI_HTML_LENGTHS_H
#define TV_CLI_HTML_LENGTHS_H

#include "model/trace.h"

/* Lengths in 24 steps a decade, two digits each, from 10 ns to 910 s. */
#define TV_HTML_LENGTHS 264u

struct tv_html_lengths {
    double self[TV_HTML_LENGTHS + 1];    /* ns: of slices shorter than that length, not than the one
                                          * before; the last: of all others */
    uint64_t count[TV_HTML_LENGTHS + 1]; /* of these slices */
    uint64_t slices;
    tv_ns span; /* of the trace */
};

/* "1.5us", of the step-th length. */
void tv_html_length_text(size_t step, char text[16]);

/* Adds a trace's slices to what is zeroed before (a function of tv_html_look_at_part). */
void tv_html_lengths_add(void *lengths, const struct tv_trace *trace);

/* How many steps leave out no slice at all. */
size_t tv_html_lengths_idle(const struct tv_html_lengths *lengths);

/* How many steps, idle ones as well, can be climbed so that the slices that stay tell this share of
 * all time, and none goes that has a hundredth of the trace's, which a page shows broadly. */
size_t tv_html_lengths_telling(const struct tv_html_lengths *lengths, double share);

#endif
