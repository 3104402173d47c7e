/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.c - the columns of a fleet's tables, and writing them in each form.
 *
 * A function fleet_put_TABLE writes one row of a batch by column numbers; the
 * columns stand in an array above it.  The numbers in the function are indices
 * of that array (`trace` has names for its many), so both change together.
 * Three forms are written by the same functions:
 *
 *     Parquet     a file of the folder       a column that is not put is NULL
 *     RowBinary   an INSERT of ClickHouse    likewise; the writer fills the gaps (rowbinary.c)
 *     JSON lines  for people and other tools a column that is not put has no member
 *
 * Values are put in the order of the columns, and those of a list one after
 * another: RowBinary and JSON are written as they come.
 *
 * Files of older versions lack newer columns; readers of the folder find
 * columns by name and take NULL for those (tv_fleet_put_file_view).
 */
#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "fleet/batch.h"
#include "fleet/clickhouse.h"
#include "writers/text/names.h"

/* A table that is being written: one of `parquet`, `binary` and `json` is set. */
struct fleet_writer {
    const struct tv_parquet_column *columns;
    size_t count;
    struct tv_parquet *parquet;
    struct tv_rowbinary *binary;
    struct tv_out *json;
    const struct tv_fleet_batch *batch;
    enum tv_fleet_table table;
    size_t column;  /* JSON: the one that was put last; SIZE_MAX: none */
    bool listing;   /* JSON: its list is open */
    uint64_t trace; /* RowBinary: of the row */
};

/* ---- Values ---- */

/* End the list of the last column. */
static void fleet_end_list(struct fleet_writer *to)
{
    if (to->listing)
        tv_out_char(to->json, ']');
    to->listing = false;
}

/* Write what is before a value in JSON.  Values come in the order of columns. */
static void fleet_begin_value(struct fleet_writer *to, size_t column)
{
    if (to->column == column) {
        assert(to->listing);
        tv_out_text(to->json, ", ");
        return;
    }
    fleet_end_list(to);
    tv_json_put_key(to->json, to->column == SIZE_MAX ? "{" : ", ", to->columns[column].name);
    to->column = column;
    to->listing = to->columns[column].list;
    if (to->listing)
        tv_out_char(to->json, '[');
}

/* Put a number, a truth value, or one more value of a list.  Unsigned numbers
 * have the bits of `value`. */
static void fleet_put_i64(struct fleet_writer *to, size_t column, int64_t value)
{
    if (to->parquet) {
        tv_parquet_put_integer(to->parquet, column, value);
        return;
    }
    if (to->binary) {
        to->trace = column == 0 ? (uint64_t)value : to->trace;
        tv_rowbinary_put_integer(to->binary, column, value);
        return;
    }
    fleet_begin_value(to, column);
    if (to->columns[column].type == TV_PARQUET_BOOLEAN)
        tv_out_text(to->json, value ? "true" : "false");
    else if (to->columns[column].type == TV_PARQUET_INT64)
        tv_out_i64(to->json, value);
    else
        tv_out_u64(to->json, (uint64_t)value);
}

static void fleet_put_u64(struct fleet_writer *to, size_t column, uint64_t value)
{
    fleet_put_i64(to, column, (int64_t)value);
}

/* Put a text that is not NULL, or one more value of a list. */
static void fleet_put_bytes(struct fleet_writer *to, size_t column, struct tv_bytes text)
{
    if (to->parquet) {
        tv_parquet_put_text(to->parquet, column, text);
        return;
    }
    if (to->binary) {
        tv_rowbinary_put_text(to->binary, column, text);
        return;
    }
    fleet_begin_value(to, column);
    tv_out_json(to->json, text);
}

/* Write a text.  An empty text means NULL, except in a list. */
static void fleet_put_text(struct fleet_writer *to, size_t column, uint32_t string)
{
    if (string != TV_EMPTY_STRING || to->columns[column].list)
        fleet_put_bytes(to, column, tv_interner_get(to->batch->strings, string));
}

