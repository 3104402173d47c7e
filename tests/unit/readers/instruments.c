/* SPDX-License-Identifier: Apache-2.0 */
/* instruments.c - tables of Instruments as XML: a file, and its samples as text. */
#include "readers/instruments/instruments.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "model/builder/builder.h"
#include "profile_made.h"
#include "readers/profile_input.h"
#include "readers/readers.h"
#include "unit.h"

#define TABLE(schema, rows)                                                                        \
    TV_BYTES("<?xml version=\"1.0\"?>\n<trace-query-result>\n"                                     \
             "<node xpath='//trace-toc[1]'><schema name=\"" schema "\"/>\n" rows                   \
             "</node></trace-query-result>\n")

/* Read a file; return the error of the reader. */
static enum tv_status instruments_status(struct tv_bytes file, struct tv_error *err)
{
    struct tv_source *source = tv_source_from_memory(file, "test");
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    struct tv_read_options options = {.parts = 1};
    enum tv_status status = tv_reader_instruments.assemble(source, builder, &options, err);
    tv_builder_free(builder);
    tv_source_free(source);
    return status;
}

static uint64_t instruments_count_at(struct tv_bytes file, enum tv_diagnostic_kind kind,
                                     uint64_t *first)
{
    struct tv_source *source = tv_source_from_memory(file, "test");
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    struct tv_read_options options = {.parts = 1};
    struct tv_error err;
    assert_int_equal(tv_reader_instruments.assemble(source, builder, &options, &err), TV_OK);
    struct tv_trace *trace = tv_builder_finish(builder);
    const struct tv_diagnostic *diagnostic = &trace->head->diagnostics.kinds[kind];
    uint64_t count = diagnostic->count;
    *first = diagnostic->places ? diagnostic->places->offsets[0] : TV_NO_OFFSET;
    tv_trace_free(trace);
    tv_source_free(source);
    return count;
}

static uint64_t instruments_count(struct tv_bytes file, enum tv_diagnostic_kind kind)
{
    uint64_t first;
    return instruments_count_at(file, kind, &first);
}

#define THREAD                                                                                     \
    "<thread id=\"2\" fmt=\"Main Thread  0x1f (App, pid: 7)\"><tid id=\"3\" fmt=\"0x1f\">31</tid>" \
    "<process id=\"4\" fmt=\"App (7)\"><pid id=\"5\">7</pid></process></thread>"

/* The second row refers to everything that the first one defined, and to a stack within another
 * element; the third has no stack, and its thread waited. */
static void rows_refer_to_values(void **context)
{
    (void)context;
    assert_samples(
        &tv_reader_instruments,
        TABLE("time-profile",
              "<row><sample-time id=\"1\" fmt=\"00:00.001\">1000000</sample-time>" THREAD
              "<process ref=\"4\"/><core id=\"7\">4</core>"
              "<thread-state id=\"8\">Running</thread-state><weight id=\"9\">1000000</weight>"
              "<tagged-backtrace id=\"10\"><backtrace id=\"11\">"
              "<frame id=\"12\" name=\"std::less&lt;int&gt;\" addr=\"0x1001\">"
              "<binary id=\"13\" name=\"App\" load-addr=\"0x1000\" path=\"/App\"/>"
              "<source line=\"39\"><path id=\"14\">/src/a.swift</path></source></frame>"
              "<frame id=\"15\" name=\"0x1010\" addr=\"0x1010\"><binary ref=\"13\"/></frame>"
              "<frame id=\"16\" name=\"main\"/></backtrace></tagged-backtrace></row>\n"
              "<row><sample-time id=\"17\">2000001</sample-time><thread ref=\"2\"/>"
              "<process ref=\"4\"/><core ref=\"7\"/><thread-state ref=\"8\"/><weight ref=\"9\"/>"
              "<backtrace ref=\"11\"/></row>\n"
              "<row><sample-time ref=\"17\"/><thread ref=\"2\"/><process ref=\"4\"/><sentinel/>"
              "<thread-state id=\"18\">Blocked</thread-state><weight id=\"19\">3</weight>"
              "<sentinel/></row>\n"),
        "time-profile 1000000 Main Thread at 1000000 < std::less<int>:39 < App+0x10 < main\n"
        "time-profile 1000000 Main Thread at 2000001 < std::less<int>:39 < App+0x10 < main\n"
        "time-profile (Blocked) 3 Main Thread at 2000001\n");
}

