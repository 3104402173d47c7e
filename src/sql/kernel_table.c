/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_table.c - the events of the kernel one by one (tables.h), of Perfetto traces and ftrace
 * text.
 *
 *     ftrace_event    id  ts   name           utid  cpu  arg_set_id
 *                     0   100  sched_waking   2     0    -9
 *                     1   150  print          2     0    -10
 *
 * The model has what the events tell, but not the events.  A query that first names the table reads
 * the files again, and keeps the time and place of each event.  Its fields are read when a query
 * asks for its arguments (arguments.c).
 */
#include <pthread.h>
#include <string.h>

#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/sort.h"
#include "readers/ftrace/ftrace.h"
#include "readers/perfetto/perfetto.h"
#include "sql/tables.h"

struct sql_kernel_event {
    tv_ns time;      /* since the start of the trace */
    uint64_t offset; /* TV_NO_OFFSET: it has no arguments */
    uint32_t input, thread, cpu, name;
};

struct tv_sql_kernel {
    pthread_mutex_t lock;
    bool is_read;
    TV_TABLE(sql_kernel_event) events; /* by time */
    struct tv_interner *names;
};

struct tv_sql_kernel *tv_sql_kernel_new(void)
{
    struct tv_sql_kernel *kernel = tv_alloc(1, sizeof *kernel);
    pthread_mutex_init(&kernel->lock, NULL);
    kernel->names = tv_interner_new();
    return kernel;
}

void tv_sql_kernel_free(struct tv_sql_kernel *kernel)
{
    if (!kernel)
        return;
    tv_interner_free(kernel->names);
    tv_free(kernel->events.rows);
    pthread_mutex_destroy(&kernel->lock);
    tv_free(kernel);
}

/* ---- Read the events ---- */

/* The events of one input, while its file is read. */
struct kernel_visitor {
    struct tv_record_visitor visitor; /* visits ftrace text; the first member */
    const struct tv_sql_data *data;
    uint32_t input;
    struct tv_map threads; /* id -> its number, of the machine of the input */
};

static void kernel_list_threads(struct kernel_visitor *visitor)
{
    const struct tv_trace_info *info = visitor->data->trace->head;
    const uint32_t *machine_of = visitor->data->machine_of_input;
    tv_map_init(&visitor->threads);
    for (uint32_t i = info->thread_count; i-- > 0;) /* backwards: the first of equal ids stays */
        if (machine_of[info->threads[i].input] == machine_of[visitor->input])
            tv_map_set(&visitor->threads, info->threads[i].id, i);
    if (visitor->data->adds_idle_thread && machine_of[visitor->input] == 0)
        tv_map_set(&visitor->threads, 0, info->thread_count);
}

static void kernel_add(struct kernel_visitor *visitor, const struct tv_pf_kernel_event *event)
{
    struct tv_sql_kernel *kernel = visitor->data->kernel;
    tv_read_limit_add(visitor->data->limit, 3 * sizeof *kernel->events.rows); /* also to sort */
    *tv_table_add(&kernel->events) = (struct sql_kernel_event){
        .time = tv_trace_time(visitor->data->trace, visitor->input, event->time),
        .offset = event->offset,
        .input = visitor->input,
        .thread = tv_map_find(&visitor->threads, (uint64_t)event->tid),
        .cpu = event->cpu,
        .name = tv_interner_add(kernel->names, event->name),
    };
}

static void kernel_take(void *context, const struct tv_pf_kernel_event *event)
{
    kernel_add(context, event);
}

static void kernel_begin(struct tv_record_visitor *visitor, const struct tv_trace_info *head,
                         uint32_t input)
{
    (void)visitor;
    (void)head;
    (void)input;
}

static void kernel_take_line(struct tv_record_visitor *base, const struct tv_ft_record *record)
{
    const struct tv_ft_line *line = &record->event;
    if (!record->is_event)
        return;
    kernel_add((struct kernel_visitor *)base,
               &(const struct tv_pf_kernel_event){
                   .time = line->time,
                   .offset = record->offset,
                   .name = line->event.length > 0 ? line->event : TV_BYTES("function"),
                   .cpu = line->cpu,
                   .tid = (int32_t)line->tid,
               });
}

/* Read the events of an input.  A file that cannot be read again has those before the error. */
static void kernel_read_input(const struct tv_sql_data *data, uint32_t input)
{
    const struct tv_input *of = &data->trace->head->inputs[input];
    struct kernel_visitor visitor = {
        .visitor = {.begin = kernel_begin, .take_line = kernel_take_line, .limit = data->limit},
        .data = data,
        .input = input,
    };
    struct tv_error unused;
    kernel_list_threads(&visitor);
    if (strcmp(of->format, tv_reader_perfetto.format) == 0) {
        (void)tv_pf_visit_kernel_events(of, kernel_take, &visitor, data->limit, &unused);
    } else if (strcmp(of->format, tv_reader_ftrace.format) == 0) {
        struct tv_trace_info *head = tv_trace_info_new();
        (void)tv_reader_ftrace.visit_records(of->source, head, &visitor.visitor, &unused);
        tv_trace_info_free(head);
    }
    tv_map_release(&visitor.threads);
}

