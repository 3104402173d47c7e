/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_file.c - Android method traces.
 *
 * Reading the file must give the same calls, so each call becomes the records that it had (see
 * trace_file_decide_event). Versions with a record count need two walks over the calls: one
 * counts, one writes. Streaming versions announce threads and methods before their first record
 * and end with a summary:
 *
 *     v1..v3      head with threads, methods and record count | data header | records
 *     streaming   data header | (thread packet | method packet | record)... | summary packet
 */
#include "writers/trace/trace_file.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "wire/method_trace.h"
#include "writers/trace/calls.h"

#define US 1000

/* Longest name: lengths in packets have 16 bits, and a line has several names. */
#define NAME_LIMIT 60000u

/* Readers recognise that a 32-bit clock wrapped by its step back, unless the step is so small
 * (2^26 us) that jitter may have caused it. A longer step between two records is lost. */
#define CLOCK_RANGE ((int64_t)1 << 32)
#define CLOCK_UNREST ((int64_t)1 << 26)

/* The state of a track. */
struct trace_file_progress {
    int64_t wall, cpu; /* of the last record, in microseconds */
    bool begun;
    bool ended;  /* the first call that is open at the end was reached */
    tv_ns first; /* time of the first record on the axis; calls from before the trace last from
                  * there */
};

struct trace_file {
    struct tv_out *out;
    const struct tv_trace *trace;
    enum tv_trace_target target;
    bool cpu;    /* of a target with one clock */
    bool closed; /* as in the options */
    const struct tv_subset *keep;
    const bool *used_threads, *used_frames; /* NULL: all are listed */
    struct tv_trace_file_losses *losses;
    uint32_t *id;         /* [thread_count] ID in the file */
    bool *thread_written; /* streaming: the packet was written */
    bool *frame_written;
    struct trace_file_progress *tracks; /* [track_count] */
    struct trace_file_progress all;     /* the same over all tracks */
    uint64_t records;
};

static bool trace_file_is_streaming(enum tv_trace_target target)
{
    return target == TV_TRACE_STREAM_1 || target == TV_TRACE_STREAM_2;
}

static bool trace_file_has_both_clocks(enum tv_trace_target target)
{
    return target == TV_TRACE_V3 || target == TV_TRACE_STREAM_2;
}

static uint16_t trace_file_version_of(enum tv_trace_target target)
{
    static const uint16_t versions[] = {TV_MT_V1, TV_MT_V2, TV_MT_V3, TV_MT_V2, TV_MT_V3};
    return versions[target];
}

/* ---- Ids ---- */

/* Assign thread IDs. An ID that fits and is free stays; other threads get the lowest free
 * numbers. */
static enum tv_status trace_file_number_threads(struct trace_file *f, struct tv_error *err)
{
    const struct tv_trace_info *head = f->trace->head;
    uint32_t places = f->target == TV_TRACE_V1 ? 256 : 65536;
    uint32_t lowest = trace_file_is_streaming(f->target) ? 1 : 0; /* in streaming files, 0 announces
                                                                   * a packet */
    if (head->thread_count > places - lowest)
        return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET,
                       "%u threads do not fit in version %u, which numbers %u", head->thread_count,
                       trace_file_version_of(f->target), places - lowest);
    bool *taken = tv_alloc(places, sizeof *taken);
    bool *kept = tv_alloc(head->thread_count, sizeof *kept);
    for (uint32_t i = 0; i < head->thread_count; i++) {
        uint64_t id = head->threads[i].id;
        if (id >= places || id < lowest || taken[id])
            continue;
        taken[id] = kept[i] = true;
        f->id[i] = (uint32_t)id;
    }
    uint32_t next = 1 % places;
    for (uint32_t i = 0; i < head->thread_count; i++) {
        if (kept[i])
            continue;
        while (taken[next])
            next = next + 1 < places ? next + 1 : lowest;
        taken[next] = true;
        f->id[i] = next;
        f->losses->renumbered++;
    }
    tv_free(taken);
    tv_free(kept);
    return TV_OK;
}

