/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/te_check.h"

#include "base/memory.h"
#include "readers/json.h"
#include "readers/te_container.h"

/* Text that is deeper than what is shown is JSON all the same; NaN and the infinities are numbers
 * of the format (trace-event.md section 1), as Python writes them. */
static bool is_strict(struct tv_bytes text)
{
    unsigned faults;
    unsigned fine = TV_JSON_FAULT_DEPTH | TV_JSON_FAULT_INFINITE | TV_JSON_FAULT_SURROGATE;
    return tv_json_check(text, &faults, NULL) || !(faults & ~fine);
}

/* Members that are shown as they stand; arguments were looked at when the event was read. */
static bool has_deep_member(const struct tv_te_list_event *event)
{
    struct tv_bytes key, value;
    if (event->text.length <= TV_JSON_DEPTH || !tv_json_is_deeper(event->text))
        return false;
    const uint8_t *at = event->text.data + 1, *end = event->text.data + event->text.length;
    while (tv_te_member_next(&at, end, &key, &value))
        if (value.data != event->fields->args.data && tv_json_is_deeper(value))
            return true;
    return false;
}

/* No event is wanted: they are only looked at on their way past. */
static bool look(void *context, const struct tv_te_list_event *event)
{
    if (event->fields->faults || !is_strict(event->text))
        tv_diagnostics_add(context, TV_DIAGNOSTIC_BAD_JSON, event->offset);
    if (has_deep_member(event))
        tv_diagnostics_add(context, TV_DIAGNOSTIC_TOO_NESTED, event->offset);
    return false;
}

static enum tv_status check_member(const struct tv_te_top_member *member, struct tv_source *source,
                                   struct tv_diagnostics *diagnostics, struct tv_error *err)
{
    size_t length = (size_t)member->value.length, got = 0;
    struct tv_bytes key = {(const uint8_t *)member->key, member->key_length};
    uint8_t *text = tv_alloc(length, 1);
    enum tv_status status = tv_source_read(source, member->value.offset, text, length, &got, err);
    if (status == TV_OK && (!is_strict(key) || !is_strict((struct tv_bytes){text, got})))
        tv_diagnostics_add(diagnostics, TV_DIAGNOSTIC_BAD_JSON, member->value.offset);
    tv_free(text);
    return status;
}

enum tv_status tv_te_check_text(struct tv_source *source, struct tv_diagnostics *diagnostics,
                                struct tv_error *err)
{
    struct tv_te_container container;
    struct tv_te_copy copy = {.wanted = look, .context = diagnostics};
    enum tv_status status = tv_te_container_copy(&container, source, &copy, err);
    for (size_t i = 0; i < container.member_count && status == TV_OK; i++)
        status = check_member(&container.members[i], source, diagnostics, err);
    tv_te_container_release(&container);
    return status;
}
