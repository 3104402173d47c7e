/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_files.c - samples as speedscope and .cpuprofile files, and all that Firefox files need,
 * too.
 *
 *     samples of the table --> selected, sorted by (thread, value type, time) --> groups
 *
 * A group becomes one profile, because these formats have one kind of weight for each.  The formats
 * differ in how they store stacks:
 *
 *     speedscope               a list of frames, and each sample as numbers of frames
 *     Firefox, .cpuprofile     a tree of nodes (parent, frame), and each sample as a node
 *
 * `numbers` maps the frames, or the paths, of the model to the numbers in the file, which has only
 * the used ones.  A parent has a smaller number than its children in the model, and so in the file.
 */
#include "writers/trace/sample_files_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/calltree/sample_values.h"
#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"
#include "writers/text/names.h"
#include "writers/trace/calls.h"

/* Return a sample by its position in `order`. */
const struct tv_sample *tv_sample_file_row(const struct sample_file *file, size_t at)
{
    return &file->trace->tables.samples.rows[file->order[at]];
}

/* Return true when the thread is selected; no thread belongs to no selection. */
bool tv_sample_file_has_thread(const struct sample_file *file, uint32_t thread)
{
    const struct tv_subset *keep = file->keep;
    if (thread == TV_NONE)
        return !keep->threads && !keep->processes;
    return (!keep->threads || keep->threads[thread]) &&
           tv_subset_has_process(keep, tv_thread_process(file->trace->head, thread));
}

/* ---- Groups ---- */

/* A sample with what it is sorted by. */
struct sample_key {
    uint32_t thread, type, row;
};

/* Order by thread and type, then as in the table, which is the order of time. */
static int sample_keys_compare(const void *left, const void *right)
{
    const struct sample_key *a = left, *b = right;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->type != b->type)
        return a->type < b->type ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* Select and group the samples.  The table is sorted by input and time. */
static void sample_file_group(struct sample_file *file)
{
    const struct tv_tables *tables = &file->trace->tables;
    struct sample_key *keys = tv_alloc(tables->samples.count, sizeof *keys);
    size_t count = 0;
    for (size_t i = 0; i < tables->samples.count; i++) {
        const struct tv_sample *sample = &tables->samples.rows[i];
        if (tv_sample_file_has_thread(file, sample->thread) &&
            tv_subset_has_type(file->keep, sample->type))
            keys[count++] = (struct sample_key){sample->thread, sample->type, (uint32_t)i};
    }
    qsort(keys, count, sizeof *keys, sample_keys_compare);
    file->order = tv_alloc(count, sizeof *file->order);
    file->order_count = count;
    for (size_t i = 0; i < count; i++) {
        file->order[i] = keys[i].row;
        if (i == 0 || keys[i].thread != keys[i - 1].thread || keys[i].type != keys[i - 1].type) {
            file->groups = tv_array_reserve(file->groups, &file->group_capacity,
                                            file->group_count + 1, sizeof *file->groups);
            file->groups[file->group_count++] =
                (struct sample_group){i, 0, keys[i].thread, keys[i].type};
        }
        file->groups[file->group_count - 1].count++;
    }
    tv_free(keys);
}

/* Return a text of the trace. */
struct tv_bytes tv_sample_file_text(const struct sample_file *file, uint32_t string)
{
    return tv_trace_info_text(file->trace->head, string);
}

/* Return the value type of a group. */
const struct tv_value_type *tv_sample_group_type(const struct sample_file *file,
                                                 const struct sample_group *group)
{
    return &file->trace->tables.value_types.rows[group->type];
}

/* Return the largest group of the value type that is shown first, or of all if the selection has
 * none of it; the first one of equals.  There is at least one group. */
