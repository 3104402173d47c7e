/* SPDX-License-Identifier: Apache-2.0 */
#include "writers/trace_file.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "wire/method_trace.h"
#include "writers/calls.h"

#define US 1000

/* Lengths of names in packets have 16 bits. */
#define NAME_LIMIT 60000u

/* Readers see that a clock of 32 bits has started again by its step back, unless that is so small
 * (2^26 us) that unrest may have made it.  A longer step between two records is lost. */
#define CLOCK_RANGE ((int64_t)1 << 32)
#define CLOCK_UNREST ((int64_t)1 << 26)

/* What has been written of a track. */
struct progress {
    int64_t wall, cpu; /* of the last record, microseconds */
    bool begun;
    bool ended;  /* its first call that is open at the end has been reached */
    tv_ns first; /* of the records on the axis: what began before the trace lasts from there */
};

struct file {
    struct tv_out *out;
    const struct tv_trace *trace;
    enum tv_trace_target target;
    bool cpu;    /* of a target with one clock */
    bool closed; /* as in the options */
    const struct tv_subset *keep;
    const bool *used_threads, *used_frames; /* NULL: all are listed */
    struct tv_trace_losses *losses;
    uint32_t *id;         /* [thread_count] in the file */
    bool *thread_written; /* streaming: its packet stands in the file */
    bool *frame_written;
    struct progress *tracks; /* [track_count] */
    struct progress all;     /* the same of all tracks together */
    uint64_t records;
};

static bool is_streaming(enum tv_trace_target target)
{
    return target == TV_TRACE_STREAM_1 || target == TV_TRACE_STREAM_2;
}

static bool has_both_clocks(enum tv_trace_target target)
{
    return target == TV_TRACE_V3 || target == TV_TRACE_STREAM_2;
}

static uint16_t version_of(enum tv_trace_target target)
{
    static const uint16_t versions[] = {TV_MT_V1, TV_MT_V2, TV_MT_V3, TV_MT_V2, TV_MT_V3};
    return versions[target];
}

/* ---- Ids ---- */

/* Thread ids as they are where they fit and are free, else the lowest free numbers. */
static enum tv_status number_threads(struct file *f, struct tv_error *err)
{
    const struct tv_head *head = f->trace->head;
    uint32_t places = f->target == TV_TRACE_V1 ? 256 : 65536;
    uint32_t lowest = is_streaming(f->target) ? 1 : 0; /* there 0 announces a packet */
    if (head->thread_count > places - lowest)
        return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET,
                       "%u threads do not fit in version %u, which numbers %u", head->thread_count,
                       version_of(f->target), places - lowest);
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

/* Methods are numbered densely, as ART does; the low two bits are the action's. */
static uint32_t method_id(uint32_t frame)
{
    return frame << 2;
}

/* ---- Text ---- */

/* A name in a line whose fields tabs part. */
static void add_name(struct file *f, struct tv_out *out, struct tv_bytes text, bool tabs)
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

/* "0x10\tclass\tname\tsignature\tfile[\tline]\n", or with two fields where there is only a name. */
static void add_method(struct file *f, struct tv_out *out, uint32_t frame)
{
    const struct tv_head *head = f->trace->head;
    const struct tv_frame *m = &head->frames[frame];
    bool bare = m->class_name == TV_EMPTY_STRING && m->signature == TV_EMPTY_STRING &&
                m->file == TV_EMPTY_STRING;
    tv_out_format(out, frame == 0 ? "0" : "0x%x", method_id(frame));
    tv_out_char(out, '\t');
    if (!bare) {
        add_name(f, out, tv_head_text(head, m->class_name), false);
        tv_out_char(out, '\t');
    }
    add_name(f, out, tv_head_text(head, m->name), false);
    if (!bare) {
        tv_out_char(out, '\t');
        add_name(f, out, tv_head_text(head, m->signature), false);
        tv_out_char(out, '\t');
        add_name(f, out, tv_head_text(head, m->file), false);
    }
    if (!bare && m->line != 0)
        tv_out_format(out, "\t%d", (int)m->line);
    tv_out_char(out, '\n');
}

