/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dictionary.c - the encoding RLE_DICTIONARY (dictionary.h).
 *
 *     width in bits, varint: groups of 8 places << 1 | 1, places with the lowest bits first
 *
 * The format also has runs of one place; zstd finds those.
 */
#include "parquet/dictionary.h"

#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "parquet/thrift.h"

/* Append places of `width` bits, filled up to a multiple of 8 places. */
static void dictionary_pack(struct tv_out *out, const uint32_t *places, size_t count,
                            unsigned width)
{
    uint64_t bits = 0;
    unsigned held = 0;
    tv_out_char(out, (char)width);
    tv_thrift_varint(out, (uint64_t)(count + 7) / 8 << 1 | 1);
    for (size_t i = 0; i < (count + 7) / 8 * 8; i++) {
        bits |= (uint64_t)(i < count ? places[i] : 0) << held;
        for (held += width; held >= 8; held -= 8) {
            tv_out_char(out, (char)(bits & 0xff));
            bits >>= 8;
        }
    }
}

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

bool tv_parquet_make_dictionary(struct tv_parquet_dictionary *dictionary, struct tv_bytes numbers,
                                size_t size, size_t most)
{
    size_t count = numbers.length / size;
    struct dictionary_index *index = tv_alloc(1, sizeof *index);
    uint32_t *places = tv_alloc(count, sizeof *places);
    unsigned width = 1;
    bool fits = true;
    dictionary->count = 0;
    tv_out_init_memory(&dictionary->numbers);
    tv_out_init_memory(&dictionary->places);
    tv_map_init(&index->others);
    for (size_t i = 0; i < count && fits; i++) {
        uint64_t number = 0;
        memcpy(&number, numbers.data + size * i, size); /* in any order of bytes */
        places[i] = dictionary_place(index, number, dictionary->count);
        if (places[i] < dictionary->count)
            continue;
        dictionary->count++;
        tv_out_bytes(&dictionary->numbers, (struct tv_bytes){numbers.data + size * i, size});
        while (dictionary->count > (uint32_t)1 << width)
            width++;
        fits = dictionary->numbers.length + count / 8 * width <= most;
    }
    if (fits)
        dictionary_pack(&dictionary->places, places, count, width);
    tv_map_release(&index->others);
    tv_free(index);
    tv_free(places);
    return fits;
}

void tv_parquet_release_dictionary(struct tv_parquet_dictionary *dictionary)
{
    tv_out_release(&dictionary->numbers);
    tv_out_release(&dictionary->places);
}
