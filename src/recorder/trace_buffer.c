/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_buffer.c - see trace_buffer.h.
 *
 * A buffer that grows reserves address space for its largest size at once, so that no record ever
 * moves and no pointer of a hook becomes invalid.  Its first part is plain memory; after it,
 * mappings of unnamed files replace the reserved pages piece by piece.
 *
 *     |<-- first_backed, memory -->|<-- 64 MB file -->|<-- 64 MB file -->|   reserved   |
 *                                                                 backed ^     head->records ^
 */
#define _GNU_SOURCE
#include "recorder/trace_buffer.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "recorder/output_file.h"

#define CLOCK_SAMPLE_NS UINT64_C(100000000)

/* Prefault in pieces of this size, and so many bytes ahead: some milliseconds of one thread's
 * events. */
#define PREFAULT_PIECE ((size_t)2 << 20)
#define PREFAULT_AHEAD (2 * PREFAULT_PIECE)

/* Grow by GROWTH bytes when GROWTH_AHEAD or a quarter of the buffer is left. */
#define GROWTH ((size_t)64 << 20)
#define GROWTH_AHEAD ((size_t)32 << 20)
#define GROWTH_WAITS 40000
#define GROWTH_WAIT_NS 50000L
#define BUFFER_PAGE ((size_t)4096)

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

_Static_assert(sizeof(struct tv_buffer_header) <= TV_BUFFER_HEADER_SIZE, "the head has its pages");

/* Chunks have at least TV_BUFFER_CHUNK_MIN records, but for the last one and those that ended
 * threads give back. */
static uint32_t buffer_chunks_for(uint32_t records)
{
    return records / TV_BUFFER_CHUNK_MIN + TV_BUFFER_THREADS_MAX;
}

static size_t buffer_lay_out(struct tv_trace_buffer *buffer, uint8_t *base, uint32_t records,
                             uint32_t words)
{
    size_t threads = TV_BUFFER_HEADER_SIZE;
    size_t chunks = threads + (size_t)TV_BUFFER_THREADS_MAX * sizeof *buffer->threads;
    size_t first = chunks + (size_t)buffer_chunks_for(records) * sizeof *buffer->chunks;
    first = (first + 4095) & ~(size_t)4095;
    if (base) {
        buffer->head = (void *)base;
        buffer->threads = (void *)(base + threads);
        buffer->chunks = (void *)(base + chunks);
        buffer->records = (void *)(base + first);
    }
    return first + (size_t)records * words * sizeof(uint64_t);
}

int tv_trace_buffer_init(struct tv_trace_buffer *buffer, uint32_t records, uint32_t words, int file)
{
    assert(words == 2 || words == 3);
    buffer->size = buffer_lay_out(buffer, NULL, records, words);
    struct tv_file_limit_guard limit;
    tv_file_limit_begin(&limit);
    /* Allocate the blocks now: a full disk must be an error here, not a SIGBUS in the host. */
    int failed = file < 0 ? 0 : posix_fallocate(file, 0, (off_t)buffer->size);
    tv_file_limit_end(&limit);
    if (failed != 0)
        return -failed;
    int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
    void *base = mmap(NULL, buffer->size, PROT_READ | PROT_WRITE, flags, file, 0);
    if (base == MAP_FAILED)
        return -errno;
    madvise(base, buffer->size, MADV_DONTFORK);
    buffer_lay_out(buffer, base, records, words);
    buffer->head->words = words;
    buffer->head->records = records;
    buffer->head->chunks = buffer_chunks_for(records);
    atomic_store(&buffer->backed, records);
    buffer->first_backed = records;
    return 0;
}

int tv_trace_buffer_copy(struct tv_trace_buffer *to, const struct tv_trace_buffer *from)
{
    struct tv_buffer_header *head = from->head;
    uint32_t chunks = atomic_load(&head->next_chunk), records = atomic_load(&head->next_record);
    int failed = tv_trace_buffer_init(to, head->records, head->words, -1);
    if (failed != 0)
        return failed;
    memcpy(to->head, head, sizeof *head);
    memcpy(to->threads, from->threads, atomic_load(&head->threads) * sizeof *to->threads);
    memcpy(to->chunks, from->chunks,
           (chunks < head->chunks ? chunks : head->chunks) * sizeof *to->chunks);
    memcpy(to->records, from->records, (size_t)records * head->words * sizeof(uint64_t));
    return 0;
}

