/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change_flame.c - the paths of a comparison as a flame graph (change_flame.h).
 *
 *     rows of the table    0 main   1 main>parse   2 main>draw       a parent before its children
 *     nodes of the graph   1        2              3                 0 is the root
 *
 * The layout is that of every other flame graph (tv_flame_of_nodes); only its numbers differ.  A
 * row that the comparison left out, as it is too small, has no place in it (`place`) and no width.
 */
#include "analysis/compare/change_flame.h"

#include <assert.h>
#include <math.h>

#include "base/bytes.h"
#include "base/memory.h"

enum tv_change_verdict tv_comparison_verdict(const struct tv_comparison *comparison,
                                             const struct tv_compared_row *row)
{
    const struct tv_run_row *named = &comparison->table->rows[row->row];
    if (!named->in_base)
        return tv_comparison_has_all(comparison, named, TV_RUN_NEW) ? TV_VERDICT_APPEARED
                                                                    : TV_VERDICT_UNSURE;
    if (!named->in_new)
        return tv_comparison_has_all(comparison, named, TV_RUN_BASE) ? TV_VERDICT_VANISHED
                                                                     : TV_VERDICT_UNSURE;
    double change = tv_comparison_change(comparison, row).change;
    if (!row->tested || change == 0 || (comparison->can_test && row->p >= TV_VERDICT_P))
        return TV_VERDICT_UNSURE;
    return change > 0 ? TV_VERDICT_MORE : TV_VERDICT_LESS;
}

/* Return a row's own time, or weight, in both sides' larger one or in one side. */
static int64_t change_flame_own(const struct tv_comparison *comparison,
                                const struct tv_run_row *row, enum tv_change_width width)
{
    double base = fabs(tv_comparison_median(comparison, row, TV_RUN_BASE, TV_FIGURE_EXCL));
    double fresh = fabs(tv_comparison_median(comparison, row, TV_RUN_NEW, TV_FIGURE_EXCL));
    double own = width == TV_WIDTH_BASE ? base : fresh;
    if (width == TV_WIDTH_LARGER && base > fresh)
        own = base;
    return own < 9e18 ? (int64_t)own : INT64_MAX;
}

/* Node i + 1 of the graph is row i of the table. */
static int change_flame_compare(const void *of, uint32_t a, uint32_t b)
{
    return tv_run_row_compare(of, a - 1, b - 1);
}

void tv_change_flame_init(struct tv_change_flame *graph, const struct tv_comparison *comparison,
                          enum tv_change_width width, double min_share)
{
    const struct tv_run_table *table = comparison->table;
    uint32_t rows = table->row_count;
    assert(table->by == TV_ROWS_BY_PATH);
    uint32_t *parent = tv_alloc((size_t)rows + 1, sizeof *parent);
    int64_t *self = tv_alloc((size_t)rows + 1, sizeof *self);
    *graph = (struct tv_change_flame){.comparison = comparison};
    graph->place = tv_alloc(rows, sizeof *graph->place);
    for (uint32_t i = 0; i < rows; i++) {
        graph->place[i] = TV_NONE;
        parent[i + 1] = table->rows[i].parent;
    }
    for (uint32_t i = 0; i < comparison->count; i++) {
        uint32_t row = comparison->rows[i].row;
        graph->place[row] = i;
        self[row + 1] = change_flame_own(comparison, &table->rows[row], width);
    }
    struct tv_flame_nodes nodes = {rows + 1, parent, self, change_flame_compare, table};
    struct tv_flame_options options = {
        .order = TV_FLAME_BY_NAME, .root = TV_ROOT_PATH, .min_share = min_share};
    graph->flame = tv_flame_of_nodes(&nodes, &options);
    for (uint32_t i = 0; i < graph->flame->count; i++)
        graph->flame->frames[i].frame = graph->flame->frames[i].path - 1;
    tv_free(self);
    tv_free(parent);
}

void tv_change_flame_init_bounded(struct tv_change_flame *graph,
                                  const struct tv_comparison *comparison,
                                  enum tv_change_width width, double min_share, uint32_t most)
{
    tv_change_flame_init(graph, comparison, width, min_share);
    while (graph->flame->count > most && min_share < 1) {
        tv_change_flame_release(graph);
        min_share *= 2;
        tv_change_flame_init(graph, comparison, width, min_share);
    }
}

void tv_change_flame_release(struct tv_change_flame *graph)
{
    tv_flame_free(graph->flame);
    tv_free(graph->place);
    *graph = (struct tv_change_flame){.flame = NULL};
}
