/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nodes.c - the tree of functions in a profile of V8.
 *
 *     flat list                                         tree
 *     {"id":1, "callFrame":{...}, "children":[2]},      {"callFrame":{...}, "children":[
 *     {"id":2, "callFrame":{...}, "parent":1}               {"callFrame":{...}}]}
 *
 * A list names the children or the parent of a node, in any order; the paths are found when all
 * nodes are known.  Nothing recurses: a tree is read with a stack, and climbing to the root marks
 * the nodes on the way, so that a circle is noticed.
 */
#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/v8/v8.h"

/* Path of a node that is being climbed from. */
#define ON_THE_WAY (TV_NONE - 1)

void tv_v8_nodes_init(struct tv_v8_nodes *nodes, struct tv_profile_input *profile)
{
    *nodes = (struct tv_v8_nodes){.profile = profile};
    tv_lookup_init(&nodes->by_id);
}

void tv_v8_nodes_release(struct tv_v8_nodes *nodes)
{
    tv_lookup_release(&nodes->by_id);
    tv_te_scratch_release(&nodes->scratch);
    tv_free(nodes->rows);
    tv_free(nodes->links);
    tv_free(nodes->ticks.rows);
}

enum tv_v8_state tv_v8_state_of(struct tv_bytes name)
{
    if (tv_bytes_equal(name, TV_BYTES("(root)")))
        return TV_V8_ROOT;
    if (tv_bytes_equal(name, TV_BYTES("(idle)")))
        return TV_V8_IDLE;
    return tv_bytes_equal(name, TV_BYTES("(garbage collector)")) ? TV_V8_GC : TV_V8_RUNS;
}

/* ---- Fields ---- */

/* A node while its fields are read. */
struct v8_call {
    uint32_t name, file;
    int64_t line, column; /* as in the file */
    bool has_name, has_weight, has_children;
};

static uint32_t v8_nodes_take_string(struct tv_v8_nodes *nodes, struct tv_json_stream *stream)
{
    struct tv_bytes raw = tv_json_take_raw(stream);
    if (stream->bad || !tv_te_is_string(raw))
        return TV_EMPTY_STRING;
    return tv_profile_string(nodes->profile, tv_te_decode_text(raw, &nodes->scratch));
}

static bool v8_key_is(struct tv_bytes key, const char *name)
{
    return tv_bytes_equal(key, tv_bytes_of(name));
}

/* Take a field of a call frame; false: the key is not one. */
static bool v8_nodes_take_call_field(struct tv_v8_nodes *nodes, struct tv_json_stream *stream,
                                     struct tv_bytes key, struct v8_call *call)
{
    call->has_name |= v8_key_is(key, "functionName");
    if (v8_key_is(key, "functionName"))
        call->name = v8_nodes_take_string(nodes, stream);
    else if (v8_key_is(key, "url"))
        call->file = v8_nodes_take_string(nodes, stream);
    else if (v8_key_is(key, "lineNumber"))
        (void)tv_json_take_number(stream, 0, &call->line);
    else if (v8_key_is(key, "columnNumber"))
        (void)tv_json_take_number(stream, 0, &call->column);
    else
        return false;
    return true;
}

static void v8_nodes_take_call(struct tv_v8_nodes *nodes, struct tv_json_stream *stream,
                               struct v8_call *call)
{
    struct tv_bytes key;
    if (!tv_json_open(stream, '{'))
        return;
    while (tv_json_take_key(stream, &key))
        if (!v8_nodes_take_call_field(nodes, stream, key, call))
            tv_json_skip(stream);
}

/* Return a line or column counted from 1; 0: unknown. */
static int32_t v8_count_from_one(int64_t number, int64_t first)
{
    bool fits = number >= first && number < INT32_MAX;
    return fits ? (int32_t)(number + 1 - first) : 0;
}

/* Set the frame of a node whose fields are known. The root has none: it is the root of the model's
 * tree. */
static void v8_nodes_name(struct tv_v8_nodes *nodes, struct tv_v8_node *node,
                          const struct v8_call *call)
{
    struct tv_trace_info *info = nodes->profile->info;
    struct tv_frame frame = {.name = call->name, .file = call->file};
    node->state = tv_v8_state_of(tv_trace_info_text(info, call->name));
    if (node->state == TV_V8_ROOT)
        return;
    if (frame.name == TV_EMPTY_STRING)
        frame.name = tv_profile_string(nodes->profile, TV_BYTES("(anonymous)"));
    frame.line = v8_count_from_one(call->line, nodes->first_line);
    frame.column = frame.line > 0 ? v8_count_from_one(call->column, nodes->first_line) : 0;
    frame.kind = node->state == TV_V8_GC ? TV_FRAME_GC : TV_FRAME_UNKNOWN;
    node->frame = tv_trace_info_add_frame(info, &frame);
}

