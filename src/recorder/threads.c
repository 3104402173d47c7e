/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads.c - how a thread joins the recording, is described, and ends; fibers.
 *
 *     first event -> tv_recorder_attach -> thread_new (once a thread), thread_join_locked (once a
 *                                          recording): an id, a name, no chunk yet
 *     last event  -> thread_on_exit (pthread key), or tv_recording_end_thread: name it, close its
 *                    chunk, mark it finished; freed when enough others are
 *
 * An event must be cheap, so the fast path compares one number: thread->generation with
 * tv_recorder.on.  Whatever a thread has to do besides (join a recording, leave an old one, answer
 * a sampler) makes the two differ, and leads to tv_recorder_attach.
 *
 * Any code of the program may be interrupted by an event, even malloc or a signal handler.  Memory
 * is therefore mapped, signals are blocked while the lock is held, and tv_recorder_inside keeps the
 * recorder from recording itself.
 *
 * An ended thread is only marked; a sweep frees many at once.  A destructor of another library may
 * call a hook after thread_end; it meets ended_thread then, which takes part in nothing.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/fast_path.h"
#include "recorder/memory.h"
#include "recorder/recording.h"
#include "recorder/state.h"

__thread struct tv_recorder_thread *tv_recorder_self;
__thread uint8_t tv_recorder_inside;

/* Takes the place of every thread that has ended and still runs destructors of other libraries. */
static struct tv_recorder_thread ended_thread = {.finished = true};

#define FRAMES_BYTES ((TV_FRAMES_MAX + 1) * sizeof(struct tv_recorder_frame))

#define OWN_STACK_SIZE ((size_t)1 << 20) /* of the recorder's own threads */
#define SIGNAL_STACK_SIZE ((size_t)64 << 10)
#define ENDED_THREADS_MAX 64u /* ended threads that are kept until the next sweep */

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
    if (error == 0 && size < OWN_STACK_SIZE)
        size = OWN_STACK_SIZE;
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

/* Replace control characters, which separate names in the files. */
static void thread_name_clean(char *name)
{
    for (; *name; name++)
        if ((unsigned char)*name < ' ')
            *name = ' ';
}

/* Store the thread's name in the buffer: the host's, or the system's for the calling thread. */
static void thread_store_name(struct tv_recorder_thread *self)
{
    assert(self->id > 0 && self->id <= TV_BUFFER_THREADS_MAX);
    char name[TV_BUFFER_NAME] = "";
    if (self->name[0])
        memcpy(name, self->name, sizeof name);
    else
        prctl(PR_GET_NAME, name);
    thread_name_clean(name);
    memcpy(tv_recorder.buffer.threads[self->id - 1].name, name, sizeof name);
}

/* Install a stack for signal handlers, so that the recorder's handler can run when the thread's
 * own stack is full.  A thread that has one keeps it. */
static void thread_install_signal_stack(struct tv_recorder_thread *self)
{
    stack_t now, own = {.ss_size = SIGNAL_STACK_SIZE};
    if (self->handler_stack || sigaltstack(NULL, &now) != 0 || !(now.ss_flags & SS_DISABLE))
        return;
    own.ss_sp = tv_mmap_alloc(SIGNAL_STACK_SIZE);
    if (own.ss_sp && sigaltstack(&own, NULL) == 0)
        self->handler_stack = own.ss_sp;
    else
        tv_mmap_free(own.ss_sp, SIGNAL_STACK_SIZE);
}

/* Remove it, in the thread itself at its end. */
static void thread_remove_signal_stack(struct tv_recorder_thread *self)
{
    stack_t now, none = {.ss_flags = SS_DISABLE};
    if (!self->handler_stack || sigaltstack(NULL, &now) != 0)
        return;
    /* The stack stays if a handler runs on it. */
    if (now.ss_sp == self->handler_stack && sigaltstack(&none, NULL) != 0)
        return;
    tv_mmap_free(self->handler_stack, SIGNAL_STACK_SIZE);
    self->handler_stack = NULL;
}

