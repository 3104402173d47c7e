/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instants: those of a range, the many of one pixel together, and all about one.
 */
#include "base/bytes.h"
#include "view/pixels.h"
#include "view/state.h"

/* Threads, then processes, then the trace. */
static uint32_t owner_of(const struct tv_trace *trace, const struct tv_instant *instant)
{
    uint32_t threads = trace->head->thread_count, processes = trace->head->process_count;
    if (instant->scope == TV_SCOPE_THREAD && instant->of < threads)
        return instant->of;
    if (instant->scope == TV_SCOPE_PROCESS && instant->of < processes)
        return threads + instant->of;
    return threads + processes;
}

static tv_ns time_of(const struct tv_trace *trace, const struct tv_instant *instant)
{
    return tv_trace_time(trace, instant->input, instant->time);
}

/* [instant, time, frame, scope, of, count, colour] */
static void write_row(struct tv_out *out, const struct tv_trace *trace,
                      const struct tv_pixel_row *row)
{
    const struct tv_instant *instant = &trace->tables.instants.rows[row->number];
    tv_out_format(out, "[%u,", row->number);
    tv_out_i64(out, time_of(trace, instant));
    tv_out_format(out, ",%u,%u,", instant->frame, instant->scope);
    tv_out_i64(out, instant->of == TV_NONE ? -1 : (int64_t)instant->of);
    tv_out_format(out, ",%u,%u]", row->count, instant->colour);
}

enum tv_status tv_view_instants(const struct tv_view *view, const struct tv_parameters *parameters,
                                struct tv_out *out, struct tv_error *err)
{
    const struct tv_trace *trace = view->trace;
    struct tv_view_window window;
    struct tv_pixels pixels;
    enum tv_status status = tv_parameter_window(parameters, trace, TV_PIXEL_LIMIT, &window, err);
    if (status != TV_OK)
        return status;
    /* a place for each thread, each process, and the trace */
    tv_pixels_init(&pixels, &window,
                   (size_t)trace->head->thread_count + trace->head->process_count + 1);
    for (size_t i = 0; i < trace->tables.instants.count; i++) {
        const struct tv_instant *instant = &trace->tables.instants.rows[i];
        tv_ns time = time_of(trace, instant);
        if (time >= window.from && time < window.to)
            tv_pixels_take(&pixels, owner_of(trace, instant), (uint32_t)i, time, time);
    }
    tv_out_text(out, "{\"instants\":[");
    for (uint32_t i = 0; i < pixels.count; i++) {
        tv_out_text(out, i > 0 ? ",\n" : "");
        write_row(out, trace, &pixels.rows[i]);
    }
    tv_out_text(out, "],\"left_out\":");
    tv_out_u64(out, pixels.left_out);
    tv_out_char(out, '}');
    tv_pixels_release(&pixels);
    return TV_OK;
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
    tv_out_i64(out, time_of(trace, instant));
    tv_out_format(out, ",\"frame\":%u,\"scope\":%u,\"of\":", instant->frame, instant->scope);
    tv_out_i64(out, instant->of == TV_NONE ? -1 : (int64_t)instant->of);
    tv_view_write_event(out, trace, &event);
    tv_out_char(out, '}');
    return TV_OK;
}
