/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_buffer.h - the trace buffer of one recording: a single mapping of memory or, as a spool, of
 * a file that outlives the process.
 *
 *     header (2 pages) | threads | chunks | records ...
 *
 *     thread 1: first_chunk -> chunk 1 -> chunk 4 -> chunk 7 (being filled)
 *     thread 2: first_chunk -> chunk 2 -> chunk 3
 *                               |
 *                               '-> records 64..191: [word time] [word time] ... [0]
 *
 * A record is two or three words of 64 bits: what happened, when, and with two clocks the CPU time.
 *
 * A thread claims chunks of records as it needs them, small ones first, so that many short threads
 * do not waste the buffer.  The chunks of a thread form a chain.  In a chunk, a record whose first
 * word is 0 ends the records: the mapping begins as zeros and a record's first word is stored last,
 * so that even the spool of a killed process has whole records only.
 *
 * Claiming a chunk is lock-free, as hooks do it in signal handlers.  Only a buffer that grows makes
 * system calls there, with the signals of the thread blocked.
 *
 * The size of the buffer, which the user sets, is that of the file's records.
 */
#ifndef TV_RECORDER_AREA_H
#define TV_RECORDER_AREA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/clock.h"
#include "recorder/labels.h"

#define TV_SPOOL_MAGIC UINT64_C(0x336c6f6f70735654) /* "TVspool3" */
#define TV_BUFFER_HEADER_SIZE 8192u
#define TV_BUFFER_THREADS_MAX 65535u /* ids have 16 bits, 0 is the escape of a stream */
#define TV_BUFFER_NAME 128u
#define TV_BUFFER_PATH 4096u
#define TV_BUFFER_PATTERNS 512u

#define TV_BUFFER_CHUNK_MIN 64u
#define TV_BUFFER_CHUNK_MAX 4096u

/* The first word of a record is the method's number, or an address with TV_WORD_ADDRESS, shifted
 * left by two, and the action.  TV_WORD_LEFT_OUT (number 0, action 3) marks a record that does
 * not go to the file. */
#define TV_WORD_ADDRESS (UINT64_C(1) << 63)
#define TV_WORD_LEFT_OUT UINT64_C(3)

struct tv_buffer_thread {
    char name[TV_BUFFER_NAME];
    uint32_t first_chunk, last_chunk; /* chunk numbers; 0: none */
    uint64_t cpu_start;
};

struct tv_buffer_chunk {
    uint32_t first; /* number of its first record */
    uint32_t count;
    uint32_t next; /* the next chunk of the thread; 0: none */
    uint32_t thread;
};

/* The part of a streamed file that is written. */
struct tv_stream_progress {
    uint64_t bytes, records;
    uint64_t
        chunk; /* a chunk whose records are in the file and perhaps still in the buffer; 0: none */
};

struct tv_buffer_header {
    uint64_t magic;
    uint32_t pid;
    uint32_t clock, full;     /* enum tv_recording_clock, enum tv_recording_full */
    uint32_t words;           /* 64-bit words of a record */
    uint32_t records, chunks; /* the numbers that there can be */
    uint32_t counter;         /* is wall time that of the counter? */
    uint32_t overhead_ns;
    uint64_t start_us; /* since 1970, in microseconds */
    struct tv_clock_pair start,
        late[2]; /* `late` is updated now and then: the scale of a recording without a stop */
    _Atomic uint32_t late_at;
    _Atomic uint32_t next_record, next_chunk, threads;
    _Atomic uint32_t overflow, dropped;
    char vm[16];
    char path[TV_BUFFER_PATH];
    uint32_t locked;   /* the process holds a lock on the spool */
    uint32_t part_pid; /* the trace is written to PATH.PID.part, not PATH.part */
    _Atomic uint32_t streamed_at;
    struct tv_stream_progress streamed[2]; /* streamed[streamed_at & 1] is valid */
    struct tv_clock_scale scale;           /* of a streamed file */
    uint64_t least_ns;                     /* shorter calls are left out; 0: none */
    uint64_t slow_ns; /* duration of the call that ended the recording; 0: none did */
    uint32_t slow_thread;
    char slow_call[TV_BUFFER_PATTERNS];
    char trigger[TV_BUFFER_PATTERNS]; /* patterns of the methods below which calls are recorded */
    char labels[TV_LABELS_SIZE];      /* of a run of a comparison: lines */
};

