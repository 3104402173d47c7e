/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* pipe2, environ */
#include "cli/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "cli/confine.h"

/* A command with one of these characters is run by a shell; any other is a program with its
 * arguments. */
#define FOR_SHELLS "|&;<>()$`\\\"'*?[#~=%\n\t"
#define MOST_WORDS 32
#define CONFINED_PAGER 1 /* for one that is the broker's child */

/* The command of the pager, or NULL. */
static const char *pager_choose(void)
{
    static const char *const variables[] = {"TRACEVIEW_PAGER", "PAGER"};
    const char *command = NULL;
    for (size_t i = 0; i < TV_COUNT(variables) && !command; i++)
        command = getenv(variables[i]);
    if (!command)
        command = "less";
    return command[strspn(command, " ")] == '\0' || strcmp(command, "cat") == 0 ? NULL : command;
}

/* The words of a command, which is changed for it; a command for a shell is one of its words. */
static void pager_split_command(char *command, char **words)
{
    static char shell[] = "sh", option[] = "-c";
    size_t count = 0;
    if (strpbrk(command, FOR_SHELLS)) {
        words[0] = shell;
        words[1] = option;
        words[2] = command;
        words[3] = NULL;
        return;
    }
    while (*command && count < MOST_WORDS) {
        command += strspn(command, " ");
        if (*command)
            words[count++] = command;
        command += strcspn(command, " ");
        if (*command)
            *command++ = '\0';
    }
    words[count] = NULL;
}

/* The pager has the signals that we leave to it. */
static bool pager_reset_signals(posix_spawnattr_t *attributes)
{
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGQUIT);
    sigaddset(&ours, SIGPIPE);
    return posix_spawnattr_setsigdefault(attributes, &ours) == 0 &&
           posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF) == 0;
}

static bool pager_spawn(char *const *words, int input, pid_t *process)
{
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t files;
    if (posix_spawnattr_init(&attributes) != 0)
        return false;
    bool done = posix_spawn_file_actions_init(&files) == 0;
    if (done) {
        done = pager_reset_signals(&attributes) &&
               posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO) == 0 &&
               posix_spawnp(process, words[0], &files, &attributes, words, environ) == 0;
        posix_spawn_file_actions_destroy(&files);
    }
    posix_spawnattr_destroy(&attributes);
    return done;
}

/* Until the pager is gone. Signals that would end us would leave the terminal to two programs. */
static void pager_ignore_signals(void)
{
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
}

bool tv_pager_start(int *descriptor, pid_t *process)
{
    if (tv_is_confined()) {
        int ours = tv_confined_pager_start();
        if (ours < 0)
            return false;
        pager_ignore_signals();
        *descriptor = ours;
        *process = CONFINED_PAGER;
        return true;
    }
    const char *command = pager_choose();
    char *words[MOST_WORDS + 1];
    int ends[2];
    if (!command || pipe2(ends, O_CLOEXEC) != 0)
        return false;
    setenv("LESS", "FRX", 0); /* leave when one screen is enough; colours; the screen stays */
    setenv("LV", "-c", 0);    /* lv, another pager: colours */
    size_t length = strlen(command) + 1;
    char *own = tv_alloc(length, 1);
    memcpy(own, command, length);
    pager_split_command(own, words);
    bool started = pager_spawn(words, ends[0], process);
    tv_free(own);
    close(ends[0]);
    if (!started) {
        close(ends[1]);
        return false;
    }
    pager_ignore_signals();
    *descriptor = ends[1];
    return true;
}

void tv_pager_finish(int descriptor, pid_t process)
{
    close(descriptor);
    if (tv_is_confined()) {
        tv_confined_pager_finish();
        return;
    }
    while (waitpid(process, NULL, 0) < 0 && errno == EINTR)
        ;
}
