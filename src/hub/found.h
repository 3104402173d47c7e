/* SPDX-License-Identifier: Apache-2.0 */
/*
 * found.h - what an engine found out about a trace (its answer to "facts", docs/view-protocol.md),
 * checked and put into the catalogue.
 */
#ifndef TV_HUB_FOUND_H
#define TV_HUB_FOUND_H

#include "hub/context.h"

/* The bytes come from an engine, which is not trusted: what is no answer to "facts" is an error. */
enum tv_status tv_found_keep(struct tv_hub *hub, const char *id, struct tv_bytes facts,
                             struct tv_error *err) TV_MUST_CHECK;

/* The trace cannot be read. */
enum tv_status tv_found_keep_failure(struct tv_hub *hub, const char *id,
                                     const struct tv_engine_status *status,
                                     struct tv_error *err) TV_MUST_CHECK;

#endif
