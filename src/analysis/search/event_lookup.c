/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events at offsets.  The offsets asked for divide the file into intervals; one pass over all
 * events keeps the first and the last event of each interval, from which the neighbours of each
 * offset follow.
 *
 *   offsets        a        b   c
 *   intervals  ----]--------]---]------
 *   events      x    y  y  y  z    x
 */
#include "analysis/search/event_lookup.h"

#include <assert.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/sort.h"

/* The first and the last event between two of the offsets: after the lower, up to and including
 * the upper one. */
struct offset_interval {
    struct tv_event_place first, last;
};

struct event_lookup {
    const uint64_t *offsets;
    size_t count;
    struct offset_interval *intervals; /* [count + 1]; the first one is before all offsets */
    size_t current; /* interval of the last event, tried first because neighbours in a column are
                       neighbours in the file */
};

/* Count the offsets below `offset`. */
static size_t event_lookup_count_below(const struct event_lookup *finding, uint64_t offset)
{
    size_t low = 0;
    TV_LOWER_BOUND(low, finding->count, i, finding->offsets[i] < offset);
    return low;
}

static bool event_lookup_interval_has(const struct event_lookup *finding, size_t interval,
                                      uint64_t offset)
{
    return (interval == 0 || finding->offsets[interval - 1] < offset) &&
           (interval == finding->count || finding->offsets[interval] >= offset);
}

/* Add an event to its interval.  Among events at one offset, the first stays. */
static void event_lookup_add(struct event_lookup *finding, struct tv_event_place place)
{
    assert(finding->current <= finding->count);
    if (place.offset == TV_NO_OFFSET)
        return;
    if (!event_lookup_interval_has(finding, finding->current, place.offset))
        finding->current = event_lookup_count_below(finding, place.offset);
    struct offset_interval *interval = &finding->intervals[finding->current];
    if (interval->first.kind == TV_EVENT_NONE || place.offset < interval->first.offset)
        interval->first = place;
    if (interval->last.kind == TV_EVENT_NONE || place.offset > interval->last.offset)
        interval->last = place;
}

/* Add slices, and the offsets of their end events. */
static void event_lookup_add_slices(struct event_lookup *finding, const struct tv_trace *trace,
                                    uint32_t input)
{
    const struct tv_tables *tables = &trace->tables;
    for (uint32_t row = 0; row < trace->row_count; row++) {
        if (trace->rows[row].input != input || !tv_row_columns(trace, row)->offset)
            continue;
        for (uint32_t i = 0; i < trace->rows[row].count; i++)
            event_lookup_add(finding, (struct tv_event_place){TV_EVENT_SLICE, row, i,
                                                              tv_slice_offset(trace, row, i)});
    }
    for (size_t i = 0; i < tables->slice_extras.count; i++) {
        const struct tv_slice_extra *extra = &tables->slice_extras.rows[i];
        if (trace->rows[extra->row].input == input)
            event_lookup_add(finding, (struct tv_event_place){TV_EVENT_SLICE, extra->row,
                                                              extra->index, extra->end_offset});
    }
}

static void event_lookup_add_counters(struct event_lookup *finding, const struct tv_tables *tables,
                                      uint32_t input)
{
    for (uint32_t i = 0; i < tables->counters.count; i++) {
        const struct tv_counter *counter = &tables->counters.rows[i];
        if (counter->input != input)
            continue;
        for (uint32_t k = 0; k < counter->sample_count; k++)
            event_lookup_add(finding, (struct tv_event_place){
                                          TV_EVENT_COUNTER, i, k,
                                          tables->counter_offsets[counter->first_sample + k]});
    }
}

/* Add the rows of a table whose rows have one offset each. */
#define ADD_ROWS(finding, table, event, of)                                                        \
    do                                                                                             \
        for (uint32_t i = 0; i < (table).count; i++)                                               \
            if ((table).rows[i].input == (of))                                                     \
                event_lookup_add((finding),                                                        \
                                 (struct tv_event_place){(event), i, 0, (table).rows[i].offset});  \
    while (0)

static void event_lookup_add_all(struct event_lookup *finding, const struct tv_trace *trace,
                                 uint32_t input)
{
    const struct tv_tables *tables = &trace->tables;
    event_lookup_add_slices(finding, trace, input);
    ADD_ROWS(finding, tables->instants, TV_EVENT_INSTANT, input);
    event_lookup_add_counters(finding, tables, input);
    ADD_ROWS(finding, tables->snapshots, TV_EVENT_SNAPSHOT, input);
    ADD_ROWS(finding, tables->samples, TV_EVENT_SAMPLE, input);
    ADD_ROWS(finding, tables->memory_dumps, TV_EVENT_MEMORY_DUMP, input);
    ADD_ROWS(finding, tables->flows, TV_EVENT_FLOW, input);
    for (uint32_t i = 0; i < tables->flows.count; i++)
        if (tables->flows.rows[i].input == input)
            event_lookup_add(finding, (struct tv_event_place){TV_EVENT_FLOW, i, 1,
                                                              tables->flows.rows[i].end_offset});
}

