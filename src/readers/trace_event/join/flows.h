/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flows.h - flow events (phases s, t, f) on their way from the file to arrows.
 *
 * Flow events may be a third of all events, so each takes 32 bytes and is not read a second time.
 * flows.c explains the pairing, flow_binding.c how an event finds its slice.
 */
#ifndef TV_READERS_TRACE_EVENT_JOIN_FLOWS_H
#define TV_READERS_TRACE_EVENT_JOIN_FLOWS_H

#include "base/map.h"
#include "base/types.h"
#include "model/assembly/assembly.h"
#include "readers/trace_event/text/fields.h"

/* ---- Ids ---- */

/* Files with flows have many ids, each shared by two or three events.  Most are short, or numbers,
 * and fit into eight bytes of the event itself.  Two ids are equal when form and bits are. */

/* Forms of the bits.  Up to 8: the length of the text that the bits are. */
enum tv_te_flow_form {
    TV_TE_FLOW_DECIMAL = 9, /* the digits of a number */
    TV_TE_FLOW_HEX = 10,    /* "0x" and its digits, lower case */
    TV_TE_FLOW_LONG = 11,   /* any other text, by its number in an interner */
    TV_TE_FLOW_TEXT = 15,   /* mask of these */
    TV_TE_FLOW_STRING = 16, /* the id was a string: 1 and "1" are two ids */
    TV_TE_FLOW_NO_ID = 32,
};

struct tv_te_flow_id {
    uint64_t bits;
    uint8_t form;
};

/* Pack an id.  Long texts go to *longer, which is made when needed. */
struct tv_te_flow_id tv_te_flow_id_of(struct tv_bytes text, bool string,
                                      struct tv_interner **longer);

/* Return the text of an id; valid as long as the id, the room and the interner. */
#define TV_TE_FLOW_ROOM 24
struct tv_bytes tv_te_flow_id_text(const struct tv_te_flow_id *id, const struct tv_interner *longer,
                                   char room[TV_TE_FLOW_ROOM]);

/* An id within a name and category (a frame); TV_NONE: a bind_id. */
struct tv_te_flow_key {
    uint64_t bits;
    uint32_t frame;
    uint8_t form;
};

/* A hash table that numbers keys from 0 in the order in which they came.  Zeroed at first. */
struct tv_te_flow_keys {
    struct tv_te_flow_key *rows;
    size_t count, capacity;
    struct tv_te_flow_slot *slots;
    size_t slot_count; /* a power of two */
};

/* Return the number of a key; add it when new. */
uint32_t tv_te_flow_keys_add(struct tv_te_flow_keys *keys, struct tv_te_flow_key key);

/* Free the hash table, which only adding needs. */
void tv_te_flow_keys_freeze(struct tv_te_flow_keys *keys);
void tv_te_flow_keys_release(struct tv_te_flow_keys *keys);

/* ---- Events ---- */

struct tv_te_flow_event {
    int64_t time;         /* ns on the file's clock */
    uint64_t offset : 40; /* offset of its '{' in the input */
    uint64_t phase : 8;
    uint64_t form : 8;      /* of the id */
    uint64_t next : 1;      /* binds to the slice that starts next, not to the enclosing one */
    uint64_t unsaid : 1;    /* "bp" is absent: the category decides on `next` */
    uint64_t bad_point : 1; /* "bp" is invalid */
    uint64_t asks : 1;      /* a slice or instant is wanted */
    uint64_t in : 1;        /* of a slice with a bind_id: an arrow arrives */
    uint64_t out : 1;       /* or leaves */
    uint32_t of;            /* thread; of a slice with a bind_id, its row in context->deferred */
    union {
        struct {                       /* while the file is read */
            uint32_t frame, low, high; /* name and category; bits of the id */
        };
        struct {                 /* from tv_te_flows_read on */
            uint32_t key;        /* TV_NONE: the event is left out */
            uint32_t row, index; /* as in struct tv_flow_end; index TV_NONE: nothing was found */
        };
    };
};

/* In the order of the file.  Zeroed at first. */
struct tv_te_flow_list {
    struct tv_te_flow_event *rows;
    size_t count, capacity;
    struct tv_interner *longer; /* long ids; NULL: there are none so far */
};

void tv_te_flow_list_release(struct tv_te_flow_list *list);

/* Add an event that has its time, offset, phase, thread and frame; its fields give the rest. */
void tv_te_flow_list_add(struct tv_te_flow_list *list, const struct tv_te_flow_event *event,
                         const struct tv_te_fields *fields, struct tv_te_scratch *scratch);

/* Move the events of the next chunk here; their threads and frames get new numbers. */
void tv_te_flow_list_take(struct tv_te_flow_list *list, struct tv_te_flow_list *chunk,
                          const uint32_t *threads, const uint32_t *frames);

static inline uint64_t tv_te_flow_bits(const struct tv_te_flow_event *event)
{
    return (uint64_t)event->high << 32 | event->low;
}

/* ---- Binding ---- */

/* The events of which some ask for a slice of their thread.  The answer goes into their row and
 * index: a slice; or an instant, row TV_NONE and `index` in the table; or TV_NONE: nothing. */
struct tv_te_binding_queries {
    struct tv_te_flow_event *rows;
    const uint32_t *order; /* their numbers in the order of time */
    size_t count;
    int64_t shift; /* from the file's clock to the trace's axis */
};

/* Find slices, several threads side by side:
 *
 *   enclosing  the deepest slice with start <= time <= end; at a shared boundary the earlier one
 *   next       the first slice, at any depth, that starts after the time; or at it, when its event
 *              is after `offset` in the file */
void tv_te_flows_bind(const struct tv_assembly *assembly, const struct tv_trace *trace,
                      const struct tv_te_binding_queries *queries, unsigned workers);

/* Then let instants of the threads win where they are meant:
 *
 *   enclosing  the last one at the time, where there is no slice
 *   next       the first one, when it comes before the slice that was found */
void tv_te_flows_bind_instants(const struct tv_trace *trace, uint32_t input,
                               const struct tv_te_binding_queries *queries);

#endif
