/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metadata_table.c - what the files of a trace say of their recording and of its machine
 * (tables.h).
 *
 *     name                         str_value  int_value  machine_id  trace_id
 *     system_name                  Linux                 0                      the machine
 *     trace_type                   proto                             0          the recording
 *     ftrace_latest_data_start_ns             1000       0           0          both
 */
#include <string.h>

#include "base/bytes.h"
#include "readers/perfetto/perfetto.h"
#include "sql/tables.h"

static const struct tv_sql_column metadata_columns[] = {
    {"name", TV_SQL_TEXT},         {"str_value", TV_SQL_TEXT}, {"input", TV_SQL_INTEGER},
    {"int_value", TV_SQL_INTEGER}, {"key_type", TV_SQL_TEXT},  {"machine_id", TV_SQL_INTEGER},
    {"trace_id", TV_SQL_INTEGER},
};

/* Is it a fact about the recording (5: about the machine)? */
static bool sql_is_about(struct tv_bytes name, uint32_t column)
{
    static const char *const beginnings[] = {"trace_", "cr-"};
    bool of_both = tv_bytes_starts_with(name, TV_BYTES("all_data_source")) ||
                   tv_bytes_starts_with(name, TV_BYTES("slow_start_data_source")) ||
                   tv_bytes_starts_with(name, TV_BYTES("ftrace_"));
    bool of_recording = false;
    for (size_t i = 0; i < TV_COUNT(beginnings); i++)
        of_recording = of_recording || tv_bytes_starts_with(name, tv_bytes_of(beginnings[i]));
    return of_both || of_recording == (column == 6);
}

/* Return the number of a trace: that of the first input from its file. */
static uint32_t sql_trace_of_input(const struct tv_trace_info *info, uint32_t input)
{
    uint32_t first = 0;
    while (first < input && (!info->inputs[input].source ||
                             info->inputs[first].source != info->inputs[input].source))
        first++;
    return first;
}

/* Put the machine (5) or the recording (6) that a fact is about; NULL: it is not about one. */
static void sql_put_metadata_scope(const struct tv_sql_data *data, uint32_t column, uint64_t i,
                                   struct tv_bytes name, uint32_t input,
                                   struct tv_sql_vector *vector)
{
    if (!sql_is_about(name, column))
        tv_sql_put_null(vector, i);
    else if (column == 6)
        tv_sql_put_index(vector, i, sql_trace_of_input(data->trace->head, input));
    else
        tv_sql_put_index(vector, i, data->machine_of_input[input]);
}

/* Is it a fact that is a number and never a text? */
static bool sql_is_number(struct tv_bytes name)
{
    return tv_bytes_ends_with(name, TV_BYTES("_ns"));
}

static void sql_put_metadata_column(const struct tv_sql_data *data, uint32_t column, uint64_t i,
                                    const struct tv_metadata *metadata,
                                    struct tv_sql_vector *vector)
{
    struct tv_bytes name = tv_trace_info_text(data->trace->head, metadata->key);
    struct tv_bytes value = tv_trace_info_text(data->trace->head, metadata->value);
    int64_t number;
    bool has_number = tv_parse_i64(value, &number);
    if (column == 0)
        tv_sql_put_bytes(vector, i, name);
    else if (column == 2)
        tv_sql_put_integer(vector, i, metadata->input);
    else if (column == 4)
        tv_sql_put_text(vector, i, "single");
    else if (column > 4)
        sql_put_metadata_scope(data, column, i, name, metadata->input, vector);
    else if (column == 3 && has_number)
        tv_sql_put_integer(vector, i, number);
    else if (column == 3 || (has_number && sql_is_number(name)))
        tv_sql_put_null(vector, i);
    else
        tv_sql_put_bytes(vector, i, value);
}

/* Is it the input of a Perfetto trace, not of another machine in it? */
static bool sql_is_perfetto(const struct tv_trace_info *info, uint32_t input)
{
    return strcmp(info->inputs[input].format, tv_reader_perfetto.format) == 0 &&
           tv_pf_is_of_machine(&info->inputs[input], 0);
}

/* The facts of the inputs, and the type of each Perfetto trace, which no reader tells. */
static uint64_t sql_metadata_count(const struct tv_sql_data *data)
{
    const struct tv_trace_info *info = data->trace->head;
    uint64_t count = info->metadata_count;
    for (uint32_t i = 0; i < info->input_count; i++)
        count += sql_is_perfetto(info, i);
    return count;
}

/* Put the type of the `number`th Perfetto trace. */
static void sql_put_trace_type(const struct tv_sql_data *data, uint32_t column, uint64_t i,
                               uint64_t number, struct tv_sql_vector *vector)
{
    const struct tv_trace_info *info = data->trace->head;
    uint32_t input = 0;
    for (uint64_t left = number + 1; input < info->input_count; input++)
        if (sql_is_perfetto(info, input) && --left == 0)
            break;
    if (column == 2 || column == 6)
        tv_sql_put_integer(vector, i, input);
    else if (column == 3 || column == 5)
        tv_sql_put_null(vector, i);
    else
        tv_sql_put_text(vector, i, column == 0 ? "trace_type" : column == 1 ? "proto" : "single");
}

static void sql_fill_metadata(const struct tv_sql_data *data, struct tv_sql_scratch *scratch,
                              uint32_t column, uint64_t first, uint32_t count,
                              struct tv_sql_vector *vector)
{
    const struct tv_trace_info *info = data->trace->head;
    (void)scratch;
    for (uint32_t i = 0; i < count; i++)
        if (first + i < info->metadata_count)
            sql_put_metadata_column(data, column, i, &info->metadata[first + i], vector);
        else
            sql_put_trace_type(data, column, i, first + i - info->metadata_count, vector);
}

const struct tv_sql_table tv_sql_metadata_table = {
    .name = "metadata",
    .count = sql_metadata_count,
    .fill = sql_fill_metadata,
    .columns = metadata_columns,
    .column_count = TV_COUNT(metadata_columns),
};
