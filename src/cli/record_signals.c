/* SPDX-License-Identifier: Apache-2.0 */
/* record_signals.c - see record_signals.h. */
#include "cli/record_signals.h"

#include <errno.h>
#include <stddef.h>
#include <sys/signalfd.h>

static const int ending_signals[TV_RECORD_SIGNALS] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

/* The one that signals are passed on to: handlers have no other way to know. */
static pid_t signal_receiver;

static void record_pass_signal_on(int number, siginfo_t *info, void *unused)
{
    int error = errno;
    (void)unused;
    if (info->si_code != SI_KERNEL)
        kill(signal_receiver, number);
    errno = error;
}

void tv_record_signals_block(struct tv_record_signal_state *before)
{
    sigset_t ours;
    sigemptyset(&ours);
    for (size_t i = 0; i < TV_RECORD_SIGNALS; i++)
        sigaddset(&ours, ending_signals[i]);
    sigprocmask(SIG_BLOCK, &ours, &before->mask);
}

void tv_record_signals_unblock(const struct tv_record_signal_state *before)
{
    sigprocmask(SIG_SETMASK, &before->mask, NULL);
}

void tv_record_signals_pass_on(struct tv_record_signal_state *before, pid_t child)
{
    signal_receiver = child;
    for (size_t i = 0; i < TV_RECORD_SIGNALS; i++) {
        struct sigaction action = {.sa_sigaction = record_pass_signal_on,
                                   .sa_flags = SA_RESTART | SA_SIGINFO};
        sigaction(ending_signals[i], &action, &before->actions[i]);
    }
    tv_record_signals_unblock(before);
}

void tv_record_signals_restore(const struct tv_record_signal_state *before)
{
    for (size_t i = 0; i < TV_RECORD_SIGNALS; i++)
        sigaction(ending_signals[i], &before->actions[i], NULL);
}

int tv_record_signals_watch(sigset_t *blocked)
{
    struct sigaction now;
    sigemptyset(blocked);
    sigaddset(blocked, SIGINT);
    sigaddset(blocked, SIGTERM);
    if (sigaction(SIGHUP, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
        sigaddset(blocked, SIGHUP);
    sigprocmask(SIG_BLOCK, blocked, NULL);
    return signalfd(-1, blocked, SFD_CLOEXEC | SFD_NONBLOCK);
}
