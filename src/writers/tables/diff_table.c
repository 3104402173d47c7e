/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_table.c - two profiles side by side as text, CSV and JSON.
 *
 * Methods are in three groups: in both profiles, in A only, in B only.  Only
 * the first group has differences.  In text, each figure has a table of its
 * own, in which the methods may have an order of their own; in CSV and JSON a
 * method is one row with all figures.  `figures` lists the compared figures once
 * for all formats; profiles of samples have `sample_figures`.
 */
#include "writers/tables/tables.h"

#include <assert.h>
#include <string.h>

#include "writers/text/names.h"
#include "writers/text/text_table.h"

/* The figures that are compared, in the order of the columns. */
struct diff_figure {
    const char *title; /* of the text's column */
    const char *key;   /* of CSV and JSON, before the suffixes _a, _b, _difference and _ratio */
    unsigned clock;
    size_t place; /* offset in struct tv_method_cost */
    enum tv_profile_order order;
};

static const struct diff_figure figures[] = {
    {"Incl CPU", "incl_cpu_ns", TV_CLOCK_CPU, offsetof(struct tv_method_cost, incl_cpu),
     TV_ORDER_INCL_CPU},
    {"Excl CPU", "excl_cpu_ns", TV_CLOCK_CPU, offsetof(struct tv_method_cost, excl_cpu),
     TV_ORDER_EXCL_CPU},
    {"Incl Real", "incl_real_ns", TV_CLOCK_WALL, offsetof(struct tv_method_cost, incl_wall),
     TV_ORDER_INCL_WALL},
    {"Excl Real", "excl_real_ns", TV_CLOCK_WALL, offsetof(struct tv_method_cost, excl_wall),
     TV_ORDER_EXCL_WALL},
};

/* Figures of samples; their weights lie where calls have wall times. */
static const struct diff_figure sample_figures[] = {
    {"Total", "total", TV_CLOCK_WALL, offsetof(struct tv_method_cost, incl_wall),
     TV_ORDER_INCL_WALL},
    {"Self", "self", TV_CLOCK_WALL, offsetof(struct tv_method_cost, excl_wall), TV_ORDER_EXCL_WALL},
};

/* Return a figure of a method by its offset. */
static int64_t diff_figure_of(const struct tv_method_cost *cost, const struct diff_figure *figure)
{
    int64_t value;
    assert(figure->place + sizeof value <= sizeof *cost);
    memcpy(&value, (const char *)cost + figure->place, sizeof value);
    return value;
}

/* The group of a method: it is in both profiles, or in one of them. */
enum diff_group {
    BOTH,
    ONLY_A,
    ONLY_B,
};

static const char *const group_keys[] = {"both", "only-a", "only-b"};

struct diff_table {
    struct tv_out *out;
    struct tv_diff *diff;
    uint64_t limit;
    bool sort_each;
    const struct diff_figure *figures;
    size_t figure_count;
    bool sampled;                /* the profiles are of samples, in one unit */
    struct tv_value_scale scale; /* of their weights, or of times */
};

/* Return the index of a group's first method: tv_diff lists the methods in both, then those in A
 * only, then those in B only. */
static uint32_t diff_first_of(const struct tv_diff *diff, enum diff_group group)
{
    if (group == BOTH)
        return 0;
    return group == ONLY_A ? diff->both : diff->both + diff->only_a;
}

/* Return how many methods of a group are written. */
static uint32_t diff_count_of(const struct diff_table *t, enum diff_group group)
{
    const uint32_t counts[] = {t->diff->both, t->diff->only_a, t->diff->only_b};
    return t->limit > 0 && counts[group] > t->limit ? (uint32_t)t->limit : counts[group];
}

/* Return the head that describes the method, and the method's frame in it. */
static const struct tv_trace_info *diff_head_of(const struct tv_diff *diff, enum diff_group group,
                                                uint32_t *frame,
                                                const struct tv_diff_method *method)
{
    *frame = group == ONLY_B ? method->b.frame : method->a.frame;
    return group == ONLY_B ? diff->b->head : diff->a->head;
}

/* Return all calls of a method, the recursive ones included. */
static uint64_t diff_calls_of(const struct tv_method_cost *cost)
{
    return cost->calls + cost->recursive_calls;
}

/* Write b / a with three decimals. Return false when there is no ratio, because a is 0 and b is
 * not. */
static bool diff_write_ratio(struct tv_out *out, int64_t a, int64_t b)
{
    double ratio = tv_diff_ratio(a, b);
    if (!(ratio < 1e12))
        return false;
    tv_out_time(out, (tv_ns)(ratio * 1000 + 0.5), 1000, 3);
    return true;
}

