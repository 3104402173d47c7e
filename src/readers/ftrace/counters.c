/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counters.c - counters of the kernel: frequencies, idle states, clocks, regulators, temperatures,
 * memory.
 *
 *     cpu_frequency: state=800000 cpu_id=1                  --> "CPU 1 Clock Frequency", 800000
 *     cpu_idle: state=4294967295 cpu_id=1                   --> "CPU 1 C-State", 0
 *     clock_set_rate: fout_apll state=500000000 cpu_id=0    --> "fout_apll Frequency", 500000000
 *
 * A table at the end names the events: handler, title ('*' stands for the name of the thing),
 * series, category, and the keys of the fields. Titles are those of Trace Viewer (ftrace.md section
 * 3). Values are as in the trace, without a change of the unit, unless the handler says otherwise.
 * A line that lacks its fields is TV_FT_MALFORMED: it is diagnosed, and stays as an instant.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/ftrace/chunk.h"
#include "readers/ftrace/decoded.h"
#include "readers/ftrace/fields.h"
#include "readers/ftrace/merge.h"

#define LONGEST_TITLE 128

struct ft_series_value {
    const char *series;
    double value;
};

/* Add a value of a counter of the whole system. */
static void ft_counter_add(struct tv_ft_chunk *chunk, const struct tv_ft_at *at, const char *title,
                           const char *category, struct ft_series_value value)
{
    struct tv_ft_counter counter = {
        .tgid = TV_FT_NO_ID,
        .name = tv_ft_chunk_string(chunk, tv_bytes_of(title)),
        .category = tv_ft_chunk_string(chunk, tv_bytes_of(category ? category : "")),
        .series = tv_ft_chunk_string(chunk, tv_bytes_of(value.series)),
    };
    tv_ft_chunk_count(chunk, at, &counter, value.value);
}

static uint32_t ft_counter_find_cpu(struct tv_ft_chunk *chunk, const char *title, int64_t cpu,
                                    const char *series)
{
    char text[LONGEST_TITLE];
    snprintf(text, sizeof text, "CPU %d %s", (int)cpu, title);
    struct tv_ft_counter counter = {
        .tgid = TV_FT_NO_ID,
        .name = tv_ft_chunk_string(chunk, tv_bytes_of(text)),
        .series = tv_ft_chunk_string(chunk, tv_bytes_of(series)),
    };
    return tv_ft_chunk_counter(chunk, &counter);
}

static void ft_counter_add_cpu(struct tv_ft_chunk *chunk, const struct tv_ft_at *at,
                               const char *title, int64_t cpu, struct ft_series_value value)
{
    tv_ft_chunk_add_value(chunk, at, ft_counter_find_cpu(chunk, title, cpu, value.series),
                          value.value);
}

/* Add a value of a counter with the single series "state". The title is a constant, so its
 * address and the processor identify the counter without a hash of the text. */
static void ft_counter_add_cpu_state(struct tv_ft_chunk *chunk, const struct tv_ft_at *at,
                                     const char *title, int64_t cpu, double value)
{
    uint64_t key = (uint64_t)(uintptr_t)title << 16 | (uint64_t)cpu;
    uint32_t number = tv_map_find(&chunk->cpu_counters, key);
    if (number == TV_NONE) {
        number = ft_counter_find_cpu(chunk, title, cpu, "state");
        tv_map_set(&chunk->cpu_counters, key, number);
    }
    tv_ft_chunk_add_value(chunk, at, number, value);
}

/* Add a value of a counter whose title contains the name of the thing. */
static void ft_counter_add_titled(struct tv_ft_chunk *chunk, const struct tv_ft_at *at,
                                  struct tv_bytes thing, const struct tv_ft_event *event,
                                  double value)
{
    char text[LONGEST_TITLE];
    tv_ft_format_title(text, sizeof text, event->title, thing);
    ft_counter_add(chunk, at, text, event->category,
                   (struct ft_series_value){event->series, value});
}

