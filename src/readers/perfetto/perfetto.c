/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto.c - detection, the two passes over the packets, and the input that they make
 * (reading.h).
 *
 *     0a LEN packet | 0a LEN packet | ...         a Trace is packets, and nothing else
 *
 *     packet: head fields                         payload, one of about 100
 *       8 timestamp    58 clock of it               1 ftrace_events      11 track_event
 *       10 sequence    13 flags of its state        6 clock_snapshot     9 process_stats
 *       12 interned    59 defaults   42 dropped     ...
 *
 *     survey      clocks, process trees, descriptors: a time can be converted, and an event be
 *                 put on its track, only when all of these are known
 *     payloads    each packet in the order of the file: state, time, then its payload
 *     merging     events go through the chunk of the ftrace reader, which Perfetto shares, and
 *                 become rows there; the rest is added in pf_merged with the numbers of the trace
 *
 * Packets are in the order of the buffers, not of time; only within a sequence they are in order. A
 * packet that cannot be used (no clock, no state, unknown payload) is diagnosed and left out.
 */
#include "readers/perfetto/perfetto.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/perfetto/field_names.h"
#include "readers/perfetto/reading.h"

/* ---- Detection ---- */

#define SURE 90
#define LIKELY 40

/* Return whether a field of a packet has the wire type of its kind, or is not known. */
static bool pf_is_plausible(uint32_t number, unsigned wire, unsigned *known)
{
    const struct tv_pf_member *member = tv_pf_find_member(TV_PF_TRACE_PACKET, number);
    bool bytes = member && (member->kind == TV_PF_MESSAGE || member->kind == TV_PF_TEXT ||
                            member->kind == TV_PF_BLOB);
    *known += member != NULL;
    return !member || bytes == (wire == TV_PROTOBUF_BYTES);
}

/* Return whether the fields of a packet have numbers and wire types that packets have. */
static bool pf_is_packet(struct tv_bytes bytes, bool whole)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    const uint8_t *at = message.at;
    unsigned known = 0;
    uint64_t tag;
    for (; tv_pf_next(&message, &field); at = message.at)
        if (!pf_is_plausible(field.number, field.wire, &known))
            return false;
    if (!message.damaged)
        return known > 0;
    /* The prefix may end within a field: its tag counts. */
    if (whole || !tv_pf_take_varint(&at, message.end, &tag) || tag >> 35 != 0)
        return !whole && known > 0;
    return pf_is_plausible((uint32_t)(tag >> 3), tag & 7, &known) && known > 0;
}

/* A trace has no magic number. The first packets must all be plausible; OTLP begins with the same
 * byte. */
static int pf_sniff(struct tv_bytes prefix, uint64_t size)
{
    struct tv_pf_message trace = tv_pf_message_over(prefix);
    unsigned packets = 0;
    while (trace.at < trace.end) {
        const uint8_t *start = trace.at;
        uint64_t length;
        if (*start != 0x0a)
            return packets > 1 ? LIKELY : 0;
        trace.at++;
        if (!tv_pf_take_varint(&trace.at, trace.end, &length))
            break;
        size_t left = (size_t)(trace.end - trace.at);
        bool whole = length <= left;
        struct tv_bytes packet = {trace.at, whole ? (size_t)length : left};
        if (length > TV_PF_PACKET_MAX || (length > 0 && !pf_is_packet(packet, whole)))
            return packets > 3 ? LIKELY : 0;
        packets += length > 0;
        trace.at += packet.length;
    }
    (void)size;
    return packets == 0 ? 0 : SURE;
}

/* ---- State of the packet ---- */

/* The fields of a packet that say how to read it. */
struct pf_packet_head {
    bool has_time, has_clock, has_sequence, cleared, needs_state, dropped, first;
    uint64_t time;
    uint32_t clock, sequence; /* clock 0: that of the defaults */
    uint32_t machine;
    struct tv_bytes defaults, interned;
};

