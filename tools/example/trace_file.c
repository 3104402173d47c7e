/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_file.c - writes the layouts 1, 2, 3, 0xF2 and 0xF3.
 */
#include "trace_file.h"

#include "die.h"
#include "wire/method_trace.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Facts of the machine that the example pretends to have run on. */
#define CLOCK_OVERHEAD_NS 431u
#define ART_START_US 86412553092u         /* a day and a few minutes after boot */
#define DALVIK_START_US 1303909200431877u /* April 2011 */
#define STOP_COST_US 640u                 /* from the last record to the written key */
#define DALVIK_METHODS_AT 0x418f2a30u     /* ids were addresses, */
#define DALVIK_METHOD_SIZE 0x38u          /* of structures of this size */

struct builder {
    const struct scenario *scenario;
    const struct recording *recording;
    uint16_t version;       /* as the data header has it */
    uint16_t plain_version; /* 1, 2 or 3 */
    const char *clock;
    uint32_t *ids; /* of each method used, plus 1; 0: not used (yet) */
    int id_count;
    bool *announced; /* threads that a streaming file has named */
    struct bytes out;
};

static uint8_t *reserve(struct bytes *bytes, size_t length)
{
    if (bytes->capacity - bytes->length < length) {
        bytes->capacity = (bytes->capacity + length) * 2;
        bytes->data = resize(bytes->data, bytes->capacity, 1);
    }
    bytes->length += length;
    return bytes->data + bytes->length - length;
}

static void __attribute__((format(printf, 2, 3)))
add_text(struct bytes *bytes, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof text)
        die("a line of more than %zu bytes", sizeof text);
    memcpy(reserve(bytes, (size_t)length), text, (size_t)length);
}

/* A made-up but constant line of the source file; methods of one class must not share it. */
static unsigned int line_number(const struct method *method)
{
    uint32_t hash = 2166136261u; /* FNV-1a */

    for (const char *at = method->key; *at; at++)
        hash = (hash ^ (uint8_t)*at) * 16777619u;
    return 20 + hash % 1800;
}

static uint32_t method_id(const struct builder *builder, int method)
{
    uint32_t index = builder->ids[method] - 1;

    if (builder->plain_version == TV_MT_V1)
        return DALVIK_METHODS_AT + index * DALVIK_METHOD_SIZE;
    return index << 2;
}

static void add_method_line(const struct builder *builder, int index, struct bytes *out)
{
    const struct method *method = &builder->scenario->methods[index];
    size_t class_at;

    /* %#x prints the first id, 0, without 0x: so do ART's files. */
    add_text(out, "%#x\t", method_id(builder, index));
    class_at = out->length;
    add_text(out, "%s\t%s\t%s\t%s", method->class_name, method->name, method->signature,
             method->file);
    if (builder->plain_version == TV_MT_V1) {
        for (size_t i = 0; i < strlen(method->class_name); i++)
            if (out->data[class_at + i] == '.')
                out->data[class_at + i] = '/';
        add_text(out, "\t%u", line_number(method));
    }
    add_text(out, "\n");
}

/* Dalvik numbered its threads from 1; one byte holds that. */
static uint16_t thread_id(const struct builder *builder, int thread)
{
    uint16_t number = 1;

    if (builder->plain_version != TV_MT_V1)
        return (uint16_t)builder->scenario->threads[thread].tid;
    for (int i = 0; i < thread; i++)
        number = (uint16_t)(number + (builder->scenario->threads[i].tid != 0));
    return number;
}

static bool use_method(struct builder *builder, int method)
{
    if (builder->ids[method])
        return false;
    builder->ids[method] = (uint32_t)++builder->id_count;
    return true;
}

static void add_version_section(const struct builder *builder, struct bytes *out)
{
    bool dalvik = builder->plain_version == TV_MT_V1;
    bool streaming = tv_mt_is_streaming(builder->version);
    unsigned long long elapsed = builder->recording->end_ns / 1000 + STOP_COST_US;

    add_text(out, TV_MT_SECTION_VERSION "\n%u\n", (unsigned int)builder->plain_version);
    add_text(out, TV_MT_KEY_OVERFLOW "=false\n" TV_MT_KEY_CLOCK "=%s\n", builder->clock);
    add_text(out, TV_MT_KEY_ELAPSED_US "=%llu\n", elapsed);
    if (!streaming)
        add_text(out, TV_MT_KEY_RECORDS "=%d\n", builder->recording->count);
    add_text(out, TV_MT_KEY_OVERHEAD_NS "=%u\n", CLOCK_OVERHEAD_NS);
    add_text(out, TV_MT_KEY_VM "=%s\n", dalvik ? "dalvik" : "art");
    if (!dalvik)
        add_text(out, TV_MT_KEY_PID "=%u\n", (unsigned int)builder->scenario->threads[0].tid);
}

static void add_thread_section(const struct builder *builder, struct bytes *out)
{
    add_text(out, TV_MT_SECTION_THREADS "\n");
    for (int i = 0; i < builder->scenario->thread_count; i++)
        if (builder->scenario->threads[i].tid)
            add_text(out, "%u\t%s\n", (unsigned int)thread_id(builder, i),
                     builder->scenario->threads[i].name);
}

/* Methods in the order of their ids. */
static void add_method_section(const struct builder *builder, struct bytes *out)
{
    int *by_id = resize(NULL, (size_t)builder->id_count + 1, sizeof *by_id);

    for (int i = 0; i < builder->scenario->method_count; i++)
        if (builder->ids[i])
            by_id[builder->ids[i] - 1] = i;
    add_text(out, TV_MT_SECTION_METHODS "\n");
    for (int i = 0; i < builder->id_count; i++)
        add_method_line(builder, by_id[i], out);
    free(by_id);
}

