/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_calls_html.c - the calls of a row of the HTML report
 * (compare_report.h), as the viewer shows those of a selected method: the same
 * buckets, percentiles and slowest calls.
 *
 *     share of a side   base new
 *                       |#  |    +    |         a bucket has a bar for each side
 *                       1 ms     2 ms           lengths, logarithmic
 *
 * Bars are shares of their side, because the sides may have different numbers
 * of runs.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "writers/compare/compare_report.h"

/* The histogram, in pixels. */
#define PLOT_WIDTH 360.0
#define PLOT_HEIGHT 90.0
#define WIDEST_BUCKET 40.0
#define LABEL_SPACE 60.0 /* after the last bucket, and the least between two labels */

static const char *const side_names[] = {"base", "new"};

/* Write a length in the unit that suits it. */
static void calls_put_length(struct tv_out *out, double ns)
{
    if (ns < 1e3)
        tv_out_format(out, "%.4g ns", ns);
    else if (ns < 1e6)
        tv_out_format(out, "%.3f &micro;s", ns / 1e3);
    else if (ns < 1e10)
        tv_out_format(out, "%.3f ms", ns / 1e6);
    else
        tv_out_format(out, "%.3f s", ns / 1e9);
}

/* Write a length, rounded in the text and exact in <data>; "-" if there is
 * none. */
static void calls_put_data(struct tv_out *out, double ns)
{
    if (!isfinite(ns)) {
        tv_out_char(out, '-');
        return;
    }
    tv_out_text(out, "<data value=\"");
    tv_compare_put_number(out, ns);
    tv_out_text(out, "\">");
    calls_put_length(out, ns);
    tv_out_text(out, "</data>");
}

/* Write the bound of a bucket without needless digits: "1.3 ms". */
static void calls_put_bound(struct tv_out *out, uint32_t bucket)
{
    static const struct {
        tv_ns unit;
        const char *name;
    } units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "&micro;s"}, {1, "ns"}};
    tv_ns bound = tv_duration_bound(bucket);
    size_t i = 0;
    while (i + 1 < TV_COUNT(units) && bound < units[i].unit)
        i++;
    tv_out_time_short(out, bound, units[i].unit);
    tv_out_format(out, " %s", units[i].name);
}

/* ---- Histogram ---- */

struct calls_histogram {
    const struct tv_side_calls *side; /* [2] */
    double calls[2];                  /* with a length; 1 where there are none */
    double most;                      /* largest share in a bucket */
    uint32_t first, end;              /* buckets from the first call to the last of any side */
};

/* Return the share of a side's calls that are in a bucket. */
static double calls_share(const struct calls_histogram *histogram, uint32_t side, uint32_t bucket)
{
    return (double)histogram->side[side].buckets[bucket] / histogram->calls[side];
}

/* Find the extent of both sides; it is empty if no call has a length. */
static void calls_histogram_init(struct calls_histogram *histogram,
                                 const struct tv_side_calls *side)
{
    *histogram = (struct calls_histogram){.side = side, .first = TV_DURATION_BUCKETS};
    for (uint32_t i = 0; i < TV_DURATION_BUCKETS; i++) {
        if (side[0].buckets[i] == 0 && side[1].buckets[i] == 0)
            continue;
        histogram->first = histogram->first < i ? histogram->first : i;
        histogram->end = i + 1;
        for (uint32_t k = 0; k < 2; k++)
            histogram->calls[k] += (double)side[k].buckets[i];
    }
    for (uint32_t k = 0; k < 2; k++)
        histogram->calls[k] = histogram->calls[k] > 0 ? histogram->calls[k] : 1;
    for (uint32_t i = histogram->first; i < histogram->end; i++)
        for (uint32_t k = 0; k < 2; k++)
            histogram->most = fmax(histogram->most, calls_share(histogram, k, i));
}

