/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parsing lines of events.  Nearly all lines have the same layout, for which there is a fast path
 * at the end of the file; all others, and all that the fast path refuses, take the slow path.
 *
 *     bash-2930    ( 2930) [003] d..2.  316.190421: sched_switch: prev_comm=bash ...
 *     |            |       |     |      |           |             |
 *     task-tid     tgid    cpu   flags  time        event         details
 *
 * A task's name may contain anything, even "-12 [003] ....", so the line is parsed from the
 * "[cpu]" on: each '[' is tried, and the first one with a valid rest wins.  The prefix before it,
 * which hardly changes from line to line, goes through a cache by its text.
 *
 * The latency format has no brackets ("bash-2930  3d..2.  12us : event"); its processor is the
 * first number after which flags and a time follow.
 */
#include "readers/ftrace/line.h"

#include <string.h>

#define NS_PER_US 1000
#define NS_PER_S 1000000000

/* Further digits of a fraction are less than a nanosecond. */
#define FRACTION_DIGITS 9

/* More seconds do not fit into 64-bit nanoseconds. */
#define MAX_SECONDS ((uint64_t)INT64_MAX / NS_PER_S - 1)

/* The tables store a processor in 16 bits. */
#define MAX_CPUS 65535

/* Longest text from "(" to ")" with spaces, digits or dashes between. */
#define WIDEST_TGID 32

/* "%16s" of a comm, and "%8.8s" of the latency format (the kernel's trace_output.c, trace-cmd's
 * libtraceevent).  Nothing but the name of a buffer makes it wider. */
#define COMM_WIDTH 16
#define LATENCY_COMM_WIDTH 8

/* Bounds of the number of flag characters (ftrace.md section 2). */
#define MIN_FLAGS 4
#define MAX_FLAGS 8

/* The rest of a line that is not parsed yet. */
struct ft_unread {
    const uint8_t *at, *end;
};

TV_INLINE bool ft_line_is_space(uint8_t c)
{
    return c == ' ' || c == '\t';
}

/* Skip spaces and tabs. */
static void ft_line_skip_spaces(struct ft_unread *rest)
{
    while (rest->at < rest->end && ft_line_is_space(*rest->at))
        rest->at++;
}

/* Take one character. Return false, and take nothing, when another one or none follows. */
static bool ft_line_take_char(struct ft_unread *rest, uint8_t c)
{
    if (rest->at == rest->end || *rest->at != c)
        return false;
    rest->at++;
    return true;
}

/* Parse at least one digit. Return false, too, when the number is larger than `most`. */
TV_INLINE bool ft_line_take_number(struct ft_unread *rest, uint64_t most, uint64_t *number)
{
    const uint8_t *at = rest->at, *end = rest->end;
    uint64_t value = 0;
    for (; at < end && tv_ft_is_digit(*at); at++) {
        value = value * 10 + (uint64_t)(*at - '0');
        if (TV_UNLIKELY(value > most))
            return false;
    }
    bool any = at > rest->at;
    rest->at = at;
    *number = value;
    return any;
}

TV_INLINE struct tv_bytes ft_line_trim(const uint8_t *from, const uint8_t *to)
{
    while (from < to && ft_line_is_space(*from))
        from++;
    while (to > from && ft_line_is_space(to[-1]))
        to--;
    return (struct tv_bytes){from, (size_t)(to - from)};
}

/* Parse "comm-tid". */
TV_INLINE bool ft_line_parse_task(struct tv_bytes text, struct tv_ft_line *line)
{
    size_t digits = text.length;
    while (digits > 0 && tv_ft_is_digit(text.data[digits - 1]))
        digits--;
    if (digits == 0 || digits == text.length || text.data[digits - 1] != '-')
        return false;
    struct ft_unread number = {text.data + digits, text.data + text.length};
    uint64_t tid;
    if (!ft_line_take_number(&number, INT32_MAX, &tid))
        return false;
    line->tid = (int64_t)tid;
    /* The name may end with spaces, which belong to it. */
    line->task = (struct tv_bytes){text.data, digits - 1};
    return true;
}

/* Split "buffer:             comm" into buffer and task. The task's column has a fixed width, so
 * the buffer's name is all before it. */
