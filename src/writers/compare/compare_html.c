/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_html.c - a comparison as one HTML file without dependencies (compare_report.h): heading,
 * verdicts of rules, the differential flame graph, the table, and the runs.
 *
 * Each figure is a <data> element: its text is rounded, its value is the number of the JSON report.
 */
#include <assert.h>
#include <math.h>

#include "base/bytes.h"
#include "writers/compare/change_svg.h"
#include "writers/compare/compare_report.h"
#include "writers/text/names.h"

/* clang-format off */
static const char html_head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src"
    " 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n<style>\n"
    ":root { color-scheme: light dark; --text: #16191f; --text-2: #4d5460; --line: #c3c8d0;"
    " --bg: #ffffff; --more: #a3160a; --less: #0b4f9c;"
    " --base: #7f8794; --new: #1d5fd1; }\n"
    "@media (prefers-color-scheme: dark) { :root { --text: #e8eaee; --text-2: #aab0ba;"
    " --line: #424851; --bg: #131519; --more: #ff9c8f; --less: #8ec2ff;"
    " --base: #8a929e; --new: #6ea8fe; } }\n"
    "body { margin: 16px; color: var(--text); background: var(--bg); font: 14px system-ui,"
    " \"Segoe UI\", Roboto, \"Noto Sans\", \"Liberation Sans\", sans-serif; }\n"
    "h1 { font-size: 20px; }\nh2 { font-size: 16px; margin: 24px 0 8px; }\n"
    "p { white-space: pre-line; color: var(--text-2); }\npre { white-space: pre-wrap; }\n"
    "#flame { width: 100%; }\ntable { border-collapse: collapse; width: 100%; }\n"
    "th, td { padding: 3px 8px; border-bottom: 1px solid var(--line); text-align: right;"
    " font-variant-numeric: tabular-nums; white-space: nowrap; }\n"
    "th { position: sticky; top: 0; background: var(--bg); }\n"
    "th:last-child, td:last-child { text-align: left; width: 100%; overflow-wrap: anywhere;"
    " white-space: normal; }\n"
    "th button { all: unset; cursor: pointer; font-weight: 600; }\n"
    "th button:focus-visible, input:focus-visible { outline: 2px solid #1d5fd1; }\n"
    "tr.more .change { color: var(--more); font-weight: 600; }\n"
    "tr.less .change { color: var(--less); font-weight: 600; }\n"
    ".calls { display: flex; flex-wrap: wrap; align-items: flex-start;"
    " gap: 12px 32px; padding: 8px 0 16px;"
    " color: var(--text-2); }\n"
    ".calls caption { caption-side: bottom; text-align: right; }\n"
    ".calls table { width: auto; }\n.calls th { position: static; font-weight: 400; }\n"
    "#rows .calls td:last-child, #rows .calls th:last-child { width: auto; text-align: right; }\n"
    ".slowest { display: flex; gap: 8px 32px; width: 100%; }\n"
    ".slowest [title] { white-space: nowrap; }\n.slowest code { user-select: all; }\n"
    ".calls h3 { margin: 0; font-size: 14px; }\n"
    ".calls ol { margin: 4px 0 0; padding-left: 28px; }\n"
    ".calls data { color: var(--text); font-variant-numeric: tabular-nums; }\n"
    ".calls i { display: inline-block; width: 10px; height: 10px; margin-right: 6px; }\n"
    "i.base { background: var(--base); }\ni.new { background: var(--new); }\n"
    ".lengths { display: block; margin-top: 8px; }\n.lengths .all { fill: transparent; }\n"
    ".lengths g:hover .all { fill: var(--line); }\n.lengths .base { fill: var(--base); }\n"
    ".lengths .new { fill: var(--new); }\n.lengths line { stroke: var(--line); }\n"
    ".lengths text { font-size: 12px; fill: var(--text-2); }\n"
    "summary { cursor: pointer; }\nsummary:focus-visible { outline: 2px solid #1d5fd1; }\n"
    "#rows td { vertical-align: top; }\n"
    "tr.unsure { color: var(--text-2); }\n[hidden] { display: none; }\n"
    "input { font: inherit; padding: 4px 8px; width: 260px; }\n</style>\n";

