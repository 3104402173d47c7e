/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Async slices whose ids are joined form one tree: each lies in the innermost that is open when it
 * starts, whatever id that has.  Of those that start together the longest is the outer one.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "model/assembly_state.h"

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

struct joined {
    int64_t start, length;
    uint32_t group, nesting, slice;
};

struct open {
    int64_t end;
    uint32_t slice;
};

static int compare_joined(const void *left, const void *right)
{
    const struct joined *a = left, *b = right;
    if (a->group != b->group)
        return COMPARE(a->group, b->group);
    if (a->start != b->start)
        return COMPARE(a->start, b->start);
    if (a->length != b->length)
        return COMPARE(b->length, a->length);
    if (a->nesting != b->nesting)
        return COMPARE(a->nesting, b->nesting);
    return COMPARE(a->slice, b->slice);
}

static struct joined *collect(const struct tv_async_slice *slices, size_t count,
                              const struct tv_async_place *places, size_t *found)
{
    struct joined *all = NULL;
    size_t capacity = 0;
    *found = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (slices[i].group == TV_NONE)
            continue;
        all = tv_array_reserve(all, &capacity, *found + 1, sizeof *all);
        all[(*found)++] = (struct joined){slices[i].start, slices[i].length, slices[i].group,
                                          places[i].nesting, i};
    }
    if (*found > 1)
        qsort(all, *found, sizeof *all, compare_joined);
    return all;
}

/* Whether an open one has ended when the next starts.  One without a length has not for what its
 * own id put into it. */
static bool is_over(const struct open *open, const struct joined *next, uint32_t own_parent)
{
    return open->end < next->start || (open->end == next->start && open->slice != own_parent);
}

void tv_async_join(const struct tv_async_slice *slices, size_t count, struct tv_async_place *places)
{
    size_t found, depth = 0;
    struct joined *all = collect(slices, count, places, &found);
    struct open *open = tv_alloc(found, sizeof *open);
    for (size_t i = 0; i < found; i++) {
        const struct joined *next = &all[i];
        struct tv_async_place *place = &places[next->slice];
        if (i > 0 && next->group != next[-1].group)
            depth = 0;
        while (depth > 0 && is_over(&open[depth - 1], next, slices[next->slice].parent))
            depth--;
        place->parent = depth > 0 ? open[depth - 1].slice : TV_NONE;
        place->nesting = depth > 0 ? places[place->parent].nesting + 1 : 0;
        open[depth++] = (struct open){next->start + next->length, next->slice};
    }
    tv_free(all);
    tv_free(open);
}
