/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.c - from constants of a chunk to the model: texts, frames, stacks and threads.
 *
 *     StackTrace {truncated, frames: [StackFrame {method, lineNumber, type}, ...]}   leaf first
 *       method --> Method {type --> Class {name --> Symbol}, name --> Symbol}
 *
 * A constant is used by many events, so it remembers what was made of it (`made_as`, `made`): a
 * string, a frame, a path or a thread. `made_as` is compared first, because a type of a hostile
 * file may be used as a stack here and as a class there. What is remembered belongs to the chunk;
 * frames, paths and threads themselves are of the trace, and equal ones of two chunks meet there.
 *
 * A key that no checkpoint defines gives "[unknown]" or no stack, and unresolved-constant. Key 0
 * means null and is no error.
 */
#include "readers/jfr/events.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum jfr_stack_slot { JFR_STACK_TRUNCATED, JFR_STACK_FRAMES, JFR_STACK_SLOTS };
enum jfr_frame_slot { JFR_FRAME_METHOD, JFR_FRAME_LINE, JFR_FRAME_TYPE, JFR_FRAME_SLOTS };

/* Virtual threads without a name that have a track each; further ones share one. */
#define MAX_UNNAMED 4096

void tv_jfr_names_init(struct tv_jfr_names *names, struct tv_profile_input *profile)
{
    *names = (struct tv_jfr_names){.profile = profile, .frame_type = TV_NONE};
    tv_map_init(&names->line_frames);
    tv_map_init(&names->threads);
    tv_map_init(&names->thread_keys);
}

void tv_jfr_names_release(struct tv_jfr_names *names)
{
    tv_free(names->frames);
    tv_free(names->frames_at_lines);
    tv_map_release(&names->line_frames);
    tv_map_release(&names->threads);
    tv_map_release(&names->thread_keys);
}

void tv_jfr_names_enter(struct tv_jfr_names *names, struct tv_jfr_chunk *chunk,
                        const struct tv_jfr_stack_nodes *nodes, uint32_t process)
{
    static const char *const stack[JFR_STACK_SLOTS] = {"truncated", "frames"};
    static const char *const frame[JFR_FRAME_SLOTS] = {"method", "lineNumber", "type"};
    uint32_t stack_type = tv_jfr_find_type_by_end(chunk, TV_BYTES(".types.StackTrace"));
    names->chunk = chunk;
    names->process = process;
    names->nodes = nodes;
    names->node_paths = tv_alloc(nodes->nodes.count, sizeof *names->node_paths);
    names->frame_type = tv_jfr_find_type_by_end(chunk, TV_BYTES(".types.StackFrame"));
    if (stack_type != TV_NONE)
        names->stack = tv_jfr_compile(chunk, stack_type, stack, JFR_STACK_SLOTS);
    names->method = NULL;
    if (names->frame_type != TV_NONE) {
        names->frame = tv_jfr_compile(chunk, names->frame_type, frame, JFR_FRAME_SLOTS);
        names->method = tv_jfr_field_find(chunk, names->frame_type, TV_BYTES("method"));
    }
}

void tv_jfr_names_leave(struct tv_jfr_names *names)
{
    tv_jfr_program_release(&names->stack);
    tv_jfr_program_release(&names->frame);
    names->frame_type = TV_NONE;
    names->chunk = NULL;
    names->nodes = NULL;
    tv_free(names->node_paths);
    names->node_paths = NULL;
}

static void jfr_names_warn_unresolved(struct tv_jfr_names *names, uint64_t offset)
{
    tv_profile_warn(names->profile, TV_DIAGNOSTIC_UNRESOLVED_CONSTANT, offset);
}

/* Remember what was made of a constant. */
static void jfr_names_keep(struct tv_jfr_constant *constant, enum tv_jfr_made as, uint32_t made)
{
    constant->made_as = as;
    constant->made = made;
}

/* ---- Texts ---- */

