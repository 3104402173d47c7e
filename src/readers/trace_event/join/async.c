/* SPDX-License-Identifier: Apache-2.0 */
/*
 * async.c - async slices: phases b, n, e that nest (trace-event.md section 3.5), and the older S,
 * T, p, F with their steps (section 3.6).
 *
 * Events come in the order of time.  Events with one category and id share a stack of open slices:
 *
 *     b A      A
 *     b B      A B        an end closes the innermost slice with its name; slices above that one
 *     b C      A B C      never ended: they last to the last event of the id
 *     e B      A          C is open, with a diagnostic
 *     e D      A          no D is open: D began at the first event of the id
 *     e A
 *
 * An id that "=" joins to others (ids.c) may also end what those began; `latest` finds the
 * innermost open slice of a name among all joined ids.
 *
 * Both kinds end in context->async, parents before children, from where the model lays them out in
 * rows.  Texts are read in the order of the file first, then paired in that of
 * time, so the file is swept once.
 */
#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/trace_event/join/join.h"

/* Add a slice that begins at an event and has no length, parent or id yet.  The pointer is valid
 * until the next slice is added. */
static struct tv_async_slice *te_async_new_slice(struct tv_te_context *context,
                                                 const struct tv_te_deferred *event)
{
    struct tv_async_slice *slice = tv_table_add(&context->async);
    *slice = tv_async_slice_of(event->time, event->offset, event->thread);
    slice->frame = event->frame;
    return slice;
}

/* ---- Phases b, n, e ---- */

/* The details of an event, read in the order of the file. */
struct te_async_details {
    int64_t cpu;    /* TV_NO_TIME: it does not count */
    uint32_t id;    /* index in ids; TV_NONE: the event is left out */
    uint32_t frame; /* frame of the slice */
    uint8_t colour;
    bool has_details;
};

/* The events with one key. */
struct te_async_id {
    uint32_t string, group;
    uint32_t top; /* the innermost open slice, in opens; 0: none */
    int64_t first, last;
};

/* A slice that began.  It stays here when it is closed. */
struct te_async_open {
    uint32_t slice; /* in context->async */
    uint32_t id;
    uint32_t below;  /* in the stack of the id; 0: none */
    uint32_t same;   /* the next below with the same frame; 0: none */
    uint32_t before; /* the previous one with this frame in the joined ids; 0: none */
    bool taken;      /* no longer on the stack */
    bool ended;
};

struct te_async_pairing {
    struct tv_te_context *context;
    struct tv_te_id_key key;
    struct tv_map id_numbers; /* string of the key -> index in ids */
    struct tv_map innermost;  /* (id, frame) -> innermost index in opens; 0: none is open */
    struct tv_map latest;     /* (group, frame) -> latest index in opens, which may be taken */
    struct te_async_id *ids;
    struct te_async_open *opens; /* [0] stands for none */
    size_t id_count, id_capacity, open_count, open_capacity;
};

/* User timing of Blink names its measures "group:title/base64".  A group makes one tree. */
static bool te_async_is_user_timing(const struct te_async_pairing *pairing,
                                    const struct tv_frame *frame)
{
    struct tv_trace_info *head = pairing->context->trace->head;
    return tv_bytes_equal(tv_trace_info_text(head, frame->category), TV_BYTES("blink.user_timing"));
}

/* Return true for a character of base64, without the padding. */
static bool te_user_timing_is_base64(uint8_t c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '/';
}

/* Return the title without "/base64" at its end. */
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

/* Split at the first colon; the group begins after the last slash before it.  False: it is not the
 * name of a measure. */
static bool te_user_timing_split(struct tv_bytes name, struct tv_bytes *group,
                                 struct tv_bytes *title)
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

