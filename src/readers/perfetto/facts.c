/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facts.c - packets about the system and the recording (docs/formats/perfetto.md), which become
 * metadata, and what the recording service lost, which becomes diagnostics.
 *
 *     45 system_info, 67 cpu_info, 128 gpu_info    metadata
 *     69 service_event, 89 trace_uuid              metadata
 *     33 trace_config, 126 trace_attributes        metadata
 *     134 concurrent_session_event                 a track (sessions.c)
 *     35 trace_stats, 34 ftrace_stats              diagnostics
 *
 * A fact has Perfetto's key if there is one (android_build_fingerprint ...), so
 * that queries for one tool find the same in the other.
 *
 * The kernel counts its losses from the time it was started.  Only the growth between the
 * statistics of the start and those of the end was lost in this trace.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/sort.h"
#include "readers/perfetto/reading.h"

/* ---- Metadata ---- */

void tv_pf_add_metadata(struct tv_pf_reading *reading, const char *key, struct tv_bytes value)
{
    if (value.length > 0)
        *tv_table_add(&reading->metadata) = (struct tv_ft_comment){
            tv_pf_text(reading, tv_bytes_of(key)), tv_pf_text(reading, value)};
}

static void pf_add_metadata_number(struct tv_pf_reading *reading, const char *key, uint64_t number)
{
    char text[24];
    int length = snprintf(text, sizeof text, "%" PRId64, (int64_t)number);
    tv_pf_add_metadata(reading, key, (struct tv_bytes){(uint8_t *)text, (size_t)length});
}

void tv_pf_add_metadata_fields(struct tv_pf_reading *reading, struct tv_bytes bytes,
                               const char *const *names, size_t count)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    while (tv_pf_next(&message, &field)) {
        if (field.number >= count || !names[field.number])
            continue;
        if (field.wire == TV_PROTOBUF_VARINT)
            pf_add_metadata_number(reading, names[field.number], field.value);
        else
            tv_pf_add_metadata(reading, names[field.number], field.bytes);
    }
}

/* Add the facts of SystemInfo that are texts or numbers, under Perfetto's names. */
static void pf_add_system_facts(struct tv_pf_reading *reading, struct tv_bytes bytes)
{
    static const char *const names[] = {
        [2] = "android_build_fingerprint",
        [5] = "android_sdk_version",
        [8] = "system_num_cpus",
        [9] = "android_soc_model",
        [10] = "android_hardware_revision",
        [11] = "android_storage_model",
        [12] = "android_ram_model",
        [13] = "android_guest_soc_model",
        [14] = "android_device_manufacturer",
        [15] = "android_serial_console",
        [16] = "system_ram_bytes",
    };
    tv_pf_add_metadata_fields(reading, bytes, names, TV_COUNT(names));
}

/* Add what uname says about the system, and the facts beside it. */
static void pf_take_system_info(struct tv_pf_reading *reading, struct tv_bytes bytes)
{
    struct tv_bytes uts = tv_pf_find(bytes, 1).bytes;
    tv_pf_add_metadata(reading, "system_name", tv_pf_find(uts, 1).bytes);
    tv_pf_add_metadata(reading, "system_version", tv_pf_find(uts, 2).bytes);
    tv_pf_add_metadata(reading, "system_release", tv_pf_find(uts, 3).bytes);
    tv_pf_add_metadata(reading, "system_machine", tv_pf_find(uts, 4).bytes);
    pf_add_system_facts(reading, bytes);
}

/* Graphics processors of one list; more are not believed. */
#define MAX_GPUS 64u

/* Add each graphics processor as the JSON of its fields. */
static void pf_take_gpu_info(struct tv_pf_reading *reading, struct tv_bytes bytes)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    struct tv_out json;
    uint32_t count = 0;
    tv_out_init_memory(&json);
    while (count < MAX_GPUS && tv_pf_next(&message, &field)) {
        char name[24];
        if (field.number != 1)
            continue;
        snprintf(name, sizeof name, "gpu %" PRIu32, count++);
        json.length = 0;
        tv_pf_write_message(&json, "GpuInfo.Gpu", field.bytes);
        tv_pf_add_metadata(reading, name, (struct tv_bytes){json.buffer, json.length});
    }
    tv_out_release(&json);
}

/* Processors of one list; more are not believed. */
#define MAX_CPUS 1024u

struct pf_cpu {
    struct tv_bytes processor;
    uint64_t capacity, frequency; /* 0: unknown; the highest frequency in kHz */
    uint32_t cluster;
};

