/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet.h - the figures of many traces, in a folder of Parquet files (docs/fleet.md).
 *
 *     trace --> batch: rows of each table --> FOLDER/TABLE/BATCH.parquet --> DuckDB --> answers
 *                                                    ^-------- merge.c <-------'
 *
 * ClickHouse can keep the rows instead (clickhouse.h).
 *
 * A batch is named by the traces in it, is written once and never changed.  Names of traces,
 * methods and paths are hashes of their contents, so that programs that add to one folder need not
 * agree on anything.
 */
#ifndef TV_FLEET_FLEET_H
#define TV_FLEET_FLEET_H

#include "base/out.h"
#include "model/trace.h"
#include "sql/sql.h"

#define TV_FLEET_SCHEMA 1
#define TV_FLEET_TEXT_OF(number) #number
#define TV_FLEET_EXPANDED_TEXT_OF(macro) TV_FLEET_TEXT_OF(macro)
#define TV_FLEET_SCHEMA_TEXT TV_FLEET_EXPANDED_TEXT_OF(TV_FLEET_SCHEMA)
#define TV_FLEET_HASH 32u /* bytes of SHA-256 */

/* The tables.  TRACE is written last: rows of the others count only with it.  A batch without rows
 * of a table from THREAD to SLICE has no file of that table.  ROLLUP, which has sums over the
 * traces of batches that were removed, is not part of a batch. */
enum tv_fleet_table {
    TV_FLEET_METHOD_NAME,
    TV_FLEET_METHOD,
    TV_FLEET_PATH,
    TV_FLEET_THREAD,
    TV_FLEET_SAMPLE,
    TV_FLEET_FINDING,
    TV_FLEET_FRAME,
    TV_FLEET_SLICE,
    TV_FLEET_TRACE,
    TV_FLEET_TABLES,
    TV_FLEET_ROLLUP = TV_FLEET_TABLES,
    TV_FLEET_FOLDERS,
};

/* Return whether a table is a detail table, one of THREAD to SLICE. */
static inline bool tv_fleet_is_detail(enum tv_fleet_table table)
{
    return table >= TV_FLEET_THREAD && table < TV_FLEET_TRACE;
}

/* Return the name of a table, which is that of its folder. */
const char *tv_fleet_table_name(enum tv_fleet_table table);

/* ---- Hashes (batch.c) ---- */

struct tv_fleet_hash {
    uint8_t bytes[TV_FLEET_HASH];
};

/* Hash the unpacked bytes of the inputs of a trace, in order. */
enum tv_status tv_fleet_hash_sources(struct tv_source *const *sources, size_t count,
                                     struct tv_fleet_hash *hash,
                                     struct tv_error *err) TV_MUST_CHECK;

/* Return the number by which the tables name what has this hash: its first 8 bytes, big-endian. */
uint64_t tv_fleet_hash_number(const struct tv_fleet_hash *hash);

/* ---- The map step (batch.c) ---- */

/* The origin of a trace.  Its bytes alone identify it; everything here is stored as given. */
struct tv_fleet_origin {
    struct tv_fleet_hash hash;
    const char *uri;
    int64_t added_us;          /* since 1970 */
    const char *const *labels; /* "KEY=VALUE" */
    size_t label_count;
    const char *const *names; /* patterns: slices whose names match one have rows */
    size_t name_count;
    uint32_t path_share; /* millionths of the trace: paths with no larger share have no row */
};
#define TV_FLEET_NO_PATHS UINT32_MAX /* no path has a row */

struct tv_fleet_batch;
struct tv_fleet_question;

struct tv_fleet_batch *tv_fleet_batch_new(void);
void tv_fleet_batch_free(struct tv_fleet_batch *batch);

#define TV_FLEET_MAX_SLICES 1000000u /* rows of the table `slice` for one trace */

/* Add the rows of a trace, unless the batch has them.  The batch keeps no reference to the trace.
 * Return how many slices that match origin->names got no row: those beyond TV_FLEET_MAX_SLICES. */
uint64_t tv_fleet_batch_add(struct tv_fleet_batch *batch, const struct tv_fleet_origin *origin,
                            const struct tv_trace *trace);

