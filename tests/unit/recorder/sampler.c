/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sampler of native programs: ticks by hand, sets by a function, stacks by hand.  What is
 * expected of START, END and TRACE is Android's profiler's as its source has it, but for the
 * differences that traceview_record.h lists.
 */
#include "unit.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/native/sampler.h"
#include "recorder/recording.h"

#define MOST 8

static struct {
    pid_t tids[MOST];
    size_t count;
} set;

static size_t fill(pid_t *threads, size_t room, void *arg)
{
    (void)arg;
    for (size_t i = 0; i < set.count && i < room; i++)
        threads[i] = set.tids[i];
    return set.count;
}

static pid_t own_tid(void)
{
    return (pid_t)syscall(SYS_gettid);
}

static struct tvrec_sampler *new_sampler(int depth)
{
    struct tvrec_sampler *sampler = tvrec_sampler_new(depth, tvrec_set_function(fill, NULL));
    assert_non_null(sampler);
    assert_int_equal(tvrec_sampler_use(sampler, TVREC_STACK_SHADOW, 0), 0);
    return sampler;
}

/* A thread that waits in a method until it may end. */
struct waiter {
    const char *name, *group;
    uint32_t method;
    pid_t tid;
    sem_t ready, may_end;
    pthread_t thread;
};

static void *wait_in_method(void *argument)
{
    struct waiter *waiter = argument;
    tv_recording_name_thread(waiter->name);
    tv_recording_group_thread(waiter->group);
    tv_recording_enter(waiter->method);
    waiter->tid = own_tid();
    sem_post(&waiter->ready);
    sem_wait(&waiter->may_end);
    tv_recording_leave(waiter->method, TV_MT_EXIT);
    return NULL;
}

static void begin(struct waiter *waiter)
{
    sem_init(&waiter->ready, 0, 0);
    sem_init(&waiter->may_end, 0, 0);
    assert_int_equal(pthread_create(&waiter->thread, NULL, wait_in_method, waiter), 0);
    sem_wait(&waiter->ready);
}

/* Also for the kernel, which has the thread for a moment longer than those who join it. */
static void end(struct waiter *waiter)
{
    sem_post(&waiter->may_end);
    pthread_join(waiter->thread, NULL);
    while (syscall(SYS_tgkill, getpid(), waiter->tid, 0) == 0)
        sched_yield();
    sem_destroy(&waiter->ready);
    sem_destroy(&waiter->may_end);
}

static uint32_t method(const char *name, int line)
{
    return tv_recording_add_method(
        &(struct tv_recording_method){"Shop", name, "()V", "shop.c", line});
}

/* All that is written but for the date. */
static void assert_text(struct tvrec_sampler *sampler, const char *expected)
{
    char *text = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&text, &length);
    assert_int_equal(tvrec_sampler_write(sampler, to, TVREC_HPROF_ANDROID), 0);
    fclose(to);
    char *date = strchr(strstr(text, "CPU SAMPLES BEGIN"), ')') + 1, *rest = strchr(date, '\n');
    memmove(date, rest, strlen(rest) + 1);
    assert_string_equal(text, expected);
    free(text);
}

static void shows_who_comes_and_goes(void **state)
{
    (void)state;
    struct tvrec_sampler *sampler = new_sampler(4);
    struct waiter one = {.name = "till", .group = "shop", .method = method("pay", 7)};
    struct waiter other = {.name = "door", .group = "", .method = method("open", 9)};
    begin(&one);
    begin(&other);
    set.tids[0] = one.tid;
    set.count = 1;
    tv_sampler_tick(sampler);
    /* A 0 ends the list; who is named twice is there once. */
    pid_t both[] = {one.tid, other.tid, one.tid, 0, own_tid()};
    memcpy(set.tids, both, sizeof both);
    set.count = 5;
    tv_sampler_tick(sampler);
    /* Leaves the set, and comes back as another one. */
    set.tids[0] = other.tid;
    set.count = 1;
    tv_sampler_tick(sampler);
    memcpy(set.tids, both, sizeof both);
    set.count = 2;
    tv_sampler_tick(sampler);
    /* Is dead, whatever the set says. */
    end(&one);
    tv_sampler_tick(sampler);
    end(&other);
    assert_text(sampler, "THREAD START (obj=1, id = 200001, name=\"till\", group=\"shop\")\n"
                         "THREAD START (obj=2, id = 200002, name=\"door\", group=\"main\")\n"
                         "THREAD END (id = 200001)\n"
                         "THREAD START (obj=3, id = 200003, name=\"till\", group=\"shop\")\n"
                         "THREAD END (id = 200003)\n"
                         "TRACE 300002: (thread=200002)\n"
                         "\tShop.open(shop.c:9)\n"
                         "TRACE 300001: (thread=200001)\n"
                         "\tShop.pay(shop.c:7)\n"
                         "TRACE 300003: (thread=200003)\n"
                         "\tShop.pay(shop.c:7)\n"
                         "CPU SAMPLES BEGIN (total = 7)\n"
                         "rank   self  accum   count trace method\n"
                         "   1 57.14% 57.14%       4  300002 Shop.open\n"
                         "   2 28.57% 85.71%       2  300001 Shop.pay\n"
                         "   3 14.29% 100.00%       1  300003 Shop.pay\n"
                         "CPU SAMPLES END\n");
    tvrec_sampler_free(sampler);
}

