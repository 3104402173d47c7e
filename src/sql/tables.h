/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.h - the tables of a trace in SQL: names, columns, and how a column of some rows is filled
 * from the model.  Names are those of Perfetto where it has the table; docs/sql.md lists them.
 *
 * A table does not copy the trace.  The database asks for up to TV_SQL_ROWS rows at a time, only
 * for the columns that a query uses, in any number of threads.
 */
#ifndef TV_SQL_TABLES_H
#define TV_SQL_TABLES_H

#include "analysis/states/states.h"
#include "base/out.h"
#include "model/trace.h"
#include "sql/duckdb.h"

#define TV_SQL_ROWS 2048u

enum tv_sql_type {
    TV_SQL_INTEGER, /* 64 bits */
    TV_SQL_REAL,
    TV_SQL_TEXT,
    TV_SQL_NAME, /* one of the names of all frames, as an ENUM */
    TV_SQL_BOOLEAN,
};

/* Flags of slices that are told in words, and the size of all these words with the NUL. */
#define TV_SQL_FLAGS 5
#define TV_SQL_FLAG_WORDS 56

/* Data that all tables of a trace share; made once. */
struct tv_sql_data {
    const struct tv_trace *trace;
    uint64_t *first_id;     /* [row_count + 1] id of the first slice of each row */
    uint64_t *first_value;  /* [counters + 1] number of the first value of each series' counter */
    uint32_t *track_of;     /* [thread_count] track of a thread's own slices; TV_NONE: none */
    uint32_t *bare_threads; /* those with instants, but no slices; their tracks come last */
    uint32_t bare_count;
    uint32_t *facts_of_thread;    /* [thread_count] number of its facts; TV_NONE: none */
    uint32_t *facts_of_process;   /* [process_count] the same */
    uint32_t *machine_of_input;   /* [input_count] machines are numbered as they come */
    uint32_t *input_of_process;   /* [process_count] the first one that tells of it */
    uint32_t *dump_of_figure;     /* [figures of memory dumps] the dump; TV_NONE: none */
    uint32_t *name_of;            /* [frame_count] number of a frame's name in `names` */
    struct tv_interner *interner; /* owns the distinct names of frames */
    const char **names;
    uint32_t name_count;
    duck_type name_type; /* ENUM of these */
    int name_bytes;      /* bytes of a number of the ENUM: 1, 2 or 4 */
    struct tv_display_cache *display;
    struct tv_sql_findings *findings;
    struct tv_sql_path_cache *path_cache;
    struct tv_sql_first_values *first_values;
    struct tv_sql_packets *packets;
    struct tv_sql_kernel *kernel;
    struct tv_sql_heap_graphs *heap_graphs;
    struct tv_read_limit *limit; /* of passes over the files, whose rows are kept; NULL: none */
    char flag_words[1 << TV_SQL_FLAGS][TV_SQL_FLAG_WORDS]; /* of each set of flags */
    bool adds_idle_thread; /* one thread more than the model has: the idle task */
    uint32_t idle_process; /* its process; process_count: one more; TV_NONE: there is none */
};

/* Is it the idle task, as readers of schedulers name it? */
bool tv_sql_is_idle(const struct tv_trace_info *info, const struct tv_thread *thread);

/* Slices of a row that are being filled, decoded once for the columns that need it. */
struct tv_sql_scratch {
    uint64_t first; /* id of the first decoded one */
    uint32_t count;
    struct tv_slice slices[TV_SQL_ROWS];
};

/* A column of the answer; `put` functions set row i. */
struct tv_sql_vector {
    duck_vector vector;
    void *data;
    uint64_t *validity; /* NULL until a row is missing */
    int name_bytes;
    bool plain; /* memory of export.c: validity is there, names are texts, texts are not copied */
};

struct tv_sql_column {
    const char *name;
    enum tv_sql_type type;
};

/* Fill rows [first, first + count) of a column. */
typedef void tv_sql_fill(const struct tv_sql_data *data, struct tv_sql_scratch *scratch,
                         uint32_t column, uint64_t first, uint32_t count,
                         struct tv_sql_vector *vector);

