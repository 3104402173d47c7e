/* SPDX-License-Identifier: Apache-2.0 */
/* Pass 1: what packets may use before it is in the file. */
#include "readers/perfetto/reading.h"

enum {
    FTRACE_EVENTS = 1,
    PROCESS_TREE = 2,
    CLOCK_SNAPSHOT = 6,
    SYSTEM_INFO = 45,
    TRACK_DESCRIPTOR = 60
};
enum { TRANSLATIONS = 82, MACHINE = 98, CLOCK_SYNC = 107 };

uint32_t tv_pf_payload_of(struct tv_bytes packet, struct tv_protobuf_field *payload)
{
    struct tv_pf_message message = tv_pf_message_over(packet);
    struct tv_protobuf_field field;
    payload->number = 0;
    while (tv_pf_next(&message, &field))
        if (payload->number == 0 && !tv_pf_is_packet_head(field.number))
            *payload = field;
    return payload->number;
}

/* Is it a field that the survey looks at, or one of an unknown number? */
static inline bool pf_is_of_whole_file(uint64_t number)
{
    return number >= TV_PF_TYPES || number == MACHINE || number == CLOCK_SNAPSHOT ||
           number == PROCESS_TREE || number == TRACK_DESCRIPTOR || number == SYSTEM_INFO ||
           number == TRANSLATIONS || number == CLOCK_SYNC || number == TV_PF_MODULE_SYMBOLS ||
           number == TV_PF_DEOBFUSCATION;
}

/* Return the number of a packet's last payload when none of the packet's fields stands for the
 * whole file, as in nearly all packets; TV_NONE when the fields are to be walked one by one. */
static uint32_t pf_survey_skim(struct tv_bytes packet)
{
    struct tv_pf_steps steps = tv_pf_steps_over(packet);
    uint64_t key, value;
    uint32_t payload = 0;
    while (!tv_pf_steps_ended(&steps)) {
        if (!tv_pf_step_varint(&steps, &key) || !tv_pf_step_varint(&steps, &value) || key >> 3 == 0)
            return TV_NONE;
        if ((key & 7) == TV_PROTOBUF_BYTES) {
            if (value > (size_t)(steps.end - steps.at))
                return TV_NONE;
            steps.at += value;
        } else if ((key & 7) != TV_PROTOBUF_VARINT) {
            return TV_NONE;
        }
        uint64_t number = key >> 3;
        if (pf_is_of_whole_file(number))
            return TV_NONE;
        if (!tv_pf_is_packet_head((uint32_t)number))
            payload = (uint32_t)number;
    }
    return payload;
}

/* Note the machine of a packet.  Return whether it is the one that is read. */
static bool pf_survey_machine(struct tv_pf_reading *reading, struct tv_bytes packet)
{
    uint32_t machine = tv_pf_machine_of(packet), i = 0;
    while (i < reading->other_count && reading->others[i] != machine)
        i++;
    if (machine != 0 && i == reading->other_count && i < TV_PF_MACHINES)
        reading->others[reading->other_count++] = machine;
    return reading->all_machines || machine == reading->machine;
}

/* Take the fields of a packet that stand for the whole file.  Most packets have their payload in a
 * field of its own; a few of tests have two. */
static void pf_survey_packet(struct tv_pf_reading *reading, const struct tv_pf_packet *packet)
{
    struct tv_pf_message message = tv_pf_message_over(packet->bytes);
    struct tv_protobuf_field field;
    uint32_t payload = pf_survey_skim(packet->bytes);
    if (TV_LIKELY(payload != TV_NONE)) {
        if (reading->all_machines || reading->machine == 0)
            reading->types[payload]++;
        if (payload == FTRACE_EVENTS)
            tv_pf_sketch_bundle(reading, packet->bytes);
        return;
    }
    if (!pf_survey_machine(reading, packet->bytes))
        return;
    payload = 0;
    while (tv_pf_next(&message, &field)) {
        if (tv_pf_is_packet_head(field.number))
            continue;
        payload = field.number; /* of two the last counts, as of a oneof */
        if (field.number == CLOCK_SNAPSHOT)
            tv_pf_clocks_add_snapshot(&reading->clocks, field.bytes);
        else if (field.number == PROCESS_TREE)
            tv_pf_add_process_tree(reading, field.bytes);
        else if (field.number == TRACK_DESCRIPTOR)
            tv_pf_add_descriptor(reading, field.bytes, packet->offset);
        else if (field.number == TRANSLATIONS)
            tv_pf_add_translations(reading, field.bytes);
        else if (field.number == CLOCK_SYNC)
            reading->clock_sync = tv_interner_add(reading->blobs, field.bytes);
        else if (field.number == SYSTEM_INFO)
            tv_pf_set_kernel(reading, tv_pf_find(tv_pf_find(field.bytes, 1).bytes, 3).bytes);
        else
            tv_pf_add_symbols(reading, field.number, field.bytes);
    }
    if (payload < TV_PF_TYPES)
        reading->types[payload]++;
    else
        reading->other_types++;
}

enum tv_status tv_pf_survey(struct tv_pf_reading *reading, struct tv_error *err)
{
    struct tv_pf_packets packets;
    struct tv_pf_packet packet;
    struct tv_diagnostics unused = {.input = 0}; /* the second pass counts the same again */
    tv_pf_packets_init(&packets, reading->source, 0, &unused);
    enum tv_status status;
    while ((status = tv_pf_packets_next(&packets, &packet, err)) == TV_OK && !packet.none) {
        pf_survey_packet(reading, &packet);
        status = tv_reader_check_cancel(reading->options->progress, err);
        if (status != TV_OK)
            break;
    }
    tv_pf_packets_release(&packets);
    tv_diagnostics_clear(&unused);
    tv_pf_clocks_finish(&reading->clocks);
    return status;
}
