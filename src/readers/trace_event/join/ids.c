/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ids.c - ids of events that belong together: keys that tell them apart, selecting deferred events
 * by phase, and groups of ids that "=" events join (trace-event.md section 3).
 *
 *     "id": "0x1"                       plain: shared by all processes (async, flows), or of the
 *                                       process (objects); `owner` says which
 *     "id2": {"local": "0x1"}           of the process
 *     "id2": {"global": "0x1"}          as a plain id
 *
 *     key: [pid] ":" scope ":" id       e.g. "7:ptr:0x1" or ":blink:0x1"
 *
 * Equal keys mean the same id. A missing scope is "ptr", as in Trace Viewer.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/sort.h"
#include "readers/trace_event/join/join.h"

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

/* Append an id: the text, if it is not a plain number. */
static void te_id_key_add_number(struct tv_te_id_key *key, const struct tv_trace_info *head,
                                 uint32_t text, uint64_t id)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)id);
    tv_te_id_key_add(key, text != TV_EMPTY_STRING ? tv_trace_info_text(head, text)
                                                  : tv_bytes_of(digits));
}

void tv_te_id_key_add_process(struct tv_te_id_key *key, const struct tv_trace_info *head,
                              uint32_t process)
{
    te_id_key_add_number(key, head, head->processes[process].key, head->processes[process].id);
}

void tv_te_id_key_add_tid(struct tv_te_id_key *key, const struct tv_trace_info *head,
                          uint32_t thread)
{
    te_id_key_add_number(key, head, head->threads[thread].key, head->threads[thread].id);
}

/* Append a whole key; without a process the id is shared. */
void tv_te_id_key_add_parts(struct tv_te_id_key *key, const struct tv_trace_info *head,
                            uint32_t process, struct tv_bytes scope, struct tv_bytes id)
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
                           tv_te_decode_text(id->scope, &context->scratch),
                           (struct tv_bytes){NULL, 0});
    tv_te_id_key_add(key, tv_te_decode_text(id->raw, &context->scratch));
}

/* Append the key of an event, or diagnose that it has no id, or two. */
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

/* Sort by time; the sort is stable, so the order of the file decides at one time. */
static void te_selection_sort(struct tv_te_selection *selection,
                              const struct tv_te_context *context)
{
    struct tv_sort_key *dated = tv_alloc(selection->count, sizeof *dated);
    for (size_t i = 0; i < selection->count; i++)
        dated[i] = (struct tv_sort_key){
            tv_sort_signed(context->deferred.rows[selection->rows[i]].time), i};
    tv_sort_keys(dated, selection->count);
    for (size_t i = 0; i < selection->count; i++)
        selection->order[i] = (size_t)dated[i].index;
    tv_free(dated);
}

size_t tv_te_count_deferred(const struct tv_te_context *context, const char *phases)
{
    size_t count = 0;
    for (; *phases; phases++)
        count += context->deferred.count_of[(uint8_t)*phases];
    return count;
}

/* Select the events of some phases: `rows` in the order of the file, `order` by time. */
void tv_te_select(struct tv_te_selection *selection, const struct tv_te_context *context,
                  const char *phases)
{
    bool wanted[UINT8_MAX + 1] = {false};
    size_t filled = 0;
    selection->count = tv_te_count_deferred(context, phases);
    selection->rows = tv_alloc(selection->count, sizeof *selection->rows);
    selection->order = tv_alloc(selection->count, sizeof *selection->order);
    for (; *phases; phases++)
        wanted[(uint8_t)*phases] = true;
    for (size_t i = 0; filled < selection->count; i++)
        if (wanted[(uint8_t)context->deferred.rows[i].phase])
            selection->rows[filled++] = i;
    assert(filled == selection->count);
    te_selection_sort(selection, context);
}

void tv_te_selection_release(struct tv_te_selection *selection)
{
    tv_free(selection->rows);
    tv_free(selection->order);
}

/* Does the event have anything to show beyond what the model holds? Empty args do not count. */
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

/*
 * Groups of ids that "=" events join.
 *
 * Ids are joined in any order and through others, so groups are found with a forest of disjoint
 * sets: parents[] leads from an id to its root, the smallest number of its set.  A plain id joins
 * both what it is among async events, where all processes share it, and what it is among objects,
 * where it belongs to the process of the event.
 */

struct te_id_sets {
    struct tv_map numbers; /* string of the key -> number */
    uint32_t *parents;
    uint32_t *strings;
    size_t parent_capacity, string_capacity;
    uint32_t count;
};

