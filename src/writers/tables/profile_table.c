/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_table.c - the method table as text, CSV, JSON and Markdown.
 *
 * Two tables of columns describe everything that is written:
 *
 *     fields    CSV and JSON            exact: nanoseconds, separate class, name and signature
 *     columns   text and Markdown       rounded: milliseconds, percent, one name
 *
 * A row of either table names the member of struct tv_method_cost that it
 * shows, by its offset.  So a new column is one line here.  The keys of
 * `fields` never change, because scripts read them.
 *
 * Context switches are a row among the methods ("(context switch)"), as they
 * were in Traceview; its frame is TV_NONE.  A profile of samples has other
 * columns (value_table.c).
 */
#include "writers/tables/tables.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "writers/text/names.h"
#include "writers/text/text_table.h"

#define WAITS "(context switch)"

/* Return the figure that an order sorts by. */
static int64_t profile_table_key_of(const struct tv_method_cost *row, enum tv_profile_order order)
{
    switch (order) {
    case TV_ORDER_CALLS:
        return (int64_t)(row->calls + row->recursive_calls);
    case TV_ORDER_INCL_WALL:
        return row->incl_wall;
    case TV_ORDER_EXCL_WALL:
        return row->excl_wall;
    case TV_ORDER_INCL_CPU:
        return row->incl_cpu;
    case TV_ORDER_EXCL_CPU:
        return row->excl_cpu;
    case TV_ORDER_NAME:
        break;
    }
    return 0;
}

/* Insert the row of the waits where the order wants it; the profile does not know this row. */
static void profile_table_insert_waits(struct tv_profile_rows *rows,
                                       const struct tv_path_cost *waits,
                                       enum tv_profile_order order)
{
    struct tv_method_cost row = {
        .frame = TV_NONE,
        .calls = waits->calls,
        .incl_wall = waits->wall,
        .excl_wall = waits->wall,
    };
    uint32_t at = 0;
    while (at < rows->count &&
           profile_table_key_of(&rows->rows[at], order) > profile_table_key_of(&row, order))
        at++;
    memmove(&rows->rows[at + 1], &rows->rows[at], (rows->count - at) * sizeof *rows->rows);
    rows->rows[at] = row;
    rows->count++;
}

void tv_profile_rows_init(struct tv_profile_rows *rows, struct tv_profile *profile,
                          enum tv_profile_order order, bool waits, uint64_t limit)
{
    const unsigned both = TV_CLOCK_WALL | TV_CLOCK_CPU;
    tv_profile_sort(profile, order);
    rows->rows = tv_alloc((size_t)profile->count + 1, sizeof *rows->rows);
    rows->count = profile->count;
    if (profile->count > 0)
        memcpy(rows->rows, profile->methods, profile->count * sizeof *rows->rows);
    if (waits && (profile->clocks & both) == both)
        profile_table_insert_waits(rows, &profile->waits, order);
    rows->order = order;
    rows->left_out = limit > 0 && rows->count > limit ? rows->count - (uint32_t)limit : 0;
    rows->count -= rows->left_out;
}

void tv_profile_rows_release(struct tv_profile_rows *rows)
{
    assert(rows->rows);
    tv_free(rows->rows);
}

void tv_profile_row_name(struct tv_out *out, const struct tv_trace_info *head, uint32_t frame)
{
    if (frame == TV_NONE)
        tv_out_text(out, WAITS);
    else
        tv_names_full(out, head, &head->frames[frame]);
}

/* ---- CSV and JSON: one table of fields ---- */

/* Return the frame of a row; that of the context switches has no texts. */
static struct tv_frame profile_table_frame_of(const struct tv_trace_info *head, uint32_t frame)
{
    if (frame == TV_NONE)
        return (struct tv_frame){.name = TV_EMPTY_STRING};
    return head->frames[frame];
}

