/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_noise.c - effective numbers of calls, and a block bootstrap (call_noise.h).
 *
 * Many calls are first averaged in groups of neighbours for the bootstrap: that changes neither the
 * mean nor, with blocks of several groups, how uncertain it is.  Their effective number comes from
 * single calls, the first of them if there are many.
 */
#include "analysis/compare/call_noise.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

/* Maximum number of groups of calls. */
#define MAX_GROUPS ((size_t)2048)

/* Maximum number of calls whose effective number is computed; that of all is in proportion. */
#define MAX_SINGLE ((size_t)16384)

#define DRAWINGS ((size_t)1000)

/* Return the next number of a fixed sequence (splitmix64), so that equal input gives equal output.
 */
static uint64_t noise_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static double noise_mean(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum / (double)count;
}

/* Return the autocovariance of values, whose mean was subtracted, at a distance. */
static double noise_covariance(const double *values, size_t count, size_t distance)
{
    double sum = 0;
    for (size_t i = 0; i + distance < count; i++)
        sum += values[i] * values[i + distance];
    return sum / (double)count;
}

double tv_call_noise_effective(const double *values, size_t count)
{
    if (count < 2)
        return (double)count;
    double mean = noise_mean(values, count), sum = 0;
    double *centred = tv_alloc(count, sizeof *centred);
    for (size_t i = 0; i < count; i++)
        centred[i] = values[i] - mean;
    double variance = noise_covariance(centred, count, 0);
    for (size_t distance = 0; distance + 1 < count; distance += 2) {
        double pair = noise_covariance(centred, count, distance) +
                      noise_covariance(centred, count, distance + 1);
        if (!(pair > 0))
            break;
        sum += pair;
    }
    tv_free(centred);
    double of_mean = 2 * sum - variance; /* variance of the mean, times count */
    if (!(of_mean > variance))
        return (double)count; /* equal values, or calls that even each other out */
    return (double)count * variance / of_mean;
}

/* The calls of a side, in groups. */
struct noise_side {
    double *values;
    size_t count, block;
};

/* Average neighbours, and choose blocks of twice the calls that one independent one stands for. */
static void noise_side_init(struct noise_side *side, const tv_ns *lengths, size_t count)
{
    size_t group = (count + MAX_GROUPS - 1) / MAX_GROUPS;
    *side = (struct noise_side){.count = count / group};
    side->values = tv_alloc(side->count, sizeof *side->values);
    for (size_t i = 0; i < side->count; i++) {
        for (size_t k = 0; k < group; k++)
            side->values[i] += (double)lengths[i * group + k];
        side->values[i] /= (double)group;
    }
    double groups = tv_call_noise_effective(side->values, side->count);
    double block = ceil(2 * (double)side->count / groups);
    side->block = block < (double)side->count / 4 ? (size_t)block : side->count / 4;
    side->block = side->block > 0 ? side->block : 1;
}

/* Return as how many independent calls those of a side are as good. */
static double noise_effective_calls(const tv_ns *lengths, size_t count)
{
    size_t used = count < MAX_SINGLE ? count : MAX_SINGLE;
    double *values = tv_alloc(used, sizeof *values);
    for (size_t i = 0; i < used; i++)
        values[i] = (double)lengths[i];
    double effective = tv_call_noise_effective(values, used);
    tv_free(values);
    return effective * (double)count / (double)used;
}

/* Return the mean of blocks that were drawn. */
static double noise_draw(const struct noise_side *side, uint64_t *state)
{
    double sum = 0;
    for (size_t taken = 0; taken < side->count;) {
        size_t at = (size_t)(noise_next(state) % side->count);
        for (size_t k = 0; k < side->block && taken < side->count; k++, taken++) {
            sum += side->values[at];
            at = at + 1 < side->count ? at + 1 : 0;
        }
    }
    return sum / (double)side->count;
}

static int noise_compare(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Return the mean of all lengths. */
static double noise_mean_length(const tv_ns *lengths, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)lengths[i];
    return count > 0 ? sum / (double)count : (double)NAN;
}

void tv_call_noise_of(const tv_ns *const lengths[2], const size_t counts[2],
                      struct tv_call_noise *noise)
{
    struct noise_side sides[2];
    uint64_t state = 1;
    *noise = (struct tv_call_noise){.change = (double)NAN, .low = (double)NAN, .high = (double)NAN};
    for (size_t k = 0; k < 2; k++)
        noise->mean[k] = noise_mean_length(lengths[k], counts[k]);
    for (size_t k = 0; k < 2; k++)
        noise->effective[k] =
            counts[k] > 0 ? noise_effective_calls(lengths[k], counts[k]) : (double)NAN;
    if (counts[0] < TV_MIN_NOISE_CALLS || counts[1] < TV_MIN_NOISE_CALLS || !(noise->mean[0] > 0) ||
        !(noise->mean[1] > 0))
        return;
    for (size_t k = 0; k < 2; k++)
        noise_side_init(&sides[k], lengths[k], counts[k]);
    double *drawn = tv_alloc(DRAWINGS, sizeof *drawn);
    for (size_t i = 0; i < DRAWINGS; i++) {
        double base = noise_draw(&sides[0], &state);
        drawn[i] = noise_draw(&sides[1], &state) / (base > 0 ? base : noise->mean[0]) - 1;
    }
    qsort(drawn, DRAWINGS, sizeof *drawn, noise_compare);
    noise->change = noise->mean[1] / noise->mean[0] - 1;
    noise->low = drawn[DRAWINGS / 40];
    noise->high = drawn[DRAWINGS - 1 - DRAWINGS / 40];
    tv_free(drawn);
    tv_free(sides[0].values);
    tv_free(sides[1].values);
}
