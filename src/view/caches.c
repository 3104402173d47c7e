/* SPDX-License-Identifier: Apache-2.0 */
/*
 * caches.c - caches of a view: filtered views by the text of their filter, and
 * call trees by selection.
 *
 *     filter --> filtered view --> selection --> call tree --> compensated --> transformed
 *     a text     4 of them         from, to,     whole, last   less            changed
 *                                  tracks
 *
 * Filtered views: making one takes long, so it happens outside the lock of the
 * list, under a lock of its own.  Questions with the same filter wait for the
 * one that makes the view; other questions go on.  `askers` keeps a view in use
 * from being evicted: it is changed under the lock of the list alone, and a
 * view with askers is never freed.  The list is in the order of last use.
 *
 * Call trees: see below.  A tree belongs to one question until it leaves, so
 * its lock is held while the answer is written.
 */
#include <assert.h>
#include <string.h>

#include "analysis/calltree/derived_trees.h"
#include "analysis/calltree/tree_shape.h"
#include "analysis/subset/filter.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "base/workers.h"
#include "view/internal.h"

#define FILTERED_CACHED 4

/* A filter, and the view of what it leaves. */
struct tv_filtered {
    struct tv_filtered *next; /* used less recently */
    struct tv_bytes text;     /* owned */
    struct tv_filter filter;
    unsigned askers;
    struct tv_lock making;
    /* Written under `making`, immutable afterwards. */
    struct tv_trace *trace;
    struct tv_view *view;
};

struct tv_filtered_views {
    const struct tv_view *whole;
    struct tv_lock lock;
    struct tv_filtered *first;
};

struct tv_filtered_views *tv_filtered_views_new(const struct tv_view *whole)
{
    struct tv_filtered_views *views = tv_alloc(1, sizeof *views);
    views->whole = whole;
    tv_lock_init(&views->lock);
    return views;
}

/* Free a view that nobody uses. */
static void filtered_free(struct tv_filtered *filtered)
{
    assert(filtered->askers == 0);
    tv_view_free(filtered->view);
    tv_trace_free(filtered->trace);
    tv_filter_release(&filtered->filter);
    tv_lock_release(&filtered->making);
    tv_free((void *)(uintptr_t)filtered->text.data);
    tv_free(filtered);
}

void tv_filtered_views_free(struct tv_filtered_views *views)
{
    if (!views)
        return;
    for (struct tv_filtered *next, *filtered = views->first; filtered; filtered = next) {
        next = filtered->next;
        filtered_free(filtered);
    }
    tv_lock_release(&views->lock);
    tv_free(views);
}

/* ---- The list; call under its lock ---- */

/* Find the view of a text and move it to the front. */
static struct tv_filtered *filtered_find(struct tv_filtered_views *views, struct tv_bytes text)
{
    struct tv_filtered **link = &views->first, *found;
    while (*link && !tv_bytes_equal((*link)->text, text))
        link = &(*link)->next;
    found = *link;
    if (!found)
        return NULL;
    /* The order of the list is that of use, the latest first; evicting goes
     * from its end. */
    *link = found->next;
    found->next = views->first;
    views->first = found;
    found->askers++;
    return found;
}

/* Add a view to the front of the list; it is built later. */
static struct tv_filtered *filtered_add(struct tv_filtered_views *views, struct tv_bytes text,
                                        const struct tv_filter *filter)
{
    /* The view counts as asked for already, so that it is not evicted before it
     * is made. */
    struct tv_filtered *added = tv_alloc(1, sizeof *added);
    uint8_t *copy = tv_alloc(text.length + 1, 1);
    memcpy(copy, text.data, text.length);
    added->text = (struct tv_bytes){copy, text.length};
    added->filter = *filter;
    added->askers = 1;
    tv_lock_init(&added->making);
    added->next = views->first;
    views->first = added;
    return added;
}

/* Free the least recently used views that nobody is using. */
static void filtered_evict(struct tv_filtered_views *views)
{
    uint64_t slices = 0, most = views->whole->trace->slice_count;
    unsigned count = 0;
    struct tv_filtered **link = &views->first;
    while (*link) {
        struct tv_filtered *filtered = *link;
        /* The first view always stays: the page asks several questions about
         * one filter. */
        bool used = filtered->askers > 0;
        /* a view in use may not be built yet */
        uint64_t own = used || !filtered->trace ? 0 : filtered->trace->slice_count;
        if (!used && count > 0 && (count >= FILTERED_CACHED || slices + own > most)) {
            *link = filtered->next;
            filtered_free(filtered);
            continue;
        }
        count++;
        slices += own;
        link = &filtered->next;
    }
}

/* ---- Building a view ---- */

