/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.c - names, figures, JSON members and remarks that several writers have
 * in common.
 *
 * Names are texts of a file and may have any bytes.  In tables for people, a
 * control character (a line break, an escape of a terminal) becomes a blank, so
 * that a name stays on its line and cannot command the terminal.  CSV and JSON
 * have rules of their own and get the bytes as they are.
 */
#include "writers/text/names.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/native_name.h"

/* ---- Names ---- */

/* Return true when none of eight bytes is a control character, DEL or outside ASCII. */
static bool names_are_plain_bytes(const uint8_t *at)
{
    static const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t bytes;
    memcpy(&bytes, at, sizeof bytes);
    /* The highest bit of a byte is set in the first term for a byte that is not
     * ASCII, in the second one for DEL (0x7f + 1), in the third one for a byte
     * below a blank.  Carries reach neighbouring bytes only when a byte was
     * found. */
    return ((bytes | (bytes + ones) | (bytes - ones * ' ')) & ones << 7) == 0;
}

/* Return the offset of the first control character from `from` on, or the length of the text. */
static size_t names_find_control(struct tv_bytes text, size_t from)
{
    while (from < text.length) {
        struct tv_bytes rest = {text.data + from, text.length - from};
        bool plain = rest.length >= 8 && names_are_plain_bytes(rest.data);
        if (!plain && tv_bytes_control(rest) > 0)
            break;
        from += plain ? 8 : 1;
    }
    return from;
}

bool tv_names_is_line(struct tv_bytes text)
{
    return names_find_control(text, 0) == text.length;
}

void tv_names_line(struct tv_out *out, struct tv_bytes text)
{
    for (size_t from = 0, at; from < text.length; from = at) {
        at = names_find_control(text, from);
        tv_out_bytes(out, (struct tv_bytes){text.data + from, at - from});
        if (at < text.length) {
            tv_out_char(out, ' ');
            at += tv_bytes_control((struct tv_bytes){text.data + at, text.length - at});
        }
    }
}

void tv_names_method(struct tv_out *out, const struct tv_trace_info *head,
                     const struct tv_frame *frame)
{
    if (frame->class_name != TV_EMPTY_STRING) {
        tv_names_line(out, tv_trace_info_text(head, frame->class_name));
        tv_out_char(out, '.');
    }
    tv_names_line(out, tv_trace_info_text(head, frame->name));
    if (frame->with_line && frame->line > 0)
        tv_out_format(out, ":%d", (int)frame->line);
}

void tv_names_full(struct tv_out *out, const struct tv_trace_info *head,
                   const struct tv_frame *frame)
{
    tv_names_method(out, head, frame);
    struct tv_bytes signature = tv_trace_info_text(head, frame->signature);
    if (signature.length == 0 || tv_is_mangled(signature))
        return;
    tv_out_char(out, ' ');
    tv_names_line(out, signature);
}

void tv_names_frame(struct tv_out *out, const struct tv_trace_info *head, uint32_t frame)
{
    if (frame == TV_NONE)
        tv_out_text(out, "(none)");
    else
        tv_names_full(out, head, &head->frames[frame]);
}

void tv_names_thread(struct tv_out *out, const struct tv_trace_info *head, uint32_t thread)
{
    const struct tv_thread *t = &head->threads[thread];
    assert(thread < head->thread_count);
    if (t->name != TV_EMPTY_STRING) {
        tv_names_line(out, tv_trace_info_text(head, t->name));
        return;
    }
    tv_out_char(out, '[');
    tv_out_u64(out, t->id);
    tv_out_char(out, ']');
}

void tv_names_process(struct tv_out *out, const struct tv_trace_info *head, uint32_t process)
{
    if (process == TV_NONE) {
        tv_out_text(out, "(no process)");
        return;
    }
    struct tv_bytes name = tv_trace_info_text(head, head->processes[process].name);
    assert(process < head->process_count);
    tv_names_line(out, name);
    tv_out_text(out, name.length > 0 ? " (" : "(");
    tv_out_u64(out, head->processes[process].id);
    tv_out_char(out, ')');
}

const char *tv_names_frame_kind(enum tv_frame_kind kind)
{
    static const char *const names[TV_FRAME_KINDS] = {
        [TV_FRAME_UNKNOWN] = "", [TV_FRAME_NATIVE] = "native",
        [TV_FRAME_CPP] = "C++",  [TV_FRAME_KERNEL] = "kernel",
        [TV_FRAME_JIT] = "JIT",  [TV_FRAME_INTERPRETED] = "interpreted",
        [TV_FRAME_GC] = "GC",    [TV_FRAME_INLINED] = "inlined",
    };
    return names[kind];
}

/* The words are those of the key "clock" in method traces. */
const char *tv_names_clocks(unsigned clocks)
{
    if ((clocks & TV_CLOCK_WALL) && (clocks & TV_CLOCK_CPU))
        return "dual";
    return clocks & TV_CLOCK_CPU ? "thread-cpu" : "wall";
}

