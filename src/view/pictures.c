/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extents, overview and flame graph.
 */
#include "view/pictures.h"
#include "analysis/activity.h"
#include "analysis/extents.h"
#include "analysis/flame.h"
#include "base/memory.h"
#include "view/columns.h"
#include "view/state.h"

static void write_extents(struct tv_out *out, uint32_t track,
                          const struct tv_track_extents *extents)
{
    tv_out_char(out, '[');
    tv_out_u64(out, track);
    tv_out_text(out, ",[");
    for (uint32_t i = 0; i < extents->count; i++) {
        tv_out_text(out, i > 0 ? "," : "");
        tv_out_i64(out, extents->list[i].start);
        tv_out_char(out, ',');
        tv_out_i64(out, extents->list[i].end);
    }
    tv_out_text(out, "]]");
}

/* Nanoseconds of a pixel of the part of the trace that is asked about. */
static tv_ns pixel_of(const struct tv_trace *trace, const struct tv_selection *selection,
                      int64_t pixels)
{
    tv_ns from = selection->from > trace->start ? selection->from : trace->start;
    tv_ns to = selection->to < trace->end ? selection->to : trace->end;
    return to > from ? (to - from) / pixels : 1;
}

enum tv_status tv_view_extents(const struct tv_view *view, const struct tv_parameters *parameters,
                               struct tv_out *out, struct tv_error *err)
{
    const struct tv_parameter_bounds frames = {0, (int64_t)view->trace->head->frame_count - 1};
    struct tv_selection selection;
    int64_t frame, pixels;
    bool any = false;
    enum tv_status status = tv_parameter_required(parameters, "frame", frames, &frame, err);
    if (status == TV_OK)
        status = tv_parameter_integer(parameters, "pixels", (struct tv_parameter_bounds){1, 65536},
                                      1600, &pixels, err);
    if (status == TV_OK)
        status = tv_parameter_selection(parameters, view->trace, &selection, err);
    if (status != TV_OK)
        return status;
    struct tv_extents *extents = tv_extents_of(view->trace, (uint32_t)frame, &selection,
                                               pixel_of(view->trace, &selection, pixels), 0);
    tv_out_text(out, "{\"tracks\":[");
    for (uint32_t i = 0; i < extents->track_count; i++) {
        if (extents->tracks[i].count == 0)
            continue;
        tv_out_text(out, any ? ",\n" : "");
        write_extents(out, i, &extents->tracks[i]);
        any = true;
    }
    tv_out_text(out, "]}");
    tv_extents_free(extents);
    tv_parameter_release_selection(&selection);
    return TV_OK;
}

enum tv_status tv_view_activity(const struct tv_view *view, const struct tv_parameters *parameters,
                                struct tv_out *out, struct tv_error *err)
{
    const struct tv_trace *trace = view->trace;
    const struct tv_parameter_bounds bounds = {1, TV_ACTIVITY_BUCKETS};
    int64_t buckets;
    enum tv_status status =
        tv_parameter_integer(parameters, "buckets", bounds, 1000, &buckets, err);
    if (status != TV_OK)
        return status;
    uint8_t *heights = tv_alloc((size_t)buckets, 1);
    tv_out_text(out, "TVA1");
    tv_out_le32(out, trace->track_count);
    tv_out_le32(out, (uint32_t)buckets);
    tv_out_le32(out, 0);
    tv_out_f64(out, (double)trace->start);
    tv_out_f64(out, (double)trace->end);
    for (uint32_t i = 0; i < trace->track_count; i++) {
        tv_activity_of_track(view->pyramid, i, trace->start, trace->end, (uint32_t)buckets,
                             heights);
        tv_out_le32(out, i);
        tv_out_bytes(out, (struct tv_bytes){heights, (size_t)buckets});
        tv_out_align(out, 4);
    }
    tv_free(heights);
    return TV_OK;
}

/* --- Flame graph
 * ------------------------------------------------------------------------------------- */

