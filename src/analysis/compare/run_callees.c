/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_callees.c - the callees of methods that one side lacks, by which renames are suggested
 * (run_table.h).
 *
 * Only callees that both sides have tell something: the others may have been renamed, too.
 */
#include <assert.h>

#include "analysis/compare/run_internal.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "base/out.h"

static bool run_callees_is_lone(const struct tv_run_row *row, bool is_new)
{
    return row->joined == 0 && row->in_new == is_new && row->in_base != is_new;
}

bool tv_run_table_wants_callees(const struct tv_run_table *table)
{
    bool base = false, fresh = false;
    for (uint32_t i = 0; i < table->row_count && table->by == TV_ROWS_BY_METHOD; i++) {
        base = base || run_callees_is_lone(&table->rows[i], false);
        fresh = fresh || run_callees_is_lone(&table->rows[i], true);
    }
    return base && fresh;
}

/* Fill `rows_by_name` with the rows of a side by their names on it.  The table's own index has
 * matched rows by one of their names only. */
static void run_callees_index_names(struct tv_run_table *table, bool is_new,
                                    struct tv_map *rows_by_name)
{
    struct tv_out name;
    tv_out_init_memory(&name);
    for (uint32_t i = 0; i < table->row_count; i++) {
        const struct tv_run_row *row = &table->rows[i];
        if (row->joined > 0 || !(is_new ? row->in_new : row->in_base))
            continue;
        uint32_t string = row->old_name;
        if (is_new || string == TV_EMPTY_STRING) {
            name.length = 0;
            tv_run_row_own_name(&name, table, row);
            string = tv_interner_add(table->strings, (struct tv_bytes){name.buffer, name.length});
        }
        tv_map_set(rows_by_name, tv_hash_u64(string), i);
    }
    tv_out_release(&name);
}

/* Return the row of each frame on a side; TV_NONE: there is none. */
static uint32_t *run_callees_find_frames(struct tv_run_table *table, bool is_new,
                                         const struct tv_trace_info *info)
{
    uint32_t *row_of = tv_alloc(info->frame_count, sizeof *row_of);
    struct tv_map rows_by_name;
    struct tv_out name;
    tv_map_init(&rows_by_name);
    tv_out_init_memory(&name);
    run_callees_index_names(table, is_new, &rows_by_name);
    for (uint32_t frame = 0; frame < info->frame_count; frame++) {
        struct tv_run_row key = tv_run_table_frame_key(table, info, frame);
        name.length = 0;
        tv_run_row_own_name(&name, table, &key);
        uint32_t string =
            tv_interner_find(table->strings, (struct tv_bytes){name.buffer, name.length});
        row_of[frame] =
            string == TV_NONE ? TV_NONE : tv_map_find(&rows_by_name, tv_hash_u64(string));
    }
    tv_out_release(&name);
    tv_map_release(&rows_by_name);
    return row_of;
}

void tv_run_table_learn_callees(struct tv_run_table *table, enum tv_run_side side,
                                const struct tv_call_tree *tree)
{
    bool is_new = side == TV_RUN_NEW;
    uint32_t *row_of = run_callees_find_frames(table, is_new, tree->head);
    struct tv_map seen;
    assert(table->by == TV_ROWS_BY_METHOD);
    tv_map_init(&seen);
    for (uint32_t node = 1; node < tree->count; node++) {
        uint32_t frame = tree->frame[node], parent = tree->parent[node];
        uint32_t above = parent == TV_ROOT_PATH ? TV_NONE : tree->frame[parent];
        if (frame >= TV_THREAD_FRAME || above >= TV_THREAD_FRAME)
            continue;
        uint32_t caller = row_of[above], callee = row_of[frame];
        if (caller == TV_NONE || callee == TV_NONE ||
            !run_callees_is_lone(&table->rows[caller], is_new) || !table->rows[callee].in_base ||
            !table->rows[callee].in_new)
            continue;
        uint64_t edge = tv_hash_u64((uint64_t)caller << 32 | callee);
        if (tv_map_find(&seen, edge) != TV_NONE)
            continue;
        tv_map_set(&seen, edge, 0);
        table->callees = tv_array_reserve(table->callees, &table->callee_capacity,
                                          table->callee_count + 1, sizeof *table->callees);
        table->callees[table->callee_count++] = (struct tv_run_callee){caller, callee};
    }
    tv_map_release(&seen);
    tv_free(row_of);
}
