/* SPDX-License-Identifier: Apache-2.0 */
#include "unpack/member.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/file.h"
#include "base/memory.h"
#include "unpack/growing.h"

#define CHUNK ((size_t)256 * 1024)
#define HEAD ((size_t)4096)

void tv_extraction_init(struct tv_extraction *taking, struct tv_source *packed,
                        const struct tv_unpack_question *question, struct tv_unpacked *members)
{
    *taking = (struct tv_extraction){
        .question = question,
        .ceiling = {.packed = packed, .fixed = question->ceiling},
        .members = members,
        .most = TV_UNPACK_MEMBERS,
        .buffer = tv_alloc(CHUNK, 1),
    };
}

void tv_extraction_release(struct tv_extraction *taking)
{
    tv_free(taking->buffer);
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

static enum tv_status extraction_add_chunk(struct tv_extraction *taking, struct tv_spool *spool,
                                           size_t length, struct tv_error *err)
{
    enum tv_status status = tv_ceiling_add(&taking->ceiling, length, err);
    if (status != TV_OK)
        return status;
    return tv_spool_add(spool, (struct tv_bytes){taking->buffer, length}, err);
}

static void extraction_append_source(struct tv_extraction *taking, struct tv_source *source)
{
    taking->members[taking->count++] = (struct tv_unpacked){source, TV_NONE, 0};
}

/* Spool a member whose first `length` bytes are in the buffer. */
static enum tv_status extraction_spool_member(struct tv_extraction *taking,
                                              const struct tv_unpack_member *member, size_t length,
                                              struct tv_error *err)
{
    struct tv_spool *spool = tv_spool_new(member->name);
    enum tv_status status = extraction_add_chunk(taking, spool, length, err);
    while (status == TV_OK) {
        status = member->read(member->context, taking->buffer, CHUNK, &length, err);
        if (status != TV_OK || length == 0)
            break;
        status = extraction_add_chunk(taking, spool, length, err);
    }
    if (status != TV_OK) {
        tv_spool_free(spool);
        return status;
    }
    extraction_append_source(taking, tv_spool_finish(spool));
    return TV_OK;
}

/* Ask whether a member is wanted whose first bytes are in the buffer. */
static enum tv_status extraction_ask_wanted(struct tv_extraction *taking, size_t length,
                                            bool *wanted, struct tv_error *err)
{
    struct tv_bytes head = {taking->buffer, length};
    *wanted = taking->question->wanted(taking->question->context, head);
    if (*wanted && taking->count == taking->most)
        return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, TV_UNPACK_TOO_MANY, TV_UNPACK_MEMBERS,
                       TV_UNPACK_ENTRIES);
    return TV_OK;
}

enum tv_status tv_extraction_add(struct tv_extraction *taking,
                                 const struct tv_unpack_member *member, bool *taken,
                                 struct tv_error *err)
{
    size_t length;
    bool wanted;
    if (taken)
        *taken = false;
    enum tv_status status = member->read(member->context, taking->buffer, HEAD, &length, err);
    if (status != TV_OK)
        return status;
    status = extraction_ask_wanted(taking, length, &wanted, err);
    if (taken)
        *taken = wanted;
    if (status != TV_OK || !wanted)
        return status;
    if (!member->close)
        return extraction_spool_member(taking, member, length, err);
    extraction_append_source(
        taking,
        tv_growing_open(member, (struct tv_bytes){taking->buffer, length}, &taking->ceiling));
    return TV_OK;
}

enum tv_status tv_extraction_add_plain(struct tv_extraction *taking,
                                       const struct tv_plain_member *member, bool *taken,
                                       struct tv_error *err)
{
    uint64_t size = member->end - member->start;
    size_t length;
    enum tv_status status = tv_source_read(member->container, member->start, taking->buffer,
                                           size < HEAD ? (size_t)size : HEAD, &length, err);
    if (status == TV_OK)
        status = extraction_ask_wanted(taking, length, taken, err);
    if (status == TV_OK && *taken)
        extraction_append_source(
            taking, tv_source_part(member->container, member->start, member->end, member->name));
    return status;
}

void tv_extraction_note(const struct tv_extraction *taking, const char *format, ...)
{
    char text[1280]; /* room for a member's longest name */
    va_list arguments;
    if (!taking->question->note)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    taking->question->note(taking->question->context, text);
}
