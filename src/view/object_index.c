/* SPDX-License-Identifier: Apache-2.0 */
#include "view/object_index.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "model/assembly/assembly.h"

struct keyed {
    const struct tv_trace *trace;
    const struct tv_object *object;
    tv_ns begin;
    uint32_t type, number;
};

static uint32_t type_of(const struct tv_object *object)
{
    return object->base_type == TV_EMPTY_STRING ? object->type : object->base_type;
}

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static int compare(const void *left, const void *right)
{
    const struct keyed *a = left, *b = right;
    const struct tv_trace_info *head = a->trace->head;
    int order = COMPARE(a->object->process, b->object->process);
    if (order == 0 && a->type != b->type)
        order = tv_bytes_compare(tv_trace_info_text(head, a->type), tv_trace_info_text(head, b->type));
    if (order == 0)
        order = COMPARE(a->begin, b->begin);
    return order ? order : COMPARE(a->number, b->number);
}

struct tv_object_index *tv_object_index_new(const struct tv_trace *trace)
{
    struct tv_object_index *index = tv_alloc(1, sizeof *index);
    index->trace = trace;
    tv_lock_init(&index->lock);
    return index;
}

void tv_object_index_free(struct tv_object_index *index)
{
    if (!index)
        return;
    tv_lock_release(&index->lock);
    tv_free(index->rows);
    tv_free(index->order);
    tv_free(index->row_of);
    tv_free(index->lane);
    tv_free(index);
}

static struct keyed *sorted(const struct tv_trace *trace, size_t count)
{
    struct keyed *items = tv_alloc(count, sizeof *items);
    for (size_t i = 0; i < count; i++) {
        const struct tv_object *object = &trace->tables.objects.rows[i];
        items[i] = (struct keyed){trace, object, tv_object_begin(trace, object), type_of(object),
                                  (uint32_t)i};
    }
    if (count > 1)
        qsort(items, count, sizeof *items, compare);
    return items;
}

static void add_row(struct tv_object_index *index, const struct keyed *item, uint32_t first)
{
    index->rows = tv_array_reserve(index->rows, &index->row_capacity, (size_t)index->row_count + 1,
                                   sizeof *index->rows);
    index->rows[index->row_count++] = (struct tv_object_row){
        .process = item->object->process, .type = item->type, .first = first};
}

/* An object without length takes its lane for a moment. */
static void take_lane(struct tv_object_index *index, struct tv_lanes *lanes,
                      const struct keyed *item)
{
    struct tv_object_row *row = &index->rows[index->row_count - 1];
    tv_ns end = tv_object_end(index->trace, item->object);
    uint32_t lane = tv_lanes_claim(lanes, item->begin, end > item->begin ? end : item->begin + 1);
    if (lane >= TV_OBJECT_LANES)
        lane = TV_OBJECT_LANES - 1;
    if (lane >= row->lanes)
        row->lanes = lane + 1;
    row->count++;
    row->snapshots += item->object->snapshot_count;
    index->lane[item->number] = lane;
    index->row_of[item->number] = index->row_count - 1;
}

static void make(struct tv_object_index *index)
{
    size_t count = index->trace->tables.objects.count;
    struct keyed *items = sorted(index->trace, count);
    struct tv_lanes lanes = {0};
    index->order = tv_alloc(count, sizeof *index->order);
    index->row_of = tv_alloc(count, sizeof *index->row_of);
    index->lane = tv_alloc(count, sizeof *index->lane);
    for (size_t i = 0; i < count; i++) {
        const struct keyed *item = &items[i];
        const struct tv_object_row *row =
            index->row_count > 0 ? &index->rows[index->row_count - 1] : NULL;
        if (!row || row->process != item->object->process || row->type != item->type) {
            tv_lanes_release(&lanes);
            add_row(index, item, (uint32_t)i);
        }
        index->order[i] = item->number;
        take_lane(index, &lanes, item);
    }
    tv_lanes_release(&lanes);
    tv_free(items);
}

const struct tv_object_index *tv_object_index_get(struct tv_object_index *index)
{
    tv_lock_enter(&index->lock);
    if (!index->made)
        make(index);
    index->made = true;
    tv_lock_leave(&index->lock);
    return index;
}
