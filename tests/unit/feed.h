/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed.h - events for a sink's tests without a reader, and the calls that they mean, found the
 * plain way.
 */
#ifndef TV_TESTS_FEED_H
#define TV_TESTS_FEED_H

#include "model/builder/sink.h"
#include "model/trace.h"

struct feed {
    struct tv_event *events;
    size_t count;
    uint32_t threads, frames;
    int64_t tick_ns;
    unsigned clocks;
    int64_t elapsed; /* ticks */
    bool sampled;
};

/* How wild the random events are. */
struct feed_style {
    size_t events;
    uint32_t threads, frames;
    uint32_t outer_exits; /* of 100 exits that could not be, how many are given on an empty stack */
    uint32_t mismatches;  /* of 1000 exits, how many name another method */
    int64_t longest_gap;  /* ticks */
    unsigned clocks;
};

/* Repeatable events from a seed. */
struct feed *feed_random(uint32_t seed, const struct feed_style *style);

/*
 * Events from a drawing, one thread a line: "A(B(C)D)E)" with one tick a character; a letter
 * enters its method, ')' exits the top, '!' leaves it by an exception, '.' lets time pass, a
 * lower-case letter exits the method of its upper-case letter.
 */
struct feed *feed_draw(const char *const *threads, uint32_t count);
void feed_free(struct feed *feed);

/* A head with the feed's threads ("t0", ids 100, 101 ...) and frames ("pkg.A", ".B" ...). */
struct tv_trace_info *feed_head(const struct feed *feed);

/* Plays the reader: `parts` stretches that begin at starts[1..] (starts[0] is 0); in one part
 * again when the sink asks for it. Returns the number of parts that it ended with. */
unsigned feed_to(const struct feed *feed, struct tv_trace_info *head, struct tv_sink *sink,
                 const size_t *starts, unsigned parts);

/* A call as it ought to come out. */
struct feed_call {
    uint32_t thread, depth, frame, parent;  /* index of the parent in the list, or TV_NONE */
    int64_t start, end, cpu_start, cpu_end; /* ticks */
    unsigned flags;                         /* without FIRST_CHILD and HAS_CHILDREN */
    uint32_t children;
};

/* The calls of one thread in order of entry; *count of them. To be freed with tv_free. */
struct feed_call *feed_calls(const struct feed *feed, uint32_t thread, uint32_t *count);

#endif
