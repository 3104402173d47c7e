/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_table.c - the functions of a profile of samples as text, CSV, JSON and Markdown.
 *
 * JSON and CSV have the exact weights in the unit of the file; text scales them.
 */
#include <assert.h>
#include <stdio.h>

#include "writers/tables/tables.h"
#include "writers/text/names.h"
#include "writers/text/text_table.h"

/* "java.util.HashMap.get", without a signature. */
static void value_table_add_name(struct tv_out *out, const struct tv_trace_info *head,
                                 uint32_t frame)
{
    struct tv_frame function = head->frames[frame];
    function.with_line = false; /* the line is a column of its own */
    tv_names_method(out, head, &function);
}

/* ---- JSON ---- */

/* Write the name as a member. */
static void value_table_json_name(struct tv_out *out, const struct tv_trace_info *head,
                                  uint32_t frame)
{
    struct tv_out name;
    tv_out_init_memory(&name);
    value_table_add_name(&name, head, frame);
    tv_json_put_text(out, "", "name", (struct tv_bytes){name.buffer, name.length});
    tv_out_release(&name);
}

void tv_value_row_json(struct tv_out *out, const struct tv_profile *profile,
                       const struct tv_method_cost *row)
{
    const struct tv_frame *frame = &profile->head->frames[row->frame];
    value_table_json_name(out, profile->head, row->frame);
    tv_json_put_text(out, ", ", "module", tv_trace_info_text(profile->head, frame->module));
    tv_json_put_text(out, ", ", "source", tv_trace_info_text(profile->head, frame->file));
    tv_json_put_some_i64(out, ", ", "line", frame->line > 0, frame->line);
    tv_json_put_i64(out, ", ", "self", row->excl_wall);
    tv_json_put_i64(out, ", ", "total", row->incl_wall);
    tv_json_put_u64(out, ", ", "samples", row->calls);
}

/* Write an array of objects, a function each. */
static void value_table_write_json(struct tv_out *out, const struct tv_profile *profile,
                                   const struct tv_profile_rows *rows)
{
    tv_out_char(out, '[');
    for (uint32_t i = 0; i < rows->count; i++) {
        tv_out_text(out, i == 0 ? "\n  {" : ",\n  {");
        tv_value_row_json(out, profile, &rows->rows[i]);
        tv_out_char(out, '}');
    }
    tv_out_text(out, "\n]\n");
}

/* ---- CSV ---- */

/* Write a line of CSV with exact weights and shares of the whole. */
static void value_table_csv_row(struct tv_out *out, const struct tv_profile *profile,
                                const struct tv_method_cost *row)
{
    const struct tv_frame *frame = &profile->head->frames[row->frame];
    int64_t whole = profile->figures.total;
    struct tv_out name;
    tv_out_i64(out, row->incl_wall);
    tv_out_char(out, ',');
    tv_names_percent(out, row->incl_wall, whole);
    tv_out_char(out, ',');
    tv_out_i64(out, row->excl_wall);
    tv_out_char(out, ',');
    tv_names_percent(out, row->excl_wall, whole);
    tv_out_char(out, ',');
    tv_out_u64(out, row->calls);
    tv_out_char(out, ',');
    tv_out_init_memory(&name);
    value_table_add_name(&name, profile->head, row->frame);
    tv_out_csv(out, (struct tv_bytes){name.buffer, name.length});
    tv_out_release(&name);
    tv_out_char(out, ',');
    tv_out_csv(out, tv_trace_info_text(profile->head, frame->module));
    tv_out_char(out, ',');
    tv_out_csv(out, tv_trace_info_text(profile->head, frame->file));
    tv_out_char(out, ',');
    if (frame->line > 0)
        tv_out_i64(out, frame->line);
    tv_out_char(out, '\n');
}

/* Write the heading and the lines. */
static void value_table_write_csv(struct tv_out *out, const struct tv_profile *profile,
                                  const struct tv_profile_rows *rows)
{
    tv_out_text(out, "total,total_percent,self,self_percent,samples,name,module,source,line\n");
    for (uint32_t i = 0; i < rows->count; i++)
        value_table_csv_row(out, profile, &rows->rows[i]);
}

/* ---- Text and Markdown ---- */

/* Width of the column "#". */
#define RANK_COLUMN 5

/* Room for "Total " and a unit. */
#define VALUE_TITLE 60

/* The titles of a table, which depend on the unit. */
struct value_titles {
    struct tv_value_scale scale;
    char total[VALUE_TITLE], self[VALUE_TITLE];
};

/* Choose the unit by the total, and put it into the titles. */
static void value_titles_make(struct value_titles *titles, const struct tv_profile *profile)
{
    tv_value_scale_choose(&titles->scale, profile->head, &profile->figures, profile->figures.total);
    const char *unit = titles->scale.unit.name, *space = *unit ? " " : "";
    snprintf(titles->total, sizeof titles->total, "Total%s%s", space, unit);
    snprintf(titles->self, sizeof titles->self, "Self%s%s", space, unit);
}

/* Write the name, and after it the module that it is in. */
static void value_table_named(struct tv_out *out, const struct tv_trace_info *head, uint32_t index)
{
    const struct tv_frame *frame = &head->frames[index];
    tv_names_full(out, head, frame);
    if (frame->module == TV_EMPTY_STRING)
        return;
    tv_out_text(out, "  (");
    tv_names_line(out, tv_trace_info_text(head, frame->module));
    tv_out_char(out, ')');
}

/* Return false for weights with fractions, whose lines are no samples: merging equal lines would
 * change their number. */
