/* SPDX-License-Identifier: Apache-2.0 */
/* The first free lane, by a tree of minima: a thousand overlapping slices need a thousand lanes,
 * and asking each of them each time would be quadratic. */
#include <string.h>

#include "base/memory.h"
#include "model/spans.h"

#define FIRST_LEAVES 8u

static void grow(struct tv_lanes *lanes)
{
    size_t leaves = lanes->leaves ? lanes->leaves * 2 : FIRST_LEAVES;
    int64_t *busy = tv_alloc(tv_size_mul(leaves, 2), sizeof *busy);
    for (size_t i = 0; i < leaves; i++)
        busy[leaves + i] = i < lanes->count ? lanes->busy[lanes->leaves + i] : INT64_MIN;
    for (size_t i = leaves - 1; i > 0; i--)
        busy[i] = busy[2 * i] < busy[2 * i + 1] ? busy[2 * i] : busy[2 * i + 1];
    tv_free(lanes->busy);
    lanes->busy = busy;
    lanes->leaves = leaves;
}

uint32_t tv_lanes_take(struct tv_lanes *lanes, int64_t start, int64_t end)
{
    if (lanes->leaves == 0 || lanes->busy[1] > start)
        grow(lanes);
    size_t node = 1;
    while (node < lanes->leaves)
        node = 2 * node + (lanes->busy[2 * node] > start);
    size_t lane = node - lanes->leaves;
    for (lanes->busy[node] = end; node > 1; node /= 2) {
        int64_t other = lanes->busy[node ^ 1];
        lanes->busy[node / 2] = lanes->busy[node] < other ? lanes->busy[node] : other;
    }
    if (lane >= lanes->count)
        lanes->count = lane + 1;
    return (uint32_t)lane;
}

void tv_lanes_release(struct tv_lanes *lanes)
{
    tv_free(lanes->busy);
    memset(lanes, 0, sizeof *lanes);
}
