/* SPDX-License-Identifier: Apache-2.0 */
/*
 * left_behind.h - events that never end.
 *
 * A handler that interrupts an event can leave by siglongjmp: the event's thread says that it is in
 * one for ever.  That must be told from the calls of a handler that will return to the event, whose
 * records must not come between those that are being written.
 */
#ifndef TV_RECORDER_LEFT_BEHIND_H
#define TV_RECORDER_LEFT_BEHIND_H

#include <signal.h>

#include "recorder/state.h"

/* Has the event that the thread is in been left for good?  Then the thread is in none afterwards.
 * For the calling thread, with the place on its stack of the hook that asks; of what does not lie
 * there (0) nothing is known.  True is certain; false can also mean that it cannot be seen. */
bool tv_recorder_clear_abandoned(struct tv_recorder_thread *self, uintptr_t frame);

/* Is this a handler on a stack of its own?  Where that lies says nothing. */
bool tv_recorder_is_on_signal_stack(void);

/* Nobody can leave by siglongjmp until the signals are given back: for who holds a lock. */
void tv_recorder_block_signals(sigset_t *before);
void tv_recorder_unblock_signals(const sigset_t *before);

#endif
