/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf_counters.c - the counters of perf that a sample tells: perf_sample {1 cpu, 6 timebase_count,
 * 7 follower_counts*}, named by the defaults of its sequence {1 timebase {4 counter, 10 name},
 * 4 followers* {1 counter, 4 name}}.
 *
 * The value is that of the counter at the sample, since perf began: a counter for each event,
 * processor and sequence.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "readers/perfetto/reading.h"

static const char *pf_counter_name(uint64_t counter)
{
    static const char *const names[] = {
        NULL,
        "cpu-clock",
        "page-faults",
        NULL,
        "faults-min",
        "faults-maj",
        "context-switches",
        "migrations",
        "alignment-faults",
        "emulation-faults",
        "cpu-cycles",
        "instructions",
        "cache-references",
        "cache-misses",
        "branch-instructions",
        "branch-misses",
    };
    return counter < TV_COUNT(names) ? names[counter] : NULL;
}

/* Return the name of an event: the given one, else that of its counter. */
static struct tv_bytes pf_event_name(struct tv_bytes given, uint64_t counter, const char *other)
{
    const char *known = pf_counter_name(counter);
    return given.length > 0 ? given : tv_bytes_of(known ? known : other);
}

static struct tv_bytes pf_timebase_name(const struct tv_pf_reading *reading,
                                        const struct tv_pf_sequence *sequence)
{
    struct tv_bytes defaults = tv_interner_get(reading->blobs, sequence->sample_defaults);
    struct tv_bytes timebase = tv_pf_find(defaults, 1).bytes;
    return pf_event_name(tv_pf_find(timebase, 10).bytes, tv_pf_find(timebase, 4).value, "samples");
}

uint32_t tv_pf_perf_event_name(struct tv_pf_reading *reading, const struct tv_pf_sequence *sequence)
{
    return tv_pf_text(reading, pf_timebase_name(reading, sequence));
}

/* A value of a counter. */
struct pf_perf_value {
    struct tv_bytes name;
    uint64_t cpu, value;
    bool is_timebase;
};

static void pf_count_perf_value(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                                const struct pf_perf_value *value)
{
    char name[160], dimensions[96];
    struct tv_ft_at at = {packet->time, packet->offset, 0, tv_ft_chunk_task(reading->chunk, 0)};
    int length = snprintf(name, sizeof name, "%.*s on cpu %" PRIu64,
                          (int)(value->name.length < 120 ? value->name.length : 120),
                          (const char *)value->name.data, value->cpu);
    snprintf(dimensions, sizeof dimensions,
             "{\"cpu\":%" PRIu64 ",\"sequence\":%" PRIu32 ",\"is_timebase\":%d}", value->cpu,
             packet->sequence_id, value->is_timebase);
    struct tv_pf_counter counter = {
        .name = {(uint8_t *)name, (size_t)length},
        .type = "perf_counter",
        .dimensions = dimensions,
    };
    tv_pf_count_described(reading, &at, TV_FT_NO_ID, &counter, (double)value->value);
}

/* Take the next event of the followers; false at the end. */
static bool pf_next_follower(struct tv_pf_message *defaults, struct tv_bytes *name)
{
    struct tv_protobuf_field field;
    while (tv_pf_next(defaults, &field))
        if (field.number == 4) {
            *name = pf_event_name(tv_pf_find(field.bytes, 4).bytes,
                                  tv_pf_find(field.bytes, 1).value, "another event");
            return true;
        }
    return false;
}

void tv_pf_count_perf_sample(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                             struct tv_bytes sample)
{
    struct tv_protobuf_field count = tv_pf_find(sample, 6), field;
    struct tv_pf_message defaults =
        tv_pf_message_over(tv_interner_get(reading->blobs, packet->sequence->sample_defaults));
    struct tv_pf_message message = tv_pf_message_over(sample);
    struct pf_perf_value value = {
        .name = pf_timebase_name(reading, packet->sequence),
        .cpu = tv_pf_find(sample, 1).value,
        .value = count.value,
        .is_timebase = true,
    };
    if (count.number == 6)
        pf_count_perf_value(reading, packet, &value);
    value.is_timebase = false;
    while (tv_pf_next(&message, &field)) {
        struct tv_pf_numbers numbers = tv_pf_numbers_of(&field, 0);
        while (field.number == 7 && tv_pf_numbers_next(&numbers, &value.value) &&
               pf_next_follower(&defaults, &value.name))
            pf_count_perf_value(reading, packet, &value);
    }
}
