/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flows.c - arrows between slices or instants: phases s, t and f, and slices with a bind_id
 * (trace-event.md section 3.7).
 *
 *     s t f    a start, steps and an end with one category, name and id (1 and "1" are two ids)
 *              make an arrow from each to the next:   s --> t --> f
 *              One start may have many ends.  A new start counts when the previous has had an end.
 *     bind_id  a slice with flow_out is a producer, one with flow_in a consumer.  Arrows leave from
 *              the producer's end and arrive at the consumer's start.
 *
 * An arrow needs slices, so the work has three steps: tv_te_flows_read beside the placing numbers
 * the ids and sorts the events by time; then flow_binding.c finds the slice of each event; then the
 * events are paired, by id in the order of time.
 */
#include "readers/trace_event/join/flows.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/sort.h"
#include "readers/trace_event/join/join.h"

/*
 * A file may have millions of flow events, each with an id.  Few ids are longer than eight
 * bytes and no number, so an id is 64 bits and a form: the text itself, or the number that the text
 * writes in its one usual way.  So equal ids have equal bits, and texts are interned for the rest
 * alone.
 *
 *     "42"                   form 2, bits '4' '2'
 *     "0x7f3a5c001234"       TV_TE_FLOW_HEX, bits 0x7f3a5c001234
 *     "a-long-request-id"    TV_TE_FLOW_LONG, bits its number in `longer`
 */

/* ---- Texts ---- */

/* True when the text is how the number is written.  It has more than one digit. */
static bool te_flow_id_is_decimal(struct tv_bytes text, uint64_t *number)
{
    return text.data[0] != '0' && tv_parse_u64(text, number);
}

/* True when the text is how the number is written in hexadecimal: no leading zeros, lower case. */
static bool te_flow_id_is_hex(struct tv_bytes text, uint64_t *number)
{
    if (text.data[0] != '0' || text.data[1] != 'x' || text.data[2] == '0' || text.length > 18)
        return false;
    *number = 0;
    for (size_t i = 2; i < text.length; i++) {
        uint8_t c = text.data[i];
        bool digit = c >= '0' && c <= '9';
        if (!digit && (c < 'a' || c > 'f'))
            return false;
        *number = *number << 4 | (uint64_t)(digit ? c - '0' : c - 'a' + 10);
    }
    return true;
}

struct tv_te_flow_id tv_te_flow_id_of(struct tv_bytes text, bool string,
                                      struct tv_interner **longer)
{
    struct tv_te_flow_id id = {0, string ? TV_TE_FLOW_STRING : 0};
    if (text.length <= sizeof id.bits) {
        id.form |= (uint8_t)text.length;
        if (text.length > 0)
            memcpy(&id.bits, text.data, text.length);
    } else if (te_flow_id_is_decimal(text, &id.bits)) {
        id.form |= TV_TE_FLOW_DECIMAL;
    } else if (te_flow_id_is_hex(text, &id.bits)) {
        id.form |= TV_TE_FLOW_HEX;
    } else {
        if (*longer == NULL)
            *longer = tv_interner_new();
        id.form |= TV_TE_FLOW_LONG;
        id.bits = tv_interner_add(*longer, text);
    }
    return id;
}

struct tv_bytes tv_te_flow_id_text(const struct tv_te_flow_id *id, const struct tv_interner *longer,
                                   char room[TV_TE_FLOW_ROOM])
{
    unsigned form = id->form & TV_TE_FLOW_TEXT;
    if (form <= sizeof id->bits)
        return (struct tv_bytes){(const uint8_t *)&id->bits, form};
    if (form == TV_TE_FLOW_LONG)
        return tv_interner_get(longer, (uint32_t)id->bits);
    snprintf(room, TV_TE_FLOW_ROOM, form == TV_TE_FLOW_HEX ? "0x%" PRIx64 : "%" PRIu64, id->bits);
    return tv_bytes_of(room);
}

/* ---- Keys ---- */

