/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of perf and simpleperf: text in its many shapes, records, and what is damaged. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/perf/script_line.h"
#include "readers/reader.h"

static struct tv_trace *read_named(struct tv_bytes bytes, const struct tv_read_options *options,
                                   struct tv_namer *namer)
{
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    tv_builder_trace_info(builder)->namer = namer;
    struct tv_source *source = tv_source_from_memory(bytes, "made");
    struct tv_error err;
    const struct tv_reader *reader = tv_readers_find(source, &err);
    enum tv_status status = reader && reader->assemble
                                ? reader->assemble(source, builder, options, &err)
                                : TV_ERR_USAGE;
    tv_source_free(source);
    if (status == TV_OK)
        return tv_builder_finish(builder);
    tv_builder_free(builder);
    return NULL;
}

static struct tv_trace *read_bytes(struct tv_bytes bytes, const struct tv_read_options *options)
{
    return read_named(bytes, options, NULL);
}

static struct tv_trace *read_text(const char *text)
{
    struct tv_read_options options = {.parts = 1};
    struct tv_trace *trace = read_bytes(tv_bytes_of(text), &options);
    assert_non_null(trace);
    return trace;
}

/* Write the stack of a sample, from the root: "main leaf:3". */
static void write_stack(const struct tv_trace *trace, uint32_t path, char *text, size_t size)
{
    uint32_t chain[16], depth = 0;
    for (; path != TV_ROOT_PATH && depth < 16; path = trace->paths.nodes[path].parent)
        chain[depth++] = trace->paths.nodes[path].frame;
    text[0] = '\0';
    while (depth > 0) {
        const struct tv_frame *frame = &trace->head->frames[chain[--depth]];
        size_t used = strlen(text);
        const char *name = (const char *)tv_trace_info_text(trace->head, frame->name).data;
        if (frame->with_line)
            snprintf(text + used, size - used, "%s:%d ", name, frame->line);
        else
            snprintf(text + used, size - used, "%s ", name);
    }
}

/* ---- Heads ---- */

/* Fields of most heads here. */
#define HEAD (TV_SCRIPT_COMM | TV_SCRIPT_TID | TV_SCRIPT_TIME | TV_SCRIPT_EVENT)

/* Write "comm|pid/tid|cpu|time|period|event|tail". */
static void assert_head_with(unsigned fields, const char *line, const char *expected)
{
    struct tv_script_head head;
    char text[256] = "none";
    if (tv_script_parse_head(tv_bytes_of(line), fields, &head))
        snprintf(text, sizeof text, "%.*s|%llu/%llu|%d|%lld|%lld|%.*s|%.*s", (int)head.comm.length,
                 (const char *)head.comm.data, (unsigned long long)head.pid,
                 (unsigned long long)head.tid, (int)head.cpu, (long long)head.time,
                 (long long)head.period, (int)head.event.length, (const char *)head.event.data,
                 (int)head.tail.length, (const char *)head.tail.data);
    assert_string_equal(text, expected);
}

static void assert_head(const char *line, const char *expected)
{
    assert_head_with(HEAD, line, expected);
}

static void heads_have_the_fields_that_were_chosen(void **state)
{
    (void)state;
    assert_head("mt  4811  1800.535686:    1001001 cpu-clock:ppp: ",
                "mt|0/4811|-1|1800535686000|1001001|cpu-clock:ppp|");
    assert_head("touch:mem 7 2202/2213 [001] 2268.087391840: 5 cycles:u: 7f00",
                "touch:mem 7|2202/2213|1|2268087391840|5|cycles:u|7f00");
    assert_head("V8 Worker\t7/9 [012] K 1.000001: page-faults:", "V8 Worker|7/9|12|1000001000|1|"
                                                                 "page-faults|");
    assert_head("mt 1 1.000001: ", "mt|0/1|-1|1000001000|1||");
    assert_head("a 1 [000] 1.000001: s:s_switch: prev=x 2.000000: y",
                "a|0/1|0|1000001000|1|s:s_switch|prev=x 2.000000: y");
    assert_head(":7 -1/-1 1.000001: 3 cycles:", ":7|4294967295/4294967295|-1|1000001000|3|cycles|");
    assert_head("4811  1.000001:      page-faults: ", "|0/4811|-1|1000001000|1|page-faults|");
    assert_head("4811/4856  1.000001: ", "|4811/4856|-1|1000001000|1||");
    assert_head("mt 1.000001: cycles:", "none");
    assert_head("mt x 1.000001: cycles:", "none");
    assert_head("mt 1 1.0001: cycles:", "none");
}

/* Equal text means another thing with other fields. */
static void fields_say_what_a_number_is(void **state)
{
    (void)state;
    assert_head_with(TV_SCRIPT_COMM | TV_SCRIPT_TIME | TV_SCRIPT_EVENT,
                     "7 up/9 1.000001: cycles:", "7 up/9|0/0|-1|1000001000|1|cycles|");
    assert_head_with(TV_SCRIPT_COMM | TV_SCRIPT_EVENT,
                     "foo: bar 12 cycles:", "foo: bar 12|0/0|-1|0|1|cycles|");
    assert_head_with(TV_SCRIPT_COMM | TV_SCRIPT_TID | TV_SCRIPT_EVENT,
                     "foo: bar 12 cycles:", "foo: bar|0/12|-1|0|1|cycles|");
    assert_head_with(TV_SCRIPT_COMM | TV_SCRIPT_PERIOD | TV_SCRIPT_EVENT,
                     "mt  12 cycles:", "mt|0/0|-1|0|12|cycles|");
    assert_head_with(TV_SCRIPT_TID | TV_SCRIPT_CHAIN, "\t 12 main (/a)", "none");
    assert_head_with(TV_SCRIPT_TID | TV_SCRIPT_CHAIN, "  12  ", "|0/12|-1|0|1||");
    assert_head_with(TV_SCRIPT_COMM | TV_SCRIPT_CHAIN, "  a.c:12", "none");
    assert_head_with(TV_SCRIPT_COMM, "              mt           401136 main",
                     "mt|0/0|-1|0|1||401136 main");
}

