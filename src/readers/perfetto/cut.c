/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cut.c - the packets of a time range.
 *
 * Most packets are copied as they are, or left out.  Four kinds of values count from earlier
 * packets, which may be gone; they are written anew:
 *
 *     timestamps of incremental clocks   the steps left out are added to the next one written
 *     values of incremental counters     the same
 *     columns of compact scheduling      the first time is whole, the others are steps
 *     times within old track events      become times of the packet
 *
 *     packets    [clear, names] [begin a +5] [begin b +3] | [end b +4] [end a +9] | [end c +1]
 *     range                                               ^                       ^
 *     written    [clear, names] [begin a: from] [begin b: from] [end b +12] [end a +9]
 */
#include "readers/perfetto/cut.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/protobuf_out.h"
#include "readers/perfetto/cut_writing.h"

enum { EVENT_BEGIN = 1, EVENT_END, EVENT_INSTANT, EVENT_COUNTER, EVENT_STATE };

/* Changes of a packet that is written. */
struct cut_changes {
    bool timed;    /* it gets another timestamp */
    uint64_t time; /* the timestamp */
    bool absolute; /* the timestamp is one of the trace's clock */
    bool bare;     /* neither timestamp nor payload: only what changes the sequence */
    bool replaced; /* writing->payload stands for the payload */
};

/* ---- Marks ---- */

/* Return the key of a mark.  Events of one packet share its offset, so the time is part of the key.
 */
static uint64_t cut_mark_key(uint64_t offset, int64_t time)
{
    return tv_hash_u64(offset) ^ (uint64_t)time;
}

/* The lead is above the marks. */
#define LEAD_SHIFT 8

void tv_pf_cut_mark(struct tv_pf_cut *cut, uint64_t offset, int64_t time, unsigned mark,
                    unsigned lead)
{
    uint64_t key = cut_mark_key(offset, time);
    uint32_t known = tv_map_find(&cut->marks, key);
    assert(mark < 1u << LEAD_SHIFT && lead <= TV_PF_CUT_LEAD_MAX);
    tv_map_set(&cut->marks, key, (known == TV_NONE ? 0 : known) | mark | lead << LEAD_SHIFT);
}

unsigned tv_pf_cut_marks_of(const struct tv_pf_cut_writing *writing, uint64_t offset, int64_t time)
{
    uint32_t marks = tv_map_find(&writing->cut->marks, cut_mark_key(offset, time));
    return marks == TV_NONE ? 0 : marks;
}

int64_t tv_pf_cut_place(const struct tv_pf_cut_writing *writing, unsigned marks, int64_t time,
                        bool ends)
{
    const struct tv_pf_cut *cut = writing->cut;
    if (ends ? time > cut->from && time <= cut->to : time >= cut->from && time < cut->to)
        return time;
    if (time < cut->from && (marks & (TV_PF_CUT_BEGIN | TV_PF_CUT_VALUE)))
        return cut->from - (marks >> LEAD_SHIFT);
    return time > cut->to && (marks & TV_PF_CUT_END) ? cut->to : TV_NO_TIME;
}

/* ---- Packets ---- */

void tv_pf_cut_put_frame(struct tv_pf_cut_writing *writing, struct tv_bytes packet)
{
    tv_protobuf_put_bytes(writing->out, 1, packet);
    writing->cut->written++;
}

void tv_pf_cut_copy_field(struct tv_out *out, const uint8_t *start, const uint8_t *end)
{
    tv_out_bytes(out, (struct tv_bytes){start, (size_t)(end - start)});
}

/* Return true when a field of a packet is not copied; another one may stand for it. */
static bool cut_leaves_field(const struct cut_changes *changes, uint32_t number)
{
    if (number == 8)
        return changes->timed || changes->bare;
    if (number == 58)
        return changes->absolute || changes->bare;
    return changes->bare && !tv_pf_is_packet_head(number);
}