static size_t sample_file_main_group(const struct sample_file *file)
{
    struct tv_sample_values values = tv_sample_values_of(file->trace);
    const struct tv_sample_value *shown = tv_sample_values_default(&values);
    size_t best = 0;
    bool best_is_shown = false;
    assert(file->group_count > 0 && shown);
    for (size_t i = 0; i < file->group_count; i++) {
        const struct sample_group *group = &file->groups[i];
        bool is_shown = tv_sample_group_type(file, group)->name == shown->name;
        if (i == 0 || is_shown > best_is_shown ||
            (is_shown == best_is_shown && group->count > file->groups[best].count)) {
            best = i;
            best_is_shown = is_shown;
        }
    }
    tv_sample_values_release(&values);
    return best;
}

enum tv_unit_kind tv_sample_group_unit(const struct sample_file *file,
                                       const struct sample_group *group, int64_t *times)
{
    return tv_unit_kind_of(tv_sample_file_text(file, tv_sample_group_type(file, group)->unit),
                           times);
}

/* Return the name of a thread's process as a string of the trace. */
static uint32_t sample_file_process_name(const struct tv_trace_info *head, uint32_t thread)
{
    uint32_t owner = tv_thread_process(head, thread);
    return owner == TV_NONE ? TV_EMPTY_STRING : head->processes[owner].name;
}

/* Find the threads that only their ids tell apart. */
static void sample_file_find_shared_names(struct sample_file *file)
{
    const struct tv_trace_info *head = file->trace->head;
    struct tv_map first; /* names of process and thread -> thread */
    tv_map_init(&first);
    file->shared_names = tv_alloc(head->thread_count, sizeof *file->shared_names);
    for (uint32_t i = 0; i < head->thread_count; i++) {
        uint64_t key = (uint64_t)sample_file_process_name(head, i) << 32 | head->threads[i].name;
        uint32_t other = tv_map_add(&first, key, i);
        if (other != i)
            file->shared_names[i] = file->shared_names[other] = true;
    }
    tv_map_release(&first);
}

/* Write " (process id/thread id)". */
static void sample_file_write_ids(struct tv_out *out, const struct tv_trace_info *head,
                                  uint32_t thread)
{
    uint32_t owner = tv_thread_process(head, thread);
    uint64_t process = owner == TV_NONE ? 0 : head->processes[owner].id;
    tv_out_format(out, " (%llu/%llu)", (unsigned long long)process,
                  (unsigned long long)head->threads[thread].id);
}

/* Write the name of a thread, and of the value type when the thread has several. */
void tv_sample_file_write_name(const struct sample_file *file, uint32_t thread,
                               const struct sample_group *group)
{
    const struct tv_trace_info *head = file->trace->head;
    struct tv_out name;
    bool several = false;
    tv_out_init_memory(&name);
    if (thread == TV_NONE) {
        tv_out_text(&name, "unknown thread");
    } else {
        const struct tv_thread *row = &head->threads[thread];
        struct tv_bytes process = tv_sample_file_text(file, sample_file_process_name(head, thread));
        tv_out_bytes(&name, process);
        tv_out_text(&name, process.length > 0 ? " / " : "");
        tv_out_bytes(&name, tv_sample_file_text(file, row->name));
        if (row->name == TV_EMPTY_STRING)
            tv_out_u64(&name, row->id);
        if (file->shared_names && file->shared_names[thread])
            sample_file_write_ids(&name, head, thread);
    }
    for (size_t i = 0; group && i < file->group_count; i++)
        several = several || (file->groups[i].thread == thread && &file->groups[i] != group);
    if (several) {
        tv_out_text(&name, " (");
        tv_out_bytes(&name, tv_sample_file_text(file, tv_sample_group_type(file, group)->name));
        tv_out_char(&name, ')');
    }
    tv_out_json(file->out, (struct tv_bytes){name.buffer, name.length});
    tv_out_release(&name);
}

/* Write the value type of a group, which the formats have no member for: viewers skip what they do
 * not know, and our readers take name and unit from it. */
