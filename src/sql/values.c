/* SPDX-License-Identifier: Apache-2.0 */
/*
 * values.c - decodes the vectors of a result and writes them (values.h).
 *
 * Integers, numbers, texts, booleans and names are decoded here.  Columns of other types (lists,
 * dates, decimals, ...) are refused with the remedy: a cast to text.
 */
#include "sql/values.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "writers/text/names.h"

struct sql_result_column {
    const char *name;
    int type;
    duck_type logical; /* of an ENUM; else NULL */
    int enum_bytes;
};

struct sql_result {
    struct sql_result_column *columns;
    uint64_t column_count;
    struct tv_sql_output *output;
    struct tv_out *out;
    uint64_t rows;
};

static bool sql_is_numeric(int type)
{
    return (type >= DUCK_TINYINT && type <= DUCK_DOUBLE) || type == DUCK_HUGEINT;
}

static bool sql_is_known(int type)
{
    return type == DUCK_BOOLEAN || sql_is_numeric(type) || type == DUCK_VARCHAR ||
           type == DUCK_ENUM || type == DUCK_SQLNULL;
}

/* ---- Values as text ---- */

/* Write a number of 128 bits in decimal. */
static void sql_put_huge(struct tv_out *out, const void *at)
{
    struct {
        uint64_t low;
        int64_t high;
    } parts;
    memcpy(&parts, at, sizeof parts);
    __extension__ typedef unsigned __int128 huge;
    huge value = (huge)(uint64_t)parts.high << 64 | parts.low;
    char digits[40];
    size_t count = 0;
    if (parts.high < 0) {
        value = ~value + 1;
        tv_out_char(out, '-');
    }
    do
        digits[count++] = (char)('0' + (int)(value % 10));
    while ((value /= 10) > 0);
    while (count > 0)
        tv_out_char(out, digits[--count]);
}

