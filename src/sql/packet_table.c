/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packet_table.c - the packets of Perfetto traces: what they say of the recording, its
 * configuration and its losses, which is not in the model (tables.h).
 *
 *     packet             id  type           packet_offset  sequence_id  arg_set_id
 *                        0   trace_config   0              1            -5
 *                        1   system_info    120            1            -6
 *     packet_sequence    sequence_id  packets  losses
 *                        1            12       0
 *
 * Packets of events, ftrace_events and track_event, are counted, but not listed: what they tell is
 * in slice, instant, counter and sched.  The fields of a listed packet are read from the file when
 * a query asks for its arguments (arguments.c).
 *
 * A query that first names one of the tables reads the heads of all packets.
 */
#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/bytes.h"
#include "base/map.h"
#include "base/memory.h"
#include "readers/perfetto/perfetto.h"
#include "sql/tables.h"

struct sql_packet {
    uint64_t offset, timestamp;
    const char *type;
    uint32_t input, sequence;
    bool has_time;
};

/* Packets of one writer; `losses` are those before which something was lost, by cause, too. */
struct sql_sequence {
    uint32_t input, id;
    uint64_t packets, losses, needing, skipped;
    uint64_t by_cause[TV_PF_LOSS_CAUSES];
    bool has_state;
};

struct tv_sql_packets {
    pthread_mutex_t lock;
    bool is_read;
    TV_TABLE(sql_packet) packets;
    TV_TABLE(sql_sequence) sequences;
    /* machine and id of a process or thread -> the last packet with arguments of it */
    struct tv_map described_processes, described_threads;
};

struct tv_sql_packets *tv_sql_packets_new(void)
{
    struct tv_sql_packets *packets = tv_alloc(1, sizeof *packets);
    pthread_mutex_init(&packets->lock, NULL);
    tv_map_init(&packets->described_processes);
    tv_map_init(&packets->described_threads);
    return packets;
}

void tv_sql_packets_free(struct tv_sql_packets *packets)
{
    if (!packets)
        return;
    tv_map_release(&packets->described_processes);
    tv_map_release(&packets->described_threads);
    tv_free(packets->packets.rows);
    tv_free(packets->sequences.rows);
    pthread_mutex_destroy(&packets->lock);
    tv_free(packets);
}

/* The packets of one input, while its file is read. */
struct packet_visitor {
    struct tv_record_visitor visitor; /* the first member */
    struct tv_sql_packets *packets;
    const struct tv_input *of;
    uint32_t input, machine;
    struct tv_map sequences; /* id -> its place */
};

static void packet_begin(struct tv_record_visitor *visitor, const struct tv_trace_info *head,
                         uint32_t input)
{
    (void)visitor;
    (void)head;
    (void)input;
}

static struct sql_sequence *packet_find_sequence(struct packet_visitor *visitor, uint32_t id)
{
    struct tv_sql_packets *packets = visitor->packets;
    uint32_t place = tv_map_find(&visitor->sequences, id);
    if (place == TV_NONE) {
        place = (uint32_t)packets->sequences.count;
        *tv_table_add(&packets->sequences) =
            (struct sql_sequence){.input = visitor->input, .id = id};
        tv_map_set(&visitor->sequences, id, place);
    }
    assert(place < packets->sequences.count && packets->sequences.rows[place].id == id);
    return &packets->sequences.rows[place];
}

/* Count a packet of a sequence.  The first one of most sequences says that something was lost
 * before, because a buffer knows no beginning: it does not count. */
static void packet_count(struct packet_visitor *visitor, const struct tv_pf_packet_head *head)
{
    struct sql_sequence *sequence = packet_find_sequence(visitor, head->sequence);
    bool is_loss = head->lost != 0 && sequence->packets > 0;
    sequence->losses += is_loss;
    for (uint32_t i = 0; is_loss && i < TV_PF_LOSS_CAUSES; i++)
        sequence->by_cause[i] += head->lost >> (i + 1) & 1;
    if (head->clears_state)
        sequence->has_state = true;
    else if (head->lost != 0)
        sequence->has_state = false;
    sequence->needing += head->needs_state;
    sequence->skipped += head->needs_state && !sequence->has_state;
    sequence->packets++;
}

