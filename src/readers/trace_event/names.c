/* SPDX-License-Identifier: Apache-2.0 */
#include "readers/trace_event/names.h"

#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/memory.h"

/* Part of the hash stands beside the number, so that texts are compared only when they are very
 * likely equal. */
struct tv_te_name_place {
    uint32_t hash;
    uint32_t number; /* TV_NONE: free */
};

#define FIRST_PLACES 1024

static struct tv_te_name_place *te_names_new_slots(size_t count)
{
    struct tv_te_name_place *places = tv_alloc(count, sizeof *places);
    for (size_t i = 0; i < count; i++)
        places[i].number = TV_NONE;
    return places;
}

void tv_te_names_init(struct tv_te_names *names)
{
    *names = (struct tv_te_names){.mask = FIRST_PLACES - 1, .places = te_names_new_slots(FIRST_PLACES)};
    tv_arena_init(&names->texts);
}

void tv_te_names_release(struct tv_te_names *names)
{
    tv_arena_release(&names->texts);
    tv_free(names->names);
    tv_free(names->places);
}

#define MULTIPLIER UINT64_C(0x9e3779b97f4a7c15)

/* In line, as every event needs two.  Reads up to 7 bytes more than the text has. */
TV_INLINE uint64_t te_names_hash(uint64_t hash, struct tv_bytes text)
{
    const uint8_t *at = text.data;
    size_t left = text.length;
    uint64_t word;
    hash = (hash ^ left) * MULTIPLIER;
    for (; left > 8; at += 8, left -= 8) {
        memcpy(&word, at, sizeof word);
        hash = (hash ^ word) * MULTIPLIER;
        hash ^= hash >> 29;
    }
    if (left > 0) {
        memcpy(&word, at, sizeof word);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word >>= 64 - left * 8;
#else
        word <<= 64 - left * 8;
#endif
        hash = (hash ^ word) * MULTIPLIER;
        hash ^= hash >> 29;
    }
    return hash;
}

/* In line as well; texts are mostly of a few words. */
TV_INLINE bool te_names_same_text(const uint8_t *a, const uint8_t *b, size_t length)
{
    uint64_t left, right;
    if (length < sizeof left)
        return length == 0 || memcmp(a, b, length) == 0;
    for (size_t i = 0; i + sizeof left < length; i += sizeof left) {
        memcpy(&left, a + i, sizeof left);
        memcpy(&right, b + i, sizeof right);
        if (left != right)
            return false;
    }
    memcpy(&left, a + length - sizeof left, sizeof left);
    memcpy(&right, b + length - sizeof right, sizeof right);
    return left == right;
}

TV_INLINE bool te_names_match(const struct tv_te_name *known, struct tv_bytes name,
                       struct tv_bytes category)
{
    return known->name_length == name.length && known->category_length == category.length &&
           known->has_name == (name.data != NULL) &&
           te_names_same_text(known->text, name.data, name.length) &&
           te_names_same_text(known->text + name.length, category.data, category.length);
}

static void te_names_grow(struct tv_te_names *names)
{
    size_t mask = tv_size_mul(names->mask + 1, 2) - 1;
    struct tv_te_name_place *places = te_names_new_slots(mask + 1);
    for (size_t i = 0; i <= names->mask; i++) {
        struct tv_te_name_place moved = names->places[i];
        if (moved.number == TV_NONE)
            continue;
        size_t to = moved.hash & mask;
        while (places[to].number != TV_NONE)
            to = (to + 1) & mask;
        places[to] = moved;
    }
    tv_free(names->places);
    names->places = places;
    names->mask = mask;
}

static bool te_names_text_contains(struct tv_bytes text, struct tv_bytes chunk)
{
    for (size_t i = 0; i + chunk.length <= text.length; i++)
        if (memcmp(text.data + i, chunk.data, chunk.length) == 0)
            return true;
    return false;
}

static TV_NOINLINE uint32_t te_names_add_new(struct tv_te_names *names, struct tv_te_name_place *place,
                                    struct tv_bytes name, struct tv_bytes category)
{
    uint8_t *text = tv_arena_alloc(&names->texts, name.length + category.length + 1, 1);
    uint32_t number = (uint32_t)names->count;
    if (names->count >= TV_NONE - 1 || name.length > UINT32_MAX || category.length > UINT32_MAX)
        tv_memory_exhausted();
    if (name.length > 0)
        memcpy(text, name.data, name.length);
    if (category.length > 0)
        memcpy(text + name.length, category.data, category.length);
    names->names =
        tv_array_reserve(names->names, &names->capacity, names->count + 1, sizeof *names->names);
    names->names[names->count++] = (struct tv_te_name){
        .text = text,
        .name_length = (uint32_t)name.length,
        .category_length = (uint32_t)category.length,
        .has_name = name.data != NULL,
        .overhead = te_names_text_contains(category, TV_BYTES("trace_event_overhead")),
    };
    place->number = number;
    if (names->count > names->mask / 2)
        te_names_grow(names);
    return number;
}

uint32_t tv_te_names_add(struct tv_te_names *names, struct tv_bytes name, struct tv_bytes category)
{
    /* Neither waits for the other. */
    uint64_t full = te_names_hash(name.data != NULL, name) * MULTIPLIER ^ te_names_hash(2, category);
    uint32_t hash = (uint32_t)(full ^ full >> 32);
    for (size_t i = hash & names->mask;; i = (i + 1) & names->mask) {
        struct tv_te_name_place *place = &names->places[i];
        if (TV_UNLIKELY(place->number == TV_NONE)) {
            place->hash = hash;
            return te_names_add_new(names, place, name, category);
        }
        if (place->hash == hash && te_names_match(&names->names[place->number], name, category))
            return place->number;
    }
}

static uint32_t te_names_string(struct tv_head *head, struct tv_bytes raw, struct tv_te_scratch *scratch)
{
    return tv_head_string(head, tv_te_decode_text(raw, scratch));
}

void tv_te_names_merge(const struct tv_te_names *names, struct tv_head *head, uint32_t *frames)
{
    struct tv_te_scratch scratch = {NULL, 0};
    for (size_t i = 0; i < names->count; i++) {
        const struct tv_te_name *known = &names->names[i];
        struct tv_bytes name = {known->text, known->name_length};
        struct tv_bytes category = {known->text + known->name_length, known->category_length};
        struct tv_frame frame = {
            .name = known->has_name ? te_names_string(head, name, &scratch)
                                    : tv_head_string(head, TV_BYTES("[No name]")),
            .category = category.length > 0 ? te_names_string(head, category, &scratch) : TV_EMPTY_STRING,
        };
        frames[i] = tv_head_add_frame(head, &frame);
    }
    tv_te_scratch_release(&scratch);
}
