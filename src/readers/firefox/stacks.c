/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stacks.c - the tables of a Firefox profile that stacks need.
 *
 *     stackTable   prefix [null, 0, 1]   frame [0, 1, 1]     stack 2 = frame 1 called by stack 1
 *     frameTable   func [0, 1]           line [7, null]
 *     funcTable    name [0, 1]           fileName, lineNumber, columnNumber, resource
 *     stringArray  ["main", "read"]
 *
 * Gecko files have no functions: a frame has a "location", a text like "read (in libc.so)" or
 * "load (https://host/app.js:12:3)" that is taken apart here.
 *
 * Each table is turned into arrays of the model's numbers, row by row, so that a sample only looks
 * its stack up. Callers are rows before their callees, which makes one pass enough, and a circle
 * impossible.
 */
#include "readers/firefox/firefox.h"

#include "base/bytes.h"
#include "base/memory.h"

enum { STACK_FRAME, STACK_PREFIX, STACK_PREFIX_OFFSET, STACK_COLUMNS };
static const struct tv_firefox_column stack_columns[STACK_COLUMNS] = {
    [STACK_FRAME] = TV_FIREFOX_COLUMN("frame", INTEGER),
    [STACK_PREFIX] = TV_FIREFOX_COLUMN("prefix", INTEGER),
    /* Newer files: the distance back to the caller's row; 0 means a root. */
    [STACK_PREFIX_OFFSET] = TV_FIREFOX_COLUMN("prefixOffset", INTEGER),
};

enum {
    FRAME_FUNC,
    FRAME_LOCATION,
    FRAME_LINE,
    FRAME_INLINE,
    FRAME_LIB,
    FRAME_CATEGORY,
    FRAME_COLUMNS
};
static const struct tv_firefox_column frame_columns[FRAME_COLUMNS] = {
    [FRAME_FUNC] = TV_FIREFOX_COLUMN("func", INTEGER),
    [FRAME_LOCATION] = TV_FIREFOX_COLUMN("location", INTEGER),
    [FRAME_LINE] = TV_FIREFOX_COLUMN("line", INTEGER),
    [FRAME_INLINE] = TV_FIREFOX_COLUMN("inlineDepth", INTEGER),
    [FRAME_LIB] = TV_FIREFOX_COLUMN("lib", INTEGER),
    [FRAME_CATEGORY] = TV_FIREFOX_COLUMN("category", INTEGER),
};

enum { FUNC_NAME, FUNC_FILE, FUNC_SOURCE, FUNC_LINE, FUNC_COLUMN, FUNC_RESOURCE, FUNC_COLUMNS };
static const struct tv_firefox_column func_columns[FUNC_COLUMNS] = {
    [FUNC_NAME] = TV_FIREFOX_COLUMN("name", INTEGER),
    [FUNC_FILE] = TV_FIREFOX_COLUMN("fileName", INTEGER),
    [FUNC_SOURCE] = TV_FIREFOX_COLUMN("source", INTEGER),
    [FUNC_LINE] = TV_FIREFOX_COLUMN("lineNumber", INTEGER),
    [FUNC_COLUMN] = TV_FIREFOX_COLUMN("columnNumber", INTEGER),
    [FUNC_RESOURCE] = TV_FIREFOX_COLUMN("resource", INTEGER),
};

enum { RESOURCE_NAME, RESOURCE_LIB, RESOURCE_COLUMNS };
static const struct tv_firefox_column resource_columns[RESOURCE_COLUMNS] = {
    [RESOURCE_NAME] = TV_FIREFOX_COLUMN("name", INTEGER),
    [RESOURCE_LIB] = TV_FIREFOX_COLUMN("lib", INTEGER),
};

static const struct tv_firefox_column source_column = TV_FIREFOX_COLUMN("filename", INTEGER);

/* The tables of one object while its stacks are built. */
struct firefox_stack_tables {
    struct tv_firefox_stacks *into;
    struct tv_firefox_column stack[STACK_COLUMNS], frame[FRAME_COLUMNS], func[FUNC_COLUMNS],
        resource[RESOURCE_COLUMNS];
};

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
static void firefox_split_location(struct tv_firefox *file, uint32_t string, struct tv_frame *frame)
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

