/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instants: those of a range, the many of one pixel together, and all about one.
 */
#include "base/bytes.h"
#include "view/pixels.h"
#include "view/state.h"

/* Threads, then processes, then tracks, then the trace. */
static uint32_t owner_of(const struct tv_trace *trace, size_t number)
{
    const struct tv_instant *instant = &trace->tables.instants.rows[number];
    uint32_t threads = trace->head->thread_count, processes = trace->head->process_count;
    if (instant->scope == TV_SCOPE_THREAD && instant->of < threads)
        return instant->of;
    if (instant->scope == TV_SCOPE_PROCESS && instant->of < processes)
        return threads + instant->of;
    if (instant->scope == TV_SCOPE_TRACK)
        return threads + processes + instant->of;
    return threads + processes + trace->track_count;
}

static tv_ns time_of(const struct tv_trace *trace, size_t number)
{
    const struct tv_instant *instant = &trace->tables.instants.rows[number];
    return tv_trace_time(trace, instant->input, instant->time);
}

/* [instant, time, frame, scope, of, count, colour] */
static void write_row(struct tv_out *out, const struct tv_trace *trace,
                      const struct tv_pixel_row *row)
{
    const struct tv_instant *instant = &trace->tables.instants.rows[row->number];
    tv_out_format(out, "[%u,", row->number);
    tv_out_i64(out, row->time);
    tv_out_format(out, ",%u,%u,", instant->frame, instant->scope);
    tv_out_i64(out, instant->of == TV_NONE ? -1 : (int64_t)instant->of);
    tv_out_format(out, ",%u,%u]", row->count, instant->colour);
}

enum tv_status tv_view_instants(const struct tv_view *view, const struct tv_parameters *parameters,
                                struct tv_out *out, struct tv_error *err)
{
    const struct tv_trace_info *head = view->trace->head;
    struct tv_moments instants = {
        .name = "instants",
        .count = view->trace->tables.instants.count,
        .owners = (size_t)head->thread_count + head->process_count + view->trace->track_count + 1,
        .owner = owner_of,
        .time = time_of,
        .write = write_row,
    };
    return tv_moments_write(view, parameters, &instants, out, err);
}

enum tv_status tv_view_instant(const struct tv_view *view, const struct tv_parameters *parameters,
                               struct tv_out *out, struct tv_error *err)
{
    const struct tv_trace *trace = view->trace;
    int64_t number;
    enum tv_status status = tv_parameter_required(
        parameters, "instant",
        (struct tv_parameter_bounds){0, (int64_t)trace->tables.instants.count - 1}, &number, err);
    if (status != TV_OK)
        return status;
    const struct tv_instant *instant = &trace->tables.instants.rows[number];
    struct tv_view_event event = {instant->input, instant->frame, instant->offset, TV_NO_OFFSET};
    tv_out_text(out, "{\"instant\":");
    tv_out_i64(out, number);
    tv_out_text(out, ",\"time_ns\":");
    tv_out_i64(out, time_of(trace, (size_t)number));
    tv_out_format(out, ",\"frame\":%u,\"scope\":%u,\"of\":", instant->frame, instant->scope);
    tv_out_i64(out, instant->of == TV_NONE ? -1 : (int64_t)instant->of);
    if (instant->colour > 0)
        tv_out_format(out, ",\"colour\":%u", instant->colour);
    tv_view_write_event(out, trace, &event);
    tv_out_char(out, '}');
    return TV_OK;
}
