/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap_graph.h - the graphs of Java heaps in a Perfetto trace: objects, their classes, and who
 * refers to whom.
 *
 *     roots --> object --reference, by a field--> object
 *                 |
 *               class --> superclass
 *
 * A graph is one dump of a process.  Numbers of objects, references, classes and nodes are those
 * in the arrays of their graph.
 *
 * Objects that can be reached are a tree, too: each hangs below the one that reaches it first,
 * breadth first from the roots.  Objects of one class below the same node are one node.
 */
#ifndef TV_READERS_PERFETTO_HEAP_GRAPH_H
#define TV_READERS_PERFETTO_HEAP_GRAPH_H

#include "base/map.h"
#include "model/trace.h"

struct tv_read_limit;

/* HeapGraphObject.heap_type and HeapGraphRoot.root_type when nothing tells them. */
#define TV_PF_NO_HEAP_TYPE 0xff
#define TV_PF_NO_ROOT 0xff

struct tv_pf_heap_object {
    uint64_t self_size;   /* bytes, without what it refers to */
    int64_t native_size;  /* bytes outside of the heap that are freed with it */
    uint32_t class_index; /* TV_NONE: it is referred to, but not described */
    uint32_t first_reference, reference_count;
    uint32_t distance; /* number of references from a root; TV_NONE: it cannot be reached */
    uint8_t root_type, heap_type;
    bool has_own_size, has_own_fields, is_described;
    uint32_t node;           /* TV_NONE: it cannot be reached */
    int64_t registered_size; /* size of an allocation that it registers; 0: none */
};

struct tv_pf_heap_reference {
    uint32_t owner, owned; /* objects; owned TV_NONE: null */
    uint32_t field;        /* text: "TYPE NAME"; 0: unknown */
};

struct tv_pf_heap_class {
    uint64_t size;                     /* size of an object that does not tell its own */
    uint64_t superclass_id;            /* in the file */
    uint64_t classloader_id;           /* the same */
    uint32_t superclass;               /* TV_NONE: none */
    uint32_t classloader;              /* an object; TV_NONE: none, or it is not there */
    uint32_t name, location;           /* texts */
    uint32_t first_field, field_count; /* ids of fields that refer to objects */
    uint8_t kind;
};

/* Objects of one class whose chains of owners have the same classes. */
struct tv_pf_heap_node {
    uint32_t parent; /* TV_NONE: roots.  Less than the node's own number */
    uint32_t class_index, depth;
    uint8_t root_type;
    uint64_t count, all_count;         /* all: with those below */
    uint64_t self_size, all_self_size; /* bytes */
    uint64_t native_size, all_native_size;
};

struct tv_pf_heap_graph {
    int64_t time; /* on the clock of its input */
    int64_t pid;
    TV_TABLE(tv_pf_heap_object) objects;
    TV_TABLE(tv_pf_heap_reference) references;
    TV_TABLE(tv_pf_heap_class) classes;
    TV_TABLE(tv_pf_heap_node) nodes;
};

typedef void tv_pf_take_heap_graph(void *context, struct tv_pf_heap_graph *graph);

/* Read the heap graphs of an input again, until `limit` (or NULL) stops.  `take` gets each one,
 * with texts in `texts`, and owns it then. */
enum tv_status tv_pf_visit_heap_graphs(const struct tv_input *input, struct tv_interner *texts,
                                       tv_pf_take_heap_graph *take, void *context,
                                       struct tv_read_limit *limit, struct tv_error *err);
void tv_pf_heap_graph_free(struct tv_pf_heap_graph *graph);

/* Return the names that Perfetto gives to numbers; NULL: unknown. */
const char *tv_pf_heap_root_name(unsigned type);
const char *tv_pf_heap_type_name(unsigned type);
const char *tv_pf_heap_kind_name(unsigned kind);

#endif
