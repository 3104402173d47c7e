/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes.h - what changed between two groups of runs, and how sure that is.
 *
 * The unit of evidence is the run, never the call: calls of one run depend on each other.  A row is
 * a method (or a path, a class, ...), a column is a run, a value is the logarithm of the row's
 * figure in that run.
 *
 *     logs     base 1  base 2  ... | new 1  new 2  ... | history 1 ...
 *     parse      7.01    7.03      |  7.11   7.13      |   7.02
 *     draw       5.20    5.19      |  5.21   5.18      |   5.20
 *
 *     clean    take off what all rows of a run have in common (load, frequency), without
 *              looking at the sides, by as much as each row feels it
 *     change   difference of means, with a moderated t: the variances of all rows help each other
 *     p        the larger of Benjamini-Hochberg over the rows that are looked at, and of the
 *              relabeled max t: how often the largest t is as large when runs change sides
 *
 * docs/compare.md explains the choice and tells how often it is wrong.
 */
#ifndef TV_ANALYSIS_COMPARE_CHANGES_H
#define TV_ANALYSIS_COMPARE_CHANGES_H

#include "base/types.h"

enum tv_run_side {
    TV_RUN_BASE,
    TV_RUN_NEW,
    TV_RUN_HISTORY, /* an older run of the base: tells only how much runs vary */
};

struct tv_run_matrix {
    uint32_t rows, runs;
    const double *logs;      /* [rows * runs], row by row */
    const uint8_t *sides;    /* [runs] enum tv_run_side */
    const uint32_t *session; /* [runs] number of the session of a history run */
};

/* The change of a row. */
struct tv_change {
    double difference; /* of the means of cleaned logs, new - base */
    double low, high;  /* 95 % interval of the difference; infinite with one run a side */
    double t, freedom; /* moderated t and its degrees of freedom; freedom 0: no test is possible */
};

struct tv_changes {
    uint32_t rows, runs; /* base and new runs only, in the order of the matrix */
    uint32_t base_runs, new_runs;
    uint8_t *is_new;      /* [runs] */
    struct tv_change *of; /* [rows] */
    double *factor;       /* [runs] common factor, as a logarithm */
    double *cleaned;      /* [rows * runs] */
    double prior_variance, prior_freedom;
};

enum tv_change_direction {
    TV_CHANGE_ANY,
    TV_CHANGE_UP,
    TV_CHANGE_DOWN,
};

/* Take what all rows of a run have in common off `logs` [rows * runs], which `factor` [runs]
 * becomes.  Few rows or runs are left as they are. */
void tv_changes_clean(double *logs, uint32_t rows, uint32_t runs, double *factor);

/* Sort the values, of which there is at least one, and return their median. */
double tv_changes_median(double *values, size_t count);

/* Compute the changes of all rows; each side has at least one run. */
void tv_changes_init(struct tv_changes *changes, const struct tv_run_matrix *matrix);
void tv_changes_release(struct tv_changes *changes);

/* p[i] becomes that of a change of rows[i] in the direction, adjusted for all `count` rows: by
 * false discoveries (Benjamini-Hochberg), and by relabeling, 0 where there are too few runs for
 * that.  1 where no test is possible. */
void tv_changes_discover(const struct tv_changes *changes, const uint32_t *rows, uint32_t count,
                         enum tv_change_direction direction, double *p);
void tv_changes_relabel(const struct tv_changes *changes, const uint32_t *rows, uint32_t count,
                        enum tv_change_direction direction, double *p);

/* The larger of the two. */
void tv_changes_adjust(const struct tv_changes *changes, const uint32_t *rows, uint32_t count,
                       enum tv_change_direction direction, double *p);

/* p of one row alone. */
double tv_change_p(const struct tv_change *change, enum tv_change_direction direction);

/* Welch's t test of two groups of logs, for the total: nothing is taken off. */
struct tv_change tv_change_by_welch(const double *logs, const uint8_t *is_new, uint32_t runs);

/* Return the smallest relative change ("0.05") of a row that a test at `alpha` among `rows` rows
 * finds in 8 of 10 cases with that many runs a side. */
double tv_change_detectable(const struct tv_changes *changes, uint32_t row, uint32_t rows,
                            uint32_t runs, double alpha);

/* Return the smallest number of runs a side, from 2 to TV_MAX_PLANNED_RUNS, with which that change
 * is `change` or less; 0: there is none. */
#define TV_MAX_PLANNED_RUNS 9999
uint32_t tv_change_runs_needed(const struct tv_changes *changes, uint32_t row, uint32_t rows,
                               double change, double alpha);

#endif