/* ---- Text: a table for each figure ---- */

/* Return the unit of times: the finer one if the profiles differ in their
 * decimals. */
static struct tv_figure_unit diff_unit_of(const struct diff_table *t)
{
    struct tv_figure_unit unit = tv_figures_unit(t->diff->a->head);
    struct tv_figure_unit b = tv_figures_unit(t->diff->b->head);
    if (b.ns == unit.ns && b.decimals > unit.decimals)
        unit.decimals = b.decimals;
    return unit;
}

/* Call counts are comparable only when both sides count calls; samples always are. */
static bool diff_counts_calls(const struct diff_table *t)
{
    if (t->sampled)
        return true;
    return tv_figures_count_calls(t->diff->a->head) && tv_figures_count_calls(t->diff->b->head);
}

/* Write a cell: a time, or a weight in the unit of the samples. */
static void diff_text_cell(const struct diff_table *t, struct tv_text_table *table, int64_t value)
{
    if (t->sampled)
        tv_value_scale_write(tv_text_table_cell(table), &t->scale, value);
    else
        tv_text_table_figure(table, t->scale.unit, value);
}

/* Return the title of a column for times of calls, or for weights of samples. */
static const char *diff_title(const struct diff_table *t, const char *of_calls,
                              const char *of_samples)
{
    return t->sampled ? of_samples : of_calls;
}

/* Write the name of a method, which ends its row. */
static void diff_text_name(const struct diff_table *t, struct tv_text_table *table,
                           enum diff_group group, const struct tv_diff_method *method)
{
    uint32_t frame;
    const struct tv_trace_info *head = diff_head_of(t->diff, group, &frame, method);
    tv_names_full(tv_text_table_name(table, 0), head, &head->frames[frame]);
    tv_text_table_end_row(table);
}

static const struct tv_text_column both_columns[] = {
    {"a", "A ms", 14, 1, 0},
    {"b", "B ms", 14, 1, 0},
    {"difference", "Difference", 14, 0, 13},
    {"ratio", "Ratio", 10, 3, 0},
    {"calls-a", "Calls A", 11, 5, 0},
    {"calls-b", "Calls B", 11, 4, 0},
};

/* Write the row of a method that is in both profiles. */
static void diff_text_both(const struct diff_table *t, struct tv_text_table *table,
                           const struct diff_figure *figure, const struct tv_diff_method *method)
{
    int64_t a = diff_figure_of(&method->a, figure), b = diff_figure_of(&method->b, figure);
    diff_text_cell(t, table, a);
    diff_text_cell(t, table, b);
    diff_text_cell(t, table, b - a);
    struct tv_out *ratio = tv_text_table_cell(table);
    if (!diff_write_ratio(ratio, a, b))
        tv_out_text(ratio, "new");
    if (diff_counts_calls(t)) {
        tv_text_table_number(table, diff_calls_of(&method->a));
        tv_text_table_number(table, diff_calls_of(&method->b));
    }
    diff_text_name(t, table, BOTH, method);
}

/* Say how many methods of a group the limit left out. */
static void diff_text_rest(const struct diff_table *t, enum diff_group group)
{
    const uint32_t counts[] = {t->diff->both, t->diff->only_a, t->diff->only_b};
    tv_text_table_write_rest(t->out, counts[group] - diff_count_of(t, group));
}

/* Write the table of one figure, for the methods in both profiles. */
static void diff_text_figure(const struct diff_table *t, const struct diff_figure *figure)
{
    static const char *const of_samples[] = {"A",     "B",         "Difference",
                                             "Ratio", "Samples A", "Samples B"};
    struct tv_text_table table;
    tv_out_format(t->out, "%s%s%s, methods in both\n", diff_title(t, figure->title, figure->title),
                  t->sampled && *t->scale.unit.name ? " " : "",
                  t->sampled ? t->scale.unit.name : "");
    tv_text_table_begin(&table, t->out, "Method");
    for (size_t i = 0; i < TV_COUNT(both_columns); i++) {
        struct tv_text_column column = both_columns[i];
        column.title = diff_title(t, column.title, of_samples[i]);
        if (strncmp(column.name, "calls", 5) != 0 || diff_counts_calls(t))
            tv_text_table_add(&table, &column);
    }
    for (uint32_t i = 0; i < diff_count_of(t, BOTH); i++)
        diff_text_both(t, &table, figure, &t->diff->methods[i]);
    tv_text_table_end(&table);
    diff_text_rest(t, BOTH);
    tv_out_char(t->out, '\n');
}

/* Add the columns for methods of one profile: a figure each, without
 * differences. */
