/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack_samples.c - stack_sample packets (135), the samples of profilers other than perf
 * (docs/formats/perfetto.md).
 *
 *     stack_sample {1 task {2 pid, 3 tid} | 2 its iid, 3 execution {2 cpu} | 4 its iid,
 *                   5 stack {1 frames* {1 function, 2 file, 3 line}} | 6 its iid,
 *                   9 counter {2 name, 3 unit, 4 unit as text} | 10 its iid, 11 weight,
 *                   12 more counters* | 13 their iids, 14 their weights}
 *
 * Missing fields come from the defaults of the sequence {2 counter, 3 more counters}.  A sample
 * with several weights is several rows, as a sample of perf.  One of a process alone is on its main
 * thread, because only threads have samples.
 */
#include "base/bytes.h"
#include "readers/perfetto/reading.h"

/* Tables of InternedData. */
enum { TASKS = 48, EXECUTIONS = 49, COUNTERS = 50 };

#define FRAMES_MAX 4096u

/* Return a message that is in the packet or interned; empty: neither. */
static struct tv_bytes pf_ss_message(struct tv_pf_reading *reading,
                                     const struct tv_pf_current *packet, struct tv_bytes bytes,
                                     uint32_t number, uint32_t table)
{
    struct tv_protobuf_field inside = tv_pf_find(bytes, number);
    uint64_t iid = tv_pf_find(bytes, number + 1).value;
    if (inside.number == number || iid == 0)
        return inside.bytes;
    struct tv_pf_interned *entry =
        tv_pf_interned_find(reading, packet->sequence, table, iid, packet->offset);
    return entry ? tv_interner_get(reading->blobs, entry->blob) : TV_BYTES("");
}

/* Return the row of a sample's stack: frames given in the packet make a new row without a look for
 * an equal one (at most FRAMES_MAX of them), an iid is looked up among the interned callstacks. */
static uint32_t pf_ss_stack(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                            struct tv_bytes bytes)
{
    struct tv_pf_message message = tv_pf_message_over(tv_pf_find(bytes, 5).bytes);
    struct tv_protobuf_field field;
    struct tv_pf_stack stack = {(uint32_t)reading->profile.stack_frame_count, 0};
    if (tv_pf_find(bytes, 5).number != 5)
        return tv_pf_read_stack(reading, packet->sequence, tv_pf_find(bytes, 6).value,
                                packet->offset);
    while (stack.count < FRAMES_MAX && tv_pf_next(&message, &field)) {
        uint64_t line = tv_pf_find(field.bytes, 3).value;
        if (field.number != 1)
            continue;
        struct tv_pf_sample_frame frame = {
            .name = tv_pf_text(reading, tv_pf_find(field.bytes, 1).bytes),
            .file = tv_pf_text(reading, tv_pf_find(field.bytes, 2).bytes),
            .line = line <= INT32_MAX ? (int32_t)line : 0,
        };
        tv_pf_push_frame(reading, &stack, tv_pf_sample_frame(reading, &frame));
    }
    *tv_table_add(&reading->profile.stacks) = stack;
    return (uint32_t)reading->profile.stacks.count - 1;
}

/* Set the type of a sample's weight from a CounterDescriptor. */
static void pf_ss_set_type(struct tv_pf_reading *reading, struct tv_pf_sample *sample,
                           struct tv_bytes counter)
{
    static const char *const units[] = {
        "",       "nanoseconds",  "cycles",           "instructions",  "bytes",
        "faults", "cache-misses", "cache-references", "branch-misses", "count"};
    struct tv_bytes name = tv_pf_find(counter, 2).bytes, unit = tv_pf_find(counter, 4).bytes;
    uint64_t number = tv_pf_find(counter, 3).value;
    if (unit.length == 0 && number < TV_COUNT(units))
        unit = tv_bytes_of(units[number]);
    sample->type = tv_pf_text(reading, name.length > 0 ? name : TV_BYTES("samples"));
    sample->unit = tv_pf_text(reading, unit.length > 0 ? unit : TV_BYTES("samples"));
}

static void pf_ss_add(struct tv_pf_reading *reading, const struct tv_pf_sample *sample,
                      struct tv_bytes counter, uint64_t weight, bool first)
{
    struct tv_pf_sample added = *sample;
    pf_ss_set_type(reading, &added, counter);
    added.weight = weight > INT64_MAX ? INT64_MAX : (int64_t)weight;
    added.first = first;
    *tv_table_add(&reading->profile.samples) = added;
}

/* Take the next descriptor of a field of a message; false at the end. */
static bool pf_ss_next_counter(struct tv_pf_message *message, uint32_t number,
                               struct tv_bytes *counter)
{
    struct tv_protobuf_field field;
    while (tv_pf_next(message, &field))
        if (field.number == number) {
            *counter = field.bytes;
            return true;
        }
    return false;
}

/* Add a row for each further weight; their counters are in the packet, else in the defaults. */
static void pf_ss_add_followers(struct tv_pf_reading *reading, struct tv_bytes bytes,
                                const struct tv_pf_sample *sample, struct tv_bytes defaults)
{
    bool inside = tv_pf_find(bytes, 12).number == 12;
    struct tv_pf_message counters = tv_pf_message_over(inside ? bytes : defaults);
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    struct tv_bytes counter;
    while (tv_pf_next(&message, &field)) {
        struct tv_pf_numbers numbers = tv_pf_numbers_of(&field, 0);
        uint64_t weight;
        while (field.number == 14 && tv_pf_numbers_next(&numbers, &weight) &&
               pf_ss_next_counter(&counters, inside ? 12 : 3, &counter))
            pf_ss_add(reading, sample, counter, weight, false);
    }
}

/* Return the task of a sample; TV_NONE: it names neither a thread nor a process. */
static uint32_t pf_ss_task(struct tv_pf_reading *reading, struct tv_bytes context)
{
    uint64_t pid = tv_pf_find(context, 2).value, tid = tv_pf_find(context, 3).value;
    tid = tid != 0 ? tid : pid;
    if (tid == 0 || tid > INT32_MAX || pid > INT32_MAX)
        return TV_NONE;
    uint32_t task = pid != 0 ? tv_pf_set_process(reading, (int64_t)tid, (int64_t)pid)
                             : tv_ft_chunk_task(reading->chunk, (int64_t)tid);
    reading->chunk->tasks.rows[task].used = true;
    return task;
}

void tv_pf_take_stack_sample(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                             struct tv_bytes bytes)
{
    struct tv_bytes defaults =
        tv_interner_get(reading->blobs, packet->sequence->stack_sample_defaults);
    struct tv_bytes execution = pf_ss_message(reading, packet, bytes, 3, EXECUTIONS);
    struct tv_bytes counter = pf_ss_message(reading, packet, bytes, 9, COUNTERS);
    struct tv_protobuf_field cpu = tv_pf_find(execution, 2), weight = tv_pf_find(bytes, 11);
    struct tv_pf_sample sample = {
        .time = packet->time,
        .offset = packet->offset,
        .task = pf_ss_task(reading, pf_ss_message(reading, packet, bytes, 1, TASKS)),
        .cpu = cpu.number == 2 && cpu.value < 65536 ? (uint32_t)cpu.value : TV_NONE,
        .stack = pf_ss_stack(reading, packet, bytes),
    };
    tv_ft_chunk_note(reading->chunk, packet->time);
    if (counter.length == 0)
        counter = tv_pf_find(defaults, 2).bytes;
    pf_ss_add(reading, &sample, counter, weight.number == 11 ? weight.value : 1, true);
    pf_ss_add_followers(reading, bytes, &sample, defaults);
}
