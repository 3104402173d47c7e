/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.h - everything in a trace that is not a slice: instants, counters, flows, objects with
 * their snapshots, samples, memory dumps, contexts, stack frames and more.
 *
 * Readers fill the tables; tv_builder_finish sorts them by input and time.  Times are nanoseconds
 * on the clock of the row's input; tv_trace_time (trace.h) converts them to the axis of the trace.
 * `offset` is the position of the event's text in the input (TV_NO_OFFSET: none), from which
 * arguments are read when somebody looks.  Strings are numbers in the trace info's interner.
 */
#ifndef TV_MODEL_TABLES_H
#define TV_MODEL_TABLES_H

#include "base/map.h"
#include "base/types.h"
#include "model/trace_info.h"

/* ---- Samples added up while they are read, instead of a row for each ----
 *
 *     samples, 48 bytes each      main>parse 1   main>draw 1   main>parse 1 ...     millions
 *     sums, 32 bytes each         main>parse 2   main>draw 1                        stacks x types
 *
 * A table of functions or a flame graph of a whole profile needs only the sums.  A trace that was
 * read for them (tv_builder_sum_samples) has no time, thread or place of a single sample.
 */

enum tv_sample_detail {
    TV_SAMPLES_SINGLE,   /* a row of tv_tables.samples for each sample */
    TV_SAMPLES_BY_STACK, /* a sum for each stack of functions */
    TV_SAMPLES_BY_LINES, /* a sum for each stack of functions with their sampled lines */
};

/* The samples of one stack and value type. */
struct tv_sample_sum {
    uint64_t samples;
    int64_t weight; /* saturates */
    uint32_t path;
    uint32_t type; /* in the value types */
    uint32_t next; /* row + 1 of another sum of this path, of one of the first types; 0: none */
};

struct tv_sample_sums {
    enum tv_sample_detail detail;
    struct tv_sample_sum *rows; /* in the order of the stacks' first samples */
    size_t count, capacity;
    uint32_t *of_path; /* by path: row + 1 of its first sum, 0 for none */
    size_t path_capacity;
    struct tv_map of_many; /* path << 32 | type -> row, for all types but the first few */
};

void tv_sample_sums_release(struct tv_sample_sums *sums);

/* Add samples, and the sum of their weights. */
void tv_sample_sums_add(struct tv_sample_sums *sums, uint32_t path, uint32_t type, uint64_t samples,
                        int64_t weight);

/* ---- The rows of the tables ---- */

enum tv_scope {
    TV_SCOPE_THREAD,
    TV_SCOPE_PROCESS,
    TV_SCOPE_GLOBAL,
    TV_SCOPE_TRACK, /* of a processor */
};

/* An index stores these rows as they are in memory (index/index.h).  Padding bytes would be random
 * and make indexes of equal traces differ. */
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wpadded"

struct tv_instant {
    tv_ns time;
    uint64_t offset;
    uint32_t frame;
    uint32_t of; /* thread, process or track, depending on the scope; TV_NONE: global */
    uint32_t input;
    uint8_t scope;  /* enum tv_scope */
    uint8_t colour; /* as tv_slice_extra */
    uint8_t no_padding[2];
};

/* Facts about a counter beside its name: strings, empty where the file does not tell. */
struct tv_counter_facts {
    uint32_t unit;
    uint32_t type; /* the kind of what it counts, as Perfetto calls it: "gpu_counter" */
    uint32_t description;
    uint32_t dimensions; /* JSON object: what tells counters of one name apart, {"gpu":1} */
};

/* Series that change together.  Sample i has values[first_value + i * series_count + series]; NaN:
 * the event has no value for that series. */
struct tv_counter {
    uint32_t name;     /* with its id, "name[id]", as shown */
    uint32_t category; /* string */
    uint32_t process;  /* TV_NONE: no process */
    uint32_t input;
    uint32_t first_series, series_count;
    uint64_t first_sample; /* in counter_times and counter_offsets */
    uint32_t sample_count;
    uint8_t colour; /* as tv_slice_extra, of all series */
    uint8_t no_padding[3];
    uint64_t first_value;
    struct tv_counter_facts facts;
};

struct tv_series {
    uint32_t name;
};

/* An end of a flow: a slice or an instant, and the time at which the arrow touches it.  For an
 * instant `row` is TV_NONE and `index` its number in the table. */
struct tv_flow_end {
    tv_ns time;
    uint32_t row, index;
};

struct tv_flow {
    struct tv_flow_end from, to;
    uint64_t offset, end_offset; /* of the two events */
    uint32_t frame;              /* name and category */
    uint32_t id;                 /* string */
    uint32_t input;
    uint32_t no_padding;
};