/* Return a line or column; 0 for null and for numbers that do not fit. */
static int32_t firefox_line(int64_t number)
{
    return number > 0 && number < INT32_MAX ? (int32_t)number : 0;
}

/* Set a frame to a function of the processed form. */
static void firefox_name_function(const struct firefox_stack_tables *tables, int64_t func,
                                  struct tv_frame *frame)
{
    const struct tv_firefox_column *funcs = tables->func;
    frame->name = tv_firefox_number(&tables->into->strings,
                                    tv_firefox_value(&funcs[FUNC_NAME], func), TV_EMPTY_STRING);
    int64_t name = tv_firefox_value(&funcs[FUNC_FILE], func);
    int64_t source = tv_firefox_value(&funcs[FUNC_SOURCE], func);
    if (source != TV_FIREFOX_ABSENT)
        name = tv_firefox_value(&tables->into->sources, source);
    frame->file = tv_firefox_number(&tables->into->strings, name, TV_EMPTY_STRING);
    frame->line = firefox_line(tv_firefox_value(&funcs[FUNC_LINE], func));
    frame->column = firefox_line(tv_firefox_value(&funcs[FUNC_COLUMN], func));
    int64_t resource = tv_firefox_value(&funcs[FUNC_RESOURCE], func);
    int64_t lib = tv_firefox_value(&tables->resource[RESOURCE_LIB], resource);
    frame->module = tv_firefox_number(&tables->into->libs, lib, TV_EMPTY_STRING);
}

/* Return the kind of frame that a category stands for: the kernel's in every file, and those that
 * files of ours have. */
static enum tv_frame_kind firefox_find_kind(struct tv_firefox *file, int64_t category)
{
    static const struct {
        const char *name;
        enum tv_frame_kind kind;
    } kinds[] = {
        {"native", TV_FRAME_NATIVE}, {"C++", TV_FRAME_CPP}, {"kernel", TV_FRAME_KERNEL},
        {"Kernel", TV_FRAME_KERNEL}, {"JIT", TV_FRAME_JIT}, {"interpreted", TV_FRAME_INTERPRETED},
        {"GC", TV_FRAME_GC},
    };
    uint32_t string = tv_firefox_number(&file->categories, category, TV_EMPTY_STRING);
    struct tv_bytes name = tv_trace_info_text(file->profile.info, string);
    for (size_t i = 0; i < TV_COUNT(kinds); i++)
        if (tv_bytes_equal(name, tv_bytes_of(kinds[i].name)))
            return kinds[i].kind;
    return TV_FRAME_UNKNOWN;
}

/* Add the frame of a row, and its sampled line. The line of the function becomes part of the frame,
 * the sampled line does not: a function would fall apart into a frame for each line. */
static void firefox_add_frame(struct tv_firefox *file, const struct firefox_stack_tables *tables,
                              int64_t row)
{
    struct tv_frame frame = {.line = 0};
    int64_t location = tv_firefox_value(&tables->frame[FRAME_LOCATION], row);
    int64_t func = tv_firefox_value(&tables->frame[FRAME_FUNC], row);
    uint32_t lib = tv_firefox_number(
        &tables->into->libs, tv_firefox_value(&tables->frame[FRAME_LIB], row), TV_EMPTY_STRING);
    uint32_t string = tv_firefox_number(&tables->into->strings, location, TV_NONE);
    if (func != TV_FIREFOX_ABSENT)
        firefox_name_function(tables, func, &frame);
    /* The first versions kept the location of gecko as the function's name. */
    if (func != TV_FIREFOX_ABSENT &&
        tables->func[FUNC_FILE].count + tables->func[FUNC_SOURCE].count == 0)
        firefox_split_location(file, frame.name, &frame);
    else if (string != TV_NONE)
        firefox_split_location(file, string, &frame);
    if (lib != TV_EMPTY_STRING)
        frame.module = lib;
    if (frame.name == TV_EMPTY_STRING)
        frame.name = tv_profile_string(&file->profile, TV_BYTES("[unknown]"));
    int64_t inlined = tv_firefox_value(&tables->frame[FRAME_INLINE], row);
    int64_t category = tv_firefox_value(&tables->frame[FRAME_CATEGORY], row);
    frame.kind = (uint8_t)(inlined > 0 ? TV_FRAME_INLINED : firefox_find_kind(file, category));
    tv_firefox_numbers_add(&tables->into->frames,
                           tv_trace_info_add_frame(file->profile.info, &frame));
    tv_firefox_numbers_add(&tables->into->lines, (uint32_t)firefox_line(tv_firefox_value(
                                                     &tables->frame[FRAME_LINE], row)));
}