static const char html_script[] =
    "<script>\n'use strict';\n(() => {\n"
    "  const body = document.querySelector('#rows tbody'), rows = [...body.rows];\n"
    "  const filter = document.getElementById('filter');\n"
    "  const name = (row) => {\n"
    "    const cell = row.cells[row.cells.length - 1];\n"
    "    return (cell.querySelector('summary') ?? cell).textContent;\n"
    "  };\n"
    "  const value = (row, column) => {\n"
    "    if (column === row.cells.length - 1) return name(row);\n"
    "    const data = row.cells[column].querySelector('data');\n"
    "    return data ? Number(data.value) : row.cells[column].textContent;\n"
    "  };\n"
    "  filter.addEventListener('input', () => {\n"
    "    const wanted = filter.value.toLowerCase();\n"
    "    for (const row of rows)\n"
    "      row.hidden = !name(row).toLowerCase().includes(wanted);\n"
    "  });\n"
    "  // The first click sorts by the column, the second the other way, the third as before.\n"
    "  let sorted = -1, way = 0;\n"
    "  document.querySelectorAll('#rows th button').forEach((button) => {\n"
    "    button.addEventListener('click', () => {\n"
    "      const column = Number(button.dataset.column);\n"
    "      way = sorted === column ? (way + 1) % 3 : 1;\n"
    "      sorted = column;\n"
    "      const order = (a, b) => {\n"
    "        const x = value(a, column), y = value(b, column);\n"
    "        if (typeof x !== typeof y) return typeof x === 'number' ? -1 : 1;\n"
    "        return (x < y ? -1 : x > y ? 1 : 0) * (way === 2 ? 1 : -1);\n"
    "      };\n"
    "      body.append(...(way === 0 ? rows : [...rows].sort(order)));\n"
    "    });\n"
    "  });\n"
    "})();\n</script>\n";
/* clang-format on */

/* Begin a figure: <data value="..."> with the number as JSON has it; nothing if it is not known.
 * Return whether it was begun. */
static bool html_begin_data(struct tv_out *out, double value)
{
    if (!isfinite(value))
        return false;
    tv_out_text(out, "<data value=\"");
    tv_compare_put_number(out, value);
    tv_out_text(out, "\">");
    return true;
}

/* Write the cell of a figure: rounded in its unit, with the exact number in
 * <data>. */
static void html_put_figure(struct tv_out *out, const struct tv_comparison *comparison,
                            enum tv_run_figure figure, double value)
{
    tv_out_text(out, "<td>");
    struct tv_out text; /* the unit can be a text of the file */
    tv_out_init_memory(&text);
    tv_compare_put_figure(&text, comparison, figure, value);
    bool known = html_begin_data(out, value);
    tv_out_xml(out, (struct tv_bytes){text.buffer, text.length});
    tv_out_text(out, known ? "</data>" : "");
    tv_out_release(&text);
}

/* Write the cells of a change, its interval and p; p is NAN where there is none. */
static void html_put_change(struct tv_out *out, const struct tv_relative_change *change, double p)
{
    tv_out_text(out, "<td class=\"change\">");
    bool known = html_begin_data(out, change->change);
    tv_compare_put_change(out, change->change);
    tv_out_text(out, known ? "</data><td>" : "<td>");
    if (html_begin_data(out, change->low)) {
        tv_compare_put_percent(out, change->low);
        tv_out_text(out, "</data>..");
        known = html_begin_data(out, change->high);
        tv_compare_put_percent(out, change->high);
        tv_out_text(out, known ? " %</data>" : " %");
    } else {
        tv_out_char(out, '-');
    }
    tv_out_text(out, "<td>");
    if (html_begin_data(out, p)) {
        struct tv_out text;
        tv_out_init_memory(&text);
        tv_compare_put_p(&text, p);
        tv_out_xml(out, (struct tv_bytes){text.buffer, text.length});
        tv_out_release(&text);
        tv_out_text(out, "</data>");
    } else {
        tv_out_char(out, '-');
    }
}

