/* SPDX-License-Identifier: Apache-2.0 */
/*
 * duckdb.h - the part of DuckDB's C interface (versions 1.4 to 1.x) that is used, found at run
 * time.
 *
 * The library is opened with dlopen, so that the program starts without it; nothing outside of
 * src/sql knows about it.  Types and numbers are those of DuckDB's documentation of its C
 * interface.
 */
#ifndef TV_SQL_DUCKDB_H
#define TV_SQL_DUCKDB_H

#include "base/error.h"
#include "base/types.h"

typedef struct duck_database *duck_database;
typedef struct duck_connection *duck_connection;
typedef struct duck_config *duck_config;
typedef struct duck_chunk *duck_chunk;
typedef struct duck_vector *duck_vector;
typedef struct duck_type *duck_type;
typedef struct duck_value *duck_value;
typedef struct duck_function *duck_function;
typedef struct duck_bind *duck_bind;
typedef struct duck_init *duck_init;
typedef struct duck_call *duck_call;
typedef struct duck_statements *duck_statements;
typedef struct duck_prepared *duck_prepared;

/* A result; its members are DuckDB's. */
typedef struct duck_result {
    uint64_t old[3];
    void *columns;
    char *error;
    void *internal;
} duck_result;

/* A text in a vector: up to 12 bytes are in it; of longer ones the first 4, and a pointer to all.
 */
struct duck_string {
    uint32_t length;
    char bytes[12];
};

enum duck_type_id {
    DUCK_BOOLEAN = 1,
    DUCK_TINYINT = 2,
    DUCK_SMALLINT = 3,
    DUCK_INTEGER = 4,
    DUCK_BIGINT = 5,
    DUCK_UTINYINT = 6,
    DUCK_USMALLINT = 7,
    DUCK_UINTEGER = 8,
    DUCK_UBIGINT = 9,
    DUCK_FLOAT = 10,
    DUCK_DOUBLE = 11,
    DUCK_HUGEINT = 16,
    DUCK_VARCHAR = 17,
    DUCK_DECIMAL = 19,
    DUCK_ENUM = 23,
    DUCK_SQLNULL = 36,
};

/* Kinds of errors; DuckDB has more. */
enum duck_error {
    DUCK_OUT_OF_MEMORY = 33,
};

enum duck_statement {
    DUCK_SELECT = 1,
    DUCK_INSERT = 2,
    DUCK_UPDATE = 3,
    DUCK_EXPLAIN = 4,
    DUCK_DELETE = 5,
    DUCK_CREATE = 7,
    DUCK_ALTER = 9,
    DUCK_COPY = 11,
    DUCK_CREATE_FUNCTION = 14,
    DUCK_DROP = 15,
    DUCK_ATTACH = 25,
    DUCK_DETACH = 26,
};

