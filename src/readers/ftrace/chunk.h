/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk.h - the content of one chunk of ftrace text, as tables with numbers of its own.
 *
 * A worker reads a chunk without knowing the chunks before it, so every number in these tables
 * (of a task, a frame, a text, ...) is valid within the chunk only; merge.c translates.  Three
 * kinds of events differ in when their meaning is known:
 *
 *   at once                    slices of a thread, instants, counters: added to the chunk's tables
 *   with all events in order   switches, wake-ups, async slices: short rows that the merge sorts
 *   with other events          binder transactions, time lines, GPU jobs: deferred events
 */
#ifndef TV_READERS_FTRACE_CHUNK_H
#define TV_READERS_FTRACE_CHUNK_H

#include "base/error.h"
#include "base/map.h"
#include "base/progress.h"
#include "base/source.h"
#include "model/assembly/assembly.h"
#include "model/assembly/idle_gap.h"
#include "model/diagnostic.h"
#include "model/sketch.h"
#include "model/tables.h"
#include "readers/ftrace/line.h"

/* ---- Rows of the tables ---- */

/* A thread by its tid, or a pseudo-thread: a track of the kernel's own, such as "irqs cpu 3". */
struct tv_ft_task {
    int64_t tid;         /* TV_FT_NO_ID: a pseudo-thread */
    int64_t tgid;        /* from the last line that shows it; TV_FT_NO_ID: none does */
    int64_t marked_tgid; /* from the first mark that shows it */
    uint32_t name;       /* text: from the last switch or wake-up that names it; empty: none */
    uint32_t seen_name;  /* in seen_names: from the first of its own lines */
    uint64_t seen_at;    /* the offset of that line */
    bool seen_odd;       /* `seen_name` is not UTF-8 */
    bool used;           /* something other than switches and wake-ups refers to it */
    uint32_t frame;      /* frame of its slices on processors; TV_NONE: none yet */
};

struct tv_ft_frame {
    uint32_t name, category; /* texts */
};

/* State of a thread that does not run (ftrace.md section 5), or that it runs. */
enum tv_ft_state {
    TV_FT_RUNNING,
    TV_FT_RUNNABLE,
    TV_FT_PREEMPTED,
    TV_FT_SLEEPING,
    TV_FT_BLOCKED,
    TV_FT_BLOCKED_IO,
    TV_FT_BLOCKED_KILLABLE,
    TV_FT_BLOCKED_WAKING,
    TV_FT_STOPPED,
    TV_FT_TRACED,
    TV_FT_ZOMBIE,
    TV_FT_EXIT_DEAD,
    TV_FT_TASK_DEAD,
    TV_FT_WAKE_KILL,
    TV_FT_WAKING,
    TV_FT_PARKED,
    TV_FT_IDLE,
    TV_FT_UNKNOWN,
    TV_FT_CREATED, /* of kernels other than Linux, like TV_FT_WAKE_STATE */
    TV_FT_STATES
};

/* A processor switched from one task to another. */
struct tv_ft_switch {
    int64_t time;
    uint64_t offset : 40, cpu : 16, state : 8; /* enum tv_ft_state of the previous task */
    uint32_t from, to;                         /* tasks */
    uint32_t frame;                            /* the name of the next task */
};

/* Stands for the time of the last event of the file, which a chunk does not know. */
#define TV_FT_AT_END INT64_MAX

enum tv_ft_wake { TV_FT_WAKE_ASKED, TV_FT_WAKE_DONE, TV_FT_WAKE_BLOCKED, TV_FT_WAKE_STATE };

/* A task was woken, an event explains why it was blocked, or tells its state while it does not run.
 */
struct tv_ft_wakeup {
    int64_t time;
    uint64_t offset : 40, cpu : 16, kind : 7, io : 1;
    uint32_t task;
    uint32_t by; /* the waking task; TV_FT_WAKE_BLOCKED: the blocking function, a text;
                    TV_FT_WAKE_STATE: enum tv_ft_state */
};

struct tv_ft_counter {
    int64_t tgid; /* TV_FT_NO_ID: the kernel's */
    uint32_t name, category, series;
    struct tv_counter_facts facts; /* texts */
};

/* A value of a counter. */
struct tv_ft_value {
    int64_t time;
    uint64_t offset;
    double value;
    uint32_t counter;
};

/* Values are kept in 20 bytes: differences to a time and an offset, which records of the same size
 * set (`counter` TV_NONE). */
#pragma pack(push, 4)
struct tv_ft_packed_value {
    uint32_t counter;
    union {
        struct {
            uint32_t time, offset;
            double value;
        };
        struct {
            int64_t time;
            uint64_t offset;
        } bases;
    };
};
#pragma pack(pop)

