/* SPDX-License-Identifier: Apache-2.0 */
/*
 * track_events.c - track events: the slices, instants, counters and flows of programs that use
 * Perfetto's SDK, and of Chromium (docs/formats/perfetto.md section 8).
 *
 *     packet --> pf_event    the fields of one event, without the state of its sequence
 *            --> pf_placed   its time (its own, a delta, or the packet's), its track and its thread
 *            --> frame       from the sequence's cache when name and category are interned
 *            --> chunk       spans on the thread or on the track, instants, values of counters
 *
 * The track decides where an event goes.  A sequence may have a default track, and a track may
 * stand for a thread, so three questions are asked in this order: does the event name a track, has
 * the sequence a default one, does the sequence belong to a thread?
 *
 * Programs that were written for Trace Event JSON, Chromium above all, write legacy events: track
 * events that contain a phase letter of that format.  A letter that is understood wins over the
 * event's type (pf_legacy_take).
 *
 * Begins and ends are not paired here.  They become spans, and the assembly pairs them when all
 * events are known, because the packets of several writers are interleaved.  Flows wait as well
 * (flows.c).
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/hash.h"
#include "base/memory.h"
#include "readers/perfetto/reading.h"

#define EVENT_CATEGORIES 1u
#define EVENT_NAMES 2u
#define GPU_CORRELATION 3000u /* an extension of TrackEvent */
#define MAX_CATEGORIES 8
#define MAX_EXTRA 16
#define LONGEST_CATEGORIES 256

enum { TYPE_BEGIN = 1, TYPE_END, TYPE_INSTANT, TYPE_COUNTER, TYPE_STATE };

/* One track event with the fields that its meaning depends on.  Fields before `categories` are
 * cleared for each event; the lists have counts. */
struct pf_event {
    uint64_t type, track, name_iid;
    bool has_track, has_counter, has_name, has_delta, has_absolute;
    uint8_t category_count, category_text_count;
    uint8_t extra_count, extra_track_count;
    struct tv_bytes name;
    struct tv_bytes legacy;
    struct tv_bytes log; /* a LogMessage */
    double counter;
    int64_t time_delta, time_absolute;
    int64_t cpu_time;            /* TV_NO_TIME: unknown */
    struct tv_bytes annotations; /* the first debug annotation */
    uint64_t categories[MAX_CATEGORIES];
    struct tv_bytes category_texts[MAX_CATEGORIES];
    uint64_t extra_values[MAX_EXTRA], extra_tracks[MAX_EXTRA];
};

/* The event with what follows from its sequence. */
struct pf_placed {
    struct tv_pf_reading *reading;
    const struct tv_pf_current *packet;
    struct tv_pf_sequence *sequence;
    struct pf_event event;
    struct tv_ft_at at;
    uint32_t frame; /* TV_NONE: it has no name */
    uint32_t track; /* TV_NONE: the default thread of the sequence */
    bool on_thread; /* at.task is the thread whose own track it is on */
};

/* Keep the ids of flows; pf_event_place_flows adds the rest when the event has its place. */
static void pf_event_add_flows(struct tv_pf_reading *reading, const struct tv_protobuf_field *field,
                               bool ends)
{
    struct tv_pf_numbers numbers =
        tv_pf_numbers_of(field, field->number == 47 || field->number == 48 ? 8 : 0);
    uint64_t id;
    while (tv_pf_numbers_next(&numbers, &id))
        *tv_table_add(&reading->flows) =
            (struct tv_pf_flow_event){.id = id, .ends = ends, .frame = TV_NONE};
}

/* Take a field that few events have. */
static void pf_event_take_rare(struct tv_pf_reading *reading, struct pf_event *event,
                               const struct tv_protobuf_field *field)
{
    switch (field->number) {
    case 1:
        event->has_delta = true;
        event->time_delta = (int64_t)field->value;
        break;
    case 16:
        event->has_absolute = true;
        event->time_absolute = (int64_t)field->value;
        break;
    case 17:
        event->cpu_time = (int64_t)(field->value * 1000u);
        break;
    case 21:
        event->log = field->bytes;
        break;
    case 22:
        if (event->category_text_count < MAX_CATEGORIES)
            event->category_texts[event->category_text_count++] = field->bytes;
        break;
    case 36:
    case 47:
        pf_event_add_flows(reading, field, false);
        break;
    case 42:
    case 48:
        pf_event_add_flows(reading, field, true);
        break;
    case GPU_CORRELATION:
        tv_pf_take_gpu_correlation(reading, field->bytes);
        break;
    case 44:
    case 30:
        event->has_counter = true;
        event->counter = tv_pf_double(field);
        break;
    default:
        break;
    }
}

