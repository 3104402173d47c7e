/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump_records.c - records in the order of the file: a record visitor with one part for Trace
 * Event files and one for ftrace text.
 *
 *     X 12 7 1.000 5.000 cat<TAB>"name"<TAB>{"args":{"a":1}}
 *
 * One record is one line that awk and grep can take apart: blanks separate the columns, tabs the
 * category, the name and the rest.  So a value with blanks has "\u0020" in their place, and a
 * string that could be mistaken for a number, for JSON or for nothing keeps its quotes.
 *
 * Records are written as they are, even if they make no sense: dump is for finding out why a file
 * is not shown as expected.
 */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "readers/ftrace/ftrace.h"
#include "readers/json/json.h"
#include "readers/perfetto/perfetto.h"
#include "readers/trace_event/trace_event.h"
#include "writers/dump/dump.h"
#include "writers/text/names.h"

/* Write right-aligned text and a blank after it. */
static void dump_records_column(struct tv_dump_records *dump, size_t width, struct tv_bytes text)
{
    struct tv_out *out = dump->out;
    size_t blanks = text.length < width ? width - text.length : 0;
    memset(tv_out_room(out, width), ' ', blanks);
    out->length += blanks;
    tv_out_bytes(out, text);
    tv_out_char(out, ' ');
}

/*
 * ---- Events of Trace Event files ----
 */

#define ID_WIDTH 7
#define TIME_WIDTH 16
#define DURATION_WIDTH 12

/* Return true when a plain word would mean something else: a value of JSON, or a heading. */
static bool dump_is_reserved_word(struct tv_bytes word)
{
    return tv_bytes_equal(word, TV_BYTES("true")) || tv_bytes_equal(word, TV_BYTES("false")) ||
           tv_bytes_equal(word, TV_BYTES("null")) || tv_bytes_equal(word, TV_BYTES("FORMAT:"));
}

/* Return true when a string can be written without quotes and cannot be mistaken for anything
 * else. */
static bool dump_is_word(struct tv_bytes text)
{
    if (text.length == 0 || (text.data[0] >= '0' && text.data[0] <= '9') ||
        strchr("-#[{|", text.data[0] ? text.data[0] : ' '))
        return false;
    for (size_t i = 0; i < text.length; i++)
        if (text.data[i] <= ' ' || text.data[i] >= 0x7f || text.data[i] == '"' ||
            text.data[i] == '\\')
            return false;
    return text.length == 1 || !dump_is_reserved_word(text);
}

/* Write the value as compact JSON; set *cut when it was truncated. */
static void dump_write_json(struct tv_out *out, struct tv_bytes raw, bool *cut)
{
    unsigned faults;
    tv_json_compact(raw, out, &faults);
    *cut = *cut || (faults & TV_JSON_FAULT_DEPTH);
}

/* As above, with "\u0020" instead of blanks inside strings, so that blanks separate columns
 * only. Valid until the next call. */
static struct tv_bytes dump_escape_cell(struct tv_dump_records *dump, struct tv_bytes raw,
                                        bool *cut)
{
    struct tv_out *cell = &dump->cell;
    cell->length = 0;
    dump_write_json(cell, raw, cut);
    size_t written = cell->length;
    for (size_t i = 0; i < written; i++)
        if (cell->buffer[i] == ' ')
            tv_out_text(cell, "\\u0020");
        else
            tv_out_char(cell, (char)cell->buffer[i]);
    return (struct tv_bytes){cell->buffer + written, cell->length - written};
}

/* Return the text of a string that is a plain word, or the JSON unchanged. */
static struct tv_bytes dump_unquoted_word(struct tv_bytes json)
{
    struct tv_bytes text = {json.data + 1, json.length - 2};
    return json.length > 2 && json.data[0] == '"' && dump_is_word(text) ? text : json;
}