/* Packed values are in blocks, which the merge frees one by one while it moves them: a trace of
 * counters never is in memory twice. */
struct tv_ft_value_block {
    struct tv_ft_value_block *next;
    size_t count, capacity; /* records */
    struct tv_ft_packed_value rows[];
};

struct tv_ft_values {
    struct tv_ft_value_block *first, *last;
    int64_t time; /* the last bases */
    uint64_t offset;
};

/* A walk over all values, in order; start with zeros besides `block`, the first one. */
struct tv_ft_value_walk {
    const struct tv_ft_value_block *block;
    size_t next;
    int64_t time;
    uint64_t offset;
};

/* Read the next value.  Return false at the end.  Blocks before walk->block may be freed. */
static inline bool tv_ft_values_next(struct tv_ft_value_walk *walk, struct tv_ft_value *value)
{
    while (walk->block) {
        if (TV_UNLIKELY(walk->next == walk->block->count)) {
            walk->block = walk->block->next;
            walk->next = 0;
            continue;
        }
        const struct tv_ft_packed_value *row = &walk->block->rows[walk->next++];
        if (TV_LIKELY(row->counter != TV_NONE)) {
            *value = (struct tv_ft_value){walk->time + row->time, walk->offset + row->offset,
                                          row->value, row->counter};
            return true;
        }
        walk->time = row->bases.time;
        walk->offset = row->bases.offset;
    }
    return false;
}

/* Key by which the begin and the end of an async slice match. */
struct tv_ft_key {
    int64_t tgid;                 /* TV_FT_NO_ID: the kernel's */
    uint32_t what, first, second; /* texts */
};

enum tv_ft_async_kind { TV_FT_ASYNC_BEGIN, TV_FT_ASYNC_END, TV_FT_ASYNC_POINT };

struct tv_ft_async {
    int64_t time;
    uint64_t offset : 40, kind : 8;
    uint64_t single : 1;  /* ignore this begin while another one of the key is open */
    uint64_t counted : 1; /* begins of the key make one slice, until as many ends */
    uint64_t if_open : 1; /* ignore this end when no slice of the key is open */
    uint64_t global : 1;  /* the slice belongs to the kernel, not to the process of the task */
    uint32_t key;
    uint32_t id; /* text, as the page shows it */
    uint32_t frame;
    uint32_t task;
    uint32_t track;   /* text: name of the track that the mark asks for; empty: none */
    uint32_t process; /* filled by the merge; TV_NONE: that of the task */
};

/* Deferred events: their meaning depends on other events.  deferred.c replays them in time order
 * once all chunks are read. */
enum tv_ft_deferred_kind {
    TV_FT_BINDER_SENT, /* values: transaction, flags, 1 for a reply */
    TV_FT_BINDER_RECEIVED,
    TV_FT_BINDER_FAILED,
    TV_FT_TIMELINE,  /* from now on the pseudo-thread shows `text`; empty: nothing */
    TV_FT_BUSY,      /* the same, but a repetition does not begin a new slice */
    TV_FT_FENCE,     /* `text` names the work since the last fence of the pseudo-thread */
    TV_FT_JOB_BEGIN, /* `text` names the job; jobs of a pseudo-thread run one at a time */
    TV_FT_JOB_END,
    TV_FT_GPU_BEGIN, /* values: id, ticks */
    TV_FT_GPU_END,   /* values: id, ticks of its start and end */
};

struct tv_ft_deferred {
    int64_t time;
    uint64_t offset : 40, cpu : 16, kind : 8;
    uint32_t task, line; /* line: a task, the pseudo-thread of the event; TV_NONE: none */
    uint32_t text;
    int64_t values[3];
};

/* A line of the function_graph tracer. */
struct tv_ft_graph {
    int64_t time, duration; /* TV_NO_TIME: not in the line */
    uint64_t offset : 40, cpu : 16, kind : 7;
    uint64_t returns : 1; /* an exit that shows the return value */
    uint32_t task;        /* TV_NONE: not in the line */
    uint32_t frame;       /* TV_NONE: an exit without a name.  A switch: the next task */
};

/* Functions on the stack at an event, the innermost first. */
struct tv_ft_stack {
    int64_t time;
    uint64_t offset : 40, cpu : 16;
    uint64_t goes_on : 1;  /* the stack of the last event of the previous chunk */
    uint32_t task, title;  /* title: a text */
    uint32_t first, count; /* range of `symbols` */
};

struct tv_ft_symbol {
    uint32_t frame;
};

