/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack.c - containers through libarchive, with the formats and filters switched on one by one:
 * libarchive's history of holes lies in those that nobody packs a trace with (RAR, 7z, cpio, ...).
 */
#include "unpack/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "unpack/gzip_tail.h"
#include "unpack/html.h"
#include "unpack/member.h"
#include "unpack/zlib_text.h"
#include "unpack/zstd_frames.h"
#include "wire/little_endian.h"

#define CHUNK ((size_t)256 * 1024)
#define HEAD ((size_t)4096)
#define ZSTD_MAGIC "\x28\xb5\x2f\xfd"
#define TAR_MAGIC_AT 257

struct feed {
    struct tv_source *source;
    uint64_t offset;
    uint8_t *buffer;
    bool zstd;
    struct tv_zstd_frames frames; /* of zstd */
    struct tv_error error;
};

struct tv_unpacking {
    struct archive *archive;
    struct feed feed;
    struct tv_taking *taking;
    uint8_t *tail;
    const uint8_t *block; /* what libarchive gave last of the member, not yet taken */
    size_t left;
    int64_t position; /* in the member, behind that block */
    uint32_t crc;     /* of what lies before that, when it is only gzip */
    unsigned looks;   /* so many members there were */
    unsigned holders; /* the unpacking itself, or a source that unpacks while it is read; a rest */
    bool cut_off;
    bool damaged;     /* a member was: its checksum or size is not what is said; others follow */
    bool given;       /* a source has the member at hand */
    bool later;       /* one had the first, and all others are to be taken */
    size_t encrypted; /* members, which are left out */
    char first_of_them[64];
};

static bool has_magic(struct tv_bytes head, size_t at, struct tv_bytes magic)
{
    return head.length >= at + magic.length &&
           memcmp(head.data + at, magic.data, magic.length) == 0;
}

/* By magics that no text has: text has no NUL before that of tar. */
static bool is_archive(struct tv_bytes head)
{
    return has_magic(head, 0, TV_BYTES("\x1f\x8b")) || has_magic(head, 0, TV_BYTES(ZSTD_MAGIC)) ||
           has_magic(head, 0, TV_BYTES("PK\x03\x04")) ||
           (has_magic(head, TAR_MAGIC_AT, TV_BYTES("ustar")) && memchr(head.data, 0, TAR_MAGIC_AT));
}

enum kind {
    NONE,
    ARCHIVE,
    PAGE,
    ZLIB,
};

/* Archives first: the head of one may show the line "TRACE:" of a member that is stored. */
static enum kind kind_of(struct tv_bytes head)
{
    if (is_archive(head))
        return ARCHIVE;
    if (tv_html_knows(head))
        return PAGE;
    return tv_zlib_knows(head) ? ZLIB : NONE;
}

bool tv_unpack_knows(struct tv_bytes head)
{
    return kind_of(head) != NONE;
}

static la_ssize_t feed_bytes(struct archive *archive, void *context, const void **buffer)
{
    struct feed *feed = context;
    size_t got = 0;
    if (feed->frames.ended)
        return 0;
    if (tv_source_read_some(feed->source, feed->offset, feed->buffer, CHUNK, &got, &feed->error) !=
        TV_OK) {
        archive_set_error(archive, -1, "%s", feed->error.message);
        return -1;
    }
    if (feed->offset == 0)
        feed->zstd = has_magic((struct tv_bytes){feed->buffer, got}, 0, TV_BYTES(ZSTD_MAGIC));
    if (feed->zstd) {
        uint64_t end = tv_zstd_frames_end(&feed->frames, feed->source, feed->offset + got);
        /* Less than came before only of a file that is changed meanwhile. */
        got = end > feed->offset ? (size_t)(end - feed->offset) : 0;
    }
    feed->offset += got;
    *buffer = feed->buffer;
    return (la_ssize_t)got;
}

