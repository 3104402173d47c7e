/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chart.c - the rows of a result as bars for a terminal (values.h).
 *
 *     main         5  ########################################
 *     render       2  ################
 *
 * The bar is that of the last column of numbers; the other columns stand in front of it.  The rows
 * are in the order of the result, and more than fit on a few screens are not drawn.
 */
#include <math.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "sql/values.h"
#include "writers/text/names.h"

#define MAX_CHART_ROWS 200u
#define BAR_WIDTH 40
/* Maximum width of a column: cells that are longer move the bars of their rows alone. */
#define MAX_CELL_WIDTH 100u

struct sql_chart {
    const struct tv_sql_columns *columns;
    uint64_t measure; /* the column of the bars */
    struct tv_out texts;
    size_t ends[MAX_CHART_ROWS * TV_SQL_MAX_COLUMNS]; /* ends of the cells in `texts` */
    double values[MAX_CHART_ROWS];
    uint64_t rows;
    size_t widths[TV_SQL_MAX_COLUMNS];
    bool more; /* there are rows that are not drawn */
};

static bool chart_is_number(int type)
{
    return (type >= DUCK_TINYINT && type <= DUCK_DOUBLE) || type == DUCK_HUGEINT;
}

/* Count the characters of UTF-8: bytes that do not continue one. */
static size_t chart_width(struct tv_bytes text)
{
    size_t width = 0;
    for (size_t i = 0; i < text.length; i++)
        width += (text.data[i] & 0xc0) != 0x80;
    return width;
}

/* Append the text of a value; return its number, 0 for what is none. */
static double chart_put_value(struct tv_out *out, const struct tv_sql_value *value)
{
    switch (value->kind) {
    case TV_SQL_IS_BOOLEAN:
        tv_out_text(out, value->integer ? "true" : "false");
        return 0;
    case TV_SQL_IS_INTEGER:
        tv_out_i64(out, value->integer);
        return (double)value->integer;
    case TV_SQL_IS_HUGE:
        tv_sql_put_huge(out, value);
        return tv_sql_huge_real(value);
    case TV_SQL_IS_REAL:
        tv_out_format(out, "%.6g", value->real);
        return value->real;
    case TV_SQL_IS_TEXT:
        tv_names_line(out, value->text);
        return 0;
    default:
        tv_out_text(out, "NULL");
        return 0;
    }
}

/* Note that a cell ends here. */
static void chart_end_cell(struct sql_chart *chart, uint64_t row, uint64_t column)
{
    size_t cell = (size_t)(row * chart->columns->count + column);
    size_t start = cell > 0 ? chart->ends[cell - 1] : 0;
    chart->ends[cell] = chart->texts.length;
    size_t width =
        chart_width((struct tv_bytes){chart->texts.buffer + start, chart->texts.length - start});
    if (width > chart->widths[column])
        chart->widths[column] = width < MAX_CELL_WIDTH ? width : MAX_CELL_WIDTH;
}

static void chart_add_rows(struct sql_chart *chart, const struct tv_sql_chunk *chunk, uint64_t most)
{
    for (uint64_t row = 0; row < chunk->count; row++, chart->rows++) {
        if (chart->rows == most) {
            chart->more = true;
            return;
        }
        for (uint64_t i = 0; i < chart->columns->count; i++) {
            struct tv_sql_value value = tv_sql_value_read(&chart->columns->items[i], chunk->data[i],
                                                          chunk->validity[i], row);
            double number = chart_put_value(&chart->texts, &value);
            if (i == chart->measure)
                chart->values[chart->rows] = number;
            chart_end_cell(chart, chart->rows, i);
        }
    }
}

static void chart_pad(struct tv_out *out, size_t width)
{
    while (width-- > 0)
        tv_out_char(out, ' ');
}

