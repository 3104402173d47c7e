/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tasks.h - what the system says of a thread of this process.
 */
#ifndef TV_RECORDER_NATIVE_TASKS_H
#define TV_RECORDER_NATIVE_TASKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* What it has run so far; 0: it is gone. */
uint64_t tv_task_cpu_ns(pid_t tid);

/* Where a thread stands that sleeps in a system call; 0: unknown. */
struct tv_task_place {
    uint64_t sp, pc;
};

/* Does it run, or wait for a processor?  Else *place is filled in. */
bool tv_task_runs(pid_t tid, struct tv_task_place *place);

/* Has it blocked the signal?  Not when that cannot be known. */
bool tv_task_blocks(pid_t tid, int signal_number);

/* The bounds of the memory around an address; false: there is none that can be read. */
bool tv_task_memory(uint64_t address, uint64_t *low, uint64_t *high);

#endif
