/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The buffers: how they are claimed, chained and used again, and that their memory is there before
 * it is needed.
 */
#define _GNU_SOURCE
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "recorder/trace_buffer.h"

#define RECORDS 1000000u

static struct tv_trace_buffer make(uint32_t records)
{
    struct tv_trace_buffer buffer = {0};
    assert_int_equal(tv_trace_buffer_init(&buffer, records, 2, -1), 0);
    return buffer;
}

static void claims_until_nothing_is_left(void **state)
{
    (void)state;
    struct tv_trace_buffer buffer = make(100);
    assert_int_equal(tv_trace_buffer_claim_chunk(&buffer, 1, 64), 1);
    assert_int_equal(tv_trace_buffer_claim_chunk(&buffer, 2, 64), 2);
    assert_int_equal(buffer.chunks[0].count, 64);
    assert_int_equal(buffer.chunks[1].first, 64);
    assert_int_equal(buffer.chunks[1].count, 36);
    assert_int_equal(tv_trace_buffer_claim_chunk(&buffer, 1, 1), 0);
    tv_trace_buffer_release(&buffer);
}

static void recycles_the_oldest(void **state)
{
    (void)state;
    struct tv_trace_buffer buffer = make(300);
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t chunk = tv_trace_buffer_claim_chunk(&buffer, 1, 100);
        tv_trace_buffer_append_chunk(&buffer, 1, chunk);
        tv_trace_buffer_record(&buffer, buffer.chunks[chunk - 1].first)[0] = 7;
    }
    assert_int_equal(tv_trace_buffer_recycle_chunk(&buffer, 1), 1);
    assert_int_equal(tv_trace_buffer_record(&buffer, 0)[0], 0);
    assert_int_equal(tv_trace_buffer_record(&buffer, 100)[0], 7);
    tv_trace_buffer_append_chunk(&buffer, 1, 1);
    assert_int_equal(buffer.threads[0].first_chunk, 2);
    assert_int_equal(buffer.chunks[2].next, 1);
    assert_int_equal(tv_trace_buffer_recycle_chunk(&buffer, 2), 0); /* has none */
    tv_trace_buffer_release(&buffer);
}

static bool is_there(const struct tv_trace_buffer *buffer, uint32_t record)
{
    unsigned char page;
    uintptr_t at = (uintptr_t)tv_trace_buffer_record(buffer, record) & ~(uintptr_t)4095;
    assert_int_equal(mincore((void *)at, 1, &page), 0);
    return page & 1;
}

static void brings_memory_ahead(void **state)
{
    (void)state;
    struct tv_trace_buffer buffer = make(RECORDS);
    assert_true(tv_trace_buffer_needs_prefault(&buffer));
    tv_trace_buffer_prefault(&buffer);
    if (atomic_load(&buffer.ready) == 0) {
        tv_trace_buffer_release(&buffer);
        print_message("# skipped: this kernel brings no memory ahead\n");
        return;
    }
    assert_false(tv_trace_buffer_needs_prefault(&buffer));
    assert_true(is_there(&buffer, 0));
    assert_true(is_there(&buffer, 4096));
    assert_false(is_there(&buffer, RECORDS - 1));
    tv_trace_buffer_record(&buffer, 100)[0] = 7;
    while (tv_trace_buffer_claim_chunk(&buffer, 1, TV_BUFFER_CHUNK_MAX) != 0)
        if (tv_trace_buffer_needs_prefault(&buffer))
            tv_trace_buffer_prefault(&buffer);
    assert_true(is_there(&buffer, RECORDS - 1));
    assert_false(tv_trace_buffer_needs_prefault(&buffer));
    assert_int_equal(tv_trace_buffer_record(&buffer, 100)[0], 7);
    tv_trace_buffer_release(&buffer);
}

/* Pages in use are resident already; touching them again would only take time. */
static void leaves_out_what_is_used(void **state)
{
    (void)state;
    struct tv_trace_buffer buffer = make(RECORDS);
    assert_int_equal(tv_trace_buffer_claim_chunk(&buffer, 1, RECORDS / 2), 1);
    assert_true(tv_trace_buffer_needs_prefault(&buffer));
    tv_trace_buffer_prefault(&buffer);
    assert_false(is_there(&buffer, 0));
    if (atomic_load(&buffer.ready) != 0)
        assert_true(is_there(&buffer, RECORDS / 2));
    tv_trace_buffer_release(&buffer);
}

#define FIRST 1000u
#define GROWN 5000000u /* of 16 bytes: more than one piece */

/* Claims so many records in all, in chunks, and marks both ends of each. */
static uint32_t claim_and_mark(struct tv_trace_buffer *buffer, uint32_t records)
{
    uint32_t claimed = 0, chunk;
    while (claimed < records &&
           (chunk = tv_trace_buffer_claim_chunk(buffer, 1, TV_BUFFER_CHUNK_MAX)) != 0) {
        const struct tv_buffer_chunk *of = &buffer->chunks[chunk - 1];
        assert_int_equal(of->first, claimed);
        tv_trace_buffer_record(buffer, of->first)[0] = of->first + 1;
        tv_trace_buffer_record(buffer, of->first + of->count - 1)[1] = of->first + 1;
        claimed += of->count;
    }
    return claimed;
}

static void grows_in_files_without_names(void **state)
{
    (void)state;
    char folder[] = "/tmp/tv-buffer-XXXXXX";
    assert_non_null(mkdtemp(folder));
    struct tv_trace_buffer buffer = make(2 * GROWN);
    tv_trace_buffer_set_growth(&buffer, FIRST, folder);
    assert_int_equal(claim_and_mark(&buffer, FIRST), TV_BUFFER_CHUNK_MAX);
    assert_true(tv_trace_buffer_has_grown(&buffer));
    tv_trace_buffer_release(&buffer);

    buffer = make(2 * GROWN);
    tv_trace_buffer_set_growth(&buffer, FIRST, folder);
    uint32_t claimed = claim_and_mark(&buffer, GROWN);
    assert_true(claimed >= GROWN);
    for (uint32_t i = 0; i < claimed; i += TV_BUFFER_CHUNK_MAX) {
        assert_int_equal(tv_trace_buffer_record(&buffer, i)[0], i + 1);
        assert_int_equal(tv_trace_buffer_record(&buffer, i + TV_BUFFER_CHUNK_MAX - 1)[1], i + 1);
    }
    /* The folder is empty, so that it can be removed. */
    assert_int_equal(rmdir(folder), 0);
    tv_trace_buffer_release(&buffer);
}

/* The first piece is used up, to the end of its last page. */
static void ends_where_it_cannot_grow(void **state)
{
    (void)state;
    struct tv_trace_buffer buffer = make(GROWN);
    tv_trace_buffer_set_growth(&buffer, FIRST, "/nonexistent/folder");
    assert_false(tv_trace_buffer_has_grown(&buffer));
    assert_int_equal(claim_and_mark(&buffer, GROWN), 4 * 4096 / 16);
    assert_int_equal(tv_trace_buffer_claim_chunk(&buffer, 1, 1), 0);
    tv_trace_buffer_release(&buffer);
}

UNIT_TESTS(trace_buffer, cmocka_unit_test(claims_until_nothing_is_left),
           cmocka_unit_test(recycles_the_oldest), cmocka_unit_test(brings_memory_ahead),
           cmocka_unit_test(leaves_out_what_is_used),
           cmocka_unit_test(grows_in_files_without_names),
           cmocka_unit_test(ends_where_it_cannot_grow));
