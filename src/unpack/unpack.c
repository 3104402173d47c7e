/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack.c - containers through libarchive, with the formats and filters switched on one by one:
 * libarchive's history of holes lies in those that nobody packs a trace with (RAR, 7z, cpio, ...).
 */
#include "unpack/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/memory.h"
#include "unpack/gzip_tail.h"

#define CHUNK ((size_t)256 * 1024)
#define HEAD ((size_t)4096)

struct feed {
    struct tv_source *source;
    uint64_t offset;
    uint8_t *buffer;
    struct tv_error error;
};

struct unpacking {
    struct archive *archive;
    struct feed feed;
    const struct tv_unpack_question *question;
    uint64_t ceiling, total;
    uint8_t *buffer, *tail;
    const uint8_t *block; /* what libarchive gave last of the member, not yet taken */
    size_t left;
    int64_t position; /* in the member, behind that block */
    bool cut_off;
};

static bool has_magic(struct tv_bytes head, size_t at, struct tv_bytes magic)
{
    return head.length >= at + magic.length &&
           memcmp(head.data + at, magic.data, magic.length) == 0;
}

bool tv_unpack_knows(struct tv_bytes head)
{
    return has_magic(head, 0, TV_BYTES("\x1f\x8b")) ||
           has_magic(head, 0, TV_BYTES("\x28\xb5\x2f\xfd")) ||
           has_magic(head, 0, TV_BYTES("PK\x03\x04")) || has_magic(head, 257, TV_BYTES("ustar"));
}

static la_ssize_t feed_bytes(struct archive *archive, void *context, const void **buffer)
{
    struct feed *feed = context;
    size_t got = 0;
    if (tv_source_read(feed->source, feed->offset, feed->buffer, CHUNK, &got, &feed->error) !=
        TV_OK) {
        archive_set_error(archive, -1, "%s", feed->error.message);
        return -1;
    }
    feed->offset += got;
    *buffer = feed->buffer;
    return (la_ssize_t)got;
}

static enum tv_status fail(struct unpacking *u, struct tv_error *err)
{
    if (u->feed.error.status != TV_OK) {
        *err = u->feed.error;
        return err->status;
    }
    const char *text = u->archive ? archive_error_string(u->archive) : NULL;
    return tv_fail(err, TV_ERR_SYNTAX, u->feed.offset, "damaged container: %s",
                   text ? text : "it cannot be unpacked");
}

static void start(struct unpacking *u, struct tv_source *packed)
{
    *u = (struct unpacking){.archive = archive_read_new()};
    u->feed.source = packed;
    u->feed.buffer = tv_alloc(CHUNK, 1);
    u->buffer = tv_alloc(CHUNK, 1);
    u->tail = tv_alloc(CHUNK, 1);
    uint64_t size = tv_source_size(packed);
    u->ceiling = size > (UINT64_MAX - TV_UNPACK_FREE) / TV_UNPACK_RATIO
                     ? UINT64_MAX
                     : TV_UNPACK_FREE + size * TV_UNPACK_RATIO;
    if (!u->archive)
        return;
    archive_read_support_filter_gzip(u->archive);
    archive_read_support_filter_zstd(u->archive);
    archive_read_support_format_tar(u->archive);
    archive_read_support_format_zip_streamable(u->archive);
    archive_read_support_format_raw(u->archive);
}

static void stop(struct unpacking *u)
{
    archive_read_free(u->archive);
    tv_free(u->feed.buffer);
    tv_free(u->buffer);
    tv_free(u->tail);
}

/* Of a stream that is only gzip, what libarchive dropped where it ended early becomes the last
 * block.  False when there is none. */
static bool take_tail(struct unpacking *u)
{
    u->cut_off = true;
    if (u->feed.error.status != TV_OK)
        return false;
    u->left = tv_gzip_tail(u->feed.source, (uint64_t)u->position, u->tail, CHUNK);
    u->block = u->tail;
    u->position += (int64_t)u->left;
    return u->left > 0;
}

static bool is_plain_gzip(struct unpacking *u)
{
    return archive_format(u->archive) == ARCHIVE_FORMAT_RAW &&
           archive_filter_count(u->archive) == 2 &&
           archive_filter_code(u->archive, 0) == ARCHIVE_FILTER_GZIP;
}

/* The member's next block. False at its end, early or not.  (archive_read_data would drop what it
 * has copied already when the container ends within the same call.) */
static bool next_block(struct unpacking *u)
{
    const void *block;
    size_t size;
    la_int64_t offset;
    if (u->cut_off)
        return false;
    int result = archive_read_data_block(u->archive, &block, &size, &offset);
    if (result == ARCHIVE_EOF)
        return false;
    /* A hole in a sparse file is nothing that a trace has. */
    if (result < ARCHIVE_WARN || offset != u->position) {
        u->cut_off = true;
        return is_plain_gzip(u) && take_tail(u);
    }
    u->block = block;
    u->left = size;
    u->position += (int64_t)size;
    return true;
}

/* Fills up to `size` bytes of the member. False when the packed bytes cannot be read; a member that
 * ends early is not that. */
