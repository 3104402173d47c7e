/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_list.c - walking over the list of events, and reading one list in parallel.
 *
 * The parallel split.  Nobody can know where an event begins in the middle of a JSON file: what
 * looks like one may be inside of a string.  So the boundaries are guesses, and each is verified
 * by the chunk in front of it:
 *
 *     [ {..}, {..}, {..}, {..}, {..}, {..} ]
 *     ^ chunk 0           ^ a guess: '{' after a comma or first in its line, reads as an event
 *       reads up to here ---' chunk 1 is read from here, at the same time
 *
 * A guess was right when the chunk before it, reading from its own true begin, ends exactly there,
 * with one comma and nothing broken in between (`clean`).  By induction all chunks up to the first
 * wrong guess are right.  The chunk before a wrong guess reads on to the end, and what was read
 * from wrong places is thrown away.  So any split gives what one chunk would give, event for event,
 * and a hostile file can only cost time.
 *
 * Damage.  An element that cannot be read is skipped to the next place that looks like an event.
 * The search for the ends of events is bounded (`wasted`), so a file of a million opening braces
 * does not take quadratic time.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/workers.h"
#include "model/sketch.h"
#include "readers/trace_event/container.h"

/* A longer event counts as one without an end. */
#define LONGEST_EVENT ((uint64_t)64 << 20)

/* After so many bytes were searched in vain, only shorter events are believed in; then none. */
#define WASTE_ALLOWED ((uint64_t)256 << 20)
#define LONGEST_AFTER_WASTE ((uint64_t)1 << 20)
#define WASTE_MAX ((uint64_t)4 << 30)

/* Limits of a guess. */
#define GUESSED_EVENT ((size_t)64 << 10)
#define GUESS_MAX ((uint64_t)16 << 20)

void tv_te_list_init(struct tv_te_list *list, struct tv_source *source, uint64_t start,
                     uint64_t end)
{
    memset(list, 0, sizeof *list);
    list->source = source;
    list->start = list->at = start;
    list->end = end;
    list->clean = list->fresh = true;
    tv_window_init(&list->window, source);
    tv_te_chunk_init(&list->chunk);
}

void tv_te_list_release(struct tv_te_list *list)
{
    tv_window_release(&list->window);
    tv_te_chunk_release(&list->chunk);
}

/* ---- Guessing ---- */

/* True when an event begins with these bytes.  *cost grows by the bytes that it took to know. */
static bool te_list_looks_like_event(struct tv_bytes bytes, uint64_t *cost)
{
    struct tv_te_fields fields;
    const uint8_t *end;
    if (bytes.length > GUESSED_EVENT)
        bytes.length = GUESSED_EVENT;
    enum tv_te_read read = tv_te_fields_read(bytes.data, bytes.data + bytes.length, &fields, &end);
    *cost += (uint64_t)(end - bytes.data) + 1;
    return read == TV_TE_READ && tv_te_fields_phase(&fields) != '\0';
}

/* The text before the place that the search has reached. */
struct te_list_guess {
    uint8_t before; /* the last byte that is not space */
    bool line;      /* a line began after it */
    uint64_t cost;
};

/* Return the index of the next '{' that may begin an event, or bytes.length. */
static size_t te_list_next_candidate(struct te_list_guess *guess, struct tv_bytes bytes)
{
    for (size_t i = 0; i < bytes.length; i++) {
        uint8_t c = bytes.data[i];
        if (tv_is_space(c)) {
            guess->line = guess->line || c == '\n';
            continue;
        }
        if (c == '{' && (guess->line || guess->before == ',' || guess->before == '}'))
            return i;
        guess->before = c;
        guess->line = false;
    }
    return bytes.length;
}

enum tv_status tv_te_list_guess(struct tv_window *window, uint64_t from, uint64_t *start,
                                struct tv_error *err)
{
    struct te_list_guess guess = {0, false, 0};
    struct tv_bytes bytes;
    *start = TV_NO_OFFSET;
    for (; guess.cost < GUESS_MAX; guess.cost++) {
        enum tv_status status = tv_window_at(window, from, GUESSED_EVENT, &bytes, err);
        if (status != TV_OK || bytes.length == 0)
            return status;
        size_t place = te_list_next_candidate(&guess, bytes);
        from += place;
        guess.cost += place;
        if (place == bytes.length)
            continue;
        status = tv_window_at(window, from, GUESSED_EVENT, &bytes, err);
        if (status != TV_OK)
            return status;
        if (te_list_looks_like_event(bytes, &guess.cost)) {
            *start = from;
            return TV_OK;
        }
        guess.before = '{';
        guess.line = false;
        from++;
    }
    return TV_OK;
}

