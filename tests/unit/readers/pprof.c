/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof.c - tests of the readers of readers/pprof: samples, threads, times and arguments of small
 * files, and each file cut and damaged at every byte.
 */
#include "unit.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/protobuf_out.h"
#include "profile_made.h"
#include "readers/readers.h"

/* Two samples of one value type "calls"; location 2 is f at line 3, inlined into main at line 8.
 * Strings: 1 calls, 2 count, 3 main, 4 f, 5 thread, 6 one, 7 end_timestamp_ns. */
#define TABLES                                                                                     \
    "\x0a\x04\x08\x01\x10\x02"                                                                     \
    "\x2a\x04\x08\x01\x10\x03\x2a\x04\x08\x02\x10\x04"                                             \
    "\x22\x08\x08\x01\x22\x04\x08\x01\x10\x09"                                                     \
    "\x22\x0e\x08\x02\x22\x04\x08\x02\x10\x03\x22\x04\x08\x01\x10\x08"                             \
    "\x32\x00\x32\x05"                                                                             \
    "calls"                                                                                        \
    "\x32\x05"                                                                                     \
    "count"                                                                                        \
    "\x32\x04"                                                                                     \
    "main"                                                                                         \
    "\x32\x01"                                                                                     \
    "f"                                                                                            \
    "\x32\x06"                                                                                     \
    "thread"                                                                                       \
    "\x32\x03"                                                                                     \
    "one"                                                                                          \
    "\x32\x10"                                                                                     \
    "end_timestamp_ns"

/* The second sample is -2 with numbers that are not packed, and has no labels. */
#define TWO_SAMPLES                                                                                \
    TV_BYTES(TABLES "\x12\x0d\x0a\x02\x02\x01\x12\x01\x05\x1a\x04\x08\x05\x10\x06"                 \
                    "\x12\x0d\x08\x01\x10\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01")

static void expands_inlined_functions(void **state)
{
    (void)state;
    assert_samples(&tv_reader_pprof, TWO_SAMPLES,
                   "calls 5 one < f:3 < main:8 < main:9\n"
                   "calls -2 all < main:9\n");
}

static void samples_may_have_times(void **state)
{
    (void)state;
    assert_samples(&tv_reader_pprof,
                   TV_BYTES(TABLES "\x12\x0d\x0a\x01\x01\x12\x01\x05\x1a\x05\x08\x07\x18\xe8\x07"
                                   "\x12\x0d\x0a\x01\x02\x12\x01\x01\x1a\x05\x08\x07\x18\xd0\x0f"),
                   "calls 5 all at 1000 < main:9\n"
                   "calls 1 all at 2000 < f:3 < main:8\n");
}

static void labels_are_arguments(void **state)
{
    (void)state;
    assert_described(&tv_reader_pprof, TWO_SAMPLES, 0, "{\"args\":{\"thread\":\"one\"}}");
}

#define HEAP                                                                                       \
    TV_BYTES("heap profile: 2: 64 [3: 96] @ heapprofile\n"                                         \
             "2: 64 [3: 96] @ 0x1101 0x1201\n"                                                     \
             "#\t0x1100\tmain.f+0x10\t/a.go:3\n"                                                   \
             "\n1000-9000 r-xp 00000200 08:01 1 /bin/app\n")

static void reads_the_text_of_a_heap(void **state)
{
    (void)state;
    assert_samples(&tv_reader_pprof_text, HEAP,
                   "alloc_objects 3 all < main.f:3 < app+0x400\n"
                   "alloc_space 96 all < main.f:3 < app+0x400\n"
                   "inuse_objects 2 all < main.f:3 < app+0x400\n"
                   "inuse_space 64 all < main.f:3 < app+0x400\n");
}

#define WORD(a, b) a b "\0\0\0\0\0\0"
#define GPERFTOOLS                                                                                 \
    TV_BYTES(WORD("\0", "\0") WORD("\3", "\0") WORD("\0", "\0") WORD("\x10", "\x27")               \
                 WORD("\0", "\0") WORD("\2", "\0") WORD("\2", "\0") WORD("\0", "\x11")             \
                     WORD("\1", "\x12") WORD("\0", "\0") WORD("\1", "\0")                          \
                         WORD("\0", "\0") "1000-9000 r-xp 00000000 08:01 1 /bin/app\n")

static void reads_words_of_gperftools(void **state)
{
    (void)state;
    assert_samples(&tv_reader_gperftools, GPERFTOOLS,
                   "samples 2 all < app+0x100\n"
                   "cpu 20000000 all < app+0x100\n");
}

