/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.c - table functions of DuckDB over the tables of a trace (tables.h).
 *
 * A table function has three parts.  Bind lists the columns.  Init, once for a scan, notes which
 * columns are wanted; threads then take rows in turn by adding to `next`.  The function fills a
 * chunk of up to TV_SQL_ROWS rows.
 *
 * DuckDB hands no conditions down.  So that a small range of a large trace does not cost a scan of
 * it, tv_slice_in(from, to) has the range as parameters and scans pieces of rows, found by
 * bisection.  tv_slice() leaves out thread states and what processors ran.
 */
#include "sql/tables.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/memory.h"
#include "readers/reader.h"

/* Slices of one row, or instants. */
struct sql_piece {
    uint64_t first; /* id */
    uint32_t count; /* at most TV_SQL_ROWS */
};

/* The time that tv_slice_in scans. */
struct sql_range {
    int64_t from, to;
};

/* A scan of a table. */
struct sql_scan {
    const struct tv_sql_scanned *info;
    bool in_pieces; /* else all rows */
    struct sql_piece *pieces;
    uint64_t count; /* number of pieces, or of rows */
    _Atomic uint64_t next;
    uint32_t column_count;
    uint32_t columns[64]; /* wanted ones; TV_NONE: only the number of rows */
};

static void sql_free(void *memory)
{
    tv_free(memory);
}

static void sql_free_scan(void *memory)
{
    struct sql_scan *scan = memory;
    tv_free(scan->pieces);
    tv_free(scan);
}

static const int sql_types[] = {
    [TV_SQL_INTEGER] = DUCK_BIGINT, [TV_SQL_REAL] = DUCK_DOUBLE,     [TV_SQL_TEXT] = DUCK_VARCHAR,
    [TV_SQL_NAME] = DUCK_ENUM,      [TV_SQL_BOOLEAN] = DUCK_BOOLEAN,
};

/* Return a time that a query gives; the query fails if it is NULL. */
static int64_t sql_parameter(duck_bind bind, uint64_t number)
{
    duck_value value = tv_duck.bind_get_parameter(bind, number);
    bool is_null = tv_duck.is_null_value(value);
    int64_t integer = is_null ? 0 : tv_duck.get_int64(value);
    if (is_null)
        tv_duck.bind_set_error(bind, "slice_in(t0, t1) needs two times");
    tv_duck.destroy_value(&value);
    return integer;
}

static bool sql_is_slice_track(const struct tv_track *track)
{
    return track->kind != TV_TRACK_CPU && track->kind != TV_TRACK_STATES;
}

static uint64_t sql_count_rows(const struct tv_sql_scanned *info)
{
    const struct tv_trace *trace = info->data->trace;
    uint64_t count = info->table->count(info->data);
    for (uint32_t i = 0; info->rows == TV_SQL_SLICES && i < trace->track_count; i++)
        if (!sql_is_slice_track(&trace->tracks[i]))
            count -= trace->tracks[i].slice_count;
    return count;
}

static void sql_bind_table(duck_bind bind)
{
    const struct tv_sql_scanned *info = tv_duck.bind_get_extra_info(bind);
    if (info->rows == TV_SQL_RANGE) {
        struct sql_range *range = tv_alloc(1, sizeof *range);
        *range = (struct sql_range){sql_parameter(bind, 0), sql_parameter(bind, 1)};
        tv_duck.bind_set_bind_data(bind, range, sql_free);
    }
    for (uint32_t i = 0; i < info->table->column_count; i++) {
        const struct tv_sql_column *column = &info->table->columns[i];
        if (column->type == TV_SQL_NAME) {
            tv_duck.bind_add_result_column(bind, column->name, info->data->name_type);
            continue;
        }
        duck_type type = tv_duck.create_logical_type(sql_types[column->type]);
        tv_duck.bind_add_result_column(bind, column->name, type);
        tv_duck.destroy_logical_type(&type);
    }
    if (info->rows != TV_SQL_RANGE && !info->table->slow_count)
        tv_duck.bind_set_cardinality(bind, sql_count_rows(info), true);
}

