/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rewrite.h - Trace Event files, whatever their forms and faults, as one file of strict JSON.
 *
 * Events are written from the files' own text: every event that can be read, file after file, with
 * all its members, and every other member of the files.  One file alone stays as it is, so that
 * reading the result gives the same trace.  With several files, what would clash is changed: a pid
 * or a shared id that an earlier file has, too, ids of stack frames, and times by the distance of
 * the clocks.  The tables of stack frames and the samples become one.  Another member that an
 * earlier file has, too, is named after its file.
 *
 * Only the members of the files are held in memory.
 *
 *     selection   which events, and how each is edited: another time, no arguments, ...
 *     edit        that change of one event
 *     id rewriter the new ids of one file (rewrite_ids.c)
 */
#ifndef TV_READERS_TRACE_EVENT_REWRITE_H
#define TV_READERS_TRACE_EVENT_REWRITE_H

#include "base/map.h"
#include "base/out.h"
#include "base/source.h"
#include "model/trace.h"
#include "model/trace_info.h"
#include "readers/trace_event/container.h"
#include "readers/trace_event/text/fields.h"
#include "readers/trace_event/text/values.h"

/* True when an input was read by the reader of this format. */
bool tv_te_rewrite_is_input(const struct tv_input *input);

/* ---- One event of an input, read again ---- */

struct tv_te_event_text {
    uint8_t *bytes; /* owned by the caller: tv_free */
    struct tv_te_fields fields;
    struct tv_bytes object; /* from '{' to '}', which may be missing */
};

/* Read the event at an offset. */
enum tv_status tv_te_event_text_read(struct tv_te_event_text *event, struct tv_source *source,
                                     uint64_t offset, struct tv_error *err) TV_MUST_CHECK;

/* Write a raw key as strict JSON; a key without quotes is a string as well. */
void tv_te_key_write(struct tv_out *out, struct tv_bytes key);

/* ---- Edits ---- */

/* The change of an event; zeroed: none.  Times are nanoseconds on the file's clock. */
struct tv_te_rewrite_edit {
    char phase; /* instead of its own; 0: its own */
    bool has_ts, has_dur, has_tts, has_tdur;
    bool no_flow_out, no_flow_in;
    bool around; /* the end of the flow binds to the enclosing slice */
    bool no_args;
    bool bare; /* only the members that say whose event it is */
    tv_ns ts, dur, tts, tdur;
};

/* True when the edit changes anything. */
bool tv_te_rewrite_edit_is_any(const struct tv_te_rewrite_edit *edit);

/* Write the edited event, text from '{' to '}', as strict JSON. */
void tv_te_rewrite_edit_write(struct tv_bytes event, const struct tv_te_rewrite_edit *edit,
                              struct tv_out *out);

/* ---- Ids of several files ---- */

/* The ids that are in use in the new file. */
struct tv_te_used_ids {
    struct tv_interner *pids; /* a letter for the kind of pid, then its text */
    struct tv_interner *ids;  /* shared by processes: a letter for their kind, then the text */
    uint32_t *id_files;       /* by id: the file that has it unchanged */
    size_t id_capacity;
    struct tv_map avoid; /* pids that are not given to processes anew */
    uint64_t next;       /* the next candidate for a new pid */
};

void tv_te_used_ids_init(struct tv_te_used_ids *used);
void tv_te_used_ids_release(struct tv_te_used_ids *used);

/* Return a pid that no process of any file has, and mark it as used. */
uint64_t tv_te_used_ids_new_pid(struct tv_te_used_ids *used);

/* Mark a pid that is a plain number as used.  False: a process of an earlier file has it. */
bool tv_te_used_ids_add_pid(struct tv_te_used_ids *used, uint64_t pid);

/* A process of the file. */
struct tv_te_rewritten_process {
    uint64_t pid; /* new; 0: unchanged */
    bool named;   /* the name was written */
};

struct tv_te_id_rewriter {
    struct tv_te_used_ids *used;
    uint32_t file;            /* the number among the files */
    tv_ns shift;              /* added to times */
    bool keeps_pids;          /* the processes are those of earlier files with the same pids */
    bool frames;              /* ids of stack frames get the prefix */
    char prefix[16];          /* of changed ids: "2/" */
    struct tv_interner *pids; /* of this file */
    struct tv_te_rewritten_process *processes; /* by these */
    size_t process_capacity;
    uint8_t last_pid[16]; /* raw, of the event before; length 0: none */
    size_t last_length;
    uint32_t last_process;
    struct tv_te_scratch scratch;
};

