/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_dice.h - the trace that the engines of tests have: made anew by the test and its child.
 */
#ifndef TV_TESTS_ENGINE_DICE_H
#define TV_TESTS_ENGINE_DICE_H

#include "fixture.h"

static inline struct fixture engine_dice(void)
{
    const struct fixture_dice dice = {
        .seed = 42,
        .threads = 3,
        .frames = 20,
        .depth = 6,
        .events = 40000,
        .clocks = TV_CLOCK_WALL | TV_CLOCK_CPU,
        .tick_ns = 1000,
        .long_gap = 100,
        .parts = 1,
    };
    return fixture_random(&dice);
}

#endif
