/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rename.h - events of one Trace Event file on their way into a file with those of others.
 *
 * What would mean something else there is changed: a pid that an earlier file has too, an id shared
 * by processes that an earlier file has too, ids of stack frames, and times by what parts the two
 * clocks.  Everything else stays as it is.
 */
#ifndef TV_READERS_TRACE_EVENT_RENAME_H
#define TV_READERS_TRACE_EVENT_RENAME_H

#include "base/intern.h"
#include "base/map.h"
#include "base/out.h"
#include "readers/trace_event/values.h"

struct tv_te_list_event;

/* The ids that stand in the new file. */
struct tv_te_used_ids {
    struct tv_interner *pids; /* a letter for the kind of pid, then its text */
    struct tv_interner *ids;  /* that all processes share: a letter for their kind, then the text */
    uint32_t *id_files;       /* by id: the file that has it as it is */
    size_t id_capacity;
    struct tv_map avoid; /* pids that no process is given anew */
    uint64_t next;       /* to be tried as a new pid */
};

void tv_te_used_ids_init(struct tv_te_used_ids *used);
void tv_te_used_ids_release(struct tv_te_used_ids *used);

/* A pid that no process of any file has; used with that. */
uint64_t tv_te_used_ids_new_pid(struct tv_te_used_ids *used);

/* Takes a pid that is a plain number; false: an earlier file's process has it. */
bool tv_te_used_ids_add_pid(struct tv_te_used_ids *used, uint64_t pid);

/* A process of the file. */
struct tv_te_rewritten_process {
    uint64_t pid; /* 0: as it is */
    bool named;   /* its name was told */
};

struct tv_te_id_rewriter {
    struct tv_te_used_ids *used;
    uint32_t file;                   /* its number among the files */
    tv_ns shift;                     /* added to times */
    bool keeps_pids;                 /* processes are those of earlier files with their pids */
    bool frames;                     /* ids of stack frames get the prefix */
    char prefix[16];                 /* of what is changed: "2/" */
    struct tv_interner *pids;        /* of this file */
    struct tv_te_rewritten_process *processes; /* by these */
    size_t process_capacity;
    uint8_t last_pid[16]; /* raw, of the event before; length 0: none */
    size_t last_length;
    uint32_t last_process;
    struct tv_te_scratch scratch;
};

/* `used` NULL: it is the only file, whose ids stay. */
void tv_te_id_rewriter_init(struct tv_te_id_rewriter *rewriter, struct tv_te_used_ids *used, uint32_t file,
                         tv_ns shift);
void tv_te_id_rewriter_release(struct tv_te_id_rewriter *rewriter);

/* Writes the event; before the first one of a process whose pid was its name, and is changed, one
 * that says the name. */
void tv_te_id_rewriter_write_event(struct tv_te_id_rewriter *rewriter, const struct tv_te_list_event *event,
                        struct tv_out *out);

/* The members of "stackFrames": without the braces; ",\n" goes before each but the first. */
void tv_te_id_rewriter_write_frames(struct tv_te_id_rewriter *rewriter, struct tv_bytes object, bool *any,
                         struct tv_out *out);

/* An element of "samples". */
void tv_te_id_rewriter_write_sample(struct tv_te_id_rewriter *rewriter, struct tv_bytes object,
                         struct tv_out *out);

/* The pids that were changed: {"1000000":"1"}, new and as the file has it. */
void tv_te_id_rewriter_write_new_pids(const struct tv_te_id_rewriter *rewriter, struct tv_out *out);

/* The pids of all processes in the new file, as a JSON list. */
void tv_te_id_rewriter_write_pids(const struct tv_te_id_rewriter *rewriter, struct tv_out *out);

#endif
