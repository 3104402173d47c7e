/* SPDX-License-Identifier: Apache-2.0 */
/* The sketch that readers fill while they read: how busy the tracks are, and the progress. */
#include "base/bytes.h"
#include "base/memory.h"
#include "base/out.h"
#include "base/protobuf_out.h"
#include "model/builder/builder.h"
#include "model/sketch.h"
#include "readers/reader.h"
#include "readers/readers.h"
#include "unit.h"
#include "wire/method_trace.h"

static void read_sketched(struct tv_bytes bytes, unsigned parts, struct tv_progress *progress,
                          struct tv_sketch_shown *shown)
{
    struct tv_error err;
    struct tv_source *source = tv_source_from_memory(bytes, "test");
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    *progress = (struct tv_progress){.sketch = tv_sketch_new()};
    struct tv_read_options options = {.parts = parts, .progress = progress};
    assert_int_equal(tv_readers_build(source, builder, &options, &err), TV_OK);
    tv_sketch_show(progress->sketch, shown);
    tv_sketch_free(progress->sketch);
    tv_builder_free(builder);
    tv_source_free(source);
}

/* The track is busy in one half of the range alone, but for a bucket or two in the middle. */
static void assert_busy(const struct tv_sketch_shown *shown, const char *name, unsigned half)
{
    unsigned busy[2] = {0, 0};
    uint32_t track = 0, end = TV_SKETCH_BUCKETS;
    while (track < shown->track_count && strcmp(shown->names[track], name) != 0)
        track++;
    assert_true(track < shown->track_count);
    /* The range is as long as it needs to be: nothing is beyond its last bucket in use. */
    for (bool any = false; end > 0 && !any; end -= !any)
        for (uint32_t i = 0; i < shown->track_count; i++)
            any |= shown->heights[i][end - 1] > 0;
    for (uint32_t i = 0; i < end; i++)
        busy[2 * i >= end] += shown->heights[track][i] > 0;
    assert_true(busy[half] >= 30);
    assert_true(busy[1 - half] <= 2);
}

/* Sketch a file block by block, as an unpacker finds it. */
static void sketch_blocks(struct tv_bytes text, size_t size, struct tv_sketch_shown *shown)
{
    const struct tv_reader *reader = tv_readers_find_by_prefix(
        (struct tv_bytes){text.data, text.length < TV_SNIFF_SIZE ? text.length : TV_SNIFF_SIZE});
    struct tv_sketch *sketch = tv_sketch_new();
    void *notes = NULL;
    uint8_t *block = tv_alloc(size + TV_WINDOW_SLACK, 1);
    assert_non_null(reader);
    for (size_t at = 0; at < text.length; at += size) {
        size_t length = text.length - at < size ? text.length - at : size;
        memcpy(block, text.data + at, length);
        reader->sketch_block((struct tv_bytes){block, length}, sketch, &notes);
    }
    tv_free(notes);
    tv_sketch_show(sketch, shown);
    tv_sketch_free(sketch);
    tv_free(block);
}

static void put_records(struct tv_out *out, unsigned tid, uint32_t from, uint32_t to)
{
    uint8_t bytes[TV_MT_RECORD_SIZE_V3];
    for (uint32_t time = from; time < to; time++) {
        enum tv_mt_action action = time % 2 == 0 ? TV_MT_ENTER : TV_MT_EXIT;
        tv_mt_put_record_v3(bytes, (uint16_t)tid, tv_mt_word(0x10, action), time / 2, time);
        tv_out_bytes(out, (struct tv_bytes){bytes, sizeof bytes});
    }
}

/* A block may end anywhere, also within a record or the head of a packet. */
static void assert_blocks(const struct tv_out *out)
{
    static const size_t sizes[] = {1000, 4096, 5003, 262144};
    for (size_t i = 0; i < TV_COUNT(sizes); i++) {
        struct tv_sketch_shown shown;
        sketch_blocks((struct tv_bytes){out->buffer, out->length}, sizes[i], &shown);
        assert_int_equal(shown.track_count, 2);
        assert_busy(&shown, "[1] main", 0);
        assert_busy(&shown, "[2] other", 1);
    }
}

