/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_spaces.c - the mappings of each process (perf_data.h).
 *
 *     before    |------- a -------|   |---- b ----|
 *     added            |------ c ------|
 *     after     |-- a -|------ c ------|--- b ----|      perf_space_replace: [a b] by [a c b]
 *
 * Mappings of a space are sorted and do not overlap, so an address is found by halves, and one more
 * mapping adds at most two: it may split one that is larger than itself.
 *
 * A fork shares the space of its parent: `users` counts the processes of a space.  A process that
 * maps something gets its own copy first, as the kernel does with pages; one that runs another
 * program (exec) leaves its space and begins with an empty one.  So a server that forks thousands
 * of times does not multiply its mappings.  A hostile file still could, with a fork and a mapping
 * in turn: beyond MAX_OF_ALL mappings nothing is copied or added.
 */
#include "readers/perf/perf_data.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"

/* Maximum number of mappings of one process, and of all: a file of forks and mappings in turn would
 * need memory by the square of its size. */
#define MAX_OF_SPACE 16384u
#define MAX_OF_ALL ((size_t)4 << 20)

void tv_perf_data_spaces_init(struct tv_perf_data_spaces *spaces)
{
    *spaces = (struct tv_perf_data_spaces){.count = 0};
    tv_map_init(&spaces->of_process);
}

void tv_perf_data_spaces_release(struct tv_perf_data_spaces *spaces)
{
    for (size_t i = 0; i < spaces->count; i++)
        tv_free(spaces->spaces[i].maps);
    tv_free(spaces->spaces);
    tv_map_release(&spaces->of_process);
}

static uint32_t perf_spaces_add_space(struct tv_perf_data_spaces *spaces, uint64_t pid)
{
    spaces->spaces = tv_array_reserve(spaces->spaces, &spaces->capacity, spaces->count + 1,
                                      sizeof *spaces->spaces);
    spaces->spaces[spaces->count] = (struct perf_space){.users = 1};
    tv_map_set(&spaces->of_process, pid, (uint32_t)spaces->count);
    return (uint32_t)spaces->count++;
}

/* A process leaves its space, whose memory is freed with the last one. */
static void perf_spaces_leave(struct tv_perf_data_spaces *spaces, uint32_t number)
{
    struct perf_space *space = &spaces->spaces[number];
    assert(space->users > 0);
    if (--space->users > 0)
        return;
    spaces->map_count -= space->count;
    tv_free(space->maps);
    *space = (struct perf_space){.users = 0};
}

/* Return a space that only this process uses; NULL: a copy would be too much. */
static struct perf_space *perf_spaces_own(struct tv_perf_data_spaces *spaces, uint64_t pid)
{
    uint32_t number = tv_map_find(&spaces->of_process, pid);
    if (number == TV_NONE)
        number = perf_spaces_add_space(spaces, pid);
    if (spaces->spaces[number].users > 1) {
        size_t count = spaces->spaces[number].count;
        if (count > MAX_OF_ALL - spaces->map_count)
            return NULL;
        spaces->spaces[number].users--;
        uint32_t shared = number;
        number = perf_spaces_add_space(spaces, pid);
        struct perf_space *own = &spaces->spaces[number];
        own->maps = tv_array_reserve(NULL, &own->capacity, count + 1, sizeof *own->maps);
        if (count > 0)
            memcpy(own->maps, spaces->spaces[shared].maps, count * sizeof *own->maps);
        own->count = count;
        spaces->map_count += count;
    }
    return &spaces->spaces[number];
}

/* Return the first mapping that ends after an address. */
static size_t perf_space_find(const struct perf_space *space, uint64_t address)
{
    size_t low = 0;
    TV_LOWER_BOUND(low, space->count, i, space->maps[i].end <= address);
    return low;
}

/* Replace the mappings [from, to) by `count` others. */
static void perf_space_replace(struct perf_space *space, size_t from, size_t to,
                               const struct perf_mapped *others, size_t count)
{
    assert(from <= to && to <= space->count);
    space->maps = tv_array_reserve(space->maps, &space->capacity,
                                   space->count - (to - from) + count, sizeof *space->maps);
    memmove(space->maps + from + count, space->maps + to,
            (space->count - to) * sizeof *space->maps);
    memcpy(space->maps + from, others, count * sizeof *others);
    space->count = space->count - (to - from) + count;
}

bool tv_perf_data_spaces_add(struct tv_perf_data_spaces *spaces, uint64_t pid,
                             const struct perf_mapped *mapped)
{
    struct perf_space *space = perf_spaces_own(spaces, pid);
    assert(mapped->start < mapped->end);
    if (!space || space->count + 2 > MAX_OF_SPACE || spaces->map_count + 2 > MAX_OF_ALL)
        return false;
    struct perf_mapped others[3];
    size_t from = perf_space_find(space, mapped->start), to = from, count = 0;
    size_t before = space->count;
    while (to < space->count && space->maps[to].start < mapped->end)
        to++;
    if (from < to && space->maps[from].start < mapped->start) {
        others[count] = space->maps[from];
        others[count++].end = mapped->start;
    }
    others[count++] = *mapped;
    if (from < to && space->maps[to - 1].end > mapped->end) {
        others[count] = space->maps[to - 1];
        others[count++].start = mapped->end;
    }
    perf_space_replace(space, from, to, others, count);
    spaces->map_count = spaces->map_count - before + space->count;
    return true;
}

void tv_perf_data_spaces_clear(struct tv_perf_data_spaces *spaces, uint64_t pid)
{
    uint32_t number = tv_map_find(&spaces->of_process, pid);
    if (number == TV_NONE ||
        (spaces->spaces[number].users == 1 && spaces->spaces[number].count == 0))
        return;
    perf_spaces_leave(spaces, number);
    perf_spaces_add_space(spaces, pid);
}

void tv_perf_data_spaces_fork(struct tv_perf_data_spaces *spaces, uint64_t parent, uint64_t child)
{
    uint32_t number = tv_map_find(&spaces->of_process, parent);
    uint32_t before = tv_map_find(&spaces->of_process, child);
    if (number == TV_NONE || number == before || spaces->spaces[number].users == UINT32_MAX)
        return;
    if (before != TV_NONE)
        perf_spaces_leave(spaces, before);
    spaces->spaces[number].users++;
    tv_map_set(&spaces->of_process, child, number);
}

const struct perf_mapped *tv_perf_data_spaces_find(const struct tv_perf_data_spaces *spaces,
                                                   uint64_t pid, uint64_t address)
{
    uint32_t number = tv_map_find(&spaces->of_process, pid);
    if (number == TV_NONE)
        return NULL;
    const struct perf_space *space = &spaces->spaces[number];
    size_t at = perf_space_find(space, address);
    return at < space->count && space->maps[at].start <= address ? &space->maps[at] : NULL;
}
