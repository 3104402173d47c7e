/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sections.c - writing a section file front to back, and opening one with every check.
 *
 * A file is trusted only after all checks: header, trailer, directory, the bounds of every section,
 * and the checksums, which several workers compute.  Readers of the sections may then use the
 * elements in place; whether their values make sense is the business of the module that owns them.
 *
 *     found                                answer
 *     no magic, cut off, wrong checksum    damaged (TV_ERR_SYNTAX)
 *     other version, layout, byte order    another program wrote it (TV_ERR_UNSUPPORTED)
 *     another key                          of another file, or of its earlier contents (the same)
 *
 * In all these cases the caller makes the file again; the words are for people who ask why.  The
 * version comes first: what an older program wrote is not damaged.
 *
 * A section's checksum is the sum of those of its blocks, each mixed with its number.  A sum does
 * not depend on the order, so workers add up blocks as they come; the number makes two blocks that
 * changed places a difference.
 */
#include "base/sections.h"

#include <assert.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/workers.h"

/* Version of the container; the contents of the sections have a layout number of their own. */
#define FORMAT 1u

/* Reads differently on a machine of the other byte order. */
#define BYTE_ORDER_MARK UINT32_C(0x01020304)

#define MAGIC "TVINDEX\n"
#define MAGIC_SIZE 8
#define VERSION_SIZE 64

/* Checksums cover blocks of this size, so that workers can share a large section. */
#define CHECKSUM_BLOCK ((size_t)1 << 20)

/* Alignment of tv_alloc, which suffices for every element. */
#define MEMORY_ALIGNMENT 16u

struct sections_header {
    uint8_t magic[MAGIC_SIZE];
    uint32_t format, byte_order;
    uint64_t layout;
    char version[VERSION_SIZE];
    uint64_t key_length; /* the key follows the header */
};

struct tv_section_row {
    uint32_t tag, number;
    uint64_t element_size, count;
    uint64_t offset;
    uint64_t checksum;
};

struct sections_trailer {
    uint64_t head_size, head_checksum;
    uint64_t directory_offset, directory_count, directory_checksum;
    uint64_t checksum; /* checksum of the fields before this one */
    uint8_t magic[MAGIC_SIZE];
};

/* ---- Checksums ---- */

static size_t sections_block_count(size_t size)
{
    return size / CHECKSUM_BLOCK + (size % CHECKSUM_BLOCK != 0);
}

/* Return a block; the last one may be shorter. */
static struct tv_bytes sections_block_at(const uint8_t *data, size_t size, size_t block)
{
    size_t first = block * CHECKSUM_BLOCK, left = size - first;
    return (struct tv_bytes){data + first, left < CHECKSUM_BLOCK ? left : CHECKSUM_BLOCK};
}

static uint64_t sections_sum_block(const uint8_t *data, size_t size, size_t block)
{
    return tv_checksum(sections_block_at(data, size, block), block + 1);
}

static uint64_t sections_sum_trailer(const struct sections_trailer *trailer)
{
    const uint8_t *bytes = (const uint8_t *)trailer;
    return tv_checksum((struct tv_bytes){bytes, offsetof(struct sections_trailer, checksum)}, 0);
}

/* ---- Writing ---- */

/* Make the header of a file with this identity. Padding is zero, because headers are compared and
 * summed as bytes. */
static void sections_fill_header(struct sections_header *header, const struct tv_sections_id *id)
{
    size_t length = strlen(id->version);
    memset(header, 0, sizeof *header);
    memcpy(header->magic, MAGIC, MAGIC_SIZE);
    header->format = FORMAT;
    header->byte_order = BYTE_ORDER_MARK;
    header->layout = id->layout;
    memcpy(header->version, id->version, length < VERSION_SIZE ? length : VERSION_SIZE - 1);
    header->key_length = id->key.length;
}

static uint64_t sections_sum_header(const struct sections_header *header, struct tv_bytes key)
{
    struct tv_bytes bytes = {(const uint8_t *)header, sizeof *header};
    return tv_checksum(key, tv_checksum(bytes, 0));
}

