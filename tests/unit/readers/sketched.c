/* SPDX-License-Identifier: Apache-2.0 */
/* The sketch that readers fill while they read: how busy the tracks are, and the progress. */
#include "base/bytes.h"
#include "base/memory.h"
#include "base/out.h"
#include "model/builder/builder.h"
#include "model/sketch.h"
#include "readers/reader.h"
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

static void put_records(struct tv_out *out, unsigned tid, uint32_t from, uint32_t to)
{
    uint8_t bytes[TV_MT_RECORD_SIZE_V3];
    for (uint32_t time = from; time < to; time++) {
        enum tv_mt_action action = time % 2 == 0 ? TV_MT_ENTER : TV_MT_EXIT;
        tv_mt_put_record_v3(bytes, (uint16_t)tid, tv_mt_word(0x10, action), time / 2, time);
        tv_out_bytes(out, (struct tv_bytes){bytes, sizeof bytes});
    }
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
    tv_out_release(&out);
}

/* Sketch a text block by block, as an unpacker finds it: no block knows those before it. */
static void sketch_blocks(struct tv_bytes text, size_t size, struct tv_sketch_shown *shown)
{
    const struct tv_reader *reader = tv_readers_find_by_prefix(
        (struct tv_bytes){text.data, text.length < TV_SNIFF_SIZE ? text.length : TV_SNIFF_SIZE});
    struct tv_sketch *sketch = tv_sketch_new();
    uint8_t *block = tv_alloc(size + TV_WINDOW_SLACK, 1);
    assert_non_null(reader);
    for (size_t at = 0; at < text.length; at += size) {
        size_t length = text.length - at < size ? text.length - at : size;
        memcpy(block, text.data + at, length);
        reader->sketch_block((struct tv_bytes){block, length}, sketch);
    }
    tv_sketch_show(sketch, shown);
    tv_sketch_free(sketch);
    tv_free(block);
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

UNIT_TESTS(sketched, cmocka_unit_test(sketches_method_traces), cmocka_unit_test(sketches_ftrace),
           cmocka_unit_test(sketches_trace_events));