static void sql_put_double(struct tv_out *out, double value, bool json)
{
    if (json)
        tv_json_put_double(out, value);
    else if (isfinite(value))
        tv_json_put_double(out, value);
    else
        tv_out_text(out, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

static void sql_put_integer_value(struct tv_out *out, int type, const void *data, uint64_t row)
{
    switch (type) {
    case DUCK_TINYINT:
        tv_out_i64(out, ((const int8_t *)data)[row]);
        break;
    case DUCK_SMALLINT:
        tv_out_i64(out, ((const int16_t *)data)[row]);
        break;
    case DUCK_INTEGER:
        tv_out_i64(out, ((const int32_t *)data)[row]);
        break;
    case DUCK_BIGINT:
        tv_out_i64(out, ((const int64_t *)data)[row]);
        break;
    case DUCK_UTINYINT:
        tv_out_u64(out, ((const uint8_t *)data)[row]);
        break;
    case DUCK_USMALLINT:
        tv_out_u64(out, ((const uint16_t *)data)[row]);
        break;
    case DUCK_UINTEGER:
        tv_out_u64(out, ((const uint32_t *)data)[row]);
        break;
    case DUCK_UBIGINT:
        tv_out_u64(out, ((const uint64_t *)data)[row]);
        break;
    default:
        assert(type == DUCK_HUGEINT);
        sql_put_huge(out, (const uint8_t *)data + row * 16);
    }
}

/* Return the text of a VARCHAR or of an ENUM; *owned is to be freed by the library. */
static struct tv_bytes sql_text_of(const struct sql_result_column *column, const void *data,
                                   uint64_t row, char **owned)
{
    *owned = NULL;
    if (column->type == DUCK_VARCHAR) {
        const struct duck_string *text = &((const struct duck_string *)data)[row];
        const char *bytes = text->bytes;
        if (text->length > sizeof text->bytes)
            memcpy(&bytes, text->bytes + 4, sizeof bytes);
        return (struct tv_bytes){(const uint8_t *)bytes, text->length};
    }
    uint64_t number = column->enum_bytes == 1   ? ((const uint8_t *)data)[row]
                      : column->enum_bytes == 2 ? ((const uint16_t *)data)[row]
                                                : ((const uint32_t *)data)[row];
    *owned = tv_duck.enum_dictionary_value(column->logical, number);
    return (struct tv_bytes){(const uint8_t *)*owned, *owned ? strlen(*owned) : 0};
}

static void sql_put_value_text(struct tv_out *out, enum tv_sql_format format, struct tv_bytes text)
{
    switch (format) {
    case TV_SQL_CSV:
        tv_out_csv(out, text);
        break;
    case TV_SQL_JSON:
    case TV_SQL_JSONL:
        tv_out_json(out, text);
        break;
    default:
        tv_names_line(out, text);
    }
}

static void sql_put_value(const struct sql_result *result, struct tv_out *out,
                          const struct sql_result_column *column, const void *data,
                          const uint64_t *validity, uint64_t row)
{
    enum tv_sql_format format = result->output->format;
    bool json = format == TV_SQL_JSON || format == TV_SQL_JSONL;
    bool is_null =
        column->type == DUCK_SQLNULL || (validity && !(validity[row / 64] >> row % 64 & 1));
    char *owned;
    if (is_null) {
        tv_out_text(out, json ? "null" : format == TV_SQL_CSV ? "" : "NULL");
    } else if (column->type == DUCK_BOOLEAN) {
        tv_out_text(out, ((const bool *)data)[row] ? "true" : "false");
    } else if (column->type == DUCK_DOUBLE) {
        sql_put_double(out, ((const double *)data)[row], json);
    } else if (column->type == DUCK_FLOAT) {
        sql_put_double(out, (double)((const float *)data)[row], json);
    } else if (sql_is_numeric(column->type)) {
        sql_put_integer_value(out, column->type, data, row);
    } else {
        struct tv_bytes text = sql_text_of(column, data, row, &owned);
        sql_put_value_text(out, format, text);
        tv_duck.free(owned);
    }
}

/* ---- Rows ---- */

/* The vectors of a chunk. */
struct sql_chunk {
    const void *data[256];
    const uint64_t *validity[256];
};

static void sql_write_separated(struct sql_result *result, const struct sql_chunk *chunk,
                                uint64_t row, const char *before, const char *between,
                                const char *behind)
{
    struct tv_out *out = result->out;
    tv_out_text(out, before);
    if (result->output->file.data) {
        sql_put_value_text(out, result->output->format, result->output->file);
        tv_out_text(out, between);
    }
    for (uint64_t i = 0; i < result->column_count; i++) {
        tv_out_text(out, i > 0 ? between : "");
        sql_put_value(result, out, &result->columns[i], chunk->data[i], chunk->validity[i], row);
    }
    tv_out_text(out, behind);
}

static void sql_write_object(struct sql_result *result, const struct sql_chunk *chunk, uint64_t row)
{
    struct tv_out *out = result->out;
    bool listed = result->output->format == TV_SQL_JSON;
    tv_out_text(out, listed ? result->rows > 0 ? ",\n  {" : "\n  {" : "{");
    if (result->output->file.data)
        tv_json_put_text(out, "", "file", result->output->file);
    for (uint64_t i = 0; i < result->column_count; i++) {
        tv_out_text(out, i > 0 || result->output->file.data ? ", " : "");
        tv_out_json(out, (struct tv_bytes){(const uint8_t *)result->columns[i].name,
                                           strlen(result->columns[i].name)});
        tv_out_text(out, ": ");
        sql_put_value(result, out, &result->columns[i], chunk->data[i], chunk->validity[i], row);
    }
    tv_out_text(out, listed ? "}" : "}\n");
}

static void sql_write_row(struct sql_result *result, const struct sql_chunk *chunk, uint64_t row)
{
    switch (result->output->format) {
    case TV_SQL_TABLE:
        sql_write_separated(result, chunk, row, "", "\t", "\n");
        break;
    case TV_SQL_CSV:
        sql_write_separated(result, chunk, row, "", ",", "\n");
        break;
    case TV_SQL_MARKDOWN:
        sql_write_separated(result, chunk, row, "| ", " | ", " |\n");
        break;
    default:
        sql_write_object(result, chunk, row);
    }
    result->rows++;
}

static void sql_write_heading(struct sql_result *result)
{
    enum tv_sql_format format = result->output->format;
    struct tv_out *out = result->out;
    const char *between = format == TV_SQL_TABLE ? "\t" : format == TV_SQL_CSV ? "," : " | ";
    if (format == TV_SQL_JSON)
        tv_out_char(out, '[');
    if (format == TV_SQL_JSON || format == TV_SQL_JSONL || result->output->headed)
        return;
    result->output->headed = true;
    tv_out_text(out, format == TV_SQL_MARKDOWN ? "| " : "");
    tv_out_text(out, result->output->file.data ? "file" : "");
    for (uint64_t i = 0; i < result->column_count; i++) {
        tv_out_text(out, i > 0 || result->output->file.data ? between : "");
        sql_put_value_text(out, format,
                           (struct tv_bytes){(const uint8_t *)result->columns[i].name,
                                             strlen(result->columns[i].name)});
    }
    tv_out_text(out, format == TV_SQL_MARKDOWN ? " |\n|" : "\n");
    if (format != TV_SQL_MARKDOWN)
        return;
    for (uint64_t i = 0; i < result->column_count + (result->output->file.data != NULL); i++)
        tv_out_text(out, "---|");
    tv_out_char(out, '\n');
}

static enum tv_status sql_list_columns(struct sql_result *result, duck_result *from,
                                       struct tv_error *err)
{
    result->column_count = tv_duck.column_count(from);
    if (result->column_count > 256)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "SQL: more than 256 columns");
    result->columns = tv_alloc((size_t)result->column_count, sizeof *result->columns);
    for (uint64_t i = 0; i < result->column_count; i++) {
        struct sql_result_column *column = &result->columns[i];
        column->name = tv_duck.column_name(from, i);
        column->type = tv_duck.column_type(from, i);
        if (!sql_is_known(column->type))
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                           "SQL: column %s has a type that cannot be written: cast it, %s::text",
                           column->name, column->name);
        if (column->type == DUCK_ENUM) {
            column->logical = tv_duck.column_logical_type(from, i);
            int internal = tv_duck.enum_internal_type(column->logical);
            column->enum_bytes = internal == DUCK_UTINYINT ? 1 : internal == DUCK_USMALLINT ? 2 : 4;
        }
    }
    return TV_OK;
}

