/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part.h - what one stretch of ftrace text says, with numbers of its own.
 *
 * text.c walks over the lines, events.c knows what each event means, and what needs no other
 * event is told to the part here.  What needs the order of the whole file (who ran, flows between
 * threads) is kept in short rows and put together in ftrace.c.
 */
#ifndef TV_READERS_FTRACE_PART_H
#define TV_READERS_FTRACE_PART_H

#include "base/map.h"
#include "model/assembly/assembly.h"
#include "model/diagnostic.h"
#include "model/tables.h"
#include "readers/ftrace/line.h"

/* A thread by its id, or a line of the kernel's own ("irqs cpu 3"). */
struct tv_ft_task {
    int64_t tid;         /* TV_FT_NO_ID: a line of the kernel's own */
    int64_t tgid;        /* as lines say it, the last one; TV_FT_NO_ID: none does */
    int64_t marked_tgid; /* as marks say it, the first one */
    uint32_t name;       /* text: as switches and wake-ups say it, the last one; empty: none does */
    uint32_t seen_name;  /* in seen_names: as its own lines say it, the first one */
    uint64_t seen_at;    /* the offset of that line */
    bool seen_odd;       /* that name is no UTF-8 */
    bool used;           /* something but switches and wake-ups stands on it */
    uint32_t frame;      /* of its slices on processors; TV_NONE: none yet */
};

struct tv_ft_frame {
    uint32_t name, category; /* texts */
};

/* Why a thread did not run (ftrace.md section 5), and that it did. */
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
    TV_FT_STATES
};

/* A processor turned from one task to another. */
struct tv_ft_switch {
    int64_t time;
    uint64_t offset : 40, cpu : 16, state : 8; /* enum tv_ft_state of the one that left */
    uint32_t from, to;                         /* tasks */
    uint32_t frame;                            /* the name of the one that came */
};

/* The time of an instant that is the last of the file, whenever that may be. */
#define TV_FT_AT_END INT64_MAX

enum tv_ft_wake { TV_FT_WAKE_ASKED, TV_FT_WAKE_DONE, TV_FT_WAKE_BLOCKED };

/* A task was woken, or it is told why it was blocked. */
struct tv_ft_wakeup {
    int64_t time;
    uint64_t offset : 40, cpu : 16, kind : 7, io : 1;
    uint32_t task;
    uint32_t by; /* task; of TV_FT_WAKE_BLOCKED the text of the caller */
};

struct tv_ft_counter {
    int64_t tgid; /* TV_FT_NO_ID: the kernel's */
    uint32_t name, category, series;
};

struct tv_ft_value {
    int64_t time;
    uint64_t offset;
    double value;
    uint32_t counter;
};

/* What beginnings and ends of async slices find each other by. */
struct tv_ft_key {
    int64_t tgid;                 /* TV_FT_NO_ID: the kernel's */
    uint32_t what, first, second; /* texts */
};

enum tv_ft_async_kind { TV_FT_ASYNC_BEGIN, TV_FT_ASYNC_END, TV_FT_ASYNC_POINT };

struct tv_ft_async {
    int64_t time;
    uint64_t offset : 40, kind : 8;
    uint64_t single : 1; /* a beginning that does not count while another of the key is open */
    uint32_t key;
    uint32_t id; /* text, as shown */
    uint32_t frame;
    uint32_t task;
    uint32_t track; /* text: of the track that it is told to be on; empty: none */
};

/* Events whose meaning hangs on others: later.c tells them in the order of time. */
enum tv_ft_later_kind {
    TV_FT_BINDER_SENT, /* values: transaction, flags, whether it is a reply */
    TV_FT_BINDER_RECEIVED,
    TV_FT_BINDER_FAILED,
    TV_FT_TIMELINE,  /* `text` is what the line shows from now on; empty: nothing */
    TV_FT_BUSY,      /* the same, and what it shows goes on when it is told again */
    TV_FT_FENCE,     /* the line was last busy now; `text` names what it did since the last time */
    TV_FT_JOB_BEGIN, /* `text` names it, the line shows one at a time */
    TV_FT_JOB_END,
    TV_FT_GPU_BEGIN, /* values: id, ticks */
    TV_FT_GPU_END,   /* values: id, ticks of its start and end */
};

