/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inlined.h - code of another file inside a function of elf.c.
 */
#ifndef UNIT_SYMBOLS_INLINED_H
#define UNIT_SYMBOLS_INLINED_H

/* Mix a value; always inlined, so its instructions are in the caller. */
__attribute__((always_inline)) static inline int mix_inlined(volatile int *value)
{
    *value = *value * 7 + 3;
    *value = *value * 5 + 1;
    return *value;
}

#endif
