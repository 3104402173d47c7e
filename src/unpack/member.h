/* SPDX-License-Identifier: Apache-2.0 */
/*
 * member.h - the interface between containers: extraction of members, and one pair of functions
 * for each kind of container. Internal to this module.
 *
 *     tv_unpack -+- libarchive (unpack.c) -+                      +-> a spool
 *                +- HTML page (page.c) ----+- tv_extraction_add --+
 *                +- zlib (streams.c) ------+                      '-> a source that grows
 *                +- Perfetto (packets.c) --+
 *                '- perf (perf_records.c) -'
 */
#ifndef TV_UNPACK_MEMBER_H
#define TV_UNPACK_MEMBER_H

#include "base/source.h"
#include "unpack/unpack.h"

#define TV_UNPACK_TOO_MANY "an archive with more than %d traces, or %d members: unpack it first"

/* The limit on the unpacked bytes of a container, against decompression bombs. */
struct tv_ceiling {
    struct tv_source *packed; /* the limit depends on its size; waits for no more of it than the
                               * decision needs */
    uint64_t fixed;           /* or, unless this is 0, a limit in bytes */
    uint64_t total;           /* bytes unpacked so far */
};

/* Count `length` more unpacked bytes. Return an error when they exceed the limit. */
enum tv_status tv_ceiling_add(struct tv_ceiling *ceiling, size_t length,
                              struct tv_error *err) TV_MUST_CHECK;

struct tv_extraction {
    const struct tv_unpack_question *question;
    struct tv_ceiling ceiling;
    struct tv_unpacked *members; /* TV_UNPACK_MEMBERS places */
    size_t count, most;          /* the number of members that may be extracted */
    uint8_t *buffer;
};

struct tv_unpack_member {
    const char *name; /* becomes the name of the source */
    /* Fill up to `size` bytes; *got is less only at the end of the member. */
    enum tv_status (*read)(void *context, uint8_t *buffer, size_t size, size_t *got,
                           struct tv_error *err);
    void *context;
    /* For a member that may be read while it is unpacked, else NULL: if the member is wanted,
     * its source owns the context from then on and closes it. */
    void (*close)(void *context);
    bool (*is_cut)(const void *context); /* with `close`: returns true when the member is
                                          * truncated */
};

void tv_extraction_init(struct tv_extraction *extraction, struct tv_source *packed,
                        const struct tv_unpack_question *question, struct tv_unpacked *members);
void tv_extraction_release(struct tv_extraction *extraction);

/* Add the member when it is wanted; *taken (may be NULL) tells. */
enum tv_status tv_extraction_add(struct tv_extraction *extraction,
                                 const struct tv_unpack_member *member, bool *taken,
                                 struct tv_error *err) TV_MUST_CHECK;

/* As above, for a member that is [start, end) of the container, not packed: it becomes a view. */
struct tv_plain_member {
    const char *name;
    struct tv_source *container;
    uint64_t start, end;
};
enum tv_status tv_extraction_add_plain(struct tv_extraction *extraction,
                                       const struct tv_plain_member *member, bool *taken,
                                       struct tv_error *err) TV_MUST_CHECK;

/* Send a remark to the caller of tv_unpack. */
void tv_extraction_note(const struct tv_extraction *extraction, const char *format, ...)
    TV_PRINTF(2, 3);

/* ---- HTML pages: each trace in a page is a member (html/html_page.h) ---- */

/* Extract the wanted traces in their order, and note the others. *cut_off: the page ends inside
 * a trace, or its base64 is damaged. */
enum tv_status tv_html_unpack(struct tv_extraction *extraction, struct tv_source *packed,
                              bool *cut_off, struct tv_error *err) TV_MUST_CHECK;

/* ---- zlib: a bare stream, or one that "atrace -z" printed ----
 *
 * The shell's own output may precede the line "TRACE:" and the stream. A terminal may have put
 * one or two carriage returns in front of every line feed, including those inside the stream.
 * The end of the line "TRACE:" shows how many; they are removed. */

/* Return true when a stream begins in these first bytes. Its beginning is unpacked, because two
 * header bytes may be a coincidence. */
bool tv_zlib_knows(struct tv_bytes head);

/* Extract the stream. A truncated or damaged stream yields what precedes the damage, with
 * *cut_off set. */
enum tv_status tv_zlib_unpack(struct tv_extraction *extraction, struct tv_source *packed,
                              bool *cut_off, struct tv_error *err) TV_MUST_CHECK;

/* ---- Perfetto traces with compressed packets (packets.c) ---- */

/* Return true when these first bytes are packets, and one of them is compressed. */
bool tv_packets_know(struct tv_bytes head);

/* Extract the trace with all packets unpacked, as one member. */
enum tv_status tv_packets_unpack(struct tv_extraction *extraction, struct tv_source *packed,
                                 bool *cut_off, struct tv_error *err) TV_MUST_CHECK;

/* ---- perf.data files with compressed records (perf_records.c) ---- */

/* Return true when a file begins like this whose records perf compressed, or which has to be read
 * further to know: it came through a pipe. */
bool tv_perf_records_know(struct tv_bytes head);

/* Extract the file with all records unpacked, as one member; one without compressed records as it
 * is.  Damage ends the records, with *cut_off set. */
enum tv_status tv_perf_records_unpack(struct tv_extraction *extraction, struct tv_source *packed,
                                      bool *cut_off, struct tv_error *err) TV_MUST_CHECK;

/* ---- gzip: the last block of a truncated stream, and its checksum ----
 *
 * libarchive unpacks in blocks of 64 KiB and drops the block in which the stream ends. A small
 * recording is entirely in that block. */

/* Unpack the stream again and copy at most `size` of the bytes after the first `skip` unpacked
 * bytes. Return their number; 0 also when the source is not gzip or cannot be read. */
size_t tv_gzip_tail(struct tv_source *packed, uint64_t skip, uint8_t *buffer, size_t size);

/* Return true when all gzip streams of the packed bytes are complete and match their checksums
 * and lengths. Bytes after the last stream are ignored. This unpacks everything. */
bool tv_gzip_is_sound(struct tv_source *packed);

/* ---- zstd: the end of the last frame (RFC 8878, section 3.1) ----
 *
 * libarchive treats the bytes after the last frame as another frame, and drops the block that
 * it has just unpacked when they are none. So libarchive gets only the bytes of frames. */

/* A walk over the frames. Zeros: at the start of the bytes. */
struct tv_zstd_frames {
    uint64_t at;  /* offset of the next frame or block */
    bool inside;  /* inside a frame whose blocks have not ended */
    bool summed;  /* the frame has a checksum */
    bool unknown; /* the stream cannot be walked, so nothing is dropped */
    bool ended;   /* other frames ended at `at`, and no frame begins there */
    bool damaged; /* the bytes at `at` are not padding with zeros either */
};

/* Return the end of the frames among the packed bytes up to `limit`. At the end of a frame, four
 * more bytes decide whether another frame follows. */
uint64_t tv_zstd_frames_end(struct tv_zstd_frames *frames, struct tv_source *packed,
                            uint64_t limit);

#endif