/* Return the month in which the trace of the row began; 0: the table has no month. */
static uint32_t fleet_row_month(const struct fleet_writer *to)
{
    uint32_t row = tv_map_find(&to->batch->trace_index, to->trace);
    if (!tv_fleet_has_month(to->table))
        return 0;
    assert(row != TV_NONE);
    const struct fleet_trace *trace = &to->batch->traces[row];
    return tv_fleet_month(trace->recorded_us != 0 ? trace->recorded_us : trace->added_us);
}

/* End a row; the columns that were not put are NULL. */
static enum tv_status fleet_end_row(struct fleet_writer *to, struct tv_error *err)
{
    if (to->parquet)
        return tv_parquet_end_row(to->parquet, err);
    if (to->binary) {
        tv_rowbinary_end_row(to->binary, fleet_row_month(to));
        return TV_OK;
    }
    fleet_end_list(to);
    tv_out_text(to->json, "}\n");
    to->column = SIZE_MAX;
    return TV_OK;
}

/* ---- Tables ---- */

static const struct tv_parquet_column fleet_name_columns[] = {
    {"method", TV_PARQUET_UINT64, false},  {"batch", TV_PARQUET_UINT64, false},
    {"class", TV_PARQUET_TEXT, false},     {"name", TV_PARQUET_TEXT, false},
    {"signature", TV_PARQUET_TEXT, false}, {"category", TV_PARQUET_TEXT, false},
    {"file", TV_PARQUET_TEXT, false},      {"line", TV_PARQUET_INT64, false},
    {"form", TV_PARQUET_TEXT, false},
};

static void fleet_put_name(struct fleet_writer *to, size_t row)
{
    const struct fleet_name *name = &to->batch->names[row];
    const uint32_t texts[] = {name->class_name, name->name, name->signature, name->category,
                              name->file};
    fleet_put_u64(to, 0, name->method);
    fleet_put_u64(to, 1, to->batch->number);
    for (size_t i = 0; i < TV_COUNT(texts); i++)
        fleet_put_text(to, 2 + i, texts[i]);
    if (name->line > 0)
        fleet_put_i64(to, 7, name->line);
    fleet_put_text(to, 8, name->form);
}

static const struct tv_parquet_column fleet_method_columns[] = {
    {"trace", TV_PARQUET_UINT64, false},    {"batch", TV_PARQUET_UINT64, false},
    {"method", TV_PARQUET_UINT64, false},   {"calls", TV_PARQUET_INT64, false},
    {"recursive", TV_PARQUET_INT64, false}, {"incl", TV_PARQUET_INT64, false},
    {"excl", TV_PARQUET_INT64, false},      {"incl_cpu", TV_PARQUET_INT64, false},
    {"excl_cpu", TV_PARQUET_INT64, false},  {"max", TV_PARQUET_INT64, false},
    {"max_ts", TV_PARQUET_INT64, false},    {"max_slice", TV_PARQUET_INT64, false},
    {"keys", TV_PARQUET_UINT32, true},      {"counts", TV_PARQUET_UINT32, true},
};

/* Put a row of `method`.  The sketch is two lists of one length: the keys of
 * its buckets and their counts. */
static void fleet_put_method(struct fleet_writer *to, size_t row)
{
    const struct fleet_method *method = &to->batch->methods[row];
    const struct fleet_bucket *buckets =
        method->bucket_count > 0 ? &to->batch->buckets[method->first_bucket] : NULL;
    const int64_t figures[] = {(int64_t)method->calls, (int64_t)method->recursive,
                               method->incl,           method->excl,
                               method->incl_cpu,       method->excl_cpu};
    const int64_t longest[] = {method->longest, method->longest_at, method->longest_slice};
    fleet_put_u64(to, 0, method->trace);
    fleet_put_u64(to, 1, to->batch->number);
    fleet_put_u64(to, 2, method->method);
    for (size_t i = 0; i < TV_COUNT(figures); i++)
        fleet_put_i64(to, 3 + i, figures[i]);
    for (size_t i = 0; i < TV_COUNT(longest) && method->longest_slice >= 0; i++)
        fleet_put_i64(to, 9 + i, longest[i]);
    for (uint32_t i = 0; i < method->bucket_count; i++)
        fleet_put_u64(to, 12, buckets[i].key);
    for (uint32_t i = 0; i < method->bucket_count; i++)
        fleet_put_u64(to, 13, buckets[i].count);
}

