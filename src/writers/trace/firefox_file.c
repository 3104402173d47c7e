/* SPDX-License-Identifier: Apache-2.0 */
/* firefox_file.c - samples and slices as a processed profile of the Firefox Profiler. */
#include <string.h>

#include "base/bytes.h"
#include "base/map.h"
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

/* ---- Tables that the threads share ---- */

/* A function as the format has it.  Keys of the interner are its bytes. */
struct firefox_function {
    uint32_t name, source; /* a string, and a row of `sources`; TV_NONE: no source */
    uint32_t library;      /* TV_NONE: none */
    int32_t line, column;  /* 0: unknown */
};

/* A growing list of different numbers, in the order in which they were met. */
struct firefox_list {
    struct tv_map places; /* number -> place */
    uint32_t *items;
    size_t count, capacity;
};

struct firefox_tables {
    struct tv_interner *strings;   /* numbered as in stringArray */
    struct tv_interner *functions; /* from 1 on; row 0 of funcTable is 1 */
    struct firefox_list frames;    /* frames of the model: rows of frameTable */
    uint32_t *function_of;         /* [frames.capacity] row of funcTable, by row of frameTable */
    struct firefox_list libraries, sources; /* strings of the model */
};

/* Return the place of a number in a list, at its end if it is new. */
static uint32_t firefox_list_add(struct firefox_list *list, uint32_t number)
{
    uint32_t place = tv_map_add(&list->places, number, (uint32_t)list->count);
    if (place == list->count) {
        list->items =
            tv_array_reserve(list->items, &list->capacity, list->count + 1, sizeof *list->items);
        list->items[list->count++] = number;
    }
    return place;
}

/* Return the string of a function's name. */
static uint32_t firefox_tables_name(struct firefox_tables *tables, const struct sample_file *file,
                                    const struct tv_frame *frame)
{
    struct tv_out name;
    tv_out_init_memory(&name);
    tv_names_put_function(&name, file->trace->head, frame);
    uint32_t string = tv_interner_add(tables->strings, (struct tv_bytes){name.buffer, name.length});
    tv_out_release(&name);
    return string;
}

/* Return the row of a frame's function, to which all its sampled lines belong. */
static uint32_t firefox_tables_function(struct firefox_tables *tables,
                                        const struct sample_file *file,
                                        const struct tv_frame *frame)
{
    struct firefox_function function;
    /* The struct is compared as bytes, so its padding must be zero. */
    memset(&function, 0, sizeof function);
    function.name = firefox_tables_name(tables, file, frame);
    function.source =
        frame->file == TV_EMPTY_STRING ? TV_NONE : firefox_list_add(&tables->sources, frame->file);
    function.library = frame->module == TV_EMPTY_STRING
                           ? TV_NONE
                           : firefox_list_add(&tables->libraries, frame->module);
    function.line = frame->with_line ? frame->function_line : frame->line;
    function.column = frame->column;
    return tv_interner_add(tables->functions,
                           (struct tv_bytes){(const uint8_t *)&function, sizeof function}) -
           1;
}

static struct firefox_function firefox_tables_get(const struct firefox_tables *tables, size_t row)
{
    struct firefox_function function;
    memcpy(&function, tv_interner_get(tables->functions, (uint32_t)row + 1).data, sizeof function);
    return function;
}

/* Collect the frames of the written paths, and all that they refer to. */
static void firefox_tables_init(struct firefox_tables *tables, const struct sample_file *file)
{
    const struct tv_trace *trace = file->trace;
    *tables = (struct firefox_tables){.strings = tv_interner_new(), .functions = tv_interner_new()};
    tv_map_init(&tables->frames.places);
    tv_map_init(&tables->libraries.places);
    tv_map_init(&tables->sources.places);
    for (uint32_t path = 1; path < trace->paths.count; path++)
        if (file->numbers[path] != TV_NONE)
            (void)firefox_list_add(&tables->frames, trace->paths.nodes[path].frame);
    tables->function_of = tv_alloc(tables->frames.count, sizeof *tables->function_of);
    for (size_t i = 0; i < tables->frames.count; i++)
        tables->function_of[i] =
            firefox_tables_function(tables, file, &trace->head->frames[tables->frames.items[i]]);
}

static void firefox_list_release(struct firefox_list *list)
{
    tv_map_release(&list->places);
    tv_free(list->items);
}

static void firefox_tables_release(struct firefox_tables *tables)
{
    tv_interner_free(tables->strings);
    tv_interner_free(tables->functions);
    firefox_list_release(&tables->frames);
    firefox_list_release(&tables->libraries);
    firefox_list_release(&tables->sources);
    tv_free(tables->function_of);
}