/* Put the value of a column and a row of the table into row i of the vector. */
typedef void tv_sql_put_cell(const struct tv_sql_data *data, uint32_t column, uint64_t row,
                             uint64_t i, struct tv_sql_vector *vector);

struct tv_sql_table {
    const char *name;
    uint64_t (*count)(const struct tv_sql_data *data);
    bool slow_count;      /* counting takes a pass over the trace: only scans do it */
    tv_sql_put_cell *put; /* one cell at a time; NULL: `fill` is there */
    tv_sql_fill *fill;    /* a column at a time, which is faster; NULL: `put` is there */
    const struct tv_sql_column *columns;
    uint32_t column_count;
};

/* Fill rows [first, first + count) of a column of a table with `put`. (vector.c) */
void tv_sql_put_rows(const struct tv_sql_table *table, const struct tv_sql_data *data,
                     uint32_t column, uint64_t first, uint32_t count, struct tv_sql_vector *vector);

/* The first is any_slice. */
extern const struct tv_sql_table *const tv_sql_tables[];
extern const size_t tv_sql_table_count;

/* All slices and instants. (slices.c) */
extern const struct tv_sql_table tv_sql_slice_table;

/* The frames of a display. (display_frames.c) */
extern const struct tv_sql_table tv_sql_display_table;

/* Objects, their snapshots, and dumps of memory. (object_tables.c) */
extern const struct tv_sql_table tv_sql_object_table, tv_sql_snapshot_table;
extern const struct tv_sql_table tv_sql_memory_dump_table, tv_sql_memory_figure_table;

/* Findings of `traceview check`, with a row for each place. (finding_table.c) */
extern const struct tv_sql_table tv_sql_finding_table;
struct tv_sql_findings *tv_sql_findings_new(void);
void tv_sql_findings_free(struct tv_sql_findings *findings);

/* Metadata of the inputs. (metadata_table.c) */
extern const struct tv_sql_table tv_sql_metadata_table;

/* Packets of Perfetto traces, and of which sequences they are. (packet_table.c) */
extern const struct tv_sql_table tv_sql_packet_table, tv_sql_sequence_table;
struct tv_sql_packets *tv_sql_packets_new(void);
void tv_sql_packets_free(struct tv_sql_packets *packets);

/* Find the packet whose arguments have an id; false: it is another one's. */
bool tv_sql_find_packet(const struct tv_sql_data *data, int64_t id, uint32_t *input,
                        uint64_t *offset);

/* Put the id of the arguments of a process or thread into row i; NULL: no packet has any. */
void tv_sql_put_process_args(const struct tv_sql_data *data, struct tv_sql_vector *vector,
                             uint64_t i, uint64_t process);
void tv_sql_put_thread_args(const struct tv_sql_data *data, struct tv_sql_vector *vector,
                            uint64_t i, uint64_t thread);

/* Return the id of the arguments of the first event of the kernel: they follow those of packets.
 * (packet_table.c) */
int64_t tv_sql_kernel_args(const struct tv_sql_data *data);

/* Events of the kernel. (kernel_table.c) */
extern const struct tv_sql_table tv_sql_kernel_table;
struct tv_sql_kernel *tv_sql_kernel_new(void);
void tv_sql_kernel_free(struct tv_sql_kernel *kernel);

/* Find the event of the kernel whose arguments have an id; false: it is another one's. */
bool tv_sql_find_kernel_event(const struct tv_sql_data *data, int64_t id, uint32_t *input,
                              uint64_t *offset);

/* Graphs of Java heaps. (heap_graph_table.c) */
extern const struct tv_sql_table tv_sql_heap_object_table, tv_sql_heap_reference_table;
extern const struct tv_sql_table tv_sql_heap_class_table, tv_sql_heap_node_table;
struct tv_sql_heap_graphs *tv_sql_heap_graphs_new(void);
void tv_sql_heap_graphs_free(struct tv_sql_heap_graphs *graphs);

