/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu.c - what graphics processors did (docs/formats/perfetto.md).
 *
 * A gpu_render_stage_event is a slice on a hardware queue.  Recorders name queue and stage in one
 * of two ways:
 *
 *     interned     hw_queue_iid and stage_iid: entries of InternedData.gpu_specifications
 *     by number    hw_queue_id and stage_id: places in the lists of the last `specifications`
 *
 * The lists may be after the slices; so names by number are sought when all packets are read.
 *
 * A vkQueueSubmit is a slice on the track "Vulkan Events" of its process.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/memory.h"
#include "readers/perfetto/reading.h"

/* Tables of InternedData. */
#define EVENT_NAMES 2u
#define GPU_SPECIFICATIONS 24u

#define CATEGORY "gpu"

/* Fields of GpuRenderStageEvent. */
enum {
    DURATION = 2,
    QUEUE_ID = 3,
    STAGE_ID = 4,
    SPECIFICATIONS = 7,
    QUEUE_IID = 13,
    STAGE_IID = 14,
    NAME = 17,
    NAME_IID = 20,
};

/* Lists of Specifications. */
enum { QUEUES = 2, STAGES };

/* ---- Packets ---- */

/* Return the name of a slice or a queue; TV_NONE: it is found by its number. */
static uint32_t pf_gpu_interned(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                                uint32_t table, struct tv_protobuf_field iid)
{
    return iid.value == 0
               ? TV_NONE
               : tv_pf_interned_text(reading, packet->sequence, table, iid.value, packet->offset);
}

static void pf_gpu_add(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                       struct tv_pf_gpu_slice slice, struct tv_protobuf_field duration)
{
    slice.time = packet->time;
    if (duration.value <= (uint64_t)(INT64_MAX - packet->time))
        slice.length = (int64_t)duration.value;
    else
        tv_pf_warn(reading, TV_DIAGNOSTIC_BAD_FIELDS, packet->offset);
    slice.offset = packet->offset & TV_OFFSET_MASK;
    tv_ft_chunk_note(reading->chunk, packet->time);
    tv_ft_chunk_note(reading->chunk, packet->time + slice.length);
    *tv_table_add(&reading->gpu_slices) = slice;
}

void tv_pf_take_render_stage(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                             struct tv_bytes event)
{
    struct tv_protobuf_field specifications = tv_pf_find(event, SPECIFICATIONS);
    struct tv_protobuf_field duration = tv_pf_find(event, DURATION), name = tv_pf_find(event, NAME);
    if (specifications.number == SPECIFICATIONS && specifications.wire == TV_PROTOBUF_BYTES) {
        struct tv_protobuf_field queues = tv_pf_find(specifications.bytes, QUEUES);
        struct tv_protobuf_field stages = tv_pf_find(specifications.bytes, STAGES);
        uint32_t blob = tv_interner_add(reading->blobs, specifications.bytes);
        if (queues.number == QUEUES)
            reading->gpu_queues = blob;
        if (stages.number == STAGES)
            reading->gpu_stages = blob;
    }
    if (duration.number != DURATION)
        return; /* it tells names alone */
    struct tv_pf_gpu_slice slice = {
        .process = TV_FT_NO_ID,
        .queue = pf_gpu_interned(reading, packet, GPU_SPECIFICATIONS, tv_pf_find(event, QUEUE_IID)),
        .name = pf_gpu_interned(reading, packet, EVENT_NAMES, tv_pf_find(event, NAME_IID)),
        .queue_id = (int32_t)tv_pf_find(event, QUEUE_ID).value,
        .stage_id = (int32_t)tv_pf_find(event, STAGE_ID).value,
    };
    if (name.bytes.length > 0)
        slice.name = tv_pf_text(reading, name.bytes);
    else if (slice.name == TV_NONE)
        slice.name =
            pf_gpu_interned(reading, packet, GPU_SPECIFICATIONS, tv_pf_find(event, STAGE_IID));
    pf_gpu_add(reading, packet, slice, duration);
}