/* Return a value's text for a column. `bare`: plain words lose their quotes. */
static struct tv_bytes dump_cell_text(struct tv_dump_records *dump, struct tv_bytes raw, bool bare,
                                      bool *cut)
{
    if (raw.length == 0)
        return TV_BYTES("-");
    if (tv_json_number_length(raw) == raw.length)
        return raw;
    struct tv_bytes cell = bare ? dump_unquoted_word(raw) : raw;
    if (cell.length != raw.length)
        return cell;
    cell = dump_escape_cell(dump, raw, cut);
    return bare ? dump_unquoted_word(cell) : cell;
}

/* Write a key as a string, even when the file has it without quotes. */
static void dump_write_key(struct tv_out *out, struct tv_bytes key)
{
    if (key.length > 0 && tv_te_is_string(key))
        tv_json_compact(key, out, NULL);
    else
        tv_out_json(out, key);
    tv_out_char(out, ':');
}

/* Return true when a column shows the value. When a key occurs several times, the column shows
 * its last value. */
static bool dump_has_column(const struct tv_te_fields *fields, struct tv_bytes value)
{
    const uint8_t *at = value.data;
    return at == fields->ph.data || at == fields->pid.data || at == fields->tid.data ||
           at == fields->ts.data || at == fields->dur.data || at == fields->cat.data ||
           at == fields->name.data;
}

/* Write the members without a column, in the order of the file; nothing when there are none. */
static void dump_write_other_members(struct tv_dump_records *dump, struct tv_te_record *record)
{
    const uint8_t *at = record->text.data + 1, *end = record->text.data + record->text.length;
    struct tv_bytes key, value;
    bool any = false;
    while (tv_te_fields_next(record->fields, &at, end, &key, &value)) {
        if (dump_has_column(record->fields, value))
            continue;
        tv_out_text(dump->out, any ? "," : "\t{");
        dump_write_key(dump->out, key);
        dump_write_json(dump->out, value, &record->cut);
        any = true;
    }
    if (any)
        tv_out_char(dump->out, '}');
}

/* Write the names of the columns before the first event. */
static void dump_list_event_columns(struct tv_dump_records *dump)
{
    if (!dump->listed)
        tv_out_text(dump->out, "Events (phase pid tid usecs dur category\tname\tother members):\n");
    dump->listed = true;
}

/* Write an event as one line; members without a column follow as JSON. */
static void dump_records_event(struct tv_record_visitor *visitor, struct tv_te_record *record)
{
    struct tv_dump_records *dump = (struct tv_dump_records *)visitor;
    const struct tv_te_fields *fields = record->fields;
    struct tv_out *out = dump->out;
    if (dump->mute)
        return;
    dump_list_event_columns(dump);
    dump_records_column(dump, 1, dump_cell_text(dump, fields->ph, true, &record->cut));
    dump_records_column(dump, ID_WIDTH, dump_cell_text(dump, fields->pid, false, &record->cut));
    dump_records_column(dump, ID_WIDTH, dump_cell_text(dump, fields->tid, false, &record->cut));
    dump_records_column(dump, TIME_WIDTH, dump_cell_text(dump, fields->ts, false, &record->cut));
    dump_records_column(dump, DURATION_WIDTH,
                        dump_cell_text(dump, fields->dur, false, &record->cut));
    tv_out_bytes(out, dump_cell_text(dump, fields->cat, true, &record->cut));
    tv_out_char(out, '\t');
    if (fields->name.length == 0)
        tv_out_char(out, '-');
    else
        dump_write_json(out, fields->name, &record->cut);
    dump_write_other_members(dump, record);
    tv_out_char(out, '\n');
}

/* Write a member beside the events, or say how long it is. */
static void dump_records_member(struct tv_record_visitor *visitor,
                                struct tv_te_member_record *beside)
{
    struct tv_dump_records *dump = (struct tv_dump_records *)visitor;
    struct tv_out *out = dump->out;
    if (dump->mute)
        return;
    if (!beside->text.data) {
        tv_out_text(out, "# ");
        dump_write_key(out, beside->key);
        tv_out_format(out, " %" PRIu64 " bytes at byte %" PRIu64 ", too long to be printed\n",
                      beside->length, beside->offset);
        return;
    }
    tv_out_char(out, '{');
    dump_write_key(out, beside->key);
    dump_write_json(out, beside->text, &beside->cut);
    tv_out_text(out, "}\n");
}

