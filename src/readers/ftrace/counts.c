/* SPDX-License-Identifier: Apache-2.0 */
/* The counters of all parts: each counter's values in the order of time, those of one event one
 * sample. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "readers/ftrace/merge.h"

/* A counter with the series that the parts name. */
struct counter {
    uint32_t process, name, category;
    uint32_t *series; /* strings */
    size_t series_count, series_capacity;
    size_t first, count; /* of its values */
};

struct value {
    int64_t time;
    uint64_t offset;
    double value;
    uint32_t series; /* of the counter */
};

struct counting {
    struct tv_ft_merge *merge;
    TV_TABLE(counter) counters;
    struct tv_interner *keys;
    struct value *values;
};

/* What a counter of a part is of all. */
struct place {
    uint32_t counter, series;
};

static struct place find_place(struct counting *c, const struct tv_ft_counter *counter,
                               const uint32_t *texts)
{
    uint32_t process = tv_ft_process(c->merge, counter->tgid);
    uint32_t key[3] = {process, texts[counter->name], texts[counter->category]};
    struct tv_bytes bytes = {(const uint8_t *)key, sizeof key};
    struct place place = {tv_interner_add(c->keys, bytes) - 1, 0};
    if (place.counter == c->counters.count)
        *tv_table_add(&c->counters) =
            (struct counter){.process = process, .name = key[1], .category = key[2]};
    struct counter *found = &c->counters.rows[place.counter];
    while (place.series < found->series_count &&
           found->series[place.series] != texts[counter->series])
        place.series++;
    if (place.series == found->series_count) {
        found->series = tv_array_reserve(found->series, &found->series_capacity,
                                         found->series_count + 1, sizeof *found->series);
        found->series[found->series_count++] = texts[counter->series];
    }
    return place;
}

static struct place **find_places(struct counting *c)
{
    struct tv_ft_merge *merge = c->merge;
    struct place **places = tv_alloc(merge->text_count, sizeof *places);
    for (size_t i = 0; i < merge->text_count; i++) {
        const struct tv_ft_part *part = &merge->texts[i].part;
        places[i] = tv_alloc(part->counters.count, sizeof **places);
        for (size_t k = 0; k < part->counters.count; k++)
            places[i][k] = find_place(c, &part->counters.rows[k], merge->numbers[i].texts);
    }
    return places;
}

/* Those of a part, which needs them no more. */
static void move_values(struct counting *c, struct tv_ft_part *part, const struct place *places)
{
    for (size_t i = 0; i < part->values.count; i++) {
        const struct tv_ft_value *value = &part->values.rows[i];
        const struct place *place = &places[value->counter];
        struct counter *counter = &c->counters.rows[place->counter];
        c->values[counter->first + counter->count++] =
            (struct value){value->time, value->offset, value->value, place->series};
    }
    tv_free(part->values.rows);
    part->values.rows = NULL;
}

/* Puts the values of each counter together, in the order of the file. */
static void collect_values(struct counting *c, struct place **places)
{
    struct tv_ft_merge *merge = c->merge;
    size_t total = 0;
    for (size_t i = 0; i < merge->text_count; i++)
        for (size_t k = 0; k < merge->texts[i].part.values.count; k++)
            c->counters.rows[places[i][merge->texts[i].part.values.rows[k].counter].counter]
                .count++;
    for (size_t i = 0; i < c->counters.count; i++) {
        c->counters.rows[i].first = total;
        total += c->counters.rows[i].count;
        c->counters.rows[i].count = 0;
    }
    c->values = tv_alloc(total, sizeof *c->values);
    for (size_t i = 0; i < merge->text_count; i++)
        move_values(c, &merge->texts[i].part, places[i]);
}

static int compare_values(const void *left, const void *right)
{
    const struct value *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static void sort_values(struct value *values, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (values[i].time < values[i - 1].time) {
            qsort(values, count, sizeof *values, compare_values);
            return;
        }
}

static void add_counter(struct counting *c, struct counter *counter)
{
    struct value *values = c->values + counter->first;
    size_t samples = 0, width = counter->series_count;
    tv_ns *times = tv_alloc(counter->count, sizeof *times);
    uint64_t *offsets = tv_alloc(counter->count, sizeof *offsets);
    double *table = tv_alloc(tv_size_mul(counter->count, width), sizeof *table);
    sort_values(values, counter->count);
    for (size_t i = 0; i < counter->count; i++) {
        if (i == 0 || values[i].offset != values[i - 1].offset) {
            times[samples] = values[i].time;
            offsets[samples] = values[i].offset;
            for (size_t k = 0; k < width; k++)
                table[samples * width + k] = NAN;
            samples++;
        }
        table[(samples - 1) * width + values[i].series] = values[i].value;
    }
    if (samples >= TV_NONE)
        tv_memory_exhausted();
    struct tv_counter row = {
        .name = counter->name,
        .category = counter->category,
        .process = counter->process,
        .input = c->merge->input,
        .series_count = (uint32_t)width,
        .sample_count = (uint32_t)samples,
    };
    tv_tables_add_counter(&c->merge->trace->tables, &row, counter->series, times, offsets, table);
    tv_free(times);
    tv_free(offsets);
    tv_free(table);
}

/* As many as there may be: a sample may have values of several series. */
static void reserve_samples(const struct counting *c)
{
    size_t samples = 0, values = 0;
    for (size_t i = 0; i < c->counters.count; i++) {
        samples += c->counters.rows[i].count;
        values += tv_size_mul(c->counters.rows[i].count, c->counters.rows[i].series_count);
    }
    tv_tables_reserve_samples(&c->merge->trace->tables, samples, values);
}

void tv_ft_merge_counters(struct tv_ft_merge *merge)
{
    struct counting c = {.merge = merge, .keys = tv_interner_new()};
    struct place **places = find_places(&c);
    collect_values(&c, places);
    reserve_samples(&c);
    for (size_t i = 0; i < c.counters.count; i++) {
        add_counter(&c, &c.counters.rows[i]);
        tv_free(c.counters.rows[i].series);
    }
    for (size_t i = 0; i < merge->text_count; i++)
        tv_free(places[i]);
    tv_free(places);
    tv_free(c.counters.rows);
    tv_free(c.values);
    tv_interner_free(c.keys);
}