void tv_event_lookup(const struct tv_trace *trace, uint32_t input, const uint64_t *offsets,
                     size_t count, struct tv_event_neighbours *found)
{
    const struct tv_event_place none = {TV_EVENT_NONE, 0, 0, TV_NO_OFFSET};
    struct event_lookup finding = {.offsets = offsets, .count = count};
    struct tv_event_place last = none, next = none;
    finding.intervals = tv_alloc(count + 1, sizeof *finding.intervals);
    event_lookup_add_all(&finding, trace, input);
    for (size_t i = 0; i < count; i++) {
        if (finding.intervals[i].last.kind != TV_EVENT_NONE)
            last = finding.intervals[i].last;
        found[i].at = last;
    }
    for (size_t i = count; i-- > 0;) {
        if (finding.intervals[i + 1].first.kind != TV_EVENT_NONE)
            next = finding.intervals[i + 1].first;
        found[i].after = next;
    }
    tv_free(finding.intervals);
}

bool tv_json_tokens_of_arguments(struct tv_json_tokens *tokens, struct tv_bytes described)
{
    const struct tv_bytes prefix = TV_BYTES("{\"args\":");
    if (!tv_bytes_starts_with(described, prefix))
        return false;
    *tokens = (struct tv_json_tokens){described.data + prefix.length,
                                      described.data + described.length, 0, false};
    return true;
}

bool tv_json_tokens_of_overridden(struct tv_json_tokens *tokens)
{
    const struct tv_bytes prefixes[] = {
        TV_BYTES(",\"overwritten\":"),
        TV_BYTES(",\"overwritten_params\":"),
    };
    struct tv_bytes rest = {tokens->at, (size_t)(tokens->end - tokens->at)};
    for (size_t i = 0; i < TV_COUNT(prefixes); i++) {
        if (!tv_bytes_starts_with(rest, prefixes[i]))
            continue;
        *tokens = (struct tv_json_tokens){tokens->at + prefixes[i].length, tokens->end, 0, false};
        return true;
    }
    return false;
}

/* Read a string with its escapes as they are.  A colon after it makes it a key. */
static void json_tokens_read_string(struct tv_json_tokens *tokens, struct tv_json_token *token)
{
    assert(tokens->at < tokens->end && *tokens->at == '"');
    const uint8_t *start = ++tokens->at;
    while (tokens->at < tokens->end && *tokens->at != '"')
        tokens->at += *tokens->at == '\\' && tokens->end - tokens->at > 1 ? 2 : 1;
    token->text = (struct tv_bytes){start, (size_t)(tokens->at - start)};
    tokens->at += tokens->at < tokens->end;
    bool key = tokens->at < tokens->end && *tokens->at == ':';
    token->kind = key ? TV_TOKEN_KEY : TV_TOKEN_STRING;
}

static bool json_token_ends_word(uint8_t c)
{
    return c == ',' || c == ']' || c == '}';
}

static void json_tokens_read_word(struct tv_json_tokens *tokens, struct tv_json_token *token)
{
    const uint8_t *start = tokens->at;
    while (tokens->at < tokens->end && !json_token_ends_word(*tokens->at))
        tokens->at++;
    *token = (struct tv_json_token){TV_TOKEN_WORD, {start, (size_t)(tokens->at - start)}};
}

bool tv_json_tokens_next(struct tv_json_tokens *tokens, struct tv_json_token *token)
{
    if (tokens->over)
        return false;
    while (tokens->at < tokens->end && (*tokens->at == ',' || *tokens->at == ':'))
        tokens->at++;
    if (tokens->at == tokens->end)
        return false;
    uint8_t c = *tokens->at;
    if (c == '"') {
        json_tokens_read_string(tokens, token);
    } else if (c == '{' || c == '[') {
        *token = (struct tv_json_token){TV_TOKEN_OPEN, {tokens->at++, 1}};
        tokens->depth++;
    } else if (c == '}' || c == ']') {
        *token = (struct tv_json_token){TV_TOKEN_CLOSE, {tokens->at++, 1}};
        tokens->depth -= tokens->depth > 0;
    } else {
        json_tokens_read_word(tokens, token);
    }
    tokens->over = tokens->depth == 0 && token->kind != TV_TOKEN_KEY;
    return true;
}
