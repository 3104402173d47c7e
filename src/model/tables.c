/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.c - growing, sorting and searching the tables of a trace.
 *
 * Readers append rows in any order; tv_tables_finish sorts each table once, and searches rely on
 * that order from then on.  Every order is total or ends with the offset of the event, so that each
 * C library gives the same trace and the same index.
 *
 * Sorting instants gives them new numbers, and flows refer to instants by number.  The flows' ends
 * are therefore noted as rows before the sort and looked up by their content after it.
 */
#include "model/tables.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"

#define RELEASE(table) tv_free((table)->rows)

void tv_tables_release(struct tv_tables *tables)
{
    RELEASE(&tables->instants);
    RELEASE(&tables->counters);
    RELEASE(&tables->series);
    RELEASE(&tables->flows);
    RELEASE(&tables->objects);
    RELEASE(&tables->snapshots);
    RELEASE(&tables->value_types);
    RELEASE(&tables->samples);
    tv_sample_sums_release(&tables->sample_sums);
    RELEASE(&tables->event_types);
    RELEASE(&tables->function_costs);
    RELEASE(&tables->call_edges);
    RELEASE(&tables->memory_dumps);
    RELEASE(&tables->memory_figures);
    RELEASE(&tables->contexts);
    RELEASE(&tables->joins);
    RELEASE(&tables->clock_syncs);
    RELEASE(&tables->known_names);
    RELEASE(&tables->stack_frames);
    RELEASE(&tables->slice_extras);
    RELEASE(&tables->async_extras);
    RELEASE(&tables->wakeups);
    RELEASE(&tables->blockings);
    RELEASE(&tables->task_facts);
    tv_free(tables->object_keys);
    tv_free(tables->counter_times);
    tv_free(tables->counter_offsets);
    tv_free(tables->counter_values);
    memset(tables, 0, sizeof *tables);
}

void tv_tables_reserve_samples(struct tv_tables *tables, size_t samples, size_t values)
{
    size_t capacity = tables->counter_sample_capacity;
    tables->counter_times =
        tv_array_reserve(tables->counter_times, &capacity, tables->counter_sample_count + samples,
                         sizeof *tables->counter_times);
    capacity = tables->counter_sample_capacity;
    tables->counter_offsets =
        tv_array_reserve(tables->counter_offsets, &capacity, tables->counter_sample_count + samples,
                         sizeof *tables->counter_offsets);
    tables->counter_sample_capacity = capacity;
    tables->counter_values =
        tv_array_reserve(tables->counter_values, &tables->counter_value_capacity,
                         tables->counter_value_count + values, sizeof *tables->counter_values);
}

static void counter_copy_samples(struct tv_tables *tables, size_t count, const tv_ns *times,
                                 const uint64_t *offsets)
{
    memcpy(tables->counter_times + tables->counter_sample_count, times, count * sizeof *times);
    memcpy(tables->counter_offsets + tables->counter_sample_count, offsets,
           count * sizeof *offsets);
}

static void counter_copy_values(struct tv_tables *tables, size_t count, const double *values)
{
    memcpy(tables->counter_values + tables->counter_value_count, values, count * sizeof *values);
}

void tv_tables_add_counter(struct tv_tables *tables, const struct tv_counter *counter,
                           const uint32_t *series_names, const tv_ns *times,
                           const uint64_t *offsets, const double *values)
{
    struct tv_counter *added = tv_table_add(&tables->counters);
    *added = *counter;
    added->first_series = (uint32_t)tables->series.count;
    added->first_sample = tables->counter_sample_count;
    added->first_value = tables->counter_value_count;
    for (uint32_t i = 0; i < counter->series_count; i++)
        tv_table_add(&tables->series)->name = series_names[i];
    if (counter->sample_count == 0)
        return;
    size_t value_count = tv_size_mul(counter->sample_count, counter->series_count);
    tv_tables_reserve_samples(tables, counter->sample_count, value_count);
    if (times) {
        assert(offsets != NULL);
        counter_copy_samples(tables, counter->sample_count, times, offsets);
        if (value_count > 0)
            counter_copy_values(tables, value_count, values);
    }
    tables->counter_sample_count += counter->sample_count;
    tables->counter_value_count += value_count;
}

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* By input and time; events at equal times keep the order of the file. */
#define DEFINE_COMPARE_TIMES(name, type)                                                           \
    static int name(const void *left, const void *right)                                           \
    {                                                                                              \
        const struct type *a = left, *b = right;                                                   \
        if (a->input != b->input)                                                                  \
            return COMPARE(a->input, b->input);                                                    \
        if (a->time != b->time)                                                                    \
            return COMPARE(a->time, b->time);                                                      \
        return COMPARE(a->offset, b->offset);                                                      \
    }

