/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ---- Lines of ftrace text ----
 */
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "readers/ftrace/records.h"
#include "writers/dump_records.h"
#include "writers/names.h"

#define ID_WIDTH 7
#define CPU_WIDTH 5
#define FLAGS_WIDTH 5
#define TIME_WIDTH 16

#define NS_PER_S 1000000000

/* Write a number in a column; "-" for a negative one, which means that it is missing. */
static void dump_number_column(struct tv_dump_records *dump, size_t width, int64_t number)
{
    if (number < 0)
        tv_dump_column(dump, width, TV_BYTES("-"));
    else
        tv_names_number_column(dump->out, (int)width, (uint64_t)number);
    if (number >= 0)
        tv_out_char(dump->out, ' ');
}

/* Write the flags. A flag is known by its position alone and may be any byte: '?' replaces bytes
 * that would end the column or the line, or are not ASCII. */
static void dump_flags_column(struct tv_dump_records *dump, struct tv_bytes flags)
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
static void dump_cpu_column(struct tv_dump_records *dump, uint32_t cpu)
{
    struct tv_out *out = dump->out;
    tv_out_char(out, '[');
    for (uint32_t most = 100; most > 1 && cpu < most; most /= 10)
        tv_out_char(out, '0');
    tv_out_u64(out, cpu);
    tv_out_text(out, "] ");
}

static void dump_seconds_column(struct tv_dump_records *dump, tv_ns time)
{
    tv_names_time_column(dump->out, TIME_WIDTH, time, NS_PER_S, time % 1000 == 0 ? 6 : 9);
    tv_out_char(dump->out, ' ');
}

static void dump_ftrace_time_column(struct tv_dump_records *dump, const struct tv_ft_line *event)
{
    if (event->clock == TV_FT_CLOCK_SECONDS) {
        dump_seconds_column(dump, event->time);
    } else if (event->clock == TV_FT_CLOCK_TICKS) {
        dump_number_column(dump, TIME_WIDTH, event->time);
    } else {
        tv_names_number_column(dump->out, TIME_WIDTH - 2, (uint64_t)event->time / 1000);
        tv_out_text(dump->out, "us ");
    }
}

/* Write text. Tabs separate columns, except in the last one; every other control character
 * becomes a blank. */
static void dump_write_plain_text(struct tv_out *out, struct tv_bytes text, bool last)
{
    struct tv_bytes part = text;
    while (last && tv_bytes_split(&text, '\t', &part)) {
        tv_names_line(out, part);
        tv_out_char(out, '\t');
    }
    tv_names_line(out, part);
}

static void dump_write_ftrace_texts(struct tv_dump_records *dump, struct tv_bytes buffer,
                                    struct tv_bytes task, struct tv_bytes details)
{
    struct tv_out *out = dump->out;
    tv_out_char(out, '\t');
    if (buffer.length > 0) {
        dump_write_plain_text(out, buffer, false);
        tv_out_text(out, ": ");
    }
    dump_write_plain_text(out, task.length > 0 ? task : TV_BYTES("-"), false);
    if (details.length > 0) {
        tv_out_char(out, '\t');
        dump_write_plain_text(out, details, true);
    }
    tv_out_char(out, '\n');
}

static void dump_write_ftrace_event(struct tv_dump_records *dump, const struct tv_ft_line *event)
{
    dump_number_column(dump, ID_WIDTH, event->tid);
    dump_number_column(dump, ID_WIDTH, event->tgid);
    dump_cpu_column(dump, event->cpu);
    dump_flags_column(dump, event->flags);
    dump_ftrace_time_column(dump, event);
    dump_write_plain_text(dump->out, event->event.length > 0 ? event->event : TV_BYTES("function"),
                          false);
    dump_write_ftrace_texts(dump, event->buffer, event->task, event->details);
}

/* ---- The function_graph tracer ---- */

static const char *const call_kinds[] = {
    [TV_FT_GRAPH_ENTRY] = "entry",         [TV_FT_GRAPH_EXIT] = "exit",
    [TV_FT_GRAPH_LEAF] = "call",           [TV_FT_GRAPH_SWITCH] = "switch",
    [TV_FT_GRAPH_INTERRUPT] = "interrupt", [TV_FT_GRAPH_INTERRUPT_END] = "interrupt_end",
    [TV_FT_GRAPH_EVENT] = "comment",
};

/* Return the last column with the blanks in front of it, which show the depth; the whole line
 * when there is no such column. */
static struct tv_bytes dump_last_graph_column(const struct tv_ft_graph_line *call,
                                              struct tv_bytes line)
{
    if (call->kind == TV_FT_GRAPH_SWITCH || call->text.length == 0)
        return line;
    size_t start = (size_t)(call->text.data - line.data);
    while (start > 0 && line.data[start - 1] == ' ')
        start--;
    return (struct tv_bytes){line.data + start, line.length - start};
}

static void dump_write_graph_call(struct tv_dump_records *dump, const struct tv_ft_graph_line *call,
                                  struct tv_bytes line)
{
    struct tv_out *out = dump->out;
    dump_number_column(dump, ID_WIDTH, call->task.length > 0 ? call->tid : TV_FT_NO_ID);
    tv_dump_column(dump, ID_WIDTH, TV_BYTES("-"));
    if (call->has_cpu)
        dump_cpu_column(dump, call->cpu);
    else
        tv_dump_column(dump, CPU_WIDTH, TV_BYTES("-"));
    dump_flags_column(dump, call->flags);
    if (call->has_time)
        dump_seconds_column(dump, call->time);
    else
        tv_dump_column(dump, TIME_WIDTH, TV_BYTES("-"));
    tv_out_text(out, call_kinds[call->kind]);
    tv_out_char(out, '\t');
    dump_write_plain_text(out, call->task.length > 0 ? call->task : TV_BYTES("-"), false);
    tv_out_char(out, '\t');
    if (call->has_duration) {
        dump_write_plain_text(out, call->printed, false);
        tv_out_text(out, " |");
    }
    dump_write_plain_text(out, dump_last_graph_column(call, line), true);
    tv_out_char(out, '\n');
}

static void dump_list_ftrace_columns(struct tv_dump_records *dump)
{
    if (!dump->listed)
        tv_out_text(dump->out, "Lines (tid tgid cpu flags seconds event\ttask\tdetails):\n");
    dump->listed = true;
}

/* Write a line that is not an event. Comments stay as they are. */
static void dump_write_ftrace_remark(struct tv_dump_records *dump,
                                     const struct tv_ft_record *record)
{
    struct tv_out *out = dump->out;
    if (record->too_long) {
        tv_out_format(out, "# the line at byte %" PRIu64 " is too long to be printed\n",
                      record->offset);
        return;
    }
    if (record->other.kind != TV_FT_OTHER_COMMENT)
        tv_out_text(out, "| ");
    dump_write_plain_text(out, record->text, true);
    tv_out_char(out, '\n');
}

void tv_dump_line(struct tv_teller *teller, const struct tv_ft_record *record)
{
    struct tv_dump_records *dump = (struct tv_dump_records *)teller;
    bool call = !record->is_event && !record->too_long && record->other.kind == TV_FT_OTHER_CALL;
    if (dump->mute)
        return;
    if (record->is_event || call)
        dump_list_ftrace_columns(dump);
    if (record->is_event)
        dump_write_ftrace_event(dump, &record->event);
    else if (call)
        dump_write_graph_call(dump, &record->other.call, record->text);
    else
        dump_write_ftrace_remark(dump, record);
}