/* End a thread: its last chunk is closed and its name kept, as the system forgets it. */
static void thread_end(struct tv_recorder_thread *self)
{
    assert(!self->finished);
    sigset_t before;
    tv_recorder_inside++;
    tv_recorder_lock(&before);
    tv_recorder_set_busy(self);
    if (tv_recorder_takes_part(self)) {
        thread_store_name(self);
        tv_recorder_close_chunk(self);
        tv_recorder.ended_threads.ended_ids[self->id >> 3] |= (uint8_t)(1u << (self->id & 7));
    }
    bool is_main = self->tid == (int)getpid();
    thread_remove_signal_stack(self);
    if (self->tid != 0)
        tv_cpu_clock_end();
    self->finished = true;
    tv_recorder.finished++;
    if (tv_recorder_self == self)
        tv_recorder_self = &ended_thread;
    atomic_store(&self->top, self->frames - 1);
    tv_recorder_clear_busy(self);
    tv_recorder_unlock(&before); /* another thread may free it from here on */
    if (is_main)
        tv_watcher_notify_main_ended();
    tv_recorder_inside--;
}

/* Called as the thread ends; calls that pthread_exit left are gone with the stack.  The first
 * two times it only asks to be called again, so that destructors of others are recorded. */
static void thread_on_exit(void *pointer)
{
    struct tv_recorder_thread *self = pointer;
    if (tv_recorder_self != self)
        return;
    tv_recorder_unroll_all();
    if (self->end_calls++ < 2 && pthread_setspecific(end_key, self) == 0)
        return;
    thread_end(self);
}

/* Make the key whose destructor runs when a thread ends. */
static void thread_make_end_key(void)
{
    pthread_key_create(&end_key, thread_on_exit);
}

/* Make the calling thread, or its fiber, known to the recorder; NULL: no memory.  Memory is mapped:
 * this may run inside the program's allocator. */
static struct tv_recorder_thread *thread_new(void)
{
    sigset_t before;
    struct tv_recorder_thread *self = tv_mmap_alloc(sizeof *self);
    if (!self)
        return NULL;
    struct tv_recorder_frame *frames = tv_mmap_alloc(FRAMES_BYTES);
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
        pthread_once(&end_once, thread_make_end_key);
        pthread_setspecific(end_key, self);
    }
    tv_recorder_lock(&before);
    if (tv_recorder.finished >= ENDED_THREADS_MAX)
        tv_recorder_free_ended_threads();
    self->next_thread = tv_recorder.threads;
    tv_recorder.threads = self;
    tv_recorder_unlock(&before);
    tv_recorder_self = self;
    return self;
}

void tv_recorder_register_thread(void)
{
    if (!tv_recorder_self)
        thread_new();
}

/* Return an id: a new one or, in a ring, that of a thread without any records left; 0: there is
 * none. */
static uint32_t thread_claim_id(void)
{
    struct tv_buffer_header *head = tv_recorder.buffer.head;
    uint32_t threads = atomic_load(&head->threads), id;
    if (threads < TV_BUFFER_THREADS_MAX) {
        atomic_store(&head->threads, threads + 1);
        return threads + 1;
    }
    if (head->full != TV_RECORDING_RING || (id = tv_recorder_find_ended(false)) == 0)
        return 0;
    tv_recorder.ended_threads.ended_ids[id >> 3] &= (uint8_t) ~(1u << (id & 7));
    return id;
}

/* Join the recording with that generation.  The lock is held. */
static bool thread_join_locked(struct tv_recorder_thread *self, uint32_t generation)
{
    assert(self->frames && !self->finished);
    if (atomic_load(&tv_recorder.on) != generation)
        return false;
    /* The thread may come from a recording that is not written yet. */
    if (tv_recorder_takes_part(self)) {
        thread_store_name(self);
        tv_recorder_close_chunk(self);
    }
    self->next = self->end = NULL;
    self->chunk = self->records_owned = 0;
    self->chunk_size = TV_BUFFER_CHUNK_MIN;
    self->id = 0;
    self->is_recorded = tv_recorder_is_recording(generation);
    tv_recorder_set_busy(self);
    atomic_store(&self->top, self->frames - 1);
    self->deep_count = self->deep_known = self->trigger_depth = self->slow.count = 0;
    atomic_store(&self->generation, generation);
    tv_recorder_clear_busy(self);
    if (!self->is_recorded)
        return true;
    struct tv_buffer_header *head = tv_recorder.buffer.head;
    self->words = head->words;
    self->counter = head->counter;
    self->wall = head->clock != TV_RECORDING_CPU;
    self->cpu = head->clock != TV_RECORDING_WALL;
    self->is_fast = self->counter && self->wall && !self->cpu && tv_recorder.min_duration == 0 &&
                    !tv_recorder.triggers && tv_recorder.slow_limit == 0;
    self->id = thread_claim_id();
    self->is_recorded = self->id != 0;
    if (!self->is_recorded) {
        tv_recorder_mark_overflow();
        return false;
    }
    thread_store_name(self);
    tv_recorder.buffer.threads[self->id - 1].cpu_start = tv_recorder_cpu_ns(self);
    return true;
}

