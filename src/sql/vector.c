/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector.c - putting values into a column of the answer (tables.h).
 *
 * A column is an array of values, and a bit for each row that says whether the
 * value is valid.  Two kinds of memory have this layout:
 *
 *     DuckDB's vectors   texts are copied into them; names are indices of an ENUM;
 *                        the bits exist only from the first NULL on
 *     plain vectors      those of an export without DuckDB (export.c): texts and names
 *                        are references to memory that outlives the chunk
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "sql/tables.h"

void tv_sql_put_null(struct tv_sql_vector *vector, uint64_t i)
{
    if (!vector->validity) {
        assert(!vector->plain); /* which has its bits from the start */
        tv_duck.vector_ensure_validity_writable(vector->vector);
        vector->validity = tv_duck.vector_get_validity(vector->vector);
    }
    vector->validity[i / 64] &= ~(UINT64_C(1) << i % 64);
}

void tv_sql_put_integer(struct tv_sql_vector *vector, uint64_t i, int64_t value)
{
    ((int64_t *)vector->data)[i] = value;
}

void tv_sql_put_index(struct tv_sql_vector *vector, uint64_t i, uint32_t index)
{
    if (index == TV_NONE)
        tv_sql_put_null(vector, i);
    else
        tv_sql_put_integer(vector, i, index);
}

/* A NaN is a value of a counter that the file does not have. */
void tv_sql_put_real(struct tv_sql_vector *vector, uint64_t i, double value)
{
    ((double *)vector->data)[i] = value;
    if (isnan(value))
        tv_sql_put_null(vector, i);
}

void tv_sql_put_boolean(struct tv_sql_vector *vector, uint64_t i, bool value)
{
    ((bool *)vector->data)[i] = value;
}

/* Refer to a text in DuckDB's form: short ones are in the element itself. */
static void sql_put_reference(struct tv_sql_vector *vector, uint64_t i, struct tv_bytes text)
{
    struct duck_string *put = &((struct duck_string *)vector->data)[i];
    size_t length = text.length < UINT32_MAX ? text.length : UINT32_MAX;
    put->length = (uint32_t)length;
    if (length > sizeof put->bytes) {
        memcpy(put->bytes, text.data, 4);
        memcpy(put->bytes + 4, &text.data, sizeof text.data);
    } else if (length > 0) {
        memcpy(put->bytes, text.data, length);
    }
}

void tv_sql_put_bytes(struct tv_sql_vector *vector, uint64_t i, struct tv_bytes text)
{
    if (vector->plain) {
        sql_put_reference(vector, i, text);
        return;
    }
    tv_duck.vector_assign_string_element_len(vector->vector, i, (const char *)text.data,
                                             text.length);
}

void tv_sql_put_text(struct tv_sql_vector *vector, uint64_t i, const char *text)
{
    tv_sql_put_bytes(vector, i, (struct tv_bytes){(const uint8_t *)text, strlen(text)});
}

void tv_sql_put_string(const struct tv_sql_data *data, struct tv_sql_vector *vector, uint64_t i,
                       uint32_t string)
{
    if (string == TV_EMPTY_STRING)
        tv_sql_put_null(vector, i);
    else
        tv_sql_put_bytes(vector, i, tv_trace_info_text(data->trace->head, string));
}

void tv_sql_put_name(const struct tv_sql_data *data, struct tv_sql_vector *vector, uint64_t i,
                     uint32_t frame)
{
    assert(frame < data->trace->head->frame_count);
    uint32_t number = data->name_of[frame];
    assert(number < data->name_count);
    if (vector->plain) {
        tv_sql_put_text(vector, i, data->names[number]);
        return;
    }
    /* DuckDB stores an ENUM in as few bytes as its number of words allows. */
    switch (vector->name_bytes) {
    case 1:
        ((uint8_t *)vector->data)[i] = (uint8_t)number;
        break;
    case 2:
        ((uint16_t *)vector->data)[i] = (uint16_t)number;
        break;
    default:
        ((uint32_t *)vector->data)[i] = number;
    }
}

/* ---- Scalar functions ---- */

struct tv_sql_given tv_sql_given_column(duck_chunk chunk, uint64_t number)
{
    duck_vector vector = tv_duck.data_chunk_get_vector(chunk, number);
    return (struct tv_sql_given){tv_duck.vector_get_data(vector),
                                 tv_duck.vector_get_validity(vector)};
}

bool tv_sql_given_is_known(const struct tv_sql_given *given, uint64_t i)
{
    return !given->validity || given->validity[i / 64] >> i % 64 & 1;
}

bool tv_sql_register_function(duck_connection connection, struct tv_sql_data *data,
                              const struct tv_sql_function *how)
{
    duck_function function = tv_duck.create_scalar_function();
    duck_type integer = tv_duck.create_logical_type(DUCK_BIGINT);
    duck_type result = tv_duck.create_logical_type(how->result);
    tv_duck.scalar_function_set_name(function, how->name);
    for (unsigned i = 0; i < how->parameters; i++)
        tv_duck.scalar_function_add_parameter(function, integer);
    tv_duck.scalar_function_set_return_type(function, result);
    tv_duck.scalar_function_set_extra_info(function, data, NULL);
    tv_duck.scalar_function_set_function(function, how->call);
    bool done = tv_duck.register_scalar_function(connection, function) == 0;
    tv_duck.destroy_logical_type(&result);
    tv_duck.destroy_logical_type(&integer);
    tv_duck.destroy_scalar_function(&function);
    return done;
}

void tv_sql_put_rows(const struct tv_sql_table *table, const struct tv_sql_data *data,
                     uint32_t column, uint64_t first, uint32_t count, struct tv_sql_vector *vector)
{
    assert(table->put && column < table->column_count);
    for (uint32_t i = 0; i < count; i++)
        table->put(data, column, first + i, i, vector);
}
