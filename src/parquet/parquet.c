/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parquet.c - the writer of Parquet files (parquet.h).
 *
 *     "PAR1"
 *     row group: for each column one page --- page header (Thrift)   (after that of a dictionary)
 *     row group ...                       '-- zstd( repetition levels, definition levels, values )
 *     metadata (Thrift): schema, and place, size, smallest and largest value of every page
 *     length of the metadata, "PAR1"
 *
 * Values are PLAIN: little-endian numbers, texts after their length.  Whole numbers are differences
 * (delta.c) or have a page with the distinct ones (dictionary.c) where a sample of them gets
 * smaller so: sorted keys are differences; times that repeat, keys of traces, and buckets of
 * sketches have a dictionary.  A level of definition is 1 where there is a value; a level of
 * repetition is 1 where it continues the list of the row.  Both are run lengths.
 *
 * The pages of a row group are compressed by several threads, then written in the order of the
 * columns.
 */
#include "parquet/parquet.h"

#include <assert.h>
#include <zstd.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/workers.h"
#include "parquet/internal.h"

/* Limits of a row group: whichever is reached first ends it.  The row
 * groups of DuckDB itself have as many rows, and its threads read one each; the
 * limit of bytes bounds the memory of the writer. */
#define GROUP_ROWS 122880u
#define GROUP_BYTES ((size_t)64 << 20)
/* Groups of fewer rows are not worth a thread. */
#define MIN_SHARED_ROWS 10000u
/* Bytes of a page that are tried as differences; a smaller page stays as it is. */
#define SAMPLE ((size_t)32 << 10)
/* Sizes of pages have 31 bits. */
#define LONGEST_PAGE ((size_t)1 << 30)

/* Numbers of the format (parquet.thrift). */
enum { OPTIONAL = 1, REPEATED = 2, ZSTD = 6, DATA_PAGE = 0, DICTIONARY_PAGE = 2 };
enum { PLAIN = 0, RLE = 3, DELTA = 5, RLE_DICTIONARY = 8 };
enum { CONVERTED_UTF8 = 0, CONVERTED_LIST = 3, CONVERTED_DECIMAL = 5 };
enum { CONVERTED_UINT32 = 13, CONVERTED_UINT64 = 14, CONVERTED_NONE = -1 };

/* Encoding of a type in a page. */
static const struct {
    int physical, converted;
    size_t size; /* bytes of a value; 0: differs */
} parquet_types[] = {
    [TV_PARQUET_BOOLEAN] = {0, CONVERTED_NONE, 0},  [TV_PARQUET_UINT32] = {1, CONVERTED_UINT32, 4},
    [TV_PARQUET_INT64] = {2, CONVERTED_NONE, 8},    [TV_PARQUET_UINT64] = {2, CONVERTED_UINT64, 8},
    [TV_PARQUET_HUGE] = {7, CONVERTED_DECIMAL, 16}, [TV_PARQUET_REAL] = {5, CONVERTED_NONE, 8},
    [TV_PARQUET_TEXT] = {6, CONVERTED_UTF8, 0},
};

/* Levels of 0 and 1 as run lengths. */
struct parquet_levels {
    struct tv_out bytes;
    uint64_t run;
    bool level;
};

struct parquet_column {
    const struct tv_parquet_column *column;
    struct tv_out values;
    struct parquet_levels repetition, definition;
    uint64_t count; /* levels in this row group */
    bool filled;    /* the open row has a value */
    unsigned bits;  /* values of BOOLEAN in the last byte */
    bool ranged;    /* `least` and `most` are known */
    int64_t least, most;

    /* Pages of the column, when the row group is ended. */
    int encoding;
    struct tv_parquet_dictionary dictionary; /* with RLE_DICTIONARY */
    struct tv_out levels, differences;       /* the latter with DELTA */
    struct tv_out packed, packed_numbers;    /* the data page and the dictionary's, compressed */
    struct tv_error error;                   /* error of compressing them */
};

/* The pages of a column in a row group that has been written. */
struct parquet_page {
    uint64_t offset, count, packed, unpacked;
    uint64_t dictionary; /* the offset; 0: there is none */
    int encoding;
    bool ranged;
    int64_t least, most;
};

struct parquet_group {
    struct parquet_page *pages;
    uint64_t rows;
};

struct parquet_note {
    const char *key, *value;
};

struct tv_parquet {
    struct tv_out *out;
    uint64_t offset; /* in the file */
    struct parquet_column *columns;
    size_t count;
    struct parquet_group *groups;
    size_t group_count, group_capacity;
    uint64_t rows, group_rows;
    unsigned workers;
    struct parquet_note notes[TV_PARQUET_MAX_NOTES];
    size_t note_count;
};