/* Write a packet with changes. All other fields are copied as they are. */
static void cut_put_changed(struct tv_pf_cut_writing *writing, const struct tv_pf_current *packet,
                            const struct cut_changes *changes)
{
    struct tv_pf_message message = tv_pf_message_over(packet->bytes);
    struct tv_protobuf_field field;
    struct tv_out *out = &writing->packet;
    out->length = 0;
    if (changes->timed)
        tv_protobuf_put_number(out, 8, changes->time);
    if (changes->absolute && writing->clock != 0)
        tv_protobuf_put_number(out, 58, writing->clock);
    for (const uint8_t *start = message.at; tv_pf_next(&message, &field); start = message.at) {
        if (cut_leaves_field(changes, field.number))
            continue;
        if (changes->replaced && !tv_pf_is_packet_head(field.number))
            tv_protobuf_put_message(out, field.number, &writing->payload);
        else
            tv_pf_cut_copy_field(out, start, message.at);
    }
    tv_pf_cut_put_frame(writing, (struct tv_bytes){out->buffer, out->length});
}

/* Return the incremental clock of a packet; NULL: its timestamp stands for itself. */
static struct tv_pf_own_clock *cut_clock_of(const struct tv_pf_current *packet)
{
    return packet->has_time ? tv_pf_sequence_incremental(packet->sequence, packet->clock) : NULL;
}

void tv_pf_cut_drop(struct tv_pf_cut_writing *writing, const struct tv_pf_current *packet)
{
    struct tv_pf_own_clock *clock = cut_clock_of(packet);
    if (clock)
        clock->unwritten += (uint64_t)packet->raw;
    writing->cut->left_out++;
    if (packet->tells_state)
        cut_put_changed(writing, packet, &(struct cut_changes){.bare = true});
}

void tv_pf_cut_keep(struct tv_pf_cut_writing *writing, const struct tv_pf_current *packet,
                    int64_t time, bool replaced)
{
    struct tv_pf_own_clock *clock = cut_clock_of(packet);
    struct cut_changes changes = {.replaced = replaced};
    if (time != packet->time) {
        changes.timed = changes.absolute = true;
        changes.time = (uint64_t)time;
        if (clock)
            clock->unwritten += (uint64_t)packet->raw;
    } else if (clock && clock->unwritten != 0) {
        changes.timed = true;
        changes.time = (uint64_t)packet->raw + clock->unwritten;
        clock->unwritten = 0;
    }
    if (changes.timed || replaced)
        cut_put_changed(writing, packet, &changes);
    else
        tv_pf_cut_put_frame(writing, packet->bytes);
}

/* Write a packet of the sequence with writing->payload at a time. */
static void cut_put_new(struct tv_pf_cut_writing *writing, const struct tv_pf_current *packet,
                        int64_t time, uint32_t payload)
{
    struct tv_out *out = &writing->packet;
    out->length = 0;
    tv_protobuf_put_number(out, 8, (uint64_t)time);
    if (writing->clock != 0)
        tv_protobuf_put_number(out, 58, writing->clock);
    if (packet->sequence_id != 0)
        tv_protobuf_put_number(out, 10, packet->sequence_id);
    tv_protobuf_put_message(out, payload, &writing->payload);
    tv_pf_cut_put_frame(writing, (struct tv_bytes){out->buffer, out->length});
}

/* ---- Track events ---- */

/* The fields of a track event that decide about it. */
struct cut_event {
    uint64_t type, track;
    bool has_track, has_delta, has_absolute, counts;
    int64_t delta, absolute;
    struct tv_bytes legacy;
    uint64_t phase;
};

/* Read the fields of an event that decide about it; all others are copied unread. */
static void cut_event_read(struct tv_bytes bytes, struct cut_event *event)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    *event = (struct cut_event){.type = 0};
    while (tv_pf_next(&message, &field))
        switch (field.number) {
        case 1:
            event->has_delta = true;
            event->delta = (int64_t)field.value;
            break;
        case 6:
            event->legacy = field.bytes;
            event->phase = tv_pf_find(field.bytes, 2).value;
            break;
        case 9:
            event->type = field.value;
            break;
        case 11:
            event->has_track = true;
            event->track = field.value;
            break;
        case 12:
        case 30:
            event->counts = true;
            break;
        case 16:
            event->has_absolute = true;
            event->absolute = (int64_t)field.value;
            break;
        default:
            break;
        }
}

