/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns.h - columns of a binary answer: the values of one field behind each other, little-endian,
 * padded to a multiple of 8, as the page's typed arrays take them.
 */
#ifndef TV_VIEW_COLUMNS_H
#define TV_VIEW_COLUMNS_H

#include "base/out.h"

/* Room for one column at a time. */
struct tv_column {
    uint32_t count;
    double *times;
    uint32_t *numbers; /* shares the memory of `times` */
};

struct tv_column tv_column_new(uint32_t count);
void tv_column_release(struct tv_column *column);

/* All of a column in the order of the page's bytes: float64 times; u32 numbers, padded to 8 bytes.
 */
void tv_column_write_times(struct tv_out *out, const struct tv_column *column);
void tv_column_write_numbers(struct tv_out *out, const struct tv_column *column);

/* Any numbers, not padded. */
void tv_column_write_u32(struct tv_out *out, const uint32_t *numbers, uint32_t count);

#endif