/* Begin a column. */
static void firefox_begin_column(struct tv_out *out, const char *name)
{
    tv_out_format(out, "\"%s\":[", name);
}

/* Write a number of a column, or null. */
static void firefox_write_number(struct tv_out *out, size_t row, int64_t number, bool known)
{
    tv_out_text(out, row > 0 ? "," : "");
    if (known)
        tv_out_i64(out, number);
    else
        tv_out_text(out, "null");
}

/* Write a column of the paths' numbers: their frames, or their callers. */
static void firefox_write_paths(const struct sample_file *file, const struct firefox_tables *tables,
                                bool callers)
{
    const struct tv_trace *trace = file->trace;
    size_t row = 0;
    firefox_begin_column(file->out, callers ? "prefix" : "frame");
    for (uint32_t path = 1; path < trace->paths.count; path++) {
        const struct tv_path_node *node = &trace->paths.nodes[path];
        if (file->numbers[path] == TV_NONE)
            continue;
        uint32_t number = callers ? file->numbers[node->parent]
                                  : tv_map_find(&tables->frames.places, node->frame);
        firefox_write_number(file->out, row++, number, !callers || node->parent != TV_ROOT_PATH);
    }
    tv_out_text(file->out, "],");
}

enum firefox_frame_column { FIREFOX_FUNC, FIREFOX_LINE, FIREFOX_INLINE, FIREFOX_CATEGORY };

/* Write a column of frameTable. */
static void firefox_write_frames(const struct sample_file *file,
                                 const struct firefox_tables *tables, const char *name,
                                 enum firefox_frame_column column)
{
    firefox_begin_column(file->out, name);
    for (size_t i = 0; i < tables->frames.count; i++) {
        const struct tv_frame *frame = &file->trace->head->frames[tables->frames.items[i]];
        bool inlined = frame->kind == TV_FRAME_INLINED;
        if (column == FIREFOX_FUNC)
            firefox_write_number(file->out, i, tables->function_of[i], true);
        else if (column == FIREFOX_LINE)
            firefox_write_number(file->out, i, frame->line, frame->with_line && frame->line > 0);
        else if (column == FIREFOX_INLINE)
            firefox_write_number(file->out, i, inlined, true);
        else /* the category of an inlined frame is that of its caller */
            firefox_write_number(file->out, i, frame->kind, !inlined);
    }
    tv_out_text(file->out, "],");
}

/* Write the columns of funcTable. */
static void firefox_write_functions(const struct sample_file *file,
                                    const struct firefox_tables *tables)
{
    static const char *const names[] = {"name", "source", "resource", "lineNumber", "columnNumber"};
    struct tv_out *out = file->out;
    size_t count = tv_interner_count(tables->functions) - 1;
    for (size_t column = 0; column < TV_COUNT(names); column++) {
        firefox_begin_column(out, names[column]);
        for (size_t i = 0; i < count; i++) {
            struct firefox_function function = firefox_tables_get(tables, i);
            const int64_t values[] = {function.name, function.source,
                                      function.library == TV_NONE ? -1 : (int64_t)function.library,
                                      function.line, function.column};
            const bool known[] = {true, function.source != TV_NONE, true, function.line > 0,
                                  function.column > 0};
            firefox_write_number(out, i, values[column], known[column]);
        }
        tv_out_text(out, "],");
    }
    firefox_write_constant(out, "isJS", (uint32_t)count, "false");
    firefox_write_constant(out, "relevantForJS", (uint32_t)count, "false");
    tv_out_format(out, "\"length\":%zu},\n", count);
}

/* Write a column with a string for each item of a list. */
static void firefox_write_list(const struct sample_file *file, struct firefox_tables *tables,
                               const struct firefox_list *list, const char *name)
{
    firefox_begin_column(file->out, name);
    for (size_t i = 0; i < list->count; i++)
        firefox_write_number(
            file->out, i,
            tv_interner_add(tables->strings, tv_sample_file_text(file, list->items[i])), true);
    tv_out_text(file->out, "],");
}

/* Write the libraries as resources: a function has a resource, and that a library. */
static void firefox_write_resources(const struct sample_file *file, struct firefox_tables *tables)
{
    uint32_t count = (uint32_t)tables->libraries.count;
    tv_out_text(file->out, "\"resourceTable\":{");
    firefox_begin_column(file->out, "lib");
    for (uint32_t i = 0; i < count; i++)
        firefox_write_number(file->out, i, i, true);
    tv_out_text(file->out, "],");
    firefox_write_list(file, tables, &tables->libraries, "name");
    firefox_write_constant(file->out, "host", count, "null");
    firefox_write_constant(file->out, "type", count, "1"); /* a library */
    tv_out_format(file->out, "\"length\":%u},", (unsigned)count);
}

