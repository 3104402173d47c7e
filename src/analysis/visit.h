/* SPDX-License-Identifier: Apache-2.0 */
/*
 * visit.h - goes through a call tree depth first, knowing which frames stand on the path, without
 * recursion.
 */
#ifndef TV_ANALYSIS_VISIT_H
#define TV_ANALYSIS_VISIT_H

#include "analysis/call_tree.h"

struct tv_visit {
    const struct tv_call_tree *tree;
    uint32_t *first_child; /* [count] TV_NONE: none */
    uint32_t *next;        /* [count] next child of the same parent, ascending; TV_NONE: the last */
    uint32_t *active;      /* [head->frame_count] how often a frame stands on the path */
    uint32_t node;         /* the current one: TV_ROOT_PATH before the first */
};

void tv_visit_init(struct tv_visit *visit, const struct tv_call_tree *tree);
void tv_visit_release(struct tv_visit *visit);

/* Moves to the next node in depth-first order; false after the last. The frame of the current node
 * is counted in `active`: 1 means that this activation is the outermost. */
TV_INLINE bool tv_visit_next(struct tv_visit *visit)
{
    const struct tv_call_tree *tree = visit->tree;
    uint32_t node = visit->first_child[visit->node];
    uint32_t left = visit->node;
    while (node == TV_NONE) {
        if (left == TV_ROOT_PATH)
            return false;
        if (tv_call_tree_is_call(tree, left))
            visit->active[tree->frame[left]]--;
        node = visit->next[left];
        left = tree->parent[left];
    }
    visit->node = node;
    if (tv_call_tree_is_call(tree, node))
        visit->active[tree->frame[node]]++;
    return true;
}

/* Whether the current node, a call, is an activation with another of the same frame below it. */
TV_INLINE bool tv_visit_is_recursive(const struct tv_visit *visit)
{
    return visit->active[visit->tree->frame[visit->node]] > 1;
}

#endif
