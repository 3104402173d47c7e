/* SPDX-License-Identifier: Apache-2.0 */
/* values.h - the rows of a result, in every format of `traceview sql`. */
#ifndef TV_SQL_VALUES_H
#define TV_SQL_VALUES_H

#include "sql/duckdb.h"
#include "sql/sql.h"

/* Write all rows of a result. */
enum tv_status tv_sql_write_result(struct tv_out *out, duck_result *result,
                                   struct tv_sql_output *output,
                                   struct tv_error *err) TV_MUST_CHECK;

#endif
