/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.h - the events of a Trace Event file as they stand in it, for a visitor.
 */
#ifndef TV_READERS_TRACE_EVENT_RECORDS_H
#define TV_READERS_TRACE_EVENT_RECORDS_H

#include "readers/reader.h"
#include "readers/trace_event/fields.h"

struct tv_te_record {
    struct tv_te_fields *fields; /* for tv_te_fields_next too */
    struct tv_bytes text;        /* from '{' to '}', which alone may be missing */
    uint64_t offset;
    bool cut; /* the visitor says: something was nested too deep to be told */
};

/* A member of the outermost object that is not the list of events. */
struct tv_te_beside {
    struct tv_bytes key;     /* raw */
    struct tv_bytes text;    /* the value, raw; data NULL: it is longer than TV_TE_LONGEST_BESIDE */
    uint64_t offset, length; /* of the value */
    bool cut;                /* as that of a record */
};

/* As the longest event (list.c). */
#define TV_TE_LONGEST_BESIDE ((uint64_t)64 << 20)

/* The reader's `tell`. */
enum tv_status tv_te_records_tell(struct tv_source *source, struct tv_head *head,
                                  struct tv_record_visitor *visitor, struct tv_error *err) TV_MUST_CHECK;

#endif
