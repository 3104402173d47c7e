/* SPDX-License-Identifier: Apache-2.0 */
/* perf.data files with compressed records: as perf writes them to files and to pipes, cut and
 * damaged.  Records here are 16 bytes long: a head and a text of eight. */
#include "unit.h"

#include <string.h>
#include <zstd.h>

#include "base/bytes.h"
#include "unpack/made_file.h"
#include "unpack/unpack.h"
#include "wire/little_endian.h"

#define HEAD 4096u /* as much as tv_unpack_knows is given of a file */
#define HEADER 104u
#define SECTION 16u
#define SAMPLE 9
#define FINISHED_ROUND 68
#define TRACING_DATA 66
#define AUXTRACE 71
#define FEATURE 80
#define COMPRESSED 81
#define COMPRESSED2 83

static void put_u64(struct made_file *to, uint64_t value)
{
    uint8_t bytes[8];
    tv_le_put_u64(bytes, value);
    made_file_append(to, bytes, sizeof bytes);
}

static void put_head(struct made_file *to, uint32_t type, size_t payload)
{
    put_u64(to, type | (uint64_t)(8 + payload) << 48);
}

static void put_record(struct made_file *to, uint32_t type, const char *text)
{
    assert_int_equal(strlen(text), 8);
    put_head(to, type, 8);
    made_file_append(to, text, 8);
}

/* The record with which a pipe states a feature. */
static void put_feature(struct made_file *to, uint64_t number)
{
    put_head(to, FEATURE, 8);
    put_u64(to, number);
}

/* Compress the bytes [from, until) of some records as the next payload of a stream. */
static void put_compressed(struct made_file *to, uint32_t type, ZSTD_CStream *stream,
                           const struct made_file *records, size_t from, size_t until)
{
    uint8_t bytes[1024];
    ZSTD_inBuffer in = {records->bytes + from, until - from, 0};
    ZSTD_outBuffer out = {bytes, sizeof bytes, 0};
    assert_false(ZSTD_isError(ZSTD_compressStream(stream, &out, &in)));
    assert_int_equal(ZSTD_flushStream(stream, &out), 0);
    size_t padding = type == COMPRESSED2 ? (8 - out.pos % 8) % 8 : 0;
    put_head(to, type, (type == COMPRESSED2 ? 8 : 0) + out.pos + padding);
    if (type == COMPRESSED2)
        put_u64(to, out.pos);
    made_file_append(to, bytes, out.pos);
    made_file_append(to, "\0\0\0\0\0\0\0", padding);
}

/* Records "number 0", "number 1", ... */
static void put_numbers(struct made_file *to, unsigned first, unsigned count)
{
    char text[] = "number 0";
    for (unsigned i = first; i < first + count; i++) {
        text[7] = (char)('0' + i);
        put_record(to, SAMPLE, text);
    }
}

/* Two payloads with a record between them; the first ends inside of the third sample. */
static void put_packed_records(struct made_file *to, uint32_t type)
{
    struct made_file samples = {.length = 0};
    ZSTD_CStream *stream = ZSTD_createCStream();
    put_numbers(&samples, 0, 5);
    ZSTD_initCStream(stream, 1);
    put_compressed(to, type, stream, &samples, 0, 40);
    put_compressed(to, type, stream, &samples, 40, 64);
    put_record(to, FINISHED_ROUND, "a round ");
    put_compressed(to, type, stream, &samples, 64, 80);
    ZSTD_freeCStream(stream);
}

static void put_plain_records(struct made_file *to)
{
    put_numbers(to, 0, 4);
    put_record(to, FINISHED_ROUND, "a round ");
    put_numbers(to, 4, 1);
}

