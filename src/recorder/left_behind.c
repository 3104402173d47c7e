/* SPDX-License-Identifier: Apache-2.0 */
/*
 * left_behind.c - see left_behind.h.
 *
 * While the handler runs, the interrupted hook is on the stack: above the asking one, and no higher
 * than the call on top of the thread's.  Where the asking hook is not below that call, the
 * interrupted one is gone.  Otherwise what the handler will return to, an address in our own code,
 * must lie between the two; where none does, it is gone too.
 */
#define _GNU_SOURCE
#include "recorder/left_behind.h"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PIECE 512u               /* words at a time */
#define FAR ((uintptr_t)4 << 20) /* so much of a stack is looked at */

/* The linker's: where this library, or program, begins, and where its code ends. */
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

static bool is_ours(uintptr_t word)
{
    return word >= (uintptr_t)__ehdr_start && word < (uintptr_t)etext;
}

/* By the kernel, since the stack may end on the way: then nothing more lies on it. */
static size_t read_stack(uintptr_t from, uintptr_t *words, size_t count)
{
    struct iovec here = {words, count * sizeof *words};
    struct iovec there = {(void *)from, count * sizeof *words}; // NOLINT: a place on the stack
    ssize_t got = process_vm_readv((pid_t)syscall(SYS_gettid), &here, 1, &there, 1, 0);
    return got > 0 ? (size_t)got / sizeof *words : 0;
}

static bool leads_to_us(uintptr_t from, uintptr_t to)
{
    uintptr_t words[PIECE], at = from & ~(uintptr_t)7;
    bool readable = false;
    while (at < to) {
        size_t most = (to - at) / sizeof *words < PIECE ? (to - at) / sizeof *words : PIECE;
        size_t count = read_stack(at, words, most);
        if (count == 0)
            return !readable || most == 0; /* the end of the stack; or it may not be read at all */
        readable = true;
        for (size_t i = 0; i < count; i++)
            if (is_ours(words[i]))
                return true;
        at += count * sizeof *words;
    }
    return false;
}

/* A handler may call much: it looks at the first of its calls, the second, the fourth ... */
static bool is_time_to_look(struct tv_recorder_thread *self)
{
    uint32_t busy = atomic_load(&self->busy);
    self->looks = self->looked_in == busy ? self->looks + 1 : 1;
    self->looked_in = busy;
    return (self->looks & (self->looks - 1)) == 0;
}

bool tv_recorder_clear_abandoned(struct tv_recorder_thread *self, uintptr_t frame)
{
    uintptr_t top = (uintptr_t)(atomic_load(&self->top)->key >> 16);
    if (frame == 0 || tv_recorder_inside || tv_recorder_is_on_signal_stack())
        return false;
    if (frame < top) {
        bool near = top - frame <= FAR;
        if (!is_time_to_look(self) || leads_to_us(frame, near ? top : frame + FAR))
            return false;
    }
    /* A record that is whole counts. */
    if (self->next && self->next < self->end && self->next[0] != 0)
        self->next += self->words;
    tv_recorder_clear_busy(self);
    return true;
}