const char *tv_names_input_clocks(const struct tv_input *input)
{
    return input->weight_axis ? "none" : tv_names_clocks(input->clocks);
}

/* Return part / whole in tenths of a percent. Huge numbers are halved until the product fits in
 * 64 bits. */
static int64_t names_permille(int64_t part, int64_t whole)
{
    while (whole > INT64_MAX / 4000) {
        whole /= 2;
        part /= 2;
    }
    return whole > 0 ? (part * 2000 + (part < 0 ? -whole : whole)) / (2 * whole) : 0;
}

void tv_names_percent(struct tv_out *out, int64_t part, int64_t whole)
{
    tv_out_time(out, names_permille(part, whole), 10, 1);
}

/* Room for a column, so that its text can still be moved inside the buffer. */
#define COLUMN_ROOM 256

/* Reserve room and return the start of a column. The buffer is not flushed before the column is
 * aligned. */
static size_t names_begin_column(struct tv_out *out)
{
    (void)tv_out_room(out, COLUMN_ROOM);
    return out->length;
}

/* Move the text after `start` to the right end of the column. */
static void names_align_right(struct tv_out *out, size_t start, int width)
{
    size_t length = out->length - start, wanted = (size_t)width;
    assert(width >= 0 && width <= 100 && out->length >= start);
    if (length >= wanted)
        return;
    memmove(out->buffer + start + wanted - length, out->buffer + start, length);
    memset(out->buffer + start, ' ', wanted - length);
    out->length = start + wanted;
}

void tv_names_time_column(struct tv_out *out, int width, tv_ns value, tv_ns unit_ns, int decimals)
{
    size_t start = names_begin_column(out);
    tv_out_time(out, value, unit_ns, decimals);
    names_align_right(out, start, width);
}

void tv_names_percent_column(struct tv_out *out, int width, int64_t part, int64_t whole)
{
    size_t start = names_begin_column(out);
    tv_names_percent(out, part, whole);
    names_align_right(out, start, width);
}

void tv_names_number_column(struct tv_out *out, int width, uint64_t value)
{
    size_t start = names_begin_column(out);
    tv_out_u64(out, value);
    names_align_right(out, start, width);
}

void tv_name_cache_init(struct tv_name_cache *names, const struct tv_trace_info *head)
{
    names->head = head;
    names->place = tv_alloc(head->frame_count, sizeof *names->place);
    tv_out_init_memory(&names->text);
}

void tv_name_cache_release(struct tv_name_cache *names)
{
    tv_free(names->place);
    tv_out_release(&names->text);
}

/* A name is made when it is first needed; all lie in one buffer, which may
 * move, so their places are kept as offsets. */
struct tv_bytes tv_name_cache_get(struct tv_name_cache *names, uint32_t frame)
{
    assert(frame < names->head->frame_count);
    if (names->place[frame].length == 0) {
        size_t start = names->text.length;
        tv_names_full(&names->text, names->head, &names->head->frames[frame]);
        names->place[frame].start = start;
        names->place[frame].length = names->text.length - start;
    }
    return (struct tv_bytes){names->text.buffer + names->place[frame].start,
                             names->place[frame].length};
}

/* ---- JSON members ---- */

void tv_names_put_function(struct tv_out *out, const struct tv_trace_info *head,
                           const struct tv_frame *frame)
{
    if (frame->class_name != TV_EMPTY_STRING) {
        tv_out_bytes(out, tv_trace_info_text(head, frame->class_name));
        tv_out_char(out, '.');
    }
    tv_out_bytes(out, tv_trace_info_text(head, frame->name));
}

void tv_json_put_function(struct tv_out *out, const struct tv_trace_info *head,
                          const struct tv_frame *frame)
{
    struct tv_out name;
    tv_out_init_memory(&name);
    tv_names_put_function(&name, head, frame);
    tv_out_json(out, (struct tv_bytes){name.buffer, name.length});
    tv_out_release(&name);
}

void tv_json_put_key(struct tv_out *out, const char *before, const char *key)
{
    tv_out_text(out, before);
    tv_out_char(out, '"');
    tv_out_text(out, key);
    tv_out_text(out, "\": ");
}

void tv_json_put_text(struct tv_out *out, const char *before, const char *key, struct tv_bytes text)
{
    tv_json_put_key(out, before, key);
    tv_out_json(out, text);
}

void tv_json_put_u64(struct tv_out *out, const char *before, const char *key, uint64_t value)
{
    tv_json_put_key(out, before, key);
    tv_out_u64(out, value);
}

void tv_json_put_i64(struct tv_out *out, const char *before, const char *key, int64_t value)
{
    tv_json_put_key(out, before, key);
    tv_out_i64(out, value);
}