/* Take a field of the head. Bit 0 of the flags clears the state; bit 1 says that it is needed. */
static void pf_head_take(struct pf_packet_head *head, const struct tv_protobuf_field *field)
{
    switch (field->number) {
    case 8:
        head->has_time = true;
        head->time = field->value;
        break;
    case 58:
        head->has_clock = field->value != 0;
        head->clock = (uint32_t)field->value;
        break;
    case 10:
        head->has_sequence = true;
        head->sequence = (uint32_t)field->value;
        break;
    case 13:
        head->cleared |= field->value & 1;
        head->needs_state = field->value >> 1 & 1;
        break;
    case 41:
        head->cleared |= field->value != 0;
        break;
    case 42:
        head->dropped = field->value != 0;
        break;
    case 12:
        head->interned = field->bytes;
        break;
    case 59:
        head->defaults = field->bytes;
        break;
    case 87:
        head->first = field->value != 0;
        break;
    case 98:
        head->machine = (uint32_t)field->value;
        break;
    default:
        break;
    }
}

/* Take fields as long as they are those that most packets have. */
TV_INLINE void pf_packet_take_usual(struct tv_pf_message *message, struct pf_packet_head *head,
                                    struct tv_pf_current *packet)
{
    struct tv_pf_steps steps = {message->at, message->end};
    struct tv_bytes payload;
    uint64_t value;
    for (; !tv_pf_steps_ended(&steps); message->at = steps.at)
        switch (*steps.at) {
        case 8 << 3 | TV_PROTOBUF_VARINT:
            if (!tv_pf_step_number(&steps, 8, &head->time))
                return;
            head->has_time = true;
            break;
        case 10 << 3 | TV_PROTOBUF_VARINT:
            if (!tv_pf_step_number(&steps, 10, &value))
                return;
            head->has_sequence = true;
            head->sequence = (uint32_t)value;
            break;
        case 13 << 3 | TV_PROTOBUF_VARINT:
            if (!tv_pf_step_number(&steps, 13, &value))
                return;
            head->cleared |= value & 1;
            head->needs_state = value >> 1 & 1;
            break;
        case 11 << 3 | TV_PROTOBUF_BYTES:
            if (!tv_pf_step_bytes(&steps, 11, &payload))
                return;
            if (packet->payloads++ == 0)
                packet->payload = (struct tv_protobuf_field){
                    .number = 11, .wire = TV_PROTOBUF_BYTES, .bytes = payload};
            break;
        default:
            return;
        }
}

/* Update the state of the sequence.  Return false when the packet needs a state that is lost. */
static bool pf_update_state(struct tv_pf_reading *reading, struct tv_pf_current *packet,
                            const struct pf_packet_head *head)
{
    struct tv_pf_sequence *sequence = packet->sequence;
    if (head->cleared) {
        tv_pf_sequence_clear(sequence);
        sequence->valid = true;
    } else if (head->dropped) {
        sequence->valid = false;
    }
    if (head->dropped && sequence->started)
        tv_pf_warn(reading, TV_DIAGNOSTIC_PACKETS_LOST, packet->offset);
    sequence->started = true;
    if (head->defaults.data)
        tv_pf_sequence_set_defaults(reading, sequence, head->defaults);
    if (head->interned.data) {
        if (sequence->valid || !head->has_sequence)
            tv_pf_sequence_intern(reading, sequence, head->interned, packet->offset);
        else
            tv_pf_warn(reading, TV_DIAGNOSTIC_STATE_MISSING, packet->offset);
    }
    return sequence->valid || !head->needs_state;
}

/* Convert the time of the packet. */
static bool pf_set_time(struct tv_pf_reading *reading, struct tv_pf_current *packet,
                        const struct pf_packet_head *head, uint32_t payload)
{
    packet->has_time = head->has_time;
    packet->time = reading->latest;
    if (!head->has_time)
        return true;
    packet->clock = head->has_clock ? head->clock : packet->sequence->default_clock;
    /* Chrome's events, and the stacks of its sampler, count this clock without saying so. */
    if (payload == 5 || payload == 51)
        packet->clock = TV_PF_CLOCK_MONOTONIC;
    packet->time = packet->raw = (int64_t)head->time;
    if (packet->clock != 0 &&
        !tv_pf_sequence_convert(reading, packet->sequence, packet->clock, &packet->time)) {
        packet->time = reading->latest;
        return payload == 51; /* metadata need no time */
    }
    if (packet->time > reading->latest)
        reading->latest = packet->time;
    return packet->time >= 0;
}

/* ---- Payloads ---- */

enum { THREAD_DESCRIPTOR = 44, PROCESS_DESCRIPTOR = 43, CLOCKS = 6, FTRACE = 1, TRACK_EVENT = 11 };
enum { TRACK_DESCRIPTOR = 60, COMPRESSED = 50, ZSTD_COMPRESSED = 133 };

