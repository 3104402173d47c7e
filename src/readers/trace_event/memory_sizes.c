/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_sizes.c - the passes of memory_graph.h.
 *
 * All go over the nodes in one order, or back: children stand before their parents, owners before
 * what they own.  Where ownership goes in circles, by number.  So no pass recurses.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "readers/trace_event/memory_nodes.h"

/* Attributes that may be copied from what is owned to its owners, in one dump: a thousand owners of
 * an allocator with a thousand attributes would be a million. */
#define COPIES_MAX (1u << 18)

struct te_memory_sizing {
    struct tv_te_memory_graph *graph;
    struct tv_te_memory_node *nodes;
    uint32_t count;
    uint32_t *order;
};

/* The node, or NULL for none and for one that is gone. */
static struct tv_te_memory_node *te_memory_live_node(struct te_memory_sizing *sizing, uint32_t node)
{
    return node == TV_NONE || sizing->nodes[node].weak ? NULL : &sizing->nodes[node];
}

static void te_memory_count_dependents(const struct te_memory_sizing *sizing, uint32_t *waits)
{
    for (uint32_t i = 0; i < sizing->count; i++) {
        const struct tv_te_memory_node *node = &sizing->nodes[i];
        if (node->parent != TV_NONE)
            waits[node->parent]++;
        if (node->owns != TV_NONE)
            waits[node->owns]++;
    }
}

static uint32_t te_memory_release_node(uint32_t node, uint32_t *waits, uint32_t *order, uint32_t filled)
{
    if (node != TV_NONE && waits[node] > 0 && --waits[node] == 0)
        order[filled++] = node;
    return filled;
}

static void te_memory_sort_nodes(struct te_memory_sizing *sizing)
{
    uint32_t *waits = tv_alloc(sizing->count, sizeof *waits);
    uint32_t filled = 0;
    te_memory_count_dependents(sizing, waits);
    for (uint32_t i = 0; i < sizing->count; i++)
        if (waits[i] == 0)
            sizing->order[filled++] = i;
    for (uint32_t done = 0; done < filled; done++) {
        const struct tv_te_memory_node *node = &sizing->nodes[sizing->order[done]];
        filled = te_memory_release_node(node->parent, waits, sizing->order, filled);
        filled = te_memory_release_node(node->owns, waits, sizing->order, filled);
    }
    for (uint32_t i = sizing->count; filled < sizing->count && i-- > 0;)
        if (waits[i] > 0)
            sizing->order[filled++] = i;
    tv_free(waits);
}

/* An inferred parent of none but weak children is weak; then what lies under a weak one and what
 * owns one. */
static void te_memory_mark_weak(struct te_memory_sizing *sizing)
{
    struct tv_te_memory_node *nodes = sizing->nodes;
    for (uint32_t i = sizing->count; i-- > 0;) {
        if (!nodes[i].described && !nodes[i].has_children)
            nodes[i].weak = true; /* has_children: strong ones, so far */
        if (!nodes[i].weak && nodes[i].parent != TV_NONE)
            nodes[nodes[i].parent].has_children = true;
    }
    for (uint32_t i = sizing->count; i-- > 0;) {
        struct tv_te_memory_node *node = &nodes[sizing->order[i]];
        if ((node->parent != TV_NONE && nodes[node->parent].weak) ||
            (node->owns != TV_NONE && nodes[node->owns].weak))
            node->weak = true;
        node->has_children = false;
    }
}

/* The depth of the nearest common ancestor; -1: there is none. */
static int te_memory_common_depth(const struct te_memory_sizing *sizing, uint32_t a, uint32_t b)
{
    const struct tv_te_memory_node *nodes = sizing->nodes;
    while (a != b && a != TV_NONE && b != TV_NONE) {
        if (nodes[a].depth >= nodes[b].depth)
            a = nodes[a].parent;
        else
            b = nodes[b].parent;
    }
    return a == b && a != TV_NONE ? nodes[a].depth : -1;
}

static void te_memory_mark_links(struct te_memory_sizing *sizing)
{
    for (uint32_t i = 0; i < sizing->count; i++) {
        struct tv_te_memory_node *node = &sizing->nodes[i];
        node->shared_depth = -1;
        node->owned_share = node->owning_share = 1;
        if (node->weak)
            continue;
        if (node->parent != TV_NONE)
            sizing->nodes[node->parent].has_children = true;
        if (node->owns == TV_NONE)
            continue;
        sizing->nodes[node->owns].owned = true;
        node->shared_depth = (int8_t)te_memory_common_depth(sizing, i, node->owns);
    }
}

static bool te_memory_is_size(const struct tv_te_memory_graph *graph, uint32_t name)
{
    return name == graph->size || name == graph->effective_size;
}

static void te_memory_add_to_parent(struct tv_te_memory_graph *graph, uint32_t parent,
                          struct tv_te_memory_attribute attribute)
{
    uint32_t number = tv_te_memory_attribute(graph, parent, attribute.name);
    if (number == TV_NONE) {
        number = tv_te_memory_add_attribute(graph, parent, attribute.name, attribute.units);
        graph->attributes[number].summed = true;
    }
    if (graph->attributes[number].summed)
        graph->attributes[number].value += attribute.value;
}

