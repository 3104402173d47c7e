/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_event.h - the Trace Event Format: JSON of Chrome, Node, Bazel, clang and many others.
 *
 * The functions of this reader that other modules may call; rewrite.h writes such files.  From the
 * bytes upwards:
 *
 *     text/          scan, fast_path, fields, values: one event's text
 *     tables         names, threads, stack frame ids
 *     chunk          all that a chunk of the events says
 *     event_list     walking over the list of events, chunk beside chunk
 *     container      the text around the events
 *     trace_event.c  merges the chunks, places the slices
 *     join/          joins events with each other: async, flows, objects, samples, ...
 *     describe       one event read again, when somebody looks at it
 *     passes         serial passes that build no trace: visiting records, checking the text
 */
#ifndef TV_READERS_TRACE_EVENT_TRACE_EVENT_H
#define TV_READERS_TRACE_EVENT_TRACE_EVENT_H

#include "model/trace.h"
#include "readers/reader.h"
#include "readers/trace_event/text/fields.h"

extern const struct tv_reader tv_reader_trace_event;

/* ---- One event again ---- */

/* Describe an event as tv_describe says (model/trace_info.h), as a JSON object:
 *
 *     args                    those of the end added to those of the beginning (section 3.1)
 *     start_stack, end_stack  names, the root first; of chains longer than TV_STACK_NAMES only the
 *                             innermost names, and "start_stack_cut": true
 *     references              object_references.h
 *     every member of the event that the model does not hold
 *
 * A snapshot inside of another one is "args": {"snapshot": ...}. */
enum tv_status tv_te_describe(const struct tv_trace *trace, uint32_t input, uint64_t offset,
                              uint64_t end_offset, struct tv_out *out, struct tv_error *err);

/* Write a slice of a thread as one event of another Trace Event file, with the times of the model.
 * "B" and "E" become "X" with the members of both.  An open slice gets the end that the model gives
 * it, as the events that it lasted to may not be written. */
enum tv_status tv_te_describe_slice(const struct tv_trace *trace, uint32_t row, uint32_t index,
                                    struct tv_out *out, struct tv_error *err);

/* ---- Passes over the text ---- */

/* An event as it is in the file. */
struct tv_te_record {
    struct tv_te_fields *fields; /* for tv_te_fields_next, too */
    struct tv_bytes text;        /* from '{' to '}'; only the '}' may be missing */
    uint64_t offset;
    bool cut; /* set by the visitor: something was nested too deep to be written */
};

/* A member of the outermost object that is not the list of events. */
struct tv_te_member_record {
    struct tv_bytes key;     /* raw */
    struct tv_bytes text;    /* the value, raw; data NULL: longer than TV_TE_LONGEST_MEMBER */
    uint64_t offset, length; /* of the value */
    bool cut;                /* as in a record */
};

/* As long as the longest event (event_list.c). */
#define TV_TE_LONGEST_MEMBER ((uint64_t)64 << 20)

/* Visit the records of a file in its order: the reader's `tell`. */
enum tv_status tv_te_records_visit(struct tv_source *source, struct tv_trace_info *head,
                                   struct tv_record_visitor *visitor,
                                   struct tv_error *err) TV_MUST_CHECK;

/* Check what reading passes over.  Count every event and every member beside the events whose text
 * is not strict JSON, NaN and the infinities allowed (TV_DIAGNOSTIC_BAD_JSON), and every slice
 * whose end has arguments that hide others of its beginning.  Reads the source again. */
enum tv_status tv_te_check_text(struct tv_trace *trace, uint32_t input,
                                struct tv_error *err) TV_MUST_CHECK;

#endif
