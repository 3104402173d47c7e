/* SPDX-License-Identifier: Apache-2.0 */
/* What the tables beside the slices name, one function a table. */
#include "base/memory.h"
#include "index/check.h"

/* How many there are of what tables name. */
struct all {
    const struct tv_trace *trace;
    uint32_t strings, frames, paths, inputs, processes, threads, tracks;
};

static bool is_slice(const struct all *all, uint32_t row, uint32_t index)
{
    return row < all->trace->row_count && index < all->trace->rows[row].count;
}

static bool is_time(const struct all *all, uint32_t input, tv_ns time)
{
    return tv_index_is_on_axis(all->trace, input, time);
}

static bool is_end(const struct all *all, uint32_t input, const struct tv_flow_end *end)
{
    if (!is_time(all, input, end->time))
        return false;
    return end->row == TV_NONE ? end->index < all->trace->tables.instants.count
                               : is_slice(all, end->row, end->index);
}

static bool is_instants(const struct all *all, const struct tv_instant *r)
{
    if (r->input >= all->inputs || r->frame >= all->frames || !is_time(all, r->input, r->time))
        return false;
    switch (r->scope) {
    case TV_SCOPE_THREAD:
        return r->of < all->threads;
    case TV_SCOPE_PROCESS:
        return r->of < all->processes;
    case TV_SCOPE_TRACK:
        return r->of < all->tracks;
    default:
        return r->scope == TV_SCOPE_GLOBAL;
    }
}

static bool is_counters(const struct all *all, const struct tv_counter *r)
{
    const struct tv_tables *tables = &all->trace->tables;
    return r->name < all->strings && r->category < all->strings && r->input < all->inputs &&
           tv_index_is_of(r->process, all->processes) &&
           tv_index_is_range(r->first_series, r->series_count, tables->series.count) &&
           tv_index_is_range(r->first_sample, r->sample_count, tables->counter_sample_count) &&
           tv_index_is_range(r->first_value, (uint64_t)r->sample_count * r->series_count,
                             tables->counter_value_count);
}

static bool is_series(const struct all *all, const struct tv_series *r)
{
    return r->name < all->strings;
}

static bool is_flows(const struct all *all, const struct tv_flow *r)
{
    return r->input < all->inputs && is_end(all, r->input, &r->from) &&
           is_end(all, r->input, &r->to) && r->frame < all->frames && r->id < all->strings;
}

static bool is_objects(const struct all *all, const struct tv_object *r)
{
    return r->input < all->inputs && is_time(all, r->input, r->created) &&
           is_time(all, r->input, r->deleted) && r->type < all->strings &&
           r->base_type < all->strings && r->category < all->strings && r->id < all->strings &&
           r->scope < all->strings && tv_index_is_of(r->process, all->processes) &&
           tv_index_is_range(r->first_snapshot, r->snapshot_count,
                             all->trace->tables.snapshots.count);
}

static bool is_snapshots(const struct all *all, const struct tv_snapshot *r)
{
    return r->input < all->inputs && is_time(all, r->input, r->time) &&
           r->object < all->trace->tables.objects.count && tv_index_is_flag(&r->inner);
}

static bool is_samples(const struct all *all, const struct tv_sample *r)
{
    return r->input < all->inputs && is_time(all, r->input, r->time) &&
           r->weight >= -TV_INDEX_TIME_MAX && r->weight <= TV_INDEX_TIME_MAX &&
           tv_index_is_of(r->thread, all->threads) && r->path < all->paths &&
           r->title < all->strings;
}

static bool is_memory_dumps(const struct all *all, const struct tv_memory_dump *r)
{
    return r->input < all->inputs && is_time(all, r->input, r->time) &&
           tv_index_is_of(r->process, all->processes) && r->id < all->strings &&
           r->level < all->strings &&
           tv_index_is_range(r->first_figure, r->figure_count,
                             all->trace->tables.memory_figures.count);
}

