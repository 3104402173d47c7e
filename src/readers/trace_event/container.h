/* SPDX-License-Identifier: Apache-2.0 */
/*
 * container.h - what stands around the events: an array, an object with its keys in any order,
 * or nothing (JSON lines).
 */
#ifndef TV_READERS_TRACE_EVENT_CONTAINER_H
#define TV_READERS_TRACE_EVENT_CONTAINER_H

#include "readers/trace_event/split.h"

/* A member of the outermost object that is not the events. */
struct tv_te_top_member {
    char *key; /* raw text, in the arena */
    size_t key_length;
    struct tv_te_extent value;
};

struct tv_te_container {
    struct tv_te_lists lists; /* of events, read */
    struct tv_te_top_member *members;
    size_t member_count, member_capacity;
    struct tv_arena keys;
    struct tv_diagnostics diagnostics;
};

/* Reads the whole source. On failure there is nothing to be used, but to be released. */
enum tv_status tv_te_container_read(struct tv_te_container *container, struct tv_source *source,
                                    const struct tv_read_options *options,
                                    struct tv_error *err) TV_MUST_CHECK;
/* The same, and copies the text of the events. */
enum tv_status tv_te_container_copy(struct tv_te_container *container, struct tv_source *source,
                                    struct tv_te_copy *copy, struct tv_error *err) TV_MUST_CHECK;
void tv_te_container_release(struct tv_te_container *container);

/* How sure the first bytes are those of such a file. */
int tv_te_container_sniff(struct tv_bytes head);

#endif
