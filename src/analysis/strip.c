/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A row is gone through from left to right.  `at` is a slice, `level` the level tried there: an
 * entry that begins at `at` and is no wider than a pixel is taken whole and skipped; else the level
 * below is tried, and under level 0 the 16 slices one by one.  Where `at` comes to the begin of an
 * entry of the level above, that level is tried again.
 */
#include "analysis/strip.h"

#include <string.h>

#define FAN TV_PYRAMID_FAN
#define LEAVES_A_BLOCK (TV_BLOCK_SLICES / FAN)

/* The pixel being filled: kept apart so that a run of calls in one pixel stays in registers. */
struct pen {
    int64_t pixel;            /* -1: none */
    int64_t covered, longest; /* ticks */
    uint32_t frame;           /* of the longest, or its path when `is_path` */
    bool is_path;
};

struct walk {
    const struct tv_pyramid *pyramid;
    const struct tv_pyramid_row *row;
    struct tv_axis axis;
    uint32_t row_number, count;
    const uint32_t *path; /* of the row's slices */
    int64_t from, end;    /* ticks: of the first start inside, and of the first behind */
    int64_t pixel;        /* ticks: the widest entry that is taken whole */
    int64_t two_pixels;   /* ticks: the shortest slice that is told by itself */
    tv_ns shift;          /* a start in ticks, times tick, plus this: from the strip's begin */
    struct tv_strip *strip;
    struct pen pen;
};

static TV_NOINLINE void lift(struct walk *walk)
{
    struct pen *pen = &walk->pen;
    struct tv_strip *strip = walk->strip;
    if (pen->pixel < 0)
        return;
    strip->covered[pen->pixel] += pen->covered * walk->axis.tick;
    strip->longest[pen->pixel] = pen->longest * walk->axis.tick;
    strip->frame[pen->pixel] =
        pen->is_path ? walk->pyramid->trace->paths.nodes[pen->frame].frame : pen->frame;
    strip->any = true;
}

TV_INLINE void put(struct walk *walk, int64_t start, int64_t covered, int64_t longest,
                   uint32_t frame, bool is_path)
{
    struct pen *pen = &walk->pen;
    int64_t pixel = (start * walk->axis.tick + walk->shift) >> walk->strip->res;
    if (pixel != pen->pixel) {
        lift(walk);
        *pen = (struct pen){pixel, covered, longest, frame, is_path};
        return;
    }
    pen->covered += covered;
    if (longest > pen->longest) {
        pen->longest = longest;
        pen->frame = frame;
        pen->is_path = is_path;
    }
}

static TV_NOINLINE void add_long(struct walk *walk, uint32_t index)
{
    struct tv_slice slice = tv_slice_get(walk->pyramid->trace, walk->row_number, index);
    struct tv_strip *strip = walk->strip;
    if (strip->long_count < TV_STRIP_LONG)
        strip->calls[strip->long_count++] = (struct tv_long_call){slice.start, slice.length, index};
}

static bool is_wide(const struct walk *walk, uint32_t index)
{
    return walk->axis.blocks[index / TV_BLOCK_SLICES].wide != TV_NONE;
}

/* Start and length of a slice, ticks. */
static void read_times(const struct walk *walk, uint32_t index, int64_t *start, int64_t *length)
{
    const struct tv_axis *axis = &walk->axis;
    if (is_wide(walk, index)) {
        struct tv_slice slice = tv_slice_get(walk->pyramid->trace, walk->row_number, index);
        *start = (slice.start - axis->offset) / axis->tick;
        *length = slice.length / axis->tick;
        return;
    }
    *start = tv_axis_unpack(axis, index / TV_BLOCK_SLICES, axis->start[index]);
    *length = axis->length[index];
}

TV_INLINE void put_slice(struct walk *walk, uint32_t index, int64_t start, int64_t length)
{
    if (length >= walk->two_pixels)
        add_long(walk, index);
    else
        put(walk, start, length, length, walk->path[index], true);
}

static bool put_wide_slices(struct walk *walk, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        int64_t start, length;
        read_times(walk, i, &start, &length);
        if (start >= walk->end)
            return false;
        put_slice(walk, i, start, length);
    }
    return true;
}

/* Slices [first, end) of one entry of level 0. False when one starts behind the strip. */
static bool put_slices(struct walk *walk, uint32_t first, uint32_t end)
{
    const struct tv_axis *axis = &walk->axis;
    if (TV_UNLIKELY(is_wide(walk, first)))
        return put_wide_slices(walk, first, end);
    int64_t base = tv_axis_unpack(axis, first / TV_BLOCK_SLICES, axis->start[first]);
    uint32_t low = axis->start[first];
    for (uint32_t i = first; i < end; i++) {
        int64_t start = base + (uint32_t)(axis->start[i] - low);
        if (start >= walk->end)
            return false;
        put_slice(walk, i, start, axis->length[i]);
    }
    return true;
}

/* --- Entries
 * ----------------------------------------------------------------------------------------- */

static uint32_t slices_of(unsigned level)
{
    return 1u << (4 * (level + 1));
}

static uint32_t level_size(const struct walk *walk, unsigned level)
{
    return tv_pyramid_level_size(walk->count, level);
}

static int64_t entry_start(const struct walk *walk, unsigned level, uint32_t index)
{
    if (index >= level_size(walk, level))
        return walk->row->end;
    uint64_t at = walk->row->first[level] + index;
    if (level > 0 || walk->row->wide)
        return walk->pyramid->entries[at].start;
    return tv_axis_unpack(&walk->axis, index / LEAVES_A_BLOCK, walk->pyramid->packed[at].start);
}

/* The entries of one level from `index` on that are no wider than a pixel, up to the end of their
 * parent. Returns the first that is not taken; *behind: it starts behind the strip. */
