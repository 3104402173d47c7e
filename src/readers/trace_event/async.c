/* SPDX-License-Identifier: Apache-2.0 */
/*
 * async.c - async slices that nest: phases b, n and e (trace-event.md section 3.5).
 *
 * Events with one category and id have a stack of what is open.  An end closes the innermost with
 * its name; those above it stay without an end, to the last event of the id.  An end of a name that
 * is not open began at the first event of the id.  An end whose id has no such beginning takes that
 * of an id which "=" joined to it.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/trace_event/ids.h"

/* What an event's text tells, read in the order of the file. */
struct te_async_event {
    int64_t cpu;    /* TV_NO_TIME: none that counts */
    uint32_t id;    /* index in ids; TV_NONE: the event is left out */
    uint32_t frame; /* of the slice */
    uint8_t colour;
    bool tells; /* it has more than its time */
};

/* Events with one key. */
struct te_async_id {
    uint32_t string, group;
    uint32_t top; /* innermost open one, in opens; 0: none */
    int64_t first, last;
};

/* A beginning. It stays here when it is closed. */
struct te_async_open {
    uint32_t slice; /* in context->async */
    uint32_t id;
    uint32_t below;  /* in the stack of the id; 0: none */
    uint32_t same;   /* the next below with the same frame; 0: none */
    uint32_t before; /* the one before with the same frame in the ids joined to it; 0: none */
    bool taken;      /* from the stack */
    bool ended;
};

struct te_async_pairing {
    struct tv_te_context *context;
    struct tv_te_key key;
    struct tv_map id_numbers; /* string of the key -> index in ids */
    struct tv_map innermost;  /* (id, frame) -> index in opens; 0: none is open */
    struct tv_map latest;     /* (group, frame) -> index in opens, which may be taken */
    struct te_async_id *ids;
    struct te_async_open *opens; /* [0] stands for none */
    size_t id_count, id_capacity, open_count, open_capacity;
};

/* The user timing of Blink names its measures "group:title/base64": a group makes one tree. */
static bool te_async_is_user_timing(const struct te_async_pairing *joining, const struct tv_frame *frame)
{
    struct tv_head *head = joining->context->trace->head;
    return tv_bytes_equal(tv_head_text(head, frame->category), TV_BYTES("blink.user_timing"));
}

static bool te_user_timing_is_base64(uint8_t c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '/';
}

/* The title without "/base64" at its end. */
static struct tv_bytes te_user_timing_trim_details(struct tv_bytes title)
{
    size_t end = title.length, start;
    for (int i = 0; i < 2 && end > 0 && title.data[end - 1] == '='; i++)
        end--;
    for (start = end; start > 0 && te_user_timing_is_base64(title.data[start - 1]);)
        start--;
    const uint8_t *slash = start < end ? memchr(title.data + start, '/', end - start) : NULL;
    if (slash != NULL && slash + 1 < title.data + end)
        title.length = (size_t)(slash - title.data);
    return title;
}

/* Splits at the first colon; the group begins behind the last slash before it. False: the name is
 * no measure's. */
static bool te_user_timing_split(struct tv_bytes name, struct tv_bytes *group, struct tv_bytes *title)
{
    struct tv_bytes rest = name;
    if (!tv_bytes_split(&rest, ':', group))
        return false;
    for (size_t i = group->length; i-- > 0;) {
        if (group->data[i] != '/')
            continue;
        group->data += i + 1;
        group->length -= i + 1;
        break;
    }
    *title = te_user_timing_trim_details(rest);
    return group->length > 0;
}

/* Makes the key that of the measure's group and the frame that of its title. */
static void te_user_timing_apply(struct te_async_pairing *joining, struct te_async_event *told)
{
    struct tv_head *head = joining->context->trace->head;
    struct tv_frame frame = head->frames[told->frame];
    struct tv_bytes group, title;
    if (!te_user_timing_split(tv_head_text(head, frame.name), &group, &title))
        return;
    joining->key.length = 0;
    tv_te_key_add(&joining->key, group);
    tv_te_key_add(&joining->key, TV_BYTES(":"));
    tv_te_key_add(&joining->key, tv_head_text(head, frame.category));
    frame.name = tv_head_string(head, title);
    told->frame = tv_head_add_frame(head, &frame);
}

static uint32_t te_async_add_id(struct te_async_pairing *joining, int64_t time, uint32_t group)
{
    uint32_t string = tv_head_string(joining->context->trace->head, tv_te_key_text(&joining->key));
    uint32_t number = tv_map_add(&joining->id_numbers, string, (uint32_t)joining->id_count);
    if (number == joining->id_count) {
        joining->ids = tv_array_reserve(joining->ids, &joining->id_capacity, joining->id_count + 1,
                                        sizeof *joining->ids);
        joining->ids[joining->id_count++] = (struct te_async_id){string, group, 0, time, time};
    }
    struct te_async_id *id = &joining->ids[number];
    if (time < id->first)
        id->first = time;
    if (time > id->last)
        id->last = time;
    return number;
}

