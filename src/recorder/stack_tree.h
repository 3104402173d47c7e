/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_tree.h - the stacks of samples as one tree of frames, for the forms that write frames and
 * not places: two lines of a function are one frame.
 *
 *     traces:  read < parse < main        nodes:  1 main   2 parse   3 read   4 main's own write
 *              write < main                       parent 0      1         2        1
 *
 * Parents have smaller numbers than their children.
 */
#ifndef TV_RECORDER_STACK_TREE_H
#define TV_RECORDER_STACK_TREE_H

#include "recorder/samples.h"

struct tv_stack_node {
    uint32_t parent;  /* 0: it is outermost */
    uint32_t element; /* index of one with the frame's texts */
    uint64_t count;   /* samples with this frame innermost */
};

struct tv_stack_tree {
    struct tv_stack_node *nodes; /* from 1 on */
    uint32_t count;              /* the number behind the last */
    uint32_t *leaves;            /* [traces]: the innermost frame of each */
};

/* False: no memory.  To be released in either case. */
bool tv_stack_tree_init(struct tv_stack_tree *tree, const struct tv_samples *samples);
void tv_stack_tree_release(struct tv_stack_tree *tree);

#endif
