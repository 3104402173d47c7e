/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/trace_event/profile.h"

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/trace_event/ids.h"

struct te_v8_profile {
    int64_t time; /* of the last sample; at first of the start */
    uint32_t thread;
};

struct tv_te_profiles {
    struct tv_te_context *context;
    struct tv_te_id_key text;
    struct tv_map numbers; /* string "pid:scope:id" -> index in rows */
    struct tv_map nodes;   /* (profile, node id) -> path */
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
    tv_free(profiles->rows);
    tv_free(profiles);
}

static bool te_profiles_is_event(const struct tv_te_profiles *profiles, const struct tv_te_deferred *event)
{
    const struct tv_head *head = profiles->context->trace->head;
    struct tv_bytes name = tv_head_text(head, head->frames[event->frame].name);
    return tv_bytes_equal(name, TV_BYTES("Profile")) ||
           tv_bytes_equal(name, TV_BYTES("ProfileChunk"));
}

/* The string of the profile's id; TV_NONE: it has none. */
static uint32_t te_profiles_find_key(struct tv_te_profiles *profiles, const struct tv_te_deferred *event,
                         const struct tv_te_fields *fields)
{
    struct tv_te_id_parts id = {.scope = fields->scope, .process = event->process};
    id.kind = tv_te_fields_id(fields, &id.raw);
    if (id.kind == TV_TE_ID_NONE || id.kind == TV_TE_ID_BAD)
        return TV_NONE;
    profiles->text.length = 0;
    tv_te_id_key_add_id(&profiles->text, profiles->context, &id, TV_TE_ID_OWNED);
    return tv_head_string(profiles->context->trace->head, tv_te_id_key_text(&profiles->text));
}

static void te_profiles_add(struct tv_te_profiles *profiles, const struct tv_te_deferred *event)
{
    struct tv_te_fields fields;
    struct te_v8_profile profile = {0, event->thread};
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
    for (size_t i = 0; i < context->deferred_count; i++)
        if (context->deferred[i].phase == 'P' && te_profiles_is_event(profiles, &context->deferred[i]))
            te_profiles_add(profiles, &context->deferred[i]);
}

static uint32_t te_profiles_string(struct tv_te_profiles *profiles, struct tv_bytes raw)
{
    struct tv_te_context *context = profiles->context;
    return tv_head_string(context->trace->head, tv_te_decode_text(raw, &context->scratch));
}

static bool te_profile_node_key(uint32_t profile, struct tv_bytes id, uint64_t *key)
{
    int64_t number;
    if (!tv_te_parse_integer(id, &number) || number < 0 || number > UINT32_MAX)
        return false;
    *key = (uint64_t)profile << 32 | (uint32_t)number;
    return true;
}

/* A function of V8: lines are counted from 0, -1 where there is none. */
static uint32_t te_profiles_add_frame(struct tv_te_profiles *profiles, struct tv_bytes call)
{
    struct tv_head *head = profiles->context->trace->head;
    struct tv_frame frame = {
        .name = te_profiles_string(profiles, tv_te_member(call, "functionName")),
        .file = te_profiles_string(profiles, tv_te_member(call, "url")),
    };
    int64_t line;
    if (frame.name == TV_EMPTY_STRING)
        frame.name = tv_head_string(head, TV_BYTES("(anonymous)"));
    if (tv_te_parse_integer(tv_te_member(call, "lineNumber"), &line) && line >= 0 && line < INT32_MAX)
        frame.line = (int32_t)(line + 1);
    return tv_head_add_frame(head, &frame);
}

/* The node "(root)" is what has no function: the root of all paths. */
static bool te_profiles_is_root(struct tv_te_profiles *profiles, struct tv_bytes call)
{
    struct tv_bytes name =
        tv_te_decode_text(tv_te_member(call, "functionName"), &profiles->context->scratch);
    return tv_bytes_equal(name, TV_BYTES("(root)"));
}

/* False: the node has no id, or its parent is not there. */
static bool te_profiles_add_node(struct tv_te_profiles *profiles, uint32_t profile, struct tv_bytes node)
{
    struct tv_trace *trace = profiles->context->trace;
    struct tv_bytes call = tv_te_member(node, "callFrame"), parent = tv_te_member(node, "parent");
    uint64_t key, parent_key;
    uint32_t path = TV_ROOT_PATH;
    bool known = true;
    if (!te_profile_node_key(profile, tv_te_member(node, "id"), &key))
        return false;
    if (parent.data != NULL) {
        path = te_profile_node_key(profile, parent, &parent_key) ? tv_map_find(&profiles->nodes, parent_key)
                                                      : TV_NONE;
        known = path != TV_NONE;
        path = known ? path : TV_ROOT_PATH;
    }
    if (!te_profiles_is_root(profiles, call))
        path = tv_paths_child(&trace->paths, path, te_profiles_add_frame(profiles, call));
    tv_map_set(&profiles->nodes, key, path);
    return known;
}