enum tv_object_flags {
    TV_OBJECT_CREATED = 1, /* by an event, else by its first snapshot */
    TV_OBJECT_DELETED = 2, /* by an event, else by the end of the trace */
};

struct tv_object {
    tv_ns created, deleted; /* alive in [created, deleted) */
    uint32_t type;          /* string, as displayed */
    uint32_t base_type;     /* string; TV_EMPTY_STRING: the same */
    uint32_t category, id, scope;
    uint32_t process, input;
    uint32_t first_snapshot, snapshot_count, no_gap;
    uint64_t created_at, deleted_at; /* of the events that created and deleted it */
    uint32_t group; /* same for objects and async slices joined by "="; TV_NONE: not joined */
    uint8_t flags;
    uint8_t no_padding[3];
};

/* An object as references name it; process, id and scope are strings. */
struct tv_object_key {
    tv_ns created;
    uint32_t input, pid, id, scope;
    uint32_t object, no_padding;
};

struct tv_snapshot {
    tv_ns time;
    uint64_t offset; /* offset of the event, or of the object itself if it is inside another one */
    uint32_t object;
    uint32_t input;
    bool inner; /* found inside the snapshot of another object */
    uint8_t no_padding[7];
};

/* Quantity that samples weigh: "cpu-clock" in nanoseconds, "alloc_space" in bytes.  Weights
 * of different types are never added together. */
struct tv_value_type {
    uint64_t samples; /* their number, and the sum of their weights, which saturates: both are */
    int64_t total;    /* set when the tables are finished; of function costs, if there are any */
    tv_ns interval;   /* sampling interval according to the file; 0: unknown */
    uint32_t name;    /* string, as the format calls it */
    uint32_t unit;    /* string, as the format calls it: "nanoseconds", "bytes", "count", ... */
    uint32_t input;
    bool preferred; /* the file says that this type is shown first */
    bool counted;   /* a weight is a number of samples: a row stands for as many */
    bool until_end; /* the last sample of a thread lasts until the end of the input */
    uint8_t no_padding;
};

/* A stack, and how much of a value type belongs to it.  An input sample with several values is
 * several rows with one offset.  Samples without times lie one after another, each as wide as its
 * weight (tv_input.weight_axis). */
struct tv_sample {
    tv_ns time;
    int64_t weight; /* in the unit of its type; negative in a difference of profiles */
    uint64_t offset;
    uint32_t thread; /* TV_NONE: unknown */
    uint32_t cpu;    /* TV_NONE: unknown */
    uint32_t path; /* path of its stack: functions, without sampled lines; TV_ROOT_PATH: no stack */
    uint32_t
        line_path; /* the same with the sampled line in each frame; `path` if lines are unknown */
    uint32_t type; /* in the value types */
    uint32_t input;
};

/* Return where a sample ends on an axis of weights. */
static inline tv_ns tv_weight_end(const struct tv_sample *sample)
{
    tv_ns width = sample->weight == INT64_MIN ? INT64_MAX
                  : sample->weight < 0        ? -sample->weight
                                              : sample->weight;
    return sample->time > TV_MOVE_MAX || width > TV_MOVE_MAX - sample->time ? TV_MOVE_MAX
                                                                            : sample->time + width;
}

/* Return the number of samples that a row with that weight stands for. */
static inline uint64_t tv_value_type_count(const struct tv_value_type *type, int64_t weight)
{
    return !type->counted ? 1 : weight > 0 ? (uint64_t)weight : 0;
}

/* Exact cost of a function, for files that keep calls instead of stacks (callgrind, cProfile): one
 * row for each function and value type with a figure that is not 0.  The samples of such a type are
 * an estimate, and these rows are what the file says. */
struct tv_function_cost {
    uint64_t calls;         /* calls of the function; 0: never called, or unknown */
    int64_t self;           /* in the unit of the type; all costs saturate */
    int64_t inclusive;      /* self and the calls that leave its cycle of recursive functions */
    int64_t with_recursion; /* self and all calls: may exceed the total */
    uint32_t frame;
    uint32_t type; /* in the value types */
    uint32_t input, no_padding;
};

/* The calls of one function by another, in the same files. */
struct tv_call_edge {
    uint64_t calls;
    int64_t cost;            /* inclusive, of the callee in these calls */
    uint32_t caller, callee; /* frames */
    uint32_t type;
    uint32_t input;
};

/* Number of events of one type in an input: a JFR event, a perf event, a packet, a phase. */
struct tv_event_type {
    uint64_t count;
    uint32_t name; /* string, as the format calls it */
    uint32_t input;
};

