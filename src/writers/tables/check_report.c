/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_report.c - the report of `check`.
 *
 * A report has three kinds of results, in this order: diagnostics (what was repaired or lost while
 * the file was read, with places in the file), findings (rules about the calls, with calls as
 * places; findings_report.c), and answers to the user's own rules in SQL (with rows).  Each kind is
 * written as text, JSON, JUnit and SARIF.
 */
#include "writers/tables/check_report.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/source.h"
#include "writers/text/layout.h"
#include "writers/text/names.h"

/* ---- Diagnostics ---- */

/* Longest excerpt of the text at an offset that is shown. */
#define EXCERPT 60

/* A byte offset at which a diagnostic occurred. */
struct check_location {
    uint64_t offset;
    uint32_t input;
    uint64_t line; /* from 1; 0: the format has no lines */
    uint8_t excerpt[EXCERPT];
    size_t length;
};

bool tv_check_is_usual(enum tv_diagnostic_kind kind)
{
    return kind == TV_DIAGNOSTIC_UNMATCHED_EXIT || kind == TV_DIAGNOSTIC_OPEN_CALL ||
           kind == TV_DIAGNOSTIC_TID_MISSING;
}

bool tv_check_reports(const struct tv_trace *trace, enum tv_diagnostic_kind kind, bool strict)
{
    return strict || !tv_check_is_usual(kind) || tv_trace_info_has_categories(trace->head);
}

/* Order by input and offset, so that lines are counted in one pass over each file. */
static int check_compare_places(const void *left, const void *right)
{
    const struct check_location *const *a = left, *const *b = right;
    if ((*a)->input != (*b)->input)
        return (*a)->input < (*b)->input ? -1 : 1;
    return ((*a)->offset > (*b)->offset) - ((*a)->offset < (*b)->offset);
}

/* Return the source of a text input that can be read again, or NULL. */
static struct tv_source *check_text_source(const struct tv_trace_info *head, uint32_t input)
{
    uint8_t start[256];
    size_t got = 0;
    if (input >= head->input_count || !head->inputs[input].describe ||
        tv_source_read(head->inputs[input].source, 0, start, sizeof start, &got, NULL) != TV_OK)
        return NULL;
    while (got > 0 && start[got - 1] >= '\t') /* bytes below are only in binary data */
        got--;
    return got == 0 ? head->inputs[input].source : NULL;
}

/* Count the lines up to an offset. Return false when the bytes cannot be read. */
static bool check_count_lines(struct tv_window *window, uint64_t *at, uint64_t *line,
                              uint64_t offset)
{
    struct tv_error unused;
    while (*at < offset) {
        struct tv_bytes bytes;
        if (tv_window_at(window, *at, 1, &bytes, &unused) != TV_OK || bytes.length == 0)
            return false;
        size_t length = offset - *at < bytes.length ? (size_t)(offset - *at) : bytes.length;
        for (size_t i = 0; i < length; i++)
            *line += bytes.data[i] == '\n';
        *at += length;
    }
    return true;
}

/* Copy the text at an offset up to the end of its line. An event that spans several lines is
 * copied as one line. */
static void check_copy_excerpt(struct tv_source *source, struct check_location *place)
{
    uint8_t text[EXCERPT * 8];
    struct tv_error unused;
    size_t got = 0, depth = 0;
    bool gap = false;
    if (tv_source_read(source, place->offset, text, sizeof text, &got, &unused) != TV_OK)
        return;
    for (size_t i = 0; i < got && place->length + gap < EXCERPT; i++) {
        uint8_t c = text[i];
        if ((c == '\n' || c == '\r') && depth == 0)
            break;
        depth += c == '{';
        depth -= c == '}' && depth > 0;
        if (depth > 0 && (c == '\n' || c == '\r' || (gap && tv_is_space(c)))) {
            gap = true;
            continue;
        }
        if (gap)
            place->excerpt[place->length++] = ' ';
        gap = false;
        place->excerpt[place->length++] = c;
    }
}

/* Find the lines and texts of sorted offsets in one pass over their input. */
static void check_locate_in(struct tv_source *source, struct check_location *const *sorted,
                            size_t count)
{
    struct tv_window window;
    uint64_t at = 0, line = 1;
    tv_window_init(&window, source);
    for (size_t i = 0; i < count && check_count_lines(&window, &at, &line, sorted[i]->offset);
         i++) {
        sorted[i]->line = line;
        check_copy_excerpt(source, sorted[i]);
    }
    tv_window_release(&window);
}