/* Hand a payload to the file that knows it. Compressed packets are unpacked before (src/unpack);
 * one that is left here could not be unpacked. */
static void pf_take_payload(struct tv_pf_reading *reading, struct tv_pf_current *packet,
                            const struct tv_protobuf_field *payload)
{
    switch (payload->number) {
    case FTRACE:
        tv_pf_take_bundle(reading, packet, payload->bytes);
        return;
    case TRACK_EVENT:
        tv_pf_take_track_event(reading, packet, payload->bytes);
        return;
    case THREAD_DESCRIPTOR:
        tv_pf_set_default_thread(reading, packet->sequence, payload->bytes);
        return;
    case COMPRESSED:
    case ZSTD_COMPRESSED:
        tv_pf_warn(reading, TV_DIAGNOSTIC_PACKETS_COMPRESSED, packet->offset);
        return;
    default:
        break;
    }
    if (tv_pf_take_probe(reading, packet, payload) || tv_pf_take_sample(reading, packet, payload))
        return;
    tv_pf_keep_unread(reading, packet, payload);
}

/* Does a packet belong to the machine that is read?  One of a machine that becomes no input, as
 * there are too many, is counted once. */
static bool pf_reads_machine(struct tv_pf_reading *reading, uint32_t machine, uint64_t offset)
{
    if (TV_LIKELY(reading->all_machines || machine == reading->machine))
        return true;
    for (uint32_t i = 0; i < reading->other_count; i++)
        if (reading->others[i] == machine)
            return false;
    if (reading->machine == 0)
        tv_pf_warn(reading, TV_DIAGNOSTIC_PACKET_UNREAD, offset);
    return false;
}

enum tv_pf_opened tv_pf_open_packet(struct tv_pf_reading *reading, const struct tv_pf_packet *from,
                                    struct tv_pf_current *packet)
{
    struct tv_pf_message message = tv_pf_message_over(from->bytes);
    struct tv_protobuf_field field;
    struct pf_packet_head head = {.has_time = false};
    *packet =
        (struct tv_pf_current){.bytes = from->bytes, .offset = from->offset, .start = from->start};
    for (;;) {
        pf_packet_take_usual(&message, &head, packet);
        if (!tv_pf_next(&message, &field))
            break;
        if (tv_pf_is_packet_head(field.number))
            pf_head_take(&head, &field);
        else if (packet->payloads++ == 0)
            packet->payload = field;
    }
    if (!pf_reads_machine(reading, head.machine, from->offset))
        return TV_PF_ELSEWHERE;
    if (message.damaged)
        tv_pf_warn(reading, TV_DIAGNOSTIC_BAD_PACKET, from->offset);
    packet->sequence = tv_pf_find_sequence(reading, head.sequence);
    packet->sequence_id = head.has_sequence ? head.sequence : 0;
    packet->tells_state =
        head.cleared || head.dropped || head.first || head.defaults.data || head.interned.data;
    bool valid = pf_update_state(reading, packet, &head);
    if (packet->payload.number == CLOCKS)
        tv_pf_sequence_add_clocks(packet->sequence, packet->payload.bytes,
                                  tv_pf_clocks_trace_id(&reading->clocks));
    if (!pf_set_time(reading, packet, &head, packet->payload.number))
        return TV_PF_NO_CLOCK;
    return valid ? TV_PF_OPENED : TV_PF_NO_STATE;
}

/* Take one packet.  A packet has one payload by its definition, but any field may be there: with
 * several, each is taken. */
static void pf_take_packet(struct tv_pf_reading *reading, const struct tv_pf_packet *from)
{
    struct tv_pf_current packet;
    enum tv_pf_opened opened = tv_pf_open_packet(reading, from, &packet);
    if (opened == TV_PF_ELSEWHERE)
        return;
    if (opened != TV_PF_OPENED) {
        tv_pf_warn(reading,
                   opened == TV_PF_NO_CLOCK ? TV_DIAGNOSTIC_CLOCK_NO_PATH
                                            : TV_DIAGNOSTIC_STATE_MISSING,
                   from->offset);
        return;
    }
    if (packet.payloads == 1) {
        pf_take_payload(reading, &packet, &packet.payload);
        tv_pf_sketch_packet(reading, &packet, &packet.payload);
        return;
    }
    struct tv_pf_message message = tv_pf_message_over(from->bytes);
    struct tv_protobuf_field field;
    while (packet.payloads > 0 && tv_pf_next(&message, &field))
        if (!tv_pf_is_packet_head(field.number))
            pf_take_payload(reading, &packet, &field);
}

