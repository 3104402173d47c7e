/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading an event again costs a thousand times what any other term does.  So the files are scanned
 * first for a text that an argument must hold to fit, in all the ways in which JSON may write it,
 * and only events that have it are read: as the search in arguments does it.
 */
#include "analysis/filter_arguments.h"

#include <string.h>

#include "analysis/needle.h"
#include "analysis/places.h"
#include "analysis/tokens.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "base/out.h"
#include "base/source.h"

#define READ_SIZE ((size_t)1 << 20)
/* Of places that become events by one pass over all offsets. */
#define BATCH ((size_t)1 << 20)
/* Between the texts of two events there are more bytes than that: quotes, brackets, a key. */
#define APART ((size_t)8)

/* ---- One event ---- */

static void put_utf8(struct tv_out *out, uint32_t c)
{
    if (c < 0x80) {
        tv_out_char(out, (char)c);
        return;
    }
    unsigned tails = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    tv_out_char(out, (char)(0xff80u >> tails | c >> tails * 6));
    while (tails-- > 0)
        tv_out_char(out, (char)(0x80 | (c >> tails * 6 & 0x3f)));
}

/* What was written in JSON between quotes, as plain text. */
static struct tv_bytes unescape(struct tv_bytes text, struct tv_out *room)
{
    if (text.length == 0 || !memchr(text.data, '\\', text.length))
        return text;
    room->length = 0;
    for (size_t i = 0, length; i < text.length; i += length) {
        uint32_t c = tv_needle_take((struct tv_bytes){text.data + i, text.length - i}, &length);
        put_utf8(room, c);
    }
    return (struct tv_bytes){room->buffer, room->length};
}

/* Keys from the outside to where the walk is, joined by dots. */
struct walk {
    struct tv_out path, plain;
    size_t *starts; /* by depth: how long the path was when the value was opened */
    size_t depth, capacity;
};

static void enter_key(struct walk *walk, struct tv_bytes key)
{
    walk->path.length = walk->depth > 0 ? walk->starts[walk->depth - 1] : 0;
    if (walk->path.length > 0)
        tv_out_char(&walk->path, '.');
    tv_out_bytes(&walk->path, unescape(key, &walk->plain));
}

static void enter_value(struct walk *walk)
{
    walk->starts =
        tv_array_reserve(walk->starts, &walk->capacity, walk->depth + 1, sizeof *walk->starts);
    walk->starts[walk->depth++] = walk->path.length;
}

static void leave_value(struct walk *walk)
{
    if (walk->depth > 0)
        walk->depth--;
    walk->path.length = walk->depth > 0 ? walk->starts[walk->depth - 1] : 0;
}

/* Whether the walk is at the key that a term names, or inside of its value. */
static bool is_at_key(const struct walk *walk, struct tv_bytes key)
{
    struct tv_bytes path = {walk->path.buffer, walk->path.length};
    return key.length == 0 || (tv_bytes_starts_with(path, key) &&
                               (path.length == key.length || path.data[key.length] == '.'));
}

static bool value_fits(const struct tv_filter_term *term, struct tv_bytes value)
{
    double number;
    if (!tv_filter_has_numbers(term))
        return tv_filter_text_fits(term, value);
    return tv_filter_number_of(value, &number) && tv_filter_number_fits(term, number);
}

static bool any_fits(struct walk *walk, const struct tv_filter_term *term, struct tv_tokens *tokens)
{
    struct tv_token token;
    while (tv_tokens_next(tokens, &token)) {
        if (token.kind == TV_TOKEN_KEY)
            enter_key(walk, token.text);
        else if (token.kind == TV_TOKEN_OPEN)
            enter_value(walk);
        else if (token.kind == TV_TOKEN_CLOSE)
            leave_value(walk);
        else if (is_at_key(walk, term->key) && value_fits(term, unescape(token.text, &walk->plain)))
            return true;
    }
    return false;
}

bool tv_filter_described_fits(const struct tv_filter_term *term, struct tv_bytes described)
{
    struct tv_tokens tokens;
    struct walk walk = {.starts = NULL};
    if (!tv_tokens_of_arguments(&tokens, described))
        return false;
    tv_out_init_memory(&walk.path);
    tv_out_init_memory(&walk.plain);
    bool fits = any_fits(&walk, term, &tokens);
    tv_out_release(&walk.path);
    tv_out_release(&walk.plain);
    tv_free(walk.starts);
    return fits;
}

static bool event_fits(const struct tv_trace *trace, const struct tv_filter_term *term,
                       uint32_t input, uint64_t offset, uint64_t end_offset)
{
    struct tv_error unused;
    struct tv_out text;
    if (offset == TV_NO_OFFSET || !trace->head->inputs[input].describe)
        return false;
    tv_out_init_memory(&text);
    bool fits = trace->head->inputs[input].describe(trace, input, offset, end_offset, &text,
                                                    &unused) == TV_OK &&
                tv_filter_described_fits(term, (struct tv_bytes){text.buffer, text.length});
    tv_out_release(&text);
    return fits;
}