TV_INLINE void ft_line_split_buffer(struct tv_ft_line *line, size_t width)
{
    struct tv_bytes task = line->task;
    line->buffer = (struct tv_bytes){task.data, 0};
    if (TV_LIKELY(task.length < width + sizeof "b: " - 1))
        return;
    const uint8_t *end = task.data + task.length, *comm = end - width;
    if (comm[-2] != ':' || comm[-1] != ' ')
        return;
    line->buffer.length = (size_t)(comm - task.data) - 2;
    while (comm < end && ft_line_is_space(*comm))
        comm++;
    line->task = (struct tv_bytes){comm, (size_t)(end - comm)};
}

/* Cut "(tgid)" off the end of "comm-tid (tgid)". Return false when the parentheses hold
 * something else. */
static bool ft_line_take_tgid(struct tv_bytes *text, struct tv_ft_line *line)
{
    line->tgid = TV_FT_NO_ID;
    if (text->length == 0 || text->data[text->length - 1] != ')')
        return true;
    const uint8_t *open = text->data + text->length - 1;
    const uint8_t *furthest = text->length > WIDEST_TGID ? open - WIDEST_TGID : text->data;
    while (open > furthest && *open != '(')
        open--;
    if (*open != '(')
        return false;
    struct tv_bytes id = ft_line_trim(open + 1, text->data + text->length - 1);
    struct ft_unread rest = {id.data, id.data + id.length};
    uint64_t tgid;
    if (ft_line_take_number(&rest, INT32_MAX, &tgid) && rest.at == rest.end)
        line->tgid = (int64_t)tgid;
    else if (id.length == 0 || id.data[0] != '-')
        return false;
    while (open > text->data && ft_line_is_space(open[-1]))
        open--;
    text->length = (size_t)(open - text->data);
    return true;
}

/* Parse the prefix of a line, up to the processor: maybe a buffer, "comm-tid" and maybe
 * "(tgid)". */
static bool ft_line_parse_prefix(const uint8_t *from, const uint8_t *to, struct tv_ft_line *line)
{
    struct tv_bytes text = ft_line_trim(from, to);
    if (!ft_line_take_tgid(&text, line) || !ft_line_parse_task(text, line))
        return false;
    ft_line_split_buffer(line, COMM_WIDTH);
    return true;
}

/* Parse the digits after the '.', as nanoseconds. */
TV_INLINE bool ft_line_take_fraction(struct ft_unread *rest, int64_t *fraction)
{
    static const int32_t scales[] = {1000000000, 100000000, 10000000, 1000000, 100000,
                                     10000,      1000,      100,      10,      1};
    const uint8_t *first = rest->at, *end = rest->end;
    if (end - first > FRACTION_DIGITS)
        end = first + FRACTION_DIGITS;
    const uint8_t *at = first;
    int64_t number = 0;
    for (; at < end && tv_ft_is_digit(*at); at++)
        number = number * 10 + (*at - '0');
    *fraction = number * scales[at - first];
    rest->at = at;
    while (rest->at < rest->end && tv_ft_is_digit(*rest->at))
        rest->at++;
    return at > first;
}

/* Parse "123.456789", or "1000" of a clock with another unit. */
TV_INLINE bool ft_line_take_time(struct ft_unread *rest, struct tv_ft_line *line)
{
    uint64_t whole;
    int64_t fraction;
    if (!ft_line_take_number(rest, INT64_MAX / 10 - 1, &whole))
        return false;
    line->clock = ft_line_take_char(rest, '.') ? TV_FT_CLOCK_SECONDS : TV_FT_CLOCK_TICKS;
    line->time = (int64_t)whole;
    if (line->clock == TV_FT_CLOCK_TICKS)
        return true;
    if (whole > MAX_SECONDS || !ft_line_take_fraction(rest, &fraction))
        return false;
    line->time = (int64_t)whole * NS_PER_S + fraction;
    return true;
}

/* Return true for a letter, a digit, '.', '#', '*', '+' or '-'. */
TV_INLINE bool ft_line_is_flag(uint8_t c)
{
    static const uint64_t low = UINT64_C(0x3ff) << '0' | UINT64_C(1) << '.' | UINT64_C(1) << '#' |
                                UINT64_C(1) << '*' | UINT64_C(1) << '+' | UINT64_C(1) << '-';
    return c < 64 ? (low >> c & 1) != 0 : (uint8_t)((c | 0x20) - 'a') < 26;
}