/* Write "Cart.java:17", "Cart.java", or nothing. */
static void profile_table_add_source(struct tv_out *out, const struct tv_trace_info *head,
                                     const struct tv_frame *frame)
{
    if (frame->file == TV_EMPTY_STRING)
        return;
    tv_names_line(out, tv_trace_info_text(head, frame->file));
    if (frame->line > 0)
        tv_out_format(out, ":%d", (int)frame->line);
}

/* Return the name of a row's method. */
static struct tv_bytes profile_table_method_text(const struct tv_trace_info *head, uint32_t index,
                                                 const struct tv_frame *frame)
{
    return index == TV_NONE ? TV_BYTES(WAITS) : tv_trace_info_text(head, frame->name);
}

enum profile_field_kind {
    FIELD_CLASS,  /* or the name, in formats with categories */
    FIELD_METHOD, /* or the category */
    FIELD_SIGNATURE,
    FIELD_SOURCE,
    FIELD_CALLS,
    FIELD_RECURSIVE_CALLS,
    FIELD_TIME,
    FIELD_COMPENSATED,
};

/* The columns of CSV and the members of JSON, in their order: a new one is one line here. */
static const struct profile_field {
    const char *key, *category_key; /* the latter in formats with categories, if it differs */
    enum profile_field_kind kind;
    unsigned clock; /* of a time */
    size_t place;   /* of a time in struct tv_method_cost */
} fields[] = {
    {"class", "name", FIELD_CLASS, 0, 0},
    {"method", "category", FIELD_METHOD, 0, 0},
    {"signature", NULL, FIELD_SIGNATURE, 0, 0},
    {"source", NULL, FIELD_SOURCE, 0, 0},
    {"calls", NULL, FIELD_CALLS, 0, 0},
    {"recursive_calls", NULL, FIELD_RECURSIVE_CALLS, 0, 0},
    {"incl_real_ns", NULL, FIELD_TIME, TV_CLOCK_WALL, offsetof(struct tv_method_cost, incl_wall)},
    {"excl_real_ns", NULL, FIELD_TIME, TV_CLOCK_WALL, offsetof(struct tv_method_cost, excl_wall)},
    {"incl_cpu_ns", NULL, FIELD_TIME, TV_CLOCK_CPU, offsetof(struct tv_method_cost, incl_cpu)},
    {"excl_cpu_ns", NULL, FIELD_TIME, TV_CLOCK_CPU, offsetof(struct tv_method_cost, excl_cpu)},
    {"compensated_ns", NULL, FIELD_COMPENSATED, 0, 0},
};

/* The value of a field: a text, a count, a time, or nothing. */
struct profile_value {
    enum { VALUE_NONE, VALUE_TEXT, VALUE_COUNT, VALUE_TIME } type;
    struct tv_bytes text;
    uint64_t count;
    int64_t time;
};

/* Has the table this field?  The cost of compensation only where it was
 * subtracted. */
static bool profile_field_is_written(const struct profile_field *field,
                                     const struct tv_profile *profile)
{
    return field->kind != FIELD_COMPENSATED || profile->compensation.cost > 0;
}

/* Return the key of a field: formats with categories have no classes. */
static const char *profile_field_key(const struct profile_field *field,
                                     const struct tv_profile *profile)
{
    bool categories = field->category_key && tv_trace_info_has_categories(profile->head);
    return categories ? field->category_key : field->key;
}

static struct profile_value profile_field_text(struct tv_bytes text)
{
    return (struct profile_value){.type = VALUE_TEXT, .text = text};
}

/* Return a time of a row, or no value when the profile lacks its clock. */
static struct profile_value profile_field_time(const struct profile_field *field,
                                               const struct tv_profile *profile,
                                               const struct tv_method_cost *row)
{
    struct profile_value value = {.type = profile->clocks & field->clock ? VALUE_TIME : VALUE_NONE};
    assert(field->kind == FIELD_TIME);
    memcpy(&value.time, (const char *)row + field->place, sizeof value.time);
    return value;
}

