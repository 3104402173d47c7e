/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.c - hprof as text, as the JDK's agent and Android's SamplingProfiler wrote it: a line a
 * thread, a stack with its frames indented, a table with a line a stack.
 */
#include <string.h>

#include "base/bytes.h"
#include "readers/hprof/parts.h"
#include "readers/text_lines.h"

#define NS_PER_MS INT64_C(1000000)

/* A share of a time as the text has it, in hundredths of a percent. */
#define WHOLE_SHARE 10000

/* Longer than anything that is measured: products with a share stay small. */
#define LONGEST_MS INT64_C(100000000000)

enum section {
    PRELUDE, /* the JDK's explanation, up to a line of dashes */
    BODY,
    STACK, /* frames follow */
    TABLE,
    OTHER, /* heap, monitors: up to its END */
};

struct reading {
    struct tv_hprof *hprof;
    enum section section;
    int64_t total_ms; /* of a table of times */
    uint64_t total;   /* that the table announces */
    uint64_t counted;
    uint64_t table; /* its offset */
};

/* ---- Words ---- */

/* The text behind `prefix`; false when it does not begin so. */
static bool skip_text(struct tv_bytes *text, const char *prefix)
{
    struct tv_bytes wanted = tv_bytes_of(prefix);
    if (!tv_bytes_starts_with(*text, wanted))
        return false;
    text->data += wanted.length;
    text->length -= wanted.length;
    return true;
}

/* Where `what` stands last; false: nowhere. */
static bool find_last(struct tv_bytes text, const char *what, size_t *place)
{
    size_t length = strlen(what);
    for (size_t i = text.length + 1; i-- > 0;) {
        if (text.length - i >= length && memcmp(text.data + i, what, length) == 0) {
            *place = i;
            return true;
        }
    }
    return false;
}

static bool take_number(struct tv_bytes *text, uint64_t *value)
{
    size_t length = 0;
    while (length < text->length && text->data[length] >= '0' && text->data[length] <= '9')
        length++;
    if (!tv_parse_u64((struct tv_bytes){text->data, length}, value))
        return false;
    text->data += length;
    text->length -= length;
    return true;
}

/* ---- Frames ---- */

/* "java.base/", "app//": the module that JDK 9 and later write in front.  A '/' in the name of a
 * lambda's class has a '$' before it. */
static struct tv_bytes without_module(struct tv_bytes name)
{
    size_t start = 0;
    for (size_t i = 0; i < name.length; i++) {
        uint8_t c = name.data[i];
        if (c == '/')
            start = i + 1;
        else if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || strchr("._-@+", c)))
            break;
    }
    return (struct tv_bytes){name.data + start, name.length - start};
}

/* "Long.java:433", "Long.java", "Native Method", "Unknown Source", "Long.java:Native method".  A
 * line is a place in the method: kept, it would make as many methods as there are such places. */
static void place_of(struct tv_hprof *hprof, struct tv_bytes place, struct tv_frame *frame)
{
    struct tv_bytes file;
    if (tv_bytes_equal(place, TV_BYTES("Native Method"))) {
        frame->line = -2;
        return;
    }
    if (tv_bytes_split(&place, ':', &file) && tv_bytes_equal(place, TV_BYTES("Native method")))
        frame->line = -2;
    if (!tv_bytes_equal(file, TV_BYTES("Unknown Source")) &&
        !tv_bytes_equal(file, TV_BYTES("<Unknown Source>")))
        frame->file = tv_trace_info_string(hprof->head, file);
}

/* Of the parenthesis that the last one ends: files and methods may have others.  Where they do not
 * go in pairs it is the last one. */
static bool find_open(struct tv_bytes text, size_t *open)
{
    size_t depth = 0;
    for (size_t i = text.length; i-- > 0;) {
        depth += text.data[i] == ')';
        if (text.data[i] == '(' && --depth == 0) {
            *open = i;
            return i > 0;
        }
    }
    return find_last(text, "(", open) && *open > 0;
}

uint32_t tv_hprof_frame_of(struct tv_hprof *hprof, struct tv_bytes text)
{
    struct tv_frame frame = {0};
    size_t open, dot;
    if (text.data[text.length - 1] == ')' && find_open(text, &open)) {
        place_of(hprof, (struct tv_bytes){text.data + open + 1, text.length - open - 2}, &frame);
        text.length = open;
    }
    text = without_module(text);
    if (find_last(text, ".", &dot)) {
        frame.class_name = tv_trace_info_string(hprof->head, (struct tv_bytes){text.data, dot});
        text.data += dot + 1;
        text.length -= dot + 1;
    }
    frame.name = tv_trace_info_string(hprof->head, text);
    return tv_trace_info_add_recorded_frame(hprof->head, &frame);
}

/* ---- Lines ---- */

