/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree is an array of nodes with an open-addressing hash table over (parent, frame).
 *
 *   nodes    [root][a][b][c]...        parent, frame, costs: two nodes per cache line
 *   hashes   [    ][ ][ ][ ]...        hash of the whole path, computed from the parent's hash
 *   places   [.. {hash, node} ..]      slot = hash & mask, linear probing
 *
 * Because a path's hash follows from its parent's hash, tables grow and trees merge without
 * comparing frames again, and the predictor computes hashes before any node is touched.
 */
#include "analysis/calltree/path_builder.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

#define FIRST_NODES ((size_t)1 << 9)

/* Nodes to look ahead when prefetching places. */
#define AHEAD 16u

/* Copy a table into a larger one. */
static void *path_builder_grow_table(void *table, size_t size, size_t before, size_t after)
{
    void *grown = tv_pages_alloc(tv_size_mul(after, size));
    if (before > 0) {
        memcpy(grown, table, before * size);
        tv_pages_free(table, before * size);
    }
    return grown;
}

/* Grow four-fold: untouched pages take no memory, but copied ones do. */
static TV_NOINLINE void path_builder_grow_nodes(struct tv_path_builder *builder)
{
    size_t before = builder->capacity, after = before ? tv_size_mul(before, 4) : FIRST_NODES;
    if (before > TV_NONE / 2)
        tv_memory_exhausted();
    if (after > TV_NONE)
        after = TV_NONE;
    builder->nodes = path_builder_grow_table(builder->nodes, sizeof *builder->nodes, before, after);
    builder->hashes =
        path_builder_grow_table(builder->hashes, sizeof *builder->hashes, before, after);
    builder->capacity = after;
}

/* Double the places.  Old places in order fall into two ascending sequences of new ones, so this
 * runs sequentially in memory. */
static TV_NOINLINE void path_builder_grow_places(struct tv_path_builder *builder)
{
    assert(!builder->places || (builder->mask & (builder->mask + 1)) == 0);
    struct tv_path_place *old = builder->places;
    size_t before = old ? builder->mask + 1 : 0, after = before ? before * 2 : 2 * FIRST_NODES;
    builder->places = tv_pages_alloc(tv_size_mul(after, sizeof *old));
    builder->mask = after - 1;
    for (size_t i = 0; i < before; i++)
        if (old[i].node != 0)
            tv_path_place_put(builder->places, builder->mask, old[i]);
    if (old)
        tv_pages_free(old, before * sizeof *old);
}

static void path_builder_add_root(struct tv_path_builder *builder)
{
    builder->nodes[TV_ROOT_PATH] = (struct tv_path_builder_node){.frame = TV_NONE};
    builder->hashes[TV_ROOT_PATH] = TV_ROOT_HASH;
    builder->count = 1;
}

void tv_path_builder_init(struct tv_path_builder *builder)
{
    memset(builder, 0, sizeof *builder);
    path_builder_grow_nodes(builder);
    path_builder_grow_places(builder);
    path_builder_add_root(builder);
}

void tv_path_builder_reset(struct tv_path_builder *builder)
{
    assert(builder->nodes && builder->places);
    uint32_t used = 0;
    for (uint32_t i = 0; i < builder->count; i++) {
        struct tv_path_builder_node *node = &builder->nodes[i];
        used += node->calls > 0;
        node->calls = 0;
        node->wall = node->cpu = 0;
    }
    if (used >= builder->count / 2)
        return;
    memset(builder->places, 0, (builder->mask + 1) * sizeof *builder->places);
    path_builder_add_root(builder);
}

void tv_path_builder_finish(struct tv_path_builder *builder)
{
    if (builder->hashes) {
        tv_pages_free(builder->hashes, builder->capacity * sizeof *builder->hashes);
        tv_pages_free(builder->places, (builder->mask + 1) * sizeof *builder->places);
    }
    builder->hashes = NULL;
    builder->places = NULL;
}

void tv_path_builder_release(struct tv_path_builder *builder)
{
    tv_path_builder_finish(builder);
    if (builder->nodes)
        tv_pages_free(builder->nodes, builder->capacity * sizeof *builder->nodes);
    memset(builder, 0, sizeof *builder);
}