/* Copy the innermost frames for the sampler that asked.  An event that interrupts this one does
 * not copy again. */
static void thread_answer_stack(struct tv_recorder_thread *self)
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

/* Join, as a new thread if `self` is NULL.  NULL: not possible. */
static struct tv_recorder_thread *thread_join(struct tv_recorder_thread *self, uint32_t generation)
{
    sigset_t before;
    bool handles_ends = false;
    tv_recorder_block_signals(&before);
    tv_recorder_inside++;
    if (!self)
        self = thread_new();
    if (self) {
        pthread_mutex_lock(&tv_recorder.lock);
        if (!thread_join_locked(self, generation))
            self = NULL;
        handles_ends = tv_recorder.options.finish_at_end;
        pthread_mutex_unlock(&tv_recorder.lock);
    }
    if (self && handles_ends)
        thread_install_signal_stack(self);
    tv_recorder_inside--;
    tv_recorder_unblock_signals(&before);
    return self;
}

struct tv_recorder_thread *tv_recorder_attach(uint32_t generation)
{
    struct tv_recorder_thread *self = tv_recorder_self;
    if (self && (atomic_load(&self->generation) & TV_GENERATION_ASKED))
        thread_answer_stack(self);
    /* The question alone has led here; it may have been withdrawn by now. */
    if (self && tv_recorder_generation_of(self) == generation)
        return self;
    if (tv_recorder_inside)
        return NULL;
    if (tv_recorder.host.joining) {
        tv_recorder.host.joining();
        self = tv_recorder_self;
    }
    if (self && self->finished)
        return NULL;
    /* In a handler that interrupted an event: that event's recording is not over yet. */
    if (self && (atomic_load(&self->busy) & 1)) {
        atomic_fetch_add(&self->dropped, 1);
        return NULL;
    }
    self = thread_join(self, generation);
    if (self && tv_recorder.host.joined)
        tv_recorder.host.joined();
    return self;
}

void tv_recorder_free_ended_threads(void)
{
    struct tv_recorder_thread **link = &tv_recorder.threads;
    tv_recorder.finished = 0;
    while (*link) {
        struct tv_recorder_thread *thread = *link;
        tv_recorder.dropped += atomic_exchange(&thread->dropped, 0);
        if (!thread->finished) {
            link = &thread->next_thread;
            continue;
        }
        *link = thread->next_thread;
        tv_mmap_free(thread->frames - 1, FRAMES_BYTES);
        tv_mmap_free(thread->deep, thread->deep_room * sizeof *thread->deep);
        tv_mmap_free(thread->slow.list, thread->slow.room * sizeof *thread->slow.list);
        tv_mmap_free(atomic_load(&thread->answer), sizeof(struct tv_stack_reply));
        tv_mmap_free(thread, sizeof *thread);
    }
}

/* Set `on` for times without a recording.  The lock is held. */
static void recorder_set_stacks(uint32_t stacks)
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
        recorder_set_stacks(TV_ON_STACKS |
                            (++tv_recorder.stack_number & (TV_GENERATION_ASKED - 1)));
    tv_recorder_unlock(&before);
    tv_recorder_inside--;
}

void tv_recorder_release_stacks(void)
{
    sigset_t before;
    tv_recorder_inside++;
    tv_recorder_lock(&before);
    assert(tv_recorder.stack_users > 0);
    if (--tv_recorder.stack_users == 0)
        recorder_set_stacks(0);
    tv_recorder_unlock(&before);
    tv_recorder_inside--;
}

/* Store what the host tells about the calling thread; NULL: nothing new. */
static void thread_describe(const char *name, const char *group)
{
    sigset_t before;
    struct tv_recorder_thread *self = tv_recorder_self;
    if (tv_recorder_inside || (self && self->finished))
        return;
    tv_recorder_inside++;
    if (!self)
        self = thread_new();
    if (self) {
        tv_recorder_lock(&before);
        if (name)
            snprintf(self->name, sizeof self->name, "%s", name);
        if (group)
            snprintf(self->group, sizeof self->group, "%s", group);
        thread_name_clean(self->name);
        thread_name_clean(self->group);
        if (tv_recorder_takes_part(self))
            thread_store_name(self);
        tv_recorder_unlock(&before);
    }
    tv_recorder_inside--;
}

