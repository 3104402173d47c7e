/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit_dump.h - jitdump files, in which programs say what code they have made (jit-PID.dump).
 *
 *     header   "JiTD" as a number of the program's byte order, version, size, ...
 *     records  kind, size, time; a load (0): process, thread, address twice, size, number, name
 *              with its NUL, code; a move (1): process, thread, address, old, new, size, number
 *
 * Written by node --perf-prof, agents of JVMs and others, and described in the kernel's
 * tools/perf/Documentation/jitdump-specification.txt.  A program maps the first page of the file
 * executable, which is how a recording learns of it.
 */
#ifndef TV_PERF_JIT_DUMP_H
#define TV_PERF_JIT_DUMP_H

#include "base/types.h"

/* Is it the name of such a file? */
bool tv_jit_dump_is_name(const char *path);

/* Return the code of a jitdump as text of /tmp/perf-PID.map ("START SIZE NAME" a line) with a NUL,
 * to be freed by tv_free; NULL: not a jitdump of this machine's byte order.  The text is at most
 * eight times as long as the dump, and 512 MiB; code beyond has no name. */
char *tv_jit_dump_to_map(struct tv_bytes dump);

#endif
