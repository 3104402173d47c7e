/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite.h - Trace Event files, whatever their forms and faults, as one file of strict JSON.
 *
 * Every event that can be read is written, file after file, with all its members, and every other
 * member of the files.  One file alone stays as it is, so that reading it back gives the same
 * trace.  Of several, what would mean something else is renamed (rename.h); the table of stack
 * frames and the samples become one; of other members that several files have, the later ones' are
 * named after their file.
 *
 * Nothing but the members of the files is held in memory.
 */
#ifndef TV_READERS_TRACE_EVENT_REWRITE_H
#define TV_READERS_TRACE_EVENT_REWRITE_H

#include "base/out.h"
#include "base/source.h"
#include "model/head.h"
#include "readers/trace_event/edit.h"
#include "readers/trace_event/list.h"
#include "readers/trace_event/rename.h"

/* Whether an input was read by the reader of this format. */
bool tv_te_rewrite_is_input(const struct tv_input *input);

struct tv_te_rewrite;

/* Which events are written. */
struct tv_te_rewrite_selection {
    /* Writes events that go before those of the file (tv_te_rewrite_event). */
    enum tv_status (*begin)(void *context, struct tv_te_rewrite *rewrite, struct tv_error *err);
    /* *edit, which is zeroed, is what becomes of a wanted event. */
    bool (*wanted)(void *context, const struct tv_te_list_event *event, struct tv_te_rewrite_edit *edit);
    /* Whether an element of "samples" is written, by its place in the file. */
    bool (*wanted_sample)(void *context, uint64_t offset);
    /* Writes further events behind the last one of the file. */
    enum tv_status (*end)(void *context, struct tv_te_rewrite *rewrite, struct tv_error *err);
    void *context;
};

/* A trace of another format that stands beside the events ("systemTraceEvents"). */
struct tv_te_rewrite_text {
    char key[40];             /* in the new file; empty: it is left out */
    struct tv_source *source; /* its text; NULL: it is no text, and stays as the file has it */
    size_t file;              /* the file that has it as a member; SIZE_MAX: none */
    char member[40];          /* that file's key */
};

/* Begins the file.  `used` says what its events have already; NULL: there is one file alone, whose
 * events stay as they are. */
struct tv_te_rewrite *tv_te_rewrite_begin(struct tv_out *out, struct tv_te_used_ids *used);
void tv_te_rewrite_free(struct tv_te_rewrite *rewrite);

/* A file on its way in. */
struct tv_te_rewrite_file {
    struct tv_source *source;                  /* lives as long as the rewriting */
    const struct tv_te_rewrite_selection *choice; /* NULL: everything is wanted */
    tv_ns shift;                               /* added to times */
    bool frames;                               /* ids of stack frames are renamed */
    bool keeps_pids;                           /* its processes are those of earlier files */
};

/* Adds the events of a file. */
enum tv_status tv_te_rewrite_file(struct tv_te_rewrite *rewrite,
                                  const struct tv_te_rewrite_file *file,
                                  struct tv_error *err) TV_MUST_CHECK;

/* Inside of the functions of a choice: writes one more event of the file, with TV_WINDOW_SLACK
 * bytes behind its text. */
void tv_te_rewrite_event(struct tv_te_rewrite *rewrite, struct tv_bytes text,
                         const struct tv_te_rewrite_edit *edit);

/* Before an event that somebody else writes. */
void tv_te_rewrite_separate(struct tv_te_rewrite *rewrite);

/* Ends the list of events and writes what stands beside it, but for what is longer than `most`
 * bytes and tells nothing of the events.  Traces inside of files that `texts` does not name are
 * members like others. */
enum tv_status tv_te_rewrite_members(struct tv_te_rewrite *rewrite,
                                     const struct tv_te_rewrite_text *texts, size_t text_count,
                                     uint64_t most, struct tv_error *err) TV_MUST_CHECK;

/* The pids of a file that were changed, as JSON: new and old. */
void tv_te_rewrite_pids(const struct tv_te_rewrite *rewrite, size_t file, struct tv_out *out);

/* The pids of all its processes, as the new file has them. */
void tv_te_rewrite_processes(const struct tv_te_rewrite *rewrite, size_t file, struct tv_out *out);

#endif