static enum tv_status fail(struct tv_unpacking *u, struct tv_error *err)
{
    if (u->feed.error.status != TV_OK) {
        *err = u->feed.error;
        return err->status;
    }
    const char *text = u->archive ? archive_error_string(u->archive) : NULL;
    if (text && strstr(text, "requires too much memory")) /* zstd's own words */
        return tv_fail(
            err, TV_ERR_LIMIT, TV_NO_OFFSET,
            "a zstd stream with a window of more than the 128 MiB that are unpacked here: "
            "unpack it first, with \"zstd -d --long=31\"");
    if (text && strcmp(text, "Unrecognized archive format") == 0)
        text = "nothing is packed in it, or its beginning is not whole";
    return tv_fail(err, TV_ERR_SYNTAX, u->feed.offset, "damaged container: %s",
                   text ? text : "it cannot be unpacked");
}

/* Did libarchive end for want of memory?  Then the container is not damaged. */
static bool lacks_memory(struct tv_unpacking *u)
{
    if (archive_errno(u->archive) != ENOMEM)
        return false;
    tv_fail(&u->feed.error, TV_ERR_LIMIT, TV_NO_OFFSET, "there is not enough memory to unpack it");
    return true;
}

static struct tv_unpacking *start(struct tv_taking *taking, struct tv_source *packed)
{
    struct tv_unpacking *u = tv_alloc(1, sizeof *u);
    u->archive = archive_read_new();
    u->holders = 1;
    u->taking = taking;
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

/* Also tv_member.close. */
static void stop(void *context)
{
    struct tv_unpacking *u = context;
    if (--u->holders > 0)
        return;
    archive_read_free(u->archive);
    tv_free(u->feed.buffer);
    tv_free(u->tail);
    tv_free(u);
}

static bool is_raw(const struct tv_unpacking *u)
{
    return archive_format(u->archive) == ARCHIVE_FORMAT_RAW;
}

/* tv_member.is_cut; of an archive it is told with the rest. */
static bool was_cut(const void *context)
{
    const struct tv_unpacking *u = context;
    return tv_unpacking_is_cut(u) && is_raw(u);
}

/* Of a stream that is only gzip, what libarchive dropped where it ended early becomes the last
 * block.  False when there is none. */
static bool take_tail(struct tv_unpacking *u)
{
    u->cut_off = true;
    if (u->feed.error.status != TV_OK)
        return false;
    u->left = tv_gzip_tail(u->feed.source, (uint64_t)u->position, u->tail, CHUNK);
    u->block = u->tail;
    u->position += (int64_t)u->left;
    return u->left > 0;
}

static bool is_plain_gzip(struct tv_unpacking *u)
{
    return is_raw(u) && archive_filter_count(u->archive) == 2 &&
           archive_filter_code(u->archive, 0) == ARCHIVE_FILTER_GZIP;
}

/* libarchive checks neither checksum nor length of gzip.  Those of a lone stream, whose last bytes
 * they are, are compared; else the streams are unpacked again. */
static bool gzip_is_sound(struct tv_unpacking *u)
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

/* The member's next block. False at its end, early or not.  (archive_read_data would drop what it
 * has copied already when the container ends within the same call.) */
static bool next_block(struct tv_unpacking *u)
{
    const void *block = NULL;
    size_t size = 0;
    la_int64_t offset = u->position;
    if (u->cut_off)
        return false;
    int result = archive_read_data_block(u->archive, &block, &size, &offset);
    if (result == ARCHIVE_EOF) {
        u->cut_off = u->feed.frames.damaged || (is_plain_gzip(u) && !gzip_is_sound(u));
        return false;
    }
    /* A wrong checksum is a warning with the last bytes in libarchive 3.6, and a failure behind
     * them in 3.7.  No trace is a sparse file with holes. */
    bool broken = result < (u->position > 0 ? ARCHIVE_FAILED : ARCHIVE_WARN);
    if (broken && lacks_memory(u))
        return false;
    if (broken || offset != u->position) {
        u->cut_off = true;
        return is_plain_gzip(u) && take_tail(u);
    }
    u->damaged = u->damaged || result <= ARCHIVE_WARN;
    u->block = block;
    u->left = size;
    u->position += (int64_t)size;
    if (result == ARCHIVE_FAILED && size == 0)
        return false;
    if (is_plain_gzip(u))
        u->crc = (uint32_t)crc32_z(u->crc, block, size);
    return true;
}

/* Fills up to `size` bytes of the member. False when the packed bytes cannot be read; a member that
 * ends early is not that. */
static bool read_some(struct tv_unpacking *u, uint8_t *buffer, size_t size, size_t *got)
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

/* "app.zip: traces/main.trace"; of a mere packed stream the container's own name. */
static void name_member(struct tv_unpacking *u, struct archive_entry *entry, char *name,
                        size_t size)
{
    const char *container = tv_source_name(u->feed.source);
    const char *member = entry ? archive_entry_pathname(entry) : NULL;
    if (is_raw(u) || !member)
        snprintf(name, size, "%s", container);
    else
        snprintf(name, size, "%s: %s", container, member);
}

/* The bytes of the member at hand (tv_member.read). */
static enum tv_status read_member(void *context, uint8_t *buffer, size_t size, size_t *got,
                                  struct tv_error *err)
{
    struct tv_unpacking *u = context;
    return read_some(u, buffer, size, got) ? TV_OK : fail(u, err);
}

static enum tv_status take_member(struct tv_unpacking *u, struct archive_entry *entry,
                                  struct tv_error *err)
{
    char name[1024];
    name_member(u, entry, name, sizeof name);
    struct tv_member member = {.name = name, .read = read_member, .context = u};
    const struct tv_unpack_question *question = u->taking->question;
    bool at_once = !question->as_it_comes || (!is_raw(u) && (!question->rest || u->later));
    if (at_once)
        return tv_taking_add(u->taking, &member, NULL, err);
    member.close = stop;
    member.is_cut = was_cut;
    enum tv_status status = tv_taking_add(u->taking, &member, &u->given, err);
    if (u->given && !is_raw(u)) {
        u->holders++;
        *question->rest = u;
    }
    return status;
}

/* There is no next member: the container is damaged, or a gzip stream ends within its first block,
 * which then is the member. */
static enum tv_status take_rest(struct tv_unpacking *u, struct tv_error *err)
{
    u->cut_off = true;
    if (u->taking->count > 0 || u->encrypted > 0 || u->later)
        return TV_OK;
    enum tv_status status = take_tail(u) ? take_member(u, NULL, err) : TV_OK;
    return status == TV_OK && u->taking->count == 0 ? fail(u, err) : status;
}

/* As many characters of a name as fit, '?' for what terminals obey and for what is no UTF-8. */
static void copy_name(struct tv_bytes name, char *room, size_t size)
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

/* What is encrypted is not tried: it would pass for damage. */
static void leave_out(struct tv_unpacking *u, struct archive_entry *entry)
{
    const char *name = archive_entry_pathname(entry);
    if (u->encrypted++ == 0)
        copy_name(tv_bytes_of(name ? name : "a member"), u->first_of_them, sizeof u->first_of_them);
}

/* Whole or cut off. */
static enum tv_status end_members(struct tv_unpacking *u, struct tv_error *err)
{
    if (u->encrypted == 0)
        return TV_OK;
    if (u->taking->count == 0 && !u->later)
        return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                       "an encrypted zip (%s): unpack it first, with its password",
                       u->first_of_them);
    tv_taking_note(u->taking, "%s%s: encrypted: left out", u->first_of_them,
                   u->encrypted > 1 ? " and others" : "");
    return TV_OK;
}

