/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_graph.c - allocators, their attributes and ownership, and the sizes that follow
 * (trace-event.md section 3.11).
 *
 *     process 1  malloc ---------- malloc/objects
 *                cc  --owns--------------.
 *     global     shared_memory  <--------'   an owner's memory is the owned one's as well
 *
 * Finishing a graph computes in passes:
 *
 *     weak            an allocator whose flag says so goes, with everything below it and its owners
 *     sums            a parent gets the sums of its children's attributes that it does not state
 *     size            at least the sum of the leaves below, and at least the largest owner; what is
 *                     left beyond the leaves becomes a child "<unspecified>"
 *     effective_size  the size less what owners are charged: the more important owner pays first,
 *                     equally important ones share
 *
 * So the effective sizes of all top allocators add up to the memory that there is.
 *
 * Invariant: a parent has a smaller number than its children.  The passes follow one order of the
 * nodes, or its reverse, in which children are before parents and owners before what they own.
 * Where ownership is circular, numbers decide.  No pass recurses, so depth is harmless.
 */
#include "readers/trace_event/join/memory_graph.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"

struct te_memory_node {
    uint32_t process, parent, path;
    uint32_t owns;     /* another node, or TV_NONE */
    double importance; /* of this ownership */
    uint32_t first_attribute, last_attribute;
    uint8_t depth;
    bool described, weak;
    /* Computed at the end: */
    int8_t shared_depth; /* of the nearest common ancestor of this node and the one it owns; -1:
                            none */
    bool has_children;   /* some are left */
    bool owned;          /* by a node that is left */
    bool sized;          /* `size` is valid */
    double size;
    double leaves;      /* sizes of the leaves below, each counted once */
    double rest;        /* of a node with children: size less leaves */
    uint32_t rest_path; /* "path/<unspecified>" */
    double largest_owner;
    double not_owning;                /* size below that owns nothing elsewhere */
    double not_owned;                 /* size below that nobody else owns */
    double owning_share, owned_share; /* fraction of the size that is charged here, with the
                                         fractions of ancestors */
    double effective;
};

struct te_memory_attribute {
    uint32_t name, units;
    uint32_t next;
    bool summed; /* over the children, not stated */
    double value;
};

struct te_memory_link {
    uint32_t source, target; /* guids */
    double importance;
};

struct tv_te_memory_graph {
    struct tv_interner *strings;
    uint32_t size, effective_size, bytes; /* strings */
    struct te_memory_node *nodes;
    struct te_memory_attribute *attributes;
    struct te_memory_link *links;
    uint32_t node_count, attribute_count;
    size_t link_count;
    size_t node_capacity, attribute_capacity, link_capacity;
    struct tv_map by_path; /* process and path -> node */
    struct tv_map by_guid; /* guid -> node */
    struct tv_map by_name; /* node and name -> attribute */
};

/* Deeper paths keep the rest as one name, so a path of a million slashes has few parents. */
#define DEPTH_MAX 64

struct tv_te_memory_graph *tv_te_memory_graph_new(struct tv_interner *strings)
{
    struct tv_te_memory_graph *graph = tv_alloc(1, sizeof *graph);
    graph->strings = strings;
    graph->size = tv_interner_add(strings, TV_BYTES("size"));
    graph->effective_size = tv_interner_add(strings, TV_BYTES("effective_size"));
    graph->bytes = tv_interner_add(strings, TV_BYTES("bytes"));
    tv_map_init(&graph->by_path);
    tv_map_init(&graph->by_guid);
    tv_map_init(&graph->by_name);
    return graph;
}

void tv_te_memory_graph_free(struct tv_te_memory_graph *graph)
{
    if (graph == NULL)
        return;
    tv_map_release(&graph->by_path);
    tv_map_release(&graph->by_guid);
    tv_map_release(&graph->by_name);
    tv_free(graph->nodes);
    tv_free(graph->attributes);
    tv_free(graph->links);
    tv_free(graph);
}

/* Return the first slash at or after `from`, or the end. */
static size_t te_memory_path_end(struct tv_bytes path, size_t from)
{
    while (from < path.length && path.data[from] != '/')
        from++;
    return from;
}

/* Add a node below its parent. */
static uint32_t te_memory_add_node(struct tv_te_memory_graph *graph, uint32_t process,
                                   uint32_t parent, uint32_t path)
{
    assert(parent == TV_NONE || parent < graph->node_count);
    uint32_t number = graph->node_count;
    struct te_memory_node *node;
    graph->nodes = tv_array_reserve(graph->nodes, &graph->node_capacity, (size_t)number + 1,
                                    sizeof *graph->nodes);
    node = &graph->nodes[number];
    *node = (struct te_memory_node){.process = process,
                                    .parent = parent,
                                    .path = path,
                                    .owns = TV_NONE,
                                    .first_attribute = TV_NONE,
                                    .last_attribute = TV_NONE};
    if (parent != TV_NONE)
        node->depth = (uint8_t)(graph->nodes[parent].depth + 1);
    graph->node_count++;
    return number;
}