/* Return the time of an event; TV_NO_TIME: it has none. */
static int64_t cut_event_time(struct tv_pf_cut_writing *writing, const struct tv_pf_current *packet,
                              const struct cut_event *event)
{
    struct tv_pf_reading *reading = writing->reading;
    if (!event->has_delta && !event->has_absolute)
        return packet->time;
    uint64_t us = (uint64_t)event->absolute;
    if (event->has_delta)
        us = (uint64_t)packet->sequence->delta_time + (uint64_t)event->delta;
    if (us > INT64_MAX / 1000)
        return TV_NO_TIME; /* the reader leaves it out too */
    if (event->has_delta)
        packet->sequence->delta_time = (int64_t)us;
    int64_t time = (int64_t)(us * 1000u);
    return tv_pf_clocks_convert(&reading->clocks, TV_PF_CLOCK_MONOTONIC, &time) ? time : TV_NO_TIME;
}

/* Tell whether an event ends a slice: it belongs to the range up to its end, which a beginning does
 * not. */
static bool cut_event_ends(const struct cut_event *event)
{
    return event->phase == 'E' || event->phase == 'e' || event->phase == 'F' ||
           (event->phase == 0 && event->type == EVENT_END);
}

/* Count a step of a counter.  Return the step to write: with those that were left out before. */
static uint64_t cut_event_step(struct tv_pf_cut_writing *writing,
                               const struct tv_pf_current *packet, uint64_t uuid, uint64_t step,
                               bool written)
{
    struct tv_pf_reading *reading = writing->reading;
    uint32_t track = tv_pf_find_track(reading, uuid);
    if (!reading->tracks.rows[track].incremental)
        return step;
    uint64_t key = tv_hash_u64((uint64_t)packet->sequence->id << 32 | packet->sequence->generation);
    uint32_t number =
        tv_map_add(&writing->sum_index, tv_hash_u64(key ^ track), (uint32_t)writing->sums.count);
    if (number == writing->sums.count)
        *tv_table_add(&writing->sums) = (struct tv_pf_cut_sum){0, 0};
    struct tv_pf_cut_sum *sum = &writing->sums.rows[number];
    sum->whole += step;
    uint64_t value = sum->whole - sum->written;
    if (written)
        sum->written = sum->whole;
    return value;
}

/* Gives the tracks of the extra values of an event, in their order. */
struct cut_extra_tracks {
    struct tv_pf_message message; /* the event, when it names them itself */
    struct tv_pf_numbers numbers;
    struct tv_bytes defaults; /* of the sequence, 8 bytes each */
    bool own;
};

/* Find the track of the next extra value; false: there are more values than tracks. */
static bool cut_extra_tracks_next(struct cut_extra_tracks *tracks, uint64_t *uuid)
{
    struct tv_protobuf_field field;
    if (!tracks->own) {
        if (tracks->defaults.length < sizeof *uuid)
            return false;
        memcpy(uuid, tracks->defaults.data, sizeof *uuid);
        tracks->defaults.data += sizeof *uuid;
        tracks->defaults.length -= sizeof *uuid;
        return true;
    }
    while (!tv_pf_numbers_next(&tracks->numbers, uuid)) {
        do
            if (!tv_pf_next(&tracks->message, &field))
                return false;
        while (field.number != 31);
        tracks->numbers = tv_pf_numbers_of(&field, 0);
    }
    return true;
}

/* An event that is written anew. */
struct cut_rewriting {
    struct tv_pf_cut_writing *writing;
    const struct tv_pf_current *packet;
    struct cut_extra_tracks extra;
    uint64_t track;
    bool written; /* else only its steps are counted */
    bool moved;   /* it begins a slice elsewhere now: CPU times are left out */
};

