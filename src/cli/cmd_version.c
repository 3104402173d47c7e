/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_version.c - which traceview this is.
 */
#include "cli/command.h"
#include "cli/output.h"
#include "engine/sandbox.h"

static const struct tv_option version_options[] = {
    TV_OPTION("help", NULL, TV_OPTION_FLAG, help, "this text"),
    TV_OPTIONS_END,
};

/* Name the parts of the sandbox that commands run in (confine.h). */
static void cmd_version_write_sandbox(struct tv_out *out, unsigned parts)
{
    tv_out_text(out, "sandbox: ");
    if (parts == 0)
        tv_out_text(out, "none");
    if (parts & TV_SANDBOX_LANDLOCK)
        tv_out_text(out, "landlock");
    if (parts & TV_SANDBOX_SECCOMP)
        tv_out_text(out, parts & TV_SANDBOX_LANDLOCK ? ", seccomp" : "seccomp");
    tv_out_char(out, '\n');
}

static int cmd_version_run(const struct tv_command *command, const struct tv_settings *settings)
{
    struct tv_output output;
    struct tv_error err = {0};
    (void)settings;
    if (tv_output_open(&output, NULL, true, &err) != TV_OK)
        return tv_command_failed(command, &err);
    tv_out_text(&output.out, "traceview " TV_VERSION "\n");
    cmd_version_write_sandbox(&output.out, tv_sandbox_available());
    if (tv_output_close(&output, &err) != TV_OK)
        return tv_command_failed(command, &err);
    return TV_EXIT_OK;
}

const struct tv_command tv_command_version = {
    .name = "version",
    .summary = "the version",
    .arguments = "",
    .options = version_options,
    .min_files = 0,
    .max_files = 0,
    .run = cmd_version_run,
};
