/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/ftrace/records.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/ftrace/ftrace.h"
#include "readers/teller.h"
#include "readers/text_lines.h"

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

struct telling {
    struct tv_teller *teller;
    struct tv_trace_info *head;
    struct tv_input *input;
    struct tv_ft_owners owners;
    struct tv_diagnostics
        early;      /* before the first event, as text may stand in front of "TRACE:" */
    bool any;       /* there was an event */
    bool continues; /* lines that are no event belong to the last event */
};

static void begin_events(struct telling *telling)
{
    if (!telling->any)
        tv_diagnostics_merge(&telling->head->diagnostics, &telling->early);
    telling->any = true;
}

static void warn_bad(struct telling *telling, uint64_t offset)
{
    struct tv_diagnostics *to = telling->any ? &telling->head->diagnostics : &telling->early;
    tv_diagnostics_add(to, TV_DIAGNOSTIC_BAD_LINE, offset);
}

static void judge_event(struct telling *telling, const struct tv_ft_line *event)
{
    begin_events(telling);
    telling->input->records++;
    telling->continues = tv_ft_text_continues(event->event);
}

static void judge_other(struct telling *telling, const struct tv_ft_record *record)
{
    switch (record->other.kind) {
    case TV_FT_OTHER_CALL:
        begin_events(telling);
        telling->input->records++;
        telling->continues = false;
        break;
    case TV_FT_OTHER_LOSS:
        tv_diagnostics_add(&telling->head->diagnostics, TV_DIAGNOSTIC_EVENTS_LOST, record->offset);
        break;
    case TV_FT_OTHER_STRAY:
        if (!telling->continues)
            warn_bad(telling, record->offset);
        break;
    case TV_FT_OTHER_HEADING:
        /* What adb said stands before it. */
        if (!telling->any && tv_bytes_equal(record->text, TV_BYTES("TRACE:")))
            tv_diagnostics_clear(&telling->early);
        break;
    case TV_FT_OTHER_COMMENT:
    case TV_FT_OTHER_SYMBOL:
        break;
    }
}

static void tell_line(struct telling *telling, const struct tv_text_line *line)
{
    struct tv_ft_record record;
    record.text = tv_text_line_bare(line->text);
    record.offset = line->offset;
    record.too_long = line->too_long;
    if (line->offset == 0 && tv_bytes_starts_with(record.text, TV_BYTES(BYTE_ORDER_MARK)))
        record.text = (struct tv_bytes){record.text.data + 3, record.text.length - 3};
    bool cut = tv_ft_text_is_cut(line);
    record.is_event = !cut && tv_ft_line_parse_next(&telling->owners, record.text, &record.event);
    if (record.too_long) {
        warn_bad(telling, line->offset);
    } else if (cut) {
        record.other.kind = TV_FT_OTHER_STRAY;
        tv_diagnostics_add(&telling->head->diagnostics, TV_DIAGNOSTIC_TRUNCATED, line->offset);
    } else if (record.is_event) {
        judge_event(telling, &record.event);
    } else {
        tv_ft_text_other(record.text, &record.other);
        judge_other(telling, &record);
    }
    if (record.text.length > 0 || record.too_long)
        telling->teller->take_line(telling->teller, &record);
}

static enum tv_status tell_lines(struct telling *telling, struct tv_source *source,
                                 struct tv_error *err)
{
    struct tv_text_lines lines;
    struct tv_text_line line;
    enum tv_status status;
    tv_text_lines_init(&lines, source, 0, UINT64_MAX);
    while ((status = tv_text_lines_next(&lines, &line, err)) == TV_OK && !line.none)
        tell_line(telling, &line);
    tv_text_lines_release(&lines);
    return status;
}

enum tv_status tv_ft_records_tell(struct tv_source *source, struct tv_trace_info *head,
                                  struct tv_teller *teller, struct tv_error *err)
{
    struct telling *telling = tv_alloc(1, sizeof *telling);
    uint32_t input = tv_trace_info_add_input(head, tv_source_name(source), tv_reader_ftrace.format);
    telling->teller = teller;
    telling->head = head;
    telling->input = &head->inputs[input];
    telling->input->callless = true; /* lines are not made to calls */
    telling->early.input = input;
    teller->begin(teller, head, input);
    enum tv_status status = tell_lines(telling, source, err);
    begin_events(telling);
    tv_diagnostics_clear(&telling->early);
    tv_free(telling);
    return status;
}
