/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packets.c - the walk over a packet file: packets that name threads and methods, blocks of
 * delta-coded entries, and a summary at the end, whose text defines the unit of time and the clock.
 *
 *     header | method | method | thread | block of thread 7 | method | block of thread 9 | summary
 *
 *     thread    u8 type, u32 tid, u16 length, name
 *     method    u8 type, u64 id, u16 length, "class<TAB>method<TAB>signature<TAB>file\n"
 *     block     u8 type, u32 tid, u24 number of entries modulo 65536, u32 size, entries
 *     summary   u8 type, u16 length (too small for long texts), "*version\n ... *end\n"
 *
 * Lengths decide where the next packet is, so an unknown type, or a packet beyond the end, ends the
 * walk ("derailed"); blocks before it are read. Files of two development versions derail at once.
 * Such files are recognised by walking with their own rules, and refused by name.
 *
 * A sink that writes gets events before the summary is read.  They are delivered with a unit and a
 * clock that the summary (looked at ahead, if the end is known) or the records prove
 * (struct tv_mt_assumed); at the end the assumption is verified.
 */
#include "readers/method_trace/file.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "readers/reader.h"

/* ---- The summary ---- */

/* The length of a summary has 16 bits. */
#define LARGEST_SUMMARY (TV_MT_PACKET_SUMMARY_HEAD + (size_t)65535)

static bool mt_summary_has_text(struct tv_bytes bytes, size_t at, const char *text)
{
    return tv_bytes_starts_with((struct tv_bytes){bytes.data + at, bytes.length - at},
                                tv_bytes_of(text));
}

/* Return the last text that begins like a summary and has its last line; empty when there is
 * none. */
static struct tv_bytes mt_summary_find(struct tv_bytes tail)
{
    size_t end = 0;
    for (size_t at = tail.length; at-- > TV_MT_PACKET_SUMMARY_HEAD;) {
        if (tail.data[at] != '*')
            continue;
        if (end == 0 && mt_summary_has_text(tail, at, TV_MT_SECTION_END "\n"))
            end = at;
        bool begins = tail.data[at - TV_MT_PACKET_SUMMARY_HEAD] == TV_MT_PACKET_SUMMARY &&
                      mt_summary_has_text(tail, at, TV_MT_SECTION_VERSION "\n");
        if (begins && end > at)
            return (struct tv_bytes){tail.data + at, end - at};
    }
    return (struct tv_bytes){0};
}

/* Look for the summary at the end of a file whose end is known; a pipe assumes nothing. */
enum tv_status tv_mt_summary_peek(struct tv_mt_file *file, struct tv_mt_assumed *assumed,
                                  struct tv_error *err)
{
    uint64_t size;
    size_t got;
    struct tv_mt_facts facts = {0};
    if (!tv_source_has_size(file->source, &size))
        return TV_OK;
    size_t length = size < LARGEST_SUMMARY ? (size_t)size : LARGEST_SUMMARY;
    uint8_t *bytes = tv_alloc(length, 1);
    enum tv_status status = tv_source_read(file->source, size - length, bytes, length, &got, err);
    if (status == TV_OK)
        tv_mt_text_scan_times(mt_summary_find((struct tv_bytes){bytes, got}), &facts);
    tv_free(bytes);
    if (facts.in_us || facts.in_ns)
        assumed->tick_ns = facts.in_us ? 1000 : 1;
    assumed->clocks = facts.clocks;
    return status;
}

/* Use what was assumed: the file has no summary that could say otherwise. */
static enum tv_status mt_summary_assume(struct tv_mt_file *file, struct tv_mt_assumed *assumed,
                                        struct tv_error *err)
{
    enum tv_status status = assumed->tick_ns == 0 ? tv_mt_summary_peek(file, assumed, err) : TV_OK;
    file->facts.in_us = assumed->tick_ns == 1000;
    file->facts.in_ns = assumed->tick_ns == 1;
    file->facts.clocks = assumed->clocks;
    return status;
}

/* Fail if events that the sink has got already were delivered with another unit or clock. They
 * cannot be taken back. */