/* Replace the key by that of the measure's group and the frame by that of its title. */
static void te_user_timing_apply(struct te_async_pairing *pairing, struct te_async_details *details)
{
    struct tv_trace_info *head = pairing->context->trace->head;
    struct tv_frame frame = head->frames[details->frame];
    struct tv_bytes group, title;
    if (!te_user_timing_split(tv_trace_info_text(head, frame.name), &group, &title))
        return;
    pairing->key.length = 0;
    tv_te_id_key_add(&pairing->key, group);
    tv_te_id_key_add(&pairing->key, TV_BYTES(":"));
    tv_te_id_key_add(&pairing->key, tv_trace_info_text(head, frame.category));
    frame.name = tv_trace_info_string(head, title);
    details->frame = tv_trace_info_add_frame(head, &frame);
}

/* Return the id of the key, and widen its range to a time. */
static uint32_t te_async_add_id(struct te_async_pairing *pairing, int64_t time, uint32_t group)
{
    uint32_t string =
        tv_trace_info_string(pairing->context->trace->head, tv_te_id_key_text(&pairing->key));
    uint32_t number = tv_map_add(&pairing->id_numbers, string, (uint32_t)pairing->id_count);
    if (number == pairing->id_count) {
        pairing->ids = tv_array_reserve(pairing->ids, &pairing->id_capacity, pairing->id_count + 1,
                                        sizeof *pairing->ids);
        pairing->ids[pairing->id_count++] = (struct te_async_id){string, group, 0, time, time};
    }
    struct te_async_id *id = &pairing->ids[number];
    if (time < id->first)
        id->first = time;
    if (time > id->last)
        id->last = time;
    return number;
}

/* Find the id of the key "category:pid:scope:id" of the event. */
static bool te_async_find_id(struct te_async_pairing *pairing, const struct tv_te_deferred *event,
                             const struct tv_te_link *link, struct te_async_details *details)
{
    struct tv_te_context *context = pairing->context;
    const struct tv_frame *frame = &context->trace->head->frames[event->frame];
    struct tv_bytes category = tv_trace_info_text(context->trace->head, frame->category);
    pairing->key.length = 0;
    tv_te_id_key_add(&pairing->key, category);
    tv_te_id_key_add(&pairing->key, TV_BYTES(":"));
    if (!tv_te_id_key_add_event_id(&pairing->key, context, event, link, TV_TE_ID_SHARED))
        return false;
    struct tv_bytes id = tv_te_id_key_text(&pairing->key);
    id.data += category.length + 1;
    id.length -= category.length + 1;
    uint32_t group = tv_te_id_group(context, id);
    if (te_async_is_user_timing(pairing, frame))
        te_user_timing_apply(pairing, details);
    details->id = te_async_add_id(pairing, event->time, group);
    return true;
}

/* Read what an event says; TV_NONE as id leaves it out. */
static void te_async_read_event(struct te_async_pairing *pairing,
                                const struct tv_te_deferred *event,
                                struct te_async_details *details)
{
    struct tv_te_context *context = pairing->context;
    struct tv_te_link link;
    *details = (struct te_async_details){.cpu = TV_NO_TIME, .id = TV_NONE, .frame = event->frame};
    if (!tv_te_link_read(context, event, &link))
        return;
    if (!link.has_name) {
        tv_te_warn(context, TV_DIAGNOSTIC_ASYNC_NAMELESS, event->offset);
        return;
    }
    if (!te_async_find_id(pairing, event, &link, details))
        return;
    if (!link.has_category)
        tv_te_warn(context, TV_DIAGNOSTIC_ASYNC_NO_CATEGORY, event->offset);
    details->cpu = link.cpu;
    details->colour = link.colour;
    details->has_details = link.has_details;
}

/* Add a slice below the innermost open one of its id. */
static uint32_t te_async_add_slice(struct te_async_pairing *pairing,
                                   const struct tv_te_deferred *event,
                                   const struct te_async_details *details)
{
    const struct te_async_id *id = &pairing->ids[details->id];
    struct tv_async_slice *slice = te_async_new_slice(pairing->context, event);
    slice->frame = details->frame;
    slice->parent = id->top == 0 ? TV_NONE : pairing->opens[id->top].slice;
    slice->id = id->string;
    slice->group = id->group;
    slice->colour = details->colour;
    return (uint32_t)(pairing->context->async.count - 1);
}

