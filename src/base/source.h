/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.h - where a reader's bytes come from (decision P1).
 *
 * A source answers reads at any 64-bit offset, from any number of threads at once.  Readers see it
 * through windows and never hold a pointer to the whole file.  What comes only once, a pipe, grows:
 * a read waits for the bytes that it asks for, and whoever asks for the size waits for the end.
 */
#ifndef TV_BASE_SOURCE_H
#define TV_BASE_SOURCE_H

#include "base/error.h"
#include "base/types.h"

struct tv_source;

/* Readable bytes behind the end of every window (their values are 0). */
#define TV_WINDOW_SLACK 64

/* A source over bytes that the caller keeps alive. */
struct tv_source *tv_source_from_memory(struct tv_bytes bytes, const char *name);

/* The pieces one behind the other as one source (a split trace: key + data). Takes the parts over,
 * not the array that lists them. */
struct tv_source *tv_source_join(struct tv_source **parts, size_t count, const char *name);

/* The bytes [start, end) of a source, which lie within it, as one of their own.  Both are freed, in
 * any order: what lies below stays open until the last of them is. */
struct tv_source *tv_source_part(struct tv_source *whole, uint64_t start, uint64_t end,
                                 const char *name);

/* What a platform or an unpacker supplies. */
struct tv_source_reads {
    /* Fills `buffer` with exactly `size` bytes from `offset` (the range lies within the size given
     * to tv_source_from_reads).  Called from several threads at once. */
    enum tv_status (*read)(void *context, uint64_t offset, void *buffer, size_t size,
                           struct tv_error *err);
    void (*close)(void *context); /* or NULL */
};
struct tv_source *tv_source_from_reads(const struct tv_source_reads *reads, void *context,
                                       uint64_t size, const char *name);

/* What comes by and by and is kept.  None of these is called by two threads at once until the end
 * was seen, and `read` by any number of them after it. */
struct tv_source_growth {
    struct tv_source_reads reads;
    /* Lets at least `wanted` bytes be there from the start on, or all where there are fewer.
     * *size is how many there are; *ended: there come no more, which is also so after an error. */
    enum tv_status (*grow)(void *context, uint64_t wanted, uint64_t *size, bool *ended,
                           struct tv_error *err);
    /* Asked when the end was seen: did less come than was to come?  NULL: that cannot be known. */
    bool (*is_cut)(void *context);
    /* Asked between two calls of `grow`: would one for a byte more wait?  NULL: that cannot be
     * known. */
    bool (*would_wait)(void *context);
};
struct tv_source *tv_source_from_growth(const struct tv_source_growth *growth, void *context,
                                        const char *name);

/* One holder more, who frees it as the others do: it is closed by the last of them. */
struct tv_source *tv_source_hold(struct tv_source *source);

void tv_source_free(struct tv_source *source);

const char *tv_source_name(const struct tv_source *source); /* as the user knows it, for messages */

/* Of what grows the call returns when the end has come.  Where that was an error (of the pipe, a
 * full disk) the size is that of what came before it, and all reads fail from then on. */
uint64_t tv_source_size(struct tv_source *source);

/* Whether there are so many bytes, for which alone is waited. */
bool tv_source_reaches(struct tv_source *source, uint64_t size);

/* False, and *size UINT64_MAX: the end has not been seen. Never waits. */
bool tv_source_has_size(struct tv_source *source, uint64_t *size);

/* The error at which a source ended that grew, or else the first TV_ERR_IO of a read of it: for
 * those who have read all they need of it, and may have taken what came for the whole or gone on
 * without what could not be read. */
enum tv_status tv_source_check(struct tv_source *source, struct tv_error *err) TV_MUST_CHECK;

/* Whoever needs bytes of a source that grows calls this before they are waited for, if the source
 * knows that they must be; the source is not to be touched within the call.  To be set while one
 * thread has the source. */
void tv_source_before_waiting(struct tv_source *source, void (*call)(void *context), void *context);

/* Whether a source ended that grew and was unpacked from what ends early or is damaged: what came
 * before is in it.  False until the end was seen. */
bool tv_source_is_cut(struct tv_source *source);

/* Reads up to `size` bytes from `offset`; *got is less only at the end. */
enum tv_status tv_source_read(struct tv_source *source, uint64_t offset, void *buffer, size_t size,
                              size_t *got, struct tv_error *err) TV_MUST_CHECK;

/* The same, but of a source that grows what is there: *got is 0 only at the end. */
enum tv_status tv_source_read_some(struct tv_source *source, uint64_t offset, void *buffer,
                                   size_t size, size_t *got, struct tv_error *err) TV_MUST_CHECK;

/* Puts the bytes around the error's offset beside its message, where it has one and they can be
 * read: lines of sixteen, one of them before that place. */
void tv_source_quote(struct tv_source *source, struct tv_error *err);

/* A buffer that slides over a source. One thread uses it. */
struct tv_window {
    struct tv_source *source;
    uint8_t *buffer;
    size_t capacity;
    uint64_t offset; /* of the buffer's first byte */
    size_t length;
};

#define TV_WINDOW_SIZE ((size_t)256 * 1024)

void tv_window_init(struct tv_window *window, struct tv_source *source);
void tv_window_release(struct tv_window *window);

/* What tv_window_at does when the bytes are not in the buffer. */
enum tv_status tv_window_move(struct tv_window *window, uint64_t offset, size_t want,
                              struct tv_bytes *bytes, struct tv_error *err) TV_MUST_CHECK;

/* The bytes from `offset`: at least `want` (0 counts as 1) of them unless the source ends before
 * (then what is left, maybe nothing), usually up to a whole window.  Valid until the next call.
 * `want` may be as large as the caller's own ceiling allows: the buffer grows to it. */
TV_MUST_CHECK static inline enum tv_status tv_window_at(struct tv_window *window, uint64_t offset,
                                                        size_t want, struct tv_bytes *bytes,
                                                        struct tv_error *err)
{
    uint64_t skip = offset - window->offset; /* huge when offset is the smaller */
    if (TV_UNLIKELY(skip >= window->length || window->length - skip < want))
        return tv_window_move(window, offset, want, bytes, err);
    *bytes = (struct tv_bytes){window->buffer + (size_t)skip, window->length - (size_t)skip};
    return TV_OK;
}

#endif
