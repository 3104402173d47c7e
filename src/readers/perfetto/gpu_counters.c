/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_counters.c - values of GPU counters, and what their descriptors say of them.
 *
 *     gpu_counter_event {1 descriptor, 2 values* {1 counter, 2 int | 3 double}, 3 GPU, 4 iid}
 *     descriptor {1 counters* {1 id, 2 name, 3 description, 7 units, 8 units below the line,
 *                              10 groups, 11 direction}, 6 groups* {1 id, 2 name, 3 description,
 *                                                                   4 counters}}
 *
 * A descriptor comes once, or is interned; of two for one counter the first counts.  Most counters
 * look back: a value was counted since the value before, so it stands there.  The last time of such
 * a counter gets 0.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "readers/perfetto/reading.h"

/* InternedData.gpu_counter_descriptors */
#define DESCRIPTORS 47u

/* A counter that is in more groups is listed in the first ones. */
#define GROUPS_MAX 64u

enum { LOOKS_FORWARD = 2 };

static uint64_t pf_gpu_key(uint64_t gpu, uint64_t id)
{
    return gpu << 32 | (id & UINT32_MAX);
}

/* ---- Descriptors ---- */

/* Keep the descriptions {1} and the groups {6} of counters of a GPU.  The first description of a
 * counter stays. */
static void pf_gpu_keep_descriptor(struct tv_pf_reading *reading, uint64_t gpu,
                                   struct tv_bytes descriptor)
{
    struct tv_pf_gpu_counters *counters = &reading->gpu_counters;
    struct tv_pf_message message = tv_pf_message_over(descriptor);
    struct tv_protobuf_field field;
    while (tv_pf_next(&message, &field)) {
        if (field.number != 1 && field.number != 6)
            continue;
        uint64_t id = tv_pf_find(field.bytes, 1).value;
        uint32_t blob = tv_interner_add(reading->blobs, field.bytes);
        if (field.number == 1) {
            (void)tv_map_add(&counters->descriptions, pf_gpu_key(gpu, id), blob);
            (void)tv_map_add(&counters->gpus, id & UINT32_MAX, (uint32_t)gpu);
        } else if (counters->groups.count < GROUPS_MAX &&
                   tv_map_add(&counters->group_index, pf_gpu_key(gpu, id), blob) == blob)
            *tv_table_add(&counters->groups) = (struct tv_pf_gpu_group){gpu, id, blob};
    }
}

/* Append the units of a field, with ':' between them; nothing for one that is none. */
static void pf_gpu_put_units(struct tv_out *out, struct tv_bytes counter, uint32_t number,
                             const char *before)
{
    static const char *const units[] = {
        "",         "bit", "Kbit",      "Mbit",     "Gbit",       "Tbit", "Pbit", "B",      "KB",
        "MB",       "GB",  "TB",        "PB",       "Hz",         "KHz",  "MHz",  "GHz",    "THz",
        "PHz",      "ns",  "us",        "ms",       "s",          "min",  "h",    "Vertex", "Pixel",
        "Triangle", "mW",  "W",         "KW",       "J",          "V",    "A",    "C",      "F",
        "K",        "%",   "Primitive", "Fragment", "Instruction"};
    struct tv_pf_message message = tv_pf_message_over(counter);
    struct tv_protobuf_field field;
    while (tv_pf_next(&message, &field)) {
        struct tv_pf_numbers numbers;
        uint64_t unit;
        if (field.number != number)
            continue;
        numbers = tv_pf_numbers_of(&field, 0);
        while (tv_pf_numbers_next(&numbers, &unit))
            if (unit > 0 && unit < TV_COUNT(units)) {
                tv_out_text(out, before);
                tv_out_text(out, units[unit]);
                before = ":";
            }
    }
}

/* Append a group of a counter, with its name if the descriptor has one for it. */
static void pf_gpu_put_group(const struct tv_pf_reading *reading, struct tv_out *out, uint64_t gpu,
                             uint64_t id)
{
    uint32_t blob = tv_map_find(&reading->gpu_counters.group_index, pf_gpu_key(gpu, id));
    tv_out_format(out, "%s{\"id\":%" PRIu64, out->buffer[out->length - 1] == '}' ? "," : "", id);
    if (blob != TV_NONE) {
        struct tv_bytes group = tv_interner_get(reading->blobs, blob);
        tv_out_text(out, ",\"name\":");
        tv_out_json(out, tv_pf_find(group, 2).bytes);
        tv_out_text(out, ",\"description\":");
        tv_out_json(out, tv_pf_find(group, 3).bytes);
    }
    tv_out_char(out, '}');
}

