/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracks.c - track descriptors, and the slices of tracks that are not a thread's own
 * (docs/formats/perfetto.md section 8.1).
 *
 *     TrackDescriptor {1 uuid, 2 name, 3 process {1 pid}, 4 thread {1 pid, 2 tid}, 5 parent uuid,
 *                      8 counter, 9 disallow_merging_with_system_tracks, 18 state}
 *
 *     thread track   --> events go to the thread, as those of ftrace do
 *     any other      --> track_events: collected, and nested here at the end
 *
 * An event may name a track that is described later, or never. So a track exists from the first
 * mention on, and its owner (a process or a thread among its ancestors) is looked up when it is
 * needed. Chains of parents come from the file: one that is longer than ANCESTORS is cut, which
 * also ends circles.
 *
 * Slices of a track nest by time; an end closes the innermost one, or the one that it names with
 * all inside. A state of a state track ends the state before it.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/sort.h"
#include "readers/perfetto/reading.h"

/* Longest chain of parents. */
#define ANCESTORS 100

/* Deepest nesting on one track. */
#define DEPTH 512u

/* uuids are any numbers of 64 bits, but a map reserves some keys. So the key may be another number,
 * and the row says whether it is the right one. */
uint32_t tv_pf_find_track(struct tv_pf_reading *reading, uint64_t uuid)
{
    uint64_t key = uuid;
    uint32_t known = tv_map_find(&reading->track_index, key);
    if (TV_LIKELY(known != TV_NONE && reading->tracks.rows[known].uuid == uuid))
        return known;
    for (;;) {
        uint32_t number = tv_map_add(&reading->track_index, key, (uint32_t)reading->tracks.count);
        if (number == reading->tracks.count) {
            *tv_table_add(&reading->tracks) = (struct tv_pf_track){
                .uuid = uuid,
                .pid = TV_FT_NO_ID,
                .tid = TV_FT_NO_ID,
                .owner_pid = TV_FT_NO_ID,
                .owner_tid = TV_FT_NO_ID,
                .task = TV_NONE,
                .counter = TV_NONE,
            };
            return number;
        }
        if (TV_LIKELY(reading->tracks.rows[number].uuid == uuid))
            return number;
        key = tv_hash_u64(key);
    }
}

/* ---- Descriptors ---- */

/* Names that Chrome's threads have by their type; the common ones. */
static const char *pf_chrome_thread_name(uint64_t type)
{
    static const char *const names[] = {
        NULL, "CrBrowserMain", "CrRendererMain", "IOThread",         "ThreadPoolServiceThread",
        NULL, "Compositor",    "VizCompositor",  "CompositorWorker", NULL,
    };
    return type < TV_COUNT(names) ? names[type] : NULL;
}

/* Read ThreadDescriptor. Names have priorities (processes.c): 4 is that of a descriptor. */
static void pf_track_set_thread(struct tv_pf_reading *reading, struct tv_pf_track *track,
                                struct tv_bytes bytes)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    int64_t pid = TV_FT_NO_ID, tid = TV_FT_NO_ID;
    uint32_t name = TV_EMPTY_STRING;
    while (tv_pf_next(&message, &field)) {
        if (field.number == 1)
            pid = (int32_t)field.value;
        else if (field.number == 2)
            tid = (int64_t)field.value;
        else if (field.number == 5)
            name = tv_pf_text(reading, field.bytes);
    }
    if (pid < 0 || tid < 0 || tid > INT32_MAX)
        return;
    track->kind = TV_PF_TRACK_THREAD;
    track->pid = pid;
    track->tid = tid;
    tv_pf_set_process(reading, tid, pid);
    if (name != TV_EMPTY_STRING)
        tv_pf_name_thread(reading, tid, name, 4);
}