/* Append the values or the tracks of extra counters; the field may be packed. */
static void pf_event_add_numbers(const struct tv_protobuf_field *field, uint64_t *numbers,
                                 uint8_t *count)
{
    struct tv_pf_numbers walk = tv_pf_numbers_of(field, 0);
    uint64_t number;
    while (*count < MAX_EXTRA && tv_pf_numbers_next(&walk, &number))
        numbers[(*count)++] = number;
}

/* Take the ids of categories, packed or not. */
static void pf_event_add_categories(struct pf_event *event, const struct tv_protobuf_field *field)
{
    struct tv_pf_numbers numbers = tv_pf_numbers_of(field, 0);
    uint64_t iid;
    while (event->category_count < MAX_CATEGORIES && tv_pf_numbers_next(&numbers, &iid))
        event->categories[event->category_count++] = iid;
}

/* Take the packed values of extra counters.  Return false when the field is damaged, or longer than
 * a message with a length of one byte. */
TV_INLINE bool pf_event_take_extra(struct tv_pf_steps *steps, struct pf_event *event)
{
    struct tv_bytes packed;
    if (!tv_pf_step_bytes(steps, 12, &packed))
        return false;
    struct tv_pf_steps values = tv_pf_steps_over(packed);
    while (event->extra_count < MAX_EXTRA && !tv_pf_steps_ended(&values) &&
           tv_pf_step_varint(&values, &event->extra_values[event->extra_count]))
        event->extra_count++;
    return true;
}

/* Take fields as long as they are numbers that many events have. */
TV_INLINE void pf_event_take_usual(struct tv_pf_message *message, struct pf_event *event)
{
    struct tv_pf_steps steps = {message->at, message->end};
    uint64_t key, value;
    for (; !tv_pf_steps_ended(&steps); message->at = steps.at) {
        if (*steps.at == (12 << 3 | TV_PROTOBUF_BYTES)) {
            if (!pf_event_take_extra(&steps, event))
                return;
            continue;
        }
        key = *steps.at++;
        if ((key & 7) != TV_PROTOBUF_VARINT || key >= 0x80 || !tv_pf_step_varint(&steps, &value))
            return;
        switch (key >> 3) {
        case 3:
            if (event->category_count < MAX_CATEGORIES)
                event->categories[event->category_count++] = value;
            break;
        case 9:
            event->type = value;
            break;
        case 10:
            event->name_iid = value;
            event->has_name = true;
            break;
        case 11:
            event->has_track = true;
            event->track = value;
            break;
        case 12:
            if (event->extra_count < MAX_EXTRA)
                event->extra_values[event->extra_count++] = value;
            break;
        default:
            return;
        }
    }
}

/* Read the fields of an event.  The usual numbers are taken in a tight loop, which stops at any
 * other field; that one is taken here, and the loop begins again.  Return false when the message is
 * damaged; the fields before the damage are there. */
static bool pf_event_read(struct tv_pf_reading *reading, struct tv_bytes bytes,
                          struct pf_event *event)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    memset(event, 0, offsetof(struct pf_event, categories));
    event->cpu_time = TV_NO_TIME;
    for (;;) {
        pf_event_take_usual(&message, event);
        if (!tv_pf_next(&message, &field))
            break;
        switch (field.number) {
        case 9:
            event->type = field.value;
            break;
        case 11:
            event->has_track = true;
            event->track = field.value;
            break;
        case 10:
            event->name_iid = field.value;
            event->has_name = true;
            break;
        case 23:
            event->name = field.bytes;
            event->has_name = true;
            break;
        case 3:
            pf_event_add_categories(event, &field);
            break;
        case 12:
            pf_event_add_numbers(&field, event->extra_values, &event->extra_count);
            break;
        case 31:
            pf_event_add_numbers(&field, event->extra_tracks, &event->extra_track_count);
            break;
        case 6:
            event->legacy = field.bytes;
            break;
        case 4:
            if (!event->annotations.data)
                event->annotations = field.bytes;
            break;
        default:
            pf_event_take_rare(reading, event, &field);
        }
    }
    return !message.damaged;
}

