/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_table.c - text tables for files and for screens.
 *
 * Cells are collected in one text with an array of their ends. For a file, each row is written and
 * dropped at its end. For a screen, the table keeps all rows, because the widths depend on all of
 * them.
 *
 *     text     1.25|40.0|main|0.75|24.0|run      cells of row 0, its name, cells of row 1, ...
 *     cells    ends 4, 8, 12, 16, 20, 23, with a style each
 *
 * All columns are collected, even those that are not shown: which ones stay is known only when the
 * names are.  A screen gives names up to 40 columns first, because a figure without a name says
 * nothing; then columns vanish by rank, unless the user named them with --columns.
 */
#include "writers/text/text_table.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "writers/text/names.h"

/* Shares from these parts of the whole on are coloured. */
#define HOT_SHARE 0.1
#define WARM_SHARE 0.01

/* On a screen names get this many columns, or half of the width, before figures get any. */
#define NAME_ROOM 40
/* Names that have less room, because no more columns can be hidden, make lines too long. */
#define MIN_NAME_ROOM 12u

void tv_text_table_begin(struct tv_text_table *table, struct tv_out *out, const char *name_title)
{
    *table = (struct tv_text_table){.out = out, .name_title = name_title};
    tv_out_init_memory(&table->text);
    table->text.layout = out->layout;
}

void tv_text_table_add(struct tv_text_table *table, const struct tv_text_column *column)
{
    assert(!table->begun && table->count < TV_TEXT_TABLE_COLUMNS);
    table->columns[table->count++] = *column;
}

/* ---- Cells ---- */

/* Set the end of the last cell, whose text is now complete. */
static void text_table_close_cell(struct tv_text_table *table)
{
    if (table->cell_count > 0)
        table->cells[table->cell_count - 1].end = table->text.length;
}

struct tv_out *tv_text_table_cell(struct tv_text_table *table)
{
    text_table_close_cell(table);
    table->cells = tv_array_reserve(table->cells, &table->cell_capacity, table->cell_count + 1,
                                    sizeof *table->cells);
    table->cells[table->cell_count++] = (struct tv_text_table_cell){0, TV_STYLE_PLAIN};
    return &table->text;
}

void tv_text_table_figure(struct tv_text_table *table, struct tv_figure_unit unit, tv_ns figure)
{
    tv_out_time(tv_text_table_cell(table), figure, unit.ns, unit.decimals);
}

void tv_text_table_share(struct tv_text_table *table, int64_t part, int64_t whole)
{
    assert(table->count > 0);
    tv_names_percent(tv_text_table_cell(table), part, whole);
    enum tv_style *style = &table->cells[table->cell_count - 1].style;
    if (part > 0 && (double)part >= HOT_SHARE * (double)whole)
        *style = TV_STYLE_HOT;
    else if (part > 0 && (double)part >= WARM_SHARE * (double)whole)
        *style = TV_STYLE_WARM;
}

void tv_text_table_number(struct tv_text_table *table, uint64_t value)
{
    tv_out_u64(tv_text_table_cell(table), value);
}

struct tv_out *tv_text_table_name(struct tv_text_table *table, uint32_t indent)
{
    table->indents = tv_array_reserve(table->indents, &table->row_capacity, table->row_count + 1,
                                      sizeof *table->indents);
    table->indents[table->row_count++] = indent;
    return tv_text_table_cell(table);
}

/* Return the text of a cell. Cells are consecutive in `text`, so that a cell starts where the
 * previous one ends. */
static struct tv_bytes text_table_cell_text(const struct tv_text_table *table, size_t row,
                                            uint32_t column)
{
    size_t cell = row * (table->count + 1) + column;
    size_t start = cell > 0 ? table->cells[cell - 1].end : 0;
    assert(cell < table->cell_count);
    return (struct tv_bytes){table->text.buffer + start, table->cells[cell].end - start};
}