/* Bytes between two updates of the progress. */
#define PROGRESS_BYTES ((uint64_t)1 << 20)

/* Take all packets, the second pass.  Damage of the frames around packets is diagnosed for the
 * first machine only. */
static enum tv_status pf_read_payloads(struct tv_pf_reading *reading, struct tv_error *err)
{
    struct tv_pf_packets packets;
    struct tv_pf_packet packet;
    enum tv_status status;
    uint64_t told = 0;
    struct tv_diagnostics unused = {.input = 0}; /* the first machine counts what frames tell */
    tv_pf_packets_init(&packets, reading->source, 0,
                       reading->machine == 0 ? &reading->chunk->diagnostics : &unused);
    while ((status = tv_pf_packets_next(&packets, &packet, err)) == TV_OK && !packet.none) {
        pf_take_packet(reading, &packet);
        if (packets.offset - told < PROGRESS_BYTES)
            continue;
        status = tv_reader_add_progress(reading->options->progress, packets.offset - told, err);
        told = packets.offset;
        if (status != TV_OK)
            break;
    }
    tv_pf_packets_release(&packets);
    tv_diagnostics_clear(&unused);
    return status;
}

/* ---- The input ---- */

void tv_pf_reading_init(struct tv_pf_reading *reading, struct tv_source *source,
                        const struct tv_read_options *options)
{
    reading->source = source;
    reading->options = options;
    reading->blobs = tv_interner_new();
    reading->gpu_queues = reading->gpu_stages = reading->clock_sync = TV_NONE;
    reading->profile.frame_index = tv_interner_new();
    reading->profile.heap_index = tv_interner_new();
    tv_pf_symbols_init(&reading->symbols);
    tv_out_init_memory(&reading->kernel_text);
    tv_out_init_memory(&reading->json_text);
    tv_ft_chunk_reader_init(&reading->reader, source, 0, 0);
    reading->chunk = &reading->reader.chunk;
}

void tv_pf_reading_release(struct tv_pf_reading *reading)
{
    tv_ft_chunk_reader_release(&reading->reader);
    tv_pf_clocks_release(&reading->clocks);
    tv_pf_sequences_release(reading);
    tv_pf_bundles_release(reading);
    tv_out_release(&reading->kernel_text);
    tv_out_release(&reading->json_text);
    tv_interner_free(reading->blobs);
    tv_interner_free(reading->profile.frame_index);
    tv_interner_free(reading->profile.heap_index);
    tv_free(reading->profile.heap_figures.rows);
    tv_pf_symbols_release(&reading->symbols);
    tv_map_release(&reading->rails);
    tv_map_release(&reading->slice_names);
    tv_map_release(&reading->track_names);
    tv_map_release(&reading->track_index);
    tv_map_release(&reading->profile.stack_index);
    tv_map_release(&reading->processes.thread_name_index);
    tv_map_release(&reading->processes.process_name_index);
    tv_free(reading->tracks.rows);
    tv_free(reading->track_events.rows);
    tv_free(reading->flows.rows);
    tv_free(reading->profile.samples.rows);
    tv_free(reading->profile.stacks.rows);
    tv_free(reading->profile.stack_frames);
    tv_free(reading->profile.frames.rows);
    tv_free(reading->processes.thread_names.rows);
    tv_free(reading->processes.process_names.rows);
    tv_free(reading->processes.process_facts.list.rows);
    tv_map_release(&reading->processes.process_facts.index);
    tv_free(reading->processes.thread_facts.list.rows);
    tv_map_release(&reading->processes.thread_facts.index);
    tv_map_release(&reading->processes.package_names);
    tv_map_release(&reading->processes.user_packages);
    tv_free(reading->processes.packages.rows);
    tv_free(reading->display_frames.rows);
    tv_free(reading->gpu_slices.rows);
    tv_free(reading->gpu_links.rows);
    tv_free(reading->buffer_events.rows);
    tv_free(reading->logs.rows);
    tv_free(reading->losses.rows);
    tv_map_release(&reading->attributes);
    tv_free(reading->unread.rows);
    tv_free(reading->disks.rows);
    tv_map_release(&reading->disk_index);
    tv_pf_gpu_counters_release(&reading->gpu_counters);
    tv_free(reading->metadata.rows);
    tv_free(reading->generic.states.rows);
    tv_free(reading->generic.processes.rows);
}

