/* SPDX-License-Identifier: Apache-2.0 */
#include "model/sample_sums.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

void tv_sample_sums_release(struct tv_sample_sums *sums)
{
    tv_free(sums->rows);
    tv_free(sums->of_path);
    tv_map_release(&sums->of_many);
    *sums = (struct tv_sample_sums){.rows = NULL};
}

/* A path's sums of so many types are a list, which is quicker than a hash table; but a file can
 * have thousands of types. */
#define LISTED_TYPES 8

static struct tv_sample_sum *sample_sums_append(struct tv_sample_sums *sums,
                                                struct tv_sample_sum sum)
{
    if (sums->count >= TV_NONE - 1)
        tv_memory_exhausted();
    sums->rows = tv_array_reserve(sums->rows, &sums->capacity, sums->count + 1, sizeof *sums->rows);
    sums->rows[sums->count] = sum;
    return &sums->rows[sums->count++];
}

/* Return the sum of a path and a type, adding it if needed. */
static struct tv_sample_sum *sample_sums_find(struct tv_sample_sums *sums, uint32_t path,
                                              uint32_t type)
{
    struct tv_sample_sum added = {.path = path, .type = type};
    if (TV_UNLIKELY(type >= LISTED_TYPES)) {
        uint32_t row =
            tv_map_add(&sums->of_many, (uint64_t)path << 32 | type, (uint32_t)sums->count);
        return row < sums->count ? &sums->rows[row] : sample_sums_append(sums, added);
    }
    for (uint32_t at = sums->of_path[path]; at != 0; at = sums->rows[at - 1].next) {
        assert(sums->rows[at - 1].path == path);
        if (sums->rows[at - 1].type == type)
            return &sums->rows[at - 1];
    }
    added.next = sums->of_path[path];
    sums->of_path[path] = (uint32_t)sums->count + 1;
    return sample_sums_append(sums, added);
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
