/* SPDX-License-Identifier: Apache-2.0 */
/* made_file.h - packed files that tests write byte by byte, and the bytes that come out of them. */
#ifndef TV_TESTS_MADE_FILE_H
#define TV_TESTS_MADE_FILE_H

#include "base/bytes.h"

#define MADE_FILE_ROOM 8192u

struct made_file {
    uint8_t bytes[MADE_FILE_ROOM];
    size_t length;
};

/* Append bytes; the test fails when there is no room. */
void made_file_append(struct made_file *file, const void *bytes, size_t length);

/* Return true when tv_unpack takes the beginning of the file for something packed. */
bool made_file_is_known(const struct made_file *file);

/* Fail the test unless the file unpacks to one member that `wanted` accepts and that has the
 * expected bytes, at once and as it comes.  `is_cut`: unpacking at once says that it is cut off. */
void made_file_assert_unpacks(const struct made_file *packed,
                              bool (*wanted)(void *context, struct tv_bytes head),
                              const struct made_file *expected, bool is_cut);

#endif
