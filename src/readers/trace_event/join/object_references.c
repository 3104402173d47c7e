/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_references.c - objects inside of arguments that mean something.
 *
 * One pass finds them without parsing: it keeps a stack of open objects, and for each the few
 * members that matter.
 *
 *     {"tree": {"id": "Layer/0x1f", "mask": {"id_ref": "0x2a"}}}
 *              '--- a snapshot of another object --'
 *                                   '-- a reference -------'
 *
 * An object is known only at its closing brace, because its members may come in any order; so
 * inner objects are reported before outer ones.  Text that is not JSON may lead to nothing or to
 * fewer objects, but never past its end: the pass only compares bytes.
 *
 * Arguments can be megabytes of nested layers.  Parsing them into values would cost many times
 * their size.
 */
#include "readers/trace_event/join/object_references.h"

#include <string.h>

#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"
#include "model/trace.h"
#include "readers/json/json.h"
#include "readers/trace_event/text/values.h"

struct te_nested_walk {
    struct tv_te_nested *open; /* the objects around the current place; arrays do not count */
    size_t depth, capacity;
    struct tv_bytes key; /* key of the member whose value is next; data NULL: no key */
};

/* Return the string that begins at `at`, with its quotes. */
static struct tv_bytes te_nested_take_string(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *start = at, quote = *at++;
    while (at < end && *at != quote)
        at += *at == '\\' && end - at > 1 ? 2 : 1;
    if (at < end)
        at++;
    return (struct tv_bytes){start, (size_t)(at - start)};
}

/* Compare a key in quotes with a word. */
static bool te_nested_key_is(struct tv_bytes string, const char *key)
{
    size_t length = strlen(key);
    return string.length == length + 2 && memcmp(string.data + 1, key, length) == 0;
}

/* Keep the value of a member that matters. */
static void te_nested_take_value(struct te_nested_walk *walk, struct tv_bytes value)
{
    struct tv_te_nested *object = &walk->open[walk->depth - 1];
    if (te_nested_key_is(walk->key, "id"))
        object->id = value;
    else if (te_nested_key_is(walk->key, "cat"))
        object->cat = value;
    else if (te_nested_key_is(walk->key, "base_type"))
        object->base_type = value;
    else if (te_nested_key_is(walk->key, "scope"))
        object->scope = value;
    else if (te_nested_key_is(walk->key, "id_ref") || te_nested_key_is(walk->key, "idRef"))
        object->id_ref = value;
    else if (te_nested_key_is(walk->key, "pid_ref") || te_nested_key_is(walk->key, "pidRef"))
        object->pid_ref = value;
}

/* Enter an object.  Depth is bounded by the text, so the stack is on the heap. */
static void te_nested_open_object(struct te_nested_walk *walk, const uint8_t *at)
{
    walk->open = tv_array_reserve(walk->open, &walk->capacity, walk->depth + 1, sizeof *walk->open);
    walk->open[walk->depth++] = (struct tv_te_nested){.at = at};
    walk->key = (struct tv_bytes){NULL, 0};
}

/* True for "Type/0x12": a slash that is neither first nor last. */
static bool te_nested_id_has_type(struct tv_bytes id)
{
    const uint8_t *slash = id.length < 5 ? NULL : memchr(id.data + 2, '/', id.length - 4);
    return slash != NULL;
}

/* Return the next character that is not a space. */
static const uint8_t *te_nested_skip_space(const uint8_t *at, const uint8_t *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
        at++;
    return at;
}

/* Take a string: a key when a colon follows, else a value. */
static const uint8_t *te_nested_take_text(struct te_nested_walk *walk, const uint8_t *at,
                                          const uint8_t *end)
{
    struct tv_bytes string = te_nested_take_string(at, end);
    at = te_nested_skip_space(string.data + string.length, end);
    if (at < end && *at == ':') {
        walk->key = string;
        return at + 1;
    }
    if (walk->depth > 0 && walk->key.data != NULL)
        te_nested_take_value(walk, string);
    walk->key = (struct tv_bytes){NULL, 0};
    return at;
}

/* Return whether an object inside of the text is a snapshot of its own. */
static bool te_nested_is_snapshot(const struct tv_te_nested *object, struct tv_bytes text)
{
    return object->at != text.data && te_nested_id_has_type(object->id);
}

/* Return whether an object points to another one. */
static bool te_nested_is_reference(const struct tv_te_nested *object, struct tv_bytes text)
{
    (void)text;
    return object->id_ref.data != NULL;
}

/* Skip a number or another bare word; keep it where it is a reference. */
static const uint8_t *te_nested_take_bare(struct te_nested_walk *walk, const uint8_t *at,
                                          const uint8_t *end)
{
    const uint8_t *start = at;
    while (at<end && * at> ' ' && !strchr(",:{}[]\"'", *at))
        at++;
    if (walk->depth > 0 && walk->key.data != NULL && at > start &&
        (te_nested_key_is(walk->key, "id_ref") || te_nested_key_is(walk->key, "idRef") ||
         te_nested_key_is(walk->key, "pid_ref") || te_nested_key_is(walk->key, "pidRef")))
        te_nested_take_value(walk, (struct tv_bytes){start, (size_t)(at - start)});
    return at;
}

struct te_nested_visitor {
    bool (*wanted)(const struct tv_te_nested *object, struct tv_bytes text);
    void (*take)(void *context, const struct tv_te_nested *nested);
    void *context;
};

