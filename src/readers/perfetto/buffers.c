/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffers.c - buffers on their way to the display, as graphics_frame_event tells
 * (docs/formats/perfetto.md has the tracks).
 *
 * Each event is a slice on a track of its buffer.  The times between them are phases of a frame:
 *
 *     dequeue        queue        acquire fence   latch       present fence    next present fence
 *        |--- APP ----|---- GPU ----|               |--- SF ----|--- Display ---------|
 *
 * APP, GPU and SF have a track for each buffer of a layer, Display one for each layer.  A phase
 * that the next one of its kind finds open stays open: its end was lost.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/sort.h"
#include "readers/perfetto/reading.h"

#define CATEGORY "graphics"

/* BufferEventType. */
enum { DEQUEUE = 1, QUEUE = 2, ACQUIRE_FENCE = 4, LATCH = 5, PRESENT_FENCE = 8 };

static const char *const names[] = {
    "unknown_event",
    "Dequeue",
    "Queue",
    "Post",
    "AcquireFenceSignaled",
    "Latch",
    "HWCCompositionQueued",
    "FallbackComposition",
    "PresentFenceSignaled",
    "ReleaseFenceSignaled",
    "Modify",
    "Detach",
    "Attach",
    "Cancel",
};

/* Open slices of a buffer of a layer: indexes in merge->whole_asyncs, or TV_NONE. */
struct pf_buffer {
    uint32_t dequeued, queued, latched;
    uint32_t acquired; /* frame whose acquire fence was signaled last */
    bool has_acquired;
};

struct pf_buffers {
    const struct tv_pf_reading *reading;
    struct tv_ft_merge *merge;
    struct tv_interner *keys; /* (buffer, layer): number - 1 is the place in `rows` */
    TV_TABLE(pf_buffer) rows;
    struct tv_map displays; /* layer -> slice of the frame that is on the display */
};

void tv_pf_take_buffer_event(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                             struct tv_bytes frame_event)
{
    struct tv_bytes bytes = tv_pf_find(frame_event, 1).bytes;
    struct tv_protobuf_field buffer = tv_pf_find(bytes, 5);
    uint64_t length = tv_pf_find(bytes, 4).value, type = tv_pf_find(bytes, 2).value;
    if (buffer.number != 5 || length > (uint64_t)(INT64_MAX - packet->time)) {
        tv_pf_warn(reading, TV_DIAGNOSTIC_BAD_FIELDS, packet->offset);
        return;
    }
    tv_ft_chunk_note(reading->chunk, packet->time);
    if (packet->time + (int64_t)length > reading->chunk->last)
        reading->chunk->last = packet->time + (int64_t)length;
    *tv_table_add(&reading->buffer_events) = (struct tv_pf_buffer_event){
        .time = packet->time,
        .length = (int64_t)length,
        .offset = packet->offset & TV_OFFSET_MASK,
        .type = type < TV_COUNT(names) ? type & 0xff : 0,
        .number = (uint32_t)tv_pf_find(bytes, 1).value,
        .buffer = (uint32_t)buffer.value,
        .layer = tv_pf_text(reading, tv_pf_find(bytes, 3).bytes),
    };
}

/* Return the frame that is named after the number of a frame. */
static uint32_t pf_buffer_number_frame(struct tv_ft_merge *merge, uint32_t number)
{
    char text[16];
    int length = snprintf(text, sizeof text, "%" PRIu32, number);
    return tv_ft_merge_frame(merge, (struct tv_bytes){(uint8_t *)text, (size_t)length}, CATEGORY);
}

/* Add a slice of a phase ("APP_3 layer", "Display_layer"), or of the event itself ("Buffer: 3
 * layer") when `phase` is NULL.  Return its number. */
static uint32_t pf_buffer_add_slice(struct pf_buffers *buffers,
                                    const struct tv_pf_buffer_event *event, const char *phase,
                                    uint32_t frame)
{
    char track[160], of[24] = "";
    struct tv_ft_merge *merge = buffers->merge;
    struct tv_bytes layer = tv_interner_get(buffers->reading->chunk->texts, event->layer);
    if (phase)
        snprintf(of, sizeof of, "_%" PRIu32 " ", event->buffer);
    else
        snprintf(of, sizeof of, ": %" PRIu32 " ", event->buffer);
    bool display = phase && phase[0] == 'D';
    int length =
        snprintf(track, sizeof track, "%s%s%.*s", phase ? phase : "Buffer", display ? "_" : of,
                 layer.length < 120 ? (int)layer.length : 120, (const char *)layer.data);
    struct tv_async_slice *slice = tv_ft_merge_add_async(
        merge, event->time, phase ? merge->last - event->time : event->length, event->offset);
    slice->frame = frame;
    slice->process = tv_ft_merge_process(merge, TV_FT_NO_ID);
    slice->track = tv_trace_info_string(merge->trace->head,
                                        (struct tv_bytes){(uint8_t *)track, (size_t)length});
    slice->flags = phase ? TV_SLICE_OPEN : 0;
    return (uint32_t)merge->whole_asyncs.count - 1;
}

