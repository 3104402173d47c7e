/* SPDX-License-Identifier: Apache-2.0 */
/*
 * member.c - extraction of members: the limit on unpacked bytes, and two ways from a member to a
 * source.
 *
 *     spooled   all bytes are unpacked into a spool (memory, then a temporary file) before the
 *               member is read. This is so unless the caller asks for members as they come.
 *     growing   the source unpacks another 64 KiB whenever somebody asks for bytes behind its end.
 *               A reader can thus work while `gzip` at the other end of a pipe still writes.
 *
 * In both cases the first 4096 bytes decide whether the member is wanted at all. tv_ceiling_add
 * counts each block before it is stored, so a decompression bomb costs no more than the limit.
 */
#include "unpack/member.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"

/* The block size by which libarchive unpacks gzip, so that no byte waits for more. */
#define PIECE ((size_t)64 * 1024)

/* ---- Members that grow ---- */

struct growing_member {
    struct tv_unpack_member member; /* context NULL: the end was reached */
    struct tv_ceiling ceiling;
    struct tv_spool *spool; /* all bytes unpacked so far */
    uint8_t *piece;         /* PIECE bytes: the block being unpacked */
    size_t length;          /* length of the first bytes, while they wait in `piece` */
    bool cut;               /* set at the end: the container was truncated */
};

/* Release everything that only unpacking needs. */
static void growing_end_member(struct growing_member *growing)
{
    if (!growing->member.context)
        return;
    growing->cut = growing->member.is_cut(growing->member.context) ||
                   tv_source_is_truncated(growing->ceiling.packed);
    growing->member.close(growing->member.context);
    growing->member.context = NULL;
    tv_source_free(growing->ceiling.packed);
    tv_free(growing->piece);
}

/* Spool the next block. A short block is the last one. */
static enum tv_status growing_spool_block(struct growing_member *growing, struct tv_error *err)
{
    const struct tv_unpack_member *member = &growing->member;
    size_t length = growing->length;
    bool last = false;
    enum tv_status status = TV_OK;
    growing->length = 0;
    if (length == 0) {
        status = member->read(member->context, growing->piece, PIECE, &length, err);
        last = length < PIECE;
    }
    if (status == TV_OK)
        status = tv_ceiling_add(&growing->ceiling, length, err);
    if (status == TV_OK)
        status = tv_spool_add(growing->spool, (struct tv_bytes){growing->piece, length}, err);
    /* A pipe that failed is an error, not a truncated container. */
    if (status == TV_OK && last)
        status = tv_source_check(growing->ceiling.packed, err);
    if (status != TV_OK)
        tv_source_quote(growing->ceiling.packed, err);
    if (status != TV_OK || last)
        growing_end_member(growing);
    return status;
}

/* Unpack until the source has `wanted` bytes, or the member ends (source.h). */
static enum tv_status growing_extend(void *context, uint64_t wanted, uint64_t *size, bool *ended,
                                     struct tv_error *err)
{
    struct growing_member *growing = context;
    enum tv_status status = TV_OK;
    while (status == TV_OK && growing->member.context && tv_spool_size(growing->spool) < wanted)
        status = growing_spool_block(growing, err);
    *size = tv_spool_size(growing->spool);
    *ended = !growing->member.context;
    return status;
}

static enum tv_status growing_read_spooled(void *context, uint64_t offset, void *buffer,
                                           size_t size, struct tv_error *err)
{
    const struct growing_member *growing = context;
    return tv_spool_read(growing->spool, offset, buffer, size, err);
}

static bool growing_is_cut(void *context)
{
    const struct growing_member *growing = context;
    return growing->cut;
}

/* The last owner of the source is gone, perhaps before it has read everything. */
static void growing_close(void *context)
{
    struct growing_member *growing = context;
    growing_end_member(growing);
    tv_spool_free(growing->spool);
    tv_free(growing);
}

/* Open a member as a source that grows (source.h): it is unpacked while it is read. `head` holds
 * the bytes already read. The source takes over the member's context and holds the packed source
 * until it has seen the end. An error while unpacking quotes the packed bytes. */
static struct tv_source *growing_open(const struct tv_unpack_member *member, struct tv_bytes head,
                                      const struct tv_ceiling *ceiling)
{
    static const struct tv_source_growth growth = {
        .reads = {.read = growing_read_spooled, .close = growing_close},
        .grow = growing_extend,
        .is_cut = growing_is_cut,
    };
    struct growing_member *growing = tv_alloc(1, sizeof *growing);
    assert(head.length <= PIECE && member->close && member->is_cut);
    *growing =
        (struct growing_member){.member = *member, .ceiling = *ceiling, .length = head.length};
    growing->ceiling.packed = tv_source_ref(ceiling->packed);
    growing->spool = tv_spool_new(member->name);
    growing->piece = tv_alloc(PIECE, 1);
    memcpy(growing->piece, head.data, head.length);
    growing->member.name = NULL; /* owned by the caller */
    return tv_source_from_growth(&growth, growing, member->name);
}

/* Bytes by which a member is spooled, and the bytes by which it is recognised. */
#define CHUNK ((size_t)256 * 1024)
#define HEAD ((size_t)4096)

void tv_extraction_init(struct tv_extraction *extraction, struct tv_source *packed,
                        const struct tv_unpack_question *question, struct tv_unpacked *members)
{
    *extraction = (struct tv_extraction){
        .question = question,
        .ceiling = {.packed = packed, .fixed = question->ceiling},
        .members = members,
        .most = TV_UNPACK_MEMBERS,
        .buffer = tv_alloc(CHUNK + TV_WINDOW_SLACK, 1),
    };
}

