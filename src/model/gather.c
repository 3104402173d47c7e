/* SPDX-License-Identifier: Apache-2.0 */
/* What parts keep while an input is read: blocks of spans, one list a thread. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "model/spans.h"

/* Many threads have few spans, few have many.  The largest are 1 MiB: giving pages back interrupts
 * every processor that runs the program, so it must not happen too often. */
#define FIRST_BLOCK 16u
#define LARGEST_BLOCK 32767u

static size_t block_size(uint32_t capacity)
{
    return sizeof(struct tv_span_block) + capacity * sizeof(struct tv_span);
}

/* The large ones are pages, which go back to the system while threads are placed. */
void tv_span_block_free(struct tv_span_block *block)
{
    tv_pages_free(block, block_size(block->capacity));
}

struct tv_gather *tv_gather_new(void)
{
    return tv_alloc(1, sizeof(struct tv_gather));
}

static void free_blocks(struct tv_span_block *block)
{
    while (block) {
        struct tv_span_block *next = block->next;
        tv_span_block_free(block);
        block = next;
    }
}

void tv_gather_free(struct tv_gather *gather)
{
    if (!gather)
        return;
    for (size_t i = 0; i < gather->thread_count; i++)
        free_blocks(gather->threads[i].first);
    tv_free(gather->threads);
    tv_free(gather->cpu);
    tv_free(gather);
}

static TV_NOINLINE struct tv_span_block *add_block(struct tv_span_list *list)
{
    uint32_t capacity = list->last ? list->last->capacity * 2 : FIRST_BLOCK;
    if (capacity > LARGEST_BLOCK)
        capacity = LARGEST_BLOCK;
    struct tv_span_block *block = tv_pages_alloc(block_size(capacity));
    block->capacity = capacity;
    if (list->last)
        list->last->next = block;
    else
        list->first = block;
    list->last = block;
    return block;
}

static TV_NOINLINE void add_threads(struct tv_gather *gather, uint32_t thread)
{
    size_t count = (size_t)thread + 1;
    gather->threads =
        tv_array_reserve(gather->threads, &gather->thread_capacity, count, sizeof *gather->threads);
    memset(gather->threads + gather->thread_count, 0,
           (count - gather->thread_count) * sizeof *gather->threads);
    gather->thread_count = count;
}

void tv_gather_span(struct tv_gather *gather, uint32_t thread, const struct tv_span *span)
{
    if (TV_UNLIKELY(thread >= gather->thread_count))
        add_threads(gather, thread);
    if (span->frame >= gather->frame_count && !(span->flags & TV_SPAN_NAMELESS))
        gather->frame_count = (size_t)span->frame + 1;
    struct tv_span_list *list = &gather->threads[thread];
    struct tv_span_block *block = list->last;
    if (TV_UNLIKELY(!block || block->count == block->capacity))
        block = add_block(list);
    block->spans[block->count++] = *span;
    list->count++;
}

uint32_t tv_gather_cpu(struct tv_gather *gather, int64_t start, int64_t length)
{
    if (gather->cpu_count >= TV_NONE)
        tv_memory_exhausted();
    gather->cpu = tv_array_reserve(gather->cpu, &gather->cpu_capacity, gather->cpu_count + 1,
                                   sizeof *gather->cpu);
    gather->cpu[gather->cpu_count] = (struct tv_cpu_times){start, length};
    return (uint32_t)gather->cpu_count++;
}
