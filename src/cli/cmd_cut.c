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
#include "writers/losses.h"
#include "writers/piece.h"

#include <string.h>

static const struct tv_option cut_options[] = {
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

enum cut_target {
    CUT_DEFAULT,
    CUT_TRACE,
    CUT_JSON,
};

static bool cmd_cut_ends_with(const char *name, const char *ending)
{
    size_t length = strlen(name), end = strlen(ending);
    return length > end && strcmp(name + length - end, ending) == 0;
}

static bool cmd_cut_is_method_trace(const struct tv_settings *settings, struct tv_piece *piece)
{
    if (settings->to != CUT_DEFAULT)
        return settings->to == CUT_TRACE;
    if (settings->output && cmd_cut_ends_with(settings->output, ".trace"))
        return true;
    if (settings->output && cmd_cut_ends_with(settings->output, ".json"))
        return false;
    return tv_piece_is_file(piece);
}

/* The output of a method trace is bytes, of JSON text. */
static enum tv_status cmd_cut_open_output(const struct tv_settings *settings, bool file,
                                  struct tv_output *output, struct tv_error *err)
{
    return file ? tv_output_open_binary(output, settings->output, settings->quiet, err)
                : tv_output_open(output, settings->output, settings->quiet, err);
}

static enum tv_status cmd_cut_write(const struct tv_settings *settings, const struct tv_piece *piece,
                                  bool file, struct tv_error *err)
{
    struct tv_output output;
    struct tv_piece_losses losses;
    enum tv_status status = cmd_cut_open_output(settings, file, &output, err);
    if (status != TV_OK)
        return status;
    status = tv_piece_write(piece, file, &output.out, &losses, err);
    status = tv_output_finish(&output, status, err);
    if (status != TV_OK || settings->quiet)
        return status;
    struct tv_out lines;
    tv_out_init_memory(&lines);
    tv_losses_of_piece(&lines, piece, file, &losses);
    tv_losses_tell(settings->files.items[0], (struct tv_bytes){lines.buffer, lines.length});
    tv_out_release(&lines);
    return TV_OK;
}

static enum tv_status cmd_cut_subset(const struct tv_settings *settings,
                                    const struct tv_trace *trace, const struct tv_keep *keep,
                                    struct tv_error *err)
{
    struct tv_cut cut = {keep, INT64_MIN, INT64_MAX, settings->threads.count > 0};
    struct tv_piece piece;
    struct tv_disguise_options disguise;
    bool disguised;
    enum tv_status status = tv_disguise_choose(settings, &disguise, &disguised, err);
    if (status == TV_OK)
        status = tv_range_choose(settings, trace, &cut.from, &cut.to, err);
    if (status != TV_OK)
        return status;
    tv_piece_make(&piece, trace, &cut);
    piece.disguise = disguised ? &disguise : NULL;
    /* Before the output is opened: whatever is there stays when there is nothing to write. */
    bool file = cmd_cut_is_method_trace(settings, &piece);
    status = tv_piece_check(&piece, file, err);
    if (status == TV_OK)
        status = cmd_cut_write(settings, &piece, file, err);
    tv_piece_release(&piece);
    return status;
}

static enum tv_status cmd_cut_trace(const struct tv_settings *settings, const struct tv_trace *trace,
                          struct tv_error *err)
{
    struct tv_keep keep;
    enum tv_status status = tv_keep_make(settings, trace, &keep, err);
    if (status == TV_OK)
        status = cmd_cut_subset(settings, trace, &keep, err);
    tv_keep_release(&keep);
    return status;
}

static int cmd_cut_run(const struct tv_command *command, const struct tv_settings *settings)
{
    return tv_load_run(command, settings, cmd_cut_trace);
}

const struct tv_command tv_command_cut = {
    .name = "cut",
    .summary = "a range, threads or categories of a trace as a trace of its own",
    .arguments = "[OPTION]... FILE...",
    .details =
        "What lasts beyond the range begins and ends at its ends, so that the profile of the\n"
        "result is that of the range.  Several files become one trace.",
    .options = cut_options,
    .min_files = 1,
    .max_files = TV_ANY_FILES,
    .reads_traces = true,
    .run = cmd_cut_run,
};
