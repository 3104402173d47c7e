/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pair.c - combines begins and ends into whole spans (trace-event.md section 3.1).
 *
 * An end closes the innermost open span if their names agree or the end has no name.  Otherwise:
 *
 *     as many ends as begins        every span has its own end: close the span of this name further
 *     in the thread                 down and leave those above open; if there is none, close the
 *                                   innermost, because that is what the writer meant
 *     else (some ends are missing)  close the span of this name further down and all above it; if
 *                                   there is none, ignore the end
 *
 * Spans of length 0 at the same time nest only where begins and ends say so.  Sorting by start
 * keeps their order, the outer one first, so each stores how many of the following ones began and
 * ended within it (`inside`).
 *
 * Begins and ends also tell what times do not: whether a span of length 0 at the time where one
 * span ends and another begins is in the one, in the other, or between them.  If all spans of a
 * thread come from begins and ends, and each end closes the innermost one, their depths are kept
 * (`depths`), and times need not tell how they nest.
 */
#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "model/assembly/assembly_internal.h"

/* Number of levels searched for the name of an end: far deeper than programs nest. */
#define SEARCH_DEPTH 1024u

struct pair_state {
    struct tv_spans *spans;
    uint32_t *open; /* indices of spans, innermost last */
    size_t depth, capacity;
    unsigned side; /* TV_SPAN_KERNEL or 0: which spans to pair */
    bool balanced;
    uint32_t *empty; /* number of whole spans of length 0 so far, of both sides */
};

static void pair_count_diagnostic(struct pair_state *p, enum tv_diagnostic_kind kind,
                                  const struct tv_span *span)
{
    tv_diagnostics_add(p->spans->diagnostics, kind, span->offset);
}

static void pair_push(struct pair_state *p, size_t index)
{
    if (p->spans->depths)
        p->spans->depths[index] = (uint32_t)p->depth;
    if (p->depth + 1 >= TV_NEST_DEPTH_LIMIT)
        p->spans->depths = NULL;
    p->open = tv_array_reserve(p->open, &p->capacity, p->depth + 1, sizeof *p->open);
    p->open[p->depth++] = (uint32_t)index;
    p->spans->spans[index].side = *p->empty; /* until the span ends */
}

static struct tv_span *pair_open_span(struct pair_state *p, size_t level)
{
    return &p->spans->spans[p->open[level]];
}

static uint32_t pair_name(const struct pair_state *p, const struct tv_span *span)
{
    return p->spans->names[span->frame];
}

/* Return how many spans of length 0 are in a span that ends.  Only spans at its own time count:
 * times nest all others. */
static uint32_t pair_count_inside(struct pair_state *p, const struct tv_span *span, int64_t time)
{
    if (time > span->time)
        return 0;
    uint32_t inside = (*p->empty)++ - span->side;
    return inside < TV_EXTRA_MAX_INSIDE ? inside : TV_EXTRA_MAX_INSIDE;
}

/* End the span at `time`; its `length` holds its CPU time at the begin. */
static void pair_end_span(struct pair_state *p, struct tv_span *span, int64_t time, int64_t cpu_end,
                          uint64_t end_offset)
{
    int64_t cpu = span->length;
    bool has_cpu = cpu != TV_NO_TIME && cpu_end != TV_NO_TIME && cpu_end >= cpu;
    uint32_t inside = pair_count_inside(p, span, time);
    span->length = time - span->time;
    span->flags = (TV_SPAN_WHOLE | p->side) & 0xff;
    span->side = TV_NONE;
    if (!has_cpu && end_offset == TV_EXTRA_NO_OFFSET && inside == 0)
        return;
    struct tv_spans *spans = p->spans;
    spans->sides = tv_array_reserve(spans->sides, &spans->side_capacity, spans->side_count + 1,
                                    sizeof *spans->sides);
    span->side = (uint32_t)spans->side_count;
    spans->sides[spans->side_count++] = (struct tv_span_extra){
        .cpu_start = has_cpu ? cpu : TV_NO_TIME,
        .cpu_length = has_cpu ? cpu_end - cpu : TV_NO_TIME,
        .end_offset = end_offset & TV_OFFSET_MASK,
        .inside = inside & TV_EXTRA_MAX_INSIDE,
    };
}

/* Close the spans above a level, whose ends are missing. */
static void pair_close_above(struct pair_state *p, size_t level, int64_t time)
{
    while (p->depth > level + 1) {
        struct tv_span *above = pair_open_span(p, --p->depth);
        pair_count_diagnostic(p, TV_DIAGNOSTIC_MISSING_EXIT, above);
        above->slice_flags |= TV_SLICE_MISSING_EXIT;
        pair_end_span(p, above, time, TV_NO_TIME, TV_EXTRA_NO_OFFSET);
    }
}

/* A span that began after the ended one is not in it. */
static void pair_skip_later(struct pair_state *p, size_t level, const struct tv_span *ended)
{
    for (size_t i = level; ended->length == 0 && i < p->depth; i++)
        pair_open_span(p, i)->side++;
}

/* Close the span at a level with its end. */
static void pair_close_level(struct pair_state *p, size_t level, const struct tv_span *end)
{
    struct tv_span *span = pair_open_span(p, level);
    assert(level < p->depth);
    if (!p->balanced)
        pair_close_above(p, level, end->time);
    if (level + 1 < p->depth)
        p->spans->depths = NULL; /* what stays open is not in what has ended */
    p->depth--;
    memmove(p->open + level, p->open + level + 1, (p->depth - level) * sizeof *p->open);
    if (end->colour > 0 && end->colour < TV_COLOUR_HASHED)
        span->colour = end->colour;
    pair_end_span(p, span, end->time, end->length,
                  end->flags & TV_SPAN_TELLS ? end->offset : TV_EXTRA_NO_OFFSET);
    pair_skip_later(p, level, span);
}

