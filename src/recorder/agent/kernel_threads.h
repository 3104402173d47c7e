/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_threads.h - the kernel threads of Java threads.
 *
 * JVMTI identifies a thread by its object, and calls it runnable even while it waits in a system
 * call. Signals and the kernel's thread states need the kernel's thread id. A thread registers its
 * id when it starts. For threads that existed before an attach there is the roll call: each gets a
 * signal (the SIGPROF of stacks.c), whose handler reports its id.
 */
#ifndef TV_RECORDER_AGENT_KERNEL_THREADS_H
#define TV_RECORDER_AGENT_KERNEL_THREADS_H

#include <jvmti.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* One known thread. Its ThreadEnd callback frees it under the lock. */
struct tv_kernel_thread {
    pid_t id;
    JNIEnv *jni;
    uintptr_t stack_end;      /* highest address of the stack; 0: unknown */
    _Atomic uint64_t request; /* stacks.c: slot and generation of a wanted stack; 0: none */
    unsigned missed;          /* stacks.c: requests in a row without an answer */
};

/* The record of the calling thread, or NULL. initial-exec, because signal handlers read it. */
extern __thread struct tv_kernel_thread *tv_kernel_thread_self
    __attribute__((tls_model("initial-exec")));

/* Enable ThreadStart and ThreadEnd, before VMInit or on attach. Does nothing the second time.
 * Return false when the JVM refuses. */
bool tv_kernel_threads_prepare(JavaVM *vm);

/* VMInit has come, or the attach: register the calling thread. */
void tv_kernel_threads_begin(JNIEnv *jni);

/* Send the signal to each thread of the process and wait for their answers, 2 s at most. The
 * handler must call tv_kernel_thread_report. The signal interrupts system calls that do not
 * restart. */
void tv_kernel_threads_call_roll(JNIEnv *jni, int signal_number);

/* Answer the roll call, if one is under way. Async-signal-safe. `stack` is an address on the stack
 * of the interrupted thread. */
void tv_kernel_thread_report(uintptr_t stack);

/* While the lock is held, no record is freed. */
void tv_kernel_threads_lock(void);
void tv_kernel_threads_unlock(void);

/* Return the record of a thread, or NULL. The caller holds the lock. */
struct tv_kernel_thread *tv_kernel_thread_find(jthread thread);

/* Does the thread block the signal? */
bool tv_kernel_thread_blocks(pid_t id, int signal_number);

/* Is the thread on a processor or waiting for one? Unknown threads count as running. */
bool tv_kernel_thread_is_running(jthread thread);

#endif