/* Number methods densely, as ART does; the low two bits are for the action. */
static uint32_t trace_file_method_id(uint32_t frame)
{
    return frame << 2;
}

/* ---- Text ---- */

/* Write a name into a line whose fields are separated by tabs. */
static void trace_file_add_name(struct trace_file *f, struct tv_out *out, struct tv_bytes text,
                                bool tabs)
{
    bool changed = text.length > NAME_LIMIT;
    size_t length = changed ? NAME_LIMIT : text.length;
    for (size_t i = 0; i < length; i++) {
        char c = (char)text.data[i];
        bool bad = c == '\n' || (c == '\t' && !tabs);
        tv_out_char(out, bad ? ' ' : c);
        changed |= bad;
    }
    f->losses->renamed += changed;
}

/* Write the line of a method: ID, class, name, signature, file and line, separated by tabs; ID and
 * name only when nothing else is known.  A line without any name would not be read. */
static void trace_file_add_method(struct trace_file *f, struct tv_out *out, uint32_t frame)
{
    const struct tv_trace_info *head = f->trace->head;
    const struct tv_frame *m = &head->frames[frame];
    bool bare = m->class_name == TV_EMPTY_STRING && m->signature == TV_EMPTY_STRING &&
                m->file == TV_EMPTY_STRING;
    tv_out_format(out, frame == 0 ? "0" : "0x%x", trace_file_method_id(frame));
    tv_out_char(out, '\t');
    if (!bare) {
        trace_file_add_name(f, out, tv_trace_info_text(head, m->class_name), false);
        tv_out_char(out, '\t');
    }
    bool nameless = bare && m->name == TV_EMPTY_STRING;
    f->losses->renamed += nameless;
    trace_file_add_name(
        f, out, nameless ? TV_BYTES("[No name]") : tv_trace_info_text(head, m->name), false);
    if (!bare) {
        tv_out_char(out, '\t');
        trace_file_add_name(f, out, tv_trace_info_text(head, m->signature), false);
        tv_out_char(out, '\t');
        trace_file_add_name(f, out, tv_trace_info_text(head, m->file), false);
    }
    if (!bare && m->line != 0)
        tv_out_format(out, "\t%d", (int)m->line);
    tv_out_char(out, '\n');
}

static bool trace_file_is_key(struct tv_bytes key, const char *name)
{
    return tv_bytes_equal(key, tv_bytes_of(name));
}

/* True for keys of the header that the writer works out itself; an input's own values of them would
 * contradict the new records. */
static bool trace_file_is_written_by_us(struct tv_bytes key)
{
    return trace_file_is_key(key, TV_MT_KEY_OVERFLOW) || trace_file_is_key(key, TV_MT_KEY_CLOCK) ||
           trace_file_is_key(key, TV_MT_KEY_ELAPSED_US) ||
           trace_file_is_key(key, TV_MT_KEY_ELAPSED_NS) ||
           trace_file_is_key(key, TV_MT_KEY_RECORDS) ||
           trace_file_is_key(key, TV_MT_KEY_SAMPLING_US);
}

static const char *trace_file_clock_name(const struct trace_file *f)
{
    if (trace_file_has_both_clocks(f->target))
        return TV_MT_CLOCK_DUAL;
    return f->cpu ? TV_MT_CLOCK_THREAD_CPU : TV_MT_CLOCK_WALL;
}

/* State whether the trace was sampled, so that readers need not infer it. */
static void trace_file_add_sampling(struct trace_file *f, struct tv_out *out)
{
    const struct tv_trace_info *head = f->trace->head;
    tv_ns interval = tv_trace_info_sampling(head).interval;
    if (tv_trace_info_figures(head) == TV_FIGURES_SAMPLED && interval <= 0)
        return; /* sampled at an interval that nobody knows */
    tv_out_format(out, TV_MT_KEY_SAMPLING_US "=%lld\n",
                  (long long)(interval / US + (interval % US != 0)));
}

