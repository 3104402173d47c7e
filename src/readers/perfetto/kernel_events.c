/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_events.c - the events of the kernel one by one, as they are in the file.
 *
 * The model has slices, states and counters made of events, not the events themselves, which are
 * read from the file again.  The survey comes first, as in reading, because the clock of a bundle
 * may need any snapshot of clocks.
 */
#include <string.h>

#include "base/memory.h"
#include "readers/perfetto/bundle.h"
#include "readers/perfetto/perfetto.h"

enum { EVENT_SWITCH = 4, FTRACE_EVENTS = 1 };

/* A bundle whose events are visited. */
struct pf_visit {
    struct tv_pf_reading *reading;
    tv_pf_take_kernel_event *take;
    void *context;
    struct tv_read_limit *limit;
    struct tv_pf_bundle_clock clock;
    uint32_t cpu; /* TV_NONE: the bundle tells none */
    /* The thread that each processor switched to last; -1: none.  The last one is for bundles
     * without a processor, or with one that is too large. */
    int64_t running[TV_PF_CPUS + 1];
    uint32_t place; /* of the processor in `running` */
};

static void pf_visit_compact_row(void *context, const struct tv_pf_compact_row *row)
{
    struct pf_visit *visit = context;
    visit->take(visit->context,
                &(const struct tv_pf_kernel_event){
                    .time = tv_pf_bundle_time(visit->reading, &visit->clock, row->time),
                    .offset = TV_NO_OFFSET,
                    .name = row->wakes ? TV_BYTES("sched_waking") : TV_BYTES("sched_switch"),
                    .cpu = visit->cpu,
                    .tid = (int32_t)row->tid,
                });
}

static void pf_visit_event(struct pf_visit *visit, struct tv_bytes bytes, uint64_t offset)
{
    struct tv_protobuf_field event = {.number = 0};
    uint64_t time = 0, tid = 0;
    char text[32];
    if (!tv_pf_event_open(bytes, &time, &tid, &event) || event.number == 0)
        return;
    if (event.number == EVENT_SWITCH)
        visit->running[visit->place] = (int32_t)tv_pf_find(event.bytes, 6).value;
    visit->take(visit->context,
                &(const struct tv_pf_kernel_event){
                    .time = tv_pf_bundle_time(visit->reading, &visit->clock, time),
                    .offset = offset,
                    .name = tv_pf_event_name(visit->reading, &event, text, sizeof text),
                    .cpu = visit->cpu,
                    .tid = (int32_t)tid,
                });
}

/* Visit the events of a bundle, which are of one processor.  Descriptors come after the events that
 * need them, so they are walked through first. */
static void pf_visit_bundle(struct pf_visit *visit, const struct tv_pf_current *packet,
                            struct tv_bytes bundle)
{
    struct tv_pf_message message = tv_pf_message_over(bundle);
    struct tv_protobuf_field field, cpu = tv_pf_find(bundle, 1);
    bool has_cpu = cpu.number == 1 && cpu.value < TV_NONE;
    visit->cpu = has_cpu ? (uint32_t)cpu.value : TV_NONE;
    visit->place = visit->cpu < TV_PF_CPUS ? visit->cpu : TV_PF_CPUS;
    visit->running[TV_PF_CPUS] = -1;
    tv_pf_bundle_read_clock(visit->reading, bundle, &visit->clock);
    while (tv_pf_next(&message, &field)) /* descriptors come after the events that need them */
        if (field.number == 11)
            tv_pf_describe_event(visit->reading, field.bytes);
    message = tv_pf_message_over(bundle);
    for (const uint8_t *start = message.at; tv_pf_next(&message, &field); start = message.at)
        if (field.number == 2)
            pf_visit_event(visit, field.bytes, tv_pf_offset_of(packet, start));
        else if (field.number == 4)
            tv_pf_compact_visit(field.bytes, &visit->running[visit->place], pf_visit_compact_row,
                                visit);
}

static void pf_visit_packet(struct pf_visit *visit, const struct tv_pf_packet *from)
{
    struct tv_pf_current packet;
    if (tv_pf_open_packet(visit->reading, from, &packet) != TV_PF_OPENED)
        return;
    struct tv_pf_message message = tv_pf_message_over(from->bytes);
    struct tv_protobuf_field field;
    while (tv_pf_next(&message, &field))
        if (field.number == FTRACE_EVENTS && field.wire == TV_PROTOBUF_BYTES)
            pf_visit_bundle(visit, &packet, field.bytes);
}

static enum tv_status pf_visit_packets(struct pf_visit *visit, struct tv_error *err)
{
    struct tv_pf_packets packets;
    struct tv_pf_packet packet;
    enum tv_status status = TV_OK;
    tv_pf_packets_init(&packets, visit->reading->source, 0, &visit->reading->chunk->diagnostics);
    while (!tv_read_limit_stops(visit->limit) &&
           (status = tv_pf_packets_next(&packets, &packet, err)) == TV_OK && !packet.none)
        pf_visit_packet(visit, &packet);
    tv_pf_packets_release(&packets);
    return status;
}

enum tv_status tv_pf_visit_kernel_events(const struct tv_input *input,
                                         tv_pf_take_kernel_event *take, void *context,
                                         struct tv_read_limit *limit, struct tv_error *err)
{
    static const struct tv_read_options one = {.parts = 1};
    struct tv_pf_reading *reading = tv_alloc(1, sizeof *reading);
    struct pf_visit *visit = tv_alloc(1, sizeof *visit);
    *visit =
        (struct pf_visit){.reading = reading, .take = take, .context = context, .limit = limit};
    for (uint32_t i = 0; i <= TV_PF_CPUS; i++)
        visit->running[i] = -1;
    tv_pf_reading_init(reading, input->source, &one);
    reading->machine = tv_pf_machine_of_input(input);
    enum tv_status status = tv_pf_survey(reading, err);
    if (status == TV_OK)
        status = pf_visit_packets(visit, err);
    tv_pf_reading_release(reading);
    tv_free(reading);
    tv_free(visit);
    return status;
}