/* Processor numbers are 16 bits of a key (ft_counter_add_cpu_state); larger ones are damage. */
static bool ft_is_cpu(int64_t cpu)
{
    return cpu >= 0 && cpu < 65536;
}

/* Handle "state=800000 cpu_id=1". */
static enum tv_ft_taken ft_handle_cpu_counter(struct tv_ft_chunk *chunk,
                                              const struct tv_ft_line *line,
                                              const struct tv_ft_at *at,
                                              const struct tv_ft_event *event)
{
    double state;
    int64_t cpu;
    if (!tv_ft_arg_quantity(line->details, "state", &state) ||
        !tv_ft_arg_number(line->details, "cpu_id", &cpu) || !ft_is_cpu(cpu))
        return TV_FT_MALFORMED;
    ft_counter_add_cpu_state(chunk, at, event->title, cpu, state);
    return TV_FT_TAKEN;
}

/* Titles of the counters of processors; their addresses identify them. */
static const char frequency_title[] = "Clock Frequency", idle_title[] = "C-State";

/* Return 0 for "not idle", which the kernel writes as -1, and else the depth of the state from 1.
 */
static double ft_idle_level(int64_t state)
{
    return state == UINT32_MAX || state == -1 ? 0 : (double)state + 1;
}

/* Handle cpu_idle. The state -1 means that the processor left the idle states. */
static enum tv_ft_taken ft_handle_idle(struct tv_ft_chunk *chunk, const struct tv_ft_line *line,
                                       const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    int64_t state, cpu;
    if (!tv_ft_arg_number(line->details, "state", &state) ||
        !tv_ft_arg_number(line->details, "cpu_id", &cpu) || !ft_is_cpu(cpu))
        return TV_FT_MALFORMED;
    ft_counter_add_cpu_state(chunk, at, event->title, cpu, ft_idle_level(state));
    return TV_FT_TAKEN;
}

void tv_ft_take_cpu_frequency(struct tv_ft_chunk *chunk, const struct tv_ft_at *at, uint32_t cpu,
                              double khz)
{
    if (ft_is_cpu(cpu))
        ft_counter_add_cpu_state(chunk, at, frequency_title, cpu, khz);
}

void tv_ft_take_cpu_idle(struct tv_ft_chunk *chunk, const struct tv_ft_at *at, uint32_t cpu,
                         uint32_t state)
{
    if (ft_is_cpu(cpu))
        ft_counter_add_cpu_state(chunk, at, idle_title, cpu, ft_idle_level(state));
}

/* Handle "min=500000 max=2800000 cpu_id=6", or "min_freq=... max_freq=...". */
static enum tv_ft_taken ft_handle_limits(struct tv_ft_chunk *chunk, const struct tv_ft_line *line,
                                         const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    double least, most;
    int64_t cpu;
    if ((!tv_ft_arg_quantity(line->details, "min", &least) &&
         !tv_ft_arg_quantity(line->details, "min_freq", &least)) ||
        (!tv_ft_arg_quantity(line->details, "max", &most) &&
         !tv_ft_arg_quantity(line->details, "max_freq", &most)) ||
        !tv_ft_arg_number(line->details, "cpu_id", &cpu) || !ft_is_cpu(cpu))
        return TV_FT_MALFORMED;
    ft_counter_add_cpu(chunk, at, event->title, cpu,
                       (struct ft_series_value){"Min Frequency", least});
    ft_counter_add_cpu(chunk, at, event->title, cpu,
                       (struct ft_series_value){"Max Frequency", most});
    return TV_FT_TAKEN;
}

/* Handle "cpu 1 offline error=0". Trace Viewer shows the opposite (ftrace.md section 3). */
static enum tv_ft_taken ft_handle_hotplug(struct tv_ft_chunk *chunk, const struct tv_ft_line *line,
                                          const struct tv_ft_at *at,
                                          const struct tv_ft_event *event)
{
    struct tv_bytes rest = tv_ft_after(line->details, "cpu "), number = tv_ft_first_word(rest);
    int64_t cpu;
    if (rest.data == NULL || !tv_ft_parse_number(number, &cpu) || !ft_is_cpu(cpu))
        return TV_FT_MALFORMED;
    bool online = tv_ft_after(rest, "online").data != NULL;
    if (!online && tv_ft_after(rest, "offline").data == NULL)
        return TV_FT_MALFORMED;
    ft_counter_add_cpu(chunk, at, event->title, cpu, (struct ft_series_value){"State", online});
    return TV_FT_TAKEN;
}

