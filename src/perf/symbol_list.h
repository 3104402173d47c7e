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

#endif