uint32_t tv_te_memory_graph_add(struct tv_te_memory_graph *graph, uint32_t process,
                                struct tv_bytes path)
{
    uint32_t node = TV_NONE;
    size_t length = 0;
    for (unsigned depth = 1; length < path.length; depth++) {
        length = depth < DEPTH_MAX ? te_memory_path_end(path, length + (depth > 1)) : path.length;
        uint32_t name = tv_interner_add(graph->strings, (struct tv_bytes){path.data, length});
        uint64_t key = (uint64_t)process << 32 | name;
        uint32_t found = tv_map_find(&graph->by_path, key);
        if (found == TV_NONE) {
            found = te_memory_add_node(graph, process, node, name);
            tv_map_set(&graph->by_path, key, found);
        }
        node = found;
    }
    return node;
}

void tv_te_memory_graph_describe(struct tv_te_memory_graph *graph, uint32_t allocator,
                                 struct tv_bytes guid, bool weak)
{
    assert(allocator < graph->node_count);
    struct te_memory_node *node = &graph->nodes[allocator];
    /* A global allocator is described by several processes; it is weak when all say so. */
    node->weak = weak && (node->weak || !node->described);
    node->described = true;
    if (guid.length > 0)
        tv_map_set(&graph->by_guid, tv_interner_add(graph->strings, guid), allocator);
}

static uint64_t te_memory_attribute_key(uint32_t node, uint32_t name)
{
    return (uint64_t)node << 32 | name;
}

/* Return the attribute of a node, or TV_NONE. */
static uint32_t te_memory_find_attribute(struct tv_te_memory_graph *graph, uint32_t node,
                                         uint32_t name)
{
    return tv_map_find(&graph->by_name, te_memory_attribute_key(node, name));
}

/* Add an attribute of value 0. */
static uint32_t te_memory_add_attribute(struct tv_te_memory_graph *graph, uint32_t node,
                                        uint32_t name, uint32_t units)
{
    uint32_t number = graph->attribute_count;
    struct te_memory_node *owner = &graph->nodes[node];
    graph->attributes = tv_array_reserve(graph->attributes, &graph->attribute_capacity,
                                         (size_t)number + 1, sizeof *graph->attributes);
    graph->attributes[number] =
        (struct te_memory_attribute){.name = name, .units = units, .next = TV_NONE};
    if (owner->last_attribute == TV_NONE)
        owner->first_attribute = number;
    else
        graph->attributes[owner->last_attribute].next = number;
    owner->last_attribute = number;
    graph->attribute_count++;
    tv_map_set(&graph->by_name, te_memory_attribute_key(node, name), number);
    return number;
}

void tv_te_memory_graph_set(struct tv_te_memory_graph *graph, uint32_t allocator, uint32_t name,
                            uint32_t units, double value)
{
    assert(allocator < graph->node_count);
    uint32_t number = te_memory_find_attribute(graph, allocator, name);
    if (number == TV_NONE)
        number = te_memory_add_attribute(graph, allocator, name, units);
    graph->attributes[number].units = units;
    graph->attributes[number].value = value;
}

void tv_te_memory_graph_own(struct tv_te_memory_graph *graph, struct tv_bytes source,
                            struct tv_bytes target, double importance)
{
    graph->links = tv_array_reserve(graph->links, &graph->link_capacity, graph->link_count + 1,
                                    sizeof *graph->links);
    graph->links[graph->link_count++] =
        (struct te_memory_link){.source = tv_interner_add(graph->strings, source),
                                .target = tv_interner_add(graph->strings, target),
                                .importance = importance};
}

/* ---- Sizes ---- */

/* Limit of attributes copied to owners in one dump: a thousand owners of an allocator with a
 * thousand attributes would make a million. */
#define COPIES_MAX (1u << 18)

struct te_memory_sizing {
    struct tv_te_memory_graph *graph;
    struct te_memory_node *nodes;
    uint32_t count;
    uint32_t *order;
};

/* Return the node, or NULL for none and for a weak one. */
static struct te_memory_node *te_memory_live_node(struct te_memory_sizing *sizing, uint32_t node)
{
    return node == TV_NONE || sizing->nodes[node].weak ? NULL : &sizing->nodes[node];
}

