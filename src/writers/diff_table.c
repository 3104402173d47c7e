/* SPDX-License-Identifier: Apache-2.0 */
#include "writers/diff_table.h"

#include <string.h>

#include "writers/figures.h"
#include "writers/names.h"
#include "writers/text_table.h"

/* The figures that are compared, in the order of the columns. */
struct figure {
    const char *title; /* of the text's column */
    const char *key;   /* of CSV and JSON, after which stands _a, _b, _difference, _ratio */
    unsigned clock;
    size_t place; /* in struct tv_method_cost */
    enum tv_profile_order order;
};

static const struct figure figures[] = {
    {"Incl CPU", "incl_cpu_ns", TV_CLOCK_CPU, offsetof(struct tv_method_cost, incl_cpu),
     TV_ORDER_INCL_CPU},
    {"Excl CPU", "excl_cpu_ns", TV_CLOCK_CPU, offsetof(struct tv_method_cost, excl_cpu),
     TV_ORDER_EXCL_CPU},
    {"Incl Real", "incl_real_ns", TV_CLOCK_WALL, offsetof(struct tv_method_cost, incl_wall),
     TV_ORDER_INCL_WALL},
    {"Excl Real", "excl_real_ns", TV_CLOCK_WALL, offsetof(struct tv_method_cost, excl_wall),
     TV_ORDER_EXCL_WALL},
};

static int64_t value_of(const struct tv_method_cost *cost, const struct figure *figure)
{
    int64_t value;
    memcpy(&value, (const char *)cost + figure->place, sizeof value);
    return value;
}

/* Where a method is: in both, or in one alone. */
enum part {
    BOTH,
    ONLY_A,
    ONLY_B,
};

static const char *const part_keys[] = {"both", "only-a", "only-b"};

struct table {
    struct tv_out *out;
    struct tv_diff *diff;
    uint64_t limit;
    bool sort_each;
};

static uint32_t first_of(const struct tv_diff *diff, enum part part)
{
    if (part == BOTH)
        return 0;
    return part == ONLY_A ? diff->both : diff->both + diff->only_a;
}

static uint32_t count_of(const struct table *t, enum part part)
{
    const uint32_t counts[] = {t->diff->both, t->diff->only_a, t->diff->only_b};
    return t->limit > 0 && counts[part] > t->limit ? (uint32_t)t->limit : counts[part];
}

static const struct tv_trace_info *head_of(const struct tv_diff *diff, enum part part, uint32_t *frame,
                                     const struct tv_diff_method *method)
{
    *frame = part == ONLY_B ? method->b.frame : method->a.frame;
    return part == ONLY_B ? diff->b->head : diff->a->head;
}

static uint64_t calls_of(const struct tv_method_cost *cost)
{
    return cost->calls + cost->recursive_calls;
}

/* b / a with three decimals; nothing when a is 0 and b not: there is no such number. */
static bool add_ratio(struct tv_out *out, int64_t a, int64_t b)
{
    double ratio = tv_diff_ratio(a, b);
    if (!(ratio < 1e12))
        return false;
    tv_out_time(out, (tv_ns)(ratio * 1000 + 0.5), 1000, 3);
    return true;
}

/* ---- Text: the figures of one method as lines below its name would be many; so a table a figure
 * ---- */

/* The side whose unit both have: samples where both have them.  Beside times they are shown as the
 * times that `collapse` writes. */
static const struct tv_trace_info *unit_head(const struct table *t)
{
    const struct tv_trace_info *a = t->diff->a->head;
    return tv_trace_info_figures(a) == TV_FIGURES_SAMPLES ? t->diff->b->head : a;
}

static struct tv_figure_unit unit_of(const struct table *t)
{
    struct tv_figure_unit unit = tv_figures_unit(unit_head(t));
    struct tv_figure_unit b = tv_figures_unit(t->diff->b->head);
    if (b.ns == unit.ns && b.decimals > unit.decimals)
        unit.decimals = b.decimals;
    return unit;
}

static bool counts_calls(const struct table *t)
{
    return tv_figures_count_calls(t->diff->a->head) && tv_figures_count_calls(t->diff->b->head);
}

static void text_name(const struct table *t, struct tv_text_table *table, enum part part,
                      const struct tv_diff_method *method)
{
    uint32_t frame;
    const struct tv_trace_info *head = head_of(t->diff, part, &frame, method);
    tv_names_full(tv_text_table_name(table, 0), head, &head->frames[frame]);
    tv_text_table_end_row(table);
}

static const struct tv_column both_columns[] = {
    {"a", "A ms", 14, 1, 0},
    {"b", "B ms", 14, 1, 0},
    {"difference", "Difference", 14, 0, 13},
    {"ratio", "Ratio", 10, 3, 0},
    {"calls-a", "Calls A", 11, 5, 0},
    {"calls-b", "Calls B", 11, 4, 0},
};

