/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads.c - how a thread joins the recording, gets room for its records, and ends.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/left_behind.h"
#include "recorder/pages.h"
#include "recorder/state.h"

__thread struct tv_recorder_thread *tv_recorder_self;
__thread uint8_t tv_recorder_inside;

/* Stands for every thread that has ended and still runs other libraries' destructors. */
static struct tv_recorder_thread ended = {.finished = true};

#define FRAMES_SIZE ((TV_FRAMES_MAX + 1) * sizeof(struct tv_recorder_frame))

#define THREAD_STACK ((size_t)1 << 20) /* of the recorder's own threads */
#define HANDLER_STACK ((size_t)64 << 10)
#define SPARE_TRIES 10000u
#define STREAM_PARTS 8u /* all that come by and by: 1/8 (1 + ln n) of the records */
#define RING_PIECES 32u /* that a ring has, unless it is small */
#define RING_LEAST 16u  /* records of a chunk, for the last one */
#define ENDED_MOST 64u  /* threads that have ended and are not forgotten yet */

static pthread_key_t end_key;
static pthread_once_t end_once = PTHREAD_ONCE_INIT;

int tv_recorder_start_thread(pthread_t *thread, void *(*run)(void *context), void *context)
{
    pthread_attr_t attributes;
    size_t size = 0;
    int error = pthread_attr_init(&attributes);
    if (error != 0)
        return error;
    error = pthread_attr_getstacksize(&attributes, &size);
    if (error == 0 && size < THREAD_STACK)
        size = THREAD_STACK;
    if (error == 0)
        error = pthread_attr_setstacksize(&attributes, size);
    if (error == 0)
        error = pthread_create(thread, &attributes, run, context);
    pthread_attr_destroy(&attributes);
    return error;
}

void tv_recorder_lock(sigset_t *before)
{
    tv_recorder_block_signals(before);
    pthread_mutex_lock(&tv_recorder.lock);
}

void tv_recorder_unlock(const sigset_t *before)
{
    pthread_mutex_unlock(&tv_recorder.lock);
    tv_recorder_unblock_signals(before);
}

static void clean_name(char *name)
{
    for (; *name; name++)
        if ((unsigned char)*name < ' ')
            *name = ' ';
}

/* The name in the area: the host's word, or what the system calls the calling thread. */
static void keep_name(struct tv_recorder_thread *self)
{
    char name[TV_BUFFER_NAME] = "";
    if (self->name[0])
        memcpy(name, self->name, sizeof name);
    else
        prctl(PR_GET_NAME, name);
    clean_name(name);
    memcpy(tv_recorder.area.threads[self->id - 1].name, name, sizeof name);
}

static bool takes_part(struct tv_recorder_thread *thread)
{
    return tv_recorder.area.head && thread->id != 0 &&
           tv_recorder_generation_of(thread) == tv_recorder.generation;
}

/* Whoever has it keeps it for some instructions, unless a handler has come in between. */
static bool lock_spares(uint32_t tries)
{
    for (; tries > 0; tries--)
        if (!atomic_flag_test_and_set_explicit(&tv_recorder.spare_lock, memory_order_acquire))
            return true;
    return false;
}

static void unlock_spares(void)
{
    atomic_flag_clear_explicit(&tv_recorder.spare_lock, memory_order_release);
}

static void give_back(uint32_t first, uint32_t count, uint32_t chunk)
{
    if (count == 0 || !lock_spares(SPARE_TRIES))
        return;
    uint32_t at = atomic_load(&tv_recorder.spare_count);
    if (at < TV_SPARE_CHUNKS_MAX) {
        tv_recorder.spares[at] = (struct tv_spare_chunk){first, count, chunk};
        atomic_store(&tv_recorder.spare_count, at + 1);
    }
    unlock_spares();
}

/* The records of a chunk go to the file, and it is empty again: at each moment they are in the
 * spool or in the file, and what is there says in which.  The lock is held.  0 or an error. */