/* Return the key of a frame within one id. */
static uint64_t te_async_name_key(const struct te_async_details *details)
{
    return (uint64_t)details->id << 32 | details->frame;
}

/* The key of a frame in all ids that are joined to one. */
static uint64_t te_async_group_key(const struct te_async_id *id,
                                   const struct te_async_details *details)
{
    return (uint64_t)id->group << 32 | details->frame;
}

/* Let joined ids find the slice that was just opened. */
static void te_async_group_push(struct te_async_pairing *pairing, const struct te_async_id *id,
                                const struct te_async_details *details)
{
    if (id->group == TV_NONE)
        return;
    uint32_t before = tv_map_find(&pairing->latest, te_async_group_key(id, details));
    pairing->opens[id->top].before = before == TV_NONE ? 0 : before;
    tv_map_set(&pairing->latest, te_async_group_key(id, details), id->top);
}

/* Return what a joined id has open under the frame; 0: nothing. */
static uint32_t te_async_group_find_open(struct te_async_pairing *pairing,
                                         const struct te_async_id *id,
                                         const struct te_async_details *details)
{
    uint32_t found = id->group == TV_NONE
                         ? TV_NONE
                         : tv_map_find(&pairing->latest, te_async_group_key(id, details));
    if (found == TV_NONE)
        return 0;
    while (pairing->opens[found].taken)
        found = pairing->opens[found].before;
    tv_map_set(&pairing->latest, te_async_group_key(id, details), found);
    return found;
}

/* Open a slice on the stack of its id. */
static void te_async_begin(struct te_async_pairing *pairing, const struct tv_te_deferred *event,
                           const struct te_async_details *details)
{
    uint32_t slice = te_async_add_slice(pairing, event, details);
    struct te_async_id *id = &pairing->ids[details->id];
    uint32_t same = tv_map_find(&pairing->innermost, te_async_name_key(details));
    pairing->context->async.rows[slice].cpu_start = details->cpu;
    pairing->opens = tv_array_reserve(pairing->opens, &pairing->open_capacity,
                                      pairing->open_count + 1, sizeof *pairing->opens);
    pairing->opens[pairing->open_count] = (struct te_async_open){
        .slice = slice, .id = details->id, .below = id->top, .same = same == TV_NONE ? 0 : same};
    id->top = (uint32_t)pairing->open_count++;
    tv_map_set(&pairing->innermost, te_async_name_key(details), id->top);
    te_async_group_push(pairing, id, details);
}

/* Take the innermost slice from the stack. */
static void te_async_pop(struct te_async_pairing *pairing, struct te_async_id *id)
{
    assert(id->top != 0);
    struct te_async_open *open = &pairing->opens[id->top];
    uint32_t frame = pairing->context->async.rows[open->slice].frame;
    tv_map_set(&pairing->innermost, (uint64_t)open->id << 32 | frame, open->same);
    open->taken = true;
    id->top = open->below;
}

/* Add a slice that began before the trace: at the first event of its id. */
static void te_async_end_unmatched(struct te_async_pairing *pairing,
                                   const struct tv_te_deferred *event,
                                   const struct te_async_details *details)
{
    uint32_t number = te_async_add_slice(pairing, event, details);
    struct tv_async_slice *slice = &pairing->context->async.rows[number];
    slice->start = pairing->ids[details->id].first;
    slice->length = event->time - slice->start;
    slice->flags = TV_SLICE_ENTERED_BEFORE;
    tv_te_warn(pairing->context, TV_DIAGNOSTIC_ASYNC_UNMATCHED_END, event->offset);
}