static void te_memory_sum_attributes(struct te_memory_sizing *sizing)
{
    struct tv_te_memory_graph *graph = sizing->graph;
    for (uint32_t i = sizing->count; i-- > 0;) {
        const struct tv_te_memory_node *node = &sizing->nodes[i];
        if (node->weak || node->parent == TV_NONE)
            continue;
        for (uint32_t a = node->first_attribute; a != TV_NONE; a = graph->attributes[a].next)
            if (!te_memory_is_size(graph, graph->attributes[a].name))
                te_memory_add_to_parent(graph, node->parent, graph->attributes[a]);
    }
}

/* Gives owners of a global allocator what it tells and they do not. */
static void te_memory_copy_attributes(struct te_memory_sizing *sizing)
{
    struct tv_te_memory_graph *graph = sizing->graph;
    unsigned left = COPIES_MAX;
    for (uint32_t i = 0; i < sizing->count; i++) {
        const struct tv_te_memory_node *owned = te_memory_live_node(sizing, sizing->nodes[i].owns);
        if (sizing->nodes[i].weak || owned == NULL || owned->process != TV_NONE)
            continue;
        for (uint32_t a = owned->first_attribute; a != TV_NONE && left > 0; left--) {
            struct tv_te_memory_attribute attribute = graph->attributes[a];
            if (!te_memory_is_size(graph, attribute.name) &&
                tv_te_memory_attribute(graph, i, attribute.name) == TV_NONE)
                tv_te_memory_graph_set(graph, i, attribute.name, attribute.units, attribute.value);
            a = attribute.next;
        }
    }
}

/* Counts the size of a leaf for the nodes above it, but for those below which it is counted by way
 * of what it, or one on the way, owns. */
static void te_memory_count_leaf(struct te_memory_sizing *sizing, const struct tv_te_memory_node *node, double size)
{
    int shared = -1;
    while (node->parent != TV_NONE) {
        if (node->shared_depth > shared)
            shared = node->shared_depth;
        node = &sizing->nodes[node->parent];
        if (node->depth <= shared)
            return;
        sizing->nodes[node - sizing->nodes].leaves += size;
        sizing->nodes[node - sizing->nodes].sized = true;
    }
}

static double te_memory_larger(double a, double b)
{
    return a > b ? a : b;
}

static uint32_t te_memory_unspecified_path(struct tv_te_memory_graph *graph, uint32_t path)
{
    static const char suffix[] = "/<unspecified>";
    struct tv_bytes text = tv_interner_get(graph->strings, path);
    uint8_t *joined = tv_alloc(text.length + sizeof suffix - 1, 1);
    memcpy(joined, text.data, text.length);
    memcpy(joined + text.length, suffix, sizeof suffix - 1);
    uint32_t string =
        tv_interner_add(graph->strings, (struct tv_bytes){joined, text.length + sizeof suffix - 1});
    tv_free(joined);
    return string;
}

static void te_memory_find_size(struct te_memory_sizing *sizing, uint32_t number)
{
    struct tv_te_memory_graph *graph = sizing->graph;
    struct tv_te_memory_node *node = &sizing->nodes[number];
    uint32_t own = tv_te_memory_attribute(graph, number, graph->size);
    if (own != TV_NONE)
        node->size = graph->attributes[own].value;
    node->sized |= own != TV_NONE;
    if (!node->sized)
        return;
    node->size = te_memory_larger(node->size, te_memory_larger(node->leaves, node->largest_owner));
    tv_te_memory_graph_set(graph, number, graph->size, graph->bytes, node->size);
    struct tv_te_memory_node *owned = te_memory_live_node(sizing, node->owns);
    if (owned != NULL) {
        owned->largest_owner = te_memory_larger(owned->largest_owner, node->size);
        owned->sized = true;
    }
    if (!node->has_children) {
        te_memory_count_leaf(sizing, node, node->size);
    } else if (node->leaves < node->size) {
        node->rest = node->size - node->leaves;
        node->rest_path = te_memory_unspecified_path(graph, node->path);
        te_memory_count_leaf(sizing, node, node->rest);
    }
}

/* What of a node's size owns nothing elsewhere, and what nobody else owns. */
static void te_memory_find_uncharged(struct te_memory_sizing *sizing, struct tv_te_memory_node *node)
{
    double own = node->has_children ? node->rest : node->size;
    node->not_owning += own;
    node->not_owned += own;
    struct tv_te_memory_node *parent = te_memory_live_node(sizing, node->parent);
    if (parent == NULL)
        return;
    if (node->owns == TV_NONE)
        parent->not_owning += node->not_owning;
    parent->not_owned += node->owned ? node->size - node->largest_owner : node->not_owned;
}

