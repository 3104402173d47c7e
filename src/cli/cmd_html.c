/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_html.c - a trace with the viewer's page and engine as one HTML file.
 */
#include <stdio.h>

#include "analysis/filter.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/command.h"
#include "cli/disguise.h"
#include "cli/load.h"
#include "cli/losses.h"
#include "cli/output.h"
#include "cli/reporter.h"
#include "cli/selection.h"
#include "writers/part_note.h"
#include "writers/piece.h"

static const struct tv_option options[] = {
    TV_OPTION("max-size", "SIZE", TV_OPTION_SIZE, max_size,
              "leave the shortest slices out until the file is no larger: 5M"),
    TV_OPTION_RANGE,
    TV_OPTION_THREADS,
    TV_OPTION_FILTERS,
    TV_OPTIONS_DISGUISE,
    TV_OPTION_OUTPUT,
    TV_OPTION("o", "FILE", TV_OPTION_TEXT, output, "the same"),
    TV_OPTION_OFFSET,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

/* Where the report is made: nothing is written before all of it is there. */
struct made {
    struct tv_spool *spool;
    uint64_t size, most; /* most: 0: any size */
    bool too_large;
};

static enum tv_status add_to_made(void *context, struct tv_bytes bytes, struct tv_error *err)
{
    struct made *made = context;
    made->size += bytes.length;
    made->too_large = made->most > 0 && made->size > made->most;
    if (made->too_large)
        return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, "it is larger than that");
    return tv_spool_add(made->spool, bytes, err);
}

/* The report in a spool; one that is too large is no failure, and there is none then. */
static enum tv_status make_report(const struct tv_settings *settings,
                                  const struct tv_report *report, struct made *made,
                                  struct tv_error *err)
{
    struct tv_out out;
    *made = (struct made){.spool = tv_spool_new("the report"), .most = settings->max_size};
    tv_out_init(&out, add_to_made, made);
    enum tv_status status = tv_reporter_write(report, &out, err);
    if (status == TV_OK)
        status = tv_out_finish(&out, err);
    tv_out_release(&out);
    if (status == TV_OK)
        return TV_OK;
    tv_spool_free(made->spool);
    made->spool = NULL;
    return made->too_large ? TV_OK : status;
}

static enum tv_status copy(struct tv_source *source, struct tv_out *out, struct tv_error *err)
{
    struct tv_window window;
    enum tv_status status = TV_OK;
    tv_window_init(&window, source);
    for (uint64_t at = 0; at < tv_source_size(source) && status == TV_OK;) {
        struct tv_bytes bytes;
        status = tv_window_at(&window, at, 0, &bytes, err);
        if (status == TV_OK)
            tv_out_bytes(out, bytes);
        at += status == TV_OK ? bytes.length : 0;
    }
    tv_window_release(&window);
    return status;
}

static enum tv_status write_made(const struct tv_settings *settings, struct made *made,
                                 struct tv_error *err)
{
    struct tv_output output;
    struct tv_error late = {0};
    struct tv_source *source = tv_spool_finish(made->spool);
    made->spool = NULL;
    enum tv_status status = tv_output_open_binary(&output, settings->output, settings->quiet, err);
    if (status == TV_OK) {
        status = copy(source, &output.out, err);
        if (tv_output_close(&output, &late) != TV_OK && status == TV_OK) {
            *err = late;
            status = late.status;
        }
    }
    tv_source_free(source);
    return status;
}

/* The files as they are, unpacked. */
static enum tv_status make_of_files(const struct tv_settings *settings,
                                    const struct tv_loading *loading, struct made *made,
                                    struct tv_error *err)
{
    size_t count = tv_load_count(loading);
    struct tv_report_file *files = tv_alloc(count, sizeof *files);
    for (size_t i = 0; i < count; i++) {
        const struct tv_inputs_row *row = tv_load_input(loading, i);
        files[i] = (struct tv_report_file){row->source, tv_source_name(row->source), row->machine,
                                           row->offset};
    }
    struct tv_report report = {.files = files, .count = count};
    enum tv_status status = make_report(settings, &report, made, err);
    tv_free(files);
    return status;
}

/* A part of them, as a trace of its own. */

struct part {
    const struct tv_settings *settings;
    const struct tv_trace *whole;
    const struct tv_trace *trace; /* what is wanted of it */
    const char *shortest;         /* or NULL */
    struct tv_disguise_options disguise;
    bool disguised;
};

static void tell_losses(const struct tv_settings *settings, const struct tv_piece *piece, bool file,
                        const struct tv_piece_losses *losses)
{
    const char *name = settings->files.items[0];
    bool cpu;
    if (settings->quiet)
        return;
    if (file)
        tv_losses_of_file(name, piece->trace, tv_piece_target(piece->trace, &cpu), &losses->file);
    else
        tv_losses_of_events(name, piece->trace, losses);
}

struct making {
    const struct tv_piece *piece;
    struct tv_piece_losses losses;
};