/* Close the slice that the end belongs to, and drop the open slices above it. */
static void te_async_end(struct te_async_pairing *pairing, const struct tv_te_deferred *event,
                         const struct te_async_details *details)
{
    struct te_async_id *id = &pairing->ids[details->id];
    uint32_t found = tv_map_find(&pairing->innermost, te_async_name_key(details));
    if (found == TV_NONE || found == 0)
        found = te_async_group_find_open(pairing, id, details);
    if (found == 0) {
        te_async_end_unmatched(pairing, event, details);
        return;
    }
    id = &pairing->ids[pairing->opens[found].id];
    while (id->top != found)
        te_async_pop(pairing, id);
    te_async_pop(pairing, id);
    struct tv_async_slice *slice = &pairing->context->async.rows[pairing->opens[found].slice];
    slice->length = event->time - slice->start;
    slice->end_thread = event->thread;
    slice->colour = details->colour;
    if (details->has_details)
        slice->end_offset = event->offset;
    if (slice->cpu_start != TV_NO_TIME && details->cpu != TV_NO_TIME)
        slice->cpu_length = details->cpu - slice->cpu_start;
    pairing->opens[found].ended = true;
}

/* End what is still open at the last event of its id. */
static void te_async_close_open(struct te_async_pairing *pairing)
{
    for (size_t i = 1; i < pairing->open_count; i++) {
        const struct te_async_open *open = &pairing->opens[i];
        struct tv_async_slice *slice = &pairing->context->async.rows[open->slice];
        if (open->ended)
            continue;
        slice->length = pairing->ids[open->id].last - slice->start;
        slice->flags = TV_SLICE_OPEN;
        tv_te_warn(pairing->context, TV_DIAGNOSTIC_ASYNC_OPEN, slice->offset);
    }
}

/* Read the events in the order of the file, then pair them in the order of time. */
static void te_async_pair_all(struct te_async_pairing *pairing,
                              const struct tv_te_selection *selection)
{
    struct te_async_details *details = tv_alloc(selection->count, sizeof *details);
    for (size_t i = 0; i < selection->count; i++)
        te_async_read_event(pairing, &pairing->context->deferred.rows[selection->rows[i]],
                            &details[i]);
    for (size_t i = 0; i < selection->count; i++) {
        size_t next = selection->order[i];
        const struct tv_te_deferred *event =
            &pairing->context->deferred.rows[selection->rows[next]];
        if (details[next].id == TV_NONE)
            continue;
        if (event->phase == 'b')
            te_async_begin(pairing, event, &details[next]);
        else if (event->phase == 'e')
            te_async_end(pairing, event, &details[next]);
        else
            te_async_add_slice(pairing, event, &details[next]);
    }
    tv_free(details);
    te_async_close_open(pairing);
}

void tv_te_async_pair(struct tv_te_context *context)
{
    struct te_async_pairing pairing = {.context = context, .open_count = 1};
    struct tv_te_selection selection;
    tv_te_select(&selection, context, "bne");
    tv_map_init(&pairing.id_numbers);
    tv_map_init(&pairing.innermost);
    tv_map_init(&pairing.latest);
    pairing.opens = tv_array_reserve(NULL, &pairing.open_capacity, 1, sizeof *pairing.opens);
    pairing.opens[0] = (struct te_async_open){.slice = TV_NONE, .id = TV_NONE, .ended = true};
    te_async_pair_all(&pairing, &selection);
    tv_map_release(&pairing.id_numbers);
    tv_map_release(&pairing.innermost);
    tv_map_release(&pairing.latest);
    tv_free(pairing.ids);
    tv_free(pairing.opens);
    tv_te_id_key_release(&pairing.key);
    tv_te_selection_release(&selection);
}

/* ---- Phases S, T, p, F ---- */

/*
 * The older kind: S begins, F ends, T and p are steps in between.  The key is name and id, without
 * the category.  A step T lasts from its event to the next, a step p from the previous event to its
 * own; the steps of one slice are of one kind.  A T with a length is not a step but the state of a
 * thread (thread_states.c).
 */