/* Sort the locations by input and offset, so that each input is read once and in order. */
static void check_locate(const struct tv_trace *trace, struct check_location *places, size_t count)
{
    struct check_location **sorted = tv_alloc(count, sizeof(struct check_location *));
    for (size_t i = 0; i < count; i++)
        sorted[i] = &places[i];
    qsort(sorted, count, sizeof(struct check_location *), check_compare_places);
    for (size_t first = 0, end; first < count; first = end) {
        struct tv_source *source = check_text_source(trace->head, sorted[first]->input);
        for (end = first + 1; end < count && sorted[end]->input == sorted[first]->input; end++)
            ;
        if (source)
            check_locate_in(source, sorted + first, end - first);
    }
    tv_free(sorted);
}

/* The offsets of all kinds of diagnostics, kind by kind. */
struct check_locations {
    struct check_location *items;
    size_t first[TV_DIAGNOSTIC_COUNT];
};

static struct check_locations check_find_places(const struct tv_trace *trace)
{
    const struct tv_diagnostics *all = &trace->head->diagnostics;
    struct check_locations places;
    size_t count = 0;
    for (size_t kind = 0; kind < TV_DIAGNOSTIC_COUNT; kind++) {
        places.first[kind] = count;
        count += all->kinds[kind].offset_count;
    }
    places.items = tv_alloc(count, sizeof *places.items);
    for (size_t kind = 0; kind < TV_DIAGNOSTIC_COUNT; kind++)
        for (uint32_t i = 0; i < all->kinds[kind].offset_count; i++) {
            struct check_location *place = &places.items[places.first[kind] + i];
            place->offset = all->kinds[kind].places->offsets[i];
            place->input = all->kinds[kind].places->inputs[i];
        }
    if (count > 0)
        check_locate(trace, places.items, count);
    return places;
}

static struct tv_bytes check_file_name(const struct tv_trace *trace, uint32_t input)
{
    assert(input < trace->head->input_count);
    return tv_trace_info_text(trace->head, trace->head->inputs[input].name);
}

/* Begin a line with its file, as compilers do. */
static void check_begin_line(struct tv_out *out, const struct tv_trace *trace, uint32_t input)
{
    tv_names_line(out, check_file_name(trace, input));
    tv_out_text(out, ": ");
}

/* Write "warning: kind: what happened", with the severity in its colour. */
static void check_write_kind(struct tv_out *out, enum tv_diagnostic_kind kind)
{
    tv_layout_text(out, tv_layout_style_of(tv_diagnostic_severity(kind)),
                   tv_diagnostic_severity_name(kind));
    tv_out_format(out, ": %s: %s", tv_diagnostic_name(kind), tv_diagnostic_text(kind));
}

static void check_text_place(struct tv_out *out, const struct tv_trace *trace,
                             enum tv_diagnostic_kind kind, const struct check_location *place)
{
    assert(place->length <= EXCERPT);
    check_begin_line(out, trace, place->input);
    tv_out_format(out, "byte %" PRIu64, place->offset);
    if (place->line > 0)
        tv_out_format(out, ", line %" PRIu64, place->line);
    tv_out_text(out, ": ");
    check_write_kind(out, kind);
    if (place->length > 0) {
        tv_out_text(out, ": ");
        tv_names_line(out, (struct tv_bytes){place->excerpt, place->length});
    }
    tv_out_char(out, '\n');
}

/* ---- Rules of the user ---- */

/* Maximum number of rows of a rule that text shows. */
#define ROWS_SHOWN 10

/* Return the rows of an answer, one JSON object a line. */
static struct tv_bytes check_rows_of(const struct tv_rule_answer *answer)
{
    return (struct tv_bytes){answer->rows.buffer, answer->rows.length};
}

/* Write "12 rows", or "1000 rows or more". */
static void check_write_rows(struct tv_out *out, const struct tv_rule_answer *answer)
{
    tv_out_counted(out, answer->count, "row|rows");
    tv_out_text(out, answer->more ? " or more" : "");
}

