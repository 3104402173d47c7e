/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes.c - the statistics of changes.h.
 *
 *     logs [row][run] --clean--> without the common factor --moderate--> t, interval, degrees
 *                        |
 *                        '--relabel--> p of each row among all rows
 *
 * Logarithms turn factors into sums: a machine that is 3 % slower adds the same to every row, and
 * the spread of small and of large rows becomes comparable.
 *
 * Cleaning.  g[run] is the median over the rows of (log - mean of the row).  A row feels it with a
 * loading b, fitted by least squares and drawn towards 1 by as much as the fit is uncertain:
 *
 *     y' = y - (1 + w (b - 1)) g,    w = tau2 / (tau2 + s2 / sum g^2)
 *
 * Prior.  The logarithms of the rows' variances spread as those of a scaled F distribution (Smyth
 * 2004, "Linear models and empirical Bayes methods"); a trimmed mean and a range of quantiles give
 * its middle s0^2 and its degrees d0, so that a few wild rows do not count.
 *
 * Relabeling.  Step-down max t of Westfall and Young, over all ways to choose the new runs, or over
 * 1,000 drawn with a fixed seed.  Its variances come from all runs together, so labels do not touch
 * the prior.
 *
 * With fewer than FEW_ROWS rows neither the common factor nor the prior can be told from the
 * changes themselves: nothing is taken off, and each row has its own variance.
 */
#include "analysis/compare/changes.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare/distribution.h"
#include "base/memory.h"
#include "base/sort.h"

#define FEW_ROWS 5u
#define FEW_VALUES 32u /* a call of qsort would take longer than sorting them */
#define RELABELINGS 1000u
#define MIN_RELABELINGS 200u
#define MIN_VARIANCE 1e-12
#define MIN_SPREAD 0.01
#define MEDIAN_TO_VARIANCE 2.2
#define MAX_PRIOR_FREEDOM 200.0
/* Width of the 10 to 90 % range of a normal distribution, in standard deviations. */
#define RANGE_80 2.563

