/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.c - a call's begin or end when it is not as simple as in quick.h: the thread's first one,
 * no room left, another clock, calls that were left without saying so.
 *
 * Where calls of certain methods trigger, the stack of open calls tells whether one of them is
 * open, and the others are frames alone.
 *
 * The stack of open calls tells which of them an exception or a longjmp has left: they are unrolled
 * when a call below them is left or catches, or when a new frame lies where theirs did.  Of calls
 * beyond the frames the words alone are kept, for the thread itself.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "recorder/chosen.h"
#include "recorder/left_behind.h"
#include "recorder/pages.h"
#include "recorder/quick.h"

#define DEEP_FIRST ((size_t)64 << 10)
#define DEEP_MADE UINT64_C(1)
#define PAUSE_LOOK_NS 100000L

/* What is recorded while others wait for this thread would be waited for in vain. */
static bool may_wait(void)
{
    struct tv_recorder_thread *self = tv_recorder_self;
    return !tv_recorder_inside && !(self && (atomic_load(&self->busy) & 1));
}

static uint32_t wait_for_end_of_pause(void)
{
    const struct timespec wait = {0, PAUSE_LOOK_NS};
    int error = errno;
    uint32_t on = TV_ON_PAUSED;
    while (on == TV_ON_PAUSED && may_wait()) {
        nanosleep(&wait, NULL);
        on = atomic_load(&tv_recorder.on);
    }
    errno = error;
    return on == TV_ON_PAUSED ? 0 : on;
}

uint32_t tv_recorder_read_on(void)
{
    uint32_t on = atomic_load(&tv_recorder.on);
    if (TV_UNLIKELY(on == TV_ON_WAITING)) {
        tv_recorder_begin_at_first_call();
        on = atomic_load(&tv_recorder.on);
    }
    return TV_UNLIKELY(on == TV_ON_PAUSED) ? wait_for_end_of_pause() : on;
}

/* NULL: nothing is to be recorded, or a pause has come in between. */
static struct tv_recorder_thread *try_event(uintptr_t frame)
{
    uint32_t on = tv_recorder_read_on();
    if (on == 0)
        return NULL;
    struct tv_recorder_thread *self = tv_recorder_self;
    if (self && (atomic_load(&self->busy) & 1))
        (void)tv_recorder_clear_abandoned(self, frame);
    if ((!self || atomic_load(&self->generation) != on) && !(self = tv_recorder_attach(on)))
        return NULL;
    if (atomic_load(&self->busy) & 1) {
        atomic_fetch_add(&self->dropped, 1);
        return NULL;
    }
    tv_recorder_set_busy(self);
    if (atomic_load(&tv_recorder.on) == on)
        return self;
    tv_recorder_clear_busy(self);
    return NULL;
}

/* NULL: nothing is to be recorded.  Otherwise the thread is in an event until tv_recorder_clear_busy.
 */
static struct tv_recorder_thread *begin_event(uintptr_t frame)
{
    struct tv_recorder_thread *self = try_event(frame);
    while (!self && atomic_load(&tv_recorder.on) == TV_ON_PAUSED && may_wait())
        self = try_event(frame);
    return self;
}

static bool is_recorded(const struct tv_recorder_thread *self)
{
    return self->records && (!tv_recorder.triggers || self->triggered != 0);
}

static void put(struct tv_recorder_thread *self, uint64_t word)
{
    if (!is_recorded(self))
        return;
    if (self->next >= self->end && !tv_recorder_next_chunk(self)) {
        atomic_fetch_add(&self->dropped, 1);
        return;
    }
    uint64_t *at = self->next;
    if (self->quick && atomic_load(&self->limit) == 0)
        tv_recorder_set_limit(self); /* a pause has taken it away */
    self->next = at + self->words;
    at[1] = self->wall ? tv_clock_read(self->counter) : tv_recorder_cpu_ns(self);
    if (self->wall && self->cpu)
        at[2] = tv_recorder_cpu_ns(self);
    __atomic_store_n(at, word, __ATOMIC_RELEASE);
}

/* Take back the entry of a call that was too short to be kept.  It is the last record unless a call
 * within it was long enough; a stream may have written it already, and then the call stays. */
static bool drop_short(struct tv_recorder_thread *self, uint64_t entered)
{
    const struct tv_trace_buffer *area = &tv_recorder.area;
    if (tv_recorder.least == 0 || !is_recorded(self) || self->chunk == 0 ||
        self->next <= tv_trace_buffer_record(area, area->chunks[self->chunk - 1].first))
        return false;
    uint64_t *last = self->next - self->words;
    uint64_t now = self->wall ? tv_clock_read(self->counter) : tv_recorder_cpu_ns(self);
    if (*last != entered || now - last[1] >= tv_recorder.least)
        return false;
    __atomic_store_n(last, 0, __ATOMIC_RELEASE);
    self->next = last;
    return true;
}

