/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fast_path.h - what runs at every call when nothing special happens: about twenty instructions and
 * one reading of the counter.  Hosts' entry points inline it.  Everything else goes to events.c,
 * which begins the event anew.
 *
 *     on != 0 ?  generation == on ?  busy even ?     the thread takes part and is in no event
 *     next < limit ?                                 there is room, and the fast path is allowed
 *     push or pop a frame, store {word, counter}, busy += 1
 *
 * `limit` is 0 for threads that may not take the fast path: another clock, a filter, calls deeper
 * than the frames, or a stop.  So one comparison covers all of these and a full chunk.
 */
#ifndef TV_RECORDER_QUICK_H
#define TV_RECORDER_QUICK_H

#include "recorder/state.h"

#define TV_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define TV_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define TV_INLINE static inline __attribute__((always_inline))

/* The slow path (events.c), for every case. */
__attribute__((noinline)) void tv_slow_path_enter(uint64_t word, uint64_t key);
__attribute__((noinline)) void tv_slow_path_leave(uint64_t word, uintptr_t frame, bool tail);

/* The method of `word` has caught an exception: unroll the calls above it.  When it is no open
 * call, it is older than the recording and all calls are unrolled. */
void tv_recorder_method_caught(uint64_t word);

/* The super() call of the constructor of `word` has returned.  What the constructor catches from
 * then on is told by tv_recorder_constructor_caught: within super() it may have constructed its
 * own class, whose call has thrown and is to be unrolled. */
void tv_recorder_super_returned(uint64_t word);
void tv_recorder_constructor_caught(uint64_t word);

/* Return where a native call is on the stack, with 16 bits of its return address; larger for
 * callers. */
TV_INLINE uint64_t tv_fast_key(uintptr_t frame, uintptr_t site)
{
    return (uint64_t)frame << 16 | (site & 0xFFFF);
}

TV_INLINE uint64_t tv_fast_word(const void *function)
{
    return TV_WORD_ADDRESS | (uint64_t)(uintptr_t)function << 2;
}

/* Does `key` show that the call's part of the stack is gone?  Functions that were inlined into
 * another share its frame and its return address. */
TV_INLINE bool tv_fast_is_gone(const struct tv_recorder_frame *call, uint64_t key)
{
    uint64_t other = atomic_load_explicit(&call->key, memory_order_relaxed);
    return TV_UNLIKELY(other <= (key | 0xFFFF)) && other != key;
}

/* Is the topmost call the one that is left, by its frame?  The hook of a `tail` call runs when
 * the frame is gone already, so then the caller's frame must be above. */
TV_INLINE bool tv_fast_is_left(const struct tv_recorder_frame *top, uintptr_t frame, bool tail)
{
    uint64_t least = (uint64_t)frame << 16;
    return atomic_load_explicit(&top->key, memory_order_relaxed) >= least ||
           (tail && atomic_load_explicit(&top[-1].key, memory_order_relaxed) >= least);
}

/* Begin an event.  Return NULL when the fast path is not possible; the thread is then outside of
 * any event, and the caller takes the slow path. */
TV_INLINE struct tv_recorder_thread *tv_fast_begin(uint32_t on)
{
    struct tv_recorder_thread *self = tv_recorder_self;
    if (TV_UNLIKELY(!self) ||
        TV_UNLIKELY(atomic_load_explicit(&self->generation, memory_order_relaxed) != on))
        return NULL;
    uint32_t busy = atomic_load_explicit(&self->busy, memory_order_relaxed);
    if (TV_UNLIKELY(busy & 1))
        return NULL;
    atomic_store_explicit(&self->busy, busy + 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    return self;
}

TV_INLINE bool tv_fast_end(struct tv_recorder_thread *self, bool is_done)
{
    uint32_t busy = atomic_load_explicit(&self->busy, memory_order_relaxed);
    atomic_store_explicit(&self->busy, busy + 1, memory_order_release);
    return is_done;
}

/* Is there room for a record, and the right to store it?  The stop may clear `next` just now,
 * but it clears the limit first. */
TV_INLINE bool tv_fast_has_room(struct tv_recorder_thread *self)
{
    uintptr_t next = (uintptr_t)__atomic_load_n(&self->next, __ATOMIC_RELAXED);
    return TV_LIKELY(next < atomic_load_explicit(&self->limit, memory_order_acquire));
}

TV_INLINE void tv_fast_record(struct tv_recorder_thread *self, uint64_t word)
{
    uint64_t *at = self->next;
    at[1] = tv_clock_counter();
    /* Store the word last: a record with a word is whole, also in the spool of a killed process. */
    __atomic_store_n(at, word, __ATOMIC_RELEASE);
    self->next = at + 2;
}

/* In an event. */
TV_INLINE bool tv_fast_push(struct tv_recorder_thread *self, uint64_t word, uint64_t key)
{
    struct tv_recorder_frame *top = atomic_load_explicit(&self->top, memory_order_relaxed);
    if (TV_UNLIKELY(top == self->last) || (key != TV_FRAME_OFF_STACK && tv_fast_is_gone(top, key)))
        return false;
    tv_frame_push(self, top, word, key);
    return true;
}

TV_INLINE bool tv_fast_pop(struct tv_recorder_thread *self, uint64_t word, uintptr_t frame,
                           bool tail)
{
    struct tv_recorder_frame *top = atomic_load_explicit(&self->top, memory_order_relaxed);
    uint64_t entered = word & ~(uint64_t)TV_MT_ACTION_MASK;
    if (TV_UNLIKELY(atomic_load_explicit(&top->word, memory_order_relaxed) != entered) ||
        TV_UNLIKELY(frame != 0 && !tv_fast_is_left(top, frame, tail)))
        return false;
    atomic_store_explicit(&self->top, top - 1, memory_order_release);
    return true;
}

TV_INLINE bool tv_fast_try_enter(uint32_t on, uint64_t word, uint64_t key)
{
    struct tv_recorder_thread *self = tv_fast_begin(on);
    if (!self)
        return false;
    if (!tv_fast_has_room(self) || !tv_fast_push(self, word, key))
        return tv_fast_end(self, false);
    tv_fast_record(self, word);
    return tv_fast_end(self, true);
}

TV_INLINE bool tv_fast_try_leave(uint32_t on, uint64_t word, uintptr_t frame, bool tail)
{
    struct tv_recorder_thread *self = tv_fast_begin(on);
    if (!self)
        return false;
    if (!tv_fast_has_room(self) || !tv_fast_pop(self, word, frame, tail))
        return tv_fast_end(self, false);
    tv_fast_record(self, word);
    return tv_fast_end(self, true);
}

/* `key` is TV_FRAME_OFF_STACK for calls without a frame on the native stack. */
TV_INLINE void tv_fast_enter(uint64_t word, uint64_t key)
{
    uint32_t on = atomic_load_explicit(&tv_recorder.on, memory_order_relaxed);
    if (on != 0 && !tv_fast_try_enter(on, word, key))
        tv_slow_path_enter(word, key);
}

/* `word` includes the action; `frame` is 0 for calls without a frame on the native stack. */
TV_INLINE void tv_fast_leave(uint64_t word, uintptr_t frame, bool tail)
{
    uint32_t on = atomic_load_explicit(&tv_recorder.on, memory_order_relaxed);
    if (on != 0 && !tv_fast_try_leave(on, word, frame, tail))
        tv_slow_path_leave(word, frame, tail);
}

#endif