/* ---- Names ---- */

/* Join the categories of an event with commas, interned ones first.  A longer text is cut at
 * `size`. */
static struct tv_bytes pf_category_text(struct pf_placed *placed, char *text, size_t size)
{
    struct tv_ft_chunk *chunk = placed->reading->chunk;
    const struct pf_event *event = &placed->event;
    size_t length = 0;
    for (int i = 0; i < event->category_count + event->category_text_count; i++) {
        struct tv_bytes name =
            i < event->category_count
                ? tv_interner_get(chunk->texts,
                                  tv_pf_interned_text(placed->reading, placed->sequence,
                                                      EVENT_CATEGORIES, event->categories[i],
                                                      placed->packet->offset))
                : event->category_texts[i - event->category_count];
        if (length > 0 && length < size)
            text[length++] = ',';
        size_t kept = name.length < size - length ? name.length : size - length;
        if (kept > 0)
            memcpy(text + length, name.data, kept);
        length += kept;
    }
    return (struct tv_bytes){(uint8_t *)text, length};
}

/* Functions that few events need are not inlined: their texts would give the path of all events a
 * large stack frame. */
static TV_NOINLINE uint32_t pf_event_make_frame(struct pf_placed *placed)
{
    char text[LONGEST_CATEGORIES];
    const struct pf_event *event = &placed->event;
    struct tv_ft_chunk *chunk = placed->reading->chunk;
    struct tv_bytes name = event->name;
    if (event->name_iid != 0)
        name = tv_interner_get(chunk->texts,
                               tv_pf_interned_text(placed->reading, placed->sequence, EVENT_NAMES,
                                                   event->name_iid, placed->packet->offset));
    if (placed->reading->slice_names.count > 0)
        name = tv_interner_get(chunk->texts, tv_pf_translated(&placed->reading->slice_names,
                                                              tv_ft_chunk_string(chunk, name)));
    return tv_ft_chunk_frame_in(chunk, name, pf_category_text(placed, text, sizeof text));
}

/* Return the frame of an event whose name and category are interned, from the map or newly made. */
static uint32_t pf_event_map_frame(struct pf_placed *placed, uint64_t category)
{
    const struct pf_event *event = &placed->event;
    uint64_t key = event->name_iid << 20 ^ category;
    if (event->name_iid >> 40 != 0 || category >> 20 != 0)
        return pf_event_make_frame(placed);
    uint32_t frame = tv_map_find(&placed->sequence->frames, key);
    if (frame == TV_NONE) {
        frame = pf_event_make_frame(placed);
        tv_map_set(&placed->sequence->frames, key, frame);
    }
    return frame;
}

/* Return the place for the frame of an interned name; NULL: its iid is too large.  The limit keeps
 * the array in proportion to the interned data that the file really has. */
static struct tv_pf_named_frame *pf_sequence_named_frame(struct tv_pf_sequence *sequence,
                                                         uint64_t iid)
{
    if (TV_LIKELY(iid < sequence->named_count))
        return &sequence->named_frames[iid];
    if (iid >= 16 + 4 * (uint64_t)sequence->entries.count)
        return NULL;
    size_t count = (size_t)iid + 1;
    sequence->named_frames = tv_array_reserve(sequence->named_frames, &sequence->named_capacity,
                                              count, sizeof *sequence->named_frames);
    while (sequence->named_count < count)
        sequence->named_frames[sequence->named_count++] = (struct tv_pf_named_frame){0, TV_NONE};
    return &sequence->named_frames[iid];
}

/* Return the frame of an event, from the sequence when its name and category are interned.  A trace
 * may have hundreds of sequences in turn, so that look-ups miss the processor's caches: an array
 * reads one line of memory where the map reads two. */
static uint32_t pf_event_frame(struct pf_placed *placed)
{
    const struct pf_event *event = &placed->event;
    if (event->name_iid == 0 || event->category_count > 1 || event->category_text_count > 0)
        return pf_event_make_frame(placed);
    uint64_t category = event->category_count ? event->categories[0] : 0;
    struct tv_pf_named_frame *named = pf_sequence_named_frame(placed->sequence, event->name_iid);
    if (!named || category > UINT32_MAX)
        return pf_event_map_frame(placed, category);
    if (TV_UNLIKELY(named->frame == TV_NONE)) {
        uint32_t frame = pf_event_make_frame(placed); /* moves no array of the sequence */
        *named = (struct tv_pf_named_frame){(uint32_t)category, frame};
    }
    return named->category == category ? named->frame : pf_event_map_frame(placed, category);
}