/* Fields of a text together with the value types that "perf script -F" of these fields means:
 * "name samples total unit". */
static void assert_types(const char *text, const char *expected)
{
    struct tv_trace *trace = read_text(text);
    const struct tv_tables *tables = &trace->tables;
    char found[256] = "";
    for (size_t type = 0; type < tables->value_types.count; type++) {
        int64_t count = 0, total = 0;
        for (size_t i = 0; i < tables->samples.count; i++) {
            count += tables->samples.rows[i].type == type;
            total += tables->samples.rows[i].type == type ? tables->samples.rows[i].weight : 0;
        }
        struct tv_bytes name = tv_trace_info_text(trace->head, tables->value_types.rows[type].name);
        size_t used = strlen(found);
        snprintf(found + used, sizeof found - used, "%s%.*s %lld %lld", used > 0 ? ", " : "",
                 (int)name.length, (const char *)name.data, (long long)count, (long long)total);
    }
    size_t used = strlen(found);
    snprintf(found + used, sizeof found - used, "; %u threads, %llu bad lines",
             (unsigned)trace->head->thread_count,
             (unsigned long long)trace->head->diagnostics.kinds[TV_DIAGNOSTIC_BAD_LINE].count);
    assert_string_equal(found, expected);
    tv_trace_free(trace);
}

/* Columns as perf prints them: a name has 16 without chains, a period 10, an address 16. */
static void every_field_set_gives_its_events(void **state)
{
    (void)state;
    /* -F comm,time,event,ip,sym */
    assert_types("work er 1 1.000001: cycles: \n\t            1010 leaf\n\n"
                 "mt 1.000002: faults: \n\t            2020 main\n\n",
                 "cycles 1 1, faults 1 1; 2 threads, 0 bad lines");
    assert_types("              mt 1.000001: cycles:      7fe09c063b70 leaf\n"
                 "              mt 1.000002: faults:  ffffffff8175336a load\n",
                 "cycles 1 1, faults 1 1; 1 threads, 0 bad lines");
    /* -F period,event,ip,sym; the same without a period */
    assert_types(
        "         3 cycles:      7fe09c063b70 leaf\n        40 cycles:          401010 leaf\n",
        "cycles 2 43; 1 threads, 0 bad lines");
    assert_types("cycles:      7fe09c063b70 leaf\nfaults:      7fe09c063b70 leaf\n",
                 "cycles 1 1, faults 1 1; 1 threads, 0 bad lines");
    /* -F comm,pid,time,event,ip; -F tid,time,event,ip,sym; -F event,ip,sym */
    assert_types("              mt 12 1.000001: cycles:      7fe09c063b70\n"
                 "              mt 12 1.000002: cycles:  ffffffff8175336a\n",
                 "cycles 2 2; 1 threads, 0 bad lines");
    assert_types("12160 1.000001: cycles:      7fe09c063b70 leaf\n"
                 "12161 1.000002: cycles:  ffffffff8175336a load\n",
                 "cycles 2 2; 2 threads, 0 bad lines");
    assert_types("cycles: \n\t            1010 leaf\n\ncycles: \n\t            1010 leaf\n\n",
                 "cycles 2 2; 1 threads, 0 bad lines");
    /* -F ip,sym; -F comm,ip,sym; -F tid,period,ip,sym */
    assert_types("     7fe09c063b70 leaf\n ffffffff8175336a load\n     7fe09c063b70 leaf\n",
                 "samples 3 3; 1 threads, 0 bad lines");
    assert_types(
        "              mt      7fe09c063b70 leaf\n            up 9  ffffffff8175336a load\n",
        "samples 2 2; 2 threads, 0 bad lines");
    assert_types(" 9923         30 \n\t            1010 leaf\n\n 9924          1 \n"
                 "\t            1010 leaf\n\n",
                 "period 2 31; 2 threads, 0 bad lines");
    /* -F cpu,event,ip,sym */
    assert_types("[000] cycles:      7f87340b062a leaf\n[001] cycles:      7f87340b062a leaf\n",
                 "cycles 2 2; 1 threads, 0 bad lines");
    /* -F comm,tid,time,event without addresses */
    assert_types("              mt 12 1.000001: cycles: \n              mt 12 1.000002: cycles: \n",
                 "cycles 2 2; 1 threads, 0 bad lines");
}

/* The leaf is the code, not the data (-F addr), without what is after it (-F insn, iregs). */
static void fields_around_a_frame_are_not_its_name(void **state)
{
    (void)state;
    static const struct {
        const char *text, *stack;
    } cases[] = {
        {"mt 12 1.000001: faults:     562dee0d1048 data (/app)     7f5a513c2110 leaf (/l.so)\n"
         "mt 12 1.000002: faults:     562dee0d1048 data (/app)     7f5a513c2110 leaf (/l.so)\n",
         "leaf "},
        {"mt 12 1.000001: faults:     562dee0d1048 data (/app)\n\t            1010 leaf (/a)\n\n",
         "leaf "},
        {"mt 12 1.000001: cycles:      7fe09c063b70 leaf insn: 48 89 e7\n"
         "mt 12 1.000002: cycles:      7fe09c063b70 leaf insn: 48 89 e7\n",
         "leaf "},
        {"mt 12 1.000001: cycles:      7fe09c063b70 leaf ABI:2    AX:0x1 \n"
         "mt 12 1.000002: cycles:      7fe09c063b70 leaf ABI:2    AX:0x1 \n",
         "leaf "},
        {"mt 12 1.000001: cycles: \n\t            1010 leaf\n  :0\n ABI:2    AX:0x1 \n\n", "leaf "},
        {"mt 12 1.000001: cycles: \n\t            1010 leaf\n\n|8        int x;\n", "leaf "},
    };
    for (size_t i = 0; i < TV_COUNT(cases); i++) {
        char text[64];
        struct tv_trace *trace = read_text(cases[i].text);
        write_stack(trace, trace->tables.samples.rows[0].path, text, sizeof text);
        assert_string_equal(text, cases[i].stack);
        assert_int_equal(trace->head->diagnostics.kinds[TV_DIAGNOSTIC_BAD_LINE].count, 0);
        tv_trace_free(trace);
    }
}