/* Names of Chrome's processes by their type. */
static const char *pf_chrome_process_name(uint64_t type)
{
    static const char *const names[] = {NULL,     "Browser",       "Renderer", "Utility",
                                        "Zygote", "SandboxHelper", "Gpu"};
    return type < TV_COUNT(names) ? names[type] : NULL;
}

/* Read ProcessDescriptor {1 pid, 4 type of a Chrome process, 6 name}.  A given name is preferred to
 * the type. */
static void pf_track_set_process(struct tv_pf_reading *reading, struct tv_pf_track *track,
                                 struct tv_bytes bytes)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    int64_t pid = TV_FT_NO_ID;
    uint32_t name = TV_EMPTY_STRING, type = TV_EMPTY_STRING;
    while (tv_pf_next(&message, &field)) {
        if (field.number == 1)
            pid = (int32_t)field.value;
        else if (field.number == 6)
            name = tv_pf_text(reading, field.bytes);
        else if (field.number == 4 && pf_chrome_process_name(field.value))
            type = tv_pf_text(
                reading, (struct tv_bytes){(const uint8_t *)pf_chrome_process_name(field.value),
                                           strlen(pf_chrome_process_name(field.value))});
    }
    if (pid < 0)
        return;
    if (track->kind == TV_PF_TRACK_PLAIN) {
        track->kind = TV_PF_TRACK_PROCESS;
        track->pid = pid;
    }
    if (type != TV_EMPTY_STRING)
        tv_pf_name_process(reading, pid, type, 1);
    if (name != TV_EMPTY_STRING)
        tv_pf_name_process(reading, pid, name, 2);
}

/* Read CounterDescriptor {1 type, 2 categories, 3 unit, 4 unit_multiplier, 5 is_incremental,
 * 6 unit_name}. */
static void pf_track_set_counter(struct tv_pf_reading *reading, struct tv_pf_track *track,
                                 struct tv_bytes bytes)
{
    static const char *const units[] = {"", "ns", "count", "bytes"};
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    track->is_counter = true;
    while (tv_pf_next(&message, &field)) {
        if (field.number == 1)
            track->counter_type = (uint8_t)(field.value < 255 ? field.value : 0);
        else if (field.number == 2 && track->unit == TV_EMPTY_STRING)
            track->unit = tv_pf_text(reading, field.bytes); /* a category; a unit replaces it */
        else if (field.number == 3 && field.value > 0 && field.value < TV_COUNT(units)) {
            track->unit = tv_pf_text(reading, tv_bytes_of(units[field.value]));
            track->is_unit = true;
        } else if (field.number == 6) {
            track->unit = tv_pf_text(reading, field.bytes);
            track->is_unit = true;
        } else if (field.number == 4)
            track->multiplier = (int64_t)field.value;
        else if (field.number == 5)
            track->incremental = field.value != 0;
    }
}

/* Read one field of a descriptor into its track. */
static void pf_track_set_field(struct tv_pf_reading *reading, uint32_t number,
                               const struct tv_protobuf_field *field)
{
    struct tv_pf_track *track = &reading->tracks.rows[number];
    const char *name;
    switch (field->number) {
    case 2:
    case 10:
    case 13:
        if (track->name == TV_EMPTY_STRING)
            track->name = tv_pf_text(reading, field->bytes);
        break;
    case 3:
        if (track->kind != TV_PF_TRACK_THREAD)
            pf_track_set_process(reading, track, field->bytes);
        break;
    case 4:
        pf_track_set_thread(reading, track, field->bytes);
        break;
    case 5:
        track->parent = field->value;
        break;
    case 7:
        name = pf_chrome_thread_name(tv_pf_find(field->bytes, 1).value);
        if (name && track->tid != TV_FT_NO_ID)
            tv_pf_name_thread(
                reading, track->tid,
                tv_pf_text(reading, (struct tv_bytes){(const uint8_t *)name, strlen(name)}), 3);
        break;
    case 8:
        pf_track_set_counter(reading, track, field->bytes);
        break;
    case 9:
        track->separate = field->value != 0;
        break;
    case 18:
        track->is_state = true;
        break;
    default:
        break;
    }
}

