/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/side_input.h"

void tv_side_input_begin(struct tv_side_input *side, struct tv_source *source,
                         struct tv_builder *builder, const char *format)
{
    struct tv_trace_info *head = tv_builder_trace_info(builder);
    side->source = source;
    side->input = tv_trace_info_add_input(head, tv_source_name(source), format);
    side->assembly = tv_assembly_new(builder, side->input);
    side->trace = tv_assembly_trace(side->assembly);
    struct tv_input *input = &head->inputs[side->input];
    input->clocks = TV_CLOCK_WALL;
    input->eventless = true;
    input->bytes = tv_source_size(source);
}

void tv_side_input_end(struct tv_side_input *side)
{
    tv_assembly_end(side->assembly);
}

static enum tv_status pass(struct tv_progress *progress, uint64_t bytes, struct tv_error *err)
{
    if (!progress)
        return TV_OK;
    atomic_fetch_add_explicit(&progress->bytes, bytes, memory_order_relaxed);
    if (atomic_load_explicit(&progress->cancel, memory_order_relaxed))
        return tv_fail(err, TV_ERR_CANCELLED, TV_NO_OFFSET, "stopped on request");
    return TV_OK;
}

enum tv_status tv_side_input_lines(struct tv_side_input *side,
                                   const struct tv_read_options *options,
                                   void (*take)(void *context, const struct tv_text_line *line),
                                   void *context, struct tv_error *err)
{
    uint64_t size = tv_source_size(side->source);
    struct tv_text_lines lines;
    struct tv_text_line line;
    enum tv_status status;
    if (options->progress)
        atomic_fetch_add_explicit(&options->progress->total_bytes, size, memory_order_relaxed);
    tv_text_lines_init(&lines, side->source, 0, size);
    while ((status = tv_text_lines_next(&lines, &line, err)) == TV_OK && !line.none) {
        take(context, &line);
        status = pass(options->progress, lines.offset - line.offset, err);
        if (status != TV_OK)
            break;
    }
    tv_text_lines_release(&lines);
    return status;
}
