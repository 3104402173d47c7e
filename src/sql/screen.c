/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screen.c - the rows of a result in aligned columns, for a terminal (values.h).
 *
 *     name        calls      ms
 *     take           26  138.139
 *     press.Ch…      12  101.533
 *
 * The first rows decide how wide the columns are.  Texts are shortened, the widest first, until a
 * line fits; columns for which there is no room even then are left out at the right, and a line
 * says so.
 */
#include "base/bytes.h"
#include "base/memory.h"
#include "sql/values.h"
#include "writers/text/layout.h"

#define MAX_MEASURED_ROWS 1000u

/* A text column is not made narrower than this. */
#define MIN_TEXT_WIDTH 12u

struct sql_screen {
    const struct tv_sql_columns *columns;
    struct tv_out *out;
    uint32_t width;      /* width of the screen */
    struct tv_out value; /* one that is being written */
    struct tv_out texts; /* cells of the measured rows; the names of the columns come first */
    size_t *ends;        /* [rows * columns] of the cells in `texts` */
    size_t end_count, end_capacity;
    uint32_t widths[TV_SQL_MAX_COLUMNS];
    uint64_t shown; /* columns that have room */
};

static bool screen_is_number(const struct sql_screen *screen, uint64_t column)
{
    int type = screen->columns->items[column].type;
    return (type >= DUCK_TINYINT && type <= DUCK_DOUBLE) || type == DUCK_HUGEINT;
}

/* Keep a cell of a measured row: as much of it as a line of the screen has room for. */
static void screen_keep(struct sql_screen *screen, uint64_t column, struct tv_bytes text)
{
    size_t before = screen->texts.length;
    tv_layout_fit(&screen->texts, text, screen->width);
    uint32_t width = tv_layout_columns(
        (struct tv_bytes){screen->texts.buffer + before, screen->texts.length - before});
    if (width > screen->widths[column])
        screen->widths[column] = width;
    screen->ends = tv_array_reserve(screen->ends, &screen->end_capacity, screen->end_count + 1,
                                    sizeof *screen->ends);
    screen->ends[screen->end_count++] = screen->texts.length;
}

/* Return the text of a value, valid until the next call. */
static struct tv_bytes screen_value(struct sql_screen *screen, const struct tv_sql_chunk *chunk,
                                    uint64_t column, uint64_t row)
{
    struct tv_sql_value value = tv_sql_value_read(
        &screen->columns->items[column], chunk->data[column], chunk->validity[column], row);
    screen->value.length = 0;
    tv_sql_put_value(&screen->value, TV_SQL_TABLE, &value);
    return (struct tv_bytes){screen->value.buffer, screen->value.length};
}

/* Return the least width that a column needs. */
static uint32_t screen_least(const struct sql_screen *screen, uint64_t column)
{
    uint32_t width = screen->widths[column];
    return screen_is_number(screen, column) || width < MIN_TEXT_WIDTH ? width : MIN_TEXT_WIDTH;
}

/* Choose the columns that have room, and make the widest texts of them narrower. */
static void screen_choose_widths(struct sql_screen *screen)
{
    uint64_t least = 0, whole = 0;
    while (screen->shown < screen->columns->count) {
        uint64_t between = screen->shown > 0 ? 2 : 0;
        if (screen->shown > 0 &&
            least + between + screen_least(screen, screen->shown) > screen->width)
            break;
        least += between + screen_least(screen, screen->shown);
        whole += between + screen->widths[screen->shown++];
    }
    while (whole > screen->width) {
        uint64_t widest = screen->shown;
        for (uint64_t i = 0; i < screen->shown; i++)
            if (screen->widths[i] > screen_least(screen, i) &&
                (widest == screen->shown || screen->widths[i] > screen->widths[widest]))
                widest = i;
        if (widest == screen->shown)
            return; /* one column that is wider than the screen */
        screen->widths[widest]--;
        whole--;
    }
}

static void screen_pad(struct tv_out *out, uint32_t width)
{
    while (width-- > 0)
        tv_out_char(out, ' ');
}

