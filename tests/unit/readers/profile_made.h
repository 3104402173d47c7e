/* SPDX-License-Identifier: Apache-2.0 */
/* profile_made.h - what tests of profile readers share: the samples of a file as text. */
#ifndef TV_TESTS_READERS_PROFILE_MADE_H
#define TV_TESTS_READERS_PROFILE_MADE_H

#include "readers/reader.h"

/* Hold the samples of a file against lines of type, weight, thread, time if there is one, and stack
 * from the leaf: "cpu 5 main at 10 < f:3 < main:9". */
void assert_samples(const struct tv_reader *reader, struct tv_bytes file, const char *expected);

/* Hold what the reader says of a sample when it reads it again. */
void assert_described(const struct tv_reader *reader, struct tv_bytes file, size_t sample,
                      const char *expected);

/* Any cut and any changed byte gives a trace or an error, and no crash (run under ASan). */
void assert_damage_survived(const struct tv_reader *reader, struct tv_bytes file);

#endif
