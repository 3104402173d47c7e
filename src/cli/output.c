/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/inputs.h"
#include "cli/symbols.h"

static const char *name_of(const struct tv_output *output)
{
    return output->path ? output->path : "standard output";
}

static enum tv_status write_all(void *context, struct tv_bytes bytes, struct tv_error *err)
{
    struct tv_output *output = context;
    while (bytes.length > 0) {
        ssize_t written = write(output->descriptor, bytes.data, bytes.length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", name_of(output),
                           strerror(errno));
        bytes.data += written;
        bytes.length -= (size_t)written;
        atomic_fetch_add(&output->progress.bytes, (uint64_t)written);
    }
    return TV_OK;
}

static bool is_same_file(const struct stat *output, const char *path)
{
    struct stat input;
    return stat(path, &input) == 0 && input.st_dev == output->st_dev &&
           input.st_ino == output->st_ino;
}

/* Both files of a split trace, as inputs are named (inputs.h). */
static bool is_trace(const struct stat *output, const char *name)
{
    struct tv_inputs_files files;
    return tv_inputs_find_files(name, &files) &&
           (is_same_file(output, files.first) ||
            (files.second[0] != '\0' && is_same_file(output, files.second)));
}

/* Of a word of --symbols. */
static bool is_program(const struct stat *output, const char *word)
{
    char path[4096];
    return tv_symbols_path(word, path, sizeof path) && is_same_file(output, path);
}

enum tv_status tv_output_check(const char *path, const struct tv_settings *settings,
                               struct tv_error *err)
{
    struct stat output;
    if (!path || strcmp(path, "-") == 0 || stat(path, &output) != 0 || !S_ISREG(output.st_mode))
        return TV_OK;
    bool input = settings->mapping && is_same_file(&output, settings->mapping);
    for (size_t i = 0; i < settings->files.count && !input; i++)
        input = is_trace(&output, settings->files.items[i]);
    for (size_t i = 0; i < settings->symbols.count && !input; i++)
        input = is_program(&output, settings->symbols.items[i]);
    if (input)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--output: '%s' is the input: name another file", path);
    return TV_OK;
}

enum tv_status tv_output_open(struct tv_output *output, const char *path, bool quiet,
                              struct tv_error *err)
{
    *output = (struct tv_output){.descriptor = STDOUT_FILENO};
    output->path = path && strcmp(path, "-") != 0 ? path : NULL;
    if (output->path)
        output->descriptor = open(output->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (output->descriptor < 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", path, strerror(errno));
    tv_out_init(&output->out, write_all, output);
    output->meter = tv_meter_start(&output->progress, quiet || isatty(output->descriptor));
    return TV_OK;
}

enum tv_status tv_output_open_binary(struct tv_output *output, const char *path, bool quiet,
                                     struct tv_error *err)
{
    if ((!path || strcmp(path, "-") == 0) && isatty(STDOUT_FILENO))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "standard output is a terminal: name a file with --output");
    return tv_output_open(output, path, quiet, err);
}

enum tv_status tv_output_close(struct tv_output *output, struct tv_error *err)
{
    enum tv_status status = tv_out_finish(&output->out, err);
    tv_meter_stop(output->meter);
    tv_out_release(&output->out);
    if (!output->path)
        return status;
    if (close(output->descriptor) != 0 && status == TV_OK)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", output->path, strerror(errno));
    return status;
}
