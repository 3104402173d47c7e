/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings of the Java Flight Recorder, put together byte by byte. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "readers/jfr/chunk.h"
#include "readers/readers.h"

/* ---- A recording ---- */

struct made {
    uint8_t bytes[8192];
    size_t length;
};

static void put_bytes(struct made *made, const void *bytes, size_t length)
{
    assert_true(made->length + length <= sizeof made->bytes);
    memcpy(made->bytes + made->length, bytes, length);
    made->length += length;
}

static void put_byte(struct made *made, unsigned byte)
{
    uint8_t b = (uint8_t)byte;
    put_bytes(made, &b, 1);
}

static void put_varint(struct made *made, uint64_t number)
{
    for (unsigned i = 0; i < 8 && number >= 0x80; i++, number >>= 7)
        put_byte(made, (unsigned)(number & 0x7f) | 0x80);
    put_byte(made, (unsigned)number);
}

static void put_varints(struct made *made, size_t count, const uint64_t *numbers)
{
    for (size_t i = 0; i < count; i++)
        put_varint(made, numbers[i]);
}

#define NUMBERS(made, ...)                                                                         \
    put_varints(made, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t),                        \
                (uint64_t[]){__VA_ARGS__})

static void put_text(struct made *made, const char *text)
{
    put_byte(made, TV_JFR_UTF8);
    put_varint(made, strlen(text));
    put_bytes(made, text, strlen(text));
}

/* Begin an event: the size, which is padded to four bytes, is put at its end. */
static size_t begin_event(struct made *made, uint64_t type)
{
    size_t at = made->length;
    put_bytes(made, "\0\0\0", 4);
    put_varint(made, type);
    return at;
}

static void end_event(struct made *made, size_t at)
{
    size_t size = made->length - at;
    for (unsigned i = 0; i < 4; i++)
        made->bytes[at + i] = (uint8_t)(size >> 7 * i & 0x7f) | (i < 3 ? 0x80 : 0);
}

/* The types: id, name, and fields "name:class" with a star for a constant, [] for an array, or ~
 * for bytes. */
static const char *const types[] = {
    "1 long",
    "2 int",
    "3 boolean",
    "4 java.lang.String",
    "5 java.lang.Thread osName:4 osThreadId:1 javaName:4 javaThreadId:1",
    "6 java.lang.Class name:7*",
    "7 jdk.types.Symbol string:4",
    "8 jdk.types.Method type:6* name:7*",
    "9 jdk.types.StackFrame method:8* lineNumber:2",
    "10 jdk.types.StackTrace truncated:3 frames:9[]",
    "101 jdk.ExecutionSample startTime:1 sampledThread:5* stackTrace:10*",
    "102 jdk.JavaMonitorEnter startTime:1 duration:1 eventThread:5* stackTrace:10*",
    "103 app.Note startTime:1 what:4",
    "20 jdk.jfr.DataAmount",
    "104 jdk.JavaThreadStatistics startTime:1 activeCount:1",
    "106 jdk.PhysicalMemory startTime:1 usedSize:1~ totalSize:1~",
    "105 jdk.ObjectAllocationSample startTime:1 eventThread:5* stackTrace:10* weight:1",
};

/* Words of the metadata: a text for each number, in the order of their first use. */
struct words {
    char texts[96][48];
    size_t count;
};

static uint64_t word(struct words *words, const char *text)
{
    for (size_t i = 0; i < words->count; i++)
        if (strcmp(words->texts[i], text) == 0)
            return i;
    snprintf(words->texts[words->count], sizeof words->texts[0], "%s", text);
    return words->count++;
}

static void put_field(struct made *tree, struct words *words, const char *field)
{
    char name[48], class[8];
    assert_int_equal(sscanf(field, "%47[^:]:%7[0-9]", name, class), 2);
    bool constant = strchr(field, '*') != NULL, array = strchr(field, '[') != NULL,
         bytes = strchr(field, '~') != NULL;
    NUMBERS(tree, word(words, "field"), 2u + constant + array, word(words, "name"),
            word(words, name), word(words, "class"), word(words, class));
    if (constant)
        NUMBERS(tree, word(words, "constantPool"), word(words, "true"));
    if (array)
        NUMBERS(tree, word(words, "dimension"), word(words, "1"));
    NUMBERS(tree, bytes);
    if (bytes)
        NUMBERS(tree, word(words, "annotation"), 2, word(words, "class"), word(words, "20"),
                word(words, "value"), word(words, "BYTES"), 0);
}

