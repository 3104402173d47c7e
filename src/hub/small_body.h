/* SPDX-License-Identifier: Apache-2.0 */
/*
 * small_body.h - a body that is held in memory: a change, a password.
 */
#ifndef TV_HUB_SMALL_BODY_H
#define TV_HUB_SMALL_BODY_H

#include "hub/context.h"

/* Takes a body of at most so many bytes; a longer one is refused. */
bool tv_small_body_begin(struct tv_asked *asked, size_t most, struct tv_body *body,
                         struct tv_answer *answer);

/* What came, from the context of the body. */
struct tv_bytes tv_small_body_text(const void *context);

#endif
