/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The findings of a selection.  Every rule is in the answer, so that a screen can tell what was
 * looked for if nothing was found.
 */
#include <string.h>

#include "analysis/findings/findings.h"
#include "view/internal.h"
#include "writers/tables/check_report.h"

/* Write a string member, or null. */
static void view_finding_write_text(struct tv_out *out, const char *name, const char *text)
{
    tv_out_format(out, ",\"%s\":", name);
    if (text)
        tv_out_json(out, (struct tv_bytes){(const uint8_t *)text, strlen(text)});
    else
        tv_out_text(out, "null");
}

/* Write a string member from a buffer, and empty that. */
static void view_finding_write_buffer(struct tv_out *out, const char *name, struct tv_out *text)
{
    tv_out_format(out, ",\"%s\":", name);
    tv_out_json(out, (struct tv_bytes){text->buffer, text->length});
    text->length = 0;
}

/* [kind, count, text] */
static void view_finding_write_kind(struct tv_out *out, const struct tv_finding_place *place)
{
    enum tv_diagnostic_kind kind = (enum tv_diagnostic_kind)place->kind;
    tv_out_format(out, "[\"%s\"", tv_diagnostic_name(kind));
    tv_member_number(out, ",", (int64_t)place->count);
    tv_out_format(out, ",\"%s\"]", tv_diagnostic_text(kind));
}

/* [row, index, time, length, frame, track, figure, count]; row -1: no call */
static void view_finding_write_place(struct tv_out *out, const struct tv_trace *trace,
                                     const struct tv_finding_place *place)
{
    bool call = place->row != TV_NONE;
    tv_member_number(out, "[", call ? (int64_t)place->row : -1);
    tv_member_number(out, ",", call ? (int64_t)place->index : -1);
    tv_member_number(out, ",", place->start);
    tv_member_number(out, ",", place->length);
    tv_member_number(out, ",", place->frame);
    tv_member_number(out, ",", call ? (int64_t)trace->rows[place->row].track : -1);
    tv_member_number(out, ",", place->part);
    tv_member_number(out, ",", (int64_t)place->count);
    tv_out_char(out, ']');
}

/* Write the places of a finding, either calls or kinds of diagnostics. */
static void view_finding_write_places(struct tv_out *out, const struct tv_trace *trace,
                                      const struct tv_finding *finding, bool kinds)
{
    tv_out_text(out, kinds ? ",\"kinds\":[" : ",\"places\":[");
    for (uint32_t i = 0; i < finding->place_count; i++) {
        tv_out_text(out, i > 0 ? ",\n" : "");
        if (kinds)
            view_finding_write_kind(out, &finding->places[i]);
        else
            view_finding_write_place(out, trace, &finding->places[i]);
    }
    tv_out_char(out, ']');
}

/* Write the result of a rule; null if nothing was found. */
static void view_finding_write(struct tv_out *out, const struct tv_trace *trace,
                               const struct tv_findings *findings, uint32_t rule)
{
    static const char *const figures[] = {
        [TV_RULE_CALLS] = "length", [TV_RULE_FRAMES] = "length",    [TV_RULE_WAITS] = "wait",
        [TV_RULE_CLOCK] = "clock",  [TV_RULE_RECURSION] = "levels", [TV_RULE_DIAGNOSTICS] = "",
        [TV_RULE_SAMPLED] = "",
    };
    const struct tv_finding *finding = &findings->of[rule];
    bool kinds = tv_rules[rule].condition == TV_RULE_DIAGNOSTICS;
    struct tv_out text;
    if (!finding->found) {
        tv_out_text(out, ",\"finding\":null");
        return;
    }
    tv_out_init_memory(&text);
    tv_findings_sentence(&text, findings, rule);
    tv_member_number(out, ",\"finding\":{\"count\":", (int64_t)finding->count);
    tv_member_number(out, ",\"total\":", finding->total);
    view_finding_write_text(out, "figure", figures[tv_rules[rule].condition]);
    view_finding_write_buffer(out, "text", &text);
    view_finding_write_places(out, trace, finding, kinds);
    view_finding_write_places(out, trace, &(struct tv_finding){0}, !kinds);
    tv_out_char(out, '}');
    tv_out_release(&text);
}

/* Write a rule with its result. */
static void view_finding_write_rule(struct tv_out *out, const struct tv_trace *trace,
                                    const struct tv_findings *findings, uint32_t number_of)
{
    const struct tv_rule *rule = &tv_rules[number_of];
    struct tv_out text;
    tv_out_init_memory(&text);
    tv_out_format(out, "{\"name\":\"%s\"", rule->name);
    view_finding_write_text(out, "title", rule->title);
    view_finding_write_text(out, "severity", tv_severity_name(rule->severity));
    view_finding_write_text(out, "looks_at", rule->looks_at);
    tv_findings_threshold(&text, rule);
    view_finding_write_buffer(out, "threshold", &text);
    view_finding_write_text(out, "reason", rule->reason);
    view_finding_write_text(out, "missing", findings->of[number_of].missing);
    view_finding_write(out, trace, findings, number_of);
    tv_out_char(out, '}');
    tv_out_release(&text);
}

/* Answer api/findings: every rule with its limits, its reason, and its result. */
enum tv_status tv_view_findings(const struct tv_view *view, const struct tv_parameters *parameters,
                                struct tv_out *out, struct tv_error *err)
{
    struct tv_selection selection;
    enum tv_status status = tv_parameter_selection(parameters, view->trace, &selection, err);
    if (status != TV_OK)
        return status;
    struct tv_findings *findings =
        tv_findings_of(view->trace, tv_trees_enter(view->trees, &selection), &selection);
    tv_trees_leave(view->trees);
    tv_member_number(out, "{\"looked_at\":", findings->looked_at);
    tv_out_text(out, ",\"rules\":[");
    for (uint32_t i = 0; i < TV_RULES; i++) {
        tv_out_text(out, i > 0 ? ",\n" : "\n");
        view_finding_write_rule(out, view->trace, findings, i);
    }
    tv_out_text(out, "]}");
    tv_findings_free(findings);
    tv_parameter_release_selection(&selection);
    return TV_OK;
}