static void put_type(struct made *tree, struct words *words, const char *type)
{
    char copy[160], *fields[8], *rest = NULL;
    size_t count = 0;
    snprintf(copy, sizeof copy, "%s", type);
    char *id = strtok_r(copy, " ", &rest), *name = strtok_r(NULL, " ", &rest);
    while ((fields[count] = strtok_r(NULL, " ", &rest)) != NULL)
        count++;
    NUMBERS(tree, word(words, "class"), 2, word(words, "id"), word(words, id), word(words, "name"),
            word(words, name), count);
    for (size_t i = 0; i < count; i++)
        put_field(tree, words, fields[i]);
}

static void put_metadata(struct made *made)
{
    struct made tree = {.length = 0};
    struct words words = {.count = 0};
    NUMBERS(&tree, word(&words, "root"), 0, 1, word(&words, "metadata"), 0, TV_COUNT(types));
    for (size_t i = 0; i < TV_COUNT(types); i++)
        put_type(&tree, &words, types[i]);
    size_t at = begin_event(made, TV_JFR_METADATA);
    NUMBERS(made, 0, 0, 1, words.count); /* start, duration, id */
    for (size_t i = 0; i < words.count; i++)
        put_text(made, words.texts[i]);
    put_bytes(made, tree.bytes, tree.length);
    end_event(made, at);
}

/* Stack 1: Main.parse at line 7, called by Main.main at line 30; stack 2: Main.main at line 31; the
 * thread "main" with id 1. */
static void put_constants(struct made *made, bool truncated)
{
    size_t at = begin_event(made, TV_JFR_CHECKPOINT);
    NUMBERS(made, 0, 0, 0, 0, 5); /* start, duration, delta, flags, pools */
    NUMBERS(made, 7, 3, 1);
    put_text(made, "app/Main");
    NUMBERS(made, 2);
    put_text(made, "main");
    NUMBERS(made, 3);
    put_text(made, "parse");
    NUMBERS(made, 6, 1, 1, 1);
    NUMBERS(made, 8, 2, 1, 1, 3, 2, 1, 2);
    NUMBERS(made, 10, 2, 1, truncated, 2, 1, 7, 2, 30, 2, truncated, 1, 2, 31);
    NUMBERS(made, 5, 1, 1);
    put_text(made, "java");
    NUMBERS(made, 4711);
    put_text(made, "main");
    NUMBERS(made, 1);
    end_event(made, at);
}

struct chunk {
    size_t at;
    uint64_t start_ns, ticks;
    bool truncated;
    uint8_t state;
    bool no_size;
};

static void begin_chunk(struct made *made, struct chunk *chunk)
{
    static const uint8_t zeros[TV_JFR_HEADER_SIZE];
    chunk->at = made->length;
    put_bytes(made, zeros, sizeof zeros);
    put_metadata(made);
}

static void set_number(uint8_t *at, unsigned width, uint64_t number)
{
    for (unsigned i = 0; i < width; i++)
        at[i] = (uint8_t)(number >> 8 * (width - 1 - i));
}

static void end_chunk(struct made *made, const struct chunk *chunk)
{
    size_t constants = made->length - chunk->at;
    put_constants(made, chunk->truncated);
    uint8_t *header = made->bytes + chunk->at;
    memcpy(header, "FLR\0", 4);
    set_number(header + 4, 2, 2);
    set_number(header + 6, 2, 1);
    set_number(header + 8, 8, chunk->no_size ? 0 : made->length - chunk->at);
    set_number(header + 16, 8, constants);
    set_number(header + 24, 8, TV_JFR_HEADER_SIZE);
    set_number(header + 32, 8, chunk->start_ns);
    set_number(header + 56, 8, chunk->ticks ? chunk->ticks : 1000000000);
    header[64] = chunk->state;
    header[67] = 1;
}

