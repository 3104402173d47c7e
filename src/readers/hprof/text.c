/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.c - the text form of hprof, as the JDK's agent and Android's SamplingProfiler wrote it: one
 * line per thread, stacks with indented frames, and a table with one line per stack.
 *
 *     line                                section before  --> after
 *     JAVA PROFILE 1.0.1, created ...     BODY            --> PRELUDE   (an explanation follows)
 *     --------                            PRELUDE         --> BODY
 *     TRACE 300302: (thread=200001)       BODY            --> STACK
 *     <TAB>java.lang.Long.parseLong(...)  STACK           --> STACK
 *     CPU SAMPLES BEGIN (total = 542)     BODY            --> TABLE
 *     CPU SAMPLES END                     TABLE           --> BODY
 *     HEAP DUMP BEGIN ...                 BODY            --> OTHER     (skipped up to " END")
 *
 * Lines that do not fit their section are diagnosed and skipped. hprof.c shows a whole file.
 */
#include "readers/hprof/hprof.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "readers/text_lines.h"

#define NS_PER_MS INT64_C(1000000)

/* 100 %, in hundredths of a percent. */
#define WHOLE_SHARE 10000

/* Upper bound of a total: products with a share do not overflow. */
#define LONGEST_MS INT64_C(100000000000)

enum hprof_section {
    PRELUDE, /* the JDK's explanation, up to a line of dashes */
    BODY,
    STACK, /* frames follow */
    TABLE,
    OTHER, /* heap, monitors: skipped up to its END */
};

struct hprof_text {
    struct tv_hprof *hprof;
    enum hprof_section section;
    int64_t total_ms; /* total of a table of times */
    uint64_t total;   /* total that the table announces */
    uint64_t counted; /* sum of the rows so far */
    uint64_t table;   /* offset of the table */
};

/* ---- Words ---- */

/* Skip `prefix`. Return false when the text does not begin with it. */
static bool hprof_text_skip(struct tv_bytes *text, const char *prefix)
{
    struct tv_bytes wanted = tv_bytes_of(prefix);
    if (!tv_bytes_starts_with(*text, wanted))
        return false;
    text->data += wanted.length;
    text->length -= wanted.length;
    return true;
}

/* Find the last occurrence of `what`. Return false when there is none. */
static bool hprof_text_find_last(struct tv_bytes text, const char *what, size_t *place)
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

/* Take the digits at the begin of the text; false: there are none, or too many. */
static bool hprof_text_take_number(struct tv_bytes *text, uint64_t *value)
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

/* Remove "java.base/" or "app//", the module that JDK 9 and later write first. A '/' in the name
 * of a lambda's class comes after a '$'. */
static struct tv_bytes hprof_text_without_module(struct tv_bytes name)
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

/* Parse "Long.java:433", "Long.java", "Native Method", "Unknown Source" or "Long.java:Native
 * method". Return the line in the method; 0: unknown. It is not part of the frame, because it would
 * make a separate method of every place. */
static int32_t hprof_text_parse_place(struct tv_hprof *hprof, struct tv_bytes place,
                                      struct tv_frame *frame)
{
    struct tv_bytes file;
    uint64_t line = 0;
    if (tv_bytes_equal(place, TV_BYTES("Native Method"))) {
        frame->line = -2;
        return 0;
    }
    if (tv_bytes_split(&place, ':', &file) && tv_bytes_equal(place, TV_BYTES("Native method")))
        frame->line = -2;
    if (!tv_bytes_equal(file, TV_BYTES("Unknown Source")) &&
        !tv_bytes_equal(file, TV_BYTES("<Unknown Source>")))
        frame->file = tv_trace_info_string(hprof->head, file);
    return tv_parse_u64(place, &line) && line <= INT32_MAX ? (int32_t)line : 0;
}

/* Find the parenthesis that matches the last one: files and methods may contain others. If they
 * do not match, take the last '('. */
static bool hprof_text_find_open(struct tv_bytes text, size_t *open)
{
    size_t depth = 0;
    for (size_t i = text.length; i-- > 0;) {
        depth += text.data[i] == ')';
        if (text.data[i] == '(' && --depth == 0) {
            *open = i;
            return i > 0;
        }
    }
    return hprof_text_find_last(text, "(", open) && *open > 0;
}

struct tv_hprof_frame tv_hprof_parse_frame(struct tv_hprof *hprof, struct tv_bytes text)
{
    assert(text.length > 0);
    struct tv_frame frame = {0};
    int32_t line = 0;
    size_t open, dot;
    if (text.data[text.length - 1] == ')' && hprof_text_find_open(text, &open)) {
        line = hprof_text_parse_place(
            hprof, (struct tv_bytes){text.data + open + 1, text.length - open - 2}, &frame);
        text.length = open;
    }
    text = hprof_text_without_module(text);
    if (hprof_text_find_last(text, ".", &dot)) {
        frame.class_name = tv_trace_info_string(hprof->head, (struct tv_bytes){text.data, dot});
        text.data += dot + 1;
        text.length -= dot + 1;
    }
    frame.name = tv_trace_info_string(hprof->head, text);
    return (struct tv_hprof_frame){tv_trace_info_add_recorded_frame(hprof->head, &frame), line};
}

