/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunks.c - where a thread's next records go: the three modes of a full buffer.
 *
 *     stop     claim a new chunk; when nothing is left, the recording ends
 *     ring     claim a new chunk; when the thread has its share, recycle its oldest one,
 *              or the oldest one of a thread that has ended
 *     stream   write the full chunk to the file and fill it again; exchange it for a larger one
 *              while the buffer has room
 *
 *     spool    any of these, with the buffer in a file: a stream then notes after each chunk
 *              whether its records are in the file already (tv_trace_buffer_commit_stream), so
 *              that recovery takes each record exactly once
 *
 * Chunks of a thread double in size from TV_BUFFER_CHUNK_MIN to TV_BUFFER_CHUNK_MAX records.  What
 * a closed chunk has not used becomes a spare chunk for other threads.
 *
 * A thread fetches a chunk with its signals blocked.  The spare chunks have a spin lock with a
 * limited number of tries, as its holder may be a thread that a handler has interrupted: to find no
 * spare chunk is no error.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <string.h>

#include "recorder/state.h"

#define SPARE_TRIES 10000u
#define STREAM_SHARES                                                                              \
    8u /* threads that come one after the other get 1/8 (1 + ln n) of the records in all */
#define RING_CHUNKS_MIN 32u  /* chunks of a ring, unless it is small */
#define RING_RECORDS_MIN 16u /* of a chunk, in the last eighth of a ring */

/* The holder keeps it for a few instructions, unless a handler has interrupted it. */
static bool spare_chunks_lock(uint32_t tries)
{
    for (; tries > 0; tries--)
        if (!atomic_flag_test_and_set_explicit(&tv_recorder.spares.lock, memory_order_acquire))
            return true;
    return false;
}

static void spare_chunks_unlock(void)
{
    atomic_flag_clear_explicit(&tv_recorder.spares.lock, memory_order_release);
}

static void spare_chunk_put(uint32_t first, uint32_t count, uint32_t chunk)
{
    if (count == 0 || !spare_chunks_lock(SPARE_TRIES))
        return;
    uint32_t at = atomic_load(&tv_recorder.spares.count);
    if (at < TV_SPARE_CHUNKS_MAX) {
        tv_recorder.spares.chunks[at] = (struct tv_spare_chunk){first, count, chunk};
        atomic_store(&tv_recorder.spares.count, at + 1);
    }
    spare_chunks_unlock();
}

/* Write the records of a chunk to the file and clear the chunk.  At every moment each record is
 * in the spool or in the file, and the progress in the spool tells which.  The lock is held.  0
 * or an error. */
static int chunk_stream(uint32_t number, uint32_t used)
{
    assert(number > 0 && used <= tv_recorder.buffer.chunks[number - 1].count);
    struct tv_trace_buffer *buffer = &tv_recorder.buffer;
    struct tv_trace_writer *writer = &tv_recorder.writer;
    int failed = tv_trace_stream_chunk(writer, number);
    if (tv_recorder.spools) {
        failed = tv_output_buffer_flush(writer->out);
        tv_trace_buffer_commit_stream(
            buffer, (struct tv_stream_progress){writer->out->flushed, writer->written, number});
    }
    memset(tv_trace_buffer_record(buffer, buffer->chunks[number - 1].first), 0,
           (size_t)used * buffer->head->words * sizeof(uint64_t));
    if (tv_recorder.spools)
        tv_trace_buffer_commit_stream(
            buffer, (struct tv_stream_progress){writer->out->flushed, writer->written, 0});
    return failed;
}

void tv_recorder_close_chunk(struct tv_recorder_thread *thread)
{
    if (thread->chunk == 0 || !thread->next)
        return;
    struct tv_trace_buffer *buffer = &tv_recorder.buffer;
    struct tv_buffer_chunk *chunk = &buffer->chunks[thread->chunk - 1];
    uint32_t used =
        (uint32_t)((size_t)(thread->next - tv_trace_buffer_record(buffer, chunk->first)) /
                   buffer->head->words);
    used = used < chunk->count ? used : chunk->count;
    uint32_t left = chunk->count - used, first = chunk->first + used;
    chunk->count = used;
    if (buffer->head->full == TV_RECORDING_STREAM) {
        chunk_stream(thread->chunk, used);
        first = chunk->first;
        left += used;
        chunk->count = left;
    }
    uint32_t number = buffer->head->full == TV_RECORDING_STREAM ? thread->chunk : 0;
    thread->chunk = 0;
    thread->end = NULL;
    __atomic_store_n(&thread->next, NULL, __ATOMIC_RELAXED); /* tv_fast_has_room reads it */
    atomic_store(&thread->limit, 0);
    spare_chunk_put(first, left, number);
}

void tv_recorder_mark_overflow(void)
{
    if (atomic_exchange(&tv_recorder.buffer.head->overflow, 1) == 0)
        tv_watcher_notify_overflow();
}

