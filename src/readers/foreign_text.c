/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formats of lines that no first word tells apart: what the lines look like does.
 */
#include <string.h>

#include "base/bytes.h"
#include "readers/foreign.h"

#define FLAMEGRAPH " (https://github.com/brendangregg/FlameGraph)"

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* The next word of a line; data NULL: there is none. */
static struct tv_bytes take_word(struct tv_bytes *line)
{
    while (line->length > 0 && is_blank(line->data[0])) {
        line->data++;
        line->length--;
    }
    size_t end = 0;
    while (end < line->length && !is_blank(line->data[end]))
        end++;
    struct tv_bytes word = {end > 0 ? line->data : NULL, end};
    line->data = line->length > 0 ? line->data + end : line->data;
    line->length -= end;
    return word;
}

/* Only these bytes, at least one; `marks` beside digits. */
static bool is_number_with(struct tv_bytes word, const char *marks)
{
    bool any = false;
    for (size_t i = 0; i < word.length; i++) {
        if (!is_digit(word.data[i]) && !strchr(marks, word.data[i]))
            return false;
        any = any || is_digit(word.data[i]);
    }
    return any;
}

/* "1811.323590:" */
static bool is_time(struct tv_bytes word)
{
    if (word.length < 4 || word.data[word.length - 1] != ':')
        return false;
    word.length--;
    return is_number_with(word, ".") && memchr(word.data, '.', word.length) != NULL;
}

/* ---- perf script ---- */

/* "comm  pid[/tid] [cpu] time: ...": in ftrace text the process belongs to the first word. */
static bool is_perf_sample(struct tv_bytes line)
{
    struct tv_bytes before = {NULL, 0}, last = {NULL, 0}, word;
    while ((word = take_word(&line)).data) {
        bool cpu = last.length > 2 && last.data[0] == '[';
        if (is_time(word) && last.data && is_number_with(cpu ? before : last, "/-"))
            return !cpu || is_number_with(last, "[]");
        before = last;
        last = word;
    }
    return false;
}

/* "    ffffffff821e59e4 xas_find+0x4 ([kernel.kallsyms])"; some tools take the space away. */
static bool is_perf_frame(struct tv_bytes line)
{
    size_t least = line.length > 0 && is_blank(line.data[0]) ? 3 : 8;
    struct tv_bytes address = take_word(&line);
    if (address.length < least || address.length > 16)
        return false;
    for (size_t i = 0; i < address.length; i++)
        if (!is_digit(address.data[i]) && (address.data[i] < 'a' || address.data[i] > 'f'))
            return false;
    return take_word(&line).data != NULL;
}

static void count_perf_lines(struct tv_bytes head, unsigned *samples, unsigned *frames)
{
    struct tv_cursor cursor = tv_cursor_over(head);
    struct tv_bytes line;
    *samples = *frames = 0;
    while (tv_cursor_take_line(&cursor, &line)) {
        if (line.length > 0 && line.data[0] == '#')
            continue;
        if (is_perf_sample(line))
            (*samples)++;
        else
            *frames += is_perf_frame(line);
    }
}

bool tv_foreign_is_perf_script(struct tv_bytes head)
{
    unsigned samples, frames;
    count_perf_lines(head, &samples, &frames);
    return samples > 1 || (samples > 0 && frames > 0);
}

/* The comments that --header writes are longer than what is looked at. */
static bool is_perf_header(struct tv_bytes head)
{
    return tv_bytes_starts_with(head, TV_BYTES("# ========\n# captured on")) ||
           tv_bytes_starts_with(head, TV_BYTES("# ========\n# hostname"));
}

/* With -F ip,sym there are frames alone. */
static bool is_any_perf_script(struct tv_bytes head)
{
    unsigned samples, frames;
    count_perf_lines(head, &samples, &frames);
    return is_perf_header(head) || samples > 1 || frames > 2 || (samples > 0 && frames > 0);
}

/* ---- Valgrind ---- */

/* Header lines, "key: value", up to one of that key. */
static bool has_header_key(struct tv_bytes head, struct tv_bytes key)
{
    struct tv_cursor cursor = tv_cursor_over(head);
    struct tv_bytes line;
    while (tv_cursor_take_line(&cursor, &line)) {
        if (line.length == 0 || line.data[0] == '#')
            continue;
        if (tv_bytes_starts_with(line, key))
            return true;
        size_t i = 0;
        while (i < line.length &&
               ((line.data[i] >= 'a' && line.data[i] <= 'z') || line.data[i] == '_'))
            i++;
        if (i == 0 || i == line.length || line.data[i] != ':')
            return false;
    }
    return false;
}

static bool is_callgrind(struct tv_bytes head)
{
    return tv_bytes_starts_with(head, TV_BYTES("# callgrind format")) ||
           tv_bytes_starts_with(head, TV_BYTES("desc: I1 cache:")) ||
           has_header_key(head, TV_BYTES("events: "));
}

