/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.c - the tables of a trace, one chunk of rows after another, without DuckDB.
 *
 *     any_slice (tables.c) --> rows of one kind --> slice = its columns, and "kind"
 *
 * The columns have DuckDB's layout in memory, so that values.c and sqlite.c write them as they
 * write the rows of a query.  The tables here are those that prelude.c defines as views; a test
 * compares both.
 */
#include "sql/tables.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/sort.h"
#include "sql/sql.h"
#include "sql/values.h"

/* ---- Tables ---- */

/* Columns that follow from others. */
enum export_special {
    EXPORT_BASE, /* it does not: it is one of the table in tables.c */
    EXPORT_KIND,
    EXPORT_CPU,
    EXPORT_UCPU,
    EXPORT_RUNNING,
    EXPORT_END_STATE, /* state of the thread of EXPORT_RUNNING */
    EXPORT_THREAD_NAME,
    EXPORT_TID,
    EXPORT_PROCESS_NAME,
    EXPORT_PID,
};

struct export_column {
    const char *name;
    enum export_special special;
    const char *base; /* name of the column in tables.c; NULL: the same */
};

/* Rows of any_slice, by their kind_id. */
enum export_rows {
    EXPORT_ALL,
    EXPORT_SLICES,
    EXPORT_CPUS,
    EXPORT_STATES,
};

struct export_table {
    const char *name, *base; /* base NULL: the table of arguments */
    enum export_rows rows;
    bool whole; /* all columns of the base come first, but the hidden ones */
    const struct export_column *columns;
    size_t column_count;
};

static const struct export_column export_slice[] = {
    {"kind", EXPORT_KIND, NULL}, {"slice_id", EXPORT_BASE, "id"}, {"cat", EXPORT_BASE, "category"}};
static const struct export_column export_frames[] = {{"thread_name", EXPORT_THREAD_NAME, NULL},
                                                     {"tid", EXPORT_TID, NULL},
                                                     {"process_name", EXPORT_PROCESS_NAME, NULL},
                                                     {"pid", EXPORT_PID, NULL}};
static const struct export_column export_state[] = {
    {"id", EXPORT_BASE, NULL},          {"ts", EXPORT_BASE, NULL},
    {"dur", EXPORT_BASE, NULL},         {"cpu", EXPORT_BASE, NULL},
    {"utid", EXPORT_BASE, NULL},        {"state", EXPORT_BASE, NULL},
    {"io_wait", EXPORT_BASE, NULL},     {"blocked_function", EXPORT_BASE, NULL},
    {"waker_utid", EXPORT_BASE, NULL},  {"ucpu", EXPORT_BASE, NULL},
    {"state_name", EXPORT_BASE, "name"}};
static const struct export_column export_sched[] = {{"id", EXPORT_BASE, NULL},
                                                    {"ts", EXPORT_BASE, NULL},
                                                    {"dur", EXPORT_BASE, NULL},
                                                    {"cpu", EXPORT_CPU, NULL},
                                                    {"utid", EXPORT_RUNNING, NULL},
                                                    {"name", EXPORT_BASE, NULL},
                                                    {"end_state", EXPORT_END_STATE, NULL},
                                                    {"priority", EXPORT_BASE, NULL},
                                                    {"ucpu", EXPORT_UCPU, NULL}};

/* Tables that are not simply those of tables.c. */
static const struct export_table export_tables[] = {
    {"slice", "any_slice", EXPORT_SLICES, true, export_slice, TV_COUNT(export_slice)},
    {"sched", "any_slice", EXPORT_CPUS, false, export_sched, TV_COUNT(export_sched)},
    {"thread_state", "any_slice", EXPORT_STATES, false, export_state, TV_COUNT(export_state)},
    {"sample", "any_sample", EXPORT_ALL, true, NULL, 0},
    {"frames", "display_frame", EXPORT_ALL, true, export_frames, TV_COUNT(export_frames)},
    {"args", NULL, EXPORT_ALL, false, NULL, 0},
};

/* ---- Reading ---- */

#define MAX_COLUMNS 40

/* A column of the table that is written. */
struct export_output {
    const char *name;
    enum export_special special;
    uint32_t base; /* column of the base; EXPORT_BASE alone */
    struct tv_sql_vector vector;
};