/* A file with the features 3 (a host name, "host") and, if so, 27 (compression, "zstd"). */
static void make_file(struct made_file *file, const struct made_file *records, bool is_compressed)
{
    size_t end = HEADER + records->length;
    memset(file, 0, sizeof *file);
    made_file_append(file, "PERFILE2", 8);
    file->length = HEADER;
    tv_le_put_u64(file->bytes + 8, HEADER);
    tv_le_put_u64(file->bytes + 40, HEADER);
    tv_le_put_u64(file->bytes + 48, records->length);
    file->bytes[72] = 1 << 3;
    file->bytes[75] = is_compressed ? 1 << 3 : 0;
    made_file_append(file, records->bytes, records->length);
    put_u64(file, end + (is_compressed ? 2 : 1) * SECTION);
    put_u64(file, 4);
    if (is_compressed) {
        put_u64(file, end + 2 * SECTION + 4);
        put_u64(file, 4);
    }
    made_file_append(file, "host", 4);
    made_file_append(file, "zstd", 4);
}

static void make_pipe(struct made_file *file)
{
    file->length = 0;
    made_file_append(file, "PERFILE2", 8);
    put_u64(file, 16);
}

static bool is_perf(void *context, struct tv_bytes head)
{
    (void)context;
    return tv_bytes_starts_with(head, TV_BYTES("PERFILE2"));
}

static void assert_unpacks(const struct made_file *packed, const struct made_file *expected,
                           bool is_cut)
{
    made_file_assert_unpacks(packed, is_perf, expected, is_cut);
}

static void puts_records_in_place_of_payloads(void **state)
{
    (void)state;
    struct made_file packed, expected, records = {.length = 0}, plain = {.length = 0};
    put_packed_records(&records, COMPRESSED);
    put_plain_records(&plain);
    make_file(&packed, &records, true);
    make_file(&expected, &plain, false);
    assert_unpacks(&packed, &expected, false);
    assert_false(made_file_is_known(&expected));
}

static void knows_payloads_with_padding(void **state)
{
    (void)state;
    struct made_file packed, expected, records = {.length = 0}, plain = {.length = 0};
    put_packed_records(&records, COMPRESSED2);
    put_plain_records(&plain);
    make_file(&packed, &records, true);
    make_file(&expected, &plain, false);
    assert_unpacks(&packed, &expected, false);
}

/* A program that was killed leaves a header without the size, and no features. */
static void unpacks_a_file_that_was_not_ended(void **state)
{
    (void)state;
    struct made_file packed, expected, records = {.length = 0}, plain = {.length = 0};
    put_packed_records(&records, COMPRESSED);
    put_plain_records(&plain);
    make_file(&packed, &records, true);
    make_file(&expected, &plain, false);
    packed.length = HEADER + records.length;
    expected.length = HEADER + plain.length;
    tv_le_put_u64(packed.bytes + 48, 0);
    tv_le_put_u64(expected.bytes + 48, 0);
    assert_unpacks(&packed, &expected, false);
}

static void unpacks_what_came_through_a_pipe(void **state)
{
    (void)state;
    struct made_file packed, expected;
    make_pipe(&packed);
    put_feature(&packed, 27);
    expected = packed;
    put_packed_records(&packed, COMPRESSED);
    put_plain_records(&expected);
    assert_unpacks(&packed, &expected, false);
}

/* perf's own records fill what a file is recognised by: only the first pass tells. */
static void looks_further_into_a_pipe(void **state)
{
    (void)state;
    struct made_file packed, expected;
    make_pipe(&packed);
    while (packed.length < HEAD)
        put_feature(&packed, 3);
    expected = packed;
    put_plain_records(&packed);
    assert_unpacks(&packed, &packed, false);
    packed = expected;
    put_packed_records(&packed, COMPRESSED);
    put_plain_records(&expected);
    assert_unpacks(&packed, &expected, false);
}

static void keeps_records_before_a_cut(void **state)
{
    (void)state;
    struct made_file packed, expected;
    make_pipe(&packed);
    put_feature(&packed, 27);
    expected = packed;
    put_packed_records(&packed, COMPRESSED);
    put_plain_records(&expected);
    packed.length -= 1;
    expected.length -= 16; /* a block of zstd cannot be read without its end */
    assert_unpacks(&packed, &expected, true);
}

