/* SPDX-License-Identifier: Apache-2.0 */
/* html_smaller.c - what remains in a report that must fit into --max-size.
 *
 * Everything that can be left out is one list of levels, from the least detail to the whole trace.
 * Each level contains the one before it, and more:
 *
 *     shares      the first n/1024 of the time, long slices only
 *     slices      more and more slices, until only short ones are missing
 *     instants    instants and arrows, in steps
 *     texts       arguments and snapshots, the short ones first
 *     short       the remaining, shortest slices
 *
 * The largest level that fits is found by bisection. For every size limit the same levels are tried
 * in the same order, so a larger limit never keeps fewer slices. The reasons for this order:
 * docs/decisions/0019-what-a-small-report-keeps.md. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "analysis/subset/filter.h"
#include "base/bytes.h"
#include "base/sort.h"
#include "cli/output/html_report.h"
#include "cli/output/message.h"
#include "writers/trace/rewrite.h"

static const unsigned char length_digits[] = {10, 11, 12, 13, 15, 16, 18, 20, 22, 24, 27, 30,
                                              33, 36, 39, 43, 47, 51, 56, 62, 68, 75, 82, 91};

static tv_ns html_length_of_step(size_t step)
{
    tv_ns length = length_digits[step % TV_COUNT(length_digits)];
    for (size_t i = 0; i < step / TV_COUNT(length_digits); i++)
        length *= 10;
    return length;
}

void tv_html_length_text(size_t step, char text[16])
{
    assert(step < TV_HTML_LENGTHS);
    static const char *const units[] = {"ns", "us", "ms", "s"};
    double length = (double)html_length_of_step(step);
    size_t unit = 0;
    for (; length >= 1000 && unit + 1 < TV_COUNT(units); unit++)
        length /= 1000;
    snprintf(text, 16, "%g%s", length, units[unit]);
}

/* Return the first step that leaves out a slice of this length. */
static size_t html_step_of_length(tv_ns length)
{
    size_t low = 0;
    TV_LOWER_BOUND(low, TV_HTML_LENGTHS, i, html_length_of_step(i) <= length);
    return low;
}

/* Add the slices of a row to the counts by length, and move their time from their parents. */
static void html_lengths_add_row(struct tv_html_lengths *lengths, const struct tv_trace *trace,
                                 uint32_t row)
{
    const struct tv_row *r = &trace->rows[row];
    for (uint32_t i = 0; i < r->count; i++) {
        tv_ns length = tv_slice_get(trace, row, i).length;
        size_t step = html_step_of_length(length);
        uint32_t parent = r->depth > 0 ? tv_slice_parent(trace, row, i) : TV_NONE;
        lengths->self[step] += (double)length;
        lengths->count[step]++;
        if (parent != TV_NONE)
            lengths->self[html_step_of_length(tv_slice_get(trace, row - 1, parent).length)] -=
                (double)length;
    }
    lengths->slices += r->count;
}

void tv_html_lengths_add(void *lengths, const struct tv_trace *trace)
{
    struct tv_html_lengths *all = lengths;
    for (uint32_t i = 0; i < trace->row_count; i++)
        html_lengths_add_row(all, trace, i);
    all->span = trace->end - trace->start;
}

size_t tv_html_lengths_idle(const struct tv_html_lengths *lengths)
{
    size_t step = 0;
    while (step < TV_HTML_LENGTHS && lengths->count[step] == 0)
        step++;
    return step;
}

size_t tv_html_lengths_covering(const struct tv_html_lengths *lengths, double share)
{
    double all = 0, left;
    size_t idle = tv_html_lengths_idle(lengths), step = idle;
    for (size_t i = 0; i <= TV_HTML_LENGTHS; i++)
        all += lengths->self[i];
    left = all;
    while (step < TV_HTML_LENGTHS && all > 0 && html_length_of_step(step) <= lengths->span / 100) {
        left -= lengths->self[step];
        if (left < share * all)
            break;
        step++;
    }
    return step;
}

/* Shares of the self time that the remaining slices must keep: while everything else remains, and
 * while nothing else does. */
#define NEARLY_ALL_TIME 0.99
#define HALF_OF_TIME 0.5

/* Sizes of texts of events, in four steps per octave: up to 4 bytes, ... 64 MB. */
#define TEXT_STEPS 97u

/* Metadata up to this size in bytes always remains. */
#define SMALL_BESIDE 4096u

struct html_ladder {
    const struct tv_html_part *part;
    bool has_texts; /* events have arguments that can be left out */
    bool instants;  /* there are slices, and also instants or arrows */
    struct tv_html_lengths lengths;
    size_t idle, few, many; /* slices shorter than this step */
};

/* Events that one level leaves out. */
struct html_level {
    size_t length; /* steps of lengths */
    bool stripped, limited;
    struct tv_event_limit limit;
    unsigned share;
};

/* ---- The levels ---- */

/* A group of levels that differ in one thing. */
struct html_stage {
    size_t (*count)(const struct html_ladder *ladder);
    void (*set)(const struct html_ladder *ladder, size_t n, struct html_level *level);
};