static const struct tv_parquet_column fleet_path_columns[] = {
    {"trace", TV_PARQUET_UINT64, false},   {"batch", TV_PARQUET_UINT64, false},
    {"path", TV_PARQUET_UINT64, false},    {"parent", TV_PARQUET_UINT64, false},
    {"method", TV_PARQUET_UINT64, false},  {"calls", TV_PARQUET_INT64, false},
    {"incl", TV_PARQUET_INT64, false},     {"self", TV_PARQUET_INT64, false},
    {"incl_cpu", TV_PARQUET_INT64, false}, {"self_cpu", TV_PARQUET_INT64, false},
};

/* Put a row of `path`; one without a caller has no parent. */
static void fleet_put_path(struct fleet_writer *to, size_t row)
{
    const struct fleet_path *path = &to->batch->paths[row];
    const int64_t figures[] = {(int64_t)path->calls, path->incl, path->self, path->incl_cpu,
                               path->self_cpu};
    fleet_put_u64(to, 0, path->trace);
    fleet_put_u64(to, 1, to->batch->number);
    fleet_put_u64(to, 2, path->path);
    if (path->parent != 0)
        fleet_put_u64(to, 3, path->parent);
    fleet_put_u64(to, 4, path->method);
    for (size_t i = 0; i < TV_COUNT(figures); i++)
        fleet_put_i64(to, 5 + i, figures[i]);
}

/* Columns of `trace`; later versions of traceview add theirs at the end. */
enum trace_column {
    TRACE_KEY,
    TRACE_BATCH,
    TRACE_SCHEMA,
    TRACE_HASH,
    TRACE_URI,
    TRACE_RECORDED,
    TRACE_ADDED,
    TRACE_FORMAT,
    TRACE_BYTES,
    TRACE_SPAN,
    TRACE_CPU,
    TRACE_THREADS,
    TRACE_CALLS,
    TRACE_SAMPLED,
    TRACE_CLOCKS,
    TRACE_OVERFLOW,
    TRACE_HEALTH,
    TRACE_VERSION, /* this and the next four: tv_fleet_declared */
    TRACE_COMMIT,
    TRACE_DEVICE,
    TRACE_SCENARIO,
    TRACE_SIDE,
    TRACE_LABEL_KEYS,
    TRACE_LABEL_VALUES,
    TRACE_VALUE,
    TRACE_UNIT,
    TRACE_RECORDING,
    TRACE_ROUND,
    TRACE_BOOT,
    TRACE_ERROR,
    TRACE_PROGRAM,
    TRACE_HOST,
    TRACE_TRACEVIEW,
    TRACE_CLOCK_COST,
    TRACE_VALUE_INTERVAL,
    TRACE_OBFUSCATED,
    TRACE_NATIVE,
};