/* ---- Choice of columns ---- */

static bool text_table_is_column_shown(const struct tv_text_table *table, uint32_t column)
{
    for (uint32_t i = 0; i < table->shown_count; i++)
        if (table->shown[i] == column)
            return true;
    return false;
}

bool tv_text_table_is_name(struct tv_bytes choice, struct tv_bytes word)
{
    if (choice.length != word.length)
        return false;
    for (size_t i = 0; i < word.length; i++) {
        bool old = word.length - i >= 4 && memcmp(word.data + i, "real", 4) == 0 &&
                   memcmp(choice.data + i, "wall", 4) == 0;
        if (old)
            i += 3;
        else if (choice.data[i] != word.data[i])
            return false;
    }
    return true;
}

/* Add the columns of that name which are not shown yet. */
static void text_table_show_columns_of(struct tv_text_table *table, struct tv_bytes name)
{
    for (uint32_t i = 0; i < table->count; i++)
        if (table->columns[i].name && !text_table_is_column_shown(table, i) &&
            tv_text_table_is_name(tv_bytes_of(table->columns[i].name), name))
            table->shown[table->shown_count++] = i;
}

/* Show the columns that always stay, or with `chosen` those that can be chosen, too. */
static void text_table_show_all_columns(struct tv_text_table *table, bool chosen)
{
    table->shown_count = 0;
    for (uint32_t i = 0; i < table->count; i++)
        if (chosen || !table->columns[i].name)
            table->shown[table->shown_count++] = i;
}

/* Show the columns that --columns names, in that order, after the columns that always stay. A
 * table without any of them shows all of its columns. */
static void text_table_show_columns(struct tv_text_table *table)
{
    const char *wanted = table->out->layout ? table->out->layout->columns : NULL;
    struct tv_bytes rest = wanted ? tv_bytes_of(wanted) : TV_BYTES(""), word;
    assert(table->count <= TV_TEXT_TABLE_COLUMNS);
    text_table_show_all_columns(table, false);
    uint32_t always = table->shown_count;
    while (rest.length > 0) {
        tv_bytes_split(&rest, ',', &word);
        text_table_show_columns_of(table, word);
    }
    bool found = table->shown_count > always;
    if (wanted)
        *(found ? &table->out->layout->found_columns : &table->out->layout->lacks_columns) = true;
    if (!found)
        text_table_show_all_columns(table, true);
}

/* ---- Output to a file: row by row ---- */

static void text_table_write_blanks(struct tv_out *out, uint32_t count)
{
    static const char blanks[] = "                                ";
    const uint32_t most = sizeof blanks - 1;
    for (; count > most; count -= most)
        tv_out_bytes(out, (struct tv_bytes){(const uint8_t *)blanks, most});
    tv_out_bytes(out, (struct tv_bytes){(const uint8_t *)blanks, count});
}

/* Write right-aligned text; only the text itself gets the style. Text that needs the whole width or
 * more gets a blank in front of it if `gap` is set: the figures of two columns would become one
 * number. */
static void text_table_write_right(struct tv_out *out, struct tv_bytes text, uint32_t width,
                                   enum tv_style style, bool gap)
{
    /* Files have many rows, and their figures are ASCII, so a byte is a column. */
    uint32_t columns = tv_layout_width(out) > 0 ? tv_layout_columns(text) : (uint32_t)text.length;
    text_table_write_blanks(out, columns < width ? width - columns : gap);
    tv_layout_style(out, style);
    tv_out_bytes(out, text);
    tv_layout_plain(out, style);
}

static void text_table_write_file_head(struct tv_text_table *table)
{
    for (uint32_t i = 0; i < table->shown_count; i++) {
        const struct tv_text_column *column = &table->columns[table->shown[i]];
        text_table_write_right(table->out, tv_bytes_of(column->title),
                               column->title_width > 0 ? column->title_width : column->width,
                               TV_STYLE_TITLE, i > 0);
    }
    tv_out_text(table->out, "  ");
    tv_layout_text(table->out, TV_STYLE_TITLE, table->name_title);
    tv_out_char(table->out, '\n');
}

