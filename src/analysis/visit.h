/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ---- Depth-first walk ----
 *
 * Visit the nodes of a call tree depth first, without recursion, and know which frames are on the
 * current path.
 */
#ifndef TV_ANALYSIS_VISIT_H
#define TV_ANALYSIS_VISIT_H

#include "analysis/calltree/call_tree.h"

struct tree_visit {
    const struct tv_call_tree *tree;
    uint32_t *first_child; /* [count] TV_NONE: none */
    uint32_t *next;        /* [count] the parent's next child, ascending; TV_NONE: the last */
    uint32_t *active;      /* [head->frame_count] how often a frame is on the path */
    uint32_t node;         /* current node; TV_ROOT_PATH before the first */
};

void tree_visit_init(struct tree_visit *visit, const struct tv_call_tree *tree);
void tree_visit_release(struct tree_visit *visit);

/* Move to the next node in depth-first order; false after the last.  `active` counts the current
 * node's frame: 1 means that this activation is the outermost. */
TV_INLINE bool tree_visit_next(struct tree_visit *visit)
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

/* Return true if the current node, a call, is inside another activation of its frame. */
TV_INLINE bool tree_visit_is_recursive(const struct tree_visit *visit)
{
    return visit->active[visit->tree->frame[visit->node]] > 1;
}

#endif
