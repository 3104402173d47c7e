/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collapsed.h - collapsed stacks, "root;caller;callee 1234", one line a call chain, and the tree
 * of names that they are written from.
 *
 * Lines are sorted bytewise; chains whose number is zero are omitted.  Lines of two traces have two
 * numbers, "root;caller;callee 1234 1300", of which one may be zero.
 */
#ifndef TV_WRITERS_STACKS_COLLAPSED_H
#define TV_WRITERS_STACKS_COLLAPSED_H

#include "analysis/calltree/call_tree.h"
#include "base/map.h"
#include "base/out.h"

/*
 * ---- Call tree of names ----
 *
 * Frames with the same "class.method" are one name (';' becomes ':'), and chains with the same
 * names are one node. Node 0 is the root; parents have lower numbers than their children.
 */

struct tv_name_tree {
    uint32_t count;
    uint32_t *parent; /* [count] number of the parent */
    uint32_t *name;   /* [count] number in `names` */
    int64_t *self;    /* [count] self time or weight, of the selected clock */
    int64_t *other;   /* [count] that of a second trace, a second number in the lines; or NULL */
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

/* Return the tree of all chains of two trees, whose `other` are the self times of the second. */
struct tv_name_tree *tv_name_tree_join(const struct tv_name_tree *a, const struct tv_name_tree *b);

/* Return the name of a node. */
static inline struct tv_bytes tv_name_tree_text(const struct tv_name_tree *tree, uint32_t node)
{
    return tv_interner_get(tree->names, tree->name[node]);
}

/* ---- Lines ---- */

/* The unit of the numbers. */
struct tv_collapsed_unit {
    int64_t ns;     /* nanoseconds of one */
    bool fractions; /* write "7.5", exactly; else round down */
};

/* Return the unit for a tree: microseconds of times; weights in thousandths as numbers with
 * fractions; other weights of samples as they are. */
struct tv_collapsed_unit tv_collapsed_unit_of(const struct tv_call_tree *tree);

/* The chains that are omitted because their self time is less than one unit. */
struct tv_collapsed_omitted {
    uint64_t chains;
    int64_t ns; /* self time of all of them */
};

/* Count the chains that tv_collapsed_write will omit. */
struct tv_collapsed_omitted tv_collapsed_find_omitted(const struct tv_name_tree *tree,
                                                      struct tv_collapsed_unit unit);

/* Return the number of bytes that tv_collapsed_write will write, and in *longest the length of
 * the longest line. The output may be as large as the square of the number of nodes; UINT64_MAX:
 * more than that. */
uint64_t tv_collapsed_measure(const struct tv_name_tree *tree, struct tv_collapsed_unit unit,
                              uint64_t *longest);

/* Write self times in that unit, on `workers` threads (0: one a processor). The names of the
 * tree must not contain ';'. */
void tv_collapsed_write(struct tv_out *out, const struct tv_name_tree *tree,
                        struct tv_collapsed_unit unit, unsigned workers);

#endif
