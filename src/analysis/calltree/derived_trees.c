/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trees that are made from a trace's samples or thread by thread, and compensated trees.
 *
 * Samples: each adds its measure to the path it was taken at, and one pass from the last node to
 * the first adds each node to its parent, because parents have smaller numbers.  A sample may stand
 * for its weight, for one, or for the time until the thread's next sample.
 *
 * Threads: the trace's tree is counted for one thread after the other, and what was reached is
 * copied below a node for that thread:
 *
 *     one  (nodes of the trace)         result
 *     root                              root
 *      +- main      thread 7: 3 calls    +- thread 7
 *      |   +- read  thread 7: 2 calls    |   +- main 3 - read 2
 *      +- run       thread 8: 1 call     +- thread 8
 *                                            +- run 1
 */
#include "analysis/calltree/derived_trees.h"

#include <assert.h>

#include "analysis/calltree/call_tree.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "base/sort.h"

struct sample_counting {
    const struct tv_trace *trace;
    const struct tv_selection *selection;
    const struct tv_sample_question *question;
    uint32_t value;     /* string: name of the type */
    const bool *wanted; /* [threads] NULL: all samples, even those without a thread */
    /* [threads + 1] for TV_SAMPLES_TIME: row + 1 of the thread's last sample, and its duration */
    size_t *last;
    tv_ns *gap;
    int64_t total;
    int64_t *measures; /* [samples] */
};

/* Return the threads of the selected tracks, or NULL for all; the caller frees it. */
static bool *sample_wanted_threads(const struct tv_trace *trace,
                                   const struct tv_selection *selection)
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

/* Return the index of a sample's thread; samples without a thread share the index after the
 * last. */
static uint32_t sample_thread_index(const struct sample_counting *counting,
                                    const struct tv_sample *sample)
{
    uint32_t threads = counting->trace->head->thread_count;
    return sample->thread < threads ? sample->thread : threads;
}

/* Return true for a further value of the input sample in the row before. */
static bool sample_repeats(const struct tv_tables *tables, const struct tv_sample *sample)
{
    if (sample == tables->samples.rows || sample->offset == TV_NO_OFFSET)
        return false;
    return sample[-1].input == sample->input && sample[-1].offset == sample->offset &&
           sample[-1].time == sample->time && sample[-1].thread == sample->thread &&
           sample[-1].cpu == sample->cpu && sample[-1].line_path == sample->line_path &&
           sample[-1].type != sample->type;
}

/* Return true for a sample of the value that the question is about, in any input. */
static bool sample_is_of_value(const struct sample_counting *counting,
                               const struct tv_sample *sample)
{
    if (counting->question->all)
        return !sample_repeats(&counting->trace->tables, sample);
    return tv_sample_title(&counting->trace->tables, sample) == counting->value;
}

/* Tell whether a sample is in the range and of a chosen thread. */
static bool sample_is_wanted(const struct sample_counting *counting, const struct tv_sample *sample)
{
    const struct tv_selection *selection = counting->selection;
    assert(sample_is_of_value(counting, sample));
    tv_ns time = tv_trace_time(counting->trace, sample->input, sample->time);
    bool all = selection->from == INT64_MIN && selection->to == INT64_MAX;
    if (!all && (time < selection->from || time >= selection->to))
        return false;
    uint32_t place = sample_thread_index(counting, sample);
    return !counting->wanted ||
           (place < counting->trace->head->thread_count && counting->wanted[place]);
}

/* Return the measure, or what of it fits into the total, and add it there. */
static int64_t sample_fit(int64_t *total, int64_t measure)
{
    assert(*total >= 0);
    int64_t rest = INT64_MAX - *total;
    if (measure > rest)
        measure = rest;
    if (measure < -rest)
        measure = -rest;
    *total += measure < 0 ? -measure : measure;
    return measure;
}

/* Set the measure of a sample that the selection contains. */
static void sample_add(struct sample_counting *counting, const struct tv_sample *sample,
                       int64_t measure)
{
    if (!sample_is_wanted(counting, sample))
        return;
    /* Saturate the total, and with it every sum in the tree; the trace then has the diagnostic
     * time-saturated. */
    counting->measures[sample - counting->trace->tables.samples.rows] =
        sample_fit(&counting->total, measure);
}