static void ends_the_records_at_a_damage(void **state)
{
    (void)state;
    struct made_file packed, expected, records = {.length = 0}, plain = {.length = 0};
    put_packed_records(&records, COMPRESSED);
    size_t first = tv_le_get_u16(records.bytes + 6);
    memset(records.bytes + first + 8, 0xff, 3); /* the head of the second block: its type is 3 */
    put_numbers(&plain, 0, 3);
    plain.length = 40;
    make_file(&packed, &records, true);
    make_file(&expected, &plain, false);
    assert_unpacks(&packed, &expected, true);
}

static void assert_refused(struct made_file *packed, size_t at, uint64_t value)
{
    struct tv_unpacked members[TV_UNPACK_MEMBERS];
    struct tv_unpack_question question = {.wanted = is_perf};
    struct made_file changed = *packed;
    struct tv_error err = {0};
    size_t count;
    bool cut_off;
    tv_le_put_u64(changed.bytes + at, value);
    struct tv_source *source =
        tv_source_from_memory((struct tv_bytes){changed.bytes, changed.length}, "box");
    assert_int_equal(tv_unpack(source, &question, members, &count, &cut_off, &err), TV_ERR_SYNTAX);
    assert_int_equal(count, 0);
    tv_source_free(source);
}

static void refuses_impossible_headers(void **state)
{
    (void)state;
    struct made_file packed, records = {.length = 0};
    put_packed_records(&records, COMPRESSED);
    make_file(&packed, &records, true);
    assert_refused(&packed, 40, 8);
    assert_refused(&packed, 40, UINT64_MAX);
    assert_refused(&packed, 48, UINT64_MAX);
    packed.length = 96; /* the flags are cut off */
    assert_false(made_file_is_known(&packed));
    make_pipe(&packed);
    put_record(&packed, SAMPLE, "a sample");
    assert_false(made_file_is_known(&packed));
}

/* TRACING_DATA is followed by the bytes of its 32-bit size, rounded up to 8; AUXTRACE by those of
 * its 64-bit size (tools/perf/Documentation/perf.data-file-format.txt of Linux).  They may look
 * like records. */
static void put_records_with_data(struct made_file *to)
{
    put_head(to, TRACING_DATA, 8);
    put_u64(to, 5);
    put_head(to, COMPRESSED, 0);
    put_head(to, AUXTRACE, 8);
    put_u64(to, 16);
    put_record(to, COMPRESSED, "not zstd");
    put_head(to, AUXTRACE, 0); /* too short for a size: nothing follows */
    put_head(to, AUXTRACE, 8);
    put_u64(to, UINT64_MAX); /* an impossible size: nothing follows */
    put_head(to, TRACING_DATA, 0);
}

static void passes_over_data_between_records(void **state)
{
    (void)state;
    struct made_file packed, expected, records = {.length = 0}, plain = {.length = 0};
    put_records_with_data(&records);
    put_records_with_data(&plain);
    put_packed_records(&records, COMPRESSED);
    put_plain_records(&plain);
    make_file(&packed, &records, true);
    make_file(&expected, &plain, false);
    assert_unpacks(&packed, &expected, false);
}

/* A record that cannot be one ends the records, and its bytes are kept for the reader. */
static void assert_ends_with(const struct made_file *wrong)
{
    struct made_file packed, expected, records = {.length = 0}, plain = {.length = 0};
    put_packed_records(&records, COMPRESSED);
    put_plain_records(&plain);
    made_file_append(&records, wrong->bytes, wrong->length);
    made_file_append(&plain, wrong->bytes, wrong->length);
    make_file(&packed, &records, true);
    make_file(&expected, &plain, false);
    assert_unpacks(&packed, &expected, true);
}

static void keeps_impossible_records(void **state)
{
    (void)state;
    struct made_file wrong = {.length = 0};
    put_u64(&wrong, SAMPLE); /* size 0 */
    assert_ends_with(&wrong);
    wrong.length = 0;
    put_u64(&wrong, SAMPLE | UINT64_C(7) << 48); /* smaller than its head */
    assert_ends_with(&wrong);
    wrong.length = 0;
    put_head(&wrong, COMPRESSED2, 4); /* without its size */
    made_file_append(&wrong, "four", 4);
    assert_ends_with(&wrong);
    wrong.length = 0;
    put_head(&wrong, COMPRESSED2, 16); /* the data are larger than the record */
    put_u64(&wrong, 9);
    put_u64(&wrong, 0);
    assert_ends_with(&wrong);
}

