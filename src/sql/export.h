/* SPDX-License-Identifier: Apache-2.0 */
/* export.h - the table of arguments without DuckDB, for export.c alone. */
#ifndef TV_SQL_EXPORT_H
#define TV_SQL_EXPORT_H

#include "sql/tables.h"
#include "sql/values.h"

/* Reads the events of all slices and instants again, and takes their JSON apart. */
struct tv_sql_arguments;

struct tv_sql_arguments *tv_sql_arguments_new(const struct tv_sql_data *data);
void tv_sql_arguments_free(struct tv_sql_arguments *arguments);

/* List the columns of the table `args`. */
void tv_sql_arguments_columns(struct tv_sql_columns *columns);

/* Read the next rows; false at the end.  They stay valid until the next call. */
bool tv_sql_arguments_next(struct tv_sql_arguments *arguments, struct tv_sql_chunk *chunk);

#endif