static uint32_t put_entries(struct walk *walk, unsigned level, uint32_t index, bool *behind)
{
    uint32_t end = (index / FAN + 1) * FAN, size = level_size(walk, level);
    int64_t start = entry_start(walk, level, index), next;
    bool packed = level == 0 && !walk->row->wide;
    end = end < size ? end : size;
    for (; index < end; index++, start = next) {
        next = entry_start(walk, level, index + 1);
        *behind = start >= walk->end;
        if (*behind || next - start > walk->pixel)
            return index;
        uint64_t at = walk->row->first[level] + index;
        if (packed) {
            const struct tv_packed_entry *e = &walk->pyramid->packed[at];
            put(walk, start, e->covered, e->longest, e->frame, false);
        } else {
            const struct tv_pyramid_entry *e = &walk->pyramid->entries[at];
            put(walk, start, e->covered, e->longest, e->frame, false);
        }
    }
    return index;
}

/* The first slice with a start inside the strip that is not in an entry that begins before it and
 * is taken whole. */
static uint32_t find_first(const struct walk *walk)
{
    uint32_t at = tv_row_find_start(walk->pyramid->trace, walk->row_number, walk->strip->from);
    for (unsigned level = walk->row->levels; level-- > 0 && at < walk->count;) {
        uint32_t index = at / slices_of(level);
        if (at % slices_of(level) == 0)
            continue;
        if (entry_start(walk, level, index + 1) - entry_start(walk, level, index) > walk->pixel)
            continue;
        uint64_t end = ((uint64_t)index + 1) * slices_of(level);
        return end < walk->count ? (uint32_t)end : walk->count;
    }
    return at;
}

/* The highest level that has an entry beginning at a slice. */
static int highest_level(const struct walk *walk, uint32_t at)
{
    int level = -1;
    while (level + 1 < walk->row->levels && at % slices_of((unsigned)level + 1) == 0)
        level++;
    return level;
}

static void go(struct walk *walk)
{
    uint32_t at = find_first(walk);
    while (at < walk->count) {
        uint32_t before = at;
        bool behind = false;
        for (int level = highest_level(walk, at); level >= 0 && at == before && !behind; level--) {
            uint32_t index =
                put_entries(walk, (unsigned)level, at / slices_of((unsigned)level), &behind);
            uint64_t reached = (uint64_t)index * slices_of((unsigned)level);
            at = reached < walk->count ? (uint32_t)reached : walk->count;
        }
        if (behind)
            break;
        if (at != before)
            continue;
        uint32_t end = (at / FAN + 1) * FAN;
        end = end > at && end < walk->count ? end : walk->count;
        if (!put_slices(walk, at, end))
            break;
        at = end;
    }
    lift(walk);
}

/* The call that started before the strip and reaches into it. */
static void put_reaching(struct walk *walk)
{
    const struct tv_trace *trace = walk->pyramid->trace;
    uint32_t first = tv_row_find(trace, walk->row_number, walk->strip->from);
    if (first == walk->count)
        return;
    struct tv_slice slice = tv_slice_get(trace, walk->row_number, first);
    if (slice.start < walk->strip->from && slice.length / 2 >= (tv_ns)1 << walk->strip->res)
        add_long(walk, first);
}

/* ceil(a / b) for b > 0. */
static int64_t divide_up(int64_t a, int64_t b)
{
    return a / b + (a % b > 0);
}

void tv_strip_clear(struct tv_strip *strip, unsigned res, int64_t number)
{
    strip->res = res;
    strip->from = (tv_ns)((uint64_t)number * TV_STRIP_PIXELS << res);
    strip->any = false;
    strip->long_count = 0;
    memset(strip->covered, 0, sizeof strip->covered);
    memset(strip->longest, 0xff, sizeof strip->longest); /* -1 */
    memset(strip->frame, 0xff, sizeof strip->frame);     /* TV_NONE */
}

void tv_strip_of_row(const struct tv_pyramid *pyramid, uint32_t row, unsigned res, int64_t number,
                     struct tv_strip *strip)
{
    const struct tv_trace *trace = pyramid->trace;
    const struct tv_row *r = &trace->rows[row];
    tv_strip_clear(strip, res, number);
    if (r->count == 0)
        return;
    struct walk walk = {.pyramid = pyramid, .row = &pyramid->rows[row], .row_number = row};
    walk.axis = tv_axis_of(trace, row);
    walk.count = r->count;
    walk.path = trace->columns[r->input].path + r->first;
    walk.strip = strip;
    walk.pixel = ((tv_ns)1 << res) / walk.axis.tick;
    walk.two_pixels = divide_up((tv_ns)2 << res, walk.axis.tick);
    walk.end = divide_up(tv_strip_end(strip) - walk.axis.offset, walk.axis.tick);
    walk.shift = walk.axis.offset - strip->from;
    walk.pen.pixel = -1;
    put_reaching(&walk);
    go(&walk);
}

void tv_strip_add(struct tv_strip *strip, tv_ns start, int64_t length, uint32_t frame)
{
    int64_t pixel = (start - strip->from) >> strip->res;
    strip->any = true;
    strip->covered[pixel] += length;
    if (length > strip->longest[pixel]) {
        strip->longest[pixel] = length;
        strip->frame[pixel] = frame;
    }
}

uint8_t tv_strip_height(const struct tv_strip *strip, unsigned pixel)
{
    int64_t whole = (int64_t)1 << strip->res, covered = strip->covered[pixel];
    if (strip->longest[pixel] < 0)
        return 0;
    if (covered >= whole)
        return 255;
    int64_t height = (covered * 255 + whole / 2) / whole;
    return height < 1 ? 1 : (uint8_t)height;
}
