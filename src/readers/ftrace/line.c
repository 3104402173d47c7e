/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/ftrace/line.h"

#include <string.h>

#define NS_PER_US 1000
#define NS_PER_S 1000000000

/* More digits of a fraction are below a nanosecond. */
#define FRACTION_DIGITS 9

/* Seconds beyond this do not fit into nanoseconds of 64 bits. */
#define MOST_SECONDS ((uint64_t)INT64_MAX / NS_PER_S - 1)

/* Rows keep processors in 16 bits. */
#define MOST_CPUS 65535

/* "(" and spaces, digits or dashes in front of ")". */
#define WIDEST_TGID 32

/* "%16s" of a comm, and "%8.8s" of the latency format (the kernel's trace_output.c, trace-cmd's
 * libtraceevent).  Nothing but the name of a buffer makes it wider. */
#define COMM_WIDTH 16
#define LATENCY_COMM_WIDTH 8

/* Flags have so many characters (ftrace.md section 2). */
#define LEAST_FLAGS 4
#define MOST_FLAGS 8

/* What is not read yet. */
struct rest {
    const uint8_t *at, *end;
};

TV_INLINE bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

TV_INLINE bool is_space(uint8_t c)
{
    return c == ' ' || c == '\t';
}

static void skip_spaces(struct rest *rest)
{
    while (rest->at < rest->end && is_space(*rest->at))
        rest->at++;
}

static bool take(struct rest *rest, uint8_t c)
{
    if (rest->at == rest->end || *rest->at != c)
        return false;
    rest->at++;
    return true;
}

/* At least one digit; false when the number is too large, too. */
TV_INLINE bool take_number(struct rest *rest, uint64_t most, uint64_t *number)
{
    const uint8_t *at = rest->at, *end = rest->end;
    uint64_t value = 0;
    for (; at < end && is_digit(*at); at++) {
        value = value * 10 + (uint64_t)(*at - '0');
        if (TV_UNLIKELY(value > most))
            return false;
    }
    bool any = at > rest->at;
    rest->at = at;
    *number = value;
    return any;
}

TV_INLINE struct tv_bytes trimmed(const uint8_t *from, const uint8_t *to)
{
    while (from < to && is_space(*from))
        from++;
    while (to > from && is_space(to[-1]))
        to--;
    return (struct tv_bytes){from, (size_t)(to - from)};
}

/* "comm-tid" */
TV_INLINE bool parse_task(struct tv_bytes text, struct tv_ft_line *line)
{
    size_t digits = text.length;
    while (digits > 0 && is_digit(text.data[digits - 1]))
        digits--;
    if (digits == 0 || digits == text.length || text.data[digits - 1] != '-')
        return false;
    struct rest number = {text.data + digits, text.data + text.length};
    uint64_t tid;
    if (!take_number(&number, INT32_MAX, &tid))
        return false;
    line->tid = (int64_t)tid;
    /* A comm may end with spaces: they are part of it. */
    line->task = (struct tv_bytes){text.data, digits - 1};
    return true;
}

/* "buffer:             comm" -> "buffer" and "comm" */
TV_INLINE void split_buffer(struct tv_ft_line *line, size_t width)
{
    struct tv_bytes task = line->task;
    line->buffer = (struct tv_bytes){task.data, 0};
    if (TV_LIKELY(task.length < width + sizeof "b: " - 1))
        return;
    const uint8_t *end = task.data + task.length, *comm = end - width;
    if (comm[-2] != ':' || comm[-1] != ' ')
        return;
    line->buffer.length = (size_t)(comm - task.data) - 2;
    while (comm < end && is_space(*comm))
        comm++;
    line->task = (struct tv_bytes){comm, (size_t)(end - comm)};
}

/* "(tgid)" behind "comm-tid": what is before it; all when there is none. */
static bool take_tgid(struct tv_bytes *text, struct tv_ft_line *line)
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
    struct tv_bytes id = trimmed(open + 1, text->data + text->length - 1);
    struct rest rest = {id.data, id.data + id.length};
    uint64_t tgid;
    if (take_number(&rest, INT32_MAX, &tgid) && rest.at == rest.end)
        line->tgid = (int64_t)tgid;
    else if (id.length == 0 || id.data[0] != '-')
        return false;
    while (open > text->data && is_space(open[-1]))
        open--;
    text->length = (size_t)(open - text->data);
    return true;
}