/* Write the extra values; steps of incremental counters include those that were left out. */
static void cut_rewrite_extra(struct cut_rewriting *r, const struct tv_protobuf_field *field)
{
    struct tv_pf_numbers numbers = tv_pf_numbers_of(field, 0);
    uint64_t value, uuid;
    while (tv_pf_numbers_next(&numbers, &value)) {
        if (cut_extra_tracks_next(&r->extra, &uuid))
            value = cut_event_step(r->writing, r->packet, uuid, value, r->written && !r->moved);
        if (!r->moved)
            tv_protobuf_put_number(&r->writing->payload, 12, value);
    }
}

/* Write a field of an event; it stands from `start` to `end`. */
static void cut_rewrite_field(struct cut_rewriting *r, const struct tv_protobuf_field *field,
                              const uint8_t *start, const uint8_t *end)
{
    struct tv_out *out = &r->writing->payload;
    switch (field->number) {
    case 1: /* times of its own */
    case 16:
        break;
    case 2: /* CPU times */
    case 17:
        if (!r->moved)
            tv_pf_cut_copy_field(out, start, end);
        break;
    case 12:
        cut_rewrite_extra(r, field);
        break;
    case 30:
        tv_protobuf_put_number(
            out, 30, cut_event_step(r->writing, r->packet, r->track, field->value, r->written));
        break;
    default:
        tv_pf_cut_copy_field(out, start, end);
    }
}

/* Write an event to writing->payload without times of its own; steps of counters are counted. */
static void cut_event_rewrite(struct tv_pf_cut_writing *writing, const struct tv_pf_current *packet,
                              const struct cut_event *event, bool written, bool moved)
{
    struct tv_bytes bytes = packet->payload.bytes;
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    struct cut_rewriting rewriting = {
        .writing = writing,
        .packet = packet,
        .extra = {.message = message,
                  .defaults =
                      tv_interner_get(writing->reading->blobs, packet->sequence->extra_counters),
                  .own = tv_pf_find(bytes, 31).number == 31},
        .track = event->has_track ? event->track : packet->sequence->default_track,
        .written = written,
        .moved = moved,
    };
    writing->payload.length = 0;
    for (const uint8_t *start = message.at; tv_pf_next(&message, &field); start = message.at)
        cut_rewrite_field(&rewriting, &field, start, message.at);
}

/* Write the end of the slice that an event begins. */
static void cut_event_close(struct tv_pf_cut_writing *writing, const struct tv_pf_current *packet,
                            const struct cut_event *event, int64_t time)
{
    struct tv_out *out = &writing->payload;
    struct tv_protobuf_field pid = tv_pf_find(event->legacy, 18);
    struct tv_protobuf_field tid = tv_pf_find(event->legacy, 19);
    if (event->phase != 0 && event->phase != 'B')
        return;
    out->length = 0;
    tv_protobuf_put_number(out, 9, event->type == EVENT_STATE ? EVENT_STATE : EVENT_END);
    if (event->has_track || packet->sequence->has_default_track)
        tv_protobuf_put_number(out, 11,
                               event->has_track ? event->track : packet->sequence->default_track);
    if (tid.number == 19) { /* an event of another thread */
        writing->part.length = 0;
        tv_protobuf_put_number(&writing->part, 2, 'E');
        if (pid.number == 18)
            tv_protobuf_put_number(&writing->part, 18, pid.value);
        tv_protobuf_put_number(&writing->part, 19, tid.value);
        tv_protobuf_put_message(out, 6, &writing->part);
    }
    cut_put_new(writing, packet, time, 11);
}

/* Write, move or leave out a track event.  Its steps count in either case, as later events add to
 * them. */
