/* SPDX-License-Identifier: Apache-2.0 */
#include "writers/trace_event.h"

#include "base/intern.h"
#include "base/memory.h"
#include "writers/calls.h"
#include "writers/names.h"

#define US 1000

static void add_us(struct tv_out *out, const char *key, tv_ns time)
{
    tv_out_format(out, ",\"%s\":", key);
    tv_out_time(out, time, US, 3);
}

static void add_ids(struct tv_out *out, const struct tv_head *head, uint32_t thread)
{
    const struct tv_thread *t = &head->threads[thread];
    unsigned long long pid = t->process < head->process_count ? head->processes[t->process].id : 0;
    tv_out_format(out, ",\"pid\":%llu,\"tid\":%llu", pid, (unsigned long long)t->id);
}

/* What parts an event from the one before. */
static void separate(struct tv_out *out, bool *any)
{
    tv_out_text(out, *any ? ",\n" : "\n");
    *any = true;
}

static void add_metadata(struct tv_out *out, const struct tv_head *head, bool *any)
{
    for (uint32_t i = 0; i < head->process_count; i++) {
        if (head->processes[i].name == TV_EMPTY_STRING)
            continue;
        separate(out, any);
        tv_out_format(out, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%llu,\"tid\":0,",
                      (unsigned long long)head->processes[i].id);
        tv_out_text(out, "\"args\":{\"name\":");
        tv_out_json(out, tv_head_text(head, head->processes[i].name));
        tv_out_text(out, "}}");
    }
    for (uint32_t i = 0; i < head->thread_count; i++) {
        separate(out, any);
        tv_out_text(out, "{\"ph\":\"M\",\"name\":\"thread_name\"");
        add_ids(out, head, i);
        tv_out_text(out, ",\"args\":{\"name\":");
        tv_out_json(out, tv_head_text(head, head->threads[i].name));
        tv_out_text(out, "}}");
    }
}

static void add_text_arg(struct tv_out *out, const struct tv_head *head, const char *key,
                         uint32_t text, bool *any)
{
    if (text == TV_EMPTY_STRING)
        return;
    tv_out_format(out, "%s\"%s\":", *any ? "," : "", key);
    tv_out_json(out, tv_head_text(head, text));
    *any = true;
}

static void add_flag_arg(struct tv_out *out, const char *key, bool set, bool *any)
{
    if (!set)
        return;
    tv_out_format(out, "%s\"%s\":true", *any ? "," : "", key);
    *any = true;
}

static void add_args(struct tv_out *out, const struct tv_head *head, const struct tv_frame *frame,
                     uint32_t flags)
{
    bool any = false;
    tv_out_text(out, ",\"args\":{");
    add_text_arg(out, head, "signature", frame->signature, &any);
    add_text_arg(out, head, "file", frame->file, &any);
    if (frame->line > 0) {
        tv_out_format(out, "%s\"line\":%d", any ? "," : "", (int)frame->line);
        any = true;
    }
    add_flag_arg(out, "unrolled", flags & TV_SLICE_UNROLLED, &any);
    add_flag_arg(out, "entered_before", flags & TV_SLICE_ENTERED_BEFORE, &any);
    add_flag_arg(out, "open", flags & TV_SLICE_OPEN, &any);
    add_flag_arg(out, "missing_exit", flags & TV_SLICE_MISSING_EXIT, &any);
    tv_out_char(out, '}');
}

static void add_name(struct tv_out *out, const struct tv_head *head, const struct tv_frame *frame)
{
    struct tv_out name;
    tv_out_init_memory(&name);
    tv_names_method(&name, head, frame);
    tv_out_json(out, (struct tv_bytes){name.buffer, name.length});
    tv_out_release(&name);
}

static void add_call(struct tv_out *out, const struct tv_trace *trace,
                     const struct tv_call_event *event)
{
    const struct tv_slice *slice = event->slice;
    const struct tv_frame *frame = tv_path_frame(trace, slice->path);
    uint32_t thread = trace->tracks[event->track].thread;
    unsigned clocks = trace->head->inputs[trace->tracks[event->track].input].clocks;
    tv_out_text(out, "{\"ph\":\"X\",\"cat\":\"method\",\"name\":");
    add_name(out, trace->head, frame);
    add_ids(out, trace->head, thread);
    add_us(out, "ts", slice->start);
    add_us(out, "dur", slice->length);
    if ((clocks & TV_CLOCK_CPU) && (clocks & TV_CLOCK_WALL)) {
        add_us(out, "tts", slice->cpu_start);
        add_us(out, "tdur", slice->cpu_length);
    }
    add_args(out, trace->head, frame, slice->flags);
    tv_out_char(out, '}');
}

static void add_other_data(struct tv_out *out, const struct tv_head *head)
{
    tv_out_text(out, "\n],\"displayTimeUnit\":\"ns\",\"otherData\":{");
    for (uint32_t i = 0, any = 0; i < head->metadata_count; i++) {
        if (head->metadata[i].input != 0)
            continue;
        tv_out_text(out, any ? ",\n" : "\n");
        tv_out_json(out, tv_head_text(head, head->metadata[i].key));
        tv_out_char(out, ':');
        tv_out_json(out, tv_head_text(head, head->metadata[i].value));
        any = 1;
    }
    tv_out_text(out, "}}\n");
}

/* Frames with calls whose name an earlier one of them has as well. */
static uint64_t count_namesakes(const struct tv_trace *trace)
{
    const struct tv_head *head = trace->head;
    struct tv_interner *names = tv_interner_new();
    bool *seen = tv_alloc(head->frame_count, sizeof *seen);
    uint64_t count = 0;
    struct tv_out text;
    tv_out_init_memory(&text);
    for (uint32_t i = 1; i < trace->paths.count; i++) {
        uint32_t frame = trace->paths.nodes[i].frame;
        if (seen[frame])
            continue;
        seen[frame] = true;
        text.length = 0;
        tv_names_method(&text, head, &head->frames[frame]);
        struct tv_bytes name = {text.buffer, text.length};
        count += text.length > 0 && tv_interner_find(names, name) != TV_NONE;
        tv_interner_add(names, name);
    }
    tv_out_release(&text);
    tv_free(seen);
    tv_interner_free(names);
    return count;
}

void tv_trace_event_write(struct tv_out *out, const struct tv_trace *trace,
                          const struct tv_keep *keep, struct tv_trace_event_losses *losses)
{
    bool any = false;
    struct tv_call_merge *merge = tv_call_merge_kept(trace, keep);
    struct tv_call_event event;
    *losses = (struct tv_trace_event_losses){.namesakes = count_namesakes(trace)};
    tv_out_text(out, "{\"traceEvents\":[");
    add_metadata(out, trace->head, &any);
    while (tv_call_merge_next(merge, &event)) {
        if (event.exit)
            continue;
        if (!tv_track_has_calls(&trace->tracks[event.track])) {
            losses->async++;
            continue;
        }
        separate(out, &any);
        add_call(out, trace, &event);
    }
    tv_call_merge_free(merge);
    add_other_data(out, trace->head);
}
