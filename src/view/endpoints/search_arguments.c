/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_arguments.c - search in arguments, which only the input file holds.
 *
 *     file       ......draw......draw....     1. scan for the text, in every spelling of JSON
 *     places         ^         ^
 *     events     {      }  {         }        2. one pass over the offset columns finds the events
 *     arguments  "name":"draw"  "x":"draw"    3. read each event again: is it an argument?
 *                               ^ a hit
 *
 * Scanning bytes is fast, and most events need not be parsed.  It finds too
 * much (the text in a name, or between two values), never too little.  An event
 * whose name matches was found in memory already, and is not a hit again.
 *
 * Samples of binary profiles refer to strings elsewhere in the file: after the scan they are read
 * one after another.
 *
 * A step scans STEP_BYTES and reads STEP_EVENTS events at most.  An event that
 * begins in one step and matches in the next one as well is found once:
 * argument_was_seen scans its beginning again.
 */
#include <assert.h>

#include "analysis/search/event_lookup.h"
#include "analysis/search/text_search.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "base/out.h"
#include "base/source.h"
#include "view/endpoints/search.h"
#include "view/internal.h"

/* ---- Text of an event, read again ----
 */

/* Return true if an event has a match in a key or value of its arguments, and append an excerpt
 * around the first match to `out` as a JSON string ("key: ... value ...").  Add the bytes of text
 * that were read to *read: an event with a deep stack has many.  A slice whose end is an event too
 * has the arguments of both; it matches at its end only if its beginning alone does not, so that it
 * is found once. */
bool tv_event_text_match(const struct tv_trace *trace, uint32_t input,
                         const struct tv_event_place *place, const struct tv_text_search *query,
                         struct tv_out *out, uint64_t *read);

/* Characters of an excerpt before and after the match. */
#define BEFORE 24
#define BEHIND 72

/* The token that contains the match, and the key that it belongs to. */
struct argument_match {
    struct tv_bytes key; /* empty: an element of a list */
    struct tv_json_token token;
    size_t place; /* of the match in the token */
};

/* Find the first token that matches, and its key. */
static bool excerpt_find_match(struct tv_json_tokens *tokens, const struct tv_text_search *query,
                               struct argument_match *match)
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
        match->place = tv_text_search_find_in_string(query, token.text);
        match->token = token;
        if (match->place != TV_TEXT_SEARCH_NONE)
            return true;
        if (token.kind == TV_TOKEN_KEY)
            match->key = token.text;
    }
    return false;
}

/* Move `count` characters forward, at most to the end. */
static size_t excerpt_skip(struct tv_bytes text, size_t at, size_t count)
{
    for (size_t length; count > 0 && at < text.length; count--) {
        tv_character_decode_json((struct tv_bytes){text.data + at, text.length - at}, &length);
        at += length;
    }
    return at < text.length ? at : text.length;
}

/* Write an excerpt of a string, which is escaped already. */
static void excerpt_write_string(struct tv_out *out, struct tv_bytes text, size_t place)
{
    assert(place <= text.length);
    const char *cut = "\xe2\x80\xa6";
    size_t first = 0, ahead = excerpt_skip(text, 0, BEFORE);
    while (ahead < place) {
        first = excerpt_skip(text, first, 1);
        ahead = excerpt_skip(text, ahead, 1);
    }
    size_t end = excerpt_skip(text, place, BEHIND);
    tv_out_text(out, first > 0 ? cut : "");
    tv_out_bytes(out, (struct tv_bytes){text.data + first, end - first});
    tv_out_text(out, end < text.length ? cut : "");
}

/* Write "key: value" around a match as a JSON string. */
static void excerpt_write(struct tv_out *out, struct tv_json_tokens *tokens,
                          const struct argument_match *match)
{
    struct tv_json_token value = match->token;
    tv_out_char(out, '"');
    if (value.kind == TV_TOKEN_KEY) {
        excerpt_write_string(out, value.text, match->place);
        tv_out_text(out, ": ");
        bool there = tv_json_tokens_next(tokens, &value);
        if (there && value.kind == TV_TOKEN_OPEN)
            tv_out_text(out, value.text.data[0] == '{' ? "{\xe2\x80\xa6}" : "[\xe2\x80\xa6]");
        else if (there)
            excerpt_write_string(out, value.text, 0);
    } else {
        if (match->key.data) {
            excerpt_write_string(out, match->key, 0);
            tv_out_text(out, ": ");
        }
        excerpt_write_string(out, value.text, match->place);
    }
    tv_out_char(out, '"');
}

