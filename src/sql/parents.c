/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parents.c - the scalar functions about the slices around a slice.
 *
 *     tv_depth(id)             number of slices around it
 *     tv_around(id, levels)    id of the slice so many levels above; NULL: there is none
 *
 * The macros about ancestors and flows (prelude.c) climb with them.  A join with the column
 * parent_id would read all slices again for each level.
 */
#include "sql/tables.h"

#include <assert.h>

/* Find the row and the index of a slice; false: the id is not one of a slice. */
static bool sql_find_slice(const struct tv_sql_data *data, int64_t id, struct tv_slice_place *place)
{
    if (id < 0 || (uint64_t)id >= data->first_id[data->trace->row_count])
        return false;
    place->row = tv_sql_row_of(data, (uint64_t)id);
    place->index = (uint32_t)((uint64_t)id - data->first_id[place->row]);
    assert(place->index < data->trace->rows[place->row].count);
    return true;
}

/* Return the id of the slice `levels` above one; -1: there is none. */
static int64_t sql_climb(const struct tv_sql_data *data, int64_t id, int64_t levels)
{
    struct tv_slice_place place;
    if (levels == 0)
        return id;
    if (levels < 0 || !sql_find_slice(data, id, &place))
        return -1;
    for (; levels > 0; levels--) {
        place.index = tv_slice_parent(data->trace, place.row, place.index);
        if (place.index == TV_NONE)
            return -1;
        /* rows of a track are neighbours, the outermost calls first */
        assert(data->trace->rows[place.row].depth > 0);
        place.row--;
    }
    return (int64_t)(data->first_id[place.row] + place.index);
}

static void sql_around_function(duck_call call, duck_chunk chunk, duck_vector result)
{
    const struct tv_sql_data *data = tv_duck.scalar_function_get_extra_info(call);
    struct tv_sql_given ids = tv_sql_given_column(chunk, 0), levels = tv_sql_given_column(chunk, 1);
    uint64_t count = tv_duck.data_chunk_get_size(chunk);
    struct tv_sql_vector vector = {.vector = result, .data = tv_duck.vector_get_data(result)};
    for (uint64_t i = 0; i < count; i++) {
        int64_t around = tv_sql_given_is_known(&ids, i) && tv_sql_given_is_known(&levels, i)
                             ? sql_climb(data, ids.values[i], levels.values[i])
                             : -1;
        if (around < 0)
            tv_sql_put_null(&vector, i);
        else
            tv_sql_put_integer(&vector, i, around);
    }
}

static void sql_depth_function(duck_call call, duck_chunk chunk, duck_vector result)
{
    const struct tv_sql_data *data = tv_duck.scalar_function_get_extra_info(call);
    struct tv_sql_given ids = tv_sql_given_column(chunk, 0);
    uint64_t count = tv_duck.data_chunk_get_size(chunk);
    struct tv_sql_vector vector = {.vector = result, .data = tv_duck.vector_get_data(result)};
    for (uint64_t i = 0; i < count; i++) {
        struct tv_slice_place place;
        bool is_slice =
            tv_sql_given_is_known(&ids, i) && sql_find_slice(data, ids.values[i], &place);
        tv_sql_put_integer(&vector, i, is_slice ? data->trace->rows[place.row].depth : 0);
    }
}

bool tv_sql_register_parents(duck_connection connection, struct tv_sql_data *data)
{
    const struct tv_sql_function depth = {"tv_depth", 1, DUCK_BIGINT, sql_depth_function};
    const struct tv_sql_function around = {"tv_around", 2, DUCK_BIGINT, sql_around_function};
    return tv_sql_register_function(connection, data, &depth) &&
           tv_sql_register_function(connection, data, &around);
}
