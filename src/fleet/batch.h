/* SPDX-License-Identifier: Apache-2.0 */
/* batch.h - the rows of a batch, shared by batch.c, which makes them, and tables.c. */
#ifndef TV_FLEET_BATCH_H
#define TV_FLEET_BATCH_H

#include "analysis/calltree/call_tree.h"
#include "base/map.h"
#include "fleet/fleet.h"
#include "parquet/parquet.h"
#include "sql/statement.h"

/* Labels with a column of their own. */
enum fleet_declared { FLEET_VERSION, FLEET_COMMIT, FLEET_DEVICE, FLEET_SCENARIO, FLEET_SIDE };
#define FLEET_DECLARED 5u
extern const char *const tv_fleet_declared[FLEET_DECLARED];

/* A row of the table trace.  Texts are string numbers. */
struct fleet_trace {
    struct tv_fleet_hash hash;
    uint64_t number, threads, calls, bytes, health;
    int64_t added_us, recorded_us, span, cpu, sampled;
    uint32_t uri, format, clocks, declared[FLEET_DECLARED];
    uint32_t value, unit;     /* value and unit of samples that weigh; else empty */
    uint32_t recording, boot; /* labels of `record --side` */
    uint32_t program, host;   /* label of that name, else what the trace says */
    uint32_t error;           /* why it could not be read, and has no other rows; else empty */
    int64_t round;            /* likewise; 0: unknown */
    int64_t clock_cost;       /* as in struct tv_run, and those below */
    int64_t interval;
    bool obfuscated, native;
    bool overflow;
    uint32_t first_label, label_count;
};

struct fleet_label {
    uint32_t key, value;
};

struct fleet_method {
    uint64_t trace, method, calls, recursive;
    int64_t incl, excl, incl_cpu, excl_cpu;
    int64_t longest, longest_at, longest_slice; /* longest_slice -1: no call has a length */
    uint32_t first_bucket, bucket_count;
};

struct fleet_bucket {
    uint32_t key, count;
};

struct fleet_name {
    uint64_t method;
    uint32_t class_name, name, signature, category, file;
    uint32_t form; /* class and name with '#' for generated numbers; empty: it has none */
    int32_t line;
};

struct fleet_path {
    uint64_t trace, path, parent, method, calls;
    int64_t incl, self, incl_cpu, self_cpu;
};

/* A row of a detail table; fleet_put_detail (tables.c) maps the values to the table's columns. */
struct fleet_detail {
    uint64_t trace, method;
    uint64_t order; /* place among the rows of one trace */
    uint32_t texts[3];
    int64_t numbers[7]; /* FLEET_UNKNOWN: NULL */
};
#define FLEET_UNKNOWN INT64_MIN

struct fleet_details {
    struct fleet_detail *rows;
    size_t count, room;
};

/* The keys of a trace and of its methods. */
struct fleet_numbers {
    uint64_t trace;
    const struct tv_trace_info *info;
    uint64_t *methods; /* [frame_count] of `info`; 0: not computed yet */
    struct tv_out *scratch;
};

/* Sums over the calls of a thread. */
struct fleet_thread_calls {
    uint64_t calls;
    int64_t wall, cpu; /* sums of its outermost calls */
    bool lacks_cpu;    /* the CPU time of some call is unknown */
};

/* Return the number of the method of a frame, of which a trace may list many that have no calls.
 * (batch.c) */
uint64_t tv_fleet_method_of(const struct fleet_numbers *numbers, uint32_t frame);

struct tv_fleet_batch {
    struct tv_interner *strings;
    struct fleet_trace *traces;
    struct fleet_label *labels;
    struct fleet_method *methods;
    struct fleet_bucket *buckets;
    struct fleet_name *names;
    struct fleet_path *paths;
    size_t trace_count, label_count, method_count, bucket_count, name_count, path_count;
    size_t trace_room, label_room, method_room, bucket_room, name_room, path_room;
    struct tv_map trace_index, name_index; /* number -> row */
    uint64_t number;
    struct fleet_details details[TV_FLEET_TRACE - TV_FLEET_THREAD];
};

/* Return the columns of a table. (tables.c) */
const struct tv_parquet_column *tv_fleet_columns(enum tv_fleet_table table, size_t *count);

/* Begin a Parquet file of a table, with notes that tell other programs what it is. (tables.c) */
struct tv_parquet *tv_fleet_parquet_new(struct tv_out *out, enum tv_fleet_table table);

static inline struct fleet_details *tv_fleet_details(struct tv_fleet_batch *batch,
                                                     enum tv_fleet_table table)
{
    return &batch->details[table - TV_FLEET_THREAD];
}

/* Return the program that was recorded, and the host that it ran on; empty: the trace does not say,
 * or there are several. (origin.c) */
struct tv_bytes tv_fleet_program_of(const struct tv_trace_info *info);
struct tv_bytes tv_fleet_host_of(const struct tv_trace_info *info);

/* Add the name of a method, unless the batch has it. (batch.c) */
void tv_fleet_add_name(struct tv_fleet_batch *batch, const struct tv_trace_info *info,
                       const struct tv_frame *frame, uint64_t method);

/* Make the sketches of the methods of a trace, whose rows begin at `first`, note their longest
 * calls, and add all calls to the sums of their threads.  `rows` has the row of each frame after
 * `first`, or TV_NONE. (lengths.c) */
void tv_fleet_add_lengths(struct tv_fleet_batch *batch, size_t first, const struct tv_trace *trace,
                          const uint32_t *rows, struct fleet_thread_calls *threads);

/* Add the rows of the detail tables.  `tree` is the call tree, or the tree of samples of a trace
 * without calls; `threads` are the sums of its threads, which are 0 afterwards.  Return how many
 * matching slices got no row because there were too many. (details.c) */
uint64_t tv_fleet_add_details(struct tv_fleet_batch *batch, const struct tv_fleet_origin *origin,
                              const struct tv_trace *trace, const struct tv_call_tree *tree,
                              const struct fleet_numbers *numbers,
                              struct fleet_thread_calls *threads);

/* ---- Shared by questions.c and fetch.c (questions.c) ---- */

/* Take the next KEY=VALUE of a list with blanks between; the key is empty at the end.  A value goes
 * on to the next blank with KEY= after it, or, in double quotes, to the quote before a blank. */
enum tv_status tv_fleet_take_label(struct tv_bytes *left, struct tv_bytes *key,
                                   struct tv_bytes *value, struct tv_error *err) TV_MUST_CHECK;

/* Append a condition for each KEY=VALUE, " AND " before it; the table of traces is `t` in DuckDB.
 */
enum tv_status tv_fleet_put_where(struct tv_out *sql, enum tv_sql_dialect dialect,
                                  const char *where, struct tv_error *err) TV_MUST_CHECK;

#endif
