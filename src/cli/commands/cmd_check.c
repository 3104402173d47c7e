/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_check.c - `check`: every diagnostic of a file with its position, and the findings.
 *
 * Errors make exit code 1. Findings do so only on request: a slow program can have a correct trace.
 *
 *     diagnostics    of the readers, by severity; kinds that every recording has are no errors,
 *                    unless --strict wants even them
 *     findings       rules of analysis/findings, by severity or by name (--fail-on)
 *     rules          the user's own, in SQL (--rules)
 *
 * Arguments of Trace Event files are text that reading skips.  They are checked here, which is why
 * check is slower than other commands.
 */
#include <assert.h>

#include "analysis/findings/findings.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/command.h"
#include "cli/input/load.h"
#include "cli/input/sql_rules.h"
#include "cli/output/output.h"
#include "readers/trace_event/rewrite.h"
#include "readers/trace_event/trace_event.h"
#include "sql/duckdb.h"
#include "writers/tables/check_report.h"

enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_JUNIT, FORMAT_SARIF };

static const struct tv_option check_options[] = {
    TV_OPTION("format", "text|json|junit|sarif", TV_OPTION_CHOICE, table.format,
              "output format (default: text)"),
    TV_OPTION(
        "fail-on", "note|warning|error|FINDING|RULE", TV_OPTION_LIST, fail_on,
        "exit with 1 for this severity or worse (default: error), or for this finding or rule "
        "(repeatable)"),
    TV_OPTION("rules", "FILE", TV_OPTION_TEXT, sql.file,
              "also check the SQL rules in this file (docs/findings.md)"),
    TV_OPTION("max-time", "TIME", TV_OPTION_SECONDS, sql.max_time,
              "stop a rule that runs longer, for example 10s (default: never)"),
    TV_OPTION(
        "strict", NULL, TV_OPTION_FLAG, strict,
        "exit with 1 for every diagnostic, also for calls cut by the start or end of the trace"),
    TV_OPTION("no-findings", NULL, TV_OPTION_FLAG, no_findings,
              "print diagnostics, but no findings"),
    TV_OPTION_OUTPUT,
    TV_OPTIONS_SCREEN,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

/* Check the arguments of Trace Event files, which reading skips. */
static enum tv_status cmd_check_argument_texts(struct tv_trace *trace, struct tv_error *err)
{
    enum tv_status status = TV_OK;
    bool counted = false;
    for (uint32_t i = 0; i < trace->head->input_count && status == TV_OK; i++) {
        const struct tv_input *input = &trace->head->inputs[i];
        if (!tv_te_rewrite_is_input(input))
            continue;
        if (!counted)
            tv_diagnostics_clear_kind(&trace->head->diagnostics, TV_DIAGNOSTIC_BAD_JSON);
        counted = true;
        status = tv_te_check_text(trace, i, err);
    }
    return status;
}

/* ---- The exit code ---- */

/* Return the lowest severity in --fail-on; at least errors set the exit code. */
static enum tv_severity cmd_check_failing_severity(const struct tv_settings *settings)
{
    enum tv_severity least = TV_ERROR;
    for (size_t i = 0; i < settings->fail_on.count; i++) {
        enum tv_severity named = tv_severity_find(settings->fail_on.items[i]);
        if (named < least)
            least = named;
    }
    return least;
}

/* Return whether --fail-on names this rule. */
static bool cmd_check_names_rule(const struct tv_settings *settings, struct tv_bytes rule)
{
    for (size_t i = 0; i < settings->fail_on.count; i++)
        if (tv_bytes_equal(rule, tv_bytes_of(settings->fail_on.items[i])))
            return true;
    return false;
}

/* Does a diagnostic set the exit code? --strict counts every kind, otherwise usual kinds never
 * count. */
static bool cmd_check_any_diagnostic_fails(const struct tv_settings *settings,
                                           const struct tv_diagnostics *diagnostics)
{
    enum tv_severity least = cmd_check_failing_severity(settings);
    for (unsigned i = 0; i < TV_DIAGNOSTIC_COUNT; i++) {
        enum tv_diagnostic_kind kind = (enum tv_diagnostic_kind)i;
        if (diagnostics->kinds[kind].count == 0)
            continue;
        if (settings->strict || (tv_diagnostic_severity(kind) >= least && !tv_check_is_usual(kind)))
            return true;
    }
    return false;
}

/* Does a finding set the exit code, by its severity or by its name? */
static bool cmd_check_any_finding_fails(const struct tv_settings *settings,
                                        const struct tv_findings *findings)
{
    enum tv_severity least = cmd_check_failing_severity(settings);
    for (uint32_t rule = 0; findings && rule < TV_RULES; rule++)
        if (findings->of[rule].found &&
            (tv_rules[rule].severity >= least ||
             cmd_check_names_rule(settings, tv_bytes_of(tv_rules[rule].name))))
            return true;
    return false;
}

/* As above, for a rule of --rules. */
static bool cmd_check_any_answer_fails(const struct tv_settings *settings,
                                       const struct tv_check_report *report)
{
    enum tv_severity least = cmd_check_failing_severity(settings);
    for (size_t i = 0; i < report->answer_count; i++) {
        const struct tv_rule_answer *answer = &report->answers[i];
        if (answer->count > 0 &&
            (answer->severity >= least || cmd_check_names_rule(settings, answer->name)))
            return true;
    }
    return false;
}

/* Check the words of --fail-on before any file is read. */
static enum tv_status cmd_check_parse_fail_on(const struct tv_settings *settings,
                                              const struct tv_sql_rules *rules,
                                              struct tv_error *err)
{
    for (size_t i = 0; i < settings->fail_on.count; i++) {
        const char *word = settings->fail_on.items[i];
        if (tv_severity_find(word) != TV_SEVERITIES || tv_sql_rules_find(rules, tv_bytes_of(word)))
            continue;
        if (tv_rule_find(tv_bytes_of(word)) == TV_NONE)
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                           "--fail-on: expected note, warning, error, a finding or a rule "
                           "(docs/findings.md), found '%s'",
                           word);
        if (settings->no_findings)
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                           "--fail-on %s needs findings: remove --no-findings", word);
    }
    return TV_OK;
}

