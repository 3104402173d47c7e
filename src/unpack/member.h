/* SPDX-License-Identifier: Apache-2.0 */
/*
 * member.h - the interface between containers: extraction of members, and one pair of functions
 * for each kind of container. Internal to this room.
 *
 *     tv_unpack --+-- libarchive (gzip, zstd, zip, tar) --+                  +--> spool, whole
 *                 +-- HTML page ------------------------- +-- tv_extraction_add
 *                 '-- zlib stream ------------------------+                  '--> source that grows
 */
#ifndef TV_UNPACK_MEMBER_H
#define TV_UNPACK_MEMBER_H

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

void tv_extraction_init(struct tv_extraction *taking, struct tv_source *packed,
                        const struct tv_unpack_question *question, struct tv_unpacked *members);
void tv_extraction_release(struct tv_extraction *taking);

/* Add the member when it is wanted; *taken (may be NULL) tells. */
enum tv_status tv_extraction_add(struct tv_extraction *taking,
                                 const struct tv_unpack_member *member, bool *taken,
                                 struct tv_error *err) TV_MUST_CHECK;

/* The same for a member that is [start, end) of the container, not packed: it becomes a view. */
struct tv_plain_member {
    const char *name;
    struct tv_source *container;
    uint64_t start, end;
};
enum tv_status tv_extraction_add_plain(struct tv_extraction *taking,
                                       const struct tv_plain_member *member, bool *taken,
                                       struct tv_error *err) TV_MUST_CHECK;

/* Send a remark to the caller of tv_unpack. */
void tv_extraction_note(const struct tv_extraction *taking, const char *format, ...)
    TV_PRINTF(2, 3);

#endif