/* Append a node. */
static uint32_t path_builder_append(struct tv_path_builder *builder, uint32_t parent,
                                    uint32_t frame, uint32_t hash)
{
    assert(parent < builder->count);
    if (TV_UNLIKELY(builder->count == builder->capacity))
        path_builder_grow_nodes(builder);
    builder->nodes[builder->count] =
        (struct tv_path_builder_node){.parent = parent, .frame = frame};
    builder->hashes[builder->count] = hash;
    return builder->count++;
}

/* Return the node, or 0; *at is its place, or where to insert it. */
TV_INLINE uint32_t path_builder_find(const struct tv_path_builder *builder, uint32_t parent,
                                     uint32_t frame, uint32_t hash, size_t *at)
{
    for (*at = hash & builder->mask; builder->places[*at].node != 0;
         *at = (*at + 1) & builder->mask) {
        struct tv_path_place place = builder->places[*at];
        const struct tv_path_builder_node *node = &builder->nodes[place.node];
        if (place.hash == hash && node->parent == parent && node->frame == frame)
            return place.node;
    }
    return 0;
}

/* Return the node of a path, a new one if needed. */
TV_INLINE uint32_t path_builder_find_or_add(struct tv_path_builder *builder, uint32_t parent,
                                            uint32_t frame, uint32_t hash)
{
    size_t at;
    if (TV_UNLIKELY((size_t)builder->count * 2 > builder->mask))
        path_builder_grow_places(builder);
    uint32_t node = path_builder_find(builder, parent, frame, hash, &at);
    if (node == 0) {
        node = path_builder_append(builder, parent, frame, hash);
        builder->places[at] = (struct tv_path_place){hash, node};
    }
    return node;
}

TV_NOINLINE uint32_t tv_path_builder_child(struct tv_path_builder *builder, uint32_t parent,
                                           uint32_t frame)
{
    return path_builder_find_or_add(builder, parent, frame,
                                    tv_path_hash(builder->hashes[parent], frame));
}

/* Add the costs of a node, in units of `tick`. */
static void path_builder_add_costs(struct tv_path_builder_node *to,
                                   const struct tv_path_builder_node *from, int64_t tick)
{
    to->calls += from->calls;
    tv_time_add(&to->wall, tv_time_times(from->wall, tick));
    tv_time_add(&to->cpu, tv_time_times(from->cpu, tick));
}

void tv_path_builder_merge(struct tv_path_builder *to, const struct tv_path_builder *from)
{
    uint32_t *map = tv_alloc(from->count, sizeof *map);
    for (uint32_t i = 1; i < from->count; i++) {
        const struct tv_path_builder_node *node = &from->nodes[i];
        if (i + AHEAD < from->count)
            TV_PREFETCH(&to->places[from->hashes[i + AHEAD] & to->mask]);
        map[i] = path_builder_find_or_add(to, map[node->parent], node->frame, from->hashes[i]);
        path_builder_add_costs(&to->nodes[map[i]], node, 1);
    }
    tv_free(map);
}

static bool prefix_tree_is_placeholder(const struct tv_prefix_tree *prefixes,
                                       const struct tv_path_builder_node *node)
{
    return node->frame >= prefixes->first;
}

/* Recompute the hashes as they are once the prefixes are in place. */
static void path_builder_rehash(struct tv_path_builder *builder,
                                const struct tv_prefix_tree *prefixes)
{
    for (uint32_t i = 1; i < builder->count; i++) {
        const struct tv_path_builder_node *node = &builder->nodes[i];
        if (prefix_tree_is_placeholder(prefixes, node))
            builder->hashes[i] =
                prefixes->paths.hashes[prefixes->node[node->frame - prefixes->first]];
        else
            builder->hashes[i] = tv_path_hash(builder->hashes[node->parent], node->frame);
    }
}

/* Put the prefixes in front of the tree's nodes, which move up by as many numbers; the hash table
 * holds the prefixes only. */