/* ---- The report ---- */

/* Find what is worth looking at in the trace; NULL with --no-findings. */
static struct tv_findings *cmd_check_find_findings(const struct tv_settings *settings,
                                                   const struct tv_trace *trace)
{
    struct tv_selection all = TV_SELECT_ALL;
    if (settings->no_findings)
        return NULL;
    struct tv_call_tree *tree = tv_call_tree_of_trace(trace, &all, tv_settings_jobs(settings));
    struct tv_findings *findings = tv_findings_of(trace, tree, &all);
    tv_call_tree_free(tree);
    return findings;
}

/* The output of all files, and the result so far. */
struct check_reports {
    const struct tv_settings *settings;
    struct tv_sql_rules rules; /* of --rules */
    struct tv_output output;
    bool open;             /* the output is open, since there was something to write */
    bool any;              /* JSON: the list is not empty */
    bool wrong;            /* exit with 1 */
    struct tv_junit junit; /* in these formats, while the output is open */
    struct tv_sarif sarif;
};

/* Open the output with the first report, so that an unreadable file leaves no empty report. */
static enum tv_status cmd_check_open_output(struct check_reports *reports, struct tv_error *err)
{
    const struct tv_settings *settings = reports->settings;
    if (reports->open)
        return TV_OK;
    enum tv_status status =
        tv_output_open_text(&reports->output, settings, settings->table.format == FORMAT_TEXT, err);
    reports->open = status == TV_OK;
    if (!reports->open)
        return status;
    if (settings->table.format == FORMAT_JSON)
        tv_out_char(&reports->output.out, '[');
    else if (settings->table.format == FORMAT_JUNIT)
        tv_junit_init(&reports->junit, "check");
    else if (settings->table.format == FORMAT_SARIF)
        tv_sarif_init(&reports->sarif);
    return TV_OK;
}

