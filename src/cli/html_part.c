/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/html_part.h"

#include "base/bytes.h"
#include "cli/reporter.h"
#include "cli/selection.h"
#include "writers/trace/excerpt.h"

static enum tv_status add_to_made(void *context, struct tv_bytes bytes, struct tv_error *err)
{
    struct tv_html_made *made = context;
    made->size += bytes.length;
    made->too_large = made->size > made->most;
    if (made->too_large)
        return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, "it is larger than that");
    return tv_spool_add(made->spool, bytes, err);
}

void tv_html_made_release(struct tv_html_made *made)
{
    if (made->spool)
        tv_out_release(&made->losses);
    tv_spool_free(made->spool);
    made->spool = NULL;
}

enum tv_status tv_html_make(const struct tv_settings *settings, const struct tv_report *report,
                            struct tv_html_made *made, struct tv_error *err)
{
    struct tv_out out;
    *made = (struct tv_html_made){.spool = tv_spool_new("the report"), .most = settings->max_size};
    tv_out_init_memory(&made->losses);
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

struct making {
    const struct tv_excerpt *piece;
    bool file; /* it is written as a method trace */
    struct tv_excerpt_losses losses;
};

/* As a making's function. */
static enum tv_status write_any(void *context, struct tv_out *out, struct tv_error *err)
{
    struct making *making = context;
    return tv_excerpt_write(making->piece, making->file, out, &making->losses, err);
}

bool tv_html_is_chosen(const struct tv_settings *settings)
{
    return settings->range || settings->filter ||
           settings->threads.count + settings->processes.count + settings->categories.count > 0;
}

/* What is told of the piece: as text with a NUL behind it. */
static void write_note(const struct tv_html_part *part, const struct tv_excerpt *piece,
                       const struct tv_out *losses, struct tv_out *out)
{
    const struct tv_settings *settings = part->settings;
    const struct tv_excerpt_selection choices[] = {
        {"threads", settings->threads.items, settings->threads.count},
        {"processes", settings->processes.items, settings->processes.count},
        {"categories", settings->categories.items, settings->categories.count},
        {"filter", &settings->filter, settings->filter ? 1 : 0},
    };
    const struct tv_excerpt_facts told = {
        .chosen = tv_html_is_chosen(settings) || part->smaller,
        .from = piece->cut->from,
        .to = piece->cut->to,
        .choices = choices,
        .choice_count = TV_COUNT(choices),
        .shortest = part->shortest,
        .limit = part->limit,
        .kept = tv_excerpt_slice_count(piece),
        .all = part->whole->slice_count,
        .hashed = settings->hash_names,
        .stripped = part->disguised && part->disguise.strip_args,
        .losses = {losses->buffer, losses->length},
        .head = part->whole->head,
    };
    tv_excerpt_note(out, &told);
    tv_out_char(out, '\0');
}

/* The same of its name. */
static void write_name(const struct tv_html_part *part, struct tv_out *out)
{
    const struct tv_head *head = part->whole->head;
    char hash[TV_REDACTION_HASH_SIZE];
    struct tv_bytes first = tv_head_text(head, head->inputs[0].name);
    if (part->settings->hash_names) {
        tv_redaction_hash(&part->disguise, first, hash);
        first = tv_bytes_of(hash);
    }
    tv_excerpt_name(out, head, first);
    tv_out_char(out, '\0');
}

static enum tv_status write_piece(const struct tv_html_part *part, const struct tv_excerpt *piece,
                                  struct tv_source *source, const struct tv_out *losses,
                                  struct tv_html_made *made, struct tv_error *err)
{
    struct tv_out note, name;
    tv_out_init_memory(&note);
    tv_out_init_memory(&name);
    write_note(part, piece, losses, &note);
    write_name(part, &name);
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

static enum tv_status make_of_piece(void *context, const struct tv_html_part *part,
                                    struct tv_excerpt *piece, struct tv_error *err)
{
    struct tv_html_made *made = context;
    struct making made_of = {.piece = piece, .file = tv_excerpt_is_method_trace(piece)};
    const struct tv_view_making making = {write_any, NULL, &made_of,
                                          part->settings->files.items[0]};
    struct tv_source *source = NULL;
    enum tv_status status = tv_excerpt_check(piece, made_of.file, err);
    if (status == TV_OK && part->smaller && part->sliced && tv_excerpt_slice_count(piece) == 0)
        status = tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "no slice is in the part");
    if (status == TV_OK)
        status = tv_reporter_make(&making, &source, err);
    if (status != TV_OK)
        return status;
    struct tv_out losses;
    tv_out_init_memory(&losses);
    tv_losses_write_excerpt(&losses, piece, made_of.file, &made_of.losses);
    status = write_piece(part, piece, source, &losses, made, err);
    tv_source_free(source);
    if (made->spool)
        made->losses = losses;
    else
        tv_out_release(&losses);
    return status;
}

/* The first of the range's shares, each of the same length. */
static void limit_to_share(const struct tv_html_part *part, struct tv_cut *cut)
{
    tv_ns start = part->trace->start, end = part->trace->end;
    if (cut->from > start)
        start = cut->from;
    if (cut->to < end)
        end = cut->to;
    if (part->share > 0 && end > start)
        cut->to = start + (tv_ns)((double)(end - start) / TV_HTML_SHARES * part->share);
}

/* What is done with the piece that a part is. */
typedef enum tv_status use_piece(void *context, const struct tv_html_part *part,
                                 struct tv_excerpt *piece, struct tv_error *err);

static enum tv_status make_and_use(const struct tv_html_part *part, use_piece *use, void *context,
                                   struct tv_error *err)
{
    const struct tv_settings *settings = part->settings;
    struct tv_keep keep;
    struct tv_excerpt piece;
    struct tv_cut cut = {&keep, INT64_MIN, INT64_MAX, settings->threads.count > 0};
    enum tv_status status = tv_keep_make(settings, part->trace, &keep, err);
    if (status == TV_OK)
        status = tv_range_choose(settings, part->trace, &cut.from, &cut.to, err);
    if (status == TV_OK) {
        limit_to_share(part, &cut);
        tv_excerpt_make(&piece, part->trace, &cut);
        piece.disguise = part->disguised ? &part->disguise : NULL;
        piece.limit = part->limit;
        status = use(context, part, &piece, err);
        tv_excerpt_release(&piece);
    }
    tv_keep_release(&keep);
    return status;
}

enum tv_status tv_html_make_part(const struct tv_html_part *part, struct tv_html_made *made,
                                 struct tv_error *err)
{
    return make_and_use(part, make_of_piece, made, err);
}

/* ---- Looking at one ---- */

struct looking {
    void (*look)(void *context, const struct tv_trace *trace);
    void *context;
};

static enum tv_status look_at_piece(void *context, const struct tv_html_part *part,
                                    struct tv_excerpt *piece, struct tv_error *err)
{
    const struct looking *looking = context;
    (void)part, (void)err;
    looking->look(looking->context, piece->made ? piece->made : piece->trace);
    return TV_OK;
}

enum tv_status tv_html_look_at_part(const struct tv_html_part *part,
                                    void (*look)(void *context, const struct tv_trace *trace),
                                    void *context, struct tv_error *err)
{
    struct looking looking = {look, context};
    return make_and_use(part, look_at_piece, &looking, err);
}