/* A sibling_merge_behavior. */
#define MERGE_NONE 2u

static bool pf_descriptor_has_name(struct tv_bytes descriptor)
{
    return tv_pf_find(descriptor, 2).number != 0 || tv_pf_find(descriptor, 10).number != 0 ||
           tv_pf_find(descriptor, 13).number != 0;
}

/* Add a descriptor. Producers repeat theirs; a second one may add fields, but not another parent.
 */
void tv_pf_add_descriptor(struct tv_pf_reading *reading, struct tv_bytes descriptor,
                          uint64_t offset)
{
    struct tv_pf_message message = tv_pf_message_over(descriptor);
    struct tv_protobuf_field field, uuid = tv_pf_find(descriptor, 1);
    if (uuid.number != 1) {
        tv_pf_warn(reading, TV_DIAGNOSTIC_TRACK_UNKNOWN, offset);
        return;
    }
    uint32_t number = tv_pf_find_track(reading, uuid.value);
    struct tv_pf_track *track = &reading->tracks.rows[number];
    struct tv_protobuf_field parent = tv_pf_find(descriptor, 5);
    if (track->described && parent.number == 5 && parent.value != track->parent) {
        tv_pf_warn(reading, TV_DIAGNOSTIC_TRACK_CONFLICT, offset);
        return;
    }
    if (tv_pf_find(descriptor, 15).value == MERGE_NONE && pf_descriptor_has_name(descriptor))
        track->name = TV_EMPTY_STRING; /* a later name replaces it; else the first one counts */
    while (tv_pf_next(&message, &field))
        pf_track_set_field(reading, number, &field);
    reading->tracks.rows[number].described = true;
}

/* A packet with a ThreadDescriptor of its own, from versions before tracks: events of the sequence
 * that name no track belong to this thread. */
void tv_pf_set_default_thread(struct tv_pf_reading *reading, struct tv_pf_sequence *sequence,
                              struct tv_bytes descriptor)
{
    struct tv_pf_message message = tv_pf_message_over(descriptor);
    struct tv_protobuf_field field;
    int64_t pid = TV_FT_NO_ID, tid = TV_FT_NO_ID;
    while (tv_pf_next(&message, &field)) {
        if (field.number == 1)
            pid = (int32_t)field.value;
        else if (field.number == 2)
            tid = (int64_t)field.value;
        else if (field.number == 6)
            sequence->delta_time = (int64_t)field.value;
        else if (field.number == 5 && tid >= 0 && tid <= INT32_MAX)
            tv_pf_name_thread(reading, tid, tv_pf_text(reading, field.bytes), 4);
    }
    if (pid < 0 || tid < 0 || tid > INT32_MAX)
        return;
    sequence->thread_pid = pid;
    sequence->thread_tid = tid;
    tv_pf_set_process(reading, tid, pid);
}

/* ---- Owners ---- */

struct tv_pf_track *tv_pf_find_track_owner(struct tv_pf_reading *reading, uint32_t number)
{
    struct tv_pf_track *track = &reading->tracks.rows[number];
    const struct tv_pf_track *at = track;
    int step = 0;
    for (; at->kind == TV_PF_TRACK_PLAIN && at->parent != 0 && step < ANCESTORS; step++) {
        uint32_t parent = tv_pf_find_track(reading, at->parent);
        track = &reading->tracks.rows[number]; /* the table may have grown */
        at = &reading->tracks.rows[parent];
    }
    if (step == ANCESTORS || (track->described && !at->described))
        tv_pf_warn(reading, TV_DIAGNOSTIC_TRACK_UNKNOWN, TV_NO_OFFSET);
    else if (at->kind != TV_PF_TRACK_PLAIN) {
        track->owner_pid = at->pid;
        track->owner_tid = at->tid;
    }
    if (track->kind == TV_PF_TRACK_THREAD && !track->separate)
        track->task = tv_ft_chunk_task(reading->chunk, track->tid);
    track->resolved = 1;
    return track;
}

