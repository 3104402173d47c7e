/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callgraph.h - who calls whom: the edges between the methods of a call tree, and the Graphviz
 * graph that dmtracedump -g draws.
 *
 * One pass adds the figures of every call path to two edges: a child edge of the caller and a
 * parent edge of the callee. An edge is recursive when the activation of the method in whose
 * list it is listed is not the outermost one (analysis/profile.h defines the same for one
 * method).
 */
#ifndef TV_WRITERS_CALLGRAPH_H
#define TV_WRITERS_CALLGRAPH_H

#include "analysis/profile.h"
#include "base/out.h"

struct tv_callgraph_options {
    bool cpu;
    uint64_t threshold; /* millionths of a percent: a callee is drawn when its calls from a
                         * method take at least this share of the method's inclusive time */
};

/* Draw the methods that are reachable from calls without a caller. `profile` is the tree's
 * profile; it is sorted again. */
void tv_callgraph_write(struct tv_out *out, const struct tv_call_tree *tree,
                        struct tv_profile *profile, const struct tv_callgraph_options *options);

#endif
