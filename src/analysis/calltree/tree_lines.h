/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_lines.h - lines of a call tree as a table shows it: the children of some opened lines, or
 * everything below them.
 *
 * Top-down, a line is a node.  Bottom-up, a line is a frame with some of its callers above it; its
 * costs are those of the frame's calls that were made along these callers.  When such calls nest,
 * the inclusive time of the outermost one counts, as in the profile: lines of the first level have
 * the profile's figures.
 */
#ifndef TV_ANALYSIS_CALLTREE_TREE_LINES_H
#define TV_ANALYSIS_CALLTREE_TREE_LINES_H

#include "analysis/calltree/call_tree.h"

/* Name of a line.  Top-down: its node.  Bottom-up: the frames of the node and of `level` of its
 * callers.  Lines of the first level are under the node TV_ROOT_PATH. */
struct tv_line_name {
    uint32_t node, level;
};

struct tv_tree_line {
    uint32_t frame;
    uint32_t node;   /* with its level (0 on the first): the name */
    uint32_t parent; /* index of the line that it is under: in the names asked for, then in the
                        lines */
    bool has_children;
    bool opened;    /* the children are in the list */
    uint64_t calls; /* sum over its nodes */
    uint64_t outer_calls;
    int64_t incl_wall, self_wall, incl_cpu, self_cpu;
};

struct tv_tree_question {
    const struct tv_line_name *names;
    uint32_t name_count;
    bool bottom_up;
    bool below;     /* list all levels while there are fewer than `limit` lines */
    uint32_t limit; /* the children of a line are listed completely or not at all; names after the
                       limit are not opened */
};

struct tv_tree_lines {
    int64_t total_wall, total_cpu; /* sum over all threads: 100 % */
    uint32_t count;
    bool cut;                   /* some names were not opened: too many lines */
    struct tv_tree_line *lines; /* children of one line are neighbours */
    size_t capacity;
};

/* Return the lines.  A name that is not in the tree has no lines.  Not for two threads at once
 * with trees of one shape. */
struct tv_tree_lines *tv_tree_lines_of(const struct tv_call_tree *tree,
                                       const struct tv_tree_question *question);
void tv_tree_lines_free(struct tv_tree_lines *lines);

/* Return the call path of a frame with the most time or samples; TV_ROOT_PATH if it was not
 * called. */
uint32_t tv_tree_lines_longest(const struct tv_call_tree *tree, uint32_t frame);

#endif
