/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terms about arguments.  Arguments are not in memory: they are read from the input file again,
 * which costs a thousand times as much as any other term.  The file is therefore scanned first for
 * a text that a matching argument must contain, in every way that JSON can spell it.  Only events
 * that contain it are read and tested, as the search in arguments does.
 *
 *     arg.url:*.png|jpg    two values: no scan, every event is read
 *     arg.url:*img*.png    the longest literal, ".png", is scanned for
 *
 *     file  --scan-->  offsets  --look up-->  rows of slices, instants, samples  --read-->  test
 *
 * The scan may find too much (the text in a name, or in another argument) but never too little.  A
 * file that cannot be scanned has all of its events as candidates.
 *
 * A term with a key tests the value of that key and all values inside of it; keys are joined by
 * dots from the outermost object.
 */
#include "analysis/subset/filter.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "analysis/search/event_lookup.h"
#include "analysis/search/text_search.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "base/out.h"
#include "base/source.h"

#define READ_SIZE ((size_t)1 << 20)
/* Offsets that one pass over the trace's offset columns turns into events. */
#define BATCH ((size_t)1 << 20)
/* The texts of two events are further apart than this: quotes, brackets and a key are between
 * them. */
#define APART ((size_t)8)

/* ---- One event ---- */

/* Append a character in UTF-8. */
static void filter_out_utf8(struct tv_out *out, uint32_t c)
{
    uint8_t bytes[4];
    tv_out_bytes(out, (struct tv_bytes){bytes, tv_utf8_put(bytes, c)});
}

/* Decode the inside of a JSON string to plain text. */
static struct tv_bytes filter_unescape(struct tv_bytes text, struct tv_out *room)
{
    if (text.length == 0 || !memchr(text.data, '\\', text.length))
        return text;
    room->length = 0;
    for (size_t i = 0, length; i < text.length; i += length) {
        uint32_t c =
            tv_character_decode_json((struct tv_bytes){text.data + i, text.length - i}, &length);
        filter_out_utf8(room, c);
    }
    return (struct tv_bytes){room->buffer, room->length};
}

/* The keys from the outermost object to the current value, joined by dots. */
struct argument_path {
    struct tv_out path, plain;
    size_t *starts; /* by depth: length of the path when the value was opened */
    size_t depth, capacity;
};

/* Replace the last key of the path by this one. */
static void argument_path_enter_key(struct argument_path *walk, struct tv_bytes key)
{
    walk->path.length = walk->depth > 0 ? walk->starts[walk->depth - 1] : 0;
    if (walk->path.length > 0)
        tv_out_char(&walk->path, '.');
    tv_out_bytes(&walk->path, filter_unescape(key, &walk->plain));
}

/* Enter an object or an array: keys in it are appended to the path so far. */
static void argument_path_enter_value(struct argument_path *walk)
{
    walk->starts =
        tv_array_reserve(walk->starts, &walk->capacity, walk->depth + 1, sizeof *walk->starts);
    walk->starts[walk->depth++] = walk->path.length;
}

/* Leave it again. */
static void argument_path_leave_value(struct argument_path *walk)
{
    if (walk->depth > 0)
        walk->depth--;
    walk->path.length = walk->depth > 0 ? walk->starts[walk->depth - 1] : 0;
}

/* Return true at the key that a term names, and inside of its value. */
static bool argument_path_matches(const struct argument_path *walk, struct tv_bytes key)
{
    struct tv_bytes path = {walk->path.buffer, walk->path.length};
    return key.length == 0 || (tv_bytes_starts_with(path, key) &&
                               (path.length == key.length || path.data[key.length] == '.'));
}

/* Test one value, as a number if the term has numbers. */
static bool filter_argument_value_matches(const struct tv_filter_term *term, struct tv_bytes value)
{
    double number;
    if (!tv_filter_has_numbers(term))
        return tv_filter_matches_text(term, value);
    return tv_filter_parse_number(value, &number) && tv_filter_matches_number(term, number);
}

/* Return true when an argument with the term's key has a value that matches. */
static bool filter_any_argument_matches(struct argument_path *walk,
                                        const struct tv_filter_term *term,
                                        struct tv_json_tokens *tokens)
{
    struct tv_json_token token;
    while (tv_json_tokens_next(tokens, &token)) {
        if (token.kind == TV_TOKEN_KEY)
            argument_path_enter_key(walk, token.text);
        else if (token.kind == TV_TOKEN_OPEN)
            argument_path_enter_value(walk);
        else if (token.kind == TV_TOKEN_CLOSE)
            argument_path_leave_value(walk);
        else if (argument_path_matches(walk, term->key) &&
                 filter_argument_value_matches(term, filter_unescape(token.text, &walk->plain)))
            return true;
    }
    return false;
}