/* A long line may have many addresses.  If each were parsed with the rest of the line, this test
 * would take a minute. */
static void many_addresses_in_a_line_are_read_once(void **state)
{
    (void)state;
    enum { ADDRESSES = 60000 };
    struct tv_out text;
    char stack[64];
    tv_out_init_memory(&text);
    for (int i = 1; i <= 3; i++)
        tv_out_format(&text, "mt 12 1.00000%d: faults:     7f5a513c2110 main (/a)\n", i);
    tv_out_text(&text, "mt 12 1.000004: faults:");
    for (int i = 0; i < ADDRESSES; i++)
        tv_out_text(&text, "         12345678");
    tv_out_text(&text, "     7f5a513c2110 leaf)\n");
    tv_out_char(&text, '\0');
    struct tv_trace *trace = read_text((const char *)text.buffer);
    assert_int_equal(trace->tables.samples.count, 4);
    write_stack(trace, trace->tables.samples.rows[3].path, stack, sizeof stack);
    assert_string_equal(stack, "leaf) ");
    tv_trace_free(trace);
    tv_out_release(&text);
}

/* A field that one of many lines lacks is a field all the same, and its line is none. */
static void a_warning_changes_no_fields(void **state)
{
    (void)state;
    char text[4096] = "              mt 1.000000: warning:  7fe0 of a tool\n";
    for (unsigned i = 0; i < 40; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used,
                 "              mt %u 1.0000%02u: cycles:      7fe09c063b70 leaf\n", i % 2, i);
    }
    assert_types(text, "cycles 40 40; 2 threads, 1 bad lines");
}

/* Differences (--deltatime) begin with 0 and do not grow; relative times (--reltime) grow. */
static void differences_of_times_are_told(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "mt 1 0.000000: cycles:  ffffffff8175336a a\nmt 1 0.000024: cycles:  ffffffff8175336a a\n"
        "mt 1 0.000018: cycles:  ffffffff8175336a a\n",
        "mt 1 0.000000: cycles:  ffffffff8175336a a\nmt 1 0.000024: cycles:  ffffffff8175336a a\n"
        "mt 1 0.000042: cycles:  ffffffff8175336a a\n",
    };
    for (size_t i = 0; i < TV_COUNT(texts); i++) {
        struct tv_trace *trace = read_text(texts[i]);
        assert_int_equal(trace->head->diagnostics.kinds[TV_DIAGNOSTIC_TIME_DIFFERENCES].count,
                         i == 0);
        tv_trace_free(trace);
    }
}

/* ---- Frames ---- */

static void assert_frame(const char *line, const char *name, const char *module,
                         enum tv_frame_kind kind)
{
    struct tv_script_frame frame;
    assert_true(tv_script_parse_frame(tv_bytes_of(line), &frame));
    assert_true(tv_bytes_equal(frame.name, tv_bytes_of(name)));
    assert_true(tv_bytes_equal(frame.module, tv_bytes_of(module)));
    assert_int_equal(frame.kind, kind);
}

static void frames_have_symbols_with_anything_in_them(void **state)
{
    (void)state;
    assert_frame("\tffffffff821e59e4 xas_find+0x4 ([kernel.kallsyms])", "xas_find",
                 "[kernel.kallsyms]", TV_FRAME_KERNEL);
    assert_frame("  10 f(int (*)(int))+0x4 (/a b (deleted))", "f(int (*)(int))", "/a b (deleted)",
                 TV_FRAME_NATIVE);
    assert_frame("  10 a+0x1b+0x2f (/l.so)", "a+0x1b", "/l.so", TV_FRAME_NATIVE);
    assert_frame("  10 std::sort<int> (inlined)", "std::sort<int>", "", TV_FRAME_INLINED);
    assert_frame("  10 xas_find", "xas_find", "", TV_FRAME_NATIVE);
    assert_frame("  10 [unknown] ([unknown])", "[unknown]", "", TV_FRAME_NATIVE);
    assert_frame("  10 Lfoo;::bar (/tmp/perf-7.map)", "Lfoo;::bar", "/tmp/perf-7.map",
                 TV_FRAME_JIT);
    assert_frame("  10 rx (/lib/modules/5/mlx5.ko.xz)", "rx", "/lib/modules/5/mlx5.ko.xz",
                 TV_FRAME_KERNEL);
}

/* ---- Files ---- */

static const char script[] =
    "# captured\n"
    "a 7/7 1.000001: 10 cycles:\n\t1010 leaf (/a)\n  a.c:3\n\t2020 main (/a)\n\n"
    "a 7/8 1.000002: 30 cycles:\n\n\t2020 main (/a)\n\n"
    "odd line\n"
    "b 7/8 1.000003: PERF_RECORD_COMM: renamed:7/8\n"
    "b 7/8 1.000004: 5 cpu-clock:\n\t3030 leaf (/b)\n";

static void assert_script(const struct tv_trace *trace)
{
    const struct tv_sample *samples = trace->tables.samples.rows;
    char text[64];
    assert_int_equal(trace->tables.samples.count, 3);
    assert_int_equal(trace->head->inputs[0].samples, 3);
    assert_int_equal(samples[0].weight, 10);
    assert_int_equal(samples[1].weight, 30);
    assert_int_equal(samples[2].weight, 5);
    assert_int_equal(samples[2].time - samples[0].time, 3000);
    assert_int_not_equal(samples[0].type, samples[2].type);
    write_stack(trace, samples[0].line_path, text, sizeof text);
    assert_string_equal(text, "main leaf:3 ");
    write_stack(trace, samples[1].path, text, sizeof text);
    assert_string_equal(text, "main ");
    assert_int_equal(trace->head->thread_count, 2);
    assert_string_equal(
        (const char *)tv_trace_info_text(trace->head, trace->head->threads[1].name).data, "b");
    assert_int_equal(trace->head->diagnostics.kinds[TV_DIAGNOSTIC_BAD_LINE].count, 1);
}