/* Write a cell and the space behind or, for numbers, before it. */
static void chart_write_cell(struct tv_out *out, const struct sql_chart *chart, uint64_t column,
                             struct tv_bytes text)
{
    bool right = chart_is_number(chart->columns->items[column].type);
    size_t width = chart_width(text);
    size_t space = width < chart->widths[column] ? chart->widths[column] - width : 0;
    chart_pad(out, right ? space : 0);
    tv_out_bytes(out, text);
    chart_pad(out, (right ? 0 : space) + 2);
}

/* Write the names of the columns, or only widen the columns for them. */
static void chart_put_heading(struct tv_out *out, struct sql_chart *chart)
{
    struct tv_out name;
    tv_out_init_memory(&name);
    for (uint64_t i = 0; i < chart->columns->count; i++) {
        name.length = 0;
        tv_names_line(&name, tv_bytes_of(chart->columns->items[i].name));
        struct tv_bytes text = {name.buffer, name.length};
        size_t width = chart_width(text);
        if (out)
            chart_write_cell(out, chart, i, text);
        else
            chart->widths[i] = width < MAX_CELL_WIDTH ? width : MAX_CELL_WIDTH;
    }
    if (out)
        tv_out_char(out, '\n');
    tv_out_release(&name);
}

/* Write a bar in proportion to the largest value; one below 0 is of another character. */
static void chart_write_bar(struct tv_out *out, double value, double largest)
{
    double length = largest > 0 ? fabs(value) / largest * BAR_WIDTH : 0;
    for (int i = 0; i < BAR_WIDTH && i + 0.5 <= length; i++)
        tv_out_char(out, value < 0 ? '-' : '#');
    tv_out_char(out, '\n');
}

static void chart_write(struct tv_out *out, struct sql_chart *chart, struct tv_bytes file)
{
    double largest = 0;
    for (uint64_t row = 0; row < chart->rows; row++)
        if (isfinite(chart->values[row]) && fabs(chart->values[row]) > largest)
            largest = fabs(chart->values[row]);
    if (file.data) {
        tv_names_line(out, file);
        tv_out_char(out, '\n');
    }
    chart_put_heading(out, chart);
    for (uint64_t row = 0; row < chart->rows; row++) {
        for (uint64_t i = 0; i < chart->columns->count; i++) {
            size_t cell = (size_t)(row * chart->columns->count + i);
            size_t start = cell > 0 ? chart->ends[cell - 1] : 0;
            chart_write_cell(
                out, chart, i,
                (struct tv_bytes){chart->texts.buffer + start, chart->ends[cell] - start});
        }
        chart_write_bar(out, isfinite(chart->values[row]) ? chart->values[row] : 0, largest);
    }
    if (chart->more)
        tv_out_format(out, "(the first %u rows)\n", MAX_CHART_ROWS);
}

enum tv_status tv_sql_write_chart(struct tv_out *out, const struct tv_sql_columns *columns,
                                  const struct tv_sql_rows *from, struct tv_sql_output *output,
                                  struct tv_error *err)
{
    struct tv_sql_chunk chunk;
    uint64_t measure = columns->count;
    bool limited = output->max_rows > 0 && output->max_rows < MAX_CHART_ROWS;
    while (measure > 0 && !chart_is_number(columns->items[measure - 1].type))
        measure--;
    if (measure == 0)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "SQL: a chart needs a column of numbers, as in: select name, count(*)");
    struct sql_chart *chart = tv_alloc(1, sizeof *chart);
    chart->columns = columns;
    chart->measure = measure - 1;
    tv_out_init_memory(&chart->texts);
    chart_put_heading(NULL, chart);
    while (!chart->more && tv_sql_chunk_fetch(&chunk, from, columns->count)) {
        chart_add_rows(chart, &chunk, limited ? output->max_rows : MAX_CHART_ROWS);
        tv_sql_chunk_release(&chunk);
    }
    chart->more = chart->more && !limited;
    chart_write(out, chart, output->file);
    output->rows = chart->rows;
    tv_out_release(&chart->texts);
    tv_free(chart);
    return TV_OK;
}