static void diff_add_single_columns(const struct diff_table *t, struct tv_text_table *table)
{
    static const char *const titles[] = {"Incl CPU ms", "Excl CPU ms", "Incl Real ms",
                                         "Excl Real ms"};
    static const unsigned ranks[] = {0, 1, 3, 4};
    for (size_t i = 0; i < t->figure_count; i++) {
        if (t->diff->clocks & t->figures[i].clock)
            tv_text_table_add(
                table, &(struct tv_text_column){NULL, diff_title(t, titles[i], t->figures[i].title),
                                                14, ranks[i], 0});
    }
    if (diff_counts_calls(t))
        tv_text_table_add(
            table, &(struct tv_text_column){NULL, diff_title(t, "Calls", "Samples"), 11, 2, 0});
}

/* Write the methods of one profile only, with all figures in one table. */
static void diff_text_single(const struct diff_table *t, enum diff_group group)
{
    struct tv_text_table table;
    tv_out_format(t->out, "Methods in %s only\n", group == ONLY_A ? "A" : "B");
    tv_text_table_begin(&table, t->out, "Method");
    diff_add_single_columns(t, &table);
    for (uint32_t i = 0; i < diff_count_of(t, group); i++) {
        const struct tv_diff_method *method = &t->diff->methods[diff_first_of(t->diff, group) + i];
        const struct tv_method_cost *cost = group == ONLY_A ? &method->a : &method->b;
        for (size_t k = 0; k < t->figure_count; k++) {
            if (t->diff->clocks & t->figures[k].clock)
                diff_text_cell(t, &table, diff_figure_of(cost, &t->figures[k]));
        }
        if (diff_counts_calls(t))
            tv_text_table_number(&table, diff_calls_of(cost));
        diff_text_name(t, &table, group, method);
    }
    tv_text_table_end(&table);
    diff_text_rest(t, group);
}

/* Say if the times of a side are estimates. */
static void diff_note_side(const struct diff_table *t, const char *side,
                           const struct tv_profile *profile)
{
    if (tv_trace_info_figures(profile->head) != TV_FIGURES_SAMPLED)
        return;
    tv_out_text(t->out, side);
    tv_figures_note(t->out, profile->head);
}

/* Write the notes, a table for each figure of a common clock, and the methods
 * of one side. */
static void diff_write_text(const struct diff_table *t)
{
    diff_note_side(t, "A: ", t->diff->a);
    diff_note_side(t, "B: ", t->diff->b);
    for (size_t i = 0; i < t->figure_count; i++) {
        if (!(t->diff->clocks & t->figures[i].clock))
            continue;
        if (t->sort_each)
            tv_diff_sort_both(t->diff, t->figures[i].order);
        diff_text_figure(t, &t->figures[i]);
    }
    diff_text_single(t, ONLY_A);
    tv_out_char(t->out, '\n');
    diff_text_single(t, ONLY_B);
}

/* ---- CSV ---- */

/* Return the start of the keys for numbers of calls. */
static const char *diff_calls_key(const struct diff_table *t)
{
    return t->sampled ? "samples" : "calls";
}

/* Write a comma and a number, or nothing after the comma. */
static void diff_csv_number(struct tv_out *out, bool there, int64_t value)
{
    tv_out_char(out, ',');
    if (there)
        tv_out_i64(out, value);
}

/* Write a line of CSV; figures that a group or a clock does not have are empty. */
static void diff_csv_row(const struct diff_table *t, enum diff_group group,
                         const struct tv_diff_method *method)
{
    uint32_t frame;
    const struct tv_trace_info *head = diff_head_of(t->diff, group, &frame, method);
    const struct tv_frame *f = &head->frames[frame];
    assert(group <= ONLY_B);
    tv_out_text(t->out, group_keys[group]);
    tv_out_char(t->out, ',');
    tv_out_csv(t->out, tv_trace_info_text(head, f->class_name));
    tv_out_char(t->out, ',');
    tv_out_csv(t->out, tv_trace_info_text(head, f->name));
    tv_out_char(t->out, ',');
    tv_out_csv(t->out, tv_trace_info_text(head, f->signature));
    diff_csv_number(t->out, group != ONLY_B, (int64_t)diff_calls_of(&method->a));
    diff_csv_number(t->out, group != ONLY_A, (int64_t)diff_calls_of(&method->b));
    for (size_t i = 0; i < t->figure_count; i++) {
        bool there = t->diff->clocks & t->figures[i].clock;
        int64_t a = diff_figure_of(&method->a, &t->figures[i]),
                b = diff_figure_of(&method->b, &t->figures[i]);
        diff_csv_number(t->out, there && group != ONLY_B, a);
        diff_csv_number(t->out, there && group != ONLY_A, b);
        diff_csv_number(t->out, there && group == BOTH, b - a);
        tv_out_char(t->out, ',');
        if (there && group == BOTH)
            (void)diff_write_ratio(t->out, a, b);
    }
    tv_out_char(t->out, '\n');
}

