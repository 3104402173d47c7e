/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/method_trace/packets.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/method_trace/blocks.h"
#include "readers/method_trace/header.h"
#include "readers/method_trace/odd_packets.h"
#include "readers/method_trace/tail.h"
#include "readers/method_trace/text.h"

struct packets {
    struct tv_mt_walk walk; /* the first, when the file keeps it */
    struct tv_mt_file *file;
    struct tv_window window;
    uint64_t offset;
    uint64_t stop; /* what begins here or behind it is left for later */
    struct tv_mt_start start;
    struct tv_mt_told told; /* what was taken for certain before the summary was read */
    bool summary;
    bool derailed; /* a packet of no known type, or one that reaches behind the end */
    bool done;
};

/* A packet as its head has it. */
struct packet {
    uint8_t type;
    uint64_t id;     /* of the thread or method */
    uint64_t body;   /* offset */
    uint64_t length; /* of the body */
};

static size_t head_size(uint8_t type)
{
    static const size_t sizes[] = {
        [TV_MT_PACKET_THREAD] = TV_MT_PACKET_THREAD_HEAD,
        [TV_MT_PACKET_METHOD] = TV_MT_PACKET_METHOD_HEAD,
        [TV_MT_PACKET_ENTRIES] = TV_MT_PACKET_ENTRIES_HEAD,
        [TV_MT_PACKET_SUMMARY] = TV_MT_PACKET_SUMMARY_HEAD,
    };
    return type < TV_COUNT(sizes) ? sizes[type] : 0;
}

/* Of a head that is whole. */
static struct packet read_head(const uint8_t *at, uint64_t offset)
{
    struct packet packet = {.type = at[0], .body = offset + head_size(at[0])};
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
        /* The count before the size is modulo 65536: of no use. */
        packet.id = tv_le_get_u32(at + 1);
        packet.length = tv_le_get_u32(at + 8);
        break;
    default:
        packet.length = tv_le_get_u16(at + 1);
        break;
    }
    return packet;
}

static void warn(struct packets *packets, enum tv_diagnostic_kind kind)
{
    tv_mt_warn(packets->file, kind, packets->offset);
}

/* A thread is named again with another name when its id was given to another. */
static void take_thread(struct packets *packets, const struct packet *packet, struct tv_bytes name)
{
    struct tv_mt_file *file = packets->file;
    uint32_t known = tv_map_find(&file->threads, packet->id);
    if (known == TV_NONE ||
        !tv_bytes_equal(name, tv_trace_info_text(file->head, file->head->threads[known].name)))
        tv_mt_add_thread(file, packet->id, name, TV_MT_RECYCLED, packets->offset);
}

static void take_method(struct packets *packets, const struct packet *packet, struct tv_bytes text)
{
    struct tv_frame frame;
    if (text.length > 0 && text.data[text.length - 1] == '\n')
        text.length--;
    if (tv_mt_parse_method(packets->file, text, &frame))
        tv_mt_add_method(packets->file, packet->id, &frame, TV_MT_RECYCLED, packets->offset);
    else
        warn(packets, TV_DIAGNOSTIC_BAD_LINE);
}

static void take_entries(struct packets *packets, const struct packet *packet, bool cut)
{
    struct tv_mt_file *file = packets->file;
    uint64_t length = cut ? tv_source_size(file->source) - packet->body : packet->length;
    file->cut = cut;
    if (length > 0)
        tv_mt_add_unit(file, packet->body, length)->tid = (uint32_t)packet->id;
}

/* Its length is not always right, its last line is. */
static enum tv_status take_summary(struct packets *packets, const struct packet *packet,
                                   struct tv_error *err)
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

static enum tv_status take_body(struct packets *packets, const struct packet *packet,
                                struct tv_error *err)
{
    struct tv_bytes text;
    enum tv_status status =
        tv_window_at(&packets->window, packet->body, (size_t)packet->length, &text, err);
    if (status != TV_OK)
        return status;
    text.length = (size_t)packet->length;
    if (packet->type == TV_MT_PACKET_THREAD)
        take_thread(packets, packet, text);
    else
        take_method(packets, packet, text);
    return TV_OK;
}

/* Says that the file ends here, or goes astray. */
static void stop(struct packets *packets, enum tv_diagnostic_kind kind)
{
    packets->done = true;
    packets->derailed = true;
    warn(packets, kind);
}

static enum tv_status take_packet(struct packets *packets, struct tv_error *err)
{
    struct tv_bytes bytes;
    enum tv_status status =
        tv_window_at(&packets->window, packets->offset, TV_MT_PACKET_ENTRIES_HEAD, &bytes, err);
    if (status != TV_OK)
        return status;
    size_t size = head_size(bytes.data[0]);
    if (size == 0 || bytes.length < size) {
        stop(packets, size == 0 ? TV_DIAGNOSTIC_BAD_PACKET : TV_DIAGNOSTIC_TRUNCATED);
        return TV_OK;
    }
    struct packet packet = read_head(bytes.data, packets->offset);
    if (packet.type == TV_MT_PACKET_SUMMARY)
        return take_summary(packets, &packet, err);
    bool cut = !tv_source_reaches(packets->file->source, packet.body + packet.length);
    if (packet.type == TV_MT_PACKET_ENTRIES)
        take_entries(packets, &packet, cut);
    else if (!cut)
        status = take_body(packets, &packet, err);
    if (cut)
        stop(packets, TV_DIAGNOSTIC_TRUNCATED);
    packets->offset = packet.body + packet.length;
    return status;
}