/* Count the packets of each type under the name of the payload.  Those without one, or with one of
 * an unknown number, count as "(none)". */
static void pf_count_types(const struct tv_pf_reading *reading, struct tv_ft_merge *merge)
{
    uint64_t none = reading->other_types;
    struct tv_tables *tables = &merge->trace->tables;
    struct tv_trace_info *head = merge->trace->head;
    for (uint32_t i = 0; i < TV_PF_TYPES; i++) {
        const struct tv_pf_member *member = tv_pf_find_member(TV_PF_TRACE_PACKET, i);
        if (!member)
            none += reading->types[i];
        else if (reading->types[i] > 0 && i != COMPRESSED && i != ZSTD_COMPRESSED)
            tv_tables_count_events(tables, merge->input,
                                   tv_trace_info_string(head, tv_bytes_of(member->name)),
                                   reading->types[i]);
    }
    if (none > 0)
        tv_tables_count_events(tables, merge->input, tv_trace_info_string(head, TV_BYTES("(none)")),
                               none);
}

/* Add the metadata in the order in which the packets had them. */
static void pf_add_metadata_rows(const struct tv_pf_reading *reading, struct tv_ft_merge *merge)
{
    for (size_t i = 0; i < reading->metadata.count; i++)
        tv_trace_info_add_metadata(
            merge->trace->head, merge->input,
            tv_interner_get(reading->chunk->texts, reading->metadata.rows[i].key),
            tv_interner_get(reading->chunk->texts, reading->metadata.rows[i].value));
}

/* Add what needs the numbers of the trace. Names come first: packages look at them. Slices of
 * tracks come before flows, which tie slices. */
static void pf_merged(void *context, struct tv_ft_merge *merge)
{
    struct tv_pf_reading *reading = context;
    struct tv_input *input = &merge->trace->head->inputs[merge->input];
    reading->trace = merge->trace;
    reading->input = merge->input;
    if (reading->cpu_times)
        input->clocks |= TV_CLOCK_CPU;
    tv_pf_add_generic_processes(reading, merge);
    tv_pf_add_names(reading, merge);
    tv_pf_add_packages(reading, merge);
    tv_pf_add_facts(reading, merge);
    tv_pf_add_track_slices(reading, merge);
    tv_pf_add_display_frames(reading, merge);
    tv_pf_add_gpu_slices(reading, merge);
    tv_pf_add_gpu_arrows(reading, merge);
    tv_pf_add_buffer_slices(reading, merge);
    tv_pf_add_flows(reading, merge);
    tv_pf_add_samples(reading, merge);
    tv_pf_add_logs(reading, merge);
    pf_add_metadata_rows(reading, merge);
    pf_count_types(reading, merge);
}

/* Numbers of machines that only a file knows: other inputs have small ones. */
#define OTHER_MACHINE (UINT32_C(1) << 31)

/* Add the input of a machine.  The bytes of the file belong to the first one, so that they count
 * once. */
static uint32_t pf_add_input(struct tv_builder *builder, const struct tv_pf_reading *reading)
{
    struct tv_trace_info *head = tv_builder_trace_info(builder);
    char name[1024];
    if (reading->machine != 0)
        snprintf(name, sizeof name, "%s: machine %" PRIu32, tv_source_name(reading->source),
                 reading->machine);
    uint32_t number = tv_trace_info_add_input(
        head, reading->machine != 0 ? name : tv_source_name(reading->source),
        tv_reader_perfetto.format);
    struct tv_input *input = &head->inputs[number];
    const char *clock = NULL;
    input->source = reading->source;
    input->describe = tv_reader_perfetto.describe;
    input->bytes = reading->machine != 0 ? 0 : tv_source_size(reading->source);
    if (reading->machine != 0)
        input->machine = OTHER_MACHINE | reading->machine;
    input->clocks = TV_CLOCK_WALL;
    uint32_t id = tv_pf_clocks_trace_id(&reading->clocks);
    if (id == TV_PF_CLOCK_BOOTTIME)
        clock = "LINUX_CLOCK_BOOTTIME";
    else if (id == TV_PF_CLOCK_MONOTONIC)
        clock = "LINUX_CLOCK_MONOTONIC";
    if (clock)
        input->clock = tv_trace_info_string(head, tv_bytes_of(clock));
    return number;
}

