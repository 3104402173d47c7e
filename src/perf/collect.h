/* SPDX-License-Identifier: Apache-2.0 */
/* collect.h - from the kernel's records, in time order, to samples with names.
 *
 *     record --> collect.c: threads, stacks, waits --> elements = (file, place)  --> names.c: texts
 *                   |                                       ^
 *                   '--> spaces.c: mappings of each process -'
 *
 * While the recording runs, a stack element is only a file and a place in it, because looking up
 * names is slow: the `method` of a struct tv_sample_element holds the place, its `line` the number
 * of the file. At the end names.c resolves each place once and makes the samples that are written.
 *
 * Address spaces: a process that forks gives its mappings to its child, exec starts with none, and
 * a new mapping replaces what it covers. Files are numbered by path and build id. Code without a
 * file (generated at run time) is numbered by its process, like /tmp/perf-PID.map. */
#ifndef TV_PERF_COLLECT_H
#define TV_PERF_COLLECT_H

#include "base/map.h"
#include "base/types.h"
#include "perf/records.h"
#include "recorder/samples/samples.h"
#include "symbols/elf.h"

enum tv_perf_file_kind {
    TV_PERF_ELF,    /* an ELF file: places are offsets in the file */
    TV_PERF_JIT,    /* generated code: places are addresses; names may be in /tmp/perf-PID.map */
    TV_PERF_VDSO,   /* the code that the kernel maps into every process */
    TV_PERF_KERNEL, /* places are addresses */
};

#define TV_PERF_KERNEL_FILE 0u
#define TV_PERF_NO_FILE UINT32_MAX

struct tv_perf_file {
    enum tv_perf_file_kind kind;
    char *path;
    uint32_t pid; /* only of TV_PERF_JIT */
    char *dump;   /* only of TV_PERF_JIT: path of its jitdump file; NULL: none */
    uint8_t build_id[TV_PERF_BUILD_ID];
    uint8_t build_id_size; /* 0: unknown */
};

/* The address spaces of all processes. File 0 is the kernel. */
struct tv_perf_spaces {
    struct tv_perf_file *files;
    size_t file_count, file_capacity;
    struct tv_perf_space *spaces; /* by rising pid */
    size_t count, capacity;
    char root[32]; /* root directory of the processes as we see it; "": the same as ours */
};

void tv_perf_spaces_init(struct tv_perf_spaces *spaces);
void tv_perf_spaces_release(struct tv_perf_spaces *spaces);

/* Add a mapping to the process. Only executable mappings can be found, but each one replaces what
 * it covers. */
void tv_perf_spaces_map(struct tv_perf_spaces *spaces, uint32_t pid,
                        const struct tv_perf_mapping *mapping);
/* Copy the mappings of the parent to the child. */
void tv_perf_spaces_fork(struct tv_perf_spaces *spaces, uint32_t parent, uint32_t child);
/* Remove all mappings of the process: after an exec, or at its end. */
void tv_perf_spaces_clear(struct tv_perf_spaces *spaces, uint32_t pid);

/* Return the file at the address, and the place in it; TV_PERF_NO_FILE when none is known. */
uint32_t tv_perf_spaces_find(const struct tv_perf_spaces *spaces, uint32_t pid, uint64_t address,
                             uint64_t *place);

/* Unwind the user part of a copied stack into addresses (tv_unwind_walk). Return their number; 0:
 * impossible. */
uint32_t tv_perf_spaces_unwind(struct tv_perf_spaces *spaces, uint32_t pid,
                               const struct tv_unwind_thread *thread, uint64_t *addresses,
                               uint32_t room);

/* ---- Records to samples ---- */

/* Largest number of frames of a copied stack. */
#define TV_PERF_UNWOUND 1024u

struct tv_perf_collector {
    struct tv_samples samples;
    struct tv_perf_spaces spaces;
    struct tv_map switches; /* ids of the events that sample threads as they leave a processor */
    bool names_kernel;      /* false: all of the kernel is one frame */
    struct tv_perf_task *tasks; /* by rising tid */
    size_t task_count, task_capacity;
    uint32_t *stack; /* stack of the current sample */
    size_t stack_capacity;
    uint64_t addresses[TV_PERF_UNWOUND]; /* addresses of the current copied stack */
    uint64_t kernel_lost;                /* lost records, as reported in the buffers */
    uint64_t last_ns;                    /* time of the newest record */
    uint32_t owner; /* user, besides root and ourselves, whose files may name code */
};

void tv_perf_collector_init(struct tv_perf_collector *collector, uint64_t period_ns);
void tv_perf_collector_release(struct tv_perf_collector *collector);

/* Add a thread that exists before the first record. */
void tv_perf_collector_add_thread(struct tv_perf_collector *collector, uint32_t pid, uint32_t tid,
                                  const char *name);

/* One record, after all that are older; a tv_perf_record_sink. */
void tv_perf_collector_add(void *collector, const struct tv_perf_record *record);

/* End the open waits: no more records will come. */
void tv_perf_collector_end(struct tv_perf_collector *collector);

/* ---- Names ----
 *
 * Names come from the symbols and DWARF of ELF files, from /tmp/perf-PID.map and jitdump files for
 * generated code, and from /proc/kallsyms for the kernel. A file with another build id than the
 * mapped one gives no names: wrong names are worse than none. */

/* Make samples with names from the collected samples with places; *samples must be empty. */
void tv_perf_names_resolve(const struct tv_perf_collector *collector, struct tv_samples *samples);

#endif