/* Write the numbers of calls; equal ones are shown once. */
static void html_put_calls(struct tv_out *out, const struct tv_comparison *comparison,
                           const struct tv_compared_row *row)
{
    if (!tv_compare_has_counts(comparison)) {
        tv_out_text(out, "<td>-");
        return;
    }
    tv_out_format(out, "<td><data value=\"%llu\">", (unsigned long long)row->base_calls);
    if (row->base_calls != row->new_calls)
        tv_out_format(out, "%llu &rarr; ", (unsigned long long)row->base_calls);
    tv_out_format(out, "</data><data value=\"%llu\">%llu</data>",
                  (unsigned long long)row->new_calls, (unsigned long long)row->new_calls);
}

/* Return the class of a row: its colour, if its change is sure. */
static const char *html_row_class(const struct tv_comparison *comparison,
                                  const struct tv_compared_row *row)
{
    static const char *const classes[] = {"unsure", "more", "less", "more", "less"};
    enum tv_change_verdict verdict = tv_comparison_verdict(comparison, row);
    assert(verdict < TV_COUNT(classes));
    return classes[comparison->can_test ? verdict : TV_VERDICT_UNSURE];
}

/* Write the name of a row; a click on it opens its calls, if they are known. */
static void html_put_name(struct tv_out *out, const struct tv_compare_report *report, uint32_t row)
{
    const struct tv_run_table *table = report->comparison->table;
    const struct tv_compared_calls *calls = report->calls;
    bool has_calls = calls && row < calls->count && tv_compare_has_counts(report->comparison) &&
                     calls->rows[row].side[0].count + calls->rows[row].side[1].count > 0;
    struct tv_out name;
    tv_out_init_memory(&name);
    tv_run_row_name(&name, table, &table->rows[report->comparison->rows[row].row]);
    tv_out_text(out, has_calls ? "<details><summary>" : "");
    tv_out_xml(out, (struct tv_bytes){name.buffer, name.length});
    tv_out_release(&name);
    tv_out_text(out, has_calls ? "</summary>\n" : "\n");
    if (!has_calls)
        return;
    tv_compare_put_calls_html(out, report, row);
    tv_out_text(out, "</details>\n");
}

/* Write the row of a compared method, path, class, package or thread. */
static void html_put_row(struct tv_out *out, const struct tv_compare_report *report,
                         uint32_t number)
{
    const struct tv_comparison *comparison = report->comparison;
    const struct tv_compared_row *row = &comparison->rows[number];
    struct tv_relative_change change = tv_comparison_change(comparison, row);
    tv_out_format(out, "<tr class=\"%s\"><td>%s", html_row_class(comparison, row),
                  tv_compare_mark(comparison, row));
    html_put_figure(out, comparison, comparison->figure, row->base);
    html_put_figure(out, comparison, comparison->figure, row->new);
    html_put_change(out, &change, row->tested && comparison->can_test ? row->p : (double)NAN);
    html_put_calls(out, comparison, row);
    tv_out_text(out, "<td>");
    html_put_name(out, report, number);
}

/* Write the row of the total, which stays above all others whatever sorts the
 * table. */
static void html_put_total(struct tv_out *out, const struct tv_comparison *comparison)
{
    struct tv_relative_change change = tv_comparison_total_change(comparison);
    tv_out_text(out, "<tr id=\"total\"><td>");
    html_put_figure(out, comparison, TV_FIGURE_EXCL, comparison->base_total);
    html_put_figure(out, comparison, TV_FIGURE_EXCL, comparison->new_total);
    html_put_change(out, &change,
                    comparison->can_test ? tv_change_p(&comparison->total, TV_CHANGE_ANY)
                                         : (double)NAN);
    tv_out_text(out, "<td><td>(total of all threads)\n");
}

/* Write the table, and below it what marks and colours mean.  Closing tags of
 * rows and cells are left out, as HTML allows: a report has many of them. */