static void put_exit_record(struct tv_recorder_thread *self, uint64_t word)
{
    if (!drop_short(self, word & ~(uint64_t)TV_MT_ACTION_MASK))
        put(self, word);
}

static uint32_t count_open(struct tv_recorder_thread *self)
{
    return tv_recorder_depth_of(self) + self->over;
}

/* The call of `word` has come onto the stack. */
static void look_at_new(struct tv_recorder_thread *self, uint64_t word)
{
    bool can_trigger = tv_recorder.triggers && self->triggered == 0;
    if (!self->records || (!can_trigger && tv_recorder.slow == 0))
        return;
    unsigned chosen = tv_method_filter_lookup(word);
    if (can_trigger && (chosen & TV_FILTER_TRIGGER))
        self->triggered = count_open(self);
    if (chosen & TV_FILTER_TIMED)
        tv_slow_call_enter(self, word, count_open(self));
}

/* Calls have gone from the stack, and their ends are recorded. */
static void look_at_gone(struct tv_recorder_thread *self)
{
    if (self->triggered > count_open(self))
        self->triggered = 0;
    if (self->slow.count > 0)
        tv_slow_call_leave(self, count_open(self));
}

/* A jump out of a signal handler may leave this for ever at any place. */
static bool make_room(struct tv_recorder_thread *self)
{
    size_t size = self->deep_room * sizeof *self->deep, wider = size == 0 ? DEEP_FIRST : 2 * size;
    uint64_t *old = self->deep, *deep = tv_mmap_alloc(wider);
    if (!deep)
        return false;
    if (old)
        memcpy(deep, old, size);
    self->deep = deep;
    self->deep_room = (uint32_t)(wider / sizeof *deep);
    tv_mmap_free(old, size);
    return true;
}

static void push(struct tv_recorder_thread *self, uint64_t word, uint64_t key)
{
    if (self->top != self->last) {
        tv_frame_push(self, self->top, word, key);
        return;
    }
    if (self->over == self->known && (self->known < self->deep_room || make_room(self)))
        self->deep[self->known++] = word;
    self->over++;
    tv_recorder_set_limit(self);
}

static void unroll(struct tv_recorder_thread *self)
{
    put_exit_record(self, self->top->word | TV_MT_UNROLL);
    self->top--;
    look_at_gone(self);
}

/* Leaves the calls beyond the frames, but for the first `count`. */
static void unroll_deep(struct tv_recorder_thread *self, uint32_t count)
{
    while (self->known > count) {
        put_exit_record(self, (self->deep[--self->known] & ~DEEP_MADE) | TV_MT_UNROLL);
        self->over = self->known;
        look_at_gone(self);
    }
    self->over = self->known;
    tv_recorder_set_limit(self);
}

/* Is it a call of `word`, and past super() if that is asked? */
static bool is_call(const struct tv_recorder_frame *call, uint64_t word, bool made)
{
    return call->word == word && (!made || call->key == TV_FRAME_CONSTRUCTED);
}

static bool is_deep_call(uint64_t deep, uint64_t word, bool made)
{
    return made ? deep == (word | DEEP_MADE) : (deep & ~DEEP_MADE) == word;
}

/* Leaves the calls above the nearest entry of `word`; false: there is none. */
static bool unroll_to(struct tv_recorder_thread *self, uint64_t word, bool made, bool all)
{
    uint32_t deep = self->known;
    struct tv_recorder_frame *call = self->top;
    while (deep > 0 && !is_deep_call(self->deep[deep - 1], word, made))
        deep--;
    while (deep == 0 && call >= self->frames && !is_call(call, word, made))
        call--;
    bool found = call >= self->frames;
    if (!found && !all)
        return false;
    if (self->over > deep)
        unroll_deep(self, deep);
    while (self->top != call)
        unroll(self);
    return found;
}

static void leave(struct tv_recorder_thread *self, uint64_t word)
{
    uint64_t entered = word & ~(uint64_t)TV_MT_ACTION_MASK;
    if (self->over == self->known)
        (void)unroll_to(self, entered, false, false);
    if (self->over > self->known) {
        self->over--; /* one of which nothing is known */
    } else if (self->known > 0) {
        self->known -= is_deep_call(self->deep[self->known - 1], entered, false);
        self->over = self->known;
    } else if (self->top->word == entered) {
        self->top--;
    }
    if (self->over == 0)
        tv_recorder_set_limit(self);
    put_exit_record(self, word);
    look_at_gone(self);
}

/* True: some calls are on a part of the stack that is gone, and are unrolled.  Those that are
 * deeper than the frames went with the last. */
static void unroll_gone(struct tv_recorder_thread *self, uint64_t key)
{
    if (self->over > 0 && tv_fast_is_gone(self->top, key))
        unroll_deep(self, 0);
    while (tv_fast_is_gone(self->top, key))
        unroll(self);
}

