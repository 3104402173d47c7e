/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler.h - the parts of a sampler: a set says which threads, an unwinder takes their stacks, a
 * tick counts them.  For the files of the sampler alone.
 *
 * A stack is words, innermost first: the method's number or an address, shifted left by two, as the
 * event core has them (recorder/trace_buffer.h).
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

/* A thread of the set, from its first tick to the one that no longer shows it. */
struct tv_sampled_thread {
    pid_t tid;
    uint32_t id;     /* in the samples; 0: no memory */
    bool shown;      /* by this tick */
    uint64_t *words; /* its last stack */
    uint32_t depth;  /* 0: none, nothing to count */
    uint64_t cpu_ns; /* what it had run when that was taken */
    uint64_t stack_low, stack_high;
    uint32_t rests, misses; /* ticks without a signal after some that did not arrive */
    uint32_t blocks;        /* looks in a row that found the signal blocked */
    uint8_t state;          /* enum tv_sample_state, of its last stack */
};

struct tv_unwinder {
    /* 0 or what tvrec_sampler_start returns. */
    int (*begin)(struct tvrec_sampler *sampler);
    /* The stacks of all threads that are shown. */
    void (*take)(struct tvrec_sampler *sampler);
    void (*end)(struct tvrec_sampler *sampler);
};

/* Do we know this machine's frames? */
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
    bool any_signal; /* none was asked for: another will do when the program wants it */
    bool keeps_stacks;
    const struct tv_unwinder *unwinder;

    struct tv_samples samples;
    struct tv_sampled_thread *threads; /* by rising tid */
    size_t count, room;
    pid_t *tids; /* of the tick */
    size_t tids_room;
    uint32_t *stack_elements;
    struct {
        uint64_t word;
        uint32_t element;
    } places[TV_SAMPLER_CACHE_SIZE];

    uint64_t period_ns, ticks, late, missed, blocked;
    uint64_t walked, lost; /* stacks by frame pointers; those that do not lead to a beginning */
    int pid;               /* it is none of a child's */
    bool started, ended, keeps_times;
    pthread_t thread;
    _Atomic pid_t tid; /* of that thread */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool stopping;
    struct tvrec_sampler *next_sampler; /* in the list of all */
};

/* Keep the time of each sample from the next start on. */
void tv_sampler_keep_times(struct tvrec_sampler *sampler);

/* One tick, in the calling thread; nobody else uses the sampler meanwhile. */
void tv_sampler_tick(struct tvrec_sampler *sampler);

/* Is the thread one of the recorder's own? */
bool tv_sampler_is_own(pid_t tid);

/* The set's threads of this moment into *tids, which grows; how many there are. */
size_t tv_thread_set_list(struct tvrec_set *set, pid_t **tids, size_t *room);
void tv_thread_set_free(struct tvrec_set *set);

/* What the host says of a thread, TV_BUFFER_NAME bytes each; empty: nothing. */
void tv_sampler_read_description(pid_t tid, char *name, char *group);

/* The number of what a word stands for, 0: no memory. */
uint32_t tv_sampler_find_element(struct tvrec_sampler *sampler, uint64_t word);

/* The thread with that number, NULL: it is not in the set. */
struct tv_sampled_thread *tv_sampler_find_thread(struct tvrec_sampler *sampler, pid_t tid);

/* Was any part of the program that is loaded compiled with -finstrument-functions? */
bool tv_code_is_instrumented(void);

/*
 * tasks.h - what the system says of a thread of this process.
 */

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
