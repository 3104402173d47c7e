/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf_out.h - fields of protobuf messages to an output; protobuf.h reads them and shows their
 * layout.
 *
 * A submessage has its length in front, so a writer collects it in an output in memory and then
 * puts it into the outer one:
 *
 *     tv_protobuf_put_number(&inner, 1, 150);
 *     tv_protobuf_put_message(out, 3, &inner);    and `inner` is empty again
 */
#ifndef TV_BASE_PROTOBUF_OUT_H
#define TV_BASE_PROTOBUF_OUT_H

#include "base/bytes.h"
#include "base/out.h"
#include "base/protobuf.h"

/* Write a number of 64 bits in one to ten bytes. */
static inline void tv_protobuf_put_varint(struct tv_out *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        tv_out_char(out, (char)(value | 0x80));
    tv_out_char(out, (char)value);
}

static inline void tv_protobuf_put_key(struct tv_out *out, uint32_t field,
                                       enum tv_protobuf_wire wire)
{
    tv_protobuf_put_varint(out, (uint64_t)field << 3 | wire);
}

/* Write a number, also when it is 0; signed ones are two's complement. */
static inline void tv_protobuf_put_number(struct tv_out *out, uint32_t field, uint64_t value)
{
    tv_protobuf_put_key(out, field, TV_PROTOBUF_VARINT);
    tv_protobuf_put_varint(out, value);
}

/* Write a number of a field whose default is 0: then nothing. */
static inline void tv_protobuf_put_nonzero(struct tv_out *out, uint32_t field, uint64_t value)
{
    if (value != 0)
        tv_protobuf_put_number(out, field, value);
}

/* Write a number in eight bytes. */
static inline void tv_protobuf_put_fixed64(struct tv_out *out, uint32_t field, uint64_t value)
{
    tv_protobuf_put_key(out, field, TV_PROTOBUF_FIXED64);
    tv_out_le32(out, (uint32_t)value);
    tv_out_le32(out, (uint32_t)(value >> 32));
}

static inline void tv_protobuf_put_double(struct tv_out *out, uint32_t field, double value)
{
    tv_protobuf_put_key(out, field, TV_PROTOBUF_FIXED64);
    tv_out_f64(out, value);
}

/* Write bytes or text. */
static inline void tv_protobuf_put_bytes(struct tv_out *out, uint32_t field, struct tv_bytes bytes)
{
    tv_protobuf_put_key(out, field, TV_PROTOBUF_BYTES);
    tv_protobuf_put_varint(out, bytes.length);
    tv_out_bytes(out, bytes);
}

/* Write a message that was collected in memory, and empty it. */
static inline void tv_protobuf_put_message(struct tv_out *out, uint32_t field,
                                           struct tv_out *message)
{
    tv_protobuf_put_bytes(out, field, (struct tv_bytes){message->buffer, message->length});
    message->length = 0;
}

#endif
