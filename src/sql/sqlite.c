/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite.c - tables of a trace as an SQLite database.
 *
 * The sandbox has no files with names, so the database is made in memory and written as a whole.
 */
#include <assert.h>
#include <sqlite3.h>
#include <string.h>

#include "sql/sql.h"
#include "sql/values.h"

/* A table that is being filled. */
struct sqlite_table {
    sqlite3 *database;
    const char *name;
};

static enum tv_status sqlite_fail(sqlite3 *database, struct tv_error *err)
{
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "SQLite: %s",
                   database ? sqlite3_errmsg(database) : "out of memory");
}

/* Open a database in one block of memory, which can be written without a copy. */
static bool sqlite_open(sqlite3 **database)
{
    sqlite3_int64 limit = INT64_MAX;
    return sqlite3_open_v2("export", database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                           "memdb") == SQLITE_OK &&
           sqlite3_file_control(*database, "main", SQLITE_FCNTL_SIZE_LIMIT, &limit) == SQLITE_OK &&
           sqlite3_exec(*database, "pragma journal_mode = off; begin", NULL, NULL, NULL) ==
               SQLITE_OK;
}

/* Return the affinity of a column.  SQLite has no type for truth values: they
 * are 0 and 1. */
static const char *sqlite_type(const struct tv_sql_result_column *column)
{
    switch (column->type) {
    case DUCK_VARCHAR:
    case DUCK_ENUM:
    case DUCK_SQLNULL:
        return "TEXT";
    case DUCK_FLOAT:
    case DUCK_DOUBLE:
        return "REAL";
    default:
        return "INTEGER";
    }
}

/* Create the table and prepare the statement that inserts a row; the names are ours. */
static sqlite3_stmt *sqlite_prepare(const struct sqlite_table *table,
                                    const struct tv_sql_columns *columns)
{
    sqlite3_stmt *insert = NULL;
    struct tv_out create, values;
    tv_out_init_memory(&create);
    tv_out_init_memory(&values);
    tv_out_format(&create, "create table \"%s\" (", table->name);
    tv_out_format(&values, "insert into \"%s\" values (", table->name);
    for (uint64_t i = 0; i < columns->count; i++) {
        tv_out_format(&create, "%s\"%s\" %s", i > 0 ? ", " : "", columns->items[i].name,
                      sqlite_type(&columns->items[i]));
        tv_out_text(&values, i > 0 ? ", ?" : "?");
    }
    /* The length of 2 includes the NUL that ends the statement. */
    tv_out_bytes(&create, (struct tv_bytes){(const uint8_t *)")", 2});
    tv_out_bytes(&values, (struct tv_bytes){(const uint8_t *)")", 2});
    if (sqlite3_exec(table->database, (const char *)create.buffer, NULL, NULL, NULL) == SQLITE_OK)
        sqlite3_prepare_v2(table->database, (const char *)values.buffer, -1, &insert, NULL);
    tv_out_release(&create);
    tv_out_release(&values);
    return insert;
}

/* Bind a value to a parameter of the statement.  Texts are copied (TRANSIENT),
 * because the next row reuses their memory. */
static void sqlite_bind(sqlite3_stmt *insert, int place, struct tv_sql_value *value)
{
    switch (value->kind) {
    case TV_SQL_IS_NULL:
        sqlite3_bind_null(insert, place);
        break;
    case TV_SQL_IS_BOOLEAN:
    case TV_SQL_IS_INTEGER:
        sqlite3_bind_int64(insert, place, value->integer);
        break;
    case TV_SQL_IS_HUGE:
        /* No table of ours has such numbers. */
        sqlite3_bind_double(insert, place,
                            (double)value->integer * 18446744073709551616.0 + (double)value->low);
        break;
    case TV_SQL_IS_REAL:
        sqlite3_bind_double(insert, place, value->real);
        break;
    case TV_SQL_IS_TEXT:
        sqlite3_bind_text64(insert, place, (const char *)value->text.data, value->text.length,
                            SQLITE_TRANSIENT, SQLITE_UTF8);
    }
}

/* Insert the rows of a chunk; false after an error, which the database has. */
static bool sqlite_insert_rows(sqlite3_stmt *insert, const struct tv_sql_columns *columns,
                               const struct tv_sql_chunk *chunk)
{
    for (uint64_t row = 0; row < chunk->count; row++) {
        for (uint64_t i = 0; i < columns->count; i++) {
            struct tv_sql_value value =
                tv_sql_value_read(&columns->items[i], chunk->data[i], chunk->validity[i], row);
            sqlite_bind(insert, (int)i + 1, &value);
        }
        if (sqlite3_step(insert) != SQLITE_DONE)
            return false;
        sqlite3_reset(insert);
    }
    return true;
}

/* Create a table and fill it. */
static enum tv_status sqlite_fill(const struct sqlite_table *table,
                                  struct tv_sql_exporter *exporter, struct tv_error *err)
{
    const struct tv_sql_rows rows = {.table = exporter};
    struct tv_sql_columns columns = {.items = NULL};
    struct tv_sql_chunk chunk;
    tv_sql_exporter_begin(exporter, table->name);
    enum tv_status status = tv_sql_columns_list(&columns, &rows, err);
    sqlite3_stmt *insert = status == TV_OK ? sqlite_prepare(table, &columns) : NULL;
    if (status == TV_OK && !insert)
        status = sqlite_fail(table->database, err);
    while (status == TV_OK && tv_sql_chunk_fetch(&chunk, &rows, columns.count)) {
        if (!sqlite_insert_rows(insert, &columns, &chunk))
            status = sqlite_fail(table->database, err);
        tv_sql_chunk_release(&chunk);
    }
    sqlite3_finalize(insert);
    tv_sql_columns_release(&columns);
    return status;
}

/* Write the pages of the database as they lie in memory. */
static enum tv_status sqlite_write(sqlite3 *database, struct tv_out *out, struct tv_error *err)
{
    sqlite3_int64 size = 0;
    unsigned char *bytes = sqlite3_serialize(database, "main", &size, SQLITE_SERIALIZE_NOCOPY);
    if (!bytes)
        return sqlite_fail(NULL, err);
    tv_out_bytes(out, (struct tv_bytes){bytes, (size_t)size});
    return TV_OK;
}

enum tv_status tv_sql_export_sqlite(struct tv_sql_exporter *exporter, const char *tables,
                                    struct tv_out *out, struct tv_error *err)
{
    struct sqlite_table table = {.database = NULL};
    enum tv_status status = TV_OK;
    if (!sqlite_open(&table.database))
        status = sqlite_fail(table.database, err);
    for (size_t i = 0; tv_sql_exported[i] && status == TV_OK; i++) {
        table.name = tv_sql_exported[i];
        if (tv_sql_is_exported(tables, table.name))
            status = sqlite_fill(&table, exporter, err);
    }
    if (status == TV_OK && sqlite3_exec(table.database, "commit", NULL, NULL, NULL) != SQLITE_OK)
        status = sqlite_fail(table.database, err);
    if (status == TV_OK)
        status = sqlite_write(table.database, out, err);
    sqlite3_close(table.database);
    return status;
}
