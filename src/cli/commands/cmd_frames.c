/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_frames.c - `frames`: the frames of a display, and which of them were late. */
#include <assert.h>

#include "analysis/subset/selection.h"
#include "analysis/subset/subset.h"
#include "base/memory.h"
#include "cli/command.h"
#include "cli/input/load.h"
#include "cli/input/selection.h"
#include "cli/output/message.h"
#include "cli/output/output.h"
#include "writers/tables/frames_table.h"

static const struct tv_option frames_options[] = {
    TV_OPTION("late", NULL, TV_OPTION_FLAG, late, "list only the frames that were late"),
    TV_OPTION("format", "text|csv|json", TV_OPTION_CHOICE, table.format,
              "output format (default: text)"),
    TV_OPTION("limit", "N", TV_OPTION_COUNT, table.limit,
              "list only the first N frames; 0: all (default: all; on a terminal 40)"),
    TV_OPTION_COLUMNS(TV_FRAMES_COLUMNS),
    TV_OPTION("process", "NAME|ID", TV_OPTION_LIST, select.processes,
              "only this process; * matches any text (repeatable)"),
    TV_OPTION_RANGE,
    TV_OPTION_OUTPUT,
    TV_OPTIONS_SCREEN,
    TV_OPTION_OFFSET,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

/* Print a note, except for text, which says so itself. */
static void cmd_frames_note_no_frames(const struct tv_settings *settings,
                                      const struct tv_display_frames *frames)
{
    if (settings->table.format != TV_FRAMES_TEXT && !settings->quiet && frames->count == 0)
        tv_message("%s: note: the trace has no frames that are known, or none in the range",
                   settings->files.items[0]);
}

/* Write the frames of a selection. */
static enum tv_status cmd_frames_write_selected(const struct tv_settings *settings,
                                                const struct tv_trace *trace,
                                                const struct tv_selection *selection,
                                                struct tv_error *err)
{
    struct tv_output output;
    enum tv_status status =
        tv_output_open_text(&output, settings, settings->table.format == TV_FRAMES_TEXT, err);
    if (status != TV_OK)
        return status;
    struct tv_frames_options options = {
        .format = (enum tv_frames_format)settings->table.format,
        .only_late = settings->late,
        .limit = tv_output_limit(&output, settings),
    };
    struct tv_display_frames *frames = tv_display_frames_of(trace, selection, NULL);
    cmd_frames_note_no_frames(settings, frames);
    tv_display_frames_explain(frames, settings->late);
    tv_frames_table_write(&output.out, frames, &options);
    tv_display_frames_free(frames);
    return tv_output_close(&output, err);
}

/* Choose the range and the tracks of --process, and write. */
static enum tv_status cmd_frames_write(const struct tv_settings *settings,
                                       const struct tv_trace *trace, struct tv_error *err)
{
    struct tv_selection selection = TV_SELECT_ALL;
    struct tv_subset subset = {0};
    uint32_t *tracks = tv_alloc(trace->track_count, sizeof *tracks);
    enum tv_status status = tv_subset_choose(settings, trace, &subset, err);
    if (status == TV_OK)
        status = tv_range_choose(settings, trace, &selection.from, &selection.to, err);
    for (uint32_t i = 0; subset.tracks && i < trace->track_count; i++)
        if (subset.tracks[i])
            tracks[selection.track_count++] = i;
    if (subset.tracks)
        selection.tracks = tracks;
    if (status == TV_OK)
        status = cmd_frames_write_selected(settings, trace, &selection, err);
    tv_subset_release(&subset);
    tv_free(tracks);
    return status;
}

static int cmd_frames_run(const struct tv_command *command, const struct tv_settings *settings)
{
    return tv_load_run(command, settings, cmd_frames_write);
}

const struct tv_command tv_command_frames = {
    .name = "frames",
    .summary = "list the frames of a display: deadlines, late ones, what took the time",
    .arguments = "[OPTION]... FILE...",
    .details = "For traces of Android, Chromium, Flutter and Unity.  Several files are read as one "
               "trace.",
    .options = frames_options,
    .min_files = 1,
    .max_files = TV_ANY_FILES,
    .reads_traces = true,
    .run = cmd_frames_run,
};
