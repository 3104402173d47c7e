/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.c - what threads do now, by JVMTI: each at its next safepoint.  See agent.h. */
#include "recorder/agent/agent.h"

enum tv_agent_look tv_agent_stacks_take_one(const struct tv_agent_stacks *wanted, jint index)
{
    jvmtiEnv *jvmti = tv_agent.jvmti;
    jthread thread = wanted->threads[index];
    jint depth = 0;
    if (thread == NULL || (*jvmti)->GetStackTrace(jvmti, thread, 0, wanted->depth, wanted->frames,
                                                  &depth) != JVMTI_ERROR_NONE)
        return TV_AGENT_LOOK_NONE;
    if (depth == 0)
        return TV_AGENT_LOOK_EMPTY;
    wanted->take(wanted->context, index, wanted->frames, depth);
    return TV_AGENT_LOOK_DONE;
}

void tv_agent_stacks_take(const struct tv_agent_stacks *wanted)
{
    if (tv_agent_agct_take(wanted))
        return;
    for (jint i = 0; i < wanted->count; i++)
        (void)tv_agent_stacks_take_one(wanted, i);
}