/* Draw the bars of a bucket, which begins at `x`. */
static void calls_put_bucket(struct tv_out *out, const struct calls_histogram *histogram,
                             uint32_t bucket, double x, double width)
{
    tv_out_text(out, "<g><title>");
    calls_put_bound(out, bucket);
    tv_out_text(out, " to ");
    calls_put_bound(out, bucket + 1);
    tv_out_format(out, ": base %llu, new %llu</title>",
                  (unsigned long long)histogram->side[0].buckets[bucket],
                  (unsigned long long)histogram->side[1].buckets[bucket]);
    tv_out_format(out, "<rect class=\"all\" x=\"%.1f\" y=\"0\" width=\"%.1f\" height=\"%.0f\"/>", x,
                  width, PLOT_HEIGHT);
    for (uint32_t side = 0; side < 2; side++) {
        if (histogram->side[side].buckets[bucket] == 0)
            continue;
        double height =
            fmax(2, PLOT_HEIGHT * calls_share(histogram, side, bucket) / histogram->most);
        double bar = width * 0.45;
        tv_out_format(out,
                      "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
                      side_names[side], x + side * bar, PLOT_HEIGHT - height, bar, height);
    }
    tv_out_text(out, "</g>");
}

/* Draw the buckets from left to right, and a label at as many as have room for
 * one. */
static void calls_put_histogram(struct tv_out *out, const struct calls_histogram *histogram)
{
    uint32_t count = histogram->end - histogram->first;
    double width = fmin(WIDEST_BUCKET, PLOT_WIDTH / count);
    uint32_t step = (uint32_t)ceil(LABEL_SPACE / width);
    double whole = width * count + LABEL_SPACE;
    tv_out_format(out,
                  "<svg class=\"lengths\" width=\"%.0f\" height=\"%.0f\" role=\"img\" "
                  "aria-label=\"Shares of lengths in both sides, from ",
                  whole, PLOT_HEIGHT + 20);
    calls_put_bound(out, histogram->first);
    tv_out_text(out, " to ");
    calls_put_bound(out, histogram->end);
    tv_out_text(out, "\">");
    for (uint32_t i = 0; i < count; i++) {
        double x = width * i;
        calls_put_bucket(out, histogram, histogram->first + i, x, width);
        if (i % step != 0)
            continue;
        tv_out_format(out, "<text x=\"%.1f\" y=\"%.0f\">", x, PLOT_HEIGHT + 15);
        calls_put_bound(out, histogram->first + i);
        tv_out_text(out, "</text>");
    }
    tv_out_format(out, "<line x1=\"0\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/></svg>\n",
                  PLOT_HEIGHT + 0.5, width * count, PLOT_HEIGHT + 0.5);
}

/* ---- Percentiles and the slowest ---- */

/* Write what the calls of one run on each side tell about the change of their mean. */
static void calls_put_noise(struct tv_out *out, const struct tv_call_noise *noise)
{
    tv_out_text(out, "<tr><th>Mean");
    for (uint32_t k = 0; k < 2; k++) {
        tv_out_text(out, "<td>");
        calls_put_data(out, noise->mean[k]);
    }
    tv_out_text(out, "<tr><th>As good as independent calls");
    for (uint32_t k = 0; k < 2; k++)
        tv_out_format(out, isfinite(noise->effective[k]) ? "<td>%.0f" : "<td>-",
                      noise->effective[k]);
    tv_out_text(out, "<tr><th>Change of the mean<td colspan=\"2\">");
    tv_compare_put_change(out, noise->change);
    if (!isfinite(noise->low) || !isfinite(noise->high))
        return;
    const struct tv_relative_change change = {noise->change, noise->low, noise->high};
    tv_out_text(out, "<tr><th>95 % interval of these two traces<td colspan=\"2\">");
    tv_compare_put_interval(out, &change);
}