static uint64_t sections_out_position(const struct tv_out *out)
{
    return out->total + out->length;
}

void tv_sections_begin(struct tv_sections_writer *writer, const struct tv_sections_id *id,
                       struct tv_out *out)
{
    struct sections_header header;
    assert(strlen(id->version) < VERSION_SIZE && id->key.length <= TV_SECTIONS_KEY);
    *writer = (struct tv_sections_writer){.out = out};
    sections_fill_header(&header, id);
    tv_out_bytes(out, (struct tv_bytes){(const uint8_t *)&header, sizeof header});
    tv_out_bytes(out, id->key);
    writer->head_size = sections_out_position(out);
    writer->head_checksum = sections_sum_header(&header, id->key);
}

void tv_sections_add(struct tv_sections_writer *writer, uint32_t tag, uint32_t number,
                     size_t element_size, uint64_t count, const void *elements)
{
    size_t size = tv_size_mul(element_size, (size_t)count);
    assert(element_size > 0);
    tv_out_align(writer->out, TV_SECTION_ALIGNMENT);
    writer->rows =
        tv_array_reserve(writer->rows, &writer->capacity, writer->count + 1, sizeof *writer->rows);
    struct tv_section_row *row = &writer->rows[writer->count++];
    *row = (struct tv_section_row){
        tag, number, element_size, count, sections_out_position(writer->out), 0};
    /* Block by block, so that each one comes into memory once. */
    for (size_t i = 0; i < sections_block_count(size); i++) {
        struct tv_bytes block = sections_block_at(elements, size, i);
        tv_memory_prefetch(block.data, block.length);
        row->checksum += tv_checksum(block, i + 1);
        tv_out_bytes(writer->out, block);
    }
}

void tv_sections_end(struct tv_sections_writer *writer)
{
    struct sections_trailer trailer = {.head_size = writer->head_size,
                                       .head_checksum = writer->head_checksum,
                                       .directory_count = writer->count};
    struct tv_bytes rows = {(const uint8_t *)writer->rows, writer->count * sizeof *writer->rows};
    tv_out_align(writer->out, TV_SECTION_ALIGNMENT);
    trailer.directory_offset = sections_out_position(writer->out);
    trailer.directory_checksum = tv_checksum(rows, 0);
    trailer.checksum = sections_sum_trailer(&trailer);
    memcpy(trailer.magic, MAGIC, MAGIC_SIZE);
    tv_out_bytes(writer->out, rows);
    tv_out_bytes(writer->out, (struct tv_bytes){(const uint8_t *)&trailer, sizeof trailer});
    tv_free(writer->rows);
    *writer = (struct tv_sections_writer){.out = NULL};
}

/* ---- Reading ---- */

struct tv_sections {
    struct tv_sections_memory memory;
    const struct tv_section_row *rows;
    size_t count;
    struct tv_map map; /* (tag, number) -> row */
};

static uint64_t sections_map_key(uint32_t tag, uint32_t number)
{
    return (uint64_t)tag << 32 | number;
}

static enum tv_status sections_fail_damaged(struct tv_error *err, uint64_t offset, const char *what)
{
    return tv_fail(err, TV_ERR_SYNTAX, offset, "the index is damaged: %s", what);
}

/* Check the header first, so that a file of another version is called that, even if it is
 * truncated. */
static enum tv_status sections_check_header(struct tv_bytes bytes, const struct tv_sections_id *id,
                                            struct tv_error *err)
{
    struct sections_header header, wanted;
    sections_fill_header(&wanted, id);
    if (bytes.length < sizeof header)
        return tv_fail(err, TV_ERR_SYNTAX, bytes.length, "the index is cut off");
    memcpy(&header, bytes.data, sizeof header);
    if (memcmp(header.magic, MAGIC, MAGIC_SIZE) != 0)
        return tv_fail(err, TV_ERR_SYNTAX, 0, "this is no index");
    if (header.format != wanted.format || header.byte_order != wanted.byte_order ||
        memcmp(header.version, wanted.version, VERSION_SIZE) != 0 || header.layout != wanted.layout)
        return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                       "the index is of another version of the program");
    struct tv_bytes key = {bytes.data + sizeof header, bytes.length - sizeof header};
    if (key.length < id->key.length)
        return tv_fail(err, TV_ERR_SYNTAX, bytes.length, "the index is cut off");
    key.length = id->key.length;
    if (header.key_length != id->key.length || !tv_bytes_equal(key, id->key))
        return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET, "the index is of another file");
    return TV_OK;
}

