/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strace.c - system calls as strace prints them:
 *
 *     14931      0.000305 brk(NULL)           = 0x55b4db8ce000 <0.000007>
 *     [pid 14931] 12:00:01.000305 read(3,  <unfinished ...>
 *     [pid 14931] 12:00:01.500305 <... read resumed>"x", 1) = 1 <0.500000>
 *     [pid 14931] 12:00:02.100000 --- SIGCHLD {si_signo=SIGCHLD, ...} ---
 *     [pid 14931] 12:00:02.200000 +++ exited with 0 +++
 *
 * Each process id is a thread, and each call a slice.  A call that another process interrupted has
 * two lines.  Only -T prints durations: without it, and without two lines, a call has length 0.
 * Signals and exits are instants.
 *
 * ltrace writes calls of libraries in the same form, with the module that calls in front of a name.
 *
 * Times come in three kinds, by the options of strace, and a line does not say which:
 *
 *     -r     0.000305              since the line before, whatever its thread
 *     -t -tt 12:00:01.000305       of the day; going back by more than half a day is midnight
 *     -ttt   1700000000.000305     since 1970, told apart by its number of digits
 *
 * strace(1) describes the format, docs/formats/strace.md how it is read.
 */
#include "readers/readers.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/profile_input.h"
#include "readers/text_lines.h"

#define SECOND INT64_C(1000000000)
#define DAY (86400 * SECOND)
/* Seconds with more digits are counted since 1970 (-ttt), not since the line before (-r). */
#define RELATIVE_DIGITS 8
/* Longest line that is shown again. */
#define SHOWN_LINE 4096
/* Length of the beginning of a file that tells ltrace from strace. */
#define KIND_PREFIX 4096

static const char strace_format[] = "strace text";
static const char ltrace_format[] = "ltrace text";

/* A parsed line. */
struct strace_line {
    uint64_t pid;
    bool timed;
    bool relative; /* `time` is that since the line before */
    bool in_day;   /* `time` is that since midnight */
    tv_ns time;
    struct tv_bytes rest; /* after the time */
};

/* An unfinished call of a thread. */
struct strace_open {
    struct tv_bytes name; /* length 0: none */
    tv_ns start;
    uint64_t offset;
};

struct strace {
    struct tv_profile_input profile;
    struct tv_map threads; /* pid -> place in `open` */
    struct strace_open *open;
    uint32_t *thread; /* thread of each place */
    size_t count, open_capacity, thread_capacity;
    uint32_t process;
    tv_ns now, day; /* time of the line; nanoseconds of the days that have passed (in_day) */
    uint64_t offset;
};

/* ---- Lines ---- */

static void strace_skip_blanks(struct tv_bytes *line)
{
    while (line->length > 0 && tv_is_blank(line->data[0]))
        *line = (struct tv_bytes){line->data + 1, line->length - 1};
}

static struct tv_bytes strace_word(struct tv_bytes line)
{
    size_t end = 0;
    while (end < line.length && !tv_is_blank(line.data[end]))
        end++;
    return (struct tv_bytes){line.data, end};
}

static void strace_skip_word(struct tv_bytes *line, struct tv_bytes word)
{
    *line = (struct tv_bytes){line->data + word.length, line->length - word.length};
    strace_skip_blanks(line);
}

/* Parse seconds with or without a fraction. */
static bool strace_parse_seconds(struct tv_bytes text, tv_ns *time)
{
    for (size_t i = 0; i < text.length; i++)
        if ((text.data[i] < '0' || text.data[i] > '9') && text.data[i] != '.')
            return false;
    return tv_parse_time(text, SECOND, time);
}

/* Parse "12:00:01" or "12:00:01.000305". */
static bool strace_parse_clock(struct tv_bytes text, tv_ns *time)
{
    struct tv_bytes hours, minutes;
    uint64_t hour, minute;
    if (!tv_bytes_split(&text, ':', &hours) || !tv_bytes_split(&text, ':', &minutes) ||
        !tv_parse_u64(hours, &hour) || !tv_parse_u64(minutes, &minute) || hour > 23 ||
        minute > 59 || !strace_parse_seconds(text, time) || *time > 60 * SECOND)
        return false;
    *time += (tv_ns)(hour * 3600 + minute * 60) * SECOND;
    return true;
}

/* Parse the time at the start of a line, if there is one: seconds since 1970 (-ttt), a clock (-t,
 * -tt), or seconds since the line before (-r). */
