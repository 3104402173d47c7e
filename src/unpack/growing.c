/* SPDX-License-Identifier: Apache-2.0 */
#include "unpack/growing.h"

#include <string.h>

#include "base/file.h"
#include "base/memory.h"

/* The block size by which libarchive unpacks gzip, so that no byte waits for more. */
#define PIECE ((size_t)64 * 1024)

struct growing_member {
    struct tv_unpack_member member; /* context NULL: the end was reached */
    struct tv_ceiling ceiling;
    struct tv_spool *spool;
    uint8_t *piece;
    size_t length; /* of the first bytes, while they wait in `piece` */
    bool cut;
};

/* Release everything that only unpacking needs. */
static void growing_end_member(struct growing_member *growing)
{
    if (!growing->member.context)
        return;
    growing->cut = growing->member.is_cut(growing->member.context) ||
                   tv_source_is_cut(growing->ceiling.packed);
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

static void growing_close(void *context)
{
    struct growing_member *growing = context;
    growing_end_member(growing);
    tv_spool_free(growing->spool);
    tv_free(growing);
}

struct tv_source *tv_growing_open(const struct tv_unpack_member *member, struct tv_bytes head,
                                  const struct tv_ceiling *ceiling)
{
    static const struct tv_source_growth growth = {
        .reads = {.read = growing_read_spooled, .close = growing_close},
        .grow = growing_extend,
        .is_cut = growing_is_cut,
    };
    struct growing_member *growing = tv_alloc(1, sizeof *growing);
    *growing =
        (struct growing_member){.member = *member, .ceiling = *ceiling, .length = head.length};
    growing->ceiling.packed = tv_source_hold(ceiling->packed);
    growing->spool = tv_spool_new(member->name);
    growing->piece = tv_alloc(PIECE, 1);
    memcpy(growing->piece, head.data, head.length);
    growing->member.name = NULL; /* owned by the caller */
    return tv_source_from_growth(&growth, growing, member->name);
}