/* Sort the events by time: a file has them by processor. */
static void kernel_sort(struct tv_sql_kernel *kernel)
{
    size_t count = kernel->events.count;
    struct tv_sort_key *keys = tv_alloc(count + 1, sizeof *keys);
    struct sql_kernel_event *sorted = tv_alloc(count + 1, sizeof *sorted);
    for (size_t i = 0; i < count; i++)
        keys[i] = (struct tv_sort_key){tv_sort_signed(kernel->events.rows[i].time), i};
    tv_sort_keys(keys, count);
    for (size_t i = 0; i < count; i++)
        sorted[i] = kernel->events.rows[keys[i].index];
    tv_free(keys);
    tv_free(kernel->events.rows);
    kernel->events.rows = sorted;
    kernel->events.capacity = count + 1;
}

/* Return the events of all inputs, and read them when they are first asked for; none of them when
 * the pass was ended early. */
static const struct tv_sql_kernel *kernel_get(const struct tv_sql_data *data)
{
    struct tv_sql_kernel *kernel = data->kernel;
    pthread_mutex_lock(&kernel->lock);
    if (!kernel->is_read) {
        uint64_t before = data->limit ? atomic_load(&data->limit->bytes) : 0;
        for (uint32_t i = 0; i < data->trace->head->input_count; i++)
            if (data->trace->head->inputs[i].source)
                kernel_read_input(data, i);
        kernel->is_read = !tv_read_limit_stops(data->limit);
        if (!kernel->is_read) {
            kernel->events.count = 0;
            atomic_store(&data->limit->bytes, before);
        }
        kernel_sort(kernel);
    }
    pthread_mutex_unlock(&kernel->lock);
    return kernel;
}

bool tv_sql_find_kernel_event(const struct tv_sql_data *data, int64_t id, uint32_t *input,
                              uint64_t *offset)
{
    int64_t first = tv_sql_kernel_args(data);
    if (id > first)
        return false;
    const struct tv_sql_kernel *kernel = kernel_get(data);
    uint64_t number = (uint64_t)first - (uint64_t)id;
    if (number >= kernel->events.count)
        return false;
    *input = kernel->events.rows[number].input;
    *offset = kernel->events.rows[number].offset;
    return true;
}

/* ---- The table ---- */

enum {
    KERNEL_ID,
    KERNEL_TS,
    KERNEL_NAME,
    KERNEL_UTID,
    KERNEL_CPU,
    KERNEL_UCPU,
    KERNEL_ARGS,
};

static const struct tv_sql_column kernel_columns[] = {
    [KERNEL_ID] = {"id", TV_SQL_INTEGER},           [KERNEL_TS] = {"ts", TV_SQL_INTEGER},
    [KERNEL_NAME] = {"name", TV_SQL_TEXT},          [KERNEL_UTID] = {"utid", TV_SQL_INTEGER},
    [KERNEL_CPU] = {"cpu", TV_SQL_INTEGER},         [KERNEL_UCPU] = {"ucpu", TV_SQL_INTEGER},
    [KERNEL_ARGS] = {"arg_set_id", TV_SQL_INTEGER},
};

static uint64_t sql_kernel_count(const struct tv_sql_data *data)
{
    return kernel_get(data)->events.count;
}

static void sql_fill_kernel(const struct tv_sql_data *data, struct tv_sql_scratch *scratch,
                            uint32_t column, uint64_t first, uint32_t count,
                            struct tv_sql_vector *vector)
{
    const struct tv_sql_kernel *kernel = kernel_get(data);
    (void)scratch;
    for (uint32_t i = 0; i < count; i++) {
        const struct sql_kernel_event *event = &kernel->events.rows[first + i];
        if (column == KERNEL_ID)
            tv_sql_put_integer(vector, i, (int64_t)(first + i));
        else if (column == KERNEL_TS)
            tv_sql_put_integer(vector, i, event->time);
        else if (column == KERNEL_NAME)
            tv_sql_put_bytes(vector, i, tv_interner_get(kernel->names, event->name));
        else if (column == KERNEL_UTID)
            tv_sql_put_index(vector, i, event->thread);
        else if (column == KERNEL_CPU)
            tv_sql_put_index(vector, i, event->cpu);
        else if (column == KERNEL_UCPU && event->cpu == TV_NONE)
            tv_sql_put_null(vector, i);
        else if (column == KERNEL_UCPU)
            tv_sql_put_integer(vector, i, tv_sql_ucpu(data, event->input, event->cpu));
        else if (event->offset == TV_NO_OFFSET)
            tv_sql_put_null(vector, i);
        else
            tv_sql_put_integer(vector, i, tv_sql_kernel_args(data) - (int64_t)(first + i));
    }
}

const struct tv_sql_table tv_sql_kernel_table = {
    .name = "ftrace_event",
    .count = sql_kernel_count,
    .slow_count = true,
    .fill = sql_fill_kernel,
    .columns = kernel_columns,
    .column_count = TV_COUNT(kernel_columns),
};