/* Write the tables that the threads share, the strings last: the others add to them. */
static void firefox_write_shared(const struct sample_file *file, struct firefox_tables *tables,
                                 uint32_t paths)
{
    struct tv_out *out = file->out;
    uint32_t frames = (uint32_t)tables->frames.count, sources = (uint32_t)tables->sources.count;
    tv_out_text(out, "\"shared\":{\"sources\":{");
    firefox_write_constant(out, "uuid", sources, "null");
    firefox_write_list(file, tables, &tables->sources, "filename");
    tv_out_format(out, "\"length\":%u},\n\"stackTable\":{", (unsigned)sources);
    firefox_write_paths(file, tables, false);
    firefox_write_paths(file, tables, true);
    tv_out_format(out, "\"length\":%u},\n\"frameTable\":{", (unsigned)paths);
    firefox_write_frames(file, tables, "func", FIREFOX_FUNC);
    firefox_write_constant(out, "address", frames, "-1");
    firefox_write_frames(file, tables, "inlineDepth", FIREFOX_INLINE);
    firefox_write_frames(file, tables, "category", FIREFOX_CATEGORY);
    firefox_write_constant(out, "subcategory", frames, "0");
    firefox_write_constant(out, "nativeSymbol", frames, "null");
    firefox_write_constant(out, "innerWindowID", frames, "0");
    firefox_write_frames(file, tables, "line", FIREFOX_LINE);
    firefox_write_constant(out, "column", frames, "null");
    tv_out_format(out, "\"length\":%u},\n\"funcTable\":{", (unsigned)frames);
    firefox_write_functions(file, tables);
    firefox_write_resources(file, tables);
    tv_out_text(out, "\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],"
                     "\"functionSize\":[],\"length\":0},\n\"stringArray\":[");
    for (uint32_t i = 0; i < tv_interner_count(tables->strings); i++) {
        tv_out_text(out, i > 0 ? "," : "");
        tv_out_json(out, tv_interner_get(tables->strings, i));
    }
    tv_out_text(out, "]},\n");
}

/* Write the part of a path after its last '/'. */
static void firefox_write_base_name(struct tv_out *out, struct tv_bytes path)
{
    size_t start = path.length;
    while (start > 0 && path.data[start - 1] != '/')
        start--;
    tv_out_json(out, (struct tv_bytes){path.data + start, path.length - start});
}

/* Write the libraries.  Viewers show the name; ours takes the path. */
static void firefox_write_libraries(const struct sample_file *file,
                                    const struct firefox_tables *tables)
{
    tv_out_text(file->out, "\"libs\":[");
    for (size_t i = 0; i < tables->libraries.count; i++) {
        struct tv_bytes path = tv_sample_file_text(file, tables->libraries.items[i]);
        tv_out_text(file->out, i > 0 ? ",\n{\"name\":" : "\n{\"name\":");
        tv_out_json(file->out, path);
        tv_out_text(file->out, ",\"path\":");
        tv_out_json(file->out, path);
        tv_out_text(file->out, ",\"debugName\":");
        firefox_write_base_name(file->out, path);
        tv_out_text(file->out, ",\"debugPath\":");
        tv_out_json(file->out, path);
        tv_out_text(file->out, ",\"breakpadId\":\"\",\"codeId\":null,\"arch\":\"\"}");
    }
    tv_out_text(file->out, "],\n");
}

/* Write the categories: one for each kind of frame, by its number.  The viewer wants a grey one,
 * for frames of no kind, and a first subcategory "Other" in each. */
static void firefox_write_categories(struct tv_out *out)
{
    static const char *const colours[TV_FRAME_KINDS] = {
        [TV_FRAME_UNKNOWN] = "grey",       [TV_FRAME_NATIVE] = "yellow",
        [TV_FRAME_CPP] = "lightblue",      [TV_FRAME_KERNEL] = "orange",
        [TV_FRAME_JIT] = "green",          [TV_FRAME_INTERPRETED] = "blue",
        [TV_FRAME_INLINED] = "lightgreen", [TV_FRAME_GC] = "purple",
    };
    for (int kind = TV_FRAME_UNKNOWN; kind < TV_FRAME_KINDS; kind++)
        tv_out_format(out, "%s{\"name\":\"%s\",\"color\":\"%s\",\"subcategories\":[\"Other\"]}",
                      kind > 0 ? "," : "",
                      kind > 0 ? tv_names_frame_kind((enum tv_frame_kind)kind) : "Other",
                      colours[kind]);
}

/* ---- Threads ---- */

