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

/* The pixel being filled: what falls into one pixel is summed here first. */
struct pen {
    int64_t pixel;            /* -1: none */
    int64_t covered, longest; /* ticks */
    uint32_t which;           /* frame of the longest, or its index when `is_slice` */
    bool is_slice;
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
    uint16_t slices[TV_STRIP_PIXELS]; /* pixels whose `frame` is the index of a slice */
    uint32_t slice_count;
};

/* What turns ticks into pixels, apart from the walk, so that a loop can keep it in registers. */
struct scale {
    int64_t tick;
    tv_ns shift;
    unsigned res;
};

static struct scale scale_of(const struct walk *walk)
{
    return (struct scale){walk->axis.tick, walk->shift, walk->strip->res};
}

TV_INLINE int64_t pixel_at(struct scale scale, int64_t start)
{
    return (start * scale.tick + scale.shift) >> scale.res;
}

static void lift(struct walk *walk)
{
    const struct pen *pen = &walk->pen;
    struct tv_strip *strip = walk->strip;
    if (pen->pixel < 0)
        return;
    strip->covered[pen->pixel] = pen->covered * walk->axis.tick;
    strip->longest[pen->pixel] = pen->longest * walk->axis.tick;
    strip->frame[pen->pixel] = pen->which;
    walk->slices[walk->slice_count] = (uint16_t)pen->pixel;
    walk->slice_count += pen->is_slice;
    strip->any = true;
}

/* Pixels come in ascending order. */
static TV_NOINLINE void put(struct walk *walk, int64_t pixel, int64_t covered, int64_t longest,
                            uint32_t which, bool is_slice)
{
    struct pen *pen = &walk->pen;
    if (pixel != pen->pixel) {
        lift(walk);
        pen->pixel = pixel;
        pen->covered = covered;
    } else {
        pen->covered += covered;
        if (longest <= pen->longest)
            return;
    }
    pen->longest = longest;
    pen->which = which;
    pen->is_slice = is_slice;
}

/* Frames for the indices of slices: at the end, all at once, for each is two far reads that need
 * not wait for those of the others. */
static void name_slices(const struct walk *walk)
{
    uint32_t *frame = walk->strip->frame;
    const uint32_t *frame_of = walk->pyramid->frame_of_path;
    for (uint32_t i = 0; i < walk->slice_count; i++)
        frame[walk->slices[i]] = walk->path[frame[walk->slices[i]]];
    for (uint32_t i = 0; i < walk->slice_count; i++)
        frame[walk->slices[i]] = frame_of[frame[walk->slices[i]]];
}

/* --- Slices
 * ------------------------------------------------------------------------------------------ */

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

static TV_NOINLINE void add_long(struct walk *walk, uint32_t index)
{
    const struct tv_axis *axis = &walk->axis;
    struct tv_strip *strip = walk->strip;
    int64_t start, length;
    read_times(walk, index, &start, &length);
    if (strip->long_count < TV_STRIP_LONG)
        strip->calls[strip->long_count++] =
            (struct tv_long_call){start * axis->tick + axis->offset, length * axis->tick, index};
}

/* Slices [first, end), whatever they are. False when one starts behind the strip. */
static bool put_any_slices(struct walk *walk, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        int64_t start, length;
        read_times(walk, i, &start, &length);
        if (start >= walk->end)
            return false;
        if (length >= walk->two_pixels)
            add_long(walk, i);
        else
            put(walk, pixel_at(scale_of(walk), start), length, length, i, true);
    }
    return true;
}

/* Packed slices [first, end), all shorter than two pixels and starting within the strip.  The
 * longest of a pixel is the largest of length and, of equals, first place in one number: no branch
 * to guess. */
