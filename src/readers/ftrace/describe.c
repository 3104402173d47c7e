/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/ftrace/describe.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/out.h"
#include "readers/ftrace/args.h"
#include "readers/ftrace/details.h"
#include "readers/ftrace/graph.h"
#include "readers/ftrace/marks.h"
#include "readers/ftrace/text.h"
#include "readers/text_lines.h"

/* Lines of one event that are shown. */
#define MOST_LINES 256

/* Arguments of one event that are shown by themselves; all are in "details". */
#define MOST_ARGS 64

struct event {
    struct tv_ft_line line;
    struct tv_out text;        /* all of its lines; those of `line` point into it */
    struct tv_out more;        /* the text of what follows, below */
    struct tv_bytes allocated; /* of a transaction: "transaction=1 data_size=2 ..."; NULL: none */
    struct tv_bytes duration;  /* of a line of function_graph: "1.3 us"; empty: none */
};

static bool is_mark(const struct event *event)
{
    return tv_ft_text_continues(event->line.event);
}

/* A line of function_graph as if it were one of an event without a name. */
static bool parse_call(struct event *event, struct tv_bytes text)
{
    struct tv_ft_graph_line call;
    if (!tv_ft_graph_parse(text, &call))
        return false;
    event->line = (struct tv_ft_line){
        .task = call.task,
        .tid = call.tid,
        .tgid = TV_FT_NO_ID,
        .cpu = call.cpu,
        .flags = call.flags,
        .time = call.time,
        .details = call.kind == TV_FT_GRAPH_EVENT ? call.name : call.text,
    };
    struct tv_bytes details = tv_ft_behind(call.name, ": ");
    if (call.kind == TV_FT_GRAPH_EVENT && details.data) {
        event->line.event =
            (struct tv_bytes){call.name.data, (size_t)(details.data - call.name.data) - 2};
        event->line.details = details;
    }
    event->duration = call.printed;
    return true;
}

/* What was lost stands where no event does. */
static bool parse_loss(struct event *event, struct tv_bytes text)
{
    uint32_t cpu;
    if (!tv_ft_text_loss(text, &cpu))
        return false;
    event->line =
        (struct tv_ft_line){.tid = TV_FT_NO_ID, .tgid = TV_FT_NO_ID, .cpu = cpu, .details = text};
    return true;
}

static bool parse_any(struct event *event, struct tv_bytes text)
{
    return tv_ft_line_parse(text, &event->line) || parse_call(event, text) ||
           parse_loss(event, text);
}

static enum tv_status read_line(struct event *event, struct tv_text_lines *lines, uint64_t offset,
                                struct tv_error *err)
{
    struct tv_text_line line;
    enum tv_status status = tv_text_lines_next(lines, &line, err);
    if (status != TV_OK)
        return status;
    if (!line.none)
        tv_out_bytes(&event->text, tv_text_line_bare(line.text));
    struct tv_bytes all = {event->text.buffer, event->text.length};
    if (line.none || !parse_any(event, all))
        return tv_fail(err, TV_ERR_SYNTAX, offset, "no event here any more: the file changed");
    return TV_OK;
}

/* What was printed may go on on the lines that follow. */
static enum tv_status read_more(struct event *event, struct tv_text_lines *lines,
                                struct tv_error *err)
{
    size_t details = (size_t)(event->line.details.data - event->text.buffer);
    size_t first = event->text.length;
    for (unsigned i = 0; i < MOST_LINES; i++) {
        struct tv_text_line line;
        struct tv_ft_line parsed;
        enum tv_status status = tv_text_lines_next(lines, &line, err);
        if (status != TV_OK)
            return status;
        struct tv_bytes bare = tv_text_line_bare(line.text);
        if (line.none || (bare.length > 0 && bare.data[0] == '#') ||
            tv_ft_line_parse(bare, &parsed))
            break;
        tv_out_char(&event->text, '\n');
        tv_out_bytes(&event->text, bare);
    }
    /* The text may have moved: its first line says what it said before. */
    size_t length = event->text.length;
    parse_any(event, (struct tv_bytes){event->text.buffer, first});
    event->line.details = (struct tv_bytes){event->text.buffer + details, length - details};
    return TV_OK;
}

/* Behind a transaction of binder comes what was allocated for it. */
static enum tv_status read_allocation(struct event *event, struct tv_text_lines *lines,
                                      struct tv_error *err)
{
    struct tv_bytes id = tv_ft_arg(event->line.details, "transaction");
    for (unsigned i = 0; id.length > 0 && i < MOST_LINES; i++) {
        struct tv_text_line line;
        struct tv_ft_line parsed;
        enum tv_status status = tv_text_lines_next(lines, &line, err);
        if (status != TV_OK || line.none)
            return status;
        if (!tv_ft_line_parse(tv_text_line_bare(line.text), &parsed) ||
            !tv_bytes_equal(parsed.event, TV_BYTES("binder_transaction_alloc_buf")) ||
            !tv_bytes_equal(tv_ft_arg(parsed.details, "transaction"), id))
            continue;
        tv_out_bytes(&event->more, parsed.details);
        event->allocated = (struct tv_bytes){event->more.buffer, event->more.length};
        return TV_OK;
    }
    return TV_OK;
}

