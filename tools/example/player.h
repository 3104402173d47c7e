/* SPDX-License-Identifier: Apache-2.0 */
/*
 * player.h - lets the threads of a scenario run side by side, and writes down what they call.
 *
 * A small discrete-event simulation: each thread has its own stack and clocks, the thread that is
 * furthest behind makes the next step, threads wait for messages and locks of each other.  The same
 * scenario and seed give the same recording on every machine: integers only, own random numbers.
 */
#ifndef TV_TOOLS_EXAMPLE_PLAYER_H
#define TV_TOOLS_EXAMPLE_PLAYER_H

#include "scenario.h"
#include "wire/method_trace.h"

#include <stddef.h>
#include <stdint.h>

struct event {
    int thread; /* index into the scenario's threads */
    int method;
    enum tv_mt_action action;
    uint64_t cpu_ns; /* since the thread's first event */
    uint64_t wall_ns;
};

struct recording {
    struct event *events; /* in the order of their wall times */
    int count;
    uint64_t end_ns; /* when tracing was stopped; no event is later */
};

struct recording scenario_play(const struct scenario *scenario, uint64_t seed);

#endif
