/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder's CPU clock beside the kernel's, which is asked before and after each reading.
 */
#include "unit.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorder/clock.h"

#define MS UINT64_C(1000000)

/* Interrupts and stolen time of 10 ms at most pass for CPU time until the kernel is asked again. */
#define AHEAD (11 * MS)
#define BEHIND (1 * MS)

static uint64_t kernel_ns(void)
{
    return tv_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static bool agrees(void)
{
    uint64_t before = kernel_ns(), ours = tv_cpu_clock_ns(), after = kernel_ns();
    return before <= ours + BEHIND && ours <= after + AHEAD;
}

/* Work for so many milliseconds of CPU time, a thousand readings at a time; false: one was wrong.
 */
static bool agrees_while_working(uint64_t ms)
{
    uint64_t end = kernel_ns() + ms * MS, last = 0;
    while (kernel_ns() < end) {
        for (unsigned i = 0; i < 1000; i++) {
            uint64_t now = tv_cpu_clock_ns();
            if (now < last)
                return false;
            last = now;
        }
        if (!agrees())
            return false;
    }
    return true;
}

static void follows_the_kernel(void **state)
{
    (void)state;
    tv_cpu_clock_begin(tv_clock_counter_is_reliable());
    assert_true(agrees_while_working(50));
    /* Without the counter ticks are nanoseconds. */
    tv_cpu_clock_begin(false);
    assert_true(agrees_while_working(50));
}

static void waiting_is_no_cpu_time(void **state)
{
    (void)state;
    tv_cpu_clock_begin(tv_clock_counter_is_reliable());
    uint64_t kernel = kernel_ns(), ours = tv_cpu_clock_ns();
    for (unsigned i = 0; i < 50; i++) {
        usleep(2000);
        assert_true(agrees());
    }
    assert_true(tv_cpu_clock_ns() - ours <= kernel_ns() - kernel + AHEAD);
}

static void *work(void *agreed)
{
    *(bool *)agreed = agrees_while_working(30);
    tv_cpu_clock_end();
    *(bool *)agreed = *(bool *)agreed && agrees();
    return NULL;
}

static void each_thread_has_its_own(void **state)
{
    (void)state;
    pthread_t threads[4];
    bool agreed[4];
    tv_cpu_clock_begin(tv_clock_counter_is_reliable());
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &agreed[i]), 0);
    for (unsigned i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_true(agreed[i]);
    }
}

/* The kernel does not give its page to the child. */
static void a_child_begins_anew(void **state)
{
    (void)state;
    int status = 0;
    tv_cpu_clock_begin(tv_clock_counter_is_reliable());
    assert_true(agrees());
    pid_t child = fork();
    if (child == 0) {
        tv_cpu_clock_begin(tv_clock_counter_is_reliable());
        _exit(agrees_while_working(20) ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(agrees());
}

UNIT_TESTS(clock, cmocka_unit_test(follows_the_kernel), cmocka_unit_test(waiting_is_no_cpu_time),
           cmocka_unit_test(each_thread_has_its_own), cmocka_unit_test(a_child_begins_anew));
