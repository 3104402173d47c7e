/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join.h - joining events with each other, once all of them are known.
 *
 * The chunks deal with slices, instants and counters.  All other events are deferred: a row says
 * where they are and, mostly, the id that joins them.  When the chunks are merged, each file of
 * this folder takes the phases of its concept, reads more of their text where a row does not
 * suffice, and fills tables of the model:
 *
 *     before placing   ids.c "="   join.c c   samples.c v8.c P   memory_dumps.c v V
 *                      thread_states.c T with a length
 *     beside placing   async.c b n e, S T p F   objects.c N O D   flows.c s t f, bind_id
 *     after placing    thread_states.c ( )   flow_binding.c
 *
 * Placing is the assembly's (model/assembly/assembly.h): it sorts the spans of each thread, pairs B
 * with E and nests them.  It runs on other threads.  Before it, frames and threads may still be
 * added to the trace.  Beside it nothing but the head and the tables may change.  After it slices
 * can be found.
 */
#ifndef TV_READERS_TRACE_EVENT_JOIN_JOIN_H
#define TV_READERS_TRACE_EVENT_JOIN_JOIN_H

#include "base/source.h"
#include "model/assembly/assembly.h"
#include "model/assembly/idle_gap.h"
#include "model/trace.h"
#include "readers/reader.h"
#include "readers/trace_event/join/flows.h"
#include "readers/trace_event/tables.h"
#include "readers/trace_event/text/fields.h"

struct tv_te_container;
struct tv_te_top_member;

/* ---- Deferred events ---- */

/* Mostly one short id joins events.  Then the row of the event has everything that async.c
 * wants to know, and the text is not read a second time. */
enum tv_te_kept {
    TV_TE_KEPT = 1, /* the row suffices; else the text must be read */
    TV_TE_KEPT_NAME = 2,
    TV_TE_KEPT_CATEGORY = 4,
    TV_TE_KEPT_DETAILS = 8, /* as tv_te_has_details */
};

/* The longest raw id that a row keeps, with its quotes. */
#define TV_TE_KEPT_ID 16

/* An event of the phases b n e S T p F P N O D v V c ( ) =, or of X B b n with a bind_id, under its
 * own letter.  Rows are in the order of the file.  Phases s t f are in flows.h. */
struct tv_te_deferred {
    int64_t time;     /* ns on the file's clock */
    uint64_t offset;  /* offset of its '{' in the input */
    uint32_t thread;  /* thread of the head; TV_NONE for N O D v V c, which belong to a process */
    uint32_t process; /* process of the head */
    uint32_t frame;   /* frame of the head: name and category */
    char phase;
    uint8_t kept;      /* enum tv_te_kept */
    uint8_t id_length; /* of the raw id */
    uint8_t id_kind;   /* enum tv_te_id_kind */
    uint8_t id[TV_TE_KEPT_ID];
};

/* A range of the input's text; length 0: there is none. */
struct tv_te_extent {
    uint64_t offset, length;
};

/* ---- The context ---- */

/* The events that were deferred. */
struct tv_te_deferred_events {
    const struct tv_te_deferred *rows;
    size_t count;
    size_t count_of[UINT8_MAX + 1]; /* by phase */
};

/* When the trace begins and ends, and what is open at its end. */
struct tv_te_times {
    tv_ns first, last;         /* of everything that was read so far, on the file's clock */
    bool none;                 /* no event has a time: first and last mean nothing */
    struct tv_idle_gap events; /* how the events are spread over time */
    tv_ns *file_ends;          /* by process of the head: from "convertedFrom", or TV_NO_TIME */
    size_t file_end_count;
    /* Ends of open things, by thread, as in tv_row_options; NULL: the trace does not fall
     * silent. Threads that joining adds later are not in it. */
    int64_t *idle_ends;
    size_t idle_end_count;
};

/* The sources of stacks and samples. */
struct tv_te_stack_sources {
    struct tv_te_extent frames;  /* value of "stackFrames": an object */
    struct tv_te_extent samples; /* value of "samples": an array */
    /* Metadata events "stackFrames" and "typeNames" of processes, and those of V8's code. */
    const struct tv_te_deferred *tables;
    size_t table_count;
    struct tv_te_stack_uses uses; /* by events that are not samples */
};

