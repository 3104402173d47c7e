/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comparison.c - rows of a table of runs, compared between its two sides.
 *
 *     the runs   same kind and unit? --> clock --> apart, moved, mixed, obfuscated --> promise
 *     the total  Welch's test over the runs, without what rows know
 *     the rows   list: medians, share, calls, tiny, inlined --> tested or not
 *                --> order by name --> the largest shares --> changes.c: change, interval, p
 *                --> scale, if wanted --> order of the results
 *
 * Only rows that every run has, with a value above 0, are tested: logarithms need that, and a row
 * that comes and goes is another question (rules "new" and "gone").  All others are still listed,
 * with their medians.  Tests are limited to TV_COMPARED_ROWS, the largest by share.
 *
 * Everything is in the order of names before it is sorted by results.  So the output depends on the
 * contents of the runs alone, not on the order of the files or on the number of workers.
 *
 * The comparison promises its rate of false alarms only where docs/compare.md allows it
 * (comparison_can_promise).  Where it does not, everything is still computed, and said to be
 * without promise.
 */
#include "analysis/compare/comparison.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/workers.h"

/* Minimum number of runs for the promise of docs/compare.md: of each side; or of each side with a
 * history. */
#define PROMISED_RUNS 5u
#define PROMISED_RUNS_WITH_HISTORY 3u
#define PROMISED_HISTORY 10u

/* Minimum number of samples of a row in each run: fewer vary too much to be tested. */
#define MIN_SAMPLES 20.0

/* Maximum number of workers that list rows, and minimum number of rows for more than one. */
#define MAX_ROW_PARTS 8u
#define MIN_PARTED_ROWS 1000u

/* Values of so many runs need no memory of their own. */
#define FEW_RUNS 64u

/* Return a time of a run as it is shown. */
static double comparison_scaled(const struct tv_comparison *comparison, uint32_t run, double time)
{
    return comparison->scales ? time * comparison->scales[run] : time;
}

/* Return the time of a row in a run, with callees or its own, by the chosen clock. */
static double comparison_time(const struct tv_comparison *comparison, const struct tv_run_row *row,
                              uint32_t run, bool inclusive)
{
    const struct tv_run_figures *figures = tv_run_table_figures(comparison->table, row, run);
    int64_t wall = inclusive ? figures->incl_wall : figures->excl_wall;
    int64_t cpu = inclusive ? figures->incl_cpu : figures->excl_cpu;
    return comparison_scaled(comparison, run, (double)(comparison->cpu ? cpu : wall));
}

/* Return a percentile of the lengths of a row's calls in a run; NAN: unknown. */
static double comparison_length(const struct tv_comparison *comparison,
                                const struct tv_run_row *row, uint32_t run,
                                enum tv_run_length length)
{
    const struct tv_run_lengths *lengths = tv_run_table_lengths(comparison->table, row, run);
    if (!lengths->known)
        return (double)NAN;
    int64_t ns = comparison->cpu ? lengths->cpu[length] : lengths->wall[length];
    return ns >= 0 ? comparison_scaled(comparison, run, (double)ns) : (double)NAN;
}

double tv_comparison_value(const struct tv_comparison *comparison, const struct tv_run_row *row,
                           uint32_t run, enum tv_run_figure figure)
{
    const struct tv_run_figures *figures = tv_run_table_figures(comparison->table, row, run);
    if (!figures->known)
        return (double)NAN;
    switch (figure) {
    case TV_FIGURE_CALLS:
        return (double)figures->calls;
    case TV_FIGURE_MEAN:
        return figures->calls > 0
                   ? comparison_time(comparison, row, run, true) / (double)figures->calls
                   : (double)NAN;
    case TV_FIGURE_EXCL:
    case TV_FIGURE_INCL:
        return comparison_time(comparison, row, run, figure == TV_FIGURE_INCL);
    default:
        return comparison_length(comparison, row, run,
                                 (enum tv_run_length)(figure - TV_FIGURE_P50));
    }
}

double tv_comparison_log(const struct tv_comparison *comparison, double value)
{
    return log(comparison->counts ? value + 0.5 : value);
}