/* ---- Sketching a block ---- */

/* At so many places of a block, spread evenly, so many events are marked.  No place costs more
 * than `GUESSED_EVENT` bytes of text, whatever is there. */
#define SKETCHED_PLACES 8u
#define SKETCHED_EVENTS 4u

/* Return the index of the first event at or after `from` that is found at that cost, or
 * block.length; *fields holds the event, and *end is after it. */
static size_t te_block_find_event(struct tv_bytes block, size_t from, struct te_list_guess *guess,
                                  struct tv_te_fields *fields, size_t *end)
{
    while (from < block.length && guess->cost < GUESSED_EVENT) {
        struct tv_bytes rest = {block.data + from, block.length - from};
        const uint8_t *behind;
        if (rest.length > GUESSED_EVENT - guess->cost)
            rest.length = (size_t)(GUESSED_EVENT - guess->cost);
        size_t place = te_list_next_candidate(guess, rest);
        guess->cost += place + 1;
        from += place;
        if (place == rest.length)
            break;
        enum tv_te_read read =
            tv_te_fields_read(block.data + from, block.data + block.length, fields, &behind);
        guess->cost += (uint64_t)(behind - (block.data + from));
        *end = (size_t)(behind - block.data);
        if (read == TV_TE_READ && tv_te_fields_phase(fields) != '\0')
            return from;
        *guess = (struct te_list_guess){'{', false, guess->cost};
        from++;
    }
    return block.length;
}

/* Return an id as the chunks name it: without the quotes of a string, and as short. */
static struct tv_bytes te_block_id_text(struct tv_bytes id)
{
    if (!id.data)
        return TV_BYTES("0");
    if (id.length >= 2 && id.data[0] == '"')
        id = (struct tv_bytes){id.data + 1, id.length - 2};
    if (id.length > TV_SKETCH_NAME / 2 - 1)
        id.length = TV_SKETCH_NAME / 2 - 1;
    return id;
}

/* Mark the beginning of a slice. */
static void te_block_sketch_event(const struct tv_te_fields *fields, struct tv_sketch *sketch)
{
    struct tv_sketch_mark mark;
    char name[TV_SKETCH_NAME + 1];
    char phase = tv_te_fields_phase(fields);
    if ((phase != 'X' && phase != 'B') || !tv_te_parse_time(fields->ts, &mark.time))
        return;
    struct tv_bytes process = te_block_id_text(fields->pid),
                    thread = fields->tid.data ? te_block_id_text(fields->tid) : process;
    snprintf(name, sizeof name, "%.*s/%.*s", (int)process.length, (const char *)process.data,
             (int)thread.length, (const char *)thread.data);
    mark.track = tv_sketch_track(sketch, tv_bytes_of(name));
    tv_sketch_add(sketch, &mark, 1);
}

void tv_te_block_sketch(struct tv_bytes block, struct tv_sketch *sketch, void **notes)
{
    (void)notes; /* an event shows where it begins, wherever the block does */
    assert(block.data && sketch);
    struct tv_te_fields fields;
    for (size_t place = 0; place < SKETCHED_PLACES; place++) {
        struct te_list_guess guess = {0, false, 0};
        size_t at = block.length / SKETCHED_PLACES * place, end = at;
        for (unsigned i = 0; i < SKETCHED_EVENTS && at < block.length; i++, at = end) {
            if (te_block_find_event(block, at, &guess, &fields, &end) == block.length)
                break;
            te_block_sketch_event(&fields, sketch);
            guess.before = '}';
        }
    }
}

/* ---- Walking ---- */

enum te_list_step {
    STEP_DONE,   /* list->ended says why */
    STEP_MORE,   /* the element at list->at continues after the bytes */
    STEP_BROKEN, /* the element at list->at is broken */
};

/* A view of the window. */
struct te_list_bytes {
    const uint8_t *at, *end;
    const uint8_t *data;
    uint64_t offset; /* of data */
};