static void parts_of_a_text_make_the_same_trace(void **state)
{
    (void)state;
    struct tv_bytes bytes = tv_bytes_of(script);
    struct tv_trace *trace = read_text(script);
    assert_script(trace);
    tv_trace_free(trace);
    for (uint64_t cut = 0; cut <= bytes.length; cut++) {
        struct tv_read_options options = {.parts = 2, .part_starts = &cut};
        trace = read_bytes(bytes, &options);
        assert_non_null(trace);
        assert_script(trace);
        tv_trace_free(trace);
    }
}

/* Records that are no samples have no event and no period, however many precede the samples. */
static void records_do_not_hide_the_events_of_samples(void **state)
{
    (void)state;
    static const char record[] = "a 7/7 [001] 1.000000: PERF_RECORD_MMAP2 7/7: [0x1000(0x10) @ 0 "
                                 "fe:00 1 2]: r-xp /a\n";
    static const char samples[] = "a 7/7 [001] 1.000001: 10 cycles:\n\t1010 leaf (/a)\n\n"
                                  "a 7/7 [001] 1.000002: PERF_RECORD_SWITCH OUT preempt\n"
                                  "a 7/7 [001] 1.000003: 30 cycles:\n\t1010 leaf (/a)\n";
    static const size_t counts[] = {0, 2, 1000, 20000};
    for (size_t i = 0; i < TV_COUNT(counts); i++) {
        size_t length = sizeof record - 1, used = 0;
        char *text = tv_alloc(counts[i] * length + sizeof samples, 1);
        for (size_t j = 0; j < counts[i]; j++, used += length)
            memcpy(text + used, record, length);
        memcpy(text + used, samples, sizeof samples);
        struct tv_trace *trace = read_text(text);
        assert_int_equal(trace->tables.samples.count, 2);
        assert_int_equal(trace->tables.samples.rows[0].weight, 10);
        assert_int_equal(trace->tables.samples.rows[1].weight, 30);
        tv_trace_free(trace);
        tv_free(text);
    }
}

/* A sample without a head ends with a blank line, also one of a tab and spaces. */
static void parts_begin_behind_blank_lines(void **state)
{
    (void)state;
    static const char text[] = "\n\t401b97 f\n\t401b98 main\n\t  \n\t401b97 f\n\t401b98 main\n"
                               "\n\t401b97 f\n";
    for (uint64_t cut = 0; cut < sizeof text; cut++) {
        struct tv_read_options options = {.parts = 2, .part_starts = &cut};
        struct tv_trace *trace = read_bytes(tv_bytes_of(text), &options);
        assert_int_equal(trace->tables.samples.count, 3);
        tv_trace_free(trace);
    }
}

static void text_without_times_is_an_order(void **state)
{
    (void)state;
    struct tv_trace *trace = read_text("java 19983 cycles:\nffffffff8103d0ca a (/a)\n\n"
                                       "java 19983 cycles:\nffffffff8103d0ca a (/a)\n");
    assert_int_equal(trace->tables.samples.count, 2);
    assert_true(trace->head->inputs[0].weight_axis);
    assert_int_equal(trace->head->threads[0].id, 19983);
    tv_trace_free(trace);
    trace = read_text("\n\t401b97 f\n\t401b98 main\n\n\t401b97 f\n\t401b98 main\n\n");
    assert_int_equal(trace->tables.samples.count, 2);
    assert_int_equal(trace->tables.samples.rows[0].path, trace->tables.samples.rows[1].path);
    tv_trace_free(trace);
}

/* ---- perf.data ---- */

struct made_file {
    uint8_t bytes[4096];
    size_t length;
};

static void put_number(struct made_file *file, uint64_t number, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        file->bytes[file->length++] = (uint8_t)(number >> 8 * i);
}

static void put_numbers(struct made_file *file, const uint64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put_number(file, numbers[i], 8);
}

/* Write a text, with zeros after it. */
static void put_name(struct made_file *file, const char *name, size_t size)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < size; i++)
        put_number(file, i < length ? (uint8_t)name[i] : 0, 1);
}

static void put_header(struct made_file *file, uint32_t type, uint16_t misc, uint16_t size)
{
    put_number(file, type, 4);
    put_number(file, misc, 2);
    put_number(file, size, 2);
}

/* A pipe: cpu-clock, and records out of order.  Thread 7 maps /app at 0x1000; 8 is its child. */
static void make_pipe(struct made_file *file)
{
    const uint64_t sample_type = 1 | 2 | 4 | 32 | 256;
    *file = (struct made_file){.length = 8};
    memcpy(file->bytes, "PERFILE2", 8);
    put_number(file, 16, 8);
    put_header(file, 64, 0, 8 + 112 + 8);
    put_numbers(file, (const uint64_t[]){1 | (uint64_t)112 << 32, 0, 1000, sample_type, 0, 1 << 18},
                6);
    put_numbers(file, (const uint64_t[9]){0}, 9);
    put_header(file, 9, 2, 8 + 5 * 8 + 3 * 8); /* a sample of 8 */
    put_numbers(file,
                (const uint64_t[]){0x1010, 8 | (uint64_t)8 << 32, 50, 900, 3, (uint64_t)-512,
                                   0x1010, 0x9000},
                8);
    put_header(file, 7, 0, 8 + 24 + 16); /* 8 is forked from 7 */
    put_numbers(file, (const uint64_t[]){8 | (uint64_t)7 << 32, 8 | (uint64_t)7 << 32, 40, 0, 40},
                5);
    put_header(file, 1, 2, 8 + 32 + 8 + 16);
    put_numbers(file, (const uint64_t[]){7 | (uint64_t)7 << 32, 0x1000, 0x1000, 0x400}, 4);
    put_name(file, "/my/app", 8);
    put_numbers(file, (const uint64_t[]){0, 30}, 2);
}