/* ---- Events that may fit ---- */

/* What the scan found. */
struct candidates {
    struct tv_slice_set slices;
    bool *instants;
    bool *scanned; /* [inputs] of others all may fit */
};

/* The longest text that whatever fits holds. */
static struct tv_bytes longest_piece(const struct tv_filter_wish *wish)
{
    struct tv_bytes rest = wish->text, piece, longest = {NULL, 0};
    while (rest.length > 0) {
        tv_bytes_split(&rest, TV_FILTER_ANY, &piece);
        if (piece.length > longest.length)
            longest = piece;
    }
    return longest;
}

/* Numbers may be written in many ways, and of several wishes each would need its own scan. */
static bool make_needle(const struct tv_filter_term *term, struct tv_needle *needle)
{
    return term->wish_count == 1 &&
           tv_needle_init(needle, longest_piece(&term->wishes[0]), !term->wishes[0].fold);
}

static void mark(const struct tv_trace *trace, uint32_t input, const uint64_t *offsets,
                 size_t count, struct candidates *candidates)
{
    struct tv_neighbours *found = tv_alloc(count, sizeof *found);
    tv_places_find(trace, input, offsets, count, found);
    for (size_t i = 0; i < count; i++) {
        const struct tv_event_place *at = &found[i].at;
        if (at->kind == TV_EVENT_SLICE)
            tv_slice_set_put(&candidates->slices, trace->rows[at->a].columns,
                             trace->rows[at->a].first + at->b, true);
        else if (at->kind == TV_EVENT_INSTANT)
            candidates->instants[at->a] = true;
    }
    tv_free(found);
}

/* False: the file cannot be read, and what may fit is not known. */
static bool scan(const struct tv_trace *trace, uint32_t input, const struct tv_needle *needle,
                 struct candidates *candidates)
{
    struct tv_source *source = trace->head->inputs[input].source;
    size_t ahead = needle->count * TV_NEEDLE_WIDEST, got = 0, count = 0;
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
        while (good && (at = tv_needle_next(needle, bytes, at, end)) < end) {
            if (count == BATCH) {
                mark(trace, input, offsets, count, candidates);
                count = 0;
            }
            offsets[count++] = base + at;
            at += APART;
        }
        base += end;
    }
    if (count > 0)
        mark(trace, input, offsets, count, candidates);
    tv_free(offsets);
    tv_free(buffer);
    return good;
}

static void find_candidates(const struct tv_trace *trace, const struct tv_filter_term *term,
                            struct candidates *candidates)
{
    struct tv_needle needle;
    tv_slice_set_init(&candidates->slices, trace);
    candidates->instants = tv_alloc(trace->tables.instants.count, sizeof *candidates->instants);
    candidates->scanned = tv_alloc(trace->head->input_count, sizeof *candidates->scanned);
    if (!make_needle(term, &needle))
        return;
    for (uint32_t i = 0; i < trace->head->input_count; i++) {
        const struct tv_input *input = &trace->head->inputs[i];
        if (input->verbatim && input->source)
            candidates->scanned[i] = scan(trace, i, &needle, candidates);
    }
}

static void release_candidates(struct candidates *candidates)
{
    tv_slice_set_release(&candidates->slices);
    tv_free(candidates->instants);
    tv_free(candidates->scanned);
}

static void ask_slices(const struct tv_trace *trace, const struct tv_filter_term *term,
                       const struct candidates *candidates, struct tv_slice_set *set)
{
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
                fits = event_fits(trace, term, row->input, tv_slice_offset(trace, number, i),
                                  extra ? extra->end_offset : TV_NO_OFFSET);
            }
            if (fits == term->negated)
                tv_slice_set_put(set, row->columns, at, false);
        }
    }
}

void tv_filter_arguments(const struct tv_trace *trace, const struct tv_filter_term *term,
                         struct tv_subset_filter *sieve)
{
    struct candidates candidates;
    find_candidates(trace, term, &candidates);
    ask_slices(trace, term, &candidates, &sieve->slices);
    for (size_t i = 0; i < trace->tables.instants.count; i++) {
        const struct tv_instant *instant = &trace->tables.instants.rows[i];
        bool may = !candidates.scanned[instant->input] || candidates.instants[i];
        if (sieve->instants[i] && (may && event_fits(trace, term, instant->input, instant->offset,
                                                     TV_NO_OFFSET)) == term->negated)
            sieve->instants[i] = false;
    }
    release_candidates(&candidates);
}
