/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hprof_binary.c - samples in the binary form of hprof, as Android's later profiler wrote it.
 *
 *   "JAVA PROFILE 1.0.2\0"  u4 size of ids (4)  u8 milliseconds
 *   records: u1 tag, u4 time (0), u4 length, body: settings, threads, stacks, counts
 *
 * Texts, classes and frames come before what names them.  Texts are not shared: files are small
 * beside what they count.
 */
#include <stdlib.h>
#include <string.h>

#include "recorder/growing.h"
#include "recorder/samples.h"

enum tag {
    STRING = 0x01,
    LOAD_CLASS = 0x02,
    STACK_FRAME = 0x04,
    STACK_TRACE = 0x05,
    START_THREAD = 0x0a,
    END_THREAD = 0x0b,
    CPU_SAMPLES = 0x0d,
    CONTROL_SETTINGS = 0x0e,
};

#define CPU_SAMPLING 2u
#define NATIVE_LINE ((uint32_t)-3)
#define UNKNOWN_LINE ((uint32_t)-1)

struct output {
    struct tv_byte_buffer bytes;
    uint32_t strings; /* ids given so far; 0 stands for none */
};

static void put_record(struct output *out, enum tag tag, uint32_t length)
{
    tv_byte_buffer_put_u8(&out->bytes, tag);
    tv_byte_buffer_put_u32(&out->bytes, 0);
    tv_byte_buffer_put_u32(&out->bytes, length);
}

static void put_numbers(struct output *out, enum tag tag, const uint32_t *numbers, uint32_t count)
{
    put_record(out, tag, count * 4);
    for (uint32_t i = 0; i < count; i++)
        tv_byte_buffer_put_u32(&out->bytes, numbers[i]);
}

static uint32_t put_string(struct output *out, const char *text)
{
    if (text == NULL)
        return 0;
    size_t length = strlen(text);
    put_record(out, STRING, (uint32_t)length + 4);
    tv_byte_buffer_put_u32(&out->bytes, ++out->strings);
    tv_byte_buffer_put(&out->bytes, text, length);
    return out->strings;
}

static uint32_t saturate(uint64_t number)
{
    return number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
}

static void put_thread_event(struct output *out, const struct tv_samples *samples,
                             const struct tv_sample_event *event)
{
    const struct tv_sample_thread *threads = samples->threads.at;
    uint32_t id = TV_SAMPLES_FIRST_THREAD + event->thread;
    if (event->is_end) {
        put_numbers(out, END_THREAD, &id, 1);
        return;
    }
    uint32_t name = put_string(out, threads[event->thread].name);
    uint32_t group = put_string(out, threads[event->thread].group);
    uint32_t numbers[] = {id, event->thread + 1, 0, name, group, 0};
    put_numbers(out, START_THREAD, numbers, 6);
}

/* A class of its own for each place: readers go by names. */
static void put_element(struct output *out, const struct tv_sample_element *element,
                        uint32_t number)
{
    uint32_t line = element->line == TV_SAMPLES_NATIVE_LINE ? NATIVE_LINE
                    : element->line < 0                     ? UNKNOWN_LINE
                                                            : (uint32_t)element->line;
    uint32_t class_name = put_string(out, element->class_name);
    uint32_t class[] = {number, number, 0, class_name};
    put_numbers(out, LOAD_CLASS, class, 4);
    uint32_t name = put_string(out, element->name);
    uint32_t file = put_string(out, element->file);
    uint32_t frame[] = {number, name, 0, file, number, line};
    put_numbers(out, STACK_FRAME, frame, 6);
}

static void put_trace(struct output *out, const struct tv_samples *samples, uint32_t index)
{
    const struct tv_sample_trace *trace =
        (const struct tv_sample_trace *)samples->traces.at + index;
    const uint32_t *stack = (const uint32_t *)samples->stacks.at + trace->start;
    put_record(out, STACK_TRACE, (3 + trace->depth) * 4);
    tv_byte_buffer_put_u32(&out->bytes, TV_SAMPLES_FIRST_TRACE + index);
    tv_byte_buffer_put_u32(&out->bytes, TV_SAMPLES_FIRST_THREAD + trace->thread);
    tv_byte_buffer_put_u32(&out->bytes, trace->depth);
    for (uint32_t i = 0; i < trace->depth; i++)
        tv_byte_buffer_put_u32(&out->bytes, stack[i]);
}

static void put_counts(struct output *out, const struct tv_samples *samples, const uint32_t *order)
{
    const struct tv_sample_trace *traces = samples->traces.at;
    uint32_t count = samples->traces.count;
    if (count == 0)
        return;
    put_record(out, CPU_SAMPLES, (2 + 2 * count) * 4);
    tv_byte_buffer_put_u32(&out->bytes, saturate(samples->total));
    tv_byte_buffer_put_u32(&out->bytes, count);
    for (uint32_t i = 0; i < count; i++) {
        tv_byte_buffer_put_u32(&out->bytes, saturate(traces[order[i]].count));
        tv_byte_buffer_put_u32(&out->bytes, TV_SAMPLES_FIRST_TRACE + order[i]);
    }
}

static void put_all(struct output *out, const struct tv_samples *samples, const uint32_t *order,
                    uint32_t depth, uint64_t now_ms)
{
    static const char magic[] = "JAVA PROFILE 1.0.2";
    const struct tv_sample_event *events = samples->events.at;
    const struct tv_sample_element *elements = samples->elements.at;
    tv_byte_buffer_put(&out->bytes, magic, sizeof magic);
    tv_byte_buffer_put_u32(&out->bytes, 4);
    tv_byte_buffer_put_u32(&out->bytes, (uint32_t)(now_ms >> 32));
    tv_byte_buffer_put_u32(&out->bytes, (uint32_t)now_ms);
    put_record(out, CONTROL_SETTINGS, 6);
    tv_byte_buffer_put_u32(&out->bytes, CPU_SAMPLING);
    tv_byte_buffer_put_u16(&out->bytes, depth);
    for (uint32_t i = 0; i < samples->events.count; i++)
        put_thread_event(out, samples, &events[i]);
    for (uint32_t i = 0; i < samples->elements.count; i++)
        put_element(out, &elements[i], i + 1);
    for (uint32_t i = 0; i < samples->traces.count; i++)
        put_trace(out, samples, order[i]);
    put_counts(out, samples, order);
}

bool tv_hprof_binary_write(const struct tv_samples *samples, uint32_t depth, uint64_t now_ms,
                           FILE *to)
{
    struct output out = {0};
    uint32_t *order = tv_samples_rank_traces(samples);
    bool fine = order != NULL;
    if (fine) {
        put_all(&out, samples, order, depth, now_ms);
        fine = !out.bytes.failed &&
               fwrite(out.bytes.data, 1, out.bytes.length, to) == out.bytes.length &&
               fflush(to) == 0;
    }
    tv_byte_buffer_release(&out.bytes);
    free(order);
    return fine;
}