static void records_take_effect_by_their_time(void **state)
{
    (void)state;
    struct made_file file;
    struct tv_read_options options = {.parts = 1};
    char text[64];
    make_pipe(&file);
    struct tv_trace *trace = read_bytes((struct tv_bytes){file.bytes, file.length}, &options);
    assert_non_null(trace);
    assert_int_equal(trace->tables.samples.count, 1);
    assert_int_equal(trace->tables.samples.rows[0].weight, 900);
    write_stack(trace, trace->tables.samples.rows[0].path, text, sizeof text);
    assert_string_equal(text, "[unknown] app+0x410 "); /* 0x1010 - 0x1000 + 0x400 */
    tv_trace_free(trace);
}

/* Names offset 0x410 of /my/app, where `inner` is inlined into `outer`. */
static size_t name_app(struct tv_namer *namer, const struct tv_mapped_address *address,
                       struct tv_address_place *places, size_t room)
{
    (void)namer;
    assert_true(room >= 2);
    if (address->offset != 0x410 || !tv_bytes_equal(address->path, TV_BYTES("/my/app")))
        return 0;
    places[0] = (struct tv_address_place){.function = TV_BYTES("inner")};
    places[1] = (struct tv_address_place){.function = TV_BYTES("outer")};
    return 2;
}

/* A file as simpleperf's, with the symbol `own` at that offset: the user's symbols win. */
static void symbols_of_the_user_win(void **state)
{
    (void)state;
    struct tv_namer namer = {.find_mapped = name_app};
    struct tv_read_options options = {.parts = 1};
    struct made_file file;
    char text[64];
    make_pipe(&file);
    put_header(&file, 80, 0, 8 + 8 + 4 + 48);
    put_number(&file, 128, 8); /* the feature FILE: size, path, kind, address, symbols, offset */
    put_number(&file, 48, 4);
    put_name(&file, "/my/app", 8);
    put_numbers(&file, (const uint64_t[]){2, (uint64_t)1 << 32, 0x400}, 3);
    put_number(&file, 0x20, 4);
    put_name(&file, "own", 4);
    put_number(&file, 0, 8);
    for (int given = 0; given < 2; given++) {
        struct tv_trace *trace =
            read_named((struct tv_bytes){file.bytes, file.length}, &options, given ? &namer : NULL);
        assert_non_null(trace);
        write_stack(trace, trace->tables.samples.rows[0].path, text, sizeof text);
        assert_string_equal(text, given ? "[unknown] outer inner " : "[unknown] own ");
        trace->head->namer = NULL;
        tv_trace_free(trace);
    }
}

/* Two attributes with ids 1 and 2, and a sample of the second: its event is shown first. */
static void events_without_samples_are_not_shown_first(void **state)
{
    (void)state;
    const uint64_t sample_type = 1 | 2 | 4 | (uint64_t)1 << 16;
    struct made_file file = {.length = 8};
    struct tv_read_options options = {.parts = 1};
    memcpy(file.bytes, "PERFILE2", 8);
    put_number(&file, 16, 8);
    for (uint64_t id = 1; id <= 2; id++) {
        put_header(&file, 64, 0, 8 + 112 + 8);
        put_numbers(&file,
                    (const uint64_t[]){1 | (uint64_t)112 << 32, id - 1, 1, sample_type, 0, 0}, 6);
        put_numbers(&file, (const uint64_t[8]){0}, 8);
        put_numbers(&file, &id, 1);
    }
    put_header(&file, 9, 2, 8 + 4 * 8);
    put_numbers(&file, (const uint64_t[]){2, 0x1010, 8 | (uint64_t)8 << 32, 50}, 4);
    struct tv_trace *trace = read_bytes((struct tv_bytes){file.bytes, file.length}, &options);
    assert_non_null(trace);
    assert_int_equal(trace->tables.value_types.count, 2);
    assert_false(trace->tables.value_types.rows[0].preferred);
    assert_true(trace->tables.value_types.rows[1].preferred);
    tv_trace_free(trace);
}

/* Sum the weights of a value type; *count: how many samples have it. */
static int64_t sum_type(const struct tv_trace *trace, uint32_t type, size_t *count)
{
    int64_t total = 0;
    *count = 0;
    for (size_t i = 0; i < trace->tables.samples.count; i++) {
        const struct tv_sample *sample = &trace->tables.samples.rows[i];
        *count += sample->type == type;
        total += sample->type == type ? sample->weight : 0;
    }
    return total;
}

#define FLAG_INHERIT 2
enum { TIMES = 3, ID = 4, GROUP = 8, LOST = 16 }; /* of read_format */

/* Begin a pipe whose events have the ids 1 and 2 and read counters with their samples. */
static void begin_group(struct made_file *file, uint64_t read_format, uint64_t flags)
{
    const uint64_t sample_type = 1 | 2 | 4 | 16 | (uint64_t)1 << 16;
    *file = (struct made_file){.length = 8};
    memcpy(file->bytes, "PERFILE2", 8);
    put_number(file, 16, 8);
    for (uint64_t id = 1; id <= 2; id++) {
        put_header(file, 64, 0, 8 + 112 + 8);
        put_numbers(
            file,
            (const uint64_t[]){1 | (uint64_t)112 << 32, id - 1, 1, sample_type, read_format, flags},
            6);
        put_numbers(file, (const uint64_t[8]){0}, 8);
        put_numbers(file, &id, 1);
    }
}

