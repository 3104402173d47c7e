/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.h - api/status of an engine, as the viewer's page reads it: one trace, of one file.
 */
#ifndef TV_ENGINE_STATUS_H
#define TV_ENGINE_STATUS_H

#include "base/out.h"

/* The number of the trace; there is no other. */
#define TV_ENGINE_TRACE 1

/* The members behind those of tv_session_write_status, and the brace that ends the object. */
void tv_engine_write_status_end(struct tv_out *out, const char *name);

struct tv_engine_status;

/* The whole of it where no child can be asked. */
void tv_engine_write_status(struct tv_out *out, const struct tv_engine_status *status,
                            const char *name);

/* {"error": "sentence"} */
void tv_engine_write_refusal(struct tv_out *out, const char *sentence);

#endif
