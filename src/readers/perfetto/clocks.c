/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversion between clocks (docs/formats/perfetto.md section 4).
 *
 * All times of one snapshot are the same instant.  Two clocks that share snapshots form a hop; a
 * path of hops leads from any clock to that of the trace.  Between snapshots a clock is taken to
 * run like the other one: result = time - from + to, of the last snapshot at or before the time.
 *
 *     snapshot 0   BOOTTIME 1000   MONOTONIC  900                      linked: B-M
 *     snapshot 1   BOOTTIME 5000   MONOTONIC 4800   clock 128: 70   linked: all three
 *
 *     MONOTONIC 4500 -> 4500 - 900 + 1000 = 4600;   4900 -> 4900 - 4800 + 5000 = 5100
 *
 * A trace has at most 32 clocks, so sets of clocks are masks.  Paths and hops are made when a time
 * of their clock occurs: most traces use one or two of their clocks.  A clock that was once set
 * back cannot be searched by its time, so no path leads from it; the last point that was used is
 * tried first, because times mostly ascend.
 *
 * Ids from 64 to 127 belong to one sequence of packets and mean another clock in each.  They are
 * not in this table (sequences.c).
 */
#include "base/memory.h"
#include "base/sort.h"
#include "readers/perfetto/reading.h"

/* Return the index of a clock, adding it if needed; TV_NONE when there are too many. */
static uint32_t pf_clocks_index(struct tv_pf_clocks *clocks, uint32_t id)
{
    for (uint32_t i = 0; i < clocks->count; i++)
        if (clocks->ids[i] == id)
            return i;
    if (clocks->count == TV_PF_CLOCKS)
        return TV_NONE;
    clocks->ids[clocks->count] = id;
    return clocks->count++;
}

/* Parse a clock of a snapshot. */
static bool pf_clock_parse(struct tv_bytes bytes, uint32_t *id, int64_t *value)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    uint64_t unit = 1, time = 0;
    *id = 0;
    while (tv_pf_next(&message, &field)) {
        if (field.number == 1)
            *id = (uint32_t)field.value;
        else if (field.number == 2)
            time = field.value;
        else if (field.number == 4 && field.value > 0)
            unit = field.value;
    }
    *value = (int64_t)(time * unit);
    return !message.damaged && *id != 0;
}

/* Return whether an id means the same clock in all sequences. */
static bool pf_clock_is_global(uint32_t id)
{
    return id < TV_PF_CLOCK_SEQUENCE || id >= TV_PF_CLOCK_CUSTOM;
}

void tv_pf_clocks_add_snapshot(struct tv_pf_clocks *clocks, struct tv_bytes snapshot)
{
    struct tv_pf_message message = tv_pf_message_over(snapshot);
    struct tv_protobuf_field field;
    uint32_t id, seen = 0;
    int64_t value;
    while (tv_pf_next(&message, &field)) {
        if (field.number == 2 && clocks->primary == 0)
            clocks->primary = (uint32_t)field.value;
        if (field.number != 1 || !pf_clock_parse(field.bytes, &id, &value) ||
            !pf_clock_is_global(id))
            continue;
        uint32_t clock = pf_clocks_index(clocks, id);
        if (clock == TV_NONE || (seen >> clock & 1))
            continue;
        seen |= UINT32_C(1) << clock;
        *tv_table_add(&clocks->values) =
            (struct tv_pf_clock_value){value, clocks->snapshots, clock};
    }
    for (uint32_t i = 0; i < clocks->count; i++)
        if (seen >> i & 1)
            clocks->linked[i] |= seen;
    clocks->snapshots++;
}

/* Note the clocks that were set back. */
static void pf_clocks_find_backwards(struct tv_pf_clocks *clocks)
{
    int64_t last[TV_PF_CLOCKS];
    for (uint32_t i = 0; i < TV_PF_CLOCKS; i++)
        last[i] = INT64_MIN;
    for (size_t i = 0; i < clocks->values.count; i++) {
        const struct tv_pf_clock_value *value = &clocks->values.rows[i];
        if (value->value < last[value->clock])
            clocks->backwards |= UINT32_C(1) << value->clock;
        last[value->clock] = value->value;
    }
}