/* Note a node without a member that V8 always writes. */
static void v8_nodes_check(struct tv_v8_nodes *nodes, const struct tv_json_stream *stream,
                           uint64_t offset, const struct v8_call *call)
{
    bool whole = call->has_name && (!nodes->heap || (call->has_weight && call->has_children));
    if (!whole && !stream->bad)
        tv_profile_warn(nodes->profile, TV_DIAGNOSTIC_MEMBER_MISSING, offset);
}

static uint32_t v8_nodes_add(struct tv_v8_nodes *nodes, uint32_t parent, uint64_t offset)
{
    nodes->rows =
        tv_array_reserve(nodes->rows, &nodes->capacity, nodes->count + 1, sizeof *nodes->rows);
    nodes->rows[nodes->count] = (struct tv_v8_node){
        .id = TV_NO_OFFSET,
        .offset = offset,
        .parent = parent,
        .frame = TV_NONE,
        .path = TV_NONE,
    };
    return (uint32_t)nodes->count++;
}

static void v8_nodes_set_id(struct tv_v8_nodes *nodes, uint32_t node, int64_t id)
{
    nodes->rows[node].id = (uint64_t)id;
    tv_map_set(&nodes->by_id.map, (uint64_t)id, node);
}

const struct tv_v8_node *tv_v8_nodes_find(const struct tv_v8_nodes *nodes, uint64_t id)
{
    uint32_t node = tv_lookup_find(&nodes->by_id, id);
    return node == TV_NONE ? NULL : &nodes->rows[node];
}

/* ---- The flat list ---- */

/* Note a child, which may come later in the list. */
static void v8_nodes_add_link(struct tv_v8_nodes *nodes, uint32_t parent, uint64_t child)
{
    nodes->links = tv_array_reserve(nodes->links, &nodes->link_capacity, nodes->link_count + 1,
                                    sizeof *nodes->links);
    nodes->links[nodes->link_count].parent = parent;
    nodes->links[nodes->link_count++].child = child;
}

static void v8_nodes_take_children(struct tv_v8_nodes *nodes, struct tv_json_stream *stream,
                                   uint32_t parent)
{
    int64_t id;
    if (!tv_json_open(stream, '['))
        return;
    while (tv_json_take_element(stream))
        if (tv_json_take_number(stream, 0, &id))
            v8_nodes_add_link(nodes, parent, (uint64_t)id);
}

/* Take an object {"line":12, "ticks":3} of the node that was added last. */
static void v8_nodes_take_tick(struct tv_v8_nodes *nodes, struct tv_json_stream *stream,
                               struct tv_v8_node *node)
{
    struct tv_bytes key;
    int64_t line = 0, ticks = 0;
    if (!tv_json_open(stream, '{'))
        return;
    while (tv_json_take_key(stream, &key))
        if (v8_key_is(key, "line"))
            (void)tv_json_take_number(stream, 0, &line);
        else if (v8_key_is(key, "ticks"))
            (void)tv_json_take_number(stream, 0, &ticks);
        else
            tv_json_skip(stream);
    if (line <= 0 || line > INT32_MAX || ticks <= 0 || nodes->ticks.count >= TV_NONE - 1)
        return;
    *tv_table_add(&nodes->ticks) = (struct tv_v8_tick){.left = ticks, .line = (int32_t)line};
    node->tick_end = (uint32_t)nodes->ticks.count;
}

/* Take "positionTicks", which counts lines from 1 whatever the call frame does. */
static void v8_nodes_take_ticks(struct tv_v8_nodes *nodes, struct tv_json_stream *stream,
                                uint32_t number)
{
    struct tv_v8_node *node = &nodes->rows[number];
    if (!nodes->profile->with_lines || node->tick_end > 0) {
        tv_json_skip(stream);
        return;
    }
    node->tick = node->tick_end = (uint32_t)nodes->ticks.count;
    if (tv_json_open(stream, '['))
        while (tv_json_take_element(stream))
            v8_nodes_take_tick(nodes, stream, node);
}