/* Return whether a field of a message, which may be packed, has a number. */
static bool pf_gpu_lists(struct tv_bytes bytes, uint32_t number, uint64_t wanted)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    while (tv_pf_next(&message, &field)) {
        struct tv_pf_numbers numbers;
        uint64_t value;
        if (field.number != number)
            continue;
        numbers = tv_pf_numbers_of(&field, 0);
        while (tv_pf_numbers_next(&numbers, &value))
            if (value == wanted)
                return true;
    }
    return false;
}

/* Append the groups that a counter names (0 if it names none), and those that name it. */
static void pf_gpu_put_groups(const struct tv_pf_reading *reading, struct tv_out *out, uint64_t gpu,
                              struct tv_bytes counter)
{
    const struct tv_pf_gpu_counters *counters = &reading->gpu_counters;
    struct tv_pf_message message = tv_pf_message_over(counter);
    struct tv_protobuf_field field;
    uint64_t group, id = tv_pf_find(counter, 1).value;
    unsigned count = 0;
    while (tv_pf_next(&message, &field)) {
        struct tv_pf_numbers numbers;
        if (field.number != 10)
            continue;
        numbers = tv_pf_numbers_of(&field, 0);
        while (tv_pf_numbers_next(&numbers, &group))
            if (count++ < GROUPS_MAX)
                pf_gpu_put_group(reading, out, gpu, group);
    }
    if (count == 0)
        pf_gpu_put_group(reading, out, gpu, 0);
    for (size_t i = 0; i < counters->groups.count; i++) {
        const struct tv_pf_gpu_group *named = &counters->groups.rows[i];
        if (named->gpu == gpu &&
            pf_gpu_lists(tv_interner_get(reading->blobs, named->blob), 4, id) &&
            !pf_gpu_lists(counter, 10, named->id))
            pf_gpu_put_group(reading, out, gpu, named->id);
    }
}

/* ---- Values ---- */

/* Return the counter of the chunk for one that a descriptor describes, or that none does. */
static uint32_t pf_gpu_chunk_counter(struct tv_pf_reading *reading, uint64_t gpu, uint64_t id,
                                     struct tv_bytes description)
{
    char text[48];
    struct tv_out unit, dimensions;
    struct tv_bytes name = tv_pf_find(description, 2).bytes;
    if (name.length == 0) {
        int length = snprintf(text, sizeof text, "GPU counter #%" PRIu64, id);
        name = (struct tv_bytes){(const uint8_t *)text, (size_t)length};
    }
    tv_out_init_memory(&unit);
    tv_out_init_memory(&dimensions);
    pf_gpu_put_units(&unit, description, 7, "");
    pf_gpu_put_units(&unit, description, 8, "/");
    tv_out_format(&dimensions, "{\"gpu\":%" PRIu64 ",\"groups\":[", gpu);
    pf_gpu_put_groups(reading, &dimensions, gpu, description);
    tv_out_text(&dimensions, "]}");
    struct tv_ft_counter counter = {
        .tgid = TV_FT_NO_ID,
        .name = tv_pf_text(reading, name),
        .facts =
            {
                .unit = tv_pf_text(reading, (struct tv_bytes){unit.buffer, unit.length}),
                .type = tv_pf_text(reading, TV_BYTES("gpu_counter")),
                .description = tv_pf_text(reading, tv_pf_find(description, 3).bytes),
                .dimensions =
                    tv_pf_text(reading, (struct tv_bytes){dimensions.buffer, dimensions.length}),
            },
    };
    counter.series = counter.name;
    tv_out_release(&unit);
    tv_out_release(&dimensions);
    return tv_ft_chunk_counter(reading->chunk, &counter);
}

