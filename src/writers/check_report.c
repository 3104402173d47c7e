/* SPDX-License-Identifier: Apache-2.0 */
#include "writers/check_report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/source.h"
#include "writers/findings_text.h"
#include "writers/layout.h"
#include "writers/names.h"

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
    return strict || !tv_check_is_usual(kind) || tv_head_has_categories(trace->head);
}

static int check_compare_places(const void *left, const void *right)
{
    const struct check_location *const *a = left, *const *b = right;
    if ((*a)->input != (*b)->input)
        return (*a)->input < (*b)->input ? -1 : 1;
    return ((*a)->offset > (*b)->offset) - ((*a)->offset < (*b)->offset);
}

/* Return the source of a text input that can be read again, or NULL. */
static struct tv_source *check_text_source(const struct tv_trace *trace, uint32_t input)
{
    const struct tv_head *head = trace->head;
    return input < head->input_count && head->inputs[input].describe ? head->inputs[input].source
                                                                     : NULL;
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

static bool check_is_space(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
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
        if (depth > 0 && (c == '\n' || c == '\r' || (gap && check_is_space(c)))) {
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

static void check_locate(const struct tv_trace *trace, struct check_location *places, size_t count)
{
    struct check_location **sorted = tv_alloc(count, sizeof(struct check_location *));
    for (size_t i = 0; i < count; i++)
        sorted[i] = &places[i];
    qsort(sorted, count, sizeof(struct check_location *), check_compare_places);
    for (size_t first = 0, end; first < count; first = end) {
        struct tv_source *source = check_text_source(trace, sorted[first]->input);
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
    return tv_head_text(trace->head, trace->head->inputs[input].name);
}

static void check_begin_line(struct tv_out *out, const struct tv_trace *trace, uint32_t input)
{
    tv_names_line(out, check_file_name(trace, input));
    tv_out_text(out, ": ");
}

static void check_write_kind(struct tv_out *out, enum tv_diagnostic_kind kind)
{
    tv_layout_text(out, tv_layout_style_of(tv_diagnostic_severity(kind)),
                   tv_diagnostic_severity_name(kind));
    tv_out_format(out, ": %s: %s", tv_diagnostic_name(kind), tv_diagnostic_text(kind));
}

static void check_text_place(struct tv_out *out, const struct tv_trace *trace,
                             enum tv_diagnostic_kind kind, const struct check_location *place)
{
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

void tv_check_write_text(struct tv_out *out, const struct tv_trace *trace,
                         const struct tv_findings *findings, bool strict)
{
    struct check_locations places = check_find_places(trace);
    for (unsigned i = 0; i < TV_DIAGNOSTIC_COUNT; i++) {
        const struct tv_diagnostic *one = &trace->head->diagnostics.kinds[i];
        enum tv_diagnostic_kind kind = (enum tv_diagnostic_kind)i;
        if (one->count == 0 || !tv_check_reports(trace, kind, strict))
            continue;
        for (uint32_t k = 0; k < one->offset_count; k++)
            check_text_place(out, trace, kind, &places.items[places.first[i] + k]);
        if (one->count == one->offset_count)
            continue;
        check_begin_line(out, trace, 0);
        check_write_kind(out, kind);
        tv_out_format(out, " (%" PRIu64 " in all)\n", one->count);
    }
    if (findings)
        tv_findings_write_text(out, trace, findings);
    tv_free(places.items);
}

/* ---- Several files ---- */

static void check_write_count(struct tv_out *out, uint64_t count, const char *words,
                              const char **before)
{
    if (count == 0)
        return;
    tv_out_text(out, *before);
    tv_out_counted(out, count, words);
    *before = ", ";
}

void tv_check_write_summary(struct tv_out *out, const struct tv_trace *trace,
                            const struct tv_findings *findings, bool strict, bool fails)
{
    static const char *const words[TV_SEVERITIES] = {
        [TV_NOTE] = "note|notes",
        [TV_WARNING] = "warning|warnings",
        [TV_ERROR] = "error|errors",
    };
    uint64_t counts[TV_SEVERITIES] = {0}, found = 0;
    const char *before = ": ";
    for (unsigned i = 0; i < TV_DIAGNOSTIC_COUNT; i++)
        if (tv_check_reports(trace, (enum tv_diagnostic_kind)i, strict))
            counts[tv_diagnostic_severity((enum tv_diagnostic_kind)i)] +=
                trace->head->diagnostics.kinds[i].count;
    for (uint32_t rule = 0; findings && rule < TV_RULES; rule++)
        found += findings->of[rule].found;
    check_begin_line(out, trace, 0);
    tv_out_text(out, fails ? "failed" : "passed");
    for (unsigned severity = TV_SEVERITIES; severity-- > 0;)
        check_write_count(out, counts[severity], words[severity], &before);
    check_write_count(out, found, "finding|findings", &before);
    tv_out_char(out, '\n');
}

void tv_check_write_unreadable(struct tv_out *out, const char *file)
{
    tv_names_line(out, tv_bytes_of(file));
    tv_out_text(out, ": failed: it cannot be read\n");
}

/* ---- JSON ---- */

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

void tv_check_write_json(struct tv_out *out, const struct tv_trace *trace,
                         const struct tv_findings *findings, bool strict, bool *any)
{
    struct check_locations places = check_find_places(trace);
    for (unsigned i = 0; i < TV_DIAGNOSTIC_COUNT; i++) {
        const struct tv_diagnostic *one = &trace->head->diagnostics.kinds[i];
        enum tv_diagnostic_kind kind = (enum tv_diagnostic_kind)i;
        if (one->count == 0 || !tv_check_reports(trace, kind, strict))
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
    if (findings)
        tv_findings_write_json(out, trace, findings, any);
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
