/* SPDX-License-Identifier: Apache-2.0 */
#include "te_made.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/source.h"
#include "model/builder/builder.h"
#include "model/trace.h"
#include "readers/trace_event/trace_event.h"
#include "unit.h"

#define FILES_MAX 8

struct te_made {
    struct tv_trace *trace;
    struct tv_source *sources[FILES_MAX];
    char *texts[FILES_MAX];
    size_t count;
};

/* ---- Writing the file ---- */

/* Append the lines of one kind: members (#) or events. */
static size_t add_lines(char *text, size_t size, size_t length, const char *lines, bool members)
{
    while (*lines != '\0') {
        size_t line = strcspn(lines, "\n");
        bool member = lines[0] == '#';
        if (member == members && line > 0)
            length += (size_t)snprintf(text + length, size - length, "%s%.*s%s,\n",
                                       member ? "" : "{\"pid\":1,\"tid\":2,\"cat\":\"c\",",
                                       (int)(line - member), lines + member, member ? "" : "}");
        lines += line + (lines[line] == '\n');
    }
    return length;
}

static char *write_file(const char *lines)
{
    size_t line_count = 1;
    for (const char *at = lines; *at != '\0'; at++)
        line_count += *at == '\n';
    size_t size = strlen(lines) + line_count * 40 + 64;
    char *text = tv_alloc(size, 1);
    size_t length = (size_t)snprintf(text, size, "{");
    length = add_lines(text, size, length, lines, true);
    length += (size_t)snprintf(text + length, size - length, "\"traceEvents\":[\n");
    length = add_lines(text, size, length, lines, false);
    if (text[length - 2] == ',')
        length -= 2;
    length += (size_t)snprintf(text + length, size - length, "]}");
    for (char *at = text; *at != '\0'; at++)
        if (*at == '\'')
            *at = '"';
    return text;
}

/* ---- Reading it ---- */

struct te_made *te_made_new(const char *const *files)
{
    struct te_made *made = tv_alloc(1, sizeof *made);
    struct tv_builder *builder = tv_builder_new(tv_trace_info_new());
    struct tv_read_options options = {.parts = 1};
    struct tv_error err;
    for (; *files != NULL; files++) {
        char *text = write_file(*files);
        struct tv_bytes bytes = {(const uint8_t *)text, strlen(text)};
        made->texts[made->count] = text;
        made->sources[made->count] = tv_source_from_memory(bytes, "made.json");
        assert_int_equal(
            tv_reader_trace_event.assemble(made->sources[made->count], builder, &options, &err),
            TV_OK);
        made->count++;
    }
    made->trace = tv_builder_finish(builder);
    return made;
}

struct tv_trace *te_made_trace(struct te_made *made)
{
    return made->trace;
}

struct tv_source *te_made_source(struct te_made *made, size_t nth)
{
    return made->sources[nth];
}

void te_made_free(struct te_made *made)
{
    tv_trace_free(made->trace);
    for (size_t i = 0; i < made->count; i++) {
        tv_source_free(made->sources[i]);
        tv_free(made->texts[i]);
    }
    tv_free(made);
}

/* ---- Telling what was made of it ---- */

struct answer {
    const struct tv_trace *trace;
    char *text;
    size_t length, capacity;
};

TV_PRINTF(2, 3) static void tell(struct answer *answer, const char *format, ...)
{
    va_list arguments;
    answer->text = tv_array_reserve(answer->text, &answer->capacity, answer->length + 400, 1);
    va_start(arguments, format);
    answer->length += (size_t)vsnprintf(answer->text + answer->length, 400, format, arguments);
    va_end(arguments);
}

static const char *string(const struct answer *answer, uint32_t number)
{
    return (const char *)tv_trace_info_text(answer->trace->head, number).data;
}

static const char *frame_name(const struct answer *answer, uint32_t frame)
{
    return string(answer, answer->trace->head->frames[frame].name);
}