static void put_event(struct made *made, uint64_t type, size_t count, const uint64_t *numbers)
{
    size_t at = begin_event(made, type);
    put_varints(made, count, numbers);
    end_event(made, at);
}

#define EVENT(made, type, ...)                                                                     \
    put_event(made, type, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t),                    \
              (uint64_t[]){__VA_ARGS__})

/* ---- What is read ---- */

static enum tv_status read_parts(struct tv_bytes bytes, unsigned parts,
                                 enum tv_sample_detail detail, struct tv_trace **trace,
                                 struct tv_error *err)
{
    struct tv_source *source = tv_source_from_memory(bytes, "made");
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    struct tv_read_options options = {.parts = parts};
    tv_builder_sum_samples(builder, detail);
    enum tv_status status = tv_readers_build(source, builder, &options, err);
    *trace = NULL;
    if (status == TV_OK)
        *trace = tv_builder_finish(builder);
    else
        tv_builder_free(builder);
    tv_source_free(source);
    return status;
}

static enum tv_status read_bytes(struct tv_bytes bytes, enum tv_sample_detail detail,
                                 struct tv_trace **trace, struct tv_error *err)
{
    return read_parts(bytes, 1, detail, trace, err);
}

static enum tv_status read_made(const struct made *made, struct tv_trace **trace,
                                struct tv_error *err)
{
    return read_bytes((struct tv_bytes){made->bytes, made->length}, TV_SAMPLES_SINGLE, trace, err);
}

static struct tv_trace *read_sums(struct tv_bytes bytes)
{
    struct tv_trace *trace;
    struct tv_error err;
    assert_int_equal(read_bytes(bytes, TV_SAMPLES_BY_STACK, &trace, &err), TV_OK);
    return trace;
}

static struct tv_trace *read_ok(const struct made *made)
{
    struct tv_trace *trace;
    struct tv_error err;
    assert_int_equal(read_made(made, &trace, &err), TV_OK);
    return trace;
}

static void write_stack(char *text, size_t size, const struct tv_trace *trace, uint32_t path)
{
    for (; path != TV_ROOT_PATH; path = trace->paths.nodes[path].parent) {
        const struct tv_frame *frame = tv_path_frame(trace, path);
        size_t used = strlen(text);
        snprintf(text + used, size - used, " %s.%s:%d",
                 (const char *)tv_trace_info_text(trace->head, frame->class_name).data,
                 (const char *)tv_trace_info_text(trace->head, frame->name).data, (int)frame->line);
    }
}

/* "type time weight thread: frame:line ..." of each sample, from the leaf. */
static void assert_samples(const struct tv_trace *trace, const char *wanted)
{
    char text[1024] = "";
    for (size_t i = 0; i < trace->tables.samples.count; i++) {
        const struct tv_sample *sample = &trace->tables.samples.rows[i];
        size_t used = strlen(text);
        uint32_t title = tv_sample_title(&trace->tables, sample);
        uint32_t thread =
            sample->thread == TV_NONE ? TV_EMPTY_STRING : trace->head->threads[sample->thread].name;
        snprintf(text + used, sizeof text - used,
                 "%s %lld %lld %s:", (const char *)tv_trace_info_text(trace->head, title).data,
                 (long long)tv_trace_time(trace, 0, sample->time), (long long)sample->weight,
                 (const char *)tv_trace_info_text(trace->head, thread).data);
        write_stack(text, sizeof text, trace, sample->line_path);
        used = strlen(text);
        snprintf(text + used, sizeof text - used, "|");
    }
    assert_string_equal(text, wanted);
}

static uint64_t count_of(const struct tv_trace *trace, enum tv_diagnostic_kind kind)
{
    return trace->head->diagnostics.kinds[kind].count;
}

#define SAMPLE(time) "jdk.ExecutionSample " time " 1 main: app.Main.parse:7 app.Main.main:30|"

static void sample_has_its_stack(void **state)
{
    (void)state;
    struct made made = {.length = 0};
    struct chunk chunk = {.start_ns = 1000000};
    begin_chunk(&made, &chunk);
    EVENT(&made, 101, 5, 1, 1); /* startTime, sampledThread, stackTrace */
    end_chunk(&made, &chunk);
    struct tv_trace *trace = read_ok(&made);
    assert_samples(trace, SAMPLE("0"));
    assert_int_equal(trace->head->inputs[0].origin, 1000005);
    assert_int_equal(trace->head->inputs[0].samples, 1);
    assert_int_equal(trace->tables.event_types.count, 1);
    assert_int_equal(trace->tables.event_types.rows[0].count, 1);
    tv_trace_free(trace);
}

