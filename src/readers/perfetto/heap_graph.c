/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap_graph.c - read the graphs of Java heaps (heap_graph.h).
 *
 * A graph comes in several packets of one sequence; all but the last one say that it continues.
 * Names of fields and of places have numbers that are valid until then, and so have classes.
 *
 *     HeapGraph        1 pid  2 objects  4 names of fields  5 continued  7 roots  8 names of places
 *                      9 classes
 *     HeapGraphObject  1 id | 7 id minus the one before  2 class  3 size  4 fields  5 objects that
 *                      it refers to  6 base of these  8 bytes that it registers  9 kind of heap
 *     HeapGraphType    1 id  2 place  3 name  4 size of objects  5 superclass  6 fields  7 kind
 *                      8 class loader
 *
 * An object without a list of fields refers with those of its class, then with those of the
 * superclasses.  What can be reached, and how far it is from a root, is computed when a graph is
 * complete.
 */
#include "readers/perfetto/heap_graph.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/perfetto/perfetto.h"
#include "readers/perfetto/reading.h"

/* Classes of Java have fewer ancestors. */
#define MAX_SUPERCLASSES 64u

/* References of an object that are searched for a field: cleaners and their thunks have fewer. */
#define MAX_SEARCHED 64u

enum { HEAP_GRAPH = 56 };

/* HeapGraphType.kind: of classes whose references have no fields, and of references that do not
 * keep their referent. */
enum { NO_REFERENCES = 2, ARRAY = 4, WEAK_REFERENCE = 9, PHANTOM_REFERENCE = 11 };

struct pf_heap_id {
    uint64_t id;
};

/* A graph that is being read: one for each sequence. */
struct pf_heap {
    struct tv_pf_heap_graph *graph; /* NULL: none has begun */
    struct tv_map objects, classes, fields, places;
    TV_TABLE(pf_heap_id) field_ids; /* ids of the fields of classes */
    uint64_t last_object;
    uint8_t heap_type;
    bool has_packet; /* a packet of the graph was taken */
    struct tv_read_limit *limit;
    size_t counted; /* bytes of the graph that the limit knows */
};

/* The limit hears of the growth of a graph in steps of so many bytes. */
#define GROWTH_STEP ((size_t)64 << 10)

struct pf_heaps {
    struct tv_pf_reading *reading;
    struct tv_interner *texts;
    tv_pf_take_heap_graph *take;
    void *context;
    struct tv_read_limit *limit;
    struct tv_map index; /* sequence -> its place in `open` */
    TV_TABLE(pf_heap) open;
};

/* Numbers of the two lists of names below. */
enum { ZYGOTE = 2, BOOT_IMAGE = 3, ROOT_VM_INTERNAL = 13 };

const char *tv_pf_heap_root_name(unsigned type)
{
    static const char *const names[] = {
        "ROOT_UNKNOWN",           "ROOT_JNI_GLOBAL",      "ROOT_JNI_LOCAL",    "ROOT_JAVA_FRAME",
        "ROOT_NATIVE_STACK",      "ROOT_STICKY_CLASS",    "ROOT_THREAD_BLOCK", "ROOT_MONITOR_USED",
        "ROOT_THREAD_OBJECT",     "ROOT_INTERNED_STRING", "ROOT_FINALIZING",   "ROOT_DEBUGGER",
        "ROOT_REFERENCE_CLEANUP", "ROOT_VM_INTERNAL",     "ROOT_JNI_MONITOR",
    };
    return type < TV_COUNT(names) ? names[type] : NULL;
}

const char *tv_pf_heap_type_name(unsigned type)
{
    static const char *const names[] = {"HEAP_TYPE_UNKNOWN", "HEAP_TYPE_APP", "HEAP_TYPE_ZYGOTE",
                                        "HEAP_TYPE_BOOT_IMAGE"};
    return type < TV_COUNT(names) ? names[type] : NULL;
}

