/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_clock.c - see cpu_clock.h. */
#define _GNU_SOURCE
#include "recorder/cpu_clock.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LEARN_NS 5000000u
#define MOST_NS 10000000u
#define TRIES 4

__thread struct tv_cpu_clock tv_cpu_clock_self;
struct tv_cpu_clock_rate tv_cpu_clock_rate;

void tv_cpu_clock_begin(bool counter)
{
    struct tv_clock_pair first = tv_clock_read_pair(counter), last = first;
    while (counter && last.ns < first.ns + LEARN_NS)
        last = tv_clock_read_pair(counter);
    struct tv_cpu_clock_rate *rate = &tv_cpu_clock_rate;
    rate->counter = counter;
    rate->ns_per_tick = tv_clock_scale_between(counter, first, last).ns_per_tick;
    rate->most_ticks = (uint64_t)(MOST_NS / rate->ns_per_tick);
    uint32_t number = atomic_load(&rate->number) + 1;
    atomic_store(&rate->number, number ? number : 1);
}

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Map the page of a task-clock event of the calling thread, which keeps the event; NULL: the system
 * allows none. */
static const volatile uint32_t *map_switches(void)
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
        page = mmap(NULL, page_size(), PROT_READ, MAP_SHARED, file, 0);
        close(file);
    }
    errno = error;
    return page == MAP_FAILED ? NULL : &((const struct perf_event_mmap_page *)page)->lock;
}

static void set_up(struct tv_cpu_clock *self, uint32_t number)
{
    int pid = (int)getpid();
    if (self->pid != pid)
        *self = (struct tv_cpu_clock){.pid = pid, .switches = map_switches()};
    self->number = number;
}

uint64_t tv_cpu_clock_resync(void)
{
    struct tv_cpu_clock *self = &tv_cpu_clock_self;
    uint32_t number = atomic_load_explicit(&tv_cpu_clock_rate.number, memory_order_acquire);
    if (self->number != number)
        set_up(self, number);
    uint64_t ns, ticks;
    uint32_t switches;
    int tries = 0;
    do {
        switches = self->switches ? *self->switches : 0;
        ns = tv_clock_ns(CLOCK_THREAD_CPUTIME_ID);
        ticks = tv_clock_read(tv_cpu_clock_rate.counter);
        atomic_signal_fence(memory_order_seq_cst);
    } while (self->switches && *self->switches != switches && ++tries < TRIES);
    self->asked_ns = ns;
    self->asked_ticks = ticks;
    self->asked_switches = switches; /* too old after the last try: the next reading asks again */
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
        munmap((void *)page, page_size());
    self->switches = NULL;
}
