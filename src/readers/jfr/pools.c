/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pools.c - the constants of a chunk.
 *
 * Checkpoints are read from the last to the first, so that of two constants with one key the one
 * nearest to the chunk's end wins: it has the name that a thread had last.  Keys are any 64 bits;
 * they are listed while checkpoints are read, because afterwards it is known whether they lie close
 * together, so that an array by key finds them.
 */
#include <assert.h>

#include "base/memory.h"
#include "readers/jfr/chunk.h"

const struct tv_jfr_program *tv_jfr_skipper(struct tv_jfr_chunk *chunk, uint32_t type)
{
    assert(type < chunk->types.count);
    struct tv_jfr_program *program = &chunk->programs[type];
    if (!program->ops && !program->unusable)
        *program = tv_jfr_compile(chunk, type, NULL, 0);
    return program;
}

/* Return whether the recorder left frames of the stack at a place out.  The bytes are in the cache
 * now, and not any more when the first sample of the stack comes. */
static bool jfr_stack_is_cut(const struct tv_jfr_chunk *chunk, struct tv_jfr_cursor cursor)
{
    uint64_t slots[TV_JFR_SLOTS] = {0};
    return tv_jfr_program_note(chunk, &chunk->stack_cut, &cursor, slots) && slots[0] != 0;
}

/* Read the constants of one type. */
static bool jfr_pool_read(struct tv_jfr_chunk *chunk, uint32_t type, struct tv_jfr_cursor *cursor)
{
    uint64_t count, key;
    if (!tv_jfr_take(cursor, 4, &count))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        if (!tv_jfr_take(cursor, 8, &key))
            return false;
        uint64_t at = tv_jfr_place(chunk, cursor);
        bool cut = type == chunk->stack_type && jfr_stack_is_cut(chunk, *cursor);
        if (!tv_jfr_program_skip(chunk, tv_jfr_skipper(chunk, type), cursor))
            return false;
        uint32_t next = (uint32_t)chunk->constants.count;
        if (next >= TV_NONE - 1)
            continue;
        *tv_table_add(&chunk->constants) =
            (struct tv_jfr_constant){.at = at & TV_JFR_PLACE_MASK, .cut = cut};
        *tv_table_add(&chunk->keys) = (struct tv_jfr_constant_key){key, type};
    }
    return true;
}

/* Read the constants of all types that a checkpoint has. */
static bool jfr_pools_read(struct tv_jfr_chunk *chunk, struct tv_jfr_cursor *cursor)
{
    uint64_t pools, id;
    if (!tv_jfr_take(cursor, 4, &pools))
        return false;
    for (uint64_t i = 0; i < pools; i++) {
        if (!tv_jfr_take(cursor, 8, &id))
            return false;
        uint32_t type = tv_jfr_find_type(chunk, id);
        if (type == TV_NONE || !jfr_pool_read(chunk, type, cursor))
            return false;
    }
    return true;
}

bool tv_jfr_checkpoint_read(struct tv_jfr_chunk *chunk, uint64_t at, uint64_t *before)
{
    struct tv_jfr_event event;
    uint64_t unused, delta;
    *before = 0;
    if (!tv_jfr_event_at(chunk, at, &event) || event.type != TV_JFR_CHECKPOINT)
        return false;
    struct tv_jfr_cursor *cursor = &event.fields;
    if (!tv_jfr_take(cursor, 8, &unused) || !tv_jfr_take(cursor, 8, &unused) || /* start, length */
        !tv_jfr_take(cursor, 8, &delta) || !tv_jfr_take_fixed(cursor, 1, &unused))
        return false;
    /* The one before lies nearer to the start: any other delta is damage, or a circle. */
    if ((int64_t)delta < 0 && at + delta >= TV_JFR_HEADER_SIZE && at + delta < at)
        *before = at + delta;
    return jfr_pools_read(chunk, cursor) && (delta == 0 || *before > 0);
}

/* Keys of the constants of a type. */
struct jfr_key_range {
    uint64_t first, last;
    size_t count;
};

void tv_jfr_pools_complete(struct tv_jfr_chunk *chunk)
{
    struct jfr_key_range *ranges = tv_alloc(chunk->types.count, sizeof *ranges);
    for (size_t i = 0; i < chunk->keys.count; i++) {
        uint64_t key = chunk->keys.rows[i].key;
        struct jfr_key_range *range = &ranges[chunk->keys.rows[i].type];
        range->first = range->count == 0 || key < range->first ? key : range->first;
        range->last = key > range->last ? key : range->last;
        range->count++;
    }
    for (size_t i = 0; i < chunk->types.count; i++)
        tv_lookup_expect(&chunk->pools[i], ranges[i].first, ranges[i].last, ranges[i].count);
    for (size_t i = 0; i < chunk->keys.count; i++)
        tv_lookup_add(&chunk->pools[chunk->keys.rows[i].type], chunk->keys.rows[i].key,
                      (uint32_t)i);
    tv_free(chunk->keys.rows);
    chunk->keys.rows = NULL;
    chunk->keys.count = chunk->keys.capacity = 0;
    tv_free(ranges);
}

void tv_jfr_pools_release(struct tv_jfr_chunk *chunk)
{
    for (size_t i = 0; chunk->pools && i < chunk->types.count; i++)
        tv_lookup_release(&chunk->pools[i]);
    tv_free(chunk->pools);
}