uint32_t tv_recorder_find_ended(bool has_records)
{
    uint32_t threads = atomic_load(&tv_recorder.buffer.head->threads);
    for (uint32_t i = 0; i < threads; i++) {
        uint32_t id = tv_recorder.ended_threads.ended_at % threads + 1;
        bool has_ended = tv_recorder.ended_threads.ended_ids[id >> 3] >> (id & 7) & 1;
        if (has_ended && (tv_recorder.buffer.threads[id - 1].first_chunk != 0) == has_records)
            return id;
        tv_recorder.ended_threads.ended_at = id;
    }
    return 0;
}

/* Number the spare chunk as one of the thread; 0: there are no more numbers. */
static uint32_t chunk_from_spare(struct tv_recorder_thread *self,
                                 const struct tv_spare_chunk *spare)
{
    assert(spare->count > 0);
    struct tv_buffer_header *head = tv_recorder.buffer.head;
    uint32_t chunk = spare->chunk;
    if (chunk == 0)
        chunk = atomic_fetch_add(&head->next_chunk, 1) + 1;
    if (chunk > head->chunks) {
        atomic_store(&head->next_chunk, head->chunks);
        return 0;
    }
    tv_recorder.buffer.chunks[chunk - 1] =
        (struct tv_buffer_chunk){spare->first, spare->count, 0, self->id};
    return chunk;
}

/* Take the last spare chunk that has at least so many records; 0: none. */
static uint32_t spare_chunk_take(struct tv_recorder_thread *self, uint32_t least)
{
    uint32_t chunk = 0;
    if (atomic_load_explicit(&tv_recorder.spares.count, memory_order_relaxed) == 0 ||
        !spare_chunks_lock(1))
        return 0;
    uint32_t count = atomic_load(&tv_recorder.spares.count), at = count;
    while (at > 0 && tv_recorder.spares.chunks[at - 1].count < least)
        at--;
    if (at > 0 && (chunk = chunk_from_spare(self, &tv_recorder.spares.chunks[at - 1])) != 0) {
        tv_recorder.spares.chunks[at - 1] = tv_recorder.spares.chunks[count - 1];
        atomic_store(&tv_recorder.spares.count, count - 1);
    }
    spare_chunks_unlock();
    return chunk;
}

