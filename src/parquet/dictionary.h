/* SPDX-License-Identifier: Apache-2.0 */
/* dictionary.h - a column as its distinct numbers and their places: Parquet's RLE_DICTIONARY. */
#ifndef TV_PARQUET_DICTIONARY_H
#define TV_PARQUET_DICTIONARY_H

#include "base/out.h"

struct tv_parquet_dictionary {
    struct tv_out numbers; /* the distinct ones, sorted as bytes without sign */
    struct tv_out places;  /* as a data page has them (tv_parquet_pack_places) */
    uint32_t count;        /* distinct numbers */
    unsigned width;        /* bits that a place needs */
    uint32_t *of;          /* [length] the place of each number of the column */
    size_t length;
};

/* Make the dictionary of numbers of `size` bytes, 4 or 8.  False: its numbers would have more than
 * `most` bytes.  Release it also then. */
bool tv_parquet_make_dictionary(struct tv_parquet_dictionary *dictionary, struct tv_bytes numbers,
                                size_t size, size_t most);

/* Replace `places` by those of `count` numbers from the one at `first` on, in `width` bits each. */
void tv_parquet_pack_places(struct tv_parquet_dictionary *dictionary, size_t first, size_t count,
                            unsigned width);
void tv_parquet_release_dictionary(struct tv_parquet_dictionary *dictionary);

#endif
