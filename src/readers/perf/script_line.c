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

/* Remove the blanks at the end.  Those at the beginning cost a scan of the line for each place that
 * may divide it, so they stay until one does. */
static struct tv_bytes script_trim_end(struct tv_bytes text)
{
    while (text.length > 0 && tv_is_blank(text.data[text.length - 1]))
        text.length--;
    return text;
}

/* Take the last word of the text, without the blanks around it. */
static struct tv_bytes script_take_last(struct tv_bytes *text)
{
    size_t end = script_trim_end(*text).length, start = end;
    while (start > 0 && !tv_is_blank(text->data[start - 1]))
        start--;
    struct tv_bytes word = script_part(*text, start, end);
    *text = script_trim_end(script_part(*text, 0, start));
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
    size_t at = slash ? (size_t)(slash - word.data) : 0;
    uint64_t pid = 0, tid;
    if (slash && !script_parse_id(script_part(word, 0, at++), &pid))
        return false;
    if (!script_parse_id(script_part(word, at, word.length), &tid))
        return false;
    head->has_tid = true;
    head->has_pid = slash != NULL;
    head->pid = pid;
    head->tid = tid;
    return true;
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

/* Take the fields before a time or an event that are no names: "pid/tid [cpu] misc". What is left
 * is the name of a thread.  Return the fields. */
static unsigned script_take_front(struct tv_bytes *front, struct tv_script_head *head)
{
    struct tv_bytes rest = *front, word = script_take_last(&rest), before = rest;
    unsigned fields = 0;
    head->cpu = TV_NONE;
    head->has_tid = head->has_pid = false;
    if (script_is_misc(word)) {
        /* A thread may be called "K": letters are misc only next to a number. */
        struct tv_bytes next = script_take_last(&before);
        if (!script_parse_cpu(next, &head->cpu) && !script_parse_ids(next, head))
            return 0;
        word = next;
        *front = rest;
        rest = before;
    }
    if (script_parse_cpu(word, &head->cpu)) {
        fields |= TV_SCRIPT_CPU;
        *front = rest;
        word = script_take_last(&rest);
    }
    if (word.length > 0 && script_parse_ids(word, head)) {
        fields |= head->has_pid ? TV_SCRIPT_TID | TV_SCRIPT_PID : TV_SCRIPT_TID;
        *front = rest;
    }
    return fields;
}

/* Parse what is before the time or the event: "comm pid/tid [cpu] misc". */
static bool script_parse_front(struct tv_bytes front, unsigned fields, struct tv_script_head *head)
{
    struct tv_bytes whole = front;
    unsigned found = script_take_front(&front, head);
    if ((fields & TV_SCRIPT_TID) == 0 && head->has_tid) {
        /* The digits are the end of a thread's name. */
        head->has_tid = head->has_pid = false;
        head->pid = head->tid = 0;
        front = whole;
    }
    if ((fields & TV_SCRIPT_TID) != 0 && (found & TV_SCRIPT_TID) == 0)
        return false;
    front = script_trim_end(front);
    if ((fields & TV_SCRIPT_COMM) == 0 && front.length > 0)
        return false;
    head->comm = tv_bytes_trim(front);
    return (fields & TV_SCRIPT_COMM) == 0 || front.length > 0 || head->has_tid;
}

/* Find the first colon at or after *colon that a blank or the end follows. */
static bool script_find_colon(struct tv_bytes text, size_t *colon)
{
    const uint8_t *at = text.data + *colon, *end = text.data + text.length;
    while (at < end && (at = memchr(at, ':', (size_t)(end - at))) != NULL) {
        *colon = (size_t)(at++ - text.data);
        if (at == end || tv_is_blank(*at))
            return true;
    }
    return false;
}

/* Find the end of the event's name that the text begins with. */
static bool script_find_event(struct tv_bytes text, size_t *colon)
{
    *colon = 0;
    return script_find_colon(text, colon) && *colon > 0;
}

static void script_set_period(struct tv_script_head *head, uint64_t period)
{
    head->has_period = true;
    head->period = period > INT64_MAX ? INT64_MAX : (int64_t)period;
}

/* Parse what is after the time: "period event: tail".  Without an event, a period is only where
 * the fields have one. */
static void script_parse_back(struct tv_bytes back, unsigned fields, struct tv_script_head *head)
{
    struct tv_bytes rest = tv_bytes_trim(back), after = rest;
    struct tv_bytes first = tv_bytes_take_word(&after);
    uint64_t period;
    size_t colon;
    after = tv_bytes_trim(after);
    head->has_period = false;
    head->period = 1;
    head->event = (struct tv_bytes){rest.data, 0};
    bool has_event = (fields & TV_SCRIPT_EVENT) != 0;
    if (script_is_number(first) && tv_parse_u64(first, &period) &&
        (has_event ? after.length > 0 && script_find_event(after, &colon)
                   : (fields & TV_SCRIPT_PERIOD) != 0)) {
        script_set_period(head, period);
        rest = after;
    }
    if (has_event && script_find_event(rest, &colon)) {
        head->event = script_part(rest, 0, colon);
        rest = script_part(rest, colon + 1, rest.length);
    }
    head->tail = tv_bytes_trim(rest);
}

/* Parse a time, the word [start, colon) of the line. */
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

/* Find the first time whose colon is at or after *colon: a word of its own. */
static bool script_find_time(struct tv_bytes line, size_t *start, size_t *colon, tv_ns *time)
{
    for (; script_find_colon(line, colon); ++*colon) {
        *start = *colon;
        while (*start > 0 &&
               (script_is_digit(line.data[*start - 1]) || line.data[*start - 1] == '.'))
            --*start;
        if (*start < *colon && (*start == 0 || tv_is_blank(line.data[*start - 1])) &&
            script_parse_clock(line, *start, *colon, time))
            return true;
    }
    return false;
}

/* The first time whose front has the fields divides the line: the text of a tracepoint may hold
 * another one. */
static bool script_parse_timed(struct tv_bytes line, unsigned fields, struct tv_script_head *head)
{
    size_t start, colon = 0;
    for (; script_find_time(line, &start, &colon, &head->time); colon++)
        if (script_parse_front(script_part(line, 0, start), fields, head)) {
            script_parse_back(script_part(line, colon + 1, line.length), fields, head);
            return true;
        }
    return false;
}

/* Take the period at the end of the text. */
static bool script_take_period(struct tv_bytes *text, struct tv_script_head *head)
{
    struct tv_bytes word = script_take_last(text);
    uint64_t period;
    if (!script_is_number(word) || !tv_parse_u64(word, &period))
        return false;
    script_set_period(head, period);
    return true;
}

/* Parse "comm pid/tid [cpu] period". */
static bool script_parse_before(struct tv_bytes text, unsigned fields, struct tv_script_head *head)
{
    head->has_period = false;
    head->period = 1;
    if ((fields & TV_SCRIPT_PERIOD) != 0 && !script_take_period(&text, head))
        return false;
    return script_parse_front(text, fields, head);
}

/* Find the first event whose colon is at or after *colon; `before` is what is before it. */
static bool script_find_named_event(struct tv_bytes line, size_t *colon, struct tv_bytes *event,
                                    struct tv_bytes *before)
{
    for (; script_find_colon(line, colon); ++*colon) {
        *before = script_part(line, 0, *colon);
        *event = script_take_last(before);
        if (event->length > 0)
            return true;
    }
    return false;
}

/* Parse "comm pid/tid [cpu] period event: tail". A name of a thread may hold ": ". */
static bool script_parse_untimed(struct tv_bytes line, unsigned fields, struct tv_script_head *head)
{
    struct tv_bytes before;
    size_t colon = 0;
    for (; script_find_named_event(line, &colon, &head->event, &before); colon++)
        if (script_parse_before(before, fields, head)) {
            head->tail = tv_bytes_trim(script_part(line, colon + 1, line.length));
            return true;
        }
    return false;
}

/* Find the first address as perf prints it: a blank, and 16 columns with the digits on the right.
 */
static bool script_find_address(struct tv_bytes line, size_t *start)
{
    for (size_t end = ADDRESS_DIGITS + 1; end <= line.length; end++) {
        size_t at = end, from = end - ADDRESS_DIGITS - 1;
        if (end < line.length && !tv_is_blank(line.data[end]))
            continue;
        while (at > from && tv_hex_digit(line.data[at - 1]) >= 0)
            at--;
        *start = at;
        while (at > from && line.data[at - 1] == ' ')
            at--;
        if (*start<end && * start> from && at == from)
            return true;
    }
    return false;
}

/* Columns that an address ends in or after, and digits of one whose blanks some tools removed, or
 * of which a tab is left. */
#define ADDRESS_COLUMNS 16
#define MIN_BARE_DIGITS 8
#define MIN_TAB_DIGITS 3

bool tv_script_is_frame_line(struct tv_bytes line)
{
    struct tv_script_frame frame;
    struct tv_bytes rest = line, word = tv_bytes_take_word(&rest);
    size_t columns = (size_t)(word.data - line.data) + word.length;
    bool has_tab = line.length > 0 && line.data[0] == '\t' && tv_bytes_trim(rest).length > 0;
    return word.length > 0 &&
           (columns >= ADDRESS_COLUMNS ||
            word.length >= (size_t)(has_tab ? MIN_TAB_DIGITS : MIN_BARE_DIGITS)) &&
           tv_script_parse_frame(line, &frame);
}

/* Digits of an address that is after an event: words of prose may have as many letters. */
#define MIN_TAIL_DIGITS 5

bool tv_script_is_frame_tail(struct tv_bytes tail)
{
    struct tv_script_frame frame;
    struct tv_bytes rest = tail, word = tv_bytes_take_word(&rest);
    bool has_digit = false;
    for (size_t i = 0; i < word.length; i++)
        has_digit = has_digit || script_is_digit(word.data[i]);
    return has_digit && word.length >= MIN_TAIL_DIGITS && tv_script_parse_frame(tail, &frame);
}

/* Parse a head without a time and an event: "comm pid/tid [cpu] period", above the frames of a
 * chain, or before the one frame. */
static bool script_parse_bare(struct tv_bytes line, unsigned fields, struct tv_script_head *head)
{
    size_t start = line.length;
    if ((fields & TV_SCRIPT_CHAIN) == 0 && !script_find_address(line, &start))
        return false;
    head->event = (struct tv_bytes){line.data, 0};
    head->tail = script_part(line, start, line.length);
    if ((fields & TV_SCRIPT_CHAIN) == 0)
        return script_parse_before(script_part(line, 0, start), fields, head);
    /* A name alone could be anything, but it is not indented as frames and their places are. */
    if ((fields & TV_SCRIPT_HEAD_FIELDS) == TV_SCRIPT_COMM &&
        (tv_is_blank(line.data[0]) || tv_script_is_frame_line(line)))
        return false;
    return (fields & TV_SCRIPT_HEAD_FIELDS) != 0 && script_parse_before(line, fields, head) &&
           ((fields & TV_SCRIPT_CPU) == 0 || head->cpu != TV_NONE);
}

bool tv_script_parse_head(struct tv_bytes line, unsigned fields, struct tv_script_head *head)
{
    *head = (struct tv_script_head){.cpu = TV_NONE, .period = 1};
    if (line.length == 0)
        return false;
    if ((fields & TV_SCRIPT_TIME) != 0)
        return script_parse_timed(line, fields, head);
    if ((fields & TV_SCRIPT_EVENT) != 0)
        return script_parse_untimed(line, fields, head);
    return script_parse_bare(line, fields, head);
}

/* ---- Guessing the fields ---- */

/* Return the fields of "comm pid/tid [cpu] misc". */
static unsigned script_guess_front(struct tv_bytes front)
{
    struct tv_script_head head;
    unsigned fields = script_take_front(&front, &head);
    return script_trim_end(front).length > 0 ? fields | TV_SCRIPT_COMM : fields;
}

/* Return true for what is before the time in kernel text, "comm-9 (  7) [003] d..2": perf has only
 * the letters of misc after a processor. */
static bool script_is_ftrace_front(struct tv_bytes front)
{
    uint32_t cpu;
    struct tv_bytes flags = script_take_last(&front), word = script_take_last(&front);
    return !script_is_misc(flags) && script_parse_cpu(word, &cpu);
}

/* Columns of a period; the ids of threads have 5. */
#define PERIOD_COLUMNS 10

/* Return the fields of "comm pid/tid [cpu] period".  Of two numbers the second is the period; one
 * is by its width. */
static unsigned script_guess_before(struct tv_bytes text)
{
    struct tv_script_head head;
    struct tv_bytes rest;
    text = script_trim_end(text);
    rest = text;
    unsigned without = script_guess_front(text);
    if (!script_take_period(&rest, &head))
        return without;
    unsigned with = script_guess_front(rest);
    size_t columns = text.length - (rest.length > 0 ? rest.length + 1 : 0);
    bool is_period = (with & (TV_SCRIPT_TID | TV_SCRIPT_CPU)) != 0 || columns >= PERIOD_COLUMNS;
    return is_period ? with | TV_SCRIPT_PERIOD : without;
}

/* Return the fields of what is after a time. */
static unsigned script_guess_back(struct tv_bytes back, struct tv_script_head *head)
{
    unsigned fields = 0;
    script_parse_back(back, TV_SCRIPT_EVENT, head);
    if (head->event.length > 0 && !memchr(head->event.data, ' ', head->event.length))
        return head->has_period ? TV_SCRIPT_EVENT | TV_SCRIPT_PERIOD : TV_SCRIPT_EVENT;
    struct tv_script_frame frame;
    script_parse_back(back, TV_SCRIPT_PERIOD, head);
    if (head->has_period && (head->tail.length == 0 || tv_script_parse_frame(head->tail, &frame)))
        fields = TV_SCRIPT_PERIOD;
    script_parse_back(back, fields, head);
    return fields;
}

/* Prefer a time, or an event, after an id of a thread: others are in names and texts. */
unsigned tv_script_guess_fields(struct tv_bytes line, struct tv_script_head *head)
{
    struct tv_bytes event, before;
    unsigned fields = 0;
    size_t start, colon = 0;
    tv_ns time;
    *head = (struct tv_script_head){.cpu = TV_NONE, .period = 1};
    for (; (fields & TV_SCRIPT_TID) == 0 && script_find_time(line, &start, &colon, &time);
         colon++) {
        unsigned front = script_guess_front(script_part(line, 0, start));
        if (script_is_ftrace_front(script_part(line, 0, start)))
            continue;
        if (fields == 0 || (front & TV_SCRIPT_TID) != 0)
            fields = front | TV_SCRIPT_TIME |
                     script_guess_back(script_part(line, colon + 1, line.length), head);
    }
    if (fields != 0)
        return fields;
    for (colon = 0;
         (fields & TV_SCRIPT_TID) == 0 && script_find_named_event(line, &colon, &event, &before);
         colon++) {
        unsigned front = script_guess_before(before);
        if (fields != 0 && (front & TV_SCRIPT_TID) == 0)
            continue;
        fields = front | TV_SCRIPT_EVENT;
        head->event = event;
        head->tail = tv_bytes_trim(script_part(line, colon + 1, line.length));
    }
    return fields;
}

unsigned tv_script_guess_bare_fields(struct tv_bytes line, bool *is_flat)
{
    size_t start;
    *is_flat = script_find_address(line, &start);
    return script_guess_before(*is_flat ? script_part(line, 0, start) : line);
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
        rest = word; /* -F ip */
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

bool tv_script_is_no_place(struct tv_bytes line)
{
    static const char *const unknown[] = {"??:0", "??:?", ":0"};
    struct tv_bytes text = tv_bytes_trim(line);
    for (size_t i = 0; i < TV_COUNT(unknown); i++)
        if (tv_bytes_equal(text, tv_bytes_of(unknown[i])))
            return true;
    return text.length > 0 && text.data[text.length - 1] == ']';
}

/* Begins of fields after a frame or a chain: registers, and bytes of an instruction. */
static const char *const script_extras[] = {"ABI:", "insn: ", "ilen: "};

bool tv_script_is_record(struct tv_bytes line)
{
    static const char start[] = ": PERF_RECORD_";
    size_t length = sizeof start - 1;
    for (size_t at = 1; at + length <= line.length; at++)
        if (line.data[at] == ':' && script_is_digit(line.data[at - 1]) &&
            memcmp(line.data + at, start, length) == 0)
            return true;
    return false;
}

bool tv_script_is_extra(struct tv_bytes line)
{
    struct tv_bytes text = tv_bytes_trim(line);
    for (size_t i = 0; i < TV_COUNT(script_extras); i++)
        if (tv_bytes_starts_with(text, tv_bytes_of(script_extras[i])))
            return true;
    return text.length > 1 && text.data[0] == '|' && script_is_digit(text.data[1]);
}

/* Return the text before the extra fields after a frame. */
static struct tv_bytes script_without_extras(struct tv_bytes text)
{
    for (size_t at = 1; at < text.length; at++)
        for (size_t i = 0; text.data[at - 1] == ' ' && i < TV_COUNT(script_extras); i++)
            if (tv_bytes_starts_with(script_part(text, at, text.length),
                                     tv_bytes_of(script_extras[i])))
                return script_part(text, 0, at - 1);
    return text;
}

bool tv_script_parse_tail(const struct tv_script_head *head, struct tv_script_frame *frame)
{
    struct tv_bytes rest;
    size_t start;
    if (head->tail.length == 0 || script_is_tracepoint(head->event))
        return false;
    rest = script_without_extras(head->tail);
    if (!tv_script_parse_frame(rest, frame))
        return false;
    /* With -F addr the data is before the code: its address, symbol and file.  Only the last
     * address is parsed, since a line may have as many as it has words. */
    struct tv_bytes last = rest;
    tv_bytes_take_word(&rest);
    while (script_find_address(rest, &start)) {
        last = rest = script_part(rest, start, rest.length);
        tv_bytes_take_word(&rest);
    }
    return tv_script_parse_frame(last, frame);
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
