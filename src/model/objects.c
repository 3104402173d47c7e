/* SPDX-License-Identifier: Apache-2.0 */
#include "model/objects.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/memory.h"

#define DEFAULT_SCOPE TV_BYTES("ptr")

/* Objects of one name before and behind a time that may have to be passed over. */
#define MOST_LIVES 16u

/* ---- The order ---- */

static int compare(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static int compare_names(const struct tv_object_key *a, const struct tv_object_key *b)
{
    int order = compare(a->input, b->input);
    order = order != 0 ? order : compare(a->id, b->id);
    order = order != 0 ? order : compare(a->pid, b->pid);
    return order != 0 ? order : compare(a->scope, b->scope);
}

static int compare_keys(const void *left, const void *right)
{
    const struct tv_object_key *a = left, *b = right;
    int order = compare_names(a, b);
    order = order != 0 ? order : (a->created > b->created) - (a->created < b->created);
    return order != 0 ? order : compare(a->object, b->object);
}

static uint32_t pid_string(struct tv_head *head, uint32_t process)
{
    char number[24];
    if (process >= head->process_count)
        return TV_NONE;
    if (head->processes[process].key != TV_EMPTY_STRING)
        return head->processes[process].key;
    snprintf(number, sizeof number, "%llu", (unsigned long long)head->processes[process].id);
    return tv_head_string(head, tv_bytes_of(number));
}

void tv_objects_index(struct tv_trace *trace)
{
    struct tv_tables *tables = &trace->tables;
    if (tables->objects.count == 0)
        return;
    tables->object_keys = tv_alloc(tables->objects.count, sizeof *tables->object_keys);
    for (size_t i = 0; i < tables->objects.count; i++) {
        const struct tv_object *object = &tables->objects.rows[i];
        tables->object_keys[i] = (struct tv_object_key){
            .created = object->created,
            .input = object->input,
            .pid = pid_string(trace->head, object->process),
            .id = object->id,
            .scope = object->scope,
            .object = (uint32_t)i,
        };
    }
    qsort(tables->object_keys, tables->objects.count, sizeof *tables->object_keys, compare_keys);
}

/* ---- Looking ---- */

/* One that no event created may be older than its first snapshot. */
static bool is_alive(const struct tv_object *object, tv_ns time)
{
    if (time < object->created)
        return (object->flags & TV_OBJECT_CREATED) == 0;
    return time < object->deleted || (object->flags & TV_OBJECT_DELETED) == 0;
}

static uint32_t find_in(const struct tv_trace *trace, const struct tv_object *object, tv_ns time)
{
    const struct tv_snapshot *snapshots = trace->tables.snapshots.rows;
    uint32_t low = object->first_snapshot, high = low + object->snapshot_count;
    if (object->snapshot_count == 0)
        return TV_NONE;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (snapshots[middle].time <= time)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* False: nothing has such a name. */
static bool make_key(const struct tv_trace *trace, const struct tv_object_reference *reference,
                     struct tv_object_key *key)
{
    const struct tv_interner *strings = trace->head->strings;
    struct tv_bytes scope = reference->scope.data == NULL ? DEFAULT_SCOPE : reference->scope;
    *key = (struct tv_object_key){
        .created = reference->time,
        .input = reference->input,
        .pid = tv_interner_find(strings, reference->pid),
        .id = tv_interner_find(strings, reference->id),
        .scope = tv_interner_find(strings, scope),
        .object = TV_NONE,
    };
    return key->pid != TV_NONE && key->id != TV_NONE && key->scope != TV_NONE;
}

/* Of several lives of one id the latest that had begun; else the first. */
static const struct tv_object *find_life(const struct tv_trace *trace,
                                         const struct tv_object_key *wanted)
{
    const struct tv_object_key *keys = trace->tables.object_keys;
    const struct tv_object *objects = trace->tables.objects.rows;
    size_t count = trace->tables.objects.count, low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_keys(&keys[middle], wanted) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low, tried = 0; i > 0 && tried < MOST_LIVES; i--, tried++) {
        if (compare_names(&keys[i - 1], wanted) != 0)
            break;
        if (is_alive(&objects[keys[i - 1].object], wanted->created))
            return &objects[keys[i - 1].object];
    }
    for (size_t i = low; i < count && i - low < MOST_LIVES; i++) {
        if (compare_names(&keys[i], wanted) != 0)
            break;
        if (is_alive(&objects[keys[i].object], wanted->created))
            return &objects[keys[i].object];
    }
    return NULL;
}

uint32_t tv_object_find_snapshot(const struct tv_trace *trace,
                                 const struct tv_object_reference *reference)
{
    struct tv_object_key wanted;
    if (!trace->tables.object_keys || !make_key(trace, reference, &wanted))
        return TV_NONE;
    const struct tv_object *life = find_life(trace, &wanted);
    return life == NULL ? TV_NONE : find_in(trace, life, reference->time);
}
