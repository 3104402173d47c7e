/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two call trees, and one of them compensated: that of the whole trace, which every page begins
 * with and comes back to, and that of the selection asked for last, for its profile, relations and
 * flame graph are three questions. More are not kept: a tree may have 40 bytes for each of millions
 * of paths, and counting one anew takes less than a tenth of a second.  It takes all processors, so
 * it is done for one question at a time.
 */
#include <string.h>

#include "analysis/calltree/derived_trees.h"
#include "analysis/calltree/tree_shape.h"
#include "base/lock.h"
#include "base/memory.h"
#include "base/workers.h"
#include "view/state.h"

struct kept {
    struct tv_call_tree *tree; /* NULL: none yet */
    tv_ns from, to;
    bool *wanted; /* [tracks] */
};

struct tv_tree_cache {
    const struct tv_trace *trace;
    struct tv_tree_shape *shape;
    struct tv_lock lock;
    struct kept whole, last, less; /* the last is one of the others, compensated */
};

static void set_selection(struct tv_tree_cache *cache, struct kept *kept,
                          const struct tv_selection *selection)
{
    tv_free(kept->wanted);
    kept->from = selection->from;
    kept->to = selection->to;
    kept->wanted = tv_selection_wanted(cache->trace, selection);
}

static void count(struct tv_tree_cache *cache, struct kept *kept,
                  const struct tv_selection *selection)
{
    if (!kept->tree)
        kept->tree = tv_call_tree_of_shape(cache->shape);
    const struct tv_call_tree *whole = kept == &cache->whole ? NULL : cache->whole.tree;
    tv_call_tree_count_within(kept->tree, cache->trace, selection, whole, 0);
    set_selection(cache, kept, selection);
}

/* That of the whole trace may have been kept with it. */
static void make_whole(struct tv_tree_cache *cache)
{
    cache->whole.tree = tv_call_tree_load_stored(cache->shape, cache->trace);
    if (cache->whole.tree)
        set_selection(cache, &cache->whole, &TV_SELECT_ALL);
    else
        count(cache, &cache->whole, &TV_SELECT_ALL);
}

struct tv_tree_cache *tv_trees_new(const struct tv_trace *trace)
{
    struct tv_tree_cache *cache = tv_alloc(1, sizeof *cache);
    cache->trace = trace;
    cache->shape = tv_tree_shape_new(trace->head, &trace->paths);
    tv_lock_init(&cache->lock);
    make_whole(cache);
    return cache;
}

/* The order of the nodes and which of them are recursive; beside that, memory, which the system
 * takes its time to give. */
static void prepare(void *context, unsigned index)
{
    struct tv_tree_cache *cache = context;
    if (index == 0) {
        tv_tree_shape_order(cache->shape);
        tv_tree_shape_recursion(cache->shape);
    } else if (!cache->last.tree) {
        cache->last.tree = tv_call_tree_of_shape(cache->shape);
        tv_call_tree_touch(cache->last.tree);
    }
}

void tv_trees_prepare(struct tv_tree_cache *cache)
{
    tv_lock_enter(&cache->lock);
    tv_workers_run(2, prepare, cache);
    tv_lock_leave(&cache->lock);
}

void tv_trees_keep(const struct tv_tree_cache *cache, struct tv_sections_writer *writer)
{
    tv_call_tree_store(cache->whole.tree, writer);
}

static void release(struct kept *kept)
{
    tv_call_tree_free(kept->tree);
    tv_free(kept->wanted);
}

void tv_trees_free(struct tv_tree_cache *cache)
{
    if (!cache)
        return;
    release(&cache->whole);
    release(&cache->last);
    release(&cache->less);
    tv_tree_shape_free(cache->shape);
    tv_lock_release(&cache->lock);
    tv_free(cache);
}

static bool is_of(const struct tv_tree_cache *cache, const struct kept *kept,
                  const struct tv_selection *selection)
{
    if (!kept->tree || !kept->tree->counted || kept->from != selection->from ||
        kept->to != selection->to)
        return false;
    bool *wanted = tv_selection_wanted(cache->trace, selection);
    bool same = memcmp(kept->wanted, wanted, cache->trace->track_count * sizeof *wanted) == 0;
    tv_free(wanted);
    return same;
}

static const struct tv_call_tree *find_tree(struct tv_tree_cache *cache,
                                            const struct tv_selection *selection)
{
    if (is_of(cache, &cache->whole, selection))
        return cache->whole.tree;
    if (!is_of(cache, &cache->last, selection))
        count(cache, &cache->last, selection);
    return cache->last.tree;
}

const struct tv_call_tree *tv_trees_enter(struct tv_tree_cache *cache,
                                          const struct tv_selection *selection)
{
    tv_lock_enter(&cache->lock);
    return find_tree(cache, selection);
}

/* The cost of a trace does not change: the figures of the same selection are the same. */
const struct tv_call_tree *tv_trees_enter_compensated(struct tv_tree_cache *cache,
                                                      const struct tv_selection *selection,
                                                      tv_ns cost)
{
    if (cost == 0)
        return tv_trees_enter(cache, selection);
    tv_lock_enter(&cache->lock);
    if (is_of(cache, &cache->less, selection))
        return cache->less.tree;
    tv_call_tree_free(cache->less.tree);
    cache->less.tree = tv_call_tree_copy(find_tree(cache, selection));
    tv_call_tree_compensate(cache->less.tree, cost);
    set_selection(cache, &cache->less, selection);
    return cache->less.tree;
}

void tv_trees_leave(struct tv_tree_cache *cache)
{
    tv_lock_leave(&cache->lock);
}

enum tv_status tv_view_compensation(const struct tv_view *view,
                                    const struct tv_parameters *parameters, tv_ns *cost,
                                    struct tv_error *err)
{
    static const char *const switches[] = {"0", "1", NULL};
    unsigned on;
    *cost = 0;
    enum tv_status status = tv_parameter_choice(parameters, "compensate", switches, &on, err);
    if (status != TV_OK || !on)
        return status;
    return tv_compensation_find(view->trace->head, cost, err);
}