/* ---- Counters ---- */

/* Add the counter of a counter track to the chunk. */
static TV_NOINLINE void pf_track_add_counter(struct tv_pf_reading *reading,
                                             struct tv_pf_track *track)
{
    char text[200];
    uint32_t told = track->name;
    if (track->owner_tid == TV_FT_NO_ID)
        told = tv_pf_translated(&reading->track_names, told);
    struct tv_bytes name = tv_interner_get(reading->chunk->texts, told);
    if (name.length == 0 && track->counter_type == 1)
        name = TV_BYTES("thread_time");
    else if (name.length == 0 && track->counter_type == 2)
        name = TV_BYTES("thread_instruction_count");
    struct tv_ft_counter counter = {.tgid = track->owner_pid};
    counter.series = tv_pf_text(reading, name);
    if (track->owner_tid != TV_FT_NO_ID) {
        int length = snprintf(text, sizeof text, "%.*s[%" PRId64 "]",
                              name.length < 160 ? (int)name.length : 160, (const char *)name.data,
                              track->owner_tid);
        name = (struct tv_bytes){(uint8_t *)text, (size_t)length};
    }
    counter.name = tv_pf_text(reading, name);
    counter.category = track->unit;
    counter.facts.unit = track->is_unit ? track->unit : TV_EMPTY_STRING;
    track->counter = tv_ft_chunk_counter(reading->chunk, &counter);
}

/* Return the value of an incremental counter: the sum of its values since the state was cleared.
 */
static double pf_sequence_sum(struct tv_pf_sequence *sequence, unsigned role, double value)
{
    struct tv_pf_known_track *known = &sequence->known_tracks[role];
    if (TV_UNLIKELY(known->sum == 0))
        known->sum =
            tv_map_add(&sequence->counters, known->after - 1, (uint32_t)sequence->sum_count) + 1;
    uint32_t number = known->sum - 1;
    if (number == sequence->sum_count) {
        sequence->sums = tv_array_reserve(sequence->sums, &sequence->sum_capacity,
                                          sequence->sum_count + 1, sizeof *sequence->sums);
        sequence->sums[sequence->sum_count++] = 0;
    }
    int64_t add = value >= -9e18 && value <= 9e18 ? (int64_t)value : 0;
    sequence->sums[number] = (int64_t)((uint64_t)sequence->sums[number] + (uint64_t)add);
    return (double)sequence->sums[number];
}

/* Add a value of a counter track, which the sequence has in a role.  The CPU time of the event
 * becomes that of a thread's clock. */
static void pf_count_on_track(struct pf_placed *placed, unsigned role, uint64_t uuid, double value)
{
    struct tv_pf_reading *reading = placed->reading;
    uint32_t number = tv_pf_find_known_track(reading, placed->sequence, role, uuid);
    struct tv_pf_track *track = tv_pf_resolve_track(reading, number);
    if (!track->is_counter) {
        tv_pf_warn(reading, TV_DIAGNOSTIC_COUNTER_TRACK, placed->packet->offset);
        return;
    }
    if (track->incremental)
        value = pf_sequence_sum(placed->sequence, role, value);
    if (track->multiplier > 0)
        value *= (double)track->multiplier;
    if (track->counter_type == 1 && track->owner_tid != TV_FT_NO_ID && value >= 0 && value < 9e18)
        placed->event.cpu_time = (int64_t)value;
    if (TV_UNLIKELY(track->counter == TV_NONE))
        pf_track_add_counter(reading, track);
    tv_ft_chunk_add_value(reading->chunk, &placed->at, track->counter, value);
}

/* Add the values that an event has beside its own. */
static void pf_count_extra(struct pf_placed *placed)
{
    const struct pf_event *event = &placed->event;
    struct tv_bytes defaults =
        tv_interner_get(placed->reading->blobs, placed->sequence->extra_counters);
    bool own = event->extra_track_count > 0;
    size_t tracks = own ? event->extra_track_count : defaults.length / sizeof(uint64_t);
    for (uint8_t i = 0; i < event->extra_count && i < tracks; i++) {
        uint64_t uuid = own ? event->extra_tracks[i] : 0;
        if (!own)
            memcpy(&uuid, defaults.data + i * sizeof uuid, sizeof uuid);
        pf_count_on_track(placed, 1 + i % (TV_PF_KNOWN_TRACKS - 1), uuid,
                          (double)(int64_t)event->extra_values[i]);
    }
}

