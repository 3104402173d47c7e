/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/trace_event/ids.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/sort.h"

void tv_te_id_key_release(struct tv_te_id_key *key)
{
    tv_free(key->bytes);
    *key = (struct tv_te_id_key){NULL, 0, 0};
}

void tv_te_id_key_add(struct tv_te_id_key *key, struct tv_bytes text)
{
    key->bytes = tv_array_reserve(key->bytes, &key->capacity, key->length + text.length + 1, 1);
    if (text.length > 0)
        memcpy(key->bytes + key->length, text.data, text.length);
    key->length += text.length;
}

/* An id as text: `text` where it is no plain number. */
static void te_id_key_add_number(struct tv_te_id_key *key, const struct tv_head *head, uint32_t text,
                       uint64_t id)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)id);
    tv_te_id_key_add(key, text != TV_EMPTY_STRING ? tv_head_text(head, text) : tv_bytes_of(digits));
}

void tv_te_id_key_add_process(struct tv_te_id_key *key, const struct tv_head *head, uint32_t process)
{
    te_id_key_add_number(key, head, head->processes[process].key, head->processes[process].id);
}

void tv_te_id_key_add_tid(struct tv_te_id_key *key, const struct tv_head *head, uint32_t thread)
{
    te_id_key_add_number(key, head, head->threads[thread].key, head->threads[thread].id);
}

void tv_te_id_key_add_parts(struct tv_te_id_key *key, const struct tv_head *head, uint32_t process,
                         struct tv_bytes scope, struct tv_bytes id)
{
    if (process != TV_NONE)
        tv_te_id_key_add_process(key, head, process);
    tv_te_id_key_add(key, TV_BYTES(":"));
    tv_te_id_key_add(key, scope.data == NULL ? TV_BYTES("ptr") : scope);
    tv_te_id_key_add(key, TV_BYTES(":"));
    tv_te_id_key_add(key, id);
}

void tv_te_id_key_add_id(struct tv_te_id_key *key, struct tv_te_context *context,
                      const struct tv_te_id_parts *id, enum tv_te_id_owner owner)
{
    bool owned = id->kind == TV_TE_ID_LOCAL || owner == TV_TE_ID_OWNED;
    tv_te_id_key_add_parts(key, context->trace->head, owned ? id->process : TV_NONE,
                        tv_te_decode_text(id->scope, &context->scratch), (struct tv_bytes){NULL, 0});
    tv_te_id_key_add(key, tv_te_decode_text(id->raw, &context->scratch));
}

bool tv_te_id_key_add_event_id(struct tv_te_id_key *key, struct tv_te_context *context,
                            const struct tv_te_deferred *event, const struct tv_te_link *link,
                            enum tv_te_id_owner owner)
{
    struct tv_te_id_parts id = {link->kind, link->id, link->scope, event->process};
    if (id.kind == TV_TE_ID_NONE || id.kind == TV_TE_ID_BAD) {
        tv_te_warn(context,
                   id.kind == TV_TE_ID_NONE ? TV_DIAGNOSTIC_ID_MISSING : TV_DIAGNOSTIC_ID_AMBIGUOUS,
                   event->offset);
        return false;
    }
    tv_te_id_key_add_id(key, context, &id, owner);
    return true;
}

static void te_selection_sort(struct tv_te_selection *selection, const struct tv_te_context *context)
{
    struct tv_sort_key *dated = tv_alloc(selection->count, sizeof *dated);
    for (size_t i = 0; i < selection->count; i++)
        dated[i] = (struct tv_sort_key){tv_sort_signed(context->deferred[selection->deferred[i]].time), i};
    tv_sort_keys(dated, selection->count);
    for (size_t i = 0; i < selection->count; i++)
        selection->order[i] = (size_t)dated[i].index;
    tv_free(dated);
}

size_t tv_te_count_deferred(const struct tv_te_context *context, const char *phases)
{
    size_t count = 0;
    for (; *phases; phases++)
        count += context->deferred_of[(uint8_t)*phases];
    return count;
}

void tv_te_select(struct tv_te_selection *selection, const struct tv_te_context *context,
                const char *phases)
{
    bool wanted[UINT8_MAX + 1] = {false};
    size_t filled = 0;
    selection->count = tv_te_count_deferred(context, phases);
    selection->deferred = tv_alloc(selection->count, sizeof *selection->deferred);
    selection->order = tv_alloc(selection->count, sizeof *selection->order);
    for (; *phases; phases++)
        wanted[(uint8_t)*phases] = true;
    for (size_t i = 0; filled < selection->count; i++)
        if (wanted[(uint8_t)context->deferred[i].phase])
            selection->deferred[filled++] = i;
    te_selection_sort(selection, context);
}

void tv_te_selection_release(struct tv_te_selection *selection)
{
    tv_free(selection->deferred);
    tv_free(selection->order);
}

bool tv_te_has_details(const struct tv_te_fields *fields)
{
    const uint8_t *at = fields->args.data == NULL ? NULL : fields->args.data + 1;
    struct tv_bytes key, value;
    if (fields->sf.data != NULL || fields->stack.data != NULL || fields->odd)
        return true;
    if (fields->args.length == 0 || fields->args.data[0] != '{')
        return fields->args.length > 0;
    return tv_te_member_next(&at, fields->args.data + fields->args.length, &key, &value);
}
