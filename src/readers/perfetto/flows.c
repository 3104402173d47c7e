/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flows.c - arrows between track events.  The rows of one id are sorted by time after the merge,
 * and each row is joined with the next one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "readers/perfetto/reading.h"

static int pf_compare_flow_events(const void *left, const void *right)
{
    const struct tv_pf_flow_event *a = left, *b = right;
    if (a->frame != b->frame)
        return a->frame < b->frame ? -1 : 1;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return tv_ft_compare_times(a->time, a->offset, b->time, b->offset);
}

static struct tv_ft_flow_end pf_flow_end(const struct tv_ft_merge *merge,
                                         const struct tv_pf_flow_event *event)
{
    return (struct tv_ft_flow_end){
        .thread = event->task == TV_NONE ? TV_NONE : merge->numbers[0].threads[event->task],
        .start = event->time,
        .time = event->time,
        .offset = event->offset,
        .binding = event->binding,
    };
}

static void pf_flow_add(struct tv_ft_merge *merge, const struct tv_pf_flow_event *from,
                        const struct tv_pf_flow_event *to)
{
    char text[24];
    int length = snprintf(text, sizeof text, "0x%" PRIx64, to->id);
    struct tv_bytes id = {(uint8_t *)text, (size_t)length};
    *tv_table_add(&merge->flows) = (struct tv_ft_flow){
        .from = pf_flow_end(merge, from),
        .to = pf_flow_end(merge, to),
        .offset = from->offset,
        .end_offset = to->offset,
        .frame = to->frame == TV_NONE ? tv_ft_merge_frame(merge, TV_BYTES("flow"), "")
                                      : merge->numbers[0].frames[to->frame],
        .id = tv_trace_info_string(merge->trace->head, id),
    };
}

/* Pair the events of each id in the order of time.  A flow id begins where it is first seen; an id
 * of phases s, t and f begins with s, and again when an arrow of it has arrived. */
void tv_pf_add_flows(struct tv_pf_reading *reading, struct tv_ft_merge *merge)
{
    struct tv_pf_flow_event *rows = reading->flows.rows;
    struct tv_diagnostics *diagnostics = &merge->trace->head->diagnostics;
    const struct tv_pf_flow_event *from = NULL;
    bool arrived = false;
    if (reading->flows.count > 0)
        qsort(rows, reading->flows.count, sizeof *rows, pf_compare_flow_events);
    for (size_t i = 0; i < reading->flows.count; i++) {
        const struct tv_pf_flow_event *to = &rows[i];
        if (from && (from->frame != to->frame || from->id != to->id || from->ends))
            from = NULL;
        if (from && to->starts && !arrived) {
            tv_diagnostics_add(diagnostics, TV_DIAGNOSTIC_FLOW_BEGUN_TWICE, to->offset);
        } else if (from && !to->starts) {
            pf_flow_add(merge, from, to);
            from = to->passes ? from : to;
            arrived = true;
        } else if (to->starts || to->frame == TV_NONE) {
            from = to;
            arrived = false;
        } else {
            tv_diagnostics_add(diagnostics, TV_DIAGNOSTIC_FLOW_NO_START, to->offset);
        }
    }
}
