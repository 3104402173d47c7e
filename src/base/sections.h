/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sections.h - a file of tables: each section holds elements of one size and has a checksum.
 *
 *     header      magic, container version, program version, layout, key
 *     section...  each at a multiple of TV_SECTION_ALIGNMENT, zeros between
 *     directory   tag, number, element size, count, offset and checksum of each section
 *     trailer     offset of the directory, checksums of directory and header, magic
 *
 * The elements are structs exactly as this build has them in memory, so a reader uses them in
 * place: such a file is a private cache and never moves between machines.  The trailer is written
 * last, so a truncated file has none.  This module knows nothing about the meaning of a section.
 */
#ifndef TV_BASE_SECTIONS_H
#define TV_BASE_SECTIONS_H

#include "base/error.h"
#include "base/out.h"
#include "base/types.h"

/* A cache line, and at least the alignment of any element. */
#define TV_SECTION_ALIGNMENT ((size_t)64)

/* Maximum length of a key. */
#define TV_SECTIONS_KEY ((size_t)4096)

/* Name of a section, four letters: TV_SECTION_TAG('p', 'a', 't', 'h'). */
#define TV_SECTION_TAG(a, b, c, d)                                                                 \
    ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

/* Identity of a file; a file with another identity is rejected. */
struct tv_sections_id {
    const char *version; /* of the program; at most 63 bytes */
    uint64_t layout;     /* of the structs in the sections */
    struct tv_bytes key; /* describes the origin of the contents; the caller's own bytes */
};

/* ---- Writing ---- */

struct tv_section_row;

struct tv_sections_writer {
    struct tv_out *out;
    struct tv_section_row *rows;
    size_t count, capacity;
    uint64_t head_size, head_checksum;
};

/* Write the header.  `out` is empty and must live until tv_sections_end. */
void tv_sections_begin(struct tv_sections_writer *writer, const struct tv_sections_id *id,
                       struct tv_out *out);

/* Append a section; `number` distinguishes sections with equal tags. */
void tv_sections_add(struct tv_sections_writer *writer, uint32_t tag, uint32_t number,
                     size_t element_size, uint64_t count, const void *elements);

/* Write directory and trailer and release the writer.  The caller finishes `out`, which reports
 * errors. */
void tv_sections_end(struct tv_sections_writer *writer);

/* ---- Reading ---- */

/* Constant bytes at a fixed address, from tv_alloc or tv_file_map. */
struct tv_sections_memory {
    struct tv_bytes bytes;
    void (*release)(struct tv_bytes bytes); /* NULL: the caller keeps them */
};

struct tv_sections;

/* Open a file in memory and take the memory over, also on failure.  `workers` threads verify all
 * checksums (0: one per processor).  TV_ERR_SYNTAX: not a section file, truncated or damaged;
 * TV_ERR_UNSUPPORTED: another version, layout or key. */
enum tv_status tv_sections_open(const struct tv_sections_memory *memory,
                                const struct tv_sections_id *id, unsigned workers,
                                struct tv_sections **sections, struct tv_error *err) TV_MUST_CHECK;

/* Close the file and release its memory.  NULL is allowed. */
void tv_sections_close(struct tv_sections *sections);

/* Access to all sections by index. */
struct tv_section {
    uint32_t tag, number;
    size_t element_size;
    uint64_t count;
    const void *elements;
};
size_t tv_sections_count(const struct tv_sections *sections);
struct tv_section tv_sections_at(const struct tv_sections *sections, size_t index);

/* Return the elements of a section, which may be none.  NULL: there is no such section, or its
 * elements have another size. */
const void *tv_sections_find(const struct tv_sections *sections, uint32_t tag, uint32_t number,
                             size_t element_size, uint64_t *count);

#endif
