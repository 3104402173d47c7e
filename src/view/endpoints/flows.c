/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flows.c - flows: those at a slice, their categories, and arrows for a screen.
 *
 * A trace may have millions of flows.  The index sorts them three times, by
 * radix sort: the keys are integers, and digits that all of them share cost
 * nothing.
 *
 *     by_from, by_to   row and index of an end   --> the flows at a slice: a binary search
 *     by_start         the earlier of two times  --> the flows that touch a range: see below
 *
 * A flow touches [from, to) if it starts before `to` and ends at or after
 * `from`.  The starts are sorted, the ends are not.  A tree with 64 children
 * per node holds the latest end of each subtree, so that flows that ended
 * before a range are skipped in large steps:
 *
 *     latest[2]   |          max          |        ends before `from`: skip 4096 flows
 *     latest[1]   |  max  |  max  |  max  |        skip 64
 *     latest[0]   | | | | | | | | | | | | |        skip one, or return it
 */
#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/sort.h"
#include "model/trace.h"
#include "view/internal.h"

#define CHILD_BITS 6

typedef uint64_t flow_key_function(const struct tv_trace *trace, const struct tv_flow *flow);

/* Return the numbers of all flows sorted by key; equal keys stay in order. */
static uint32_t *flow_index_sort(const struct tv_flow_index *index, flow_key_function *key)
{
    const struct tv_flow *flows = index->trace->tables.flows.rows;
    struct tv_sort_key *keys = tv_alloc(index->count, sizeof *keys);
    uint32_t *order = tv_alloc(index->count, sizeof *order);
    for (uint32_t i = 0; i < index->count; i++)
        keys[i] = (struct tv_sort_key){key(index->trace, &flows[i]), i};
    tv_sort_keys(keys, index->count);
    for (uint32_t i = 0; i < index->count; i++)
        order[i] = (uint32_t)keys[i].index;
    tv_free(keys);
    return order;
}

/* Return the key of an end: its row, then its index. */
static uint64_t flow_end_key(const struct tv_flow_end *end)
{
    return (uint64_t)end->row << 32 | end->index;
}

static uint64_t flow_from_key(const struct tv_trace *trace, const struct tv_flow *flow)
{
    (void)trace;
    return flow_end_key(&flow->from);
}

static uint64_t flow_to_key(const struct tv_trace *trace, const struct tv_flow *flow)
{
    (void)trace;
    return flow_end_key(&flow->to);
}

/* Return the earlier time of a flow. */
static tv_ns flow_start(const struct tv_trace *trace, const struct tv_flow *flow)
{
    tv_ns from = tv_flow_from(trace, flow), to = tv_flow_to(trace, flow);
    return from < to ? from : to;
}

/* Return the later time of a flow. */
static tv_ns flow_end_time(const struct tv_trace *trace, const struct tv_flow *flow)
{
    tv_ns from = tv_flow_from(trace, flow), to = tv_flow_to(trace, flow);
    return from < to ? to : from;
}

static uint64_t flow_start_key(const struct tv_trace *trace, const struct tv_flow *flow)
{
    return tv_sort_signed(flow_start(trace, flow));
}

/* Compute the next level of maxima. */
static tv_ns *flow_index_maxima(const tv_ns *below, size_t count)
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

/* Sort the flows by start and build the tree of latest ends. */
static void flow_index_build_times(struct tv_flow_index *index)
{
    const struct tv_trace *trace = index->trace;
    size_t nodes = index->count;
    index->by_start = flow_index_sort(index, flow_start_key);
    index->start = tv_alloc(index->count, sizeof *index->start);
    index->latest[0] = tv_alloc(index->count, sizeof *index->latest[0]);
    for (uint32_t i = 0; i < index->count; i++) {
        const struct tv_flow *flow = &trace->tables.flows.rows[index->by_start[i]];
        index->start[i] = flow_start(trace, flow);
        index->latest[0][i] = flow_end_time(trace, flow);
    }
    for (unsigned level = 1; level < TV_FLOW_LEVELS; level++) {
        index->latest[level] = flow_index_maxima(index->latest[level - 1], nodes);
        nodes = (nodes >> CHILD_BITS) + 1;
    }
}

/* Take the next name off a comma-separated list, without blanks; false at the end. */
static bool flow_next_category(struct tv_bytes *list, struct tv_bytes *name)
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