static tv_ns sample_gap(tv_ns from, tv_ns to)
{
    uint64_t gap = (uint64_t)to - (uint64_t)from;
    return gap < INT64_MAX ? (tv_ns)gap : INT64_MAX;
}

/* Add each sample once the thread's next one tells its duration. */
static void sample_add_by_time(struct sample_counting *counting)
{
    const struct tv_tables *tables = &counting->trace->tables;
    size_t places = (size_t)counting->trace->head->thread_count + 1;
    counting->last = tv_alloc(places, sizeof *counting->last);
    counting->gap = tv_alloc(places, sizeof *counting->gap);
    for (size_t i = 0; i < tables->samples.count; i++) {
        const struct tv_sample *sample = &tables->samples.rows[i];
        if (!sample_is_of_value(counting, sample))
            continue;
        uint32_t place = sample_thread_index(counting, sample);
        if (counting->last[place] > 0) {
            const struct tv_sample *before = &tables->samples.rows[counting->last[place] - 1];
            /* Samples without a thread may come from several inputs. */
            counting->gap[place] = before->input == sample->input && sample->time > before->time
                                       ? sample_gap(before->time, sample->time)
                                       : 0;
            sample_add(counting, before, counting->gap[place]);
        }
        counting->last[place] = i + 1;
    }
    for (size_t place = 0; place < places; place++) {
        if (counting->last[place] == 0)
            continue;
        const struct tv_sample *last = &tables->samples.rows[counting->last[place] - 1];
        tv_ns length = tv_trace_last_sample_length(counting->trace, last);
        sample_add(counting, last, length >= 0 ? length : counting->gap[place]);
    }
    tv_free(counting->last);
    tv_free(counting->gap);
}

/* Measure each sample by its weight, or by how many samples it stands for. */
static void sample_add_by_weight(struct sample_counting *counting)
{
    const struct tv_tables *tables = &counting->trace->tables;
    for (size_t i = 0; i < tables->samples.count; i++) {
        const struct tv_sample *sample = &tables->samples.rows[i];
        if (sample_is_of_value(counting, sample))
            sample_add(counting, sample,
                       counting->question->measure == TV_SAMPLES_WEIGHT
                           ? sample->weight
                           : (int64_t)tv_tables_count_sample(tables, sample));
    }
}

int64_t *tv_sample_measures(const struct tv_trace *trace, const struct tv_selection *selection,
                            const bool *threads, const struct tv_sample_question *question)
{
    size_t samples = trace->tables.samples.count;
    bool *of_tracks = threads ? NULL : sample_wanted_threads(trace, selection);
    struct sample_counting counting = {.trace = trace,
                                       .selection = selection,
                                       .question = question,
                                       .value = tv_sample_question_value(trace, question),
                                       .wanted = threads ? threads : of_tracks,
                                       .measures = tv_alloc(samples, sizeof(int64_t))};
    for (size_t i = 0; i < samples; i++)
        counting.measures[i] = TV_SAMPLE_LEFT_OUT;
    if (question->measure == TV_SAMPLES_TIME)
        sample_add_by_time(&counting);
    else
        sample_add_by_weight(&counting);
    tv_free(of_tracks);
    return counting.measures;
}

/* Return what the figures of a tree are, all still 0. */
static struct tv_sample_figures sample_figures_of(const struct tv_trace *trace,
                                                  const struct tv_sample_question *question)
{
    struct tv_sample_figures figures = {.sampled = true, .measure = question->measure};
    uint32_t name = tv_sample_question_value(trace, question);
    for (size_t i = trace->tables.value_types.count; i-- > 0;) {
        const struct tv_value_type *type = &trace->tables.value_types.rows[i];
        if (type->name != name)
            continue;
        figures.interval = figures.name == TV_EMPTY_STRING || figures.interval == type->interval
                               ? type->interval
                               : 0;
        figures.name = name;
        figures.unit = type->unit;
        if (type->counted && question->measure == TV_SAMPLES_WEIGHT)
            figures.measure = TV_SAMPLES_COUNT;
    }
    return figures;
}

