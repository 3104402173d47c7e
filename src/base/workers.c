/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workers.c - parallel jobs on threads, or a loop where there are none.
 */
#ifdef __linux__
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "base/workers.h"

static void workers_run_in_turn(unsigned count, void (*job)(void *context, unsigned index),
                                void *context)
{
    for (unsigned i = 0; i < count; i++)
        job(context, i);
}

#ifdef __wasm__

unsigned tv_workers_available(void)
{
    return 1;
}

void tv_workers_run(unsigned count, void (*job)(void *context, unsigned index), void *context)
{
    workers_run_in_turn(count, job, context);
}

#else

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include "base/memory.h"

unsigned tv_workers_available(void)
{
#ifdef __linux__
    /* Respect taskset and cpusets.  The call fails on machines with more than 1024 processors. */
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (unsigned)CPU_COUNT(&set);
#endif
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (unsigned)online : 1;
}

int tv_thread_start(pthread_t *thread, size_t stack, void *(*run)(void *context), void *context)
{
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error != 0)
        return error;
    error = pthread_attr_setstacksize(&attributes, stack);
    if (error == 0)
        error = pthread_create(thread, &attributes, run, context);
    pthread_attr_destroy(&attributes);
    return error;
}

static bool runs_inline;

void tv_workers_run_inline(bool inline_jobs)
{
    runs_inline = inline_jobs;
}

struct worker {
    pthread_t thread;
    void (*job)(void *context, unsigned index);
    void *context;
    unsigned index;
    bool started;
};

static void *worker_thread_run(void *argument)
{
    struct worker *worker = argument;
    worker->job(worker->context, worker->index);
    return NULL;
}

void tv_workers_run(unsigned count, void (*job)(void *context, unsigned index), void *context)
{
    if (count == 0)
        return;
    if (runs_inline) {
        workers_run_in_turn(count, job, context);
        return;
    }
    struct worker *workers = tv_alloc(count, sizeof *workers);
    for (unsigned i = 1; i < count; i++) {
        workers[i] = (struct worker){.job = job, .context = context, .index = i};
        int error =
            tv_thread_start(&workers[i].thread, TV_THREAD_STACK, worker_thread_run, &workers[i]);
        workers[i].started = error == 0;
    }
    job(context, 0);
    for (unsigned i = 1; i < count; i++) {
        if (workers[i].started)
            pthread_join(workers[i].thread, NULL);
        else
            job(context, i);
    }
    tv_free(workers);
}

#endif
