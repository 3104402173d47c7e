/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings_report.c - findings in words: the same sentences for `check`, the page and the upload
 * server (check_report.h).
 *
 *     rule       {methods} found {limit} times or more on one stack; ...
 *     fields     {methods}: 3 methods   {limit}: 50
 *     sentence   3 methods found 50 times or more on one stack; ...
 *
 * A finding is about calls or slices, by the trace: formats with categories have slices and names.
 */
#include "writers/tables/check_report.h"

#include <assert.h>
#include <inttypes.h>

#include "base/bytes.h"
#include "writers/tables/frames_table.h"
#include "writers/text/layout.h"
#include "writers/text/names.h"

/* ---- Figures ---- */

/* Write a time with at most `decimals` decimals, rounded, without zeros at the end. */
static void findings_write_short(struct tv_out *out, tv_ns value, tv_ns unit, int decimals)
{
    struct tv_out text;
    tv_out_init_memory(&text);
    tv_out_time(&text, value, unit, decimals);
    size_t length = text.length;
    while (decimals > 0 && text.buffer[length - 1] == '0')
        length--;
    if (text.buffer[length - 1] == '.')
        length--;
    tv_out_bytes(out, (struct tv_bytes){text.buffer, length});
    tv_out_release(&text);
}

void tv_findings_time(struct tv_out *out, tv_ns time)
{
    static const struct {
        const char *name;
        tv_ns unit;
        tv_ns from; /* shorter times use the next unit */
        int decimals;
    } units[] = {
        {" s", INT64_C(1000000000), INT64_C(1000000000), 2},
        {" ms", 1000000, 1000000, 1},
        {" us", 1000, 1000, 1},
        {" ns", 1, INT64_MIN, 0},
    };
    size_t i = 0;
    while (time < units[i].from)
        i++;
    findings_write_short(out, time, units[i].unit, units[i].decimals);
    tv_out_text(out, units[i].name);
}

static void findings_write_percent(struct tv_out *out, int64_t thousandths)
{
    findings_write_short(out, thousandths, 10, 1);
    tv_out_text(out, " %");
}

static void findings_write_share(struct tv_out *out, int64_t part, int64_t whole)
{
    tv_names_percent(out, part, whole);
    tv_out_text(out, " %");
}

void tv_findings_threshold(struct tv_out *out, const struct tv_rule *rule)
{
    if (rule->longer > 0) {
        tv_out_text(out, "longer than ");
        if (rule->one_picture)
            tv_out_text(out, "the time between two pictures, ");
        tv_findings_time(out, rule->longer);
        if (rule->one_picture)
            tv_out_text(out, " at 60 Hz");
    }
    if (rule->share > 0) {
        tv_out_text(out, rule->longer > 0 ? ", " : "");
        findings_write_percent(out, rule->share);
        tv_out_text(out, rule->condition == TV_RULE_CALLS ? " of the range" : " of own time");
    }
    if (rule->least > 0) {
        tv_out_text(out, " and ");
        findings_write_percent(out, rule->least);
        tv_out_text(out, " of all threads' time");
    }
    if (rule->levels > 0)
        tv_out_counted(out, rule->levels, "level|levels");
    if (rule->condition == TV_RULE_FRAMES)
        tv_out_text(out, "later than its deadline");
    if (rule->condition == TV_RULE_DIAGNOSTICS || rule->condition == TV_RULE_SAMPLED)
        tv_out_text(out, "any");
}

/* Write a method's name without its signature. */
static void findings_write_name(struct tv_out *out, const struct tv_trace_info *head,
                                uint32_t frame)
{
    if (frame != TV_NONE)
        tv_display_frame_name(out, head, frame);
}

/* ---- Sentences ---- */

struct findings_sentence {
    struct tv_out *out;
    const struct tv_findings *findings;
    const struct tv_rule *rule;
    const struct tv_finding *finding;
    bool events; /* call them slices and names instead of calls and methods */
};

static void findings_put_calls(const struct findings_sentence *s)
{
    tv_out_counted(s->out, s->finding->count, s->events ? "slice|slices" : "call|calls");
}

static void findings_put_frames(const struct findings_sentence *s)
{
    tv_out_counted(s->out, s->finding->count, "frame|frames");
}

/* Write the deadline of the worst frame as a sentence. */
static void findings_put_deadline(const struct findings_sentence *s)
{
    tv_display_interval_sentence(s->out, s->findings->head, &s->finding->interval);
}

static void findings_put_methods(const struct findings_sentence *s)
{
    tv_out_counted(s->out, s->finding->count, s->events ? "name|names" : "method|methods");
}

static void findings_put_events(const struct findings_sentence *s)
{
    tv_out_counted(s->out, s->finding->count, "event|events");
}