struct tv_ft_event;

/* An event name that occurred in the chunk. */
struct tv_ft_event_name {
    const struct tv_ft_event *event; /* the handler; NULL: not looked up yet */
    uint32_t frame; /* frame of the instant that an event without a handler becomes */
    bool continues; /* the text may continue on the following lines */
};

/* Cache of recent names, indexed by a few of their bytes: most lines need no hash. */
#define TV_FT_RECENT 64

struct tv_ft_recent {
    struct tv_bytes name; /* owned by the interner */
    uint32_t number;
};

/* The event names of the chunk, and the handler of each. */
struct tv_ft_event_names {
    struct tv_interner *texts;
    struct tv_ft_event_name *rows; /* indexed by the number in `texts` */
    size_t capacity;
    struct tv_ft_recent recent[TV_FT_RECENT];
};

/* Cache of categories by the addresses of their names, which are constants. */
struct tv_ft_category_cache {
    const char *names[TV_FT_RECENT];
    uint32_t texts[TV_FT_RECENT];
};

/* The last event of the chunk.  Lines that follow it may continue its text or list its stack, also
 * at the beginning of the next chunk. */
struct tv_ft_last_event {
    uint32_t task;
    uint32_t title; /* text */
    bool continues; /* as in struct tv_ft_event_name */
};

/* A text that is not UTF-8, and the line where it stood first. */
struct tv_ft_bad_text {
    uint64_t offset;
    uint32_t text;
};

/* ---- The chunk ---- */

struct tv_ft_chunk {
    struct tv_gather *gather; /* slices; its threads are tasks */
    struct tv_interner *texts;
    uint32_t checked; /* number of texts that were checked for UTF-8 */
    /* Apart from `texts`: when an earlier chunk has another name, this one is dropped. */
    struct tv_interner *seen_names;
    TV_TABLE(tv_ft_bad_text) odd;
    TV_TABLE(tv_ft_frame) frames;
    struct tv_map frame_index;
    TV_TABLE(tv_ft_task) tasks;
    struct tv_map task_index;
    TV_TABLE(tv_ft_switch) switches;
    TV_TABLE(tv_ft_wakeup) wakeups;
    TV_TABLE(tv_ft_counter) counters;
    struct tv_interner *counter_keys; /* number - 1 is that of the counter */
    struct tv_ft_values values;       /* in the order of the chunk */
    TV_TABLE(tv_ft_key) keys;
    struct tv_interner *key_index; /* number - 1 is that of the key */
    TV_TABLE(tv_ft_async) asyncs;
    TV_TABLE(tv_ft_deferred) deferred;
    TV_TABLE(tv_ft_graph) graph;
    TV_TABLE(tv_ft_stack) stacks;
    TV_TABLE(tv_ft_symbol) symbols;
    TV_TABLE(tv_instant) instants; /* `of` is a task */
    TV_TABLE(tv_clock_sync) marks; /* `id` is a text */
    struct tv_diagnostics diagnostics;
    int64_t first, last;      /* times; first > last: none */
    struct tv_idle_gap times; /* how the events are spread over time */
    uint64_t events;
    uint32_t wall_clock; /* text: the first realtime_ts; empty: there is none */
    struct tv_ft_last_event last_event;
    struct tv_ft_event_names event_names;
    struct tv_map cpu_counters; /* (title, processor) -> counter */
    struct tv_map cpu_lines;    /* (name, processor) -> task of the pseudo-thread */
    struct tv_ft_category_cache categories;
};

/* The event that is being read. */
struct tv_ft_at {
    int64_t time;
    uint64_t offset;
    uint32_t cpu;
    uint32_t task;
};

void tv_ft_chunk_init(struct tv_ft_chunk *chunk);
void tv_ft_chunk_release(struct tv_ft_chunk *chunk);

/* Extend the range of the chunk's times to an event. */
static inline void tv_ft_chunk_note_time(struct tv_ft_chunk *chunk, int64_t time)
{
    chunk->first = time < chunk->first ? time : chunk->first;
    chunk->last = time > chunk->last ? time : chunk->last;
    tv_idle_gap_count(&chunk->times, time);
}

/* Return the chunk's number of a text. */
static inline uint32_t tv_ft_chunk_string(struct tv_ft_chunk *chunk, struct tv_bytes text)
{
    return tv_interner_add(chunk->texts, text);
}

/* Check the texts that were added since the last call, all of them by the line at `offset`. */
void tv_ft_chunk_check_utf8(struct tv_ft_chunk *chunk, uint64_t offset);