/* Parse a processor {1 name, 2 frequencies, 3 capacity}; its frequency is the highest. */
static struct pf_cpu pf_cpu_parse(struct tv_bytes bytes)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    struct pf_cpu cpu = {.capacity = 0};
    while (tv_pf_next(&message, &field)) {
        struct tv_pf_numbers numbers = tv_pf_numbers_of(&field, 0);
        uint64_t value;
        if (field.number == 1)
            cpu.processor = field.bytes;
        else if (field.number == 3)
            cpu.capacity = field.value;
        while (field.number == 2 && tv_pf_numbers_next(&numbers, &value))
            cpu.frequency = value > cpu.frequency ? value : cpu.frequency;
    }
    return cpu;
}

/* Number the clusters: processors of the same capacity, or of the same frequency. */
static void pf_cpu_find_clusters(struct pf_cpu *cpus, uint32_t count, bool capacity)
{
    struct tv_sort_key *keys = tv_alloc((size_t)count + 1, sizeof *keys);
    uint32_t cluster = 0;
    for (uint32_t i = 0; i < count; i++)
        keys[i] = (struct tv_sort_key){capacity ? cpus[i].capacity : cpus[i].frequency, i};
    tv_sort_keys(keys, count);
    for (uint32_t i = 0; i < count; i++) {
        cluster += i > 0 && keys[i].key != keys[i - 1].key;
        cpus[keys[i].index].cluster = cluster;
    }
    tv_free(keys);
}

/* Add "cpu 0: AArch64 Processor, cluster 0, capacity 256" for each processor of a CpuInfo. */
static void pf_take_cpu_info(struct tv_pf_reading *reading, struct tv_bytes bytes)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    struct pf_cpu *cpus = tv_alloc(MAX_CPUS, sizeof *cpus);
    uint32_t count = 0;
    bool capacity = true;
    while (tv_pf_next(&message, &field) && count < MAX_CPUS) {
        if (field.number != 1)
            continue;
        cpus[count] = pf_cpu_parse(field.bytes);
        capacity = capacity && cpus[count].capacity > 0;
        count++;
    }
    pf_cpu_find_clusters(cpus, count, capacity);
    for (uint32_t i = 0; i < count; i++) {
        char name[24], text[200];
        size_t length = cpus[i].processor.length < 120 ? cpus[i].processor.length : 120;
        snprintf(name, sizeof name, "cpu %" PRIu32, i);
        int used = snprintf(text, sizeof text, "%.*s%scluster %" PRIu32, (int)length,
                            length > 0 ? (const char *)cpus[i].processor.data : "",
                            length > 0 ? ", " : "", cpus[i].cluster);
        if (cpus[i].capacity > 0)
            used += snprintf(text + used, sizeof text - (size_t)used, ", capacity %" PRIu64,
                             cpus[i].capacity);
        tv_pf_add_metadata(reading, name, (struct tv_bytes){(uint8_t *)text, (size_t)used});
    }
    tv_free(cpus);
}

/* Add the id of the trace, written as UUIDs are. */
static void pf_take_uuid(struct tv_pf_reading *reading, struct tv_bytes bytes)
{
    char text[40];
    uint64_t high = tv_pf_find(bytes, 1).value, low = tv_pf_find(bytes, 2).value;
    int length = snprintf(
        text, sizeof text, "%08" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-%012" PRIx64,
        high >> 32, high >> 16 & 0xffff, high & 0xffff, low >> 48, low & UINT64_C(0xffffffffffff));
    tv_pf_add_metadata(reading, "trace_uuid", (struct tv_bytes){(uint8_t *)text, (size_t)length});
}

/* Add when the recording service had flushed all data, and who was slow to start: {3 all flushed,
 * 7 slow to start {1 {1 producer, 2 data source}}}. */
static void pf_take_service_event(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                                  struct tv_bytes bytes)
{
    char text[160];
    int length;
    struct tv_pf_message message = tv_pf_message_over(tv_pf_find(bytes, 7).bytes);
    struct tv_protobuf_field field;
    if (tv_pf_find(bytes, 3).value != 0) {
        length = snprintf(text, sizeof text, "%" PRId64, packet->time);
        tv_pf_add_metadata(reading, "all_data_source_flushed_ns",
                           (struct tv_bytes){(uint8_t *)text, (size_t)length});
    }
    while (tv_pf_next(&message, &field)) {
        struct tv_bytes producer = tv_pf_find(field.bytes, 1).bytes;
        struct tv_bytes source = tv_pf_find(field.bytes, 2).bytes;
        if (field.number != 1)
            continue;
        length = snprintf(text, sizeof text, "%.*s %.*s",
                          (int)(producer.length < 78 ? producer.length : 78),
                          producer.data ? (const char *)producer.data : "",
                          (int)(source.length < 78 ? source.length : 78),
                          source.data ? (const char *)source.data : "");
        tv_pf_add_metadata(reading, "slow_start_data_source",
                           (struct tv_bytes){(uint8_t *)text, (size_t)length});
    }
}

