/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_table.h - a text table: columns of figures, and a name at the end of each line.
 *
 *     tv_text_table_begin(&table, out, "Method");
 *     tv_text_table_add(&table, &(struct tv_column){"self", "Self ms", 14, .rank = 2});
 *     for each row: tv_text_table_figure(...), one call a column in their order;
 * tv_text_table_name(...); tv_text_table_end_row(&table); tv_text_table_end(&table);
 *
 * In a file or a pipe each column has its fixed width, and names their full length.  On a screen
 * (layout.h) columns are as wide as what stands in them; those of the highest rank go until there
 * is room for names, and names that are still too long are shortened.
 */
#ifndef TV_WRITERS_TEXT_TABLE_H
#define TV_WRITERS_TEXT_TABLE_H

#include "base/out.h"
#include "writers/figures.h"
#include "writers/layout.h"

struct tv_column {
    const char *name; /* for --columns; several columns may share one; NULL: cannot be chosen */
    const char *title;
    uint32_t width;       /* in files: at least so many characters, blanks in front included */
    unsigned rank;        /* on a narrow screen the highest goes first; 0: stays */
    uint32_t title_width; /* in files; 0: `width` */
};

/* Columns of one table: those of 16 processors and their shares, and more. */
#define TV_TEXT_TABLE_COLUMNS 40

struct tv_text_table_cell {
    size_t end; /* in `text` */
    enum tv_style style;
};

struct tv_text_table {
    struct tv_out *out;
    const char *name_title;
    struct tv_column columns[TV_TEXT_TABLE_COLUMNS + 1]; /* the last stands for the name */
    uint32_t count;
    uint32_t shown[TV_TEXT_TABLE_COLUMNS], shown_count; /* in the order of the screen */
    bool begun;
    /* Rows that are not yet written: one in a file, all on a screen. */
    struct tv_out text;
    struct tv_text_table_cell *cells; /* count + 1 a row */
    size_t cell_count, cell_capacity;
    uint32_t *indents; /* one a row */
    size_t row_count, row_capacity;
};

/* Nothing is written yet. The title of the names lives as long as the table, titles of columns too.
 */
void tv_text_table_begin(struct tv_text_table *table, struct tv_out *out, const char *name_title);

/* Before the first row. */
void tv_text_table_add(struct tv_text_table *table, const struct tv_column *column);

/* The next cell of the row is what is written there until the next call. */
struct tv_out *tv_text_table_cell(struct tv_text_table *table);

/* A cell of a figure in its unit, of part in percent of whole, of a number. */
void tv_text_table_figure(struct tv_text_table *table, struct tv_figure_unit unit, tv_ns figure);
void tv_text_table_share(struct tv_text_table *table, int64_t part, int64_t whole);
void tv_text_table_number(struct tv_text_table *table, uint64_t value);

/* The row's last cell, behind so many blanks. On a screen the blanks leave room for the name. */
struct tv_out *tv_text_table_name(struct tv_text_table *table, uint32_t indent);

/* End the row: every column has its cell, and the name is there. */
void tv_text_table_end_row(struct tv_text_table *table);

/* Write what is left and free it. */
void tv_text_table_end(struct tv_text_table *table);

/* On a terminal, where not all rows are shown by default: write how many methods are left out. */
void tv_text_table_write_rest(struct tv_out *out, uint32_t methods);

#endif