/* ---- Sums of samples, by parts ---- */

static struct tv_trace *read_in_parts(struct tv_bytes file, enum tv_sample_detail detail,
                                      unsigned parts)
{
    struct tv_source *source = tv_source_from_memory(file, "test");
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    struct tv_read_options options = {.parts = parts};
    struct tv_error err = {0};
    tv_builder_sum_samples(builder, detail);
    assert_int_equal(tv_reader_pprof.assemble(source, builder, &options, &err), TV_OK);
    struct tv_trace *trace = tv_builder_finish(builder);
    tv_source_free(source);
    return trace;
}

struct summed {
    uint64_t samples;
    int64_t weight;
};

/* Return the sums of a trace: those of path p and type t at p * types + t. */
static struct summed *sums_of(const struct tv_trace *trace)
{
    const struct tv_tables *tables = &trace->tables;
    struct summed *sums = tv_alloc(trace->paths.count * tables->value_types.count, sizeof *sums);
    for (size_t i = 0; i < tables->samples.count; i++) {
        const struct tv_sample *sample = &tables->samples.rows[i];
        struct summed *sum = &sums[sample->line_path * tables->value_types.count + sample->type];
        sum->samples++;
        sum->weight += sample->weight;
    }
    for (size_t i = 0; i < tables->sample_sums.count; i++) {
        const struct tv_sample_sum *row = &tables->sample_sums.rows[i];
        struct summed *sum = &sums[row->path * tables->value_types.count + row->type];
        sum->samples += row->samples;
        sum->weight += row->weight;
    }
    return sums;
}

static void assert_diagnostic(const struct tv_diagnostic *a, const struct tv_diagnostic *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->offset_count, b->offset_count);
    for (uint32_t i = 0; i < a->offset_count; i++)
        assert_int_equal(a->places->offsets[i], b->places->offsets[i]);
}

/* Hold a trace of sums against one of single samples: the same paths, frames, threads and
 * diagnostics under the same numbers, and the sums of the rows. */
static void assert_sums(const struct tv_trace *trace, const struct tv_trace *single)
{
    const struct tv_trace_info *head = trace->head, *expected = single->head;
    assert_int_equal(trace->tables.samples.count, 0);
    assert_int_equal(head->inputs[0].samples, expected->inputs[0].samples);
    assert_int_equal(head->thread_count, expected->thread_count);
    assert_int_equal(head->frame_count, expected->frame_count);
    assert_int_equal(trace->paths.count, single->paths.count);
    assert_int_equal(trace->tables.value_types.count, single->tables.value_types.count);
    assert_memory_equal(trace->paths.nodes, single->paths.nodes,
                        single->paths.count * sizeof *single->paths.nodes);
    for (size_t i = 0; i < TV_DIAGNOSTIC_COUNT; i++)
        assert_diagnostic(&head->diagnostics.kinds[i], &expected->diagnostics.kinds[i]);
    struct summed *sums = sums_of(trace), *rows = sums_of(single);
    assert_memory_equal(sums, rows,
                        single->paths.count * single->tables.value_types.count * sizeof *rows);
    tv_free(sums);
    tv_free(rows);
}

static uint32_t next_random(uint32_t *random, uint32_t below)
{
    *random = *random * 1664525 + 1013904223;
    return (*random >> 16) % below;
}

/* Write one of twenty stacks; with one of the last two, a location that the file lacks. */
static void put_locations(struct tv_out *sample, struct tv_out *part, uint32_t stack, bool packed)
{
    unsigned depth = 1 + stack % 4;
    for (unsigned i = 0; i < depth; i++) {
        uint64_t location = stack >= 18 && i == 0 ? 77 : 1 + (stack >> i) % 2;
        if (packed)
            tv_protobuf_put_varint(part, location);
        else
            tv_protobuf_put_number(sample, 1, location);
    }
    if (packed)
        tv_protobuf_put_message(sample, 1, part);
}

/* Write a sample: most are alike, but their values may be 0 or negative, or missing; some name a
 * thread or are not packed, and some are cut. */
