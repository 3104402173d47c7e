/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples: those of a range, all about one, and the flame graph of their stacks.
 */
#include "analysis/flame.h"
#include "analysis/sample_tree.h"
#include "base/memory.h"
#include "view/members.h"
#include "view/pictures.h"
#include "view/pixels.h"
#include "view/state.h"

static tv_ns time_of(const struct tv_trace *trace, const struct tv_sample *sample)
{
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
    const struct tv_trace *trace = view->trace;
    uint32_t threads = trace->head->thread_count;
    struct tv_view_window window;
    struct tv_pixels pixels;
    enum tv_status status = tv_parameter_window(parameters, trace, TV_PIXEL_LIMIT, &window, err);
    if (status != TV_OK)
        return status;
    tv_pixels_init(&pixels, &window, (size_t)threads + 1);
    for (size_t i = 0; i < trace->tables.samples.count; i++) {
        const struct tv_sample *sample = &trace->tables.samples.rows[i];
        tv_ns time = time_of(trace, sample);
        uint32_t owner = sample->thread < threads ? sample->thread : threads;
        if (time >= window.from && time < window.to)
            tv_pixels_take(&pixels, owner, (uint32_t)i, time, time);
    }
    tv_out_text(out, "{\"samples\":[");
    for (uint32_t i = 0; i < pixels.count; i++) {
        tv_out_text(out, i > 0 ? ",\n" : "");
        write_row(out, trace, &pixels.rows[i]);
    }
    tv_member_number(out, "],\"left_out\":", (int64_t)pixels.left_out);
    tv_out_char(out, '}');
    tv_pixels_release(&pixels);
    return TV_OK;
}

/* The frames of a stack, the outermost first. */
static void write_stack(struct tv_out *out, const struct tv_trace *trace, uint32_t path)
{
    size_t depth = 0;
    for (uint32_t node = path; node != TV_ROOT_PATH; node = trace->paths.nodes[node].parent)
        depth++;
    uint32_t *frames = tv_alloc(depth, sizeof *frames);
    for (size_t i = depth; i > 0; path = trace->paths.nodes[path].parent)
        frames[--i] = trace->paths.nodes[path].frame;
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
    tv_member_number(out, ",\"time_ns\":", time_of(trace, sample));
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

enum tv_status tv_view_sample_flame(const struct tv_view *view,
                                    const struct tv_parameters *parameters, struct tv_out *out,
                                    struct tv_error *err)
{
    static const char *const measures[] = {"count", "weight", "time", NULL};
    struct tv_flame_options options;
    struct tv_selection selection;
    unsigned measure;
    enum tv_status status = tv_view_flame_layout(parameters, &options, err);
    if (status == TV_OK)
        status = tv_parameter_choice(parameters, "measure", measures, &measure, err);
    if (status == TV_OK)
        status = tv_parameter_selection(parameters, view->trace, &selection, err);
    if (status != TV_OK)
        return status;
    options.clock = TV_CLOCK_WALL;
    struct tv_call_tree *tree =
        tv_sample_tree_of_trace(view->trace, &selection, (enum tv_sample_measure)measure);
    struct tv_flame *flame = tv_flame_of_tree(tree, &options);
    tv_view_write_flame(out, flame);
    tv_flame_free(flame);
    tv_call_tree_free(tree);
    tv_parameter_release_selection(&selection);
    return TV_OK;
}