/* Check that header and trailer belong together, and find the directory. */
static enum tv_status sections_check_trailer(struct tv_bytes bytes, const struct tv_sections_id *id,
                                             struct sections_trailer *trailer, struct tv_error *err)
{
    struct sections_header header;
    uint64_t head_size = sizeof header + id->key.length;
    if (bytes.length - head_size < sizeof *trailer)
        return tv_fail(err, TV_ERR_SYNTAX, bytes.length, "the index is cut off");
    uint64_t end = bytes.length - sizeof *trailer;
    memcpy(&header, bytes.data, sizeof header);
    memcpy(trailer, bytes.data + end, sizeof *trailer);
    if (memcmp(trailer->magic, MAGIC, MAGIC_SIZE) != 0)
        return tv_fail(err, TV_ERR_SYNTAX, bytes.length, "the index is cut off");
    if (trailer->checksum != sections_sum_trailer(trailer))
        return sections_fail_damaged(err, end, "its end");
    if (trailer->head_size != head_size ||
        trailer->head_checksum != sections_sum_header(&header, id->key))
        return sections_fail_damaged(err, 0, "its beginning");
    uint64_t offset = trailer->directory_offset, count = trailer->directory_count;
    if (offset % TV_SECTION_ALIGNMENT != 0 || offset < head_size || offset > end ||
        count != (end - offset) / sizeof(struct tv_section_row) ||
        (end - offset) % sizeof(struct tv_section_row) != 0)
        return sections_fail_damaged(err, end, "the place of its directory");
    struct tv_bytes rows = {bytes.data + offset, (size_t)(end - offset)};
    if (trailer->directory_checksum != tv_checksum(rows, 0))
        return sections_fail_damaged(err, offset, "its directory");
    return TV_OK;
}

/* Return whether the whole section is between header and directory. */
static bool section_is_inside(const struct tv_section_row *row,
                              const struct sections_trailer *trailer)
{
    return row->offset % TV_SECTION_ALIGNMENT == 0 && row->offset >= trailer->head_size &&
           row->offset <= trailer->directory_offset && row->element_size > 0 &&
           row->element_size <= SIZE_MAX &&
           row->count <= (trailer->directory_offset - row->offset) / row->element_size;
}

static size_t section_size(const struct tv_section_row *row)
{
    return (size_t)(row->element_size * row->count);
}

struct sections_verification {
    const struct tv_sections *sections;
    _Atomic uint64_t *sums; /* one per section */
    uint64_t blocks;        /* of all sections */
    unsigned workers;
};

/* Verify one worker's share of all blocks, laid end to end. */
static void sections_verify_share(void *context, unsigned index)
{
    struct sections_verification *verifying = context;
    const struct tv_sections *sections = verifying->sections;
    uint64_t first = verifying->blocks * index / verifying->workers,
             end = verifying->blocks * (index + 1) / verifying->workers, at = 0;
    for (size_t i = 0; i < sections->count && at < end; i++) {
        const struct tv_section_row *row = &sections->rows[i];
        const uint8_t *data = sections->memory.bytes.data + row->offset;
        uint64_t count = sections_block_count(section_size(row));
        uint64_t low = first > at ? first - at : 0, high = end - at < count ? end - at : count;
        at += count;
        for (uint64_t block = low; block < high; block++)
            atomic_fetch_add_explicit(&verifying->sums[i],
                                      sections_sum_block(data, section_size(row), (size_t)block),
                                      memory_order_relaxed);
    }
}

