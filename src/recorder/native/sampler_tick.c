/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler_tick.c - one tick: which threads there are, who came and went, and counting their stacks.
 *
 *     threads of the set --> seen: new ones get an id, listed ones are shown
 *                        --> those not shown are gone: their samples end, they are forgotten
 *                        --> stacks of all at once (unwinder) --> elements --> counted
 *
 * Words become elements after the stacks of all threads are taken: naming takes time and locks, and
 * stacks should be of one moment.
 *
 * A 0 ends a list of threads, as in Android's profiler.  The recorder's own threads are skipped.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/method_table.h"
#include "recorder/native/code.h"
#include "recorder/native/modules.h"
#include "recorder/native/sampler.h"
#include "recorder/state.h"

void tv_sampler_read_description(pid_t tid, char *name, char *group)
{
    name[0] = group[0] = '\0';
    pthread_mutex_lock(&tv_recorder.lock);
    for (struct tv_recorder_thread *i = tv_recorder.threads; i; i = i->next_thread) {
        if (i->tid != tid || i->finished)
            continue;
        memcpy(name, i->name, TV_BUFFER_NAME);
        memcpy(group, i->group, TV_BUFFER_NAME);
        break;
    }
    pthread_mutex_unlock(&tv_recorder.lock);
}

/* Read the system's name of a thread. */
static void tick_read_name(pid_t tid, char *name, size_t size)
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

/* Return the index of the first thread whose tid is not lower. */
static size_t tick_thread_lower_bound(const struct tvrec_sampler *sampler, pid_t tid)
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
    size_t at = tick_thread_lower_bound(sampler, tid);
    bool found = at < sampler->count && sampler->threads[at].tid == tid;
    return found ? &sampler->threads[at] : NULL;
}