/* The key "category:pid:scope:id" of the event. */
static bool te_async_find_id(struct te_async_pairing *joining, const struct tv_te_loose *event,
                    const struct tv_te_link *link, struct te_async_event *told)
{
    struct tv_te_context *context = joining->context;
    const struct tv_frame *frame = &context->trace->head->frames[event->frame];
    struct tv_bytes category = tv_head_text(context->trace->head, frame->category);
    joining->key.length = 0;
    tv_te_key_add(&joining->key, category);
    tv_te_key_add(&joining->key, TV_BYTES(":"));
    if (!tv_te_key_add_event_id(&joining->key, context, event, link, TV_TE_ID_SHARED))
        return false;
    struct tv_bytes id = tv_te_key_text(&joining->key);
    id.data += category.length + 1;
    id.length -= category.length + 1;
    uint32_t group = tv_te_group(context, id);
    if (te_async_is_user_timing(joining, frame))
        te_user_timing_apply(joining, told);
    told->id = te_async_add_id(joining, event->time, group);
    return true;
}

static void te_async_read_event(struct te_async_pairing *joining, const struct tv_te_loose *event, struct te_async_event *told)
{
    struct tv_te_context *context = joining->context;
    struct tv_te_link link;
    *told = (struct te_async_event){.cpu = TV_NO_TIME, .id = TV_NONE, .frame = event->frame};
    if (!tv_te_link_read(context, event, &link))
        return;
    if (!link.has_name) {
        tv_te_warn(context, TV_DIAGNOSTIC_ASYNC_NAMELESS, event->offset);
        return;
    }
    if (!te_async_find_id(joining, event, &link, told))
        return;
    if (!link.has_category)
        tv_te_warn(context, TV_DIAGNOSTIC_ASYNC_NO_CATEGORY, event->offset);
    told->cpu = link.cpu;
    told->colour = link.colour;
    told->tells = link.tells;
}

static uint32_t te_async_add_slice(struct te_async_pairing *joining, const struct tv_te_loose *event,
                          const struct te_async_event *told)
{
    struct tv_te_context *context = joining->context;
    const struct te_async_id *id = &joining->ids[told->id];
    struct tv_async_slice *slice = tv_table_add(&context->async);
    *slice = (struct tv_async_slice){
        .start = event->time,
        .cpu_start = TV_NO_TIME,
        .cpu_length = TV_NO_TIME,
        .offset = event->offset,
        .end_offset = TV_NO_OFFSET,
        .frame = told->frame,
        .parent = id->top == 0 ? TV_NONE : joining->opens[id->top].slice,
        .start_thread = event->thread,
        .end_thread = event->thread,
        .process = TV_NONE,
        .id = id->string,
        .group = id->group,
        .colour = told->colour,
    };
    return (uint32_t)(context->async.count - 1);
}

static uint64_t te_async_name_key(const struct te_async_event *told)
{
    return (uint64_t)told->id << 32 | told->frame;
}

/* The key of a frame in all ids that are joined to one. */
static uint64_t te_async_group_key(const struct te_async_id *id, const struct te_async_event *told)
{
    return (uint64_t)id->group << 32 | told->frame;
}

/* Ids that are joined find what others began. */
static void te_async_group_push(struct te_async_pairing *joining, const struct te_async_id *id, const struct te_async_event *told)
{
    if (id->group == TV_NONE)
        return;
    uint32_t before = tv_map_find(&joining->latest, te_async_group_key(id, told));
    joining->opens[id->top].before = before == TV_NONE ? 0 : before;
    tv_map_set(&joining->latest, te_async_group_key(id, told), id->top);
}

/* What an id that is joined to this one has open under the frame; 0: nothing. */
static uint32_t te_async_group_find_open(struct te_async_pairing *joining, const struct te_async_id *id,
                               const struct te_async_event *told)
{
    uint32_t found =
        id->group == TV_NONE ? TV_NONE : tv_map_find(&joining->latest, te_async_group_key(id, told));
    if (found == TV_NONE)
        return 0;
    while (joining->opens[found].taken)
        found = joining->opens[found].before;
    tv_map_set(&joining->latest, te_async_group_key(id, told), found);
    return found;
}

