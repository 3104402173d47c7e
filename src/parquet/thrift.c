/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thrift.c - a writer of Thrift's compact protocol, as far as Parquet needs it
 * (internal.h).
 *
 *     struct := field ... 0                  the 0 ends the struct
 *     field  := (id - last id) << 4 | type   one byte, then the value
 *     list   := count << 4 | type, elements  a count of 15 and more follows as a varint
 *
 * The id of a field is written as its distance from the field before it in the
 * same struct.  So fields are written in the order of their ids, and each open
 * struct remembers its last id: `last` is a stack with one entry per level.  A
 * distance above 15 has a longer form, which no struct of Parquet needs.
 *
 * Integers are zigzag varints: 0, -1, 1, -2, ... become 0, 1, 2, 3, ..., so
 * small negative numbers are short.
 *
 * Source: the specification thrift-compact-protocol.md of Apache Thrift.
 */
#include "parquet/internal.h"

#include <assert.h>

void tv_thrift_varint(struct tv_out *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        tv_out_char(out, (char)(value | 0x80));
    tv_out_char(out, (char)value);
}

/* Write a signed integer as (value << 1) ^ (value >> 63), without shifting a
 * negative number. */
static void thrift_zigzag(struct tv_out *out, int64_t value)
{
    tv_thrift_varint(out, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

/* Write the head of a field; ids grow within a struct. */
static void thrift_field(struct tv_thrift *thrift, int id, enum tv_thrift_type type)
{
    assert(thrift->depth > 0);
    int *last = &thrift->last[thrift->depth - 1];
    assert(id > *last && id - *last <= 15);
    tv_out_char(thrift->out, (char)((id - *last) << 4 | (int)type));
    *last = id;
}

void tv_thrift_i32(struct tv_thrift *thrift, int id, int32_t value)
{
    thrift_field(thrift, id, TV_THRIFT_I32);
    thrift_zigzag(thrift->out, value);
}

void tv_thrift_i64(struct tv_thrift *thrift, int id, int64_t value)
{
    thrift_field(thrift, id, TV_THRIFT_I64);
    thrift_zigzag(thrift->out, value);
}

void tv_thrift_binary(struct tv_thrift *thrift, int id, struct tv_bytes bytes)
{
    thrift_field(thrift, id, TV_THRIFT_BINARY);
    tv_thrift_item_binary(thrift, bytes);
}

void tv_thrift_list(struct tv_thrift *thrift, int id, enum tv_thrift_type type, size_t count)
{
    thrift_field(thrift, id, TV_THRIFT_LIST);
    tv_out_char(thrift->out, (char)((count < 15 ? count : 15) << 4 | (size_t)type));
    if (count >= 15)
        tv_thrift_varint(thrift->out, count);
}

void tv_thrift_item_i32(struct tv_thrift *thrift, int32_t value)
{
    thrift_zigzag(thrift->out, value);
}

void tv_thrift_item_binary(struct tv_thrift *thrift, struct tv_bytes bytes)
{
    tv_thrift_varint(thrift->out, bytes.length);
    tv_out_bytes(thrift->out, bytes);
}

void tv_thrift_begin(struct tv_thrift *thrift, int id)
{
    thrift_field(thrift, id, TV_THRIFT_STRUCT);
    tv_thrift_begin_item(thrift);
}

/* Open a struct that is an element of a list, or the outermost one: these have
 * no id. */
void tv_thrift_begin_item(struct tv_thrift *thrift)
{
    assert(thrift->depth < TV_THRIFT_DEPTH);
    thrift->last[thrift->depth++] = 0;
}

/* Write the type STOP, which ends a struct. */
void tv_thrift_end(struct tv_thrift *thrift)
{
    assert(thrift->depth > 0);
    tv_out_char(thrift->out, '\0');
    thrift->depth--;
}