static void cut_track_event(struct tv_pf_cut_writing *writing, const struct tv_pf_current *packet)
{
    struct cut_event event;
    cut_event_read(packet->payload.bytes, &event);
    int64_t time = cut_event_time(writing, packet, &event), place = time;
    unsigned marks = tv_pf_cut_marks_of(writing, packet->offset, time);
    bool counter = event.type == EVENT_COUNTER && event.phase == 0;
    if (!counter)
        marks &= ~(unsigned)TV_PF_CUT_VALUE;
    if (time != TV_NO_TIME)
        place = tv_pf_cut_place(writing, marks, time, cut_event_ends(&event));
    bool moved = place != time && !counter, own = event.has_delta || event.has_absolute;
    bool changed = event.counts || own || moved;
    if (changed)
        cut_event_rewrite(writing, packet, &event, place != TV_NO_TIME, moved);
    if (place == TV_NO_TIME) {
        tv_pf_cut_drop(writing, packet);
        return;
    }
    tv_pf_cut_keep(writing, packet, place, changed);
    if (marks & TV_PF_CUT_CLOSE)
        cut_event_close(writing, packet, &event, writing->cut->to);
    else if (marks & TV_PF_CUT_EMPTY)
        cut_event_close(writing, packet, &event, place);
}

/* ---- Other packets ---- */

/* Write, move or leave out a part of a frame of SurfaceFlinger.  Parts are matched by a cookie,
 * field 1 of each, which the end that is added repeats. */
static void cut_frame(struct tv_pf_cut_writing *writing, const struct tv_pf_current *packet)
{
    struct tv_pf_message message = tv_pf_message_over(packet->payload.bytes);
    struct tv_protobuf_field part = {.number = 0};
    unsigned marks = tv_pf_cut_marks_of(writing, packet->offset, packet->time);
    tv_pf_next(&message, &part);
    int64_t place = tv_pf_cut_place(writing, marks, packet->time, part.number == 5);
    if (place == TV_NO_TIME) {
        tv_pf_cut_drop(writing, packet);
        return;
    }
    tv_pf_cut_keep(writing, packet, place, false);
    if (!(marks & (TV_PF_CUT_CLOSE | TV_PF_CUT_EMPTY)))
        return;
    writing->payload.length = writing->part.length = 0;
    tv_protobuf_put_number(&writing->part, 1, tv_pf_find(part.bytes, 1).value);
    tv_protobuf_put_message(&writing->payload, 5, &writing->part);
    cut_put_new(writing, packet, marks & TV_PF_CUT_CLOSE ? writing->cut->to : place, 76);
}

/* Return true for payloads that hold for the whole trace, whatever their time, or whose own times
 * do not follow that of the packet: descriptors, trees, metadata, statistics, texts of Chrome,
 * lists of packages, logs, streamed samples, symbols, code. */
static bool cut_is_of_whole_trace(uint32_t payload)
{
    static const uint8_t kept[] = {2,  5,   6,   33,  34,  35,  36,  39,  43,  44,  45,  47, 48, 51,
                                   54, 60,  61,  64,  67,  69,  72,  74,  78,  82,  83,  89, 97, 98,
                                   99, 100, 101, 102, 103, 105, 107, 110, 126, 127, 128, 130};
    for (size_t i = 0; i < TV_COUNT(kept); i++)
        if (kept[i] == payload)
            return true;
    return false;
}

/* Leave a packet out, but for the descriptions that it brings for later ones: names of power rails
 * and GPU counters, tables of old allocation profiles. */
static void cut_drop_values(struct tv_pf_cut_writing *writing, const struct tv_pf_current *packet)
{
    static const struct {
        uint8_t payload, values; /* field number of the values */
    } forms[] = {{37, 5}, {40, 2}, {52, 2}};
    struct tv_pf_message message = tv_pf_message_over(packet->payload.bytes);
    struct tv_protobuf_field field;
    uint32_t values = 0;
    for (size_t i = 0; i < TV_COUNT(forms); i++)
        if (forms[i].payload == packet->payload.number)
            values = forms[i].values;
    writing->payload.length = 0;
    for (const uint8_t *start = message.at; values != 0 && tv_pf_next(&message, &field);
         start = message.at)
        if (field.number != values)
            tv_pf_cut_copy_field(&writing->payload, start, message.at);
    if (values != 0 && tv_pf_find(packet->payload.bytes, 1).number == 1)
        tv_pf_cut_keep(writing, packet, packet->time, true);
    else
        tv_pf_cut_drop(writing, packet);
}

