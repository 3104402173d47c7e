/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The buffers: how they are claimed, chained and used again, and that their memory is there before
 * it is needed.
 */
#define _GNU_SOURCE
#include "unit.h"

#include <string.h>
#include <sys/mman.h>

#include "recorder/area.h"

#define RECORDS 1000000u

static struct tv_area make(uint32_t records)
{
    struct tv_area area = {0};
    assert_int_equal(tv_area_new(&area, records, 2, -1), 0);
    return area;
}

static void claims_until_nothing_is_left(void **state)
{
    (void)state;
    struct tv_area area = make(100);
    assert_int_equal(tv_area_claim(&area, 1, 64), 1);
    assert_int_equal(tv_area_claim(&area, 2, 64), 2);
    assert_int_equal(area.chunks[0].count, 64);
    assert_int_equal(area.chunks[1].first, 64);
    assert_int_equal(area.chunks[1].count, 36);
    assert_int_equal(tv_area_claim(&area, 1, 1), 0);
    tv_area_free(&area);
}

static void recycles_the_oldest(void **state)
{
    (void)state;
    struct tv_area area = make(300);
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t chunk = tv_area_claim(&area, 1, 100);
        tv_area_append(&area, 1, chunk);
        tv_area_at(&area, area.chunks[chunk - 1].first)[0] = 7;
    }
    assert_int_equal(tv_area_recycle(&area, 1), 1);
    assert_int_equal(tv_area_at(&area, 0)[0], 0);
    assert_int_equal(tv_area_at(&area, 100)[0], 7);
    tv_area_append(&area, 1, 1);
    assert_int_equal(area.threads[0].first_chunk, 2);
    assert_int_equal(area.chunks[2].next, 1);
    assert_int_equal(tv_area_recycle(&area, 2), 0); /* has none */
    tv_area_free(&area);
}

static bool is_there(const struct tv_area *area, uint32_t record)
{
    unsigned char page;
    uintptr_t at = (uintptr_t)tv_area_at(area, record) & ~(uintptr_t)4095;
    assert_int_equal(mincore((void *)at, 1, &page), 0);
    return page & 1;
}

static void brings_memory_ahead(void **state)
{
    (void)state;
    struct tv_area area = make(RECORDS);
    assert_true(tv_area_wants_memory(&area));
    tv_area_bring_memory(&area);
    if (atomic_load(&area.ready) == 0) {
        tv_area_free(&area);
        print_message("# skipped: this kernel brings no memory ahead\n");
        return;
    }
    assert_false(tv_area_wants_memory(&area));
    assert_true(is_there(&area, 0));
    assert_true(is_there(&area, 4096));
    assert_false(is_there(&area, RECORDS - 1));
    tv_area_at(&area, 100)[0] = 7;
    while (tv_area_claim(&area, 1, TV_AREA_CHUNK_MOST) != 0)
        if (tv_area_wants_memory(&area))
            tv_area_bring_memory(&area);
    assert_true(is_there(&area, RECORDS - 1));
    assert_false(tv_area_wants_memory(&area));
    assert_int_equal(tv_area_at(&area, 100)[0], 7);
    tv_area_free(&area);
}

/* What is in use already is there; bringing it would only take time. */
static void leaves_out_what_is_used(void **state)
{
    (void)state;
    struct tv_area area = make(RECORDS);
    assert_int_equal(tv_area_claim(&area, 1, RECORDS / 2), 1);
    assert_true(tv_area_wants_memory(&area));
    tv_area_bring_memory(&area);
    assert_false(is_there(&area, 0));
    if (atomic_load(&area.ready) != 0)
        assert_true(is_there(&area, RECORDS / 2));
    tv_area_free(&area);
}

UNIT_TESTS(area, cmocka_unit_test(claims_until_nothing_is_left),
           cmocka_unit_test(recycles_the_oldest), cmocka_unit_test(brings_memory_ahead),
           cmocka_unit_test(leaves_out_what_is_used));
