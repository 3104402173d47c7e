/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_nodes.h - the inside of memory_graph.h, shared with the computing of sizes.
 *
 * A parent has a smaller number than its children.
 */
#ifndef TV_READERS_TRACE_EVENT_MEMORY_NODES_H
#define TV_READERS_TRACE_EVENT_MEMORY_NODES_H

#include "base/map.h"
#include "readers/trace_event/memory_graph.h"

struct tv_te_memory_node {
    uint32_t process, parent, path;
    uint32_t owns;     /* another node; TV_NONE */
    double importance; /* of owning it */
    uint32_t first_attribute, last_attribute;
    uint8_t depth;
    bool described, weak;
    /* Found at the end: */
    int8_t shared_depth; /* of the nearest ancestor of this node and the one it owns; -1: none */
    bool has_children;   /* that are left */
    bool owned;          /* by a node that is left */
    bool sized;          /* `size` means something */
    double size;
    double leaves;      /* sizes of the leaves below that are not counted twice */
    double rest;        /* size less leaves, of one with children */
    uint32_t rest_path; /* "path/<unspecified>" */
    double largest_owner;
    double not_owning;                /* size below that owns nothing elsewhere */
    double not_owned;                 /* size below that nobody else owns */
    double owning_share, owned_share; /* of the size that is charged here: shares of ancestors in */
    double effective;
};

struct tv_te_memory_attribute {
    uint32_t name, units;
    uint32_t next;
    bool summed; /* over the children */
    double value;
};

struct tv_te_memory_link {
    uint32_t source, target; /* guids */
    double importance;
};

struct tv_te_memory_graph {
    struct tv_interner *strings;
    uint32_t size, effective_size, bytes; /* strings */
    struct tv_te_memory_node *nodes;
    struct tv_te_memory_attribute *attributes;
    struct tv_te_memory_link *links;
    uint32_t node_count, attribute_count;
    size_t link_count;
    size_t node_capacity, attribute_capacity, link_capacity;
    struct tv_map by_path; /* process and path -> node */
    struct tv_map by_guid; /* guid -> node */
    struct tv_map by_name; /* node and name -> attribute */
};

/* The attribute of a node, or TV_NONE; a new one of value 0. */
uint32_t tv_te_memory_attribute(struct tv_te_memory_graph *graph, uint32_t node, uint32_t name);
uint32_t tv_te_memory_add_attribute(struct tv_te_memory_graph *graph, uint32_t node, uint32_t name,
                                    uint32_t units);

/* Weakness, sums, sizes and effective sizes, when everything is there. */
void tv_te_memory_sizes(struct tv_te_memory_graph *graph);

#endif
