/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Framing: docs/formats/perfetto.md section 1.
 *
 *     0a len packet | 0a len packet | ?? ?? ?? ...... 0a len [.. marker ..] | 0a len packet
 *                                     damage          frame around a marker
 *
 * A marker is sixteen fixed bytes at the end of a packet.  After damage the walk looks for one, and
 * then for the frame around it: a 0a before it whose length ends just after the marker.  Packets in
 * between are lost; without markers a length in the damaged part could lead anywhere.
 *
 * Nearly every packet lies whole in the window, and is taken without a call
 * (pf_packets_take_within).  The rest goes step by step: a length of more than the limit, the end
 * of the window, the end of the file, an unknown field.
 */
#include "readers/perfetto/packets.h"

#include <string.h>

#include "base/bytes.h"
#include "readers/perfetto/message.h"

/* Longest tag and length: two varints of ten bytes. */
#define FRAME_HEAD 20

/* A packet that contains it is at most this long, and it is the packet's last or only payload. */
#define MARKER_REACH 256u

static const uint8_t marker[16] = {0x82, 0x47, 0x7a, 0x76, 0xb2, 0x8d, 0x42, 0xba,
                                   0x81, 0xdc, 0x33, 0x32, 0x6d, 0x57, 0xa0, 0x79};

void tv_pf_packets_init(struct tv_pf_packets *packets, struct tv_source *source, uint64_t start,
                        struct tv_diagnostics *diagnostics)
{
    tv_window_init(&packets->window, source);
    packets->offset = start;
    packets->end = UINT64_MAX;
    packets->diagnostics = diagnostics;
}

void tv_pf_packets_release(struct tv_pf_packets *packets)
{
    tv_window_release(&packets->window);
}

/* Return the distance of the frame around a marker from `bytes`, which begin with the marker's
 * neighbourhood; TV_NO_OFFSET when there is no frame that ends soon after it. */
static uint64_t pf_find_frame_around(struct tv_bytes bytes, size_t place)
{
    size_t from = place > MARKER_REACH ? place - MARKER_REACH : 0;
    for (size_t at = from; at < place; at++) {
        const uint8_t *head = bytes.data + at + 1;
        uint64_t length;
        if (bytes.data[at] != 0x0a || !tv_pf_take_varint(&head, bytes.data + bytes.length, &length))
            continue;
        size_t start = (size_t)(head - bytes.data);
        if (start <= place && length >= place + sizeof marker - start && length <= MARKER_REACH)
            return at;
    }
    return TV_NO_OFFSET;
}

/* Return the place of the next marker; bytes.length: there is none. */
static size_t pf_find_marker(struct tv_bytes bytes, size_t from)
{
    while (from + sizeof marker <= bytes.length) {
        const uint8_t *at =
            memchr(bytes.data + from, marker[0], bytes.length - from - sizeof marker + 1);
        if (!at)
            break;
        from = (size_t)(at - bytes.data);
        if (memcmp(at, marker, sizeof marker) == 0)
            return from;
        from++;
    }
    return bytes.length;
}

/* Find the next packet with a marker after the frame at packets->offset.  *offset is its frame, or
 * the end of the trace when there is none. */
static enum tv_status pf_packets_seek_marker(struct tv_pf_packets *packets, uint64_t *offset,
                                             bool *found, struct tv_error *err)
{
    *found = false;
    *offset = packets->offset + 1;
    for (;;) {
        struct tv_bytes bytes;
        enum tv_status status =
            tv_window_at(&packets->window, *offset, 4 * MARKER_REACH, &bytes, err);
        if (status != TV_OK)
            return status;
        for (size_t at = 0; (at = pf_find_marker(bytes, at)) < bytes.length; at++) {
            uint64_t frame = pf_find_frame_around(bytes, at);
            if (frame == TV_NO_OFFSET)
                continue;
            *offset += frame;
            *found = true;
            return TV_OK;
        }
        if (bytes.length < 4 * MARKER_REACH) {
            *offset += bytes.length;
            return TV_OK;
        }
        *offset += bytes.length - 2 * MARKER_REACH;
    }
}

/* Go on at the next packet with a marker, or at the end. */
static enum tv_status pf_packets_resynchronize(struct tv_pf_packets *packets, struct tv_error *err)
{
    bool found;
    tv_diagnostics_add(packets->diagnostics, TV_DIAGNOSTIC_BAD_PACKET, packets->offset);
    return pf_packets_seek_marker(packets, &packets->offset, &found, err);
}

/* Note that the file ends within a frame, and end the walk. */
static enum tv_status pf_packets_cut(struct tv_pf_packets *packets, struct tv_pf_packet *packet)
{
    tv_diagnostics_add(packets->diagnostics, TV_DIAGNOSTIC_TRUNCATED, packets->offset);
    packet->none = true;
    return TV_OK;
}

/* The packet is longer than what is left of the trace, which was cut off there; or its length is
 * damaged, when a packet with a marker follows. */
static enum tv_status pf_packets_take_beyond(struct tv_pf_packets *packets,
                                             struct tv_pf_packet *packet, struct tv_error *err)
{
    bool found;
    uint64_t offset;
    enum tv_status status = pf_packets_seek_marker(packets, &offset, &found, err);
    if (status != TV_OK)
        return status;
    if (!found)
        return pf_packets_cut(packets, packet);
    tv_diagnostics_add(packets->diagnostics, TV_DIAGNOSTIC_BAD_PACKET, packets->offset);
    packets->offset = offset;
    return TV_OK;
}

