/* SPDX-License-Identifier: Apache-2.0 */
#include "writers/part_note.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"

#define MS 1000000

/* Of files no more are named. */
#define NAMED 16

static void add_range(struct tv_out *out, const struct tv_part_facts *part)
{
    if (part->from != INT64_MIN) {
        tv_out_text(out, "; from ");
        tv_out_time_short(out, part->from, MS);
        tv_out_text(out, " ms");
    }
    if (part->to != INT64_MAX) {
        tv_out_text(out, part->from != INT64_MIN ? " to " : "; up to ");
        tv_out_time_short(out, part->to, MS);
        tv_out_text(out, " ms");
    }
}

static void add_choices(struct tv_out *out, const struct tv_part_facts *part)
{
    for (size_t i = 0; i < part->choice_count; i++) {
        const struct tv_part_choice *choice = &part->choices[i];
        if (choice->count == 0)
            continue;
        if (part->hashed) {
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

/* In tenths of a percent, rounded so that neither none nor all is said where that is not so. */
static void add_share(struct tv_out *out, uint64_t kept, uint64_t all)
{
    uint64_t tenths = (uint64_t)((double)kept / (double)all * 1000);
    if (tenths == 0 && kept > 0)
        tv_out_text(out, "less than 0.1 %");
    else
        tv_out_format(out, "%" PRIu64 ".%" PRIu64 " %%", tenths / 10, tenths % 10);
}

static void add_part(struct tv_out *out, const struct tv_part_facts *part)
{
    tv_out_text(out, "This is a part of the trace");
    add_range(out, part);
    add_choices(out, part);
    if (part->shortest)
        tv_out_format(out,
                      "; without slices shorter than %s, so that it is no larger than asked for",
                      part->shortest);
    tv_out_char(out, '.');
    if (part->all == 0)
        return;
    tv_out_format(out, " %" PRIu64 " of ", part->kept);
    tv_out_counted(out, part->all, "slice|slices");
    tv_out_text(out, part->kept == 1 ? " is in it (" : " are in it (");
    add_share(out, part->kept, part->all);
    tv_out_text(out, ").");
}

/* ---- Its files ---- */

/* "app.json: cgroupDump", behind app.json, is no file of its own. */
static bool is_inside(const struct tv_trace_info *head, uint32_t input, uint32_t last_file)
{
    struct tv_bytes name = tv_trace_info_text(head, head->inputs[input].name);
    struct tv_bytes file = tv_trace_info_text(head, head->inputs[last_file].name);
    return name.length > file.length + 2 && tv_bytes_starts_with(name, file) &&
           memcmp(name.data + file.length, ": ", 2) == 0;
}

/* The file behind that one, or the number of inputs. */
static uint32_t next_file(const struct tv_trace_info *head, uint32_t file)
{
    uint32_t next = file + 1;
    while (next < head->input_count && is_inside(head, next, file))
        next++;
    return next;
}

static uint32_t count_files(const struct tv_trace_info *head)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < head->input_count; i = next_file(head, i))
        count++;
    return count;
}

/* Names of folders are nobody's business. */
static void add_last_part(struct tv_out *out, struct tv_bytes name)
{
    size_t at = name.length;
    while (at > 0 && (name.data[at - 1] != '/' || at == name.length))
        at--;
    tv_out_bytes(out, (struct tv_bytes){name.data + at, name.length - at});
}

static void add_file(struct tv_out *out, const struct tv_trace_info *head, uint32_t input)
{
    add_last_part(out, tv_trace_info_text(head, head->inputs[input].name));
    if (head->inputs[input].moved == 0)
        return;
    tv_out_text(out, " moved by ");
    tv_out_time_short(out, head->inputs[input].moved, MS);
    tv_out_text(out, " ms");
}

static void add_files(struct tv_out *out, const struct tv_part_facts *part, uint32_t count)
{
    const struct tv_trace_info *head = part->head;
    uint32_t named = 0;
    tv_out_format(out, "%" PRIu32 " files became one", count);
    for (uint32_t i = 0; i < head->input_count && named < NAMED && !part->hashed;
         i = next_file(head, i)) {
        tv_out_text(out, named > 0 ? ", " : ": ");
        add_file(out, head, i);
        named++;
    }
    if (named > 0 && named < count)
        tv_out_format(out, " and %" PRIu32 " more", count - named);
    tv_out_char(out, '.');
}

void tv_part_name(struct tv_out *out, const struct tv_trace_info *head, struct tv_bytes first)
{
    uint32_t count = count_files(head);
    add_last_part(out, first);
    if (count > 1)
        tv_out_format(out, " and %" PRIu32 " more", count - 1);
}

/* ---- All of it ---- */

static void begin_sentence(struct tv_out *out, bool *any)
{
    tv_out_text(out, *any ? " " : "");
    *any = true;
}

/* Behind which part of the file, unless behind none. */
static void add_behind(struct tv_out *out, uint32_t share)
{
    if (share > 0)
        tv_out_format(out, " behind the first %" PRIu32 " %% of the file",
                      share * 100 / TV_EVENT_SHARES);
}

static void add_args(struct tv_out *out, const struct tv_event_limit *limit)
{
    if (limit->share > 0)
        tv_out_format(out,
                      "Arguments and snapshots of more than %" PRIu64 " bytes were left out, and",
                      limit->longest);
    else
        tv_out_text(out, "Arguments and snapshots");
    tv_out_format(out, " of more than %" PRIu64 " bytes", limit->sure);
    add_behind(out, limit->share);
    tv_out_text(out, limit->share > 0 ? "." : " were left out.");
}

static void add_limit(struct tv_out *out, const struct tv_part_facts *part, bool *any)
{
    const struct tv_event_limit *limit = part->limit;
    if (limit->sure < UINT64_MAX && !part->stripped) {
        begin_sentence(out, any);
        add_args(out, limit);
    }
    if (limit->instants < TV_EVENT_SHARES) {
        begin_sentence(out, any);
        tv_out_text(out, "Instants and arrows");
        add_behind(out, limit->instants);
        tv_out_text(out, " were left out.");
    }
    if (limit->beside < UINT64_MAX && !part->stripped) {
        begin_sentence(out, any);
        tv_out_format(out, "Metadata of more than %" PRIu64 " bytes were left out.", limit->beside);
    }
}

static void add_losses(struct tv_out *out, struct tv_bytes lines)
{
    tv_out_text(out, "Not as in the trace: ");
    for (size_t i = 0; i < lines.length; i++) {
        if (lines.data[i] != '\n')
            tv_out_char(out, (char)lines.data[i]);
        else
            tv_out_text(out, i + 1 < lines.length ? "; " : ".");
    }
}

/* What was wrong with the files: a part no longer shows all of it. */
static void add_warnings(struct tv_out *out, const struct tv_diagnostics *all, bool *any)
{
    const char *before = "Warnings of the whole trace: ";
    for (unsigned i = 0; i < TV_DIAGNOSTIC_COUNT; i++) {
        enum tv_diagnostic_kind kind = (enum tv_diagnostic_kind)i;
        if (all->kinds[i].count == 0 || tv_diagnostic_severity(kind) < TV_WARNING)
            continue;
        if (*before != ';')
            begin_sentence(out, any);
        tv_out_text(out, before);
        tv_diagnostics_write_text(out, all, kind);
        tv_out_format(out, " (%s: %" PRIu64 ")", tv_diagnostic_name(kind), all->kinds[i].count);
        before = "; ";
    }
    tv_out_text(out, *before == ';' ? "." : "");
}

void tv_part_note(struct tv_out *out, const struct tv_part_facts *part)
{
    bool any = part->chosen || part->shortest;
    uint32_t files = part->head ? count_files(part->head) : 1;
    if (any)
        add_part(out, part);
    if (files > 1) {
        begin_sentence(out, &any);
        add_files(out, part, files);
    }
    if (part->hashed) {
        begin_sentence(out, &any);
        tv_out_text(out, "Hashes stand in the place of names.");
    }
    if (part->limit)
        add_limit(out, part, &any);
    if (part->stripped) {
        begin_sentence(out, &any);
        tv_out_text(out, "Arguments, snapshots and metadata were left out.");
    }
    if (part->losses.length > 0) {
        begin_sentence(out, &any);
        add_losses(out, part->losses);
    }
    if (part->head)
        add_warnings(out, &part->head->diagnostics, &any);
}
