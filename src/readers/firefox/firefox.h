/* SPDX-License-Identifier: Apache-2.0 */
/*
 * firefox.h - the reader of Firefox Profiler files; docs/formats/firefox.md describes them.
 *
 *     tables.c     values, and columns of both forms of tables
 *     stacks.c     frames and stacks, in the model's numbers
 *     samples.c, markers.c, counters.c
 *     firefox.c    threads, nested processes, and the file
 */
#ifndef TV_READERS_FIREFOX_FIREFOX_H
#define TV_READERS_FIREFOX_FIREFOX_H

#include "base/map.h"
#include "readers/json/stream.h"
#include "readers/profile_input.h"
#include "readers/reader.h"
#include "readers/trace_event/text/values.h"

extern const struct tv_reader tv_reader_firefox;

/* ---- Tables (tables.c) ---- */

#define TV_FIREFOX_ABSENT INT64_MIN /* null, or a row without the column */

enum tv_firefox_column_kind {
    TV_FIREFOX_INTEGER,
    TV_FIREFOX_MS,     /* milliseconds, kept as nanoseconds */
    TV_FIREFOX_OFFSET, /* the place of the value in the file */
};

struct tv_firefox_column {
    const char *name;
    enum tv_firefox_column_kind kind;
    int64_t *rows;
    size_t count, capacity;
    bool found; /* the table has the column */
};

#define TV_FIREFOX_COLUMN(name, kind)                                                              \
    {                                                                                              \
        name, TV_FIREFOX_##kind, NULL, 0, 0, false                                                 \
    }

/* Strings, or stacks, in the model's numbers. */
struct tv_firefox_numbers {
    uint32_t *rows;
    size_t count, capacity;
};

/* Tables that stacks need, of one thread or shared by all, row by row as in the file. */
struct tv_firefox_stacks {
    struct tv_firefox_numbers strings, libs, frames, lines, paths, line_paths, depths;
    struct tv_firefox_column sources; /* the names of source files, in `strings` */
    bool has_strings, has_stacks;
};

/* Garbage collections of a thread, or of a recording of the old developer tools. */
struct tv_firefox_collections {
    int64_t first; /* start of the first one, in nanoseconds */
    size_t count;
};

struct tv_firefox {
    struct tv_profile_input profile;
    struct tv_profile_text text;
    struct tv_json_stream stream;
    struct tv_te_scratch scratch;
    struct tv_firefox_stacks shared;
    struct tv_firefox_numbers libs, categories;
    struct tv_map pids;  /* string of a pid that is no number -> placeholder */
    int64_t base, start; /* meta.startTime of the whole file and of this process */
    struct tv_firefox_collections recorded;
    int64_t marker_shift; /* added to the markers of the thread that is read */
    const char *cpu_unit;
    int64_t cpu_factor;
    size_t threads;
    bool cut;       /* the end is missing */
    bool has_lists; /* of threads or counters, or its end is missing: something can be shown */
};

/* Return the value in a row; TV_FIREFOX_ABSENT if there is none. */
int64_t tv_firefox_value(const struct tv_firefox_column *column, int64_t row);
void tv_firefox_numbers_add(struct tv_firefox_numbers *numbers, uint32_t value);
uint32_t tv_firefox_number(const struct tv_firefox_numbers *numbers, int64_t row,
                           uint32_t otherwise);
bool tv_firefox_at(const struct tv_firefox *file, uint64_t offset, struct tv_json_stream *stream);

/* Take a value as text, valid until the next one; empty for null, objects and arrays. */
struct tv_bytes tv_firefox_take_text(struct tv_firefox *file, struct tv_json_stream *stream);
uint32_t tv_firefox_string_at(struct tv_firefox *file, uint64_t offset);
int64_t tv_firefox_ms_at(const struct tv_firefox *file, uint64_t offset);
/* Read an array of texts, or the names in an array of objects. */
void tv_firefox_read_texts(struct tv_firefox *file, uint64_t offset,
                           struct tv_firefox_numbers *numbers);
void tv_firefox_read_names(struct tv_firefox *file, uint64_t offset,
                           struct tv_firefox_numbers *numbers);

/* Add a row to a column. */
void tv_firefox_column_add(struct tv_firefox_column *column, int64_t value);
/* Read the columns that are wanted of a table at an offset.  Release them later. */
void tv_firefox_read_table(struct tv_firefox *file, uint64_t offset,
                           struct tv_firefox_column *columns, const struct tv_firefox_column *model,
                           size_t count);
/* Note a table at an offset that has neither of two columns, each of which would do. */
void tv_firefox_need_column(struct tv_firefox *file, uint64_t offset,
                            const struct tv_firefox_column *one,
                            const struct tv_firefox_column *other);
void tv_firefox_release_table(struct tv_firefox_column *columns, size_t count);
/* Find the time of a row: a time, or the sum of differences in *now. */
bool tv_firefox_row_time(struct tv_firefox *file, const struct tv_firefox_column *time,
                         const struct tv_firefox_column *delta, size_t row, int64_t *now);

/* ---- Stacks (stacks.c) ---- */

/* Read the tables in an object, a thread or "shared".  A thread without its own strings or sources
 * uses the shared ones. */
void tv_firefox_read_stacks(struct tv_firefox *file, uint64_t offset,
                            struct tv_firefox_stacks *stacks);
void tv_firefox_release_stacks(struct tv_firefox_stacks *stacks);

/* ---- Rows of a thread, and counters (samples.c, markers.c, counters.c) ---- */

/* One thread while it is read. */
struct tv_firefox_thread {
    const struct tv_firefox_stacks *stacks;
    uint32_t number;
};

/* Unit of the weights in a table of samples. */
struct tv_firefox_weights {
    struct tv_bytes type, unit;
    enum tv_firefox_column_kind kind;
    const char *event;
};

/* Return the meaning of the weights in a table of samples. */
struct tv_firefox_weights tv_firefox_weights_of(struct tv_firefox *file, uint64_t offset);
void tv_firefox_read_samples(struct tv_firefox *file, const struct tv_firefox_thread *thread,
                             uint64_t offset, const struct tv_firefox_weights *weights);
void tv_firefox_read_markers(struct tv_firefox *file, const struct tv_firefox_thread *thread,
                             uint64_t offset);
/* Note the garbage collections in "markers" of a recording of the old developer tools. */
void tv_firefox_read_recording(struct tv_firefox *file, uint64_t offset);
void tv_firefox_read_counters(struct tv_firefox *file, uint64_t offset);

/* ---- The file (firefox.c) ---- */

/* Return the process with an id, which may be any text. */
uint32_t tv_firefox_process(struct tv_firefox *file, uint32_t id, struct tv_bytes name);

#endif