void tv_sample_file_write_type(const struct sample_file *file, const struct sample_group *group)
{
    tv_out_text(file->out, "\"valueType\":");
    tv_out_json(file->out, tv_sample_file_text(file, tv_sample_group_type(file, group)->name));
    tv_out_text(file->out, ",\"valueUnit\":");
    int64_t times;
    enum tv_unit_kind unit = tv_sample_group_unit(file, group, &times);
    tv_out_json(file->out,
                unit == TV_UNIT_TIME ? TV_BYTES("nanoseconds")
                : unit == TV_UNIT_BYTES
                    ? TV_BYTES("bytes")
                    : tv_sample_file_text(file, tv_sample_group_type(file, group)->unit));
}

/* ---- Frames ---- */

/* Number the frames of the selected samples and of all calls, in the order of the model. */
static void sample_file_number_frames(struct sample_file *file, bool calls)
{
    const struct tv_trace *trace = file->trace;
    uint32_t frames = trace->head->frame_count, next = 0;
    bool *used = tv_alloc(trace->paths.count, sizeof *used);
    file->numbers = tv_alloc(frames, sizeof *file->numbers);
    memset(file->numbers, 0xff, frames * sizeof *file->numbers);
    for (size_t i = 0; i < file->order_count; i++)
        used[tv_sample_file_row(file, i)->path] = true;
    for (uint32_t path = trace->paths.count - 1; path > 0; path--)
        if (used[path]) {
            used[trace->paths.nodes[path].parent] = true;
            file->numbers[trace->paths.nodes[path].frame] = 0;
        }
    for (uint32_t i = 0; i < frames; i++)
        if (file->numbers[i] == 0 || (calls && !trace->head->frames[i].with_line))
            file->numbers[i] = next++;
    tv_free(used);
}

/* ---- speedscope ---- */

/* Write the list of frames. Their numbers are the positions in this list. */
static void speedscope_write_frames(const struct sample_file *file)
{
    const struct tv_trace_info *head = file->trace->head;
    bool first = true;
    for (uint32_t i = 0; i < head->frame_count; i++) {
        const struct tv_frame *frame = &head->frames[i];
        if (file->numbers[i] == TV_NONE)
            continue;
        tv_out_text(file->out, first ? "\n{\"name\":" : ",\n{\"name\":");
        first = false;
        tv_json_put_function(file->out, file->trace->head, frame);
        if (frame->file != TV_EMPTY_STRING) {
            tv_out_text(file->out, ",\"file\":");
            tv_out_json(file->out, tv_sample_file_text(file, frame->file));
        }
        if (frame->line > 0)
            tv_out_format(file->out, ",\"line\":%d", (int)frame->line);
        if (frame->column > 0)
            tv_out_format(file->out, ",\"col\":%d", (int)frame->column);
        tv_out_char(file->out, '}');
    }
}

/* Write a stack from the root. */
static void speedscope_write_stack(const struct sample_file *file, uint32_t path, uint32_t *way)
{
    const struct tv_path_node *nodes = file->trace->paths.nodes;
    size_t depth = 0;
    for (; path != TV_ROOT_PATH; path = nodes[path].parent)
        way[depth++] = file->numbers[nodes[path].frame];
    tv_out_char(file->out, '[');
    while (depth-- > 0) {
        assert(way[depth] != TV_NONE);
        tv_out_u64(file->out, way[depth]);
        if (depth > 0)
            tv_out_char(file->out, ',');
    }
    tv_out_char(file->out, ']');
}

/* Return the weight that is written: the format has none below 0. */
static int64_t sample_file_weight(const struct sample_file *file, size_t at)
{
    int64_t weight = tv_sample_file_row(file, at)->weight;
    file->losses->negative += weight < 0;
    return weight < 0 ? 0 : weight;
}