/* Helpers of browsers have brackets in their name, and a process may have no number. */
static void names_have_brackets(void **context)
{
    struct tv_bytes file =
        TABLE("t", "<row><sample-time>1</sample-time>"
                   "<thread fmt=\"Main Thread  0x1f (App Helper (GPU), pid: 7)\"><tid>31</tid>"
                   "<process fmt=\"App Helper (GPU) (7)\"><pid>7</pid></process></thread>"
                   "<weight>1</weight></row>"
                   "<row><sample-time>2</sample-time>"
                   "<thread fmt=\"worker 0x2f (App Helper (GPU), pid: 7)\"/>"
                   "<weight>2</weight></row>"
                   "<row><sample-time>3</sample-time><thread fmt=\"main 0x3f\">"
                   "<process fmt=\"Tool (old)\"/></thread><weight>3</weight></row>");
    (void)context;
    struct tv_source *source = tv_source_from_memory(file, "test");
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    struct tv_read_options options = {.parts = 1};
    struct tv_error err;
    assert_int_equal(tv_reader_instruments.assemble(source, builder, &options, &err), TV_OK);
    struct tv_trace *trace = tv_builder_finish(builder);
    const struct tv_trace_info *info = trace->head;
    static const struct {
        const char *thread, *process;
        uint64_t tid, pid;
    } expected[] = {{"Main Thread", "App Helper (GPU)", 31, 7},
                    {"worker", "App Helper (GPU)", 47, 7},
                    {"main", "Tool (old)", 63, 0}};
    assert_int_equal(info->thread_count, TV_COUNT(expected));
    for (uint32_t i = 0; i < info->thread_count; i++) {
        const struct tv_thread *thread = &info->threads[i];
        const struct tv_process *process = &info->processes[thread->process];
        assert_int_equal(thread->id, expected[i].tid);
        assert_int_equal(process->id, expected[i].pid);
        assert_true(tv_bytes_equal(tv_trace_info_text(info, thread->name),
                                   tv_bytes_of(expected[i].thread)));
        assert_true(tv_bytes_equal(tv_trace_info_text(info, process->name),
                                   tv_bytes_of(expected[i].process)));
    }
    tv_trace_free(trace);
    tv_source_free(source);
}

/* The row around a row, or before one if it has no end, is lost: its cells are no second sample. */
static void row_inside_a_row_is_one_sample(void **context)
{
    (void)context;
    assert_samples(&tv_reader_instruments,
                   TABLE("t", "<row><row><sample-time>1</sample-time>" THREAD
                              "<weight>5</weight></row></row>"
                              "<row><sample-time>2</sample-time><thread ref=\"2\"/>"
                              "<row><sample-time>3</sample-time><thread ref=\"2\"/>"
                              "<weight>7</weight></row>"),
                   "t 5 Main Thread at 1\nt 7 Main Thread at 3\n");
}

/* CDATA has no entities. */
static void cdata_is_literal(void **context)
{
    (void)context;
    assert_samples(&tv_reader_instruments,
                   TABLE("t", "<row><sample-time>1</sample-time>" THREAD "<thread-state>"
                              "<![CDATA[a&lt;b]]></thread-state><weight>5</weight></row>"
                              "<row><sample-time>2</sample-time><thread ref=\"2\"/>"
                              "<thread-state>a&lt;b</thread-state><weight>5</weight></row>"),
                   "t (a&lt;b) 5 Main Thread at 1\nt (a<b) 5 Main Thread at 2\n");
}

