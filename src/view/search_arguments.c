/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Search in arguments.  They stand in the file alone: its bytes are scanned for the text in all the
 * ways in which JSON may write it, the places are turned into events by one pass over the offsets,
 * and those events are read again to see whether it is in their arguments indeed.
 */
#include "analysis/search/event_lookup.h"
#include "base/memory.h"
#include "base/source.h"
#include "view/event_about.h"
#include "view/event_text.h"
#include "view/search.h"

/* What one step does at most. */
#define STEP_BYTES ((uint64_t)64 << 20)
#define STEP_PLACES ((size_t)65536)
#define STEP_EVENTS 20000u
/* Between the texts of two events there are more bytes than that: quotes, brackets, a key. */
#define APART ((size_t)8)
#define READ_SIZE ((size_t)1 << 20)

/* The places of one step, in a file. */
struct places {
    uint64_t *offsets; /* sorted */
    size_t count, most;
    uint64_t scanned; /* up to here */
};

/* Notes the matches that begin in what was read; `end` of it are places where they may. */
static void note_matches(const struct tv_text_search *needle, struct tv_bytes bytes, size_t end,
                         struct places *places)
{
    uint64_t base = places->scanned;
    size_t at = 0;
    while ((at = tv_text_search_next(needle, bytes, at, end)) < end) {
        places->offsets[places->count++] = base + at;
        at += APART;
        if (places->count == places->most)
            break;
    }
    places->scanned = base + (at < end ? at : end);
}

/* Notes the matches that begin in [places->scanned, to), up to `most`; ends early when the file
 * cannot be read. */
static void scan(const struct tv_text_search *needle, struct tv_source *source, uint64_t to,
                 struct places *places)
{
    size_t ahead = needle->count * TV_CHARACTER_JSON_MAX, got = 1;
    uint8_t *buffer = tv_alloc(READ_SIZE + ahead, 1);
    struct tv_error unused;
    while (places->scanned < to && places->count < places->most && got > 0) {
        uint64_t left = to - places->scanned;
        size_t end = left < READ_SIZE ? (size_t)left : READ_SIZE;
        if (tv_source_read(source, places->scanned, buffer, end + ahead, &got, &unused) != TV_OK)
            break;
        note_matches(needle, (struct tv_bytes){buffer, got}, got < end ? got : end, places);
    }
    tv_free(buffer);
}

/* Whether an event that began before this step was found, and looked at, by the step before. */
static bool was_looked_at(const struct tv_text_search *needle, struct tv_source *source, uint64_t event,
                          uint64_t step)
{
    uint64_t place;
    struct places places = {&place, 0, 1, event};
    scan(needle, source, step, &places);
    return places.count > 0;
}

static bool is_same(const struct tv_event_place *a, const struct tv_event_place *b)
{
    return a->kind == b->kind && a->a == b->a && a->b == b->b && a->offset == b->offset;
}

/* Whether its name or category matches: then it was found in memory. */
static bool is_known(const struct tv_view_search *search, const struct tv_event_place *place,
                     const struct tv_event_about *about)
{
    bool framed = place->kind == TV_EVENT_SLICE || place->kind == TV_EVENT_INSTANT ||
                  place->kind == TV_EVENT_FLOW;
    return framed && search->frames[about->frame] > 0;
}

static void put_found(struct tv_view_search *search, const struct tv_event_place *place,
                      const struct tv_event_about *about, struct tv_bytes excerpt)
{
    search->found++;
    if (search->count_only)
        return;
    tv_out_text(search->out, search->found > 1 ? ",\n[" : "[");
    tv_event_about_write(search->out, search->view, place, about);
    tv_out_format(search->out, ",%u,", (unsigned)TV_FIELD_ARGUMENTS);
    tv_out_bytes(search->out, excerpt);
    tv_out_char(search->out, ']');
}

/* Adds to *read like tv_event_text_match. */
static void look_at(struct tv_view_search *search, uint32_t input,
                    const struct tv_event_place *place, uint64_t *read)
{
    struct tv_event_about about = tv_event_about(search->view, place);
    struct tv_out excerpt;
    if (!tv_view_search_wants(search, about.time, about.length, about.track) ||
        is_known(search, place, &about))
        return;
    tv_out_init_memory(&excerpt);
    if (tv_event_text_match(search->trace, input, place, &search->needle, &excerpt, read)) {
        put_found(search, place, &about, (struct tv_bytes){excerpt.buffer, excerpt.length});
    }
    tv_out_release(&excerpt);
}

/* Looks at the events of the places. Returns where the next step begins. */
static uint64_t look_at_all(struct tv_view_search *search, uint32_t input, uint64_t step,
                            const struct places *places)
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
        if (place->kind == TV_EVENT_NONE || is_same(place, &last))
            continue;
        last = *place;
        if (place->offset < step && was_looked_at(&search->needle, source, place->offset, step))
            continue;
        if (search->found == search->limit || looked++ == STEP_EVENTS || read >= STEP_BYTES) {
            next = places->offsets[i];
            break;
        }
        look_at(search, input, place, &read);
    }
    tv_free(found);
    return next;
}

bool tv_view_search_arguments(struct tv_view_search *search)
{
    uint32_t input = (uint32_t)search->cursor.a;
    struct tv_source *source = search->trace->head->inputs[input].source;
    uint64_t size = tv_source_size(source), step = search->cursor.b;
    if (step >= size)
        return true;
    uint64_t to = size - step < STEP_BYTES ? size : step + STEP_BYTES;
    struct places places = {tv_alloc(STEP_PLACES, sizeof *places.offsets), 0, STEP_PLACES, step};
    scan(&search->needle, source, to, &places);
    bool stuck = places.scanned == step; /* it cannot be read */
    search->cursor.b = look_at_all(search, input, step, &places);
    tv_free(places.offsets);
    return stuck || search->cursor.b >= size;
}