/* Write a profile of samples. Speedscope places each sample after the one before, by weight. */
static void speedscope_write_group(const struct sample_file *file, const struct sample_group *group)
{
    uint32_t *way = tv_alloc(file->trace->paths.count, sizeof *way);
    int64_t sum = 0;
    tv_out_text(file->out, "{\"type\":\"sampled\",\"name\":");
    tv_sample_file_write_name(file, group->thread, group);
    tv_out_text(file->out, ",\"unit\":\"");
    int64_t times;
    enum tv_unit_kind unit = tv_sample_group_unit(file, group, &times);
    tv_out_text(file->out, unit == TV_UNIT_TIME    ? "nanoseconds"
                           : unit == TV_UNIT_BYTES ? "bytes"
                                                   : "none");
    tv_out_text(file->out, "\",");
    tv_sample_file_write_type(file, group);
    tv_out_text(file->out, ",\"startValue\":0,\n\"samples\":[");
    for (size_t i = 0; i < group->count; i++) {
        tv_out_text(file->out, i > 0 ? "," : "");
        speedscope_write_stack(file, tv_sample_file_row(file, group->first + i)->path, way);
    }
    tv_out_text(file->out, "],\n\"weights\":[");
    for (size_t i = 0; i < group->count; i++) {
        int64_t weight = tv_time_times(sample_file_weight(file, group->first + i), times);
        tv_out_text(file->out, i > 0 ? "," : "");
        tv_out_i64(file->out, weight);
        sum = weight > INT64_MAX - sum ? INT64_MAX : sum + weight;
    }
    tv_out_format(file->out, "],\"endValue\":%lld}", (long long)sum);
    const struct tv_input *inputs = file->trace->head->inputs;
    if (!inputs[tv_sample_group_type(file, group)->input].weight_axis)
        file->losses->times += group->count;
    tv_free(way);
}

/* Return true for a track of calls. Thread states and what a processor ran are no functions, and a
 * profile of speedscope or Firefox belongs to a thread. */
bool tv_sample_file_has_track(const struct sample_file *file, const struct tv_track *track)
{
    return !file->keep->types && track->thread != TV_NONE && track->kind != TV_TRACK_STATES &&
           track->kind != TV_TRACK_CPU && tv_sample_file_has_thread(file, track->thread);
}

/* Write the calls of a track as entries and exits.  A track without selected calls leaves no
 * profile, so the head is written with the first event. */
static void speedscope_write_track(const struct sample_file *file, uint32_t track, bool *first)
{
    struct tv_call_cursor *cursor = tv_call_cursor_new(file->trace, track);
    struct tv_call_event event;
    tv_ns last = 0;
    bool any = false;
    tv_call_cursor_select(cursor, file->keep->frames);
    while (tv_call_cursor_next(cursor, &event)) {
        if (!any) {
            tv_out_text(file->out, *first ? "\n{\"type\":\"evented\",\"name\":"
                                          : ",\n{\"type\":\"evented\",\"name\":");
            tv_sample_file_write_name(file, file->trace->tracks[track].thread, NULL);
            tv_out_format(file->out, ",\"unit\":\"nanoseconds\",\"startValue\":%lld,\"events\":[",
                          (long long)event.time);
        }
        uint32_t frame = file->trace->paths.nodes[event.slice->path].frame;
        tv_out_format(file->out, "%s{\"type\":\"%c\",\"frame\":%u,\"at\":%lld}", any ? "," : "",
                      event.exit ? 'C' : 'O', (unsigned)file->numbers[frame],
                      (long long)event.time);
        last = event.time;
        *first = false;
        any = true;
    }
    if (any)
        tv_out_format(file->out, "],\"endValue\":%lld}", (long long)last);
    tv_call_cursor_free(cursor);
}

/* Write the file: the frames, which all profiles share, then a profile for each thread and value
 * type, then one for each track with slices. */
static void speedscope_write(struct sample_file *file)
{
    bool first = true;
    sample_file_number_frames(file, true);
    sample_file_find_shared_names(file);
    tv_out_text(file->out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
                           "\n\"exporter\":\"traceview\",\"name\":");
    tv_out_json(file->out, tv_sample_file_text(file, file->trace->head->inputs[0].name));
    tv_out_format(file->out, ",\"activeProfileIndex\":%zu,\n\"shared\":{\"frames\":[",
                  file->group_count > 0 ? sample_file_main_group(file) : (size_t)0);
    speedscope_write_frames(file);
    tv_out_text(file->out, "]},\n\"profiles\":[");
    for (size_t i = 0; i < file->group_count; i++) {
        tv_out_text(file->out, first ? "\n" : ",\n");
        speedscope_write_group(file, &file->groups[i]);
        first = false;
    }
    for (uint32_t track = 0; track < file->trace->track_count; track++)
        if (tv_sample_file_has_track(file, &file->trace->tracks[track]))
            speedscope_write_track(file, track, &first);
    tv_out_text(file->out, "]}\n");
}

