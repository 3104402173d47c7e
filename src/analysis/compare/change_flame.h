/* SPDX-License-Identifier: Apache-2.0 */
/*
 * change_flame.h - the differential flame graph of a comparison by path: one graph with the call
 * paths of both sides.
 *
 *     base   main;parse 10, main;old 4         a frame's own width is that of the larger side (or
 *     new    main;parse 12, main;new 2         of one side); it is as wide as that and all frames
 *     both   main;parse 12, main;old 4,        on it.  So what is gone keeps its place, and the
 *            main;new 2: main is 18 wide       whole may be wider than both totals.
 */
#ifndef TV_ANALYSIS_COMPARE_CHANGE_FLAME_H
#define TV_ANALYSIS_COMPARE_CHANGE_FLAME_H

#include "analysis/compare/comparison.h"
#include "analysis/flame/flame.h"

/* The side that widths are of. */
enum tv_change_width {
    TV_WIDTH_LARGER,
    TV_WIDTH_BASE,
    TV_WIDTH_NEW,
};

struct tv_change_flame {
    const struct tv_comparison *comparison;
    struct tv_flame *flame; /* `frame` of its frames is a row of the comparison's table */
    uint32_t *place;        /* [row_count] of the row among comparison->rows, or TV_NONE */
};

/* Lay out a comparison of rows by path, which must outlive the graph.  Frames narrower than
 * `min_share` of the whole are left out. */
void tv_change_flame_init(struct tv_change_flame *graph, const struct tv_comparison *comparison,
                          enum tv_change_width width, double min_share);
/* Lay out a comparison with at most `most` frames.  If there are more, wider ones are left out,
 * too. */
void tv_change_flame_init_bounded(struct tv_change_flame *graph,
                                  const struct tv_comparison *comparison,
                                  enum tv_change_width width, double min_share, uint32_t most);
void tv_change_flame_release(struct tv_change_flame *graph);

/* The direction of a row's change, and how sure it is. */
enum tv_change_verdict {
    TV_VERDICT_UNSURE,   /* not tested, or p is not small; or only in some runs of one side */
    TV_VERDICT_MORE,     /* the figure grew */
    TV_VERDICT_LESS,     /* it shrank */
    TV_VERDICT_APPEARED, /* in every new run and in no base run */
    TV_VERDICT_VANISHED, /* in every base run and in no new run */
};

/* A change with a larger p is not sure. */
#define TV_VERDICT_P 0.05

/* Return the verdict on a row.  With one run on a side, every difference of a row of the least
 * share counts: nothing tells whether it is noise. */
enum tv_change_verdict tv_comparison_verdict(const struct tv_comparison *comparison,
                                             const struct tv_compared_row *row);

#endif
