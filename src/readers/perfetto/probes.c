/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probes.c - processes, statistics, power and other packets of probes
 * (docs/formats/perfetto.md sections 9 to 13).
 *
 *     payload                       becomes
 *     9  process_stats              counters of processes: "mem.rss" in bytes
 *     7  sys_stats                  counters: "MemFree", "CPU 0 cpu.times.user_ns", frequencies
 *     38 battery, 40 power_rails    counters: "batt.charge_uah", "power.cpu_big_uws"
 *     52 gpu_counter_event          counters by the names of their descriptor
 *     46, 109, 113 triggers         instants
 *     90 range of interest          an instant
 *
 * Names of counters are those of Perfetto's trace processor, so that queries and habits carry over.
 * A value that is missing in a message is not counted: 0 would be a wrong figure. Memory comes in
 * KiB and is counted in bytes. Anything else in these messages is skipped.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/ftrace/fields.h"
#include "readers/perfetto/field_names.h"
#include "readers/perfetto/reading.h"

/* ---- Process statistics ---- */

/* Count the statistics of a process; field 11 lists its threads. */
static void pf_count_process(struct tv_pf_reading *reading, const struct tv_ft_at *at,
                             struct tv_bytes bytes)
{
    static const char *const names[25] = {
        [2] = "mem.virt",
        [3] = "mem.rss",
        [4] = "mem.rss.anon",
        [5] = "mem.rss.file",
        [6] = "mem.rss.shmem",
        [7] = "mem.swap",
        [8] = "mem.locked",
        [9] = "mem.rss.watermark",
        [10] = "oom_score_adj",
        [16] = "mem.smaps.rss",
        [17] = "mem.smaps.pss",
        [18] = "mem.smaps.pss.anon",
        [19] = "mem.smaps.pss.file",
        [20] = "mem.smaps.pss.shmem",
        [21] = "runtime.user_ns",
        [22] = "runtime.kernel_ns",
        [23] = "mem.smaps.swap.pss",
        [24] = "mem.dmabuf_rss",
    };
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field, pid = tv_pf_find(bytes, 1);
    int64_t process = (int32_t)pid.value;
    while (pid.number == 1 && process > 0 && tv_pf_next(&message, &field)) {
        if (field.number == 11) {
            int64_t tid = (int32_t)tv_pf_find(field.bytes, 1).value;
            if (tid > 0)
                tv_pf_set_process(reading, tid, process);
            continue;
        }
        if (field.number >= TV_COUNT(names) || !names[field.number])
            continue;
        /* Scores and times are counted as they are, memory in KiB. */
        bool plain = field.number == 10 || field.number == 21 || field.number == 22;
        tv_pf_count(reading, at, process, tv_bytes_of(names[field.number]),
                    (double)(int64_t)field.value * (plain ? 1 : 1024));
    }
}

/* Take the statistics of all processes of one moment. */
static void pf_take_process_stats(struct tv_pf_reading *reading, const struct tv_ft_at *at,
                                  struct tv_bytes bytes)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    while (tv_pf_next(&message, &field))
        if (field.number == 1)
            pf_count_process(reading, at, field.bytes);
}

/* ---- System statistics ---- */

/* Write a value's name in /proc/meminfo for that of the enum: "MEMINFO_MEM_TOTAL" is "MemTotal". */
static size_t pf_camel_case(const char *name, char *to, size_t size)
{
    const char *behind = strchr(name, '_');
    size_t length = 0;
    bool upper = true;
    for (name = behind ? behind + 1 : name; *name && length < size; name++) {
        if (*name == '_') {
            upper = true;
            continue;
        }
        to[length++] = upper || *name < 'A' || *name > 'Z' ? *name : (char)(*name + 32);
        upper = false;
    }
    return length;
}

/* Count {1 key, 2 value} of meminfo or vmstat. */
static void pf_count_key(struct tv_pf_reading *reading, const struct tv_ft_at *at,
                         const struct tv_pf_member *member, struct tv_bytes bytes, double unit)
{
    char text[64];
    uint64_t key = tv_pf_find(bytes, 1).value;
    const struct tv_pf_member *of = tv_pf_find_member(member->of, 1);
    const char *name = of && of->kind == TV_PF_ENUM ? tv_pf_enum_name(of->of, (int64_t)key) : NULL;
    size_t length;
    if (!name)
        length = (size_t)snprintf(text, sizeof text, "%s %" PRIu64, member->name, key);
    else if (unit > 1)
        length = pf_camel_case(name, text, sizeof text);
    else
        length = (size_t)snprintf(text, sizeof text, "%s",
                                  strncmp(name, "VMSTAT_", 7) == 0 ? name + 7 : name);
    for (size_t i = 0; unit <= 1 && i < length; i++)
        text[i] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] + 32) : text[i];
    tv_pf_count(reading, at, TV_FT_NO_ID,
                (struct tv_bytes){(uint8_t *)text, length < sizeof text ? length : sizeof text - 1},
                (double)tv_pf_find(bytes, 2).value * unit);
}