const char *tv_pf_heap_kind_name(unsigned kind)
{
    static const char *const names[] = {
        "KIND_UNKNOWN",
        "KIND_NORMAL",
        "KIND_NOREFERENCES",
        "KIND_STRING",
        "KIND_ARRAY",
        "KIND_CLASS",
        "KIND_CLASSLOADER",
        "KIND_DEXCACHE",
        "KIND_SOFT_REFERENCE",
        "KIND_WEAK_REFERENCE",
        "KIND_FINALIZER_REFERENCE",
        "KIND_PHANTOM_REFERENCE",
    };
    return kind < TV_COUNT(names) ? names[kind] : NULL;
}

void tv_pf_heap_graph_free(struct tv_pf_heap_graph *graph)
{
    if (!graph)
        return;
    tv_free(graph->objects.rows);
    tv_free(graph->references.rows);
    tv_free(graph->classes.rows);
    tv_free(graph->nodes.rows);
    tv_free(graph);
}

/* ---- Graphs that are being read ---- */

static size_t pf_heap_map_bytes(const struct tv_map *map)
{
    return map->mask == 0 ? 0 : (map->mask + 1) * (sizeof *map->keys + sizeof *map->values);
}

/* Return the memory of the rows of a graph, which stays when it is complete. */
static size_t pf_heap_row_bytes(const struct tv_pf_heap_graph *graph)
{
    return graph->objects.count * sizeof *graph->objects.rows +
           graph->references.count * sizeof *graph->references.rows +
           graph->classes.count * sizeof *graph->classes.rows +
           graph->nodes.count * sizeof *graph->nodes.rows;
}

/* Count what a graph takes by now; false: it is too much, or the pass must end.  A reference of one
 * or two bytes can be a new object with its row and its place in a hash table, so a single packet
 * may grow to many times its size. */
static bool pf_heap_is_within(struct pf_heap *heap)
{
    size_t bytes = pf_heap_row_bytes(heap->graph) + pf_heap_map_bytes(&heap->objects) +
                   pf_heap_map_bytes(&heap->classes) + pf_heap_map_bytes(&heap->fields) +
                   pf_heap_map_bytes(&heap->places) +
                   heap->field_ids.count * sizeof *heap->field_ids.rows;
    if (bytes >= heap->counted + GROWTH_STEP) {
        tv_read_limit_add(heap->limit, bytes - heap->counted);
        heap->counted = bytes;
    }
    return !tv_read_limit_stops(heap->limit);
}

static void pf_heap_begin(struct pf_heap *heap, const struct tv_pf_current *packet)
{
    heap->graph = tv_alloc(1, sizeof *heap->graph);
    heap->graph->time = packet->time;
    heap->last_object = 0;
    heap->has_packet = false;
    heap->heap_type = TV_PF_NO_HEAP_TYPE;
    tv_map_init(&heap->objects);
    tv_map_init(&heap->classes);
    tv_map_init(&heap->fields);
    tv_map_init(&heap->places);
}

/* Forget what belongs to the graph that was read. */
static void pf_heap_end(struct pf_heap *heap)
{
    size_t rows = pf_heap_row_bytes(heap->graph);
    if (rows > heap->counted)
        tv_read_limit_add(heap->limit, rows - heap->counted);
    else
        tv_read_limit_take_back(heap->limit, heap->counted - rows);
    heap->counted = 0;
    tv_map_release(&heap->objects);
    tv_map_release(&heap->classes);
    tv_map_release(&heap->fields);
    tv_map_release(&heap->places);
    tv_free(heap->field_ids.rows);
    memset(&heap->field_ids, 0, sizeof heap->field_ids);
    heap->graph = NULL;
}

/* Find the graph of the packet's sequence, or begin one. */
static struct pf_heap *pf_heaps_find(struct pf_heaps *heaps, const struct tv_pf_current *packet)
{
    uint32_t place = tv_map_find(&heaps->index, packet->sequence_id);
    if (place == TV_NONE) {
        place = (uint32_t)heaps->open.count;
        *tv_table_add(&heaps->open) = (struct pf_heap){.limit = heaps->limit};
        tv_map_set(&heaps->index, packet->sequence_id, place);
    }
    struct pf_heap *heap = &heaps->open.rows[place];
    if (!heap->graph)
        pf_heap_begin(heap, packet);
    return heap;
}