/* `out` NULL: without an excerpt. */
static bool event_text_match(const struct tv_trace *trace, uint32_t input,
                             const uint64_t offsets[2], const struct tv_text_search *query,
                             struct tv_out *out, uint64_t *read)
{
    struct tv_error unused;
    struct tv_out text;
    struct argument_match match;
    bool found = false;
    tv_out_init_memory(&text);
    enum tv_status status =
        trace->head->inputs[input].describe(trace, input, offsets[0], offsets[1], &text, &unused);
    struct tv_bytes all = {text.buffer, text.length};
    struct tv_json_tokens tokens;
    *read += all.length;
    if (status == TV_OK && tv_json_tokens_of_arguments(&tokens, all)) {
        do
            found = excerpt_find_match(&tokens, query, &match);
        while (!found && tv_json_tokens_of_overridden(&tokens));
        if (found && out)
            excerpt_write(out, &tokens, &match);
    }
    tv_out_release(&text);
    return found;
}

bool tv_event_text_match(const struct tv_trace *trace, uint32_t input,
                         const struct tv_event_place *place, const struct tv_text_search *query,
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
        if (two && event_text_match(trace, input, offsets, query, NULL, read) == at_end)
            return false;
        offsets[1] = two ? extra->end_offset : TV_NO_OFFSET;
    }
    return event_text_match(trace, input, offsets, query, out, read);
}

/* Limits per step. */
#define STEP_BYTES ((uint64_t)64 << 20)
#define STEP_PLACES ((size_t)65536)
#define STEP_EVENTS 20000u
/* The texts of two events are further apart than this: quotes, brackets and a key are between
 * them. */
#define APART ((size_t)8)
#define READ_SIZE ((size_t)1 << 20)

/* Places in a file that one step found. */
struct argument_places {
    uint64_t *offsets; /* ascending */
    size_t count, most;
    uint64_t scanned; /* up to here */
};

/* Note the matches that begin in the bytes read; they may begin in the first `end` bytes. */
static void argument_places_add(const struct tv_text_search *query, struct tv_bytes bytes,
                                size_t end, struct argument_places *places)
{
    assert(places->count < places->most);
    uint64_t base = places->scanned;
    size_t at = 0;
    while ((at = tv_text_search_next(query, bytes, at, end)) < end) {
        places->offsets[places->count++] = base + at;
        at += APART;
        if (places->count == places->most)
            break;
    }
    places->scanned = base + (at < end ? at : end);
}

/* Note the matches that begin in [places->scanned, to), up to `most`; stop early if the file
 * cannot be read. */
static void argument_places_scan(const struct tv_text_search *query, struct tv_source *source,
                                 uint64_t to, struct argument_places *places)
{
    size_t ahead = query->count * TV_CHARACTER_JSON_MAX, got = 1;
    uint8_t *buffer = tv_alloc(READ_SIZE + ahead, 1);
    struct tv_error unused;
    while (places->scanned < to && places->count < places->most && got > 0) {
        uint64_t left = to - places->scanned;
        size_t end = left < READ_SIZE ? (size_t)left : READ_SIZE;
        if (tv_source_read(source, places->scanned, buffer, end + ahead, &got, &unused) != TV_OK)
            break;
        argument_places_add(query, (struct tv_bytes){buffer, got}, got < end ? got : end, places);
    }
    tv_free(buffer);
}

/* Return true if the previous step found an event that began before this step. */
static bool argument_was_seen(const struct tv_text_search *query, struct tv_source *source,
                              uint64_t event, uint64_t step)
{
    uint64_t place;
    struct argument_places places = {&place, 0, 1, event};
    argument_places_scan(query, source, step, &places);
    return places.count > 0;
}

/* Are two places the same event? */
static bool event_place_equal(const struct tv_event_place *a, const struct tv_event_place *b)
{
    return a->kind == b->kind && a->a == b->a && a->b == b->b && a->offset == b->offset;
}

/* Return true if the event's name or category matches: it was found in memory already. */
static bool argument_hit_is_known(const struct tv_view_search *search,
                                  const struct tv_event_place *place,
                                  const struct tv_event_facts *about)
{
    bool framed = place->kind == TV_EVENT_SLICE || place->kind == TV_EVENT_INSTANT ||
                  place->kind == TV_EVENT_FLOW;
    return framed && search->frames[about->frame] > 0;
}

/* Write a hit with its excerpt. */
static void argument_write_hit(struct tv_view_search *search, const struct tv_event_place *place,
                               const struct tv_event_facts *about, struct tv_bytes excerpt)
{
    search->found++;
    if (search->count_only)
        return;
    tv_out_text(search->out, search->found > 1 ? ",\n[" : "[");
    tv_event_facts_write(search->out, search->view, place, about);
    tv_out_format(search->out, ",%u,", (unsigned)TV_FIELD_ARGUMENTS);
    tv_out_bytes(search->out, excerpt);
    tv_out_char(search->out, ']');
}

/* Are the texts of the samples elsewhere in the file?  Samples of binary profiles refer to tables
 * of strings, so a scan does not find them. */
