/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fields.h - one event of the Trace Event Format taken apart into raw fields.
 *
 * Nothing is decoded: each field is the JSON text of its value, strings with their quotes; data
 * NULL: absent.  Of duplicate keys the last wins.  values.h says what a text means.
 *
 * What is lenient here is not json/walk.h: that one always comes to an end and blames what it
 * passes, as a value is to be shown; this one must know when an event is cut, so that more bytes
 * are read, and when it is broken, so that reading goes on at the next event.
 */
#ifndef TV_READERS_TRACE_EVENT_FIELDS_H
#define TV_READERS_TRACE_EVENT_FIELDS_H

#include "readers/trace_event/values.h"

struct tv_te_fields {
    struct tv_bytes name, cat, ph, ts, dur, tts, tdur, pid, tid, args;
    struct tv_bytes id, id2, scope, s, bp, cname;
    struct tv_bytes sf, stack, esf, estack;
    struct tv_bytes bind_id, flow_in, flow_out, use_async_tts;
    struct tv_bytes cpu, weight; /* of global samples */
    struct tv_bytes end;         /* what rewrite.h keeps of the end of a slice */
    unsigned faults;             /* JSON leniencies that were needed: 0 none */
    bool rare;                   /* one from `id` on, or another key, is there */
    bool odd;                    /* another key is */
};

enum tv_te_read {
    TV_TE_READ,       /* all fields are there; its last brace may be missing */
    TV_TE_CUT,        /* the bytes end before the object does */
    TV_TE_NOT_OBJECT, /* no '{' */
    TV_TE_BROKEN,     /* not to be read even with leniency; `event_end` is where to go on */
};

/* Reads the object that begins at `at`; [at, end) must have 64 readable bytes behind it (the slack
 * of a window).  *event_end is behind its '}', or behind its last member. */
enum tv_te_read tv_te_fields_read(const uint8_t *at, const uint8_t *end,
                                  struct tv_te_fields *fields, const uint8_t **event_end);

/* The same, over fields that were read before, or are zeroed: quicker, for the reading of all. */
enum tv_te_read tv_te_fields_read_over(const uint8_t *at, const uint8_t *end,
                                       struct tv_te_fields *fields, const uint8_t **event_end);

/* Reads an object that the end of the file cuts, when its last member has an end that cannot be
 * mistaken, the '}' of its arguments: then all that lacks is a brace.  TV_TE_CUT: more does.
 * *event_end is behind that member. */
enum tv_te_read tv_te_fields_close(const uint8_t *at, const uint8_t *end,
                                   struct tv_te_fields *fields, const uint8_t **event_end);

/* How events are searched.  The best that the processor has is used from the beginning; tests ask
 * for others. */
enum tv_te_simd {
    TV_TE_SIMD_BEST,
    TV_TE_SIMD_PLAIN, /* C alone */
    TV_TE_SIMD_USUAL, /* what all processors of the kind have: SSE2, NEON, or C */
    TV_TE_SIMD_AVX2,
};

/* False: the processor does not have it; nothing changes. No one may be reading. */
bool tv_te_simd_use(enum tv_te_simd simd);

/* The next member of an event whose fields were read, as tv_te_member_next gives it; quick, as the
 * fields know where most values end.  *at begins behind the '{' of the text. */
bool tv_te_fields_next(struct tv_te_fields *fields, const uint8_t **at, const uint8_t *end,
                       struct tv_bytes *key, struct tv_bytes *value);

/* The members of any object, with leniency: the next one from *at, which begins behind the '{' and
 * moves.  False: there are no more.  Keys are raw text as well.  The object may lack its brace. */
bool tv_te_member_next(const uint8_t **at, const uint8_t *end, struct tv_bytes *key,
                       struct tv_bytes *value);

/* A key's raw text without its quotes, if it has some; whether it is this. */
struct tv_bytes tv_te_key_unquote(struct tv_bytes key);
bool tv_te_key_is(struct tv_bytes key, const char *name);

/* The elements of an array; *at begins behind the '['. */
bool tv_te_element_next(const uint8_t **at, const uint8_t *end, struct tv_bytes *value);

/* The value of a member of an object's raw text, or data NULL: absent, or no object. */
struct tv_bytes tv_te_member(struct tv_bytes object, const char *key);

/* The one letter of `ph`; 0: absent, no string, or not one letter. */
char tv_te_fields_phase(const struct tv_te_fields *fields);

enum tv_te_id_kind {
    TV_TE_ID_NONE,
    TV_TE_ID_PLAIN,  /* id */
    TV_TE_ID_GLOBAL, /* id2.global */
    TV_TE_ID_LOCAL,  /* id2.local: of its process */
    TV_TE_ID_BAD,    /* both id and id2, or an id2 with neither or both */
};

/* Which id the event has, and its raw text. */
enum tv_te_id_kind tv_te_fields_id(const struct tv_te_fields *fields, struct tv_bytes *raw);

#endif