static struct tv_pf_gpu_counter *pf_gpu_find_counter(struct tv_pf_reading *reading, uint64_t gpu,
                                                     uint64_t id)
{
    struct tv_pf_gpu_counters *counters = &reading->gpu_counters;
    uint32_t number =
        tv_map_add(&counters->index, pf_gpu_key(gpu, id), (uint32_t)counters->list.count);
    if (number == counters->list.count) {
        uint32_t blob = tv_map_find(&counters->descriptions, pf_gpu_key(gpu, id));
        struct tv_bytes description =
            blob == TV_NONE ? TV_BYTES("") : tv_interner_get(reading->blobs, blob);
        *tv_table_add(&counters->list) = (struct tv_pf_gpu_counter){
            .counter = pf_gpu_chunk_counter(reading, gpu, id, description),
            .forward = tv_pf_find(description, 11).value == LOOKS_FORWARD,
        };
    }
    return &counters->list.rows[number];
}

static void pf_gpu_count(struct tv_pf_reading *reading, struct tv_pf_gpu_counter *counter,
                         const struct tv_ft_at *at, double value)
{
    struct tv_ft_at before = {.time = counter->last, .offset = at->offset};
    if (counter->forward)
        tv_ft_chunk_add_value(reading->chunk, at, counter->counter, value);
    else if (counter->any)
        tv_ft_chunk_add_value(reading->chunk, &before, counter->counter, value);
    counter->any = true;
    counter->last = at->time;
    counter->last_offset = at->offset;
}

/* Return the GPU of a value that names none: 0, unless the counter is described for another alone.
 */
static uint64_t pf_gpu_of_counter(const struct tv_pf_gpu_counters *counters, uint64_t id)
{
    uint32_t gpu = tv_map_find(&counters->gpus, id & UINT32_MAX);
    return gpu == TV_NONE || tv_map_find(&counters->descriptions, pf_gpu_key(0, id)) != TV_NONE
               ? 0
               : gpu;
}

void tv_pf_take_gpu_counters(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                             const struct tv_ft_at *at, struct tv_bytes bytes)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    uint64_t gpu = tv_pf_find(bytes, 3).value, interned = tv_pf_find(bytes, 4).value;
    struct tv_bytes descriptor = tv_pf_find(bytes, 1).bytes;
    if (interned != 0) {
        struct tv_pf_interned *entry =
            tv_pf_interned_find(reading, packet->sequence, DESCRIPTORS, interned, packet->offset);
        struct tv_bytes kept = entry ? tv_interner_get(reading->blobs, entry->blob) : TV_BYTES("");
        descriptor = tv_pf_find(kept, 2).bytes;
        gpu = entry ? tv_pf_find(kept, 3).value : gpu;
    }
    gpu &= 0xff;
    pf_gpu_keep_descriptor(reading, gpu, descriptor);
    /* Some writers send the names alone first, at time 0. */
    bool has_values = tv_pf_find(bytes, 2).wire != TV_PF_MISSING;
    if (has_values && packet->has_time)
        tv_ft_chunk_note(reading->chunk, at->time);
    else if (has_values)
        tv_pf_warn(reading, TV_DIAGNOSTIC_COUNTER_NO_TIME, packet->offset);
    while (packet->has_time && tv_pf_next(&message, &field)) {
        if (field.number != 2)
            continue;
        struct tv_protobuf_field value = tv_pf_find(field.bytes, 2);
        if (value.wire == TV_PF_MISSING)
            value = tv_pf_find(field.bytes, 3);
        uint64_t id = tv_pf_find(field.bytes, 1).value;
        uint64_t of = gpu != 0 ? gpu : pf_gpu_of_counter(&reading->gpu_counters, id);
        struct tv_pf_gpu_counter *counter = pf_gpu_find_counter(reading, of, id);
        if (value.wire != TV_PF_MISSING)
            pf_gpu_count(reading, counter, at, tv_pf_double(&value));
    }
}

void tv_pf_end_gpu_counters(struct tv_pf_reading *reading)
{
    for (size_t i = 0; i < reading->gpu_counters.list.count; i++) {
        const struct tv_pf_gpu_counter *counter = &reading->gpu_counters.list.rows[i];
        struct tv_ft_at at = {.time = counter->last, .offset = counter->last_offset};
        if (counter->any && !counter->forward)
            tv_ft_chunk_add_value(reading->chunk, &at, counter->counter, 0);
    }
}

void tv_pf_gpu_counters_release(struct tv_pf_gpu_counters *counters)
{
    tv_free(counters->list.rows);
    tv_free(counters->groups.rows);
    tv_map_release(&counters->index);
    tv_map_release(&counters->descriptions);
    tv_map_release(&counters->gpus);
    tv_map_release(&counters->group_index);
}
