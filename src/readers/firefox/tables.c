/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.c - values and tables of a Firefox profile, in both of their forms (firefox.c shows them).
 *
 * A column is an array of 64-bit integers: indices, milliseconds as nanoseconds, or, for values
 * that are read later, their offset in the text. A missing value is TV_FIREFOX_ABSENT, so lookups
 * need no test: an absent row of a table gives an absent value. Columns that nobody asked for are
 * skipped without being stored.
 */
#include "readers/firefox/firefox.h"

#include "base/bytes.h"
#include "base/memory.h"

int64_t tv_firefox_value(const struct tv_firefox_column *column, int64_t row)
{
    return row >= 0 && (uint64_t)row < column->count ? column->rows[row] : TV_FIREFOX_ABSENT;
}

void tv_firefox_numbers_add(struct tv_firefox_numbers *numbers, uint32_t value)
{
    numbers->rows = tv_array_reserve(numbers->rows, &numbers->capacity, numbers->count + 1,
                                     sizeof *numbers->rows);
    numbers->rows[numbers->count++] = value;
}

/* A row comes from the file: one that is outside of the table gives `otherwise`. */
uint32_t tv_firefox_number(const struct tv_firefox_numbers *numbers, int64_t row,
                           uint32_t otherwise)
{
    return row >= 0 && (uint64_t)row < numbers->count ? numbers->rows[row] : otherwise;
}

/* ---- Values ---- */

bool tv_firefox_at(const struct tv_firefox *file, uint64_t offset, struct tv_json_stream *stream)
{
    if (offset == TV_NO_OFFSET)
        return false;
    *stream = tv_json_stream_at(&file->stream, (size_t)offset);
    return true;
}

/* Take a value as text, valid until the next one; empty for null, objects and arrays. */
struct tv_bytes tv_firefox_take_text(struct tv_firefox *file, struct tv_json_stream *stream)
{
    struct tv_bytes raw = tv_json_take_raw(stream), none = {NULL, 0};
    if (stream->bad || raw.length == 0 || raw.data[0] == '{' || raw.data[0] == '[' ||
        tv_bytes_equal(raw, TV_BYTES("null")))
        return none;
    return tv_te_decode_text(raw, &file->scratch);
}

uint32_t tv_firefox_string_at(struct tv_firefox *file, uint64_t offset)
{
    struct tv_json_stream stream;
    return tv_firefox_at(file, offset, &stream)
               ? tv_profile_string(&file->profile, tv_firefox_take_text(file, &stream))
               : TV_EMPTY_STRING;
}

int64_t tv_firefox_ms_at(const struct tv_firefox *file, uint64_t offset)
{
    struct tv_json_stream stream;
    int64_t ns;
    return tv_firefox_at(file, offset, &stream) && tv_json_take_number(&stream, 6, &ns)
               ? ns
               : TV_FIREFOX_ABSENT;
}

/* Read an array of texts. */
void tv_firefox_read_texts(struct tv_firefox *file, uint64_t offset,
                           struct tv_firefox_numbers *numbers)
{
    struct tv_json_stream stream;
    numbers->count = 0;
    if (!tv_firefox_at(file, offset, &stream) || !tv_json_open(&stream, '['))
        return;
    while (tv_json_take_element(&stream))
        tv_firefox_numbers_add(
            numbers, tv_profile_string(&file->profile, tv_firefox_take_text(file, &stream)));
}

/* Read the names in an array of objects. */
void tv_firefox_read_names(struct tv_firefox *file, uint64_t offset,
                           struct tv_firefox_numbers *numbers)
{
    struct tv_json_stream stream;
    struct tv_json_member member = {"name", 0};
    numbers->count = 0;
    if (!tv_firefox_at(file, offset, &stream) || !tv_json_open(&stream, '['))
        return;
    while (tv_json_take_element(&stream)) {
        (void)tv_json_find_members(&stream, &member, 1);
        tv_firefox_numbers_add(numbers, tv_firefox_string_at(file, member.offset));
    }
}

/* ---- Tables ---- */

/* Take a value of a column; the peek moves to its first byte, whose offset may be wanted. */
static int64_t firefox_take_cell(struct tv_json_stream *stream, enum tv_firefox_column_kind kind)
{
    int64_t value;
    (void)tv_json_peek(stream);
    if (kind == TV_FIREFOX_OFFSET) {
        value = (int64_t)tv_json_stream_offset(stream);
        tv_json_skip(stream);
        return value;
    }
    return tv_json_take_number(stream, kind == TV_FIREFOX_MS ? 6 : 0, &value) ? value
                                                                              : TV_FIREFOX_ABSENT;
}

void tv_firefox_column_add(struct tv_firefox_column *column, int64_t value)
{
    column->rows =
        tv_array_reserve(column->rows, &column->capacity, column->count + 1, sizeof *column->rows);
    column->rows[column->count++] = value;
}

