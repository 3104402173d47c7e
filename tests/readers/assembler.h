/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assembler.h - bytes from commented text, for the inputs of cases.
 *
 *     "text\n\t\\\"\x00"    bytes
 *     u1 u2 u3 u4 u8 N...   little-endian numbers: decimal, 0x..., negative
 *     b2 b4 b8 N...         the same big-endian
 *     uleb N...  sleb N...  LEB128
 *     u2 [ ... ]            what stands between, with its length in front (u1, u2, u4, b2, b4)
 *     zeros N               N bytes of 0
 *     base64 [ ... ]        what stands between, encoded
 *     :name                 names this place
 *     # ...                 a comment, to the end of the line
 *
 * Words are separated by blanks and line ends.
 */
#ifndef TV_TESTS_ASSEMBLER_H
#define TV_TESTS_ASSEMBLER_H

#include "base/out.h"

#define ASSEMBLY_PLACES 64

struct assembly {
    struct tv_out out;
    struct {
        struct tv_bytes name; /* within the text */
        size_t offset;
    } places[ASSEMBLY_PLACES];
    size_t place_count;
};

/* Fills *assembly, whose `out` goes to memory. False, with a message in err: the text is not right.
 */
bool assemble(struct tv_bytes text, struct assembly *assembly, struct tv_error *err);

/* Copies `text`, with the places' offsets for "@name" and "@name+N". False: there is no such place.
 */
bool assembly_resolve(const struct assembly *assembly, struct tv_bytes text, struct tv_out *out);

#endif