/* Count how long a processor was in each mode. A time that is missing is 0, as protobuf leaves
 * zeros out. */
static void pf_count_cpu_times(struct tv_pf_reading *reading, const struct tv_ft_at *at,
                               struct tv_bytes bytes)
{
    static const char *const names[] = {
        NULL,      NULL,         "user_ns", "user_nice_ns", "system_mode_ns",
        "idle_ns", "io_wait_ns", "irq_ns",  "softirq_ns",   "steal_ns"};
    char text[64];
    uint64_t cpu = tv_pf_find(bytes, 1).value;
    for (uint32_t i = 2; i < TV_COUNT(names); i++) { /* a time that is not there is 0 */
        int length = snprintf(text, sizeof text, "CPU %" PRIu64 " cpu.times.%s", cpu, names[i]);
        tv_pf_count(reading, at, TV_FT_NO_ID, (struct tv_bytes){(uint8_t *)text, (size_t)length},
                    (double)tv_pf_find(bytes, i).value);
    }
}

/* Count a value whose name contains a text of its message. */
static void pf_count_named(struct tv_pf_reading *reading, const struct tv_ft_at *at,
                           const char *format, struct tv_bytes name, double value)
{
    char text[160];
    size_t length = tv_ft_format_title(text, sizeof text, format, name);
    tv_pf_count(reading, at, TV_FT_NO_ID, (struct tv_bytes){(uint8_t *)text, length}, value);
}

/* The list has a frequency in kHz for each processor, in order, and may be in several fields. */
static void pf_count_cpu_frequency(struct tv_pf_reading *reading, const struct tv_ft_at *at,
                                   const struct tv_protobuf_field *field, uint32_t *cpu)
{
    struct tv_pf_numbers numbers = tv_pf_numbers_of(field, 0);
    uint64_t value;
    while (tv_pf_numbers_next(&numbers, &value))
        tv_ft_take_cpu_frequency(reading->chunk, at, (*cpu)++, (double)(uint32_t)value);
}

/* The unit is kHz, as in the packets of the kernel. */
static void pf_count_gpu_frequency(struct tv_pf_reading *reading, const struct tv_ft_at *at,
                                   uint64_t gpu, double khz)
{
    char dimensions[40];
    snprintf(dimensions, sizeof dimensions, "{\"gpu\":%" PRIu64 "}", gpu);
    struct tv_pf_counter counter = {
        .name = TV_BYTES("gpufreq"),
        .unit = "kHz",
        .type = "gpu_frequency",
        .dimensions = dimensions,
    };
    tv_pf_count_described(reading, at, TV_FT_NO_ID, &counter, khz);
}

/* Count the time that a processor spent in each of its idle states: {1 cpu, 2 {1 state, 2 us}}. */
static void pf_count_idle_states(struct tv_pf_reading *reading, const struct tv_ft_at *at,
                                 struct tv_bytes bytes)
{
    char name[96];
    struct tv_out dimensions;
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    uint64_t cpu = tv_pf_find(bytes, 1).value;
    tv_out_init_memory(&dimensions);
    while (tv_pf_next(&message, &field)) {
        if (field.number != 2)
            continue;
        struct tv_bytes state = tv_pf_find(field.bytes, 1).bytes;
        int length =
            snprintf(name, sizeof name, "CPU %" PRIu64 " cpuidle.%.*s", cpu,
                     (int)(state.length < 60 ? state.length : 60), (const char *)state.data);
        dimensions.length = 0;
        tv_out_format(&dimensions, "{\"cpu\":%" PRIu64 ",\"state\":", cpu);
        tv_out_json(&dimensions, state);
        tv_out_bytes(&dimensions, (struct tv_bytes){(const uint8_t *)"}", 2});
        struct tv_pf_counter counter = {
            .name = {(uint8_t *)name, (size_t)length},
            .unit = "us",
            .type = "cpu_idle_state",
            .dimensions = (const char *)dimensions.buffer,
        };
        tv_pf_count_described(reading, at, TV_FT_NO_ID, &counter,
                              (double)tv_pf_find(field.bytes, 2).value);
    }
    tv_out_release(&dimensions);
}

