/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

int main(int argc, char **argv)
{
    return tv_commands_main(argc, argv);
}