bool tv_filter_matches_event(const struct tv_filter_term *term, struct tv_bytes described)
{
    struct tv_json_tokens tokens;
    struct argument_path walk = {.starts = NULL};
    if (!tv_json_tokens_of_arguments(&tokens, described))
        return false;
    tv_out_init_memory(&walk.path);
    tv_out_init_memory(&walk.plain);
    bool fits = filter_any_argument_matches(&walk, term, &tokens);
    tv_out_release(&walk.path);
    tv_out_release(&walk.plain);
    tv_free(walk.starts);
    return fits;
}

/* Read an event again and test its arguments. An event that cannot be read matches nothing. */
static bool filter_event_matches(const struct tv_trace *trace, const struct tv_filter_term *term,
                                 uint32_t input, uint64_t offset, uint64_t end_offset)
{
    struct tv_error unused;
    struct tv_out text;
    if (offset == TV_NO_OFFSET || !trace->head->inputs[input].describe)
        return false;
    tv_out_init_memory(&text);
    bool fits = trace->head->inputs[input].describe(trace, input, offset, end_offset, &text,
                                                    &unused) == TV_OK &&
                tv_filter_matches_event(term, (struct tv_bytes){text.buffer, text.length});
    tv_out_release(&text);
    return fits;
}

/* ---- Candidates ---- */

/* Events that contain the scanned text. */
struct filter_candidates {
    struct tv_slice_set slices;
    bool *instants, *samples;
    bool *scanned; /* [inputs] false: the file was not scanned, so every event is a candidate */
};

/* Return the longest text without wildcards, which every match contains. */
static struct tv_bytes filter_longest_literal(const struct tv_filter_value *value)
{
    struct tv_bytes rest = value->text, piece, longest = {NULL, 0};
    while (rest.length > 0) {
        tv_bytes_split(&rest, TV_FILTER_ANY, &piece);
        if (piece.length > longest.length)
            longest = piece;
    }
    return longest;
}

/* Only one text can be scanned for: numbers have many spellings, and each alternative would need
 * its own scan. */
static bool filter_make_scan_text(const struct tv_filter_term *term, struct tv_text_search *search)
{
    return term->value_count == 1 &&
           tv_text_search_init(search, filter_longest_literal(&term->values[0]),
                               !term->values[0].fold);
}

/* Mark the rows of the events at these offsets, for which the file may hold the text. */
static void filter_mark_candidates(const struct tv_trace *trace, uint32_t input,
                                   const uint64_t *offsets, size_t count,
                                   struct filter_candidates *candidates)
{
    assert(count > 0 && count <= BATCH);
    struct tv_event_neighbours *found = tv_alloc(count, sizeof *found);
    tv_event_lookup(trace, input, offsets, count, found);
    for (size_t i = 0; i < count; i++) {
        const struct tv_event_place *at = &found[i].at;
        if (at->kind == TV_EVENT_SLICE)
            tv_slice_set_put(&candidates->slices, trace->rows[at->a].columns,
                             trace->rows[at->a].first + at->b, true);
        else if (at->kind == TV_EVENT_INSTANT)
            candidates->instants[at->a] = true;
        else if (at->kind == TV_EVENT_SAMPLE)
            candidates->samples[at->a] = true;
    }
    tv_free(found);
}

/* Return false if the file cannot be read; its candidates are then unknown. */
static bool filter_scan_input(const struct tv_trace *trace, uint32_t input,
                              const struct tv_text_search *search,
                              struct filter_candidates *candidates)
{
    struct tv_source *source = trace->head->inputs[input].source;
    size_t ahead = search->count * TV_CHARACTER_JSON_MAX, got = 0, count = 0;
    uint64_t size = tv_source_size(source), base = 0;
    uint8_t *buffer = tv_alloc(READ_SIZE + ahead, 1);
    uint64_t *offsets = tv_alloc(BATCH, sizeof *offsets);
    struct tv_error unused;
    bool good = true;
    while (base < size && good) {
        good = tv_source_read(source, base, buffer, READ_SIZE + ahead, &got, &unused) == TV_OK &&
               got > 0;
        size_t end = got < READ_SIZE ? got : READ_SIZE, at = 0;
        struct tv_bytes bytes = {buffer, got};
        while (good && (at = tv_text_search_next(search, bytes, at, end)) < end) {
            if (count == BATCH) {
                filter_mark_candidates(trace, input, offsets, count, candidates);
                count = 0;
            }
            offsets[count++] = base + at;
            at += APART;
        }
        base += end;
    }
    if (count > 0)
        filter_mark_candidates(trace, input, offsets, count, candidates);
    tv_free(offsets);
    tv_free(buffer);
    return good;
}

/* Search the files for the text of the term first: reading every event again would take far
 * longer. */