struct tv_ft_later {
    int64_t time;
    uint64_t offset : 40, cpu : 16, kind : 8;
    uint32_t task, line; /* line: a task, as of tv_ft_kernel_line; TV_NONE: none */
    uint32_t text;
    int64_t values[3];
};

enum tv_ft_graph_kind {
    TV_FT_GRAPH_ENTRY,
    TV_FT_GRAPH_EXIT,
    TV_FT_GRAPH_LEAF,
    TV_FT_GRAPH_SWITCH, /* `frame` is the task that came */
    TV_FT_GRAPH_INTERRUPT,
    TV_FT_GRAPH_INTERRUPT_END,
    TV_FT_GRAPH_EVENT,
};

/* A line of the function_graph tracer. */
struct tv_ft_graph {
    int64_t time, duration; /* TV_NO_TIME: it does not say */
    uint64_t offset : 40, cpu : 16, kind : 7;
    uint64_t returns : 1; /* an end that tells what the function returned */
    uint32_t task;        /* TV_NONE: it does not say */
    uint32_t frame;       /* TV_NONE: an end that does not say of what */
};

/* Functions on the stack at an event, the innermost first. */
struct tv_ft_stack {
    int64_t time;
    uint64_t offset : 40, cpu : 16, goes_on : 1; /* goes_on: of the last event of the part before */
    uint32_t task, title;                        /* title: a text */
    uint32_t first, count;                       /* in symbols */
};

struct tv_ft_symbol {
    uint32_t frame;
};

struct tv_ft_event;

/* An event name that was met. */
struct tv_ft_known {
    const struct tv_ft_event *event; /* what it means; NULL: that is not looked up yet */
    uint32_t frame;                  /* of the instant that an event without a meaning becomes */
    bool continues;                  /* what was printed may go on on the lines that follow */
};

/* Names that were met lately, by a few of their bytes: most lines need no hash. */
#define TV_FT_RECENT 64

struct tv_ft_recent {
    struct tv_bytes name; /* of the interner */
    uint32_t number;
};

/* A text that is not UTF-8, and the line where it stood first. */
struct tv_ft_odd {
    uint64_t offset;
    uint32_t text;
};

struct tv_ft_part {
    struct tv_gather *gather; /* its threads are tasks */
    struct tv_interner *texts;
    uint32_t checked; /* so many of the texts were looked at */
    /* Apart from the texts: those of a later part may not count, for an earlier one has another. */
    struct tv_interner *seen_names;
    TV_TABLE(tv_ft_odd) odd;
    TV_TABLE(tv_ft_frame) frames;
    struct tv_map frame_index;
    TV_TABLE(tv_ft_task) tasks;
    struct tv_map task_index;
    TV_TABLE(tv_ft_switch) switches;
    TV_TABLE(tv_ft_wakeup) wakeups;
    TV_TABLE(tv_ft_counter) counters;
    struct tv_interner *counter_keys; /* number - 1 is that of the counter */
    TV_TABLE(tv_ft_value) values;
    TV_TABLE(tv_ft_key) keys;
    struct tv_interner *key_index; /* number - 1 is that of the key */
    TV_TABLE(tv_ft_async) asyncs;
    TV_TABLE(tv_ft_later) laters;
    TV_TABLE(tv_ft_graph) graph;
    TV_TABLE(tv_ft_stack) stacks;
    TV_TABLE(tv_ft_symbol) symbols;
    TV_TABLE(tv_instant) instants; /* `of` is a task */
    TV_TABLE(tv_clock_sync) marks; /* `id` is a text */
    struct tv_diagnostics diagnostics;
    int64_t first, last; /* times; first > last: none */
    uint64_t events;
    uint32_t wall_clock;            /* text: the first realtime_ts; empty: there is none */
    uint32_t last_task, last_title; /* of the last event: task and text */
    bool last_continues;            /* as in struct tv_ft_known */
    struct tv_interner *event_names;
    struct tv_ft_known *known; /* by number of the name */
    size_t known_capacity;
    struct tv_ft_recent recent[TV_FT_RECENT];
    struct tv_map cpu_counters; /* (title, processor) -> counter */
    struct tv_map cpu_lines;    /* (name, processor) -> task of the kernel's line */
    /* Categories by the places of their texts, which are constants. */
    const char *categories[TV_FT_RECENT];
    uint32_t category_texts[TV_FT_RECENT];
};