/* Write the samples of a thread column by column. A null stack is the root. */
static void firefox_write_samples(const struct sample_file *file, const struct sample_group *group)
{
    struct tv_out *out = file->out;
    int64_t times;
    enum tv_unit_kind unit = tv_sample_group_unit(file, group, &times);
    bool time = unit == TV_UNIT_TIME;
    tv_out_text(out, "\"samples\":{\"weightType\":\"");
    tv_out_text(out, time ? "tracing-ms" : unit == TV_UNIT_BYTES ? "bytes" : "samples");
    tv_out_text(out, "\",");
    tv_sample_file_write_type(file, group);
    tv_out_text(out, ",\"stack\":[");
    for (size_t i = 0; i < group->count; i++) {
        uint32_t path = tv_sample_file_row(file, group->first + i)->line_path;
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
        int64_t weight = tv_time_times(tv_sample_file_row(file, group->first + i)->weight, times);
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
                                 const uint32_t *names, enum firefox_marker_value value)
{
    tv_ns time = value == FIREFOX_MARKER_START ? slice->start : slice->start + slice->length;
    if (value == FIREFOX_MARKER_DATA)
        tv_out_text(file->out, "{\"type\":\"Slice\"}");
    else if (value == FIREFOX_MARKER_NAME)
        tv_out_u64(file->out, names[file->trace->paths.nodes[slice->path].frame]);
    else if (value == FIREFOX_MARKER_START || value == FIREFOX_MARKER_END)
        tv_out_time(file->out, time, 1000000, 6);
    else
        tv_out_char(file->out, value == FIREFOX_MARKER_PHASE ? '1' : '0');
}

/* Write the values of a row of slices; *length counts those of the column. */
static void firefox_write_marker_row(const struct sample_file *file, uint32_t row,
                                     const uint32_t *names, enum firefox_marker_value value,
                                     uint64_t *length)
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
                                            const struct tv_track *track, const uint32_t *names,
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
                                  const uint32_t *names)
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
        firefox_write_markers(file, NULL, NULL);
    }
    tv_out_text(file->out, "],\n\"counters\":[");
    tv_firefox_counters_write(file->out, trace, file->keep, &file->threads);
    tv_out_char(file->out, ']');
}

/* Return the strings of all frames, for markers; NULL if the trace has no slices. */
static uint32_t *firefox_tables_add_names(struct firefox_tables *tables,
                                          const struct sample_file *file)
{
    const struct tv_trace_info *head = file->trace->head;
    if (file->trace->slice_count == 0)
        return NULL;
    uint32_t *names = tv_alloc(head->frame_count, sizeof *names);
    for (uint32_t i = 0; i < head->frame_count; i++)
        names[i] = firefox_tables_name(tables, file, &head->frames[i]);
    return names;
}

/* Write a processed profile of Firefox: what threads share, then a thread for each group of samples
 * and for each track with slices. */
void tv_firefox_file_write(struct sample_file *file)
{
    struct firefox_tables tables;
    uint32_t count = tv_sample_file_number_paths(file, 0, file->order_count);
    firefox_tables_init(&tables, file);
    uint32_t *names = firefox_tables_add_names(&tables, file);
    tv_out_text(file->out,
                "{\"meta\":{\"interval\":1,\"startTime\":0,\"version\":24,"
                "\"preprocessedProfileVersion\":60,\"product\":\"traceview\",\"processType\":0,"
                "\"stackwalk\":1,\"debug\":false,\"categories\":[");
    firefox_write_categories(file->out);
    tv_out_text(file->out,
                "],\"markerSchema\":[{\"name\":\"Slice\","
                "\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
                "\"fields\":[]}],\"symbolicated\":true,\"extensions\":{\"baseURL\":[],\"id\":[],"
                "\"name\":[],\"length\":0},"
                "\"importedFrom\":\"traceview\"},");
    firefox_write_libraries(file, &tables);
    firefox_write_shared(file, &tables, count);
    tv_out_text(file->out, "\"threads\":[");
    for (size_t i = 0; i < file->group_count; i++) {
        const struct sample_group *group = &file->groups[i];
        firefox_begin_thread(file, group->thread, group);
        firefox_write_markers(file, NULL, NULL);
    }
    for (uint32_t i = 0; i < file->trace->track_count; i++) {
        const struct tv_track *track = &file->trace->tracks[i];
        if (track->slice_count == 0 || !tv_sample_file_has_track(file, track))
            continue;
        firefox_begin_thread(file, track->thread, NULL);
        firefox_write_markers(file, track, names);
    }
    firefox_write_counters(file);
    tv_out_text(file->out, "}\n");
    firefox_tables_release(&tables);
    tv_free(names);
}