/* Keep only the first shares of the time. */
static size_t html_count_shares(const struct html_ladder *ladder)
{
    (void)ladder;
    return TV_HTML_SHARES - 1;
}

static void html_set_least(const struct html_ladder *ladder, struct html_level *level)
{
    level->length = ladder->many;
    level->stripped = ladder->has_texts;
    level->limited = ladder->instants;
    level->limit.instants = ladder->instants ? 0 : TV_EVENT_SHARES;
}

static void html_set_share(const struct html_ladder *ladder, size_t n, struct html_level *level)
{
    html_set_least(ladder, level);
    level->share = (unsigned)n + 1;
}

/* Keep more slices, and nothing else. */
static size_t html_count_slice_steps(const struct html_ladder *ladder)
{
    return ladder->many - ladder->few;
}

static void html_set_slices(const struct html_ladder *ladder, size_t n, struct html_level *level)
{
    assert(n <= ladder->many - ladder->few);
    html_set_least(ladder, level);
    level->length -= n;
}

/* Keep instants and arrows. */
static size_t html_count_instants(const struct html_ladder *ladder)
{
    return (ladder->instants ? TV_EVENT_SHARES : 0) + (ladder->has_texts ? 1 : 0);
}

static void html_set_instants(const struct html_ladder *ladder, size_t n, struct html_level *level)
{
    html_set_least(ladder, level);
    level->length = ladder->few;
    level->limit.instants = ladder->instants ? (uint32_t)n : TV_EVENT_SHARES;
    level->limited = level->limit.instants < TV_EVENT_SHARES;
}

/* Keep texts of events, and metadata. */
static size_t html_count_texts(const struct html_ladder *ladder)
{
    return ladder->has_texts ? (size_t)TEXT_STEPS * TV_EVENT_SHARES : 0;
}

static uint64_t html_text_bytes(size_t step)
{
    return step == 0 ? 0 : (uint64_t)(4 + (step - 1) % 4) << (step - 1) / 4;
}

static void html_set_texts(const struct html_ladder *ladder, size_t n, struct html_level *level)
{
    level->length = ladder->few;
    level->limited = true;
    level->limit.sure = html_text_bytes(n / TV_EVENT_SHARES);
    level->limit.longest = html_text_bytes(n / TV_EVENT_SHARES + 1);
    level->limit.share = n % TV_EVENT_SHARES;
    level->limit.beside = SMALL_BESIDE;
}

/* Keep the shortest slices. The level after the last one is the whole trace. */
static size_t html_count_short_slices(const struct html_ladder *ladder)
{
    return ladder->few - ladder->idle + (ladder->has_texts ? 1 : 0);
}

static void html_set_short_slices(const struct html_ladder *ladder, size_t n,
                                  struct html_level *level)
{
    assert(n <= ladder->few);
    level->length = ladder->few - n;
    level->limited = ladder->has_texts;
    level->limit.beside = ladder->has_texts ? SMALL_BESIDE : UINT64_MAX;
}

/* From the least detail to the most. */
static const struct html_stage stages[] = {
    {html_count_shares, html_set_share},
    {html_count_slice_steps, html_set_slices},
    {html_count_instants, html_set_instants},
    {html_count_texts, html_set_texts},
    {html_count_short_slices, html_set_short_slices},
};

static size_t html_count_levels(const struct html_ladder *ladder)
{
    size_t count = 0;
    for (size_t i = 0; i < TV_COUNT(stages); i++)
        count += stages[i].count(ladder);
    return count;
}

/* Return the n-th level of the ladder, from all details to few. */
static struct html_level html_level_at(const struct html_ladder *ladder, size_t n)
{
    assert(n < html_count_levels(ladder));
    struct html_level level = {
        .limit = {UINT64_MAX, UINT64_MAX, UINT64_MAX, TV_EVENT_SHARES, TV_EVENT_SHARES}};
    const struct html_stage *stage = stages;
    for (; n >= stage->count(ladder); stage++)
        n -= stage->count(ladder);
    stage->set(ladder, n, &level);
    return level;
}

/* ---- A report of one level ---- */

/* Make a report without slices shorter than a time. */
static enum tv_status html_make_of_longer(struct tv_html_part *part, const char *shortest,
                                          struct tv_html_output *made, struct tv_error *err)
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

/* Make the report of one level. */
static enum tv_status html_make_level(const struct html_ladder *ladder,
                                      const struct tv_html_part *wanted, size_t n,
                                      struct tv_html_output *made, struct tv_error *err)
{
    struct html_level level = html_level_at(ladder, n);
    struct tv_html_part part = *wanted;
    char shortest[16];
    part.smaller = true;
    part.sliced = ladder->lengths.slices > 0;
    part.share = level.share;
    part.limit = level.limited ? &level.limit : NULL;
    if (level.stripped)
        part.redacted = part.redaction.strip_args = true;
    if (level.length == ladder->idle)
        return tv_html_make_part(&part, made, err);
    tv_html_length_text(level.length - 1, shortest);
    return html_make_of_longer(&part, shortest, made, err);
}

