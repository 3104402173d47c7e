/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_help.c - the same texts as --help, asked for by word.
 */
#include "cli/command.h"

static const struct tv_option help_options[] = {
    TV_OPTION("help", NULL, TV_OPTION_FLAG, help, "this text"),
    TV_OPTIONS_END,
};

static int cmd_help_run(const struct tv_command *command, const struct tv_settings *settings)
{
    if (settings->files.count == 0)
        return tv_command_print_help(&tv_command_view);
    const struct tv_command *asked = tv_commands_find(settings->files.items[0]);
    if (asked)
        return tv_command_print_help(asked);
    struct tv_error err = {0};
    const struct tv_command *near = tv_commands_near(settings->files.items[0]);
    tv_fail(&err, TV_ERR_USAGE, TV_NO_OFFSET, "there is no command '%s'%s%s%s",
            settings->files.items[0], near ? " (did you mean '" : "", near ? near->name : "",
            near ? "'?)" : "");
    return tv_command_usage(command, &err);
}

const struct tv_command tv_command_help = {
    .name = "help",
    .summary = "what there is, or a command's options",
    .arguments = "[COMMAND]",
    .options = help_options,
    .min_files = 0,
    .max_files = 1,
    .run = cmd_help_run,
};