/* The hash is beside the number, so few keys are compared in vain. */
struct tv_te_flow_slot {
    uint32_t hash;
    uint32_t number; /* plus 1; 0: free */
};

#define FIRST_FLOW_SLOTS ((size_t)1024)

/* Return the size of a table of keys. */
static size_t te_flow_keys_bytes(size_t slots)
{
    return tv_size_mul(slots, sizeof(struct tv_te_flow_slot));
}

void tv_te_flow_keys_freeze(struct tv_te_flow_keys *keys)
{
    /* Keys are found by their numbers from now on.  The table is about as large as the keys,
     * and the slices that the events bind to need the memory next. */
    if (keys->slots)
        tv_pages_free(keys->slots, te_flow_keys_bytes(keys->slot_count));
    keys->slots = NULL;
    keys->slot_count = 0;
}

void tv_te_flow_keys_release(struct tv_te_flow_keys *keys)
{
    tv_te_flow_keys_freeze(keys);
    tv_free(keys->rows);
    *keys = (struct tv_te_flow_keys){.rows = NULL};
}

/* Double the table. */
static TV_NOINLINE void te_flow_keys_grow(struct tv_te_flow_keys *keys)
{
    assert((keys->slot_count & (keys->slot_count - 1)) == 0);
    size_t count = keys->slot_count ? tv_size_mul(keys->slot_count, 2) : FIRST_FLOW_SLOTS;
    struct tv_te_flow_slot *slots = tv_pages_alloc(te_flow_keys_bytes(count));
    for (size_t i = 0; i < keys->slot_count; i++) {
        struct tv_te_flow_slot moved = keys->slots[i];
        size_t at = moved.hash & (count - 1);
        if (moved.number == 0)
            continue;
        while (slots[at].number != 0)
            at = (at + 1) & (count - 1);
        slots[at] = moved;
    }
    tv_te_flow_keys_freeze(keys);
    keys->slots = slots;
    keys->slot_count = count;
}

static bool te_flow_keys_equal(const struct tv_te_flow_key *a, const struct tv_te_flow_key *b)
{
    return a->bits == b->bits && a->frame == b->frame && a->form == b->form;
}

uint32_t tv_te_flow_keys_add(struct tv_te_flow_keys *keys, struct tv_te_flow_key key)
{
    assert(keys->slots || keys->count == 0); /* not frozen */
    uint64_t beside = (uint64_t)key.frame << 8 | key.form;
    uint32_t hash = (uint32_t)tv_hash_u64(key.bits ^ beside * UINT64_C(0x9e3779b97f4a7c15));
    if (TV_UNLIKELY(keys->count >= keys->slot_count / 4 * 3))
        te_flow_keys_grow(keys);
    size_t at = hash & (keys->slot_count - 1);
    for (; keys->slots[at].number != 0; at = (at + 1) & (keys->slot_count - 1))
        if (keys->slots[at].hash == hash &&
            te_flow_keys_equal(&keys->rows[keys->slots[at].number - 1], &key))
            return keys->slots[at].number - 1;
    if (keys->count >= TV_NONE - 1)
        tv_memory_exhausted();
    keys->rows = tv_array_reserve(keys->rows, &keys->capacity, keys->count + 1, sizeof *keys->rows);
    keys->rows[keys->count++] = key;
    keys->slots[at] = (struct tv_te_flow_slot){hash, (uint32_t)keys->count};
    return (uint32_t)keys->count - 1;
}

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