/* Write the version section: our own keys, then the first input's other keys. */
static void trace_file_add_keys(struct trace_file *f, struct tv_out *out)
{
    const struct tv_trace_info *head = f->trace->head;
    bool overflow = false;
    for (uint32_t i = 0; i < head->input_count; i++)
        overflow |= head->inputs[i].overflow;
    tv_out_format(out, TV_MT_SECTION_VERSION "\n%u\n", trace_file_version_of(f->target));
    tv_out_format(out, TV_MT_KEY_OVERFLOW "=%s\n", overflow ? "true" : "false");
    tv_out_format(out, TV_MT_KEY_CLOCK "=%s\n", trace_file_clock_name(f));
    /* Readers also use this key to recognise that the clocks wrapped, so write it then in any
     * case. */
    tv_ns elapsed = head->inputs[0].elapsed_ns;
    if (elapsed < 0 && f->trace->end / US >= CLOCK_RANGE)
        elapsed = f->trace->end;
    if (elapsed >= 0)
        tv_out_format(out, TV_MT_KEY_ELAPSED_US "=%lld\n", (long long)(elapsed / US));
    if (!trace_file_is_streaming(f->target))
        tv_out_format(out, TV_MT_KEY_RECORDS "=%llu\n", (unsigned long long)f->records);
    trace_file_add_sampling(f, out);
    for (uint32_t i = 0; i < head->metadata_count; i++) {
        const struct tv_metadata *m = &head->metadata[i];
        struct tv_bytes key = tv_trace_info_text(head, m->key);
        if (m->input != 0 || trace_file_is_written_by_us(key))
            continue;
        trace_file_add_name(f, out, key, true);
        tv_out_char(out, '=');
        trace_file_add_name(f, out, tv_trace_info_text(head, m->value), true);
        tv_out_char(out, '\n');
    }
}

/* List the threads that have records. */
static void trace_file_add_threads(struct trace_file *f, struct tv_out *out)
{
    const struct tv_trace_info *head = f->trace->head;
    tv_out_text(out, TV_MT_SECTION_THREADS "\n");
    for (uint32_t i = 0; i < head->thread_count; i++) {
        if (!head->threads[i].listed || (f->used_threads && !f->used_threads[i]))
            continue;
        tv_out_format(out, "%u\t", f->id[i]);
        trace_file_add_name(f, out, tv_trace_info_text(head, head->threads[i].name), true);
        tv_out_char(out, '\n');
    }
}

/* Return true when the method belongs in the list. Readers add a frame "(unknown)" for exits
 * that do not say what they end; it is listed only when it is called. */
static bool trace_file_is_listed(const struct trace_file *f, uint32_t frame)
{
    const struct tv_trace_info *head = f->trace->head;
    const struct tv_frame *m = &head->frames[frame];
    if (f->used_frames && !f->used_frames[frame])
        return false;
    bool made = m->class_name == TV_EMPTY_STRING && m->signature == TV_EMPTY_STRING &&
                trace_file_is_key(tv_trace_info_text(head, m->name), "(unknown)");
    for (uint32_t i = 1; made && i < f->trace->paths.count; i++)
        made = f->trace->paths.nodes[i].frame != frame;
    return !made;
}

static void trace_file_add_head(struct trace_file *f, struct tv_out *out)
{
    trace_file_add_keys(f, out);
    trace_file_add_threads(f, out);
    tv_out_text(out, TV_MT_SECTION_METHODS "\n");
    for (uint32_t i = 0; !trace_file_is_streaming(f->target) && i < f->trace->head->frame_count;
         i++) {
        if (trace_file_is_listed(f, i))
            trace_file_add_method(f, out, i);
    }
    tv_out_text(out, TV_MT_SECTION_END "\n");
}

/* ---- Binary ---- */

static void trace_file_add_bytes(struct tv_out *out, const uint8_t *bytes, size_t length)
{
    tv_out_bytes(out, (struct tv_bytes){bytes, length});
}