static bool is_key(struct tv_bytes key, const char *name)
{
    return tv_bytes_equal(key, tv_bytes_of(name));
}

static bool is_written_by_us(struct tv_bytes key)
{
    return is_key(key, TV_MT_KEY_OVERFLOW) || is_key(key, TV_MT_KEY_CLOCK) ||
           is_key(key, TV_MT_KEY_ELAPSED_US) || is_key(key, TV_MT_KEY_ELAPSED_NS) ||
           is_key(key, TV_MT_KEY_RECORDS);
}

static const char *clock_name(const struct file *f)
{
    if (has_both_clocks(f->target))
        return TV_MT_CLOCK_DUAL;
    return f->cpu ? TV_MT_CLOCK_THREAD_CPU : TV_MT_CLOCK_WALL;
}

/* The version section: our own keys, then those of the first input that say something else. */
static void add_keys(struct file *f, struct tv_out *out)
{
    const struct tv_head *head = f->trace->head;
    bool overflow = false;
    for (uint32_t i = 0; i < head->input_count; i++)
        overflow |= head->inputs[i].overflow;
    tv_out_format(out, TV_MT_SECTION_VERSION "\n%u\n", version_of(f->target));
    tv_out_format(out, TV_MT_KEY_OVERFLOW "=%s\n", overflow ? "true" : "false");
    tv_out_format(out, TV_MT_KEY_CLOCK "=%s\n", clock_name(f));
    /* It also tells readers that the clocks have started again, and so it is not left out then. */
    tv_ns elapsed = head->inputs[0].elapsed_ns;
    if (elapsed < 0 && f->trace->end / US >= CLOCK_RANGE)
        elapsed = f->trace->end;
    if (elapsed >= 0)
        tv_out_format(out, TV_MT_KEY_ELAPSED_US "=%lld\n", (long long)(elapsed / US));
    if (!is_streaming(f->target))
        tv_out_format(out, TV_MT_KEY_RECORDS "=%llu\n", (unsigned long long)f->records);
    for (uint32_t i = 0; i < head->metadata_count; i++) {
        const struct tv_metadata *m = &head->metadata[i];
        struct tv_bytes key = tv_head_text(head, m->key);
        if (m->input != 0 || is_written_by_us(key))
            continue;
        add_name(f, out, key, true);
        tv_out_char(out, '=');
        add_name(f, out, tv_head_text(head, m->value), true);
        tv_out_char(out, '\n');
    }
}

static void add_threads(struct file *f, struct tv_out *out)
{
    const struct tv_head *head = f->trace->head;
    tv_out_text(out, TV_MT_SECTION_THREADS "\n");
    for (uint32_t i = 0; i < head->thread_count; i++) {
        if (!head->threads[i].listed || (f->used_threads && !f->used_threads[i]))
            continue;
        tv_out_format(out, "%u\t", f->id[i]);
        add_name(f, out, tv_head_text(head, head->threads[i].name), true);
        tv_out_char(out, '\n');
    }
}

/* The frame that readers add for exits that do not say of what is no method of the file unless it
 * is called. */
static bool is_listed(const struct file *f, uint32_t frame)
{
    const struct tv_head *head = f->trace->head;
    const struct tv_frame *m = &head->frames[frame];
    if (f->used_frames && !f->used_frames[frame])
        return false;
    bool made = m->class_name == TV_EMPTY_STRING && m->signature == TV_EMPTY_STRING &&
                is_key(tv_head_text(head, m->name), "(unknown)");
    for (uint32_t i = 1; made && i < f->trace->paths.count; i++)
        made = f->trace->paths.nodes[i].frame != frame;
    return !made;
}

static void add_head(struct file *f, struct tv_out *out)
{
    add_keys(f, out);
    add_threads(f, out);
    tv_out_text(out, TV_MT_SECTION_METHODS "\n");
    for (uint32_t i = 0; !is_streaming(f->target) && i < f->trace->head->frame_count; i++) {
        if (is_listed(f, i))
            add_method(f, out, i);
    }
    tv_out_text(out, TV_MT_SECTION_END "\n");
}

/* ---- Binary ---- */

static void add_bytes(struct tv_out *out, const uint8_t *bytes, size_t length)
{
    tv_out_bytes(out, (struct tv_bytes){bytes, length});
}