/* Take a field of a node that both forms have. */
static void v8_nodes_take_field(struct tv_v8_nodes *nodes, struct tv_json_stream *stream,
                                struct tv_bytes key, uint32_t node, struct v8_call *call)
{
    int64_t number;
    if (v8_key_is(key, "callFrame"))
        v8_nodes_take_call(nodes, stream, call);
    else if (v8_key_is(key, "id") && tv_json_take_number(stream, 0, &number))
        v8_nodes_set_id(nodes, node, number);
    else if (v8_key_is(key, "hitCount") || v8_key_is(key, "selfSize"))
        call->has_weight = tv_json_take_number(stream, 0, &nodes->rows[node].weight);
    else if (v8_key_is(key, "positionTicks"))
        v8_nodes_take_ticks(nodes, stream, node);
    else if (!v8_key_is(key, "id") && !v8_nodes_take_call_field(nodes, stream, key, call))
        tv_json_skip(stream);
}

/* Take a node of a list.  Return the id of its parent; TV_NO_OFFSET: it does not tell. */
static uint64_t v8_nodes_take_node(struct tv_v8_nodes *nodes, struct tv_json_stream *stream)
{
    struct v8_call call = {.line = -1, .column = -1};
    struct tv_bytes key;
    int64_t parent = -1;
    uint32_t node = v8_nodes_add(nodes, TV_NONE, tv_json_stream_offset(stream));
    if (!tv_json_open(stream, '{'))
        return TV_NO_OFFSET;
    while (tv_json_take_key(stream, &key)) {
        if (v8_key_is(key, "children"))
            v8_nodes_take_children(nodes, stream, node);
        else if (v8_key_is(key, "parent"))
            (void)tv_json_take_number(stream, 0, &parent);
        else
            v8_nodes_take_field(nodes, stream, key, node, &call);
    }
    v8_nodes_name(nodes, &nodes->rows[node], &call);
    v8_nodes_check(nodes, stream, nodes->rows[node].offset, &call);
    return (uint64_t)parent;
}

/* Let a node be called by another one, unless it has a caller. */
static void v8_nodes_link(struct tv_v8_nodes *nodes, uint32_t parent, uint32_t child)
{
    if (parent == TV_NONE || child == TV_NONE || nodes->rows[child].parent != TV_NONE) {
        tv_profile_warn(nodes->profile, TV_DIAGNOSTIC_PROFILE_BAD,
                        child == TV_NONE ? TV_NO_OFFSET : nodes->rows[child].offset);
        return;
    }
    nodes->rows[child].parent = parent;
}

/* Some profilers write "children", others "parent". Both are ids that may come later, so they are
 * resolved at the end of the list. */
void tv_v8_nodes_take_list(struct tv_v8_nodes *nodes, struct tv_json_stream *stream)
{
    uint64_t *parents = NULL;
    size_t capacity = 0, first = nodes->count;
    if (!tv_json_open(stream, '['))
        return;
    while (tv_json_take_element(stream)) {
        uint64_t parent = v8_nodes_take_node(nodes, stream);
        parents = tv_array_reserve(parents, &capacity, nodes->count - first, sizeof *parents);
        parents[nodes->count - 1 - first] = parent;
    }
    for (size_t i = first; i < nodes->count; i++)
        if (parents[i - first] != TV_NO_OFFSET)
            v8_nodes_link(nodes, tv_lookup_find(&nodes->by_id, parents[i - first]), (uint32_t)i);
    for (size_t i = 0; i < nodes->link_count; i++)
        v8_nodes_link(nodes, nodes->links[i].parent,
                      tv_lookup_find(&nodes->by_id, nodes->links[i].child));
    tv_free(parents);
}

/* ---- The tree ---- */

/* An open object, or the open array of its children. */
struct v8_level {
    uint32_t node;
    bool array;
    struct v8_call call;
};

struct v8_levels {
    struct v8_level *rows;
    size_t count, capacity;
};

static void v8_levels_push(struct v8_levels *levels, uint32_t node, bool array)
{
    levels->rows =
        tv_array_reserve(levels->rows, &levels->capacity, levels->count + 1, sizeof *levels->rows);
    levels->rows[levels->count++] = (struct v8_level){node, array, {.line = -1, .column = -1}};
}

/* Go into the next child, or leave the array. */
static void v8_nodes_take_child(struct tv_v8_nodes *nodes, struct tv_json_stream *stream,
                                struct v8_levels *levels)
{
    uint32_t parent = levels->rows[levels->count - 1].node;
    if (!tv_json_take_element(stream)) {
        levels->count--;
        return;
    }
    uint64_t offset = tv_json_stream_offset(stream);
    if (tv_json_open(stream, '{'))
        v8_levels_push(levels, v8_nodes_add(nodes, parent, offset), false);
}