/* Add each node to its parent. */
static void sample_tree_add_up(struct tv_call_tree *tree)
{
    for (uint32_t i = tree->count; i-- > 1;) {
        tree->cost[tree->parent[i]].calls += tree->cost[i].calls;
        tv_time_add(&tree->cost[tree->parent[i]].wall, tree->cost[i].wall);
    }
    tree->cost[TV_ROOT_PATH] = (struct tv_path_cost){0};
    tv_call_tree_settle(tree);
}

/* Add samples to the path they were taken at; parents get their sums later. */
static void sample_tree_add(struct tv_call_tree *tree, uint32_t path, uint64_t samples,
                            int64_t measure)
{
    struct tv_path_cost *cost = &tree->cost[path];
    cost->calls += samples;
    tv_time_add(&cost->wall, measure);
    tree->figures.samples += samples;
    tv_time_add(&tree->figures.sum, measure);
    tv_time_add(&tree->figures.total, measure < 0 ? -measure : measure);
}

/* Add samples of which only sums were kept. */
static void sample_tree_add_sums(struct tv_call_tree *tree, const struct tv_tables *tables,
                                 const struct tv_sample_question *question)
{
    const struct tv_sample_sums *sums = &tables->sample_sums;
    int64_t total = tree->figures.total;
    assert(sums->count == 0 || (question->measure != TV_SAMPLES_TIME && !question->all));
    assert(sums->count == 0 || question->lines == (sums->detail == TV_SAMPLES_BY_LINES));
    for (size_t i = 0; i < sums->count; i++) {
        const struct tv_sample_sum *sum = &sums->rows[i];
        int64_t measure =
            question->measure == TV_SAMPLES_WEIGHT ? sum->weight : (int64_t)sum->samples;
        if (tables->value_types.rows[sum->type].name == tree->figures.name)
            sample_tree_add(tree, sum->path, sum->samples, sample_fit(&total, measure));
    }
}

struct tv_call_tree *tv_sample_tree_of_trace(const struct tv_trace *trace,
                                             const struct tv_selection *selection,
                                             const bool *threads,
                                             const struct tv_sample_question *question)
{
    struct tv_call_tree *tree = tv_call_tree_new(trace->head, &trace->paths);
    int64_t *measures = tv_sample_measures(trace, selection, threads, question);
    tree->figures = sample_figures_of(trace, question);
    tree->clocks = TV_CLOCK_WALL;
    for (size_t i = 0; i < trace->tables.samples.count; i++) {
        if (measures[i] == TV_SAMPLE_LEFT_OUT)
            continue;
        const struct tv_sample *sample = &trace->tables.samples.rows[i];
        sample_tree_add(tree, question->lines ? sample->line_path : sample->path,
                        tv_tables_count_sample(&trace->tables, sample), measures[i]);
    }
    sample_tree_add_sums(tree, &trace->tables, question);
    sample_tree_add_up(tree);
    tv_free(measures);
    return tree;
}

/* Count the tree of one thread after the other and copy it under a node for that thread.  A
 * thread costs as much as its own slices, not as all nodes of the trace: there may be tens of
 * thousands of both. */
struct thread_tree_builder {
    const struct tv_trace *trace;
    const struct tv_selection *selection;
    unsigned workers;
    struct tv_call_tree *one; /* tree of the current thread; all costs are 0 between threads */
    struct tv_paths paths;
    struct tv_path_cost *cost; /* by node of `paths` */
    size_t capacity;
    struct tv_sort_key *reached; /* nodes of `one` with calls, by number */
    size_t reached_count;
    uint8_t *noted;  /* by node of `one`: it is in `reached` */
    uint32_t *used;  /* nodes of a chain, innermost first */
    uint32_t *turn;  /* by node of `one`: the thread, from 1, for which `found` is valid */
    uint32_t *found; /* node of `paths` that stands for it */
    uint32_t turns;
};

/* Return the node under thread_node that stands for a node of the trace. */
static uint32_t thread_tree_find_node(struct thread_tree_builder *g, uint32_t thread_node,
                                      uint32_t node)
{
    size_t depth = 0;
    for (; node != TV_ROOT_PATH && g->turn[node] != g->turns; node = g->one->parent[node])
        g->used[depth++] = node;
    uint32_t found = node == TV_ROOT_PATH ? thread_node : g->found[node];
    while (depth > 0) {
        node = g->used[--depth];
        found = tv_paths_child(&g->paths, found, g->one->frame[node]);
        g->found[node] = found;
        g->turn[node] = g->turns;
    }
    return found;
}

