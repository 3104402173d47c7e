/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walk.c - where the strings, words, objects and arrays of a lenient text begin and end.
 *
 * A double quote outside of strings begins one everywhere, a single quote where no word is under
 * way ("don't"), a comment everywhere.  The dots of "{ ..., "a": 1, ... more of it }" stand for
 * what was left out: the format's own document writes events so.
 */
#include "readers/json/walk.h"

#include <string.h>

#include "readers/trace_event/scan.h"

void tv_json_blame(struct tv_json_walk *walk, enum tv_json_fault fault, const uint8_t *place)
{
    walk->faults |= fault;
    if (fault != TV_JSON_FAULT_SURROGATE && (!walk->bad || place < walk->bad))
        walk->bad = place;
}

static bool json_is_space(int c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* What a word ends at, but for comments. */
static bool json_ends_word(uint8_t c)
{
    return json_is_space(c) || c == ',' || c == ':' || c == '"' || c == '{' || c == '}' || c == '[' ||
           c == ']';
}

static bool json_lexer_at_comment(const struct tv_json_walk *walk)
{
    return walk->end - walk->at >= 2 && walk->at[0] == '/' &&
           (walk->at[1] == '/' || walk->at[1] == '*');
}

static void json_lexer_skip_comment(struct tv_json_walk *walk)
{
    bool line = walk->at[1] == '/';
    tv_json_blame(walk, TV_JSON_FAULT_COMMENT, walk->at);
    for (walk->at += 2; walk->at < walk->end; walk->at++) {
        if (line && *walk->at == '\n')
            return;
        if (!line && walk->end - walk->at >= 2 && walk->at[0] == '*' && walk->at[1] == '/') {
            walk->at += 2;
            return;
        }
    }
    if (!line)
        tv_json_blame(walk, TV_JSON_FAULT_CUT, walk->end);
}

static bool json_lexer_at_dots(const struct tv_json_walk *walk)
{
    return walk->end - walk->at >= 3 && memcmp(walk->at, "...", 3) == 0;
}

/* With the words and comments behind them. */
static void json_lexer_skip_dots(struct tv_json_walk *walk)
{
    const uint8_t *comment_end = NULL;
    tv_json_blame(walk, TV_JSON_FAULT_COMMENT, walk->at);
    walk->at += 3;
    while (walk->at < walk->end) {
        uint8_t c = *walk->at;
        if (json_lexer_at_comment(walk)) {
            json_lexer_skip_comment(walk);
            comment_end = walk->at;
            continue;
        }
        bool in_word = walk->at != comment_end && !json_is_space(walk->at[-1]);
        if (c == '\n' || (json_ends_word(c) && !json_is_space(c)) || (c == '\'' && !in_word))
            return;
        walk->at++;
    }
}

int tv_json_look(struct tv_json_walk *walk)
{
    while (walk->at < walk->end) {
        if (json_is_space(*walk->at))
            walk->at++;
        else if (json_lexer_at_comment(walk))
            json_lexer_skip_comment(walk);
        else if (json_lexer_at_dots(walk))
            json_lexer_skip_dots(walk);
        else
            return *walk->at;
    }
    return -1;
}

/* The next quote or backslash, or the end. */
static const uint8_t *json_find_quote(const uint8_t *at, const uint8_t *end, uint8_t quote)
{
    for (; end - at >= 16; at += 16) {
        tv_sixteen bytes = tv_sixteen_load(at);
        uint32_t found = tv_sixteen_find(bytes, (char)quote) | tv_sixteen_find(bytes, '\\');
        if (found)
            return at + tv_lowest_bit(found);
    }
    while (at < end && *at != quote && *at != '\\')
        at++;
    return at;
}

void tv_json_take_string(struct tv_json_walk *walk, struct tv_bytes *text)
{
    const uint8_t *start = walk->at;
    uint8_t quote = *start;
    if (quote == '\'')
        tv_json_blame(walk, TV_JSON_FAULT_QUOTES, start);
    walk->at = json_find_quote(start + 1, walk->end, quote);
    while (walk->at < walk->end && *walk->at == '\\')
        walk->at =
            walk->end - walk->at < 2 ? walk->end : json_find_quote(walk->at + 2, walk->end, quote);
    if (walk->at == walk->end)
        tv_json_blame(walk, TV_JSON_FAULT_CUT, walk->end);
    else
        walk->at++;
    *text = (struct tv_bytes){start, (size_t)(walk->at - start)};
}

void tv_json_take_word(struct tv_json_walk *walk, struct tv_bytes *text)
{
    const uint8_t *start = walk->at++;
    while (walk->at < walk->end && !json_ends_word(*walk->at) && !json_lexer_at_comment(walk))
        walk->at++;
    *text = (struct tv_bytes){start, (size_t)(walk->at - start)};
}

/* The next byte that may matter to somebody who counts brackets, or the end. */
static const uint8_t *json_find_mark(const uint8_t *at, const uint8_t *end)
{
    for (; end - at >= 16; at += 16) {
        tv_sixteen bytes = tv_sixteen_load(at);
        tv_sixteen braces = tv_sixteen_or(bytes, 0x20);
        uint32_t found = tv_sixteen_find(bytes, '"') | tv_sixteen_find(bytes, '\'') |
                         tv_sixteen_find(bytes, '/') | tv_sixteen_find(braces, '{') |
                         tv_sixteen_find(braces, '}');
        if (found)
            return at + tv_lowest_bit(found);
    }
    while (at < end && !strchr("\"'/{}[]", *at ? *at : ' '))
        at++;
    return at;
}

void tv_json_skip_nested(struct tv_json_walk *walk)
{
    uint64_t depth = 0;
    const uint8_t *token_end = walk->at; /* of the last string or comment */
    struct tv_bytes string;
    while ((walk->at = json_find_mark(walk->at, walk->end)) < walk->end) {
        uint8_t c = *walk->at;
        bool in_word = walk->at > token_end && !json_ends_word(walk->at[-1]);
        if (c == '"' || (c == '\'' && !in_word)) {
            tv_json_take_string(walk, &string);
            token_end = walk->at;
        } else if (json_lexer_at_comment(walk)) {
            json_lexer_skip_comment(walk);
            token_end = walk->at;
        } else {
            walk->at++;
            if (c == '{' || c == '[')
                depth++;
            else if ((c == '}' || c == ']') && --depth == 0)
                return;
        }
    }
    tv_json_blame(walk, TV_JSON_FAULT_CUT, walk->end);
}

bool tv_json_more(struct tv_json_walk *walk, bool in_object, bool first)
{
    unsigned commas = 0;
    const uint8_t *last = walk->at;
    int c;
    for (; (c = tv_json_look(walk)) == ',' || (c == ':' && !in_object); walk->at++) {
        if (c == ':')
            tv_json_blame(walk, TV_JSON_FAULT_MISSING, walk->at);
        else if (commas++ >= (first ? 0u : 1u))
            tv_json_blame(walk, TV_JSON_FAULT_COMMA, walk->at);
        last = walk->at;
    }
    if (c < 0) {
        tv_json_blame(walk, TV_JSON_FAULT_CUT, walk->end);
        return false;
    }
    if (c != '}' && c != ']') {
        if (commas == 0 && !first)
            tv_json_blame(walk, TV_JSON_FAULT_COMMA, walk->at);
        return true;
    }
    if (commas > 0)
        tv_json_blame(walk, TV_JSON_FAULT_COMMA, last);
    if ((c == '}') != in_object)
        tv_json_blame(walk, TV_JSON_FAULT_BRACKET, walk->at);
    walk->at++;
    return false;
}

struct tv_bytes tv_json_take_key(struct tv_json_walk *walk)
{
    int c = tv_json_look(walk);
    struct tv_bytes key = {walk->at, 0};
    if (c == '"' || c == '\'') {
        tv_json_take_string(walk, &key);
    } else if (c == ':' || c == '{' || c == '[') {
        tv_json_blame(walk, TV_JSON_FAULT_MISSING, walk->at);
    } else {
        tv_json_take_word(walk, &key);
        tv_json_blame(walk, TV_JSON_FAULT_WORD, key.data);
    }
    if (tv_json_look(walk) == ':')
        walk->at++;
    else
        tv_json_blame(walk, TV_JSON_FAULT_MISSING, walk->at);
    return key;
}

int tv_json_look_value(struct tv_json_walk *walk)
{
    int c = tv_json_look(walk);
    if (c != -1 && c != ',' && c != ':' && c != '}' && c != ']')
        return c;
    tv_json_blame(walk, TV_JSON_FAULT_MISSING, walk->at);
    return -1;
}