static void wait_is_slice_and_sample_of_its_time(void **state)
{
    (void)state;
    struct made made = {.length = 0};
    struct chunk chunk = {.ticks = 500000000}; /* a tick is 2 ns */
    begin_chunk(&made, &chunk);
    EVENT(&made, 102, 50, 3, 1, 1);
    end_chunk(&made, &chunk);
    struct tv_trace *trace = read_ok(&made);
    assert_samples(trace, "jdk.JavaMonitorEnter 0 6 main: app.Main.parse:7 app.Main.main:30|");
    struct tv_slice slice = tv_slice_get(trace, 0, 0);
    assert_int_equal(slice.length, 6);
    tv_trace_free(trace);
}

/* The trace shows first the samples of code that ran, wherever they stand in the file. */
static void running_code_is_preferred(void **state)
{
    (void)state;
    struct made made = {.length = 0};
    struct chunk chunk = {.at = 0};
    begin_chunk(&made, &chunk);
    EVENT(&made, 102, 50, 3, 1, 1);
    EVENT(&made, 101, 60, 1, 1);
    end_chunk(&made, &chunk);
    struct tv_trace *trace = read_ok(&made);
    assert_int_equal(trace->tables.value_types.count, 2);
    assert_false(trace->tables.value_types.rows[0].preferred); /* jdk.JavaMonitorEnter */
    assert_true(trace->tables.value_types.rows[1].preferred);
    tv_trace_free(trace);
}

static void cut_stack_says_so(void **state)
{
    (void)state;
    struct made made = {.length = 0};
    struct chunk chunk = {.truncated = true};
    begin_chunk(&made, &chunk);
    EVENT(&made, 101, 5, 1, 1);
    end_chunk(&made, &chunk);
    struct tv_trace *trace = read_ok(&made);
    assert_samples(trace, "jdk.ExecutionSample 0 1 main: app.Main.parse:7 app.Main.main:30 "
                          ".[cut at depth 2]:0|");
    assert_int_equal(count_of(trace, TV_DIAGNOSTIC_STACK_CUT), 1);
    tv_trace_free(trace);
}

/* A key without a constant: the event stays, and a diagnostic tells of it.  Key 0 is none. */
static void unknown_constants_are_counted(void **state)
{
    (void)state;
    struct made made = {.length = 0};
    struct chunk chunk = {.at = 0};
    begin_chunk(&made, &chunk);
    EVENT(&made, 101, 5, 0, 0);
    EVENT(&made, 101, 6, 1, UINT64_MAX); /* nine bytes */
    EVENT(&made, 999, 7);                /* no such type */
    end_chunk(&made, &chunk);
    struct tv_trace *trace = read_ok(&made);
    assert_samples(trace, "jdk.ExecutionSample 0 1 :|jdk.ExecutionSample 1 1 main:|");
    assert_int_equal(count_of(trace, TV_DIAGNOSTIC_UNRESOLVED_CONSTANT), 1);
    assert_int_equal(count_of(trace, TV_DIAGNOSTIC_UNKNOWN_EVENT), 1);
    tv_trace_free(trace);
}

static void chunks_have_their_own_clocks(void **state)
{
    (void)state;
    struct made made = {.length = 0};
    struct chunk first = {.start_ns = 1000}, second = {.start_ns = 2000, .ticks = 500000000};
    begin_chunk(&made, &first);
    EVENT(&made, 101, 5, 1, 1);
    end_chunk(&made, &first);
    begin_chunk(&made, &second);
    EVENT(&made, 101, 5, 1, 1); /* 2010 ns */
    end_chunk(&made, &second);
    struct tv_trace *trace = read_ok(&made);
    assert_samples(trace, SAMPLE("0") SAMPLE("1005"));
    assert_int_equal(trace->tables.event_types.rows[0].count, 2);
    tv_trace_free(trace);
}