struct te_legacy_details {
    uint32_t key;  /* index in keys; TV_NONE: left out, or a thread's state */
    uint32_t step; /* string */
    uint8_t colour;
    bool has_details;
};

/* The events with one name and id. */
struct te_legacy_key {
    uint32_t id, group; /* of the slices */
    uint32_t name;      /* string */
    uint32_t slice;     /* the open slice, in context->async; TV_NONE */
    uint32_t last_step; /* a T that lasts to the next event; TV_NONE */
    int64_t last;       /* time of the previous event */
    char kind;          /* kind of its steps: T or p; 0: none yet; '!': both */
};

struct te_legacy_pairing {
    struct tv_te_context *context;
    struct tv_te_id_key text;
    struct tv_map numbers; /* (name, id) -> index in keys */
    struct tv_map latest;  /* (name, group of joined ids) -> key that began last */
    struct te_legacy_key *keys;
    size_t key_count, key_capacity;
};

/* Return the index of the key (name, id); add it when new. */
static uint32_t te_legacy_add_key(struct te_legacy_pairing *pairing, uint32_t name)
{
    struct tv_trace_info *head = pairing->context->trace->head;
    uint32_t id = tv_trace_info_string(head, tv_te_id_key_text(&pairing->text));
    uint32_t number =
        tv_map_add(&pairing->numbers, (uint64_t)name << 32 | id, (uint32_t)pairing->key_count);
    if (number < pairing->key_count)
        return number;
    pairing->keys = tv_array_reserve(pairing->keys, &pairing->key_capacity, pairing->key_count + 1,
                                     sizeof *pairing->keys);
    pairing->keys[pairing->key_count++] = (struct te_legacy_key){
        .id = id,
        .group = tv_te_id_group(pairing->context, tv_te_id_key_text(&pairing->text)),
        .name = name,
        .slice = TV_NONE,
        .last_step = TV_NONE,
    };
    return number;
}

/* Return the name of a step: args.step as text, or the name of its event. */
static uint32_t te_legacy_step_name(struct te_legacy_pairing *pairing,
                                    const struct tv_te_deferred *event,
                                    const struct tv_te_fields *fields)
{
    struct tv_trace_info *head = pairing->context->trace->head;
    struct tv_bytes step = tv_te_member(fields->args, "step");
    if (step.data == NULL)
        return head->frames[event->frame].name;
    return tv_trace_info_string(head, tv_te_decode_text(step, &pairing->context->scratch));
}

/* Steps say more than a row keeps: their names, and lengths that make them states. */
static bool te_legacy_read_step(struct te_legacy_pairing *pairing,
                                const struct tv_te_deferred *event, struct tv_te_link *link,
                                struct te_legacy_details *details)
{
    struct tv_te_fields fields;
    int64_t length;
    if (!tv_te_event_read(pairing->context, event->offset, &fields) ||
        (event->phase == 'T' && tv_te_parse_time(fields.dur, &length)))
        return false;
    *link = tv_te_link_of(event, &fields);
    details->step = te_legacy_step_name(pairing, event, &fields);
    return true;
}

/* Read what an event says; TV_NONE as key leaves it out. */
static void te_legacy_read_event(struct te_legacy_pairing *pairing,
                                 const struct tv_te_deferred *event,
                                 struct te_legacy_details *details)
{
    struct tv_te_context *context = pairing->context;
    uint32_t name = context->trace->head->frames[event->frame].name;
    bool step = event->phase == 'T' || event->phase == 'p';
    struct tv_te_link link;
    *details = (struct te_legacy_details){.key = TV_NONE, .step = TV_EMPTY_STRING};
    if (!(step ? te_legacy_read_step(pairing, event, &link, details)
               : tv_te_link_read(context, event, &link)))
        return;
    details->colour = link.colour;
    details->has_details = link.has_details;
    /* Clock marks of Chrome (join.c) have no id. */
    if (tv_bytes_starts_with(tv_trace_info_text(context->trace->head, name),
                             TV_BYTES("ClockSyncEvent.")))
        return;
    pairing->text.length = 0;
    if (!tv_te_id_key_add_event_id(&pairing->text, context, event, &link, TV_TE_ID_SHARED))
        return;
    details->key = te_legacy_add_key(pairing, name);
}