/* X(result, name, parameters) */
#define TV_DUCK_FUNCTIONS(X)                                                                       \
    X(const char *, library_version, (void))                                                       \
    X(int, create_config, (duck_config *))                                                         \
    X(int, set_config, (duck_config, const char *, const char *))                                  \
    X(void, destroy_config, (duck_config *))                                                       \
    X(int, open_ext, (const char *, duck_database *, duck_config, char **))                        \
    X(void, close, (duck_database *))                                                              \
    X(int, connect, (duck_database, duck_connection *))                                            \
    X(void, disconnect, (duck_connection *))                                                       \
    X(void, interrupt, (duck_connection))                                                          \
    X(int, query, (duck_connection, const char *, duck_result *))                                  \
    X(void, destroy_result, (duck_result *))                                                       \
    X(const char *, result_error, (duck_result *))                                                 \
    X(int, result_error_type, (duck_result *))                                                     \
    X(uint64_t, column_count, (duck_result *))                                                     \
    X(const char *, column_name, (duck_result *, uint64_t))                                        \
    X(int, column_type, (duck_result *, uint64_t))                                                 \
    X(duck_type, column_logical_type, (duck_result *, uint64_t))                                   \
    X(duck_chunk, fetch_chunk, (duck_result))                                                      \
    X(uint64_t, data_chunk_get_size, (duck_chunk))                                                 \
    X(void, data_chunk_set_size, (duck_chunk, uint64_t))                                           \
    X(duck_vector, data_chunk_get_vector, (duck_chunk, uint64_t))                                  \
    X(void, destroy_data_chunk, (duck_chunk *))                                                    \
    X(void *, vector_get_data, (duck_vector))                                                      \
    X(uint64_t *, vector_get_validity, (duck_vector))                                              \
    X(void, vector_ensure_validity_writable, (duck_vector))                                        \
    X(void, vector_assign_string_element_len, (duck_vector, uint64_t, const char *, uint64_t))     \
    X(duck_type, create_logical_type, (int))                                                       \
    X(duck_type, create_enum_type, (const char **, uint64_t))                                      \
    X(void, destroy_logical_type, (duck_type *))                                                   \
    X(int, enum_internal_type, (duck_type))                                                        \
    X(uint32_t, enum_dictionary_size, (duck_type))                                                 \
    X(char *, enum_dictionary_value, (duck_type, uint64_t))                                        \
    X(void, free, (void *))                                                                        \
    X(duck_function, create_table_function, (void))                                                \
    X(void, destroy_table_function, (duck_function *))                                             \
    X(void, table_function_set_name, (duck_function, const char *))                                \
    X(void, table_function_add_parameter, (duck_function, duck_type))                              \
    X(void, table_function_set_extra_info, (duck_function, void *, void (*)(void *)))              \
    X(void, table_function_set_bind, (duck_function, void (*)(duck_bind)))                         \
    X(void, table_function_set_init, (duck_function, void (*)(duck_init)))                         \
    X(void, table_function_set_local_init, (duck_function, void (*)(duck_init)))                   \
    X(void, table_function_set_function, (duck_function, void (*)(duck_call, duck_chunk)))         \
    X(void, table_function_supports_projection_pushdown, (duck_function, bool))                    \
    X(int, register_table_function, (duck_connection, duck_function))                              \
    X(void *, bind_get_extra_info, (duck_bind))                                                    \
    X(void, bind_add_result_column, (duck_bind, const char *, duck_type))                          \
    X(duck_value, bind_get_parameter, (duck_bind, uint64_t))                                       \
    X(bool, is_null_value, (duck_value))                                                           \
    X(int64_t, get_int64, (duck_value))                                                            \
    X(void, destroy_value, (duck_value *))                                                         \
    X(void, bind_set_bind_data, (duck_bind, void *, void (*)(void *)))                             \
    X(void, bind_set_error, (duck_bind, const char *))                                             \
    X(void, bind_set_cardinality, (duck_bind, uint64_t, bool))                                     \
    X(void, init_set_error, (duck_init, const char *))                                             \
    X(void *, init_get_extra_info, (duck_init))                                                    \
    X(void *, init_get_bind_data, (duck_init))                                                     \
    X(uint64_t, init_get_column_count, (duck_init))                                                \
    X(uint64_t, init_get_column_index, (duck_init, uint64_t))                                      \
    X(void, init_set_init_data, (duck_init, void *, void (*)(void *)))                             \
    X(void, init_set_max_threads, (duck_init, uint64_t))                                           \
    X(void *, function_get_init_data, (duck_call))                                                 \
    X(void *, function_get_local_init_data, (duck_call))                                           \
    X(int, decimal_internal_type, (duck_type))                                                     \
    X(uint8_t, decimal_scale, (duck_type))                                                         \
    X(duck_function, create_scalar_function, (void))                                               \
    X(void, destroy_scalar_function, (duck_function *))                                            \
    X(void, scalar_function_set_name, (duck_function, const char *))                               \
    X(void, scalar_function_add_parameter, (duck_function, duck_type))                             \
    X(void, scalar_function_set_return_type, (duck_function, duck_type))                           \
    X(void, scalar_function_set_extra_info, (duck_function, void *, void (*)(void *)))             \
    X(void, scalar_function_set_function,                                                          \
      (duck_function, void (*)(duck_call, duck_chunk, duck_vector)))                               \
    X(void *, scalar_function_get_extra_info, (duck_call))                                         \
    X(int, register_scalar_function, (duck_connection, duck_function))                             \
    X(uint64_t, extract_statements, (duck_connection, const char *, duck_statements *))            \
    X(const char *, extract_statements_error, (duck_statements))                                   \
    X(void, destroy_extracted, (duck_statements *))                                                \
    X(int, prepare_extracted_statement,                                                            \
      (duck_connection, duck_statements, uint64_t, duck_prepared *))                               \
    X(const char *, prepare_error, (duck_prepared))                                                \
    X(int, prepared_statement_type, (duck_prepared))                                               \
    X(uint64_t, prepared_statement_column_count, (duck_prepared))                                  \
    X(char *, prepared_statement_column_name, (duck_prepared, uint64_t))                           \
    X(int, prepared_statement_column_type, (duck_prepared, uint64_t))                              \
    X(int, execute_prepared, (duck_prepared, duck_result *))                                       \
    X(int, execute_prepared_streaming, (duck_prepared, duck_result *))                             \
    X(void, destroy_prepare, (duck_prepared *))

struct tv_duck {
#define X(result, name, parameters) result(*name) parameters;
    TV_DUCK_FUNCTIONS(X)
#undef X
};

/* The library's functions, after tv_duck_open. */
extern struct tv_duck tv_duck;

/* Find and open the library: $TRACEVIEW_DUCKDB; beside the program, or in a folder above it;
 * LIBDIR/traceview; the system.  A file that others than root and the user may write is refused.
 * Call this before the sandbox.  Later calls do nothing. */
enum tv_status tv_duck_open(struct tv_error *err) TV_MUST_CHECK;

#endif
