/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reading.h - what the files that make a trace of sections share.
 *
 * For the files of this room alone.
 */
#ifndef TV_INDEX_READING_H
#define TV_INDEX_READING_H

#include "index/layout.h"

struct tv_index_reading {
    struct tv_trace *trace; /* with an empty head */
    struct tv_sections *sections;
    struct tv_index_lender *lender;
    const char *wrong; /* something that was; NULL: nothing yet */
};

/* The elements of a section that must be there, and at most as many as have 32-bit numbers; of none
 * a pointer as well. */
const void *tv_index_take(struct tv_index_reading *r, uint32_t tag, size_t size, uint32_t *count);

/* A copy of them in an array of their own. */
void *tv_index_copy(struct tv_index_reading *r, uint32_t tag, size_t size, uint32_t *count);

#define TV_INDEX_COPY(r, tag, array, count)                                                        \
    do {                                                                                           \
        tv_free(array);                                                                            \
        (array) = tv_index_copy(r, tag, sizeof *(array), count);                                   \
    } while (0)

/* Fills the trace's facts, sources and head. */
void tv_index_read_head(struct tv_index_reading *r);

#endif