static uint32_t te_legacy_add_slice(struct te_legacy_pairing *pairing,
                                    const struct tv_te_deferred *event,
                                    const struct te_legacy_details *details, int64_t start)
{
    struct tv_async_slice *slice = te_async_new_slice(pairing->context, event);
    slice->start = start;
    slice->colour = details->colour;
    return (uint32_t)(pairing->context->async.count - 1);
}

/* Begin a slice.  A second S before the F is counted and ignored. */
static void te_legacy_begin(struct te_legacy_pairing *pairing, const struct tv_te_deferred *event,
                            const struct te_legacy_details *details)
{
    assert(details->key < pairing->key_count);
    struct te_legacy_key *key = &pairing->keys[details->key];
    if (key->slice != TV_NONE) {
        tv_te_warn(pairing->context, TV_DIAGNOSTIC_ASYNC_BEGUN_TWICE, event->offset);
        return;
    }
    key->slice = te_legacy_add_slice(pairing, event, details, event->time);
    key->last_step = TV_NONE;
    key->last = event->time;
    key->kind = 0;
    pairing->context->async.rows[key->slice].id = key->id;
    pairing->context->async.rows[key->slice].group = key->group;
    if (key->group != TV_NONE)
        tv_map_set(&pairing->latest, (uint64_t)key->name << 32 | key->group, details->key);
}

/* Return the key of the event if it has an open slice, or else the joined one that began last. */
static struct te_legacy_key *te_legacy_find_open(struct te_legacy_pairing *pairing,
                                                 const struct te_legacy_details *details)
{
    struct te_legacy_key *key = &pairing->keys[details->key];
    if (key->slice != TV_NONE || key->group == TV_NONE)
        return key;
    uint32_t other = tv_map_find(&pairing->latest, (uint64_t)key->name << 32 | key->group);
    return other == TV_NONE ? key : &pairing->keys[other];
}

/* End a step T, which lasts to the next event. */
static void te_legacy_end_step(struct te_legacy_pairing *pairing, struct te_legacy_key *key,
                               int64_t time)
{
    if (key->last_step == TV_NONE)
        return;
    struct tv_async_slice *step = &pairing->context->async.rows[key->last_step];
    step->length = time - step->start;
    key->last_step = TV_NONE;
}

/* Add a step as a child of its slice. */
static void te_legacy_add_step(struct te_legacy_pairing *pairing,
                               const struct tv_te_deferred *event,
                               const struct te_legacy_details *details, struct te_legacy_key *key)
{
    assert(key->slice != TV_NONE);
    struct tv_te_context *context = pairing->context;
    struct tv_frame frame = context->trace->head->frames[event->frame];
    uint32_t number =
        te_legacy_add_slice(pairing, event, details, event->phase == 'T' ? event->time : key->last);
    struct tv_async_slice *step = &context->async.rows[number];
    frame.name = details->step;
    step->frame = tv_trace_info_add_frame(context->trace->head, &frame);
    step->parent = key->slice;
    step->id = key->id;
    step->group = key->group;
    step->length = event->time - step->start;
    if (event->phase == 'T')
        key->last_step = number;
}

/* Return the key of an event within an open slice, whose open step ends here.  NULL: there is no
 * such slice, so the event is counted and left out. */
