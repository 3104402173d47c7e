/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ids.h - the ids of events as keys, and events in the order of time.
 *
 * An id is the text "pid:scope:id" (pid empty where it is that of all processes), as Trace Viewer
 * shows it: ids are compared as text, so "0x1" and 1 are two.  Without a scope it is "ptr".
 */
#ifndef TV_READERS_TRACE_EVENT_IDS_H
#define TV_READERS_TRACE_EVENT_IDS_H

#include "readers/trace_event/events.h"

/* A text that grows; zeroed at first. */
struct tv_te_id_key {
    uint8_t *bytes;
    size_t length, capacity;
};

void tv_te_id_key_release(struct tv_te_id_key *key);
/* Appends a text. */
void tv_te_id_key_add(struct tv_te_id_key *key, struct tv_bytes text);
/* Appends the id of a process. */
void tv_te_id_key_add_process(struct tv_te_id_key *key, const struct tv_head *head, uint32_t process);

/* The id of a thread, without that of its process. */
void tv_te_id_key_add_tid(struct tv_te_id_key *key, const struct tv_head *head, uint32_t thread);

static inline struct tv_bytes tv_te_id_key_text(const struct tv_te_id_key *key)
{
    return (struct tv_bytes){key->bytes, key->length};
}

enum tv_te_id_owner {
    TV_TE_ID_SHARED, /* a plain id is of all processes (async) */
    TV_TE_ID_OWNED,  /* a plain id is of its process (objects) */
};

/* Appends "pid:scope:id"; no scope (data NULL) is "ptr", process TV_NONE no pid. */
void tv_te_id_key_add_parts(struct tv_te_id_key *key, const struct tv_head *head, uint32_t process,
                         struct tv_bytes scope, struct tv_bytes id);

/* An id as an event has it. */
struct tv_te_id_parts {
    enum tv_te_id_kind kind;
    struct tv_bytes raw;
    struct tv_bytes scope; /* raw */
    uint32_t process;
};

/* Appends an id; `owner` says whose a plain one is. */
void tv_te_id_key_add_id(struct tv_te_id_key *key, struct tv_te_context *context,
                      const struct tv_te_id_parts *id, enum tv_te_id_owner owner);

/* Appends the id of an event. False, with a diagnostic, when it has none that can be used. */
bool tv_te_id_key_add_event_id(struct tv_te_id_key *key, struct tv_te_context *context,
                            const struct tv_te_deferred *event, const struct tv_te_link *link,
                            enum tv_te_id_owner owner);

/* Events of some phases, in the order of the file: so their texts are read in one sweep. */
struct tv_te_selection {
    size_t *deferred; /* indices in context->deferred */
    size_t *order; /* indices in `loose`, by time, then by place in the file */
    size_t count;
};

/* How many events have one of these phases. */
size_t tv_te_count_deferred(const struct tv_te_context *context, const char *phases);

/* Picks the events whose phase is among the letters. */
void tv_te_select(struct tv_te_selection *selection, const struct tv_te_context *context,
                const char *phases);
void tv_te_selection_release(struct tv_te_selection *selection);

/* The group that "=" events make of an id "pid:scope:id" (joined.c), or TV_NONE. */
uint32_t tv_te_id_group(const struct tv_te_context *context, struct tv_bytes id);

/* Whether there is more to an event than its time: arguments or a stack. */
bool tv_te_has_details(const struct tv_te_fields *fields);

#endif