/* A column at a time, as the page's typed arrays have them. */
void tv_view_write_flame(struct tv_out *out, const struct tv_flame *flame)
{
    uint32_t count = flame->count;
    struct tv_column column = tv_column_new(count);
    tv_out_text(out, "TVF1");
    tv_out_le32(out, count);
    tv_out_f64(out, (double)flame->total);
    tv_out_f64(out, (double)flame->left_out);
    for (uint32_t i = 0; i < count; i++)
        column.times[i] = (double)flame->frames[i].start;
    tv_column_write_times(out, &column);
    for (uint32_t i = 0; i < count; i++)
        column.times[i] = (double)flame->frames[i].width;
    tv_column_write_times(out, &column);
    for (uint32_t i = 0; i < count; i++)
        column.times[i] = (double)flame->frames[i].self;
    tv_column_write_times(out, &column);
    for (uint32_t i = 0; i < count; i++)
        column.numbers[i] = flame->frames[i].depth;
    tv_column_write_numbers(out, &column);
    for (uint32_t i = 0; i < count; i++)
        column.numbers[i] = flame->frames[i].frame;
    tv_column_write_numbers(out, &column);
    for (uint32_t i = 0; i < count; i++)
        column.numbers[i] = flame->frames[i].path;
    tv_column_write_numbers(out, &column);
    for (uint32_t i = 0; i < count; i++)
        column.numbers[i] =
            (uint32_t)(flame->frames[i].calls < UINT32_MAX ? flame->frames[i].calls : UINT32_MAX);
    tv_column_write_numbers(out, &column);
    tv_column_release(&column);
}

/* The narrowest frames that may be asked for: a share of the whole. */
#define MIN_SHARE 0.000001

enum tv_status tv_view_flame_layout(const struct tv_parameters *parameters,
                                    struct tv_flame_options *options, struct tv_error *err)
{
    static const char *const orders[] = {"left-heavy", "by-name", NULL};
    static const char *const switches[] = {"0", "1", NULL};
    const struct tv_parameter_bounds roots = {0, (int64_t)TV_NONE - 1};
    unsigned order, inverted;
    int64_t root;
    enum tv_status status = tv_parameter_choice(parameters, "order", orders, &order, err);
    if (status == TV_OK)
        status = tv_parameter_choice(parameters, "inverted", switches, &inverted, err);
    if (status == TV_OK)
        status = tv_parameter_integer(parameters, "root", roots, 0, &root, err);
    if (status == TV_OK)
        status = tv_parameter_share(parameters, "min", 0.0005, &options->min_share, err);
    if (status != TV_OK)
        return status;
    options->order = (enum tv_flame_order)order;
    options->inverted = inverted;
    options->root = (uint32_t)root;
    if (options->min_share < MIN_SHARE)
        options->min_share = MIN_SHARE;
    return TV_OK;
}

static enum tv_status read_flame(const struct tv_view *view, const struct tv_parameters *parameters,
                                 struct tv_flame_options *options, struct tv_error *err)
{
    static const char *const clocks[] = {"real", "cpu", NULL};
    unsigned clock;
    enum tv_status status = tv_parameter_choice(parameters, "clock", clocks, &clock, err);
    if (status == TV_OK)
        status = tv_view_flame_layout(parameters, options, err);
    if (status != TV_OK)
        return status;
    bool given = tv_parameter_text(parameters, "clock").data != NULL;
    if (given && !(clock ? view->cpu : view->wall))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "clock: the trace has no such clock");
    options->clock = clock || !view->wall ? TV_CLOCK_CPU : TV_CLOCK_WALL;
    return TV_OK;
}

enum tv_status tv_view_flame(const struct tv_view *view, const struct tv_parameters *parameters,
                             struct tv_out *out, struct tv_error *err)
{
    struct tv_flame_options options;
    struct tv_selection selection;
    enum tv_status status = read_flame(view, parameters, &options, err);
    if (status == TV_OK)
        status = tv_parameter_selection(parameters, view->trace, &selection, err);
    if (status != TV_OK)
        return status;
    struct tv_flame *flame = tv_flame_of_tree(tv_trees_enter(view->trees, &selection), &options);
    tv_trees_leave(view->trees);
    tv_view_write_flame(out, flame);
    tv_flame_free(flame);
    tv_parameter_release_selection(&selection);
    return TV_OK;
}