/* Add a sample of event 1 in thread `tid`, and the words of its read. */
static void put_group_sample(struct made_file *file, uint64_t tid, uint64_t time,
                             const uint64_t *words, size_t count)
{
    put_header(file, 9, 2, (uint16_t)(8 + (4 + count) * 8));
    put_numbers(file, (const uint64_t[]){1, 0x1010, 8 | tid << 32, time}, 4);
    put_numbers(file, words, count);
}

/* Write "samples of the file; samples and sum of each event; warnings of the group". */
static void assert_group(const struct made_file *file, const char *expected)
{
    struct tv_read_options options = {.parts = 1};
    struct tv_trace *trace = read_bytes((struct tv_bytes){file->bytes, file->length}, &options);
    size_t first, second;
    char text[128];
    assert_non_null(trace);
    int64_t sum = sum_type(trace, 0, &first), other = sum_type(trace, 1, &second);
    const struct tv_diagnostic *kinds = trace->head->diagnostics.kinds;
    snprintf(text, sizeof text, "%llu; %zu %lld, %zu %lld; unread %llu, partial %llu, lost %llu",
             (unsigned long long)trace->head->inputs[0].samples, first, (long long)sum, second,
             (long long)other, (unsigned long long)kinds[TV_DIAGNOSTIC_GROUP_UNREAD].count,
             (unsigned long long)kinds[TV_DIAGNOSTIC_GROUP_PARTIAL].count,
             (unsigned long long)kinds[TV_DIAGNOSTIC_EVENTS_LOST].count);
    assert_string_equal(text, expected);
    tv_trace_free(trace);
}

/* {count, value, id, value, id}: 900 and 3 at first, then 1000 and nothing more. */
static void counters_of_a_group_are_weights_of_their_events(void **state)
{
    (void)state;
    struct made_file file;
    begin_group(&file, ID | GROUP, 0);
    put_group_sample(&file, 8, 50, (const uint64_t[]){2, 900, 1, 3, 2}, 5);
    put_group_sample(&file, 8, 60, (const uint64_t[]){2, 1900, 1, 3, 2}, 5);
    assert_group(&file, "2; 2 1900, 1 3; unread 0, partial 0, lost 0");
    begin_group(&file, ID, 0); /* one counter, without a group */
    put_group_sample(&file, 8, 50, (const uint64_t[]){900, 1}, 2);
    assert_group(&file, "1; 1 900, 0 0; unread 0, partial 0, lost 0");
    begin_group(&file, TIMES | ID | LOST, 0); /* value, enabled, running, id, lost */
    put_group_sample(&file, 8, 50, (const uint64_t[]){7, 90, 90, 2, 0}, 5);
    assert_group(&file, "1; 0 0, 1 7; unread 0, partial 0, lost 0");
}

/* {count, enabled, running, value, id, lost, value, id, lost} */
static void counters_tell_times_and_losses(void **state)
{
    (void)state;
    struct made_file file;
    begin_group(&file, TIMES | ID | GROUP | LOST, 0);
    put_group_sample(&file, 8, 50, (const uint64_t[]){2, 100, 100, 900, 1, 0, 3, 2, 0}, 9);
    put_group_sample(&file, 8, 60, (const uint64_t[]){2, 300, 200, 1000, 1, 4, 5, 2, 0}, 9);
    put_group_sample(&file, 8, 70, (const uint64_t[]){2, 400, 300, 1001, 1, 4, 6, 2, 0}, 9);
    assert_group(&file, "3; 3 1001, 3 6; unread 0, partial 2, lost 1");
}

/* Threads of a process share the ids of inherited events, but not their counters. */
static void inherited_counters_belong_to_threads(void **state)
{
    (void)state;
    struct made_file file;
    begin_group(&file, ID | GROUP, FLAG_INHERIT);
    put_group_sample(&file, 8, 50, (const uint64_t[]){2, 900, 1, 30, 2}, 5);
    put_group_sample(&file, 9, 60, (const uint64_t[]){2, 100, 1, 10, 2}, 5);
    put_group_sample(&file, 8, 70, (const uint64_t[]){2, 950, 1, 31, 2}, 5);
    assert_group(&file, "3; 3 1050, 3 41; unread 0, partial 0, lost 0");
}

/* Counters without ids, or with unknown ones: the period counts, here 1. */
static void counters_of_unknown_events_are_diagnosed(void **state)
{
    (void)state;
    struct made_file file;
    begin_group(&file, GROUP, 0);
    put_group_sample(&file, 8, 50, (const uint64_t[]){2, 900, 3}, 3);
    assert_group(&file, "1; 1 1, 0 0; unread 1, partial 0, lost 0");
    begin_group(&file, ID | GROUP, 0);
    put_group_sample(&file, 8, 50, (const uint64_t[]){2, 900, 1, 3, 77}, 5);
    assert_group(&file, "1; 1 900, 0 0; unread 1, partial 0, lost 0");
    begin_group(&file, ID | GROUP, 0); /* more counters than the record has room for */
    put_group_sample(&file, 8, 50, (const uint64_t[]){UINT64_MAX / 2, 900, 1}, 3);
    put_group_sample(&file, 8, 60, (const uint64_t[]){1, 5, 1}, 3);
    assert_group(&file, "1; 1 5, 0 0; unread 0, partial 0, lost 0");
}

/* ---- Switches and wake-ups ---- */

