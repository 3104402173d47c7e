/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_ids.h - the ids of flows in eight bytes, and numbers for what has one id.
 *
 * Files with flows have many, each with an id of its own that two or three events share: most ids
 * are short, or numbers, and stand in the event itself.  Two are one when form and bits are.
 */
#ifndef TV_READERS_TRACE_EVENT_FLOW_IDS_H
#define TV_READERS_TRACE_EVENT_FLOW_IDS_H

#include "base/intern.h"
#include "base/types.h"

/* Up to 8: the length of the text that the bits hold. */
enum tv_te_flow_form {
    TV_TE_FLOW_DECIMAL = 9, /* the digits of a number */
    TV_TE_FLOW_HEX = 10,    /* "0x" and its digits, small letters */
    TV_TE_FLOW_LONG = 11,   /* any other text, by its number in an interner */
    TV_TE_FLOW_TEXT = 15,   /* mask of these */
    TV_TE_FLOW_STRING = 16, /* it was a string: 1 and "1" are two */
    TV_TE_FLOW_NO_ID = 32,
};

struct tv_te_flow_id {
    uint64_t bits;
    uint8_t form;
};

/* Makes *longer, or adds to it, when the text wants that. */
struct tv_te_flow_id tv_te_flow_id_of(struct tv_bytes text, bool string,
                                      struct tv_interner **longer);

/* The text again; valid as long as the id and the interner. */
#define TV_TE_FLOW_ROOM 24
struct tv_bytes tv_te_flow_id_text(const struct tv_te_flow_id *id, const struct tv_interner *longer,
                                   char room[TV_TE_FLOW_ROOM]);

/* An id of a name and category (a frame); TV_NONE: a bind_id. */
struct tv_te_flow_key {
    uint64_t bits;
    uint32_t frame;
    uint8_t form;
};

/* Numbers from 0 in the order in which they came. Zeroed at first. */
struct tv_te_flow_keys {
    struct tv_te_flow_key *rows;
    size_t count, capacity;
    struct tv_te_flow_place *places;
    size_t place_count;
};

/* The number of a key, which may be a new one. */
uint32_t tv_te_flow_keys_add(struct tv_te_flow_keys *keys, struct tv_te_flow_key key);

/* Nothing is added any more: gives back what only that needs. */
void tv_te_flow_keys_freeze(struct tv_te_flow_keys *keys);
void tv_te_flow_keys_release(struct tv_te_flow_keys *keys);

#endif
