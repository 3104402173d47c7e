/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A row is walked from left to right.  `at` is a slice and `level` the pyramid level that is
 * tried there: an entry that begins at `at` and is no wider than a pixel is taken whole and
 * skipped; otherwise the level below is tried, and under level 0 the 16 slices one by one.  When
 * `at` reaches the beginning of an entry of the level above, that level is tried again.
 *
 *   level 1   [      whole      ][   too wide   ]
 *   level 0                      [whole][ wide  ][
 *   slices                               | | |
 */
#include <assert.h>
#include <string.h>

#include "analysis/timeline/density.h"
#include "base/memory.h"
#include "base/sort.h"

#define FAN TV_PYRAMID_FAN
#define LEAVES_A_BLOCK (TV_BLOCK_SLICES / FAN)

/* The current pixel: its calls are summed here before they are written. */
struct density_pixel {
    int64_t pixel;            /* -1: none */
    int64_t covered, longest; /* ticks */
    uint32_t which;           /* frame of the longest call, or its index if `is_slice` */
    bool is_slice;
};

struct density_walk {
    const struct tv_pyramid *pyramid;
    const struct tv_pyramid_row *row;
    struct tv_axis axis;
    uint32_t row_number, count;
    const uint32_t *path; /* path of the row's slices */
    int64_t from, end;    /* in ticks: of the first start inside, and of the first one after it */
    int64_t pixel;        /* in ticks: width of the widest entry that is taken whole */
    int64_t two_pixels;   /* in ticks: length of the shortest slice that is listed */
    tv_ns shift;          /* start in ticks * tick + shift = distance from the row's `from` */
    struct tv_density *density;
    struct density_pixel current;
    uint16_t slices[TV_TILE_PIXELS]; /* pixels whose `frame` is still the index of a slice */
    uint32_t slice_count;
};

/* Converts ticks to pixels; separate from the walk, so that loops keep it in registers. */
struct pixel_scale {
    int64_t tick;
    tv_ns shift;
    unsigned res;
};

static struct pixel_scale density_scale(const struct density_walk *walk)
{
    return (struct pixel_scale){walk->axis.tick, walk->shift, walk->density->res};
}

TV_INLINE int64_t density_pixel_at(struct pixel_scale scale, int64_t start)
{
    return (start * scale.tick + scale.shift) >> scale.res;
}

/* Write the current pixel to the density row. */
static void density_flush_pixel(struct density_walk *walk)
{
    const struct density_pixel *current = &walk->current;
    struct tv_density *density = walk->density;
    if (current->pixel < 0)
        return;
    density->covered[current->pixel] = current->covered * walk->axis.tick;
    density->longest[current->pixel] = current->longest * walk->axis.tick;
    density->frame[current->pixel] = current->which;
    walk->slices[walk->slice_count] = (uint16_t)current->pixel;
    walk->slice_count += current->is_slice;
    density->any = true;
}

/* Pixels come in ascending order. */
static TV_NOINLINE void density_put(struct density_walk *walk, int64_t pixel, int64_t covered,
                                    int64_t longest, uint32_t which, bool is_slice)
{
    assert(pixel >= walk->current.pixel && pixel < TV_TILE_PIXELS);
    struct density_pixel *current = &walk->current;
    if (pixel != current->pixel) {
        density_flush_pixel(walk);
        current->pixel = pixel;
        current->covered = covered;
    } else {
        current->covered += covered;
        if (longest <= current->longest)
            return;
    }
    current->longest = longest;
    current->which = which;
    current->is_slice = is_slice;
}

/* Replace the indices of slices by frames, all at once at the end: each takes two distant reads,
 * which need not wait for each other this way. */
static void density_name_slices(const struct density_walk *walk)
{
    uint32_t *frame = walk->density->frame;
    const uint32_t *frame_of = walk->pyramid->frame_of_path;
    for (uint32_t i = 0; i < walk->slice_count; i++)
        frame[walk->slices[i]] = walk->path[frame[walk->slices[i]]];
    for (uint32_t i = 0; i < walk->slice_count; i++)
        frame[walk->slices[i]] = frame_of[frame[walk->slices[i]]];
}

/* ---- Slices ---- */

static bool density_slice_is_wide(const struct density_walk *walk, uint32_t index)
{
    return walk->axis.blocks[index / TV_BLOCK_SLICES].wide != TV_NONE;
}

/* Read start and length of a slice in ticks. */
static void density_read_times(const struct density_walk *walk, uint32_t index, int64_t *start,
                               int64_t *length)
{
    const struct tv_axis *axis = &walk->axis;
    if (density_slice_is_wide(walk, index)) {
        struct tv_slice slice = tv_slice_get(walk->pyramid->trace, walk->row_number, index);
        *start = (slice.start - axis->offset) / axis->tick;
        *length = slice.length / axis->tick;
        return;
    }
    *start = tv_axis_unpack(axis, index / TV_BLOCK_SLICES, axis->start[index]);
    *length = axis->length[index];
}

/* List a call of two pixels or more. */
static TV_NOINLINE void density_add_long_call(struct density_walk *walk, uint32_t index)
{
    const struct tv_axis *axis = &walk->axis;
    struct tv_density *density = walk->density;
    int64_t start, length;
    density_read_times(walk, index, &start, &length);
    if (density->long_count < TV_DENSITY_CALLS)
        density->calls[density->long_count++] =
            (struct tv_long_call){start * axis->tick + axis->offset, length * axis->tick, index};
}

/* Add the slices [first, end) of any kind; false when one starts after the range. */
static bool density_put_any_slices(struct density_walk *walk, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        int64_t start, length;
        density_read_times(walk, i, &start, &length);
        if (start >= walk->end)
            return false;
        if (length >= walk->two_pixels)
            density_add_long_call(walk, i);
        else
            density_put(walk, density_pixel_at(density_scale(walk), start), length, length, i,
                        true);
    }
    return true;
}

