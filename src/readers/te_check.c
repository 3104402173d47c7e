/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/te_check.h"

#include "base/memory.h"
#include "readers/json.h"
#include "readers/te_container.h"

/* No event is wanted: they are only looked at on their way past. */
static bool look(void *context, const struct tv_te_list_event *event)
{
    if (event->fields->faults || !tv_json_check(event->text, NULL, NULL))
        tv_diagnostics_add(context, TV_DIAGNOSTIC_BAD_JSON, event->offset);
    return false;
}

static enum tv_status check_member(const struct tv_te_top_member *member, struct tv_source *source,
                                   struct tv_diagnostics *diagnostics, struct tv_error *err)
{
    size_t length = (size_t)member->value.length, got = 0;
    struct tv_bytes key = {(const uint8_t *)member->key, member->key_length};
    uint8_t *text = tv_alloc(length, 1);
    enum tv_status status = tv_source_read(source, member->value.offset, text, length, &got, err);
    if (status == TV_OK && (!tv_json_check(key, NULL, NULL) ||
                            !tv_json_check((struct tv_bytes){text, got}, NULL, NULL)))
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