/* Decide about a packet.  Its head is read in every case: the state of its sequence must be right
 * for the packets after it. */
static void cut_packet(struct tv_pf_cut_writing *writing, const struct tv_pf_packet *from)
{
    struct tv_pf_current packet;
    enum tv_pf_opened opened = tv_pf_open_packet(writing->reading, from, &packet);
    if (opened == TV_PF_NO_CLOCK) { /* nobody can tell whether it is in the range */
        tv_pf_cut_put_frame(writing, packet.bytes);
        return;
    }
    if (packet.payload.number == 44)
        tv_pf_set_default_thread(writing->reading, packet.sequence, packet.payload.bytes);
    if (packet.payloads != 1 || cut_is_of_whole_trace(packet.payload.number)) {
        tv_pf_cut_keep(writing, &packet, packet.time, false);
    } else if (opened == TV_PF_NO_STATE) {
        tv_pf_cut_drop(writing, &packet);
    } else if (packet.payload.number == 1) {
        tv_pf_cut_bundle(writing, &packet);
    } else if (packet.payload.number == 11) {
        cut_track_event(writing, &packet);
    } else if (packet.payload.number == 76) {
        cut_frame(writing, &packet);
    } else if (!packet.has_time) {
        tv_pf_cut_keep(writing, &packet, packet.time, false);
    } else {
        int64_t place = tv_pf_cut_place(
            writing, tv_pf_cut_marks_of(writing, packet.offset, packet.time), packet.time, false);
        if (place == TV_NO_TIME)
            cut_drop_values(writing, &packet);
        else
            tv_pf_cut_keep(writing, &packet, place, false);
    }
}

/* Go through all packets of the file in their order. */
static enum tv_status cut_packets(struct tv_pf_cut_writing *writing, struct tv_error *err)
{
    struct tv_pf_packets packets;
    struct tv_pf_packet packet;
    enum tv_status status;
    tv_pf_packets_init(&packets, writing->reading->source, 0,
                       &writing->reading->chunk->diagnostics);
    while ((status = tv_pf_packets_next(&packets, &packet, err)) == TV_OK && !packet.none &&
           !tv_out_has_failed(writing->out))
        cut_packet(writing, &packet);
    tv_pf_packets_release(&packets);
    return status;
}

enum tv_status tv_pf_cut_write(struct tv_source *source, struct tv_pf_cut *cut, struct tv_out *out,
                               struct tv_error *err)
{
    static const struct tv_read_options one = {.parts = 1};
    struct tv_pf_reading *reading = tv_alloc(1, sizeof *reading);
    struct tv_pf_cut_writing writing = {.reading = reading, .cut = cut, .out = out};
    struct tv_out *const outs[] = {&writing.packet, &writing.payload, &writing.part, &writing.text,
                                   &writing.ending};
    for (size_t i = 0; i < TV_COUNT(outs); i++)
        tv_out_init_memory(outs[i]);
    tv_map_init(&writing.sum_index);
    tv_pf_reading_init(reading, source, &one);
    reading->all_machines = true;
    enum tv_status status = tv_pf_survey(reading, err);
    writing.clock = tv_pf_clocks_trace_id(&reading->clocks);
    if (status == TV_OK)
        status = cut_packets(&writing, err);
    if (status == TV_OK)
        tv_pf_cut_put_ending(&writing);
    for (size_t i = 0; i < TV_COUNT(outs); i++)
        tv_out_release(outs[i]);
    tv_map_release(&writing.sum_index);
    tv_free(writing.sums.rows);
    tv_pf_reading_release(reading);
    tv_free(reading);
    return status;
}