/* ---- What is reported ---- */

/* Say everything that the report leaves out. */
static void html_report_omissions(const struct html_ladder *ladder, size_t n)
{
    const char *file = ladder->part->settings->files.items[0];
    struct html_level level = html_level_at(ladder, n);
    if (level.length > ladder->idle) {
        char shortest[16];
        tv_html_length_text(level.length - 1, shortest);
        tv_message("%s: note: slices shorter than %s are not in the report", file, shortest);
    }
    if (level.limit.sure < UINT64_MAX)
        tv_message("%s: note: arguments and snapshots of more than %" PRIu64
                   " bytes are not in the report",
                   file, level.limit.share > 0 ? level.limit.longest : level.limit.sure);
    if (level.limit.instants < TV_EVENT_SHARES)
        tv_message("%s: note: some or all instants and arrows are not in the report", file);
    if (level.limit.beside < UINT64_MAX)
        tv_message("%s: note: metadata of more than %" PRIu64 " bytes are not in the report", file,
                   level.limit.beside);
    if (level.stripped)
        tv_message("%s: note: arguments, snapshots and metadata are not in the report", file);
    if (level.share > 0)
        tv_message("%s: note: the last %.1f %% of the time is not in the report", file,
                   (double)(TV_HTML_SHARES - level.share) / TV_HTML_SHARES * 100);
}

/* Make the smallest report again without a limit, to report its size. */
static enum tv_status html_fail_with_smallest(const struct html_ladder *ladder, size_t n,
                                              struct tv_error *err)
{
    struct tv_settings any = *ladder->part->settings;
    struct tv_html_part part = *ladder->part;
    struct tv_html_output made = {.spool = NULL};
    any.max_size = TV_ANY_SIZE;
    part.settings = &any;
    enum tv_status status = html_make_level(ladder, &part, n, &made, err);
    if (status != TV_OK)
        return status;
    tv_html_output_release(&made);
    return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET,
                   "--max-size: the smallest possible report has %" PRIu64
                   " bytes; select less with --range or --thread",
                   made.size);
}

/* ---- The largest level that fits ---- */

/* True when leaving out arguments would make the page smaller: an input can describe its calls, and
 * arguments are not stripped already. */
static bool html_has_arguments(const struct tv_html_part *part)
{
    const struct tv_trace_info *head = part->whole->head;
    bool any = false;
    for (uint32_t i = 0; i < head->input_count; i++)
        any = any || head->inputs[i].describe != NULL;
    return any && !(part->redacted && part->redaction.strip_args);
}

/* Find out which levels make sense for this trace. */
static enum tv_status html_ladder_init(struct html_ladder *ladder, struct tv_error *err)
{
    const struct tv_tables *tables = &ladder->part->trace->tables;
    enum tv_status status =
        tv_html_visit_part(ladder->part, tv_html_lengths_add, &ladder->lengths, err);
    if (status != TV_OK)
        return status;
    ladder->has_texts = html_has_arguments(ladder->part);
    ladder->instants = ladder->lengths.slices > 0 && tv_rewrite_can(ladder->part->whole) &&
                       tables->instants.count + tables->flows.count > 0;
    ladder->idle = tv_html_lengths_idle(&ladder->lengths);
    ladder->few = tv_html_lengths_covering(&ladder->lengths, NEARLY_ALL_TIME);
    ladder->many = tv_html_lengths_covering(&ladder->lengths, HALF_OF_TIME);
    return TV_OK;
}

/* Find the first level that fits by bisection: each level is smaller than the one before. */
static enum tv_status html_ladder_climb(const struct html_ladder *ladder,
                                        struct tv_html_output *made, struct tv_error *err)
{
    size_t low = 0, high = html_count_levels(ladder), least = high;
    while (low < high) {
        struct tv_html_output tried = {.spool = NULL};
        size_t middle = low + (high - low) / 2;
        enum tv_status status = html_make_level(ladder, ladder->part, middle, &tried, err);
        if (status != TV_OK && status != TV_ERR_USAGE)
            return status;
        if (status == TV_OK && !tried.spool) {
            high = least = middle;
            continue;
        }
        low = middle + 1;
        if (tried.spool) {
            tv_html_output_release(made);
            *made = tried;
            least = middle;
        }
    }
    if (!made->spool)
        return least < html_count_levels(ladder)
                   ? html_fail_with_smallest(ladder, least, err)
                   : tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET,
                             "--max-size: no part of this trace makes a smaller report");
    if (!ladder->part->settings->quiet)
        html_report_omissions(ladder, least);
    return TV_OK;
}

enum tv_status tv_html_make_smaller(const struct tv_html_part *part, struct tv_html_output *made,
                                    struct tv_error *err)
{
    struct html_ladder ladder = {.part = part};
    enum tv_status status = html_ladder_init(&ladder, err);
    return status == TV_OK ? html_ladder_climb(&ladder, made, err) : status;
}
