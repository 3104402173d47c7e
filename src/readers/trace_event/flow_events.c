/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/trace_event/flow_events.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"

_Static_assert(sizeof(struct tv_te_flow_event) == 32, "there are many");

void tv_te_flow_list_release(struct tv_te_flow_list *list)
{
    tv_free(list->rows);
    tv_interner_free(list->longer);
    *list = (struct tv_te_flow_list){.rows = NULL};
}

static void te_flow_event_set_bits(struct tv_te_flow_event *event, uint64_t bits)
{
    event->low = (uint32_t)bits;
    event->high = (uint32_t)(bits >> 32);
}

void tv_te_flow_list_add(struct tv_te_flow_list *list, const struct tv_te_flow_event *event,
                         const struct tv_te_fields *fields, struct tv_te_scratch *scratch)
{
    list->rows = tv_array_reserve(list->rows, &list->capacity, list->count + 1, sizeof *list->rows);
    struct tv_te_flow_event *added = &list->rows[list->count++];
    *added = *event;
    if (event->phase == 'f' && !fields->bp.data)
        added->unsaid = true;
    else if (event->phase == 'f')
        added->bad_point = !tv_bytes_equal(tv_te_decode_text(fields->bp, scratch), TV_BYTES("e"));
    added->form = TV_TE_FLOW_NO_ID;
    if (!fields->id.data)
        return;
    struct tv_te_flow_id id = tv_te_flow_id_of(tv_te_decode_text(fields->id, scratch),
                                               tv_te_is_string(fields->id), &list->longer);
    added->form = id.form;
    te_flow_event_set_bits(added, id.bits);
}

/* Texts of a chunk's interner get numbers of that of all. */
static void te_flow_event_renumber_text(struct tv_te_flow_list *list, const struct tv_te_flow_list *chunk,
                          struct tv_te_flow_event *event)
{
    if (list->longer == NULL)
        list->longer = tv_interner_new();
    struct tv_bytes text = tv_interner_get(chunk->longer, event->low);
    te_flow_event_set_bits(event, tv_interner_add(list->longer, text));
}

void tv_te_flow_list_take(struct tv_te_flow_list *list, struct tv_te_flow_list *chunk,
                          const uint32_t *threads, const uint32_t *frames)
{
    for (size_t i = 0; i < chunk->count; i++) {
        struct tv_te_flow_event *event = &chunk->rows[i];
        event->of = threads[event->of];
        event->frame = frames[event->frame];
        if ((event->form & TV_TE_FLOW_TEXT) == TV_TE_FLOW_LONG)
            te_flow_event_renumber_text(list, chunk, event);
    }
    if (list->count == 0) { /* the first need not move */
        struct tv_te_flow_event *empty = list->rows;
        list->rows = chunk->rows;
        list->capacity = chunk->capacity;
        chunk->rows = empty;
    } else if (chunk->count > 0) {
        list->rows = tv_array_reserve(list->rows, &list->capacity, list->count + chunk->count,
                                      sizeof *list->rows);
        memcpy(list->rows + list->count, chunk->rows, chunk->count * sizeof *chunk->rows);
    }
    list->count += chunk->count;
    tv_te_flow_list_release(chunk);
}