/* The kind_id of instants in any_slice, after the values of enum tv_track_kind. */
#define TV_SQL_KIND_INSTANT 100

/* The columns of any_slice. */
enum tv_sql_slice_column {
    TV_SQL_SLICE_ID,
    TV_SQL_SLICE_TS,
    TV_SQL_SLICE_DUR,
    TV_SQL_SLICE_TRACK,
    TV_SQL_SLICE_CATEGORY,
    TV_SQL_SLICE_NAME,
    TV_SQL_SLICE_DEPTH,
    TV_SQL_SLICE_PARENT,
    TV_SQL_SLICE_ARGS,
    TV_SQL_SLICE_THREAD_TS,
    TV_SQL_SLICE_THREAD_DUR,
    TV_SQL_SLICE_UTID,
    TV_SQL_SLICE_UPID,
    TV_SQL_SLICE_SELF_DUR,
    TV_SQL_SLICE_SELF_THREAD_DUR,
    TV_SQL_SLICE_CLASS,
    TV_SQL_SLICE_SIGNATURE,
    TV_SQL_SLICE_FRAME,
    TV_SQL_SLICE_PATH,
    TV_SQL_SLICE_PARENT_NAME,
    TV_SQL_SLICE_KIND,  /* enum tv_track_kind, or TV_SQL_KIND_INSTANT */
    TV_SQL_SLICE_EVENT, /* offset of its event, which tells slices of one event */
    TV_SQL_SLICE_FILE,
    TV_SQL_SLICE_LINE,
    TV_SQL_SLICE_METHOD, /* the name, of frames with a class */
    TV_SQL_SLICE_ROOT_NAME,
    TV_SQL_SLICE_FLAGS,     /* as words */
    TV_SQL_SLICE_LENGTH,    /* also of open slices, whose `dur` is -1; NULL: CPU times alone */
    TV_SQL_SLICE_RECURSIVE, /* is it within another slice of the same frame? */
    TV_SQL_SLICE_WAKER,     /* this and the rest: of thread states */
    TV_SQL_SLICE_BLOCKED_FUNCTION,
    TV_SQL_SLICE_IO_WAIT,
    TV_SQL_SLICE_STATE,     /* in the kernel's letters, as in Perfetto; the name says it in words */
    TV_SQL_SLICE_END_STATE, /* the state after it, in letters */
    TV_SQL_SLICE_CPU,       /* of Running */
    TV_SQL_SLICE_UCPU,      /* the same, with TV_SQL_MACHINE_CPUS for each machine before its own */
    TV_SQL_SLICE_PRIORITY,  /* of what a processor runs: read from the event again */
};

/* Facts of paths about their slices, in arrays that are computed when they are first asked for; the
 * first call locks others out. (path_table.c) */
struct tv_sql_path_facts {
    const uint32_t *root;     /* [paths] the outermost frame */
    const uint32_t *depth;    /* [paths] number of callers */
    const uint8_t *recursive; /* [paths] is its frame among the callers, too? */
};

struct tv_sql_path_cache *tv_sql_path_cache_new(void);
void tv_sql_path_cache_free(struct tv_sql_path_cache *cache);

/* Return them; they belong to the data. */
struct tv_sql_path_facts tv_sql_path_facts(const struct tv_sql_data *data);

/* First values of samples (first_values.c). */
struct tv_sql_first_values *tv_sql_first_values_new(void);
void tv_sql_first_values_free(struct tv_sql_first_values *values);

/* Return the row of the first value of a row's sample: the row itself, if it is that. */
uint64_t tv_sql_first_value(const struct tv_sql_data *data, uint64_t row);

/* All paths. (path_table.c) */
extern const struct tv_sql_table tv_sql_path_table;

/* Write the words of every set of flags. */
void tv_sql_list_flag_words(struct tv_sql_data *data);

/* Put a column of thread states into row i; NULL for other slices. (state_columns.c) */
void tv_sql_put_state_column(const struct tv_sql_data *data, uint32_t column, uint64_t i,
                             struct tv_slice_place place, struct tv_sql_vector *vector);