/* A compressed record that goes beyond the records is copied as it is. */
static void keeps_a_record_beyond_the_records(void **state)
{
    (void)state;
    struct made_file packed, expected, records = {.length = 0}, plain = {.length = 0};
    put_packed_records(&records, COMPRESSED);
    put_plain_records(&plain);
    put_head(&records, COMPRESSED, 100);
    put_head(&plain, COMPRESSED, 100);
    make_file(&packed, &records, true);
    make_file(&expected, &plain, false);
    assert_unpacks(&packed, &expected, false);
}

/* The offsets of sections before the records do not move, and a table that is cut off has none. */
static void moves_only_sections_after_the_records(void **state)
{
    (void)state;
    struct made_file packed, expected, records = {.length = 0}, plain = {.length = 0};
    put_packed_records(&records, COMPRESSED);
    put_plain_records(&plain);
    make_file(&packed, &records, true);
    make_file(&expected, &plain, false);
    tv_le_put_u64(packed.bytes + HEADER + records.length, 24);
    tv_le_put_u64(expected.bytes + HEADER + plain.length, 24);
    assert_unpacks(&packed, &expected, false);
    packed.length = HEADER + records.length;
    expected.length = HEADER + plain.length;
    assert_unpacks(&packed, &expected, false);
}

static void asks_only_perf_for_features(void **state)
{
    (void)state;
    struct made_file packed;
    make_pipe(&packed);
    put_head(&packed, TRACING_DATA, 8);
    put_u64(&packed, 0);
    put_feature(&packed, 27); /* what follows tracing data is not looked at */
    assert_false(made_file_is_known(&packed));
    make_pipe(&packed);
    put_u64(&packed, FEATURE); /* size 0 */
    put_u64(&packed, 3);
    assert_false(made_file_is_known(&packed));
    make_pipe(&packed);
    put_feature(&packed, 3); /* the file ends before a record says that it is compressed */
    assert_false(made_file_is_known(&packed));
    make_pipe(&packed);
    packed.length = 12;
    assert_false(made_file_is_known(&packed));
}

static void reports_unreadable_bytes(void **state)
{
    (void)state;
    struct made_file packed, records = {.length = 0};
    put_packed_records(&records, COMPRESSED);
    put_head(&records, SAMPLE, 4000);
    made_file_append_noise(&records, 4000);
    put_packed_records(&records, COMPRESSED);
    make_file(&packed, &records, true);
    made_file_assert_reports_breaks(&packed, is_perf);
}

static void refuses_unwanted_records(void **state)
{
    (void)state;
    struct made_file packed, records = {.length = 0};
    put_packed_records(&records, COMPRESSED);
    make_file(&packed, &records, true);
    made_file_assert_unwanted(&packed);
}

UNIT_TESTS(perf_records, cmocka_unit_test(puts_records_in_place_of_payloads),
           cmocka_unit_test(knows_payloads_with_padding),
           cmocka_unit_test(unpacks_a_file_that_was_not_ended),
           cmocka_unit_test(unpacks_what_came_through_a_pipe),
           cmocka_unit_test(looks_further_into_a_pipe),
           cmocka_unit_test(keeps_records_before_a_cut),
           cmocka_unit_test(ends_the_records_at_a_damage),
           cmocka_unit_test(refuses_impossible_headers),
           cmocka_unit_test(passes_over_data_between_records),
           cmocka_unit_test(keeps_impossible_records),
           cmocka_unit_test(keeps_a_record_beyond_the_records),
           cmocka_unit_test(moves_only_sections_after_the_records),
           cmocka_unit_test(asks_only_perf_for_features),
           cmocka_unit_test(reports_unreadable_bytes), cmocka_unit_test(refuses_unwanted_records));
