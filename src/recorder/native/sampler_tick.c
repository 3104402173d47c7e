/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler_tick.c - what one tick does: who is there, who came and went, and what each is doing.
 *
 * A null ends the list of threads, as in Android's profiler; the recorder's own threads are passed
 * over.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/native/code.h"
#include "recorder/native/modules.h"
#include "recorder/native/sampler.h"
#include "recorder/state.h"

void tv_sampler_read_description(pid_t tid, char *name, char *group)
{
    name[0] = group[0] = '\0';
    pthread_mutex_lock(&tv_recorder.lock);
    for (struct tv_recorder_thread *i = tv_recorder.threads; i; i = i->other) {
        if (i->tid != tid || i->finished)
            continue;
        memcpy(name, i->name, TV_BUFFER_NAME);
        memcpy(group, i->group, TV_BUFFER_NAME);
        break;
    }
    pthread_mutex_unlock(&tv_recorder.lock);
}

/* What the system calls it. */
static void read_name(pid_t tid, char *name, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/comm", (int)tid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? 0 : read(file, name, size - 1);
    if (file >= 0)
        close(file);
    name[length > 0 ? length : 0] = '\0';
    name[strcspn(name, "\n")] = '\0';
    for (char *c = name; *c; c++)
        if ((unsigned char)*c < ' ' || *c == '"')
            *c = ' ';
}

/* The place of the first thread that has not a lower number. */
static size_t lower_bound(const struct tvrec_sampler *sampler, pid_t tid)
{
    size_t low = 0, high = sampler->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sampler->threads[middle].tid < tid)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct tv_sampled_thread *tv_sampler_find_thread(struct tvrec_sampler *sampler, pid_t tid)
{
    size_t at = lower_bound(sampler, tid);
    bool found = at < sampler->count && sampler->threads[at].tid == tid;
    return found ? &sampler->threads[at] : NULL;
}

static struct tv_sampled_thread *add(struct tvrec_sampler *sampler, pid_t tid)
{
    size_t at = lower_bound(sampler, tid);
    if (sampler->count == sampler->room) {
        size_t room = sampler->room == 0 ? 16 : sampler->room * 2;
        struct tv_sampled_thread *more = realloc(sampler->threads, room * sizeof *more);
        if (!more)
            return NULL;
        sampler->threads = more;
        sampler->room = room;
    }
    uint64_t *words = calloc(sampler->depth, sizeof *words);
    if (!words)
        return NULL;
    struct tv_sampled_thread *thread = &sampler->threads[at];
    memmove(thread + 1, thread, (sampler->count - at) * sizeof *thread);
    sampler->count++;
    *thread = (struct tv_sampled_thread){.tid = tid, .words = words, .cpu_ns = UINT64_MAX};
    return thread;
}

static void see(struct tvrec_sampler *sampler, pid_t tid)
{
    char name[TV_BUFFER_NAME] = "", group[TV_BUFFER_NAME] = "";
    struct tv_sampled_thread *thread = tv_sampler_find_thread(sampler, tid);
    /* Who is dead is gone, also from a set that goes on naming it. */
    if (tv_sampler_is_own(tid) || syscall(SYS_tgkill, getpid(), tid, 0) != 0)
        return;
    if (!thread && !(thread = add(sampler, tid)))
        return;
    thread->shown = true;
    if (thread->id != 0 && tv_samples_mark_thread_seen(&sampler->samples, thread->id))
        return;
    tv_sampler_read_description(tid, name, group);
    if (!name[0])
        read_name(tid, name, sizeof name);
    thread->id = tv_samples_add_thread(&sampler->samples, name, group[0] ? group : "main");
}

static void forget_gone(struct tvrec_sampler *sampler)
{
    size_t kept = 0;
    for (size_t i = 0; i < sampler->count; i++) {
        if (sampler->threads[i].shown)
            sampler->threads[kept++] = sampler->threads[i];
        else
            free(sampler->threads[i].words);
    }
    sampler->count = kept;
}

static void count_stack(struct tvrec_sampler *sampler, const struct tv_sampled_thread *thread,
                        uint64_t now)
{
    struct tv_sample_moment moment = {
        .time_ns = now,
        .cpu = TV_SAMPLE_NO_CPU,
        .state = thread->state,
    };
    uint32_t depth = 0;
    while (depth < thread->depth) {
        sampler->stack_elements[depth] = tv_sampler_find_element(sampler, thread->words[depth]);
        if (sampler->stack_elements[depth++] == 0)
            return;
    }
    if (sampler->samples.period_ns == 0)
        tv_samples_add(&sampler->samples, thread->id, sampler->stack_elements, depth);
    else
        tv_samples_add_at(&sampler->samples, thread->id, sampler->stack_elements, depth, &moment);
}

void tv_sampler_tick(struct tvrec_sampler *sampler)
{
    /* What was named before lies elsewhere now, perhaps. */
    if (tv_code_refresh()) {
        tv_modules_refresh();
        memset(sampler->places, 0, sizeof sampler->places);
    }
    uint64_t now = tv_clock_ns(CLOCK_MONOTONIC);
    size_t count = tv_thread_set_list(sampler->set, &sampler->tids, &sampler->tids_room);
    tv_samples_begin_tick(&sampler->samples);
    for (size_t i = 0; i < sampler->count; i++)
        sampler->threads[i].shown = false;
    for (size_t i = 0; i < count && sampler->tids[i] > 0; i++)
        see(sampler, sampler->tids[i]);
    tv_samples_end_unseen_threads(&sampler->samples);
    forget_gone(sampler);
    sampler->unwinder->take(sampler);
    for (size_t i = 0; i < sampler->count; i++)
        count_stack(sampler, &sampler->threads[i], now);
    sampler->ticks++;
}