/* ---- Growing ---- */

static size_t buffer_record_size(const struct tv_trace_buffer *buffer)
{
    return buffer->head->words * sizeof(uint64_t);
}

void tv_trace_buffer_set_growth(struct tv_trace_buffer *buffer, uint32_t records,
                                const char *folder)
{
    assert(folder);
    size_t bytes = ((size_t)records * buffer_record_size(buffer) + BUFFER_PAGE - 1) / BUFFER_PAGE *
                   BUFFER_PAGE;
    uint32_t backed = (uint32_t)(bytes / buffer_record_size(buffer));
    if (backed >= buffer->head->records)
        return;
    buffer->first_backed = backed;
    buffer->folder = folder;
    atomic_store(&buffer->backed, backed);
}

bool tv_trace_buffer_has_grown(const struct tv_trace_buffer *buffer)
{
    return buffer->folder && atomic_load_explicit(&buffer->head->next_record,
                                                  memory_order_relaxed) > buffer->first_backed;
}

/* Open a file that vanishes with its last mapping; -1: impossible. */
static int buffer_open_growth_file(const char *folder)
{
    char path[TV_BUFFER_PATH + 64];
    int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0)
        return file;
    snprintf(path, sizeof path, "%s/.traceview-%d.tmp", folder, (int)getpid());
    file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file >= 0)
        unlink(path);
    return file;
}

/* Replace the reserved memory from `first` on, which nobody has touched, by a new file.  Its
 * blocks are allocated now: a full disk must be an error here, not a SIGBUS in the host. */
