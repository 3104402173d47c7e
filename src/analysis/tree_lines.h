/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_lines.h - lines of a call tree as a table shows it: those under some opened lines, or all
 * below them.
 *
 * Top-down a line is a node.  Bottom-up it is a frame with some of its callers above one another:
 * its figures are those of the frame's calls that were made along these callers.  Of calls that lie
 * within each other and stand for one line the inclusive time of the outermost counts, as in the
 * profile: lines of the first level have the profile's figures.
 */
#ifndef TV_ANALYSIS_TREE_LINES_H
#define TV_ANALYSIS_TREE_LINES_H

#include "analysis/call_tree.h"

/* What a line is called: top-down the node; bottom-up the frames of the node and of as many of its
 * callers as `level` says.  The node TV_ROOT_PATH is what lines of the first level lie under. */
struct tv_line_name {
    uint32_t node, level;
};

struct tv_tree_line {
    uint32_t frame;
    uint32_t node; /* with its level (0: the first) its name */
    uint32_t
        parent; /* the place of what it lies under: among the names asked for, then the lines */
    bool has_children;
    bool opened;    /* its children are among the lines */
    uint64_t calls; /* of all its nodes */
    uint64_t outer_calls;
    int64_t incl_wall, self_wall, incl_cpu, self_cpu;
};

struct tv_tree_question {
    const struct tv_line_name *names;
    uint32_t name_count;
    bool bottom_up;
    bool below;     /* all levels, as long as there are fewer than `limit` lines */
    uint32_t limit; /* children of one line are there all or not at all; names behind it are not
                       opened */
};

struct tv_tree_lines {
    int64_t total_wall, total_cpu; /* sum over the threads: what 100 % is */
    uint32_t count;
    bool cut;                   /* some names are not opened: there are too many lines */
    struct tv_tree_line *lines; /* the children of one line stand side by side */
    size_t capacity;
};

/* A name that is none of the tree has no lines.  Not for two threads at once with trees of one
 * shape. */
struct tv_tree_lines *tv_tree_lines_of(const struct tv_call_tree *tree,
                                       const struct tv_tree_question *question);
void tv_tree_lines_free(struct tv_tree_lines *lines);

/* The call path of a frame that took longest, in time or in samples; TV_ROOT_PATH: it was not
 * called. */
uint32_t tv_tree_lines_longest(const struct tv_call_tree *tree, uint32_t frame);

/* For tree_lines.c and tree_lines_up.c. */
struct tv_tree_line *tv_tree_lines_add(struct tv_tree_lines *lines);
void tv_tree_lines_invert(struct tv_tree_lines *lines, const struct tv_call_tree *tree,
                          const struct tv_tree_question *question);

#endif
