/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ---- Call tree as indented text or JSON ----
 */
#ifndef TV_WRITERS_TREE_TEXT_H
#define TV_WRITERS_TREE_TEXT_H

#include "analysis/flame.h"
#include "base/out.h"

struct tv_tree_text_options {
    uint64_t depth; /* number of levels; 0: all */
    bool json;
    bool bottom_up; /* the layout is inverted, and has totals */
    /* Written above the text, and in each line of JSON. */
    struct tv_compensation compensation;
    unsigned clocks; /* of the tree */
};

/* The columns of the text that --columns can name. */
#define TV_TREE_COLUMNS "total|self|calls|level"

/* Write the layout's frames, depth first. */
void tv_tree_text_write(struct tv_out *out, const struct tv_head *head,
                        const struct tv_flame *flame, const struct tv_tree_text_options *options);

#endif