static struct te_legacy_key *te_legacy_continue(struct te_legacy_pairing *pairing,
                                                const struct tv_te_deferred *event,
                                                const struct te_legacy_details *details)
{
    struct te_legacy_key *key = te_legacy_find_open(pairing, details);
    if (key->slice == TV_NONE) {
        tv_te_warn(pairing->context, TV_DIAGNOSTIC_ASYNC_STRAY_STEP, event->offset);
        return NULL;
    }
    te_legacy_end_step(pairing, key, event->time);
    return key;
}

/* Take T or p.  Steps of the second kind in one slice are counted and left out. */
static void te_legacy_take_step(struct te_legacy_pairing *pairing,
                                const struct tv_te_deferred *event,
                                const struct te_legacy_details *details)
{
    struct te_legacy_key *key = te_legacy_continue(pairing, event, details);
    if (!key)
        return;
    if (key->kind == 0)
        key->kind = event->phase;
    if (key->kind == event->phase) {
        te_legacy_add_step(pairing, event, details, key);
    } else {
        key->kind = '!';
        tv_te_warn(pairing->context, TV_DIAGNOSTIC_ASYNC_MIXED_STEPS, event->offset);
    }
    key->last = event->time;
}

/* End the slice; an open step ends with it. */
static void te_legacy_end(struct te_legacy_pairing *pairing, const struct tv_te_deferred *event,
                          const struct te_legacy_details *details)
{
    struct te_legacy_key *key = te_legacy_continue(pairing, event, details);
    if (!key)
        return;
    struct tv_async_slice *slice = &pairing->context->async.rows[key->slice];
    slice->length = event->time - slice->start;
    slice->end_thread = event->thread;
    if (details->has_details)
        slice->end_offset = event->offset;
    key->slice = TV_NONE;
}

/* A slice without F ends with its file. */
static void te_legacy_close_open(struct te_legacy_pairing *pairing)
{
    struct tv_te_context *context = pairing->context;
    for (size_t i = 0; i < pairing->key_count; i++) {
        struct te_legacy_key *key = &pairing->keys[i];
        if (key->slice == TV_NONE)
            continue;
        struct tv_async_slice *slice = &context->async.rows[key->slice];
        if (key->last_step != TV_NONE)
            context->async.rows[key->last_step].flags = TV_SLICE_OPEN;
        tv_ns end = tv_te_thread_end(context, slice->start_thread, key->last);
        te_legacy_end_step(pairing, key, end);
        slice->length = end - slice->start;
        slice->flags = TV_SLICE_OPEN;
        tv_te_warn(context, TV_DIAGNOSTIC_ASYNC_OPEN, slice->offset);
    }
}

static void te_legacy_pair_event(struct te_legacy_pairing *pairing,
                                 const struct tv_te_deferred *event,
                                 const struct te_legacy_details *details)
{
    if (details->key == TV_NONE)
        return;
    if (event->phase == 'S')
        te_legacy_begin(pairing, event, details);
    else if (event->phase == 'F')
        te_legacy_end(pairing, event, details);
    else
        te_legacy_take_step(pairing, event, details);
}

void tv_te_async_pair_legacy(struct tv_te_context *context)
{
    struct te_legacy_pairing pairing = {.context = context};
    struct tv_te_selection selection;
    tv_te_select(&selection, context, "STpF");
    struct te_legacy_details *details = tv_alloc(selection.count, sizeof *details);
    tv_map_init(&pairing.numbers);
    tv_map_init(&pairing.latest);
    for (size_t i = 0; i < selection.count; i++)
        te_legacy_read_event(&pairing, &context->deferred.rows[selection.rows[i]], &details[i]);
    for (size_t i = 0; i < selection.count; i++) {
        size_t next = selection.order[i];
        te_legacy_pair_event(&pairing, &context->deferred.rows[selection.rows[next]],
                             &details[next]);
    }
    te_legacy_close_open(&pairing);
    tv_free(details);
    tv_map_release(&pairing.numbers);
    tv_map_release(&pairing.latest);
    tv_free(pairing.keys);
    tv_te_id_key_release(&pairing.text);
    tv_te_selection_release(&selection);
}