/* The thread that ran since some time, as the states of threads tell it. */
struct export_running {
    int64_t ts, event, utid;
    uint64_t id; /* id of the state */
};

struct tv_sql_exporter {
    struct tv_sql_data data;
    struct tv_sql_scratch scratch;
    struct export_table table;
    const struct tv_sql_table *base;           /* NULL: the table of arguments */
    uint64_t next, count;                      /* rows of the base */
    struct tv_sql_vector vectors[MAX_COLUMNS]; /* columns of the base */
    struct export_output outputs[MAX_COLUMNS];
    bool needed[MAX_COLUMNS]; /* columns of the base from which an output follows */
    uint32_t output_count;
    struct export_running *running; /* by ts */
    size_t running_count;
    struct tv_sql_arguments *arguments;
};

struct tv_sql_exporter *tv_sql_exporter_new(const struct tv_trace *trace)
{
    struct tv_sql_exporter *made = tv_alloc(1, sizeof *made);
    tv_sql_data_init(&made->data, trace);
    assert(made->output_count == 0 && !made->base);
    return made;
}

static void export_free_vector(struct tv_sql_vector *vector)
{
    tv_free(vector->data);
    tv_free(vector->validity);
    *vector = (struct tv_sql_vector){.data = NULL};
}

/* Free what belongs to one table, so that the next one can begin; the data of
 * the trace stay. */
static void export_end_table(struct tv_sql_exporter *exporter)
{
    for (size_t i = 0; i < MAX_COLUMNS; i++) {
        export_free_vector(&exporter->vectors[i]);
        export_free_vector(&exporter->outputs[i].vector);
    }
    tv_free(exporter->running);
    tv_sql_arguments_free(exporter->arguments);
    exporter->running = NULL;
    exporter->arguments = NULL;
    exporter->running_count = 0;
    exporter->output_count = 0;
    memset(exporter->needed, 0, sizeof exporter->needed);
}

void tv_sql_exporter_free(struct tv_sql_exporter *exporter)
{
    if (!exporter)
        return;
    export_end_table(exporter);
    tv_sql_data_release(&exporter->data);
    tv_free(exporter);
}

static size_t export_size_of(enum tv_sql_type type)
{
    switch (type) {
    case TV_SQL_TEXT:
    case TV_SQL_NAME:
        return sizeof(struct duck_string);
    case TV_SQL_BOOLEAN:
        return sizeof(bool);
    default:
        return 8;
    }
}

/* Make a column for one chunk; it is filled again for every chunk. */
static struct tv_sql_vector export_make_vector(enum tv_sql_type type)
{
    return (struct tv_sql_vector){.data = tv_alloc(TV_SQL_ROWS, export_size_of(type)),
                                  .validity = tv_alloc(TV_SQL_ROWS / 64, sizeof(uint64_t)),
                                  .plain = true};
}

static bool export_is_valid(const struct tv_sql_vector *vector, uint64_t row)
{
    return vector->validity[row / 64] >> row % 64 & 1;
}

/* Fill a column of the base. */
static const struct tv_sql_vector *export_fill(struct tv_sql_exporter *exporter, uint32_t column,
                                               uint64_t first, uint32_t count)
{
    assert(count <= TV_SQL_ROWS && first + count <= exporter->count);
    struct tv_sql_vector *vector = &exporter->vectors[column];
    if (!vector->data)
        *vector = export_make_vector(exporter->base->columns[column].type);
    memset(vector->validity, 0xff, TV_SQL_ROWS / 8);
    if (exporter->base->put)
        tv_sql_put_rows(exporter->base, &exporter->data, column, first, count, vector);
    else
        exporter->base->fill(&exporter->data, &exporter->scratch, column, first, count, vector);
    return vector;
}

/* Return the number of a column, which the table must have. */
static uint32_t export_find_column(const struct tv_sql_table *table, const char *name)
{
    uint32_t column = 0;
    while (column < table->column_count && strcmp(table->columns[column].name, name) != 0)
        column++;
    assert(column < table->column_count);
    return column;
}

