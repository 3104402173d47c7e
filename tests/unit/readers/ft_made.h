/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ft_made.h - a reading of ftrace text as text, for tests.
 */
#ifndef TV_TESTS_FT_MADE_H
#define TV_TESTS_FT_MADE_H

/* What the text means, a line each: tracks with their rows of slices, counters, instants, wake-ups,
 * arrows, stacks and what was counted.  Times are microseconds from the first event.  The same must
 * come of several parts, cut anywhere. */
void means(const char *text, const char *expected);

/* Which clocks the text has: TV_CLOCK_WALL, TV_CLOCK_CPU or both. */
unsigned clocks_of(const char *text);

#endif
