/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sequences.c - the state of sequences (docs/formats/perfetto.md sections 3 and 4).
 *
 * A sequence is the packets of one writer: a thread of a traced program, or a data source of the
 * service. To save bytes, packets say things once and later refer to them:
 *
 *     interned_data (12)         {1 iid, 2 text} in tables by field number: iid 7 of table 2 is
 *                                "draw" for this sequence, until the state is cleared
 *     trace_packet_defaults (59) clock and track of packets that name none
 *     clock_snapshot (6)         clocks 64 to 127 belong to the sequence; they may count a unit,
 *                                and from the packet before (incremental)
 *
 *     sequence 3   |clear|intern 7|event 7|event 7|  lost  |event 7|clear|intern 7|event 7|
 *                   valid ------------------------> invalid -------> valid ...
 *
 * When packets were lost, an iid may mean anything: packets that need the state are left out up to
 * the next clear, with a diagnostic. `generation` counts the clears; whoever keeps something by
 * iid compares it.
 *
 * Entries are kept as bytes (`blobs`), since most are never used; a text is decoded at its first
 * use and then remembered in the entry.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/hash.h"
#include "base/memory.h"
#include "readers/perfetto/reading.h"

/* The pointer is valid until the next sequence is added. */
struct tv_pf_sequence *tv_pf_find_sequence(struct tv_pf_reading *reading, uint32_t id)
{
    uint32_t number = tv_map_find(&reading->sequence_index, id);
    if (TV_LIKELY(number != TV_NONE))
        return &reading->sequences.rows[number];
    number = tv_map_add(&reading->sequence_index, id, (uint32_t)reading->sequences.count);
    if (number == reading->sequences.count) {
        struct tv_pf_sequence *sequence = tv_table_add(&reading->sequences);
        sequence->id = id;
        sequence->thread_pid = sequence->thread_tid = TV_FT_NO_ID;
    }
    return &reading->sequences.rows[number];
}

/* Forget everything but the id. Arrays keep their memory, as a sequence is cleared many times. */
void tv_pf_sequence_clear(struct tv_pf_sequence *sequence)
{
    tv_map_release(&sequence->interned);
    tv_map_release(&sequence->counters);
    tv_map_release(&sequence->frames);
    tv_map_init(&sequence->interned);
    tv_map_init(&sequence->counters);
    tv_map_init(&sequence->frames);
    sequence->entries.count = 0;
    sequence->sum_count = 0;
    for (unsigned role = 0; role < TV_PF_KNOWN_TRACKS; role++)
        sequence->known_tracks[role].sum = 0;
    sequence->named_count = 0;
    sequence->clock_count = 0;
    sequence->default_clock = 0;
    sequence->has_default_track = false;
    sequence->extra_counters = TV_EMPTY_STRING;
    sequence->sample_defaults = TV_EMPTY_STRING;
    sequence->stack_sample_defaults = TV_EMPTY_STRING;
    sequence->thread_pid = sequence->thread_tid = TV_FT_NO_ID;
    sequence->delta_time = 0;
    sequence->generation++;
}

void tv_pf_sequences_release(struct tv_pf_reading *reading)
{
    for (size_t i = 0; i < reading->sequences.count; i++) {
        struct tv_pf_sequence *sequence = &reading->sequences.rows[i];
        tv_pf_sequence_clear(sequence);
        tv_free(sequence->entries.rows);
        tv_free(sequence->sums);
        tv_free(sequence->named_frames);
        tv_free(sequence->clocks);
    }
    tv_free(reading->sequences.rows);
    tv_map_release(&reading->sequence_index);
}

/* ---- Defaults ---- */

/* Set the defaults of track events: field 11 of TracePacketDefaults. */
static void pf_sequence_set_track_defaults(struct tv_pf_reading *reading,
                                           struct tv_pf_sequence *sequence, struct tv_bytes bytes)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    uint64_t uuids[64], value;
    size_t count = 0;
    while (tv_pf_next(&message, &field)) {
        if (field.number == 11) {
            sequence->has_default_track = true;
            sequence->default_track = field.value;
        }
        if (field.number != 31)
            continue;
        struct tv_pf_numbers numbers = tv_pf_numbers_of(&field, 0);
        while (count < TV_COUNT(uuids) && tv_pf_numbers_next(&numbers, &value))
            uuids[count++] = value;
    }
    struct tv_bytes kept = {(const uint8_t *)uuids, count * sizeof *uuids};
    sequence->extra_counters = tv_interner_add(reading->blobs, kept);
}

