/* SPDX-License-Identifier: Apache-2.0 */
/*
 * values.c - decodes the vectors of a result and writes them (values.h).
 *
 * Integers, numbers, texts, booleans, decimals and names are decoded here.  Columns of other types
 * (lists, dates, ...) have become texts before (sql.c).
 */
#include "sql/values.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "parquet/parquet.h"
#include "writers/text/layout.h"
#include "writers/text/names.h"

struct sql_result {
    struct tv_sql_columns columns;
    struct tv_sql_output *output;
    struct tv_out *out;
    uint64_t rows;
};

bool tv_sql_is_written(int type)
{
    return type == DUCK_DECIMAL || (type >= DUCK_BOOLEAN && type <= DUCK_DOUBLE) ||
           type == DUCK_HUGEINT || type == DUCK_VARCHAR || type == DUCK_ENUM ||
           type == DUCK_SQLNULL;
}

/* ---- Values ---- */

/* Return the text with a number of an ENUM.  The library makes a copy at each call, so that the
 * texts of a result are asked for once. */
static struct tv_bytes sql_enum_text(const struct tv_sql_result_column *column, uint64_t number)
{
    if (number >= column->enum_count)
        return TV_BYTES("");
    struct tv_bytes *text = &column->enum_texts[number];
    if (!text->data) {
        char *copy = tv_duck.enum_dictionary_value(column->logical, number);
        *text = TV_BYTES("");
        if (copy && *copy)
            *text = tv_bytes_of(copy);
        else if (copy)
            tv_duck.free(copy);
    }
    return *text;
}

/* Return the text of a VARCHAR or of an ENUM. */
static struct tv_bytes sql_text_of(const struct tv_sql_result_column *column, const void *data,
                                   uint64_t row)
{
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
    return sql_enum_text(column, number);
}

double tv_sql_huge_real(const struct tv_sql_value *number)
{
    __extension__ typedef __int128 huge;
    __extension__ typedef unsigned __int128 bits;
    return (double)(huge)((bits)(uint64_t)number->integer << 64 | number->low);
}

/* Read a decimal as a real number: its integers count parts of one. */
static struct tv_sql_value sql_read_decimal(const struct tv_sql_result_column *column,
                                            const void *data, const uint64_t *validity,
                                            uint64_t row)
{
    const struct tv_sql_result_column integers = {.type = column->decimal};
    struct tv_sql_value value = tv_sql_value_read(&integers, data, validity, row);
    if (value.kind == TV_SQL_IS_NULL)
        return value;
    double real = value.kind == TV_SQL_IS_HUGE ? tv_sql_huge_real(&value) : (double)value.integer;
    return (struct tv_sql_value){TV_SQL_IS_REAL, .real = real / column->divisor};
}

