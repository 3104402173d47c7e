/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch.h - the rows of a fleet in ClickHouse that a question needs.
 *
 * A question is answered from a folder with these rows, by the SQL of questions.c, so that a server
 * and a folder give the same answers.  The conditions here may let more rows through than the
 * question uses, never fewer.
 */
#ifndef TV_FLEET_FETCH_H
#define TV_FLEET_FETCH_H

#include "fleet/fleet.h"
#include "parquet/parquet.h"

#define TV_FLEET_FETCH_COLUMNS 64u

/* A question; what it does not have is NULL. */
struct tv_fleet_fetch {
    const char *method;            /* for trend and outliers */
    const char *const *conditions; /* of which */
    size_t condition_count;
    const char *base, *fresh; /* for regressions and flamegraph */
    bool by_path;             /* flamegraph */
    const char *where;
    const char *figure; /* for changes and trends, which need no other column of `method` */
};

/* Append the SELECT of a table's rows, METHOD_NAME, METHOD, PATH or TRACE, and fill in the columns
 * that they have; return their number, 0 after an error.  TV_ERR_USAGE when labels or a condition
 * are malformed. */
size_t tv_fleet_put_fetch(struct tv_out *sql, const struct tv_fleet_fetch *fetch,
                          enum tv_fleet_table table,
                          struct tv_parquet_column columns[TV_FLEET_FETCH_COLUMNS],
                          struct tv_error *err);

#endif