static int comparison_compare_values(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

double tv_comparison_middle(double *values, size_t count)
{
    if (count <= FEW_RUNS)
        TV_SORT_FEW(values, count);
    else
        qsort(values, count, sizeof *values, comparison_compare_values);
    return count == 0 ? 0 : (values[(count - 1) / 2] + values[count / 2]) / 2;
}

double tv_comparison_median(const struct tv_comparison *comparison, const struct tv_run_row *row,
                            enum tv_run_side side, enum tv_run_figure figure)
{
    const struct tv_run_table *table = comparison->table;
    double few[FEW_RUNS];
    double *values =
        table->run_count <= FEW_RUNS ? few : tv_alloc(table->run_count, sizeof *values);
    size_t count = 0;
    for (uint32_t run = 0; run < table->run_count; run++) {
        double value = tv_comparison_value(comparison, row, run, figure);
        if (table->runs[run].side == side && !isnan(value))
            values[count++] = value;
    }
    double median = tv_comparison_middle(values, count);
    if (values != few)
        tv_free(values);
    return median;
}

bool tv_comparison_has_all(const struct tv_comparison *comparison, const struct tv_run_row *row,
                           enum tv_run_side side)
{
    const struct tv_run_table *table = comparison->table;
    for (uint32_t run = 0; run < table->run_count; run++)
        if (table->runs[run].side == side && !tv_run_table_figures(table, row, run)->known)
            return false;
    return true;
}

/* Convert a change of logarithms, with its interval, to a relative one. */
static struct tv_relative_change comparison_of_logs(const struct tv_change *change)
{
    return (struct tv_relative_change){exp(change->difference) - 1, exp(change->low) - 1,
                                       exp(change->high) - 1};
}

/* Return the change between two medians, without an interval: nothing is known about it. */
static struct tv_relative_change comparison_of_medians(double base, double fresh)
{
    double change = base > 0 ? fresh / base - 1 : fresh > 0 ? INFINITY : 0;
    return (struct tv_relative_change){change, (double)NAN, (double)NAN};
}

struct tv_relative_change tv_comparison_change(const struct tv_comparison *comparison,
                                               const struct tv_compared_row *row)
{
    if (row->tested && comparison->can_test)
        return comparison_of_logs(&comparison->changes.of[row->change]);
    return comparison_of_medians(row->base, row->new);
}

struct tv_relative_change tv_comparison_total_change(const struct tv_comparison *comparison)
{
    if (comparison->can_test)
        return comparison_of_logs(&comparison->total);
    return comparison_of_medians(comparison->base_total, comparison->new_total);
}

/* ---- The runs ---- */

/* Count the runs of each side. */
static void comparison_count_runs(struct tv_comparison *comparison)
{
    for (uint32_t run = 0; run < comparison->table->run_count; run++) {
        enum tv_run_side side = comparison->table->runs[run].side;
        comparison->base_runs += side == TV_RUN_BASE;
        comparison->new_runs += side == TV_RUN_NEW;
        comparison->history_runs += side == TV_RUN_HISTORY;
    }
}

/* Find what a reading of the clock costs at least. */
static void comparison_find_clock_cost(struct tv_comparison *comparison)
{
    for (uint32_t run = 0; run < comparison->table->run_count; run++) {
        double cost = (double)comparison->table->runs[run].clock_cost;
        if (cost > 0 && (comparison->clock_cost == 0 || cost < comparison->clock_cost))
            comparison->clock_cost = cost;
        comparison->compensated =
            comparison->compensated || comparison->table->runs[run].compensated;
    }
}

/* Choose the clock: CPU where all runs have it. */
static enum tv_status comparison_choose_clock(struct tv_comparison *comparison,
                                              const struct tv_comparison_options *options,
                                              struct tv_error *err)
{
    unsigned common = TV_CLOCK_WALL | TV_CLOCK_CPU;
    for (uint32_t run = 0; run < comparison->table->run_count; run++)
        common &= comparison->table->runs[run].clocks;
    if (common == 0)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "the runs have no clock in common: their times cannot be compared");
    comparison->cpu = options->clock != TV_COMPARE_WALL && (common & TV_CLOCK_CPU);
    if (options->clock == TV_COMPARE_CPU && !comparison->cpu)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--clock cpu: not all runs have CPU times; record with --clock dual");
    if (!comparison->cpu && !(common & TV_CLOCK_WALL))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--clock wall: not all runs have wall times");
    comparison->wall_noted =
        !comparison->cpu && !comparison->weighs && options->clock == TV_COMPARE_BEST_CLOCK;
    return TV_OK;
}

