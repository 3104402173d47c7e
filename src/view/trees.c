/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call trees of the selections that were asked for last: profile, relations and flame graph of
 * one selection are three questions.  Making one takes all processors, so that it is done for one
 * question at a time.
 */
#include <string.h>

#include "base/lock.h"
#include "base/memory.h"
#include "view/state.h"

/* A tree may have 48 bytes for each of millions of paths: that of the whole trace and two others.
 */
#define KEPT 3

struct kept {
    struct tv_call_tree *tree; /* NULL: free */
    tv_ns from, to;
    bool *wanted; /* [tracks] */
    uint64_t used;
};

struct tv_tree_cache {
    const struct tv_trace *trace;
    struct tv_tree_shape *shape;
    struct tv_lock lock;
    uint64_t clock;
    struct kept kept[KEPT];
};

struct tv_tree_cache *tv_trees_new(const struct tv_trace *trace)
{
    struct tv_tree_cache *cache = tv_alloc(1, sizeof *cache);
    cache->trace = trace;
    cache->shape = tv_tree_shape_new(trace->head, &trace->paths);
    tv_lock_init(&cache->lock);
    return cache;
}

void tv_trees_free(struct tv_tree_cache *cache)
{
    if (!cache)
        return;
    for (size_t i = 0; i < KEPT; i++) {
        tv_call_tree_free(cache->kept[i].tree);
        tv_free(cache->kept[i].wanted);
    }
    tv_tree_shape_free(cache->shape);
    tv_lock_release(&cache->lock);
    tv_free(cache);
}

static struct kept *find(struct tv_tree_cache *cache, tv_ns from, tv_ns to, const bool *wanted)
{
    for (size_t i = 0; i < KEPT; i++) {
        struct kept *kept = &cache->kept[i];
        if (kept->tree && kept->from == from && kept->to == to &&
            memcmp(kept->wanted, wanted, cache->trace->track_count * sizeof *wanted) == 0)
            return kept;
    }
    return NULL;
}

static struct kept *oldest(struct tv_tree_cache *cache)
{
    struct kept *oldest = &cache->kept[0];
    for (size_t i = 1; i < KEPT; i++)
        if (cache->kept[i].used < oldest->used)
            oldest = &cache->kept[i];
    return oldest;
}

const struct tv_call_tree *tv_trees_enter(struct tv_tree_cache *cache,
                                          const struct tv_selection *selection)
{
    bool *wanted = tv_selection_wanted(cache->trace, selection);
    tv_lock_enter(&cache->lock);
    struct kept *kept = find(cache, selection->from, selection->to, wanted);
    if (!kept) {
        kept = oldest(cache);
        tv_free(kept->wanted);
        if (!kept->tree)
            kept->tree = tv_call_tree_of_shape(cache->shape);
        tv_call_tree_count(kept->tree, cache->trace, selection, 0);
        kept->from = selection->from;
        kept->to = selection->to;
        kept->wanted = wanted;
        wanted = NULL;
    }
    tv_free(wanted);
    kept->used = ++cache->clock;
    return kept->tree;
}

void tv_trees_leave(struct tv_tree_cache *cache)
{
    tv_lock_leave(&cache->lock);
}
