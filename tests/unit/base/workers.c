/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workers.c - tests of base/workers.h.
 */
#include "unit.h"

#include "base/workers.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define MOST 50

struct shared {
    _Atomic unsigned calls;
    unsigned ran[MOST]; /* each job writes its own, without atomics: joining makes it visible */
};

static void count_call(void *context, unsigned index)
{
    struct shared *shared = context;
    sched_yield();
    shared->ran[index] += index + 1;
    shared->calls++;
}

static void every_job_runs_once_and_is_waited_for(void **state)
{
    (void)state;
    for (unsigned count = 0; count <= MOST; count++) {
        struct shared shared = {0};
        tv_workers_run(count, count_call, &shared);
        assert_int_equal(shared.calls, count);
        for (unsigned i = 0; i < MOST; i++)
            assert_int_equal(shared.ran[i], i < count ? i + 1 : 0);
    }
}

static void note_thread(void *context, unsigned index)
{
    pthread_t *threads = context;
    threads[index] = pthread_self();
}

static void inline_jobs_run_in_the_callers_thread(void **state)
{
    (void)state;
    pthread_t threads[MOST] = {0};
    tv_workers_run_inline(true);
    tv_workers_run(MOST, note_thread, threads);
    tv_workers_run_inline(false);
    for (unsigned i = 0; i < MOST; i++)
        assert_true(pthread_equal(threads[i], pthread_self()));
}

static void there_is_a_processor(void **state)
{
    (void)state;
    assert_true(tv_workers_available() >= 1);
}

UNIT_TESTS(workers, cmocka_unit_test(every_job_runs_once_and_is_waited_for),
           cmocka_unit_test(inline_jobs_run_in_the_callers_thread),
           cmocka_unit_test(there_is_a_processor));