/* Return the number of flags when no space separates them from the time ("....316.19"): five
 * when the fifth character cannot be a digit of the time. */
static size_t ft_line_count_touching_flags(struct ft_unread rest)
{
    size_t left = (size_t)(rest.end - rest.at);
    if (left <= MIN_FLAGS)
        return 0;
    return tv_ft_is_digit(rest.at[MIN_FLAGS]) ? MIN_FLAGS : MIN_FLAGS + 1;
}

/* Parse the flags, if there are any, and the time with its ':'. */
static bool ft_line_take_flags_and_time(struct ft_unread *rest, struct tv_ft_line *line)
{
    ft_line_skip_spaces(rest);
    struct ft_unread start = *rest;
    line->flags = (struct tv_bytes){start.at, 0};
    if (rest->at < rest->end && tv_ft_is_digit(*rest->at) && ft_line_take_time(rest, line) &&
        ft_line_take_char(rest, ':'))
        return true;
    *rest = start;
    while (rest->at < rest->end && ft_line_is_flag(*rest->at))
        rest->at++;
    size_t length = (size_t)(rest->at - start.at);
    if (rest->at < rest->end && !ft_line_is_space(*rest->at))
        length = ft_line_count_touching_flags(start);
    if (length < MIN_FLAGS || length > MAX_FLAGS)
        return false;
    line->flags.length = length;
    rest->at = start.at + length;
    ft_line_skip_spaces(rest);
    return ft_line_take_time(rest, line) && ft_line_take_char(rest, ':');
}

/* Skip the name of the event: up to the first ':' before a space, or up to a space. */
TV_INLINE void ft_line_skip_event_name(struct ft_unread *rest)
{
    const uint8_t *at = rest->at, *end = rest->end;
    size_t left = (size_t)(end - at);
    const uint8_t *colon = left > 0 ? memchr(at, ':', left) : NULL;
    /* Most names end at the first ':'. */
    if (colon && colon + 1 < end && ft_line_is_space(colon[1]) &&
        !memchr(at, ' ', (size_t)(colon - at)) && !memchr(at, '\t', (size_t)(colon - at))) {
        rest->at = colon;
        return;
    }
    for (;; at++) {
        while (at < end && *at != ':' && !ft_line_is_space(*at))
            at++;
        if (at == end || *at != ':' || at + 1 == end || ft_line_is_space(at[1]))
            break;
    }
    rest->at = at;
}

/* Return true when the rest starts with the text. */
static bool ft_line_starts_with(struct ft_unread rest, const char *text)
{
    size_t length = strlen(text);
    return (size_t)(rest.end - rest.at) >= length && memcmp(rest.at, text, length) == 0;
}

/* Parse "<stack trace>" or "<user stack trace>", which is in place of an event when its
 * stack follows. */
static bool ft_line_parse_stack_heading(struct ft_unread rest, struct tv_ft_line *line)
{
    bool user = ft_line_starts_with(rest, "<user stack");
    if (!user && !ft_line_starts_with(rest, "<stack trace"))
        return false;
    line->event = user ? TV_BYTES("user_stack") : TV_BYTES("kernel_stack");
    line->details = ft_line_trim(rest.at, rest.end);
    return true;
}

/* Parse "2870:120:S ==> [003]  2849: 98:R bash", which latency tracers write for a switch; a
 * wake-up has "+" instead of "==>". */
static bool ft_line_parse_bare_switch(struct ft_unread rest, struct tv_ft_line *line)
{
    line->details = ft_line_trim(rest.at, rest.end);
    while (rest.at < rest.end &&
           (tv_ft_is_digit(*rest.at) || *rest.at == ':' || ft_line_is_space(*rest.at)))
        rest.at++;
    while (rest.at < rest.end && !ft_line_is_space(*rest.at))
        rest.at++;
    ft_line_skip_spaces(&rest);
    bool turns = ft_line_starts_with(rest, "==> [");
    if (!turns && !ft_line_starts_with(rest, "+ ["))
        return false;
    line->event = turns ? TV_BYTES("sched_switch") : TV_BYTES("sched_wakeup");
    return true;
}