/* Chunks are read one at a time; from the bytes of no chunk on, the rest of the file is. */
static void offsets_are_those_of_the_file(void **state)
{
    static const uint8_t junk[300] = "FLX";
    uint64_t offsets[6];
    size_t count = 0, junk_at = 0;
    (void)state;
    struct made made = {.length = 0};
    for (unsigned i = 0; i < 4; i++) {
        struct chunk chunk = {.start_ns = 1000 * i, .state = i == 3 ? 2 : 0};
        begin_chunk(&made, &chunk);
        for (unsigned event = 0; event < (i == 1 ? 3 : 1); event++) {
            offsets[count++] = made.length;
            EVENT(&made, 101, event, 1, 1);
        }
        end_chunk(&made, &chunk);
        if (i == 1) {
            junk_at = made.length;
            put_bytes(&made, junk, sizeof junk);
        }
    }
    struct tv_trace *trace = read_ok(&made);
    assert_int_equal(count, TV_COUNT(offsets));
    assert_int_equal(trace->tables.samples.count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(trace->tables.samples.rows[i].offset, offsets[i]);
    const struct tv_diagnostic *trailing =
        &trace->head->diagnostics.kinds[TV_DIAGNOSTIC_TRAILING_BYTES];
    assert_int_equal(trailing->count, 1);
    assert_int_equal(trailing->places->offsets[0], junk_at);
    assert_int_equal(count_of(trace, TV_DIAGNOSTIC_UNFINISHED_CHUNK), 1);
    tv_trace_free(trace);
}

static void unfinished_chunk_is_read(void **state)
{
    (void)state;
    struct made made = {.length = 0};
    struct chunk chunk = {.state = 2};
    begin_chunk(&made, &chunk);
    EVENT(&made, 101, 5, 1, 1);
    end_chunk(&made, &chunk);
    struct tv_trace *trace = read_ok(&made);
    assert_samples(trace, SAMPLE("0"));
    assert_int_equal(count_of(trace, TV_DIAGNOSTIC_UNFINISHED_CHUNK), 1);
    tv_trace_free(trace);
}

static void chunk_without_size_is_read_to_the_end(void **state)
{
    (void)state;
    struct made made = {.length = 0};
    struct chunk chunk = {.no_size = true};
    begin_chunk(&made, &chunk);
    EVENT(&made, 101, 5, 1, 1);
    end_chunk(&made, &chunk);
    struct tv_trace *trace = read_ok(&made);
    assert_samples(trace, SAMPLE("0"));
    assert_int_equal(count_of(trace, TV_DIAGNOSTIC_TRUNCATED), 1);
    tv_trace_free(trace);
}

static void numbers_become_counters(void **state)
{
    (void)state;
    struct made made = {.length = 0};
    struct chunk chunk = {.at = 0};
    begin_chunk(&made, &chunk);
    EVENT(&made, 104, 9, 12); /* later, but first in the file */
    EVENT(&made, 104, 5, 11);
    end_chunk(&made, &chunk);
    struct tv_trace *trace = read_ok(&made);
    assert_int_equal(trace->tables.counters.count, 1);
    assert_int_equal(trace->tables.counters.rows[0].sample_count, 2);
    assert_int_equal(trace->tables.counters.rows[0].series_count, 2); /* the other is unknown */
    assert_int_equal((int)trace->tables.counter_values[0], 11);
    assert_int_equal((int)trace->tables.counter_values[2], 12);
    tv_trace_free(trace);
}

static void counters_have_units(void **state)
{
    (void)state;
    struct made made = {.length = 0};
    struct chunk chunk = {.at = 0};
    begin_chunk(&made, &chunk);
    EVENT(&made, 104, 5, 11);
    EVENT(&made, 106, 9, 4096, 8192);
    end_chunk(&made, &chunk);
    struct tv_trace *trace = read_ok(&made);
    const struct tv_counter *counters = trace->tables.counters.rows;
    assert_int_equal(trace->tables.counters.count, 2);
    assert_int_equal(counters[0].facts.unit, TV_EMPTY_STRING);
    assert_string_equal((const char *)tv_trace_info_text(trace->head, counters[1].facts.unit).data,
                        "bytes");
    tv_trace_free(trace);
}

/* Fields that the trace does not hold; the character beyond U+FFFF is two surrogates. */
static void fields_are_read_again(void **state)
{
    (void)state;
    struct made made = {.length = 0};
    struct chunk chunk = {.at = 0};
    begin_chunk(&made, &chunk);
    size_t at = begin_event(&made, 103);
    NUMBERS(&made, 5);
    put_text(&made, "a\xed\xa0\xbd\xed\xb8\x80");
    end_event(&made, at);
    end_chunk(&made, &chunk);
    struct tv_source *source =
        tv_source_from_memory((struct tv_bytes){made.bytes, made.length}, "made");
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    struct tv_read_options options = {.parts = 1};
    struct tv_error err;
    struct tv_out out;
    assert_int_equal(tv_readers_build(source, builder, &options, &err), TV_OK);
    struct tv_trace *trace = tv_builder_finish(builder);
    tv_out_init_memory(&out);
    assert_int_equal(trace->tables.instants.count, 1);
    assert_int_equal(trace->head->inputs[0].describe(
                         trace, 0, trace->tables.instants.rows[0].offset, TV_NO_OFFSET, &out, &err),
                     TV_OK);
    tv_out_char(&out, '\0');
    assert_string_equal((const char *)out.buffer,
                        "{\"args\":{\"startTime\":5,\"what\":\"a\xf0\x9f\x98\x80\"},"
                        "\"event\":\"app.Note\"}");
    tv_out_release(&out);
    tv_trace_free(trace);
    tv_source_free(source);
}

static void jdk_7_is_named(void **state)
{
    (void)state;
    struct made made = {.bytes = "FLR\0\0\0\0\11", .length = 100};
    struct tv_trace *trace;
    struct tv_error err;
    assert_int_equal(read_made(&made, &trace, &err), TV_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "JDK 7 or 8 (version 0.9)"));
    assert_non_null(strstr(err.message, "JDK Mission Control"));
}

