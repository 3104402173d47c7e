/* SPDX-License-Identifier: Apache-2.0 */
/*
 * damage.h - changes an index in ways that its checksums do not reveal: change sections, then write
 * the file again.  This tests the checks of contents (index/check.c), which run after those of the
 * checksums.
 */
#ifndef TV_TESTS_DAMAGE_H
#define TV_TESTS_DAMAGE_H

#include "base/out.h"
#include "base/sections.h"

/* One change, made of 8 arbitrary bytes. */
struct damage {
    uint8_t what;     /* see damage.c */
    uint8_t section;  /* modulo the number of sections */
    uint16_t element; /* modulo the number of elements */
    uint16_t byte;    /* modulo their size */
    uint16_t value;
};

/* Write the index with the changes. */
void damage_write(const struct tv_sections *sections, const struct tv_sections_id *id,
                  const struct damage *damages, size_t count, struct tv_out *out);

#endif
