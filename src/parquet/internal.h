/* SPDX-License-Identifier: Apache-2.0 */
/*
 * internal.h - what the writer of Parquet files (parquet.c) is made of: Thrift for the metadata
 * (thrift.c), and two encodings of whole numbers (delta.c, dictionary.c).
 */
#ifndef TV_PARQUET_INTERNAL_H
#define TV_PARQUET_INTERNAL_H

#include "base/out.h"

/* ---- thrift.c ----
 *
 * The compact encoding of Apache Thrift, in which Parquet keeps its metadata.
 *
 * A struct is a list of fields, each with the distance to the id of the field before it.  Numbers
 * are zigzag varints.  Every begun struct is ended in the reverse order.
 */

#define TV_THRIFT_DEPTH 8

enum tv_thrift_type {
    TV_THRIFT_I32 = 5,
    TV_THRIFT_I64 = 6,
    TV_THRIFT_BINARY = 8,
    TV_THRIFT_LIST = 9,
    TV_THRIFT_STRUCT = 12,
};

struct tv_thrift {
    struct tv_out *out;
    int last[TV_THRIFT_DEPTH]; /* id of the last field of each open struct */
    int depth;
};

/* Append an unsigned varint. */
void tv_thrift_varint(struct tv_out *out, uint64_t value);

/* Write a field of the open struct: a number of 32 bits. */
void tv_thrift_i32(struct tv_thrift *thrift, int id, int32_t value);
/* A number of 64 bits. */
void tv_thrift_i64(struct tv_thrift *thrift, int id, int64_t value);
/* Bytes, or a text. */
void tv_thrift_binary(struct tv_thrift *thrift, int id, struct tv_bytes bytes);

/* Begin a list of `count` items; numbers in it are written with tv_thrift_item_i32, texts with
 * tv_thrift_item_binary, structs with tv_thrift_begin_item. */
void tv_thrift_list(struct tv_thrift *thrift, int id, enum tv_thrift_type type, size_t count);
void tv_thrift_item_i32(struct tv_thrift *thrift, int32_t value);
void tv_thrift_item_binary(struct tv_thrift *thrift, struct tv_bytes bytes);

/* Begin a struct that is a field, or an item of a list or the root; end either. */
void tv_thrift_begin(struct tv_thrift *thrift, int id);
void tv_thrift_begin_item(struct tv_thrift *thrift);
void tv_thrift_end(struct tv_thrift *thrift);

/* ---- delta.c ----
 *
 * Whole numbers as differences: Parquet's encoding DELTA_BINARY_PACKED.
 */

/* Append numbers of `size` bytes (4 or 8), little-endian, of which there is at least one, as
 * differences: blocks of 128 with the smallest difference, and what each has more in as few bits as
 * 32 of them need. */
void tv_parquet_put_delta(struct tv_out *out, struct tv_bytes numbers, size_t size);

/* ---- dictionary.c ----
 *
 * A column as its distinct numbers and their places: Parquet's RLE_DICTIONARY.
 */

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
