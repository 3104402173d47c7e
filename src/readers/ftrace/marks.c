/* SPDX-License-Identifier: Apache-2.0 */
/*
 * marks.c - marks that programs write into the trace (atrace, tracing_mark_write), and the marks of
 * two drivers of Chrome OS.
 *
 *     B|tgid|name               begin of a slice of the writing thread
 *     E  or  E|tgid             end of its innermost slice
 *     S|tgid|name|cookie        begin of an async slice; F ends it
 *     G|tgid|track|name|cookie  the same on a named track; H|tgid|track|cookie ends it
 *     I|tgid|name               instant;  N|tgid|track|name  instant on a track
 *     C|tgid|name|value         counter of the process
 *     trace_event_clock_sync: parent_ts=0.123       clock marks (name=ID, realtime_ts=...)
 *
 * Chrome appends "|key=value;key=value|category". A name of B may contain '|' itself, and is told
 * from Chrome's fields by the '=' in the next field.
 *
 * Text that is no mark becomes an instant with the text as its name; text that looks like a mark
 * and lacks fields is diagnosed, too. Android's libcutils and system/core/atrace define the marks.
 */
#include "readers/ftrace/decoded.h"
#include "readers/ftrace/fields.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/ftrace/chunk.h"

#define CATEGORY "android"
#define NAMELESS "[empty slice name]"

/* An instant's name is cut to this length when the mark is plain text. */
#define LONGEST_NAME 128

#define NS_PER_S 1000000000

static bool ft_mark_has_char(struct tv_bytes text, char c)
{
    struct tv_bytes head;
    return tv_bytes_split(&text, (uint8_t)c, &head);
}

/* Take the next field. Return false when there is none. */
static bool ft_mark_take_field(struct tv_bytes *rest, struct tv_bytes *field)
{
    if (rest->data == NULL)
        return false;
    if (!tv_bytes_split(rest, '|', field))
        *rest = (struct tv_bytes){NULL, 0};
    return true;
}

/* Take a number of up to ten digits that is the whole field.  Return false, and take nothing, for
 * all else. */
static bool ft_mark_take_digits(struct tv_bytes *rest, int64_t *number)
{
    size_t length = 0;
    int64_t sum = 0;
    while (length < rest->length && length < 10 && rest->data[length] >= '0' &&
           rest->data[length] <= '9')
        sum = sum * 10 + (rest->data[length++] - '0');
    if (length == 0 || (length < rest->length && rest->data[length] != '|'))
        return false;
    *number = sum;
    *rest = length == rest->length
                ? (struct tv_bytes){NULL, 0}
                : (struct tv_bytes){rest->data + length + 1, rest->length - length - 1};
    return true;
}

/* Take the process that the mark names. */
static bool ft_mark_take_tgid(struct tv_bytes *rest, int64_t *tgid)
{
    struct tv_bytes field;
    if (TV_LIKELY(ft_mark_take_digits(rest, tgid)))
        return *tgid <= INT32_MAX;
    return ft_mark_take_field(rest, &field) && tv_parse_i64(field, tgid) && *tgid >= 0 &&
           *tgid <= INT32_MAX;
}

/* Take Chrome's fields: "|key=value;key=value|category". */
static void ft_mark_take_chrome_fields(struct tv_bytes rest, struct tv_ft_mark *mark)
{
    if (ft_mark_take_field(&rest, &mark->args))
        ft_mark_take_field(&rest, &mark->category);
}

/* Take a name that may contain '|'. Chrome's fields follow only where the next field has a '='. */
static void ft_mark_take_open_name(struct tv_bytes rest, struct tv_ft_mark *mark)
{
    struct tv_bytes whole = rest, next;
    ft_mark_take_field(&rest, &mark->name);
    next = rest;
    struct tv_bytes args;
    if (!ft_mark_take_field(&next, &args))
        return;
    if (ft_mark_has_char(args, '='))
        ft_mark_take_chrome_fields(rest, mark);
    else
        mark->name = whole;
}

static bool ft_mark_is_number(struct tv_bytes text)
{
    int64_t number;
    return tv_parse_i64(text, &number);
}