bool tv_pf_take_vulkan(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                       struct tv_bytes event)
{
    struct tv_protobuf_field submit = tv_pf_find(event, 2);
    if (submit.number != 2 || submit.wire != TV_PROTOBUF_BYTES)
        return false;
    struct tv_pf_gpu_slice slice = {
        .process = (int32_t)tv_pf_find(submit.bytes, 2).value,
        .queue = tv_pf_text(reading, TV_BYTES("Vulkan Events")),
        .name = tv_pf_text(reading, TV_BYTES("vkQueueSubmit")),
    };
    pf_gpu_add(reading, packet, slice, tv_pf_find(submit.bytes, 1));
    return true;
}

/* ---- Slices ---- */

/* Names of a list of Specifications, by place. */
struct pf_gpu_names {
    TV_TABLE(tv_bytes) list;
};

static struct pf_gpu_names pf_gpu_names_of(const struct tv_pf_reading *reading, uint32_t blob,
                                           uint32_t list)
{
    struct pf_gpu_names names = {0};
    if (blob == TV_NONE)
        return names;
    struct tv_pf_message message = tv_pf_message_over(tv_interner_get(reading->blobs, blob));
    struct tv_protobuf_field field;
    while (tv_pf_next(&message, &field))
        if (field.number == list && field.wire == TV_PROTOBUF_BYTES)
            *tv_table_add(&names.list) = tv_pf_find(field.bytes, 1).bytes;
    return names;
}

/* Return the name at a place of the list, or the number between `before` and `after`. */
static struct tv_bytes pf_gpu_name(const struct pf_gpu_names *names, int32_t number,
                                   const char *before, const char *after, char room[48])
{
    if (number >= 0 && (size_t)number < names->list.count && names->list.rows[number].length > 0)
        return names->list.rows[number];
    int length = snprintf(room, 48, "%s%" PRId32 "%s", before, number, after);
    return (struct tv_bytes){(uint8_t *)room, (size_t)length};
}

void tv_pf_add_gpu_slices(const struct tv_pf_reading *reading, struct tv_ft_merge *merge)
{
    struct pf_gpu_names queues = pf_gpu_names_of(reading, reading->gpu_queues, QUEUES);
    struct pf_gpu_names stages = pf_gpu_names_of(reading, reading->gpu_stages, STAGES);
    const struct tv_interner *texts = reading->chunk->texts;
    char room[48];
    for (size_t i = 0; i < reading->gpu_slices.count; i++) {
        const struct tv_pf_gpu_slice *event = &reading->gpu_slices.rows[i];
        struct tv_bytes name = event->name == TV_NONE ? pf_gpu_name(&stages, event->stage_id,
                                                                    "render stage(", ")", room)
                                                      : tv_interner_get(texts, event->name);
        uint32_t frame = tv_ft_merge_frame(merge, name, CATEGORY);
        struct tv_bytes queue =
            event->queue == TV_NONE
                ? pf_gpu_name(&queues, event->queue_id, "Unknown GPU Queue ", "", room)
                : tv_interner_get(texts, event->queue);
        *tv_table_add(&merge->whole_asyncs) = (struct tv_async_slice){
            .start = event->time,
            .length = event->length,
            .cpu_start = TV_NO_TIME,
            .cpu_length = TV_NO_TIME,
            .offset = event->offset,
            .end_offset = TV_NO_OFFSET,
            .frame = frame,
            .parent = TV_NONE,
            .start_thread = TV_NONE,
            .end_thread = TV_NONE,
            .process = tv_ft_merge_process(merge, event->process),
            .group = TV_NONE,
            .track = tv_trace_info_string(merge->trace->head, queue),
        };
    }
    tv_free(queues.list.rows);
    tv_free(stages.list.rows);
}
