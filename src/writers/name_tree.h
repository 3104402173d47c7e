/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ---- Call tree of names ----
 *
 * Frames with the same "class.method" are one name (';' becomes ':'), and chains with the same
 * names are one node. Node 0 is the root; parents have lower numbers than their children.
 */
#ifndef TV_WRITERS_NAME_TREE_H
#define TV_WRITERS_NAME_TREE_H

#include "analysis/call_tree.h"
#include "base/intern.h"

struct tv_name_tree {
    uint32_t count;
    uint32_t *parent; /* [count] number of the parent */
    uint32_t *name;   /* [count] number in `names` */
    int64_t *self;    /* [count] self time or weight, of the selected clock */
    struct tv_interner *names;
};

struct tv_name_tree_options {
    bool cpu;        /* use the CPU clock */
    uint32_t thread; /* only below this thread's node (in trees with a node for each thread), or
                      * TV_NONE */
};

struct tv_name_tree *tv_name_tree_new(const struct tv_call_tree *tree,
                                      const struct tv_name_tree_options *options);
void tv_name_tree_free(struct tv_name_tree *tree);

/* Return the name of a node. */
static inline struct tv_bytes tv_name_tree_text(const struct tv_name_tree *tree, uint32_t node)
{
    return tv_interner_get(tree->names, tree->name[node]);
}

#endif