static bool is_memory_figures(const struct all *all, const struct tv_memory_figure *r)
{
    return r->of < all->strings && r->name < all->strings && r->units < all->strings;
}

static bool is_contexts(const struct all *all, const struct tv_context *r)
{
    return r->input < all->inputs && is_time(all, r->input, r->start) &&
           is_time(all, r->input, r->end) && r->thread < all->threads && r->type < all->strings &&
           r->id < all->strings;
}

static bool is_joins(const struct all *all, const struct tv_join *r)
{
    return r->id < all->strings && r->linked < all->strings && r->input < all->inputs;
}

static bool is_clock_syncs(const struct all *all, const struct tv_clock_sync *r)
{
    return r->input < all->inputs && is_time(all, r->input, r->time) &&
           is_time(all, r->input, r->asked) && r->id < all->strings;
}

static bool is_known_names(const struct all *all, const struct tv_known_name *r)
{
    return r->name < all->strings && r->input < all->inputs && tv_index_is_flag(&r->is_thread);
}

static bool is_stack_frames(const struct all *all, const struct tv_stack_frame *r)
{
    return r->key < all->strings && tv_index_is_of(r->process, all->processes) &&
           r->path < all->paths && r->input < all->inputs;
}

static bool is_slice_extras(const struct all *all, const struct tv_slice_extra *r)
{
    return is_slice(all, r->row, r->index);
}

static bool is_async_extras(const struct all *all, const struct tv_async_extra *r)
{
    return is_slice(all, r->row, r->index) && r->id < all->strings &&
           tv_index_is_of(r->start_thread, all->threads) &&
           tv_index_is_of(r->end_thread, all->threads) && tv_index_is_flag(&r->lifetime);
}

static bool is_wakeups(const struct all *all, const struct tv_wakeup *r)
{
    return r->input < all->inputs && is_time(all, r->input, r->time) && r->thread < all->threads &&
           tv_index_is_of(r->by, all->threads);
}

static bool is_blockings(const struct all *all, const struct tv_blocking *r)
{
    return r->input < all->inputs && is_time(all, r->input, r->time) && r->thread < all->threads &&
           r->caller < all->strings && tv_index_is_flag(&r->io);
}

/* When the samples of a counter were taken. */
static bool are_samples(const struct all *all, const struct tv_counter *counter)
{
    const tv_ns *times = all->trace->tables.counter_times + counter->first_sample;
    for (uint32_t i = 0; i < counter->sample_count; i++)
        if (!is_time(all, counter->input, times[i]))
            return false;
    return true;
}

/* Each object has one. */
static bool are_keys(const struct tv_tables *tables)
{
    size_t count = tables->objects.count, good = 0;
    bool *seen = tv_alloc(count, sizeof *seen);
    for (size_t i = 0; i < count; i++) {
        uint32_t object = tables->object_keys[i].object;
        if (object >= count || seen[object])
            break;
        seen[object] = true;
        good++;
    }
    tv_free(seen);
    return good == count;
}

const char *tv_index_check_tables(const struct tv_trace *trace)
{
    const struct tv_trace_info *head = trace->head;
    const struct tv_tables *tables = &trace->tables;
    struct all all = {
        trace,
        tv_index_strings(trace),
        head->frame_count,
        trace->paths.count,
        head->input_count,
        head->process_count,
        head->thread_count,
        trace->track_count,
    };
#define CHECK_TABLE(table, ...)                                                                    \
    for (size_t i = 0; i < tables->table.count; i++)                                               \
        if (!is_##table(&all, &tables->table.rows[i]))                                             \
            return "one of its " #table;
    TV_INDEX_TABLES(CHECK_TABLE)
#undef CHECK_TABLE
    for (size_t i = 0; i < tables->counters.count; i++)
        if (!are_samples(&all, &tables->counters.rows[i]))
            return "the values of its counters";
    return are_keys(tables) ? NULL : "its objects";
}