/* Return the constant that a value leads to, or TV_NONE. */
static uint32_t jfr_names_constant(const struct tv_jfr_names *names,
                                   const struct tv_jfr_value *value)
{
    if (!value->field || !value->field->constant || value->field->array)
        return TV_NONE;
    return tv_jfr_constant_find(names->chunk, value->field->type, value->raw);
}

/* Several events and methods name a constant: its text is decoded once. */
uint32_t tv_jfr_names_text(struct tv_jfr_names *names, const struct tv_jfr_value *value)
{
    uint32_t constant = jfr_names_constant(names, value);
    if (constant == TV_NONE) {
        struct tv_bytes text = tv_jfr_get_text(names->chunk, value);
        return tv_profile_string(names->profile, text);
    }
    struct tv_jfr_constant *known = &names->chunk->constants.rows[constant];
    if (known->made_as != TV_JFR_MADE_TEXT) {
        struct tv_bytes text = tv_jfr_get_text(names->chunk, value);
        jfr_names_keep(known, TV_JFR_MADE_TEXT, tv_profile_string(names->profile, text));
    }
    return known->made;
}

static uint32_t jfr_names_class(struct tv_jfr_names *names, const struct tv_jfr_value *value)
{
    uint32_t constant = jfr_names_constant(names, value);
    if (constant == TV_NONE)
        return TV_EMPTY_STRING;
    struct tv_jfr_constant *known = &names->chunk->constants.rows[constant];
    if (known->made_as != TV_JFR_MADE_CLASS) {
        struct tv_bytes text = tv_jfr_class_name(names->chunk, value);
        jfr_names_keep(known, TV_JFR_MADE_CLASS, tv_profile_string(names->profile, text));
    }
    return known->made;
}

/* ---- Stacks ---- */

/* Return the kind of a frame by the description of its constant, as the JDK and async-profiler name
 * them; another text is no error. */
static uint8_t jfr_names_frame_kind(struct tv_jfr_names *names, uint64_t key)
{
    static const struct {
        const char *description;
        enum tv_frame_kind kind;
    } kinds[] = {
        {"Interpreted", TV_FRAME_INTERPRETED}, {"JIT compiled", TV_FRAME_JIT},
        {"C1 compiled", TV_FRAME_JIT},         {"Inlined", TV_FRAME_INLINED},
        {"Native", TV_FRAME_NATIVE},           {"C++", TV_FRAME_CPP},
        {"Kernel", TV_FRAME_KERNEL},
    };
    struct tv_jfr_value value = {
        tv_jfr_field_find(names->chunk, names->frame_type, TV_BYTES("type")), key};
    struct tv_bytes description = tv_jfr_get_text(names->chunk, &value);
    for (size_t i = 0; i < TV_COUNT(kinds); i++)
        if (tv_bytes_equal(description, tv_bytes_of(kinds[i].description)))
            return (uint8_t)kinds[i].kind;
    return TV_FRAME_UNKNOWN;
}

/* Add the frame of a method: class and name, without the descriptor. How the code ran (interpreted,
 * compiled) is that of the first sample which has the method. */
static uint32_t jfr_names_add_frame(struct tv_jfr_names *names, const uint64_t *slots)
{
    struct tv_jfr_value method = {names->method, slots[JFR_FRAME_METHOD]};
    struct tv_frame frame = {.kind = jfr_names_frame_kind(names, slots[JFR_FRAME_TYPE])};
    uint32_t type;
    uint64_t at;
    if (tv_jfr_follow(names->chunk, &method, &type, &at)) {
        struct tv_jfr_value class = tv_jfr_get(names->chunk, type, at, "type"),
                            name = tv_jfr_get(names->chunk, type, at, "name");
        frame.class_name = jfr_names_class(names, &class);
        frame.name = tv_jfr_names_text(names, &name);
    }
    if (frame.name == TV_EMPTY_STRING)
        frame.name = tv_profile_string(names->profile, TV_BYTES("[unknown]"));
    return tv_trace_info_add_frame(names->profile->info, &frame);
}

