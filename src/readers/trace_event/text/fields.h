/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fields.h - one event of the Trace Event Format taken apart into raw fields.
 *
 * Nothing is decoded: each field is the JSON text of its value, strings with their quotes; data
 * NULL: absent.  Of duplicate keys the last wins.  values.h parses the texts.
 *
 * This leniency is not that of json.h.  The lexer of json.h always reaches the end and reports what
 * it passes, because a value is to be shown.  This reader must know when an event is cut, so that
 * more bytes are read, and when it is broken, so that reading resumes at the next event.
 */
#ifndef TV_READERS_TRACE_EVENT_TEXT_FIELDS_H
#define TV_READERS_TRACE_EVENT_TEXT_FIELDS_H

#include "readers/trace_event/text/values.h"

struct tv_te_fields {
    struct tv_bytes name, cat, ph, ts, dur, tts, tdur, pid, tid, args;
    struct tv_bytes id, id2, scope, s, bp, cname;
    struct tv_bytes sf, stack, esf, estack;
    struct tv_bytes bind_id, flow_in, flow_out, use_async_tts;
    struct tv_bytes cpu, weight; /* of elements of "samples" */
    struct tv_bytes end;         /* what rewriting keeps of the end of a slice */
    unsigned faults;             /* leniencies that were needed; 0: none */
    bool rare;                   /* a field from `id` on, or another key, is there */
    bool odd;                    /* another key is there */
};

enum tv_te_read {
    TV_TE_READ,       /* all fields are there; the last brace may be missing */
    TV_TE_CUT,        /* the bytes end before the object does */
    TV_TE_NOT_OBJECT, /* no '{' */
    TV_TE_BROKEN,     /* unreadable even with leniency; resume at `event_end` */
};

/* Read the object that begins at `at`.  64 bytes after `end` must be readable (the slack of a
 * window).  *event_end is after its '}', or after its last member. */
enum tv_te_read tv_te_fields_read(const uint8_t *at, const uint8_t *end,
                                  struct tv_te_fields *fields, const uint8_t **event_end);

/* As above, into fields that are zeroed or were read before: faster, for a loop over all events. */
enum tv_te_read tv_te_fields_read_over(const uint8_t *at, const uint8_t *end,
                                       struct tv_te_fields *fields, const uint8_t **event_end);

/* Read an object that the end of the file cuts, when only its brace is missing: its last member
 * must have an unmistakable end, the '}' of its arguments.  TV_TE_CUT: more is missing.  *event_end
 * is after that member. */
enum tv_te_read tv_te_fields_close(const uint8_t *at, const uint8_t *end,
                                   struct tv_te_fields *fields, const uint8_t **event_end);

/* Instructions that the fast path uses.  The best that the processor has is the default; tests ask
 * for others. */
enum tv_te_simd {
    TV_TE_SIMD_BEST,
    TV_TE_SIMD_PLAIN, /* C alone */
    TV_TE_SIMD_USUAL, /* the baseline of the architecture: SSE2, NEON, or C */
    TV_TE_SIMD_AVX2,
};

/* Select the instructions.  False: the processor lacks them, and nothing changes.  No other thread
 * may be reading. */
bool tv_te_simd_use(enum tv_te_simd simd);

/* Return the next member of an event whose fields were read, as tv_te_member_next does, but faster:
 * the fields know where most values end.  *at begins after the '{' of the text. */
bool tv_te_fields_next(struct tv_te_fields *fields, const uint8_t **at, const uint8_t *end,
                       struct tv_bytes *key, struct tv_bytes *value);

/* Return the next member of any object, leniently.  *at begins after the '{' and moves.  False:
 * there are no more.  Keys are raw text, too.  The object may lack its brace. */
bool tv_te_member_next(const uint8_t **at, const uint8_t *end, struct tv_bytes *key,
                       struct tv_bytes *value);

/* Return the text of a raw key without its quotes, if it has any. */
struct tv_bytes tv_te_key_unquote(struct tv_bytes key);

/* True when a raw key, or string, is this name. */
bool tv_te_key_is(struct tv_bytes key, const char *name);

/* Return the next element of an array; *at begins after the '['. */
bool tv_te_element_next(const uint8_t **at, const uint8_t *end, struct tv_bytes *value);

/* Return the value of a member of an object's raw text; data NULL: absent, or not an object. */
struct tv_bytes tv_te_member(struct tv_bytes object, const char *key);

/* Return the one letter of `ph`; 0: absent, not a string, or not one letter. */
char tv_te_fields_phase(const struct tv_te_fields *fields);

enum tv_te_id_kind {
    TV_TE_ID_NONE,
    TV_TE_ID_PLAIN,  /* id */
    TV_TE_ID_GLOBAL, /* id2.global */
    TV_TE_ID_LOCAL,  /* id2.local: of its process */
    TV_TE_ID_BAD,    /* both id and id2, or an id2 with neither or both */
};

/* Return which id the event has; *raw is its raw text. */
enum tv_te_id_kind tv_te_fields_id(const struct tv_te_fields *fields, struct tv_bytes *raw);

#endif