/* What stands before the processor: maybe a buffer, "comm-tid" and maybe "(tgid)". */
static bool parse_owner(const uint8_t *from, const uint8_t *to, struct tv_ft_line *line)
{
    struct tv_bytes text = trimmed(from, to);
    if (!take_tgid(&text, line) || !parse_task(text, line))
        return false;
    split_buffer(line, COMM_WIDTH);
    return true;
}

/* Digits behind the '.', as nanoseconds. */
TV_INLINE bool take_fraction(struct rest *rest, int64_t *fraction)
{
    static const int32_t scales[] = {1000000000, 100000000, 10000000, 1000000, 100000,
                                     10000,      1000,      100,      10,      1};
    const uint8_t *first = rest->at, *end = rest->end;
    if (end - first > FRACTION_DIGITS)
        end = first + FRACTION_DIGITS;
    const uint8_t *at = first;
    int64_t number = 0;
    for (; at < end && is_digit(*at); at++)
        number = number * 10 + (*at - '0');
    *fraction = number * scales[at - first];
    rest->at = at;
    while (rest->at < rest->end && is_digit(*rest->at))
        rest->at++;
    return at > first;
}

/* "123.456789", or "1000" of a clock that counts something else. */
TV_INLINE bool take_time(struct rest *rest, struct tv_ft_line *line)
{
    uint64_t whole;
    int64_t fraction;
    if (!take_number(rest, INT64_MAX / 10 - 1, &whole))
        return false;
    line->clock = take(rest, '.') ? TV_FT_CLOCK_SECONDS : TV_FT_CLOCK_TICKS;
    line->time = (int64_t)whole;
    if (line->clock == TV_FT_CLOCK_TICKS)
        return true;
    if (whole > MOST_SECONDS || !take_fraction(rest, &fraction))
        return false;
    line->time = (int64_t)whole * NS_PER_S + fraction;
    return true;
}

/* Letters and digits, '.', '#', '*', '+' and '-'. */
TV_INLINE bool is_flag(uint8_t c)
{
    static const uint64_t low = UINT64_C(0x3ff) << '0' | UINT64_C(1) << '.' | UINT64_C(1) << '#' |
                                UINT64_C(1) << '*' | UINT64_C(1) << '+' | UINT64_C(1) << '-';
    return c < 64 ? (low >> c & 1) != 0 : (uint8_t)((c | 0x20) - 'a') < 26;
}

/* How many of the characters are flags when the time touches them ("....316.19"): five when the
 * fifth cannot be a digit of the time. */
static size_t touching_flags(struct rest rest)
{
    size_t left = (size_t)(rest.end - rest.at);
    if (left <= LEAST_FLAGS)
        return 0;
    return is_digit(rest.at[LEAST_FLAGS]) ? LEAST_FLAGS : LEAST_FLAGS + 1;
}

/* Flags, if there are any, and the time with its ':'. */
static bool take_flags_and_time(struct rest *rest, struct tv_ft_line *line)
{
    skip_spaces(rest);
    struct rest start = *rest;
    line->flags = (struct tv_bytes){start.at, 0};
    if (rest->at < rest->end && is_digit(*rest->at) && take_time(rest, line) && take(rest, ':'))
        return true;
    *rest = start;
    while (rest->at < rest->end && is_flag(*rest->at))
        rest->at++;
    size_t length = (size_t)(rest->at - start.at);
    if (rest->at < rest->end && !is_space(*rest->at))
        length = touching_flags(start);
    if (length < LEAST_FLAGS || length > MOST_FLAGS)
        return false;
    line->flags.length = length;
    rest->at = start.at + length;
    skip_spaces(rest);
    return take_time(rest, line) && take(rest, ':');
}