/* Add the row of a trace that could not be read, which has its origin and the error only.  A trace
 * with such a row may be added again. */
void tv_fleet_batch_add_error(struct tv_fleet_batch *batch, const struct tv_fleet_origin *origin,
                              const char *error);

/* Append the rows of another batch, neither of which is closed.  False: nothing was appended,
 * because a trace is in both. (append.c) */
bool tv_fleet_batch_append(struct tv_fleet_batch *batch, const struct tv_fleet_batch *from);

/* Return whether the batch has the trace. */
bool tv_fleet_batch_has(const struct tv_fleet_batch *batch, uint64_t trace);

/* Return the number of traces; return whether the batch is so large that it should be written. */
size_t tv_fleet_batch_count(const struct tv_fleet_batch *batch);
bool tv_fleet_batch_is_full(const struct tv_fleet_batch *batch);

/* Return whether the batch has rows, and so a file, of a table. (tables.c) */
bool tv_fleet_batch_has_table(const struct tv_fleet_batch *batch, enum tv_fleet_table table);

/* Sort the rows and return the number of the batch, a hash of its traces.  Call it before
 * tv_fleet_batch_write. */
uint64_t tv_fleet_batch_close(struct tv_fleet_batch *batch);

/* Write the numbers of the traces that could be read, 8 bytes each, little-endian. */
void tv_fleet_batch_write_ids(const struct tv_fleet_batch *batch, struct tv_out *out);

/* Return the number of a batch of these traces, and write its list.  `traces` is in ascending
 * order. */
uint64_t tv_fleet_number_of(const uint64_t *traces, size_t count);
void tv_fleet_write_ids(const uint64_t *traces, size_t count, struct tv_out *out);

enum tv_fleet_form {
    TV_FLEET_JSONL,
    TV_FLEET_PARQUET,
    TV_FLEET_ROWBINARY, /* ClickHouse's (clickhouse.h) */
};

/* Write a table of a batch; a NULL batch gives a Parquet file without rows. (tables.c) */
enum tv_status tv_fleet_batch_write(const struct tv_fleet_batch *batch, enum tv_fleet_table table,
                                    enum tv_fleet_form form, struct tv_out *out,
                                    struct tv_error *err) TV_MUST_CHECK;

/* ---- Batches of a folder (merge.c) ---- */

/* Batches that are merged into one, which has all of their traces that have not expired. */
struct tv_fleet_merge {
    const uint64_t *batches;
    size_t count;
    uint64_t number;                       /* of the new batch */
    const uint64_t *with[TV_FLEET_TABLES]; /* those of the batches that have a file of the table */
    size_t with_count[TV_FLEET_TABLES];
};

/* Append a SELECT that returns the numbers of the traces of the new batch, in ascending order, and
 * whether each could be read. */
void tv_fleet_ask_traces(struct tv_out *sql, const struct tv_fleet_merge *merge);

/* Write a table of the merged batch as a Parquet file. */
enum tv_status tv_fleet_merge_write(struct tv_sql *sql, const struct tv_fleet_merge *merge,
                                    enum tv_fleet_table table, struct tv_out *out,
                                    struct tv_error *err) TV_MUST_CHECK;

/* Append a SELECT that returns how many of this version's columns the file of a batch has. */
void tv_fleet_ask_columns(struct tv_out *sql, enum tv_fleet_table table, uint64_t batch);

/* Return how many columns a table has in this version. */
size_t tv_fleet_column_count(enum tv_fleet_table table);

/* The rollup of the traces of a batch that began before a time.  Those that a rollup of an older
 * version has already expire, too, but are not in the sums. */
struct tv_fleet_rollup {
    uint64_t batch;
    uint64_t number; /* of the rollup */
    int64_t edge;    /* in microseconds since 1970 */
    const uint64_t *without;
    size_t without_count;
};

/* Append a SELECT as that of tv_fleet_ask_traces, of the traces of a rollup. */
void tv_fleet_ask_old_traces(struct tv_out *sql, const struct tv_fleet_rollup *rollup);

/* Write a rollup as a Parquet file. */
enum tv_status tv_fleet_rollup_write(struct tv_sql *sql, const struct tv_fleet_rollup *rollup,
                                     struct tv_out *out, struct tv_error *err) TV_MUST_CHECK;