/* Check that all runs measure the same: times of calls, or samples in one unit. */
static enum tv_status comparison_check_kinds(struct tv_comparison *comparison, struct tv_error *err)
{
    const struct tv_run_table *table = comparison->table;
    const struct tv_run *first = &table->runs[0];
    for (uint32_t run = 1; run < table->run_count; run++) {
        const struct tv_run *r = &table->runs[run];
        if (r->weighs != first->weighs)
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                           "%s has calls and %s has samples: they cannot be compared",
                           r->weighs ? first->name : r->name, r->weighs ? r->name : first->name);
        if (r->weighs && (r->value != first->value || r->unit != first->unit)) {
            bool value = r->value != first->value;
            struct tv_bytes a = tv_run_text(table, value ? first->value : first->unit);
            struct tv_bytes b = tv_run_text(table, value ? r->value : r->unit);
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                           "the samples of %s are %.*s and those of %s %.*s: choose a value that "
                           "both have with --value",
                           first->name, (int)a.length, (const char *)a.data, r->name, (int)b.length,
                           (const char *)b.data);
        }
    }
    comparison->weighs = first->weighs;
    comparison->value = first->value;
    comparison->unit = first->unit;
    comparison->counts = tv_run_counts_samples(table, first);
    return TV_OK;
}

/* Tell whether all base and new runs are of one `record --side`, which numbers its rounds. */
static bool comparison_has_rounds(const struct tv_run_table *table)
{
    uint64_t recording = 0;
    for (uint32_t run = 0; run < table->run_count; run++) {
        const struct tv_run *r = &table->runs[run];
        if (r->side == TV_RUN_HISTORY)
            continue;
        if (r->round == 0 || r->recording == 0 || (recording != 0 && r->recording != recording))
            return false;
        recording = r->recording;
    }
    return true;
}

/* Tell whether all runs of one side were recorded before the first of the other: by their rounds,
 * else by their times. */
static bool comparison_is_apart(const struct tv_run_table *table)
{
    bool rounds = comparison_has_rounds(table);
    int64_t first[2] = {INT64_MAX, INT64_MAX}, last[2] = {INT64_MIN, INT64_MIN};
    for (uint32_t run = 0; run < table->run_count; run++) {
        const struct tv_run *r = &table->runs[run];
        if (r->side == TV_RUN_HISTORY)
            continue;
        int64_t place = rounds ? r->round : r->recorded_us;
        if (place == 0)
            return false; /* unknown */
        first[r->side] = place < first[r->side] ? place : first[r->side];
        last[r->side] = place > last[r->side] ? place : last[r->side];
    }
    return last[TV_RUN_BASE] < first[TV_RUN_NEW] || last[TV_RUN_NEW] < first[TV_RUN_BASE];
}

/* Tell whether a side was recorded on a machine, or after a start of it, that the other side lacks:
 * their times differ for other reasons than the program. */
static bool comparison_is_moved(const struct tv_run_table *table)
{
    struct tv_map boots;
    uint8_t *sides = tv_alloc(table->run_count, sizeof *sides); /* by number of the boot: bits */
    uint32_t count = 0;
    bool moved = false, known = true;
    tv_map_init(&boots);
    for (uint32_t run = 0; run < table->run_count; run++) {
        const struct tv_run *r = &table->runs[run];
        if (r->side == TV_RUN_HISTORY)
            continue;
        known = known && r->boot != 0;
        uint32_t number = tv_map_add(&boots, r->boot, count);
        count += number == count;
        sides[number] |= (uint8_t)(1u << r->side);
    }
    for (uint32_t i = 0; i < count; i++)
        moved = moved || sides[i] != (1u << TV_RUN_BASE | 1u << TV_RUN_NEW);
    tv_map_release(&boots);
    tv_free(sides);
    return known && moved;
}

/* Compare the formats of base and new runs, and look for obfuscated names. */
static void comparison_check_names(struct tv_comparison *comparison)
{
    const char *format = NULL;
    for (uint32_t run = 0; run < comparison->table->run_count; run++) {
        const struct tv_run *r = &comparison->table->runs[run];
        if (r->side == TV_RUN_HISTORY || !r->format)
            continue;
        comparison->mixed = comparison->mixed || (format && strcmp(format, r->format) != 0);
        comparison->obfuscated = comparison->obfuscated || r->obfuscated;
        format = r->format;
    }
}

/* Tell whether the rate of false alarms is as docs/compare.md promises: enough runs, neither side
 * recorded before the other, on one start of a machine, in one format, with names that last from
 * build to build. */
static bool comparison_can_promise(const struct tv_comparison *comparison)
{
    uint32_t least =
        comparison->history_runs >= PROMISED_HISTORY ? PROMISED_RUNS_WITH_HISTORY : PROMISED_RUNS;
    return comparison->base_runs >= least && comparison->new_runs >= least && !comparison->apart &&
           !comparison->moved && !comparison->mixed && !comparison->obfuscated;
}

/* ---- The total ---- */

double tv_comparison_run_total(const struct tv_comparison *comparison, uint32_t run)
{
    const struct tv_run *r = &comparison->table->runs[run];
    return (double)(comparison->cpu ? r->total_cpu : r->total_wall);
}