/* Where nothing is recorded a call is a frame, and that is quick too. */
static inline bool push_only(uint64_t word, uint64_t key)
{
    uint32_t on = atomic_load_explicit(&tv_recorder.on, memory_order_relaxed);
    struct tv_recorder_thread *self = tv_fast_begin(on);
    return self && tv_fast_end(self, !self->records && tv_fast_push(self, word, key));
}

static inline bool pop_only(uint64_t word, uintptr_t frame, bool tail)
{
    uint32_t on = atomic_load_explicit(&tv_recorder.on, memory_order_relaxed);
    struct tv_recorder_thread *self = tv_fast_begin(on);
    return self && tv_fast_end(self, !self->records && self->over == 0 &&
                                          tv_fast_pop(self, word, frame, tail));
}

void tv_slow_path_enter(uint64_t word, uint64_t key)
{
    if (push_only(word, key))
        return;
    struct tv_recorder_thread *self =
        begin_event(key == TV_FRAME_OFF_STACK ? 0 : (uintptr_t)(key >> 16));
    if (!self)
        return;
    if (key != TV_FRAME_OFF_STACK && tv_fast_is_gone(self->top, key)) {
        if (tv_recorder_is_on_signal_stack())
            key = tv_fast_key(0, (uintptr_t)(key & 0xFFFF));
        else
            unroll_gone(self, key);
    }
    push(self, word, key);
    look_at_new(self, word);
    put(self, word);
    tv_recorder_clear_busy(self);
}

/* Those above the call that is left. */
static void unroll_above(struct tv_recorder_thread *self, uintptr_t frame, bool tail)
{
    struct tv_recorder_frame *call = self->top;
    uint64_t least = (uint64_t)frame << 16;
    /* The key of frames[-1] is not less than any. */
    while (call->key < least)
        call--;
    if (tail && call != self->top)
        call++;
    if (call != self->top && tv_recorder_is_on_signal_stack())
        return;
    if (call != self->top && self->over > 0)
        unroll_deep(self, 0);
    while (self->top != call)
        unroll(self);
}

void tv_slow_path_leave(uint64_t word, uintptr_t frame, bool tail)
{
    if (pop_only(word, frame, tail))
        return;
    struct tv_recorder_thread *self = begin_event(frame);
    if (!self)
        return;
    if (frame != 0)
        unroll_above(self, frame, tail);
    leave(self, word);
    tv_recorder_clear_busy(self);
}

void tv_recorder_unroll_all(void)
{
    uint32_t on = tv_recorder_read_on();
    struct tv_recorder_thread *self = tv_recorder_self;
    if (on == 0 || !self || tv_recorder_generation_of(self) != on || !(self = begin_event(0)))
        return;
    if (self->over > 0)
        unroll_deep(self, 0);
    while (self->top >= self->frames)
        unroll(self);
    tv_recorder_clear_busy(self);
}

/* The call of `word` is the one that runs: those above it are left, or all when it is none of them.
 * Then it is marked, if wanted. */
static void come_back(uint64_t word, bool made, bool mark)
{
    uint32_t on = atomic_load_explicit(&tv_recorder.on, memory_order_relaxed);
    if (TV_UNLIKELY(on == TV_ON_PAUSED))
        on = tv_recorder_read_on();
    struct tv_recorder_thread *self = tv_recorder_self;
    /* A thread that has no part in the recording has no calls in it. */
    if (on == 0 || !self || tv_recorder_generation_of(self) != on)
        return;
    struct tv_recorder_frame *top = atomic_load_explicit(&self->top, memory_order_relaxed);
    if (self->over == 0 && !mark && (top < self->frames || is_call(top, word, made)))
        return;
    self = begin_event(0);
    if (!self)
        return;
    if (self->over == self->known && unroll_to(self, word, made, true) && mark) {
        if (self->known > 0)
            self->deep[self->known - 1] |= DEEP_MADE;
        else
            atomic_store_explicit(&self->top->key, TV_FRAME_CONSTRUCTED, memory_order_relaxed);
    }
    tv_recorder_clear_busy(self);
}

void tv_recorder_method_caught(uint64_t word)
{
    come_back(word, false, false);
}

void tv_recorder_super_returned(uint64_t word)
{
    come_back(word, false, true);
}

void tv_recorder_constructor_caught(uint64_t word)
{
    come_back(word, true, false);
}

/* 0 is no method: there was no memory for it. */

void tv_recording_enter(uint32_t method)
{
    if (method != 0)
        tv_fast_enter((uint64_t)method << 2, TV_FRAME_OFF_STACK);
}

void tv_recording_leave(uint32_t method, enum tv_mt_action action)
{
    if (method != 0)
        tv_fast_leave((uint64_t)method << 2 | action, 0, false);
}

void tv_recording_enter_address(const void *function, const void *site, const void *frame)
{
    tv_fast_enter(tv_fast_word(function), tv_fast_key((uintptr_t)frame, (uintptr_t)site));
}

void tv_recording_leave_address(const void *function, const void *frame, bool tail)
{
    tv_fast_leave(tv_fast_word(function) | TV_MT_EXIT, (uintptr_t)frame, tail);
}
