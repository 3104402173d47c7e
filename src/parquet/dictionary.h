/* SPDX-License-Identifier: Apache-2.0 */
/* dictionary.h - a column as its distinct numbers and their places: Parquet's RLE_DICTIONARY. */
#ifndef TV_PARQUET_DICTIONARY_H
#define TV_PARQUET_DICTIONARY_H

#include "base/out.h"

struct tv_parquet_dictionary {
    struct tv_out numbers; /* the distinct ones */
    struct tv_out places;  /* of all, as a data page has them */
    uint32_t count;        /* distinct numbers */
};

/* Make the dictionary of numbers of `size` bytes, 4 or 8, in the order of their first places.
 * False: it would have more than `most` bytes.  Release it also then. */
bool tv_parquet_make_dictionary(struct tv_parquet_dictionary *dictionary, struct tv_bytes numbers,
                                size_t size, size_t most);
void tv_parquet_release_dictionary(struct tv_parquet_dictionary *dictionary);

#endif