/* Append a SELECT that counts what is wrong with a batch: rows of `method` and `path` that belong
 * to other traces or batches, methods without a name, and traces whose number does not match their
 * hash.  The query fails if a file of the batch cannot be read. */
void tv_fleet_ask_faults(struct tv_out *sql, uint64_t batch);
#define TV_FLEET_FAULTS 4u

/* Append a SELECT that counts the rows of other traces or batches in a batch's file of a detail
 * table. */
void tv_fleet_ask_strangers(struct tv_out *sql, enum tv_fleet_table table, uint64_t batch);

/* ---- Figures that were computed before (prepared.c) ---- */

/* Statements that put the versions into parts, and return a row for each: its number, and the name
 * of its files, which tells which traces they are about. */
extern const char tv_fleet_prepared_parts[];

/* After these: append statements that collect the rows of a part, and the SELECT of a figure of
 * them, which is a file. */
void tv_fleet_put_part(struct tv_out *sql, int64_t part);
void tv_fleet_put_prepared(struct tv_out *sql, const char *figure);

/* Return whether the files can answer a question: one by version, about devices and scenarios. */
bool tv_fleet_can_be_prepared(const struct tv_fleet_question *question);

/* The rows of the files for traces with these labels; ALL: each device and scenario by itself. */
unsigned tv_fleet_prepared_part(const char *where);
#define TV_FLEET_PREPARED_ALL 3u

/* ---- Questions (questions.c) ---- */

/* Append the statement of the view TABLE_file: the rows of the files in the variable TABLE_files,
 * or none, with all columns of this version; columns that older files lack are NULL. */
void tv_fleet_put_file_view(struct tv_out *sql, enum tv_fleet_table table, bool has_files);

/* Append a SELECT in brackets that has all columns of a table, and no row. */
void tv_fleet_put_empty(struct tv_out *sql, enum tv_fleet_table table);

/* The statements that make the views of questions over those of files (struct tv_sql_options);
 * NULL ends them. */
extern const char *const tv_fleet_views[];

struct tv_fleet_question {
    const char *method;   /* "class.name" or "name", as the user gave it */
    const char *by;       /* label; NULL: version */
    const char *where;    /* "KEY=VALUE KEY=VALUE..."; NULL: all traces */
    const char *figure;   /* one of TV_FLEET_FIGURES */
    const char *prepared; /* files of the figure, as SQL, for trends and series; NULL: none */
    /* tv_fleet_ask_values: only methods whose number leaves the rest `part`; parts 0: all. */
    uint32_t part, parts;
};

/* Words of --figure, "|" between them. */
#define TV_FLEET_FIGURES "excl|incl|excl_cpu|incl_cpu|calls|max|p50|p95|p99"

/* Append the SELECT of up to three methods whose names have this one in them, or almost are it:
 * with or without the class, but for an edit per three letters, two at most. */
void tv_fleet_ask_similar(struct tv_out *sql, const char *method);

/* Append the query for the number of methods that a question about this one means. */
void tv_fleet_ask_named(struct tv_out *sql, const char *method);

/* Append a query for the number of units of all traces of a question, which is fast, and one for
 * the units of those that have its method: a row for each, with the number of traces. */
enum tv_status tv_fleet_ask_all_units(struct tv_out *sql, const struct tv_fleet_question *question,
                                      struct tv_error *err) TV_MUST_CHECK;
enum tv_status tv_fleet_ask_units(struct tv_out *sql, const struct tv_fleet_question *question,
                                  struct tv_error *err) TV_MUST_CHECK;

/* Append the SELECT of a trend.  TV_ERR_USAGE when `where` is malformed. */
enum tv_status tv_fleet_ask_trend(struct tv_out *sql, const struct tv_fleet_question *question,
                                  struct tv_error *err) TV_MUST_CHECK;
/* Append a query for the number of traces without the label by which a question groups. */
enum tv_status tv_fleet_ask_unlabelled(struct tv_out *sql, const struct tv_fleet_question *question,
                                       struct tv_error *err) TV_MUST_CHECK;

/* Append the SELECT of trends of the methods with the largest sums: a row for each, with its
 * medians in the latest versions as a text with commas, in which a version without the method is
 * empty. */
