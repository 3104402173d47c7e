/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof.c - tests of the readers of readers/pprof: samples, threads, times and arguments of small
 * files, and each file cut and damaged at every byte.
 */
#include "unit.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/pprof/pprof.h"

static struct tv_trace *read_profile(struct tv_source *source, const struct tv_reader *reader)
{
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    struct tv_read_options options = {.parts = 1};
    struct tv_error err = {0};
    assert_int_equal(reader->assemble(source, builder, &options, &err), TV_OK);
    return tv_builder_finish(builder);
}

/* Write the samples, one a line: type, weight, thread and time if there is one, then the stack. */
static void print_samples(struct tv_out *out, const struct tv_trace *trace)
{
    const struct tv_trace_info *head = trace->head;
    for (size_t i = 0; i < trace->tables.samples.count; i++) {
        const struct tv_sample *sample = &trace->tables.samples.rows[i];
        tv_out_bytes(out, tv_trace_info_text(head, tv_sample_title(&trace->tables, sample)));
        tv_out_format(out, " %lld ", (long long)sample->weight);
        tv_out_bytes(out, tv_trace_info_text(head, head->threads[sample->thread].name));
        if (!head->inputs[0].weight_axis)
            tv_out_format(out, " at %lld", (long long)sample->time);
        for (uint32_t path = sample->line_path; path != TV_ROOT_PATH;
             path = trace->paths.nodes[path].parent) {
            const struct tv_frame *frame = &head->frames[trace->paths.nodes[path].frame];
            tv_out_text(out, " < ");
            tv_out_bytes(out, tv_trace_info_text(head, frame->name));
            if (frame->with_line)
                tv_out_format(out, ":%d", frame->line);
        }
        tv_out_char(out, '\n');
    }
}

static void assert_samples(const struct tv_reader *reader, struct tv_bytes file,
                           const char *expected)
{
    struct tv_out out;
    struct tv_source *source = tv_source_from_memory(file, "test");
    assert_true(reader->sniff(file, file.length) > 0);
    struct tv_trace *trace = read_profile(source, reader);
    tv_out_init_memory(&out);
    print_samples(&out, trace);
    tv_out_char(&out, '\0');
    assert_string_equal((const char *)out.buffer, expected);
    tv_out_release(&out);
    tv_trace_free(trace);
    tv_source_free(source);
}

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
    struct tv_out out;
    struct tv_error err;
    struct tv_source *source = tv_source_from_memory(TWO_SAMPLES, "test");
    struct tv_trace *trace = read_profile(source, &tv_reader_pprof);
    tv_out_init_memory(&out);
    assert_int_equal(trace->head->inputs[0].describe(trace, 0, trace->tables.samples.rows[0].offset,
                                                     TV_NO_OFFSET, &out, &err),
                     TV_OK);
    assert_true(tv_bytes_equal((struct tv_bytes){out.buffer, out.length},
                               TV_BYTES("{\"args\":{\"thread\":\"one\"}}")));
    tv_out_release(&out);
    tv_trace_free(trace);
    tv_source_free(source);
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

/* Any cut and any changed byte gives a trace, or at least no crash (run under ASan). */
static void damage_is_survived(void **state)
{
    (void)state;
    struct tv_bytes files[] = {TWO_SAMPLES, HEAP, GPERFTOOLS};
    const struct tv_reader *readers[] = {&tv_reader_pprof, &tv_reader_pprof_text,
                                         &tv_reader_gperftools};
    for (size_t i = 0; i < TV_COUNT(files); i++)
        for (size_t at = 0; at < files[i].length * 2; at++) {
            size_t byte = at % files[i].length;
            bool cut = at < files[i].length;
            uint8_t *copy = tv_alloc(files[i].length, 1);
            memcpy(copy, files[i].data, files[i].length);
            copy[byte] ^= cut ? 0 : 0x91;
            struct tv_source *source = tv_source_from_memory(
                (struct tv_bytes){copy, cut ? byte : files[i].length}, "test");
            tv_trace_free(read_profile(source, readers[i]));
            tv_source_free(source);
            tv_free(copy);
        }
}

UNIT_TESTS(pprof, cmocka_unit_test(expands_inlined_functions),
           cmocka_unit_test(samples_may_have_times), cmocka_unit_test(labels_are_arguments),
           cmocka_unit_test(reads_the_text_of_a_heap), cmocka_unit_test(reads_words_of_gperftools),
           cmocka_unit_test(damage_is_survived));
