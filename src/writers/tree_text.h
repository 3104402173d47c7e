/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_text.h - a call tree as indented text or as JSON.
 */
#ifndef TV_WRITERS_TREE_TEXT_H
#define TV_WRITERS_TREE_TEXT_H

#include "analysis/flame/flame.h"
#include "base/out.h"

struct tv_tree_text_options {
    uint64_t depth; /* levels that are printed; 0: all */
    bool json;
    bool bottom_up; /* the layout is inverted, with totals */
    /* Of the tree: said above the text, and in each line of JSON. */
    struct tv_compensation compensation;
    unsigned clocks; /* of the tree */
};

/* The columns of the text that can be chosen. */
#define TV_TREE_COLUMNS "total|self|calls|level"

/* The layout's frames, depth first. */
void tv_tree_text_write(struct tv_out *out, const struct tv_head *head,
                        const struct tv_flame *flame, const struct tv_tree_text_options *options);

#endif
