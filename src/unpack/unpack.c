/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack.c - containers through libarchive. Formats and filters are enabled one by one: most of
 * libarchive's security holes are in formats that traces are never packed with (RAR, 7z, cpio,
 * ...).
 *
 * Each entry of an archive goes through tv_extraction_add (member.c). libarchive's weaknesses are
 * compensated here: it drops the last block of a truncated gzip stream, ignores gzip's checksum,
 * and fails on bytes after the last zstd frame.
 *
 *     source --archive_feed--> libarchive --archive_next_block--> archive_read_member --> member.c
 *                 |                                |
 *        only bytes of zstd frames      the dropped tail of gzip, the CRC
 *
 * Damage is not an error as long as something was unpacked: the caller gets what precedes it, and
 * *cut_off. An error is what leaves nothing to read: an encrypted zip, a damaged beginning, too
 * many members, the limit on bytes.
 *
 * One archive can be shared by two owners (`holders`): a source that unpacks the first member
 * while it is read, and the rest of the archive, which is extracted later.
 */
#include "unpack/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <assert.h>
#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "html/html_page.h"
#include "unpack/member.h"
#include "wire/little_endian.h"

#define CHUNK ((size_t)256 * 1024)
#define HEAD ((size_t)4096)
#define ZSTD_MAGIC "\x28\xb5\x2f\xfd"
#define TAR_MAGIC_AT 257 /* offset of "ustar" in a tar header (POSIX) */

/* The packed bytes, as libarchive asks for them. */
struct archive_feed {
    struct tv_source *source;
    uint64_t offset; /* offset of the next packed byte */
    uint8_t *buffer;
    bool zstd; /* a zstd stream: libarchive must not see bytes after the last frame */
    struct tv_zstd_frames frames; /* frames of a zstd stream */
    struct tv_error error;
};

/* An archive while its entries are visited. It is released when its last holder lets go. */
struct tv_archive_rest {
    struct archive *archive;
    struct archive_feed feed;
    struct tv_extraction *extraction; /* NULL between two calls, while only a source is left */
    uint8_t *tail;                    /* CHUNK bytes: the dropped last block of a gzip stream */
    const uint8_t *block; /* the block that libarchive returned last, as far as it is not yet
                           * consumed */
    size_t left;
    int64_t position; /* in the member, after that block */
    uint32_t crc;     /* of the bytes in front of that block, in a plain gzip stream */
    unsigned looks;   /* entries seen so far */
    unsigned holders; /* owners: the unpacking itself or a source that grows; a rest */
    bool cut_off;
    bool damaged;           /* a member was damaged (wrong checksum or size); others may follow */
    bool given;             /* a source owns the current member */
    bool later;             /* the first member was extracted before; now all others are */
    size_t encrypted;       /* members, which are left out */
    char first_of_them[64]; /* name of the first encrypted member, safe to print */
};

static bool unpack_has_signature(struct tv_bytes head, size_t at, struct tv_bytes magic)
{
    return head.length >= at + magic.length &&
           memcmp(head.data + at, magic.data, magic.length) == 0;
}

/* Recognise archives by signatures that cannot occur in text: text has no NUL in front of tar's
 * signature. */
static bool unpack_is_archive(struct tv_bytes head)
{
    return unpack_has_signature(head, 0, TV_BYTES("\x1f\x8b")) ||
           unpack_has_signature(head, 0, TV_BYTES(ZSTD_MAGIC)) ||
           unpack_has_signature(head, 0, TV_BYTES("PK\x03\x04")) ||
           (unpack_has_signature(head, TAR_MAGIC_AT, TV_BYTES("ustar")) &&
            memchr(head.data, 0, TAR_MAGIC_AT));
}

enum unpack_kind {
    NONE,
    ARCHIVE,
    PAGE,
    PACKETS,
    PERF_RECORDS,
    ZLIB,
};

/* Test for archives first: an uncompressed member may show the line "TRACE:" in an archive's
 * first bytes. */
static enum unpack_kind unpack_kind_of(struct tv_bytes head)
{
    if (unpack_is_archive(head))
        return ARCHIVE;
    if (tv_html_begins(head))
        return PAGE;
    if (tv_packets_know(head))
        return PACKETS;
    if (tv_perf_records_know(head))
        return PERF_RECORDS;
    return tv_zlib_knows(head) ? ZLIB : NONE;
}

bool tv_unpack_knows(struct tv_bytes head)
{
    return unpack_kind_of(head) != NONE;
}