/* Return the frame of a method; the constant of the method remembers it. */
static uint32_t jfr_names_frame(struct tv_jfr_names *names, const uint64_t *slots)
{
    struct tv_jfr_chunk *chunk = names->chunk;
    struct tv_jfr_value method = {names->method, slots[JFR_FRAME_METHOD]};
    uint32_t constant = jfr_names_constant(names, &method);
    if (constant == TV_NONE) {
        jfr_names_warn_unresolved(names, TV_NO_OFFSET);
        return jfr_names_add_frame(names, slots);
    }
    struct tv_jfr_constant *known = &chunk->constants.rows[constant];
    if (known->made_as != TV_JFR_MADE_FRAME)
        jfr_names_keep(known, TV_JFR_MADE_FRAME, jfr_names_add_frame(names, slots));
    return known->made;
}

/* Return the frame of a function at a line, for paths with lines. */
static uint32_t jfr_names_line_frame(struct tv_jfr_names *names, uint32_t function, int32_t line)
{
    uint64_t key = (uint64_t)function << 32 | (uint32_t)line;
    uint32_t found = tv_map_find(&names->line_frames, key);
    if (found != TV_NONE)
        return found;
    struct tv_frame frame = names->profile->info->frames[function];
    frame.with_line = true;
    frame.line = line;
    found = tv_trace_info_add_frame(names->profile->info, &frame);
    tv_map_set(&names->line_frames, key, found);
    return found;
}

/* Make room for the frames of a stack. */
static void jfr_names_reserve_frames(struct tv_jfr_names *names, size_t count)
{
    names->frames = tv_array_reserve(names->frames, &names->capacity, count, sizeof *names->frames);
    names->frames_at_lines = tv_array_reserve(names->frames_at_lines, &names->line_capacity, count,
                                              sizeof *names->frames_at_lines);
}

/* Take one frame.  The next one follows, so that the fields after those that are noted have to be
 * skipped, if there are any. */
static bool jfr_names_take_frame(const struct tv_jfr_names *names, struct tv_jfr_cursor *cursor,
                                 uint64_t *slots)
{
    const struct tv_jfr_program *frame = &names->frame;
    struct tv_jfr_cursor start = *cursor;
    if (!tv_jfr_program_note(names->chunk, frame, cursor, slots))
        return false;
    if (TV_LIKELY(frame->integers && frame->noted == frame->count))
        return true;
    *cursor = start;
    return tv_jfr_program_skip(names->chunk, frame, cursor);
}

/* Read the frames of a stack; they stand from the leaf to the root.  Return false when the stack
 * is deeper than we keep. */
static bool jfr_names_read_frames(struct tv_jfr_names *names, struct tv_jfr_cursor *cursor)
{
    uint64_t count, slots[TV_JFR_SLOTS] = {0}; /* fields that a frame lacks stay 0 */
    names->depth = 0;
    if (!tv_jfr_take(cursor, 4, &count))
        return true;
    /* A frame takes a byte at least. */
    uint64_t most = (uint64_t)(cursor->end - cursor->at);
    most = most < count ? most : count;
    jfr_names_reserve_frames(names, most < TV_PROFILE_DEPTH ? (size_t)most : TV_PROFILE_DEPTH);
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t *before = cursor->at;
        if (!jfr_names_take_frame(names, cursor, slots) || cursor->at == before)
            return true;
        uint32_t frame = jfr_names_frame(names, slots);
        int32_t line = (int32_t)slots[JFR_FRAME_LINE];
        if (names->depth == TV_PROFILE_DEPTH)
            return false;
        names->frames[names->depth] = frame;
        names->frames_at_lines[names->depth++] = line > 0 && names->profile->with_lines
                                                     ? jfr_names_line_frame(names, frame, line)
                                                     : frame;
    }
    return true;
}