/* Insert a thread at its place by tid, with room for its stack; NULL: no memory. */
static struct tv_sampled_thread *tick_add_thread(struct tvrec_sampler *sampler, pid_t tid)
{
    assert(sampler->count <= sampler->room);
    size_t at = tick_thread_lower_bound(sampler, tid);
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

/* Mark a thread of the set as there, and give it an id in the samples if it has none: it is new, or
 * the samples have ended it. */
static void tick_see_thread(struct tvrec_sampler *sampler, pid_t tid)
{
    char name[TV_BUFFER_NAME] = "", group[TV_BUFFER_NAME] = "";
    struct tv_sampled_thread *thread = tv_sampler_find_thread(sampler, tid);
    /* A dead thread is gone, even if the set still lists it. */
    if (tv_sampler_is_own(tid) || syscall(SYS_tgkill, getpid(), tid, 0) != 0)
        return;
    if (!thread && !(thread = tick_add_thread(sampler, tid)))
        return;
    thread->shown = true;
    if (thread->id != 0 && tv_samples_mark_thread_seen(&sampler->samples, thread->id))
        return;
    tv_sampler_read_description(tid, name, group);
    if (!name[0])
        tick_read_name(tid, name, sizeof name);
    thread->id = tv_samples_add_thread(&sampler->samples, name, group[0] ? group : "main");
}

/* Remove the threads that the set did not list. */
static void tick_forget_gone(struct tvrec_sampler *sampler)
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

/* Count the stack of a thread.  Without memory for one of its elements it is dropped as a whole; a
 * part of a stack would be another one. */
static void tick_count_stack(struct tvrec_sampler *sampler, const struct tv_sampled_thread *thread,
                             uint64_t now)
{
    assert(thread->depth <= sampler->depth);
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
    /* Modules have changed: cached names may be wrong. */
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
        tick_see_thread(sampler, sampler->tids[i]);
    tv_samples_end_unseen_threads(&sampler->samples);
    tick_forget_gone(sampler);
    sampler->unwinder->take(sampler);
    for (size_t i = 0; i < sampler->count; i++)
        tick_count_stack(sampler, &sampler->threads[i], now);
    sampler->ticks++;
}

/*
 * ---- The names of stack words ----
 *
 * A method has its own texts, an address those of modules.h.  If names are made in this process, a
 * function is one place for all of its addresses: it has no line numbers, and two places with the
 * same texts would be two stacks that look the same.
 */

#define FIELDS 5

/* Split a line at its tabs; missing fields are empty. */
static void sampler_split_line(char *line, char **fields)
{
    static char none[] = "";
    for (size_t i = 0; i < FIELDS; i++) {
        char *tab = line ? strchr(line, '\t') : NULL;
        fields[i] = line ? line : none;
        line = tab ? tab + 1 : NULL;
        if (tab)
            *tab = '\0';
    }
}

/* Add the element of a method, from its line in the method table: class, name, signature, file,
 * line. */
static uint32_t sampler_add_method(struct tvrec_sampler *sampler, uint64_t word)
{
    sigset_t before;
    char line[TV_METHOD_LINE + 1], *fields[FIELDS];
    size_t length = 0;
    uint64_t number = word >> 2;
    tv_recorder_lock(&before);
    if (number > 0 && number <= tv_recorder.methods.count) {
        const char *text = tv_method_table_line(&tv_recorder.methods, (uint32_t)number, &length);
        memcpy(line, text, length);
    }
    tv_recorder_unlock(&before);
    line[length] = '\0';
    sampler_split_line(line, fields);
    static char no_class[] = "native";
    struct tv_sample_element element = {
        .method = word,
        .line = fields[4][0] ? (int32_t)strtol(fields[4], NULL, 10) : TV_SAMPLES_NO_LINE,
        .class_name = fields[0][0] ? fields[0] : no_class,
        .name = fields[1],
        .file = fields[3][0] ? fields[3] : NULL,
    };
    uint32_t known = tv_samples_find_element(&sampler->samples, word, element.line);
    return known != 0 ? known : tv_samples_add_element(&sampler->samples, &element);
}

/* Add the element of an address, named by its module. */
static uint32_t sampler_add_address(struct tvrec_sampler *sampler, uint64_t word)
{
    char room[TV_METHOD_LINE], texts[3][TV_METHOD_LINE];
    struct tv_recording_method method = {.class_name = "unknown", .name = room};
    uint64_t address = word << 1 >> 3, start = tv_code_function_start(address);
    if (start != 0 && !tv_modules_has_address_names())
        address = start;
    uint64_t place = tv_modules_key(address, TV_MODULE_TIME_NOW),
             key = TV_WORD_ADDRESS | place << 2;
    uint32_t known = tv_samples_find_element(&sampler->samples, key, TV_SAMPLES_NO_LINE);
    if (known != 0)
        return known;
    tv_modules_name(place, &method, room, sizeof room);
    const char *from[] = {method.class_name, method.name, method.file ? method.file : ""};
    for (size_t i = 0; i < 3; i++) {
        size_t length = strnlen(from[i], sizeof texts[i] - 1);
        memcpy(texts[i], from[i], length);
        texts[i][length] = '\0';
    }
    struct tv_sample_element element = {key, TV_SAMPLES_NO_LINE, texts[0], texts[1],
                                        texts[2][0] ? texts[2] : NULL};
    return tv_samples_add_element(&sampler->samples, &element);
}

uint32_t tv_sampler_find_element(struct tvrec_sampler *sampler, uint64_t word)
{
    size_t at = (size_t)(word * UINT64_C(0x9E3779B97F4A7C15) >> 52) % TV_SAMPLER_CACHE_SIZE;
    if (sampler->places[at].element != 0 && sampler->places[at].word == word)
        return sampler->places[at].element;
    uint32_t element = word & TV_WORD_ADDRESS ? sampler_add_address(sampler, word)
                                              : sampler_add_method(sampler, word);
    sampler->places[at].word = word;
    sampler->places[at].element = element;
    return element;
}
