/* SPDX-License-Identifier: Apache-2.0 */
/*
 * duckdb_opener.c - open DuckDB's library as the program does, and print why it cannot be used.
 */
#include <stdio.h>

#include "sql/duckdb.h"

int main(void)
{
    struct tv_error err = {.status = TV_OK};
    enum tv_status status = tv_duck_open(&err);
    puts(status == TV_OK ? "opened" : err.message);
    return 0;
}