/* The read callback of libarchive: return the number of bytes, 0 at the end, -1 after an error. */
static la_ssize_t archive_feed(struct archive *archive, void *context, const void **buffer)
{
    struct archive_feed *feed = context;
    size_t got = 0;
    if (feed->frames.ended)
        return 0;
    if (tv_source_read_some(feed->source, feed->offset, feed->buffer, CHUNK, &got, &feed->error) !=
        TV_OK) {
        archive_set_error(archive, -1, "%s", feed->error.message);
        return -1;
    }
    if (feed->offset == 0)
        feed->zstd =
            unpack_has_signature((struct tv_bytes){feed->buffer, got}, 0, TV_BYTES(ZSTD_MAGIC));
    if (feed->zstd) {
        uint64_t end = tv_zstd_frames_end(&feed->frames, feed->source, feed->offset + got);
        /* The end moves backwards only when the file is changed meanwhile. */
        got = end > feed->offset ? (size_t)(end - feed->offset) : 0;
    }
    feed->offset += got;
    *buffer = feed->buffer;
    return (la_ssize_t)got;
}

/* Turn the reason why nothing can be unpacked into an error: ours first, then libarchive's. */
static enum tv_status archive_fail(struct tv_archive_rest *u, struct tv_error *err)
{
    if (u->feed.error.status != TV_OK) {
        *err = u->feed.error;
        return err->status;
    }
    const char *text = u->archive ? archive_error_string(u->archive) : NULL;
    if (text && strstr(text, "requires too much memory")) /* zstd's own words */
        return tv_fail(
            err, TV_ERR_LIMIT, TV_NO_OFFSET,
            "the zstd stream needs a window of more than 128 MiB, which is the limit here: "
            "unpack it first, with \"zstd -d --long=31\"");
    if (text && strcmp(text, "Unrecognized archive format") == 0)
        text = "nothing is packed in it, or its beginning is not whole";
    return tv_fail(err, TV_ERR_SYNTAX, u->feed.offset, "damaged container: %s",
                   text ? text : "it cannot be unpacked");
}

/* Return true when libarchive stopped for lack of memory; then the container is not damaged. */
static bool archive_lacks_memory(struct tv_archive_rest *u)
{
    if (archive_errno(u->archive) != ENOMEM)
        return false;
    tv_fail(&u->feed.error, TV_ERR_LIMIT, TV_NO_OFFSET, "there is not enough memory to unpack it");
    return true;
}

static struct tv_archive_rest *archive_open(struct tv_extraction *extraction,
                                            struct tv_source *packed)
{
    struct tv_archive_rest *u = tv_alloc(1, sizeof *u);
    u->archive = archive_read_new();
    u->holders = 1;
    u->extraction = extraction;
    u->feed.source = packed;
    u->feed.buffer = tv_alloc(CHUNK, 1);
    u->tail = tv_alloc(CHUNK, 1);
    if (!u->archive)
        return u;
    archive_read_support_filter_gzip(u->archive);
    archive_read_support_filter_zstd(u->archive);
    archive_read_support_format_tar(u->archive);
    archive_read_support_format_zip_streamable(u->archive);
    archive_read_support_format_raw(u->archive);
    return u;
}

/* Also the close function of a tv_unpack_member. */
static void archive_release(void *context)
{
    struct tv_archive_rest *u = context;
    assert(u->holders > 0);
    if (--u->holders > 0)
        return;
    archive_read_free(u->archive);
    tv_free(u->feed.buffer);
    tv_free(u->tail);
    tv_free(u);
}

static bool archive_is_raw(const struct tv_archive_rest *u)
{
    return archive_format(u->archive) == ARCHIVE_FORMAT_RAW;
}

/* The is_cut function of a tv_unpack_member. The rest of an archive reports truncation itself. */
static bool archive_was_cut(const void *context)
{
    const struct tv_archive_rest *u = context;
    return tv_archive_rest_is_truncated(u) && archive_is_raw(u);
}

/* In a plain gzip stream, use the bytes that libarchive dropped at a premature end as the last
 * block. Return false when there are none. */
static bool archive_use_gzip_tail(struct tv_archive_rest *u)
{
    u->cut_off = true;
    if (u->feed.error.status != TV_OK)
        return false;
    u->left = tv_gzip_tail(u->feed.source, (uint64_t)u->position, u->tail, CHUNK);
    u->block = u->tail;
    u->position += (int64_t)u->left;
    return u->left > 0;
}

