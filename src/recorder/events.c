/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.c - the slow path of events: a thread's first one, a full chunk, another clock, a filter,
 * calls that were left without an exit.
 *
 * The shadow stack of open calls shows which calls an exception or a longjmp has left.  Their
 * frames have keys, places on the native stack, which grow towards callers:
 *
 *     before          after
 *     main  9000      main  9000      A new call has key 7000.  f and g are at or below its place,
 *     f     7000      new   7000      so both are gone.  They get TV_MT_UNROLL records.
 *     g     5000
 *
 * Calls are also unrolled when a call below them is left or catches an exception.  Calls deeper
 * than TV_FRAMES_MAX are kept as words without keys, which only the thread itself reads.
 *
 * With a trigger, the stack also shows whether a call is open that has recording switched on; other
 * calls are frames without records.
 *
 * An event can be abandoned: a handler that interrupted it leaves by siglongjmp.  See
 * tv_recorder_clear_abandoned at the end.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "recorder/fast_path.h"
#include "recorder/memory.h"
#include "recorder/state.h"
#include "recorder/triggers.h"

#define DEEP_FIRST ((size_t)64 << 10)
#define DEEP_MADE UINT64_C(1)
#define PAUSE_LOOK_NS 100000L

/* A thread that another one waits for must not wait itself: neither the recorder's own threads
 * nor one in an event. */
static bool event_may_wait(void)
{
    struct tv_recorder_thread *self = tv_recorder_self;
    return !tv_recorder_inside && !(self && (atomic_load(&self->busy) & 1));
}