/* Every beginning, and every change of a bit, is read to an end; what is read may be anything. */
static void damage_is_survived(void **state)
{
    (void)state;
    struct made made = {.length = 0}, cut;
    struct chunk chunk = {.at = 0};
    struct tv_trace *trace;
    struct tv_error err;
    begin_chunk(&made, &chunk);
    EVENT(&made, 101, 5, 1, 1);
    EVENT(&made, 102, 7, 3, 1, 1);
    end_chunk(&made, &chunk);
    for (size_t length = 4; length < made.length; length++) {
        cut = made;
        cut.length = length;
        if (read_made(&cut, &trace, &err) == TV_OK)
            tv_trace_free(trace);
    }
    for (size_t bit = 64; bit < made.length * 8; bit += 3) {
        cut = made;
        cut.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (read_made(&cut, &trace, &err) == TV_OK)
            tv_trace_free(trace);
        if (read_bytes((struct tv_bytes){cut.bytes, cut.length}, TV_SAMPLES_BY_LINES, &trace,
                       &err) == TV_OK)
            tv_trace_free(trace);
    }
}

/* ---- Sums of samples ---- */

/* Compare "samples weight depth" of each sum, in their order. */
static void assert_sums(const struct tv_trace *trace, const char *wanted)
{
    char text[256] = "";
    const struct tv_sample_sums *sums = &trace->tables.sample_sums;
    for (size_t i = 0; i < sums->count; i++) {
        size_t used = strlen(text), depth = 0;
        for (uint32_t path = sums->rows[i].path; path != TV_ROOT_PATH; depth++)
            path = trace->paths.nodes[path].parent;
        snprintf(text + used, sizeof text - used, "%llu %lld %zu|",
                 (unsigned long long)sums->rows[i].samples, (long long)sums->rows[i].weight, depth);
    }
    assert_string_equal(text, wanted);
}

/* Samples with a stack and thread that the chunk had before are added up without the trace; events
 * between them, and samples without a stack, are read one by one. */