static int te_memory_compare_owners(const void *left, const void *right)
{
    const struct tv_te_memory_node *a = *(struct tv_te_memory_node *const *)left;
    const struct tv_te_memory_node *b = *(struct tv_te_memory_node *const *)right;
    if (a->owns != b->owns)
        return a->owns < b->owns ? -1 : 1;
    if (a->importance != b->importance)
        return a->importance > b->importance ? -1 : 1;
    if (a->not_owning != b->not_owning)
        return a->not_owning < b->not_owning ? -1 : 1;
    return (a > b) - (a < b);
}

/* Charges the owners of one importance, the smallest first: each for its part of what is not
 * charged yet. Returns what is charged now. */
static double te_memory_charge_equals(struct tv_te_memory_node **owners, size_t count, double charged)
{
    double each = 0;
    for (size_t i = 0; i < count; i++) {
        double more = owners[i]->not_owning - charged;
        if (more > 0) {
            each += more / (double)(count - i);
            charged = owners[i]->not_owning;
        }
        owners[i]->owning_share = owners[i]->not_owning > 0 ? each / owners[i]->not_owning : 0;
    }
    return charged;
}

/* Owners of one node. */
static void te_memory_charge_owners(struct te_memory_sizing *sizing, struct tv_te_memory_node **owners, size_t count)
{
    struct tv_te_memory_node *owned = &sizing->nodes[owners[0]->owns];
    double charged = 0;
    for (size_t first = 0, end; first < count; first = end) {
        end = first + 1;
        while (end < count && owners[end]->importance == owners[first]->importance)
            end++;
        charged = te_memory_charge_equals(owners + first, end - first, charged);
    }
    owned->owned_share =
        owned->not_owned > 0 ? te_memory_larger(owned->not_owned - charged, 0) / owned->not_owned : 0;
}

static void te_memory_find_shares(struct te_memory_sizing *sizing)
{
    struct tv_te_memory_node **owners = tv_alloc(sizing->count, sizeof(struct tv_te_memory_node *));
    size_t count = 0;
    for (uint32_t i = 0; i < sizing->count; i++)
        if (!sizing->nodes[i].weak && sizing->nodes[i].sized && sizing->nodes[i].owns != TV_NONE)
            owners[count++] = &sizing->nodes[i];
    qsort(owners, count, sizeof(struct tv_te_memory_node *), te_memory_compare_owners);
    for (size_t first = 0, end; first < count; first = end) {
        end = first + 1;
        while (end < count && owners[end]->owns == owners[first]->owns)
            end++;
        te_memory_charge_owners(sizing, owners + first, end - first);
    }
    tv_free(owners);
}

/* Shares of parents and of what is owned count for those below. */
static void te_memory_spread_shares(struct te_memory_sizing *sizing, struct tv_te_memory_node *node)
{
    const struct tv_te_memory_node *parent = te_memory_live_node(sizing, node->parent);
    const struct tv_te_memory_node *owned = te_memory_live_node(sizing, node->owns);
    if (parent != NULL)
        node->owned_share *= parent->owned_share;
    if (owned != NULL)
        node->owning_share *= owned->owning_share;
    else if (parent != NULL)
        node->owning_share = parent->owning_share;
}

static void te_memory_find_effective(struct te_memory_sizing *sizing, uint32_t number)
{
    struct tv_te_memory_graph *graph = sizing->graph;
    struct tv_te_memory_node *node = &sizing->nodes[number];
    struct tv_te_memory_node *parent = te_memory_live_node(sizing, node->parent);
    double own = node->has_children ? node->rest : node->size;
    node->effective += own * node->owned_share * node->owning_share;
    tv_te_memory_graph_set(graph, number, graph->effective_size, graph->bytes, node->effective);
    if (parent != NULL)
        parent->effective += node->effective;
}

void tv_te_memory_sizes(struct tv_te_memory_graph *graph)
{
    struct te_memory_sizing sizing = {graph, graph->nodes, graph->node_count, NULL};
    sizing.order = tv_alloc(sizing.count, sizeof *sizing.order);
    te_memory_sort_nodes(&sizing);
    te_memory_mark_weak(&sizing);
    te_memory_mark_links(&sizing);
    te_memory_sum_attributes(&sizing);
    te_memory_copy_attributes(&sizing);
    for (uint32_t i = 0; i < sizing.count; i++)
        if (!graph->nodes[sizing.order[i]].weak)
            te_memory_find_size(&sizing, sizing.order[i]);
    for (uint32_t i = 0; i < sizing.count; i++)
        if (!graph->nodes[sizing.order[i]].weak && graph->nodes[sizing.order[i]].sized)
            te_memory_find_uncharged(&sizing, &graph->nodes[sizing.order[i]]);
    te_memory_find_shares(&sizing);
    for (uint32_t i = sizing.count; i-- > 0;)
        te_memory_spread_shares(&sizing, &graph->nodes[sizing.order[i]]);
    for (uint32_t i = 0; i < sizing.count; i++)
        if (!graph->nodes[sizing.order[i]].weak && graph->nodes[sizing.order[i]].sized)
            te_memory_find_effective(&sizing, sizing.order[i]);
    tv_free(sizing.order);
}