static void add_data_header(struct file *f)
{
    const struct tv_input *input = &f->trace->head->inputs[0];
    uint8_t bytes[TV_MT_HEADER_SIZE];
    uint16_t version = version_of(f->target);
    struct tv_mt_header header = {
        .version = version,
        .data_offset = TV_MT_HEADER_SIZE,
        .start = (uint64_t)(input->recorded_us > 0 ? input->recorded_us : input->boot_us),
    };
    if (is_streaming(f->target))
        header.version |= TV_MT_STREAMING;
    /* Writers state the size from version 3 on; with the mark of streaming every version is. */
    if (version >= TV_MT_V3 || is_streaming(f->target))
        header.record_size = tv_mt_record_size(version);
    tv_mt_put_header(bytes, &header);
    add_bytes(f->out, bytes, sizeof bytes);
}

static void add_packet(struct file *f, const uint8_t *head, size_t length, struct tv_out *text)
{
    add_bytes(f->out, head, length);
    tv_out_bytes(f->out, (struct tv_bytes){text->buffer, text->length});
    tv_out_release(text);
}

static void announce_thread(struct file *f, uint32_t thread)
{
    const struct tv_head *head = f->trace->head;
    uint8_t bytes[TV_MT_STREAM_THREAD_HEAD] = {0, 0, TV_MT_STREAM_THREAD};
    struct tv_out text;
    tv_out_init_memory(&text);
    add_name(f, &text, tv_head_text(head, head->threads[thread].name), true);
    tv_le_put_u16(bytes + 3, (uint16_t)f->id[thread]);
    tv_le_put_u16(bytes + 5, (uint16_t)text.length);
    add_packet(f, bytes, sizeof bytes, &text);
    f->thread_written[thread] = true;
}

/* A method's line may be longer than 16 bits say: then its names are cut by the packet's limit. */
static void announce_method(struct file *f, uint32_t frame)
{
    uint8_t bytes[TV_MT_STREAM_METHOD_HEAD] = {0, 0, TV_MT_STREAM_METHOD};
    struct tv_out text;
    tv_out_init_memory(&text);
    add_method(f, &text, frame);
    if (text.length > UINT16_MAX) {
        text.length = UINT16_MAX;
        text.buffer[text.length - 1] = '\n';
        f->losses->renamed++;
    }
    tv_le_put_u16(bytes + 3, (uint16_t)text.length);
    add_packet(f, bytes, sizeof bytes, &text);
    f->frame_written[frame] = true;
}

static void add_summary(struct file *f)
{
    uint8_t bytes[TV_MT_STREAM_SUMMARY_HEAD] = {0, 0, TV_MT_STREAM_SUMMARY};
    struct tv_out text;
    tv_out_init_memory(&text);
    add_head(f, &text);
    tv_le_put_u32(bytes + 3, (uint32_t)text.length);
    add_packet(f, bytes, sizeof bytes, &text);
}

/* A record of the file. */
struct record {
    uint32_t track, word;
    tv_ns wall, cpu;
};

static bool has_clock(const struct file *f, bool cpu)
{
    return has_both_clocks(f->target) || f->cpu == cpu;
}

static bool is_too_long(bool begun, int64_t from, int64_t to)
{
    return begun ? to - from >= CLOCK_RANGE - CLOCK_UNREST : to >= CLOCK_RANGE;
}

static void advance(struct progress *progress, const struct record *record)
{
    progress->wall = record->wall / US;
    progress->cpu = record->cpu / US;
    progress->begun = true;
}

/* Real times are read in the order of the file, CPU times thread by thread. */
static void note_losses(struct file *f, const struct record *record)
{
    const struct progress *all = &f->all, *track = &f->tracks[record->track];
    bool wall = has_clock(f, false), cpu = has_clock(f, true);
    f->losses->rounded += (wall && record->wall % US != 0) || (cpu && record->cpu % US != 0);
    f->losses->long_steps += (wall && is_too_long(all->begun, all->wall, record->wall / US)) ||
                             (cpu && is_too_long(track->begun, track->cpu, record->cpu / US));
}

