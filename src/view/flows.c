/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flows: the arrows that arrive at a slice or an instant and those that leave it, and the
 * categories they have.
 */
#include "base/bytes.h"
#include "model/trace.h"
#include "view/flow_index.h"
#include "view/state.h"

#define FLOW_LIMIT 200 /* in each direction */

static bool is_at(const struct tv_flow_end *end, uint32_t row, uint32_t index)
{
    return end->row == row && end->index == index;
}

/* [row, index, time, track, frame]; of an instant [-1, number, time, -1, frame, thread] */
static void write_end(struct tv_out *out, const struct tv_trace *trace, uint32_t input,
                      const struct tv_flow_end *end)
{
    bool is_instant = tv_flow_end_is_instant(end);
    tv_out_char(out, '[');
    tv_out_i64(out, is_instant ? -1 : (int64_t)end->row);
    tv_out_format(out, ",%u,", end->index);
    tv_out_i64(out, tv_trace_time(trace, input, end->time));
    tv_out_char(out, ',');
    tv_out_i64(out, is_instant ? -1 : (int64_t)tv_flow_end_track(trace, end));
    tv_out_format(out, ",%u", tv_flow_end_frame(trace, end));
    if (is_instant)
        tv_out_format(out, ",%u", tv_flow_end_thread(trace, end));
    tv_out_char(out, ']');
}

void tv_view_write_flow(struct tv_out *out, const struct tv_trace *trace, uint32_t number)
{
    const struct tv_flow *flow = &trace->tables.flows.rows[number];
    tv_out_format(out, "{\"flow\":%u,\"frame\":%u,\"id\":", number, flow->frame);
    tv_out_json(out, tv_trace_info_text(trace->head, flow->id));
    tv_out_text(out, ",\"from\":");
    write_end(out, trace, flow->input, &flow->from);
    tv_out_text(out, ",\"to\":");
    write_end(out, trace, flow->input, &flow->to);
}

/* Those with one end at the slice or instant; returns how many there are. */
static uint64_t write_flows(struct tv_out *out, const struct tv_flow_index *index, bool arriving,
                            uint32_t row, uint32_t slice)
{
    const struct tv_trace *trace = index->trace;
    const uint32_t *order = arriving ? index->by_to : index->by_from;
    uint32_t first = tv_flow_index_at(index, arriving, row, slice), at = first;
    for (; at < index->count; at++) {
        const struct tv_flow *flow = &trace->tables.flows.rows[order[at]];
        if (!is_at(arriving ? &flow->to : &flow->from, row, slice))
            break;
        if (at - first >= FLOW_LIMIT)
            continue;
        tv_out_text(out, at > first ? ",\n" : "");
        tv_view_write_flow(out, trace, order[at]);
        tv_out_char(out, '}');
    }
    return at - first;
}

/* The slice or the instant that is asked for; an instant has no row. */
static enum tv_status read_place(const struct tv_parameters *parameters,
                                 const struct tv_trace *trace, struct tv_flow_end *place,
                                 struct tv_error *err)
{
    int64_t number = 0;
    if (!tv_parameter_text(parameters, "instant").data)
        return tv_parameter_slice(parameters, trace, &place->row, &place->index, err);
    enum tv_status status = tv_parameter_required(
        parameters, "instant",
        (struct tv_parameter_bounds){0, (int64_t)trace->tables.instants.count - 1}, &number, err);
    *place = (struct tv_flow_end){0, TV_NONE, (uint32_t)number};
    return status;
}

enum tv_status tv_view_flows(const struct tv_view *view, const struct tv_parameters *parameters,
                             struct tv_out *out, struct tv_error *err)
{
    const struct tv_trace *trace = view->trace;
    struct tv_flow_end place;
    enum tv_status status = read_place(parameters, trace, &place, err);
    if (status != TV_OK)
        return status;
    const struct tv_flow_index *flows = tv_flow_index_get(view->flows);
    tv_out_text(out, "{\"in\":[");
    uint64_t in = write_flows(out, flows, true, place.row, place.index);
    tv_out_text(out, "],\n\"out\":[");
    uint64_t away = write_flows(out, flows, false, place.row, place.index);
    tv_out_text(out, "],\"in_count\":");
    tv_out_u64(out, in);
    tv_out_text(out, ",\"out_count\":");
    tv_out_u64(out, away);
    tv_out_char(out, '}');
    return TV_OK;
}

enum tv_status tv_view_flow(const struct tv_view *view, const struct tv_parameters *parameters,
                            struct tv_out *out, struct tv_error *err)
{
    const struct tv_trace *trace = view->trace;
    int64_t number;
    enum tv_status status = tv_parameter_required(
        parameters, "flow", (struct tv_parameter_bounds){0, (int64_t)trace->tables.flows.count - 1},
        &number, err);
    if (status != TV_OK)
        return status;
    const struct tv_flow *flow = &trace->tables.flows.rows[number];
    struct tv_view_event event = {flow->input, flow->frame, flow->offset, flow->end_offset};
    tv_view_write_flow(out, trace, (uint32_t)number);
    tv_view_write_event(out, trace, &event);
    tv_out_char(out, '}');
    return TV_OK;
}

enum tv_status tv_view_flow_categories(const struct tv_view *view,
                                       const struct tv_parameters *parameters, struct tv_out *out,
                                       struct tv_error *err)
{
    const struct tv_flow_index *flows = tv_flow_index_get(view->flows);
    (void)parameters, (void)err;
    tv_out_text(out, "{\"categories\":[");
    for (uint32_t i = 0; i < flows->category_count; i++) {
        tv_out_text(out, i > 0 ? ",\n[" : "[");
        tv_out_json(out, flows->categories[i].name);
        tv_out_char(out, ',');
        tv_out_u64(out, flows->categories[i].count);
        tv_out_char(out, ']');
    }
    tv_out_text(out, "]}");
    return TV_OK;
}
