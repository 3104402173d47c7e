/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v8.c - what V8 records: CPU profiles (Profile, ProfileChunk), and the code that it compiled.
 *
 * Profiles.  A node has a path of the model as soon as it is read: its parent's, and its own frame.
 * V8 may write a sample later than a younger one, and the last sample lasts until the end of the
 * profile, so the samples wait until all chunks are read (v8/v8.h).
 */
#include <assert.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/sort.h"
#include "readers/trace_event/join/join.h"
#include "readers/v8/v8.h"

struct te_v8_profile {
    int64_t time; /* time of the last sample; at first the start */
    int64_t end;  /* of the profile; INT64_MIN: it does not tell */
    uint32_t thread;
    struct tv_v8_samples samples;
};

struct te_v8_node {
    uint32_t path, frame;
    enum tv_v8_state state;
};

struct tv_te_profiles {
    struct tv_te_context *context;
    struct tv_te_id_key text;
    struct tv_map numbers; /* string "pid:scope:id" -> index in rows */
    struct tv_map nodes;   /* (profile, node id) -> index in node_rows */
    struct te_v8_node *node_rows;
    size_t node_count, node_capacity;
    struct te_v8_profile *rows;
    size_t count, capacity;
};

struct tv_te_profiles *tv_te_profiles_new(struct tv_te_context *context)
{
    struct tv_te_profiles *profiles = tv_alloc(1, sizeof *profiles);
    profiles->context = context;
    tv_map_init(&profiles->numbers);
    tv_map_init(&profiles->nodes);
    return profiles;
}

void tv_te_profiles_free(struct tv_te_profiles *profiles)
{
    tv_map_release(&profiles->numbers);
    tv_map_release(&profiles->nodes);
    tv_te_id_key_release(&profiles->text);
    for (size_t i = 0; i < profiles->count; i++)
        tv_v8_samples_release(&profiles->rows[i].samples);
    tv_free(profiles->node_rows);
    tv_free(profiles->rows);
    tv_free(profiles);
}

/* True when the name says that the event is of a profile. */
static bool te_profiles_is_event(const struct tv_te_profiles *profiles,
                                 const struct tv_te_deferred *event)
{
    const struct tv_trace_info *head = profiles->context->trace->head;
    struct tv_bytes name = tv_trace_info_text(head, head->frames[event->frame].name);
    return tv_bytes_equal(name, TV_BYTES("Profile")) ||
           tv_bytes_equal(name, TV_BYTES("ProfileChunk"));
}

/* Return the string of the profile's id; TV_NONE: it has none. */
static uint32_t te_profiles_find_key(struct tv_te_profiles *profiles,
                                     const struct tv_te_deferred *event,
                                     const struct tv_te_fields *fields)
{
    struct tv_te_id_parts id = {.scope = fields->scope, .process = event->process};
    id.kind = tv_te_fields_id(fields, &id.raw);
    if (id.kind == TV_TE_ID_NONE || id.kind == TV_TE_ID_BAD)
        return TV_NONE;
    profiles->text.length = 0;
    tv_te_id_key_add_id(&profiles->text, profiles->context, &id, TV_TE_ID_OWNED);
    return tv_trace_info_string(profiles->context->trace->head, tv_te_id_key_text(&profiles->text));
}

/* Add the profile that a Profile event begins, unless its id is known. */
static void te_profiles_add(struct tv_te_profiles *profiles, const struct tv_te_deferred *event)
{
    struct tv_te_fields fields;
    struct te_v8_profile profile = {.end = INT64_MIN, .thread = event->thread};
    if (!tv_te_event_read(profiles->context, event->offset, &fields))
        return;
    uint32_t key = te_profiles_find_key(profiles, event, &fields);
    struct tv_bytes data = tv_te_member(fields.args, "data");
    if (key == TV_NONE || !tv_te_parse_time(tv_te_member(data, "startTime"), &profile.time))
        return;
    uint32_t number = tv_map_add(&profiles->numbers, key, (uint32_t)profiles->count);
    if (number < profiles->count)
        return;
    profiles->rows = tv_array_reserve(profiles->rows, &profiles->capacity, profiles->count + 1,
                                      sizeof *profiles->rows);
    profiles->rows[profiles->count++] = profile;
}