/* Add packed slices [first, end) that are all shorter than two pixels and start within the range.
 * The longest of a pixel is the maximum of (length, first place) in one number, which needs no
 * branch. */
static TV_NOINLINE void density_put_short_slices(struct density_walk *walk, uint32_t first,
                                                 uint32_t end)
{
    assert(first < end && first / TV_BLOCK_SLICES == (end - 1) / TV_BLOCK_SLICES);
    const uint32_t *starts = walk->axis.start, *lengths = walk->axis.length;
    const uint32_t low = starts[first];
    const int64_t base = tv_axis_unpack(&walk->axis, first / TV_BLOCK_SLICES, low);
    const struct pixel_scale scale = density_scale(walk);
    int64_t pixel = density_pixel_at(scale, base);
    uint64_t covered = 0, longest = 0;
    for (uint32_t i = first; i < end; i++) {
        int64_t next = density_pixel_at(scale, base + (uint32_t)(starts[i] - low));
        uint64_t rank = (uint64_t)lengths[i] << 32 | (uint32_t)~i;
        if (next != pixel) {
            density_put(walk, pixel, (int64_t)covered, (int64_t)(longest >> 32), ~(uint32_t)longest,
                        true);
            pixel = next;
            covered = longest = 0;
        }
        covered += lengths[i];
        longest = rank > longest ? rank : longest;
    }
    density_put(walk, pixel, (int64_t)covered, (int64_t)(longest >> 32), ~(uint32_t)longest, true);
}

/* ---- Entries ---- */

static uint32_t density_entry_slices(unsigned level)
{
    return 1u << (4 * (level + 1));
}

static uint32_t density_level_size(const struct density_walk *walk, unsigned level)
{
    return tv_pyramid_level_size(walk->count, level);
}

static bool density_level_is_packed(const struct density_walk *walk, unsigned level)
{
    return level == 0 && !walk->row->wide;
}

static int64_t density_entry_start(const struct density_walk *walk, unsigned level, uint32_t index)
{
    if (index >= density_level_size(walk, level))
        return walk->row->end;
    uint64_t at = walk->row->first[level] + index;
    if (!density_level_is_packed(walk, level))
        return walk->pyramid->entries[at].start;
    return tv_axis_unpack(&walk->axis, index / LEAVES_A_BLOCK, walk->pyramid->packed[at].start);
}

