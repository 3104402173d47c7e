/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbol_list.h - lists of symbols in text: a start, perhaps a size, and a name on each line.
 *
 *     /proc/kallsyms       ffffffff81000000 T _text           [module]
 *     /tmp/perf-PID.map    7f0012345000 1a0 LazyCompile:~parse app.js:7
 */
#ifndef TV_PERF_SYMBOL_LIST_H
#define TV_PERF_SYMBOL_LIST_H

#include "base/types.h"

struct tv_symbol {
    uint64_t start, end; /* end == start: up to the next one */
    size_t name, length; /* in the text */
    size_t line;         /* of two at one place the later one counts */
};

struct tv_symbol_list {
    char *text;
    struct tv_symbol *symbols; /* by rising start */
    size_t count, capacity;
};

/* False: the file is not there, too large, or not to be trusted: its owner is neither root, nor who
 * asks, nor `owner`. */
bool tv_symbol_list_read_map(struct tv_symbol_list *list, const char *path, uint32_t owner);
/* Read a jitdump file (jit_dump.h) the same way. */
bool tv_symbol_list_read_dump(struct tv_symbol_list *list, const char *path, uint32_t owner);
bool tv_symbol_list_read_kernel(struct tv_symbol_list *list);
/* Would that read any, without doing it?  To those who may not know, all are at 0. */
bool tv_symbol_list_has_kernel(void);
void tv_symbol_list_release(struct tv_symbol_list *list);

/* The name of what lies at the address; empty: nothing known. */
struct tv_bytes tv_symbol_list_find(const struct tv_symbol_list *list, uint64_t address);

/* Read a text of the one form or the other, which the list takes over. */
void tv_symbol_list_parse(struct tv_symbol_list *list, char *text, bool kernel);

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

/* Is it the name of such a file? */
bool tv_jit_dump_is_name(const char *path);

/* Return the code of a jitdump as text of /tmp/perf-PID.map ("START SIZE NAME" a line) with a NUL,
 * to be freed by tv_free; NULL: not a jitdump of this machine's byte order.  The text is at most
 * eight times as long as the dump, and 512 MiB; code beyond has no name. */
char *tv_jit_dump_to_map(struct tv_bytes dump);

#endif