static void te_profiles_add_nodes(struct tv_te_profiles *profiles, uint32_t profile, struct tv_bytes nodes,
                      uint64_t offset)
{
    struct tv_bytes node;
    if (nodes.length == 0 || nodes.data[0] != '[')
        return;
    const uint8_t *at = nodes.data + 1;
    while (tv_te_element_next(&at, nodes.data + nodes.length, &node))
        if (!te_profiles_add_node(profiles, profile, node))
            tv_te_warn(profiles->context, TV_DIAGNOSTIC_PROFILE_BAD, offset);
}

static void te_profiles_add_sample(struct tv_te_profiles *profiles, uint32_t number, struct tv_bytes node,
                       uint64_t offset)
{
    struct tv_te_context *context = profiles->context;
    const struct te_v8_profile *profile = &profiles->rows[number];
    uint64_t key;
    uint32_t path = te_profile_node_key(number, node, &key) ? tv_map_find(&profiles->nodes, key) : TV_NONE;
    if (path == TV_NONE) {
        tv_te_warn(context, TV_DIAGNOSTIC_PROFILE_BAD, offset);
        return;
    }
    struct tv_sample *sample = tv_table_add(&context->trace->tables.samples);
    *sample = (struct tv_sample){
        .time = profile->time,
        .weight = 1,
        .offset = offset,
        .thread = profile->thread,
        .cpu = TV_NONE,
        .path = path,
        .title = tv_head_string(context->trace->head, TV_BYTES("V8 Sample")),
        .input = context->input,
    };
}

/* The profile's time after a time more; it stays within what times can be. */
static bool te_profile_advance(struct te_v8_profile *profile, struct tv_bytes delta)
{
    int64_t passed;
    if (!tv_te_parse_time(delta, &passed))
        return false;
    profile->time += passed; /* fits: both are within half the range */
    if (profile->time > TV_TE_LATEST)
        profile->time = TV_TE_LATEST;
    if (profile->time < -TV_TE_LATEST)
        profile->time = -TV_TE_LATEST;
    return true;
}

static void te_profiles_add_samples(struct tv_te_profiles *profiles, uint32_t number, struct tv_bytes samples,
                        struct tv_bytes deltas, uint64_t offset)
{
    struct tv_bytes node, delta;
    if (samples.length == 0 || samples.data[0] != '[')
        return;
    const uint8_t *at = samples.data + 1;
    const uint8_t *delta_at = deltas.length > 0 && deltas.data[0] == '[' ? deltas.data + 1 : NULL;
    while (tv_te_element_next(&at, samples.data + samples.length, &node)) {
        if (delta_at == NULL ||
            !tv_te_element_next(&delta_at, deltas.data + deltas.length, &delta) ||
            !te_profile_advance(&profiles->rows[number], delta)) {
            tv_te_warn(profiles->context, TV_DIAGNOSTIC_PROFILE_BAD, offset);
            return;
        }
        te_profiles_add_sample(profiles, number, node, offset);
    }
}

bool tv_te_profiles_take(struct tv_te_profiles *profiles, const struct tv_te_deferred *event,
                         const struct tv_te_fields *fields)
{
    struct tv_bytes data = tv_te_member(fields->args, "data");
    uint32_t key = te_profiles_is_event(profiles, event) ? te_profiles_find_key(profiles, event, fields) : TV_NONE;
    if (key == TV_NONE)
        return false;
    struct tv_bytes profile = tv_te_member(data, "cpuProfile");
    uint32_t number = tv_map_find(&profiles->numbers, key);
    if (number == TV_NONE || data.data == NULL) {
        tv_te_warn(profiles->context, TV_DIAGNOSTIC_PROFILE_BAD, event->offset);
        return true;
    }
    if (profile.data == NULL)
        return true;
    te_profiles_add_nodes(profiles, number, tv_te_member(profile, "nodes"), event->offset);
    te_profiles_add_samples(profiles, number, tv_te_member(profile, "samples"),
                tv_te_member(data, "timeDeltas"), event->offset);
    return true;
}
