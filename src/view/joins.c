/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the "=" events of a group of joined ids say, and the objects that belong to it.
 */
#include "view/members.h"
#include "view/state.h"

#define LIST_LIMIT 50u

struct ids {
    uint32_t strings[LIST_LIMIT];
    uint32_t count;
    bool more;
};

static void take_id(struct ids *ids, uint32_t string)
{
    for (uint32_t i = 0; i < ids->count; i++)
        if (ids->strings[i] == string)
            return;
    if (ids->count < LIST_LIMIT)
        ids->strings[ids->count++] = string;
    else
        ids->more = true;
}

static void write_ids(struct tv_out *out, const struct tv_trace *trace, size_t first, size_t count)
{
    struct ids ids = {.count = 0};
    for (size_t i = first; i < first + count && !ids.more; i++) {
        take_id(&ids, trace->tables.joins.rows[i].id);
        take_id(&ids, trace->tables.joins.rows[i].linked);
    }
    tv_out_text(out, "\"ids\":[");
    for (uint32_t i = 0; i < ids.count; i++)
        tv_member_text(out, i > 0 ? "," : "", trace->head, ids.strings[i]);
    tv_member_flag(out, "],\"more_ids\":", ids.more);
}

static void write_events(struct tv_out *out, const struct tv_trace *trace, size_t first,
                         size_t count)
{
    size_t written = count < LIST_LIMIT ? count : LIST_LIMIT;
    tv_out_text(out, ",\"events\":[");
    for (size_t i = 0; i < written; i++) {
        const struct tv_join *join = &trace->tables.joins.rows[first + i];
        struct tv_view_event event = {join->input, TV_NONE, join->offset, TV_NO_OFFSET};
        tv_member_text(out, i > 0 ? ",{\"id\":" : "{\"id\":", trace->head, join->id);
        tv_member_text(out, ",\"linked_id\":", trace->head, join->linked);
        tv_view_write_event(out, trace, &event);
        tv_out_char(out, '}');
    }
    tv_member_number(out, "],\"more_events\":", (int64_t)(count - written));
}

static void write_objects(struct tv_out *out, const struct tv_trace *trace, uint32_t group)
{
    uint32_t written = 0;
    tv_out_text(out, ",\"objects\":[");
    for (size_t i = 0; i < trace->tables.objects.count && written < LIST_LIMIT; i++) {
        const struct tv_object *object = &trace->tables.objects.rows[i];
        if (object->group != group)
            continue;
        tv_member_number(out, written++ > 0 ? ",[" : "[", (int64_t)i);
        tv_member_text(out, ",", trace->head, object->type);
        tv_member_text(out, ",", trace->head, object->id);
        tv_out_char(out, ']');
    }
    tv_out_char(out, ']');
}

void tv_view_write_joins(struct tv_out *out, const struct tv_trace *trace, uint32_t group)
{
    size_t first, count = tv_tables_joins(&trace->tables, group, &first);
    if (count == 0)
        return;
    tv_out_text(out, ",\"joins\":{");
    write_ids(out, trace, first, count);
    write_events(out, trace, first, count);
    write_objects(out, trace, group);
    tv_out_char(out, '}');
}