/* Return the category list of a frame, never NULL. */
static struct tv_bytes flow_category_list(const struct tv_trace *trace, uint32_t frame)
{
    struct tv_bytes list = tv_trace_info_text(trace->head, trace->head->frames[frame].category);
    return list.data ? list : TV_BYTES("");
}

/* Count the flows of each category: first by frame, because there are fewer frames than flows. */
static void flow_index_count_categories(struct tv_flow_index *index)
{
    const struct tv_trace *trace = index->trace;
    uint64_t *of_frame = tv_alloc(trace->head->frame_count, sizeof *of_frame);
    size_t capacity = 0;
    index->names = tv_interner_new();
    for (uint32_t i = 0; i < index->count; i++)
        of_frame[trace->tables.flows.rows[i].frame]++;
    for (uint32_t frame = 0; frame < trace->head->frame_count; frame++) {
        struct tv_bytes list = flow_category_list(trace, frame), name;
        while (of_frame[frame] > 0 && flow_next_category(&list, &name)) {
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
        index->by_from = flow_index_sort(index, flow_from_key);
        index->by_to = flow_index_sort(index, flow_to_key);
        flow_index_build_times(index);
        flow_index_count_categories(index);
        index->made = true;
    }
    tv_lock_leave(&index->lock);
    return index;
}

static uint64_t flow_key_at(const struct tv_flow *flow, bool arriving)
{
    return flow_end_key(arriving ? &flow->to : &flow->from);
}

uint32_t tv_flow_index_at(const struct tv_flow_index *index, bool arriving, uint32_t row,
                          uint32_t slice)
{
    const struct tv_flow *flows = index->trace->tables.flows.rows;
    const uint32_t *order = arriving ? index->by_to : index->by_from;
    uint64_t wanted = flow_end_key(&(struct tv_flow_end){0, row, slice});
    uint32_t low = 0;
    TV_LOWER_BOUND(low, index->count, i, flow_key_at(&flows[order[i]], arriving) < wanted);
    return low;
}

/* Return how many flows to skip: 0, or the size of the largest subtree that begins here and ended
 * before `from`. */
static uint32_t flow_index_skip(const struct tv_flow_index *index, uint32_t at, tv_ns from)
{
    assert(at < index->count);
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
        uint32_t step = flow_index_skip(index, walk->next, walk->from);
        if (step == 0)
            return index->by_start[walk->next++];
        /* the last subtree may be incomplete */
        walk->next = index->count - walk->next > step ? walk->next + step : index->count;
    }
    return TV_NONE;
}

bool tv_flow_index_category(const struct tv_flow_index *index, struct tv_bytes *list,
                            uint32_t *category)
{
    struct tv_bytes name;
    if (!flow_next_category(list, &name))
        return false;
    *category = tv_interner_find(index->names, name);
    return true;
}

/* ---- Flows at a slice or instant, and their categories ----
 */

#define FLOW_LIMIT 200 /* in each direction */

/* Is an end at this slice or instant? */
static bool view_flow_is_at(const struct tv_flow_end *end, uint32_t row, uint32_t index)
{
    return end->row == row && end->index == index;
}

/* [row, index, time, track, frame]; for an instant [-1, number, time, -1, frame, thread] */
static void view_flow_write_end(struct tv_out *out, const struct tv_trace *trace, uint32_t input,
                                const struct tv_flow_end *end)
{
    bool is_instant = tv_flow_end_is_instant(end);
    tv_out_char(out, '[');
    tv_out_i64(out, is_instant ? -1 : (int64_t)end->row);
    tv_out_format(out, ",%u,", end->index);
    tv_out_i64(out, tv_trace_time(trace, input, end->time));
    tv_out_char(out, ',');
    tv_out_i64(out, is_instant ? -1 : (int64_t)tv_flow_end_track(trace, end));
    tv_out_format(out, ",%u", tv_flow_end_frame(trace, end));
    if (is_instant)
        tv_out_format(out, ",%u", tv_flow_end_thread(trace, end));
    tv_out_char(out, ']');
}