/* As a making's function. */
static enum tv_status write_any(void *context, struct tv_out *out, struct tv_error *err)
{
    struct making *making = context;
    return tv_rewrite_can(making->piece->trace)
               ? tv_piece_write_events(making->piece, out, &making->losses, err)
               : tv_piece_write_file(making->piece, out, &making->losses, err);
}

static bool is_chosen(const struct tv_settings *settings)
{
    return settings->range || settings->filter ||
           settings->threads.count + settings->processes.count + settings->categories.count > 0;
}

/* What is told of the piece: as text with a NUL behind it. */
static void write_note(const struct part *part, const struct tv_piece *piece, struct tv_out *out)
{
    const struct tv_settings *settings = part->settings;
    const struct tv_part_choice choices[] = {
        {"threads", settings->threads.items, settings->threads.count},
        {"processes", settings->processes.items, settings->processes.count},
        {"categories", settings->categories.items, settings->categories.count},
        {"filter", &settings->filter, settings->filter ? 1 : 0},
    };
    const struct tv_part told = {
        .chosen = is_chosen(settings),
        .from = piece->cut->from,
        .to = piece->cut->to,
        .choices = choices,
        .choice_count = TV_COUNT(choices),
        .shortest = part->shortest,
        .kept = tv_piece_slices(piece),
        .all = part->whole->slice_count,
        .hashed = settings->hash_names,
        .stripped = settings->strip_args,
    };
    tv_part_note(out, &told);
    tv_out_char(out, '\0');
}

static enum tv_status write_piece(const struct part *part, const struct tv_piece *piece,
                                  struct tv_source *source, struct made *made, struct tv_error *err)
{
    char hash[TV_DISGUISE_ROOM];
    struct tv_out note;
    tv_out_init_memory(&note);
    write_note(part, piece, &note);
    struct tv_report_file file = {.source = source, .name = tv_source_name(source)};
    struct tv_report report = {.files = &file, .count = 1};
    if (note.length > 1)
        report.note = (const char *)note.buffer;
    if (part->settings->hash_names) {
        tv_disguise_text(&part->disguise, tv_bytes_of(file.name), hash);
        file.name = hash;
    }
    enum tv_status status = make_report(part->settings, &report, made, err);
    tv_out_release(&note);
    return status;
}

static enum tv_status make_of_piece(const struct part *part, const struct tv_piece *piece,
                                    struct made *made, struct tv_error *err)
{
    bool file = !tv_rewrite_can(piece->trace);
    struct making made_of = {.piece = piece};
    const struct tv_view_making making = {write_any, &made_of, part->settings->files.items[0]};
    struct tv_source *source = NULL;
    enum tv_status status = tv_piece_check(piece, file, err);
    if (status == TV_OK)
        status = tv_reporter_make(&making, &source, err);
    if (status != TV_OK)
        return status;
    status = write_piece(part, piece, source, made, err);
    tv_source_free(source);
    if (status == TV_OK && made->spool)
        tell_losses(part->settings, piece, file, &made_of.losses);
    return status;
}

/* What the settings choose of the part's trace. */
static enum tv_status make_of_trace(const struct part *part, struct made *made,
                                    struct tv_error *err)
{
    const struct tv_settings *settings = part->settings;
    struct tv_keep keep;
    struct tv_piece piece;
    struct tv_cut cut = {&keep, INT64_MIN, INT64_MAX, settings->threads.count > 0};
    enum tv_status status = tv_keep_make(settings, part->trace, &keep, err);
    if (status == TV_OK && settings->range)
        status = tv_range_parse(settings->range, &cut.from, &cut.to, err);
    if (status == TV_OK) {
        tv_piece_make(&piece, part->trace, &cut);
        piece.disguise = part->disguised ? &part->disguise : NULL;
        status = make_of_piece(part, &piece, made, err);
        tv_piece_release(&piece);
    }
    tv_keep_release(&keep);
    return status;
}

/* Less and less detail: slices that are shorter than these stay behind. */
static const char *const shortest[] = {"1us",   "2us",   "5us",   "10us",  "20us",  "50us",
                                       "100us", "200us", "500us", "1ms",   "2ms",   "5ms",
                                       "10ms",  "20ms",  "50ms",  "100ms", "200ms", "500ms",
                                       "1s",    "2s",    "5s",    "10s",   "20s",   "50s"};

static enum tv_status make_shorter(const struct part *part, const char *length, struct made *made,
                                   struct tv_error *err)
{
    char text[32];
    struct tv_filter filter;
    struct part shorter = *part;
    size_t column;
    snprintf(text, sizeof text, "dur>=%s", length);
    enum tv_status status = tv_filter_parse(tv_bytes_of(text), &filter, &column, err);
    if (status != TV_OK)
        return status;
    struct tv_trace *filtered = tv_filter_trace(part->trace, &filter);
    shorter.trace = filtered;
    shorter.shortest = length;
    status = make_of_trace(&shorter, made, err);
    tv_trace_free(filtered);
    tv_filter_release(&filter);
    return status;
}