void tv_te_profiles_begin(struct tv_te_profiles *profiles)
{
    const struct tv_te_context *context = profiles->context;
    for (size_t i = 0; i < context->deferred.count; i++)
        if (context->deferred.rows[i].phase == 'P' &&
            te_profiles_is_event(profiles, &context->deferred.rows[i]))
            te_profiles_add(profiles, &context->deferred.rows[i]);
}

static uint32_t te_profiles_string(struct tv_te_profiles *profiles, struct tv_bytes raw)
{
    struct tv_te_context *context = profiles->context;
    return tv_trace_info_string(context->trace->head, tv_te_decode_text(raw, &context->scratch));
}

/* Make the key of a node within its profile; false: the id is not a small integer. */
static bool te_profile_node_key(uint32_t profile, struct tv_bytes id, uint64_t *key)
{
    int64_t number;
    if (!tv_te_parse_integer(id, &number) || number < 0 || number > UINT32_MAX)
        return false;
    *key = (uint64_t)profile << 32 | (uint32_t)number;
    return true;
}

/* Add the frame of a function.  V8 counts lines from 0, and -1 where there is none. */
static uint32_t te_profiles_add_frame(struct tv_te_profiles *profiles, struct tv_bytes call)
{
    struct tv_trace_info *head = profiles->context->trace->head;
    struct tv_frame frame = {
        .name = te_profiles_string(profiles, tv_te_member(call, "functionName")),
        .file = te_profiles_string(profiles, tv_te_member(call, "url")),
    };
    int64_t line, column;
    if (frame.name == TV_EMPTY_STRING)
        frame.name = tv_trace_info_string(head, TV_BYTES("(anonymous)"));
    if (tv_te_parse_integer(tv_te_member(call, "lineNumber"), &line) && line >= 0 &&
        line < INT32_MAX)
        frame.line = (int32_t)(line + 1);
    if (frame.line > 0 && tv_te_parse_integer(tv_te_member(call, "columnNumber"), &column) &&
        column >= 0 && column < INT32_MAX)
        frame.column = (int32_t)(column + 1);
    return tv_trace_info_add_frame(head, &frame);
}

/* Return the path of a node's parent; TV_NONE: there is no such node. */
static uint32_t te_profiles_parent_path(const struct tv_te_profiles *profiles, uint32_t profile,
                                        struct tv_bytes parent)
{
    uint64_t key;
    uint32_t node =
        te_profile_node_key(profile, parent, &key) ? tv_map_find(&profiles->nodes, key) : TV_NONE;
    return node == TV_NONE ? TV_NONE : profiles->node_rows[node].path;
}

/* Add a node.  False: it has no id, or its parent is missing. */
static bool te_profiles_add_node(struct tv_te_profiles *profiles, uint32_t profile,
                                 struct tv_bytes node)
{
    struct tv_te_context *context = profiles->context;
    struct tv_bytes call = tv_te_member(node, "callFrame"), parent = tv_te_member(node, "parent");
    struct te_v8_node row = {TV_ROOT_PATH, TV_NONE, TV_V8_RUNS};
    uint64_t key;
    if (!te_profile_node_key(profile, tv_te_member(node, "id"), &key))
        return false;
    if (parent.data != NULL)
        row.path = te_profiles_parent_path(profiles, profile, parent);
    bool known = row.path != TV_NONE;
    row.path = known ? row.path : TV_ROOT_PATH;
    row.state =
        tv_v8_state_of(tv_te_decode_text(tv_te_member(call, "functionName"), &context->scratch));
    if (row.state != TV_V8_ROOT) {
        row.frame = te_profiles_add_frame(profiles, call);
        row.path = tv_paths_child(&context->trace->paths, row.path, row.frame);
    }
    profiles->node_rows = tv_array_reserve(profiles->node_rows, &profiles->node_capacity,
                                           profiles->node_count + 1, sizeof *profiles->node_rows);
    profiles->node_rows[profiles->node_count] = row;
    tv_map_set(&profiles->nodes, key, (uint32_t)profiles->node_count++);
    return known;
}

