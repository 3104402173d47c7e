/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/trace_event/records.h"

#include "readers/reader.h"
#include "readers/trace_event/container.h"
#include "readers/trace_event/trace_event.h"

struct telling {
    struct tv_record_visitor *visitor;
    struct tv_head *head;
    struct tv_window window; /* of what stands beside the events */
    uint32_t input;
    bool begun;
};

/* Not before the file is known for one that has events. */
static void begin(struct telling *telling)
{
    if (!telling->begun)
        telling->visitor->begin(telling->visitor, telling->head, telling->input);
    telling->begun = true;
}

static void warn_cut(struct telling *telling, bool cut, uint64_t offset)
{
    if (cut)
        tv_diagnostics_add(&telling->head->diagnostics, TV_DIAGNOSTIC_TOO_NESTED, offset);
}

/* No event is copied: they are only told on their way past. */
static bool tell_event(void *context, const struct tv_te_list_event *event)
{
    struct telling *telling = context;
    struct tv_te_record record = {event->fields, event->text, event->offset, false};
    begin(telling);
    telling->visitor->take_event(telling->visitor, &record);
    warn_cut(telling, record.cut, event->offset);
    return false;
}

static enum tv_status tell_beside(void *context, const struct tv_te_top_member *member,
                                  struct tv_error *err)
{
    struct telling *telling = context;
    struct tv_te_beside beside = {
        .key = {(const uint8_t *)member->key, member->key_length},
        .offset = member->value.offset,
        .length = member->value.length,
    };
    if (beside.length <= TV_TE_LONGEST_BESIDE) {
        size_t length = (size_t)beside.length;
        enum tv_status status =
            tv_window_at(&telling->window, beside.offset, length, &beside.text, err);
        if (status != TV_OK)
            return status;
        beside.text.length = length < beside.text.length ? length : beside.text.length;
    }
    begin(telling);
    telling->visitor->take_beside(telling->visitor, &beside);
    warn_cut(telling, beside.cut, beside.offset);
    return TV_OK;
}

static void end(struct telling *telling, const struct tv_te_container *container)
{
    struct tv_head *head = telling->head;
    begin(telling);
    tv_diagnostics_merge(&head->diagnostics, &container->diagnostics);
    for (size_t i = 0; i < container->lists.count; i++) {
        tv_diagnostics_merge(&head->diagnostics, &container->lists.rows[i]->part.diagnostics);
        head->inputs[telling->input].records += container->lists.rows[i]->part.events;
    }
}

enum tv_status tv_te_records_tell(struct tv_source *source, struct tv_head *head,
                                  struct tv_record_visitor *visitor, struct tv_error *err)
{
    struct telling telling = {.visitor = visitor, .head = head};
    struct tv_te_copy copy = {
        .alone = true,
        .wanted = tell_event,
        .beside = tell_beside,
        .context = &telling,
    };
    struct tv_te_container container;
    telling.input = tv_head_add_input(head, tv_source_name(source), tv_reader_trace_event.format);
    head->inputs[telling.input].callless = true; /* events are not made to calls */
    tv_window_init(&telling.window, source);
    enum tv_status status = tv_te_container_copy(&container, source, &copy, err);
    if (status == TV_OK)
        end(&telling, &container);
    tv_te_container_release(&container);
    tv_window_release(&telling.window);
    return status;
}