/* Visit the wanted objects of a text, each when its '}' comes. */
static void te_nested_visit(struct tv_bytes text, const struct te_nested_visitor *taking)
{
    if (text.length == 0)
        return;
    const uint8_t *end = text.data + text.length;
    struct te_nested_walk walk = {NULL, 0, 0, {NULL, 0}};
    for (const uint8_t *at = text.data; at < end;) {
        if (*at == '"' || *at == '\'') {
            at = te_nested_take_text(&walk, at, end);
            continue;
        }
        if (*at == '{') {
            te_nested_open_object(&walk, at);
        } else if (*at == '}' && walk.depth > 0) {
            const struct tv_te_nested *object = &walk.open[--walk.depth];
            if (taking->wanted(object, text))
                taking->take(taking->context, object);
        } else if (*at == ',' || *at == '[') {
            walk.key = (struct tv_bytes){NULL, 0};
        } else if (*at > ' ' && !strchr(":]}", *at)) {
            at = te_nested_take_bare(&walk, at, end);
            continue;
        }
        at++;
    }
    tv_free(walk.open);
}

void tv_te_nested_visit_snapshots(struct tv_bytes text,
                                  void (*take)(void *context, const struct tv_te_nested *nested),
                                  void *context)
{
    te_nested_visit(text, &(struct te_nested_visitor){te_nested_is_snapshot, take, context});
}

void tv_te_nested_visit_references(struct tv_bytes text,
                                   void (*take)(void *context, const struct tv_te_nested *nested),
                                   void *context)
{
    te_nested_visit(text, &(struct te_nested_visitor){te_nested_is_reference, take, context});
}

/* Limits the length of a description. */
#define MAX_REFERENCES 1000u

struct te_references {
    struct tv_out *out;
    const struct tv_trace *trace;
    uint32_t input;
    struct tv_bytes pid; /* raw, of the event */
    tv_ns time;
    struct tv_interner *seen;
    struct tv_te_scratch scratch;
    unsigned tried, written;
};

/* True when the same reference was written before. */
static bool te_references_is_known(struct te_references *references,
                                   const struct tv_te_nested *nested)
{
    struct tv_out text;
    uint32_t before = tv_interner_count(references->seen);
    tv_out_init_memory(&text);
    tv_out_bytes(&text, nested->id_ref);
    tv_out_char(&text, '\n');
    tv_out_bytes(&text, nested->scope);
    tv_out_char(&text, '\n');
    tv_out_bytes(&text, nested->pid_ref);
    uint32_t number =
        tv_interner_add(references->seen, (struct tv_bytes){text.buffer, text.length});
    tv_out_release(&text);
    return number < before;
}

/* Return the text of a string that the trace has, whose text stays valid; data NULL: it has none.
 */
static struct tv_bytes te_references_known_text(struct te_references *references,
                                                struct tv_bytes raw)
{
    const struct tv_interner *strings = references->trace->head->strings;
    uint32_t number = tv_interner_find(strings, tv_te_decode_text(raw, &references->scratch));
    return number == TV_NONE ? (struct tv_bytes){NULL, 0} : tv_interner_get(strings, number);
}

/* Find the snapshot of a reference.  An event without a process is of process 0. */
static uint32_t te_references_find_snapshot(struct te_references *references,
                                            const struct tv_te_nested *nested)
{
    struct tv_bytes pid = nested->pid_ref.data ? nested->pid_ref : references->pid;
    struct tv_object_reference reference = {
        .input = references->input,
        .pid = pid.data ? te_references_known_text(references, pid) : TV_BYTES("0"),
        .id = te_references_known_text(references, nested->id_ref),
        .time = references->time,
    };
    if (nested->scope.data)
        reference.scope = te_references_known_text(references, nested->scope);
    if (!reference.pid.data || !reference.id.data || (nested->scope.data && !reference.scope.data))
        return TV_NONE;
    return tv_object_find_snapshot(references->trace, &reference);
}

/* Write a member of the reference as it was, if it was there. */
static void te_references_put_raw(struct tv_out *out, const char *key, struct tv_bytes raw)
{
    if (!raw.data)
        return;
    tv_out_format(out, "\"%s\":", key);
    tv_json_normalise(raw, out, NULL);
    tv_out_char(out, ',');
}

/* Write a reference, if it leads to a snapshot. */
static void te_references_take(void *context, const struct tv_te_nested *nested)
{
    struct te_references *references = context;
    if (references->tried >= MAX_REFERENCES || te_references_is_known(references, nested))
        return;
    references->tried++;
    uint32_t snapshot = te_references_find_snapshot(references, nested);
    if (snapshot == TV_NONE)
        return;
    tv_out_text(references->out, references->written++ > 0 ? ",{" : ",\"references\":[{");
    te_references_put_raw(references->out, "id_ref", nested->id_ref);
    te_references_put_raw(references->out, "scope", nested->scope);
    te_references_put_raw(references->out, "pid_ref", nested->pid_ref);
    tv_out_format(references->out, "\"object\":%u,\"snapshot\":%u}",
                  references->trace->tables.snapshots.rows[snapshot].object, snapshot);
}

void tv_te_references_write(struct tv_out *out, const struct tv_trace *trace, uint32_t input,
                            const struct tv_te_fields *event, struct tv_bytes end_args)
{
    struct te_references references = {
        .out = out, .trace = trace, .input = input, .pid = event->pid};
    if (trace->tables.snapshots.count == 0 || !tv_te_parse_time(event->ts, &references.time))
        return;
    references.seen = tv_interner_new();
    tv_te_nested_visit_references(event->args, te_references_take, &references);
    tv_te_nested_visit_references(end_args, te_references_take, &references);
    if (references.written > 0)
        tv_out_char(out, ']');
    tv_interner_free(references.seen);
    tv_te_scratch_release(&references.scratch);
}
