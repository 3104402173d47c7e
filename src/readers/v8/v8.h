/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8.h - profiles of V8 (Node, Chrome): .cpuprofile and .heapprofile, and what Trace Event JSON
 * shares with them.  docs/formats/v8.md describes the formats.
 */
#ifndef TV_READERS_V8_V8_H
#define TV_READERS_V8_V8_H

#include "model/trace.h"
#include "readers/json/stream.h"
#include "readers/profile_input.h"
#include "readers/reader.h"
#include "readers/trace_event/text/values.h"

extern const struct tv_reader tv_reader_cpuprofile;
extern const struct tv_reader tv_reader_heapprofile;

/* ---- Nodes (nodes.c) ---- */

/* Functions with special names stand for states. */
enum tv_v8_state {
    TV_V8_RUNS,
    TV_V8_ROOT, /* "(root)": not a function, but the root of all paths */
    TV_V8_IDLE, /* "(idle)": it did not run */
    TV_V8_GC,   /* "(garbage collector)": it runs on top of the code that ran before */
};

/* Return what a function of this name stands for. */
enum tv_v8_state tv_v8_state_of(struct tv_bytes name);

struct tv_v8_node {
    uint64_t id;
    uint64_t offset;
    uint32_t parent; /* index; TV_NONE: a root */
    uint32_t frame;  /* TV_NONE for a root that is not a function */
    uint32_t path;   /* TV_NONE: not found yet */
    uint32_t depth;
    int64_t weight; /* hits or bytes */
    enum tv_v8_state state;
    uint32_t tick, tick_end; /* rows of `ticks` that are not used up */
};

/* Samples at a line of a node: "positionTicks". */
struct tv_v8_tick {
    int64_t left; /* samples that were not handed out yet */
    int32_t line;
    uint32_t path; /* path of the node at that line */
};

/* The tree of functions, as the file has it. */
struct tv_v8_nodes {
    struct tv_profile_input *profile;
    struct tv_v8_node *rows;
    size_t count, capacity;
    struct tv_lookup by_id;
    struct {
        uint32_t parent;
        uint64_t child; /* an id */
    } * links;
    size_t link_count, link_capacity;
    TV_TABLE(tv_v8_tick) ticks; /* empty when nobody asks for lines */
    struct tv_te_scratch scratch;
    int64_t first_line; /* 0: the file counts lines from 0; 1: from 1 */
    bool heap;          /* of a heap profile: each node has selfSize and children */
};

void tv_v8_nodes_init(struct tv_v8_nodes *nodes, struct tv_profile_input *profile);
void tv_v8_nodes_release(struct tv_v8_nodes *nodes);

/* Take the array "nodes": a flat list with ids of the children or of the parent. */
void tv_v8_nodes_take_list(struct tv_v8_nodes *nodes, struct tv_json_stream *stream);

/* Take the object "head": a tree of objects. */
void tv_v8_nodes_take_tree(struct tv_v8_nodes *nodes, struct tv_json_stream *stream);

/* Find the path of each node.  Nodes whose parents form a circle are roots. */
void tv_v8_nodes_find_paths(struct tv_v8_nodes *nodes);

/* Return the node with an id, or NULL. */
const struct tv_v8_node *tv_v8_nodes_find(const struct tv_v8_nodes *nodes, uint64_t id);

/* Return the path, with the line, of the next sample of a node.  A profile tells how many samples
 * each line of a node had, not which: its samples get the lines in the order of the file. */
uint32_t tv_v8_nodes_next_line(struct tv_v8_nodes *nodes, const struct tv_v8_node *node);

/* ---- Sums of samples (v8_sums.c) ---- */

/* Begin and end of a recording in nanoseconds; equal when the end is unknown. */
struct tv_v8_span {
    int64_t start, end;
};

/* Add the samples of two lists to the trace's sums: `ids` has their nodes, `deltas` the
 * microseconds since the sample before.  Return false, and add no sample, when they must be read
 * one by one. */
bool tv_v8_sum_samples(struct tv_v8_nodes *nodes, struct tv_json_stream ids,
                       struct tv_json_stream deltas, const struct tv_v8_span *span,
                       uint64_t *count);

/* ---- Samples (v8_samples.c) ---- */

struct tv_v8_sample {
    int64_t time;    /* nanoseconds */
    int64_t length;  /* until the next one; set by tv_v8_samples_finish */
    uint64_t offset; /* in the file; orders samples of one time */
    uint32_t path, line_path;
    uint32_t gc_frame; /* TV_NONE unless the state is TV_V8_GC */
    enum tv_v8_state state;
};

/* The samples of one thread. */
struct tv_v8_samples {
    struct tv_v8_sample *rows;
    size_t count, capacity;
};

/* Add a copy of a sample; they may come in any order. */
void tv_v8_samples_add(struct tv_v8_samples *samples, const struct tv_v8_sample *sample);
void tv_v8_samples_release(struct tv_v8_samples *samples);

/* The stack that the garbage collector interrupts: that of the sample before, or the root. */
struct tv_v8_interrupted {
    uint32_t path, line_path;
};

/* Put the garbage collector on top of the stack before.  The samples come in order, the first with
 * TV_ROOT_PATH twice. */
void tv_v8_sample_place_collector(struct tv_v8_sample *sample, struct tv_v8_interrupted *before,
                                  struct tv_paths *paths);

/* Set how long the last of `count` samples lasts, the first of which is at `first`: until `end`,
 * or, when `end` is not later, as long as the others on average. */
void tv_v8_sample_end(struct tv_v8_sample *last, int64_t first, uint64_t count, int64_t end);

/* Sort by time, put the garbage collector on top of the stack before, and find how long each sample
 * lasts: until the next one.  Return how many were out of order. */
size_t tv_v8_samples_finish(struct tv_v8_samples *samples, struct tv_paths *paths, int64_t end);

/* Names of the value types. */
#define TV_V8_SAMPLES TV_BYTES("samples") /* their number, "count" */
#define TV_V8_CPU TV_BYTES("cpu")         /* time that was not "(idle)", in nanoseconds */

#endif
