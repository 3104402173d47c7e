/* SPDX-License-Identifier: Apache-2.0 */
/* Pass 0 of the builder: counts calls by thread and level. */
#include <string.h>

#include "base/memory.h"
#include "model/builder_parts.h"

/* Makes room for levels from -below to depth, half as many again on each side. Returns where
 * `depth - below` stands. */
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

TV_INLINE uint32_t count_step(void *context, const struct tv_step *step)
{
    struct tv_levels *levels = &((struct tv_part *)context)->levels[step->thread];
    size_t at = (size_t)levels->bias + step->depth - step->t->below_count;
    if (TV_UNLIKELY(at >= levels->size))
        at = grow_levels(levels, step->depth, step->t->below_count);
    levels->counts[at] += (uint32_t)(1 + step->exit);
    step->caller->tag = 1; /* it has made calls */
    return 0;
}

static void count_first(void *context, uint32_t thread, struct tv_walk_thread *t)
{
    (void)context, (void)thread, (void)t;
}

static void count_below(void *context, uint32_t thread, struct tv_walk_thread *t,
                        struct tv_below *below)
{
    (void)context, (void)thread, (void)t, (void)below;
}

static void count_wait(void *context, uint32_t thread, struct tv_walk_thread *t, int64_t wall,
                       int64_t cpu)
{
    (void)context, (void)thread, (void)t, (void)wall, (void)cpu;
}

void tv_part_count(struct tv_part *part, const struct tv_batch *batch)
{
    static const struct tv_walk_calls calls = {count_step, count_first, count_below, count_wait};
    tv_walk_batch(&part->walk, batch, &calls, part);
}

void tv_part_counted(struct tv_part *part)
{
    for (uint32_t i = 0; i < part->walk.thread_count; i++) {
        struct tv_walk_thread *t = &part->walk.threads[i];
        t->had_child = t->seen && t->stack[-1].tag;
    }
}