/* `(obj=1, id = 200001, name="main", group="system")` */
static bool take_thread(struct reading *reading, struct tv_bytes text, uint64_t offset)
{
    uint64_t id;
    size_t group;
    struct tv_bytes rest = text;
    while (rest.length > 0 && !tv_bytes_starts_with(rest, TV_BYTES("id = "))) {
        rest.data++;
        rest.length--;
    }
    if (!skip_text(&rest, "id = ") || !take_number(&rest, &id) || !skip_text(&rest, ", name=\"") ||
        !find_last(rest, "\", group=\"", &group))
        return false;
    size_t behind = group + strlen("\", group=\"");
    struct tv_bytes name = {rest.data, group};
    struct tv_bytes of = {rest.data + behind, rest.length - behind};
    if (of.length < 2 || of.data[of.length - 1] != ')' || of.data[of.length - 2] != '"')
        return false;
    of.length -= 2;
    tv_hprof_list_thread(reading->hprof, id, name, of, offset);
    return true;
}

/* `300302: (thread=200001)`, `300302:`; a phase of the virtual machine may stand behind. */
static bool take_stack(struct reading *reading, struct tv_bytes text, uint64_t offset)
{
    uint64_t number, id;
    uint32_t thread = TV_NONE;
    if (!take_number(&text, &number) || !skip_text(&text, ":"))
        return false;
    if (skip_text(&text, " (thread=")) {
        if (!take_number(&text, &id))
            return false;
        thread = tv_hprof_thread(reading->hprof, id, offset);
    }
    tv_hprof_begin_stack(reading->hprof, number, thread, offset);
    reading->section = STACK;
    return true;
}

/* `(total = 542) Wed Jul 21 12:03:46 2010` */
static bool take_table(struct reading *reading, struct tv_bytes text, bool times, uint64_t offset)
{
    struct tv_hprof *hprof = reading->hprof;
    uint64_t total;
    if (!skip_text(&text, "(total = ") || !take_number(&text, &total) || !skip_text(&text, ")") ||
        (times && total > LONGEST_MS))
        return false;
    text = tv_bytes_trim(text);
    tv_hprof_begin_table(hprof, times, offset);
    reading->total = total;
    reading->total_ms = times ? (int64_t)total : 0;
    reading->counted = 0;
    reading->table = offset;
    reading->section = TABLE;
    if (text.length > 0)
        tv_trace_info_add_metadata(hprof->head, hprof->input, TV_BYTES("written"), text);
    return true;
}

/* "65.62%" or "65,62%" (Java in other countries), in hundredths. */
static bool parse_share(struct tv_bytes text, int64_t *share)
{
    int64_t value = 0;
    unsigned places = 0;
    bool point = false;
    if (text.length < 2 || text.length > 10 || text.data[text.length - 1] != '%')
        return false;
    for (size_t i = 0; i + 1 < text.length; i++) {
        uint8_t c = text.data[i];
        if ((c == '.' || c == ',') && !point) {
            point = true;
        } else if (c >= '0' && c <= '9') {
            value = value * 10 + (c - '0');
            places += point;
        } else {
            return false;
        }
    }
    *share = value;
    return places == 2 && value <= WHOLE_SHARE;
}

/* rank, self, accumulated, count, stack, method of the leaf */
static bool take_row(struct reading *reading, struct tv_bytes text, uint64_t offset)
{
    struct tv_hprof *hprof = reading->hprof;
    struct tv_hprof_row row = {.offset = offset};
    int64_t self, accumulated;
    uint64_t rank, count;
    if (!tv_parse_u64(tv_bytes_take_word(&text), &rank) ||
        !parse_share(tv_bytes_take_word(&text), &self) ||
        !parse_share(tv_bytes_take_word(&text), &accumulated) ||
        !tv_parse_u64(tv_bytes_take_word(&text), &count) ||
        !tv_parse_u64(tv_bytes_take_word(&text), &row.stack) ||
        count > (uint64_t)INT64_MAX / TV_SAMPLE_NS)
        return false;
    text = tv_bytes_trim(text);
    if (text.length > 0 && !tv_bytes_equal(text, TV_BYTES("<empty trace>")))
        row.leaf = tv_trace_info_string(hprof->head, text);
    /* A table of times has its milliseconds as a share of the total alone. */
    row.weight = hprof->times ? self * reading->total_ms * (NS_PER_MS / WHOLE_SHARE)
                              : (tv_ns)count * TV_SAMPLE_NS;
    reading->counted += count;
    tv_hprof_add_row(hprof, &row);
    return true;
}

static bool take_header(struct reading *reading, struct tv_bytes text)
{
    size_t created;
    if (find_last(text, "created ", &created)) {
        created += strlen("created ");
        tv_trace_info_add_metadata(reading->hprof->head, reading->hprof->input, TV_BYTES("created"),
                             (struct tv_bytes){text.data + created, text.length - created});
    }
    reading->section = PRELUDE;
    return true;
}

static bool is_begin(struct tv_bytes text)
{
    size_t place;
    return text.length > 0 && text.data[0] >= 'A' && text.data[0] <= 'Z' &&
           find_last(text, " BEGIN", &place);
}

static bool ends_with(struct tv_bytes text, const char *end)
{
    size_t length = strlen(end);
    return text.length >= length && memcmp(text.data + text.length - length, end, length) == 0;
}

