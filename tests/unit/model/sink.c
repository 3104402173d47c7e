/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink.c - tests of batches (model/builder/sink.h): a slice of a batch keeps the offsets of its
 * events.
 */
#include "model/builder/sink.h"

#include "unit.h"

#define EVENTS 5

static const struct tv_event events[EVENTS] = {
    {.frame = 10}, {.frame = 11}, {.frame = 12}, {.frame = 13}, {.frame = 14},
};

/* Five events in slices of two: the last slice has one. */
static void assert_slices(const struct tv_batch *batch, const uint64_t *bytes)
{
    static const size_t counts[] = {2, 2, 1};
    for (size_t from = 0; from < EVENTS; from += 2) {
        struct tv_batch slice = tv_batch_slice(batch, from, 2);
        assert_int_equal(slice.count, counts[from / 2]);
        for (size_t i = 0; i < slice.count; i++) {
            assert_int_equal(slice.events[i].frame, 10 + from + i);
            assert_int_equal(tv_batch_offset(&slice, i), bytes[from + i]);
        }
    }
}

static void slice_of_even_steps(void **state)
{
    static const uint64_t bytes[] = {1000, 1014, 1028, 1042, 1056};
    const struct tv_batch batch = {.events = events, .count = EVENTS, .offset = 1000, .stride = 14};
    (void)state;
    assert_slices(&batch, bytes);
}

static void slice_with_offsets(void **state)
{
    static const uint32_t offsets[] = {0, 3, 9, 40, 41};
    static const uint64_t bytes[] = {1000, 1003, 1009, 1040, 1041};
    const struct tv_batch batch = {
        .events = events, .count = EVENTS, .offset = 1000, .offsets = offsets};
    (void)state;
    assert_slices(&batch, bytes);
}

UNIT_TESTS(sink, cmocka_unit_test(slice_of_even_steps), cmocka_unit_test(slice_with_offsets));
