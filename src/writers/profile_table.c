/* SPDX-License-Identifier: Apache-2.0 */
#include "writers/profile_table.h"

#include <string.h>

#include "base/memory.h"
#include "writers/compensation_text.h"
#include "writers/figures.h"
#include "writers/names.h"
#include "writers/text_table.h"

#define WAITS "(context switch)"

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
    tv_free(rows->rows);
}

void tv_profile_row_name(struct tv_out *out, const struct tv_head *head, uint32_t frame)
{
    if (frame == TV_NONE)
        tv_out_text(out, WAITS);
    else
        tv_names_full(out, head, &head->frames[frame]);
}

/* ---- What CSV and JSON have in common ---- */

static struct tv_frame profile_table_frame_of(const struct tv_head *head, uint32_t frame)
{
    if (frame == TV_NONE)
        return (struct tv_frame){.name = TV_EMPTY_STRING};
    return head->frames[frame];
}

/* Write "Cart.java:17", "Cart.java", or nothing. */
static void profile_table_add_source(struct tv_out *out, const struct tv_head *head,
                                     const struct tv_frame *frame)
{
    if (frame->file == TV_EMPTY_STRING)
        return;
    tv_names_line(out, tv_head_text(head, frame->file));
    if (frame->line > 0)
        tv_out_format(out, ":%d", (int)frame->line);
}

static struct tv_bytes profile_table_method_text(const struct tv_head *head, uint32_t index,
                                                 const struct tv_frame *frame)
{
    return index == TV_NONE ? TV_BYTES(WAITS) : tv_head_text(head, frame->name);
}

/* ---- JSON ---- */

static void profile_table_json_text(struct tv_out *out, const char *key, struct tv_bytes text)
{
    tv_out_format(out, "\"%s\": ", key);
    tv_out_json(out, text);
    tv_out_text(out, ", ");
}

static void profile_table_json_time(struct tv_out *out, const char *key, bool there, int64_t ns)
{
    tv_out_format(out, ", \"%s\": ", key);
    if (there)
        tv_out_i64(out, ns);
    else
        tv_out_text(out, "null");
}

void tv_profile_row_json(struct tv_out *out, const struct tv_profile *profile,
                         const struct tv_method_cost *row)
{
    const struct tv_head *head = profile->head;
    struct tv_frame frame = profile_table_frame_of(head, row->frame);
    bool wall = profile->clocks & TV_CLOCK_WALL, cpu = profile->clocks & TV_CLOCK_CPU;
    struct tv_out source;
    tv_out_init_memory(&source);
    profile_table_add_source(&source, head, &frame);
    if (tv_head_has_categories(head)) {
        profile_table_json_text(out, "name", profile_table_method_text(head, row->frame, &frame));
        profile_table_json_text(out, "category", tv_head_text(head, frame.category));
    } else {
        profile_table_json_text(out, "class", tv_head_text(head, frame.class_name));
        profile_table_json_text(out, "method", profile_table_method_text(head, row->frame, &frame));
    }
    profile_table_json_text(out, "signature", tv_head_text(head, frame.signature));
    if (source.length > 0)
        profile_table_json_text(out, "source", (struct tv_bytes){source.buffer, source.length});
    else
        tv_out_text(out, "\"source\": null, ");
    tv_out_release(&source);
    tv_out_text(out, "\"calls\": ");
    tv_out_u64(out, row->calls);
    tv_out_text(out, ", \"recursive_calls\": ");
    tv_out_u64(out, row->recursive_calls);
    profile_table_json_time(out, "incl_real_ns", wall, row->incl_wall);
    profile_table_json_time(out, "excl_real_ns", wall, row->excl_wall);
    profile_table_json_time(out, "incl_cpu_ns", cpu, row->incl_cpu);
    profile_table_json_time(out, "excl_cpu_ns", cpu, row->excl_cpu);
    if (profile->compensation.cost > 0)
        profile_table_json_time(out, "compensated_ns", true, profile->compensation.cost);
}

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

static void profile_table_csv_time(struct tv_out *out, bool there, int64_t ns)
{
    tv_out_char(out, ',');
    if (there)
        tv_out_i64(out, ns);
}

static void profile_table_csv_row(struct tv_out *out, const struct tv_profile *profile,
                                  const struct tv_method_cost *row)
{
    const struct tv_head *head = profile->head;
    struct tv_frame frame = profile_table_frame_of(head, row->frame);
    bool wall = profile->clocks & TV_CLOCK_WALL, cpu = profile->clocks & TV_CLOCK_CPU;
    struct tv_out source;
    tv_out_init_memory(&source);
    profile_table_add_source(&source, head, &frame);
    bool categories = tv_head_has_categories(head);
    struct tv_bytes method = profile_table_method_text(head, row->frame, &frame);
    tv_out_csv(out, categories ? method : tv_head_text(head, frame.class_name));
    tv_out_char(out, ',');
    tv_out_csv(out, categories ? tv_head_text(head, frame.category) : method);
    tv_out_char(out, ',');
    tv_out_csv(out, tv_head_text(head, frame.signature));
    tv_out_char(out, ',');
    tv_out_csv(out, (struct tv_bytes){source.buffer, source.length});
    tv_out_release(&source);
    tv_out_char(out, ',');
    tv_out_u64(out, row->calls);
    tv_out_char(out, ',');
    tv_out_u64(out, row->recursive_calls);
    profile_table_csv_time(out, wall, row->incl_wall);
    profile_table_csv_time(out, wall, row->excl_wall);
    profile_table_csv_time(out, cpu, row->incl_cpu);
    profile_table_csv_time(out, cpu, row->excl_cpu);
    if (profile->compensation.cost > 0)
        profile_table_csv_time(out, true, profile->compensation.cost);
    tv_out_text(out, "\n");
}

