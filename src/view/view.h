/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h - answer the questions that a screen asks about a trace, with the exact bytes of
 * docs/view-protocol.md.
 *
 * No HTTP here: a server, a test or another host of the engine can ask the same questions.  A
 * question is a name ("profile") with parameters, none of which are trusted.
 */
#ifndef TV_VIEW_VIEW_H
#define TV_VIEW_VIEW_H

#include "base/error.h"
#include "base/out.h"
#include "model/trace.h"

struct tv_view;
struct tv_sections_writer;
struct tv_redaction_options;

/* An input file of a report (report/report.h). */
struct tv_view_file {
    struct tv_source *source;
    uint32_t machine;
    tv_ns offset;
};

/* A file that is generated for a report. */
struct tv_view_generated_file {
    enum tv_status (*write)(void *context, struct tv_out *out, struct tv_error *err);
    /* Write what the file lacks, compared to the trace; NULL: nothing is lacking.  Called after
     * `write`. */
    void (*note)(void *context, struct tv_out *out);
    void *context;
    const char *name; /* name of the file */
};

struct tv_view_reporter {
    /* Write a report of files.  `note` says what the trace lacks, or NULL.  The module does
     * not know how reports are made. */
    enum tv_status (*write)(const struct tv_view_file *files, size_t count, const char *note,
                            struct tv_out *out, struct tv_error *err);
    /* As above, for one generated file. */
    enum tv_status (*write_made)(const struct tv_view_generated_file *making, struct tv_out *out,
                                 struct tv_error *err);
    /* Get a fresh key for hashing names (writers/trace/redaction.h). */
    enum tv_status (*key)(struct tv_redaction_options *options, struct tv_error *err);
    bool renames; /* the trace has names that its files do not hold */
};

/* Prepare everything that screens ask repeatedly: pyramid, ranks, the tree of the whole trace.
 * The trace must outlive the view. */
struct tv_view *tv_view_new(const struct tv_trace *trace);
void tv_view_free(struct tv_view *view);

/* Let the view be saved as reports.  Call before any question; the reporter must outlive the
 * view. */
void tv_view_set_reporter(struct tv_view *view, const struct tv_view_reporter *reporter);

/* Write what was prepared to the index file of the trace (index/index.h): a view of a trace that
 * is read from there has it at once. */
void tv_view_store(const struct tv_view *view, struct tv_sections_writer *writer);

struct tv_view_parameter {
    struct tv_bytes name, value; /* decoded */
};

struct tv_view_question {
    struct tv_bytes name; /* the path after "api/" */
    const struct tv_view_parameter *parameters;
    size_t count;
};

/* Content type of an answer. */
enum tv_answer_type {
    TV_ANSWER_JSON,
    TV_ANSWER_BYTES,
    TV_ANSWER_SVG,
    TV_ANSWER_TEXT,
};

/* Content-Security-Policy of SVG answers: their script runs, but can reach nothing. */
#define TV_ANSWER_SVG_POLICY                                                                       \
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; "                      \
    "style-src 'unsafe-inline'"

/* Return the Content-Type of an answer. */
const char *tv_answer_type_name(enum tv_answer_type type);

/* Return true if there is such a question; *type: that of its answer. */
bool tv_view_find_question(struct tv_bytes name, enum tv_answer_type *type);

/* Return true if the answer can be as large as the trace: give such a question an `out` that
 * streams. */
bool tv_view_is_large(struct tv_bytes name);

/* Return the largest number of bytes in an answer.  It depends on the size of the trace's files
 * only (docs/security.md). */
uint64_t tv_view_bound(const struct tv_view *view, struct tv_bytes name);

/* Append the answer to `out`, which must be empty.
 *
 * TV_ERR_USAGE: the question is wrong; err says why.  TV_ERR_LIMIT: the answer is longer than
 * tv_view_bound; err names the command that writes all of it.  In both cases nothing was added,
 * unless `out` had streamed bytes of a long answer, which is then broken.
 *
 * Any question may have a parameter "filter" (docs/filter.md); if that is wrong, err->offset is the
 * character, from 1.  Any number of threads may ask at once. */
enum tv_status tv_view_answer(const struct tv_view *view, const struct tv_view_question *question,
                              struct tv_out *out, struct tv_error *err) TV_MUST_CHECK;

#endif
