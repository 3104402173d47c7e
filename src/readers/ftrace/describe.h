/* SPDX-License-Identifier: Apache-2.0 */
/*
 * describe.h - one event of ftrace text, read again when somebody looks at it.
 */
#ifndef TV_READERS_FTRACE_DESCRIBE_H
#define TV_READERS_FTRACE_DESCRIBE_H

#include "model/trace.h"

/* As tv_describe says: "args" (every key=value of the line, those of Chrome's marks by themselves),
 * then task, processor, flags and the details as they stand; lines that continue a text are joined
 * to it. */
enum tv_status tv_ft_describe(const struct tv_trace *trace, uint32_t input, uint64_t offset,
                              uint64_t end_offset, struct tv_out *out, struct tv_error *err);

#endif
