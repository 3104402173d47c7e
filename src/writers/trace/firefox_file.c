/* SPDX-License-Identifier: Apache-2.0 */
/* firefox_file.c - samples and slices as a processed profile of the Firefox Profiler. */
#include <string.h>

#include "base/memory.h"
#include "writers/text/names.h"
#include "writers/trace/sample_files_internal.h"

/* Write a column: the same text for each row. */
static void firefox_write_constant(struct tv_out *out, const char *name, uint32_t count,
                                   const char *value)
{
    tv_out_format(out, "\"%s\":[", name);
    for (uint32_t i = 0; i < count; i++) {
        tv_out_text(out, i > 0 ? "," : "");
        tv_out_text(out, value);
    }
    tv_out_text(out, "],");
}

enum firefox_path_value {
    FIREFOX_PREFIX,
    FIREFOX_ROW,
    FIREFOX_NAME,
    FIREFOX_FILE,
    FIREFOX_LINE,
    FIREFOX_FRAME_COLUMN
};

/* Write a column of the tables, whose row i is about the path with the number i. */
static void firefox_write_paths(const struct sample_file *file, const char *name,
                                enum firefox_path_value value)
{
    const struct tv_trace *trace = file->trace;
    bool first = true;
    tv_out_format(file->out, "\"%s\":[", name);
    for (uint32_t path = 1; path < trace->paths.count; path++) {
        const struct tv_path_node *node = &trace->paths.nodes[path];
        if (file->numbers[path] == TV_NONE)
            continue;
        const struct tv_frame *frame = &trace->head->frames[node->frame];
        int64_t number = -1;
        tv_out_text(file->out, first ? "" : ",");
        first = false;
        if (value == FIREFOX_PREFIX && node->parent != TV_ROOT_PATH)
            number = file->numbers[node->parent];
        else if (value == FIREFOX_ROW)
            number = file->numbers[path];
        else if (value == FIREFOX_NAME)
            number = (int64_t)file->numbers[path] * 2;
        else if (value == FIREFOX_FILE && frame->file != TV_EMPTY_STRING)
            number = (int64_t)file->numbers[path] * 2 + 1;
        else if (value == FIREFOX_LINE && frame->line > 0)
            number = frame->line;
        else if (value == FIREFOX_FRAME_COLUMN && frame->column > 0)
            number = frame->column;
        if (number < 0)
            tv_out_text(file->out, "null");
        else
            tv_out_i64(file->out, number);
    }
    tv_out_text(file->out, "],");
}

/* Write the strings: of each path its function and its file, then the names of all frames for
 * markers. */
static void firefox_write_strings(const struct sample_file *file)
{
    const struct tv_trace *trace = file->trace;
    bool first = true;
    tv_out_text(file->out, "\"stringArray\":[");
    for (uint32_t path = 1; path < trace->paths.count; path++) {
        if (file->numbers[path] == TV_NONE)
            continue;
        const struct tv_frame *frame = &trace->head->frames[trace->paths.nodes[path].frame];
        tv_out_text(file->out, first ? "" : ",");
        first = false;
        tv_json_put_function(file->out, file->trace->head, frame);
        tv_out_char(file->out, ',');
        tv_out_json(file->out, tv_sample_file_text(file, frame->file));
    }
    for (uint32_t i = 0; trace->slice_count > 0 && i < trace->head->frame_count; i++) {
        tv_out_text(file->out, first ? "" : ",");
        first = false;
        tv_json_put_function(file->out, trace->head, &trace->head->frames[i]);
    }
    tv_out_text(file->out, "],\n");
}

/* Write the tables that the threads share. Each path is one stack, one frame and one function, all
 * with its number; the viewer merges equal names. */
static void firefox_write_shared(const struct sample_file *file, uint32_t count)
{
    struct tv_out *out = file->out;
    tv_out_text(out, "\"shared\":{");
    firefox_write_strings(file);
    tv_out_text(out, "\"sources\":{\"length\":");
    tv_out_u64(out, count);
    tv_out_char(out, ',');
    firefox_write_constant(out, "uuid", count, "null");
    tv_out_text(out, "\"filename\":[");
    for (uint32_t i = 0; i < count; i++)
        tv_out_format(out, "%s%llu", i > 0 ? "," : "", (unsigned long long)i * 2 + 1);
    tv_out_text(out, "]},\n\"stackTable\":{");
    firefox_write_paths(file, "frame", FIREFOX_ROW);
    firefox_write_paths(file, "prefix", FIREFOX_PREFIX);
    tv_out_format(out, "\"length\":%u},\n\"frameTable\":{", (unsigned)count);
    firefox_write_paths(file, "func", FIREFOX_ROW);
    firefox_write_constant(out, "address", count, "-1");
    firefox_write_constant(out, "inlineDepth", count, "0");
    firefox_write_constant(out, "category", count, "0");
    firefox_write_constant(out, "subcategory", count, "0");
    firefox_write_constant(out, "nativeSymbol", count, "null");
    firefox_write_constant(out, "innerWindowID", count, "0");
    firefox_write_constant(out, "line", count, "null");
    firefox_write_constant(out, "column", count, "null");
    tv_out_format(out, "\"length\":%u},\n\"funcTable\":{", (unsigned)count);
    firefox_write_paths(file, "name", FIREFOX_NAME);
    firefox_write_constant(out, "isJS", count, "false");
    firefox_write_constant(out, "relevantForJS", count, "false");
    firefox_write_constant(out, "resource", count, "-1");
    firefox_write_paths(file, "source", FIREFOX_ROW);
    firefox_write_paths(file, "lineNumber", FIREFOX_LINE);
    firefox_write_paths(file, "columnNumber", FIREFOX_FRAME_COLUMN);
    tv_out_format(out, "\"length\":%u},\n", (unsigned)count);
    tv_out_text(out, "\"resourceTable\":{\"length\":0,\"lib\":[],\"name\":[],\"host\":[],\"type\":"
                     "[]},\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],"
                     "\"functionSize\":[],\"length\":0}},\n");
}

