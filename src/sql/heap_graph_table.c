/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap_graph_table.c - the graphs of Java heaps in Perfetto traces (tables.h): objects, references,
 * classes and nodes of all graphs, one after the other.
 *
 *     graph 0: objects 0 .. 2     id of an object = first of its graph + its number there
 *     graph 1: objects 3 .. 9
 *
 * The model counts such packets, but does not have them.  A query that first names one of the
 * tables reads the files again.
 */
#include <pthread.h>
#include <string.h>

#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/sort.h"
#include "readers/perfetto/heap_graph.h"
#include "readers/perfetto/perfetto.h"
#include "sql/tables.h"

/* A graph, and the numbers of its first rows. */
struct sql_heap_graph {
    struct tv_pf_heap_graph *graph;
    uint32_t input, process; /* process TV_NONE: the trace has no other fact about it */
    uint64_t first[4];       /* by enum heap_rows */
};

/* The rows of the tables. */
enum heap_rows {
    HEAP_OBJECTS,
    HEAP_REFERENCES,
    HEAP_CLASSES,
    HEAP_NODES,
};

struct tv_sql_heap_graphs {
    pthread_mutex_t lock;
    bool is_read;
    TV_TABLE(sql_heap_graph) graphs;
    uint64_t counts[4];
    struct tv_interner *texts;
};

struct tv_sql_heap_graphs *tv_sql_heap_graphs_new(void)
{
    struct tv_sql_heap_graphs *graphs = tv_alloc(1, sizeof *graphs);
    pthread_mutex_init(&graphs->lock, NULL);
    graphs->texts = tv_interner_new();
    return graphs;
}

void tv_sql_heap_graphs_free(struct tv_sql_heap_graphs *graphs)
{
    if (!graphs)
        return;
    for (size_t i = 0; i < graphs->graphs.count; i++)
        tv_pf_heap_graph_free(graphs->graphs.rows[i].graph);
    tv_free(graphs->graphs.rows);
    tv_interner_free(graphs->texts);
    pthread_mutex_destroy(&graphs->lock);
    tv_free(graphs);
}

/* ---- Read the graphs ---- */

struct heap_visitor {
    const struct tv_sql_data *data;
    uint32_t input;
    struct tv_map processes; /* pid -> process on the machine of the input */
};

/* Index the processes: a file may have as many graphs as packets. */
static void heap_list_processes(struct heap_visitor *visitor)
{
    const struct tv_trace_info *info = visitor->data->trace->head;
    uint32_t machine = info->inputs[visitor->input].machine;
    tv_map_init(&visitor->processes);
    for (uint32_t i = info->process_count; i-- > 0;) /* backwards: the first of equal ids stays */
        if (info->processes[i].machine == machine)
            tv_map_set(&visitor->processes, info->processes[i].id, i);
}

static void heap_take(void *context, struct tv_pf_heap_graph *graph)
{
    struct heap_visitor *visitor = context;
    struct tv_sql_heap_graphs *graphs = visitor->data->heap_graphs;
    struct sql_heap_graph row = {
        .graph = graph,
        .input = visitor->input,
        .process = tv_map_find(&visitor->processes, (uint64_t)graph->pid),
    };
    memcpy(row.first, graphs->counts, sizeof row.first);
    graphs->counts[HEAP_OBJECTS] += graph->objects.count;
    graphs->counts[HEAP_REFERENCES] += graph->references.count;
    graphs->counts[HEAP_CLASSES] += graph->classes.count;
    graphs->counts[HEAP_NODES] += graph->nodes.count;
    *tv_table_add(&graphs->graphs) = row;
}

/* Forget the graphs of a pass that was ended early. */
static void heap_clear(struct tv_sql_heap_graphs *graphs, struct tv_read_limit *limit,
                       uint64_t bytes_before)
{
    atomic_store(&limit->bytes, bytes_before);
    for (size_t i = 0; i < graphs->graphs.count; i++)
        tv_pf_heap_graph_free(graphs->graphs.rows[i].graph);
    graphs->graphs.count = 0;
    memset(graphs->counts, 0, sizeof graphs->counts);
}

