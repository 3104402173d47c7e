/* SPDX-License-Identifier: Apache-2.0 */
/*
 * span_pack.h - gathered spans in 20 bytes instead of 32, or 28 instead of 48 with CPU times.
 *
 * They say how far they are from times and a place that records among them tell, first of all the
 * first of a block.  Where that would be needed too often, a block has whole spans.  For gather.c
 * and its tests alone.
 */
#ifndef TV_MODEL_SPAN_PACK_H
#define TV_MODEL_SPAN_PACK_H

#include "model/spans.h"

/* A span may be earlier than that with which the bases came by this; later by 3.8 s. */
#define TV_PACK_EARLIER ((int64_t)1 << 29)

/* Flags of a record that tells bases; no span has them. */
#define TV_PACK_BASES 0xffu

/* Lengths are no more than this, in packed blocks. */
#define TV_PACK_LONGEST (((int64_t)1 << 56) - 1)

struct tv_packed_span {
    uint32_t time, length, offset, frame;
    uint8_t colour, flags, no_padding[2];
};

/* As large; the next span is longer by length << 32. */
struct tv_packed_bases {
    int64_t time;
    uint64_t offset : 40;
    uint64_t length : 24;
    uint8_t colour, flags, no_padding[6];
};

/* What records of a timed block have behind them: of beginnings and ends `start` alone, UINT32_MAX:
 * unknown; of bases both are one number. */
struct tv_packed_cpu {
    uint32_t start, length;
};

static inline size_t tv_pack_size(bool packed, bool timed)
{
    if (packed)
        return sizeof(struct tv_packed_span) + (timed ? sizeof(struct tv_packed_cpu) : 0);
    return sizeof(struct tv_span) + (timed ? sizeof(struct tv_cpu_times) : 0);
}

#endif
