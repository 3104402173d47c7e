/* SPDX-License-Identifier: Apache-2.0 */
/*
 * field_names.h - names of the fields of a Perfetto trace, by message and number.
 */
#ifndef TV_READERS_PERFETTO_FIELD_NAMES_H
#define TV_READERS_PERFETTO_FIELD_NAMES_H

#include "base/types.h"

enum tv_pf_kind {
    TV_PF_UNSIGNED,
    TV_PF_SIGNED,
    TV_PF_ZIGZAG,
    TV_PF_BOOL,
    TV_PF_TEXT,
    TV_PF_BLOB,
    TV_PF_REAL,
    TV_PF_ENUM,
    TV_PF_MESSAGE,
};

struct tv_pf_member {
    const char *name;
    uint32_t number;
    uint16_t of;  /* TV_PF_MESSAGE, TV_PF_ENUM: its id; TV_PF_NO_MESSAGE: one without fields */
    uint8_t kind; /* enum tv_pf_kind */
    bool repeated;
};

#define TV_PF_NO_MESSAGE UINT16_MAX
#define TV_PF_TRACE_PACKET 0u

/* Return the field with that number; NULL when the message is unknown or has none. */
const struct tv_pf_member *tv_pf_find_member(uint32_t message, uint32_t number);

/* Return the id of a message; TV_PF_NO_MESSAGE when it is unknown.  This is a linear search. */
uint32_t tv_pf_find_message(const char *name);

/* Return the name of an enum's value, or NULL. */
const char *tv_pf_enum_name(uint32_t id, int64_t value);

#endif