static int stream_chunk(uint32_t number, uint32_t used)
{
    struct tv_trace_buffer *area = &tv_recorder.area;
    struct tv_trace_writer *job = &tv_recorder.job;
    int failed = tv_trace_stream_chunk(job, number);
    if (tv_recorder.spools) {
        failed = tv_output_buffer_flush(job->sink);
        tv_trace_buffer_commit_stream(area, (struct tv_stream_progress){job->sink->flushed, job->written, number});
    }
    memset(tv_trace_buffer_record(area, area->chunks[number - 1].first), 0,
           (size_t)used * area->head->words * sizeof(uint64_t));
    if (tv_recorder.spools)
        tv_trace_buffer_commit_stream(area, (struct tv_stream_progress){job->sink->flushed, job->written, 0});
    return failed;
}

void tv_recorder_close_chunk(struct tv_recorder_thread *thread)
{
    if (thread->chunk == 0 || !thread->next)
        return;
    struct tv_trace_buffer *area = &tv_recorder.area;
    struct tv_buffer_chunk *chunk = &area->chunks[thread->chunk - 1];
    uint32_t used =
        (uint32_t)((size_t)(thread->next - tv_trace_buffer_record(area, chunk->first)) / area->head->words);
    used = used < chunk->count ? used : chunk->count;
    uint32_t left = chunk->count - used, first = chunk->first + used;
    chunk->count = used;
    if (area->head->full == TV_RECORDING_STREAM) {
        stream_chunk(thread->chunk, used);
        first = chunk->first;
        left += used;
        chunk->count = left;
    }
    uint32_t number = area->head->full == TV_RECORDING_STREAM ? thread->chunk : 0;
    thread->chunk = 0;
    thread->end = NULL;
    __atomic_store_n(&thread->next, NULL, __ATOMIC_RELAXED); /* tv_fast_has_room looks at it */
    atomic_store(&thread->limit, 0);
    give_back(first, left, number);
}

/* For handlers when the thread's stack is full, of which the recorder's own is one: a thread that
 * has a stack for that keeps it. */
static void give_handler_stack(struct tv_recorder_thread *self)
{
    stack_t now, own = {.ss_size = HANDLER_STACK};
    if (self->handler_stack || sigaltstack(NULL, &now) != 0 || !(now.ss_flags & SS_DISABLE))
        return;
    own.ss_sp = tv_mmap_alloc(HANDLER_STACK);
    if (own.ss_sp && sigaltstack(&own, NULL) == 0)
        self->handler_stack = own.ss_sp;
    else
        tv_mmap_free(own.ss_sp, HANDLER_STACK);
}

/* By the thread itself, at its end. */
static void take_handler_stack(struct tv_recorder_thread *self)
{
    stack_t now, none = {.ss_flags = SS_DISABLE};
    if (!self->handler_stack || sigaltstack(NULL, &now) != 0)
        return;
    /* It stays where a handler runs on it. */
    if (now.ss_sp == self->handler_stack && sigaltstack(&none, NULL) != 0)
        return;
    tv_mmap_free(self->handler_stack, HANDLER_STACK);
    self->handler_stack = NULL;
}

static void end_thread(struct tv_recorder_thread *self)
{
    sigset_t before;
    tv_recorder_inside++;
    tv_recorder_lock(&before);
    tv_recorder_set_busy(self);
    if (takes_part(self)) {
        keep_name(self);
        tv_recorder_close_chunk(self);
        tv_recorder.ended_ids[self->id >> 3] |= (uint8_t)(1u << (self->id & 7));
    }
    bool is_main = self->tid == (int)getpid();
    take_handler_stack(self);
    if (self->tid != 0)
        tv_cpu_clock_end();
    self->finished = true;
    tv_recorder.finished++;
    if (tv_recorder_self == self)
        tv_recorder_self = &ended;
    atomic_store(&self->top, self->frames - 1);
    tv_recorder_clear_busy(self);
    tv_recorder_unlock(&before); /* from here on it may be gone */
    if (is_main)
        tv_watcher_notify_main_ended();
    tv_recorder_inside--;
}