static uint32_t event_wait_for_resume(void)
{
    const struct timespec wait = {0, PAUSE_LOOK_NS};
    int error = errno;
    uint32_t on = TV_ON_PAUSED;
    while (on == TV_ON_PAUSED && event_may_wait()) {
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
    return TV_UNLIKELY(on == TV_ON_PAUSED) ? event_wait_for_resume() : on;
}

/* Begin an event; NULL: nothing is to be recorded, or a pause began in between. */
static struct tv_recorder_thread *event_try_begin(uintptr_t frame)
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

/* Begin an event, after a pause if there is one; NULL: nothing is to be recorded.  Otherwise the
 * thread is in an event until tv_recorder_clear_busy. */
static struct tv_recorder_thread *event_begin(uintptr_t frame)
{
    struct tv_recorder_thread *self = event_try_begin(frame);
    while (!self && atomic_load(&tv_recorder.on) == TV_ON_PAUSED && event_may_wait())
        self = event_try_begin(frame);
    return self;
}

static bool event_is_recorded(const struct tv_recorder_thread *self)
{
    return self->is_recorded && (!tv_recorder.triggers || self->trigger_depth != 0);
}

/* Store a record, unless a filter leaves it out.  Without a chunk to store it in, it is counted as
 * dropped. */
static void event_put_record(struct tv_recorder_thread *self, uint64_t word)
{
    assert(atomic_load(&self->busy) & 1);
    if (!event_is_recorded(self))
        return;
    if (self->next >= self->end && !tv_recorder_next_chunk(self)) {
        atomic_fetch_add(&self->dropped, 1);
        return;
    }
    uint64_t *at = self->next;
    if (self->is_fast && atomic_load(&self->limit) == 0)
        tv_recorder_set_limit(self); /* a pause has cleared it */
    at[1] = self->wall ? tv_clock_read(self->counter) : tv_recorder_cpu_ns(self);
    if (self->wall && self->cpu)
        at[2] = tv_recorder_cpu_ns(self);
    /* In this order, a handler that jumps away in between leaves no gap.  A gap ends its chunk for
     * the writer of the file, and every later record of the chunk would be lost. */
    __atomic_store_n(at, word, __ATOMIC_RELEASE);
    self->next = at + self->words;
}

/* Take back the entry of a call that was too short to be kept.  That is the last record, unless
 * a call within it was long enough.  In a stream the entry may be in the file already; then the
 * call stays. */
static bool event_drop_short_call(struct tv_recorder_thread *self, uint64_t entered)
{
    const struct tv_trace_buffer *buffer = &tv_recorder.buffer;
    if (tv_recorder.min_duration == 0 || !event_is_recorded(self) || self->chunk == 0 ||
        self->next <= tv_trace_buffer_record(buffer, buffer->chunks[self->chunk - 1].first))
        return false;
    uint64_t *last = self->next - self->words;
    uint64_t now = self->wall ? tv_clock_read(self->counter) : tv_recorder_cpu_ns(self);
    if (*last != entered || now - last[1] >= tv_recorder.min_duration)
        return false;
    __atomic_store_n(last, 0, __ATOMIC_RELEASE);
    self->next = last;
    return true;
}

static void event_put_exit(struct tv_recorder_thread *self, uint64_t word)
{
    if (!event_drop_short_call(self, word & ~(uint64_t)TV_MT_ACTION_MASK))
        event_put_record(self, word);
}

static uint32_t event_count_open(struct tv_recorder_thread *self)
{
    return tv_recorder_depth_of(self) + self->deep_count;
}

/* The call of `word` has been pushed: does it trigger, is it timed? */
static void event_call_pushed(struct tv_recorder_thread *self, uint64_t word)
{
    bool can_trigger = tv_recorder.triggers && self->trigger_depth == 0;
    if (!self->is_recorded || (!can_trigger && tv_recorder.slow_limit == 0))
        return;
    unsigned chosen = tv_method_filter_lookup(word);
    if (can_trigger && (chosen & TV_FILTER_TRIGGER))
        self->trigger_depth = event_count_open(self);
    if (chosen & TV_FILTER_TIMED)
        tv_slow_call_enter(self, word, event_count_open(self));
}

/* Calls have been popped and their exits recorded: end the trigger and timed calls. */
static void event_calls_popped(struct tv_recorder_thread *self)
{
    if (self->trigger_depth > event_count_open(self))
        self->trigger_depth = 0;
    if (self->slow.count > 0)
        tv_slow_call_leave(self, event_count_open(self));
}

/* A handler's jump may abandon this function at any place, so the old memory stays valid until
 * the new one is in use. */
static bool deep_stack_grow(struct tv_recorder_thread *self)
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

/* Push a call. A stack that is deeper than its frames goes on in a list of words, and beyond its
 * memory only in a count. */
static void event_push_call(struct tv_recorder_thread *self, uint64_t word, uint64_t key)
{
    if (self->top != self->last) {
        tv_frame_push(self, self->top, word, key);
        return;
    }
    if (self->deep_count == self->deep_known &&
        (self->deep_known < self->deep_room || deep_stack_grow(self)))
        self->deep[self->deep_known++] = word;
    self->deep_count++;
    tv_recorder_set_limit(self);
}

static void event_unroll_top(struct tv_recorder_thread *self)
{
    assert(self->top >= self->frames);
    event_put_exit(self, self->top->word | TV_MT_UNROLL);
    self->top--;
    event_calls_popped(self);
}

/* Unroll the deep calls but for the first `count`. */
static void event_unroll_deep(struct tv_recorder_thread *self, uint32_t count)
{
    while (self->deep_known > count) {
        event_put_exit(self, (self->deep[--self->deep_known] & ~DEEP_MADE) | TV_MT_UNROLL);
        self->deep_count = self->deep_known;
        event_calls_popped(self);
    }
    self->deep_count = self->deep_known;
    tv_recorder_set_limit(self);
}

/* Is it a call of `word`, past its super() call if `made`? */
static bool frame_is_call(const struct tv_recorder_frame *call, uint64_t word, bool made)
{
    return call->word == word && (!made || call->key == TV_FRAME_CONSTRUCTED);
}

static bool deep_is_call(uint64_t deep, uint64_t word, bool made)
{
    return made ? deep == (word | DEEP_MADE) : (deep & ~DEEP_MADE) == word;
}

/* Unroll the calls above the innermost call of `word`; when there is none, all calls if `all`,
 * else none.  Return whether there is one. */
static bool event_unroll_to(struct tv_recorder_thread *self, uint64_t word, bool made, bool all)
{
    uint32_t deep = self->deep_known;
    struct tv_recorder_frame *call = self->top;
    while (deep > 0 && !deep_is_call(self->deep[deep - 1], word, made))
        deep--;
    while (deep == 0 && call >= self->frames && !frame_is_call(call, word, made))
        call--;
    bool found = call >= self->frames;
    if (!found && !all)
        return false;
    if (self->deep_count > deep)
        event_unroll_deep(self, deep);
    while (self->top != call)
        event_unroll_top(self);
    return found;
}

/* Leave a call: calls above it that were left without an exit are unrolled first. */
static void event_leave_call(struct tv_recorder_thread *self, uint64_t word)
{
    uint64_t entered = word & ~(uint64_t)TV_MT_ACTION_MASK;
    if (self->deep_count == self->deep_known)
        (void)event_unroll_to(self, entered, false, false);
    if (self->deep_count > self->deep_known) {
        self->deep_count--; /* a call without a known word */
    } else if (self->deep_known > 0) {
        self->deep_known -= deep_is_call(self->deep[self->deep_known - 1], entered, false);
        self->deep_count = self->deep_known;
    } else if (self->top->word == entered) {
        self->top--;
    }
    if (self->deep_count == 0)
        tv_recorder_set_limit(self);
    event_put_exit(self, word);
    event_calls_popped(self);
}

/* Unroll the calls whose part of the stack is gone.  The deep calls went with the last frame. */
static void event_unroll_gone(struct tv_recorder_thread *self, uint64_t key)
{
    if (self->deep_count > 0 && tv_fast_is_gone(self->top, key))
        event_unroll_deep(self, 0);
    while (tv_fast_is_gone(self->top, key))
        event_unroll_top(self);
}

/* A thread that keeps its stack only, without a recording, has a fast path too. */
static inline bool fast_push_only(uint64_t word, uint64_t key)
{
    uint32_t on = atomic_load_explicit(&tv_recorder.on, memory_order_relaxed);
    struct tv_recorder_thread *self = tv_fast_begin(on);
    return self && tv_fast_end(self, !self->is_recorded && tv_fast_push(self, word, key));
}

static inline bool fast_pop_only(uint64_t word, uintptr_t frame, bool tail)
{
    uint32_t on = atomic_load_explicit(&tv_recorder.on, memory_order_relaxed);
    struct tv_recorder_thread *self = tv_fast_begin(on);
    return self && tv_fast_end(self, !self->is_recorded && self->deep_count == 0 &&
                                         tv_fast_pop(self, word, frame, tail));
}

void tv_slow_path_enter(uint64_t word, uint64_t key)
{
    if (fast_push_only(word, key))
        return;
    struct tv_recorder_thread *self =
        event_begin(key == TV_FRAME_OFF_STACK ? 0 : (uintptr_t)(key >> 16));
    if (!self)
        return;
    if (key != TV_FRAME_OFF_STACK && tv_fast_is_gone(self->top, key)) {
        if (tv_recorder_is_on_signal_stack())
            key = tv_fast_key(0, (uintptr_t)(key & 0xFFFF));
        else
            event_unroll_gone(self, key);
    }
    event_push_call(self, word, key);
    event_call_pushed(self, word);
    event_put_record(self, word);
    tv_recorder_clear_busy(self);
}

/* Unroll the calls above the one that is left. */
static void event_unroll_above(struct tv_recorder_thread *self, uintptr_t frame, bool tail)
{
    struct tv_recorder_frame *call = self->top;
    uint64_t least = (uint64_t)frame << 16;
    /* The sentinel frames[-1] has the largest key. */
    while (call->key < least)
        call--;
    if (tail && call != self->top)
        call++;
    if (call != self->top && tv_recorder_is_on_signal_stack())
        return;
    if (call != self->top && self->deep_count > 0)
        event_unroll_deep(self, 0);
    while (self->top != call)
        event_unroll_top(self);
}

void tv_slow_path_leave(uint64_t word, uintptr_t frame, bool tail)
{
    if (fast_pop_only(word, frame, tail))
        return;
    struct tv_recorder_thread *self = event_begin(frame);
    if (!self)
        return;
    if (frame != 0)
        event_unroll_above(self, frame, tail);
    event_leave_call(self, word);
    tv_recorder_clear_busy(self);
}

void tv_recorder_unroll_all(void)
{
    uint32_t on = tv_recorder_read_on();
    struct tv_recorder_thread *self = tv_recorder_self;
    if (on == 0 || !self || tv_recorder_generation_of(self) != on || !(self = event_begin(0)))
        return;
    if (self->deep_count > 0)
        event_unroll_deep(self, 0);
    while (self->top >= self->frames)
        event_unroll_top(self);
    tv_recorder_clear_busy(self);
}

/* Make the innermost call of `word` the current one: unroll the calls above it, or all calls
 * when it is not open.  Then mark it as constructed, if wanted. */
static void event_return_to(uint64_t word, bool made, bool mark)
{
    uint32_t on = atomic_load_explicit(&tv_recorder.on, memory_order_relaxed);
    if (TV_UNLIKELY(on == TV_ON_PAUSED))
        on = tv_recorder_read_on();
    struct tv_recorder_thread *self = tv_recorder_self;
    /* A thread that has not joined the recording has no calls in it. */
    if (on == 0 || !self || tv_recorder_generation_of(self) != on)
        return;
    struct tv_recorder_frame *top = atomic_load_explicit(&self->top, memory_order_relaxed);
    if (self->deep_count == 0 && !mark && (top < self->frames || frame_is_call(top, word, made)))
        return;
    self = event_begin(0);
    if (!self)
        return;
    if (self->deep_count == self->deep_known && event_unroll_to(self, word, made, true) && mark) {
        if (self->deep_known > 0)
            self->deep[self->deep_known - 1] |= DEEP_MADE;
        else
            atomic_store_explicit(&self->top->key, TV_FRAME_CONSTRUCTED, memory_order_relaxed);
    }
    tv_recorder_clear_busy(self);
}

void tv_recorder_method_caught(uint64_t word)
{
    event_return_to(word, false, false);
}

void tv_recorder_super_returned(uint64_t word)
{
    event_return_to(word, false, true);
}

void tv_recorder_constructor_caught(uint64_t word)
{
    event_return_to(word, true, false);
}

/* Number 0 is no method: there was no memory for it. */

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

/*
 * ---- Abandoned events ----
 *
 * A busy thread enters a hook.  Either a handler has interrupted its event and calls functions
 * itself, or the event was abandoned by siglongjmp and the thread has gone on.
 *
 *     stack, growing down
 *
 *       call on top (its key)    In the first case, the interrupted hook is still on the stack,
 *       interrupted hook         between the topmost call and the asking hook.  Its code will be
 *       signal frame             returned to, so an address of this library must be there.  In the
 *       asking hook (frame)      second case there is none, or the asking hook is above the
 *                                topmost call.
 */

#define STACK_PIECE_WORDS 512u              /* words read at a time */
#define STACK_SCAN_MAX ((uintptr_t)4 << 20) /* bytes of a stack to search */

/* Set by the linker: the beginning of this library or program, and the end of its code. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

bool tv_recorder_is_on_signal_stack(void)
{
    stack_t stack;
    return sigaltstack(NULL, &stack) == 0 && (stack.ss_flags & SS_ONSTACK);
}

void tv_recorder_block_signals(sigset_t *before)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP};
    sigset_t all;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_BLOCK, &all, before);
}

void tv_recorder_unblock_signals(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

static bool address_is_own_code(uintptr_t word)
{
    return word >= (uintptr_t)__ehdr_start && word < (uintptr_t)etext;
}

/* Read by a system call, since the stack may end on the way. */
static size_t stack_read_words(uintptr_t from, uintptr_t *words, size_t count)
{
    struct iovec here = {words, count * sizeof *words};
    struct iovec there = {(void *)from, count * sizeof *words}; // NOLINT: a place on the stack
    ssize_t got = process_vm_readv((pid_t)syscall(SYS_gettid), &here, 1, &there, 1, 0);
    return got > 0 ? (size_t)got / sizeof *words : 0;
}

/* Look for a return address of the recorder between two places of the stack: then a hook is still
 * to return there, and its event is not abandoned.  True also when the stack cannot be read, as
 * that is the safe answer. */
static bool stack_has_own_return(uintptr_t from, uintptr_t to)
{
    uintptr_t words[STACK_PIECE_WORDS], at = from & ~(uintptr_t)7;
    bool readable = false;
    while (at < to) {
        size_t most = (to - at) / sizeof *words < STACK_PIECE_WORDS ? (to - at) / sizeof *words
                                                                    : STACK_PIECE_WORDS;
        size_t count = stack_read_words(at, words, most);
        if (count == 0)
            return !readable || most == 0; /* the stack ended; or memory may not be read at all */
        readable = true;
        for (size_t i = 0; i < count; i++)
            if (address_is_own_code(words[i]))
                return true;
        at += count * sizeof *words;
    }
    return false;
}

/* A handler may make many calls, so check at its first, second, fourth, eighth ... call. */
static bool abandoned_check_is_due(struct tv_recorder_thread *self)
{
    uint32_t busy = atomic_load(&self->busy);
    self->abandoned_checks = self->abandoned_busy == busy ? self->abandoned_checks + 1 : 1;
    self->abandoned_busy = busy;
    return (self->abandoned_checks & (self->abandoned_checks - 1)) == 0;
}

bool tv_recorder_clear_abandoned(struct tv_recorder_thread *self, uintptr_t frame)
{
    uintptr_t top = (uintptr_t)(atomic_load(&self->top)->key >> 16);
    if (frame == 0 || tv_recorder_inside || tv_recorder_is_on_signal_stack())
        return false;
    if (frame < top) {
        bool near = top - frame <= STACK_SCAN_MAX;
        if (!abandoned_check_is_due(self) ||
            stack_has_own_return(frame, near ? top : frame + STACK_SCAN_MAX))
            return false;
    }
    /* A record with a word is whole and stays. */
    if (self->next && self->next < self->end && self->next[0] != 0)
        self->next += self->words;
    tv_recorder_clear_busy(self);
    return true;
}
