/* SPDX-License-Identifier: Apache-2.0 */
#include "model/objects.h"

#include "base/bytes.h"

static bool is_named(const struct tv_trace *trace, const struct tv_object *object,
                     const struct tv_object_reference *reference)
{
    struct tv_bytes scope = reference->scope.data == NULL ? TV_BYTES("ptr") : reference->scope;
    return object->input == reference->input && object->process == reference->process &&
           tv_bytes_equal(tv_head_text(trace->head, object->id), reference->id) &&
           tv_bytes_equal(tv_head_text(trace->head, object->scope), scope);
}

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

uint32_t tv_object_find_snapshot(const struct tv_trace *trace,
                                 const struct tv_object_reference *reference)
{
    /* Of several lives of one id the latest that had begun; else the first. */
    const struct tv_object *best = NULL;
    for (size_t i = 0; i < trace->tables.objects.count; i++) {
        const struct tv_object *object = &trace->tables.objects.rows[i];
        if (!is_alive(object, reference->time) || !is_named(trace, object, reference))
            continue;
        if (best == NULL || object->created <= reference->time)
            best = object;
    }
    return best == NULL ? TV_NONE : find_in(trace, best, reference->time);
}