/* Add a task that is new. */
uint32_t tv_ft_chunk_add_task(struct tv_ft_chunk *chunk, int64_t tid);

/* Return the number of a task, frame or async key, which is added when it is new.  `category` and
 * `what` are constants.  Every tid has a task, also one that only another task's line mentions. */
static inline uint32_t tv_ft_chunk_task(struct tv_ft_chunk *chunk, int64_t tid)
{
    uint32_t known = tv_map_find(&chunk->task_index, (uint64_t)tid);
    return TV_LIKELY(known != TV_NONE) ? known : tv_ft_chunk_add_task(chunk, tid);
}
uint32_t tv_ft_chunk_frame(struct tv_ft_chunk *chunk, struct tv_bytes name, const char *category);
uint32_t tv_ft_chunk_frame_in(struct tv_ft_chunk *chunk, struct tv_bytes name,
                              struct tv_bytes category);
uint32_t tv_ft_chunk_async_key(struct tv_ft_chunk *chunk, const char *what, int64_t tgid,
                               struct tv_bytes first, struct tv_bytes second);

/* Return the task of a pseudo-thread with this name, to which " cpu N" is appended unless `cpu` is
 * TV_NONE. */
uint32_t tv_ft_chunk_pseudo_thread(struct tv_ft_chunk *chunk, struct tv_bytes name, uint32_t cpu);

/* Note the name that a line of the task itself, at `offset`, shows; the first one counts. */
void tv_ft_chunk_see_task_name(struct tv_ft_chunk *chunk, uint32_t task, struct tv_bytes name,
                               uint64_t offset);

/* Note the name that a switch or a wake-up shows; the last one counts.  Quick when it is the same
 * as before. */
void tv_ft_chunk_set_task_name(struct tv_ft_chunk *chunk, uint32_t task, struct tv_bytes name);

/* Return false for "<...>", with which the kernel says that it does not know the name. */
static inline bool tv_ft_is_task_name(struct tv_bytes name)
{
    return name.length > 0 && name.data[0] != '<';
}

/* Begin or end a slice that a program marks, on the task of the event.  An end has no name; `tells`
 * is true when the end has arguments to show. */
void tv_ft_chunk_begin_slice(struct tv_ft_chunk *chunk, const struct tv_ft_at *at, uint32_t frame);
void tv_ft_chunk_end_slice(struct tv_ft_chunk *chunk, const struct tv_ft_at *at, bool tells);

/* Begin or end a slice of the kernel on a task.  An end with the frame TV_NONE ends the innermost
 * slice. */
void tv_ft_chunk_begin_kernel(struct tv_ft_chunk *chunk, const struct tv_ft_at *at, uint32_t task,
                              uint32_t frame);
void tv_ft_chunk_end_kernel(struct tv_ft_chunk *chunk, const struct tv_ft_at *at, uint32_t task,
                            uint32_t frame);

/* End the innermost slice of a task, if one is open, and begin another one. */
void tv_ft_chunk_switch_kernel(struct tv_ft_chunk *chunk, const struct tv_ft_at *at, uint32_t task,
                               uint32_t frame);

/* Add a whole slice of the kernel; `length` in nanoseconds. */
void tv_ft_chunk_add_kernel_slice(struct tv_ft_chunk *chunk, const struct tv_ft_at *at,
                                  uint32_t task, uint32_t frame, int64_t length);

/* Add an instant on the task of the event. */
void tv_ft_chunk_add_instant(struct tv_ft_chunk *chunk, const struct tv_ft_at *at, uint32_t frame);

/* Add the begin or the end of an async slice.  The caller fills kind, key, id, frame and track. */
void tv_ft_chunk_add_async(struct tv_ft_chunk *chunk, const struct tv_ft_at *at,
                           const struct tv_ft_async *async);

/* Add a value of a series of a counter. */
void tv_ft_chunk_count(struct tv_ft_chunk *chunk, const struct tv_ft_at *at,
                       const struct tv_ft_counter *counter, double value);

/* As above in two steps, for callers that keep the number: return the number of a counter, and add
 * a value by it. */
uint32_t tv_ft_chunk_counter(struct tv_ft_chunk *chunk, const struct tv_ft_counter *counter);
void tv_ft_chunk_add_value(struct tv_ft_chunk *chunk, const struct tv_ft_at *at, uint32_t counter,
                           double value);

/* Free the first block of values. */
void tv_ft_values_drop_block(struct tv_ft_values *values);

/* ---- Events and their handlers (ftrace.md section 3) ---- */

