/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spaces.h - which file an address of a process belongs to: the executable mappings of each process
 * as they come and go.
 *
 * A process that forks gives its mappings to its child, exec begins anew, and a mapping takes the
 * place of what it covers.  Files are numbered once, by path and build id; what is no file (code
 * that was made at run time) is numbered by its process, as /tmp/perf-PID.map is.
 */
#ifndef TV_PERF_SPACES_H
#define TV_PERF_SPACES_H

#include "base/types.h"
#include "perf/record.h"
#include "symbols/elf.h"

enum tv_perf_file_kind {
    TV_PERF_ELF,    /* places are offsets in the file */
    TV_PERF_MADE,   /* places are addresses; names may be in /tmp/perf-PID.map */
    TV_PERF_VDSO,   /* the kernel's code in every process */
    TV_PERF_KERNEL, /* places are addresses */
};

#define TV_PERF_KERNEL_FILE 0u
#define TV_PERF_NO_FILE UINT32_MAX

struct tv_perf_file {
    enum tv_perf_file_kind kind;
    char *path;
    uint32_t pid; /* of TV_PERF_MADE */
    char *dump;   /* of TV_PERF_MADE: its jitdump file; NULL: none */
    uint8_t build_id[TV_PERF_BUILD_ID];
    uint8_t build_id_size; /* 0: unknown */
};

/* File 0 is the kernel. */
struct tv_perf_spaces {
    struct tv_perf_file *files;
    size_t file_count, file_capacity;
    struct tv_perf_space *spaces; /* by rising pid */
    size_t count, capacity;
    char root[32]; /* below which files lie as the processes see them; "": as we do */
};

void tv_perf_spaces_init(struct tv_perf_spaces *spaces);
void tv_perf_spaces_release(struct tv_perf_spaces *spaces);

/* The process has that mapping from now on; only an executable one can be found. */
void tv_perf_spaces_map(struct tv_perf_spaces *spaces, uint32_t pid,
                        const struct tv_perf_mapping *mapping);
/* The child has the mappings of its parent. */
void tv_perf_spaces_fork(struct tv_perf_spaces *spaces, uint32_t parent, uint32_t child);
/* The process has a new program, or none any more. */
void tv_perf_spaces_clear(struct tv_perf_spaces *spaces, uint32_t pid);

/* The file that lies at the address, and the place within it; TV_PERF_NO_FILE: none is known. */
uint32_t tv_perf_spaces_find(const struct tv_perf_spaces *spaces, uint32_t pid, uint64_t address,
                             uint64_t *place);

/* The user's part of a stack that was copied: addresses as tv_unwind_walk has them; 0: nothing can
 * be said. */
uint32_t tv_perf_spaces_unwind(struct tv_perf_spaces *spaces, uint32_t pid,
                               const struct tv_unwind_thread *thread, uint64_t *addresses,
                               uint32_t room);

#endif
