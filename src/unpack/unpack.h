/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack.h - sources of the traces in a container: gzip, zstd, zip and tar; the zlib stream of
 * "atrace -z"; HTML pages, including reports of `traceview html`; Perfetto traces and perf.data
 * files with compressed packets or records.
 *
 * Containers are hostile input. Only the listed formats are enabled, the unpacked size has a
 * limit, and no file is ever written under a name from the archive.
 */
#ifndef TV_UNPACK_UNPACK_H
#define TV_UNPACK_UNPACK_H

#include "base/source.h"

/* Unpacked bytes are limited to TV_UNPACK_FREE plus TV_UNPACK_RATIO for each packed byte. */
#define TV_UNPACK_FREE (UINT64_C(1) << 30)
#define TV_UNPACK_RATIO 256

/* Return the largest unpacked size of `packed` bytes by that rule, or `most` when that is
 * smaller and not 0. */
uint64_t tv_unpack_ceiling(uint64_t packed, uint64_t most);

/* Limits on the members that are extracted and on the entries of an archive. More are an error. */
#define TV_UNPACK_MEMBERS 64
#define TV_UNPACK_ENTRIES 65536

/* The rest of an archive whose first member was extracted. */
struct tv_archive_rest;

struct tv_unpack_question {
    /* Return true when a member that begins with these bytes (up to 4096) is wanted. */
    bool (*wanted)(void *context, struct tv_bytes head);
    void *context;
    /* Receives each block of a member that is spooled, in the order of the member; or NULL. 64
     * bytes after the block are readable. */
    void (*spooled)(void *context, struct tv_bytes block);
    uint64_t ceiling; /* limit on the unpacked bytes; 0: the rule above */
    /* Receives remarks about what was left out, a few words each; or NULL. */
    void (*note)(void *context, const char *text);
    /* A single compressed stream (gzip, zstd, zlib) becomes a source that grows (source.h): it
     * is unpacked while it is read, and reports truncation and errors itself. */
    bool as_it_comes;
    /* With as_it_comes: the first wanted member of an archive becomes such a source too, and
     * *rest the rest of the archive (NULL when there is none). When `rest` is NULL, all members
     * are extracted at once. */
    struct tv_archive_rest **rest;
};

/* Load the encoding of members' names. Call this before a sandbox forbids opening files. */
void tv_unpack_prepare(void);

/* Return true when these first bytes begin a container that tv_unpack opens. Check this before
 * the readers: an uncompressed member near the beginning could look like a trace. No trace
 * format begins like a container. */
bool tv_unpack_knows(struct tv_bytes head);

struct tv_unpacked {
    struct tv_source *source;
    uint32_t machine; /* in a page, traces with the same number come from the same machine; else
                       * TV_NONE */
    tv_ns offset;     /* nanoseconds that a report adds to its times, within TV_MOVE_MAX */
};

/* Extract every wanted member as a source of its own, named after the container and, in an
 * archive or a report, after the member. Members are spooled; text that is not packed in a page
 * becomes a view of the page. members[] has TV_UNPACK_MEMBERS places. A truncated container
 * yields what precedes its end, with *cut_off set. A container without a wanted member is an
 * error. */
enum tv_status tv_unpack(struct tv_source *packed, const struct tv_unpack_question *question,
                         struct tv_unpacked *members, size_t *count, bool *cut_off,
                         struct tv_error *err) TV_MUST_CHECK;

/* Extract all members after the first one, whose source was closed or read to its end; there
 * may be none. The packed source must still be open. Frees `rest`. */
enum tv_status tv_unpack_rest(struct tv_archive_rest *rest,
                              const struct tv_unpack_question *question,
                              struct tv_unpacked *members, size_t *count, bool *cut_off,
                              struct tv_error *err) TV_MUST_CHECK;

/* Return true when the archive was truncated or damaged, as far as it was read. */
bool tv_archive_rest_is_truncated(const struct tv_archive_rest *rest);

/* Give up the other members; NULL is allowed. */
void tv_archive_rest_free(struct tv_archive_rest *rest);

#endif