/* Write the tracks of processors and states: "CPU 0: app 0+20, ..." in microseconds. */
static void assert_schedule(struct tv_bytes bytes, const char *expected)
{
    struct tv_read_options options = {.parts = 1};
    struct tv_trace *trace = read_bytes(bytes, &options);
    char text[1024] = "";
    assert_non_null(trace);
    for (uint32_t i = 0; i < trace->track_count; i++) {
        const struct tv_track *track = &trace->tracks[i];
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used,
                 "%s:", (const char *)tv_trace_info_text(trace->head, track->name).data);
        for (uint32_t k = 0; k < track->slice_count; k++) {
            struct tv_slice slice = tv_slice_get(trace, track->first_row, k);
            used = strlen(text);
            snprintf(text + used, sizeof text - used, " %s %d+%d",
                     (const char *)tv_trace_info_text(trace->head,
                                                      tv_path_frame(trace, slice.path)->name)
                         .data,
                     (int)(slice.start / 1000), (int)(slice.length / 1000));
        }
        used = strlen(text);
        snprintf(text + used, sizeof text - used, "\n");
    }
    for (size_t i = 0; i < trace->tables.wakeups.count; i++) {
        const struct tv_wakeup *wakeup = &trace->tables.wakeups.rows[i];
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%d woken by %d at %d\n",
                 (int)trace->head->threads[wakeup->thread].id,
                 (int)trace->head->threads[wakeup->by].id,
                 (int)(tv_trace_time(trace, 0, wakeup->time) / 1000));
    }
    assert_string_equal(text, expected);
    tv_trace_free(trace);
}

/* Thread 7 sleeps, is woken by thread 3, runs, and leaves the processor idle. */
#define STATES                                                                                     \
    "seven: Uninterruptible Sleep 0+10 Runnable 10+10 Running 20+10\n"                             \
    "three: Running 0+20 Runnable (preempted) 20+10\n"                                             \
    "7 woken by 3 at 10\n"

static void tracepoints_of_the_scheduler_become_states(void **state)
{
    (void)state;
#define SEVEN_SLEEPS                                                                               \
    "sched:sched_switch: prev_comm=seven prev_pid=7 prev_prio=120 prev_state=D ==> "               \
    "next_comm=three next_pid=3 next_prio=120\n"
#define SEVEN_WAKES "sched:sched_wakeup: comm=seven pid=7 prio=120 target_cpu=000\n"
#define SEVEN_IS_AWAKE "sched:sched_wakeup: comm=seven pid=7 prio=120 success=0 target_cpu=000\n"
#define SEVEN_RUNS                                                                                 \
    "sched:sched_switch: prev_comm=three prev_pid=3 prev_prio=120 prev_state=R+ ==> "              \
    "next_comm=seven next_pid=7 next_prio=120\n"
#define SEVEN_LEAVES                                                                               \
    "sched:sched_switch: prev_comm=seven prev_pid=7 prev_prio=120 prev_state=S ==> "               \
    "next_comm=swapper/0 next_pid=0 next_prio=120\n"
    assert_schedule(tv_bytes_of("seven 9/7 [000] 0.000010: " SEVEN_SLEEPS
                                "three 3/3 [000] 0.000015: " SEVEN_IS_AWAKE
                                "three 3/3 [000] 0.000020: " SEVEN_WAKES
                                "three 3/3 [000] 0.000030: " SEVEN_RUNS
                                "seven 9/7 [000] 0.000040: " SEVEN_LEAVES),
                    "CPU 0: three 0+20 seven 20+10\n" STATES);
    /* Without processors, and with stacks. */
    assert_schedule(tv_bytes_of("seven 9/7 0.000010: " SEVEN_SLEEPS "\t401136 wait (/a)\n\n"
                                "three 3/3 0.000020: " SEVEN_WAKES "\t401137 wake (/a)\n\n"
                                "three 3/3 0.000030: " SEVEN_RUNS "\t401138 run (/a)\n\n"
                                "seven 9/7 0.000040: " SEVEN_LEAVES "\t401139 leave (/a)\n\n"),
                    STATES);
    /* Threads that only others name, and a text that is cut. */
    assert_schedule(tv_bytes_of("three 3/3 [001] 0.000030: " SEVEN_RUNS
                                "three 3/3 [001] 0.000050: sched:sched_switch: prev_comm=se\n"),
                    "CPU 1: seven 0+20\nthree: Runnable (preempted) 0+20\nseven: Running 0+20\n");
    /* Names alone are no threads. */
    assert_schedule(tv_bytes_of("seven 0.000010: " SEVEN_SLEEPS "three 0.000030: " SEVEN_RUNS), "");
}

#define FIELD(type, name, offset, size)                                                            \
    "\tfield:" type " " name ";\toffset:" offset ";\tsize:" size ";\tsigned:1;\n"

/* Formats as the kernel describes them, with the fields at places of their own. */
static const char formats[] =
    "name: sched_switch\nID: 1\nformat:\n" FIELD("int", "common_pid", "4", "4") "\n" FIELD(
        "char", "prev_comm[4]", "8", "4") FIELD("pid_t", "prev_pid", "12", "4")
        FIELD("long", "prev_state", "16", "8") FIELD("char", "next_comm[8]", "24", "8")
            FIELD("pid_t", "next_pid", "32",
                  "4") "\nprint fmt: \"%s\", __print_flags(REC->prev_state & 0xff, \"|\", { "
                       "0x00000001, \"S\" }, "
                       "{ 0x00000002, \"D\" }) : \"R\", REC->prev_state & 0x100 ? \"+\" : \"\"\n"
                       "name: sched_wakeup\nID: 2\nformat:\n" FIELD("char", "comm[8]", "8", "8")
                           FIELD("pid_t", "pid", "16", "4") "\nprint fmt: \"%s\", REC->comm\n";

/* Add a tracepoint of event `id` on processor 0, and `length` bytes of its data. */
static void put_tracepoint(struct made_file *file, uint64_t id, uint64_t pid, uint64_t tid,
                           uint64_t time, const struct made_file *raw)
{
    put_header(file, 9, 2, (uint16_t)(8 + 4 * 8 + 4 + raw->length));
    put_numbers(file, (const uint64_t[]){id, pid | tid << 32, time * 1000, 0}, 4);
    put_number(file, raw->length, 4);
    memcpy(file->bytes + file->length, raw->bytes, raw->length);
    file->length += raw->length;
}

static void put_switch(struct made_file *file, uint64_t from, uint64_t time, uint64_t bits,
                       const char *next, uint64_t to)
{
    struct made_file raw = {.length = 8};
    put_name(&raw, "name", 4);
    put_number(&raw, from, 4);
    put_number(&raw, bits, 8);
    put_name(&raw, next, 8);
    put_number(&raw, to, 4);
    put_tracepoint(file, 1, from == 7 ? 9 : from, from, time, &raw);
}