/* Add the nodes of a chunk; parents are before children. */
static void te_profiles_add_nodes(struct tv_te_profiles *profiles, uint32_t profile,
                                  struct tv_bytes nodes, uint64_t offset)
{
    struct tv_bytes node;
    if (nodes.length == 0 || nodes.data[0] != '[')
        return;
    const uint8_t *at = nodes.data + 1;
    while (tv_te_element_next(&at, nodes.data + nodes.length, &node))
        if (!te_profiles_add_node(profiles, profile, node))
            tv_te_warn(profiles->context, TV_DIAGNOSTIC_PROFILE_BAD, offset);
}

/* Return the path of a function at a sampled line, counted from 1. */
static uint32_t te_profiles_line_path(struct tv_te_profiles *profiles,
                                      const struct te_v8_node *node, struct tv_bytes line)
{
    struct tv_trace *trace = profiles->context->trace;
    int64_t number;
    if (node->frame == TV_NONE || !tv_te_parse_integer(line, &number) || number <= 0 ||
        number > INT32_MAX)
        return node->path;
    struct tv_frame frame = trace->head->frames[node->frame];
    frame.with_line = true;
    frame.function_line = frame.line;
    frame.line = (int32_t)number;
    return tv_paths_child(&trace->paths, trace->paths.nodes[node->path].parent,
                          tv_trace_info_add_frame(trace->head, &frame));
}

/* Add a sample at the profile's current time. */
static void te_profiles_add_sample(struct tv_te_profiles *profiles, uint32_t number,
                                   struct tv_bytes node, struct tv_bytes line, uint64_t offset)
{
    struct te_v8_profile *profile = &profiles->rows[number];
    uint64_t key;
    uint32_t row =
        te_profile_node_key(number, node, &key) ? tv_map_find(&profiles->nodes, key) : TV_NONE;
    if (row == TV_NONE) {
        tv_te_warn(profiles->context, TV_DIAGNOSTIC_PROFILE_BAD, offset);
        return;
    }
    const struct te_v8_node *at = &profiles->node_rows[row];
    struct tv_v8_sample sample = {.time = profile->time,
                                  .offset = offset,
                                  .path = at->path,
                                  .line_path = te_profiles_line_path(profiles, at, line),
                                  .gc_frame = at->frame,
                                  .state = at->state};
    tv_v8_samples_add(&profile->samples, &sample);
}

/* Advance the profile's time; it stays within the range of times. */
static bool te_profile_advance(struct te_v8_profile *profile, struct tv_bytes delta)
{
    int64_t passed;
    if (!tv_te_parse_time(delta, &passed))
        return false;
    profile->time += passed; /* no overflow: both are within half the range */
    if (profile->time > TV_TE_LATEST)
        profile->time = TV_TE_LATEST;
    if (profile->time < -TV_TE_LATEST)
        profile->time = -TV_TE_LATEST;
    return true;
}

/* An array that is read beside another one; it may be missing or end early. */
struct te_v8_array {
    const uint8_t *at, *end;
};

static struct te_v8_array te_v8_array_over(struct tv_bytes raw)
{
    bool array = raw.length > 0 && raw.data[0] == '[';
    return (struct te_v8_array){array ? raw.data + 1 : NULL, array ? raw.data + raw.length : NULL};
}

static struct tv_bytes te_v8_array_next(struct te_v8_array *array)
{
    struct tv_bytes value = {NULL, 0};
    if (array->at != NULL && !tv_te_element_next(&array->at, array->end, &value)) {
        array->at = NULL;
        value = (struct tv_bytes){NULL, 0};
    }
    return value;
}

