/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/trace_event/split.h"

#include "base/memory.h"
#include "base/workers.h"

/* Smaller chunks are not worth a thread. */
#define SMALLEST_PART ((uint64_t)1 << 20)

/* The ceiling of chunks: each has tables of its own. */
#define MOST_PARTS 1024u

static void te_lists_free_chunk(struct tv_te_list *list)
{
    tv_te_list_release(list);
    tv_free(list);
}

void tv_te_lists_release(struct tv_te_lists *lists)
{
    for (size_t i = 0; i < lists->count; i++)
        te_lists_free_chunk(lists->rows[i]);
    tv_free(lists->rows);
}

static struct tv_te_list *te_lists_add_chunk(struct tv_te_lists *lists, struct tv_source *source,
                                   uint64_t start)
{
    struct tv_te_list *list = tv_alloc(1, sizeof *list);
    tv_te_list_init(list, source, start, UINT64_MAX);
    lists->rows =
        tv_array_reserve(lists->rows, &lists->capacity, lists->count + 1, sizeof *lists->rows);
    lists->rows[lists->count++] = list;
    return list;
}

static unsigned te_lists_count_chunks(const struct tv_read_options *options, uint64_t size)
{
    unsigned count = options->parts;
    if (count == 0) {
        count = tv_workers_available();
        if (count > size / SMALLEST_PART)
            count = (unsigned)(size / SMALLEST_PART);
    }
    return count < 1 ? 1 : count > MOST_PARTS ? MOST_PARTS : count;
}

/* Where chunk `index` of `count` begins, roughly. */
static uint64_t te_lists_rough_start(const struct tv_read_options *options, uint64_t start, uint64_t size,
                            unsigned index, unsigned count)
{
    if (options->part_starts)
        return options->part_starts[index - 1];
    return start + (size / count) * index;
}

/* Adds the chunks that a list is read in. */
static enum tv_status te_lists_plan(struct tv_te_lists *lists, struct tv_source *source, uint64_t start,
                           const struct tv_read_options *options, struct tv_error *err)
{
    struct tv_te_list *before = te_lists_add_chunk(lists, source, start);
    if (options->parts == 1) /* then nobody need know where the source ends */
        return TV_OK;
    uint64_t size = tv_source_size(source) - start, at = start;
    unsigned count = te_lists_count_chunks(options, size);
    struct tv_window window;
    enum tv_status status = TV_OK;
    tv_window_init(&window, source);
    for (unsigned i = 1; i < count && status == TV_OK; i++) {
        uint64_t from = te_lists_rough_start(options, start, size, i, count), found;
        if (from <= at)
            continue;
        status = tv_te_list_guess(&window, from, &found, err);
        if (status != TV_OK || found == TV_NO_OFFSET)
            break;
        if (found <= at)
            continue;
        at = before->end = found;
        before = te_lists_add_chunk(lists, source, found);
    }
    tv_window_release(&window);
    return status;
}

static void te_lists_read_worker(void *context, unsigned index)
{
    struct tv_te_list **rows = context;
    (void)tv_te_list_read(rows[index]);
}

/* Whether the next chunk begins where this one ended, and would have been read no differently. */
static bool te_lists_fit(const struct tv_te_list *list, const struct tv_te_list *next)
{
    return list->ended == TV_TE_LIST_REACHED && list->clean && list->at == next->start;
}

/* Keeps chunks while they fit; the first that does not reads on to the end. */
static enum tv_status te_lists_stitch(struct tv_te_lists *lists, size_t first, struct tv_error *err)
{
    size_t kept = first;
    enum tv_status status = lists->rows[kept]->status;
    while (status == TV_OK && kept + 1 < lists->count &&
           te_lists_fit(lists->rows[kept], lists->rows[kept + 1]))
        status = lists->rows[++kept]->status;
    for (size_t i = kept + 1; i < lists->count; i++)
        te_lists_free_chunk(lists->rows[i]);
    lists->count = kept + 1;
    struct tv_te_list *last = lists->rows[kept];
    if (status == TV_OK && last->ended == TV_TE_LIST_REACHED) {
        last->end = UINT64_MAX;
        status = tv_te_list_read(last);
    }
    if (status != TV_OK && err)
        *err = last->error;
    return status;
}

enum tv_status tv_te_lists_read(struct tv_te_lists *lists, struct tv_source *source, uint64_t start,
                                const struct tv_read_options *options,
                                const struct tv_te_list **last, struct tv_error *err)
{
    size_t first = lists->count;
    enum tv_status status = te_lists_plan(lists, source, start, options, err);
    if (status != TV_OK)
        return status;
    for (size_t i = first; i < lists->count; i++) {
        lists->rows[i]->lines = lists->lines;
        lists->rows[i]->copy = lists->copy;
        lists->rows[i]->progress = options->progress;
        if (options->progress)
            lists->rows[i]->chunk.sketching.sketch = options->progress->sketch;
    }
    tv_workers_run((unsigned)(lists->count - first), te_lists_read_worker, lists->rows + first);
    status = te_lists_stitch(lists, first, err);
    *last = lists->rows[lists->count - 1];
    return status;
}