/* Return the graphs of all inputs, and read them when they are first asked for; none of them when
 * the pass was ended early. */
static const struct tv_sql_heap_graphs *heap_get(const struct tv_sql_data *data)
{
    struct tv_sql_heap_graphs *graphs = data->heap_graphs;
    const struct tv_trace_info *info = data->trace->head;
    struct tv_error unused;
    pthread_mutex_lock(&graphs->lock);
    uint64_t before = data->limit ? atomic_load(&data->limit->bytes) : 0;
    for (uint32_t i = 0; !graphs->is_read && i < info->input_count; i++) {
        struct heap_visitor visitor = {.data = data, .input = i};
        if (!info->inputs[i].source ||
            strcmp(info->inputs[i].format, tv_reader_perfetto.format) != 0)
            continue;
        heap_list_processes(&visitor);
        (void)tv_pf_visit_heap_graphs(&info->inputs[i], graphs->texts, heap_take, &visitor,
                                      data->limit, &unused);
        tv_map_release(&visitor.processes);
    }
    if (!graphs->is_read && tv_read_limit_stops(data->limit))
        heap_clear(graphs, data->limit, before);
    else
        graphs->is_read = true;
    pthread_mutex_unlock(&graphs->lock);
    return graphs;
}

/* Find the graph that has a row. */
static const struct sql_heap_graph *heap_find(const struct tv_sql_heap_graphs *graphs,
                                              enum heap_rows rows, uint64_t number)
{
    size_t after = 0;
    TV_LOWER_BOUND(after, graphs->graphs.count, i, graphs->graphs.rows[i].first[rows] <= number);
    return &graphs->graphs.rows[after - 1];
}

/* ---- Values ---- */

/* Put a row of a graph, or NULL for TV_NONE. */
static void heap_put_row(const struct sql_heap_graph *in, enum heap_rows rows, uint64_t i,
                         uint32_t number, struct tv_sql_vector *vector)
{
    if (number == TV_NONE)
        tv_sql_put_null(vector, i);
    else
        tv_sql_put_integer(vector, i, (int64_t)(in->first[rows] + number));
}

/* Put a text that may be NULL. */
static void heap_put_name(struct tv_sql_vector *vector, uint64_t i, const char *name)
{
    if (name)
        tv_sql_put_text(vector, i, name);
    else
        tv_sql_put_null(vector, i);
}

/* Put a text; NULL for the empty one. */
static void heap_put_text(struct tv_sql_vector *vector, uint64_t i, struct tv_bytes text)
{
    if (text.length > 0)
        tv_sql_put_bytes(vector, i, text);
    else
        tv_sql_put_null(vector, i);
}

/* ---- Objects ---- */

enum {
    OBJECT_ID,
    OBJECT_UPID,
    OBJECT_TS,
    OBJECT_SELF_SIZE,
    OBJECT_NATIVE_SIZE,
    OBJECT_REFERENCES,
    OBJECT_REACHABLE,
    OBJECT_HEAP,
    OBJECT_CLASS,
    OBJECT_ROOT,
    OBJECT_DISTANCE,
};

static const struct tv_sql_column object_columns[] = {
    [OBJECT_ID] = {"id", TV_SQL_INTEGER},
    [OBJECT_UPID] = {"upid", TV_SQL_INTEGER},
    [OBJECT_TS] = {"graph_sample_ts", TV_SQL_INTEGER},
    [OBJECT_SELF_SIZE] = {"self_size", TV_SQL_INTEGER},
    [OBJECT_NATIVE_SIZE] = {"native_size", TV_SQL_INTEGER},
    [OBJECT_REFERENCES] = {"reference_set_id", TV_SQL_INTEGER},
    [OBJECT_REACHABLE] = {"reachable", TV_SQL_INTEGER},
    [OBJECT_HEAP] = {"heap_type", TV_SQL_TEXT},
    [OBJECT_CLASS] = {"type_id", TV_SQL_INTEGER},
    [OBJECT_ROOT] = {"root_type", TV_SQL_TEXT},
    [OBJECT_DISTANCE] = {"root_distance", TV_SQL_INTEGER},
};

