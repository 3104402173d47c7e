/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_spaces.h - which file is mapped where, in each process, while a perf.data file is read.
 *
 *     process   0x1000      0x5000      0x9000
 *        7      | libc.so   | mt        |        later mappings cut earlier ones
 *
 * A forked process shares the mappings of its parent until one of the two maps something.
 */
#ifndef TV_READERS_PERF_DATA_SPACES_H
#define TV_READERS_PERF_DATA_SPACES_H

#include "base/map.h"

struct perf_mapped {
    uint64_t start, end;      /* [start, end) */
    uint64_t move;            /* place in the file - address */
    uint32_t module;          /* string */
    struct tv_bytes build_id; /* empty: unknown */
};

/* Mappings in the order of their addresses, without overlaps. */
struct perf_space {
    struct perf_mapped *maps;
    size_t count, capacity;
    uint32_t users; /* processes that share it; 0: free */
};

/* The kernel is a process of its own here. */
#define TV_PERF_KERNEL_PID UINT64_MAX

struct tv_perf_data_spaces {
    struct perf_space *spaces;
    size_t count, capacity;
    struct tv_map of_process; /* pid -> number of its space */
    size_t map_count;         /* of all spaces */
};

void tv_perf_data_spaces_init(struct tv_perf_data_spaces *spaces);
void tv_perf_data_spaces_release(struct tv_perf_data_spaces *spaces);

/* Map a file.  False: there are too many mappings. */
bool tv_perf_data_spaces_add(struct tv_perf_data_spaces *spaces, uint64_t pid,
                             const struct perf_mapped *mapped) TV_MUST_CHECK;

/* Let a new process have the mappings of its parent. */
void tv_perf_data_spaces_fork(struct tv_perf_data_spaces *spaces, uint64_t parent, uint64_t child);

/* Forget the mappings of a process: it runs another program. */
void tv_perf_data_spaces_clear(struct tv_perf_data_spaces *spaces, uint64_t pid);

/* Return the mapping at an address, or NULL. */
const struct perf_mapped *tv_perf_data_spaces_find(const struct tv_perf_data_spaces *spaces,
                                                   uint64_t pid, uint64_t address);

#endif