/* Return a field of a row. `source` receives the text of FIELD_SOURCE. */
static struct profile_value profile_field_value(const struct profile_field *field,
                                                const struct tv_profile *profile,
                                                const struct tv_method_cost *row,
                                                struct tv_out *source)
{
    const struct tv_trace_info *head = profile->head;
    struct tv_frame frame = profile_table_frame_of(head, row->frame);
    struct tv_bytes method = profile_table_method_text(head, row->frame, &frame);
    bool categories = tv_trace_info_has_categories(head);
    switch (field->kind) {
    case FIELD_CLASS:
        return profile_field_text(categories ? method : tv_trace_info_text(head, frame.class_name));
    case FIELD_METHOD:
        return profile_field_text(categories ? tv_trace_info_text(head, frame.category) : method);
    case FIELD_SIGNATURE:
        return profile_field_text(tv_trace_info_text(head, frame.signature));
    case FIELD_SOURCE:
        profile_table_add_source(source, head, &frame);
        if (source->length == 0)
            break;
        return profile_field_text((struct tv_bytes){source->buffer, source->length});
    case FIELD_CALLS:
        return (struct profile_value){.type = VALUE_COUNT, .count = row->calls};
    case FIELD_RECURSIVE_CALLS:
        return (struct profile_value){.type = VALUE_COUNT, .count = row->recursive_calls};
    case FIELD_TIME:
        return profile_field_time(field, profile, row);
    case FIELD_COMPENSATED:
        return (struct profile_value){.type = VALUE_TIME, .time = profile->compensation.cost};
    }
    return (struct profile_value){.type = VALUE_NONE};
}

/* ---- JSON ---- */

void tv_profile_row_json(struct tv_out *out, const struct tv_profile *profile,
                         const struct tv_method_cost *row)
{
    const char *before = "";
    struct tv_out source;
    tv_out_init_memory(&source);
    for (size_t i = 0; i < TV_COUNT(fields); i++) {
        if (!profile_field_is_written(&fields[i], profile))
            continue;
        struct profile_value value = profile_field_value(&fields[i], profile, row, &source);
        const char *key = profile_field_key(&fields[i], profile);
        if (value.type == VALUE_TEXT)
            tv_json_put_text(out, before, key, value.text);
        else if (value.type == VALUE_COUNT)
            tv_json_put_u64(out, before, key, value.count);
        else
            tv_json_put_some_i64(out, before, key, value.type == VALUE_TIME, value.time);
        before = ", ";
    }
    tv_out_release(&source);
}

/* Write an array of objects. */
static void profile_table_write_json(struct tv_out *out, const struct tv_profile *profile,
                                     const struct tv_profile_rows *rows)
{
    tv_out_char(out, '[');
    for (uint32_t i = 0; i < rows->count; i++) {
        tv_out_text(out, i == 0 ? "\n  {" : ",\n  {");
        tv_profile_row_json(out, profile, &rows->rows[i]);
        tv_out_char(out, '}');
    }
    tv_out_text(out, "\n]\n");
}

/* ---- CSV ---- */

/* Write a line of CSV; a value that is missing is empty. */
static void profile_table_csv_row(struct tv_out *out, const struct tv_profile *profile,
                                  const struct tv_method_cost *row)
{
    struct tv_out source;
    tv_out_init_memory(&source);
    for (size_t i = 0; i < TV_COUNT(fields); i++) {
        if (!profile_field_is_written(&fields[i], profile))
            continue;
        struct profile_value value = profile_field_value(&fields[i], profile, row, &source);
        tv_out_text(out, i > 0 ? "," : "");
        if (value.type == VALUE_TEXT)
            tv_out_csv(out, value.text);
        else if (value.type == VALUE_COUNT)
            tv_out_u64(out, value.count);
        else if (value.type == VALUE_TIME)
            tv_out_i64(out, value.time);
    }
    tv_out_char(out, '\n');
    tv_out_release(&source);
}

