/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sections.h - a file of tables: each a section of so many elements of one size, with a checksum.
 *
 *     header      magic, layout, version of the program, key
 *     section...  each from a multiple of TV_SECTION_ALIGNMENT on, zeros between
 *     directory   tag, number, element size, count, offset and checksum of each
 *     trailer     where the directory lies and the checksum of it and of the header; magic
 *
 * Elements are structs as this machine and this build have them in memory, to be used where they
 * lie: such a file is a cache for who wrote it and never crosses machines.  The trailer comes last:
 * a file that was cut off has none.  The file knows nothing of what its sections mean.
 */
#ifndef TV_BASE_SECTIONS_H
#define TV_BASE_SECTIONS_H

#include "base/error.h"
#include "base/out.h"
#include "base/types.h"

/* A cache line, and more than any element asks for. */
#define TV_SECTION_ALIGNMENT ((size_t)64)

/* The longest key. */
#define TV_SECTIONS_KEY ((size_t)4096)

/* What a section is, four letters: TV_SECTION_TAG('p', 'a', 't', 'h'). */
#define TV_SECTION_TAG(a, b, c, d)                                                                 \
    ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

/* What must be equal for a file to be believed. */
struct tv_sections_id {
    const char *version; /* of the program; at most 63 bytes */
    uint64_t layout;     /* of the structs in its sections */
    struct tv_bytes key; /* what the file was made of: the caller's own bytes */
};

/* ---- Writing ---- */

struct tv_section_row;

struct tv_sections_writer {
    struct tv_out *out;
    struct tv_section_row *rows;
    size_t count, capacity;
    uint64_t head_size, head_checksum;
};

/* `out` is empty and lives until tv_sections_end. */
void tv_sections_begin(struct tv_sections_writer *writer, const struct tv_sections_id *id,
                       struct tv_out *out);

/* Adds a section; `number` tells those of one tag apart. */
void tv_sections_add(struct tv_sections_writer *writer, uint32_t tag, uint32_t number,
                     size_t element_size, uint64_t count, const void *elements);

/* Directory and trailer; the writer is gone.  The caller finishes `out`, which tells errors. */
void tv_sections_end(struct tv_sections_writer *writer);

/* ---- Reading ---- */

/* Bytes that lie still, where tv_alloc or tv_file_map put them; nobody writes to them. */
struct tv_sections_memory {
    struct tv_bytes bytes;
    void (*release)(struct tv_bytes bytes); /* NULL: they are somebody else's */
};

struct tv_sections;

/* Takes the memory over, also on failure.  TV_ERR_SYNTAX: these are no sections, or not whole, or
 * damaged; TV_ERR_UNSUPPORTED: of another version, layout or key.  All checksums are verified, by
 * `workers` threads (0: one a processor). */
enum tv_status tv_sections_open(const struct tv_sections_memory *memory,
                                const struct tv_sections_id *id, unsigned workers,
                                struct tv_sections **sections, struct tv_error *err) TV_MUST_CHECK;

/* Releases the memory as well. NULL is fine. */
void tv_sections_close(struct tv_sections *sections);

/* How many there are, and one of them: for whoever looks at all. */
struct tv_section {
    uint32_t tag, number;
    size_t element_size;
    uint64_t count;
    const void *elements;
};
size_t tv_sections_count(const struct tv_sections *sections);
struct tv_section tv_sections_at(const struct tv_sections *sections, size_t index);

/* The elements of a section, of which there may be none; NULL: there is no such section, or its
 * elements have another size. */
const void *tv_sections_find(const struct tv_sections *sections, uint32_t tag, uint32_t number,
                             size_t element_size, uint64_t *count);

#endif
