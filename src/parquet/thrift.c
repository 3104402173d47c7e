/* SPDX-License-Identifier: Apache-2.0 */
#include "parquet/thrift.h"

#include <assert.h>

void tv_thrift_varint(struct tv_out *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        tv_out_char(out, (char)(value | 0x80));
    tv_out_char(out, (char)value);
}

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

void tv_thrift_begin_item(struct tv_thrift *thrift)
{
    assert(thrift->depth < TV_THRIFT_DEPTH);
    thrift->last[thrift->depth++] = 0;
}

void tv_thrift_end(struct tv_thrift *thrift)
{
    assert(thrift->depth > 0);
    tv_out_char(thrift->out, '\0');
    thrift->depth--;
}
