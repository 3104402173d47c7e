/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.c - sources over memory and over other sources, growing sources, and the window.
 *
 * A growing source (a pipe, a compressed file) has a lock while it grows: `grow` and `read` of its
 * context run under it.  Once `ended` is set (release/acquire) size and failure never change again,
 * and reads go on without the lock.
 *
 * A window is a buffer with some bytes of the source around the place that its reader looks at:
 *
 *     source   ....................................................
 *     buffer              [ offset ........ offset+length ][slack]
 *     move to              a ^ : the rest goes to the front, and more is read after it
 *
 * A move may ask for any number of bytes: a record that crosses the end of the buffer comes into
 * one piece, and a record larger than the buffer makes it grow.  The slack of zeros lets scanners
 * look at whole words without a check of the end.
 *
 * Errors of reading are kept in the source itself: a thread that only describes or draws has no
 * way to report one, and asks tv_source_check afterwards.
 */
#include "base/source.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/workers.h"

/* Additional state of a growing source. */
struct source_growth_state {
    struct tv_lock lock; /* guards this struct and the context until the end */
    enum tv_status (*grow)(void *context, uint64_t wanted, uint64_t *size, bool *ended,
                           struct tv_error *err);
    bool (*is_cut)(void *context);         /* or NULL */
    bool (*would_wait)(void *context);     /* or NULL */
    void (*before_waiting)(void *context); /* or NULL */
    void *waiter;                          /* argument of before_waiting */
    uint64_t size;                         /* bytes so far */
    atomic_bool ended;                     /* `size` and `failure` are final */
    struct tv_error failure;
};

struct tv_source {
    struct tv_source_reads reads;
    void *context;
    uint64_t size;                      /* 0 while the source grows: see `growth` */
    struct source_growth_state *growth; /* or NULL */
    char *name;
    atomic_uint holders;     /* the creator, and the sources made of ranges of it */
    atomic_uint failure_set; /* state of `failure`: enum source_failure_state */
    struct tv_error failure; /* of the first read that failed */
};

enum source_failure_state { NO_FAILURE, FAILURE_BEGUN, FAILURE_WHOLE };

static char *source_copy_name(const char *name)
{
    size_t size = strlen(name) + 1;
    return memcpy(tv_alloc(size, 1), name, size);
}

struct tv_source *tv_source_from_reads(const struct tv_source_reads *reads, void *context,
                                       uint64_t size, const char *name)
{
    struct tv_source *source = tv_alloc(1, sizeof *source);
    source->reads = *reads;
    source->context = context;
    source->size = size;
    source->name = source_copy_name(name);
    atomic_init(&source->holders, 1);
    atomic_init(&source->failure_set, NO_FAILURE);
    return source;
}

struct tv_source *tv_source_ref(struct tv_source *source)
{
    atomic_fetch_add(&source->holders, 1);
    return source;
}

void tv_source_free(struct tv_source *source)
{
    if (source == NULL)
        return;
    unsigned holders = atomic_fetch_sub(&source->holders, 1);
    assert(holders > 0);
    if (holders > 1)
        return;
    if (source->reads.close != NULL)
        source->reads.close(source->context);
    if (source->growth)
        tv_lock_release(&source->growth->lock);
    tv_free(source->growth);
    tv_free(source->name);
    tv_free(source);
}

const char *tv_source_name(const struct tv_source *source)
{
    return source->name;
}

/* ---- Growing sources ---- */

struct tv_source *tv_source_from_growth(const struct tv_source_growth *growth, void *context,
                                        const char *name)
{
    struct tv_source *source = tv_source_from_reads(&growth->reads, context, 0, name);
    source->growth = tv_alloc(1, sizeof *source->growth);
    assert(growth->grow != NULL);
    source->growth->grow = growth->grow;
    source->growth->is_cut = growth->is_cut;
    source->growth->would_wait = growth->would_wait;
    tv_lock_init(&source->growth->lock);
    atomic_init(&source->growth->ended, false);
    return source;
}

static bool growth_has_ended(const struct source_growth_state *growth)
{
    return atomic_load_explicit(&growth->ended, memory_order_acquire);
}