/* 0: there is none. */
static locale_t utf8;

static void open_locale(void)
{
    utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

void tv_unpack_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_locale);
}

/* libarchive has no names that the locale, which of a program is "C", cannot write: of a zip they
 * would be missing. */
static int next_header(struct tv_unpacking *u, struct archive_entry **entry)
{
    tv_unpack_prepare();
    locale_t before = uselocale(utf8);
    int result = archive_read_next_header(u->archive, entry);
    uselocale(before);
    return result;
}

static enum tv_status take_members(struct tv_unpacking *u, struct tv_error *err)
{
    while (u->looks++ < TV_UNPACK_LOOKS) {
        struct archive_entry *entry;
        int result = next_header(u, &entry);
        if (result == ARCHIVE_EOF)
            return TV_OK;
        u->left = 0;
        u->position = 0;
        if (result < ARCHIVE_WARN)
            return lacks_memory(u) ? fail(u, err) : take_rest(u, err);
        if (archive_entry_filetype(entry) != AE_IFREG && archive_entry_filetype(entry) != 0)
            continue;
        if (archive_entry_is_encrypted(entry)) {
            leave_out(u, entry);
            continue;
        }
        enum tv_status status = take_member(u, entry, err);
        if (status != TV_OK || u->given || u->cut_off)
            return status;
    }
    return tv_fail(err, TV_ERR_LIMIT, TV_NO_OFFSET, TV_UNPACK_TOO_MANY, TV_UNPACK_MEMBERS,
                   TV_UNPACK_LOOKS);
}

