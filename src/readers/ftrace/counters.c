/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of the kernel: frequencies, idle states, clocks, regulators, temperatures, memory. */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "readers/ftrace/args.h"
#include "readers/ftrace/events.h"

#define LONGEST_TITLE 128

struct value {
    const char *series;
    double value;
};

static void count(struct tv_ft_part *part, const struct tv_ft_at *at, const char *title,
                  const char *category, struct value value)
{
    struct tv_ft_counter counter = {TV_FT_NO_ID, tv_ft_text(part, tv_bytes_of(title)),
                                    tv_ft_text(part, tv_bytes_of(category ? category : "")),
                                    tv_ft_text(part, tv_bytes_of(value.series))};
    tv_ft_count(part, at, &counter, value.value);
}

static uint32_t find_of_cpu(struct tv_ft_part *part, const char *title, int64_t cpu,
                            const char *series)
{
    char text[LONGEST_TITLE];
    snprintf(text, sizeof text, "CPU %d %s", (int)cpu, title);
    struct tv_ft_counter counter = {TV_FT_NO_ID, tv_ft_text(part, tv_bytes_of(text)),
                                    TV_EMPTY_STRING, tv_ft_text(part, tv_bytes_of(series))};
    return tv_ft_find_counter(part, &counter);
}

static void count_of_cpu(struct tv_ft_part *part, const struct tv_ft_at *at, const char *title,
                         int64_t cpu, struct value value)
{
    tv_ft_add_value(part, at, find_of_cpu(part, title, cpu, value.series), value.value);
}

/* The same of a counter with one series, "state": titles are constants, so with the processor they
 * name it. */
static void count_state(struct tv_ft_part *part, const struct tv_ft_at *at, const char *title,
                        int64_t cpu, double value)
{
    uint64_t key = (uint64_t)(uintptr_t)title << 16 | (uint64_t)cpu;
    uint32_t number = tv_map_find(&part->cpu_counters, key);
    if (number == TV_NONE) {
        number = find_of_cpu(part, title, cpu, "state");
        tv_map_set(&part->cpu_counters, key, number);
    }
    tv_ft_add_value(part, at, number, value);
}

/* "thing title" */
static void count_of(struct tv_ft_part *part, const struct tv_ft_at *at, struct tv_bytes thing,
                     const struct tv_ft_event *event, double value)
{
    char text[LONGEST_TITLE];
    tv_ft_title(text, sizeof text, event->title, thing);
    count(part, at, text, event->category, (struct value){event->series, value});
}

static bool is_cpu(int64_t cpu)
{
    return cpu >= 0 && cpu < 65536;
}

/* "state=800000 cpu_id=1" */
static enum tv_ft_taken handle_cpu(struct tv_ft_part *part, const struct tv_ft_line *line,
                                   const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    double state;
    int64_t cpu;
    if (!tv_ft_arg_quantity(line->details, "state", &state) ||
        !tv_ft_arg_number(line->details, "cpu_id", &cpu) || !is_cpu(cpu))
        return TV_FT_MALFORMED;
    count_state(part, at, event->title, cpu, state);
    return TV_FT_TAKEN;
}

/* The state -1 says that the processor left the idle states. */
static enum tv_ft_taken handle_idle(struct tv_ft_part *part, const struct tv_ft_line *line,
                                    const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    int64_t state, cpu;
    if (!tv_ft_arg_number(line->details, "state", &state) ||
        !tv_ft_arg_number(line->details, "cpu_id", &cpu) || !is_cpu(cpu))
        return TV_FT_MALFORMED;
    double level = state == UINT32_MAX || state == -1 ? 0 : (double)state + 1;
    count_state(part, at, event->title, cpu, level);
    return TV_FT_TAKEN;
}

/* "min=500000 max=2800000 cpu_id=6", or "min_freq=... max_freq=..." */
static enum tv_ft_taken handle_limits(struct tv_ft_part *part, const struct tv_ft_line *line,
                                      const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    double least, most;
    int64_t cpu;
    if ((!tv_ft_arg_quantity(line->details, "min", &least) &&
         !tv_ft_arg_quantity(line->details, "min_freq", &least)) ||
        (!tv_ft_arg_quantity(line->details, "max", &most) &&
         !tv_ft_arg_quantity(line->details, "max_freq", &most)) ||
        !tv_ft_arg_number(line->details, "cpu_id", &cpu) || !is_cpu(cpu))
        return TV_FT_MALFORMED;
    count_of_cpu(part, at, event->title, cpu, (struct value){"Min Frequency", least});
    count_of_cpu(part, at, event->title, cpu, (struct value){"Max Frequency", most});
    return TV_FT_TAKEN;
}

/* "cpu 1 offline error=0": Trace Viewer turns it round (ftrace.md section 3). */
static enum tv_ft_taken handle_hotplug(struct tv_ft_part *part, const struct tv_ft_line *line,
                                       const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    struct tv_bytes rest = tv_ft_behind(line->details, "cpu "), number = tv_ft_word(rest);
    int64_t cpu;
    if (rest.data == NULL || !tv_ft_number(number, &cpu) || !is_cpu(cpu))
        return TV_FT_MALFORMED;
    bool online = tv_ft_behind(rest, "online").data != NULL;
    if (!online && tv_ft_behind(rest, "offline").data == NULL)
        return TV_FT_MALFORMED;
    count_of_cpu(part, at, event->title, cpu, (struct value){"State", online});
    return TV_FT_TAKEN;
}