/* The clocks of the format wrap around 2^32; readers put that right. */
static uint32_t ticks_of(tv_ns time)
{
    return (uint32_t)(uint64_t)(time / US);
}

static void add_record(struct file *f, const struct record *record)
{
    uint8_t bytes[TV_MT_RECORD_SIZE_V3], *end;
    uint32_t id = f->id[f->trace->tracks[record->track].thread];
    uint32_t wall = ticks_of(record->wall), cpu = ticks_of(record->cpu);
    uint32_t one = f->cpu ? cpu : wall;
    if (f->target == TV_TRACE_V1)
        end = tv_mt_put_record_v1(bytes, (uint8_t)id, record->word, one);
    else if (!has_both_clocks(f->target))
        end = tv_mt_put_record_v2(bytes, (uint16_t)id, record->word, one);
    else
        end = tv_mt_put_record_v3(bytes, (uint16_t)id, record->word, cpu, wall);
    add_bytes(f->out, bytes, (size_t)(end - bytes));
    note_losses(f, record);
    advance(&f->tracks[record->track], record);
    advance(&f->all, record);
}

/* Whether the event stood in the source as a record of its own, or becomes one. */
static bool is_recorded(const struct file *f, const struct tv_call_event *event)
{
    uint32_t without =
        event->exit ? TV_SLICE_OPEN | TV_SLICE_MISSING_EXIT : TV_SLICE_ENTERED_BEFORE;
    return f->closed || !(event->slice->flags & without);
}

/* When the first record of a track is, among what is written of it. */
static void find_first(struct file *f, uint32_t track)
{
    struct tv_call_cursor *cursor = tv_call_cursor_new(f->trace, track);
    struct tv_call_event event;
    tv_call_cursor_keep(cursor, f->keep ? f->keep->frames : NULL);
    f->tracks[track].first = INT64_MAX;
    while (f->tracks[track].first == INT64_MAX && tv_call_cursor_next(cursor, &event))
        if (is_recorded(f, &event))
            f->tracks[track].first = event.time;
    tv_call_cursor_free(cursor);
}

/* The event's own record, but for the word. */
static struct record record_of(const struct file *f, const struct tv_call_event *event)
{
    return (struct record){event->track, 0, f->trace->cpu_axis ? 0 : event->time, event->cpu};
}

/* The track's last record. */
static struct record last_record(const struct file *f, uint32_t track)
{
    const struct tv_track *t = &f->trace->tracks[track];
    tv_ns tick = tv_track_tick(f->trace, track);
    tv_ns wall = t->last_wall * tick + f->trace->offset[t->input];
    return (struct record){track, 0, f->trace->cpu_axis ? 0 : wall, t->last_cpu * tick};
}

/* What becomes of an event.  Calls that are open at the end last until their thread's last record.
 * Where that was the exit of a method that is not on the stack, and so is no call's, such an exit
 * must stand there again. */
enum fate { LEFT_OUT, RECORDED, STRAY_EXIT };

static enum fate decide(struct file *f, const struct tv_call_event *event)
{
    struct progress *track = &f->tracks[event->track];
    if (f->trace->tracks[event->track].kind != TV_TRACK_THREAD)
        return LEFT_OUT;
    if (is_recorded(f, event) || (!event->exit && event->time < track->first))
        return RECORDED;
    if (!event->exit || !(event->slice->flags & TV_SLICE_OPEN) || track->ended)
        return LEFT_OUT;
    struct record last = last_record(f, event->track);
    track->ended = true;
    return last.wall / US > track->wall || last.cpu / US > track->cpu ? STRAY_EXIT : LEFT_OUT;
}
static void count_records(struct file *f)
{
    for (uint32_t i = 0; i < f->trace->track_count; i++) {
        struct tv_call_cursor *cursor = tv_call_cursor_new(f->trace, i);
        struct tv_call_event event;
        bool kept = !f->keep || !f->keep->tracks || f->keep->tracks[i];
        tv_call_cursor_keep(cursor, f->keep ? f->keep->frames : NULL);
        while (kept && tv_call_cursor_next(cursor, &event)) {
            enum fate fate = decide(f, &event);
            struct record record = record_of(f, &event);
            if (fate == RECORDED)
                advance(&f->tracks[i], &record);
            f->records += fate != LEFT_OUT;
        }
        tv_call_cursor_free(cursor);
        f->tracks[i] = (struct progress){.first = f->tracks[i].first};
    }
}