bool tv_unpacking_is_cut(const struct tv_unpacking *rest)
{
    return rest->cut_off || rest->damaged;
}

/* Tells what was left out, and ends. */
static enum tv_status finish(struct tv_unpacking *u, enum tv_status status, bool *cut_off,
                             struct tv_error *err)
{
    if (status == TV_OK)
        status = end_members(u, err);
    *cut_off = tv_unpacking_is_cut(u);
    stop(u);
    return status;
}

static enum tv_status unpack_archive(struct tv_taking *taking, struct tv_source *packed,
                                     bool *cut_off, struct tv_error *err)
{
    struct tv_unpacking *u = start(taking, packed);
    enum tv_status status;
    if (!u->archive)
        status = fail(u, err);
    else if (archive_read_open(u->archive, &u->feed, NULL, feed_bytes, NULL) != ARCHIVE_OK)
        status = take_rest(u, err);
    else
        status = take_members(u, err);
    if (!u->given)
        return finish(u, status, cut_off, err);
    u->taking = NULL; /* it ends here */
    return status;
}

/* Releases the taking; what was taken goes to whoever asked, unless something failed. */
static enum tv_status hand_over(struct tv_taking *taking, enum tv_status status, size_t *count)
{
    for (size_t i = 0; status != TV_OK && i < taking->count; i++)
        tv_source_free(taking->members[i].source);
    *count = status == TV_OK ? taking->count : 0;
    tv_taking_release(taking);
    return status;
}

enum tv_status tv_unpack(struct tv_source *packed, const struct tv_unpack_question *question,
                         struct tv_unpacked *members, size_t *count, bool *cut_off,
                         struct tv_error *err)
{
    uint8_t bytes[HEAD];
    struct tv_bytes head = {bytes, 0};
    struct tv_taking taking;
    *count = 0;
    *cut_off = false;
    enum tv_status status = tv_source_read(packed, 0, bytes, sizeof bytes, &head.length, err);
    if (status != TV_OK)
        return status;
    if (question->rest)
        *question->rest = NULL;
    tv_taking_init(&taking, packed, question, members);
    enum kind kind = kind_of(head);
    if (kind == PAGE)
        status = tv_html_unpack(&taking, packed, cut_off, err);
    else if (kind == ZLIB)
        status = tv_zlib_unpack(&taking, packed, cut_off, err);
    else
        status = unpack_archive(&taking, packed, cut_off, err);
    if (status == TV_OK && taking.count == 0)
        status =
            tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET, "%s without a trace in it",
                    kind == PAGE ? "an HTML page" : "a container (gzip, zlib, zstd, zip or tar)");
    return hand_over(&taking, status, count);
}

/* What nobody read of the first member: of one that is packed itself, what lies behind its end.  It
 * may be damaged, or too much. */
static enum tv_status skip_member(struct tv_unpacking *u, struct tv_error *err)
{
    enum tv_status status = TV_OK;
    while (status == TV_OK && next_block(u))
        status = tv_ceiling_add(&u->taking->ceiling, u->left, err);
    return status == TV_OK && u->feed.error.status != TV_OK ? fail(u, err) : status;
}

enum tv_status tv_unpack_rest(struct tv_unpacking *rest, const struct tv_unpack_question *question,
                              struct tv_unpacked *members, size_t *count, bool *cut_off,
                              struct tv_error *err)
{
    struct tv_taking taking;
    tv_taking_init(&taking, rest->feed.source, question, members);
    taking.ceiling.total = (uint64_t)rest->position; /* of the first one */
    taking.most--;
    rest->taking = &taking;
    rest->given = false;
    rest->later = true;
    enum tv_status status = skip_member(rest, err);
    if (status == TV_OK && !rest->cut_off)
        status = take_members(rest, err);
    return hand_over(&taking, finish(rest, status, cut_off, err), count);
}

void tv_unpacking_free(struct tv_unpacking *rest)
{
    if (rest)
        stop(rest);
}