static void put_stream_packet(struct tv_out *out, uint8_t op, uint16_t tid, const char *text)
{
    uint8_t head[TV_MT_STREAM_THREAD_HEAD] = {0, 0, op};
    size_t size = 3;
    if (op == TV_MT_STREAM_THREAD) {
        tv_le_put_u16(head + size, tid);
        size += 2;
    }
    tv_le_put_u16(head + size, (uint16_t)strlen(text));
    tv_out_bytes(out, (struct tv_bytes){head, size + 2});
    tv_out_text(out, text);
}

static void put_packet_thread(struct tv_out *out, uint32_t tid, const char *name)
{
    uint8_t head[TV_MT_PACKET_THREAD_HEAD] = {TV_MT_PACKET_THREAD};
    tv_le_put_u32(head + 1, tid);
    tv_le_put_u16(head + 5, (uint16_t)strlen(name));
    tv_out_bytes(out, (struct tv_bytes){head, sizeof head});
    tv_out_text(out, name);
}

/* A block of entries: one with a time, and others that add nothing to it. */
static void put_packet_entries(struct tv_out *out, uint32_t tid, uint32_t time)
{
    uint8_t head[TV_MT_PACKET_ENTRIES_HEAD] = {TV_MT_PACKET_ENTRIES};
    uint8_t first[] = {0x10, (uint8_t)(time | 0x80), (uint8_t)(time >> 7 | 0x80),
                       (uint8_t)(time >> 14 & 0x7f), 0};
    uint8_t others[300] = {0};
    tv_le_put_u32(head + 1, tid);
    head[5] = 101;
    tv_le_put_u32(head + 8, sizeof first + sizeof others);
    tv_out_bytes(out, (struct tv_bytes){head, sizeof head});
    tv_out_bytes(out, (struct tv_bytes){first, sizeof first});
    tv_out_bytes(out, (struct tv_bytes){others, sizeof others});
}

/* One thread works first, the other after it; a third one not at all. */
static void sketches_method_traces(void **context)
{
    (void)context;
    struct tv_mt_header header = {.version = 3, .data_offset = 32, .record_size = 14};
    uint8_t bytes[TV_MT_HEADER_SIZE];
    struct tv_out out;
    tv_out_init_memory(&out);
    tv_out_text(&out, "*version\n3\nclock=dual\n*threads\n1\tmain\n2\tother\n3\tidle\n*methods\n"
                      "0x10\tA\tm\n*end\n");
    tv_mt_put_header(bytes, &header);
    tv_out_bytes(&out, (struct tv_bytes){bytes, sizeof bytes});
    put_records(&out, 1, 0, 20000);
    put_records(&out, 2, 20000, 40000);
    for (unsigned parts = 1; parts <= 2; parts++) {
        struct tv_progress progress;
        struct tv_sketch_shown shown;
        read_sketched((struct tv_bytes){out.buffer, out.length}, parts, &progress, &shown);
        assert_int_equal(shown.track_count, 2);
        assert_busy(&shown, "[1] main", 0);
        assert_busy(&shown, "[2] other", 1);
        assert_true(tv_progress_show(&progress).records >= 40000);
        assert_true(progress.joining); /* its last act */
    }
    assert_blocks(&out);
    tv_out_release(&out);
}

/* Methods that are announced among the records, as ART does when it streams. */
static void sketches_streamed_blocks(void **context)
{
    (void)context;
    struct tv_mt_header header = {.version = 0xF3, .data_offset = 32, .record_size = 14};
    uint8_t bytes[TV_MT_HEADER_SIZE];
    struct tv_out out;
    tv_out_init_memory(&out);
    tv_mt_put_header(bytes, &header);
    tv_out_bytes(&out, (struct tv_bytes){bytes, sizeof bytes});
    put_stream_packet(&out, TV_MT_STREAM_THREAD, 1, "main");
    for (unsigned i = 0; i < 100; i++) {
        put_stream_packet(&out, TV_MT_STREAM_METHOD, 0, "0x10\tA\tm\t()V\n");
        put_records(&out, 1, i * 200, i * 200 + 200);
    }
    put_stream_packet(&out, TV_MT_STREAM_THREAD, 2, "other");
    put_records(&out, 2, 20000, 40000);
    assert_blocks(&out);
    tv_out_release(&out);
}

