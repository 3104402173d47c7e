/* SPDX-License-Identifier: Apache-2.0 */
/*
 * child.c - fork, and read what the child says.
 */
#include "unit.h"

#include "child.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Under AddressSanitizer, too, an allocation that is too large returns NULL.  The name of this hook
 * is fixed. */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static void read_all(int fd, char *text)
{
    size_t length = 0;
    ssize_t n;
    while ((n = read(fd, text + length, CHILD_TEXT - 1 - length)) > 0)
        length += (size_t)n;
    text[length] = '\0';
}

int child_run(void (*work)(void), char *text)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        work();
        _Exit(0);
    }
    close(ends[1]);
    read_all(ends[0], text);
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

void child_must_run_out_of_memory(void (*work)(void))
{
    char text[CHILD_TEXT];
    assert_int_equal(child_run(work, text), 1);
    /* The last line on standard error; AddressSanitizer prints its own lines before it. */
    const char *line = "traceview: out of memory\n";
    assert_true(strlen(text) >= strlen(line));
    assert_string_equal(text + strlen(text) - strlen(line), line);
}