/* Count for each node its children and owners, which the order puts before it. */
static void te_memory_count_dependents(const struct te_memory_sizing *sizing, uint32_t *waits)
{
    for (uint32_t i = 0; i < sizing->count; i++) {
        const struct te_memory_node *node = &sizing->nodes[i];
        if (node->parent != TV_NONE)
            waits[node->parent]++;
        if (node->owns != TV_NONE)
            waits[node->owns]++;
    }
}

/* Count down what a node waits for; with nothing left it is appended to the order (topological
 * sorting). Return how many are in the order. */
static uint32_t te_memory_release_node(uint32_t node, uint32_t *waits, uint32_t *order,
                                       uint32_t filled)
{
    if (node != TV_NONE && waits[node] > 0 && --waits[node] == 0)
        order[filled++] = node;
    return filled;
}

/* Sort the nodes topologically; what is left is in cycles and follows by number. */
static void te_memory_sort_nodes(struct te_memory_sizing *sizing)
{
    uint32_t *waits = tv_alloc(sizing->count, sizeof *waits);
    uint32_t filled = 0;
    te_memory_count_dependents(sizing, waits);
    for (uint32_t i = 0; i < sizing->count; i++)
        if (waits[i] == 0)
            sizing->order[filled++] = i;
    for (uint32_t done = 0; done < filled; done++) {
        const struct te_memory_node *node = &sizing->nodes[sizing->order[done]];
        filled = te_memory_release_node(node->parent, waits, sizing->order, filled);
        filled = te_memory_release_node(node->owns, waits, sizing->order, filled);
    }
    for (uint32_t i = sizing->count; filled < sizing->count && i-- > 0;)
        if (waits[i] > 0)
            sizing->order[filled++] = i;
    assert(filled == sizing->count);
    tv_free(waits);
}

/* An inferred parent with only weak children is weak.  Then everything below a weak node is weak,
 * and every owner of one. */
static void te_memory_mark_weak(struct te_memory_sizing *sizing)
{
    struct te_memory_node *nodes = sizing->nodes;
    for (uint32_t i = sizing->count; i-- > 0;) {
        if (!nodes[i].described && !nodes[i].has_children)
            nodes[i].weak = true; /* has_children: of strong ones, so far */
        if (!nodes[i].weak && nodes[i].parent != TV_NONE)
            nodes[nodes[i].parent].has_children = true;
    }
    for (uint32_t i = sizing->count; i-- > 0;) {
        struct te_memory_node *node = &nodes[sizing->order[i]];
        if ((node->parent != TV_NONE && nodes[node->parent].weak) ||
            (node->owns != TV_NONE && nodes[node->owns].weak))
            node->weak = true;
        node->has_children = false;
    }
}

/* Return the depth of the nearest common ancestor; -1: there is none. */
static int te_memory_common_depth(const struct te_memory_sizing *sizing, uint32_t a, uint32_t b)
{
    const struct te_memory_node *nodes = sizing->nodes;
    while (a != b && a != TV_NONE && b != TV_NONE) {
        if (nodes[a].depth >= nodes[b].depth)
            a = nodes[a].parent;
        else
            b = nodes[b].parent;
    }
    return a == b && a != TV_NONE ? nodes[a].depth : -1;
}