/* Return the number of the object with an id, which is made if it is new. */
static uint32_t pf_heap_object(struct pf_heap *heap, uint64_t id)
{
    uint32_t number = tv_map_find(&heap->objects, id);
    if (number != TV_NONE)
        return number;
    number = (uint32_t)heap->graph->objects.count;
    *tv_table_add(&heap->graph->objects) = (struct tv_pf_heap_object){
        .class_index = TV_NONE,
        .distance = TV_NONE,
        .node = TV_NONE,
        .root_type = TV_PF_NO_ROOT,
        .heap_type = TV_PF_NO_HEAP_TYPE,
    };
    tv_map_set(&heap->objects, id, number);
    return number;
}

/* Return the number of the class with an id; its description may follow. */
static uint32_t pf_heap_class(struct pf_heap *heap, uint64_t id)
{
    uint32_t number = tv_map_find(&heap->classes, id);
    if (number != TV_NONE)
        return number;
    number = (uint32_t)heap->graph->classes.count;
    *tv_table_add(&heap->graph->classes) = (struct tv_pf_heap_class){.superclass = TV_NONE};
    tv_map_set(&heap->classes, id, number);
    return number;
}

/* ---- Packets ---- */

/* A walk over the numbers of a repeated field, in one array or in several. */
struct pf_repeated {
    struct tv_pf_message message;
    struct tv_pf_numbers numbers;
    uint32_t field;
};

static struct pf_repeated pf_repeated_over(struct tv_bytes bytes, uint32_t field)
{
    return (struct pf_repeated){.message = tv_pf_message_over(bytes), .field = field};
}

static bool pf_repeated_next(struct pf_repeated *repeated, uint64_t *value)
{
    struct tv_protobuf_field field;
    while (!tv_pf_numbers_next(&repeated->numbers, value)) {
        do {
            if (!tv_pf_next(&repeated->message, &field))
                return false;
        } while (field.number != repeated->field);
        repeated->numbers = tv_pf_numbers_of(&field, 0);
    }
    return true;
}

/* Add the references of an object.  The ids of its fields, if it has any, stand beside them; they
 * become names when the graph is complete. */
static void pf_heap_add_references(struct pf_heap *heap, struct tv_bytes bytes, uint64_t base,
                                   uint32_t owner)
{
    struct pf_repeated ids = pf_repeated_over(bytes, 4), owned = pf_repeated_over(bytes, 5);
    uint64_t id, object;
    while (pf_heap_is_within(heap) && pf_repeated_next(&owned, &object)) {
        struct tv_pf_heap_reference reference = {
            .owner = owner,
            .owned = object == 0 ? TV_NONE : pf_heap_object(heap, object + base),
        };
        if (pf_repeated_next(&ids, &id)) {
            reference.field = (uint32_t)id;
            heap->graph->objects.rows[owner].has_own_fields = true;
        }
        *tv_table_add(&heap->graph->references) = reference;
        heap->graph->objects.rows[owner].reference_count++;
    }
}

/* Take an object.  It has its id, or the distance to the id of the object before; the kind of heap
 * stays that of the object before unless it is told. */
static void pf_heap_take_object(struct pf_heap *heap, struct tv_bytes bytes)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    uint64_t id = 0, base = 0, class_id = 0, size = 0;
    int64_t registered = 0;
    while (tv_pf_next(&message, &field))
        switch (field.number) {
        case 1:
            id = field.value;
            break;
        case 7:
            id = heap->last_object + field.value;
            break;
        case 2:
            class_id = field.value;
            break;
        case 3:
            size = field.value;
            break;
        case 6:
            base = field.value;
            break;
        case 8:
            registered = (int64_t)field.value;
            break;
        case 9:
            heap->heap_type = (uint8_t)(field.value < 0xff ? field.value : 0);
            break;
        default:
            break;
        }
    heap->last_object = id;
    uint32_t number = pf_heap_object(heap, id);
    if (heap->graph->objects.rows[number].is_described)
        return; /* told twice: the references of the first telling lie together */
    uint32_t class_index = pf_heap_class(heap, class_id);
    struct tv_pf_heap_object *object = &heap->graph->objects.rows[number];
    object->is_described = true;
    object->class_index = class_index;
    object->self_size = size;
    object->has_own_size = size > 0;
    object->registered_size = registered;
    object->heap_type = heap->heap_type;
    object->first_reference = (uint32_t)heap->graph->references.count;
    pf_heap_add_references(heap, bytes, base, number);
}

