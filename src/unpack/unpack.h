/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack.h - what traces come packed in, into sources: gzip, zstd, zip, tar; the zlib stream of
 * "atrace -z"; HTML pages, each trace in them being a member, reports of `traceview html` too.
 *
 * Nothing here trusts its input: formats are an explicit list, what comes out has a ceiling, and
 * members are looked at in their order without ever writing a file by the archive's names.
 */
#ifndef TV_UNPACK_UNPACK_H
#define TV_UNPACK_UNPACK_H

#include "base/source.h"

/* Unpacked bytes may be so many, plus TV_UNPACK_RATIO for each packed one. */
#define TV_UNPACK_FREE (UINT64_C(1) << 30)
#define TV_UNPACK_RATIO 256

/* Return the largest size that `packed` bytes may unpack to by that rule, or `most` when that is
 * smaller and not 0. */
uint64_t tv_unpack_ceiling(uint64_t packed, uint64_t most);

/* At most so many members are taken, and so many looked at: an archive with more is an error. */
#define TV_UNPACK_MEMBERS 64
#define TV_UNPACK_LOOKS 65536

/* An archive of which not all members were taken yet. */
struct tv_unpacking;

struct tv_unpack_question {
    /* Is a member that begins with these bytes (up to 4096) wanted? */
    bool (*wanted)(void *context, struct tv_bytes head);
    void *context;
    uint64_t ceiling; /* unpacked bytes; 0: by the rule above */
    /* Told of what is left out, a few words each; or NULL. */
    void (*note)(void *context, const char *text);
    /* What is only packed (gzip, zstd, zlib) becomes a source that grows (source.h): it is unpacked
     * while it is read, and tells itself whether it is cut off or failed. */
    bool as_it_comes;
    /* With as_it_comes: the first wanted member of an archive becomes such a source as well, and
     * *rest what stands behind it; else *rest is NULL.  Where this is NULL, all members are taken
     * at once. */
    struct tv_unpacking **rest;
};

/* Opens what unpacking needs of the system, the encoding of members' names: for who may open
 * nothing later on (a sandbox). */
void tv_unpack_prepare(void);

/* Do these first bytes belong to a container that tv_unpack opens?  They do also where a reader
 * knows them: a member may stand in it unpacked, and begin near.  No file of a reader's begins so.
 */
bool tv_unpack_knows(struct tv_bytes head);

struct tv_unpacked {
    struct tv_source *source;
    uint32_t machine; /* in a page: those of one number are of one machine; else TV_NONE */
    tv_ns offset;     /* that a report adds to its times, within TV_MOVE_MAX */
};

/* Takes every wanted member of the container, as a source of its own that is named after the
 * container and, in an archive or a report, the member: spooled, or what stands unpacked in a page
 * as a part of the page.  members[] has TV_UNPACK_MEMBERS places.  A container that ends early
 * gives what was there before, with *cut_off set. No wanted member is an error. */
enum tv_status tv_unpack(struct tv_source *packed, const struct tv_unpack_question *question,
                         struct tv_unpacked *members, size_t *count, bool *cut_off,
                         struct tv_error *err) TV_MUST_CHECK;

/* Takes all members behind the first one, whose source is gone or was read to its end; there may
 * be none.  The packed source must be open still.  The rest is gone. */
enum tv_status tv_unpack_rest(struct tv_unpacking *rest, const struct tv_unpack_question *question,
                              struct tv_unpacked *members, size_t *count, bool *cut_off,
                              struct tv_error *err) TV_MUST_CHECK;

/* Whether the archive ended early, or was damaged, as far as it was read. */
bool tv_unpacking_is_cut(const struct tv_unpacking *rest);

/* Does without them; NULL is fine. */
void tv_unpacking_free(struct tv_unpacking *rest);

#endif