static const struct tv_parquet_column fleet_trace_columns[] = {
    [TRACE_KEY] = {"trace", TV_PARQUET_UINT64, false},
    [TRACE_BATCH] = {"batch", TV_PARQUET_UINT64, false},
    [TRACE_SCHEMA] = {"schema", TV_PARQUET_INT64, false},
    [TRACE_HASH] = {"hash", TV_PARQUET_TEXT, false},
    [TRACE_URI] = {"uri", TV_PARQUET_TEXT, false},
    [TRACE_RECORDED] = {"recorded", TV_PARQUET_INT64, false},
    [TRACE_ADDED] = {"added", TV_PARQUET_INT64, false},
    [TRACE_FORMAT] = {"format", TV_PARQUET_TEXT, false},
    [TRACE_BYTES] = {"bytes", TV_PARQUET_INT64, false},
    [TRACE_SPAN] = {"span", TV_PARQUET_INT64, false},
    [TRACE_CPU] = {"cpu", TV_PARQUET_INT64, false},
    [TRACE_THREADS] = {"threads", TV_PARQUET_INT64, false},
    [TRACE_CALLS] = {"calls", TV_PARQUET_INT64, false},
    [TRACE_SAMPLED] = {"sampled_interval", TV_PARQUET_INT64, false},
    [TRACE_CLOCKS] = {"clocks", TV_PARQUET_TEXT, false},
    [TRACE_OVERFLOW] = {"overflow", TV_PARQUET_BOOLEAN, false},
    [TRACE_HEALTH] = {"health", TV_PARQUET_INT64, false},
    [TRACE_VERSION] = {"version", TV_PARQUET_TEXT, false},
    [TRACE_COMMIT] = {"commit", TV_PARQUET_TEXT, false},
    [TRACE_DEVICE] = {"device", TV_PARQUET_TEXT, false},
    [TRACE_SCENARIO] = {"scenario", TV_PARQUET_TEXT, false},
    [TRACE_SIDE] = {"side", TV_PARQUET_TEXT, false},
    [TRACE_LABEL_KEYS] = {"label_keys", TV_PARQUET_TEXT, true},
    [TRACE_LABEL_VALUES] = {"label_values", TV_PARQUET_TEXT, true},
    [TRACE_VALUE] = {"value", TV_PARQUET_TEXT, false},
    [TRACE_UNIT] = {"unit", TV_PARQUET_TEXT, false},
    [TRACE_RECORDING] = {"recording", TV_PARQUET_TEXT, false},
    [TRACE_ROUND] = {"round", TV_PARQUET_INT64, false},
    [TRACE_BOOT] = {"boot", TV_PARQUET_TEXT, false},
    [TRACE_ERROR] = {"error", TV_PARQUET_TEXT, false},
    [TRACE_PROGRAM] = {"program", TV_PARQUET_TEXT, false},
    [TRACE_HOST] = {"host", TV_PARQUET_TEXT, false},
    [TRACE_TRACEVIEW] = {"traceview", TV_PARQUET_TEXT, false},
    [TRACE_CLOCK_COST] = {"clock_cost", TV_PARQUET_INT64, false},
    [TRACE_VALUE_INTERVAL] = {"value_interval", TV_PARQUET_INT64, false},
    [TRACE_OBFUSCATED] = {"obfuscated", TV_PARQUET_BOOLEAN, false},
    [TRACE_NATIVE] = {"native", TV_PARQUET_BOOLEAN, false},
};

/* The tables of struct fleet_detail: trace, batch, texts, a method, numbers. */
static const struct tv_parquet_column fleet_thread_columns[] = {
    {"trace", TV_PARQUET_UINT64, false},  {"batch", TV_PARQUET_UINT64, false},
    {"thread", TV_PARQUET_TEXT, false},   {"process", TV_PARQUET_TEXT, false},
    {"threads", TV_PARQUET_INT64, false}, {"calls", TV_PARQUET_INT64, false},
    {"wall", TV_PARQUET_INT64, false},    {"cpu", TV_PARQUET_INT64, false},
    {"ran", TV_PARQUET_INT64, false},     {"waited", TV_PARQUET_INT64, false},
    {"slept", TV_PARQUET_INT64, false},
};

static const struct tv_parquet_column fleet_sample_columns[] = {
    {"trace", TV_PARQUET_UINT64, false},  {"batch", TV_PARQUET_UINT64, false},
    {"value", TV_PARQUET_TEXT, false},    {"unit", TV_PARQUET_TEXT, false},
    {"method", TV_PARQUET_UINT64, false}, {"samples", TV_PARQUET_INT64, false},
    {"incl", TV_PARQUET_INT64, false},    {"excl", TV_PARQUET_INT64, false},
};

static const struct tv_parquet_column fleet_finding_columns[] = {
    {"trace", TV_PARQUET_UINT64, false}, {"batch", TV_PARQUET_UINT64, false},
    {"rule", TV_PARQUET_TEXT, false},    {"severity", TV_PARQUET_TEXT, false},
    {"count", TV_PARQUET_INT64, false},  {"total", TV_PARQUET_INT64, false},
};

static const struct tv_parquet_column fleet_frame_columns[] = {
    {"trace", TV_PARQUET_UINT64, false},  {"batch", TV_PARQUET_UINT64, false},
    {"process", TV_PARQUET_TEXT, false},  {"frames", TV_PARQUET_INT64, false},
    {"late", TV_PARQUET_INT64, false},    {"longest", TV_PARQUET_INT64, false},
    {"late_by", TV_PARQUET_INT64, false},
};