enum tv_ft_taken {
    TV_FT_MALFORMED, /* unreadable fields: counted as TV_DIAGNOSTIC_BAD_FIELDS, and an instant */
    TV_FT_TAKEN,
    TV_FT_INSTANT, /* this event is only an instant */
};

typedef enum tv_ft_taken tv_ft_handler(struct tv_ft_chunk *chunk, const struct tv_ft_line *line,
                                       const struct tv_ft_at *at, const struct tv_ft_event *event);

/* An event with a handler; every other event becomes an instant on the thread that emitted it. Each
 * family of events has a table that ends with a NULL name. */
struct tv_ft_event {
    const char *name;
    tv_ft_handler *handle;
    /* Parameters of handlers that serve several events: */
    const char *title, *category, *key, *value, *series;
};

extern const struct tv_ft_event tv_ft_sched_events[];   /* switch.c: who runs, who is woken */
extern const struct tv_ft_event tv_ft_mark_events[];    /* marks.c: marks of programs */
extern const struct tv_ft_event tv_ft_kernel_events[];  /* kernel.c: slices of the kernel */
extern const struct tv_ft_event tv_ft_disk_events[];    /* kernel.c: block, ext4, f2fs */
extern const struct tv_ft_event tv_ft_power_events[];   /* power.c: suspend, wake locks */
extern const struct tv_ft_event tv_ft_counter_events[]; /* counters.c: frequencies, voltages */
extern const struct tv_ft_event tv_ft_binder_events[];  /* binder.c: transactions */
extern const struct tv_ft_event tv_ft_gpu_events[];     /* gpu.c: fences, flips, jobs */
extern const struct tv_ft_event tv_ft_mali_events[];    /* gpu.c: counters of Mali */
extern const struct tv_ft_event tv_ft_mali_slot, tv_ft_mali_other; /* match prefixes of names */

/* Add an event to the chunk. */
void tv_ft_chunk_take_event(struct tv_ft_chunk *chunk, const struct tv_ft_line *line,
                            uint64_t offset);

/* Add a line of the function_graph tracer to the chunk (graph.c). */
void tv_ft_graph_add(struct tv_ft_chunk *chunk, const struct tv_ft_graph_line *line,
                     uint64_t offset);

/* ---- Reading a chunk (chunk_reader.c) ---- */

/* "# key: value" of the preamble. */
struct tv_ft_comment {
    uint32_t key, value; /* texts */
};

/* "CPU:1 [LOST 12 EVENTS]" */
struct tv_ft_loss {
    uint64_t offset;
    uint32_t frame, cpu;
};

/* Events of processors with higher numbers are not in the sketch. */
#define TV_FT_SKETCHED TV_SKETCH_TRACKS

/* Names of more buffers are dropped. */
#define TV_FT_BUFFERS 64u

struct tv_ft_chunk_reader {
    struct tv_source *source;
    uint64_t start, end;    /* of the chunk; both at beginnings of lines */
    enum tv_ft_clock clock; /* lines with another clock are errors; TV_FT_CLOCKS: accept any */
    struct tv_progress *progress;
    uint64_t reported_events;          /* number of events that `progress` has */
    uint32_t sketched[TV_FT_SKETCHED]; /* by processor: 1 + its sketch track; 0: not known yet */
    struct tv_ft_chunk chunk;
    struct tv_ft_task_cache tasks;
    TV_TABLE(tv_ft_comment) comments;
    /* Stray lines before the first event.  They may belong to the last event of the previous chunk,
     * so the merge decides whether they are errors. */
    struct tv_diagnostics strays;
    uint32_t buffers[TV_FT_BUFFERS]; /* texts: the buffers that trace-cmd names */
    uint32_t buffer_count;
    TV_TABLE(tv_ft_loss) losses; /* before the event that comes next */
    bool any;                    /* there was an event */
    bool continues;              /* stray lines belong to the last event */
    struct tv_ft_stack last;     /* of the last event, to which lines "=> function" belong */
    bool has_last;
    bool in_stack; /* the last row of `stacks` is that of the last event */
    enum tv_status status;
    struct tv_error error;
};

void tv_ft_chunk_reader_init(struct tv_ft_chunk_reader *reader, struct tv_source *source,
                             uint64_t start, uint64_t end);
void tv_ft_chunk_reader_release(struct tv_ft_chunk_reader *reader);

/* Mark some of a block's events in a sketch: the reader's `sketch_block`. */
void tv_ft_block_sketch(struct tv_bytes block, struct tv_sketch *sketch, void **notes);

/* Read all lines of the chunk.  The outcome is in `status` and `error`. */
void tv_ft_chunk_reader_run(struct tv_ft_chunk_reader *reader);

#endif