static void text_both(const struct table *t, struct tv_text_table *table,
                      const struct figure *figure, const struct tv_diff_method *method)
{
    int64_t a = value_of(&method->a, figure), b = value_of(&method->b, figure);
    struct tv_figure_unit unit = unit_of(t);
    tv_text_table_figure(table, unit, a);
    tv_text_table_figure(table, unit, b);
    tv_text_table_figure(table, unit, b - a);
    struct tv_out *ratio = tv_text_table_cell(table);
    if (!add_ratio(ratio, a, b))
        tv_out_text(ratio, "new");
    if (counts_calls(t)) {
        tv_text_table_number(table, calls_of(&method->a));
        tv_text_table_number(table, calls_of(&method->b));
    }
    text_name(t, table, BOTH, method);
}

static void text_rest(const struct table *t, enum part part)
{
    const uint32_t counts[] = {t->diff->both, t->diff->only_a, t->diff->only_b};
    tv_text_table_write_rest(t->out, counts[part] - count_of(t, part));
}

static void text_figure(const struct table *t, const struct figure *figure)
{
    struct tv_text_table table;
    tv_out_format(t->out, "%s, methods in both\n", tv_figures_title(unit_head(t), figure->title));
    tv_text_table_begin(&table, t->out, "Method");
    for (size_t i = 0; i < TV_COUNT(both_columns); i++) {
        struct tv_column column = both_columns[i];
        column.title = tv_figures_title(unit_head(t), column.title);
        if (strncmp(column.name, "calls", 5) != 0 || counts_calls(t))
            tv_text_table_add(&table, &column);
    }
    for (uint32_t i = 0; i < count_of(t, BOTH); i++)
        text_both(t, &table, figure, &t->diff->methods[i]);
    tv_text_table_end(&table);
    text_rest(t, BOTH);
    tv_out_char(t->out, '\n');
}

static void single_columns(const struct table *t, struct tv_text_table *table)
{
    static const char *const titles[] = {"Incl CPU ms", "Excl CPU ms", "Incl Real ms",
                                         "Excl Real ms"};
    static const unsigned ranks[] = {0, 1, 3, 4};
    for (size_t i = 0; i < TV_COUNT(figures); i++) {
        if (t->diff->clocks & figures[i].clock)
            tv_text_table_add(table,
                              &(struct tv_column){NULL, tv_figures_title(unit_head(t), titles[i]),
                                                  14, ranks[i], 0});
    }
    if (counts_calls(t))
        tv_text_table_add(table, &(struct tv_column){NULL, "Calls", 11, 2, 0});
}

static void text_single(const struct table *t, enum part part)
{
    struct tv_text_table table;
    tv_out_format(t->out, "Methods in %s only\n", part == ONLY_A ? "A" : "B");
    tv_text_table_begin(&table, t->out, "Method");
    single_columns(t, &table);
    for (uint32_t i = 0; i < count_of(t, part); i++) {
        const struct tv_diff_method *method = &t->diff->methods[first_of(t->diff, part) + i];
        const struct tv_method_cost *cost = part == ONLY_A ? &method->a : &method->b;
        for (size_t k = 0; k < TV_COUNT(figures); k++) {
            if (t->diff->clocks & figures[k].clock)
                tv_text_table_figure(&table, unit_of(t), value_of(cost, &figures[k]));
        }
        if (counts_calls(t))
            tv_text_table_number(&table, calls_of(cost));
        text_name(t, &table, part, method);
    }
    tv_text_table_end(&table);
    text_rest(t, part);
}

static void note_side(const struct table *t, const char *side, const struct tv_profile *profile)
{
    if (tv_trace_info_figures(profile->head) != TV_FIGURES_SAMPLED)
        return;
    tv_out_text(t->out, side);
    tv_figures_note(t->out, profile->head);
}

static void write_text(const struct table *t)
{
    note_side(t, "A: ", t->diff->a);
    note_side(t, "B: ", t->diff->b);
    for (size_t i = 0; i < TV_COUNT(figures); i++) {
        if (!(t->diff->clocks & figures[i].clock))
            continue;
        if (t->sort_each)
            tv_diff_sort_both(t->diff, figures[i].order);
        text_figure(t, &figures[i]);
    }
    text_single(t, ONLY_A);
    tv_out_char(t->out, '\n');
    text_single(t, ONLY_B);
}

/* ---- CSV ---- */

static void csv_number(struct tv_out *out, bool there, int64_t value)
{
    tv_out_char(out, ',');
    if (there)
        tv_out_i64(out, value);
}

