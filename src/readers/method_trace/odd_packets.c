/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/method_trace/odd_packets.h"

#include "base/bytes.h"
#include "base/error.h"

/* The longest thing that is looked at at once: a block of an order dump, or a head. */
#define LOOK_SIZE ((size_t)65536)

struct look {
    struct tv_window window;
    uint64_t offset;
    uint64_t end;
    unsigned blocks;
    unsigned methods;
    bool summary;
};

/* The bytes at a place, cut where the file ends; none on an error. */
static struct tv_bytes look_at(struct look *look, uint64_t offset)
{
    struct tv_bytes bytes;
    if (tv_window_at(&look->window, offset, LOOK_SIZE, &bytes, NULL) != TV_OK)
        bytes.length = 0;
    return bytes;
}

/* Goes over one packet of variant A, whose method ids and entry words have `word` bytes: false when
 * there is none. A block's head holds its first record: u4 tid, word, u4 a clock, u2 records - 1,
 * u2 size. */
static bool skip_variant_a(struct look *look, size_t word, size_t clocks)
{
    struct tv_bytes at = look_at(look, look->offset);
    const size_t block_head = 1 + 4 + word + 4 * clocks;
    if (at.length < block_head + 4)
        return false;
    switch (at.data[0]) {
    case TV_MT_PACKET_THREAD:
        look->offset += TV_MT_PACKET_THREAD_HEAD + tv_le_get_u16(at.data + 5);
        return true;
    case TV_MT_PACKET_METHOD:
        look->offset += 1 + word + 2 + tv_le_get_u16(at.data + 1 + word);
        return true;
    case TV_MT_PACKET_ENTRIES:
        look->offset += block_head + 4 + tv_le_get_u16(at.data + block_head + 2);
        look->blocks++;
        return true;
    case TV_MT_PACKET_SUMMARY:
        look->summary = tv_bytes_starts_with((struct tv_bytes){at.data + 3, at.length - 3},
                                             TV_BYTES(TV_MT_SECTION_VERSION));
        return false;
    default:
        return false;
    }
}

/* Up to a summary: without it the lengths may add up by chance. */
static bool fits_variant_a(const struct tv_mt_file *file, size_t word)
{
    struct look look = {.offset = TV_MT_HEADER_SIZE, .end = tv_source_size(file->source)};
    size_t clocks = file->version == TV_MT_PACKETS_2 ? 2 : 1;
    tv_window_init(&look.window, file->source);
    while (look.offset < look.end && skip_variant_a(&look, word, clocks))
        ;
    tv_window_release(&look.window);
    return look.blocks > 0 && look.summary;
}

bool tv_mt_odd_is_variant_a(const struct tv_mt_file *file)
{
    return fits_variant_a(file, 8) || fits_variant_a(file, 4);
}

/* A block of an order dump has no size, or a wrong one: its records must be counted. */
static bool skip_order_block(struct look *look, struct tv_bytes at)
{
    struct tv_cursor cursor = tv_cursor_over(at);
    struct tv_bytes head;
    int64_t delta;
    if (!tv_cursor_take_bytes(&cursor, TV_MT_PACKET_ENTRIES_HEAD, &head))
        return false;
    for (uint32_t count = tv_le_get_u24(head.data + 5); count > 0; count--)
        if (!tv_cursor_take_sleb(&cursor, &delta))
            return false;
    look->offset += tv_cursor_position(&cursor);
    look->blocks++;
    return true;
}

static bool skip_order_packet(struct look *look)
{
    struct tv_bytes at = look_at(look, look->offset);
    if (at.length < TV_MT_PACKET_THREAD_HEAD)
        return false;
    switch (at.data[0]) {
    case TV_MT_PACKET_THREAD:
        look->offset += TV_MT_PACKET_THREAD_HEAD + tv_le_get_u16(at.data + 5);
        return true;
    case TV_MT_PACKET_METHOD:
        if (at.length < TV_MT_PACKET_METHOD_HEAD)
            return false;
        look->offset += TV_MT_PACKET_METHOD_HEAD + tv_le_get_u16(at.data + 9);
        look->methods++;
        return true;
    case TV_MT_PACKET_ENTRIES:
        return skip_order_block(look, at);
    default:
        return false;
    }
}

bool tv_mt_odd_is_order_dump(const struct tv_mt_file *file)
{
    struct look look = {.end = tv_source_size(file->source)};
    tv_window_init(&look.window, file->source);
    while (look.offset < look.end && skip_order_packet(&look))
        ;
    tv_window_release(&look.window);
    /* Methods come last: a dump that is cut off before them may be of either kind. */
    return look.blocks > 0 && look.methods > 0;
}
