/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ---- Events of Trace Event files ----
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

/* The same, with "\u0020" instead of blanks inside strings, so that blanks separate columns
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

static void dump_list_event_columns(struct tv_dump_records *dump)
{
    if (!dump->listed)
        tv_out_text(dump->out, "Events (phase pid tid usecs dur category\tname\tother members):\n");
    dump->listed = true;
}

void tv_dump_event(struct tv_teller *teller, struct tv_te_record *record)
{
    struct tv_dump_records *dump = (struct tv_dump_records *)teller;
    const struct tv_te_fields *fields = record->fields;
    struct tv_out *out = dump->out;
    if (dump->mute)
        return;
    dump_list_event_columns(dump);
    tv_dump_column(dump, 1, dump_cell_text(dump, fields->ph, true, &record->cut));
    tv_dump_column(dump, ID_WIDTH, dump_cell_text(dump, fields->pid, false, &record->cut));
    tv_dump_column(dump, ID_WIDTH, dump_cell_text(dump, fields->tid, false, &record->cut));
    tv_dump_column(dump, TIME_WIDTH, dump_cell_text(dump, fields->ts, false, &record->cut));
    tv_dump_column(dump, DURATION_WIDTH, dump_cell_text(dump, fields->dur, false, &record->cut));
    tv_out_bytes(out, dump_cell_text(dump, fields->cat, true, &record->cut));
    tv_out_char(out, '\t');
    if (fields->name.length == 0)
        tv_out_char(out, '-');
    else
        dump_write_json(out, fields->name, &record->cut);
    dump_write_other_members(dump, record);
    tv_out_char(out, '\n');
}

void tv_dump_beside(struct tv_teller *teller, struct tv_te_beside *beside)
{
    struct tv_dump_records *dump = (struct tv_dump_records *)teller;
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
