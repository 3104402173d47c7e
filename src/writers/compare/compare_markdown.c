/* SPDX-License-Identifier: Apache-2.0 */
/* compare_markdown.c - a comparison as a comment on a pull request (compare_report.h). */
#include "base/bytes.h"
#include "writers/compare/compare_report.h"

/* Longest text of a report: comments on pull requests take 65,536 bytes. */
#define MARKDOWN_BYTES 60000u
#define MARKDOWN_ROWS 20u

/* Write a text of a trace into a cell of a table.  The escapes keep it from ending the cell and
 * from beginning a tag, code or emphasis. */
static void compare_put_cell(struct tv_out *out, struct tv_bytes text)
{
    for (size_t i = 0; i < text.length; i++) {
        char c = (char)text.data[i];
        if (c == '|' || c == '\\' || c == '`' || c == '<' || c == '*' || c == '_')
            tv_out_char(out, '\\');
        tv_out_char(out, c == '\n' || c == '\r' ? ' ' : c);
    }
}

/* Write a figure, whose unit can be a text of the file. */
static void compare_markdown_figure(struct tv_out *out, const struct tv_comparison *comparison,
                                    enum tv_run_figure figure, double value)
{
    struct tv_out text;
    tv_out_init_memory(&text);
    tv_compare_put_figure(&text, comparison, figure, value);
    compare_put_cell(out, (struct tv_bytes){text.buffer, text.length});
    tv_out_release(&text);
}

static void compare_markdown_row(struct tv_out *out, const struct tv_compare_report *report,
                                 const struct tv_compared_row *row)
{
    const struct tv_comparison *comparison = report->comparison;
    struct tv_relative_change change = tv_comparison_change(comparison, row);
    struct tv_out name;
    tv_out_init_memory(&name);
    tv_compare_put_name(&name, comparison, row->row);
    tv_out_format(out, "| %s ", tv_compare_mark(comparison, row));
    compare_put_cell(out, (struct tv_bytes){name.buffer, name.length < 300 ? name.length : 300});
    tv_out_text(out, " | ");
    compare_markdown_figure(out, comparison, comparison->figure, row->base);
    tv_out_text(out, " | ");
    compare_markdown_figure(out, comparison, comparison->figure, row->new);
    tv_out_text(out, " | ");
    tv_compare_put_row_change(out, row, change.change);
    tv_out_text(out, " | ");
    if (row->tested && comparison->can_test)
        tv_compare_put_p(out, row->p);
    else
        tv_out_char(out, '-');
    tv_out_text(out, " |\n");
    tv_out_release(&name);
}

/* Write rows until the text is as long as a comment may be. */
static void compare_markdown_table(struct tv_out *out, const struct tv_compare_report *report,
                                   uint32_t from, uint32_t to)
{
    tv_out_text(out, "| | base | new | change | p |\n|---|--:|--:|--:|--:|\n");
    for (uint32_t i = from; i < to && out->length < MARKDOWN_BYTES; i++)
        compare_markdown_row(out, report, &report->comparison->rows[i]);
}

void tv_compare_write_markdown(struct tv_out *to, const struct tv_compare_report *report)
{
    const struct tv_comparison *comparison = report->comparison;
    uint32_t count = tv_compare_row_count(report, report->limit);
    struct tv_out text, *out = &text;
    tv_out_init_memory(&text);
    tv_out_format(out, "### traceview: %u base and %u new runs, ", comparison->base_runs,
                  comparison->new_runs);
    struct tv_out kind;
    tv_out_init_memory(&kind);
    tv_compare_put_kind(&kind, comparison);
    compare_put_cell(out, (struct tv_bytes){kind.buffer, kind.length});
    tv_out_release(&kind);
    tv_out_text(out, "\n\n");
    for (uint32_t i = 0; i < report->rule_count && out->length < MARKDOWN_BYTES; i++) {
        const struct tv_gate_result *result = &report->results[i];
        tv_out_format(out, "- **%s** `%.*s`%s%s\n",
                      result->reason  ? "cannot be judged"
                      : result->fired ? "fired"
                                      : "ok",
                      (int)report->rules[i].text.length, (const char *)report->rules[i].text.data,
                      result->reason ? ": " : "", result->reason ? result->reason : "");
    }
    tv_out_text(out, "\nTotal: ");
    compare_markdown_figure(out, comparison, TV_FIGURE_EXCL, comparison->base_total);
    tv_out_text(out, " -> ");
    compare_markdown_figure(out, comparison, TV_FIGURE_EXCL, comparison->new_total);
    tv_out_text(out, " (");
    tv_compare_put_change(out, tv_comparison_total_change(comparison).change);
    tv_out_text(out, ")\n\n");
    tv_compare_put_sampled(out, comparison, "Note: ", ".\n\n");
    tv_out_format(out, "Note: %s.\n\n", tv_compare_promise(comparison));
    uint32_t first = count < MARKDOWN_ROWS ? count : MARKDOWN_ROWS;
    compare_markdown_table(out, report, 0, first);
    if (count > first) {
        tv_out_format(out, "\n<details><summary>%u more rows</summary>\n\n", count - first);
        compare_markdown_table(out, report, first, count);
        tv_out_text(out, "\n</details>\n");
    }
    tv_out_bytes(to, (struct tv_bytes){text.buffer, text.length});
    tv_out_release(&text);
}