static void strace_parse_time(struct strace_line *line)
{
    struct tv_bytes word = strace_word(line->rest);
    const uint8_t *point = word.length > 0 ? memchr(word.data, '.', word.length) : NULL;
    line->in_day = strace_parse_clock(word, &line->time);
    if (!line->in_day && (!point || !strace_parse_seconds(word, &line->time)))
        return;
    line->timed = true;
    line->relative = !line->in_day && (size_t)(point - word.data) <= RELATIVE_DIGITS;
    strace_skip_word(&line->rest, word);
    /* With -r and -tt, "(+     0.000123)" follows. */
    const uint8_t *end = tv_bytes_starts_with(line->rest, TV_BYTES("(+"))
                             ? memchr(line->rest.data, ')', line->rest.length)
                             : NULL;
    if (end)
        strace_skip_word(&line->rest,
                         (struct tv_bytes){line->rest.data, (size_t)(end - line->rest.data) + 1});
}

/* Parse the pid and the time, which may both be missing. */
static void strace_parse_line(struct tv_bytes text, struct strace_line *line)
{
    *line = (struct strace_line){.rest = text};
    if (text.length > 0 && text.data[text.length - 1] == '\r')
        line->rest.length--;
    strace_skip_blanks(&line->rest);
    struct tv_bytes word = strace_word(line->rest);
    if (tv_bytes_equal(word, TV_BYTES("[pid"))) {
        strace_skip_word(&line->rest, word);
        word = strace_word(line->rest);
        struct tv_bytes digits = {word.data, word.length > 0 ? word.length - 1 : 0};
        if (tv_parse_u64(digits, &line->pid))
            strace_skip_word(&line->rest, word);
    } else if (tv_parse_u64(word, &line->pid)) {
        strace_skip_word(&line->rest, word);
    }
    strace_parse_time(line);
}

/* Return the name before the bracket of "read(3, ..." or "program->puts(..."; empty: the text is no
 * call. */
static struct tv_bytes strace_call_name(struct tv_bytes text)
{
    size_t i = tv_text_ltrace_module(text);
    while (i < text.length &&
           (text.data[i] == '_' || (text.data[i] >= '0' && text.data[i] <= '9') ||
            (text.data[i] >= 'a' && text.data[i] <= 'z') ||
            (text.data[i] >= 'A' && text.data[i] <= 'Z')))
        i++;
    return (struct tv_bytes){text.data, i < text.length && text.data[i] == '(' ? i : 0};
}

/* Parse the duration at the end of a line, "<0.000213>". */
static bool strace_parse_duration(struct tv_bytes text, tv_ns *duration)
{
    size_t start = text.length;
    while (start > 0 && text.data[start - 1] != '<')
        start--;
    return start > 0 && text.length - start > 1 && text.data[text.length - 1] == '>' &&
           strace_parse_seconds((struct tv_bytes){text.data + start, text.length - start - 1},
                                duration);
}

/* ---- Events ---- */

static void strace_count(struct strace *strace, struct tv_bytes name)
{
    tv_tables_count_events(&strace->profile.trace->tables, strace->profile.input,
                           tv_profile_string(&strace->profile, name), 1);
}

/* Return the place of a thread, adding it. All are threads of one process, named by the first id:
 * the text does not tell processes and threads apart. Valid until the next thread is added. */
static struct strace_open *strace_thread(struct strace *strace, uint64_t pid)
{
    uint32_t place = tv_map_add(&strace->threads, pid, (uint32_t)strace->count);
    if (place == strace->count) {
        strace->open = tv_array_reserve(strace->open, &strace->open_capacity, strace->count + 1,
                                        sizeof *strace->open);
        strace->thread = tv_array_reserve(strace->thread, &strace->thread_capacity,
                                          strace->count + 1, sizeof *strace->thread);
        if (strace->count == 0)
            strace->process = tv_profile_process(&strace->profile, pid, TV_BYTES(""));
        strace->thread[strace->count] =
            tv_profile_thread(&strace->profile, strace->process, pid, TV_BYTES(""));
        strace->open[strace->count++] = (struct strace_open){.name = {NULL, 0}};
    }
    return &strace->open[place];
}

static uint32_t strace_frame(struct strace *strace, struct tv_bytes name)
{
    struct tv_frame frame = {.name = tv_profile_string(&strace->profile, name)};
    return tv_trace_info_add_frame(strace->profile.info, &frame);
}

