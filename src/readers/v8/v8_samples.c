/* SPDX-License-Identifier: Apache-2.0 */
/* v8_samples.c - the order, stacks and lengths of the samples of a thread. */
#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "readers/v8/v8.h"

void tv_v8_samples_add(struct tv_v8_samples *samples, const struct tv_v8_sample *sample)
{
    samples->rows = tv_array_reserve(samples->rows, &samples->capacity, samples->count + 1,
                                     sizeof *samples->rows);
    samples->rows[samples->count++] = *sample;
}

void tv_v8_samples_release(struct tv_v8_samples *samples)
{
    tv_free(samples->rows);
    *samples = (struct tv_v8_samples){.rows = NULL};
}

static int v8_samples_compare(const void *left, const void *right)
{
    const struct tv_v8_sample *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Sort by time, as V8 may write a sample later than a younger one. */
static size_t v8_samples_sort(struct tv_v8_samples *samples)
{
    size_t late = 0;
    for (size_t i = 1; i < samples->count; i++)
        late += samples->rows[i].time < samples->rows[i - 1].time;
    if (late > 0)
        qsort(samples->rows, samples->count, sizeof *samples->rows, v8_samples_compare);
    return late;
}

/* In the file the collector is called by the root; really it interrupted the code before it. */
static void v8_samples_place_collector(struct tv_v8_samples *samples, struct tv_paths *paths)
{
    uint32_t path = TV_ROOT_PATH, line_path = TV_ROOT_PATH;
    for (size_t i = 0; i < samples->count; i++) {
        struct tv_v8_sample *sample = &samples->rows[i];
        if (sample->state == TV_V8_GC) {
            assert(sample->gc_frame != TV_NONE);
            sample->path = tv_paths_child(paths, path, sample->gc_frame);
            sample->line_path = line_path == path
                                    ? sample->path
                                    : tv_paths_child(paths, line_path, sample->gc_frame);
        } else {
            path = sample->state == TV_V8_IDLE ? TV_ROOT_PATH : sample->path;
            line_path = sample->state == TV_V8_IDLE ? TV_ROOT_PATH : sample->line_path;
        }
    }
}

size_t tv_v8_samples_finish(struct tv_v8_samples *samples, struct tv_paths *paths, int64_t end)
{
    size_t late = v8_samples_sort(samples), count = samples->count;
    v8_samples_place_collector(samples, paths);
    for (size_t i = 0; i + 1 < count; i++)
        samples->rows[i].length = samples->rows[i + 1].time - samples->rows[i].time;
    if (count > 0) {
        struct tv_v8_sample *last = &samples->rows[count - 1];
        if (end > last->time)
            last->length = end - last->time;
        else if (count > 1)
            last->length = (last->time - samples->rows[0].time) / (int64_t)(count - 1);
    }
    return late;
}