/* Parse E, whose fields may all be missing: "E", "E|", "E|12", "E|12|name|args". */
static bool ft_mark_parse_end(struct tv_bytes rest, struct tv_ft_mark *mark)
{
    struct tv_bytes name;
    if (rest.data == NULL || !ft_mark_take_tgid(&rest, &mark->tgid))
        mark->tgid = 0;
    else if (ft_mark_take_field(&rest, &name))
        ft_mark_take_chrome_fields(rest, mark);
    return true;
}

static bool ft_mark_parse_begin(struct tv_bytes rest, struct tv_ft_mark *mark)
{
    if (!ft_mark_take_tgid(&rest, &mark->tgid) || rest.data == NULL)
        return false;
    ft_mark_take_open_name(rest, mark);
    if (mark->name.length == 0)
        mark->name = TV_BYTES(NAMELESS);
    return true;
}

/* Parse "S|pid|name|cookie" after its letter. */
static bool ft_mark_parse_async(struct tv_bytes rest, struct tv_ft_mark *mark)
{
    if (!ft_mark_take_tgid(&rest, &mark->tgid) || !ft_mark_take_field(&rest, &mark->name) ||
        mark->name.length == 0 || !ft_mark_take_field(&rest, &mark->cookie) ||
        !ft_mark_is_number(mark->cookie))
        return false;
    ft_mark_take_chrome_fields(rest, mark);
    return true;
}

/* Parse "C|pid|name|value" after its letter, with a category that may follow. */
static bool ft_mark_parse_counter(struct tv_bytes rest, struct tv_ft_mark *mark)
{
    struct tv_bytes value;
    if (!ft_mark_take_tgid(&rest, &mark->tgid) || !ft_mark_take_field(&rest, &mark->name) ||
        mark->name.length == 0 || !ft_mark_take_field(&rest, &value) ||
        !tv_ft_parse_quantity(value, &mark->value))
        return false;
    ft_mark_take_field(&rest, &mark->category);
    return true;
}

/* Parse I|tgid|name or N|tgid|track|name. Only a B may have '|' in its name. */
static bool ft_mark_parse_instant(struct tv_bytes rest, struct tv_ft_mark *mark)
{
    if (!ft_mark_take_tgid(&rest, &mark->tgid) ||
        (mark->phase == 'N' &&
         (!ft_mark_take_field(&rest, &mark->track) || mark->track.length == 0)))
        return false;
    return ft_mark_take_field(&rest, &mark->name) && mark->name.length > 0;
}

/* Parse G|tgid|track|name|cookie or H|tgid|track[|name]|cookie. */
static bool ft_mark_parse_track(struct tv_bytes rest, struct tv_ft_mark *mark)
{
    struct tv_bytes last;
    if (!ft_mark_take_tgid(&rest, &mark->tgid) || !ft_mark_take_field(&rest, &mark->track) ||
        mark->track.length == 0 || !ft_mark_take_field(&rest, &mark->name))
        return false;
    if (ft_mark_take_field(&rest, &last) && (last.length > 0 || mark->phase == 'G')) {
        mark->cookie = last;
    } else {
        mark->cookie = mark->name;
        mark->name = (struct tv_bytes){NULL, 0};
        if (mark->phase == 'G')
            return false;
    }
    return ft_mark_is_number(mark->cookie) && (mark->phase == 'H' || mark->name.length > 0);
}