static uint64_t sql_heap_object_count(const struct tv_sql_data *data)
{
    return heap_get(data)->counts[HEAP_OBJECTS];
}

static void heap_put_object_column(const struct tv_sql_data *data, uint32_t column, uint64_t i,
                                   const struct sql_heap_graph *in,
                                   const struct tv_pf_heap_object *object,
                                   struct tv_sql_vector *vector)
{
    switch (column) {
    case OBJECT_UPID:
        tv_sql_put_index(vector, i, in->process);
        break;
    case OBJECT_TS:
        tv_sql_put_integer(vector, i, tv_trace_time(data->trace, in->input, in->graph->time));
        break;
    case OBJECT_SELF_SIZE:
        tv_sql_put_integer(vector, i, (int64_t)object->self_size);
        break;
    case OBJECT_NATIVE_SIZE:
        tv_sql_put_integer(vector, i, object->native_size);
        break;
    case OBJECT_REFERENCES:
        heap_put_row(in, HEAP_REFERENCES, i,
                     object->reference_count > 0 ? object->first_reference : TV_NONE, vector);
        break;
    case OBJECT_REACHABLE:
        tv_sql_put_integer(vector, i, object->distance != TV_NONE);
        break;
    case OBJECT_HEAP:
        heap_put_name(vector, i, tv_pf_heap_type_name(object->heap_type));
        break;
    case OBJECT_CLASS:
        heap_put_row(in, HEAP_CLASSES, i, object->class_index, vector);
        break;
    case OBJECT_ROOT:
        heap_put_name(vector, i, tv_pf_heap_root_name(object->root_type));
        break;
    default:
        tv_sql_put_index(vector, i, object->distance);
    }
}

static void sql_fill_heap_object(const struct tv_sql_data *data, struct tv_sql_scratch *scratch,
                                 uint32_t column, uint64_t first, uint32_t count,
                                 struct tv_sql_vector *vector)
{
    const struct tv_sql_heap_graphs *graphs = heap_get(data);
    (void)scratch;
    for (uint32_t i = 0; i < count; i++) {
        const struct sql_heap_graph *in = heap_find(graphs, HEAP_OBJECTS, first + i);
        if (column == OBJECT_ID)
            tv_sql_put_integer(vector, i, (int64_t)(first + i));
        else
            heap_put_object_column(data, column, i, in,
                                   &in->graph->objects.rows[first + i - in->first[HEAP_OBJECTS]],
                                   vector);
    }
}

const struct tv_sql_table tv_sql_heap_object_table = {
    .name = "heap_graph_object",
    .count = sql_heap_object_count,
    .slow_count = true,
    .fill = sql_fill_heap_object,
    .columns = object_columns,
    .column_count = TV_COUNT(object_columns),
};

/* ---- References ---- */

enum {
    REFERENCE_ID,
    REFERENCE_SET,
    REFERENCE_OWNER,
    REFERENCE_OWNED,
    REFERENCE_FIELD,
    REFERENCE_TYPE,
};

static const struct tv_sql_column reference_columns[] = {
    [REFERENCE_ID] = {"id", TV_SQL_INTEGER},
    [REFERENCE_SET] = {"reference_set_id", TV_SQL_INTEGER},
    [REFERENCE_OWNER] = {"owner_id", TV_SQL_INTEGER},
    [REFERENCE_OWNED] = {"owned_id", TV_SQL_INTEGER},
    [REFERENCE_FIELD] = {"field_name", TV_SQL_TEXT},
    [REFERENCE_TYPE] = {"field_type_name", TV_SQL_TEXT},
};

static uint64_t sql_heap_reference_count(const struct tv_sql_data *data)
{
    return heap_get(data)->counts[HEAP_REFERENCES];
}

/* Put the name of a field, or its type: the text is "TYPE NAME", or a name alone. */
static void heap_put_field(struct tv_sql_vector *vector, uint64_t i, struct tv_bytes field,
                           bool is_type)
{
    const uint8_t *space = field.length > 0 ? memchr(field.data, ' ', field.length) : NULL;
    size_t type = space ? (size_t)(space - field.data) : 0;
    if (is_type)
        field.length = type;
    else if (space)
        field = (struct tv_bytes){space + 1, field.length - type - 1};
    heap_put_text(vector, i, field);
}