static uint32_t export_column(const struct tv_sql_exporter *exporter, const char *name)
{
    return export_find_column(exporter->base, name);
}

/* Return an integer of a row; -1 if it is missing. */
static int64_t export_integer(const struct tv_sql_exporter *exporter, const char *name,
                              uint64_t row)
{
    const struct tv_sql_vector *vector = &exporter->vectors[export_column(exporter, name)];
    assert(vector->data);
    return export_is_valid(vector, row) ? ((const int64_t *)vector->data)[row] : -1;
}

/* ---- The threads that ran ---- */

/* Sort the list by time, through an array of keys. */
static void export_sort_running(struct tv_sql_exporter *exporter)
{
    size_t count = exporter->running_count;
    struct tv_sort_key *keys = tv_alloc(count + 1, sizeof *keys);
    struct export_running *sorted = tv_alloc(count + 1, sizeof *sorted);
    for (size_t i = 0; i < count; i++)
        keys[i] = (struct tv_sort_key){tv_sort_signed(exporter->running[i].ts), i};
    tv_sort_keys(keys, count);
    for (size_t i = 0; i < count; i++)
        sorted[i] = exporter->running[keys[i].index];
    tv_free(keys);
    tv_free(exporter->running);
    exporter->running = sorted;
}

/* List the states Running of all threads. */
static void export_list_running(struct tv_sql_exporter *exporter)
{
    static const char *const names[] = {"kind_id", "ts", "event", "utid", "name"};
    size_t capacity = 0;
    for (uint64_t first = 0; first < exporter->count; first += TV_SQL_ROWS) {
        uint64_t left = exporter->count - first;
        uint32_t count = left < TV_SQL_ROWS ? (uint32_t)left : TV_SQL_ROWS;
        for (size_t i = 0; i < TV_COUNT(names); i++)
            (void)export_fill(exporter, export_column(exporter, names[i]), first, count);
        const struct duck_string *states = exporter->vectors[export_column(exporter, "name")].data;
        for (uint32_t row = 0; row < count; row++) {
            if (export_integer(exporter, "kind_id", row) != TV_TRACK_STATES ||
                states[row].length != 7 || memcmp(states[row].bytes, "Running", 7) != 0)
                continue;
            exporter->running =
                tv_array_reserve(exporter->running, &capacity, exporter->running_count + 1,
                                 sizeof *exporter->running);
            exporter->running[exporter->running_count++] = (struct export_running){
                export_integer(exporter, "ts", row), export_integer(exporter, "event", row),
                export_integer(exporter, "utid", row), first + row};
        }
    }
    export_sort_running(exporter);
}

/* Return the state of the thread that an event made run; NULL if there is none. */
static const struct export_running *export_find_running(const struct tv_sql_exporter *exporter,
                                                        int64_t ts, int64_t event)
{
    size_t at = 0;
    TV_LOWER_BOUND(at, exporter->running_count, i, exporter->running[i].ts < ts);
    for (; at < exporter->running_count && exporter->running[at].ts == ts; at++)
        if (exporter->running[at].event == event)
            return &exporter->running[at];
    return NULL;
}

/* ---- Columns that follow from others ---- */

/* Put a number; NULL if it is negative, which means unknown here. */
static void export_put_known(struct tv_sql_vector *vector, uint64_t row, int64_t value)
{
    if (value < 0)
        tv_sql_put_null(vector, row);
    else
        tv_sql_put_integer(vector, row, value);
}

/* Put the thread that a processor ran, or the state in which it was left. */
static void export_put_running(const struct tv_sql_exporter *exporter, enum export_special special,
                               struct tv_sql_vector *vector, uint64_t row)
{
    const struct export_running *running = export_find_running(
        exporter, export_integer(exporter, "ts", row), export_integer(exporter, "event", row));
    if (!running) {
        tv_sql_put_null(vector, row);
    } else if (special == EXPORT_RUNNING) {
        export_put_known(vector, row, running->utid);
    } else {
        struct tv_slice_place place = {tv_sql_row_of(&exporter->data, running->id), 0};
        place.index = (uint32_t)(running->id - exporter->data.first_id[place.row]);
        tv_sql_put_state_column(&exporter->data, TV_SQL_SLICE_END_STATE, row, place, vector);
    }
}

