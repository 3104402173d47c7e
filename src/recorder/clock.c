/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.c - which clock is good, what it costs, and how its ticks become nanoseconds.
 */
#include "recorder/clock.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "recorder/cpu_clock.h"

#define TRIES 8
/* The least of so many rounds counts: the machine may do something else in between. */
#define ROUNDS 32
#define READINGS 128

bool tv_clock_counter_is_reliable(void)
{
#if defined(__x86_64__)
    /* The kernel uses it for its own clock only when it is constant, never stops, and agrees on all
     * cores; it goes on watching. */
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
    for (int i = 0; i < TRIES; i++) {
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

/* Nanoseconds that so many readings take. */
static uint64_t time_readings(bool counter, bool wall, bool cpu)
{
    volatile uint64_t sink = 0;
    uint64_t start = tv_clock_ns(CLOCK_MONOTONIC);
    for (int i = 0; i < READINGS; i++) {
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
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t took = time_readings(counter, wall, cpu);
        least = took < least ? took : least;
    }
    return (uint32_t)(least / READINGS);
}
