/* SPDX-License-Identifier: Apache-2.0 */
/*
 * firefox.c - profiles of the Firefox Profiler: processed (what the profiler and samply save) and
 * gecko (what the browser and simpleperf write).
 *
 * Both are tables, and differ in how they are written:
 *
 *     processed   {"stack": [1, 2], "time": [0, 1.5], "length": 2}
 *     gecko       {"schema": {"stack": 0, "time": 1}, "data": [[1, 0], [2, 1.5]]}
 *
 * firefox_read_table makes columns of both.  A stack is a row with the row of its caller, a frame a
 * row with a function, a function a row with a name.  Newer files have these tables once for all
 * threads ("shared"), older ones in each thread.
 */
#include "readers/firefox.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/json/profile_kind.h"
#include "readers/json/stream.h"
#include "readers/profile_input.h"
#include "readers/trace_event/text/values.h"

#define TV_BYTES_OF(text)                                                                          \
    {                                                                                              \
        (const uint8_t *)(text), sizeof(text) - 1                                                  \
    }

#define ABSENT INT64_MIN /* null, or a row without the column */

enum firefox_column_kind {
    FIREFOX_INTEGER,
    FIREFOX_MS,     /* milliseconds, kept as nanoseconds */
    FIREFOX_OFFSET, /* the place of the value in the file */
};

struct firefox_column {
    const char *name;
    enum firefox_column_kind kind;
    int64_t *rows;
    size_t count, capacity;
};

static int64_t firefox_value(const struct firefox_column *column, int64_t row)
{
    return row >= 0 && (uint64_t)row < column->count ? column->rows[row] : ABSENT;
}

#define COLUMN(table, id, name, kind) [table##_##id] = {name, FIREFOX_##kind, NULL, 0, 0}

enum { STACK_FRAME, STACK_PREFIX, STACK_PREFIX_OFFSET, STACK_COLUMNS };
static const struct firefox_column stack_columns[STACK_COLUMNS] = {
    COLUMN(STACK, FRAME, "frame", INTEGER),
    COLUMN(STACK, PREFIX, "prefix", INTEGER),
    COLUMN(STACK, PREFIX_OFFSET, "prefixOffset", INTEGER),
};

enum { FRAME_FUNC, FRAME_LOCATION, FRAME_LINE, FRAME_INLINE, FRAME_LIB, FRAME_COLUMNS };
static const struct firefox_column frame_columns[FRAME_COLUMNS] = {
    COLUMN(FRAME, FUNC, "func", INTEGER), COLUMN(FRAME, LOCATION, "location", INTEGER),
    COLUMN(FRAME, LINE, "line", INTEGER), COLUMN(FRAME, INLINE, "inlineDepth", INTEGER),
    COLUMN(FRAME, LIB, "lib", INTEGER),
};

enum { FUNC_NAME, FUNC_FILE, FUNC_SOURCE, FUNC_LINE, FUNC_COLUMN, FUNC_RESOURCE, FUNC_COLUMNS };
static const struct firefox_column func_columns[FUNC_COLUMNS] = {
    COLUMN(FUNC, NAME, "name", INTEGER),           COLUMN(FUNC, FILE, "fileName", INTEGER),
    COLUMN(FUNC, SOURCE, "source", INTEGER),       COLUMN(FUNC, LINE, "lineNumber", INTEGER),
    COLUMN(FUNC, COLUMN, "columnNumber", INTEGER), COLUMN(FUNC, RESOURCE, "resource", INTEGER),
};

enum { RESOURCE_NAME, RESOURCE_LIB, RESOURCE_COLUMNS };
static const struct firefox_column resource_columns[RESOURCE_COLUMNS] = {
    COLUMN(RESOURCE, NAME, "name", INTEGER),
    COLUMN(RESOURCE, LIB, "lib", INTEGER),
};

enum { SOURCE_FILE, SOURCE_COLUMNS };
static const struct firefox_column source_columns[SOURCE_COLUMNS] = {
    COLUMN(SOURCE, FILE, "filename", INTEGER),
};

enum { SAMPLE_STACK, SAMPLE_TIME, SAMPLE_DELTA, SAMPLE_WEIGHT, SAMPLE_CPU, SAMPLE_COLUMNS };
static const struct firefox_column sample_columns[SAMPLE_COLUMNS] = {
    COLUMN(SAMPLE, STACK, "stack", INTEGER),        COLUMN(SAMPLE, TIME, "time", MS),
    COLUMN(SAMPLE, DELTA, "timeDeltas", MS),        COLUMN(SAMPLE, WEIGHT, "weight", INTEGER),
    COLUMN(SAMPLE, CPU, "threadCPUDelta", INTEGER),
};

enum {
    MARKER_NAME,
    MARKER_TIME,
    MARKER_START,
    MARKER_END,
    MARKER_PHASE,
    MARKER_CATEGORY,
    MARKER_DATA,
    MARKER_COLUMNS
};
static const struct firefox_column marker_columns[MARKER_COLUMNS] = {
    COLUMN(MARKER, NAME, "name", INTEGER),   COLUMN(MARKER, TIME, "time", MS),
    COLUMN(MARKER, START, "startTime", MS),  COLUMN(MARKER, END, "endTime", MS),
    COLUMN(MARKER, PHASE, "phase", INTEGER), COLUMN(MARKER, CATEGORY, "category", INTEGER),
    COLUMN(MARKER, DATA, "data", OFFSET),
};

enum { COUNTER_TIME, COUNTER_DELTA, COUNTER_COUNT, COUNTER_COLUMNS };
static const struct firefox_column counter_columns[COUNTER_COLUMNS] = {
    COLUMN(COUNTER, TIME, "time", MS),
    COLUMN(COUNTER, DELTA, "timeDeltas", MS),
    COLUMN(COUNTER, COUNT, "count", INTEGER),
};

/* Strings, or stacks, in the model's numbers. */
struct firefox_numbers {
    uint32_t *rows;
    size_t count, capacity;
};

static void firefox_numbers_add(struct firefox_numbers *numbers, uint32_t value)
{
    numbers->rows = tv_array_reserve(numbers->rows, &numbers->capacity, numbers->count + 1,
                                     sizeof *numbers->rows);
    numbers->rows[numbers->count++] = value;
}

static uint32_t firefox_number(const struct firefox_numbers *numbers, int64_t row,
                               uint32_t otherwise)
{
    return row >= 0 && (uint64_t)row < numbers->count ? numbers->rows[row] : otherwise;
}

