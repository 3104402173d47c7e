/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.h - the tables of a trace (tables.h) as table functions of DuckDB.
 */
#ifndef TV_SQL_SCAN_H
#define TV_SQL_SCAN_H

#include "sql/tables.h"

/* The rows of a table that a function has. */
enum tv_sql_extent {
    TV_SQL_ALL_ROWS,
    TV_SQL_SLICES, /* rows of any_slice: slices and instants */
    TV_SQL_RANGE,  /* slices and instants that overlap the range of the two parameters */
};

/* A table function: which rows of which table it scans. */
struct tv_sql_scanned {
    const struct tv_sql_data *data;
    const struct tv_sql_table *table;
    enum tv_sql_extent rows;
};

/* Register the function tv_NAME(), or tv_slice() or tv_slice_in(from, to).  `scanned` must outlive
 * the connection. */
bool tv_sql_register_table(duck_connection connection, struct tv_sql_scanned *scanned);

#endif