/* Add the samples of a chunk, each with its time delta and perhaps its line. */
static void te_profiles_add_samples(struct tv_te_profiles *profiles, uint32_t number,
                                    struct tv_bytes data, uint64_t offset)
{
    assert(number < profiles->count);
    struct tv_bytes profile = tv_te_member(data, "cpuProfile"), node;
    struct tv_bytes times = tv_te_member(data, "timeDeltas");
    if (times.data == NULL)
        times = tv_te_member(profile, "timeDeltas");
    struct te_v8_array samples = te_v8_array_over(tv_te_member(profile, "samples"));
    struct te_v8_array deltas = te_v8_array_over(times);
    struct te_v8_array lines = te_v8_array_over(tv_te_member(data, "lines"));
    while ((node = te_v8_array_next(&samples)).data != NULL) {
        struct tv_bytes line = te_v8_array_next(&lines);
        if (!te_profile_advance(&profiles->rows[number], te_v8_array_next(&deltas))) {
            tv_te_warn(profiles->context, TV_DIAGNOSTIC_PROFILE_BAD, offset);
            return;
        }
        te_profiles_add_sample(profiles, number, node, line, offset);
    }
}

bool tv_te_profiles_take(struct tv_te_profiles *profiles, const struct tv_te_deferred *event,
                         const struct tv_te_fields *fields)
{
    struct tv_bytes data = tv_te_member(fields->args, "data");
    uint32_t key = te_profiles_is_event(profiles, event)
                       ? te_profiles_find_key(profiles, event, fields)
                       : TV_NONE;
    if (key == TV_NONE)
        return false;
    struct tv_bytes profile = tv_te_member(data, "cpuProfile");
    uint32_t number = tv_map_find(&profiles->numbers, key);
    if (number == TV_NONE || data.data == NULL) {
        tv_te_warn(profiles->context, TV_DIAGNOSTIC_PROFILE_BAD, event->offset);
        return true;
    }
    (void)tv_te_parse_time(tv_te_member(data, "endTime"), &profiles->rows[number].end);
    if (profile.data == NULL)
        return true;
    te_profiles_add_nodes(profiles, number, tv_te_member(profile, "nodes"), event->offset);
    te_profiles_add_samples(profiles, number, data, event->offset);
    return true;
}

/* Give the samples of a profile to the trace. */
static void te_profiles_deliver(struct tv_te_profiles *profiles, struct te_v8_profile *profile)
{
    struct tv_te_context *context = profiles->context;
    struct tv_tables *tables = &context->trace->tables;
    struct tv_trace_info *head = context->trace->head;
    uint32_t types[] = {
        tv_tables_value_type(tables, context->input, tv_trace_info_string(head, TV_V8_SAMPLES),
                             tv_trace_info_string(head, TV_BYTES("count"))),
        tv_tables_value_type(tables, context->input, tv_trace_info_string(head, TV_V8_CPU),
                             tv_trace_info_string(head, TV_BYTES("nanoseconds")))};
    if (tv_v8_samples_finish(&profile->samples, &context->trace->paths, profile->end) > 0)
        tv_te_warn(context, TV_DIAGNOSTIC_SAMPLES_SORTED, TV_NO_OFFSET);
    for (size_t i = 0; i < profile->samples.count; i++) {
        const struct tv_v8_sample *from = &profile->samples.rows[i];
        for (size_t value = 0; value < (from->state == TV_V8_IDLE ? 1u : 2u); value++)
            *tv_table_add(&tables->samples) =
                (struct tv_sample){.time = from->time,
                                   .weight = value == 0 ? 1 : from->length,
                                   .offset = from->offset,
                                   .thread = profile->thread,
                                   .cpu = TV_NONE,
                                   .path = from->path,
                                   .line_path = from->line_path,
                                   .type = types[value],
                                   .input = context->input};
    }
    head->inputs[context->input].samples += profile->samples.count;
}

void tv_te_profiles_end(struct tv_te_profiles *profiles)
{
    for (size_t i = 0; i < profiles->count; i++)
        te_profiles_deliver(profiles, &profiles->rows[i]);
}

