/* SPDX-License-Identifier: Apache-2.0 */
#include "unpack/zstd_frames.h"

#include "wire/little_endian.h"

#define MAGIC 0xfd2fb528u
#define SKIPPABLE 0x184d2a50u /* its last four bits are arbitrary */
#define SKIPPABLE_HEAD 8
#define BLOCK_HEAD 3
#define BLOCK_RLE 1
#define BLOCK_RESERVED 3
#define CHECKSUM 4

static size_t zstd_read_at(struct tv_source *packed, uint64_t at, uint8_t *bytes, size_t size)
{
    size_t got = 0;
    return tv_source_read(packed, at, bytes, size, &got, NULL) == TV_OK ? got : 0;
}

/* Return the size of a frame's header: magic, descriptor, window, dictionary ID and content
 * size. */
static uint64_t zstd_header_size(uint8_t descriptor)
{
    static const uint8_t dictionary[] = {0, 1, 2, 4}, content[] = {0, 2, 4, 8};
    bool single = descriptor >> 5 & 1;
    uint64_t size = content[descriptor >> 6];
    return 5u + !single + dictionary[descriptor & 3] + (single && size == 0 ? 1 : size);
}

/* Step over a block. Return false when the deciding bytes have not come yet. */
static bool zstd_step_block(struct tv_zstd_frames *frames, struct tv_source *packed, uint64_t limit)
{
    uint8_t bytes[BLOCK_HEAD];
    if (frames->at + BLOCK_HEAD > limit)
        return false;
    frames->unknown = zstd_read_at(packed, frames->at, bytes, sizeof bytes) < sizeof bytes;
    if (frames->unknown)
        return false;
    uint32_t head = tv_le_get_u24(bytes), type = head >> 1 & 3;
    frames->unknown = type == BLOCK_RESERVED;
    frames->at += BLOCK_HEAD + (type == BLOCK_RLE ? 1 : head >> 3);
    frames->inside = (head & 1) == 0;
    if (!frames->inside && frames->summed)
        frames->at += CHECKSUM;
    return !frames->unknown;
}

static bool zstd_step_frame(struct tv_zstd_frames *frames, struct tv_source *packed, uint64_t limit)
{
    uint8_t bytes[SKIPPABLE_HEAD] = {0};
    if (frames->at >= limit)
        return false;
    size_t got = zstd_read_at(packed, frames->at, bytes, 4);
    uint32_t magic = tv_le_get_u32(bytes);
    bool skippable = (magic & ~0xfu) == SKIPPABLE;
    frames->ended = got < 4 || (magic != MAGIC && !skippable);
    frames->damaged = frames->ended && magic != 0;
    if (frames->ended || frames->at + SKIPPABLE_HEAD > limit)
        return false;
    frames->unknown = zstd_read_at(packed, frames->at, bytes, sizeof bytes) < sizeof bytes;
    if (frames->unknown)
        return false;
    frames->at += skippable ? SKIPPABLE_HEAD + (uint64_t)tv_le_get_u32(bytes + 4)
                            : zstd_header_size(bytes[4]);
    frames->summed = !skippable && (bytes[4] >> 2 & 1);
    frames->inside = !skippable;
    return true;
}

uint64_t tv_zstd_frames_end(struct tv_zstd_frames *frames, struct tv_source *packed, uint64_t limit)
{
    while (!frames->ended && !frames->unknown &&
           (frames->inside ? zstd_step_block(frames, packed, limit)
                           : zstd_step_frame(frames, packed, limit)))
        continue;
    return frames->ended && frames->at < limit ? frames->at : limit;
}
