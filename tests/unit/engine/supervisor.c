/* SPDX-License-Identifier: Apache-2.0 */
/*
 * supervisor.c - how the end of a child is described.
 */
#include "engine/internal.h"

#include <signal.h>
#include <string.h>

#include "unit.h"

/* Wait statuses of Linux: an exit code in the second byte, a signal in the first. */
#define CODE(code) ((code) << 8)

static void assert_words(int status, bool out_of_memory, const char *words)
{
    struct tv_child_exit ending = {status, out_of_memory, UINT64_C(3) << 29, 7};
    struct tv_error error = {0};
    tv_child_exit_explain(&ending, &error);
    assert_int_equal(error.status, TV_ERR_LIMIT);
    assert_true(error.offset == TV_NO_OFFSET);
    if (!strstr(error.message, words))
        fail_msg("%s", error.message);
}

static void every_exit_is_explained(void **state)
{
    (void)state;
    assert_words(CODE(1), true, "more memory than its limit of 1.5 GiB");
    assert_words(CODE(3), false, "ended with code 3");
    assert_words(SIGKILL, false, "ended by signal 9");
    assert_words(SIGXCPU, false, "more than 7 seconds of processor time");
    assert_words(SIGSYS, false, "what the sandbox forbids");
    assert_words(SIGSEGV, false, "ended by signal 11 (Segmentation fault)");
    struct tv_child_exit small = {CODE(1), true, 5 << 20, 7};
    struct tv_error error = {0};
    tv_child_exit_explain(&small, &error);
    assert_non_null(strstr(error.message, "limit of 5 MiB"));
}

UNIT_TESTS(supervisor, cmocka_unit_test(every_exit_is_explained));
