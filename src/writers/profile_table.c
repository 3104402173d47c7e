/* SPDX-License-Identifier: Apache-2.0 */
#include "writers/profile_table.h"

#include <string.h>

#include "base/memory.h"
#include "writers/compensation_text.h"
#include "writers/names.h"

#define WAITS "(context switch)"

static int64_t key_of(const struct tv_method_cost *row, enum tv_profile_order order)
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

static void insert_waits(struct tv_profile_rows *rows, const struct tv_path_cost *waits,
                         enum tv_profile_order order)
{
    struct tv_method_cost row = {
        .frame = TV_NONE,
        .calls = waits->calls,
        .incl_wall = waits->wall,
        .excl_wall = waits->wall,
    };
    uint32_t at = 0;
    while (at < rows->count && key_of(&rows->rows[at], order) > key_of(&row, order))
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
        insert_waits(rows, &profile->waits, order);
    if (limit > 0 && rows->count > limit)
        rows->count = (uint32_t)limit;
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

static struct tv_frame frame_of(const struct tv_head *head, uint32_t frame)
{
    if (frame == TV_NONE)
        return (struct tv_frame){.name = TV_EMPTY_STRING};
    return head->frames[frame];
}

/* "Cart.java:17", "Cart.java", or nothing. */
static void add_source(struct tv_out *out, const struct tv_head *head, const struct tv_frame *frame)
{
    if (frame->file == TV_EMPTY_STRING)
        return;
    tv_names_line(out, tv_head_text(head, frame->file));
    if (frame->line > 0)
        tv_out_format(out, ":%d", (int)frame->line);
}

static struct tv_bytes method_text(const struct tv_head *head, uint32_t index,
                                   const struct tv_frame *frame)
{
    return index == TV_NONE ? TV_BYTES(WAITS) : tv_head_text(head, frame->name);
}

/* ---- JSON ---- */

static void json_text(struct tv_out *out, const char *key, struct tv_bytes text)
{
    tv_out_format(out, "\"%s\": ", key);
    tv_out_json(out, text);
    tv_out_text(out, ", ");
}

static void json_time(struct tv_out *out, const char *key, bool there, int64_t ns)
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
    struct tv_frame frame = frame_of(head, row->frame);
    bool wall = profile->clocks & TV_CLOCK_WALL, cpu = profile->clocks & TV_CLOCK_CPU;
    struct tv_out source;
    tv_out_init_memory(&source);
    add_source(&source, head, &frame);
    if (tv_head_has_categories(head)) {
        json_text(out, "name", method_text(head, row->frame, &frame));
        json_text(out, "category", tv_head_text(head, frame.category));
    } else {
        json_text(out, "class", tv_head_text(head, frame.class_name));
        json_text(out, "method", method_text(head, row->frame, &frame));
    }
    json_text(out, "signature", tv_head_text(head, frame.signature));
    if (source.length > 0)
        json_text(out, "source", (struct tv_bytes){source.buffer, source.length});
    else
        tv_out_text(out, "\"source\": null, ");
    tv_out_release(&source);
    tv_out_text(out, "\"calls\": ");
    tv_out_u64(out, row->calls);
    tv_out_text(out, ", \"recursive_calls\": ");
    tv_out_u64(out, row->recursive_calls);
    json_time(out, "incl_real_ns", wall, row->incl_wall);
    json_time(out, "excl_real_ns", wall, row->excl_wall);
    json_time(out, "incl_cpu_ns", cpu, row->incl_cpu);
    json_time(out, "excl_cpu_ns", cpu, row->excl_cpu);
    if (profile->compensation.cost > 0)
        json_time(out, "compensated_ns", true, profile->compensation.cost);
}

