/* SPDX-License-Identifier: Apache-2.0 */
#include "unpack/member.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/file.h"
#include "base/memory.h"
#include "unpack/growing.h"

#define CHUNK ((size_t)256 * 1024)
#define HEAD ((size_t)4096)

void tv_taking_init(struct tv_taking *taking, struct tv_source *packed,
                    const struct tv_unpack_question *question, struct tv_unpacked *members)
{
    *taking = (struct tv_taking){
        .question = question,
        .ceiling = {.packed = packed, .fixed = question->ceiling},
        .members = members,
        .most = TV_UNPACK_MEMBERS,
        .buffer = tv_alloc(CHUNK, 1),
    };
}

void tv_taking_release(struct tv_taking *taking)
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

/* Whether the container is as large as its rule asks for so many unpacked bytes. */
static bool is_within(const struct tv_ceiling *ceiling)
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
    if (is_within(ceiling))
        return TV_OK;
    uint64_t most = ceiling->fixed;
    if (most == 0)
        most = tv_unpack_ceiling(tv_source_size(ceiling->packed), 0);
    return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET,
                   "unpacks to more than %llu bytes, the ceiling %s", (unsigned long long)most,
                   ceiling->fixed > 0 ? "here" : "for its size");
}

static enum tv_status add_chunk(struct tv_taking *taking, struct tv_spool *spool, size_t length,
                                struct tv_error *err)
{
    enum tv_status status = tv_ceiling_add(&taking->ceiling, length, err);
    if (status != TV_OK)
        return status;
    return tv_spool_add(spool, (struct tv_bytes){taking->buffer, length}, err);
}

static void take(struct tv_taking *taking, struct tv_source *source)
{
    taking->members[taking->count++] = (struct tv_unpacked){source, TV_NONE, 0};
}

/* Spools the rest of a member whose first `length` bytes stand in the buffer. */
static enum tv_status spool_member(struct tv_taking *taking, const struct tv_member *member,
                                   size_t length, struct tv_error *err)
{
    struct tv_spool *spool = tv_spool_new(member->name);
    enum tv_status status = add_chunk(taking, spool, length, err);
    while (status == TV_OK) {
        status = member->read(member->context, taking->buffer, CHUNK, &length, err);
        if (status != TV_OK || length == 0)
            break;
        status = add_chunk(taking, spool, length, err);
    }
    if (status != TV_OK) {
        tv_spool_free(spool);
        return status;
    }
    take(taking, tv_spool_finish(spool));
    return TV_OK;
}

/* Whether a member is wanted whose first bytes stand in the buffer. */
static enum tv_status ask(struct tv_taking *taking, size_t length, bool *wanted,
                          struct tv_error *err)
{
    struct tv_bytes head = {taking->buffer, length};
    *wanted = taking->question->wanted(taking->question->context, head);
    if (*wanted && taking->count == taking->most)
        return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, TV_UNPACK_TOO_MANY, TV_UNPACK_MEMBERS,
                       TV_UNPACK_LOOKS);
    return TV_OK;
}

enum tv_status tv_taking_add(struct tv_taking *taking, const struct tv_member *member, bool *taken,
                             struct tv_error *err)
{
    size_t length;
    bool wanted;
    if (taken)
        *taken = false;
    enum tv_status status = member->read(member->context, taking->buffer, HEAD, &length, err);
    if (status != TV_OK)
        return status;
    status = ask(taking, length, &wanted, err);
    if (taken)
        *taken = wanted;
    if (status != TV_OK || !wanted)
        return status;
    if (!member->close)
        return spool_member(taking, member, length, err);
    take(taking,
         tv_growing_open(member, (struct tv_bytes){taking->buffer, length}, &taking->ceiling));
    return TV_OK;
}

enum tv_status tv_taking_add_plain(struct tv_taking *taking, const struct tv_plain_member *member,
                                   bool *taken, struct tv_error *err)
{
    uint64_t size = member->end - member->start;
    size_t length;
    enum tv_status status = tv_source_read(member->container, member->start, taking->buffer,
                                           size < HEAD ? (size_t)size : HEAD, &length, err);
    if (status == TV_OK)
        status = ask(taking, length, taken, err);
    if (status == TV_OK && *taken)
        take(taking, tv_source_range(member->container, member->start, member->end, member->name));
    return status;
}

void tv_taking_note(const struct tv_taking *taking, const char *format, ...)
{
    char text[1280]; /* with a name as long as members have */
    va_list arguments;
    if (!taking->question->note)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    taking->question->note(taking->question->context, text);
}