/* Processors of the second machine have numbers from this on among those of all, as in Perfetto. */
#define TV_SQL_MACHINE_CPUS 4096

/* Return the first number in the name of a processor's track, its processor; -1: there is none. */
int64_t tv_sql_cpu_of_track(const struct tv_trace *trace, uint32_t track);

/* Return the number of a processor among those of all machines. */
static inline int64_t tv_sql_ucpu(const struct tv_sql_data *data, uint32_t input, int64_t cpu)
{
    return (int64_t)data->machine_of_input[input] * TV_SQL_MACHINE_CPUS + cpu;
}

/* The arguments of a series: those of series n have the id TV_SQL_SERIES_ARGS - n. */
#define TV_SQL_SERIES_ARGS INT64_C(-1)

/* Write the arguments with such an id as JSON; nothing if there are none. */
void tv_sql_write_series_arguments(const struct tv_sql_data *data, int64_t id, struct tv_out *out);

/* Return the id of the arguments of a snapshot: they follow those of series and tracks. */
static inline int64_t tv_sql_snapshot_args(const struct tv_sql_data *data, uint64_t snapshot)
{
    return TV_SQL_SERIES_ARGS -
           (int64_t)(data->trace->tables.series.count + data->trace->track_count + snapshot);
}

/* Return the id of the arguments of a sample: they follow those of snapshots. */
static inline int64_t tv_sql_sample_args(const struct tv_sql_data *data, uint64_t sample)
{
    return tv_sql_snapshot_args(data, data->trace->tables.snapshots.count) - (int64_t)sample;
}

/* Return the id of the arguments of a counter's value: they follow those of samples. */
static inline int64_t tv_sql_value_args(const struct tv_sql_data *data, uint64_t value)
{
    return tv_sql_sample_args(data, data->trace->tables.samples.count) - (int64_t)value;
}

/* Return the row of a slice's id, which is less than the number of slices. */
uint32_t tv_sql_row_of(const struct tv_sql_data *data, uint64_t id);

/* ---- Put a value into row i of a column (vector.c) ---- */

/* Put NULL. */
void tv_sql_put_null(struct tv_sql_vector *vector, uint64_t i);
/* Put a number of 64 bits. */
void tv_sql_put_integer(struct tv_sql_vector *vector, uint64_t i, int64_t value);
/* Put a truth value. */
void tv_sql_put_boolean(struct tv_sql_vector *vector, uint64_t i, bool value);
/* Put a text, which lives as long as the trace: DuckDB copies it, an export does not. */
void tv_sql_put_bytes(struct tv_sql_vector *vector, uint64_t i, struct tv_bytes text);
void tv_sql_put_text(struct tv_sql_vector *vector, uint64_t i, const char *text);

/* Put an index, or NULL for TV_NONE. */
void tv_sql_put_index(struct tv_sql_vector *vector, uint64_t i, uint32_t index);

/* Put a number, or NULL for NaN. */
void tv_sql_put_real(struct tv_sql_vector *vector, uint64_t i, double value);

/* Put a string of the trace; the empty one is NULL. */
void tv_sql_put_string(const struct tv_sql_data *data, struct tv_sql_vector *vector, uint64_t i,
                       uint32_t string);

/* Put the name of a frame into a column of type TV_SQL_NAME. */
void tv_sql_put_name(const struct tv_sql_data *data, struct tv_sql_vector *vector, uint64_t i,
                     uint32_t frame);

/* Write the event of a slice or instant as JSON; nothing if there is none, its file has nothing
 * more to tell, or that is too long. */
void tv_sql_event_write(const struct tv_sql_data *data, int64_t id, struct tv_out *out);

/* Put the priority that the event of a processor's slice tells, into row i. (arguments.c) */
void tv_sql_put_priority(const struct tv_sql_data *data, int64_t id, uint64_t i,
                         struct tv_sql_vector *vector);

/* Register the function tv_event(id): the event of a slice or instant as JSON.  `data` must outlive
 * the connection. (arguments.c) */