/* A table inside another, or after one without an end, takes no samples from the count. */
static void tables_inside_tables_count(void **context)
{
    struct tv_error err;
    (void)context;
    struct tv_bytes file = TV_BYTES("<trace-query-result><node><row><sample-time>1</sample-time>"
                                    "<weight>1</weight></row><node><schema name=\"hangs\"/>"
                                    "</node></node></trace-query-result>");
    assert_int_equal(instruments_status(file, &err), TV_OK);
    assert_int_equal(instruments_count(file, TV_DIAGNOSTIC_TABLE_UNREAD), 2);
}

/* Cycles are another unit; frames may be in the tagged stack itself; a thread may have no number
 * and a row no thread.  A comment, CDATA and both quotes are XML. */
static void cycles_have_another_unit(void **context)
{
    (void)context;
    assert_samples(
        &tv_reader_instruments,
        TABLE("cpu-profile",
              "<!-- <row> --><row><sample-time>5</sample-time><thread fmt='worker'/>"
              "<cycle-weight>123456789012</cycle-weight><tagged-backtrace id='b'>"
              "<frame id='f' name='a &quot;b&#x22; &#128512;&nbsp;>'/></tagged-backtrace>"
              "</row><row><sample-time>6</sample-time><process fmt=\"B (8)\"/>"
              "<cycle-weight><![CDATA[ 7 ]]></cycle-weight>"
              "<tagged-backtrace ref='b'/></row>"),
        "cpu-profile 123456789012 worker at 5 < a \"b\" \xf0\x9f\x98\x80&nbsp;>\n"
        "cpu-profile 7  at 6 < a \"b\" \xf0\x9f\x98\x80&nbsp;>\n");
}

/* Before Xcode 14.3 there were addresses, in fragments that other stacks refer to. */
static void old_stacks_have_addresses(void **context)
{
    (void)context;
    assert_samples(
        &tv_reader_instruments,
        TABLE("time-profile",
              "<row><sample-time>1</sample-time>" THREAD "<weight id=\"9\">1</weight>"
              "<backtrace id=\"10\" fmt=\"work \xe2\x86\x90 (3 other frames)\"><process ref=\"4\"/>"
              "<text-addresses id=\"11\" fmt=\"frag 1\">16 32</text-addresses><process ref=\"4\"/>"
              "<text-addresses id=\"12\">48 64</text-addresses></backtrace></row>"
              "<row><sample-time>2</sample-time><thread ref=\"2\"/><weight ref=\"9\"/>"
              "<backtrace id=\"13\" fmt=\"rest \xe2\x86\x90 (2 other frames)\">"
              "<text-addresses id=\"14\">80</text-addresses><text-addresses ref=\"12\"/>"
              "</backtrace></row>"),
        "time-profile 1 Main Thread at 1 < work < 0x20 < 0x30 < 0x40\n"
        "time-profile 1 Main Thread at 2 < rest < 0x30 < 0x40\n");
}

/* The kernel's stack is on top of that of the program.  Lists may repeat the leaf and end with 0.
 */
static void samples_of_time_have_addresses(void **context)
{
    (void)context;
    assert_samples(
        &tv_reader_instruments,
        TV_BYTES("<trace-query-result><node><schema name=\"time-sample\">"
                 "<col><mnemonic>time</mnemonic></col><col><mnemonic>thread</mnemonic></col>"
                 "<col><mnemonic>cp-kernel-callstack</mnemonic></col>"
                 "<col><mnemonic>cp-user-callstack</mnemonic></col></schema>"
                 "<row><sample-time>9</sample-time>" THREAD "<kperf-bt id=\"20\">"
                 "<text-addresses id=\"21\">18446743523953737728</text-addresses>"
                 "<text-address id=\"22\">18446743523953737729</text-address></kperf-bt>"
                 "<kperf-bt id=\"23\"><text-addresses id=\"24\">16 32 0</text-addresses>"
                 "<text-address id=\"25\">16</text-address></kperf-bt></row>"
                 "<row><sample-time>10</sample-time><thread ref=\"2\"/><sentinel/>"
                 "<kperf-bt ref=\"23\"/></row></node></trace-query-result>"),
        "time-sample 1 Main Thread at 9 < 0xffffff8000000001 < 0xffffff8000000000 < 0x10 < 0x20\n"
        "time-sample 1 Main Thread at 10 < 0x10 < 0x20\n");
}

