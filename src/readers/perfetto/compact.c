/* SPDX-License-Identifier: Apache-2.0 */
/* Switches and wake-ups of a bundle in columns, as CompactSched has them. */
#include <string.h>

#include "readers/perfetto/bundle.h"

/* Names of a compact_sched message; further ones are unknown. */
#define COMMS 1024u

struct pf_compact {
    struct tv_pf_numbers columns[13]; /* by field number */
    struct tv_bytes comms[COMMS];
    uint32_t comm_count;
    uint64_t offset;
};

/* Find the columns of a message, and the names that their rows refer to. */
static void pf_compact_parse(struct pf_compact *compact, struct tv_bytes bytes)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    memset(compact->columns, 0, sizeof compact->columns);
    compact->comm_count = 0;
    while (tv_pf_next(&message, &field)) {
        if (field.number == 5 && compact->comm_count < COMMS)
            compact->comms[compact->comm_count++] = field.bytes;
        else if (field.number < TV_COUNT(compact->columns))
            compact->columns[field.number] = tv_pf_numbers_of(&field, 0);
    }
}

static bool pf_compact_next(struct pf_compact *compact, const uint8_t *wanted, size_t count,
                            uint64_t *values)
{
    for (size_t i = 0; i < count; i++)
        if (!tv_pf_numbers_next(&compact->columns[wanted[i]], &values[i]))
            return i == 0 ? false : (values[count - 1] = UINT64_MAX, false);
    return true;
}

/* Return true when a column has values after the last complete row. */
static bool pf_compact_has_rest(const struct pf_compact *compact, const uint8_t *columns,
                                size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (compact->columns[columns[i]].at < compact->columns[columns[i]].end)
            return true;
    return false;
}

static struct tv_bytes pf_compact_comm(struct tv_pf_bundle *bundle,
                                       const struct pf_compact *compact, uint64_t index)
{
    if (index < compact->comm_count)
        return compact->comms[index];
    tv_pf_warn(bundle->reading, TV_DIAGNOSTIC_COMPACT_MISMATCH, compact->offset);
    return TV_BYTES("");
}

/* Take switches in columns {1 steps of time, 2 state before, 3 next task, 6 index of its name}.
 * The task before is the one that the processor switched to last. */
static void pf_compact_take_switches(struct tv_pf_bundle *bundle, struct pf_compact *compact)
{
    static const uint8_t columns[] = {1, 2, 3, 6};
    struct tv_pf_cpu *cpu = &tv_pf_bundle_get_state(bundle->reading)->cpus[bundle->cpu];
    uint64_t row[4] = {0}, time = 0;
    while (pf_compact_next(compact, columns, TV_COUNT(columns), row)) {
        int64_t tid = (int32_t)row[2];
        time += row[0];
        if (!tv_pf_is_tid(tid)) {
            tv_pf_warn(bundle->reading, TV_DIAGNOSTIC_COMPACT_MISMATCH, compact->offset);
            continue;
        }
        struct tv_ft_decoded_switch decoded = {
            .from = cpu->known ? cpu->tid : 0,
            .to = tid,
            .from_name = tv_interner_get(bundle->chunk->texts, cpu->known ? cpu->name : 0),
            .to_name = pf_compact_comm(bundle, compact, row[3]),
            .state = tv_pf_task_state(bundle->reading, (int64_t)row[1]),
        };
        struct tv_ft_at at = {tv_pf_bundle_time(bundle->reading, &bundle->clock, time),
                              compact->offset, bundle->cpu, 0};
        if (TV_UNLIKELY(bundle->lost))
            tv_pf_bundle_mark_loss(bundle, at.time);
        tv_ft_chunk_note(bundle->chunk, at.time);
        tv_ft_take_switch(bundle->chunk, &at, &decoded);
        tv_pf_cpu_turn_to(bundle, tid, decoded.to_name);
    }
    if (pf_compact_has_rest(compact, columns, TV_COUNT(columns)))
        tv_pf_warn(bundle->reading, TV_DIAGNOSTIC_COMPACT_MISMATCH, compact->offset);
}

