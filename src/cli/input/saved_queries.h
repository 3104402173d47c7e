/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saved_queries.h - queries in SQL that the user keeps by name: `sql --save NAME`, `sql --saved
 * NAME`.
 *
 * Each is a file, $XDG_CONFIG_HOME/traceview/sql/NAME.sql, else ~/.config/traceview/sql/NAME.sql,
 * which may also be written by hand.  Commands read and write them before the sandbox.
 */
#ifndef TV_CLI_INPUT_SAVED_QUERIES_H
#define TV_CLI_INPUT_SAVED_QUERIES_H

#include "base/error.h"
#include "base/types.h"

/* Keep a query under a name of letters, digits, '-' and '_', in place of an older one. */
enum tv_status tv_saved_query_write(const char *name, const char *query,
                                    struct tv_error *err) TV_MUST_CHECK;

/* Read the query of a name into *query, which the caller frees with tv_free.  The error names the
 * queries that there are. */
enum tv_status tv_saved_query_read(const char *name, size_t most, char **query,
                                   struct tv_error *err) TV_MUST_CHECK;

#endif