/* Without times the axis is weight. */
static void samples_may_have_no_times(void **context)
{
    (void)context;
    assert_samples(&tv_reader_instruments,
                   TABLE("time-profile", "<row>" THREAD "<weight id=\"w\">5</weight><backtrace>"
                                         "<frame name=\"a\"/></backtrace></row>"
                                         "<row><thread ref=\"2\"/><weight ref=\"w\"/></row>"),
                   "time-profile 5 Main Thread < a\ntime-profile 5 Main Thread\n");
}

/* A table without samples is no empty trace, be it alone, without rows, or no table at all. */
static void files_without_samples_are_refused(void **context)
{
    struct tv_error err;
    (void)context;
    assert_int_equal(
        instruments_status(TABLE("os-signpost", "<row><event-time>5</event-time></row>"), &err),
        TV_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "os-signpost"));
    assert_non_null(strstr(err.message, "time-profile"));
    assert_int_equal(instruments_status(TABLE("time-profile", ""), &err), TV_ERR_UNSUPPORTED);
    assert_int_equal(instruments_status(TV_BYTES("<trace-query-result/>"), &err), TV_ERR_SYNTAX);
    assert_int_equal(tv_reader_instruments.sniff(TV_BYTES("<?xml?><trace-toc><x>"), 21), 0);
    assert_int_equal(tv_reader_instruments.sniff(TV_BYTES("x <trace-query-result>"), 22), 0);
}

#define SAMPLE(inside)                                                                             \
    "<row><sample-time>1</sample-time>" THREAD "<weight>1</weight>" inside "</row>"

static void damage_is_counted(void **context)
{
    (void)context;
    const struct {
        struct tv_bytes file;
        enum tv_diagnostic_kind kind;
        uint64_t count;
    } cases[] = {
        {TABLE("t", SAMPLE("<backtrace ref=\"99\"/>")), TV_DIAGNOSTIC_BAD_REFERENCE, 1},
        /* A reference to an element of another kind, and to one that has not ended. */
        {TABLE("t", SAMPLE("<backtrace ref=\"2\"/>")), TV_DIAGNOSTIC_BAD_REFERENCE, 1},
        {TABLE("t", SAMPLE("<backtrace id=\"b\"><backtrace ref=\"b\"/></backtrace>")),
         TV_DIAGNOSTIC_BAD_REFERENCE, 1},
        {TABLE("t", SAMPLE("") SAMPLE("")), TV_DIAGNOSTIC_DUPLICATE_ID, 4},
        {TABLE("t", SAMPLE("") "<row><sample-time>x</sample-time></row>"), TV_DIAGNOSTIC_BAD_XML,
         1},
        {TABLE("t", SAMPLE("") "<row><sample-time>x</sample-time></row>"),
         TV_DIAGNOSTIC_SAMPLE_NO_TIME, 1},
        {TABLE("t", SAMPLE("</core>")), TV_DIAGNOSTIC_BAD_XML, 1},
        /* A number in two parts is none, least of all its second part. */
        {TABLE("t", SAMPLE("<weight>12<!-- x -->34</weight>")), TV_DIAGNOSTIC_BAD_XML, 1},
        {TABLE("t", SAMPLE("<weight>12<![CDATA[34]]></weight>")), TV_DIAGNOSTIC_BAD_XML, 1},
        {TABLE("t", SAMPLE("") "</node><node><schema name=\"hangs\"/><row/>"),
         TV_DIAGNOSTIC_TABLE_UNREAD, 1},
        {TV_BYTES("<trace-query-result><node>" SAMPLE("") "<row"), TV_DIAGNOSTIC_TRUNCATED, 1},
        {TV_BYTES("<trace-query-result><node>" SAMPLE("")), TV_DIAGNOSTIC_TRUNCATED, 1},
        {TABLE("t", "<row><sample-time>1</sample-time><weight>1</weight></row>"),
         TV_DIAGNOSTIC_SAMPLE_NO_THREAD, 1},
    };
    for (size_t i = 0; i < TV_COUNT(cases); i++)
        assert_int_equal(instruments_count(cases[i].file, cases[i].kind), cases[i].count);
}

