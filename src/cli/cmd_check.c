/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_check.c - is the file as it should be?  Every diagnostic with its place; exit code 1 when
 * there are any.  And what the rules of findings say of the trace, which makes exit code 1 only
 * when it is asked for: a slow program has a sound trace.
 */
#include "analysis/findings.h"
#include "base/bytes.h"
#include "cli/command.h"
#include "cli/load.h"
#include "cli/output.h"
#include "readers/trace_event/check.h"
#include "readers/trace_event/rewrite.h"
#include "writers/check_report.h"

static const struct tv_option options[] = {
    TV_OPTION("format", "text|json", TV_OPTION_CHOICE, format, "how (default: text)"),
    TV_OPTION("strict", NULL, TV_OPTION_FLAG, strict,
              "calls that began before the trace or are open at its end count as well"),
    TV_OPTION("fail-on", "note|warning|NAME", TV_OPTION_LIST, fail_on,
              "exit code 1 for findings as well: all, warnings, or one (may be given again)"),
    TV_OPTION("no-findings", NULL, TV_OPTION_FLAG, no_findings, "diagnostics only"),
    TV_OPTION_OUTPUT,
    TV_OPTIONS_READING,
    TV_OPTIONS_END,
};

/* Reading does not look into the arguments of Trace Event files: their faults are counted here. */
static enum tv_status check_texts(struct tv_trace *trace, struct tv_error *err)
{
    enum tv_status status = TV_OK;
    bool counted = false;
    for (uint32_t i = 0; i < trace->head->input_count && status == TV_OK; i++) {
        const struct tv_input *input = &trace->head->inputs[i];
        if (!tv_te_is_input(input))
            continue;
        if (!counted)
            trace->head->diagnostics.kinds[TV_DIAGNOSTIC_BAD_JSON] = (struct tv_diagnostic){0};
        counted = true;
        status = tv_te_check_text(trace, i, err);
    }
    return status;
}

/* Whether a word of --fail-on means a rule. */
static bool is_meant(const char *word, uint32_t rule)
{
    if (strcmp(word, "warning") == 0)
        return tv_rules[rule].warning;
    return strcmp(word, "note") == 0 || strcmp(word, tv_rules[rule].name) == 0;
}

static bool fails(const struct tv_settings *settings, const struct tv_findings *findings)
{
    for (uint32_t rule = 0; findings && rule < TV_RULES; rule++)
        for (size_t i = 0; findings->of[rule].found && i < settings->fail_on.count; i++)
            if (is_meant(settings->fail_on.items[i], rule))
                return true;
    return false;
}

static enum tv_status check_words(const struct tv_settings *settings, struct tv_error *err)
{
    for (size_t i = 0; i < settings->fail_on.count; i++) {
        const char *word = settings->fail_on.items[i];
        if (strcmp(word, "note") != 0 && strcmp(word, "warning") != 0 &&
            tv_rule_find(tv_bytes_of(word)) == TV_NONE)
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                           "--fail-on: expected note, warning or the name of a finding "
                           "(docs/findings.md), not \"%s\"",
                           word);
    }
    if (settings->no_findings && settings->fail_on.count > 0)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--fail-on asks for findings, --no-findings for none");
    return TV_OK;
}

static struct tv_findings *find(const struct tv_settings *settings, const struct tv_trace *trace)
{
    struct tv_selection all = TV_SELECT_ALL;
    if (settings->no_findings)
        return NULL;
    struct tv_call_tree *tree = tv_call_tree_of_trace(trace, &all, tv_settings_jobs(settings));
    struct tv_findings *findings = tv_findings_of(trace, tree, &all);
    tv_call_tree_free(tree);
    return findings;
}

/* *wrong: the file has faults, or what was asked about was found. */
static enum tv_status report(const struct tv_settings *settings, const struct tv_trace *trace,
                             bool *wrong, struct tv_error *err)
{
    struct tv_output output;
    enum tv_status status = tv_output_open(&output, settings->output, settings->quiet, err);
    if (status != TV_OK)
        return status;
    struct tv_findings *findings = find(settings, trace);
    uint64_t faults = settings->format == 0
                          ? tv_check_write_text(&output.out, trace, findings, settings->strict)
                          : tv_check_write_json(&output.out, trace, findings, settings->strict);
    *wrong = faults > 0 || fails(settings, findings);
    tv_findings_free(findings);
    return tv_output_close(&output, err);
}

static enum tv_status check(const struct tv_settings *settings, bool *wrong, struct tv_error *err)
{
    struct tv_trace *trace;
    enum tv_status status = check_words(settings, err);
    if (status == TV_OK)
        status = tv_load_trace(settings, settings->files.items, settings->files.count, NULL, &trace,
                               err);
    if (status != TV_OK)
        return status;
    status = check_texts(trace, err);
    if (status == TV_OK)
        status = report(settings, trace, wrong, err);
    tv_trace_free(trace);
    return status;
}

static int run(const struct tv_command *command, const struct tv_settings *settings)
{
    struct tv_error err = {0};
    bool wrong = false;
    if (check(settings, &wrong, &err) != TV_OK)
        return tv_command_failed(command, &err);
    return wrong ? TV_EXIT_INPUT : TV_EXIT_OK;
}

const struct tv_command tv_command_check = {
    .name = "check",
    .summary = "what is wrong with a file, each fault with its place",
    .arguments = "[OPTION]... FILE",
    .details = "Exit code 0: nothing; 1: there are diagnostics, or the file could not be read.  "
               "What only\n"
               "began before the trace or is open at its end counts with --strict.  Findings are "
               "told, but\n"
               "make no exit code unless --fail-on says so.",
    .options = options,
    .min_files = 1,
    .max_files = 1,
    .run = run,
};
