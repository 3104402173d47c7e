/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* pipe2 */
#include "base/program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

static void a_program_gets_its_words_and_descriptors(void **state)
{
    const char *const words[] = {"sh", "-c", "printf %s \"$1\"; exit 7", "sh", "a b", NULL};
    char text[16] = "";
    int ends[2], code = 0;
    pid_t process;
    (void)state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    const struct tv_program program = {.name = "sh",
                                       .words = words,
                                       .fds = (const struct tv_program_fd[]){{1, ends[1]}},
                                       .fd_count = 1};
    assert_int_equal(tv_program_start(&program, &process), 0);
    close(ends[1]);
    assert_int_equal(read(ends[0], text, sizeof text - 1), 3);
    assert_string_equal(text, "a b");
    close(ends[0]);
    assert_true(tv_program_wait(process, &code));
    assert_int_equal(code, 7);
}

static void a_program_starts_as_from_a_shell(void **state)
{
    /* its folder, its one variable, its group, and a signal that is blocked and ignored here */
    static const char script[] = "pwd; echo $VARIABLE; cat; echo lost >&2; "
                                 "test $(cut -d' ' -f5 /proc/$$/stat) = $$ && echo own; "
                                 "kill -PIPE $$";
    const char *const words[] = {"sh", "-c", script, NULL};
    const char *const environment[] = {"VARIABLE=value", "PATH=/usr/bin:/bin", NULL};
    char text[64] = "";
    int ends[2], code = 0;
    sigset_t pipe_signal, before;
    pid_t process;
    (void)state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    const struct tv_program program = {
        .name = "sh",
        .words = words,
        .environment = environment,
        .folder = "/",
        .fds = (const struct tv_program_fd[]){{0, -1}, {1, ends[1]}, {2, -1}},
        .fd_count = 3,
        .own_group = true};
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    assert_int_equal(sigprocmask(SIG_BLOCK, &pipe_signal, &before), 0);
    void (*handler)(int) = signal(SIGPIPE, SIG_IGN);
    assert_int_equal(tv_program_start(&program, &process), 0);
    signal(SIGPIPE, handler);
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    size_t used = 0;
    for (ssize_t got; (got = read(ends[0], text + used, sizeof text - 1 - used)) > 0;)
        used += (size_t)got;
    assert_string_equal(text, "/\nvalue\nown\n");
    close(ends[0]);
    assert_true(tv_program_wait(process, &code));
    assert_int_equal(code, 128 + SIGPIPE);
}

static void a_signal_ends_a_program_with_its_number(void **state)
{
    const char *const words[] = {"sh", "-c", "kill -9 $$", NULL};
    const struct tv_program program = {.name = "sh", .words = words};
    int code = 0;
    pid_t process;
    (void)state;
    assert_int_equal(tv_program_start(&program, &process), 0);
    assert_true(tv_program_wait(process, &code));
    assert_int_equal(code, 128 + 9);
    assert_false(tv_program_wait(process, &code)); /* it is gone */
    assert_int_equal(errno, ECHILD);
    assert_int_equal(code, 0);
    assert_false(tv_program_wait(process, NULL));
}

static void a_program_that_cannot_start_is_an_error(void **state)
{
    const char *const words[] = {"sh", NULL};
    struct tv_program program = {.name = "no-such-program", .words = words};
    pid_t process;
    (void)state;
    assert_int_equal(tv_program_start(&program, &process), ENOENT);
    program = (struct tv_program){.name = "sh", .words = words, .folder = "/no-such-folder"};
    assert_int_equal(tv_program_start(&program, &process), ENOENT);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* there is no child */
}

UNIT_TESTS(program, cmocka_unit_test(a_program_gets_its_words_and_descriptors),
           cmocka_unit_test(a_program_starts_as_from_a_shell),
           cmocka_unit_test(a_signal_ends_a_program_with_its_number),
           cmocka_unit_test(a_program_that_cannot_start_is_an_error));