static bool buffer_map_growth_file(uint8_t *first, size_t size, const char *folder)
{
    struct tv_file_limit_guard limit;
    int file = buffer_open_growth_file(folder);
    if (file < 0)
        return false;
    tv_file_limit_begin(&limit);
    bool done = posix_fallocate(file, 0, (off_t)size) == 0;
    tv_file_limit_end(&limit);
    done = done &&
           mmap(first, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED;
    close(file);
    if (done)
        madvise(first, size, MADV_DONTFORK);
    return done;
}

/* Map the next part of a growing buffer over a file.  False: it has its largest size, or there is
 * no room. */
static bool buffer_map_next_piece(struct tv_trace_buffer *buffer)
{
    size_t size = buffer_record_size(buffer), all = (size_t)buffer->head->records * size;
    size_t from = (size_t)atomic_load(&buffer->backed) * size;
    from = (from + BUFFER_PAGE - 1) / BUFFER_PAGE * BUFFER_PAGE; /* the end of the last piece */
    from = from > all ? all : from;
    size_t more = all - from < GROWTH ? all - from : GROWTH;
    if (more == 0 ||
        !buffer_map_growth_file((uint8_t *)buffer->records + from, more, buffer->folder))
        return false;
    atomic_store(&buffer->backed,
                 from + more == all ? buffer->head->records : (uint32_t)((from + more) / size));
    return true;
}

/* Have memory for so many records; false: there is none.  The signals of the calling thread
 * are blocked, so the thread that is growing the buffer is never the one that waits. */
static bool buffer_grow_to(struct tv_trace_buffer *buffer, uint32_t records)
{
    const struct timespec wait = {0, GROWTH_WAIT_NS};
    for (int i = 0; i < GROWTH_WAITS && atomic_load(&buffer->backed) < records; i++) {
        if (atomic_exchange(&buffer->growing, true)) {
            nanosleep(&wait, NULL);
            continue;
        }
        bool failed = atomic_load(&buffer->backed) < records && !buffer_map_next_piece(buffer);
        atomic_store(&buffer->growing, false);
        if (failed)
            return false;
    }
    return atomic_load(&buffer->backed) >= records;
}

/* Grow before threads have to wait for it. */
static void buffer_grow_ahead(struct tv_trace_buffer *buffer)
{
    uint32_t backed = atomic_load(&buffer->backed), used = atomic_load(&buffer->head->next_record);
    size_t ahead = GROWTH_AHEAD / buffer_record_size(buffer);
    ahead = ahead < backed / 4 ? ahead : backed / 4;
    if (buffer->folder && backed < buffer->head->records && used + ahead > backed)
        (void)buffer_grow_to(buffer, backed + 1);
}

/* Check that every number in a spool leads into the buffer. */
static bool spool_is_sound(const struct tv_trace_buffer *buffer)
{
    const struct tv_buffer_header *head = buffer->head;
    uint32_t chunks = atomic_load(&head->next_chunk);
    if (chunks > head->chunks || atomic_load(&head->threads) > TV_BUFFER_THREADS_MAX ||
        head->path[TV_BUFFER_PATH - 1] != '\0' || head->vm[sizeof head->vm - 1] != '\0' ||
        head->trigger[sizeof head->trigger - 1] != '\0' ||
        head->slow_call[sizeof head->slow_call - 1] != '\0' ||
        head->labels[sizeof head->labels - 1] != '\0')
        return false;
    for (uint32_t i = 0; i < chunks; i++) {
        const struct tv_buffer_chunk *chunk = &buffer->chunks[i];
        if (chunk->next > chunks || chunk->first > head->records ||
            chunk->count > head->records - chunk->first)
            return false;
    }
    for (uint32_t i = 0; i < TV_BUFFER_THREADS_MAX; i++)
        if (buffer->threads[i].first_chunk > chunks)
            return false;
    return true;
}

int tv_trace_buffer_open(struct tv_trace_buffer *buffer, int file)
{
    struct stat status;
    struct tv_buffer_header head;
    if (fstat(file, &status) != 0)
        return -errno;
    if (pread(file, &head, sizeof head, 0) != (ssize_t)sizeof head ||
        head.magic != TV_SPOOL_MAGIC || head.words < 2 || head.words > 3 ||
        head.chunks != buffer_chunks_for(head.records) || head.clock > 2 ||
        head.words != (head.clock == 2 ? 3u : 2u))
        return -EINVAL;
    buffer->size = buffer_lay_out(buffer, NULL, head.records, head.words);
    if ((uint64_t)status.st_size != buffer->size)
        return -EINVAL;
    void *base = mmap(NULL, buffer->size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    if (base == MAP_FAILED)
        return -errno;
    buffer_lay_out(buffer, base, head.records, head.words);
    if (spool_is_sound(buffer))
        return 0;
    tv_trace_buffer_release(buffer);
    return -EINVAL;
}

void tv_trace_buffer_release(struct tv_trace_buffer *buffer)
{
    if (buffer->head)
        munmap(buffer->head, buffer->size);
    *buffer = (struct tv_trace_buffer){0};
}

uint32_t tv_trace_buffer_claim_chunk(struct tv_trace_buffer *buffer, uint32_t thread,
                                     uint32_t wanted)
{
    struct tv_buffer_header *head = buffer->head;
    uint32_t first = atomic_load_explicit(&head->next_record, memory_order_relaxed), count;
    do {
        count = head->records - first < wanted ? head->records - first : wanted;
        if (count > 0 && first + count > atomic_load(&buffer->backed) &&
            !buffer_grow_to(buffer, first + count)) {
            uint32_t backed = atomic_load(&buffer->backed);
            count = backed > first ? backed - first : 0;
        }
        if (count == 0)
            return 0;
    } while (!atomic_compare_exchange_weak(&head->next_record, &first, first + count));
    uint32_t number = atomic_fetch_add(&head->next_chunk, 1);
    if (number >= head->chunks) {
        atomic_store(&head->next_chunk, head->chunks);
        return 0;
    }
    buffer->chunks[number] = (struct tv_buffer_chunk){first, count, 0, thread};
    return number + 1;
}

static uint32_t buffer_add_saturated(uint32_t records, size_t more, uint32_t most)
{
    return more < most - records ? records + (uint32_t)more : most;
}

bool tv_trace_buffer_needs_prefault(struct tv_trace_buffer *buffer)
{
    size_t size = buffer->head->words * sizeof(uint64_t);
    uint32_t wanted = atomic_load_explicit(&buffer->wanted, memory_order_relaxed);
    uint32_t used = atomic_load_explicit(&buffer->head->next_record, memory_order_relaxed);
    uint32_t most = atomic_load_explicit(&buffer->backed, memory_order_relaxed);
    if (wanted == most || buffer_add_saturated(used, PREFAULT_AHEAD / size, most) <= wanted)
        return false;
    return atomic_compare_exchange_strong(
        &buffer->wanted, &wanted,
        buffer_add_saturated(used > wanted ? used : wanted, PREFAULT_PIECE / size, most));
}

void tv_trace_buffer_prefault(struct tv_trace_buffer *buffer)
{
    uint32_t ready = atomic_load(&buffer->ready), wanted;
    buffer_grow_ahead(buffer);
    while ((wanted = atomic_load(&buffer->wanted)) > ready ||
           tv_trace_buffer_needs_prefault(buffer)) {
        uint32_t used = atomic_load(&buffer->head->next_record);
        uint32_t from = used > ready ? used : ready;
        uintptr_t first = (uintptr_t)tv_trace_buffer_record(buffer, from) & ~(uintptr_t)4095;
        uintptr_t end = (uintptr_t)tv_trace_buffer_record(buffer, wanted);
        if (from < wanted && madvise((void *)first, end - first, MADV_POPULATE_WRITE) != 0)
            return;
        atomic_store(&buffer->ready, ready = wanted);
    }
}

void tv_trace_buffer_append_chunk(struct tv_trace_buffer *buffer, uint32_t thread, uint32_t chunk)
{
    assert(thread > 0 && chunk > 0 && chunk <= buffer->head->chunks);
    struct tv_buffer_thread *of = &buffer->threads[thread - 1];
    buffer->chunks[chunk - 1].next = 0;
    if (of->last_chunk != 0)
        buffer->chunks[of->last_chunk - 1].next = chunk;
    else
        of->first_chunk = chunk;
    of->last_chunk = chunk;
}

uint32_t tv_trace_buffer_recycle_chunk(struct tv_trace_buffer *buffer, uint32_t thread)
{
    assert(thread > 0 && thread <= TV_BUFFER_THREADS_MAX);
    struct tv_buffer_thread *of = &buffer->threads[thread - 1];
    uint32_t number = of->first_chunk;
    if (number == 0)
        return 0;
    struct tv_buffer_chunk *chunk = &buffer->chunks[number - 1];
    of->first_chunk = chunk->next;
    if (of->first_chunk == 0)
        of->last_chunk = 0;
    chunk->next = 0;
    memset(tv_trace_buffer_record(buffer, chunk->first), 0,
           (size_t)chunk->count * buffer->head->words * sizeof(uint64_t));
    return number;
}

void tv_trace_buffer_commit_stream(struct tv_trace_buffer *buffer,
                                   struct tv_stream_progress streamed)
{
    struct tv_buffer_header *head = buffer->head;
    uint32_t next = atomic_load(&head->streamed_at) + 1;
    head->streamed[next & 1] = streamed;
    atomic_store(&head->streamed_at, next);
}

void tv_trace_buffer_sample_clocks(struct tv_trace_buffer *buffer)
{
    struct tv_buffer_header *head = buffer->head;
    uint32_t at = atomic_load_explicit(&head->late_at, memory_order_relaxed);
    uint64_t now = tv_clock_ns(CLOCK_MONOTONIC);
    /* Odd: another thread is writing.  A latecomer may compare with the pair that is being
     * written. */
    if (at & 1 ||
        now < __atomic_load_n(&head->late[at >> 1 & 1].ns, __ATOMIC_RELAXED) + CLOCK_SAMPLE_NS)
        return;
    if (!atomic_compare_exchange_strong(&head->late_at, &at, at | 1))
        return;
    struct tv_clock_pair pair = tv_clock_read_pair(head->counter);
    struct tv_clock_pair *late = &head->late[(at >> 1 & 1) ^ 1];
    __atomic_store_n(&late->ticks, pair.ticks, __ATOMIC_RELAXED);
    __atomic_store_n(&late->ns, pair.ns, __ATOMIC_RELAXED);
    atomic_store_explicit(&head->late_at, at + 2, memory_order_release);
}