static uint64_t te_list_offset(const struct te_list_bytes *bytes)
{
    assert(bytes->at >= bytes->data && bytes->at <= bytes->end);
    return bytes->offset + (uint64_t)(bytes->at - bytes->data);
}

static void te_list_warn(struct tv_te_list *list, enum tv_diagnostic_kind kind, uint64_t offset)
{
    tv_diagnostics_add(&list->chunk.diagnostics, kind, offset);
}

/* Skip commas and white space; the commas are judged when the next element comes. */
static void te_list_skip_separators(struct tv_te_list *list, struct te_list_bytes *bytes)
{
    const uint8_t *at = bytes->at, *end = bytes->end;
    for (; at < end; at++)
        if (*at == ',')
            list->commas++;
        else if (!tv_is_space(*at))
            break;
    bytes->at = at;
}

/* True for "{}" with space in it. */
static bool te_list_is_empty_object(const uint8_t *at)
{
    for (at++; tv_is_space(*at); at++)
        ;
    return *at == '}';
}

/* True when the commas before an element are not those of JSON.  Counting starts anew. */
static bool te_list_take_commas(struct tv_te_list *list)
{
    bool odd = list->lines ? list->commas > 1 : list->commas != (list->fresh ? 0u : 1u);
    odd = odd || list->comment;
    list->commas = 0;
    list->fresh = list->comment = false;
    return odd;
}

/* True for more than "{}". */
TV_INLINE bool te_list_has_content(const struct tv_te_fields *fields, const uint8_t *at)
{
    return TV_LIKELY(fields->ph.data || !te_list_is_empty_object(at));
}

/* Count an event that only the visitor sees. */
static void te_list_count_event(struct tv_te_list *list, uint64_t offset)
{
    list->chunk.events++;
    if (list->fields.faults)
        te_list_warn(list, TV_DIAGNOSTIC_BAD_JSON, offset);
}

/* Hand an event to the visitor; take it into the chunk as well, unless only texts are wanted. */
static TV_NOINLINE void te_list_visit_event(struct tv_te_list *list, struct tv_bytes text,
                                            uint64_t offset)
{
    const struct tv_te_visitor *visitor = list->visitor;
    struct tv_te_list_event event = {&list->fields, text, offset};
    bool has_content = te_list_has_content(&list->fields, text.data);
    if (visitor->text_only && !has_content)
        return;
    if (visitor->text_only)
        te_list_count_event(list, offset);
    else if (has_content)
        tv_te_chunk_take(&list->chunk, &list->fields, offset);
    visitor->event(visitor->context, &event);
}

/* Take the object whose fields were read and which ends at `end`. */
TV_INLINE void te_list_keep_object(struct tv_te_list *list, struct te_list_bytes *bytes,
                                   const uint8_t *end)
{
    struct tv_te_fields *fields = &list->fields;
    if (TV_UNLIKELY(te_list_take_commas(list)))
        fields->faults |= 1;
    if (TV_UNLIKELY(list->visitor))
        te_list_visit_event(list, (struct tv_bytes){bytes->at, (size_t)(end - bytes->at)},
                            te_list_offset(bytes));
    else if (te_list_has_content(fields, bytes->at))
        tv_te_chunk_take(&list->chunk, fields, te_list_offset(bytes));
    bytes->at = end;
}

/* Take an object.  Within the window this is the hot path: the fields of each event are read here.
 */
static enum te_list_step te_list_take_object(struct tv_te_list *list, struct te_list_bytes *bytes)
{
    const uint8_t *end;
    enum tv_te_read read = tv_te_fields_read_over(bytes->at, bytes->end, &list->fields, &end);
    if (TV_UNLIKELY(read == TV_TE_CUT))
        return STEP_MORE;
    if (TV_UNLIKELY(read != TV_TE_READ))
        return STEP_BROKEN;
    te_list_keep_object(list, bytes, end);
    return STEP_DONE;
}

/* Skip a comment between elements. */
static enum te_list_step te_list_take_comment(struct tv_te_list *list, struct te_list_bytes *bytes)
{
    assert(*bytes->at == '/');
    size_t left = (size_t)(bytes->end - bytes->at);
    if (left < 2)
        return STEP_MORE;
    bool line = bytes->at[1] == '/';
    if (!line && bytes->at[1] != '*')
        return STEP_BROKEN;
    for (const uint8_t *at = bytes->at + 2; at < bytes->end; at++)
        if (line ? *at == '\n' : *at == '/' && at[-1] == '*' && at > bytes->at + 2) {
            list->comment = true;
            bytes->at = at + 1;
            return STEP_DONE;
        }
    return STEP_MORE;
}