DEFINE_COMPARE_TIMES(compare_instants, tv_instant)
DEFINE_COMPARE_TIMES(compare_dumps, tv_memory_dump)

/* By whose stack it is and by value type, so that the values of an input sample are together. */
static int compare_sample_stacks(const struct tv_sample *a, const struct tv_sample *b)
{
    if (a->thread != b->thread)
        return COMPARE(a->thread, b->thread);
    if (a->cpu != b->cpu)
        return COMPARE(a->cpu, b->cpu);
    if (a->line_path != b->line_path)
        return COMPARE(a->line_path, b->line_path);
    return a->type != b->type ? COMPARE(a->type, b->type) : COMPARE(a->weight, b->weight);
}

/* Many input samples may share a time and an offset, such as those of one packet: the order is
 * total, as each C library sorts equal rows in its own way. */
static int compare_samples(const void *left, const void *right)
{
    const struct tv_sample *a = left, *b = right;
    if (a->input != b->input)
        return COMPARE(a->input, b->input);
    if (a->time != b->time)
        return COMPARE(a->time, b->time);
    return a->offset != b->offset ? COMPARE(a->offset, b->offset) : compare_sample_stacks(a, b);
}

/* Order flows by begin, then as in the file. */
static int compare_flows(const void *left, const void *right)
{
    const struct tv_flow *a = left, *b = right;
    if (a->input != b->input)
        return COMPARE(a->input, b->input);
    if (a->from.time != b->from.time)
        return COMPARE(a->from.time, b->from.time);
    if (a->offset != b->offset)
        return COMPARE(a->offset, b->offset);
    return COMPARE(a->end_offset, b->end_offset);
}

/* Order contexts by thread and time. */
static int compare_contexts(const void *left, const void *right)
{
    const struct tv_context *a = left, *b = right;
    if (a->thread != b->thread)
        return COMPARE(a->thread, b->thread);
    if (a->start != b->start)
        return COMPARE(a->start, b->start);
    return COMPARE(a->offset, b->offset);
}

#define COMPARE_SLICES(a, b)                                                                       \
    ((a)->row != (b)->row ? COMPARE((a)->row, (b)->row) : COMPARE((a)->index, (b)->index))

static int compare_slice_extras(const void *left, const void *right)
{
    const struct tv_slice_extra *a = left, *b = right;
    return COMPARE_SLICES(a, b);
}

static int compare_async_extras(const void *left, const void *right)
{
    const struct tv_async_extra *a = left, *b = right;
    return COMPARE_SLICES(a, b);
}

/* By input and key; the entry of the whole file sorts last, so an upper bound finds it first. */
static int compare_stack_keys(const struct tv_stack_frame *a, const struct tv_stack_frame *b)
{
    return a->input != b->input ? COMPARE(a->input, b->input) : COMPARE(a->key, b->key);
}

static int compare_stack_frames(const void *left, const void *right)
{
    const struct tv_stack_frame *a = left, *b = right;
    int keys = compare_stack_keys(a, b);
    return keys ? keys : COMPARE(a->process, b->process);
}

/* By group. */
static int compare_joins(const void *left, const void *right)
{
    const struct tv_join *a = left, *b = right;
    if (a->group != b->group)
        return COMPARE(a->group, b->group);
    return COMPARE(a->offset, b->offset);
}

static int compare_wakeups(const void *left, const void *right)
{
    const struct tv_wakeup *a = left, *b = right;
    if (a->thread != b->thread)
        return COMPARE(a->thread, b->thread);
    return a->time != b->time ? COMPARE(a->time, b->time) : COMPARE(a->offset, b->offset);
}

static int compare_blockings(const void *left, const void *right)
{
    const struct tv_blocking *a = left, *b = right;
    if (a->thread != b->thread)
        return COMPARE(a->thread, b->thread);
    return a->time != b->time ? COMPARE(a->time, b->time) : COMPARE(a->offset, b->offset);
}

/* The most significant part of a row's sort key. */
typedef uint64_t key_function(const void *row);
typedef int compare_function(const void *left, const void *right);

