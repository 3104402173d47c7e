/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples: those of a range, and all about one.
 */
#include "base/memory.h"
#include "view/members.h"
#include "view/pixels.h"
#include "view/state.h"

/* Those without a thread stand behind all threads. */
static uint32_t owner_of(const struct tv_trace *trace, size_t number)
{
    uint32_t thread = trace->tables.samples.rows[number].thread;
    uint32_t count = trace->head->thread_count;
    return thread < count ? thread : count;
}

static tv_ns time_of(const struct tv_trace *trace, size_t number)
{
    const struct tv_sample *sample = &trace->tables.samples.rows[number];
    return tv_trace_time(trace, sample->input, sample->time);
}

/* The innermost of its stack; TV_NONE: it has none. */
static uint32_t leaf_of(const struct tv_trace *trace, const struct tv_sample *sample)
{
    return sample->path == TV_ROOT_PATH ? TV_NONE : trace->paths.nodes[sample->path].frame;
}

/* [sample, time, frame, thread, count] */
static void write_row(struct tv_out *out, const struct tv_trace *trace,
                      const struct tv_pixel_row *row)
{
    const struct tv_sample *sample = &trace->tables.samples.rows[row->number];
    tv_member_number(out, "[", row->number);
    tv_member_number(out, ",", row->time);
    tv_member_index(out, ",", leaf_of(trace, sample));
    tv_member_index(out, ",", sample->thread);
    tv_member_number(out, ",", row->count);
    tv_out_char(out, ']');
}

enum tv_status tv_view_samples(const struct tv_view *view, const struct tv_parameters *parameters,
                               struct tv_out *out, struct tv_error *err)
{
    struct tv_moments samples = {
        .name = "samples",
        .count = view->trace->tables.samples.count,
        .owners = (size_t)view->trace->head->thread_count + 1,
        .owner = owner_of,
        .time = time_of,
        .write = write_row,
    };
    return tv_moments_write(view, parameters, &samples, out, err);
}

/* The frames of a stack, the outermost first. */
static void write_stack(struct tv_out *out, const struct tv_trace *trace, uint32_t path)
{
    size_t depth;
    uint32_t *frames = tv_path_frames(trace, path, &depth);
    tv_out_text(out, ",\"stack\":[");
    for (size_t i = 0; i < depth; i++)
        tv_member_number(out, i > 0 ? "," : "", frames[i]);
    tv_out_char(out, ']');
    tv_free(frames);
}

/* The nearest sample of the same thread in a direction; TV_NONE: there is none. */
static uint32_t neighbour(const struct tv_trace *trace, size_t number, bool later)
{
    const struct tv_sample *rows = trace->tables.samples.rows;
    size_t count = trace->tables.samples.count;
    for (size_t i = later ? number + 1 : number - 1; i < count; i = later ? i + 1 : i - 1)
        if (rows[i].thread == rows[number].thread)
            return (uint32_t)i;
    return TV_NONE;
}

enum tv_status tv_view_sample(const struct tv_view *view, const struct tv_parameters *parameters,
                              struct tv_out *out, struct tv_error *err)
{
    const struct tv_trace *trace = view->trace;
    struct tv_parameter_bounds all = {0, (int64_t)trace->tables.samples.count - 1};
    int64_t number;
    enum tv_status status = tv_parameter_required(parameters, "sample", all, &number, err);
    if (status != TV_OK)
        return status;
    const struct tv_sample *sample = &trace->tables.samples.rows[number];
    tv_member_number(out, "{\"sample\":", number);
    tv_member_number(out, ",\"time_ns\":", time_of(trace, (size_t)number));
    tv_member_number(out, ",\"weight\":", sample->weight);
    tv_member_index(out, ",\"thread\":", sample->thread);
    tv_member_index(out, ",\"cpu\":", sample->cpu);
    tv_member_text(out, ",\"title\":", trace->head, sample->title);
    write_stack(out, trace, sample->path);
    tv_member_index(out, ",\"previous\":", neighbour(trace, (size_t)number, false));
    tv_member_index(out, ",\"next\":", neighbour(trace, (size_t)number, true));
    if (sample->offset != TV_NO_OFFSET)
        tv_member_number(out, ",\"offset\":", (int64_t)sample->offset);
    tv_out_char(out, '}');
    return TV_OK;
}
