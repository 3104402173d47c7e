/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/trace_event/uses.h"

#include <string.h>

#include "base/intern.h"
#include "base/memory.h"

void tv_te_stack_uses_release(struct tv_te_stack_uses *uses)
{
    if (!uses->keys)
        return;
    tv_interner_free(uses->keys);
    tv_map_release(&uses->index);
    tv_free(uses->rows);
    memset(uses, 0, sizeof *uses);
}

static struct tv_te_stack_use *te_stack_uses_find(struct tv_te_stack_uses *uses, uint32_t process, struct tv_bytes key)
{
    if (!uses->keys) {
        uses->keys = tv_interner_new();
        tv_map_init(&uses->index);
    }
    uint32_t number = tv_interner_add(uses->keys, key);
    uint32_t row =
        tv_map_add(&uses->index, (uint64_t)process << 32 | number, (uint32_t)uses->count);
    if (row == uses->count) {
        uses->rows =
            tv_array_reserve(uses->rows, &uses->capacity, uses->count + 1, sizeof *uses->rows);
        uses->rows[uses->count++] = (struct tv_te_stack_use){.process = process, .key = number};
    }
    return &uses->rows[row];
}

void tv_te_stack_uses_add(struct tv_te_stack_uses *uses, uint32_t process, struct tv_bytes key, uint64_t offset)
{
    struct tv_te_stack_use *use = te_stack_uses_find(uses, process, key);
    if (use->count < TV_TE_STACK_USE_OFFSETS)
        use->offsets[use->count] = offset;
    use->count++;
}

void tv_te_stack_uses_merge(struct tv_te_stack_uses *uses, uint32_t process, struct tv_bytes key,
                      const struct tv_te_stack_use *use)
{
    struct tv_te_stack_use *all = te_stack_uses_find(uses, process, key);
    for (uint64_t i = 0; i < use->count && all->count + i < TV_TE_STACK_USE_OFFSETS; i++)
        all->offsets[all->count + i] = use->offsets[i];
    all->count += use->count;
}