void tv_view_write_flow(struct tv_out *out, const struct tv_trace *trace, uint32_t number)
{
    const struct tv_flow *flow = &trace->tables.flows.rows[number];
    tv_out_format(out, "{\"flow\":%u,\"frame\":%u,\"id\":", number, flow->frame);
    tv_out_json(out, tv_trace_info_text(trace->head, flow->id));
    tv_out_text(out, ",\"from\":");
    view_flow_write_end(out, trace, flow->input, &flow->from);
    tv_out_text(out, ",\"to\":");
    view_flow_write_end(out, trace, flow->input, &flow->to);
}

/* Write the flows that arrive at or leave a slice or instant; return how many there are. */
static uint64_t view_flows_write(struct tv_out *out, const struct tv_flow_index *index,
                                 bool arriving, uint32_t row, uint32_t slice)
{
    const struct tv_trace *trace = index->trace;
    const uint32_t *order = arriving ? index->by_to : index->by_from;
    uint32_t first = tv_flow_index_at(index, arriving, row, slice), at = first;
    for (; at < index->count; at++) {
        const struct tv_flow *flow = &trace->tables.flows.rows[order[at]];
        if (!view_flow_is_at(arriving ? &flow->to : &flow->from, row, slice))
            break;
        if (at - first >= FLOW_LIMIT)
            continue;
        tv_out_text(out, at > first ? ",\n" : "");
        tv_view_write_flow(out, trace, order[at]);
        tv_out_char(out, '}');
    }
    return at - first;
}

/* Read the requested slice or instant; an instant has no row. */
static enum tv_status view_flows_read_place(const struct tv_parameters *parameters,
                                            const struct tv_trace *trace, struct tv_flow_end *place,
                                            struct tv_error *err)
{
    int64_t number = 0;
    if (!tv_parameter_text(parameters, "instant").data)
        return tv_parameter_slice(parameters, trace, &place->row, &place->index, err);
    enum tv_status status = tv_parameter_required(
        parameters, "instant",
        (struct tv_parameter_bounds){0, (int64_t)trace->tables.instants.count - 1}, &number, err);
    *place = (struct tv_flow_end){0, TV_NONE, (uint32_t)number};
    return status;
}

/* Answer api/flows: the flows at a slice or instant, at most FLOW_LIMIT in each
 * direction, and their numbers. */
enum tv_status tv_view_flows(const struct tv_view *view, const struct tv_parameters *parameters,
                             struct tv_out *out, struct tv_error *err)
{
    const struct tv_trace *trace = view->trace;
    struct tv_flow_end place;
    enum tv_status status = view_flows_read_place(parameters, trace, &place, err);
    if (status != TV_OK)
        return status;
    const struct tv_flow_index *flows = tv_flow_index_get(view->flows);
    tv_out_text(out, "{\"in\":[");
    uint64_t in = view_flows_write(out, flows, true, place.row, place.index);
    tv_out_text(out, "],\n\"out\":[");
    uint64_t away = view_flows_write(out, flows, false, place.row, place.index);
    tv_out_text(out, "],\"in_count\":");
    tv_out_u64(out, in);
    tv_out_text(out, ",\"out_count\":");
    tv_out_u64(out, away);
    tv_out_char(out, '}');
    return TV_OK;
}

/* Answer api/flow: one flow with its events. */
enum tv_status tv_view_flow(const struct tv_view *view, const struct tv_parameters *parameters,
                            struct tv_out *out, struct tv_error *err)
{
    const struct tv_trace *trace = view->trace;
    int64_t number;
    enum tv_status status = tv_parameter_required(
        parameters, "flow", (struct tv_parameter_bounds){0, (int64_t)trace->tables.flows.count - 1},
        &number, err);
    if (status != TV_OK)
        return status;
    const struct tv_flow *flow = &trace->tables.flows.rows[number];
    struct tv_view_event event = {flow->input, flow->frame, flow->offset, flow->end_offset};
    tv_view_write_flow(out, trace, (uint32_t)number);
    tv_view_write_event(out, trace, &event);
    tv_out_char(out, '}');
    return TV_OK;
}

/* Answer api/flow_categories: the categories with the numbers of their flows. */
enum tv_status tv_view_flow_categories(const struct tv_view *view,
                                       const struct tv_parameters *parameters, struct tv_out *out,
                                       struct tv_error *err)
{
    const struct tv_flow_index *flows = tv_flow_index_get(view->flows);
    (void)parameters, (void)err;
    tv_out_text(out, "{\"categories\":[");
    for (uint32_t i = 0; i < flows->category_count; i++) {
        tv_out_text(out, i > 0 ? ",\n[" : "[");
        tv_out_json(out, flows->categories[i].name);
        tv_out_char(out, ',');
        tv_out_u64(out, flows->categories[i].count);
        tv_out_char(out, ']');
    }
    tv_out_text(out, "]}");
    return TV_OK;
}

