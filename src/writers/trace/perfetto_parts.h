/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto_parts.h - shared by perfetto.c, perfetto_tracks.c, perfetto_tables.c and
 * perfetto_annotations.c; internal.
 */
#ifndef TV_WRITERS_TRACE_PERFETTO_PARTS_H
#define TV_WRITERS_TRACE_PERFETTO_PARTS_H

#include "base/map.h"
#include "base/protobuf_out.h"
#include "writers/trace/perfetto.h"

enum tv_perfetto_event_type {
    TV_PERFETTO_BEGIN = 1,
    TV_PERFETTO_END,
    TV_PERFETTO_INSTANT,
    TV_PERFETTO_COUNTER,
};

/* An end of a flow as it is written: with the event of a slice or of an instant. */
struct tv_perfetto_flow_end {
    uint32_t row, index; /* as in struct tv_flow_end */
    bool with_end;       /* with the event that ends the slice, else with the one that begins it */
    bool terminates;     /* the arrow ends here, else it begins here */
    uint64_t id;
};

struct tv_perfetto_writer {
    struct tv_out *out;
    struct tv_out packet, event, interned, text; /* reused */
    const struct tv_trace *trace;
    struct tv_perfetto_losses *losses;
    tv_ns base;                     /* added to times on the trace's axis */
    tv_ns latest;                   /* time of the last event to be written, on the axis */
    bool ends_open;                 /* ends of open slices are written: `latest` is one of them */
    struct tv_interner *names;      /* of events; their numbers are those of the file */
    struct tv_interner *categories; /* the same */
    uint32_t *frame_names;          /* [frame_count] number of the name; TV_NONE: not known yet */
    uint64_t *pids, *tids;          /* [process_count], [thread_count] ids in the file */
    uint64_t homeless_pid;          /* of the process made for threads without one; 0: none */
    bool *has_process, *has_thread; /* those that have a descriptor */
    struct tv_perfetto_flow_end *flow_ends; /* sorted by row, index and time */
    size_t flow_end_count, flow_end_capacity;
};

/* ---- Packets ---- */

/* Write writer->packet as a packet of the sequence. */
void tv_perfetto_put_packet(struct tv_perfetto_writer *writer);

/* Begin a track event in writer->event. */
void tv_perfetto_begin_event(struct tv_perfetto_writer *writer, enum tv_perfetto_event_type type,
                             uint64_t track);

/* Add the name and the categories of a frame. */
void tv_perfetto_name_event(struct tv_perfetto_writer *writer, uint32_t frame);

/* Write the event at a time on the trace's axis. */
void tv_perfetto_put_event(struct tv_perfetto_writer *writer, tv_ns time);

/* Return true when a slice that is open at the end of the trace has no end in the file. */
bool tv_perfetto_stays_open(const struct tv_perfetto_writer *writer, uint32_t row,
                            const struct tv_slice *slice);

/* ---- Tracks ---- */

/* Return the number of a track in the file. */
uint64_t tv_perfetto_process_track(const struct tv_perfetto_writer *writer, uint32_t process);
uint64_t tv_perfetto_thread_track(const struct tv_perfetto_writer *writer, uint32_t thread);
uint64_t tv_perfetto_slice_track(const struct tv_perfetto_writer *writer, uint32_t track);
uint64_t tv_perfetto_series_track(const struct tv_perfetto_writer *writer, uint32_t series);
uint64_t tv_perfetto_global_track(const struct tv_perfetto_writer *writer);

/* Choose ids for processes and threads. */
void tv_perfetto_number_threads(struct tv_perfetto_writer *writer);

/* Write the descriptors of all tracks. */
void tv_perfetto_put_tracks(struct tv_perfetto_writer *writer);

/* ---- Annotations ---- */

/* Add one to writer->event: a text, unless it is empty; a number; the truth, if it is `set`. */
void tv_perfetto_put_text(struct tv_perfetto_writer *writer, const char *name,
                          struct tv_bytes text);
void tv_perfetto_put_integer(struct tv_perfetto_writer *writer, const char *name, int64_t number);
void tv_perfetto_put_flag(struct tv_perfetto_writer *writer, const char *name, bool set);

/* Add the arguments of an event, which are read again from the input. */
void tv_perfetto_describe(struct tv_perfetto_writer *writer, uint32_t input, uint64_t offset,
                          uint64_t end_offset);

/* ---- Tables ---- */

/* Collect the ends of all flows. */
void tv_perfetto_collect_flows(struct tv_perfetto_writer *writer);

/* Add the flows of a slice or an instant to writer->event. */
void tv_perfetto_put_flows(struct tv_perfetto_writer *writer, uint32_t row, uint32_t index,
                           bool with_end);

/* Write instants and counters, and count everything else. */
void tv_perfetto_put_tables(struct tv_perfetto_writer *writer);

#endif
