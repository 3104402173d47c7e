/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk.c - a chunk of a recording: its header, its events one after another, its clock, and
 * opening it. docs/formats/jfr.md has the layout of the header.
 *
 *     header 68 bytes | event | event | ... | metadata | event | checkpoint
 *                                   ^                                |
 *                                   '---- distance back to the checkpoint before
 *
 *     event: varint size (counts itself), varint type id, fields of that type
 *
 * Opening reads metadata first, since it describes all other types, and then the checkpoints from
 * the last to the first. The header knows where both are, once the recorder has finished the chunk.
 * In a chunk that is cut or still open these places are wrong or 0, and all events are searched
 * for metadata and checkpoints instead. The same is done when following them fails.
 */
#include "readers/jfr/chunk.h"

#include <assert.h>
#include <string.h>

/* ---- Header ---- */

/* Return a big-endian number of the header. */
static uint64_t jfr_header_number(const uint8_t *header, unsigned at, unsigned width)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < width; i++)
        number = number << 8 | header[at + i];
    return number;
}

/* The magic number, and a major version from 0 to 3. These bytes may occur inside a chunk by
 * accident; a search for them runs only where the size of a chunk cannot be trusted. */
static bool jfr_is_header(struct tv_bytes file, uint64_t offset)
{
    static const uint8_t magic[] = {'F', 'L', 'R', 0, 0};
    const uint8_t *at = file.data + offset;
    return offset <= file.length && file.length - offset >= TV_JFR_HEADER_SIZE &&
           memcmp(at, magic, sizeof magic) == 0 && at[5] <= 3;
}

/* Return the offset of the next header at or after an offset, or the end of the file. */
static uint64_t jfr_search_header(struct tv_bytes file, uint64_t offset)
{
    while (offset < file.length) {
        const uint8_t *found = memchr(file.data + offset, 'F', (size_t)(file.length - offset));
        if (!found)
            break;
        offset = (uint64_t)(found - file.data);
        if (jfr_is_header(file, offset))
            return offset;
        offset++;
    }
    return file.length;
}

uint64_t tv_jfr_chunk_size(struct tv_bytes header)
{
    bool finished = jfr_is_header(header, 0) && header.data[64] == 0;
    uint64_t size = finished ? jfr_header_number(header.data, 8, 8) : 0;
    return size >= TV_JFR_HEADER_SIZE ? size : 0;
}

bool tv_jfr_chunk_find(struct tv_bytes file, uint64_t offset, struct tv_jfr_chunk *chunk,
                       uint64_t *next, bool *skipped)
{
    uint64_t start = jfr_search_header(file, offset);
    *skipped = start > offset;
    *chunk = (struct tv_jfr_chunk){.offset = start, .text_type = TV_NONE, .stack_type = TV_NONE};
    if (start >= file.length)
        return false;
    const uint8_t *header = file.data + start;
    uint64_t size = jfr_header_number(header, 8, 8), left = file.length - start;
    uint8_t state = header[64];
    chunk->major = (uint16_t)jfr_header_number(header, 4, 2);
    chunk->minor = (uint16_t)jfr_header_number(header, 6, 2);
    chunk->checkpoint = jfr_header_number(header, 16, 8);
    chunk->metadata = jfr_header_number(header, 24, 8);
    chunk->start_ns = (int64_t)jfr_header_number(header, 32, 8);
    chunk->start_ticks = jfr_header_number(header, 48, 8);
    chunk->ticks_per_second = jfr_header_number(header, 56, 8);
    chunk->unfinished = state != 0;
    chunk->fixed = (header[67] & 1) == 0;
    chunk->cut = size < TV_JFR_HEADER_SIZE || size > left;
    if (chunk->cut || chunk->unfinished)
        size = jfr_search_header(file, start + 1) - start;
    chunk->bytes = (struct tv_bytes){header, (size_t)size};
    *next = start + size;
    return true;
}

/* ---- Time ---- */

__extension__ typedef __int128 jfr_wide;

/* Convert, rounding down, with all 128 bits of the product. */
static int64_t jfr_ticks_to_ns(const struct tv_jfr_chunk *chunk, int64_t ticks)
{
    if (chunk->ticks_per_second == 0 || chunk->ticks_per_second == 1000000000)
        return ticks;
    jfr_wide product = (jfr_wide)ticks * 1000000000, rate = (jfr_wide)chunk->ticks_per_second,
             ns = product / rate;
    if (ns * rate > product) /* clang 14 links no remainder of 128 bits for WebAssembly */
        ns--;
    return ns > INT64_MAX ? INT64_MAX : ns < INT64_MIN ? INT64_MIN : (int64_t)ns;
}

int64_t tv_jfr_length(const struct tv_jfr_chunk *chunk, int64_t ticks)
{
    return jfr_ticks_to_ns(chunk, ticks);
}

int64_t tv_jfr_time(const struct tv_jfr_chunk *chunk, uint64_t ticks)
{
    int64_t time, since = jfr_ticks_to_ns(chunk, (int64_t)(ticks - chunk->start_ticks));
    if (__builtin_add_overflow(chunk->start_ns, since, &time))
        time = since < 0 ? INT64_MIN : INT64_MAX;
    return time;
}