static void path_builder_insert_prefixes(struct tv_path_builder *builder,
                                         const struct tv_path_builder *prefixes)
{
    uint32_t more = prefixes->count - 1;
    while (builder->capacity - builder->count < more)
        path_builder_grow_nodes(builder);
    if (more > 0) {
        size_t count = builder->count - 1;
        memmove(&builder->nodes[1 + more], &builder->nodes[1], count * sizeof *builder->nodes);
        memmove(&builder->hashes[1 + more], &builder->hashes[1], count * sizeof *builder->hashes);
    }
    memset(builder->places, 0, (builder->mask + 1) * sizeof *builder->places);
    builder->count = 1;
    for (uint32_t i = 1; i <= more; i++)
        path_builder_find_or_add(builder, prefixes->nodes[i].parent, prefixes->nodes[i].frame,
                                 prefixes->hashes[i]);
}

/* The number of nodes never grows: each node moves to its old place or one before it. */
void tv_path_builder_attach(struct tv_path_builder *builder, const struct tv_prefix_tree *prefixes,
                            int64_t tick_ns)
{
    uint32_t count = builder->count;
    uint32_t *map = tv_alloc(count, sizeof *map);
    path_builder_rehash(builder, prefixes);
    path_builder_insert_prefixes(builder, &prefixes->paths);
    const uint32_t *hashes = builder->hashes + (prefixes->paths.count - 1);
    const struct tv_path_builder_node *nodes = builder->nodes + (prefixes->paths.count - 1);
    for (uint32_t i = 1; i < count; i++) {
        struct tv_path_builder_node node = nodes[i];
        if (i + AHEAD < count)
            TV_PREFETCH(&builder->places[hashes[i + AHEAD] & builder->mask]);
        if (prefix_tree_is_placeholder(prefixes, &node))
            map[i] = prefixes->node[node.frame - prefixes->first];
        else
            map[i] = path_builder_find_or_add(builder, map[node.parent], node.frame, hashes[i]);
        path_builder_add_costs(&builder->nodes[map[i]], &node, tick_ns);
    }
    tv_free(map);
}

void tv_path_builder_add_chunk(struct tv_path_builder *to, const struct tv_path_builder *chunk,
                               const struct tv_prefix_tree *prefixes, int64_t tick_ns,
                               uint32_t *places)
{
    uint32_t *prefix = tv_alloc(prefixes->paths.count, sizeof *prefix);
    for (uint32_t i = 1; i < prefixes->paths.count; i++) {
        const struct tv_path_builder_node *node = &prefixes->paths.nodes[i];
        prefix[i] = tv_path_builder_child(to, prefix[node->parent], node->frame);
    }
    for (uint32_t i = 1; i < chunk->count; i++) {
        const struct tv_path_builder_node *node = &chunk->nodes[i], *expected;
        uint32_t parent = places[node->parent], number = node->frame - prefixes->first;
        expected = &to->nodes[places[i] < to->count ? places[i] : TV_ROOT_PATH];
        if (prefix_tree_is_placeholder(prefixes, node))
            places[i] = number < prefixes->count ? prefix[prefixes->node[number]] : TV_ROOT_PATH;
        else if (node->calls == 0)
            continue;
        else if (places[i] == 0 || expected->parent != parent || expected->frame != node->frame)
            places[i] = tv_path_builder_child(to, parent, node->frame);
        path_builder_add_costs(&to->nodes[places[i]], node, tick_ns);
    }
    tv_free(prefix);
}

/* Reserve room for a stack of this depth, for what `events` events can push, and for one write
 * past it.  Of tens of thousands of threads, most have few events in a batch. */
static void path_predictor_reserve(struct tv_path_predictor_thread *thread, uint32_t depth,
                                   size_t events)
{
    size_t capacity = thread->capacity, needed = (size_t)depth + events + 2;
    thread->hashes = tv_array_reserve(thread->hashes, &capacity, needed, sizeof *thread->hashes);
    thread->capacity = (uint32_t)capacity;
}

/* Copy the thread's stack from the walk, if the last prediction was wrong. */
static TV_NOINLINE void path_predictor_begin_thread(struct tv_path_predictor *predictor,
                                                    struct tv_path_predictor_thread *thread,
                                                    const struct tv_walk_thread *t,
                                                    const struct tv_path_builder *builder)
{
    bool first = !thread->hashes;
    thread->batch = predictor->batch;
    path_predictor_reserve(thread, t->depth, 0);
    if (!t->seen) {
        thread->depth = 0;
        thread->hashes[0] = TV_ROOT_HASH;
        return;
    }
    const struct tv_open *bottom = &t->stack[-1];
    if (!first && thread->depth == t->depth &&
        thread->hashes[t->depth] == builder->hashes[bottom[t->depth].tag])
        return;
    thread->depth = t->depth;
    for (uint32_t i = 0; i <= t->depth; i++)
        thread->hashes[i] = builder->hashes[bottom[i].tag];
}