static TV_NOINLINE void put_short_slices(struct walk *walk, uint32_t first, uint32_t end)
{
    const uint32_t *starts = walk->axis.start, *lengths = walk->axis.length;
    const uint32_t low = starts[first];
    const int64_t base = tv_axis_unpack(&walk->axis, first / TV_BLOCK_SLICES, low);
    const struct scale scale = scale_of(walk);
    int64_t pixel = pixel_at(scale, base);
    uint64_t covered = 0, longest = 0;
    for (uint32_t i = first; i < end; i++) {
        int64_t next = pixel_at(scale, base + (uint32_t)(starts[i] - low));
        uint64_t rank = (uint64_t)lengths[i] << 32 | (uint32_t)~i;
        if (next != pixel) {
            put(walk, pixel, (int64_t)covered, (int64_t)(longest >> 32), ~(uint32_t)longest, true);
            pixel = next;
            covered = longest = 0;
        }
        covered += lengths[i];
        longest = rank > longest ? rank : longest;
    }
    put(walk, pixel, (int64_t)covered, (int64_t)(longest >> 32), ~(uint32_t)longest, true);
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

static bool is_packed(const struct walk *walk, unsigned level)
{
    return level == 0 && !walk->row->wide;
}

static int64_t entry_start(const struct walk *walk, unsigned level, uint32_t index)
{
    if (index >= level_size(walk, level))
        return walk->row->end;
    uint64_t at = walk->row->first[level] + index;
    if (!is_packed(walk, level))
        return walk->pyramid->entries[at].start;
    return tv_axis_unpack(&walk->axis, index / LEAVES_A_BLOCK, walk->pyramid->packed[at].start);
}

/* The slices [first, end) of an entry of level 0. False when one starts behind the strip. */
static bool put_slices(struct walk *walk, uint32_t first, uint32_t end)
{
    uint32_t leaf = first / FAN;
    bool packed = is_packed(walk, 0) &&
                  walk->pyramid->packed[walk->row->first[0] + leaf].longest < walk->two_pixels;
    if (!packed || entry_start(walk, 0, leaf + 1) >= walk->end)
        return put_any_slices(walk, first, end);
    put_short_slices(walk, first, end);
    return true;
}

/* Entries [index, end) of level 0, packed, as far as they are no wider than a pixel and start
 * within the strip. Returns the first that is not taken. */
static TV_NOINLINE uint32_t put_packed_entries(struct walk *walk, uint32_t index, uint32_t end)
{
    const struct tv_packed_entry *entries = walk->pyramid->packed + walk->row->first[0];
    const struct scale scale = scale_of(walk);
    const int64_t base = tv_axis_unpack(&walk->axis, index / LEAVES_A_BLOCK, entries[index].start);
    const int64_t behind = entry_start(walk, 0, end), strip_end = walk->end, widest = walk->pixel;
    const uint32_t low = entries[index].start; /* all of them are in one block */
    int64_t start = base, pixel = pixel_at(scale, start);
    uint64_t covered = 0, longest = 0;
    uint32_t longest_at = index;
    uint32_t first = index;
    for (; index < end; index++) {
        int64_t after =
            index + 1 < end ? base + (uint32_t)(entries[index + 1].start - low) : behind;
        if (start >= strip_end || after - start > widest)
            break;
        int64_t next = pixel_at(scale, start);
        if (next != pixel) {
            put(walk, pixel, (int64_t)covered, (int64_t)longest, entries[longest_at].frame, false);
            pixel = next;
            covered = longest = 0;
            longest_at = first = index;
        }
        covered += entries[index].covered;
        bool longer = entries[index].longest > longest;
        longest = longer ? entries[index].longest : longest;
        longest_at = longer ? index : longest_at;
        start = after;
    }
    if (index > first)
        put(walk, pixel, (int64_t)covered, (int64_t)longest, entries[longest_at].frame, false);
    return index;
}

/* The same for any level. */
static uint32_t put_entries(struct walk *walk, unsigned level, uint32_t index)
{
    uint32_t end = (index / FAN + 1) * FAN, size = level_size(walk, level);
    end = end < size ? end : size;
    if (is_packed(walk, level))
        return put_packed_entries(walk, index, end);
    const struct tv_pyramid_entry *entries = walk->pyramid->entries + walk->row->first[level];
    for (; index < end; index++) {
        const struct tv_pyramid_entry *e = &entries[index];
        if (e->start >= walk->end || entry_start(walk, level, index + 1) - e->start > walk->pixel)
            break;
        put(walk, pixel_at(scale_of(walk), e->start), e->covered, e->longest, e->frame, false);
    }
    return index;
}

/* The first slice that starts at or after the strip's begin. Few entries of each level are looked
 * at, where a search through the column would touch a far place for each step. */
static uint32_t find_start(const struct walk *walk)
{
    uint32_t group = 0; /* of entries, then of slices */
    for (unsigned level = walk->row->levels; level-- > 0;) {
        uint32_t first = group * FAN, size = level_size(walk, level), before = 0;
        while (before < FAN && first + before < size &&
               entry_start(walk, level, first + before) < walk->from)
            before++;
        if (before == 0)
            return 0; /* at the top: below, an entry begins with its first child */
        group = first + before - 1;
    }
    uint32_t at = group * FAN, end = walk->count - at < FAN ? walk->count : at + FAN;
    for (int64_t start, length; at < end; at++) {
        read_times(walk, at, &start, &length);
        if (start >= walk->from)
            break;
    }
    return at;
}

/* Behind the entry around a slice that begins before the strip and is taken whole; the slice itself
 * when there is none. */
static uint32_t skip_taken(const struct walk *walk, uint32_t at)
{
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

static void go(struct walk *walk, uint32_t at)
{
    while (at < walk->count) {
        uint32_t before = at;
        for (int level = highest_level(walk, at); level >= 0 && at == before; level--) {
            uint32_t index = put_entries(walk, (unsigned)level, at / slices_of((unsigned)level));
            uint64_t reached = (uint64_t)index * slices_of((unsigned)level);
            at = reached < walk->count ? (uint32_t)reached : walk->count;
        }
        if (at != before)
            continue;
        uint32_t left = FAN - at % FAN;
        uint32_t end = walk->count - at < left ? walk->count : at + left;
        if (!put_slices(walk, at, end))
            break;
        at = end;
    }
    lift(walk);
    name_slices(walk);
}

/* The call that started before the strip and reaches into it can only be the one before its first.
 */
static void put_reaching(struct walk *walk, uint32_t first)
{
    int64_t start, length;
    if (first == 0)
        return;
    read_times(walk, first - 1, &start, &length);
    tv_ns end = (start + length) * walk->axis.tick + walk->axis.offset;
    if (length >= walk->two_pixels && end > walk->strip->from)
        add_long(walk, first - 1);
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
    struct walk walk;
    walk.pyramid = pyramid;
    walk.row = &pyramid->rows[row];
    walk.row_number = row;
    walk.axis = tv_axis_of(trace, row);
    walk.count = r->count;
    walk.path = trace->columns[r->columns].path + r->first;
    walk.strip = strip;
    walk.pixel = ((tv_ns)1 << res) / walk.axis.tick;
    walk.two_pixels = divide_up((tv_ns)2 << res, walk.axis.tick);
    walk.from = divide_up(strip->from - walk.axis.offset, walk.axis.tick);
    walk.end = divide_up(tv_strip_end(strip) - walk.axis.offset, walk.axis.tick);
    walk.shift = walk.axis.offset - strip->from;
    walk.pen.pixel = -1;
    walk.slice_count = 0;
    uint32_t first = find_start(&walk);
    put_reaching(&walk, first);
    go(&walk, skip_taken(&walk, first));
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