/* Records of one clock: 10 bytes, or 14, of which the last 4 are whatever memory held. */
static void put_single_records(struct tv_out *out, unsigned tid, uint32_t from, size_t size)
{
    for (uint32_t time = from; time < from + 200; time++) {
        uint8_t bytes[TV_MT_RECORD_SIZE_V3] = {[10] = (uint8_t)time, [13] = 0xff};
        enum tv_mt_action action = time % 2 == 0 ? TV_MT_ENTER : TV_MT_EXIT;
        tv_le_put_u16(bytes, (uint16_t)tid);
        tv_le_put_u32(bytes + 2, tv_mt_word(0x10, action));
        tv_le_put_u32(bytes + 6, time);
        tv_out_bytes(out, (struct tv_bytes){bytes, size});
    }
}

/* The header of one clock says 10 bytes a record, whatever the writer writes. */
static void sketches_streamed_blocks_of_one_clock(void **context)
{
    (void)context;
    struct tv_mt_header header = {.version = 0xF2, .data_offset = 32, .record_size = 10};
    uint8_t bytes[TV_MT_HEADER_SIZE];
    for (size_t size = TV_MT_RECORD_SIZE_V2; size <= TV_MT_RECORD_SIZE_V3; size += 4) {
        struct tv_out out;
        tv_out_init_memory(&out);
        tv_mt_put_header(bytes, &header);
        tv_out_bytes(&out, (struct tv_bytes){bytes, sizeof bytes});
        put_stream_packet(&out, TV_MT_STREAM_THREAD, 1, "main");
        put_stream_packet(&out, TV_MT_STREAM_THREAD, 2, "other");
        for (unsigned i = 0; i < 200; i++) {
            put_stream_packet(&out, TV_MT_STREAM_METHOD, 0, "0x10\tA\tm\t()V\n");
            put_single_records(&out, i < 100 ? 1 : 2, i * 200, size);
        }
        assert_blocks(&out);
        tv_out_release(&out);
    }
}

/* Reading knows the unit of the times, here nanoseconds, and begins the sketch again. */
static void assert_sketch_read_from_blocks(const struct tv_out *file)
{
    static const char summary[] = "*version\nelapsed-time-nsec=100000\nclock=dual\n*end\n";
    uint8_t head[TV_MT_PACKET_SUMMARY_HEAD] = {TV_MT_PACKET_SUMMARY, sizeof summary - 1};
    struct tv_progress progress = {.sketch = tv_sketch_new()};
    struct tv_sketch_shown shown;
    struct tv_error err;
    struct tv_out out;
    tv_out_init_memory(&out);
    tv_out_bytes(&out, (struct tv_bytes){file->buffer, file->length});
    tv_out_bytes(&out, (struct tv_bytes){head, sizeof head});
    tv_out_text(&out, summary);
    struct tv_sketch_mark mark = {INT64_C(99000000), 0}; /* as if they were microseconds */
    tv_sketch_track(progress.sketch, TV_BYTES("[1] main"));
    tv_sketch_add(progress.sketch, &mark, 1);
    struct tv_source *source =
        tv_source_from_memory((struct tv_bytes){out.buffer, out.length}, "test");
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    struct tv_read_options options = {.parts = 1, .progress = &progress};
    assert_int_equal(tv_readers_build(source, builder, &options, &err), TV_OK);
    tv_sketch_show(progress.sketch, &shown);
    assert_busy(&shown, "[1] main", 0);
    tv_sketch_free(progress.sketch);
    tv_builder_free(builder);
    tv_source_free(source);
    tv_out_release(&out);
}

/* Blocks of entries from zeros (format V2): a thread's second half continues from its first. */
static void sketches_blocks_of_packets(void **context)
{
    (void)context;
    uint8_t header[TV_MT_HEADER_SIZE] = "SLOW\x05";
    struct tv_out out;
    tv_out_init_memory(&out);
    tv_out_bytes(&out, (struct tv_bytes){header, sizeof header});
    put_packet_thread(&out, 1, "main");
    put_packet_thread(&out, 2, "other");
    for (unsigned i = 0; i < 100; i++)
        put_packet_entries(&out, i < 50 ? 1 : 2, i * 1000);
    assert_blocks(&out);
    assert_sketch_read_from_blocks(&out);
    put_packet_entries(&out, 2, 3); /* continues: it is not at the beginning of the trace */
    assert_blocks(&out);
    tv_out_release(&out);
}