/* Write microseconds, with digits after the point where there are any. */
static void te_made_put_time(struct answer *answer, int64_t ns)
{
    if (ns % 1000 == 0)
        tell(answer, "%lld", (long long)(ns / 1000));
    else
        tell(answer, "%.3f", (double)ns / 1000);
}

static void te_made_put_owner(struct answer *answer, uint32_t thread, uint32_t process)
{
    const struct tv_trace_info *head = answer->trace->head;
    if (thread != TV_NONE)
        tell(answer, " T%llu", (unsigned long long)head->threads[thread].id);
    else if (process != TV_NONE)
        tell(answer, " P%llu", (unsigned long long)head->processes[process].id);
    else
        tell(answer, " -");
}

/* Return a time of the axis as the file has it. */
static int64_t file_time(const struct answer *answer, uint32_t input, int64_t time)
{
    return time - answer->trace->offset[input];
}

static void te_made_put_async(struct answer *answer, uint32_t row, uint32_t index)
{
    const struct tv_trace *trace = answer->trace;
    const struct tv_row *r = &trace->rows[row];
    const struct tv_track *track = &trace->tracks[r->track];
    struct tv_slice slice = tv_slice_get(trace, row, index);
    const struct tv_async_extra *extra = tv_tables_async_extra(&trace->tables, row, index);
    uint32_t first, count;
    tell(answer, "async %*s%s", (int)r->depth * 2, "",
         string(answer, tv_path_frame(trace, slice.path)->name));
    te_made_put_owner(answer, track->thread, track->process);
    tell(answer, " ");
    te_made_put_time(answer, file_time(answer, r->input, slice.start));
    tell(answer, "+");
    te_made_put_time(answer, slice.length);
    if (extra != NULL && extra->id != TV_EMPTY_STRING)
        tell(answer, " %s", string(answer, extra->id));
    tell(answer, "%s%s%s\n", slice.flags & TV_SLICE_OPEN ? " open" : "",
         slice.flags & TV_SLICE_ENTERED_BEFORE ? " before" : "",
         extra != NULL && extra->group != TV_NONE ? " joined" : "");
    tv_slice_children(trace, row, index, &first, &count);
    for (uint32_t i = 0; i < count; i++)
        te_made_put_async(answer, row + 1, first + i);
}

/* Top slices, sorted by start, then by row. */
struct top {
    int64_t start;
    uint32_t row, index;
};

static int compare_tops(const void *left, const void *right)
{
    const struct top *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->row != b->row ? (a->row < b->row ? -1 : 1)
                            : (a->index > b->index) - (a->index < b->index);
}

static void te_made_put_asyncs(struct answer *answer)
{
    const struct tv_trace *trace = answer->trace;
    struct top *tops = NULL;
    size_t count = 0, capacity = 0;
    for (uint32_t row = 0; row < trace->row_count; row++) {
        if (trace->rows[row].depth > 0 ||
            trace->tracks[trace->rows[row].track].kind != TV_TRACK_ASYNC)
            continue;
        for (uint32_t i = 0; i < trace->rows[row].count; i++) {
            tops = tv_array_reserve(tops, &capacity, count + 1, sizeof *tops);
            tops[count++] = (struct top){tv_slice_start(trace, row, i), row, i};
        }
    }
    if (count > 0)
        qsort(tops, count, sizeof *tops, compare_tops);
    for (size_t i = 0; i < count; i++)
        te_made_put_async(answer, tops[i].row, tops[i].index);
    tv_free(tops);
}