/* Plans made beside the placing and carried out after it. */
struct tv_te_flow_plan;
struct tv_te_states;

struct tv_te_context {
    struct tv_source *source;
    struct tv_trace *trace; /* trace->head and trace->tables are filled */
    struct tv_assembly *assembly;
    uint32_t input;
    const struct tv_read_options *options;
    struct tv_window window;      /* for tv_te_event_read and tv_te_extent_read */
    struct tv_te_scratch scratch; /* for one text at a time */
    struct tv_te_threads threads; /* by their ids; more may be added before placing */
    struct tv_te_deferred_events deferred;
    struct tv_te_times times;
    struct tv_te_stack_sources stacks;
    struct tv_map joined;           /* string of an id's key -> group of joined ids */
    TV_TABLE(tv_async_slice) async; /* filled by async.c and objects.c, parents first */
    struct tv_async_plan *async_plan;
    struct tv_te_flow_list flow_events;
    struct tv_te_states *states;   /* NULL: there are none */
    struct tv_te_flow_plan *flows; /* from tv_te_flows_read to tv_te_flows_pair */
};

/* Run all joins of one stage, in the order in which they depend on each other. */
void tv_te_join_before_placing(struct tv_te_context *context);
void tv_te_join_beside_placing(void *context);
void tv_te_join_after_placing(struct tv_te_context *context);

/* ---- Reading the text again ---- */

/* Read the fields of the event at an offset; they are valid until the next call.  False: the file
 * changed, or no event is there. */
bool tv_te_event_read(struct tv_te_context *context, uint64_t offset, struct tv_te_fields *fields);

/* Return the text of a range, valid until the next call (the window grows to it).  Empty when it
 * cannot be read. */
struct tv_bytes tv_te_extent_read(struct tv_te_context *context, struct tv_te_extent extent);

/* Return the value type of samples with that title. */
uint32_t tv_te_value_type(struct tv_te_context *context, struct tv_bytes title);

/* Count a diagnostic of the input. */
void tv_te_warn(struct tv_te_context *context, enum tv_diagnostic_kind kind, uint64_t offset);

/* The fields that join an event with others. */
struct tv_te_link {
    enum tv_te_id_kind kind;
    struct tv_bytes id;    /* raw; data NULL: none */
    struct tv_bytes scope; /* raw */
    int64_t cpu;           /* "tts" where async slices use it, or TV_NO_TIME */
    uint8_t colour;
    bool has_name, has_category;
    bool has_details; /* more than a time: arguments or a stack */
};

/* Keep in the row what it has room for. */
void tv_te_link_keep(struct tv_te_deferred *event, const struct tv_te_fields *fields);

/* Return the link of an event whose text was read. */
struct tv_te_link tv_te_link_of(const struct tv_te_deferred *event,
                                const struct tv_te_fields *fields);

/* Return the link from the row, or read the text.  Its texts are valid until the next event is
 * read, and as long as the row. */
bool tv_te_link_read(struct tv_te_context *context, const struct tv_te_deferred *event,
                     struct tv_te_link *link);

/* True when an event says more than its time: it has arguments or a stack. */
bool tv_te_has_details(const struct tv_te_fields *fields);

/* ---- Selecting events ---- */

/* The events of some phases, in the order of the file, so that their texts are read in one sweep.
 */
struct tv_te_selection {
    size_t *rows;  /* indices in context->deferred.rows */
    size_t *order; /* indices in `rows`, by time, then by place in the file */
    size_t count;
};

/* Return how many deferred events have one of these phases. */
size_t tv_te_count_deferred(const struct tv_te_context *context, const char *phases);

/* Select the events whose phase is among the letters. */
void tv_te_select(struct tv_te_selection *selection, const struct tv_te_context *context,
                  const char *phases);
void tv_te_selection_release(struct tv_te_selection *selection);

/* ---- Ids as keys ---- */

/* An id is compared as the text "pid:scope:id", as Trace Viewer shows it.  So "0x1" and 1 are two
 * ids.  The pid is empty where all processes share the id; without a scope the scope is "ptr". */