/* Write the binary header before the records. */
static void trace_file_add_data_header(struct trace_file *f)
{
    const struct tv_input *input = &f->trace->head->inputs[0];
    uint8_t bytes[TV_MT_HEADER_SIZE];
    uint16_t version = trace_file_version_of(f->target);
    struct tv_mt_header header = {
        .version = version,
        .data_offset = TV_MT_HEADER_SIZE,
        .start = (uint64_t)(input->recorded_us > 0 ? input->recorded_us : input->boot_us),
    };
    if (trace_file_is_streaming(f->target))
        header.version |= TV_MT_STREAMING;
    /* Writers state the record size from version 3 on; with the mark of streaming, in every
     * version. */
    if (version >= TV_MT_V3 || trace_file_is_streaming(f->target))
        header.record_size = tv_mt_record_size(version);
    tv_mt_put_header(bytes, &header);
    trace_file_add_bytes(f->out, bytes, sizeof bytes);
}

static void trace_file_add_packet(struct trace_file *f, const uint8_t *head, size_t length,
                                  struct tv_out *text)
{
    trace_file_add_bytes(f->out, head, length);
    tv_out_bytes(f->out, (struct tv_bytes){text->buffer, text->length});
    tv_out_release(text);
}

/* Write the packet that names a thread, before its first record. */
static void trace_file_announce_thread(struct trace_file *f, uint32_t thread)
{
    const struct tv_trace_info *head = f->trace->head;
    uint8_t bytes[TV_MT_STREAM_THREAD_HEAD] = {0, 0, TV_MT_STREAM_THREAD};
    struct tv_out text;
    assert(!f->thread_written[thread]);
    tv_out_init_memory(&text);
    trace_file_add_name(f, &text, tv_trace_info_text(head, head->threads[thread].name), true);
    tv_le_put_u16(bytes + 3, (uint16_t)f->id[thread]);
    tv_le_put_u16(bytes + 5, (uint16_t)text.length);
    trace_file_add_packet(f, bytes, sizeof bytes, &text);
    f->thread_written[thread] = true;
}

/* Write the packet of a method. A line that exceeds the packet's 16-bit length is truncated. */
static void trace_file_announce_method(struct trace_file *f, uint32_t frame)
{
    uint8_t bytes[TV_MT_STREAM_METHOD_HEAD] = {0, 0, TV_MT_STREAM_METHOD};
    struct tv_out text;
    assert(!f->frame_written[frame]);
    tv_out_init_memory(&text);
    trace_file_add_method(f, &text, frame);
    if (text.length > UINT16_MAX) {
        text.length = UINT16_MAX;
        text.buffer[text.length - 1] = '\n';
        f->losses->renamed++;
    }
    tv_le_put_u16(bytes + 3, (uint16_t)text.length);
    trace_file_add_packet(f, bytes, sizeof bytes, &text);
    f->frame_written[frame] = true;
}

static void trace_file_add_summary(struct trace_file *f)
{
    uint8_t bytes[TV_MT_STREAM_SUMMARY_HEAD] = {0, 0, TV_MT_STREAM_SUMMARY};
    struct tv_out text;
    tv_out_init_memory(&text);
    trace_file_add_head(f, &text);
    tv_le_put_u32(bytes + 3, (uint32_t)text.length);
    trace_file_add_packet(f, bytes, sizeof bytes, &text);
}

/* A record of the file. */
struct trace_file_record {
    uint32_t track, word;
    tv_ns wall, cpu;
};

static bool trace_file_has_clock(const struct trace_file *f, bool cpu)
{
    return trace_file_has_both_clocks(f->target) || f->cpu == cpu;
}

static bool trace_file_is_too_long(bool begun, int64_t from, int64_t to)
{
    return begun ? to - from >= CLOCK_RANGE - CLOCK_UNREST : to >= CLOCK_RANGE;
}

static void trace_file_advance_clock(struct trace_file_progress *progress,
                                     const struct trace_file_record *record)
{
    progress->wall = record->wall / US;
    progress->cpu = record->cpu / US;
    progress->begun = true;
}

