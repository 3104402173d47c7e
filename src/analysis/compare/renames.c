/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/compare/renames.h"

#include "base/bytes.h"
#include "base/memory.h"

/* Methods of one class and signature that one side lacks. */
struct rename_group {
    uint32_t old_count, new_count;
    struct tv_rename rows; /* the last of each */
};

/* Is it a row that all runs of one side have and none of the other? */
static bool rename_is_lone(const struct tv_comparison *comparison, const struct tv_run_row *row)
{
    return row->in_base != row->in_new &&
           tv_comparison_has_all(comparison, row, row->in_base ? TV_RUN_BASE : TV_RUN_NEW);
}

static void rename_group_add(struct rename_group *group, const struct tv_run_row *row,
                             uint32_t number)
{
    if (row->in_base) {
        group->old_count++;
        group->rows.old = number;
    } else {
        group->new_count++;
        group->rows.fresh = number;
    }
}

struct tv_rename *tv_renames_suggest(const struct tv_comparison *comparison, size_t *count)
{
    const struct tv_run_table *table = comparison->table;
    struct rename_group *groups = NULL;
    size_t capacity = 0, group_count = 0;
    struct tv_map numbers; /* (class, signature) -> group */
    tv_map_init(&numbers);
    *count = 0;
    for (uint32_t i = 0; i < comparison->count && table->by == TV_ROWS_BY_METHOD; i++) {
        uint32_t number = comparison->rows[i].row;
        const struct tv_run_row *row = &table->rows[number];
        if (!rename_is_lone(comparison, row))
            continue;
        bool of_old = table->new_program != 0 && row->class_name == table->old_program;
        uint64_t class_name = of_old ? table->new_program : row->class_name;
        groups = tv_array_reserve(groups, &capacity, group_count + 1, sizeof *groups);
        uint32_t at =
            tv_map_add(&numbers, class_name << 32 | row->signature, (uint32_t)group_count);
        if (at == group_count)
            groups[group_count++] = (struct rename_group){0, 0, {TV_NONE, TV_NONE}};
        rename_group_add(&groups[at], row, number);
    }
    struct tv_rename *renames = tv_alloc(group_count, sizeof *renames);
    for (size_t i = 0; i < group_count; i++)
        if (groups[i].old_count == 1 && groups[i].new_count == 1)
            renames[(*count)++] = groups[i].rows;
    tv_free(groups);
    tv_map_release(&numbers);
    return renames;
}
