/* SPDX-License-Identifier: Apache-2.0 */
/*
 * annotation_names.h - what the numbers in debug annotations, and in stack samples, stand for, when
 * an event is read again.
 *
 * A track event names its annotations, and texts in them, by numbers (iid).  Earlier packets of its
 * sequence say what a number means, until the sequence is cleared.  All of them are listed once for
 * a file, so that events can be described in any order at the cost of a few bisections each.
 */
#ifndef TV_READERS_PERFETTO_ANNOTATION_NAMES_H
#define TV_READERS_PERFETTO_ANNOTATION_NAMES_H

#include "base/error.h"
#include "base/map.h"
#include "base/source.h"

/* Numbers of the tables in InternedData.  The entries of the last three are messages. */
enum tv_pf_annotation_table {
    TV_PF_ANNOTATION_NAMES = 3,
    TV_PF_ANNOTATION_TEXTS = 29,
    TV_PF_ANNOTATION_TASKS = 48,
    TV_PF_ANNOTATION_EXECUTIONS = 49,
    TV_PF_ANNOTATION_ASYNCS = 51,
    TV_PF_ANNOTATION_DEFAULTS = 256, /* no table: the StackSampleDefaults of a sequence */
};

/* A number and its text or message, from a packet on. */
struct tv_pf_annotation_name {
    uint64_t iid;
    uint64_t offset; /* offset of the packet */
    uint32_t sequence;
    uint32_t table;
    uint32_t text; /* in `texts` */
};

/* A packet from which on the numbers of a sequence are new. */
struct tv_pf_sequence_start {
    uint64_t offset;
    uint32_t sequence;
};

/* The annotation names of one file.  A list of zeros is ready for use; only one thread may use it
 * at a time. */
struct tv_pf_annotation_list {
    struct tv_source *source; /* referenced; NULL: no file yet */
    struct tv_interner *texts;
    struct tv_pf_annotation_name *names; /* sorted by sequence, table, iid, offset */
    size_t name_count, name_capacity;
    struct tv_pf_sequence_start *starts; /* sorted by sequence, offset */
    size_t start_count, start_capacity;
};

/* Read the list of a file, unless it is the one that is there. */
enum tv_status tv_pf_annotation_list_open(struct tv_pf_annotation_list *list,
                                          struct tv_source *source,
                                          struct tv_error *err) TV_MUST_CHECK;

/* Find the text of a number at a packet of a sequence.  False: nothing says what it means. */
bool tv_pf_annotation_list_find(const struct tv_pf_annotation_list *list, uint32_t sequence,
                                enum tv_pf_annotation_table table, uint64_t iid, uint64_t offset,
                                struct tv_bytes *text);

/* Return the StackSampleDefaults at a packet of a sequence; empty: there are none. */
struct tv_bytes tv_pf_annotation_list_defaults(const struct tv_pf_annotation_list *list,
                                               uint32_t sequence, uint64_t offset);

void tv_pf_annotation_list_release(struct tv_pf_annotation_list *list);

#endif