static void sums_have_every_sample(void **state)
{
    (void)state;
    struct made made = {.length = 0};
    struct chunk chunk = {.start_ns = 1000};
    begin_chunk(&made, &chunk);
    EVENT(&made, 101, 5, 0, 1); /* no thread */
    EVENT(&made, 101, 6, 1, 1);
    EVENT(&made, 101, 7, 1, 0);          /* no stack */
    EVENT(&made, 102, 8, 3, 1, 1);       /* a wait of 3 ns, and a sample of it */
    EVENT(&made, 101, 9, 1, UINT64_MAX); /* unknown stack */
    EVENT(&made, 101, 90, 1, 1);
    EVENT(&made, 101, 2, 77, 1); /* unknown thread */
    EVENT(&made, 101, 11, 1, 1);
    end_chunk(&made, &chunk);
    struct tv_trace *trace = read_sums((struct tv_bytes){made.bytes, made.length});
    /* Samples without a stack, the wait, then samples that were added up. */
    assert_sums(trace, "2 2 0|1 3 2|5 5 2|");
    assert_int_equal(trace->head->inputs[0].samples, 8);
    assert_int_equal(trace->tables.event_types.rows[0].count, 7);
    assert_int_equal(count_of(trace, TV_DIAGNOSTIC_UNRESOLVED_CONSTANT), 2);
    assert_int_equal(trace->head->inputs[0].origin, 1002);
    tv_trace_free(trace);
}

/* The stacks of the allocations are known from the samples of the processor. */
static void types_share_their_stacks(void **state)
{
    (void)state;
    struct made made = {.length = 0};
    struct chunk chunk = {.start_ns = 1000};
    begin_chunk(&made, &chunk);
    EVENT(&made, 101, 4, 1, 1); /* the first of the thread */
    EVENT(&made, 101, 5, 1, 1);
    EVENT(&made, 101, 6, 1, 2);
    EVENT(&made, 105, 7, 1, 2, 100);
    EVENT(&made, 105, 8, 1, 1, 50);
    EVENT(&made, 105, 9, 1, 1, 7);
    EVENT(&made, 101, 10, 1, 1);
    end_chunk(&made, &chunk);
    struct tv_trace *trace = read_sums((struct tv_bytes){made.bytes, made.length});
    assert_sums(trace, "3 3 2|1 1 1|2 57 2|1 100 1|");
    assert_int_equal(trace->tables.value_types.count, 2);
    assert_int_equal(trace->tables.value_types.rows[0].samples, 4);
    assert_int_equal(trace->tables.value_types.rows[1].total, 157);
    assert_int_equal(trace->head->inputs[0].samples, 7);
    assert_int_equal(trace->head->thread_count, 1);
    tv_trace_free(trace);
}

static void each_sample_of_a_cut_stack_is_counted(void **state)
{
    (void)state;
    struct made made = {.length = 0};
    struct chunk chunk = {.truncated = true};
    begin_chunk(&made, &chunk);
    for (unsigned i = 0; i < 3; i++)
        EVENT(&made, 101, i, 1, 1);
    end_chunk(&made, &chunk);
    struct tv_trace *trace = read_sums((struct tv_bytes){made.bytes, made.length});
    assert_sums(trace, "3 3 3|");
    assert_int_equal(count_of(trace, TV_DIAGNOSTIC_STACK_CUT), 3);
    tv_trace_free(trace);
}

/* Chunks of this size are read by one thread while another takes those before. */
#define LARGE ((size_t)300 << 10)
#define LARGE_CHUNKS 5

/* Append a chunk with so many samples, and an event of an unknown type that fills it up. */
static void append_large_chunk(struct tv_bytes *file, uint8_t *to, unsigned samples)
{
    struct made made = {.length = 0};
    struct chunk chunk = {.start_ns = 1000 * samples};
    begin_chunk(&made, &chunk);
    for (unsigned i = 0; i < samples; i++)
        EVENT(&made, 101, i, 1, 1);
    end_chunk(&made, &chunk);
    size_t filler = LARGE - made.length;
    set_number(made.bytes + 8, 8, LARGE);
    memset(to, 0, LARGE);
    memcpy(to, made.bytes, made.length);
    for (unsigned i = 0; i < 4; i++)
        to[made.length + i] = (uint8_t)(filler >> 7 * i & 0x7f) | (i < 3 ? 0x80 : 0);
    to[made.length + 4] = 99; /* the type */
    file->length += LARGE;
}