/* The figures of a disk since it was switched on, by field number from 2 on. */
enum { DISK_FIGURES = 8, DISK_SECTOR = 512 };

/* Count one change of a disk's figures. */
static void pf_count_disk_change(struct tv_pf_reading *reading, const struct tv_ft_at *at,
                                 struct tv_bytes device, const char *what, const char *unit,
                                 double value)
{
    char name[128];
    struct tv_out dimensions;
    int length =
        snprintf(name, sizeof name, "diskstat.[%.*s].%s",
                 (int)(device.length < 80 ? device.length : 80), (const char *)device.data, what);
    tv_out_init_memory(&dimensions);
    tv_out_text(&dimensions, "{\"device_name\":");
    tv_out_json(&dimensions, device);
    tv_out_bytes(&dimensions, (struct tv_bytes){(const uint8_t *)"}", 2});
    struct tv_pf_counter counter = {
        .name = {(uint8_t *)name, (size_t)length},
        .unit = unit,
        .type = "diskstat",
        .dimensions = (const char *)dimensions.buffer,
    };
    tv_pf_count_described(reading, at, TV_FT_NO_ID, &counter, value);
    tv_out_release(&dimensions);
}

/* Count what a disk did since its last figures: DiskStat {1 device, 2 read sectors, 3 read ms,
 * 4 and 5 written, 6 and 7 discarded, 8 flushes, 9 flush ms}.  Times are those of the requests. */
static void pf_count_disk(struct tv_pf_reading *reading, const struct tv_ft_at *at,
                          struct tv_bytes bytes)
{
    static const char *const amounts[] = {"read_amount", "write_amount", "discard_amount"};
    static const char *const throughputs[] = {"read_throughput", "write_throughput",
                                              "discard_throughput"};
    struct tv_bytes device = tv_pf_find(bytes, 1).bytes;
    uint64_t figures[DISK_FIGURES], changes[DISK_FIGURES];
    uint32_t text = tv_pf_text(reading, device);
    uint32_t number = tv_map_add(&reading->disk_index, text, (uint32_t)reading->disks.count);
    bool known = number < reading->disks.count;
    struct tv_pf_disk *disk = known ? &reading->disks.rows[number] : tv_table_add(&reading->disks);
    for (uint32_t i = 0; i < DISK_FIGURES; i++) {
        figures[i] = tv_pf_find(bytes, i + 2).value;
        changes[i] = figures[i] > disk->figures[i] ? figures[i] - disk->figures[i] : 0;
        disk->figures[i] = figures[i];
    }
    if (!known)
        return;
    for (unsigned i = 0; i < TV_COUNT(amounts); i++) {
        double amount = (double)changes[2 * i] * DISK_SECTOR / (1 << 20);
        double seconds = (double)changes[2 * i + 1] / 1000;
        pf_count_disk_change(reading, at, device, amounts[i], "MB", amount);
        pf_count_disk_change(reading, at, device, throughputs[i], "MB/s",
                             seconds > 0 ? amount / seconds : 0);
    }
    pf_count_disk_change(reading, at, device, "flush_amount", "count", (double)changes[6]);
    pf_count_disk_change(reading, at, device, "flush_time", "ms", (double)changes[7]);
}