/* Give a long id of a chunk its number in the interner of all. */
static void te_flow_event_renumber_text(struct tv_te_flow_list *list,
                                        const struct tv_te_flow_list *chunk,
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
    if (list->count == 0) { /* the first list is taken as it is */
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

/* Progress of the events of a key. */
struct te_flow_state {
    uint32_t from; /* number of the event that the next arrow leaves from; TV_NONE: none */
    bool arrived;  /* an end was there, so another start may come */
};

/* A slice of an async track. */
struct te_flow_async_slice {
    uint64_t offset;
    uint32_t row, index;
};

struct tv_te_flow_plan {
    struct tv_te_context *context;
    struct tv_te_flow_list
        *events; /* of the context, with the slices that have a bind_id merged in */
    struct tv_te_flow_keys keys;
    uint32_t *order;              /* numbers of the events, by time, then by place in the file */
    struct te_flow_state *states; /* [keys] */
    struct te_flow_async_slice *async_slices; /* by offset; made on first use */
    size_t async_count, async_capacity;
    bool async_indexed;
};

static bool te_flow_is_event(const struct tv_te_flow_event *event)
{
    return event->phase == 's' || event->phase == 't' || event->phase == 'f';
}

/* ---- Reading the events ---- */

/* Decide where an f event without "bp" binds: the category says whether to the enclosing slice or
 * the next one, as Chrome's history has it. */
static bool te_flow_binds_next(const struct tv_te_flow_plan *plan,
                               const struct tv_te_flow_event *event)
{
    struct tv_trace_info *head = plan->context->trace->head;
    struct tv_bytes category = tv_trace_info_text(head, head->frames[event->frame].category);
    return !tv_te_text_contains(category, TV_BYTES("input")) &&
           !tv_te_text_contains(category, TV_BYTES("ipc.flow"));
}

static uint32_t te_flow_add_key(struct tv_te_flow_plan *plan, const struct tv_te_flow_event *event)
{
    struct tv_te_flow_key key = {tv_te_flow_bits(event), event->frame, (uint8_t)event->form};
    return tv_te_flow_keys_add(&plan->keys, key);
}

/* Number the id of an event; it asks for a slice unless it is invalid. */
static void te_flow_read_event(struct tv_te_flow_plan *plan, struct tv_te_flow_event *event)
{
    uint32_t key = TV_NONE;
    if (event->unsaid)
        event->next = te_flow_binds_next(plan, event);
    if (event->form & TV_TE_FLOW_NO_ID)
        tv_te_warn(plan->context, TV_DIAGNOSTIC_ID_MISSING, event->offset);
    else if (event->bad_point)
        tv_te_warn(plan->context, TV_DIAGNOSTIC_FLOW_BAD_BINDING, event->offset);
    else
        key = te_flow_add_key(plan, event);
    event->asks = key != TV_NONE;
    event->key = key;
    event->row = event->index = TV_NONE;
}

/* Read a slice with a bind_id.  False: it has none, or no direction. */
static bool te_flow_read_bound_slice(struct tv_te_flow_plan *plan, uint32_t deferred,
                                     struct tv_te_flow_event *bound)
{
    struct tv_te_context *context = plan->context;
    const struct tv_te_deferred *event = &context->deferred.rows[deferred];
    struct tv_te_fields fields;
    if (!tv_te_event_read(context, event->offset, &fields) || fields.bind_id.data == NULL)
        return false;
    struct tv_te_flow_id id = tv_te_flow_id_of(tv_te_decode_text(fields.bind_id, &context->scratch),
                                               false, &plan->events->longer);
    *bound = (struct tv_te_flow_event){
        .time = event->time,
        .offset = event->offset & TV_OFFSET_MASK,
        .phase = (uint8_t)event->phase,
        .form = id.form,
        .in = tv_te_is_true(fields.flow_in),
        .out = tv_te_is_true(fields.flow_out),
        .of = deferred,
    };
    if (!bound->in && !bound->out) {
        tv_te_warn(context, TV_DIAGNOSTIC_FLOW_NO_DIRECTION, event->offset);
        return false;
    }
    bound->key =
        tv_te_flow_keys_add(&plan->keys, (struct tv_te_flow_key){id.bits, TV_NONE, id.form});
    return true;
}

/* True when the event may have a bind_id: rows of such events keep nothing else. */
static bool te_flow_may_be_bound(const struct tv_te_deferred *event)
{
    return strchr("XBbn", event->phase) != NULL && !(event->kept & TV_TE_KEPT);
}

/* Merge a few events into the others; all stay in the order of the file. */
static void te_flow_merge_by_offset(struct tv_te_flow_list *events,
                                    const struct tv_te_flow_event *rows, size_t count)
{
    size_t left = events->count, to = left + count;
    events->rows = tv_array_reserve(events->rows, &events->capacity, to, sizeof *events->rows);
    events->count = to;
    /* from the back, so that no event is overwritten before it was moved */
    while (count > 0) {
        bool later = left > 0 && events->rows[left - 1].offset > rows[count - 1].offset;
        events->rows[--to] = later ? events->rows[--left] : rows[--count];
    }
}

/* Read the slices with a bind_id and merge them into the events. */
static void te_flow_read_bound_slices(struct tv_te_flow_plan *plan)
{
    const struct tv_te_context *context = plan->context;
    struct tv_te_flow_list bound = {.rows = NULL};
    struct tv_te_flow_event event;
    for (size_t i = 0; i < context->deferred.count; i++)
        if (te_flow_may_be_bound(&context->deferred.rows[i]) &&
            te_flow_read_bound_slice(plan, (uint32_t)i, &event))
            *tv_table_add(&bound) = event;
    if (bound.count > 0)
        te_flow_merge_by_offset(plan->events, bound.rows, bound.count);
    tv_free(bound.rows);
}

/* Sort the events by time; at one time the order of the file counts. */
static void te_flow_sort_events(struct tv_te_flow_plan *plan)
{
    size_t count = plan->events->count;
    size_t size = tv_size_mul(count, sizeof(struct tv_sort_key));
    struct tv_sort_key *dated = tv_pages_alloc(size);
    for (size_t i = 0; i < count; i++)
        dated[i] = (struct tv_sort_key){tv_sort_signed(plan->events->rows[i].time), i};
    tv_sort_keys(dated, count);
    plan->order = tv_alloc(count, sizeof *plan->order);
    for (size_t i = 0; i < count; i++)
        plan->order[i] = (uint32_t)dated[i].index;
    tv_pages_free(dated, size);
}

void tv_te_flows_read(struct tv_te_context *context)
{
    struct tv_te_flow_plan *plan = tv_alloc(1, sizeof *plan);
    context->flows = plan;
    plan->context = context;
    plan->events = &context->flow_events;
    if (context->deferred.count + plan->events->count >= TV_NONE)
        tv_memory_exhausted();
    te_flow_read_bound_slices(plan);
    te_flow_sort_events(plan); /* before keys are added: sorting takes as much memory as they do */
    for (size_t i = 0; i < plan->events->count; i++)
        if (te_flow_is_event(&plan->events->rows[i]))
            te_flow_read_event(plan, &plan->events->rows[i]);
    tv_te_flow_keys_freeze(&plan->keys);
}

/* ---- Arrows ---- */

/* Return the frame of the arrow that an event begins. */
static uint32_t te_flow_frame(const struct tv_te_flow_plan *plan,
                              const struct tv_te_flow_event *event)
{
    return te_flow_is_event(event) ? plan->keys.rows[event->key].frame
                                   : plan->context->deferred.rows[event->of].frame;
}

static struct tv_flow_end te_flow_arrival(const struct tv_te_flow_event *event)
{
    return (struct tv_flow_end){.time = event->time, .row = event->row, .index = event->index};
}

/* Return where an arrow leaves: from the end of a slice with a bind_id, else from the event. */
static struct tv_flow_end te_flow_departure(const struct tv_te_flow_plan *plan,
                                            const struct tv_te_flow_event *event)
{
    const struct tv_te_context *context = plan->context;
    struct tv_flow_end end = te_flow_arrival(event);
    if (!te_flow_is_event(event))
        end.time = tv_slice_end(context->trace, end.row, end.index) -
                   context->trace->offset[context->input];
    return end;
}

/* Add the id to the strings.  Ids that no arrow has do not get there. */
static uint32_t te_flow_id_string(const struct tv_te_flow_plan *plan, uint32_t number)
{
    const struct tv_te_flow_key *key = &plan->keys.rows[number];
    struct tv_te_flow_id id = {key->bits, key->form};
    char room[TV_TE_FLOW_ROOM];
    return tv_trace_info_string(plan->context->trace->head,
                                tv_te_flow_id_text(&id, plan->events->longer, room));
}

/* Add the arrow from the open event of a key to this one. */
static void te_flow_add_arrow(struct tv_te_flow_plan *plan, const struct tv_te_flow_event *to)
{
    assert(plan->states[to->key].from != TV_NONE);
    const struct tv_te_flow_event *from = &plan->events->rows[plan->states[to->key].from];
    struct tv_flow *flow = tv_table_add(&plan->context->trace->tables.flows);
    *flow = (struct tv_flow){
        .from = te_flow_departure(plan, from),
        .to = te_flow_arrival(to),
        .offset = from->offset,
        .end_offset = to->offset,
        .frame = te_flow_frame(plan, from),
        .id = te_flow_id_string(plan, to->key),
        .input = plan->context->input,
    };
}

static void te_flow_open(const struct tv_te_flow_plan *plan, const struct tv_te_flow_event *event)
{
    plan->states[event->key] =
        (struct te_flow_state){(uint32_t)(event - plan->events->rows), false};
}

/*
 *     phase   no start yet        open                        open, an end was there
 *     s       opens               warning: begun twice        opens anew
 *     t       warning: no start   arrow, opens from here      arrow, opens from here
 *     f       warning: no start   arrow, notes the end        arrow: one start, many ends
 *
 * An event without a slice changes nothing: an arrow needs two ends to be drawn.
 */

/* Pair a flow event: a step or an end makes an arrow, a start or a step opens one. */
static void te_flow_pair_event(struct tv_te_flow_plan *plan, const struct tv_te_flow_event *event)
{
    assert(event->key < plan->keys.count);
    struct tv_te_context *context = plan->context;
    struct te_flow_state *state = &plan->states[event->key];
    bool open = state->from != TV_NONE;
    if (event->phase == 's' && open && !state->arrived) {
        tv_te_warn(context, TV_DIAGNOSTIC_FLOW_BEGUN_TWICE, event->offset);
        return;
    }
    if (event->phase != 's' && !open) {
        tv_te_warn(context, TV_DIAGNOSTIC_FLOW_NO_START, event->offset);
        return;
    }
    if (event->index == TV_NONE) {
        tv_te_warn(context, TV_DIAGNOSTIC_FLOW_NO_SLICE, event->offset);
        return;
    }
    if (event->phase != 's')
        te_flow_add_arrow(plan, event);
    if (event->phase == 'f')
        state->arrived = true;
    else
        te_flow_open(plan, event);
}

static int te_flow_compare_async(const void *left, const void *right)
{
    const struct te_flow_async_slice *a = left, *b = right;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

static void te_flow_add_async_row(struct tv_te_flow_plan *plan, uint32_t row)
{
    const struct tv_trace *trace = plan->context->trace;
    uint32_t count = trace->rows[row].count;
    plan->async_slices = tv_array_reserve(plan->async_slices, &plan->async_capacity,
                                          plan->async_count + count, sizeof *plan->async_slices);
    for (uint32_t i = 0; i < count; i++)
        plan->async_slices[plan->async_count++] =
            (struct te_flow_async_slice){tv_slice_offset(trace, row, i), row, i};
}

/* Index the async slices of the input by their place in the file. */
static void te_flow_index_async(struct tv_te_flow_plan *plan)
{
    const struct tv_trace *trace = plan->context->trace;
    plan->async_indexed = true;
    for (uint32_t row = 0; row < trace->row_count; row++)
        if (trace->rows[row].input == plan->context->input &&
            trace->tracks[trace->rows[row].track].kind == TV_TRACK_ASYNC)
            te_flow_add_async_row(plan, row);
    if (plan->async_count > 0)
        qsort(plan->async_slices, plan->async_count, sizeof *plan->async_slices,
              te_flow_compare_async);
}

/* Find the async slice of an event by its place in the file.
 *
 * The slices of a thread are found through the assembly.  Async slices are on tracks of their own,
 * so the only link back to an event is its offset. */
static bool te_flow_find_async(struct tv_te_flow_plan *plan, struct tv_te_flow_event *event)
{
    struct te_flow_async_slice wanted = {event->offset, 0, 0};
    const struct te_flow_async_slice *found;
    if (!plan->async_indexed)
        te_flow_index_async(plan);
    if (plan->async_count == 0)
        return false;
    found = bsearch(&wanted, plan->async_slices, plan->async_count, sizeof wanted,
                    te_flow_compare_async);
    if (found == NULL)
        return false;
    event->row = found->row;
    event->index = found->index;
    return true;
}

/* Find the slice that an event of a thread, or an async event, began. */
static bool te_flow_find_slice(struct tv_te_flow_plan *plan, struct tv_te_flow_event *event)
{
    const struct tv_te_context *context = plan->context;
    const struct tv_te_deferred *deferred = &context->deferred.rows[event->of];
    uint32_t row, index;
    if (event->phase == 'b' || event->phase == 'n')
        return te_flow_find_async(plan, event);
    if (!tv_assembly_find_slice(
            context->assembly,
            &(struct tv_slice_query){deferred->thread, deferred->time, deferred->offset, NULL},
            &row, &index))
        return false;
    event->row = row;
    event->index = index;
    return true;
}

/* Pair a slice with a bind_id: as a consumer, as a producer, or both. */
static void te_flow_pair_bound_slice(struct tv_te_flow_plan *plan, struct tv_te_flow_event *event)
{
    struct tv_te_context *context = plan->context;
    if (!te_flow_find_slice(plan, event)) {
        tv_te_warn(context, TV_DIAGNOSTIC_FLOW_NO_SLICE, event->offset);
        return;
    }
    if (event->in && plan->states[event->key].from != TV_NONE)
        te_flow_add_arrow(plan, event);
    else if (event->in)
        tv_te_warn(context, TV_DIAGNOSTIC_FLOW_NO_START, event->offset);
    if (event->out)
        te_flow_open(plan, event);
}

/* Find the slice or instant of each event. */
static void te_flow_bind_events(struct tv_te_flow_plan *plan)
{
    const struct tv_te_context *context = plan->context;
    struct tv_te_binding_queries queries = {
        .rows = plan->events->rows,
        .order = plan->order,
        .count = plan->events->count,
        .shift = context->trace->offset[context->input],
    };
    tv_te_flows_bind(context->assembly, context->trace, &queries, context->options->parts);
    tv_te_flows_bind_instants(context->trace, context->input, &queries);
}

/* Pair all events in the order of time. */
static void te_flow_pair_all(struct tv_te_flow_plan *plan)
{
    plan->states = tv_alloc(plan->keys.count, sizeof *plan->states);
    for (size_t i = 0; i < plan->keys.count; i++)
        plan->states[i].from = TV_NONE;
    for (size_t i = 0; i < plan->events->count; i++) {
        struct tv_te_flow_event *event = &plan->events->rows[plan->order[i]];
        if (event->key == TV_NONE)
            continue;
        if (te_flow_is_event(event))
            te_flow_pair_event(plan, event);
        else
            te_flow_pair_bound_slice(plan, event);
    }
}

void tv_te_flows_pair(struct tv_te_context *context)
{
    te_flow_bind_events(context->flows);
    te_flow_pair_all(context->flows);
    tv_te_flows_free(context->flows);
    context->flows = NULL;
}

void tv_te_flows_free(struct tv_te_flow_plan *plan)
{
    if (!plan)
        return;
    tv_te_flow_list_release(plan->events);
    tv_te_flow_keys_release(&plan->keys);
    tv_free(plan->order);
    tv_free(plan->states);
    tv_free(plan->async_slices);
    tv_free(plan);
}