/* ---- Threads and tracks ---- */

/* Find the track of the event, and its thread when it is a thread's own track. */
static void pf_event_find_track(struct pf_placed *placed)
{
    struct tv_pf_reading *reading = placed->reading;
    struct tv_pf_sequence *sequence = placed->sequence;
    const struct pf_event *event = &placed->event;
    bool given = event->has_track || sequence->has_default_track;
    uint64_t uuid = event->has_track ? event->track : sequence->default_track;
    placed->track = TV_NONE;
    placed->on_thread = false;
    if (!given && sequence->thread_tid != TV_FT_NO_ID) {
        placed->on_thread = true;
        placed->at.task = tv_ft_chunk_task(reading->chunk, sequence->thread_tid);
        return;
    }
    placed->track = tv_pf_find_known_track(reading, sequence, 0, given ? uuid : 0);
    const struct tv_pf_track *track = tv_pf_resolve_track(reading, placed->track);
    if (!track->described && given && uuid != 0)
        tv_pf_warn(reading, TV_DIAGNOSTIC_TRACK_UNKNOWN, placed->packet->offset);
    if (track->task != TV_NONE) {
        placed->on_thread = true;
        placed->at.task = track->task;
    }
}

/* Find the time of an event, or count why there is none. */
static bool pf_event_find_time(struct pf_placed *placed)
{
    const struct pf_event *event = &placed->event;
    int64_t time = placed->packet->time;
    if (event->has_delta || event->has_absolute) {
        uint64_t us = (uint64_t)event->time_absolute;
        if (event->has_delta)
            us = (uint64_t)placed->sequence->delta_time + (uint64_t)event->time_delta;
        if (us > INT64_MAX / 1000) {
            tv_pf_warn(placed->reading, TV_DIAGNOSTIC_TIME_OVERFLOW, placed->packet->offset);
            return false;
        }
        if (event->has_delta)
            placed->sequence->delta_time = (int64_t)us;
        time = (int64_t)(us * 1000u);
        if (!tv_pf_clocks_convert(&placed->reading->clocks, TV_PF_CLOCK_MONOTONIC, &time))
            time = -1;
    } else if (!placed->packet->has_time) {
        time = placed->reading->latest;
    }
    placed->at.time = time;
    if (time < 0)
        tv_pf_warn(placed->reading, TV_DIAGNOSTIC_CLOCK_NO_PATH, placed->packet->offset);
    return time >= 0;
}

/* ---- Flows ---- */

/* Tell where the ids of this event are held.  The id of an end belongs to the slice that it ends.
 */
static void pf_event_place_flows(const struct pf_placed *placed, size_t first)
{
    bool ends_slice = placed->event.type == TYPE_END && placed->on_thread;
    for (size_t i = first; i < placed->reading->flows.count; i++) {
        struct tv_pf_flow_event *flow = &placed->reading->flows.rows[i];
        flow->time = placed->at.time;
        flow->offset = placed->at.offset & TV_OFFSET_MASK;
        flow->task = placed->on_thread ? placed->at.task : TV_NONE;
        if (flow->frame == TV_NONE)
            flow->binding = ends_slice ? TV_FT_ENCLOSING : TV_FT_BY_EVENT;
    }
}

/* ---- Slices ---- */

/* Add a begin, an end or a whole slice of a thread.  The length of a begin or an end is a CPU time,
 * as they have no other use for it (assembly.h). */
static void pf_add_span(struct pf_placed *placed, unsigned flags, int64_t length)
{
    struct tv_ft_chunk *chunk = placed->reading->chunk;
    struct tv_span span = {
        .time = placed->at.time,
        .length = flags == TV_SPAN_WHOLE ? length : placed->event.cpu_time,
        .offset = placed->at.offset & TV_OFFSET_MASK,
        .flags = flags & 0xff,
        .frame = placed->frame,
    };
    chunk->tasks.rows[placed->at.task].used = true;
    placed->reading->cpu_times |= placed->event.cpu_time != TV_NO_TIME;
    tv_gather_span(chunk->gather, placed->at.task, &span, NULL);
}