/* The tables that stacks need, of one thread or of all. */
struct firefox_stacks {
    struct firefox_numbers strings, libs, frames, lines, paths, line_paths, depths;
    struct firefox_column stack[STACK_COLUMNS], frame[FRAME_COLUMNS], func[FUNC_COLUMNS],
        resource[RESOURCE_COLUMNS], source[SOURCE_COLUMNS];
    bool has_strings, has_stacks;
};

struct firefox {
    struct tv_profile_input profile;
    struct tv_profile_text text;
    struct tv_json_stream stream;
    struct tv_te_scratch scratch;
    struct firefox_stacks shared;
    struct firefox_numbers libs, categories;
    struct tv_map pids;  /* string of a pid that is no number -> its stand-in */
    int64_t base, start; /* meta.startTime of the whole file and of this process */
    const char *cpu_unit;
    int64_t cpu_factor;
    size_t threads;
};

/* Deepest nesting of "processes"; browsers nest once. */
#define PROCESSES_MAX 8

/* ---- Values ---- */

static bool firefox_at(const struct firefox *file, uint64_t offset, struct tv_json_stream *stream)
{
    if (offset == TV_NO_OFFSET)
        return false;
    *stream = tv_json_stream_at(&file->stream, (size_t)offset);
    return true;
}

static void firefox_warn_end(struct firefox *file, const struct tv_json_stream *stream)
{
    if (stream->bad)
        tv_profile_warn(&file->profile, TV_DIAGNOSTIC_TRUNCATED, tv_json_stream_offset(stream));
}

/* Take a value as text, valid until the next one; empty for null, objects and arrays. */
static struct tv_bytes firefox_take_text(struct firefox *file, struct tv_json_stream *stream)
{
    struct tv_bytes raw = tv_json_take_raw(stream), none = {NULL, 0};
    if (stream->bad || raw.length == 0 || raw.data[0] == '{' || raw.data[0] == '[' ||
        tv_bytes_equal(raw, TV_BYTES("null")))
        return none;
    return tv_te_decode_text(raw, &file->scratch);
}

static uint32_t firefox_string_at(struct firefox *file, uint64_t offset)
{
    struct tv_json_stream stream;
    return firefox_at(file, offset, &stream)
               ? tv_profile_string(&file->profile, firefox_take_text(file, &stream))
               : TV_EMPTY_STRING;
}

static int64_t firefox_ms_at(const struct firefox *file, uint64_t offset)
{
    struct tv_json_stream stream;
    int64_t ns;
    return firefox_at(file, offset, &stream) && tv_json_take_number(&stream, 6, &ns) ? ns : ABSENT;
}

/* Read an array of texts. */
static void firefox_read_texts(struct firefox *file, uint64_t offset,
                               struct firefox_numbers *numbers)
{
    struct tv_json_stream stream;
    numbers->count = 0;
    if (!firefox_at(file, offset, &stream) || !tv_json_open(&stream, '['))
        return;
    while (tv_json_take_element(&stream))
        firefox_numbers_add(numbers,
                            tv_profile_string(&file->profile, firefox_take_text(file, &stream)));
}

/* Read the names in an array of objects. */
static void firefox_read_names(struct firefox *file, uint64_t offset,
                               struct firefox_numbers *numbers)
{
    struct tv_json_stream stream;
    struct tv_json_member member = {"name", 0};
    numbers->count = 0;
    if (!firefox_at(file, offset, &stream) || !tv_json_open(&stream, '['))
        return;
    while (tv_json_take_element(&stream)) {
        (void)tv_json_find_members(&stream, &member, 1);
        firefox_numbers_add(numbers, firefox_string_at(file, member.offset));
    }
}

/* ---- Tables ---- */

static int64_t firefox_take_cell(struct tv_json_stream *stream, enum firefox_column_kind kind)
{
    int64_t value;
    (void)tv_json_peek(stream);
    if (kind == FIREFOX_OFFSET) {
        value = (int64_t)tv_json_stream_offset(stream);
        tv_json_skip(stream);
        return value;
    }
    return tv_json_take_number(stream, kind == FIREFOX_MS ? 6 : 0, &value) ? value : ABSENT;
}

static void firefox_column_add(struct firefox_column *column, int64_t value)
{
    column->rows =
        tv_array_reserve(column->rows, &column->capacity, column->count + 1, sizeof *column->rows);
    column->rows[column->count++] = value;
}

static struct firefox_column *firefox_find_column(struct firefox_column *columns, size_t count,
                                                  struct tv_bytes name)
{
    for (size_t i = 0; i < count; i++)
        if (tv_bytes_equal(name, tv_bytes_of(columns[i].name)))
            return &columns[i];
    return NULL;
}

/* Most columns of a gecko table; they have ten. */
#define SCHEMA_MAX 64

/* Read a schema: which column stands where in a row. */
static void firefox_read_schema(struct tv_json_stream *stream, struct firefox_column *columns,
                                size_t count, struct firefox_column **places)
{
    struct tv_bytes key;
    int64_t place;
    if (!tv_json_open(stream, '{'))
        return;
    while (tv_json_take_key(stream, &key))
        if (tv_json_take_number(stream, 0, &place) && place >= 0 && place < SCHEMA_MAX)
            places[place] = firefox_find_column(columns, count, key);
}

/* Read the rows of a gecko table.  A row may be shorter than the schema. */
static void firefox_read_rows(struct tv_json_stream *stream, struct firefox_column *columns,
                              size_t count, struct firefox_column **places)
{
    if (!tv_json_open(stream, '['))
        return;
    while (tv_json_take_element(stream)) {
        for (size_t i = 0; i < count; i++)
            firefox_column_add(&columns[i], ABSENT);
        if (!tv_json_open(stream, '['))
            continue;
        for (size_t place = 0; tv_json_take_element(stream); place++) {
            struct firefox_column *column = place < SCHEMA_MAX ? places[place] : NULL;
            if (column)
                column->rows[column->count - 1] = firefox_take_cell(stream, column->kind);
            else
                tv_json_skip(stream);
        }
    }
}

