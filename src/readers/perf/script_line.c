/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_line.c - the lines of "perf script" (script_line.h shows them), and what all formats of
 * perf share: kinds of modules, units of events.
 *
 * No separator is reliable. Names of threads contain blanks, digits and colons; the text of a
 * tracepoint may contain anything. So a head is taken apart from where it is strictest, outwards:
 *
 *     my prog:x 12  4811/4856 [003]  5190.212711:   250000 cpu-clock:u:  ...
 *               comm   <-- ids <-- cpu <-- time --> period --> event --> tail
 *
 * The time is a word of digits, with 6 or 9 after the point and a colon behind. Words to its left
 * are read from the right, and the rest is the name of the thread.
 */
#include "readers/perf/script_line.h"

#include <assert.h>
#include <string.h>

/* The upper half of the address space belongs to the kernel. */
#define KERNEL_START UINT64_C(0xffff800000000000)

#define ADDRESS_DIGITS 16

/* Digits after the point of a time: microseconds, or nanoseconds with --ns. */
#define MICRO_DIGITS 6
#define NANO_DIGITS 9

static bool script_is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static bool script_is_number(struct tv_bytes word)
{
    for (size_t i = 0; i < word.length; i++)
        if (!script_is_digit(word.data[i]))
            return false;
    return word.length > 0;
}

static struct tv_bytes script_part(struct tv_bytes text, size_t from, size_t to)
{
    assert(from <= to && to <= text.length);
    return (struct tv_bytes){text.data + from, to - from};
}

/* Take the last word of the text, without the blanks around it. */
static struct tv_bytes script_take_last(struct tv_bytes *text)
{
    size_t end = text->length;
    while (end > 0 && tv_is_blank(text->data[end - 1]))
        end--;
    size_t start = end;
    while (start > 0 && !tv_is_blank(text->data[start - 1]))
        start--;
    struct tv_bytes word = script_part(*text, start, end);
    while (start > 0 && tv_is_blank(text->data[start - 1]))
        start--;
    text->length = start;
    return word;
}

/* ---- Heads ---- */

/* Parse "4811", or "-1" of a thread that is gone. */
static bool script_parse_id(struct tv_bytes word, uint64_t *id)
{
    int64_t number;
    if (!tv_parse_i64(word, &number) || number < -1)
        return false;
    *id = number < 0 ? UINT32_MAX : (uint64_t)number;
    return true;
}

/* Parse "4811" or "4811/4856". */
static bool script_parse_ids(struct tv_bytes word, struct tv_script_head *head)
{
    const uint8_t *slash = memchr(word.data, '/', word.length);
    head->has_pid = slash != NULL;
    head->pid = 0;
    if (!slash)
        return script_parse_id(word, &head->tid);
    size_t at = (size_t)(slash - word.data);
    return script_parse_id(script_part(word, 0, at), &head->pid) &&
           script_parse_id(script_part(word, at + 1, word.length), &head->tid);
}

/* Parse "[003]". */
static bool script_parse_cpu(struct tv_bytes word, uint32_t *cpu)
{
    uint64_t number;
    if (word.length < 3 || word.data[0] != '[' || word.data[word.length - 1] != ']' ||
        !tv_parse_u64(script_part(word, 1, word.length - 1), &number) || number >= TV_NONE)
        return false;
    *cpu = (uint32_t)number;
    return true;
}

/* Return true for the letters of -F +misc. */
static bool script_is_misc(struct tv_bytes word)
{
    for (size_t i = 0; i < word.length; i++)
        if (!memchr("KUHGgMESp()", word.data[i], sizeof "KUHGgMESp()" - 1))
            return false;
    return word.length > 0;
}

/* Parse what is before the time: "comm pid/tid [cpu] misc".  The name may be missing. */
static bool script_parse_front(struct tv_bytes front, struct tv_script_head *head)
{
    struct tv_bytes word = script_take_last(&front);
    head->cpu = TV_NONE;
    if (script_is_misc(word))
        word = script_take_last(&front);
    if (script_parse_cpu(word, &head->cpu))
        word = script_take_last(&front);
    if (word.length == 0 || !script_parse_ids(word, head))
        return false;
    head->comm = tv_bytes_trim(front);
    return true;
}