static void large_chunks_come_in_order(void **state)
{
    (void)state;
    uint8_t *bytes = malloc(LARGE * LARGE_CHUNKS + sizeof((struct made){0}).bytes);
    struct tv_bytes file = {bytes, 0};
    struct made last = {.length = 0};
    struct chunk chunk = {.start_ns = 9000};
    struct tv_trace *trace;
    struct tv_error err;
    for (unsigned i = 0; i < LARGE_CHUNKS; i++)
        append_large_chunk(&file, bytes + i * LARGE, i + 1);
    begin_chunk(&last, &chunk);
    EVENT(&last, 101, 0, 1, 1);
    end_chunk(&last, &chunk);
    memcpy(bytes + file.length, last.bytes, last.length);
    file.length += last.length;
    for (unsigned parts = 0; parts <= 5; parts++) {
        assert_int_equal(read_parts(file, parts, TV_SAMPLES_SINGLE, &trace, &err), TV_OK);
        assert_int_equal(trace->tables.samples.count, 1 + 2 + 3 + 4 + 5 + 1);
        for (size_t i = 1; i < trace->tables.samples.count; i++)
            assert_true(trace->tables.samples.rows[i - 1].offset <
                        trace->tables.samples.rows[i].offset);
        assert_int_equal(count_of(trace, TV_DIAGNOSTIC_UNKNOWN_EVENT), LARGE_CHUNKS);
        assert_int_equal(trace->head->inputs[0].origin, 1000);
        tv_trace_free(trace);
        assert_int_equal(read_parts(file, parts, TV_SAMPLES_BY_STACK, &trace, &err), TV_OK);
        assert_sums(trace, "16 16 2|");
        assert_int_equal(count_of(trace, TV_DIAGNOSTIC_UNKNOWN_EVENT), LARGE_CHUNKS);
        tv_trace_free(trace);
    }
    free(bytes);
}

/* Numbers of each length, at the end of a chunk too, against a reading bit by bit. */
static void numbers_of_any_length(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits <= 64; bits++) {
        struct made made = {.length = 0};
        uint64_t number = bits == 0 ? 0 : UINT64_MAX >> (64 - bits), value;
        put_varint(&made, number);
        size_t length = made.length;
        put_varint(&made, 5);
        struct tv_jfr_cursor cursor = {made.bytes, made.bytes + length, false};
        assert_true(tv_jfr_take(&cursor, 8, &value));
        assert_true(value == number && cursor.at == made.bytes + length);
        cursor = (struct tv_jfr_cursor){made.bytes, made.bytes + length - 1, false};
        assert_false(tv_jfr_take(&cursor, 8, &value));
        put_bytes(&made, (uint8_t[16]){0}, 16);
        cursor = (struct tv_jfr_cursor){made.bytes, made.bytes + made.length, false};
        assert_true(tv_jfr_take(&cursor, 8, &value) && value == number);
        cursor.at = made.bytes;
        assert_true(tv_jfr_skip_varints(&cursor, 10)); /* the number, 5, and eight zeros */
        assert_true(cursor.at == made.bytes + length + 9);
    }
}

UNIT_TESTS(jfr, cmocka_unit_test(sample_has_its_stack),
           cmocka_unit_test(wait_is_slice_and_sample_of_its_time),
           cmocka_unit_test(running_code_is_preferred), cmocka_unit_test(cut_stack_says_so),
           cmocka_unit_test(unknown_constants_are_counted),
           cmocka_unit_test(chunks_have_their_own_clocks),
           cmocka_unit_test(offsets_are_those_of_the_file),
           cmocka_unit_test(unfinished_chunk_is_read),
           cmocka_unit_test(chunk_without_size_is_read_to_the_end),
           cmocka_unit_test(numbers_become_counters), cmocka_unit_test(counters_have_units),
           cmocka_unit_test(fields_are_read_again), cmocka_unit_test(jdk_7_is_named),
           cmocka_unit_test(damage_is_survived), cmocka_unit_test(sums_have_every_sample),
           cmocka_unit_test(types_share_their_stacks),
           cmocka_unit_test(each_sample_of_a_cut_stack_is_counted),
           cmocka_unit_test(large_chunks_come_in_order), cmocka_unit_test(numbers_of_any_length));