/* Read the columns that are wanted of a table at an offset.  Release them later. */
static void firefox_read_table(struct firefox *file, uint64_t offset,
                               struct firefox_column *columns, const struct firefox_column *model,
                               size_t count)
{
    struct firefox_column *places[SCHEMA_MAX] = {NULL}, *column;
    struct tv_json_member members[] = {{"schema", 0}, {"data", 0}};
    struct tv_json_stream stream, inside;
    struct tv_bytes key;
    for (size_t i = 0; i < count; i++)
        columns[i].name = model[i].name, columns[i].kind = model[i].kind, columns[i].count = 0;
    if (!firefox_at(file, offset, &stream))
        return;
    (void)tv_json_find_members(&stream, members, TV_COUNT(members));
    if (firefox_at(file, members[0].offset, &inside)) {
        firefox_read_schema(&inside, columns, count, places);
        if (firefox_at(file, members[1].offset, &inside))
            firefox_read_rows(&inside, columns, count, places);
        return;
    }
    (void)firefox_at(file, offset, &stream);
    if (!tv_json_open(&stream, '{'))
        return;
    while (tv_json_take_key(&stream, &key)) {
        column = firefox_find_column(columns, count, key);
        if (!column || !tv_json_open(&stream, '[')) {
            if (!column)
                tv_json_skip(&stream);
            continue;
        }
        column->count = 0;
        while (tv_json_take_element(&stream))
            firefox_column_add(column, firefox_take_cell(&stream, column->kind));
    }
}

static void firefox_release_table(struct firefox_column *columns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        tv_free(columns[i].rows);
}

/* ---- Frames ---- */

/* Take ":12" off the end of a text. */
static bool firefox_take_number(struct tv_bytes *text, int32_t *number)
{
    size_t i = text->length;
    uint64_t value;
    while (i > 0 && text->data[i - 1] >= '0' && text->data[i - 1] <= '9')
        i--;
    if (i < 2 || text->data[i - 1] != ':' ||
        !tv_parse_u64((struct tv_bytes){text->data + i, text->length - i}, &value) ||
        value > INT32_MAX)
        return false;
    *number = (int32_t)value;
    text->length = i - 1;
    return true;
}

/* Take ":line" or ":line:column" off the end of a text. */
static bool firefox_take_position(struct tv_bytes *text, struct tv_frame *frame)
{
    int32_t last, before;
    if (!firefox_take_number(text, &last))
        return false;
    frame->line = last;
    if (firefox_take_number(text, &before)) {
        frame->line = before;
        frame->column = last;
    }
    return true;
}

/* Split a gecko location: "name (in lib)", "name (url:line:column)", "url:line:column", "0x12". */
static void firefox_split_location(struct firefox *file, uint32_t string, struct tv_frame *frame)
{
    struct tv_bytes text = tv_trace_info_text(file->profile.info, string), name = text, inside;
    size_t i = text.length;
    frame->name = string;
    while (i > 0 && !(text.data[i - 1] == '(' && i > 1 && text.data[i - 2] == ' '))
        i--;
    if (i > 2 && text.data[text.length - 1] == ')') {
        inside = (struct tv_bytes){text.data + i, text.length - i - 1};
        name.length = i - 2;
        if (tv_bytes_starts_with(inside, TV_BYTES("in "))) {
            inside.data += 3, inside.length -= 3;
            frame->module = tv_profile_string(&file->profile, inside);
            frame->name = tv_profile_string(&file->profile, name);
        } else if (firefox_take_position(&inside, frame)) {
            frame->file = tv_profile_string(&file->profile, inside);
            frame->name = tv_profile_string(&file->profile, name);
        }
    } else if (firefox_take_position(&text, frame)) {
        /* The code of a whole script has no name. */
        frame->file = tv_profile_string(&file->profile, text);
        frame->name = tv_profile_string(&file->profile, TV_BYTES("(root scope)"));
    }
}

static int32_t firefox_line(int64_t number)
{
    return number > 0 && number < INT32_MAX ? (int32_t)number : 0;
}

/* Set a frame to a function of the processed form. */
static void firefox_name_function(const struct firefox_stacks *stacks, int64_t func,
                                  struct tv_frame *frame)
{
    const struct firefox_column *funcs = stacks->func;
    frame->name =
        firefox_number(&stacks->strings, firefox_value(&funcs[FUNC_NAME], func), TV_EMPTY_STRING);
    int64_t name = firefox_value(&funcs[FUNC_FILE], func);
    int64_t source = firefox_value(&funcs[FUNC_SOURCE], func);
    if (source != ABSENT)
        name = firefox_value(&stacks->source[SOURCE_FILE], source);
    frame->file = firefox_number(&stacks->strings, name, TV_EMPTY_STRING);
    frame->line = firefox_line(firefox_value(&funcs[FUNC_LINE], func));
    frame->column = firefox_line(firefox_value(&funcs[FUNC_COLUMN], func));
    int64_t resource = firefox_value(&funcs[FUNC_RESOURCE], func);
    int64_t lib = firefox_value(&stacks->resource[RESOURCE_LIB], resource);
    frame->module = firefox_number(&stacks->libs, lib, TV_EMPTY_STRING);
}

static void firefox_add_frame(struct firefox *file, struct firefox_stacks *stacks, int64_t row)
{
    struct tv_frame frame = {.line = 0};
    int64_t location = firefox_value(&stacks->frame[FRAME_LOCATION], row);
    int64_t func = firefox_value(&stacks->frame[FRAME_FUNC], row);
    uint32_t lib = firefox_number(&stacks->libs, firefox_value(&stacks->frame[FRAME_LIB], row),
                                  TV_EMPTY_STRING);
    uint32_t string = firefox_number(&stacks->strings, location, TV_NONE);
    if (func != ABSENT)
        firefox_name_function(stacks, func, &frame);
    /* The first versions kept the location of gecko as the function's name. */
    if (func != ABSENT && stacks->func[FUNC_FILE].count + stacks->func[FUNC_SOURCE].count == 0)
        firefox_split_location(file, frame.name, &frame);
    else if (string != TV_NONE)
        firefox_split_location(file, string, &frame);
    if (lib != TV_EMPTY_STRING)
        frame.module = lib;
    if (frame.name == TV_EMPTY_STRING)
        frame.name = tv_profile_string(&file->profile, TV_BYTES("[unknown]"));
    int64_t inlined = firefox_value(&stacks->frame[FRAME_INLINE], row);
    frame.kind = inlined > 0 ? TV_FRAME_INLINED : TV_FRAME_UNKNOWN;
    firefox_numbers_add(&stacks->frames, tv_trace_info_add_frame(file->profile.info, &frame));
    firefox_numbers_add(&stacks->lines,
                        (uint32_t)firefox_line(firefox_value(&stacks->frame[FRAME_LINE], row)));
}

/* ---- Stacks ---- */