/* A text that grows; zeroed at first. */
struct tv_te_id_key {
    uint8_t *bytes;
    size_t length, capacity;
};

void tv_te_id_key_release(struct tv_te_id_key *key);

static inline struct tv_bytes tv_te_id_key_text(const struct tv_te_id_key *key)
{
    return (struct tv_bytes){key->bytes, key->length};
}

/* Append a text. */
void tv_te_id_key_add(struct tv_te_id_key *key, struct tv_bytes text);

/* Append the id of a process. */
void tv_te_id_key_add_process(struct tv_te_id_key *key, const struct tv_trace_info *head,
                              uint32_t process);

/* Append the id of a thread, without that of its process. */
void tv_te_id_key_add_tid(struct tv_te_id_key *key, const struct tv_trace_info *head,
                          uint32_t thread);

/* Whom a plain "id" belongs to; "id2" says it itself. */
enum tv_te_id_owner {
    TV_TE_ID_SHARED, /* to all processes (async) */
    TV_TE_ID_OWNED,  /* to the process of its event (objects) */
};

/* Append "pid:scope:id".  No scope (data NULL) is "ptr", process TV_NONE is no pid. */
void tv_te_id_key_add_parts(struct tv_te_id_key *key, const struct tv_trace_info *head,
                            uint32_t process, struct tv_bytes scope, struct tv_bytes id);

/* An id as an event has it. */
struct tv_te_id_parts {
    enum tv_te_id_kind kind;
    struct tv_bytes raw;
    struct tv_bytes scope; /* raw */
    uint32_t process;
};

/* Append an id. */
void tv_te_id_key_add_id(struct tv_te_id_key *key, struct tv_te_context *context,
                         const struct tv_te_id_parts *id, enum tv_te_id_owner owner);

/* Append the id of an event.  False, with a diagnostic, when it has none or an ambiguous one. */
bool tv_te_id_key_add_event_id(struct tv_te_id_key *key, struct tv_te_context *context,
                               const struct tv_te_deferred *event, const struct tv_te_link *link,
                               enum tv_te_id_owner owner);

/* Read the "=" events, which join ids, into context->joined. */
void tv_te_id_groups_read(struct tv_te_context *context);

/* Return the group of ids that "pid:scope:id" is joined to, or TV_NONE. */
uint32_t tv_te_id_group(const struct tv_te_context *context, struct tv_bytes id);

/* ---- Times ---- */

/* Widen the range of the trace to a time. */
void tv_te_times_widen(struct tv_te_context *context, tv_ns time);

/* Read the marks that synchronize the clocks of several inputs: phase c. */
void tv_te_clock_read(struct tv_te_context *context);

/* Read "convertedFrom", which says when the files ended that this file was made of.  The processes
 * are known by then. */
void tv_te_file_ends_read(struct tv_te_context *context, struct tv_bytes files);

/* Find out whether the trace falls silent, when all chunks are merged and nothing is placed. */
void tv_te_silence_find(struct tv_te_context *context);

/* Return the end of something that a process began at `start` and nobody ended: the end of the
 * process's file. */
tv_ns tv_te_process_end(const struct tv_te_context *context, uint32_t process, tv_ns start);

/* As above, of something that a thread began, which ends earlier when its process falls silent. */
tv_ns tv_te_thread_end(const struct tv_te_context *context, uint32_t thread, tv_ns start);

/* Return the file's end for each thread of the head, owned by the caller.  NULL: all end with the
 * trace. */
int64_t *tv_te_thread_ends(const struct tv_te_context *context);

/* Return the length of a thread state, cut so that its end is a valid time too. */
static inline int64_t tv_te_state_length(int64_t time, int64_t length)
{
    if (length < 0)
        return 0;
    return time > 0 && length > TV_TE_LATEST - time ? TV_TE_LATEST - time : length;
}

/* ---- The joins ---- */

/* Read phase P and the array "samples" into the table of samples, with their stacks. */
void tv_te_samples_read(struct tv_te_context *context);

/* Read phases v and V into the tables of memory dumps and figures. */
void tv_te_memory_read(struct tv_te_context *context);