/* Grow to `wanted` bytes or to the end.  The caller holds the lock. */
static void source_grow_to(struct tv_source *source, uint64_t wanted)
{
    struct source_growth_state *growth = source->growth;
    bool ended = growth_has_ended(growth);
    while (!ended && growth->size < wanted) {
        uint64_t next = growth->before_waiting ? growth->size + 1 : wanted;
        if (growth->before_waiting && growth->would_wait(source->context))
            growth->before_waiting(growth->waiter);
        if (growth->grow(source->context, next, &growth->size, &ended, &growth->failure) != TV_OK)
            ended = true;
        atomic_store_explicit(&growth->ended, ended, memory_order_release);
    }
}

void tv_source_before_waiting(struct tv_source *source, void (*call)(void *context), void *context)
{
    struct source_growth_state *growth = source->growth;
    if (!growth || !growth->would_wait)
        return;
    growth->before_waiting = call;
    growth->waiter = context;
}

/* Return the current size once it is at least `wanted` or final. */
static uint64_t source_size_at_least(struct tv_source *source, uint64_t wanted)
{
    struct source_growth_state *growth = source->growth;
    if (!growth)
        return source->size;
    if (growth_has_ended(growth))
        return growth->size;
    tv_lock_enter(&growth->lock);
    source_grow_to(source, wanted);
    uint64_t size = growth->size;
    tv_lock_leave(&growth->lock);
    return size;
}

uint64_t tv_source_size(struct tv_source *source)
{
    return source_size_at_least(source, UINT64_MAX);
}

bool tv_source_reaches(struct tv_source *source, uint64_t size)
{
    return source_size_at_least(source, size) >= size;
}

bool tv_source_has_size(struct tv_source *source, uint64_t *size)
{
    bool known = !source->growth || growth_has_ended(source->growth);
    *size = known ? tv_source_size(source) : UINT64_MAX;
    return known;
}

/* Fail when the source ended with an error. */
static enum tv_status source_check_growth(struct tv_source *source, struct tv_error *err)
{
    struct source_growth_state *growth = source->growth;
    if (!growth || !growth_has_ended(growth) || growth->failure.status == TV_OK)
        return TV_OK;
    if (err)
        *err = growth->failure;
    return growth->failure.status;
}

enum tv_status tv_source_check(struct tv_source *source, struct tv_error *err)
{
    enum tv_status status = source_check_growth(source, err);
    if (status != TV_OK || atomic_load(&source->failure_set) != FAILURE_WHOLE)
        return status;
    if (err)
        *err = source->failure;
    return source->failure.status;
}

bool tv_source_is_truncated(struct tv_source *source)
{
    struct source_growth_state *growth = source->growth;
    return growth && growth->is_cut && growth_has_ended(growth) &&
           growth->failure.status == TV_OK && growth->is_cut(source->context);
}

/* ---- Reading ---- */

/* A request for at least `least` bytes; fewer come only at the end. */
struct read_request {
    void *bytes;
    size_t least, most;
};

/* Keep the error of the first failed read, whichever thread it was on. */
static void source_note_failure(struct tv_source *source, const struct tv_error *failure)
{
    unsigned expected = NO_FAILURE;
    if (failure->status != TV_ERR_IO ||
        !atomic_compare_exchange_strong(&source->failure_set, &expected, FAILURE_BEGUN))
        return;
    source->failure = *failure;
    atomic_store(&source->failure_set, FAILURE_WHOLE);
}

/* Read from a source that has `there` bytes. */
static enum tv_status source_read_available(struct tv_source *source, uint64_t there,
                                            uint64_t offset, const struct read_request *request,
                                            size_t *got, struct tv_error *err)
{
    uint64_t left = offset < there ? there - offset : 0;
    size_t size = request->most < left ? request->most : (size_t)left;
    struct tv_error failure = {.offset = TV_NO_OFFSET};
    if (size > 0 &&
        source->reads.read(source->context, offset, request->bytes, size, &failure) != TV_OK) {
        source_note_failure(source, &failure);
        if (err)
            *err = failure;
        return failure.status;
    }
    *got = size;
    return TV_OK;
}