static enum tv_status mt_summary_verify(struct tv_mt_file *file,
                                        const struct tv_mt_assumed *assumed, struct tv_error *err)
{
    bool tick = assumed->tick_ns == 0 || assumed->tick_ns == tv_mt_input(file)->tick_ns;
    bool clock =
        assumed->clocks == 0 || file->version == TV_MT_PACKETS_2 || assumed->clocks == file->clocks;
    if (tick && clock)
        return TV_OK;
    return tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET,
                   "the times that were printed were taken for %s, and are not by the packets that "
                   "came after",
                   !clock                  ? "those of the other clock"
                   : assumed->tick_ns == 1 ? "nanoseconds"
                                           : "microseconds");
}

/* ---- Packet files that are known but not read ---- */

/* Longest item that is read at once: a block of an order dump, or a packet's head. */
#define LOOK_SIZE ((size_t)65536)

struct mt_odd_walk {
    struct tv_window window;
    uint64_t offset;
    uint64_t end;
    unsigned blocks;
    unsigned methods;
    bool summary;
};

/* Return the bytes at an offset, up to the end of the file; none on an error. */
static struct tv_bytes mt_odd_read(struct mt_odd_walk *look, uint64_t offset)
{
    struct tv_bytes bytes;
    if (tv_window_at(&look->window, offset, LOOK_SIZE, &bytes, NULL) != TV_OK)
        bytes.length = 0;
    return bytes;
}

/* Skip a packet of variant A, which development builds of ART wrote from February to June 2024.
 * Method ids and entry words have `word` bytes. The head of a block contains its first record:
 * u4 tid, word, u4 per clock, u2 records - 1, u2 size. Return false when there is no such
 * packet. */
static bool mt_odd_skip_variant_a(struct mt_odd_walk *look, size_t word, size_t clocks)
{
    struct tv_bytes at = mt_odd_read(look, look->offset);
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

/* The walk must reach a summary, because lengths may add up by chance. */
static bool mt_odd_fits_variant_a(const struct tv_mt_file *file, size_t word)
{
    struct mt_odd_walk look = {.offset = TV_MT_HEADER_SIZE, .end = tv_source_size(file->source)};
    size_t clocks = file->version == TV_MT_PACKETS_2 ? 2 : 1;
    tv_window_init(&look.window, file->source);
    while (look.offset < look.end && mt_odd_skip_variant_a(&look, word, clocks))
        ;
    tv_window_release(&look.window);
    return look.blocks > 0 && look.summary;
}

static bool mt_odd_is_variant_a(const struct tv_mt_file *file)
{
    return mt_odd_fits_variant_a(file, 8) || mt_odd_fits_variant_a(file, 4);
}

/* Skip a block of an order dump. Its size is missing or wrong, so the records must be counted. */
static bool mt_odd_skip_order_block(struct mt_odd_walk *look, struct tv_bytes at)
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

/* Step over a packet; false: what is at the offset is none, or it is cut off. Lengths are the
 * packet's own, so the walk needs none of its contents. */
static bool mt_odd_skip_order_packet(struct mt_odd_walk *look)
{
    struct tv_bytes at = mt_odd_read(look, look->offset);
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
        return mt_odd_skip_order_block(look, at);
    default:
        return false;
    }
}

/* Is this a dump of the order of all methods? Its blocks have no usable size, so entries are
 * counted. */
static bool mt_odd_is_order_dump(const struct tv_mt_file *file)
{
    struct mt_odd_walk look = {.end = tv_source_size(file->source)};
    tv_window_init(&look.window, file->source);
    while (look.offset < look.end && mt_odd_skip_order_packet(&look))
        ;
    tv_window_release(&look.window);
    /* Methods come last, so a dump that is cut before them may be of either kind. */
    return look.blocks > 0 && look.methods > 0;
}

/* ---- Packets ---- */

struct mt_packets {
    struct tv_mt_walk walk; /* first member: the file keeps a pointer to it */
    struct tv_mt_file *file;
    struct tv_window window;
    uint64_t offset;
    uint64_t stop; /* the walk pauses at the first packet at or after this offset */
    struct tv_mt_start start;
    struct tv_mt_assumed assumed; /* what events were delivered with before the summary was read */
    bool summary;
    bool derailed; /* a packet has an unknown type or reaches beyond the end */
    bool done;
};

/* Head of a packet. */
struct mt_packet {
    uint8_t type;
    uint64_t id;     /* id of the thread or method */
    uint64_t body;   /* offset */
    uint64_t length; /* length of the body */
};