static void add_data_header(struct builder *builder)
{
    bool dalvik = builder->plain_version == TV_MT_V1;
    struct tv_mt_header header = {
        .version = builder->version,
        .data_offset = TV_MT_HEADER_SIZE,
        .record_size = builder->version >= TV_MT_V3 ? tv_mt_record_size(builder->plain_version) : 0,
        .start = dalvik ? DALVIK_START_US : ART_START_US,
    };

    tv_mt_put_header(reserve(&builder->out, TV_MT_HEADER_SIZE), &header);
}

static void add_record(struct builder *builder, const struct event *event)
{
    uint8_t *at = reserve(&builder->out, tv_mt_record_size(builder->plain_version));
    uint32_t word = tv_mt_word(method_id(builder, event->method), event->action);
    uint16_t tid = thread_id(builder, event->thread);
    uint32_t cpu = (uint32_t)(event->cpu_ns / 1000);
    uint32_t wall = (uint32_t)(event->wall_ns / 1000);
    uint32_t time = strcmp(builder->clock, TV_MT_CLOCK_WALL) ? cpu : wall;

    if (builder->plain_version == TV_MT_V1)
        tv_mt_put_record_v1(at, (uint8_t)tid, word, time);
    else if (builder->plain_version == TV_MT_V2)
        tv_mt_put_record_v2(at, tid, word, time);
    else
        tv_mt_put_record_v3(at, tid, word, cpu, wall);
}

static void add_method_packet(struct builder *builder, int method)
{
    struct bytes line = {0};
    uint8_t *at;

    add_method_line(builder, method, &line);
    at = reserve(&builder->out, TV_MT_STREAM_METHOD_HEAD);
    tv_le_put_u16(at, TV_MT_STREAM_ESCAPE);
    at[2] = TV_MT_STREAM_METHOD;
    tv_le_put_u16(at + 3, (uint16_t)line.length);
    memcpy(reserve(&builder->out, line.length), line.data, line.length);
    free(line.data);
}

static void add_thread_packet(struct builder *builder, int thread)
{
    const char *name = builder->scenario->threads[thread].name;
    uint8_t *at = reserve(&builder->out, TV_MT_STREAM_THREAD_HEAD);

    tv_le_put_u16(at, TV_MT_STREAM_ESCAPE);
    at[2] = TV_MT_STREAM_THREAD;
    tv_le_put_u16(at + 3, thread_id(builder, thread));
    tv_le_put_u16(at + 5, (uint16_t)strlen(name));
    memcpy(reserve(&builder->out, strlen(name)), name, strlen(name));
}

/* As ART 6 to 13: all threads, no methods. */
static void add_summary_packet(struct builder *builder)
{
    struct bytes text = {0};
    uint8_t *at;

    add_version_section(builder, &text);
    add_thread_section(builder, &text);
    add_text(&text, TV_MT_SECTION_METHODS "\n" TV_MT_SECTION_END "\n");
    at = reserve(&builder->out, TV_MT_STREAM_SUMMARY_HEAD);
    tv_le_put_u16(at, TV_MT_STREAM_ESCAPE);
    at[2] = TV_MT_STREAM_SUMMARY;
    tv_le_put_u32(at + 3, (uint32_t)text.length);
    memcpy(reserve(&builder->out, text.length), text.data, text.length);
    free(text.data);
}

static void build_streaming(struct builder *builder)
{
    add_data_header(builder);
    for (int i = 0; i < builder->recording->count; i++) {
        const struct event *event = &builder->recording->events[i];

        if (use_method(builder, event->method))
            add_method_packet(builder, event->method);
        if (!builder->announced[event->thread])
            add_thread_packet(builder, event->thread);
        builder->announced[event->thread] = true;
        add_record(builder, event);
    }
    add_summary_packet(builder);
}

static void build_text(struct builder *builder)
{
    for (int i = 0; i < builder->recording->count; i++)
        use_method(builder, builder->recording->events[i].method);
    add_version_section(builder, &builder->out);
    add_thread_section(builder, &builder->out);
    add_method_section(builder, &builder->out);
    add_text(&builder->out, TV_MT_SECTION_END "\n");
    add_data_header(builder);
    for (int i = 0; i < builder->recording->count; i++)
        add_record(builder, &builder->recording->events[i]);
}

/* One layout of each clock: 1 and 0xF2 count CPU time, 2 wall time, the others both. */
static const char *clock_of(uint16_t version)
{
    if (tv_mt_plain_version(version) == TV_MT_V3)
        return TV_MT_CLOCK_DUAL;
    return version == TV_MT_V2 ? TV_MT_CLOCK_WALL : TV_MT_CLOCK_THREAD_CPU;
}

struct bytes trace_file_build(const struct scenario *scenario, const struct recording *recording,
                              uint16_t version)
{
    size_t methods = (size_t)scenario->method_count;
    size_t threads = (size_t)scenario->thread_count;
    struct builder builder = {
        .scenario = scenario,
        .recording = recording,
        .version = version,
        .plain_version = tv_mt_plain_version(version),
        .clock = clock_of(version),
        .ids = resize(NULL, methods + 1, sizeof(uint32_t)),
        .announced = resize(NULL, threads + 1, sizeof(bool)),
    };

    memset(builder.ids, 0, methods * sizeof *builder.ids);
    memset(builder.announced, 0, threads * sizeof *builder.announced);
    if (tv_mt_is_streaming(version))
        build_streaming(&builder);
    else
        build_text(&builder);
    free(builder.ids);
    free(builder.announced);
    return builder.out;
}
