/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inputs.h - from FILE arguments to sources a reader knows.
 *
 * As Traceview did, an argument x means x, else x.trace, else x.key joined with x.data.  "-" is
 * standard input.  What unpack knows is unpacked, every trace in it becoming an input; there, too,
 * x.key and x.data are one.
 */
#ifndef TV_CLI_INPUTS_H
#define TV_CLI_INPUTS_H

#include "base/progress.h"
#include "base/source.h"
#include "cli/options.h"

/* A file as it was given: perhaps packed, its times perhaps moved. */
struct tv_input_file {
    struct tv_source *source;
    tv_ns offset;
};

/* Closes them, but not the array that lists them. */
void tv_input_files_free(struct tv_input_file *given, size_t count);

/* What a reader knows. */
struct tv_inputs_row {
    struct tv_source *source;
    uint32_t machine; /* those of a page of systrace are of one (model/machines.h) */
    tv_ns offset;     /* that of the file it came in, and what a report moved it by */
};

struct tv_inputs {
    struct tv_inputs_row *rows;
    size_t count, capacity;
    uint32_t machine_count;
    bool quiet;        /* unset: what is to be said of containers is said on stderr */
    uint64_t ceiling;  /* of unpacked bytes, all together; 0: of each file by its size (unpack.h) */
    uint64_t unpacked; /* so many there are, but for those that come while they are read */
    bool packed;       /* something had to be unpacked */
    bool remarked;     /* something was to be said of a container, quiet or not */
    /* Of the unpacking, which it may stop; or NULL: then, without a ceiling, what is only packed is
     * unpacked while it is read (tv_unpack_question.as_it_comes). */
    struct tv_progress *progress;
    /* Where a lone file is an archive that can be unpacked while it is read, the first trace in it
     * is added so; the others come with tv_inputs_add_rest. */
    bool one_by_one;
    struct tv_inputs_pending *rests;
    size_t rest_count, rest_capacity;
    char **cut; /* containers that end early or are damaged, by name: TV_DIAGNOSTIC_CONTAINER_CUT */
    size_t cut_count;
};

/* The files that an argument means; `second` is empty but for one of two halves.  False: there are
 * none. */
struct tv_inputs_files {
    char first[4096], second[4096];
};
bool tv_inputs_find_files(const char *path, struct tv_inputs_files *files);

/* Opens the argument, and with it the other half where it is one of two. */
enum tv_status tv_inputs_open_argument(const char *path, struct tv_source **source,
                                       struct tv_error *err) TV_MUST_CHECK;

/* Return the name by which people know the argument: without its folders, "-" as "standard input".
 */
const char *tv_inputs_shown_name(const char *path);

/* Whether argument number i came with the one before it that is its other half. */
bool tv_inputs_is_second_half(const char *const *files, size_t i);

/* Whether it is packed, or of a format that is read into a trace only: its first bytes tell. */
bool tv_inputs_need_trace(struct tv_source *source);

/* Looks at the first bytes alone: whether it is packed, or a reader knows it. */
enum tv_status tv_inputs_check(struct tv_source *source, struct tv_error *err) TV_MUST_CHECK;

/* Adds the sources, or the traces that are packed in them; x.key and x.data among them are one.
 * Takes all of them over, also when one of them cannot be added. */
enum tv_status tv_inputs_add(struct tv_inputs *inputs, struct tv_input_file *given, size_t count,
                             struct tv_error *err) TV_MUST_CHECK;

/* When all rows have been read: adds what one_by_one left behind them, if that is anything. */
enum tv_status tv_inputs_add_rest(struct tv_inputs *inputs, struct tv_error *err) TV_MUST_CHECK;

/* When they cannot be read: says which archives end early, of which that may be the cause. */
void tv_inputs_give_up(struct tv_inputs *inputs);
void tv_inputs_release(struct tv_inputs *inputs);

/* Notes whether an input that was unpacked while it was read was cut, when that is over. */
void tv_inputs_finish(struct tv_inputs *inputs, size_t number);

/* Opens one file, "-" included, without asking readers: a mapping file. */
enum tv_status tv_inputs_open_plain(const char *path, struct tv_source **source,
                                    struct tv_error *err) TV_MUST_CHECK;

#endif
