/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packets.c - Perfetto traces whose recorder compressed the packets.
 *
 * A packet with the field compressed_packets holds a zlib stream of further packets.  The unpacked
 * source has these packets in its place, so that readers see plain packets, each with an offset of
 * its own:
 *
 *     packed     [packet] [compressed packets .......] [packet]
 *     unpacked   [packet] [packet][packet][packet] ... [packet]
 *
 * Recorders compress from the first packet on, so the beginning of a file tells.
 */
#include <assert.h>
#include <string.h>
#include <zlib.h>

#include "base/memory.h"
#include "readers/perfetto/message.h"
#include "unpack/member.h"

#define COMPRESSED_PACKETS 50u
#define PACKET 0x0a

/* The frame and the fields before the compressed ones fit into this. */
#define HEAD_BYTES 64u
#define FEED ((size_t)64 * 1024)

/* zlib's largest window, with a header of zlib or gzip. */
#define ANY_WINDOW (15 + 32)

struct packet_stream {
    struct tv_source *packed;
    uint64_t offset; /* offset of the next packed byte */
    uint64_t end;    /* of the bytes that are copied or inflated now */
    bool inflating, ended, cut_off;
    z_stream stream;
    struct tv_error error;
    uint8_t in[FEED];
};

/* The frame of a packet. */
struct packet_frame {
    bool compressed;
    uint64_t start, length; /* of the stream, or of the whole frame, from the frame's first byte */
};

/* Find the compressed field of a packet among its first fields. */
static bool packet_find_stream(struct tv_bytes head, const uint8_t *at, uint64_t length,
                               struct packet_frame *frame)
{
    struct tv_pf_message message = {at, head.data + head.length, false};
    uint64_t tag, size;
    while (tv_pf_take_varint(&message.at, message.end, &tag)) {
        struct tv_protobuf_field field = {.number = (uint32_t)(tag >> 3), .wire = tag & 7};
        if (tag != (COMPRESSED_PACKETS << 3 | TV_PROTOBUF_BYTES)) {
            if (field.wire == TV_PROTOBUF_BYTES || !tv_pf_take_value(&message, &field))
                return false;
            continue;
        }
        if (!tv_pf_take_varint(&message.at, message.end, &size))
            return false;
        uint64_t before = (uint64_t)(message.at - at);
        if (before > length || size > length - before)
            return false;
        frame->compressed = true;
        frame->start = (uint64_t)(message.at - head.data);
        frame->length = size;
        return true;
    }
    return false;
}

/* Read the frame at the beginning of `head`.  Return false when there is none. */
static bool packet_read_frame(struct tv_bytes head, struct packet_frame *frame)
{
    const uint8_t *at = head.data + 1, *end = head.data + head.length;
    uint64_t length;
    *frame = (struct packet_frame){.compressed = false};
    if (head.length < 2 || head.data[0] != PACKET || !tv_pf_take_varint(&at, end, &length) ||
        length > UINT64_MAX / 2)
        return false;
    frame->length = (uint64_t)(at - head.data) + length;
    packet_find_stream(head, at, length, frame);
    return true;
}

bool tv_packets_know(struct tv_bytes head)
{
    struct packet_frame frame;
    while (packet_read_frame(head, &frame)) {
        if (frame.compressed) {
            const uint8_t *stream = head.data + frame.start;
            return frame.length > 2 && frame.start + 2 <= head.length &&
                   (((stream[0] & 0x0f) == 8 && (stream[0] << 8 | stream[1]) % 31 == 0) ||
                    (stream[0] == 0x1f && stream[1] == 0x8b));
        }
        if (frame.length >= head.length)
            break;
        head = (struct tv_bytes){head.data + frame.length, head.length - (size_t)frame.length};
    }
    return false;
}