/* Put the name or the number of the thread or process that the row belongs to. */
static void export_put_thread(const struct tv_sql_exporter *exporter, enum export_special special,
                              struct tv_sql_vector *vector, uint64_t row)
{
    const struct tv_trace_info *info = exporter->data.trace->head;
    bool of_thread = special == EXPORT_THREAD_NAME || special == EXPORT_TID;
    int64_t number = export_integer(exporter, of_thread ? "utid" : "upid", row);
    if (number < 0)
        tv_sql_put_null(vector, row);
    else if (special == EXPORT_THREAD_NAME)
        tv_sql_put_string(&exporter->data, vector, row, info->threads[number].name);
    else if (special == EXPORT_TID)
        tv_sql_put_integer(vector, row, (int64_t)info->threads[number].id);
    else if (special == EXPORT_PROCESS_NAME)
        tv_sql_put_string(&exporter->data, vector, row, info->processes[number].name);
    else
        tv_sql_put_integer(vector, row, (int64_t)info->processes[number].id);
}

/* Put the kind of a slice in the words of the macro slice_kind (prelude.c). */
static void export_put_kind(struct tv_sql_vector *vector, uint64_t row, int64_t kind)
{
    tv_sql_put_text(vector, row,
                    kind == TV_TRACK_ASYNC        ? "async"
                    : kind == TV_SQL_KIND_INSTANT ? "instant"
                                                  : "slice");
}

/* Put the processor of a track, in its machine or among those of all. */
static void export_put_cpu(const struct tv_sql_exporter *exporter, enum export_special special,
                           struct tv_sql_vector *vector, uint64_t row)
{
    const struct tv_trace *trace = exporter->data.trace;
    uint32_t track = (uint32_t)export_integer(exporter, "track_id", row);
    int64_t cpu = tv_sql_cpu_of_track(trace, track);
    if (cpu >= 0 && special == EXPORT_UCPU)
        cpu = tv_sql_ucpu(&exporter->data, trace->tracks[track].input, cpu);
    export_put_known(vector, row, cpu);
}

static void export_put_special(const struct tv_sql_exporter *exporter, struct export_output *output,
                               uint64_t row)
{
    struct tv_sql_vector *vector = &output->vector;
    switch (output->special) {
    case EXPORT_KIND:
        export_put_kind(vector, row, export_integer(exporter, "kind_id", row));
        break;
    case EXPORT_CPU:
    case EXPORT_UCPU:
        export_put_cpu(exporter, output->special, vector, row);
        break;
    case EXPORT_RUNNING:
    case EXPORT_END_STATE:
        export_put_running(exporter, output->special, vector, row);
        break;
    default:
        export_put_thread(exporter, output->special, vector, row);
    }
}

/* Return the type of a column that follows from others: names and letters are
 * texts, the rest are integers. */
static enum tv_sql_type export_special_type(enum export_special special)
{
    return special == EXPORT_KIND || special == EXPORT_THREAD_NAME ||
                   special == EXPORT_PROCESS_NAME || special == EXPORT_END_STATE
               ? TV_SQL_TEXT
               : TV_SQL_INTEGER;
}

/* ---- Tables, continued ---- */

/* Return the table of tables.c with a name. */
static const struct tv_sql_table *export_find_base(const char *name)
{
    size_t number = 0;
    while (number < tv_sql_table_count && strcmp(tv_sql_tables[number]->name, name) != 0)
        number++;
    assert(number < tv_sql_table_count); /* every exported table has a base */
    return tv_sql_tables[number];
}

/* Note the columns of the base that export_put_special reads. */
static void export_need_special(struct tv_sql_exporter *exporter, enum export_special special)
{
    static const char *const names[][2] = {
        [EXPORT_BASE] = {NULL, NULL},           [EXPORT_KIND] = {"kind_id", NULL},
        [EXPORT_CPU] = {"track_id", NULL},      [EXPORT_UCPU] = {"track_id", NULL},
        [EXPORT_RUNNING] = {"ts", "event"},     [EXPORT_END_STATE] = {"ts", "event"},
        [EXPORT_THREAD_NAME] = {"utid", NULL},  [EXPORT_TID] = {"utid", NULL},
        [EXPORT_PROCESS_NAME] = {"upid", NULL}, [EXPORT_PID] = {"upid", NULL},
    };
    for (size_t i = 0; i < 2; i++)
        if (names[special][i])
            exporter->needed[export_column(exporter, names[special][i])] = true;
}

