/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facts.c - packets about the system and the recording (docs/formats/perfetto.md), which become
 * metadata, and what the recording service lost, which becomes diagnostics.
 *
 *     45 system_info, 67 cpu_info, 128 gpu_info    metadata
 *     69 service_event, 89 trace_uuid              metadata
 *     134 concurrent_session_event                 a track (sessions.c)
 *     35 trace_stats                               diagnostics
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
    char text[24];
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    while (tv_pf_next(&message, &field)) {
        if (field.number >= TV_COUNT(names) || !names[field.number])
            continue;
        struct tv_bytes value = field.bytes;
        if (field.wire == TV_PROTOBUF_VARINT)
            value = (struct tv_bytes){(uint8_t *)text,
                                      (size_t)snprintf(text, sizeof text, "%" PRIu64, field.value)};
        tv_pf_add_metadata(reading, names[field.number], value);
    }
}

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

/* ---- Losses that the service reports ---- */

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

/* ---- Packets ---- */

bool tv_pf_take_facts(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                      const struct tv_protobuf_field *payload)
{
    switch (payload->number) {
    case 35:
        pf_take_trace_stats(reading, packet, payload->bytes);
        return true;
    case 45:
        pf_take_system_info(reading, payload->bytes);
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
