/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_graph.h - profiles that keep functions and calls between them, but no stacks: callgrind and
 * Python's cProfile.
 *
 *     self costs, calls --> function_costs, call_edges    exact, model/tables.h
 *                       '-> samples                       an estimate of the stacks
 *
 * Such a file does not tell which caller a cost belongs to.  The estimate shares the cost of a
 * function among its callers in proportion to the costs of their calls.  It starts at the functions
 * that nobody calls.  A call below 1/10,000 of the total is not followed: its whole cost stays with
 * the callee. Sharing is exponential, so the number of paths has a ceiling, too.  Inside of a cycle
 * of recursive functions, a path has each function at most once.
 */
#ifndef TV_READERS_CALL_GRAPH_H
#define TV_READERS_CALL_GRAPH_H

#include "base/map.h"
#include "readers/profile_input.h"

/* Maximum number of value types of a graph. */
#define TV_CALL_GRAPH_TYPES 64u

/* Costs by owner (a function or a call) and type, for those that are not 0. */
struct tv_call_costs {
    struct tv_map places; /* owner << 32 | type -> place in `rows` */
    struct tv_call_cost {
        uint32_t owner, type;
        int64_t cost;
    } * rows;
    size_t count, capacity;
};

struct tv_graph_call {
    uint32_t caller, callee; /* functions */
    uint64_t calls;
};

struct tv_graph_function {
    uint32_t frame;
    uint32_t first_call;   /* in `calls`, when they are sorted */
    uint32_t cycle;        /* functions that call each other share a number */
    uint64_t stated_calls; /* of the function, when the file says it; else 0 */
};

struct tv_call_graph {
    struct tv_profile_input *profile;
    uint32_t thread;                     /* thread of the samples */
    uint32_t types[TV_CALL_GRAPH_TYPES]; /* in the value types of the trace */
    uint32_t type_count;
    struct tv_map by_frame;
    struct tv_map by_pair; /* caller << 32 | callee -> place in `calls` */
    struct tv_graph_function *functions;
    struct tv_graph_call *calls;
    size_t function_count, function_capacity, call_count, call_capacity;
    /* `inclusive`: as the file says; callgrind's follow from the calls. */
    struct tv_call_costs self, inclusive, along;
};

/* A graph of zeros with a profile and a thread is ready for use. */
void tv_call_graph_release(struct tv_call_graph *graph);

/* Add a value type.  Return its number, or TV_NONE, with a diagnostic, when there are too many. */
uint32_t tv_call_graph_add_type(struct tv_call_graph *graph, struct tv_bytes name,
                                struct tv_bytes unit);

/* Return the function of a frame, or the calls between two functions, adding them if needed. */
uint32_t tv_call_graph_function(struct tv_call_graph *graph, uint32_t frame);
uint32_t tv_call_graph_call(struct tv_call_graph *graph, uint32_t caller, uint32_t callee,
                            uint64_t calls);

/* Add a cost of a type to the self cost or the stated inclusive cost of a function, or to a call;
 * sums saturate. */
void tv_call_graph_add_self(struct tv_call_graph *graph, uint32_t function, uint32_t type,
                            int64_t cost);
void tv_call_graph_add_inclusive(struct tv_call_graph *graph, uint32_t function, uint32_t type,
                                 int64_t cost);
void tv_call_graph_add_cost(struct tv_call_graph *graph, uint32_t call, uint32_t type,
                            int64_t cost);

/* Write the tables and the estimated samples. */
void tv_call_graph_finish(struct tv_call_graph *graph);

#endif