void tv_pf_sequence_set_defaults(struct tv_pf_reading *reading, struct tv_pf_sequence *sequence,
                                 struct tv_bytes defaults)
{
    struct tv_pf_message message = tv_pf_message_over(defaults);
    struct tv_protobuf_field field;
    sequence->default_clock = 0;
    sequence->has_default_track = false;
    sequence->extra_counters = TV_EMPTY_STRING;
    sequence->sample_defaults = TV_EMPTY_STRING;
    sequence->stack_sample_defaults = TV_EMPTY_STRING;
    while (tv_pf_next(&message, &field)) {
        if (field.number == 58)
            sequence->default_clock = (uint32_t)field.value;
        else if (field.number == 11)
            pf_sequence_set_track_defaults(reading, sequence, field.bytes);
        else if (field.number == 12)
            sequence->sample_defaults = tv_interner_add(reading->blobs, field.bytes);
        else if (field.number == 100)
            sequence->stack_sample_defaults = tv_interner_add(reading->blobs, field.bytes);
    }
}

/* ---- Clocks of the sequence ---- */

static struct tv_pf_own_clock *pf_sequence_find_clock(struct tv_pf_sequence *sequence, uint32_t id)
{
    for (uint8_t i = 0; i < sequence->clock_count; i++)
        if (sequence->clocks[i].id == id)
            return &sequence->clocks[i];
    return NULL;
}

struct pf_snapshot_clock {
    uint32_t id;
    bool incremental;
    uint64_t unit;
    int64_t value;
};

/* Parse Clock {1 id, 2 timestamp, 3 is_incremental, 4 unit_multiplier_ns}. The value may wrap
 * around: only differences are used. */
static struct pf_snapshot_clock pf_snapshot_parse_clock(struct tv_bytes bytes)
{
    struct pf_snapshot_clock clock = {.unit = 1};
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    uint64_t time = 0;
    while (tv_pf_next(&message, &field)) {
        if (field.number == 1)
            clock.id = (uint32_t)field.value;
        else if (field.number == 2)
            time = field.value;
        else if (field.number == 3)
            clock.incremental = field.value != 0;
        else if (field.number == 4 && field.value > 0)
            clock.unit = field.value;
    }
    clock.value = (int64_t)(time * clock.unit);
    return clock;
}

/* Set a clock of the sequence; `anchor` is another clock of the same snapshot. */
static void pf_sequence_set_clock(struct tv_pf_sequence *sequence,
                                  const struct pf_snapshot_clock *clock,
                                  const struct pf_snapshot_clock *anchor)
{
    struct tv_pf_own_clock *own = pf_sequence_find_clock(sequence, clock->id);
    if (!own) {
        if (sequence->clock_count == TV_PF_OWN_CLOCKS)
            return;
        if (!sequence->clocks)
            sequence->clocks = tv_alloc(TV_PF_OWN_CLOCKS, sizeof *sequence->clocks);
        own = &sequence->clocks[sequence->clock_count++];
    }
    *own = (struct tv_pf_own_clock){
        .id = clock->id,
        .anchor_id = anchor->id,
        .incremental = clock->incremental,
        .unit = (int64_t)clock->unit,
        .value = clock->value,
        .anchor_own = clock->value,
        .anchor = anchor->value,
    };
}

/* Tie the clocks of the sequence to a global clock of the same snapshot, that of the trace if it
 * is there. Without a global clock they cannot be converted, and are left as they were. */
void tv_pf_sequence_add_clocks(struct tv_pf_sequence *sequence, struct tv_bytes snapshot,
                               uint32_t trace_clock)
{
    struct tv_pf_message message = tv_pf_message_over(snapshot);
    struct tv_protobuf_field field;
    struct pf_snapshot_clock anchor = {.id = 0};
    while (tv_pf_next(&message, &field)) {
        if (field.number != 1)
            continue;
        struct pf_snapshot_clock clock = pf_snapshot_parse_clock(field.bytes);
        bool global = clock.id < TV_PF_CLOCK_SEQUENCE || clock.id >= TV_PF_CLOCK_CUSTOM;
        if (global && (anchor.id == 0 || clock.id == trace_clock))
            anchor = clock;
    }
    message = tv_pf_message_over(snapshot);
    while (anchor.id != 0 && tv_pf_next(&message, &field)) {
        if (field.number != 1)
            continue;
        struct pf_snapshot_clock clock = pf_snapshot_parse_clock(field.bytes);
        if (clock.id >= TV_PF_CLOCK_SEQUENCE && clock.id < TV_PF_CLOCK_CUSTOM)
            pf_sequence_set_clock(sequence, &clock, &anchor);
    }
}