/* Parse a system call as the kernel itself writes it: "sys_openat(dfd: 5, filename: 7f)" and, at
 * its end, "sys_openat -> 0x3". */
static bool ft_line_parse_syscall(struct ft_unread rest, struct tv_ft_line *line)
{
    const uint8_t *from = rest.at;
    if (!ft_line_starts_with(rest, "sys_"))
        return false;
    while (rest.at < rest.end &&
           (tv_ft_is_digit(*rest.at) || *rest.at == '_' || (uint8_t)((*rest.at | 0x20) - 'a') < 26))
        rest.at++;
    line->event = (struct tv_bytes){from, (size_t)(rest.at - from)};
    line->details = ft_line_trim(rest.at, rest.end);
    return ft_line_starts_with(rest, " -> ") ||
           (ft_line_starts_with(rest, "(") && line->details.data[line->details.length - 1] == ')');
}

/* Parse "function [module] <-parent [module]" of the function tracer. */
static bool ft_line_parse_function(const uint8_t *from, struct ft_unread rest,
                                   struct tv_ft_line *line)
{
    ft_line_skip_spaces(&rest);
    if (rest.at < rest.end && *rest.at == '[') {
        while (rest.at < rest.end && *rest.at != ']')
            rest.at++;
        if (!ft_line_take_char(&rest, ']'))
            return false;
        ft_line_skip_spaces(&rest);
    }
    line->event = (struct tv_bytes){from, 0};
    line->details = ft_line_trim(from, rest.end);
    return rest.end - rest.at > 2 && rest.at[0] == '<' && rest.at[1] == '-';
}

/* Parse "event: details", "event:", a system call or "function <-parent". */
static bool ft_line_parse_event(struct ft_unread rest, struct tv_ft_line *line)
{
    ft_line_skip_spaces(&rest);
    const uint8_t *from = rest.at;
    if (rest.at < rest.end && tv_ft_is_digit(*rest.at) && ft_line_parse_bare_switch(rest, line))
        return true;
    if (ft_line_parse_syscall(rest, line))
        return true;
    ft_line_skip_event_name(&rest);
    if (rest.at == from)
        return false;
    if (rest.at < rest.end && *rest.at == ':') {
        line->event = (struct tv_bytes){from, (size_t)(rest.at - from)};
        line->details = ft_line_trim(rest.at + 1, rest.end);
        return true;
    }
    return *from == '<' ? ft_line_parse_stack_heading((struct ft_unread){from, rest.end}, line)
                        : ft_line_parse_function(from, rest, line);
}

/* Parse "[cpu]" at `open`, and everything after it. */
static bool ft_line_parse_from_cpu(const uint8_t *open, const uint8_t *end, struct tv_ft_line *line)
{
    struct ft_unread rest = {open + 1, end};
    uint64_t cpu;
    if (!ft_line_take_number(&rest, MAX_CPUS, &cpu) || !ft_line_take_char(&rest, ']'))
        return false;
    line->cpu = (uint32_t)cpu;
    return ft_line_take_flags_and_time(&rest, line) && ft_line_parse_event(rest, line);
}

/* Parse "12us : " or "12us!: ", or "123.456: " as trace-cmd writes it. */
static bool ft_line_take_latency_time(struct ft_unread *rest, struct tv_ft_line *line)
{
    ft_line_skip_spaces(rest);
    uint64_t number;
    struct ft_unread start = *rest;
    if (ft_line_take_number(rest, INT64_MAX / NS_PER_US, &number) && ft_line_take_char(rest, 'u') &&
        ft_line_take_char(rest, 's')) {
        while (rest->at < rest->end && !ft_line_is_space(*rest->at) && *rest->at != ':')
            rest->at++;
        ft_line_skip_spaces(rest);
        line->clock = TV_FT_CLOCK_DELTA;
        line->time = (int64_t)number * NS_PER_US;
        return ft_line_take_char(rest, ':');
    }
    *rest = start;
    return ft_line_take_time(rest, line) && ft_line_take_char(rest, ':');
}

