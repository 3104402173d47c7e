/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto_tracks.c - descriptors of tracks.
 *
 * Every process, thread, track and series of a counter of the model has a number in the file; the
 * numbers of each kind follow those of the kind before:
 *
 *     process 1, 2, ..   thread ..   track ..   series ..   global instants   made process
 *
 * The slices of a thread belong to the track of the thread itself; other tracks are below the
 * thread or the process that owns them.
 */
#include <assert.h>

#include "base/memory.h"
#include "writers/trace/perfetto_parts.h"

/* Linux numbers processes and threads up to 2^22; made ids are above. */
#define FIRST_MADE_ID ((uint64_t)1 << 22)

/* Fields of TrackDescriptor. */
enum {
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
};

#define PACKET_DESCRIPTOR 60u

uint64_t tv_perfetto_process_track(const struct tv_perfetto_writer *writer, uint32_t process)
{
    assert(process < writer->trace->head->process_count);
    (void)writer;
    return (uint64_t)process + 1;
}

uint64_t tv_perfetto_thread_track(const struct tv_perfetto_writer *writer, uint32_t thread)
{
    assert(thread < writer->trace->head->thread_count);
    return (uint64_t)writer->trace->head->process_count + thread + 1;
}

uint64_t tv_perfetto_slice_track(const struct tv_perfetto_writer *writer, uint32_t track)
{
    const struct tv_trace_info *head = writer->trace->head;
    assert(track < writer->trace->track_count);
    if (writer->trace->tracks[track].kind == TV_TRACK_THREAD)
        return tv_perfetto_thread_track(writer, writer->trace->tracks[track].thread);
    return (uint64_t)head->process_count + head->thread_count + track + 1;
}

uint64_t tv_perfetto_series_track(const struct tv_perfetto_writer *writer, uint32_t series)
{
    const struct tv_trace_info *head = writer->trace->head;
    return (uint64_t)head->process_count + head->thread_count + writer->trace->track_count +
           series + 1;
}

uint64_t tv_perfetto_global_track(const struct tv_perfetto_writer *writer)
{
    return tv_perfetto_series_track(writer, (uint32_t)writer->trace->tables.series.count);
}

/* Return the track of the process made for threads without one. */
static uint64_t perfetto_homeless_track(const struct tv_perfetto_writer *writer)
{
    return tv_perfetto_global_track(writer) + 1;
}

/* ---- Processes and threads of the file ---- */

static bool perfetto_has_home(const struct tv_perfetto_writer *writer, uint32_t thread)
{
    return writer->trace->head->threads[thread].process < writer->trace->head->process_count;
}

static void perfetto_mention_process(struct tv_perfetto_writer *writer, uint32_t process)
{
    if (process < writer->trace->head->process_count)
        writer->has_process[process] = true;
}

static void perfetto_mention_thread(struct tv_perfetto_writer *writer, uint32_t thread)
{
    if (thread >= writer->trace->head->thread_count)
        return;
    writer->has_thread[thread] = true;
    perfetto_mention_process(writer, writer->trace->head->threads[thread].process);
}

/* Find the owners of everything in the trace.  A subset has the trace info of the whole trace. */
static void perfetto_mention_owners(struct tv_perfetto_writer *writer)
{
    const struct tv_trace *trace = writer->trace;
    for (uint32_t i = 0; i < trace->track_count; i++) {
        perfetto_mention_thread(writer, trace->tracks[i].thread);
        perfetto_mention_process(writer, trace->tracks[i].process);
    }
    for (size_t i = 0; i < trace->tables.counters.count; i++)
        perfetto_mention_process(writer, trace->tables.counters.rows[i].process);
    for (size_t i = 0; i < trace->tables.instants.count; i++) {
        const struct tv_instant *instant = &trace->tables.instants.rows[i];
        if (instant->scope == TV_SCOPE_THREAD)
            perfetto_mention_thread(writer, instant->of);
        else if (instant->scope == TV_SCOPE_PROCESS)
            perfetto_mention_process(writer, instant->of);
    }
    for (uint32_t i = 0; !trace->is_subset && i < trace->head->thread_count; i++)
        perfetto_mention_thread(writer, i);
    for (uint32_t i = 0; !trace->is_subset && i < trace->head->process_count; i++)
        perfetto_mention_process(writer, i);
}

/* The ids in use.  A process has its own number as value, until a thread uses its id as well. */
struct perfetto_ids {
    struct tv_map taken;
    uint64_t next;
};

#define TAKEN_BY_THREAD (TV_NONE - 1)

/* Return the id if it may be used: it is free, or that of the process `owner`; else a made one. */
static uint64_t perfetto_take_id(struct perfetto_ids *ids, uint64_t id, uint32_t owner,
                                 uint32_t taker)
{
    uint32_t other = tv_map_find(&ids->taken, id);
    if (id == 0 || id > INT32_MAX || (other != TV_NONE && other != owner)) {
        do
            id = ids->next++;
        while (tv_map_find(&ids->taken, id) != TV_NONE);
    }
    tv_map_set(&ids->taken, id, taker);
    return id;
}

