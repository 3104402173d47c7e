/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffer.h - the buffers of one recording: a single mapping, of memory or (spool) of a file that
 * outlives the process.
 *
 *     head (a page) | threads | chunks | records
 *
 * A record is words of 64 bits: what happened, when, and with two clocks the thread's CPU time.
 * A thread claims chunks of records as it needs them, small ones first, so that many short threads
 * do not waste the buffer, which is the user's in bytes of the file.  Chunks of a thread are a
 * chain.  Within a chunk the first word of 0 ends the records: everything starts as zeros and a
 * record's first word is stored last.
 *
 * Claiming is lock-free and calls nothing, as hooks do it in signal handlers; only an buffer that
 * grows asks the system for room, with all signals of the thread blocked.
 */
#ifndef TV_RECORDER_AREA_H
#define TV_RECORDER_AREA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/clock.h"

#define TV_SPOOL_MAGIC UINT64_C(0x336c6f6f70735654) /* "TVspool3" */
#define TV_BUFFER_HEADER_SIZE 8192u
#define TV_BUFFER_THREADS_MAX 65535u /* ids are 16 bits, 0 is the escape of streaming */
#define TV_BUFFER_NAME 128u
#define TV_BUFFER_PATH 4096u
#define TV_BUFFER_PATTERNS 512u

#define TV_BUFFER_CHUNK_MIN 64u
#define TV_BUFFER_CHUNK_MAX 4096u

/* The first word of a record: a method's number or an address, shifted left by two, and the action.
 * Action 3 with the number 0 is a record that is left out of the file. */
#define TV_WORD_ADDRESS (UINT64_C(1) << 63)
#define TV_WORD_LEFT_OUT UINT64_C(3)

struct tv_buffer_thread {
    char name[TV_BUFFER_NAME];
    uint32_t first_chunk, last_chunk; /* 0: none */
    uint64_t cpu_start;
};

struct tv_buffer_chunk {
    uint32_t first; /* record */
    uint32_t count;
    uint32_t next; /* chunk of the same thread, 0: none */
    uint32_t thread;
};

/* How far a streamed file is written. */
struct tv_stream_progress {
    uint64_t bytes, records;
    uint64_t
        chunk; /* its records are among them, though they may lie in the buffer still; 0: none */
};

struct tv_buffer_header {
    uint64_t magic;
    uint32_t pid;
    uint32_t clock, full;     /* enum tv_recording_clock, tv_recording_full */
    uint32_t words;           /* of a record */
    uint32_t records, chunks; /* how many there can be */
    uint32_t counter;         /* is wall time the counter's? */
    uint32_t overhead_ns;
    uint64_t start_us;                   /* since 1970 */
    struct tv_clock_pair start, late[2]; /* late: from time to time, for a scale without a stop */
    _Atomic uint32_t late_at;
    _Atomic uint32_t next_record, next_chunk, threads;
    _Atomic uint32_t overflow, dropped;
    char vm[16];
    char path[TV_BUFFER_PATH];
    uint32_t locked;   /* the file, as long as the process has it */
    uint32_t part_pid; /* PATH.PID.part is written, not PATH.part */
    _Atomic uint32_t streamed_at;
    struct tv_stream_progress streamed[2]; /* the one of streamed_at & 1 */
    struct tv_clock_scale scale;           /* of a streamed file */
    uint64_t least_ns;                     /* shorter calls are left out; 0: none */
    uint64_t slow_ns;                      /* how long a call took that has ended it; 0: none */
    uint32_t slow_thread;
    char slow_call[TV_BUFFER_PATTERNS];
    char trigger[TV_BUFFER_PATTERNS]; /* methods whose calls are recorded with all below them */
};

struct tv_trace_buffer {
    struct tv_buffer_header *head;
    struct tv_buffer_thread *threads; /* of the thread with the id n: n - 1 */
    struct tv_buffer_chunk *chunks;   /* of number n: n - 1 */
    uint64_t *records;
    size_t size;
    _Atomic uint32_t wanted, ready; /* records up to here want memory, or have it */
    _Atomic uint32_t backed;        /* records that there is room for; all, unless it grows */
    _Atomic bool growing;           /* somebody is at it */
    const char *folder;             /* where it grows; NULL: it does not */
    uint32_t first_backed;          /* before it grew */
};

/* A new one, of memory or, if `file` is not -1, of that empty file.  0, or -ENOMEM, or what the
 * system says. */
int tv_trace_buffer_init(struct tv_trace_buffer *buffer, uint32_t records, uint32_t words,
                         int file);

/* Let a new one of memory begin with room for `records`, of all that it could have, and then take
 * files without names in the folder, piece by piece: large recordings are not to take the memory
 * that the program needs.  The text stays the caller's. */
void tv_trace_buffer_set_growth(struct tv_trace_buffer *buffer, uint32_t records,
                                const char *folder);

/* Has it needed more room than it began with? */
bool tv_trace_buffer_has_grown(const struct tv_trace_buffer *buffer);

/* A new one of memory with what another has.  0 or -ENOMEM. */
int tv_trace_buffer_copy(struct tv_trace_buffer *to, const struct tv_trace_buffer *from);

/* An buffer that another process left in a file: checked, so that what follows cannot leave it.
 * -EINVAL: it is none. */
int tv_trace_buffer_open(struct tv_trace_buffer *buffer, int file);
void tv_trace_buffer_release(struct tv_trace_buffer *buffer);

/* A new chunk of at most `wanted` records, 0 when nothing is left; not yet in a chain. */
uint32_t tv_trace_buffer_claim_chunk(struct tv_trace_buffer *buffer, uint32_t thread,
                                     uint32_t wanted);

/* Memory that nobody has touched costs as much as all else of an event, so a thread of its own
 * brings it before it is needed.  True: there is something for it to do; of all who ask one at a
 * time is told so.  Calls nothing. */
bool tv_trace_buffer_needs_prefault(struct tv_trace_buffer *buffer);

/* Brings it; one thread at a time.  Without help from the kernel it does nothing. */
void tv_trace_buffer_prefault(struct tv_trace_buffer *buffer);

/* Puts a chunk at the end of the thread's chain. */
void tv_trace_buffer_append_chunk(struct tv_trace_buffer *buffer, uint32_t thread, uint32_t chunk);

/* Takes the oldest chunk of the chain, empties it and returns it; 0: there is none. */
uint32_t tv_trace_buffer_recycle_chunk(struct tv_trace_buffer *buffer, uint32_t thread);

/* Remembers how far a streamed file is written; one caller at a time. */
void tv_trace_buffer_commit_stream(struct tv_trace_buffer *buffer,
                                   struct tv_stream_progress streamed);

/* Remembers both clocks, at most once in a while. */
void tv_trace_buffer_sample_clocks(struct tv_trace_buffer *buffer);

static inline uint64_t *tv_trace_buffer_record(const struct tv_trace_buffer *buffer,
                                               uint32_t record)
{
    return buffer->records + (size_t)record * buffer->head->words;
}

#endif
