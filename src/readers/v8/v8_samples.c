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
void tv_v8_sample_place_collector(struct tv_v8_sample *sample, struct tv_v8_interrupted *before,
                                  struct tv_paths *paths)
{
    if (sample->state == TV_V8_GC) {
        assert(sample->gc_frame != TV_NONE);
        sample->path = tv_paths_child(paths, before->path, sample->gc_frame);
        sample->line_path = before->line_path == before->path
                                ? sample->path
                                : tv_paths_child(paths, before->line_path, sample->gc_frame);
    } else {
        before->path = sample->state == TV_V8_IDLE ? TV_ROOT_PATH : sample->path;
        before->line_path = sample->state == TV_V8_IDLE ? TV_ROOT_PATH : sample->line_path;
    }
}

void tv_v8_sample_end(struct tv_v8_sample *last, int64_t first, uint64_t count, int64_t end)
{
    if (end > last->time)
        last->length = end - last->time;
    else if (count > 1)
        last->length = (last->time - first) / (int64_t)(count - 1);
}

size_t tv_v8_samples_finish(struct tv_v8_samples *samples, struct tv_paths *paths, int64_t end)
{
    size_t late = v8_samples_sort(samples), count = samples->count;
    struct tv_v8_interrupted before = {TV_ROOT_PATH, TV_ROOT_PATH};
    for (size_t i = 0; i < count; i++)
        tv_v8_sample_place_collector(&samples->rows[i], &before, paths);
    for (size_t i = 0; i + 1 < count; i++)
        samples->rows[i].length = samples->rows[i + 1].time - samples->rows[i].time;
    if (count > 0)
        tv_v8_sample_end(&samples->rows[count - 1], samples->rows[0].time, count, end);
    return late;
}
