/* SPDX-License-Identifier: Apache-2.0 */
/*
 * method_trace.h - the byte format of Android method traces (.trace), for readers and writers.
 *
 * There are three families, all little-endian:
 *
 *   text header, versions 1 to 3     *version ... *threads ... *methods ... *end\n
 *                                    data header (32 bytes), records to the end of the file
 *   streaming, 0xF2 and 0xF3         data header, then records and packets mixed
 *   packets ("format V2"), 4, 5,     packet header (32 bytes), then packets of method names,
 *   0xF4, 0xF5                       thread names and delta-coded blocks of entries
 *
 * A long-running-method dump consists of packets without a header.  The caller checks bounds.
 * MT stands for "method trace".
 */
#ifndef TV_WIRE_METHOD_TRACE_H
#define TV_WIRE_METHOD_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "wire/little_endian.h"

/* ---- Text header.  A section's name starts at column 0 and fills its line. ---- */

#define TV_MT_SECTION_VERSION "*version"
#define TV_MT_SECTION_THREADS "*threads"
#define TV_MT_SECTION_METHODS "*methods"
#define TV_MT_SECTION_END "*end"

/*
 * Keys of the version section, in the order in which ART writes them.  The elapsed time is wall
 * time from start to stop, in nanoseconds only in packet files since 2025; the overhead is the mean
 * cost of reading the clocks once; the last three are there only when allocations are counted.
 */
#define TV_MT_KEY_OVERFLOW "data-file-overflow" /* true, false */
#define TV_MT_KEY_CLOCK "clock"                 /* one of the values below */
#define TV_MT_KEY_ELAPSED_US "elapsed-time-usec"
#define TV_MT_KEY_ELAPSED_NS "elapsed-time-nsec"
#define TV_MT_KEY_RECORDS "num-method-calls" /* counts records, not calls */
#define TV_MT_KEY_OVERHEAD_NS "clock-call-overhead-nsec"
#define TV_MT_KEY_TRIGGER "trigger" /* ours: only these methods and their callees were recorded */
#define TV_MT_KEY_SLOW_CALL "slow-call" /* ours: this call ended the recording */
#define TV_MT_KEY_SLOW_NS "slow-call-nsec"
#define TV_MT_KEY_SLOW_THREAD "slow-call-thread"
#define TV_MT_KEY_MIN_NS "min-duration-nsec"  /* ours: shorter calls were left out */
#define TV_MT_KEY_LEFT_OUT "methods-left-out" /* ours: number of methods without room for hooks */
#define TV_MT_KEY_VM "vm"                     /* dalvik, art */
#define TV_MT_KEY_PID "pid"
#define TV_MT_KEY_FIBERS "virtual-threads" /* ours: "mixed": calls of several share a row */
#define TV_MT_KEY_ALLOC_COUNT "alloc-count"
#define TV_MT_KEY_ALLOC_SIZE "alloc-size"
#define TV_MT_KEY_GC_COUNT "gc-count"

/* Written by this project alone: the interval at which stacks were sampled, or 0 when every call
 * was recorded. */
#define TV_MT_KEY_SAMPLING_US "sampling-interval-usec"

#define TV_MT_CLOCK_THREAD_CPU "thread-cpu"
#define TV_MT_CLOCK_WALL "wall"
#define TV_MT_CLOCK_GLOBAL "global" /* what Dalvik called "wall" before August 2010 */
#define TV_MT_CLOCK_DUAL "dual"

/* ---- Versions ---- */

#define TV_MT_STREAMING 0xF0u /* set in the data header's version by a streaming writer */

enum tv_mt_version {
    TV_MT_V1 = 1,        /* one clock, one-byte thread ids: Dalvik until June 2011 */
    TV_MT_V2 = 2,        /* one clock */
    TV_MT_V3 = 3,        /* both clocks */
    TV_MT_PACKETS_1 = 4, /* format V2, one clock */
    TV_MT_PACKETS_2 = 5, /* format V2, both clocks */
};

/* ---- Data header of versions 1 to 3, 0xF2, 0xF3 ----
 *
 *   0 u4 magic | 4 u2 version | 6 u2 offset of the first record, from the header's start
 *   8 u8 start time | 16 u2 record size, written from version 3 on | zeros up to 32
 */
