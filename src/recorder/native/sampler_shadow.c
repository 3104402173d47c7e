/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler_shadow.c - the unwinder that reads shadow stacks.  It sends no signal, interrupts no
 * system call, and also sees threads that sleep.
 *
 *     sampler                                   thread
 *       read busy, depth                          event: busy odd, push or pop, busy even
 *       copy the frames                           ...
 *       depth and busy unchanged?  -> the stack of one moment
 *
 * A thread that calls all the time never stands still for that long.  It is asked to copy its stack
 * itself (TV_GENERATION_ASKED), which it does at the beginning of its next event: that is the stack
 * that it has had since the question.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <sched.h>
#include <string.h>

#include "recorder/memory.h"
#include "recorder/native/sampler.h"
#include "recorder/state.h"

#define SHADOW_READ_TRIES 4
#define SHADOW_REPLY_NS UINT64_C(2000000)

static bool shadow_read_still(struct tv_recorder_thread *from, struct tv_sampled_thread *to,
                              uint32_t most)
{
    uint32_t busy = atomic_load(&from->busy), depth = tv_recorder_depth_of(from);
    uint32_t count = depth < most ? depth : most;
    for (uint32_t i = 0; i < count; i++)
        to->words[i] =
            atomic_load_explicit(&from->frames[depth - 1 - i].word, memory_order_acquire);
    to->depth = count;
    return tv_recorder_depth_of(from) == depth && atomic_load(&from->busy) == busy;
}

static struct tv_stack_reply *shadow_reply_of(struct tv_recorder_thread *thread)
{
    struct tv_stack_reply *answer = atomic_load(&thread->answer);
    if (!answer) {
        answer = tv_mmap_alloc(sizeof *answer);
        atomic_store(&thread->answer, answer);
    }
    return answer;
}

/* Withdraw the question, unless the thread is answering it. */
static void shadow_withdraw(struct tv_recorder_thread *thread, struct tv_stack_reply *answer)
{
    assert(answer);
    uint32_t asked = TV_STACK_REPLY_ASKED;
    atomic_fetch_and(&thread->generation, ~TV_GENERATION_ASKED);
    atomic_compare_exchange_strong(&answer->state, &asked, TV_STACK_REPLY_NONE);
}

/* Take the stack of a thread whose shadow stack changes all the time: ask it for a copy at its next
 * event, and look meanwhile whether it holds still.  False: neither came in time. */
static bool shadow_ask(struct tv_recorder_thread *thread, struct tv_sampled_thread *to,
                       uint32_t most)
{
    struct tv_stack_reply *answer = shadow_reply_of(thread);
    uint64_t deadline = tv_clock_ns(CLOCK_MONOTONIC) + SHADOW_REPLY_NS;
    /* Ignore an answer that came too late: it is of another moment.  Leave alone one that is
     * being written. */
    if (answer && atomic_load(&answer->state) != TV_STACK_REPLY_BUSY) {
        atomic_store(&answer->state, TV_STACK_REPLY_ASKED);
        atomic_fetch_or(&thread->generation, TV_GENERATION_ASKED);
    }
    while (tv_clock_ns(CLOCK_MONOTONIC) < deadline) {
        if (answer && atomic_load(&answer->state) == TV_STACK_REPLY_READY) {
            to->depth = answer->depth < most ? answer->depth : most;
            memcpy(to->words, answer->words, to->depth * sizeof to->words[0]);
            atomic_store(&answer->state, TV_STACK_REPLY_NONE);
            return true;
        }
        if (shadow_read_still(thread, to, most)) {
            if (answer)
                shadow_withdraw(thread, answer);
            return true;
        }
        sched_yield();
    }
    if (answer)
        shadow_withdraw(thread, answer);
    return false;
}

static void shadow_take_thread(struct tvrec_sampler *sampler, struct tv_recorder_thread *from,
                               struct tv_sampled_thread *to)
{
    /* A thread without an event since the stacks are kept is unknown. */
    if (tv_recorder_generation_of(from) != atomic_load(&tv_recorder.on))
        return;
    for (int i = 0; i < SHADOW_READ_TRIES; i++)
        if (shadow_read_still(from, to, sampler->depth))
            return;
    if (shadow_ask(from, to, sampler->depth))
        return;
    to->depth = 0;
    sampler->missed++;
}

/* Copy the calls that each recorded thread has open. Depth 0 first, so a thread that is not found
 * has no sample. The recorder's lock keeps threads from being freed under the walk; they go on
 * running, so shadow_take_thread has to notice a stack that changes while it copies. */
static void shadow_take(struct tvrec_sampler *sampler)
{
    for (size_t i = 0; i < sampler->count; i++)
        sampler->threads[i].depth = 0;
    pthread_mutex_lock(&tv_recorder.lock);
    for (struct tv_recorder_thread *i = tv_recorder.threads; i; i = i->next_thread) {
        struct tv_sampled_thread *to = i->finished ? NULL : tv_sampler_find_thread(sampler, i->tid);
        if (to)
            shadow_take_thread(sampler, i, to);
    }
    tv_recorder_free_ended_threads();
    pthread_mutex_unlock(&tv_recorder.lock);
}

static int shadow_begin(struct tvrec_sampler *sampler)
{
    (void)sampler;
    return 0;
}

static void shadow_end(struct tvrec_sampler *sampler)
{
    (void)sampler;
}

const struct tv_unwinder tv_unwinder_shadow = {shadow_begin, shadow_take, shadow_end};