/* Set the cost of a node, in an array that grows with the tree. */
static void thread_tree_add_cost(struct thread_tree_builder *g, uint32_t node,
                                 const struct tv_path_cost *cost)
{
    assert(node < g->paths.count);
    size_t before = g->capacity;
    g->cost = tv_array_reserve(g->cost, &g->capacity, g->paths.count, sizeof *g->cost);
    for (size_t i = before; i < g->capacity; i++)
        g->cost[i] = (struct tv_path_cost){0};
    g->cost[node] = *cost;
}

/* Note the nodes that the calls of a row reach, each once. */
static void thread_tree_note_row(struct thread_tree_builder *g, uint32_t row)
{
    const struct tv_row *r = &g->trace->rows[row];
    const uint32_t *path = g->trace->columns[r->columns].path + r->first;
    uint32_t first, end;
    tv_row_overlap(g->trace, row, g->selection->from, g->selection->to, &first, &end);
    for (uint32_t i = first; i < end; i++) {
        if (g->noted[path[i]] || g->one->cost[path[i]].calls == 0)
            continue;
        g->noted[path[i]] = 1;
        g->reached[g->reached_count++] = (struct tv_sort_key){path[i], 0};
    }
}

/* Find the nodes that the calls of some tracks reach, in ascending order. */
static void thread_tree_find_reached(struct thread_tree_builder *g, const uint32_t *tracks,
                                     uint32_t count)
{
    uint64_t slices = 0;
    g->reached_count = 0;
    for (uint32_t i = 0; i < count; i++)
        slices += g->trace->tracks[tracks[i]].slice_count;
    if (slices < g->one->count) {
        for (uint32_t i = 0; i < count; i++) {
            const struct tv_track *track = &g->trace->tracks[tracks[i]];
            for (uint32_t row = 0; row < track->row_count; row++)
                thread_tree_note_row(g, track->first_row + row);
        }
        tv_sort_keys(g->reached, g->reached_count);
        return;
    }
    for (uint32_t i = 1; i < g->one->count; i++)
        if (g->one->cost[i].calls > 0)
            g->reached[g->reached_count++] = (struct tv_sort_key){i, 0};
}

/* Count the calls of one thread, move the costs below its node, and leave `one` empty again. */
static void thread_tree_add_thread(struct thread_tree_builder *g, uint32_t thread,
                                   const uint32_t *tracks, uint32_t count)
{
    struct tv_selection own = *g->selection;
    own.tracks = tracks;
    own.track_count = count;
    tv_call_tree_add(g->one, g->trace, &own, g->workers);
    thread_tree_find_reached(g, tracks, count);
    uint32_t thread_node = tv_paths_child(&g->paths, TV_ROOT_PATH, TV_THREAD_FRAME + thread);
    g->turns++;
    for (size_t i = 0; i < g->reached_count; i++) {
        uint32_t node = (uint32_t)g->reached[i].key;
        thread_tree_add_cost(g, thread_tree_find_node(g, thread_node, node), &g->one->cost[node]);
        g->one->cost[node] = (struct tv_path_cost){0};
        g->noted[node] = 0;
    }
}

/* The tracks of a thread are neighbours. */
static void thread_tree_add_threads(struct thread_tree_builder *g)
{
    bool *wanted = tv_selection_wanted(g->trace, g->selection);
    uint32_t *tracks = tv_alloc(g->trace->track_count, sizeof *tracks), count = 0;
    for (uint32_t i = 0; i < g->trace->track_count; i++) {
        uint32_t thread = g->trace->tracks[i].thread;
        if (wanted[i])
            tracks[count++] = i;
        bool last = i + 1 == g->trace->track_count || g->trace->tracks[i + 1].thread != thread;
        if (last && count > 0) {
            thread_tree_add_thread(g, thread, tracks, count);
            count = 0;
        }
    }
    tv_free(tracks);
    tv_free(wanted);
}