/* Mark parents with children, and owned nodes, among those that are left. */
static void te_memory_mark_links(struct te_memory_sizing *sizing)
{
    for (uint32_t i = 0; i < sizing->count; i++) {
        struct te_memory_node *node = &sizing->nodes[i];
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

/* True for attributes that the passes compute themselves. */
static bool te_memory_is_size(const struct tv_te_memory_graph *graph, uint32_t name)
{
    return name == graph->size || name == graph->effective_size;
}

/* Add an attribute to the sum of the parent, unless the parent states a value itself. */
static void te_memory_add_to_parent(struct tv_te_memory_graph *graph, uint32_t parent,
                                    struct te_memory_attribute attribute)
{
    uint32_t number = te_memory_find_attribute(graph, parent, attribute.name);
    if (number == TV_NONE) {
        number = te_memory_add_attribute(graph, parent, attribute.name, attribute.units);
        graph->attributes[number].summed = true;
    }
    if (graph->attributes[number].summed)
        graph->attributes[number].value += attribute.value;
}

/* Sum all attributes but the sizes, from the leaves to the roots. */
static void te_memory_sum_attributes(struct te_memory_sizing *sizing)
{
    struct tv_te_memory_graph *graph = sizing->graph;
    for (uint32_t i = sizing->count; i-- > 0;) {
        const struct te_memory_node *node = &sizing->nodes[i];
        if (node->weak || node->parent == TV_NONE)
            continue;
        for (uint32_t a = node->first_attribute; a != TV_NONE; a = graph->attributes[a].next)
            if (!te_memory_is_size(graph, graph->attributes[a].name))
                te_memory_add_to_parent(graph, node->parent, graph->attributes[a]);
    }
}

/* Give the owners of a global allocator the attributes that they do not state. */
static void te_memory_copy_attributes(struct te_memory_sizing *sizing)
{
    struct tv_te_memory_graph *graph = sizing->graph;
    unsigned left = COPIES_MAX;
    for (uint32_t i = 0; i < sizing->count; i++) {
        const struct te_memory_node *owned = te_memory_live_node(sizing, sizing->nodes[i].owns);
        if (sizing->nodes[i].weak || owned == NULL || owned->process != TV_NONE)
            continue;
        for (uint32_t a = owned->first_attribute; a != TV_NONE && left > 0; left--) {
            struct te_memory_attribute attribute = graph->attributes[a];
            if (!te_memory_is_size(graph, attribute.name) &&
                te_memory_find_attribute(graph, i, attribute.name) == TV_NONE)
                tv_te_memory_graph_set(graph, i, attribute.name, attribute.units, attribute.value);
            a = attribute.next;
        }
    }
}

/* Add the size of a leaf to the nodes above it.  Skip those that count it already, by way of what
 * this node, or one on the way up, owns. */
static void te_memory_count_leaf(struct te_memory_sizing *sizing, const struct te_memory_node *node,
                                 double size)
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

/* Return the string "path/<unspecified>". */
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

/* Compute the size of a node whose children and owners are done. */
static void te_memory_find_size(struct te_memory_sizing *sizing, uint32_t number)
{
    struct tv_te_memory_graph *graph = sizing->graph;
    struct te_memory_node *node = &sizing->nodes[number];
    uint32_t own = te_memory_find_attribute(graph, number, graph->size);
    if (own != TV_NONE)
        node->size = graph->attributes[own].value;
    node->sized |= own != TV_NONE;
    if (!node->sized)
        return;
    node->size = te_memory_larger(node->size, te_memory_larger(node->leaves, node->largest_owner));
    tv_te_memory_graph_set(graph, number, graph->size, graph->bytes, node->size);
    struct te_memory_node *owned = te_memory_live_node(sizing, node->owns);
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

/* Compute how much of a node's size owns nothing elsewhere, and how much nobody else owns. */
static void te_memory_find_uncharged(struct te_memory_sizing *sizing, struct te_memory_node *node)
{
    double own = node->has_children ? node->rest : node->size;
    node->not_owning += own;
    node->not_owned += own;
    struct te_memory_node *parent = te_memory_live_node(sizing, node->parent);
    if (parent == NULL)
        return;
    if (node->owns == TV_NONE)
        parent->not_owning += node->not_owning;
    parent->not_owned += node->owned ? node->size - node->largest_owner : node->not_owned;
}

/* Order owners by what they own, then by importance, the smallest claim first. */
static int te_memory_compare_owners(const void *left, const void *right)
{
    const struct te_memory_node *a = *(struct te_memory_node *const *)left;
    const struct te_memory_node *b = *(struct te_memory_node *const *)right;
    if (a->owns != b->owns)
        return a->owns < b->owns ? -1 : 1;
    if (a->importance != b->importance)
        return a->importance > b->importance ? -1 : 1;
    if (a->not_owning != b->not_owning)
        return a->not_owning < b->not_owning ? -1 : 1;
    return (a > b) - (a < b);
}

/* Charge owners of equal importance, the smallest first: each pays its share of what is not charged
 * yet.  Return what is charged now. */
static double te_memory_charge_equals(struct te_memory_node **owners, size_t count, double charged)
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

/* Charge all owners of one node. */
static void te_memory_charge_owners(struct te_memory_sizing *sizing, struct te_memory_node **owners,
                                    size_t count)
{
    assert(count > 0);
    struct te_memory_node *owned = &sizing->nodes[owners[0]->owns];
    double charged = 0;
    for (size_t first = 0, end; first < count; first = end) {
        end = first + 1;
        while (end < count && owners[end]->importance == owners[first]->importance)
            end++;
        charged = te_memory_charge_equals(owners + first, end - first, charged);
    }
    owned->owned_share = owned->not_owned > 0
                             ? te_memory_larger(owned->not_owned - charged, 0) / owned->not_owned
                             : 0;
}

/* Compute for all ownerships who pays which part. */
static void te_memory_find_shares(struct te_memory_sizing *sizing)
{
    struct te_memory_node **owners = tv_alloc(sizing->count, sizeof(struct te_memory_node *));
    size_t count = 0;
    for (uint32_t i = 0; i < sizing->count; i++)
        if (!sizing->nodes[i].weak && sizing->nodes[i].sized && sizing->nodes[i].owns != TV_NONE)
            owners[count++] = &sizing->nodes[i];
    qsort(owners, count, sizeof(struct te_memory_node *), te_memory_compare_owners);
    for (size_t first = 0, end; first < count; first = end) {
        end = first + 1;
        while (end < count && owners[end]->owns == owners[first]->owns)
            end++;
        te_memory_charge_owners(sizing, owners + first, end - first);
    }
    tv_free(owners);
}

/* Multiply the shares by those of parents and of owned nodes. */
static void te_memory_spread_shares(struct te_memory_sizing *sizing, struct te_memory_node *node)
{
    const struct te_memory_node *parent = te_memory_live_node(sizing, node->parent);
    const struct te_memory_node *owned = te_memory_live_node(sizing, node->owns);
    if (parent != NULL)
        node->owned_share *= parent->owned_share;
    if (owned != NULL)
        node->owning_share *= owned->owning_share;
    else if (parent != NULL)
        node->owning_share = parent->owning_share;
}

/* Compute the effective size of a node and add it to its parent. */
static void te_memory_find_effective(struct te_memory_sizing *sizing, uint32_t number)
{
    struct tv_te_memory_graph *graph = sizing->graph;
    struct te_memory_node *node = &sizing->nodes[number];
    struct te_memory_node *parent = te_memory_live_node(sizing, node->parent);
    double own = node->has_children ? node->rest : node->size;
    node->effective += own * node->owned_share * node->owning_share;
    tv_te_memory_graph_set(graph, number, graph->effective_size, graph->bytes, node->effective);
    if (parent != NULL)
        parent->effective += node->effective;
}

/* Run all passes; each needs the results of the one before. */
static void te_memory_compute_sizes(struct tv_te_memory_graph *graph)
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

/* ---- Finishing ---- */

/* Resolve an ownership; false: it is ignored. */
static bool te_memory_link_nodes(struct tv_te_memory_graph *graph,
                                 const struct te_memory_link *link)
{
    uint32_t source = tv_map_find(&graph->by_guid, link->source);
    uint32_t target = tv_map_find(&graph->by_guid, link->target);
    if (source == TV_NONE || target == TV_NONE || source == target)
        return false;
    struct te_memory_node *node = &graph->nodes[source];
    if (node->owns != TV_NONE)
        return node->owns == target;
    node->owns = target;
    node->importance = link->importance;
    return true;
}

size_t tv_te_memory_graph_finish(struct tv_te_memory_graph *graph)
{
    size_t lost = 0;
    for (size_t i = 0; i < graph->link_count; i++)
        lost += !te_memory_link_nodes(graph, &graph->links[i]);
    if (graph->node_count > 0)
        te_memory_compute_sizes(graph);
    return lost;
}

static void te_memory_visit_number(
    const struct te_memory_node *node, uint32_t path, const struct te_memory_attribute *attribute,
    void (*take)(void *context, const struct tv_te_memory_number *number), void *context)
{
    struct tv_te_memory_number number = {node->process, path, attribute->name, attribute->units,
                                         attribute->value};
    take(context, &number);
}

/* Visit what a node has beyond its leaves. */
static void te_memory_visit_unspecified(
    const struct tv_te_memory_graph *graph, const struct te_memory_node *node,
    void (*take)(void *context, const struct tv_te_memory_number *number), void *context)
{
    struct te_memory_attribute size = {graph->size, graph->bytes, TV_NONE, false, node->rest};
    struct te_memory_attribute effective = {graph->effective_size, graph->bytes, TV_NONE, false,
                                            node->rest * node->owned_share * node->owning_share};
    te_memory_visit_number(node, node->rest_path, &size, take, context);
    te_memory_visit_number(node, node->rest_path, &effective, take, context);
}

void tv_te_memory_graph_visit(const struct tv_te_memory_graph *graph,
                              void (*take)(void *context, const struct tv_te_memory_number *number),
                              void *context)
{
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct te_memory_node *node = &graph->nodes[i];
        if (node->weak)
            continue;
        for (uint32_t a = node->first_attribute; a != TV_NONE; a = graph->attributes[a].next)
            te_memory_visit_number(node, node->path, &graph->attributes[a], take, context);
        if (node->rest > 0)
            te_memory_visit_unspecified(graph, node, take, context);
    }
}
