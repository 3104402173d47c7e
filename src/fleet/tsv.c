/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsv.c - an answer of ClickHouse as a Parquet file (clickhouse.h).
 *
 *     parts of the answer --> lines --> values without escapes --> columns of the file
 *                             ^ at most 64 MiB
 *
 * The server is not trusted: it may be another program, or answer with an error
 * in the middle of the rows.  So a line has a limit, each value must be what
 * the type of its column says, and each row must have all columns.  Anything
 * else fails with an error that does not repeat what the server said.
 *
 * The columns come from one of two places.  For a table of a fleet they are
 * given, and the first line must name them; ClickHouse has no NULL in texts and
 * keys, so an empty text and the key 0 are turned back into NULL.  For a query
 * of the user they are those of the two first lines.
 *
 * The specification is "TabSeparatedWithNamesAndTypes" in ClickHouse's
 * documentation of formats.
 */
#include "fleet/clickhouse.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"

#define LONGEST_LINE ((size_t)64 << 20)
#define MAX_COLUMNS 256u

struct tv_fleet_tsv {
    const struct tv_parquet_column *columns;
    size_t count;
    bool is_table; /* the columns were given */
    struct tv_out *out;
    struct tv_parquet *parquet; /* NULL: the two lines with names and types have not come */
    struct tv_out line;         /* that has not ended */
    struct tv_out names, text;  /* the first line; a value without its escapes */
    struct tv_parquet_column own[MAX_COLUMNS];
    bool composed[MAX_COLUMNS]; /* the texts of these are kept with their escapes */
};

struct tv_fleet_tsv *tv_fleet_tsv_new(const struct tv_parquet_column *columns, size_t count,
                                      struct tv_out *out)
{
    struct tv_fleet_tsv *tsv = tv_alloc(1, sizeof *tsv);
    tsv->columns = columns ? columns : tsv->own;
    tsv->count = count;
    tsv->is_table = columns != NULL;
    tsv->out = out;
    tv_out_init_memory(&tsv->line);
    tv_out_init_memory(&tsv->names);
    tv_out_init_memory(&tsv->text);
    return tsv;
}

void tv_fleet_tsv_free(struct tv_fleet_tsv *tsv)
{
    if (!tsv)
        return;
    tv_parquet_free(tsv->parquet);
    tv_out_release(&tsv->line);
    tv_out_release(&tsv->names);
    tv_out_release(&tsv->text);
    tv_free(tsv);
}

static enum tv_status tsv_fail(struct tv_error *err)
{
    return tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET, "the server's answer is not what was asked");
}

/* ---- Values ---- */

/* Return a text without its escapes, which is valid until the next one. */
static struct tv_bytes tsv_unescape(struct tv_fleet_tsv *tsv, struct tv_bytes text)
{
    static const char letters[] = "bfnrt0", meanings[] = "\b\f\n\r\t";
    tsv->text.length = 0;
    for (size_t i = 0; i < text.length; i++) {
        uint8_t c = text.data[i];
        if (c == '\\' && i + 1 < text.length) {
            c = text.data[++i];
            const char *letter = c ? strchr(letters, c) : NULL;
            c = letter ? (uint8_t)meanings[letter - letters] : c;
        }
        tv_out_char(&tsv->text, (char)c);
    }
    return (struct tv_bytes){tsv->text.buffer, tsv->text.length};
}

/* Put an integer, which must fit the type of its column. */
static enum tv_status tsv_put_number(struct tv_fleet_tsv *tsv, size_t column, struct tv_bytes text,
                                     struct tv_error *err)
{
    const struct tv_parquet_column *to = &tsv->columns[column];
    bool is_signed = to->type == TV_PARQUET_INT64;
    uint64_t value = 0;
    int64_t number = 0;
    if (is_signed ? !tv_parse_i64(text, &number) : !tv_parse_u64(text, &value))
        return tsv_fail(err);
    if (to->type == TV_PARQUET_UINT32 && value > UINT32_MAX)
        return tsv_fail(err);
    if (is_signed || value > 0 || !tsv->is_table || to->list || to->type != TV_PARQUET_UINT64)
        tv_parquet_put_integer(tsv->parquet, column, is_signed ? number : (int64_t)value);
    return TV_OK;
}