/* The stack is gone, and with it the calls that pthread_exit left.  Twice it only asks to be called
 * again, so that destructors of others are recorded. */
static void on_thread_end(void *pointer)
{
    struct tv_recorder_thread *self = pointer;
    if (tv_recorder_self != self)
        return;
    tv_recorder_unroll_all();
    if (self->ends++ < 2 && pthread_setspecific(end_key, self) == 0)
        return;
    end_thread(self);
}

static void make_key(void)
{
    pthread_key_create(&end_key, on_thread_end);
}

static struct tv_recorder_thread *new_thread(void)
{
    sigset_t before;
    struct tv_recorder_thread *self = tv_mmap_alloc(sizeof *self);
    if (!self)
        return NULL;
    struct tv_recorder_frame *frames = tv_mmap_alloc(FRAMES_SIZE);
    if (!frames) {
        tv_mmap_free(self, sizeof *self);
        return NULL;
    }
    *frames = (struct tv_recorder_frame){TV_WORD_LEFT_OUT, TV_FRAME_OFF_STACK};
    self->top = frames;
    self->frames = frames + 1;
    self->last = frames + TV_FRAMES_MAX;
    if (!tv_recording_is_fiber()) {
        self->tid = (int)syscall(SYS_gettid);
        pthread_once(&end_once, make_key);
        pthread_setspecific(end_key, self);
    }
    tv_recorder_lock(&before);
    if (tv_recorder.finished >= ENDED_MOST)
        tv_recorder_free_ended_threads();
    self->other = tv_recorder.threads;
    tv_recorder.threads = self;
    tv_recorder_unlock(&before);
    tv_recorder_self = self;
    return self;
}

void tv_recorder_register_thread(void)
{
    if (!tv_recorder_self)
        new_thread();
}

/* The recording goes on, but not of this thread. */
static void lack_room(void)
{
    if (atomic_exchange(&tv_recorder.area.head->overflow, 1) == 0)
        tv_watcher_notify_overflow();
}

/* The first of the threads that have ended, from where the last search has stopped, with records
 * or without any; 0: there is none.  The lock is held. */
static uint32_t find_ended(bool has_records)
{
    uint32_t threads = atomic_load(&tv_recorder.area.head->threads);
    for (uint32_t i = 0; i < threads; i++) {
        uint32_t id = tv_recorder.ended_at % threads + 1;
        bool has_ended = tv_recorder.ended_ids[id >> 3] >> (id & 7) & 1;
        if (has_ended && (tv_recorder.area.threads[id - 1].first_chunk != 0) == has_records)
            return id;
        tv_recorder.ended_at = id;
    }
    return 0;
}

/* A number of its own, or in a ring that of a thread of which nothing is left; 0: there is none. */
static uint32_t find_id(void)
{
    struct tv_buffer_header *head = tv_recorder.area.head;
    uint32_t threads = atomic_load(&head->threads), id;
    if (threads < TV_BUFFER_THREADS_MAX) {
        atomic_store(&head->threads, threads + 1);
        return threads + 1;
    }
    if (head->full != TV_RECORDING_RING || (id = find_ended(false)) == 0)
        return 0;
    tv_recorder.ended_ids[id >> 3] &= (uint8_t) ~(1u << (id & 7));
    return id;
}