/* Keep an event of a track that is not a thread's own until all packets are read. */
static void pf_add_on_track(struct pf_placed *placed, enum tv_pf_event_kind kind)
{
    *tv_table_add(&placed->reading->track_events) = (struct tv_pf_track_event){
        .time = placed->at.time,
        .offset = placed->at.offset & TV_OFFSET_MASK,
        .kind = kind,
        .named = kind == TV_PF_BEGIN || kind == TV_PF_POINT || placed->frame != TV_NONE,
        .track = placed->track,
        .frame = placed->frame,
    };
}

/* Add an event of type begin, end, instant or state. */
static void pf_add_typed(struct pf_placed *placed)
{
    uint64_t type = placed->event.type;
    if (type == TYPE_END) {
        bool tells = placed->event.annotations.data != NULL;
        if (placed->frame == TV_NONE)
            placed->frame = 0;
        else
            tells = true;
        if (placed->on_thread)
            pf_add_span(placed,
                        TV_SPAN_END | (tells ? TV_SPAN_TELLS : 0) |
                            (placed->event.has_name ? 0 : TV_SPAN_NAMELESS),
                        0);
        else {
            placed->frame = placed->event.has_name ? placed->frame : TV_NONE;
            pf_add_on_track(placed, TV_PF_END);
        }
        return;
    }
    if (type == TYPE_STATE) {
        pf_add_on_track(placed, TV_PF_STATE);
    } else if (!placed->on_thread) {
        pf_add_on_track(placed, type == TYPE_BEGIN ? TV_PF_BEGIN : TV_PF_POINT);
    } else if (type == TYPE_BEGIN) {
        pf_add_span(placed, TV_SPAN_BEGIN, 0);
    } else {
        tv_ft_chunk_add_instant(placed->reading->chunk, &placed->at, placed->frame);
    }
}

/* ---- Legacy events: section 8.4 ---- */

/* A LegacyEvent: what Trace Event JSON has in one-letter phases, with ids of three kinds. */
struct pf_legacy {
    uint64_t phase, id, bind_id, name_iid, direction, scope;
    uint8_t id_kind; /* 6, 10 or 11: unscoped, local, global; 0: none */
    bool has_duration, bind_enclosing;
    int64_t duration, cpu_duration;
    struct tv_bytes id_scope;
    int64_t pid, tid;
};

/* Read a LegacyEvent; members without a field keep the values for "none". */
static void pf_legacy_read(struct tv_bytes bytes, struct pf_legacy *legacy)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    *legacy =
        (struct pf_legacy){.pid = TV_FT_NO_ID, .tid = TV_FT_NO_ID, .cpu_duration = TV_NO_TIME};
    while (tv_pf_next(&message, &field))
        switch (field.number) {
        case 1:
            legacy->name_iid = field.value;
            break;
        case 2:
            legacy->phase = field.value;
            break;
        case 3:
            legacy->has_duration = true;
            legacy->duration = (int64_t)(field.value * 1000u);
            break;
        case 4:
            legacy->cpu_duration = (int64_t)(field.value * 1000u);
            break;
        case 6:
        case 10:
        case 11:
            legacy->id_kind = (uint8_t)field.number;
            legacy->id = field.value;
            break;
        case 7:
            legacy->id_scope = field.bytes;
            break;
        case 8:
            legacy->bind_id = field.value;
            break;
        case 12:
            legacy->bind_enclosing = field.value != 0;
            break;
        case 13:
            legacy->direction = field.value;
            break;
        case 14:
            legacy->scope = field.value;
            break;
        case 18:
            legacy->pid = (int32_t)field.value;
            break;
        case 19:
            legacy->tid = (int64_t)field.value;
            break;
        default:
            break;
        }
}

