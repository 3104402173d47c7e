/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table by name of a selection: how long slices take; the histogram of one name.
 */
#include "analysis/states/statistics.h"
#include "view/state.h"

static void number(struct tv_out *out, const char *before, int64_t value)
{
    tv_out_text(out, before);
    tv_out_i64(out, value);
}

/* [frame, count, length, self, cpu, min, average, median, p95, max] */
static void write_frame(struct tv_out *out, const struct tv_view *view,
                        const struct tv_frame_statistics *frame)
{
    const int64_t rest[] = {frame->min, frame->average, frame->median, frame->p95, frame->max};
    bool known = frame->measured > 0 || frame->count == 0;
    number(out, "[", frame->frame);
    number(out, ",", (int64_t)frame->count);
    number(out, ",", frame->length);
    tv_out_char(out, ',');
    tv_view_time(out, known, frame->self);
    tv_out_char(out, ',');
    tv_view_time(out, view->cpu && frame->cpu_count > 0, frame->cpu);
    for (uint32_t i = 0; i < TV_COUNT(rest); i++) {
        tv_out_char(out, ',');
        tv_view_time(out, known, rest[i]);
    }
    tv_out_char(out, ']');
}

/* The buckets from the first to the last that holds a slice, and the bounds around them. */
static void write_buckets(struct tv_out *out, const uint64_t *buckets)
{
    uint32_t first = 0, end = TV_DURATION_BUCKETS;
    while (first < end && buckets[first] == 0)
        first++;
    while (end > first && buckets[end - 1] == 0)
        end--;
    tv_out_text(out, ",\"bounds\":[");
    for (uint32_t i = first; i <= end && first < end; i++)
        number(out, i > first ? "," : "", tv_duration_bound(i));
    tv_out_text(out, "],\"counts\":[");
    for (uint32_t i = first; i < end; i++)
        number(out, i > first ? "," : "", (int64_t)buckets[i]);
    tv_out_char(out, ']');
}

static void write_slowest(struct tv_out *out, const struct tv_trace *trace,
                          const struct tv_durations *durations)
{
    tv_out_text(out, ",\"slowest\":[");
    for (uint32_t i = 0; i < durations->slowest_count; i++) {
        const struct tv_slow_slice *slice = &durations->slowest[i];
        number(out, i > 0 ? ",[" : "[", slice->row);
        number(out, ",", slice->index);
        number(out, ",", slice->start);
        number(out, ",", slice->length);
        number(out, ",", trace->rows[slice->row].track);
        tv_out_char(out, ']');
    }
    tv_out_char(out, ']');
}

static void answer_frame(const struct tv_view *view, const struct tv_selection *selection,
                         uint32_t frame, bool by_cpu, struct tv_out *out)
{
    struct tv_durations durations;
    tv_durations_of(view->trace, selection, frame, by_cpu, &durations);
    tv_out_text(out, "{\"row\":");
    write_frame(out, view, &durations.figures);
    write_buckets(out, durations.buckets);
    write_slowest(out, view->trace, &durations);
    tv_out_char(out, '}');
}

static void answer_all(const struct tv_view *view, const struct tv_selection *selection,
                       bool by_cpu, struct tv_out *out)
{
    struct tv_statistics *statistics = tv_statistics_of(view->trace, selection, by_cpu);
    tv_out_text(out, "{\"rows\":[");
    for (uint32_t i = 0; i < statistics->count; i++) {
        tv_out_text(out, i > 0 ? ",\n" : "");
        write_frame(out, view, &statistics->frames[i]);
    }
    tv_out_text(out, "]}");
    tv_statistics_free(statistics);
}

enum tv_status tv_view_statistics(const struct tv_view *view,
                                  const struct tv_parameters *parameters, struct tv_out *out,
                                  struct tv_error *err)
{
    const struct tv_parameter_bounds frames = {0, (int64_t)view->trace->head->frame_count - 1};
    struct tv_selection selection;
    enum tv_clocks clock;
    int64_t frame;
    enum tv_status status = tv_parameter_integer(parameters, "frame", frames, -1, &frame, err);
    if (status == TV_OK)
        status = tv_parameter_clock(parameters, view->trace, &clock, err);
    if (status == TV_OK)
        status = tv_parameter_selection(parameters, view->trace, &selection, err);
    if (status != TV_OK)
        return status;
    /* Where there is no other clock the lengths are its own. */
    bool by_cpu = clock == TV_CLOCK_CPU && view->wall;
    if (frame < 0)
        answer_all(view, &selection, by_cpu, out);
    else
        answer_frame(view, &selection, (uint32_t)frame, by_cpu, out);
    tv_parameter_release_selection(&selection);
    return TV_OK;
}
