/* SPDX-License-Identifier: Apache-2.0 */
/* Pass 0 of the builder: counts calls by thread and level. */
#include <string.h>

#include "base/memory.h"
#include "model/builder_parts.h"

/* Makes room for levels from -below to depth, half as many again on each side. Returns where `depth - below`
 * stands. */
static TV_NOINLINE size_t grow_levels(struct tv_levels *levels, uint32_t depth, uint32_t below)
{
    uint32_t bias = levels->bias, above = levels->size - levels->bias;
    if (below > bias)
        bias = below + below / 2;
    if (depth + 1 > above)
        above = depth + depth / 2 + 16;
    uint32_t *counts = tv_alloc((size_t)bias + above, sizeof *counts);
    if (levels->size)
        memcpy(counts + (bias - levels->bias), levels->counts, levels->size * sizeof *counts);
    tv_free(levels->counts);
    *levels = (struct tv_levels){counts, bias, bias + above};
    return (size_t)bias + depth - below;
}

uint32_t tv_levels_get(const struct tv_levels *levels, int64_t level)
{
    int64_t at = level + levels->bias;
    return at >= 0 && at < levels->size ? levels->counts[at] : 0;
}

TV_INLINE uint32_t count_enter(void *context, uint32_t thread, struct tv_walk_thread *t,
                               const struct tv_event *event)
{
    struct tv_levels *levels = &((struct tv_part *)context)->levels[thread];
    (void)event;
    if (t->depth)
        t->stack[t->depth - 1].tag = 1;
    else
        t->had_child = true;
    size_t at = (size_t)levels->bias + t->depth - t->below_count;
    if (TV_UNLIKELY(at >= levels->size))
        at = grow_levels(levels, t->depth, t->below_count);
    levels->counts[at]++;
    return 0;
}

TV_INLINE void count_gap(void *context, uint32_t thread, struct tv_walk_thread *t, int64_t wall, int64_t cpu)
{
    (void)context, (void)thread, (void)t, (void)wall, (void)cpu;
}

TV_INLINE void count_leave(void *context, uint32_t thread, struct tv_walk_thread *t,
                           const struct tv_event *event, unsigned flags)
{
    (void)context, (void)thread, (void)t, (void)event, (void)flags;
}

TV_INLINE void count_below(void *context, uint32_t thread, struct tv_walk_thread *t, struct tv_below *below)
{
    (void)context, (void)thread, (void)t, (void)below;
}

void tv_part_count(struct tv_part *part, const struct tv_batch *batch)
{
    static const struct tv_walk_calls calls = {count_gap, count_enter, count_leave, count_below};
    tv_walk_batch(&part->walk, batch, &calls, part);
}