/* A growing list of pieces. */
struct sql_pieces {
    struct sql_piece *items;
    size_t count, capacity;
};

static void sql_add_pieces(struct sql_pieces *pieces, uint64_t first, uint64_t end)
{
    while (first < end) {
        uint32_t count = end - first < TV_SQL_ROWS ? (uint32_t)(end - first) : TV_SQL_ROWS;
        pieces->items = tv_array_reserve(pieces->items, &pieces->capacity, pieces->count + 1,
                                         sizeof *pieces->items);
        pieces->items[pieces->count++] = (struct sql_piece){first, count};
        first += count;
    }
}

/* List all slices and instants; nothing if the trace has no other rows. */
static struct sql_pieces sql_list_slices(const struct tv_sql_data *data)
{
    const struct tv_trace *trace = data->trace;
    struct sql_pieces pieces = {.items = NULL};
    uint64_t first = 0;
    for (uint32_t row = 0; row < trace->row_count; row++) {
        if (sql_is_slice_track(&trace->tracks[trace->rows[row].track]))
            continue;
        sql_add_pieces(&pieces, first, data->first_id[row]);
        first = data->first_id[row + 1];
    }
    sql_add_pieces(&pieces, first, data->first_id[trace->row_count] + trace->tables.instants.count);
    return pieces;
}

/* Return the first slice of a row that overlaps a range, as far as its end tells. */
static uint32_t sql_find_first(const struct tv_trace *trace, uint32_t row,
                               const struct sql_range *range)
{
    /* One without length at `from` is in the range; one that ends there is not. */
    uint32_t first = tv_row_find(trace, row, range->from > INT64_MIN ? range->from - 1 : INT64_MIN);
    for (; first < trace->rows[row].count; first++) {
        struct tv_slice slice = tv_slice_get(trace, row, first);
        if (slice.start >= range->from || slice.start + slice.length > range->from ||
            slice.flags & TV_SLICE_OPEN)
            break;
    }
    return first;
}

/* List the slices and instants that overlap a range. */
static struct sql_pieces sql_find_pieces(const struct tv_sql_data *data,
                                         const struct sql_range *range)
{
    const struct tv_trace *trace = data->trace;
    const struct tv_instant *instants = trace->tables.instants.rows;
    struct sql_pieces pieces = {.items = NULL};
    uint64_t slices = data->first_id[trace->row_count], first = 0;
    for (uint32_t row = 0; row < trace->row_count; row++)
        if (sql_is_slice_track(&trace->tracks[trace->rows[row].track]))
            sql_add_pieces(&pieces, data->first_id[row] + sql_find_first(trace, row, range),
                           data->first_id[row] + tv_row_find_start(trace, row, range->to));
    for (uint64_t i = 0; i <= trace->tables.instants.count; i++) {
        bool is_in = false;
        if (i < trace->tables.instants.count) {
            tv_ns time = tv_trace_time(trace, instants[i].input, instants[i].time);
            is_in = time >= range->from && time < range->to;
        }
        if (is_in)
            continue;
        sql_add_pieces(&pieces, slices + first, slices + i);
        first = i + 1;
    }
    return pieces;
}

/* Does a trace have rows of any_slice that are no slices? */
static bool sql_has_others(const struct tv_trace *trace)
{
    uint32_t i = 0;
    while (i < trace->track_count && sql_is_slice_track(&trace->tracks[i]))
        i++;
    return i < trace->track_count;
}