/* Add the slices [first, end) of an entry of level 0; false when one starts after the range. */
static bool density_put_slices(struct density_walk *walk, uint32_t first, uint32_t end)
{
    uint32_t leaf = first / FAN;
    bool packed = density_level_is_packed(walk, 0) &&
                  walk->pyramid->packed[walk->row->first[0] + leaf].longest < walk->two_pixels;
    if (!packed || density_entry_start(walk, 0, leaf + 1) >= walk->end)
        return density_put_any_slices(walk, first, end);
    density_put_short_slices(walk, first, end);
    return true;
}

/* Add packed entries [index, end) of level 0 while they are no wider than a pixel and start
 * within the range.  Return the first that is not taken. */
static TV_NOINLINE uint32_t density_put_packed_entries(struct density_walk *walk, uint32_t index,
                                                       uint32_t end)
{
    const struct tv_packed_entry *entries = walk->pyramid->packed + walk->row->first[0];
    const struct pixel_scale scale = density_scale(walk);
    const int64_t base = tv_axis_unpack(&walk->axis, index / LEAVES_A_BLOCK, entries[index].start);
    const int64_t behind = density_entry_start(walk, 0, end), strip_end = walk->end,
                  widest = walk->pixel;
    const uint32_t low = entries[index].start; /* all of them are in one block */
    int64_t start = base, pixel = density_pixel_at(scale, start);
    uint64_t covered = 0, longest = 0;
    uint32_t longest_at = index;
    uint32_t first = index;
    for (; index < end; index++) {
        int64_t after =
            index + 1 < end ? base + (uint32_t)(entries[index + 1].start - low) : behind;
        if (start >= strip_end || after - start > widest)
            break;
        int64_t next = density_pixel_at(scale, start);
        if (next != pixel) {
            density_put(walk, pixel, (int64_t)covered, (int64_t)longest, entries[longest_at].frame,
                        false);
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
        density_put(walk, pixel, (int64_t)covered, (int64_t)longest, entries[longest_at].frame,
                    false);
    return index;
}

/* As above, for any level. */
static uint32_t density_put_entries(struct density_walk *walk, unsigned level, uint32_t index)
{
    uint32_t end = (index / FAN + 1) * FAN, size = density_level_size(walk, level);
    end = end < size ? end : size;
    if (density_level_is_packed(walk, level))
        return density_put_packed_entries(walk, index, end);
    const struct tv_pyramid_entry *entries = walk->pyramid->entries + walk->row->first[level];
    for (; index < end; index++) {
        const struct tv_pyramid_entry *e = &entries[index];
        if (e->start >= walk->end ||
            density_entry_start(walk, level, index + 1) - e->start > walk->pixel)
            break;
        density_put(walk, density_pixel_at(density_scale(walk), e->start), e->covered, e->longest,
                    e->frame, false);
    }
    return index;
}

/* Find the first slice that starts in or after the range.  This looks at few entries of each
 * level; a binary search of the column would touch a distant cache line per step. */
static uint32_t density_find_start(const struct density_walk *walk)
{
    uint32_t group = 0; /* of entries, then of slices */
    for (unsigned level = walk->row->levels; level-- > 0;) {
        uint32_t first = group * FAN, size = density_level_size(walk, level), before = 0;
        while (before < FAN && first + before < size &&
               density_entry_start(walk, level, first + before) < walk->from)
            before++;
        if (before == 0)
            return 0; /* at the top only: below, an entry begins with its first child */
        group = first + before - 1;
    }
    uint32_t at = group * FAN, end = walk->count - at < FAN ? walk->count : at + FAN;
    for (int64_t start, length; at < end; at++) {
        density_read_times(walk, at, &start, &length);
        if (start >= walk->from)
            break;
    }
    return at;
}

/* If an entry that begins before the range is taken whole and contains `at`, return the slice
 * after it; otherwise `at`. */
static uint32_t density_skip_taken(const struct density_walk *walk, uint32_t at)
{
    for (unsigned level = walk->row->levels; level-- > 0 && at < walk->count;) {
        uint32_t index = at / density_entry_slices(level);
        if (at % density_entry_slices(level) == 0)
            continue;
        if (density_entry_start(walk, level, index + 1) - density_entry_start(walk, level, index) >
            walk->pixel)
            continue;
        uint64_t end = ((uint64_t)index + 1) * density_entry_slices(level);
        return end < walk->count ? (uint32_t)end : walk->count;
    }
    return at;
}

/* Return the highest level that has an entry beginning at a slice. */
static int density_highest_level(const struct density_walk *walk, uint32_t at)
{
    int level = -1;
    while (level + 1 < walk->row->levels && at % density_entry_slices((unsigned)level + 1) == 0)
        level++;
    return level;
}

/* Walk the row from slice `at` to the end of the range. */
static void density_walk_row(struct density_walk *walk, uint32_t at)
{
    while (at < walk->count) {
        uint32_t before = at;
        for (int level = density_highest_level(walk, at); level >= 0 && at == before; level--) {
            uint32_t index = density_put_entries(walk, (unsigned)level,
                                                 at / density_entry_slices((unsigned)level));
            uint64_t reached = (uint64_t)index * density_entry_slices((unsigned)level);
            at = reached < walk->count ? (uint32_t)reached : walk->count;
        }
        if (at != before)
            continue;
        uint32_t left = FAN - at % FAN;
        uint32_t end = walk->count - at < left ? walk->count : at + left;
        if (!density_put_slices(walk, at, end))
            break;
        at = end;
    }
    density_flush_pixel(walk);
    density_name_slices(walk);
}

/* Only the call before the first one can start before the range and reach into it. */
static void density_put_reaching_call(struct density_walk *walk, uint32_t first)
{
    int64_t start, length;
    if (first == 0)
        return;
    density_read_times(walk, first - 1, &start, &length);
    tv_ns end = (start + length) * walk->axis.tick + walk->axis.offset;
    if (length >= walk->two_pixels && end > walk->density->from)
        density_add_long_call(walk, first - 1);
}

/* ceil(a / b) for b > 0. */
static int64_t density_divide_up(int64_t a, int64_t b)
{
    return a / b + (a % b > 0);
}

void tv_density_clear(struct tv_density *density, unsigned res, int64_t number)
{
    density->res = res;
    density->from = (tv_ns)((uint64_t)number * TV_TILE_PIXELS << res);
    density->any = false;
    density->long_count = 0;
    memset(density->covered, 0, sizeof density->covered);
    memset(density->longest, 0xff, sizeof density->longest); /* -1 */
    memset(density->frame, 0xff, sizeof density->frame);     /* TV_NONE */
}

void tv_density_of_row(const struct tv_pyramid *pyramid, uint32_t row, unsigned res, int64_t number,
                       struct tv_density *density)
{
    const struct tv_trace *trace = pyramid->trace;
    const struct tv_row *r = &trace->rows[row];
    tv_density_clear(density, res, number);
    if (r->count == 0)
        return;
    struct density_walk walk;
    walk.pyramid = pyramid;
    walk.row = &pyramid->rows[row];
    walk.row_number = row;
    walk.axis = tv_axis_of(trace, row);
    walk.count = r->count;
    walk.path = trace->columns[r->columns].path + r->first;
    walk.density = density;
    walk.pixel = ((tv_ns)1 << res) / walk.axis.tick;
    walk.two_pixels = density_divide_up((tv_ns)2 << res, walk.axis.tick);
    walk.from = density_divide_up(density->from - walk.axis.offset, walk.axis.tick);
    walk.end = density_divide_up(tv_density_end(density) - walk.axis.offset, walk.axis.tick);
    walk.shift = walk.axis.offset - density->from;
    walk.current.pixel = -1;
    walk.slice_count = 0;
    uint32_t first = density_find_start(&walk);
    density_put_reaching_call(&walk, first);
    density_walk_row(&walk, density_skip_taken(&walk, first));
}

void tv_density_add(struct tv_density *density, tv_ns start, int64_t length, uint32_t frame)
{
    assert(start >= density->from && start < tv_density_end(density));
    int64_t pixel = (start - density->from) >> density->res;
    density->any = true;
    density->covered[pixel] += length;
    if (length > density->longest[pixel]) {
        density->longest[pixel] = length;
        density->frame[pixel] = frame;
    }
}

struct activity_buckets {
    tv_ns from, to;
    uint32_t count;
    int64_t *covered; /* nanoseconds; -1: nothing */
};

/* Return the start of bucket i. */
static tv_ns activity_bucket_start(const struct activity_buckets *b, uint32_t i)
{
    tv_ns span = b->to - b->from;
    return b->from + span / b->count * i + span % b->count * i / b->count;
}

/* Return the bucket of a time in the range. */
static uint32_t activity_bucket(const struct activity_buckets *b, tv_ns time)
{
    uint32_t after = 1;
    TV_LOWER_BOUND(after, b->count, i, activity_bucket_start(b, i) <= time);
    return after - 1;
}

static void activity_cover(struct activity_buckets *b, uint32_t i, int64_t length)
{
    b->covered[i] = (b->covered[i] < 0 ? 0 : b->covered[i]) + length;
}

#define FURTHEST ((tv_ns)1 << 61)

/* Add [start, end) to the buckets that it touches. */
static void activity_cover_range(struct activity_buckets *b, tv_ns start, tv_ns end)
{
    start = start > b->from ? start : b->from;
    end = end < b->to ? end : b->to;
    if (start >= end)
        return;
    for (uint32_t i = activity_bucket(b, start); i < b->count && start < end; i++) {
        tv_ns stop = activity_bucket_start(b, i + 1) < end ? activity_bucket_start(b, i + 1) : end;
        activity_cover(b, i, stop - start);
        start = stop;
    }
}

/* Add a density row to the buckets. */
static void activity_add_density(struct activity_buckets *b, const struct tv_density *density)
{
    for (unsigned i = 0; density->any && i < TV_TILE_PIXELS; i++) {
        tv_ns at = density->from + ((tv_ns)i << density->res);
        if (density->longest[i] < 0)
            continue;
        at = at > b->from ? at : b->from;
        activity_cover(b, activity_bucket(b, at < b->to ? at : b->to - 1), density->covered[i]);
    }
    for (uint32_t i = 0; i < density->long_count; i++) {
        tv_ns start = density->calls[i].start, end = start + density->calls[i].length;
        tv_ns stop = tv_density_end(density);
        activity_cover_range(b, start > density->from ? start : density->from,
                             end < stop ? end : stop);
    }
}

/* Return the resolution with pixels of at most an eighth of a bucket: a short call is misplaced
 * by no more than that. */
static unsigned activity_resolution(tv_ns span, uint32_t buckets)
{
    unsigned res = 0;
    while (res < TV_MAX_RES && ((tv_ns)16 << res) <= span / buckets)
        res++;
    return res;
}

/* Return the height of a bucket, 0 to 255. */
static uint8_t activity_height(const struct activity_buckets *b, uint32_t i)
{
    int64_t covered = b->covered[i],
            width = activity_bucket_start(b, i + 1) - activity_bucket_start(b, i);
    if (covered < 0)
        return 0;
    if (covered >= width)
        return 255;
    int64_t value = (int64_t)((double)covered * 255 / (double)width + 0.5);
    return value < 1 ? 1 : (uint8_t)value;
}

void tv_activity_of_track(const struct tv_pyramid *pyramid, uint32_t track, tv_ns from, tv_ns to,
                          uint32_t buckets, uint8_t *heights)
{
    const struct tv_track *t = &pyramid->trace->tracks[track];
    memset(heights, 0, buckets);
    if (t->row_count == 0 || from >= to || buckets == 0)
        return;
    struct activity_buckets b = {from, to, buckets, tv_alloc(buckets, sizeof *b.covered)};
    memset(b.covered, 0xff, buckets * sizeof *b.covered);
    unsigned res = activity_resolution(to - from, buckets);
    tv_ns tile = (tv_ns)TV_TILE_PIXELS << res;
    struct tv_density density;
    /* Density rows are within 62 bits; hostile times beyond are not drawn. */
    tv_ns low = from > -FURTHEST ? from : -FURTHEST, high = to < FURTHEST ? to : FURTHEST;
    int64_t first = low / tile - (low % tile < 0);
    int64_t last = (high - 1) / tile - ((high - 1) % tile < 0);
    for (int64_t number = first; number <= last; number++) {
        tv_density_of_row(pyramid, t->first_row, res, number, &density);
        activity_add_density(&b, &density);
    }
    for (uint32_t i = 0; i < buckets; i++)
        heights[i] = activity_height(&b, i);
    tv_free(b.covered);
}
