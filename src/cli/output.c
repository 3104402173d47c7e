/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/inputs.h"
#include "cli/message.h"
#include "cli/pager.h"
#include "cli/symbols.h"

static const char *output_name(const struct tv_output *output)
{
    return output->path ? output->path : "standard output";
}

static enum tv_status output_write_bytes(void *context, struct tv_bytes bytes, struct tv_error *err)
{
    struct tv_output *output = context;
    while (bytes.length > 0) {
        ssize_t written = write(output->descriptor, bytes.data, bytes.length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && errno == EPIPE && output->screen.pager > 0)
            return TV_OK; /* the user has seen enough */
        if (written < 0)
            return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", output_name(output),
                           strerror(errno));
        bytes.data += written;
        bytes.length -= (size_t)written;
        atomic_fetch_add(&output->progress.bytes, (uint64_t)written);
    }
    return TV_OK;
}

/* ---- On a terminal ---- */

/* Count the lines of the screen that the text takes, where long ones are wrapped. */
static void output_count_lines(struct tv_output_screen *screen, struct tv_bytes bytes)
{
    uint32_t width = screen->layout.width > 0 ? screen->layout.width : UINT32_MAX;
    for (size_t i = 0; i < bytes.length && screen->lines < screen->rows; i++) {
        uint8_t c = bytes.data[i];
        screen->in_colour |= c == '\033'; /* a sequence that ends with "m" takes no room */
        bool shown = c != '\n' && !screen->in_colour && (c & 0xc0) != 0x80;
        bool full = shown && screen->columns == width;
        screen->in_colour &= c != 'm';
        screen->lines += c == '\n' || full;
        screen->columns = c == '\n' || full ? shown : screen->columns + shown;
    }
}

static enum tv_status output_write_held(struct tv_output *output, struct tv_error *err)
{
    struct tv_out *held = &output->screen.held;
    output->screen.rows = 0;
    enum tv_status status = output_write_bytes(output, (struct tv_bytes){held->buffer, held->length}, err);
    tv_out_release(held);
    return status;
}

static enum tv_status output_write_to_screen(void *context, struct tv_bytes bytes, struct tv_error *err)
{
    struct tv_output *output = context;
    struct tv_output_screen *screen = &output->screen;
    if (screen->rows == 0)
        return output_write_bytes(output, bytes, err);
    tv_out_bytes(&screen->held, bytes);
    output_count_lines(screen, bytes);
    if (screen->lines < screen->rows)
        return TV_OK;
    (void)tv_pager_start(&output->descriptor, &screen->pager);
    return output_write_held(output, err);
}

/* ---- Files ---- */

static bool output_is_same_file(const struct stat *output, const char *path)
{
    struct stat input;
    return stat(path, &input) == 0 && input.st_dev == output->st_dev &&
           input.st_ino == output->st_ino;
}

/* Both files of a split trace, as inputs are named (inputs.h). */
static bool output_is_trace(const struct stat *output, const char *name)
{
    struct tv_inputs_files files;
    return tv_inputs_find_files(name, &files) &&
           (output_is_same_file(output, files.first) ||
            (files.second[0] != '\0' && output_is_same_file(output, files.second)));
}

/* Of a word of --symbols. */
static bool output_is_symbol_file(const struct stat *output, const char *word)
{
    char path[4096];
    return tv_symbols_path(word, path, sizeof path) && output_is_same_file(output, path);
}

enum tv_status tv_output_check(const char *path, const struct tv_settings *settings,
                               struct tv_error *err)
{
    struct stat output;
    if (!path || strcmp(path, "-") == 0 || stat(path, &output) != 0 || !S_ISREG(output.st_mode))
        return TV_OK;
    bool input = settings->mapping && output_is_same_file(&output, settings->mapping);
    for (size_t i = 0; i < settings->files.count && !input; i++)
        input = output_is_trace(&output, settings->files.items[i]);
    for (size_t i = 0; i < settings->symbols.count && !input; i++)
        input = output_is_symbol_file(&output, settings->symbols.items[i]);
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
    if (output->path && tv_atomic_file_open(&output->file, output->path, err) != TV_OK)
        return err->status;
    if (output->path)
        output->descriptor = output->file.descriptor;
    tv_out_init(&output->out, output_write_bytes, output);
    output->meter = tv_meter_start(&output->progress, quiet || isatty(output->descriptor));
    return TV_OK;
}

enum tv_status tv_output_open_text(struct tv_output *output, const struct tv_settings *settings,
                                   bool text, struct tv_error *err)
{
    struct tv_terminal terminal;
    if (settings->columns && !text)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--columns goes with --format text");
    enum tv_status status = tv_output_open(output, settings->output, settings->quiet, err);
    if (status != TV_OK || !text)
        return status;
    tv_terminal_look(&terminal, output->descriptor, settings);
    output->screen.layout = terminal.layout;
    output->out.layout = &output->screen.layout;
    if (output->path || settings->no_pager || terminal.dumb)
        return TV_OK;
    output->screen.rows = terminal.rows;
    tv_out_init_memory(&output->screen.held);
    output->out.write = output_write_to_screen;
    return TV_OK;
}

#define SCREEN_LIMIT 40

uint64_t tv_output_limit(const struct tv_output *output, const struct tv_settings *settings)
{
    if (settings->limit != TV_ANY_LIMIT)
        return settings->limit;
    return output->screen.layout.terminal ? SCREEN_LIMIT : 0;
}

enum tv_status tv_output_open_binary(struct tv_output *output, const char *path, bool quiet,
                                     struct tv_error *err)
{
    if ((!path || strcmp(path, "-") == 0) && isatty(STDOUT_FILENO))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "standard output is a terminal: name a file with --output");
    return tv_output_open(output, path, quiet, err);
}

/* Hand on what is left, and wait for the pager. */
static enum tv_status output_flush(struct tv_output *output, struct tv_error *err)
{
    if (output->screen.layout.hid_columns)
        tv_layout_text(&output->out, TV_STYLE_DIM, "More columns: --wide or --columns\n");
    if (output->screen.layout.lacks_columns && !output->screen.layout.found_columns)
        tv_message("traceview: --columns: this file has none of these columns; all are shown");
    enum tv_status status = tv_out_finish(&output->out, err);
    if (output->screen.rows > 0 && status == TV_OK)
        status = output_write_held(output, err);
    if (output->screen.pager > 0)
        tv_pager_finish(output->descriptor, output->screen.pager);
    tv_meter_stop(output->meter);
    tv_out_release(&output->out);
    return status;
}

enum tv_status tv_output_finish(struct tv_output *output, enum tv_status work, struct tv_error *err)
{
    struct tv_error late = {0};
    enum tv_status status = output_flush(output, &late);
    if (work == TV_OK && status != TV_OK)
        *err = late;
    work = work == TV_OK ? status : work;
    if (output->path && work == TV_OK)
        work = tv_atomic_file_commit(&output->file, err);
    else if (output->path)
        tv_atomic_file_discard(&output->file);
    return work;
}

enum tv_status tv_output_close(struct tv_output *output, struct tv_error *err)
{
    return tv_output_finish(output, TV_OK, err);
}
