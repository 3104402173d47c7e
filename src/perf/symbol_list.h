/* SPDX-License-Identifier: Apache-2.0 */
/* symbol_list.h - symbols from text files and jitdump files: one start, perhaps a size, and a name
 * per line.
 *
 *     /proc/kallsyms       ffffffff81000000 T _text           [module]
 *     /tmp/perf-PID.map    7f0012345000 1a0 LazyCompile:~parse app.js:7 */
#ifndef TV_PERF_SYMBOL_LIST_H
#define TV_PERF_SYMBOL_LIST_H

#include "base/types.h"

struct tv_symbol {
    uint64_t start, end; /* end == start: the size is unknown, up to the next symbol */
    size_t name, length; /* position in the text */
    size_t line;         /* of two symbols at one address the later line counts */
};

struct tv_symbol_list {
    char *text;
    struct tv_symbol *symbols; /* sorted by start */
    size_t count, capacity;
};

/* Read a map file. False: it is missing, too large, or not trusted because its owner is neither
 * root, nor ourselves, nor `owner`. */
bool tv_symbol_list_read_map(struct tv_symbol_list *list, const char *path, uint32_t owner);
/* Read a jitdump file the same way. */
bool tv_symbol_list_read_dump(struct tv_symbol_list *list, const char *path, uint32_t owner);
bool tv_symbol_list_read_kernel(struct tv_symbol_list *list);
/* Would tv_symbol_list_read_kernel find symbols? Without the right to see them, all addresses are
 * 0. */
bool tv_symbol_list_has_kernel(void);
void tv_symbol_list_release(struct tv_symbol_list *list);

/* Return the name at the address; empty when unknown. */
struct tv_bytes tv_symbol_list_find(const struct tv_symbol_list *list, uint64_t address);

/* Parse a text in kallsyms or map format. The list takes the text over. */
void tv_symbol_list_parse(struct tv_symbol_list *list, char *text, bool kernel);

/* ---- jitdump files: code that a program has generated (jit-PID.dump) ----
 *
 *     header   "JiTD" as a number in the program's byte order, version, size, ...
 *     records  kind, size, time
 *              load (0): process, thread, address twice, size, number, name with NUL, code
 *              move (1): process, thread, address, old, new, size, number
 *
 * Written by node --perf-prof, agents of JVMs and others; specified in the kernel's
 * tools/perf/Documentation/jitdump-specification.txt. A program maps the first page of the file
 * executable, and so a recording learns of it. */

/* Is it the name of a jitdump file? */
bool tv_jit_dump_is_name(const char *path);

/* Return the contents of a jitdump file in the format of /tmp/perf-PID.map ("START SIZE NAME" per
 * line, with a NUL at the end), to be freed with tv_free. NULL: not a jitdump file in this
 * machine's byte order. The text is at most eight times as long as the dump, and at most 512 MiB;
 * code beyond that has no name. */
char *tv_jit_dump_to_map(struct tv_bytes dump);

#endif