/* ---- Paths as numbered nodes: Firefox and .cpuprofile ---- */

/* Number the paths that stacks of [first, first + count) contain; parents come before children.
 * Return how many there are. */
uint32_t tv_sample_file_number_paths(struct sample_file *file, size_t first, size_t count)
{
    uint32_t paths = file->trace->paths.count, next = 0;
    file->numbers = tv_alloc(paths, sizeof *file->numbers);
    memset(file->numbers, 0xff, paths * sizeof *file->numbers);
    for (size_t i = first; i < first + count; i++) {
        const struct tv_sample *sample = tv_sample_file_row(file, i);
        file->numbers[file->lines ? sample->line_path : sample->path] = 0;
    }
    for (uint32_t path = paths - 1; path > 0; path--)
        if (file->numbers[path] == 0)
            file->numbers[file->trace->paths.nodes[path].parent] = 0;
    for (uint32_t path = 1; path < paths; path++)
        if (file->numbers[path] == 0)
            file->numbers[path] = next++;
    return next;
}

/* ---- .cpuprofile ---- */

/* Write the name of a function.  A reader takes a node "(root)" for the root itself, wherever it
 * is, and a node "(idle)" for time in which nothing ran: functions with these names get others. */
static void cpuprofile_write_function(const struct sample_file *file, const struct tv_frame *frame,
                                      bool outermost)
{
    struct tv_bytes name = tv_sample_file_text(file, frame->name);
    bool root = frame->class_name == TV_EMPTY_STRING && tv_bytes_equal(name, TV_BYTES("(root)"));
    bool idle = frame->class_name == TV_EMPTY_STRING && tv_bytes_equal(name, TV_BYTES("(idle)"));
    if (!root && (!idle || outermost)) {
        tv_json_put_function(file->out, file->trace->head, frame);
        return;
    }
    tv_out_text(file->out, root ? "\"[root]\"" : "\"[idle]\"");
    file->losses->renamed++;
}

/* Write the begin of a node. Lines count from 1 here and from 0 in the file; -1 means unknown
 * there. */
static void cpuprofile_write_node(const struct sample_file *file, uint32_t path)
{
    const struct tv_path_node *node = &file->trace->paths.nodes[path];
    const struct tv_frame *frame = &file->trace->head->frames[node->frame];
    tv_out_format(file->out, ",\n{\"id\":%u,\"callFrame\":{\"functionName\":",
                  (unsigned)file->numbers[path] + 3);
    cpuprofile_write_function(file, frame, node->parent == TV_ROOT_PATH);
    tv_out_text(file->out, ",\"scriptId\":\"0\",\"url\":");
    tv_out_json(file->out, tv_sample_file_text(file, frame->file));
    tv_out_format(file->out, ",\"lineNumber\":%d,\"columnNumber\":%d}",
                  frame->line > 0 ? (int)frame->line - 1 : -1, (int)frame->column - 1);
}