static void sql_fill_heap_reference(const struct tv_sql_data *data, struct tv_sql_scratch *scratch,
                                    uint32_t column, uint64_t first, uint32_t count,
                                    struct tv_sql_vector *vector)
{
    const struct tv_sql_heap_graphs *graphs = heap_get(data);
    (void)scratch;
    for (uint32_t i = 0; i < count; i++) {
        const struct sql_heap_graph *in = heap_find(graphs, HEAP_REFERENCES, first + i);
        const struct tv_pf_heap_reference *reference =
            &in->graph->references.rows[first + i - in->first[HEAP_REFERENCES]];
        if (column == REFERENCE_ID)
            tv_sql_put_integer(vector, i, (int64_t)(first + i));
        else if (column == REFERENCE_SET)
            heap_put_row(in, HEAP_REFERENCES, i,
                         in->graph->objects.rows[reference->owner].first_reference, vector);
        else if (column == REFERENCE_OWNER)
            heap_put_row(in, HEAP_OBJECTS, i, reference->owner, vector);
        else if (column == REFERENCE_OWNED)
            heap_put_row(in, HEAP_OBJECTS, i, reference->owned, vector);
        else
            heap_put_field(vector, i, tv_interner_get(graphs->texts, reference->field),
                           column == REFERENCE_TYPE);
    }
}

const struct tv_sql_table tv_sql_heap_reference_table = {
    .name = "heap_graph_reference",
    .count = sql_heap_reference_count,
    .slow_count = true,
    .fill = sql_fill_heap_reference,
    .columns = reference_columns,
    .column_count = TV_COUNT(reference_columns),
};

/* ---- Classes ---- */

enum {
    CLASS_ID,
    CLASS_NAME,
    CLASS_LOCATION,
    CLASS_SUPERCLASS,
    CLASS_LOADER,
    CLASS_KIND,
};

static const struct tv_sql_column class_columns[] = {
    [CLASS_ID] = {"id", TV_SQL_INTEGER},
    [CLASS_NAME] = {"name", TV_SQL_TEXT},
    [CLASS_LOCATION] = {"location", TV_SQL_TEXT},
    [CLASS_SUPERCLASS] = {"superclass_id", TV_SQL_INTEGER},
    [CLASS_LOADER] = {"classloader_id", TV_SQL_INTEGER},
    [CLASS_KIND] = {"kind", TV_SQL_TEXT},
};

static uint64_t sql_heap_class_count(const struct tv_sql_data *data)
{
    return heap_get(data)->counts[HEAP_CLASSES];
}

static void sql_fill_heap_class(const struct tv_sql_data *data, struct tv_sql_scratch *scratch,
                                uint32_t column, uint64_t first, uint32_t count,
                                struct tv_sql_vector *vector)
{
    const struct tv_sql_heap_graphs *graphs = heap_get(data);
    (void)scratch;
    for (uint32_t i = 0; i < count; i++) {
        const struct sql_heap_graph *in = heap_find(graphs, HEAP_CLASSES, first + i);
        const struct tv_pf_heap_class *class =
            &in->graph->classes.rows[first + i - in->first[HEAP_CLASSES]];
        if (column == CLASS_ID)
            tv_sql_put_integer(vector, i, (int64_t)(first + i));
        else if (column == CLASS_NAME || column == CLASS_LOCATION)
            heap_put_text(vector, i,
                          tv_interner_get(graphs->texts,
                                          column == CLASS_NAME ? class->name : class->location));
        else if (column == CLASS_SUPERCLASS)
            heap_put_row(in, HEAP_CLASSES, i, class->superclass, vector);
        else if (column == CLASS_LOADER)
            heap_put_row(in, HEAP_OBJECTS, i, class->classloader, vector);
        else
            heap_put_name(vector, i, tv_pf_heap_kind_name(class->kind));
    }
}

