/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_cut.c - a selection of a trace as a trace of its own.
 */
#include "cli/command.h"
#include "cli/disguise.h"
#include "cli/load.h"
#include "cli/losses.h"
#include "cli/output.h"
#include "cli/selection.h"
#include "writers/trace/excerpt.h"

#include <string.h>

static const struct tv_option options[] = {
    TV_OPTION("to", "default|trace|json", TV_OPTION_CHOICE, to,
              "Android method trace, or Trace Event JSON (default: as the output ends, else as the "
              "input is)"),
    TV_OPTION_RANGE,
    TV_OPTION_THREADS,
    TV_OPTION_FILTERS,
    TV_OPTIONS_DISGUISE,
    TV_OPTION_OUTPUT,
    TV_OPTION_OFFSET,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

enum to {
    TO_DEFAULT,
    TO_TRACE,
    TO_JSON,
};

static bool ends_with(const char *name, const char *ending)
{
    size_t length = strlen(name), end = strlen(ending);
    return length > end && strcmp(name + length - end, ending) == 0;
}

static bool is_file(const struct tv_settings *settings, struct tv_excerpt *piece)
{
    if (settings->to != TO_DEFAULT)
        return settings->to == TO_TRACE;
    if (settings->output && ends_with(settings->output, ".trace"))
        return true;
    if (settings->output && ends_with(settings->output, ".json"))
        return false;
    return tv_excerpt_is_method_trace(piece);
}

/* The output of a method trace is bytes, of JSON text. */
static enum tv_status open_output(const struct tv_settings *settings, bool file,
                                  struct tv_output *output, struct tv_error *err)
{
    return file ? tv_output_open_binary(output, settings->output, settings->quiet, err)
                : tv_output_open(output, settings->output, settings->quiet, err);
}

static enum tv_status write_piece(const struct tv_settings *settings, const struct tv_excerpt *piece,
                                  bool file, struct tv_error *err)
{
    struct tv_output output;
    struct tv_excerpt_losses losses;
    enum tv_status status = open_output(settings, file, &output, err);
    if (status != TV_OK)
        return status;
    status = tv_excerpt_write(piece, file, &output.out, &losses, err);
    status = tv_output_finish(&output, status, err);
    if (status != TV_OK || settings->quiet)
        return status;
    struct tv_out lines;
    tv_out_init_memory(&lines);
    tv_losses_write_excerpt(&lines, piece, file, &losses);
    tv_losses_tell(settings->files.items[0], (struct tv_bytes){lines.buffer, lines.length});
    tv_out_release(&lines);
    return TV_OK;
}

static enum tv_status cut_and_write(const struct tv_settings *settings,
                                    const struct tv_trace *trace, const struct tv_keep *keep,
                                    struct tv_error *err)
{
    struct tv_cut cut = {keep, INT64_MIN, INT64_MAX, settings->threads.count > 0};
    struct tv_excerpt piece;
    struct tv_redaction_options disguise;
    bool disguised;
    enum tv_status status = tv_disguise_choose(settings, &disguise, &disguised, err);
    if (status == TV_OK)
        status = tv_range_choose(settings, trace, &cut.from, &cut.to, err);
    if (status != TV_OK)
        return status;
    tv_excerpt_make(&piece, trace, &cut);
    piece.disguise = disguised ? &disguise : NULL;
    /* Before the output is opened: whatever is there stays when there is nothing to write. */
    bool file = is_file(settings, &piece);
    status = tv_excerpt_check(&piece, file, err);
    if (status == TV_OK)
        status = write_piece(settings, &piece, file, err);
    tv_excerpt_release(&piece);
    return status;
}

static enum tv_status cut(const struct tv_settings *settings, const struct tv_trace *trace,
                          struct tv_error *err)
{
    struct tv_keep keep;
    enum tv_status status = tv_keep_make(settings, trace, &keep, err);
    if (status == TV_OK)
        status = cut_and_write(settings, trace, &keep, err);
    tv_keep_release(&keep);
    return status;
}

static int run(const struct tv_command *command, const struct tv_settings *settings)
{
    return tv_load_run(command, settings, cut);
}

const struct tv_command tv_command_cut = {
    .name = "cut",
    .summary = "a range, threads or categories of a trace as a trace of its own",
    .arguments = "[OPTION]... FILE...",
    .details =
        "What lasts beyond the range begins and ends at its ends, so that the profile of the\n"
        "result is that of the range.  Several files become one trace.",
    .options = options,
    .min_files = 1,
    .max_files = TV_ANY_FILES,
    .reads_traces = true,
    .run = run,
};
