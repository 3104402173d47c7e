/* SPDX-License-Identifier: Apache-2.0 */
/*
 * te_rewrite.h - a Trace Event file, whatever its form and its faults, as strict JSON.
 */
#ifndef TV_READERS_TE_REWRITE_H
#define TV_READERS_TE_REWRITE_H

#include "base/out.h"
#include "base/source.h"
#include "model/head.h"
#include "readers/te_list.h"

/* Whether an input was read by the reader of this format. */
bool tv_te_is_input(const struct tv_input *input);

/* Which events are written. */
struct tv_te_rewrite_choice {
    bool (*wanted)(void *context, const struct tv_te_list_event *event);
    /* Writes further events behind the last one, ",\n" before each but before the first if there
     * was none; NULL: there are no more. */
    enum tv_status (*add)(void *context, struct tv_out *out, bool any, struct tv_error *err);
    void *context;
};

/* Writes the object form: every event that can be read, in its order, with all its members, and
 * every other member of the file.  Reading it back gives the same trace.  `choice` may be NULL. */
enum tv_status tv_te_rewrite(struct tv_source *source, const struct tv_te_rewrite_choice *choice,
                             struct tv_out *out, struct tv_error *err) TV_MUST_CHECK;

#endif