/* Compare the checksums of all sections, block by block on several threads. */
static enum tv_status sections_verify(const struct tv_sections *sections, unsigned workers,
                                      struct tv_error *err)
{
    struct sections_verification verifying = {sections, NULL, 0,
                                              workers ? workers : tv_workers_available()};
    enum tv_status status = TV_OK;
    verifying.sums = tv_alloc(sections->count, sizeof *verifying.sums);
    for (size_t i = 0; i < sections->count; i++)
        verifying.blocks += sections_block_count(section_size(&sections->rows[i]));
    if (verifying.blocks < verifying.workers)
        verifying.workers = 1;
    tv_workers_run(verifying.workers, sections_verify_share, &verifying);
    for (size_t i = 0; i < sections->count && status == TV_OK; i++)
        if (verifying.sums[i] != sections->rows[i].checksum)
            status = sections_fail_damaged(err, sections->rows[i].offset, "a section");
    tv_free(verifying.sums);
    return status;
}

/* Check header, trailer and the place of every section before any of them is used, then the
 * checksums. */
static enum tv_status sections_open_checked(struct tv_sections *sections,
                                            const struct tv_sections_id *id, unsigned workers,
                                            struct tv_error *err)
{
    struct tv_bytes bytes = sections->memory.bytes;
    struct sections_trailer trailer;
    if ((uintptr_t)bytes.data % MEMORY_ALIGNMENT != 0)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "the index lies at an odd address");
    if (sections_check_header(bytes, id, err) != TV_OK ||
        sections_check_trailer(bytes, id, &trailer, err) != TV_OK)
        return err->status;
    /* Sections are aligned in the file, and the file is aligned in memory. */
    sections->rows = (const void *)(bytes.data + trailer.directory_offset);
    sections->count = (size_t)trailer.directory_count;
    for (size_t i = 0; i < sections->count; i++) {
        const struct tv_section_row *row = &sections->rows[i];
        if (i >= TV_NONE || !section_is_inside(row, &trailer))
            return sections_fail_damaged(err, trailer.directory_offset, "the place of a section");
        tv_map_set(&sections->map, sections_map_key(row->tag, row->number), (uint32_t)i);
    }
    return sections_verify(sections, workers, err);
}

enum tv_status tv_sections_open(const struct tv_sections_memory *memory,
                                const struct tv_sections_id *id, unsigned workers,
                                struct tv_sections **sections, struct tv_error *err)
{
    struct tv_sections *opened = tv_alloc(1, sizeof *opened);
    struct tv_error error = {.status = TV_OK};
    opened->memory = *memory;
    tv_map_init(&opened->map);
    enum tv_status status = sections_open_checked(opened, id, workers, &error);
    if (status == TV_OK) {
        *sections = opened;
        return TV_OK;
    }
    tv_sections_close(opened);
    if (err)
        *err = error;
    return status;
}

void tv_sections_close(struct tv_sections *sections)
{
    if (!sections)
        return;
    if (sections->memory.release)
        sections->memory.release(sections->memory.bytes);
    tv_map_release(&sections->map);
    tv_free(sections);
}

const void *tv_sections_find(const struct tv_sections *sections, uint32_t tag, uint32_t number,
                             size_t element_size, uint64_t *count)
{
    uint32_t found = tv_map_find(&sections->map, sections_map_key(tag, number));
    *count = 0;
    if (found == TV_NONE || sections->rows[found].element_size != element_size)
        return NULL;
    *count = sections->rows[found].count;
    return sections->memory.bytes.data + sections->rows[found].offset;
}

size_t tv_sections_count(const struct tv_sections *sections)
{
    return sections->count;
}

struct tv_section tv_sections_at(const struct tv_sections *sections, size_t index)
{
    assert(index < sections->count);
    const struct tv_section_row *row = &sections->rows[index];
    return (struct tv_section){row->tag, row->number, (size_t)row->element_size, row->count,
                               sections->memory.bytes.data + row->offset};
}