#define DEFINE_KEY(name, type, key)                                                                \
    static uint64_t name(const void *row)                                                          \
    {                                                                                              \
        const struct type *r = row;                                                                \
        return key;                                                                                \
    }

DEFINE_KEY(instant_key, tv_instant, tv_sort_signed(r->time))
DEFINE_KEY(sample_key, tv_sample, tv_sort_signed(r->time))
DEFINE_KEY(flow_key, tv_flow, tv_sort_signed(r->from.time))
DEFINE_KEY(slice_extra_key, tv_slice_extra, (uint64_t)r->row << 32 | r->index)
DEFINE_KEY(async_extra_key, tv_async_extra, (uint64_t)r->row << 32 | r->index)

/* Return true for rows in order, which most readers deliver. */
static bool table_is_sorted(const uint8_t *rows, size_t count, size_t size,
                            compare_function *compare)
{
    for (size_t i = 1; i < count; i++)
        if (compare(rows + (i - 1) * size, rows + i * size) > 0)
            return false;
    return true;
}

/* By key alone.  Return the sorted rows; the others are free.  The keys become numbers of 32 bits
 * before there are two copies of the rows. */
static void *table_sort_by_key(uint8_t *rows, size_t count, size_t size, key_function *key)
{
    struct tv_sort_key *keys = tv_alloc(count, sizeof *keys);
    for (size_t i = 0; i < count; i++)
        keys[i] = (struct tv_sort_key){key(rows + i * size), i};
    tv_sort_keys(keys, count);
    uint32_t *order = tv_alloc(count, sizeof *order);
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)keys[i].index;
    tv_free(keys);
    uint8_t *sorted = tv_alloc(count, size);
    for (size_t i = 0; i < count; i++)
        memcpy(sorted + i * size, rows + (size_t)order[i] * size, size);
    tv_free(order);
    tv_free(rows);
    return sorted;
}

/* Return the sorted rows, which may have moved.  Most tables are sorted already, or differ only
 * within equal keys. */
static void *table_sort(void *rows, size_t count, size_t size, compare_function *compare,
                        key_function *key)
{
    if (table_is_sorted(rows, count, size, compare))
        return rows;
    if (key && count < TV_NONE) {
        rows = table_sort_by_key(rows, count, size, key);
        if (table_is_sorted(rows, count, size, compare))
            return rows;
    }
    qsort(rows, count, size, compare);
    return rows;
}

#define SORT(table, compare, key)                                                                  \
    do {                                                                                           \
        void *before_ = (table)->rows;                                                             \
        (table)->rows = table_sort(before_, (table)->count, sizeof *(table)->rows, compare, key);  \
        if ((table)->rows != before_)                                                              \
            (table)->capacity = (table)->count;                                                    \
    } while (0)

typedef void end_function(struct tv_tables *tables, struct tv_flow_end *end, void *context);

/* Call a function for each flow end that is an instant. */
static void flow_each_instant_end(struct tv_tables *tables, end_function *call, void *context)
{
    for (size_t i = 0; i < tables->flows.count; i++) {
        struct tv_flow *flow = &tables->flows.rows[i];
        if (flow->from.row == TV_NONE)
            call(tables, &flow->from, context);
        if (flow->to.row == TV_NONE)
            call(tables, &flow->to, context);
    }
}

/* The instants at flow ends, in the order of the flows. */
struct flow_instants {
    TV_TABLE(tv_instant) instants;
    size_t next;
};

static void flow_note_instant(struct tv_tables *tables, struct tv_flow_end *end, void *context)
{
    struct flow_instants *touched = context;
    *tv_table_add(&touched->instants) = tables->instants.rows[end->index];
}

/* Find the instant that an end of a flow was at before the table was sorted. */
static void flow_find_instant(struct tv_tables *tables, struct tv_flow_end *end, void *context)
{
    struct flow_instants *touched = context;
    const struct tv_instant *instants = tables->instants.rows;
    const struct tv_instant *found =
        bsearch(&touched->instants.rows[touched->next++], instants, tables->instants.count,
                sizeof *found, compare_instants);
    assert(found != NULL);
    end->index = (uint32_t)(found - instants);
}

/* Sort the instants and renumber them in the flows. */
static void tables_sort_instants(struct tv_tables *tables)
{
    struct flow_instants touched = {.next = 0};
    flow_each_instant_end(tables, flow_note_instant, &touched);
    SORT(&tables->instants, compare_instants, instant_key);
    flow_each_instant_end(tables, flow_find_instant, &touched);
    tv_free(touched.instants.rows);
}

