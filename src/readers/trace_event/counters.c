/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.c - counter events (C): those of one chunk, then of all chunks as counters of the trace.
 *
 *     {"ph":"C","pid":1,"ts":10,"name":"pets","args":{"cats":0,"dogs":7}}
 *     {"ph":"C","pid":1,"ts":20,"name":"pets","args":{"cats":2}}
 *
 * becomes a counter "pets" of the process with two columns, one for each series:
 *
 *     time    cats  dogs
 *     10 us      0     7
 *     20 us      2   NaN     NaN: the event does not name the series
 *
 * With an "id" each id is a counter of its own, named "pets[id]".  true and false are 1 and 0; null
 * is no value.  Any other value that is no number is diagnosed and becomes NaN.
 *
 * An event names its series again each time.  So a chunk keeps shapes: the list of names that an
 * event of a counter has.  An event with the shape of the one before costs a comparison and its
 * values; the merge gives each shape's names their columns once.
 *
 * Numbers of processes, names and counters here are those of the chunk.  The merge maps them to the
 * numbers of the trace; it goes through the chunks in their order, so the columns have the order of
 * the file whatever the number of threads.
 */
#include "readers/trace_event/chunk.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"
#include "model/trace_info.h"
#include "readers/trace_event/text/fields.h"

/* The series that an event names.  Most events of a counter have the same shape. */
struct te_counter_shape {
    uint32_t counter;
    uint32_t count;
    size_t first; /* in `names` */
};

/* A series as an event names it. */
struct te_series_name {
    struct tv_bytes raw; /* as in the file; a shape's is in `raws` */
    uint32_t text;       /* in `texts` */
};

struct te_chunk_counter {
    uint32_t process, name; /* numbers of the chunk */
    uint32_t id;            /* in `texts`; TV_NONE: none */
    uint32_t last_shape;    /* of its last event; TV_NONE: there was none */
    unsigned colour;        /* of the first event with one; 0: none */
};

/* A sample; its values are in `values` after those of the sample before. */
struct te_counter_sample {
    int64_t time;
    uint64_t offset;
    uint32_t shape;
};

struct tv_te_counters {
    struct tv_interner *texts;        /* names of series, ids */
    struct tv_interner *counter_keys; /* number - 1 is the index of the counter */
    struct tv_interner *shape_keys;   /* number - 1 is the index of the shape */
    struct tv_arena raws;
    TV_TABLE(te_chunk_counter) counters;
    TV_TABLE(te_counter_shape) shapes;
    TV_TABLE(te_series_name) names;
    TV_TABLE(te_counter_sample) samples;
    double *values;
    size_t value_count, value_capacity;
    /* The current event: */
    TV_TABLE(te_series_name) found;
    double *found_values;
    size_t found_capacity;
    struct tv_te_scratch scratch;
};

struct tv_te_counters *tv_te_counters_new(void)
{
    struct tv_te_counters *counters = tv_alloc(1, sizeof *counters);
    counters->texts = tv_interner_new();
    counters->counter_keys = tv_interner_new();
    counters->shape_keys = tv_interner_new();
    tv_arena_init(&counters->raws);
    return counters;
}

void tv_te_counters_free(struct tv_te_counters *counters)
{
    if (!counters)
        return;
    tv_interner_free(counters->texts);
    tv_interner_free(counters->counter_keys);
    tv_interner_free(counters->shape_keys);
    tv_arena_release(&counters->raws);
    tv_free(counters->counters.rows);
    tv_free(counters->shapes.rows);
    tv_free(counters->names.rows);
    tv_free(counters->samples.rows);
    tv_free(counters->values);
    tv_free(counters->found.rows);
    tv_free(counters->found_values);
    tv_te_scratch_release(&counters->scratch);
    tv_free(counters);
}

/* ---- One event ---- */

