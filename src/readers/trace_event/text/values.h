/* SPDX-License-Identifier: Apache-2.0 */
/*
 * values.h - the meaning of one JSON value in the Trace Event Format.
 *
 * All functions take the raw text of a value as struct tv_te_fields has it: strings with their
 * quotes; data NULL: the field is absent.
 */
#ifndef TV_READERS_TRACE_EVENT_TEXT_VALUES_H
#define TV_READERS_TRACE_EVENT_TEXT_VALUES_H

#include "base/types.h"

/* Times of events are between these: two years before the epoch, three centuries after it.  So the
 * difference of two times fits into an int64_t; 2^53 microseconds do as well. */
#define TV_TE_EARLIEST (-((int64_t)1 << 56))
#define TV_TE_LATEST (INT64_MAX + TV_TE_EARLIEST)

/* Parse microseconds, a number or a string that is one, into nanoseconds: exact from the decimal
 * digits, halves rounded away from zero.  False: absent, not a number, NaN, or beyond
 * +-TV_TE_LATEST. */
bool tv_te_parse_time(struct tv_bytes raw, int64_t *ns);

/* Parse a number or a string that is one ("12", ".75", "1e3"; bare NaN and Infinity). */
bool tv_te_parse_number(struct tv_bytes raw, double *value);

/* Parse "0x" and digits of no more than 64 bits. */
bool tv_te_parse_hex(struct tv_bytes text, uint64_t *value);

/* Parse an integer, or a string that is one; decimal, or hexadecimal with 0x. */
bool tv_te_parse_integer(struct tv_bytes raw, int64_t *value);

/* Return the truth of a value as JavaScript has it: absent, false, null, 0, NaN and "" are false.
 */
bool tv_te_is_true(struct tv_bytes raw);

static inline bool tv_te_is_string(struct tv_bytes raw)
{
    return raw.length > 0 && (raw.data[0] == '"' || raw.data[0] == '\'');
}

/* The memory that texts are decoded into.  Zeroed at first; release when done. */
struct tv_te_scratch {
    uint8_t *bytes;
    size_t capacity;
};

void tv_te_scratch_release(struct tv_te_scratch *scratch);

/* Return the value as text, as JavaScript's String() makes it: strings without their quotes and
 * escapes, integers as plain digits ("1.0" and "1e0" are "1", 0x10 is "16"), anything else as it
 * stands.  Valid until the scratch is used again or the raw text goes.  Absent: empty, data NULL.
 */
struct tv_bytes tv_te_decode_text(struct tv_bytes raw, struct tv_te_scratch *scratch);

/* True when a text has another one inside. */
bool tv_te_text_contains(struct tv_bytes text, struct tv_bytes wanted);

/* Return the reserved colour of a cname as struct tv_slice_extra numbers it; 0: unknown. */
unsigned tv_te_parse_colour(struct tv_bytes raw);

/* Return the automatic colour of a name, in UTF-8, from 0 to 22 (trace-event.md section 5). */
unsigned tv_te_name_colour(struct tv_bytes name);

#endif
