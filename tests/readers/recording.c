/* SPDX-License-Identifier: Apache-2.0 */
#include "recording.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "model/builder/builder.h"

/* ---- The sink ---- */

static void drop_parts(struct recording *recording)
{
    for (unsigned i = 0; i < recording->parts; i++)
        tv_free(recording->part[i].events);
    tv_free(recording->part);
}

static void begin(struct tv_sink *sink, struct tv_trace_info *head, uint32_t input, unsigned parts)
{
    struct recording *recording = (struct recording *)sink;
    (void)head;
    (void)input;
    recording->begins++;
    if (recording->ops.writes && recording->begins > 1)
        return;
    drop_parts(recording);
    recording->parts = parts;
    recording->part = tv_alloc(parts, sizeof *recording->part);
}

static void keep(struct recorded_part *part, const struct tv_batch *batch)
{
    part->events = tv_array_reserve(part->events, &part->capacity, part->count + batch->count,
                                    sizeof *part->events);
    for (size_t i = 0; i < batch->count; i++)
        part->events[part->count++] =
            (struct recorded){tv_batch_offset(batch, i), batch->events[i]};
}

static bool same(const struct recorded *a, const struct recorded *b)
{
    return a->offset == b->offset && a->event.wall == b->event.wall &&
           a->event.cpu == b->event.cpu && a->event.thread == b->event.thread &&
           a->event.action == b->event.action && a->event.frame == b->event.frame;
}

static void compare(struct recording *recording, struct recorded_part *part,
                    const struct tv_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++, part->again++) {
        struct recorded now = {tv_batch_offset(batch, i), batch->events[i]};
        if (part->again >= part->count || !same(&now, &part->events[part->again]))
            recording->passes_differ++;
    }
}

static void take(struct tv_sink *sink, unsigned pass, unsigned part, const struct tv_batch *batch)
{
    struct recording *recording = (struct recording *)sink;
    if (pass == 0)
        keep(&recording->part[part], batch);
    else
        compare(recording, &recording->part[part], batch);
}

static enum tv_stitch_result stitch(struct tv_sink *sink, unsigned pass)
{
    struct recording *recording = (struct recording *)sink;
    for (unsigned i = 0; pass == 1 && i < recording->parts; i++)
        if (recording->part[i].again != recording->part[i].count)
            recording->passes_differ++;
    return TV_STITCH_DONE;
}

static void end(struct tv_sink *sink)
{
    (void)sink;
}

static void build(struct recording *recording, struct tv_source *source,
                  const struct tv_read_options *options)
{
    struct tv_builder *builder = tv_builder_new(recording->head);
    recording->status = tv_readers_build(source, builder, options, &recording->error);
    recording->trace = tv_builder_finish(builder);
}

struct recording *recording_read(struct tv_source *source, unsigned parts, const uint64_t *starts,
                                 enum recording_style style)
{
    struct recording *recording = tv_alloc(1, sizeof *recording);
    struct tv_read_options options = {.parts = parts, .part_starts = starts};
    if (style == RECORDING_AT_ONCE)
        options.ahead = TV_AHEAD_LISTED;
    if (style == RECORDING_AT_LAST)
        options.ahead = TV_AHEAD_ALL;
    recording->ops = (struct tv_sink_ops){
        .passes = style == RECORDING_TWO_PASS ? 2 : 1,
        .writes = style >= RECORDING_WRITES && style <= RECORDING_AT_LAST,
        .begin = begin,
        .take = take,
        .stitch = stitch,
        .end = end,
    };
    recording->sink.ops = &recording->ops;
    recording->head = tv_trace_info_new();
    struct tv_error reason;
    if (tv_readers_find(source, &reason) && !tv_readers_can_stream(source))
        build(recording, source, &options);
    else
        recording->status =
            tv_readers_read(source, recording->head, &recording->sink, &options, &recording->error);
    return recording;
}

void recording_free(struct recording *recording)
{
    drop_parts(recording);
    if (recording->trace)
        tv_trace_free(recording->trace);
    else
        tv_trace_info_free(recording->head);
    tv_free(recording);
}

