/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inputs.h - from FILE arguments to sources that a reader knows.
 *
 *     argument --> file(s) --> container? --no--> one input (a row)
 *     x, x.trace,                  |
 *     x.key + x.data, -            '--yes--> unpack --> its members, each again from "container?"
 *
 * As in Android's Traceview, an argument x means x, else x.trace, else x.key joined with x.data.
 * "-" is standard input. Containers are unpacked, and every trace in them becomes an input; x.key
 * and x.data inside a container are joined, too.
 */
#ifndef TV_CLI_INPUTS_H
#define TV_CLI_INPUTS_H

#include "base/progress.h"
#include "base/source.h"
#include "cli/options.h"

/* An open file, perhaps packed, with the time offset of --offset. */
struct tv_input_file {
    struct tv_source *source;
    tv_ns offset;
};

/* Close the files; the array remains the caller's. */
void tv_input_files_free(struct tv_input_file *given, size_t count);

/* One input: a source that a reader can read. */
struct tv_inputs_row {
    struct tv_source *source;
    uint32_t machine; /* traces of one systrace page share a machine (model/finalize.h) */
    tv_ns offset;     /* offset of its file, plus the offset inside a report */
};

struct tv_inputs {
    struct tv_inputs_row *rows;
    size_t count, capacity;
    uint32_t machine_count;
    bool quiet;       /* do not print notes about containers to standard error */
    uint64_t ceiling; /* limit of all unpacked bytes; 0: for each file by its size (unpack.h) */
    uint64_t
        unpacked;  /* unpacked bytes so far, without inputs that are unpacked while they are read */
    bool packed;   /* something was unpacked */
    bool remarked; /* there was a note about a container, printed or not */
    /* Progress of the unpacking, which can be cancelled. With NULL, and without a ceiling, a file
     * that is only compressed is unpacked while it is read (tv_unpack_question.as_it_comes). */
    struct tv_progress *progress;
    /* For a single archive that can be unpacked while it is read: add its first trace now, and the
     * others with tv_inputs_add_rest. */
    bool one_by_one;
    struct tv_inputs_pending *rests;
    size_t rest_count, rest_capacity;
    char **cut; /* names of containers that end early or are damaged */
    size_t cut_count;
};

/* The files that an argument means; `second` is empty unless it means two halves. False: there are
 * none. */
struct tv_inputs_files {
    char first[4096], second[4096];
};
bool tv_inputs_find_files(const char *path, struct tv_inputs_files *files);

/* Open the argument, joined with the other half of a split trace. */
enum tv_status tv_inputs_open_argument(const char *path, struct tv_source **source,
                                       struct tv_error *err) TV_MUST_CHECK;

/* Return the name by which people know the argument: without its folders, "-" as "standard input".
 */
const char *tv_inputs_shown_name(const char *path);

/* Is argument number i the other half of an argument before it? */
bool tv_inputs_is_second_half(const char *const *files, size_t i);

/* Is the source packed, or of a format that cannot be streamed? Its first bytes tell. */
bool tv_inputs_need_trace(struct tv_source *source);

/* Check by the first bytes that the source is packed, or that a reader knows it. */
enum tv_status tv_inputs_check(struct tv_source *source, struct tv_error *err) TV_MUST_CHECK;

/* Add the sources, or the traces packed in them; x.key and x.data among them are joined. Takes all
 * of them over, also when one cannot be added. */
enum tv_status tv_inputs_add(struct tv_inputs *inputs, struct tv_input_file *given, size_t count,
                             struct tv_error *err) TV_MUST_CHECK;

/* Add the traces that one_by_one has left in the archive. Call this when all rows have been read.
 */
enum tv_status tv_inputs_add_rest(struct tv_inputs *inputs, struct tv_error *err) TV_MUST_CHECK;

/* After a failed read, print which archives end early: that may be the cause. */
void tv_inputs_give_up(struct tv_inputs *inputs);
void tv_inputs_release(struct tv_inputs *inputs);

/* When an input has been read, note whether its container was cut. */
void tv_inputs_finish(struct tv_inputs *inputs, size_t number);

/* Open one file or "-" without unpacking it, such as a mapping file. */
enum tv_status tv_inputs_open_plain(const char *path, struct tv_source **source,
                                    struct tv_error *err) TV_MUST_CHECK;

#endif