static size_t mt_packet_head_size(uint8_t type)
{
    static const size_t sizes[] = {
        [TV_MT_PACKET_THREAD] = TV_MT_PACKET_THREAD_HEAD,
        [TV_MT_PACKET_METHOD] = TV_MT_PACKET_METHOD_HEAD,
        [TV_MT_PACKET_ENTRIES] = TV_MT_PACKET_ENTRIES_HEAD,
        [TV_MT_PACKET_SUMMARY] = TV_MT_PACKET_SUMMARY_HEAD,
    };
    return type < TV_COUNT(sizes) ? sizes[type] : 0;
}

/* Parse a complete head. */
static struct mt_packet mt_packet_parse_head(const uint8_t *at, uint64_t offset)
{
    struct mt_packet packet = {.type = at[0], .body = offset + mt_packet_head_size(at[0])};
    switch (packet.type) {
    case TV_MT_PACKET_THREAD:
        packet.id = tv_le_get_u32(at + 1);
        packet.length = tv_le_get_u16(at + 5);
        break;
    case TV_MT_PACKET_METHOD:
        packet.id = tv_le_get_u64(at + 1);
        packet.length = tv_le_get_u16(at + 9);
        break;
    case TV_MT_PACKET_ENTRIES:
        /* The count before the size is modulo 65536, so it is of no use. */
        packet.id = tv_le_get_u32(at + 1);
        packet.length = tv_le_get_u32(at + 8);
        break;
    default:
        packet.length = tv_le_get_u16(at + 1);
        break;
    }
    return packet;
}

static void mt_packets_warn(struct mt_packets *packets, enum tv_diagnostic_kind kind)
{
    tv_mt_warn(packets->file, kind, packets->offset);
}

/* A thread whose id has another name now is another thread: the id was reused. */
static void mt_packets_take_thread(struct mt_packets *packets, const struct mt_packet *packet,
                                   struct tv_bytes name)
{
    struct tv_mt_file *file = packets->file;
    uint32_t known = tv_map_find(&file->ids.threads, packet->id);
    if (known == TV_NONE ||
        !tv_bytes_equal(name, tv_trace_info_text(file->head, file->head->threads[known].name)))
        tv_mt_add_thread(file, packet->id, name, TV_MT_RECYCLED, packets->offset);
}

static void mt_packets_take_method(struct mt_packets *packets, const struct mt_packet *packet,
                                   struct tv_bytes text)
{
    struct tv_frame frame;
    if (text.length > 0 && text.data[text.length - 1] == '\n')
        text.length--;
    if (tv_mt_file_parse_method(packets->file, text, &frame))
        tv_mt_add_method(packets->file, packet->id, &frame, TV_MT_RECYCLED, packets->offset);
    else
        mt_packets_warn(packets, TV_DIAGNOSTIC_BAD_LIST_LINE);
}

/* List a block as a unit; one that is cut goes up to the end of the file. */
static void mt_packets_take_entries(struct mt_packets *packets, const struct mt_packet *packet,
                                    bool cut)
{
    struct tv_mt_file *file = packets->file;
    uint64_t length = cut ? tv_source_size(file->source) - packet->body : packet->length;
    file->cut = cut;
    if (length > 0)
        tv_mt_add_unit(file, packet->body, length)->tid = (uint32_t)packet->id;
}

/* Read the summary. Its length is not always right, but its last line is. */
static enum tv_status mt_packets_take_summary(struct mt_packets *packets,
                                              const struct mt_packet *packet, struct tv_error *err)
{
    uint64_t after, end = tv_source_size(packets->file->source);
    packets->summary = true;
    packets->done = true;
    enum tv_status status =
        tv_mt_text_read(packets->file, packet->body, end, TV_MT_FINAL, &after, err);
    if (status != TV_OK)
        return status;
    if (after == 0)
        tv_mt_warn(packets->file, TV_DIAGNOSTIC_TRUNCATED, end);
    else if (after < end)
        tv_mt_warn(packets->file, TV_DIAGNOSTIC_TRAILING_BYTES, after);
    return TV_OK;
}