void tv_pf_clocks_finish(struct tv_pf_clocks *clocks)
{
    uint32_t boot = TV_NONE, primary = TV_NONE, first = TV_NONE;
    for (uint32_t i = 0; i < clocks->count; i++) {
        if (clocks->ids[i] == TV_PF_CLOCK_BOOTTIME)
            boot = i;
        if (clocks->ids[i] == clocks->primary)
            primary = i;
        if (first == TV_NONE || clocks->ids[i] == TV_PF_CLOCK_MONOTONIC)
            first = i;
    }
    clocks->trace = primary != TV_NONE ? primary : boot != TV_NONE ? boot : first;
    pf_clocks_find_backwards(clocks);
}

void tv_pf_clocks_release(struct tv_pf_clocks *clocks)
{
    tv_free(clocks->values.rows);
    for (uint32_t i = 0; i < TV_PF_CLOCKS; i++)
        for (uint32_t k = 0; k < TV_PF_CLOCKS; k++)
            if (clocks->hops[i][k]) {
                tv_free(clocks->hops[i][k]->points.rows);
                tv_free(clocks->hops[i][k]);
            }
}

uint32_t tv_pf_clocks_trace_id(const struct tv_pf_clocks *clocks)
{
    return clocks->trace == TV_NONE ? 0 : clocks->ids[clocks->trace];
}

/* Find the shortest path to the trace's clock, breadth first. */
static void pf_clocks_find_path(struct tv_pf_clocks *clocks, uint32_t from)
{
    struct tv_pf_clock_path *path = &clocks->paths[from];
    uint8_t queue[TV_PF_CLOCKS], before[TV_PF_CLOCKS], depth[TV_PF_CLOCKS] = {0};
    uint32_t seen = UINT32_C(1) << from, head = 0, tail = 0;
    path->known = 1;
    before[from] = (uint8_t)from;
    queue[tail++] = (uint8_t)from;
    while (head < tail) {
        uint8_t at = queue[head++];
        if (at == clocks->trace)
            break;
        if (depth[at] == TV_PF_HOPS || (clocks->backwards >> at & 1))
            continue;
        for (uint32_t next = 0; next < clocks->count; next++) {
            if (!(clocks->linked[at] >> next & 1) || (seen >> next & 1))
                continue;
            seen |= UINT32_C(1) << next;
            before[next] = at;
            depth[next] = (uint8_t)(depth[at] + 1);
            queue[tail++] = (uint8_t)next;
        }
    }
    if (!(seen >> clocks->trace & 1))
        return;
    path->known = 2;
    path->length = depth[clocks->trace];
    uint8_t at = (uint8_t)clocks->trace;
    for (uint8_t i = path->length + 1; i-- > 0; at = before[at])
        path->hops[i] = at;
}

/* Collect the points of a hop: the snapshots that have both clocks. */
static struct tv_pf_clock_hop *pf_clocks_hop(struct tv_pf_clocks *clocks, uint32_t from,
                                             uint32_t to)
{
    struct tv_pf_clock_hop **place = &clocks->hops[from][to];
    if (*place)
        return *place;
    struct tv_pf_clock_hop *hop = *place = tv_alloc(1, sizeof *hop);
    const struct tv_pf_clock_value *rows = clocks->values.rows;
    for (size_t i = 0, end; i < clocks->values.count; i = end) {
        const struct tv_pf_clock_value *a = NULL, *b = NULL;
        for (end = i; end < clocks->values.count && rows[end].snapshot == rows[i].snapshot; end++) {
            if (rows[end].clock == from)
                a = &rows[end];
            if (rows[end].clock == to)
                b = &rows[end];
        }
        if (a && b)
            *tv_table_add(&hop->points) = (struct tv_pf_clock_point){a->value, b->value};
    }
    return hop;
}

/* Convert by the last point at or before the time, or the first point. */
static int64_t pf_clock_hop_convert(struct tv_pf_clock_hop *hop, int64_t time)
{
    const struct tv_pf_clock_point *points = hop->points.rows;
    size_t count = hop->points.count, near = hop->near;
    bool fits = points[near].from <= time && (near + 1 == count || time < points[near + 1].from);
    if (!fits) {
        size_t behind = 0;
        TV_LOWER_BOUND(behind, count, i, points[i].from <= time);
        near = behind > 0 ? behind - 1 : 0;
        hop->near = near;
    }
    return (int64_t)((uint64_t)time - (uint64_t)points[near].from + (uint64_t)points[near].to);
}