/* ---- Arrows: the flows of a range, as many as a screen can show ----
 *
 * Flows from one pixel of a row to one pixel of a row are one arrow.  If there are still too many,
 * rows of a track are merged, then 2, 4, ... 32 pixels.  After that, arrows whose place hashes
 * above a falling limit are left out.  The arrows shown are thus distributed over the range as all
 * of them are, independent of their order.
 */

#define PIXEL_LIMIT 8192
#define ARROW_LIMIT 2000
#define PLACES 8192 /* slots of the hash table: a power of two, well above ARROW_LIMIT */

#define MAX_LOSS 6 /* 32 pixels */

/* Begin and end of an arrow: rows or tracks (after all of them threads, for instants), and
 * pixels from 1 (0: before the range; pixels + 1: after it). */
struct arrow_key {
    uint32_t from, to, from_pixel, to_pixel;
};

/* One arrow on the screen: flows whose ends are in the same places. */
struct arrow {
    struct arrow_key key;
    uint32_t flow; /* the first one */
    uint64_t count;
};

struct arrow_set {
    const struct tv_flow_index *index;
    struct tv_view_window window;
    bool *tracks;   /* [tracks] wanted at either end */
    bool *threads;  /* [threads] likewise, for instants */
    bool *frames;   /* [frames] wanted; NULL: all */
    unsigned loss;  /* 0: rows are distinct; from 1 on: rows of a track are one, and 2^(loss - 1)
                       pixels are one */
    uint64_t limit; /* hashes up to this are shown */
    uint64_t flows, left_out;
    uint32_t count;
    struct arrow arrows[ARROW_LIMIT];
    uint16_t places[PLACES]; /* index in arrows + 1; 0: free */
};

/* Return the pixel of a time; see struct arrow_key. */
static uint32_t arrow_pixel(const struct tv_view_window *window, tv_ns time)
{
    if (time < window->from)
        return 0;
    if (time >= window->to)
        return (uint32_t)window->pixels + 1;
    double share =
        ((double)time - (double)window->from) / ((double)window->to - (double)window->from);
    uint32_t pixel = (uint32_t)(share * (double)window->pixels);
    return 1 + (pixel < (uint32_t)window->pixels ? pixel : (uint32_t)window->pixels - 1);
}

/* Positions beyond the range are never merged with positions in it. */
static uint32_t arrow_coarse_pixel(const struct arrow_set *set, uint32_t pixel, unsigned bits)
{
    return pixel == 0 || pixel > set->window.pixels ? pixel : 1 + ((pixel - 1) >> bits);
}

static bool arrow_same_key(const struct arrow_key *a, const struct arrow_key *b)
{
    return a->from == b->from && a->to == b->to && a->from_pixel == b->from_pixel &&
           a->to_pixel == b->to_pixel;
}

/* Hash both ends of an arrow. Ends are small numbers, so two rounds spread them. */
static uint64_t arrow_hash(const struct arrow_key *key)
{
    uint64_t hash = ((uint64_t)key->from << 32 | key->to) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 32;
    hash += (uint64_t)key->from_pixel << 32 | key->to_pixel;
    hash *= UINT64_C(0xd6e8feb86659fd93);
    hash ^= hash >> 32;
    return hash * UINT64_C(0xd6e8feb86659fd93);
}

/* Return the slot of an arrow with that key, or the free one for it. */
static uint16_t *arrow_find_slot(struct arrow_set *set, const struct arrow_key *key, uint64_t hash)
{
    size_t at = (size_t)(hash >> 20) & (PLACES - 1);
    while (set->places[at] > 0 && !arrow_same_key(&set->arrows[set->places[at] - 1].key, key))
        at = (at + 1) & (PLACES - 1);
    return &set->places[at];
}

