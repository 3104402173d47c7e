/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign.h - names for files that no reader knows.
 */
#ifndef TV_READERS_FOREIGN_H
#define TV_READERS_FOREIGN_H

#include "base/types.h"

/* Whether there is nothing to read: no byte, or only white space. */
bool tv_foreign_is_nothing(struct tv_bytes head);

/* What a file is that begins with these bytes ("a Perfetto trace (protobuf)"), or NULL. */
const char *tv_foreign_name(struct tv_bytes head);

/* What somebody can do who has such a file, or NULL. */
const char *tv_foreign_advice(struct tv_bytes head);

#endif