/* Read from a source that still grows, after it has grown as far as the request needs. */
static enum tv_status source_read_growing(struct tv_source *source, uint64_t offset,
                                          const struct read_request *request, size_t *got,
                                          struct tv_error *err)
{
    struct source_growth_state *growth = source->growth;
    uint64_t most = UINT64_MAX - offset;
    tv_lock_enter(&growth->lock);
    source_grow_to(source, offset + (request->least < most ? request->least : most));
    enum tv_status status = source_check_growth(source, err);
    if (status == TV_OK)
        status = source_read_available(source, growth->size, offset, request, got, err);
    tv_lock_leave(&growth->lock);
    return status;
}

/* Read by the way that fits the source: with the lock only while it grows. */
static enum tv_status source_read_range(struct tv_source *source, uint64_t offset,
                                        const struct read_request *request, size_t *got,
                                        struct tv_error *err)
{
    struct source_growth_state *growth = source->growth;
    if (growth && !growth_has_ended(growth))
        return source_read_growing(source, offset, request, got, err);
    enum tv_status status = source_check_growth(source, err);
    uint64_t there = growth ? growth->size : source->size;
    return status == TV_OK ? source_read_available(source, there, offset, request, got, err)
                           : status;
}

enum tv_status tv_source_read(struct tv_source *source, uint64_t offset, void *buffer, size_t size,
                              size_t *got, struct tv_error *err)
{
    return source_read_range(source, offset, &(struct read_request){buffer, size, size}, got, err);
}

enum tv_status tv_source_read_some(struct tv_source *source, uint64_t offset, void *buffer,
                                   size_t size, size_t *got, struct tv_error *err)
{
    return source_read_range(source, offset, &(struct read_request){buffer, 1, size}, got, err);
}

/* ---- Sources over memory ---- */

static enum tv_status memory_source_read(void *context, uint64_t offset, void *buffer, size_t size,
                                         struct tv_error *err)
{
    (void)err;
    memcpy(buffer, (const uint8_t *)context + offset, size);
    return TV_OK;
}

struct tv_source *tv_source_from_memory(struct tv_bytes bytes, const char *name)
{
    static const struct tv_source_reads reads = {.read = memory_source_read};
    void *context;
    /* The context is not const because other sources own theirs; nothing writes through this one.
     */
    memcpy(&context, &bytes.data, sizeof context);
    return tv_source_from_reads(&reads, context, bytes.length, name);
}

/* ---- Sources one after the other ---- */

struct join_source {
    struct tv_source **parts;
    size_t count;
};

/* Read a range that may cross the borders of parts. */
static enum tv_status join_source_read(void *context, uint64_t offset, void *buffer, size_t size,
                                       struct tv_error *err)
{
    const struct join_source *join = context;
    uint8_t *to = buffer;
    for (size_t i = 0; i < join->count && size > 0; i++) {
        uint64_t part_size = tv_source_size(join->parts[i]);
        if (offset >= part_size) {
            offset -= part_size;
            continue;
        }
        size_t got;
        enum tv_status status = tv_source_read(join->parts[i], offset, to, size, &got, err);
        if (status != TV_OK)
            return status;
        to += got;
        size -= got;
        offset = 0;
    }
    return TV_OK;
}

static void join_source_close(void *context)
{
    struct join_source *join = context;
    for (size_t i = 0; i < join->count; i++)
        tv_source_free(join->parts[i]);
    tv_free(join->parts);
    tv_free(join);
}

struct tv_source *tv_source_join(struct tv_source **parts, size_t count, const char *name)
{
    static const struct tv_source_reads reads = {.read = join_source_read,
                                                 .close = join_source_close};
    struct join_source *join = tv_alloc(1, sizeof *join);
    join->parts = tv_alloc(count, sizeof(struct tv_source *));
    join->count = count;
    uint64_t size = 0;
    for (size_t i = 0; i < count; i++) {
        join->parts[i] = parts[i];
        /* Bytes beyond offset 2^64 - 1 are unreachable; the size saturates. */
        uint64_t room = UINT64_MAX - size, part_size = tv_source_size(parts[i]);
        size += part_size < room ? part_size : room;
    }
    return tv_source_from_reads(&reads, join, size, name);
}

/* ---- A range of another source ---- */

struct range_source {
    struct tv_source *whole;
    uint64_t start;
};

static enum tv_status range_source_read(void *context, uint64_t offset, void *buffer, size_t size,
                                        struct tv_error *err)
{
    const struct range_source *part = context;
    size_t got;
    return tv_source_read(part->whole, part->start + offset, buffer, size, &got, err);
}