/* Take a class.  Numbers of its place and of its superclass become texts and rows when the graph is
 * complete, because their definitions may follow in a later packet. */
static void pf_heap_take_class(struct pf_heaps *heaps, struct pf_heap *heap, struct tv_bytes bytes)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    uint32_t number = pf_heap_class(heap, tv_pf_find(bytes, 1).value);
    struct tv_pf_heap_class class = {.superclass = TV_NONE};
    class.first_field = (uint32_t)heap->field_ids.count;
    while (tv_pf_next(&message, &field))
        if (field.number == 2) {
            class.location = (uint32_t)field.value; /* becomes a text later */
        } else if (field.number == 3) {
            class.name = tv_interner_add(heaps->texts, field.bytes);
        } else if (field.number == 4) {
            class.size = field.value;
        } else if (field.number == 5) {
            class.superclass_id = field.value;
        } else if (field.number == 6) {
            struct tv_pf_numbers ids = tv_pf_numbers_of(&field, 0);
            uint64_t id;
            while (pf_heap_is_within(heap) && tv_pf_numbers_next(&ids, &id))
                *tv_table_add(&heap->field_ids) = (struct pf_heap_id){id};
        } else if (field.number == 7) {
            class.kind = (uint8_t)(field.value < 0xff ? field.value : 0);
        } else if (field.number == 8) {
            class.classloader_id = field.value;
        }
    class.field_count = (uint32_t)heap->field_ids.count - class.first_field;
    heap->graph->classes.rows[number] = class;
}

static void pf_heap_take_root(struct pf_heap *heap, struct tv_bytes bytes)
{
    struct pf_repeated ids = pf_repeated_over(bytes, 1);
    uint64_t type = tv_pf_find(bytes, 2).value, id;
    while (pf_heap_is_within(heap) && pf_repeated_next(&ids, &id)) {
        uint32_t number = pf_heap_object(heap, id);
        struct tv_pf_heap_object *object = &heap->graph->objects.rows[number];
        if (object->root_type == TV_PF_NO_ROOT)
            object->root_type = (uint8_t)(type < TV_PF_NO_ROOT ? type : 0);
    }
}

/* Note a text of InternedString {1 id, 2 text}. */
static void pf_heap_take_name(struct pf_heaps *heaps, struct tv_map *names, struct tv_bytes bytes)
{
    tv_map_set(names, tv_pf_find(bytes, 1).value,
               tv_interner_add(heaps->texts, tv_pf_find(bytes, 2).bytes));
}

/* ---- Complete a graph ---- */

/* Return the superclass of a class. */
static uint32_t pf_heap_superclass(const struct pf_heap *heap, uint32_t class)
{
    uint64_t id = heap->graph->classes.rows[class].superclass_id;
    return id == 0 ? TV_NONE : tv_map_find(&heap->classes, id);
}

/* Return the text of a number in the file; the empty one if nothing names it. */
static uint32_t pf_heap_name(const struct tv_map *names, uint64_t id)
{
    uint32_t name = tv_map_find(names, id);
    return name == TV_NONE ? TV_EMPTY_STRING : name;
}

/* Give the references of an object the names of their fields: its own, or those of its class and
 * then of the superclasses. */
static void pf_heap_name_references(struct pf_heap *heap, const struct tv_pf_heap_object *object)
{
    struct tv_pf_heap_graph *graph = heap->graph;
    if (object->reference_count == 0)
        return;
    struct tv_pf_heap_reference *references = &graph->references.rows[object->first_reference];
    uint32_t class = object->class_index, field = 0, steps = 0;
    uint8_t kind = class == TV_NONE ? NO_REFERENCES : graph->classes.rows[class].kind;
    if (!object->has_own_fields && kind >= NO_REFERENCES && kind <= ARRAY)
        return;
    for (uint32_t i = 0; i < object->reference_count; i++) {
        if (object->has_own_fields) {
            references[i].field = pf_heap_name(&heap->fields, references[i].field);
            continue;
        }
        while (class != TV_NONE && field >= graph->classes.rows[class].field_count) {
            field = 0;
            class = ++steps < MAX_SUPERCLASSES ? graph->classes.rows[class].superclass : TV_NONE;
        }
        if (class == TV_NONE)
            return;
        uint32_t at = graph->classes.rows[class].first_field + field++;
        references[i].field = pf_heap_name(&heap->fields, heap->field_ids.rows[at].id);
    }
}

