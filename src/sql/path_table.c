/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path_table.c - the tree of call paths: its table, and what a path tells of its slices (tables.h).
 *
 *     path       root   depth   recursive
 *     a          a      0
 *     a>b        a      1
 *     a>b>a      a      2       yes: a is among the callers of a
 *
 * One pass over the tree computes these for all paths, when a query first asks for one of them.
 */
#include <pthread.h>

#include "analysis/calltree/tree_shape.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "sql/tables.h"
#include "writers/text/names.h"

struct tv_sql_path_cache {
    pthread_mutex_t lock;
    struct tv_tree_shape *shape; /* NULL: nothing is computed yet */
    uint32_t *root, *depth;
    const uint8_t *recursive; /* belongs to the shape */
};

struct tv_sql_path_cache *tv_sql_path_cache_new(void)
{
    struct tv_sql_path_cache *cache = tv_alloc(1, sizeof *cache);
    pthread_mutex_init(&cache->lock, NULL);
    return cache;
}

void tv_sql_path_cache_free(struct tv_sql_path_cache *cache)
{
    if (!cache)
        return;
    tv_tree_shape_free(cache->shape);
    tv_free(cache->root);
    tv_free(cache->depth);
    pthread_mutex_destroy(&cache->lock);
    tv_free(cache);
}

/* Parents have smaller numbers than their children. */
static void path_cache_compute(struct tv_sql_path_cache *cache, const struct tv_trace *trace)
{
    const struct tv_paths *paths = &trace->paths;
    cache->root = tv_alloc((size_t)paths->count + 1, sizeof *cache->root);
    cache->depth = tv_alloc((size_t)paths->count + 1, sizeof *cache->depth);
    for (uint32_t i = 1; i < paths->count; i++) {
        const struct tv_path_node *node = &paths->nodes[i];
        bool is_root = node->parent == TV_ROOT_PATH;
        cache->root[i] = is_root ? node->frame : cache->root[node->parent];
        cache->depth[i] = is_root ? 0 : cache->depth[node->parent] + 1;
    }
    cache->shape = tv_tree_shape_new(trace->head, paths);
    cache->recursive = tv_tree_shape_recursion(cache->shape);
}

struct tv_sql_path_facts tv_sql_path_facts(const struct tv_sql_data *data)
{
    struct tv_sql_path_cache *cache = data->path_cache;
    pthread_mutex_lock(&cache->lock);
    if (!cache->shape)
        path_cache_compute(cache, data->trace);
    pthread_mutex_unlock(&cache->lock);
    return (struct tv_sql_path_facts){cache->root, cache->depth, cache->recursive};
}

/* ---- The table ---- */

static const struct tv_sql_column path_columns[] = {
    {"id", TV_SQL_INTEGER}, {"parent_id", TV_SQL_INTEGER}, {"frame_id", TV_SQL_INTEGER},
    {"name", TV_SQL_NAME},  {"depth", TV_SQL_INTEGER},
};

/* The root has no frame and is no row; ids begin at 1. */
static uint64_t sql_path_count(const struct tv_sql_data *data)
{
    return data->trace->paths.count > 0 ? data->trace->paths.count - 1 : 0;
}

static void sql_fill_path(const struct tv_sql_data *data, struct tv_sql_scratch *scratch,
                          uint32_t column, uint64_t first, uint32_t count,
                          struct tv_sql_vector *vector)
{
    const uint32_t *depth = column == 4 ? tv_sql_path_facts(data).depth : NULL;
    (void)scratch;
    for (uint32_t i = 0; i < count; i++) {
        const struct tv_path_node *node = &data->trace->paths.nodes[first + i + 1];
        if (column == 0)
            tv_sql_put_integer(vector, i, (int64_t)(first + i + 1));
        else if (column == 1)
            tv_sql_put_index(vector, i, node->parent == TV_ROOT_PATH ? TV_NONE : node->parent);
        else if (column == 2)
            tv_sql_put_integer(vector, i, node->frame);
        else if (column == 3)
            tv_sql_put_name(data, vector, i, node->frame);
        else
            tv_sql_put_integer(vector, i, depth[first + i + 1]);
    }
}

const struct tv_sql_table tv_sql_path_table = {
    .name = "path",
    .count = sql_path_count,
    .fill = sql_fill_path,
    .columns = path_columns,
    .column_count = TV_COUNT(path_columns),
};

/* ---- path_stack(id): the names of a path ---- */

/* Write the names of a path, the outermost first, as in collapsed stacks: "a.A.main;a.B.run". */
static void path_write_stack(const struct tv_trace *trace, uint32_t path, struct tv_out *out)
{
    size_t count;
    bool cut;
    uint32_t *frames = tv_path_innermost(trace, path, TV_STACK_NAMES, &count, &cut);
    if (cut)
        tv_out_text(out, "...");
    for (size_t i = 0; i < count; i++) {
        if (out->length > 0)
            tv_out_char(out, ';');
        size_t start = out->length;
        tv_names_method(out, trace->head, &trace->head->frames[frames[i]]);
        for (; start < out->length; start++)
            if (out->buffer[start] == ';')
                out->buffer[start] = ':';
    }
    tv_free(frames);
}

static void sql_stack_function(duck_call call, duck_chunk chunk, duck_vector result)
{
    const struct tv_sql_data *data = tv_duck.scalar_function_get_extra_info(call);
    struct tv_sql_given ids = tv_sql_given_column(chunk, 0);
    uint64_t count = tv_duck.data_chunk_get_size(chunk);
    struct tv_sql_vector vector = {.vector = result, .data = tv_duck.vector_get_data(result)};
    struct tv_out text;
    tv_out_init_memory(&text);
    for (uint64_t i = 0; i < count; i++) {
        bool known = tv_sql_given_is_known(&ids, i) && ids.values[i] > TV_ROOT_PATH &&
                     (uint64_t)ids.values[i] < data->trace->paths.count;
        text.length = 0;
        if (known)
            path_write_stack(data->trace, (uint32_t)ids.values[i], &text);
        if (known)
            tv_sql_put_bytes(&vector, i, (struct tv_bytes){text.buffer, text.length});
        else
            tv_sql_put_null(&vector, i);
    }
    tv_out_release(&text);
}

bool tv_sql_register_stacks(duck_connection connection, struct tv_sql_data *data)
{
    const struct tv_sql_function stack = {"path_stack", 1, DUCK_VARCHAR, sql_stack_function};
    return tv_sql_register_function(connection, data, &stack);
}