const struct tv_sql_table tv_sql_heap_class_table = {
    .name = "heap_graph_class",
    .count = sql_heap_class_count,
    .slow_count = true,
    .fill = sql_fill_heap_class,
    .columns = class_columns,
    .column_count = TV_COUNT(class_columns),
};

/* ---- Nodes of the tree ---- */

enum {
    NODE_ID,
    NODE_PARENT,
    NODE_DEPTH,
    NODE_UPID,
    NODE_TS,
    NODE_NAME,
    NODE_ROOT,
    NODE_FIGURES, /* the first one */
};

static const struct tv_sql_column node_columns[] = {
    [NODE_ID] = {"id", TV_SQL_INTEGER},
    [NODE_PARENT] = {"parent_id", TV_SQL_INTEGER},
    [NODE_DEPTH] = {"depth", TV_SQL_INTEGER},
    [NODE_UPID] = {"upid", TV_SQL_INTEGER},
    [NODE_TS] = {"graph_sample_ts", TV_SQL_INTEGER},
    [NODE_NAME] = {"name", TV_SQL_TEXT},
    [NODE_ROOT] = {"root_type", TV_SQL_TEXT},
    [NODE_FIGURES] = {"self_count", TV_SQL_INTEGER},
    {"cumulative_count", TV_SQL_INTEGER},
    {"self_size", TV_SQL_INTEGER},
    {"cumulative_size", TV_SQL_INTEGER},
    {"self_native_size", TV_SQL_INTEGER},
    {"cumulative_native_size", TV_SQL_INTEGER},
};

static uint64_t sql_heap_node_count(const struct tv_sql_data *data)
{
    return heap_get(data)->counts[HEAP_NODES];
}

static void heap_put_node_column(const struct tv_sql_data *data, uint32_t column, uint64_t i,
                                 const struct sql_heap_graph *in,
                                 const struct tv_pf_heap_node *node, struct tv_sql_vector *vector)
{
    const uint64_t figures[] = {node->count,         node->all_count,   node->self_size,
                                node->all_self_size, node->native_size, node->all_native_size};
    switch (column) {
    case NODE_PARENT:
        heap_put_row(in, HEAP_NODES, i, node->parent, vector);
        break;
    case NODE_DEPTH:
        tv_sql_put_integer(vector, i, node->depth);
        break;
    case NODE_UPID:
        tv_sql_put_index(vector, i, in->process);
        break;
    case NODE_TS:
        tv_sql_put_integer(vector, i, tv_trace_time(data->trace, in->input, in->graph->time));
        break;
    case NODE_NAME:
        heap_put_text(vector, i,
                      tv_interner_get(data->heap_graphs->texts,
                                      node->class_index == TV_NONE
                                          ? TV_EMPTY_STRING
                                          : in->graph->classes.rows[node->class_index].name));
        break;
    case NODE_ROOT:
        heap_put_name(vector, i, tv_pf_heap_root_name(node->root_type));
        break;
    default:
        tv_sql_put_integer(vector, i, (int64_t)figures[column - NODE_FIGURES]);
    }
}

static void sql_fill_heap_node(const struct tv_sql_data *data, struct tv_sql_scratch *scratch,
                               uint32_t column, uint64_t first, uint32_t count,
                               struct tv_sql_vector *vector)
{
    const struct tv_sql_heap_graphs *graphs = heap_get(data);
    (void)scratch;
    for (uint32_t i = 0; i < count; i++) {
        const struct sql_heap_graph *in = heap_find(graphs, HEAP_NODES, first + i);
        if (column == NODE_ID)
            tv_sql_put_integer(vector, i, (int64_t)(first + i));
        else
            heap_put_node_column(data, column, i, in,
                                 &in->graph->nodes.rows[first + i - in->first[HEAP_NODES]], vector);
    }
}

const struct tv_sql_table tv_sql_heap_node_table = {
    .name = "android_heap_graph_class_summary_tree",
    .count = sql_heap_node_count,
    .slow_count = true,
    .fill = sql_fill_heap_node,
    .columns = node_columns,
    .column_count = TV_COUNT(node_columns),
};
