/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/visit.h"

#include <string.h>

#include "base/memory.h"

void tree_visit_init(struct tree_visit *visit, const struct tv_call_tree *tree)
{
    size_t size = tv_size_mul(tree->count, sizeof(uint32_t));
    visit->tree = tree;
    visit->first_child = tv_pages_alloc(2 * size);
    visit->next = visit->first_child + tree->count;
    visit->active = tv_alloc(tree->head->frame_count, sizeof *visit->active);
    visit->node = TV_ROOT_PATH;
    memset(visit->first_child, 0xff, size);
    visit->next[TV_ROOT_PATH] = TV_NONE;
    for (uint32_t i = tree->count; i-- > 1;) {
        uint32_t parent = tree->parent[i];
        visit->next[i] = visit->first_child[parent];
        visit->first_child[parent] = i;
    }
}

void tree_visit_release(struct tree_visit *visit)
{
    tv_pages_free(visit->first_child, 2 * tv_size_mul(visit->tree->count, sizeof(uint32_t)));
    tv_free(visit->active);
}
