/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump_events.c - events of Trace Event files on a line each.
 */
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "readers/json/json.h"
#include "readers/trace_event/records.h"
#include "writers/dump_records.h"

#define ID_WIDTH 7
#define TIME_WIDTH 16
#define DURATION_WIDTH 12

/* Whether a word means something else: a value of JSON, or a heading. */
static bool is_taken(struct tv_bytes word)
{
    return tv_bytes_equal(word, TV_BYTES("true")) || tv_bytes_equal(word, TV_BYTES("false")) ||
           tv_bytes_equal(word, TV_BYTES("null")) || tv_bytes_equal(word, TV_BYTES("FORMAT:"));
}

/* Whether a string's text can stand without its quotes, and be taken for nothing else. */
static bool is_word(struct tv_bytes text)
{
    if (text.length == 0 || (text.data[0] >= '0' && text.data[0] <= '9') ||
        strchr("-#[{|", text.data[0] ? text.data[0] : ' '))
        return false;
    for (size_t i = 0; i < text.length; i++)
        if (text.data[i] <= ' ' || text.data[i] >= 0x7f || text.data[i] == '"' ||
            text.data[i] == '\\')
            return false;
    return text.length == 1 || !is_taken(text);
}

/* The value as compact JSON; *cut: not all of it. */
static void write_value(struct tv_out *out, struct tv_bytes raw, bool *cut)
{
    unsigned faults;
    tv_json_compact(raw, out, &faults);
    *cut = *cut || (faults & TV_JSON_FAULT_DEPTH);
}

/* The same whose strings hold "\u0020" for blanks, so that columns can be counted.  Valid until the
 * next call. */
static struct tv_bytes write_cell(struct tv_dump_records *dump, struct tv_bytes raw, bool *cut)
{
    struct tv_out *cell = &dump->cell;
    cell->length = 0;
    write_value(cell, raw, cut);
    size_t written = cell->length;
    for (size_t i = 0; i < written; i++)
        if (cell->buffer[i] == ' ')
            tv_out_text(cell, "\\u0020");
        else
            tv_out_char(cell, (char)cell->buffer[i]);
    return (struct tv_bytes){cell->buffer + written, cell->length - written};
}

/* The text of a string that is a plain word, or what was given. */
static struct tv_bytes unquoted(struct tv_bytes json)
{
    struct tv_bytes text = {json.data + 1, json.length - 2};
    return json.length > 2 && json.data[0] == '"' && is_word(text) ? text : json;
}

/* What stands in a column; `bare`: a word without its quotes. */
static struct tv_bytes cell_of(struct tv_dump_records *dump, struct tv_bytes raw, bool bare,
                               bool *cut)
{
    if (raw.length == 0)
        return TV_BYTES("-");
    if (tv_json_number_length(raw) == raw.length)
        return raw;
    struct tv_bytes cell = bare ? unquoted(raw) : raw;
    if (cell.length != raw.length)
        return cell;
    cell = write_cell(dump, raw, cut);
    return bare ? unquoted(cell) : cell;
}

/* A key is a string, also where the file has it without quotes. */
static void write_key(struct tv_out *out, struct tv_bytes key)
{
    if (key.length > 0 && tv_te_is_string(key))
        tv_json_compact(key, out, NULL);
    else
        tv_out_json(out, key);
    tv_out_char(out, ':');
}

/* Whether the value stands in a column: of several under one key the last does. */
static bool has_column(const struct tv_te_fields *fields, struct tv_bytes value)
{
    const uint8_t *at = value.data;
    return at == fields->ph.data || at == fields->pid.data || at == fields->tid.data ||
           at == fields->ts.data || at == fields->dur.data || at == fields->cat.data ||
           at == fields->name.data;
}

/* What has no column, in the order of the file; nothing when there is nothing. */
static void write_others(struct tv_dump_records *dump, struct tv_te_record *record)
{
    const uint8_t *at = record->text.data + 1, *end = record->text.data + record->text.length;
    struct tv_bytes key, value;
    bool any = false;
    while (tv_te_fields_next(record->fields, &at, end, &key, &value)) {
        if (has_column(record->fields, value))
            continue;
        tv_out_text(dump->out, any ? "," : "\t{");
        write_key(dump->out, key);
        write_value(dump->out, value, &record->cut);
        any = true;
    }
    if (any)
        tv_out_char(dump->out, '}');
}

static void list_columns(struct tv_dump_records *dump)
{
    if (!dump->listed)
        tv_out_text(dump->out, "Events (phase pid tid usecs dur category\tname\tother members):\n");
    dump->listed = true;
}

void tv_dump_event(struct tv_record_visitor *visitor, struct tv_te_record *record)
{
    struct tv_dump_records *dump = (struct tv_dump_records *)visitor;
    const struct tv_te_fields *fields = record->fields;
    struct tv_out *out = dump->out;
    if (dump->mute)
        return;
    list_columns(dump);
    tv_dump_column(dump, 1, cell_of(dump, fields->ph, true, &record->cut));
    tv_dump_column(dump, ID_WIDTH, cell_of(dump, fields->pid, false, &record->cut));
    tv_dump_column(dump, ID_WIDTH, cell_of(dump, fields->tid, false, &record->cut));
    tv_dump_column(dump, TIME_WIDTH, cell_of(dump, fields->ts, false, &record->cut));
    tv_dump_column(dump, DURATION_WIDTH, cell_of(dump, fields->dur, false, &record->cut));
    tv_out_bytes(out, cell_of(dump, fields->cat, true, &record->cut));
    tv_out_char(out, '\t');
    if (fields->name.length == 0)
        tv_out_char(out, '-');
    else
        write_value(out, fields->name, &record->cut);
    write_others(dump, record);
    tv_out_char(out, '\n');
}

void tv_dump_beside(struct tv_record_visitor *visitor, struct tv_te_beside *beside)
{
    struct tv_dump_records *dump = (struct tv_dump_records *)visitor;
    struct tv_out *out = dump->out;
    if (dump->mute)
        return;
    if (!beside->text.data) {
        tv_out_text(out, "# ");
        write_key(out, beside->key);
        tv_out_format(out, " %" PRIu64 " bytes at byte %" PRIu64 ", too long to be printed\n",
                      beside->length, beside->offset);
        return;
    }
    tv_out_char(out, '{');
    write_key(out, beside->key);
    write_value(out, beside->text, &beside->cut);
    tv_out_text(out, "}\n");
}