/* Return the object to which an object refers by a field; TV_NONE: none. */
static uint32_t pf_heap_referred(const struct pf_heaps *heaps, const struct tv_pf_heap_graph *graph,
                                 uint32_t object, const char *field)
{
    const struct tv_pf_heap_object *owner = &graph->objects.rows[object];
    for (uint32_t i = 0; i < owner->reference_count && i < MAX_SEARCHED; i++) {
        const struct tv_pf_heap_reference *reference =
            &graph->references.rows[owner->first_reference + i];
        if (tv_bytes_ends_with(tv_interner_get(heaps->texts, reference->field), tv_bytes_of(field)))
            return reference->owned;
    }
    return TV_NONE;
}

/* Add to an object what is registered as allocated with it outside of the heap:
 * cleaner --thunk--> thunk --this$0--> registry, and cleaner --referent--> object.  A cleaner whose
 * `next` is itself has run. */
static void pf_heap_add_native(const struct pf_heaps *heaps, struct tv_pf_heap_graph *graph,
                               uint32_t cleaner)
{
    uint32_t owner = pf_heap_referred(heaps, graph, cleaner, " java.lang.ref.Reference.referent");
    uint32_t thunk = pf_heap_referred(heaps, graph, cleaner, " sun.misc.Cleaner.thunk");
    uint32_t next = pf_heap_referred(heaps, graph, cleaner, " sun.misc.Cleaner.next");
    if (owner == TV_NONE || thunk == TV_NONE || next == cleaner)
        return;
    uint32_t registry = pf_heap_referred(
        heaps, graph, thunk, " libcore.util.NativeAllocationRegistry$CleanerThunk.this$0");
    int64_t *size = &graph->objects.rows[owner].native_size;
    if (registry != TV_NONE && graph->objects.rows[registry].registered_size > 0 &&
        *size <= INT64_MAX - graph->objects.rows[registry].registered_size)
        *size += graph->objects.rows[registry].registered_size;
}

/* Count an object at a node of the tree: below that of its owner, TV_NONE for a root. */
static void pf_heap_place(struct tv_pf_heap_graph *graph, struct tv_map *nodes, uint32_t owner,
                          struct tv_pf_heap_object *object)
{
    uint32_t parent = owner == TV_NONE ? TV_NONE : graph->objects.rows[owner].node;
    uint64_t key = (uint64_t)parent << 32 | object->class_index;
    uint32_t number = tv_map_find(nodes, key);
    if (number == TV_NONE) {
        number = (uint32_t)graph->nodes.count;
        *tv_table_add(&graph->nodes) = (struct tv_pf_heap_node){
            .parent = parent,
            .class_index = object->class_index,
            .depth = parent == TV_NONE ? 0 : graph->nodes.rows[parent].depth + 1,
            .root_type = object->root_type,
        };
        tv_map_set(nodes, key, number);
    }
    object->node = number;
    graph->nodes.rows[number].count++;
    graph->nodes.rows[number].self_size += object->self_size;
    graph->nodes.rows[number].native_size += (uint64_t)object->native_size;
}

/* Add what is below each node; parents come before their children. */
static void pf_heap_sum_nodes(struct tv_pf_heap_graph *graph)
{
    for (size_t i = graph->nodes.count; i-- > 0;) {
        struct tv_pf_heap_node *node = &graph->nodes.rows[i];
        node->all_count += node->count;
        node->all_self_size += node->self_size;
        node->all_native_size += node->native_size;
        if (node->parent == TV_NONE)
            continue;
        struct tv_pf_heap_node *parent = &graph->nodes.rows[node->parent];
        parent->all_count += node->all_count;
        parent->all_self_size += node->all_self_size;
        parent->all_native_size += node->all_native_size;
    }
}