/* Return the median of the whole time of the runs of a side. */
static double comparison_median_total(const struct tv_comparison *comparison, enum tv_run_side side)
{
    const struct tv_run_table *table = comparison->table;
    double *values = tv_alloc(table->run_count, sizeof *values);
    size_t count = 0;
    for (uint32_t run = 0; run < table->run_count; run++)
        if (table->runs[run].side == side)
            values[count++] = tv_comparison_run_total(comparison, run);
    double median = tv_comparison_middle(values, count);
    tv_free(values);
    return median;
}

/* Test the whole time.  It has no other rows to learn a common factor or a prior from, so it is
 * tested by its own variance alone. */
static void comparison_test_total(struct tv_comparison *comparison)
{
    const struct tv_run_table *table = comparison->table;
    double *logs = tv_alloc(table->run_count, sizeof *logs);
    uint8_t *is_new = tv_alloc(table->run_count, sizeof *is_new);
    uint32_t count = 0;
    for (uint32_t run = 0; run < table->run_count; run++) {
        if (table->runs[run].side == TV_RUN_HISTORY)
            continue;
        double total = tv_comparison_run_total(comparison, run);
        logs[count] = log(total > 1 ? total : 1);
        is_new[count++] = table->runs[run].side == TV_RUN_NEW;
    }
    comparison->base_total = comparison_median_total(comparison, TV_RUN_BASE);
    comparison->new_total = comparison_median_total(comparison, TV_RUN_NEW);
    comparison->total = tv_change_by_welch(logs, is_new, count);
    tv_free(is_new);
    tv_free(logs);
}

/* ---- The rows ---- */

/* Are the calls of a row counted, and equal in all runs of each side? */
static void comparison_note_calls(const struct tv_comparison *comparison,
                                  struct tv_compared_row *compared)
{
    const struct tv_run_table *table = comparison->table;
    const struct tv_run_row *row = &table->rows[compared->row];
    uint64_t calls[2] = {0, 0};
    bool seen[2] = {false, false};
    compared->exact_calls = true;
    for (uint32_t run = 0; run < table->run_count; run++) {
        const struct tv_run *r = &table->runs[run];
        if (r->side == TV_RUN_HISTORY)
            continue;
        uint64_t found = tv_run_table_figures(table, row, run)->calls;
        if (r->weighs || r->sampled || r->no_calls || (seen[r->side] && calls[r->side] != found))
            compared->exact_calls = false;
        calls[r->side] = found;
        seen[r->side] = true;
    }
    compared->calls_differ = compared->exact_calls && calls[TV_RUN_BASE] != calls[TV_RUN_NEW];
}

/* Was a path that is gone inlined into its caller?  Then the caller's own time has grown by about
 * the time that the path took, and its time with callees has not changed by much. */
static bool comparison_is_inlined(const struct tv_comparison *comparison,
                                  const struct tv_run_row *row)
{
    if (row->parent == 0 || !row->in_base || row->in_new)
        return false;
    const struct tv_run_row *caller = &comparison->table->rows[row->parent - 1];
    double gone = tv_comparison_median(comparison, row, TV_RUN_BASE, TV_FIGURE_INCL);
    double own = tv_comparison_median(comparison, caller, TV_RUN_NEW, TV_FIGURE_EXCL) -
                 tv_comparison_median(comparison, caller, TV_RUN_BASE, TV_FIGURE_EXCL);
    double whole = tv_comparison_median(comparison, caller, TV_RUN_NEW, TV_FIGURE_INCL) -
                   tv_comparison_median(comparison, caller, TV_RUN_BASE, TV_FIGURE_INCL);
    return caller->in_base && caller->in_new && own > 0 && gone >= own / 2 &&
           fabs(whole) <= gone / 2;
}

/* Is half or more of a row's recorded time that of reading the clock, once a call?  The finding
 * hot-tiny-calls has the same bound.  Own time tells it; of times with callees, that time does. */
static bool comparison_is_tiny(const struct tv_comparison *comparison, const struct tv_run_row *row,
                               enum tv_run_side side)
{
    enum tv_run_figure figure =
        comparison->figure == TV_FIGURE_EXCL || comparison->figure == TV_FIGURE_CALLS
            ? TV_FIGURE_EXCL
            : TV_FIGURE_INCL;
    double calls = tv_comparison_median(comparison, row, side, TV_FIGURE_CALLS);
    double time = tv_comparison_median(comparison, row, side, figure);
    double cost = calls * comparison->clock_cost;
    if (comparison->compensated)
        time += cost;
    return calls > 0 && cost >= time / 2;
}

