/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_file.h - from a recording's buffers to the bytes of a .trace, versions 2 and 3, and their
 * streaming forms 0xF2 and 0xF3.
 */
#ifndef TV_RECORDER_TRACE_FILE_H
#define TV_RECORDER_TRACE_FILE_H

#include "recorder/method_table.h"
#include "recorder/output_file.h"
#include "recorder/trace_buffer.h"

#define TV_TRACE_CACHE_SIZE 256u /* a power of two */

struct tv_trace_writer {
    struct tv_trace_buffer *buffer;
    struct tv_method_table *methods;
    struct tv_address_table *addresses;
    tv_address_key key; /* NULL: the namer gets addresses */
    tv_address_namer namer;
    struct tv_clock_scale scale;
    uint64_t end_ns; /* of the recording, since its start */
    bool drop_orphans;
    uint32_t left_out; /* methods that the host could not put hooks into */
    bool has_allocations;
    bool mixes_fibers; /* calls of several virtual threads stand in one row */
    struct tv_recording_allocations allocations;
    struct tv_output_buffer *out;

    uint8_t *used; /* a bit a method: it has its line or gets one */
    size_t used_size;
    uint8_t
        known_threads[TV_BUFFER_THREADS_MAX / 8 + 1]; /* streaming: those that have their packet */
    uint64_t written;                                 /* records in the file */
    uint64_t unnamed;  /* records left out, as there was no memory for their methods */
    uint64_t shift_ns; /* the file's time 0: later than the start in a long ring */

    /* Methods of addresses, for the chunk that is being written and times up to its last one. */
    struct {
        uint64_t address;
        uint32_t number; /* 0: free */
    } cached[TV_TRACE_CACHE_SIZE];
    uint64_t cached_until;
};

/* Makes records fit for the file: addresses become methods, what the file cannot hold is marked.
 * Then writes header and records of all threads, by time where they have wall time, else thread
 * by thread.  0 or an error; the out is not flushed. */
int tv_trace_writer_write(struct tv_trace_writer *writer);

/* Streaming: the header of the file. */
void tv_trace_stream_begin(struct tv_trace_writer *writer);

/* Or goes on behind `size` bytes of one, as they were written: they go to the out up to the last
 * whole packet, and what they have told is not told again.  The number of their records. */
uint64_t tv_trace_stream_resume(struct tv_trace_writer *writer, const uint8_t *bytes, size_t size);

/* The records of one chunk, with the methods that are new.  0 or an error. */
int tv_trace_stream_chunk(struct tv_trace_writer *writer, uint32_t chunk);

/* The threads' names and the summary: the end of the file.  0 or -ENOMEM. */
int tv_trace_stream_end(struct tv_trace_writer *writer);
void tv_trace_writer_release(struct tv_trace_writer *writer);

#endif