struct tv_sql_value tv_sql_value_read(const struct tv_sql_result_column *column, const void *data,
                                      const uint64_t *validity, uint64_t row)
{
    struct tv_sql_value value = {.kind = TV_SQL_IS_INTEGER};
    if (column->decimal != 0)
        return sql_read_decimal(column, data, validity, row);
    if (column->type == DUCK_SQLNULL || (validity && !(validity[row / 64] >> row % 64 & 1)))
        return (struct tv_sql_value){.kind = TV_SQL_IS_NULL};
    switch (column->type) {
    case DUCK_BOOLEAN:
        value.kind = TV_SQL_IS_BOOLEAN;
        value.integer = ((const bool *)data)[row];
        break;
    case DUCK_TINYINT:
        value.integer = ((const int8_t *)data)[row];
        break;
    case DUCK_SMALLINT:
        value.integer = ((const int16_t *)data)[row];
        break;
    case DUCK_INTEGER:
        value.integer = ((const int32_t *)data)[row];
        break;
    case DUCK_BIGINT:
        value.integer = ((const int64_t *)data)[row];
        break;
    case DUCK_UTINYINT:
        value.integer = ((const uint8_t *)data)[row];
        break;
    case DUCK_USMALLINT:
        value.integer = ((const uint16_t *)data)[row];
        break;
    case DUCK_UINTEGER:
        value.integer = ((const uint32_t *)data)[row];
        break;
    case DUCK_UBIGINT:
        value.low = ((const uint64_t *)data)[row];
        value.kind = TV_SQL_IS_HUGE;
        break;
    case DUCK_HUGEINT:
        memcpy(&value.low, (const uint8_t *)data + row * 16, 8);
        memcpy(&value.integer, (const uint8_t *)data + row * 16 + 8, 8);
        value.kind = TV_SQL_IS_HUGE;
        break;
    case DUCK_FLOAT:
        value = (struct tv_sql_value){TV_SQL_IS_REAL, .real = (double)((const float *)data)[row]};
        break;
    case DUCK_DOUBLE:
        value = (struct tv_sql_value){TV_SQL_IS_REAL, .real = ((const double *)data)[row]};
        break;
    default:
        value.kind = TV_SQL_IS_TEXT;
        value.text = sql_text_of(column, data, row);
    }
    return value;
}

/* Most values are integers of 64 bits, of which only what is used is written: answers have millions
 * of them. */
void tv_sql_row_read(const struct tv_sql_columns *columns, const struct tv_sql_chunk *chunk,
                     uint64_t row, struct tv_sql_value *values)
{
    for (uint64_t i = 0; i < columns->count; i++) {
        const int type = columns->items[i].type;
        const uint64_t *validity = chunk->validity[i];
        bool is_known = !validity || validity[row / 64] >> row % 64 & 1;
        if (is_known && type == DUCK_BIGINT) {
            values[i].kind = TV_SQL_IS_INTEGER;
            values[i].integer = ((const int64_t *)chunk->data[i])[row];
        } else if (is_known && type == DUCK_UBIGINT) {
            values[i].kind = TV_SQL_IS_HUGE;
            values[i].integer = 0;
            values[i].low = ((const uint64_t *)chunk->data[i])[row];
        } else {
            values[i] = tv_sql_value_read(&columns->items[i], chunk->data[i], validity, row);
        }
    }
}

/* ---- Values as text ---- */

void tv_sql_put_huge(struct tv_out *out, const struct tv_sql_value *number)
{
    __extension__ typedef unsigned __int128 huge;
    huge value = (huge)(uint64_t)number->integer << 64 | number->low;
    char digits[40];
    size_t count = 0;
    if (number->integer < 0) {
        value = ~value + 1;
        tv_out_char(out, '-');
    }
    do
        digits[count++] = (char)('0' + (int)(value % 10));
    while ((value /= 10) > 0);
    while (count > 0)
        tv_out_char(out, digits[--count]);
}

/* Write a number.  In JSON, tv_json_put_double writes null for NaN and a text
 * for infinity; elsewhere words name them. */