/* Return the level of the innermost open span with the name of the end, or p->depth. */
static size_t pair_find_level(struct pair_state *p, const struct tv_span *end)
{
    if (end->flags & TV_SPAN_NAMELESS)
        return p->depth - 1;
    uint32_t name = pair_name(p, end);
    for (size_t i = 0; i < p->depth && i < SEARCH_DEPTH; i++)
        if (pair_name(p, pair_open_span(p, p->depth - 1 - i)) == name)
            return p->depth - 1 - i;
    return p->depth;
}

/* Take an end: close the span with its name, or the innermost one where all begins have ends. */
static void pair_handle_end(struct pair_state *p, const struct tv_span *end)
{
    if (p->depth == 0) {
        if (!(end->flags & TV_SPAN_IF_OPEN))
            pair_count_diagnostic(p, TV_DIAGNOSTIC_UNMATCHED_EXIT, end);
        return;
    }
    size_t level = pair_find_level(p, end);
    if (level < p->depth) {
        pair_close_level(p, level, end);
    } else if (p->balanced) {
        struct tv_span noted = *end; /* keep at least its name */
        noted.flags |= TV_SPAN_TELLS;
        pair_count_diagnostic(p, TV_DIAGNOSTIC_TITLE_MISMATCH, end);
        if (end->colour > 0) /* its colour, too, as Trace Viewer does */
            pair_open_span(p, p->depth - 1)->colour = end->colour;
        pair_close_level(p, p->depth - 1, &noted);
    } else {
        pair_count_diagnostic(p, TV_DIAGNOSTIC_IGNORED_EXIT, end);
    }
}

/* Find out for each side whether there are as many begins as ends. Then an end with another name
 * still ends something. Get room for depths if there are begins and ends of one side alone. */
static void pair_find_balance(struct pair_state sides[2], struct tv_spans *spans)
{
    int64_t begun[2] = {0, 0};
    bool paired = true;
    for (size_t i = 0; i < spans->count; i++) {
        unsigned flags = spans->spans[i].flags, kind = flags & TV_SPAN_KIND;
        begun[(flags & TV_SPAN_KERNEL) != 0] += (kind == TV_SPAN_BEGIN) - (kind == TV_SPAN_END);
        paired &= (kind == TV_SPAN_BEGIN || kind == TV_SPAN_END) && !(flags & TV_SPAN_KERNEL);
    }
    sides[0].balanced = begun[0] == 0;
    sides[1].balanced = begun[1] == 0;
    if (paired)
        spans->depths =
            tv_scratch_get(&spans->scratch->depths, spans->count, sizeof *spans->depths);
}

/* Keep the begins, which are whole spans by now. */
static void pair_drop_ends(struct tv_spans *spans)
{
    size_t kept = 0;
    for (size_t i = 0; i < spans->count; i++) {
        if ((spans->spans[i].flags & TV_SPAN_KIND) == TV_SPAN_END)
            continue;
        if (spans->depths)
            spans->depths[kept] = spans->depths[i];
        spans->spans[kept++] = spans->spans[i];
    }
    spans->count = kept;
}

/* Pair both sides in one pass, because they contain each other at equal times. */
static void pair_all_spans(struct pair_state sides[2], struct tv_spans *spans)
{
    for (size_t i = 0; i < spans->count; i++) {
        struct tv_span *span = &spans->spans[i];
        unsigned kind = span->flags & TV_SPAN_KIND;
        struct pair_state *p = &sides[(span->flags & TV_SPAN_KERNEL) != 0];
        if (kind == TV_SPAN_BEGIN)
            pair_push(p, i);
        else if (kind == TV_SPAN_END)
            pair_handle_end(p, span);
        else
            *p->empty += span->length == 0;
    }
}

int64_t tv_open_end(const struct tv_open_ends *ends, const struct tv_span *span,
                    struct tv_diagnostics *diagnostics)
{
    if (ends->idle_end < span->time || ends->idle_end >= ends->end)
        return ends->end;
    tv_diagnostics_add(diagnostics, TV_DIAGNOSTIC_OPEN_UNTIL_SILENCE, span->offset);
    diagnostics->quiet = ends->idle_end > diagnostics->quiet ? ends->idle_end : diagnostics->quiet;
    return ends->idle_end;
}

/* Close the spans that no event ended. */
static void pair_close_open(struct pair_state *p, const struct tv_open_ends *ends)
{
    if (p->depth > 0 && ends->idle_end != TV_NO_TIME)
        p->spans->depths = NULL; /* an inner one may end later */
    while (p->depth > 0) {
        struct tv_span *span = pair_open_span(p, --p->depth);
        pair_count_diagnostic(p, TV_DIAGNOSTIC_OPEN_CALL, span);
        span->slice_flags |= TV_SLICE_OPEN;
        int64_t end = tv_open_end(ends, span, p->spans->diagnostics);
        pair_end_span(p, span, end, TV_NO_TIME, TV_EXTRA_NO_OFFSET);
    }
}

void tv_spans_pair(struct tv_spans *spans, const struct tv_open_ends *ends)
{
    uint32_t empty = 0;
    struct pair_state sides[2] = {{.spans = spans, .empty = &empty},
                                  {.spans = spans, .empty = &empty, .side = TV_SPAN_KERNEL}};
    pair_find_balance(sides, spans);
    pair_all_spans(sides, spans);
    assert(spans->side_count <= spans->side_capacity);
    for (unsigned i = 0; i < 2; i++) {
        pair_close_open(&sides[i], ends);
        tv_free(sides[i].open);
    }
    pair_drop_ends(spans);
}