/* Return a key for the id of a process or thread on a machine: ids of more bits are mixed. */
static uint64_t packet_task_key(uint32_t machine, uint64_t id)
{
    return tv_hash_u64(id) ^ machine;
}

static void packet_take(struct tv_record_visitor *base, const struct tv_pf_record *record)
{
    struct packet_visitor *visitor = (struct packet_visitor *)base;
    struct tv_pf_packet_head head;
    tv_pf_read_packet_head(record->bytes, &head);
    if (!tv_pf_is_of_machine(visitor->of, head.machine))
        return;
    if (head.sequence != 0)
        packet_count(visitor, &head);
    uint32_t number = (uint32_t)visitor->packets->packets.count;
    if (head.pid >= 0)
        tv_map_set(&visitor->packets->described_processes,
                   packet_task_key(visitor->machine, (uint64_t)head.pid), number);
    if (head.tid >= 0)
        tv_map_set(&visitor->packets->described_threads,
                   packet_task_key(visitor->machine, (uint64_t)head.tid), number);
    if (head.type && !head.is_event)
        *tv_table_add(&visitor->packets->packets) = (struct sql_packet){
            .offset = record->offset,
            .timestamp = head.timestamp,
            .type = head.type,
            .input = visitor->input,
            .sequence = head.sequence,
            .has_time = head.has_time,
        };
    tv_read_limit_add(base->limit, head.type && !head.is_event ? sizeof(struct sql_packet) : 0);
}

static void packet_read_input(const struct tv_sql_data *data, uint32_t input)
{
    struct tv_sql_packets *packets = data->packets;
    const struct tv_trace_info *info = data->trace->head;
    struct packet_visitor visitor = {
        .visitor = {.begin = packet_begin, .take_packet = packet_take, .limit = data->limit},
        .packets = packets,
        .of = &info->inputs[input],
        .input = input,
        .machine = data->machine_of_input[input],
    };
    struct tv_error unused;
    struct tv_trace_info *head = tv_trace_info_new();
    tv_map_init(&visitor.sequences);
    (void)tv_reader_perfetto.visit_records(visitor.of->source, head, &visitor.visitor, &unused);
    tv_map_release(&visitor.sequences);
    tv_trace_info_free(head);
}

/* Forget the packets of a pass that was ended early. */
static void packet_clear(struct tv_sql_packets *packets)
{
    packets->packets.count = 0;
    packets->sequences.count = 0;
    tv_map_release(&packets->described_processes);
    tv_map_release(&packets->described_threads);
    tv_map_init(&packets->described_processes);
    tv_map_init(&packets->described_threads);
}

/* Return the packets of all inputs, and read them when they are first asked for; none of them when
 * the pass was ended early. */
static const struct tv_sql_packets *packet_get(const struct tv_sql_data *data)
{
    struct tv_sql_packets *packets = data->packets;
    const struct tv_trace_info *info = data->trace->head;
    pthread_mutex_lock(&packets->lock);
    uint64_t before = data->limit ? atomic_load(&data->limit->bytes) : 0;
    for (uint32_t i = 0; !packets->is_read && i < info->input_count; i++)
        if (info->inputs[i].source &&
            strcmp(info->inputs[i].format, tv_reader_perfetto.format) == 0)
            packet_read_input(data, i);
    if (!packets->is_read && tv_read_limit_stops(data->limit)) {
        packet_clear(packets);
        atomic_store(&data->limit->bytes, before);
    } else {
        packets->is_read = true;
    }
    pthread_mutex_unlock(&packets->lock);
    return packets;
}

/* The arguments of packets follow those of the values of counters. */
static int64_t packet_first_args(const struct tv_sql_data *data)
{
    return tv_sql_value_args(data, data->first_value[data->trace->tables.counters.count]);
}

int64_t tv_sql_kernel_args(const struct tv_sql_data *data)
{
    return packet_first_args(data) - (int64_t)packet_get(data)->packets.count;
}