/* Filters are counted with the innermost "none", so a plain gzip stream has two. */
static bool archive_is_plain_gzip(struct tv_archive_rest *u)
{
    return archive_is_raw(u) && archive_filter_count(u->archive) == 2 &&
           archive_filter_code(u->archive, 0) == ARCHIVE_FILTER_GZIP;
}

/* libarchive ignores gzip's checksum and length. Compare those of a single stream, which are its
 * last bytes; otherwise unpack the streams again. */
static bool archive_gzip_is_sound(struct tv_archive_rest *u)
{
    uint8_t bytes[8];
    size_t got = 0;
    struct tv_source *packed = u->feed.source;
    if (u->feed.offset > sizeof bytes &&
        tv_source_read(packed, u->feed.offset - sizeof bytes, bytes, sizeof bytes, &got, NULL) ==
            TV_OK &&
        got == sizeof bytes && tv_le_get_u32(bytes) == u->crc &&
        tv_le_get_u32(bytes + 4) == (uint32_t)u->position)
        return true;
    return tv_gzip_is_sound(packed);
}

/* Read the next block of the member. Return false at its end, premature or not.
 * (archive_read_data would drop bytes that it has already copied when the container ends within
 * the same call.) */
static bool archive_next_block(struct tv_archive_rest *u)
{
    const void *block = NULL;
    size_t size = 0;
    la_int64_t offset = u->position;
    if (u->cut_off)
        return false;
    int result = archive_read_data_block(u->archive, &block, &size, &offset);
    if (result == ARCHIVE_EOF) {
        u->cut_off =
            u->feed.frames.damaged || (archive_is_plain_gzip(u) && !archive_gzip_is_sound(u));
        return false;
    }
    /* libarchive 3.6 reports a wrong checksum as a warning with the last bytes, 3.7 as a failure
     * after them. A trace is never a sparse file with holes. */
    bool broken = result < (u->position > 0 ? ARCHIVE_FAILED : ARCHIVE_WARN);
    if (broken && archive_lacks_memory(u))
        return false;
    if (broken || offset != u->position) {
        u->cut_off = true;
        return archive_is_plain_gzip(u) && archive_use_gzip_tail(u);
    }
    u->damaged = u->damaged || result <= ARCHIVE_WARN;
    u->block = block;
    u->left = size;
    u->position += (int64_t)size;
    if (result == ARCHIVE_FAILED && size == 0)
        return false;
    if (archive_is_plain_gzip(u))
        u->crc = (uint32_t)crc32_z(u->crc, block, size);
    return true;
}

/* Fill up to `size` bytes of the member. Return false when the packed bytes cannot be read; a
 * truncated member is not an error. */