/* Pair b, n and e to async slices. */
void tv_te_async_pair(struct tv_te_context *context);

/* Pair S, T, p and F to async slices. */
void tv_te_async_pair_legacy(struct tv_te_context *context);

/* Read N, O and D into the tables of objects and snapshots; lifetimes of joined objects become
 * async slices. */
void tv_te_objects_read(struct tv_te_context *context);

/* Read ( and ) into the table of contexts. */
void tv_te_thread_contexts_read(struct tv_te_context *context);

/* Plan the tracks of thread states; then place them. */
void tv_te_states_read(struct tv_te_context *context);
void tv_te_states_place(struct tv_te_context *context);

/* Read the flow events; then bind them to slices and pair them to arrows. */
void tv_te_flows_read(struct tv_te_context *context);
void tv_te_flows_pair(struct tv_te_context *context);

/* Free plans that were not carried out.  NULL is fine. */
void tv_te_flows_free(struct tv_te_flow_plan *plan);
void tv_te_states_free(struct tv_te_states *plan);

/* ---- V8 ---- */

/* The functions that V8 compiled while the trace ran.  JitCodeAdded and JitCodeMoved (phase M, or I
 * in older files) say which code lay where, so that the addresses of V8Sample get names
 * (trace-event.md sections 3.3 and 3.9). */
struct tv_te_code;

/* Read all such events of the input. */
struct tv_te_code *tv_te_code_new(struct tv_te_context *context);
void tv_te_code_free(struct tv_te_code *code);

/* True when metadata of this raw name is such an event. */
bool tv_te_code_is_name(struct tv_bytes name);

/* Find the frame of the code that lay at an address of a process at a time.  Times must not go back
 * from call to call.  False: no code is known there. */
bool tv_te_code_find(struct tv_te_code *code, uint32_t process, tv_ns time, uint64_t address,
                     uint32_t *frame);

/* CPU profiles of V8: events named Profile and ProfileChunk.  The first says when the profile
 * starts; chunks add nodes of its call tree, and samples: a node, and the time since the sample
 * before.  Samples belong to the thread of the Profile event, not to those of the chunks. */
struct tv_te_profiles;

struct tv_te_profiles *tv_te_profiles_new(struct tv_te_context *context);
void tv_te_profiles_free(struct tv_te_profiles *profiles);

/* Find the Profile events first: they may be after their chunks. */
void tv_te_profiles_begin(struct tv_te_profiles *profiles);

/* Add an event of phase P if its name and id make it part of a profile.  False: it is not. */
bool tv_te_profiles_take(struct tv_te_profiles *profiles, const struct tv_te_deferred *event,
                         const struct tv_te_fields *fields);

/* After all chunks: sort the samples and give them to the trace. */
void tv_te_profiles_end(struct tv_te_profiles *profiles);

/* ---- Metadata ---- */

/* Apply the metadata events (M): names, labels and sort order of processes and threads.  Events
 * that are tables of stack frames, or describe V8's code, move to the front of the rows; return how
 * many. */
size_t tv_te_metadata_events(struct tv_te_context *context, struct tv_te_deferred *rows,
                             size_t count);

/* Take the unit of time, the stack frames and the samples from the members beside the events.  All
 * other members become metadata of the input. */
void tv_te_metadata_members(struct tv_te_context *context, const struct tv_te_container *container);

/* ---- Embedded traces ---- */

/* Traces of other formats that are beside the events as strings: ftrace text (systemTraceEvents;
 * on Windows an object, etw.h), power samples (powerTraceAsString), lists of processes and control
 * groups (androidProcessDump, cgroupDump). */

/* True when the member is such a trace. */
bool tv_te_embedded_is(const struct tv_te_top_member *member);

/* Read each as an input of its own, after that of the context, whose assembly has ended.  A trace
 * that no reader knows counts as TV_DIAGNOSTIC_SUBTRACE_UNREAD. */
enum tv_status tv_te_embedded_read(struct tv_te_context *context,
                                   const struct tv_te_container *container,
                                   struct tv_builder *builder, struct tv_error *err) TV_MUST_CHECK;

#endif