/* Write the samples of a thread column by column. A null stack is the root. */
static void firefox_write_samples(const struct sample_file *file, const struct sample_group *group)
{
    struct tv_out *out = file->out;
    bool time = tv_sample_group_has_unit(file, group, "nanoseconds");
    tv_out_text(out, "\"samples\":{\"weightType\":\"");
    tv_out_text(out, time                                             ? "tracing-ms"
                     : tv_sample_group_has_unit(file, group, "bytes") ? "bytes"
                                                                      : "samples");
    tv_out_text(out, "\",");
    tv_sample_file_write_type(file, group);
    tv_out_text(out, ",\"stack\":[");
    for (size_t i = 0; i < group->count; i++) {
        uint32_t path = tv_sample_file_row(file, group->first + i)->path;
        tv_out_text(out, i > 0 ? "," : "");
        if (path == TV_ROOT_PATH)
            tv_out_text(out, "null");
        else
            tv_out_u64(out, file->numbers[path]);
    }
    tv_out_text(out, "],\"time\":[");
    for (size_t i = 0; i < group->count; i++) {
        const struct tv_sample *sample = tv_sample_file_row(file, group->first + i);
        tv_out_text(out, i > 0 ? "," : "");
        tv_out_time(out, tv_trace_time(file->trace, sample->input, sample->time), 1000000, 6);
    }
    tv_out_text(out, "],\"weight\":[");
    for (size_t i = 0; i < group->count; i++) {
        int64_t weight = tv_sample_file_row(file, group->first + i)->weight;
        tv_out_text(out, i > 0 ? "," : "");
        if (time)
            tv_out_time(out, weight, 1000000, 6);
        else
            tv_out_i64(out, weight);
    }
    tv_out_format(out, "],\"length\":%zu},", group->count);
}

enum firefox_marker_value {
    FIREFOX_MARKER_DATA,
    FIREFOX_MARKER_NAME,
    FIREFOX_MARKER_START,
    FIREFOX_MARKER_END,
    FIREFOX_MARKER_PHASE, /* 1: an interval */
    FIREFOX_MARKER_CATEGORY,
};

/* Write one column of a slice: the format has an array for each member of its markers. */
static void firefox_write_marker(const struct sample_file *file, const struct tv_slice *slice,
                                 uint32_t names, enum firefox_marker_value value)
{
    tv_ns time = value == FIREFOX_MARKER_START ? slice->start : slice->start + slice->length;
    if (value == FIREFOX_MARKER_DATA)
        tv_out_text(file->out, "{\"type\":\"Slice\"}");
    else if (value == FIREFOX_MARKER_NAME)
        tv_out_u64(file->out, (uint64_t)names + file->trace->paths.nodes[slice->path].frame);
    else if (value == FIREFOX_MARKER_START || value == FIREFOX_MARKER_END)
        tv_out_time(file->out, time, 1000000, 6);
    else
        tv_out_char(file->out, value == FIREFOX_MARKER_PHASE ? '1' : '0');
}

/* Write the values of a row of slices; *length counts those of the column. */
static void firefox_write_marker_row(const struct sample_file *file, uint32_t row, uint32_t names,
                                     enum firefox_marker_value value, uint64_t *length)
{
    struct tv_slice slices[256];
    uint32_t all = file->trace->rows[row].count;
    for (uint32_t i = 0; i < all; i++) {
        uint32_t at = i % (uint32_t)TV_COUNT(slices);
        if (at == 0) {
            uint32_t left = all - i, most = (uint32_t)TV_COUNT(slices);
            tv_slices_read(file->trace, row, i, left < most ? left : most, slices);
        }
        if (!tv_subset_has_frame(file->keep, file->trace->paths.nodes[slices[at].path].frame))
            continue;
        tv_out_text(file->out, (*length)++ > 0 ? "," : "");
        firefox_write_marker(file, &slices[at], names, value);
    }
}

