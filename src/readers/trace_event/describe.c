/* SPDX-License-Identifier: Apache-2.0 */
/*
 * describe.c - one event read again from the file, when somebody looks at it.
 *
 * The model holds names, times and threads.  Everything else that an event says stays in the file:
 * arguments, ids, stacks, and whatever its writer added.  A slice of two events ("B", "E") shows
 * the members of both; where they clash, nothing gets lost:
 *
 *     args              the beginning's and the end's; the end wins
 *     overwritten       arguments of the beginning that lost
 *     end               members that only the end's own event has, or has differently
 *
 * tv_te_describe_slice writes the same information as one complete event ("X") again.
 */
#include "readers/trace_event/trace_event.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"
#include "readers/json/json.h"
#include "readers/trace_event/join/object_references.h"
#include "readers/trace_event/rewrite.h"
#include "readers/trace_event/text/fields.h"

/* Return whether a value is an object. */
static bool te_describe_is_object(struct tv_bytes raw)
{
    return raw.length > 0 && raw.data[0] == '{';
}

/* Write a member as strict JSON, with a comma unless it is the first one. */
static void te_describe_put_member(struct tv_out *out, bool *any, struct tv_bytes key,
                                   struct tv_bytes value)
{
    tv_out_text(out, *any ? "," : "");
    *any = true;
    tv_te_key_write(out, key);
    tv_out_char(out, ':');
    tv_json_normalise(value, out, NULL);
}

/* ---- Arguments ---- */

/* The keys of an object and the value of each; of duplicates the last. */
struct te_members {
    struct tv_interner *keys;
    struct tv_bytes *values;
    size_t capacity;
};

/* Index the members of an object, so that merging two large objects takes linear time. */
static void te_members_init(struct te_members *members, struct tv_bytes object)
{
    assert(te_describe_is_object(object));
    struct tv_bytes key, value;
    *members = (struct te_members){.keys = tv_interner_new()};
    members->values = tv_array_reserve(NULL, &members->capacity, 1, sizeof *members->values);
    members->values[TV_EMPTY_STRING] = (struct tv_bytes){NULL, 0};
    const uint8_t *at = object.data + 1, *end = object.data + object.length;
    while (tv_te_member_next(&at, end, &key, &value)) {
        size_t number = tv_interner_add(members->keys, tv_te_key_unquote(key));
        members->values = tv_array_reserve(members->values, &members->capacity, number + 1,
                                           sizeof *members->values);
        members->values[number] = value;
    }
}

static void te_members_release(struct te_members *members)
{
    tv_interner_free(members->keys);
    tv_free(members->values);
}

/* Return the value of a key; data NULL: there is none. */
static struct tv_bytes te_members_find(const struct te_members *members, struct tv_bytes key)
{
    uint32_t number = tv_interner_find(members->keys, tv_te_key_unquote(key));
    assert(number == TV_NONE || number < members->capacity);
    return number == TV_NONE ? (struct tv_bytes){NULL, 0} : members->values[number];
}

/* Write the members of the first object that the second does not have. */
static void te_describe_put_unshared(struct tv_out *out, bool *any, struct tv_bytes first,
                                     const struct te_members *second)
{
    struct te_members own;
    struct tv_bytes key, value;
    const uint8_t *at = first.data + 1, *end = first.data + first.length;
    te_members_init(&own, first);
    while (tv_te_member_next(&at, end, &key, &value))
        if (te_members_find(&own, key).data == value.data && !te_members_find(second, key).data)
            te_describe_put_member(out, any, key, value);
    te_members_release(&own);
}

/* Write two objects as one; where both have a key, the second wins. */
static void te_describe_merge_objects(struct tv_out *out, struct tv_bytes first,
                                      struct tv_bytes second)
{
    struct te_members own;
    struct tv_bytes key, value;
    bool any = false;
    const uint8_t *at = second.data + 1, *end = second.data + second.length;
    te_members_init(&own, second);
    tv_out_char(out, '{');
    te_describe_put_unshared(out, &any, first, &own);
    while (tv_te_member_next(&at, end, &key, &value))
        if (te_members_find(&own, key).data == value.data)
            te_describe_put_member(out, &any, key, value);
    tv_out_char(out, '}');
    te_members_release(&own);
}

