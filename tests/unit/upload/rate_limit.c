/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rate_limit.c - token buckets.
 */
#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/memory.h"
#include "upload/access.h"

/* A bucket of three tokens that refills with two per second. */
static struct tv_rate_limit *three(void)
{
    struct tv_rate_limit *limit = tv_alloc(1, sizeof *limit);
    tv_rate_limit_init(limit, 2, 3);
    return limit;
}

static void release(struct tv_rate_limit *limit)
{
    tv_rate_limit_release(limit);
    tv_free(limit);
}

static void gives_a_burst_and_then_the_rate(void **state)
{
    (void)state;
    struct tv_rate_limit *limit = three();
    for (int i = 0; i < 3; i++)
        assert_true(tv_rate_limit_take(limit, "192.0.2.1", 100));
    assert_false(tv_rate_limit_take(limit, "192.0.2.1", 100));
    assert_false(tv_rate_limit_take(limit, "192.0.2.1", 100.4));
    assert_true(tv_rate_limit_take(limit, "192.0.2.1", 100.5));
    assert_false(tv_rate_limit_take(limit, "192.0.2.1", 100.5));
    /* after a long pause there is one burst, not more */
    for (int i = 0; i < 3; i++)
        assert_true(tv_rate_limit_take(limit, "192.0.2.1", 1000));
    assert_false(tv_rate_limit_take(limit, "192.0.2.1", 1000));
    release(limit);
}

static void addresses_do_not_share(void **state)
{
    (void)state;
    struct tv_rate_limit *limit = three();
    for (int i = 0; i < 3; i++)
        assert_true(tv_rate_limit_take(limit, "192.0.2.1", 0));
    assert_true(tv_rate_limit_take(limit, "192.0.2.2", 0));
    assert_false(tv_rate_limit_take(limit, "192.0.2.1", 0));
    release(limit);
}

/* Ten times as many clients as buckets ask once each: the bucket of the frequent client stays
 * empty. */
static void frequent_clients_keep_their_bucket(void **state)
{
    (void)state;
    struct tv_rate_limit *limit = three();
    char peer[32];
    for (int i = 0; i < 3; i++)
        assert_true(tv_rate_limit_take(limit, "192.0.2.1", 0));
    for (unsigned i = 0; i < 10 * TV_RATE_BUCKETS; i++) {
        snprintf(peer, sizeof peer, "2001:db8:%x::1", i);
        assert_true(tv_rate_limit_take(limit, peer, 0));
    }
    assert_false(tv_rate_limit_take(limit, "192.0.2.1", 0));
    release(limit);
}

static void a_network_of_ipv6_is_one_client(void **state)
{
    (void)state;
    struct tv_rate_limit *limit = three();
    assert_true(tv_rate_limit_take(limit, "2001:db8:1:2::1", 0));
    assert_true(tv_rate_limit_take(limit, "2001:db8:1:2::2", 0));
    assert_true(tv_rate_limit_take(limit, "2001:db8:1:2:ffff:ffff:ffff:ffff", 0));
    assert_false(tv_rate_limit_take(limit, "2001:db8:1:2::3", 0));
    assert_true(tv_rate_limit_take(limit, "2001:db8:1:3::1", 0));
    /* an IPv4 address in IPv6 form is that address, not the network of all of them */
    for (int i = 0; i < 3; i++)
        assert_true(tv_rate_limit_take(limit, "::ffff:192.0.2.1", 0));
    assert_false(tv_rate_limit_take(limit, "192.0.2.1", 0));
    assert_true(tv_rate_limit_take(limit, "::ffff:192.0.2.2", 0));
    /* names that a proxy gives to clients without an address */
    for (int i = 0; i < 3; i++)
        assert_true(tv_rate_limit_take(limit, "unknown", 0));
    assert_false(tv_rate_limit_take(limit, "unknown", 0));
    assert_true(tv_rate_limit_take(limit, "_hidden", 0));
    release(limit);
}

#define CHECKERS 24

struct crowd {
    struct tv_rate_limit *limit;
    pthread_barrier_t start;
    bool right;
    _Atomic unsigned checked, most_at_once, running, refused;
};

/* Run a check that lasts until other threads have had many turns. */
static void *check_once(void *context)
{
    struct crowd *crowd = context;
    pthread_barrier_wait(&crowd->start);
    if (!tv_rate_limit_begin_check(crowd->limit, "192.0.2.1", 0)) {
        crowd->refused++;
        return NULL;
    }
    unsigned now = ++crowd->running, most = crowd->most_at_once;
    while (now > most && !atomic_compare_exchange_weak(&crowd->most_at_once, &most, now))
        continue;
    for (int i = 0; i < 1000; i++)
        sched_yield();
    crowd->checked++;
    crowd->running--;
    tv_rate_limit_end_check(crowd->limit, "192.0.2.1", 0, crowd->right);
    return NULL;
}

static void check_as_crowd(struct crowd *crowd)
{
    pthread_t threads[CHECKERS];
    pthread_barrier_init(&crowd->start, NULL, CHECKERS);
    for (size_t i = 0; i < CHECKERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, check_once, crowd), 0);
    for (size_t i = 0; i < CHECKERS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&crowd->start);
}

static void checks_at_once_do_not_pass_the_limit(void **state)
{
    (void)state;
    struct crowd wrong = {.limit = three()};
    check_as_crowd(&wrong);
    assert_int_equal(wrong.checked, 3);
    assert_int_equal(wrong.refused, CHECKERS - 3);
    release(wrong.limit);
}

static void who_is_right_waits_but_is_never_refused(void **state)
{
    (void)state;
    struct crowd right = {.limit = three(), .right = true};
    check_as_crowd(&right);
    assert_int_equal(right.checked, CHECKERS);
    assert_true(right.most_at_once <= 3);
    for (int i = 0; i < 3; i++)
        assert_true(tv_rate_limit_take(right.limit, "192.0.2.1", 0));
    assert_false(tv_rate_limit_take(right.limit, "192.0.2.1", 0));
    release(right.limit);
}

UNIT_TESTS(rate_limit, cmocka_unit_test(gives_a_burst_and_then_the_rate),
           cmocka_unit_test(addresses_do_not_share),
           cmocka_unit_test(frequent_clients_keep_their_bucket),
           cmocka_unit_test(a_network_of_ipv6_is_one_client),
           cmocka_unit_test(checks_at_once_do_not_pass_the_limit),
           cmocka_unit_test(who_is_right_waits_but_is_never_refused));
