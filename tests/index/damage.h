/* SPDX-License-Identifier: Apache-2.0 */
/*
 * damage.h - changes of an index that its checksums do not show: its sections are changed and
 * written anew.  So what looks at their contents is tested, not what adds them up.
 */
#ifndef TV_TESTS_DAMAGE_H
#define TV_TESTS_DAMAGE_H

#include "base/out.h"
#include "base/sections.h"

/* One change, as 8 bytes of anything. */
struct damage {
    uint8_t what;     /* see damage.c */
    uint8_t section;  /* modulo how many there are */
    uint16_t element; /* modulo how many it has */
    uint16_t byte;    /* modulo their size */
    uint16_t value;
};

/* Writes the index with the changes made. */
void damage_write(const struct tv_sections *sections, const struct tv_sections_id *id,
                  const struct damage *damages, size_t count, struct tv_out *out);

#endif