/* Write a cell; the last one of a line has no blanks after it. */
static void screen_write_cell(struct sql_screen *screen, uint64_t column, struct tv_bytes text)
{
    struct tv_out cell;
    uint32_t room = screen->widths[column];
    bool right = screen_is_number(screen, column), last = column + 1 == screen->shown;
    tv_out_init_memory(&cell);
    if (right)
        tv_out_bytes(&cell, text);
    else
        tv_layout_fit(&cell, text, room);
    struct tv_bytes fit = {cell.buffer, cell.length};
    uint32_t width = tv_layout_columns(fit), space = width < room ? room - width : 0;
    screen_pad(screen->out, right ? space : 0);
    tv_out_bytes(screen->out, fit);
    screen_pad(screen->out, last ? 0 : (right ? 0 : space) + 2);
    tv_out_release(&cell);
}

/* Write the rows that were measured, the heading in its style. */
static void screen_write_measured(struct sql_screen *screen)
{
    uint64_t columns = screen->columns->count, rows = screen->end_count / columns;
    for (uint64_t row = 0; row < rows; row++) {
        if (row == 0)
            tv_layout_style(screen->out, TV_STYLE_TITLE);
        for (uint64_t i = 0; i < screen->shown; i++) {
            size_t cell = (size_t)(row * columns + i);
            size_t start = cell > 0 ? screen->ends[cell - 1] : 0;
            screen_write_cell(
                screen, i,
                (struct tv_bytes){screen->texts.buffer + start, screen->ends[cell] - start});
        }
        if (row == 0)
            tv_layout_plain(screen->out, TV_STYLE_TITLE);
        tv_out_char(screen->out, '\n');
    }
}

/* Take a row: measured ones are kept, those after them are written. */
static void screen_add_row(struct sql_screen *screen, const struct tv_sql_chunk *chunk,
                           uint64_t row, uint64_t number)
{
    if (number == MAX_MEASURED_ROWS) {
        screen_choose_widths(screen);
        screen_write_measured(screen);
    }
    for (uint64_t i = 0; number < MAX_MEASURED_ROWS && i < screen->columns->count; i++)
        screen_keep(screen, i, screen_value(screen, chunk, i, row));
    for (uint64_t i = 0; number >= MAX_MEASURED_ROWS && i < screen->shown; i++)
        screen_write_cell(screen, i, screen_value(screen, chunk, i, row));
    if (number >= MAX_MEASURED_ROWS)
        tv_out_char(screen->out, '\n');
}

void tv_sql_write_screen(struct tv_out *out, const struct tv_sql_columns *columns,
                         const struct tv_sql_rows *from, struct tv_sql_output *output)
{
    struct sql_screen *screen = tv_alloc(1, sizeof *screen);
    struct tv_sql_chunk chunk;
    uint64_t rows = 0, most = output->max_rows > 0 ? output->max_rows : UINT64_MAX;
    *screen = (struct sql_screen){.columns = columns, .out = out, .width = tv_layout_width(out)};
    tv_out_init_memory(&screen->value);
    tv_out_init_memory(&screen->texts);
    for (uint64_t i = 0; i < columns->count; i++)
        screen_keep(screen, i, tv_bytes_of(columns->items[i].name));
    while (rows < most && !tv_out_has_failed(out) &&
           tv_sql_chunk_fetch(&chunk, from, columns->count)) {
        for (uint64_t row = 0; row < chunk.count && rows < most; row++)
            screen_add_row(screen, &chunk, row, rows++);
        tv_sql_chunk_release(&chunk);
    }
    output->rows = rows;
    if (rows <= MAX_MEASURED_ROWS) {
        screen_choose_widths(screen);
        screen_write_measured(screen);
    }
    if (screen->shown < columns->count) {
        tv_layout_style(out, TV_STYLE_DIM);
        tv_out_format(out, "Columns without room: %u (name some, or --wide)",
                      (unsigned)(columns->count - screen->shown));
        tv_layout_plain(out, TV_STYLE_DIM);
        tv_out_char(out, '\n');
    }
    tv_out_release(&screen->value);
    tv_out_release(&screen->texts);
    tv_free(screen->ends);
    tv_free(screen);
}
