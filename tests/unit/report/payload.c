/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes in elements of a page: taken out as a page does it they are the same. */
#include "unit.h"

#include <string.h>
#include <zlib.h>

#include "base/bytes.h"
#include "base/encoding.h"
#include "base/memory.h"
#include "report/report.h"

#define BEGIN "<script type=\"application/octet-stream\" data-of=\"it\">"
#define END "</script>\n"

#define MIB ((size_t)1024 * 1024)

/* The longest text that a page accepts; report.h says "some megabytes". */
#define LONGEST ((size_t)6 * 1024 * 1024)

/* Adds what the elements hold to `bytes`; how many there are. */
static size_t take_out(struct tv_bytes page, struct tv_out *bytes)
{
    size_t count = 0;
    while (page.length > 0) {
        assert_true(tv_bytes_starts_with(page, tv_bytes_of(BEGIN)));
        page.data += strlen(BEGIN);
        page.length -= strlen(BEGIN);
        const uint8_t *end = memchr(page.data, '<', page.length);
        assert_non_null(end);
        size_t length = (size_t)(end - page.data), used;
        uint8_t *decoded = tv_alloc(length + 3, 1);
        struct tv_base64 state = {0};
        assert_true(length <= LONGEST);
        size_t got = tv_base64_decode(&state, (struct tv_bytes){page.data, length}, decoded, &used);
        assert_int_equal(used, length);
        tv_out_bytes(bytes, (struct tv_bytes){decoded, got});
        tv_free(decoded);
        page.data += length;
        page.length -= length;
        assert_true(tv_bytes_starts_with(page, tv_bytes_of(END)));
        page.data += strlen(END);
        page.length -= strlen(END);
        count++;
    }
    return count;
}

static void noise(uint8_t *bytes, size_t size)
{
    uint32_t seed = 7;
    for (size_t i = 0; i < size; i++) {
        seed = seed * 1664525 + 1013904223;
        bytes[i] = (uint8_t)(seed >> 24);
    }
}

static void carries_packed_bytes_as_they_are(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 3, 3 * 1024 * 1024, 3 * 1024 * 1024 + 1, 7000001};
    static const size_t elements[] = {0, 1, 1, 1, 1, 2, 3};
    for (size_t i = 0; i < TV_COUNT(sizes); i++) {
        uint8_t *bytes = tv_alloc(sizes[i] + 1, 1);
        struct tv_out page, got;
        tv_out_init_memory(&page);
        tv_out_init_memory(&got);
        noise(bytes, sizes[i]);
        tv_payload_write_packed(&page, "it", (struct tv_bytes){bytes, sizes[i]});
        size_t count = take_out((struct tv_bytes){page.buffer, page.length}, &got);
        assert_int_equal(count, elements[i]);
        assert_int_equal(got.length, sizes[i]);
        if (sizes[i] > 0)
            assert_memory_equal(got.buffer, bytes, sizes[i]);
        tv_out_release(&page);
        tv_out_release(&got);
        tv_free(bytes);
    }
}

static void unpack(struct tv_bytes packed, uint8_t *to, size_t size)
{
    uint8_t more;
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)packed.data,
                       .avail_in = (uInt)packed.length,
                       .next_out = to,
                       .avail_out = (uInt)size};
    assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
    int ended = inflate(&stream, Z_FINISH);
    if (ended == Z_BUF_ERROR) { /* nothing but the end is left */
        stream.next_out = &more;
        stream.avail_out = 1;
        ended = inflate(&stream, Z_FINISH);
    }
    assert_int_equal(ended, Z_STREAM_END);
    assert_int_equal(stream.total_out, size);
    inflateEnd(&stream);
}

static void packs_sources(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 256 * 1024, MIB - 1, MIB, MIB + 1, 3 * MIB, 9000000};
    for (size_t i = 0; i < TV_COUNT(sizes); i++) {
        uint8_t *bytes = tv_alloc(sizes[i] + 1, 1), *back = tv_alloc(sizes[i] + 1, 1);
        struct tv_out page, got;
        struct tv_error err = {0};
        tv_out_init_memory(&page);
        tv_out_init_memory(&got);
        noise(bytes, sizes[i]);
        struct tv_source *source =
            tv_source_from_memory((struct tv_bytes){bytes, sizes[i]}, "noise");
        assert_int_equal(tv_payload_write_source(&page, "it", source, 3, &err), TV_OK);
        take_out((struct tv_bytes){page.buffer, page.length}, &got);
        unpack((struct tv_bytes){got.buffer, got.length}, back, sizes[i]);
        assert_memory_equal(back, bytes, sizes[i] + 1);
        tv_source_free(source);
        tv_out_release(&page);
        tv_out_release(&got);
        tv_free(bytes);
        tv_free(back);
    }
}

/* Four MiB that repeat what stood 30000 bytes before: blocks know what was before them. */
static void workers_change_nothing(void **state)
{
    (void)state;
    size_t size = 4 * MIB + 77;
    uint8_t *bytes = tv_alloc(size, 1);
    struct tv_out pages[3];
    noise(bytes, 30000);
    for (size_t i = 30000; i < size; i++)
        bytes[i] = bytes[i - 30000];
    for (unsigned i = 0; i < 3; i++) {
        struct tv_error err = {0};
        struct tv_source *source = tv_source_from_memory((struct tv_bytes){bytes, size}, "bytes");
        tv_out_init_memory(&pages[i]);
        assert_int_equal(
            tv_payload_write_source(&pages[i], "it", source, i == 2 ? 64 : i + 1, &err), TV_OK);
        assert_int_equal(pages[i].length, pages[0].length);
        assert_memory_equal(pages[i].buffer, pages[0].buffer, pages[0].length);
        tv_source_free(source);
    }
    /* 30000 bytes as they are and some 2 for each 258 others, in base64.  Blocks that knew nothing
     * would have 30000 each. */
    assert_true(pages[0].length < (2 * 30000 + 2 * (4 * MIB / 258)) * 4 / 3);
    for (unsigned i = 0; i < 3; i++)
        tv_out_release(&pages[i]);
    tv_free(bytes);
}

static enum tv_status read_half(void *context, uint64_t offset, void *buffer, size_t size,
                                struct tv_error *err)
{
    (void)context;
    memset(buffer, 0, size);
    return offset + size <= 1000000 ? TV_OK : tv_fail(err, TV_ERR_IO, offset, "it has gone");
}

static void tells_of_sources_that_cannot_be_read(void **state)
{
    (void)state;
    static const struct tv_source_reads reads = {.read = read_half};
    struct tv_source *source = tv_source_from_reads(&reads, NULL, 2000000, "half");
    struct tv_error err = {0};
    struct tv_out page;
    tv_out_init_memory(&page);
    assert_int_equal(tv_payload_write_source(&page, "it", source, 0, &err), TV_ERR_IO);
    assert_non_null(strstr(err.message, "it has gone"));
    tv_out_release(&page);
    tv_source_free(source);
}

UNIT_TESTS(payload, cmocka_unit_test(carries_packed_bytes_as_they_are),
           cmocka_unit_test(packs_sources), cmocka_unit_test(workers_change_nothing),
           cmocka_unit_test(tells_of_sources_that_cannot_be_read));