/* Make roots of the objects of the boot image and of the zygote, which no garbage collection frees:
 * the recorder does not list them as roots. */
static void pf_heap_keep_shared_objects(struct tv_pf_heap_graph *graph)
{
    for (size_t i = 0; i < graph->objects.count; i++) {
        struct tv_pf_heap_object *object = &graph->objects.rows[i];
        bool is_shared = object->heap_type == ZYGOTE || object->heap_type == BOOT_IMAGE;
        if (is_shared && object->root_type == TV_PF_NO_ROOT)
            object->root_type = ROOT_VM_INTERNAL;
    }
}

/* Compute how far each object is from a root, and the tree of what can be reached, breadth first.
 * Weak, finalizer and phantom references do not keep their referent. */
static void pf_heap_measure_distances(const struct pf_heaps *heaps, struct tv_pf_heap_graph *graph)
{
    size_t end = 0;
    uint32_t *queue = tv_alloc(graph->objects.count + 1, sizeof *queue);
    struct tv_map nodes;
    tv_map_init(&nodes);
    for (size_t i = 0; i < graph->objects.count; i++)
        if (graph->objects.rows[i].root_type != TV_PF_NO_ROOT) {
            graph->objects.rows[i].distance = 0;
            pf_heap_place(graph, &nodes, TV_NONE, &graph->objects.rows[i]);
            queue[end++] = (uint32_t)i;
        }
    for (size_t next = 0; next < end; next++) {
        const struct tv_pf_heap_object *owner = &graph->objects.rows[queue[next]];
        uint8_t kind =
            owner->class_index == TV_NONE ? 0 : graph->classes.rows[owner->class_index].kind;
        for (uint32_t i = 0; i < owner->reference_count; i++) {
            const struct tv_pf_heap_reference *reference =
                &graph->references.rows[owner->first_reference + i];
            if (reference->owned == TV_NONE ||
                graph->objects.rows[reference->owned].distance != TV_NONE)
                continue;
            if (kind >= WEAK_REFERENCE && kind <= PHANTOM_REFERENCE &&
                tv_bytes_ends_with(tv_interner_get(heaps->texts, reference->field),
                                   TV_BYTES("java.lang.ref.Reference.referent")))
                continue;
            graph->objects.rows[reference->owned].distance = owner->distance + 1;
            pf_heap_place(graph, &nodes, queue[next], &graph->objects.rows[reference->owned]);
            queue[end++] = reference->owned;
        }
    }
    tv_map_release(&nodes);
    tv_free(queue);
    pf_heap_sum_nodes(graph);
}

/* Resolve the numbers of a graph whose last packet was read, measure it, and hand it over.  The
 * order matters: sizes and names of references come before the sizes of native memory, and all of
 * these before the distances, which sum them up. */
static void pf_heap_complete(struct pf_heaps *heaps, struct pf_heap *heap)
{
    struct tv_pf_heap_graph *graph = heap->graph;
    for (uint32_t i = 0; i < graph->classes.count; i++) {
        struct tv_pf_heap_class *class = &graph->classes.rows[i];
        class->superclass = pf_heap_superclass(heap, i);
        class->classloader = class->classloader_id == 0
                                 ? TV_NONE
                                 : tv_map_find(&heap->objects, class->classloader_id);
        class->location = pf_heap_name(&heap->places, class->location);
    }
    for (size_t i = 0; i < graph->objects.count; i++) {
        struct tv_pf_heap_object *object = &graph->objects.rows[i];
        if (object->class_index != TV_NONE && !object->has_own_size)
            object->self_size = graph->classes.rows[object->class_index].size;
        pf_heap_name_references(heap, object);
    }
    for (uint32_t i = 0; i < graph->objects.count; i++) {
        uint32_t class = graph->objects.rows[i].class_index;
        if (class != TV_NONE &&
            tv_bytes_equal(tv_interner_get(heaps->texts, graph->classes.rows[class].name),
                           TV_BYTES("sun.misc.Cleaner")))
            pf_heap_add_native(heaps, graph, i);
    }
    pf_heap_keep_shared_objects(graph);
    pf_heap_measure_distances(heaps, graph);
    pf_heap_end(heap);
    heaps->take(heaps->context, graph);
}

