/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include <string.h>

#include "base/bytes.h"
#include "view/internal.h"

/*
 * Names in the order in which people look for them: what localeCompare of a browser gives.
 */

static void orders_as_a_browser_does(void **state)
{
    /* Sorted by Node 20: names.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })). */
    static const char *const sorted[] = {
        "",           "_x",          "-x",   "(x",        "$x",        "1",         "9",
        "10",         "10a",         "a b",  "a-b",       "a1b",       "a01c",      "a2",
        "ab",         "alpha",       "Beta", "chrome",    "Chrome_IO", "ChromeX",   "Cr_A",
        "cra",        "crA",         "CrA",  "CrBrowser", "thread 9",  "thread 10", "thread 010x",
        "worker-2/7", "worker-10/1", "Zeta",
    };
    (void)state;
    for (size_t i = 0; i < TV_COUNT(sorted); i++)
        for (size_t j = 0; j < TV_COUNT(sorted); j++) {
            int order = tv_collate(tv_bytes_of(sorted[i]), tv_bytes_of(sorted[j]));
            if ((order > 0) - (order < 0) != (i > j) - (i < j))
                fail_msg("\"%s\" beside \"%s\": %d", sorted[i], sorted[j], order);
        }
}

/* Two that differ are never equal, and an order holds whichever comes first. */
static void knows_all_bytes_apart(void **state)
{
    (void)state;
    for (unsigned a = 0; a < 256; a++)
        for (unsigned b = 0; b < 256; b++) {
            uint8_t x = (uint8_t)a, y = (uint8_t)b;
            int there = tv_collate((struct tv_bytes){&x, 1}, (struct tv_bytes){&y, 1});
            int back = tv_collate((struct tv_bytes){&y, 1}, (struct tv_bytes){&x, 1});
            assert_int_equal(there == 0, a == b);
            assert_int_equal(there > 0, back < 0);
        }
}

static void puts_other_letters_behind(void **state)
{
    (void)state;
    assert_true(tv_collate(tv_bytes_of("zz"), tv_bytes_of("\xc3\xa9t\xc3\xa9")) < 0);
    assert_true(tv_collate(tv_bytes_of("\xc3\xa9"), tv_bytes_of("\xe6\x97\xa5")) < 0);
}

UNIT_TESTS(order, cmocka_unit_test(orders_as_a_browser_does),
           cmocka_unit_test(knows_all_bytes_apart), cmocka_unit_test(puts_other_letters_behind));
