/* SPDX-License-Identifier: Apache-2.0 */
/*
 * save.c - a selection as a trace of its own: the same bytes that `cut` writes.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "view/state.h"
#include "writers/trace/excerpt.h"

/* The chosen tracks, and their threads. */
static void keep_tracks(const struct tv_trace *trace, const struct tv_selection *selection,
                        struct tv_keep *keep)
{
    keep->tracks = tv_alloc(trace->track_count, sizeof *keep->tracks);
    keep->threads = tv_alloc(trace->head->thread_count, sizeof *keep->threads);
    for (uint32_t i = 0; i < selection->track_count; i++) {
        uint32_t track = selection->tracks[i];
        if (track >= trace->track_count)
            continue;
        keep->tracks[track] = true;
        if (trace->tracks[track].thread != TV_NONE)
            keep->threads[trace->tracks[track].thread] = true;
    }
}

/* NULL: none is made here. */
static const struct tv_view_reporter *reporter_of(const struct tv_view *view)
{
    return (view->whole ? view->whole : view)->reporter;
}

/* What is not to be told: hash_names and strip_args.  *chosen: the options, or NULL. */
static enum tv_status read_disguise(const struct tv_parameters *parameters,
                                    const struct tv_view_reporter *reporter,
                                    struct tv_redaction_options *options,
                                    const struct tv_redaction_options **chosen, struct tv_error *err)
{
    static const char *const words[] = {"no", "yes", NULL};
    unsigned hash = 0, strip = 0;
    enum tv_status status = tv_parameter_choice(parameters, "hash_names", words, &hash, err);
    if (status == TV_OK)
        status = tv_parameter_choice(parameters, "strip_args", words, &strip, err);
    *options = (struct tv_redaction_options){.hash_names = hash == 1, .strip_args = strip == 1};
    *chosen = hash || strip ? options : NULL;
    if (status != TV_OK || !hash)
        return status;
    return reporter ? reporter->key(options, err)
                    : tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "no names can be hashed here");
}

static enum tv_status write_piece(const struct tv_trace *trace, const struct tv_cut *cut,
                                  const struct tv_redaction_options *disguise, bool file,
                                  struct tv_out *out, struct tv_error *err)
{
    struct tv_excerpt piece;
    struct tv_excerpt_losses losses;
    tv_excerpt_make(&piece, trace, cut);
    piece.disguise = disguise;
    enum tv_status status = tv_excerpt_check(&piece, file, err);
    if (status == TV_OK)
        status = tv_excerpt_write(&piece, file, out, &losses, err);
    tv_excerpt_release(&piece);
    return status;
}

/* ---- As a report ---- */

/* Of threads no more are named. */
#define NAMED 16

struct reporting {
    const struct tv_view *view;
    const struct tv_parameters *parameters;
    const struct tv_excerpt *piece;
    bool file; /* it is written as a method trace */
    struct tv_excerpt_losses losses;
};

/* As a making's function. */
static void write_note(void *context, struct tv_out *out)
{
    const struct reporting *reporting = context;
    const struct tv_view *view = reporting->view;
    const struct tv_excerpt *piece = reporting->piece;
    const struct tv_head *head = view->trace->head;
    const bool *threads = piece->cut->keep->threads;
    struct tv_bytes text = tv_parameter_text(reporting->parameters, "filter");
    char *filter = tv_alloc(text.length + 1, 1);
    const char *words[NAMED + 1], *const terms[] = {filter};
    struct tv_excerpt_selection choices[] = {{"threads", words, 0}, {"filter", terms, text.length > 0}};
    struct tv_out losses;
    tv_out_init_memory(&losses);
    tv_losses_write_excerpt(&losses, piece, reporting->file, &reporting->losses);
    if (text.length > 0)
        memcpy(filter, text.data, text.length);
    for (uint32_t i = 0; threads && i < head->thread_count && choices->count <= NAMED; i++)
        if (threads[i])
            words[choices->count++] = (const char *)tv_head_text(head, head->threads[i].name).data;
    if (choices->count > NAMED)
        words[NAMED] = "and others";
    struct tv_excerpt_facts part = {
        .chosen = piece->made || view->whole,
        .from = piece->cut->from,
        .to = piece->cut->to,
        .choices = choices,
        .choice_count = TV_COUNT(choices),
        .kept = tv_excerpt_slice_count(piece),
        .all = (view->whole ? view->whole : view)->trace->slice_count,
        .losses = {losses.buffer, losses.length},
        .head = (view->whole ? view->whole : view)->trace->head,
        .hashed = piece->disguise && piece->disguise->hash_names,
        .stripped = piece->disguise && piece->disguise->strip_args,
    };
    tv_excerpt_note(out, &part);
    tv_out_release(&losses);
    tv_free(filter);
}

