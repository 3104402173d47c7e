/* SPDX-License-Identifier: Apache-2.0 */
/*
 * made_records.h - records as the kernel lays them out (linux/perf_event.h), for tests: bytes put
 * down one by one, by nobody who reads them.
 */
#ifndef TV_TESTS_PERF_MADE_RECORDS_H
#define TV_TESTS_PERF_MADE_RECORDS_H

#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>

#include "perf/records.h"

struct test_record {
    uint8_t bytes[4096];
    uint16_t length;
};

static inline void put_bytes(struct test_record *to, const void *bytes, size_t length)
{
    memcpy(to->bytes + to->length, bytes, length);
    to->length = (uint16_t)(to->length + length);
}

static inline void put_u32(struct test_record *to, uint32_t value)
{
    put_bytes(to, &value, sizeof value);
}

static inline void put_u64(struct test_record *to, uint64_t value)
{
    put_bytes(to, &value, sizeof value);
}

static inline void begin_record(struct test_record *to, uint32_t type, uint16_t misc)
{
    to->length = 0;
    put_u32(to, type);
    put_u32(to, misc);
}

/* The length goes where the header has it. */
static inline void end_record(struct test_record *to)
{
    memcpy(to->bytes + 6, &to->length, sizeof to->length);
}

/* Thread, time, processor and event of what is no sample. */
static inline void end_with_trailer(struct test_record *to, uint32_t pid, uint32_t tid,
                                    uint64_t time)
{
    put_u32(to, pid);
    put_u32(to, tid);
    put_u64(to, time);
    put_u64(to, 1);
    put_u64(to, 99);
    end_record(to);
}

static inline void make_sample(struct test_record *to, uint64_t event, uint32_t pid, uint32_t tid,
                               uint64_t time, const uint64_t *chain, uint64_t depth)
{
    begin_record(to, PERF_RECORD_SAMPLE, 0);
    put_u64(to, event);
    put_u64(to, depth > 0 ? chain[0] : 0);
    put_u32(to, pid);
    put_u32(to, tid);
    put_u64(to, time);
    put_u64(to, 1);
    put_u64(to, depth);
    for (uint64_t i = 0; i < depth; i++)
        put_u64(to, chain[i]);
    end_record(to);
}

static inline void make_mapping(struct test_record *to, uint32_t pid, uint64_t start,
                                uint64_t length, uint64_t offset, const char *path)
{
    begin_record(to, PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID);
    put_u32(to, pid);
    put_u32(to, pid);
    put_u64(to, start);
    put_u64(to, length);
    put_u64(to, offset);
    put_u32(to, 20); /* the build id's size */
    for (uint32_t i = 0; i < 5; i++)
        put_u32(to, 0x01010101);
    put_u32(to, 5); /* readable, executable */
    put_u32(to, 2);
    size_t size = (strlen(path) + 8) / 8 * 8;
    char padded[512] = "";
    memcpy(padded, path, strlen(path));
    put_bytes(to, padded, size);
    end_with_trailer(to, pid, pid, 5);
}

static inline void make_name(struct test_record *to, uint16_t misc, uint32_t pid, uint32_t tid,
                             const char *name)
{
    char padded[16] = "";
    begin_record(to, PERF_RECORD_COMM, misc);
    put_u32(to, pid);
    put_u32(to, tid);
    memcpy(padded, name, strlen(name));
    put_bytes(to, padded, sizeof padded);
    end_with_trailer(to, pid, tid, 6);
}

static inline void make_task(struct test_record *to, uint32_t type, uint32_t pid, uint32_t parent,
                             uint32_t tid, uint32_t parent_tid)
{
    begin_record(to, type, 0);
    put_u32(to, pid);
    put_u32(to, parent);
    put_u32(to, tid);
    put_u32(to, parent_tid);
    put_u64(to, 7);
    end_with_trailer(to, UINT32_MAX, UINT32_MAX, 7);
}

static inline void make_switch(struct test_record *to, uint16_t misc, uint32_t pid, uint32_t tid,
                               uint64_t time)
{
    begin_record(to, PERF_RECORD_SWITCH, misc);
    end_with_trailer(to, pid, tid, time);
}

#endif
