/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/ftrace/graph.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/ftrace/args.h"
#include "readers/ftrace/events.h"

#define NS_PER_US 1000
#define NS_PER_S 1000000000
#define MOST_CPUS 65535

/* Longer calls are nonsense. */
#define LONGEST ((tv_ns)1 << 60)

/* An event in a comment is the name of an instant up to here. */
#define LONGEST_NAME 128

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static struct tv_bytes trim(struct tv_bytes text)
{
    while (text.length > 0 && (text.data[0] == ' ' || text.data[0] == '\t')) {
        text.data++;
        text.length--;
    }
    while (text.length > 0 &&
           (text.data[text.length - 1] == ' ' || text.data[text.length - 1] == '\t'))
        text.length--;
    return text;
}

static struct tv_bytes behind(struct tv_bytes text, size_t count)
{
    return (struct tv_bytes){text.data + count, text.length - count};
}

/* ---- Columns ---- */

/* "364.010000" */
static bool is_time(struct tv_bytes text, tv_ns *time)
{
    size_t points = 0;
    for (size_t i = 0; i < text.length; i++) {
        points += text.data[i] == '.';
        if (!is_digit(text.data[i]) && text.data[i] != '.')
            return false;
    }
    return points == 1 && is_digit(text.data[0]) && tv_parse_time(text, NS_PER_S, time) &&
           *time < LONGEST;
}

/* "1.382 us", "+ 12.300 us", "$ 1234567 us" */
static bool is_duration(struct tv_bytes text, tv_ns *duration)
{
    if (text.length > 0 && memchr("+!#*@$", text.data[0], 6))
        text = trim(behind(text, 1));
    if (text.length < 4 || memcmp(text.data + text.length - 2, "us", 2) != 0)
        return false;
    text.length -= 2;
    text = trim(text);
    return text.length > 0 && is_digit(text.data[0]) && tv_parse_time(text, NS_PER_US, duration) &&
           *duration < LONGEST;
}

/* "bash-4251" */
static bool is_task(struct tv_bytes text, struct tv_bytes *name, int64_t *tid)
{
    size_t digits = text.length;
    while (digits > 0 && is_digit(text.data[digits - 1]))
        digits--;
    if (digits < 1 || digits == text.length || text.data[digits - 1] != '-' ||
        !tv_parse_i64(behind(text, digits), tid) || *tid > INT32_MAX)
        return false;
    *name = (struct tv_bytes){text.data, digits - 1};
    return true;
}

static bool are_flags(struct tv_bytes text)
{
    for (size_t i = 0; i < text.length; i++) {
        uint8_t c = text.data[i];
        if (!is_digit(c) && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '.' && c != '#')
            return false;
    }
    return text.length >= 4 && text.length <= 8;
}

/* "3)" in front of a column is cut off. */
static bool take_cpu(struct tv_bytes *text, struct tv_ft_graph_line *line)
{
    size_t length = 0;
    uint32_t cpu = 0;
    for (; length < text->length && is_digit(text->data[length]) && cpu <= MOST_CPUS; length++)
        cpu = cpu * 10 + (uint32_t)(text->data[length] - '0');
    if (length == 0 || length == text->length || text->data[length] != ')' || cpu > MOST_CPUS)
        return false;
    line->cpu = cpu;
    line->has_cpu = true;
    *text = trim(behind(*text, length + 1));
    return true;
}

/* False: it is no column. */
static bool take_column(struct tv_bytes column, struct tv_ft_graph_line *line)
{
    column = trim(column);
    bool known = take_cpu(&column, line);
    if (column.length == 0)
        return true;
    if (tv_bytes_equal(column, TV_BYTES("==========>")) ||
        tv_bytes_equal(column, TV_BYTES("<=========="))) {
        line->kind = column.data[0] == '=' ? TV_FT_GRAPH_INTERRUPT : TV_FT_GRAPH_INTERRUPT_END;
        return true;
    }
    if (is_duration(column, &line->duration)) {
        line->has_duration = true;
        line->printed = column;
        return true;
    }
    if (!known && is_time(column, &line->time)) {
        line->has_time = true;
        return true;
    }
    if (is_task(column, &line->task, &line->tid))
        return true;
    if (!are_flags(column))
        return false;
    line->flags = column;
    return true;
}

