/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_table.h - a text table: columns of figures, and a name at the end of each line.
 *
 *     tv_text_table_begin(&table, out, "Method");
 *     tv_text_table_add(&table, &(struct tv_text_column){"self", "Self ms", 14, .rank = 2});
 *     for each row:
 *         tv_text_table_figure(...), one call a column in their order; tv_text_table_name(...);
 *         tv_text_table_end_row(&table);
 *     tv_text_table_end(&table);
 *
 * In a file or a pipe each column has its fixed width, names have their full length, and rows
 * are written immediately. On a screen (layout.h) all rows are collected: columns are as wide as
 * their contents, those with the highest rank disappear until names have room, and names that
 * are still too long are shortened.
 */
#ifndef TV_WRITERS_TEXT_TABLE_H
#define TV_WRITERS_TEXT_TABLE_H

#include "base/out.h"
#include "writers/text/layout.h"
#include "writers/text/names.h"

struct tv_text_column {
    const char *name; /* for --columns; several columns may share it; NULL: always shown */
    const char *title;
    uint32_t width;       /* in files: the minimum width, including blanks in front */
    unsigned rank;        /* on a narrow screen the highest rank disappears first; 0: stays */
    uint32_t title_width; /* in files; 0: the same as `width` */
};

/* Does the word, from --columns, --sort or --clock, name this choice?  The wall clock was called
 * "real" before: "incl-real" still names "incl-wall". */
bool tv_text_table_is_name(struct tv_bytes choice, struct tv_bytes word);

/* Maximum number of columns of a table: 16 processors and their shares, and a few more. */
#define TV_TEXT_TABLE_COLUMNS 40

struct tv_text_table_cell {
    size_t end; /* in `text` */
    enum tv_style style;
};

struct tv_text_table {
    struct tv_out *out;
    const char *name_title;
    struct tv_text_column columns[TV_TEXT_TABLE_COLUMNS + 1]; /* the last is for the name */
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

/* Start a table; nothing is written yet. The titles must outlive the table. */
void tv_text_table_begin(struct tv_text_table *table, struct tv_out *out, const char *name_title);

/* Add a column; only before the first row. */
void tv_text_table_add(struct tv_text_table *table, const struct tv_text_column *column);

/* Start the next cell of the row. Its text is what is written to the result until the next call. */
struct tv_out *tv_text_table_cell(struct tv_text_table *table);

/* Write a cell: a figure in its unit, part / whole in percent, or a number. */
void tv_text_table_figure(struct tv_text_table *table, struct tv_figure_unit unit, tv_ns figure);
void tv_text_table_share(struct tv_text_table *table, int64_t part, int64_t whole);
void tv_text_table_number(struct tv_text_table *table, uint64_t value);

/* Start the last cell of the row, the name, indented by `indent` blanks. On a screen the indent
 * is limited, so that the name has room. */
struct tv_out *tv_text_table_name(struct tv_text_table *table, uint32_t indent);

/* End the row, in which every column has a cell. */
void tv_text_table_end_row(struct tv_text_table *table);

/* Write the rows that are left, and free the table. */
void tv_text_table_end(struct tv_text_table *table);

/* Write how many methods are left out, on a terminal, where tables are limited by default. */
void tv_text_table_write_rest(struct tv_out *out, uint32_t methods);

/* Likewise for other rows: "path", "paths". */
void tv_text_table_write_rest_of(struct tv_out *out, uint32_t rows, const char *one,
                                 const char *several);

#endif