/* Return the row of a stack's caller; ABSENT: it is a root. */
static int64_t firefox_caller(struct firefox *file, const struct firefox_stacks *stacks, size_t row)
{
    int64_t prefix = firefox_value(&stacks->stack[STACK_PREFIX], (int64_t)row);
    int64_t back = firefox_value(&stacks->stack[STACK_PREFIX_OFFSET], (int64_t)row);
    if (back != ABSENT)
        prefix = back > 0 ? (int64_t)row - back : ABSENT;
    if (prefix == ABSENT || prefix == -1)
        return ABSENT;
    if (prefix < 0 || (uint64_t)prefix >= row) {
        /* Callers stand before the called, so there is no circle. */
        tv_profile_warn(&file->profile, TV_DIAGNOSTIC_STACK_NO_PARENT, TV_NO_OFFSET);
        return ABSENT;
    }
    return prefix;
}

/* Find the paths of all stacks, each from that of its caller. */
static void firefox_build_stacks(struct firefox *file, struct firefox_stacks *stacks)
{
    struct tv_profile_input *profile = &file->profile;
    stacks->paths.count = stacks->line_paths.count = stacks->depths.count = 0;
    stacks->frames.count = stacks->lines.count = 0;
    size_t frames = stacks->frame[FRAME_FUNC].count;
    if (stacks->frame[FRAME_LOCATION].count > frames)
        frames = stacks->frame[FRAME_LOCATION].count;
    for (size_t i = 0; i < frames; i++)
        firefox_add_frame(file, stacks, (int64_t)i);
    for (size_t i = 0; i < stacks->stack[STACK_FRAME].count; i++) {
        int64_t caller = firefox_caller(file, stacks, i);
        int64_t row = stacks->stack[STACK_FRAME].rows[i];
        uint32_t frame = firefox_number(&stacks->frames, row, TV_NONE);
        profile->path = firefox_number(&stacks->paths, caller, TV_ROOT_PATH);
        profile->line_path = firefox_number(&stacks->line_paths, caller, TV_ROOT_PATH);
        profile->depth = firefox_number(&stacks->depths, caller, 0);
        if (frame == TV_NONE)
            tv_profile_warn(profile, TV_DIAGNOSTIC_STACK_UNKNOWN, TV_NO_OFFSET);
        else
            tv_profile_stack_push(profile, frame, (int32_t)stacks->lines.rows[row]);
        firefox_numbers_add(&stacks->paths, profile->path);
        firefox_numbers_add(&stacks->line_paths, profile->line_path);
        firefox_numbers_add(&stacks->depths, (uint32_t)profile->depth);
    }
}

static void firefox_release_stacks(struct firefox_stacks *stacks)
{
    struct firefox_numbers *numbers[] = {&stacks->strings, &stacks->libs,  &stacks->frames,
                                         &stacks->lines,   &stacks->paths, &stacks->line_paths,
                                         &stacks->depths};
    for (size_t i = 0; i < TV_COUNT(numbers); i++)
        tv_free(numbers[i]->rows);
    firefox_release_table(stacks->stack, STACK_COLUMNS);
    firefox_release_table(stacks->frame, FRAME_COLUMNS);
    firefox_release_table(stacks->func, FUNC_COLUMNS);
    firefox_release_table(stacks->resource, RESOURCE_COLUMNS);
    firefox_release_table(stacks->source, SOURCE_COLUMNS);
}

enum {
    TABLE_STRINGS,
    TABLE_OLD_STRINGS,
    TABLE_STACKS,
    TABLE_FRAMES,
    TABLE_FUNCS,
    TABLE_RESOURCES,
    TABLE_SOURCES,
    TABLE_LIBS,
    TABLES
};

static const char *const table_keys[TABLES] = {"stringArray", "stringTable", "stackTable",
                                               "frameTable",  "funcTable",   "resourceTable",
                                               "sources",     "libs"};

/* Read the tables in an object, a thread or "shared".  A thread without its own strings or sources
 * uses the shared ones. */
static void firefox_read_stacks(struct firefox *file, uint64_t offset,
                                struct firefox_stacks *stacks)
{
    struct tv_json_member members[TABLES];
    struct tv_json_stream stream;
    const struct firefox_stacks *shared = &file->shared;
    for (size_t i = 0; i < TABLES; i++)
        members[i].key = table_keys[i];
    if (!firefox_at(file, offset, &stream) || !tv_json_find_members(&stream, members, TABLES))
        return;
    uint64_t strings = members[TABLE_STRINGS].offset;
    if (strings == TV_NO_OFFSET)
        strings = members[TABLE_OLD_STRINGS].offset;
    firefox_read_texts(file, strings, &stacks->strings);
    stacks->has_strings = strings != TV_NO_OFFSET;
    for (size_t i = 0; !stacks->has_strings && i < shared->strings.count; i++)
        firefox_numbers_add(&stacks->strings, shared->strings.rows[i]);
    firefox_read_names(file, members[TABLE_LIBS].offset, &stacks->libs);
    for (size_t i = 0; members[TABLE_LIBS].offset == TV_NO_OFFSET && i < file->libs.count; i++)
        firefox_numbers_add(&stacks->libs, file->libs.rows[i]);
    firefox_read_table(file, members[TABLE_STACKS].offset, stacks->stack, stack_columns,
                       STACK_COLUMNS);
    firefox_read_table(file, members[TABLE_FRAMES].offset, stacks->frame, frame_columns,
                       FRAME_COLUMNS);
    firefox_read_table(file, members[TABLE_FUNCS].offset, stacks->func, func_columns, FUNC_COLUMNS);
    firefox_read_table(file, members[TABLE_RESOURCES].offset, stacks->resource, resource_columns,
                       RESOURCE_COLUMNS);
    firefox_read_table(file, members[TABLE_SOURCES].offset, stacks->source, source_columns,
                       SOURCE_COLUMNS);
    if (members[TABLE_SOURCES].offset == TV_NO_OFFSET && stacks != shared)
        for (size_t i = 0; i < shared->source[SOURCE_FILE].count; i++)
            firefox_column_add(&stacks->source[SOURCE_FILE], shared->source[SOURCE_FILE].rows[i]);
    stacks->has_stacks = members[TABLE_STACKS].offset != TV_NO_OFFSET;
    if (stacks->has_stacks)
        firefox_build_stacks(file, stacks);
}

/* ---- Samples ---- */

/* One thread while it is read. */
struct firefox_thread {
    const struct firefox_stacks *stacks;
    uint32_t number;
};

/* What the weights of a table of samples are. */
struct firefox_weights {
    struct tv_bytes type, unit;
    enum firefox_column_kind kind;
    const char *event;
};