/* ---- Levels ---- */

/* Write a run: its length shifted left by one, with the lowest bit 0, which
 * says that the level is not packed in bits; then the level in one byte. */
static void parquet_end_run(struct parquet_levels *levels)
{
    if (levels->run == 0)
        return;
    tv_thrift_varint(&levels->bytes, levels->run << 1);
    tv_out_char(&levels->bytes, levels->level ? 1 : 0);
    levels->run = 0;
}

static void parquet_put_level(struct parquet_levels *levels, bool level)
{
    if (level != levels->level)
        parquet_end_run(levels);
    levels->level = level;
    levels->run++;
}

/* Put the bits of many rows; all are set where there are none. */
static void parquet_put_bits(struct parquet_levels *levels, const uint64_t *bits, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (i % 64 == 0 && count - i >= 64 && (!bits || bits[i / 64] == UINT64_MAX)) {
            parquet_put_level(levels, true);
            levels->run += 63;
            i += 63;
        } else {
            parquet_put_level(levels, !bits || bits[i / 64] >> i % 64 & 1);
        }
    }
}

/* Append the levels with their length, and clear them. */
static void parquet_take_levels(struct parquet_levels *levels, struct tv_out *page)
{
    parquet_end_run(levels);
    tv_out_le32(page, (uint32_t)levels->bytes.length);
    tv_out_bytes(page, (struct tv_bytes){levels->bytes.buffer, levels->bytes.length});
    levels->bytes.length = 0;
}

/* ---- Values ---- */

/* Note that the open row has another value. */
static struct parquet_column *parquet_begin_value(struct tv_parquet *parquet, size_t column)
{
    assert(column < parquet->count);
    struct parquet_column *to = &parquet->columns[column];
    assert(!to->filled || to->column->list);
    if (to->column->list)
        parquet_put_level(&to->repetition, to->filled);
    parquet_put_level(&to->definition, true);
    to->filled = true;
    to->count++;
    return to;
}

