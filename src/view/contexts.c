/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contexts of a slice: those that its thread was in when it began, as Trace Viewer records them.
 */
#include "model/trace.h"
#include "view/members.h"
#include "view/state.h"

/* Of equal times what stands in the file later comes later. */
static bool began_in(const struct tv_context *context, tv_ns time, uint64_t offset)
{
    if (context->start == time)
        return offset == TV_NO_OFFSET || context->offset < offset;
    return context->start < time && time < context->end;
}

/* The first context of the thread; they are sorted by thread and start. */
static size_t first_of(const struct tv_tables *tables, uint32_t thread)
{
    size_t low = 0, count = tables->contexts.count;
    while (count > 0) {
        size_t half = count / 2;
        if (tables->contexts.rows[low + half].thread < thread) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

/* What the id of a context means at that time: the snapshot of an object; TV_NONE: of none. */
static uint32_t snapshot_of(const struct tv_trace *trace, const struct tv_context *context,
                            tv_ns time)
{
    char room[TV_PROCESS_ROOM];
    uint32_t process = trace->head->threads[context->thread].process;
    struct tv_object_reference reference = {
        .input = context->input,
        .pid = tv_view_process_name(trace->head, process, room),
        .id = tv_trace_info_text(trace->head, context->id),
        .time = time,
    };
    return tv_object_find_snapshot(trace, &reference);
}

/* [type, id, start, end, offset, snapshot] */
static void write_context(struct tv_out *out, const struct tv_trace *trace,
                          const struct tv_context *context, tv_ns time)
{
    tv_out_char(out, '[');
    tv_out_json(out, tv_trace_info_text(trace->head, context->type));
    tv_out_char(out, ',');
    tv_out_json(out, tv_trace_info_text(trace->head, context->id));
    tv_out_char(out, ',');
    tv_out_i64(out, tv_trace_time(trace, context->input, context->start));
    tv_out_char(out, ',');
    tv_out_i64(out, tv_trace_time(trace, context->input, context->end));
    tv_out_char(out, ',');
    tv_out_u64(out, context->offset);
    tv_member_index(out, ",", snapshot_of(trace, context, time));
    tv_out_char(out, ']');
}

void tv_view_write_contexts(struct tv_out *out, const struct tv_trace *trace, uint32_t row,
                            uint32_t index)
{
    const struct tv_tables *tables = &trace->tables;
    const struct tv_track *track = &trace->tracks[trace->rows[row].track];
    if (tables->contexts.count == 0 || track->kind == TV_TRACK_ASYNC || track->thread == TV_NONE)
        return;
    tv_ns time = tv_slice_start(trace, row, index);
    uint64_t offset = tv_slice_offset(trace, row, index);
    bool any = false;
    for (size_t i = first_of(tables, track->thread); i < tables->contexts.count; i++) {
        const struct tv_context *context = &tables->contexts.rows[i];
        tv_ns own = time - trace->offset[context->input];
        if (context->thread != track->thread || context->start > own)
            break;
        if (!began_in(context, own, offset))
            continue;
        tv_out_text(out, any ? ",\n" : ",\"contexts\":[");
        write_context(out, trace, context, own);
        any = true;
    }
    tv_out_text(out, any ? "]" : "");
}
