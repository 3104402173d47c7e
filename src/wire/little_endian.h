/* SPDX-License-Identifier: Apache-2.0 */
/*
 * little_endian.h - little-endian integers at any address.
 *
 * Neither alignment nor the machine's byte order matters.  The caller checks bounds.
 */
#ifndef TV_WIRE_LITTLE_ENDIAN_H
#define TV_WIRE_LITTLE_ENDIAN_H

#include <stdint.h>
#include <string.h>

/* On a little-endian machine copy the bytes: compilers turn the copy into one load.  They do not
 * always do that with shifted bytes, for example when the lowest byte is also used alone. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define TV_LE_LOAD(type, at, otherwise)                                                            \
    type value;                                                                                    \
    memcpy(&value, at, sizeof value);                                                              \
    return value
#else
#define TV_LE_LOAD(type, at, otherwise) return otherwise
#endif

static inline uint16_t tv_le_get_u16(const uint8_t *at)
{
    TV_LE_LOAD(uint16_t, at, (uint16_t)((uint32_t)at[0] | (uint32_t)at[1] << 8));
}

static inline uint32_t tv_le_get_u24(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16;
}

static inline uint32_t tv_le_get_u32(const uint8_t *at)
{
    TV_LE_LOAD(uint32_t, at,
               (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
                   (uint32_t)at[3] << 24);
}

static inline uint64_t tv_le_get_u64(const uint8_t *at)
{
    TV_LE_LOAD(uint64_t, at,
               (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 |
                   (uint64_t)at[3] << 24 | (uint64_t)at[4] << 32 | (uint64_t)at[5] << 40 |
                   (uint64_t)at[6] << 48 | (uint64_t)at[7] << 56);
}

static inline void tv_le_put_u16(uint8_t *at, uint16_t value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
}

static inline void tv_le_put_u24(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
    at[2] = (uint8_t)(value >> 16);
}

static inline void tv_le_put_u32(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
    at[2] = (uint8_t)(value >> 16);
    at[3] = (uint8_t)(value >> 24);
}

static inline void tv_le_put_u64(uint8_t *at, uint64_t value)
{
    tv_le_put_u32(at, (uint32_t)value);
    tv_le_put_u32(at + 4, (uint32_t)(value >> 32));
}

#endif