static void write_json(struct tv_out *out, const struct tv_profile *profile,
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

static void csv_time(struct tv_out *out, bool there, int64_t ns)
{
    tv_out_char(out, ',');
    if (there)
        tv_out_i64(out, ns);
}

static void csv_row(struct tv_out *out, const struct tv_profile *profile,
                    const struct tv_method_cost *row)
{
    const struct tv_head *head = profile->head;
    struct tv_frame frame = frame_of(head, row->frame);
    bool wall = profile->clocks & TV_CLOCK_WALL, cpu = profile->clocks & TV_CLOCK_CPU;
    struct tv_out source;
    tv_out_init_memory(&source);
    add_source(&source, head, &frame);
    bool categories = tv_head_has_categories(head);
    struct tv_bytes method = method_text(head, row->frame, &frame);
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
    csv_time(out, wall, row->incl_wall);
    csv_time(out, wall, row->excl_wall);
    csv_time(out, cpu, row->incl_cpu);
    csv_time(out, cpu, row->excl_cpu);
    if (profile->compensation.cost > 0)
        csv_time(out, true, profile->compensation.cost);
    tv_out_text(out, "\n");
}

static void write_csv(struct tv_out *out, const struct tv_profile *profile,
                      const struct tv_profile_rows *rows)
{
    tv_out_text(out, tv_head_has_categories(profile->head) ? "name,category" : "class,method");
    tv_out_text(out, ",signature,source,calls,recursive_calls,"
                     "incl_real_ns,excl_real_ns,incl_cpu_ns,excl_cpu_ns");
    tv_out_text(out, profile->compensation.cost > 0 ? ",compensated_ns\n" : "\n");
    for (uint32_t i = 0; i < rows->count; i++)
        csv_row(out, profile, &rows->rows[i]);
}

/* ---- Text and Markdown: one list of columns ---- */

enum column_kind {
    TIME,
    PERCENT,
    CALLS,
    PER_CALL,
};

struct column {
    const char *title;
    enum column_kind kind;
    unsigned clock; /* 0: in every table */
    size_t place;   /* of the figure in struct tv_method_cost */
};

static const struct column columns[] = {
    {"Incl CPU ms", TIME, TV_CLOCK_CPU, offsetof(struct tv_method_cost, incl_cpu)},
    {"%", PERCENT, TV_CLOCK_CPU, offsetof(struct tv_method_cost, incl_cpu)},
    {"Excl CPU ms", TIME, TV_CLOCK_CPU, offsetof(struct tv_method_cost, excl_cpu)},
    {"%", PERCENT, TV_CLOCK_CPU, offsetof(struct tv_method_cost, excl_cpu)},
    {"Incl Real ms", TIME, TV_CLOCK_WALL, offsetof(struct tv_method_cost, incl_wall)},
    {"%", PERCENT, TV_CLOCK_WALL, offsetof(struct tv_method_cost, incl_wall)},
    {"Excl Real ms", TIME, TV_CLOCK_WALL, offsetof(struct tv_method_cost, excl_wall)},
    {"%", PERCENT, TV_CLOCK_WALL, offsetof(struct tv_method_cost, excl_wall)},
    {"Calls+Recur", CALLS, 0, 0},
    {"CPU/Call ms", PER_CALL, TV_CLOCK_CPU, offsetof(struct tv_method_cost, incl_cpu)},
    {"Real/Call ms", PER_CALL, TV_CLOCK_WALL, offsetof(struct tv_method_cost, incl_wall)},
};

#define MS 1000000
#define PERCENT_WIDTH 7
#define TIME_WIDTH 14

static void add_cell(struct tv_out *out, const struct tv_profile *profile,
                     const struct tv_method_cost *row, const struct column *column)
{
    int64_t value = 0;
    uint64_t calls = row->calls + row->recursive_calls;
    if (column->kind != CALLS)
        memcpy(&value, (const char *)row + column->place, sizeof value);
    switch (column->kind) {
    case TIME:
        tv_out_time(out, value, MS, 3);
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
        tv_out_time(out, calls > 0 ? value / (int64_t)calls : 0, MS, 3);
        return;
    }
}

static void pad_left(struct tv_out *out, size_t width, struct tv_bytes text)
{
    for (size_t i = text.length; i < width; i++)
        tv_out_char(out, ' ');
    tv_out_bytes(out, text);
}

static size_t width_of(const struct column *column)
{
    return column->kind == PERCENT ? PERCENT_WIDTH : TIME_WIDTH;
}

static bool has_column(const struct tv_profile *profile, const struct column *column)
{
    return column->clock == 0 || (profile->clocks & column->clock);
}

static void text_row(struct tv_out *out, const struct tv_profile *profile,
                     const struct tv_method_cost *row, uint32_t rank)
{
    struct tv_out cell;
    tv_out_init_memory(&cell);
    tv_out_format(out, "%5u", rank);
    for (size_t i = 0; i < TV_COUNT(columns); i++) {
        if (!has_column(profile, &columns[i]))
            continue;
        cell.length = 0;
        add_cell(&cell, profile, row, &columns[i]);
        pad_left(out, width_of(&columns[i]), (struct tv_bytes){cell.buffer, cell.length});
    }
    tv_out_release(&cell);
    tv_out_text(out, "  ");
    tv_profile_row_name(out, profile->head, row->frame);
    tv_out_char(out, '\n');
}

static void write_text(struct tv_out *out, const struct tv_profile *profile,
                       const struct tv_profile_rows *rows)
{
    tv_compensation_write(out, &profile->compensation, profile->clocks);
    tv_out_text(out, "    #");
    for (size_t i = 0; i < TV_COUNT(columns); i++) {
        if (has_column(profile, &columns[i]))
            tv_out_format(out, "%*s", (int)width_of(&columns[i]), columns[i].title);
    }
    tv_out_text(out, "  Method\n");
    for (uint32_t i = 0; i < rows->count; i++)
        text_row(out, profile, &rows->rows[i], i + 1);
}

/* What Markdown would take for markup is escaped; a name stands in a code span. */
static void markdown_name(struct tv_out *out, const struct tv_head *head, uint32_t frame)
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

static void markdown_row(struct tv_out *out, const struct tv_profile *profile,
                         const struct tv_method_cost *row, uint32_t rank)
{
    tv_out_format(out, "| %u |", rank);
    for (size_t i = 0; i < TV_COUNT(columns); i++) {
        if (!has_column(profile, &columns[i]))
            continue;
        tv_out_char(out, ' ');
        add_cell(out, profile, row, &columns[i]);
        tv_out_text(out, " |");
    }
    tv_out_char(out, ' ');
    markdown_name(out, profile->head, row->frame);
    tv_out_text(out, " |\n");
}

static void write_markdown(struct tv_out *out, const struct tv_profile *profile,
                           const struct tv_profile_rows *rows)
{
    tv_compensation_write(out, &profile->compensation, profile->clocks);
    if (profile->compensation.cost > 0)
        tv_out_char(out, '\n');
    tv_out_text(out, "| # |");
    for (size_t i = 0; i < TV_COUNT(columns); i++) {
        if (has_column(profile, &columns[i]))
            tv_out_format(out, " %s |", columns[i].title);
    }
    tv_out_text(out, " Method |\n|--:|");
    for (size_t i = 0; i < TV_COUNT(columns); i++) {
        if (has_column(profile, &columns[i]))
            tv_out_text(out, "--:|");
    }
    tv_out_text(out, ":--|\n");
    for (uint32_t i = 0; i < rows->count; i++)
        markdown_row(out, profile, &rows->rows[i], i + 1);
}

void tv_profile_table_write(struct tv_out *out, const struct tv_profile *profile,
                            const struct tv_profile_rows *rows, enum tv_table_format format)
{
    switch (format) {
    case TV_TABLE_TEXT:
        write_text(out, profile, rows);
        return;
    case TV_TABLE_CSV:
        write_csv(out, profile, rows);
        return;
    case TV_TABLE_JSON:
        write_json(out, profile, rows);
        return;
    case TV_TABLE_MARKDOWN:
        write_markdown(out, profile, rows);
        return;
    }
}
