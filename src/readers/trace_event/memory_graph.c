/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_graph.c - allocators, their attributes, ownership; memory_sizes.c computes.
 */
#include "readers/trace_event/memory_graph.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/trace_event/memory_nodes.h"

/* Paths deeper than this keep the rest as one name, so that a path of a million slashes has few
 * parents. */
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

/* The first slash from a place on, or the end. */
static size_t te_memory_path_end(struct tv_bytes path, size_t from)
{
    while (from < path.length && path.data[from] != '/')
        from++;
    return from;
}

static uint32_t te_memory_add_node(struct tv_te_memory_graph *graph, uint32_t process, uint32_t parent,
                         uint32_t path)
{
    uint32_t number = graph->node_count;
    struct tv_te_memory_node *node;
    graph->nodes = tv_array_reserve(graph->nodes, &graph->node_capacity, (size_t)number + 1,
                                    sizeof *graph->nodes);
    node = &graph->nodes[number];
    *node = (struct tv_te_memory_node){.process = process,
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
    struct tv_te_memory_node *node = &graph->nodes[allocator];
    /* An allocator told of twice (a global one by several processes) is weak when all say so. */
    node->weak = weak && (node->weak || !node->described);
    node->described = true;
    if (guid.length > 0)
        tv_map_set(&graph->by_guid, tv_interner_add(graph->strings, guid), allocator);
}

static uint64_t te_memory_attribute_key(uint32_t node, uint32_t name)
{
    return (uint64_t)node << 32 | name;
}

uint32_t tv_te_memory_attribute(struct tv_te_memory_graph *graph, uint32_t node, uint32_t name)
{
    return tv_map_find(&graph->by_name, te_memory_attribute_key(node, name));
}

uint32_t tv_te_memory_add_attribute(struct tv_te_memory_graph *graph, uint32_t node, uint32_t name,
                                    uint32_t units)
{
    uint32_t number = graph->attribute_count;
    struct tv_te_memory_node *owner = &graph->nodes[node];
    graph->attributes = tv_array_reserve(graph->attributes, &graph->attribute_capacity,
                                         (size_t)number + 1, sizeof *graph->attributes);
    graph->attributes[number] =
        (struct tv_te_memory_attribute){.name = name, .units = units, .next = TV_NONE};
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
    uint32_t number = tv_te_memory_attribute(graph, allocator, name);
    if (number == TV_NONE)
        number = tv_te_memory_add_attribute(graph, allocator, name, units);
    graph->attributes[number].units = units;
    graph->attributes[number].value = value;
}

void tv_te_memory_graph_own(struct tv_te_memory_graph *graph, struct tv_bytes source,
                            struct tv_bytes target, double importance)
{
    graph->links = tv_array_reserve(graph->links, &graph->link_capacity, graph->link_count + 1,
                                    sizeof *graph->links);
    graph->links[graph->link_count++] =
        (struct tv_te_memory_link){.source = tv_interner_add(graph->strings, source),
                                   .target = tv_interner_add(graph->strings, target),
                                   .importance = importance};
}

static bool te_memory_link_nodes(struct tv_te_memory_graph *graph, const struct tv_te_memory_link *link)
{
    uint32_t source = tv_map_find(&graph->by_guid, link->source);
    uint32_t target = tv_map_find(&graph->by_guid, link->target);
    if (source == TV_NONE || target == TV_NONE || source == target)
        return false;
    struct tv_te_memory_node *node = &graph->nodes[source];
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
        tv_te_memory_sizes(graph);
    return lost;
}

static void te_memory_visit_number(const struct tv_te_memory_node *node, uint32_t path,
                        const struct tv_te_memory_attribute *attribute,
                        void (*take)(void *context, const struct tv_te_memory_number *number),
                        void *context)
{
    struct tv_te_memory_number number = {node->process, path, attribute->name, attribute->units,
                                         attribute->value};
    take(context, &number);
}

/* What a node has beyond its leaves. */
static void te_memory_visit_unspecified(const struct tv_te_memory_graph *graph, const struct tv_te_memory_node *node,
                      void (*take)(void *context, const struct tv_te_memory_number *number),
                      void *context)
{
    struct tv_te_memory_attribute size = {graph->size, graph->bytes, TV_NONE, false, node->rest};
    struct tv_te_memory_attribute effective = {graph->effective_size, graph->bytes, TV_NONE, false,
                                               node->rest * node->owned_share * node->owning_share};
    te_memory_visit_number(node, node->rest_path, &size, take, context);
    te_memory_visit_number(node, node->rest_path, &effective, take, context);
}

void tv_te_memory_graph_visit(const struct tv_te_memory_graph *graph,
                             void (*take)(void *context, const struct tv_te_memory_number *number),
                             void *context)
{
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct tv_te_memory_node *node = &graph->nodes[i];
        if (node->weak)
            continue;
        for (uint32_t a = node->first_attribute; a != TV_NONE; a = graph->attributes[a].next)
            te_memory_visit_number(node, node->path, &graph->attributes[a], take, context);
        if (node->rest > 0)
            te_memory_visit_unspecified(graph, node, take, context);
    }
}