/* Skip an element that is not an object. */
static enum te_list_step te_list_take_other(struct tv_te_list *list, struct te_list_bytes *bytes)
{
    const uint8_t *at = bytes->at;
    struct tv_bytes value;
    if (!tv_te_element_next(&at, bytes->end, &value))
        return at >= bytes->end ? STEP_MORE : STEP_BROKEN;
    te_list_take_commas(list);
    te_list_warn(list, TV_DIAGNOSTIC_BAD_EVENT, te_list_offset(bytes));
    bytes->at = at;
    return STEP_DONE;
}

/* Take elements while the bytes last. */
static enum te_list_step te_list_walk(struct tv_te_list *list, struct te_list_bytes *bytes)
{
    for (;;) {
        te_list_skip_separators(list, bytes);
        if (bytes->at >= bytes->end)
            return STEP_MORE;
        if (TV_UNLIKELY(te_list_offset(bytes) >= list->end)) {
            list->ended = TV_TE_LIST_REACHED;
            return STEP_DONE;
        }
        enum te_list_step step = STEP_DONE;
        if (TV_LIKELY(*bytes->at == '{')) {
            step = te_list_take_object(list, bytes);
        } else if (*bytes->at == ']' && !list->lines) {
            list->ended = TV_TE_LIST_CLOSED;
            bytes->at++;
            return STEP_DONE;
        } else {
            step = *bytes->at == '/' ? te_list_take_comment(list, bytes)
                                     : te_list_take_other(list, bytes);
        }
        if (TV_UNLIKELY(step != STEP_DONE))
            return step;
    }
}

enum tv_status tv_te_check_cancelled(struct tv_progress *progress, struct tv_error *err)
{
    if (progress && atomic_load_explicit(&progress->cancel, memory_order_relaxed))
        return tv_fail(err, TV_ERR_CANCELLED, TV_NO_OFFSET, "stopped on request");
    return TV_OK;
}

/* Report progress after each window, and stop when the user asks for it. */
static enum tv_status te_list_count_progress(struct tv_te_list *list, uint64_t bytes,
                                             uint64_t events)
{
    struct tv_progress *progress = list->progress;
    if (!progress)
        return TV_OK;
    atomic_fetch_add_explicit(&progress->bytes, bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&progress->records, events, memory_order_relaxed);
    return tv_te_check_cancelled(progress, &list->error);
}

/* End the reading at the end of the file, as nothing readable follows. */
static void te_list_give_up(struct tv_te_list *list, enum tv_diagnostic_kind kind)
{
    te_list_warn(list, kind, list->at);
    list->at = tv_source_size(list->source);
    list->ended = kind == TV_DIAGNOSTIC_TRUNCATED ? TV_TE_LIST_RAN_OUT : TV_TE_LIST_STRAYED;
}

/* The element at list->at reaches to the end of the file.  Take it if only its brace is missing. */
static enum tv_status te_list_take_unclosed(struct tv_te_list *list)
{
    struct tv_bytes view;
    const uint8_t *end;
    uint64_t left = tv_source_size(list->source) - list->at;
    if (left > LONGEST_EVENT)
        return TV_OK;
    enum tv_status status =
        tv_window_at(&list->window, list->at, (size_t)left, &view, &list->error);
    if (status != TV_OK || view.length == 0 || view.data[0] != '{')
        return status;
    struct te_list_bytes bytes = {view.data, view.data + view.length, view.data, list->at};
    if (tv_te_fields_close(bytes.at, bytes.end, &list->fields, &end) == TV_TE_READ)
        te_list_keep_object(list, &bytes, end);
    return TV_OK;
}

