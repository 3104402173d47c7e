/* SPDX-License-Identifier: Apache-2.0 */
#include "writers/diff_table.h"

#include <string.h>

#include "writers/names.h"

/* The figures that are compared, in the order of the columns. */
struct figure {
    const char *title; /* of the text's column */
    const char *key;   /* of CSV and JSON, after which stands _a, _b, _difference, _ratio */
    unsigned clock;
    size_t place; /* in struct tv_method_cost */
};

static const struct figure figures[] = {
    {"Incl CPU", "incl_cpu_ns", TV_CLOCK_CPU, offsetof(struct tv_method_cost, incl_cpu)},
    {"Excl CPU", "excl_cpu_ns", TV_CLOCK_CPU, offsetof(struct tv_method_cost, excl_cpu)},
    {"Incl Real", "incl_real_ns", TV_CLOCK_WALL, offsetof(struct tv_method_cost, incl_wall)},
    {"Excl Real", "excl_real_ns", TV_CLOCK_WALL, offsetof(struct tv_method_cost, excl_wall)},
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
    const struct tv_diff *diff;
    uint64_t limit;
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

static const struct tv_head *head_of(const struct tv_diff *diff, enum part part, uint32_t *frame,
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

#define MS 1000000

static void text_name(const struct table *t, enum part part, const struct tv_diff_method *method)
{
    uint32_t frame;
    const struct tv_head *head = head_of(t->diff, part, &frame, method);
    tv_out_text(t->out, "  ");
    tv_names_full(t->out, head, &head->frames[frame]);
    tv_out_char(t->out, '\n');
}

static void text_both(const struct table *t, const struct figure *figure,
                      const struct tv_diff_method *method)
{
    int64_t a = value_of(&method->a, figure), b = value_of(&method->b, figure);
    struct tv_out ratio;
    tv_out_init_memory(&ratio);
    if (!add_ratio(&ratio, a, b))
        tv_out_text(&ratio, "new");
    tv_names_time_column(t->out, 14, a, MS, 3);
    tv_names_time_column(t->out, 14, b, MS, 3);
    tv_names_time_column(t->out, 14, b - a, MS, 3);
    tv_out_format(t->out, "%10.*s%11llu%11llu", (int)ratio.length, (const char *)ratio.buffer,
                  (unsigned long long)calls_of(&method->a),
                  (unsigned long long)calls_of(&method->b));
    tv_out_release(&ratio);
    text_name(t, BOTH, method);
}

static void text_figure(const struct table *t, const struct figure *figure)
{
    tv_out_format(t->out, "%s, methods in both\n", figure->title);
    tv_out_text(t->out,
                "          A ms          B ms   Difference     Ratio    Calls A    Calls B  "
                "Method\n");
    for (uint32_t i = 0; i < count_of(t, BOTH); i++)
        text_both(t, figure, &t->diff->methods[i]);
    tv_out_char(t->out, '\n');
}

static void text_single(const struct table *t, enum part part)
{
    tv_out_format(t->out, "Methods in %s only\n", part == ONLY_A ? "A" : "B");
    for (size_t i = 0; i < TV_COUNT(figures); i++) {
        if (t->diff->clocks & figures[i].clock)
            tv_out_format(t->out, "%11s ms", figures[i].title);
    }
    tv_out_text(t->out, "      Calls  Method\n");
    for (uint32_t i = 0; i < count_of(t, part); i++) {
        const struct tv_diff_method *method = &t->diff->methods[first_of(t->diff, part) + i];
        const struct tv_method_cost *cost = part == ONLY_A ? &method->a : &method->b;
        for (size_t k = 0; k < TV_COUNT(figures); k++) {
            if (t->diff->clocks & figures[k].clock)
                tv_names_time_column(t->out, 14, value_of(cost, &figures[k]), MS, 3);
        }
        tv_out_format(t->out, "%11llu", (unsigned long long)calls_of(cost));
        text_name(t, part, method);
    }
}

static void write_text(const struct table *t)
{
    for (size_t i = 0; i < TV_COUNT(figures); i++) {
        if (t->diff->clocks & figures[i].clock)
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
    const struct tv_head *head = head_of(t->diff, part, &frame, method);
    const struct tv_frame *f = &head->frames[frame];
    tv_out_text(t->out, part_keys[part]);
    tv_out_char(t->out, ',');
    tv_out_csv(t->out, tv_head_text(head, f->class_name));
    tv_out_char(t->out, ',');
    tv_out_csv(t->out, tv_head_text(head, f->name));
    tv_out_char(t->out, ',');
    tv_out_csv(t->out, tv_head_text(head, f->signature));
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
    const struct tv_head *head = head_of(t->diff, part, &frame, method);
    const struct tv_frame *f = &head->frames[frame];
    tv_out_format(t->out, "{\"in\": \"%s\", \"class\": ", part_keys[part]);
    tv_out_json(t->out, tv_head_text(head, f->class_name));
    tv_out_text(t->out, ", \"method\": ");
    tv_out_json(t->out, tv_head_text(head, f->name));
    tv_out_text(t->out, ", \"signature\": ");
    tv_out_json(t->out, tv_head_text(head, f->signature));
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

void tv_diff_table_write(struct tv_out *out, const struct tv_diff *diff, enum tv_diff_format format,
                         uint64_t limit)
{
    struct table t = {out, diff, limit};
    if (format == TV_DIFF_TEXT)
        write_text(&t);
    else if (format == TV_DIFF_CSV)
        write_csv(&t);
    else
        write_json(&t);
}