/* As much detail as there is room for, found by halving. */
static enum tv_status make_shortened(const struct part *part, struct made *made,
                                     struct tv_error *err)
{
    size_t low = 0, high = TV_COUNT(shortest);
    enum tv_status status = TV_OK;
    while (low < high && status == TV_OK) {
        struct made tried = {.spool = NULL};
        size_t middle = low + (high - low) / 2;
        status = make_shorter(part, shortest[middle], &tried, err);
        if (status == TV_ERR_USAGE) { /* nothing is that long */
            status = TV_OK;
            high = middle;
            continue;
        }
        if (!tried.spool) {
            low = middle + 1;
            continue;
        }
        tv_spool_free(made->spool);
        *made = tried;
        high = middle;
    }
    if (status == TV_OK && !made->spool)
        status = tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET,
                         "--max-size: no part of the trace is that small: page and engine are in "
                         "it too; choose with --range or --thread");
    else if (status == TV_OK && !part->settings->quiet)
        fprintf(stderr, "%s: note: slices shorter than %s are not in the report\n",
                part->settings->files.items[0], shortest[high]);
    return status;
}

static enum tv_status make_of_wanted(const struct part *part, bool whole_is_too_large,
                                     struct made *made, struct tv_error *err)
{
    enum tv_status status = TV_OK;
    if (!whole_is_too_large)
        status = make_of_trace(part, made, err);
    if (status == TV_OK && !made->spool)
        status = make_shortened(part, made, err);
    if (status != TV_OK)
        tv_spool_free(made->spool);
    return status;
}

/* What --filter wants is counted against all there is, and so filtered here. */
static enum tv_status make_of_filtered(struct part *part, bool whole_is_too_large,
                                       struct made *made, struct tv_error *err)
{
    struct tv_filter filter;
    size_t column;
    const char *text = part->settings->filter;
    if (!text)
        return make_of_wanted(part, whole_is_too_large, made, err);
    enum tv_status status = tv_filter_parse(tv_bytes_of(text), &filter, &column, err);
    if (status != TV_OK)
        return tv_error_prefix(err, "--filter");
    struct tv_trace *filtered = tv_filter_trace(part->whole, &filter);
    part->trace = filtered;
    status = make_of_wanted(part, whole_is_too_large, made, err);
    tv_trace_free(filtered);
    tv_filter_release(&filter);
    return status;
}

/* Takes the loading over. */
static enum tv_status make_of_part(struct part *part, struct tv_loading *loading,
                                   bool whole_is_too_large, struct made *made, struct tv_error *err)
{
    struct tv_trace *trace = NULL;
    enum tv_status status = tv_load_build(loading, NULL, &trace, err);
    if (status != TV_OK)
        return status;
    tv_load_report(part->settings, trace->head);
    tv_trace_await(trace);
    part->whole = part->trace = trace;
    status = make_of_filtered(part, whole_is_too_large, made, err);
    tv_trace_free(trace);
    return status;
}

/* Other names are in the trace that is made, not in its files. */
static bool is_part(const struct tv_settings *settings)
{
    return is_chosen(settings) || settings->mapping || settings->symbols.count > 0 ||
           settings->hash_names || settings->strip_args || settings->salt;
}

static enum tv_status write_html(const struct tv_settings *settings, struct tv_error *err)
{
    struct tv_settings reading = *settings;
    struct part part = {.settings = settings};
    struct tv_loading *loading = NULL;
    struct made made = {.spool = NULL};
    reading.filter = NULL;
    enum tv_status status = tv_disguise_choose(settings, &part.disguise, &part.disguised, err);
    if (status == TV_OK)
        status = tv_output_check(settings->output, &settings->files, err);
    if (status == TV_OK)
        status =
            tv_load_open(&reading, settings->files.items, settings->files.count, &loading, err);
    if (status != TV_OK)
        return status;
    if (!is_part(settings))
        status = make_of_files(settings, loading, &made, err);
    if (status == TV_OK && !made.spool)
        status = make_of_part(&part, loading, made.too_large, &made, err);
    else
        tv_load_close(loading);
    return status == TV_OK ? write_made(settings, &made, err) : status;
}

static int run(const struct tv_command *command, const struct tv_settings *settings)
{
    struct tv_error err = {0};
    return write_html(settings, &err) == TV_OK ? TV_EXIT_OK : tv_command_failed(command, &err);
}

const struct tv_command tv_command_html = {
    .name = "html",
    .summary = "a trace and its viewer as one HTML file, to send to anybody",
    .arguments = "[OPTION]... FILE...",
    .details =
        "The file opens in a browser, from a disk and without a network.  All that the trace\n"
        "tells is in it, unless a part is chosen; of the names of files only their last part.",
    .options = options,
    .min_files = 1,
    .max_files = TV_ANY_FILES,
    .run = run,
};