/* Write the heading and the lines. */
static void profile_table_write_csv(struct tv_out *out, const struct tv_profile *profile,
                                    const struct tv_profile_rows *rows)
{
    for (size_t i = 0; i < TV_COUNT(fields); i++) {
        if (!profile_field_is_written(&fields[i], profile))
            continue;
        tv_out_text(out, i > 0 ? "," : "");
        tv_out_text(out, profile_field_key(&fields[i], profile));
    }
    tv_out_char(out, '\n');
    for (uint32_t i = 0; i < rows->count; i++)
        profile_table_csv_row(out, profile, &rows->rows[i]);
}

/* ---- Text and Markdown: one table of columns ---- */

/* The ways to print a figure of a method. */
enum profile_column_kind {
    TIME,
    PERCENT,
    CALLS,
    PER_CALL,
};

struct profile_column {
    const char *name; /* for --columns */
    const char *title;
    enum profile_column_kind kind;
    unsigned clock; /* 0: any clock */
    size_t place;   /* offset of the figure in struct tv_method_cost */
    unsigned rank;  /* as in struct tv_text_column, among the columns of the same clock */
};

static const struct profile_column columns[] = {
    {"incl-cpu", "Incl CPU ms", TIME, TV_CLOCK_CPU, offsetof(struct tv_method_cost, incl_cpu), 1},
    {"incl-cpu", "%", PERCENT, TV_CLOCK_CPU, offsetof(struct tv_method_cost, incl_cpu), 3},
    {"excl-cpu", "Excl CPU ms", TIME, TV_CLOCK_CPU, offsetof(struct tv_method_cost, excl_cpu), 2},
    {"excl-cpu", "%", PERCENT, TV_CLOCK_CPU, offsetof(struct tv_method_cost, excl_cpu), 5},
    {"incl-wall", "Incl Real ms", TIME, TV_CLOCK_WALL, offsetof(struct tv_method_cost, incl_wall),
     1},
    {"incl-wall", "%", PERCENT, TV_CLOCK_WALL, offsetof(struct tv_method_cost, incl_wall), 3},
    {"excl-wall", "Excl Real ms", TIME, TV_CLOCK_WALL, offsetof(struct tv_method_cost, excl_wall),
     2},
    {"excl-wall", "%", PERCENT, TV_CLOCK_WALL, offsetof(struct tv_method_cost, excl_wall), 5},
    {"calls", "Calls+Recur", CALLS, 0, 0, 4},
    {"cpu-per-call", "CPU/Call ms", PER_CALL, TV_CLOCK_CPU,
     offsetof(struct tv_method_cost, incl_cpu), 6},
    {"wall-per-call", "Real/Call ms", PER_CALL, TV_CLOCK_WALL,
     offsetof(struct tv_method_cost, incl_wall), 6},
};

#define PERCENT_WIDTH 7
#define TIME_WIDTH 14

/* Columns of the other clock disappear before those of the table's own clock. */
#define OTHER_CLOCK 6

/* Write a cell of text or Markdown. */
static void profile_table_add_cell(struct tv_out *out, const struct tv_profile *profile,
                                   const struct tv_method_cost *row,
                                   const struct profile_column *column)
{
    int64_t value = 0;
    uint64_t calls = row->calls + row->recursive_calls;
    struct tv_figure_unit unit = tv_figures_unit(profile->head);
    if (column->kind != CALLS)
        memcpy(&value, (const char *)row + column->place, sizeof value);
    switch (column->kind) {
    case TIME:
        tv_out_time(out, value, unit.ns, unit.decimals);
        return;
    case PERCENT:
        tv_names_percent(out, value,
                         column->clock == TV_CLOCK_CPU ? profile->total_cpu : profile->total_wall);
        return;
    case CALLS:
        tv_out_u64(out, row->calls);
        tv_out_char(out, '+');
        tv_out_u64(out, row->recursive_calls);
        return;
    case PER_CALL:
        tv_out_time(out, calls > 0 ? value / (int64_t)calls : 0, unit.ns, unit.decimals);
        return;
    }
}