/* Count a part of sys_stats that is neither meminfo nor vmstat. */
static bool pf_count_system_part(struct tv_pf_reading *reading, const struct tv_ft_at *at,
                                 const struct tv_protobuf_field *field)
{
    char number[24];
    int length;
    switch (field->number) {
    case 3:
        pf_count_cpu_times(reading, at, field->bytes);
        return true;
    case 4:
        tv_pf_count(reading, at, TV_FT_NO_ID, TV_BYTES("num_forks"), (double)field->value);
        return true;
    case 5:
        tv_pf_count(reading, at, TV_FT_NO_ID, TV_BYTES("num_irq_total"), (double)field->value);
        return true;
    case 7:
        tv_pf_count(reading, at, TV_FT_NO_ID, TV_BYTES("num_softirq_total"), (double)field->value);
        return true;
    case 6:
    case 8:
        length = snprintf(number, sizeof number, "%" PRIu64, tv_pf_find(field->bytes, 1).value);
        pf_count_named(reading, at, field->number == 6 ? "num_irq *" : "num_softirq *",
                       (struct tv_bytes){(uint8_t *)number, (size_t)length},
                       (double)tv_pf_find(field->bytes, 2).value);
        return true;
    case 13:
        pf_count_disk(reading, at, field->bytes);
        return true;
    case 16:
        pf_count_idle_states(reading, at, field->bytes);
        return true;
    case 10:
        pf_count_named(reading, at, "*", tv_pf_find(field->bytes, 1).bytes,
                       (double)tv_pf_find(field->bytes, 2).value);
        return true;
    case 14:
        length = snprintf(number, sizeof number, "%" PRIu64, tv_pf_find(field->bytes, 1).value);
        pf_count_named(reading, at, "psi resource *",
                       (struct tv_bytes){(uint8_t *)number, (size_t)length},
                       (double)tv_pf_find(field->bytes, 2).value);
        return true;
    case 15:
        pf_count_named(reading, at, "*", tv_pf_find(field->bytes, 3).bytes,
                       (double)(int64_t)tv_pf_find(field->bytes, 2).value);
        return true;
    case 17:
        pf_count_gpu_frequency(reading, at, 0, (double)field->value * 1000);
        return true;
    default:
        return false;
    }
}

#define SYS_STATS 7u

/* Take SysStats: counters of /proc by the names that the schema has for their fields. */
static void pf_take_sys_stats(struct tv_pf_reading *reading, const struct tv_ft_at *at,
                              struct tv_bytes bytes)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    uint32_t cpu = 0;
    const struct tv_pf_member *stats = tv_pf_find_member(TV_PF_TRACE_PACKET, SYS_STATS);
    while (tv_pf_next(&message, &field)) {
        const struct tv_pf_member *member = tv_pf_find_member(stats->of, field.number);
        if (member && (field.number == 1 || field.number == 2))
            pf_count_key(reading, at, member, field.bytes, field.number == 1 ? 1024 : 1);
        else if (field.number == 11)
            pf_count_cpu_frequency(reading, at, &field, &cpu);
        else
            pf_count_system_part(reading, at, &field);
    }
}

/* ---- Power ---- */

/* Count BatteryCounters; with several batteries the name is part of the counter. */
static void pf_take_battery(struct tv_pf_reading *reading, const struct tv_ft_at *at,
                            struct tv_bytes bytes)
{
    static const char *const names[] = {NULL, "charge_uah", "capacity_pct", "current_ua",
                                        "current.avg_ua"};
    char text[96];
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    struct tv_bytes name = tv_pf_find(bytes, 5).bytes;
    while (tv_pf_next(&message, &field)) {
        const char *what = field.number == 7                ? "voltage_uv"
                           : field.number < TV_COUNT(names) ? names[field.number]
                                                            : NULL;
        if (!what || field.wire == TV_PROTOBUF_BYTES)
            continue;
        int length =
            snprintf(text, sizeof text, "batt.%.*s%s%s", (int)(name.length < 40 ? name.length : 40),
                     (const char *)name.data, name.length > 0 ? "." : "", what);
        double value =
            field.wire == TV_PROTOBUF_VARINT ? (double)(int64_t)field.value : tv_pf_double(&field);
        tv_pf_count(reading, at, TV_FT_NO_ID, (struct tv_bytes){(uint8_t *)text, (size_t)length},
                    value);
    }
}

static uint64_t pf_rail_key(uint64_t session, uint64_t id)
{
    return id ^ session << 32;
}

/* Keep the description {1 id, 2 name} of a rail: the first one counts.  It holds for the whole
 * trace, whatever sequence it is in: a clear of the state does not end it. */
static void pf_keep_rail(struct tv_pf_reading *reading, uint64_t session, struct tv_bytes bytes)
{
    uint32_t blob = tv_interner_add(reading->blobs, bytes);
    (void)tv_map_add(&reading->rails, pf_rail_key(session, tv_pf_find(bytes, 1).value), blob);
}

static struct tv_bytes pf_rail_name(const struct tv_pf_reading *reading, uint64_t session,
                                    uint64_t id)
{
    uint32_t blob = tv_map_find(&reading->rails, pf_rail_key(session, id));
    return blob == TV_NONE ? TV_BYTES("")
                           : tv_pf_find(tv_interner_get(reading->blobs, blob), 2).bytes;
}