/* Note imprecise times. Readers follow the wall clock in the order of the file, the CPU clock in
 * each thread. */
static void trace_file_note_losses(struct trace_file *f, const struct trace_file_record *record)
{
    const struct trace_file_progress *all = &f->all, *track = &f->tracks[record->track];
    bool wall = trace_file_has_clock(f, false), cpu = trace_file_has_clock(f, true);
    f->losses->rounded += (wall && record->wall % US != 0) || (cpu && record->cpu % US != 0);
    f->losses->long_steps +=
        (wall && trace_file_is_too_long(all->begun, all->wall, record->wall / US)) ||
        (cpu && trace_file_is_too_long(track->begun, track->cpu, record->cpu / US));
}

/* Return the 32-bit time of the format. It wraps, which readers undo. */
static uint32_t trace_file_ticks_of(tv_ns time)
{
    return (uint32_t)(uint64_t)(time / US);
}

/* Write a record with the clocks of the target version. */
static void trace_file_add_record(struct trace_file *f, const struct trace_file_record *record)
{
    uint8_t bytes[TV_MT_RECORD_SIZE_V3], *end;
    uint32_t id = f->id[f->trace->tracks[record->track].thread];
    uint32_t wall = trace_file_ticks_of(record->wall), cpu = trace_file_ticks_of(record->cpu);
    uint32_t one = f->cpu ? cpu : wall;
    assert(f->target != TV_TRACE_V1 || f->id[f->trace->tracks[record->track].thread] <= UINT8_MAX);
    if (f->target == TV_TRACE_V1)
        end = tv_mt_put_record_v1(bytes, (uint8_t)id, record->word, one);
    else if (!trace_file_has_both_clocks(f->target))
        end = tv_mt_put_record_v2(bytes, (uint16_t)id, record->word, one);
    else
        end = tv_mt_put_record_v3(bytes, (uint16_t)id, record->word, cpu, wall);
    trace_file_add_bytes(f->out, bytes, (size_t)(end - bytes));
    trace_file_note_losses(f, record);
    trace_file_advance_clock(&f->tracks[record->track], record);
    trace_file_advance_clock(&f->all, record);
}

/* Return true when the event was a record of its own in the source, or becomes one. */
static bool trace_file_is_recorded(const struct trace_file *f, const struct tv_call_event *event)
{
    uint32_t without =
        event->exit ? TV_SLICE_OPEN | TV_SLICE_MISSING_EXIT : TV_SLICE_ENTERED_BEFORE;
    return f->closed || !(event->slice->flags & without);
}

/* Find the time of the track's first record, among those that are written. */
static void trace_file_find_first_record(struct trace_file *f, uint32_t track)
{
    struct tv_call_cursor *cursor = tv_call_cursor_new(f->trace, track);
    struct tv_call_event event;
    tv_call_cursor_select(cursor, f->keep ? f->keep->frames : NULL);
    f->tracks[track].first = INT64_MAX;
    while (f->tracks[track].first == INT64_MAX && tv_call_cursor_next(cursor, &event))
        if (trace_file_is_recorded(f, &event))
            f->tracks[track].first = event.time;
    tv_call_cursor_free(cursor);
}

/* Return the event's own record, except for its method word. */
static struct trace_file_record trace_file_record_of(const struct trace_file *f,
                                                     const struct tv_call_event *event)
{
    return (struct trace_file_record){event->track, 0, f->trace->cpu_axis ? 0 : event->time,
                                      event->cpu};
}

/* Return the track's last record. */
static struct trace_file_record trace_file_last_record(const struct trace_file *f, uint32_t track)
{
    const struct tv_track *t = &f->trace->tracks[track];
    tv_ns tick = tv_track_tick(f->trace, track);
    tv_ns wall = t->last_wall * tick + f->trace->offset[t->input];
    return (struct trace_file_record){track, 0, f->trace->cpu_axis ? 0 : wall, t->last_cpu * tick};
}