/* Write a column of the markers of a track, or with NULL an empty one. Return its length. */
static uint64_t firefox_write_marker_column(const struct sample_file *file,
                                            const struct tv_track *track, uint32_t names,
                                            enum firefox_marker_value value)
{
    static const char *const columns[] = {"data",    "name",  "startTime",
                                          "endTime", "phase", "category"};
    uint64_t length = 0;
    tv_out_format(file->out, "\"%s\":[", columns[value]);
    for (uint32_t row = 0; track && row < track->row_count; row++)
        firefox_write_marker_row(file, track->first_row + row, names, value, &length);
    tv_out_text(file->out, "],");
    return length;
}

/* Write the slices of a track as markers. */
static void firefox_write_markers(const struct sample_file *file, const struct tv_track *track,
                                  uint32_t names)
{
    uint64_t length = 0;
    tv_out_text(file->out, "\"markers\":{");
    for (int value = FIREFOX_MARKER_DATA; value <= FIREFOX_MARKER_CATEGORY; value++)
        length = firefox_write_marker_column(file, track, names, (enum firefox_marker_value)value);
    tv_out_format(file->out, "\"length\":%llu}}", (unsigned long long)length);
}

/* Begin a thread for a group or, without one, for a track of slices. The main thread is the first
 * one, which the viewer opens with. */
static void firefox_begin_thread(struct sample_file *file, uint32_t thread,
                                 const struct sample_group *group)
{
    struct tv_firefox_threads *threads = &file->threads;
    size_t number = threads->count++;
    const struct tv_trace_info *head = file->trace->head;
    uint32_t owner = tv_thread_process(head, thread);
    uint64_t pid = owner != TV_NONE ? head->processes[owner].id : 0;
    threads->pids =
        tv_array_reserve(threads->pids, &threads->capacity, number + 1, sizeof *threads->pids);
    threads->pids[number] = pid;
    tv_out_text(file->out, number > 0 ? ",\n{\"name\":" : "\n{\"name\":");
    tv_sample_file_write_name(file, thread, group);
    tv_out_format(file->out,
                  ",\"processName\":\"\",\"processType\":\"default\",\"processStartupTime\":0,"
                  "\"processShutdownTime\":null,\"registerTime\":0,\"unregisterTime\":null,"
                  "\"pausedRanges\":[],\"isMainThread\":%s,\"pid\":\"%llu\",\"tid\":%zu,",
                  number == 0 ? "true" : "false", (unsigned long long)pid, number + 1);
    if (group)
        firefox_write_samples(file, group);
    else
        tv_out_text(file->out, "\"samples\":{\"weightType\":\"samples\",\"stack\":[],"
                               "\"time\":[],\"weight\":[],\"length\":0},");
}

/* End the threads, of which the viewer needs at least one, and write the counters, unless only
 * samples of a value type were asked for. */
static void firefox_write_counters(struct sample_file *file)
{
    const struct tv_trace *trace = file->trace;
    if (trace->tables.counters.count == 0 || file->keep->types) {
        tv_out_char(file->out, ']');
        return;
    }
    if (file->threads.count == 0) {
        firefox_begin_thread(file, TV_NONE, NULL);
        firefox_write_markers(file, NULL, 0);
    }
    tv_out_text(file->out, "],\n\"counters\":[");
    tv_firefox_counters_write(file->out, trace, file->keep, &file->threads);
    tv_out_char(file->out, ']');
}

/* Write a processed profile of Firefox: what threads share, then a thread for each group of samples
 * and for each track with slices. */
void tv_firefox_file_write(struct sample_file *file)
{
    uint32_t count = tv_sample_file_number_paths(file, 0, file->order_count);
    tv_out_text(file->out,
                "{\"meta\":{\"interval\":1,\"startTime\":0,\"version\":24,"
                "\"preprocessedProfileVersion\":60,\"product\":\"traceview\",\"processType\":0,"
                "\"stackwalk\":1,\"debug\":false,\"categories\":[{\"name\":\"Other\",\"color\":"
                "\"grey\",\"subcategories\":[\"Other\"]}],\"markerSchema\":[{\"name\":\"Slice\","
                "\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
                "\"fields\":[]}],\"symbolicated\":true,\"extensions\":{\"baseURL\":[],\"id\":[],"
                "\"name\":[],\"length\":0},"
                "\"importedFrom\":\"traceview\"},\"libs\":[],\n");
    firefox_write_shared(file, count);
    tv_out_text(file->out, "\"threads\":[");
    for (size_t i = 0; i < file->group_count; i++) {
        const struct sample_group *group = &file->groups[i];
        firefox_begin_thread(file, group->thread, group);
        firefox_write_markers(file, NULL, 0);
    }
    for (uint32_t i = 0; i < file->trace->track_count; i++) {
        const struct tv_track *track = &file->trace->tracks[i];
        if (track->slice_count == 0 || !tv_sample_file_has_track(file, track))
            continue;
        firefox_begin_thread(file, track->thread, NULL);
        firefox_write_markers(file, track, count * 2);
    }
    firefox_write_counters(file);
    tv_out_text(file->out, "}\n");
}
