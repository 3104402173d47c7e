/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/html_part.h"

#include <stdio.h>

#include "analysis/filter.h"
#include "base/bytes.h"

/* One way to leave something out, in steps from the most detail to the least. */
struct ladder {
    size_t steps;
    /* As tv_html_make; TV_ERR_USAGE: nothing is left. */
    enum tv_status (*make)(const struct tv_html_part *part, size_t step, struct tv_html_made *made,
                           struct tv_error *err);
    void (*tell)(const char *file, size_t step);
};

/* As much detail as there is room for, found by halving; none: no spool. */
static enum tv_status climb(const struct tv_html_part *part, const struct ladder *ladder,
                            struct tv_html_made *made, struct tv_error *err)
{
    size_t low = 0, high = ladder->steps;
    while (low < high) {
        struct tv_html_made tried = {.spool = NULL};
        size_t middle = low + (high - low) / 2;
        enum tv_status status = ladder->make(part, middle, &tried, err);
        if (status != TV_OK && status != TV_ERR_USAGE)
            return status;
        if (status == TV_OK && !tried.spool) {
            low = middle + 1;
            continue;
        }
        if (tried.spool) {
            tv_html_made_release(made);
            *made = tried;
        }
        high = middle;
    }
    if (made->spool && !part->settings->quiet)
        ladder->tell(part->settings->files.items[0], high);
    return TV_OK;
}

/* ---- Slices that are too short ---- */

static const char *const lengths[] = {"1us",   "2us",   "5us",   "10us",  "20us",  "50us",
                                      "100us", "200us", "500us", "1ms",   "2ms",   "5ms",
                                      "10ms",  "20ms",  "50ms",  "100ms", "200ms", "500ms",
                                      "1s",    "2s",    "5s",    "10s",   "20s",   "50s"};

static enum tv_status make_of_longer(const struct tv_html_part *part, size_t step,
                                     struct tv_html_made *made, struct tv_error *err)
{
    char text[32];
    struct tv_filter filter;
    struct tv_html_part longer = *part;
    size_t column;
    snprintf(text, sizeof text, "dur>=%s", lengths[step]);
    enum tv_status status = tv_filter_parse(tv_bytes_of(text), &filter, &column, err);
    if (status != TV_OK)
        return status;
    struct tv_trace *filtered = tv_filter_trace(part->trace, &filter);
    longer.trace = filtered;
    longer.shortest = lengths[step];
    status = tv_html_make_part(&longer, made, err);
    tv_trace_free(filtered);
    tv_filter_release(&filter);
    return status;
}

static void tell_shortest(const char *file, size_t step)
{
    fprintf(stderr, "%s: note: slices shorter than %s are not in the report\n", file,
            lengths[step]);
}

static const struct ladder by_length = {TV_COUNT(lengths), make_of_longer, tell_shortest};

/* ---- Its end ---- */

static enum tv_status make_of_beginning(const struct tv_html_part *part, size_t step,
                                        struct tv_html_made *made, struct tv_error *err)
{
    struct tv_html_part beginning = *part;
    beginning.share = TV_HTML_SHARES - 1 - (unsigned)step;
    return tv_html_make_part(&beginning, made, err);
}

static void tell_end(const char *file, size_t step)
{
    double part = (double)(step + 1) / TV_HTML_SHARES * 100;
    fprintf(stderr, "%s: note: the last %.1f %% of the time are not in the report\n", file, part);
}

static const struct ladder by_end = {TV_HTML_SHARES - 1, make_of_beginning, tell_end};

/* ---- All of them ---- */

static bool has_arguments(const struct tv_html_part *part)
{
    const struct tv_head *head = part->whole->head;
    bool any = false;
    for (uint32_t i = 0; i < head->input_count; i++)
        any = any || head->inputs[i].describe != NULL;
    return any && !(part->disguised && part->disguise.strip_args);
}

static enum tv_status make_without_arguments(struct tv_html_part *part, struct tv_html_made *made,
                                             struct tv_error *err)
{
    part->disguised = part->disguise.strip_args = true;
    enum tv_status status = tv_html_make_part(part, made, err);
    if (status == TV_OK && !made->spool)
        status = climb(part, &by_length, made, err);
    return status;
}

enum tv_status tv_html_make_smaller(const struct tv_html_part *part, struct tv_html_made *made,
                                    struct tv_error *err)
{
    struct tv_html_part smaller = *part;
    bool strips = has_arguments(part);
    enum tv_status status = climb(&smaller, &by_length, made, err);
    if (status == TV_OK && !made->spool && strips)
        status = make_without_arguments(&smaller, made, err);
    if (status == TV_OK && !made->spool)
        status = climb(&smaller, &by_end, made, err);
    if (status == TV_OK && !made->spool)
        return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET,
                       "--max-size: no part of the trace is that small: page and engine are in it "
                       "too; choose with --range or --thread");
    if (status == TV_OK && smaller.disguise.strip_args && strips && !part->settings->quiet)
        fprintf(stderr, "%s: note: arguments, snapshots and metadata are not in the report\n",
                part->settings->files.items[0]);
    return status;
}