/* Return the time of a row: a time, or the sum of differences in *now. */
static bool firefox_row_time(struct firefox *file, const struct firefox_column *time,
                             const struct firefox_column *delta, size_t row, int64_t *now)
{
    int64_t value = firefox_value(time, (int64_t)row);
    if (value == ABSENT) {
        value = firefox_value(delta, (int64_t)row);
        if (value == ABSENT)
            return false;
        value = tv_move_add(*now, value);
        *now = value;
        return true;
    }
    *now = tv_move_add(value, file->start - file->base);
    return true;
}

static int64_t firefox_multiply(int64_t value, int64_t factor)
{
    if (value > INT64_MAX / factor || value < -(INT64_MAX / factor))
        return value < 0 ? -INT64_MAX : INT64_MAX;
    return value * factor;
}

static void firefox_add_sample(struct firefox *file, const struct firefox_thread *thread,
                               struct tv_sample sample, int64_t stack)
{
    uint32_t path = firefox_number(&thread->stacks->paths, stack, TV_ROOT_PATH);
    uint32_t line_path = firefox_number(&thread->stacks->line_paths, stack, TV_ROOT_PATH);
    tv_profile_add_sample_at(&file->profile, sample, path, line_path);
}

static void firefox_read_samples(struct firefox *file, const struct firefox_thread *thread,
                                 uint64_t offset, const struct firefox_weights *weights)
{
    struct firefox_column columns[SAMPLE_COLUMNS] = {{0}};
    struct tv_profile_input *profile = &file->profile;
    struct firefox_column model[SAMPLE_COLUMNS];
    memcpy(model, sample_columns, sizeof model);
    model[SAMPLE_WEIGHT].kind = weights->kind;
    firefox_read_table(file, offset, columns, model, SAMPLE_COLUMNS);
    uint32_t type = tv_profile_value_type(profile, weights->type, weights->unit), cpu = TV_NONE;
    size_t count = columns[SAMPLE_TIME].count;
    int64_t now = file->start - file->base;
    if (columns[SAMPLE_STACK].count > count)
        count = columns[SAMPLE_STACK].count;
    for (size_t i = 0; i < count; i++) {
        struct tv_sample sample = {
            .offset = offset, .thread = thread->number, .cpu = TV_NONE, .type = type};
        int64_t stack = firefox_value(&columns[SAMPLE_STACK], (int64_t)i);
        int64_t weight = firefox_value(&columns[SAMPLE_WEIGHT], (int64_t)i);
        int64_t used = firefox_value(&columns[SAMPLE_CPU], (int64_t)i);
        if (!firefox_row_time(file, &columns[SAMPLE_TIME], &columns[SAMPLE_DELTA], i, &now)) {
            tv_profile_warn(profile, TV_DIAGNOSTIC_SAMPLE_NO_TIME, offset);
            continue;
        }
        sample.time = now;
        sample.weight = weight == ABSENT ? 1 : weight;
        if (stack != ABSENT && (uint64_t)stack >= thread->stacks->paths.count)
            tv_profile_warn(profile, TV_DIAGNOSTIC_STACK_UNKNOWN, offset);
        firefox_add_sample(file, thread, sample, stack);
        if (used == ABSENT || used == 0)
            continue;
        if (cpu == TV_NONE)
            cpu = tv_profile_value_type(profile, TV_BYTES("CPU"), tv_bytes_of(file->cpu_unit));
        sample.type = cpu;
        sample.weight = firefox_multiply(used, file->cpu_factor);
        firefox_add_sample(file, thread, sample, stack);
    }
    profile->info->inputs[profile->input].samples += count;
    tv_tables_count_events(&profile->trace->tables, profile->input,
                           tv_profile_string(profile, tv_bytes_of(weights->event)), count);
    firefox_release_table(columns, SAMPLE_COLUMNS);
}

/* Return the meaning of the weights in a table of samples. */
static struct firefox_weights firefox_weights_of(struct firefox *file, uint64_t offset)
{
    struct tv_json_member member = {"weightType", 0};
    struct tv_json_stream stream;
    struct tv_bytes type = {NULL, 0};
    if (firefox_at(file, offset, &stream) && tv_json_find_members(&stream, &member, 1) &&
        firefox_at(file, member.offset, &stream))
        type = firefox_take_text(file, &stream);
    if (tv_bytes_equal(type, TV_BYTES("tracing-ms")))
        return (struct firefox_weights){TV_BYTES("tracing-ms"), TV_BYTES("nanoseconds"), FIREFOX_MS,
                                        "samples"};
    if (tv_bytes_equal(type, TV_BYTES("bytes")))
        return (struct firefox_weights){TV_BYTES("bytes"), TV_BYTES("bytes"), FIREFOX_INTEGER,
                                        "samples"};
    return (struct firefox_weights){TV_BYTES("samples"), TV_BYTES("count"), FIREFOX_INTEGER,
                                    "samples"};
}

/* ---- Markers ---- */

enum { PHASE_INSTANT, PHASE_INTERVAL, PHASE_START, PHASE_END };

/* A marker while it is read. */
struct firefox_marker {
    int64_t start, end; /* nanoseconds of its process, or ABSENT */
    int64_t phase;
    uint64_t offset;
    uint32_t frame;
};

/* Old markers have one time; their data may tell the rest. */
static void firefox_complete_marker(struct firefox *file, struct firefox_marker *marker)
{
    struct tv_json_member members[] = {{"startTime", 0}, {"endTime", 0}, {"interval", 0}};
    struct tv_json_stream stream;
    marker->phase = PHASE_INSTANT;
    if (!firefox_at(file, marker->offset, &stream) ||
        !tv_json_find_members(&stream, members, TV_COUNT(members)))
        return;
    int64_t start = firefox_ms_at(file, members[0].offset);
    int64_t end = firefox_ms_at(file, members[1].offset);
    if (start != ABSENT && end != ABSENT) {
        marker->start = start, marker->end = end;
        marker->phase = PHASE_INTERVAL;
    } else if (firefox_at(file, members[2].offset, &stream)) {
        struct tv_bytes side = firefox_take_text(file, &stream);
        marker->end = marker->start;
        if (tv_bytes_equal(side, TV_BYTES("start")))
            marker->phase = PHASE_START;
        else if (tv_bytes_equal(side, TV_BYTES("end")))
            marker->phase = PHASE_END;
    }
}

