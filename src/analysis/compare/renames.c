/* SPDX-License-Identifier: Apache-2.0 */
/* renames.c - pairs of a method that only base runs have and one that only new runs have. */
#include "analysis/compare/comparison.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"

/* Methods that one side lacks, and that have the same class and signature, or the same callees. */
struct rename_group {
    uint32_t old_count, new_count;
    struct tv_rename rows; /* the last of each */
};

struct rename_groups {
    struct rename_group *groups;
    size_t count, capacity;
    struct tv_map numbers; /* key -> group */
};

static void rename_groups_init(struct rename_groups *groups)
{
    *groups = (struct rename_groups){.groups = NULL};
    tv_map_init(&groups->numbers);
}

static void rename_groups_release(struct rename_groups *groups)
{
    tv_map_release(&groups->numbers);
    tv_free(groups->groups);
}

/* Add a row of the table to the group of a key. */
static void rename_groups_add(struct rename_groups *groups, uint64_t key,
                              const struct tv_run_table *table, uint32_t number, bool by_callees)
{
    groups->groups = tv_array_reserve(groups->groups, &groups->capacity, groups->count + 1,
                                      sizeof *groups->groups);
    uint32_t at = tv_map_add(&groups->numbers, key, (uint32_t)groups->count);
    if (at == groups->count)
        groups->groups[groups->count++] =
            (struct rename_group){0, 0, {TV_NONE, TV_NONE, by_callees}};
    struct rename_group *group = &groups->groups[at];
    if (table->rows[number].in_base) {
        group->old_count++;
        group->rows.old = number;
    } else {
        group->new_count++;
        group->rows.fresh = number;
    }
}

/* Append the groups that have one method of each side. */
static size_t rename_groups_append(const struct rename_groups *groups, struct tv_rename *renames,
                                   size_t count)
{
    for (size_t i = 0; i < groups->count; i++)
        if (groups->groups[i].old_count == 1 && groups->groups[i].new_count == 1)
            renames[count++] = groups->groups[i].rows;
    return count;
}

/* Is it a row that all runs of one side have and none of the other? */
static bool rename_is_lone(const struct tv_comparison *comparison, const struct tv_run_row *row)
{
    return row->in_base != row->in_new &&
           tv_comparison_has_all(comparison, row, row->in_base ? TV_RUN_BASE : TV_RUN_NEW);
}

/* Group methods by class and signature. */
static void rename_group_by_class(struct rename_groups *groups,
                                  const struct tv_comparison *comparison)
{
    const struct tv_run_table *table = comparison->table;
    for (uint32_t i = 0; i < comparison->count; i++) {
        uint32_t number = comparison->rows[i].row;
        const struct tv_run_row *row = &table->rows[number];
        if (!rename_is_lone(comparison, row))
            continue;
        bool of_old = table->new_program != 0 && row->class_name == table->old_program;
        uint64_t class_name = of_old ? table->new_program : row->class_name;
        rename_groups_add(groups, class_name << 32 | row->signature, table, number, false);
    }
}

static int rename_compare_callees(const void *left, const void *right)
{
    const struct tv_run_callee *a = left, *b = right;
    if (a->row != b->row)
        return a->row > b->row ? 1 : -1;
    return (a->callee > b->callee) - (a->callee < b->callee);
}

/* Return a key of the callees of each row; 0: none is known.  `callees` are sorted. */
static uint64_t *rename_list_keys(const struct tv_run_table *table,
                                  const struct tv_run_callee *callees)
{
    uint64_t *keys = tv_alloc(table->row_count, sizeof *keys);
    for (size_t i = 0; i < table->callee_count; i++) {
        uint64_t *key = &keys[callees[i].row];
        *key = tv_hash_u64(*key ^ (uint64_t)callees[i].callee << 1) | 1;
    }
    return keys;
}

/* Group methods that have no partner yet by their callees. */
static void rename_group_by_callees(struct rename_groups *groups,
                                    const struct tv_comparison *comparison,
                                    const struct tv_rename *renames, size_t count)
{
    const struct tv_run_table *table = comparison->table;
    if (table->callee_count == 0)
        return;
    struct tv_run_callee *callees = tv_alloc(table->callee_count, sizeof *callees);
    memcpy(callees, table->callees, table->callee_count * sizeof *callees);
    qsort(callees, table->callee_count, sizeof *callees, rename_compare_callees);
    uint64_t *keys = rename_list_keys(table, callees);
    for (size_t i = 0; i < count; i++)
        keys[renames[i].old] = keys[renames[i].fresh] = 0;
    for (uint32_t i = 0; i < comparison->count; i++) {
        uint32_t number = comparison->rows[i].row;
        if (keys[number] != 0 && rename_is_lone(comparison, &table->rows[number]))
            rename_groups_add(groups, keys[number], table, number, true);
    }
    tv_free(keys);
    tv_free(callees);
}

struct tv_rename *tv_renames_suggest(const struct tv_comparison *comparison, size_t *count)
{
    struct rename_groups by_class, by_callees;
    *count = 0;
    if (comparison->table->by != TV_ROWS_BY_METHOD)
        return NULL;
    rename_groups_init(&by_class);
    rename_groups_init(&by_callees);
    rename_group_by_class(&by_class, comparison);
    struct tv_rename *renames = tv_alloc(comparison->count, sizeof *renames);
    *count = rename_groups_append(&by_class, renames, 0);
    rename_group_by_callees(&by_callees, comparison, renames, *count);
    *count = rename_groups_append(&by_callees, renames, *count);
    rename_groups_release(&by_callees);
    rename_groups_release(&by_class);
    return renames;
}
