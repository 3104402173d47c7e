/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.c - sources over memory and over other sources, and the window that slides over any.
 */
#include "base/source.h"

#include <stdatomic.h>
#include <string.h>

#include "base/bytes.h"
#include "base/lock.h"
#include "base/memory.h"

/* What a source that grows has besides. */
struct growth {
    struct tv_lock lock; /* of all here, and of the context, until the end */
    enum tv_status (*grow)(void *context, uint64_t wanted, uint64_t *size, bool *ended,
                           struct tv_error *err);
    bool (*is_cut)(void *context);         /* or NULL */
    bool (*would_wait)(void *context);     /* or NULL */
    void (*before_waiting)(void *context); /* or NULL */
    void *waiter;                          /* its context */
    uint64_t size;                         /* so far */
    atomic_bool ended;                     /* `size` and `failure` stay as they are */
    struct tv_error failure;
};

struct tv_source {
    struct tv_source_reads reads;
    void *context;
    uint64_t size;         /* 0 while it grows: see there */
    struct growth *growth; /* or NULL */
    char *name;
    atomic_uint holders;     /* the one who made it, and parts of it */
    atomic_uint failure_set; /* how far `failure` is: enum failure_state */
    struct tv_error failure; /* of the first read that failed */
};

enum failure_state { NO_FAILURE, FAILURE_BEGUN, FAILURE_WHOLE };

static char *copy_name(const char *name)
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
    source->name = copy_name(name);
    atomic_init(&source->holders, 1);
    atomic_init(&source->failure_set, NO_FAILURE);
    return source;
}

struct tv_source *tv_source_hold(struct tv_source *source)
{
    atomic_fetch_add(&source->holders, 1);
    return source;
}