void tv_perfetto_number_threads(struct tv_perfetto_writer *writer)
{
    const struct tv_trace_info *head = writer->trace->head;
    struct perfetto_ids ids = {.next = FIRST_MADE_ID};
    tv_map_init(&ids.taken);
    perfetto_mention_owners(writer);
    for (uint32_t i = 0; i < head->process_count; i++) {
        const struct tv_process *process = &head->processes[i];
        if (!writer->has_process[i])
            continue;
        writer->pids[i] =
            perfetto_take_id(&ids, process->key == TV_EMPTY_STRING ? process->id : 0, TV_NONE, i);
        writer->losses->renumbered +=
            process->key != TV_EMPTY_STRING || (process->id != 0 && process->id != writer->pids[i]);
    }
    for (uint32_t i = 0; i < head->thread_count; i++) {
        const struct tv_thread *thread = &head->threads[i];
        bool plain = thread->key == TV_EMPTY_STRING && !thread->line;
        if (!writer->has_thread[i])
            continue;
        writer->tids[i] =
            perfetto_take_id(&ids, plain ? thread->id : 0, thread->process, TAKEN_BY_THREAD);
        writer->losses->renumbered += !thread->line && thread->id != writer->tids[i];
        writer->losses->homeless += !perfetto_has_home(writer, i);
    }
    if (writer->losses->homeless > 0)
        writer->homeless_pid = perfetto_take_id(&ids, 0, TV_NONE, TAKEN_BY_THREAD);
    tv_map_release(&ids.taken);
}

/* ---- Descriptors ---- */

/* Write writer->event as the descriptor of a track. */
static void perfetto_put_descriptor(struct tv_perfetto_writer *writer)
{
    tv_protobuf_put_message(&writer->packet, PACKET_DESCRIPTOR, &writer->event);
    tv_perfetto_put_packet(writer);
}

static void perfetto_begin_descriptor(struct tv_perfetto_writer *writer, uint64_t uuid,
                                      uint64_t parent)
{
    tv_protobuf_put_number(&writer->event, TRACK_UUID, uuid);
    tv_protobuf_put_nonzero(&writer->event, TRACK_PARENT, parent);
}

static void perfetto_put_text_field(struct tv_perfetto_writer *writer, struct tv_out *message,
                                    uint32_t field, uint32_t string)
{
    if (string != TV_EMPTY_STRING)
        tv_protobuf_put_bytes(message, field, tv_trace_info_text(writer->trace->head, string));
}

/* Write the position among siblings, a number of 32 bits. */
static void perfetto_put_sort_index(struct tv_out *message, int64_t index)
{
    index = index < INT32_MIN ? INT32_MIN : index > INT32_MAX ? INT32_MAX : index;
    tv_protobuf_put_nonzero(message, 3, (uint64_t)index);
}

/* Write the descriptor of a process (ProcessDescriptor: 1 pid, 6 name, 8 labels). */
static void perfetto_put_process(struct tv_perfetto_writer *writer, uint32_t number)
{
    const struct tv_process *process = &writer->trace->head->processes[number];
    struct tv_out *message = &writer->text;
    message->length = 0;
    perfetto_begin_descriptor(writer, tv_perfetto_process_track(writer, number), 0);
    tv_protobuf_put_number(message, 1, writer->pids[number]);
    perfetto_put_sort_index(message, process->sort_index);
    perfetto_put_text_field(writer, message, 6, process->name);
    perfetto_put_text_field(writer, message, 8, process->labels);
    tv_protobuf_put_message(&writer->event, TRACK_PROCESS, message);
    perfetto_put_descriptor(writer);
}

/* Write the descriptor of the process made for threads without one. */
static void perfetto_put_homeless(struct tv_perfetto_writer *writer)
{
    writer->text.length = 0;
    perfetto_begin_descriptor(writer, perfetto_homeless_track(writer), 0);
    tv_protobuf_put_number(&writer->text, 1, writer->homeless_pid);
    tv_protobuf_put_bytes(&writer->text, 6, TV_BYTES("Unknown process"));
    tv_protobuf_put_message(&writer->event, TRACK_PROCESS, &writer->text);
    perfetto_put_descriptor(writer);
}

/* Write the descriptor of a thread (ThreadDescriptor: 1 pid, 2 tid, 5 name). */
static void perfetto_put_thread(struct tv_perfetto_writer *writer, uint32_t number)
{
    const struct tv_thread *thread = &writer->trace->head->threads[number];
    struct tv_out *message = &writer->text;
    message->length = 0;
    bool home = perfetto_has_home(writer, number);
    perfetto_begin_descriptor(writer, tv_perfetto_thread_track(writer, number),
                              home ? tv_perfetto_process_track(writer, thread->process)
                                   : perfetto_homeless_track(writer));
    tv_protobuf_put_number(message, 1, home ? writer->pids[thread->process] : writer->homeless_pid);
    tv_protobuf_put_number(message, 2, writer->tids[number]);
    perfetto_put_sort_index(message, thread->sort_index);
    perfetto_put_text_field(writer, message, 5, thread->name);
    tv_protobuf_put_message(&writer->event, TRACK_THREAD, message);
    perfetto_put_descriptor(writer);
}