/* Return the end of the event's name in the text: the colon before a blank or the end. */
static bool script_find_event(struct tv_bytes text, size_t *colon)
{
    const uint8_t *at = text.data, *end = text.data + text.length;
    while (at < end && (at = memchr(at, ':', (size_t)(end - at))) != NULL) {
        if (at + 1 == end || tv_is_blank(at[1])) {
            *colon = (size_t)(at - text.data);
            return *colon > 0;
        }
        at++;
    }
    return false;
}

/* Parse what is after the time: "period event: tail".  Without an event the tail is all. */
static void script_parse_back(struct tv_bytes back, struct tv_script_head *head)
{
    struct tv_bytes rest = tv_bytes_trim(back), after = rest;
    struct tv_bytes first = tv_bytes_take_word(&after);
    uint64_t period;
    size_t colon;
    after = tv_bytes_trim(after);
    head->has_period = false;
    head->period = 1;
    head->event = (struct tv_bytes){rest.data, 0};
    if (after.length > 0 && script_is_number(first) && tv_parse_u64(first, &period) &&
        script_find_event(after, &colon)) {
        head->has_period = true;
        head->period = period > INT64_MAX ? INT64_MAX : (int64_t)period;
        rest = after;
    }
    if (script_find_event(rest, &colon)) {
        head->event = script_part(rest, 0, colon);
        rest = script_part(rest, colon + 1, rest.length);
    }
    head->tail = tv_bytes_trim(rest);
}

/* Return true when the bytes [start, colon) are the digits of a time; *head gets it. */
static bool script_parse_clock(struct tv_bytes line, size_t start, size_t colon, tv_ns *time)
{
    struct tv_bytes word = script_part(line, start, colon);
    const uint8_t *point = memchr(word.data, '.', word.length);
    if (!point || point == word.data)
        return false;
    size_t digits = word.length - (size_t)(point - word.data) - 1;
    if ((digits != MICRO_DIGITS && digits != NANO_DIGITS) ||
        !script_is_number(script_part(word, 0, (size_t)(point - word.data))))
        return false;
    return tv_parse_time(word, 1000000000, time);
}

/* The first time token whose front ends in a thread divides the line: the text of a tracepoint may
 * hold another one. */
static bool script_parse_timed(struct tv_bytes line, struct tv_script_head *head)
{
    const uint8_t *at = line.data, *end = line.data + line.length;
    while (at < end && (at = memchr(at, ':', (size_t)(end - at))) != NULL) {
        size_t colon = (size_t)(at++ - line.data), start = colon;
        if (at < end && !tv_is_blank(*at))
            continue;
        while (start > 0 && (script_is_digit(line.data[start - 1]) || line.data[start - 1] == '.'))
            start--;
        if (start == 0 || start == colon || !tv_is_blank(line.data[start - 1]))
            continue;
        if (script_parse_clock(line, start, colon, &head->time) &&
            script_parse_front(script_part(line, 0, start), head)) {
            script_parse_back(script_part(line, colon + 1, line.length), head);
            /* Without -F comm the number alone is a thread, above the frames of a stack. */
            return head->comm.length > 0 || head->tail.length == 0;
        }
    }
    return false;
}

/* Parse "comm pid/tid [cpu] period event:".  Of two numbers the second is the period. */
static bool script_parse_untimed(struct tv_bytes line, struct tv_script_head *head)
{
    size_t colon;
    if (!script_find_event(line, &colon))
        return false;
    struct tv_bytes front = script_part(line, 0, colon);
    struct tv_bytes event = script_take_last(&front), before = front;
    struct tv_bytes number = script_take_last(&before);
    struct tv_script_head other;
    uint64_t period;
    *head = (struct tv_script_head){.period = 1};
    if (script_is_number(number) && tv_parse_u64(number, &period) &&
        script_parse_front(before, &other) && other.comm.length > 0) {
        *head = other;
        head->has_period = true;
        head->period = period > INT64_MAX ? INT64_MAX : (int64_t)period;
    } else if (!script_parse_front(front, head) || head->comm.length == 0) {
        return false;
    }
    head->time = 0;
    head->event = event;
    head->tail = tv_bytes_trim(script_part(line, colon + 1, line.length));
    if (!head->has_period)
        head->period = 1;
    return event.length > 0;
}

/* Parse "period event:" or "event:" alone. */
static bool script_parse_event_alone(struct tv_bytes line, struct tv_script_head *head)
{
    *head = (struct tv_script_head){.cpu = TV_NONE};
    script_parse_back(line, head);
    return head->event.length > 0 && head->tail.length == 0 &&
           !memchr(head->event.data, ' ', head->event.length);
}