static void te_async_begin(struct te_async_pairing *joining, const struct tv_te_loose *event, const struct te_async_event *told)
{
    uint32_t slice = te_async_add_slice(joining, event, told);
    struct te_async_id *id = &joining->ids[told->id];
    uint32_t same = tv_map_find(&joining->innermost, te_async_name_key(told));
    joining->context->async.rows[slice].cpu_start = told->cpu;
    joining->opens = tv_array_reserve(joining->opens, &joining->open_capacity,
                                      joining->open_count + 1, sizeof *joining->opens);
    joining->opens[joining->open_count] = (struct te_async_open){
        .slice = slice, .id = told->id, .below = id->top, .same = same == TV_NONE ? 0 : same};
    id->top = (uint32_t)joining->open_count++;
    tv_map_set(&joining->innermost, te_async_name_key(told), id->top);
    te_async_group_push(joining, id, told);
}

/* Takes the innermost open one from the stack. */
static void te_async_pop(struct te_async_pairing *joining, struct te_async_id *id)
{
    struct te_async_open *open = &joining->opens[id->top];
    uint32_t frame = joining->context->async.rows[open->slice].frame;
    tv_map_set(&joining->innermost, (uint64_t)open->id << 32 | frame, open->same);
    open->taken = true;
    id->top = open->below;
}

static void te_async_end_unmatched(struct te_async_pairing *joining, const struct tv_te_loose *event,
                                  const struct te_async_event *told)
{
    uint32_t number = te_async_add_slice(joining, event, told);
    struct tv_async_slice *slice = &joining->context->async.rows[number];
    slice->start = joining->ids[told->id].first;
    slice->length = event->time - slice->start;
    slice->flags = TV_SLICE_ENTERED_BEFORE;
    tv_te_warn(joining->context, TV_DIAGNOSTIC_ASYNC_UNMATCHED_END, event->offset);
}

static void te_async_end(struct te_async_pairing *joining, const struct tv_te_loose *event, const struct te_async_event *told)
{
    struct te_async_id *id = &joining->ids[told->id];
    uint32_t found = tv_map_find(&joining->innermost, te_async_name_key(told));
    if (found == TV_NONE || found == 0)
        found = te_async_group_find_open(joining, id, told);
    if (found == 0) {
        te_async_end_unmatched(joining, event, told);
        return;
    }
    id = &joining->ids[joining->opens[found].id];
    while (id->top != found)
        te_async_pop(joining, id);
    te_async_pop(joining, id);
    struct tv_async_slice *slice = &joining->context->async.rows[joining->opens[found].slice];
    slice->length = event->time - slice->start;
    slice->end_thread = event->thread;
    slice->colour = told->colour;
    if (told->tells)
        slice->end_offset = event->offset;
    if (slice->cpu_start != TV_NO_TIME && told->cpu != TV_NO_TIME)
        slice->cpu_length = told->cpu - slice->cpu_start;
    joining->opens[found].ended = true;
}

static void te_async_close_open(struct te_async_pairing *joining)
{
    for (size_t i = 1; i < joining->open_count; i++) {
        const struct te_async_open *open = &joining->opens[i];
        struct tv_async_slice *slice = &joining->context->async.rows[open->slice];
        if (open->ended)
            continue;
        slice->length = joining->ids[open->id].last - slice->start;
        slice->flags = TV_SLICE_OPEN;
        tv_te_warn(joining->context, TV_DIAGNOSTIC_ASYNC_OPEN, slice->offset);
    }
}

static void te_async_pair_all(struct te_async_pairing *joining, const struct tv_te_picked *picked)
{
    struct te_async_event *told = tv_alloc(picked->count, sizeof *told);
    for (size_t i = 0; i < picked->count; i++)
        te_async_read_event(joining, &joining->context->loose[picked->loose[i]], &told[i]);
    for (size_t i = 0; i < picked->count; i++) {
        size_t next = picked->order[i];
        const struct tv_te_loose *event = &joining->context->loose[picked->loose[next]];
        if (told[next].id == TV_NONE)
            continue;
        if (event->phase == 'b')
            te_async_begin(joining, event, &told[next]);
        else if (event->phase == 'e')
            te_async_end(joining, event, &told[next]);
        else
            te_async_add_slice(joining, event, &told[next]);
    }
    tv_free(told);
    te_async_close_open(joining);
}

void tv_te_async(struct tv_te_context *context)
{
    struct te_async_pairing joining = {.context = context, .open_count = 1};
    struct tv_te_picked picked;
    tv_te_pick(&picked, context, "bne");
    tv_map_init(&joining.id_numbers);
    tv_map_init(&joining.innermost);
    tv_map_init(&joining.latest);
    joining.opens = tv_array_reserve(NULL, &joining.open_capacity, 1, sizeof *joining.opens);
    joining.opens[0] = (struct te_async_open){.slice = TV_NONE, .id = TV_NONE, .ended = true};
    te_async_pair_all(&joining, &picked);
    tv_map_release(&joining.id_numbers);
    tv_map_release(&joining.innermost);
    tv_map_release(&joining.latest);
    tv_free(joining.ids);
    tv_free(joining.opens);
    tv_te_key_release(&joining.key);
    tv_te_picked_release(&picked);
}
