/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flows are sorted by digits: the keys are whole numbers, and many of their digits are the same in
 * all of them, which costs nothing.  Over the times stands a tree of 64 children a node: what has
 * ended before a range is passed over in big steps.
 */
#include "view/flow_index.h"

#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)
#define CHILD_BITS 6

struct keyed {
    uint64_t key;
    uint32_t flow;
};

/* Stable. Returns whether the digit differs, so that `to` is the sorted one. */
static bool sort_digit(const struct keyed *from, struct keyed *to, uint32_t count, unsigned shift)
{
    uint32_t places[DIGITS] = {0};
    uint32_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        places[from[i].key >> shift & (DIGITS - 1)]++;
    if (places[from[0].key >> shift & (DIGITS - 1)] == count)
        return false;
    for (uint32_t digit = 0; digit < DIGITS; digit++) {
        uint32_t here = places[digit];
        places[digit] = sum;
        sum += here;
    }
    for (uint32_t i = 0; i < count; i++)
        to[places[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
    return true;
}

typedef uint64_t key_function(const struct tv_trace *trace, const struct tv_flow *flow);

/* The numbers of all flows by key, those of equal keys as they stand. */
static uint32_t *sorted_by(const struct tv_flow_index *index, key_function *key)
{
    const struct tv_flow *flows = index->trace->tables.flows.rows;
    struct keyed *items = tv_alloc(index->count, sizeof *items);
    struct keyed *spare = tv_alloc(index->count, sizeof *spare);
    uint32_t *order = tv_alloc(index->count, sizeof *order);
    for (uint32_t i = 0; i < index->count; i++)
        items[i] = (struct keyed){key(index->trace, &flows[i]), i};
    for (unsigned shift = 0; index->count > 0 && shift < 64; shift += DIGIT_BITS) {
        if (!sort_digit(items, spare, index->count, shift))
            continue;
        struct keyed *sorted = spare;
        spare = items;
        items = sorted;
    }
    for (uint32_t i = 0; i < index->count; i++)
        order[i] = items[i].flow;
    tv_free(items);
    tv_free(spare);
    return order;
}

static uint64_t end_key(const struct tv_flow_end *end)
{
    return (uint64_t)end->row << 32 | end->index;
}

static uint64_t from_key(const struct tv_trace *trace, const struct tv_flow *flow)
{
    (void)trace;
    return end_key(&flow->from);
}

static uint64_t to_key(const struct tv_trace *trace, const struct tv_flow *flow)
{
    (void)trace;
    return end_key(&flow->to);
}

static tv_ns start_of(const struct tv_trace *trace, const struct tv_flow *flow)
{
    tv_ns from = tv_flow_from(trace, flow), to = tv_flow_to(trace, flow);
    return from < to ? from : to;
}

static tv_ns end_of(const struct tv_trace *trace, const struct tv_flow *flow)
{
    tv_ns from = tv_flow_from(trace, flow), to = tv_flow_to(trace, flow);
    return from < to ? to : from;
}

/* In the order of signed numbers. */
static uint64_t start_key(const struct tv_trace *trace, const struct tv_flow *flow)
{
    return (uint64_t)start_of(trace, flow) ^ (uint64_t)1 << 63;
}

static tv_ns *greatest_of(const tv_ns *below, size_t count)
{
    size_t nodes = (count >> CHILD_BITS) + 1;
    tv_ns *above = tv_alloc(nodes, sizeof *above);
    for (size_t i = 0; i < nodes; i++)
        above[i] = INT64_MIN;
    for (size_t i = 0; i < count; i++)
        if (below[i] > above[i >> CHILD_BITS])
            above[i >> CHILD_BITS] = below[i];
    return above;
}

static void index_times(struct tv_flow_index *index)
{
    const struct tv_trace *trace = index->trace;
    size_t nodes = index->count;
    index->by_start = sorted_by(index, start_key);
    index->start = tv_alloc(index->count, sizeof *index->start);
    index->latest[0] = tv_alloc(index->count, sizeof *index->latest[0]);
    for (uint32_t i = 0; i < index->count; i++) {
        const struct tv_flow *flow = &trace->tables.flows.rows[index->by_start[i]];
        index->start[i] = start_of(trace, flow);
        index->latest[0][i] = end_of(trace, flow);
    }
    for (unsigned level = 1; level < TV_FLOW_LEVELS; level++) {
        index->latest[level] = greatest_of(index->latest[level - 1], nodes);
        nodes = (nodes >> CHILD_BITS) + 1;
    }
}

/* The next of a list with commas, without blanks around it; false at its end. */
static bool next_category(struct tv_bytes *list, struct tv_bytes *name)
{
    if (!list->data)
        return false;
    if (!tv_bytes_split(list, ',', name))
        list->data = NULL;
    while (name->length > 0 && name->data[0] == ' ')
        *name = (struct tv_bytes){name->data + 1, name->length - 1};
    while (name->length > 0 && name->data[name->length - 1] == ' ')
        name->length--;
    return true;
}

static struct tv_bytes category_list(const struct tv_trace *trace, uint32_t frame)
{
    struct tv_bytes list = tv_trace_info_text(trace->head, trace->head->frames[frame].category);
    return list.data ? list : TV_BYTES("");
}

/* How many flows each category has: of each frame first, for they are fewer than flows. */
static void count_categories(struct tv_flow_index *index)
{
    const struct tv_trace *trace = index->trace;
    uint64_t *of_frame = tv_alloc(trace->head->frame_count, sizeof *of_frame);
    size_t capacity = 0;
    index->names = tv_interner_new();
    for (uint32_t i = 0; i < index->count; i++)
        of_frame[trace->tables.flows.rows[i].frame]++;
    for (uint32_t frame = 0; frame < trace->head->frame_count; frame++) {
        struct tv_bytes list = category_list(trace, frame), name;
        while (of_frame[frame] > 0 && next_category(&list, &name)) {
            uint32_t number = tv_interner_add(index->names, name);
            uint32_t known = index->category_count;
            index->categories = tv_array_reserve(index->categories, &capacity, (size_t)number + 1,
                                                 sizeof *index->categories);
            for (; known <= number; known++)
                index->categories[known] =
                    (struct tv_flow_category){tv_interner_get(index->names, known), 0};
            index->category_count = known;
            index->categories[number].count += of_frame[frame];
        }
    }
    tv_free(of_frame);
}

struct tv_flow_index *tv_flow_index_new(const struct tv_trace *trace)
{
    struct tv_flow_index *index = tv_alloc(1, sizeof *index);
    index->trace = trace;
    tv_lock_init(&index->lock);
    return index;
}

void tv_flow_index_free(struct tv_flow_index *index)
{
    if (!index)
        return;
    tv_free(index->by_from);
    tv_free(index->by_to);
    tv_free(index->by_start);
    tv_free(index->start);
    for (unsigned level = 0; level < TV_FLOW_LEVELS; level++)
        tv_free(index->latest[level]);
    tv_interner_free(index->names);
    tv_free(index->categories);
    tv_lock_release(&index->lock);
    tv_free(index);
}

const struct tv_flow_index *tv_flow_index_get(struct tv_flow_index *index)
{
    tv_lock_enter(&index->lock);
    if (!index->made) {
        size_t count = index->trace->tables.flows.count;
        index->count = count < TV_NONE ? (uint32_t)count : TV_NONE - 1;
        index->by_from = sorted_by(index, from_key);
        index->by_to = sorted_by(index, to_key);
        index_times(index);
        count_categories(index);
        index->made = true;
    }
    tv_lock_leave(&index->lock);
    return index;
}

uint32_t tv_flow_index_at(const struct tv_flow_index *index, bool arriving, uint32_t row,
                          uint32_t slice)
{
    const struct tv_flow *flows = index->trace->tables.flows.rows;
    const uint32_t *order = arriving ? index->by_to : index->by_from;
    uint64_t wanted = end_key(&(struct tv_flow_end){0, row, slice});
    uint32_t low = 0, count = index->count;
    while (count > 0) {
        uint32_t half = count / 2;
        const struct tv_flow *flow = &flows[order[low + half]];
        if (end_key(arriving ? &flow->to : &flow->from) < wanted) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

/* How far may be gone from here without passing over one that ends at `from` or later: 0, or the
 * length of the longest part that begins here and has ended. */
static uint32_t ended(const struct tv_flow_index *index, uint32_t at, tv_ns from)
{
    for (unsigned level = TV_FLOW_LEVELS; level-- > 0;) {
        unsigned bits = level * CHILD_BITS;
        if ((at & ((UINT32_C(1) << bits) - 1)) == 0 && index->latest[level][at >> bits] < from)
            return UINT32_C(1) << bits;
    }
    return 0;
}

uint32_t tv_flow_walk_next(struct tv_flow_walk *walk)
{
    const struct tv_flow_index *index = walk->index;
    while (walk->next < index->count && index->start[walk->next] < walk->to) {
        uint32_t step = ended(index, walk->next, walk->from);
        if (step == 0)
            return index->by_start[walk->next++];
        /* The last part may be shorter than it could be. */
        walk->next = index->count - walk->next > step ? walk->next + step : index->count;
    }
    return TV_NONE;
}

bool tv_flow_index_category(const struct tv_flow_index *index, struct tv_bytes *list,
                            uint32_t *category)
{
    struct tv_bytes name;
    if (!next_category(list, &name))
        return false;
    *category = tv_interner_find(index->names, name);
    return true;
}