/* Merge arguments: async events have theirs a level deeper, in "params" (section 3.5). */
static void te_describe_merge_args(struct tv_out *out, struct tv_bytes first,
                                   struct tv_bytes second)
{
    struct te_members own;
    struct tv_bytes key, value, before = tv_te_member(first, "params");
    bool any = false;
    const uint8_t *at = second.data + 1, *end = second.data + second.length;
    te_members_init(&own, second);
    tv_out_char(out, '{');
    te_describe_put_unshared(out, &any, first, &own);
    while (tv_te_member_next(&at, end, &key, &value)) {
        bool params = tv_bytes_equal(tv_te_key_unquote(key), TV_BYTES("params"));
        if (te_members_find(&own, key).data != value.data)
            continue;
        if (params && te_describe_is_object(before) && te_describe_is_object(value)) {
            tv_out_text(out, any ? ",\"params\":" : "\"params\":");
            te_describe_merge_objects(out, before, value);
            any = true;
        } else {
            te_describe_put_member(out, &any, key, value);
        }
    }
    tv_out_char(out, '}');
    te_members_release(&own);
}

/* Write the arguments of one event or of both. */
static void te_describe_put_args(struct tv_out *out, struct tv_bytes first, struct tv_bytes second)
{
    if (te_describe_is_object(first) && te_describe_is_object(second))
        te_describe_merge_args(out, first, second);
    else if (second.data || first.data)
        tv_json_normalise(second.data ? second : first, out, NULL);
    else
        tv_out_text(out, "{}");
}

/* Write the members of the first object that the second has with another value. */
static void te_describe_put_hidden(struct tv_out *out, struct tv_bytes first,
                                   struct tv_bytes second, const char *opening)
{
    struct te_members own, others;
    struct tv_bytes key, value;
    bool any = false;
    const uint8_t *at = first.data + 1, *end = first.data + first.length;
    te_members_init(&own, first);
    te_members_init(&others, second);
    while (tv_te_member_next(&at, end, &key, &value)) {
        struct tv_bytes other = te_members_find(&others, key);
        bool params = tv_bytes_equal(tv_te_key_unquote(key), TV_BYTES("params"));
        if (te_members_find(&own, key).data != value.data || !other.data ||
            tv_json_equal(value, other) ||
            (params && te_describe_is_object(value) && te_describe_is_object(other)))
            continue;
        tv_out_text(out, any ? "" : opening);
        te_describe_put_member(out, &any, key, value);
    }
    tv_out_text(out, any ? "}" : "");
    te_members_release(&own);
    te_members_release(&others);
}

/* Write the arguments of the beginning that those of the end hide. */
static void te_describe_put_overwritten(struct tv_out *out, struct tv_bytes first,
                                        struct tv_bytes second)
{
    if (!te_describe_is_object(first) || !te_describe_is_object(second))
        return;
    struct tv_bytes params = tv_te_member(first, "params"), later = tv_te_member(second, "params");
    te_describe_put_hidden(out, first, second, ",\"overwritten\":{");
    if (te_describe_is_object(params) && te_describe_is_object(later))
        te_describe_put_hidden(out, params, later, ",\"overwritten_params\":{");
}

/* ---- Stacks ---- */

/* Write the innermost names, and "..._cut" if there are more. */
static void te_describe_put_stack_names(struct tv_out *out, const struct tv_trace *trace,
                                        const char *key, uint32_t path)
{
    size_t depth;
    bool cut;
    uint32_t *frames = tv_path_innermost(trace, path, TV_STACK_NAMES, &depth, &cut);
    tv_out_char(out, '[');
    for (size_t i = 0; i < depth; i++) {
        tv_out_text(out, i > 0 ? "," : "");
        tv_out_json(out, tv_trace_info_text(trace->head, trace->head->frames[frames[i]].name));
    }
    tv_out_char(out, ']');
    if (cut)
        tv_out_format(out, ",\"%s_cut\":true", key);
    tv_free(frames);
}

