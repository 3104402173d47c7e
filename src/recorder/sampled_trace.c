/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampled_trace.c - see sampled_trace.h.
 *
 * A tick compares the new stack of a thread with the last one, from the outside in:
 *
 *     last:  main run parse read          left: read, parse (in this order)
 *     now:   main run write               entered: write
 *                 ^ same
 */
#include "recorder/sampled_trace.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/output_file.h"

#define SAMPLED_THREADS_MAX 65535u

struct sampled_trace_thread {
    char *name;
    uint32_t *stack; /* methods, outermost first */
    uint32_t depth, room;
    uint64_t look; /* the last tick that saw it */
};

struct tv_sampled_trace {
    char *path, *part;
    const char *vm;
    struct tv_output_file file;
    bool written;
    bool overflow;
    tv_address_namer namer;
    uint64_t start_us, interval_us;
    uint64_t looks;
    uint64_t us; /* time of this tick */
    struct tv_method_table methods;
    struct tv_address_table addresses;
    struct sampled_trace_thread *threads;
    uint32_t thread_count, thread_room;
    uint8_t *records;
    uint64_t count, room, limit; /* in records */
    uint32_t *stack;             /* the stack that is being compared */
    uint32_t stack_room;
};

/* Make room for `wanted` elements of `size` bytes; false: no memory, and nothing has changed. */
static bool sampled_trace_grow(void *things, uint32_t *room, uint32_t wanted, size_t size)
{
    void *old;
    memcpy(&old, things, sizeof old);
    if (wanted <= *room)
        return true;
    if (wanted > UINT32_MAX / 2 || (size_t)wanted * 2 > SIZE_MAX / size)
        return false;
    void *grown = realloc(old, (size_t)wanted * 2 * size);
    if (grown == NULL)
        return false;
    memcpy(things, &grown, sizeof grown);
    *room = wanted * 2;
    return true;
}

static int sampled_trace_open_file(struct tv_sampled_trace *trace, const char *path)
{
    size_t length = strlen(path);
    trace->path = strdup(path);
    trace->part = malloc(length + sizeof ".part");
    if (trace->path == NULL || trace->part == NULL)
        return -ENOMEM;
    snprintf(trace->part, length + sizeof ".part", "%s.part", path);
    int failed = tv_output_file_check_path(path);
    return failed != 0 ? failed : tv_output_file_open(&trace->file, trace->part, 0644);
}

int tv_sampled_trace_new(struct tv_sampled_trace **trace,
                         const struct tv_sampled_trace_options *options)
{
    *trace = NULL;
    if (options->path == NULL || options->path[0] == '\0' ||
        options->buffer_bytes < TV_RECORDING_BUFFER_MIN ||
        options->buffer_bytes > TV_RECORDING_BUFFER_LIMIT)
        return -EINVAL;
    struct tv_sampled_trace *made = calloc(1, sizeof *made);
    if (made == NULL)
        return -ENOMEM;
    made->file.descriptor = -1;
    made->vm = options->vm;
    made->namer = options->namer;
    made->start_us = options->start_us;
    made->interval_us = options->interval_us;
    made->limit = (options->buffer_bytes - TV_MT_HEADER_SIZE) / TV_MT_RECORD_SIZE_V2;
    int error = sampled_trace_open_file(made, options->path);
    if (error == 0)
        *trace = made;
    else
        tv_sampled_trace_free(made);
    return error;
}

void tv_sampled_trace_name_thread(struct tv_sampled_trace *trace, uint32_t thread, const char *name)
{
    assert(thread > 0 && thread <= trace->thread_count);
    char *copy = strdup(name);
    if (copy == NULL)
        return;
    for (char *at = copy; *at != '\0'; at++)
        if ((unsigned char)*at < ' ')
            *at = ' ';
    free(trace->threads[thread - 1].name);
    trace->threads[thread - 1].name = copy;
}

