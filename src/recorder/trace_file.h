/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_file.h - the writer of .trace files: from a trace buffer to the bytes of versions 2 and 3
 * and of their streaming forms 0xF2 and 0xF3.
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
    uint32_t left_out; /* methods that the host could not instrument */
    bool has_allocations;
    bool mixes_fibers; /* calls of several fibers share a row */
    struct tv_recording_allocations allocations;
    struct tv_output_buffer *out;

    uint8_t *used; /* a bit a method: its line is in the file, or will be */
    size_t used_size;
    uint8_t known_threads[TV_BUFFER_THREADS_MAX / 8 +
                          1]; /* streaming: a bit a thread whose packet is written */
    uint64_t written;         /* records in the file */
    uint64_t unnamed;         /* records left out for lack of memory for their method */
    uint64_t shift_ns;        /* time 0 of the file; later than the start in a long ring */

    /* Methods of addresses, valid in the current chunk for times up to cached_until. */
    struct {
        uint64_t address;
        uint32_t number; /* 0: free */
    } cached[TV_TRACE_CACHE_SIZE];
    uint64_t cached_until;
};

/* Write a whole file: first prepare the records (addresses become methods, what the file cannot
 * hold is marked), then write the header and the records.  These are ordered by time, or by
 * thread when there is only CPU time.  0 or an error; `out` is not flushed. */
int tv_trace_writer_write(struct tv_trace_writer *writer);

/* Begin a streamed file: write its header. */
void tv_trace_stream_begin(struct tv_trace_writer *writer);

/* Continue a streamed file of which `size` bytes are there: copy them to `out` up to the last
 * whole packet, and mark the methods and threads that they describe.  Return the number of their
 * records. */
uint64_t tv_trace_stream_resume(struct tv_trace_writer *writer, const uint8_t *bytes, size_t size);

/* Write the records of one chunk, with the methods and threads that are new.  0 or an error. */
int tv_trace_stream_chunk(struct tv_trace_writer *writer, uint32_t chunk);

/* End a streamed file with the threads' names and the summary.  0 or -ENOMEM. */
int tv_trace_stream_end(struct tv_trace_writer *writer);
void tv_trace_writer_release(struct tv_trace_writer *writer);

#endif