/* Write the end of the report. */
static enum tv_status cmd_check_close_output(struct check_reports *reports, struct tv_error *err)
{
    if (!reports->open)
        return TV_OK;
    if (reports->settings->table.format == FORMAT_JSON)
        tv_out_text(&reports->output.out, "\n]\n");
    else if (reports->settings->table.format == FORMAT_JUNIT)
        tv_junit_finish(&reports->junit, &reports->output.out);
    else if (reports->settings->table.format == FORMAT_SARIF)
        tv_sarif_finish(&reports->sarif, &reports->output.out);
    return tv_output_close(&reports->output, err);
}

/* Add the report of a file, and note whether it fails. */
static void cmd_check_write_report(struct check_reports *reports,
                                   const struct tv_check_report *report)
{
    const struct tv_settings *settings = reports->settings;
    struct tv_out *out = &reports->output.out, held;
    bool fails = cmd_check_any_diagnostic_fails(settings, &report->trace->head->diagnostics) ||
                 cmd_check_any_finding_fails(settings, report->findings) ||
                 cmd_check_any_answer_fails(settings, report);
    switch (settings->table.format) {
    case FORMAT_JSON:
        tv_check_write_json(out, report, &reports->any);
        break;
    case FORMAT_JUNIT:
        tv_check_add_junit(&reports->junit, report, fails);
        break;
    case FORMAT_SARIF:
        tv_check_add_sarif(&reports->sarif, report);
        break;
    default:
        tv_layout_hold(out, &held);
        if (settings->files.count > 1)
            tv_check_write_summary(&held, report, fails);
        tv_check_write_text(&held, report);
        tv_layout_release(out, &held, 4);
    }
    reports->wrong |= fails;
}

/* Look for findings, ask the rules, and append the report of one file. */
static enum tv_status cmd_check_add_report(struct check_reports *reports,
                                           const struct tv_trace *trace, struct tv_error *err)
{
    const struct tv_settings *settings = reports->settings;
    const struct tv_sql_rules *rules = &reports->rules;
    struct tv_rule_answer *answers = tv_alloc(rules->count, sizeof *answers);
    struct tv_findings *findings = NULL;
    enum tv_status status = TV_OK;
    if (rules->count > 0)
        status = tv_sql_rules_ask(rules, settings, trace, answers, err);
    if (status == TV_OK)
        status = cmd_check_open_output(reports, err);
    if (status == TV_OK) {
        findings = cmd_check_find_findings(settings, trace);
        const struct tv_check_report report = {trace, findings, answers, rules->count,
                                               settings->strict};
        cmd_check_write_report(reports, &report);
    }
    for (size_t i = 0; i < rules->count; i++)
        tv_out_release(&answers[i].rows);
    tv_free(answers);
    tv_findings_free(findings);
    return status;
}

/* Check one file. Its trace is freed before the next one is read. */
static enum tv_status cmd_check_add_file(struct check_reports *reports, const char *const *file,
                                         struct tv_error *err)
{
    struct tv_trace *trace;
    enum tv_status status = tv_load_trace(reports->settings, file, 1, NULL, &trace, err);
    if (status != TV_OK)
        return status;
    status = cmd_check_argument_texts(trace, err);
    if (status == TV_OK)
        status = cmd_check_add_report(reports, trace, err);
    tv_trace_free(trace);
    return status;
}