uint32_t tv_sampled_trace_add_thread(struct tv_sampled_trace *trace, const char *name)
{
    if (trace->thread_count == SAMPLED_THREADS_MAX ||
        !sampled_trace_grow(&trace->threads, &trace->thread_room, trace->thread_count + 1,
                            sizeof trace->threads[0]))
        return 0;
    trace->threads[trace->thread_count++] = (struct sampled_trace_thread){0};
    tv_sampled_trace_name_thread(trace, trace->thread_count, name);
    return trace->thread_count;
}

void tv_sampled_trace_begin_tick(struct tv_sampled_trace *trace, uint64_t us)
{
    trace->looks++;
    trace->us = us;
}

/* Make room for more records: the change of a stack is recorded as a whole or not at all. */
static bool sampled_trace_reserve(struct tv_sampled_trace *trace, uint64_t more)
{
    if (trace->overflow || trace->us > UINT32_MAX || more > trace->limit - trace->count)
        return false;
    if (trace->count + more <= trace->room)
        return true;
    uint64_t room = (trace->count + more) * 2;
    uint8_t *grown = realloc(trace->records, (size_t)room * TV_MT_RECORD_SIZE_V2);
    if (grown == NULL)
        return false;
    trace->records = grown;
    trace->room = room;
    return true;
}

static void sampled_trace_put_record(struct tv_sampled_trace *trace, uint32_t thread,
                                     uint32_t method, enum tv_mt_action action)
{
    assert(trace->count < trace->room && thread > 0);
    uint8_t *at = trace->records + trace->count++ * TV_MT_RECORD_SIZE_V2;
    (void)tv_mt_put_record_v2(at, (uint16_t)thread, tv_mt_word(method << 2, action),
                              (uint32_t)trace->us);
}

/* Record the change from the thread's last stack to trace->stack, which is outermost first. */
static void sampled_trace_change_stack(struct tv_sampled_trace *trace, uint32_t number,
                                       uint32_t depth)
{
    assert(number > 0 && number <= trace->thread_count);
    struct sampled_trace_thread *thread = &trace->threads[number - 1];
    uint32_t same = 0;
    while (same < depth && same < thread->depth && thread->stack[same] == trace->stack[same])
        same++;
    if (!sampled_trace_reserve(trace, (uint64_t)(thread->depth - same) + (depth - same))) {
        trace->overflow = true;
        return;
    }
    while (thread->depth > same)
        sampled_trace_put_record(trace, number, thread->stack[--thread->depth], TV_MT_EXIT);
    for (; thread->depth < depth; thread->depth++) {
        thread->stack[thread->depth] = trace->stack[thread->depth];
        sampled_trace_put_record(trace, number, thread->stack[thread->depth], TV_MT_ENTER);
    }
}

void tv_sampled_trace_set_stack(struct tv_sampled_trace *trace, uint32_t number,
                                const uint64_t *frames, uint32_t depth)
{
    assert(number > 0 && number <= trace->thread_count);
    struct sampled_trace_thread *thread = &trace->threads[number - 1];
    thread->look = trace->looks;
    if (!sampled_trace_grow(&trace->stack, &trace->stack_room, depth, sizeof trace->stack[0]) ||
        !sampled_trace_grow(&thread->stack, &thread->room, depth, sizeof thread->stack[0]))
        return;
    for (uint32_t i = 0; i < depth; i++) {
        trace->stack[i] = tv_address_table_find_or_add(&trace->addresses, &trace->methods,
                                                       trace->namer, frames[depth - 1 - i]);
        if (trace->stack[i] == 0)
            return;
    }
    sampled_trace_change_stack(trace, number, depth);
}

void tv_sampled_trace_keep_stack(struct tv_sampled_trace *trace, uint32_t number)
{
    assert(number > 0 && number <= trace->thread_count);
    trace->threads[number - 1].look = trace->looks;
}

bool tv_sampled_trace_end_tick(struct tv_sampled_trace *trace)
{
    for (uint32_t i = 0; i < trace->thread_count && !trace->overflow; i++)
        if (trace->threads[i].look != trace->looks && trace->threads[i].depth > 0)
            sampled_trace_change_stack(trace, i + 1, 0);
    return !trace->overflow;
}

