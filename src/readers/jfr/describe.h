/* SPDX-License-Identifier: Apache-2.0 */
/* describe.h - the fields of one event of a recording, read again from the file. */
#ifndef TV_READERS_JFR_DESCRIBE_H
#define TV_READERS_JFR_DESCRIBE_H

#include "model/trace.h"

/* Write the event at an offset as one JSON object; `end_offset` has no meaning here. */
enum tv_status tv_jfr_describe(const struct tv_trace *trace, uint32_t input, uint64_t offset,
                               uint64_t end_offset, struct tv_out *out, struct tv_error *err);

#endif
