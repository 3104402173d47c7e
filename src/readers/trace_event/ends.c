/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ends.c - where files ended that became one (rewrite.h): what nobody ends in one of them
 * lasts until there, not until the end of all.
 *
 * "convertedFrom" has an object for each of them, with its "end" and its "processes".  When the
 * files were made of several themselves, what is said first of a process is said by the inner one.
 */
#include "base/memory.h"
#include "readers/trace_event/events.h"

static void te_file_ends_add(struct tv_te_context *context, struct tv_bytes pid, int64_t end)
{
    uint32_t process = tv_te_threads_find_process(&context->threads, pid);
    if (process == TV_NONE)
        return;
    if (process >= context->end_count) {
        size_t count = context->trace->head->process_count;
        context->ends = tv_realloc(context->ends, count, sizeof *context->ends);
        while (context->end_count < count)
            context->ends[context->end_count++] = TV_NO_TIME;
    }
    if (context->ends[process] == TV_NO_TIME)
        context->ends[process] = end;
}

static void te_file_ends_read_one(struct tv_te_context *context, struct tv_bytes object)
{
    struct tv_bytes processes, pid;
    int64_t end;
    if (object.length == 0 || object.data[0] != '{' ||
        !tv_te_parse_time(tv_te_member(object, "end"), &end))
        return;
    processes = tv_te_member(object, "processes");
    if (processes.length == 0 || processes.data[0] != '[')
        return;
    /* Lines behind the last event made none. */
    if (!context->nothing && end > context->last)
        tv_te_times_widen(context, end);
    const uint8_t *at = processes.data + 1;
    while (tv_te_element_next(&at, processes.data + processes.length, &pid))
        te_file_ends_add(context, pid, end);
}

void tv_te_file_ends_read(struct tv_te_context *context, struct tv_bytes files)
{
    struct tv_bytes object;
    if (files.length == 0 || files.data[0] != '[')
        return;
    const uint8_t *at = files.data + 1;
    while (tv_te_element_next(&at, files.data + files.length, &object))
        te_file_ends_read_one(context, object);
}

tv_ns tv_te_process_end(const struct tv_te_context *context, uint32_t process, tv_ns start)
{
    tv_ns end = process < context->end_count ? context->ends[process] : TV_NO_TIME;
    return end != TV_NO_TIME && end >= start && end < context->last ? end : context->last;
}

void tv_te_silence_find(struct tv_te_context *context)
{
    const struct tv_head *head = context->trace->head;
    int64_t silence;
    if (!tv_silence_find(&context->times, &silence))
        return;
    int64_t *lasts = tv_alloc(head->process_count, sizeof *lasts);
    for (uint32_t i = 0; i < head->process_count; i++)
        lasts[i] = TV_NO_TIME;
    for (size_t i = 0; i < context->deferred_count; i++) {
        const struct tv_te_deferred *event = &context->deferred[i];
        if (event->time < silence && event->time > lasts[event->process])
            lasts[event->process] = event->time;
    }
    if (tv_assembly_lasts(context->assembly, silence, lasts))
        context->quiets = lasts;
    else
        tv_free(lasts);
}

tv_ns tv_te_thread_end(const struct tv_te_context *context, uint32_t thread, tv_ns start)
{
    const struct tv_head *head = context->trace->head;
    bool known = thread < head->thread_count;
    uint32_t process = known ? head->threads[thread].process : TV_NONE;
    tv_ns end = tv_te_process_end(context, process, start);
    if (!known || !context->quiets)
        return end;
    tv_ns quiet = context->quiets[process];
    return quiet >= start && quiet < end ? quiet : end;
}

int64_t *tv_te_thread_ends(const struct tv_te_context *context)
{
    const struct tv_head *head = context->trace->head;
    if (context->end_count == 0)
        return NULL;
    int64_t *ends = tv_alloc(head->thread_count, sizeof *ends);
    for (uint32_t i = 0; i < head->thread_count; i++)
        ends[i] = tv_te_process_end(context, head->threads[i].process, INT64_MIN);
    return ends;
}
