/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_kinds.h - what the events of each type become.
 *
 * The table knows the events that need more than the rule: an event with a duration is a slice (and
 * with a stack a sample of its duration), any other an instant.
 */
#ifndef TV_READERS_JFR_EVENT_KINDS_H
#define TV_READERS_JFR_EVENT_KINDS_H

#include "base/types.h"

enum tv_jfr_role {
    TV_JFR_BY_RULE,
    TV_JFR_SAMPLE,  /* a sample of its stack */
    TV_JFR_BLOCKED, /* a slice, and always a sample of its duration, even of 0 */
    TV_JFR_COUNTER, /* numbers that change over time */
    TV_JFR_SETTING, /* a name and a value: one row of metadata */
    TV_JFR_FACTS,   /* metadata: each field by its name */
    TV_JFR_LOSS,    /* an instant, and a diagnostic: the recorder lost events */
};

#define TV_JFR_SERIES_MAX 6

struct tv_jfr_event_kind {
    const char *name; /* name of the event; ends with '*': the beginning of the name */
    enum tv_jfr_role role;
    const char *weight; /* sample: field with its weight; NULL: each counts 1 */
    const char *unit;   /* unit of the weight; NULL: "count" */
    const char *more;   /* sample: field of a second value type, "<event>.<field>"; or NULL */
    const char *more_unit;
    const char *track; /* own track of its slices, for events without a thread; or NULL */
    const char *title; /* field that names a slice or, in a setting, the key; or NULL */
    const char *key;   /* counter: field that tells counters of the event apart; or NULL */
    const char *series[TV_JFR_SERIES_MAX]; /* counter: fields; a.b is a field of a struct */
};

/* Return what is known about events of a type; never NULL. */
const struct tv_jfr_event_kind *tv_jfr_event_kind(struct tv_bytes name);

#endif
