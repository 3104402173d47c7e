/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devices.c - events of disks, networks, video devices and contiguous memory that make slices.
 *
 *     begin and end, by their key                      one event
 *       block_io_start, _done          disk, sector      tcp_retransmit_skb
 *       napi_gro_receive_entry, _exit  processor         v4l2_qbuf, v4l2_dqbuf
 *       virtio_video_resource_queue,   stream, queue,    virtio_video_cmd, _cmd_done
 *         _done                          resource
 *       cma_alloc_start, _finish       thread
 *
 * Such slices belong to devices, not to the thread in which the kernel happened to run: each is on
 * a track of its device, with Perfetto's name, but for an allocation, which its thread waits for.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "readers/perfetto/bundle.h"

enum {
    TCP_RETRANSMIT = 363,
    NAPI_ENTRY = 365,
    NAPI_EXIT = 366,
    V4L2_QBUF = 422,
    V4L2_DQBUF = 423,
    VIDEO_CMD = 439,
    VIDEO_CMD_DONE = 440,
    VIDEO_QUEUE = 441,
    VIDEO_QUEUE_DONE = 442,
    CMA_START = 465,
    CMA_INFO = 466,
    BLOCK_START = 546,
    BLOCK_DONE = 547,
    CMA_FINISH = 576,
};

#define LONGEST_NAME 160

/* A half of a slice on the track of a device. */
struct pf_device_slice {
    enum tv_ft_async_kind kind;
    const char *what;           /* constant: keys of different devices never meet */
    struct tv_bytes track, key; /* of the track, what tells its slices apart */
    struct tv_bytes name;
    const char *category;
};

static void pf_device_add(struct tv_pf_bundle *bundle, const struct tv_ft_at *at,
                          const struct pf_device_slice *slice)
{
    struct tv_ft_chunk *chunk = bundle->chunk;
    struct tv_ft_async async = {
        .kind = slice->kind,
        .global = true,
        .if_open = true,
        .key = tv_ft_chunk_async_key(chunk, slice->what, TV_FT_NO_ID, slice->track, slice->key),
        .id = tv_ft_chunk_string(chunk, slice->key),
        .frame = tv_ft_chunk_frame(chunk, slice->name, slice->category),
        .track = tv_ft_chunk_string(chunk, slice->track),
    };
    tv_ft_chunk_add_async(chunk, at, &async);
}

/* Return what snprintf wrote, cut to the size of its room. */
static struct tv_bytes pf_device_text(const char *text, int length, size_t size)
{
    return (struct tv_bytes){(const uint8_t *)text,
                             (size_t)length < size ? (size_t)length : size - 1};
}

/* Handle a request to a disk: {1 dev, 2 sector}. */
static void pf_take_block(struct tv_pf_bundle *bundle, const struct tv_ft_at *at, bool begins,
                          const struct tv_pf_event_fields *fields)
{
    char track[40], sector[24];
    int length = snprintf(track, sizeof track, "block_io %" PRIu64, fields->numbers[1]);
    struct pf_device_slice slice = {
        .kind = begins ? TV_FT_ASYNC_BEGIN : TV_FT_ASYNC_END,
        .what = "block_io",
        .track = pf_device_text(track, length, sizeof track),
        .name = TV_BYTES("block_io"),
        .category = "block_io",
    };
    length = snprintf(sector, sizeof sector, "%" PRIu64, fields->numbers[2]);
    slice.key = pf_device_text(sector, length, sizeof sector);
    pf_device_add(bundle, at, &slice);
}

