/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html_smaller.c - what stays in a report that must not be larger than asked for.
 *
 * All that may be left out is one list of places, from the least detail to the whole; each has what
 * the one before has, and more.  Whatever the size, the same places are tried in the same order by
 * halving, so that more room never holds fewer slices.  Why in this order:
 * docs/decisions/0019-what-a-small-report-keeps.md.
 */
#include "cli/html_part.h"

#include <inttypes.h>
#include <stdio.h>

#include "analysis/filter.h"
#include "base/bytes.h"
#include "cli/html_lengths.h"
#include "cli/message.h"
#include "writers/trace/rewrite.h"

/* Of the time that slices tell: what those that stay must tell where everything else stays too, and
 * where nothing else does. */
#define MOST_OF_TIME 0.99
#define HALF_OF_TIME 0.5

/* Lengths of what events say, in four steps an octave: up to 4 bytes, ... 64 MB. */
#define SAID_STEPS 97u

/* Bytes of what stands beside the events and is small. */
#define SMALL_BESIDE 4096u

struct ladder {
    const struct tv_html_part *part;
    bool says;     /* events have arguments that may be left out */
    bool instants; /* there are slices, and instants or arrows beside them */
    struct tv_html_lengths lengths;
    size_t idle, few, many; /* steps of lengths: that do nothing; that cost little; and the rest */
};

/* What one place leaves out. */
struct place {
    size_t length; /* steps of lengths */
    bool stripped, limited;
    struct tv_event_limit limit;
    unsigned share;
};

/* ---- The places ---- */

/* A few of them, which differ in one thing. */
struct stage {
    size_t (*count)(const struct ladder *ladder);
    void (*set)(const struct ladder *ladder, size_t n, struct place *place);
};

/* Only so many shares of the time. */
static size_t count_shares(const struct ladder *ladder)
{
    (void)ladder;
    return TV_HTML_SHARES - 1;
}

static void set_least(const struct ladder *ladder, struct place *place)
{
    place->length = ladder->many;
    place->stripped = ladder->says;
    place->limited = ladder->instants;
    place->limit.instants = ladder->instants ? 0 : TV_EVENT_SHARES;
}

static void set_share(const struct ladder *ladder, size_t n, struct place *place)
{
    set_least(ladder, place);
    place->share = (unsigned)n + 1;
}

/* Slices, and nothing else. */
static size_t count_slices(const struct ladder *ladder)
{
    return ladder->many - ladder->few;
}

static void set_slices(const struct ladder *ladder, size_t n, struct place *place)
{
    set_least(ladder, place);
    place->length -= n;
}

/* Instants and arrows. */
static size_t count_instants(const struct ladder *ladder)
{
    return (ladder->instants ? TV_EVENT_SHARES : 0) + (ladder->says ? 1 : 0);
}

static void set_instants(const struct ladder *ladder, size_t n, struct place *place)
{
    set_least(ladder, place);
    place->length = ladder->few;
    place->limit.instants = ladder->instants ? (uint32_t)n : TV_EVENT_SHARES;
    place->limited = place->limit.instants < TV_EVENT_SHARES;
}

/* What events say, and all that the files hold. */
static size_t count_said(const struct ladder *ladder)
{
    return ladder->says ? (size_t)SAID_STEPS * TV_EVENT_SHARES : 0;
}

static uint64_t said_bytes(size_t step)
{
    return step == 0 ? 0 : (uint64_t)(4 + (step - 1) % 4) << (step - 1) / 4;
}

static void set_said(const struct ladder *ladder, size_t n, struct place *place)
{
    place->length = ladder->few;
    place->limited = true;
    place->limit.sure = said_bytes(n / TV_EVENT_SHARES);
    place->limit.longest = said_bytes(n / TV_EVENT_SHARES + 1);
    place->limit.share = n % TV_EVENT_SHARES;
    place->limit.beside = SMALL_BESIDE;
}

/* The shortest slices; behind the last place is what has all of them, and what stands beside. */
static size_t count_short(const struct ladder *ladder)
{
    return ladder->few - ladder->idle + (ladder->says ? 1 : 0);
}

static void set_short(const struct ladder *ladder, size_t n, struct place *place)
{
    place->length = ladder->few - n;
    place->limited = ladder->says;
    place->limit.beside = ladder->says ? SMALL_BESIDE : UINT64_MAX;
}

/* From the least detail to the most. */
static const struct stage stages[] = {
    {count_shares, set_share}, {count_slices, set_slices}, {count_instants, set_instants},
    {count_said, set_said},    {count_short, set_short},
};

static size_t count_places(const struct ladder *ladder)
{
    size_t count = 0;
    for (size_t i = 0; i < TV_COUNT(stages); i++)
        count += stages[i].count(ladder);
    return count;
}

static struct place place_at(const struct ladder *ladder, size_t n)
{
    struct place place = {
        .limit = {UINT64_MAX, UINT64_MAX, UINT64_MAX, TV_EVENT_SHARES, TV_EVENT_SHARES}};
    const struct stage *stage = stages;
    for (; n >= stage->count(ladder); stage++)
        n -= stage->count(ladder);
    stage->set(ladder, n, &place);
    return place;
}

/* ---- One of them ---- */