/* ---- Configuration of the recording ---- */

/* Add a value to the list of a line of metadata. */
static void pf_list_value(struct tv_out *list, struct tv_bytes value)
{
    tv_out_text(list, list->length > 0 ? ", " : "");
    tv_out_bytes(list, value);
}

static void pf_add_metadata_list(struct tv_pf_reading *reading, const char *key,
                                 const struct tv_out *list)
{
    tv_pf_add_metadata(reading, key, (struct tv_bytes){list->buffer, list->length});
}

/* Move the value of a new attribute, the last row, to the row that has its key already. */
static void pf_replace_attribute(struct tv_pf_reading *reading, uint32_t row)
{
    struct tv_ft_comment *rows = reading->metadata.rows;
    uint32_t known = tv_map_add(&reading->attributes, rows[row].key, row);
    if (known == row)
        return;
    rows[known].value = rows[row].value;
    reading->metadata.count--;
}

/* Add what the user said about the recording: {1 {1 key, 2 number, 3 text}}. A key counts as it was
 * set last. */
static void pf_take_trace_attributes(struct tv_pf_reading *reading, struct tv_bytes bytes)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    while (tv_pf_next(&message, &field)) {
        char key[128];
        struct tv_bytes name = tv_pf_find(field.bytes, 1).bytes;
        struct tv_protobuf_field number = tv_pf_find(field.bytes, 2);
        size_t first = reading->metadata.count;
        if (field.number != 1)
            continue;
        snprintf(key, sizeof key, "trace_attribute.%.*s",
                 (int)(name.length < 100 ? name.length : 100),
                 name.data ? (const char *)name.data : "");
        if (number.number == 2)
            pf_add_metadata_number(reading, key, number.value);
        else
            tv_pf_add_metadata(reading, key, tv_pf_find(field.bytes, 3).bytes);
        if (first < reading->metadata.count)
            pf_replace_attribute(reading, (uint32_t)first);
    }
}

/* A longer configuration is not shown as a whole; `dump` has it. */
#define MAX_CONFIG_LENGTH 1048576u

enum { CONFIG_BUFFERS = 1, CONFIG_SOURCES = 2, CONFIG_DURATION = 3, CONFIG_ATTRIBUTES = 48 };

/* Add the buffers, the data sources and the length that were asked for, then the whole message. */
static void pf_take_trace_config(struct tv_pf_reading *reading, struct tv_bytes bytes)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    struct tv_out buffers, sources, whole;
    tv_out_init_memory(&buffers);
    tv_out_init_memory(&sources);
    tv_out_init_memory(&whole);
    while (tv_pf_next(&message, &field)) {
        uint64_t policy = tv_pf_find(field.bytes, 4).value;
        if (field.number == CONFIG_BUFFERS) {
            pf_list_value(&buffers, (struct tv_bytes){NULL, 0});
            tv_out_format(&buffers, "%" PRIu32 " kB%s", (uint32_t)tv_pf_find(field.bytes, 1).value,
                          policy == 1   ? " ring"
                          : policy == 2 ? " discard"
                                        : "");
        } else if (field.number == CONFIG_SOURCES) {
            pf_list_value(&sources, tv_pf_find(tv_pf_find(field.bytes, 1).bytes, 1).bytes);
        } else if (field.number == CONFIG_DURATION && field.value > 0) {
            pf_add_metadata_number(reading, "trace_config_duration_ms", field.value);
        } else if (field.number == CONFIG_ATTRIBUTES) {
            pf_take_trace_attributes(reading, field.bytes);
        }
    }
    pf_add_metadata_list(reading, "trace_config_buffers", &buffers);
    pf_add_metadata_list(reading, "trace_config_data_sources", &sources);
    if (bytes.length <= MAX_CONFIG_LENGTH)
        tv_pf_write_message(&whole, "TraceConfig", bytes);
    pf_add_metadata_list(reading, "trace_config", &whole);
    tv_out_release(&buffers);
    tv_out_release(&sources);
    tv_out_release(&whole);
}

/* ---- Losses that the service reports ---- */