/* As a making's function. */
static enum tv_status write_any(void *context, struct tv_out *out, struct tv_error *err)
{
    struct reporting *reporting = context;
    return tv_excerpt_write(reporting->piece, reporting->file, out, &reporting->losses, err);
}

/* What the file in the report is called: as text with a NUL behind it. */
static void write_name(const struct tv_excerpt *piece, struct tv_out *out)
{
    const struct tv_head *head = piece->trace->head;
    struct tv_bytes first = tv_head_text(head, head->inputs[0].name);
    char hash[TV_REDACTION_HASH_SIZE];
    if (piece->disguise && piece->disguise->hash_names) {
        tv_redaction_hash(piece->disguise, first, hash);
        first = tv_bytes_of(hash);
    }
    tv_excerpt_name(out, head, first);
    tv_out_char(out, '\0');
}

static enum tv_status report_piece(const struct tv_view *view,
                                   const struct tv_view_reporter *reporter,
                                   const struct tv_parameters *parameters, struct tv_excerpt *piece,
                                   struct tv_out *out, struct tv_error *err)
{
    struct reporting reporting = {view, parameters, piece, tv_excerpt_is_method_trace(piece), {.flows = 0}};
    struct tv_out name;
    enum tv_status status = tv_excerpt_check(piece, reporting.file, err);
    if (status != TV_OK)
        return status;
    tv_out_init_memory(&name);
    write_name(piece, &name);
    const struct tv_view_making making = {write_any, write_note, &reporting,
                                          (const char *)name.buffer};
    status = reporter->write_made(&making, out, err);
    tv_out_release(&name);
    return status;
}

/* What is known of the file: whose machine it is of, and how it was moved. */
static bool find_input(const struct tv_head *head, struct tv_view_file *file, bool alone)
{
    for (uint32_t i = 0; i < head->input_count; i++) {
        const struct tv_input *input = &head->inputs[i];
        if (input->source != file->source && !alone)
            continue;
        file->machine = alone ? 0 : input->machine;
        file->offset = input->moved;
        return true;
    }
    return false;
}

/* The files of a whole trace, as they were; none where they do not tell all of it. */
static struct tv_view_file *find_files(const struct tv_view *view, bool renames, size_t *count)
{
    const struct tv_trace *trace = view->trace;
    *count = trace->source_count - trace->inner_count;
    if (renames || trace->base || *count == 0)
        return NULL;
    struct tv_view_file *files = tv_alloc(*count, sizeof *files);
    bool known = true;
    for (size_t i = 0; i < *count; i++) {
        files[i].source = trace->sources[trace->inner_count + i];
        known &= find_input(trace->head, &files[i], *count == 1);
    }
    if (known)
        return files;
    tv_free(files);
    return NULL;
}

static enum tv_status save_report(const struct tv_view *view,
                                  const struct tv_parameters *parameters, const struct tv_cut *cut,
                                  const struct tv_redaction_options *disguise, struct tv_out *out,
                                  struct tv_error *err)
{
    const struct tv_view_reporter *reporter = reporter_of(view);
    struct tv_view_file *files = NULL;
    struct tv_excerpt piece;
    size_t count;
    if (!reporter)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "no report can be made here");
    if (!view->whole && !disguise && tv_cut_is_all(view->trace, cut))
        files = find_files(view, reporter->renames, &count);
    if (files) {
        enum tv_status status = reporter->write(files, count, NULL, out, err);
        tv_free(files);
        return status;
    }
    tv_excerpt_make(&piece, view->trace, cut);
    piece.disguise = disguise;
    enum tv_status status = report_piece(view, reporter, parameters, &piece, out, err);
    tv_excerpt_release(&piece);
    return status;
}

enum tv_status tv_view_save(const struct tv_view *view, const struct tv_parameters *parameters,
                            struct tv_out *out, struct tv_error *err)
{
    static const char *const kinds[] = {"json", "trace", "html", NULL};
    struct tv_redaction_options options;
    const struct tv_redaction_options *disguise;
    struct tv_selection selection;
    struct tv_keep keep = {.processes = NULL};
    unsigned kind;
    enum tv_status status = tv_parameter_choice(parameters, "as", kinds, &kind, err);
    if (status == TV_OK)
        status = read_disguise(parameters, reporter_of(view), &options, &disguise, err);
    if (status == TV_OK)
        status = tv_parameter_selection(parameters, view->trace, &selection, err);
    if (status != TV_OK)
        return status;
    if (selection.tracks)
        keep_tracks(view->trace, &selection, &keep);
    struct tv_cut cut = {&keep, selection.from, selection.to, selection.tracks != NULL};
    status = kind == 2 ? save_report(view, parameters, &cut, disguise, out, err)
                       : write_piece(view->trace, &cut, disguise, kind == 1, out, err);
    tv_keep_release(&keep);
    tv_parameter_release_selection(&selection);
    return status;
}