struct tv_pf_own_clock *tv_pf_sequence_incremental(struct tv_pf_sequence *sequence, uint32_t id)
{
    struct tv_pf_own_clock *own = pf_sequence_find_clock(sequence, id);
    return own && own->incremental ? own : NULL;
}

bool tv_pf_sequence_convert(struct tv_pf_reading *reading, struct tv_pf_sequence *sequence,
                            uint32_t clock, int64_t *time)
{
    if (clock < TV_PF_CLOCK_SEQUENCE || clock >= TV_PF_CLOCK_CUSTOM)
        return tv_pf_clocks_convert(&reading->clocks, clock, time);
    struct tv_pf_own_clock *own = pf_sequence_find_clock(sequence, clock);
    if (!own)
        return false;
    uint64_t value = (uint64_t)*time * (uint64_t)own->unit;
    if (own->incremental)
        value += (uint64_t)own->value;
    own->value = (int64_t)value;
    *time = (int64_t)(value - (uint64_t)own->anchor_own + (uint64_t)own->anchor);
    return tv_pf_clocks_convert(&reading->clocks, own->anchor_id, time);
}

/* ---- Interned data ---- */

/* Return the key of an entry. iids are small numbers or hashes of 64 bits; the table is mixed into
 * the upper bits. */
static uint64_t pf_intern_key(uint32_t table, uint64_t iid)
{
    return iid ^ (uint64_t)table << 56 ^ iid >> 56 << 40;
}

/* The first entry of an iid counts; another one with other bytes is diagnosed. */
void tv_pf_sequence_intern_entry(struct tv_pf_reading *reading, struct tv_pf_sequence *sequence,
                                 uint32_t table, struct tv_bytes entry, uint64_t offset)
{
    uint64_t iid = tv_pf_find(entry, 1).value;
    uint32_t blob = tv_interner_add(reading->blobs, entry);
    uint32_t number = tv_map_add(&sequence->interned, pf_intern_key(table, iid),
                                 (uint32_t)sequence->entries.count);
    if (number == sequence->entries.count)
        *tv_table_add(&sequence->entries) = (struct tv_pf_interned){blob, TV_NONE};
    else if (sequence->entries.rows[number].blob != blob)
        tv_pf_warn(reading, TV_DIAGNOSTIC_INTERNED_TWICE, offset);
}

void tv_pf_sequence_intern(struct tv_pf_reading *reading, struct tv_pf_sequence *sequence,
                           struct tv_bytes data, uint64_t offset)
{
    struct tv_pf_message message = tv_pf_message_over(data);
    struct tv_protobuf_field field;
    while (tv_pf_next(&message, &field))
        if (field.wire == TV_PROTOBUF_BYTES)
            tv_pf_sequence_intern_entry(reading, sequence, field.number, field.bytes, offset);
    if (message.damaged)
        tv_pf_warn(reading, TV_DIAGNOSTIC_BAD_PACKET, offset);
}

struct tv_pf_interned *tv_pf_interned_find(struct tv_pf_reading *reading,
                                           struct tv_pf_sequence *sequence, uint32_t table,
                                           uint64_t iid, uint64_t offset)
{
    uint32_t number = tv_map_find(&sequence->interned, pf_intern_key(table, iid));
    if (TV_LIKELY(number != TV_NONE))
        return &sequence->entries.rows[number];
    tv_pf_warn(reading, TV_DIAGNOSTIC_INTERNED_MISSING, offset);
    return NULL;
}

uint32_t tv_pf_interned_text(struct tv_pf_reading *reading, struct tv_pf_sequence *sequence,
                             uint32_t table, uint64_t iid, uint64_t offset)
{
    struct tv_pf_interned *entry = tv_pf_interned_find(reading, sequence, table, iid, offset);
    char text[48];
    if (!entry) {
        int length = snprintf(text, sizeof text, "[iid %" PRIu64 " unknown]", iid);
        return tv_pf_text(reading, (struct tv_bytes){(uint8_t *)text, (size_t)length});
    }
    if (entry->text == TV_NONE) {
        struct tv_protobuf_field name = tv_pf_find(tv_interner_get(reading->blobs, entry->blob), 2);
        entry->text = tv_pf_text(reading, name.bytes);
    }
    return entry->text;
}