static void html_put_table(struct tv_out *out, const struct tv_compare_report *report)
{
    const struct tv_comparison *comparison = report->comparison;
    const char *const columns[] = {
        "Base", "New", "Change", "95 % interval", "p", comparison->weighs ? "Samples" : "Calls"};
    tv_out_text(out, "<h2>Changes</h2>\n<input id=\"filter\" type=\"search\" "
                     "placeholder=\"Filter\" aria-label=\"Filter by name\">\n"
                     "<table id=\"rows\"><thead><tr><th>");
    for (size_t i = 0; i < TV_COUNT(columns); i++)
        tv_out_format(out, "<th><button data-column=\"%zu\">%s</button>", i + 1, columns[i]);
    tv_out_format(out, "<th><button data-column=\"%zu\">%s</button>\n", TV_COUNT(columns) + 1,
                  tv_compare_rows_title(comparison));
    html_put_total(out, comparison);
    tv_out_text(out, "</thead><tbody>\n");
    for (uint32_t i = 0; i < comparison->count; i++)
        html_put_row(out, report, i);
    tv_out_text(out,
                "</tbody></table>\n<p>Marks: ~ matched but for generated numbers, = renamed, + "
                "only in new runs, - only in base runs, ! the number of calls certainly "
                "differs. Coloured rows changed with p &lt; 0.05.</p>\n");
    if (report->calls) {
        tv_out_format(out,
                      "<p>A click on a method opens its calls, for the first %u: how long they "
                      "were in both sides, and the slowest.</p>\n",
                      report->calls->count);
    } else if (report->calls_note) {
        tv_out_text(out, "<p>");
        tv_out_xml(out, tv_bytes_of(report->calls_note));
        tv_out_text(out, "</p>\n");
    }
}

/* Write the runs, each with its total and the factor that its rows have in
 * common (changes.h). */
static void html_put_runs(struct tv_out *out, const struct tv_comparison *comparison)
{
    static const char *const sides[] = {"base", "new", "baseline"};
    const struct tv_run_table *table = comparison->table;
    uint32_t number = 0;
    tv_out_text(out, "<details><summary>Runs</summary>\n<table id=\"runs\"><thead><tr><th>Side"
                     "<th>Total<th>Common factor<th>Recorded<th>File</thead><tbody>\n");
    for (uint32_t run = 0; run < table->run_count; run++) {
        const struct tv_run *r = &table->runs[run];
        tv_out_format(out, "<tr><td>%s", sides[r->side]);
        html_put_figure(out, comparison, TV_FIGURE_EXCL, tv_comparison_run_total(comparison, run));
        tv_out_text(out, "<td>");
        if (r->side != TV_RUN_HISTORY)
            tv_compare_put_change(out, exp(comparison->changes.factor[number++]) - 1);
        tv_out_text(out, "<td>");
        if (r->recorded_us != 0)
            tv_names_date(out, r->recorded_us);
        tv_out_text(out, "<td>");
        tv_out_xml(out, tv_bytes_of(r->name));
        tv_out_char(out, '\n');
    }
    tv_out_text(out, "</tbody></table></details>\n");
}

/* Write text that a function of the text report makes, as the contents of an element. */
static void html_put_element(struct tv_out *out, const char *element, struct tv_out *text)
{
    if (text->length > 0) {
        tv_out_format(out, "<%s>", element);
        tv_out_xml(out, (struct tv_bytes){text->buffer, text->length});
        tv_out_format(out, "</%s>\n", element);
    }
    text->length = 0;
}

void tv_compare_write_html(struct tv_out *out, const struct tv_compare_report *report)
{
    struct tv_out text;
    assert(report->graph);
    tv_out_init_memory(&text);
    tv_out_text(out, html_head);
    tv_out_text(&text, report->title);
    html_put_element(out, "title", &text);
    tv_out_text(out, "</head>\n<body>\n");
    tv_out_text(&text, report->title);
    html_put_element(out, "h1", &text);
    tv_compare_put_heading(&text, report);
    html_put_element(out, "p", &text);
    for (uint32_t i = 0; i < report->rule_count; i++)
        tv_compare_put_rule(&text, report, i);
    html_put_element(out, "pre", &text);
    tv_change_svg_write(out, report->graph, "Where it changed", true);
    html_put_table(out, report);
    html_put_runs(out, report->comparison);
    tv_out_text(out, html_script);
    tv_out_text(out, "</body>\n</html>\n");
    tv_out_release(&text);
}