/* Parse the value of "fout_apll 500000000"; "fout_apll" alone takes it from the event's name
 * (_enable, _disable). */
static bool ft_counter_parse_bare(struct tv_bytes details, struct tv_bytes thing,
                                  const struct tv_ft_event *event, double *value)
{
    const uint8_t *behind = thing.data + thing.length;
    struct tv_bytes rest = {behind, (size_t)(details.data + details.length - behind)};
    if (event->key)
        return false;
    if (tv_ft_parse_quantity(tv_ft_first_word(rest), value))
        return true;
    bool on = tv_ft_after(tv_bytes_of(event->name), "_enable").data != NULL;
    *value = on;
    return on || tv_ft_after(tv_bytes_of(event->name), "_disable").data != NULL;
}

/* Handle a counter of a thing, which is the value of event->key or the first word. */
static enum tv_ft_taken ft_handle_thing_counter(struct tv_ft_chunk *chunk,
                                                const struct tv_ft_line *line,
                                                const struct tv_ft_at *at,
                                                const struct tv_ft_event *event)
{
    struct tv_bytes thing =
        event->key ? tv_ft_arg(line->details, event->key) : tv_ft_first_word(line->details);
    double value;
    if (thing.length == 0 || (!tv_ft_arg_quantity(line->details, event->value, &value) &&
                              !ft_counter_parse_bare(line->details, thing, event, &value)))
        return TV_FT_MALFORMED;
    ft_counter_add_titled(chunk, at, thing, event, value);
    return TV_FT_TAKEN;
}

/* Handle a counter of which there is only one. */
static enum tv_ft_taken ft_handle_single_counter(struct tv_ft_chunk *chunk,
                                                 const struct tv_ft_line *line,
                                                 const struct tv_ft_at *at,
                                                 const struct tv_ft_event *event)
{
    double value;
    if (!tv_ft_arg_quantity(line->details, event->value, &value))
        return TV_FT_MALFORMED;
    ft_counter_add(chunk, at, event->title, event->category,
                   (struct ft_series_value){event->series, value});
    return TV_FT_TAKEN;
}

/* Handle "name=x"; event->value is the new state. */
static enum tv_ft_taken ft_handle_on_off(struct tv_ft_chunk *chunk, const struct tv_ft_line *line,
                                         const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    struct tv_bytes thing = tv_ft_arg(line->details, "name");
    if (thing.length == 0)
        return TV_FT_MALFORMED;
    ft_counter_add_titled(chunk, at, thing, event, event->value[0] - '0');
    return TV_FT_TAKEN;
}

/* Handle "bus=CPU rw_bytes=2756608 r_bytes=2267328 w_bytes=491328 cycles=6705198 ns=16763375" in
 * MiB/s. */
static enum tv_ft_taken ft_handle_bus(struct tv_ft_chunk *chunk, const struct tv_ft_line *line,
                                      const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    struct tv_bytes bus = tv_ft_arg(line->details, "bus");
    double read, written, ns;
    (void)event;
    if (bus.length == 0 || !tv_ft_arg_quantity(line->details, "r_bytes", &read) ||
        !tv_ft_arg_quantity(line->details, "w_bytes", &written) ||
        !tv_ft_arg_quantity(line->details, "ns", &ns) || ns <= 0)
        return TV_FT_MALFORMED;
    double scale = 1e9 / (1024.0 * 1024.0) / ns;
    struct tv_ft_event reads = {.title = "bus * read", .series = "value"};
    struct tv_ft_event writes = {.title = "bus * write", .series = "value"};
    ft_counter_add_titled(chunk, at, bus, &reads, read * scale);
    ft_counter_add_titled(chunk, at, bus, &writes, written * scale);
    return TV_FT_TAKEN;
}