/* The lock is held. */
static bool join(struct tv_recorder_thread *self, uint32_t generation)
{
    if (atomic_load(&tv_recorder.on) != generation)
        return false;
    /* It may leave a recording that is not written yet. */
    if (takes_part(self)) {
        keep_name(self);
        tv_recorder_close_chunk(self);
    }
    self->next = self->end = NULL;
    self->chunk = self->owned = 0;
    self->wanted = TV_BUFFER_CHUNK_MIN;
    self->id = 0;
    self->records = tv_recorder_is_recording(generation);
    tv_recorder_set_busy(self);
    atomic_store(&self->top, self->frames - 1);
    self->over = self->known = self->triggered = self->slow.count = 0;
    atomic_store(&self->generation, generation);
    tv_recorder_clear_busy(self);
    if (!self->records)
        return true;
    struct tv_buffer_header *head = tv_recorder.area.head;
    self->words = head->words;
    self->counter = head->counter;
    self->wall = head->clock != TV_RECORDING_CPU;
    self->cpu = head->clock != TV_RECORDING_WALL;
    self->quick = self->counter && self->wall && !self->cpu && tv_recorder.least == 0 &&
                  !tv_recorder.triggers && tv_recorder.slow == 0;
    self->id = find_id();
    self->records = self->id != 0;
    if (!self->records) {
        lack_room();
        return false;
    }
    keep_name(self);
    tv_recorder.area.threads[self->id - 1].cpu_start = tv_recorder_cpu_ns(self);
    return true;
}

/* The innermost frames go to whoever has asked; an event that interrupts this one goes on without
 * doing it again. */
static void answer(struct tv_recorder_thread *self)
{
    struct tv_stack_reply *to = atomic_load(&self->answer);
    uint32_t asked = TV_STACK_REPLY_ASKED, depth = tv_recorder_depth_of(self);
    if (!to || !atomic_compare_exchange_strong(&to->state, &asked, TV_STACK_REPLY_BUSY))
        return;
    to->depth = 0;
    for (uint32_t i = depth; i > 0 && to->depth < TV_STACK_DEPTH_MAX;)
        to->words[to->depth++] =
            atomic_load_explicit(&self->frames[--i].word, memory_order_relaxed);
    atomic_fetch_and(&self->generation, ~TV_GENERATION_ASKED);
    atomic_store(&to->state, TV_STACK_REPLY_READY);
}

/* `self` may be NULL before and afterwards. */
static struct tv_recorder_thread *join_anew(struct tv_recorder_thread *self, uint32_t generation)
{
    sigset_t before;
    bool handles_ends = false;
    tv_recorder_block_signals(&before);
    tv_recorder_inside++;
    if (!self)
        self = new_thread();
    if (self) {
        pthread_mutex_lock(&tv_recorder.lock);
        if (!join(self, generation))
            self = NULL;
        handles_ends = tv_recorder.options.finish_at_end;
        pthread_mutex_unlock(&tv_recorder.lock);
    }
    if (self && handles_ends)
        give_handler_stack(self);
    tv_recorder_inside--;
    tv_recorder_unblock_signals(&before);
    return self;
}

struct tv_recorder_thread *tv_recorder_attach(uint32_t generation)
{
    struct tv_recorder_thread *self = tv_recorder_self;
    if (self && (atomic_load(&self->generation) & TV_GENERATION_ASKED))
        answer(self);
    /* Nothing but the question, which may have been taken back by now, has led here. */
    if (self && tv_recorder_generation_of(self) == generation)
        return self;
    if (tv_recorder_inside)
        return NULL;
    if (tv_recorder.joining) {
        tv_recorder.joining();
        self = tv_recorder_self;
    }
    if (self && self->finished)
        return NULL;
    /* A handler's event in the middle of another one: that one's recording is not over yet. */
    if (self && (atomic_load(&self->busy) & 1)) {
        atomic_fetch_add(&self->dropped, 1);
        return NULL;
    }
    self = join_anew(self, generation);
    if (self && tv_recorder.joined)
        tv_recorder.joined();
    return self;
}

/* Its number, as a chunk of the thread; 0: there are no more numbers. */
static uint32_t make_chunk(struct tv_recorder_thread *self, const struct tv_spare_chunk *spare)
{
    struct tv_buffer_header *head = tv_recorder.area.head;
    uint32_t chunk = spare->chunk;
    if (chunk == 0)
        chunk = atomic_fetch_add(&head->next_chunk, 1) + 1;
    if (chunk > head->chunks) {
        atomic_store(&head->next_chunk, head->chunks);
        return 0;
    }
    tv_recorder.area.chunks[chunk - 1] =
        (struct tv_buffer_chunk){spare->first, spare->count, 0, self->id};
    return chunk;
}