bool tv_sql_find_packet(const struct tv_sql_data *data, int64_t id, uint32_t *input,
                        uint64_t *offset)
{
    int64_t first = packet_first_args(data);
    if (id > first)
        return false;
    const struct tv_sql_packets *packets = packet_get(data);
    uint64_t number = (uint64_t)first - (uint64_t)id;
    if (number >= packets->packets.count)
        return false;
    *input = packets->packets.rows[number].input;
    *offset = packets->packets.rows[number].offset;
    return true;
}

/* ---- Arguments of processes and threads ---- */

static void packet_put_args(const struct tv_sql_data *data, struct tv_sql_vector *vector,
                            uint64_t i, uint32_t packet)
{
    if (packet == TV_NONE)
        tv_sql_put_null(vector, i);
    else
        tv_sql_put_integer(vector, i, packet_first_args(data) - (int64_t)packet);
}

void tv_sql_put_process_args(const struct tv_sql_data *data, struct tv_sql_vector *vector,
                             uint64_t i, uint64_t process)
{
    const struct tv_trace_info *info = data->trace->head;
    assert(process < info->process_count);
    const struct tv_process *of = &info->processes[process];
    const struct tv_sql_packets *packets = packet_get(data);
    uint32_t input = 0, packet = TV_NONE;
    while (input < info->input_count && info->inputs[input].machine != of->machine)
        input++;
    if (input < info->input_count)
        packet = tv_map_find(&packets->described_processes,
                             packet_task_key(data->machine_of_input[input], of->id));
    packet_put_args(data, vector, i, packet);
}

void tv_sql_put_thread_args(const struct tv_sql_data *data, struct tv_sql_vector *vector,
                            uint64_t i, uint64_t thread)
{
    assert(thread < data->trace->head->thread_count);
    const struct tv_thread *of = &data->trace->head->threads[thread];
    const struct tv_sql_packets *packets = packet_get(data);
    packet_put_args(data, vector, i,
                    tv_map_find(&packets->described_threads,
                                packet_task_key(data->machine_of_input[of->input], of->id)));
}

/* ---- Packets ---- */

enum {
    PACKET_ID,
    PACKET_TYPE,
    PACKET_OFFSET,
    PACKET_INPUT,
    PACKET_MACHINE,
    PACKET_SEQUENCE,
    PACKET_TIMESTAMP,
    PACKET_ARGS,
};

static const struct tv_sql_column packet_columns[] = {
    [PACKET_ID] = {"id", TV_SQL_INTEGER},
    [PACKET_TYPE] = {"type", TV_SQL_TEXT},
    [PACKET_OFFSET] = {"packet_offset", TV_SQL_INTEGER},
    [PACKET_INPUT] = {"input", TV_SQL_INTEGER},
    [PACKET_MACHINE] = {"machine_id", TV_SQL_INTEGER},
    [PACKET_SEQUENCE] = {"sequence_id", TV_SQL_INTEGER},
    [PACKET_TIMESTAMP] = {"timestamp", TV_SQL_INTEGER}, /* on the packet's own clock */
    [PACKET_ARGS] = {"arg_set_id", TV_SQL_INTEGER},
};

static uint64_t sql_packet_count(const struct tv_sql_data *data)
{
    return packet_get(data)->packets.count;
}

static void sql_put_packet_column(const struct tv_sql_data *data, uint32_t column, uint64_t i,
                                  const struct sql_packet *packet, struct tv_sql_vector *vector)
{
    switch (column) {
    case PACKET_TYPE:
        tv_sql_put_text(vector, i, packet->type);
        break;
    case PACKET_OFFSET:
        tv_sql_put_integer(vector, i, (int64_t)packet->offset);
        break;
    case PACKET_INPUT:
        tv_sql_put_integer(vector, i, packet->input);
        break;
    case PACKET_MACHINE:
        tv_sql_put_index(vector, i, data->machine_of_input[packet->input]);
        break;
    case PACKET_SEQUENCE:
        tv_sql_put_index(vector, i, packet->sequence != 0 ? packet->sequence : TV_NONE);
        break;
    default:
        if (packet->has_time)
            tv_sql_put_integer(vector, i, (int64_t)packet->timestamp);
        else
            tv_sql_put_null(vector, i);
    }
}