/* Add the begin, the end or a point of an async slice with an id. */
static void pf_legacy_add_async(struct pf_placed *placed, const struct pf_legacy *legacy,
                                enum tv_ft_async_kind kind)
{
    struct tv_ft_chunk *chunk = placed->reading->chunk;
    char id[40];
    const struct tv_ft_frame *frame = &chunk->frames.rows[placed->frame];
    bool by_name = legacy->phase == 'S' || legacy->phase == 'F' || legacy->phase == 'T' ||
                   legacy->phase == 'p';
    int64_t process = TV_FT_NO_ID;
    if (legacy->id_kind == 10)
        process = chunk->tasks.rows[placed->at.task].tgid;
    int length = snprintf(id, sizeof id, "0x%" PRIx64, legacy->id);
    struct tv_bytes text = {(uint8_t *)id, (size_t)length};
    struct tv_bytes first = tv_interner_get(chunk->texts, by_name ? frame->name : frame->category);
    struct tv_ft_async async = {
        .kind = kind,
        .key = tv_ft_chunk_async_key(chunk, by_name ? "S" : "b", process,
                                     legacy->id_scope.length > 0 ? legacy->id_scope : first, text),
        .id = tv_ft_chunk_string(chunk, text),
        .frame = placed->frame,
        .track = TV_EMPTY_STRING,
    };
    tv_ft_chunk_add_async(chunk, &placed->at, &async);
}

/* Move an event to the thread that it names, which need not be the one that wrote it. */
static void pf_legacy_set_thread(struct pf_placed *placed, const struct pf_legacy *legacy)
{
    struct tv_ft_chunk *chunk = placed->reading->chunk;
    if (legacy->tid < 0 || legacy->tid > INT32_MAX)
        return;
    placed->at.task = tv_ft_chunk_task(chunk, legacy->tid);
    placed->on_thread = true;
    if (legacy->pid > 0)
        chunk->tasks.rows[placed->at.task].tgid = legacy->pid;
    else if (chunk->tasks.rows[placed->at.task].tgid == TV_FT_NO_ID &&
             placed->sequence->thread_pid > 0)
        chunk->tasks.rows[placed->at.task].tgid = placed->sequence->thread_pid;
}

/* Keep the flow id of a legacy event: of phases s, t and f their own, of others the bind_id. */
static void pf_legacy_add_flow(struct pf_placed *placed, const struct pf_legacy *legacy)
{
    bool phase = legacy->phase == 's' || legacy->phase == 't' || legacy->phase == 'f';
    struct tv_pf_flow_event flow = {.id = legacy->bind_id, .frame = TV_NONE};
    if (phase) {
        bool next = legacy->phase == 'f' && !legacy->bind_enclosing;
        flow.id = legacy->id;
        flow.frame = placed->frame;
        flow.starts = legacy->phase == 's';
        flow.passes = legacy->phase == 'f'; /* one start may have many ends */
        flow.binding = next ? TV_FT_NEXT : TV_FT_ENCLOSING;
    } else if (legacy->direction == 0) {
        return;
    } else {
        flow.passes = legacy->direction == 1;
    }
    *tv_table_add(&placed->reading->flows) = flow;
}

/* Take an event by its letter.  Return false when it is to be taken by its type. */
static bool pf_legacy_take(struct pf_placed *placed, struct pf_legacy *legacy)
{
    struct tv_pf_reading *reading = placed->reading;
    switch (legacy->phase) {
    case 'B':
        placed->event.type = TYPE_BEGIN;
        return false;
    case 'E':
        placed->event.type = TYPE_END;
        placed->event.has_name = placed->frame != TV_NONE && placed->event.has_name;
        return false;
    case 'I':
    case 'i':
    case 'R':
        placed->event.type = TYPE_INSTANT;
        return false;
    case 'X':
        if (!placed->on_thread || legacy->duration < 0)
            break;
        pf_add_span(placed,
                    legacy->has_duration ? TV_SPAN_WHOLE : TV_SPAN_WHOLE | TV_SPAN_UNFINISHED,
                    legacy->duration);
        return true;
    case 'b':
    case 'S':
        pf_legacy_add_async(placed, legacy, TV_FT_ASYNC_BEGIN);
        return true;
    case 'e':
    case 'F':
        pf_legacy_add_async(placed, legacy, TV_FT_ASYNC_END);
        return true;
    case 'n':
    case 'T':
    case 'p':
        pf_legacy_add_async(placed, legacy, TV_FT_ASYNC_POINT);
        return true;
    case 's':
    case 't':
    case 'f':
        return true;
    default:
        break;
    }
    tv_pf_warn(reading, TV_DIAGNOSTIC_EVENT_RAW, placed->packet->offset);
    if (placed->on_thread)
        tv_ft_chunk_add_instant(reading->chunk, &placed->at, placed->frame);
    return true;
}

/* ---- All track events ---- */