/* One of at least so many records, the last that was given back. */
static uint32_t take_spare(struct tv_recorder_thread *self, uint32_t least)
{
    uint32_t chunk = 0;
    if (atomic_load_explicit(&tv_recorder.spare_count, memory_order_relaxed) == 0 ||
        !lock_spares(1))
        return 0;
    uint32_t count = atomic_load(&tv_recorder.spare_count), at = count;
    while (at > 0 && tv_recorder.spares[at - 1].count < least)
        at--;
    if (at > 0 && (chunk = make_chunk(self, &tv_recorder.spares[at - 1])) != 0) {
        tv_recorder.spares[at - 1] = tv_recorder.spares[count - 1];
        atomic_store(&tv_recorder.spare_count, count - 1);
    }
    unlock_spares();
    return chunk;
}

static uint32_t least_of(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* How large a chunk the thread takes.  In a ring it leaves an eighth of what there is to threads
 * that come late, and takes no large piece, as it forgets its oldest as a whole; 0: it has its
 * part. In a stream it is empty again soon, so that more threads count for more than larger chunks.
 */
static uint32_t find_size(const struct tv_recorder_thread *self)
{
    const struct tv_buffer_header *head = tv_recorder.area.head;
    uint32_t taken = atomic_load(&head->next_record), threads = atomic_load(&head->threads), most;
    if (head->full == TV_RECORDING_STOP)
        return self->wanted;
    if (head->full == TV_RECORDING_STREAM) {
        most = head->records / STREAM_PARTS / (threads + 1);
        return least_of(self->wanted, most > TV_BUFFER_CHUNK_MIN ? most : TV_BUFFER_CHUNK_MIN);
    }
    most = head->records / RING_PIECES;
    most = least_of(self->wanted, most > TV_BUFFER_CHUNK_MIN ? most : TV_BUFFER_CHUNK_MIN);
    uint64_t part = (uint64_t)(head->records - taken) * 7;
    uint32_t more = part > self->owned ? (uint32_t)((part - self->owned) / 8) : 0;
    return more < RING_LEAST ? 0 : least_of(most, more);
}

/* The oldest chunk of a thread that has ended, in a ring; 0: there is none. */
static uint32_t take_over(struct tv_recorder_thread *self)
{
    sigset_t before;
    tv_recorder_lock(&before);
    uint32_t ended_id = takes_part(self) ? find_ended(true) : 0;
    uint32_t chunk = ended_id != 0 ? tv_trace_buffer_recycle_chunk(&tv_recorder.area, ended_id) : 0;
    if (chunk != 0)
        tv_recorder.area.chunks[chunk - 1].thread = self->id;
    tv_recorder_unlock(&before);
    return chunk;
}

/* In a ring a thread that has its part takes its own oldest chunk; one that has hardly any takes
 * those of threads that have ended. */
static uint32_t find_chunk(struct tv_recorder_thread *self, uint32_t size, uint32_t least)
{
    struct tv_trace_buffer *area = &tv_recorder.area;
    uint32_t chunk = size > 0 ? take_spare(self, size > 1 ? size / 2 : 1) : 0;
    if (chunk == 0 && size > 0)
        chunk = tv_trace_buffer_claim_chunk(area, self->id, size);
    if (chunk == 0 && size > 0)
        chunk = take_spare(self, least);
    bool rings = area->head->full == TV_RECORDING_RING;
    if (chunk == 0 && rings && self->owned < area->head->records / RING_PIECES)
        chunk = take_over(self);
    if (chunk == 0 && rings)
        return tv_trace_buffer_recycle_chunk(area, self->id);
    if (chunk != 0)
        self->owned += area->chunks[chunk - 1].count;
    if (tv_trace_buffer_needs_prefault(area))
        tv_watcher_notify_prefault();
    if (tv_trace_buffer_has_grown(area))
        tv_watcher_notify_growth();
    return chunk;
}

void tv_recorder_set_limit(struct tv_recorder_thread *self)
{
    uintptr_t limit = self->quick && self->over == 0 ? (uintptr_t)self->end : 0;
    atomic_store(&self->limit, limit);
    /* A stop takes the limit away only once, and does so after `on`. */
    if (atomic_load(&tv_recorder.on) != tv_recorder_generation_of(self))
        atomic_store(&self->limit, 0);
}

static void use_chunk(struct tv_recorder_thread *self, uint32_t chunk)
{
    struct tv_trace_buffer *area = &tv_recorder.area;
    self->chunk = chunk;
    self->next = tv_trace_buffer_record(area, area->chunks[chunk - 1].first);
    self->end = self->next + (size_t)area->chunks[chunk - 1].count * area->head->words;
    if (self->wanted < TV_BUFFER_CHUNK_MAX)
        self->wanted *= 2;
    tv_recorder_set_limit(self);
}

bool tv_recorder_end_events(void)
{
    uint32_t on = atomic_load(&tv_recorder.on);
    if (!tv_recorder_is_recording(on) ||
        !atomic_compare_exchange_strong(&tv_recorder.on, &on, atomic_load(&tv_recorder.stacks)))
        return false;
    atomic_store(&tv_recorder.ended, tv_clock_read(tv_recorder.area.head->counter));
    return true;
}

/* The thread's chunk goes to the file, and is empty again.  False: it cannot. */
static bool stream(struct tv_recorder_thread *self)
{
    struct tv_trace_buffer *area = &tv_recorder.area;
    const struct tv_buffer_chunk *chunk = &area->chunks[self->chunk - 1];
    if (tv_recorder_inside)
        return false;
    pthread_mutex_lock(&tv_recorder.lock);
    int failed = stream_chunk(self->chunk, chunk->count);
    self->next = tv_trace_buffer_record(area, chunk->first);
    pthread_mutex_unlock(&tv_recorder.lock);
    if (failed != 0 && tv_recorder_end_events())
        tv_watcher_notify_failure(failed);
    return failed == 0;
}

static void overflow(void)
{
    if (!tv_recorder_end_events())
        return;
    atomic_store(&tv_recorder.area.head->overflow, 1);
    tv_watcher_notify_overflow();
}

/* After the chunk has gone to the file: a larger one, if there is one. */
static void widen(struct tv_recorder_thread *self)
{
    const struct tv_buffer_chunk *old = &tv_recorder.area.chunks[self->chunk - 1];
    uint32_t size = find_size(self), number = self->chunk, first = old->first, count = old->count;
    if (size <= count)
        return;
    uint32_t chunk = find_chunk(self, size, count + 1);
    if (chunk == 0)
        return;
    use_chunk(self, chunk);
    give_back(first, count, number);
}

static bool bring_more(struct tv_recorder_thread *self)
{
    struct tv_trace_buffer *area = &tv_recorder.area;
    bool streams = area->head->full == TV_RECORDING_STREAM;
    tv_trace_buffer_sample_clocks(area);
    if (streams && self->chunk != 0) {
        if (!stream(self))
            return false;
        widen(self);
        return true;
    }
    uint32_t chunk = find_chunk(self, find_size(self), 1);
    if (chunk == 0) {
        if (area->head->full == TV_RECORDING_STOP)
            overflow();
        else
            lack_room();
        return false;
    }
    if (!streams)
        tv_trace_buffer_append_chunk(area, self->id, chunk);
    use_chunk(self, chunk);
    return true;
}

bool tv_recorder_next_chunk(struct tv_recorder_thread *self)
{
    sigset_t before;
    tv_recorder_block_signals(&before);
    bool has_more = bring_more(self);
    tv_recorder_unblock_signals(&before);
    return has_more;
}

void tv_recorder_free_ended_threads(void)
{
    struct tv_recorder_thread **link = &tv_recorder.threads;
    tv_recorder.finished = 0;
    while (*link) {
        struct tv_recorder_thread *thread = *link;
        tv_recorder.dropped += atomic_exchange(&thread->dropped, 0);
        if (!thread->finished) {
            link = &thread->other;
            continue;
        }
        *link = thread->other;
        tv_mmap_free(thread->frames - 1, FRAMES_SIZE);
        tv_mmap_free(thread->deep, thread->deep_room * sizeof *thread->deep);
        tv_mmap_free(thread->slow.list, thread->slow.room * sizeof *thread->slow.list);
        tv_mmap_free(atomic_load(&thread->answer), sizeof(struct tv_stack_reply));
        tv_mmap_free(thread, sizeof *thread);
    }
}

/* The lock is held: what `on` shall be without a recording. */
static void set_stacks(uint32_t stacks)
{
    atomic_store(&tv_recorder.stacks, stacks);
    uint32_t on = atomic_load(&tv_recorder.on);
    if (!tv_recorder_is_recording(on) && on != TV_ON_PAUSED)
        atomic_store(&tv_recorder.on, stacks);
}

void tv_recorder_acquire_stacks(void)
{
    sigset_t before;
    tv_recorder_inside++;
    tv_recorder_lock(&before);
    tv_recorder_wipe_on_fork();
    if (tv_recorder.stack_users++ == 0)
        set_stacks(TV_ON_STACKS | (++tv_recorder.stack_number & (TV_GENERATION_ASKED - 1)));
    tv_recorder_unlock(&before);
    tv_recorder_inside--;
}

void tv_recorder_release_stacks(void)
{
    sigset_t before;
    tv_recorder_inside++;
    tv_recorder_lock(&before);
    if (--tv_recorder.stack_users == 0)
        set_stacks(0);
    tv_recorder_unlock(&before);
    tv_recorder_inside--;
}

/* What the host says of the calling thread; NULL: nothing new. */
static void describe(const char *name, const char *group)
{
    sigset_t before;
    struct tv_recorder_thread *self = tv_recorder_self;
    if (tv_recorder_inside || (self && self->finished))
        return;
    tv_recorder_inside++;
    if (!self)
        self = new_thread();
    if (self) {
        tv_recorder_lock(&before);
        if (name)
            snprintf(self->name, sizeof self->name, "%s", name);
        if (group)
            snprintf(self->group, sizeof self->group, "%s", group);
        clean_name(self->name);
        clean_name(self->group);
        if (takes_part(self))
            keep_name(self);
        tv_recorder_unlock(&before);
    }
    tv_recorder_inside--;
}

void tv_recording_name_thread(const char *name)
{
    describe(name, NULL);
}

void tv_recording_group_thread(const char *group)
{
    describe(NULL, group);
}

void tv_recorder_flush_fiber(struct tv_recorder_thread *fiber)
{
    sigset_t before;
    if (tv_recorder_inside)
        return;
    tv_recorder_inside++;
    tv_recorder_lock(&before);
    if (takes_part(fiber) && tv_recorder.area.head->full == TV_RECORDING_STREAM) {
        tv_recorder_set_busy(fiber);
        tv_recorder_close_chunk(fiber);
        fiber->wanted = TV_BUFFER_CHUNK_MIN;
        tv_recorder_clear_busy(fiber);
    }
    tv_recorder_unlock(&before);
    tv_recorder_inside--;
}

void tv_recorder_end_fiber(struct tv_recorder_thread *fiber)
{
    if (!fiber->finished && !tv_recorder_inside)
        end_thread(fiber);
}

void tv_recording_end_thread(void)
{
    struct tv_recorder_thread *self = tv_recorder_self;
    if (self && !self->finished && !tv_recorder_inside)
        end_thread(self);
}