static void sql_write_rows(struct sql_result *result, duck_result *from)
{
    uint64_t most = result->output->max_rows > 0 ? result->output->max_rows : UINT64_MAX;
    struct sql_chunk vectors;
    for (duck_chunk chunk; (chunk = tv_duck.fetch_chunk(*from)) != NULL;) {
        uint64_t rows = tv_duck.data_chunk_get_size(chunk);
        for (uint64_t i = 0; i < result->column_count; i++) {
            duck_vector vector = tv_duck.data_chunk_get_vector(chunk, i);
            vectors.data[i] = tv_duck.vector_get_data(vector);
            vectors.validity[i] = tv_duck.vector_get_validity(vector);
        }
        for (uint64_t row = 0; row < rows && result->rows < most; row++)
            sql_write_row(result, &vectors, row);
        tv_duck.destroy_data_chunk(&chunk);
        if (rows == 0 || result->rows >= most || tv_out_has_failed(result->out))
            break;
    }
}

enum tv_status tv_sql_write_result(struct tv_out *out, duck_result *from,
                                   struct tv_sql_output *output, struct tv_error *err)
{
    struct sql_result result = {.output = output, .out = out};
    enum tv_status status = sql_list_columns(&result, from, err);
    if (status == TV_OK) {
        sql_write_heading(&result);
        sql_write_rows(&result, from);
        if (output->format == TV_SQL_JSON)
            tv_out_text(out, result.rows > 0 ? "\n]\n" : "]\n");
    }
    for (uint64_t i = 0; i < result.column_count && result.columns; i++)
        if (result.columns[i].logical)
            tv_duck.destroy_logical_type(&result.columns[i].logical);
    tv_free(result.columns);
    return status;
}
