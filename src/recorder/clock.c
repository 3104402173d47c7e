/* SPDX-License-Identifier: Apache-2.0 */
/* clock.c - see clock.h. */
#define _GNU_SOURCE
#include "recorder/clock.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAIR_TRIES 8
/* The fastest of so many rounds counts: the machine may do something else during the others. */
#define MEASURE_ROUNDS 32
#define MEASURE_READINGS 128

bool tv_clock_counter_is_reliable(void)
{
#if defined(__x86_64__)
    /* The kernel uses the counter as its own clock only if it is constant, never stops and
     * agrees on all cores, and it keeps checking. */
    char name[16] = "";
    int file = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                    O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    ssize_t length = read(file, name, sizeof name - 1);
    close(file);
    return length >= 4 && memcmp(name, "tsc\n", 4) == 0;
#else
    return TV_CLOCK_HAS_COUNTER;
#endif
}

struct tv_clock_pair tv_clock_read_pair(bool counter)
{
    struct tv_clock_pair best = {0};
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < PAIR_TRIES; i++) {
        uint64_t before = tv_clock_read(counter);
        uint64_t ns = tv_clock_ns(CLOCK_MONOTONIC);
        uint64_t after = tv_clock_read(counter);
        if (after - before >= least)
            continue;
        least = after - before;
        best = (struct tv_clock_pair){before + (after - before) / 2, ns};
    }
    return best;
}

struct tv_clock_scale tv_clock_scale_between(bool counter, struct tv_clock_pair first,
                                             struct tv_clock_pair last)
{
    struct tv_clock_scale scale = {first.ticks, 1.0};
    if (counter && last.ticks > first.ticks && last.ns > first.ns)
        scale.ns_per_tick = (double)(last.ns - first.ns) / (double)(last.ticks - first.ticks);
    return scale;
}

/* Return the nanoseconds that MEASURE_READINGS readings take. */
static uint64_t clock_time_readings(bool counter, bool wall, bool cpu)
{
    volatile uint64_t sink = 0;
    uint64_t start = tv_clock_ns(CLOCK_MONOTONIC);
    for (int i = 0; i < MEASURE_READINGS; i++) {
        if (wall)
            sink = tv_clock_read(counter);
        if (cpu)
            sink = tv_cpu_clock_ns();
    }
    (void)sink;
    return tv_clock_ns(CLOCK_MONOTONIC) - start;
}

uint32_t tv_clock_measure_overhead(bool counter, bool wall, bool cpu)
{
    uint64_t least = UINT64_MAX;
    for (int round = 0; round < MEASURE_ROUNDS; round++) {
        uint64_t took = clock_time_readings(counter, wall, cpu);
        least = took < least ? took : least;
    }
    return (uint32_t)(least / MEASURE_READINGS);
}

/* ---- CPU time of a thread ---- */

#define RATE_LEARN_NS 5000000u
#define RESYNC_AFTER_NS 10000000u
#define RESYNC_TRIES 4

__thread struct tv_cpu_clock tv_cpu_clock_self;
struct tv_cpu_clock_rate tv_cpu_clock_rate;

void tv_cpu_clock_begin(bool counter)
{
    struct tv_clock_pair first = tv_clock_read_pair(counter), last = first;
    while (counter && last.ns < first.ns + RATE_LEARN_NS)
        last = tv_clock_read_pair(counter);
    struct tv_cpu_clock_rate *rate = &tv_cpu_clock_rate;
    rate->counter = counter;
    rate->ns_per_tick = tv_clock_scale_between(counter, first, last).ns_per_tick;
    assert(rate->ns_per_tick > 0);
    rate->most_ticks = (uint64_t)(RESYNC_AFTER_NS / rate->ns_per_tick);
    uint32_t number = atomic_load(&rate->number) + 1;
    atomic_store(&rate->number, number ? number : 1);
}

static size_t cpu_clock_page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Map the page of a task-clock event of the calling thread.  The mapping keeps the event alive.
 * NULL: the system allows none. */
static const volatile uint32_t *cpu_clock_map_page(void)
{
    struct perf_event_attr event = {.type = PERF_TYPE_SOFTWARE,
                                    .size = sizeof event,
                                    .config = PERF_COUNT_SW_TASK_CLOCK,
                                    .exclude_kernel = 1,
                                    .exclude_hv = 1};
    int error = errno;
    void *page = MAP_FAILED;
    int file = (int)syscall(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (file >= 0) {
        page = mmap(NULL, cpu_clock_page_size(), PROT_READ, MAP_SHARED, file, 0);
        close(file);
    }
    errno = error;
    return page == MAP_FAILED ? NULL : &((const struct perf_event_mmap_page *)page)->lock;
}

static void cpu_clock_set_up(struct tv_cpu_clock *self, uint32_t number)
{
    int pid = (int)getpid();
    if (self->pid != pid)
        *self = (struct tv_cpu_clock){.pid = pid, .switches = cpu_clock_map_page()};
    self->number = number;
}

uint64_t tv_cpu_clock_resync(void)
{
    struct tv_cpu_clock *self = &tv_cpu_clock_self;
    uint32_t number = atomic_load_explicit(&tv_cpu_clock_rate.number, memory_order_acquire);
    if (self->number != number)
        cpu_clock_set_up(self, number);
    uint64_t ns, ticks;
    uint32_t switches;
    int tries = 0;
    do {
        switches = self->switches ? *self->switches : 0;
        ns = tv_clock_ns(CLOCK_THREAD_CPUTIME_ID);
        ticks = tv_clock_read(tv_cpu_clock_rate.counter);
        atomic_signal_fence(memory_order_seq_cst);
    } while (self->switches && *self->switches != switches && ++tries < RESYNC_TRIES);
    self->asked_ns = ns;
    self->asked_ticks = ticks;
    self->asked_switches =
        switches; /* too old after the last try, so that the next reading asks again */
    if (ns > self->last_ns)
        self->last_ns = ns;
    return self->last_ns;
}

void tv_cpu_clock_end(void)
{
    struct tv_cpu_clock *self = &tv_cpu_clock_self;
    if (!self->switches)
        return;
    uintptr_t page = (uintptr_t)self->switches - offsetof(struct perf_event_mmap_page, lock);
    if (self->pid == (int)getpid())
        munmap((void *)page, cpu_clock_page_size());
    self->switches = NULL;
}