#define TV_MT_MAGIC 0x574f4c53u /* "SLOW" */
#define TV_MT_MAGIC_TEXT "SLOW"
#define TV_MT_HEADER_SIZE 32u

#define TV_MT_HEADER_MAGIC 0u
#define TV_MT_HEADER_VERSION 4u
#define TV_MT_HEADER_DATA_OFFSET 6u
#define TV_MT_HEADER_START 8u
#define TV_MT_HEADER_RECORD_SIZE 16u

_Static_assert(TV_MT_HEADER_RECORD_SIZE + 2 <= TV_MT_HEADER_SIZE, "all fields are in the header");
_Static_assert(sizeof TV_MT_MAGIC_TEXT - 1 == TV_MT_HEADER_VERSION,
               "the version follows the magic");

struct tv_mt_header {
    uint16_t version;     /* with TV_MT_STREAMING when streaming */
    uint16_t data_offset; /* 32 in every file known */
    uint16_t record_size; /* 0 in versions 1 and 2 */
    uint64_t start;       /* Dalvik: us since 1970; ART: us since boot */
};

/* ---- Records ----
 *
 *   version 1   u1 tid, u4 method word, u4 time            9 bytes
 *   version 2   u2 tid, u4 method word, u4 time           10
 *   version 3   u2 tid, u4 method word, u4 cpu, u4 wall   14, or more: the header says
 *
 * Times are microseconds.  "cpu" counts from the thread's own first record, "wall" from the trace's
 * start.  0xF2 has the records of version 2 (some writers use 14 bytes for them all the same), 0xF3
 * those of version 3.
 */
#define TV_MT_RECORD_SIZE_V1 9u
#define TV_MT_RECORD_SIZE_V2 10u
#define TV_MT_RECORD_SIZE_V3 14u

/* The word consists of the method's id, as listed, and the action in its low two bits. */
#define TV_MT_ACTION_MASK 3u

enum tv_mt_action {
    TV_MT_ENTER = 0,
    TV_MT_EXIT = 1,
    TV_MT_UNROLL = 2, /* left by an exception */
    TV_MT_ACTION_UNDEFINED = 3,
};
_Static_assert(TV_MT_ACTION_UNDEFINED == TV_MT_ACTION_MASK, "actions are all values of the mask");

/* ---- Packets among the records of a streaming file: a u2 of 0 where a thread id would be ---- */

#define TV_MT_STREAM_ESCAPE 0u

enum tv_mt_stream_op {
    TV_MT_STREAM_METHOD = 1,  /* u2 length, a line of the *methods section with its \n */
    TV_MT_STREAM_THREAD = 2,  /* u2 tid, u2 length, name */
    TV_MT_STREAM_SUMMARY = 3, /* u4 length, a whole text header; last in the file */
};

#define TV_MT_STREAM_METHOD_HEAD 5u  /* bytes before the text: u2 0, u1 op, u2 length */
#define TV_MT_STREAM_THREAD_HEAD 7u  /* u2 0, u1 op, u2 tid, u2 length */
#define TV_MT_STREAM_SUMMARY_HEAD 7u /* u2 0, u1 op, u4 length */

/* ---- Header of packet files (versions 4, 5, 0xF4, 0xF5).  Its fields are not aligned. ----
 *
 *   0 u4 magic | 4 u2 version | 6 u8 start | 14 u8 start in counter ticks | 22 u8 ticks per second
 *
 * A frequency of 0 says that the entries' times are nanoseconds already.
 */
#define TV_MT_PACKET_HEADER_START 6u
#define TV_MT_PACKET_HEADER_START_TICKS 14u
#define TV_MT_PACKET_HEADER_FREQUENCY 22u

enum tv_mt_packet {
    TV_MT_PACKET_THREAD = 0,  /* u4 tid, u2 length, name */
    TV_MT_PACKET_METHOD = 1,  /* u8 id, u2 length, "class\tname\tsignature\tfile\n" */
    TV_MT_PACKET_ENTRIES = 2, /* u4 tid, u3 count modulo 65536, u4 size, payload */
    TV_MT_PACKET_SUMMARY = 3, /* u2 length, text with the keys; last in the file */
};