/* Return the counter of an event; add it when new. */
static uint32_t te_counters_find_counter(struct tv_te_counters *counters,
                                         const struct tv_te_counter_event *event)
{
    uint32_t key[3] = {event->process, event->name, TV_NONE};
    if (event->id.data)
        key[2] = tv_interner_add(counters->texts, tv_te_decode_text(event->id, &counters->scratch));
    struct tv_bytes bytes = {(const uint8_t *)key, sizeof key};
    uint32_t number = tv_interner_add(counters->counter_keys, bytes) - 1;
    if (number == counters->counters.count)
        *tv_table_add(&counters->counters) = (struct te_chunk_counter){
            .process = event->process,
            .name = event->name,
            .id = key[2],
            .last_shape = TV_NONE,
        };
    if (counters->counters.rows[number].colour == 0)
        counters->counters.rows[number].colour = event->colour;
    return number;
}

/* Parse "NaN", "Infinity" and "-Infinity", as strict JSON writes them. */
static bool te_counter_parse_quoted(struct tv_bytes raw, double *value)
{
    return tv_te_is_string(raw) && raw.length > 2 &&
           tv_te_parse_number((struct tv_bytes){raw.data + 1, raw.length - 2}, value) &&
           !isfinite(*value);
}

/* Parse a value.  NaN stands for a value that is not a number. */
static double te_counter_parse_value(struct tv_bytes raw, bool *bad)
{
    double value;
    if (tv_te_parse_number(raw, &value) || te_counter_parse_quoted(raw, &value))
        return value;
    if (tv_bytes_equal(raw, TV_BYTES("true")))
        return 1;
    if (tv_bytes_equal(raw, TV_BYTES("false")))
        return 0;
    *bad = *bad || !tv_bytes_equal(raw, TV_BYTES("null"));
    return (double)NAN;
}

/* Fill `found` from the arguments; true: some value is not a number. */
static bool te_counters_read_args(struct tv_te_counters *counters, struct tv_bytes args)
{
    bool bad = false;
    counters->found.count = 0;
    if (args.length == 0 || args.data[0] != '{')
        return true;
    const uint8_t *at = args.data + 1, *end = args.data + args.length;
    struct tv_bytes key, raw;
    while (tv_te_member_next(&at, end, &key, &raw)) {
        size_t number = counters->found.count;
        *tv_table_add(&counters->found) = (struct te_series_name){key, TV_NONE};
        counters->found_values = tv_array_reserve(counters->found_values, &counters->found_capacity,
                                                  number + 1, sizeof *counters->found_values);
        counters->found_values[number] = te_counter_parse_value(raw, &bad);
    }
    return bad;
}

/* True when the series that were found are those of a shape, in the same order. */
static bool te_counters_match_shape(const struct tv_te_counters *counters, uint32_t number)
{
    if (number == TV_NONE)
        return false;
    const struct te_counter_shape *shape = &counters->shapes.rows[number];
    if (shape->count != counters->found.count)
        return false;
    for (uint32_t i = 0; i < shape->count; i++)
        if (!tv_bytes_equal(counters->names.rows[shape->first + i].raw,
                            counters->found.rows[i].raw))
            return false;
    return true;
}

/* Number the series that were found.  Of duplicate names the last value counts. */
static void te_counters_number_series(struct tv_te_counters *counters)
{
    struct tv_map places;
    size_t kept = 0;
    tv_map_init(&places);
    for (size_t i = 0; i < counters->found.count; i++) {
        struct te_series_name *name = &counters->found.rows[i];
        name->text =
            tv_interner_add(counters->texts, tv_te_decode_text(name->raw, &counters->scratch));
        size_t place = tv_map_add(&places, name->text, (uint32_t)kept);
        counters->found.rows[place] = *name;
        counters->found_values[place] = counters->found_values[i];
        kept += place == kept;
    }
    counters->found.count = kept;
    tv_map_release(&places);
}

/* Add a shape; the raw names are copied, as they are in the window. */
static void te_counters_add_shape(struct tv_te_counters *counters, uint32_t counter)
{
    *tv_table_add(&counters->shapes) = (struct te_counter_shape){
        .counter = counter,
        .count = (uint32_t)counters->found.count,
        .first = counters->names.count,
    };
    for (size_t i = 0; i < counters->found.count; i++) {
        struct te_series_name name = counters->found.rows[i];
        name.raw.data = (const uint8_t *)tv_arena_text(&counters->raws, name.raw);
        *tv_table_add(&counters->names) = name;
    }
}