static void findings_put_total(const struct findings_sentence *s)
{
    tv_findings_time(s->out, s->finding->total);
}

static void findings_put_share(const struct findings_sentence *s)
{
    findings_write_share(s->out, s->finding->total, s->findings->looked_at);
}

static void findings_put_limit(const struct findings_sentence *s)
{
    if (s->rule->levels > 0)
        tv_out_u64(s->out, s->rule->levels);
    else
        tv_findings_time(s->out, s->finding->limit);
}

/* Write the sampling interval. An inferred one is an upper bound, because a stack that did not
 * change left no record. */
static void findings_put_interval(const struct findings_sentence *s)
{
    bool inferred = tv_trace_info_sampling(s->findings->head).inferred;
    tv_out_text(s->out, inferred ? "(inferred) at intervals of at most " : "every ");
    findings_put_limit(s);
}

static void findings_put_worst(const struct findings_sentence *s)
{
    const struct tv_finding_place *worst = s->finding->places;
    if (s->rule->levels > 0)
        tv_out_u64(s->out, worst->count);
    else
        tv_findings_time(s->out, worst->part);
}

static void findings_put_name(const struct findings_sentence *s)
{
    findings_write_name(s->out, s->findings->head, s->finding->places[0].frame);
}

static const struct {
    const char *name;
    void (*put)(const struct findings_sentence *s);
} fields[] = {
    {"calls", findings_put_calls},       {"methods", findings_put_methods},
    {"events", findings_put_events},     {"total", findings_put_total},
    {"share", findings_put_share},       {"limit", findings_put_limit},
    {"worst", findings_put_worst},       {"name", findings_put_name},
    {"interval", findings_put_interval}, {"frames", findings_put_frames},
    {"deadline", findings_put_deadline},
};

/* Write the value of a placeholder, such as "{total}", of a rule's sentence. Unknown names write
 * nothing. */
static void findings_put_field(const struct findings_sentence *s, struct tv_bytes name)
{
    for (size_t i = 0; i < TV_COUNT(fields); i++)
        if (tv_bytes_equal(name, tv_bytes_of(fields[i].name)))
            fields[i].put(s);
}

void tv_findings_sentence(struct tv_out *out, const struct tv_findings *findings, uint32_t rule)
{
    const struct findings_sentence s = {out, findings, &tv_rules[rule], &findings->of[rule],
                                        tv_trace_info_has_categories(findings->head)};
    struct tv_bytes rest = tv_bytes_of(s.rule->text), part;
    assert(rule < TV_RULES);
    while (tv_bytes_split(&rest, '{', &part)) {
        tv_out_bytes(out, part);
        tv_bytes_split(&rest, '}', &part);
        findings_put_field(&s, part);
    }
    tv_out_bytes(out, part);
}

/* ---- Text and JSON ---- */

static void findings_write_file(struct tv_out *out, const struct tv_trace_info *head)
{
    tv_names_line(out, tv_trace_info_text(head, head->inputs[0].name));
}

/* Write the thread of a track, or else its process. */
static void findings_text_owner(struct tv_out *out, const struct tv_trace *trace,
                                const struct tv_track *track)
{
    if (track->thread != TV_NONE)
        tv_names_thread(out, trace->head, track->thread);
    else
        tv_names_process(out, trace->head, track->process);
}

/* Write a place of a finding: a kind of diagnostic, or a call with its figure, time and thread. */
static void findings_text_place(struct tv_out *out, const struct tv_trace *trace,
                                const struct tv_rule *rule, const struct tv_finding_place *place)
{
    findings_write_file(out, trace->head);
    tv_out_text(out, ":   ");
    if (place->kind != TV_NONE) {
        enum tv_diagnostic_kind kind = (enum tv_diagnostic_kind)place->kind;
        tv_out_format(out, "%" PRIu64 " %s: %s\n", place->count, tv_diagnostic_name(kind),
                      tv_diagnostic_text(kind));
        return;
    }
    if (rule->condition == TV_RULE_RECURSION)
        tv_out_counted(out, place->count, "level|levels");
    else
        tv_findings_time(out, place->part);
    if (rule->condition == TV_RULE_CLOCK) {
        tv_out_text(out, " for ");
        tv_out_counted(out, place->count, "call|calls");
    }
    tv_out_text(out, ": ");
    findings_write_name(out, trace->head, place->frame);
    if (place->row != TV_NONE) {
        tv_out_text(out, ", at ");
        tv_out_time(out, place->start, 1000000, 3);
        tv_out_text(out, " ms on ");
        findings_text_owner(out, trace, &trace->tracks[trace->rows[place->row].track]);
    }
    tv_out_char(out, '\n');
}