bool tv_pf_clocks_convert_other(struct tv_pf_clocks *clocks, uint32_t id, int64_t *time)
{
    uint32_t from = 0;
    while (from < clocks->count && clocks->ids[from] != id)
        from++;
    if (from == clocks->count)
        return false;
    struct tv_pf_clock_path *path = &clocks->paths[from];
    if (path->known == 0)
        pf_clocks_find_path(clocks, from);
    for (uint8_t i = 0; path->known == 2 && i < path->length; i++)
        *time =
            pf_clock_hop_convert(pf_clocks_hop(clocks, path->hops[i], path->hops[i + 1]), *time);
    return path->known == 2;
}

/* ---- Clocks of two machines ---- */

enum { SYNCED_CLOCKS = 1, CLIENT_CLOCKS = 2, HOST_CLOCKS = 3 };

/* Return the time of a clock in a snapshot; false: it has none. */
static bool pf_snapshot_find(struct tv_bytes snapshot, uint32_t id, int64_t *value)
{
    struct tv_pf_message message = tv_pf_message_over(snapshot);
    struct tv_protobuf_field field;
    uint32_t found;
    while (tv_pf_next(&message, &field))
        if (field.number == 1 && pf_clock_parse(field.bytes, &found, value) && found == id)
            return true;
    return false;
}

/* The client asks at one moment and the host notes its clock a little later; the next pair goes the
 * other way. So the delays cancel in the mean of all pairs. */
int64_t tv_pf_clocks_remote_shift(uint32_t id, struct tv_bytes sync)
{
    struct tv_pf_message message = tv_pf_message_over(sync);
    struct tv_protobuf_field field;
    int64_t client, host, first = 0, sum = 0, pairs = 0, change, shift;
    while (tv_pf_next(&message, &field)) {
        if (field.number != SYNCED_CLOCKS ||
            !pf_snapshot_find(tv_pf_find(field.bytes, CLIENT_CLOCKS).bytes, id, &client) ||
            !pf_snapshot_find(tv_pf_find(field.bytes, HOST_CLOCKS).bytes, id, &host))
            continue;
        if (__builtin_sub_overflow(host, client, &shift))
            continue;
        if (pairs == 0)
            first = shift;
        if (__builtin_sub_overflow(shift, first, &change) ||
            __builtin_add_overflow(sum, change, &sum))
            return first;
        pairs++;
    }
    return pairs == 0 || __builtin_add_overflow(first, sum / pairs, &shift) ? first : shift;
}

/* ---- Clocks of bundles ---- */

enum { FTRACE_CLOCK_UNKNOWN = 1, FTRACE_CLOCK_GLOBAL, FTRACE_CLOCK_LOCAL, FTRACE_CLOCK_MONO_RAW };

/* The clock is after the events. */
void tv_pf_bundle_read_clock(const struct tv_pf_reading *reading, struct tv_bytes bundle,
                             struct tv_pf_bundle_clock *clock)
{
    struct tv_pf_message message = tv_pf_message_over(bundle);
    struct tv_protobuf_field field;
    uint64_t kind = 0, own = 0, boot = 0;
    while (tv_pf_next(&message, &field)) {
        if (field.number == 5)
            kind = field.value;
        else if (field.number == 6)
            own = field.value;
        else if (field.number == 7)
            boot = field.value;
    }
    *clock = (struct tv_pf_bundle_clock){.clock = TV_PF_CLOCK_BOOTTIME};
    if (kind == FTRACE_CLOCK_MONO_RAW)
        clock->clock = TV_PF_CLOCK_MONOTONIC_RAW;
    else if ((kind == FTRACE_CLOCK_GLOBAL || kind == FTRACE_CLOCK_LOCAL) && boot != 0)
        clock->shift = (int64_t)(boot - own);
    if (clock->clock == tv_pf_clocks_trace_id(&reading->clocks))
        clock->clock = 0;
}

int64_t tv_pf_bundle_time(struct tv_pf_reading *reading, const struct tv_pf_bundle_clock *clock,
                          uint64_t raw)
{
    int64_t time = (int64_t)(raw + (uint64_t)clock->shift);
    if (clock->clock != 0 && !tv_pf_clocks_convert(&reading->clocks, clock->clock, &time))
        return (int64_t)raw;
    return time;
}
