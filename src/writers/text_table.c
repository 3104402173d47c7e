/* SPDX-License-Identifier: Apache-2.0 */
#include "writers/text_table.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "writers/names.h"

/* From these parts of the whole on a share is coloured. */
#define HOT_SHARE 0.1
#define WARM_SHARE 0.01

/* On a screen: names get so many columns, or half of the screen, before figures get theirs. */
#define NAME_ROOM 40

void tv_text_table_begin(struct tv_text_table *table, struct tv_out *out, const char *name_title)
{
    *table = (struct tv_text_table){.out = out, .name_title = name_title};
    tv_out_init_memory(&table->text);
    table->text.layout = out->layout;
}

void tv_text_table_add(struct tv_text_table *table, const struct tv_column *column)
{
    assert(!table->begun && table->count < TV_TEXT_TABLE_COLUMNS);
    table->columns[table->count++] = *column;
}

/* ---- Cells ---- */

static void end_last_cell(struct tv_text_table *table)
{
    if (table->cell_count > 0)
        table->cells[table->cell_count - 1].end = table->text.length;
}

struct tv_out *tv_text_table_cell(struct tv_text_table *table)
{
    end_last_cell(table);
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

static struct tv_bytes cell_text(const struct tv_text_table *table, size_t row, uint32_t column)
{
    size_t cell = row * (table->count + 1) + column;
    size_t start = cell > 0 ? table->cells[cell - 1].end : 0;
    return (struct tv_bytes){table->text.buffer + start, table->cells[cell].end - start};
}

/* ---- Which columns ---- */

static bool is_column_shown(const struct tv_text_table *table, uint32_t column)
{
    for (uint32_t i = 0; i < table->shown_count; i++)
        if (table->shown[i] == column)
            return true;
    return false;
}

static void show_columns_of(struct tv_text_table *table, struct tv_bytes name)
{
    for (uint32_t i = 0; i < table->count; i++)
        if (table->columns[i].name && !is_column_shown(table, i) &&
            tv_bytes_equal(tv_bytes_of(table->columns[i].name), name))
            table->shown[table->shown_count++] = i;
}

static void show_all_columns(struct tv_text_table *table, bool chosen)
{
    table->shown_count = 0;
    for (uint32_t i = 0; i < table->count; i++)
        if (chosen || !table->columns[i].name)
            table->shown[table->shown_count++] = i;
}

/* Show the columns that --columns names, in that order, behind those that cannot be chosen. A table
 * that has none of them shows all. */
static void show_columns(struct tv_text_table *table)
{
    const char *wanted = table->out->layout ? table->out->layout->columns : NULL;
    struct tv_bytes rest = wanted ? tv_bytes_of(wanted) : TV_BYTES(""), word;
    show_all_columns(table, false);
    uint32_t always = table->shown_count;
    while (rest.length > 0) {
        tv_bytes_split(&rest, ',', &word);
        show_columns_of(table, word);
    }
    bool found = table->shown_count > always;
    if (wanted)
        *(found ? &table->out->layout->found_columns : &table->out->layout->lacks_columns) = true;
    if (!found)
        show_all_columns(table, true);
}

/* ---- In a file: each row as it comes ---- */

static void write_blanks(struct tv_out *out, uint32_t count)
{
    static const char blanks[] = "                                ";
    const uint32_t most = sizeof blanks - 1;
    for (; count > most; count -= most)
        tv_out_bytes(out, (struct tv_bytes){(const uint8_t *)blanks, most});
    tv_out_bytes(out, (struct tv_bytes){(const uint8_t *)blanks, count});
}

/* Right-aligned, with the blanks outside of the style. */
static void write_right(struct tv_out *out, struct tv_bytes text, uint32_t width,
                        enum tv_style style)
{
    /* In a file, where there are many rows, figures are ASCII: a byte is a column. */
    uint32_t columns = tv_layout_width(out) > 0 ? tv_layout_columns(text) : (uint32_t)text.length;
    write_blanks(out, columns < width ? width - columns : 0);
    tv_layout_style(out, style);
    tv_out_bytes(out, text);
    tv_layout_plain(out, style);
}

static void write_file_head(struct tv_text_table *table)
{
    for (uint32_t i = 0; i < table->shown_count; i++) {
        const struct tv_column *column = &table->columns[table->shown[i]];
        write_right(table->out, tv_bytes_of(column->title),
                    column->title_width > 0 ? column->title_width : column->width, TV_STYLE_TITLE);
    }
    tv_out_text(table->out, "  ");
    tv_layout_text(table->out, TV_STYLE_TITLE, table->name_title);
    tv_out_char(table->out, '\n');
}

static void write_file_row(struct tv_text_table *table)
{
    for (uint32_t i = 0; i < table->shown_count; i++) {
        uint32_t column = table->shown[i];
        write_right(table->out, cell_text(table, 0, column), table->columns[column].width,
                    table->cells[column].style);
    }
    struct tv_bytes name = cell_text(table, 0, table->count);
    write_blanks(table->out, name.length > 0 ? 2 + table->indents[0] : 0);
    tv_out_bytes(table->out, name);
    tv_out_char(table->out, '\n');
    table->text.length = 0;
    table->cell_count = 0;
    table->row_count = 0;
}

static void begin_table(struct tv_text_table *table)
{
    table->begun = true;
    show_columns(table);
    if (tv_layout_width(table->out) == 0)
        write_file_head(table);
}

void tv_text_table_end_row(struct tv_text_table *table)
{
    end_last_cell(table);
    assert(table->cell_count == table->row_count * (table->count + 1));
    if (!table->begun)
        begin_table(table);
    if (tv_layout_width(table->out) == 0)
        write_file_row(table);
}

/* ---- On a screen: all rows at the end ---- */

static uint32_t larger_of(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static uint32_t smaller_of(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Return the width that a column needs on the screen; the names are the last column. */
static uint32_t measure_column(const struct tv_text_table *table, uint32_t column)
{
    bool names = column == table->count;
    uint32_t width =
        tv_layout_columns(tv_bytes_of(names ? table->name_title : table->columns[column].title));
    for (size_t row = 0; row < table->row_count; row++)
        width = larger_of(width, tv_layout_columns(cell_text(table, row, column)) +
                                     (names ? table->indents[row] : 0));
    return width;
}

/* Shares stand close to their figures. */
static uint32_t gap_before(const struct tv_text_table *table, uint32_t place)
{
    if (place == 0)
        return 0;
    return table->columns[table->shown[place]].title[0] == '%' ? 1 : 2;
}

/* Return the width of all columns of figures, with the gap before the names. */
static uint32_t width_of_figures(const struct tv_text_table *table)
{
    uint32_t width = table->shown_count > 0 ? 2 : 0;
    for (uint32_t i = 0; i < table->shown_count; i++)
        width += gap_before(table, i) + table->columns[table->shown[i]].width;
    return width;
}

static void hide_column(struct tv_text_table *table, uint32_t place)
{
    table->shown_count--;
    memmove(&table->shown[place], &table->shown[place + 1],
            (table->shown_count - place) * sizeof *table->shown);
}

/* The place of the column that goes first, or the number of columns. */
static uint32_t find_least_column(const struct tv_text_table *table)
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

/* Hides columns until there is room for names; the room for names. */
static uint32_t fit_columns(struct tv_text_table *table)
{
    uint32_t width = tv_layout_width(table->out), names = measure_column(table, table->count);
    uint32_t wanted = smaller_of(names, smaller_of(NAME_ROOM, larger_of(width / 2, 1)));
    for (uint32_t i = 0; i < table->count; i++)
        table->columns[i].width = measure_column(table, i);
    while (!table->out->layout->columns && width_of_figures(table) + wanted > width) {
        uint32_t least = find_least_column(table);
        if (least == table->shown_count)
            break;
        hide_column(table, least);
        table->out->layout->hid_columns = true;
    }
    uint32_t figures = width_of_figures(table);
    return figures + wanted < width ? width - figures : wanted;
}

static void write_screen_head(struct tv_text_table *table)
{
    for (uint32_t i = 0; i < table->shown_count; i++) {
        const struct tv_column *column = &table->columns[table->shown[i]];
        write_blanks(table->out, gap_before(table, i));
        write_right(table->out, tv_bytes_of(column->title), column->width, TV_STYLE_TITLE);
    }
    write_blanks(table->out, table->shown_count > 0 ? 2 : 0);
    tv_layout_text(table->out, TV_STYLE_TITLE, table->name_title);
    tv_out_char(table->out, '\n');
}

static void write_screen_row(struct tv_text_table *table, size_t row, uint32_t room)
{
    uint32_t indent = smaller_of(table->indents[row], room / 2);
    for (uint32_t i = 0; i < table->shown_count; i++) {
        uint32_t column = table->shown[i];
        write_blanks(table->out, gap_before(table, i));
        write_right(table->out, cell_text(table, row, column), table->columns[column].width,
                    table->cells[row * (table->count + 1) + column].style);
    }
    struct tv_bytes name = cell_text(table, row, table->count);
    if (name.length > 0)
        write_blanks(table->out, (table->shown_count > 0 ? 2 : 0) + indent);
    tv_layout_fit(table->out, name, room - indent);
    tv_out_char(table->out, '\n');
}

void tv_text_table_write_rest(struct tv_out *out, uint32_t methods)
{
    if (methods == 0 || !out->layout || !out->layout->terminal)
        return;
    tv_layout_style(out, TV_STYLE_DIM);
    tv_out_format(out, "%u more %s: --limit 0 shows all, --limit N the first N\n", methods,
                  tv_plural(methods, "method", "methods"));
    tv_layout_plain(out, TV_STYLE_DIM);
}

void tv_text_table_end(struct tv_text_table *table)
{
    if (!table->begun)
        begin_table(table);
    if (tv_layout_width(table->out) > 0) {
        uint32_t room = fit_columns(table);
        write_screen_head(table);
        for (size_t row = 0; row < table->row_count; row++)
            write_screen_row(table, row, room);
    }
    tv_out_release(&table->text);
    tv_free(table->cells);
    tv_free(table->indents);
}