bool tv_script_parse_head(struct tv_bytes line, enum tv_script_shape shape,
                          struct tv_script_head *head)
{
    *head = (struct tv_script_head){.cpu = TV_NONE, .period = 1};
    switch (shape) {
    case TV_SCRIPT_TIMED:
        return script_parse_timed(line, head);
    case TV_SCRIPT_THREAD:
        return script_parse_untimed(line, head);
    case TV_SCRIPT_EVENT:
        return script_parse_event_alone(line, head);
    case TV_SCRIPT_FRAMES:
        break;
    }
    return false;
}

/* ---- Frames ---- */

/* Return true for "vmlinux" and "vmlinux-5.4.14". */
static bool perf_is_kernel_image(struct tv_bytes name)
{
    return tv_bytes_starts_with(name, TV_BYTES("vmlinux"));
}

/* Return true for "mlx5_core.ko", also packed ("mlx5_core.ko.xz"). */
static bool perf_is_kernel_module(struct tv_bytes name)
{
    for (size_t i = 0; i + 3 <= name.length; i++)
        if (memcmp(name.data + i, ".ko", 3) == 0 &&
            (i + 3 == name.length || name.data[i + 3] == '.'))
            return true;
    return false;
}

/* Return true for code that was generated at run time, by the names that perf, simpleperf and
 * `perf inject --jit` give to its memory. */
static bool perf_is_generated(struct tv_bytes module)
{
    return tv_bytes_starts_with(module, TV_BYTES("//anon")) ||
           tv_bytes_starts_with(module, TV_BYTES("[JIT]")) ||
           tv_bytes_starts_with(module, TV_BYTES("[anon:dalvik-jit")) ||
           (tv_bytes_starts_with(module, TV_BYTES("/tmp/perf-")) &&
            tv_bytes_ends_with(module, TV_BYTES(".map"))) ||
           tv_bytes_starts_with(tv_bytes_base_name(module), TV_BYTES("jitted-"));
}

/* Names in brackets are modules of the kernel, but for these. */
static bool perf_is_user_bracket(struct tv_bytes module)
{
    static const char *const user[] = {"[unknown]", "[vdso]",    "[vsyscall]", "[heap]",
                                       "[stack]",   "[uprobes]", "[anon:",     "[JIT]"};
    for (size_t i = 0; i < TV_COUNT(user); i++)
        if (tv_bytes_starts_with(module, tv_bytes_of(user[i])))
            return true;
    return false;
}

enum tv_frame_kind tv_perf_frame_kind(struct tv_bytes module, uint64_t address)
{
    struct tv_bytes base = tv_bytes_base_name(module);
    if (perf_is_generated(module))
        return TV_FRAME_JIT;
    if (address >= KERNEL_START || perf_is_kernel_image(base) || perf_is_kernel_module(base))
        return TV_FRAME_KERNEL;
    if (module.length > 1 && module.data[0] == '[' && !perf_is_user_bracket(module))
        return TV_FRAME_KERNEL;
    return TV_FRAME_NATIVE;
}

/* Take the parenthesised group at the end of the text: " (dso)". */
static bool script_take_group(struct tv_bytes *text, struct tv_bytes *group)
{
    size_t open = text->length, depth = 0;
    if (open == 0 || text->data[open - 1] != ')')
        return false;
    while (open > 0) {
        uint8_t c = text->data[--open];
        depth += c == ')';
        if (c == '(' && --depth == 0)
            break;
    }
    if (depth > 0 || (open > 0 && !tv_is_blank(text->data[open - 1])))
        return false;
    *group = script_part(*text, open + 1, text->length - 1);
    *text = tv_bytes_trim(script_part(*text, 0, open));
    return true;
}

/* Return the symbol without "+0x1f" at its end. */
static struct tv_bytes script_without_offset(struct tv_bytes symbol)
{
    size_t at = symbol.length;
    while (at > 0 && tv_hex_digit(symbol.data[at - 1]) >= 0)
        at--;
    if (at < symbol.length && at >= 3 && memcmp(symbol.data + at - 3, "+0x", 3) == 0)
        symbol.length = at - 3;
    return symbol;
}

/* Parse up to 16 hexadecimal digits without 0x. */
static bool script_parse_address(struct tv_bytes word, uint64_t *address)
{
    *address = 0;
    for (size_t i = 0; i < word.length; i++) {
        int digit = tv_hex_digit(word.data[i]);
        if (digit < 0 || word.length > ADDRESS_DIGITS)
            return false;
        *address = *address << 4 | (uint64_t)digit;
    }
    return word.length > 0;
}