/* `used` NULL: this is the only file, and its ids stay. */
void tv_te_id_rewriter_init(struct tv_te_id_rewriter *rewriter, struct tv_te_used_ids *used,
                            uint32_t file, tv_ns shift);
void tv_te_id_rewriter_release(struct tv_te_id_rewriter *rewriter);

/* Write an event.  Before the first event of a process whose pid was its name and is changed, write
 * an event that gives the name. */
void tv_te_id_rewriter_write_event(struct tv_te_id_rewriter *rewriter,
                                   const struct tv_te_list_event *event, struct tv_out *out);

/* Write the members of "stackFrames" without the braces; ",\n" goes before each but the first. */
void tv_te_id_rewriter_write_frames(struct tv_te_id_rewriter *rewriter, struct tv_bytes object,
                                    bool *any, struct tv_out *out);

/* Write an element of "samples". */
void tv_te_id_rewriter_write_sample(struct tv_te_id_rewriter *rewriter, struct tv_bytes object,
                                    struct tv_out *out);

/* Write the pids that were changed, new and as the file has them: {"1000000":"1"}. */
void tv_te_id_rewriter_write_new_pids(const struct tv_te_id_rewriter *rewriter, struct tv_out *out);

/* Write the pids of all processes in the new file, as a JSON list. */
void tv_te_id_rewriter_write_pids(const struct tv_te_id_rewriter *rewriter, struct tv_out *out);

/* ---- The new file ---- */

struct tv_te_rewrite;

/* Events of a file that are written. */
struct tv_te_rewrite_selection {
    /* Write events in front of those of the file (tv_te_rewrite_event). */
    enum tv_status (*begin)(void *context, struct tv_te_rewrite *rewrite, struct tv_error *err);
    /* True: write the event, changed as *edit says, which is zeroed at first. */
    bool (*wanted)(void *context, const struct tv_te_list_event *event,
                   struct tv_te_rewrite_edit *edit);
    /* True: write the element of "samples" at this offset of the file. */
    bool (*wanted_sample)(void *context, uint64_t offset);
    /* Write events after the last one of the file. */
    enum tv_status (*end)(void *context, struct tv_te_rewrite *rewrite, struct tv_error *err);
    void *context;
};

/* An embedded trace of another format ("systemTraceEvents"). */
struct tv_te_rewrite_text {
    char key[40];             /* in the new file; empty: it is left out */
    struct tv_source *source; /* the text; NULL: it is not text and stays as the file has it */
    size_t file;              /* the file that has it as a member; SIZE_MAX: none */
    char member[40];          /* the key in that file */
};

/* Begin the new file.  `used` holds the ids that are in use; NULL: there is one file alone, whose
 * events stay as they are. */
struct tv_te_rewrite *tv_te_rewrite_begin(struct tv_out *out, struct tv_te_used_ids *used);
void tv_te_rewrite_free(struct tv_te_rewrite *rewrite);

/* A file to add. */
struct tv_te_rewrite_file {
    struct tv_source *source;                     /* lives as long as the rewrite */
    const struct tv_te_rewrite_selection *choice; /* NULL: everything is written */
    tv_ns shift;                                  /* added to times */
    bool frames;                                  /* ids of stack frames are changed */
    bool keeps_pids; /* the processes are those of earlier files with the same pids */
};

/* Write the events of a file. */
enum tv_status tv_te_rewrite_file(struct tv_te_rewrite *rewrite,
                                  const struct tv_te_rewrite_file *file,
                                  struct tv_error *err) TV_MUST_CHECK;

/* Write one more event of the file, from within the functions of a selection.  TV_WINDOW_SLACK
 * bytes after its text are readable. */
void tv_te_rewrite_event(struct tv_te_rewrite *rewrite, struct tv_bytes text,
                         const struct tv_te_rewrite_edit *edit);

/* Write the separator before an event that the caller writes itself. */
void tv_te_rewrite_separate(struct tv_te_rewrite *rewrite);

/* End the list of events and write the members beside it.  A member of more than `most` bytes that
 * says nothing about the events is left out.  Embedded traces that `texts` does not name are
 * members like others. */
enum tv_status tv_te_rewrite_members(struct tv_te_rewrite *rewrite,
                                     const struct tv_te_rewrite_text *texts, size_t text_count,
                                     uint64_t most, struct tv_error *err) TV_MUST_CHECK;

/* Write the pids of a file that were changed, new and old, as JSON. */
void tv_te_rewrite_pids(const struct tv_te_rewrite *rewrite, size_t file, struct tv_out *out);

/* Write the pids of all its processes in the new file. */
void tv_te_rewrite_processes(const struct tv_te_rewrite *rewrite, size_t file, struct tv_out *out);

#endif