/* Up to the stop. */
static enum tv_status take_packets(struct packets *packets, struct tv_error *err)
{
    struct tv_mt_file *file = packets->file;
    enum tv_status status = TV_OK;
    while (!packets->done && packets->offset < packets->stop && status == TV_OK) {
        packets->done = !tv_source_reaches(file->source, packets->offset + 1);
        if (!packets->done)
            status = take_packet(packets, err);
        if (status == TV_OK && atomic_load_explicit(&file->progress->cancel, memory_order_relaxed))
            status = tv_fail(err, TV_ERR_CANCELLED, TV_NO_OFFSET, "stopped on request");
    }
    return status;
}

/* The end was seen. */
static enum tv_status settle(struct packets *packets, struct tv_error *err)
{
    struct tv_mt_file *file = packets->file;
    enum tv_status status = TV_OK;
    tv_mt_input(file)->bytes = tv_source_size(file->source);
    if (packets->derailed && tv_mt_odd_is_variant_a(file))
        return tv_fail(err, TV_ERR_UNSUPPORTED, TV_MT_HEADER_SIZE,
                       "expected entries of format V2 as released, found those of its development "
                       "builds of early 2024, which are not read");
    if (!packets->summary) {
        tv_mt_warn(file, TV_DIAGNOSTIC_NO_SUMMARY, TV_NO_OFFSET);
        status = tv_mt_tail_take(file, &packets->told, err);
    }
    if (status == TV_OK)
        status = tv_mt_blocks_settle(file, &packets->start, err);
    return status == TV_OK ? tv_mt_tail_check(file, &packets->told, err) : status;
}

static void free_walk(struct tv_mt_walk *walk)
{
    struct packets *packets = (struct packets *)walk;
    tv_window_release(&packets->window);
    tv_free(packets);
}

static enum tv_status go_on(struct tv_mt_file *file, uint64_t bytes, struct tv_error *err)
{
    struct packets *packets = (struct packets *)file->walk;
    uint64_t most = UINT64_MAX - packets->offset;
    packets->stop = packets->offset + (bytes < most ? bytes : most);
    enum tv_status status = take_packets(packets, err);
    if (status == TV_OK && packets->done) {
        file->walk = NULL;
        status = settle(packets, err);
        free_walk(&packets->walk);
    }
    return status;
}

/* Methods of all classes stand in front of the first block: records count, not bytes. */
static enum tv_status walk_to_records(struct packets *packets, struct tv_error *err)
{
    struct tv_mt_file *file = packets->file;
    enum tv_status status = TV_OK;
    bool certain = false;
    while (status == TV_OK && file->walk && tv_mt_file_record_bytes(file) < TV_MT_SHORT_BYTES)
        status = go_on(file, TV_MT_SHORT_BYTES, err);
    if (status == TV_OK && file->walk)
        status = tv_mt_blocks_settle_early(file, &packets->start, &packets->told, &certain, err);
    if (status == TV_OK && file->walk && !certain)
        status = go_on(file, UINT64_MAX, err);
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
    struct packets *packets = tv_alloc(1, sizeof *packets);
    *packets = (struct packets){
        .walk = {go_on, free_walk},
        .file = file,
        .offset = TV_MT_HEADER_SIZE,
        .start = {tv_le_get_u64(bytes + TV_MT_PACKET_HEADER_START),
                  tv_le_get_u64(bytes + TV_MT_PACKET_HEADER_START_TICKS)},
    };
    tv_window_init(&packets->window, file->source);
    file->walk = &packets->walk;
    file->streaming = tv_mt_is_streaming(version);
    file->version = tv_mt_plain_version(version);
    file->frequency = tv_le_get_u64(bytes + TV_MT_PACKET_HEADER_FREQUENCY);
    if (got < sizeof bytes)
        tv_mt_warn(file, TV_DIAGNOSTIC_TRUNCATED, got);
    return file->early_names ? walk_to_records(packets, err) : go_on(file, UINT64_MAX, err);
}

enum tv_status tv_mt_packets_walk_dump(struct tv_mt_file *file, struct tv_error *err)
{
    struct packets packets = {.file = file, .stop = UINT64_MAX};
    file->layout = TV_MT_LONG_RUNNING;
    tv_source_size(file->source); /* methods come last */
    tv_window_init(&packets.window, file->source);
    enum tv_status status = take_packets(&packets, err);
    tv_window_release(&packets.window);
    if (status != TV_OK)
        return status;
    if (packets.derailed && tv_mt_odd_is_order_dump(file))
        return tv_fail(err, TV_ERR_UNSUPPORTED, 0,
                       "expected a dump of long-running methods, found one of all methods: it has "
                       "their order but no times, so there is no profile in it");
    return tv_mt_blocks_settle_dump(file, err);
}

int tv_mt_packets_sniff_dump(struct tv_bytes head, uint64_t size)
{
    if (head.length < TV_MT_PACKET_ENTRIES_HEAD)
        return 0;
    if (head.data[0] == TV_MT_PACKET_METHOD) {
        struct packet method = read_head(head.data, 0);
        bool inside = method.length > 0 && method.body + method.length <= head.length;
        return inside && head.data[method.body + method.length - 1] == '\n' ? 50 : 0;
    }
    /* No kernel gives greater ids to threads, and the count's upper byte is never used. */
    struct packet block = read_head(head.data, 0);
    if (block.type != TV_MT_PACKET_ENTRIES || block.id == 0 || block.id > 1 << 22 ||
        head.data[7] != 0)
        return 0;
    uint64_t next = block.body + block.length;
    if (next == size || (next < head.length && head.data[next] <= TV_MT_PACKET_ENTRIES))
        return 80;
    return 20;
}