/* Write a list, with addresses replaced by the functions that are there. */
static void te_describe_put_stack_list(struct tv_out *out, const struct tv_trace *trace,
                                       struct tv_bytes list, struct tv_te_scratch *scratch)
{
    struct tv_address_place place;
    struct tv_bytes value;
    const uint8_t *at = list.data + 1, *end = list.data + list.length;
    tv_out_char(out, '[');
    bool more = tv_te_element_next(&at, end, &value);
    while (more) {
        struct tv_bytes own = value;
        more = tv_te_element_next(&at, end, &value);
        if (tv_trace_info_find_address(trace->head, tv_te_decode_text(own, scratch),
                                       more ? TV_STACK_CALLER : TV_STACK_LEAF, &place) &&
            place.function.length > 0)
            tv_out_json(out, place.function);
        else
            tv_json_normalise(own, out, NULL);
        tv_out_text(out, more ? "," : "");
    }
    tv_out_char(out, ']');
}

/* Write "start_stack" or "end_stack", from an id of the table of stack frames or a list of names.
 * False: the id leads to no stack. */
static bool te_describe_put_stack(struct tv_out *out, const struct tv_trace *trace, uint32_t input,
                                  const char *key, struct tv_bytes frame, struct tv_bytes stack)
{
    struct tv_te_scratch scratch = {NULL, 0};
    if (frame.data && stack.data) /* section 2: then neither counts */
        return false;
    uint32_t string = TV_NONE;
    if (frame.data)
        string = tv_interner_find(trace->head->strings, tv_te_decode_text(frame, &scratch));
    const struct tv_stack_frame *found =
        string == TV_NONE ? NULL : tv_tables_stack_frame(&trace->tables, input, string);
    if (found || stack.data)
        tv_out_format(out, ",\"%s\":", key);
    if (found)
        te_describe_put_stack_names(out, trace, key, found->path);
    else if (stack.data && stack.data[0] == '[')
        te_describe_put_stack_list(out, trace, stack, &scratch);
    else if (stack.data)
        tv_json_normalise(stack, out, NULL);
    tv_te_scratch_release(&scratch);
    return found || stack.data || !frame.data;
}

/* ---- Everything else ---- */

static void te_describe_put_raw(struct tv_out *out, const char *key, struct tv_bytes value)
{
    if (!value.data)
        return;
    tv_out_format(out, ",\"%s\":", key);
    tv_json_normalise(value, out, NULL);
}

/* Keys that the model holds, or that are written in another form. */
static bool te_describe_is_in_model(struct tv_bytes key)
{
    static const char *const held[] = {"name", "cat", "ph",   "ts", "dur",   "tts", "tdur",
                                       "pid",  "tid", "args", "sf", "stack", "esf", "estack"};
    for (size_t i = 0; i < TV_COUNT(held); i++)
        if (tv_bytes_equal(key, tv_bytes_of(held[i])))
            return true;
    return false;
}

/* Write every member that the model does not hold. */
static void te_describe_put_others(struct tv_out *out, struct tv_bytes object)
{
    struct tv_bytes key, value;
    bool any = true;
    const uint8_t *at = object.data + 1, *end = object.data + object.length;
    while (tv_te_member_next(&at, end, &key, &value))
        if (!te_describe_is_in_model(tv_te_key_unquote(key)))
            te_describe_put_member(out, &any, key, value);
}

static bool te_describe_is_either(struct tv_bytes key, const char *one, const char *other)
{
    return tv_bytes_equal(key, tv_bytes_of(one)) || tv_bytes_equal(key, tv_bytes_of(other));
}

/* True when a member of the end's event says something that neither the model nor the beginning
 * holds. */
static bool te_describe_is_new(struct tv_bytes key, struct tv_bytes value,
                               const struct te_members *said, bool stack_shown)
{
    struct tv_bytes text = tv_te_key_unquote(key), before = te_members_find(said, key);
    if (te_describe_is_either(text, "sf", "stack"))
        return !stack_shown;
    if (te_describe_is_in_model(text) && !te_describe_is_either(text, "name", "cat"))
        return false;
    return !before.data || !tv_json_equal(before, value);
}

/* Write what only the end's event says. */
static void te_describe_put_end(struct tv_out *out, const struct tv_te_event_text *start,
                                const struct tv_te_event_text *end, bool stack_shown)
{
    struct te_members said, own;
    struct tv_bytes key, value;
    bool any = false;
    const uint8_t *at = end->object.data + 1, *behind = end->object.data + end->object.length;
    te_members_init(&said, start->object);
    te_members_init(&own, end->object);
    while (tv_te_member_next(&at, behind, &key, &value)) {
        if (te_members_find(&own, key).data != value.data ||
            !te_describe_is_new(key, value, &said, stack_shown))
            continue;
        tv_out_text(out, any ? "" : ",\"end\":{");
        te_describe_put_member(out, &any, key, value);
    }
    tv_out_text(out, any ? "}" : "");
    te_members_release(&said);
    te_members_release(&own);
}