/* ---- Stacks ---- */

/* Return the row of a stack's caller; TV_FIREFOX_ABSENT: it is a root. */
static int64_t firefox_caller(struct tv_firefox *file, const struct firefox_stack_tables *tables,
                              size_t row)
{
    int64_t prefix = tv_firefox_value(&tables->stack[STACK_PREFIX], (int64_t)row);
    int64_t back = tv_firefox_value(&tables->stack[STACK_PREFIX_OFFSET], (int64_t)row);
    if (back != TV_FIREFOX_ABSENT)
        prefix = back > 0 ? (int64_t)row - back : TV_FIREFOX_ABSENT;
    if (prefix == TV_FIREFOX_ABSENT || prefix == -1)
        return TV_FIREFOX_ABSENT;
    if (prefix < 0 || (uint64_t)prefix >= row) {
        /* Callers are before the called, so there is no circle. */
        tv_profile_warn(&file->profile, TV_DIAGNOSTIC_STACK_NO_PARENT, TV_NO_OFFSET);
        return TV_FIREFOX_ABSENT;
    }
    return prefix;
}

/* Find the paths of all stacks, each from that of its caller. */
static void firefox_build_stacks(struct tv_firefox *file, const struct firefox_stack_tables *tables)
{
    struct tv_profile_input *profile = &file->profile;
    struct tv_firefox_stacks *stacks = tables->into;
    stacks->paths.count = stacks->line_paths.count = stacks->depths.count = 0;
    stacks->frames.count = stacks->lines.count = 0;
    size_t frames = tables->frame[FRAME_FUNC].count;
    if (tables->frame[FRAME_LOCATION].count > frames)
        frames = tables->frame[FRAME_LOCATION].count;
    for (size_t i = 0; i < frames; i++)
        firefox_add_frame(file, tables, (int64_t)i);
    for (size_t i = 0; i < tables->stack[STACK_FRAME].count; i++) {
        int64_t caller = firefox_caller(file, tables, i);
        int64_t row = tables->stack[STACK_FRAME].rows[i];
        uint32_t frame = tv_firefox_number(&stacks->frames, row, TV_NONE);
        profile->path = tv_firefox_number(&stacks->paths, caller, TV_ROOT_PATH);
        profile->line_path = tv_firefox_number(&stacks->line_paths, caller, TV_ROOT_PATH);
        profile->depth = tv_firefox_number(&stacks->depths, caller, 0);
        if (frame == TV_NONE)
            tv_profile_warn(profile, TV_DIAGNOSTIC_STACK_UNKNOWN, TV_NO_OFFSET);
        else
            tv_profile_stack_push(profile, frame, (int32_t)stacks->lines.rows[row]);
        tv_firefox_numbers_add(&stacks->paths, profile->path);
        tv_firefox_numbers_add(&stacks->line_paths, profile->line_path);
        tv_firefox_numbers_add(&stacks->depths, (uint32_t)profile->depth);
    }
}