/* Put a number; strtod reads nan and inf as ClickHouse writes them. */
static enum tv_status tsv_put_real(struct tv_fleet_tsv *tsv, size_t column, struct tv_bytes text,
                                   struct tv_error *err)
{
    char digits[64], *end;
    if (text.length == 0 || text.length >= sizeof digits)
        return tsv_fail(err);
    memcpy(digits, text.data, text.length);
    digits[text.length] = '\0';
    double value = strtod(digits, &end);
    if (*end)
        return tsv_fail(err);
    tv_parquet_put_real(tsv->parquet, column, value);
    return TV_OK;
}

/* Return the length of a value at the start of a list, with its quotes; 0: there is none. */
static size_t tsv_item_length(struct tv_bytes list)
{
    size_t end = 1;
    if (list.length == 0 || list.data[0] != '\'') {
        const uint8_t *comma = list.length > 0 ? memchr(list.data, ',', list.length) : NULL;
        return comma ? (size_t)(comma - list.data) : list.length;
    }
    while (end < list.length && list.data[end] != '\'')
        end += list.data[end] == '\\' ? 2 : 1;
    return end < list.length ? end + 1 : 0;
}

/* Put the values of "[1,2]" or "['a','b']". */
static enum tv_status tsv_put_list(struct tv_fleet_tsv *tsv, size_t column, struct tv_bytes list,
                                   struct tv_error *err)
{
    bool is_text = tsv->columns[column].type == TV_PARQUET_TEXT;
    if (list.length < 2 || list.data[0] != '[' || list.data[list.length - 1] != ']')
        return tsv_fail(err);
    list = (struct tv_bytes){list.data + 1, list.length - 2};
    while (list.length > 0) {
        size_t length = tsv_item_length(list);
        struct tv_bytes item = {list.data, length};
        bool is_last = length == list.length;
        if (length == 0 || (item.data[0] == '\'') != is_text ||
            (!is_last && (list.data[length] != ',' || length + 1 == list.length)))
            return tsv_fail(err);
        if (is_text)
            tv_parquet_put_text(
                tsv->parquet, column,
                tsv_unescape(tsv, (struct tv_bytes){item.data + 1, item.length - 2}));
        else if (tsv_put_number(tsv, column, item, err) != TV_OK)
            return err->status;
        list.data += length + !is_last;
        list.length -= length + !is_last;
    }
    return TV_OK;
}

/* Put a value; one that is NULL is not put. */
static enum tv_status tsv_put_value(struct tv_fleet_tsv *tsv, size_t column, struct tv_bytes value,
                                    struct tv_error *err)
{
    if (tv_bytes_equal(value, TV_BYTES("\\N")))
        return TV_OK;
    if (tsv->columns[column].list)
        return tsv_put_list(tsv, column, value, err);
    switch (tsv->columns[column].type) {
    case TV_PARQUET_TEXT:
        if (value.length > 0 || !tsv->is_table)
            tv_parquet_put_text(tsv->parquet, column,
                                tsv->composed[column] ? value : tsv_unescape(tsv, value));
        return TV_OK;
    case TV_PARQUET_REAL:
        return tsv_put_real(tsv, column, value, err);
    default:
        return tsv_put_number(tsv, column, value, err);
    }
}

/* ---- Lines ---- */

/* Return the type for a column of ClickHouse's type, "Nullable(Int64)". */
static enum tv_parquet_type tsv_type(struct tv_bytes type)
{
    static const char *const integers[] = {"UInt8", "UInt16", "UInt32", "Int8",
                                           "Int16", "Int32",  "Int64"};
    struct tv_bytes nullable = TV_BYTES("Nullable(");
    if (tv_bytes_starts_with(type, nullable) && type.length > nullable.length)
        type = (struct tv_bytes){type.data + nullable.length, type.length - nullable.length - 1};
    for (size_t i = 0; i < TV_COUNT(integers); i++)
        if (tv_bytes_equal(type, tv_bytes_of(integers[i])))
            return TV_PARQUET_INT64;
    if (tv_bytes_equal(type, TV_BYTES("UInt64")))
        return TV_PARQUET_UINT64;
    return tv_bytes_starts_with(type, TV_BYTES("Float")) ? TV_PARQUET_REAL : TV_PARQUET_TEXT;
}