struct tv_trace_buffer {
    struct tv_buffer_header *head;
    struct tv_buffer_thread *threads; /* [id - 1] */
    struct tv_buffer_chunk *chunks;   /* [number - 1] */
    uint64_t *records;
    size_t size;
    _Atomic uint32_t wanted,
        ready; /* records up to `wanted` should be prefaulted, up to `ready` they are */
    _Atomic uint32_t backed; /* records that have memory; all, unless the buffer grows */
    _Atomic bool growing;    /* a thread is growing it */
    const char *folder;      /* of the files that it grows into; NULL: it does not grow */
    uint32_t first_backed;   /* `backed` before it grew */
};

/* Make a buffer of memory, or of the empty file `file` if that is not -1.  0, -ENOMEM or an
 * error of the system. */
int tv_trace_buffer_init(struct tv_trace_buffer *buffer, uint32_t records, uint32_t words,
                         int file);

/* Let a new buffer of memory begin with space for `records` of all its records, and continue in
 * unnamed files in `folder`, piece by piece, so that a long recording does not take the memory
 * that the program needs.  `folder` stays the caller's. */
void tv_trace_buffer_set_growth(struct tv_trace_buffer *buffer, uint32_t records,
                                const char *folder);

/* Does it use more than its first part? */
bool tv_trace_buffer_has_grown(const struct tv_trace_buffer *buffer);

/* Make a copy in memory.  0 or -ENOMEM. */
int tv_trace_buffer_copy(struct tv_trace_buffer *to, const struct tv_trace_buffer *from);

/* Open the spool of another process.  It is checked, so that no number in it leads outside.
 * -EINVAL: it is damaged or no spool. */
int tv_trace_buffer_open(struct tv_trace_buffer *buffer, int file);
void tv_trace_buffer_release(struct tv_trace_buffer *buffer);

/* Claim a chunk of at most `wanted` records, which is in no chain yet; 0: nothing is left. */
uint32_t tv_trace_buffer_claim_chunk(struct tv_trace_buffer *buffer, uint32_t thread,
                                     uint32_t wanted);

/* Does the watcher thread have memory to prefault?  The first touch of a page costs as much as
 * the rest of an event, so it takes place beforehand and elsewhere.  One of several askers gets
 * true.  Makes no system call. */
bool tv_trace_buffer_needs_prefault(struct tv_trace_buffer *buffer);

/* Prefault it.  One thread at a time.  Does nothing where the kernel has no MADV_POPULATE_WRITE. */
void tv_trace_buffer_prefault(struct tv_trace_buffer *buffer);

/* Append a chunk to the thread's chain. */
void tv_trace_buffer_append_chunk(struct tv_trace_buffer *buffer, uint32_t thread, uint32_t chunk);

/* Take the oldest chunk from the chain, clear it and return it; 0: there is none. */
uint32_t tv_trace_buffer_recycle_chunk(struct tv_trace_buffer *buffer, uint32_t thread);

/* Note how much of a streamed file is written.  One caller at a time. */
void tv_trace_buffer_commit_stream(struct tv_trace_buffer *buffer,
                                   struct tv_stream_progress streamed);

/* Note the readings of both clocks, if the last ones are old. */
void tv_trace_buffer_sample_clocks(struct tv_trace_buffer *buffer);

static inline uint64_t *tv_trace_buffer_record(const struct tv_trace_buffer *buffer,
                                               uint32_t record)
{
    return buffer->records + (size_t)record * buffer->head->words;
}

#endif