static void te_made_put_state_track(struct answer *answer, const struct tv_track *track)
{
    const struct tv_trace *trace = answer->trace;
    for (uint32_t i = 0; i < track->slice_count; i++) {
        struct tv_slice slice = tv_slice_get(trace, track->first_row, i);
        const struct tv_frame *frame = tv_path_frame(trace, slice.path);
        if (track->kind == TV_TRACK_CPU)
            tell(answer, "cpu %s", string(answer, track->name));
        else
            tell(answer, "states");
        if (track->thread != TV_NONE)
            te_made_put_owner(answer, track->thread, TV_NONE);
        tell(answer, " %s", string(answer, frame->name));
        if (frame->colour != 0)
            tell(answer, "#%u", (unsigned)frame->colour);
        tell(answer, " ");
        te_made_put_time(answer, file_time(answer, track->input, slice.start));
        tell(answer, "+");
        te_made_put_time(answer, slice.length);
        tell(answer, "\n");
    }
}

static void te_made_put_state_tracks(struct answer *answer)
{
    for (uint32_t i = 0; i < answer->trace->track_count; i++) {
        const struct tv_track *track = &answer->trace->tracks[i];
        if (track->kind == TV_TRACK_CPU || track->kind == TV_TRACK_STATES)
            te_made_put_state_track(answer, track);
    }
}

static void te_made_put_blockings(struct answer *answer)
{
    for (size_t i = 0; i < answer->trace->tables.blockings.count; i++) {
        const struct tv_blocking *blocking = &answer->trace->tables.blockings.rows[i];
        tell(answer, "blocked");
        te_made_put_owner(answer, blocking->thread, TV_NONE);
        tell(answer, " %s%s ", string(answer, blocking->caller), blocking->io ? " io" : "");
        te_made_put_time(answer, blocking->time);
        tell(answer, "\n");
    }
}

static void te_made_put_flow_end(struct answer *answer, const struct tv_flow_end *end)
{
    tell(answer, tv_flow_end_is_instant(end) ? " !%s@" : " %s@",
         frame_name(answer, tv_flow_end_frame(answer->trace, end)));
    te_made_put_time(answer, end->time);
}

static void te_made_put_flows(struct answer *answer)
{
    for (size_t i = 0; i < answer->trace->tables.flows.count; i++) {
        const struct tv_flow *flow = &answer->trace->tables.flows.rows[i];
        tell(answer, "flow %s %s", frame_name(answer, flow->frame), string(answer, flow->id));
        te_made_put_flow_end(answer, &flow->from);
        tell(answer, " ->");
        te_made_put_flow_end(answer, &flow->to);
        tell(answer, "\n");
    }
}

static void te_made_put_snapshots(struct answer *answer, const struct tv_object *object)
{
    const struct tv_snapshot *rows = answer->trace->tables.snapshots.rows;
    for (uint32_t i = 0; i < object->snapshot_count; i++) {
        const struct tv_snapshot *snapshot = &rows[object->first_snapshot + i];
        tell(answer, i == 0 ? " snapshots " : ",");
        te_made_put_time(answer, snapshot->time);
        tell(answer, "%s", snapshot->inner ? "i" : "");
    }
}

static void te_made_put_objects(struct answer *answer)
{
    for (size_t i = 0; i < answer->trace->tables.objects.count; i++) {
        const struct tv_object *object = &answer->trace->tables.objects.rows[i];
        bool derived = object->base_type != TV_EMPTY_STRING;
        tell(answer, "object %s%s%s %s %s", string(answer, object->type), derived ? ":" : "",
             string(answer, object->base_type), string(answer, object->id),
             string(answer, object->scope));
        te_made_put_owner(answer, TV_NONE, object->process);
        tell(answer, " ");
        te_made_put_time(answer, object->created);
        tell(answer, "..");
        te_made_put_time(answer, object->deleted);
        tell(answer, "%s%s", object->flags & TV_OBJECT_CREATED ? " N" : "",
             object->flags & TV_OBJECT_DELETED ? " D" : "");
        te_made_put_snapshots(answer, object);
        tell(answer, "%s\n", object->group != TV_NONE ? " joined" : "");
    }
}