struct tv_memory_dump {
    tv_ns time;
    uint64_t offset;
    uint32_t process; /* TV_NONE: the global dump */
    uint32_t id;      /* string: connects the dumps of several processes */
    uint32_t level;   /* string: "background", "light", "detailed" */
    uint32_t input;
    uint32_t first_figure, figure_count;
};

/* One figure of a memory dump, of the process ("totals") or an allocator ("malloc/heap"). */
struct tv_memory_figure {
    uint32_t of;    /* string */
    uint32_t name;  /* string: "size", "effective_size", "resident_set_bytes" */
    uint32_t units; /* string: "bytes", "objects", "" */
    uint32_t no_padding;
    double value;
};

/* A thread was in a context during [start, end). */
struct tv_context {
    tv_ns start, end;
    uint64_t offset;
    uint32_t thread;
    uint32_t type, id; /* strings */
    uint32_t input;
};

/* An event "=": two ids name the same object. */
struct tv_join {
    uint64_t offset;
    uint32_t group;  /* as in tv_object; TV_NONE: an id joined with itself, which has no effect */
    uint32_t id;     /* string: the id as in the event */
    uint32_t linked; /* string: the other id */
    uint32_t input;
};

/* A moment marked in two inputs, which aligns their clocks (finalize.h). */
struct tv_clock_sync {
    tv_ns time;
    tv_ns asked; /* time of the request, on the clock of the requester; else the same as `time` */
    uint64_t offset;
    uint32_t id; /* string */
    uint32_t input;
};

/* A name that one input knows for a process or thread of any input (finalize.h). */
struct tv_known_name {
    uint64_t pid, tid;
    uint32_t name; /* string */
    uint32_t input;
    bool is_thread; /* else `tid` is meaningless */
    uint8_t no_padding[7];
};

/* An entry of a table of stack frames: the stack that ends with it. */
struct tv_stack_frame {
    uint32_t key;     /* string: its id in the file */
    uint32_t process; /* TV_NONE: valid for the whole file */
    uint32_t path;
    uint32_t input;
};

/* Rare properties of slices, sorted by row and index. */
struct tv_slice_extra {
    uint32_t row, index;
    uint64_t end_offset; /* offset of the event that ended it, if that has more to tell; or
                            TV_NO_OFFSET */
    uint8_t
        colour; /* 0: automatic; a reserved colour: its id of trace-event.md section 5 minus 22;
                   from TV_COLOUR_HASHED on: the automatic colour of another name, by its number */
    uint8_t no_padding[7];
};

#define TV_COLOUR_HASHED 64

/* Properties of async slices, sorted by row and index. */
struct tv_async_extra {
    uint32_t row, index;
    uint32_t id;                       /* string, as shown: "cat:scope:id" */
    uint32_t start_thread, end_thread; /* TV_NONE: unknown */
    uint32_t group;                    /* as in tv_object */
    bool lifetime;                     /* lifetime of an object whose id is joined */
    uint8_t no_padding[3];
};

/* A thread was made runnable; it may run later.  Sorted by thread and time. */
struct tv_wakeup {
    tv_ns time;
    uint64_t offset;
    uint32_t thread;
    uint32_t by; /* thread that woke it; TV_NONE: the idle task, or unknown */
    uint32_t input, no_padding;
};

/* Facts about a process or a thread that few formats have. */
struct tv_task_facts {
    tv_ns start, end; /* of its life, which may begin before the trace; TV_NO_TIME: unknown */
    uint32_t process, thread; /* the one that the facts are about; the other one is TV_NONE */
    uint32_t parent;          /* process; TV_NONE: unknown */
    uint32_t user;            /* id; TV_NONE: unknown */
    uint32_t command;         /* string: the command line; empty: unknown */
    uint32_t input;
};

/* Why a thread was blocked, reported when it is woken.  Sorted by thread and time. */
struct tv_blocking {
    tv_ns time;
    uint64_t offset;
    uint32_t thread;
    uint32_t caller; /* string: the kernel function that waited */
    uint32_t input;
    bool io;
    uint8_t no_padding[3];
};

#pragma GCC diagnostic pop

/* A growing table. */
#define TV_TABLE(type)                                                                             \
    struct {                                                                                       \
        struct type *rows;                                                                         \
        size_t count, capacity;                                                                    \
    }