/* A file that ends between two tags is cut at its end. */
static void cut_file_is_cut_at_its_end(void **context)
{
    struct tv_bytes file = TV_BYTES("<trace-query-result><node>" SAMPLE(""));
    uint64_t first;
    (void)context;
    assert_int_equal(instruments_count_at(file, TV_DIAGNOSTIC_TRUNCATED, &first), 1);
    assert_int_equal(first, file.length);
}

/* Short references to a long list may not make a stack of any length from a short file. */
static void references_have_a_budget(void **context)
{
    struct tv_out file;
    (void)context;
    tv_out_init_memory(&file);
    tv_out_text(&file, "<trace-query-result><node><schema name=\"t\"/><row>"
                       "<sample-time>1</sample-time><weight>1</weight><backtrace>"
                       "<text-addresses id=\"1\">");
    for (unsigned i = 0; i < 10000; i++)
        tv_out_text(&file, "1 ");
    tv_out_text(&file, "</text-addresses></backtrace></row>");
    for (unsigned i = 0; i < 1000; i++)
        tv_out_text(&file, "<row><sample-time>1</sample-time><weight>1</weight><backtrace>"
                           "<text-addresses ref=\"1\"/></backtrace></row>");
    tv_out_text(&file, "</node></trace-query-result>");
    struct tv_bytes bytes = {file.buffer, file.length};
    /* 1,001 stacks want 10,000 frames each; there are 4 a byte. */
    uint64_t whole = bytes.length * 4 / 10000;
    assert_int_equal(instruments_count(bytes, TV_DIAGNOSTIC_TOO_DEEP), 1001 - whole);
    tv_out_release(&file);
}

/* Addresses count up from the leaf, whose frames are dropped. */
static void deep_stacks_keep_their_callers(void **context)
{
    struct tv_out file;
    enum { DEEP = 5 * TV_PROFILE_DEPTH + 7 };
    (void)context;
    tv_out_init_memory(&file);
    tv_out_text(&file, "<trace-query-result><node><schema name=\"t\"/><row>"
                       "<sample-time>1</sample-time><weight>1</weight><backtrace><text-addresses>");
    for (unsigned i = 1; i <= DEEP; i++)
        tv_out_format(&file, "%u ", i);
    tv_out_text(&file, "</text-addresses></backtrace></row></node></trace-query-result>");
    struct tv_bytes bytes = {file.buffer, file.length};
    struct tv_source *source = tv_source_from_memory(bytes, "test");
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    struct tv_read_options options = {.parts = 1};
    struct tv_error err;
    assert_int_equal(tv_reader_instruments.assemble(source, builder, &options, &err), TV_OK);
    struct tv_trace *trace = tv_builder_finish(builder);
    assert_int_equal(trace->head->diagnostics.kinds[TV_DIAGNOSTIC_TOO_DEEP].count, 1);
    uint32_t path = trace->tables.samples.rows[0].path;
    for (unsigned i = DEEP - TV_PROFILE_DEPTH + 1; i <= DEEP; i++) {
        struct tv_path_node node = trace->paths.nodes[path];
        char name[24];
        snprintf(name, sizeof name, "0x%x", i);
        assert_true(
            tv_bytes_equal(tv_trace_info_text(trace->head, trace->head->frames[node.frame].name),
                           tv_bytes_of(name)));
        path = node.parent;
    }
    assert_int_equal(path, TV_ROOT_PATH);
    tv_trace_free(trace);
    tv_source_free(source);
    tv_out_release(&file);
}

