/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tries.c - tests of hub/tries.h.
 */
#include "unit.h"

#include <stdio.h>

#include "base/memory.h"
#include "hub/tries.h"

/* A bucket of three that fills with two a second. */
static struct tv_tries *three(void)
{
    struct tv_tries *tries = tv_alloc(1, sizeof *tries);
    tv_tries_init(tries, 2, 3);
    return tries;
}

static void release(struct tv_tries *tries)
{
    tv_tries_release(tries);
    tv_free(tries);
}

static void gives_a_burst_and_then_the_rate(void **state)
{
    (void)state;
    struct tv_tries *tries = three();
    for (int i = 0; i < 3; i++)
        assert_true(tv_tries_take(tries, "192.0.2.1", 100));
    assert_false(tv_tries_take(tries, "192.0.2.1", 100));
    assert_false(tv_tries_take(tries, "192.0.2.1", 100.4));
    assert_true(tv_tries_take(tries, "192.0.2.1", 100.5));
    assert_false(tv_tries_any(tries, "192.0.2.1", 100.5));
    /* However long nobody asks: no more than a burst. */
    for (int i = 0; i < 3; i++)
        assert_true(tv_tries_take(tries, "192.0.2.1", 1000));
    assert_false(tv_tries_take(tries, "192.0.2.1", 1000));
    release(tries);
}

static void addresses_do_not_share(void **state)
{
    (void)state;
    struct tv_tries *tries = three();
    for (int i = 0; i < 3; i++)
        assert_true(tv_tries_take(tries, "192.0.2.1", 0));
    assert_true(tv_tries_any(tries, "192.0.2.2", 0));
    assert_false(tv_tries_any(tries, "192.0.2.1", 0));
    release(tries);
}

/* Ten times as many as there are places, each once: the one that asks often stays empty. */
static void who_asks_often_keeps_his_place(void **state)
{
    (void)state;
    struct tv_tries *tries = three();
    char peer[32];
    for (int i = 0; i < 3; i++)
        assert_true(tv_tries_take(tries, "192.0.2.1", 0));
    for (unsigned i = 0; i < 10 * TV_TRIES_PLACES; i++) {
        snprintf(peer, sizeof peer, "2001:db8::%x", i);
        assert_true(tv_tries_take(tries, peer, 0));
    }
    assert_false(tv_tries_any(tries, "192.0.2.1", 0));
    release(tries);
}

UNIT_TESTS(tries, cmocka_unit_test(gives_a_burst_and_then_the_rate),
           cmocka_unit_test(addresses_do_not_share),
           cmocka_unit_test(who_asks_often_keeps_his_place));