/* Parse "comm-tid   2d..1.  ...", where `at` is the first digit of the processor. */
static bool ft_line_parse_latency_at(const uint8_t *from, const uint8_t *at, const uint8_t *end,
                                     struct tv_ft_line *line)
{
    struct ft_unread rest = {at, end};
    uint64_t cpu;
    if (!ft_line_take_number(&rest, MAX_CPUS, &cpu))
        return false;
    const uint8_t *flags = rest.at;
    while (rest.at < rest.end && ft_line_is_flag(*rest.at))
        rest.at++;
    size_t length = (size_t)(rest.at - flags);
    if (length < MIN_FLAGS || length > MAX_FLAGS || rest.at == rest.end ||
        !ft_line_is_space(*rest.at))
        return false;
    line->cpu = (uint32_t)cpu;
    line->flags = (struct tv_bytes){flags, length};
    line->tgid = TV_FT_NO_ID;
    if (!ft_line_take_latency_time(&rest, line) || !ft_line_parse_event(rest, line) ||
        !ft_line_parse_task(ft_line_trim(from, at), line))
        return false;
    ft_line_split_buffer(line, LATENCY_COMM_WIDTH);
    return true;
}

/* Parse a line of the latency format: the processor is the first number after "-tid " with flags
 * right after it. */
static bool ft_line_parse_latency(struct tv_bytes text, struct tv_ft_line *line)
{
    const uint8_t *end = text.data + text.length;
    for (const uint8_t *at = text.data + 1; at < end; at++)
        if (tv_ft_is_digit(*at) && ft_line_is_space(at[-1]) &&
            ft_line_parse_latency_at(text.data, at, end, line))
            return true;
    return false;
}

/* ---- Fast path: the layout of nearly all lines ---- */

/* Minimum length of a line in the usual layout, from its '[' on. */
#define MIN_USUAL (sizeof "[000] .... 0.000000: e: " - 1)

/* Lines with more digits of seconds take the slow path. */
#define MAX_SECOND_DIGITS 9

#define MICRO_DIGITS 6

/* Parse "[003] d..2. ". */
TV_INLINE bool ft_line_take_usual_cpu(struct ft_unread *rest, struct tv_ft_line *line)
{
    const uint8_t *at = rest->at;
    unsigned a = at[1] - (unsigned)'0', b = at[2] - (unsigned)'0', c = at[3] - (unsigned)'0';
    if (a > 9 || b > 9 || c > 9 || at[4] != ']' || at[5] != ' ')
        return false;
    size_t length = at[6 + MIN_FLAGS] == ' ' ? MIN_FLAGS : MIN_FLAGS + 1;
    if (at[6 + length] != ' ' || !ft_line_is_flag(at[6]) || !ft_line_is_flag(at[7]) ||
        !ft_line_is_flag(at[8]) || !ft_line_is_flag(at[9]) || !ft_line_is_flag(at[5 + length]))
        return false;
    line->cpu = a * 100 + b * 10 + c;
    line->flags = (struct tv_bytes){at + 6, length};
    rest->at = at + 6 + length;
    return true;
}

/* Parse "73214.000047: ". */
TV_INLINE bool ft_line_take_usual_time(struct ft_unread *rest, struct tv_ft_line *line)
{
    const uint8_t *at = rest->at;
    while (at < rest->end && *at == ' ')
        at++;
    const uint8_t *first = at;
    int64_t seconds = 0, micros = 0;
    for (; at < rest->end && tv_ft_is_digit(*at); at++) {
        if (at - first == MAX_SECOND_DIGITS)
            return false;
        seconds = seconds * 10 + (*at - '0');
    }
    if (at == first || rest->end - at < MICRO_DIGITS + 4 || *at != '.' ||
        at[MICRO_DIGITS + 1] != ':' || at[MICRO_DIGITS + 2] != ' ')
        return false;
    for (size_t i = 1; i <= MICRO_DIGITS; i++) {
        if (!tv_ft_is_digit(at[i]))
            return false;
        micros = micros * 10 + (at[i] - '0');
    }
    line->time = seconds * NS_PER_S + micros * NS_PER_US;
    rest->at = at + MICRO_DIGITS + 3;
    return true;
}