static void sql_fill_packet(const struct tv_sql_data *data, struct tv_sql_scratch *scratch,
                            uint32_t column, uint64_t first, uint32_t count,
                            struct tv_sql_vector *vector)
{
    const struct tv_sql_packets *packets = packet_get(data);
    int64_t args = packet_first_args(data);
    (void)scratch;
    for (uint32_t i = 0; i < count; i++)
        if (column == PACKET_ID)
            tv_sql_put_integer(vector, i, (int64_t)(first + i));
        else if (column == PACKET_ARGS)
            tv_sql_put_integer(vector, i, args - (int64_t)(first + i));
        else
            sql_put_packet_column(data, column, i, &packets->packets.rows[first + i], vector);
}

const struct tv_sql_table tv_sql_packet_table = {
    .name = "packet",
    .count = sql_packet_count,
    .slow_count = true,
    .fill = sql_fill_packet,
    .columns = packet_columns,
    .column_count = TV_COUNT(packet_columns),
};

/* ---- Sequences ---- */

enum {
    SEQUENCE_ID,
    SEQUENCE_INPUT,
    SEQUENCE_MACHINE,
    SEQUENCE_PACKETS,
    SEQUENCE_LOSSES,
    SEQUENCE_NEEDING,
    SEQUENCE_SKIPPED,
    SEQUENCE_CAUSES, /* the first one */
};

/* Causes of a loss are in the order of their bits, from 2 on. */
static const struct tv_sql_column sequence_columns[] = {
    [SEQUENCE_ID] = {"sequence_id", TV_SQL_INTEGER},
    [SEQUENCE_INPUT] = {"input", TV_SQL_INTEGER},
    [SEQUENCE_MACHINE] = {"machine_id", TV_SQL_INTEGER},
    [SEQUENCE_PACKETS] = {"packets", TV_SQL_INTEGER},
    [SEQUENCE_LOSSES] = {"losses", TV_SQL_INTEGER},
    [SEQUENCE_NEEDING] = {"needing_state", TV_SQL_INTEGER},
    [SEQUENCE_SKIPPED] = {"without_state", TV_SQL_INTEGER},
    [SEQUENCE_CAUSES] = {"read_gap", TV_SQL_INTEGER},
    {"chunk_corrupted", TV_SQL_INTEGER},
    {"orphan_continuation", TV_SQL_INTEGER},
    {"reassembly_gap", TV_SQL_INTEGER},
    {"reassembly_broken_chain", TV_SQL_INTEGER},
    {"overwrite", TV_SQL_INTEGER},
    {"writer_abort", TV_SQL_INTEGER},
    {"smb_full", TV_SQL_INTEGER},
};

static uint64_t sql_sequence_count(const struct tv_sql_data *data)
{
    return packet_get(data)->sequences.count;
}

static void sql_fill_sequence(const struct tv_sql_data *data, struct tv_sql_scratch *scratch,
                              uint32_t column, uint64_t first, uint32_t count,
                              struct tv_sql_vector *vector)
{
    const struct tv_sql_packets *packets = packet_get(data);
    (void)scratch;
    for (uint32_t i = 0; i < count; i++) {
        const struct sql_sequence *sequence = &packets->sequences.rows[first + i];
        const uint64_t values[] = {
            [SEQUENCE_ID] = sequence->id,
            [SEQUENCE_INPUT] = sequence->input,
            [SEQUENCE_MACHINE] = data->machine_of_input[sequence->input],
            [SEQUENCE_PACKETS] = sequence->packets,
            [SEQUENCE_LOSSES] = sequence->losses,
            [SEQUENCE_NEEDING] = sequence->needing,
            [SEQUENCE_SKIPPED] = sequence->skipped,
        };
        uint64_t value = column < SEQUENCE_CAUSES ? values[column]
                                                  : sequence->by_cause[column - SEQUENCE_CAUSES];
        tv_sql_put_integer(vector, i, (int64_t)value);
    }
}

const struct tv_sql_table tv_sql_sequence_table = {
    .name = "packet_sequence",
    .count = sql_sequence_count,
    .slow_count = true,
    .fill = sql_fill_sequence,
    .columns = sequence_columns,
    .column_count = TV_COUNT(sequence_columns),
};