uint32_t tv_tables_value_type(struct tv_tables *tables, uint32_t input, uint32_t name,
                              uint32_t unit)
{
    for (uint32_t i = 0; i < tables->value_types.count; i++) {
        const struct tv_value_type *type = &tables->value_types.rows[i];
        if (type->input == input && type->name == name && type->unit == unit)
            return i;
    }
    if (tables->value_types.count >= TV_TYPES_MAX)
        return TV_TYPES_MAX - 1;
    struct tv_value_type *added = tv_table_add(&tables->value_types);
    added->input = input;
    added->name = name;
    added->unit = unit;
    return (uint32_t)tables->value_types.count - 1;
}

void tv_tables_count_events(struct tv_tables *tables, uint32_t input, uint32_t name, uint64_t count)
{
    if (count == 0)
        return;
    for (size_t i = 0; i < tables->event_types.count; i++) {
        struct tv_event_type *type = &tables->event_types.rows[i];
        if ((type->input == input && type->name == name) || i == TV_TYPES_MAX - 1) {
            type->count += count;
            return;
        }
    }
    *tv_table_add(&tables->event_types) = (struct tv_event_type){count, name, input};
}

/* Add samples to the sums of their value type, and to that of all positive weights. */
TV_INLINE void tables_add_sum(struct tv_tables *tables, uint32_t type, uint64_t samples,
                              int64_t weight)
{
    assert(type < tables->value_types.count);
    tables->value_types.rows[type].samples += samples;
    tv_time_add(&tables->value_types.rows[type].total, weight);
    tv_time_add(&tables->positive_weights, weight > 0 ? weight : 0);
}

/* Sum up the samples of each value type.  Return whether the samples are sorted: they are the
 * largest table of a profile, and this is one pass instead of two. */
static bool tables_sum_value_types(struct tv_tables *tables)
{
    const struct tv_sample *rows = tables->samples.rows;
    bool sorted = true;
    for (size_t i = 0; i < tables->value_types.count; i++)
        tables->value_types.rows[i].samples = 0, tables->value_types.rows[i].total = 0;
    tables->positive_weights = 0;
    for (size_t i = 0; i < tables->samples.count; i++) {
        tables_add_sum(tables, rows[i].type, tv_tables_count_sample(tables, &rows[i]),
                       rows[i].weight);
        bool later =
            i == 0 || (rows[i - 1].input == rows[i].input && rows[i - 1].time < rows[i].time);
        sorted &= later || compare_samples(&rows[i - 1], &rows[i]) <= 0;
    }
    for (size_t i = 0; i < tables->sample_sums.count; i++) {
        const struct tv_sample_sum *sum = &tables->sample_sums.rows[i];
        tables_add_sum(tables, sum->type, sum->samples, sum->weight);
    }
    return sorted;
}

uint64_t tv_tables_sample_count(const struct tv_tables *tables)
{
    uint64_t count = tables->samples.count;
    for (size_t i = 0; i < tables->sample_sums.count; i++)
        count += tables->sample_sums.rows[i].samples;
    return count;
}

/* Let the totals of value types with function costs be exact. */
static void tables_sum_function_costs(struct tv_tables *tables)
{
    for (size_t i = 0; i < tables->function_costs.count; i++)
        tables->value_types.rows[tables->function_costs.rows[i].type].total = 0;
    for (size_t i = 0; i < tables->function_costs.count; i++) {
        const struct tv_function_cost *cost = &tables->function_costs.rows[i];
        assert(cost->type < tables->value_types.count);
        tv_time_add(&tables->value_types.rows[cost->type].total, cost->self);
    }
}

void tv_tables_finish(struct tv_tables *tables)
{
    bool sorted = tables_sum_value_types(tables);
    tables_sum_function_costs(tables);
    tables_sort_instants(tables);
    SORT(&tables->flows, compare_flows, flow_key);
    if (!sorted)
        SORT(&tables->samples, compare_samples, sample_key);
    SORT(&tables->memory_dumps, compare_dumps, NULL);
    SORT(&tables->contexts, compare_contexts, NULL);
    SORT(&tables->stack_frames, compare_stack_frames, NULL);
    SORT(&tables->slice_extras, compare_slice_extras, slice_extra_key);
    SORT(&tables->async_extras, compare_async_extras, async_extra_key);
    SORT(&tables->joins, compare_joins, NULL);
    SORT(&tables->wakeups, compare_wakeups, NULL);
    SORT(&tables->blockings, compare_blockings, NULL);
}

