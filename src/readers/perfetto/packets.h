/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packets.h - the packets of a Perfetto trace, one after the other.
 *
 * A trace is the message Trace: 0x0A, the length of a packet, the packet, again and again.  The
 * walk keeps one packet in memory.  Where the frames are damaged, it goes on at the next
 * synchronization marker, which the tracing service writes every few seconds.
 */
#ifndef TV_READERS_PERFETTO_PACKETS_H
#define TV_READERS_PERFETTO_PACKETS_H

#include "base/source.h"
#include "model/diagnostic.h"

/* Larger packets are refused: real ones have less than 2 MiB. */
#define TV_PF_PACKET_MAX ((size_t)64 << 20)

struct tv_pf_packets {
    struct tv_window window;
    uint64_t offset, end; /* of the next frame; where the walk stops */
    struct tv_diagnostics *diagnostics;
};

struct tv_pf_packet {
    struct tv_bytes bytes;
    uint64_t offset; /* offset of its frame */
    uint64_t start;  /* start of its bytes */
    bool none;       /* the trace has ended */
};

void tv_pf_packets_init(struct tv_pf_packets *packets, struct tv_source *source, uint64_t start,
                        struct tv_diagnostics *diagnostics);
void tv_pf_packets_release(struct tv_pf_packets *packets);

/* Return the next packet that is not empty.  Its bytes are valid until the next call. */
enum tv_status tv_pf_packets_next(struct tv_pf_packets *packets, struct tv_pf_packet *packet,
                                  struct tv_error *err) TV_MUST_CHECK;

#endif
