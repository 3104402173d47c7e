/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bundle.h - a bundle of events of the kernel, and what is kept between bundles.
 *
 *     bundle.c      the bundle, and single events
 *     event_text.c  events that become text
 *     compact.c     switches and wake-ups in columns
 */
#ifndef TV_READERS_PERFETTO_BUNDLE_H
#define TV_READERS_PERFETTO_BUNDLE_H

#include "readers/perfetto/reading.h"

#define TV_PF_CPUS 1024u

/* Task that a processor switched to last. */
struct tv_pf_cpu {
    bool known;
    int64_t tid;
    uint32_t name; /* text */
};

struct tv_pf_bundle_state {
    struct tv_pf_cpu cpus[TV_PF_CPUS];
    uint64_t irq_events;       /* bit set of the interrupt events that there were */
    struct tv_map memories;    /* mm_id of rss_stat -> process */
    struct tv_map described;   /* number of a generic event -> text: its name */
    struct tv_map allocations; /* task -> 1: it allocates contiguous memory */
    uint8_t begun[TV_PF_CPUS]; /* a bundle of it was read */
    int64_t latest_start; /* since when the buffers of all processors have events; 0: unknown */
};

/* A bundle that is being read. */
struct tv_pf_bundle {
    struct tv_pf_reading *reading;
    const struct tv_pf_current *packet;
    struct tv_ft_chunk *chunk;
    uint32_t cpu;
    struct tv_pf_bundle_clock clock;
    bool lost;       /* events were lost before the next one */
    uint64_t offset; /* offset of the bundle */
};

static inline bool tv_pf_is_tid(int64_t tid)
{
    return tid >= 0 && tid <= INT32_MAX;
}

/* Return what is kept between bundles. */
struct tv_pf_bundle_state *tv_pf_bundle_get_state(struct tv_pf_reading *reading);

/* Note who runs, after the switch was taken: the task then has the name, unless the kernel did not
 * know it or the task is the idle one. */
void tv_pf_cpu_turn_to(struct tv_pf_bundle *bundle, int64_t tid, struct tv_bytes name);

/* Mark the loss of events before the one at a time. */
void tv_pf_bundle_mark_loss(struct tv_pf_bundle *bundle, int64_t time);

/* Id of the message of an event in field_names.inc; the test checks it. */
#define TV_PF_FTRACE_EVENT 2u

/* The first fields of an event by number: enough for all events that are taken by their fields. */
#define TV_PF_EVENT_FIELDS 12

struct tv_pf_event_fields {
    uint64_t numbers[TV_PF_EVENT_FIELDS];
    struct tv_bytes texts[TV_PF_EVENT_FIELDS];
    uint16_t present; /* bit set */
};

/* Parse the fields of an event. */
void tv_pf_event_parse(struct tv_bytes bytes, struct tv_pf_event_fields *fields);

/* Return the name of a kernel function: an interned symbol, or its address, written to `text`. */
struct tv_bytes tv_pf_kernel_function(struct tv_pf_bundle *bundle, uint64_t value, char *text,
                                      size_t size);

/* Return the name of a soft interrupt; empty when it has none. */
struct tv_bytes tv_pf_softirq_name(uint64_t vector);

/* Take an event as a line of text. */
void tv_pf_bundle_take_text(struct tv_pf_bundle *bundle, const struct tv_ft_at *at, int64_t tid,
                            const struct tv_protobuf_field *event);

/* Take an event of a device (false: it is none). */
bool tv_pf_take_device(struct tv_pf_bundle *bundle, const struct tv_ft_at *at,
                       const struct tv_protobuf_field *event);

/* Return the name of an event of the kernel; one that nothing names is written to `text`. */
struct tv_bytes tv_pf_event_name(struct tv_pf_reading *reading,
                                 const struct tv_protobuf_field *event, char *text, size_t size);

/* Note the name of an event that the recorder described: {1 id, 2 DescriptorProto, 3 group}. */
void tv_pf_describe_event(struct tv_pf_reading *reading, struct tv_bytes descriptor);

/* Open an event of any form {1 time, 2 thread, N event}.  Return false when it is damaged. */
bool tv_pf_event_open(struct tv_bytes bytes, uint64_t *time, uint64_t *tid,
                      struct tv_protobuf_field *event);

/* A row of a CompactSched: a switch to a thread, or a waking. */
struct tv_pf_compact_row {
    uint64_t time; /* on the clock of the bundle */
    int64_t tid;   /* thread that ran before the switch, or that woke another; -1: unknown */
    bool wakes;
};

/* Give each row of a CompactSched, switches first.  *running, the thread that runs before, becomes
 * the one that runs after; -1: not known. */
void tv_pf_compact_visit(struct tv_bytes bytes, int64_t *running,
                         void (*take)(void *context, const struct tv_pf_compact_row *row),
                         void *context);

/* Take a CompactSched, which is at an offset. */
void tv_pf_bundle_take_compact(struct tv_pf_bundle *bundle, struct tv_bytes bytes, uint64_t offset);

#endif
