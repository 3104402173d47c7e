/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/ending.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

static void explain_memory(const struct tv_ending *ending, struct tv_error *error)
{
    double mega = (double)ending->memory_bytes / (1 << 20);
    if (mega >= 1024)
        tv_fail(error, TV_ERR_LIMIT, TV_NO_OFFSET,
                "it needed more memory than its limit of %.1f GiB", mega / 1024);
    else
        tv_fail(error, TV_ERR_LIMIT, TV_NO_OFFSET,
                "it needed more memory than its limit of %.0f MiB", mega);
}

static void explain_signal(const struct tv_ending *ending, int number, struct tv_error *error)
{
    switch (number) {
    case SIGKILL:
        tv_fail(error, TV_ERR_LIMIT, TV_NO_OFFSET,
                "ended by signal 9 (killed): the machine may have run out of memory");
        break;
    case SIGXCPU:
        tv_fail(error, TV_ERR_LIMIT, TV_NO_OFFSET, "it took more than %u seconds of processor time",
                ending->load_seconds);
        break;
    case SIGSYS:
        tv_fail(error, TV_ERR_LIMIT, TV_NO_OFFSET,
                "ended by signal %d: it tried what the sandbox forbids", number);
        break;
    default:
        tv_fail(error, TV_ERR_LIMIT, TV_NO_OFFSET,
                "ended by signal %d (%s), which is a fault of this program", number,
                strsignal(number));
        break;
    }
}

void tv_ending_explain(const struct tv_ending *ending, struct tv_error *error)
{
    if (ending->out_of_memory)
        explain_memory(ending, error);
    else if (WIFSIGNALED(ending->status))
        explain_signal(ending, WTERMSIG(ending->status), error);
    else
        tv_fail(error, TV_ERR_LIMIT, TV_NO_OFFSET, "ended with code %d before its time",
                WEXITSTATUS(ending->status));
}