/* Write the nodes: "(root)" is 1, "(idle)" 2, a path its number plus 3. */
static void cpuprofile_write_nodes(const struct sample_file *file, const struct sample_group *group)
{
    const struct tv_path_node *nodes = file->trace->paths.nodes;
    uint32_t paths = file->trace->paths.count;
    uint64_t *hits = tv_alloc(paths, sizeof *hits);
    static const char root[] = "{\"id\":%d,\"callFrame\":{\"functionName\":\"(%s)\",\"scriptId\":"
                               "\"0\",\"url\":\"\",\"lineNumber\":-1,\"columnNumber\":-1},"
                               "\"hitCount\":0";
    for (size_t i = 0; i < group->count; i++)
        hits[tv_sample_file_row(file, group->first + i)->path] += tv_tables_count_sample(
            &file->trace->tables, tv_sample_file_row(file, group->first + i));
    tv_out_format(file->out, root, 1, "root");
    tv_out_text(file->out, "},\n");
    tv_out_format(file->out, root, 2, "idle");
    tv_out_text(file->out, ",\"parent\":1}");
    for (uint32_t path = 1; path < paths; path++) {
        if (file->numbers[path] == TV_NONE)
            continue;
        uint32_t parent = nodes[path].parent;
        cpuprofile_write_node(file, path);
        tv_out_format(file->out, ",\"hitCount\":%llu,\"parent\":%u}",
                      (unsigned long long)hits[path],
                      parent == TV_ROOT_PATH ? 1 : (unsigned)file->numbers[parent] + 3);
    }
    tv_free(hits);
}

/* Return the microseconds of a sample.  Weights that are no times are written as microseconds. */
static int64_t cpuprofile_time(const struct sample_file *file, const struct sample_group *group,
                               tv_ns time)
{
    bool weight = file->trace->head->inputs[tv_sample_group_type(file, group)->input].weight_axis;
    int64_t times = 1;
    if (time < 0)
        return 0;
    if (weight && tv_sample_group_unit(file, group, &times) != TV_UNIT_TIME)
        return time;
    if (times % 1000 == 0)
        return tv_time_times(time, times / 1000);
    file->losses->fractions += time % 1000 != 0;
    return time / 1000;
}

/* Count the weights that the format does not hold. */
static void cpuprofile_count_weights(const struct sample_file *file,
                                     const struct sample_group *group)
{
    const struct tv_value_type *type = tv_sample_group_type(file, group);
    bool weight_axis = file->trace->head->inputs[type->input].weight_axis;
    int64_t times;
    if (weight_axis && tv_sample_group_unit(file, group, &times) != TV_UNIT_TIME)
        file->losses->as_times += group->count;
    for (size_t i = 0; i < group->count; i++) {
        int64_t weight = tv_sample_file_row(file, group->first + i)->weight;
        file->losses->amounts += weight_axis && weight < 0;
        file->losses->weights += !weight_axis && weight != 1;
    }
}

/* Return the length of the last sample: its weight, or what its file says, or the mean of the
 * others. */
static int64_t cpuprofile_last_length(const struct sample_file *file,
                                      const struct sample_group *group, int64_t last, int64_t start)
{
    assert(group->count > 0);
    const struct tv_sample *sample = tv_sample_file_row(file, group->first + group->count - 1);
    if (file->trace->head->inputs[sample->input].weight_axis)
        return cpuprofile_time(file, group, tv_weight_end(sample)) - last;
    tv_ns stated = tv_trace_last_sample_length(file->trace, sample);
    if (stated >= 0)
        return stated / 1000;
    return group->count > 1 ? (last - start) / (int64_t)(group->count - 1) : 0;
}

/* Write one group, because the format has room for one thread and one kind of weight. */
static void cpuprofile_write(struct sample_file *file)
{
    const struct sample_group *group = &file->groups[sample_file_main_group(file)];
    int64_t start = INT64_MAX, last = 0;
    cpuprofile_count_weights(file, group);
    (void)tv_sample_file_number_paths(file, group->first, group->count);
    file->losses->samples = file->order_count - group->count;
    tv_out_text(file->out, "{\"nodes\":[");
    cpuprofile_write_nodes(file, group);
    tv_out_text(file->out, "],\n\"samples\":[");
    for (size_t i = 0; i < group->count; i++) {
        uint32_t path = tv_sample_file_row(file, group->first + i)->path;
        tv_out_format(file->out, "%s%u", i > 0 ? "," : "",
                      path == TV_ROOT_PATH ? 2 : (unsigned)file->numbers[path] + 3);
    }
    tv_out_text(file->out, "],\n\"timeDeltas\":[");
    for (size_t i = 0; i < group->count; i++) {
        const struct tv_sample *sample = tv_sample_file_row(file, group->first + i);
        int64_t time = cpuprofile_time(file, group, sample->time);
        last = start == INT64_MAX ? time : last;
        start = start == INT64_MAX ? time : start;
        tv_out_format(file->out, "%s%lld", i > 0 ? "," : "", (long long)(time - last));
        last = time;
    }
    int64_t mean = cpuprofile_last_length(file, group, last, start);
    tv_out_format(file->out, "],\n\"startTime\":%lld,\"endTime\":%lld}\n", (long long)start,
                  (long long)(last + mean));
}