/* Return true when the profile has the clock of the column and, for counts, when its calls are
 * counted. */
static bool profile_table_has_column(const struct tv_profile *profile,
                                     const struct profile_column *column)
{
    if ((column->kind == CALLS || column->kind == PER_CALL) &&
        !tv_figures_count_calls(profile->head))
        return false;
    return column->clock == 0 || (profile->clocks & column->clock);
}

/* Return true for the column that the rows are sorted by, which stays on every screen. */
static bool profile_table_is_sorted_by(const struct profile_column *column,
                                       enum tv_profile_order order)
{
    static const struct {
        const char *column;
        enum tv_profile_order order;
    } orders[] = {
        {"calls", TV_ORDER_CALLS},         {"incl-wall", TV_ORDER_INCL_WALL},
        {"excl-wall", TV_ORDER_EXCL_WALL}, {"incl-cpu", TV_ORDER_INCL_CPU},
        {"excl-cpu", TV_ORDER_EXCL_CPU},
    };
    for (size_t i = 0; i < TV_COUNT(orders); i++)
        if (orders[i].order == order)
            return column->kind != PERCENT && strcmp(orders[i].column, column->name) == 0;
    return false;
}

/* Return the rank of a column: high ranks disappear first on a narrow screen. The columns of the
 * clock that sorts the table outrank those of the other clock. */
static unsigned profile_table_rank_of(const struct tv_profile *profile, enum tv_profile_order order,
                                      const struct profile_column *column)
{
    unsigned first = profile->clocks & TV_CLOCK_CPU ? TV_CLOCK_CPU : TV_CLOCK_WALL;
    if (order == TV_ORDER_INCL_WALL || order == TV_ORDER_EXCL_WALL)
        first = TV_CLOCK_WALL;
    if (profile_table_is_sorted_by(column, order))
        return 0;
    return column->rank + (column->clock & ~first ? OTHER_CLOCK : 0);
}

/* Add the columns that the profile has figures for, and the row number. */
static void profile_table_add_profile_columns(struct tv_text_table *table,
                                              const struct tv_profile *profile,
                                              enum tv_profile_order order)
{
    tv_text_table_add(table, &(struct tv_text_column){.title = "#", .width = 5});
    for (size_t i = 0; i < TV_COUNT(columns); i++) {
        uint32_t width = columns[i].kind == PERCENT ? PERCENT_WIDTH : TIME_WIDTH;
        if (profile_table_has_column(profile, &columns[i]))
            tv_text_table_add(table, &(struct tv_text_column){
                                         columns[i].name, columns[i].title, width,
                                         profile_table_rank_of(profile, order, &columns[i]), 0});
    }
}

/* Write a row of the text table. */
static void profile_table_text_row(struct tv_text_table *table, const struct tv_profile *profile,
                                   const struct tv_method_cost *row, uint32_t rank)
{
    tv_text_table_number(table, rank);
    for (size_t i = 0; i < TV_COUNT(columns); i++) {
        int64_t value;
        memcpy(&value, (const char *)row + columns[i].place, sizeof value);
        if (!profile_table_has_column(profile, &columns[i]))
            continue;
        if (columns[i].kind == PERCENT)
            tv_text_table_share(table, value,
                                columns[i].clock == TV_CLOCK_CPU ? profile->total_cpu
                                                                 : profile->total_wall);
        else
            profile_table_add_cell(tv_text_table_cell(table), profile, row, &columns[i]);
    }
    tv_profile_row_name(tv_text_table_name(table, 0), profile->head, row->frame);
    tv_text_table_end_row(table);
}