/* Does a packet begin another dump than the graph that is read?  Its process is another one, or it
 * is the first packet (index 0) of a dump of the same one: the rest of the older dump was lost. */
static bool pf_heap_is_other(const struct tv_pf_heap_graph *graph, struct tv_bytes bytes)
{
    struct tv_protobuf_field pid = tv_pf_find(bytes, 1), index = tv_pf_find(bytes, 6);
    return (pid.number == 1 && (int32_t)pid.value != graph->pid) ||
           (index.number == 6 && index.value == 0);
}

/* Take a packet of a graph in two walks: names first, then the objects, roots and classes that use
 * them. */
static void pf_heaps_take(struct pf_heaps *heaps, const struct tv_pf_current *packet,
                          struct tv_bytes bytes)
{
    struct pf_heap *heap = pf_heaps_find(heaps, packet);
    if (heap->has_packet && pf_heap_is_other(heap->graph, bytes)) {
        pf_heap_complete(heaps, heap); /* cut off: what was read counts */
        pf_heap_begin(heap, packet);
    }
    heap->has_packet = true;
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    bool continued = false;
    while (pf_heap_is_within(heap) && /* names stand after the objects that use them */
           tv_pf_next(&message, &field))
        if (field.number == 1)
            heap->graph->pid = (int32_t)field.value;
        else if (field.number == 4)
            pf_heap_take_name(heaps, &heap->fields, field.bytes);
        else if (field.number == 5)
            continued = field.value != 0;
        else if (field.number == 8)
            pf_heap_take_name(heaps, &heap->places, field.bytes);
    message = tv_pf_message_over(bytes);
    while (pf_heap_is_within(heap) && tv_pf_next(&message, &field))
        if (field.number == 2)
            pf_heap_take_object(heap, field.bytes);
        else if (field.number == 7)
            pf_heap_take_root(heap, field.bytes);
        else if (field.number == 9)
            pf_heap_take_class(heaps, heap, field.bytes);
    if (!continued)
        pf_heap_complete(heaps, heap);
}

/* ---- The file ---- */

/* Read all packets of a file in order, for their heap graphs alone. */
static enum tv_status pf_heaps_read(struct pf_heaps *heaps, struct tv_error *err)
{
    struct tv_pf_packets packets;
    struct tv_pf_packet from;
    enum tv_status status = TV_OK;
    tv_pf_packets_init(&packets, heaps->reading->source, 0, &heaps->reading->chunk->diagnostics);
    while (!tv_read_limit_stops(heaps->limit) &&
           (status = tv_pf_packets_next(&packets, &from, err)) == TV_OK && !from.none) {
        struct tv_pf_current packet;
        if (tv_pf_open_packet(heaps->reading, &from, &packet) == TV_PF_OPENED &&
            packet.payload.number == HEAP_GRAPH && packet.payload.wire == TV_PROTOBUF_BYTES)
            pf_heaps_take(heaps, &packet, packet.payload.bytes);
    }
    tv_pf_packets_release(&packets);
    return status;
}

enum tv_status tv_pf_visit_heap_graphs(const struct tv_input *input, struct tv_interner *texts,
                                       tv_pf_take_heap_graph *take, void *context,
                                       struct tv_read_limit *limit, struct tv_error *err)
{
    static const struct tv_read_options one = {.parts = 1};
    struct tv_pf_reading *reading = tv_alloc(1, sizeof *reading);
    struct pf_heaps heaps = {
        .reading = reading, .texts = texts, .take = take, .context = context, .limit = limit};
    tv_map_init(&heaps.index);
    tv_pf_reading_init(reading, input->source, &one);
    reading->machine = tv_pf_machine_of_input(input);
    enum tv_status status = tv_pf_survey(reading, err);
    if (status == TV_OK)
        status = pf_heaps_read(&heaps, err);
    for (size_t i = 0; i < heaps.open.count; i++)
        if (heaps.open.rows[i].graph) /* cut off: what was read counts */
            pf_heap_complete(&heaps, &heaps.open.rows[i]);
    tv_map_release(&heaps.index);
    tv_free(heaps.open.rows);
    tv_pf_reading_release(reading);
    tv_free(reading);
    return status;
}