static void check_text_answer(struct tv_out *out, const struct tv_trace *trace,
                              const struct tv_rule_answer *answer)
{
    struct tv_bytes rest = check_rows_of(answer), row;
    check_begin_line(out, trace, 0);
    tv_out_text(out, "rule: ");
    tv_layout_text(out, tv_layout_style_of(answer->severity), tv_severity_name(answer->severity));
    tv_out_text(out, ": ");
    tv_out_bytes(out, answer->name);
    tv_out_text(out, ": ");
    tv_names_line(out, answer->text);
    tv_out_text(out, answer->text.length > 0 ? ": " : "");
    check_write_rows(out, answer);
    tv_out_char(out, '\n');
    for (unsigned i = 0; i < ROWS_SHOWN && tv_bytes_split(&rest, '\n', &row); i++) {
        check_begin_line(out, trace, 0);
        tv_out_text(out, "  ");
        tv_names_line(out, row);
        tv_out_char(out, '\n');
    }
    if (answer->count <= ROWS_SHOWN)
        return;
    check_begin_line(out, trace, 0);
    tv_out_format(out, "  and %" PRIu64 " %s\n", answer->count - ROWS_SHOWN,
                  answer->more ? "or more" : "more");
}

/* Write an answer as the members of a result; its rows are JSON already. */
static void check_json_answer(struct tv_out *out, const struct tv_rule_answer *answer)
{
    struct tv_bytes rest = check_rows_of(answer), row;
    bool any = false;
    tv_out_text(out, ", \"kind\": ");
    tv_out_json(out, answer->name);
    tv_out_format(out, ", \"severity\": \"%s\", \"text\": ", tv_severity_name(answer->severity));
    tv_out_json(out, answer->text);
    tv_out_text(out, ", \"count\": ");
    if (answer->more)
        tv_out_text(out, "null");
    else
        tv_out_u64(out, answer->count);
    tv_out_text(out, ", \"places\": [], \"rows\": [");
    while (tv_bytes_split(&rest, '\n', &row)) {
        tv_out_text(out, any ? ",\n    " : "\n    ");
        tv_out_bytes(out, row);
        any = true;
    }
    tv_out_text(out, "]}");
}

/* Add an answer as a result without a place: its rows are about the whole trace. */
static void check_sarif_answer(struct tv_sarif *sarif, const struct tv_trace *trace,
                               const struct tv_rule_answer *answer)
{
    struct tv_out text;
    tv_out_init_memory(&text);
    tv_out_bytes(&text, answer->text);
    tv_out_text(&text, answer->text.length > 0 ? ": " : "");
    check_write_rows(&text, answer);
    tv_sarif_add_rule(sarif, answer->name, answer->text.length > 0 ? answer->text : answer->name);
    tv_sarif_add(sarif, &(struct tv_sarif_result){
                            .rule = answer->name,
                            .level = tv_severity_name(answer->severity),
                            .message = {text.buffer, text.length},
                            .count = answer->count,
                            .file = check_file_name(trace, 0),
                        });
    tv_out_release(&text);
}

/* ---- Text ---- */

void tv_check_write_text(struct tv_out *out, const struct tv_check_report *report)
{
    const struct tv_trace *trace = report->trace;
    struct check_locations places = check_find_places(trace);
    for (unsigned i = 0; i < TV_DIAGNOSTIC_COUNT; i++) {
        const struct tv_diagnostic *one = &trace->head->diagnostics.kinds[i];
        enum tv_diagnostic_kind kind = (enum tv_diagnostic_kind)i;
        if (one->count == 0 || !tv_check_reports(trace, kind, report->strict))
            continue;
        for (uint32_t k = 0; k < one->offset_count; k++)
            check_text_place(out, trace, kind, &places.items[places.first[i] + k]);
        if (one->count == one->offset_count)
            continue;
        check_begin_line(out, trace, 0);
        check_write_kind(out, kind);
        tv_out_format(out, " (%" PRIu64 " in all)\n", one->count);
    }
    if (report->findings)
        tv_findings_write_text(out, trace, report->findings);
    for (size_t i = 0; i < report->answer_count; i++)
        if (report->answers[i].count > 0)
            check_text_answer(out, trace, &report->answers[i]);
    tv_free(places.items);
}

/* ---- Several files ---- */

/* Write a count with its words, unless it is 0; *before separates it from the previous one. */
static void check_write_count(struct tv_out *out, uint64_t count, const char *words,
                              const char **before)
{
    if (count == 0)
        return;
    tv_out_text(out, *before);
    tv_out_counted(out, count, words);
    *before = ", ";
}

