/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_tree.h - a call tree by the texts "class.method" (a ';' in them reads ':'): chains that read
 * the same are one.
 *
 * What collapsed stacks are written from.  Node 0 is the root; parents stand before their children.
 */
#ifndef TV_WRITERS_NAME_TREE_H
#define TV_WRITERS_NAME_TREE_H

#include "analysis/calltree/call_tree.h"
#include "base/intern.h"

struct tv_name_tree {
    uint32_t count;
    uint32_t *parent; /* [count] */
    uint32_t *name;   /* [count] number in `names` */
    int64_t *self;    /* [count] time or weight, of the one clock */
    struct tv_interner *names;
};

struct tv_name_tree_options {
    bool cpu;        /* which clock */
    uint32_t thread; /* only below this thread's node (trees with split threads), or TV_NONE */
};

struct tv_name_tree *tv_name_tree_new(const struct tv_call_tree *tree,
                                      const struct tv_name_tree_options *options);
void tv_name_tree_free(struct tv_name_tree *tree);

/* The text of a node. */
static inline struct tv_bytes tv_name_tree_text(const struct tv_name_tree *tree, uint32_t node)
{
    return tv_interner_get(tree->names, tree->name[node]);
}

#endif
