/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tiles beside what decision P3 says of them, written down again in the plainest way: over decoded
 * slices, an entry found by looking at all its slices, a density by asking for every call in which
 * pixel it counts.
 */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/timeline/tiles.h"

#include "base/memory.h"
#include "fixture.h"

struct flat {
    tv_ns start, end;
    uint32_t frame;
};

static struct flat *decode_row(const struct tv_trace *trace, uint32_t row)
{
    uint32_t count = trace->rows[row].count;
    struct flat *flat = tv_alloc(count, sizeof *flat);
    for (uint32_t i = 0; i < count; i++) {
        struct tv_slice slice = tv_slice_get(trace, row, i);
        flat[i] = (struct flat){slice.start, slice.start + slice.length,
                                trace->paths.nodes[slice.path].frame};
    }
    return flat;
}

/* The first slice of the widest entry around a slice that is no wider than a pixel; the slice
 * itself when there is none. */
static uint32_t leader(const struct flat *flat, uint32_t count, uint32_t i, tv_ns pixel)
{
    for (uint64_t size = (uint64_t)1 << 28; size >= 16; size /= 16) {
        uint64_t first = i / size * size, next = first + size;
        if (size > 16 && count <= size) /* no such level: below it are at most 16 entries */
            continue;
        tv_ns end = next < count ? flat[next].start : flat[count - 1].end;
        if (end - flat[first].start <= pixel)
            return (uint32_t)first;
    }
    return i;
}

static void expect_strip(const struct flat *flat, uint32_t count, unsigned res, int64_t number,
                         struct tv_density *density)
{
    tv_ns pixel = (tv_ns)1 << res;
    tv_density_clear(density, res, number);
    for (uint32_t i = 0; i < count; i++) {
        tv_ns length = flat[i].end - flat[i].start;
        if (length >= 2 * pixel) {
            if (flat[i].end > density->from && flat[i].start < tv_density_end(density))
                density->calls[density->long_count++] =
                    (struct tv_long_call){flat[i].start, length, i};
            continue;
        }
        tv_ns at = flat[leader(flat, count, i, pixel)].start;
        if (at >= density->from && at < tv_density_end(density))
            tv_density_add(density, at, length, flat[i].frame);
    }
}

static void assert_strips_equal(const struct tv_density *a, const struct tv_density *b)
{
    assert_int_equal(a->any, b->any);
    assert_int_equal(a->long_count, b->long_count);
    for (uint32_t i = 0; i < a->long_count; i++) {
        assert_int_equal(a->calls[i].start, b->calls[i].start);
        assert_int_equal(a->calls[i].length, b->calls[i].length);
        assert_int_equal(a->calls[i].index, b->calls[i].index);
    }
    for (unsigned i = 0; i < TV_TILE_PIXELS; i++) {
        assert_int_equal(a->covered[i], b->covered[i]);
        assert_int_equal(a->longest[i], b->longest[i]);
        assert_int_equal(a->frame[i], b->frame[i]);
    }
}

static const struct fixture_dice dice[] = {
    {41, 2, 5, 6, 3000, TV_CLOCK_WALL | TV_CLOCK_CPU, 1000, 0, 1, false},
    {42, 1, 3, 1, 9000, TV_CLOCK_WALL, 1, 5000, 2, true}, /* one row with three levels */
    {43, 2, 3, 9, 2000, TV_CLOCK_CPU, 1000, 300, 1, false},
    {46, 9, 3, 2, 700, TV_CLOCK_WALL, 1000, 60000, 1, true},      /* rows of one entry or two */
    {47, 1, 2, 1, 12000, TV_CLOCK_WALL, 1, 210000000, 1, true},   /* some blocks of 64 bits */
    {44, 1, 3, 2, 4000, TV_CLOCK_WALL, 1, 90000000000, 1, false}, /* blocks of 64 bits */
};

static void compare_row(const struct tv_pyramid *pyramid, uint32_t row, unsigned res)
{
    const struct tv_trace *trace = pyramid->trace;
    struct flat *flat = decode_row(trace, row);
    struct tv_density *strips = tv_alloc(2, sizeof *strips);
    tv_ns tile = (tv_ns)TV_TILE_PIXELS << res;
    int64_t first = trace->start / tile - 1, last = trace->end / tile + 1;
    int64_t step = (last - first) / 50 + 1;
    for (int64_t number = first; number <= last; number += step) {
        tv_density_of_row(pyramid, row, res, number, &strips[0]);
        expect_strip(flat, trace->rows[row].count, res, number, &strips[1]);
        assert_strips_equal(&strips[0], &strips[1]);
    }
    tv_free(strips);
    tv_free(flat);
}