/* The treatment of an event. Calls that are open at the end last until their thread's last
 * record. If that record was the exit of a method that was not on the stack, it belongs to no
 * call, and such an exit must be written again. */
enum trace_file_fate { LEFT_OUT, RECORDED, STRAY_EXIT };

/* Decide what becomes of an event: a record, nothing, or an exit without an entry that keeps the
 * last time of its thread. */
static enum trace_file_fate trace_file_decide_event(struct trace_file *f,
                                                    const struct tv_call_event *event)
{
    struct trace_file_progress *track = &f->tracks[event->track];
    if (f->trace->tracks[event->track].kind != TV_TRACK_THREAD)
        return LEFT_OUT;
    if (trace_file_is_recorded(f, event) || (!event->exit && event->time < track->first))
        return RECORDED;
    if (!event->exit || !(event->slice->flags & TV_SLICE_OPEN) || track->ended)
        return LEFT_OUT;
    struct trace_file_record last = trace_file_last_record(f, event->track);
    track->ended = true;
    return last.wall / US > track->wall || last.cpu / US > track->cpu ? STRAY_EXIT : LEFT_OUT;
}

/* Count the records, which the header states before them. Decisions must be those of writing. */
static void trace_file_count_records(struct trace_file *f)
{
    for (uint32_t i = 0; i < f->trace->track_count; i++) {
        struct tv_call_cursor *cursor = tv_call_cursor_new(f->trace, i);
        struct tv_call_event event;
        bool kept = !f->keep || !f->keep->tracks || f->keep->tracks[i];
        tv_call_cursor_select(cursor, f->keep ? f->keep->frames : NULL);
        while (kept && tv_call_cursor_next(cursor, &event)) {
            enum trace_file_fate fate = trace_file_decide_event(f, &event);
            struct trace_file_record record = trace_file_record_of(f, &event);
            if (fate == RECORDED)
                trace_file_advance_clock(&f->tracks[i], &record);
            f->records += fate != LEFT_OUT;
        }
        tv_call_cursor_free(cursor);
        f->tracks[i] = (struct trace_file_progress){.first = f->tracks[i].first};
    }
}

/* Find a listed method that is not on the stack of a call; return frame_count when there is
 * none. */
static uint32_t trace_file_find_unopened(const struct trace_file *f, uint32_t path)
{
    const struct tv_path_node *nodes = f->trace->paths.nodes;
    uint32_t count = f->trace->head->frame_count, stranger = 0;
    bool *open = tv_alloc(count, sizeof *open);
    for (; path != TV_ROOT_PATH; path = nodes[path].parent)
        open[nodes[path].frame] = true;
    while (stranger < count && (open[stranger] || !trace_file_is_listed(f, stranger)))
        stranger++;
    tv_free(open);
    return stranger;
}

static void trace_file_announce_names(struct trace_file *f, uint32_t thread, uint32_t frame)
{
    if (!trace_file_is_streaming(f->target))
        return;
    if (!f->thread_written[thread])
        trace_file_announce_thread(f, thread);
    if (frame < f->trace->head->frame_count && !f->frame_written[frame])
        trace_file_announce_method(f, frame);
}

/* Write an event as a record. The exit of a call that cannot be in the file becomes one of a method
 * that was never entered. */
static void trace_file_write_event(struct trace_file *f, const struct tv_call_event *event)
{
    uint32_t frame = f->trace->paths.nodes[event->slice->path].frame;
    struct trace_file_record record = trace_file_record_of(f, event);
    enum tv_mt_action action = TV_MT_ENTER;
    enum trace_file_fate fate = trace_file_decide_event(f, event);
    if (fate == LEFT_OUT)
        return;
    if (event->exit)
        action = event->slice->flags & TV_SLICE_UNROLLED ? TV_MT_UNROLL : TV_MT_EXIT;
    if (fate == STRAY_EXIT) {
        record = trace_file_last_record(f, event->track);
        frame = trace_file_find_unopened(f, event->slice->path);
        f->losses->stray_exits++;
    }
    record.word = tv_mt_word(trace_file_method_id(frame), action);
    trace_file_announce_names(f, f->trace->tracks[event->track].thread, frame);
    trace_file_add_record(f, &record);
}