struct tv_call_tree *tv_call_tree_by_thread(const struct tv_trace *trace,
                                            const struct tv_selection *selection, unsigned workers)
{
    struct thread_tree_builder g = {.trace = trace, .selection = selection, .workers = workers};
    g.one = tv_call_tree_new(trace->head, &trace->paths);
    g.used = tv_alloc(trace->paths.count, sizeof *g.used);
    g.turn = tv_alloc(trace->paths.count, sizeof *g.turn);
    g.found = tv_alloc(trace->paths.count, sizeof *g.found);
    g.noted = tv_alloc(trace->paths.count, sizeof *g.noted);
    g.reached = tv_alloc(trace->paths.count, sizeof *g.reached);
    tv_paths_init(&g.paths);
    thread_tree_add_threads(&g);
    struct tv_call_tree *tree = tv_call_tree_new(trace->head, &g.paths);
    for (uint32_t i = 0; i < g.paths.count && i < g.capacity; i++)
        tree->cost[i] = g.cost[i];
    tree->waits = g.one->waits;
    tv_call_tree_settle(tree);
    tv_paths_release(&g.paths);
    tv_call_tree_free(g.one);
    tv_free(g.cost);
    tv_free(g.used);
    tv_free(g.turn);
    tv_free(g.found);
    tv_free(g.noted);
    tv_free(g.reached);
    return tree;
}

/* Metadata key in files of ours and of Android. */
#define KEY "clock-call-overhead-nsec"

/* The slowest clock seen so far takes 20 us per reading; larger claims are ignored. */
#define SLOWEST_CLOCK_NS 1000000u

tv_ns tv_clock_cost(const struct tv_trace_info *head)
{
    uint64_t smallest = SLOWEST_CLOCK_NS, cost;
    for (uint32_t i = 0; i < head->input_count; i++) {
        struct tv_bytes text = tv_trace_info_find_metadata(head, i, KEY);
        if (!text.data || !tv_parse_u64(text, &cost))
            return 0;
        smallest = cost < smallest ? cost : smallest;
    }
    return head->input_count > 0 ? (tv_ns)smallest : 0;
}

enum tv_status tv_compensation_find(const struct tv_trace_info *head, tv_ns *cost,
                                    struct tv_error *err)
{
    *cost = tv_clock_cost(head);
    if (tv_trace_info_figures(head) == TV_FIGURES_SAMPLED)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "nothing to compensate: the trace was sampled, its calls cost nothing each");
    if (*cost > 0)
        return TV_OK;
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                   "cannot compensate: the trace does not state what a reading of its clock cost "
                   "(" KEY ")");
}

/* Per node: calls directly inside, and what was subtracted from all of their times. */
struct compensated_calls {
    uint64_t calls;
    int64_t wall, cpu;
};

/* Return the cost of `readings`, at most `time`. */
static int64_t compensation_of_readings(int64_t time, uint64_t readings, tv_ns cost)
{
    if (time <= 0)
        return 0;
    return readings > (uint64_t)(time / cost) ? time : (int64_t)readings * cost;
}

/* Subtract, but not below 0: the cost of a reading is an average. */
static void compensation_subtract(int64_t *time, int64_t part)
{
    *time = *time > part ? *time - part : 0;
}

void tv_call_tree_compensate(struct tv_call_tree *tree, tv_ns cost)
{
    assert(cost > 0 && !tree->lent);
    struct compensated_calls *inside = tv_alloc(tree->count, sizeof *inside);
    for (uint32_t i = tree->count; i-- > 1;) {
        struct tv_path_cost *path = &tree->cost[i];
        struct compensated_calls *up = &inside[tree->parent[i]], taken = inside[i];
        if (tv_call_tree_is_call(tree, i)) {
            uint64_t readings = path->calls + taken.calls;
            int64_t wall = compensation_of_readings(tree->self_wall[i], readings, cost);
            int64_t cpu = compensation_of_readings(tree->self_cpu[i], readings, cost);
            tree->self_wall[i] -= wall;
            tree->self_cpu[i] -= cpu;
            tv_time_add(&taken.wall, wall);
            tv_time_add(&taken.cpu, cpu);
            up->calls += path->calls;
        }
        compensation_subtract(&path->wall, taken.wall);
        compensation_subtract(&path->cpu, taken.cpu);
        tv_time_add(&up->wall, taken.wall);
        tv_time_add(&up->cpu, taken.cpu);
    }
    tree->compensation =
        (struct tv_compensation){cost, inside[TV_ROOT_PATH].wall, inside[TV_ROOT_PATH].cpu};
    tv_free(inside);
}