/* The name of the event: up to the first ':' that a space follows, or up to a space. */
TV_INLINE void take_name(struct rest *rest)
{
    const uint8_t *at = rest->at, *end = rest->end;
    size_t left = (size_t)(end - at);
    const uint8_t *colon = left > 0 ? memchr(at, ':', left) : NULL;
    /* Most names end at the first ':'. */
    if (colon && colon + 1 < end && is_space(colon[1]) && !memchr(at, ' ', (size_t)(colon - at)) &&
        !memchr(at, '\t', (size_t)(colon - at))) {
        rest->at = colon;
        return;
    }
    for (;; at++) {
        while (at < end && *at != ':' && !is_space(*at))
            at++;
        if (at == end || *at != ':' || at + 1 == end || is_space(at[1]))
            break;
    }
    rest->at = at;
}

static bool starts_with(struct rest rest, const char *text)
{
    size_t length = strlen(text);
    return (size_t)(rest.end - rest.at) >= length && memcmp(rest.at, text, length) == 0;
}

/* "<stack trace>" and "<user stack trace>" stand instead of an event whose stack follows. */
static bool parse_stack(struct rest rest, struct tv_ft_line *line)
{
    bool user = starts_with(rest, "<user stack");
    if (!user && !starts_with(rest, "<stack trace"))
        return false;
    line->event = user ? TV_BYTES("user_stack") : TV_BYTES("kernel_stack");
    line->details = trimmed(rest.at, rest.end);
    return true;
}

/* "2870:120:S ==> [003]  2849: 98:R bash", and "+" instead of "==>", are what latency tracers write
 * for a switch and a wake-up. */
static bool parse_bare_switch(struct rest rest, struct tv_ft_line *line)
{
    line->details = trimmed(rest.at, rest.end);
    while (rest.at < rest.end && (is_digit(*rest.at) || *rest.at == ':' || is_space(*rest.at)))
        rest.at++;
    while (rest.at < rest.end && !is_space(*rest.at))
        rest.at++;
    skip_spaces(&rest);
    bool turns = starts_with(rest, "==> [");
    if (!turns && !starts_with(rest, "+ ["))
        return false;
    line->event = turns ? TV_BYTES("sched_switch") : TV_BYTES("sched_wakeup");
    return true;
}

/* What the kernel itself writes of system calls: "sys_openat(dfd: 5, filename: 7f)" and, when it is
 * done, "sys_openat -> 0x3". */
static bool parse_syscall(struct rest rest, struct tv_ft_line *line)
{
    const uint8_t *from = rest.at;
    if (!starts_with(rest, "sys_"))
        return false;
    while (rest.at < rest.end &&
           (is_digit(*rest.at) || *rest.at == '_' || (uint8_t)((*rest.at | 0x20) - 'a') < 26))
        rest.at++;
    line->event = (struct tv_bytes){from, (size_t)(rest.at - from)};
    line->details = trimmed(rest.at, rest.end);
    return starts_with(rest, " -> ") ||
           (starts_with(rest, "(") && line->details.data[line->details.length - 1] == ')');
}

/* "function [module] <-parent [module]" */
static bool parse_call(const uint8_t *from, struct rest rest, struct tv_ft_line *line)
{
    skip_spaces(&rest);
    if (rest.at < rest.end && *rest.at == '[') {
        while (rest.at < rest.end && *rest.at != ']')
            rest.at++;
        if (!take(&rest, ']'))
            return false;
        skip_spaces(&rest);
    }
    line->event = (struct tv_bytes){from, 0};
    line->details = trimmed(from, rest.end);
    return rest.end - rest.at > 2 && rest.at[0] == '<' && rest.at[1] == '-';
}

/* "event: details", "event:", a system call or "function <-parent". */
static bool parse_event(struct rest rest, struct tv_ft_line *line)
{
    skip_spaces(&rest);
    const uint8_t *from = rest.at;
    if (rest.at < rest.end && is_digit(*rest.at) && parse_bare_switch(rest, line))
        return true;
    if (parse_syscall(rest, line))
        return true;
    take_name(&rest);
    if (rest.at == from)
        return false;
    if (rest.at < rest.end && *rest.at == ':') {
        line->event = (struct tv_bytes){from, (size_t)(rest.at - from)};
        line->details = trimmed(rest.at + 1, rest.end);
        return true;
    }
    return *from == '<' ? parse_stack((struct rest){from, rest.end}, line)
                        : parse_call(from, rest, line);
}

