/* SPDX-License-Identifier: Apache-2.0 */
/* keys.c - see keys.h. */
#include "readers/json/keys.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"

struct tv_json_keys tv_json_keys_of(struct tv_bytes text)
{
    struct tv_json_keys keys = {.text = text};
    if (tv_bytes_starts_with(text, TV_BYTES("\xef\xbb\xbf")))
        keys.at = 3;
    (void)tv_json_keys_peek(&keys);
    return keys;
}

char tv_json_keys_peek(struct tv_json_keys *keys)
{
    while (keys->at < keys->text.length && memchr(" \t\r\n", keys->text.data[keys->at], 4))
        keys->at++;
    return keys->at < keys->text.length ? (char)keys->text.data[keys->at] : '\0';
}

bool tv_json_keys_take_string(struct tv_json_keys *keys, struct tv_bytes *string)
{
    assert(keys->text.data[keys->at] == '"');
    size_t start = ++keys->at;
    while (keys->at < keys->text.length && keys->text.data[keys->at] != '"')
        keys->at += keys->text.data[keys->at] == '\\' ? 2 : 1;
    if (keys->at >= keys->text.length) {
        keys->at = keys->text.length; /* a backslash at the end steps over it */
        return false;
    }
    *string = (struct tv_bytes){keys->text.data + start, keys->at++ - start};
    return true;
}

bool tv_json_keys_next(struct tv_json_keys *keys, struct tv_bytes *key)
{
    while (keys->at < keys->text.length) {
        uint8_t c = keys->text.data[keys->at];
        if (c == '"') {
            if (!tv_json_keys_take_string(keys, key))
                return false;
            if (tv_json_keys_peek(keys) == ':') { /* else the string is a value */
                keys->at++;
                return true;
            }
            continue;
        }
        keys->depth += c == '{' || c == '[';
        keys->depth -= (c == '}' || c == ']') && keys->depth > 0;
        keys->at++;
    }
    return false;
}