/* Add a slice; `length` below 0: the text ends before the call. */
static void strace_add_call(struct strace *strace, const struct strace_open *open,
                            const struct strace_open *call, tv_ns length)
{
    struct tv_span span = {.time = call->start,
                           .length = length < 0 ? 0 : length,
                           .offset = call->offset & TV_OFFSET_MASK,
                           .flags = length < 0 ? TV_SPAN_WHOLE | TV_SPAN_UNFINISHED : TV_SPAN_WHOLE,
                           .frame = strace_frame(strace, call->name)};
    assert(open >= strace->open && open < strace->open + strace->count);
    tv_profile_add_slice(&strace->profile, strace->thread[open - strace->open], &span);
}

/* Add "--- SIGCHLD {...} ---" or "+++ exited with 0 +++" as an instant. */
static void strace_add_mark(struct strace *strace, const struct strace_open *open,
                            struct tv_bytes text)
{
    bool is_signal = text.data[0] == '-';
    struct tv_bytes name = {text.data + 4, text.length - 4};
    if (is_signal)
        name = strace_word(name);
    else if (tv_bytes_ends_with(name, TV_BYTES(" +++")))
        name.length -= 4;
    struct tv_instant instant = {.time = strace->now,
                                 .offset = strace->offset,
                                 .frame = strace_frame(strace, name),
                                 .of = strace->thread[open - strace->open],
                                 .scope = TV_SCOPE_THREAD};
    tv_profile_add_instant(&strace->profile, instant);
    strace_count(strace, is_signal ? TV_BYTES("signal") : TV_BYTES("exit"));
}

/* End the open call of "<... read resumed>". */
static void strace_resume(struct strace *strace, struct strace_open *open, struct tv_bytes text)
{
    struct tv_bytes name = strace_word((struct tv_bytes){text.data + 5, text.length - 5});
    tv_ns length;
    strace_count(strace, TV_BYTES("resumed"));
    if (!tv_bytes_equal(name, open->name)) {
        tv_profile_warn(&strace->profile, TV_DIAGNOSTIC_UNMATCHED_EXIT, strace->offset);
        return;
    }
    if (!strace_parse_duration(text, &length))
        length = strace->now > open->start ? strace->now - open->start : 0;
    strace_add_call(strace, open, open, length);
    open->name.length = 0;
}

/* Close the open call of a thread whose resumption is missing, at the current time. */
static void strace_close(struct strace *strace, struct strace_open *open)
{
    if (open->name.length == 0)
        return;
    tv_profile_warn(&strace->profile, TV_DIAGNOSTIC_MISSING_EXIT, open->offset);
    strace_add_call(strace, open, open, strace->now > open->start ? strace->now - open->start : 0);
    open->name.length = 0;
}

static void strace_take_call(struct strace *strace, struct strace_open *open, struct tv_bytes text)
{
    struct strace_open call = {strace_call_name(text), strace->now, strace->offset};
    tv_ns length = 0;
    strace_close(strace, open);
    strace_count(strace, TV_BYTES("call"));
    if (tv_bytes_ends_with(text, TV_BYTES("<unfinished ...>"))) {
        *open = call;
        return;
    }
    (void)strace_parse_duration(text, &length);
    strace_add_call(strace, open, &call, length);
}

/* Set the current time from a line; times of day go on past midnight. */
static void strace_set_time(struct strace *strace, const struct strace_line *line)
{
    tv_ns time = tv_move_within(line->time);
    if (line->relative)
        time = tv_move_within(strace->now + time);
    if (line->in_day && time + strace->day + DAY / 2 < strace->now && strace->day < TV_MOVE_MAX / 2)
        strace->day += DAY;
    strace->now = line->in_day ? time + strace->day : time;
}

static bool strace_is_resumption(struct tv_bytes text)
{
    return tv_bytes_starts_with(text, TV_BYTES("<... "));
}

static bool strace_is_mark(struct tv_bytes text)
{
    return tv_bytes_starts_with(text, TV_BYTES("--- ")) ||
           tv_bytes_starts_with(text, TV_BYTES("+++ "));
}

/* Take a line; false: it has not the form of one. */
static bool strace_take_line(struct strace *strace, struct tv_bytes text)
{
    struct strace_line line;
    strace_parse_line(text, &line);
    bool call = strace_call_name(line.rest).length > 0;
    if (!line.timed || (!call && !strace_is_resumption(line.rest) && !strace_is_mark(line.rest)))
        return false;
    struct strace_open *open = strace_thread(strace, line.pid);
    strace_set_time(strace, &line);
    if (call)
        strace_take_call(strace, open, line.rest);
    else if (strace_is_resumption(line.rest))
        strace_resume(strace, open, line.rest);
    else
        strace_add_mark(strace, open, line.rest);
    return true;
}