/* Merge an arrow with the one of equal key, or add it; false if there is no room. */
static bool arrow_put(struct arrow_set *set, const struct arrow *arrow)
{
    assert(set->count <= ARROW_LIMIT);
    uint64_t hash = arrow_hash(&arrow->key);
    if (hash > set->limit) {
        set->left_out += arrow->count;
        return true;
    }
    uint16_t *place = arrow_find_slot(set, &arrow->key, hash);
    if (*place > 0) {
        set->arrows[*place - 1].count += arrow->count;
        return true;
    }
    if (set->count == ARROW_LIMIT)
        return false;
    set->arrows[set->count++] = *arrow;
    *place = (uint16_t)set->count;
    return true;
}

/* Rebuild the hash table after keys or the limit have changed. */
static void arrows_put_again(struct arrow_set *set)
{
    uint32_t count = set->count;
    set->count = 0;
    memset(set->places, 0, sizeof set->places);
    /* none moves after its old index, so none is overwritten before it is read */
    for (uint32_t i = 0; i < count; i++) {
        struct arrow arrow = set->arrows[i];
        (void)arrow_put(set, &arrow);
    }
}

/* Return the row of a flow end; threads of instants follow all rows. */
static uint32_t arrow_row(const struct tv_trace *trace, const struct tv_flow_end *end)
{
    return tv_flow_end_is_instant(end) ? trace->row_count + tv_flow_end_thread(trace, end)
                                       : end->row;
}

/* Return the track of such a row; threads follow all tracks. */
static uint32_t arrow_track(const struct tv_trace *trace, uint32_t row)
{
    return row < trace->row_count ? trace->rows[row].track
                                  : trace->track_count + (row - trace->row_count);
}

/* Make room: merge more coarsely, or leave out half of the arrows. */
static void arrows_coarsen(struct arrow_set *set)
{
    assert(set->loss <= MAX_LOSS);
    const struct tv_trace *trace = set->index->trace;
    if (set->loss == MAX_LOSS)
        set->limit /= 2;
    else
        set->loss++;
    for (uint32_t i = 0; i < set->count && set->limit == UINT64_MAX; i++) {
        struct arrow_key *key = &set->arrows[i].key;
        unsigned bits = set->loss > 1;
        if (set->loss == 1) {
            key->from = arrow_track(trace, key->from);
            key->to = arrow_track(trace, key->to);
        }
        key->from_pixel = arrow_coarse_pixel(set, key->from_pixel, bits);
        key->to_pixel = arrow_coarse_pixel(set, key->to_pixel, bits);
    }
    arrows_put_again(set);
}

/* Return the key of a flow at the current coarseness. */
static struct arrow_key arrow_make_key(const struct arrow_set *set, const struct tv_flow *flow)
{
    const struct tv_trace *trace = set->index->trace;
    unsigned bits = set->loss > 1 ? set->loss - 1 : 0;
    struct arrow_key key = {
        .from = arrow_row(trace, &flow->from),
        .to = arrow_row(trace, &flow->to),
        .from_pixel =
            arrow_coarse_pixel(set, arrow_pixel(&set->window, tv_flow_from(trace, flow)), bits),
        .to_pixel =
            arrow_coarse_pixel(set, arrow_pixel(&set->window, tv_flow_to(trace, flow)), bits),
    };
    if (set->loss > 0) {
        key.from = arrow_track(trace, key.from);
        key.to = arrow_track(trace, key.to);
    }
    return key;
}

/* Is an end on one of the chosen tracks? */
static bool arrow_end_is_wanted(const struct arrow_set *set, const struct tv_flow_end *end)
{
    const struct tv_trace *trace = set->index->trace;
    uint32_t track = tv_flow_end_track(trace, end);
    return track == TV_NONE ? set->threads[tv_flow_end_thread(trace, end)] : set->tracks[track];
}

/* Is a flow of a chosen category, with an end on a chosen track? */
static bool arrow_is_wanted(const struct arrow_set *set, const struct tv_flow *flow)
{
    return (!set->frames || set->frames[flow->frame]) &&
           (arrow_end_is_wanted(set, &flow->from) || arrow_end_is_wanted(set, &flow->to));
}

/* A thread without a track is wanted if all are. */
static bool *arrows_wanted_threads(const struct tv_view *view, const struct tv_selection *selection,
                                   const bool *tracks)
{
    uint32_t count = view->trace->head->thread_count;
    bool *wanted = tv_alloc(count, sizeof *wanted);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t track = view->thread_track[i];
        wanted[i] = selection->tracks == NULL || (track != TV_NONE && tracks[track]);
    }
    return wanted;
}