static bool archive_read_bytes(struct tv_archive_rest *u, uint8_t *buffer, size_t size, size_t *got)
{
    assert(u->left == 0 || u->block);
    *got = 0;
    while (*got < size && (u->left > 0 || archive_next_block(u))) {
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

/* Name a member "app.zip: traces/main.trace"; a single compressed stream has the container's own
 * name. */
static void archive_name_member(struct tv_archive_rest *u, struct archive_entry *entry, char *name,
                                size_t size)
{
    const char *container = tv_source_name(u->feed.source);
    const char *member = entry ? archive_entry_pathname(entry) : NULL;
    if (archive_is_raw(u) || !member)
        snprintf(name, size, "%s", container);
    else
        snprintf(name, size, "%s: %s", container, member);
}

/* The read function of a tv_unpack_member. */
static enum tv_status archive_read_member(void *context, uint8_t *buffer, size_t size, size_t *got,
                                          struct tv_error *err)
{
    struct tv_archive_rest *u = context;
    return archive_read_bytes(u, buffer, size, got) ? TV_OK : archive_fail(u, err);
}

/* Extract one entry. A single compressed stream may grow. So may the first member of an archive, if
 * the caller takes the rest later; all other members must be unpacked to reach their successors. */
static enum tv_status archive_extract_member(struct tv_archive_rest *u, struct archive_entry *entry,
                                             struct tv_error *err)
{
    char name[1024];
    archive_name_member(u, entry, name, sizeof name);
    struct tv_unpack_member member = {.name = name, .read = archive_read_member, .context = u};
    const struct tv_unpack_question *question = u->extraction->question;
    bool at_once = !question->as_it_comes || (!archive_is_raw(u) && (!question->rest || u->later));
    if (at_once)
        return tv_extraction_add(u->extraction, &member, NULL, err);
    member.close = archive_release;
    member.is_cut = archive_was_cut;
    enum tv_status status = tv_extraction_add(u->extraction, &member, &u->given, err);
    if (u->given && !archive_is_raw(u)) {
        u->holders++;
        *question->rest = u;
    }
    return status;
}

/* Handle the lack of a next entry: the container is damaged, or a gzip stream ends in its first
 * block, which then is the member. */
static enum tv_status archive_end_early(struct tv_archive_rest *u, struct tv_error *err)
{
    u->cut_off = true;
    if (u->extraction->count > 0 || u->encrypted > 0 || u->later)
        return TV_OK;
    enum tv_status status = archive_use_gzip_tail(u) ? archive_extract_member(u, NULL, err) : TV_OK;
    return status == TV_OK && u->extraction->count == 0 ? archive_fail(u, err) : status;
}

/* Copy as many characters of a name as fit, with '?' for control characters and invalid UTF-8. */
static void archive_copy_name(struct tv_bytes name, char *room, size_t size)
{
    size_t length;
    for (; name.length > 0; name = (struct tv_bytes){name.data + length, name.length - length}) {
        size_t control = tv_bytes_control(name);
        length = control > 0 ? control : tv_bytes_utf8(name);
        struct tv_bytes shown =
            control > 0 || length == 0 ? TV_BYTES("?") : (struct tv_bytes){name.data, length};
        if (shown.length >= size)
            break;
        memcpy(room, shown.data, shown.length);
        room += shown.length;
        size -= shown.length;
        length += length == 0;
    }
    *room = '\0';
}

/* Leave encrypted members out without trying them, because they would look damaged. */
static void archive_skip_encrypted(struct tv_archive_rest *u, struct archive_entry *entry)
{
    const char *name = archive_entry_pathname(entry);
    if (u->encrypted++ == 0)
        archive_copy_name(tv_bytes_of(name ? name : "a member"), u->first_of_them,
                          sizeof u->first_of_them);
}

/* Report the encrypted members once, when all entries were seen. */
static enum tv_status archive_report_encrypted(struct tv_archive_rest *u, struct tv_error *err)
{
    if (u->encrypted == 0)
        return TV_OK;
    if (u->extraction->count == 0 && !u->later)
        return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                       "an encrypted zip (%s): unpack it first, with its password",
                       u->first_of_them);
    tv_extraction_note(u->extraction, "%s%s: encrypted: left out", u->first_of_them,
                       u->encrypted > 1 ? " and others" : "");
    return TV_OK;
}

/* 0: not available */
static locale_t utf8;

static void archive_open_locale(void)
{
    utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

void tv_unpack_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, archive_open_locale);
}

/* Read an entry's header in a UTF-8 locale: libarchive drops names of a zip that the program's
 * locale, "C", cannot represent. */
static int archive_next_header(struct tv_archive_rest *u, struct archive_entry **entry)
{
    tv_unpack_prepare();
    locale_t before = uselocale(utf8);
    int result = archive_read_next_header(u->archive, entry);
    uselocale(before);
    return result;
}

/* Visit the entries until the archive ends, is damaged, or a source has taken over the current
 * member. */
static enum tv_status archive_extract_members(struct tv_archive_rest *u, struct tv_error *err)
{
    assert(u->extraction && !u->given);
    while (u->looks++ < TV_UNPACK_ENTRIES) {
        struct archive_entry *entry;
        int result = archive_next_header(u, &entry);
        if (result == ARCHIVE_EOF)
            return TV_OK;
        u->left = 0;
        u->position = 0;
        if (result < ARCHIVE_WARN)
            return archive_lacks_memory(u) ? archive_fail(u, err) : archive_end_early(u, err);
        /* Directories and links have no bytes. A raw stream has the type 0. */
        if (archive_entry_filetype(entry) != AE_IFREG && archive_entry_filetype(entry) != 0)
            continue;
        if (archive_entry_is_encrypted(entry)) {
            archive_skip_encrypted(u, entry);
            continue;
        }
        enum tv_status status = archive_extract_member(u, entry, err);
        if (status != TV_OK || u->given || u->cut_off)
            return status;
    }
    return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, TV_UNPACK_TOO_MANY, TV_UNPACK_MEMBERS,
                   TV_UNPACK_ENTRIES);
}

bool tv_archive_rest_is_truncated(const struct tv_archive_rest *rest)
{
    return rest->cut_off || rest->damaged;
}

