/* SPDX-License-Identifier: Apache-2.0 */
/*
 * passes.c - serial passes over the text of a file that build no trace.
 *
 *     records   hands each event and member to a visitor, as it is in the file
 *     check     counts what is not strict JSON, and arguments that hide others
 *
 * Reading a trace skips what it does not need: arguments stay text until somebody asks for them. So
 * a mistake in them shows only here, in a command whose purpose is to find it.
 *
 *     B {"args":{"a":1,"b":2}} ... E {"args":{"b":3}}     the slice shows b = 3; b = 2 is hidden
 */
#include <assert.h>

#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"
#include "readers/json/json.h"
#include "readers/reader.h"
#include "readers/trace_event/container.h"
#include "readers/trace_event/join/join.h"
#include "readers/trace_event/trace_event.h"

struct te_record_visit {
    struct tv_record_visitor *visitor;
    struct tv_trace_info *head;
    struct tv_window window; /* of the members beside the events */
    uint32_t input;
    bool begun;
};

/* Call the visitor only when the file is known to have events. */
static void te_record_visit_begin(struct te_record_visit *visit)
{
    if (!visit->begun)
        visit->visitor->begin(visit->visitor, visit->head, visit->input);
    visit->begun = true;
}

/* Count what the visitor could not write because it is nested too deep. */
static void te_record_visit_warn_cut(struct te_record_visit *visit, bool cut, uint64_t offset)
{
    if (cut)
        tv_diagnostics_add(&visit->head->diagnostics, TV_DIAGNOSTIC_TOO_NESTED, offset);
}

/* Hand an event to the visitor. */
static void te_record_visit_event(void *context, const struct tv_te_list_event *event)
{
    struct te_record_visit *visit = context;
    struct tv_te_record record = {event->fields, event->text, event->offset, false};
    te_record_visit_begin(visit);
    visit->visitor->take_event(visit->visitor, &record);
    te_record_visit_warn_cut(visit, record.cut, event->offset);
}

/* Read a member beside the events, unless it is too long, and hand it over. */
static enum tv_status te_record_visit_member(void *context, const struct tv_te_top_member *member,
                                             struct tv_error *err)
{
    struct te_record_visit *visit = context;
    struct tv_te_member_record record = {
        .key = {(const uint8_t *)member->key, member->key_length},
        .offset = member->value.offset,
        .length = member->value.length,
    };
    if (record.length <= TV_TE_LONGEST_MEMBER) {
        size_t length = (size_t)record.length;
        enum tv_status status =
            tv_window_at(&visit->window, record.offset, length, &record.text, err);
        if (status != TV_OK)
            return status;
        record.text.length = length < record.text.length ? length : record.text.length;
    }
    te_record_visit_begin(visit);
    visit->visitor->take_member(visit->visitor, &record);
    te_record_visit_warn_cut(visit, record.cut, record.offset);
    return TV_OK;
}

/* Count the events and diagnostics of the file. */
static void te_record_visit_end(struct te_record_visit *visit,
                                const struct tv_te_container *container)
{
    struct tv_trace_info *head = visit->head;
    te_record_visit_begin(visit);
    tv_diagnostics_merge(&head->diagnostics, &container->diagnostics);
    for (size_t i = 0; i < container->lists.count; i++) {
        tv_diagnostics_merge(&head->diagnostics, &container->lists.rows[i]->chunk.diagnostics);
        head->inputs[visit->input].records += container->lists.rows[i]->chunk.events;
    }
}

enum tv_status tv_te_records_visit(struct tv_source *source, struct tv_trace_info *head,
                                   struct tv_record_visitor *visitor, struct tv_error *err)
{
    struct te_record_visit visit = {.visitor = visitor, .head = head};
    struct tv_te_visitor events = {
        .text_only = true,
        .event = te_record_visit_event,
        .member = te_record_visit_member,
        .context = &visit,
    };
    struct tv_te_container container;
    visit.input =
        tv_trace_info_add_input(head, tv_source_name(source), tv_reader_trace_event.format);
    head->inputs[visit.input].callless = true; /* nothing becomes a call */
    tv_window_init(&visit.window, source);
    enum tv_status status = tv_te_container_visit(&container, source, &events, err);
    if (status == TV_OK)
        te_record_visit_end(&visit, &container);
    tv_te_container_release(&container);
    tv_window_release(&visit.window);
    return status;
}

/* Text deeper than what is shown is JSON all the same.  NaN and the infinities, as Python writes
 * them, are numbers of the format (trace-event.md section 1). */
static bool te_check_is_strict(struct tv_bytes text)
{
    unsigned faults;
    unsigned fine = TV_JSON_FAULT_DEPTH | TV_JSON_FAULT_INFINITE | TV_JSON_FAULT_SURROGATE;
    return tv_json_check(text, &faults, NULL) || !(faults & ~fine);
}

/* Arguments were checked when the event was read; here, the members that are shown as they stand.
 */
static bool te_check_has_deep_member(const struct tv_te_list_event *event)
{
    struct tv_bytes key, value;
    if (event->text.length <= TV_JSON_DEPTH || !tv_json_is_too_deep(event->text))
        return false;
    const uint8_t *at = event->text.data + 1, *end = event->text.data + event->text.length;
    while (tv_te_member_next(&at, end, &key, &value))
        if (value.data != event->fields->args.data && tv_json_is_too_deep(value))
            return true;
    return false;
}

