/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arrows of a range, of some categories or tracks: as many as a screen can show.
 *
 * Arrows from one pixel of a row to one pixel of a row are one.  Where there are too many of these
 * still, rows of a track are one as well, then 2, 4 ... 32 pixels; then those are left out whose
 * place gives a hash above a limit that falls.  So what is shown is spread over the range as the
 * arrows are, and does not depend on their order.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "model/trace.h"
#include "view/flow_index.h"
#include "view/state.h"

#define PIXEL_LIMIT 8192
#define ARROW_LIMIT 2000
#define PLACES 8192 /* of the hash table: a power of two, well above ARROW_LIMIT */

#define MOST_LOSS 6 /* 32 pixels */

/* Where an arrow begins and ends: rows or tracks (behind them all, threads: of instants), and
 * pixels from 1 (0: before the range, the window's pixels plus 1: behind it). */
struct key {
    uint32_t from, to, from_pixel, to_pixel;
};

struct arrow {
    struct key key;
    uint32_t flow; /* the first of them */
    uint64_t count;
};

struct joining {
    const struct tv_flow_index *index;
    struct tv_view_window window;
    bool *tracks;   /* [tracks] wanted at either end */
    bool *threads;  /* [threads] likewise, of instants */
    bool *frames;   /* [frames] wanted; NULL: all */
    unsigned loss;  /* 0: rows apart; from 1 on: rows of a track, 2^(loss - 1) pixels are one */
    uint64_t limit; /* hashes up to this are shown */
    uint64_t flows, left_out;
    uint32_t count;
    struct arrow arrows[ARROW_LIMIT];
    uint16_t places[PLACES]; /* index in arrows plus 1; 0: free */
};

static uint32_t pixel_of(const struct tv_view_window *window, tv_ns time)
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

/* What lies beyond the range is never one with what lies in it. */
static uint32_t coarse(const struct joining *joining, uint32_t pixel, unsigned bits)
{
    return pixel == 0 || pixel > joining->window.pixels ? pixel : 1 + ((pixel - 1) >> bits);
}

static bool same_key(const struct key *a, const struct key *b)
{
    return a->from == b->from && a->to == b->to && a->from_pixel == b->from_pixel &&
           a->to_pixel == b->to_pixel;
}

static uint64_t hash_of(const struct key *key)
{
    uint64_t hash = ((uint64_t)key->from << 32 | key->to) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 32;
    hash += (uint64_t)key->from_pixel << 32 | key->to_pixel;
    hash *= UINT64_C(0xd6e8feb86659fd93);
    hash ^= hash >> 32;
    return hash * UINT64_C(0xd6e8feb86659fd93);
}

/* The place of an arrow of that key, or the free one where it belongs. */
static uint16_t *find_place(struct joining *joining, const struct key *key, uint64_t hash)
{
    size_t at = (size_t)(hash >> 20) & (PLACES - 1);
    while (joining->places[at] > 0 && !same_key(&joining->arrows[joining->places[at] - 1].key, key))
        at = (at + 1) & (PLACES - 1);
    return &joining->places[at];
}

/* Adds an arrow to the one it falls together with, or as one of its own; false when there is no
 * room for that. */
static bool put(struct joining *joining, const struct arrow *arrow)
{
    uint64_t hash = hash_of(&arrow->key);
    if (hash > joining->limit) {
        joining->left_out += arrow->count;
        return true;
    }
    uint16_t *place = find_place(joining, &arrow->key, hash);
    if (*place > 0) {
        joining->arrows[*place - 1].count += arrow->count;
        return true;
    }
    if (joining->count == ARROW_LIMIT)
        return false;
    joining->arrows[joining->count++] = *arrow;
    *place = (uint16_t)joining->count;
    return true;
}

static void put_anew(struct joining *joining)
{
    uint32_t count = joining->count;
    joining->count = 0;
    memset(joining->places, 0, sizeof joining->places);
    /* None moves behind its old place, so none is overwritten before it is read. */
    for (uint32_t i = 0; i < count; i++) {
        struct arrow arrow = joining->arrows[i];
        (void)put(joining, &arrow);
    }
}

static uint32_t row_of(const struct tv_trace *trace, const struct tv_flow_end *end)
{
    return tv_flow_end_is_instant(end) ? trace->row_count + tv_flow_end_thread(trace, end)
                                       : end->row;
}

static uint32_t track_of(const struct tv_trace *trace, uint32_t row)
{
    return row < trace->row_count ? trace->rows[row].track
                                  : trace->track_count + (row - trace->row_count);
}

