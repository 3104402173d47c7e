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

/* Append bytes that do not compress. */
void made_file_append_noise(struct made_file *file, size_t length);

/* Return true when tv_unpack takes the beginning of the file for something packed. */
bool made_file_is_known(const struct made_file *file);

/* Fail the test unless the file unpacks to one member that `wanted` accepts and that has the
 * expected bytes, at once and as it comes.  `is_cut`: unpacking at once says that it is cut off. */
void made_file_assert_unpacks(const struct made_file *packed,
                              bool (*wanted)(void *context, struct tv_bytes head),
                              const struct made_file *expected, bool is_cut);

/* Fail the test unless a file that cannot be read from some byte on gives the error of that read,
 * whichever byte it is, at once and as it comes: an unreadable file is never a shorter trace. */
void made_file_assert_reports_breaks(const struct made_file *packed,
                                     bool (*wanted)(void *context, struct tv_bytes head));

/* Fail the test unless a file whose content no reader wants is an error, at once and as it comes.
 */
void made_file_assert_unwanted(const struct made_file *packed);

#endif
