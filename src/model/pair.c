/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Beginnings and ends become whole spans (trace-event.md section 3.1): an end closes the innermost
 * open span if the names agree or it has none.  Else, in a thread with as many ends as beginnings,
 * every one of them has its own: the end closes the span of its name below, leaving those above for
 * theirs, or without such a span the innermost, as its writer means it so.  In other threads ends
 * are missing: it closes the span of its name below and what is open above, or nothing.
 */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "model/spans.h"

/* How far down an end looks for its name: far deeper than programs nest. */
#define SEARCH_DEPTH 1024u

struct pairing {
    struct tv_spans *spans;
    uint32_t *open; /* indices of spans, the innermost last */
    size_t depth, capacity;
    unsigned side; /* TV_SPAN_KERNEL or 0: which of the spans are paired */
    bool balanced;
};

static void count_as(struct pairing *p, enum tv_diagnostic_kind kind, const struct tv_span *span)
{
    tv_diagnostics_add(p->spans->diagnostics, kind, span->offset);
}

static void push(struct pairing *p, size_t index)
{
    p->open = tv_array_reserve(p->open, &p->capacity, p->depth + 1, sizeof *p->open);
    p->open[p->depth++] = (uint32_t)index;
}

static struct tv_span *opened(struct pairing *p, size_t level)
{
    return &p->spans->spans[p->open[level]];
}

static uint32_t name_of(const struct pairing *p, const struct tv_span *span)
{
    return p->spans->names[span->frame];
}

/* The span ends at `time`; its length held its CPU time at the beginning. */
static void end_at(struct pairing *p, struct tv_span *span, int64_t time, int64_t cpu_end,
                   uint64_t end_offset)
{
    int64_t cpu = span->length;
    bool has_cpu = cpu != TV_NO_TIME && cpu_end != TV_NO_TIME && cpu_end >= cpu;
    span->length = time - span->time;
    span->flags = (TV_SPAN_WHOLE | p->side) & 0xff;
    span->side = TV_NONE;
    if (!has_cpu && end_offset == TV_NO_OFFSET)
        return;
    struct tv_spans *spans = p->spans;
    spans->sides = tv_array_reserve(spans->sides, &spans->side_capacity, spans->side_count + 1,
                                    sizeof *spans->sides);
    span->side = (uint32_t)spans->side_count;
    spans->sides[spans->side_count++] = (struct tv_side){
        has_cpu ? cpu : TV_NO_TIME, has_cpu ? cpu_end - cpu : TV_NO_TIME, end_offset};
}

/* Closes what is open above a level: the ends are missing. */
static void close_above(struct pairing *p, size_t level, int64_t time)
{
    while (p->depth > level + 1) {
        struct tv_span *above = opened(p, --p->depth);
        count_as(p, TV_DIAGNOSTIC_MISSING_EXIT, above);
        above->slice_flags |= TV_SLICE_MISSING_EXIT;
        end_at(p, above, time, TV_NO_TIME, TV_NO_OFFSET);
    }
}

/* Closes the span at a level with its end. */
static void close_level(struct pairing *p, size_t level, const struct tv_span *end)
{
    struct tv_span *span = opened(p, level);
    if (!p->balanced)
        close_above(p, level, end->time);
    p->depth--;
    memmove(p->open + level, p->open + level + 1, (p->depth - level) * sizeof *p->open);
    if (end->colour > 0 && end->colour < TV_COLOUR_HASHED)
        span->colour = end->colour;
    end_at(p, span, end->time, end->length,
           end->flags & TV_SPAN_TELLS ? end->offset : TV_NO_OFFSET);
}

/* The level of the innermost open span of the end's name, or p->depth. */
static size_t find_level(struct pairing *p, const struct tv_span *end)
{
    if (end->flags & TV_SPAN_NAMELESS)
        return p->depth - 1;
    uint32_t name = name_of(p, end);
    for (size_t i = 0; i < p->depth && i < SEARCH_DEPTH; i++)
        if (name_of(p, opened(p, p->depth - 1 - i)) == name)
            return p->depth - 1 - i;
    return p->depth;
}

static void take_end(struct pairing *p, const struct tv_span *end)
{
    if (p->depth == 0) {
        if (!(end->flags & TV_SPAN_IF_OPEN))
            count_as(p, TV_DIAGNOSTIC_UNMATCHED_EXIT, end);
        return;
    }
    size_t level = find_level(p, end);
    if (level < p->depth) {
        close_level(p, level, end);
    } else if (p->balanced) {
        struct tv_span told = *end; /* its name at least */
        told.flags |= TV_SPAN_TELLS;
        count_as(p, TV_DIAGNOSTIC_TITLE_MISMATCH, end);
        if (end->colour > 0) /* that of its name too, as Trace Viewer has it */
            opened(p, p->depth - 1)->colour = end->colour;
        close_level(p, p->depth - 1, &told);
    } else {
        count_as(p, TV_DIAGNOSTIC_IGNORED_EXIT, end);
    }
}

static bool is_balanced(const struct tv_spans *spans, unsigned side)
{
    size_t begins = 0, ends = 0;
    for (size_t i = 0; i < spans->count; i++) {
        unsigned flags = spans->spans[i].flags;
        if ((flags & TV_SPAN_KERNEL) != side)
            continue;
        begins += (flags & TV_SPAN_KIND) == TV_SPAN_BEGIN;
        ends += (flags & TV_SPAN_KIND) == TV_SPAN_END;
    }
    return begins == ends;
}

static void drop_ends(struct tv_spans *spans)
{
    size_t kept = 0;
    for (size_t i = 0; i < spans->count; i++)
        if ((spans->spans[i].flags & TV_SPAN_KIND) != TV_SPAN_END)
            spans->spans[kept++] = spans->spans[i];
    spans->count = kept;
}

/* Pairs the spans of one side; whether there are some of the other. */
static bool pair_side(struct pairing *p, int64_t end)
{
    struct tv_spans *spans = p->spans;
    bool others = false;
    p->balanced = is_balanced(spans, p->side);
    for (size_t i = 0; i < spans->count; i++) {
        unsigned flags = spans->spans[i].flags, kind = flags & TV_SPAN_KIND;
        if ((flags & TV_SPAN_KERNEL) != p->side)
            others = true;
        else if (kind == TV_SPAN_BEGIN)
            push(p, i);
        else if (kind == TV_SPAN_END)
            take_end(p, &spans->spans[i]);
    }
    while (p->depth > 0) {
        struct tv_span *span = opened(p, --p->depth);
        count_as(p, TV_DIAGNOSTIC_OPEN_CALL, span);
        span->slice_flags |= TV_SLICE_OPEN;
        end_at(p, span, end, TV_NO_TIME, TV_NO_OFFSET);
    }
    return others;
}

void tv_spans_pair(struct tv_spans *spans, int64_t end)
{
    struct pairing p = {.spans = spans};
    if (pair_side(&p, end)) {
        p.side = TV_SPAN_KERNEL;
        pair_side(&p, end);
    }
    tv_free(p.open);
    drop_ends(spans);
}
