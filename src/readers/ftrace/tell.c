/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/ftrace/tell.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"

void tv_ft_tell_init(struct tv_ft_tell *tell, struct tv_ft_merge *merge)
{
    *tell = (struct tv_ft_tell){merge, tv_gather_new()};
}

static void add_span(struct tv_ft_tell *tell, const struct tv_ft_told *told, int64_t length,
                     unsigned flags)
{
    struct tv_span span = {.time = told->start,
                           .length = length,
                           .offset = told->offset & TV_OFFSET_MASK,
                           .flags = (flags | TV_SPAN_KERNEL) & 0xff,
                           .frame = told->frame};
    tv_gather_span(tell->gather, told->thread, &span, NULL);
}

void tv_ft_tell_slice(struct tv_ft_tell *tell, const struct tv_ft_told *told)
{
    add_span(tell, told, told->length, TV_SPAN_WHOLE);
}

void tv_ft_tell_open(struct tv_ft_tell *tell, const struct tv_ft_told *told)
{
    add_span(tell, told, TV_NO_TIME, TV_SPAN_BEGIN);
}

void tv_ft_tell_instant(struct tv_ft_tell *tell, const struct tv_ft_told *told)
{
    *tv_table_add(&tell->merge->trace->tables.instants) = (struct tv_instant){
        .time = told->start,
        .offset = told->offset,
        .frame = told->frame,
        .of = told->thread,
        .input = tell->merge->input,
        .scope = TV_SCOPE_THREAD,
    };
}

static uint32_t *count_up(uint32_t count)
{
    uint32_t *numbers = tv_alloc(count, sizeof *numbers);
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = i;
    return numbers;
}

void tv_ft_tell_end(struct tv_ft_tell *tell)
{
    const struct tv_trace_info *head = tell->merge->trace->head;
    uint32_t *threads = count_up(head->thread_count), *frames = count_up(head->frame_count);
    tv_assembly_add_chunk(tell->merge->assembly, tell->gather, threads, frames);
    tv_free(threads);
    tv_free(frames);
    tell->gather = NULL;
}

uint32_t tv_ft_add_line(struct tv_ft_merge *merge, struct tv_bytes name)
{
    struct tv_trace_info *head = merge->trace->head;
    uint32_t text = tv_trace_info_string(head, name);
    struct tv_thread thread = {
        .key = text,
        .name = text,
        .process = tv_ft_process(merge, TV_FT_NO_ID),
        .input = merge->input,
        .listed = true,
        .line = true,
    };
    return tv_trace_info_add_thread(head, &thread);
}

uint32_t tv_ft_add_frame(struct tv_ft_merge *merge, struct tv_bytes name, const char *category)
{
    struct tv_trace_info *head = merge->trace->head;
    struct tv_frame frame = {.name = tv_trace_info_string(head, name),
                             .category = tv_trace_info_string(head, tv_bytes_of(category))};
    return tv_trace_info_add_frame(head, &frame);
}