static enum tv_status mt_packets_take_body(struct mt_packets *packets,
                                           const struct mt_packet *packet, struct tv_error *err)
{
    struct tv_bytes text;
    enum tv_status status =
        tv_window_at(&packets->window, packet->body, (size_t)packet->length, &text, err);
    if (status != TV_OK)
        return status;
    text.length = (size_t)packet->length;
    if (packet->type == TV_MT_PACKET_THREAD)
        mt_packets_take_thread(packets, packet, text);
    else
        mt_packets_take_method(packets, packet, text);
    return TV_OK;
}

/* End the walk: the file ends here, or its packets make no sense. */
static void mt_packets_stop(struct mt_packets *packets, enum tv_diagnostic_kind kind)
{
    packets->done = true;
    packets->derailed = true;
    mt_packets_warn(packets, kind);
}

/* Take the packet at the current offset. */
static enum tv_status mt_packets_take_one(struct mt_packets *packets, struct tv_error *err)
{
    struct tv_bytes bytes;
    enum tv_status status =
        tv_window_at(&packets->window, packets->offset, TV_MT_PACKET_ENTRIES_HEAD, &bytes, err);
    if (status != TV_OK)
        return status;
    size_t size = mt_packet_head_size(bytes.data[0]);
    if (size == 0 || bytes.length < size) {
        mt_packets_stop(packets, size == 0 ? TV_DIAGNOSTIC_BAD_PACKET : TV_DIAGNOSTIC_TRUNCATED);
        return TV_OK;
    }
    struct mt_packet packet = mt_packet_parse_head(bytes.data, packets->offset);
    if (packet.type == TV_MT_PACKET_SUMMARY)
        return mt_packets_take_summary(packets, &packet, err);
    bool cut = !tv_source_reaches(packets->file->source, packet.body + packet.length);
    if (packet.type == TV_MT_PACKET_ENTRIES)
        mt_packets_take_entries(packets, &packet, cut);
    else if (!cut)
        status = mt_packets_take_body(packets, &packet, err);
    if (cut)
        mt_packets_stop(packets, TV_DIAGNOSTIC_TRUNCATED);
    packets->offset = packet.body + packet.length;
    return status;
}

/* Take packets up to `stop`. */
static enum tv_status mt_packets_take_all(struct mt_packets *packets, struct tv_error *err)
{
    struct tv_mt_file *file = packets->file;
    enum tv_status status = TV_OK;
    while (!packets->done && packets->offset < packets->stop && status == TV_OK) {
        packets->done = !tv_source_reaches(file->source, packets->offset + 1);
        if (!packets->done)
            status = mt_packets_take_one(packets, err);
        if (status == TV_OK)
            status = tv_reader_check_cancel(file->progress, err);
    }
    return status;
}

/* Finalize the head: all packets were walked. */
static enum tv_status mt_packets_finalize(struct mt_packets *packets, struct tv_error *err)
{
    assert(packets->done);
    struct tv_mt_file *file = packets->file;
    enum tv_status status = TV_OK;
    tv_mt_input(file)->bytes = tv_source_size(file->source);
    if (packets->derailed && mt_odd_is_variant_a(file))
        return tv_fail(err, TV_ERR_UNSUPPORTED, TV_MT_HEADER_SIZE,
                       "expected entries of format V2 as released, found those of its development "
                       "builds of early 2024, which are not read");
    if (!packets->summary) {
        tv_mt_warn(file, TV_DIAGNOSTIC_NO_SUMMARY, TV_NO_OFFSET);
        status = mt_summary_assume(file, &packets->assumed, err);
    }
    if (status == TV_OK)
        status = tv_mt_blocks_finalize(file, &packets->start, err);
    return status == TV_OK ? mt_summary_verify(file, &packets->assumed, err) : status;
}

static void mt_packets_free_walk(struct tv_mt_walk *walk)
{
    struct mt_packets *packets = (struct mt_packets *)walk;
    tv_window_release(&packets->window);
    tv_free(packets);
}

/* Continue the walk over at least `bytes`; at the end finalize the head and free the walk. */
static enum tv_status mt_packets_go_on(struct tv_mt_file *file, uint64_t bytes,
                                       struct tv_error *err)
{
    assert(file->walk);
    struct mt_packets *packets = (struct mt_packets *)file->walk;
    uint64_t most = UINT64_MAX - packets->offset;
    packets->stop = packets->offset + (bytes < most ? bytes : most);
    enum tv_status status = mt_packets_take_all(packets, err);
    if (status == TV_OK && packets->done) {
        file->walk = NULL;
        status = mt_packets_finalize(packets, err);
        mt_packets_free_walk(&packets->walk);
    }
    return status;
}