static bool is_massif(struct tv_bytes head)
{
    return tv_bytes_starts_with(head, TV_BYTES("desc: ")) &&
           has_header_key(head, TV_BYTES("time_unit: "));
}

/* ---- strace, DTrace, bpftrace ---- */

/* "[14931] [time] name(...) = result", or "name(... <unfinished ...>". */
static bool is_strace_line(struct tv_bytes line)
{
    struct tv_bytes word = take_word(&line);
    if (tv_bytes_equal(word, TV_BYTES("[pid")))
        word = take_word(&line);
    for (int i = 0; i < 2 && is_number_with(word, ":.]"); i++)
        word = take_word(&line);
    size_t name = 0;
    while (name < word.length && (word.data[name] == '_' || is_digit(word.data[name]) ||
                                  (word.data[name] >= 'a' && word.data[name] <= 'z')))
        name++;
    if (name == 0 || name == word.length || word.data[name] != '(')
        return false;
    struct tv_bytes last = word;
    while (word.data) {
        if (tv_bytes_equal(last, TV_BYTES("=")) || tv_bytes_equal(word, TV_BYTES("<unfinished")))
            return true;
        last = word;
        word = take_word(&line);
    }
    return false;
}

/* "    genunix`kmem_cache_free+0xce" */
static bool is_dtrace_line(struct tv_bytes line)
{
    if (line.length == 0 || line.data[0] != ' ')
        return false;
    struct tv_bytes word = take_word(&line);
    const uint8_t *quote = word.data ? memchr(word.data, '`', word.length) : NULL;
    return quote && quote > word.data && (size_t)(quote - word.data) + 1 < word.length;
}

/* Return true when at least two of the lines fit, and most of those that are not blank. */
static bool most_lines(struct tv_bytes head, bool (*is_so)(struct tv_bytes line))
{
    struct tv_cursor cursor = tv_cursor_over(head);
    struct tv_bytes line;
    unsigned so = 0, others = 0;
    while (tv_cursor_take_line(&cursor, &line)) {
        struct tv_bytes rest = line;
        if (!take_word(&rest).data)
            continue;
        *(is_so(line) ? &so : &others) += 1;
    }
    return so > 1 && so > others;
}

static bool is_strace(struct tv_bytes head)
{
    return most_lines(head, is_strace_line);
}

static bool is_dtrace(struct tv_bytes head)
{
    return most_lines(head, is_dtrace_line);
}

/* "@[", behind what bpftrace says of its probes: "Attaching 2 probes...". */
static bool is_bpftrace(struct tv_bytes head)
{
    struct tv_cursor cursor = tv_cursor_over(head);
    struct tv_bytes line;
    while (tv_cursor_take_line(&cursor, &line)) {
        struct tv_bytes word = take_word(&line), count = take_word(&line);
        bool attached = tv_bytes_equal(word, TV_BYTES("Attaching")) ||
                        tv_bytes_equal(word, TV_BYTES("Attached"));
        if (word.data && !(attached && is_number_with(count, "")))
            return tv_bytes_equal(word, TV_BYTES("@[")) && !count.data;
    }
    return false;
}

static bool is_jstack(struct tv_bytes head)
{
    struct tv_cursor cursor = tv_cursor_over(head);
    struct tv_bytes line;
    for (int i = 0; i < 2 && tv_cursor_take_line(&cursor, &line); i++)
        if (tv_bytes_starts_with(line, TV_BYTES("Full thread dump ")))
            return true;
    return false;
}

static const struct {
    bool (*is)(struct tv_bytes head);
    struct tv_foreign foreign;
} texts[] = {
    {is_bpftrace,
     {"stacks of bpftrace",
      "stackcollapse-bpftrace.pl" FLAMEGRAPH " makes collapsed stacks of it"}},
    {is_callgrind,
     {"a profile of callgrind or cachegrind (valgrind, Xdebug)", "KCachegrind opens it"}},
    {is_massif, {"a heap profile of massif", "\"ms_print\" of valgrind prints it"}},
    {is_any_perf_script,
     {"text of \"perf script\"",
      "stackcollapse-perf.pl" FLAMEGRAPH " makes collapsed stacks of it, or \"perf script report "
      "stackcollapse\" of the recording"}},
    {is_strace, {"text of strace", "\"strace -c\" of another run sums its time by system call"}},
    {is_dtrace,
     {"stacks of DTrace", "stackcollapse.pl" FLAMEGRAPH " makes collapsed stacks of it"}},
    {is_jstack,
     {"a thread dump of a JVM",
      "stackcollapse-jstack.pl" FLAMEGRAPH " makes collapsed stacks of it"}},
};

const struct tv_foreign *tv_foreign_find_text(struct tv_bytes head)
{
    for (size_t i = 0; i < TV_COUNT(texts); i++)
        if (texts[i].is(head))
            return &texts[i].foreign;
    return NULL;
}