/* Order the tracks as in the whole trace.  A filter removes tracks, but does
 * not reorder them: both traces have the same tracks in the same order, except
 * those that were removed. */
static void filtered_order_tracks(struct tv_view *view, const struct tv_view *whole)
{
    uint32_t count = view->trace->track_count, at = 0, put = 0;
    uint32_t *places = tv_alloc(whole->trace->track_count, sizeof *places);
    struct tv_view_track *ordered = tv_alloc(count, sizeof *ordered);
    struct tv_view_track *by_number = tv_alloc(count, sizeof *by_number);
    for (uint32_t i = 0; i < count; i++)
        by_number[view->tracks[i].track] = view->tracks[i];
    for (uint32_t i = 0; i < whole->trace->track_count; i++) {
        bool kept =
            at < count && tv_filter_same_track(&whole->trace->tracks[i], &view->trace->tracks[at]);
        places[i] = kept ? at++ : TV_NONE;
    }
    for (uint32_t i = 0; i < whole->trace->track_count; i++)
        if (places[whole->tracks[i].track] != TV_NONE)
            ordered[put++] = by_number[places[whole->tracks[i].track]];
    assert(at == count && put == count);
    tv_free(places);
    tv_free(by_number);
    tv_free(view->tracks);
    view->tracks = ordered;
}

/* Methods keep their ranks, which determine colours. */
static void filtered_build(struct tv_filtered *filtered, const struct tv_view *whole)
{
    assert(!filtered->view);
    filtered->trace = tv_filter_trace(whole->trace, &filtered->filter);
    struct tv_view *view = tv_view_new(filtered->trace);
    view->whole = whole;
    if (whole->trace->head->frame_count > 0)
        memcpy(view->rank, whole->rank, whole->trace->head->frame_count * sizeof *view->rank);
    filtered_order_tracks(view, whole);
    filtered->view = view;
}

enum tv_status tv_filtered_enter(struct tv_filtered_views *views, struct tv_bytes text,
                                 struct tv_filtered **filtered, struct tv_error *err)
{
    struct tv_filter filter;
    size_t column = 0;
    tv_lock_enter(&views->lock);
    struct tv_filtered *found = filtered_find(views, text);
    if (!found) {
        enum tv_status status = tv_filter_parse(text, &filter, &column, err);
        if (status != TV_OK) {
            tv_lock_leave(&views->lock);
            err->offset = column;
            return status;
        }
        found = filtered_add(views, text, &filter);
        filtered_evict(views);
    }
    tv_lock_leave(&views->lock);
    /* The first asker makes the view; all others wait here for it. */
    tv_lock_enter(&found->making);
    if (!found->view)
        filtered_build(found, views->whole);
    tv_lock_leave(&found->making);
    *filtered = found;
    return TV_OK;
}

void tv_filtered_leave(struct tv_filtered_views *views, struct tv_filtered *filtered)
{
    tv_lock_enter(&views->lock);
    assert(filtered->askers > 0);
    filtered->askers--;
    filtered_evict(views);
    tv_lock_leave(&views->lock);
}

const struct tv_view *tv_filtered_view(const struct tv_filtered *filtered)
{
    assert(filtered->view && filtered->askers > 0);
    return filtered->view;
}

/* ---- Question: the same slice in another view ---- */

/* Write where a slice of `from` is in `to`. */
static void filtered_write_same(struct tv_out *out, const struct tv_trace *from,
                                const struct tv_trace *to, uint32_t row, uint32_t index)
{
    uint32_t other_row, other_index;
    if (tv_filter_same_slice(from, row, index, to, &other_row, &other_index))
        tv_out_format(out, "{\"slice\":[%u,%u]}", other_row, other_index);
    else
        tv_out_text(out, "{\"slice\":null}");
}

/* Answer api/same: where a slice is after the filter has changed, so that it
 * stays selected. */
enum tv_status tv_view_same(const struct tv_view *view, const struct tv_parameters *parameters,
                            struct tv_out *out, struct tv_error *err)
{
    const struct tv_view *whole = view->whole ? view->whole : view;
    struct tv_bytes was = tv_parameter_text(parameters, "was");
    struct tv_filtered *filtered = NULL;
    uint32_t row, index;
    if (was.length > 0 && tv_filtered_enter(whole->filtered, was, &filtered, err) != TV_OK)
        return TV_ERR_USAGE;
    const struct tv_trace *from = filtered ? filtered->trace : whole->trace;
    enum tv_status status = tv_parameter_slice(parameters, from, &row, &index, err);
    if (status == TV_OK)
        filtered_write_same(out, from, view->trace, row, index);
    if (filtered)
        tv_filtered_leave(whole->filtered, filtered);
    return status;
}

