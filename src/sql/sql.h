/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sql.h - questions in SQL over a trace, answered by DuckDB (docs/sql.md).
 *
 *     trace --> tables.h (table functions, no copy) --.
 *     prelude.c (views and macros with Perfetto's names) --> DuckDB --> rows --> text, CSV, JSON
 *     query --> rewrite.h (PerfettoSQL in the words of DuckDB) --'
 *
 * Statements other than SELECT, EXPLAIN, and creating or dropping temporary things are refused;
 * files are out of reach, unless the options allow them.
 */
#ifndef TV_SQL_SQL_H
#define TV_SQL_SQL_H

#include "base/out.h"
#include "model/trace.h"

struct tv_sql;

/* Time that a statement has to end after it was interrupted. */
#define TV_SQL_GRACE_MS 3000

/* Beginnings of the errors of statements that need more than max_memory or max_seconds. */
#define TV_SQL_NO_MEMORY "SQL: the query needs more memory than it may take"
#define TV_SQL_NO_TIME "SQL: stopped, because it ran longer than"

/* Error of statements that tv_sql_cancel has interrupted. */
#define TV_SQL_CANCELLED "SQL: cancelled"

struct tv_sql_options {
    unsigned threads;     /* 0: one per processor */
    uint64_t max_memory;  /* bytes; 0: a quarter of the machine's */
    uint64_t max_seconds; /* time of one tv_sql_run; 0: any */
    bool is_cancellable;  /* tv_sql_cancel is called, also without max_seconds */
    const char *longer;   /* advice in the error of max_seconds; NULL: " (--max-time)" */
    /* Called when a statement does not heed its interruption for TV_SQL_GRACE_MS, because DuckDB
     * does not interrupt a single function: repeat('x', 4e9) takes as long as it takes.  It ends
     * the process, with this error; NULL: the statement is waited for. */
    void (*stuck)(void *context, const struct tv_error *why);
    void *stuck_context;
    /* A folder whose files queries may read, as an absolute path, also in the variable `folder`;
     * NULL: they can read no files. */
    const char *folder;
    const char *const *statements; /* our own ones about the folder, NULL at the end; or NULL */
    bool allow_files; /* queries may read and write all files, and change tables of their own */
};

/* Open a database over a trace, which must outlive it, or, with NULL, over none.  Call tv_duck_open
 * (duckdb.h) before. */
enum tv_status tv_sql_open(const struct tv_trace *trace, const struct tv_sql_options *options,
                           struct tv_sql **sql, struct tv_error *err) TV_MUST_CHECK;
void tv_sql_close(struct tv_sql *sql);

/* Open a database over another trace in place of *sql, or of none (NULL).  The database of *sql is
 * used again, unless a query has created something in it; its trace may be freed already. */
enum tv_status tv_sql_reopen(const struct tv_trace *trace, const struct tv_sql_options *options,
                             struct tv_sql **sql, struct tv_error *err) TV_MUST_CHECK;

enum tv_sql_format {
    TV_SQL_TABLE,
    TV_SQL_CSV,
    TV_SQL_JSON,
    TV_SQL_JSONL,
    TV_SQL_MARKDOWN,
    TV_SQL_PARQUET, /* a file with a name for each column */
    TV_SQL_CHART,   /* bars */
};

struct tv_sql_output {
    enum tv_sql_format format;
    uint64_t max_rows;    /* 0: all */
    struct tv_bytes file; /* a column "file" in front with this value; data NULL: none */
    bool headed;          /* CSV: the header was written for an earlier trace */
    uint64_t rows;        /* rows of the last answer; set when it was written */
    bool all;       /* write the rows of each statement that has some, not of the last one alone */
    bool one_array; /* JSON: the rows of all runs are in one array; tv_sql_end_array ends it */
    bool in_array, array_has_rows; /* state of the JSON array */
    char quoted[120];    /* names in double quotes that are no columns, so taken as texts */
    char ungrouped[120]; /* columns without a group, of which a value was taken */
};

/* End the array of JSON that holds the rows of several runs.  Without an answer it is empty. */
void tv_sql_end_array(struct tv_sql_output *output, struct tv_out *out);

/* Run the statements of a text, and write the rows of the last one, or of each.  JSON of several
 * statements with rows is an array of their arrays, and whole JSON also after an error.
 * TV_ERR_USAGE with DuckDB's message for a wrong query, or when it ran longer than max_seconds. */
enum tv_status tv_sql_run(struct tv_sql *sql, const char *text, struct tv_sql_output *output,
                          struct tv_out *out, struct tv_error *err) TV_MUST_CHECK;

/* ---- Answers for the page (answer.c) ---- */

/* The part of the rows that an answer holds.  Longer texts are cut off. */
struct tv_sql_bounds {
    uint64_t offset, rows; /* skip `offset` rows, then write at most `rows` */
    size_t bytes;          /* write no further row beyond so many bytes */
};

/* Run the statements of a text, and append the rows of the last one as a JSON object
 * (docs/view-protocol.md).  Errors are those of tv_sql_run; nothing was appended then. */
enum tv_status tv_sql_answer(struct tv_sql *sql, const char *text,
                             const struct tv_sql_bounds *bounds, struct tv_out *out,
                             struct tv_error *err) TV_MUST_CHECK;

/* Cancel the statements that run, or that begin next; with false: let the next ones run.  For
 * databases with max_seconds or is_cancellable, from any thread. */
void tv_sql_cancel(struct tv_sql *sql, bool cancelled);

/* Longest picture of an error, with its NUL. */
enum { TV_SQL_MAX_PICTURE = 1024 };

/* Return the line of the query that the last error is about, with a mark below the place; "": the
 * error is not about a place. */
const char *tv_sql_error_picture(const struct tv_sql *sql);

/* The slice or instant that an id of the table `slice` names. */
struct tv_sql_place {
    uint32_t row, index; /* place of a slice; row TV_NONE: not one */
    uint32_t instant;    /* TV_NONE: not an instant */
};

/* Find a slice or an instant by its id; both members are TV_NONE if there is none.  No database is
 * needed. */
struct tv_sql_place tv_sql_find_place(const struct tv_trace *trace, uint64_t id);

/* The words that a prompt completes; NULL ends them. (prelude.c) */
extern const char *const tv_sql_completions[];

/* ---- Tables as files ---- */

/* The tables that `traceview export` writes; NULL ends them. */
extern const char *const tv_sql_exported[];

/* Is a table among words separated by commas?  NULL: all are. */
bool tv_sql_is_exported(const char *words, const char *table);

/* Reads the tables from the model itself: DuckDB is not needed. (export.c) */
struct tv_sql_exporter;

/* The trace must outlive it. */
struct tv_sql_exporter *tv_sql_exporter_new(const struct tv_trace *trace);
void tv_sql_exporter_free(struct tv_sql_exporter *exporter);

/* Write one of tv_sql_exported as `select * from` it would, in the order of its ids. */
enum tv_status tv_sql_export_table(struct tv_sql_exporter *exporter, const char *table,
                                   struct tv_sql_output *output, struct tv_out *out,
                                   struct tv_error *err) TV_MUST_CHECK;

/* Write the chosen tables as an SQLite database, which is made in memory. (sqlite.c) */
enum tv_status tv_sql_export_sqlite(struct tv_sql_exporter *exporter, const char *words,
                                    struct tv_out *out, struct tv_error *err) TV_MUST_CHECK;

/* The statements that create the views and macros of every database; NULL ends them. (prelude.c) */
extern const char *const tv_sql_prelude[];
extern const char tv_sql_macro_prelude[]; /* in PerfettoSQL */

#endif
