/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks.h - stacks of a chunk as a tree of its methods, made without the trace.
 *
 * Stacks of a program share their beginnings, so the tree has far fewer nodes than the stacks have
 * frames.  Each thread makes the tree of its chunk; the trace then asks for the frame and the path
 * of a node once, and not for those of each frame of each stack (names.c):
 *
 *     stacks     main>parse   main>parse>read   main>draw       methods of the chunk
 *     nodes      0 root   1 main   2 main>parse   3 main>parse>read   4 main>draw
 *     leaves     2            3                 4
 */
#ifndef TV_READERS_JFR_STACKS_H
#define TV_READERS_JFR_STACKS_H

#include "model/paths.h"
#include "readers/jfr/chunk.h"

struct tv_jfr_stack_nodes {
    TV_TABLE(tv_path_node) nodes; /* frames are constants of methods; node 0 is the root */
    uint32_t *leaves;             /* by the stack's place in the array of its pool; 0: none */
};

/* Find the nodes of the stacks that have a bit in `wanted`, by their places.  Stacks that are
 * damaged, or in a form that needs more than a look at each frame, have none. */
void tv_jfr_stack_nodes_make(struct tv_jfr_stack_nodes *nodes, const struct tv_jfr_chunk *chunk,
                             const uint64_t *wanted);
void tv_jfr_stack_nodes_release(struct tv_jfr_stack_nodes *nodes);

#endif