/* A line between the sections, or the first of one. */
static bool take_body(struct reading *reading, struct tv_bytes text, uint64_t offset)
{
    if (skip_text(&text, "THREAD START "))
        return take_thread(reading, text, offset);
    if (skip_text(&text, "TRACE "))
        return take_stack(reading, text, offset);
    if (skip_text(&text, "CPU SAMPLES BEGIN "))
        return take_table(reading, text, false, offset);
    if (skip_text(&text, "CPU TIME (ms) BEGIN "))
        return take_table(reading, text, true, offset);
    if (skip_text(&text, "JAVA PROFILE "))
        return take_header(reading, text);
    if (is_begin(text)) {
        reading->hprof->heap =
            reading->hprof->heap || tv_bytes_starts_with(text, TV_BYTES("HEAP DUMP BEGIN"));
        tv_hprof_diagnose(reading->hprof, TV_DIAGNOSTIC_SKIPPED_SECTION, offset);
        reading->section = OTHER;
        return true;
    }
    /* When threads ended, without a time, is of no use; dashes only part. */
    return text.length == 0 || tv_bytes_starts_with(text, TV_BYTES("THREAD END (id = ")) ||
           tv_bytes_starts_with(text, TV_BYTES("--------"));
}

static void end_table(struct reading *reading)
{
    struct tv_hprof *hprof = reading->hprof;
    if (!hprof->times && reading->counted != reading->total)
        tv_hprof_diagnose(hprof, TV_DIAGNOSTIC_COUNT_MISMATCH, reading->table);
    reading->section = BODY;
}

static bool take_table_line(struct reading *reading, struct tv_bytes text, uint64_t offset)
{
    if (tv_bytes_equal(text, TV_BYTES("CPU SAMPLES END")) ||
        tv_bytes_equal(text, TV_BYTES("CPU TIME (ms) END"))) {
        end_table(reading);
        return true;
    }
    return text.length == 0 || tv_bytes_starts_with(text, TV_BYTES("rank ")) ||
           take_row(reading, text, offset);
}

/* What comes behind the explanation, which says "TRACE - ..." and the like: some writers have no
 * line of dashes before it. */
static bool ends_prelude(struct tv_bytes text)
{
    if (tv_bytes_starts_with(text, TV_BYTES("THREAD START (obj=")) ||
        tv_bytes_starts_with(text, TV_BYTES("CPU SAMPLES BEGIN (total = ")) ||
        tv_bytes_starts_with(text, TV_BYTES("CPU TIME (ms) BEGIN (total = ")))
        return true;
    uint64_t number;
    return skip_text(&text, "TRACE ") && take_number(&text, &number) && skip_text(&text, ":") &&
           (text.length == 0 || tv_bytes_starts_with(text, TV_BYTES(" (")));
}

static bool take_line(struct reading *reading, struct tv_bytes text, uint64_t offset)
{
    switch (reading->section) {
    case PRELUDE:
        if (tv_bytes_starts_with(text, TV_BYTES("--------")))
            reading->section = BODY;
        if (!ends_prelude(text))
            return true;
        reading->section = BODY;
        return take_body(reading, text, offset);
    case STACK:
        if (text.length > 1 && text.data[0] == '\t') {
            struct tv_bytes frame = tv_bytes_trim(text);
            if (frame.length > 0 && !tv_bytes_equal(frame, TV_BYTES("<empty>")))
                tv_hprof_add_frame(reading->hprof, tv_hprof_frame_of(reading->hprof, frame));
            return true;
        }
        reading->section = BODY;
        return take_body(reading, text, offset);
    case TABLE:
        return take_table_line(reading, text, offset);
    case OTHER:
        if (ends_with(text, " END"))
            reading->section = BODY;
        return true;
    case BODY:
        break;
    }
    return take_body(reading, text, offset);
}

enum tv_status tv_hprof_read_text(struct tv_hprof *hprof, struct tv_error *err)
{
    struct reading reading = {.hprof = hprof, .section = BODY};
    uint64_t size = tv_source_size(hprof->source);
    struct tv_text_lines lines;
    struct tv_text_line line;
    enum tv_status status;
    tv_text_lines_init(&lines, hprof->source, 0, size);
    while ((status = tv_text_lines_next(&lines, &line, err)) == TV_OK && !line.none) {
        if (line.too_long || !take_line(&reading, line.text, line.offset))
            tv_hprof_diagnose(hprof, TV_DIAGNOSTIC_BAD_LINE, line.offset);
        if (!tv_hprof_pass(hprof, lines.offset - line.offset, err)) {
            status = err->status;
            break;
        }
    }
    tv_text_lines_release(&lines);
    /* Stacks stand before the table, and the table has an end. */
    if (status == TV_OK && (reading.section == TABLE || reading.section == PRELUDE ||
                            (!hprof->has_table && hprof->stack_count > 0)))
        tv_hprof_diagnose(hprof, TV_DIAGNOSTIC_TRUNCATED, size);
    return status;
}