/* Add a column to the table that is written.  The table of processors needs the
 * states of all threads first. */
static void export_add_output(struct tv_sql_exporter *exporter, const struct export_column *column)
{
    struct export_output *output = &exporter->outputs[exporter->output_count++];
    assert(exporter->output_count <= MAX_COLUMNS);
    *output = (struct export_output){.name = column->name, .special = column->special};
    if (column->special == EXPORT_BASE) {
        output->base = export_column(exporter, column->base ? column->base : column->name);
        exporter->needed[output->base] = true;
    } else {
        output->vector = export_make_vector(export_special_type(column->special));
        export_need_special(exporter, column->special);
    }
    if (column->special == EXPORT_RUNNING)
        export_list_running(exporter);
}

/* Does the table of slices leave the column out? */
static bool export_is_hidden(const char *name)
{
    static const char *const hidden[] = {
        "kind_id", "event", "length",    "is_recursive", "waker_utid", "blocked_function",
        "io_wait", "state", "end_state", "cpu",          "priority",   "ucpu"};
    for (size_t i = 0; i < TV_COUNT(hidden); i++)
        if (strcmp(name, hidden[i]) == 0)
            return true;
    return false;
}

void tv_sql_exporter_begin(struct tv_sql_exporter *exporter, const char *name)
{
    export_end_table(exporter);
    exporter->table = (struct export_table){.name = name, .base = name, .whole = true};
    for (size_t i = 0; i < TV_COUNT(export_tables); i++)
        if (strcmp(export_tables[i].name, name) == 0)
            exporter->table = export_tables[i];
    exporter->next = 0;
    if (!exporter->table.base) {
        exporter->base = NULL;
        exporter->arguments = tv_sql_arguments_new(&exporter->data);
        return;
    }
    exporter->base = export_find_base(exporter->table.base);
    exporter->count = exporter->base->count(&exporter->data);
    exporter->scratch.count = 0;
    /* Columns that only help the views are left out. */
    const struct tv_sql_table *slices = export_find_base("any_slice");
    for (uint32_t i = 0; i < exporter->base->column_count && exporter->table.whole; i++) {
        struct export_column column = {exporter->base->columns[i].name, EXPORT_BASE, NULL};
        if (exporter->base == slices ? !export_is_hidden(column.name)
                                     : strcmp(column.name, "first_id") != 0)
            export_add_output(exporter, &column);
    }
    for (size_t i = 0; i < exporter->table.column_count; i++)
        export_add_output(exporter, &exporter->table.columns[i]);
}

static int export_duck_type(enum tv_sql_type type)
{
    static const int types[] = {
        [TV_SQL_INTEGER] = DUCK_BIGINT,  [TV_SQL_REAL] = DUCK_DOUBLE,
        [TV_SQL_TEXT] = DUCK_VARCHAR,    [TV_SQL_NAME] = DUCK_VARCHAR,
        [TV_SQL_BOOLEAN] = DUCK_BOOLEAN,
    };
    return types[type];
}

void tv_sql_exporter_columns(struct tv_sql_exporter *exporter, struct tv_sql_columns *columns)
{
    if (!exporter->base) {
        tv_sql_arguments_columns(columns);
        return;
    }
    columns->count = exporter->output_count;
    columns->items = tv_alloc(exporter->output_count, sizeof *columns->items);
    for (uint32_t i = 0; i < exporter->output_count; i++) {
        const struct export_output *output = &exporter->outputs[i];
        columns->items[i] = (struct tv_sql_result_column){
            .name = output->name,
            .type = export_duck_type(output->special == EXPORT_BASE
                                         ? exporter->base->columns[output->base].type
                                         : export_special_type(output->special))};
    }
}