/* Take the first line.  Each name is kept with a NUL after it. */
static enum tv_status tsv_take_names(struct tv_fleet_tsv *tsv, struct tv_bytes line,
                                     struct tv_error *err)
{
    struct tv_bytes name;
    size_t count = 0;
    for (bool more = true; more; count++) {
        more = tv_bytes_split(&line, '\t', &name);
        name = tsv_unescape(tsv, name);
        if (count >= (tsv->is_table ? tsv->count : MAX_COLUMNS) ||
            (tsv->is_table && !tv_bytes_equal(name, tv_bytes_of(tsv->columns[count].name))))
            return tsv_fail(err);
        tv_out_bytes(&tsv->names, name);
        tv_out_char(&tsv->names, '\0');
    }
    if (tsv->is_table && count != tsv->count)
        return tsv_fail(err);
    tsv->count = count;
    return TV_OK;
}

/* Take the second line and begin the file.  The types of given columns are
 * known, so theirs are not read. */
static enum tv_status tsv_take_types(struct tv_fleet_tsv *tsv, struct tv_bytes line,
                                     struct tv_error *err)
{
    const char *name = (const char *)tsv->names.buffer;
    struct tv_bytes type;
    bool more = true;
    for (size_t i = 0; i < tsv->count && !tsv->is_table; i++, name += strlen(name) + 1) {
        if (!more)
            return tsv_fail(err);
        more = tv_bytes_split(&line, '\t', &type);
        tsv->own[i] = (struct tv_parquet_column){name, tsv_type(type), false};
        tsv->composed[i] = tv_bytes_starts_with(type, TV_BYTES("Array(")) ||
                           tv_bytes_starts_with(type, TV_BYTES("Tuple(")) ||
                           tv_bytes_starts_with(type, TV_BYTES("Map("));
    }
    tsv->parquet = tv_parquet_new(tsv->out, tsv->columns, tsv->count);
    return TV_OK;
}

/* Take a line: the names, the types, or the values of a row. */
static enum tv_status tsv_take_line(struct tv_fleet_tsv *tsv, struct tv_bytes line,
                                    struct tv_error *err)
{
    if (tsv->names.length == 0)
        return tsv_take_names(tsv, line, err);
    if (!tsv->parquet)
        return tsv_take_types(tsv, line, err);
    struct tv_bytes value;
    bool more = true;
    enum tv_status status = TV_OK;
    for (size_t i = 0; i < tsv->count && status == TV_OK; i++) {
        if (!more)
            return tsv_fail(err);
        more = tv_bytes_split(&line, '\t', &value);
        status = tsv_put_value(tsv, i, value, err);
    }
    if (status == TV_OK && more)
        return tsv_fail(err);
    return status == TV_OK ? tv_parquet_end_row(tsv->parquet, err) : status;
}

/* A line that is whole in `bytes` is read where it lies; only one that is split
 * between parts is copied. */
enum tv_status tv_fleet_tsv_take(struct tv_fleet_tsv *tsv, struct tv_bytes bytes,
                                 struct tv_error *err)
{
    enum tv_status status = TV_OK;
    while (bytes.length > 0 && status == TV_OK) {
        const uint8_t *end = memchr(bytes.data, '\n', bytes.length);
        struct tv_bytes part = {bytes.data, end ? (size_t)(end - bytes.data) : bytes.length};
        size_t used = part.length + (end ? 1 : 0);
        if (part.length > LONGEST_LINE - tsv->line.length)
            return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, "a row of the answer is too long");
        if (!end || tsv->line.length > 0)
            tv_out_bytes(&tsv->line, part);
        if (end && tsv->line.length > 0)
            part = (struct tv_bytes){tsv->line.buffer, tsv->line.length};
        if (end) {
            status = tsv_take_line(tsv, part, err);
            tsv->line.length = 0;
        }
        bytes.data += used;
        bytes.length -= used;
    }
    if (status == TV_OK && tv_out_has_failed(tsv->out))
        *err = tsv->out->error;
    return status == TV_OK ? tsv->out->error.status : status;
}

enum tv_status tv_fleet_tsv_finish(struct tv_fleet_tsv *tsv, struct tv_error *err)
{
    if (!tsv->parquet || tsv->line.length > 0)
        return tsv_fail(err);
    return tv_parquet_finish(tsv->parquet, err);
}