static void counts_the_top_of_stacks(void **state)
{
    (void)state;
    struct tvrec_sampler *sampler = new_sampler(2);
    uint32_t methods[] = {method("day", 1), method("order", 0), method("pay", 3)};
    tv_recording_name_thread("shop");
    set.tids[0] = own_tid();
    set.count = 1;
    tv_sampler_tick(sampler); /* an empty stack is not counted */
    for (size_t i = 0; i < 3; i++) {
        tv_recording_enter(methods[i]);
        tv_sampler_tick(sampler);
    }
    tv_sampler_tick(sampler);
    tv_recording_leave(methods[1], TV_MT_UNROLL); /* the call above goes with it */
    tv_sampler_tick(sampler);
    tv_recording_leave(methods[0], TV_MT_EXIT);
    tv_sampler_tick(sampler);
    assert_text(sampler, "THREAD START (obj=1, id = 200001, name=\"shop\", group=\"main\")\n"
                         "TRACE 300001: (thread=200001)\n"
                         "\tShop.day(shop.c:1)\n"
                         "TRACE 300003: (thread=200001)\n"
                         "\tShop.pay(shop.c:3)\n"
                         "\tShop.order(shop.c)\n"
                         "TRACE 300002: (thread=200001)\n"
                         "\tShop.order(shop.c)\n"
                         "\tShop.day(shop.c:1)\n"
                         "CPU SAMPLES BEGIN (total = 5)\n"
                         "rank   self  accum   count trace method\n"
                         "   1 40.00% 40.00%       2  300001 Shop.day\n"
                         "   2 40.00% 80.00%       2  300003 Shop.pay\n"
                         "   3 20.00% 100.00%       1  300002 Shop.order\n"
                         "CPU SAMPLES END\n");
    tvrec_sampler_free(sampler);
}

static void finds_groups(void **state)
{
    (void)state;
    struct waiter one = {.name = "till", .group = "shop", .method = method("pay", 7)};
    struct waiter other = {.name = "door", .group = "house", .method = method("open", 9)};
    struct tvrec_sampler *sampler = tvrec_sampler_new(3, tvrec_set_group("shop"));
    assert_int_equal(tvrec_sampler_use(sampler, TVREC_STACK_SHADOW, 0), 0);
    begin(&one);
    begin(&other);
    tv_sampler_tick(sampler);
    end(&one);
    end(&other);
    tv_sampler_tick(sampler);
    assert_text(sampler, "THREAD START (obj=1, id = 200001, name=\"till\", group=\"shop\")\n"
                         "THREAD END (id = 200001)\n"
                         "TRACE 300001: (thread=200001)\n"
                         "\tShop.pay(shop.c:7)\n"
                         "CPU SAMPLES BEGIN (total = 1)\n"
                         "rank   self  accum   count trace method\n"
                         "   1 100.00% 100.00%       1  300001 Shop.pay\n"
                         "CPU SAMPLES END\n");
    tvrec_sampler_free(sampler);
}

static void says_what_is_wrong(void **state)
{
    (void)state;
    pid_t none = 0;
    errno = 0;
    assert_null(tvrec_sampler_new(0, tvrec_set_group(NULL)));
    assert_int_equal(errno, EINVAL);
    errno = 0;
    assert_null(tvrec_sampler_new(4, NULL));
    assert_int_equal(errno, EINVAL);
    assert_null(tvrec_set_function(NULL, NULL));

    struct tvrec_sampler *sampler = tvrec_sampler_new(4, tvrec_set_array(&none, 1));
    assert_int_equal(tvrec_sampler_use(sampler, (enum tvrec_stack)3, 0), -EINVAL);
    assert_int_equal(tvrec_sampler_use(sampler, TVREC_STACK_FP, SIGKILL), -EINVAL);
    assert_int_equal(tvrec_sampler_use(sampler, TVREC_STACK_SHADOW, 0), 0);
    assert_int_equal(tvrec_sampler_start(sampler, 0), -EINVAL);
    assert_int_equal(tvrec_sampler_start(sampler, 10001), -EINVAL);
    assert_int_equal(tvrec_sampler_stop(sampler), 0);
    assert_int_equal(tvrec_sampler_start(sampler, 10000), 0);
    assert_int_equal(tvrec_sampler_start(sampler, 10000), -EALREADY);
    assert_int_equal(tvrec_sampler_use(sampler, TVREC_STACK_SHADOW, 0), -EALREADY);
    assert_int_equal(tvrec_sampler_write(sampler, stdout, TVREC_HPROF_JDK), -EBUSY);
    assert_int_equal(tvrec_sampler_stop(sampler), 0);
    assert_int_equal(tvrec_sampler_stop(sampler), 0);
    assert_int_equal(tvrec_sampler_start(sampler, 1), 0);
    assert_int_equal(tvrec_sampler_shutdown(sampler), 0);
    assert_int_equal(tvrec_sampler_start(sampler, 1), -ESHUTDOWN);
    assert_int_equal(tvrec_sampler_write(sampler, NULL, TVREC_HPROF_JDK), -EINVAL);
    assert_text(sampler, "CPU SAMPLES BEGIN (total = 0)\n"
                         "rank   self  accum   count trace method\n"
                         "CPU SAMPLES END\n");
    tvrec_sampler_free(sampler);
    tvrec_sampler_free(NULL);
}