/* Handle "member=0 size=4096B", or "mm_id=1 curr=1 member=0 size=4096B". */
static enum tv_ft_taken ft_handle_rss(struct tv_ft_chunk *chunk, const struct tv_ft_line *line,
                                      const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    static const char *const names[] = {"RSS 0 (file pages)", "RSS 1 (anon)", "RSS 2 (swap)",
                                        "RSS 3 (shmem pages)"};
    struct tv_bytes size = tv_ft_arg(line->details, "size");
    int64_t member;
    double bytes;
    (void)event;
    if (size.length > 0 && size.data[size.length - 1] == 'B')
        size.length--;
    if (!tv_ft_arg_number(line->details, "member", &member) || member < 0 || member > 3 ||
        !tv_ft_parse_quantity(size, &bytes))
        return TV_FT_MALFORMED;
    uint32_t name = tv_ft_chunk_string(chunk, tv_bytes_of(names[member]));
    struct tv_ft_counter counter = {
        .tgid = line->tgid,
        .name = name,
        .series = tv_ft_chunk_string(chunk, TV_BYTES("RSS")),
    };
    tv_ft_chunk_count(chunk, at, &counter, bytes);
    return TV_FT_TAKEN;
}

#define CPU(event, title_of)                                                                       \
    {                                                                                              \
        .name = (event), .handle = ft_handle_cpu_counter, .title = (title_of)                      \
    }
#define THING(event, title_of, key_of, value_of, series_of)                                        \
    {                                                                                              \
        .name = (event), .handle = ft_handle_thing_counter, .title = (title_of), .key = (key_of),  \
        .value = (value_of), .series = (series_of)                                                 \
    }
#define ONE(event, title_of, category_of, value_of, series_of)                                     \
    {                                                                                              \
        .name = (event), .handle = ft_handle_single_counter, .title = (title_of),                  \
        .category = (category_of), .value = (value_of), .series = (series_of)                      \
    }
#define SWITCHED(event, title_of, state, series_of)                                                \
    {                                                                                              \
        .name = (event), .handle = ft_handle_on_off, .title = (title_of), .value = (state),        \
        .series = (series_of)                                                                      \
    }

const struct tv_ft_event tv_ft_counter_events[] = {
    CPU("cpu_frequency", frequency_title),
    CPU("power_frequency", "Clock Frequency"),
    CPU("power_start", "C-State"),
    {.name = "cpu_idle", .handle = ft_handle_idle, .title = idle_title},
    {.name = "cpu_frequency_limits", .handle = ft_handle_limits, .title = "Clock Frequency Limits"},
    {.name = "sched_cpu_hotplug", .handle = ft_handle_hotplug, .title = "Cpu Hotplug"},
    THING("clock_set_rate", "* Frequency", NULL, "state", "value"),
    THING("clk_set_rate", "* Frequency", NULL, "state", "value"),
    THING("clock_enable", "* State", NULL, "state", "value"),
    THING("clock_disable", "* State", NULL, "state", "value"),
    THING("clk_enable", "* State", NULL, "state", "value"),
    THING("clk_disable", "* State", NULL, "state", "value"),
    THING("thermal_temperature", "* Temperature", "thermal_zone", "temp", "value"),
    THING("cdev_update", "* CoolingDevice", "type", "target", "value"),
    THING("ion_heap_grow", "* ion heap", "heap_name", "total_allocated", "value"),
    THING("ion_heap_shrink", "* ion heap", "heap_name", "total_allocated", "value"),
    THING("regulator_set_voltage_complete", "vreg * voltage", "name", "val", "voltage"),
    SWITCHED("regulator_enable", "vreg * enabled", "1", "enabled"),
    SWITCHED("regulator_disable", "vreg * enabled", "0", "enabled"),
    ONE("exynos_busfreq_target_int", "CPU 0 INT Frequency", NULL, "frequency", "frequency"),
    ONE("exynos_busfreq_target_mif", "CPU 0 MIF Frequency", NULL, "frequency", "frequency"),
    ONE("msm_gpu_freq_change", "GPU Frequency", "GPU", "new_freq", "frequency"),
    ONE("mali_dvfs_event", "DVFS Utilization", "DVFS", "utilization", "utilization"),
    ONE("mali_dvfs_set_clock", "DVFS Frequency", "DVFS", "frequency", "frequency"),
    ONE("mali_dvfs_set_voltage", "DVFS Voltage", "DVFS", "voltage", "voltage"),
    {.name = "memory_bus_usage", .handle = ft_handle_bus},
    {.name = "rss_stat", .handle = ft_handle_rss},
    {.name = NULL},
};

