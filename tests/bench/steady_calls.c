/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steady_calls.c - an unchanged program for false-alarms: sixteen functions of unequal length,
 * which do the same work in each run, in memory that fits into a cache or does not.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define OFF __attribute__((no_instrument_function))

enum { ROUNDS = 60, CELLS = 1 << 18 };

static uint32_t cells[CELLS];

/* Each reads and writes `count` cells, `step` cells apart. */
OFF static void work(uint32_t count, uint32_t step)
{
    uint32_t at = count;
    for (uint32_t i = 0; i < count; i++) {
        at = (at + step) % CELLS;
        cells[at] = cells[at] * 1664525u + 1013904223u;
    }
}

#define FUNCTION(name, count, step)                                                                \
    void name(void);                                                                               \
    __attribute__((noinline)) void name(void)                                                      \
    {                                                                                              \
        work(count, step);                                                                         \
    }

FUNCTION(parse, 90000, 1)
FUNCTION(scan, 60000, 1)
FUNCTION(copy, 40000, 3)
FUNCTION(sort, 80000, 4099)
FUNCTION(hash, 50000, 65537)
FUNCTION(find, 30000, 257)
FUNCTION(join, 20000, 17)
FUNCTION(pack, 25000, 5)
FUNCTION(unpack, 15000, 5)
FUNCTION(check, 12000, 1031)
FUNCTION(count, 10000, 1)
FUNCTION(split, 9000, 33)
FUNCTION(merge, 8000, 2049)
FUNCTION(trim, 6000, 2)
FUNCTION(fill, 5000, 1)
FUNCTION(sum, 4000, 16385)

int main(void)
{
    static void (*const all[])(void) = {parse,  scan,  copy,  sort,  hash,  find, join, pack,
                                        unpack, check, count, split, merge, trim, fill, sum};
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
            all[i]();
    printf("%u\n", (unsigned)cells[0]);
    return 0;
}
