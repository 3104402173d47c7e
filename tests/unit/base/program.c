/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* pipe2 */
#include "base/program.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

static int give_output(posix_spawnattr_t *attributes, posix_spawn_file_actions_t *files, int pipe)
{
    (void)attributes;
    return posix_spawn_file_actions_adddup2(files, pipe, STDOUT_FILENO);
}

static int refuse(posix_spawnattr_t *attributes, posix_spawn_file_actions_t *files, int pipe)
{
    (void)attributes;
    (void)files;
    (void)pipe;
    return EMFILE;
}

static void a_program_gets_its_words_and_descriptors(void **state)
{
    char name[] = "sh", option[] = "-c", script[] = "printf %s \"$1\"; exit 7", word[] = "a b";
    char *words[] = {name, option, script, name, word, NULL};
    char text[16] = "";
    int ends[2], code = 0;
    pid_t process;
    (void)state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(tv_program_start("sh", words, give_output, ends[1], &process), 0);
    close(ends[1]);
    assert_int_equal(read(ends[0], text, sizeof text - 1), 3);
    assert_string_equal(text, "a b");
    close(ends[0]);
    assert_true(tv_program_wait(process, &code));
    assert_int_equal(code, 7);
}

static void a_signal_ends_a_program_with_its_number(void **state)
{
    char name[] = "sh", option[] = "-c", script[] = "kill -9 $$";
    char *words[] = {name, option, script, NULL};
    int code = 0;
    pid_t process;
    (void)state;
    assert_int_equal(tv_program_start("sh", words, NULL, -1, &process), 0);
    assert_true(tv_program_wait(process, &code));
    assert_int_equal(code, 128 + 9);
    assert_false(tv_program_wait(process, &code)); /* it is gone */
    assert_int_equal(errno, ECHILD);
    assert_int_equal(code, 0);
    assert_false(tv_program_wait(process, NULL));
}

static void a_program_that_cannot_start_is_an_error(void **state)
{
    char name[] = "sh";
    char *words[] = {name, NULL};
    pid_t process;
    (void)state;
    assert_int_equal(tv_program_start("no-such-program", words, give_output, 1, &process), ENOENT);
    assert_int_equal(tv_program_start("sh", words, refuse, -1, &process), EMFILE);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* there is no child */
}

UNIT_TESTS(program, cmocka_unit_test(a_program_gets_its_words_and_descriptors),
           cmocka_unit_test(a_signal_ends_a_program_with_its_number),
           cmocka_unit_test(a_program_that_cannot_start_is_an_error));