static bool ft_mark_parse_phase(struct tv_bytes rest, struct tv_ft_mark *mark)
{
    switch (mark->phase) {
    case 'B':
        return ft_mark_parse_begin(rest, mark);
    case 'E':
        return ft_mark_parse_end(rest, mark);
    case 'S':
    case 'F':
        return ft_mark_parse_async(rest, mark);
    case 'C':
        return ft_mark_parse_counter(rest, mark);
    case 'I':
    case 'N':
        return ft_mark_parse_instant(rest, mark);
    case 'G':
    case 'H':
        return ft_mark_parse_track(rest, mark);
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
    if (!ft_mark_parse_phase(rest, &mark))
        mark = (struct tv_ft_mark){.name = text};
    return mark;
}

struct tv_ft_mark tv_ft_mark_of_event(struct tv_bytes event, struct tv_bytes details)
{
    struct tv_ft_mark mark = tv_ft_mark_parse(details), inner;
    if (mark.phase ||
        (!tv_bytes_equal(event, TV_BYTES("print")) && !tv_bytes_equal(event, TV_BYTES("bprint"))))
        return mark;
    struct tv_bytes text = tv_ft_after(details, ": ");
    if (text.data == NULL)
        return mark;
    inner = tv_ft_mark_parse(text);
    /* Before plain text, only the function "tracing_mark_write" is noise; other functions are
     * kept. */
    return inner.phase || tv_bytes_starts_with(details, TV_BYTES("tracing_mark_write: ")) ? inner
                                                                                          : mark;
}

/* ---- Handling marks ---- */

/* Return the frame of a mark; a mark without a name has that of its track. */
static uint32_t ft_mark_frame(struct tv_ft_chunk *chunk, const struct tv_ft_mark *mark)
{
    struct tv_bytes name = mark->name.length > 0 ? mark->name : mark->track;
    if (mark->category.length == 0)
        return tv_ft_chunk_frame(chunk, name, CATEGORY);
    return tv_ft_chunk_frame_in(chunk, name, mark->category);
}

/* Add a half of an async slice. Halves with the same process, name or track, and cookie belong
 * together. */
static void ft_mark_add_async(struct tv_ft_chunk *chunk, const struct tv_ft_at *at,
                              const struct tv_ft_mark *mark, enum tv_ft_async_kind kind)
{
    bool on_track = mark->track.length > 0;
    struct tv_bytes of = on_track ? mark->track : mark->name;
    struct tv_ft_async async = {
        .kind = kind,
        .single = true,
        .key =
            tv_ft_chunk_async_key(chunk, on_track ? "track" : "mark", mark->tgid, of, mark->cookie),
        .id = tv_ft_chunk_string(chunk, mark->cookie),
        .frame = ft_mark_frame(chunk, mark),
        .track = tv_ft_chunk_string(chunk, mark->track),
    };
    tv_ft_chunk_add_async(chunk, at, &async);
}

/* Add a value of a counter, whose only series has its name. */
static void ft_mark_count(struct tv_ft_chunk *chunk, const struct tv_ft_at *at,
                          const struct tv_ft_mark *mark)
{
    struct tv_bytes category = mark->category.length ? mark->category : TV_BYTES(CATEGORY);
    struct tv_ft_counter counter = {
        .tgid = mark->tgid,
        .name = tv_ft_chunk_string(chunk, mark->name),
        .category = tv_ft_chunk_string(chunk, category),
        .series = tv_ft_chunk_string(chunk, mark->name),
    };
    tv_ft_chunk_count(chunk, at, &counter, mark->value);
}

/* Keep "realtime_ts=1424713459134", milliseconds of the wall clock, as metadata. */
static bool ft_mark_take_wall_clock(struct tv_ft_chunk *chunk, const struct tv_ft_at *at,
                                    struct tv_bytes text)
{
    if (text.length == 0)
        return false;
    if (chunk->wall_clock == TV_EMPTY_STRING)
        chunk->wall_clock = tv_ft_chunk_string(chunk, text);
    /* A mark that does not shift the clock. */
    *tv_table_add(&chunk->marks) =
        (struct tv_clock_sync){.time = at->time, .offset = at->offset, .id = TV_EMPTY_STRING};
    return true;
}

/* Take a clock mark: "trace_event_clock_sync: parent_ts=0.123" or "... name=ID". */
static bool ft_mark_take_clock(struct tv_ft_chunk *chunk, const struct tv_ft_at *at,
                               struct tv_bytes text)
{
    text = tv_ft_after(text, "trace_event_clock_sync:");
    if (text.data == NULL)
        return false;
    struct tv_bytes parent = tv_ft_arg(text, "parent_ts"), id = tv_ft_arg(text, "name");
    tv_ns asked = at->time;
    if (parent.data == NULL && id.data == NULL)
        return ft_mark_take_wall_clock(chunk, at, tv_ft_arg(text, "realtime_ts"));
    if (parent.data && !tv_parse_time(parent, NS_PER_S, &asked))
        return false;
    struct tv_clock_sync *mark = tv_table_add(&chunk->marks);
    mark->time = at->time;
    mark->offset = at->offset;
    mark->asked = asked;
    mark->id = parent.data ? TV_EMPTY_STRING : tv_ft_chunk_string(chunk, id);
    return true;
}

/* Apply a mark. The first process that a thread writes is a hint which process it belongs to. */
static void ft_mark_take(struct tv_ft_chunk *chunk, const struct tv_ft_at *at,
                         const struct tv_ft_mark *mark)
{
    struct tv_ft_task *task = &chunk->tasks.rows[at->task];
    if (mark->tgid > 0 && task->marked_tgid == TV_FT_NO_ID && mark->phase != 'C')
        task->marked_tgid = mark->tgid;
    switch (mark->phase) {
    case 'B':
        tv_ft_chunk_begin_slice(chunk, at, ft_mark_frame(chunk, mark));
        break;
    case 'E':
        tv_ft_chunk_end_slice(chunk, at, mark->args.length > 0);
        break;
    case 'C':
        ft_mark_count(chunk, at, mark);
        break;
    case 'S':
    case 'G':
        ft_mark_add_async(chunk, at, mark, TV_FT_ASYNC_BEGIN);
        break;
    case 'F':
    case 'H':
        ft_mark_add_async(chunk, at, mark, TV_FT_ASYNC_END);
        break;
    case 'N':
        ft_mark_add_async(chunk, at, mark, TV_FT_ASYNC_POINT);
        break;
    default:
        tv_ft_chunk_add_instant(chunk, at, ft_mark_frame(chunk, mark));
    }
}

/* Return true for a mark that lacks fields, such as "S|12|name" without a cookie. */
static bool ft_mark_is_broken(struct tv_bytes text)
{
    return text.length > 2 && text.data[1] == '|' && text.data[2] >= '0' && text.data[2] <= '9' &&
           memchr("BSFCINGH", text.data[0], sizeof "BSFCINGH" - 1) != NULL;
}

/* Take a mark, or plain text, which becomes an instant in the category `event`. */
static enum tv_ft_taken ft_mark_take_any(struct tv_ft_chunk *chunk, const struct tv_ft_at *at,
                                         struct tv_ft_mark mark, const char *event)
{
    if (mark.phase) {
        ft_mark_take(chunk, at, &mark);
        return TV_FT_TAKEN;
    }
    if (mark.name.length == 0)
        return TV_FT_INSTANT;
    if (ft_mark_take_clock(chunk, at, mark.name) || tv_ft_driver_mark_take(chunk, at, mark.name))
        return TV_FT_TAKEN;
    if (ft_mark_is_broken(mark.name))
        tv_diagnostics_add(&chunk->diagnostics, TV_DIAGNOSTIC_BAD_FIELDS, at->offset);
    if (mark.name.length > LONGEST_NAME)
        mark.name.length = LONGEST_NAME;
    tv_ft_chunk_add_instant(chunk, at, tv_ft_chunk_frame(chunk, mark.name, event));
    return TV_FT_TAKEN;
}

static enum tv_ft_taken ft_handle_mark(struct tv_ft_chunk *chunk, const struct tv_ft_line *line,
                                       const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    struct tv_ft_mark mark = tv_ft_mark_of_event(line->event, line->details);
    return ft_mark_take_any(chunk, at, mark, event->name);
}

enum tv_ft_taken tv_ft_take_print(struct tv_ft_chunk *chunk, const struct tv_ft_at *at,
                                  struct tv_bytes text)
{
    return ft_mark_take_any(chunk, at, tv_ft_mark_parse(text), "print");
}

const struct tv_ft_event tv_ft_mark_events[] = {
    {.name = "tracing_mark_write", .handle = ft_handle_mark},
    {.name = "0", .handle = ft_handle_mark},
    {.name = "print", .handle = ft_handle_mark},
    {.name = "bprint", .handle = ft_handle_mark},
    {.name = "bputs", .handle = ft_handle_mark},
    {.name = "sde_tracing_mark_write", .handle = ft_handle_mark},
    {.name = NULL},
};

/* Take the word of "word: more". Return false when there is none. */
static bool ft_driver_take_word(struct tv_bytes *text, struct tv_bytes *word)
{
    struct tv_bytes rest = tv_ft_skip_spaces(*text);
    return tv_bytes_split(&rest, ':', word) && word->length > 0 &&
           (*text = tv_ft_skip_spaces(rest), true);
}

/* Parse a gesture of a touchpad. All gestures share one pseudo-thread. */
static bool ft_driver_parse_gesture(struct tv_bytes title, struct tv_bytes text,
                                    struct tv_ft_driver_mark *mark)
{
    struct tv_bytes step;
    bool log = tv_bytes_equal(title, TV_BYTES("log"));
    if (!ft_driver_take_word(&text, &step))
        return false;
    *mark = (struct tv_ft_driver_mark){
        .begins = tv_bytes_equal(step, TV_BYTES("start")),
        .line = TV_BYTES("gesture"),
        .title = log ? TV_BYTES("GestureLog") : title,
        .category = "touchpad_gesture",
        .key = log ? "name" : "interpreter",
        .value = text,
    };
    return mark->begins || tv_bytes_equal(step, TV_BYTES("end"));
}

/* Take the name of "gles2_texturep_upload(): args"; the rest stays in *text. */
static struct tv_bytes ft_driver_take_function(struct tv_bytes *text)
{
    size_t length = 0;
    while (length < text->length && text->data[length] != ' ' && text->data[length] != '(' &&
           text->data[length] != ':')
        length++;
    struct tv_bytes name = {text->data, length};
    while (length < text->length && (text->data[length] == '(' || text->data[length] == ')' ||
                                     text->data[length] == ':' || text->data[length] == ' '))
        length++;
    *text = (struct tv_bytes){text->data + length, text->length - length};
    return name;
}

/* Parse a mark of the Mali driver. The pseudo-thread is named in "()"; the old form without it
 * has one for all. */
static bool ft_driver_parse_mali(struct tv_bytes text, struct tv_ft_driver_mark *mark)
{
    struct tv_bytes thread = TV_BYTES("mali"), step;
    if (text.length > 0 && text.data[0] == '(') {
        text.data++;
        text.length--;
        if (!tv_bytes_split(&text, ')', &thread) || thread.length == 0)
            return false;
    }
    if (!ft_driver_take_word(&text, &step))
        return false;
    *mark = (struct tv_ft_driver_mark){
        .begins = tv_bytes_equal(step, TV_BYTES("cros_trace_print_enter")),
        .line = thread,
        .category = "gpu-driver",
        .key = "blockinfo",
    };
    if (!mark->begins)
        return tv_bytes_equal(step, TV_BYTES("cros_trace_print_exit"));
    if (!ft_driver_take_word(&text, &mark->value))
        return false;
    mark->title = ft_driver_take_function(&text);
    mark->args = text;
    return mark->title.length > 0;
}

bool tv_ft_driver_mark_parse(struct tv_bytes text, struct tv_ft_driver_mark *mark)
{
    static const char *const gestures[] = {"log", "SyncInterpret", "HandleTimer"};
    struct tv_bytes word;
    if (!ft_driver_take_word(&text, &word))
        return false;
    if (tv_bytes_equal(word, TV_BYTES("mali_driver")))
        return ft_driver_parse_mali(text, mark);
    for (size_t i = 0; i < TV_COUNT(gestures); i++)
        if (tv_bytes_equal(word, tv_bytes_of(gestures[i])))
            return ft_driver_parse_gesture(word, text, mark);
    return false;
}

bool tv_ft_driver_mark_take(struct tv_ft_chunk *chunk, const struct tv_ft_at *at,
                            struct tv_bytes text)
{
    struct tv_ft_driver_mark mark;
    if (!tv_ft_driver_mark_parse(text, &mark))
        return false;
    uint32_t line = tv_ft_chunk_pseudo_thread(chunk, mark.line, TV_NONE);
    uint32_t frame =
        mark.title.length > 0 ? tv_ft_chunk_frame(chunk, mark.title, mark.category) : TV_NONE;
    if (mark.begins)
        tv_ft_chunk_begin_kernel(chunk, at, line, frame);
    else
        tv_ft_chunk_end_kernel(chunk, at, line, frame);
    return true;
}
