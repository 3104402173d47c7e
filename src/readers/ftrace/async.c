/* SPDX-License-Identifier: Apache-2.0 */
/* Beginnings and ends with one key become async slices: an end ends the latest that is open; of
 * marks with one cookie only the first counts.  What has no end goes on to the end of the trace,
 * what has no beginning began before it. */
#include <string.h>

#include "base/memory.h"
#include "readers/ftrace/merge.h"

struct open_slice {
    uint32_t slice;
    uint32_t before; /* the one of the key that was open already; TV_NONE: none */
};

struct pairing {
    struct tv_ft_merge *merge;
    TV_TABLE(tv_async_slice) slices;
    TV_TABLE(open_slice) open;
    uint32_t *latest; /* open, by key; TV_NONE: none */
    uint32_t *again;  /* by key: beginnings left out since the one that counts */
};

static struct tv_async_slice *add_slice(struct pairing *p, const struct tv_ft_async *event,
                                        int64_t start)
{
    struct tv_async_slice *slice = tv_table_add(&p->slices);
    *slice = (struct tv_async_slice){
        .start = start,
        .length = event->time - start,
        .cpu_start = TV_NO_TIME,
        .cpu_length = TV_NO_TIME,
        .offset = event->offset,
        .end_offset = TV_NO_OFFSET,
        .frame = event->frame,
        .parent = TV_NONE,
        .start_thread = event->task,
        .end_thread = event->task,
        .process = TV_NONE,
        .id = event->id,
        .group = TV_NONE,
        .track = event->track,
    };
    return slice;
}

static void begin(struct pairing *p, const struct tv_ft_async *event)
{
    if (p->latest[event->key] == TV_NONE) {
        p->again[event->key] = 0;
    } else if (event->single) {
        p->again[event->key]++;
        if (!p->merge->repeated)
            p->merge->repeated = tv_alloc(1, sizeof *p->merge->repeated);
        tv_diagnostics_add(p->merge->repeated, TV_DIAGNOSTIC_ASYNC_BEGUN_TWICE, event->offset);
        return;
    }
    struct open_slice *open = tv_table_add(&p->open);
    *open = (struct open_slice){(uint32_t)p->slices.count, p->latest[event->key]};
    p->latest[event->key] = (uint32_t)p->open.count - 1;
    struct tv_async_slice *slice = add_slice(p, event, event->time);
    slice->length = p->merge->last - event->time;
    slice->flags = TV_SLICE_OPEN;
}

static void end(struct pairing *p, const struct tv_ft_async *event)
{
    uint32_t latest = p->latest[event->key];
    if (latest == TV_NONE && p->again[event->key] > 0) {
        p->again[event->key]--; /* the end of one that is left out */
        return;
    }
    if (latest == TV_NONE) {
        add_slice(p, event, p->merge->first)->flags = TV_SLICE_ENTERED_BEFORE;
        return;
    }
    struct tv_async_slice *slice = &p->slices.rows[p->open.rows[latest].slice];
    slice->length = event->time - slice->start;
    slice->end_offset = event->offset;
    slice->end_thread = event->task;
    slice->flags = 0;
    p->latest[event->key] = p->open.rows[latest].before;
}

static void add_whole(struct pairing *p)
{
    const struct tv_ft_merge *merge = p->merge;
    uint32_t before = (uint32_t)p->slices.count;
    for (size_t i = 0; i < merge->whole_asyncs.count; i++) {
        struct tv_async_slice *slice = tv_table_add(&p->slices);
        *slice = merge->whole_asyncs.rows[i];
        if (slice->parent != TV_NONE)
            slice->parent += before;
    }
}

void tv_ft_plan_asyncs(void *context)
{
    struct tv_ft_merge *merge = context;
    struct pairing p = {.merge = merge,
                        .latest = tv_alloc(merge->key_count, sizeof *p.latest),
                        .again = tv_alloc(merge->key_count, sizeof *p.again)};
    for (uint32_t i = 0; i < merge->key_count; i++)
        p.latest[i] = TV_NONE;
    for (size_t i = 0; i < merge->asyncs.count; i++) {
        const struct tv_ft_async *event = &merge->asyncs.rows[i];
        if (event->kind == TV_FT_ASYNC_BEGIN)
            begin(&p, event);
        else if (event->kind == TV_FT_ASYNC_POINT)
            add_slice(&p, event, event->time);
        else
            end(&p, event);
    }
    add_whole(&p);
    merge->async_plan = tv_async_plan_new(merge->trace->head, p.slices.rows, p.slices.count);
    tv_free(p.slices.rows);
    tv_free(p.open.rows);
    tv_free(p.latest);
    tv_free(p.again);
}