/* Return the shape of the series that were found; add it when new. */
static uint32_t te_counters_find_shape(struct tv_te_counters *counters, uint32_t counter)
{
    te_counters_number_series(counters);
    size_t count = counters->found.count;
    uint32_t *key = tv_alloc(count + 1, sizeof *key);
    key[0] = counter;
    for (size_t i = 0; i < count; i++)
        key[i + 1] = counters->found.rows[i].text;
    struct tv_bytes bytes = {(const uint8_t *)key, (count + 1) * sizeof *key};
    uint32_t number = tv_interner_add(counters->shape_keys, bytes) - 1;
    tv_free(key);
    if (number == counters->shapes.count)
        te_counters_add_shape(counters, counter);
    return number;
}

void tv_te_counters_add(struct tv_te_counters *counters, const struct tv_te_counter_event *event,
                        struct tv_diagnostics *diagnostics)
{
    bool bad = te_counters_read_args(counters, event->args);
    if (bad || counters->found.count == 0)
        tv_diagnostics_add(diagnostics, TV_DIAGNOSTIC_BAD_COUNTER, event->offset);
    if (counters->found.count == 0)
        return;
    uint32_t number = te_counters_find_counter(counters, event);
    uint32_t shape = counters->counters.rows[number].last_shape;
    if (!te_counters_match_shape(counters, shape))
        shape = te_counters_find_shape(counters, number);
    counters->counters.rows[number].last_shape = shape;
    assert(counters->shapes.rows[shape].count == counters->found.count);
    assert(counters->shapes.rows[shape].counter == number);
    *tv_table_add(&counters->samples) =
        (struct te_counter_sample){event->time, event->offset, shape};
    size_t count = counters->found.count;
    counters->values = tv_array_reserve(counters->values, &counters->value_capacity,
                                        counters->value_count + count, sizeof *counters->values);
    memcpy(counters->values + counters->value_count, counters->found_values,
           count * sizeof *counters->values);
    counters->value_count += count;
}

/* ---- All chunks ---- */

/* A counter of all chunks. */
struct te_merged_counter {
    struct tv_counter counter;
    uint32_t *series; /* strings of the head */
    size_t series_count, series_capacity;
    size_t first, count; /* samples */
    size_t value_count;  /* values */
};

/* A sample on its way to its counter. */
struct te_merged_sample {
    int64_t time;
    uint64_t offset;
    size_t order; /* in the file; breaks ties of time */
    const double *values;
    const uint32_t *columns; /* of the values, in the merged counter */
    uint32_t count;
};

struct te_counters_merge {
    struct tv_trace_info *head;
    uint32_t input;
    struct tv_interner *keys;
    struct tv_map series; /* (merged counter, string) -> column */
    TV_TABLE(te_merged_counter) joined;
    uint32_t **numbers; /* [chunk][counter of the chunk] -> merged counter */
    uint32_t **columns; /* [chunk][name of the chunk] -> column */
    struct te_merged_sample *moved;
};

/* Return "name[id]". */
static uint32_t te_counter_title(struct te_counters_merge *merge, uint32_t name, struct tv_bytes id)
{
    struct tv_bytes text = tv_trace_info_text(merge->head, name);
    uint8_t *shown = tv_alloc(text.length + id.length + 3, 1);
    memcpy(shown, text.data, text.length);
    shown[text.length] = '[';
    if (id.length > 0)
        memcpy(shown + text.length + 1, id.data, id.length);
    shown[text.length + id.length + 1] = ']';
    uint32_t string =
        tv_trace_info_string(merge->head, (struct tv_bytes){shown, text.length + id.length + 2});
    tv_free(shown);
    return string;
}

