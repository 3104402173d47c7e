/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chosen.h - which methods the options of a recording name: those that trigger it,
 * and those whose calls are timed.
 *
 * A method is looked at when it is called for the first time in a recording: its name is matched
 * then, and every later call finds the answer in a table, without a lock.  Of native code the host
 * reads the names of a whole file at once.
 */
#ifndef TV_RECORDER_CHOSEN_H
#define TV_RECORDER_CHOSEN_H

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

#endif
