/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter_arguments.h - a filter's terms about arguments, which stand in the files alone.
 */
#ifndef TV_ANALYSIS_FILTER_ARGUMENTS_H
#define TV_ANALYSIS_FILTER_ARGUMENTS_H

#include "analysis/filter_text.h"
#include "model/subset/subset.h"

/* Takes from what the sieve keeps of slices and instants (an array by now) what the term does not
 * hold of.  Events that cannot be read again have no arguments. */
void tv_filter_arguments(const struct tv_trace *trace, const struct tv_filter_term *term,
                         struct tv_subset_filter *sieve);

/* Whether an event's text, as tv_describe writes it, has an argument that fits. */
bool tv_filter_described_fits(const struct tv_filter_term *term, struct tv_bytes described);

#endif