/* Report a file that cannot be read; the other files are still checked. */
static enum tv_status cmd_check_add_unreadable(struct check_reports *reports, const char *file,
                                               const struct tv_error *reason, struct tv_error *err)
{
    assert(reports->settings->files.count > 1);
    enum tv_status status = cmd_check_open_output(reports, err);
    if (status != TV_OK)
        return status;
    if (reports->settings->table.format == FORMAT_JSON)
        tv_check_write_unreadable_json(&reports->output.out, file, reason, &reports->any);
    else if (reports->settings->table.format == FORMAT_JUNIT)
        tv_check_add_unreadable_junit(&reports->junit, file, reason);
    else if (reports->settings->table.format == FORMAT_SARIF)
        tv_check_add_unreadable_sarif(&reports->sarif, file, reason);
    else
        tv_check_write_unreadable(&reports->output.out, file);
    reports->wrong = true;
    return TV_OK;
}

/* Check all files. Of several, one that cannot be read is a result, and the others are still
 * checked. */
static enum tv_status cmd_check_add_files(const struct tv_command *command,
                                          struct check_reports *reports, struct tv_error *err)
{
    const struct tv_words *files = &reports->settings->files;
    enum tv_status status = cmd_check_parse_fail_on(reports->settings, &reports->rules, err);
    for (size_t i = 0; i < files->count && status == TV_OK; i++) {
        struct tv_error reason = {0};
        status = cmd_check_add_file(reports, &files->items[i], &reason);
        if (status == TV_OK)
            continue;
        if (files->count == 1 || status == TV_ERR_USAGE) {
            *err = reason;
            return status;
        }
        tv_command_failed(command, &reason);
        status = cmd_check_add_unreadable(reports, files->items[i], &reason, err);
    }
    return status;
}

#define LARGEST_RULES ((size_t)1 << 20)

/* Read the file of --rules, and open the library that answers them, before the sandbox. */
static enum tv_status cmd_check_prepare(struct tv_settings *settings, struct tv_error *err)
{
    char *text;
    size_t length;
    if (!settings->sql.file)
        return TV_OK;
    enum tv_status status = tv_duck_open(err);
    if (status != TV_OK)
        return status;
    status = tv_file_read_text(settings->sql.file, LARGEST_RULES, &text, &length, err);
    if (status != TV_OK)
        return tv_error_prefix(err, "%s", settings->sql.file);
    tv_words_add(&settings->owned, text);
    settings->sql.query = text;
    return TV_OK;
}

static enum tv_status cmd_check_parse_rules(struct check_reports *reports, struct tv_error *err)
{
    const struct tv_sql_settings *sql = &reports->settings->sql;
    if (!sql->query)
        return TV_OK;
    enum tv_status status = tv_sql_rules_parse(tv_bytes_of(sql->query), &reports->rules, err);
    return status == TV_OK ? TV_OK : tv_error_prefix(err, "%s", sql->file);
}

/* Run the command. Exit code 1 says that a file fails; a report is complete in that case too. */
static int cmd_check_run(const struct tv_command *command, const struct tv_settings *settings)
{
    struct tv_error err = {0}, late;
    struct check_reports reports = {.settings = settings};
    enum tv_status status = cmd_check_parse_rules(&reports, &err);
    if (status == TV_OK)
        status = cmd_check_add_files(command, &reports, &err);
    tv_sql_rules_release(&reports.rules);
    enum tv_status closed = cmd_check_close_output(&reports, status == TV_OK ? &err : &late);
    if (status != TV_OK || closed != TV_OK)
        return tv_command_failed(command, &err);
    return reports.wrong ? TV_EXIT_INPUT : TV_EXIT_OK;
}

const struct tv_command tv_command_check = {
    .name = "check",
    .summary = "report errors in traces, with their positions",
    .arguments = "[OPTION]... FILE...",
    .details =
        "Exit code 0: no errors.  1: data is lost or invented, or a file cannot be read.\nNotes, "
        "warnings and findings count only with --fail-on.  Each file has its own report.\n--rules "
        "needs DuckDB's library: `make sql` fetches it.",
    .options = check_options,
    .min_files = 1,
    .max_files = TV_ANY_FILES,
    .reads_traces = true,
    .prepare = cmd_check_prepare,
    .run = cmd_check_run,
};