/* Decide what comes next: bytes to copy or a stream to inflate. */
static void packet_stream_step(struct packet_stream *packets)
{
    uint8_t bytes[HEAD_BYTES];
    struct tv_bytes head = {bytes, 0};
    struct packet_frame frame;
    if (tv_source_read(packets->packed, packets->offset, bytes, sizeof bytes, &head.length,
                       &packets->error) != TV_OK ||
        head.length == 0) {
        packets->ended = true;
        return;
    }
    /* The reader of the packets deals with damaged frames. */
    if (!packet_read_frame(head, &frame)) {
        packets->end = UINT64_MAX;
        return;
    }
    if (frame.compressed && inflateInit2(&packets->stream, ANY_WINDOW) == Z_OK) {
        packets->inflating = true;
        packets->stream.avail_in = 0;
        packets->offset += frame.start;
    }
    packets->end = packets->offset + frame.length;
}

static size_t packet_stream_fetch(struct packet_stream *packets, uint8_t *buffer, size_t size)
{
    size_t got = 0;
    uint64_t left = packets->end - packets->offset;
    size = left < size ? (size_t)left : size;
    if (size > 0 && tv_source_read_some(packets->packed, packets->offset, buffer, size, &got,
                                        &packets->error) != TV_OK)
        got = 0;
    packets->offset += got;
    return got;
}

/* Inflate into the buffer.  Return the number of bytes; the stream may end. */
static size_t packet_stream_inflate(struct packet_stream *packets, uint8_t *buffer, size_t size)
{
    z_stream *stream = &packets->stream;
    assert(packets->inflating && size <= UINT32_MAX);
    if (stream->avail_in == 0) {
        stream->next_in = packets->in;
        stream->avail_in = (uInt)packet_stream_fetch(packets, packets->in, FEED);
    }
    stream->next_out = buffer;
    stream->avail_out = (uInt)size;
    int result = stream->avail_in > 0 ? inflate(stream, Z_NO_FLUSH) : Z_BUF_ERROR;
    if (result != Z_OK) {
        packets->cut_off |= result != Z_STREAM_END;
        packets->inflating = false;
        packets->offset = packets->end;
        inflateEnd(stream);
    }
    return size - stream->avail_out;
}

/* The read function of a tv_unpack_member. */
static enum tv_status packet_stream_read(void *context, uint8_t *buffer, size_t size, size_t *got,
                                         struct tv_error *err)
{
    struct packet_stream *packets = context;
    *got = 0;
    while (*got < size && !packets->ended && packets->error.status == TV_OK) {
        size_t added;
        if (packets->inflating) {
            *got += packet_stream_inflate(packets, buffer + *got, size - *got);
        } else if (packets->offset < packets->end) {
            added = packet_stream_fetch(packets, buffer + *got, size - *got);
            packets->ended = added == 0;
            *got += added;
        } else {
            packet_stream_step(packets);
        }
    }
    if (packets->error.status != TV_OK)
        *err = packets->error;
    return packets->error.status;
}

/* Also the close function of a tv_unpack_member. */
static void packet_stream_close(void *context)
{
    struct packet_stream *packets = context;
    if (packets->inflating)
        inflateEnd(&packets->stream);
    tv_free(packets);
}

static bool packet_stream_was_cut(const void *context)
{
    return ((const struct packet_stream *)context)->cut_off;
}

enum tv_status tv_packets_unpack(struct tv_extraction *extraction, struct tv_source *packed,
                                 bool *cut_off, struct tv_error *err)
{
    struct packet_stream *packets = tv_alloc(1, sizeof *packets);
    packets->packed = packed;
    struct tv_unpack_member member = {
        .name = tv_source_name(packed),
        .read = packet_stream_read,
        .context = packets,
    };
    bool grows = extraction->question->as_it_comes, taken;
    if (grows) {
        member.close = packet_stream_close;
        member.is_cut = packet_stream_was_cut;
    }
    enum tv_status status = tv_extraction_add(extraction, &member, &taken, err);
    if (grows && taken)
        return status;
    *cut_off = packets->cut_off;
    packet_stream_close(packets);
    return status;
}