/* "[cpu]" at `open`, and all behind it. */
static bool parse_from_bracket(const uint8_t *open, const uint8_t *end, struct tv_ft_line *line)
{
    struct rest rest = {open + 1, end};
    uint64_t cpu;
    if (!take_number(&rest, MOST_CPUS, &cpu) || !take(&rest, ']'))
        return false;
    line->cpu = (uint32_t)cpu;
    return take_flags_and_time(&rest, line) && parse_event(rest, line);
}

/* "12us : ", "12us!: ", or "123.456: " as trace-cmd writes it. */
static bool take_latency_time(struct rest *rest, struct tv_ft_line *line)
{
    skip_spaces(rest);
    uint64_t number;
    struct rest start = *rest;
    if (take_number(rest, INT64_MAX / NS_PER_US, &number) && take(rest, 'u') && take(rest, 's')) {
        while (rest->at < rest->end && !is_space(*rest->at) && *rest->at != ':')
            rest->at++;
        skip_spaces(rest);
        line->clock = TV_FT_CLOCK_DELTA;
        line->time = (int64_t)number * NS_PER_US;
        return take(rest, ':');
    }
    *rest = start;
    return take_time(rest, line) && take(rest, ':');
}

/* "comm-tid   2d..1.  ...": `at` is the processor's first digit. */
static bool parse_latency_at(const uint8_t *from, const uint8_t *at, const uint8_t *end,
                             struct tv_ft_line *line)
{
    struct rest rest = {at, end};
    uint64_t cpu;
    if (!take_number(&rest, MOST_CPUS, &cpu))
        return false;
    const uint8_t *flags = rest.at;
    while (rest.at < rest.end && is_flag(*rest.at))
        rest.at++;
    size_t length = (size_t)(rest.at - flags);
    if (length < LEAST_FLAGS || length > MOST_FLAGS || rest.at == rest.end || !is_space(*rest.at))
        return false;
    line->cpu = (uint32_t)cpu;
    line->flags = (struct tv_bytes){flags, length};
    line->tgid = TV_FT_NO_ID;
    if (!take_latency_time(&rest, line) || !parse_event(rest, line) ||
        !parse_task(trimmed(from, at), line))
        return false;
    split_buffer(line, LATENCY_COMM_WIDTH);
    return true;
}

/* The processor is the first number behind "-tid " that has flags at its end. */
static bool parse_latency(struct tv_bytes text, struct tv_ft_line *line)
{
    const uint8_t *end = text.data + text.length;
    for (const uint8_t *at = text.data + 1; at < end; at++)
        if (is_digit(*at) && is_space(at[-1]) && parse_latency_at(text.data, at, end, line))
            return true;
    return false;
}

/* ---- The layout of nearly all lines ---- */

/* "[cpu] flags ", "123456.123456: " and an event of one letter need so many bytes. */
#define LEAST_USUAL (sizeof "[000] .... 0.000000: e: " - 1)

/* Seconds of more digits are the long way's. */
#define MOST_SECOND_DIGITS 9

#define MICRO_DIGITS 6

/* "[003] d..2. " */
TV_INLINE bool take_usual_cpu(struct rest *rest, struct tv_ft_line *line)
{
    const uint8_t *at = rest->at;
    unsigned a = at[1] - (unsigned)'0', b = at[2] - (unsigned)'0', c = at[3] - (unsigned)'0';
    if (a > 9 || b > 9 || c > 9 || at[4] != ']' || at[5] != ' ')
        return false;
    size_t length = at[6 + LEAST_FLAGS] == ' ' ? LEAST_FLAGS : LEAST_FLAGS + 1;
    if (at[6 + length] != ' ' || !is_flag(at[6]) || !is_flag(at[7]) || !is_flag(at[8]) ||
        !is_flag(at[9]) || !is_flag(at[5 + length]))
        return false;
    line->cpu = a * 100 + b * 10 + c;
    line->flags = (struct tv_bytes){at + 6, length};
    rest->at = at + 6 + length;
    return true;
}