static uint32_t chunk_min(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Choose the size of the thread's next chunk.  In a ring, an eighth of the free records is left
 * to threads that come late, and chunks are small, as the ring forgets whole chunks; 0: the
 * thread has its share.  In a stream a chunk is soon empty again, so room for more threads
 * counts for more than large chunks. */
static uint32_t chunk_choose_size(const struct tv_recorder_thread *self)
{
    const struct tv_buffer_header *head = tv_recorder.buffer.head;
    uint32_t taken = atomic_load(&head->next_record), threads = atomic_load(&head->threads), most;
    if (head->full == TV_RECORDING_STOP)
        return self->chunk_size;
    if (head->full == TV_RECORDING_STREAM) {
        most = head->records / STREAM_SHARES / (threads + 1);
        return chunk_min(self->chunk_size, most > TV_BUFFER_CHUNK_MIN ? most : TV_BUFFER_CHUNK_MIN);
    }
    most = head->records / RING_CHUNKS_MIN;
    most = chunk_min(self->chunk_size, most > TV_BUFFER_CHUNK_MIN ? most : TV_BUFFER_CHUNK_MIN);
    uint64_t part = (uint64_t)(head->records - taken) * 7;
    uint32_t more = part > self->records_owned ? (uint32_t)((part - self->records_owned) / 8) : 0;
    return more < RING_RECORDS_MIN ? 0 : chunk_min(most, more);
}

/* Take the oldest chunk of a thread that has ended, in a ring; 0: there is none. */
static uint32_t chunk_take_from_ended(struct tv_recorder_thread *self)
{
    sigset_t before;
    tv_recorder_lock(&before);
    uint32_t ended_id = tv_recorder_takes_part(self) ? tv_recorder_find_ended(true) : 0;
    uint32_t chunk =
        ended_id != 0 ? tv_trace_buffer_recycle_chunk(&tv_recorder.buffer, ended_id) : 0;
    if (chunk != 0)
        tv_recorder.buffer.chunks[chunk - 1].thread = self->id;
    tv_recorder_unlock(&before);
    return chunk;
}

/* Find a chunk.  In a ring, a thread that has its share recycles its own oldest chunk; one with
 * hardly any chunks takes those of ended threads. */
static uint32_t chunk_find(struct tv_recorder_thread *self, uint32_t size, uint32_t least)
{
    struct tv_trace_buffer *buffer = &tv_recorder.buffer;
    uint32_t chunk = size > 0 ? spare_chunk_take(self, size > 1 ? size / 2 : 1) : 0;
    if (chunk == 0 && size > 0)
        chunk = tv_trace_buffer_claim_chunk(buffer, self->id, size);
    if (chunk == 0 && size > 0)
        chunk = spare_chunk_take(self, least);
    bool rings = buffer->head->full == TV_RECORDING_RING;
    if (chunk == 0 && rings && self->records_owned < buffer->head->records / RING_CHUNKS_MIN)
        chunk = chunk_take_from_ended(self);
    if (chunk == 0 && rings)
        return tv_trace_buffer_recycle_chunk(buffer, self->id);
    if (chunk != 0)
        self->records_owned += buffer->chunks[chunk - 1].count;
    if (tv_trace_buffer_needs_prefault(buffer))
        tv_watcher_notify_prefault();
    if (tv_trace_buffer_has_grown(buffer))
        tv_watcher_notify_growth();
    return chunk;
}

void tv_recorder_set_limit(struct tv_recorder_thread *self)
{
    uintptr_t limit = self->is_fast && self->deep_count == 0 ? (uintptr_t)self->end : 0;
    atomic_store(&self->limit, limit);
    /* A stop clears `on` first and the limits once, afterwards: look at `on` after storing. */
    if (atomic_load(&tv_recorder.on) != tv_recorder_generation_of(self))
        atomic_store(&self->limit, 0);
}

static void thread_use_chunk(struct tv_recorder_thread *self, uint32_t chunk)
{
    assert(chunk > 0 && chunk <= tv_recorder.buffer.head->chunks);
    struct tv_trace_buffer *buffer = &tv_recorder.buffer;
    self->chunk = chunk;
    self->next = tv_trace_buffer_record(buffer, buffer->chunks[chunk - 1].first);
    self->end = self->next + (size_t)buffer->chunks[chunk - 1].count * buffer->head->words;
    if (self->chunk_size < TV_BUFFER_CHUNK_MAX)
        self->chunk_size *= 2;
    tv_recorder_set_limit(self);
}

/* Write the thread's chunk to the file and continue at its beginning.  False: that failed. */
static bool chunk_stream_current(struct tv_recorder_thread *self)
{
    struct tv_trace_buffer *buffer = &tv_recorder.buffer;
    const struct tv_buffer_chunk *chunk = &buffer->chunks[self->chunk - 1];
    if (tv_recorder_inside)
        return false;
    pthread_mutex_lock(&tv_recorder.lock);
    int failed = chunk_stream(self->chunk, chunk->count);
    self->next = tv_trace_buffer_record(buffer, chunk->first);
    pthread_mutex_unlock(&tv_recorder.lock);
    if (failed != 0 && tv_recorder_end_events())
        tv_watcher_notify_failure(failed);
    return failed == 0;
}

static void recording_end_by_overflow(void)
{
    if (!tv_recorder_end_events())
        return;
    atomic_store(&tv_recorder.buffer.head->overflow, 1);
    tv_watcher_notify_overflow();
}

/* Exchange the chunk, which has just been written, for a larger one if there is one. */
static void chunk_replace_by_larger(struct tv_recorder_thread *self)
{
    assert(self->chunk != 0);
    const struct tv_buffer_chunk *old = &tv_recorder.buffer.chunks[self->chunk - 1];
    uint32_t size = chunk_choose_size(self), number = self->chunk, first = old->first,
             count = old->count;
    if (size <= count)
        return;
    uint32_t chunk = chunk_find(self, size, count + 1);
    if (chunk == 0)
        return;
    thread_use_chunk(self, chunk);
    spare_chunk_put(first, count, number);
}

/* Give a thread another chunk. A stream writes the full one and continues in its place; otherwise
 * another is found, or the buffer overflows. */
static bool thread_fetch_chunk(struct tv_recorder_thread *self)
{
    struct tv_trace_buffer *buffer = &tv_recorder.buffer;
    bool streams = buffer->head->full == TV_RECORDING_STREAM;
    tv_trace_buffer_sample_clocks(buffer);
    if (streams && self->chunk != 0) {
        if (!chunk_stream_current(self))
            return false;
        chunk_replace_by_larger(self);
        return true;
    }
    uint32_t chunk = chunk_find(self, chunk_choose_size(self), 1);
    if (chunk == 0) {
        if (buffer->head->full == TV_RECORDING_STOP)
            recording_end_by_overflow();
        else
            tv_recorder_mark_overflow();
        return false;
    }
    if (!streams)
        tv_trace_buffer_append_chunk(buffer, self->id, chunk);
    thread_use_chunk(self, chunk);
    return true;
}

bool tv_recorder_next_chunk(struct tv_recorder_thread *self)
{
    assert(self->next >= self->end);
    sigset_t before;
    tv_recorder_block_signals(&before);
    bool has_more = thread_fetch_chunk(self);
    tv_recorder_unblock_signals(&before);
    return has_more;
}