/* Handle a packet that a network device hands to the kernel: {10 name} when it begins. */
static void pf_take_napi(struct tv_pf_bundle *bundle, const struct tv_ft_at *at, bool begins,
                         const struct tv_pf_event_fields *fields)
{
    char track[40];
    int length = snprintf(track, sizeof track, "Napi Gro Cpu %" PRIu32, bundle->cpu);
    struct pf_device_slice slice = {
        .kind = begins ? TV_FT_ASYNC_BEGIN : TV_FT_ASYNC_END,
        .what = "napi_gro",
        .track = pf_device_text(track, length, sizeof track),
        .name = begins ? fields->texts[10] : TV_BYTES(""),
        .category = "napi_gro",
    };
    pf_device_add(bundle, at, &slice);
}

/* Handle a TCP segment that is sent again: {2 dport, 6 sport}. */
static void pf_take_retransmit(struct tv_pf_bundle *bundle, const struct tv_ft_at *at,
                               const struct tv_pf_event_fields *fields)
{
    char name[64];
    int length = snprintf(name, sizeof name, "sport=%" PRIu64 ",dport=%" PRIu64, fields->numbers[6],
                          fields->numbers[2]);
    struct pf_device_slice slice = {
        .kind = TV_FT_ASYNC_POINT,
        .what = "tcp",
        .track = TV_BYTES("TCP Retransmit Skb"),
        .name = pf_device_text(name, length, sizeof name),
        .category = "tcp_retransmit_skb",
    };
    pf_device_add(bundle, at, &slice);
}

/* Handle a buffer that goes to or comes from a video device: {4 index, 5 minor, 6 sequence, 18
 * type}. */
static void pf_take_v4l2(struct tv_pf_bundle *bundle, const struct tv_ft_at *at,
                         const struct tv_protobuf_field *event,
                         const struct tv_pf_event_fields *fields)
{
    char name[LONGEST_NAME], track[40];
    int length = snprintf(
        name, sizeof name, "%s minor=%" PRId32 " seq=%" PRIu64 " type=%" PRIu64 " index=%" PRIu64,
        event->number == V4L2_QBUF ? "VIDIOC_QBUF" : "VIDIOC_DQBUF", (int32_t)fields->numbers[5],
        fields->numbers[6], tv_pf_find(event->bytes, 18).value, fields->numbers[4]);
    struct pf_device_slice slice = {
        .kind = TV_FT_ASYNC_POINT,
        .what = "v4l2",
        .name = pf_device_text(name, length, sizeof name),
        .category = "Video 4 Linux 2",
    };
    length = snprintf(track, sizeof track, "v4l2 minor %" PRId32, (int32_t)fields->numbers[5]);
    slice.track = pf_device_text(track, length, sizeof track);
    pf_device_add(bundle, at, &slice);
}

/* Handle a buffer that a virtual video device works on: {5 queue, 6 resource, 7 stream}. */
static void pf_take_video_queue(struct tv_pf_bundle *bundle, const struct tv_ft_at *at, bool begins,
                                const struct tv_pf_event_fields *fields)
{
    static const char *const queues[] = {"INPUT", "OUTPUT"};
    char track[80], name[40];
    uint64_t queue = fields->numbers[5] - 0x100;
    int length = snprintf(track, sizeof track, "virtio_video stream #%" PRId32 " %s",
                          (int32_t)fields->numbers[7],
                          queue < TV_COUNT(queues) ? queues[queue] : "of another queue");
    struct pf_device_slice slice = {
        .kind = begins ? TV_FT_ASYNC_BEGIN : TV_FT_ASYNC_END,
        .what = "virtio_video",
        .track = pf_device_text(track, length, sizeof track),
        .category = "virtio_video",
    };
    length = snprintf(name, sizeof name, "Resource #%" PRId32, (int32_t)fields->numbers[6]);
    slice.name = slice.key = pf_device_text(name, length, sizeof name);
    pf_device_add(bundle, at, &slice);
}

/* Nothing tells how long a command takes: it is drawn for this time, as in Perfetto. */
#define COMMAND_NS 100000