/* Return the placeholder for the frames that the recorder cut off. */
static uint32_t jfr_names_cut_frame(struct tv_jfr_names *names, size_t depth)
{
    char text[48];
    snprintf(text, sizeof text, "[cut at depth %zu]", depth);
    struct tv_frame frame = {.name = tv_profile_string(names->profile, tv_bytes_of(text))};
    return tv_trace_info_add_frame(names->profile->info, &frame);
}

/* Make the two paths of a stack: by functions, and by functions at lines. */
static struct tv_jfr_stack jfr_names_make_stack(struct tv_jfr_names *names, uint64_t at)
{
    struct tv_jfr_stack stack = {TV_ROOT_PATH, TV_ROOT_PATH, false};
    struct tv_jfr_cursor cursor = tv_jfr_cursor_at(names->chunk, at);
    struct tv_paths *paths = &names->profile->trace->paths;
    uint64_t slots[TV_JFR_SLOTS] = {[JFR_STACK_FRAMES] = UINT64_MAX};
    if (names->frame_type == TV_NONE ||
        !tv_jfr_program_note(names->chunk, &names->stack, &cursor, slots) ||
        slots[JFR_STACK_FRAMES] == UINT64_MAX)
        return stack;
    cursor = tv_jfr_cursor_at(names->chunk, slots[JFR_STACK_FRAMES]);
    bool whole = jfr_names_read_frames(names, &cursor);
    if (!whole)
        tv_profile_warn(names->profile, TV_DIAGNOSTIC_TOO_DEEP, names->chunk->offset + at);
    stack.cut = slots[JFR_STACK_TRUNCATED] != 0 && names->depth > 0;
    if (stack.cut)
        stack.path = stack.line_path =
            tv_paths_child(paths, TV_ROOT_PATH, jfr_names_cut_frame(names, names->depth));
    for (size_t i = names->depth; i-- > 0;) {
        bool same = stack.path == stack.line_path && names->frames[i] == names->frames_at_lines[i];
        stack.path = tv_paths_child(paths, stack.path, names->frames[i]);
        stack.line_path =
            same ? stack.path : tv_paths_child(paths, stack.line_path, names->frames_at_lines[i]);
    }
    return stack;
}

uint32_t tv_jfr_names_node_path(struct tv_jfr_names *names, uint32_t node)
{
    const struct tv_path_node *nodes = names->nodes->nodes.rows;
    uint32_t *paths = names->node_paths, *new_nodes;
    size_t depth = 0;
    jfr_names_reserve_frames(names, TV_PROFILE_DEPTH);
    new_nodes = names->frames_at_lines;
    for (; node != TV_ROOT_PATH && paths[node] == TV_ROOT_PATH; node = nodes[node].parent) {
        const struct tv_jfr_constant *method = &names->chunk->constants.rows[nodes[node].frame];
        if (TV_UNLIKELY(method->made_as != TV_JFR_MADE_FRAME))
            return TV_NONE;
        assert(depth < TV_PROFILE_DEPTH);
        names->frames[depth] = method->made;
        new_nodes[depth++] = node;
    }
    uint32_t path = paths[node];
    while (depth-- > 0) {
        path = tv_paths_child(&names->profile->trace->paths, path, names->frames[depth]);
        paths[new_nodes[depth]] = path;
    }
    return path;
}

struct tv_jfr_stack tv_jfr_names_stack(struct tv_jfr_names *names, uint32_t type, uint64_t key,
                                       uint64_t offset)
{
    const struct tv_jfr_stack none = {TV_ROOT_PATH, TV_ROOT_PATH, false};
    uint32_t constant = tv_jfr_constant_find(names->chunk, type, key);
    if (constant == TV_NONE) {
        if (key != 0)
            jfr_names_warn_unresolved(names, offset);
        return none;
    }
    struct tv_jfr_constant *known = &names->chunk->constants.rows[constant];
    if (known->made_as != TV_JFR_MADE_STACK && known->made_as != TV_JFR_MADE_CUT_STACK) {
        struct tv_jfr_stack made = jfr_names_make_stack(names, known->at);
        jfr_names_keep(known, made.cut ? TV_JFR_MADE_CUT_STACK : TV_JFR_MADE_STACK, made.path);
        known->line_path = made.line_path;
    }
    return (struct tv_jfr_stack){known->made, known->line_path,
                                 known->made_as == TV_JFR_MADE_CUT_STACK};
}

