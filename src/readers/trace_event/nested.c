/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/trace_event/nested.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"

struct te_nested_walk {
    struct tv_te_nested *open; /* objects around the place; arrays do not count */
    size_t depth, capacity;
    struct tv_bytes key; /* of the member whose value comes next; data NULL: no key */
};

/* The string that begins at `at`, with its quotes. */
static struct tv_bytes te_nested_take_string(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *start = at, quote = *at++;
    while (at < end && *at != quote)
        at += *at == '\\' && end - at > 1 ? 2 : 1;
    if (at < end)
        at++;
    return (struct tv_bytes){start, (size_t)(at - start)};
}

static bool te_nested_key_is(struct tv_bytes string, const char *key)
{
    size_t length = strlen(key);
    return string.length == length + 2 && memcmp(string.data + 1, key, length) == 0;
}

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

static void te_nested_open_object(struct te_nested_walk *walk, const uint8_t *at)
{
    walk->open = tv_array_reserve(walk->open, &walk->capacity, walk->depth + 1, sizeof *walk->open);
    walk->open[walk->depth++] = (struct tv_te_nested){.at = at};
    walk->key = (struct tv_bytes){NULL, 0};
}

static bool te_nested_id_has_type(struct tv_bytes id)
{
    const uint8_t *slash = id.length < 5 ? NULL : memchr(id.data + 2, '/', id.length - 4);
    return slash != NULL;
}

/* The next character that is not a space. */
static const uint8_t *te_nested_skip_space(const uint8_t *at, const uint8_t *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
        at++;
    return at;
}

static const uint8_t *te_nested_take_text(struct te_nested_walk *walk, const uint8_t *at, const uint8_t *end)
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

static bool te_nested_is_snapshot(const struct tv_te_nested *object, struct tv_bytes text)
{
    return object->at != text.data && te_nested_id_has_type(object->id);
}

static bool te_nested_is_reference(const struct tv_te_nested *object, struct tv_bytes text)
{
    (void)text;
    return object->id_ref.data != NULL;
}

/* A number, or whatever else is bare. */
static const uint8_t *te_nested_take_bare(struct te_nested_walk *walk, const uint8_t *at, const uint8_t *end)
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
