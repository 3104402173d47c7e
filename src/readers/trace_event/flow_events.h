/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_events.h - events of flows on their way from the file to arrows (flows.c): phases s, t and
 * f, which may be a third of all events, in 32 bytes each.
 */
#ifndef TV_READERS_TRACE_EVENT_FLOW_EVENTS_H
#define TV_READERS_TRACE_EVENT_FLOW_EVENTS_H

#include "readers/trace_event/fields.h"
#include "readers/trace_event/flow_ids.h"

struct tv_te_flow_event {
    int64_t time;         /* ns on the file's clock */
    uint64_t offset : 40; /* of its '{' in the input */
    uint64_t phase : 8;
    uint64_t form : 8;      /* of the id */
    uint64_t next : 1;      /* it means the slice that starts next, not the one around it */
    uint64_t unsaid : 1;    /* the category says which */
    uint64_t bad_point : 1; /* "bp" is none */
    uint64_t asks : 1;      /* a slice or instant is wanted (binding.h) */
    uint64_t in : 1;        /* of a slice with a bind_id: an arrow arrives */
    uint64_t out : 1;       /* or leaves */
    uint32_t of;            /* thread; of a slice with a bind_id, its number in context->deferred */
    union {
        struct {                       /* while the file is read */
            uint32_t frame, low, high; /* name and category; bits of the id */
        };
        struct {                 /* then */
            uint32_t key;        /* TV_NONE: the event is left out */
            uint32_t row, index; /* as struct tv_flow_end has it; index TV_NONE: none was found */
        };
    };
};

/* In the order of the file. Zeroed at first. */
struct tv_te_flow_list {
    struct tv_te_flow_event *rows;
    size_t count, capacity;
    struct tv_interner *longer; /* ids; NULL: there are none so far */
};

void tv_te_flow_list_release(struct tv_te_flow_list *list);

/* Adds an event that has its time, offset, phase, thread and frame, with what its fields say. */
void tv_te_flow_list_add(struct tv_te_flow_list *list, const struct tv_te_flow_event *event,
                         const struct tv_te_fields *fields, struct tv_te_scratch *scratch);

/* Takes over what a later chunk has, which is empty then; its threads and frames get new numbers. */
void tv_te_flow_list_take(struct tv_te_flow_list *list, struct tv_te_flow_list *chunk,
                          const uint32_t *threads, const uint32_t *frames);

static inline uint64_t tv_te_flow_bits(const struct tv_te_flow_event *event)
{
    return (uint64_t)event->high << 32 | event->low;
}

#endif