/* Bytes before a packet's text or payload, its type byte included. */
#define TV_MT_PACKET_THREAD_HEAD 7u
#define TV_MT_PACKET_METHOD_HEAD 11u
#define TV_MT_PACKET_ENTRIES_HEAD 12u
#define TV_MT_PACKET_SUMMARY_HEAD 3u

/* Return whether the version in a data header is that of a streaming file. */
static inline bool tv_mt_is_streaming(uint16_t version)
{
    return (version & TV_MT_STREAMING) == TV_MT_STREAMING;
}

/* Return the version without the streaming flag. */
static inline uint16_t tv_mt_plain_version(uint16_t version)
{
    return tv_mt_is_streaming(version) ? (uint16_t)(version & ~TV_MT_STREAMING) : version;
}

static inline uint32_t tv_mt_word(uint32_t method_id, enum tv_mt_action action)
{
    return (method_id & ~TV_MT_ACTION_MASK) | (uint32_t)action;
}

static inline uint32_t tv_mt_word_method(uint32_t word)
{
    return word & ~TV_MT_ACTION_MASK;
}

static inline enum tv_mt_action tv_mt_word_action(uint32_t word)
{
    return (enum tv_mt_action)(word & TV_MT_ACTION_MASK);
}

/* Return the record size of version 1, 2 or 3, or 0 for any other version. */
static inline uint16_t tv_mt_record_size(uint16_t plain_version)
{
    switch (plain_version) {
    case TV_MT_V1:
        return TV_MT_RECORD_SIZE_V1;
    case TV_MT_V2:
        return TV_MT_RECORD_SIZE_V2;
    case TV_MT_V3:
        return TV_MT_RECORD_SIZE_V3;
    default:
        return 0;
    }
}

/* Decode the data header from TV_MT_HEADER_SIZE bytes; the caller checks the magic. */
static inline struct tv_mt_header tv_mt_get_header(const uint8_t *at)
{
    return (struct tv_mt_header){
        .version = tv_le_get_u16(at + TV_MT_HEADER_VERSION),
        .data_offset = tv_le_get_u16(at + TV_MT_HEADER_DATA_OFFSET),
        .record_size = tv_le_get_u16(at + TV_MT_HEADER_RECORD_SIZE),
        .start = tv_le_get_u64(at + TV_MT_HEADER_START),
    };
}

/* Write a data header of TV_MT_HEADER_SIZE bytes. */
static inline void tv_mt_put_header(uint8_t *at, const struct tv_mt_header *header)
{
    memset(at, 0, TV_MT_HEADER_SIZE);
    tv_le_put_u32(at + TV_MT_HEADER_MAGIC, TV_MT_MAGIC);
    tv_le_put_u16(at + TV_MT_HEADER_VERSION, header->version);
    tv_le_put_u16(at + TV_MT_HEADER_DATA_OFFSET, header->data_offset);
    tv_le_put_u64(at + TV_MT_HEADER_START, header->start);
    tv_le_put_u16(at + TV_MT_HEADER_RECORD_SIZE, header->record_size);
}

/* Write a record of version 1, 2 or 3 and return the address after it. */
static inline uint8_t *tv_mt_put_record_v1(uint8_t *at, uint8_t tid, uint32_t word, uint32_t time)
{
    at[0] = tid;
    tv_le_put_u32(at + 1, word);
    tv_le_put_u32(at + 5, time);
    return at + TV_MT_RECORD_SIZE_V1;
}

static inline uint8_t *tv_mt_put_record_v2(uint8_t *at, uint16_t tid, uint32_t word, uint32_t time)
{
    tv_le_put_u16(at, tid);
    tv_le_put_u32(at + 2, word);
    tv_le_put_u32(at + 6, time);
    return at + TV_MT_RECORD_SIZE_V2;
}

static inline uint8_t *tv_mt_put_record_v3(uint8_t *at, uint16_t tid, uint32_t word, uint32_t cpu,
                                           uint32_t wall)
{
    tv_le_put_u16(at, tid);
    tv_le_put_u32(at + 2, word);
    tv_le_put_u32(at + 6, cpu);
    tv_le_put_u32(at + 10, wall);
    return at + TV_MT_RECORD_SIZE_V3;
}

#endif