/* Return the merged counter of a chunk's counter.  Ids become part of the name. */
static uint32_t te_counters_merge_counter(struct te_counters_merge *merge,
                                          const struct tv_te_counters_chunk *chunk,
                                          const struct te_chunk_counter *counter)
{
    const struct tv_frame *frame = &merge->head->frames[chunk->frames[counter->name]];
    uint32_t category = frame->category, name = frame->name;
    if (counter->id != TV_NONE)
        name = te_counter_title(merge, name, tv_interner_get(chunk->counters->texts, counter->id));
    uint32_t key[3] = {chunk->processes[counter->process], category, name};
    struct tv_bytes bytes = {(const uint8_t *)key, sizeof key};
    uint32_t number = tv_interner_add(merge->keys, bytes) - 1;
    if (number == merge->joined.count)
        tv_table_add(&merge->joined)->counter = (struct tv_counter){
            .name = name,
            .category = category,
            .process = key[0],
            .input = merge->input,
        };
    struct te_merged_counter *joined = &merge->joined.rows[number];
    if (joined->counter.colour == 0)
        joined->counter.colour = (uint8_t)counter->colour;
    return number;
}

/* Return the column of a series in its counter; series are numbered in the order of the file. */
static uint32_t te_counters_merge_series(struct te_counters_merge *merge, uint32_t number,
                                         struct tv_bytes text)
{
    struct te_merged_counter *joined = &merge->joined.rows[number];
    uint32_t string = tv_trace_info_string(merge->head, text);
    uint32_t count = (uint32_t)joined->series_count;
    uint32_t column = tv_map_add(&merge->series, (uint64_t)number << 32 | string, count);
    if (column != count)
        return column;
    joined->series = tv_array_reserve(joined->series, &joined->series_capacity,
                                      joined->series_count + 1, sizeof *joined->series);
    joined->series[joined->series_count++] = string;
    return column;
}

/* Map the counters of a chunk to merged ones. */
static void te_counters_merge_keys(struct te_counters_merge *merge, size_t index,
                                   const struct tv_te_counters_chunk *chunk)
{
    const struct tv_te_counters *own = chunk->counters;
    merge->numbers[index] = tv_alloc(own->counters.count, sizeof **merge->numbers);
    for (size_t i = 0; i < own->counters.count; i++)
        merge->numbers[index][i] = te_counters_merge_counter(merge, chunk, &own->counters.rows[i]);
}

/* Map the names of a chunk to columns, and count how many samples each counter will get. */
static void te_counters_merge_shapes(struct te_counters_merge *merge, size_t index,
                                     const struct tv_te_counters *own)
{
    const uint32_t *numbers = merge->numbers[index];
    uint32_t *columns = tv_alloc(own->names.count, sizeof *columns);
    for (size_t i = 0; i < own->shapes.count; i++) {
        const struct te_counter_shape *shape = &own->shapes.rows[i];
        for (size_t j = shape->first; j < shape->first + shape->count; j++)
            columns[j] =
                te_counters_merge_series(merge, numbers[shape->counter],
                                         tv_interner_get(own->texts, own->names.rows[j].text));
    }
    for (size_t i = 0; i < own->samples.count; i++) {
        const struct te_counter_shape *shape = &own->shapes.rows[own->samples.rows[i].shape];
        struct te_merged_counter *joined = &merge->joined.rows[numbers[shape->counter]];
        joined->count++;
        joined->value_count += shape->count;
    }
    merge->columns[index] = columns;
}

/* Move the samples of a chunk to their counters, in the order of the file. */
static void te_counters_move_samples(struct te_counters_merge *merge, size_t index,
                                     const struct tv_te_counters *own)
{
    const double *values = own->values;
    for (size_t i = 0; i < own->samples.count; i++) {
        const struct te_counter_sample *sample = &own->samples.rows[i];
        const struct te_counter_shape *shape = &own->shapes.rows[sample->shape];
        struct te_merged_counter *joined =
            &merge->joined.rows[merge->numbers[index][shape->counter]];
        size_t place = joined->first + joined->count++;
        merge->moved[place] = (struct te_merged_sample){
            sample->time, sample->offset, place, values, merge->columns[index] + shape->first,
            shape->count,
        };
        values += shape->count;
    }
}

