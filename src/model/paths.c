/* SPDX-License-Identifier: Apache-2.0 */
#include "model/paths.h"

#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

#define FIRST_PLACES ((size_t)1 << 10)

static size_t place_of(const struct tv_paths *paths, uint32_t parent, uint32_t frame)
{
    return (size_t)tv_hash_u64((uint64_t)parent << 32 | frame) & paths->mask;
}

static void allocate_places(struct tv_paths *paths, size_t count)
{
    paths->places = tv_pages_alloc(tv_size_mul(count, sizeof *paths->places));
    memset(paths->places, 0xff, count * sizeof *paths->places);
    paths->mask = count - 1;
}

static void free_places(struct tv_paths *paths)
{
    if (paths->places)
        tv_pages_free(paths->places, (paths->mask + 1) * sizeof *paths->places);
    paths->places = NULL;
}

static uint32_t append(struct tv_paths *paths, uint32_t parent, uint32_t frame)
{
    paths->nodes = tv_array_reserve(paths->nodes, &paths->capacity, (size_t)paths->count + 1,
                                    sizeof *paths->nodes);
    paths->nodes[paths->count] =
        (struct tv_path_node){parent, frame, TV_NONE, TV_NONE, TV_NONE, TV_NONE};
    return paths->count++;
}

void tv_paths_init(struct tv_paths *paths)
{
    memset(paths, 0, sizeof *paths);
    allocate_places(paths, FIRST_PLACES);
    append(paths, TV_ROOT_PATH, TV_NONE);
}

void tv_paths_release(struct tv_paths *paths)
{
    free_places(paths);
    tv_free(paths->nodes);
    memset(paths, 0, sizeof *paths);
}

/* Doubles the places; half of them are always free. */
static void grow(struct tv_paths *paths)
{
    size_t count = (paths->mask + 1) * 2;
    free_places(paths);
    allocate_places(paths, count);
    for (uint32_t i = 1; i < paths->count; i++) {
        size_t at = place_of(paths, paths->nodes[i].parent, paths->nodes[i].frame);
        while (paths->places[at] != TV_NONE)
            at = (at + 1) & paths->mask;
        paths->places[at] = i;
    }
}

static uint32_t find_or_add(struct tv_paths *paths, uint32_t parent, uint32_t frame)
{
    size_t at = place_of(paths, parent, frame);
    uint32_t node;
    while ((node = paths->places[at]) != TV_NONE &&
           (paths->nodes[node].parent != parent || paths->nodes[node].frame != frame))
        at = (at + 1) & paths->mask;
    if (node == TV_NONE) {
        node = append(paths, parent, frame);
        paths->places[at] = node;
        if ((size_t)paths->count * 2 > paths->mask)
            grow(paths);
    }
    return node;
}

TV_NOINLINE uint32_t tv_paths_child_slow(struct tv_paths *paths, uint32_t parent, uint32_t frame)
{
    uint32_t child = paths->nodes[parent].other_child;
    if (paths->nodes[parent].other_frame != frame)
        child = find_or_add(paths, parent, frame);
    struct tv_path_node *node = &paths->nodes[parent];
    node->other_frame = node->last_frame;
    node->other_child = node->last_child;
    node->last_frame = frame;
    node->last_child = child;
    return child;
}

void tv_paths_merge(struct tv_paths *to, const struct tv_paths *from, uint32_t *map)
{
    map[TV_ROOT_PATH] = TV_ROOT_PATH;
    for (uint32_t i = 1; i < from->count; i++)
        map[i] = tv_paths_child(to, map[from->nodes[i].parent], from->nodes[i].frame);
}

void tv_paths_finish(struct tv_paths *paths)
{
    free_places(paths);
    paths->mask = 0;
}