/* Check an event as it passes. */
static void te_check_event(void *context, const struct tv_te_list_event *event)
{
    if (event->fields->faults || !te_check_is_strict(event->text))
        tv_diagnostics_add(context, TV_DIAGNOSTIC_BAD_JSON, event->offset);
    if (te_check_has_deep_member(event))
        tv_diagnostics_add(context, TV_DIAGNOSTIC_TOO_NESTED, event->offset);
}

/* Check the key and the value of a member beside the events. */
static enum tv_status te_check_member(const struct tv_te_top_member *member,
                                      struct tv_source *source, struct tv_diagnostics *diagnostics,
                                      struct tv_error *err)
{
    size_t length = (size_t)member->value.length, got = 0;
    struct tv_bytes key = {(const uint8_t *)member->key, member->key_length};
    uint8_t *text = tv_alloc(length, 1);
    enum tv_status status = tv_source_read(source, member->value.offset, text, length, &got, err);
    if (status == TV_OK &&
        (!te_check_is_strict(key) || !te_check_is_strict((struct tv_bytes){text, got})))
        tv_diagnostics_add(diagnostics, TV_DIAGNOSTIC_BAD_JSON, member->value.offset);
    tv_free(text);
    return status;
}

/* Check the text of all events and members. */
static enum tv_status te_check_events(struct tv_source *source, struct tv_diagnostics *diagnostics,
                                      struct tv_error *err)
{
    struct tv_te_container container;
    struct tv_te_visitor visitor = {.event = te_check_event, .context = diagnostics};
    enum tv_status status = tv_te_container_visit(&container, source, &visitor, err);
    for (size_t i = 0; i < container.member_count && status == TV_OK; i++)
        status = te_check_member(&container.members[i], source, diagnostics, err);
    tv_te_container_release(&container);
    return status;
}

/* ---- Arguments of the two ends of a slice ---- */

/* Return whether arguments are an object that can be compared. */
static bool te_check_is_object(struct tv_bytes raw)
{
    return raw.length > 0 && raw.length < TV_NONE && raw.data[0] == '{';
}

/* True when both objects have a member with different values (trace-event.md section 3.1). */
static bool te_check_args_hide(struct tv_bytes first, struct tv_bytes second)
{
    assert(te_check_is_object(first) && te_check_is_object(second));
    struct tv_interner *keys = tv_interner_new();
    struct tv_map values;
    struct tv_bytes key, value;
    bool found = false;
    tv_map_init(&values);
    const uint8_t *at = first.data + 1, *end = first.data + first.length;
    while (tv_te_member_next(&at, end, &key, &value))
        tv_map_set(&values, tv_interner_add(keys, key), (uint32_t)(value.data - first.data));
    at = second.data + 1;
    end = second.data + second.length;
    while (!found && tv_te_member_next(&at, end, &key, &value)) {
        uint32_t number = tv_interner_find(keys, key);
        uint32_t place = number == TV_NONE ? TV_NONE : tv_map_find(&values, number);
        struct tv_bytes other;
        const uint8_t *from = first.data + place;
        if (place == TV_NONE || !tv_te_element_next(&from, first.data + first.length, &other))
            continue;
        found = !tv_json_equal(value, other);
    }
    tv_map_release(&values);
    tv_interner_free(keys);
    return found;
}

/* The beginnings, and the ends, are mostly in the order of the file; a window for each follows
 * them. */
static void te_check_slice_ends(struct tv_te_context *begin, struct tv_te_context *end)
{
    struct tv_trace *trace = begin->trace;
    for (size_t i = 0; i < trace->tables.slice_extras.count; i++) {
        const struct tv_slice_extra *extra = &trace->tables.slice_extras.rows[i];
        const struct tv_row *row = &trace->rows[extra->row];
        struct tv_te_fields first, second;
        if (extra->end_offset == TV_NO_OFFSET || row->input != begin->input ||
            !tv_track_has_calls(&trace->tracks[row->track]) ||
            !tv_te_event_read(end, extra->end_offset, &second) ||
            !te_check_is_object(second.args) ||
            !tv_te_event_read(begin, tv_slice_offset(trace, extra->row, extra->index), &first) ||
            !te_check_is_object(first.args))
            continue;
        if (te_check_args_hide(first.args, second.args))
            tv_te_warn(begin, TV_DIAGNOSTIC_ARGS_HIDDEN, extra->end_offset);
    }
}

enum tv_status tv_te_check_text(struct tv_trace *trace, uint32_t input, struct tv_error *err)
{
    struct tv_source *source = trace->head->inputs[input].source;
    struct tv_te_context begin = {.source = source, .trace = trace, .input = input}, end = begin;
    trace->head->diagnostics.input = input;
    enum tv_status status = te_check_events(source, &trace->head->diagnostics, err);
    if (status != TV_OK)
        return status;
    tv_window_init(&begin.window, source);
    tv_window_init(&end.window, source);
    te_check_slice_ends(&begin, &end);
    tv_window_release(&begin.window);
    tv_window_release(&end.window);
    return TV_OK;
}
