/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_threads.h - the threads of the kernel behind the machine's threads.
 *
 * JVMTI names a thread by its object and says of one that waits in a system call that it is
 * runnable; signals and the kernel's own state need the number of the thread.  A thread tells its
 * number when it starts.  One that was there before tells it when a signal asks for it (the roll
 * call), for which stacks_agct.c lends its signal.
 */
#ifndef TV_RECORDER_AGENT_KERNEL_THREADS_H
#define TV_RECORDER_AGENT_KERNEL_THREADS_H

#include <jvmti.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Freed by the end of its thread, which waits for the lock. */
struct tv_kernel_thread {
    pid_t id;
    JNIEnv *jni;
    uintptr_t stack_end;      /* above the outermost frame; 0: unknown */
    _Atomic uint64_t request; /* of stacks_agct.c, which asks for a stack; 0: none */
    unsigned missed;          /* requests that were not answered, one after the other */
};

/* The calling thread's; NULL: it is not known. */
extern __thread struct tv_kernel_thread *tv_kernel_thread_self
    __attribute__((tls_model("initial-exec")));

/* Listens to threads that start, from before the machine's birth or the attach on; harmless when
 * done already.  False: the machine does not let us. */
bool tv_kernel_threads_prepare(JavaVM *vm);

/* The machine runs: the calling thread is known from here on. */
void tv_kernel_threads_begin(JNIEnv *jni);

/* Sends the signal, whose handler is to call tv_kernel_thread_report, to each thread of the process
 * and waits a little for their answers.  Waiting system calls that do not restart are interrupted
 * by it. */
void tv_kernel_threads_call_roll(JNIEnv *jni, int signal_number);

/* In the handler: an answer to the roll call, if there is one.  `stack` is an address within the
 * interrupted thread's stack. */
void tv_kernel_thread_report(uintptr_t stack);

/* While the lock is held no thread ends. */
void tv_kernel_threads_lock(void);
void tv_kernel_threads_unlock(void);

/* NULL: not known.  The lock is held. */
struct tv_kernel_thread *tv_kernel_thread_find(jthread thread);

/* Does the thread block the signal? */
bool tv_kernel_thread_blocks(pid_t id, int signal_number);

/* Is it on a processor, or does it want one?  Unknown threads count as running. */
bool tv_kernel_thread_is_running(jthread thread);

#endif
