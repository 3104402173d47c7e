/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.h - what is left when the events of a Trace Event file have been read: those that mean
 * something only together with others.
 *
 * Reading (part.c) deals with slices, instants, counters and names of threads.  Of all other
 * events it notes where they are; the files that join them (async.c, flows.c, ...) read their
 * text once more through the context's window.
 */
#ifndef TV_READERS_TRACE_EVENT_EVENTS_H
#define TV_READERS_TRACE_EVENT_EVENTS_H

#include "base/source.h"
#include "model/assembly.h"
#include "model/silence.h"
#include "model/trace.h"
#include "readers/reader.h"
#include "readers/trace_event/fields.h"
#include "readers/trace_event/flow_events.h"
#include "readers/trace_event/threads.h"
#include "readers/trace_event/uses.h"

/* What joins events is mostly one short id; then the row of the event has all that async.c and
 * legacy.c want to know, and nobody reads the text a second time. */
enum tv_te_kept {
    TV_TE_KEPT = 1, /* the row has it; else the text must be read */
    TV_TE_KEPT_NAME = 2,
    TV_TE_KEPT_CATEGORY = 4,
    TV_TE_KEPT_TELLS = 8, /* as tv_te_has_details */
};

/* Longer ids are read again: raw ones, with their quotes. */
#define TV_TE_KEPT_ID 16

/* One event of the phases b n e S T p F P N O D v V c ( ) = and of X, B, b, n with a bind_id (these
 * with the letter they have), in the order of the file.  Those of flows are in flow_events.h. */
struct tv_te_deferred {
    int64_t time;     /* ns on the file's clock */
    uint64_t offset;  /* of its '{' in the input */
    uint32_t thread;  /* of the head; TV_NONE for N O D v V c, which are of a process */
    uint32_t process; /* of the head */
    uint32_t frame;   /* of the head: name and category */
    char phase;
    uint8_t kept;      /* enum tv_te_kept */
    uint8_t id_length; /* of the raw id */
    uint8_t id_kind;   /* enum tv_te_id_kind */
    uint8_t id[TV_TE_KEPT_ID];
};

/* A stretch of the input's text; length 0: it is not there. */
struct tv_te_extent {
    uint64_t offset, length;
};

/* On their way: flows.c, states.c. */
struct tv_te_flow_plan;
struct tv_te_states;

struct tv_te_context {
    struct tv_source *source;
    struct tv_trace *trace; /* trace->head is the head; trace->tables is to be filled */
    struct tv_assembly *assembly;
    uint32_t input;
    const struct tv_read_options *options;
    struct tv_window window;      /* for tv_te_event_read */
    struct tv_te_scratch scratch; /* for one text at a time */
    struct tv_te_threads threads; /* by their ids, and more can be added before placing */
    const struct tv_te_deferred *deferred;
    size_t deferred_count;
    size_t deferred_of[UINT8_MAX + 1]; /* how many have a phase */
    tv_ns first, last;              /* the earliest and the latest time of anything read so far */
    bool nothing;                   /* no event had a time: first and last mean nothing */
    tv_ns *ends; /* by process of the head: what tv_te_file_ends_read finds, or TV_NO_TIME */
    size_t end_count;
    struct tv_silence times; /* of the events */
    /* By process of the head: its last time before the trace falls silent, or TV_NO_TIME; NULL: it
     * does not. */
    int64_t *quiets;
    struct tv_te_extent stack_frames; /* value of "stackFrames": an object */
    struct tv_te_extent samples;      /* value of "samples": an array */
    /* Metadata events "stackFrames" and "typeNames" of processes, and of V8's code: phase 'M'. */
    const struct tv_te_deferred *frame_tables;
    size_t frame_table_count;
    struct tv_te_stack_uses uses; /* of stack frames, by events that are no samples */
    struct tv_map joined;   /* string of an id's key -> group; finish.c makes and releases it */
    TV_TABLE(tv_async_slice) async; /* async.c and legacy.c put theirs here, parents first */
    struct tv_async_plan *async_plan;
    struct tv_te_flow_list flow_events;
    struct tv_te_states *states;   /* what tv_te_states_read leaves; NULL: there are none */
    struct tv_te_flow_plan *flows; /* what tv_te_flows_read leaves for tv_te_flows_pair */
};