static const struct tv_parquet_column fleet_slice_columns[] = {
    {"trace", TV_PARQUET_UINT64, false},     {"batch", TV_PARQUET_UINT64, false},
    {"thread", TV_PARQUET_TEXT, false},      {"name", TV_PARQUET_TEXT, false},
    {"parent_name", TV_PARQUET_TEXT, false}, {"method", TV_PARQUET_UINT64, false},
    {"id", TV_PARQUET_INT64, false},         {"ts", TV_PARQUET_INT64, false},
    {"dur", TV_PARQUET_INT64, false},        {"cpu", TV_PARQUET_INT64, false},
    {"utid", TV_PARQUET_INT64, false},
};

/* Fields of struct fleet_detail that each table uses. */
static const struct {
    size_t texts;
    bool has_method;
} fleet_detail_forms[TV_FLEET_TRACE - TV_FLEET_THREAD] = {
    {2, false}, {2, true}, {2, false}, {1, false}, {3, true}};

/* Put a row of a detail table, whose columns follow from the form of the table. */
static void fleet_put_detail(struct fleet_writer *to, size_t row)
{
    size_t table = (size_t)(to->table - TV_FLEET_THREAD), column = 2;
    const struct fleet_detail *detail = &to->batch->details[table].rows[row];
    fleet_put_u64(to, 0, detail->trace);
    fleet_put_u64(to, 1, to->batch->number);
    for (size_t i = 0; i < fleet_detail_forms[table].texts; i++)
        fleet_put_text(to, column++, detail->texts[i]);
    if (fleet_detail_forms[table].has_method)
        fleet_put_u64(to, column++, detail->method);
    for (size_t i = 0; column < to->count; i++, column++)
        if (detail->numbers[i] != FLEET_UNKNOWN)
            fleet_put_i64(to, column, detail->numbers[i]);
}

/* Sums over the traces of a batch that have the same labels and month (merge.c).  In a folder, a
 * row without a method has the keys of these traces in `counts`. */
static const struct tv_parquet_column fleet_rollup_columns[] = {
    {"batch", TV_PARQUET_UINT64, false},   {"month", TV_PARQUET_TEXT, false},
    {"version", TV_PARQUET_TEXT, false},   {"device", TV_PARQUET_TEXT, false},
    {"scenario", TV_PARQUET_TEXT, false},  {"side", TV_PARQUET_TEXT, false},
    {"label_keys", TV_PARQUET_TEXT, true}, {"label_values", TV_PARQUET_TEXT, true},
    {"unit", TV_PARQUET_TEXT, false},      {"method", TV_PARQUET_UINT64, false},
    {"class", TV_PARQUET_TEXT, false},     {"name", TV_PARQUET_TEXT, false},
    {"signature", TV_PARQUET_TEXT, false}, {"traces", TV_PARQUET_INT64, false},
    {"calls", TV_PARQUET_INT64, false},    {"incl", TV_PARQUET_INT64, false},
    {"excl", TV_PARQUET_INT64, false},     {"incl_cpu", TV_PARQUET_INT64, false},
    {"excl_cpu", TV_PARQUET_INT64, false}, {"max", TV_PARQUET_INT64, false},
    {"keys", TV_PARQUET_UINT32, true},     {"counts", TV_PARQUET_UINT64, true},
};

/* Put a hash as hexadecimal digits. */
static void fleet_put_hash(struct fleet_writer *to, size_t column, const struct tv_fleet_hash *hash)
{
    uint8_t digits[2 * TV_FLEET_HASH];
    for (size_t i = 0; i < sizeof digits; i++)
        digits[i] = (uint8_t) "0123456789abcdef"[hash->bytes[i / 2] >> (i % 2 ? 0 : 4) & 15];
    fleet_put_bytes(to, column, (struct tv_bytes){digits, sizeof digits});
}

/* Put the labels of a trace: those with a column of their own are in it, the others in two lists of
 * one length. */
