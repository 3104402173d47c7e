/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_report.c - HTML reports of whole files, and of a part of a trace (html_report.h).
 *
 * A report is the page with packed files in it, which the page opens as if they had been dropped on
 * it.  Whole files go in as they are.  A part has no file yet, so one is made, and goes in:
 *
 *     trace -> subset, range, share -> excerpt -> JSON or method trace (a spool)
 *                                        |                |
 *                                        +-> note, name --+-> page + file = report (a spool)
 *
 * The report is a spool, too, because its size decides: if it is larger than --max-size, the caller
 * tries a smaller share of the range or drops short slices.  Nothing reaches the user's file before
 * a report is small enough.
 */
#include <assert.h>

#include "cli/output/html_report.h"

#include "base/bytes.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/input/selection.h"
#include "viewer/viewer.h"
#include "writers/trace/excerpt.h"

/* The page is linked into the program (viewer/viewer.h). */
enum tv_status tv_reporter_write(const struct tv_report *report, struct tv_out *out,
                                 struct tv_error *err)
{
    const struct tv_bytes page = {(const uint8_t *)tv_page, (size_t)(tv_page_end - tv_page)};
    return tv_report_write(page, report, out, err);
}

/* Write a report of files that are open; a callback of the view. */
static enum tv_status reporter_write_files(const struct tv_view_file *files, size_t count,
                                           const char *note, struct tv_out *out,
                                           struct tv_error *err)
{
    struct tv_report_file *carried = tv_alloc(count, sizeof *carried);
    struct tv_report report = {carried, count, note, 0};
    for (size_t i = 0; i < count; i++)
        carried[i] = (struct tv_report_file){files[i].source, tv_source_name(files[i].source),
                                             files[i].machine, files[i].offset};
    enum tv_status status = tv_reporter_write(&report, out, err);
    tv_free(carried);
    return status;
}

/* ---- A report of one file that is made for it ---- */

/* The write function of an output that goes into a spool. */
static enum tv_status reporter_add_to_spool(void *context, struct tv_bytes bytes,
                                            struct tv_error *err)
{
    return tv_spool_add(context, bytes, err);
}

enum tv_status tv_reporter_make(const struct tv_view_generated_file *making,
                                struct tv_source **source, struct tv_error *err)
{
    struct tv_spool *spool = tv_spool_new(making->name);
    struct tv_out out;
    tv_out_init(&out, reporter_add_to_spool, spool);
    enum tv_status status = making->write(making->context, &out, err);
    if (status == TV_OK)
        status = tv_out_finish(&out, err);
    tv_out_release(&out);
    if (status == TV_OK)
        *source = tv_spool_finish(spool);
    else
        tv_spool_free(spool);
    return status;
}

/* Write a report of one file that is made now; a callback of the view. */
static enum tv_status reporter_write_made(const struct tv_view_generated_file *making,
                                          struct tv_out *out, struct tv_error *err)
{
    struct tv_view_file file = {.source = NULL};
    struct tv_out note;
    enum tv_status status = tv_reporter_make(making, &file.source, err);
    if (status != TV_OK)
        return status;
    tv_out_init_memory(&note);
    if (making->note)
        making->note(making->context, &note);
    bool any = note.length > 0;
    tv_out_char(&note, '\0');
    status = reporter_write_files(&file, 1, any ? (const char *)note.buffer : NULL, out, err);
    tv_out_release(&note);
    tv_source_free(file.source);
    return status;
}

const struct tv_view_reporter *tv_reporter(bool renames)
{
    static const struct tv_view_reporter reporters[] = {
        {reporter_write_files, reporter_write_made, tv_redaction_random, false},
        {reporter_write_files, reporter_write_made, tv_redaction_random, true}};
    return tv_report_is_available() ? &reporters[renames] : NULL;
}

/* Append bytes to the spool, and stop as soon as the report is too large. */
static enum tv_status html_made_add_bytes(void *context, struct tv_bytes bytes,
                                          struct tv_error *err)
{
    assert(context);
    struct tv_html_output *made = context;
    made->size += bytes.length;
    made->too_large = made->size > made->most;
    if (made->too_large)
        return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, "the report is larger than --max-size");
    return tv_spool_add(made->spool, bytes, err);
}