static void firefox_add_marker(struct firefox *file, uint32_t thread,
                               const struct firefox_marker *marker)
{
    int64_t move = file->start - file->base;
    int64_t time = marker->phase == PHASE_END ? marker->end : marker->start;
    if (time == ABSENT || marker->phase < PHASE_INSTANT || marker->phase > PHASE_END ||
        (marker->phase == PHASE_INTERVAL && marker->end == ABSENT)) {
        tv_profile_warn(&file->profile, TV_DIAGNOSTIC_BAD_EVENT, marker->offset);
        return;
    }
    time = tv_move_add(time, move);
    if (marker->phase == PHASE_INSTANT) {
        struct tv_instant instant = {.time = time,
                                     .offset = marker->offset,
                                     .frame = marker->frame,
                                     .of = thread,
                                     .scope = TV_SCOPE_THREAD};
        tv_profile_add_instant(&file->profile, instant);
        return;
    }
    struct tv_span span = {.time = time,
                           .length = TV_NO_TIME,
                           .offset = marker->offset & TV_OFFSET_MASK,
                           .flags = marker->phase == PHASE_START ? TV_SPAN_BEGIN : TV_SPAN_END,
                           .frame = marker->frame};
    if (marker->phase == PHASE_INTERVAL) {
        int64_t end = tv_move_add(marker->end, move);
        span.flags = TV_SPAN_WHOLE;
        span.length = end > time ? end - time : 0;
        if (end < time)
            tv_profile_warn(&file->profile, TV_DIAGNOSTIC_NEGATIVE_DURATION, marker->offset);
    }
    tv_profile_add_slice(&file->profile, thread, &span);
}

static void firefox_read_markers(struct firefox *file, const struct firefox_thread *thread,
                                 uint64_t offset)
{
    struct firefox_column columns[MARKER_COLUMNS] = {{0}};
    struct tv_profile_input *profile = &file->profile;
    firefox_read_table(file, offset, columns, marker_columns, MARKER_COLUMNS);
    size_t count = columns[MARKER_NAME].count;
    for (size_t i = 0; i < count; i++) {
        int64_t row = (int64_t)i, name = columns[MARKER_NAME].rows[i];
        int64_t data = firefox_value(&columns[MARKER_DATA], row);
        struct tv_frame frame = {
            .name = firefox_number(&thread->stacks->strings, name, TV_EMPTY_STRING),
            .category = firefox_number(
                &file->categories, firefox_value(&columns[MARKER_CATEGORY], row), TV_EMPTY_STRING)};
        struct firefox_marker marker = {.start = firefox_value(&columns[MARKER_START], row),
                                        .end = firefox_value(&columns[MARKER_END], row),
                                        .phase = firefox_value(&columns[MARKER_PHASE], row),
                                        .offset = data == ABSENT ? offset : (uint64_t)data,
                                        .frame = tv_trace_info_add_frame(profile->info, &frame)};
        if (marker.phase == ABSENT) {
            marker.start = firefox_value(&columns[MARKER_TIME], row);
            firefox_complete_marker(file, &marker);
        }
        firefox_add_marker(file, thread->number, &marker);
    }
    tv_tables_count_events(&profile->trace->tables, profile->input,
                           tv_profile_string(profile, TV_BYTES("markers")), count);
    firefox_release_table(columns, MARKER_COLUMNS);
}

/* ---- Threads ---- */

enum {
    THREAD_NAME,
    THREAD_PROCESS,
    THREAD_PID,
    THREAD_TID,
    THREAD_SAMPLES,
    THREAD_MARKERS,
    THREAD_JS_ALLOCATIONS,
    THREAD_NATIVE_ALLOCATIONS,
    THREAD_MEMBERS
};

static const char *const thread_keys[THREAD_MEMBERS] = {
    "name",    "processName", "pid",           "tid",
    "samples", "markers",     "jsAllocations", "nativeAllocations"};

/* Return the process with an id, which may be any text. */
static uint32_t firefox_process(struct firefox *file, uint32_t id, struct tv_bytes name)
{
    struct tv_bytes text = tv_trace_info_text(file->profile.info, id);
    uint64_t pid;
    if (id == TV_EMPTY_STRING || tv_parse_u64(text, &pid))
        return tv_profile_process(&file->profile, id == TV_EMPTY_STRING ? 0 : pid, name);
    /* Numbers from 2^32 on are no process ids. */
    pid = (UINT64_C(1) << 32) + tv_map_add(&file->pids, id, (uint32_t)file->pids.count);
    uint32_t process = tv_profile_process(&file->profile, pid, name);
    file->profile.info->processes[process].key = id;
    return process;
}

static uint32_t firefox_thread(struct firefox *file, const struct tv_json_member *members)
{
    struct tv_trace_info *info = file->profile.info;
    uint32_t name = firefox_string_at(file, members[THREAD_NAME].offset);
    uint32_t process_name = firefox_string_at(file, members[THREAD_PROCESS].offset);
    uint32_t pid = firefox_string_at(file, members[THREAD_PID].offset);
    uint32_t tid = firefox_string_at(file, members[THREAD_TID].offset);
    uint32_t process = firefox_process(file, pid, tv_trace_info_text(info, process_name));
    uint64_t number;
    bool plain = tv_parse_u64(tv_trace_info_text(info, tid), &number);
    if (!plain)
        number = (UINT64_C(1) << 32) + file->threads;
    uint32_t thread =
        tv_profile_thread(&file->profile, process, number, tv_trace_info_text(info, name));
    if (!plain)
        info->threads[thread].key = tid;
    return thread;
}

static void firefox_read_thread(struct firefox *file, struct tv_json_stream *stream)
{
    static const struct firefox_weights js = {TV_BYTES_OF("jsAllocations"), TV_BYTES_OF("bytes"),
                                              FIREFOX_INTEGER, "jsAllocations"};
    static const struct firefox_weights native = {TV_BYTES_OF("nativeAllocations"),
                                                  TV_BYTES_OF("bytes"), FIREFOX_INTEGER,
                                                  "nativeAllocations"};
    struct tv_json_member members[THREAD_MEMBERS];
    struct firefox_stacks own = {.has_stacks = false};
    uint64_t offset = tv_json_stream_offset(stream);
    for (size_t i = 0; i < THREAD_MEMBERS; i++)
        members[i].key = thread_keys[i];
    if (!tv_json_find_members(stream, members, THREAD_MEMBERS)) {
        tv_profile_warn(&file->profile, TV_DIAGNOSTIC_SUBTRACE_UNREAD, offset);
        return;
    }
    file->threads++;
    firefox_read_stacks(file, offset, &own);
    struct firefox_thread thread = {.stacks = own.has_stacks ? &own : &file->shared,
                                    .number = firefox_thread(file, members)};
    struct firefox_weights weights = firefox_weights_of(file, members[THREAD_SAMPLES].offset);
    if (members[THREAD_SAMPLES].offset != TV_NO_OFFSET)
        firefox_read_samples(file, &thread, members[THREAD_SAMPLES].offset, &weights);
    if (members[THREAD_JS_ALLOCATIONS].offset != TV_NO_OFFSET)
        firefox_read_samples(file, &thread, members[THREAD_JS_ALLOCATIONS].offset, &js);
    if (members[THREAD_NATIVE_ALLOCATIONS].offset != TV_NO_OFFSET)
        firefox_read_samples(file, &thread, members[THREAD_NATIVE_ALLOCATIONS].offset, &native);
    if (members[THREAD_MARKERS].offset != TV_NO_OFFSET)
        firefox_read_markers(file, &thread, members[THREAD_MARKERS].offset);
    firefox_release_stacks(&own);
}