/* ---- Merging the chunks ---- */

/*
 * Most counters have one series and values in order: their values move straight from the chunks to
 * the tables of the trace (`straight`), when the gathered slices have become rows: a value takes
 * less memory in a chunk than in the tables.  The others are collected first, sorted, and the
 * values of one event joined into one sample.
 */

/* A counter with its series in all chunks. */
struct ft_merged_counter {
    uint32_t process, name, category;
    struct tv_counter_facts facts;
    uint32_t *series; /* strings */
    size_t series_count, series_capacity;
    size_t count;
    size_t first;         /* in `values`; straight: in the samples of the trace, the next one */
    size_t first_value;   /* straight: in the values of the trace, the next one */
    int64_t last_time;    /* of the value before */
    uint64_t last_offset; /* of the value before */
    bool straight;
};

struct ft_merged_value {
    int64_t time;
    uint64_t offset;
    double value;
    uint32_t series; /* number of a series of the counter */
};

/* Columns of a counter; NULL: filled later. */
struct ft_counter_samples {
    const tv_ns *times;
    const uint64_t *offsets;
    const double *values;
};

/* Merged counter and series of a counter of a chunk. */
struct ft_counter_place {
    uint32_t counter, series;
};

struct tv_ft_counter_merge {
    struct tv_ft_merge *merge;
    struct ft_counter_place **places; /* by chunk and counter */
    TV_TABLE(ft_merged_counter) counters;
    struct tv_interner *keys;
    struct ft_merged_value *values;
};

/* Return the counter and the series of a value, added if they are new. Counters are one if their
 * process, name and all facts are. */