/* ---- Lines ---- */

/* Take `(obj=1, id = 200001, name="main", group="system")`. */
static bool hprof_text_take_thread(struct hprof_text *reading, struct tv_bytes text,
                                   uint64_t offset)
{
    uint64_t id;
    size_t group;
    struct tv_bytes rest = text;
    while (rest.length > 0 && !tv_bytes_starts_with(rest, TV_BYTES("id = "))) {
        rest.data++;
        rest.length--;
    }
    if (!hprof_text_skip(&rest, "id = ") || !hprof_text_take_number(&rest, &id) ||
        !hprof_text_skip(&rest, ", name=\"") || !hprof_text_find_last(rest, "\", group=\"", &group))
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

/* Take `300302: (thread=200001)` or `300302:`; a phase of the virtual machine may follow. */
static bool hprof_text_take_stack(struct hprof_text *reading, struct tv_bytes text, uint64_t offset)
{
    uint64_t number, id;
    uint32_t thread = TV_NONE;
    if (!hprof_text_take_number(&text, &number) || !hprof_text_skip(&text, ":"))
        return false;
    if (hprof_text_skip(&text, " (thread=")) {
        if (!hprof_text_take_number(&text, &id))
            return false;
        thread = tv_hprof_thread(reading->hprof, id, offset);
    }
    tv_hprof_begin_stack(reading->hprof, number, thread, offset);
    reading->section = STACK;
    return true;
}

/* Take `(total = 542) Wed Jul 21 12:03:46 2010`. */
static bool hprof_text_take_table(struct hprof_text *reading, struct tv_bytes text, bool times,
                                  uint64_t offset)
{
    struct tv_hprof *hprof = reading->hprof;
    uint64_t total;
    if (!hprof_text_skip(&text, "(total = ") || !hprof_text_take_number(&text, &total) ||
        !hprof_text_skip(&text, ")") || (times && total > LONGEST_MS))
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

/* Parse "65.62%" or "65,62%" (Java in other countries), in hundredths. */
static bool hprof_text_parse_share(struct tv_bytes text, int64_t *share)
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

/* Take a row: rank, self, accumulated, count, stack, innermost method. */
static bool hprof_text_take_row(struct hprof_text *reading, struct tv_bytes text, uint64_t offset)
{
    struct tv_hprof *hprof = reading->hprof;
    struct tv_hprof_row row = {.offset = offset};
    int64_t self, accumulated;
    uint64_t rank, count;
    if (!tv_parse_u64(tv_bytes_take_word(&text), &rank) ||
        !hprof_text_parse_share(tv_bytes_take_word(&text), &self) ||
        !hprof_text_parse_share(tv_bytes_take_word(&text), &accumulated) ||
        !tv_parse_u64(tv_bytes_take_word(&text), &count) ||
        !tv_parse_u64(tv_bytes_take_word(&text), &row.stack))
        return false;
    text = tv_bytes_trim(text);
    if (text.length > 0 && !tv_bytes_equal(text, TV_BYTES("<empty trace>")))
        row.leaf = tv_trace_info_string(hprof->head, text);
    /* A table of times gives milliseconds only as a share of the total. */
    row.weight =
        hprof->times ? (uint64_t)(self * reading->total_ms * (NS_PER_MS / WHOLE_SHARE)) : count;
    reading->counted += count;
    tv_hprof_add_row(hprof, &row);
    return true;
}

/* Keep the date as text: its form depends on the country of the machine. */
static bool hprof_text_take_header(struct hprof_text *reading, struct tv_bytes text)
{
    size_t created;
    if (hprof_text_find_last(text, "created ", &created)) {
        created += strlen("created ");
        tv_trace_info_add_metadata(reading->hprof->head, reading->hprof->input, TV_BYTES("created"),
                                   (struct tv_bytes){text.data + created, text.length - created});
    }
    reading->section = PRELUDE;
    return true;
}

static bool hprof_text_is_begin(struct tv_bytes text)
{
    size_t place;
    return text.length > 0 && text.data[0] >= 'A' && text.data[0] <= 'Z' &&
           hprof_text_find_last(text, " BEGIN", &place);
}

/* Take a line between sections, or the first line of one. */
static bool hprof_text_take_body(struct hprof_text *reading, struct tv_bytes text, uint64_t offset)
{
    if (hprof_text_skip(&text, "THREAD START "))
        return hprof_text_take_thread(reading, text, offset);
    if (hprof_text_skip(&text, "TRACE "))
        return hprof_text_take_stack(reading, text, offset);
    if (hprof_text_skip(&text, "CPU SAMPLES BEGIN "))
        return hprof_text_take_table(reading, text, false, offset);
    if (hprof_text_skip(&text, "CPU TIME (ms) BEGIN "))
        return hprof_text_take_table(reading, text, true, offset);
    if (hprof_text_skip(&text, "JAVA PROFILE "))
        return hprof_text_take_header(reading, text);
    if (hprof_text_is_begin(text)) {
        reading->hprof->heap =
            reading->hprof->heap || tv_bytes_starts_with(text, TV_BYTES("HEAP DUMP BEGIN"));
        tv_hprof_diagnose(reading->hprof, TV_DIAGNOSTIC_SKIPPED_SECTION, offset);
        reading->section = OTHER;
        return true;
    }
    /* The end of a thread has no time, so it is ignored; dashes only separate. */
    return text.length == 0 || tv_bytes_starts_with(text, TV_BYTES("THREAD END (id = ")) ||
           tv_bytes_starts_with(text, TV_BYTES("--------"));
}

static void hprof_text_end_table(struct hprof_text *reading)
{
    assert(reading->hprof->has_table && reading->section == TABLE);
    struct tv_hprof *hprof = reading->hprof;
    if (!hprof->times && reading->counted != reading->total)
        tv_hprof_diagnose(hprof, TV_DIAGNOSTIC_COUNT_MISMATCH, reading->table);
    reading->section = BODY;
}

static bool hprof_text_take_table_line(struct hprof_text *reading, struct tv_bytes text,
                                       uint64_t offset)
{
    if (tv_bytes_equal(text, TV_BYTES("CPU SAMPLES END")) ||
        tv_bytes_equal(text, TV_BYTES("CPU TIME (ms) END"))) {
        hprof_text_end_table(reading);
        return true;
    }
    return text.length == 0 || tv_bytes_starts_with(text, TV_BYTES("rank ")) ||
           hprof_text_take_row(reading, text, offset);
}

/* Return true for the first line after the explanation, which itself has lines like "TRACE -
 * ...". Some writers leave out the line of dashes. */
static bool hprof_text_ends_prelude(struct tv_bytes text)
{
    if (tv_bytes_starts_with(text, TV_BYTES("THREAD START (obj=")) ||
        tv_bytes_starts_with(text, TV_BYTES("CPU SAMPLES BEGIN (total = ")) ||
        tv_bytes_starts_with(text, TV_BYTES("CPU TIME (ms) BEGIN (total = ")))
        return true;
    uint64_t number;
    return hprof_text_skip(&text, "TRACE ") && hprof_text_take_number(&text, &number) &&
           hprof_text_skip(&text, ":") &&
           (text.length == 0 || tv_bytes_starts_with(text, TV_BYTES(" (")));
}

/* Take a line by the section it is in.  A section ends at a line of another form, which is taken
 * again as a line of the body. */
static bool hprof_text_take_line(struct hprof_text *reading, struct tv_bytes text, uint64_t offset)
{
    switch (reading->section) {
    case PRELUDE:
        if (tv_bytes_starts_with(text, TV_BYTES("--------")))
            reading->section = BODY;
        if (!hprof_text_ends_prelude(text))
            return true;
        reading->section = BODY;
        return hprof_text_take_body(reading, text, offset);
    case STACK:
        if (text.length > 1 && text.data[0] == '\t') {
            struct tv_bytes frame = tv_bytes_trim(text);
            if (frame.length > 0 && !tv_bytes_equal(frame, TV_BYTES("<empty>")))
                tv_hprof_add_frame(reading->hprof, tv_hprof_parse_frame(reading->hprof, frame));
            return true;
        }
        reading->section = BODY;
        return hprof_text_take_body(reading, text, offset);
    case TABLE:
        return hprof_text_take_table_line(reading, text, offset);
    case OTHER:
        if (tv_bytes_ends_with(text, TV_BYTES(" END")))
            reading->section = BODY;
        return true;
    case BODY:
        break;
    }
    return hprof_text_take_body(reading, text, offset);
}

enum tv_status tv_hprof_read_text(struct tv_hprof *hprof, struct tv_error *err)
{
    struct hprof_text reading = {.hprof = hprof, .section = BODY};
    uint64_t size = tv_source_size(hprof->source);
    struct tv_text_lines lines;
    struct tv_text_line line;
    enum tv_status status;
    tv_text_lines_init(&lines, hprof->source, 0, size);
    while ((status = tv_text_lines_next(&lines, &line, err)) == TV_OK && !line.none) {
        if (line.too_long || !hprof_text_take_line(&reading, line.text, line.offset))
            tv_hprof_diagnose(hprof, TV_DIAGNOSTIC_BAD_LINE, line.offset);
        status = tv_reader_add_progress(hprof->progress, lines.offset - line.offset, err);
        if (status != TV_OK)
            break;
    }
    tv_text_lines_release(&lines);
    /* A complete file has a table after its stacks, and the table has an end. */
    if (status == TV_OK && (reading.section == TABLE || reading.section == PRELUDE ||
                            (!hprof->has_table && hprof->stack_count > 0)))
        tv_hprof_diagnose(hprof, TV_DIAGNOSTIC_TRUNCATED, size);
    return status;
}