/* Did the survey find packets of the machine? */
static bool pf_has_packets(const struct tv_pf_reading *reading)
{
    bool any = reading->other_types > 0;
    for (uint32_t i = 0; i < TV_PF_TYPES; i++)
        any = any || reading->types[i] > 0;
    return any;
}

/* The machines of a file: the one that is read, and those that the file names. */
struct pf_machines {
    uint32_t current;
    uint32_t ids[TV_PF_MACHINES], count;
};

/* Tell how the clocks of the file differ from those of others: a further machine from the one that
 * recorded, boot time from the monotonic clock when the recording began. */
static void pf_place_clocks(struct tv_pf_reading *reading)
{
    struct tv_trace_info *head = reading->trace->head;
    struct tv_input *input = &head->inputs[reading->input];
    uint32_t clock = tv_pf_clocks_trace_id(&reading->clocks);
    int64_t shift = 0;
    if (reading->machine != 0 && reading->clock_sync != TV_NONE) {
        shift = tv_move_within(
            tv_pf_clocks_remote_shift(clock != 0 ? clock : TV_PF_CLOCK_BOOTTIME,
                                      tv_interner_get(reading->blobs, reading->clock_sync)));
        input->clock_shift = -shift;
        reading->trace->offset[reading->input] =
            tv_move_add(reading->trace->offset[reading->input], shift);
    } else if (reading->machine == 0 && clock == TV_PF_CLOCK_BOOTTIME &&
               tv_pf_clocks_convert(&reading->clocks, TV_PF_CLOCK_MONOTONIC, &shift)) {
        input->second_clock = tv_trace_info_string(head, TV_BYTES("LINUX_CLOCK_MONOTONIC"));
        input->second_shift = shift;
    }
}

/* Read the packets of one machine as an input, and list the others that there are.  A machine
 * without packets is no input where there are others. */
static enum tv_status pf_assemble_machine(struct tv_source *source, struct tv_builder *builder,
                                          const struct tv_read_options *options,
                                          struct pf_machines *machines, struct tv_error *err)
{
    struct tv_pf_reading *reading = tv_alloc(1, sizeof *reading);
    uint32_t processes = tv_builder_trace_info(builder)->process_count;
    tv_pf_reading_init(reading, source, options);
    reading->machine = machines->current;
    if (reading->machine != 0) {
        char id[16];
        snprintf(id, sizeof id, "%" PRIu32, reading->machine);
        tv_pf_add_metadata(reading, "machine_raw_id", tv_bytes_of(id));
    }
    if (options->progress)
        atomic_fetch_add_explicit(&options->progress->total_bytes, tv_source_size(source),
                                  memory_order_relaxed);
    enum tv_status status = tv_pf_survey(reading, err);
    machines->count = reading->other_count;
    memcpy(machines->ids, reading->others, sizeof machines->ids);
    if (status == TV_OK && reading->other_count > 0 && !pf_has_packets(reading)) {
        tv_pf_reading_release(reading);
        tv_free(reading);
        return TV_OK;
    }
    if (status == TV_OK)
        status = pf_read_payloads(reading, err);
    tv_pf_add_unread(reading);
    tv_pf_end_gpu_counters(reading);
    tv_pf_end_generic_kernel(reading);
    tv_pf_end_bundles(reading);
    tv_progress_join(options->progress, true);
    if (status == TV_OK) {
        struct tv_ft_building building = {
            .builder = builder,
            .input = pf_add_input(builder, reading),
            .readers = &reading->reader,
            .count = 1,
            .options = options,
            .merged = pf_merged,
            .context = reading,
        };
        tv_ft_build_input(&building);
        pf_place_clocks(reading);
        status = tv_pf_build_texts(reading, builder, err);
    }
    for (uint32_t i = processes;
         reading->machine != 0 && i < tv_builder_trace_info(builder)->process_count; i++)
        tv_builder_trace_info(builder)->processes[i].machine = OTHER_MACHINE | reading->machine;
    tv_pf_reading_release(reading);
    tv_free(reading);
    return status;
}

