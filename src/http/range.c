/* SPDX-License-Identifier: Apache-2.0 */
#include "http/range.h"

#include "base/bytes.h"

/* "-5": the last five. */
static enum tv_range_kind read_end(struct tv_bytes length, uint64_t size, uint64_t *from,
                                   uint64_t *to)
{
    uint64_t wanted;
    if (!tv_parse_u64(length, &wanted))
        return TV_RANGE_NONE;
    if (wanted == 0 || size == 0)
        return TV_RANGE_OUTSIDE;
    *from = wanted < size ? size - wanted : 0;
    *to = size;
    return TV_RANGE_PART;
}

enum tv_range_kind tv_range_read(const char *text, uint64_t size, uint64_t *from, uint64_t *to)
{
    static const struct tv_bytes unit = {(const uint8_t *)"bytes=", 6};
    struct tv_bytes rest, first;
    uint64_t last;
    if (text == NULL || !tv_bytes_starts_with(tv_bytes_of(text), unit))
        return TV_RANGE_NONE;
    rest = tv_bytes_of(text + unit.length);
    if (!tv_bytes_split(&rest, '-', &first))
        return TV_RANGE_NONE;
    if (first.length == 0)
        return read_end(rest, size, from, to);
    if (!tv_parse_u64(first, from))
        return TV_RANGE_NONE;
    if (rest.length == 0)
        last = UINT64_MAX;
    else if (!tv_parse_u64(rest, &last) || last < *from)
        return TV_RANGE_NONE;
    if (*from >= size)
        return TV_RANGE_OUTSIDE;
    *to = last < size ? last + 1 : size;
    return TV_RANGE_PART;
}