static bool argument_is_referred(const struct tv_input *input)
{
    return !input->verbatim && input->samples > 0;
}

/* Return true if a frame of the sample's stack matches: it was found in memory already. */
static bool argument_sample_is_known(const struct tv_view_search *search,
                                     const struct tv_sample *sample)
{
    const struct tv_path_node *nodes = search->trace->paths.nodes;
    for (uint32_t path = sample->path; path != TV_ROOT_PATH; path = nodes[path].parent)
        if (search->frames[nodes[path].frame] > 0)
            return true;
    return false;
}

/* Look at one event; adds to *read like tv_event_text_match. */
static void argument_check_event(struct tv_view_search *search, uint32_t input,
                                 const struct tv_event_place *place, uint64_t *read)
{
    struct tv_event_facts about = tv_event_facts(search->view, place);
    struct tv_out excerpt;
    if (!tv_view_search_wants(search, about.time, about.length, about.track) ||
        argument_hit_is_known(search, place, &about))
        return;
    tv_out_init_memory(&excerpt);
    if (tv_event_text_match(search->trace, input, place, &search->query, &excerpt, read)) {
        argument_write_hit(search, place, &about,
                           (struct tv_bytes){excerpt.buffer, excerpt.length});
    }
    tv_out_release(&excerpt);
}

/* Look at the events of the places; return where the next step begins. */
static uint64_t argument_check_events(struct tv_view_search *search, uint32_t input, uint64_t step,
                                      const struct argument_places *places)
{
    struct tv_source *source = search->trace->head->inputs[input].source;
    struct tv_event_neighbours *found = tv_alloc(places->count, sizeof *found);
    struct tv_event_place last = {TV_EVENT_NONE, 0, 0, 0};
    uint64_t next = places->scanned;
    unsigned looked = 0;
    uint64_t read = 0;
    tv_event_lookup(search->trace, input, places->offsets, places->count, found);
    for (size_t i = 0; i < places->count; i++) {
        const struct tv_event_place *place = &found[i].at;
        if (place->kind == TV_EVENT_NONE || event_place_equal(place, &last))
            continue;
        last = *place;
        if (place->offset < step && argument_was_seen(&search->query, source, place->offset, step))
            continue;
        if (search->found == search->limit || looked++ == STEP_EVENTS || read >= STEP_BYTES) {
            next = places->offsets[i];
            break;
        }
        if (place->kind == TV_EVENT_SAMPLE &&
            argument_is_referred(&search->trace->head->inputs[input]))
            continue; /* argument_check_samples looks at all of them */
        argument_check_event(search, input, place, &read);
    }
    tv_free(found);
    return next;
}

/* Look at samples one after another, from the row `first` on; return the row where the next step
 * begins.  Rows with one offset are values of one sample. */
static size_t argument_check_samples(struct tv_view_search *search, uint32_t input, size_t first)
{
    const struct tv_tables *tables = &search->trace->tables;
    unsigned looked = 0;
    uint64_t read = 0;
    size_t i = first;
    for (; i < tables->samples.count; i++) {
        const struct tv_sample *sample = &tables->samples.rows[i];
        struct tv_event_place place = {TV_EVENT_SAMPLE, (uint32_t)i, 0, sample->offset};
        if (sample->input != input || sample->offset == TV_NO_OFFSET ||
            (i > 0 && sample[-1].input == input && sample[-1].offset == sample->offset) ||
            argument_sample_is_known(search, sample))
            continue;
        if (search->found == search->limit || looked++ == STEP_EVENTS || read >= STEP_BYTES)
            break;
        argument_check_event(search, input, &place, &read);
    }
    return i;
}

bool tv_view_search_arguments(struct tv_view_search *search)
{
    uint32_t input = (uint32_t)search->cursor.a;
    const struct tv_input *of = &search->trace->head->inputs[input];
    struct tv_source *source = of->source;
    uint64_t size = tv_source_size(source), step = search->cursor.b;
    bool samples = argument_is_referred(of);
    size_t count = search->trace->tables.samples.count;
    /* Places after the end of the file are rows of samples. */
    if (step >= size && samples && step - size < count) {
        size_t next = argument_check_samples(search, input, (size_t)(step - size));
        search->cursor.b = size + next;
        return next == count;
    }
    if (step >= size)
        return true;
    uint64_t to = size - step < STEP_BYTES ? size : step + STEP_BYTES;
    struct argument_places places = {tv_alloc(STEP_PLACES, sizeof *places.offsets), 0, STEP_PLACES,
                                     step};
    argument_places_scan(&search->query, source, to, &places);
    bool stuck = places.scanned == step; /* the file cannot be read */
    search->cursor.b = argument_check_events(search, input, step, &places);
    tv_free(places.offsets);
    if (stuck || search->cursor.b > size)
        search->cursor.b = size;
    return search->cursor.b >= size && (!samples || count == 0);
}
