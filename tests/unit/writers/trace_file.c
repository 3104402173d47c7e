/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a small trace in each version, and what does not fit.  That reading them back gives
 * the same profile is shown by tests/golden/convert. */
#include "unit.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "feed.h"
#include "model/builder/builder.h"
#include "wire/method_trace.h"
#include "writers/trace/trace_file.h"

/* Thread 100: A at 0 calls B 1..2 and is left at 4; thread 101: an exit of C at 1 without its
 * entry, then D, open at the end.  One tick (a microsecond) a character, both clocks alike. */
static const char *const drawing[] = {"AB).)", ".cD"};

static struct tv_trace *build(const struct feed *feed)
{
    size_t start = 0;
    struct tv_trace_info *head = feed_head(feed);
    struct tv_builder *builder = tv_builder_new(head);
    feed_to(feed, head, tv_builder_sink(builder), &start, 1);
    return tv_builder_finish(builder);
}

struct record {
    uint32_t thread, frame, action, time;
};

static const struct record want[] = {
    {100, 0, TV_MT_ENTER, 0}, {100, 1, TV_MT_ENTER, 1}, {101, 2, TV_MT_EXIT, 1},
    {100, 1, TV_MT_EXIT, 2},  {101, 3, TV_MT_ENTER, 2}, {100, 0, TV_MT_EXIT, 4},
};

static struct record read_record(const uint8_t *at, enum tv_trace_target target)
{
    bool one_byte = target == TV_TRACE_V1;
    struct record record = {.thread = one_byte ? at[0] : tv_le_get_u16(at)};
    at += one_byte ? 1 : 2;
    uint32_t word = tv_le_get_u32(at);
    record.frame = tv_mt_word_method(word) >> 2;
    record.action = tv_mt_word_action(word);
    record.time = tv_le_get_u32(at + 4);
    return record;
}

/* Return the first record, after "*end\n" and the data header. */
static const uint8_t *find_records(const struct tv_out *out)
{
    for (size_t i = 0; i + 5 < out->length; i++) {
        if (memcmp(out->buffer + i, "*end\n", 5) == 0)
            return out->buffer + i + 5 + TV_MT_HEADER_SIZE;
    }
    return NULL;
}

static void writes_each_version(void **state)
{
    (void)state;
    static const size_t sizes[] = {9, 10, 14};
    struct feed *feed = feed_draw(drawing, 2);
    struct tv_trace *trace = build(feed);
    for (int target = TV_TRACE_V1; target <= TV_TRACE_V3; target++) {
        struct tv_trace_file_losses losses;
        struct tv_out out;
        tv_out_init_memory(&out);
        assert_int_equal(tv_trace_file_write(&out, trace,
                                             &(struct tv_trace_file_options){
                                                 .target = (enum tv_trace_target)target},
                                             &losses, NULL),
                         TV_OK);
        const uint8_t *at = find_records(&out);
        assert_non_null(at);
        assert_int_equal(out.buffer + out.length - at, sizes[target] * TV_COUNT(want));
        for (size_t i = 0; i < TV_COUNT(want); i++, at += sizes[target]) {
            struct record got = read_record(at, (enum tv_trace_target)target);
            assert_memory_equal(&got, &want[i], sizeof got);
        }
        assert_int_equal(losses.cpu_clock, target != TV_TRACE_V3);
        assert_false(losses.wall_clock || losses.invented_clock || losses.renumbered > 0);
        assert_int_equal(losses.rounded, 0);
        tv_out_release(&out);
    }
    tv_trace_free(trace);
    feed_free(feed);
}

/* In a streaming file each name stands before its first use, the summary last. */
static void announces_names(void **state)
{
    (void)state;
    struct feed *feed = feed_draw(drawing, 2);
    struct tv_trace *trace = build(feed);
    struct tv_trace_file_losses losses;
    struct tv_out out;
    bool threads[256] = {false}, methods[256] = {false};
    size_t at = TV_MT_HEADER_SIZE, records = 0;
    tv_out_init_memory(&out);
    assert_int_equal(tv_trace_file_write(
                         &out, trace, &(struct tv_trace_file_options){.target = TV_TRACE_STREAM_2},
                         &losses, NULL),
                     TV_OK);
    assert_int_equal(tv_mt_get_header(out.buffer).version, 0xF3);
    assert_int_equal(tv_mt_get_header(out.buffer).record_size, 14);
    for (;;) {
        const uint8_t *p = out.buffer + at;
        if (tv_le_get_u16(p) != 0) {
            struct record record = read_record(p, TV_TRACE_STREAM_2);
            assert_true(threads[record.thread] && methods[record.frame]);
            assert_memory_equal(&record, &want[records++], sizeof record);
            at += 14;
        } else if (p[2] == TV_MT_STREAM_METHOD) {
            struct tv_bytes line = {p + TV_MT_STREAM_METHOD_HEAD, tv_le_get_u16(p + 3)}, id;
            uint64_t number = 0;
            assert_true(tv_bytes_split(&line, '\t', &id) && tv_parse_hex(id, &number));
            methods[number >> 2] = true;
            at += TV_MT_STREAM_METHOD_HEAD + tv_le_get_u16(p + 3);
        } else if (p[2] == TV_MT_STREAM_THREAD) {
            threads[tv_le_get_u16(p + 3)] = true;
            at += TV_MT_STREAM_THREAD_HEAD + tv_le_get_u16(p + 5);
        } else {
            assert_int_equal(at + TV_MT_STREAM_SUMMARY_HEAD + tv_le_get_u32(p + 3), out.length);
            break;
        }
    }
    assert_int_equal(records, TV_COUNT(want));
    tv_out_release(&out);
    tv_trace_free(trace);
    feed_free(feed);
}

static void renumbers_threads(void **state)
{
    (void)state;
    struct feed *feed = feed_draw(drawing, 2);
    struct tv_trace *trace = build(feed);
    struct tv_trace_file_losses losses;
    struct tv_error err = {0};
    struct tv_out out;
    trace->head->threads[0].id = 70000; /* too large for any version */
    trace->head->threads[1].id = 300;   /* for one byte */
    tv_out_init_memory(&out);
    assert_int_equal(tv_trace_file_write(&out, trace,
                                         &(struct tv_trace_file_options){.target = TV_TRACE_V2},
                                         &losses, &err),
                     TV_OK);
    assert_int_equal(losses.renumbered, 1);
    assert_int_equal(read_record(find_records(&out), TV_TRACE_V2).thread, 1);
    out.length = 0;
    assert_int_equal(tv_trace_file_write(&out, trace,
                                         &(struct tv_trace_file_options){.target = TV_TRACE_V1},
                                         &losses, &err),
                     TV_OK);
    assert_int_equal(losses.renumbered, 2);

    for (uint32_t i = 0; i < 255; i++)
        tv_trace_info_add_thread(trace->head, &(struct tv_thread){.id = 1000 + i});
    out.length = 0;
    assert_int_equal(tv_trace_file_write(&out, trace,
                                         &(struct tv_trace_file_options){.target = TV_TRACE_V1},
                                         &losses, &err),
                     TV_ERR_LIMIT);
    assert_int_equal(out.length, 0);
    tv_out_release(&out);
    tv_trace_free(trace);
    feed_free(feed);
}

UNIT_TESTS(trace_file, cmocka_unit_test(writes_each_version), cmocka_unit_test(announces_names),
           cmocka_unit_test(renumbers_threads));