/* Store the low bytes of a number, the least first; there is room for 8. */
static void parquet_store(uint8_t *to, uint64_t value)
{
    for (size_t i = 0; i < 8; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

/* Compare two values as the type's order of the format does: INT64 has a sign,
 * the other integers have none. */
static bool parquet_is_less(const struct parquet_column *column, int64_t a, int64_t b)
{
    return column->column->type == TV_PARQUET_INT64 ? a < b : (uint64_t)a < (uint64_t)b;
}

/* Append a value of BOOLEAN: eight to a byte, the first in the lowest bit. */
static void parquet_put_bit(struct parquet_column *to, bool bit)
{
    if (to->bits == 0)
        tv_out_char(&to->values, 0);
    to->values.buffer[to->values.length - 1] |= (uint8_t)(bit << to->bits);
    to->bits = (to->bits + 1) % 8;
}

static void parquet_note_range(struct parquet_column *to, int64_t value)
{
    if (!to->ranged || parquet_is_less(to, value, to->least))
        to->least = value;
    if (!to->ranged || parquet_is_less(to, to->most, value))
        to->most = value;
    to->ranged = true;
}

void tv_parquet_put_integer(struct tv_parquet *parquet, size_t column, int64_t value)
{
    struct parquet_column *to = parquet_begin_value(parquet, column);
    if (to->column->type == TV_PARQUET_BOOLEAN) {
        parquet_put_bit(to, value != 0);
        return;
    }
    assert(to->column->type <= TV_PARQUET_UINT64);
    uint8_t bytes[8];
    parquet_store(bytes, (uint64_t)value);
    tv_out_bytes(&to->values, (struct tv_bytes){bytes, parquet_types[to->column->type].size});
    parquet_note_range(to, value);
}

void tv_parquet_put_huge(struct tv_parquet *parquet, size_t column, int64_t high, uint64_t low)
{
    struct parquet_column *to = parquet_begin_value(parquet, column);
    assert(to->column->type == TV_PARQUET_HUGE);
    /* The bytes of a DECIMAL of fixed length begin with the most significant
     * one. */
    for (int i = 7; i >= 0; i--)
        tv_out_char(&to->values, (char)((uint64_t)high >> 8 * i));
    for (int i = 7; i >= 0; i--)
        tv_out_char(&to->values, (char)(low >> 8 * i));
}

void tv_parquet_put_real(struct tv_parquet *parquet, size_t column, double value)
{
    struct parquet_column *to = parquet_begin_value(parquet, column);
    assert(to->column->type == TV_PARQUET_REAL);
    tv_out_f64(&to->values, value);
}

static bool parquet_is_ascii(struct tv_bytes text)
{
    uint8_t all = 0;
    for (size_t i = 0; i < text.length; i++)
        all |= text.data[i];
    return all < 0x80;
}

/* Replace each byte that is not UTF-8 by U+FFFD: readers refuse files whose
 * texts are not valid. */
void tv_parquet_clean_text(struct tv_out *out, struct tv_bytes text)
{
    if (parquet_is_ascii(text)) {
        tv_out_bytes(out, text);
        return;
    }
    while (text.length > 0) {
        size_t length = tv_bytes_utf8(text);
        if (length == 0)
            tv_out_text(out, "\xef\xbf\xbd");
        else
            tv_out_bytes(out, (struct tv_bytes){text.data, length});
        length += length == 0;
        text = (struct tv_bytes){text.data + length, text.length - length};
    }
}

static void parquet_append_text(struct parquet_column *to, struct tv_bytes text)
{
    assert(to->column->type == TV_PARQUET_TEXT);
    /* The length is written last, because cleaning can change it. */
    size_t start = to->values.length;
    tv_out_le32(&to->values, 0);
    tv_parquet_clean_text(&to->values, text);
    size_t length = to->values.length - start - 4;
    for (size_t i = 0; i < 4; i++)
        to->values.buffer[start + i] = (uint8_t)(length >> 8 * i);
}

void tv_parquet_put_text(struct tv_parquet *parquet, size_t column, struct tv_bytes text)
{
    parquet_append_text(parquet_begin_value(parquet, column), text);
}

/* ---- Many rows of a column ---- */

/* Values that are brought into the form of the file at once. */
#define STAGED 64u

static struct parquet_column *parquet_begin_values(struct tv_parquet *parquet, size_t column,
                                                   const uint64_t *valid, size_t count)
{
    assert(column < parquet->count);
    struct parquet_column *to = &parquet->columns[column];
    assert(!to->column->list && !to->filled);
    parquet_put_bits(&to->definition, valid, count);
    to->count += count;
    return to;
}

void tv_parquet_put_integers(struct tv_parquet *parquet, size_t column, const int64_t *values,
                             const uint64_t *valid, size_t count)
{
    struct parquet_column *to = parquet_begin_values(parquet, column, valid, count);
    bool boolean = to->column->type == TV_PARQUET_BOOLEAN;
    size_t size = parquet_types[to->column->type].size;
    assert(to->column->type <= TV_PARQUET_UINT64);
    for (size_t first = 0; first < count; first += STAGED) {
        uint8_t staged[8 * STAGED];
        size_t length = 0, end = count - first < STAGED ? count : first + STAGED;
        for (size_t i = first; i < end; i++) {
            if (valid && !(valid[i / 64] >> i % 64 & 1))
                continue;
            if (boolean) {
                parquet_put_bit(to, values[i] != 0);
                continue;
            }
            parquet_store(staged + length, (uint64_t)values[i]);
            length += size;
            parquet_note_range(to, values[i]);
        }
        tv_out_bytes(&to->values, (struct tv_bytes){staged, length});
    }
}

void tv_parquet_put_reals(struct tv_parquet *parquet, size_t column, const double *values,
                          const uint64_t *valid, size_t count)
{
    struct parquet_column *to = parquet_begin_values(parquet, column, valid, count);
    assert(to->column->type == TV_PARQUET_REAL);
    for (size_t i = 0; i < count; i++)
        if (!valid || valid[i / 64] >> i % 64 & 1)
            tv_out_f64(&to->values, values[i]);
}

void tv_parquet_put_texts(struct tv_parquet *parquet, size_t column, const struct tv_bytes *texts,
                          size_t count)
{
    struct parquet_column *to = &parquet->columns[column];
    assert(column < parquet->count && !to->column->list && !to->filled);
    to->count += count;
    for (size_t i = 0; i < count; i++) {
        parquet_put_level(&to->definition, texts[i].data != NULL);
        if (texts[i].data)
            parquet_append_text(to, texts[i]);
    }
}

/* ---- Pages ---- */

/* Compress bytes, and with ZSTD_e_end everything that zstd has kept back. */
static enum tv_status parquet_pack(ZSTD_CCtx *zstd, struct tv_bytes bytes, ZSTD_EndDirective end,
                                   struct tv_out *packed, struct tv_error *err)
{
    ZSTD_inBuffer in = {bytes.data, bytes.length, 0};
    size_t left;
    do {
        ZSTD_outBuffer out = {tv_out_room(packed, TV_OUT_ROOM), TV_OUT_ROOM, 0};
        left = ZSTD_compressStream2(zstd, &out, &in, end);
        if (ZSTD_isError(left))
            return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET, "Parquet: zstd: %s",
                           ZSTD_getErrorName(left));
        packed->length += out.pos;
    } while (in.pos < in.size || (end == ZSTD_e_end && left > 0));
    return TV_OK;
}

/* Compress a page, its levels and its values, into one zstd frame.  A context is used for many
 * pages: making its tables takes longer than compressing a short one. */
static enum tv_status parquet_compress(ZSTD_CCtx *zstd, struct tv_bytes levels,
                                       struct tv_bytes values, struct tv_out *packed,
                                       struct tv_error *err)
{
    packed->length = 0;
    if (!zstd)
        tv_memory_exhausted();
    ZSTD_CCtx_reset(zstd, ZSTD_reset_session_only);
    ZSTD_CCtx_setPledgedSrcSize(zstd, levels.length + values.length);
    enum tv_status status =
        levels.length == 0 ? TV_OK : parquet_pack(zstd, levels, ZSTD_e_continue, packed, err);
    return status == TV_OK ? parquet_pack(zstd, values, ZSTD_e_end, packed, err) : status;
}

static void parquet_write(struct tv_parquet *parquet, const struct tv_out *bytes)
{
    tv_out_bytes(parquet->out, (struct tv_bytes){bytes->buffer, bytes->length});
    parquet->offset += bytes->length;
}

/* Write the header of a page with `packed` bytes, which are `unpacked` without zstd: of a
 * dictionary of `distinct` numbers, or of data (0).  Its numbers are the fields of parquet.thrift:
 * 1 type, 2 and 3 sizes without and with compression, 5 DataPageHeader or 7 DictionaryPageHeader (1
 * number of values, 2 encoding of the values, 3 and 4 encodings of the levels). */
static void parquet_put_page_header(struct tv_out *out, const struct parquet_page *page,
                                    size_t packed, size_t unpacked, size_t distinct)
{
    const bool is_dictionary = distinct > 0;
    struct tv_thrift thrift = {.out = out};
    tv_thrift_begin_item(&thrift);
    tv_thrift_i32(&thrift, 1, is_dictionary ? DICTIONARY_PAGE : DATA_PAGE);
    tv_thrift_i32(&thrift, 2, (int32_t)unpacked);
    tv_thrift_i32(&thrift, 3, (int32_t)packed);
    tv_thrift_begin(&thrift, is_dictionary ? 7 : 5);
    tv_thrift_i32(&thrift, 1, (int32_t)(is_dictionary ? distinct : page->count));
    tv_thrift_i32(&thrift, 2, is_dictionary ? PLAIN : page->encoding);
    if (!is_dictionary) {
        tv_thrift_i32(&thrift, 3, RLE);
        tv_thrift_i32(&thrift, 4, RLE);
    }
    tv_thrift_end(&thrift);
    tv_thrift_end(&thrift);
}

/* Write one compressed page of a column, which had `unpacked` bytes, and count it; `distinct` as
 * for its header. */
static void parquet_put_page(struct tv_parquet *parquet, struct parquet_page *page,
                             const struct tv_out *packed, size_t unpacked, size_t distinct)
{
    struct tv_out head;
    tv_out_init_memory(&head);
    parquet_put_page_header(&head, page, packed->length, unpacked, distinct);
    parquet_write(parquet, &head);
    parquet_write(parquet, packed);
    page->packed += packed->length + head.length; /* the metadata count the headers */
    page->unpacked += unpacked + head.length;
    tv_out_release(&head);
}

/* ---- Encodings ---- */

static struct tv_bytes parquet_bytes(const struct tv_out *out)
{
    return (struct tv_bytes){out->buffer, out->length};
}

/* Return the values of a column as its encoding has them. */
static struct tv_bytes parquet_coded(const struct parquet_column *column)
{
    return parquet_bytes(column->encoding == DELTA            ? &column->differences
                         : column->encoding == RLE_DICTIONARY ? &column->dictionary.places
                                                              : &column->values);
}

/* Choose differences if they are smaller: a sample from the middle tells.  *bytes are about those
 * of the whole page. */
static enum tv_status parquet_try_delta(ZSTD_CCtx *zstd, struct parquet_column *column,
                                        size_t *bytes)
{
    const struct tv_bytes none = {NULL, 0};
    const struct tv_bytes sample = {column->values.buffer + column->values.length / 2 / 8 * 8,
                                    SAMPLE};
    size_t plain;
    struct tv_out *packed = &column->packed;
    enum tv_status status = parquet_compress(zstd, none, sample, packed, &column->error);
    plain = packed->length;
    column->differences.length = 0;
    tv_parquet_put_delta(&column->differences, sample, parquet_types[column->column->type].size);
    if (status == TV_OK)
        status = parquet_compress(zstd, none, parquet_bytes(&column->differences), packed,
                                  &column->error);
    column->encoding = packed->length < plain ? DELTA : PLAIN;
    *bytes = column->values.length / SAMPLE * (column->encoding == DELTA ? packed->length : plain);
    return status;
}

/* Choose a dictionary if that is smaller than `bytes`.  A sample from the middle tells how small
 * zstd makes the places, in as few bits as possible or in whole bytes. */
static enum tv_status parquet_try_dictionary(ZSTD_CCtx *zstd, struct parquet_column *column,
                                             size_t bytes)
{
    const struct tv_bytes none = {NULL, 0};
    const size_t size = parquet_types[column->column->type].size;
    const size_t length = column->values.length / size, sampled = SAMPLE / size;
    struct tv_parquet_dictionary *dictionary = &column->dictionary;
    enum tv_status status = TV_OK;
    unsigned width = 0;
    bool fits = tv_parquet_make_dictionary(dictionary, parquet_bytes(&column->values), size,
                                           column->values.length / 4);
    const unsigned widths[] = {dictionary->width, (dictionary->width + 7) / 8 * 8};
    if (fits)
        status = parquet_compress(zstd, none, parquet_bytes(&dictionary->numbers),
                                  &column->packed_numbers, &column->error);
    for (size_t i = 0; i < TV_COUNT(widths) && fits && status == TV_OK; i++) {
        tv_parquet_pack_places(dictionary, length / 2, sampled, widths[i]);
        status = parquet_compress(zstd, none, parquet_bytes(&dictionary->places), &column->packed,
                                  &column->error);
        size_t all = column->packed_numbers.length + column->packed.length * (length / sampled);
        if (all < bytes) {
            bytes = all;
            width = widths[i];
        }
    }
    if (width > 0 && status == TV_OK) {
        column->encoding = RLE_DICTIONARY;
        tv_parquet_pack_places(dictionary, 0, length, width);
    } else {
        tv_parquet_release_dictionary(dictionary);
    }
    return status;
}

/* Choose how the values of a column are written. */
static enum tv_status parquet_choose(ZSTD_CCtx *zstd, struct parquet_column *column)
{
    enum tv_parquet_type type = column->column->type;
    size_t bytes;
    column->encoding = PLAIN;
    if ((type != TV_PARQUET_UINT32 && type != TV_PARQUET_INT64 && type != TV_PARQUET_UINT64) ||
        column->values.length < 2 * SAMPLE)
        return TV_OK;
    enum tv_status status = parquet_try_delta(zstd, column, &bytes);
    if (status == TV_OK)
        status = parquet_try_dictionary(zstd, column, bytes);
    if (column->encoding == DELTA) {
        column->differences.length = 0;
        tv_parquet_put_delta(&column->differences, parquet_bytes(&column->values),
                             parquet_types[type].size);
    }
    return status;
}

/* Make the pages of a column. */
static void parquet_make_pages(ZSTD_CCtx *zstd, struct parquet_column *column)
{
    enum tv_status status = parquet_choose(zstd, column);
    column->levels.length = 0;
    if (column->column->list)
        parquet_take_levels(&column->repetition, &column->levels);
    parquet_take_levels(&column->definition, &column->levels);
    if (status == TV_OK)
        status = parquet_compress(zstd, parquet_bytes(&column->levels), parquet_coded(column),
                                  &column->packed, &column->error);
    column->error.status = status;
}

/* Make the pages of every n-th column. */
static void parquet_make_some_pages(void *context, unsigned index)
{
    struct tv_parquet *parquet = context;
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    for (size_t i = index; i < parquet->count; i += parquet->workers)
        parquet_make_pages(zstd, &parquet->columns[i]);
    ZSTD_freeCCtx(zstd);
}

/* Write the pages of a column, and clear the column. */
static void parquet_write_pages(struct tv_parquet *parquet, struct parquet_column *column,
                                struct parquet_page *page)
{
    *page = (struct parquet_page){.offset = parquet->offset,
                                  .count = column->count,
                                  .encoding = column->encoding,
                                  .ranged = column->ranged,
                                  .least = column->least,
                                  .most = column->most};
    if (column->encoding == RLE_DICTIONARY) {
        page->dictionary = parquet->offset;
        parquet_put_page(parquet, page, &column->packed_numbers, column->dictionary.numbers.length,
                         column->dictionary.count);
        page->offset = parquet->offset;
    }
    parquet_put_page(parquet, page, &column->packed,
                     column->levels.length + parquet_coded(column).length, 0);
    if (column->encoding == RLE_DICTIONARY)
        tv_parquet_release_dictionary(&column->dictionary);
    column->encoding = PLAIN;
    column->values.length = 0;
    column->count = 0;
    column->bits = 0;
    column->ranged = false;
}

/* End the row group: write a page for each column, in the order of the columns.
 * An empty group is not written. */
static enum tv_status parquet_write_group(struct tv_parquet *parquet, struct tv_error *err)
{
    if (parquet->group_rows == 0)
        return TV_OK;
    parquet->groups = tv_array_reserve(parquet->groups, &parquet->group_capacity,
                                       parquet->group_count + 1, sizeof *parquet->groups);
    struct parquet_group *group = &parquet->groups[parquet->group_count++];
    *group =
        (struct parquet_group){tv_alloc(parquet->count, sizeof *group->pages), parquet->group_rows};
    parquet->workers = parquet->group_rows < MIN_SHARED_ROWS ? 1 : tv_workers_available();
    if (parquet->workers > parquet->count)
        parquet->workers = (unsigned)parquet->count;
    parquet->group_rows = 0;
    tv_workers_run(parquet->workers, parquet_make_some_pages, parquet);
    for (size_t i = 0; i < parquet->count; i++) {
        if (parquet->columns[i].error.status != TV_OK) {
            *err = parquet->columns[i].error;
            return err->status;
        }
        parquet_write_pages(parquet, &parquet->columns[i], &group->pages[i]);
    }
    return TV_OK;
}

/* ---- Metadata ---- */

/* Write the SchemaElements of a column.  A list is three levels deep, as the
 * format demands:
 *
 *     required group NAME (LIST)
 *       repeated group list
 *         required element
 *
 * So a list without elements and a missing list are the same: the definition
 * level of both is 0. */
static void parquet_put_schema_column(struct tv_thrift *thrift,
                                      const struct tv_parquet_column *column)
{
    int converted = parquet_types[column->type].converted;
    if (column->list) {
        tv_thrift_begin_item(thrift);
        tv_thrift_i32(thrift, 3, 0); /* required */
        tv_thrift_binary(thrift, 4, tv_bytes_of(column->name));
        tv_thrift_i32(thrift, 5, 1);
        tv_thrift_i32(thrift, 6, CONVERTED_LIST);
        tv_thrift_end(thrift);
        tv_thrift_begin_item(thrift);
        tv_thrift_i32(thrift, 3, REPEATED);
        tv_thrift_binary(thrift, 4, tv_bytes_of("list"));
        tv_thrift_i32(thrift, 5, 1);
        tv_thrift_end(thrift);
    }
    tv_thrift_begin_item(thrift);
    tv_thrift_i32(thrift, 1, parquet_types[column->type].physical);
    if (column->type == TV_PARQUET_HUGE)
        tv_thrift_i32(thrift, 2, 16);
    tv_thrift_i32(thrift, 3, column->list ? 0 : OPTIONAL);
    tv_thrift_binary(thrift, 4, tv_bytes_of(column->list ? "element" : column->name));
    if (converted != CONVERTED_NONE)
        tv_thrift_i32(thrift, 6, converted);
    if (column->type == TV_PARQUET_HUGE) {
        tv_thrift_i32(thrift, 7, 0);
        tv_thrift_i32(thrift, 8, 38);
    }
    tv_thrift_end(thrift);
}

/* Write the schema as a list in depth-first order: the root with the number of
 * its children, then each column with its groups. */
static void parquet_put_schema(struct tv_thrift *thrift, const struct tv_parquet *parquet)
{
    size_t elements = 1 + parquet->count;
    for (size_t i = 0; i < parquet->count; i++)
        elements += parquet->columns[i].column->list ? 2 : 0;
    tv_thrift_list(thrift, 2, TV_THRIFT_STRUCT, elements);
    tv_thrift_begin_item(thrift);
    tv_thrift_binary(thrift, 4, tv_bytes_of("schema"));
    tv_thrift_i32(thrift, 5, (int32_t)parquet->count);
    tv_thrift_end(thrift);
    for (size_t i = 0; i < parquet->count; i++)
        parquet_put_schema_column(thrift, parquet->columns[i].column);
}

/* Readers skip row groups by the smallest and largest number. */
static void parquet_put_range(struct tv_thrift *thrift, const struct parquet_page *page,
                              size_t size)
{
    uint8_t least[8], most[8];
    for (size_t i = 0; i < size; i++) {
        least[i] = (uint8_t)((uint64_t)page->least >> 8 * i);
        most[i] = (uint8_t)((uint64_t)page->most >> 8 * i);
    }
    tv_thrift_begin(thrift, 12);
    tv_thrift_binary(thrift, 5, (struct tv_bytes){most, size});
    tv_thrift_binary(thrift, 6, (struct tv_bytes){least, size});
    tv_thrift_end(thrift);
}

/* Write a ColumnChunk: 2 its offset in the file, 3 ColumnMetaData (1 physical
 * type, 2 encodings, 3 path in the schema, 4 codec, 5 number of values, 6 and 7
 * sizes, 9 offset of the data page, 12 statistics). */
static void parquet_put_chunk(struct tv_thrift *thrift, const struct parquet_column *column,
                              const struct parquet_page *page)
{
    bool list = column->column->list;
    tv_thrift_begin_item(thrift);
    tv_thrift_i64(thrift, 2, (int64_t)page->offset);
    tv_thrift_begin(thrift, 3);
    tv_thrift_i32(thrift, 1, parquet_types[column->column->type].physical);
    tv_thrift_list(thrift, 2, TV_THRIFT_I32, page->dictionary ? 3 : 2);
    tv_thrift_item_i32(thrift, page->encoding);
    tv_thrift_item_i32(thrift, RLE);
    if (page->dictionary)
        tv_thrift_item_i32(thrift, PLAIN);
    tv_thrift_list(thrift, 3, TV_THRIFT_BINARY, list ? 3 : 1);
    tv_thrift_item_binary(thrift, tv_bytes_of(column->column->name));
    if (list) {
        tv_thrift_item_binary(thrift, tv_bytes_of("list"));
        tv_thrift_item_binary(thrift, tv_bytes_of("element"));
    }
    tv_thrift_i32(thrift, 4, ZSTD);
    tv_thrift_i64(thrift, 5, (int64_t)page->count);
    tv_thrift_i64(thrift, 6, (int64_t)page->unpacked);
    tv_thrift_i64(thrift, 7, (int64_t)page->packed);
    tv_thrift_i64(thrift, 9, (int64_t)page->offset);
    if (page->dictionary)
        tv_thrift_i64(thrift, 11, (int64_t)page->dictionary);
    if (page->ranged)
        parquet_put_range(thrift, page, parquet_types[column->column->type].size);
    tv_thrift_end(thrift);
    tv_thrift_end(thrift);
}

/* Write a RowGroup: 1 its columns, 2 its bytes without compression, 3 its rows. */
static void parquet_put_group(struct tv_thrift *thrift, const struct tv_parquet *parquet,
                              const struct parquet_group *group)
{
    uint64_t bytes = 0;
    tv_thrift_begin_item(thrift);
    tv_thrift_list(thrift, 1, TV_THRIFT_STRUCT, parquet->count);
    for (size_t i = 0; i < parquet->count; i++) {
        parquet_put_chunk(thrift, &parquet->columns[i], &group->pages[i]);
        bytes += group->pages[i].unpacked;
    }
    tv_thrift_i64(thrift, 2, (int64_t)bytes);
    tv_thrift_i64(thrift, 3, (int64_t)group->rows);
    tv_thrift_end(thrift);
}

/* Write the notes as key_value_metadata. */
static void parquet_put_notes(struct tv_thrift *thrift, const struct tv_parquet *parquet)
{
    if (parquet->note_count == 0)
        return;
    tv_thrift_list(thrift, 5, TV_THRIFT_STRUCT, parquet->note_count);
    for (size_t i = 0; i < parquet->note_count; i++) {
        tv_thrift_begin_item(thrift);
        tv_thrift_binary(thrift, 1, tv_bytes_of(parquet->notes[i].key));
        tv_thrift_binary(thrift, 2, tv_bytes_of(parquet->notes[i].value));
        tv_thrift_end(thrift);
    }
}

/* Write the FileMetaData: 1 version, 2 schema, 3 rows, 4 row groups, 5 notes, 6 program,
 * 7 orders of the columns. */
static void parquet_put_metadata(const struct tv_parquet *parquet, struct tv_out *out)
{
    struct tv_thrift thrift = {.out = out};
    tv_thrift_begin_item(&thrift);
    tv_thrift_i32(&thrift, 1, 1);
    parquet_put_schema(&thrift, parquet);
    tv_thrift_i64(&thrift, 3, (int64_t)parquet->rows);
    tv_thrift_list(&thrift, 4, TV_THRIFT_STRUCT, parquet->group_count);
    for (size_t i = 0; i < parquet->group_count; i++)
        parquet_put_group(&thrift, parquet, &parquet->groups[i]);
    parquet_put_notes(&thrift, parquet);
    tv_thrift_binary(&thrift, 6, tv_bytes_of("traceview"));
    /* Each column is ordered by its type; without this, ranges of unsigned numbers are ignored. */
    tv_thrift_list(&thrift, 7, TV_THRIFT_STRUCT, parquet->count);
    for (size_t i = 0; i < parquet->count; i++) {
        tv_thrift_begin_item(&thrift);
        tv_thrift_begin(&thrift, 1);
        tv_thrift_end(&thrift);
        tv_thrift_end(&thrift);
    }
    tv_thrift_end(&thrift);
}

/* ---- The writer ---- */

struct tv_parquet *tv_parquet_new(struct tv_out *out, const struct tv_parquet_column *columns,
                                  size_t count)
{
    assert(count > 0);
    struct tv_parquet *parquet = tv_alloc(1, sizeof *parquet);
    *parquet = (struct tv_parquet){.out = out, .offset = 4, .count = count};
    parquet->columns = tv_alloc(count, sizeof *parquet->columns);
    for (size_t i = 0; i < count; i++) {
        parquet->columns[i].column = &columns[i];
        tv_out_init_memory(&parquet->columns[i].values);
        tv_out_init_memory(&parquet->columns[i].repetition.bytes);
        tv_out_init_memory(&parquet->columns[i].definition.bytes);
        tv_out_init_memory(&parquet->columns[i].levels);
        tv_out_init_memory(&parquet->columns[i].differences);
        tv_out_init_memory(&parquet->columns[i].packed);
        tv_out_init_memory(&parquet->columns[i].packed_numbers);
    }
    tv_out_text(out, "PAR1");
    return parquet;
}

void tv_parquet_add_note(struct tv_parquet *parquet, const char *key, const char *value)
{
    assert(parquet->note_count < TV_PARQUET_MAX_NOTES);
    parquet->notes[parquet->note_count++] = (struct parquet_note){key, value};
}

void tv_parquet_free(struct tv_parquet *parquet)
{
    if (!parquet)
        return;
    for (size_t i = 0; i < parquet->count; i++) {
        tv_out_release(&parquet->columns[i].values);
        tv_out_release(&parquet->columns[i].repetition.bytes);
        tv_out_release(&parquet->columns[i].definition.bytes);
        tv_out_release(&parquet->columns[i].levels);
        tv_out_release(&parquet->columns[i].differences);
        tv_out_release(&parquet->columns[i].packed);
        tv_out_release(&parquet->columns[i].packed_numbers);
        if (parquet->columns[i].encoding == RLE_DICTIONARY)
            tv_parquet_release_dictionary(&parquet->columns[i].dictionary);
    }
    for (size_t i = 0; i < parquet->group_count; i++)
        tv_free(parquet->groups[i].pages);
    tv_free(parquet->groups);
    tv_free(parquet->columns);
    tv_free(parquet);
}

/* Count rows that are complete; write the row group if it is full. */
static enum tv_status parquet_count_rows(struct tv_parquet *parquet, size_t count,
                                         struct tv_error *err)
{
    size_t bytes = 0;
    parquet->rows += count;
    parquet->group_rows += count;
    for (size_t i = 0; i < parquet->count; i++) {
        const struct parquet_column *column = &parquet->columns[i];
        if (column->values.length > LONGEST_PAGE)
            return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, "Parquet: column %s is over 1 GiB",
                           column->column->name);
        bytes += column->values.length;
    }
    if (parquet->group_rows < GROUP_ROWS && bytes < GROUP_BYTES)
        return TV_OK;
    return parquet_write_group(parquet, err);
}

