/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.c - what joins an event to others: kept when it is read, or read again.
 */
#include <string.h>

#include "readers/trace_event/events.h"
#include "readers/trace_event/ids.h"

/* Whether a row has room for all that counts. */
static bool te_link_fits_row(const struct tv_te_fields *fields, enum tv_te_id_kind kind, struct tv_bytes id)
{
    if (kind == TV_TE_ID_BAD || id.length > TV_TE_KEPT_ID)
        return false;
    return fields->scope.data == NULL && fields->cname.data == NULL && fields->tts.data == NULL &&
           fields->bind_id.data == NULL;
}

void tv_te_link_keep(struct tv_te_deferred *event, const struct tv_te_fields *fields)
{
    struct tv_bytes id;
    enum tv_te_id_kind kind = tv_te_fields_id(fields, &id);
    event->kept = 0;
    if (!te_link_fits_row(fields, kind, id))
        return;
    event->kept = (uint8_t)(TV_TE_KEPT | (fields->name.data ? TV_TE_KEPT_NAME : 0) |
                            (fields->cat.data ? TV_TE_KEPT_CATEGORY : 0) |
                            (tv_te_has_details(fields) ? TV_TE_KEPT_TELLS : 0));
    event->id_kind = (uint8_t)kind;
    event->id_length = (uint8_t)id.length;
    if (id.length > 0)
        memcpy(event->id, id.data, id.length);
}

static void te_link_from_row(const struct tv_te_deferred *event, struct tv_te_link *link)
{
    *link = (struct tv_te_link){
        .kind = (enum tv_te_id_kind)event->id_kind,
        .id = {event->id_kind == TV_TE_ID_NONE ? NULL : event->id, event->id_length},
        .cpu = TV_NO_TIME,
        .has_name = event->kept & TV_TE_KEPT_NAME,
        .has_category = event->kept & TV_TE_KEPT_CATEGORY,
        .tells = event->kept & TV_TE_KEPT_TELLS,
    };
}

struct tv_te_link tv_te_link_of(const struct tv_te_deferred *event, const struct tv_te_fields *fields)
{
    struct tv_te_link link = {
        .scope = fields->scope,
        .colour = (uint8_t)tv_te_parse_colour(fields->cname),
        .has_name = fields->name.data != NULL,
        .has_category = fields->cat.data != NULL,
        .tells = tv_te_has_details(fields),
    };
    link.kind = tv_te_fields_id(fields, &link.id);
    /* Only the beginning must ask for it; that of the end is used when the beginning has one. */
    if ((event->phase != 'e' && !tv_te_is_true(fields->use_async_tts)) ||
        !tv_te_parse_time(fields->tts, &link.cpu))
        link.cpu = TV_NO_TIME;
    return link;
}

bool tv_te_link_read(struct tv_te_context *context, const struct tv_te_deferred *event,
                     struct tv_te_link *link)
{
    struct tv_te_fields fields;
    if (event->kept & TV_TE_KEPT) {
        te_link_from_row(event, link);
        return true;
    }
    if (!tv_te_event_read(context, event->offset, &fields))
        return false;
    *link = tv_te_link_of(event, &fields);
    return true;
}