/* Tell whether the name of an event is used: an end or a state may have none. */
static bool pf_event_needs_frame(const struct pf_event *event)
{
    if (event->type == TYPE_STATE && !event->has_name)
        return false;
    return event->has_name || event->type != TYPE_END || event->legacy.data;
}

/* Place an event by its type; an unknown type is counted. */
static void pf_event_place_by_type(struct pf_placed *placed)
{
    uint64_t type = placed->event.type;
    if (type == 0 || type > TYPE_STATE)
        tv_pf_warn(placed->reading, TV_DIAGNOSTIC_EVENT_RAW, placed->packet->offset);
    else
        pf_add_typed(placed);
}

/* Place an event with a legacy one inside: its thread, its name and its letter come from there. */
static TV_NOINLINE void pf_event_place_legacy(struct pf_placed *placed)
{
    struct pf_legacy legacy;
    struct pf_event *event = &placed->event;
    pf_legacy_read(event->legacy, &legacy);
    pf_legacy_set_thread(placed, &legacy);
    if (legacy.name_iid != 0 && !event->has_name) {
        event->name_iid = legacy.name_iid;
        event->has_name = true;
    }
    placed->frame = pf_event_needs_frame(event) ? pf_event_frame(placed) : TV_NONE;
    if (event->extra_count > 0)
        pf_count_extra(placed);
    if (placed->at.task == TV_NONE)
        placed->at.task = tv_ft_chunk_task(placed->reading->chunk, 0);
    pf_legacy_add_flow(placed, &legacy);
    if (legacy.phase == 0 || !pf_legacy_take(placed, &legacy))
        pf_event_place_by_type(placed);
}

/* Place an event that is not a counter, after its track and time are known. */
static void pf_event_place(struct pf_placed *placed)
{
    const struct pf_event *event = &placed->event;
    if (event->legacy.data) {
        pf_event_place_legacy(placed);
        return;
    }
    placed->frame = pf_event_needs_frame(event) ? pf_event_frame(placed) : TV_NONE;
    if (event->extra_count > 0)
        pf_count_extra(placed);
    pf_event_place_by_type(placed);
}

/* Take a value of a counter; its track is the counter. */
static void pf_event_count(struct pf_placed *placed)
{
    const struct pf_event *event = &placed->event;
    uint64_t uuid = event->has_track ? event->track : placed->sequence->default_track;
    if (!event->has_counter)
        tv_pf_warn(placed->reading, TV_DIAGNOSTIC_BAD_COUNTER, placed->packet->offset);
    else
        pf_count_on_track(placed, 0, uuid, event->counter);
    if (event->extra_count > 0)
        pf_count_extra(placed);
}

void tv_pf_take_track_event(struct tv_pf_reading *reading, const struct tv_pf_current *packet,
                            struct tv_bytes bytes)
{
    struct pf_placed placed;
    size_t first_flow = reading->flows.count, first_link = reading->gpu_links.count;
    placed.reading = reading;
    placed.packet = packet;
    placed.sequence = packet->sequence;
    placed.at = (struct tv_ft_at){.offset = packet->offset, .task = TV_NONE};
    if (!pf_event_read(reading, bytes, &placed.event))
        tv_pf_warn(reading, TV_DIAGNOSTIC_BAD_PACKET, packet->offset);
    if (!pf_event_find_time(&placed)) {
        reading->flows.count = first_flow;
        reading->gpu_links.count = first_link;
        return;
    }
    tv_ft_chunk_note(reading->chunk, placed.at.time);
    if (placed.event.type == TYPE_COUNTER && !placed.event.legacy.data) {
        pf_event_count(&placed);
        reading->flows.count = first_flow; /* a counter is no slice */
        reading->gpu_links.count = first_link;
        return;
    }
    pf_event_find_track(&placed);
    pf_event_place(&placed);
    pf_event_place_flows(&placed, first_flow);
    if (TV_UNLIKELY(placed.event.log.data != NULL)) {
        placed.at.task = placed.on_thread ? placed.at.task : TV_NONE;
        tv_pf_take_log_message(reading, packet, &placed.at, placed.event.log);
    }
    for (size_t i = first_link; TV_UNLIKELY(i < reading->gpu_links.count); i++) {
        struct tv_pf_gpu_link *link = &reading->gpu_links.rows[i];
        link->time = placed.at.time;
        link->offset = placed.at.offset & TV_OFFSET_MASK;
        link->task = placed.on_thread ? placed.at.task : TV_NONE;
    }
}