void tv_extraction_release(struct tv_extraction *extraction)
{
    tv_free(extraction->buffer);
}

uint64_t tv_unpack_ceiling(uint64_t packed, uint64_t most)
{
    uint64_t largest = UINT64_MAX;
    if (packed < (UINT64_MAX - TV_UNPACK_FREE) / TV_UNPACK_RATIO)
        largest = TV_UNPACK_FREE + packed * TV_UNPACK_RATIO;
    return most > 0 && most < largest ? most : largest;
}

/* Return true when the unpacked bytes are within the limit, reading the container only as far as
 * that decides. */
/* A pipe has no size yet. To wait for its end here would keep a growing source from growing, so
 * only as many packed bytes are awaited as would allow this total. */
static bool extraction_is_within_limit(const struct tv_ceiling *ceiling)
{
    if (ceiling->fixed > 0)
        return ceiling->total <= ceiling->fixed;
    if (ceiling->total <= TV_UNPACK_FREE)
        return true;
    uint64_t above = ceiling->total - TV_UNPACK_FREE;
    return tv_source_reaches(ceiling->packed, (above - 1) / TV_UNPACK_RATIO + 1);
}

enum tv_status tv_ceiling_add(struct tv_ceiling *ceiling, size_t length, struct tv_error *err)
{
    ceiling->total += length;
    if (extraction_is_within_limit(ceiling))
        return TV_OK;
    uint64_t most = ceiling->fixed;
    if (most == 0)
        most = tv_unpack_ceiling(tv_source_size(ceiling->packed), 0);
    return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET,
                   "unpacks to more than %llu bytes, the ceiling %s", (unsigned long long)most,
                   ceiling->fixed > 0 ? "here" : "for its size");
}

static enum tv_status extraction_add_chunk(struct tv_extraction *extraction, struct tv_spool *spool,
                                           size_t length, struct tv_error *err)
{
    enum tv_status status = tv_ceiling_add(&extraction->ceiling, length, err);
    if (status != TV_OK)
        return status;
    const struct tv_unpack_question *question = extraction->question;
    struct tv_bytes block = {extraction->buffer, length};
    if (question->spooled)
        question->spooled(question->context, block);
    return tv_spool_add(spool, block, err);
}

static void extraction_append_source(struct tv_extraction *extraction, struct tv_source *source)
{
    assert(extraction->count < extraction->most);
    extraction->members[extraction->count++] = (struct tv_unpacked){source, TV_NONE, 0};
}

/* Spool a member whose first `length` bytes are in the buffer. */
static enum tv_status extraction_spool_member(struct tv_extraction *extraction,
                                              const struct tv_unpack_member *member, size_t length,
                                              struct tv_error *err)
{
    struct tv_spool *spool = tv_spool_new(member->name);
    enum tv_status status = extraction_add_chunk(extraction, spool, length, err);
    while (status == TV_OK) {
        status = member->read(member->context, extraction->buffer, CHUNK, &length, err);
        if (status != TV_OK || length == 0)
            break;
        status = extraction_add_chunk(extraction, spool, length, err);
    }
    if (status != TV_OK) {
        tv_spool_free(spool);
        return status;
    }
    extraction_append_source(extraction, tv_spool_finish(spool));
    return TV_OK;
}

/* Ask whether a member is wanted whose first bytes are in the buffer. */
static enum tv_status extraction_ask_wanted(struct tv_extraction *extraction, size_t length,
                                            bool *wanted, struct tv_error *err)
{
    struct tv_bytes head = {extraction->buffer, length};
    *wanted = extraction->question->wanted(extraction->question->context, head);
    if (*wanted && extraction->count == extraction->most)
        return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, TV_UNPACK_TOO_MANY, TV_UNPACK_MEMBERS,
                       TV_UNPACK_ENTRIES);
    return TV_OK;
}

enum tv_status tv_extraction_add(struct tv_extraction *extraction,
                                 const struct tv_unpack_member *member, bool *taken,
                                 struct tv_error *err)
{
    size_t length;
    bool wanted;
    if (taken)
        *taken = false;
    enum tv_status status = member->read(member->context, extraction->buffer, HEAD, &length, err);
    if (status != TV_OK)
        return status;
    status = extraction_ask_wanted(extraction, length, &wanted, err);
    if (taken)
        *taken = wanted;
    if (status != TV_OK || !wanted)
        return status;
    if (!member->close)
        return extraction_spool_member(extraction, member, length, err);
    extraction_append_source(
        extraction,
        growing_open(member, (struct tv_bytes){extraction->buffer, length}, &extraction->ceiling));
    return TV_OK;
}

enum tv_status tv_extraction_add_plain(struct tv_extraction *extraction,
                                       const struct tv_plain_member *member, bool *taken,
                                       struct tv_error *err)
{
    uint64_t size = member->end - member->start;
    size_t length;
    enum tv_status status = tv_source_read(member->container, member->start, extraction->buffer,
                                           size < HEAD ? (size_t)size : HEAD, &length, err);
    if (status == TV_OK)
        status = extraction_ask_wanted(extraction, length, taken, err);
    if (status == TV_OK && *taken)
        extraction_append_source(extraction, tv_source_range(member->container, member->start,
                                                             member->end, member->name));
    return status;
}

void tv_extraction_note(const struct tv_extraction *extraction, const char *format, ...)
{
    char text[1280]; /* room for a member's longest name */
    va_list arguments;
    if (!extraction->question->note)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    extraction->question->note(extraction->question->context, text);
}
