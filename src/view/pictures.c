/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extents and overview.
 */
#include "analysis/timeline/density.h"
#include "analysis/search/call_search.h"
#include "base/memory.h"
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

/* Bytes of all heights together, and one a track at least: many tracks have fewer buckets. */
#define HEIGHTS_LIMIT ((int64_t)8 << 20)

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
    if (buckets * trace->track_count > HEIGHTS_LIMIT)
        buckets = HEIGHTS_LIMIT / trace->track_count;
    if (buckets == 0)
        buckets = 1;
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