static void random_strips_equal_the_reference(void **state)
{
    (void)state;
    for (size_t k = 0; k < TV_COUNT(dice); k++) {
        struct fixture f = fixture_random(&dice[k]);
        for (unsigned workers = 1; workers <= 3; workers += 2) {
            struct tv_pyramid *pyramid = tv_pyramid_new(f.trace, workers);
            for (uint32_t row = 0; row < f.trace->row_count; row += 1 + row / 16)
                for (unsigned res = 0; res <= 45; res++)
                    compare_row(pyramid, row, res);
            tv_pyramid_free(pyramid);
        }
        fixture_free(&f);
    }
}

/* A source's clock may be moved against the others': the same slices at other times. */
static void moved_clocks_move_the_strips(void **state)
{
    (void)state;
    struct fixture f = fixture_random(&dice[0]);
    struct tv_pyramid *pyramid = tv_pyramid_new(f.trace, 1); /* made before: it need not know */
    const tv_ns offsets[] = {-7000001, 123456789};
    for (size_t i = 0; i < TV_COUNT(offsets); i++) {
        f.trace->offset[0] = offsets[i];
        for (uint32_t row = 0; row < f.trace->row_count; row += 3)
            for (unsigned res = 3; res < 40; res += 3)
                compare_row(pyramid, row, res);
    }
    tv_pyramid_free(pyramid);
    fixture_free(&f);
}

/* However it is cut into tiles, all time of short calls is there, at most a pixel too early. */
static void tiles_side_by_side_hold_every_call_once(void **state)
{
    (void)state;
    struct fixture f = fixture_random(&dice[1]);
    struct tv_pyramid *pyramid = tv_pyramid_new(f.trace, 1);
    struct flat *flat = decode_row(f.trace, 0);
    const unsigned res = 9;
    const tv_ns pixel = (tv_ns)1 << res;
    struct tv_density density;
    int64_t ours = 0, here = 0, next = 0;
    uint32_t at_here = 0, at_next = 0, count = f.trace->rows[0].count;
    for (int64_t number = 0; number * TV_TILE_PIXELS * pixel <= f.trace->end; number++) {
        tv_density_of_row(pyramid, 0, res, number, &density);
        for (unsigned i = 0; i < TV_TILE_PIXELS; i++) {
            tv_ns end = density.from + (i + 1) * pixel;
            for (; at_here < count && flat[at_here].start < end; at_here++)
                here += flat[at_here].end - flat[at_here].start < 2 * pixel
                            ? flat[at_here].end - flat[at_here].start
                            : 0;
            for (; at_next < count && flat[at_next].start < end + pixel; at_next++)
                next += flat[at_next].end - flat[at_next].start < 2 * pixel
                            ? flat[at_next].end - flat[at_next].start
                            : 0;
            ours += density.covered[i];
            assert_in_range(ours, here, next);
        }
    }
    assert_true(here > 0);
    assert_int_equal(ours, here);
    tv_free(flat);
    tv_pyramid_free(pyramid);
    fixture_free(&f);
}

static void pyramid_is_small(void **state)
{
    (void)state;
    const struct fixture_dice one_row = {45, 1, 3, 1, 200000, TV_CLOCK_WALL, 1000, 0, 1, true};
    struct fixture f = fixture_random(&one_row);
    struct tv_pyramid *pyramid = tv_pyramid_new(f.trace, 2);
    uint64_t bytes = pyramid->packed_count * sizeof *pyramid->packed +
                     pyramid->entry_count * sizeof *pyramid->entries;
    assert_true((double)bytes < 1.15 * (double)f.trace->slice_count);
    tv_pyramid_free(pyramid);
    fixture_free(&f);
}

/* --- Drawings
 * ---------------------------------------------------------------------------------------- */

/* "A0+3 " for a slice; then the density as letter, height in tenths. Times in pixels of 2^20 ns,
 * about a column each. */
static void describe(const struct tv_tile *tile, char *text, size_t size)
{
    size_t at = 0;
    for (uint32_t i = 0; i < tile->count; i++)
        at += (size_t)snprintf(
            text + at, size - at, "%c%.1f+%.1f ", 'A' + (int)tile->slices[i].frame,
            (double)tile->slices[i].start / 1e6, (double)tile->slices[i].length / 1e6);
    for (unsigned i = 0; tile->has_density && i < TV_TILE_PIXELS; i++)
        if (tile->height[i])
            at += (size_t)snprintf(text + at, size - at, "%u%c%d ", i, 'A' + (int)tile->frame[i],
                                   tile->height[i] * 10 / 255);
    assert_true(at < size);
}

