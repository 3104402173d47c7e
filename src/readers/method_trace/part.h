/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part.h - one stretch of a file's records: read, made into events, handed to the sink.
 */
#ifndef TV_READERS_METHOD_TRACE_PART_H
#define TV_READERS_METHOD_TRACE_PART_H

#include "model/builder/sink.h"
#include "readers/method_trace/fast.h"

/* A record's place: the unit and how many bytes of it lie before. */
struct tv_mt_place_in_file {
    size_t unit;
    uint64_t done;
};

/* What all parts share. */
struct tv_mt_delivery {
    struct tv_mt_file *file;
    struct tv_sink *sink;
    struct tv_mt_frames frames;
    unsigned part_count;
    unsigned pass;
    bool fast;   /* mt_fast can read it */
    bool deltas; /* mt_deltas can */
    /* A sink that writes has had so many events already, and times that may have to be unwrapped
     * are not for it. */
    uint64_t had;
    bool writes;
    /* [threads of this input] 0: not known yet, TV_NONE: none, else 1 + the track in the sketch;
     * NULL: there is no sketch */
    _Atomic uint32_t *sketched;
    _Atomic bool stop; /* a part stopped: the others need not go on */
};

struct tv_mt_part {
    struct tv_mt_delivery *delivery;
    unsigned index;
    struct tv_mt_place_in_file start, end;
    struct tv_mt_span *spans; /* by thread - first_thread */
    struct tv_diagnostics diagnostics;
    bool has_events;
    int64_t first_wall, last_wall; /* of its first and last event */
    uint64_t records, unrolls;
    enum tv_mt_stop stop;
    enum tv_status status;
    struct tv_error error;
};

/* Reads the part; says in `status` and `stop` how it went. */
void tv_mt_part_read(struct tv_mt_part *part);

#endif
