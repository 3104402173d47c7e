/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/sample_tree.h"

#include "base/memory.h"

struct counting {
    const struct tv_trace *trace;
    const struct tv_selection *selection;
    enum tv_sample_measure measure;
    const bool *wanted; /* [threads]; NULL: all, also those of no thread */
    /* [threads + 1] for the time until the next one: the sample before, plus 1, and its time */
    size_t *last;
    tv_ns *gap;
    int64_t total;
    int64_t *measures; /* [samples] */
};

static bool *wanted_threads(const struct tv_trace *trace, const struct tv_selection *selection)
{
    if (!selection->tracks)
        return NULL;
    bool *wanted = tv_alloc((size_t)trace->head->thread_count + 1, sizeof *wanted);
    for (uint32_t i = 0; i < selection->track_count; i++)
        if (selection->tracks[i] < trace->track_count &&
            trace->tracks[selection->tracks[i]].thread < trace->head->thread_count)
            wanted[trace->tracks[selection->tracks[i]].thread] = true;
    return wanted;
}

/* Where a sample's thread stands in lists of threads: the place behind them is that of none. */
static uint32_t place_of(const struct counting *counting, const struct tv_sample *sample)
{
    uint32_t threads = counting->trace->head->thread_count;
    return sample->thread < threads ? sample->thread : threads;
}

static bool is_wanted(const struct counting *counting, const struct tv_sample *sample)
{
    const struct tv_selection *selection = counting->selection;
    tv_ns time = tv_trace_time(counting->trace, sample->input, sample->time);
    bool all = selection->from == INT64_MIN && selection->to == INT64_MAX;
    if (!all && (time < selection->from || time >= selection->to))
        return false;
    uint32_t place = place_of(counting, sample);
    return !counting->wanted ||
           (place < counting->trace->head->thread_count && counting->wanted[place]);
}

static void add(struct counting *counting, const struct tv_sample *sample, int64_t measure)
{
    if (!is_wanted(counting, sample) || sample->path == TV_ROOT_PATH)
        return;
    if (measure < 0)
        measure = 0;
    /* All sums stop where this one does, and the trace says so (time-saturated). */
    if (measure > INT64_MAX - counting->total)
        measure = INT64_MAX - counting->total;
    counting->total += measure;
    counting->measures[sample - counting->trace->tables.samples.rows] = measure;
}

static tv_ns find_gap(tv_ns from, tv_ns to)
{
    uint64_t gap = (uint64_t)to - (uint64_t)from;
    return gap < INT64_MAX ? (tv_ns)gap : INT64_MAX;
}

/* A sample is added when the next one of its thread tells how long it stood. */
static void add_times(struct counting *counting)
{
    const struct tv_tables *tables = &counting->trace->tables;
    size_t places = (size_t)counting->trace->head->thread_count + 1;
    counting->last = tv_alloc(places, sizeof *counting->last);
    counting->gap = tv_alloc(places, sizeof *counting->gap);
    for (size_t i = 0; i < tables->samples.count; i++) {
        const struct tv_sample *sample = &tables->samples.rows[i];
        uint32_t place = place_of(counting, sample);
        if (counting->last[place] > 0) {
            const struct tv_sample *before = &tables->samples.rows[counting->last[place] - 1];
            /* Samples of no thread may be of several inputs. */
            counting->gap[place] = before->input == sample->input && sample->time > before->time
                                       ? find_gap(before->time, sample->time)
                                       : 0;
            add(counting, before, counting->gap[place]);
        }
        counting->last[place] = i + 1;
    }
    for (size_t place = 0; place < places; place++)
        if (counting->last[place] > 0)
            add(counting, &tables->samples.rows[counting->last[place] - 1], counting->gap[place]);
    tv_free(counting->last);
    tv_free(counting->gap);
}

static void add_all(struct counting *counting)
{
    const struct tv_tables *tables = &counting->trace->tables;
    for (size_t i = 0; i < tables->samples.count; i++) {
        const struct tv_sample *sample = &tables->samples.rows[i];
        add(counting, sample, counting->measure == TV_SAMPLES_WEIGHT ? sample->weight : 1);
    }
}

int64_t *tv_sample_measures(const struct tv_trace *trace, const struct tv_selection *selection,
                            const bool *threads, enum tv_sample_measure measure)
{
    size_t samples = trace->tables.samples.count;
    bool *of_tracks = threads ? NULL : wanted_threads(trace, selection);
    struct counting counting = {.trace = trace,
                                .selection = selection,
                                .measure = measure,
                                .wanted = threads ? threads : of_tracks,
                                .measures = tv_alloc(samples, sizeof(int64_t))};
    for (size_t i = 0; i < samples; i++)
        counting.measures[i] = -1;
    if (measure == TV_SAMPLES_TIME)
        add_times(&counting);
    else
        add_all(&counting);
    tv_free(of_tracks);
    return counting.measures;
}

struct tv_call_tree *tv_sample_tree_of_trace(const struct tv_trace *trace,
                                             const struct tv_selection *selection,
                                             const bool *threads, enum tv_sample_measure measure)
{
    struct tv_call_tree *tree = tv_call_tree_new(trace->head, &trace->paths);
    int64_t *measures = tv_sample_measures(trace, selection, threads, measure);
    for (size_t i = 0; i < trace->tables.samples.count; i++) {
        if (measures[i] < 0)
            continue;
        struct tv_path_cost *cost = &tree->cost[trace->tables.samples.rows[i].path];
        cost->calls++;
        tv_time_add(&cost->wall, measures[i]);
    }
    tree->clocks = TV_CLOCK_WALL;
    for (uint32_t i = tree->count; i-- > 1;) {
        tree->cost[tree->parent[i]].calls += tree->cost[i].calls;
        tv_time_add(&tree->cost[tree->parent[i]].wall, tree->cost[i].wall);
    }
    tree->cost[TV_ROOT_PATH] = (struct tv_path_cost){0};
    tv_call_tree_settle(tree);
    tv_free(measures);
    return tree;
}