/* Find the time of a value, which is on the clock of the packet, if that names one. */
static bool pf_rail_time(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                         uint64_t ms, int64_t *time)
{
    if (tv_pf_sequence_incremental(packet->sequence, packet->clock))
        return true; /* that of the packet: this clock counts steps */
    *time = (int64_t)ms * 1000000;
    if (packet->has_time && packet->clock != 0)
        return tv_pf_sequence_convert(reading, packet->sequence, packet->clock, time) && *time >= 0;
    return tv_pf_clocks_convert(&reading->clocks, TV_PF_CLOCK_BOOTTIME, time);
}

/* Count the energy of each rail. Descriptions come once a session; a value without a time has that
 * of the packet. */
static void pf_take_power_rails(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                                struct tv_ft_at *at, struct tv_bytes bytes)
{
    char text[96], dimensions[48];
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    uint64_t uuid = tv_pf_find(bytes, 3).value, session = uuid & 0xffff;
    snprintf(dimensions, sizeof dimensions, "{\"session_uuid\":%" PRIu64 "}", uuid);
    while (tv_pf_next(&message, &field))
        if (field.number == 1)
            pf_keep_rail(reading, session, field.bytes);
    message = tv_pf_message_over(bytes);
    while (tv_pf_next(&message, &field)) {
        if (field.number != 2)
            continue;
        uint64_t id = tv_pf_find(field.bytes, 1).value;
        uint64_t ms = tv_pf_find(field.bytes, 2).value;
        struct tv_bytes name = pf_rail_name(reading, session, id);
        int length = name.length > 0 ? snprintf(text, sizeof text, "power.%.*s_uws",
                                                (int)(name.length < 60 ? name.length : 60),
                                                (const char *)name.data)
                                     : snprintf(text, sizeof text, "power.#%" PRIu64, id);
        at->time = packet->time;
        if (ms > 0 && ms < INT64_MAX / 1000000 && !pf_rail_time(reading, packet, ms, &at->time))
            continue;
        struct tv_pf_counter counter = {
            .name = {(uint8_t *)text, (size_t)length},
            .type = "power_rails",
            .dimensions = uuid ? dimensions : NULL,
        };
        tv_ft_chunk_note(reading->chunk, at->time);
        tv_pf_count_described(reading, at, TV_FT_NO_ID, &counter,
                              (double)tv_pf_find(field.bytes, 3).value);
    }
}

/* Count the properties of the system that say how the battery is used: {1 {1 name, 2 value}}. */
static void pf_take_system_properties(struct tv_pf_reading *reading, const struct tv_ft_at *at,
                                      struct tv_bytes bytes)
{
    static const struct {
        struct tv_bytes property;
        const char *name; /* NULL: the property's, behind "debug.tracing." */
        const char *type;
    } known[] = {
        {{(const uint8_t *)"debug.tracing.battery_stats.", 28}, NULL, "battery_stats"},
        {{(const uint8_t *)"debug.tracing.screen_state", 26}, "ScreenState", "screen_state"},
    };
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    while (tv_pf_next(&message, &field)) {
        struct tv_bytes name = tv_pf_find(field.bytes, 1).bytes;
        struct tv_bytes text = tv_pf_find(field.bytes, 2).bytes;
        int64_t value;
        for (size_t i = 0; i < TV_COUNT(known); i++) {
            if (field.number != 1 || !tv_bytes_starts_with(name, known[i].property) ||
                !tv_parse_i64(text, &value))
                continue;
            struct tv_pf_counter counter = {.name = tv_bytes_of(known[i].name ? known[i].name : ""),
                                            .type = known[i].type};
            if (!known[i].name)
                counter.name = (struct tv_bytes){name.data + 14, name.length - 14};
            tv_pf_count_described(reading, at, TV_FT_NO_ID, &counter, (double)value);
        }
    }
}

/* ---- Packets ---- */

static void pf_add_global_instant(struct tv_pf_reading *reading, const struct tv_ft_at *at,
                                  struct tv_bytes name, const char *category)
{
    tv_ft_chunk_note(reading->chunk, at->time);
    *tv_table_add(&reading->chunk->instants) = (struct tv_instant){
        .time = at->time,
        .offset = at->offset,
        .frame = tv_ft_chunk_frame(reading->chunk, name, category),
        .of = TV_NONE,
        .scope = TV_SCOPE_GLOBAL,
    };
}

