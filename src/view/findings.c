/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the rules of findings say of a selection: every rule, so that a screen can tell what was
 * looked for when nothing was found.
 */
#include <string.h>

#include "analysis/findings.h"
#include "view/state.h"
#include "writers/tables/check_report.h"

static void member(struct tv_out *out, const char *name, const char *text)
{
    tv_out_format(out, ",\"%s\":", name);
    if (text)
        tv_out_json(out, (struct tv_bytes){(const uint8_t *)text, strlen(text)});
    else
        tv_out_text(out, "null");
}

static void member_of(struct tv_out *out, const char *name, struct tv_out *text)
{
    tv_out_format(out, ",\"%s\":", name);
    tv_out_json(out, (struct tv_bytes){text->buffer, text->length});
    text->length = 0;
}

static void number(struct tv_out *out, const char *before, int64_t value)
{
    tv_out_text(out, before);
    tv_out_i64(out, value);
}

/* [kind, count, text] */
static void write_kind(struct tv_out *out, const struct tv_finding_place *place)
{
    enum tv_diagnostic_kind kind = (enum tv_diagnostic_kind)place->kind;
    tv_out_format(out, "[\"%s\"", tv_diagnostic_name(kind));
    number(out, ",", (int64_t)place->count);
    tv_out_format(out, ",\"%s\"]", tv_diagnostic_text(kind));
}

/* [row, index, time, length, frame, track, figure, count]; row -1: there is no call. */
static void write_place(struct tv_out *out, const struct tv_trace *trace,
                        const struct tv_finding_place *place)
{
    bool call = place->row != TV_NONE;
    number(out, "[", call ? (int64_t)place->row : -1);
    number(out, ",", call ? (int64_t)place->index : -1);
    number(out, ",", place->start);
    number(out, ",", place->length);
    number(out, ",", place->frame);
    number(out, ",", call ? (int64_t)trace->rows[place->row].track : -1);
    number(out, ",", place->part);
    number(out, ",", (int64_t)place->count);
    tv_out_char(out, ']');
}

static void write_places(struct tv_out *out, const struct tv_trace *trace,
                         const struct tv_finding *finding, bool kinds)
{
    tv_out_text(out, kinds ? ",\"kinds\":[" : ",\"places\":[");
    for (uint32_t i = 0; i < finding->place_count; i++) {
        tv_out_text(out, i > 0 ? ",\n" : "");
        if (kinds)
            write_kind(out, &finding->places[i]);
        else
            write_place(out, trace, &finding->places[i]);
    }
    tv_out_char(out, ']');
}

static void write_finding(struct tv_out *out, const struct tv_trace *trace,
                          const struct tv_findings *findings, uint32_t rule)
{
    static const char *const figures[] = {
        [TV_RULE_CALLS] = "length",     [TV_RULE_WAITS] = "wait",   [TV_RULE_CLOCK] = "clock",
        [TV_RULE_RECURSION] = "levels", [TV_RULE_DIAGNOSTICS] = "", [TV_RULE_SAMPLED] = "",
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
    number(out, ",\"finding\":{\"count\":", (int64_t)finding->count);
    number(out, ",\"total\":", finding->total);
    member(out, "figure", figures[tv_rules[rule].condition]);
    member_of(out, "text", &text);
    write_places(out, trace, finding, kinds);
    write_places(out, trace, &(struct tv_finding){0}, !kinds);
    tv_out_char(out, '}');
    tv_out_release(&text);
}

static void write_rule(struct tv_out *out, const struct tv_trace *trace,
                       const struct tv_findings *findings, uint32_t number_of)
{
    const struct tv_rule *rule = &tv_rules[number_of];
    struct tv_out text;
    tv_out_init_memory(&text);
    tv_out_format(out, "{\"name\":\"%s\"", rule->name);
    member(out, "title", rule->title);
    member(out, "severity", tv_severity_name(rule->severity));
    member(out, "looks_at", rule->looks_at);
    tv_findings_threshold(&text, rule);
    member_of(out, "threshold", &text);
    member(out, "reason", rule->reason);
    member(out, "missing", findings->of[number_of].missing);
    write_finding(out, trace, findings, number_of);
    tv_out_char(out, '}');
    tv_out_release(&text);
}

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
    number(out, "{\"looked_at\":", findings->looked_at);
    tv_out_text(out, ",\"rules\":[");
    for (uint32_t i = 0; i < TV_RULES; i++) {
        tv_out_text(out, i > 0 ? ",\n" : "\n");
        write_rule(out, view->trace, findings, i);
    }
    tv_out_text(out, "]}");
    tv_findings_free(findings);
    tv_parameter_release_selection(&selection);
    return TV_OK;
}