size_t recording_count(const struct recording *recording)
{
    size_t count = 0;
    for (unsigned i = 0; i < recording->parts; i++)
        count += recording->part[i].count;
    return count;
}

struct recorded *recording_all(const struct recording *recording, size_t *count)
{
    struct recorded *all = tv_alloc(recording_count(recording), sizeof *all);
    *count = 0;
    for (unsigned i = 0; i < recording->parts; i++) {
        const struct recorded_part *part = &recording->part[i];
        if (part->count > 0)
            memcpy(all + *count, part->events, part->count * sizeof *all);
        *count += part->count;
    }
    return all;
}

/* ---- Print ---- */

static void print_string(const struct tv_trace_info *head, struct tv_out *out, uint32_t string)
{
    tv_out_bytes(out, tv_trace_info_text(head, string));
}

static void print_fact(struct tv_out *out, const char *name, int64_t value, int64_t none,
                       const char *unit)
{
    if (value != none)
        tv_out_format(out, "%s %" PRId64 "%s\n", name, value, unit);
}

static void print_input(const struct tv_trace_info *head, struct tv_out *out)
{
    static const char *const clocks[] = {"no clock", "wall", "cpu", "wall and cpu"};
    const struct tv_input *input = &head->inputs[0];
    tv_out_format(out, "version %s, %s, ticks of %" PRId64 " ns\n",
                  (const char *)tv_trace_info_text(head, input->version).data,
                  clocks[input->clocks & 3], input->tick_ns);
    print_fact(out, "recorded", input->recorded_us, 0, " us after 1970");
    print_fact(out, "recorded", input->boot_us, 0, " us after boot");
    print_fact(out, "elapsed", input->elapsed_ns, -1, " ns");
    print_fact(out, "announced", input->announced, -1, " records");
    print_fact(out, "overflow", input->overflow, 0, "");
    print_fact(out, "weight axis", input->weight_axis, 0, "");
    print_fact(out, "samples", (int64_t)input->samples, 0, "");
    print_fact(out, "sampled each", input->sampled_ns, 0, " ns");
    if (head->processes[0].id != 0)
        tv_out_format(out, "process %" PRIu64 "\n", head->processes[0].id);
}

static void print_head(const struct tv_trace_info *head, struct tv_out *out)
{
    print_input(head, out);
    for (uint32_t i = 0; i < head->metadata_count; i++) {
        tv_out_text(out, "key ");
        print_string(head, out, head->metadata[i].key);
        tv_out_text(out, "=");
        print_string(head, out, head->metadata[i].value);
        tv_out_text(out, "\n");
    }
    for (uint32_t i = 0; i < head->thread_count; i++) {
        tv_out_format(out, "thread %" PRIu64 " ", head->threads[i].id);
        print_string(head, out, head->threads[i].name);
        tv_out_text(out, head->threads[i].listed ? "\n" : " unlisted\n");
    }
    for (uint32_t i = 0; i < head->frame_count; i++) {
        const struct tv_frame *frame = &head->frames[i];
        uint32_t fields[] = {frame->class_name, frame->name, frame->signature, frame->file};
        tv_out_text(out, "method");
        for (size_t k = 0; k < TV_COUNT(fields); k++) {
            tv_out_text(out, " ");
            tv_out_text(out, fields[k] == TV_EMPTY_STRING ? "-" : "");
            print_string(head, out, fields[k]);
        }
        tv_out_format(out, " %" PRId32 "\n", frame->line);
    }
}

static void print_event(const struct tv_trace_info *head, struct tv_out *out,
                        const struct recorded *recorded)
{
    static const char *const actions[] = {"enter", "exit", "unroll"};
    const struct tv_event *event = &recorded->event;
    print_string(head, out, head->threads[event->thread].name);
    tv_out_format(out, " %s ", actions[event->action]);
    if (event->frame == TV_ANY_FRAME) {
        tv_out_text(out, "?");
    } else {
        const struct tv_frame *frame = &head->frames[event->frame];
        print_string(head, out, frame->class_name);
        tv_out_text(out, frame->class_name == TV_EMPTY_STRING ? "" : ".");
        print_string(head, out, frame->name);
    }
    tv_out_format(out, " %" PRId64 " %" PRId64 " at %" PRIu64 "\n", event->wall, event->cpu,
                  recorded->offset);
}

