/* SPDX-License-Identifier: Apache-2.0 */
#include "view/columns.h"

#include "base/memory.h"

struct tv_column tv_column_new(uint32_t count)
{
    struct tv_column column = {.count = count};
    column.times = tv_alloc(count, sizeof *column.times);
    column.numbers = (uint32_t *)(void *)column.times;
    return column;
}

void tv_column_release(struct tv_column *column)
{
    tv_free(column->times);
}

/* A column in memory is its bytes in an answer, but on a big-endian machine. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

void tv_column_write_times(struct tv_out *out, const struct tv_column *column)
{
    tv_out_bytes(out, (struct tv_bytes){(const uint8_t *)column->times,
                                        column->count * sizeof *column->times});
}

void tv_column_write_u32(struct tv_out *out, const uint32_t *numbers, uint32_t count)
{
    tv_out_bytes(out, (struct tv_bytes){(const uint8_t *)numbers, count * sizeof *numbers});
}

#else

void tv_column_write_times(struct tv_out *out, const struct tv_column *column)
{
    for (uint32_t i = 0; i < column->count; i++)
        tv_out_f64(out, column->times[i]);
}

void tv_column_write_u32(struct tv_out *out, const uint32_t *numbers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        tv_out_le32(out, numbers[i]);
}

#endif

void tv_column_write_numbers(struct tv_out *out, const struct tv_column *column)
{
    tv_column_write_u32(out, column->numbers, column->count);
    if (column->count % 2)
        tv_out_le32(out, 0);
}