static void ignore(int number)
{
    (void)number;
}

static void leaves_signals_of_others(void **state)
{
    (void)state;
    struct sigaction theirs = {.sa_handler = ignore}, before, now;
    struct tvrec_sampler *sampler = tvrec_sampler_new(4, tvrec_set_group(NULL));
    if (tvrec_sampler_use(sampler, TVREC_STACK_FP, 0) == -ENOTSUP) {
        tvrec_sampler_free(sampler);
        return;
    }
    sigaction(SIGPROF, &theirs, &before);
    assert_int_equal(tvrec_sampler_use(sampler, TVREC_STACK_FP, SIGPROF), 0);
    assert_int_equal(tvrec_sampler_start(sampler, 100), -EBUSY);
    assert_int_equal(tvrec_sampler_use(sampler, TVREC_STACK_FP, 0), 0);
    assert_int_equal(tvrec_sampler_start(sampler, 100), 0); /* by another one */
    assert_int_equal(tvrec_sampler_stop(sampler), 0);
    assert_int_equal(tvrec_sampler_use(sampler, TVREC_STACK_FP, SIGRTMIN + 3), 0);
    assert_int_equal(tvrec_sampler_start(sampler, 100), 0);
    tvrec_sampler_free(sampler);
    sigaction(SIGPROF, &before, &now);
    assert_true(now.sa_handler == ignore);
    raise(SIGRTMIN + 3); /* one that comes late does no harm */
}

/* A tick that takes as long as it is told to. */
struct slow {
    sem_t begun, may_end;
    _Atomic int ended;
};

static size_t fill_slowly(pid_t *threads, size_t room, void *arg)
{
    struct slow *slow = arg;
    (void)threads;
    (void)room;
    sem_post(&slow->begun);
    sem_wait(&slow->may_end);
    atomic_fetch_add(&slow->ended, 1);
    return 0;
}

static void *let_end_late(void *argument)
{
    struct slow *slow = argument;
    usleep(30000);
    sem_post(&slow->may_end);
    return NULL;
}

static void stops_after_the_tick(void **state)
{
    (void)state;
    struct slow slow = {.ended = 0};
    pthread_t thread;
    struct tvrec_sampler_info info = {.size = sizeof info};
    sem_init(&slow.begun, 0, 0);
    sem_init(&slow.may_end, 0, 0);
    struct tvrec_sampler *sampler = tvrec_sampler_new(4, tvrec_set_function(fill_slowly, &slow));
    assert_int_equal(tvrec_sampler_use(sampler, TVREC_STACK_SHADOW, 0), 0);
    assert_int_equal(tvrec_sampler_start(sampler, 100), 0);
    sem_wait(&slow.begun);
    assert_int_equal(tvrec_sampler_tell(sampler, &info), -EBUSY);
    assert_int_equal(pthread_create(&thread, NULL, let_end_late, &slow), 0);
    assert_int_equal(tvrec_sampler_stop(sampler), 0);
    assert_int_equal(atomic_load(&slow.ended), 1);
    pthread_join(thread, NULL);
    assert_int_equal(tvrec_sampler_tell(sampler, &info), 0);
    assert_int_equal(info.ticks, 1);
    assert_true(info.late >= 2); /* 30 ms of one tick, at 10 ms each */
    tvrec_sampler_free(sampler);
    sem_destroy(&slow.begun);
    sem_destroy(&slow.may_end);
}

UNIT_TESTS(sampler, cmocka_unit_test(shows_who_comes_and_goes),
           cmocka_unit_test(counts_the_top_of_stacks), cmocka_unit_test(finds_groups),
           cmocka_unit_test(says_what_is_wrong), cmocka_unit_test(leaves_signals_of_others),
           cmocka_unit_test(stops_after_the_tick));