/* Note what the service lost: chunks that were overwritten or discarded, and packets of writers. */
static void pf_take_trace_stats(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                                struct tv_bytes bytes)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    while (tv_pf_next(&message, &field)) {
        if (field.number != 1)
            continue;
        if (tv_pf_find(field.bytes, 3).value > 0)
            tv_pf_warn(reading, TV_DIAGNOSTIC_OVERWRITTEN, packet->offset);
        if (tv_pf_find(field.bytes, 18).value > 0 || tv_pf_find(field.bytes, 19).value > 0)
            tv_pf_warn(reading, TV_DIAGNOSTIC_EVENTS_LOST, packet->offset);
    }
}

/* Add the names in a repeated field as one line. */
static void pf_add_names_of(struct tv_pf_reading *reading, const char *key, struct tv_bytes bytes,
                            uint32_t number)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    struct tv_out list;
    tv_out_init_memory(&list);
    while (tv_pf_next(&message, &field))
        if (field.number == number && field.wire == TV_PROTOBUF_BYTES)
            pf_list_value(&list, field.bytes);
    pf_add_metadata_list(reading, key, &list);
    tv_out_release(&list);
}

/* Processors of which losses are counted; more are not believed. */
#define MAX_LOSS_CPUS 1024u

enum { PHASE_START = 1, PHASE_END = 2 };

/* Compare what the kernel lost on a processor with what it had lost at the start: {1 processor,
 * 3 overwritten, 4 lost while overwriting, 8 dropped}. */
static void pf_take_cpu_losses(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                               uint64_t phase, struct tv_bytes bytes)
{
    struct tv_pf_loss loss = {
        .cpu = tv_pf_find(bytes, 1).value,
        .overwritten = tv_pf_find(bytes, 3).value,
        .dropped = tv_pf_find(bytes, 4).value + tv_pf_find(bytes, 8).value,
    };
    struct tv_pf_loss *start = NULL;
    for (size_t i = 0; i < reading->losses.count; i++)
        if (reading->losses.rows[i].cpu == loss.cpu)
            start = &reading->losses.rows[i];
    if (phase == PHASE_START && start)
        *start = loss;
    else if (phase == PHASE_START && reading->losses.count < MAX_LOSS_CPUS)
        *tv_table_add(&reading->losses) = loss;
    if (phase != PHASE_END || !start)
        return;
    if (loss.overwritten > start->overwritten)
        tv_pf_warn(reading, TV_DIAGNOSTIC_OVERWRITTEN, packet->offset);
    if (loss.dropped > start->dropped)
        tv_pf_warn(reading, TV_DIAGNOSTIC_EVENTS_LOST, packet->offset);
}

/* Take what the recorder says of the kernel's buffers, at the start and at the end. */
static void pf_take_ftrace_stats(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                                 struct tv_bytes bytes)
{
    uint64_t phase = tv_pf_find(bytes, 1).value;
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    while (tv_pf_next(&message, &field))
        if (field.number == 2)
            pf_take_cpu_losses(reading, packet, phase, field.bytes);
    if (phase == PHASE_END)
        return; /* the rest is told at the start */
    tv_pf_add_metadata(reading, "ftrace_atrace_errors", tv_pf_find(bytes, 5).bytes);
    pf_add_names_of(reading, "ftrace_unknown_events", bytes, 6);
    pf_add_names_of(reading, "ftrace_failed_events", bytes, 7);
}

/* ---- Packets ---- */

bool tv_pf_take_facts(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                      const struct tv_protobuf_field *payload)
{
    switch (payload->number) {
    case 33:
        pf_take_trace_config(reading, payload->bytes);
        return true;
    case 34:
        pf_take_ftrace_stats(reading, packet, payload->bytes);
        return true;
    case 35:
        pf_take_trace_stats(reading, packet, payload->bytes);
        return true;
    case 45:
        pf_take_system_info(reading, payload->bytes);
        return true;
    case 48:
        tv_pf_take_benchmark_metadata(reading, payload->bytes);
        return true;
    case 51:
        tv_pf_take_chrome_metadata(reading, payload->bytes);
        return true;
    case 67:
        pf_take_cpu_info(reading, payload->bytes);
        return true;
    case 69:
        pf_take_service_event(reading, packet, payload->bytes);
        return true;
    case 89:
        pf_take_uuid(reading, payload->bytes);
        return true;
    case 126:
        pf_take_trace_attributes(reading, payload->bytes);
        return true;
    case 128:
        pf_take_gpu_info(reading, payload->bytes);
        return true;
    case 134:
        tv_pf_take_session(reading, packet, payload->bytes);
        return true;
    default:
        return false;
    }
}
