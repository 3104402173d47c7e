/* SPDX-License-Identifier: Apache-2.0 */
/*
 * excerpt_note.c - a note about an excerpt for its readers: the selection, its files, and
 * everything that was left out.
 *
 *     This is a part of the trace; from 12 ms to 15 ms; threads: main.
 *     120 of 4000 slices are in it (3.0 %). ...
 *
 * An excerpt looks like a whole trace, and its totals are those of the part.  So the note goes with
 * it: into the report, and onto the page that shows it.
 *
 * If names are hashed, nothing here may tell them: neither the words of the selection nor the
 * folders of a path.
 */
#include "writers/trace/excerpt.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"

#define MS 1000000

/* Maximum number of files whose names are listed. */
#define NAMED 16

/* Write a place on the axis, which is a sum of weights in a trace without times. */
static void excerpt_note_add_place(struct tv_out *out, const struct tv_excerpt_facts *excerpt,
                                   tv_ns place)
{
    if (excerpt->head && !tv_trace_info_has_times(excerpt->head)) {
        tv_out_format(out, "weight %" PRId64, place);
        return;
    }
    tv_out_time_short(out, place, MS);
    tv_out_text(out, " ms");
}

/* Say from when to when; an open end is not mentioned. */
static void excerpt_note_add_range(struct tv_out *out, const struct tv_excerpt_facts *excerpt)
{
    if (excerpt->from != INT64_MIN) {
        tv_out_text(out, "; from ");
        excerpt_note_add_place(out, excerpt, excerpt->from);
    }
    if (excerpt->to != INT64_MAX) {
        tv_out_text(out, excerpt->from != INT64_MIN ? " to " : "; up to ");
        excerpt_note_add_place(out, excerpt, excerpt->to);
    }
}

/* Write the selections. Hashed excerpts only say what kinds of things were selected, because the
 * words are names. */
static void excerpt_note_add_choices(struct tv_out *out, const struct tv_excerpt_facts *excerpt)
{
    for (size_t i = 0; i < excerpt->choice_count; i++) {
        const struct tv_excerpt_selection *choice = &excerpt->choices[i];
        if (choice->count == 0)
            continue;
        if (excerpt->hashed) {
            tv_out_format(out, "; chosen %s", choice->what);
            continue;
        }
        tv_out_format(out, "; %s: ", choice->what);
        for (size_t word = 0; word < choice->count; word++) {
            tv_out_text(out, word > 0 ? ", " : "");
            tv_out_text(out, choice->words[word]);
        }
    }
}

/* Write a share in tenths of a percent. Rounding never turns a part into nothing, nor into
 * everything. */
static void excerpt_note_add_share(struct tv_out *out, uint64_t kept, uint64_t all)
{
    uint64_t tenths = (uint64_t)((double)kept / (double)all * 1000);
    assert(all > 0 && kept <= all);
    if (tenths == 0 && kept > 0)
        tv_out_text(out, "less than 0.1 %");
    else
        tv_out_format(out, "%" PRIu64 ".%" PRIu64 " %%", tenths / 10, tenths % 10);
}

/* Say which part of the trace it is. */
static void excerpt_note_add_part(struct tv_out *out, const struct tv_excerpt_facts *excerpt)
{
    tv_out_text(out, "This is a part of the trace");
    excerpt_note_add_range(out, excerpt);
    excerpt_note_add_choices(out, excerpt);
    if (excerpt->shortest)
        tv_out_format(out,
                      "; without slices shorter than %s, so that it is no larger than asked for",
                      excerpt->shortest);
    tv_out_char(out, '.');
    if (excerpt->all == 0)
        return;
    tv_out_format(out, " %" PRIu64 " of ", excerpt->kept);
    tv_out_counted(out, excerpt->all, "slice|slices");
    tv_out_text(out, excerpt->kept == 1 ? " is in it (" : " are in it (");
    excerpt_note_add_share(out, excerpt->kept, excerpt->all);
    tv_out_text(out, ").");
}

/* ---- Its files ---- */

/* Return true for an input that is a member of another file, such as "app.json: cgroupDump"
 * after app.json. */
static bool excerpt_note_is_inside(const struct tv_trace_info *head, uint32_t input,
                                   uint32_t last_file)
{
    struct tv_bytes name = tv_trace_info_text(head, head->inputs[input].name);
    struct tv_bytes file = tv_trace_info_text(head, head->inputs[last_file].name);
    return name.length > file.length + 2 && tv_bytes_starts_with(name, file) &&
           memcmp(name.data + file.length, ": ", 2) == 0;
}

/* Return the next file, or the number of inputs. */
static uint32_t excerpt_note_next_file(const struct tv_trace_info *head, uint32_t file)
{
    uint32_t next = file + 1;
    while (next < head->input_count && excerpt_note_is_inside(head, next, file))
        next++;
    return next;
}

/* Count the files; members of a file are not counted. */
static uint32_t excerpt_note_count_files(const struct tv_trace_info *head)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < head->input_count; i = excerpt_note_next_file(head, i))
        count++;
    return count;
}

/* Write the last part of a path; its directories are private. */
static void excerpt_note_add_base_name(struct tv_out *out, struct tv_bytes name)
{
    size_t at = name.length;
    while (at > 0 && (name.data[at - 1] != '/' || at == name.length))
        at--;
    tv_out_bytes(out, (struct tv_bytes){name.data + at, name.length - at});
}

/* Name a file, and by how much it was moved. */
static void excerpt_note_add_file(struct tv_out *out, const struct tv_trace_info *head,
                                  uint32_t input)
{
    excerpt_note_add_base_name(out, tv_trace_info_text(head, head->inputs[input].name));
    if (head->inputs[input].moved == 0)
        return;
    tv_out_text(out, " moved by ");
    tv_out_time_short(out, head->inputs[input].moved, MS);
    tv_out_text(out, " ms");
}

