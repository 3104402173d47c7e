/* SPDX-License-Identifier: Apache-2.0 */
/* agent_help.c - prints what the agent's option "help" does, without a JVM. */
#include "recorder/agent/options.h"

int main(void)
{
    tv_agent_options_help(stdout);
    return 0;
}