static void trace_file_write_records(struct trace_file *f)
{
    struct tv_call_merge *merge = tv_call_merge_new_selected(f->trace, f->keep);
    struct tv_call_event event;
    while (tv_call_merge_next(merge, &event))
        trace_file_write_event(f, &event);
    tv_call_merge_free(merge);
}

/* Note what the clocks of the target lose or invent. */
static void trace_file_note_clocks(struct trace_file *f)
{
    unsigned clocks = tv_trace_info_clocks(f->trace->head);
    bool both = trace_file_has_both_clocks(f->target);
    f->losses->cpu_clock = (clocks & TV_CLOCK_CPU) && !both && !f->cpu;
    f->losses->wall_clock = (clocks & TV_CLOCK_WALL) && !both && f->cpu;
    f->losses->invented_clock = both && clocks != (TV_CLOCK_CPU | TV_CLOCK_WALL);
    f->losses->inputs = f->trace->head->input_count;
    for (uint32_t i = 0; i < f->trace->track_count; i++) {
        if (f->trace->tracks[i].kind != TV_TRACK_THREAD &&
            (!f->keep || !f->keep->tracks || f->keep->tracks[i]))
            f->losses->unnested += f->trace->tracks[i].slice_count;
    }
}

/* Find the threads and methods of the calls that are written. */
static void trace_file_find_used(const struct trace_file *f, bool *threads, bool *frames)
{
    const struct tv_trace *trace = f->trace;
    for (uint32_t i = 0; i < trace->track_count; i++)
        if (trace->tracks[i].kind == TV_TRACK_THREAD && trace->tracks[i].slice_count > 0)
            threads[trace->tracks[i].thread] = true;
    for (uint32_t i = 1; i < trace->paths.count; i++)
        frames[trace->paths.nodes[i].frame] = true;
}

enum tv_status tv_trace_file_write(struct tv_out *out, const struct tv_trace *trace,
                                   const struct tv_trace_file_options *options,
                                   struct tv_trace_file_losses *losses, struct tv_error *err)
{
    const struct tv_trace_info *head = trace->head;
    struct trace_file f = {
        .out = out,
        .trace = trace,
        .target = options->target,
        .cpu = options->cpu,
        .closed = options->closed,
        .keep = options->keep,
        .losses = losses,
    };
    *losses = (struct tv_trace_file_losses){.inputs = 0};
    f.id = tv_alloc(head->thread_count, sizeof *f.id);
    f.thread_written = tv_alloc(head->thread_count, sizeof *f.thread_written);
    f.frame_written = tv_alloc(head->frame_count, sizeof *f.frame_written);
    f.tracks = tv_alloc(trace->track_count, sizeof *f.tracks);
    bool *used_threads = tv_alloc(head->thread_count, sizeof *used_threads);
    bool *used_frames = tv_alloc(head->frame_count, sizeof *used_frames);
    trace_file_find_used(&f, used_threads, used_frames);
    f.used_threads = options->used ? used_threads : NULL;
    f.used_frames = options->used ? used_frames : NULL;
    for (uint32_t i = 0; i < trace->track_count; i++)
        trace_file_find_first_record(&f, i);
    enum tv_status status = trace_file_number_threads(&f, err);
    if (status == TV_OK) {
        trace_file_note_clocks(&f);
        if (!trace_file_is_streaming(f.target)) {
            trace_file_count_records(&f);
            trace_file_add_head(&f, out);
        }
        trace_file_add_data_header(&f);
        trace_file_write_records(&f);
        if (trace_file_is_streaming(f.target))
            trace_file_add_summary(&f);
    }
    tv_free(f.id);
    tv_free(f.thread_written);
    tv_free(f.frame_written);
    tv_free(f.tracks);
    tv_free(used_threads);
    tv_free(used_frames);
    return status;
}