/* Variant C: the first number of a block is 4 times the counter, plus the action. */
static void sketches_blocks_of_a_counter(void **context)
{
    (void)context;
    uint8_t header[TV_MT_HEADER_SIZE] = "SLOW\x05";
    struct tv_out out;
    tv_out_init_memory(&out);
    tv_le_put_u64(header + TV_MT_PACKET_HEADER_FREQUENCY, 19200000);
    tv_out_bytes(&out, (struct tv_bytes){header, sizeof header});
    put_packet_thread(&out, 1, "main");
    put_packet_thread(&out, 2, "other");
    for (uint32_t i = 0; i < 100; i++) {
        uint8_t head[TV_MT_PACKET_ENTRIES_HEAD] = {TV_MT_PACKET_ENTRIES};
        uint32_t stamp = (19200000 / 1000 * (i + 1)) << 2;
        uint8_t entry[] = {(uint8_t)(stamp | 0x80),
                           (uint8_t)(stamp >> 7 | 0x80),
                           (uint8_t)(stamp >> 14 | 0x80),
                           (uint8_t)(stamp >> 21 & 0x3f),
                           9,
                           0x10};
        tv_le_put_u32(head + 1, i < 50 ? 1 : 2);
        head[5] = 1;
        tv_le_put_u32(head + 8, sizeof entry);
        tv_out_bytes(&out, (struct tv_bytes){head, sizeof head});
        tv_out_bytes(&out, (struct tv_bytes){entry, sizeof entry});
    }
    assert_blocks(&out);
    tv_out_release(&out);
}

/* Whatever the bytes are, nothing is read beyond the block, and the sketch may be empty. */
static void sketches_broken_blocks(void **context)
{
    (void)context;
    static const char *const texts[] = {
        "*version\n3\n*end",
        "*version\n*end\nSLOW\x03",
        "SLOW\xf3\x00 0123456789012345678901234567890123456789\x00\x00\x01\xff\xff",
        "SLOW\x05 01234567890123456789012345678901234567890",
    };
    for (size_t i = 0; i < TV_COUNT(texts); i++)
        for (size_t size = 1; size < 60; size++) {
            struct tv_sketch *sketch = tv_sketch_new();
            void *notes = NULL;
            struct tv_bytes text = tv_bytes_of(texts[i]);
            for (size_t at = 0; at < text.length; at += size) {
                size_t length = text.length - at < size ? text.length - at : size;
                tv_reader_method_trace.sketch_block((struct tv_bytes){text.data + at, length},
                                                    sketch, &notes);
            }
            tv_free(notes);
            tv_sketch_free(sketch);
        }
}

static void sketches_ftrace(void **context)
{
    (void)context;
    struct tv_out out;
    tv_out_init_memory(&out);
    tv_out_text(&out, "# tracer: nop\n#\n");
    for (unsigned i = 0; i < 4000; i++)
        tv_out_format(&out, "  app-7 [%03u] ...1 1.%06u: tracing_mark_write: C|7|n|%u\n",
                      i < 2000 ? 0 : 3, i, i);
    for (unsigned parts = 1; parts <= 2; parts++) {
        struct tv_progress progress;
        struct tv_sketch_shown shown;
        read_sketched((struct tv_bytes){out.buffer, out.length}, parts, &progress, &shown);
        assert_int_equal(shown.track_count, 2);
        assert_busy(&shown, "CPU 0", 0);
        assert_busy(&shown, "CPU 3", 1);
        assert_int_equal(tv_progress_show(&progress).records, 4000);
        assert_true(progress.joining);
    }
    struct tv_sketch_shown blocks;
    sketch_blocks((struct tv_bytes){out.buffer, out.length}, 5000, &blocks);
    assert_int_equal(blocks.track_count, 2);
    assert_busy(&blocks, "CPU 0", 0);
    assert_busy(&blocks, "CPU 3", 1);
    tv_out_release(&out);
}