/* Makes room: joins what there is more coarsely, or leaves half of it out. */
static void coarsen(struct joining *joining)
{
    const struct tv_trace *trace = joining->index->trace;
    if (joining->loss == MOST_LOSS)
        joining->limit /= 2;
    else
        joining->loss++;
    for (uint32_t i = 0; i < joining->count && joining->limit == UINT64_MAX; i++) {
        struct key *key = &joining->arrows[i].key;
        unsigned bits = joining->loss > 1;
        if (joining->loss == 1) {
            key->from = track_of(trace, key->from);
            key->to = track_of(trace, key->to);
        }
        key->from_pixel = coarse(joining, key->from_pixel, bits);
        key->to_pixel = coarse(joining, key->to_pixel, bits);
    }
    put_anew(joining);
}

static struct key key_of(const struct joining *joining, const struct tv_flow *flow)
{
    const struct tv_trace *trace = joining->index->trace;
    unsigned bits = joining->loss > 1 ? joining->loss - 1 : 0;
    struct key key = {
        .from = row_of(trace, &flow->from),
        .to = row_of(trace, &flow->to),
        .from_pixel = coarse(joining, pixel_of(&joining->window, tv_flow_from(trace, flow)), bits),
        .to_pixel = coarse(joining, pixel_of(&joining->window, tv_flow_to(trace, flow)), bits),
    };
    if (joining->loss > 0) {
        key.from = track_of(trace, key.from);
        key.to = track_of(trace, key.to);
    }
    return key;
}

static bool is_wanted_end(const struct joining *joining, const struct tv_flow_end *end)
{
    const struct tv_trace *trace = joining->index->trace;
    uint32_t track = tv_flow_end_track(trace, end);
    return track == TV_NONE ? joining->threads[tv_flow_end_thread(trace, end)]
                            : joining->tracks[track];
}

static bool is_wanted(const struct joining *joining, const struct tv_flow *flow)
{
    return (!joining->frames || joining->frames[flow->frame]) &&
           (is_wanted_end(joining, &flow->from) || is_wanted_end(joining, &flow->to));
}

/* A thread without a track is wanted when all are. */
static bool *wanted_threads(const struct tv_view *view, const struct tv_selection *selection,
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

static void join(struct joining *joining)
{
    const struct tv_trace *trace = joining->index->trace;
    struct tv_flow_walk walk = {joining->index, joining->window.from, joining->window.to, 0};
    for (uint32_t number; (number = tv_flow_walk_next(&walk)) != TV_NONE;) {
        const struct tv_flow *flow = &trace->tables.flows.rows[number];
        if (!is_wanted(joining, flow))
            continue;
        struct arrow arrow = {key_of(joining, flow), number, 1};
        while (!put(joining, &arrow)) {
            coarsen(joining);
            arrow.key = key_of(joining, flow);
        }
        joining->flows++;
    }
}

static void write_arrows(struct tv_out *out, const struct joining *joining)
{
    tv_out_text(out, "{\"arrows\":[");
    for (uint32_t i = 0; i < joining->count; i++) {
        tv_out_text(out, i > 0 ? ",\n" : "");
        tv_view_write_flow(out, joining->index->trace, joining->arrows[i].flow);
        tv_out_text(out, ",\"count\":");
        tv_out_u64(out, joining->arrows[i].count);
        tv_out_char(out, '}');
    }
    tv_out_text(out, "],\"flows\":");
    tv_out_u64(out, joining->flows);
    tv_out_text(out, ",\"left_out\":");
    tv_out_u64(out, joining->left_out);
    tv_out_char(out, '}');
}

/* Which frames have one of the categories "0,3". */
static bool *frames_of(const struct tv_flow_index *index, const bool *categories)
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

static enum tv_status read_categories(const struct tv_parameters *parameters,
                                      struct joining *joining, struct tv_error *err)
{
    struct tv_bytes text = tv_parameter_text(parameters, "categories"), item;
    uint32_t count = joining->index->category_count;
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
    joining->frames = frames_of(joining->index, wanted);
    tv_free(wanted);
    return TV_OK;
}

enum tv_status tv_view_arrows(const struct tv_view *view, const struct tv_parameters *parameters,
                              struct tv_out *out, struct tv_error *err)
{
    const struct tv_trace *trace = view->trace;
    struct tv_selection selection;
    struct joining *joining = tv_alloc(1, sizeof *joining);
    joining->index = tv_flow_index_get(view->flows);
    joining->limit = UINT64_MAX;
    enum tv_status status =
        tv_parameter_window(parameters, trace, PIXEL_LIMIT, &joining->window, err);
    if (status == TV_OK)
        status = read_categories(parameters, joining, err);
    if (status == TV_OK)
        status = tv_parameter_selection(parameters, trace, &selection, err);
    if (status == TV_OK) {
        joining->tracks = tv_selection_wanted(trace, &selection);
        joining->threads = wanted_threads(view, &selection, joining->tracks);
        tv_parameter_release_selection(&selection);
        join(joining);
        write_arrows(out, joining);
    }
    tv_free(joining->tracks);
    tv_free(joining->threads);
    tv_free(joining->frames);
    tv_free(joining);
    return status;
}