/* Can the row be tested: is it in every run, large enough, and always above 0? */
static bool comparison_is_testable(const struct tv_comparison *comparison,
                                   const struct tv_compared_row *compared, double least_share)
{
    const struct tv_run_table *table = comparison->table;
    const struct tv_run_row *row = &table->rows[compared->row];
    if (!row->in_all || !(compared->share >= least_share))
        return false;
    for (uint32_t run = 0; run < table->run_count; run++) {
        double value = tv_comparison_value(comparison, row, run, comparison->figure);
        double one = table->timed ? (double)table->runs[run].interval : 1; /* sample */
        if (!(value > 0) || ((comparison->counts || table->timed) && value < MIN_SAMPLES * one))
            return false;
    }
    return true;
}

/* Medians of a row over the runs of a side. */
struct row_medians {
    double figure, calls, excl;
};

/* Compute the medians of a row, reading its figures once: there can be millions of rows.  `values`
 * has room for three a run. */
static struct row_medians comparison_take_medians(const struct tv_comparison *comparison,
                                                  const struct tv_run_row *row,
                                                  enum tv_run_side side, double *values)
{
    const struct tv_run_table *table = comparison->table;
    double *excl = values, *calls = values + table->run_count, *figure = calls + table->run_count;
    size_t known = 0, count = 0;
    bool other = comparison->figure != TV_FIGURE_EXCL && comparison->figure != TV_FIGURE_CALLS;
    for (uint32_t run = 0; run < table->run_count; run++) {
        const struct tv_run_figures *figures = tv_run_table_figures(table, row, run);
        if (table->runs[run].side != side || !figures->known)
            continue;
        excl[known] = (double)(comparison->cpu ? figures->excl_cpu : figures->excl_wall);
        calls[known++] = (double)figures->calls;
        double value =
            other ? tv_comparison_value(comparison, row, run, comparison->figure) : (double)NAN;
        if (!isnan(value))
            figure[count++] = value;
    }
    struct row_medians medians = {.calls = tv_comparison_middle(calls, known),
                                  .excl = tv_comparison_middle(excl, known)};
    medians.figure = other                                  ? tv_comparison_middle(figure, count)
                     : comparison->figure == TV_FIGURE_EXCL ? medians.excl
                                                            : medians.calls;
    return medians;
}

/* A part of the table's rows while they are listed, by one of several workers. */
struct row_part {
    struct tv_comparison *comparison;
    double least_share;
    uint32_t from, end; /* rows of the table */
    uint32_t count;     /* compared rows: those from number `from` on */
    uint32_t tested;
};

/* Fill in what is known of a row before the tests. */
static void comparison_list_row(const struct row_part *part, uint32_t number, double *values,
                                struct tv_compared_row *compared)
{
    const struct tv_comparison *comparison = part->comparison;
    const struct tv_run_row *row = &comparison->table->rows[number];
    double whole = comparison->base_total > comparison->new_total ? comparison->base_total
                                                                  : comparison->new_total;
    struct row_medians base = comparison_take_medians(comparison, row, TV_RUN_BASE, values);
    struct row_medians fresh = comparison_take_medians(comparison, row, TV_RUN_NEW, values);
    compared->row = number;
    compared->base = base.figure;
    compared->new = fresh.figure;
    compared->base_calls = (uint64_t)base.calls;
    compared->new_calls = (uint64_t)fresh.calls;
    compared->share = whole > 0 ? (base.excl > fresh.excl ? base.excl : fresh.excl) / whole : 0;
    compared->p = compared->p_raw = 1;
    comparison_note_calls(comparison, compared);
    compared->tiny =
        comparison->clock_cost > 0 && (comparison_is_tiny(comparison, row, TV_RUN_BASE) ||
                                       comparison_is_tiny(comparison, row, TV_RUN_NEW));
    compared->inlined = comparison_is_inlined(comparison, row);
    compared->tested = comparison_is_testable(comparison, compared, part->least_share);
}

/* List the rows of one worker (a callback).  Rows that were joined to another are in that one. */
static void comparison_list_part(void *context, unsigned worker)
{
    struct row_part *part = (struct row_part *)context + worker;
    const struct tv_run_table *table = part->comparison->table;
    double *values = tv_alloc(tv_size_mul(table->run_count, 3), sizeof *values);
    for (uint32_t i = part->from; i < part->end; i++) {
        const struct tv_run_row *row = &table->rows[i];
        if (row->joined > 0 || (!row->in_base && !row->in_new))
            continue;
        struct tv_compared_row *compared = &part->comparison->rows[part->from + part->count++];
        comparison_list_row(part, i, values, compared);
        part->tested += compared->tested;
    }
    tv_free(values);
}