/* Report the members that were left out, and close the archive. */
static enum tv_status archive_finish(struct tv_archive_rest *u, enum tv_status status,
                                     bool *cut_off, struct tv_error *err)
{
    if (status == TV_OK)
        status = archive_report_encrypted(u, err);
    *cut_off = tv_archive_rest_is_truncated(u);
    archive_release(u);
    return status;
}

static enum tv_status archive_unpack(struct tv_extraction *extraction, struct tv_source *packed,
                                     bool *cut_off, struct tv_error *err)
{
    struct tv_archive_rest *u = archive_open(extraction, packed);
    enum tv_status status;
    if (!u->archive)
        status = archive_fail(u, err);
    else if (archive_read_open(u->archive, &u->feed, NULL, archive_feed, NULL) != ARCHIVE_OK)
        status = archive_end_early(u, err);
    else
        status = archive_extract_members(u, err);
    if (!u->given)
        return archive_finish(u, status, cut_off, err);
    u->extraction = NULL; /* its lifetime ends here */
    return status;
}

/* Release the extraction. Its members go to the caller, unless something failed. */
static enum tv_status extraction_hand_over(struct tv_extraction *extraction, enum tv_status status,
                                           size_t *count)
{
    for (size_t i = 0; status != TV_OK && i < extraction->count; i++)
        tv_source_free(extraction->members[i].source);
    *count = status == TV_OK ? extraction->count : 0;
    tv_extraction_release(extraction);
    return status;
}

enum tv_status tv_unpack(struct tv_source *packed, const struct tv_unpack_question *question,
                         struct tv_unpacked *members, size_t *count, bool *cut_off,
                         struct tv_error *err)
{
    uint8_t bytes[HEAD];
    struct tv_bytes head = {bytes, 0};
    struct tv_extraction extraction;
    *count = 0;
    *cut_off = false;
    enum tv_status status = tv_source_read(packed, 0, bytes, sizeof bytes, &head.length, err);
    if (status != TV_OK)
        return status;
    if (question->rest)
        *question->rest = NULL;
    tv_extraction_init(&extraction, packed, question, members);
    enum unpack_kind kind = unpack_kind_of(head);
    if (kind == PAGE)
        status = tv_html_unpack(&extraction, packed, cut_off, err);
    else if (kind == PACKETS)
        status = tv_packets_unpack(&extraction, packed, cut_off, err);
    else if (kind == PERF_RECORDS)
        status = tv_perf_records_unpack(&extraction, packed, cut_off, err);
    else if (kind == ZLIB)
        status = tv_zlib_unpack(&extraction, packed, cut_off, err);
    else
        status = archive_unpack(&extraction, packed, cut_off, err);
    if (status == TV_OK && extraction.count == 0)
        status =
            tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET, "%s without a trace in it",
                    kind == PAGE ? "an HTML page" : "a container (gzip, zlib, zstd, zip or tar)");
    return extraction_hand_over(&extraction, status, count);
}

/* Skip the rest of the first member: if it was compressed itself, bytes after its end may
 * remain. They may be damaged, or too many. */
static enum tv_status archive_skip_member(struct tv_archive_rest *u, struct tv_error *err)
{
    enum tv_status status = TV_OK;
    while (status == TV_OK && archive_next_block(u))
        status = tv_ceiling_add(&u->extraction->ceiling, u->left, err);
    return status == TV_OK && u->feed.error.status != TV_OK ? archive_fail(u, err) : status;
}

enum tv_status tv_unpack_rest(struct tv_archive_rest *rest,
                              const struct tv_unpack_question *question,
                              struct tv_unpacked *members, size_t *count, bool *cut_off,
                              struct tv_error *err)
{
    struct tv_extraction extraction;
    assert(rest->given && rest->holders > 0);
    tv_extraction_init(&extraction, rest->feed.source, question, members);
    extraction.ceiling.total = (uint64_t)rest->position; /* bytes of the first member */
    extraction.most--;
    rest->extraction = &extraction;
    rest->given = false;
    rest->later = true;
    enum tv_status status = archive_skip_member(rest, err);
    if (status == TV_OK && !rest->cut_off)
        status = archive_extract_members(rest, err);
    return extraction_hand_over(&extraction, archive_finish(rest, status, cut_off, err), count);
}

void tv_archive_rest_free(struct tv_archive_rest *rest)
{
    if (rest)
        archive_release(rest);
}