/* Write the heading and the lines of all groups. */
static void diff_write_csv(const struct diff_table *t)
{
    tv_out_format(t->out, "in,class,method,signature,%s_a,%s_b", diff_calls_key(t),
                  diff_calls_key(t));
    for (size_t i = 0; i < t->figure_count; i++)
        tv_out_format(t->out, ",%s_a,%s_b,%s_difference,%s_ratio", t->figures[i].key,
                      t->figures[i].key, t->figures[i].key, t->figures[i].key);
    tv_out_char(t->out, '\n');
    for (int group = BOTH; group <= ONLY_B; group++) {
        uint32_t first = diff_first_of(t->diff, (enum diff_group)group);
        for (uint32_t i = 0; i < diff_count_of(t, (enum diff_group)group); i++)
            diff_csv_row(t, (enum diff_group)group, &t->diff->methods[first + i]);
    }
}

/* ---- JSON ---- */

/* Write a member whose key has two parts; null if there is no number. */
static void diff_json_number(struct tv_out *out, const char *key, const char *end, bool there,
                             int64_t value)
{
    tv_out_format(out, ", \"%s%s\": ", key, end);
    if (there)
        tv_out_i64(out, value);
    else
        tv_out_text(out, "null");
}

/* Write a method as a JSON object; it has all members, whatever its group is. */
static void diff_json_row(const struct diff_table *t, enum diff_group group,
                          const struct tv_diff_method *method)
{
    uint32_t frame;
    const struct tv_trace_info *head = diff_head_of(t->diff, group, &frame, method);
    tv_out_format(t->out, "{\"in\": \"%s\"", group_keys[group]);
    tv_json_put_frame(t->out, ", ", head, &head->frames[frame]);
    diff_json_number(t->out, diff_calls_key(t), "_a", group != ONLY_B,
                     (int64_t)diff_calls_of(&method->a));
    diff_json_number(t->out, diff_calls_key(t), "_b", group != ONLY_A,
                     (int64_t)diff_calls_of(&method->b));
    for (size_t i = 0; i < t->figure_count; i++) {
        bool there = t->diff->clocks & t->figures[i].clock;
        int64_t a = diff_figure_of(&method->a, &t->figures[i]),
                b = diff_figure_of(&method->b, &t->figures[i]);
        diff_json_number(t->out, t->figures[i].key, "_a", there && group != ONLY_B, a);
        diff_json_number(t->out, t->figures[i].key, "_b", there && group != ONLY_A, b);
        diff_json_number(t->out, t->figures[i].key, "_difference", there && group == BOTH, b - a);
        tv_out_format(t->out, ", \"%s_ratio\": ", t->figures[i].key);
        if (!there || group != BOTH || !diff_write_ratio(t->out, a, b))
            tv_out_text(t->out, "null");
    }
    tv_out_char(t->out, '}');
}

/* Write an array with the methods of all groups. */
static void diff_write_json(const struct diff_table *t)
{
    bool any = false;
    tv_out_char(t->out, '[');
    for (int group = BOTH; group <= ONLY_B; group++) {
        uint32_t first = diff_first_of(t->diff, (enum diff_group)group);
        for (uint32_t i = 0; i < diff_count_of(t, (enum diff_group)group); i++) {
            tv_out_text(t->out, any ? ",\n  " : "\n  ");
            diff_json_row(t, (enum diff_group)group, &t->diff->methods[first + i]);
            any = true;
        }
    }
    tv_out_text(t->out, "\n]\n");
}

void tv_diff_table_write(struct tv_out *out, struct tv_diff *diff,
                         const struct tv_diff_table_options *options)
{
    struct diff_table t = {out,
                           diff,
                           options->limit,
                           options->sort_each,
                           figures,
                           TV_COUNT(figures),
                           diff->a->figures.sampled,
                           {.times = 1}};
    assert(diff->a->figures.sampled == diff->b->figures.sampled);
    if (t.sampled) {
        int64_t a = diff->a->figures.total, b = diff->b->figures.total;
        t.figures = sample_figures;
        t.figure_count = TV_COUNT(sample_figures);
        tv_value_scale_choose(&t.scale, diff->a->head, &diff->a->figures, a > b ? a : b);
    } else {
        t.scale.unit = diff_unit_of(&t);
    }
    if (options->format == TV_DIFF_TEXT)
        diff_write_text(&t);
    else if (options->format == TV_DIFF_CSV)
        diff_write_csv(&t);
    else
        diff_write_json(&t);
}
