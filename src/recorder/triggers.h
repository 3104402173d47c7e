/* SPDX-License-Identifier: Apache-2.0 */
/*
 * triggers.h - which methods the options of a recording name, and the slow call that ends it.
 *
 * The method filter matches the name of a method when it is called for the first time in a
 * recording. Every later call finds the answer in a table, without a lock.  For native code the
 * host reads the symbols of a whole file at once and offers them.
 */
#ifndef TV_RECORDER_TRIGGERS_H
#define TV_RECORDER_TRIGGERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reasons why a method is chosen. */
#define TV_FILTER_TRIGGER 1u
#define TV_FILTER_TIMED 2u /* a call that lasts too long ends the recording */

/* Begin with the patterns of a new recording, as in recording.h; NULL: none.  The texts stay the
 * caller's. */
void tv_method_filter_begin(const char *trigger, const char *timed);

/* Drop all answers.  No event is under way. */
void tv_method_filter_end(void);

/* Return what the method of an entry's word is chosen for: a sum of TV_FILTER_*.  In an event. */
unsigned tv_method_filter_lookup(uint64_t word);

/* Offer a name of the function at the address, among others.  The host's find_functions calls it
 * (state.h). */
void tv_method_filter_offer(uint64_t address, const char *name);

/* Return the name by which the method of an entry's word was chosen, on one line; of a function,
 * the name with its scopes.  The lock is held. */
void tv_method_filter_name(uint64_t word, char *name, size_t size);

/* Return the round, which changes with each recording and each reset.  Functions that were
 * offered in another round must be offered again. */
uint32_t tv_method_filter_round(void);

/* Match all methods again, as other code may be at the same addresses.  The lock is held. */
void tv_method_filter_reset(void);

/*
 * The slow-call trigger ends a recording when a call of certain methods has lasted for too long.  A
 * ring then holds what came before.
 *
 *     thread:   main ... handle() ........................ return: 312 ms >= limit
 *                        '- tv_slow_call_enter: note time     '- tv_slow_call_leave: end recording
 *     watcher:                                                   name the call, write the file
 *
 * The open calls that count are kept in a list beside the thread's stack, with their start times:
 * the ring may have overwritten their records.
 */

struct tv_recorder_thread;

/* An open call that is timed. */
struct tv_slow_call {
    uint64_t word, start; /* `start` is a reading of the recording's clock */
    uint32_t open;        /* number of open calls, this one included */
};

/* The timed calls of a thread, outermost first. */
struct tv_slow_calls {
    struct tv_slow_call *list;
    uint32_t count, room;
};

/* The call that has ended the recording. */
struct tv_slow_trigger {
    _Atomic uint32_t state; /* 0: no call has */
    uint32_t thread;        /* the id in the file */
    uint64_t word, ticks;   /* the duration */
};

/* In an event: the call of `word` has been pushed, the last of `open`. */
void tv_slow_call_enter(struct tv_recorder_thread *self, uint64_t word, uint32_t open);

/* In an event: `open` calls remain.  A timed call that took too long ends the recording. */
void tv_slow_call_leave(struct tv_recorder_thread *self, uint32_t open);

/* Print which call has ended the recording, and note it for the file.  False: none has. */
bool tv_slow_call_report(void);

#endif