/* Write the description of an event, or of a slice with its end. */
static void te_describe_put_event(struct tv_out *out, const struct tv_trace *trace, uint32_t input,
                                  const struct tv_te_event_text *start,
                                  const struct tv_te_event_text *end)
{
    const struct tv_te_fields *a = &start->fields;
    struct tv_te_fields none = {0};
    const struct tv_te_fields *b = end ? &end->fields : &none;
    tv_out_text(out, "{\"args\":");
    te_describe_put_args(out, a->args, b->args);
    te_describe_put_overwritten(out, a->args, b->args);
    if (!te_describe_put_stack(out, trace, input, "start_stack", a->sf, a->stack)) {
        te_describe_put_raw(out, "sf", a->sf);
        te_describe_put_raw(out, "stack", a->stack);
    }
    bool shown = te_describe_put_stack(out, trace, input, "end_stack", end ? b->sf : a->esf,
                                       end ? b->stack : a->estack);
    if (!end && !shown) {
        te_describe_put_raw(out, "esf", a->esf);
        te_describe_put_raw(out, "estack", a->estack);
    }
    te_describe_put_others(out, start->object);
    if (end)
        te_describe_put_end(out, start, end, shown);
    tv_te_references_write(out, trace, input, a, b->args);
    tv_out_char(out, '}');
}

/* A snapshot inside of another is the object itself; write it like one of an event. */
static void te_describe_put_inner(struct tv_out *out, struct tv_bytes object)
{
    tv_out_text(out, "{\"args\":{\"snapshot\":");
    tv_json_normalise(object, out, NULL);
    tv_out_text(out, "}}");
}

static bool te_describe_is_inner(const struct tv_te_event_text *event)
{
    return !event->fields.ph.data && !event->fields.ts.data;
}

enum tv_status tv_te_describe(const struct tv_trace *trace, uint32_t input, uint64_t offset,
                              uint64_t end_offset, struct tv_out *out, struct tv_error *err)
{
    struct tv_source *source = trace->head->inputs[input].source;
    struct tv_te_event_text start = {.bytes = NULL}, end = {.bytes = NULL};
    bool ended = end_offset != TV_NO_OFFSET;
    enum tv_status status = tv_te_event_text_read(&start, source, offset, err);
    if (ended) {
        enum tv_status second = tv_te_event_text_read(&end, source, end_offset, err);
        status = status == TV_OK ? second : status;
    }
    if (status == TV_OK && te_describe_is_inner(&start))
        te_describe_put_inner(out, start.object);
    else if (status == TV_OK)
        te_describe_put_event(out, trace, input, &start, ended ? &end : NULL);
    tv_free(start.bytes);
    tv_free(end.bytes);
    return status;
}

/* ---- As an event again ---- */

/* Keys that are written in another form.  The end's stacks get other names in a single event. */
static bool te_slice_event_is_rebuilt(struct tv_bytes key)
{
    static const char *const remade[] = {"ph", "dur", "tdur", "args", "esf", "estack"};
    for (size_t i = 0; i < TV_COUNT(remade); i++)
        if (tv_bytes_equal(key, tv_bytes_of(remade[i])))
            return true;
    return false;
}

static void te_slice_event_put_length(struct tv_out *out, const char *key, tv_ns length)
{
    tv_out_format(out, ",\"%s\":", key);
    tv_out_time(out, length, 1000, 3);
}

static bool te_slice_event_is_moved(const struct tv_te_rewrite_edit *moved, struct tv_bytes key)
{
    return (moved->has_ts && tv_bytes_equal(key, TV_BYTES("ts"))) ||
           (moved->has_tts && tv_bytes_equal(key, TV_BYTES("tts")));
}