static void fleet_put_labels(struct fleet_writer *to, const struct fleet_trace *trace)
{
    const struct fleet_label *labels =
        trace->label_count > 0 ? &to->batch->labels[trace->first_label] : NULL;
    static_assert(TRACE_VERSION + FLEET_DECLARED == TRACE_LABEL_KEYS, "each label has a column");
    for (size_t i = 0; i < FLEET_DECLARED; i++)
        fleet_put_text(to, TRACE_VERSION + i, trace->declared[i]);
    for (uint32_t i = 0; i < trace->label_count; i++)
        fleet_put_text(to, TRACE_LABEL_KEYS, labels[i].key);
    for (uint32_t i = 0; i < trace->label_count; i++)
        fleet_put_text(to, TRACE_LABEL_VALUES, labels[i].value);
}

/* Put a row of `trace`.  Figures of a trace that could not be read are not known. */
static void fleet_put_trace(struct fleet_writer *to, size_t row)
{
    const struct fleet_trace *trace = &to->batch->traces[row];
    const int64_t sizes[] = {(int64_t)trace->bytes, trace->span, trace->cpu,
                             (int64_t)trace->threads, (int64_t)trace->calls};
    fleet_put_u64(to, TRACE_KEY, trace->number);
    fleet_put_u64(to, TRACE_BATCH, to->batch->number);
    fleet_put_i64(to, TRACE_SCHEMA, TV_FLEET_SCHEMA);
    fleet_put_hash(to, TRACE_HASH, &trace->hash);
    fleet_put_text(to, TRACE_URI, trace->uri);
    if (trace->recorded_us != 0)
        fleet_put_i64(to, TRACE_RECORDED, trace->recorded_us);
    fleet_put_i64(to, TRACE_ADDED, trace->added_us);
    fleet_put_text(to, TRACE_FORMAT, trace->format);
    const bool is_read = trace->error == TV_EMPTY_STRING;
    for (size_t i = 0; i < TV_COUNT(sizes) && is_read; i++)
        fleet_put_i64(to, TRACE_BYTES + i, sizes[i]);
    if (trace->sampled > 0)
        fleet_put_i64(to, TRACE_SAMPLED, trace->sampled);
    fleet_put_text(to, TRACE_CLOCKS, trace->clocks);
    if (is_read) {
        fleet_put_i64(to, TRACE_OVERFLOW, trace->overflow);
        fleet_put_u64(to, TRACE_HEALTH, trace->health);
    }
    fleet_put_labels(to, trace);
    fleet_put_text(to, TRACE_VALUE, trace->value);
    fleet_put_text(to, TRACE_UNIT, trace->unit);
    fleet_put_text(to, TRACE_RECORDING, trace->recording);
    if (trace->round > 0)
        fleet_put_i64(to, TRACE_ROUND, trace->round);
    fleet_put_text(to, TRACE_BOOT, trace->boot);
    fleet_put_text(to, TRACE_ERROR, trace->error);
    fleet_put_text(to, TRACE_PROGRAM, trace->program);
    fleet_put_text(to, TRACE_HOST, trace->host);
    fleet_put_bytes(to, TRACE_TRACEVIEW, TV_BYTES(TV_VERSION));
    if (trace->clock_cost > 0)
        fleet_put_i64(to, TRACE_CLOCK_COST, trace->clock_cost);
    if (trace->interval > 0)
        fleet_put_i64(to, TRACE_VALUE_INTERVAL, trace->interval);
    if (is_read) {
        fleet_put_i64(to, TRACE_OBFUSCATED, trace->obfuscated);
        fleet_put_i64(to, TRACE_NATIVE, trace->native);
    }
}