void tv_html_output_release(struct tv_html_output *made)
{
    if (made->spool)
        tv_out_release(&made->losses);
    tv_spool_free(made->spool);
    made->spool = NULL;
}

enum tv_status tv_html_make(const struct tv_settings *settings, const struct tv_report *report,
                            struct tv_html_output *made, struct tv_error *err)
{
    struct tv_out out;
    *made =
        (struct tv_html_output){.spool = tv_spool_new("the report"), .most = settings->max_size};
    tv_out_init_memory(&made->losses);
    tv_out_init(&out, html_made_add_bytes, made);
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

/* Context of html_part_write_trace. */
struct html_trace_writing {
    const struct tv_excerpt *excerpt;
    bool file; /* write a method trace, not JSON */
    struct tv_excerpt_losses losses;
};

/* The write function of a struct tv_view_generated_file. */
static enum tv_status html_part_write_trace(void *context, struct tv_out *out, struct tv_error *err)
{
    struct html_trace_writing *making = context;
    return tv_excerpt_write(making->excerpt, making->file, out, &making->losses, err);
}

bool tv_html_is_chosen(const struct tv_settings *settings)
{
    return settings->select.range || settings->select.filter ||
           settings->select.threads.count + settings->select.processes.count +
                   settings->select.categories.count >
               0;
}

/* Write the note about the part, with a NUL at its end. */
static void html_part_write_note(const struct tv_html_part *part, const struct tv_excerpt *excerpt,
                                 const struct tv_out *losses, struct tv_out *out)
{
    const struct tv_settings *settings = part->settings;
    const struct tv_excerpt_selection choices[] = {
        {"threads", settings->select.threads.items, settings->select.threads.count},
        {"processes", settings->select.processes.items, settings->select.processes.count},
        {"categories", settings->select.categories.items, settings->select.categories.count},
        {"filter", &settings->select.filter, settings->select.filter ? 1 : 0},
    };
    const struct tv_excerpt_facts told = {
        .chosen = tv_html_is_chosen(settings) || part->smaller,
        .from = excerpt->cut->from,
        .to = excerpt->cut->to,
        .choices = choices,
        .choice_count = TV_COUNT(choices),
        .shortest = part->shortest,
        .limit = part->limit,
        .kept = tv_excerpt_slice_count(excerpt),
        .all = part->whole->slice_count,
        .hashed = settings->redact.hash_names,
        .stripped = part->redacted && part->redaction.strip_args,
        .losses = {losses->buffer, losses->length},
        .head = part->whole->head,
    };
    tv_excerpt_note(out, &told);
    tv_out_char(out, '\0');
}

/* Write the name of the part, with a NUL at its end. */
static void html_part_write_name(const struct tv_html_part *part, struct tv_out *out)
{
    assert(part->whole->head->input_count > 0);
    const struct tv_trace_info *head = part->whole->head;
    char hash[TV_REDACTION_HASH_SIZE];
    struct tv_bytes first = tv_trace_info_text(head, head->inputs[0].name);
    if (part->settings->redact.hash_names) {
        tv_redaction_hash(&part->redaction, first, hash);
        first = tv_bytes_of(hash);
    }
    tv_excerpt_name(out, head, first);
    tv_out_char(out, '\0');
}

/* Write the report of a part that is in a temporary file. */
static enum tv_status html_part_write_report(const struct tv_html_part *part,
                                             const struct tv_excerpt *excerpt,
                                             struct tv_source *source, const struct tv_out *losses,
                                             struct tv_html_output *made, struct tv_error *err)
{
    struct tv_out note, name;
    tv_out_init_memory(&note);
    tv_out_init_memory(&name);
    html_part_write_note(part, excerpt, losses, &note);
    html_part_write_name(part, &name);
    struct tv_report_file file = {.source = source, .name = (const char *)name.buffer};
    struct tv_report report = {.files = &file, .count = 1};
    report.workers = tv_settings_jobs(part->settings);
    if (note.length > 1)
        report.note = (const char *)note.buffer;
    enum tv_status status = tv_html_make(part->settings, &report, made, err);
    tv_out_release(&name);
    tv_out_release(&note);
    return status;
}

/* Make the report of an excerpt: write the excerpt into a temporary file, then the report around
 * it. */
static enum tv_status html_part_make_report(void *context, const struct tv_html_part *part,
                                            struct tv_excerpt *excerpt, struct tv_error *err)
{
    struct tv_html_output *made = context;
    struct html_trace_writing made_of = {.excerpt = excerpt,
                                         .file = tv_excerpt_is_method_trace(excerpt)};
    const struct tv_view_generated_file making = {html_part_write_trace, NULL, &made_of,
                                                  part->settings->files.items[0]};
    struct tv_source *source = NULL;
    enum tv_status status = tv_excerpt_check(excerpt, made_of.file, err);
    if (status == TV_OK && part->smaller && part->sliced && tv_excerpt_slice_count(excerpt) == 0)
        status = tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "the part contains no slice");
    if (status == TV_OK)
        status = tv_reporter_make(&making, &source, err);
    if (status != TV_OK)
        return status;
    struct tv_out losses;
    tv_out_init_memory(&losses);
    tv_losses_write_excerpt(&losses, excerpt, made_of.file, &made_of.losses);
    status = html_part_write_report(part, excerpt, source, &losses, made, err);
    tv_source_free(source);
    if (made->spool)
        made->losses = losses;
    else
        tv_out_release(&losses);
    return status;
}

