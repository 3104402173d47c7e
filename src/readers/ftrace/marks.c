/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/ftrace/marks.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/ftrace/args.h"
#include "readers/ftrace/events.h"
#include "readers/ftrace/said.h"

#define CATEGORY "android"
#define NAMELESS "[empty slice name]"

/* Plain text is the name of an instant up to here. */
#define LONGEST_NAME 128

#define NS_PER_S 1000000000

static bool has(struct tv_bytes text, char c)
{
    struct tv_bytes head;
    return tv_bytes_split(&text, (uint8_t)c, &head);
}

/* The next field; false: there is none. */
static bool take_field(struct tv_bytes *rest, struct tv_bytes *field)
{
    if (rest->data == NULL)
        return false;
    if (!tv_bytes_split(rest, '|', field))
        *rest = (struct tv_bytes){NULL, 0};
    return true;
}

static bool take_tgid(struct tv_bytes *rest, int64_t *tgid)
{
    struct tv_bytes field;
    return take_field(rest, &field) && tv_parse_i64(field, tgid) && *tgid >= 0 &&
           *tgid <= INT32_MAX;
}

/* "|key=value;key=value|category" */
static void take_chrome_fields(struct tv_bytes rest, struct tv_ft_mark *mark)
{
    if (take_field(&rest, &mark->args))
        take_field(&rest, &mark->category);
}

/* A name that may hold '|': fields of Chrome follow only where the next one has a '='. */
static void take_open_name(struct tv_bytes rest, struct tv_ft_mark *mark)
{
    struct tv_bytes whole = rest, next;
    take_field(&rest, &mark->name);
    next = rest;
    struct tv_bytes args;
    if (!take_field(&next, &args))
        return;
    if (has(args, '='))
        take_chrome_fields(rest, mark);
    else
        mark->name = whole;
}

static bool is_number(struct tv_bytes text)
{
    int64_t number;
    return tv_parse_i64(text, &number);
}

static bool parse_end(struct tv_bytes rest, struct tv_ft_mark *mark)
{
    struct tv_bytes name;
    if (rest.data == NULL || !take_tgid(&rest, &mark->tgid))
        mark->tgid = 0;
    else if (take_field(&rest, &name))
        take_chrome_fields(rest, mark);
    return true;
}

static bool parse_begin(struct tv_bytes rest, struct tv_ft_mark *mark)
{
    if (!take_tgid(&rest, &mark->tgid) || rest.data == NULL)
        return false;
    take_open_name(rest, mark);
    if (mark->name.length == 0)
        mark->name = TV_BYTES(NAMELESS);
    return true;
}

static bool parse_async(struct tv_bytes rest, struct tv_ft_mark *mark)
{
    if (!take_tgid(&rest, &mark->tgid) || !take_field(&rest, &mark->name) ||
        mark->name.length == 0 || !take_field(&rest, &mark->cookie) || !is_number(mark->cookie))
        return false;
    take_chrome_fields(rest, mark);
    return true;
}

static bool parse_count(struct tv_bytes rest, struct tv_ft_mark *mark)
{
    struct tv_bytes value;
    if (!take_tgid(&rest, &mark->tgid) || !take_field(&rest, &mark->name) ||
        mark->name.length == 0 || !take_field(&rest, &value) ||
        !tv_ft_quantity(value, &mark->value))
        return false;
    take_field(&rest, &mark->category);
    return true;
}

/* I|tgid|name and N|tgid|track|name: only a name of B may hold '|'. */
static bool parse_instant(struct tv_bytes rest, struct tv_ft_mark *mark)
{
    if (!take_tgid(&rest, &mark->tgid) ||
        (mark->phase == 'N' && (!take_field(&rest, &mark->track) || mark->track.length == 0)))
        return false;
    return take_field(&rest, &mark->name) && mark->name.length > 0;
}

