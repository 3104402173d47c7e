/* SPDX-License-Identifier: Apache-2.0 */
/*
 * values.h - what the JSON text of one value means in the Trace Event Format.
 *
 * All take the raw text of a value as struct tv_te_fields has it (strings with their quotes; data
 * NULL: the field is absent).
 */
#ifndef TV_READERS_TRACE_EVENT_VALUES_H
#define TV_READERS_TRACE_EVENT_VALUES_H

#include "base/types.h"

/* Times of events lie between these (two years before the epoch, three centuries behind it), so
 * that a difference of two fits; microseconds of 2^53 do as well. */
#define TV_TE_EARLIEST (-((int64_t)1 << 56))
#define TV_TE_LATEST (INT64_MAX + TV_TE_EARLIEST)

/* Microseconds, a number or a string that is one, as nanoseconds: exact from the decimal digits,
 * halves rounded away from zero.  False: absent, no number, NaN, or beyond +-TV_TE_LATEST. */
bool tv_te_parse_time(struct tv_bytes raw, int64_t *ns);

/* A number or a string that is one ("12", ".75", "1e3"; NaN and Infinity when bare). */
bool tv_te_parse_number(struct tv_bytes raw, double *value);

/* What begins with 0x and has digits of no more than 64 bits. */
bool tv_te_parse_hex(struct tv_bytes text, uint64_t *value);

/* A whole number, or a string that is one; decimal, or hexadecimal with 0x. */
bool tv_te_parse_integer(struct tv_bytes raw, int64_t *value);

/* As JavaScript has it: absent, false, null, 0, NaN and "" are not true. */
bool tv_te_is_true(struct tv_bytes raw);

static inline bool tv_te_is_string(struct tv_bytes raw)
{
    return raw.length > 0 && (raw.data[0] == '"' || raw.data[0] == '\'');
}

/* Where texts are decoded to. Zeroed at first; release when done. */
struct tv_te_scratch {
    uint8_t *bytes;
    size_t capacity;
};

void tv_te_scratch_release(struct tv_te_scratch *scratch);

/* The value as text, as JavaScript's String() makes it: strings without their quotes and escapes,
 * whole numbers as plain digits ("1.0" and "1e0" are "1", 0x10 is "16"), anything else as it
 * stands.  Valid until the scratch is used again or the raw text goes.  Absent: empty, data NULL.
 */
struct tv_bytes tv_te_decode_text(struct tv_bytes raw, struct tv_te_scratch *scratch);

/* The reserved colour of a cname as struct tv_slice_extra numbers it; 0: there is no such name. */
unsigned tv_te_parse_colour(struct tv_bytes raw);

/* The automatic colour of a name, in UTF-8, from 0 to 22 (section 5). */
unsigned tv_te_name_colour(struct tv_bytes name);

#endif