/* Write the descriptor of a track that is not a thread's own. */
static void perfetto_put_track(struct tv_perfetto_writer *writer, uint32_t number)
{
    const struct tv_track *track = &writer->trace->tracks[number];
    uint64_t parent = 0;
    if (track->thread != TV_NONE)
        parent = tv_perfetto_thread_track(writer, track->thread);
    else if (track->process != TV_NONE)
        parent = tv_perfetto_process_track(writer, track->process);
    perfetto_begin_descriptor(writer, tv_perfetto_slice_track(writer, number), parent);
    if (track->kind == TV_TRACK_OVERFLOW)
        tv_protobuf_put_bytes(&writer->event, TRACK_NAME, TV_BYTES("Overlapping slices"));
    else if (track->kind == TV_TRACK_STATES)
        tv_protobuf_put_bytes(&writer->event, TRACK_NAME, TV_BYTES("States"));
    else
        perfetto_put_text_field(writer, &writer->event, TRACK_NAME, track->name);
    perfetto_put_descriptor(writer);
}

/* ---- Counters ---- */

/* Write the name of a series: that of its counter, and its own where the counter has several. */
static void perfetto_put_series_name(struct tv_perfetto_writer *writer,
                                     const struct tv_counter *counter, uint32_t series)
{
    const struct tv_trace_info *head = writer->trace->head;
    struct tv_bytes own = tv_trace_info_text(head, writer->trace->tables.series.rows[series].name);
    writer->text.length = 0;
    tv_out_bytes(&writer->text, tv_trace_info_text(head, counter->name));
    if (counter->series_count > 1) {
        tv_out_char(&writer->text, ' ');
        tv_out_bytes(&writer->text, own);
    }
    tv_protobuf_put_message(&writer->event, TRACK_NAME, &writer->text);
}

/* Write the category of a counter, or its unit: Perfetto's counters have both in the model's
 * category. */
static void perfetto_put_counter_kind(struct tv_perfetto_writer *writer, uint32_t category)
{
    static const char *const units[] = {"ns", "count", "bytes"};
    struct tv_bytes text = tv_trace_info_text(writer->trace->head, category);
    uint64_t unit = 0;
    for (size_t i = 0; i < TV_COUNT(units); i++)
        if (tv_bytes_equal(text, tv_bytes_of(units[i])))
            unit = i + 1;
    writer->text.length = 0;
    if (unit == 0)
        perfetto_put_text_field(writer, &writer->text, 2, category);
    tv_protobuf_put_nonzero(&writer->text, 3, unit);
    tv_protobuf_put_message(&writer->event, TRACK_COUNTER, &writer->text);
}

/* Write a track for each series: a counter of this format has one value. */
static void perfetto_put_counter_tracks(struct tv_perfetto_writer *writer,
                                        const struct tv_counter *counter)
{
    uint64_t parent = 0;
    if (counter->process < writer->trace->head->process_count)
        parent = tv_perfetto_process_track(writer, counter->process);
    for (uint32_t i = 0; i < counter->series_count; i++) {
        uint32_t series = counter->first_series + i;
        perfetto_begin_descriptor(writer, tv_perfetto_series_track(writer, series), parent);
        perfetto_put_series_name(writer, counter, series);
        perfetto_put_counter_kind(writer, counter->category);
        perfetto_put_descriptor(writer);
    }
    writer->losses->series += counter->series_count > 1;
}

/* ---- All tracks ---- */

/* Write the descriptor of the track of instants that nobody owns, if there are any. */
static void perfetto_put_global_track(struct tv_perfetto_writer *writer)
{
    const struct tv_tables *tables = &writer->trace->tables;
    for (size_t i = 0; i < tables->instants.count; i++) {
        if (tables->instants.rows[i].of != TV_NONE)
            continue;
        perfetto_begin_descriptor(writer, tv_perfetto_global_track(writer), 0);
        tv_protobuf_put_bytes(&writer->event, TRACK_NAME, TV_BYTES("Global"));
        perfetto_put_descriptor(writer);
        return;
    }
}

void tv_perfetto_put_tracks(struct tv_perfetto_writer *writer)
{
    const struct tv_trace *trace = writer->trace;
    for (uint32_t i = 0; i < trace->head->process_count; i++)
        if (writer->has_process[i])
            perfetto_put_process(writer, i);
    if (writer->losses->homeless > 0)
        perfetto_put_homeless(writer);
    for (uint32_t i = 0; i < trace->head->thread_count; i++)
        if (writer->has_thread[i])
            perfetto_put_thread(writer, i);
    for (uint32_t i = 0; i < trace->track_count; i++)
        if (trace->tracks[i].kind != TV_TRACK_THREAD)
            perfetto_put_track(writer, i);
    for (size_t i = 0; i < trace->tables.counters.count; i++)
        perfetto_put_counter_tracks(writer, &trace->tables.counters.rows[i]);
    perfetto_put_global_track(writer);
}