/* Write the row that was collected, and drop it. */
static void text_table_write_file_row(struct tv_text_table *table)
{
    assert(table->row_count == 1 && table->cell_count == table->count + 1);
    for (uint32_t i = 0; i < table->shown_count; i++) {
        uint32_t column = table->shown[i];
        text_table_write_right(table->out, text_table_cell_text(table, 0, column),
                               table->columns[column].width, table->cells[column].style, i > 0);
    }
    struct tv_bytes name = text_table_cell_text(table, 0, table->count);
    text_table_write_blanks(table->out, name.length > 0 ? 2 + table->indents[0] : 0);
    tv_out_bytes(table->out, name);
    tv_out_char(table->out, '\n');
    table->text.length = 0;
    table->cell_count = 0;
    table->row_count = 0;
}

/* Decide about columns with the first row, or at the end of a table without rows. */
static void text_table_begin_table(struct tv_text_table *table)
{
    table->begun = true;
    text_table_show_columns(table);
    if (tv_layout_width(table->out) == 0)
        text_table_write_file_head(table);
}

void tv_text_table_end_row(struct tv_text_table *table)
{
    text_table_close_cell(table);
    assert(table->cell_count == table->row_count * (table->count + 1));
    if (!table->begun)
        text_table_begin_table(table);
    if (tv_layout_width(table->out) == 0)
        text_table_write_file_row(table);
}

/* ---- Output to a screen: all rows at the end ---- */

