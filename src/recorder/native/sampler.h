/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler.h - the parts of a sampler: a set lists threads, an unwinder takes their stacks, a tick
 * counts them.  The internal header of the sampler.
 *
 * A stack is words, innermost first.  A word is a method's number or an address, shifted left by
 * two, as in records (recorder/trace_buffer.h).
 */
#ifndef TV_RECORDER_NATIVE_SAMPLER_H
#define TV_RECORDER_NATIVE_SAMPLER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "recorder/native/traceview_record.h"
#include "recorder/samples/samples.h"

/* A thread of the set, from the first tick that lists it to the first that does not. */
struct tv_sampled_thread {
    pid_t tid;
    uint32_t id;     /* in the samples; 0: no memory */
    bool shown;      /* listed by this tick */
    uint64_t *words; /* the last stack */
    uint32_t depth;  /* 0: no stack, nothing to count */
    uint64_t cpu_ns; /* CPU time when the stack was taken */
    uint64_t stack_low, stack_high;
    uint32_t rests, misses; /* ticks to skip, and how many the next lost signal will skip */
    uint32_t blocks;        /* checks in a row that found the signal blocked */
    uint8_t state;          /* enum tv_sample_state, when the stack was taken */
};

struct tv_unwinder {
    /* 0 or an error of tvrec_sampler_start. */
    int (*begin)(struct tvrec_sampler *sampler);
    /* Take the stacks of all threads that are shown. */
    void (*take)(struct tvrec_sampler *sampler);
    void (*end)(struct tvrec_sampler *sampler);
};

/* Are the frames of this machine known? */
#if defined(__x86_64__) || defined(__aarch64__)
#define TV_SIGNALS_WORK 1
#else
#define TV_SIGNALS_WORK 0
#endif

extern const struct tv_unwinder tv_unwinder_shadow, tv_unwinder_signals;

#define TV_SAMPLER_CACHE_SIZE 4096u

struct tvrec_sampler {
    struct tvrec_set *set;
    uint32_t depth;
    enum tvrec_stack stack;
    int signal_number;
    bool any_signal; /* none was asked for: if the program takes it, use another */
    bool keeps_stacks;
    const struct tv_unwinder *unwinder;

    struct tv_samples samples;
    struct tv_sampled_thread *threads; /* by rising tid */
    size_t count, room;
    pid_t *tids; /* of this tick */
    size_t tids_room;
    uint32_t *stack_elements;
    struct {
        uint64_t word;
        uint32_t element;
    } places[TV_SAMPLER_CACHE_SIZE];

    uint64_t period_ns, ticks, late, missed, blocked;
    uint64_t walked,
        lost; /* stacks by frame pointers, and those of them that do not reach a thread's start */
    int pid;  /* process that made it; a child must not use it */
    bool started, ended, keeps_times;
    pthread_t thread;
    _Atomic pid_t tid; /* of that thread */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool stopping;
    struct tvrec_sampler *next_sampler; /* in the list of all samplers */
};

/* Keep the time of each sample from the next start on. */
void tv_sampler_keep_times(struct tvrec_sampler *sampler);

/* Run one tick in the calling thread.  Nobody else uses the sampler meanwhile. */
void tv_sampler_tick(struct tvrec_sampler *sampler);

/* Is it one of the recorder's own threads? */
bool tv_sampler_is_own(pid_t tid);

/* List the set's threads of this moment into *tids, which grows; return their number. */
size_t tv_thread_set_list(struct tvrec_set *set, pid_t **tids, size_t *room);
void tv_thread_set_free(struct tvrec_set *set);

/* Read what the host has told about a thread, TV_BUFFER_NAME bytes each; "": nothing. */
void tv_sampler_read_description(pid_t tid, char *name, char *group);

/* Return the element number of a word, 0: no memory. */
uint32_t tv_sampler_find_element(struct tvrec_sampler *sampler, uint64_t word);

/* Find a thread of the set; NULL: it is not there. */
struct tv_sampled_thread *tv_sampler_find_thread(struct tvrec_sampler *sampler, pid_t tid);

/* Was any loaded module compiled with -finstrument-functions? */
bool tv_code_is_instrumented(void);

#endif
