/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump_lines.c - lines of ftrace text, those of events in columns.
 */
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "readers/ftrace/ftrace.h"
#include "writers/dump_records.h"
#include "writers/names.h"

#define ID_WIDTH 7
#define CPU_WIDTH 5
#define FLAGS_WIDTH 5
#define TIME_WIDTH 16

#define NS_PER_S 1000000000

/* A number in a column; where there is none "-". */
static void write_number(struct tv_dump_records *dump, size_t width, int64_t number)
{
    if (number < 0)
        tv_dump_column(dump, width, TV_BYTES("-"));
    else
        tv_names_number_column(dump->out, (int)width, (uint64_t)number);
    if (number >= 0)
        tv_out_char(dump->out, ' ');
}

/* One that touches the time is known by its place alone, and may be any byte: '?' for what would
 * end the column or the line, and for what is not ASCII. */
static void write_flags(struct tv_dump_records *dump, struct tv_bytes flags)
{
    uint8_t shown[FLAGS_WIDTH * 2];
    size_t length = flags.length < sizeof shown ? flags.length : sizeof shown;
    for (size_t i = 0; i < length; i++)
        shown[i] = flags.data[i] <= ' ' || flags.data[i] >= 0x7f ? '?' : flags.data[i];
    if (length == 0)
        tv_dump_column(dump, FLAGS_WIDTH, TV_BYTES("-"));
    else
        tv_dump_column(dump, FLAGS_WIDTH, (struct tv_bytes){shown, length});
}

/* "[003]" */
static void write_cpu(struct tv_dump_records *dump, uint32_t cpu)
{
    struct tv_out *out = dump->out;
    tv_out_char(out, '[');
    for (uint32_t most = 100; most > 1 && cpu < most; most /= 10)
        tv_out_char(out, '0');
    tv_out_u64(out, cpu);
    tv_out_text(out, "] ");
}

static void write_seconds(struct tv_dump_records *dump, tv_ns time)
{
    tv_names_time_column(dump->out, TIME_WIDTH, time, NS_PER_S, time % 1000 == 0 ? 6 : 9);
    tv_out_char(dump->out, ' ');
}

static void write_time(struct tv_dump_records *dump, const struct tv_ft_line *event)
{
    if (event->clock == TV_FT_CLOCK_SECONDS) {
        write_seconds(dump, event->time);
    } else if (event->clock == TV_FT_CLOCK_TICKS) {
        write_number(dump, TIME_WIDTH, event->time);
    } else {
        tv_names_number_column(dump->out, TIME_WIDTH - 2, (uint64_t)event->time / 1000);
        tv_out_text(dump->out, "us ");
    }
}

/* Tabs end the columns, but not the last one.  No other control character is printed. */
static void write_line(struct tv_out *out, struct tv_bytes text, bool last)
{
    struct tv_bytes part = text;
    while (last && tv_bytes_split(&text, '\t', &part)) {
        tv_names_line(out, part);
        tv_out_char(out, '\t');
    }
    tv_names_line(out, part);
}

static void write_texts(struct tv_dump_records *dump, struct tv_bytes buffer, struct tv_bytes task,
                        struct tv_bytes details)
{
    struct tv_out *out = dump->out;
    tv_out_char(out, '\t');
    if (buffer.length > 0) {
        write_line(out, buffer, false);
        tv_out_text(out, ": ");
    }
    write_line(out, task.length > 0 ? task : TV_BYTES("-"), false);
    if (details.length > 0) {
        tv_out_char(out, '\t');
        write_line(out, details, true);
    }
    tv_out_char(out, '\n');
}

static void write_event(struct tv_dump_records *dump, const struct tv_ft_line *event)
{
    write_number(dump, ID_WIDTH, event->tid);
    write_number(dump, ID_WIDTH, event->tgid);
    write_cpu(dump, event->cpu);
    write_flags(dump, event->flags);
    write_time(dump, event);
    write_line(dump->out, event->event.length > 0 ? event->event : TV_BYTES("function"), false);
    write_texts(dump, event->buffer, event->task, event->details);
}

/* ---- The function_graph tracer ---- */

static const char *const call_kinds[] = {
    [TV_FT_GRAPH_ENTRY] = "entry",         [TV_FT_GRAPH_EXIT] = "exit",
    [TV_FT_GRAPH_LEAF] = "call",           [TV_FT_GRAPH_SWITCH] = "switch",
    [TV_FT_GRAPH_INTERRUPT] = "interrupt", [TV_FT_GRAPH_INTERRUPT_END] = "interrupt_end",
    [TV_FT_GRAPH_EVENT] = "comment",
};

/* The last column with the blanks in front, which show how deep it is; where there is none, all of
 * the line. */
static struct tv_bytes last_column(const struct tv_ft_graph_line *call, struct tv_bytes line)
{
    if (call->kind == TV_FT_GRAPH_SWITCH || call->text.length == 0)
        return line;
    size_t start = (size_t)(call->text.data - line.data);
    while (start > 0 && line.data[start - 1] == ' ')
        start--;
    return (struct tv_bytes){line.data + start, line.length - start};
}

static void write_call(struct tv_dump_records *dump, const struct tv_ft_graph_line *call,
                       struct tv_bytes line)
{
    struct tv_out *out = dump->out;
    write_number(dump, ID_WIDTH, call->task.length > 0 ? call->tid : TV_FT_NO_ID);
    tv_dump_column(dump, ID_WIDTH, TV_BYTES("-"));
    if (call->has_cpu)
        write_cpu(dump, call->cpu);
    else
        tv_dump_column(dump, CPU_WIDTH, TV_BYTES("-"));
    write_flags(dump, call->flags);
    if (call->has_time)
        write_seconds(dump, call->time);
    else
        tv_dump_column(dump, TIME_WIDTH, TV_BYTES("-"));
    tv_out_text(out, call_kinds[call->kind]);
    tv_out_char(out, '\t');
    write_line(out, call->task.length > 0 ? call->task : TV_BYTES("-"), false);
    tv_out_char(out, '\t');
    if (call->has_duration) {
        write_line(out, call->printed, false);
        tv_out_text(out, " |");
    }
    write_line(out, last_column(call, line), true);
    tv_out_char(out, '\n');
}

static void list_columns(struct tv_dump_records *dump)
{
    if (!dump->listed)
        tv_out_text(dump->out, "Lines (tid tgid cpu flags seconds event\ttask\tdetails):\n");
    dump->listed = true;
}

/* What is no event: comments as they are. */
static void write_other(struct tv_dump_records *dump, const struct tv_ft_record *record)
{
    struct tv_out *out = dump->out;
    if (record->too_long) {
        tv_out_format(out, "# the line at byte %" PRIu64 " is too long to be printed\n",
                      record->offset);
        return;
    }
    if (record->other.kind != TV_FT_OTHER_COMMENT)
        tv_out_text(out, "| ");
    write_line(out, record->text, true);
    tv_out_char(out, '\n');
}

void tv_dump_line(struct tv_record_visitor *visitor, const struct tv_ft_record *record)
{
    struct tv_dump_records *dump = (struct tv_dump_records *)visitor;
    bool call = !record->is_event && !record->too_long && record->other.kind == TV_FT_OTHER_CALL;
    if (dump->mute)
        return;
    if (record->is_event || call)
        list_columns(dump);
    if (record->is_event)
        write_event(dump, &record->event);
    else if (call)
        write_call(dump, &record->other.call, record->text);
    else
        write_other(dump, record);
}