static void sampled_trace_put_keys(const struct tv_sampled_trace *trace,
                                   struct tv_output_buffer *out, uint64_t elapsed_us)
{
    tv_output_buffer_print(out, TV_MT_SECTION_VERSION "\n%d\n", (int)TV_MT_V2);
    tv_output_buffer_print(out, TV_MT_KEY_OVERFLOW "=%s\n", trace->overflow ? "true" : "false");
    tv_output_buffer_print(out, TV_MT_KEY_CLOCK "=" TV_MT_CLOCK_WALL "\n");
    tv_output_buffer_print(out, TV_MT_KEY_ELAPSED_US "=%llu\n", (unsigned long long)elapsed_us);
    tv_output_buffer_print(out, TV_MT_KEY_RECORDS "=%llu\n", (unsigned long long)trace->count);
    /* Sampling does not slow down the single call, so there is no overhead to subtract from
     * each. */
    tv_output_buffer_print(out, TV_MT_KEY_OVERHEAD_NS "=0\n");
    tv_output_buffer_print(out, TV_MT_KEY_VM "=%s\n", trace->vm);
    tv_output_buffer_print(out, TV_MT_KEY_PID "=%ld\n", (long)getpid());
    tv_output_buffer_print(out, TV_MT_KEY_SAMPLING_US "=%llu\n",
                           (unsigned long long)trace->interval_us);
}

/* Write the threads and methods of the head. A method's number has two low bits free for the action
 * of a record, hence the shift. */
static void sampled_trace_put_names(const struct tv_sampled_trace *trace,
                                    struct tv_output_buffer *out)
{
    tv_output_buffer_print(out, TV_MT_SECTION_THREADS "\n");
    for (uint32_t i = 0; i < trace->thread_count; i++) {
        const char *name = trace->threads[i].name == NULL ? "" : trace->threads[i].name;
        tv_output_buffer_print(out, "%u\t%.1000s\n", i + 1, name);
    }
    tv_output_buffer_print(out, TV_MT_SECTION_METHODS "\n");
    for (uint32_t i = 1; i <= trace->methods.count; i++) {
        size_t length;
        const char *line = tv_method_table_line(&trace->methods, i, &length);
        tv_output_buffer_print(out, "%#x\t", i << 2);
        tv_output_buffer_put(out, line, length);
        tv_output_buffer_put(out, "\n", 1);
    }
    tv_output_buffer_print(out, TV_MT_SECTION_END "\n");
}

int tv_sampled_trace_write(struct tv_sampled_trace *trace, uint64_t elapsed_us)
{
    struct tv_output_buffer *out = tv_output_buffer_new(&trace->file);
    struct tv_mt_header header = {
        .version = TV_MT_V2, .data_offset = TV_MT_HEADER_SIZE, .start = trace->start_us};
    if (out == NULL)
        return -ENOMEM;
    sampled_trace_put_keys(trace, out, elapsed_us);
    sampled_trace_put_names(trace, out);
    tv_mt_put_header(tv_output_buffer_reserve(out, TV_MT_HEADER_SIZE), &header);
    out->used += TV_MT_HEADER_SIZE;
    tv_output_buffer_put(out, trace->records, (size_t)trace->count * TV_MT_RECORD_SIZE_V2);
    int error = tv_output_buffer_flush(out);
    tv_output_buffer_free(out);
    if (error == 0)
        error = tv_output_file_publish(&trace->file, trace->part, trace->path);
    trace->written = error == 0;
    return error;
}

void tv_sampled_trace_free(struct tv_sampled_trace *trace)
{
    if (trace->file.descriptor >= 0 && !trace->written)
        unlink(trace->part);
    tv_output_file_close(&trace->file);
    for (uint32_t i = 0; i < trace->thread_count; i++) {
        free(trace->threads[i].name);
        free(trace->threads[i].stack);
    }
    tv_method_table_release(&trace->methods);
    tv_address_table_release(&trace->addresses);
    free(trace->threads);
    free(trace->records);
    free(trace->stack);
    free(trace->path);
    free(trace->part);
    free(trace);
}
