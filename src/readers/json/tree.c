/* SPDX-License-Identifier: Apache-2.0 */
/* tree.c - one level of a JSON tree at a time. */
#include "base/bytes.h"
#include "readers/json/walk.h"
#include "readers/trace_event/values.h"

static struct tv_json_value json_lexer_take_value(struct tv_json_walk *walk)
{
    struct tv_json_value value = {TV_JSON_NONE, {NULL, 0}};
    int c = tv_json_look_value(walk);
    const uint8_t *start = walk->at;
    switch (c) {
    case -1:
        break;
    case '{':
    case '[':
        value.type = c == '{' ? TV_JSON_OBJECT : TV_JSON_ARRAY;
        tv_json_skip_nested(walk);
        value.raw = (struct tv_bytes){start, (size_t)(walk->at - start)};
        break;
    case '"':
    case '\'':
        value.type = TV_JSON_STRING;
        tv_json_take_string(walk, &value.raw);
        break;
    default:
        tv_json_take_word(walk, &value.raw);
        value.type = tv_json_judge_word(walk, value.raw);
    }
    return value;
}

struct tv_json_value tv_json_value(struct tv_bytes text)
{
    struct tv_json_walk walk = tv_json_walk_over(text);
    return json_lexer_take_value(&walk);
}

struct tv_json_cursor tv_json_items(struct tv_bytes raw)
{
    struct tv_json_walk walk = tv_json_walk_over(raw);
    int c = tv_json_look(&walk);
    if (c == '{' || c == '[')
        walk.at++;
    else
        walk.at = walk.end = NULL;
    return (struct tv_json_cursor){walk.at, walk.end, walk.faults, c == '{', true};
}

bool tv_json_next(struct tv_json_cursor *cursor, struct tv_bytes *key, struct tv_json_value *value)
{
    struct tv_json_walk walk = {cursor->at, cursor->end, NULL, cursor->faults};
    if (!cursor->at)
        return false;
    bool more = tv_json_more(&walk, cursor->in_object, cursor->first);
    *key = (struct tv_bytes){walk.at, 0};
    if (more && cursor->in_object)
        *key = tv_json_take_key(&walk);
    if (more)
        *value = json_lexer_take_value(&walk);
    cursor->at = more ? walk.at : NULL;
    cursor->faults = walk.faults;
    cursor->first = false;
    return more;
}

/* Keys without quotes are what they are. */
static bool json_key_equals(struct tv_bytes raw, struct tv_bytes key, struct tv_te_scratch *scratch)
{
    return tv_bytes_equal(tv_te_is_string(raw) ? tv_te_decode_text(raw, scratch) : raw, key);
}

struct tv_json_value tv_json_find(struct tv_bytes object, struct tv_bytes key)
{
    struct tv_json_value value, found = {TV_JSON_NONE, {NULL, 0}};
    struct tv_json_cursor cursor = tv_json_items(object);
    struct tv_te_scratch scratch = {NULL, 0};
    struct tv_bytes name;
    while (cursor.in_object && tv_json_next(&cursor, &name, &value))
        if (json_key_equals(name, key, &scratch))
            found = value;
    tv_te_scratch_release(&scratch);
    return found;
}