/* A method that is not on the stack of a call; frame_count, which is none, when all are. */
static uint32_t find_stranger(const struct file *f, uint32_t path)
{
    const struct tv_path_node *nodes = f->trace->paths.nodes;
    uint32_t count = f->trace->head->frame_count, stranger = 0;
    bool *open = tv_alloc(count, sizeof *open);
    for (; path != TV_ROOT_PATH; path = nodes[path].parent)
        open[nodes[path].frame] = true;
    while (stranger < count && (open[stranger] || !is_listed(f, stranger)))
        stranger++;
    tv_free(open);
    return stranger;
}

static void announce(struct file *f, uint32_t thread, uint32_t frame)
{
    if (!is_streaming(f->target))
        return;
    if (!f->thread_written[thread])
        announce_thread(f, thread);
    if (frame < f->trace->head->frame_count && !f->frame_written[frame])
        announce_method(f, frame);
}

static void write_event(struct file *f, const struct tv_call_event *event)
{
    uint32_t frame = f->trace->paths.nodes[event->slice->path].frame;
    struct record record = record_of(f, event);
    enum tv_mt_action action = TV_MT_ENTER;
    enum fate fate = decide(f, event);
    if (fate == LEFT_OUT)
        return;
    if (event->exit)
        action = event->slice->flags & TV_SLICE_UNROLLED ? TV_MT_UNROLL : TV_MT_EXIT;
    if (fate == STRAY_EXIT) {
        record = last_record(f, event->track);
        frame = find_stranger(f, event->slice->path);
        f->losses->stray_exits++;
    }
    record.word = tv_mt_word(method_id(frame), action);
    announce(f, f->trace->tracks[event->track].thread, frame);
    add_record(f, &record);
}

static void write_records(struct file *f)
{
    struct tv_call_merge *merge = tv_call_merge_kept(f->trace, f->keep);
    struct tv_call_event event;
    while (tv_call_merge_next(merge, &event))
        write_event(f, &event);
    tv_call_merge_free(merge);
}

static void note_clocks(struct file *f)
{
    unsigned clocks = tv_head_clocks(f->trace->head);
    bool both = has_both_clocks(f->target);
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

/* What the calls that are written are of. */
static void find_used(const struct file *f, bool *threads, bool *frames)
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
                                   struct tv_trace_losses *losses, struct tv_error *err)
{
    const struct tv_head *head = trace->head;
    struct file f = {
        .out = out,
        .trace = trace,
        .target = options->target,
        .cpu = options->cpu,
        .closed = options->closed,
        .keep = options->keep,
        .losses = losses,
    };
    *losses = (struct tv_trace_losses){.inputs = 0};
    f.id = tv_alloc(head->thread_count, sizeof *f.id);
    f.thread_written = tv_alloc(head->thread_count, sizeof *f.thread_written);
    f.frame_written = tv_alloc(head->frame_count, sizeof *f.frame_written);
    f.tracks = tv_alloc(trace->track_count, sizeof *f.tracks);
    bool *used_threads = tv_alloc(head->thread_count, sizeof *used_threads);
    bool *used_frames = tv_alloc(head->frame_count, sizeof *used_frames);
    find_used(&f, used_threads, used_frames);
    f.used_threads = options->used ? used_threads : NULL;
    f.used_frames = options->used ? used_frames : NULL;
    for (uint32_t i = 0; i < trace->track_count; i++)
        find_first(&f, i);
    enum tv_status status = number_threads(&f, err);
    if (status == TV_OK) {
        note_clocks(&f);
        if (!is_streaming(f.target)) {
            count_records(&f);
            add_head(&f, out);
        }
        add_data_header(&f);
        write_records(&f);
        if (is_streaming(f.target))
            add_summary(&f);
    }
    tv_free(f.id);
    tv_free(f.thread_written);
    tv_free(f.frame_written);
    tv_free(f.tracks);
    tv_free(used_threads);
    tv_free(used_frames);
    return status;
}