/* List the rows of the table, each worker a part of them, as there can be millions. */
static void comparison_list_rows(struct tv_comparison *comparison,
                                 const struct tv_comparison_options *options)
{
    uint32_t rows = comparison->table->row_count;
    struct row_part parts[MAX_ROW_PARTS];
    unsigned jobs = options->jobs < MAX_ROW_PARTS ? options->jobs : MAX_ROW_PARTS;
    if (jobs == 0 || rows < MIN_PARTED_ROWS)
        jobs = 1;
    comparison->rows = tv_pages_alloc(tv_size_mul(rows, sizeof *comparison->rows));
    for (unsigned i = 0; i < jobs; i++)
        parts[i] = (struct row_part){
            .comparison = comparison,
            .least_share = options->least_share,
            .from = (uint32_t)((uint64_t)rows * i / jobs),
            .end = (uint32_t)((uint64_t)rows * (i + 1) / jobs),
        };
    tv_workers_run(jobs, comparison_list_part, parts);
    for (unsigned i = 0; i < jobs; i++) {
        if (comparison->count < parts[i].from && parts[i].count > 0)
            memmove(comparison->rows + comparison->count, comparison->rows + parts[i].from,
                    parts[i].count * sizeof *comparison->rows);
        comparison->count += parts[i].count;
        comparison->tested += parts[i].tested;
    }
}

/* A row to be sorted among the callees of its caller. */
struct named_row {
    const struct tv_run_table *table;
    uint32_t row;
};

static int comparison_compare_named(const void *left, const void *right)
{
    const struct named_row *a = left, *b = right;
    int order = tv_run_row_compare(a->table, a->row, b->row);
    return order ? order : (a->row > b->row) - (a->row < b->row);
}

/* Sort rows of one caller by their own names; `room` has room for all of them. */
static void comparison_sort_callees(const struct tv_run_table *table, uint32_t *rows,
                                    uint32_t count, struct named_row *room)
{
    for (uint32_t i = 0; i < count; i++)
        room[i] = (struct named_row){table, rows[i]};
    qsort(room, count, sizeof *room, comparison_compare_named);
    for (uint32_t i = 0; i < count; i++)
        rows[i] = room[i].row;
}

/* Return the table's rows by caller, and the rows of one caller by their own names: those of caller
 * `parent` end at end[parent], and begin where those of the one before end. */
static uint32_t *comparison_group_rows(const struct tv_run_table *table, uint32_t *end)
{
    uint32_t count = table->row_count, most = 0;
    uint32_t *rows = tv_alloc(count, sizeof *rows);
    for (uint32_t i = 0; i < count; i++)
        end[table->rows[i].parent]++;
    for (uint32_t at = 0, sum = 0; at <= count; at++) { /* where its rows begin, at first */
        uint32_t own = end[at];
        most = own > most ? own : most;
        end[at] = sum;
        sum += own;
    }
    for (uint32_t i = 0; i < count; i++)
        rows[end[table->rows[i].parent]++] = i;
    struct named_row *room = tv_alloc(most, sizeof *room);
    for (uint32_t at = 0, from = 0; at <= count; from = end[at++])
        if (end[at] - from > 1)
            comparison_sort_callees(table, rows + from, end[at] - from, room);
    tv_free(room);
    return rows;
}

/* Return the table's rows in the order of their names, so that the order in which runs were read
 * does not show.  A path follows its caller, which is the order of a tree that is walked depth
 * first: whole names of paths would take more memory than everything else. */
static uint32_t *comparison_order_names(const struct tv_run_table *table)
{
    uint32_t count = table->row_count, number = 0, depth = 0;
    uint32_t *end = tv_alloc((size_t)count + 1, sizeof *end); /* [parent] in `rows` */
    uint32_t *next = tv_alloc((size_t)count + 1, sizeof *next);
    uint32_t *order = tv_alloc(count, sizeof *order);
    uint32_t *stack = tv_alloc((size_t)count + 1, sizeof *stack); /* parents; 0: none */
    uint32_t *rows = comparison_group_rows(table, end);
    if (count > 0)
        memcpy(next + 1, end, count * sizeof *next);
    for (uint32_t at = 0; count > 0;) {
        if (next[at] < end[at]) {
            stack[depth++] = at;
            order[number] = rows[next[at]++];
            at = order[number++] + 1;
        } else if (depth > 0) {
            at = stack[--depth];
        } else {
            break;
        }
    }
    assert(number == count);
    tv_free(rows);
    tv_free(stack);
    tv_free(next);
    tv_free(end);
    return order;
}