/* Does a table have the rows of a kind of track? */
static bool export_wants_kind(enum export_rows rows, int64_t kind)
{
    switch (rows) {
    case EXPORT_SLICES:
        return kind != TV_TRACK_CPU && kind != TV_TRACK_STATES;
    case EXPORT_CPUS:
        return kind == TV_TRACK_CPU;
    case EXPORT_STATES:
        return kind == TV_TRACK_STATES;
    default:
        return true;
    }
}

/* List the rows that the table has; return their number. */
static uint32_t export_choose_rows(struct tv_sql_exporter *exporter, uint64_t first, uint32_t count,
                                   uint16_t chosen[TV_SQL_ROWS])
{
    uint32_t found = 0;
    if (exporter->table.rows != EXPORT_ALL)
        (void)export_fill(exporter, export_column(exporter, "kind_id"), first, count);
    for (uint32_t row = 0; row < count; row++)
        if (exporter->table.rows == EXPORT_ALL ||
            export_wants_kind(exporter->table.rows, export_integer(exporter, "kind_id", row)))
            chosen[found++] = (uint16_t)row;
    return found;
}

/* Move the chosen rows of a column to its front. */
static void export_compact(struct tv_sql_vector *vector, enum tv_sql_type type,
                           const uint16_t chosen[TV_SQL_ROWS], uint32_t count)
{
    size_t size = export_size_of(type);
    uint8_t *data = vector->data;
    for (uint32_t i = 0; i < count; i++) {
        bool valid = export_is_valid(vector, chosen[i]);
        memmove(data + i * size, data + chosen[i] * size, size);
        vector->validity[i / 64] &= ~(UINT64_C(1) << i % 64);
        vector->validity[i / 64] |= (uint64_t)valid << i % 64;
    }
}

/* Fill every column for some rows of the base; return the number of rows that the table has. */
static uint32_t export_read_rows(struct tv_sql_exporter *exporter, uint64_t first, uint32_t count)
{
    uint16_t chosen[TV_SQL_ROWS];
    uint32_t found = export_choose_rows(exporter, first, count, chosen);
    if (found == 0)
        return 0;
    /* Columns that are not written are filled if others follow from them. */
    for (uint32_t i = 0; i < exporter->base->column_count; i++) {
        if (!exporter->needed[i])
            continue;
        (void)export_fill(exporter, i, first, count);
        if (found < count)
            export_compact(&exporter->vectors[i], exporter->base->columns[i].type, chosen, found);
    }
    for (uint32_t i = 0; i < exporter->output_count; i++) {
        struct export_output *output = &exporter->outputs[i];
        if (output->special == EXPORT_BASE)
            continue;
        memset(output->vector.validity, 0xff, TV_SQL_ROWS / 8);
        for (uint32_t row = 0; row < found; row++)
            export_put_special(exporter, output, row);
    }
    return found;
}

bool tv_sql_exporter_next(struct tv_sql_exporter *exporter, struct tv_sql_chunk *chunk)
{
    chunk->chunk = NULL;
    chunk->count = 0;
    if (!exporter->base)
        return tv_sql_arguments_next(exporter->arguments, chunk);
    while (exporter->next < exporter->count && chunk->count == 0) {
        uint64_t left = exporter->count - exporter->next;
        uint32_t count = left < TV_SQL_ROWS ? (uint32_t)left : TV_SQL_ROWS;
        chunk->count = export_read_rows(exporter, exporter->next, count);
        exporter->next += count;
    }
    for (uint32_t i = 0; i < exporter->output_count; i++) {
        const struct export_output *output = &exporter->outputs[i];
        const struct tv_sql_vector *vector =
            output->special == EXPORT_BASE ? &exporter->vectors[output->base] : &output->vector;
        chunk->data[i] = vector->data;
        chunk->validity[i] = vector->validity;
    }
    return chunk->count > 0;
}

enum tv_status tv_sql_export_table(struct tv_sql_exporter *exporter, const char *table,
                                   struct tv_sql_output *output, struct tv_out *out,
                                   struct tv_error *err)
{
    const struct tv_sql_rows rows = {.table = exporter};
    tv_sql_exporter_begin(exporter, table);
    return tv_sql_write_result(out, &rows, output, err);
}
