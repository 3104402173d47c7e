/* SPDX-License-Identifier: Apache-2.0 */
/*
 * member.h - a member of a container on its way into a source of its own: what all kinds of
 * containers have in common.
 */
#ifndef TV_UNPACK_MEMBER_H
#define TV_UNPACK_MEMBER_H

#include "unpack/unpack.h"

#define TV_UNPACK_TOO_MANY "an archive with more than %d traces, or %d members: unpack it first"

/* How much may come out of a container. */
struct tv_ceiling {
    struct tv_source *packed; /* by whose size, of which no more is waited for than is needed */
    uint64_t fixed;           /* or, unless this is 0, so many bytes */
    uint64_t total;           /* that came */
};

/* So many more bytes come; an error when they are too many. */
enum tv_status tv_ceiling_add(struct tv_ceiling *ceiling, size_t length,
                              struct tv_error *err) TV_MUST_CHECK;

struct tv_taking {
    const struct tv_unpack_question *question;
    struct tv_ceiling ceiling;
    struct tv_unpacked *members; /* TV_UNPACK_MEMBERS places */
    size_t count, most;          /* so many may be taken */
    uint8_t *buffer;
};

struct tv_member {
    const char *name; /* of the source that it becomes */
    /* Fills up to `size` bytes; *got is less only at the member's end. */
    enum tv_status (*read)(void *context, uint8_t *buffer, size_t size, size_t *got,
                           struct tv_error *err);
    void *context;
    /* Of a member that whoever asks takes as it comes: if it is wanted, the source has the context
     * from then on, unpacks while it is read (growing.h) and closes.  Else NULL. */
    void (*close)(void *context);
    bool (*is_cut)(const void *context); /* with `close`: whether its end came early */
};

void tv_taking_init(struct tv_taking *taking, struct tv_source *packed,
                    const struct tv_unpack_question *question, struct tv_unpacked *members);
void tv_taking_release(struct tv_taking *taking);

/* Adds the member to those taken when it is wanted; *taken may be NULL. */
enum tv_status tv_taking_add(struct tv_taking *taking, const struct tv_member *member, bool *taken,
                             struct tv_error *err) TV_MUST_CHECK;

/* The same of a member that stands unpacked in [start, end) of the container: it is read there. */
struct tv_plain_member {
    const char *name;
    struct tv_source *container;
    uint64_t start, end;
};
enum tv_status tv_taking_add_plain(struct tv_taking *taking, const struct tv_plain_member *member,
                                   bool *taken, struct tv_error *err) TV_MUST_CHECK;

/* Says something to whoever asked. */
void tv_taking_note(const struct tv_taking *taking, const char *format, ...) TV_PRINTF(2, 3);

#endif