/*
 * ---- Lines of ftrace text ----
 */

#define ID_WIDTH 7
#define CPU_WIDTH 5
#define FLAGS_WIDTH 5
#define TIME_WIDTH 16

#define NS_PER_S 1000000000

/* Write a number in a column; "-" for a negative one, which means that it is missing. */
static void dump_number_column(struct tv_dump_records *dump, size_t width, int64_t number)
{
    if (number < 0)
        dump_records_column(dump, width, TV_BYTES("-"));
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
        dump_records_column(dump, FLAGS_WIDTH, TV_BYTES("-"));
    else
        dump_records_column(dump, FLAGS_WIDTH, (struct tv_bytes){shown, length});
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
    assert(call->text.length == 0 || call->text.data >= line.data);
    if (call->kind == TV_FT_GRAPH_SWITCH || call->text.length == 0)
        return line;
    size_t start = (size_t)(call->text.data - line.data);
    while (start > 0 && line.data[start - 1] == ' ')
        start--;
    return (struct tv_bytes){line.data + start, line.length - start};
}

/* Print a call of a kernel function in the columns of events; a column that the line lacks is "-".
 */
static void dump_write_graph_call(struct tv_dump_records *dump, const struct tv_ft_graph_line *call,
                                  struct tv_bytes line)
{
    struct tv_out *out = dump->out;
    dump_number_column(dump, ID_WIDTH, call->task.length > 0 ? call->tid : TV_FT_NO_ID);
    dump_records_column(dump, ID_WIDTH, TV_BYTES("-"));
    if (call->has_cpu)
        dump_cpu_column(dump, call->cpu);
    else
        dump_records_column(dump, CPU_WIDTH, TV_BYTES("-"));
    dump_flags_column(dump, call->flags);
    if (call->has_time)
        dump_seconds_column(dump, call->time);
    else
        dump_records_column(dump, TIME_WIDTH, TV_BYTES("-"));
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

/* Print a line of ftrace text: an event, a call of a kernel function, or a remark. */
static void dump_records_line(struct tv_record_visitor *visitor, const struct tv_ft_record *record)
{
    struct tv_dump_records *dump = (struct tv_dump_records *)visitor;
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

/* ---- Packets of Perfetto ---- */

/* Write the offset of a packet and all its fields by name, on one line. */
static void dump_records_packet(struct tv_record_visitor *visitor,
                                const struct tv_pf_record *record)
{
    struct tv_dump_records *dump = (struct tv_dump_records *)visitor;
    if (dump->mute)
        return;
    tv_out_format(dump->out, "%" PRIu64 "\t", record->offset);
    tv_pf_write_packet(dump->out, record->bytes);
    tv_out_char(dump->out, '\n');
}

/* ---- The visitor ---- */

static void dump_records_begin(struct tv_record_visitor *visitor, const struct tv_trace_info *head,
                               uint32_t input)
{
    struct tv_dump_records *dump = (struct tv_dump_records *)visitor;
    dump->listed = false;
    dump->mute = dump->start && !dump->start(head, dump->context);
    if (dump->mute)
        return;
    tv_out_text(dump->out, "FORMAT: ");
    tv_out_text(dump->out, head->inputs[input].format);
    tv_out_char(dump->out, '\n');
}

void tv_dump_records_init(struct tv_dump_records *dump, struct tv_out *out)
{
    *dump = (struct tv_dump_records){
        .visitor = {.begin = dump_records_begin,
                    .take_event = dump_records_event,
                    .take_member = dump_records_member,
                    .take_line = dump_records_line,
                    .take_packet = dump_records_packet},
        .out = out,
    };
    tv_out_init_memory(&dump->cell);
}

void tv_dump_records_release(struct tv_dump_records *dump)
{
    tv_out_release(&dump->cell);
}
