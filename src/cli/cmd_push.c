/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_push.c - `traceview push FILE --to URL`: sends traces to an upload server, goes on where a
 * broken connection ended, and prints the address of each.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/source.h"
#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/meter.h"
#include "cli/sender.h"

static const struct tv_option push_options[] = {
    TV_OPTION("to", "URL", TV_OPTION_TEXT, push.to, "the server: http://host:8192/"),
    TV_OPTION("label", "TEXT", TV_OPTION_LIST, push.labels,
              "put this label on the trace (may be given again)"),
    TV_OPTION("token", "TEXT", TV_OPTION_TEXT, push.token,
              "the server's token; better in a file, others see commands"),
    TV_OPTION("token-file", "FILE", TV_OPTION_TEXT, push.token_file, "the same from a file"),
    TV_OPTION("user", "NAME:PASSWORD", TV_OPTION_TEXT, push.user, "name and password instead"),
    TV_OPTION("q", NULL, TV_OPTION_FLAG, quiet, "no progress; errors still"),
    TV_OPTION("help", NULL, TV_OPTION_FLAG, help, "this text"),
    TV_OPTIONS_END,
};

/* Sends one file, prints where its trace is, and waits until the server has read it. */
static enum tv_status cmd_push_file(struct tv_sender *sender, const struct tv_settings *settings,
                           const char *path, struct tv_error *err)
{
    struct tv_source *file;
    struct tv_progress progress = {0};
    char *address = NULL;
    enum tv_status status = tv_inputs_open_argument(path, &file, err);
    if (status != TV_OK)
        return status;
    atomic_store(&progress.input_bytes, tv_source_size(file));
    atomic_store(&progress.total_bytes, tv_source_size(file));
    struct tv_meter *meter = tv_meter_start(&progress, settings->quiet);
    status = tv_sender_send(sender, file, tv_inputs_shown_name(path), &progress, &address, err);
    tv_meter_stop(meter);
    if (status == TV_OK) {
        puts(address);
        fflush(stdout);
        status = tv_sender_await(sender, address, err);
    }
    if (status != TV_OK)
        tv_error_prefix(err, "%s", path);
    tv_free(address);
    tv_source_free(file);
    return status;
}

static int cmd_push_run(const struct tv_command *command, const struct tv_settings *settings)
{
    struct tv_sender *sender;
    struct tv_error err = {0};
    const struct tv_words *files = &settings->files;
    if (settings->push.to == NULL) {
        tv_fail(&err, TV_ERR_USAGE, TV_NO_OFFSET, "expected --to URL");
        return tv_command_usage(command, &err);
    }
    if (tv_sender_new(&settings->push, &sender, &err) != TV_OK)
        return tv_command_failed(command, &err);
    int code = TV_EXIT_OK;
    for (size_t i = 0; i < files->count; i++) {
        if (tv_inputs_is_second_half(files->items, i))
            continue;
        if (cmd_push_file(sender, settings, files->items[i], &err) != TV_OK)
            code = tv_command_failed(command, &err);
    }
    tv_sender_free(sender);
    return code;
}

const struct tv_command tv_command_push = {
    .name = "push",
    .summary = "send traces to an upload server and print their addresses",
    .arguments = "[OPTION]... FILE...",
    .details = "A connection that breaks is taken up again where it ended.",
    .options = push_options,
    .min_files = 1,
    .max_files = TV_ANY_FILES,
    .run = cmd_push_run,
};