/* Write "2 errors, 3 findings"; nothing when there are none. */
static void check_write_counts(struct tv_out *out, const char *before,
                               const struct tv_check_report *report)
{
    const struct tv_trace *trace = report->trace;
    const struct tv_findings *findings = report->findings;
    static const char *const words[TV_SEVERITIES] = {
        [TV_NOTE] = "note|notes",
        [TV_WARNING] = "warning|warnings",
        [TV_ERROR] = "error|errors",
    };
    uint64_t counts[TV_SEVERITIES] = {0}, found = 0;
    for (unsigned i = 0; i < TV_DIAGNOSTIC_COUNT; i++)
        if (tv_check_reports(trace, (enum tv_diagnostic_kind)i, report->strict))
            counts[tv_diagnostic_severity((enum tv_diagnostic_kind)i)] +=
                trace->head->diagnostics.kinds[i].count;
    for (uint32_t rule = 0; findings && rule < TV_RULES; rule++)
        found += findings->of[rule].found;
    for (size_t i = 0; i < report->answer_count; i++)
        found += report->answers[i].count > 0;
    for (unsigned severity = TV_SEVERITIES; severity-- > 0;)
        check_write_count(out, counts[severity], words[severity], &before);
    check_write_count(out, found, "finding|findings", &before);
}

void tv_check_write_summary(struct tv_out *out, const struct tv_check_report *report, bool fails)
{
    check_begin_line(out, report->trace, 0);
    tv_out_text(out, fails ? "failed" : "passed");
    check_write_counts(out, ": ", report);
    tv_out_char(out, '\n');
}

void tv_check_write_unreadable(struct tv_out *out, const char *file)
{
    tv_names_line(out, tv_bytes_of(file));
    tv_out_text(out, ": failed: it cannot be read\n");
}

/* ---- JSON ---- */

/* Begin a result in the list; *any tells whether one came before it. */
static void check_begin_member(struct tv_out *out, struct tv_bytes file, bool *any)
{
    tv_out_text(out, *any ? ",\n  {\"file\": " : "\n  {\"file\": ");
    tv_out_json(out, file);
    *any = true;
}

/* Write an offset; in a trace of several inputs also which input it is in. */
static void check_json_place(struct tv_out *out, const struct tv_trace *trace,
                             const struct check_location *place)
{
    tv_out_format(out, "{\"offset\": %" PRIu64 ", \"line\": ", place->offset);
    if (place->line > 0)
        tv_out_u64(out, place->line);
    else
        tv_out_text(out, "null");
    tv_out_text(out, ", \"excerpt\": ");
    tv_out_json(out, (struct tv_bytes){place->excerpt, place->length});
    if (trace->head->input_count > 1) {
        tv_out_format(out, ", \"input\": %" PRIu32 ", \"file\": ", place->input);
        tv_out_json(out, check_file_name(trace, place->input));
    }
    tv_out_char(out, '}');
}

void tv_check_write_json(struct tv_out *out, const struct tv_check_report *report, bool *any)
{
    const struct tv_trace *trace = report->trace;
    struct check_locations places = check_find_places(trace);
    for (unsigned i = 0; i < TV_DIAGNOSTIC_COUNT; i++) {
        const struct tv_diagnostic *one = &trace->head->diagnostics.kinds[i];
        enum tv_diagnostic_kind kind = (enum tv_diagnostic_kind)i;
        if (one->count == 0 || !tv_check_reports(trace, kind, report->strict))
            continue;
        check_begin_member(out, check_file_name(trace, 0), any);
        tv_out_format(out, ", \"kind\": \"%s\", \"severity\": \"%s\", \"text\": ",
                      tv_diagnostic_name(kind), tv_diagnostic_severity_name(kind));
        tv_diagnostics_write_json(out, &trace->head->diagnostics, kind);
        tv_out_format(out, ", \"count\": %" PRIu64 ", \"places\": [", one->count);
        for (uint32_t k = 0; k < one->offset_count; k++) {
            tv_out_text(out, k > 0 ? ",\n    " : "\n    ");
            check_json_place(out, trace, &places.items[places.first[i] + k]);
        }
        tv_out_text(out, "]}");
    }
    if (report->findings)
        tv_findings_write_json(out, trace, report->findings, any);
    for (size_t i = 0; i < report->answer_count; i++) {
        if (report->answers[i].count == 0)
            continue;
        check_begin_member(out, check_file_name(trace, 0), any);
        check_json_answer(out, &report->answers[i]);
    }
    tv_free(places.items);
}

void tv_check_write_unreadable_json(struct tv_out *out, const char *file,
                                    const struct tv_error *reason, bool *any)
{
    char text[512];
    check_begin_member(out, tv_bytes_of(file), any);
    tv_out_text(out, ", \"kind\": \"unreadable\", \"severity\": \"error\", \"text\": ");
    tv_out_json(out, tv_bytes_of(tv_error_text(reason, text, sizeof text)));
    tv_out_text(out, ", \"count\": 1, \"places\": []}");
}

