/* SPDX-License-Identifier: Apache-2.0 */
#include "model/flow_end.h"

uint32_t tv_flow_end_frame(const struct tv_trace *trace, const struct tv_flow_end *end)
{
    if (tv_flow_end_is_instant(end))
        return trace->tables.instants.rows[end->index].frame;
    return trace->paths.nodes[tv_slice_get(trace, end->row, end->index).path].frame;
}

uint32_t tv_flow_end_track(const struct tv_trace *trace, const struct tv_flow_end *end)
{
    return tv_flow_end_is_instant(end) ? TV_NONE : trace->rows[end->row].track;
}

uint32_t tv_flow_end_thread(const struct tv_trace *trace, const struct tv_flow_end *end)
{
    return tv_flow_end_is_instant(end) ? trace->tables.instants.rows[end->index].of
                                       : trace->tracks[trace->rows[end->row].track].thread;
}
