/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_chart.c - api/sample_chart: the stacks of sampled threads over time.
 *
 * A box is a run of neighbouring samples of a thread that have the same frame
 * at the same depth.  The layout is analysis (tv_chart_draw); here parameters
 * become its question, and boxes become JSON.
 */
#include "analysis/timeline/sample_chart.h"

#include "analysis/calltree/sample_values.h"
#include "view/internal.h"

/* Write [thread, depth, start, length, frame, samples, first sample] of each box. */
static void view_chart_write(struct tv_out *out, const struct tv_chart *chart)
{
    tv_out_text(out, "{\"boxes\":[");
    for (uint32_t i = 0; i < chart->count; i++) {
        const struct tv_chart_box *box = &chart->boxes[i];
        tv_member_number(out, i > 0 ? ",\n[" : "[", box->thread);
        tv_member_number(out, ",", box->depth);
        tv_member_number(out, ",", box->start);
        tv_member_number(out, ",", box->end - box->start);
        tv_member_number(out, ",", box->frame);
        tv_member_number(out, ",", box->samples);
        tv_member_number(out, ",", (int64_t)box->first);
        tv_out_char(out, ']');
    }
    tv_member_number(out, "],\"grain\":", chart->grain);
    tv_member_number(out, ",\"left_out\":", (int64_t)chart->left_out);
    tv_out_char(out, '}');
}

/* Answer api/sample_chart.  Samples without times, as in most profiles, have no
 * chart. */
enum tv_status tv_view_sample_chart(const struct tv_view *view,
                                    const struct tv_parameters *parameters, struct tv_out *out,
                                    struct tv_error *err)
{
    const struct tv_trace *trace = view->trace;
    uint32_t threads[TV_CHART_THREADS];
    struct tv_chart_question question = {.threads = threads};
    struct tv_sample_question sampled;
    struct tv_view_window window;
    struct tv_chart chart;
    enum tv_status status = tv_parameter_window(parameters, trace, TV_PIXEL_LIMIT, &window, err);
    if (status == TV_OK)
        status = tv_parameter_numbers(
            parameters,
            (struct tv_parameter_list){"threads", TV_CHART_THREADS, trace->head->thread_count},
            threads, &question.thread_count, err);
    if (status == TV_OK)
        status = tv_view_read_sampled(view, parameters, &sampled, err);
    if (status != TV_OK)
        return status;
    if (!tv_trace_info_has_times(trace->head))
        return tv_fail(
            err, TV_ERR_USAGE, TV_NO_OFFSET,
            "samples of this trace have no times, so that no chart shows them over time");
    question.value = tv_sample_question_value(trace, &sampled);
    question.from = window.from;
    question.to = window.to;
    question.pixels = window.pixels;
    tv_chart_draw(trace, &question, &chart);
    view_chart_write(out, &chart);
    tv_chart_release(&chart);
    return TV_OK;
}