/* Take the next field of an object, or leave it. */
static void v8_nodes_take_member(struct tv_v8_nodes *nodes, struct tv_json_stream *stream,
                                 struct v8_levels *levels)
{
    struct v8_level *level = &levels->rows[levels->count - 1];
    struct tv_bytes key;
    if (!tv_json_take_key(stream, &key)) {
        v8_nodes_name(nodes, &nodes->rows[level->node], &level->call);
        v8_nodes_check(nodes, stream, nodes->rows[level->node].offset, &level->call);
        levels->count--;
    } else if (!v8_key_is(key, "children")) {
        v8_nodes_take_field(nodes, stream, key, level->node, &level->call);
    } else if (tv_json_open(stream, '[')) {
        level->call.has_children = true;
        v8_levels_push(levels, level->node, true);
    }
}

void tv_v8_nodes_take_tree(struct tv_v8_nodes *nodes, struct tv_json_stream *stream)
{
    struct v8_levels levels = {.rows = NULL};
    uint64_t offset = tv_json_stream_offset(stream);
    if (!tv_json_open(stream, '{'))
        return;
    v8_levels_push(&levels, v8_nodes_add(nodes, TV_NONE, offset), false);
    while (levels.count > 0) {
        if (levels.rows[levels.count - 1].array)
            v8_nodes_take_child(nodes, stream, &levels);
        else
            v8_nodes_take_member(nodes, stream, &levels);
    }
    tv_free(levels.rows);
}

/* ---- Paths ---- */

/* Climb from a node to one whose path is known, or to a root.  Return the number of nodes on the
 * way; a circle ends where it closes. */
static size_t v8_nodes_climb(struct tv_v8_nodes *nodes, uint32_t node, uint32_t *way)
{
    size_t count = 0;
    while (node != TV_NONE && nodes->rows[node].path == TV_NONE) {
        nodes->rows[node].path = ON_THE_WAY;
        way[count++] = node;
        node = nodes->rows[node].parent;
    }
    if (node != TV_NONE && nodes->rows[node].path == ON_THE_WAY) {
        tv_profile_warn(nodes->profile, TV_DIAGNOSTIC_STACK_CIRCLE, nodes->rows[node].offset);
        nodes->rows[way[count - 1]].parent = TV_NONE;
    }
    return count;
}

/* Set the path of a node whose parent has one. */
static void v8_nodes_set_path(struct tv_v8_nodes *nodes, struct tv_v8_node *node)
{
    const struct tv_v8_node *parent = node->parent == TV_NONE ? NULL : &nodes->rows[node->parent];
    node->path = parent ? parent->path : TV_ROOT_PATH;
    node->depth = parent ? parent->depth : 0;
    assert(node->path != TV_NONE && node->path != ON_THE_WAY);
    if (node->frame == TV_NONE || node->depth == TV_PROFILE_DEPTH)
        node->tick_end = node->tick; /* the lines have no paths */
    if (node->frame == TV_NONE)
        return;
    if (node->depth == TV_PROFILE_DEPTH) {
        tv_profile_warn(nodes->profile, TV_DIAGNOSTIC_TOO_DEEP, node->offset);
        return;
    }
    struct tv_paths *paths = &nodes->profile->trace->paths;
    uint32_t caller = node->path;
    node->depth++;
    node->path = tv_paths_child(paths, caller, node->frame);
    for (uint32_t i = node->tick; i < node->tick_end; i++) {
        struct tv_v8_tick *tick = &nodes->ticks.rows[i];
        tick->path = tv_paths_child(paths, caller,
                                    tv_profile_line_frame(nodes->profile, node->frame, tick->line));
    }
}

uint32_t tv_v8_nodes_next_line(struct tv_v8_nodes *nodes, const struct tv_v8_node *node)
{
    struct tv_v8_node *own = &nodes->rows[node - nodes->rows];
    while (own->tick < own->tick_end && nodes->ticks.rows[own->tick].left == 0)
        own->tick++;
    if (own->tick == own->tick_end)
        return own->path;
    nodes->ticks.rows[own->tick].left--;
    return nodes->ticks.rows[own->tick].path;
}

void tv_v8_nodes_find_paths(struct tv_v8_nodes *nodes)
{
    uint32_t *way = tv_alloc(nodes->count, sizeof *way);
    tv_lookup_complete(&nodes->by_id);
    for (size_t i = 0; i < nodes->count; i++) {
        size_t depth = v8_nodes_climb(nodes, (uint32_t)i, way);
        while (depth-- > 0)
            v8_nodes_set_path(nodes, &nodes->rows[way[depth]]);
    }
    tv_free(way);
}
