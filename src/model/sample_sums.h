/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_sums.h - samples added up while they are read, instead of a row for each.
 *
 *     samples, 48 bytes each      main>parse 1   main>draw 1   main>parse 1 ...     millions
 *     sums, 32 bytes each         main>parse 2   main>draw 1                        stacks x types
 *
 * A table of functions or a flame graph of a whole profile needs only the sums.  A trace that was
 * read for them (tv_builder_sum_samples) has no time, thread or place of a single sample.
 */
#ifndef TV_MODEL_SAMPLE_SUMS_H
#define TV_MODEL_SAMPLE_SUMS_H

#include "base/map.h"

enum tv_sample_detail {
    TV_SAMPLES_SINGLE,   /* a row of tv_tables.samples for each sample */
    TV_SAMPLES_BY_STACK, /* a sum for each stack of functions */
    TV_SAMPLES_BY_LINES, /* a sum for each stack of functions with their sampled lines */
};

/* The samples of one stack and value type. */
struct tv_sample_sum {
    uint64_t samples;
    int64_t weight; /* saturates */
    uint32_t path;
    uint32_t type; /* in the value types */
    uint32_t next; /* row + 1 of another sum of this path, of one of the first types; 0: none */
};

struct tv_sample_sums {
    enum tv_sample_detail detail;
    struct tv_sample_sum *rows; /* in the order of the stacks' first samples */
    size_t count, capacity;
    uint32_t *of_path; /* by path: row + 1 of its first sum, 0 for none */
    size_t path_capacity;
    struct tv_map of_many; /* path << 32 | type -> row, for all types but the first few */
};

void tv_sample_sums_release(struct tv_sample_sums *sums);

/* Add samples, and the sum of their weights. */
void tv_sample_sums_add(struct tv_sample_sums *sums, uint32_t path, uint32_t type, uint64_t samples,
                        int64_t weight);

#endif