/* Parse "sched_switch: details" when the name begins at once and with a letter. */
TV_INLINE bool ft_line_take_usual_event(struct ft_unread rest, struct tv_ft_line *line)
{
    static const bool stops[256] = {[':'] = true, [' '] = true, ['\t'] = true, ['('] = true};
    const uint8_t *at = rest.at;
    if ((uint8_t)((*at | 0x20) - 'a') >= 26)
        return false;
    while (at < rest.end && !stops[*at])
        at++;
    if (rest.end - at < 2 || *at != ':' || !ft_line_is_space(at[1]))
        return false;
    line->event = (struct tv_bytes){rest.at, (size_t)(at - rest.at)};
    line->details = ft_line_trim(at + 2, rest.end);
    return true;
}

/* Return the cache slot for a prefix that ends at `end`. The hash covers its last 16 bytes,
 * which contain the ids. */
TV_INLINE struct tv_ft_task_text *ft_line_cache_slot(struct tv_ft_task_cache *owners,
                                                     const uint8_t *end)
{
    uint64_t words[2];
    memcpy(words, end - sizeof words, sizeof words);
    uint64_t hash = (words[0] ^ words[1] >> 7) * UINT64_C(0x9e3779b97f4a7c15);
    return &owners->rows[(hash ^ hash >> 32) >> 12 & (TV_FT_CACHED_TASKS - 1)];
}

/* Like ft_line_parse_prefix, but look into the cache first. `cache` may be NULL. */
TV_INLINE bool ft_line_find_prefix(struct tv_ft_task_cache *owners, struct tv_bytes text,
                                   struct tv_ft_line *line)
{
    const uint8_t *from = text.data;
    size_t length = text.length;
    if (!owners || length < 16 || length > TV_FT_TASK_BYTES)
        return ft_line_parse_prefix(from, from + length, line);
    struct tv_ft_task_text *owner = ft_line_cache_slot(owners, from + length);
    if (TV_LIKELY(owner->length == length && memcmp(owner->text, from, length) == 0)) {
        line->task = (struct tv_bytes){from + owner->task, owner->task_length};
        line->buffer.length = 0;
        line->tid = owner->tid;
        line->tgid = owner->tgid;
        return true;
    }
    if (!ft_line_parse_prefix(from, from + length, line))
        return false;
    if (line->buffer.length > 0)
        return true;
    memcpy(owner->text, from, length);
    owner->length = (uint8_t)length;
    owner->task = (uint8_t)(line->task.data - from);
    owner->task_length = (uint8_t)line->task.length;
    owner->tid = line->tid;
    owner->tgid = line->tgid;
    return true;
}

/* Parse a line in the usual layout. Return false when the line has to take the slow path. */
TV_INLINE bool ft_line_parse_usual(struct tv_ft_task_cache *owners, struct tv_bytes text,
                                   const uint8_t *open, struct tv_ft_line *line)
{
    struct ft_unread rest = {open, text.data + text.length};
    if ((size_t)(rest.end - open) < MIN_USUAL)
        return false;
    line->clock = TV_FT_CLOCK_SECONDS;
    return ft_line_take_usual_cpu(&rest, line) && ft_line_take_usual_time(&rest, line) &&
           ft_line_take_usual_event(rest, line) &&
           ft_line_find_prefix(owners, (struct tv_bytes){text.data, (size_t)(open - text.data)},
                               line);
}

bool tv_ft_line_parse_next(struct tv_ft_task_cache *owners, struct tv_bytes text,
                           struct tv_ft_line *line)
{
    if (text.length == 0 || text.data[0] == '#')
        return false;
    const uint8_t *end = text.data + text.length;
    const uint8_t *open = memchr(text.data, '[', text.length);
    if (TV_LIKELY(open != NULL) && ft_line_parse_usual(owners, text, open, line))
        return true;
    for (; open; open = memchr(open + 1, '[', (size_t)(end - open - 1)))
        if (ft_line_parse_from_cpu(open, end, line) && ft_line_parse_prefix(text.data, open, line))
            return true;
    return ft_line_parse_latency(text, line);
}

bool tv_ft_line_parse(struct tv_bytes text, struct tv_ft_line *line)
{
    return tv_ft_line_parse_next(NULL, text, line);
}