void tv_json_put_some_i64(struct tv_out *out, const char *before, const char *key, bool there,
                          int64_t value)
{
    tv_json_put_key(out, before, key);
    if (there)
        tv_out_i64(out, value);
    else
        tv_out_text(out, "null");
}

void tv_json_put_frame(struct tv_out *out, const char *before, const struct tv_trace_info *head,
                       const struct tv_frame *frame)
{
    tv_json_put_text(out, before, "class", tv_trace_info_text(head, frame->class_name));
    tv_json_put_text(out, ", ", "method", tv_trace_info_text(head, frame->name));
    tv_json_put_text(out, ", ", "signature", tv_trace_info_text(head, frame->signature));
}

void tv_json_put_double(struct tv_out *out, double value)
{
    char text[40];
    if (isnan(value)) {
        tv_out_text(out, "null");
        return;
    }
    if (isinf(value)) { /* JSON has no infinite numbers */
        tv_out_text(out, value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
        return;
    }
    /* The fewest digits from which the same double is read: 15 always survive,
     * 17 always suffice. */
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        double back = strtod(text, NULL);
        if (back >= value && back <= value)
            break;
    }
    tv_out_text(out, text);
}

void tv_names_double(struct tv_out *out, double value)
{
    double size = fabs(value);
    if (isnan(value))
        tv_out_char(out, '-');
    else if (size >= 1e5 && size < 1e15)
        tv_out_format(out, "%.0f", copysign(floor(size + 0.5), value));
    else
        tv_out_format(out, "%.6g", value + 0.0); /* no "-0" */
}

/* ---- Figures ---- */

#define MS 1000000

/* Return the decimals of milliseconds: to the nanosecond when an input asks for that
 * (displayTimeUnit), else to the microsecond. */
static int figures_ms_decimals(const struct tv_trace_info *head)
{
    for (uint32_t i = 0; i < head->input_count; i++)
        if (head->inputs[i].unit && strcmp(head->inputs[i].unit, "ns") == 0)
            return 6;
    return 3;
}

struct tv_figure_unit tv_figures_unit(const struct tv_trace_info *head)
{
    return (struct tv_figure_unit){"ms", MS, figures_ms_decimals(head)};
}

bool tv_figures_count_calls(const struct tv_trace_info *head)
{
    for (uint32_t i = 0; i < head->input_count; i++)
        if (head->inputs[i].figures != TV_FIGURES_CALLS)
            return false;
    return true;
}

void tv_figures_note(struct tv_out *out, const struct tv_trace_info *head)
{
    struct tv_sampling sampling = tv_trace_info_sampling(head);
    if (sampling.interval == 0)
        return;
    tv_out_text(out,
                sampling.inferred ? "Sampled (inferred), interval at most " : "Sampled every ");
    tv_out_time(out, sampling.interval, MS, 3);
    tv_out_text(out, " ms: times are estimates, calls are not counted.\n");
}

void tv_compensation_write(struct tv_out *out, const struct tv_compensation *compensation,
                           unsigned clocks)
{
    if (compensation->cost == 0)
        return;
    tv_out_text(out, "Compensated: ");
    tv_out_i64(out, compensation->cost);
    tv_out_text(out, " ns taken off each call, and as much off its caller;");
    if (clocks & TV_CLOCK_CPU) {
        tv_out_char(out, ' ');
        tv_out_time(out, compensation->cpu, MS, 3);
        tv_out_text(out, " ms CPU");
    }
    if (clocks & TV_CLOCK_WALL) {
        tv_out_text(out, clocks & TV_CLOCK_CPU ? ", " : " ");
        tv_out_time(out, compensation->wall, MS, 3);
        tv_out_text(out, " ms real");
    }
    tv_out_text(out, " in all.\n");
}

/* ---- Dates ---- */

struct calendar_date {
    int64_t year;
    int month, day;
};

/* Convert days since 1970 to the proleptic Gregorian calendar. Years begin in March, so that the
 * leap day is the last day of a year; 400 years have 146097 days. */
static struct calendar_date names_date_of_days(int64_t days)
{
    int64_t shifted = days + 719468; /* days since 0000-03-01 */
    int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    int64_t of_era = shifted - era * 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * of_year + 2) / 153; /* 0: March */
    struct calendar_date date = {
        .year = year + era * 400 + (month >= 10 ? 1 : 0),
        .month = (int)(month < 10 ? month + 3 : month - 9),
        .day = (int)(of_year - (153 * month + 2) / 5 + 1),
    };
    return date;
}

void tv_names_date(struct tv_out *out, int64_t us)
{
    int64_t seconds = us / 1000000, days = seconds / 86400, rest = seconds % 86400;
    struct calendar_date date = names_date_of_days(days);
    tv_out_format(out, "%04lld-%02d-%02dT%02d:%02d:%02d.%06dZ", (long long)date.year, date.month,
                  date.day, (int)(rest / 3600), (int)(rest / 60 % 60), (int)(rest % 60),
                  (int)(us % 1000000));
}
