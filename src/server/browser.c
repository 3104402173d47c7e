/* SPDX-License-Identifier: Apache-2.0 */
#include "server/browser.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <unistd.h>

extern char **environ;

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && value[0] != '\0';
}

/* No signal blocked, and a process group of its own: Ctrl-C is for us. */
static bool set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none;
    sigemptyset(&none);
    return posix_spawnattr_setsigmask(attributes, &none) == 0 &&
           posix_spawnattr_setpgroup(attributes, 0) == 0 &&
           posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP) ==
               0;
}

/* Browsers talk a lot. */
static bool set_files(posix_spawn_file_actions_t *files)
{
    return posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
           posix_spawn_file_actions_addopen(files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
           posix_spawn_file_actions_addopen(files, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0;
}

static bool spawn(char *const *words)
{
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t files;
    pid_t process;
    if (posix_spawnattr_init(&attributes) != 0)
        return false;
    bool done = posix_spawn_file_actions_init(&files) == 0;
    if (done) {
        done = set_attributes(&attributes) && set_files(&files) &&
               posix_spawnp(&process, words[0], &files, &attributes, words, environ) == 0;
        posix_spawn_file_actions_destroy(&files);
    }
    posix_spawnattr_destroy(&attributes);
    return done;
}

bool tv_browser_open(const char *address)
{
    if (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY"))
        return false;
    char program[] = "xdg-open";
    union { /* the words are not written to, whatever posix_spawnp's type says */
        const char *in;
        char *out;
    } word = {.in = address};
    char *words[] = {program, word.out, NULL};
    return spawn(words);
}
