/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fixture.h - small traces for tests: drawn by hand, or random.
 *
 * A drawing has a line of text for each depth and a column for each millisecond; a letter is a
 * method, its capital and small form the same method in calls that touch each other:
 *
 *     {"main", NULL, {"AAAAaa BBB",
 *                     " CCD   BB "}}
 *
 * is A calling C for two milliseconds and D for one, A again, nothing, then B, which calls itself.
 * A '<' in the first column says that the call of the letter after it began before the trace, a
 * '>' in the last that the call before it is still open at the end.  The CPU clock advances as the
 * digits of `cpu` say, in tenths of a millisecond a column (NULL, or a blank: all of it).
 */
#ifndef TV_TESTS_FIXTURE_H
#define TV_TESTS_FIXTURE_H

#include "model/builder/sink.h"
#include "model/trace.h"

#define FIXTURE_DEPTH 8

struct fixture_thread {
    const char *name;
    const char *cpu;
    const char *rows[FIXTURE_DEPTH];
};

struct fixture {
    struct tv_trace *trace;
    struct tv_event *events; /* as the builder got them */
    size_t event_count;
};

/* Frame numbers of a drawing: those of its letters. */
#define FIXTURE_FRAME(letter) ((uint32_t)((letter) - 'A'))

/* Both clocks, ticks of a microsecond, 26 frames "demo.A.a()V" to "demo.Z.z()V". */
struct fixture fixture_draw(const struct fixture_thread *threads, unsigned count);

struct fixture_dice {
    uint32_t seed;
    unsigned threads, frames, depth;
    size_t events;
    unsigned clocks; /* enum tv_clocks */
    int64_t tick_ns;
    int64_t long_gap; /* ticks: one step in fifty is up to that long, the others up to 40 */
    unsigned parts;   /* the builder gets the events in that many parts */
    bool no_strays;   /* no exits without an entry */
};
struct fixture fixture_random(const struct fixture_dice *dice);

/* Calls nested `depth` deep, each a tick longer at both ends than the one it makes. */
struct fixture fixture_nest(uint32_t depth);

/* Return the value type with a name and unit, adding it if needed: samples of a fixture need one.
 */
uint32_t fixture_value_type(struct tv_trace *trace, const char *name, const char *unit);

/* Add a counter of one series with up to 16 samples, alternating between 0 and 1. */
void fixture_add_counter(struct fixture *fixture, const char *name, const tv_ns *times,
                         uint32_t count);

void fixture_free(struct fixture *fixture);

/* The next number of a fixed sequence (xorshift). */
uint32_t fixture_roll(uint32_t *state, uint32_t below);

#endif