/* ---- Threads ---- */

/* Bits of a thread's key: Java and the system number threads independently, from 1 on. */
#define OS_THREAD (UINT64_C(1) << 63)
#define SHARED_THREAD (UINT64_C(1) << 62)

/* Return the thread with that id of Java, or of the operating system (with OS_THREAD). */
static uint32_t jfr_names_add_thread(struct tv_jfr_names *names, uint64_t key, struct tv_bytes name)
{
    struct tv_trace_info *info = names->profile->info;
    uint32_t number = tv_map_add(&names->thread_keys, key, (uint32_t)names->thread_keys.count);
    uint64_t place = (uint64_t)names->process << 32 | number;
    uint32_t thread = tv_map_find(&names->threads, place);
    if (thread == TV_NONE) {
        struct tv_thread added = {
            .id = key & ~(OS_THREAD | SHARED_THREAD),
            .process = names->process,
            .input = names->profile->input,
            .listed = true,
        };
        thread = tv_trace_info_add_thread(info, &added);
        tv_map_set(&names->threads, place, thread);
    }
    if (name.length > 0)
        info->threads[thread].name = tv_profile_string(names->profile, name);
    return thread;
}

/* Return the thread of a constant. Virtual threads come by the million and mostly have no name:
 * after MAX_UNNAMED of them the rest is one thread. */
static uint32_t jfr_names_make_thread(struct tv_jfr_names *names, uint32_t type, uint64_t at)
{
    struct tv_jfr_chunk *chunk = names->chunk;
    struct tv_jfr_value id = tv_jfr_get(chunk, type, at, "javaThreadId"),
                        os_id = tv_jfr_get(chunk, type, at, "osThreadId"),
                        java_name = tv_jfr_get(chunk, type, at, "javaName"),
                        os_name = tv_jfr_get(chunk, type, at, "osName"),
                        is_virtual = tv_jfr_get(chunk, type, at, "virtual");
    struct tv_bytes name = tv_jfr_get_text(chunk, &java_name);
    if (name.length == 0)
        name = tv_jfr_get_text(chunk, &os_name);
    int64_t number = tv_jfr_signed(&id);
    if (number <= 0)
        return jfr_names_add_thread(names, (uint64_t)tv_jfr_signed(&os_id) | OS_THREAD, name);
    uint64_t key = (uint64_t)number & ~(OS_THREAD | SHARED_THREAD);
    bool unnamed = is_virtual.field && is_virtual.raw != 0 && name.length == 0;
    if (unnamed && tv_map_find(&names->thread_keys, key) == TV_NONE &&
        ++names->unnamed > MAX_UNNAMED)
        return jfr_names_add_thread(names, SHARED_THREAD, TV_BYTES("other virtual threads"));
    return jfr_names_add_thread(names, key, name);
}

uint32_t tv_jfr_names_thread(struct tv_jfr_names *names, uint32_t type, uint64_t key,
                             uint64_t offset)
{
    uint32_t constant = tv_jfr_constant_find(names->chunk, type, key);
    if (constant == TV_NONE) {
        if (key != 0)
            jfr_names_warn_unresolved(names, offset);
        return TV_NONE;
    }
    struct tv_jfr_constant *known = &names->chunk->constants.rows[constant];
    if (known->made_as != TV_JFR_MADE_THREAD)
        jfr_names_keep(known, TV_JFR_MADE_THREAD, jfr_names_make_thread(names, type, known->at));
    return known->made;
}