/* Walk up to some bytes of records. Methods of all classes are before the first block, so the
 * bytes of the file do not count. */
static enum tv_status mt_packets_walk_to_records(struct mt_packets *packets, struct tv_error *err)
{
    struct tv_mt_file *file = packets->file;
    enum tv_status status = TV_OK;
    bool certain = false;
    while (status == TV_OK && file->walk && tv_mt_file_record_bytes(file) < TV_MT_SHORT_BYTES)
        status = mt_packets_go_on(file, TV_MT_SHORT_BYTES, err);
    if (status == TV_OK && file->walk)
        status =
            tv_mt_blocks_finalize_early(file, &packets->start, &packets->assumed, &certain, err);
    if (status == TV_OK && file->walk && !certain)
        status = mt_packets_go_on(file, UINT64_MAX, err);
    return status;
}

enum tv_status tv_mt_packets_walk(struct tv_mt_file *file, struct tv_error *err)
{
    uint8_t bytes[TV_MT_HEADER_SIZE] = {0};
    size_t got;
    enum tv_status status = tv_source_read(file->source, 0, bytes, sizeof bytes, &got, err);
    if (status != TV_OK)
        return status;
    uint16_t version = tv_le_get_u16(bytes + TV_MT_HEADER_VERSION);
    struct mt_packets *packets = tv_alloc(1, sizeof *packets);
    *packets = (struct mt_packets){
        .walk = {mt_packets_go_on, mt_packets_free_walk},
        .file = file,
        .offset = TV_MT_HEADER_SIZE,
        .start = {tv_le_get_u64(bytes + TV_MT_PACKET_HEADER_START),
                  tv_le_get_u64(bytes + TV_MT_PACKET_HEADER_START_TICKS)},
    };
    tv_window_init(&packets->window, file->source);
    file->walk = &packets->walk;
    file->streaming = tv_mt_is_streaming(version);
    file->version = tv_mt_plain_version(version);
    file->delta.frequency = tv_le_get_u64(bytes + TV_MT_PACKET_HEADER_FREQUENCY);
    if (got < sizeof bytes)
        tv_mt_warn(file, TV_DIAGNOSTIC_TRUNCATED, got);
    return file->early_names ? mt_packets_walk_to_records(packets, err)
                             : mt_packets_go_on(file, UINT64_MAX, err);
}

enum tv_status tv_mt_packets_walk_dump(struct tv_mt_file *file, struct tv_error *err)
{
    struct mt_packets packets = {.file = file, .stop = UINT64_MAX};
    file->layout = TV_MT_LONG_RUNNING;
    tv_source_size(file->source); /* wait for the whole source: methods come last */
    tv_window_init(&packets.window, file->source);
    enum tv_status status = mt_packets_take_all(&packets, err);
    tv_window_release(&packets.window);
    if (status != TV_OK)
        return status;
    if (packets.derailed && mt_odd_is_order_dump(file))
        return tv_fail(err, TV_ERR_UNSUPPORTED, 0,
                       "expected a dump of long-running methods, found one of all methods: it has "
                       "their order but no times, so there is no profile in it");
    return tv_mt_blocks_finalize_dump(file, err);
}

int tv_mt_packets_sniff_dump(struct tv_bytes prefix, uint64_t size)
{
    if (prefix.length < TV_MT_PACKET_ENTRIES_HEAD)
        return 0;
    if (prefix.data[0] == TV_MT_PACKET_METHOD) {
        struct mt_packet method = mt_packet_parse_head(prefix.data, 0);
        bool inside = method.length > 0 && method.body + method.length <= prefix.length;
        return inside && prefix.data[method.body + method.length - 1] == '\n' ? 50 : 0;
    }
    /* No kernel assigns larger thread ids, and the upper byte of the count is always 0. */
    struct mt_packet block = mt_packet_parse_head(prefix.data, 0);
    if (block.type != TV_MT_PACKET_ENTRIES || block.id == 0 || block.id > 1 << 22 ||
        prefix.data[7] != 0)
        return 0;
    uint64_t next = block.body + block.length;
    if (next == size || (next < prefix.length && prefix.data[next] <= TV_MT_PACKET_ENTRIES))
        return 80;
    return 20;
}