static void print_stack(const struct tv_trace *trace, struct tv_out *out, uint32_t path)
{
    if (trace->paths.nodes[path].parent != TV_ROOT_PATH) {
        print_stack(trace, out, trace->paths.nodes[path].parent);
        tv_out_text(out, ";");
    }
    const struct tv_frame *frame = &trace->head->frames[trace->paths.nodes[path].frame];
    print_string(trace->head, out, frame->class_name);
    tv_out_text(out, frame->class_name == TV_EMPTY_STRING ? "" : ".");
    print_string(trace->head, out, frame->name);
    if (frame->with_line)
        tv_out_format(out, ":%" PRId32, frame->line);
}

/* "main 84 samples from 542 app.Main.main:3 at 12" */
static void print_samples(const struct tv_trace *trace, struct tv_out *out)
{
    for (size_t i = 0; i < trace->tables.samples.count; i++) {
        const struct tv_sample *sample = &trace->tables.samples.rows[i];
        const struct tv_value_type *type = &trace->tables.value_types.rows[sample->type];
        print_string(trace->head, out, trace->head->threads[sample->thread].name);
        tv_out_format(out, " %" PRId64 " ", sample->weight);
        print_string(trace->head, out, type->unit);
        tv_out_format(out, " from %" PRId64 " ", sample->time);
        print_stack(trace, out, sample->line_path);
        tv_out_format(out, " at %" PRIu64 "\n", sample->offset);
    }
}

static void print_end(const struct tv_trace_info *head, struct tv_out *out)
{
    const struct tv_input *input = &head->inputs[0];
    tv_out_format(out,
                  "end %" PRIu64 " records, %" PRIu64 " unrolls, last %" PRId64 " %" PRId64 "\n",
                  input->records, input->unrolls, input->last_wall, input->last_cpu);
    for (size_t i = 0; i < TV_DIAGNOSTIC_COUNT; i++) {
        const struct tv_diagnostic *diagnostic = &head->diagnostics.kinds[i];
        if (diagnostic->count == 0)
            continue;
        tv_out_format(out, "diagnostic %s %" PRIu64, tv_diagnostic_name((enum tv_diagnostic_kind)i),
                      diagnostic->count);
        for (uint32_t k = 0; k < diagnostic->offset_count; k++)
            tv_out_format(out, "%s %" PRIu64, k == 0 ? " at" : "", diagnostic->places->offsets[k]);
        tv_out_text(out, "\n");
    }
}

static void print_error(const struct recording *recording, struct tv_out *out)
{
    char text[sizeof recording->error.message + 32];
    tv_out_format(out, "error %s\n", tv_error_text(&recording->error, text, sizeof text));
}

void recording_print(const struct recording *recording, struct tv_out *out)
{
    if (recording->status != TV_OK) {
        print_error(recording, out);
        return;
    }
    size_t count;
    struct recorded *all = recording_all(recording, &count);
    print_head(recording->head, out);
    for (size_t i = 0; i < count; i++)
        print_event(recording->head, out, &all[i]);
    if (recording->trace)
        print_samples(recording->trace, out);
    print_end(recording->head, out);
    tv_free(all);
}

void recording_print_by_thread(const struct recording *recording, struct tv_out *out)
{
    if (recording->status != TV_OK) {
        print_error(recording, out);
        return;
    }
    size_t count;
    struct recorded *all = recording_all(recording, &count);
    print_head(recording->head, out);
    for (uint32_t thread = 0; thread < recording->head->thread_count; thread++)
        for (size_t i = 0; i < count; i++)
            if (all[i].event.thread == thread)
                print_event(recording->head, out, &all[i]);
    if (recording->trace)
        print_samples(recording->trace, out);
    print_end(recording->head, out);
    tv_free(all);
}