static void sql_init_scan(duck_init init)
{
    struct sql_scan *scan = tv_alloc(1, sizeof *scan);
    scan->info = tv_duck.init_get_extra_info(init);
    const struct tv_sql_data *data = scan->info->data;
    bool is_range = scan->info->rows == TV_SQL_RANGE;
    scan->in_pieces =
        is_range || (scan->info->rows == TV_SQL_SLICES && sql_has_others(data->trace));
    if (scan->in_pieces) {
        struct sql_pieces pieces = is_range
                                       ? sql_find_pieces(data, tv_duck.init_get_bind_data(init))
                                       : sql_list_slices(data);
        scan->pieces = pieces.items;
        scan->count = pieces.count;
    } else {
        scan->count = scan->info->table->count(data);
    }
    if (tv_read_limit_stops(data->limit)) /* sql.c knows why */
        tv_duck.init_set_error(init, "the files were not read to their end");
    scan->column_count = (uint32_t)tv_duck.init_get_column_count(init);
    assert(scan->column_count <= TV_COUNT(scan->columns));
    for (uint32_t i = 0; i < scan->column_count; i++) {
        uint64_t column = tv_duck.init_get_column_index(init, i);
        scan->columns[i] = column < scan->info->table->column_count ? (uint32_t)column : TV_NONE;
    }
    tv_duck.init_set_init_data(init, scan, sql_free_scan);
    tv_duck.init_set_max_threads(init,
                                 scan->in_pieces ? scan->count + 1 : scan->count / TV_SQL_ROWS + 1);
}

static void sql_init_thread(duck_init init)
{
    struct tv_sql_scratch *scratch = tv_alloc(1, sizeof *scratch);
    tv_duck.init_set_init_data(init, scratch, sql_free);
}

/* Take the next rows of a scan; none at its end. */
static struct sql_piece sql_take_piece(struct sql_scan *scan)
{
    if (scan->in_pieces) {
        uint64_t next = atomic_fetch_add(&scan->next, 1);
        return next < scan->count ? scan->pieces[next] : (struct sql_piece){0};
    }
    uint64_t first = atomic_fetch_add(&scan->next, TV_SQL_ROWS);
    uint64_t left = first < scan->count ? scan->count - first : 0;
    return (struct sql_piece){first, left < TV_SQL_ROWS ? (uint32_t)left : TV_SQL_ROWS};
}

static void sql_fill_chunk(duck_call call, duck_chunk chunk)
{
    struct sql_scan *scan = tv_duck.function_get_init_data(call);
    struct tv_sql_scratch *scratch = tv_duck.function_get_local_init_data(call);
    const struct tv_sql_table *table = scan->info->table;
    struct sql_piece piece = sql_take_piece(scan);
    uint64_t first = piece.first;
    uint32_t count = piece.count;
    scratch->count = 0;
    for (uint32_t i = 0; i < scan->column_count && count > 0; i++) {
        if (scan->columns[i] == TV_NONE)
            continue;
        assert(scan->columns[i] < table->column_count);
        struct tv_sql_vector vector = {.vector = tv_duck.data_chunk_get_vector(chunk, i)};
        vector.data = tv_duck.vector_get_data(vector.vector);
        vector.name_bytes = scan->info->data->name_bytes;
        if (table->put)
            tv_sql_put_rows(table, scan->info->data, scan->columns[i], first, count, &vector);
        else
            table->fill(scan->info->data, scratch, scan->columns[i], first, count, &vector);
    }
    tv_duck.data_chunk_set_size(chunk, count);
}

bool tv_sql_register_table(duck_connection connection, struct tv_sql_scanned *info)
{
    char name[64];
    duck_function function = tv_duck.create_table_function();
    snprintf(name, sizeof name, "tv_%s",
             info->rows == TV_SQL_SLICES  ? "slice"
             : info->rows == TV_SQL_RANGE ? "slice_in"
                                          : info->table->name);
    tv_duck.table_function_set_name(function, name);
    if (info->rows == TV_SQL_RANGE) {
        duck_type integer = tv_duck.create_logical_type(DUCK_BIGINT);
        tv_duck.table_function_add_parameter(function, integer);
        tv_duck.table_function_add_parameter(function, integer);
        tv_duck.destroy_logical_type(&integer);
    }
    tv_duck.table_function_set_extra_info(function, info, NULL);
    tv_duck.table_function_set_bind(function, sql_bind_table);
    tv_duck.table_function_set_init(function, sql_init_scan);
    tv_duck.table_function_set_local_init(function, sql_init_thread);
    tv_duck.table_function_set_function(function, sql_fill_chunk);
    tv_duck.table_function_supports_projection_pushdown(function, true);
    bool done = tv_duck.register_table_function(connection, function) == 0;
    tv_duck.destroy_table_function(&function);
    return done;
}