/* ---- Cached call trees ----
 *
 * Three trees are cached: that of the whole trace, which every page begins with and returns to;
 * that of the last selection, because its profile, relations and flame graph are three questions;
 * and a compensated copy of one of them.  No more are cached: a tree may take 40 bytes for each of
 * millions of paths, and counting one again takes less than a tenth of a second.  Counting uses all
 * processors, so it is done for one question at a time.
 */

struct cached_tree {
    struct tv_call_tree *tree; /* NULL: not counted yet */
    tv_ns from, to;
    bool *wanted; /* [tracks] */
};

struct tv_tree_cache {
    const struct tv_trace *trace;
    struct tv_tree_shape *shape;
    struct tv_lock lock;
    /* `less` is one of the others, compensated; `changed` is one of these, transformed */
    struct cached_tree whole, last, less, changed;
    struct tv_bytes changed_text; /* owned: the transforms of `changed` */
    tv_ns changed_cost;           /* subtracted from it before */
};

/* Note the selection that a cached tree was counted for. */
static void tree_cache_set_selection(struct tv_tree_cache *cache, struct cached_tree *cached,
                                     const struct tv_selection *selection)
{
    assert(cached->tree != NULL);
    tv_free(cached->wanted);
    cached->from = selection->from;
    cached->to = selection->to;
    cached->wanted = tv_selection_wanted(cache->trace, selection);
}

/* Count the tree of a selection, from the whole trace's tree if that is cheaper. */
static void tree_cache_count(struct tv_tree_cache *cache, struct cached_tree *cached,
                             const struct tv_selection *selection)
{
    if (!cached->tree)
        cached->tree = tv_call_tree_of_shape(cache->shape);
    const struct tv_call_tree *whole = cached == &cache->whole ? NULL : cache->whole.tree;
    tv_call_tree_count_within(cached->tree, cache->trace, selection, whole, 0);
    tree_cache_set_selection(cache, cached, selection);
}

/* The tree of the whole trace may be stored in the index file. */
static void tree_cache_load_whole(struct tv_tree_cache *cache)
{
    cache->whole.tree = tv_call_tree_load_stored(cache->shape, cache->trace);
    if (cache->whole.tree)
        tree_cache_set_selection(cache, &cache->whole, &TV_SELECT_ALL);
    else
        tree_cache_count(cache, &cache->whole, &TV_SELECT_ALL);
}

struct tv_tree_cache *tv_trees_new(const struct tv_trace *trace)
{
    struct tv_tree_cache *cache = tv_alloc(1, sizeof *cache);
    cache->trace = trace;
    cache->shape = tv_tree_shape_new(trace->head, &trace->paths);
    tv_lock_init(&cache->lock);
    tree_cache_load_whole(cache);
    return cache;
}

/* Compute the depth-first order and the recursive nodes; meanwhile allocate memory, which the
 * system is slow to provide. */
static void tree_cache_prepare(void *context, unsigned index)
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
    tv_workers_run(2, tree_cache_prepare, cache);
    tv_lock_leave(&cache->lock);
}

void tv_trees_store(const struct tv_tree_cache *cache, struct tv_sections_writer *writer)
{
    tv_call_tree_store(cache->whole.tree, writer);
}

/* Free a cached tree and the selection that it is of. */
static void tree_cache_release(struct cached_tree *cached)
{
    tv_call_tree_free(cached->tree);
    tv_free(cached->wanted);
}

void tv_trees_free(struct tv_tree_cache *cache)
{
    if (!cache)
        return;
    tree_cache_release(&cache->whole);
    tree_cache_release(&cache->last);
    tree_cache_release(&cache->less);
    tree_cache_release(&cache->changed);
    tv_free((void *)(uintptr_t)cache->changed_text.data);
    tv_tree_shape_free(cache->shape);
    tv_lock_release(&cache->lock);
    tv_free(cache);
}

/* Return true if a cached tree is that of a selection. */
static bool tree_cache_matches(const struct tv_tree_cache *cache, const struct cached_tree *cached,
                               const struct tv_selection *selection)
{
    if (!cached->tree || !cached->tree->counted || cached->from != selection->from ||
        cached->to != selection->to)
        return false;
    bool *wanted = tv_selection_wanted(cache->trace, selection);
    bool same = memcmp(cached->wanted, wanted, cache->trace->track_count * sizeof *wanted) == 0;
    tv_free(wanted);
    return same;
}

/* Return the tree of a selection; call under the lock. */
static const struct tv_call_tree *tree_cache_find(struct tv_tree_cache *cache,
                                                  const struct tv_selection *selection)
{
    if (tree_cache_matches(cache, &cache->whole, selection))
        return cache->whole.tree;
    if (!tree_cache_matches(cache, &cache->last, selection))
        tree_cache_count(cache, &cache->last, selection);
    return cache->last.tree;
}