/* G|tgid|track|name|cookie and H|tgid|track[|name]|cookie */
static bool parse_track(struct tv_bytes rest, struct tv_ft_mark *mark)
{
    struct tv_bytes last;
    if (!take_tgid(&rest, &mark->tgid) || !take_field(&rest, &mark->track) ||
        mark->track.length == 0 || !take_field(&rest, &mark->name))
        return false;
    if (take_field(&rest, &last) && (last.length > 0 || mark->phase == 'G')) {
        mark->cookie = last;
    } else {
        mark->cookie = mark->name;
        mark->name = (struct tv_bytes){NULL, 0};
        if (mark->phase == 'G')
            return false;
    }
    return is_number(mark->cookie) && (mark->phase == 'H' || mark->name.length > 0);
}

static bool parse_phase(struct tv_bytes rest, struct tv_ft_mark *mark)
{
    switch (mark->phase) {
    case 'B':
        return parse_begin(rest, mark);
    case 'E':
        return parse_end(rest, mark);
    case 'S':
    case 'F':
        return parse_async(rest, mark);
    case 'C':
        return parse_count(rest, mark);
    case 'I':
    case 'N':
        return parse_instant(rest, mark);
    case 'G':
    case 'H':
        return parse_track(rest, mark);
    default:
        return false;
    }
}

struct tv_ft_mark tv_ft_mark_parse(struct tv_bytes text)
{
    while (text.length > 0 &&
           (text.data[text.length - 1] == '\n' || text.data[text.length - 1] == '\0'))
        text.length--;
    struct tv_ft_mark mark = {.name = text};
    if (text.length == 0 || (text.length > 1 && text.data[1] != '|'))
        return mark;
    mark.phase = (char)text.data[0];
    struct tv_bytes rest = {NULL, 0};
    mark.name = rest;
    if (text.length > 1)
        rest = (struct tv_bytes){text.data + 2, text.length - 2};
    if (!parse_phase(rest, &mark))
        mark = (struct tv_ft_mark){.name = text};
    return mark;
}

struct tv_ft_mark tv_ft_mark_of_event(struct tv_bytes event, struct tv_bytes details)
{
    struct tv_ft_mark mark = tv_ft_mark_parse(details), inner;
    if (mark.phase ||
        (!tv_bytes_equal(event, TV_BYTES("print")) && !tv_bytes_equal(event, TV_BYTES("bprint"))))
        return mark;
    struct tv_bytes text = tv_ft_behind(details, ": ");
    if (text.data == NULL)
        return mark;
    inner = tv_ft_mark_parse(text);
    /* Of other text the name of the marker alone says nothing. */
    return inner.phase || tv_bytes_starts_with(details, TV_BYTES("tracing_mark_write: ")) ? inner
                                                                                          : mark;
}

/* ---- What marks mean ---- */

static uint32_t frame_of(struct tv_ft_part *part, const struct tv_ft_mark *mark)
{
    struct tv_bytes name = mark->name.length > 0 ? mark->name : mark->track;
    if (mark->category.length == 0)
        return tv_ft_frame(part, name, CATEGORY);
    return tv_ft_frame_in(part, name, mark->category);
}

static void add_async(struct tv_ft_part *part, const struct tv_ft_at *at,
                      const struct tv_ft_mark *mark, enum tv_ft_async_kind kind)
{
    bool on_track = mark->track.length > 0;
    struct tv_bytes of = on_track ? mark->track : mark->name;
    struct tv_ft_async async = {
        .kind = kind,
        .single = true,
        .key = tv_ft_key(part, on_track ? "track" : "mark", mark->tgid, of, mark->cookie),
        .id = tv_ft_text(part, mark->cookie),
        .frame = frame_of(part, mark),
        .track = tv_ft_text(part, mark->track),
    };
    tv_ft_add_async(part, at, &async);
}

static void count(struct tv_ft_part *part, const struct tv_ft_at *at, const struct tv_ft_mark *mark)
{
    struct tv_bytes category = mark->category.length ? mark->category : TV_BYTES(CATEGORY);
    struct tv_ft_counter counter = {mark->tgid, tv_ft_text(part, mark->name),
                                    tv_ft_text(part, category), tv_ft_text(part, mark->name)};
    tv_ft_count(part, at, &counter, mark->value);
}

