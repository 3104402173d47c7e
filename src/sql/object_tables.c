/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_tables.c - tables of what Trace Event files tell beside events of threads: objects, their
 * snapshots, and dumps of memory (tables.h).
 *
 * Ids are numbers in the model's arrays, the same as in `traceview dump`.
 */
#include "sql/tables.h"

/* ---- Objects ---- */

enum {
    OBJECT_ID,
    OBJECT_TS,
    OBJECT_DUR,
    OBJECT_TYPE,
    OBJECT_BASE_TYPE,
    OBJECT_CATEGORY,
    OBJECT_KEY,
    OBJECT_SCOPE,
    OBJECT_UPID,
    OBJECT_CREATED,
    OBJECT_DELETED,
    OBJECT_GROUP,
    OBJECT_SNAPSHOTS,
};

static const struct tv_sql_column object_columns[] = {
    [OBJECT_ID] = {"id", TV_SQL_INTEGER},
    [OBJECT_TS] = {"ts", TV_SQL_INTEGER},
    [OBJECT_DUR] = {"dur", TV_SQL_INTEGER},
    [OBJECT_TYPE] = {"type", TV_SQL_TEXT},
    [OBJECT_BASE_TYPE] = {"base_type", TV_SQL_TEXT},
    [OBJECT_CATEGORY] = {"category", TV_SQL_TEXT},
    [OBJECT_KEY] = {"object_key", TV_SQL_TEXT},
    [OBJECT_SCOPE] = {"scope", TV_SQL_TEXT},
    [OBJECT_UPID] = {"upid", TV_SQL_INTEGER},
    [OBJECT_CREATED] = {"is_created", TV_SQL_BOOLEAN},
    [OBJECT_DELETED] = {"is_deleted", TV_SQL_BOOLEAN},
    [OBJECT_GROUP] = {"joined", TV_SQL_INTEGER},
    [OBJECT_SNAPSHOTS] = {"snapshots", TV_SQL_INTEGER},
};

static uint64_t sql_object_count(const struct tv_sql_data *data)
{
    return data->trace->tables.objects.count;
}

static void sql_put_object(const struct tv_sql_data *data, uint32_t column, uint64_t row,
                           uint64_t i, struct tv_sql_vector *vector)
{
    const struct tv_object *object = &data->trace->tables.objects.rows[row];
    const uint32_t texts[] = {
        [OBJECT_TYPE] = object->type,         [OBJECT_BASE_TYPE] = object->base_type,
        [OBJECT_CATEGORY] = object->category, [OBJECT_KEY] = object->id,
        [OBJECT_SCOPE] = object->scope,
    };
    switch (column) {
    case OBJECT_ID:
        tv_sql_put_integer(vector, i, (int64_t)row);
        break;
    case OBJECT_TS:
        tv_sql_put_integer(vector, i, tv_trace_time(data->trace, object->input, object->created));
        break;
    case OBJECT_DUR:
        tv_sql_put_integer(
            vector, i, object->flags & TV_OBJECT_DELETED ? object->deleted - object->created : -1);
        break;
    case OBJECT_UPID:
    case OBJECT_GROUP:
        tv_sql_put_index(vector, i, column == OBJECT_UPID ? object->process : object->group);
        break;
    case OBJECT_CREATED:
    case OBJECT_DELETED:
        tv_sql_put_boolean(vector, i,
                           object->flags &
                               (column == OBJECT_CREATED ? TV_OBJECT_CREATED : TV_OBJECT_DELETED));
        break;
    case OBJECT_SNAPSHOTS:
        tv_sql_put_integer(vector, i, object->snapshot_count);
        break;
    default:
        tv_sql_put_string(data, vector, i, texts[column]);
    }
}

const struct tv_sql_table tv_sql_object_table = {
    .name = "object",
    .count = sql_object_count,
    .put = sql_put_object,
    .columns = object_columns,
    .column_count = TV_COUNT(object_columns),
};

/* ---- Snapshots of objects ---- */

enum {
    SNAPSHOT_ID,
    SNAPSHOT_TS,
    SNAPSHOT_OBJECT,
    SNAPSHOT_INNER,
    SNAPSHOT_ARGS,
};

static const struct tv_sql_column snapshot_columns[] = {
    [SNAPSHOT_ID] = {"id", TV_SQL_INTEGER},
    [SNAPSHOT_TS] = {"ts", TV_SQL_INTEGER},
    [SNAPSHOT_OBJECT] = {"object_id", TV_SQL_INTEGER},
    [SNAPSHOT_INNER] = {"is_inner", TV_SQL_BOOLEAN},
    [SNAPSHOT_ARGS] = {"arg_set_id", TV_SQL_INTEGER},
};