/* "40113a work+0x1a (/home/me/mt)", or "40113a work (inlined)", where the name may have brackets
 * and blanks itself: "operator()(int) const". */
bool tv_script_parse_frame(struct tv_bytes line, struct tv_script_frame *frame)
{
    struct tv_bytes rest = line, word = tv_bytes_take_word(&rest);
    bool inlined;
    *frame = (struct tv_script_frame){.module = {word.data, 0}};
    if (!script_parse_address(word, &frame->address))
        return false;
    rest = tv_bytes_trim(rest);
    if (rest.length == 0)
        return false;
    inlined = tv_bytes_ends_with(rest, TV_BYTES(" (inlined)"));
    if (inlined)
        rest.length -= sizeof " (inlined)" - 1;
    else
        script_take_group(&rest, &frame->module);
    frame->name = script_without_offset(rest);
    if (frame->name.length == 0)
        frame->name = TV_BYTES("[unknown]");
    frame->kind = inlined ? TV_FRAME_INLINED : tv_perf_frame_kind(frame->module, frame->address);
    if (tv_bytes_equal(frame->module, TV_BYTES("[unknown]")))
        frame->module.length = 0;
    return true;
}

/* Return true for "sched:sched_switch", where the text after the name is the kernel's; the
 * modifiers of "cycles:HG" are letters. */
static bool script_is_tracepoint(struct tv_bytes event)
{
    const uint8_t *colon = memchr(event.data, ':', event.length);
    if (!colon)
        return false;
    for (const uint8_t *at = colon + 1; at < event.data + event.length; at++)
        if (!memchr("ukhpPGHSDIWeb:", *at, sizeof "ukhpPGHSDIWeb:" - 1))
            return true;
    return false;
}

bool tv_script_parse_tail(const struct tv_script_head *head, struct tv_script_frame *frame)
{
    struct tv_bytes rest = head->tail;
    if (head->tail.length == 0 || script_is_tracepoint(head->event) ||
        !tv_script_parse_frame(head->tail, frame))
        return false;
    /* With -F addr the address of the data is before that of the code. */
    struct tv_script_frame second;
    tv_bytes_take_word(&rest);
    struct tv_bytes next = tv_bytes_trim(rest), word = tv_bytes_take_word(&rest);
    if (word.length >= 4 && tv_script_parse_frame(next, &second))
        *frame = second;
    return true;
}

bool tv_script_parse_place(struct tv_bytes line, struct tv_bytes *file, int32_t *number)
{
    struct tv_bytes text = tv_bytes_trim(line);
    size_t colon = text.length;
    uint64_t value;
    while (colon > 0 && text.data[colon - 1] != ':')
        colon--;
    if (colon < 2 || !tv_parse_u64(script_part(text, colon, text.length), &value) ||
        value > INT32_MAX)
        return false;
    *file = script_part(text, 0, colon - 1);
    *number = (int32_t)value;
    return true;
}

/* ---- Records ---- */

bool tv_script_parse_comm(struct tv_bytes record, struct tv_script_head *head)
{
    struct tv_bytes text = record;
    const uint8_t *colon = memchr(text.data, ':', text.length);
    if (!tv_bytes_starts_with(record, TV_BYTES("PERF_RECORD_COMM")) || !colon)
        return false;
    text = tv_bytes_trim(script_part(text, (size_t)(colon - text.data) + 1, text.length));
    size_t last = text.length;
    while (last > 0 && text.data[last - 1] != ':')
        last--;
    if (last < 2 || !script_parse_ids(script_part(text, last, text.length), head))
        return false;
    head->comm = script_part(text, 0, last - 1);
    return true;
}

/* ---- Events ---- */

/* Return true when the event has that name, perhaps with modifiers or settings after it. */
static bool perf_event_is(struct tv_bytes event, struct tv_bytes name)
{
    return tv_bytes_starts_with(event, name) &&
           (event.length == name.length || event.data[name.length] == ':' ||
            event.data[name.length] == '/');
}

struct tv_bytes tv_perf_unit(struct tv_bytes event)
{
    if (perf_event_is(event, TV_BYTES("cpu-clock")) || perf_event_is(event, TV_BYTES("task-clock")))
        return TV_BYTES("nanoseconds");
    return TV_BYTES("count");
}
