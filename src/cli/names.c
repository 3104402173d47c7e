/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/names.h"

#include "base/arena.h"

static void naming_sink_name_frame(struct tv_head *head, struct tv_frame *frame,
                       const struct tv_mapping *mapping, struct tv_arena *arena)
{
    struct tv_mapped_method method = {
        .class_name = tv_head_text(head, frame->class_name),
        .name = tv_head_text(head, frame->name),
        .signature = tv_head_text(head, frame->signature),
        .file = tv_head_text(head, frame->file),
        .line = frame->line,
    };
    struct tv_mapped_method original;
    if (!tv_mapping_find(mapping, &method, arena, &original))
        return;
    frame->class_name = tv_head_string(head, original.class_name);
    frame->name = tv_head_string(head, original.name);
    frame->signature = tv_head_string(head, original.signature);
    frame->file = tv_head_string(head, original.file);
}

static struct tv_naming_sink *naming_sink_of(struct tv_sink *sink)
{
    return (struct tv_naming_sink *)sink;
}

/* The head is complete here, or a reader that finds more frames calls again. */
static void naming_sink_begin(struct tv_sink *sink, struct tv_head *head, uint32_t input, unsigned parts)
{
    struct tv_naming_sink *naming = naming_sink_of(sink);
    struct tv_arena arena;
    tv_arena_init(&arena);
    for (; naming->named < head->frame_count; naming->named++)
        naming_sink_name_frame(head, &head->frames[naming->named], naming->mapping, &arena);
    tv_arena_release(&arena);
    naming->inner->ops->begin(naming->inner, head, input, parts);
}

static void naming_sink_take(struct tv_sink *sink, unsigned pass, unsigned part, const struct tv_batch *batch)
{
    struct tv_sink *inner = naming_sink_of(sink)->inner;
    inner->ops->take(inner, pass, part, batch);
}

static enum tv_splice naming_sink_splice(struct tv_sink *sink, unsigned pass)
{
    struct tv_sink *inner = naming_sink_of(sink)->inner;
    return inner->ops->splice(inner, pass);
}

static void naming_sink_end(struct tv_sink *sink)
{
    struct tv_sink *inner = naming_sink_of(sink)->inner;
    inner->ops->end(inner);
}

void tv_naming_sink_init(struct tv_naming_sink *naming, struct tv_sink *inner,
                         const struct tv_mapping *mapping)
{
    *naming = (struct tv_naming_sink){
        .ops = {.passes = inner->ops->passes,
                .writes = inner->ops->writes,
                .begin = naming_sink_begin,
                .take = naming_sink_take,
                .splice = naming_sink_splice,
                .end = naming_sink_end},
        .inner = inner,
        .mapping = mapping,
    };
    naming->sink.ops = &naming->ops;
}