static void assert_tile(const struct fixture *f, enum tv_tile_kind kind, uint32_t of, unsigned res,
                        const char *expected)
{
    struct tv_pyramid *pyramid = tv_pyramid_new(f->trace, 1);
    struct tv_tile_key key = {kind, of, res, 0};
    struct tv_tile tile;
    char text[1000] = "";
    tv_tile_init(&tile);
    tv_tile_draw(pyramid, &key, &tile);
    describe(&tile, text, sizeof text);
    assert_string_equal(text, expected);
    tv_tile_release(&tile);
    tv_pyramid_free(pyramid);
}

static const struct fixture_thread drawing = {
    "main",
    NULL,
    {
        "AAAAAAAAAAAAAAAABBBBcD",
        " CCCCCCEF HHHHH  GG   ",
        "  DDDd      K         ",
    },
};

static void rows_of_a_drawing(void **state)
{
    (void)state;
    struct fixture f = fixture_draw(&drawing, 1);
    assert_tile(&f, TV_TILE_ROW, 0, 20, "A0.0+16.0 B16.0+4.0 19C9 20D9 ");
    assert_tile(&f, TV_TILE_ROW, 1, 20, "C1.0+6.0 H10.0+5.0 6E9 7F9 16G10 ");
    /* pixels of 4.2 ms: D D E F begin in the first two */
    assert_tile(&f, TV_TILE_ROW, 1, 22, "0C10 1E4 2H10 4G4 ");
    fixture_free(&f);
}

static void innermost_of_a_drawing(void **state)
{
    (void)state;
    struct fixture f = fixture_draw(&drawing, 1);
    /* Pixels of 0.52 ms: what is longer than 1.05 ms stands alone. A and C begin with pieces of 1
     * ms; d is short and lies in C, E F in A, K in H; A and B have short ends. */
    assert_tile(&f, TV_TILE_INNERMOST, 0, 19,
                "D2.0+3.0 C5.0+2.0 A7.0+3.0 H10.0+5.0 G17.0+2.0 "
                "0A10 1C10 9D10 13E10 15F10 22K10 28A10 30B10 36B10 38C10 40D10 ");
    /* Pixels of 4.2 ms: A alone is long. D covers half of what begins in the first two. */
    assert_tile(&f, TV_TILE_INNERMOST, 0, 22, "A0.0+16.0 0D10 1D4 2H10 3B9 4G4 5D2 ");
    fixture_free(&f);
}

/* What is left of a long call when the long calls of the row below are cut out. */
static uint32_t expect_pieces(const struct tv_trace *trace, uint32_t row, uint32_t index,
                              const struct tv_tile_key *key, struct tv_tile_slice *pieces)
{
    const struct tv_track *track = &trace->tracks[key->of];
    const tv_ns two = (tv_ns)2 << key->res, width = (tv_ns)TV_TILE_PIXELS << key->res;
    struct tv_slice call = tv_slice_get(trace, row, index);
    tv_ns end = call.start + call.length, from = key->number * width, to = from + width;
    tv_ns start = call.start > from ? call.start : from;
    uint32_t count = 0, below = row + 1;
    end = end < to ? end : to;
    if (call.length < two)
        return 0;
    bool last = below == track->first_row + track->row_count;
    for (uint32_t i = 0; !last && i < trace->rows[below].count; i++) {
        struct tv_slice child = tv_slice_get(trace, below, i);
        if (child.length < two || child.start + child.length <= start || child.start >= end)
            continue;
        if (child.start - start >= two)
            pieces[count++] = (struct tv_tile_slice){start, child.start - start, row, index, 0, 0};
        start = child.start + child.length;
    }
    if (end - start >= two)
        pieces[count++] = (struct tv_tile_slice){start, end - start, row, index, 0, 0};
    return count;
}

static int compare_pieces(const void *a, const void *b)
{
    tv_ns x = ((const struct tv_tile_slice *)a)->start,
          y = ((const struct tv_tile_slice *)b)->start;
    return (x > y) - (x < y);
}

static void innermost_pieces_equal_the_reference(void **state)
{
    (void)state;
    struct fixture f = fixture_random(&dice[0]);
    struct tv_pyramid *pyramid = tv_pyramid_new(f.trace, 1);
    struct tv_tile_slice *expected = tv_alloc(f.trace->slice_count * 2, sizeof *expected);
    struct tv_tile tile;
    tv_tile_init(&tile);
    uint32_t seen = 0;
    for (unsigned res = 10; res < 26; res++) {
        struct tv_tile_key key = {TV_TILE_INNERMOST, res % 2, res, 0};
        for (; key.number * TV_TILE_PIXELS << res < f.trace->end && key.number < 40; key.number++) {
            const struct tv_track *track = &f.trace->tracks[key.of];
            uint32_t count = 0;
            tv_tile_draw(pyramid, &key, &tile);
            for (uint32_t row = track->first_row; row < track->first_row + track->row_count; row++)
                for (uint32_t i = 0; i < f.trace->rows[row].count; i++)
                    count += expect_pieces(f.trace, row, i, &key, expected + count);
            qsort(expected, count, sizeof *expected, compare_pieces);
            assert_int_equal(tile.count, count);
            for (uint32_t i = 0; i < count; i++) {
                assert_int_equal(tile.slices[i].start, expected[i].start);
                assert_int_equal(tile.slices[i].length, expected[i].length);
                assert_int_equal(tile.slices[i].row, expected[i].row);
                assert_int_equal(tile.slices[i].index, expected[i].index);
            }
            seen += count;
        }
    }
    assert_true(seen > 1000);
    tv_tile_release(&tile);
    tv_free(expected);
    tv_pyramid_free(pyramid);
    fixture_free(&f);
}

