/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cut_writing.h - the state of cutting a Perfetto trace; internal to this folder.
 *
 *     cut.c          packets, track events, frames
 *     cut_bundle.c   events of the kernel, and the states of tasks at the ends of the range
 */
#ifndef TV_READERS_PERFETTO_CUT_WRITING_H
#define TV_READERS_PERFETTO_CUT_WRITING_H

#include "readers/perfetto/cut.h"
#include "readers/perfetto/reading.h"

/* An incremental counter of one sequence. */
struct tv_pf_cut_sum {
    uint64_t whole, written; /* sums of all steps, and of those written */
};

struct tv_pf_cut_writing {
    struct tv_pf_reading *reading;
    struct tv_pf_cut *cut;
    struct tv_out *out;
    struct tv_out packet, payload, part, text; /* reused */
    struct tv_map sum_index;
    TV_TABLE(tv_pf_cut_sum) sums;
    uint32_t clock;       /* id of the clock of the trace; 0: the file does not tell */
    bool told;            /* the states of the tasks are written */
    struct tv_out ending; /* the packet that marks the end of the range; empty: none */
    bool changed;         /* writing->payload is not what the bundle has */
};

/* Return the marks of an event, with the lead above them. */
unsigned tv_pf_cut_marks_of(const struct tv_pf_cut_writing *writing, uint64_t offset, int64_t time);

/* Return the time that an event gets: its own when it is in the range, an end of the range when it
 * is marked, else TV_NO_TIME: it is left out.  An end (`ends`) belongs to what is before it. */
int64_t tv_pf_cut_place(const struct tv_pf_cut_writing *writing, unsigned marks, int64_t time,
                        bool ends);

/* Copy a field as it stands from `start` to `end`. */
void tv_pf_cut_copy_field(struct tv_out *out, const uint8_t *start, const uint8_t *end);

/* Write a packet whose bytes are complete. */
void tv_pf_cut_put_frame(struct tv_pf_cut_writing *writing, struct tv_bytes packet);

/* Leave a packet out, but for what changes the state of its sequence. */
void tv_pf_cut_drop(struct tv_pf_cut_writing *writing, const struct tv_pf_current *packet);

/* Write a packet at a time of the trace's clock; with `replaced`, writing->payload is its payload.
 */
void tv_pf_cut_keep(struct tv_pf_cut_writing *writing, const struct tv_pf_current *packet,
                    int64_t time, bool replaced);

/* Write the switch at the end of the range, after all packets. */
void tv_pf_cut_put_ending(struct tv_pf_cut_writing *writing);

/* Write the events of a bundle that stay. */
void tv_pf_cut_bundle(struct tv_pf_cut_writing *writing, const struct tv_pf_current *packet);

#endif