const struct tv_call_tree *tv_trees_enter(struct tv_tree_cache *cache,
                                          const struct tv_selection *selection)
{
    tv_lock_enter(&cache->lock);
    return tree_cache_find(cache, selection);
}

/* Return the tree with `cost` subtracted for each clock reading; call under the lock.  The cost of
 * a trace never changes, so a cached tree is valid for its selection. */
static const struct tv_call_tree *tree_cache_find_compensated(struct tv_tree_cache *cache,
                                                              const struct tv_selection *selection,
                                                              tv_ns cost)
{
    if (cost == 0)
        return tree_cache_find(cache, selection);
    if (tree_cache_matches(cache, &cache->less, selection))
        return cache->less.tree;
    tv_call_tree_free(cache->less.tree);
    cache->less.tree = tv_call_tree_copy(tree_cache_find(cache, selection));
    tv_call_tree_compensate(cache->less.tree, cost);
    tree_cache_set_selection(cache, &cache->less, selection);
    return cache->less.tree;
}

/* Keep a transformed tree, and what it is. */
static void tree_cache_keep_changed(struct tv_tree_cache *cache, struct tv_call_tree *tree,
                                    const struct tv_selection *selection,
                                    const struct tv_tree_changes *changes)
{
    uint8_t *text = tv_alloc(changes->text.length + 1, 1);
    memcpy(text, changes->text.data, changes->text.length);
    tv_free((void *)(uintptr_t)cache->changed_text.data);
    cache->changed_text = (struct tv_bytes){text, changes->text.length};
    cache->changed_cost = changes->cost;
    tv_call_tree_free(cache->changed.tree);
    cache->changed.tree = tree;
    tree->counted = true;
    tree_cache_set_selection(cache, &cache->changed, selection);
}

/* Changes are applied in this order: the cost of recording is subtracted, then
 * the stacks are transformed. */
enum tv_status tv_trees_enter_changed(struct tv_tree_cache *cache,
                                      const struct tv_selection *selection,
                                      const struct tv_tree_changes *changes,
                                      const struct tv_call_tree **tree, struct tv_error *err)
{
    struct tv_call_tree *made;
    tv_lock_enter(&cache->lock);
    if (changes->transforms.count == 0) {
        *tree = tree_cache_find_compensated(cache, selection, changes->cost);
        return TV_OK;
    }
    if (changes->cost != cache->changed_cost ||
        !tv_bytes_equal(changes->text, cache->changed_text) ||
        !tree_cache_matches(cache, &cache->changed, selection)) {
        const struct tv_call_tree *from =
            tree_cache_find_compensated(cache, selection, changes->cost);
        enum tv_status status = tv_transforms_apply(&changes->transforms, from, &made, NULL, err);
        if (status != TV_OK) {
            tv_lock_leave(&cache->lock);
            return status;
        }
        tree_cache_keep_changed(cache, made, selection, changes);
    }
    *tree = cache->changed.tree;
    return TV_OK;
}

void tv_trees_leave(struct tv_tree_cache *cache)
{
    tv_lock_leave(&cache->lock);
}

enum tv_status tv_view_read_transforms(const struct tv_parameters *parameters,
                                       struct tv_tree_changes *changes, struct tv_error *err)
{
    changes->cost = 0;
    changes->text = tv_parameter_text(parameters, "transforms");
    return tv_transforms_parse(changes->text, &changes->transforms, err);
}

enum tv_status tv_view_read_changes(const struct tv_view *view,
                                    const struct tv_parameters *parameters,
                                    struct tv_tree_changes *changes, struct tv_error *err)
{
    bool on;
    enum tv_status status = tv_view_read_transforms(parameters, changes, err);
    if (status == TV_OK)
        status = tv_parameter_switch(parameters, "compensate", &on, err);
    if (status != TV_OK || !on)
        return status;
    return tv_compensation_find(view->trace->head, &changes->cost, err);
}

struct tv_parameter_bounds tv_view_frame_bounds(const struct tv_view *view,
                                                const struct tv_tree_changes *changes)
{
    int64_t count = view->trace->head->frame_count;
    return (struct tv_parameter_bounds){0, count + tv_transforms_frames(&changes->transforms) - 1};
}

enum tv_status tv_view_transform_tree(const struct tv_tree_changes *changes,
                                      struct tv_call_tree **tree, struct tv_error *err)
{
    struct tv_call_tree *changed;
    if (changes->transforms.count == 0)
        return TV_OK;
    enum tv_status status = tv_transforms_apply(&changes->transforms, *tree, &changed, NULL, err);
    tv_call_tree_free(*tree);
    *tree = status == TV_OK ? changed : NULL;
    return status;
}