static void sql_put_double(struct tv_out *out, double value, bool json)
{
    if (json)
        tv_json_put_double(out, value);
    else if (isfinite(value))
        tv_json_put_double(out, value);
    else
        tv_out_text(out, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

/* Write a text as a cell of Markdown, which would take some characters for its own or for HTML. */
static void sql_put_markdown_text(struct tv_out *out, struct tv_bytes text)
{
    struct tv_out line;
    tv_out_init_memory(&line);
    tv_names_line(&line, text);
    for (size_t i = 0; i < line.length; i++) {
        if (line.buffer[i] == '<')
            tv_out_text(out, "&lt;");
        else if (line.buffer[i] == '&')
            tv_out_text(out, "&amp;");
        else if (memchr("|\\`*[]", line.buffer[i], 6))
            tv_out_format(out, "\\%c", line.buffer[i]);
        else
            tv_out_char(out, (char)line.buffer[i]);
    }
    tv_out_release(&line);
}

/* Write a text so that it stays one cell of the format: quoted in CSV, escaped
 * in JSON and Markdown, on one line elsewhere. */
static void sql_put_value_text(struct tv_out *out, enum tv_sql_format format, struct tv_bytes text)
{
    switch (format) {
    case TV_SQL_MARKDOWN:
        sql_put_markdown_text(out, text);
        break;
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

/* NULL is empty in CSV, null in JSON, and a word in tables for people. */
void tv_sql_put_value(struct tv_out *out, enum tv_sql_format format,
                      const struct tv_sql_value *value)
{
    bool json = format == TV_SQL_JSON || format == TV_SQL_JSONL;
    switch (value->kind) {
    case TV_SQL_IS_NULL:
        tv_out_text(out, json ? "null" : format == TV_SQL_CSV ? "" : "NULL");
        break;
    case TV_SQL_IS_BOOLEAN:
        tv_out_text(out, value->integer ? "true" : "false");
        break;
    case TV_SQL_IS_INTEGER:
        tv_out_i64(out, value->integer);
        break;
    case TV_SQL_IS_HUGE:
        tv_sql_put_huge(out, value);
        break;
    case TV_SQL_IS_REAL:
        sql_put_double(out, value->real, json);
        break;
    case TV_SQL_IS_TEXT:
        sql_put_value_text(out, format, value->text);
    }
}

/* Write the value of a column in a row of a chunk. */
static void sql_put_value(const struct sql_result *result, const struct tv_sql_chunk *chunk,
                          uint64_t column, uint64_t row)
{
    struct tv_sql_value value = tv_sql_value_read(
        &result->columns.items[column], chunk->data[column], chunk->validity[column], row);
    tv_sql_put_value(result->out, result->output->format, &value);
}

/* ---- Rows ---- */

/* Write a row as cells with a text before, between and after them.  With
 * several traces, the first cell is the file's name. */
static void sql_write_separated(struct sql_result *result, const struct tv_sql_chunk *chunk,
                                uint64_t row, const char *before, const char *between,
                                const char *behind)
{
    struct tv_out *out = result->out;
    tv_out_text(out, before);
    if (result->output->file.data) {
        sql_put_value_text(out, result->output->format, result->output->file);
        tv_out_text(out, between);
    }
    for (uint64_t i = 0; i < result->columns.count; i++) {
        tv_out_text(out, i > 0 ? between : "");
        sql_put_value(result, chunk, i, row);
    }
    tv_out_text(out, behind);
}

/* Write a row as a JSON object: an element of the array, or a line of its own
 * (JSONL). */
static void sql_write_object(struct sql_result *result, const struct tv_sql_chunk *chunk,
                             uint64_t row)
{
    struct tv_out *out = result->out;
    bool listed = result->output->format == TV_SQL_JSON;
    tv_out_text(out, listed ? result->output->array_has_rows ? ",\n  {" : "\n  {" : "{");
    result->output->array_has_rows = true;
    if (result->output->file.data)
        tv_json_put_text(out, "", "file", result->output->file);
    for (uint64_t i = 0; i < result->columns.count; i++) {
        tv_out_text(out, i > 0 || result->output->file.data ? ", " : "");
        tv_out_json(out, (struct tv_bytes){(const uint8_t *)result->columns.items[i].name,
                                           strlen(result->columns.items[i].name)});
        tv_out_text(out, ": ");
        sql_put_value(result, chunk, i, row);
    }
    tv_out_text(out, listed ? "}" : "}\n");
}

static void sql_write_row(struct sql_result *result, const struct tv_sql_chunk *chunk, uint64_t row)
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

/* Begin the array of JSON, unless the rows of an earlier answer are in it. */
static void sql_begin_array(struct tv_sql_output *output, struct tv_out *out)
{
    if (output->in_array)
        return;
    tv_out_char(out, '[');
    output->in_array = true;
    output->array_has_rows = false;
}

void tv_sql_end_array(struct tv_sql_output *output, struct tv_out *out)
{
    sql_begin_array(output, out);
    tv_out_text(out, output->array_has_rows ? "\n]" : "]");
    output->in_array = false;
}

/* Write the line with the names of the columns.  With several traces it is
 * written once, before the rows of the first one. */
static void sql_write_heading(struct sql_result *result)
{
    enum tv_sql_format format = result->output->format;
    struct tv_out *out = result->out;
    const char *between = format == TV_SQL_TABLE ? "\t" : format == TV_SQL_CSV ? "," : " | ";
    if (format == TV_SQL_JSON || format == TV_SQL_JSONL || result->output->headed)
        return;
    result->output->headed = true;
    tv_out_text(out, format == TV_SQL_MARKDOWN ? "| " : "");
    tv_out_text(out, result->output->file.data ? "file" : "");
    for (uint64_t i = 0; i < result->columns.count; i++) {
        tv_out_text(out, i > 0 || result->output->file.data ? between : "");
        sql_put_value_text(out, format,
                           (struct tv_bytes){(const uint8_t *)result->columns.items[i].name,
                                             strlen(result->columns.items[i].name)});
    }
    tv_out_text(out, format == TV_SQL_MARKDOWN ? " |\n|" : "\n");
    if (format != TV_SQL_MARKDOWN)
        return;
    for (uint64_t i = 0; i < result->columns.count + (result->output->file.data != NULL); i++)
        tv_out_text(out, "---|");
    tv_out_char(out, '\n');
}

/* Make a decimal a column of integers, or of real numbers if it has digits after the point. */
static void sql_resolve_decimal(struct tv_sql_result_column *column, duck_result *from,
                                uint64_t number)
{
    if (column->type != DUCK_DECIMAL)
        return;
    column->logical = tv_duck.column_logical_type(from, number);
    int scale = tv_duck.decimal_scale(column->logical);
    column->type = tv_duck.decimal_internal_type(column->logical);
    if (scale == 0)
        return;
    column->decimal = column->type;
    column->type = DUCK_DOUBLE;
    column->divisor = pow(10, scale);
}

/* List the columns of DuckDB's result.  The names belong to the result; the
 * logical types are ours to destroy. */
static enum tv_status sql_columns_of_result(struct tv_sql_columns *columns, duck_result *from,
                                            struct tv_error *err)
{
    columns->count = tv_duck.column_count(from);
    if (columns->count > TV_SQL_MAX_COLUMNS)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "SQL: more than 256 columns");
    columns->items = tv_alloc((size_t)columns->count, sizeof *columns->items);
    for (uint64_t i = 0; i < columns->count; i++) {
        struct tv_sql_result_column *column = &columns->items[i];
        column->name = tv_duck.column_name(from, i);
        column->type = tv_duck.column_type(from, i);
        sql_resolve_decimal(column, from, i);
        if (!tv_sql_is_written(column->type))
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                           "SQL: column %s has a type that cannot be written: cast it, %s::text",
                           column->name, column->name);
        if (column->type == DUCK_ENUM) {
            column->logical = tv_duck.column_logical_type(from, i);
            int internal = tv_duck.enum_internal_type(column->logical);
            column->enum_bytes = internal == DUCK_UTINYINT ? 1 : internal == DUCK_USMALLINT ? 2 : 4;
            column->enum_count = tv_duck.enum_dictionary_size(column->logical);
            column->enum_texts = tv_alloc(column->enum_count, sizeof *column->enum_texts);
        }
    }
    return TV_OK;
}

enum tv_status tv_sql_columns_list(struct tv_sql_columns *columns, const struct tv_sql_rows *from,
                                   struct tv_error *err)
{
    if (from->result)
        return sql_columns_of_result(columns, from->result, err);
    tv_sql_exporter_columns(from->table, columns);
    return TV_OK;
}

bool tv_sql_chunk_fetch(struct tv_sql_chunk *chunk, const struct tv_sql_rows *from,
                        uint64_t columns)
{
    if (!from->result)
        return tv_sql_exporter_next(from->table, chunk);
    chunk->chunk = tv_duck.fetch_chunk(*from->result);
    if (!chunk->chunk)
        return false;
    chunk->count = tv_duck.data_chunk_get_size(chunk->chunk);
    for (uint64_t i = 0; i < columns; i++) {
        duck_vector vector = tv_duck.data_chunk_get_vector(chunk->chunk, i);
        chunk->data[i] = tv_duck.vector_get_data(vector);
        chunk->validity[i] = tv_duck.vector_get_validity(vector);
    }
    return true;
}

void tv_sql_chunk_release(struct tv_sql_chunk *chunk)
{
    if (chunk->chunk)
        tv_duck.destroy_data_chunk(&chunk->chunk);
}

/* Free what a column of an ENUM has. */
static void sql_enum_release(struct tv_sql_result_column *column)
{
    for (uint32_t i = 0; i < column->enum_count; i++)
        if (column->enum_texts[i].length > 0) /* an empty one is not the library's */
            tv_duck.free((void *)(uintptr_t)column->enum_texts[i].data);
    tv_free(column->enum_texts);
    tv_duck.destroy_logical_type(&column->logical);
}

void tv_sql_columns_release(struct tv_sql_columns *columns)
{
    for (uint64_t i = 0; i < columns->count && columns->items; i++)
        if (columns->items[i].logical)
            sql_enum_release(&columns->items[i]);
    tv_free(columns->items);
    columns->items = NULL;
}

/* Write the rows up to the limit.  The result is a stream: rows that nobody
 * fetches are never computed. */
static void sql_write_rows(struct sql_result *result, const struct tv_sql_rows *from)
{
    uint64_t most = result->output->max_rows > 0 ? result->output->max_rows : UINT64_MAX;
    struct tv_sql_chunk chunk;
    while (result->rows < most && !tv_out_has_failed(result->out) &&
           tv_sql_chunk_fetch(&chunk, from, result->columns.count)) {
        for (uint64_t row = 0; row < chunk.count && result->rows < most; row++)
            sql_write_row(result, &chunk, row);
        tv_sql_chunk_release(&chunk);
    }
}

/* ---- Parquet ---- */

/* Return the type of a column in a Parquet file; all smaller integers become
 * INT64. */
static enum tv_parquet_type sql_parquet_type(int type)
{
    switch (type) {
    case DUCK_BOOLEAN:
        return TV_PARQUET_BOOLEAN;
    case DUCK_UBIGINT:
        return TV_PARQUET_UINT64;
    case DUCK_HUGEINT:
        return TV_PARQUET_HUGE;
    case DUCK_FLOAT:
    case DUCK_DOUBLE:
        return TV_PARQUET_REAL;
    case DUCK_VARCHAR:
    case DUCK_ENUM:
    case DUCK_SQLNULL:
        return TV_PARQUET_TEXT;
    default:
        return TV_PARQUET_INT64;
    }
}

/* Put a value that is not NULL. */
static void sql_put_parquet(struct tv_parquet *parquet, size_t column, enum tv_parquet_type type,
                            struct tv_sql_value *value)
{
    switch (value->kind) {
    case TV_SQL_IS_NULL:
        break;
    case TV_SQL_IS_BOOLEAN:
    case TV_SQL_IS_INTEGER:
        tv_parquet_put_integer(parquet, column, value->integer);
        break;
    case TV_SQL_IS_HUGE:
        if (type == TV_PARQUET_UINT64)
            tv_parquet_put_integer(parquet, column, (int64_t)value->low);
        else
            tv_parquet_put_huge(parquet, column, value->integer, value->low);
        break;
    case TV_SQL_IS_REAL:
        tv_parquet_put_real(parquet, column, value->real);
        break;
    case TV_SQL_IS_TEXT:
        tv_parquet_put_text(parquet, column, value->text);
    }
}

/* Rows that are brought into the form of the writer at once: those of a word of validity. */
#define PARQUET_BLOCK 64u

/* Put rows [first, first + count) of a column that the writer does not take as it is. */
static void sql_put_parquet_block(struct tv_parquet *parquet, size_t column,
                                  const struct tv_sql_result_column *from,
                                  const struct tv_sql_chunk *chunk, uint64_t first, uint64_t count)
{
    enum tv_parquet_type type = sql_parquet_type(from->type);
    struct tv_bytes texts[PARQUET_BLOCK];
    int64_t integers[PARQUET_BLOCK];
    double reals[PARQUET_BLOCK];
    uint64_t valid = 0;
    for (uint64_t i = 0; i < count; i++) {
        struct tv_sql_value value =
            tv_sql_value_read(from, chunk->data[column], chunk->validity[column], first + i);
        bool is_null = value.kind == TV_SQL_IS_NULL;
        valid |= (uint64_t)!is_null << i;
        integers[i] = value.integer;
        reals[i] = value.real;
        texts[i] = is_null ? (struct tv_bytes){NULL, 0} : value.text;
        if (!is_null && !texts[i].data)
            texts[i].data = (const uint8_t *)"";
    }
    if (type == TV_PARQUET_TEXT)
        tv_parquet_put_texts(parquet, column, texts, (size_t)count);
    else if (type == TV_PARQUET_REAL)
        tv_parquet_put_reals(parquet, column, reals, &valid, (size_t)count);
    else
        tv_parquet_put_integers(parquet, column, integers, &valid, (size_t)count);
}

/* Put the first rows of a column of a chunk. */
static void sql_put_parquet_column(struct tv_parquet *parquet, size_t column,
                                   const struct tv_sql_result_column *from,
                                   const struct tv_sql_chunk *chunk, uint64_t count)
{
    if (from->type == DUCK_BIGINT || from->type == DUCK_UBIGINT) {
        tv_parquet_put_integers(parquet, column, chunk->data[column], chunk->validity[column],
                                (size_t)count);
    } else if (from->type == DUCK_DOUBLE && from->decimal == 0) {
        tv_parquet_put_reals(parquet, column, chunk->data[column], chunk->validity[column],
                             (size_t)count);
    } else {
        for (uint64_t first = 0; first < count; first += PARQUET_BLOCK)
            sql_put_parquet_block(parquet, column, from, chunk, first,
                                  count - first < PARQUET_BLOCK ? count - first : PARQUET_BLOCK);
    }
}

/* Texts of a chunk that is written column by column, in bytes: a row group ends within a chunk only
 * when it is written row by row. */
#define MOST_TEXT ((size_t)8 << 20)

/* Can a chunk be written column by column? */
static bool sql_is_parquet_chunk(const struct sql_result *result, const struct tv_sql_chunk *chunk)
{
    size_t bytes = 0;
    for (uint64_t i = 0; i < result->columns.count; i++) {
        const struct tv_sql_result_column *column = &result->columns.items[i];
        if (sql_parquet_type(column->type) == TV_PARQUET_HUGE)
            return false;
        const uint64_t *valid = chunk->validity[i];
        bool is_text = column->type == DUCK_VARCHAR || column->type == DUCK_ENUM;
        for (uint64_t row = 0; is_text && row < chunk->count; row++)
            if (!valid || valid[row / 64] >> row % 64 & 1)
                bytes += sql_text_of(column, chunk->data[i], row).length;
    }
    return bytes <= MOST_TEXT;
}

/* Write the first rows of a chunk; the columns of the file are those of the result. */
static enum tv_status sql_write_parquet_chunk(struct sql_result *result,
                                              const struct tv_sql_chunk *chunk, uint64_t count,
                                              struct tv_parquet *parquet, struct tv_error *err)
{
    const struct tv_sql_columns *columns = &result->columns;
    enum tv_status status = TV_OK;
    if (sql_is_parquet_chunk(result, chunk)) {
        for (uint64_t i = 0; i < columns->count; i++)
            sql_put_parquet_column(parquet, (size_t)i, &columns->items[i], chunk, count);
        return tv_parquet_end_rows(parquet, (size_t)count, err);
    }
    for (uint64_t row = 0; row < count && status == TV_OK; row++) {
        for (uint64_t i = 0; i < columns->count; i++) {
            struct tv_sql_value value =
                tv_sql_value_read(&columns->items[i], chunk->data[i], chunk->validity[i], row);
            sql_put_parquet(parquet, (size_t)i, sql_parquet_type(columns->items[i].type), &value);
        }
        status = tv_parquet_end_row(parquet, err);
    }
    return status;
}

static enum tv_status sql_write_parquet_rows(struct sql_result *result,
                                             const struct tv_sql_rows *from,
                                             struct tv_parquet *parquet, struct tv_error *err)
{
    uint64_t most = result->output->max_rows > 0 ? result->output->max_rows : UINT64_MAX;
    struct tv_sql_chunk chunk;
    enum tv_status status = TV_OK;
    while (result->rows < most && status == TV_OK && !tv_out_has_failed(result->out) &&
           tv_sql_chunk_fetch(&chunk, from, result->columns.count)) {
        uint64_t count = chunk.count < most - result->rows ? chunk.count : most - result->rows;
        status = sql_write_parquet_chunk(result, &chunk, count, parquet, err);
        result->rows += count;
        tv_sql_chunk_release(&chunk);
    }
    return status;
}

/* Write a file with the rows.  No column of a query is a list: tv_sql_is_written
 * refuses them. */
static enum tv_status sql_write_parquet(struct sql_result *result, const struct tv_sql_rows *from,
                                        struct tv_error *err)
{
    size_t count = (size_t)result->columns.count;
    struct tv_parquet_column *columns = tv_alloc(count, sizeof *columns);
    for (size_t i = 0; i < count; i++)
        columns[i] = (struct tv_parquet_column){
            result->columns.items[i].name, sql_parquet_type(result->columns.items[i].type), false};
    struct tv_parquet *parquet = tv_parquet_new(result->out, columns, count);
    enum tv_status status = sql_write_parquet_rows(result, from, parquet, err);
    /* A query that failed on the way makes the output fail without our knowing. */
    if (status == TV_OK)
        status = tv_parquet_finish(parquet, err);
    tv_parquet_free(parquet);
    tv_free(columns);
    return status;
}

enum tv_status tv_sql_write_result(struct tv_out *out, const struct tv_sql_rows *from,
                                   struct tv_sql_output *output, struct tv_error *err)
{
    struct sql_result result = {.output = output, .out = out};
    if (output->format == TV_SQL_JSON)
        sql_begin_array(output, out);
    enum tv_status status = tv_sql_columns_list(&result.columns, from, err);
    if (status == TV_OK && output->format == TV_SQL_PARQUET) {
        status = sql_write_parquet(&result, from, err);
        output->rows = result.rows;
    } else if (status == TV_OK && output->format == TV_SQL_CHART) {
        status = tv_sql_write_chart(out, &result.columns, from, output, err);
    } else if (status == TV_OK && output->format == TV_SQL_TABLE && tv_layout_width(out) > 0) {
        tv_sql_write_screen(out, &result.columns, from, output);
    } else if (status == TV_OK) {
        sql_write_heading(&result);
        sql_write_rows(&result, from);
        output->rows = result.rows;
    }
    if (output->format == TV_SQL_JSON && !output->one_array)
        tv_sql_end_array(output, out);
    tv_sql_columns_release(&result.columns);
    return status;
}