/* ---- Opening ---- */

/* Places of metadata and checkpoints that are met among the events. */
struct jfr_found {
    uint64_t metadata; /* the last; 0: none */
    uint64_t *checkpoints;
    size_t count, capacity;
};

/* Find metadata and checkpoints among the events, up to the first event that is not whole. */
static void jfr_chunk_search(const struct tv_jfr_chunk *chunk, struct jfr_found *found)
{
    struct tv_jfr_event event;
    for (uint64_t at = TV_JFR_HEADER_SIZE; tv_jfr_event_at(chunk, at, &event); at += event.size) {
        if (event.type == TV_JFR_METADATA)
            found->metadata = at;
        if (event.type != TV_JFR_CHECKPOINT)
            continue;
        found->checkpoints = tv_array_reserve(found->checkpoints, &found->capacity,
                                              found->count + 1, sizeof *found->checkpoints);
        found->checkpoints[found->count++] = at;
    }
}

/* Forget the types of metadata that turned out to be damaged. */
static void jfr_chunk_forget_types(struct tv_jfr_chunk *chunk)
{
    chunk->types.count = chunk->fields.count = 0;
    chunk->text_type = TV_NONE;
    tv_map_release(&chunk->type_ids);
    tv_map_init(&chunk->type_ids);
}

/* Return whether the header's place leads to types. */
static bool jfr_chunk_read_types(struct tv_jfr_chunk *chunk, uint64_t at)
{
    if (at >= TV_JFR_HEADER_SIZE && tv_jfr_metadata_read(chunk, at))
        return true;
    jfr_chunk_forget_types(chunk);
    return false;
}

/* Read the checkpoints from the last on, each with its distance to the one before. Return false
 * when the chain is broken; constants that were read stay: those nearest to the end win. */
static bool jfr_chunk_follow_checkpoints(struct tv_jfr_chunk *chunk)
{
    struct tv_jfr_event event;
    uint64_t at = chunk->checkpoint, end = chunk->bytes.length;
    while (at >= TV_JFR_HEADER_SIZE && at < end) {
        /* Each is before the one after it: together they take no longer than the chunk. */
        if (!tv_jfr_event_at(chunk, at, &event) || event.size > end - at)
            return false;
        end = at;
        if (!tv_jfr_checkpoint_read(chunk, at, &at))
            return false;
        if (at == 0)
            return true;
    }
    return false;
}

bool tv_jfr_chunk_open(struct tv_jfr_chunk *chunk)
{
    struct jfr_found found = {.metadata = 0};
    bool searched = chunk->cut || chunk->unfinished;
    tv_map_init(&chunk->type_ids);
    tv_arena_init(&chunk->arena);
    if (searched)
        jfr_chunk_search(chunk, &found);
    if (!jfr_chunk_read_types(chunk, found.metadata ? found.metadata : chunk->metadata)) {
        if (!searched)
            jfr_chunk_search(chunk, &found);
        searched = true;
        if (!jfr_chunk_read_types(chunk, found.metadata)) {
            tv_free(found.checkpoints);
            return false;
        }
    }
    static const char *const names[] = {"truncated"};
    chunk->stack_type = tv_jfr_find_type_by_end(chunk, TV_BYTES(".types.StackTrace"));
    if (chunk->stack_type != TV_NONE)
        chunk->stack_cut = tv_jfr_compile(chunk, chunk->stack_type, names, TV_COUNT(names));
    chunk->programs = tv_alloc(chunk->types.count, sizeof *chunk->programs);
    chunk->pools = tv_alloc(chunk->types.count, sizeof *chunk->pools);
    bool whole = !searched && jfr_chunk_follow_checkpoints(chunk);
    if (!whole && !searched)
        jfr_chunk_search(chunk, &found);
    uint64_t before;
    while (!whole && found.count > 0) {
        uint64_t at = found.checkpoints[--found.count];
        if (!tv_jfr_checkpoint_read(chunk, at, &before))
            tv_diagnostics_add(&chunk->diagnostics, TV_DIAGNOSTIC_BAD_CONSTANTS,
                               chunk->offset + at);
    }
    tv_jfr_pools_complete(chunk);
    tv_free(found.checkpoints);
    return true;
}

void tv_jfr_chunk_release(struct tv_jfr_chunk *chunk)
{
    for (size_t i = 0; chunk->programs && i < chunk->types.count; i++)
        tv_jfr_program_release(&chunk->programs[i]);
    tv_free(chunk->programs);
    tv_jfr_program_release(&chunk->stack_cut);
    tv_jfr_pools_release(chunk);
    tv_free(chunk->types.rows);
    tv_free(chunk->fields.rows);
    tv_free(chunk->constants.rows);
    tv_free(chunk->keys.rows);
    tv_map_release(&chunk->type_ids);
    tv_arena_release(&chunk->arena);
    tv_diagnostics_clear(&chunk->diagnostics);
}