void tv_source_free(struct tv_source *source)
{
    if (source == NULL || atomic_fetch_sub(&source->holders, 1) > 1)
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

/* ---- What grows ---- */

struct tv_source *tv_source_from_growth(const struct tv_source_growth *growth, void *context,
                                        const char *name)
{
    struct tv_source *source = tv_source_from_reads(&growth->reads, context, 0, name);
    source->growth = tv_alloc(1, sizeof *source->growth);
    source->growth->grow = growth->grow;
    source->growth->is_cut = growth->is_cut;
    source->growth->would_wait = growth->would_wait;
    tv_lock_init(&source->growth->lock);
    atomic_init(&source->growth->ended, false);
    return source;
}

static bool has_ended(const struct growth *growth)
{
    return atomic_load_explicit(&growth->ended, memory_order_acquire);
}

/* Within the lock. */
static void grow_to(struct tv_source *source, uint64_t wanted)
{
    struct growth *growth = source->growth;
    bool ended = has_ended(growth);
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
    struct growth *growth = source->growth;
    if (!growth || !growth->would_wait)
        return;
    growth->before_waiting = call;
    growth->waiter = context;
}

/* The bytes that are there when `wanted` of them are, or all. */
static uint64_t size_for(struct tv_source *source, uint64_t wanted)
{
    struct growth *growth = source->growth;
    if (!growth)
        return source->size;
    if (has_ended(growth))
        return growth->size;
    tv_lock_enter(&growth->lock);
    grow_to(source, wanted);
    uint64_t size = growth->size;
    tv_lock_leave(&growth->lock);
    return size;
}

uint64_t tv_source_size(struct tv_source *source)
{
    return size_for(source, UINT64_MAX);
}

bool tv_source_reaches(struct tv_source *source, uint64_t size)
{
    return size_for(source, size) >= size;
}

bool tv_source_has_size(struct tv_source *source, uint64_t *size)
{
    bool known = !source->growth || has_ended(source->growth);
    *size = known ? tv_source_size(source) : UINT64_MAX;
    return known;
}

/* Fail when an earlier read of a growing source has failed. */
static enum tv_status check_growth(struct tv_source *source, struct tv_error *err)
{
    struct growth *growth = source->growth;
    if (!growth || !has_ended(growth) || growth->failure.status == TV_OK)
        return TV_OK;
    if (err)
        *err = growth->failure;
    return growth->failure.status;
}

enum tv_status tv_source_check(struct tv_source *source, struct tv_error *err)
{
    enum tv_status status = check_growth(source, err);
    if (status != TV_OK || atomic_load(&source->failure_set) != FAILURE_WHOLE)
        return status;
    if (err)
        *err = source->failure;
    return source->failure.status;
}

bool tv_source_is_cut(struct tv_source *source)
{
    struct growth *growth = source->growth;
    return growth && growth->is_cut && has_ended(growth) && growth->failure.status == TV_OK &&
           growth->is_cut(source->context);
}

/* ---- Reading ---- */

/* Where bytes are wanted: fewer than `least` only at the end. */
struct room {
    void *bytes;
    size_t least, most;
};

/* Keep the error of the first read that failed, of whichever thread. */
static void note_failure(struct tv_source *source, const struct tv_error *failure)
{
    unsigned expected = NO_FAILURE;
    if (failure->status != TV_ERR_IO ||
        !atomic_compare_exchange_strong(&source->failure_set, &expected, FAILURE_BEGUN))
        return;
    source->failure = *failure;
    atomic_store(&source->failure_set, FAILURE_WHOLE);
}

/* Of a source that has `there` bytes. */
static enum tv_status read_of(struct tv_source *source, uint64_t there, uint64_t offset,
                              const struct room *room, size_t *got, struct tv_error *err)
{
    uint64_t left = offset < there ? there - offset : 0;
    size_t size = room->most < left ? room->most : (size_t)left;
    struct tv_error failure = {.offset = TV_NO_OFFSET};
    if (size > 0 &&
        source->reads.read(source->context, offset, room->bytes, size, &failure) != TV_OK) {
        note_failure(source, &failure);
        if (err)
            *err = failure;
        return failure.status;
    }
    *got = size;
    return TV_OK;
}

static enum tv_status read_growing(struct tv_source *source, uint64_t offset,
                                   const struct room *room, size_t *got, struct tv_error *err)
{
    struct growth *growth = source->growth;
    uint64_t most = UINT64_MAX - offset;
    tv_lock_enter(&growth->lock);
    grow_to(source, offset + (room->least < most ? room->least : most));
    enum tv_status status = check_growth(source, err);
    if (status == TV_OK)
        status = read_of(source, growth->size, offset, room, got, err);
    tv_lock_leave(&growth->lock);
    return status;
}

static enum tv_status read_some(struct tv_source *source, uint64_t offset, const struct room *room,
                                size_t *got, struct tv_error *err)
{
    struct growth *growth = source->growth;
    if (growth && !has_ended(growth))
        return read_growing(source, offset, room, got, err);
    enum tv_status status = check_growth(source, err);
    uint64_t there = growth ? growth->size : source->size;
    return status == TV_OK ? read_of(source, there, offset, room, got, err) : status;
}

enum tv_status tv_source_read(struct tv_source *source, uint64_t offset, void *buffer, size_t size,
                              size_t *got, struct tv_error *err)
{
    return read_some(source, offset, &(struct room){buffer, size, size}, got, err);
}

enum tv_status tv_source_read_some(struct tv_source *source, uint64_t offset, void *buffer,
                                   size_t size, size_t *got, struct tv_error *err)
{
    return read_some(source, offset, &(struct room){buffer, 1, size}, got, err);
}

/* A source over memory. */

static enum tv_status read_memory(void *context, uint64_t offset, void *buffer, size_t size,
                                  struct tv_error *err)
{
    (void)err;
    memcpy(buffer, (const uint8_t *)context + offset, size);
    return TV_OK;
}

struct tv_source *tv_source_from_memory(struct tv_bytes bytes, const char *name)
{
    static const struct tv_source_reads reads = {.read = read_memory};
    void *context;
    /* The context is not const, as other sources own theirs; nothing is written through it. */
    memcpy(&context, &bytes.data, sizeof context);
    return tv_source_from_reads(&reads, context, bytes.length, name);
}

/* Sources one behind the other. */

struct join {
    struct tv_source **parts;
    size_t count;
};

static enum tv_status read_join(void *context, uint64_t offset, void *buffer, size_t size,
                                struct tv_error *err)
{
    const struct join *join = context;
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

static void close_join(void *context)
{
    struct join *join = context;
    for (size_t i = 0; i < join->count; i++)
        tv_source_free(join->parts[i]);
    tv_free(join->parts);
    tv_free(join);
}

struct tv_source *tv_source_join(struct tv_source **parts, size_t count, const char *name)
{
    static const struct tv_source_reads reads = {.read = read_join, .close = close_join};
    struct join *join = tv_alloc(1, sizeof *join);
    join->parts = tv_alloc(count, sizeof(struct tv_source *));
    join->count = count;
    uint64_t size = 0;
    for (size_t i = 0; i < count; i++) {
        join->parts[i] = parts[i];
        /* What lies behind the largest offset cannot be asked for. */
        uint64_t room = UINT64_MAX - size, part_size = tv_source_size(parts[i]);
        size += part_size < room ? part_size : room;
    }
    return tv_source_from_reads(&reads, join, size, name);
}

/* A part of another. */

struct part {
    struct tv_source *whole;
    uint64_t start;
};

static enum tv_status read_part(void *context, uint64_t offset, void *buffer, size_t size,
                                struct tv_error *err)
{
    const struct part *part = context;
    size_t got;
    return tv_source_read(part->whole, part->start + offset, buffer, size, &got, err);
}

static void close_part(void *context)
{
    struct part *part = context;
    tv_source_free(part->whole);
    tv_free(part);
}

struct tv_source *tv_source_part(struct tv_source *whole, uint64_t start, uint64_t end,
                                 const char *name)
{
    static const struct tv_source_reads reads = {.read = read_part, .close = close_part};
    struct part *part = tv_alloc(1, sizeof *part);
    *part = (struct part){tv_source_hold(whole), start};
    return tv_source_from_reads(&reads, part, end - start, name);
}

/* The window. */

void tv_window_init(struct tv_window *window, struct tv_source *source)
{
    *window = (struct tv_window){.source = source};
}

void tv_window_release(struct tv_window *window)
{
    tv_free(window->buffer);
    *window = (struct tv_window){0};
}

/* Makes the buffer hold `want` bytes.  At first it is no larger than the source: many are small. */
static void make_room(struct tv_window *window, size_t want)
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

/* How many of the buffer's bytes lie at `offset` and behind. */
static size_t held_from(const struct tv_window *window, uint64_t offset)
{
    uint64_t skip = offset - window->offset;
    bool inside = offset >= window->offset && skip < window->length;
    return inside ? window->length - (size_t)skip : 0;
}

/* Moves what is held from `offset` on to the front and reads on behind it. */
static enum tv_status fill(struct tv_window *window, uint64_t offset, size_t want,
                           struct tv_error *err)
{
    size_t held = held_from(window, offset);
    if (held > 0)
        memmove(window->buffer, window->buffer + window->length - held, held);
    window->offset = offset;
    window->length = held;
    make_room(window, want);

    size_t got = 0;
    struct room room = {window->buffer + held, want > held ? want - held : 1,
                        window->capacity - held};
    enum tv_status status = read_some(window->source, offset + held, &room, &got, err);
    window->length += got;
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

    size_t held = held_from(window, offset);
    if (held < want || held == 0) {
        enum tv_status status = fill(window, offset, want, err);
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