/* Write the notes about the figures, the table, and how many rows are left out. */
static void profile_table_write_text(struct tv_out *out, const struct tv_profile *profile,
                                     const struct tv_profile_rows *rows)
{
    struct tv_text_table table;
    tv_figures_note(out, profile->head);
    tv_compensation_write(out, &profile->compensation, profile->clocks);
    tv_text_table_begin(&table, out, "Method");
    profile_table_add_profile_columns(&table, profile, rows->order);
    for (uint32_t i = 0; i < rows->count; i++)
        profile_table_text_row(&table, profile, &rows->rows[i], i + 1);
    tv_text_table_end(&table);
    tv_text_table_write_rest(out, rows->left_out);
}

/* Escape everything that Markdown would interpret. */
void tv_profile_row_markdown(struct tv_out *out, const struct tv_trace_info *head, uint32_t frame)
{
    struct tv_out name;
    tv_out_init_memory(&name);
    tv_profile_row_name(&name, head, frame);
    tv_out_char(out, '`');
    for (size_t i = 0; i < name.length; i++) {
        if (name.buffer[i] == '|')
            tv_out_char(out, '\\');
        tv_out_char(out, name.buffer[i] == '`' ? '\'' : (char)name.buffer[i]);
    }
    tv_out_char(out, '`');
    tv_out_release(&name);
}

/* Write a line of Markdown. */
static void profile_table_markdown_row(struct tv_out *out, const struct tv_profile *profile,
                                       const struct tv_method_cost *row, uint32_t rank)
{
    tv_out_format(out, "| %u |", rank);
    for (size_t i = 0; i < TV_COUNT(columns); i++) {
        if (!profile_table_has_column(profile, &columns[i]))
            continue;
        tv_out_char(out, ' ');
        profile_table_add_cell(out, profile, row, &columns[i]);
        tv_out_text(out, " |");
    }
    tv_out_char(out, ' ');
    tv_profile_row_markdown(out, profile->head, row->frame);
    tv_out_text(out, " |\n");
}

/* Write the notes and the table; a note needs an empty line before the table. */
static void profile_table_write_markdown(struct tv_out *out, const struct tv_profile *profile,
                                         const struct tv_profile_rows *rows)
{
    tv_figures_note(out, profile->head);
    tv_compensation_write(out, &profile->compensation, profile->clocks);
    if (profile->compensation.cost > 0 ||
        tv_trace_info_figures(profile->head) == TV_FIGURES_SAMPLED)
        tv_out_char(out, '\n');
    tv_out_text(out, "| # |");
    for (size_t i = 0; i < TV_COUNT(columns); i++) {
        if (profile_table_has_column(profile, &columns[i]))
            tv_out_format(out, " %s |", columns[i].title);
    }
    tv_out_text(out, " Method |\n|--:|");
    for (size_t i = 0; i < TV_COUNT(columns); i++) {
        if (profile_table_has_column(profile, &columns[i]))
            tv_out_text(out, "--:|");
    }
    tv_out_text(out, ":--|\n");
    for (uint32_t i = 0; i < rows->count; i++)
        profile_table_markdown_row(out, profile, &rows->rows[i], i + 1);
}

void tv_profile_table_write(struct tv_out *out, const struct tv_profile *profile,
                            const struct tv_profile_rows *rows, enum tv_table_format format)
{
    if (profile->figures.sampled) {
        tv_value_table_write(out, profile, rows, format);
        return;
    }
    switch (format) {
    case TV_TABLE_TEXT:
        profile_table_write_text(out, profile, rows);
        return;
    case TV_TABLE_CSV:
        profile_table_write_csv(out, profile, rows);
        return;
    case TV_TABLE_JSON:
        profile_table_write_json(out, profile, rows);
        return;
    case TV_TABLE_MARKDOWN:
        profile_table_write_markdown(out, profile, rows);
        return;
    }
}
