/* SPDX-License-Identifier: Apache-2.0 */
#include "writers/part_note.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"

#define MS 1000000

static void add_range(struct tv_out *out, const struct tv_part_facts *part)
{
    if (part->from != INT64_MIN) {
        tv_out_text(out, "; from ");
        tv_out_time(out, part->from, MS, 6);
        tv_out_text(out, " ms");
    }
    if (part->to != INT64_MAX) {
        tv_out_text(out, part->from != INT64_MIN ? " to " : "; up to ");
        tv_out_time(out, part->to, MS, 6);
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
    tv_out_format(out, " %" PRIu64 " of %" PRIu64 " slices are in it (", part->kept, part->all);
    add_share(out, part->kept, part->all);
    tv_out_text(out, ").");
}

static void begin_sentence(struct tv_out *out, bool *any)
{
    tv_out_text(out, *any ? " " : "");
    *any = true;
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

void tv_part_note(struct tv_out *out, const struct tv_part_facts *part)
{
    bool any = part->chosen || part->shortest;
    if (any)
        add_part(out, part);
    if (part->hashed) {
        begin_sentence(out, &any);
        tv_out_text(out, "Hashes stand in the place of names.");
    }
    if (part->stripped) {
        begin_sentence(out, &any);
        tv_out_text(out, "Arguments, snapshots and metadata were left out.");
    }
    if (part->losses.length > 0) {
        begin_sentence(out, &any);
        add_losses(out, part->losses);
    }
}
