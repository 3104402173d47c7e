/* SPDX-License-Identifier: Apache-2.0 */
#include "unpack/growing.h"

#include <string.h>

#include "base/file.h"
#include "base/memory.h"

/* What libarchive unpacks gzip by: no byte waits for more. */
#define PIECE ((size_t)64 * 1024)

struct growing {
    struct tv_member member; /* its context NULL: the end was seen */
    struct tv_ceiling ceiling;
    struct tv_spool *spool;
    uint8_t *piece;
    size_t length; /* of the head, while it waits in `piece` */
    bool cut;
};

/* What the container needs while it is unpacked is let go. */
static void end_member(struct growing *growing)
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

/* Spools one piece more, the last one when it is short. */
static enum tv_status take_piece(struct growing *growing, struct tv_error *err)
{
    const struct tv_member *member = &growing->member;
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
    /* A pipe that failed is no container that ends early. */
    if (status == TV_OK && last)
        status = tv_source_check(growing->ceiling.packed, err);
    if (status != TV_OK)
        tv_source_quote(growing->ceiling.packed, err);
    if (status != TV_OK || last)
        end_member(growing);
    return status;
}

static enum tv_status grow(void *context, uint64_t wanted, uint64_t *size, bool *ended,
                           struct tv_error *err)
{
    struct growing *growing = context;
    enum tv_status status = TV_OK;
    while (status == TV_OK && growing->member.context && tv_spool_size(growing->spool) < wanted)
        status = take_piece(growing, err);
    *size = tv_spool_size(growing->spool);
    *ended = !growing->member.context;
    return status;
}

static enum tv_status read_spooled(void *context, uint64_t offset, void *buffer, size_t size,
                                   struct tv_error *err)
{
    const struct growing *growing = context;
    return tv_spool_read(growing->spool, offset, buffer, size, err);
}

static bool is_cut(void *context)
{
    const struct growing *growing = context;
    return growing->cut;
}

static void close_growing(void *context)
{
    struct growing *growing = context;
    end_member(growing);
    tv_spool_free(growing->spool);
    tv_free(growing);
}

struct tv_source *tv_growing_open(const struct tv_member *member, struct tv_bytes head,
                                  const struct tv_ceiling *ceiling)
{
    static const struct tv_source_growth growth = {
        .reads = {.read = read_spooled, .close = close_growing},
        .grow = grow,
        .is_cut = is_cut,
    };
    struct growing *growing = tv_alloc(1, sizeof *growing);
    *growing = (struct growing){.member = *member, .ceiling = *ceiling, .length = head.length};
    growing->ceiling.packed = tv_source_ref(ceiling->packed);
    growing->spool = tv_spool_new(member->name);
    growing->piece = tv_alloc(PIECE, 1);
    memcpy(growing->piece, head.data, head.length);
    growing->member.name = NULL; /* the maker's */
    return tv_source_from_growth(&growth, growing, member->name);
}