static uint32_t text_table_max(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static uint32_t text_table_min(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Return the width that a column needs for its title and all of its cells. */
static uint32_t text_table_measure_column(const struct tv_text_table *table, uint32_t column)
{
    bool names = column == table->count;
    uint32_t width =
        tv_layout_columns(tv_bytes_of(names ? table->name_title : table->columns[column].title));
    for (size_t row = 0; row < table->row_count; row++)
        width = text_table_max(width, tv_layout_columns(text_table_cell_text(table, row, column)) +
                                          (names ? table->indents[row] : 0));
    return width;
}

/* Return the gap in front of a column. Shares are close to their figures. */
static uint32_t text_table_gap_before(const struct tv_text_table *table, uint32_t place)
{
    if (place == 0)
        return 0;
    return table->columns[table->shown[place]].title[0] == '%' ? 1 : 2;
}

/* Return the width of all figures, with the gap in front of the names. */
static uint32_t text_table_width_of_figures(const struct tv_text_table *table)
{
    uint32_t width = table->shown_count > 0 ? 2 : 0;
    for (uint32_t i = 0; i < table->shown_count; i++)
        width += text_table_gap_before(table, i) + table->columns[table->shown[i]].width;
    return width;
}

static void text_table_hide_column(struct tv_text_table *table, uint32_t place)
{
    assert(place < table->shown_count);
    table->shown_count--;
    memmove(&table->shown[place], &table->shown[place + 1],
            (table->shown_count - place) * sizeof *table->shown);
}

/* Return the position of the column that disappears first, or the number of columns when all
 * stay. */
static uint32_t text_table_find_least_column(const struct tv_text_table *table)
{
    uint32_t least = table->shown_count;
    for (uint32_t i = 0; i < table->shown_count; i++) {
        unsigned rank = table->columns[table->shown[i]].rank;
        if (rank > 0 &&
            (least == table->shown_count || rank >= table->columns[table->shown[least]].rank))
            least = i;
    }
    return least;
}

/* Hide columns until names have enough room. Return the room for names. */
static uint32_t text_table_fit_columns(struct tv_text_table *table)
{
    uint32_t width = tv_layout_width(table->out),
             names = text_table_measure_column(table, table->count);
    uint32_t wanted =
        text_table_min(names, text_table_min(NAME_ROOM, text_table_max(width / 2, 1)));
    for (uint32_t i = 0; i < table->count; i++)
        table->columns[i].width = text_table_measure_column(table, i);
    while (!table->out->layout->columns && text_table_width_of_figures(table) + wanted > width) {
        uint32_t least = text_table_find_least_column(table);
        if (least == table->shown_count)
            break;
        text_table_hide_column(table, least);
        table->out->layout->hid_columns = true;
    }
    uint32_t figures = text_table_width_of_figures(table);
    return figures + text_table_min(wanted, MIN_NAME_ROOM) < width ? width - figures : wanted;
}

/* Write the title of the names, without what follows its colon when that does not fit. */
static void text_table_write_name_title(struct tv_text_table *table, uint32_t room)
{
    struct tv_bytes title = tv_bytes_of(table->name_title), head = title, rest = title;
    if (tv_layout_columns(title) > room && tv_bytes_split(&rest, ':', &head))
        title = head;
    tv_layout_style(table->out, TV_STYLE_TITLE);
    tv_out_bytes(table->out, title);
    tv_layout_plain(table->out, TV_STYLE_TITLE);
}

static void text_table_write_screen_head(struct tv_text_table *table, uint32_t room)
{
    for (uint32_t i = 0; i < table->shown_count; i++) {
        const struct tv_text_column *column = &table->columns[table->shown[i]];
        text_table_write_blanks(table->out, text_table_gap_before(table, i));
        text_table_write_right(table->out, tv_bytes_of(column->title), column->width,
                               TV_STYLE_TITLE, false);
    }
    text_table_write_blanks(table->out, table->shown_count > 0 ? 2 : 0);
    text_table_write_name_title(table, room);
    tv_out_char(table->out, '\n');
}

/* Write a row that is as wide as the terminal: the columns that are shown, then the name in what is
 * left (`room`). Indents take at most half of it, so that a deep row keeps a legible name. */
static void text_table_write_screen_row(struct tv_text_table *table, size_t row, uint32_t room)
{
    uint32_t indent = text_table_min(table->indents[row], room / 2);
    for (uint32_t i = 0; i < table->shown_count; i++) {
        uint32_t column = table->shown[i];
        text_table_write_blanks(table->out, text_table_gap_before(table, i));
        text_table_write_right(table->out, text_table_cell_text(table, row, column),
                               table->columns[column].width,
                               table->cells[row * (table->count + 1) + column].style, false);
    }
    struct tv_bytes name = text_table_cell_text(table, row, table->count);
    if (name.length > 0)
        text_table_write_blanks(table->out, (table->shown_count > 0 ? 2 : 0) + indent);
    tv_layout_fit(table->out, name, room - indent);
    tv_out_char(table->out, '\n');
}

void tv_text_table_write_rest(struct tv_out *out, uint32_t methods)
{
    tv_text_table_write_rest_of(out, methods, "method", "methods");
}

void tv_text_table_write_rest_of(struct tv_out *out, uint32_t rows, const char *one,
                                 const char *several)
{
    if (rows == 0 || !out->layout || !out->layout->terminal)
        return;
    tv_layout_style(out, TV_STYLE_DIM);
    tv_out_format(out, "%u more %s: --limit 0 shows all, --limit N the first N\n", rows,
                  tv_plural(rows, one, several));
    tv_layout_plain(out, TV_STYLE_DIM);
}

void tv_text_table_end(struct tv_text_table *table)
{
    if (!table->begun)
        text_table_begin_table(table);
    if (tv_layout_width(table->out) > 0) {
        uint32_t room = text_table_fit_columns(table);
        text_table_write_screen_head(table, room);
        for (size_t row = 0; row < table->row_count; row++)
            text_table_write_screen_row(table, row, room);
    }
    tv_out_release(&table->text);
    tv_free(table->cells);
    tv_free(table->indents);
}