/* Return the order of the compared rows, as index of each key: tested rows first, and both parts by
 * name. */
static struct tv_sort_key *comparison_order_rows(const struct tv_comparison *comparison)
{
    uint32_t rows = comparison->table->row_count, tested = 0, others = comparison->tested;
    uint32_t *order = comparison_order_names(comparison->table);
    uint32_t *at = tv_alloc(rows, sizeof *at); /* [row] number in comparison->rows + 1; 0: none */
    struct tv_sort_key *keys = tv_pages_alloc(tv_size_mul(comparison->count, sizeof *keys));
    for (uint32_t i = 0; i < comparison->count; i++)
        at[comparison->rows[i].row] = i + 1;
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t number = at[order[i]];
        if (number > 0)
            keys[comparison->rows[number - 1].tested ? tested++ : others++].index = number - 1;
    }
    assert(tested == comparison->tested && others == comparison->count);
    tv_free(at);
    tv_free(order);
    return keys;
}

/* The key by which rows are sorted, the smallest first. */
typedef double comparison_key(const struct tv_compared_row *row);

static double comparison_key_of_share(const struct tv_compared_row *row)
{
    return -row->share;
}

static double comparison_key_of_difference(const struct tv_compared_row *row)
{
    return -fabs(row->new - row->base);
}

static double comparison_key_of_p(const struct tv_compared_row *row)
{
    return row->p;
}

/* Sort the order [from, end) of rows; rows of equal keys keep their order. */
static void comparison_sort_order(const struct tv_comparison *comparison, struct tv_sort_key *keys,
                                  uint32_t from, uint32_t end, comparison_key *key)
{
    assert(from <= end && end <= comparison->count);
    for (uint32_t i = from; i < end; i++) {
        double number = key(&comparison->rows[keys[i].index]) + 0.0; /* -0 is 0 */
        int64_t bits;
        memcpy(&bits, &number, sizeof bits);
        keys[i].key = tv_sort_signed(bits < 0 ? INT64_MIN - bits : bits);
    }
    tv_sort_keys(keys + from, end - from);
}

/* Put row keys[i].index into place i of each row, without a copy of all rows. */
static void comparison_permute_rows(struct tv_compared_row *rows, struct tv_sort_key *keys,
                                    size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct tv_compared_row first = rows[i];
        size_t at = i, from = (size_t)keys[i].index;
        for (; from != i; from = (size_t)keys[at].index) {
            rows[at] = rows[from];
            keys[at].index = at;
            at = from;
        }
        rows[at] = first;
        keys[at].index = at;
    }
}

/* Test no more than TV_COMPARED_ROWS, the largest. */
static void comparison_choose_tested(struct tv_comparison *comparison, struct tv_sort_key *keys)
{
    comparison_sort_order(comparison, keys, 0, comparison->tested, comparison_key_of_share);
    for (uint32_t i = TV_COMPARED_ROWS; i < comparison->tested; i++)
        comparison->rows[keys[i].index].tested = false;
    if (comparison->tested > TV_COMPARED_ROWS)
        comparison->tested = TV_COMPARED_ROWS;
}

/* Sort the tested rows, which have the first keys, by p and then by difference, the others by
 * difference; equal ones by share and then by name. */
static void comparison_sort_results(struct tv_comparison *comparison, struct tv_sort_key *keys)
{
    uint32_t tested = comparison->tested, count = comparison->count;
    comparison_sort_order(comparison, keys, 0, tested, comparison_key_of_difference);
    comparison_sort_order(comparison, keys, 0, tested, comparison_key_of_p);
    comparison_sort_order(comparison, keys, tested, count, comparison_key_of_share);
    comparison_sort_order(comparison, keys, tested, count, comparison_key_of_difference);
    comparison_permute_rows(comparison->rows, keys, count);
}