/* Name the first files of several. Hashed excerpts name none. */
static void excerpt_note_add_files(struct tv_out *out, const struct tv_excerpt_facts *excerpt,
                                   uint32_t count)
{
    const struct tv_trace_info *head = excerpt->head;
    uint32_t named = 0;
    tv_out_format(out, "%" PRIu32 " files became one", count);
    for (uint32_t i = 0; i < head->input_count && named < NAMED && !excerpt->hashed;
         i = excerpt_note_next_file(head, i)) {
        tv_out_text(out, named > 0 ? ", " : ": ");
        excerpt_note_add_file(out, head, i);
        named++;
    }
    if (named > 0 && named < count)
        tv_out_format(out, " and %" PRIu32 " more", count - named);
    tv_out_char(out, '.');
}

void tv_excerpt_name(struct tv_out *out, const struct tv_trace_info *head, struct tv_bytes first)
{
    uint32_t count = excerpt_note_count_files(head);
    excerpt_note_add_base_name(out, first);
    if (count > 1)
        tv_out_format(out, " and %" PRIu32 " more", count - 1);
}

/* ---- The note ---- */

static void excerpt_note_begin_sentence(struct tv_out *out, bool *any)
{
    tv_out_text(out, *any ? " " : "");
    *any = true;
}

/* Write after which percentage of the file something was left out, unless that is 0. */
static void excerpt_note_add_position(struct tv_out *out, uint32_t share)
{
    if (share > 0)
        tv_out_format(out, " after the first %" PRIu32 " %% of the file",
                      share * 100 / TV_EVENT_SHARES);
}

/* Say which arguments were left out because of their size. */
static void excerpt_note_add_args(struct tv_out *out, const struct tv_event_limit *limit)
{
    if (limit->share > 0)
        tv_out_format(out,
                      "Arguments and snapshots of more than %" PRIu64 " bytes were left out, and",
                      limit->longest);
    else
        tv_out_text(out, "Arguments and snapshots");
    tv_out_format(out, " of more than %" PRIu64 " bytes", limit->sure);
    excerpt_note_add_position(out, limit->share);
    tv_out_text(out, limit->share > 0 ? "." : " were left out.");
}

/* Say everything that was left out to keep the excerpt small. */
static void excerpt_note_add_limit(struct tv_out *out, const struct tv_excerpt_facts *excerpt,
                                   bool *any)
{
    const struct tv_event_limit *limit = excerpt->limit;
    if (limit->sure < UINT64_MAX && !excerpt->stripped) {
        excerpt_note_begin_sentence(out, any);
        excerpt_note_add_args(out, limit);
    }
    if (limit->instants < TV_EVENT_SHARES) {
        excerpt_note_begin_sentence(out, any);
        tv_out_text(out, "Instants and arrows");
        excerpt_note_add_position(out, limit->instants);
        tv_out_text(out, " were left out.");
    }
    if (limit->beside < UINT64_MAX && !excerpt->stripped) {
        excerpt_note_begin_sentence(out, any);
        tv_out_format(out, "Metadata of more than %" PRIu64 " bytes were left out.", limit->beside);
    }
}

/* Join the lines about losses to one sentence. */
static void excerpt_note_add_losses(struct tv_out *out, struct tv_bytes lines)
{
    tv_out_text(out, "Not as in the trace: ");
    for (size_t i = 0; i < lines.length; i++) {
        if (lines.data[i] != '\n')
            tv_out_char(out, (char)lines.data[i]);
        else
            tv_out_text(out, i + 1 < lines.length ? "; " : ".");
    }
}

/* Warnings of the files are repeated, because an excerpt no longer shows everything that was
 * wrong. */
static void excerpt_note_add_warnings(struct tv_out *out, const struct tv_diagnostics *all,
                                      bool *any)
{
    const char *before = "Warnings of the whole trace: ";
    for (unsigned i = 0; i < TV_DIAGNOSTIC_COUNT; i++) {
        enum tv_diagnostic_kind kind = (enum tv_diagnostic_kind)i;
        if (all->kinds[i].count == 0 || tv_diagnostic_severity(kind) < TV_WARNING)
            continue;
        if (*before != ';')
            excerpt_note_begin_sentence(out, any);
        tv_out_text(out, before);
        tv_diagnostics_write_text(out, all, kind);
        tv_out_format(out, " (%s: %" PRIu64 ")", tv_diagnostic_name(kind), all->kinds[i].count);
        before = "; ";
    }
    tv_out_text(out, *before == ';' ? "." : "");
}

void tv_excerpt_note(struct tv_out *out, const struct tv_excerpt_facts *excerpt)
{
    bool any = excerpt->chosen || excerpt->shortest;
    uint32_t files = excerpt->head ? excerpt_note_count_files(excerpt->head) : 1;
    if (any)
        excerpt_note_add_part(out, excerpt);
    if (files > 1) {
        excerpt_note_begin_sentence(out, &any);
        excerpt_note_add_files(out, excerpt, files);
    }
    if (excerpt->hashed) {
        excerpt_note_begin_sentence(out, &any);
        tv_out_text(out, "Hashes stand in the place of names.");
    }
    if (excerpt->limit)
        excerpt_note_add_limit(out, excerpt, &any);
    if (excerpt->stripped) {
        excerpt_note_begin_sentence(out, &any);
        tv_out_text(out, "Arguments, snapshots and metadata were left out.");
    }
    if (excerpt->losses.length > 0) {
        excerpt_note_begin_sentence(out, &any);
        excerpt_note_add_losses(out, excerpt->losses);
    }
    if (excerpt->head)
        excerpt_note_add_warnings(out, &excerpt->head->diagnostics, &any);
}