static const struct {
    const char *name;
    const struct tv_parquet_column *columns;
    size_t count;
    void (*put)(struct fleet_writer *to, size_t row);
} fleet_tables[TV_FLEET_FOLDERS] = {
    [TV_FLEET_METHOD_NAME] = {"method_name", fleet_name_columns, TV_COUNT(fleet_name_columns),
                              fleet_put_name},
    [TV_FLEET_METHOD] = {"method", fleet_method_columns, TV_COUNT(fleet_method_columns),
                         fleet_put_method},
    [TV_FLEET_PATH] = {"path", fleet_path_columns, TV_COUNT(fleet_path_columns), fleet_put_path},
    [TV_FLEET_THREAD] = {"thread", fleet_thread_columns, TV_COUNT(fleet_thread_columns),
                         fleet_put_detail},
    [TV_FLEET_SAMPLE] = {"sample", fleet_sample_columns, TV_COUNT(fleet_sample_columns),
                         fleet_put_detail},
    [TV_FLEET_FINDING] = {"finding", fleet_finding_columns, TV_COUNT(fleet_finding_columns),
                          fleet_put_detail},
    [TV_FLEET_FRAME] = {"frame", fleet_frame_columns, TV_COUNT(fleet_frame_columns),
                        fleet_put_detail},
    [TV_FLEET_SLICE] = {"slice", fleet_slice_columns, TV_COUNT(fleet_slice_columns),
                        fleet_put_detail},
    [TV_FLEET_TRACE] = {"trace", fleet_trace_columns, TV_COUNT(fleet_trace_columns),
                        fleet_put_trace},
    [TV_FLEET_ROLLUP] = {"rollup", fleet_rollup_columns, TV_COUNT(fleet_rollup_columns), NULL},
};

const char *tv_fleet_table_name(enum tv_fleet_table table)
{
    assert(table < TV_FLEET_FOLDERS);
    return fleet_tables[table].name;
}

const struct tv_parquet_column *tv_fleet_columns(enum tv_fleet_table table, size_t *count)
{
    *count = fleet_tables[table].count;
    return fleet_tables[table].columns;
}

struct tv_parquet *tv_fleet_parquet_new(struct tv_out *out, enum tv_fleet_table table)
{
    struct tv_parquet *parquet =
        tv_parquet_new(out, fleet_tables[table].columns, fleet_tables[table].count);
    tv_parquet_add_note(parquet, "traceview.schema", TV_FLEET_SCHEMA_TEXT);
    tv_parquet_add_note(parquet, "traceview.table", fleet_tables[table].name);
    tv_parquet_add_note(parquet, "traceview.version", TV_VERSION);
    return parquet;
}

size_t tv_fleet_column_count(enum tv_fleet_table table)
{
    return fleet_tables[table].count;
}

/* Return the number of rows of a table; a NULL batch has none. */
static size_t fleet_row_count(const struct tv_fleet_batch *batch, enum tv_fleet_table table)
{
    if (!batch)
        return 0;
    assert(table < TV_FLEET_TABLES);
    if (tv_fleet_is_detail(table))
        return batch->details[table - TV_FLEET_THREAD].count;
    switch (table) {
    case TV_FLEET_METHOD_NAME:
        return batch->name_count;
    case TV_FLEET_METHOD:
        return batch->method_count;
    case TV_FLEET_PATH:
        return batch->path_count;
    default:
        return batch->trace_count;
    }
}

bool tv_fleet_batch_has_table(const struct tv_fleet_batch *batch, enum tv_fleet_table table)
{
    return !tv_fleet_is_detail(table) || fleet_row_count(batch, table) > 0;
}

enum tv_status tv_fleet_batch_write(const struct tv_fleet_batch *batch, enum tv_fleet_table table,
                                    enum tv_fleet_form form, struct tv_out *out,
                                    struct tv_error *err)
{
    struct fleet_writer to = {.columns = fleet_tables[table].columns,
                              .count = fleet_tables[table].count,
                              .batch = batch,
                              .table = table,
                              .column = SIZE_MAX};
    enum tv_status status = TV_OK;
    struct tv_rowbinary binary;
    tv_rowbinary_init(&binary, out, to.columns, to.count);
    if (form == TV_FLEET_PARQUET)
        to.parquet = tv_fleet_parquet_new(out, table);
    else if (form == TV_FLEET_ROWBINARY)
        to.binary = &binary;
    else
        to.json = out;
    for (size_t i = 0; i < fleet_row_count(batch, table) && status == TV_OK; i++) {
        fleet_tables[table].put(&to, i);
        status = fleet_end_row(&to, err);
    }
    if (status == TV_OK && to.parquet)
        status = tv_parquet_finish(to.parquet, err);
    tv_parquet_free(to.parquet);
    tv_rowbinary_release(&binary);
    return status;
}
