/* SPDX-License-Identifier: Apache-2.0 */
#include "view/event_text.h"

#include "analysis/search/event_lookup.h"
#include "base/bytes.h"

/* So many characters of an excerpt stand before the match, and behind it. */
#define BEFORE 24
#define BEHIND 72

/* The token in which the needle is, and the key that it belongs to. */
struct match {
    struct tv_bytes key; /* empty: an element of a list */
    struct tv_json_token token;
    size_t place; /* of the match in the token */
};

static bool find_match(struct tv_json_tokens *tokens, const struct tv_text_search *needle,
                       struct match *match)
{
    struct tv_json_token token;
    match->key = (struct tv_bytes){NULL, 0};
    while (tv_json_tokens_next(tokens, &token)) {
        if (token.kind == TV_TOKEN_OPEN)
            continue;
        if (token.kind == TV_TOKEN_CLOSE) {
            match->key = (struct tv_bytes){NULL, 0};
            continue;
        }
        match->place = tv_text_search_find_in_string(needle, token.text);
        match->token = token;
        if (match->place != TV_TEXT_SEARCH_NONE)
            return true;
        if (token.kind == TV_TOKEN_KEY)
            match->key = token.text;
    }
    return false;
}

/* `count` characters further, at most to the end. */
static size_t go_on(struct tv_bytes text, size_t at, size_t count)
{
    for (size_t length; count > 0 && at < text.length; count--) {
        tv_character_decode_json((struct tv_bytes){text.data + at, text.length - at}, &length);
        at += length;
    }
    return at < text.length ? at : text.length;
}

/* A piece of a string, which is escaped already. */
static void put_piece(struct tv_out *out, struct tv_bytes text, size_t place)
{
    const char *cut = "\xe2\x80\xa6";
    size_t first = 0, ahead = go_on(text, 0, BEFORE);
    while (ahead < place) {
        first = go_on(text, first, 1);
        ahead = go_on(text, ahead, 1);
    }
    size_t end = go_on(text, place, BEHIND);
    tv_out_text(out, first > 0 ? cut : "");
    tv_out_bytes(out, (struct tv_bytes){text.data + first, end - first});
    tv_out_text(out, end < text.length ? cut : "");
}

static void put_excerpt(struct tv_out *out, struct tv_json_tokens *tokens, const struct match *match)
{
    struct tv_json_token value = match->token;
    tv_out_char(out, '"');
    if (value.kind == TV_TOKEN_KEY) {
        put_piece(out, value.text, match->place);
        tv_out_text(out, ": ");
        bool there = tv_json_tokens_next(tokens, &value);
        if (there && value.kind == TV_TOKEN_OPEN)
            tv_out_text(out, value.text.data[0] == '{' ? "{\xe2\x80\xa6}" : "[\xe2\x80\xa6]");
        else if (there)
            put_piece(out, value.text, 0);
    } else {
        if (match->key.data) {
            put_piece(out, match->key, 0);
            tv_out_text(out, ": ");
        }
        put_piece(out, value.text, match->place);
    }
    tv_out_char(out, '"');
}

/* `out` NULL: without an excerpt. */
static bool match_event(const struct tv_trace *trace, uint32_t input, const uint64_t offsets[2],
                        const struct tv_text_search *needle, struct tv_out *out, uint64_t *read)
{
    struct tv_error unused;
    struct tv_out text;
    struct match match;
    bool found = false;
    tv_out_init_memory(&text);
    enum tv_status status =
        trace->head->inputs[input].describe(trace, input, offsets[0], offsets[1], &text, &unused);
    struct tv_bytes all = {text.buffer, text.length};
    struct tv_json_tokens tokens;
    *read += all.length;
    if (status == TV_OK && tv_json_tokens_of_arguments(&tokens, all)) {
        do
            found = find_match(&tokens, needle, &match);
        while (!found && tv_json_tokens_of_overridden(&tokens));
        if (found && out)
            put_excerpt(out, &tokens, &match);
    }
    tv_out_release(&text);
    return found;
}

bool tv_event_text_match(const struct tv_trace *trace, uint32_t input,
                         const struct tv_event_place *place, const struct tv_text_search *needle,
                         struct tv_out *out, uint64_t *read)
{
    uint64_t offsets[2] = {place->offset, TV_NO_OFFSET};
    if (!trace->head->inputs[input].describe)
        return false;
    if (place->kind == TV_EVENT_SLICE) {
        const struct tv_slice_extra *extra =
            tv_tables_slice_extra(&trace->tables, place->a, place->b);
        offsets[0] = tv_slice_offset(trace, place->a, place->b);
        bool two = extra && extra->end_offset != TV_NO_OFFSET;
        bool at_end = place->offset != offsets[0];
        if (two && match_event(trace, input, offsets, needle, NULL, read) == at_end)
            return false;
        offsets[1] = two ? extra->end_offset : TV_NO_OFFSET;
    }
    return match_event(trace, input, offsets, needle, out, read);
}