bool tv_sql_register_arguments(duck_connection connection, struct tv_sql_data *data);

/* Register the functions tv_depth(id) and tv_around(id, levels), about the slices around a slice.
 * `data` must outlive the connection. (parents.c) */
bool tv_sql_register_parents(duck_connection connection, struct tv_sql_data *data);

/* Register the function path_stack(id): the names of a path.  `data` must outlive the connection.
 * (path_table.c) */
bool tv_sql_register_stacks(duck_connection connection, struct tv_sql_data *data);

/* ---- Scalar functions of integers (vector.c) ---- */

struct tv_sql_function {
    const char *name;
    unsigned parameters; /* integers */
    int result;          /* type of DuckDB */
    void (*call)(duck_call call, duck_chunk chunk, duck_vector result);
};

/* Register a function; `data` is its extra info, and must outlive the connection. */
bool tv_sql_register_function(duck_connection connection, struct tv_sql_data *data,
                              const struct tv_sql_function *how);

/* The integers of a column that a function is given. */
struct tv_sql_given {
    const int64_t *values;
    const uint64_t *validity; /* NULL: all are known */
};

/* Return the integers of a column of what a function is given. */
struct tv_sql_given tv_sql_given_column(duck_chunk chunk, uint64_t number);
/* Is the integer of row i not NULL? */
bool tv_sql_given_is_known(const struct tv_sql_given *given, uint64_t i);

/* ---- Views and macros, made when they are named (views.c) ---- */

/* A text that names all of them. */
#define TV_SQL_ALL_VIEWS "duckdb_views"

/* Their number: a view for each table, and the prelude. */
size_t tv_sql_view_count(void);

/* Write the statement that makes one. */
void tv_sql_view_statement(size_t number, struct tv_out *out);

/* Tell which ones the statements of a text need: named[tv_sql_view_count()]. */
void tv_sql_views_named(const char *text, bool *named);

/* Fail with what to ask instead, if DuckDB's message says that a table or function is missing which
 * Perfetto has; false: the message says something else. (absent.c) */
bool tv_sql_fail_absent(struct tv_error *err, const char *why);

/* Fail with the remedy, if the message says that a query may not read or write a file; false: it
 * says something else. (absent.c) */
bool tv_sql_fail_files(struct tv_error *err, const char *why);

void tv_sql_data_init(struct tv_sql_data *data, const struct tv_trace *trace);
void tv_sql_data_release(struct tv_sql_data *data);

/* ---- The tables of a trace as table functions of DuckDB (scan.c) ---- */

/* The rows of a table that a function has. */
enum tv_sql_extent {
    TV_SQL_ALL_ROWS,
    TV_SQL_SLICES, /* rows of any_slice: slices and instants */
    TV_SQL_RANGE,  /* slices and instants that overlap the range of the two parameters */
};

/* A table function: which rows of which table it scans. */
struct tv_sql_scanned {
    const struct tv_sql_data *data;
    const struct tv_sql_table *table;
    enum tv_sql_extent rows;
};

/* Register the function tv_NAME(), or tv_slice() or tv_slice_in(from, to).  `scanned` must outlive
 * the connection. */
bool tv_sql_register_table(duck_connection connection, struct tv_sql_scanned *scanned);

/* ---- The table of arguments without DuckDB, for export.c alone (export_args.c) ---- */

struct tv_sql_columns;
struct tv_sql_chunk;

/* Reads the events of all slices and instants again, and takes their JSON apart. */
struct tv_sql_arguments;

struct tv_sql_arguments *tv_sql_arguments_new(const struct tv_sql_data *data);
void tv_sql_arguments_free(struct tv_sql_arguments *arguments);

/* List the columns of the table `args`. */
void tv_sql_arguments_columns(struct tv_sql_columns *columns);

/* Read the next rows; false at the end.  They stay valid until the next call. */
bool tv_sql_arguments_next(struct tv_sql_arguments *arguments, struct tv_sql_chunk *chunk);

#endif
