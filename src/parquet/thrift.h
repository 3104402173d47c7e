/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thrift.h - the compact encoding of Apache Thrift, in which Parquet keeps its metadata.
 *
 * A struct is a list of fields, each with the distance to the id of the field before it.  Numbers
 * are zigzag varints.  Every begun struct is ended in the reverse order.
 */
#ifndef TV_PARQUET_THRIFT_H
#define TV_PARQUET_THRIFT_H

#include "base/out.h"

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

#endif