/* Write the members of the beginning that stay; the colour of the end wins. */
static void te_slice_event_put_kept(struct tv_out *out, const struct tv_te_event_text *start,
                                    struct tv_bytes end_colour,
                                    const struct tv_te_rewrite_edit *moved)
{
    struct tv_bytes key, value;
    bool any = true, recoloured = tv_te_parse_colour(end_colour) > 0;
    const uint8_t *at = start->object.data + 1, *behind = at + start->object.length - 1;
    while (tv_te_member_next(&at, behind, &key, &value)) {
        struct tv_bytes text = tv_te_key_unquote(key);
        if (!te_slice_event_is_rebuilt(text) && !te_slice_event_is_moved(moved, text) &&
            !(recoloured && tv_bytes_equal(text, TV_BYTES("cname"))))
            te_describe_put_member(out, &any, key, value);
    }
    if (recoloured)
        te_describe_put_raw(out, "cname", end_colour);
    if (moved->has_ts)
        te_slice_event_put_length(out, "ts", moved->ts);
    if (moved->has_tts)
        te_slice_event_put_length(out, "tts", moved->tts);
}

/* Write a slice as an event.  What only its end says goes under "end", hidden arguments under
 * "overwritten". */
static void te_slice_event_put(struct tv_out *out, const struct tv_slice *slice,
                               const struct tv_te_event_text *start,
                               const struct tv_te_event_text *end,
                               const struct tv_te_rewrite_edit *moved)
{
    const struct tv_te_fields *a = &start->fields;
    struct tv_te_fields none = {0};
    const struct tv_te_fields *b = end ? &end->fields : &none;
    char phase = tv_te_fields_phase(a);
    bool begun = phase == 'B';
    tv_out_format(out, "{\"ph\":\"%c\"", begun ? 'X' : phase);
    te_slice_event_put_kept(out, start, b->cname, moved);
    te_slice_event_put_length(out, "dur", slice->length);
    if (a->tts.data && !(slice->flags & TV_SLICE_NO_CPU))
        te_slice_event_put_length(out, "tdur", slice->cpu_length);
    te_describe_put_raw(out, "esf", begun ? b->sf : a->esf);
    te_describe_put_raw(out, "estack", begun ? b->stack : a->estack);
    if (a->args.data || b->args.data) {
        tv_out_text(out, ",\"args\":");
        te_describe_put_args(out, a->args, b->args);
    }
    te_describe_put_overwritten(out, a->args, b->args);
    if (end)
        te_describe_put_end(out, start, end, true);
    tv_out_char(out, '}');
}

/* Return an edit with the times of the model where they differ from the event's. */
static struct tv_te_rewrite_edit te_slice_event_moved_times(const struct tv_trace *trace,
                                                            uint32_t input,
                                                            const struct tv_slice *slice,
                                                            const struct tv_te_fields *fields)
{
    struct tv_te_rewrite_edit edit = {.ts = slice->start - trace->offset[input],
                                      .tts = slice->cpu_start};
    int64_t ts, tts;
    edit.has_ts = !tv_te_parse_time(fields->ts, &ts) || ts != edit.ts;
    edit.has_tts =
        tv_te_parse_time(fields->tts, &tts) && tts != edit.tts && !(slice->flags & TV_SLICE_NO_CPU);
    return edit;
}

enum tv_status tv_te_describe_slice(const struct tv_trace *trace, uint32_t row, uint32_t index,
                                    struct tv_out *out, struct tv_error *err)
{
    struct tv_source *source = trace->head->inputs[trace->rows[row].input].source;
    const struct tv_slice_extra *extra = tv_tables_slice_extra(&trace->tables, row, index);
    struct tv_slice slice = tv_slice_get(trace, row, index);
    struct tv_te_event_text start = {.bytes = NULL}, end = {.bytes = NULL};
    bool ended = extra && extra->end_offset != TV_NO_OFFSET;
    enum tv_status status =
        tv_te_event_text_read(&start, source, tv_slice_offset(trace, row, index), err);
    if (ended) {
        enum tv_status second = tv_te_event_text_read(&end, source, extra->end_offset, err);
        status = status == TV_OK ? second : status;
    }
    if (status == TV_OK) {
        struct tv_te_rewrite_edit moved =
            te_slice_event_moved_times(trace, trace->rows[row].input, &slice, &start.fields);
        te_slice_event_put(out, &slice, &start, ended ? &end : NULL, &moved);
    }
    tv_free(start.bytes);
    tv_free(end.bytes);
    return status;
}
