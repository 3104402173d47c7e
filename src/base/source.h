/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.h - random access to the bytes of an input (decision P1).
 *
 * A source answers reads at any 64-bit offset, from any number of threads at once.  Readers look at
 * it through windows and never hold a pointer to the whole file, so an input may be larger than
 * memory.  Input that comes only once, as from a pipe, becomes a growing source: a read waits for
 * the bytes it asks for, and asking for the size waits for the end.
 *
 *     file, pipe, unpacker  -->  source  --+--  window of worker 0
 *                                          +--  window of worker 1 ...
 */
#ifndef TV_BASE_SOURCE_H
#define TV_BASE_SOURCE_H

#include "base/error.h"
#include "base/types.h"

struct tv_source;

/* Number of readable zero bytes after the end of every window. */
#define TV_WINDOW_SLACK 64

/* Create a source over bytes that the caller keeps alive. */
struct tv_source *tv_source_from_memory(struct tv_bytes bytes, const char *name);

/* Create one source of several, one after the other (a split trace: key + data).  The new source
 * takes over the parts, but not the array. */
struct tv_source *tv_source_join(struct tv_source **parts, size_t count, const char *name);

/* Create a source over the range [start, end) of another, which must contain it.  Free both, in any
 * order: the underlying source stays open until the last of them is gone. */
struct tv_source *tv_source_range(struct tv_source *whole, uint64_t start, uint64_t end,
                                  const char *name);

/* Functions that a platform or an unpacker supplies. */
struct tv_source_reads {
    /* Fill `buffer` with exactly `size` bytes from `offset`; the range is within the size given
     * to tv_source_from_reads.  Several threads call this at once. */
    enum tv_status (*read)(void *context, uint64_t offset, void *buffer, size_t size,
                           struct tv_error *err);
    void (*close)(void *context); /* or NULL */
};
struct tv_source *tv_source_from_reads(const struct tv_source_reads *reads, void *context,
                                       uint64_t size, const char *name);

/* Functions of a growing source.  Until the end is reached no two of these calls overlap; after it
 * any number of threads call `read`. */
struct tv_source_growth {
    struct tv_source_reads reads;
    /* Read until at least `wanted` bytes (counted from the start) are available, or all.  *size
     * becomes the available number; *ended tells that there will be no more, which is also so after
     * an error. */
    enum tv_status (*grow)(void *context, uint64_t wanted, uint64_t *size, bool *ended,
                           struct tv_error *err);
    /* Return whether the input was truncated; called after the end.  NULL: unknown. */
    bool (*is_cut)(void *context);
    /* Return whether `grow` by one more byte would block; called between two `grow` calls.  NULL:
     * unknown. */
    bool (*would_wait)(void *context);
};
struct tv_source *tv_source_from_growth(const struct tv_source_growth *growth, void *context,
                                        const char *name);

/* Add a reference; each holder calls tv_source_free, and the last one closes the source. */
struct tv_source *tv_source_ref(struct tv_source *source);

void tv_source_free(struct tv_source *source);

const char *tv_source_name(const struct tv_source *source); /* as the user knows it, for messages */

/* Return the size; for a growing source wait for its end.  If it ended with an error (of the pipe,
 * a full disk), the size counts the bytes before it, and all later reads fail. */
uint64_t tv_source_size(struct tv_source *source);

/* Return whether the source has at least `size` bytes, waiting for these only. */
bool tv_source_reaches(struct tv_source *source, uint64_t size);

/* Return whether the size is known, without waiting; if not, *size is UINT64_MAX. */
bool tv_source_has_size(struct tv_source *source, uint64_t *size);

/* Return the error that ended a growing source, or else the first TV_ERR_IO of any read.  Readers
 * call this when they are done: they may have taken truncated input for the whole, or skipped bytes
 * that could not be read. */
enum tv_status tv_source_check(struct tv_source *source, struct tv_error *err) TV_MUST_CHECK;

/* Register a function that runs before a read blocks, if the source can tell that it will.  The
 * function must not touch the source.  Call this while only one thread uses the source. */
void tv_source_before_waiting(struct tv_source *source, void (*call)(void *context), void *context);

/* Return whether a growing source was unpacked from a truncated or damaged archive; it holds the
 * bytes before the damage.  False until the end is reached. */
bool tv_source_is_truncated(struct tv_source *source);

/* Read up to `size` bytes from `offset`; *got is less only at the end. */
enum tv_status tv_source_read(struct tv_source *source, uint64_t offset, void *buffer, size_t size,
                              size_t *got, struct tv_error *err) TV_MUST_CHECK;

/* As above, but return as soon as any bytes are available: *got is 0 only at the end. */
enum tv_status tv_source_read_some(struct tv_source *source, uint64_t offset, void *buffer,
                                   size_t size, size_t *got, struct tv_error *err) TV_MUST_CHECK;

/* Copy the bytes around the error's offset into the error, if it has one and they can be read:
 * three lines of sixteen bytes, the offset in the second. */
void tv_source_quote(struct tv_source *source, struct tv_error *err);

/* A buffer that slides over a source.  Only one thread may use it. */
struct tv_window {
    struct tv_source *source;
    uint8_t *buffer;
    size_t capacity;
    uint64_t offset; /* position of the buffer's first byte */
    size_t length;
};

#define TV_WINDOW_SIZE ((size_t)256 * 1024)

void tv_window_init(struct tv_window *window, struct tv_source *source);
void tv_window_release(struct tv_window *window);

/* Slow path of tv_window_at: the bytes are not in the buffer. */
enum tv_status tv_window_move(struct tv_window *window, uint64_t offset, size_t want,
                              struct tv_bytes *bytes, struct tv_error *err) TV_MUST_CHECK;

/* Return the bytes from `offset` on: at least `want` (0 counts as 1), or what is left (perhaps
 * nothing) at the end of the source; usually up to a whole window.  They are valid until the next
 * call.  The buffer grows to `want`, so the caller must limit it. */
TV_MUST_CHECK static inline enum tv_status tv_window_at(struct tv_window *window, uint64_t offset,
                                                        size_t want, struct tv_bytes *bytes,
                                                        struct tv_error *err)
{
    uint64_t skip = offset - window->offset; /* wraps to a huge number when offset is smaller */
    if (TV_UNLIKELY(skip >= window->length || window->length - skip < want))
        return tv_window_move(window, offset, want, bytes, err);
    *bytes = (struct tv_bytes){window->buffer + (size_t)skip, window->length - (size_t)skip};
    return TV_OK;
}

#endif
