/* SPDX-License-Identifier: Apache-2.0 */
/*
 * actions.c - signal and sigaction in a recorded program.
 *
 * A program may give a deadly signal its default back, to end by it: from its own handler, as the
 * C library's manual has it, or for a child's sake.  The file is to be there then too, so in place
 * of the default stands the recorder's handler, which a program never gets to see.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "recorder/native/actions.h"
#include "recorder/state.h"

/* A sanitizer has its own in this place. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER
#endif

#ifdef HAS_SANITIZER

void tv_signal_wrappers_init(void)
{
}

#else

void tv_signal_wrappers_init(void)
{
    void *symbol = dlsym(RTLD_NEXT, "sigaction");
    memcpy(&tv_recorder.sigaction, &symbol, sizeof symbol);
}

int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    struct sigaction changed;
    if (!tv_recorder.sigaction)
        tv_signal_wrappers_init();
    if (!tv_recorder.sigaction) {
        errno = ENOSYS;
        return -1;
    }
    if (action) {
        changed = *action;
        tv_watcher_replace_default(number, &changed);
    }
    int failed = tv_recorder.sigaction(number, action ? &changed : NULL, before);
    if (failed == 0 && before)
        tv_watcher_hide_handler(before);
    return failed;
}

/* As BSD has it, and so the C library. */
void (*signal(int number, void (*handler)(int)))(int)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, before;
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, number);
    return sigaction(number, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

#endif