/* Resume after the unreadable element at list->at, if an event follows.  `cut`: it has no end. */
static enum tv_status te_list_resume(struct tv_te_list *list, bool cut, bool *found)
{
    uint64_t next = TV_NO_OFFSET;
    list->clean = false;
    if (list->wasted <= WASTE_MAX) {
        enum tv_status status = tv_te_list_guess(&list->window, list->at + 1, &next, &list->error);
        if (status != TV_OK)
            return status;
    }
    *found = next != TV_NO_OFFSET;
    if (!*found) {
        enum tv_status status = cut ? te_list_take_unclosed(list) : TV_OK;
        te_list_give_up(list, cut ? TV_DIAGNOSTIC_TRUNCATED : TV_DIAGNOSTIC_BAD_EVENT);
        return status;
    }
    te_list_warn(list, TV_DIAGNOSTIC_BAD_EVENT, list->at);
    assert(next > list->at);
    list->at = next;
    list->commas = 0;
    list->fresh = true;
    return TV_OK;
}

/* True when nothing follows the bytes from list->at to `end`.  All events before are taken, so this
 * is the time to wait for more of a growing file.  Broken text is judged as in a full window. */
static bool te_list_is_last(const struct tv_te_list *list, enum te_list_step step, uint64_t end)
{
    uint64_t size;
    if (step == STEP_BROKEN && !tv_source_has_size(list->source, &size) &&
        end < list->at + TV_WINDOW_SIZE)
        end = list->at + TV_WINDOW_SIZE;
    return step != STEP_DONE && !tv_source_reaches(list->source, end + 1);
}

/* Read one window from list->at on.  *want is how many bytes the next one needs; *more: there is a
 * next one. */
static enum tv_status te_list_read_window(struct tv_te_list *list, size_t *want, bool *more)
{
    struct tv_bytes view;
    uint64_t events = list->chunk.events, before = list->at;
    enum tv_status status = tv_window_at(&list->window, list->at, *want, &view, &list->error);
    if (status != TV_OK)
        return status;
    struct te_list_bytes bytes = {view.data, view.data + view.length, view.data, list->at};
    enum te_list_step step = te_list_walk(list, &bytes);
    list->at = te_list_offset(&bytes);
    *more = step != STEP_DONE;
    bool last = te_list_is_last(list, step, before + view.length);
    size_t left = view.length - (size_t)(bytes.at - bytes.data);
    uint64_t longest = list->wasted > WASTE_ALLOWED ? LONGEST_AFTER_WASTE : LONGEST_EVENT;
    if (step == STEP_MORE && left == 0 && last) {
        list->ended = TV_TE_LIST_RAN_OUT;
        *more = false;
    } else if (step == STEP_MORE && !last && left < longest) {
        /* Double the window until the element fits, so that the cost stays linear. */
        *want = left == 0 ? 1 : left * 2 < TV_WINDOW_SIZE ? left + 1 : left * 2;
    } else if (step != STEP_DONE) {
        list->wasted += step == STEP_MORE && !last ? longest : 0;
        *want = 1;
        status = te_list_resume(list, last, more);
    }
    return status == TV_OK
               ? te_list_count_progress(list, list->at - before, list->chunk.events - events)
               : status;
}

enum tv_status tv_te_list_read(struct tv_te_list *list)
{
    size_t want = 1;
    bool more = true;
    list->status = TV_OK;
    while (more && list->status == TV_OK)
        list->status = te_list_read_window(list, &want, &more);
    bool odd = list->comment || list->commas > 1 || (list->commas == 0 && !list->lines);
    if (list->ended != TV_TE_LIST_REACHED || odd)
        list->clean = false;
    return list->status;
}

/* Smaller chunks are not worth a thread. */
#define SMALLEST_CHUNK ((uint64_t)1 << 20)

/* Every chunk has tables of its own, so their number is limited. */
#define MAX_CHUNKS 1024u

static void te_lists_free_chunk(struct tv_te_list *list)
{
    tv_te_list_release(list);
    tv_free(list);
}

void tv_te_lists_release(struct tv_te_lists *lists)
{
    for (size_t i = 0; i < lists->count; i++)
        te_lists_free_chunk(lists->rows[i]);
    tv_free(lists->rows);
}

/* Add a chunk that reads to the end until the next one is added. */
static struct tv_te_list *te_lists_add_chunk(struct tv_te_lists *lists, struct tv_source *source,
                                             uint64_t start)
{
    struct tv_te_list *list = tv_alloc(1, sizeof *list);
    tv_te_list_init(list, source, start, UINT64_MAX);
    lists->rows =
        tv_array_reserve(lists->rows, &lists->capacity, lists->count + 1, sizeof *lists->rows);
    lists->rows[lists->count++] = list;
    return list;
}