/* The event at hand. */
struct tv_ft_at {
    int64_t time;
    uint64_t offset;
    uint32_t cpu;
    uint32_t task;
};

void tv_ft_part_init(struct tv_ft_part *part);
void tv_ft_part_release(struct tv_ft_part *part);

static inline uint32_t tv_ft_text(struct tv_ft_part *part, struct tv_bytes text)
{
    return tv_interner_add(part->texts, text);
}

/* Looks at the texts that are new since it was called last: those of the line at `offset`. */
void tv_ft_check_texts(struct tv_ft_part *part, uint64_t offset);

/* Each the number of the one that is like this; added when there is none.  The category is a
 * constant. */
uint32_t tv_ft_task(struct tv_ft_part *part, int64_t tid);
uint32_t tv_ft_frame(struct tv_ft_part *part, struct tv_bytes name, const char *category);
uint32_t tv_ft_frame_in(struct tv_ft_part *part, struct tv_bytes name, struct tv_bytes category);

/* The same of a key. */
uint32_t tv_ft_key(struct tv_ft_part *part, const char *what, int64_t tgid, struct tv_bytes first,
                   struct tv_bytes second);

/* A title in which a text takes the place of the '*'; its length, cut to `size` with a NUL. */
size_t tv_ft_title(char *to, size_t size, const char *title, struct tv_bytes text);

/* The kernel's own line of this name; with " cpu N" behind it unless `cpu` is TV_NONE. */
uint32_t tv_ft_kernel_line(struct tv_ft_part *part, struct tv_bytes name, uint32_t cpu);

/* What a line of the task's own, at `offset`, says of its name; the first one counts. */
void tv_ft_see_task(struct tv_ft_part *part, uint32_t task, struct tv_bytes name, uint64_t offset);

/* What a switch or a wake-up says of a task's name; quick when it says the same as before. */
void tv_ft_name_task(struct tv_ft_part *part, uint32_t task, struct tv_bytes name);

/* Whether it says something: not "<...>". */
static inline bool tv_ft_is_name(struct tv_bytes name)
{
    return name.length > 0 && name.data[0] != '<';
}

/* Slices that programs mark on the task of the event. An end does not say of what; whether it has
 * more to tell than its time. */
void tv_ft_begin(struct tv_ft_part *part, const struct tv_ft_at *at, uint32_t frame);
void tv_ft_end(struct tv_ft_part *part, const struct tv_ft_at *at, bool tells);

/* Slices of the kernel, on the line of a task. A frame of TV_NONE ends the innermost. */
void tv_ft_kernel_begin(struct tv_ft_part *part, const struct tv_ft_at *at, uint32_t task,
                        uint32_t frame);
void tv_ft_kernel_end(struct tv_ft_part *part, const struct tv_ft_at *at, uint32_t task,
                      uint32_t frame);

/* The line of a task shows this from now on, instead of what it may have shown. */
void tv_ft_kernel_turn(struct tv_ft_part *part, const struct tv_ft_at *at, uint32_t task,
                       uint32_t frame);
void tv_ft_slice(struct tv_ft_part *part, const struct tv_ft_at *at, uint32_t task, uint32_t frame,
                 int64_t length);

/* A moment on the task of the event. */
void tv_ft_instant(struct tv_ft_part *part, const struct tv_ft_at *at, uint32_t frame);

/* One end of an async slice: kind, key, id and frame are given. */
void tv_ft_add_async(struct tv_ft_part *part, const struct tv_ft_at *at,
                     const struct tv_ft_async *async);

/* A value of a series of a counter of a process (tgid) or of the kernel's (TV_FT_NO_ID). */
void tv_ft_count(struct tv_ft_part *part, const struct tv_ft_at *at,
                 const struct tv_ft_counter *counter, double value);

/* The number of such a counter, and a value of one by its number. */
uint32_t tv_ft_find_counter(struct tv_ft_part *part, const struct tv_ft_counter *counter);
void tv_ft_add_value(struct tv_ft_part *part, const struct tv_ft_at *at, uint32_t counter,
                     double value);

#endif