static void csv_row(const struct table *t, enum part part, const struct tv_diff_method *method)
{
    uint32_t frame;
    const struct tv_trace_info *head = head_of(t->diff, part, &frame, method);
    const struct tv_frame *f = &head->frames[frame];
    tv_out_text(t->out, part_keys[part]);
    tv_out_char(t->out, ',');
    tv_out_csv(t->out, tv_trace_info_text(head, f->class_name));
    tv_out_char(t->out, ',');
    tv_out_csv(t->out, tv_trace_info_text(head, f->name));
    tv_out_char(t->out, ',');
    tv_out_csv(t->out, tv_trace_info_text(head, f->signature));
    csv_number(t->out, part != ONLY_B, (int64_t)calls_of(&method->a));
    csv_number(t->out, part != ONLY_A, (int64_t)calls_of(&method->b));
    for (size_t i = 0; i < TV_COUNT(figures); i++) {
        bool there = t->diff->clocks & figures[i].clock;
        int64_t a = value_of(&method->a, &figures[i]), b = value_of(&method->b, &figures[i]);
        csv_number(t->out, there && part != ONLY_B, a);
        csv_number(t->out, there && part != ONLY_A, b);
        csv_number(t->out, there && part == BOTH, b - a);
        tv_out_char(t->out, ',');
        if (there && part == BOTH)
            (void)add_ratio(t->out, a, b);
    }
    tv_out_char(t->out, '\n');
}

static void write_csv(const struct table *t)
{
    tv_out_text(t->out, "in,class,method,signature,calls_a,calls_b");
    for (size_t i = 0; i < TV_COUNT(figures); i++)
        tv_out_format(t->out, ",%s_a,%s_b,%s_difference,%s_ratio", figures[i].key, figures[i].key,
                      figures[i].key, figures[i].key);
    tv_out_char(t->out, '\n');
    for (int part = BOTH; part <= ONLY_B; part++) {
        uint32_t first = first_of(t->diff, (enum part)part);
        for (uint32_t i = 0; i < count_of(t, (enum part)part); i++)
            csv_row(t, (enum part)part, &t->diff->methods[first + i]);
    }
}

/* ---- JSON ---- */

static void json_number(struct tv_out *out, const char *key, const char *end, bool there,
                        int64_t value)
{
    tv_out_format(out, ", \"%s%s\": ", key, end);
    if (there)
        tv_out_i64(out, value);
    else
        tv_out_text(out, "null");
}

static void json_row(const struct table *t, enum part part, const struct tv_diff_method *method)
{
    uint32_t frame;
    const struct tv_trace_info *head = head_of(t->diff, part, &frame, method);
    const struct tv_frame *f = &head->frames[frame];
    tv_out_format(t->out, "{\"in\": \"%s\", \"class\": ", part_keys[part]);
    tv_out_json(t->out, tv_trace_info_text(head, f->class_name));
    tv_out_text(t->out, ", \"method\": ");
    tv_out_json(t->out, tv_trace_info_text(head, f->name));
    tv_out_text(t->out, ", \"signature\": ");
    tv_out_json(t->out, tv_trace_info_text(head, f->signature));
    json_number(t->out, "calls", "_a", part != ONLY_B, (int64_t)calls_of(&method->a));
    json_number(t->out, "calls", "_b", part != ONLY_A, (int64_t)calls_of(&method->b));
    for (size_t i = 0; i < TV_COUNT(figures); i++) {
        bool there = t->diff->clocks & figures[i].clock;
        int64_t a = value_of(&method->a, &figures[i]), b = value_of(&method->b, &figures[i]);
        json_number(t->out, figures[i].key, "_a", there && part != ONLY_B, a);
        json_number(t->out, figures[i].key, "_b", there && part != ONLY_A, b);
        json_number(t->out, figures[i].key, "_difference", there && part == BOTH, b - a);
        tv_out_format(t->out, ", \"%s_ratio\": ", figures[i].key);
        if (!there || part != BOTH || !add_ratio(t->out, a, b))
            tv_out_text(t->out, "null");
    }
    tv_out_char(t->out, '}');
}

static void write_json(const struct table *t)
{
    bool any = false;
    tv_out_char(t->out, '[');
    for (int part = BOTH; part <= ONLY_B; part++) {
        uint32_t first = first_of(t->diff, (enum part)part);
        for (uint32_t i = 0; i < count_of(t, (enum part)part); i++) {
            tv_out_text(t->out, any ? ",\n  " : "\n  ");
            json_row(t, (enum part)part, &t->diff->methods[first + i]);
            any = true;
        }
    }
    tv_out_text(t->out, "\n]\n");
}

void tv_diff_table_write(struct tv_out *out, struct tv_diff *diff,
                         const struct tv_diff_table_options *options)
{
    struct table t = {out, diff, options->limit, options->sort_each};
    if (options->format == TV_DIFF_TEXT)
        write_text(&t);
    else if (options->format == TV_DIFF_CSV)
        write_csv(&t);
    else
        write_json(&t);
}
