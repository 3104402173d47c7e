/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare_ci.c - the verdicts of rules for the tools that run checks
 * (compare_report.h).
 *
 *     format   reader                  a rule that fired      a rule without a verdict
 *     JUnit    nearly every CI         a failed test case     an error of its test case
 *     SARIF    code scanning           one result a row       a failure of the tool
 *     GitHub   annotations of a step   one error a row        an error, before all others
 *     GitLab   metrics report          gauge 1                no sample
 *
 * A rule that cannot be judged must never look like one that passed.
 */
#include <assert.h>
#include <stdio.h>

#include "base/bytes.h"
#include "writers/compare/compare_report.h"
#include "writers/text/verdicts.h"

/* GitHub shows no more than this many annotations of a step. */
#define GITHUB_ANNOTATIONS 10u

/* Return the name of a rule, or its text. */
static struct tv_bytes compare_rule_title(const struct tv_gate_rule *rule)
{
    return rule->name.length > 0 ? rule->name : rule->text;
}

/* Write the hits of a rule, one a line. */
static void compare_list_hits(struct tv_out *out, const struct tv_compare_report *report,
                              uint32_t number)
{
    const struct tv_gate_result *result = &report->results[number];
    for (uint32_t i = 0; i < result->hit_count; i++) {
        tv_compare_put_hit(out, report, number, &result->hits[i]);
        tv_out_char(out, '\n');
    }
}

/* Each rule is a test case. */
void tv_compare_write_junit(struct tv_out *out, const struct tv_compare_report *report)
{
    struct tv_junit junit;
    struct tv_out failure, details;
    tv_junit_init(&junit, "diff");
    for (uint32_t run = 0; run < report->comparison->table->run_count; run++) {
        int64_t seconds = report->comparison->table->runs[run].recorded_us / 1000000;
        junit.seconds = seconds > junit.seconds ? seconds : junit.seconds;
    }
    tv_out_init_memory(&failure);
    tv_out_init_memory(&details);
    for (uint32_t i = 0; i < report->rule_count; i++) {
        const struct tv_gate_result *result = &report->results[i];
        failure.length = details.length = 0;
        if (result->fired) {
            tv_out_format(&failure, "%u %s changed", result->hit_count,
                          tv_plural(result->hit_count, "row", "rows"));
            compare_list_hits(&details, report, i);
        }
        tv_junit_add(&junit, &(struct tv_junit_case){
                                 .name = compare_rule_title(&report->rules[i]),
                                 .error = tv_bytes_of(result->reason ? result->reason : ""),
                                 .failure = {failure.buffer, failure.length},
                                 .details = {details.buffer, details.length},
                             });
    }
    tv_junit_finish(&junit, out);
    tv_out_release(&failure);
    tv_out_release(&details);
}

/* Return the source of the row of a hit; NULL: nobody knows it. */
static const struct tv_run_source *compare_hit_source(const struct tv_run_table *table,
                                                      const struct tv_gate_hit *hit)
{
    return hit->row != TV_NONE ? tv_run_table_find_source(table, &table->rows[hit->row]) : NULL;
}

/* Return the file of the first new run, as the place of a change whose source is unknown. */
static struct tv_bytes compare_new_file(const struct tv_run_table *table)
{
    for (uint32_t run = 0; run < table->run_count; run++)
        if (table->runs[run].side == TV_RUN_NEW)
            return tv_bytes_of(table->runs[run].name);
    return tv_bytes_of("");
}

/* Write why a rule cannot be judged. */
static void compare_put_refusal(struct tv_out *out, const struct tv_gate_rule *rule,
                                const struct tv_gate_result *result)
{
    assert(result->reason);
    tv_out_text(out, "cannot be judged: ");
    tv_out_bytes(out, rule->text);
    tv_out_format(out, " (%s)", result->reason);
}

/* Add what made a rule fire, or why it cannot be judged, to a SARIF run. */
static void compare_sarif_hit(struct tv_sarif *sarif, const struct tv_compare_report *report,
                              uint32_t number, struct tv_bytes id)
{
    const struct tv_gate_result *result = &report->results[number];
    const struct tv_run_table *table = result->comparison->table;
    struct tv_out message, name, form;
    tv_out_init_memory(&message);
    tv_out_init_memory(&name);
    tv_out_init_memory(&form);
    for (uint32_t i = 0; i < result->hit_count; i++) {
        const struct tv_gate_hit *hit = &result->hits[i];
        message.length = name.length = form.length = 0;
        tv_compare_put_hit(&message, report, number, hit);
        if (hit->row != TV_NONE)
            tv_run_row_name(&name, table, &table->rows[hit->row]);
        else
            tv_out_text(&name, "total");
        tv_run_names_normal(&form, (struct tv_bytes){name.buffer, name.length}, TV_NAMES_SIMILAR);
        const struct tv_run_source *source = compare_hit_source(table, hit);
        tv_sarif_add(
            sarif, &(struct tv_sarif_result){
                       .rule = id,
                       .level = "error",
                       .message = {message.buffer, message.length},
                       .file = source ? tv_run_text(table, source->file) : compare_new_file(table),
                       .line = source ? source->line : 0,
                       .name = {name.buffer, name.length},
                       .fingerprint = {form.buffer, form.length},
                   });
    }
    if (result->reason) {
        message.length = 0;
        compare_put_refusal(&message, &report->rules[number], result);
        tv_sarif_add_failure(sarif, (struct tv_bytes){message.buffer, message.length});
    }
    tv_out_release(&message);
    tv_out_release(&name);
    tv_out_release(&form);
}

/* The fingerprint of a result is its name without generated numbers, so that a
 * result is recognized in later runs. */