static int changes_compare_doubles(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static void changes_sort(double *values, size_t count)
{
    if (count <= FEW_VALUES)
        TV_SORT_FEW(values, count);
    else
        qsort(values, count, sizeof *values, changes_compare_doubles);
}

/* Return the quantile of sorted values, interpolated between neighbours. */
static double changes_quantile(const double *sorted, size_t count, double share)
{
    assert(count > 0);
    double place = share * (double)(count - 1);
    size_t below = (size_t)place;
    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + (place - (double)below) * (sorted[below + 1] - sorted[below]);
}

/* Return the mean; 0 of no values. */
static double changes_mean(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return count > 0 ? sum / (double)count : 0;
}

double tv_changes_median(double *values, size_t count)
{
    changes_sort(values, count);
    return changes_quantile(values, count, 0.5);
}

/* ---- The common factor ---- */

/* Compute the median over rows of the difference to each row's mean, centred. */
static void changes_find_factor(const double *logs, uint32_t rows, uint32_t runs, double *factor)
{
    double *means = tv_alloc(rows, sizeof *means), *column = tv_alloc(rows, sizeof *column);
    for (uint32_t row = 0; row < rows; row++)
        means[row] = changes_mean(logs + (size_t)row * runs, runs);
    for (uint32_t run = 0; run < runs; run++) {
        for (uint32_t row = 0; row < rows; row++)
            column[row] = logs[(size_t)row * runs + run] - means[row];
        changes_sort(column, rows);
        factor[run] = changes_quantile(column, rows, 0.5);
    }
    double middle = changes_mean(factor, runs);
    for (uint32_t run = 0; run < runs; run++)
        factor[run] -= middle;
    tv_free(means);
    tv_free(column);
}

/* Least squares of a row's differences to its mean on the factor. */
struct loading_fit {
    double slope;
    double uncertainty; /* residual variance / sum of squares of the factor */
};

static struct loading_fit changes_fit_loading(const double *logs, uint32_t runs,
                                              const double *factor, double squares)
{
    double mean = changes_mean(logs, runs), product = 0, residual = 0;
    for (uint32_t run = 0; run < runs; run++)
        product += (logs[run] - mean) * factor[run];
    double slope = product / squares;
    for (uint32_t run = 0; run < runs; run++) {
        double left = logs[run] - mean - slope * factor[run];
        residual += left * left;
    }
    return (struct loading_fit){slope, residual / (runs - 2) / squares};
}

void tv_changes_clean(double *logs, uint32_t rows, uint32_t runs, double *factor)
{
    memset(factor, 0, runs * sizeof *factor);
    if (rows < FEW_ROWS || runs < 3)
        return;
    changes_find_factor(logs, rows, runs, factor);
    double squares = 0;
    for (uint32_t run = 0; run < runs; run++)
        squares += factor[run] * factor[run];
    squares = squares > MIN_VARIANCE ? squares : MIN_VARIANCE;
    struct loading_fit *fits = tv_alloc(rows, sizeof *fits);
    double *excess = tv_alloc(rows, sizeof *excess);
    for (uint32_t row = 0; row < rows; row++) {
        fits[row] = changes_fit_loading(logs + (size_t)row * runs, runs, factor, squares);
        excess[row] = (fits[row].slope - 1) * (fits[row].slope - 1) - fits[row].uncertainty;
    }
    changes_sort(excess, rows);
    double spread = changes_quantile(excess, rows, 0.5) * MEDIAN_TO_VARIANCE;
    spread = spread > MIN_SPREAD ? spread : MIN_SPREAD;
    for (uint32_t row = 0; row < rows; row++) {
        double trust = spread / (spread + fits[row].uncertainty);
        double loading = 1 + trust * (fits[row].slope - 1);
        for (uint32_t run = 0; run < runs; run++)
            logs[(size_t)row * runs + run] -= loading * factor[run];
    }
    tv_free(excess);
    tv_free(fits);
}

/* ---- The prior ---- */

/* A prior for the variance of a row: worth `freedom` observations of `variance`. */
struct variance_prior {
    double variance, freedom;
};

/* Estimate the prior of variances that have `freedom` degrees each. */
static struct variance_prior changes_find_prior(const double *variances, uint32_t count,
                                                double freedom)
{
    if (count < FEW_ROWS || freedom <= 0)
        return (struct variance_prior){0, 0};
    double *logs = tv_alloc(count, sizeof *logs);
    for (uint32_t i = 0; i < count; i++) {
        double variance = variances[i] > MIN_VARIANCE ? variances[i] : MIN_VARIANCE;
        logs[i] = log(variance) - tv_digamma(freedom / 2) + log(freedom / 2);
    }
    changes_sort(logs, count);
    uint32_t trimmed = count / 10;
    double mean = changes_mean(logs + trimmed, count - 2 * (size_t)trimmed);
    double width =
        (changes_quantile(logs, count, 0.9) - changes_quantile(logs, count, 0.1)) / RANGE_80;
    double extra = width * width - tv_trigamma(freedom / 2);
    tv_free(logs);
    double prior_freedom = extra > MIN_SPREAD ? 2 * tv_trigamma_inverse(extra) : MAX_PRIOR_FREEDOM;
    return (struct variance_prior){
        exp(mean + tv_digamma(prior_freedom / 2) - log(prior_freedom / 2)), prior_freedom};
}

/* ---- The moderated t ---- */

/* Means of a row's base and new runs, and the sum of squares around them. */
struct side_sums {
    double base_mean, new_mean, squares;
};

/* Return means of logarithms per side and the sum of squares around them. Two passes: sums of
 * squares minus squared sums would lose the digits in which equal runs differ. */
static struct side_sums changes_sum_row(const double *logs, const uint8_t *is_new, uint32_t runs)
{
    double sums[2] = {0, 0};
    uint32_t counts[2] = {0, 0};
    struct side_sums row = {0, 0, 0};
    for (uint32_t run = 0; run < runs; run++) {
        sums[is_new[run]] += logs[run];
        counts[is_new[run]]++;
    }
    row.base_mean = sums[0] / counts[0];
    row.new_mean = sums[1] / counts[1];
    for (uint32_t run = 0; run < runs; run++) {
        double off = logs[run] - (is_new[run] ? row.new_mean : row.base_mean);
        row.squares += off * off;
    }
    return row;
}

/* The history runs' own variance of a row, within sessions. */
struct history_variance {
    double squares, freedom;
};

/* Sum up the squares of a row's history.  Each run is measured against the mean of its session, so
 * a difference between sessions (another day, another build) is no variance; a session of n runs
 * adds n - 1 degrees. */
static struct history_variance changes_vary_history(const double *logs,
                                                    const struct tv_run_matrix *matrix)
{
    struct history_variance found = {0, 0};
    for (uint32_t run = 0; run < matrix->runs; run++) {
        if (matrix->sides[run] != TV_RUN_HISTORY)
            continue;
        double sum = 0, count = 0;
        bool is_first = true;
        for (uint32_t other = 0; other < matrix->runs; other++) {
            if (matrix->sides[other] != TV_RUN_HISTORY ||
                matrix->session[other] != matrix->session[run])
                continue;
            is_first = is_first && other >= run;
            sum += logs[other];
            count++;
        }
        double off = logs[run] - sum / count;
        found.squares += off * off;
        found.freedom += is_first ? 0 : 1;
    }
    return found;
}

/* Copy the columns of base and new runs. */
static double *changes_copy_compared(const struct tv_run_matrix *matrix, const double *logs,
                                     uint32_t runs)
{
    double *copy = tv_alloc((size_t)matrix->rows * runs, sizeof *copy);
    for (uint32_t row = 0; row < matrix->rows; row++)
        for (uint32_t run = 0, to = 0; run < matrix->runs; run++)
            if (matrix->sides[run] != TV_RUN_HISTORY)
                copy[(size_t)row * runs + to++] = logs[(size_t)row * matrix->runs + run];
    return copy;
}

/* Set the 95 % interval from the standard error of the difference. */
static void changes_set_interval(struct tv_change *change, double error)
{
    double reach = change->freedom > 0 ? tv_student_quantile(0.025, change->freedom) * error
                                       : (double)INFINITY;
    change->low = change->difference - reach;
    change->high = change->difference + reach;
}

/* Fill the changes of all rows from logs that are cleaned over all runs, history too. */
static void changes_moderate(struct tv_changes *changes, const struct tv_run_matrix *matrix,
                             const double *logs)
{
    uint32_t rows = matrix->rows, runs = changes->runs;
    double inverse = 1.0 / changes->base_runs + 1.0 / changes->new_runs;
    double *compared = changes_copy_compared(matrix, logs, runs);
    double *variances = tv_alloc(rows, sizeof *variances);
    double freedom = runs - 2.0;
    for (uint32_t row = 0; row < rows; row++) {
        struct side_sums sums =
            changes_sum_row(compared + (size_t)row * runs, changes->is_new, runs);
        struct history_variance history =
            changes_vary_history(logs + (size_t)row * matrix->runs, matrix);
        freedom = runs - 2.0 + history.freedom;
        variances[row] = freedom > 0 ? (sums.squares + history.squares) / freedom : 0;
        changes->of[row].difference = sums.new_mean - sums.base_mean;
    }
    struct variance_prior prior = changes_find_prior(variances, rows, freedom);
    changes->prior_variance = prior.variance;
    changes->prior_freedom = prior.freedom;
    for (uint32_t row = 0; row < rows; row++) {
        struct tv_change *change = &changes->of[row];
        double variance =
            (prior.freedom * prior.variance + freedom * variances[row]) / (prior.freedom + freedom);
        change->freedom = freedom > 0 ? prior.freedom + freedom : 0;
        double error = sqrt((variance > MIN_VARIANCE ? variance : MIN_VARIANCE) * inverse);
        change->t = change->freedom > 0 ? change->difference / error : 0;
        changes_set_interval(change, error);
    }
    tv_free(variances);
    tv_free(compared);
}

void tv_changes_init(struct tv_changes *changes, const struct tv_run_matrix *matrix)
{
    uint32_t rows = matrix->rows;
    *changes = (struct tv_changes){.rows = rows};
    changes->is_new = tv_alloc(matrix->runs, sizeof *changes->is_new);
    for (uint32_t run = 0; run < matrix->runs; run++) {
        if (matrix->sides[run] == TV_RUN_HISTORY)
            continue;
        changes->is_new[changes->runs++] = matrix->sides[run] == TV_RUN_NEW;
        changes->new_runs += matrix->sides[run] == TV_RUN_NEW;
    }
    changes->base_runs = changes->runs - changes->new_runs;
    assert(changes->base_runs > 0 && changes->new_runs > 0);
    changes->of = tv_alloc(rows, sizeof *changes->of);
    changes->factor = tv_alloc(changes->runs, sizeof *changes->factor);
    changes->cleaned = changes_copy_compared(matrix, matrix->logs, changes->runs);
    tv_changes_clean(changes->cleaned, rows, changes->runs, changes->factor);
    if (changes->runs == matrix->runs) {
        changes_moderate(changes, matrix, changes->cleaned);
        return;
    }
    double *all = tv_alloc((size_t)rows * matrix->runs, sizeof *all);
    double *factor = tv_alloc(matrix->runs, sizeof *factor);
    memcpy(all, matrix->logs, (size_t)rows * matrix->runs * sizeof *all);
    tv_changes_clean(all, rows, matrix->runs, factor);
    changes_moderate(changes, matrix, all);
    tv_free(factor);
    tv_free(all);
}

void tv_changes_release(struct tv_changes *changes)
{
    tv_free(changes->is_new);
    tv_free(changes->of);
    tv_free(changes->factor);
    tv_free(changes->cleaned);
    *changes = (struct tv_changes){.rows = 0};
}

double tv_change_p(const struct tv_change *change, enum tv_change_direction direction)
{
    if (change->freedom <= 0)
        return 1;
    if (direction == TV_CHANGE_ANY)
        return 2 * tv_student_tail(fabs(change->t), change->freedom);
    return tv_student_tail(direction == TV_CHANGE_UP ? change->t : -change->t, change->freedom);
}

/* ---- p of many rows ---- */

struct ranked_value {
    double value;
    uint32_t index;
};

static int changes_compare_ranked(const void *left, const void *right)
{
    const struct ranked_value *a = left, *b = right;
    if (a->value != b->value)
        return a->value > b->value ? 1 : -1;
    return (a->index > b->index) - (a->index < b->index);
}

/* Adjust p by Benjamini and Hochberg's method. */
static void changes_adjust_false_discoveries(double *p, uint32_t count)
{
    struct ranked_value *ranked = tv_alloc(count, sizeof *ranked);
    for (uint32_t i = 0; i < count; i++)
        ranked[i] = (struct ranked_value){p[i], i};
    if (count > 0)
        qsort(ranked, count, sizeof *ranked, changes_compare_ranked);
    double least = 1;
    for (uint32_t i = count; i-- > 0;) {
        double adjusted = ranked[i].value * count / (i + 1.0);
        least = adjusted < least ? adjusted : least;
        p[ranked[i].index] = least;
    }
    tv_free(ranked);
}

/* Return the number of ways to choose k of n, at most `most` + 1. */
static uint32_t changes_count_choices(uint32_t n, uint32_t k, uint32_t most)
{
    uint64_t count = 1;
    for (uint32_t i = 1; i <= k; i++) {
        count = count * (n - k + i) / i;
        if (count > most)
            return most + 1;
    }
    return (uint32_t)count;
}

/* Step to the next way to choose, in lexical order. */
static bool changes_next_choice(uint8_t *chosen, uint32_t runs)
{
    uint32_t place = runs, after = 0;
    while (place-- > 1) {
        after += chosen[place];
        if (chosen[place - 1] && !chosen[place])
            break;
    }
    if (place == 0 || place > runs)
        return false;
    chosen[place - 1] = 0;
    for (uint32_t i = place; i < runs; i++)
        chosen[i] = i - place < after + 1;
    return true;
}

/* Shuffle with a fixed generator (splitmix64), so that equal input gives equal output. */
static void changes_shuffle(uint8_t *labels, uint32_t runs, uint64_t *state)
{
    for (uint32_t i = runs; i > 1; i--) {
        uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
        x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
        uint32_t other = (uint32_t)((x ^ x >> 31) % i);
        uint8_t kept = labels[i - 1];
        labels[i - 1] = labels[other];
        labels[other] = kept;
    }
}

/* Rows in the test, with what does not depend on the labels. */
struct relabeling {
    const struct tv_changes *changes;
    const uint32_t *rows;
    uint32_t count;
    enum tv_change_direction direction;
    double *centred; /* [count * runs] logs around their row's mean */
    double *squares; /* [count] */
    struct variance_prior prior;
};

/* Return the statistic of a row when the runs with `is_new` are the new ones. */
static double relabeling_statistic(const struct relabeling *r, uint32_t row, const uint8_t *is_new)
{
    const struct tv_changes *changes = r->changes;
    double n = changes->base_runs, k = changes->new_runs, sum = 0;
    const double *centred = r->centred + (size_t)row * changes->runs;
    for (uint32_t run = 0; run < changes->runs; run++)
        sum += is_new[run] ? centred[run] : 0;
    double difference = sum / k + sum / n; /* the others sum to -sum */
    double within = r->squares[row] - n * k / (n + k) * difference * difference;
    double freedom = n + k - 2;
    double variance = (r->prior.freedom * r->prior.variance + (within > 0 ? within : 0)) /
                      (r->prior.freedom + freedom);
    double t =
        difference / sqrt((variance > MIN_VARIANCE ? variance : MIN_VARIANCE) * (1 / n + 1 / k));
    return r->direction == TV_CHANGE_ANY ? fabs(t) : r->direction == TV_CHANGE_UP ? t : -t;
}

/* Compute what all labelings share: centred logs, their squares, and the prior of variances around
 * the common mean. */
static void relabeling_prepare(struct relabeling *r)
{
    uint32_t runs = r->changes->runs;
    double *variances = tv_alloc(r->count, sizeof *variances);
    r->centred = tv_alloc((size_t)r->count * runs, sizeof *r->centred);
    r->squares = tv_alloc(r->count, sizeof *r->squares);
    for (uint32_t i = 0; i < r->count; i++) {
        const double *logs = r->changes->cleaned + (size_t)r->rows[i] * runs;
        double mean = changes_mean(logs, runs);
        r->squares[i] = 0;
        for (uint32_t run = 0; run < runs; run++) {
            double off = logs[run] - mean;
            r->centred[(size_t)i * runs + run] = off;
            r->squares[i] += off * off;
        }
        variances[i] = r->squares[i] / (runs - 1);
    }
    r->prior = changes_find_prior(variances, r->count, runs - 1.0);
    tv_free(variances);
}

/* Count, for one labeling, the rows whose own statistic the largest of the rows up to them
 * reaches. */
static void relabeling_count(const struct relabeling *r, const struct ranked_value *ranked,
                             const uint8_t *is_new, uint32_t *reached)
{
    double largest = -(double)INFINITY;
    for (uint32_t i = 0; i < r->count; i++) {
        double t = relabeling_statistic(r, ranked[i].index, is_new);
        largest = t > largest ? t : largest;
        reached[i] += largest >= ranked[i].value - 1e-12;
    }
}

/* Count over all labelings, or over RELABELINGS of them with the true one first. */
static uint32_t relabeling_count_all(const struct relabeling *r, const struct ranked_value *ranked,
                                     uint32_t *reached)
{
    const struct tv_changes *changes = r->changes;
    uint32_t ways = changes_count_choices(changes->runs, changes->new_runs, RELABELINGS);
    uint8_t *labels = tv_alloc(changes->runs, sizeof *labels);
    uint32_t done = 0;
    if (ways <= RELABELINGS) {
        for (uint32_t i = 0; i < changes->runs; i++)
            labels[i] = i < changes->new_runs;
        do
            relabeling_count(r, ranked, labels, reached), done++;
        while (changes_next_choice(labels, changes->runs));
        assert(done == ways);
    } else {
        uint64_t state = 20261123;
        memcpy(labels, changes->is_new, changes->runs);
        for (; done < RELABELINGS; done++) {
            relabeling_count(r, ranked, labels, reached);
            changes_shuffle(labels, changes->runs, &state);
        }
    }
    tv_free(labels);
    return done;
}

void tv_changes_relabel(const struct tv_changes *changes, const uint32_t *rows, uint32_t count,
                        enum tv_change_direction direction, double *p)
{
    for (uint32_t i = 0; i < count; i++)
        p[i] = 0;
    if (count == 0 ||
        changes_count_choices(changes->runs, changes->new_runs, RELABELINGS) < MIN_RELABELINGS)
        return;
    struct relabeling r = {changes, rows, count, direction, NULL, NULL, {0, 0}};
    relabeling_prepare(&r);
    struct ranked_value *ranked = tv_alloc(count, sizeof *ranked);
    uint32_t *reached = tv_alloc(count, sizeof *reached);
    for (uint32_t i = 0; i < count; i++)
        ranked[i] = (struct ranked_value){relabeling_statistic(&r, i, changes->is_new), i};
    qsort(ranked, count, sizeof *ranked, changes_compare_ranked);
    double ways = relabeling_count_all(&r, ranked, reached), most = 0;
    for (uint32_t i = count; i-- > 0;) {
        double share = reached[i] / ways;
        most = share > most ? share : most; /* step down: no row before one with a larger t */
        p[ranked[i].index] = most;
    }
    tv_free(reached);
    tv_free(ranked);
    tv_free(r.centred);
    tv_free(r.squares);
}

void tv_changes_discover(const struct tv_changes *changes, const uint32_t *rows, uint32_t count,
                         enum tv_change_direction direction, double *p)
{
    for (uint32_t i = 0; i < count; i++) {
        assert(rows[i] < changes->rows);
        p[i] = tv_change_p(&changes->of[rows[i]], direction);
    }
    changes_adjust_false_discoveries(p, count);
}

void tv_changes_adjust(const struct tv_changes *changes, const uint32_t *rows, uint32_t count,
                       enum tv_change_direction direction, double *p)
{
    double *relabeled = tv_alloc(count, sizeof *relabeled);
    tv_changes_discover(changes, rows, count, direction, p);
    tv_changes_relabel(changes, rows, count, direction, relabeled);
    for (uint32_t i = 0; i < count; i++)
        p[i] = relabeled[i] > p[i] ? relabeled[i] : p[i];
    tv_free(relabeled);
}

/* ---- The total, and planning ---- */

struct tv_change tv_change_by_welch(const double *logs, const uint8_t *is_new, uint32_t runs)
{
    double sums[2] = {0, 0}, squares[2] = {0, 0}, counts[2] = {0, 0}, shares[2];
    struct tv_change change = {0, 0, 0, 0, 0};
    for (uint32_t run = 0; run < runs; run++) {
        sums[is_new[run]] += logs[run];
        counts[is_new[run]]++;
    }
    assert(counts[0] > 0 && counts[1] > 0);
    for (uint32_t run = 0; run < runs; run++) {
        double off = logs[run] - sums[is_new[run]] / counts[is_new[run]];
        squares[is_new[run]] += off * off;
    }
    change.difference = sums[1] / counts[1] - sums[0] / counts[0];
    bool can_test = counts[0] > 1 && counts[1] > 1;
    for (int side = 0; side < 2; side++)
        shares[side] = can_test ? squares[side] / (counts[side] - 1) / counts[side] : 0;
    double variance = shares[0] + shares[1];
    if (can_test) {
        double spread =
            shares[0] * shares[0] / (counts[0] - 1) + shares[1] * shares[1] / (counts[1] - 1);
        change.freedom = spread > 1e-30 ? variance * variance / spread : counts[0] + counts[1] - 2;
        change.freedom = change.freedom > 1 ? change.freedom : 1;
    }
    double error = sqrt(variance > MIN_VARIANCE ? variance : MIN_VARIANCE);
    change.t = can_test ? change.difference / error : 0;
    changes_set_interval(&change, error);
    return change;
}

/* Return the share of a row's change that is left by the common factor.  The factor is fitted to
 * each row without a look at the sides, so the fit takes one of the 2 * runs - 1 degrees of freedom
 * that the change is in. */
static double change_share_left(const struct tv_changes *changes, uint32_t runs)
{
    bool is_cleaned = changes->rows >= FEW_ROWS && 2 * runs >= 3;
    return is_cleaned ? 1 - 1 / (2.0 * runs - 1) : 1;
}

double tv_change_detectable(const struct tv_changes *changes, uint32_t row, uint32_t rows,
                            uint32_t runs, double alpha)
{
    assert(row < changes->rows && rows > 0 && runs > 0);
    const struct tv_change *change = &changes->of[row];
    if (change->freedom <= 0)
        return (double)INFINITY;
    double half = tv_student_quantile(0.025, change->freedom);
    double error = (change->high - change->difference) / half; /* with the runs that there are */
    double now = 1.0 / changes->base_runs + 1.0 / changes->new_runs;
    double freedom = change->freedom - (changes->runs - 2.0) + 2.0 * runs - 2.0;
    if (freedom <= 0)
        return (double)INFINITY;
    double then = error * sqrt(2.0 / runs / now) / change_share_left(changes, runs);
    return exp((tv_student_quantile(alpha / rows, freedom) + tv_student_quantile(0.2, freedom)) *
               then) -
           1;
}

uint32_t tv_change_runs_needed(const struct tv_changes *changes, uint32_t row, uint32_t rows,
                               double change, double alpha)
{
    uint32_t few = 1, enough = 2;
    while (!(tv_change_detectable(changes, row, rows, enough, alpha) <= change)) {
        if (enough == TV_MAX_PLANNED_RUNS)
            return 0;
        few = enough;
        enough = 2 * few < TV_MAX_PLANNED_RUNS ? 2 * few : TV_MAX_PLANNED_RUNS;
    }
    while (enough - few > 1) {
        uint32_t runs = few + (enough - few) / 2;
        if (tv_change_detectable(changes, row, rows, runs, alpha) <= change)
            enough = runs;
        else
            few = runs;
    }
    return enough;
}