/* Handle a command to a virtual video device, or its answer: {1 stream, 2 type}. */
static void pf_take_video_command(struct tv_pf_bundle *bundle, const struct tv_ft_at *at, bool asks,
                                  const struct tv_pf_event_fields *fields)
{
    static const char *const names[] = {
        "QUERY_CAPABILITY", "STREAM_CREATE",  "STREAM_DESTROY",       "STREAM_DRAIN",
        "RESOURCE_CREATE",  "RESOURCE_QUEUE", "RESOURCE_DESTROY_ALL", "QUEUE_CLEAR",
        "GET_PARAMS",       "SET_PARAMS",     "QUERY_CONTROL",        "GET_CONTROL",
        "SET_CONTROL",
    };
    char track[80], name[40];
    uint64_t type = fields->numbers[2] - 0x100;
    int length = snprintf(track, sizeof track, "virtio_video stream #%" PRIu64 " %s",
                          fields->numbers[1], asks ? "Requests" : "Responses");
    struct pf_device_slice slice = {
        .kind = TV_FT_ASYNC_BEGIN,
        .what = "virtio_video",
        .track = pf_device_text(track, length, sizeof track),
        .category = "virtio_video",
    };
    length = type < TV_COUNT(names)
                 ? snprintf(name, sizeof name, "%s", names[type])
                 : snprintf(name, sizeof name, "command %" PRIu64, fields->numbers[2]);
    slice.name = slice.key = pf_device_text(name, length, sizeof name);
    pf_device_add(bundle, at, &slice);
    struct tv_ft_at end = *at;
    end.time += COMMAND_NS;
    slice.kind = TV_FT_ASYNC_END;
    pf_device_add(bundle, &end, &slice);
}

/* Handle an allocation of contiguous memory.  Older kernels tell its outcome before they end it,
 * with cma_alloc_info: the first of both ends it. */
static void pf_take_allocation(struct tv_pf_bundle *bundle, const struct tv_ft_at *at, bool begins)
{
    struct tv_map *open = &tv_pf_bundle_get_state(bundle->reading)->allocations;
    bool is_open = tv_map_find(open, at->task) == 1;
    uint32_t frame = tv_ft_chunk_frame(bundle->chunk, TV_BYTES("mm_cma_alloc"), "mm");
    if (begins == is_open)
        return;
    tv_map_set(open, at->task, begins);
    if (begins)
        tv_ft_chunk_begin_kernel(bundle->chunk, at, at->task, frame);
    else
        tv_ft_chunk_end_kernel(bundle->chunk, at, at->task, frame);
}

bool tv_pf_take_device(struct tv_pf_bundle *bundle, const struct tv_ft_at *at,
                       const struct tv_protobuf_field *event)
{
    struct tv_pf_event_fields fields;
    uint32_t number = event->number;
    if (number < TCP_RETRANSMIT || number > CMA_FINISH)
        return false;
    tv_pf_event_parse(event->bytes, &fields);
    switch (number) {
    case TCP_RETRANSMIT:
        pf_take_retransmit(bundle, at, &fields);
        return true;
    case NAPI_ENTRY:
    case NAPI_EXIT:
        pf_take_napi(bundle, at, number == NAPI_ENTRY, &fields);
        return true;
    case V4L2_QBUF:
    case V4L2_DQBUF:
        pf_take_v4l2(bundle, at, event, &fields);
        return true;
    case VIDEO_CMD:
    case VIDEO_CMD_DONE:
        pf_take_video_command(bundle, at, number == VIDEO_CMD, &fields);
        return true;
    case VIDEO_QUEUE:
    case VIDEO_QUEUE_DONE:
        pf_take_video_queue(bundle, at, number == VIDEO_QUEUE, &fields);
        return true;
    case BLOCK_START:
    case BLOCK_DONE:
        pf_take_block(bundle, at, number == BLOCK_START, &fields);
        return true;
    case CMA_START:
    case CMA_INFO:
    case CMA_FINISH:
        pf_take_allocation(bundle, at, number == CMA_START);
        return true;
    default:
        return false;
    }
}
