/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spaces.h - which file an address of a process belongs to: the executable mappings of each process
 * as they come and go.
 *
 * A process that forks gives its mappings to its child, exec begins anew, and a mapping takes the
 * place of what it covers.  Files are numbered once, by path and build id; what is no file (code
 * that was made at run time) is numbered by its process, as /tmp/perf-PID.map is.
 */
#ifndef TV_PERF_COLLECT_H
#define TV_PERF_COLLECT_H

#include "base/map.h"
#include "base/types.h"
#include "perf/records.h"
#include "recorder/samples.h"
#include "symbols/unwind.h"

enum tv_perf_file_kind {
    TV_PERF_ELF,    /* places are offsets in the file */
    TV_PERF_JIT,    /* places are addresses; names may be in /tmp/perf-PID.map */
    TV_PERF_VDSO,   /* the kernel's code in every process */
    TV_PERF_KERNEL, /* places are addresses */
};

#define TV_PERF_KERNEL_FILE 0u
#define TV_PERF_NO_FILE UINT32_MAX

struct tv_perf_file {
    enum tv_perf_file_kind kind;
    char *path;
    uint32_t pid; /* of TV_PERF_JIT */
    char *dump;   /* of TV_PERF_JIT: its jitdump file; NULL: none */
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

/*
 * collect.h - from records in the order of time to samples: who ran what, and who waited.
 *
 * The elements of these samples are places, not names: `method` is the place in a file of `spaces`
 * and `line` the file's number.  names.h makes the samples that are written.
 */

/* Frames of a stack that was copied, at most. */
#define TV_PERF_UNWOUND 1024u

struct tv_perf_collector {
    struct tv_samples samples;
    struct tv_perf_spaces spaces;
    struct tv_map switches;     /* ids of the events whose samples are of leaving a processor */
    bool names_kernel;          /* else all of the kernel is one frame */
    struct tv_perf_task *tasks; /* by rising tid */
    size_t task_count, task_capacity;
    uint32_t *stack; /* of the sample at hand */
    size_t stack_capacity;
    uint64_t addresses[TV_PERF_UNWOUND]; /* of a stack that was copied */
    uint64_t kernel_lost;                /* records that the buffers have said to be missing */
    uint64_t last_ns;                    /* time of the newest record */
    uint32_t owner; /* the user whose files may name code, beside root and ourselves */
};

void tv_perf_collector_init(struct tv_perf_collector *collector, uint64_t period_ns);
void tv_perf_collector_release(struct tv_perf_collector *collector);

/* A thread that is there before the first record. */
void tv_perf_collector_add_thread(struct tv_perf_collector *collector, uint32_t pid, uint32_t tid,
                                  const char *name);

/* One record, behind all that are older; a tv_perf_record_sink. */
void tv_perf_collector_add(void *collector, const struct tv_perf_record *record);

/* Nothing comes any more: who waits has waited until now. */
void tv_perf_collector_end(struct tv_perf_collector *collector);

/*
 * names.h - names for the places of a recording: from the symbols and DWARF of ELF files, from
 * /tmp/perf-PID.map and jitdump files for code that was made at run time, from /proc/kallsyms for
 * the kernel.
 *
 * A file that is not the one that was mapped (another build id) gives no names: wrong ones are
 * worse than none.
 */

/* Samples of names from those of places; *samples is empty. */
void tv_perf_names_resolve(const struct tv_perf_collector *collector, struct tv_samples *samples);

#endif
