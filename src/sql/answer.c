/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer.c - rows for the page: a JSON object with the columns and a part of the rows, within
 * bounds, because a query may find any number of rows of any length.
 *
 * A number that JavaScript cannot hold exactly is written as a text; the type of its column says
 * that it is a number.
 */
#include <math.h>
#include <string.h>

#include "sql/values.h"
#include "writers/text/names.h"

/* Longest text of a value, in bytes. */
#define LONGEST_TEXT ((size_t)16 << 10)

/* Integers up to here are exact in JavaScript. */
#define LARGEST_EXACT (INT64_C(1) << 53)

struct sql_answer {
    const struct tv_sql_bounds *bounds;
    struct tv_sql_columns columns;
    struct tv_out *out;
    uint64_t seen, written; /* rows */
    uint64_t cut;           /* texts */
    bool more;
};

/* ---- Values ---- */

/* Write a text, or as many of its characters as are not too long. */
static void sql_answer_text(struct sql_answer *answer, struct tv_bytes text)
{
    if (text.length > LONGEST_TEXT) {
        answer->cut++;
        text.length = LONGEST_TEXT;
        /* A character of UTF-8 is not cut in two. */
        while (text.length > 0 && (text.data[text.length] & 0xc0) == 0x80)
            text.length--;
    }
    tv_out_json(answer->out, text);
}

/* Write an integer of up to 128 bits, as a text if JavaScript would round it. */
static void sql_answer_huge(struct tv_out *out, const struct tv_sql_value *value)
{
    bool exact = value->integer == 0 && value->low <= (uint64_t)LARGEST_EXACT;
    tv_out_text(out, exact ? "" : "\"");
    tv_sql_put_huge(out, value);
    tv_out_text(out, exact ? "" : "\"");
}

/* Write a number; JSON has no words for those that are not finite, so they are
 * texts. */
static void sql_answer_real(struct tv_out *out, double real)
{
    if (isfinite(real))
        tv_json_put_double(out, real);
    else
        tv_out_text(out, isnan(real) ? "\"nan\"" : real > 0 ? "\"inf\"" : "\"-inf\"");
}

static void sql_answer_value(struct sql_answer *answer, struct tv_sql_value *value)
{
    struct tv_out *out = answer->out;
    bool exact = value->integer <= LARGEST_EXACT && value->integer >= -LARGEST_EXACT;
    switch (value->kind) {
    case TV_SQL_IS_NULL:
        tv_out_text(out, "null");
        break;
    case TV_SQL_IS_BOOLEAN:
        tv_out_text(out, value->integer ? "true" : "false");
        break;
    case TV_SQL_IS_INTEGER:
        tv_out_text(out, exact ? "" : "\"");
        tv_out_i64(out, value->integer);
        tv_out_text(out, exact ? "" : "\"");
        break;
    case TV_SQL_IS_HUGE:
        sql_answer_huge(out, value);
        break;
    case TV_SQL_IS_REAL:
        sql_answer_real(out, value->real);
        break;
    case TV_SQL_IS_TEXT:
        sql_answer_text(answer, value->text);
    }
}

/* ---- Columns and rows ---- */

/* Name the kind of a column for the page, which aligns and sorts by it. */
static const char *sql_answer_type(int type)
{
    switch (type) {
    case DUCK_BOOLEAN:
        return "boolean";
    case DUCK_FLOAT:
    case DUCK_DOUBLE:
        return "real";
    case DUCK_VARCHAR:
    case DUCK_ENUM:
    case DUCK_SQLNULL:
        return "text";
    default:
        return "integer";
    }
}

static void sql_answer_columns(struct sql_answer *answer)
{
    tv_out_text(answer->out, "{\"columns\":[");
    for (uint64_t i = 0; i < answer->columns.count; i++) {
        const struct tv_sql_result_column *column = &answer->columns.items[i];
        tv_out_text(answer->out, i > 0 ? ",[" : "[");
        sql_answer_text(answer,
                        (struct tv_bytes){(const uint8_t *)column->name, strlen(column->name)});
        tv_out_format(answer->out, ",\"%s\"]", sql_answer_type(column->type));
    }
    tv_out_text(answer->out, "],\"rows\":[");
}

static void sql_answer_row(struct sql_answer *answer, const struct tv_sql_chunk *chunk,
                           uint64_t row)
{
    tv_out_text(answer->out, answer->written++ > 0 ? ",\n[" : "[");
    for (uint64_t i = 0; i < answer->columns.count; i++) {
        struct tv_sql_value value =
            tv_sql_value_read(&answer->columns.items[i], chunk->data[i], chunk->validity[i], row);
        tv_out_text(answer->out, i > 0 ? "," : "");
        sql_answer_value(answer, &value);
    }
    tv_out_char(answer->out, ']');
}

/* Write the rows of a chunk that belong to the part. */
static void sql_answer_chunk(struct sql_answer *answer, const struct tv_sql_chunk *chunk)
{
    for (uint64_t row = 0; row < chunk->count && !answer->more; row++) {
        if (answer->seen++ < answer->bounds->offset)
            continue;
        answer->more =
            answer->written >= answer->bounds->rows || answer->out->length >= answer->bounds->bytes;
        if (!answer->more)
            sql_answer_row(answer, chunk, row);
    }
}

/* The row after the last one of the part is fetched, too: it tells that there
 * are more. */
enum tv_status tv_sql_write_answer(struct tv_out *out, duck_result *from,
                                   const struct tv_sql_bounds *bounds, struct tv_error *err)
{
    struct sql_answer answer = {.bounds = bounds, .out = out};
    struct tv_sql_chunk chunk;
    const struct tv_sql_rows rows = {.result = from};
    enum tv_status status = tv_sql_columns_list(&answer.columns, &rows, err);
    if (status == TV_OK) {
        sql_answer_columns(&answer);
        while (!answer.more && tv_sql_chunk_fetch(&chunk, &rows, answer.columns.count)) {
            sql_answer_chunk(&answer, &chunk);
            tv_sql_chunk_release(&chunk);
        }
        tv_out_format(out, "],\"offset\":%llu,\"more\":%s,\"cut\":%llu}",
                      (unsigned long long)bounds->offset, answer.more ? "true" : "false",
                      (unsigned long long)answer.cut);
    }
    tv_sql_columns_release(&answer.columns);
    return status;
}

/* Ids count the slices row by row, and then the instants (slices.c). */
struct tv_sql_place tv_sql_find_place(const struct tv_trace *trace, uint64_t id)
{
    struct tv_sql_place place = {TV_NONE, 0, TV_NONE};
    uint32_t row = 0;
    for (; row < trace->row_count && id >= trace->rows[row].count; row++)
        id -= trace->rows[row].count;
    if (row < trace->row_count) {
        place.row = row;
        place.index = (uint32_t)id;
    } else if (id < trace->tables.instants.count) {
        place.instant = (uint32_t)id;
    }
    return place;
}
