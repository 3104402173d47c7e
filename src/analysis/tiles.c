/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/tiles.h"

#include <string.h>

#include "base/memory.h"

void tv_tile_init(struct tv_tile *tile)
{
    memset(tile, 0, sizeof *tile);
}

void tv_tile_release(struct tv_tile *tile)
{
    tv_free(tile->slices);
    memset(tile, 0, sizeof *tile);
}

void tv_tile_add(struct tv_tile *tile, const struct tv_tile_slice *slice)
{
    tile->slices = tv_array_reserve(tile->slices, &tile->capacity, (size_t)tile->count + 1,
                                    sizeof *tile->slices);
    tile->slices[tile->count++] = *slice;
}

static void draw_row(const struct tv_pyramid *pyramid, const struct tv_tile_key *key,
                     struct tv_strip *strip, struct tv_tile *tile)
{
    const struct tv_row *row = &pyramid->trace->rows[key->of];
    const struct tv_columns *columns = &pyramid->trace->columns[row->columns];
    tv_strip_of_row(pyramid, key->of, key->res, key->number, strip);
    for (uint32_t i = 0; i < strip->long_count; i++) {
        const struct tv_long_call *call = &strip->calls[i];
        uint32_t frame = pyramid->frame_of_path[columns->path[row->first + call->index]];
        uint32_t flags = columns->flags[row->first + call->index] & ~(uint32_t)TV_SLICE_FIRST_CHILD;
        struct tv_tile_slice piece = {call->start, call->length, key->of,
                                      call->index, frame,        flags};
        tv_tile_add(tile, &piece);
    }
}

/* The first wait that ends after a time. */
static uint32_t find_wait(const struct tv_track *track, int64_t time)
{
    uint32_t low = 0, count = track->wait_count;
    while (count) {
        uint32_t half = count / 2;
        const struct tv_wait *wait = &track->waits[low + half];
        if (wait->start + wait->length <= time) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

static void draw_waits(const struct tv_trace *trace, const struct tv_tile_key *key,
                       struct tv_strip *strip, struct tv_tile *tile)
{
    const struct tv_track *track = &trace->tracks[key->of];
    int64_t tick = tv_track_tick(trace, key->of);
    tv_ns offset = trace->offset[track->input];
    tv_strip_clear(strip, key->res, key->number);
    tv_ns from = strip->from - offset, end = tv_strip_end(strip) - offset;
    for (uint32_t i = find_wait(track, from / tick - (from % tick < 0)); i < track->wait_count;
         i++) {
        const struct tv_wait *wait = &track->waits[i];
        tv_ns start = wait->start * tick, length = wait->length * tick;
        if (start >= end)
            break;
        uint32_t frame = trace->paths.nodes[wait->path].frame;
        struct tv_tile_slice piece = {start + offset, length, track->first_row + wait->depth, i,
                                      frame,          0};
        if (length / 2 < (tv_ns)1 << key->res && start >= from)
            tv_strip_add(strip, start + offset, length, frame);
        else if (length / 2 >= (tv_ns)1 << key->res && start + length > from)
            tv_tile_add(tile, &piece);
    }
}

static void set_strip(struct tv_tile *tile, const struct tv_strip *strip)
{
    tile->has_strip = strip->any;
    for (unsigned i = 0; strip->any && i < TV_STRIP_PIXELS; i++) {
        tile->height[i] = tv_strip_height(strip, i);
        tile->frame[i] = strip->frame[i];
    }
}

void tv_tile_draw(const struct tv_pyramid *pyramid, const struct tv_tile_key *key,
                  struct tv_tile *tile)
{
    struct tv_strip strip;
    tile->key = *key;
    tile->count = 0;
    switch (key->kind) {
    case TV_TILE_ROW:
        draw_row(pyramid, key, &strip, tile);
        break;
    case TV_TILE_INNERMOST:
        tv_tile_draw_innermost(pyramid, key, &strip, tile);
        break;
    case TV_TILE_WAITS:
        draw_waits(pyramid->trace, key, &strip, tile);
        break;
    }
    set_strip(tile, &strip);
}
