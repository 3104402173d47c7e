/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_recover.c - the traces of recorded programs that were killed, from their spool folder.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "cli/command.h"
#include "cli/native_names.h"
#include "recorder/recording.h"

#define PREFIX "traceview-"
#define SUFFIX ".spool"

static const struct tv_option options[] = {
    TV_OPTION("output", "FILE", TV_OPTION_TEXT, output,
              "the trace (default: the one that the recording was for)"),
    TV_OPTION("o", "FILE", TV_OPTION_TEXT, output, "the same"),
    TV_OPTION("q", NULL, TV_OPTION_FLAG, quiet, "print nothing but errors"),
    TV_OPTION("help", NULL, TV_OPTION_FLAG, help, "this text"),
    TV_OPTIONS_END,
};

/* The length of "traceview-PID" in "traceview-PID.spool"; 0: the file has another name. */
static size_t stem_of(const char *name)
{
    size_t length = strlen(name);
    if (length < sizeof PREFIX SUFFIX || strncmp(name, PREFIX, sizeof PREFIX - 1) != 0)
        return 0;
    size_t stem = length - (sizeof SUFFIX - 1);
    return strcmp(name + stem, SUFFIX) == 0 ? stem : 0;
}

/* Of what it is that went wrong: the spool, the names beside it, or the trace that was written. */
static enum tv_status tell(int failed, const char *spool, const char *names, const char *path,
                           struct tv_error *err)
{
    if (failed == -EBUSY)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: its process still runs", spool);
    if (failed == -EINVAL)
        return tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET, "%s: no spool, or a damaged one", spool);
    const char *what = path[0] ? path : access(names, R_OK) != 0 ? names : spool;
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", what, tv_recording_error(failed));
}

static enum tv_status recover(const struct tv_settings *settings, const char *folder,
                              const char *name, struct tv_error *err)
{
    char spool[TV_RECOVER_PATH], names[TV_RECOVER_PATH], path[TV_RECOVER_PATH];
    struct tv_recording_info info;
    snprintf(spool, sizeof spool, "%s/%s", folder, name);
    snprintf(names, sizeof names, "%s/%.*s.names", folder, (int)stem_of(name), name);
    int failed = tv_recorder_recover(spool, names, settings->output, path, &info);
    if (failed != 0)
        return tell(failed, spool, names, path, err);
    enum tv_status status = tv_native_names_resolve(path, err);
    if (status != TV_OK)
        return status;
    if (!settings->quiet)
        printf("%s: %" PRIu64 " %s of %u %s\n", path, info.records,
               tv_plural(info.records, "record", "records"), info.threads,
               tv_plural(info.threads, "thread", "threads"));
    if (info.lost > 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "%s: %" PRIu64 " %s missing, for the streamed file is cut or gone; "
                       "the spool stays",
                       path, info.lost, tv_plural(info.lost, "record is", "records are"));
    unlink(spool);
    unlink(names);
    return TV_OK;
}

static enum tv_status recover_all(const struct tv_settings *settings, const char *folder,
                                  struct tv_error *err)
{
    struct dirent *entry;
    enum tv_status status = TV_OK;
    struct tv_error later;
    size_t found = 0;
    DIR *files = opendir(folder);
    if (!files)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", folder, strerror(errno));
    /* The first error is told; it keeps nobody from the others. */
    while ((entry = readdir(files))) {
        if (stem_of(entry->d_name) == 0)
            continue;
        if (found++ > 0 && settings->output) {
            status = tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                             "%s: several recordings do not go into one --output", folder);
            break;
        }
        enum tv_status one =
            recover(settings, folder, entry->d_name, status == TV_OK ? err : &later);
        status = status == TV_OK ? one : status;
    }
    closedir(files);
    if (status == TV_OK && found == 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: no " PREFIX "*" SUFFIX, folder);
    return status;
}

static int run(const struct tv_command *command, const struct tv_settings *settings)
{
    struct tv_error err = {0};
    if (recover_all(settings, settings->files.items[0], &err) != TV_OK)
        return tv_command_failed(command, &err);
    return TV_EXIT_OK;
}

const struct tv_command tv_command_recover = {
    .name = "recover",
    .summary = "the traces of recorded programs that were killed, from their spool folder",
    .arguments = "[OPTION]... DIR",
    .details = NULL,
    .options = options,
    .min_files = 1,
    .max_files = 1,
    .run = run,
};