/* End the slice of a phase, if one is open. */
static void pf_buffer_end_slice(struct pf_buffers *buffers, uint32_t *open, int64_t time)
{
    if (*open == TV_NONE)
        return;
    struct tv_async_slice *slice = &buffers->merge->whole_asyncs.rows[*open];
    slice->length = time - slice->start;
    slice->flags = 0;
    *open = TV_NONE;
}

static struct pf_buffer *pf_buffers_find(struct pf_buffers *buffers,
                                         const struct tv_pf_buffer_event *event)
{
    uint32_t key[2] = {event->buffer, event->layer};
    uint32_t number =
        tv_interner_add(buffers->keys, (struct tv_bytes){(const uint8_t *)key, sizeof key}) - 1;
    if (number == buffers->rows.count)
        *tv_table_add(&buffers->rows) =
            (struct pf_buffer){.dequeued = TV_NONE, .queued = TV_NONE, .latched = TV_NONE};
    return &buffers->rows.rows[number];
}

/* The application has drawn: its phase ends.  The number of the frame is
 * known now. */
static void pf_buffer_queue(struct pf_buffers *buffers, struct pf_buffer *buffer,
                            const struct tv_pf_buffer_event *event, uint32_t frame)
{
    if (buffer->dequeued != TV_NONE)
        buffers->merge->whole_asyncs.rows[buffer->dequeued].frame = frame;
    pf_buffer_end_slice(buffers, &buffer->dequeued, event->time);
    /* The fence may be signaled before: then the GPU had nothing left to do. */
    if (!buffer->has_acquired || buffer->acquired != event->number)
        buffer->queued = pf_buffer_add_slice(buffers, event, "GPU", frame);
}

static void pf_buffer_present(struct pf_buffers *buffers, struct pf_buffer *buffer,
                              const struct tv_pf_buffer_event *event, uint32_t frame)
{
    uint32_t shown = tv_map_find(&buffers->displays, event->layer);
    pf_buffer_end_slice(buffers, &buffer->latched, event->time);
    pf_buffer_end_slice(buffers, &shown, event->time);
    tv_map_set(&buffers->displays, event->layer,
               pf_buffer_add_slice(buffers, event, "Display", frame));
}

/* Draw an event, and move its buffer on: dequeued by the application, queued, acquired, latched by
 * SurfaceFlinger, presented.  Each step ends the slice of the step before. */
static void pf_buffer_place(struct pf_buffers *buffers, const struct tv_pf_buffer_event *event)
{
    struct tv_ft_merge *merge = buffers->merge;
    struct pf_buffer *buffer = pf_buffers_find(buffers, event);
    uint32_t frame = pf_buffer_number_frame(merge, event->number);
    pf_buffer_add_slice(buffers, event, NULL,
                        tv_ft_merge_frame(merge, tv_bytes_of(names[event->type]), CATEGORY));
    switch (event->type) {
    case DEQUEUE: /* the number is that of the frame that will be queued: not known yet */
        buffer->dequeued =
            pf_buffer_add_slice(buffers, event, "APP", pf_buffer_number_frame(merge, 0));
        break;
    case QUEUE:
        pf_buffer_queue(buffers, buffer, event, frame);
        break;
    case ACQUIRE_FENCE:
        pf_buffer_end_slice(buffers, &buffer->queued, event->time);
        buffer->acquired = event->number;
        buffer->has_acquired = true;
        break;
    case LATCH:
        buffer->dequeued = TV_NONE; /* its queue was lost */
        buffer->latched = pf_buffer_add_slice(buffers, event, "SF", frame);
        break;
    case PRESENT_FENCE:
        pf_buffer_present(buffers, buffer, event, frame);
        break;
    default:
        break;
    }
}

void tv_pf_add_buffer_slices(const struct tv_pf_reading *reading, struct tv_ft_merge *merge)
{
    size_t count = reading->buffer_events.count;
    struct pf_buffers buffers = {.reading = reading, .merge = merge, .keys = tv_interner_new()};
    struct tv_sort_key *keys = tv_alloc(count, sizeof *keys);
    tv_map_init(&buffers.displays);
    for (size_t i = 0; i < count; i++)
        keys[i] = (struct tv_sort_key){tv_sort_signed(reading->buffer_events.rows[i].time), i};
    tv_sort_keys(keys, count);
    for (size_t i = 0; i < count; i++)
        pf_buffer_place(&buffers, &reading->buffer_events.rows[keys[i].index]);
    tv_free(keys);
    tv_map_release(&buffers.displays);
    tv_interner_free(buffers.keys);
    tv_free(buffers.rows.rows);
}
