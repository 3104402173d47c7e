/* SPDX-License-Identifier: Apache-2.0 */
/*
 * first_values.c - which rows are the values of one input sample (tables.h).
 *
 *     time axis              each sample has its values together: samples 1, cpu 10 | samples 1 ...
 *     axis of the weights    each value type has a time line of its own, so the values of a sample
 *                            lie apart; its offset, thread and stack tell them
 *
 * The rows of the second kind are sorted when a query first asks for them.
 */
#include <pthread.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/sort.h"
#include "sql/tables.h"

struct tv_sql_first_values {
    pthread_mutex_t lock;
    uint64_t *first; /* [samples] the first row of each row's sample; NULL: not computed yet */
};

struct tv_sql_first_values *tv_sql_first_values_new(void)
{
    struct tv_sql_first_values *values = tv_alloc(1, sizeof *values);
    pthread_mutex_init(&values->lock, NULL);
    return values;
}

void tv_sql_first_values_free(struct tv_sql_first_values *values)
{
    if (!values)
        return;
    tv_free(values->first);
    pthread_mutex_destroy(&values->lock);
    tv_free(values);
}

/* May two rows be values of one sample? */
static bool first_values_are_akin(const struct tv_sample *a, const struct tv_sample *b)
{
    return a->offset == b->offset && a->input == b->input && a->thread == b->thread &&
           a->line_path == b->line_path;
}

static uint64_t first_values_hash(const struct tv_sample *sample)
{
    uint64_t stack = tv_hash_u64((uint64_t)sample->thread << 32 | sample->line_path);
    return tv_hash_u64(stack ^ tv_hash_u64(sample->offset + sample->input));
}

/* Set the first rows of rows that are akin, which are in the order of their ids.  Those of the
 * first type begin a sample each. */
static void first_values_set(uint64_t *first, const struct tv_sample *samples,
                             const struct tv_sort_key *rows, size_t count)
{
    uint32_t least = UINT32_MAX;
    uint64_t leader = rows[0].index;
    for (size_t i = 0; i < count; i++)
        if (samples[rows[i].index].type < least) {
            leader = rows[i].index;
            least = samples[leader].type;
        }
    for (size_t i = 0; i < count; i++)
        first[rows[i].index] = samples[rows[i].index].type == least ? rows[i].index : leader;
}

static uint64_t *first_values_compute(const struct tv_trace *trace)
{
    const struct tv_sample *samples = trace->tables.samples.rows;
    size_t count = trace->tables.samples.count, listed = 0;
    uint64_t *first = tv_alloc(count + 1, sizeof *first);
    struct tv_sort_key *rows = tv_alloc(count + 1, sizeof *rows);
    for (size_t i = 0; i < count; i++)
        if (trace->head->inputs[samples[i].input].weight_axis)
            rows[listed++] = (struct tv_sort_key){first_values_hash(&samples[i]), i};
    tv_sort_keys(rows, listed);
    for (size_t from = 0, to; from < listed; from = to) {
        for (to = from + 1; to < listed && first_values_are_akin(&samples[rows[from].index],
                                                                 &samples[rows[to].index]);)
            to++;
        first_values_set(first, samples, rows + from, to - from);
    }
    tv_free(rows);
    return first;
}

/* The types of a sample with a time rise, so the way back to its first row is short. */
static uint64_t first_values_before(const struct tv_sample *samples, uint64_t row)
{
    while (row > 0 && first_values_are_akin(&samples[row], &samples[row - 1]) &&
           samples[row - 1].time == samples[row].time && samples[row - 1].type < samples[row].type)
        row--;
    return row;
}

uint64_t tv_sql_first_value(const struct tv_sql_data *data, uint64_t row)
{
    const struct tv_trace *trace = data->trace;
    const struct tv_sample *samples = trace->tables.samples.rows;
    struct tv_sql_first_values *values = data->first_values;
    if (!trace->head->inputs[samples[row].input].weight_axis)
        return first_values_before(samples, row);
    pthread_mutex_lock(&values->lock);
    if (!values->first)
        values->first = first_values_compute(trace);
    pthread_mutex_unlock(&values->lock);
    return values->first[row];
}
