/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference.h - the calls of a fixture, found from its events by the plainest code there is: what
 * the tests of analysis and view compare with.  Nothing here uses rows, columns or paths of the
 * trace.
 */
#ifndef TV_TESTS_REFERENCE_H
#define TV_TESTS_REFERENCE_H

#include "analysis/calltree/call_tree.h"
#include "fixture.h"

struct reference_call {
    uint32_t thread, frame, depth;
    uint32_t parent;          /* index, or TV_NONE */
    tv_ns start, end;         /* on the axis */
    tv_ns cpu_start, cpu_end; /* 0 without a CPU clock */
};

struct reference {
    const struct fixture *fixture;
    struct reference_call *calls; /* by thread, then in the order of entries */
    uint32_t count;
    int64_t tick;
    bool wall, cpu;
};

struct reference reference_of(const struct fixture *fixture);
void reference_release(struct reference *reference);

/* The thread's CPU time at a wall time (decision P3). */
tv_ns reference_cpu_at(const struct reference *reference, uint32_t thread, tv_ns wall);

/* What a call adds to its path's cost; false: nothing, it is outside. */
bool reference_cost(const struct reference *reference, uint32_t call, tv_ns from, tv_ns to,
                    struct tv_path_cost *cost);

/* Whether a call of the same frame is among its callers. */
bool reference_is_recursive(const struct reference *reference, uint32_t call);

/* The node of a tree that stands for the call's chain of frames; fails the test when there is none.
 */
uint32_t reference_node(const struct reference *reference, const struct tv_call_tree *tree,
                        uint32_t call);

#endif
