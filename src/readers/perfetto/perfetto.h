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

/* Write all fields of a packet by name as a JSON object. */
void tv_pf_write_packet(struct tv_out *out, struct tv_bytes packet);

/* Read an event again and write it as JSON: "args" (debug annotations by name, or the fields of a
 * kernel event), then the whole packet by field names. */
enum tv_status tv_pf_describe(const struct tv_trace *trace, uint32_t input, uint64_t offset,
                              uint64_t end_offset, struct tv_out *out, struct tv_error *err);

#endif