static void profile_table_write_csv(struct tv_out *out, const struct tv_profile *profile,
                                    const struct tv_profile_rows *rows)
{
    tv_out_text(out, tv_head_has_categories(profile->head) ? "name,category" : "class,method");
    tv_out_text(out, ",signature,source,calls,recursive_calls,"
                     "incl_real_ns,excl_real_ns,incl_cpu_ns,excl_cpu_ns");
    tv_out_text(out, profile->compensation.cost > 0 ? ",compensated_ns\n" : "\n");
    for (uint32_t i = 0; i < rows->count; i++)
        profile_table_csv_row(out, profile, &rows->rows[i]);
}

/* ---- Text and Markdown: one table of columns ---- */

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
    unsigned rank;  /* as in struct tv_column, among the columns of the same clock */
};

static const struct profile_column columns[] = {
    {"incl-cpu", "Incl CPU ms", TIME, TV_CLOCK_CPU, offsetof(struct tv_method_cost, incl_cpu), 1},
    {"incl-cpu", "%", PERCENT, TV_CLOCK_CPU, offsetof(struct tv_method_cost, incl_cpu), 3},
    {"excl-cpu", "Excl CPU ms", TIME, TV_CLOCK_CPU, offsetof(struct tv_method_cost, excl_cpu), 2},
    {"excl-cpu", "%", PERCENT, TV_CLOCK_CPU, offsetof(struct tv_method_cost, excl_cpu), 5},
    {"incl-real", "Incl Real ms", TIME, TV_CLOCK_WALL, offsetof(struct tv_method_cost, incl_wall),
     1},
    {"incl-real", "%", PERCENT, TV_CLOCK_WALL, offsetof(struct tv_method_cost, incl_wall), 3},
    {"excl-real", "Excl Real ms", TIME, TV_CLOCK_WALL, offsetof(struct tv_method_cost, excl_wall),
     2},
    {"excl-real", "%", PERCENT, TV_CLOCK_WALL, offsetof(struct tv_method_cost, excl_wall), 5},
    {"calls", "Calls+Recur", CALLS, 0, 0, 4},
    {"cpu-per-call", "CPU/Call ms", PER_CALL, TV_CLOCK_CPU,
     offsetof(struct tv_method_cost, incl_cpu), 6},
    {"real-per-call", "Real/Call ms", PER_CALL, TV_CLOCK_WALL,
     offsetof(struct tv_method_cost, incl_wall), 6},
};

#define PERCENT_WIDTH 7
#define TIME_WIDTH 14

/* Columns of the other clock disappear before those of the table's own clock. */
#define OTHER_CLOCK 6

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
        {"calls", TV_ORDER_CALLS},         {"incl-real", TV_ORDER_INCL_WALL},
        {"excl-real", TV_ORDER_EXCL_WALL}, {"incl-cpu", TV_ORDER_INCL_CPU},
        {"excl-cpu", TV_ORDER_EXCL_CPU},
    };
    for (size_t i = 0; i < TV_COUNT(orders); i++)
        if (orders[i].order == order)
            return column->kind != PERCENT && strcmp(orders[i].column, column->name) == 0;
    return false;
}

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

static void profile_table_add_profile_columns(struct tv_text_table *table,
                                              const struct tv_profile *profile,
                                              enum tv_profile_order order)
{
    tv_text_table_add(table, &(struct tv_text_column){.title = "#", .width = 5});
    for (size_t i = 0; i < TV_COUNT(columns); i++) {
        uint32_t width = columns[i].kind == PERCENT ? PERCENT_WIDTH : TIME_WIDTH;
        if (profile_table_has_column(profile, &columns[i]))
            tv_text_table_add(table, &(struct tv_text_column){
                                         columns[i].name,
                                         tv_figures_title(profile->head, columns[i].title), width,
                                         profile_table_rank_of(profile, order, &columns[i]), 0});
    }
}

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

/* Write a name in a code span, with everything escaped that Markdown would interpret. */
static void profile_table_markdown_name(struct tv_out *out, const struct tv_head *head,
                                        uint32_t frame)
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
    profile_table_markdown_name(out, profile->head, row->frame);
    tv_out_text(out, " |\n");
}

static void profile_table_write_markdown(struct tv_out *out, const struct tv_profile *profile,
                                         const struct tv_profile_rows *rows)
{
    tv_figures_note(out, profile->head);
    tv_compensation_write(out, &profile->compensation, profile->clocks);
    if (profile->compensation.cost > 0 || tv_head_figures(profile->head) == TV_FIGURES_SAMPLED)
        tv_out_char(out, '\n');
    tv_out_text(out, "| # |");
    for (size_t i = 0; i < TV_COUNT(columns); i++) {
        if (profile_table_has_column(profile, &columns[i]))
            tv_out_format(out, " %s |", tv_figures_title(profile->head, columns[i].title));
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