void tv_recording_name_thread(const char *name)
{
    thread_describe(name, NULL);
}

void tv_recording_group_thread(const char *group)
{
    thread_describe(NULL, group);
}

void tv_recorder_flush_fiber(struct tv_recorder_thread *fiber)
{
    sigset_t before;
    if (tv_recorder_inside)
        return;
    tv_recorder_inside++;
    tv_recorder_lock(&before);
    if (tv_recorder_takes_part(fiber) && tv_recorder.buffer.head->full == TV_RECORDING_STREAM) {
        tv_recorder_set_busy(fiber);
        tv_recorder_close_chunk(fiber);
        fiber->chunk_size = TV_BUFFER_CHUNK_MIN;
        tv_recorder_clear_busy(fiber);
    }
    tv_recorder_unlock(&before);
    tv_recorder_inside--;
}

void tv_recorder_end_fiber(struct tv_recorder_thread *fiber)
{
    if (!fiber->finished && !tv_recorder_inside)
        thread_end(fiber);
}

void tv_recording_end_thread(void)
{
    struct tv_recorder_thread *self = tv_recorder_self;
    if (self && !self->finished && !tv_recorder_inside)
        thread_end(self);
}

/*
 * ---- Fibers ----
 *
 * A fiber is a struct tv_recorder_thread like any other, so its events take the same path: a mount
 * puts the fiber in the place of the thread that carries it (tv_recorder_self), and an unmount puts
 * the carrier back.
 */

/* Counts tv_recording_forget_mounts; a thread's mount of an older epoch is void. */
static _Atomic uint32_t epoch = 1;

static __thread struct {
    uint32_t epoch; /* 0: no fiber is mounted */
    struct tv_recorder_thread *carrier;
} mounted __attribute__((tls_model("initial-exec")));

/* Put the carrier back in its place, whoever was there. */
static void fiber_restore_carrier(void)
{
    if (mounted.epoch != 0)
        tv_recorder_self = mounted.carrier;
    mounted.epoch = 0;
}

bool tv_recording_is_fiber(void)
{
    return mounted.epoch != 0 && mounted.epoch == atomic_load(&epoch);
}

void tv_recording_forget_mounts(void)
{
    atomic_fetch_add(&epoch, 1);
}

/* Return whether the recording that is on now records the fiber. */
static bool fiber_is_recorded(struct tv_recorder_thread *fiber)
{
    uint32_t on = tv_recorder_read_on();
    return fiber != NULL && !fiber->finished && tv_recorder_is_recording(on) &&
           tv_recorder_generation_of(fiber) == on;
}

void tv_recording_mount(struct tv_recorder_thread *fiber, uint32_t away)
{
    uint64_t word = (uint64_t)away << 2;
    fiber_restore_carrier();
    mounted.carrier = tv_recorder_self;
    mounted.epoch = atomic_load(&epoch);
    if (fiber != NULL && fiber->cpu)
        fiber->cpu_shift = (int64_t)tv_cpu_clock_ns() - fiber->cpu_left;
    tv_recorder_self = fiber;
    if (away != 0 && fiber_is_recorded(fiber) && fiber->deep_count == 0 &&
        atomic_load(&atomic_load(&fiber->top)->word) == word)
        tv_fast_leave(word | TV_MT_EXIT, 0, false);
}

struct tv_recorder_thread *tv_recording_unmount(uint32_t away)
{
    struct tv_recorder_thread *fiber = tv_recorder_self;
    if (!tv_recording_is_fiber()) {
        fiber_restore_carrier();
        return NULL;
    }
    if (away != 0 && fiber_is_recorded(fiber) && fiber->deep_count == 0)
        tv_fast_enter((uint64_t)away << 2, TV_FRAME_OFF_STACK);
    if (fiber != NULL && fiber->cpu)
        fiber->cpu_left = (int64_t)tv_recorder_cpu_ns(fiber);
    if (fiber_is_recorded(fiber))
        tv_recorder_flush_fiber(fiber);
    fiber_restore_carrier();
    return fiber;
}

void tv_recording_mix_fibers(void)
{
    sigset_t before;
    tv_recorder_lock(&before);
    tv_recorder.writer.mixes_fibers = true;
    tv_recorder_unlock(&before);
}

void tv_recording_end_fiber(struct tv_recorder_thread *fiber)
{
    if (fiber != NULL)
        tv_recorder_end_fiber(fiber);
}
