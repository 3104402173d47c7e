/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dictionary.c - the encoding RLE_DICTIONARY (internal.h).
 *
 *     width in bits, varint: groups of 8 places << 1 | 1, places with the lowest bits first
 *
 * The format also has runs of one place; zstd finds those.  It knows bytes only: if some numbers
 * are more frequent than others, places of whole bytes take fewer bytes after it than narrower
 * ones. The numbers are sorted, so places of numbers that are close have the same high byte.
 */
#include "parquet/internal.h"

#include <assert.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/sort.h"

/* Places of numbers.  Most small ones are found without hashing. */
#define SMALL_NUMBERS 4096u

struct dictionary_index {
    uint32_t small[SMALL_NUMBERS]; /* 1 + place; 0: none */
    struct tv_map others;
};

/* Return the place of a number; a new one gets the place `next`. */
static inline uint32_t dictionary_place(struct dictionary_index *index, uint64_t number,
                                        uint32_t next)
{
    if (number >= SMALL_NUMBERS)
        return tv_map_add(&index->others, number, next);
    if (index->small[number] == 0)
        index->small[number] = next + 1;
    return index->small[number] - 1;
}

/* Sort the numbers, which are `size` bytes each; places follow them. */
static void dictionary_sort(struct tv_parquet_dictionary *dictionary, size_t size)
{
    struct tv_sort_key *keys = tv_alloc(dictionary->count, sizeof *keys);
    uint32_t *sorted = tv_alloc(dictionary->count, sizeof *sorted);
    uint8_t *numbers = dictionary->numbers.buffer;
    for (uint32_t i = 0; i < dictionary->count; i++) {
        keys[i] = (struct tv_sort_key){.index = i};
        memcpy(&keys[i].key, numbers + size * i, size);
    }
    tv_sort_keys(keys, dictionary->count);
    for (uint32_t i = 0; i < dictionary->count; i++) {
        memcpy(numbers + size * i, &keys[i].key, size);
        sorted[keys[i].index] = i;
    }
    for (size_t i = 0; i < dictionary->length; i++)
        dictionary->of[i] = sorted[dictionary->of[i]];
    tv_free(sorted);
    tv_free(keys);
}

bool tv_parquet_make_dictionary(struct tv_parquet_dictionary *dictionary, struct tv_bytes numbers,
                                size_t size, size_t most)
{
    struct dictionary_index *index = tv_alloc(1, sizeof *index);
    bool fits = true;
    *dictionary = (struct tv_parquet_dictionary){.length = numbers.length / size, .width = 1};
    dictionary->of = tv_alloc(dictionary->length, sizeof *dictionary->of);
    tv_out_init_memory(&dictionary->numbers);
    tv_out_init_memory(&dictionary->places);
    tv_map_init(&index->others);
    for (size_t i = 0; i < dictionary->length && fits; i++) {
        uint64_t number = 0;
        memcpy(&number, numbers.data + size * i, size); /* in any order of bytes */
        dictionary->of[i] = dictionary_place(index, number, dictionary->count);
        if (dictionary->of[i] < dictionary->count)
            continue;
        dictionary->count++;
        tv_out_bytes(&dictionary->numbers, (struct tv_bytes){numbers.data + size * i, size});
        while (dictionary->count > (uint32_t)1 << dictionary->width)
            dictionary->width++;
        fits = dictionary->numbers.length <= most;
    }
    if (fits)
        dictionary_sort(dictionary, size);
    tv_map_release(&index->others);
    tv_free(index);
    return fits;
}

void tv_parquet_pack_places(struct tv_parquet_dictionary *dictionary, size_t first, size_t count,
                            unsigned width)
{
    struct tv_out *out = &dictionary->places;
    uint64_t bits = 0;
    unsigned held = 0;
    assert(first + count <= dictionary->length && width >= dictionary->width);
    out->length = 0;
    tv_out_char(out, (char)width);
    tv_thrift_varint(out, (uint64_t)(count + 7) / 8 << 1 | 1);
    for (size_t i = 0; i < (count + 7) / 8 * 8; i++) {
        bits |= (uint64_t)(i < count ? dictionary->of[first + i] : 0) << held;
        for (held += width; held >= 8; held -= 8) {
            tv_out_char(out, (char)(bits & 0xff));
            bits >>= 8;
        }
    }
}

void tv_parquet_release_dictionary(struct tv_parquet_dictionary *dictionary)
{
    tv_out_release(&dictionary->numbers);
    tv_out_release(&dictionary->places);
    tv_free(dictionary->of);
    dictionary->of = NULL;
}