/* ---- Counters ---- */

enum {
    COUNTERS_NAME,
    COUNTERS_CATEGORY,
    COUNTERS_PID,
    COUNTERS_SAMPLES,
    COUNTERS_GROUPS,
    COUNTERS_OLD_GROUPS,
    COUNTERS_MEMBERS
};

static const char *const counter_keys[COUNTERS_MEMBERS] = {
    "name", "category", "pid", "samples", "sampleGroups", "sample_groups"};

/* Return the table of a counter: older files have it within a group, or in a list of groups. */
static uint64_t firefox_counter_table(const struct firefox *file,
                                      const struct tv_json_member *members)
{
    struct tv_json_member samples = {"samples", 0};
    struct tv_json_stream stream;
    uint64_t group = members[COUNTERS_GROUPS].offset != TV_NO_OFFSET
                         ? members[COUNTERS_GROUPS].offset
                         : members[COUNTERS_OLD_GROUPS].offset;
    if (members[COUNTERS_SAMPLES].offset != TV_NO_OFFSET)
        return members[COUNTERS_SAMPLES].offset;
    if (!firefox_at(file, group, &stream))
        return TV_NO_OFFSET;
    if (tv_json_peek(&stream) == '[' && tv_json_open(&stream, '[') &&
        !tv_json_take_element(&stream))
        return TV_NO_OFFSET;
    return tv_json_find_members(&stream, &samples, 1) ? samples.offset : TV_NO_OFFSET;
}

/* Add a counter.  Memory is told as differences; everything else as it is shown. */
static void firefox_add_counter(struct firefox *file, const struct tv_json_member *members,
                                const struct firefox_column *columns)
{
    struct tv_trace *trace = file->profile.trace;
    size_t count = columns[COUNTER_COUNT].count, used = 0;
    tv_ns *times = tv_alloc(count, sizeof *times);
    uint64_t *offsets = tv_alloc(count, sizeof *offsets);
    double *values = tv_alloc(count, sizeof *values), sum = 0;
    int64_t now = file->start - file->base;
    uint32_t category = firefox_string_at(file, members[COUNTERS_CATEGORY].offset);
    uint32_t name = firefox_string_at(file, members[COUNTERS_NAME].offset), series = name;
    uint32_t pid = firefox_string_at(file, members[COUNTERS_PID].offset);
    bool sums =
        tv_bytes_equal(tv_trace_info_text(file->profile.info, category), TV_BYTES("Memory"));
    for (size_t i = 0; i < count; i++) {
        int64_t value = columns[COUNTER_COUNT].rows[i];
        if (value == ABSENT ||
            !firefox_row_time(file, &columns[COUNTER_TIME], &columns[COUNTER_DELTA], i, &now) ||
            (used > 0 && now < times[used - 1])) {
            tv_profile_warn(&file->profile, TV_DIAGNOSTIC_BAD_COUNTER, TV_NO_OFFSET);
            continue;
        }
        sum = sums ? sum + (double)value : (double)value;
        times[used] = now, offsets[used] = TV_NO_OFFSET, values[used++] = sum;
        tv_profile_reach(&file->profile, now);
    }
    struct tv_counter counter = {.name = name,
                                 .category = category,
                                 .process = firefox_process(file, pid, (struct tv_bytes){NULL, 0}),
                                 .input = file->profile.input,
                                 .series_count = 1,
                                 .sample_count = (uint32_t)used};
    if (used > 0)
        tv_tables_add_counter(&trace->tables, &counter, &series, times, offsets, values);
    tv_free(times);
    tv_free(offsets);
    tv_free(values);
}

static void firefox_read_counters(struct firefox *file, uint64_t offset)
{
    struct tv_json_member members[COUNTERS_MEMBERS];
    struct tv_json_stream stream;
    struct firefox_column columns[COUNTER_COLUMNS] = {{0}};
    if (!firefox_at(file, offset, &stream) || !tv_json_open(&stream, '['))
        return;
    for (size_t i = 0; i < COUNTERS_MEMBERS; i++)
        members[i].key = counter_keys[i];
    while (tv_json_take_element(&stream)) {
        if (!tv_json_find_members(&stream, members, COUNTERS_MEMBERS))
            continue;
        firefox_read_table(file, firefox_counter_table(file, members), columns, counter_columns,
                           COUNTER_COLUMNS);
        firefox_add_counter(file, members, columns);
    }
    firefox_release_table(columns, COUNTER_COLUMNS);
}

/* ---- The file ---- */

enum {
    META_START,
    META_CATEGORIES,
    META_UNITS,
    META_PREPROCESSED,
    META_VERSION,
    META_PRODUCT,
    META_MEMBERS
};

static const char *const meta_keys[META_MEMBERS] = {
    "startTime", "categories", "sampleUnits", "preprocessedProfileVersion", "version", "product"};

/* The newest processed version whose changes are known; later ones only added columns so far. */
#define NEWEST_VERSION 70

/* Read the unit of threadCPUDelta. */
static void firefox_read_units(struct firefox *file, uint64_t offset)
{
    struct tv_json_member member = {"threadCPUDelta", 0};
    struct tv_json_stream stream;
    if (!firefox_at(file, offset, &stream) || !tv_json_find_members(&stream, &member, 1))
        return;
    uint32_t unit = firefox_string_at(file, member.offset);
    struct tv_bytes text = tv_trace_info_text(file->profile.info, unit);
    file->cpu_factor = 1;
    if (tv_bytes_equal(text, TV_BYTES("ns"))) {
        file->cpu_unit = "nanoseconds";
    } else if (tv_bytes_equal(text, TV_BYTES("\xc2\xb5s")) ||
               tv_bytes_equal(text, TV_BYTES("\xce\xbcs"))) {
        file->cpu_unit = "nanoseconds";
        file->cpu_factor = 1000;
    }
}

