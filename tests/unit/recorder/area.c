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

#include "recorder/area.h"

#define RECORDS 1000000u

static struct tv_trace_buffer make(uint32_t records)
{
    struct tv_trace_buffer area = {0};
    assert_int_equal(tv_trace_buffer_init(&area, records, 2, -1), 0);
    return area;
}

static void claims_until_nothing_is_left(void **state)
{
    (void)state;
    struct tv_trace_buffer area = make(100);
    assert_int_equal(tv_trace_buffer_claim_chunk(&area, 1, 64), 1);
    assert_int_equal(tv_trace_buffer_claim_chunk(&area, 2, 64), 2);
    assert_int_equal(area.chunks[0].count, 64);
    assert_int_equal(area.chunks[1].first, 64);
    assert_int_equal(area.chunks[1].count, 36);
    assert_int_equal(tv_trace_buffer_claim_chunk(&area, 1, 1), 0);
    tv_trace_buffer_release(&area);
}

static void recycles_the_oldest(void **state)
{
    (void)state;
    struct tv_trace_buffer area = make(300);
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t chunk = tv_trace_buffer_claim_chunk(&area, 1, 100);
        tv_trace_buffer_append_chunk(&area, 1, chunk);
        tv_trace_buffer_record(&area, area.chunks[chunk - 1].first)[0] = 7;
    }
    assert_int_equal(tv_trace_buffer_recycle_chunk(&area, 1), 1);
    assert_int_equal(tv_trace_buffer_record(&area, 0)[0], 0);
    assert_int_equal(tv_trace_buffer_record(&area, 100)[0], 7);
    tv_trace_buffer_append_chunk(&area, 1, 1);
    assert_int_equal(area.threads[0].first_chunk, 2);
    assert_int_equal(area.chunks[2].next, 1);
    assert_int_equal(tv_trace_buffer_recycle_chunk(&area, 2), 0); /* has none */
    tv_trace_buffer_release(&area);
}

static bool is_there(const struct tv_trace_buffer *area, uint32_t record)
{
    unsigned char page;
    uintptr_t at = (uintptr_t)tv_trace_buffer_record(area, record) & ~(uintptr_t)4095;
    assert_int_equal(mincore((void *)at, 1, &page), 0);
    return page & 1;
}

static void brings_memory_ahead(void **state)
{
    (void)state;
    struct tv_trace_buffer area = make(RECORDS);
    assert_true(tv_trace_buffer_needs_prefault(&area));
    tv_trace_buffer_prefault(&area);
    if (atomic_load(&area.ready) == 0) {
        tv_trace_buffer_release(&area);
        print_message("# skipped: this kernel brings no memory ahead\n");
        return;
    }
    assert_false(tv_trace_buffer_needs_prefault(&area));
    assert_true(is_there(&area, 0));
    assert_true(is_there(&area, 4096));
    assert_false(is_there(&area, RECORDS - 1));
    tv_trace_buffer_record(&area, 100)[0] = 7;
    while (tv_trace_buffer_claim_chunk(&area, 1, TV_BUFFER_CHUNK_MAX) != 0)
        if (tv_trace_buffer_needs_prefault(&area))
            tv_trace_buffer_prefault(&area);
    assert_true(is_there(&area, RECORDS - 1));
    assert_false(tv_trace_buffer_needs_prefault(&area));
    assert_int_equal(tv_trace_buffer_record(&area, 100)[0], 7);
    tv_trace_buffer_release(&area);
}

/* What is in use already is there; bringing it would only take time. */
static void leaves_out_what_is_used(void **state)
{
    (void)state;
    struct tv_trace_buffer area = make(RECORDS);
    assert_int_equal(tv_trace_buffer_claim_chunk(&area, 1, RECORDS / 2), 1);
    assert_true(tv_trace_buffer_needs_prefault(&area));
    tv_trace_buffer_prefault(&area);
    assert_false(is_there(&area, 0));
    if (atomic_load(&area.ready) != 0)
        assert_true(is_there(&area, RECORDS / 2));
    tv_trace_buffer_release(&area);
}

#define FIRST 1000u
#define GROWN 5000000u /* of 16 bytes: more than one piece */

/* Claims so many records in all, in chunks, and marks both ends of each. */
static uint32_t claim_and_mark(struct tv_trace_buffer *area, uint32_t records)
{
    uint32_t claimed = 0, chunk;
    while (claimed < records && (chunk = tv_trace_buffer_claim_chunk(area, 1, TV_BUFFER_CHUNK_MAX)) != 0) {
        const struct tv_buffer_chunk *of = &area->chunks[chunk - 1];
        assert_int_equal(of->first, claimed);
        tv_trace_buffer_record(area, of->first)[0] = of->first + 1;
        tv_trace_buffer_record(area, of->first + of->count - 1)[1] = of->first + 1;
        claimed += of->count;
    }
    return claimed;
}

static void grows_in_files_without_names(void **state)
{
    (void)state;
    char folder[] = "/tmp/tv-area-XXXXXX";
    assert_non_null(mkdtemp(folder));
    struct tv_trace_buffer area = make(2 * GROWN);
    tv_trace_buffer_set_growth(&area, FIRST, folder);
    assert_int_equal(claim_and_mark(&area, FIRST), TV_BUFFER_CHUNK_MAX);
    assert_true(tv_trace_buffer_has_grown(&area));
    tv_trace_buffer_release(&area);

    area = make(2 * GROWN);
    tv_trace_buffer_set_growth(&area, FIRST, folder);
    uint32_t claimed = claim_and_mark(&area, GROWN);
    assert_true(claimed >= GROWN);
    for (uint32_t i = 0; i < claimed; i += TV_BUFFER_CHUNK_MAX) {
        assert_int_equal(tv_trace_buffer_record(&area, i)[0], i + 1);
        assert_int_equal(tv_trace_buffer_record(&area, i + TV_BUFFER_CHUNK_MAX - 1)[1], i + 1);
    }
    /* The folder is empty, so that it can be removed. */
    assert_int_equal(rmdir(folder), 0);
    tv_trace_buffer_release(&area);
}

/* The first piece is used up, to the end of its last page. */
static void ends_where_it_cannot_grow(void **state)
{
    (void)state;
    struct tv_trace_buffer area = make(GROWN);
    tv_trace_buffer_set_growth(&area, FIRST, "/nonexistent/folder");
    assert_false(tv_trace_buffer_has_grown(&area));
    assert_int_equal(claim_and_mark(&area, GROWN), 4 * 4096 / 16);
    assert_int_equal(tv_trace_buffer_claim_chunk(&area, 1, 1), 0);
    tv_trace_buffer_release(&area);
}

UNIT_TESTS(area, cmocka_unit_test(claims_until_nothing_is_left),
           cmocka_unit_test(recycles_the_oldest), cmocka_unit_test(brings_memory_ahead),
           cmocka_unit_test(leaves_out_what_is_used),
           cmocka_unit_test(grows_in_files_without_names),
           cmocka_unit_test(ends_where_it_cannot_grow));