static enum tv_status read_event(struct event *event, struct tv_source *source, uint64_t offset,
                                 struct tv_error *err)
{
    struct tv_text_lines lines;
    tv_text_lines_init(&lines, source, offset, tv_source_size(source));
    enum tv_status status = read_line(event, &lines, offset, err);
    if (status == TV_OK && tv_ft_text_continues(event->line.event))
        status = read_more(event, &lines, err);
    else if (status == TV_OK && tv_bytes_equal(event->line.event, TV_BYTES("binder_transaction")))
        status = read_allocation(event, &lines, err);
    tv_text_lines_release(&lines);
    return status;
}

/* Arguments that were written: the first of a key stands. */
struct args {
    struct tv_out *out;
    struct tv_bytes keys[MOST_ARGS];
    size_t count;
};

static void put_pair(struct args *args, struct tv_bytes key, struct tv_bytes value)
{
    int64_t number;
    for (size_t i = 0; i < args->count; i++)
        if (tv_bytes_equal(args->keys[i], key))
            return;
    if (args->count == MOST_ARGS)
        return;
    if (args->count > 0)
        tv_out_char(args->out, ',');
    args->keys[args->count++] = key;
    tv_out_json(args->out, key);
    tv_out_char(args->out, ':');
    bool plain = tv_ft_number(value, &number) && value.length < 16 &&
                 (value.data[0] != '0' || value.length == 1);
    if (plain)
        tv_out_bytes(args->out, value);
    else
        tv_out_json(args->out, value);
}

/* "key=value;key=value" */
static void put_chrome_args(struct args *args, struct tv_bytes text)
{
    struct tv_bytes pair, key;
    while (text.length > 0) {
        tv_bytes_split(&text, ';', &pair);
        if (tv_bytes_split(&pair, '=', &key))
            put_pair(args, key, pair);
    }
}

static void put_argument(void *context, struct tv_bytes key, struct tv_bytes value)
{
    put_pair(context, key, value);
}

static void put_event_args(struct args *args, const struct event *event)
{
    struct tv_ft_mark mark = {.phase = 0};
    struct tv_ft_put put = {put_argument, args};
    if (is_mark(event))
        mark = tv_ft_mark_of_event(event->line.event, event->line.details);
    if (mark.phase == 0 && is_mark(event))
        tv_ft_put_said(mark.name, &put);
    if (mark.phase == 0)
        tv_ft_put_details(event->line.event, event->line.details, &put);
    if (mark.args.data)
        put_chrome_args(args, mark.args);
    if (mark.track.data)
        put_pair(args, TV_BYTES("track"), mark.track);
    if (event->allocated.data)
        tv_ft_put_details(event->line.event, event->allocated, &put);
    if (event->duration.length > 0)
        put_pair(args, TV_BYTES("duration"), event->duration);
}

/* The transaction that ends a "binder reply": that of its beginning has the name already. */
static void put_answer(struct args *args, const struct event *event)
{
    struct tv_bytes id = tv_ft_arg(event->line.details, "transaction");
    if (tv_bytes_equal(event->line.event, TV_BYTES("binder_transaction")) && id.length > 0)
        put_pair(args, TV_BYTES("answer"), id);
}

static void put_rest(struct tv_out *out, const struct tv_ft_line *line)
{
    tv_out_text(out, ",\"event\":");
    tv_out_json(out, line->event);
    tv_out_text(out, ",\"details\":");
    tv_out_json(out, line->details);
    if (line->buffer.length > 0) {
        tv_out_text(out, ",\"buffer\":");
        tv_out_json(out, line->buffer);
    }
    tv_out_text(out, ",\"task\":");
    tv_out_json(out, line->task);
    tv_out_format(out, ",\"cpu\":%u", line->cpu);
    if (line->flags.length > 0) {
        tv_out_text(out, ",\"flags\":");
        tv_out_json(out, line->flags);
    }
}

enum tv_status tv_ft_describe(const struct tv_trace *trace, uint32_t input, uint64_t offset,
                              uint64_t end_offset, struct tv_out *out, struct tv_error *err)
{
    struct tv_source *source = trace->head->inputs[input].source;
    struct event first = {0}, last = {0};
    struct args args = {.out = out};
    bool ended = end_offset != TV_NO_OFFSET;
    tv_out_init_memory(&first.text);
    tv_out_init_memory(&last.text);
    tv_out_init_memory(&first.more);
    tv_out_init_memory(&last.more);
    enum tv_status status = read_event(&first, source, offset, err);
    if (status == TV_OK && ended)
        status = read_event(&last, source, end_offset, err);
    if (status == TV_OK) {
        tv_out_text(out, "{\"args\":{");
        /* The end of a program's mark tells more than its beginning; else the beginning does. */
        if (ended && is_mark(&last))
            put_event_args(&args, &last);
        put_event_args(&args, &first);
        if (ended && !is_mark(&last)) {
            put_answer(&args, &last);
            put_event_args(&args, &last);
        }
        tv_out_char(out, '}');
        put_rest(out, &first.line);
        tv_out_char(out, '}');
    }
    tv_out_release(&first.text);
    tv_out_release(&last.text);
    tv_out_release(&first.more);
    tv_out_release(&last.more);
    return status;
}
