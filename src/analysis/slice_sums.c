/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/slice_sums.h"

#include "analysis/states.h"
#include "base/map.h"

static void add_row(const struct tv_trace *trace, uint32_t row, struct tv_slice_sums *sums)
{
    struct tv_slice slices[64];
    int64_t length = 0;
    for (uint32_t first = 0, count; first < trace->rows[row].count; first += count) {
        count = trace->rows[row].count - first;
        if (count > TV_COUNT(slices))
            count = TV_COUNT(slices);
        tv_slices_read(trace, row, first, count, slices);
        for (uint32_t i = 0; i < count; i++) {
            length += slices[i].length; /* they do not overlap */
            sums->unfinished += (slices[i].flags & TV_SLICE_OPEN) != 0;
        }
    }
    sums->slices += trace->rows[row].count;
    tv_time_add(&sums->length, length);
    /* What is not on top is taken from its parent again. */
    tv_time_add(&sums->self, trace->rows[row].depth == 0 ? length : 0);
}

/* Those that samples name and no track shows count as well. */
static uint32_t count_cpus(const struct tv_trace *trace)
{
    struct tv_map numbers;
    uint32_t count = 0;
    tv_map_init(&numbers);
    for (uint32_t i = 0; i < trace->track_count; i++) {
        if (trace->tracks[i].kind != TV_TRACK_CPU)
            continue;
        tv_map_set(&numbers, tv_cpu_number(trace, i), 0);
        count++;
    }
    for (size_t i = 0; i < trace->tables.samples.count; i++) {
        uint32_t cpu = trace->tables.samples.rows[i].cpu;
        if (cpu == TV_NONE || tv_map_find(&numbers, cpu) != TV_NONE)
            continue;
        tv_map_set(&numbers, cpu, 0);
        count++;
    }
    tv_map_release(&numbers);
    return count;
}

struct tv_slice_sums tv_slice_sums_of(const struct tv_trace *trace)
{
    struct tv_slice_sums sums = {0};
    for (uint32_t i = 0; i < trace->row_count; i++) {
        enum tv_track_kind kind = trace->tracks[trace->rows[i].track].kind;
        if (tv_track_has_calls(&trace->tracks[trace->rows[i].track]))
            add_row(trace, i, &sums);
        else if (kind == TV_TRACK_ASYNC)
            sums.async += trace->rows[i].count;
        else if (kind == TV_TRACK_CPU)
            sums.cpu_slices += trace->rows[i].count;
    }
    sums.cpus = count_cpus(trace);
    return sums;
}
