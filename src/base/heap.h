/* SPDX-License-Identifier: Apache-2.0 */
/* heap.h - how much free memory a process keeps for what comes next (memory.c). */
#ifndef TV_BASE_HEAP_H
#define TV_BASE_HEAP_H

/* Keep up to 32 MiB of the heap and 64 MiB of larger tables when they are freed, and take tables
 * below 1 MiB from the heap, until the process ends.  A process that reads many traces, one after
 * another, needs less time so: the system clears each page that it gives.  Call this before there
 * are tables and other threads. */
void tv_memory_keep(void);

#endif