static void pf_take_trigger(struct tv_pf_reading *reading, const struct tv_ft_at *at,
                            struct tv_bytes bytes)
{
    char text[128];
    struct tv_bytes name = tv_pf_find(bytes, 1).bytes;
    int length = snprintf(text, sizeof text, "trigger %.*s",
                          (int)(name.length < 100 ? name.length : 100), (const char *)name.data);
    pf_add_global_instant(reading, at, (struct tv_bytes){(uint8_t *)text, (size_t)length},
                          "trigger");
}

/* Mark where the part begins that the recording was made for: {1 microseconds of the trace}. */
static void pf_take_range_of_interest(struct tv_pf_reading *reading, struct tv_ft_at at,
                                      struct tv_bytes bytes, uint64_t offset)
{
    uint64_t start = tv_pf_find(bytes, 1).value;
    if (start > INT64_MAX / 1000) {
        tv_pf_warn(reading, TV_DIAGNOSTIC_TIME_OVERFLOW, offset);
        return;
    }
    at.time = (int64_t)(start * 1000u);
    pf_add_global_instant(reading, &at, TV_BYTES("range of interest"), "range");
}

/* Take a packet with one value of a counter, or a few; false: it is another one. */
static bool pf_take_single_values(struct tv_pf_reading *reading, const struct tv_ft_at *at,
                                  const struct tv_protobuf_field *payload)
{
    uint64_t first = tv_pf_find(payload->bytes, 1).value;
    uint64_t second = tv_pf_find(payload->bytes, 2).value;
    if (payload->number == 71)
        tv_pf_count_gpu_memory(reading, at, first, (int32_t)second,
                               (double)tv_pf_find(payload->bytes, 3).value);
    else if (payload->number == 86)
        pf_take_system_properties(reading, at, payload->bytes);
    else if (payload->number == 129)
        pf_count_gpu_frequency(reading, at, first, (double)second);
    else
        return false;
    tv_ft_chunk_note(reading->chunk, at->time);
    return true;
}

/* Payloads without a function here have been read by the survey, or say nothing about the trace
 * (synchronisation marks). */
bool tv_pf_take_probe(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                      const struct tv_protobuf_field *payload)
{
    struct tv_ft_at at = {packet->time, packet->offset, 0, tv_ft_chunk_task(reading->chunk, 0)};
    switch (payload->number) {
    case 2: /* the survey took it */
    case TV_PF_MODULE_SYMBOLS:
    case TV_PF_DEOBFUSCATION:
    case 82:
    case 60:
    case 6:
    case 36:
    case 107:
        return true;
    case 9:
        tv_ft_chunk_note(reading->chunk, at.time);
        pf_take_process_stats(reading, &at, payload->bytes);
        return true;
    case 7:
        tv_ft_chunk_note(reading->chunk, at.time);
        pf_take_sys_stats(reading, &at, payload->bytes);
        return true;
    case 38:
        tv_ft_chunk_note(reading->chunk, at.time);
        pf_take_battery(reading, &at, payload->bytes);
        return true;
    case 40:
        pf_take_power_rails(reading, packet, &at, payload->bytes);
        return true;
    case 52:
        tv_pf_take_gpu_counters(reading, packet, &at, payload->bytes);
        return true;
    case 53:
        tv_pf_take_render_stage(reading, packet, payload->bytes);
        return true;
    case 57:
        tv_pf_take_buffer_event(reading, packet, payload->bytes);
        return true;
    case 65:
        return tv_pf_take_vulkan(reading, packet, payload->bytes);
    case 39:
        tv_pf_take_logs(reading, packet, payload->bytes);
        return true;
    case 63:
        tv_pf_take_gpu_log(reading, packet, payload->bytes);
        return true;
    case 5:
        tv_pf_take_chrome_events(reading, packet, payload->bytes);
        return true;
    case 47:
        tv_pf_take_packages(reading, payload->bytes);
        return true;
    case 76:
        tv_pf_take_frame_timeline(reading, packet, payload->bytes);
        return true;
    case 46:
    case 109:
    case 113:
        pf_take_trigger(reading, &at, payload->bytes);
        return true;
    case 90:
        pf_take_range_of_interest(reading, at, payload->bytes, packet->offset);
        return true;
    default:
        return tv_pf_take_facts(reading, packet, payload) ||
               pf_take_single_values(reading, &at, payload) ||
               tv_pf_take_generic_kernel(reading, &at, payload);
    }
}
