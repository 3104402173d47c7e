/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instants: those of a range, the many of one pixel together, and all about one.
 */
#include "base/bytes.h"
#include "base/memory.h"
#include "view/state.h"

#define PIXEL_LIMIT 8192
#define ROW_LIMIT 20000

/* Whose instants have been written, and up to which pixel: one place for each thread, each
 * process, and the trace. */
struct marks {
    const struct tv_trace *trace;
    struct tv_view_window window;
    struct row {
        uint32_t instant; /* the first of its pixel */
        uint32_t count;
    } * rows;
    uint32_t count;
    uint64_t left_out;
    uint32_t *open; /* [owners] index of the last row of each, plus 1 */
};

/* Threads, then processes, then the trace. */
static size_t owner_of(const struct tv_trace *trace, const struct tv_instant *instant)
{
    size_t threads = trace->head->thread_count, processes = trace->head->process_count;
    if (instant->scope == TV_SCOPE_THREAD && instant->of < threads)
        return instant->of;
    if (instant->scope == TV_SCOPE_PROCESS && instant->of < processes)
        return threads + instant->of;
    return threads + processes;
}

static int64_t pixel_at(const struct marks *marks, tv_ns time)
{
    const struct tv_view_window *window = &marks->window;
    return (int64_t)((double)(time - window->from) * (double)window->pixels /
                     (double)(window->to - window->from));
}

static tv_ns time_of(const struct tv_trace *trace, const struct tv_instant *instant)
{
    return tv_trace_time(trace, instant->input, instant->time);
}

static void take(struct marks *marks, uint32_t number)
{
    const struct tv_instant *instant = &marks->trace->tables.instants.rows[number];
    tv_ns time = time_of(marks->trace, instant);
    uint32_t *open = &marks->open[owner_of(marks->trace, instant)];
    if (time < marks->window.from || time >= marks->window.to)
        return;
    if (*open > 0) {
        struct row *last = &marks->rows[*open - 1];
        tv_ns before = time_of(marks->trace, &marks->trace->tables.instants.rows[last->instant]);
        if (pixel_at(marks, before) == pixel_at(marks, time)) {
            last->count++;
            return;
        }
    }
    if (marks->count == ROW_LIMIT) {
        marks->left_out++;
        return;
    }
    marks->rows[marks->count++] = (struct row){number, 1};
    *open = marks->count;
}

/* [instant, time, frame, scope, of, count, colour] */
static void write_row(struct tv_out *out, const struct tv_trace *trace, const struct row *row)
{
    const struct tv_instant *instant = &trace->tables.instants.rows[row->instant];
    tv_out_format(out, "[%u,", row->instant);
    tv_out_i64(out, time_of(trace, instant));
    tv_out_format(out, ",%u,%u,", instant->frame, instant->scope);
    tv_out_i64(out, instant->of == TV_NONE ? -1 : (int64_t)instant->of);
    tv_out_format(out, ",%u,%u]", row->count, instant->colour);
}

enum tv_status tv_view_instants(const struct tv_view *view, const struct tv_parameters *parameters,
                                struct tv_out *out, struct tv_error *err)
{
    const struct tv_trace *trace = view->trace;
    struct marks marks = {.trace = trace};
    enum tv_status status = tv_parameter_window(parameters, trace, PIXEL_LIMIT, &marks.window, err);
    if (status != TV_OK)
        return status;
    size_t owners = (size_t)trace->head->thread_count + trace->head->process_count + 1;
    marks.open = tv_alloc(owners, sizeof *marks.open);
    marks.rows = tv_alloc(ROW_LIMIT, sizeof *marks.rows);
    for (size_t i = 0; i < trace->tables.instants.count; i++)
        take(&marks, (uint32_t)i);
    tv_out_text(out, "{\"instants\":[");
    for (uint32_t i = 0; i < marks.count; i++) {
        tv_out_text(out, i > 0 ? ",\n" : "");
        write_row(out, trace, &marks.rows[i]);
    }
    tv_out_text(out, "],\"left_out\":");
    tv_out_u64(out, marks.left_out);
    tv_out_char(out, '}');
    tv_free(marks.rows);
    tv_free(marks.open);
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
