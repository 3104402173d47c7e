/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inlined.h - the functions that the compiler inlined at an address, from DWARF.
 *
 *     unit -> functions by address -> main -> block -> inlined work -> block -> inlined mix
 *                                     '--- scopes that contain the address, from the outside ---'
 *
 * A unit lists its functions once, when the first address in it is asked for: a large C++ unit has
 * 100,000 entries, and reading them all for each address would take minutes.
 */
#ifndef TV_SYMBOLS_INLINED_H
#define TV_SYMBOLS_INLINED_H

#include <elfutils/libdw.h>

#include "base/map.h"

struct tv_inlined_unit;

/* The functions of the units of one file. */
struct tv_inlined {
    Dwarf *dwarf;
    struct tv_map numbers; /* offset of a unit -> its number in `units` */
    struct tv_inlined_unit *units;
    size_t count, capacity;
    size_t range_count; /* of all units */
};

void tv_inlined_init(struct tv_inlined *inlined, Dwarf *dwarf);
void tv_inlined_release(struct tv_inlined *inlined);

/* Store the inlined functions of a unit that contain an address, the outermost first, at most
 * `room`; return their number. */
size_t tv_inlined_find(struct tv_inlined *inlined, Dwarf_Die *unit, uint64_t address,
                       Dwarf_Die *found, size_t room);

/* Return the name of an inlined function as the linker would know it, or NULL. */
const char *tv_inlined_name(Dwarf_Die *function);

/* Return the line of the call that was replaced by the function; 0: unknown. */
int32_t tv_inlined_call_line(Dwarf_Die *function);

#endif