/* Processes, processors and clocks of different machines have nothing to do with each other, and
 * may have equal numbers: each machine is an input of its own, from the same file. */
static enum tv_status pf_assemble(struct tv_source *source, struct tv_builder *builder,
                                  const struct tv_read_options *options, struct tv_error *err)
{
    struct pf_machines machines = {.current = 0}, unused;
    enum tv_status status = pf_assemble_machine(source, builder, options, &machines, err);
    for (uint32_t i = 0; status == TV_OK && i < machines.count; i++) {
        unused.current = machines.ids[i];
        status = pf_assemble_machine(source, builder, options, &unused, err);
    }
    return status;
}

/* ---- Packets as they are in the file ---- */

uint32_t tv_pf_machine_of_input(const struct tv_input *input)
{
    return input->machine & OTHER_MACHINE ? input->machine ^ OTHER_MACHINE : 0;
}

bool tv_pf_is_of_machine(const struct tv_input *input, uint32_t machine)
{
    return tv_pf_machine_of_input(input) == machine;
}

/* Note whose arguments a TrackDescriptor has; tv_pf_describe writes them. */
static void pf_read_described(struct tv_bytes descriptor, struct tv_pf_packet_head *to)
{
    struct tv_protobuf_field process = tv_pf_find(descriptor, 3);
    struct tv_protobuf_field thread = tv_pf_find(descriptor, 4);
    struct tv_bytes task = thread.number == 4 ? thread.bytes : process.bytes;
    bool has_rank = tv_pf_find(descriptor, 12).number == 12 || tv_pf_find(task, 3).number == 3;
    if (thread.number == 4 && has_rank)
        to->tid = (int64_t)tv_pf_find(task, 2).value;
    else if (process.number == 3 && (has_rank || tv_pf_find(descriptor, 6).number == 6))
        to->pid = (int64_t)tv_pf_find(task, 1).value;
}

void tv_pf_read_packet_head(struct tv_bytes packet, struct tv_pf_packet_head *to)
{
    struct tv_pf_message message = tv_pf_message_over(packet);
    struct tv_protobuf_field field;
    struct pf_packet_head head = {.has_time = false};
    uint32_t payload = 0;
    *to = (struct tv_pf_packet_head){.pid = -1, .tid = -1};
    while (tv_pf_next(&message, &field)) {
        if (field.number == 42)
            to->lost = (uint32_t)field.value;
        if (tv_pf_is_packet_head(field.number))
            pf_head_take(&head, &field);
        else if (payload == 0)
            payload = field.number;
        if (field.number == TRACK_DESCRIPTOR)
            pf_read_described(field.bytes, to);
    }
    const struct tv_pf_member *member =
        payload ? tv_pf_find_member(TV_PF_TRACE_PACKET, payload) : NULL;
    if (member)
        to->type = member->name;
    to->machine = head.machine;
    to->sequence = head.has_sequence ? head.sequence : 0;
    to->timestamp = head.time;
    to->has_time = head.has_time;
    to->clears_state = head.cleared;
    to->needs_state = head.needs_state;
    to->is_event = payload == FTRACE || payload == TRACK_EVENT;
}

static enum tv_status pf_visit_records(struct tv_source *source, struct tv_trace_info *head,
                                       struct tv_record_visitor *visitor, struct tv_error *err)
{
    struct tv_pf_packets packets;
    struct tv_pf_packet packet;
    uint32_t input =
        tv_trace_info_add_input(head, tv_source_name(source), tv_reader_perfetto.format);
    head->inputs[input].callless = true; /* records are not made into calls */
    head->diagnostics.input = input;
    visitor->begin(visitor, head, input);
    tv_pf_packets_init(&packets, source, 0, &head->diagnostics);
    enum tv_status status = TV_OK;
    while (!tv_read_limit_stops(visitor->limit) &&
           (status = tv_pf_packets_next(&packets, &packet, err)) == TV_OK && !packet.none) {
        struct tv_pf_record record = {packet.offset, packet.bytes};
        head->inputs[input].records++;
        visitor->take_packet(visitor, &record);
    }
    tv_pf_packets_release(&packets);
    return status;
}

const struct tv_reader tv_reader_perfetto = {
    .name = "perfetto",
    .sniff = pf_sniff,
    .assemble = pf_assemble,
    .visit_records = pf_visit_records,
    .format = "Perfetto trace",
    .describe = tv_pf_describe,
};
