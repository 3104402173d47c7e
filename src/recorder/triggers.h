/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chosen.h - which methods the options of a recording name: those that trigger it,
 * and those whose calls are timed.
 *
 * A method is looked at when it is called for the first time in a recording: its name is matched
 * then, and every later call finds the answer in a table, without a lock.  Of native code the host
 * reads the names of a whole file at once.
 */
#ifndef TV_RECORDER_TRIGGERS_H
#define TV_RECORDER_TRIGGERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a method is chosen for. */
#define TV_FILTER_TRIGGER 1u
#define TV_FILTER_TIMED 2u /* a call that lasts for long ends the recording (slow.h) */

/* Patterns of a new recording, as in recording.h; NULL: none.  The texts stay the caller's. */
void tv_method_filter_begin(const char *trigger, const char *timed);

/* Forget what was found out; no event is under way. */
void tv_method_filter_end(void);

/* What the method of an entry's word is chosen for: a sum of the above.  Within an event. */
unsigned tv_method_filter_lookup(uint64_t word);

/* For the host's answer (state.h, find_functions): the function at the address has this name, among
 * others.  */
void tv_method_filter_offer(uint64_t address, const char *name);

/* The name by which the method of an entry's word is chosen, on one line: of a function, the one
 * with its scopes.  The lock is held. */
void tv_method_filter_name(uint64_t word, char *name, size_t size);

/* Changes with each recording and each tv_method_filter_reset: offers of another round are void. */
uint32_t tv_method_filter_round(void);

/* Other code may lie where some was: look again at all that is called.  The lock is held. */
void tv_method_filter_reset(void);

/*
 * slow.h - a recording that ends when a call of certain methods has lasted for long: what is in the
 * buffer then is what came before.
 *
 * The calls that count (chosen.h) are kept beside the thread's stack, with the times of their
 * begins: in a ring, the records of those may be forgotten.
 */

struct tv_recorder_thread;

/* A call that is open. */
struct tv_slow_call {
    uint64_t word, start; /* start: in readings of the recording's clock */
    uint32_t open;        /* so many calls were open with it */
};

/* Of a thread. */
struct tv_slow_calls {
    struct tv_slow_call *list;
    uint32_t count, room;
};

/* What has ended the recording. */
struct tv_slow_trigger {
    _Atomic uint32_t state; /* 0: nothing has */
    uint32_t thread;        /* its number in the file */
    uint64_t word, ticks;   /* how long it took */
};

/* Within an event: the call of `word` is open, the last of so many. */
void tv_slow_call_enter(struct tv_recorder_thread *self, uint64_t word, uint32_t open);

/* Within an event: so many calls are open yet.  A call that took too long ends the recording. */
void tv_slow_call_leave(struct tv_recorder_thread *self, uint32_t open);

/* Say which call has ended the recording, and keep it for the file.  False: none has. */
bool tv_slow_call_report(void);

#endif