/* Step over a field of the trace that is no packet.  Return false when the frames are damaged: a
 * length that is too large must not take the rest of the trace with it. */
static bool pf_packets_skip_field(struct tv_pf_packets *packets, struct tv_bytes bytes)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    uint64_t tag, length;
    if (!tv_pf_take_varint(&message.at, message.end, &tag) || tag >> 3 == 0 || tag >> 35 != 0)
        return false;
    struct tv_protobuf_field field = {.number = (uint32_t)(tag >> 3), .wire = tag & 7};
    if (field.wire == TV_PROTOBUF_BYTES) {
        if (!tv_pf_take_varint(&message.at, message.end, &length) || length > TV_PF_PACKET_MAX)
            return false;
        length += (uint64_t)(message.at - bytes.data);
    } else {
        if (!tv_pf_take_value(&message, &field))
            return false;
        length = (uint64_t)(message.at - bytes.data);
    }
    if (!tv_source_reaches(packets->window.source, packets->offset + length))
        return false;
    tv_diagnostics_add(packets->diagnostics, TV_DIAGNOSTIC_FIELD_UNKNOWN, packets->offset);
    packets->offset += length;
    return true;
}

/* Read the frame at packets->offset, which begins with `bytes`; the packet's bytes may lie beyond
 * them. */
static bool pf_packets_read_head(struct tv_bytes bytes, uint64_t *length, size_t *head)
{
    const uint8_t *at = bytes.data + 1;
    bool whole = tv_pf_take_varint(&at, bytes.data + bytes.length, length);
    *head = (size_t)(at - bytes.data);
    return whole;
}

/* Read the packet whose frame begins here.  Leave packet->bytes empty when there is none. */
static enum tv_status pf_packets_take(struct tv_pf_packets *packets, struct tv_bytes bytes,
                                      struct tv_pf_packet *packet, struct tv_error *err)
{
    uint64_t length;
    size_t head;
    if (!pf_packets_read_head(bytes, &length, &head))
        return bytes.length < FRAME_HEAD ? pf_packets_cut(packets, packet)
                                         : pf_packets_resynchronize(packets, err);
    if (TV_UNLIKELY(length > TV_PF_PACKET_MAX))
        return tv_source_reaches(packets->window.source, packets->offset + head + TV_PF_PACKET_MAX)
                   ? pf_packets_resynchronize(packets, err)
                   : pf_packets_take_beyond(packets, packet, err);
    size_t whole = head + (size_t)length;
    if (TV_UNLIKELY(bytes.length < whole)) {
        enum tv_status status = tv_window_at(&packets->window, packets->offset, whole, &bytes, err);
        if (status != TV_OK)
            return status;
        if (bytes.length < whole)
            return pf_packets_take_beyond(packets, packet, err);
    }
    packet->bytes = (struct tv_bytes){bytes.data + head, (size_t)length};
    packet->offset = packets->offset;
    packet->start = packets->offset + head;
    packets->offset += whole;
    return TV_OK;
}

/* Take the packet at the offset if the window has the whole of it: true for nearly all. */
TV_INLINE bool pf_packets_take_within(struct tv_pf_packets *packets, struct tv_pf_packet *packet)
{
    const struct tv_window *window = &packets->window;
    uint64_t skip = packets->offset - window->offset, length; /* wraps like that of tv_window_at */
    if (packets->offset >= packets->end || skip >= window->length)
        return false;
    const uint8_t *frame = window->buffer + (size_t)skip;
    struct tv_pf_steps steps = {frame, window->buffer + window->length};
    if (*steps.at++ != 0x0a || !tv_pf_step_varint(&steps, &length) || length == 0 ||
        length > (size_t)(steps.end - steps.at) || length > TV_PF_PACKET_MAX)
        return false;
    uint64_t start = packets->offset + (uint64_t)(steps.at - frame);
    *packet = (struct tv_pf_packet){
        .bytes = {steps.at, (size_t)length}, .offset = packets->offset, .start = start};
    packets->offset = start + length;
    return true;
}

enum tv_status tv_pf_packets_next(struct tv_pf_packets *packets, struct tv_pf_packet *packet,
                                  struct tv_error *err)
{
    if (TV_LIKELY(pf_packets_take_within(packets, packet)))
        return TV_OK;
    *packet = (struct tv_pf_packet){.none = false};
    while (packet->bytes.length == 0 && !packet->none) {
        struct tv_bytes bytes;
        if (packets->offset >= packets->end) {
            packet->none = true;
            break;
        }
        enum tv_status status =
            tv_window_at(&packets->window, packets->offset, FRAME_HEAD, &bytes, err);
        if (status != TV_OK)
            return status;
        if (bytes.length == 0) {
            packet->none = true;
        } else if (TV_LIKELY(bytes.data[0] == 0x0a)) {
            status = pf_packets_take(packets, bytes, packet, err);
        } else if (!pf_packets_skip_field(packets, bytes)) {
            status = bytes.length < FRAME_HEAD ? pf_packets_cut(packets, packet)
                                               : pf_packets_resynchronize(packets, err);
        }
        if (status != TV_OK)
            return status;
    }
    return TV_OK;
}