void tv_firefox_release_stacks(struct tv_firefox_stacks *stacks)
{
    struct tv_firefox_numbers *numbers[] = {&stacks->strings, &stacks->libs,  &stacks->frames,
                                            &stacks->lines,   &stacks->paths, &stacks->line_paths,
                                            &stacks->depths};
    for (size_t i = 0; i < TV_COUNT(numbers); i++)
        tv_free(numbers[i]->rows);
    tv_firefox_release_table(&stacks->sources, 1);
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

/* Note columns and texts without which stacks have no callers, or frames no names. */
static void firefox_check_stack_tables(struct tv_firefox *file,
                                       const struct tv_json_member *members,
                                       const struct firefox_stack_tables *tables)
{
    uint64_t stacks = members[TABLE_STACKS].offset, frames = members[TABLE_FRAMES].offset;
    const struct tv_firefox_column *stack = tables->stack, *frame = tables->frame;
    const struct tv_firefox_column *func = tables->func;
    tv_firefox_need_column(file, stacks, &stack[STACK_FRAME], &stack[STACK_FRAME]);
    tv_firefox_need_column(file, stacks, &stack[STACK_PREFIX], &stack[STACK_PREFIX_OFFSET]);
    tv_firefox_need_column(file, frames, &frame[FRAME_FUNC], &frame[FRAME_LOCATION]);
    if (frame[FRAME_FUNC].count > 0 && frame[FRAME_FUNC].found)
        tv_firefox_need_column(file, frames, &func[FUNC_NAME], &func[FUNC_NAME]);
    if (!tables->into->has_strings && tables->into->strings.count == 0 && !file->cut)
        tv_profile_warn(&file->profile, TV_DIAGNOSTIC_MEMBER_MISSING, stacks);
}

/* Read the tables of frames and stacks and what they refer to. */
static void firefox_read_stack_tables(struct tv_firefox *file, const struct tv_json_member *members,
                                      struct tv_firefox_stacks *stacks)
{
    struct firefox_stack_tables tables = {.into = stacks};
    tv_firefox_read_table(file, members[TABLE_STACKS].offset, tables.stack, stack_columns,
                          STACK_COLUMNS);
    tv_firefox_read_table(file, members[TABLE_FRAMES].offset, tables.frame, frame_columns,
                          FRAME_COLUMNS);
    tv_firefox_read_table(file, members[TABLE_FUNCS].offset, tables.func, func_columns,
                          FUNC_COLUMNS);
    tv_firefox_read_table(file, members[TABLE_RESOURCES].offset, tables.resource, resource_columns,
                          RESOURCE_COLUMNS);
    firefox_check_stack_tables(file, members, &tables);
    firefox_build_stacks(file, &tables);
    tv_firefox_release_table(tables.stack, STACK_COLUMNS);
    tv_firefox_release_table(tables.frame, FRAME_COLUMNS);
    tv_firefox_release_table(tables.func, FUNC_COLUMNS);
    tv_firefox_release_table(tables.resource, RESOURCE_COLUMNS);
}

/* Read the tables in an object, a thread or "shared".  A thread without its own strings or sources
 * uses the shared ones. */
void tv_firefox_read_stacks(struct tv_firefox *file, uint64_t offset,
                            struct tv_firefox_stacks *stacks)
{
    struct tv_json_member members[TABLES];
    struct tv_json_stream stream;
    const struct tv_firefox_stacks *shared = &file->shared;
    for (size_t i = 0; i < TABLES; i++)
        members[i].key = table_keys[i];
    if (!tv_firefox_at(file, offset, &stream) || !tv_json_find_members(&stream, members, TABLES))
        return;
    uint64_t strings = members[TABLE_STRINGS].offset;
    if (strings == TV_NO_OFFSET)
        strings = members[TABLE_OLD_STRINGS].offset;
    tv_firefox_read_texts(file, strings, &stacks->strings);
    stacks->has_strings = strings != TV_NO_OFFSET;
    for (size_t i = 0; !stacks->has_strings && i < shared->strings.count; i++)
        tv_firefox_numbers_add(&stacks->strings, shared->strings.rows[i]);
    tv_firefox_read_names(file, members[TABLE_LIBS].offset, &stacks->libs);
    for (size_t i = 0; members[TABLE_LIBS].offset == TV_NO_OFFSET && i < file->libs.count; i++)
        tv_firefox_numbers_add(&stacks->libs, file->libs.rows[i]);
    tv_firefox_read_table(file, members[TABLE_SOURCES].offset, &stacks->sources, &source_column, 1);
    if (members[TABLE_SOURCES].offset == TV_NO_OFFSET && stacks != shared)
        for (size_t i = 0; i < shared->sources.count; i++)
            tv_firefox_column_add(&stacks->sources, shared->sources.rows[i]);
    stacks->has_stacks = members[TABLE_STACKS].offset != TV_NO_OFFSET;
    if (stacks->has_stacks)
        firefox_read_stack_tables(file, members, stacks);
}