/* Consecutive events of one thread. */
struct event_run {
    const struct tv_event *events;
    size_t count;
};

static struct event_run path_predictor_next_run(const struct tv_batch *batch, size_t from)
{
    size_t end = from + 1;
    while (end < batch->count && batch->events[end].thread == batch->events[from].thread)
        end++;
    return (struct event_run){&batch->events[from], end - from};
}

/* Append the hashes of a run's entries after the first `count`.  Entry or exit is
 * unpredictable to the processor, so the loop has no branch for it. */
TV_INLINE size_t path_predictor_hash_run(struct tv_path_predictor *predictor,
                                         struct tv_path_predictor_thread *thread,
                                         const struct tv_path_builder *builder,
                                         const struct event_run *run, size_t count, bool fold)
{
    uint32_t *hashes = thread->hashes, depth = thread->depth;
    for (size_t i = 0; i < run->count; i++) {
        uint32_t frame = run->events[i].frame;
        uint32_t entry = run->events[i].action == TV_ENTER;
        if (fold && frame < predictor->fold_count)
            frame = predictor->fold[frame];
        uint32_t hash = tv_path_hash(hashes[depth], frame);
        hashes[depth + 1] = hash;
        TV_PREFETCH(&builder->places[hash & builder->mask & -(size_t)entry]);
        predictor->nodes[count] = hash;
        count += entry;
        depth += 2 * entry;
        depth -= depth > 0;
    }
    thread->depth = depth;
    return count;
}

/* Hash the entries of a batch, thread run by thread run. */
static size_t path_predictor_hash_entries(struct tv_path_predictor *predictor,
                                          const struct tv_walk *walk,
                                          const struct tv_path_builder *builder,
                                          const struct tv_batch *batch)
{
    size_t count = 0;
    struct event_run run;
    for (size_t i = 0; i < batch->count; i += run.count) {
        uint32_t number = batch->events[i].thread;
        struct tv_path_predictor_thread *thread = &predictor->threads[number];
        run = path_predictor_next_run(batch, i);
        if (walk->skip && walk->skip[number])
            continue;
        if (thread->batch != predictor->batch)
            path_predictor_begin_thread(predictor, thread, &walk->threads[number], builder);
        path_predictor_reserve(thread, thread->depth, run.count);
        if (predictor->fold)
            count = path_predictor_hash_run(predictor, thread, builder, &run, count, true);
        else
            count = path_predictor_hash_run(predictor, thread, builder, &run, count, false);
    }
    return count;
}

void tv_path_predictor_init(struct tv_path_predictor *predictor, uint32_t thread_count,
                            const uint32_t *fold, uint32_t fold_count)
{
    memset(predictor, 0, sizeof *predictor);
    predictor->thread_count = thread_count;
    predictor->threads = tv_alloc(thread_count, sizeof *predictor->threads);
    predictor->fold = fold;
    predictor->fold_count = fold_count;
}

size_t tv_path_predictor_run(struct tv_path_predictor *predictor, const struct tv_walk *walk,
                             const struct tv_path_builder *builder, const struct tv_batch *batch)
{
    assert(batch->count <= TV_BATCH_EVENTS);
    if (++predictor->batch == 0) /* 0 means "in no batch yet" */
        predictor->batch = 1;
    size_t count = path_predictor_hash_entries(predictor, walk, builder, batch);
    for (size_t i = 0; i < count; i++) {
        predictor->nodes[i] = tv_path_builder_guess(builder, predictor->nodes[i]);
        TV_PREFETCH(&builder->nodes[predictor->nodes[i]]);
    }
    predictor->nodes[count] = 0;
    return count;
}

void tv_path_predictor_release(struct tv_path_predictor *predictor)
{
    for (uint32_t i = 0; i < predictor->thread_count; i++)
        tv_free(predictor->threads[i].hashes);
    tv_free(predictor->threads);
    memset(predictor, 0, sizeof *predictor);
}