static void sketches_trace_events(void **context)
{
    (void)context;
    struct tv_out out;
    tv_out_init_memory(&out);
    tv_out_char(&out, '[');
    for (unsigned i = 0; i < 40000; i++)
        tv_out_format(&out,
                      "%s{\"ph\":\"X\",\"name\":\"a\",\"pid\":5,\"tid\":%u,\"ts\":%u,\"dur\":1}",
                      i > 0 ? ",\n" : "", i < 20000 ? 6 : 7, 2 * i);
    tv_out_char(&out, ']');
    struct tv_progress progress;
    struct tv_sketch_shown shown;
    read_sketched((struct tv_bytes){out.buffer, out.length}, 1, &progress, &shown);
    assert_int_equal(shown.track_count, 2);
    assert_busy(&shown, "5/6", 0);
    assert_busy(&shown, "5/7", 1);
    assert_true(progress.joining);
    sketch_blocks((struct tv_bytes){out.buffer, out.length}, 10000, &shown);
    assert_int_equal(shown.track_count, 2);
    assert_busy(&shown, "5/6", 0);
    assert_busy(&shown, "5/7", 1);
    tv_out_release(&out);
}

/* Put a list with one time, as compact events have it. */
static void put_compact_time(struct tv_out *out, uint64_t time)
{
    struct tv_out list;
    tv_out_init_memory(&list);
    tv_protobuf_put_varint(&list, time);
    tv_protobuf_put_message(out, 1, &list);
    tv_out_release(&list);
}

/* Put a packet of Perfetto: a bundle with one event, single or compact, or an instant of a
 * sequence. */
static void put_perfetto_packet(struct tv_out *out, unsigned i, bool is_bundle)
{
    struct tv_out event, payload, packet;
    bool second = i >= 2000;
    tv_out_init_memory(&event);
    tv_out_init_memory(&payload);
    tv_out_init_memory(&packet);
    if (is_bundle) {
        tv_protobuf_put_number(&payload, 1, second ? 3 : 0);
        if (i % 2 == 0)
            tv_protobuf_put_number(&event, 1, 1000u * (1 + i));
        else
            put_compact_time(&event, 1000u * (1 + i));
        tv_protobuf_put_message(&payload, i % 2 == 0 ? 2 : 4, &event);
        tv_protobuf_put_message(&packet, 1, &payload);
    } else {
        tv_protobuf_put_number(&packet, 8, 1000u * (1 + i));
        tv_protobuf_put_number(&packet, 10, second ? 8 : 7);
        tv_protobuf_put_number(&payload, 9, 3);
        tv_protobuf_put_message(&packet, 11, &payload);
    }
    tv_protobuf_put_message(out, 1, &packet);
    tv_out_release(&packet);
    tv_out_release(&payload);
    tv_out_release(&event);
}

static void sketches_perfetto(void **context)
{
    static const char *const names[][2] = {{"sequence 7", "sequence 8"}, {"CPU 0", "CPU 3"}};
    (void)context;
    for (unsigned is_bundle = 0; is_bundle < 2; is_bundle++) {
        struct tv_out out;
        struct tv_progress progress;
        struct tv_sketch_shown shown;
        tv_out_init_memory(&out);
        for (unsigned i = 0; i < 4000; i++)
            put_perfetto_packet(&out, i, is_bundle);
        read_sketched((struct tv_bytes){out.buffer, out.length}, 1, &progress, &shown);
        assert_int_equal(shown.track_count, 2);
        for (unsigned half = 0; half < 2; half++)
            assert_busy(&shown, names[is_bundle][half], half);
        tv_out_release(&out);
    }
}

UNIT_TESTS(sketched, cmocka_unit_test(sketches_method_traces),
           cmocka_unit_test(sketches_streamed_blocks), cmocka_unit_test(sketches_blocks_of_packets),
           cmocka_unit_test(sketches_streamed_blocks_of_one_clock),
           cmocka_unit_test(sketches_blocks_of_a_counter), cmocka_unit_test(sketches_broken_blocks),
           cmocka_unit_test(sketches_ftrace), cmocka_unit_test(sketches_trace_events),
           cmocka_unit_test(sketches_perfetto));