static void filter_find_candidates(const struct tv_trace *trace, const struct tv_filter_term *term,
                                   struct filter_candidates *candidates)
{
    struct tv_text_search search;
    tv_slice_set_init(&candidates->slices, trace);
    candidates->instants = tv_alloc(trace->tables.instants.count, sizeof *candidates->instants);
    candidates->samples = tv_alloc(trace->tables.samples.count, sizeof *candidates->samples);
    candidates->scanned = tv_alloc(trace->head->input_count, sizeof *candidates->scanned);
    if (!filter_make_scan_text(term, &search))
        return;
    for (uint32_t i = 0; i < trace->head->input_count; i++) {
        const struct tv_input *input = &trace->head->inputs[i];
        if (input->verbatim && input->source)
            candidates->scanned[i] = filter_scan_input(trace, i, &search, candidates);
    }
}

static void filter_release_candidates(struct filter_candidates *candidates)
{
    tv_slice_set_release(&candidates->slices);
    tv_free(candidates->instants);
    tv_free(candidates->samples);
    tv_free(candidates->scanned);
}

/* Unmark the slices whose arguments do not match; of scanned files only candidates are read. */
static void filter_unmark_slices_by_argument(const struct tv_trace *trace,
                                             const struct tv_filter_term *term,
                                             const struct filter_candidates *candidates,
                                             struct tv_slice_set *set)
{
    assert(set->columns_count == candidates->slices.columns_count);
    for (uint32_t number = 0; number < trace->row_count; number++) {
        const struct tv_row *row = &trace->rows[number];
        bool scanned = candidates->scanned[row->input];
        for (uint32_t i = 0; i < row->count; i++) {
            uint64_t at = row->first + i;
            if (!tv_slice_set_has(set, row->columns, at))
                continue;
            bool fits = false;
            if (!scanned || tv_slice_set_has(&candidates->slices, row->columns, at)) {
                const struct tv_slice_extra *extra =
                    tv_tables_slice_extra(&trace->tables, number, i);
                fits =
                    filter_event_matches(trace, term, row->input, tv_slice_offset(trace, number, i),
                                         extra ? extra->end_offset : TV_NO_OFFSET);
            }
            if (fits == term->negated)
                tv_slice_set_put(set, row->columns, at, false);
        }
    }
}

/* Match what the model keeps of a sample: "cpu", its processor, and "event", its value type. */
static bool filter_sample_facts_match(const struct tv_trace *trace,
                                      const struct tv_filter_term *term,
                                      const struct tv_sample *sample)
{
    char cpu[16];
    snprintf(cpu, sizeof cpu, "%u", (unsigned)sample->cpu);
    bool any = term->key.length == 0;
    struct tv_bytes event =
        tv_trace_info_text(trace->head, tv_sample_title(&trace->tables, sample));
    return ((any || tv_bytes_equal(term->key, TV_BYTES("cpu"))) && sample->cpu != TV_NONE &&
            filter_argument_value_matches(term, tv_bytes_of(cpu))) ||
           ((any || tv_bytes_equal(term->key, TV_BYTES("event"))) &&
            filter_argument_value_matches(term, event));
}

/* Unmark the samples whose arguments do not match. The values of one sample of the file come one
 * after another, and its arguments are read once. */
static void filter_unmark_samples_by_argument(const struct tv_trace *trace,
                                              const struct tv_filter_term *term,
                                              const struct filter_candidates *candidates,
                                              bool *samples)
{
    const struct tv_sample *last = NULL;
    bool described = false;
    for (size_t i = 0; i < trace->tables.samples.count; i++) {
        const struct tv_sample *sample = &trace->tables.samples.rows[i];
        if (!samples[i])
            continue;
        if (!last || last->input != sample->input || last->offset != sample->offset) {
            bool may = !candidates->scanned[sample->input] || candidates->samples[i];
            described = may && filter_event_matches(trace, term, sample->input, sample->offset,
                                                    TV_NO_OFFSET);
        }
        last = sample;
        if ((described || filter_sample_facts_match(trace, term, sample)) == term->negated)
            samples[i] = false;
    }
}

void tv_filter_apply_arguments(const struct tv_trace *trace, const struct tv_filter_term *term,
                               struct tv_subset_filter *subset_filter)
{
    assert(subset_filter->instants || trace->tables.instants.count == 0);
    assert(subset_filter->samples || trace->tables.samples.count == 0);
    struct filter_candidates candidates;
    filter_find_candidates(trace, term, &candidates);
    filter_unmark_slices_by_argument(trace, term, &candidates, &subset_filter->slices);
    for (size_t i = 0; i < trace->tables.instants.count; i++) {
        const struct tv_instant *instant = &trace->tables.instants.rows[i];
        bool may = !candidates.scanned[instant->input] || candidates.instants[i];
        if (subset_filter->instants[i] &&
            (may && filter_event_matches(trace, term, instant->input, instant->offset,
                                         TV_NO_OFFSET)) == term->negated)
            subset_filter->instants[i] = false;
    }
    filter_unmark_samples_by_argument(trace, term, &candidates, subset_filter->samples);
    filter_release_candidates(&candidates);
}
