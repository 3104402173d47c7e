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
 * A stage may have an id, for arrows: the events that submitted it name that id, those that waited
 * for it, and the stages that had to.
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
    EVENT_ID = 1,
    DURATION = 2,
    QUEUE_ID = 3,
    STAGE_ID = 4,
    SPECIFICATIONS = 7,
    QUEUE_IID = 13,
    STAGE_IID = 14,
    NAME = 17,
    EVENT_WAIT_IDS = 18,
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

/* ---- Arrows ---- */

void tv_pf_add_gpu_links(struct tv_pf_reading *reading, const struct tv_protobuf_field *ids,
                         const struct tv_pf_gpu_link *link)
{
    struct tv_pf_numbers numbers = tv_pf_numbers_of(ids, 0);
    uint64_t id;
    while (tv_pf_numbers_next(&numbers, &id)) {
        struct tv_pf_gpu_link *added = tv_table_add(&reading->gpu_links);
        *added = *link;
        added->id = id;
    }
}

/* {1 ids of the stages that the event submits, 2 of those that it waits for} */
void tv_pf_take_gpu_correlation(struct tv_pf_reading *reading, struct tv_bytes correlation)
{
    struct tv_pf_message message = tv_pf_message_over(correlation);
    struct tv_protobuf_field field;
    while (tv_pf_next(&message, &field))
        if (field.number == 1 || field.number == 2)
            tv_pf_add_gpu_links(reading, &field,
                                &(struct tv_pf_gpu_link){.role = field.number == 1
                                                                     ? TV_PF_GPU_SUBMITS
                                                                     : TV_PF_GPU_WAITS});
}

/* Note the id of a stage, and the stages that it waits for. */
static void pf_gpu_link_stage(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                              struct tv_bytes event)
{
    struct tv_pf_message message = tv_pf_message_over(event);
    struct tv_protobuf_field field;
    struct tv_pf_gpu_link link = {
        .time = packet->time, .offset = packet->offset & TV_OFFSET_MASK, .task = TV_NONE};
    while (tv_pf_next(&message, &field)) {
        link.role = field.number == EVENT_ID ? TV_PF_GPU_STAGE : TV_PF_GPU_WAITS;
        if ((field.number == EVENT_ID && field.value != 0) || field.number == EVENT_WAIT_IDS)
            tv_pf_add_gpu_links(reading, &field, &link);
    }
}

static struct tv_ft_flow_end pf_gpu_link_end(const struct tv_ft_merge *merge,
                                             const struct tv_pf_gpu_link *link)
{
    return (struct tv_ft_flow_end){
        .thread = link->task == TV_NONE ? TV_NONE : merge->numbers[0].threads[link->task],
        .start = link->time,
        .time = link->time,
        .offset = link->offset,
        .binding = TV_FT_BY_EVENT,
    };
}

void tv_pf_add_gpu_arrows(const struct tv_pf_reading *reading, struct tv_ft_merge *merge)
{
    const struct tv_pf_gpu_link *rows = reading->gpu_links.rows;
    struct tv_map stages; /* id -> row; of several the last */
    char text[24];
    tv_map_init(&stages);
    for (size_t i = 0; i < reading->gpu_links.count; i++)
        if (rows[i].role == TV_PF_GPU_STAGE)
            tv_map_set(&stages, rows[i].id, (uint32_t)i);
    for (size_t i = 0; i < reading->gpu_links.count; i++) {
        uint32_t stage =
            rows[i].role == TV_PF_GPU_STAGE ? TV_NONE : tv_map_find(&stages, rows[i].id);
        if (stage == TV_NONE)
            continue;
        bool submits = rows[i].role == TV_PF_GPU_SUBMITS;
        const struct tv_pf_gpu_link *from = submits ? &rows[i] : &rows[stage];
        const struct tv_pf_gpu_link *to = submits ? &rows[stage] : &rows[i];
        int length = snprintf(text, sizeof text, "%" PRIu64, rows[i].id);
        *tv_table_add(&merge->flows) = (struct tv_ft_flow){
            .from = pf_gpu_link_end(merge, from),
            .to = pf_gpu_link_end(merge, to),
            .offset = from->offset,
            .end_offset = to->offset,
            .frame =
                tv_ft_merge_frame(merge, submits ? TV_BYTES("submit") : TV_BYTES("wait"), CATEGORY),
            .id = tv_trace_info_string(merge->trace->head,
                                       (struct tv_bytes){(uint8_t *)text, (size_t)length}),
        };
    }
    tv_map_release(&stages);
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
    pf_gpu_link_stage(reading, packet, event);
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

/* List the names that a specification gives to stages or to hardware queues. */
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
        struct tv_async_slice *slice =
            tv_ft_merge_add_async(merge, event->time, event->length, event->offset);
        slice->frame = frame;
        slice->process = tv_ft_merge_process(merge, event->process);
        slice->track = tv_trace_info_string(merge->trace->head, queue);
    }
    tv_free(queues.list.rows);
    tv_free(stages.list.rows);
}