static bool value_table_has_samples(const struct tv_profile *profile)
{
    return !tv_sample_figures_are_thousandths(profile->head, &profile->figures);
}

/* Write a row of the table for people. */
static void value_table_text_row(struct tv_text_table *table, const struct tv_profile *profile,
                                 const struct value_titles *titles,
                                 const struct tv_method_cost *row, uint32_t rank)
{
    int64_t whole = profile->figures.total;
    tv_text_table_number(table, rank);
    tv_value_scale_write(tv_text_table_cell(table), &titles->scale, row->incl_wall);
    tv_text_table_share(table, row->incl_wall, whole);
    tv_value_scale_write(tv_text_table_cell(table), &titles->scale, row->excl_wall);
    tv_text_table_share(table, row->excl_wall, whole);
    if (value_table_has_samples(profile))
        tv_text_table_number(table, row->calls);
    value_table_named(tv_text_table_name(table, 0), profile->head, row->frame);
    tv_text_table_end_row(table);
}

void tv_unshown_write(struct tv_out *out, const struct tv_value_scale *scale,
                      const struct tv_unshown *unshown)
{
    struct tv_figure_unit unit = scale->unit;
    bool screen = tv_layout_width(out) > 0;
    if (unshown->value == 0)
        return;
    tv_names_time_column(out, screen ? 0 : unshown->column,
                         tv_time_times(unshown->value, scale->times), unit.ns, unit.decimals);
    if (screen)
        tv_out_format(out, " %s,", unit.name);
    tv_names_percent_column(out, 7, unshown->value, unshown->whole);
    tv_out_text(out, screen ? " %," : " ");
    tv_out_format(out, " in %s\n", unshown->what);
}

/* Write what is counted, the table, how many functions are left out, and the samples of none. */
static void value_table_write_text(struct tv_out *out, const struct tv_profile *profile,
                                   const struct tv_profile_rows *rows)
{
    struct value_titles titles;
    struct tv_text_table table;
    value_titles_make(&titles, profile);
    tv_names_value(out, profile->head, &profile->figures);
    tv_text_table_begin(&table, out, "Function");
    const struct tv_text_column columns[] = {
        {NULL, "#", RANK_COLUMN, 0, 0}, {"total", titles.total, 14, 1, 0},
        {"total", "%", 7, 3, 0},        {"self", titles.self, 14, 2, 0},
        {"self", "%", 7, 5, 0},         {"samples", "Samples", 10, 4, 0},
    };
    size_t count = TV_COUNT(columns) - !value_table_has_samples(profile);
    for (size_t i = 0; i < count; i++)
        tv_text_table_add(&table, &columns[i]);
    for (uint32_t i = 0; i < rows->count; i++)
        value_table_text_row(&table, profile, &titles, &rows->rows[i], i + 1);
    tv_text_table_end(&table);
    tv_text_table_write_rest(out, rows->left_out);
    struct tv_unshown unshown = {profile->unshown, profile->figures.total, RANK_COLUMN + 14,
                                 TV_UNSHOWN_SAMPLES};
    tv_unshown_write(out, &titles.scale, &unshown);
}

/* Write a line of Markdown. */
static void value_table_markdown_row(struct tv_out *out, const struct tv_profile *profile,
                                     const struct value_titles *titles,
                                     const struct tv_method_cost *row, uint32_t rank)
{
    int64_t whole = profile->figures.total;
    tv_out_format(out, "| %u | ", rank);
    tv_value_scale_write(out, &titles->scale, row->incl_wall);
    tv_out_text(out, " | ");
    tv_names_percent(out, row->incl_wall, whole);
    tv_out_text(out, " | ");
    tv_value_scale_write(out, &titles->scale, row->excl_wall);
    tv_out_text(out, " | ");
    tv_names_percent(out, row->excl_wall, whole);
    tv_out_text(out, " | ");
    if (value_table_has_samples(profile)) {
        tv_out_u64(out, row->calls);
        tv_out_text(out, " | ");
    }
    tv_profile_row_markdown(out, profile->head, row->frame);
    tv_out_text(out, " |\n");
}

/* Write what is counted and the table. */
static void value_table_write_markdown(struct tv_out *out, const struct tv_profile *profile,
                                       const struct tv_profile_rows *rows)
{
    struct value_titles titles;
    value_titles_make(&titles, profile);
    tv_names_value(out, profile->head, &profile->figures);
    bool samples = value_table_has_samples(profile);
    tv_out_format(out, "\n| # | %s | %% | %s | %% |%s Function |\n", titles.total, titles.self,
                  samples ? " Samples |" : "");
    tv_out_format(out, "|--:|--:|--:|--:|--:|%s:--|\n", samples ? "--:|" : "");
    for (uint32_t i = 0; i < rows->count; i++)
        value_table_markdown_row(out, profile, &titles, &rows->rows[i], i + 1);
}

void tv_value_table_write(struct tv_out *out, const struct tv_profile *profile,
                          const struct tv_profile_rows *rows, enum tv_table_format format)
{
    assert(profile->figures.sampled);
    switch (format) {
    case TV_TABLE_TEXT:
        value_table_write_text(out, profile, rows);
        return;
    case TV_TABLE_CSV:
        value_table_write_csv(out, profile, rows);
        return;
    case TV_TABLE_JSON:
        value_table_write_json(out, profile, rows);
        return;
    case TV_TABLE_MARKDOWN:
        value_table_write_markdown(out, profile, rows);
        return;
    }
}