void tv_compare_write_sarif(struct tv_out *out, const struct tv_compare_report *report)
{
    struct tv_sarif sarif;
    tv_sarif_init(&sarif);
    for (uint32_t i = 0; i < report->rule_count; i++) {
        /* Names of rules may be equal or empty, so rules are numbered. */
        char id[24];
        snprintf(id, sizeof id, "rule-%u", i + 1);
        tv_sarif_add_rule(&sarif, tv_bytes_of(id), compare_rule_title(&report->rules[i]));
        compare_sarif_hit(&sarif, report, i, tv_bytes_of(id));
    }
    tv_sarif_finish(&sarif, out);
}

/* ---- Annotations of GitHub Actions ---- */

/* Write text as the data of a workflow command, or as one of its properties. */
static void compare_put_command(struct tv_out *out, struct tv_bytes text, bool is_property)
{
    for (size_t i = 0; i < text.length; i++) {
        char c = (char)text.data[i];
        if (c == '%' || c == '\n' || c == '\r' || (is_property && (c == ':' || c == ',')))
            tv_out_format(out, "%%%02X", (unsigned)c);
        else
            tv_out_char(out, c);
    }
}

/* Write an annotation, unless there are as many as GitHub shows; count it. */
static void compare_annotate(struct tv_out *out, const struct tv_run_table *table,
                             const struct tv_run_source *source, const struct tv_out *text,
                             uint32_t *count)
{
    if ((*count)++ >= GITHUB_ANNOTATIONS)
        return;
    tv_out_text(out, "::error ");
    if (source) {
        tv_out_text(out, "file=");
        compare_put_command(out, tv_run_text(table, source->file), true);
        tv_out_format(out, ",line=%u,", source->line);
    }
    tv_out_text(out, "title=traceview::");
    compare_put_command(out, (struct tv_bytes){text->buffer, text->length}, false);
    tv_out_char(out, '\n');
}

/* Rules that cannot be judged come first: they are the reason why a change may be missing. */
void tv_compare_write_github(struct tv_out *out, const struct tv_compare_report *report)
{
    uint32_t count = 0;
    struct tv_out text;
    tv_out_init_memory(&text);
    for (uint32_t i = 0; i < report->rule_count; i++) {
        if (!report->results[i].reason)
            continue;
        text.length = 0;
        compare_put_refusal(&text, &report->rules[i], &report->results[i]);
        compare_annotate(out, NULL, NULL, &text, &count);
    }
    for (uint32_t i = 0; i < report->rule_count; i++) {
        const struct tv_gate_result *result = &report->results[i];
        for (uint32_t k = 0; k < result->hit_count; k++) {
            text.length = 0;
            tv_compare_put_hit(&text, report, i, &result->hits[k]);
            const struct tv_run_table *table = result->comparison->table;
            compare_annotate(out, table, compare_hit_source(table, &result->hits[k]), &text,
                             &count);
        }
    }
    tv_out_release(&text);
    uint32_t left_out = count > GITHUB_ANNOTATIONS ? count - GITHUB_ANNOTATIONS : 0;
    if (left_out > 0)
        tv_out_format(out, "::notice title=traceview::%u more %s in the report\n", left_out,
                      tv_plural(left_out, "change is", "changes are"));
}

/* ---- OpenMetrics text, which GitLab reads as a metrics report ---- */

/* Write text as the value of a label. */
static void compare_put_label(struct tv_out *out, struct tv_bytes text)
{
    for (size_t i = 0; i < text.length; i++) {
        char c = (char)text.data[i];
        if (c == '"' || c == '\\')
            tv_out_char(out, '\\');
        if (c == '\n')
            tv_out_text(out, "\\n");
        else
            tv_out_char(out, c);
    }
}

/* Figures follow the verdicts, at most `limit` methods: a merge request shows
 * them next to those of its target. */
void tv_compare_write_gitlab(struct tv_out *out, const struct tv_compare_report *report)
{
    const struct tv_comparison *comparison = report->comparison;
    uint64_t limit = report->limit > 0 ? report->limit : 100;
    struct tv_out name;
    tv_out_text(out, "# TYPE traceview_rule_fired gauge\n");
    for (uint32_t i = 0; i < report->rule_count; i++) {
        if (report->results[i].reason)
            continue; /* no verdict: neither 0 nor 1 */
        tv_out_text(out, "traceview_rule_fired{rule=\"");
        compare_put_label(out, compare_rule_title(&report->rules[i]));
        tv_out_format(out, "\"} %d\n", report->results[i].fired);
    }
    if (comparison->weighs) { /* no times */
        tv_out_text(out, "# EOF\n");
        return;
    }
    tv_out_text(out,
                "# TYPE traceview_time_seconds gauge\n# UNIT traceview_time_seconds seconds\n");
    tv_out_format(out, "traceview_time_seconds{method=\"(total)\"} %.9f\n",
                  comparison->new_total / 1e9);
    tv_out_init_memory(&name);
    for (uint32_t i = 0; i < comparison->count && i < limit; i++) {
        const struct tv_compared_row *row = &comparison->rows[i];
        if (!row->tested || comparison->figure == TV_FIGURE_CALLS)
            continue;
        name.length = 0;
        tv_run_row_name(&name, comparison->table, &comparison->table->rows[row->row]);
        tv_out_text(out, "traceview_time_seconds{method=\"");
        compare_put_label(out, (struct tv_bytes){name.buffer, name.length});
        tv_out_format(out, "\"} %.9f\n", row->new / 1e9);
    }
    tv_out_release(&name);
    tv_out_text(out, "# EOF\n");
}