/* Merge all wanted flows of the window into arrows. */
static void arrows_collect(struct arrow_set *set)
{
    const struct tv_trace *trace = set->index->trace;
    struct tv_flow_walk walk = {set->index, set->window.from, set->window.to, 0};
    for (uint32_t number; (number = tv_flow_walk_next(&walk)) != TV_NONE;) {
        const struct tv_flow *flow = &trace->tables.flows.rows[number];
        if (!arrow_is_wanted(set, flow))
            continue;
        struct arrow arrow = {arrow_make_key(set, flow), number, 1};
        while (!arrow_put(set, &arrow)) {
            arrows_coarsen(set);
            arrow.key = arrow_make_key(set, flow);
        }
        set->flows++;
    }
}

/* Write the arrows, and how many flows they stand for. */
static void arrows_write(struct tv_out *out, const struct arrow_set *set)
{
    tv_out_text(out, "{\"arrows\":[");
    for (uint32_t i = 0; i < set->count; i++) {
        tv_out_text(out, i > 0 ? ",\n" : "");
        tv_view_write_flow(out, set->index->trace, set->arrows[i].flow);
        tv_out_text(out, ",\"count\":");
        tv_out_u64(out, set->arrows[i].count);
        tv_out_char(out, '}');
    }
    tv_out_text(out, "],\"flows\":");
    tv_out_u64(out, set->flows);
    tv_out_text(out, ",\"left_out\":");
    tv_out_u64(out, set->left_out);
    tv_out_char(out, '}');
}

/* Return [frames], true for frames that have one of the categories. */
static bool *arrows_frames(const struct tv_flow_index *index, const bool *categories)
{
    const struct tv_trace_info *head = index->trace->head;
    bool *frames = tv_alloc(head->frame_count, sizeof *frames);
    for (uint32_t frame = 0; frame < head->frame_count; frame++) {
        struct tv_bytes list = tv_trace_info_text(head, head->frames[frame].category);
        uint32_t category;
        while (tv_flow_index_category(index, &list, &category))
            if (category < index->category_count && categories[category])
                frames[frame] = true;
    }
    return frames;
}

/* Read the wanted categories. */
static enum tv_status arrows_read_categories(const struct tv_parameters *parameters,
                                             struct arrow_set *set, struct tv_error *err)
{
    struct tv_bytes text = tv_parameter_text(parameters, "categories"), item;
    uint32_t count = set->index->category_count;
    bool *wanted;
    uint64_t number = 0;
    if (!text.data)
        return TV_OK;
    wanted = tv_alloc(count, sizeof *wanted);
    while (text.length > 0) {
        tv_bytes_split(&text, ',', &item);
        if (!tv_parse_u64(item, &number) || number >= count) {
            tv_free(wanted);
            return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                           "categories: expected numbers below %u, with commas", count);
        }
        wanted[number] = true;
    }
    set->frames = arrows_frames(set->index, wanted);
    tv_free(wanted);
    return TV_OK;
}

/* Answer api/arrows: the flows that touch a range, merged. */
enum tv_status tv_view_arrows(const struct tv_view *view, const struct tv_parameters *parameters,
                              struct tv_out *out, struct tv_error *err)
{
    const struct tv_trace *trace = view->trace;
    struct tv_selection selection;
    struct arrow_set *set = tv_alloc(1, sizeof *set);
    set->index = tv_flow_index_get(view->flows);
    set->limit = UINT64_MAX;
    enum tv_status status = tv_parameter_window(parameters, trace, PIXEL_LIMIT, &set->window, err);
    if (status == TV_OK)
        status = arrows_read_categories(parameters, set, err);
    if (status == TV_OK)
        status = tv_parameter_selection(parameters, trace, &selection, err);
    if (status == TV_OK) {
        set->tracks = tv_selection_wanted(trace, &selection);
        set->threads = arrows_wanted_threads(view, &selection, set->tracks);
        tv_parameter_release_selection(&selection);
        arrows_collect(set);
        arrows_write(out, set);
    }
    tv_free(set->tracks);
    tv_free(set->threads);
    tv_free(set->frames);
    tv_free(set);
    return status;
}