/* A pipe with the formats, the names of two events, and the events of the text above. */
static void make_switches(struct made_file *file)
{
    static const char *const names[] = {"sched:sched_switch", "sched:sched_wakeup"};
    const uint64_t sample_type = 2 | 4 | 128 | 1024 | (uint64_t)1 << 16;
    struct made_file raw = {.length = 8};
    *file = (struct made_file){.length = 8};
    memcpy(file->bytes, "PERFILE2", 8);
    put_number(file, 16, 8);
    for (uint64_t id = 1; id <= 2; id++) {
        put_header(file, 64, 0, 8 + 112 + 8);
        put_numbers(file, (const uint64_t[]){2 | (uint64_t)112 << 32, id, 1, sample_type, 0, 0}, 6);
        put_numbers(file, (const uint64_t[8]){0}, 8);
        put_numbers(file, &id, 1);
        put_header(file, 78, 0, 8 + 16 + 24);
        put_numbers(file, (const uint64_t[]){2, id}, 2);
        put_name(file, names[id - 1], 24);
    }
    put_header(file, 66, 0, 12);
    put_number(file, sizeof formats, 4);
    put_name(file, formats, (sizeof formats + 7) / 8 * 8);
    put_switch(file, 7, 10, 2, "three", 3);
    put_name(&raw, "seven", 8);
    put_number(&raw, 7, 4);
    put_tracepoint(file, 2, 3, 3, 20, &raw);
    put_switch(file, 3, 30, 256, "seven", 7);
    put_switch(file, 7, 40, 1, "swapper", 0);
}

static void raw_tracepoints_of_the_scheduler_become_states(void **state)
{
    (void)state;
    struct made_file file;
    make_switches(&file);
    assert_schedule((struct tv_bytes){file.bytes, file.length},
                    "CPU 0: three 0+20 seven 20+10\n" STATES);
}

/* Read what is left of a file, or one with a bit flipped: any answer is right that ends. */
static void read_damaged(struct tv_bytes bytes)
{
    struct tv_read_options options = {.parts = 1};
    struct tv_trace *trace = read_bytes(bytes, &options);
    if (trace)
        tv_trace_free(trace);
}

static void assert_survives(struct tv_bytes bytes)
{
    uint8_t *copy = tv_alloc(bytes.length, 1);
    for (size_t i = 0; i < bytes.length; i++) {
        memcpy(copy, bytes.data, bytes.length);
        read_damaged((struct tv_bytes){copy, i});
        for (unsigned bit = 0; bit < 8; bit++) {
            copy[i] = (uint8_t)(bytes.data[i] ^ 1u << bit);
            read_damaged((struct tv_bytes){copy, bytes.length});
        }
    }
    tv_free(copy);
}

static void damaged_files_are_read_to_their_end(void **state)
{
    (void)state;
    struct made_file file;
    make_pipe(&file);
    assert_survives((struct tv_bytes){file.bytes, file.length});
    make_switches(&file);
    assert_survives((struct tv_bytes){file.bytes, file.length});
    assert_survives(tv_bytes_of(script));
}

/* A second reader that takes kernel text would make a pipe be read to its end before its first
 * line. */
static void kernel_text_is_not_that_of_perf(void **state)
{
    (void)state;
    struct tv_script_head head;
    static const char *const kernel[] = {
        "  app-8       [012] ...1 73214.000120: sched:",
        "  a b-7       (  901) [128] d..2 73214.000123456: print: a: b",
        "  app-33      (-----) [003] dNh3. 73214.002120: tracing_mark_write:",
    };
    for (size_t i = 0; i < TV_COUNT(kernel); i++)
        assert_int_equal(tv_script_guess_fields(tv_bytes_of(kernel[i]), &head) & TV_SCRIPT_TIME, 0);
    assert_int_equal(tv_script_guess_fields(
                         tv_bytes_of("app-8 [012] KS 73214.000120: sched:sched_switch:"), &head),
                     TV_SCRIPT_COMM | TV_SCRIPT_CPU | TV_SCRIPT_TIME | TV_SCRIPT_EVENT);
}

UNIT_TESTS(perf_profiles, cmocka_unit_test(kernel_text_is_not_that_of_perf),
           cmocka_unit_test(heads_have_the_fields_that_were_chosen),
           cmocka_unit_test(fields_say_what_a_number_is),
           cmocka_unit_test(every_field_set_gives_its_events),
           cmocka_unit_test(fields_around_a_frame_are_not_its_name),
           cmocka_unit_test(many_addresses_in_a_line_are_read_once),
           cmocka_unit_test(a_warning_changes_no_fields),
           cmocka_unit_test(differences_of_times_are_told),
           cmocka_unit_test(frames_have_symbols_with_anything_in_them),
           cmocka_unit_test(parts_of_a_text_make_the_same_trace),
           cmocka_unit_test(records_do_not_hide_the_events_of_samples),
           cmocka_unit_test(parts_begin_behind_blank_lines),
           cmocka_unit_test(text_without_times_is_an_order),
           cmocka_unit_test(records_take_effect_by_their_time),
           cmocka_unit_test(symbols_of_the_user_win),
           cmocka_unit_test(events_without_samples_are_not_shown_first),
           cmocka_unit_test(counters_of_a_group_are_weights_of_their_events),
           cmocka_unit_test(counters_tell_times_and_losses),
           cmocka_unit_test(inherited_counters_belong_to_threads),
           cmocka_unit_test(counters_of_unknown_events_are_diagnosed),
           cmocka_unit_test(tracepoints_of_the_scheduler_become_states),
           cmocka_unit_test(raw_tracepoints_of_the_scheduler_become_states),
           cmocka_unit_test(damaged_files_are_read_to_their_end));