/* Return the number of an id's string; a new id is a set of its own. */
static uint32_t te_id_sets_add(struct te_id_sets *sets, uint32_t string)
{
    uint32_t number = tv_map_add(&sets->numbers, string, sets->count);
    if (number != sets->count)
        return number;
    sets->parents = tv_array_reserve(sets->parents, &sets->parent_capacity, (size_t)number + 1,
                                     sizeof *sets->parents);
    sets->strings = tv_array_reserve(sets->strings, &sets->string_capacity, (size_t)number + 1,
                                     sizeof *sets->strings);
    sets->parents[number] = number;
    sets->strings[number] = string;
    sets->count++;
    return number;
}

/* Return the root, and halve the path to it. */
static uint32_t te_id_sets_root(struct te_id_sets *sets, uint32_t number)
{
    assert(number < sets->count);
    while (sets->parents[number] != number) {
        sets->parents[number] = sets->parents[sets->parents[number]];
        number = sets->parents[number];
    }
    return number;
}

/* Unite two sets; false: they were one already.  The smaller root stays the root. */
static bool te_id_sets_unite(struct te_id_sets *sets, uint32_t a, uint32_t b)
{
    a = te_id_sets_root(sets, a);
    b = te_id_sets_root(sets, b);
    if (a == b)
        return false;
    sets->parents[a < b ? b : a] = a < b ? a : b;
    return true;
}

/* A row that is added to the table of joins, before the groups are known. */
struct te_id_link {
    uint32_t number; /* number of the first id */
    bool itself;     /* the event joins an id to itself: it is listed, but makes no group */
};

struct te_id_grouping {
    struct tv_te_context *context;
    struct te_id_sets sets;
    struct tv_te_id_key key;
    struct te_id_link *rows; /* the rows that this input adds */
    size_t row_count, row_capacity;
};

static uint32_t te_id_groups_add_key(struct te_id_grouping *grouping,
                                     const struct tv_te_id_parts *id, enum tv_te_id_owner owner)
{
    grouping->key.length = 0;
    tv_te_id_key_add_id(&grouping->key, grouping->context, id, owner);
    return te_id_sets_add(&grouping->sets, tv_trace_info_string(grouping->context->trace->head,
                                                                tv_te_id_key_text(&grouping->key)));
}

/* Return the number of an id.  The same id among objects is united with it.  `object`, which
 * rewriting writes where ids were changed, says which id that is. */
static uint32_t te_id_groups_add_both(struct te_id_grouping *grouping, struct tv_te_id_parts id,
                                      struct tv_bytes object)
{
    uint32_t number = te_id_groups_add_key(grouping, &id, TV_TE_ID_SHARED);
    if (id.kind != TV_TE_ID_PLAIN)
        return number;
    if (object.data != NULL)
        id.raw = object;
    te_id_sets_unite(&grouping->sets, number, te_id_groups_add_key(grouping, &id, TV_TE_ID_OWNED));
    return number;
}

/* Return the second id: a value as of "id", or an object as of "id2". */
static enum tv_te_id_kind te_id_groups_linked_id(const struct tv_te_fields *fields,
                                                 struct tv_bytes *raw)
{
    struct tv_bytes linked = tv_te_member(fields->args, "linked_id");
    struct tv_te_fields other = {.ph = {NULL, 0}};
    if (linked.data == NULL) /* the spelling of the format's document */
        linked = tv_te_member(fields->args, "linked id");
    if (linked.length > 0 && linked.data[0] == '{')
        other.id2 = linked;
    else
        other.id = linked;
    return tv_te_fields_id(&other, raw);
}

static bool te_id_groups_is_id(enum tv_te_id_kind kind)
{
    return kind != TV_TE_ID_NONE && kind != TV_TE_ID_BAD;
}

/* Return the id as it is in the event; of "id2" without its object. */
static uint32_t te_id_groups_string(struct te_id_grouping *grouping, struct tv_bytes raw)
{
    struct tv_te_context *context = grouping->context;
    return tv_trace_info_string(context->trace->head, tv_te_decode_text(raw, &context->scratch));
}

static void te_id_groups_add_row(struct te_id_grouping *grouping, const struct tv_join *join,
                                 struct te_id_link row)
{
    *tv_table_add(&grouping->context->trace->tables.joins) = *join;
    grouping->rows = tv_array_reserve(grouping->rows, &grouping->row_capacity,
                                      grouping->row_count + 1, sizeof *grouping->rows);
    grouping->rows[grouping->row_count++] = row;
}