/* Write the frames of a path, the root first. */
static void te_made_put_path(struct answer *answer, uint32_t path)
{
    uint32_t parent = path == TV_ROOT_PATH ? TV_ROOT_PATH : answer->trace->paths.nodes[path].parent;
    if (path == TV_ROOT_PATH)
        return;
    te_made_put_path(answer, parent);
    const struct tv_frame *frame = tv_path_frame(answer->trace, path);
    tell(answer, "%s%s", parent == TV_ROOT_PATH ? "" : ";", string(answer, frame->name));
    if (frame->file != TV_EMPTY_STRING)
        tell(answer, "(%s:%d)", string(answer, frame->file), (int)frame->line);
}

static void te_made_put_samples(struct answer *answer)
{
    for (size_t i = 0; i < answer->trace->tables.samples.count; i++) {
        const struct tv_sample *sample = &answer->trace->tables.samples.rows[i];
        tell(answer, "sample ");
        te_made_put_time(answer, sample->time);
        te_made_put_owner(answer, sample->thread, TV_NONE);
        if (sample->cpu != TV_NONE)
            tell(answer, " cpu %u", (unsigned)sample->cpu);
        tell(answer, " weight %lld ", (long long)sample->weight);
        te_made_put_path(answer, sample->path);
        tell(answer, " \"%s\"\n", string(answer, tv_sample_title(&answer->trace->tables, sample)));
    }
}

static void te_made_put_dumps(struct answer *answer)
{
    for (size_t i = 0; i < answer->trace->tables.memory_dumps.count; i++) {
        const struct tv_memory_dump *dump = &answer->trace->tables.memory_dumps.rows[i];
        tell(answer, "dump ");
        te_made_put_time(answer, dump->time);
        te_made_put_owner(answer, TV_NONE, dump->process);
        tell(answer, " %s %s\n", string(answer, dump->id), string(answer, dump->level));
        for (uint32_t f = 0; f < dump->figure_count; f++) {
            const struct tv_memory_figure *figure =
                &answer->trace->tables.memory_figures.rows[dump->first_figure + f];
            tell(answer, "  %s %s %g %s\n", string(answer, figure->of),
                 string(answer, figure->name), figure->value, string(answer, figure->units));
        }
    }
}

static void te_made_put_contexts(struct answer *answer)
{
    for (size_t i = 0; i < answer->trace->tables.contexts.count; i++) {
        const struct tv_context *context = &answer->trace->tables.contexts.rows[i];
        tell(answer, "context");
        te_made_put_owner(answer, context->thread, TV_NONE);
        tell(answer, " %s %s ", string(answer, context->type), string(answer, context->id));
        te_made_put_time(answer, context->start);
        tell(answer, "..");
        te_made_put_time(answer, context->end);
        tell(answer, "\n");
    }
}

static void te_made_put_diagnostics(struct answer *answer)
{
    for (unsigned kind = 0; kind < TV_DIAGNOSTIC_COUNT; kind++) {
        uint64_t count = answer->trace->head->diagnostics.kinds[kind].count;
        if (count > 0)
            tell(answer, "! %s %llu\n", tv_diagnostic_name((enum tv_diagnostic_kind)kind),
                 (unsigned long long)count);
    }
}

void te_made_assert(const char *file, const char *expected)
{
    struct te_made *made = te_made_new((const char *const[]){file, NULL});
    struct answer answer = {.trace = made->trace};
    tell(&answer, "%s", "");
    te_made_put_asyncs(&answer);
    te_made_put_state_tracks(&answer);
    te_made_put_blockings(&answer);
    te_made_put_flows(&answer);
    te_made_put_objects(&answer);
    te_made_put_samples(&answer);
    te_made_put_dumps(&answer);
    te_made_put_contexts(&answer);
    te_made_put_diagnostics(&answer);
    assert_string_equal(answer.text, expected);
    tv_free(answer.text);
    te_made_free(made);
}