static uint64_t sql_snapshot_count(const struct tv_sql_data *data)
{
    return data->trace->tables.snapshots.count;
}

static void sql_put_snapshot(const struct tv_sql_data *data, uint32_t column, uint64_t row,
                             uint64_t i, struct tv_sql_vector *vector)
{
    const struct tv_snapshot *snapshot = &data->trace->tables.snapshots.rows[row];
    if (column == SNAPSHOT_ID)
        tv_sql_put_integer(vector, i, (int64_t)row);
    else if (column == SNAPSHOT_TS)
        tv_sql_put_integer(vector, i, tv_trace_time(data->trace, snapshot->input, snapshot->time));
    else if (column == SNAPSHOT_OBJECT)
        tv_sql_put_integer(vector, i, snapshot->object);
    else if (column == SNAPSHOT_INNER)
        tv_sql_put_boolean(vector, i, snapshot->inner);
    else
        tv_sql_put_integer(vector, i, tv_sql_snapshot_args(data, row));
}

const struct tv_sql_table tv_sql_snapshot_table = {
    .name = "snapshot",
    .count = sql_snapshot_count,
    .put = sql_put_snapshot,
    .columns = snapshot_columns,
    .column_count = TV_COUNT(snapshot_columns),
};

/* ---- Dumps of memory, and their figures ---- */

enum {
    DUMP_ID,
    DUMP_TS,
    DUMP_UPID,
    DUMP_KEY,
    DUMP_LEVEL,
};

static const struct tv_sql_column dump_columns[] = {
    [DUMP_ID] = {"id", TV_SQL_INTEGER},     [DUMP_TS] = {"ts", TV_SQL_INTEGER},
    [DUMP_UPID] = {"upid", TV_SQL_INTEGER}, [DUMP_KEY] = {"dump_key", TV_SQL_TEXT},
    [DUMP_LEVEL] = {"level", TV_SQL_TEXT},
};

static uint64_t sql_dump_count(const struct tv_sql_data *data)
{
    return data->trace->tables.memory_dumps.count;
}

static void sql_put_dump(const struct tv_sql_data *data, uint32_t column, uint64_t row, uint64_t i,
                         struct tv_sql_vector *vector)
{
    const struct tv_memory_dump *dump = &data->trace->tables.memory_dumps.rows[row];
    if (column == DUMP_ID)
        tv_sql_put_integer(vector, i, (int64_t)row);
    else if (column == DUMP_TS)
        tv_sql_put_integer(vector, i, tv_trace_time(data->trace, dump->input, dump->time));
    else if (column == DUMP_UPID)
        tv_sql_put_index(vector, i, dump->process);
    else
        tv_sql_put_string(data, vector, i, column == DUMP_KEY ? dump->id : dump->level);
}

const struct tv_sql_table tv_sql_memory_dump_table = {
    .name = "memory_dump",
    .count = sql_dump_count,
    .put = sql_put_dump,
    .columns = dump_columns,
    .column_count = TV_COUNT(dump_columns),
};

enum {
    FIGURE_DUMP,
    FIGURE_ALLOCATOR,
    FIGURE_NAME,
    FIGURE_UNIT,
    FIGURE_VALUE,
};

static const struct tv_sql_column figure_columns[] = {
    [FIGURE_DUMP] = {"memory_dump_id", TV_SQL_INTEGER},
    [FIGURE_ALLOCATOR] = {"allocator", TV_SQL_TEXT},
    [FIGURE_NAME] = {"name", TV_SQL_TEXT},
    [FIGURE_UNIT] = {"unit", TV_SQL_TEXT},
    [FIGURE_VALUE] = {"value", TV_SQL_REAL},
};

static uint64_t sql_figure_count(const struct tv_sql_data *data)
{
    return data->trace->tables.memory_figures.count;
}

static void sql_put_figure(const struct tv_sql_data *data, uint32_t column, uint64_t row,
                           uint64_t i, struct tv_sql_vector *vector)
{
    const struct tv_memory_figure *figure = &data->trace->tables.memory_figures.rows[row];
    const uint32_t texts[] = {
        [FIGURE_ALLOCATOR] = figure->of,
        [FIGURE_NAME] = figure->name,
        [FIGURE_UNIT] = figure->units,
    };
    if (column == FIGURE_DUMP)
        tv_sql_put_index(vector, i, data->dump_of_figure[row]);
    else if (column == FIGURE_VALUE)
        tv_sql_put_real(vector, i, figure->value);
    else
        tv_sql_put_string(data, vector, i, texts[column]);
}

const struct tv_sql_table tv_sql_memory_figure_table = {
    .name = "memory_figure",
    .count = sql_figure_count,
    .put = sql_put_figure,
    .columns = figure_columns,
    .column_count = TV_COUNT(figure_columns),
};