struct tv_tables {
    TV_TABLE(tv_instant) instants;
    TV_TABLE(tv_counter) counters;
    TV_TABLE(tv_series) series;
    TV_TABLE(tv_flow) flows;
    TV_TABLE(tv_object) objects;
    TV_TABLE(tv_snapshot) snapshots;
    TV_TABLE(tv_value_type) value_types;
    TV_TABLE(tv_sample) samples;
    struct tv_sample_sums sample_sums; /* samples of profiles that are in no row */
    int64_t
        positive_weights; /* sum over all samples, saturates; set when the tables are finished */
    TV_TABLE(tv_event_type) event_types;
    TV_TABLE(tv_function_cost) function_costs;
    TV_TABLE(tv_call_edge) call_edges;
    TV_TABLE(tv_memory_dump) memory_dumps;
    TV_TABLE(tv_memory_figure) memory_figures;
    TV_TABLE(tv_context) contexts;
    TV_TABLE(tv_join) joins;
    TV_TABLE(tv_clock_sync) clock_syncs;
    TV_TABLE(tv_known_name) known_names;
    TV_TABLE(tv_stack_frame) stack_frames;
    TV_TABLE(tv_slice_extra) slice_extras;
    TV_TABLE(tv_async_extra) async_extras;
    TV_TABLE(tv_wakeup) wakeups;
    TV_TABLE(tv_blocking) blockings;
    TV_TABLE(tv_task_facts) task_facts;
    struct tv_object_key *object_keys; /* [objects.count] sorted for tv_object_find_snapshot */
    tv_ns *counter_times;
    uint64_t *counter_offsets;
    double *counter_values;
    size_t counter_sample_count, counter_sample_capacity;
    size_t counter_value_count, counter_value_capacity;
};

/* Append a zeroed row and return a pointer to it: tv_table_add(&tables->flows). */
#define tv_table_add(table)                                                                        \
    ((table)->rows = tv_array_reserve((table)->rows, &(table)->capacity, (table)->count + 1,       \
                                      sizeof *(table)->rows),                                      \
     memset(&(table)->rows[(table)->count], 0, sizeof *(table)->rows),                             \
     &(table)->rows[(table)->count++])

void tv_tables_release(struct tv_tables *tables);

/* Append a counter with its samples from `times`, `offsets` and `values` (layout as in struct
 * tv_counter, sorted by time).  The function copies them and sets the indices in the copy of
 * *counter.  `times` NULL: the caller fills the samples, from the current counter_sample_count and
 * counter_value_count on. */
void tv_tables_add_counter(struct tv_tables *tables, const struct tv_counter *counter,
                           const uint32_t *series_names, const tv_ns *times,
                           const uint64_t *offsets, const double *values);

/* Reserve room for more samples and values of counters that are added one by one. */
void tv_tables_reserve_samples(struct tv_tables *tables, size_t samples, size_t values);

/* Maximum number of value types, and of event types, of a trace.  Further ones count as the last:
 * no known file has so many, and a hostile one gets no quadratic search. */
#define TV_TYPES_MAX 4096u

/* Return the value type with a name and unit (strings) in an input, adding it if needed. */
uint32_t tv_tables_value_type(struct tv_tables *tables, uint32_t input, uint32_t name,
                              uint32_t unit);

/* Add to the number of events that an input has of a type (string); a type without events is none.
 */
void tv_tables_count_events(struct tv_tables *tables, uint32_t input, uint32_t name,
                            uint64_t count);

/* Return the number of samples, a sample with several values counted once for each. */
uint64_t tv_tables_sample_count(const struct tv_tables *tables);

/* Return the number of samples that a row stands for. */
static inline uint64_t tv_tables_count_sample(const struct tv_tables *tables,
                                              const struct tv_sample *sample)
{
    return tv_value_type_count(&tables->value_types.rows[sample->type], sample->weight);
}

/* Return the name of a sample's value type (string). */
static inline uint32_t tv_sample_title(const struct tv_tables *tables,
                                       const struct tv_sample *sample)
{
    return tables->value_types.rows[sample->type].name;
}

/* Return the extra of a slice, or NULL. */
const struct tv_slice_extra *tv_tables_slice_extra(const struct tv_tables *tables, uint32_t row,
                                                   uint32_t index);
const struct tv_async_extra *tv_tables_async_extra(const struct tv_tables *tables, uint32_t row,
                                                   uint32_t index);

/* Return the number of "=" events of a group, and the first of them; 0 for TV_NONE. */
size_t tv_tables_joins(const struct tv_tables *tables, uint32_t group, size_t *first);

/* Return the entry with a key, preferably one of the whole file, or NULL. */
const struct tv_stack_frame *tv_tables_stack_frame(const struct tv_tables *tables, uint32_t input,
                                                   uint32_t key);

/* Sort all tables that need it.  Objects keep their numbers. */
void tv_tables_finish(struct tv_tables *tables);

#endif
