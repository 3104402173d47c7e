/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipe.h - a source over what can be read only once. A platform file, as file.h is.
 *
 * The bytes go into a spool as they are asked for: a reader that needs the first ones does not wait
 * for the last.
 */
#ifndef TV_BASE_PIPE_H
#define TV_BASE_PIPE_H

#include "base/source.h"

/* A source that grows (source.h) while `fd` is read, from where it stands to its end; takes it
 * over. `name` becomes the source's. */
struct tv_source *tv_pipe_open(int fd, const char *name);

#endif