/* Return how many chunks to read: as asked, or one for each processor that has enough to do. */
static unsigned te_lists_count_chunks(const struct tv_read_options *options, uint64_t size)
{
    unsigned count = options->parts;
    if (count == 0) {
        count = tv_workers_available();
        if (count > size / SMALLEST_CHUNK)
            count = (unsigned)(size / SMALLEST_CHUNK);
    }
    return count < 1 ? 1 : count > MAX_CHUNKS ? MAX_CHUNKS : count;
}

/* Return roughly where chunk `index` of `count` begins. */
static uint64_t te_lists_rough_start(const struct tv_read_options *options, uint64_t start,
                                     uint64_t size, unsigned index, unsigned count)
{
    assert(index > 0 && index < count);
    if (options->part_starts)
        return options->part_starts[index - 1];
    return start + (size / count) * index;
}

/* Add the chunks of a list. */
static enum tv_status te_lists_plan(struct tv_te_lists *lists, struct tv_source *source,
                                    uint64_t start, const struct tv_read_options *options,
                                    struct tv_error *err)
{
    struct tv_te_list *before = te_lists_add_chunk(lists, source, start);
    if (options->parts == 1) /* then the end of the source need not be known */
        return TV_OK;
    uint64_t size = tv_source_size(source) - start, at = start;
    unsigned count = te_lists_count_chunks(options, size);
    struct tv_window window;
    enum tv_status status = TV_OK;
    tv_window_init(&window, source);
    for (unsigned i = 1; i < count && status == TV_OK; i++) {
        uint64_t from = te_lists_rough_start(options, start, size, i, count), found;
        if (from <= at)
            continue;
        status = tv_te_list_guess(&window, from, &found, err);
        if (status != TV_OK || found == TV_NO_OFFSET)
            break;
        if (found <= at)
            continue;
        at = before->end = found;
        before = te_lists_add_chunk(lists, source, found);
    }
    tv_window_release(&window);
    return status;
}

/* Read one chunk on a worker thread. */
static void te_lists_read_worker(void *context, unsigned index)
{
    struct tv_te_list **rows = context;
    (void)tv_te_list_read(rows[index]);
}

/* True when the next chunk begins where this one ended, and was read as this one would have read
 * it. */
static bool te_lists_fit(const struct tv_te_list *list, const struct tv_te_list *next)
{
    assert(list->start < next->start);
    return list->ended == TV_TE_LIST_REACHED && list->clean && list->at == next->start;
}

/* Keep chunks while they fit.  The first that does not fit reads on to the end; those after it are
 * dropped. */
static enum tv_status te_lists_stitch(struct tv_te_lists *lists, size_t first, struct tv_error *err)
{
    assert(first < lists->count);
    size_t kept = first;
    enum tv_status status = lists->rows[kept]->status;
    while (status == TV_OK && kept + 1 < lists->count &&
           te_lists_fit(lists->rows[kept], lists->rows[kept + 1]))
        status = lists->rows[++kept]->status;
    for (size_t i = kept + 1; i < lists->count; i++)
        te_lists_free_chunk(lists->rows[i]);
    lists->count = kept + 1;
    struct tv_te_list *last = lists->rows[kept];
    if (status == TV_OK && last->ended == TV_TE_LIST_REACHED) {
        last->end = UINT64_MAX;
        status = tv_te_list_read(last);
    }
    if (status != TV_OK && err)
        *err = last->error;
    return status;
}

enum tv_status tv_te_lists_read(struct tv_te_lists *lists, struct tv_source *source, uint64_t start,
                                const struct tv_read_options *options,
                                const struct tv_te_list **last, struct tv_error *err)
{
    size_t first = lists->count;
    enum tv_status status = te_lists_plan(lists, source, start, options, err);
    if (status != TV_OK)
        return status;
    for (size_t i = first; i < lists->count; i++) {
        lists->rows[i]->lines = lists->lines;
        lists->rows[i]->visitor = lists->visitor;
        lists->rows[i]->progress = options->progress;
        if (options->progress)
            lists->rows[i]->chunk.sketching.sketch = options->progress->sketch;
    }
    tv_workers_run((unsigned)(lists->count - first), te_lists_read_worker, lists->rows + first);
    status = te_lists_stitch(lists, first, err);
    *last = lists->rows[lists->count - 1];
    return status;
}
