/* SPDX-License-Identifier: Apache-2.0 */
/*
 * callgraph.h - who calls whom as a Graphviz graph, as dmtracedump -g draws it.
 */
#ifndef TV_WRITERS_CALLGRAPH_H
#define TV_WRITERS_CALLGRAPH_H

#include "analysis/calltree/profile.h"
#include "base/out.h"

struct tv_callgraph_options {
    bool cpu;
    uint64_t threshold; /* millionths of a percent: a callee is drawn when its calls from a method
                         * take so much of that method's inclusive time */
};

/* Everything that is reached from the calls made from nowhere. `profile` is that of the tree; it is
 * sorted anew. */
void tv_callgraph_write(struct tv_out *out, const struct tv_call_tree *tree,
                        struct tv_profile *profile, const struct tv_callgraph_options *options);

#endif