void tv_findings_write_text(struct tv_out *out, const struct tv_trace *trace,
                            const struct tv_findings *findings)
{
    for (uint32_t i = 0; i < TV_RULES; i++) {
        const struct tv_finding *finding = &findings->of[i];
        if (!finding->found)
            continue;
        findings_write_file(out, trace->head);
        tv_out_text(out, ": finding: ");
        tv_layout_text(out, tv_layout_style_of(tv_rules[i].severity),
                       tv_severity_name(tv_rules[i].severity));
        tv_out_format(out, ": %s: ", tv_rules[i].name);
        tv_findings_sentence(out, findings, i);
        tv_out_char(out, '\n');
        for (uint32_t k = 0; k < finding->place_count; k++)
            findings_text_place(out, trace, &tv_rules[i], &finding->places[k]);
        if (tv_rules[i].condition == TV_RULE_DIAGNOSTICS || finding->place_count == 0 ||
            finding->count == finding->place_count)
            continue;
        findings_write_file(out, trace->head);
        tv_out_format(out, ":   and %" PRIu64 " more\n", finding->count - finding->place_count);
    }
}

static void findings_json_text(struct tv_out *out, const struct tv_findings *findings,
                               uint32_t rule)
{
    struct tv_out text;
    tv_out_init_memory(&text);
    tv_findings_sentence(&text, findings, rule);
    tv_out_json(out, (struct tv_bytes){text.buffer, text.length});
    tv_out_release(&text);
}

static void findings_json_name(struct tv_out *out, const struct tv_trace_info *head, uint32_t frame)
{
    struct tv_out text;
    tv_out_init_memory(&text);
    tv_names_frame(&text, head, frame);
    tv_out_json(out, (struct tv_bytes){text.buffer, text.length});
    tv_out_release(&text);
}

/* Write the thread of a track, or else its process. */
static void findings_json_owner(struct tv_out *out, const struct tv_trace_info *head,
                                const struct tv_track *track)
{
    if (track->thread != TV_NONE) {
        const struct tv_thread *thread = &head->threads[track->thread];
        tv_json_put_u64(out, ", ", "tid", thread->id);
        tv_json_put_text(out, ", ", "thread", tv_trace_info_text(head, thread->name));
    } else if (track->process != TV_NONE) {
        const struct tv_process *process = &head->processes[track->process];
        tv_json_put_u64(out, ", ", "pid", process->id);
        tv_json_put_text(out, ", ", "process", tv_trace_info_text(head, process->name));
    }
}

static void findings_json_place(struct tv_out *out, const struct tv_trace *trace,
                                const struct tv_finding_place *place)
{
    if (place->kind != TV_NONE) {
        tv_out_format(out, "{\"kind\": \"%s\", \"count\": %" PRIu64 "}",
                      tv_diagnostic_name((enum tv_diagnostic_kind)place->kind), place->count);
        return;
    }
    tv_out_text(out, "{\"name\": ");
    findings_json_name(out, trace->head, place->frame);
    tv_out_format(out, ", \"count\": %" PRIu64 ", \"figure_ns\": %" PRId64, place->count,
                  place->part);
    if (place->row != TV_NONE) {
        tv_out_format(out, ", \"time_ns\": %" PRId64 ", \"length_ns\": %" PRId64, place->start,
                      place->length);
        findings_json_owner(out, trace->head, &trace->tracks[trace->rows[place->row].track]);
    }
    tv_out_char(out, '}');
}

void tv_findings_write_json(struct tv_out *out, const struct tv_trace *trace,
                            const struct tv_findings *findings, bool *any)
{
    for (uint32_t i = 0; i < TV_RULES; i++) {
        const struct tv_finding *finding = &findings->of[i];
        if (!finding->found)
            continue;
        tv_out_text(out, *any ? ",\n  {\"file\": " : "\n  {\"file\": ");
        *any = true;
        tv_out_json(out, tv_trace_info_text(trace->head, trace->head->inputs[0].name));
        tv_out_format(out, ", \"kind\": \"%s\", \"severity\": \"%s\", \"text\": ", tv_rules[i].name,
                      tv_severity_name(tv_rules[i].severity));
        findings_json_text(out, findings, i);
        tv_out_format(out,
                      ", \"count\": %" PRIu64 ", \"places\": [], \"finding\": ", finding->count);
        tv_out_format(out, "{\"total_ns\": %" PRId64 ", \"range_ns\": %" PRId64 ", \"worst\": [",
                      finding->total, findings->looked_at);
        for (uint32_t k = 0; k < finding->place_count; k++) {
            tv_out_text(out, k > 0 ? ",\n    " : "\n    ");
            findings_json_place(out, trace, &finding->places[k]);
        }
        tv_out_text(out, "]}}");
    }
}
