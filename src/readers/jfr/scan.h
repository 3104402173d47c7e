/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.h - a first pass over the events of a chunk, which needs nothing of other chunks.
 *
 * Most events are samples whose stack and thread the chunk has had before.  When only the sums of
 * samples are wanted, the scan adds them to a sum for each stack, and notes all other events as
 * ranges.  It touches the chunk alone, so another thread can scan a chunk while the one before it
 * is taken into the trace (events.c):
 *
 *     events   T T s s s G s S s ...       T: first of its thread or type, G: anything else
 *     ranges   [T T)     [G)
 *     sums     of the stacks: s, s, s, s, S, s
 *     leaves   S                           S: first of its stack
 *
 * The first sample of each stack, thread and event type is noted, so the trace gets its threads,
 * frames, paths and value types in the order of the file, as if there were no scan.
 */
#ifndef TV_READERS_JFR_SCAN_H
#define TV_READERS_JFR_SCAN_H

#include "base/progress.h"
#include "base/types.h"
#include "readers/jfr/chunk.h"
#include "readers/jfr/stacks.h"

/* ---- event_kinds.c ----
 *
 * Kinds of events: what those of each type become.
 *
 * The table knows the events that need more than the rule: an event with a duration is a slice (and
 * with a stack a sample of its duration), any other an instant.
 */

enum tv_jfr_role {
    TV_JFR_BY_RULE,
    TV_JFR_SAMPLE,  /* a sample of its stack */
    TV_JFR_BLOCKED, /* a slice, and always a sample of its duration, even of 0 */
    TV_JFR_COUNTER, /* numbers that change over time */
    TV_JFR_SETTING, /* a name and a value: one row of metadata */
    TV_JFR_FACTS,   /* metadata: each field by its name */
    TV_JFR_LOSS,    /* an instant, and a diagnostic: the recorder lost events */
};

#define TV_JFR_SERIES_MAX 6

struct tv_jfr_event_kind {
    const char *name; /* name of the event; ends with '*': the beginning of the name */
    enum tv_jfr_role role;
    const char *weight; /* sample: field with its weight; NULL: each counts 1 */
    const char *unit;   /* unit of the weight; NULL: "count" */
    const char *more;   /* sample: field of a second value type, "<event>.<field>"; or NULL */
    const char *more_unit;
    const char *track; /* own track of its slices, for events without a thread; or NULL */
    const char *title; /* field that names a slice or, in a setting, the key; or NULL */
    const char *key;   /* counter: field that tells counters of the event apart; or NULL */
    const char *series[TV_JFR_SERIES_MAX]; /* counter: fields; a.b is a field of a struct */
};

/* Return what is known about events of a type; never NULL. */
const struct tv_jfr_event_kind *tv_jfr_event_kind(struct tv_bytes name);

/* Fields of an event that decide about it. */
enum tv_jfr_event_slot {
    TV_JFR_SLOT_START,
    TV_JFR_SLOT_DURATION,
    TV_JFR_SLOT_THREAD,
    TV_JFR_SLOT_STACK,
    TV_JFR_SLOT_WEIGHT,
    TV_JFR_SLOT_MORE,
    TV_JFR_SLOT_TITLE,
    TV_JFR_SLOT_COUNT,
};

/* The samples of one stack, where single samples are not kept. */
struct tv_jfr_stack_sum {
    int64_t weight; /* saturates */
    uint64_t samples;
};

/* The program that reads the events of a type, and their sums. */
struct tv_jfr_plan {
    const struct tv_jfr_event_kind *kind; /* NULL: not planned yet */
    struct tv_jfr_program program;
    const struct tv_jfr_field *fields[TV_JFR_SLOT_COUNT]; /* NULL: the type has no such field */
    uint32_t type;
    bool summed;                   /* the samples are added up by stack, if there is room */
    uint64_t count;                /* events */
    struct tv_jfr_stack_sum *sums; /* by the stack's place in the array of their pool; NULL: none */
    uint64_t *met;                 /* a bit for each of `sums`: the scan met the stack */
    bool begun;                    /* the scan noted a sample of this type */
    bool plain;                    /* the weight is an integer as it stands */
    /* Numbers in the trace, set when the first event is taken (events.c): */
    bool named;
    uint32_t name, category;        /* strings */
    uint32_t value_type, more_type; /* TV_NONE: not used yet */
    uint32_t frame;                 /* the same */
};

/* Events from one place to before another one. */
struct tv_jfr_range {
    uint64_t begin, end;
};

/* A stack of which the scan noted the first sample. */
struct tv_jfr_leaf {
    uint64_t met;   /* place of the event */
    uint32_t place; /* in the array of the stacks' pool */
    uint32_t path;  /* in the trace, set when it is taken (events.c) */
};

struct tv_jfr_scan {
    struct tv_jfr_plan *plans;       /* one for each type of the chunk */
    TV_TABLE(tv_jfr_range) left;     /* to be taken one by one, in this order */
    uint64_t *whole;                 /* a bit for each stack that has a sum, by its place */
    uint64_t *noted;                 /* the same: it is in `leaves` */
    TV_TABLE(tv_jfr_leaf) leaves;    /* stacks, in the order of their first samples */
    struct tv_jfr_stack_nodes nodes; /* of the leaves */
    uint64_t end;                    /* after the last event */
    int64_t first_time, last_time;   /* of the events that are not left; first > last: none */
    uint64_t sum_room;               /* bytes that sums may still take */
};

/* Scan the events of an open chunk for what is wanted of samples.  Stop early when the user
 * cancels. */
void tv_jfr_scan_chunk(struct tv_jfr_scan *scan, struct tv_jfr_chunk *chunk,
                       enum tv_sample_detail detail, const struct tv_progress *progress);
void tv_jfr_scan_release(struct tv_jfr_scan *scan, const struct tv_jfr_chunk *chunk);

/* Return the plan of a type, making it if needed. */
struct tv_jfr_plan *tv_jfr_scan_plan(struct tv_jfr_scan *scan, const struct tv_jfr_chunk *chunk,
                                     uint32_t type);

/* Return the sum of a stack by its key; NULL when a sum cannot stand for the samples of the type.
 */
struct tv_jfr_stack_sum *tv_jfr_scan_sum(struct tv_jfr_scan *scan, const struct tv_jfr_chunk *chunk,
                                         struct tv_jfr_plan *plan, uint64_t key);

static inline void tv_jfr_sum_add(struct tv_jfr_stack_sum *sum, int64_t weight)
{
    sum->samples++;
    tv_time_add(&sum->weight, weight);
}

/* Return a number in the unit of the trace: times in nanoseconds, all others as they are. */
int64_t tv_jfr_amount(const struct tv_jfr_chunk *chunk, const struct tv_jfr_value *value);

#endif
