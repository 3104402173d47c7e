/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arguments.c - the arguments of slices, instants and snapshots: the scalar function tv_event(id).
 *
 * The model does not store arguments.  tv_event reads the event of an id again and returns what the
 * reader tells of it as JSON (tv_describe); the view `args` and the macro extract_arg (prelude.c)
 * take it apart.
 */
#include <assert.h>

#include "base/bytes.h"
#include "base/out.h"
#include "base/sort.h"
#include "sql/tables.h"

/* The longest description that is passed on: DuckDB keeps a chunk of 2,048 at once. */
#define LARGEST_EVENT ((size_t)1 << 20)

/* The position of an event in its file. */
struct sql_event_place {
    uint32_t input;
    uint64_t offset, end_offset;
};

static struct sql_event_place sql_place_of_slice(const struct tv_sql_data *data, uint64_t id)
{
    const struct tv_trace *trace = data->trace;
    uint32_t row = tv_sql_row_of(data, id);
    uint32_t index = (uint32_t)(id - data->first_id[row]);
    const struct tv_slice_extra *extra = tv_tables_slice_extra(&trace->tables, row, index);
    return (struct sql_event_place){trace->rows[row].input, tv_slice_offset(trace, row, index),
                                    extra ? extra->end_offset : TV_NO_OFFSET};
}

static struct sql_event_place sql_place_of_value(const struct tv_sql_data *data, uint64_t value)
{
    const struct tv_tables *tables = &data->trace->tables;
    size_t after = 1;
    TV_LOWER_BOUND(after, tables->counters.count, i, data->first_value[i] <= value);
    const struct tv_counter *counter = &tables->counters.rows[after - 1];
    uint64_t sample = (value - data->first_value[after - 1]) / counter->series_count;
    return (struct sql_event_place){
        counter->input, tables->counter_offsets[counter->first_sample + sample], TV_NO_OFFSET};
}

/* Find the event of a snapshot, a sample, a counter's value or a packet: ids below 0. */
static struct sql_event_place sql_find_other_event(const struct tv_sql_data *data, int64_t id)
{
    const struct tv_tables *tables = &data->trace->tables;
    struct sql_event_place place = {0, TV_NO_OFFSET, TV_NO_OFFSET};
    uint64_t snapshot = (uint64_t)tv_sql_snapshot_args(data, 0) - (uint64_t)id;
    uint64_t sample = (uint64_t)tv_sql_sample_args(data, 0) - (uint64_t)id;
    uint64_t value = (uint64_t)tv_sql_value_args(data, 0) - (uint64_t)id;
    /* Ids before the first one wrap to large numbers. */
    if (snapshot < tables->snapshots.count) {
        place.input = tables->snapshots.rows[snapshot].input;
        place.offset = tables->snapshots.rows[snapshot].offset;
    } else if (sample < tables->samples.count) {
        place.input = tables->samples.rows[sample].input;
        place.offset = tables->samples.rows[sample].offset;
    } else if (value < data->first_value[tables->counters.count]) {
        place = sql_place_of_value(data, value);
    } else if (!tv_sql_find_packet(data, id, &place.input, &place.offset)) {
        (void)tv_sql_find_kernel_event(data, id, &place.input, &place.offset);
    }
    return place;
}

/* Find the event of an id; without an offset if there is none. */
static struct sql_event_place sql_find_event(const struct tv_sql_data *data, int64_t id)
{
    const struct tv_tables *tables = &data->trace->tables;
    uint64_t slices = data->first_id[data->trace->row_count];
    if (id < 0)
        return sql_find_other_event(data, id);
    if ((uint64_t)id >= slices + tables->instants.count)
        return (struct sql_event_place){0, TV_NO_OFFSET, TV_NO_OFFSET};
    if ((uint64_t)id < slices)
        return sql_place_of_slice(data, (uint64_t)id);
    const struct tv_instant *instant = &tables->instants.rows[(uint64_t)id - slices];
    return (struct sql_event_place){instant->input, instant->offset, TV_NO_OFFSET};
}

static void sql_describe(const struct tv_sql_data *data, int64_t id, struct tv_out *out)
{
    const struct tv_trace *trace = data->trace;
    struct sql_event_place place = sql_find_event(data, id);
    struct tv_error unused;
    if (place.offset == TV_NO_OFFSET)
        return;
    const struct tv_input *input = &trace->head->inputs[place.input];
    if (input->describe && input->source)
        (void)input->describe(trace, place.input, place.offset, place.end_offset, out, &unused);
}

void tv_sql_event_write(const struct tv_sql_data *data, int64_t id, struct tv_out *out)
{
    size_t before = out->length;
    if (id < 0)
        tv_sql_write_series_arguments(data, id, out);
    sql_describe(data, id, out);
    if (out->length - before > LARGEST_EVENT)
        out->length = before;
}

/* Return what follows a key; nothing if it is not there.  A quote in a text of the event is
 * escaped, so the key is no part of a name. */
static struct tv_bytes sql_after_key(struct tv_bytes text, struct tv_bytes key)
{
    while (text.length > 0 && !tv_bytes_starts_with(text, key)) {
        text.data++;
        text.length--;
    }
    return text.length > 0 ? (struct tv_bytes){text.data + key.length, text.length - key.length}
                           : text;
}

void tv_sql_put_priority(const struct tv_sql_data *data, int64_t id, uint64_t i,
                         struct tv_sql_vector *vector)
{
    struct tv_out event;
    int64_t priority;
    size_t length = 0;
    tv_out_init_memory(&event);
    tv_sql_event_write(data, id, &event);
    struct tv_bytes all = {event.buffer, event.length};
    struct tv_bytes text = sql_after_key(all, TV_BYTES("\"next_prio\":"));
    if (text.length == 0) /* another kernel's */
        text = sql_after_key(all, TV_BYTES("\"prio\":"));
    while (length < text.length &&
           (text.data[length] == '-' || (text.data[length] >= '0' && text.data[length] <= '9')))
        length++;
    if (tv_parse_i64((struct tv_bytes){text.data, length}, &priority))
        tv_sql_put_integer(vector, i, priority);
    else
        tv_sql_put_null(vector, i);
    tv_out_release(&event);
}

static void sql_event_function(duck_call call, duck_chunk chunk, duck_vector result)
{
    const struct tv_sql_data *data = tv_duck.scalar_function_get_extra_info(call);
    struct tv_sql_given ids = tv_sql_given_column(chunk, 0);
    uint64_t count = tv_duck.data_chunk_get_size(chunk);
    struct tv_sql_vector vector = {.vector = result};
    struct tv_out text;
    tv_out_init_memory(&text);
    for (uint64_t i = 0; i < count; i++) {
        text.length = 0;
        if (tv_sql_given_is_known(&ids, i))
            tv_sql_event_write(data, ids.values[i], &text);
        if (text.length == 0)
            tv_sql_put_null(&vector, i);
        else
            tv_sql_put_bytes(&vector, i, (struct tv_bytes){text.buffer, text.length});
    }
    tv_out_release(&text);
}

bool tv_sql_register_arguments(duck_connection connection, struct tv_sql_data *data)
{
    const struct tv_sql_function event = {"tv_event", 1, DUCK_VARCHAR, sql_event_function};
    return tv_sql_register_function(connection, data, &event);
}