static void nesting_has_an_end(void **context)
{
    struct tv_out file;
    (void)context;
    tv_out_init_memory(&file);
    tv_out_text(&file, "<trace-query-result><node>");
    for (unsigned i = 0; i < 100000; i++)
        tv_out_text(&file, "<a>");
    for (unsigned i = 0; i < 100000; i++)
        tv_out_text(&file, "</a>");
    tv_out_text(&file, SAMPLE("") "</node></trace-query-result>");
    struct tv_bytes bytes = {file.buffer, file.length};
    assert_int_equal(instruments_count(bytes, TV_DIAGNOSTIC_BAD_XML), 1);
    assert_int_equal(instruments_count(bytes, TV_DIAGNOSTIC_TRUNCATED), 0);
    tv_out_release(&file);
}

/* A long file tells how far it is, and stops when it is asked to. */
static void reading_has_progress(void **context)
{
    (void)context;
    for (unsigned cancel = 0; cancel < 2; cancel++) {
        struct tv_out file;
        tv_out_init_memory(&file);
        tv_out_text(&file, "<trace-query-result><node>" SAMPLE(""));
        for (unsigned i = 0; i < 100000; i++)
            tv_out_text(&file, "<a/>");
        tv_out_text(&file, "</node></trace-query-result>");
        struct tv_bytes bytes = {file.buffer, file.length};
        struct tv_source *source = tv_source_from_memory(bytes, "test");
        struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
        struct tv_progress progress = {.cancel = cancel != 0};
        struct tv_read_options options = {.parts = 1, .progress = &progress};
        struct tv_error err;
        assert_int_equal(tv_reader_instruments.assemble(source, builder, &options, &err),
                         cancel ? TV_ERR_CANCELLED : TV_OK);
        uint64_t told = atomic_load(&progress.bytes);
        assert_true(told > bytes.length / 2 && told <= bytes.length);
        tv_builder_free(builder);
        tv_source_free(source);
        tv_out_release(&file);
    }
}

static void instruments_survives_damage(void **context)
{
    (void)context;
    assert_damage_survived(
        &tv_reader_instruments,
        TABLE("time-profile",
              SAMPLE("<core>1</core><thread-state>Running</thread-state><tagged-backtrace id=\"6\">"
                     "<backtrace id=\"8\"><frame id=\"9\" name=\"a&lt;b\" addr=\"0x11\">"
                     "<binary id=\"10\" name=\"x\" load-addr=\"0x10\"/><source line=\"3\">"
                     "<path>p</path></source></frame></backtrace></tagged-backtrace>")
                  SAMPLE("<backtrace ref=\"8\"/>")
                      SAMPLE("<kperf-bt id=\"11\"><text-addresses id=\"12\">1 2</text-addresses>"
                             "<text-address>3</text-address></kperf-bt><kperf-bt ref=\"11\"/>")));
}

UNIT_TESTS(instruments, cmocka_unit_test(rows_refer_to_values),
           cmocka_unit_test(names_have_brackets), cmocka_unit_test(row_inside_a_row_is_one_sample),
           cmocka_unit_test(cdata_is_literal), cmocka_unit_test(tables_inside_tables_count),
           cmocka_unit_test(cycles_have_another_unit), cmocka_unit_test(old_stacks_have_addresses),
           cmocka_unit_test(samples_of_time_have_addresses),
           cmocka_unit_test(samples_may_have_no_times),
           cmocka_unit_test(files_without_samples_are_refused), cmocka_unit_test(damage_is_counted),
           cmocka_unit_test(cut_file_is_cut_at_its_end), cmocka_unit_test(references_have_a_budget),
           cmocka_unit_test(deep_stacks_keep_their_callers), cmocka_unit_test(nesting_has_an_end),
           cmocka_unit_test(reading_has_progress), cmocka_unit_test(instruments_survives_damage));