/* The fields of the event at an offset; they are valid until the next call. False: it cannot be
 * read (the file changed, or it is no event). */
bool tv_te_event_read(struct tv_te_context *context, uint64_t offset, struct tv_te_fields *fields);

/* What joins events, kept or read. */
struct tv_te_link {
    enum tv_te_id_kind kind;
    struct tv_bytes id;    /* raw; data NULL: none */
    struct tv_bytes scope; /* raw */
    int64_t cpu;           /* "tts" that counts in async slices, or TV_NO_TIME */
    uint8_t colour;
    bool has_name, has_category, tells;
};

/* Makes the row keep what it can of the event's text. */
void tv_te_link_keep(struct tv_te_deferred *event, const struct tv_te_fields *fields);

/* The same of the event's text. */
struct tv_te_link tv_te_link_of(const struct tv_te_deferred *event, const struct tv_te_fields *fields);

/* What the event says; texts are valid until the next event is read, and as long as the row. */
bool tv_te_link_read(struct tv_te_context *context, const struct tv_te_deferred *event,
                     struct tv_te_link *link);

/* The text of a stretch, valid until the next call (the window grows to it); empty when it cannot
 * be read. */
struct tv_bytes tv_te_extent_read(struct tv_te_context *context, struct tv_te_extent stretch);

/* Counts a diagnostic of the input. */
void tv_te_warn(struct tv_te_context *context, enum tv_diagnostic_kind kind, uint64_t offset);

/* How long the state of a thread is taken to be, so that its end is a time as well. */
static inline int64_t tv_te_state_length(int64_t time, int64_t length)
{
    if (length < 0)
        return 0;
    return time > 0 && length > TV_TE_LATEST - time ? TV_TE_LATEST - time : length;
}

/* Widens [first, last] to a time. */
void tv_te_times_widen(struct tv_te_context *context, tv_ns time);

/* ends.c: reads "convertedFrom", when the processes are known. */
void tv_te_file_ends_read(struct tv_te_context *context, struct tv_bytes files);

/* Where what a process began at `start` ends when nobody ends it: with its file. */
tv_ns tv_te_process_end(const struct tv_te_context *context, uint32_t process, tv_ns start);

/* The same of what one of its threads began. */
tv_ns tv_te_thread_end(const struct tv_te_context *context, uint32_t thread, tv_ns start);

/* Finds `quiets`, when all parts are taken and nothing is placed. */
void tv_te_silence_find(struct tv_te_context *context);

/* The same of each thread of the head, to be freed; NULL: all end with the file at hand. */
int64_t *tv_te_thread_ends(const struct tv_te_context *context);

/* finish.c: everything that joins events, in its order.  Before the slices are placed threads
 * and frames may still be added; beside it nothing but the head and objects may be touched; behind
 * it the slices can be found. */
void tv_te_join_before_placing(struct tv_te_context *context);
void tv_te_join_beside_placing(void *context);
void tv_te_join_after_placing(struct tv_te_context *context);

/* Called by these, each in its own file of the same name:
 *     before   tv_te_id_groups_read, tv_te_clock_read, tv_te_samples_read, tv_te_memory_read, tv_te_states_read
 *     beside   tv_te_async_pair; tv_te_async_pair_legacy, tv_te_objects_read; tv_te_flows_read
 *     after    tv_te_states_place; tv_assembly_async once; tv_te_thread_contexts_read;
 * tv_te_flows_pair last */
void tv_te_id_groups_read(struct tv_te_context *context);
void tv_te_clock_read(struct tv_te_context *context);
void tv_te_samples_read(struct tv_te_context *context);
void tv_te_memory_read(struct tv_te_context *context);
void tv_te_states_read(struct tv_te_context *context);
void tv_te_states_place(struct tv_te_context *context);
void tv_te_async_pair(struct tv_te_context *context);
void tv_te_async_pair_legacy(struct tv_te_context *context);
void tv_te_objects_read(struct tv_te_context *context);
void tv_te_thread_contexts_read(struct tv_te_context *context);
void tv_te_flows_read(struct tv_te_context *context);
void tv_te_flows_pair(struct tv_te_context *context);

/* Of plans that were not carried out. NULL is fine. */
void tv_te_flows_free(struct tv_te_flow_plan *plan);
void tv_te_states_free(struct tv_te_states *plan);

#endif
