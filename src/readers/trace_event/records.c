/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/trace_event/records.h"

#include "readers/teller.h"
#include "readers/trace_event/container.h"
#include "readers/trace_event/trace_event.h"

struct te_record_visit {
    struct tv_teller *teller;
    struct tv_head *head;
    struct tv_window window; /* of what stands beside the events */
    uint32_t input;
    bool begun;
};

/* Not before the file is known for one that has events. */
static void te_record_visit_begin(struct te_record_visit *telling)
{
    if (!telling->begun)
        telling->teller->begin(telling->teller, telling->head, telling->input);
    telling->begun = true;
}

static void te_record_visit_warn_cut(struct te_record_visit *telling, bool cut, uint64_t offset)
{
    if (cut)
        tv_diagnostics_add(&telling->head->diagnostics, TV_DIAGNOSTIC_TOO_NESTED, offset);
}

/* No event is copied: they are only told on their way past. */
static bool te_record_visit_event(void *context, const struct tv_te_list_event *event)
{
    struct te_record_visit *telling = context;
    struct tv_te_record record = {event->fields, event->text, event->offset, false};
    te_record_visit_begin(telling);
    telling->teller->take_event(telling->teller, &record);
    te_record_visit_warn_cut(telling, record.cut, event->offset);
    return false;
}

static enum tv_status te_record_visit_member(void *context, const struct tv_te_top_member *member,
                                  struct tv_error *err)
{
    struct te_record_visit *telling = context;
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
    te_record_visit_begin(telling);
    telling->teller->take_beside(telling->teller, &beside);
    te_record_visit_warn_cut(telling, beside.cut, beside.offset);
    return TV_OK;
}

static void te_record_visit_end(struct te_record_visit *telling, const struct tv_te_container *container)
{
    struct tv_head *head = telling->head;
    te_record_visit_begin(telling);
    tv_diagnostics_merge(&head->diagnostics, &container->diagnostics);
    for (size_t i = 0; i < container->lists.count; i++) {
        tv_diagnostics_merge(&head->diagnostics, &container->lists.rows[i]->part.diagnostics);
        head->inputs[telling->input].records += container->lists.rows[i]->part.events;
    }
}

enum tv_status tv_te_records_tell(struct tv_source *source, struct tv_head *head,
                                  struct tv_teller *teller, struct tv_error *err)
{
    struct te_record_visit telling = {.teller = teller, .head = head};
    struct tv_te_copy copy = {
        .alone = true,
        .wanted = te_record_visit_event,
        .beside = te_record_visit_member,
        .context = &telling,
    };
    struct tv_te_container container;
    telling.input = tv_head_add_input(head, tv_source_name(source), tv_reader_trace_event.format);
    head->inputs[telling.input].callless = true; /* events are not made to calls */
    tv_window_init(&telling.window, source);
    enum tv_status status = tv_te_container_copy(&container, source, &copy, err);
    if (status == TV_OK)
        te_record_visit_end(&telling, &container);
    tv_te_container_release(&container);
    tv_window_release(&telling.window);
    return status;
}