/* ---- The file ---- */

/* Count the selected slices that the format does not hold: .cpuprofile holds none, the others those
 * of threads, without their CPU times. */
static void sample_file_count_slices(const struct sample_file *file, enum tv_sample_format format)
{
    const struct tv_trace *trace = file->trace;
    for (uint32_t i = 0; i < trace->track_count; i++) {
        const struct tv_track *track = &trace->tracks[i];
        bool selected =
            track->thread != TV_NONE
                ? tv_sample_file_has_thread(file, track->thread)
                : !file->keep->threads && tv_subset_has_process(file->keep, track->process);
        if (!selected)
            continue;
        const struct tv_input *input = &trace->head->inputs[track->input];
        if (format == TV_SAMPLES_CPUPROFILE || !tv_sample_file_has_track(file, track)) {
            file->losses->slices += track->slice_count;
            continue;
        }
        if (input->clocks == (TV_CLOCK_WALL | TV_CLOCK_CPU))
            file->losses->cpu_times += track->slice_count;
        if (input->figures == TV_FIGURES_SAMPLED)
            file->losses->sampled += track->slice_count;
    }
}

/* Count the value types with a unit that no format has: other viewers show plain numbers.  The time
 * axis of .cpuprofile has its own words. */
static void sample_file_count_units(const struct sample_file *file, enum tv_sample_format format)
{
    int64_t times;
    bool *counted = tv_alloc(file->trace->tables.value_types.count, sizeof *counted);
    for (size_t i = 0; i < file->group_count && format != TV_SAMPLES_CPUPROFILE; i++) {
        uint32_t type = file->groups[i].type;
        if (!counted[type] && tv_sample_group_unit(file, &file->groups[i], &times) == TV_UNIT_OTHER)
            file->losses->units++;
        counted[type] = true;
    }
    tv_free(counted);
}

/* Count properties of functions: Firefox has kinds and modules, the others neither. */
static void sample_file_count_functions(const struct sample_file *file,
                                        enum tv_sample_format format)
{
    const struct tv_trace_info *head = file->trace->head;
    if (format == TV_SAMPLES_FIREFOX)
        file->losses->profile.kinds = 0;
    for (uint32_t i = 0; i < head->frame_count; i++) {
        const struct tv_frame *frame = &head->frames[i];
        if (frame->with_line)
            continue;
        file->losses->modules += format != TV_SAMPLES_FIREFOX && frame->module != TV_EMPTY_STRING;
    }
}

/* Count what no format holds, and the slices of those that hold samples only. */
static void sample_file_count_losses(struct sample_file *file, enum tv_sample_format format)
{
    const struct tv_trace *trace = file->trace;
    tv_profile_losses_init(&file->losses->profile, trace);
    sample_file_count_functions(file, format);
    sample_file_count_units(file, format);
    for (size_t i = 0; i < file->order_count; i++) {
        const struct tv_sample *sample = tv_sample_file_row(file, i);
        file->losses->lines += !file->lines && sample->line_path != sample->path;
        tv_profile_losses_add_sample(&file->losses->profile, sample);
    }
    if (!file->keep->types)
        sample_file_count_slices(file, format);
    file->losses->instants = trace->tables.instants.count;
    if (format != TV_SAMPLES_FIREFOX || file->keep->types)
        file->losses->counters = trace->tables.counters.count;
}