/* Write the table of percentiles; those of a side are medians over its runs. */
static void calls_put_percentiles(struct tv_out *out, const struct tv_calls_of_row *of)
{
    const struct tv_side_calls *side = of->side;
    const struct {
        const char *head;
        double of[2];
    } lines[] = {{"Median", {side[0].median, side[1].median}},
                 {"95 %", {side[0].p95, side[1].p95}},
                 {"Longest", {side[0].max, side[1].max}}};
    tv_out_text(out, "<table><caption>Times are medians over the runs</caption><tr><th>"
                     "<th><i class=\"base\"></i>Base<th><i class=\"new\"></i>New<tr><th>Calls");
    for (uint32_t k = 0; k < 2; k++)
        tv_out_format(out, "<td><data value=\"%llu\">%llu</data>",
                      (unsigned long long)side[k].count, (unsigned long long)side[k].count);
    for (size_t i = 0; i < TV_COUNT(lines); i++) {
        tv_out_format(out, "<tr><th>%s", lines[i].head);
        for (uint32_t k = 0; k < 2; k++) {
            tv_out_text(out, "<td>");
            calls_put_data(out, lines[i].of[k]);
        }
    }
    if (of->noise.mean[0] > 0)
        calls_put_noise(out, &of->noise);
    tv_out_text(out, "</table>\n");
}

/* Write the last part of a run's path; the tooltip has all of it. */
static void calls_put_run(struct tv_out *out, const char *path)
{
    const char *slash = strrchr(path, '/');
    tv_out_text(out, ", <span title=\"");
    tv_out_xml(out, tv_bytes_of(path));
    tv_out_text(out, "\">");
    tv_out_xml(out, tv_bytes_of(slash ? slash + 1 : path));
    tv_out_text(out, "</span>");
}

/* Write the range of a call, as --range and the range field of the viewer take it. */
static void calls_put_range(struct tv_out *out, const struct tv_compared_call *call)
{
    tv_ns length = call->length > 0 ? call->length : 1;
    tv_ns end = call->start > TV_MOVE_MAX - length ? TV_MOVE_MAX : call->start + length;
    tv_out_text(out, ", <code title=\"For --range, and for the range in the viewer\">");
    tv_out_time(out, call->start, 1000000, 6);
    tv_out_text(out, "ms:");
    tv_out_time(out, end, 1000000, 6);
    tv_out_text(out, "ms</code>");
}

/* Write the slowest calls of a side, each with its run, its track and the range
 * that shows it. */
static void calls_put_slowest(struct tv_out *out, const struct tv_compared_calls *calls,
                              const struct tv_side_calls *side, const char *name)
{
    if (side->slowest_count == 0)
        return;
    tv_out_format(out, "<div><h3>Slowest calls: %s</h3><ol>", name);
    for (uint32_t i = 0; i < side->slowest_count; i++) {
        const struct tv_compared_call *call = &side->slowest[i];
        tv_out_text(out, "<li>");
        calls_put_data(out, (double)call->length);
        tv_out_text(out, " <span>at ");
        tv_out_time(out, call->start, 1000000, 3);
        tv_out_text(out, " ms");
        struct tv_bytes track = tv_interner_get(calls->strings, call->track);
        if (track.length > 0) {
            tv_out_text(out, ", ");
            tv_out_xml(out, track);
        }
        calls_put_run(out, calls->comparison->table->runs[call->run].name);
        calls_put_range(out, call);
        tv_out_text(out, "</span>");
    }
    tv_out_text(out, "</ol></div>\n");
}

void tv_compare_put_calls_html(struct tv_out *out, const struct tv_compare_report *report,
                               uint32_t row)
{
    assert(report->calls && row < report->calls->count);
    const struct tv_side_calls *side = report->calls->rows[row].side;
    struct calls_histogram histogram;
    calls_histogram_init(&histogram, side);
    tv_out_format(out,
                  "<div class=\"calls\"><div>Lengths of its calls, %s time: share of each side\n",
                  report->comparison->cpu ? "CPU" : "wall");
    if (histogram.end > 0)
        calls_put_histogram(out, &histogram);
    tv_out_text(out, "</div>");
    calls_put_percentiles(out, &report->calls->rows[row]);
    tv_out_text(out, "<div class=\"slowest\">");
    for (uint32_t k = 0; k < 2; k++)
        calls_put_slowest(out, report->calls, &side[k], side_names[k]);
    tv_out_text(out, "</div></div>\n");
}