/* "fout_apll 500000000", and "fout_apll" alone where the event says what its state is now. */
static bool bare_value(struct tv_bytes details, struct tv_bytes thing,
                       const struct tv_ft_event *event, double *value)
{
    const uint8_t *behind = thing.data + thing.length;
    struct tv_bytes rest = {behind, (size_t)(details.data + details.length - behind)};
    if (event->key)
        return false;
    if (tv_ft_quantity(tv_ft_word(rest), value))
        return true;
    bool on = tv_ft_behind(tv_bytes_of(event->name), "_enable").data != NULL;
    *value = on;
    return on || tv_ft_behind(tv_bytes_of(event->name), "_disable").data != NULL;
}

/* The thing is the value of event->key, or the first word. */
static enum tv_ft_taken handle_thing(struct tv_ft_part *part, const struct tv_ft_line *line,
                                     const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    struct tv_bytes thing =
        event->key ? tv_ft_arg(line->details, event->key) : tv_ft_word(line->details);
    double value;
    if (thing.length == 0 || (!tv_ft_arg_quantity(line->details, event->value, &value) &&
                              !bare_value(line->details, thing, event, &value)))
        return TV_FT_MALFORMED;
    count_of(part, at, thing, event, value);
    return TV_FT_TAKEN;
}

/* There is one of it. */
static enum tv_ft_taken handle_one(struct tv_ft_part *part, const struct tv_ft_line *line,
                                   const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    double value;
    if (!tv_ft_arg_quantity(line->details, event->value, &value))
        return TV_FT_MALFORMED;
    count(part, at, event->title, event->category, (struct value){event->series, value});
    return TV_FT_TAKEN;
}

/* "name=x": event->value is what its state is now. */
static enum tv_ft_taken handle_switched(struct tv_ft_part *part, const struct tv_ft_line *line,
                                        const struct tv_ft_at *at, const struct tv_ft_event *event)
{
    struct tv_bytes thing = tv_ft_arg(line->details, "name");
    if (thing.length == 0)
        return TV_FT_MALFORMED;
    count_of(part, at, thing, event, event->value[0] - '0');
    return TV_FT_TAKEN;
}

/* "bus=CPU rw_bytes=2756608 r_bytes=2267328 w_bytes=491328 cycles=6705198 ns=16763375": MiB/s */
static enum tv_ft_taken handle_bus(struct tv_ft_part *part, const struct tv_ft_line *line,
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
    count_of(part, at, bus, &reads, read * scale);
    count_of(part, at, bus, &writes, written * scale);
    return TV_FT_TAKEN;
}

/* "member=0 size=4096B", or "mm_id=1 curr=1 member=0 size=4096B" */
static enum tv_ft_taken handle_rss(struct tv_ft_part *part, const struct tv_ft_line *line,
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
        !tv_ft_quantity(size, &bytes))
        return TV_FT_MALFORMED;
    uint32_t name = tv_ft_text(part, tv_bytes_of(names[member]));
    struct tv_ft_counter counter = {line->tgid, name, TV_EMPTY_STRING,
                                    tv_ft_text(part, TV_BYTES("RSS"))};
    tv_ft_count(part, at, &counter, bytes);
    return TV_FT_TAKEN;
}

#define CPU(event, title_of)                                                                       \
    {                                                                                              \
        .name = (event), .handle = handle_cpu, .title = (title_of)                                 \
    }
#define THING(event, title_of, key_of, value_of, series_of)                                        \
    {                                                                                              \
        .name = (event), .handle = handle_thing, .title = (title_of), .key = (key_of),             \
        .value = (value_of), .series = (series_of)                                                 \
    }
#define ONE(event, title_of, category_of, value_of, series_of)                                     \
    {                                                                                              \
        .name = (event), .handle = handle_one, .title = (title_of), .category = (category_of),     \
        .value = (value_of), .series = (series_of)                                                 \
    }
#define SWITCHED(event, title_of, state, series_of)                                                \
    {                                                                                              \
        .name = (event), .handle = handle_switched, .title = (title_of), .value = (state),         \
        .series = (series_of)                                                                      \
    }

const struct tv_ft_event tv_ft_counter_events[] = {
    CPU("cpu_frequency", "Clock Frequency"),
    CPU("power_frequency", "Clock Frequency"),
    CPU("power_start", "C-State"),
    {.name = "cpu_idle", .handle = handle_idle, .title = "C-State"},
    {.name = "cpu_frequency_limits", .handle = handle_limits, .title = "Clock Frequency Limits"},
    {.name = "sched_cpu_hotplug", .handle = handle_hotplug, .title = "Cpu Hotplug"},
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
    {.name = "memory_bus_usage", .handle = handle_bus},
    {.name = "rss_stat", .handle = handle_rss},
    {.name = NULL},
};