/* Columns without a value in the row get a definition level of 0, and so NULL
 * or an empty list. */
enum tv_status tv_parquet_end_row(struct tv_parquet *parquet, struct tv_error *err)
{
    for (size_t i = 0; i < parquet->count; i++) {
        struct parquet_column *column = &parquet->columns[i];
        if (!column->filled) {
            if (column->column->list)
                parquet_put_level(&column->repetition, false);
            parquet_put_level(&column->definition, false);
            column->count++;
        }
        column->filled = false;
    }
    return parquet_count_rows(parquet, 1, err);
}

enum tv_status tv_parquet_end_rows(struct tv_parquet *parquet, size_t count, struct tv_error *err)
{
    for (size_t i = 0; i < parquet->count; i++)
        assert(parquet->columns[i].column->list ||
               parquet->columns[i].count == parquet->group_rows + count);
    return parquet_count_rows(parquet, count, err);
}

/* The metadata stand at the end, before their length, so that a file is written
 * in one pass. */
enum tv_status tv_parquet_finish(struct tv_parquet *parquet, struct tv_error *err)
{
    struct tv_out metadata;
    enum tv_status status = parquet_write_group(parquet, err);
    if (status != TV_OK)
        return status;
    tv_out_init_memory(&metadata);
    parquet_put_metadata(parquet, &metadata);
    parquet_write(parquet, &metadata);
    tv_out_le32(parquet->out, (uint32_t)metadata.length);
    tv_out_text(parquet->out, "PAR1");
    tv_out_release(&metadata);
    return TV_OK;
}
