/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h - what a screen asks of a trace, and the exact bytes it gets (docs/view-protocol.md).
 *
 * No HTTP here: the same questions can be asked by a server, a test or another host of the engine.
 * A question is a name ("profile") with parameters; nothing about them is trusted.
 */
#ifndef TV_VIEW_VIEW_H
#define TV_VIEW_VIEW_H

#include "base/error.h"
#include "base/out.h"
#include "model/trace.h"

struct tv_view;
struct tv_sections_writer;
struct tv_redaction_options;

/* A file of a report (report/report.h), and how reports are made, which this room does not know. */
struct tv_view_file {
    struct tv_source *source;
    uint32_t machine;
    tv_ns offset;
};

/* Writes a file of its own. */
struct tv_view_making {
    enum tv_status (*write)(void *context, struct tv_out *out, struct tv_error *err);
    /* What is told of what it lacks, if anything; NULL: nothing is.  Called when it is written. */
    void (*note)(void *context, struct tv_out *out);
    void *context;
    const char *name; /* of the file */
};

struct tv_view_reporter {
    /* `note`: what is told of what the trace lacks, or NULL. */
    enum tv_status (*write)(const struct tv_view_file *files, size_t count, const char *note,
                            struct tv_out *out, struct tv_error *err);
    /* The same of one file that is made for it. */
    enum tv_status (*write_made)(const struct tv_view_making *making, struct tv_out *out,
                                 struct tv_error *err);
    /* What hashes of names are made with (writers/trace/redaction.h): another key each time. */
    enum tv_status (*key)(struct tv_redaction_options *options, struct tv_error *err);
    bool renames; /* the trace has names that its files do not tell */
};

/* Prepares all that screens ask again and again: pyramid, ranks, the tree of the whole trace. The
 * trace must live as long as the view. */
struct tv_view *tv_view_new(const struct tv_trace *trace);
void tv_view_free(struct tv_view *view);

/* From now on it can be saved as a report; before anybody asks.  The reporter must live as long. */
void tv_view_set_reporter(struct tv_view *view, const struct tv_view_reporter *reporter);

/* Adds what was prepared to a file that the trace is written to (index/index.h): a view of the
 * trace that is read from there has it at once. */
void tv_view_keep(const struct tv_view *view, struct tv_sections_writer *writer);

struct tv_view_parameter {
    struct tv_bytes name, value; /* decoded */
};

struct tv_view_question {
    struct tv_bytes name; /* what stands behind "api/" */
    const struct tv_view_parameter *parameters;
    size_t count;
};

/* What an answer is. */
enum tv_answer_type {
    TV_ANSWER_JSON,
    TV_ANSWER_BYTES,
    TV_ANSWER_SVG,
    TV_ANSWER_TEXT,
};

/* The Content-Security-Policy of pictures, whose script may run and reach nothing. */
#define TV_ANSWER_SVG_POLICY                                                                       \
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; "                      \
    "style-src 'unsafe-inline'"

/* The Content-Type of it. */
const char *tv_answer_type_name(enum tv_answer_type type);

/* Whether there is such a question, and what its answer will be. */
bool tv_view_knows(struct tv_bytes name, enum tv_answer_type *type);

/* Whether its answer is as large as the trace: better for an `out` that hands on what it gets. */
bool tv_view_is_large(struct tv_bytes name);

/* The largest number of bytes in an answer to this question: a function of the size of the trace's
 * files alone (docs/security.md). */
uint64_t tv_view_bound(const struct tv_view *view, struct tv_bytes name);

/* Adds the answer to `out`, which is empty.  TV_ERR_USAGE: the question is wrong, and why;
 * TV_ERR_LIMIT: the answer is longer than tv_view_bound, and which command writes it.  Nothing was
 * added then, unless `out` had handed on bytes of a long answer: it is broken.  Any question may
 * have a parameter "filter" (docs/filter.md): where that is wrong err->offset tells the character
 * of it, from 1.  Any number of threads may ask at once. */
enum tv_status tv_view_answer(const struct tv_view *view, const struct tv_view_question *question,
                              struct tv_out *out, struct tv_error *err) TV_MUST_CHECK;

#endif