static int te_counter_compare_samples(const void *left, const void *right)
{
    const struct te_merged_sample *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Most counters come in the order of time and need no sorting. */
static bool te_counter_samples_sorted(const struct te_merged_sample *moved, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (moved[i].time < moved[i - 1].time)
            return false;
    return true;
}

/* A file that names new series in each event must not take memory of the square of its size. */
#define MIN_VALUES ((size_t)1 << 20)
#define VALUES_A_TOLD 16

/* Return how many series of a counter are kept. */
static size_t te_counter_series_limit(const struct te_merged_counter *joined)
{
    size_t most = MIN_VALUES + joined->value_count * VALUES_A_TOLD;
    size_t kept = joined->count > 0 ? most / joined->count : joined->series_count;
    return kept < joined->series_count ? kept : joined->series_count;
}

/* Write one row of values; NaN where the sample does not name the series. */
static void te_counter_write_row(double *to, size_t width, const struct te_merged_sample *moved)
{
    for (size_t i = 0; i < width; i++)
        to[i] = (double)NAN;
    for (size_t i = 0; i < moved->count; i++)
        if (moved->columns[i] < width)
            to[moved->columns[i]] = moved->values[i];
}

/* Sort the samples of a counter by time and add the counter to the tables. */
static void te_counter_write(struct te_counters_merge *merge, struct te_merged_counter *joined,
                             struct tv_tables *tables)
{
    assert(joined->count > 0); /* a counter begins with a sample */
    struct te_merged_sample *moved = merge->moved + joined->first;
    size_t width = te_counter_series_limit(joined);
    if (width < joined->series_count)
        tv_diagnostics_add(&merge->head->diagnostics, TV_DIAGNOSTIC_MANY_SERIES, moved->offset);
    if (!te_counter_samples_sorted(moved, joined->count))
        qsort(moved, joined->count, sizeof *moved, te_counter_compare_samples);
    tv_ns *times = tv_alloc(joined->count, sizeof *times);
    uint64_t *offsets = tv_alloc(joined->count, sizeof *offsets);
    double *values = tv_alloc(tv_size_mul(joined->count, width), sizeof *values);
    for (size_t i = 0; i < joined->count; i++) {
        times[i] = moved[i].time;
        offsets[i] = moved[i].offset;
        te_counter_write_row(values + i * width, width, &moved[i]);
    }
    joined->counter.series_count = (uint32_t)width;
    joined->counter.sample_count = (uint32_t)joined->count;
    tv_tables_add_counter(tables, &joined->counter, joined->series, times, offsets, values);
    tv_free(times);
    tv_free(offsets);
    tv_free(values);
}

void tv_te_counters_merge(const struct tv_te_counters_chunk *chunks, size_t count,
                          struct tv_trace_info *head, uint32_t input, struct tv_tables *tables)
{
    struct te_counters_merge merge = {.head = head, .input = input, .keys = tv_interner_new()};
    size_t total = 0;
    tv_map_init(&merge.series);
    merge.numbers = tv_alloc(count, sizeof *merge.numbers);
    merge.columns = tv_alloc(count, sizeof *merge.columns);
    for (size_t i = 0; i < count; i++)
        te_counters_merge_keys(&merge, i, &chunks[i]);
    for (size_t i = 0; i < count; i++)
        te_counters_merge_shapes(&merge, i, chunks[i].counters);
    for (size_t i = 0; i < merge.joined.count; i++) {
        merge.joined.rows[i].first = total;
        total += merge.joined.rows[i].count;
        merge.joined.rows[i].count = 0;
    }
    merge.moved = tv_alloc(total, sizeof *merge.moved);
    for (size_t i = 0; i < count; i++)
        te_counters_move_samples(&merge, i, chunks[i].counters);
    for (size_t i = 0; i < merge.joined.count; i++) {
        te_counter_write(&merge, &merge.joined.rows[i], tables);
        tv_free(merge.joined.rows[i].series);
    }
    for (size_t i = 0; i < count; i++) {
        tv_free(merge.numbers[i]);
        tv_free(merge.columns[i]);
    }
    tv_free(merge.numbers);
    tv_free(merge.columns);
    tv_free(merge.moved);
    tv_free(merge.joined.rows);
    tv_map_release(&merge.series);
    tv_interner_free(merge.keys);
}