static void put_random_sample(struct tv_out *out, struct tv_out *sample, struct tv_out *part,
                              uint32_t *random)
{
    uint32_t odd = next_random(random, 16);
    put_locations(sample, part, next_random(random, 20), odd != 1);
    tv_protobuf_put_varint(part, (uint64_t)((int64_t)next_random(random, 4000) - 500));
    if (odd != 2)
        tv_protobuf_put_varint(part, next_random(random, 3));
    tv_protobuf_put_message(sample, 2, part);
    if (odd > 9) { /* thread: one, or by its id */
        bool named = odd > 12;
        tv_protobuf_put_number(part, 1, named ? 5 : 8);
        tv_protobuf_put_number(part, named ? 2 : 3, named ? 6 : odd);
        tv_protobuf_put_message(sample, 3, part);
    }
    if (odd == 3)
        sample->length--;
    tv_protobuf_put_message(out, 2, sample);
}

/* Write `count` samples between the tables, a second value type, and a second list of strings. */
static struct tv_out make_random_file(unsigned count)
{
    struct tv_out out, sample, part;
    uint32_t random = 1;
    tv_out_init_memory(&out);
    tv_out_init_memory(&sample);
    tv_out_init_memory(&part);
    tv_out_bytes(&out, TV_BYTES(TABLES "\x0a\x04\x08\x03\x10\x02"));
    for (unsigned i = 0; i < count; i++)
        put_random_sample(&out, &sample, &part, &random);
    tv_protobuf_put_bytes(&out, 6, TV_BYTES("tid")); /* string 8 */
    for (unsigned i = 0; i < count; i++)
        put_random_sample(&out, &sample, &part, &random);
    tv_out_release(&sample);
    tv_out_release(&part);
    return out;
}

/* Any number of parts gives the sums that the single samples have. */
static void parts_give_the_same_sums(void **state)
{
    (void)state;
    struct tv_out out = make_random_file(1000);
    struct tv_bytes file = {out.buffer, out.length};
    struct tv_trace *single = read_in_parts(file, TV_SAMPLES_SINGLE, 1);
    assert_int_equal(single->head->inputs[0].samples, 2000);
    for (unsigned parts = 1; parts < 9; parts++) {
        struct tv_trace *trace = read_in_parts(file, TV_SAMPLES_BY_LINES, parts);
        assert_sums(trace, single);
        tv_trace_free(trace);
    }
    tv_trace_free(single);
    tv_out_release(&out);
}

/* A cut file gives the sums that its single samples have, wherever it is cut. */
static void cut_files_give_the_same_sums(void **state)
{
    (void)state;
    struct tv_out out = make_random_file(12);
    for (size_t length = 0; length <= out.length; length++) {
        uint8_t *copy = tv_alloc(length + 1, 1);
        memcpy(copy, out.buffer, length);
        struct tv_bytes file = {copy, length};
        struct tv_trace *single = read_in_parts(file, TV_SAMPLES_SINGLE, 1);
        struct tv_trace *trace = read_in_parts(file, TV_SAMPLES_BY_LINES, 3);
        assert_sums(trace, single);
        tv_trace_free(trace);
        tv_trace_free(single);
        tv_free(copy);
    }
    tv_out_release(&out);
}

static void parts_stop_on_request(void **state)
{
    (void)state;
    struct tv_out out = make_random_file(20000);
    struct tv_source *source =
        tv_source_from_memory((struct tv_bytes){out.buffer, out.length}, "test");
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    struct tv_progress progress = {.cancel = true};
    struct tv_read_options options = {.parts = 2, .progress = &progress};
    struct tv_error err = {0};
    tv_builder_sum_samples(builder, TV_SAMPLES_BY_STACK);
    assert_int_equal(tv_reader_pprof.assemble(source, builder, &options, &err), TV_ERR_CANCELLED);
    tv_builder_free(builder);
    tv_source_free(source);
    tv_out_release(&out);
}

/* Any cut and any changed byte gives a trace, or at least no crash (run under ASan). */
static void damage_is_survived(void **state)
{
    (void)state;
    struct tv_bytes files[] = {TWO_SAMPLES, HEAP, GPERFTOOLS};
    const struct tv_reader *readers[] = {&tv_reader_pprof, &tv_reader_pprof_text,
                                         &tv_reader_gperftools};
    for (size_t i = 0; i < TV_COUNT(files); i++)
        assert_damage_survived(readers[i], files[i]);
}

UNIT_TESTS(pprof, cmocka_unit_test(expands_inlined_functions),
           cmocka_unit_test(samples_may_have_times), cmocka_unit_test(labels_are_arguments),
           cmocka_unit_test(reads_the_text_of_a_heap), cmocka_unit_test(reads_words_of_gperftools),
           cmocka_unit_test(parts_give_the_same_sums),
           cmocka_unit_test(cut_files_give_the_same_sums), cmocka_unit_test(parts_stop_on_request),
           cmocka_unit_test(damage_is_survived));