/* Return true when the format holds nothing of the trace: a file without a profile opens nowhere.
 */
static bool sample_file_is_empty(const struct sample_file *file, enum tv_sample_format format)
{
    const struct tv_trace *trace = file->trace;
    if (file->group_count > 0)
        return false;
    if (format == TV_SAMPLES_FIREFOX && trace->tables.counters.count > 0 && !file->keep->types)
        return false;
    for (uint32_t i = 0; format != TV_SAMPLES_CPUPROFILE && i < trace->track_count; i++)
        if (trace->tracks[i].slice_count > 0 && tv_sample_file_has_track(file, &trace->tracks[i]))
            return false;
    return true;
}

/* Fail with what the format would hold. */
static enum tv_status sample_file_refuse(enum tv_sample_format format, struct tv_error *err)
{
    static const char *const reasons[] = {
        [TV_SAMPLES_SPEEDSCOPE] = "the trace has no samples and no calls of threads, and speedscope"
                                  " files hold nothing else; --to json and --to perfetto do",
        [TV_SAMPLES_FIREFOX] = "the trace has no samples, calls of threads or counters, and Firefox"
                               " profiles hold nothing else; --to json and --to perfetto do",
        [TV_SAMPLES_CPUPROFILE] =
            "the trace has no samples; --to speedscope and --to firefox also write calls",
    };
    return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET, "%s", reasons[format]);
}

enum tv_status tv_sample_file_write(struct tv_out *out, const struct tv_trace *trace,
                                    const struct tv_subset *keep, enum tv_sample_format format,
                                    struct tv_sample_file_losses *losses, struct tv_error *err)
{
    struct sample_file file = {.out = out,
                               .trace = trace,
                               .keep = keep,
                               .losses = losses,
                               .lines = format == TV_SAMPLES_FIREFOX};
    *losses = (struct tv_sample_file_losses){0};
    sample_file_group(&file);
    bool empty = sample_file_is_empty(&file, format);
    if (!empty) {
        sample_file_count_losses(&file, format);
        if (format == TV_SAMPLES_SPEEDSCOPE)
            speedscope_write(&file);
        else if (format == TV_SAMPLES_FIREFOX)
            tv_firefox_file_write(&file);
        else
            cpuprofile_write(&file);
    }
    tv_free(file.order);
    tv_free(file.groups);
    tv_free(file.numbers);
    tv_free(file.threads.pids);
    tv_free(file.shared_names);
    return empty ? sample_file_refuse(format, err) : TV_OK;
}

void tv_losses_write_samples(struct tv_out *out, struct tv_sample_file_losses *losses)
{
    const struct {
        uint64_t count;
        const char *words;
    } lines[] = {
        {losses->samples, "samples of other threads and value types"},
        {losses->times, "times of samples (their order and weights are kept)"},
        {losses->lines, "sampled lines"},
        {losses->weights, "weights of samples: each counts once"},
        {losses->renamed, "functions named as states of V8, \"(root)\" and \"(idle)\", written as "
                          "[root] and [idle]"},
        {losses->as_times, "weights that are no times, written as microseconds"},
        {losses->fractions, "times, rounded down to microseconds"},
        {losses->negative, "weights below 0, written as 0"},
        {losses->amounts, "weights below 0, written as their amounts"},
        {losses->units, "units of value types, which other viewers show as plain numbers"},
        {losses->cpu_times, "CPU times of calls"},
        {losses->slices, "calls and other slices"},
        {losses->sampled, "calls of a sampled trace, which read as counted calls"},
        {losses->modules, "modules of functions (programs and libraries)"},
        {losses->instants, "instants"},
        {losses->counters, "counters"},
    };
    for (size_t i = 0; i < TV_COUNT(lines); i++)
        if (lines[i].count > 0)
            tv_out_format(out, "%llu %s\n", (unsigned long long)lines[i].count, lines[i].words);
    tv_profile_losses_write(out, &losses->profile);
    tv_profile_losses_release(&losses->profile);
}