/* Note what the whole file is. */
static void firefox_describe_input(struct firefox *file, const struct tv_json_member *members)
{
    struct tv_profile_input *profile = &file->profile;
    struct tv_input *input = &profile->info->inputs[profile->input];
    struct tv_json_stream stream;
    int64_t version = 0;
    bool processed = firefox_at(file, members[META_PREPROCESSED].offset, &stream) &&
                     tv_json_take_number(&stream, 0, &version);
    if (!processed && firefox_at(file, members[META_VERSION].offset, &stream))
        (void)tv_json_take_number(&stream, 0, &version);
    input->version = version > 0 && version < INT32_MAX ? (uint32_t)version : 0;
    if (processed && version > NEWEST_VERSION)
        tv_profile_warn(profile, TV_DIAGNOSTIC_NEWER_VERSION, members[META_PREPROCESSED].offset);
    uint32_t product = firefox_string_at(file, members[META_PRODUCT].offset);
    tv_trace_info_add_metadata(profile->info, profile->input, TV_BYTES("product"),
                               tv_trace_info_text(profile->info, product));
    if (file->start > INT64_C(1000000000) * 1000000000)
        input->recorded_us = file->start / 1000;
}

static void firefox_read_meta(struct firefox *file, uint64_t offset, bool outermost)
{
    struct tv_json_member members[META_MEMBERS];
    struct tv_json_stream stream;
    for (size_t i = 0; i < META_MEMBERS; i++)
        members[i].key = meta_keys[i];
    if (!firefox_at(file, offset, &stream) || !tv_json_find_members(&stream, members, META_MEMBERS))
        return;
    int64_t start = firefox_ms_at(file, members[META_START].offset);
    file->start = start == ABSENT ? file->base : start;
    firefox_read_names(file, members[META_CATEGORIES].offset, &file->categories);
    firefox_read_units(file, members[META_UNITS].offset);
    if (!outermost)
        return;
    file->base = file->start;
    firefox_describe_input(file, members);
}

enum {
    FILE_META,
    FILE_LIBS,
    FILE_SHARED,
    FILE_THREADS,
    FILE_COUNTERS,
    FILE_PROCESSES,
    FILE_PROFILE,
    FILE_MEMBERS
};

static const char *const file_keys[FILE_MEMBERS] = {"meta",     "libs",      "shared", "threads",
                                                    "counters", "processes", "profile"};

/* A profile inside of the file; the browser has one for each child process. */
struct firefox_nested {
    uint64_t offset;
    unsigned depth;
};

struct firefox_queue {
    struct firefox_nested *rows;
    size_t count, capacity;
};

static void firefox_queue_add(struct firefox *file, struct firefox_queue *queue, uint64_t offset,
                              unsigned depth)
{
    if (depth > PROCESSES_MAX) {
        tv_profile_warn(&file->profile, TV_DIAGNOSTIC_TOO_NESTED, offset);
        return;
    }
    queue->rows =
        tv_array_reserve(queue->rows, &queue->capacity, queue->count + 1, sizeof *queue->rows);
    queue->rows[queue->count++] = (struct firefox_nested){offset, depth};
}

static void firefox_queue_processes(struct firefox *file, struct firefox_queue *queue,
                                    uint64_t offset, unsigned depth)
{
    struct tv_json_stream stream;
    if (!firefox_at(file, offset, &stream) || !tv_json_open(&stream, '['))
        return;
    while (tv_json_take_element(&stream)) {
        firefox_queue_add(file, queue, tv_json_stream_offset(&stream), depth + 1);
        tv_json_skip(&stream);
    }
}

static void firefox_read_profile(struct firefox *file, struct firefox_queue *queue,
                                 struct firefox_nested from)
{
    struct tv_json_member members[FILE_MEMBERS];
    struct tv_json_stream stream = tv_json_stream_at(&file->stream, (size_t)from.offset);
    for (size_t i = 0; i < FILE_MEMBERS; i++)
        members[i].key = file_keys[i];
    (void)tv_json_find_members(&stream, members, FILE_MEMBERS);
    if (from.depth == 0)
        firefox_warn_end(file, &stream);
    if (members[FILE_META].offset == TV_NO_OFFSET && members[FILE_PROFILE].offset != TV_NO_OFFSET) {
        /* A recording of the old developer tools has the profile inside. */
        firefox_queue_add(file, queue, members[FILE_PROFILE].offset, from.depth + 1);
        return;
    }
    firefox_read_meta(file, members[FILE_META].offset, file->threads == 0);
    firefox_read_names(file, members[FILE_LIBS].offset, &file->libs);
    firefox_read_stacks(file, members[FILE_SHARED].offset, &file->shared);
    if (firefox_at(file, members[FILE_THREADS].offset, &stream) && tv_json_open(&stream, '['))
        while (tv_json_take_element(&stream))
            firefox_read_thread(file, &stream);
    firefox_read_counters(file, members[FILE_COUNTERS].offset);
    firefox_queue_processes(file, queue, members[FILE_PROCESSES].offset, from.depth);
}

static enum tv_status firefox_assemble(struct tv_source *source, struct tv_builder *builder,
                                       const struct tv_read_options *options, struct tv_error *err)
{
    struct firefox file = {.cpu_unit = "cycles", .cpu_factor = 1};
    struct firefox_queue queue = {.rows = NULL};
    enum tv_status status = tv_profile_text_read(source, &file.text, err);
    if (status != TV_OK)
        return status;
    tv_profile_input_begin(&file.profile, source, builder, "Firefox Profiler");
    tv_map_init(&file.pids);
    file.stream = tv_json_stream_over(file.text.bytes);
    firefox_queue_add(&file, &queue, tv_json_stream_offset(&file.stream), 0);
    for (size_t i = 0; i < queue.count; i++)
        firefox_read_profile(&file, &queue, queue.rows[i]);
    tv_profile_input_end(&file.profile, options);
    firefox_release_stacks(&file.shared);
    tv_map_release(&file.pids);
    tv_te_scratch_release(&file.scratch);
    tv_free(file.libs.rows);
    tv_free(file.categories.rows);
    tv_free(queue.rows);
    tv_profile_text_release(&file.text);
    return TV_OK;
}

static int firefox_sniff(struct tv_bytes prefix, uint64_t size)
{
    (void)size;
    return tv_json_profile_kind(prefix) == TV_JSON_PROFILE_FIREFOX ? TV_JSON_PROFILE_SURE : 0;
}

const struct tv_reader tv_reader_firefox = {
    .name = "firefox",
    .summary = "Firefox Profiler JSON (processed, and gecko of browser and simpleperf)",
    .sniff = firefox_sniff,
    .assemble = firefox_assemble,
};