/* ---- The last column ---- */

static bool has_at(struct tv_bytes text, size_t at, const char *mark)
{
    size_t length = strlen(mark);
    return text.length - at >= length && memcmp(text.data + at, mark, length) == 0;
}

/* "name() {", "name(a=1);": what stands behind the first ')' that a '{' or ';' follows may be a
 * comment. */
static bool parse_call(struct tv_bytes text, struct tv_ft_graph_line *line)
{
    const uint8_t *open = text.length > 0 ? memchr(text.data, '(', text.length) : NULL;
    if (!open || open == text.data)
        return false;
    line->name = trim((struct tv_bytes){text.data, (size_t)(open - text.data)});
    /* "name [module]" */
    const uint8_t *space = memchr(line->name.data, ' ', line->name.length);
    if (line->name.length == 0 || (space && !has_at(text, (size_t)(space - text.data), " [")))
        return false;
    for (size_t i = (size_t)(open - text.data); i < text.length; i++) {
        line->kind = has_at(text, i, ");") ? TV_FT_GRAPH_LEAF : TV_FT_GRAPH_ENTRY;
        if (line->kind == TV_FT_GRAPH_LEAF || has_at(text, i, ") {"))
            return true;
    }
    return false;
}

/* What stands in a comment, or nothing. */
static struct tv_bytes comment(struct tv_bytes text)
{
    if (text.length < 4 || memcmp(text.data, "/*", 2) != 0)
        return (struct tv_bytes){NULL, 0};
    text = trim(behind(text, 2));
    if (text.length >= 2 && memcmp(text.data + text.length - 2, "*/", 2) == 0)
        text.length -= 2;
    return trim(text);
}

static bool parse_text(struct tv_bytes text, struct tv_ft_graph_line *line)
{
    line->text = text;
    line->name = (struct tv_bytes){NULL, 0};
    if (text.length > 0 && text.data[0] == '}') {
        line->kind = TV_FT_GRAPH_EXIT;
        struct tv_bytes name = comment(trim(behind(text, 1)));
        line->returns = name.length > 0 && memchr(name.data, '=', name.length) != NULL;
        /* A comment may tell something else: "<-caller", "ret=0". */
        if (name.length > 0 && name.data[0] != '<' &&
            !tv_bytes_starts_with(name, TV_BYTES("ret")) && name.data[0] != '=')
            line->name = tv_ft_word(name);
        return text.length == 1 || name.length > 0 || trim(behind(text, 1)).length == 0;
    }
    line->name = comment(text);
    if (line->name.length > 0) {
        line->kind = TV_FT_GRAPH_EVENT;
        return true;
    }
    return parse_call(text, line);
}

/* "kworker-33  =>  bash-4251" */
static bool parse_switch(struct tv_bytes text, struct tv_ft_graph_line *line)
{
    struct tv_bytes next = tv_ft_behind(text, " => ");
    if (next.data == NULL)
        return false;
    struct tv_bytes left = {text.data, (size_t)(next.data - text.data) - 4};
    line->kind = TV_FT_GRAPH_SWITCH;
    return is_task(trim(left), &line->task, &line->tid) &&
           is_task(trim(next), &line->next, &line->next_tid);
}