static struct tv_firefox_column *firefox_find_column(struct tv_firefox_column *columns,
                                                     size_t count, struct tv_bytes name)
{
    for (size_t i = 0; i < count; i++)
        if (tv_bytes_equal(name, tv_bytes_of(columns[i].name)))
            return &columns[i];
    return NULL;
}

/* Maximum number of columns of a gecko table; they have ten. */
#define SCHEMA_MAX 64

/* Read a schema: which column stands where in a row. */
static void firefox_read_schema(struct tv_json_stream *stream, struct tv_firefox_column *columns,
                                size_t count, struct tv_firefox_column **places)
{
    struct tv_bytes key;
    int64_t place;
    if (!tv_json_open(stream, '{'))
        return;
    while (tv_json_take_key(stream, &key))
        if (tv_json_take_number(stream, 0, &place) && place >= 0 && place < SCHEMA_MAX)
            places[place] = firefox_find_column(columns, count, key);
}

/* Read the rows of a gecko table.  A row may be shorter than the schema. */
static void firefox_read_rows(struct tv_json_stream *stream, struct tv_firefox_column *columns,
                              size_t count, struct tv_firefox_column **places)
{
    if (!tv_json_open(stream, '['))
        return;
    while (tv_json_take_element(stream)) {
        for (size_t i = 0; i < count; i++)
            tv_firefox_column_add(&columns[i], TV_FIREFOX_ABSENT);
        if (!tv_json_open(stream, '['))
            continue;
        for (size_t place = 0; tv_json_take_element(stream); place++) {
            struct tv_firefox_column *column = place < SCHEMA_MAX ? places[place] : NULL;
            if (column)
                column->rows[column->count - 1] = firefox_take_cell(stream, column->kind);
            else
                tv_json_skip(stream);
        }
    }
}

/* Read the columns that are wanted of a table at an offset.  Release them later. */
void tv_firefox_read_table(struct tv_firefox *file, uint64_t offset,
                           struct tv_firefox_column *columns, const struct tv_firefox_column *model,
                           size_t count)
{
    struct tv_firefox_column *places[SCHEMA_MAX] = {NULL}, *column;
    struct tv_json_member members[] = {{"schema", 0}, {"data", 0}};
    struct tv_json_stream stream, inside;
    struct tv_bytes key;
    for (size_t i = 0; i < count; i++)
        columns[i].name = model[i].name, columns[i].kind = model[i].kind, columns[i].count = 0,
        columns[i].found = false;
    if (!tv_firefox_at(file, offset, &stream))
        return;
    (void)tv_json_find_members(&stream, members, TV_COUNT(members));
    if (tv_firefox_at(file, members[0].offset, &inside)) {
        firefox_read_schema(&inside, columns, count, places);
        if (!tv_firefox_at(file, members[1].offset, &inside))
            return;
        firefox_read_rows(&inside, columns, count, places);
        for (size_t i = 0; i < SCHEMA_MAX; i++)
            if (places[i])
                places[i]->found = true;
        return;
    }
    (void)tv_firefox_at(file, offset, &stream);
    if (!tv_json_open(&stream, '{'))
        return;
    while (tv_json_take_key(&stream, &key)) {
        column = firefox_find_column(columns, count, key);
        if (!column || !tv_json_open(&stream, '[')) {
            if (!column)
                tv_json_skip(&stream);
            continue;
        }
        column->count = 0;
        column->found = true;
        while (tv_json_take_element(&stream))
            tv_firefox_column_add(column, firefox_take_cell(&stream, column->kind));
    }
}

void tv_firefox_release_table(struct tv_firefox_column *columns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        tv_free(columns[i].rows);
}

/* Note a table at an offset that has neither of two columns, each of which would do. */
void tv_firefox_need_column(struct tv_firefox *file, uint64_t offset,
                            const struct tv_firefox_column *one,
                            const struct tv_firefox_column *other)
{
    if (offset != TV_NO_OFFSET && !one->found && !other->found && !file->cut)
        tv_profile_warn(&file->profile, TV_DIAGNOSTIC_MEMBER_MISSING, offset);
}

/* Return the time of a row: a time, or the sum of differences in *now. */
bool tv_firefox_row_time(struct tv_firefox *file, const struct tv_firefox_column *time,
                         const struct tv_firefox_column *delta, size_t row, int64_t *now)
{
    int64_t value = tv_firefox_value(time, (int64_t)row);
    if (value == TV_FIREFOX_ABSENT) {
        value = tv_firefox_value(delta, (int64_t)row);
        if (value == TV_FIREFOX_ABSENT)
            return false;
        value = tv_move_add(*now, value);
        *now = value;
        return true;
    }
    *now = tv_move_add(value, file->start - file->base);
    return true;
}