/* strace itself reports attaching and errors in lines of its own. */
static bool strace_is_notice(struct tv_bytes line)
{
    return line.length == 0 || tv_bytes_starts_with(line, TV_BYTES("strace: "));
}

/* Take all lines.  Calls that have not returned at the end last to the end of the trace. */
static void strace_take_lines(struct strace *strace, struct tv_bytes text)
{
    struct tv_cursor cursor = tv_cursor_over(text);
    struct tv_bytes line;
    while (tv_cursor_take_line(&cursor, &line)) {
        strace->offset = (uint64_t)(line.data - text.data);
        if (!strace_is_notice(line) && !strace_take_line(strace, line))
            tv_profile_warn(&strace->profile, TV_DIAGNOSTIC_BAD_LINE, strace->offset);
    }
    if (text.length > 0 && text.data[text.length - 1] != '\n')
        tv_profile_warn(&strace->profile, TV_DIAGNOSTIC_UNENDED_LINE, strace->offset);
    for (size_t i = 0; i < strace->count; i++)
        if (strace->open[i].name.length > 0)
            strace_add_call(strace, &strace->open[i], &strace->open[i], -1);
}

/* ---- The reader ---- */

/* Write the line of a call again. */
static enum tv_status strace_describe(const struct tv_trace *trace, uint32_t input, uint64_t offset,
                                      uint64_t end_offset, struct tv_out *out, struct tv_error *err)
{
    uint8_t bytes[SHOWN_LINE];
    struct tv_bytes text = {bytes, 0}, line;
    (void)end_offset;
    enum tv_status status = tv_source_read(trace->head->inputs[input].source, offset, bytes,
                                           sizeof bytes, &text.length, err);
    if (status != TV_OK)
        return status;
    tv_bytes_split(&text, '\n', &line);
    tv_out_text(out, "{\"args\":{\"line\":");
    tv_out_json(out, line);
    tv_out_text(out, "}}");
    return TV_OK;
}

static enum tv_status strace_assemble(struct tv_source *source, struct tv_builder *builder,
                                      const struct tv_read_options *options, struct tv_error *err)
{
    struct tv_profile_text text;
    enum tv_status status = tv_profile_text_read(source, &text, err);
    if (status != TV_OK)
        return status;
    struct strace *strace = tv_alloc(1, sizeof *strace);
    struct tv_bytes prefix = text.bytes;
    prefix.length = prefix.length < KIND_PREFIX ? prefix.length : KIND_PREFIX;
    tv_profile_input_begin(&strace->profile, source, builder,
                           tv_text_is_ltrace(prefix) ? ltrace_format : strace_format);
    strace->profile.info->inputs[strace->profile.input].describe = strace_describe;
    strace_take_lines(strace, text.bytes);
    tv_profile_input_end(&strace->profile, options);
    tv_map_release(&strace->threads);
    tv_free(strace->open);
    tv_free(strace->thread);
    tv_free(strace);
    tv_profile_text_release(&text);
    return tv_reader_check_cancel(options->progress, err);
}

/* A line of the reader, whose call shows its result or is unfinished. */
static bool strace_is_sure_line(struct tv_bytes text)
{
    struct strace_line line;
    strace_parse_line(text, &line);
    if (!line.timed)
        return false;
    if (strace_is_resumption(line.rest) || strace_is_mark(line.rest))
        return true;
    if (strace_call_name(line.rest).length == 0)
        return false;
    for (size_t i = 0; i + 4 <= line.rest.length; i++)
        if (memcmp(line.rest.data + i, " = ", 3) == 0 || memcmp(line.rest.data + i, "<unf", 4) == 0)
            return true;
    return false;
}

/* Most lines must have a time and a call. */
static int strace_sniff(struct tv_bytes prefix, uint64_t size)
{
    struct tv_cursor cursor = tv_cursor_over(prefix);
    struct tv_bytes line;
    unsigned sure = 0, others = 0;
    while (tv_cursor_take_line(&cursor, &line)) {
        bool whole = tv_cursor_left(&cursor) > 0 || prefix.length == size;
        if (whole && !strace_is_notice(line))
            *(strace_is_sure_line(line) ? &sure : &others) += 1;
    }
    return sure > others && (sure > 1 || others == 0) ? 60 : 0;
}

const struct tv_reader tv_reader_strace = {
    .name = "strace",
    .sniff = strace_sniff,
    .assemble = strace_assemble,
    .refuses_empty = true,
    .format = strace_format,
    .describe = strace_describe,
};