/* Switches of this message that precede a waking tell who ran: they are read beside it. */
struct pf_compact_runner {
    struct tv_pf_numbers times, tids;
    uint64_t time; /* time of the switch that is next */
    bool more;
    int64_t tid;
};

static void pf_runner_advance(struct pf_compact_runner *runner, uint64_t until)
{
    uint64_t tid, delta;
    while (runner->more && runner->time <= until) {
        if (tv_pf_numbers_next(&runner->tids, &tid))
            runner->tid = (int32_t)tid;
        runner->more = tv_pf_numbers_next(&runner->times, &delta);
        runner->time += runner->more ? delta : 0;
    }
}

/* Take the wakings. The column does not say who woke, so it is the task that ran on the processor
 * at that time. */
static void pf_compact_take_wakings(struct tv_pf_bundle *bundle, struct pf_compact *compact,
                                    struct pf_compact_runner *runner)
{
    static const uint8_t columns[] = {7, 8, 11};
    uint64_t row[3] = {0}, time = 0;
    runner->more = tv_pf_numbers_next(&runner->times, &runner->time);
    while (pf_compact_next(compact, columns, TV_COUNT(columns), row)) {
        int64_t tid = (int32_t)row[1];
        time += row[0];
        if (!tv_pf_is_tid(tid)) {
            tv_pf_warn(bundle->reading, TV_DIAGNOSTIC_COMPACT_MISMATCH, compact->offset);
            continue;
        }
        pf_runner_advance(runner, time);
        struct tv_ft_at at = {
            tv_pf_bundle_time(bundle->reading, &bundle->clock, time), compact->offset, bundle->cpu,
            tv_ft_chunk_task(bundle->chunk, tv_pf_is_tid(runner->tid) ? runner->tid : 0)};
        tv_ft_chunk_note(bundle->chunk, at.time);
        tv_ft_take_wakeup(bundle->chunk, &at, tid, pf_compact_comm(bundle, compact, row[2]),
                          TV_FT_WAKE_ASKED);
    }
    if (pf_compact_has_rest(compact, columns, TV_COUNT(columns)))
        tv_pf_warn(bundle->reading, TV_DIAGNOSTIC_COMPACT_MISMATCH, compact->offset);
}

void tv_pf_bundle_take_compact(struct tv_pf_bundle *bundle, struct tv_bytes bytes, uint64_t offset)
{
    struct pf_compact compact;
    const struct tv_pf_cpu *cpu = &tv_pf_bundle_get_state(bundle->reading)->cpus[bundle->cpu];
    compact.offset = offset;
    pf_compact_parse(&compact, bytes);
    struct pf_compact_runner runner = {compact.columns[1], compact.columns[3], 0, false,
                                       cpu->known ? cpu->tid : 0};
    pf_compact_take_switches(bundle, &compact);
    pf_compact_take_wakings(bundle, &compact, &runner);
}

void tv_pf_compact_visit(struct tv_bytes bytes, int64_t *running,
                         void (*take)(void *context, const struct tv_pf_compact_row *row),
                         void *context)
{
    static const uint8_t switches[] = {1, 3}, wakings[] = {7, 8};
    struct pf_compact compact;
    struct tv_pf_compact_row row = {.time = 0};
    uint64_t values[2];
    pf_compact_parse(&compact, bytes);
    struct pf_compact_runner runner = {compact.columns[1], compact.columns[3], 0, false, *running};
    row.tid = *running;
    while (pf_compact_next(&compact, switches, TV_COUNT(switches), values)) {
        row.time += values[0];
        take(context, &row);
        row.tid = *running = (int32_t)values[1];
    }
    row = (struct tv_pf_compact_row){.wakes = true};
    runner.more = tv_pf_numbers_next(&runner.times, &runner.time);
    while (pf_compact_next(&compact, wakings, TV_COUNT(wakings), values)) {
        row.time += values[0];
        pf_runner_advance(&runner, row.time);
        row.tid = runner.tid;
        take(context, &row);
    }
}