static bool read_some(struct unpacking *u, uint8_t *buffer, size_t size, size_t *got)
{
    *got = 0;
    while (*got < size && (u->left > 0 || next_block(u))) {
        size_t count = u->left < size - *got ? u->left : size - *got;
        if (count == 0)
            continue; /* an empty block */
        memcpy(buffer + *got, u->block, count);
        u->block += count;
        u->left -= count;
        *got += count;
    }
    return u->feed.error.status == TV_OK;
}

static enum tv_status add_chunk(struct unpacking *u, struct tv_spool *spool, size_t length,
                                struct tv_error *err)
{
    u->total += length;
    if (u->total > u->ceiling)
        return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET,
                       "unpacks to more than %llu bytes, the ceiling for its size",
                       (unsigned long long)u->ceiling);
    return tv_spool_add(spool, (struct tv_bytes){u->buffer, length}, err);
}

/* Spools the rest of a member whose first `length` bytes stand in the buffer. */
static enum tv_status spool_member(struct unpacking *u, const char *name, size_t length,
                                   struct tv_source **source, struct tv_error *err)
{
    struct tv_spool *spool = tv_spool_new(name);
    enum tv_status status = add_chunk(u, spool, length, err);
    while (status == TV_OK) {
        if (!read_some(u, u->buffer, CHUNK, &length))
            status = fail(u, err);
        else if (length == 0)
            break;
        else
            status = add_chunk(u, spool, length, err);
    }
    if (status != TV_OK) {
        tv_spool_free(spool);
        return status;
    }
    *source = tv_spool_finish(spool);
    return TV_OK;
}

/* "app.zip: traces/main.trace"; of a mere packed stream the container's own name. */
static void name_member(struct unpacking *u, struct archive_entry *entry, char *name, size_t size)
{
    const char *container = tv_source_name(u->feed.source);
    const char *member = entry ? archive_entry_pathname(entry) : NULL;
    if (archive_format(u->archive) == ARCHIVE_FORMAT_RAW || !member)
        snprintf(name, size, "%s", container);
    else
        snprintf(name, size, "%s: %s", container, member);
}

static enum tv_status take_member(struct unpacking *u, struct archive_entry *entry,
                                  struct tv_source **source, struct tv_error *err)
{
    size_t length;
    *source = NULL;
    if (!read_some(u, u->buffer, HEAD, &length))
        return fail(u, err);
    if (!u->question->wanted(u->question->context, (struct tv_bytes){u->buffer, length}))
        return TV_OK;
    char name[1024];
    name_member(u, entry, name, sizeof name);
    return spool_member(u, name, length, source, err);
}

/* There is no next member: the container is damaged, or a gzip stream ends within its first block,
 * which then is the member. */
static enum tv_status take_rest(struct unpacking *u, struct tv_source **members, size_t *count,
                                struct tv_error *err)
{
    struct tv_source *source = NULL;
    u->cut_off = true;
    if (*count > 0)
        return TV_OK;
    enum tv_status status = take_tail(u) ? take_member(u, NULL, &source, err) : TV_OK;
    if (status == TV_OK && !source)
        return fail(u, err);
    if (status == TV_OK)
        members[(*count)++] = source;
    return status;
}

static enum tv_status take_members(struct unpacking *u, struct tv_source **members, size_t *count,
                                   struct tv_error *err)
{
    struct tv_source *source;
    for (unsigned looks = 0; looks < TV_UNPACK_LOOKS; looks++) {
        struct archive_entry *entry;
        int result = archive_read_next_header(u->archive, &entry);
        if (result == ARCHIVE_EOF)
            return TV_OK;
        u->left = 0;
        u->position = 0;
        if (result < ARCHIVE_WARN)
            return take_rest(u, members, count, err);
        if (archive_entry_filetype(entry) != AE_IFREG && archive_entry_filetype(entry) != 0)
            continue;
        enum tv_status status = take_member(u, entry, &source, err);
        if (status != TV_OK)
            return status;
        if (source && *count == TV_UNPACK_MEMBERS) {
            tv_source_free(source);
            break;
        }
        if (source)
            members[(*count)++] = source;
        if (u->cut_off)
            return TV_OK;
    }
    return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET,
                   "an archive with more than %d traces, or %d members: unpack it first",
                   TV_UNPACK_MEMBERS, TV_UNPACK_LOOKS);
}

enum tv_status tv_unpack(struct tv_source *packed, const struct tv_unpack_question *question,
                         struct tv_source **members, size_t *count, bool *cut_off,
                         struct tv_error *err)
{
    struct unpacking u;
    start(&u, packed);
    u.question = question;
    if (question->ceiling > 0)
        u.ceiling = question->ceiling;
    *count = 0;
    enum tv_status status;
    if (!u.archive)
        status = fail(&u, err);
    else if (archive_read_open(u.archive, &u.feed, NULL, feed_bytes, NULL) != ARCHIVE_OK)
        status = take_rest(&u, members, count, err);
    else
        status = take_members(&u, members, count, err);
    if (status == TV_OK && *count == 0)
        status = tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                         "a container (gzip, zstd, zip or tar) without a trace in it");
    for (size_t i = 0; status != TV_OK && i < *count; i++)
        tv_source_free(members[i]);
    *cut_off = u.cut_off;
    stop(&u);
    return status;
}