bool tv_ft_graph_parse(struct tv_bytes text, struct tv_ft_graph_line *line)
{
    *line = (struct tv_ft_graph_line){
        .kind = TV_FT_GRAPH_ENTRY, .tid = TV_FT_NO_ID, .next_tid = TV_FT_NO_ID};
    bool any = false;
    for (;;) {
        const uint8_t *bar = text.length > 0 ? memchr(text.data, '|', text.length) : NULL;
        size_t length = bar ? (size_t)(bar - text.data) : 0;
        if (!bar || !take_column((struct tv_bytes){text.data, length}, line))
            break;
        any = true;
        text = behind(text, length + 1);
    }
    text = trim(text);
    any |= take_cpu(&text, line);
    if (!any)
        return false;
    if (text.length == 0)
        return line->kind == TV_FT_GRAPH_INTERRUPT || line->kind == TV_FT_GRAPH_INTERRUPT_END;
    return parse_text(text, line) || (line->has_cpu && parse_switch(text, line));
}

bool tv_ft_graph_parse_event(struct tv_bytes details, struct tv_ft_graph_line *line)
{
    return tv_ft_graph_parse(details, line) && !line->has_time && !line->has_cpu;
}

/* ---- What is kept ---- */

/* An event whose time, task and processor are told is read as any other. */
static bool take_event(struct tv_ft_part *part, const struct tv_ft_graph_line *line,
                       uint64_t offset)
{
    struct tv_bytes details = tv_ft_behind(line->name, ": ");
    if (!line->has_time || line->tid == TV_FT_NO_ID || details.data == NULL)
        return false;
    struct tv_ft_line event = {
        .task = line->task,
        .tid = line->tid,
        .tgid = TV_FT_NO_ID,
        .cpu = line->cpu,
        .flags = line->flags,
        .time = line->time,
        .event = {line->name.data, (size_t)(details.data - line->name.data) - 2},
        .details = details,
    };
    tv_ft_take(part, &event, offset);
    return true;
}

static uint32_t frame_of(struct tv_ft_part *part, const struct tv_ft_graph_line *line)
{
    if (line->kind == TV_FT_GRAPH_INTERRUPT || line->kind == TV_FT_GRAPH_INTERRUPT_END)
        return tv_ft_frame(part, TV_BYTES("interrupt"), "function");
    if (line->name.length == 0)
        return TV_NONE;
    if (line->kind != TV_FT_GRAPH_EVENT)
        return tv_ft_frame(part, line->name, "function");
    struct tv_bytes details = tv_ft_behind(line->name, ": "), name = line->name;
    if (details.data)
        name.length = (size_t)(details.data - name.data) - 2;
    if (name.length > LONGEST_NAME)
        name.length = LONGEST_NAME;
    return tv_ft_frame(part, name, "ftrace");
}

static uint32_t know_task(struct tv_ft_part *part, struct tv_bytes name, int64_t tid,
                          uint64_t offset)
{
    if (tid == TV_FT_NO_ID)
        return TV_NONE;
    uint32_t task = tv_ft_task(part, tid);
    part->tasks.rows[task].used = true;
    tv_ft_see_task(part, task, name, offset);
    return task;
}

void tv_ft_graph_take(struct tv_ft_part *part, const struct tv_ft_graph_line *line, uint64_t offset)
{
    if (line->kind == TV_FT_GRAPH_EVENT && take_event(part, line, offset))
        return;
    uint32_t task = know_task(part, line->task, line->tid, offset);
    uint32_t next = know_task(part, line->next, line->next_tid, offset);
    *tv_table_add(&part->graph) = (struct tv_ft_graph){
        .time = line->has_time ? line->time : TV_NO_TIME,
        .duration = line->has_duration ? line->duration : TV_NO_TIME,
        .offset = offset & TV_OFFSET_MASK,
        .cpu = line->cpu & 0xffff,
        .kind = line->kind & 0x7f,
        .returns = line->returns,
        .task = task,
        .frame = line->kind == TV_FT_GRAPH_SWITCH ? next : frame_of(part, line),
    };
    part->events += line->kind != TV_FT_GRAPH_SWITCH;
    if (!line->has_time)
        return;
    part->first = line->time < part->first ? line->time : part->first;
    part->last = line->time > part->last ? line->time : part->last;
}
