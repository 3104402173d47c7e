/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto.h - the reader of Perfetto's protobuf traces (docs/formats/perfetto.md).
 */
#ifndef TV_READERS_PERFETTO_PERFETTO_H
#define TV_READERS_PERFETTO_PERFETTO_H

#include "model/trace.h"
#include "readers/reader.h"

extern const struct tv_reader tv_reader_perfetto;

/* One packet as it is in the file, for a record visitor. */
struct tv_pf_record {
    uint64_t offset;
    struct tv_bytes bytes;
};

/* Reasons for which data of a sequence are lost: bits of previous_packet_dropped from 2 on. */
#define TV_PF_LOSS_CAUSES 8u

/* The fields of a packet that say whose it is, and what it is about. */
struct tv_pf_packet_head {
    const char *type;   /* name of the payload's field; NULL: there is none, or it is unknown */
    uint32_t machine;   /* 0: the one that recorded */
    uint32_t sequence;  /* 0: not known */
    uint32_t lost;      /* previous_packet_dropped: bits */
    uint64_t timestamp; /* as it is in the packet */
    bool has_time, clears_state, needs_state;
    bool is_event;    /* of the kernel, or a track event: the model has what it tells */
    int64_t pid, tid; /* of a descriptor that has arguments of a process or thread; -1: none */
};

/* Read the head of a packet, whatever its bytes are. */
void tv_pf_read_packet_head(struct tv_bytes packet, struct tv_pf_packet_head *head);

/* Is an input of that machine? */
bool tv_pf_is_of_machine(const struct tv_input *input, uint32_t machine);

/* An event of the kernel as it is in the file. */
struct tv_pf_kernel_event {
    int64_t time;         /* on the clock of its input */
    uint64_t offset;      /* for tv_pf_describe; TV_NO_OFFSET: it is in columns with others */
    struct tv_bytes name; /* lives as long as the call that gets it */
    uint32_t cpu;
    int32_t tid; /* thread that ran; -1: unknown */
};

typedef void tv_pf_take_kernel_event(void *context, const struct tv_pf_kernel_event *event);

/* Read the events of the kernel of an input again, in the order of its file, until `limit` (or
 * NULL) stops. */
enum tv_status tv_pf_visit_kernel_events(const struct tv_input *input,
                                         tv_pf_take_kernel_event *take, void *context,
                                         struct tv_read_limit *limit, struct tv_error *err);

/* Return the number of the machine that an input is of, as packets have it. */
uint32_t tv_pf_machine_of_input(const struct tv_input *input);

/* Write all fields of a packet by name as a JSON object. */
void tv_pf_write_packet(struct tv_out *out, struct tv_bytes packet);

/* Read an event again and write it as JSON: "args" (debug annotations by name, or the fields of a
 * kernel event), then the whole packet by field names. */
enum tv_status tv_pf_describe(const struct tv_trace *trace, uint32_t input, uint64_t offset,
                              uint64_t end_offset, struct tv_out *out, struct tv_error *err);

#endif