/* Thousands of nested calls leave thousands of slivers, all in the density. */
static void innermost_of_a_deep_nest(void **state)
{
    (void)state;
    enum { DEPTH = 20000, RES = 18 };
    struct fixture f = fixture_nest(DEPTH);
    struct tv_pyramid *pyramid = tv_pyramid_new(f.trace, 1);
    struct tv_tile tile;
    tv_tile_init(&tile);
    tv_tile_draw(pyramid, &(struct tv_tile_key){TV_TILE_INNERMOST, 0, RES, 0}, &tile);
    /* Of the calls of two pixels and more the innermost alone has a piece as long: the middle. */
    assert_int_equal(tile.count, 1);
    assert_true(tile.slices[0].length >= 2 << RES && tile.slices[0].length < 3 << RES);
    assert_in_range(tile.slices[0].start, (DEPTH - 500) * 1000, DEPTH * 1000);
    unsigned end = (unsigned)((2 * DEPTH - 1) * 1000 >> RES), middle = DEPTH * 1000 >> RES;
    for (unsigned i = 0; i < end; i++)
        if (i < middle - 3 || i > middle + 3)
            assert_in_range(tile.height[i], 250, 255);
    assert_int_equal(tile.height[end + 1], 0);
    tv_tile_release(&tile);
    tv_pyramid_free(pyramid);
    fixture_free(&f);
}

static void waits_of_a_drawing(void **state)
{
    (void)state;
    struct fixture_thread thread = {"main", " 11   0   ", {"AAAAAAAAAA", "B  B  BCCC"}};
    struct fixture f = fixture_draw(&thread, 1);
    /* 2 ms with 0.2 of CPU: 1.1 to 2.9; 1 ms with none: 6 to 7 */
    assert_tile(&f, TV_TILE_WAITS, 0, 19, "A1.1+1.8 11B10 ");
    assert_tile(&f, TV_TILE_WAITS, 0, 22, "0A4 1B2 ");
    f.trace->offset[0] = 500000;
    assert_tile(&f, TV_TILE_WAITS, 0, 19, "A1.6+1.8 12B10 ");
    f.trace->offset[0] = -2000000; /* the first has begun before the tile */
    assert_tile(&f, TV_TILE_WAITS, 0, 19, "A-0.9+1.8 7B10 ");
    fixture_free(&f);
}

static void heights_saturate(void **state)
{
    (void)state;
    struct tv_density density;
    tv_density_clear(&density, 10, 0);
    assert_int_equal(tv_density_height(&density, 0), 0);
    tv_density_add(&density, 0, 0, 1);
    tv_density_add(&density, 1024, 512, 1);
    tv_density_add(&density, 2048, 1023, 1);
    tv_density_add(&density, 3072, 1500, 1);
    tv_density_clear(&density, 52, -1);
    tv_density_add(&density, -1, ((int64_t)1 << 52) - 1, 7);
    assert_int_equal(tv_density_height(&density, 511), 255);
    assert_int_equal(density.frame[511], 7);
    tv_density_clear(&density, 10, 0);
    tv_density_add(&density, 0, 0, 1);
    tv_density_add(&density, 1024, 512, 1);
    tv_density_add(&density, 3072, 1500, 1);
    assert_int_equal(tv_density_height(&density, 0), 1);
    assert_int_equal(tv_density_height(&density, 1), 128);
    assert_int_equal(tv_density_height(&density, 3), 255);
}

UNIT_TESTS(tiles, cmocka_unit_test(random_strips_equal_the_reference),
           cmocka_unit_test(moved_clocks_move_the_strips),
           cmocka_unit_test(tiles_side_by_side_hold_every_call_once),
           cmocka_unit_test(pyramid_is_small), cmocka_unit_test(rows_of_a_drawing),
           cmocka_unit_test(innermost_of_a_drawing),
           cmocka_unit_test(innermost_pieces_equal_the_reference),
           cmocka_unit_test(innermost_of_a_deep_nest), cmocka_unit_test(waits_of_a_drawing),
           cmocka_unit_test(heights_saturate));