/* Read one "=" event and unite the two ids. */
static void te_id_groups_read_event(struct te_id_grouping *grouping,
                                    const struct tv_te_deferred *event)
{
    struct tv_te_fields fields;
    if (!tv_te_event_read(grouping->context, event->offset, &fields))
        return;
    struct tv_te_id_parts id = {.scope = fields.scope, .process = event->process}, linked = id;
    id.kind = tv_te_fields_id(&fields, &id.raw);
    linked.kind = te_id_groups_linked_id(&fields, &linked.raw);
    if (!te_id_groups_is_id(id.kind) || !te_id_groups_is_id(linked.kind)) {
        bool none = id.kind == TV_TE_ID_NONE || linked.kind == TV_TE_ID_NONE;
        tv_te_warn(grouping->context, none ? TV_DIAGNOSTIC_ID_MISSING : TV_DIAGNOSTIC_ID_AMBIGUOUS,
                   event->offset);
        return;
    }
    uint32_t first = te_id_groups_add_both(grouping, id, tv_te_member(fields.args, "object_id"));
    uint32_t second =
        te_id_groups_add_both(grouping, linked, tv_te_member(fields.args, "linked_object_id"));
    if (first == second)
        tv_te_warn(grouping->context, TV_DIAGNOSTIC_JOINED_TO_ITSELF, event->offset);
    else if (!te_id_sets_unite(&grouping->sets, first, second))
        tv_te_warn(grouping->context, TV_DIAGNOSTIC_JOINED_AGAIN, event->offset);
    struct tv_join join = {
        .offset = event->offset,
        .id = te_id_groups_string(grouping, id.raw),
        .linked = te_id_groups_string(grouping, linked.raw),
        .input = grouping->context->input,
    };
    te_id_groups_add_row(grouping, &join, (struct te_id_link){first, first == second});
}

/* Name a group by a string that no group of another input has. */
static uint32_t te_id_groups_name(struct te_id_grouping *grouping, uint32_t root)
{
    struct tv_trace_info *head = grouping->context->trace->head;
    char digits[16];
    snprintf(digits, sizeof digits, "%u=", (unsigned)grouping->context->input);
    grouping->key.length = 0;
    tv_te_id_key_add(&grouping->key, tv_bytes_of(digits));
    tv_te_id_key_add(&grouping->key, tv_trace_info_text(head, grouping->sets.strings[root]));
    return tv_trace_info_string(head, tv_te_id_key_text(&grouping->key));
}

/* Return for each root whether an event joined it to another id, not only to itself. */
static bool *te_id_groups_find_joined(struct te_id_grouping *grouping)
{
    bool *joined = tv_alloc(grouping->sets.count, sizeof *joined);
    memset(joined, 0, grouping->sets.count * sizeof *joined);
    for (size_t i = 0; i < grouping->row_count; i++)
        if (!grouping->rows[i].itself)
            joined[te_id_sets_root(&grouping->sets, grouping->rows[i].number)] = true;
    return joined;
}

/* Name the groups, and fill context->joined for all ids that are in one. */
static void te_id_groups_fill(struct te_id_grouping *grouping)
{
    struct te_id_sets *sets = &grouping->sets;
    struct tv_tables *tables = &grouping->context->trace->tables;
    if (grouping->row_count == 0)
        return;
    struct tv_join *joins = &tables->joins.rows[tables->joins.count - grouping->row_count];
    bool *joined = te_id_groups_find_joined(grouping);
    for (size_t i = 0; i < grouping->row_count; i++)
        joins[i].group =
            grouping->rows[i].itself
                ? TV_NONE
                : te_id_groups_name(grouping, te_id_sets_root(sets, grouping->rows[i].number));
    for (uint32_t i = 0; i < sets->count; i++) {
        uint32_t root = te_id_sets_root(sets, i);
        if (joined[root])
            tv_map_set(&grouping->context->joined, sets->strings[i],
                       te_id_groups_name(grouping, root));
    }
    tv_free(joined);
}

void tv_te_id_groups_read(struct tv_te_context *context)
{
    struct te_id_grouping grouping = {.context = context};
    tv_map_init(&grouping.sets.numbers);
    for (size_t i = 0; i < context->deferred.count; i++)
        if (context->deferred.rows[i].phase == '=')
            te_id_groups_read_event(&grouping, &context->deferred.rows[i]);
    te_id_groups_fill(&grouping);
    tv_map_release(&grouping.sets.numbers);
    tv_free(grouping.sets.parents);
    tv_free(grouping.sets.strings);
    tv_free(grouping.rows);
    tv_te_id_key_release(&grouping.key);
}

uint32_t tv_te_id_group(const struct tv_te_context *context, struct tv_bytes id)
{
    if (context->joined.count == 0)
        return TV_NONE;
    uint32_t string = tv_interner_find(context->trace->head->strings, id);
    return string == TV_NONE ? TV_NONE : tv_map_find(&context->joined, string);
}
