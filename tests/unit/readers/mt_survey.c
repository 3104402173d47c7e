/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sampled or not: traces of ten samples, each a number of records of one time, with one thing
 * changed.
 */
#include "readers/method_trace/file.h"

#include "base/out.h"
#include "unit.h"

struct shape {
    unsigned per_sample; /* records of one time */
    uint32_t gap;        /* us between samples */
    bool exit_first;     /* an exit without its entry */
    bool unroll;         /* an exit by an exception */
    uint32_t odd_gap;    /* us before the last sample, when not 0 */
    bool short_call;     /* one that is entered and left at one time */
    bool loop;           /* two methods by turns, 40 times, each the only one of its sample */
};

static void put_record(struct tv_out *out, uint32_t word, uint32_t time)
{
    uint8_t bytes[TV_MT_RECORD_SIZE_V3];
    tv_mt_put_record_v3(bytes, 1, word, time / 10, time);
    tv_out_bytes(out, (struct tv_bytes){bytes, sizeof bytes});
}

/* A caller in which one method ends and the other begins, as a sampler sees a hot loop. */
static void put_loop(struct tv_out *out, uint32_t gap)
{
    uint32_t time = 5000;
    put_record(out, tv_mt_word(0x10, TV_MT_ENTER), time);
    for (unsigned i = 0; i < 40; i++, time += gap * (i % 3 + 1)) {
        if (i > 0)
            put_record(out, tv_mt_word(i % 2 ? 0x14 : 0x18, TV_MT_EXIT), time);
        put_record(out, tv_mt_word(i % 2 ? 0x18 : 0x14, TV_MT_ENTER), time);
    }
}

static void put_samples(struct tv_out *out, const struct shape *shape)
{
    uint32_t time = 5000;
    if (shape->short_call) {
        put_record(out, tv_mt_word(0x10, TV_MT_ENTER), time);
        put_record(out, tv_mt_word(0x10, TV_MT_EXIT), time);
    }
    if (shape->exit_first)
        put_record(out, tv_mt_word(0x10, TV_MT_EXIT), time);
    for (unsigned sample = 0; sample < 10; sample++) {
        enum tv_mt_action action = sample % 2 == 0 ? TV_MT_ENTER : TV_MT_EXIT;
        if (action == TV_MT_EXIT && shape->unroll)
            action = TV_MT_UNROLL;
        for (unsigned i = 0; i < shape->per_sample; i++)
            put_record(out, tv_mt_word(0x10, action), time);
        time += sample == 8 && shape->odd_gap ? shape->odd_gap : shape->gap;
    }
}

static tv_ns sampled_ns(const struct shape *shape)
{
    struct tv_mt_header header = {.version = 3, .data_offset = 32, .record_size = 14};
    uint8_t bytes[TV_MT_HEADER_SIZE];
    struct tv_progress progress = {0};
    struct tv_mt_file file;
    struct tv_error err;
    struct tv_out out;
    tv_out_init_memory(&out);
    tv_out_text(&out, "*version\n3\nclock=dual\n*threads\n1\ta\n*methods\n0x10\tA\tm\n*end\n");
    tv_mt_put_header(bytes, &header);
    tv_out_bytes(&out, (struct tv_bytes){bytes, sizeof bytes});
    if (shape->loop)
        put_loop(&out, shape->gap);
    else
        put_samples(&out, shape);

    struct tv_source *source =
        tv_source_from_memory((struct tv_bytes){out.buffer, out.length}, "samples");
    struct tv_trace_info *head = tv_trace_info_new();
    tv_mt_file_init(&file, source, head);
    file.progress = &progress;
    assert_int_equal(tv_mt_text_walk(&file, &err), TV_OK);
    assert_int_equal(tv_mt_survey_sampling(&file, &err), TV_OK);
    tv_ns result = head->inputs[0].sampled_ns;
    tv_mt_file_release(&file);
    tv_trace_info_free(head);
    tv_source_free(source);
    tv_out_release(&out);
    return result;
}

static void knows_sampled_traces(void **context)
{
    (void)context;
    assert_int_equal(sampled_ns(&(struct shape){.per_sample = 20, .gap = 2000}), 2000000);
    /* A thread that did not change for a while leaves no samples. */
    assert_int_equal(sampled_ns(&(struct shape){.per_sample = 20, .gap = 2000, .odd_gap = 90000}),
                     2000000);
    assert_int_equal(sampled_ns(&(struct shape){.per_sample = 20, .gap = 100}), 100000);
    assert_int_equal(sampled_ns(&(struct shape){.per_sample = 4, .gap = 2000}), 2000000);
    /* Half of the records have the time of the one before; samples are one, two or three intervals
     * apart. */
    assert_int_equal(sampled_ns(&(struct shape){.loop = true, .gap = 10000}), 10000000);
}

static void knows_instrumented_traces(void **context)
{
    (void)context;
    assert_int_equal(sampled_ns(&(struct shape){.per_sample = 20, .gap = 99}), 0);
    assert_int_equal(sampled_ns(&(struct shape){.loop = true, .gap = 99}), 0);
    assert_int_equal(sampled_ns(&(struct shape){.per_sample = 20, .gap = 2000, .odd_gap = 30}), 0);
    assert_int_equal(sampled_ns(&(struct shape){.per_sample = 20, .gap = 2000, .unroll = true}), 0);
    assert_int_equal(sampled_ns(&(struct shape){.per_sample = 20, .gap = 2000, .exit_first = true}),
                     0);
    assert_int_equal(sampled_ns(&(struct shape){.per_sample = 20, .gap = 2000, .short_call = true}),
                     0);
    /* Half of the records have the time of the one before, and there are nine gaps. */
    assert_int_equal(sampled_ns(&(struct shape){.per_sample = 2, .gap = 2000}), 0);
}

UNIT_TESTS(mt_survey, cmocka_unit_test(knows_sampled_traces),
           cmocka_unit_test(knows_instrumented_traces));