/* "realtime_ts=1424713459134": milliseconds of the wall clock, kept as metadata. */
static bool take_wall_clock(struct tv_ft_part *part, const struct tv_ft_at *at,
                            struct tv_bytes text)
{
    if (text.length == 0)
        return false;
    if (part->wall_clock == TV_EMPTY_STRING)
        part->wall_clock = tv_ft_text(part, text);
    /* A mark that moves no clock. */
    *tv_table_add(&part->marks) =
        (struct tv_clock_sync){.time = at->time, .offset = at->offset, .id = TV_EMPTY_STRING};
    return true;
}

/* "trace_event_clock_sync: parent_ts=0.123", "... name=ID" */
static bool take_clock_mark(struct tv_ft_part *part, const struct tv_ft_at *at,
                            struct tv_bytes text)
{
    text = tv_ft_behind(text, "trace_event_clock_sync:");
    if (text.data == NULL)
        return false;
    struct tv_bytes parent = tv_ft_arg(text, "parent_ts"), id = tv_ft_arg(text, "name");
    tv_ns asked = at->time;
    if (parent.data == NULL && id.data == NULL)
        return take_wall_clock(part, at, tv_ft_arg(text, "realtime_ts"));
    if (parent.data && !tv_parse_time(parent, NS_PER_S, &asked))
        return false;
    struct tv_clock_sync *mark = tv_table_add(&part->marks);
    mark->time = at->time;
    mark->offset = at->offset;
    mark->asked = asked;
    mark->id = parent.data ? TV_EMPTY_STRING : tv_ft_text(part, id);
    return true;
}

static void take_mark(struct tv_ft_part *part, const struct tv_ft_at *at,
                      const struct tv_ft_mark *mark)
{
    struct tv_ft_task *task = &part->tasks.rows[at->task];
    if (mark->tgid > 0 && task->marked_tgid == TV_FT_NO_ID && mark->phase != 'C')
        task->marked_tgid = mark->tgid;
    switch (mark->phase) {
    case 'B':
        tv_ft_begin(part, at, frame_of(part, mark));
        break;
    case 'E':
        tv_ft_end(part, at, mark->args.length > 0);
        break;
    case 'C':
        count(part, at, mark);
        break;
    case 'S':
    case 'G':
        add_async(part, at, mark, TV_FT_ASYNC_BEGIN);
        break;
    case 'F':
    case 'H':
        add_async(part, at, mark, TV_FT_ASYNC_END);
        break;
    case 'N':
        add_async(part, at, mark, TV_FT_ASYNC_POINT);
        break;
    default:
        tv_ft_instant(part, at, frame_of(part, mark));
    }
}

/* "S|12|name" without a cookie and the like: a letter and a process, but not what has to follow. */
static bool is_broken(struct tv_bytes text)
{
    return text.length > 2 && text.data[1] == '|' && text.data[2] >= '0' && text.data[2] <= '9' &&
           memchr("BSFCINGH", text.data[0], sizeof "BSFCINGH" - 1) != NULL;
}

static enum tv_ft_taken handle_mark(struct tv_ft_part *part, const struct tv_ft_line *line,
                                    const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    struct tv_ft_mark mark = tv_ft_mark_of_event(line->event, line->details);
    if (mark.phase) {
        take_mark(part, at, &mark);
        return TV_FT_TAKEN;
    }
    if (mark.name.length == 0)
        return TV_FT_INSTANT;
    if (take_clock_mark(part, at, mark.name) || tv_ft_said_take(part, at, mark.name))
        return TV_FT_TAKEN;
    if (is_broken(mark.name))
        tv_diagnostics_add(&part->diagnostics, TV_DIAGNOSTIC_BAD_FIELDS, at->offset);
    if (mark.name.length > LONGEST_NAME)
        mark.name.length = LONGEST_NAME;
    tv_ft_instant(part, at, tv_ft_frame(part, mark.name, event->name));
    return TV_FT_TAKEN;
}

const struct tv_ft_event tv_ft_mark_events[] = {
    {.name = "tracing_mark_write", .handle = handle_mark},
    {.name = "0", .handle = handle_mark},
    {.name = "print", .handle = handle_mark},
    {.name = "bprint", .handle = handle_mark},
    {.name = "bputs", .handle = handle_mark},
    {.name = "sde_tracing_mark_write", .handle = handle_mark},
    {.name = NULL},
};
