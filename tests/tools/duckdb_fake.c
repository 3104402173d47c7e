/* SPDX-License-Identifier: Apache-2.0 */
/*
 * duckdb_fake.c - a library that has the names of DuckDB's functions, and a version that tells
 * which of several such libraries was opened.
 */
#include "sql/duckdb.h"

#define X(result, name, parameters) const char *duckdb_##name(void);
TV_DUCK_FUNCTIONS(X)
#undef X

#define X(result, name, parameters)                                                                \
    const char *duckdb_##name(void)                                                                \
    {                                                                                              \
        return PLACE;                                                                              \
    }
TV_DUCK_FUNCTIONS(X)