enum tv_status tv_fleet_ask_trends(struct tv_out *sql, const struct tv_fleet_question *question,
                                   struct tv_error *err) TV_MUST_CHECK;
#define TV_FLEET_TREND_VERSIONS 60
#define TV_FLEET_TREND_METHODS 500
/* Append the SELECT of outliers; errors as for tv_fleet_ask_trend. */
enum tv_status tv_fleet_ask_outliers(struct tv_out *sql, const struct tv_fleet_question *question,
                                     struct tv_error *err) TV_MUST_CHECK;

/* Two groups of traces, each given by its labels as in `where`. */
struct tv_fleet_sides {
    const char *base, *new;
    const char *where; /* of both; NULL: no more */
    bool by_path;      /* tv_fleet_ask_cells follows, not tv_fleet_run_methods */
    bool has_lengths;  /* else p50 to max of tv_fleet_run_methods are NULL: they take longest */
};

/* Append statements that make the table `run` and answer a row for each trace: side, uri, recorded,
 * clocks, is it sampled, do its figures weigh, value, unit, recording, round, boot, calls, the
 * totals on both clocks, format, clock_cost, value_interval, obfuscated, native. */
enum tv_status tv_fleet_ask_runs(struct tv_out *sql, const struct tv_fleet_sides *sides,
                                 struct tv_error *err) TV_MUST_CHECK;
#define TV_FLEET_RUN_COLUMNS 19u

/* The names of the methods of these traces, and of all methods: method, class, category, name,
 * signature.  Then a row for each trace and method, in the order of both: number of the run, place
 * of the method in the first answer, incl, excl, incl_cpu, excl_cpu, calls, p50, p90, p95, p99,
 * max.
 */
extern const char tv_fleet_run_names[], tv_fleet_all_names[], tv_fleet_run_methods[];
#define TV_FLEET_NAME_COLUMNS 5u
#define TV_FLEET_METHOD_COLUMNS 12u

/* Append the SELECT of the call paths in which these traces spent most time, at most
 * TV_FLEET_MAX_PATHS of them and TV_FLEET_MAX_CELLS rows.  A row for each path and trace, in any
 * order: number of the run, place of the path among the largest, path, parent, method, calls, incl,
 * self, incl_cpu, self_cpu. */
void tv_fleet_ask_cells(struct tv_out *sql);
#define TV_FLEET_MAX_PATHS 20000
#define TV_FLEET_MAX_CELLS 2000000
#define TV_FLEET_CELL_COLUMNS 10u

/* Append statements that make tables for the next query, and answer a row for each version, in
 * their order: its label, and when its first trace began.  `method` of the question is not used. */
enum tv_status tv_fleet_ask_series(struct tv_out *sql, const struct tv_fleet_question *question,
                                   struct tv_error *err) TV_MUST_CHECK;
#define TV_FLEET_MAX_VERSIONS 1000u

/* Append the SELECT of all values above 0 of the figure, in any order: device and scenario, as a
 * number, method, number of the version, value, and NULL.  From prepared files it has a row for all
 * traces of these three: the sum of the values, and the median of their logarithms. */
enum tv_status tv_fleet_ask_values(struct tv_out *sql, const struct tv_fleet_question *question,
                                   struct tv_error *err) TV_MUST_CHECK;
#define TV_FLEET_VALUE_COLUMNS 5u

/* The query of all names: method, name, class, name without signature, name without class and
 * signature.  The whole name of a row `k` of `method_name` is tv_fleet_series_name. */
extern const char tv_fleet_series_methods[], tv_fleet_series_name[];

/* Append the SELECT of the traces that meet all conditions, which are rules of gate.h about the
 * figures of one trace: "calls(draw) > 0". */
enum tv_status tv_fleet_ask_which(struct tv_out *sql, const char *const *conditions, size_t count,
                                  const char *where, struct tv_error *err) TV_MUST_CHECK;

/* Append the SELECT of one method that a condition is about; no row: the fleet has none. */
enum tv_status tv_fleet_ask_condition_method(struct tv_out *sql, const char *condition,
                                             struct tv_error *err) TV_MUST_CHECK;

#endif
