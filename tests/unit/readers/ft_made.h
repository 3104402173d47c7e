/* SPDX-License-Identifier: Apache-2.0 */
/* ft_made.h - ftrace text in, the resulting trace as text out, for tests. */
#ifndef TV_TESTS_FT_MADE_H
#define TV_TESTS_FT_MADE_H

/* Check the trace of the text, line by line: tracks with their rows of slices, counters,
 * instants, wake-ups, arrows, stacks and diagnostics. Times are microseconds from the first
 * event. Several chunks, cut anywhere, must give the same. */
void means(const char *text, const char *expected);

/* Return the clocks of the text: TV_CLOCK_WALL, TV_CLOCK_CPU or both. */
unsigned clocks_of(const char *text);

#endif