static void range_source_close(void *context)
{
    struct range_source *part = context;
    tv_source_free(part->whole);
    tv_free(part);
}

struct tv_source *tv_source_range(struct tv_source *whole, uint64_t start, uint64_t end,
                                  const char *name)
{
    static const struct tv_source_reads reads = {.read = range_source_read,
                                                 .close = range_source_close};
    assert(start <= end);
    struct range_source *part = tv_alloc(1, sizeof *part);
    *part = (struct range_source){tv_source_ref(whole), start};
    return tv_source_from_reads(&reads, part, end - start, name);
}

/* ---- The window ---- */

void tv_window_init(struct tv_window *window, struct tv_source *source)
{
    *window = (struct tv_window){.source = source};
}

void tv_window_release(struct tv_window *window)
{
    tv_free(window->buffer);
    *window = (struct tv_window){0};
}

/* Grow the buffer to `want` bytes.  It starts no larger than the source: many sources are small. */
static void window_reserve(struct tv_window *window, size_t want)
{
    uint64_t most;
    size_t capacity = TV_WINDOW_SIZE;
    tv_source_has_size(window->source, &most);
    if (most < want)
        most = want;
    if (want > window->capacity && window->capacity > capacity / 2)
        capacity = tv_size_mul(window->capacity, 2);
    if (capacity > most)
        capacity = (size_t)most;
    if (capacity < want)
        capacity = want;
    if (window->buffer != NULL && capacity <= window->capacity)
        return;
    if (capacity > SIZE_MAX - TV_WINDOW_SLACK)
        tv_memory_exhausted();
    window->buffer = tv_realloc(window->buffer, capacity + TV_WINDOW_SLACK, 1);
    window->capacity = capacity;
}

/* Return how many bytes of the buffer are at or after `offset`. */
static size_t window_held_from(const struct tv_window *window, uint64_t offset)
{
    uint64_t skip = offset - window->offset;
    bool inside = offset >= window->offset && skip < window->length;
    return inside ? window->length - (size_t)skip : 0;
}

/* Move the bytes from `offset` on to the front of the buffer and read more after them. */
static enum tv_status window_fill(struct tv_window *window, uint64_t offset, size_t want,
                                  struct tv_error *err)
{
    size_t held = window_held_from(window, offset);
    if (held > 0)
        memmove(window->buffer, window->buffer + window->length - held, held);
    window->offset = offset;
    window->length = held;
    window_reserve(window, want);

    size_t got = 0;
    struct read_request request = {window->buffer + held, want > held ? want - held : 1,
                                   window->capacity - held};
    enum tv_status status = source_read_range(window->source, offset + held, &request, &got, err);
    window->length += got;
    assert(window->length <= window->capacity);
    memset(window->buffer + window->length, 0, TV_WINDOW_SLACK);
    return status;
}

enum tv_status tv_window_move(struct tv_window *window, uint64_t offset, size_t want,
                              struct tv_bytes *bytes, struct tv_error *err)
{
    uint64_t size;
    tv_source_has_size(window->source, &size);
    uint64_t left = offset < size ? size - offset : 0;
    if (want == 0)
        want = 1;
    if (want > left)
        want = (size_t)left;

    size_t held = window_held_from(window, offset);
    if (held < want || held == 0) {
        enum tv_status status = window_fill(window, offset, want, err);
        if (status != TV_OK)
            return status;
        held = window->length;
    }
    *bytes = (struct tv_bytes){window->buffer + window->length - held, held};
    return TV_OK;
}

void tv_source_quote(struct tv_source *source, struct tv_error *err)
{
    struct tv_error unread;
    size_t got;
    if (!err || err->offset == TV_NO_OFFSET || err->quoted > 0)
        return;
    uint64_t at = err->offset, line = TV_ERROR_QUOTE / 3;
    if (!tv_source_reaches(source, at + 1))
        at = tv_source_size(source) > 0 ? tv_source_size(source) - 1 : 0;
    at -= at % line;
    at -= at < line ? at : line;
    if (tv_source_read(source, at, err->quote, sizeof err->quote, &got, &unread) != TV_OK)
        return;
    err->quoted = (uint32_t)got;
    err->quoted_at = at;
}