const struct tv_slice_extra *tv_tables_slice_extra(const struct tv_tables *tables, uint32_t row,
                                                   uint32_t index)
{
    struct tv_slice_extra key = {.row = row, .index = index};
    if (tables->slice_extras.count == 0)
        return NULL;
    return bsearch(&key, tables->slice_extras.rows, tables->slice_extras.count, sizeof key,
                   compare_slice_extras);
}

const struct tv_async_extra *tv_tables_async_extra(const struct tv_tables *tables, uint32_t row,
                                                   uint32_t index)
{
    struct tv_async_extra key = {.row = row, .index = index};
    if (tables->async_extras.count == 0)
        return NULL;
    return bsearch(&key, tables->async_extras.rows, tables->async_extras.count, sizeof key,
                   compare_async_extras);
}

size_t tv_tables_joins(const struct tv_tables *tables, uint32_t group, size_t *first)
{
    *first = 0;
    if (group == TV_NONE)
        return 0;
    size_t low = 0, end;
    TV_LOWER_BOUND(low, tables->joins.count, i, tables->joins.rows[i].group < group);
    *first = low;
    for (end = low; end < tables->joins.count && tables->joins.rows[end].group == group;)
        end++;
    return end - low;
}

const struct tv_stack_frame *tv_tables_stack_frame(const struct tv_tables *tables, uint32_t input,
                                                   uint32_t key)
{
    struct tv_stack_frame wanted = {.input = input, .key = key};
    size_t low = 0;
    TV_LOWER_BOUND(low, tables->stack_frames.count, i,
                   compare_stack_keys(&tables->stack_frames.rows[i], &wanted) <= 0);
    if (low == 0 || compare_stack_keys(&tables->stack_frames.rows[low - 1], &wanted) != 0)
        return NULL;
    return &tables->stack_frames.rows[low - 1];
}

/* ---- Sums of samples ---- */

void tv_sample_sums_release(struct tv_sample_sums *sums)
{
    tv_free(sums->rows);
    tv_free(sums->of_path);
    tv_map_release(&sums->of_many);
    *sums = (struct tv_sample_sums){.rows = NULL};
}

/* A path's sums of so many types are a list, which is quicker than a hash table; but a file can
 * have thousands of types. */
#define LISTED_TYPES 8

static struct tv_sample_sum *sample_sums_append(struct tv_sample_sums *sums,
                                                struct tv_sample_sum sum)
{
    if (sums->count >= TV_NONE - 1)
        tv_memory_exhausted();
    sums->rows = tv_array_reserve(sums->rows, &sums->capacity, sums->count + 1, sizeof *sums->rows);
    sums->rows[sums->count] = sum;
    return &sums->rows[sums->count++];
}

/* Return the sum of a path and a type, adding it if needed. */
static struct tv_sample_sum *sample_sums_find(struct tv_sample_sums *sums, uint32_t path,
                                              uint32_t type)
{
    struct tv_sample_sum added = {.path = path, .type = type};
    if (TV_UNLIKELY(type >= LISTED_TYPES)) {
        uint32_t row =
            tv_map_add(&sums->of_many, (uint64_t)path << 32 | type, (uint32_t)sums->count);
        return row < sums->count ? &sums->rows[row] : sample_sums_append(sums, added);
    }
    for (uint32_t at = sums->of_path[path]; at != 0; at = sums->rows[at - 1].next) {
        assert(sums->rows[at - 1].path == path);
        if (sums->rows[at - 1].type == type)
            return &sums->rows[at - 1];
    }
    added.next = sums->of_path[path];
    sums->of_path[path] = (uint32_t)sums->count + 1;
    return sample_sums_append(sums, added);
}

void tv_sample_sums_add(struct tv_sample_sums *sums, uint32_t path, uint32_t type, uint64_t samples,
                        int64_t weight)
{
    assert(sums->detail != TV_SAMPLES_SINGLE);
    size_t before = sums->path_capacity;
    if (TV_UNLIKELY(path >= before)) {
        sums->of_path = tv_array_reserve(sums->of_path, &sums->path_capacity, (size_t)path + 1,
                                         sizeof *sums->of_path);
        memset(sums->of_path + before, 0, (sums->path_capacity - before) * sizeof *sums->of_path);
    }
    struct tv_sample_sum *sum = sample_sums_find(sums, path, type);
    sum->samples += samples;
    tv_time_add(&sum->weight, weight);
}