/*
 * Code.  All addresses where code ever begins are known before the first query, so they are in
 * one sorted array; only which of them are live changes with time.  A tree of flags over the array
 * finds the nearest live one on either side:
 *
 *     flags          1                live[1]
 *                1       0            live[2], live[3]: the OR of the two below
 *              0   1   0   0          leaves: one for each range
 *     ranges   a   b   c   d          sorted by process and address
 */

#define NOWHERE SIZE_MAX

struct te_code_change {
    tv_ns time;
    uint64_t offset;
    uint64_t from, to, size; /* from: of moved code */
    uint32_t process, frame;
    bool moved;
};

/* A place where code begins, now or at another time. */
struct te_code_range {
    uint64_t start, size;
    uint32_t process, frame;
};

struct tv_te_code {
    struct tv_te_context *context;
    struct te_code_change *changes; /* by time */
    size_t change_count, change_capacity, applied_count;
    struct te_code_range *ranges; /* by process and start, each once */
    size_t range_count;
    size_t leaves; /* a power of two */
    bool *live;    /* [2 * leaves] as in a heap: some range below is live */
};

/* ---- Names ---- */

/* Return true for a character of a word, such as the kind "LazyCompile". */
static bool te_code_is_word(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

/* Return the text without its first `count` bytes. */
static struct tv_bytes te_code_drop_front(struct tv_bytes text, size_t count)
{
    return (struct tv_bytes){text.data + count, text.length - count};
}

/* Drop the kind and the tier ('~', '*' or nothing) of "LazyCompile:~foo
 * http://example.com/bar.js:23".  A word before "//" is not a kind but a URL. */
static struct tv_bytes te_code_drop_kind(struct tv_bytes name)
{
    size_t i = 0;
    while (i < name.length && te_code_is_word(name.data[i]))
        i++;
    if (i < name.length && name.data[i] == ':' &&
        !tv_bytes_starts_with(te_code_drop_front(name, i), TV_BYTES("://")))
        name = te_code_drop_front(name, i + 1);
    if (name.length > 0 && (name.data[0] == '~' || name.data[0] == '*'))
        name = te_code_drop_front(name, 1);
    return name;
}

/* Take ":23" off the end. */
static bool te_code_take_line(struct tv_bytes *text, int32_t *line)
{
    uint64_t number;
    size_t i = text->length;
    while (i > 0 && text->data[i - 1] >= '0' && text->data[i - 1] <= '9')
        i--;
    if (i < 2 || text->data[i - 1] != ':' || !tv_parse_u64(te_code_drop_front(*text, i), &number) ||
        number > INT32_MAX)
        return false;
    *line = (int32_t)number;
    text->length = i - 1;
    return true;
}

/* Add the frame of a function: "name source:line" is split. */
static uint32_t te_code_add_frame(struct tv_te_context *context, struct tv_bytes raw)
{
    struct tv_trace_info *head = context->trace->head;
    struct tv_bytes name = te_code_drop_kind(tv_te_decode_text(raw, &context->scratch));
    struct tv_frame frame = {.line = 0};
    size_t blank = name.length;
    while (blank > 0 && name.data[blank - 1] != ' ')
        blank--;
    struct tv_bytes file = te_code_drop_front(name, blank);
    if (blank > 0 && te_code_take_line(&file, &frame.line)) {
        frame.file = tv_trace_info_string(head, file);
        name.length = blank - 1;
    }
    frame.name = tv_trace_info_string(head, name.length > 0 ? name : TV_BYTES("(anonymous)"));
    return tv_trace_info_add_frame(head, &frame);
}

/* ---- Reading ---- */

static bool te_code_is_added(struct tv_bytes raw)
{
    return tv_bytes_equal(raw, TV_BYTES("\"JitCodeAdded\""));
}

static bool te_code_is_moved(struct tv_bytes raw)
{
    return tv_bytes_equal(raw, TV_BYTES("\"JitCodeMoved\""));
}

bool tv_te_code_is_name(struct tv_bytes name)
{
    return te_code_is_added(name) || te_code_is_moved(name);
}

/* Read an address, which is a string "0x...". */
static bool te_code_read_address(struct tv_te_context *context, struct tv_bytes data,
                                 const char *key, uint64_t *address)
{
    struct tv_bytes text = tv_te_decode_text(tv_te_member(data, key), &context->scratch);
    return tv_bytes_starts_with(text, TV_BYTES("0x")) && tv_parse_hex(text, address);
}

/* Read an event that adds or moves code. */
static void te_code_read_change(struct tv_te_code *code, uint32_t process, uint64_t offset)
{
    struct tv_te_context *context = code->context;
    struct tv_te_fields fields;
    struct te_code_change change = {.offset = offset, .process = process};
    int64_t size = 0;
    if (!tv_te_event_read(context, offset, &fields) || !tv_te_code_is_name(fields.name) ||
        !tv_te_parse_time(fields.ts, &change.time))
        return;
    struct tv_bytes data = tv_te_member(fields.args, "data");
    change.moved = te_code_is_moved(fields.name);
    bool whole = te_code_read_address(context, data, "code_start", &change.to);
    if (change.moved)
        whole = whole && te_code_read_address(context, data, "old_code_start", &change.from);
    else
        whole = whole && tv_te_parse_integer(tv_te_member(data, "code_len"), &size) && size > 0;
    if (!whole) {
        tv_te_warn(context, TV_DIAGNOSTIC_PROFILE_BAD, offset);
        return;
    }
    change.size = (uint64_t)size;
    if (!change.moved)
        change.frame = te_code_add_frame(context, tv_te_member(data, "name"));
    code->changes = tv_array_reserve(code->changes, &code->change_capacity, code->change_count + 1,
                                     sizeof *code->changes);
    code->changes[code->change_count++] = change;
}

/* Read the instants of threads and processes. */
static void te_code_read_instants(struct tv_te_code *code)
{
    const struct tv_trace *trace = code->context->trace;
    const struct tv_trace_info *head = trace->head;
    uint32_t added = tv_interner_find(head->strings, TV_BYTES("JitCodeAdded"));
    uint32_t moved = tv_interner_find(head->strings, TV_BYTES("JitCodeMoved"));
    for (size_t i = 0; i < trace->tables.instants.count; i++) {
        const struct tv_instant *instant = &trace->tables.instants.rows[i];
        uint32_t name = head->frames[instant->frame].name;
        if ((name != added && name != moved) || instant->input != code->context->input ||
            instant->scope == TV_SCOPE_GLOBAL)
            continue;
        uint32_t process =
            instant->scope == TV_SCOPE_THREAD ? head->threads[instant->of].process : instant->of;
        te_code_read_change(code, process, instant->offset);
    }
}

/* Sort by time, then by place in the file. */
static int te_code_compare_changes(const void *left, const void *right)
{
    const struct te_code_change *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Sort by process, then by address. */
static int te_code_compare_ranges(const void *left, const void *right)
{
    const struct te_code_range *a = left, *b = right;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return (a->start > b->start) - (a->start < b->start);
}

/* Sort the addresses, each once, and make the tree of flags. */
static void te_code_build_ranges(struct tv_te_code *code)
{
    code->ranges = tv_alloc(code->change_count, sizeof *code->ranges);
    for (size_t i = 0; i < code->change_count; i++)
        code->ranges[i] = (struct te_code_range){.start = code->changes[i].to,
                                                 .process = code->changes[i].process};
    qsort(code->ranges, code->change_count, sizeof *code->ranges, te_code_compare_ranges);
    for (size_t i = 0; i < code->change_count; i++)
        if (i == 0 || te_code_compare_ranges(&code->ranges[i - 1], &code->ranges[i]) != 0)
            code->ranges[code->range_count++] = code->ranges[i];
    for (code->leaves = 1; code->leaves < code->range_count;)
        code->leaves *= 2;
    code->live = tv_alloc(tv_size_mul(code->leaves, 2), sizeof *code->live);
}

struct tv_te_code *tv_te_code_new(struct tv_te_context *context)
{
    struct tv_te_code *code = tv_alloc(1, sizeof *code);
    code->context = context;
    for (size_t i = 0; i < context->stacks.table_count; i++)
        te_code_read_change(code, context->stacks.tables[i].process,
                            context->stacks.tables[i].offset);
    te_code_read_instants(code);
    if (code->change_count > 0) {
        qsort(code->changes, code->change_count, sizeof *code->changes, te_code_compare_changes);
        te_code_build_ranges(code);
    }
    return code;
}

void tv_te_code_free(struct tv_te_code *code)
{
    tv_free(code->changes);
    tv_free(code->ranges);
    tv_free(code->live);
    tv_free(code);
}

/* ---- What lies where ---- */

/* Set a flag and those above it. */
static void te_code_set_live(struct tv_te_code *code, size_t range, bool live)
{
    assert(range < code->range_count);
    size_t i = range + code->leaves;
    code->live[i] = live;
    for (i /= 2; i > 0; i /= 2)
        code->live[i] = code->live[2 * i] || code->live[2 * i + 1];
}

/* Return the nearest live range at or before `range` (`side` 0), or after it (1). */
static size_t te_code_nearest_live(const struct tv_te_code *code, size_t range, size_t side)
{
    assert(range < code->leaves);
    size_t i = range + code->leaves;
    while (!code->live[i]) {
        while (i > 1 && i % 2 == side) /* nothing on that side below this parent */
            i /= 2;
        if (i <= 1)
            return NOWHERE;
        i = side ? i + 1 : i - 1;
    }
    while (i < code->leaves)
        i = 2 * i + (code->live[2 * i + !side] ? !side : side);
    return i - code->leaves;
}

/* Return how many ranges begin at or before an address. */
static size_t te_code_count_ranges(const struct tv_te_code *code, uint32_t process,
                                   uint64_t address)
{
    struct te_code_range wanted = {.start = address, .process = process};
    size_t low = 0;
    TV_LOWER_BOUND(low, code->range_count, i,
                   te_code_compare_ranges(&code->ranges[i], &wanted) <= 0);
    return low;
}

/* Return the range of live code that contains an address, or NOWHERE. */
static size_t te_code_find_range(const struct tv_te_code *code, uint32_t process, uint64_t address)
{
    size_t count = te_code_count_ranges(code, process, address);
    size_t found = count == 0 ? NOWHERE : te_code_nearest_live(code, count - 1, 0);
    if (found == NOWHERE || code->ranges[found].process != process ||
        address - code->ranges[found].start >= code->ranges[found].size)
        return NOWHERE;
    return found;
}

/* Load code at its address; the code that it overlaps is gone. */
static void te_code_occupy(struct tv_te_code *code, const struct te_code_change *change,
                           uint64_t size, uint32_t frame)
{
    size_t range = te_code_count_ranges(code, change->process, change->to) - 1;
    size_t other;
    while ((other = te_code_nearest_live(code, range, 1)) != NOWHERE &&
           code->ranges[other].process == change->process &&
           code->ranges[other].start - change->to < size)
        te_code_set_live(code, other, false);
    code->ranges[range].size = size;
    code->ranges[range].frame = frame;
    te_code_set_live(code, range, true);
}

/* Add code, or move code that lies where the event says. */
static void te_code_apply(struct tv_te_code *code, const struct te_code_change *change)
{
    if (!change->moved) {
        te_code_occupy(code, change, change->size, change->frame);
        return;
    }
    size_t from = te_code_find_range(code, change->process, change->from);
    if (from == NOWHERE || code->ranges[from].start != change->from)
        return;
    struct te_code_range moved = code->ranges[from];
    te_code_set_live(code, from, false);
    te_code_occupy(code, change, moved.size, moved.frame);
}

bool tv_te_code_find(struct tv_te_code *code, uint32_t process, tv_ns time, uint64_t address,
                     uint32_t *frame)
{
    while (code->applied_count < code->change_count &&
           code->changes[code->applied_count].time <= time)
        te_code_apply(code, &code->changes[code->applied_count++]);
    size_t range = code->range_count == 0 ? NOWHERE : te_code_find_range(code, process, address);
    if (range == NOWHERE)
        return false;
    *frame = code->ranges[range].frame;
    return true;
}
