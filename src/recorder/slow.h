/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow.h - a recording that ends when a call of certain methods has lasted for long: what is in the
 * buffer then is what came before.
 *
 * The calls that count (chosen.h) are kept beside the thread's stack, with the times of their
 * begins: in a ring, the records of those may be forgotten.
 */
#ifndef TV_RECORDER_SLOW_H
#define TV_RECORDER_SLOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

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