/* ---- Slices ---- */

struct pf_placing {
    struct tv_ft_merge *merge;
    const struct tv_map *names; /* translations of names of processes' tracks */
    const struct tv_pf_track *track;
    uint32_t stack[DEPTH]; /* open slices of the track: indexes in merge->whole_asyncs */
    size_t depth;
};

/* Return the name of the track of an event in the trace: empty when slices are named after
 * themselves. */
static uint32_t pf_track_name(const struct pf_placing *placing,
                              const struct tv_pf_track_event *event)
{
    const struct tv_ft_merge *merge = placing->merge;
    const struct tv_pf_track *track = placing->track;
    uint32_t name = track->name;
    if (track->owner_tid == TV_FT_NO_ID && track->owner_pid != TV_FT_NO_ID) {
        uint32_t own = merge->readers[0].chunk.frames.rows[event->frame].name;
        name = tv_pf_translated(placing->names, name != TV_EMPTY_STRING ? name : own);
        if (track->name == TV_EMPTY_STRING && name == own)
            name = TV_EMPTY_STRING;
    }
    if (name != TV_EMPTY_STRING)
        return merge->numbers[0].texts[name];
    if (track->kind == TV_PF_TRACK_PROCESS || track->uuid != 0)
        return TV_EMPTY_STRING;
    return tv_trace_info_string(merge->trace->head, TV_BYTES("Default Track"));
}

/* Add a slice without length below the innermost open one; it belongs to the thread of its track if
 * that is known, else to the process. */
static struct tv_async_slice *pf_add_track_slice(struct pf_placing *placing,
                                                 const struct tv_pf_track_event *event)
{
    struct tv_ft_merge *merge = placing->merge;
    const struct tv_pf_track *track = placing->track;
    struct tv_async_slice *slice = tv_table_add(&merge->whole_asyncs);
    uint32_t task = TV_NONE;
    if (track->owner_tid != TV_FT_NO_ID)
        task = tv_map_find(&merge->readers[0].chunk.task_index, (uint64_t)track->owner_tid);
    uint32_t thread = task == TV_NONE ? TV_NONE : merge->numbers[0].threads[task];
    *slice = tv_async_slice_of(event->time, event->offset, thread);
    slice->frame = merge->numbers[0].frames[event->frame];
    slice->parent = placing->depth > 0 ? placing->stack[placing->depth - 1] : TV_NONE;
    slice->track = pf_track_name(placing, event);
    if (thread == TV_NONE)
        slice->process = tv_ft_merge_process(merge, track->owner_pid);
    return slice;
}

/* End the open slice that an end names, or the innermost one.  Those above it end with it. */
static void pf_end_track_slice(struct pf_placing *placing, const struct tv_pf_track_event *event)
{
    struct tv_async_slice *slices = placing->merge->whole_asyncs.rows;
    size_t at = placing->depth;
    uint32_t frame = event->named ? placing->merge->numbers[0].frames[event->frame] : TV_NONE;
    while (at > 0 && event->named && slices[placing->stack[at - 1]].frame != frame)
        at--;
    if (at == 0) {
        tv_diagnostics_add(&placing->merge->trace->head->diagnostics,
                           TV_DIAGNOSTIC_ASYNC_STRAY_STEP, event->offset);
        return;
    }
    for (; placing->depth >= at; placing->depth--) {
        struct tv_async_slice *slice = &slices[placing->stack[placing->depth - 1]];
        slice->length = event->time - slice->start;
        slice->flags = 0;
    }
    slices[placing->stack[at - 1]].end_offset = event->offset;
}

/* Apply an event: a beginning opens a slice up to the end of the trace, which an end then shortens.
 */
