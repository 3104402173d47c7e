/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comparison.h - the answer to "what changed": the rows of a run table with their figures, changes
 * and probabilities, the total, and what may be promised about them.
 *
 *     run table --> comparison: which rows are tested, their changes, p of any change
 *                     |
 *                     '--> rules (gate.h): which of them fire
 */
#ifndef TV_ANALYSIS_COMPARE_COMPARISON_H
#define TV_ANALYSIS_COMPARE_COMPARISON_H

#include "analysis/compare/run_table.h"

enum tv_run_figure {
    TV_FIGURE_EXCL,
    TV_FIGURE_INCL,
    TV_FIGURE_CALLS,
    TV_FIGURE_MEAN, /* time per call, inclusive */
    TV_FIGURE_P50,  /* this and the following: lengths of calls, as in enum tv_run_length */
    TV_FIGURE_P90,
    TV_FIGURE_P95,
    TV_FIGURE_P99,
    TV_FIGURE_MAX,
    TV_RUN_FIGURES,
};

/* The way times are shown. */
enum tv_compare_scale {
    TV_SCALE_NONE,   /* as they were recorded */
    TV_SCALE_COMMON, /* without the common factor of their run */
    TV_SCALE_TOTAL,  /* as if the total of each run was the median total of the base */
};

/* A row that was compared: a row of the table and its figures.  Times are nanoseconds. */
struct tv_compared_row {
    uint32_t row;     /* in the table */
    uint32_t change;  /* index in the changes, if tested */
    double base, new; /* median of the figure over the runs of the side; 0 where it lacks */
    double share;     /* share of the larger side's median total, by exclusive time */
    uint64_t base_calls, new_calls; /* medians */
    bool exact_calls;               /* calls are counted, and do not vary within a side */
    bool calls_differ;              /* exact, and other on the new side: certain */
    bool tiny; /* recording its calls makes up half or more of its time: that cannot be compared */
    bool inlined;    /* a path that is gone, whose time its caller seems to have now */
    bool tested;     /* it has a change with p */
    double p_raw, p; /* of any change; p is adjusted for all tested rows */
};

struct tv_comparison {
    const struct tv_run_table *table;
    enum tv_run_figure figure;
    bool cpu;    /* times are CPU times */
    bool weighs; /* figures are weights of samples: value and unit are strings of the table */
    uint32_t value, unit;
    enum tv_compare_scale scale;
    double *scales;    /* [runs of the table] what shown times are multiplied by; NULL: nothing */
    double clock_cost; /* the smallest of a reading of the clock that runs state, ns; 0: none */
    bool compensated;  /* that cost was subtracted from the times */
    bool wall_noted;   /* not all runs have a CPU clock: wall times vary more */
    uint32_t base_runs, new_runs, history_runs;
    uint32_t count;
    struct tv_compared_row *rows; /* tested rows by p and size of change, then the others */
    uint32_t tested;
    struct tv_changes changes;    /* changes of the tested rows */
    struct tv_change total;       /* change of all time; not cleaned */
    double base_total, new_total; /* medians, ns */
    bool apart; /* all base runs were recorded before the first new one, or the reverse */
    bool moved; /* one side was recorded on a machine, or after a start of it, that the other lacks
                 */
    bool mixed; /* base and new runs have different formats, which do not count the same things */
    bool obfuscated;    /* a base or new run has names that differ from build to build */
    bool counts;        /* the figures are numbers of samples, which vary by their root at least */
    bool can_test;      /* both sides have at least two runs */
    double least_share; /* of the options */
    bool promises; /* "at most 1 % false alarms" holds: enough runs, not apart, moved or mixed, and
                    names that fit */
};

struct tv_comparison_options {
    enum tv_run_figure figure;
    enum { TV_COMPARE_BEST_CLOCK, TV_COMPARE_WALL, TV_COMPARE_CPU } clock;
    double least_share; /* rows below it in both sides are listed, not tested: 0.0005 */
    enum tv_compare_scale scale;
    unsigned jobs; /* threads to compare many rows with; 0: one */
};

/* Maximum number of rows that are tested: those with the largest figures. */
#define TV_COMPARED_ROWS 20000u

/* Compare the sides of a matched table, which must outlive the result.  Fail when a side has no
 * run, or the runs have no clock in common or measure different things. */
enum tv_status tv_comparison_init(struct tv_comparison *comparison,
                                  const struct tv_run_table *table,
                                  const struct tv_comparison_options *options,
                                  struct tv_error *err) TV_MUST_CHECK;
void tv_comparison_release(struct tv_comparison *comparison);

/* Sort the values, and return their median; 0 if there are none. */
double tv_comparison_middle(double *values, size_t count);

/* Return the logarithm of a figure of a run, as it is tested. */
double tv_comparison_log(const struct tv_comparison *comparison, double value);

/* Return the total of a run on the clock of the comparison. */
double tv_comparison_run_total(const struct tv_comparison *comparison, uint32_t run);

/* Return a figure of a row in a run as it is shown, NAN where the run lacks the row. */
double tv_comparison_value(const struct tv_comparison *comparison, const struct tv_run_row *row,
                           uint32_t run, enum tv_run_figure figure);

/* A relative change, 0.05 for +5 %, and its 95 % interval. */
struct tv_relative_change {
    double change, low, high;
};

/* Return the change of a row: of the means of cleaned logs where it was tested with p, else of the
 * medians, without an interval (NAN).  Infinite for a row without a base. */
struct tv_relative_change tv_comparison_change(const struct tv_comparison *comparison,
                                               const struct tv_compared_row *row);

/* Return the change of the total likewise. */
struct tv_relative_change tv_comparison_total_change(const struct tv_comparison *comparison);

/* Tell whether every run of a side has the row. */
bool tv_comparison_has_all(const struct tv_comparison *comparison, const struct tv_run_row *row,
                           enum tv_run_side side);

/* Return the median over the runs of a side that have the row; 0 if none has. */
double tv_comparison_median(const struct tv_comparison *comparison, const struct tv_run_row *row,
                            enum tv_run_side side, enum tv_run_figure figure);

/* Is there one run on each side, so that only its calls can tell how much times vary? */
static inline bool tv_comparison_is_single(const struct tv_comparison *comparison)
{
    return comparison->base_runs == 1 && comparison->new_runs == 1;
}

/* ---- Methods that may have been renamed: suggestions for --rename (renames.c) ---- */

struct tv_rename {
    uint32_t old, fresh; /* rows of the table */
    bool by_callees;     /* not by class and signature */
};

/* List pairs of a method that all base runs and no new ones have, and of one that all new runs and
 * no base ones have, if they are the only such methods with their class and signature; then, of the
 * others, those that are the only ones with their callees, if these were learnt.  Both are in the
 * order of the comparison's rows.  Free the list with tv_free. */
struct tv_rename *tv_renames_suggest(const struct tv_comparison *comparison, size_t *count);

#endif
