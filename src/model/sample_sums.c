/* SPDX-License-Identifier: Apache-2.0 */
#include "model/sample_sums.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

void tv_sample_sums_release(struct tv_sample_sums *sums)
{
    tv_free(sums->rows);
    tv_free(sums->of_path);
    *sums = (struct tv_sample_sums){.rows = NULL};
}

/* Return the sum of a path and a type, adding it if needed. */
static struct tv_sample_sum *sample_sums_find(struct tv_sample_sums *sums, uint32_t path,
                                              uint32_t type)
{
    for (uint32_t at = sums->of_path[path]; at != 0; at = sums->rows[at - 1].next) {
        assert(sums->rows[at - 1].path == path);
        if (sums->rows[at - 1].type == type)
            return &sums->rows[at - 1];
    }
    if (sums->count >= TV_NONE - 1)
        tv_memory_exhausted();
    sums->rows = tv_array_reserve(sums->rows, &sums->capacity, sums->count + 1, sizeof *sums->rows);
    sums->rows[sums->count] =
        (struct tv_sample_sum){.path = path, .type = type, .next = sums->of_path[path]};
    sums->of_path[path] = (uint32_t)sums->count + 1;
    return &sums->rows[sums->count++];
}

void tv_sample_sums_add(struct tv_sample_sums *sums, uint32_t path, uint32_t type, uint64_t samples,
                        int64_t weight)
{
    assert(sums->detail != TV_SAMPLES_SINGLE);
    size_t before = sums->path_capacity;
    if (TV_UNLIKELY(path >= before)) {
        sums->of_path = tv_array_reserve(sums->of_path, &sums->path_capacity, (size_t)path + 1,
                                         sizeof *sums->of_path);
        memset(sums->of_path + before, 0, (sums->path_capacity - before) * sizeof *sums->of_path);
    }
    struct tv_sample_sum *sum = sample_sums_find(sums, path, type);
    sum->samples += samples;
    tv_time_add(&sum->weight, weight);
}