static void pf_place_track_event(struct pf_placing *placing, const struct tv_pf_track_event *event)
{
    bool state = event->kind == TV_PF_STATE;
    if (state && placing->depth > 0)
        pf_end_track_slice(
            placing, &(struct tv_pf_track_event){.time = event->time, .offset = event->offset});
    if (event->kind == TV_PF_END) {
        pf_end_track_slice(placing, event);
    } else if (event->kind == TV_PF_POINT) {
        pf_add_track_slice(placing, event);
    } else if (event->named) {
        struct tv_async_slice *slice = pf_add_track_slice(placing, event);
        if (placing->depth == DEPTH) {
            tv_diagnostics_add(&placing->merge->trace->head->diagnostics, TV_DIAGNOSTIC_TOO_DEEP,
                               event->offset);
            return;
        }
        slice->length = placing->merge->last - event->time;
        slice->flags = TV_SLICE_OPEN;
        placing->stack[placing->depth++] = (uint32_t)placing->merge->whole_asyncs.count - 1;
    }
}

/* Return the order of the events: by track, then by time, then as they came. */
static struct tv_sort_key *pf_sort_track_events(const struct tv_pf_reading *reading)
{
    size_t count = reading->track_events.count;
    struct tv_sort_key *keys = tv_alloc(count, sizeof *keys);
    for (size_t i = 0; i < count; i++)
        keys[i] = (struct tv_sort_key){tv_sort_signed(reading->track_events.rows[i].time), i};
    tv_sort_keys(keys, count);
    for (size_t i = 0; i < count; i++)
        keys[i].key = reading->track_events.rows[keys[i].index].track;
    tv_sort_keys(keys, count);
    return keys;
}

void tv_pf_add_track_slices(struct tv_pf_reading *reading, struct tv_ft_merge *merge)
{
    struct tv_sort_key *keys = pf_sort_track_events(reading);
    struct pf_placing *placing = tv_alloc(1, sizeof *placing);
    placing->merge = merge;
    placing->names = &reading->track_names;
    uint32_t track = TV_NONE;
    for (size_t i = 0; i < reading->track_events.count; i++) {
        const struct tv_pf_track_event *event = &reading->track_events.rows[keys[i].index];
        if (event->track != track) {
            track = event->track;
            placing->depth = 0;
            placing->track = tv_pf_resolve_track(reading, track);
        }
        pf_place_track_event(placing, event);
    }
    tv_free(placing);
    tv_free(keys);
}

/*
 * ---- Translated names ----
 *
 * A recorder may replace names by shorter or secret ones, and add the table that gives them back:
 * TranslationTable {4 slice_name {1 entries}, 5 process_track_name {1 entries}}, each entry {1 raw,
 * 2 name}.  The survey notes the tables, so that a name is translated wherever its table stands in
 * the file.  The other lists of the table have names of Chrome's metrics, which no event here
 * shows.
 */

static void pf_add_translated_names(struct tv_pf_reading *reading, struct tv_map *names,
                                    struct tv_bytes list)
{
    struct tv_pf_message message = tv_pf_message_over(list);
    struct tv_protobuf_field field;
    while (tv_pf_next(&message, &field)) {
        struct tv_bytes name = tv_pf_find(field.bytes, 2).bytes;
        if (field.number == 1 && name.length > 0)
            tv_map_set(names, tv_pf_text(reading, tv_pf_find(field.bytes, 1).bytes),
                       tv_pf_text(reading, name));
    }
}

void tv_pf_add_translations(struct tv_pf_reading *reading, struct tv_bytes table)
{
    pf_add_translated_names(reading, &reading->slice_names, tv_pf_find(table, 4).bytes);
    pf_add_translated_names(reading, &reading->track_names, tv_pf_find(table, 5).bytes);
}

uint32_t tv_pf_translated(const struct tv_map *names, uint32_t name)
{
    uint32_t found = tv_map_find(names, name);
    return found == TV_NONE ? name : found;
}