static enum tv_status make_of_longer(struct tv_html_part *part, const char *shortest,
                                     struct tv_html_made *made, struct tv_error *err)
{
    char text[32];
    struct tv_filter filter;
    size_t column;
    snprintf(text, sizeof text, "dur>=%s", shortest);
    enum tv_status status = tv_filter_parse(tv_bytes_of(text), &filter, &column, err);
    if (status != TV_OK)
        return status;
    struct tv_trace *filtered = tv_filter_trace(part->trace, &filter);
    part->trace = filtered;
    part->shortest = shortest;
    status = tv_html_make_part(part, made, err);
    tv_trace_free(filtered);
    tv_filter_release(&filter);
    return status;
}

static enum tv_status make_place(const struct ladder *ladder, const struct tv_html_part *wanted,
                                 size_t n, struct tv_html_made *made, struct tv_error *err)
{
    struct place place = place_at(ladder, n);
    struct tv_html_part part = *wanted;
    char shortest[16];
    part.smaller = true;
    part.sliced = ladder->lengths.slices > 0;
    part.share = place.share;
    part.limit = place.limited ? &place.limit : NULL;
    if (place.stripped)
        part.disguised = part.disguise.strip_args = true;
    if (place.length == ladder->idle)
        return tv_html_make_part(&part, made, err);
    tv_html_length_text(place.length - 1, shortest);
    return make_of_longer(&part, shortest, made, err);
}

/* ---- What is said of it ---- */

static void tell(const struct ladder *ladder, size_t n)
{
    const char *file = ladder->part->settings->files.items[0];
    struct place place = place_at(ladder, n);
    if (place.length > ladder->idle) {
        char shortest[16];
        tv_html_length_text(place.length - 1, shortest);
        tv_message("%s: note: slices shorter than %s are not in the report", file, shortest);
    }
    if (place.limit.sure < UINT64_MAX)
        tv_message("%s: note: arguments and snapshots of more than %" PRIu64
                   " bytes are not in the report",
                   file, place.limit.share > 0 ? place.limit.longest : place.limit.sure);
    if (place.limit.instants < TV_EVENT_SHARES)
        tv_message("%s: note: instants and arrows are not in the report, or in part", file);
    if (place.limit.beside < UINT64_MAX)
        tv_message("%s: note: metadata of more than %" PRIu64 " bytes are not in the report", file,
                   place.limit.beside);
    if (place.stripped)
        tv_message("%s: note: arguments, snapshots and metadata are not in the report", file);
    if (place.share > 0)
        tv_message("%s: note: the last %.1f %% of the time are not in the report", file,
                   (double)(TV_HTML_SHARES - place.share) / TV_HTML_SHARES * 100);
}

/* How small one can be: made again, however large it is. */
static enum tv_status fail_with_smallest(const struct ladder *ladder, size_t n,
                                         struct tv_error *err)
{
    struct tv_settings any = *ladder->part->settings;
    struct tv_html_part part = *ladder->part;
    struct tv_html_made made = {.spool = NULL};
    any.max_size = TV_ANY_SIZE;
    part.settings = &any;
    enum tv_status status = make_place(ladder, &part, n, &made, err);
    if (status != TV_OK)
        return status;
    tv_html_made_release(&made);
    return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET,
                   "--max-size: the smallest part of the trace has %" PRIu64
                   " bytes, page and engine included; choose with --range or --thread for less",
                   made.size);
}

/* ---- The most that there is room for ---- */

static bool has_arguments(const struct tv_html_part *part)
{
    const struct tv_head *head = part->whole->head;
    bool any = false;
    for (uint32_t i = 0; i < head->input_count; i++)
        any = any || head->inputs[i].describe != NULL;
    return any && !(part->disguised && part->disguise.strip_args);
}

static enum tv_status begin(struct ladder *ladder, struct tv_error *err)
{
    const struct tv_tables *tables = &ladder->part->trace->tables;
    enum tv_status status =
        tv_html_look_at_part(ladder->part, tv_html_lengths_add, &ladder->lengths, err);
    if (status != TV_OK)
        return status;
    ladder->says = has_arguments(ladder->part);
    ladder->instants = ladder->lengths.slices > 0 && tv_rewrite_can(ladder->part->whole) &&
                       tables->instants.count + tables->flows.count > 0;
    ladder->idle = tv_html_lengths_idle(&ladder->lengths);
    ladder->few = tv_html_lengths_telling(&ladder->lengths, MOST_OF_TIME);
    ladder->many = tv_html_lengths_telling(&ladder->lengths, HALF_OF_TIME);
    return TV_OK;
}

static enum tv_status climb(const struct ladder *ladder, struct tv_html_made *made,
                            struct tv_error *err)
{
    size_t low = 0, high = count_places(ladder), least = high;
    while (low < high) {
        struct tv_html_made tried = {.spool = NULL};
        size_t middle = low + (high - low) / 2;
        enum tv_status status = make_place(ladder, ladder->part, middle, &tried, err);
        if (status != TV_OK && status != TV_ERR_USAGE)
            return status;
        if (status == TV_OK && !tried.spool) {
            high = least = middle;
            continue;
        }
        low = middle + 1;
        if (tried.spool) {
            tv_html_made_release(made);
            *made = tried;
            least = middle;
        }
    }
    if (!made->spool)
        return least < count_places(ladder)
                   ? fail_with_smallest(ladder, least, err)
                   : tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET,
                             "--max-size: no part of the trace is smaller than the whole");
    if (!ladder->part->settings->quiet)
        tell(ladder, least);
    return TV_OK;
}

enum tv_status tv_html_make_smaller(const struct tv_html_part *part, struct tv_html_made *made,
                                    struct tv_error *err)
{
    struct ladder ladder = {.part = part};
    enum tv_status status = begin(&ladder, err);
    return status == TV_OK ? climb(&ladder, made, err) : status;
}