/* Compute the changes and p of the tested rows, which have the first keys. */
static void comparison_test_rows(struct tv_comparison *comparison, const struct tv_sort_key *keys)
{
    const struct tv_run_table *table = comparison->table;
    uint32_t runs = table->run_count, tested = comparison->tested;
    double *logs = tv_alloc((size_t)tested * runs, sizeof *logs);
    uint8_t *sides = tv_alloc(runs, sizeof *sides);
    uint32_t *sessions = tv_alloc(runs, sizeof *sessions);
    uint32_t *chosen = tv_alloc(tested, sizeof *chosen);
    double *p = tv_alloc(tested, sizeof *p);
    for (uint32_t run = 0; run < runs; run++) {
        sides[run] = (uint8_t)table->runs[run].side;
        sessions[run] = table->runs[run].session;
    }
    for (uint32_t i = 0; i < tested; i++) {
        struct tv_compared_row *row = &comparison->rows[keys[i].index];
        row->change = chosen[i] = i;
        for (uint32_t run = 0; run < runs; run++)
            logs[(size_t)i * runs + run] = tv_comparison_log(
                comparison,
                tv_comparison_value(comparison, &table->rows[row->row], run, comparison->figure));
    }
    struct tv_run_matrix matrix = {tested, runs, logs, sides, sessions};
    tv_changes_init(&comparison->changes, &matrix);
    tv_changes_adjust(&comparison->changes, chosen, tested, TV_CHANGE_ANY, p);
    for (uint32_t i = 0; i < tested; i++) {
        struct tv_compared_row *row = &comparison->rows[keys[i].index];
        row->p_raw = tv_change_p(&comparison->changes.of[i], TV_CHANGE_ANY);
        row->p = p[i];
    }
    tv_free(p);
    tv_free(chosen);
    tv_free(sessions);
    tv_free(sides);
    tv_free(logs);
}

/* ---- Scaled times ---- */

/* Return what the times of a run are multiplied by; `factor` is its common factor. */
static double comparison_scale_of(const struct tv_comparison *comparison, uint32_t run,
                                  double factor)
{
    double total = tv_comparison_run_total(comparison, run);
    if (comparison->scale == TV_SCALE_COMMON)
        return exp(-factor);
    return total > 0 && comparison->base_total > 0 ? comparison->base_total / total : 1;
}

/* Show times by the scale from now on: changes and p of tested rows are there already, so they do
 * not depend on it. */
static void comparison_scale_rows(struct tv_comparison *comparison)
{
    const struct tv_run_table *table = comparison->table;
    uint32_t number = 0;
    if (comparison->scale == TV_SCALE_NONE)
        return;
    comparison->scales = tv_alloc(table->run_count, sizeof *comparison->scales);
    for (uint32_t run = 0; run < table->run_count; run++) {
        bool compared = table->runs[run].side != TV_RUN_HISTORY;
        double factor = compared ? comparison->changes.factor[number++] : 0;
        comparison->scales[run] = comparison_scale_of(comparison, run, factor);
    }
    for (uint32_t i = 0; i < comparison->count; i++) {
        struct tv_compared_row *compared = &comparison->rows[i];
        const struct tv_run_row *row = &table->rows[compared->row];
        compared->base = tv_comparison_median(comparison, row, TV_RUN_BASE, comparison->figure);
        compared->new = tv_comparison_median(comparison, row, TV_RUN_NEW, comparison->figure);
    }
}

enum tv_status tv_comparison_init(struct tv_comparison *comparison,
                                  const struct tv_run_table *table,
                                  const struct tv_comparison_options *options, struct tv_error *err)
{
    *comparison = (struct tv_comparison){
        .table = table,
        .figure = options->figure,
        .scale = options->scale,
        .least_share = options->least_share,
    };
    comparison_count_runs(comparison);
    if (comparison->base_runs == 0 || comparison->new_runs == 0)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--%s: there is no run on this side",
                       comparison->base_runs == 0 ? "base" : "new");
    enum tv_status status = comparison_check_kinds(comparison, err);
    if (status == TV_OK)
        status = comparison_choose_clock(comparison, options, err);
    if (status != TV_OK)
        return status;
    if (!comparison->weighs)
        comparison_find_clock_cost(comparison);
    comparison->apart = comparison_is_apart(table);
    comparison->moved = comparison_is_moved(table);
    comparison_check_names(comparison);
    comparison->can_test = comparison->base_runs > 1 && comparison->new_runs > 1;
    comparison->promises = comparison_can_promise(comparison);
    comparison_test_total(comparison);
    comparison_list_rows(comparison, options);
    struct tv_sort_key *keys = comparison_order_rows(comparison);
    comparison_choose_tested(comparison, keys);
    comparison_test_rows(comparison, keys);
    comparison_scale_rows(comparison);
    comparison_sort_results(comparison, keys);
    tv_pages_free(keys, comparison->count * sizeof *keys);
    return TV_OK;
}

void tv_comparison_release(struct tv_comparison *comparison)
{
    tv_changes_release(&comparison->changes);
    if (comparison->rows)
        tv_pages_free(comparison->rows, comparison->table->row_count * sizeof *comparison->rows);
    tv_free(comparison->scales);
    comparison->rows = NULL;
    comparison->scales = NULL;
}