static struct ft_counter_place ft_counts_place_series(struct tv_ft_counter_merge *c,
                                                      const struct tv_ft_counter *counter,
                                                      const uint32_t *texts)
{
    uint32_t process = tv_ft_merge_process(c->merge, counter->tgid);
    struct tv_counter_facts facts = {texts[counter->facts.unit], texts[counter->facts.type],
                                     texts[counter->facts.description],
                                     texts[counter->facts.dimensions]};
    uint32_t key[] = {process,    texts[counter->name], texts[counter->category], facts.unit,
                      facts.type, facts.description,    facts.dimensions};
    struct tv_bytes bytes = {(const uint8_t *)key, sizeof key};
    struct ft_counter_place place = {tv_interner_add(c->keys, bytes) - 1, 0};
    if (place.counter == c->counters.count)
        *tv_table_add(&c->counters) = (struct ft_merged_counter){
            .process = process, .name = key[1], .category = key[2], .facts = facts};
    struct ft_merged_counter *found = &c->counters.rows[place.counter];
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

static struct ft_counter_place **ft_counts_place_all(struct tv_ft_counter_merge *c)
{
    struct tv_ft_merge *merge = c->merge;
    struct ft_counter_place **places = tv_alloc(merge->reader_count, sizeof *places);
    for (size_t i = 0; i < merge->reader_count; i++) {
        const struct tv_ft_chunk *chunk = &merge->readers[i].chunk;
        places[i] = tv_alloc(chunk->counters.count, sizeof **places);
        for (size_t k = 0; k < chunk->counters.count; k++)
            places[i][k] =
                ft_counts_place_series(c, &chunk->counters.rows[k], merge->numbers[i].texts);
    }
    return places;
}

/* Count the values of a chunk, and find the counters whose values are not in order. */
static void ft_counts_survey_chunk(struct tv_ft_counter_merge *c, const struct tv_ft_chunk *chunk,
                                   const struct ft_counter_place *places)
{
    struct tv_ft_value_walk walk = {.block = chunk->values.first};
    struct tv_ft_value value;
    while (tv_ft_values_next(&walk, &value)) {
        struct ft_merged_counter *counter = &c->counters.rows[places[value.counter].counter];
        if (counter->count++ > 0 && tv_ft_compare_times(counter->last_time, counter->last_offset,
                                                        value.time, value.offset) >= 0)
            counter->straight = false;
        counter->last_time = value.time;
        counter->last_offset = value.offset;
    }
}

/* Collect the values of the counters that are not straight. */
static void ft_counts_collect_chunk(struct tv_ft_counter_merge *c, const struct tv_ft_chunk *chunk,
                                    const struct ft_counter_place *places)
{
    struct tv_ft_value_walk walk = {.block = chunk->values.first};
    struct tv_ft_value value;
    while (tv_ft_values_next(&walk, &value)) {
        const struct ft_counter_place *place = &places[value.counter];
        struct ft_merged_counter *counter = &c->counters.rows[place->counter];
        if (!counter->straight)
            c->values[counter->first + counter->count++] =
                (struct ft_merged_value){value.time, value.offset, value.value, place->series};
    }
}

/* Move the values of straight counters to the samples of the trace, and free all blocks. */
static void ft_counts_move_chunk(struct tv_ft_counter_merge *c, struct tv_ft_chunk *chunk,
                                 const struct ft_counter_place *places)
{
    struct tv_tables *tables = &c->merge->trace->tables;
    struct tv_ft_value_walk walk = {.block = chunk->values.first};
    struct tv_ft_value value;
    while (tv_ft_values_next(&walk, &value)) {
        while (chunk->values.first != walk.block)
            tv_ft_values_drop_block(&chunk->values);
        struct ft_merged_counter *counter = &c->counters.rows[places[value.counter].counter];
        if (!counter->straight)
            continue;
        tables->counter_times[counter->first] = value.time;
        tables->counter_offsets[counter->first] = value.offset;
        tables->counter_values[counter->first_value] = value.value;
        counter->first++;
        counter->first_value++;
    }
    while (chunk->values.first)
        tv_ft_values_drop_block(&chunk->values);
}

/* Count all values, and collect those that must be sorted, in the order of the file.  Return the
 * number of these. */
static size_t ft_counts_collect_values(struct tv_ft_counter_merge *c,
                                       struct ft_counter_place **places)
{
    struct tv_ft_merge *merge = c->merge;
    size_t total = 0;
    for (size_t i = 0; i < c->counters.count; i++)
        c->counters.rows[i].straight = c->counters.rows[i].series_count == 1;
    for (size_t i = 0; i < merge->reader_count; i++)
        ft_counts_survey_chunk(c, &merge->readers[i].chunk, places[i]);
    for (size_t i = 0; i < c->counters.count; i++) {
        struct ft_merged_counter *counter = &c->counters.rows[i];
        if (counter->straight)
            continue;
        counter->first = total;
        total += counter->count;
        counter->count = 0;
    }
    c->values = tv_alloc(total, sizeof *c->values);
    for (size_t i = 0; total > 0 && i < merge->reader_count; i++)
        ft_counts_collect_chunk(c, &merge->readers[i].chunk, places[i]);
    return total;
}

TV_FT_DEFINE_SORT(values, ft_merged_value)

static void ft_counts_add_row(struct tv_ft_counter_merge *c,
                              const struct ft_merged_counter *counter, size_t samples,
                              const struct ft_counter_samples *columns)
{
    if (samples >= TV_NONE)
        tv_memory_exhausted();
    struct tv_counter row = {
        .name = counter->name,
        .category = counter->category,
        .process = counter->process,
        .facts = counter->facts,
        .input = c->merge->input,
        .series_count = (uint32_t)counter->series_count,
        .sample_count = (uint32_t)samples,
    };
    tv_tables_add_counter(&c->merge->trace->tables, &row, counter->series, columns->times,
                          columns->offsets, columns->values);
}

/* Add a straight counter, whose samples are moved later. */
static void ft_counts_add_straight(struct tv_ft_counter_merge *c, struct ft_merged_counter *counter)
{
    struct tv_tables *tables = &c->merge->trace->tables;
    counter->first = tables->counter_sample_count;
    counter->first_value = tables->counter_value_count;
    ft_counts_add_row(c, counter, counter->count, &(struct ft_counter_samples){NULL, NULL, NULL});
}

/* Add a counter to the trace. Values of one event form one sample; a series without a value is
 * NaN. */
static void ft_counts_add_sorted(struct tv_ft_counter_merge *c, struct ft_merged_counter *counter)
{
    assert(counter->series_count > 0);
    struct ft_merged_value *values = c->values + counter->first;
    size_t samples = 0, width = counter->series_count;
    tv_ns *times = tv_alloc(counter->count, sizeof *times);
    uint64_t *offsets = tv_alloc(counter->count, sizeof *offsets);
    double *table = tv_alloc(tv_size_mul(counter->count, width), sizeof *table);
    ft_sort_values(values, counter->count);
    for (size_t i = 0; i < counter->count; i++) {
        if (i == 0 || values[i].offset != values[i - 1].offset ||
            values[i].time != values[i - 1].time) {
            times[samples] = values[i].time;
            offsets[samples] = values[i].offset;
            for (size_t k = 0; k < width; k++)
                table[samples * width + k] = NAN;
            samples++;
        }
        table[(samples - 1) * width + values[i].series] = values[i].value;
    }
    ft_counts_add_row(c, counter, samples, &(struct ft_counter_samples){times, offsets, table});
    tv_free(times);
    tv_free(offsets);
    tv_free(table);
}

/* Reserve the upper bound: one sample may have values of several series. */
static void ft_counts_reserve_samples(const struct tv_ft_counter_merge *c)
{
    size_t samples = 0, values = 0;
    for (size_t i = 0; i < c->counters.count; i++) {
        samples += c->counters.rows[i].count;
        values += tv_size_mul(c->counters.rows[i].count, c->counters.rows[i].series_count);
    }
    tv_tables_reserve_samples(&c->merge->trace->tables, samples, values);
}

void tv_ft_merge_move_counters(struct tv_ft_merge *merge)
{
    struct tv_ft_counter_merge *c = merge->counters;
    if (!c)
        return;
    for (size_t i = 0; i < merge->reader_count; i++) {
        ft_counts_move_chunk(c, &merge->readers[i].chunk, c->places[i]);
        tv_free(c->places[i]);
    }
    tv_free(c->places);
    tv_free(c->counters.rows);
    tv_free(c);
    merge->counters = NULL;
}

void tv_ft_merge_counters(struct tv_ft_merge *merge)
{
    struct tv_ft_counter_merge *c = tv_alloc(1, sizeof *c);
    size_t samples = merge->trace->tables.counter_sample_count;
    assert(!merge->counters);
    merge->counters = c;
    c->merge = merge;
    c->keys = tv_interner_new();
    c->places = ft_counts_place_all(c);
    size_t collected = ft_counts_collect_values(c, c->places);
    ft_counts_reserve_samples(c);
    for (size_t i = 0; i < c->counters.count; i++) {
        if (c->counters.rows[i].straight)
            ft_counts_add_straight(c, &c->counters.rows[i]);
        else
            ft_counts_add_sorted(c, &c->counters.rows[i]);
        tv_free(c->counters.rows[i].series);
    }
    tv_free(c->values);
    tv_interner_free(c->keys);
    /* The collected values are in the tables already: they should not stay in the chunks as well.
     */
    if (collected > (merge->trace->tables.counter_sample_count - samples) / 8)
        tv_ft_merge_move_counters(merge);
}