/* Limit the range to its first `share` shares, which all have the same length. */
static void html_part_limit_to_share(const struct tv_html_part *part, struct tv_crop *cut)
{
    assert(part->share <= TV_HTML_SHARES);
    tv_ns start = part->trace->start, end = part->trace->end;
    if (cut->from > start)
        start = cut->from;
    if (cut->to < end)
        end = cut->to;
    if (part->share > 0 && end > start)
        cut->to = start + (tv_ns)((double)(end - start) / TV_HTML_SHARES * part->share);
}

/* A function that uses the excerpt of a part. */
typedef enum tv_status html_excerpt_visitor(void *context, const struct tv_html_part *part,
                                            struct tv_excerpt *excerpt, struct tv_error *err);

/* Make the excerpt that the settings select of a part, and hand it to a function. */
static enum tv_status html_part_visit(const struct tv_html_part *part, html_excerpt_visitor *use,
                                      void *context, struct tv_error *err)
{
    assert(part->whole && part->trace);
    const struct tv_settings *settings = part->settings;
    struct tv_subset subset;
    struct tv_excerpt excerpt;
    struct tv_crop cut = {&subset, INT64_MIN, INT64_MAX, settings->select.threads.count > 0};
    enum tv_status status = tv_subset_choose(settings, part->trace, &subset, err);
    if (status == TV_OK)
        status = tv_range_choose(settings, part->trace, &cut.from, &cut.to, err);
    if (status == TV_OK) {
        html_part_limit_to_share(part, &cut);
        tv_excerpt_make(&excerpt, part->trace, &cut);
        excerpt.redaction = part->redacted ? &part->redaction : NULL;
        excerpt.limit = part->limit;
        status = use(context, part, &excerpt, err);
        tv_excerpt_release(&excerpt);
    }
    tv_subset_release(&subset);
    return status;
}

enum tv_status tv_html_make_part(const struct tv_html_part *part, struct tv_html_output *made,
                                 struct tv_error *err)
{
    return html_part_visit(part, html_part_make_report, made, err);
}

/* ---- Looking at a part ---- */

struct html_part_looking {
    void (*look)(void *context, const struct tv_trace *trace);
    void *context;
};

/* Hand the trace of the excerpt to the function of tv_html_visit_part. */
static enum tv_status html_part_look(void *context, const struct tv_html_part *part,
                                     struct tv_excerpt *excerpt, struct tv_error *err)
{
    const struct html_part_looking *looking = context;
    (void)part, (void)err;
    looking->look(looking->context, excerpt->made ? excerpt->made : excerpt->trace);
    return TV_OK;
}

enum tv_status tv_html_visit_part(const struct tv_html_part *part,
                                  void (*look)(void *context, const struct tv_trace *trace),
                                  void *context, struct tv_error *err)
{
    struct html_part_looking looking = {look, context};
    return html_part_visit(part, html_part_look, &looking, err);
}