/* ---- For the tools that run checks ---- */

void tv_check_add_junit(struct tv_junit *junit, const struct tv_check_report *report, bool fails)
{
    struct tv_out failure, details;
    tv_out_init_memory(&failure);
    tv_out_init_memory(&details);
    if (fails) {
        check_write_counts(&failure, "", report);
        tv_check_write_text(&details, report);
    }
    tv_junit_add(junit, &(struct tv_junit_case){
                            .name = check_file_name(report->trace, 0),
                            .failure = {failure.buffer, failure.length},
                            .details = {details.buffer, details.length},
                        });
    tv_out_release(&failure);
    tv_out_release(&details);
}

void tv_check_add_unreadable_junit(struct tv_junit *junit, const char *file,
                                   const struct tv_error *reason)
{
    char text[512];
    tv_junit_add(junit, &(struct tv_junit_case){
                            .name = tv_bytes_of(file),
                            .error = tv_bytes_of(tv_error_text(reason, text, sizeof text)),
                        });
}

static void check_sarif_findings(struct tv_sarif *sarif, const struct tv_trace *trace,
                                 const struct tv_findings *findings)
{
    struct tv_out text;
    tv_out_init_memory(&text);
    for (uint32_t i = 0; i < TV_RULES; i++) {
        struct tv_bytes id = tv_bytes_of(tv_rules[i].name);
        if (!findings->of[i].found)
            continue;
        text.length = 0;
        tv_out_format(&text, "%s: ", tv_rules[i].name);
        tv_findings_threshold(&text, &tv_rules[i]);
        tv_sarif_add_rule(sarif, id, (struct tv_bytes){text.buffer, text.length});
        text.length = 0;
        tv_findings_sentence(&text, findings, i);
        tv_sarif_add(sarif, &(struct tv_sarif_result){
                                .rule = id,
                                .level = tv_severity_name(tv_rules[i].severity),
                                .message = {text.buffer, text.length},
                                .count = findings->of[i].count,
                                .file = check_file_name(trace, 0),
                            });
    }
    tv_out_release(&text);
}

void tv_check_add_sarif(struct tv_sarif *sarif, const struct tv_check_report *report)
{
    const struct tv_trace *trace = report->trace;
    struct check_locations places = check_find_places(trace);
    for (unsigned i = 0; i < TV_DIAGNOSTIC_COUNT; i++) {
        const struct tv_diagnostic *one = &trace->head->diagnostics.kinds[i];
        enum tv_diagnostic_kind kind = (enum tv_diagnostic_kind)i;
        struct tv_bytes id = tv_bytes_of(tv_diagnostic_name(kind));
        if (one->count == 0 || !tv_check_reports(trace, kind, report->strict))
            continue;
        const struct check_location *first =
            one->offset_count > 0 ? &places.items[places.first[i]] : NULL;
        tv_sarif_add_rule(sarif, id, tv_bytes_of(tv_diagnostic_text(kind)));
        tv_sarif_add(sarif, &(struct tv_sarif_result){
                                .rule = id,
                                .level = tv_diagnostic_severity_name(kind),
                                .message = tv_bytes_of(tv_diagnostic_text(kind)),
                                .count = one->count,
                                .file = check_file_name(trace, first ? first->input : 0),
                                .line = first ? first->line : 0,
                                .offset = first ? first->offset : 0,
                                .at_offset = first != NULL,
                            });
    }
    if (report->findings)
        check_sarif_findings(sarif, trace, report->findings);
    for (size_t i = 0; i < report->answer_count; i++)
        if (report->answers[i].count > 0)
            check_sarif_answer(sarif, trace, &report->answers[i]);
    tv_free(places.items);
}

void tv_check_add_unreadable_sarif(struct tv_sarif *sarif, const char *file,
                                   const struct tv_error *reason)
{
    char text[512];
    struct tv_bytes id = TV_BYTES("unreadable");
    tv_sarif_add_rule(sarif, id, TV_BYTES("the file cannot be read"));
    tv_sarif_add(sarif, &(struct tv_sarif_result){
                            .rule = id,
                            .level = tv_severity_name(TV_ERROR),
                            .message = tv_bytes_of(tv_error_text(reason, text, sizeof text)),
                            .file = tv_bytes_of(file),
                        });
}
