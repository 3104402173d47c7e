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
static void te_record_visit_begin(struct te_record_visit *visit)
{
    if (!visit->begun)
        visit->teller->begin(visit->teller, visit->head, visit->input);
    visit->begun = true;
}

static void te_record_visit_warn_cut(struct te_record_visit *visit, bool cut, uint64_t offset)
{
    if (cut)
        tv_diagnostics_add(&visit->head->diagnostics, TV_DIAGNOSTIC_TOO_NESTED, offset);
}

/* No event is copied: they are only told on their way past. */
static bool te_record_visit_event(void *context, const struct tv_te_list_event *event)
{
    struct te_record_visit *visit = context;
    struct tv_te_record record = {event->fields, event->text, event->offset, false};
    te_record_visit_begin(visit);
    visit->teller->take_event(visit->teller, &record);
    te_record_visit_warn_cut(visit, record.cut, event->offset);
    return false;
}

static enum tv_status te_record_visit_member(void *context, const struct tv_te_top_member *member,
                                  struct tv_error *err)
{
    struct te_record_visit *visit = context;
    struct tv_te_member_record beside = {
        .key = {(const uint8_t *)member->key, member->key_length},
        .offset = member->value.offset,
        .length = member->value.length,
    };
    if (beside.length <= TV_TE_LONGEST_MEMBER) {
        size_t length = (size_t)beside.length;
        enum tv_status status =
            tv_window_at(&visit->window, beside.offset, length, &beside.text, err);
        if (status != TV_OK)
            return status;
        beside.text.length = length < beside.text.length ? length : beside.text.length;
    }
    te_record_visit_begin(visit);
    visit->teller->take_beside(visit->teller, &beside);
    te_record_visit_warn_cut(visit, beside.cut, beside.offset);
    return TV_OK;
}

static void te_record_visit_end(struct te_record_visit *visit, const struct tv_te_container *container)
{
    struct tv_head *head = visit->head;
    te_record_visit_begin(visit);
    tv_diagnostics_merge(&head->diagnostics, &container->diagnostics);
    for (size_t i = 0; i < container->lists.count; i++) {
        tv_diagnostics_merge(&head->diagnostics, &container->lists.rows[i]->chunk.diagnostics);
        head->inputs[visit->input].records += container->lists.rows[i]->chunk.events;
    }
}

enum tv_status tv_te_records_visit(struct tv_source *source, struct tv_head *head,
                                  struct tv_teller *teller, struct tv_error *err)
{
    struct te_record_visit visit = {.teller = teller, .head = head};
    struct tv_te_copy copy = {
        .alone = true,
        .wanted = te_record_visit_event,
        .beside = te_record_visit_member,
        .context = &visit,
    };
    struct tv_te_container container;
    visit.input = tv_head_add_input(head, tv_source_name(source), tv_reader_trace_event.format);
    head->inputs[visit.input].callless = true; /* events are not made to calls */
    tv_window_init(&visit.window, source);
    enum tv_status status = tv_te_container_copy(&container, source, &copy, err);
    if (status == TV_OK)
        te_record_visit_end(&visit, &container);
    tv_te_container_release(&container);
    tv_window_release(&visit.window);
    return status;
}