/* "73214.000047: " */
TV_INLINE bool take_usual_time(struct rest *rest, struct tv_ft_line *line)
{
    const uint8_t *at = rest->at;
    while (at < rest->end && *at == ' ')
        at++;
    const uint8_t *first = at;
    int64_t seconds = 0, micros = 0;
    for (; at < rest->end && is_digit(*at); at++) {
        if (at - first == MOST_SECOND_DIGITS)
            return false;
        seconds = seconds * 10 + (*at - '0');
    }
    if (at == first || rest->end - at < MICRO_DIGITS + 4 || *at != '.' ||
        at[MICRO_DIGITS + 1] != ':' || at[MICRO_DIGITS + 2] != ' ')
        return false;
    for (size_t i = 1; i <= MICRO_DIGITS; i++) {
        if (!is_digit(at[i]))
            return false;
        micros = micros * 10 + (at[i] - '0');
    }
    line->time = seconds * NS_PER_S + micros * NS_PER_US;
    rest->at = at + MICRO_DIGITS + 3;
    return true;
}

/* "sched_switch: details", whose name begins at once and with a letter. */
TV_INLINE bool take_usual_event(struct rest rest, struct tv_ft_line *line)
{
    static const bool stops[256] = {[':'] = true, [' '] = true, ['\t'] = true, ['('] = true};
    const uint8_t *at = rest.at;
    if ((uint8_t)((*at | 0x20) - 'a') >= 26)
        return false;
    while (at < rest.end && !stops[*at])
        at++;
    if (rest.end - at < 2 || *at != ':' || !is_space(at[1]))
        return false;
    line->event = (struct tv_bytes){rest.at, (size_t)(at - rest.at)};
    line->details = trimmed(at + 2, rest.end);
    return true;
}

/* Where the owner is remembered: by its last 16 bytes, which have the ids. */
TV_INLINE struct tv_ft_owner *owner_place(struct tv_ft_owners *owners, const uint8_t *end)
{
    uint64_t words[2];
    memcpy(words, end - sizeof words, sizeof words);
    uint64_t hash = (words[0] ^ words[1] >> 7) * UINT64_C(0x9e3779b97f4a7c15);
    return &owners->rows[(hash ^ hash >> 32) >> 12 & (TV_FT_OWNERS - 1)];
}

/* As parse_owner, but looks first whether the same bytes were met lately. */
TV_INLINE bool find_owner(struct tv_ft_owners *owners, struct tv_bytes text,
                          struct tv_ft_line *line)
{
    const uint8_t *from = text.data;
    size_t length = text.length;
    if (!owners || length < 16 || length > TV_FT_OWNER_BYTES)
        return parse_owner(from, from + length, line);
    struct tv_ft_owner *owner = owner_place(owners, from + length);
    if (TV_LIKELY(owner->length == length && memcmp(owner->text, from, length) == 0)) {
        line->task = (struct tv_bytes){from + owner->task, owner->task_length};
        line->buffer.length = 0;
        line->tid = owner->tid;
        line->tgid = owner->tgid;
        return true;
    }
    if (!parse_owner(from, from + length, line))
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

/* As parse_from_bracket and parse_owner; false: the line has to go the long way. */
TV_INLINE bool parse_usual(struct tv_ft_owners *owners, struct tv_bytes text, const uint8_t *open,
                           struct tv_ft_line *line)
{
    struct rest rest = {open, text.data + text.length};
    if ((size_t)(rest.end - open) < LEAST_USUAL)
        return false;
    line->clock = TV_FT_CLOCK_SECONDS;
    return take_usual_cpu(&rest, line) && take_usual_time(&rest, line) &&
           take_usual_event(rest, line) &&
           find_owner(owners, (struct tv_bytes){text.data, (size_t)(open - text.data)}, line);
}

bool tv_ft_line_parse_next(struct tv_ft_owners *owners, struct tv_bytes text,
                           struct tv_ft_line *line)
{
    if (text.length == 0 || text.data[0] == '#')
        return false;
    const uint8_t *end = text.data + text.length;
    const uint8_t *open = memchr(text.data, '[', text.length);
    if (TV_LIKELY(open != NULL) && parse_usual(owners, text, open, line))
        return true;
    for (; open; open = memchr(open + 1, '[', (size_t)(end - open - 1)))
        if (parse_from_bracket(open, end, line) && parse_owner(text.data, open, line))
            return true;
    return parse_latency(text, line);
}

bool tv_ft_line_parse(struct tv_bytes text, struct tv_ft_line *line)
{
    return tv_ft_line_parse_next(NULL, text, line);
}
