/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/names.h"

#include "base/memory.h"

static void name_frame(struct tv_trace_info *head, struct tv_frame *frame,
                       const struct tv_mapping *mapping, struct tv_arena *arena)
{
    struct tv_mapped_method method = {
        .class_name = tv_trace_info_text(head, frame->class_name),
        .name = tv_trace_info_text(head, frame->name),
        .signature = tv_trace_info_text(head, frame->signature),
        .file = tv_trace_info_text(head, frame->file),
        .line = frame->line,
    };
    struct tv_mapped_method original;
    if (!tv_mapping_find(mapping, &method, arena, &original))
        return;
    frame->class_name = tv_trace_info_string(head, original.class_name);
    frame->name = tv_trace_info_string(head, original.name);
    frame->signature = tv_trace_info_string(head, original.signature);
    frame->file = tv_trace_info_string(head, original.file);
}

static struct tv_naming_sink *naming_of(struct tv_sink *sink)
{
    return (struct tv_naming_sink *)sink;
}

/* The head is complete here, or a reader that finds more frames calls again. */
static void begin(struct tv_sink *sink, struct tv_trace_info *head, uint32_t input, unsigned parts)
{
    struct tv_naming_sink *naming = naming_of(sink);
    struct tv_arena arena;
    tv_arena_init(&arena);
    for (; naming->named < head->frame_count; naming->named++)
        name_frame(head, &head->frames[naming->named], naming->mapping, &arena);
    tv_arena_release(&arena);
    naming->inner->ops->begin(naming->inner, head, input, parts);
}

static void take(struct tv_sink *sink, unsigned pass, unsigned part, const struct tv_batch *batch)
{
    struct tv_sink *inner = naming_of(sink)->inner;
    inner->ops->take(inner, pass, part, batch);
}

static enum tv_stitch_result splice(struct tv_sink *sink, unsigned pass)
{
    struct tv_sink *inner = naming_of(sink)->inner;
    return inner->ops->splice(inner, pass);
}

static void end(struct tv_sink *sink)
{
    struct tv_sink *inner = naming_of(sink)->inner;
    inner->ops->end(inner);
}

void tv_naming_sink_init(struct tv_naming_sink *naming, struct tv_sink *inner,
                         const struct tv_mapping *mapping)
{
    *naming = (struct tv_naming_sink){
        .ops = {.passes = inner->ops->passes,
                .writes = inner->ops->writes,
                .begin = begin,
                .take = take,
                .splice = splice,
                .end = end},
        .inner = inner,
        .mapping = mapping,
    };
    naming->sink.ops = &naming->ops;
}
