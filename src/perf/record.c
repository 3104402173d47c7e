/* SPDX-License-Identifier: Apache-2.0 */
/* record.c - see record.h. */
#include "perf/record.h"

#include <string.h>

/* Behind the body of every record but samples: thread, time, processor, id. */
#define TRAILER 32u

/* The part of a record that has not been read yet. */
struct cursor {
    const uint8_t *at;
    size_t left;
    bool whole;
};

/* Copy the next bytes; a record that ends before them is not whole, and nothing is copied. */
static void copy_next(struct cursor *cursor, void *value, size_t size)
{
    cursor->whole = cursor->whole && cursor->left >= size;
    if (!cursor->whole)
        return;
    memcpy(value, cursor->at, size);
    cursor->at += size;
    cursor->left -= size;
}

static uint64_t next_u64(struct cursor *cursor)
{
    uint64_t value = 0;
    copy_next(cursor, &value, sizeof value);
    return value;
}

static uint32_t next_u32(struct cursor *cursor)
{
    uint32_t value = 0;
    copy_next(cursor, &value, sizeof value);
    return value;
}

/* A text that has its NUL. */
static const char *next_text(struct cursor *cursor)
{
    const void *end = memchr(cursor->at, '\0', cursor->left);
    const void *text = cursor->at;
    cursor->whole = cursor->whole && end != NULL;
    return text;
}

static const uint8_t *next_bytes(struct cursor *cursor, uint64_t length)
{
    const uint8_t *at = cursor->at;
    cursor->whole = cursor->whole && length <= cursor->left;
    if (!cursor->whole)
        return NULL;
    cursor->at += length;
    cursor->left -= (size_t)length;
    return at;
}

/* Registers and stack, which samples end with where stacks are copied. */
static void read_copy(struct cursor *cursor, struct tv_perf_record *record)
{
    uint64_t abi = next_u64(cursor), size = 0, length = 0;
    const uint8_t *registers = NULL, *stack = NULL;
    if (abi != PERF_SAMPLE_REGS_ABI_NONE)
        registers = next_bytes(cursor, TV_PERF_REGISTER_COUNT * sizeof(uint64_t));
    size = next_u64(cursor);
    if (size > 0) {
        stack = next_bytes(cursor, size);
        length = next_u64(cursor);
    }
    if (!cursor->whole || abi != PERF_SAMPLE_REGS_ABI_64)
        return;
    record->sample.registers = registers;
    record->sample.stack = stack;
    record->sample.stack_length = (uint32_t)(length < size ? length : size);
}

static void read_sample(struct cursor *cursor, struct tv_perf_record *record)
{
    record->event = next_u64(cursor);
    (void)next_u64(cursor); /* the address: the chain begins with it */
    record->pid = next_u32(cursor);
    record->tid = next_u32(cursor);
    record->time_ns = next_u64(cursor);
    record->cpu = next_u32(cursor);
    (void)next_u32(cursor);
    uint64_t depth = next_u64(cursor);
    cursor->whole = cursor->whole && depth <= cursor->left / sizeof(uint64_t);
    record->sample.depth = cursor->whole ? (uint32_t)depth : 0;
    record->sample.addresses = next_bytes(cursor, record->sample.depth * sizeof(uint64_t));
    if (cursor->whole && cursor->left > 0)
        read_copy(cursor, record);
}

static void read_mapping(struct cursor *cursor, struct tv_perf_record *record)
{
    struct tv_perf_mapping *mapping = &record->mapping;
    record->pid = next_u32(cursor);
    record->tid = next_u32(cursor);
    mapping->start = next_u64(cursor);
    mapping->length = next_u64(cursor);
    mapping->offset = next_u64(cursor);
    if ((record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) && cursor->left >= 24) {
        mapping->build_id_size = cursor->at[0];
        memcpy(mapping->build_id, cursor->at + 4, TV_PERF_BUILD_ID);
        if (mapping->build_id_size > TV_PERF_BUILD_ID)
            mapping->build_id_size = 0;
    }
    for (size_t i = 0; i < 3; i++)
        (void)next_u64(cursor);                        /* the build id, or device and inode */
    mapping->executable = (next_u32(cursor) & 4) != 0; /* PROT_EXEC */
    (void)next_u32(cursor);
    mapping->path = next_text(cursor);
}

/* Read the body of a fork or an exit: the process, its parent, the thread, its parent. */
static void read_task(struct cursor *cursor, struct tv_perf_record *record)
{
    record->pid = next_u32(cursor);
    record->fork.parent_pid = next_u32(cursor);
    record->tid = next_u32(cursor);
    record->fork.parent_tid = next_u32(cursor);
}

static void read_name(struct cursor *cursor, struct tv_perf_record *record)
{
    record->pid = next_u32(cursor);
    record->tid = next_u32(cursor);
    record->name = next_text(cursor);
}

static void read_lost(struct cursor *cursor, struct tv_perf_record *record)
{
    if (record->type == PERF_RECORD_LOST)
        (void)next_u64(cursor); /* the event */
    record->lost = next_u64(cursor);
}

static bool read_trailer(const uint8_t *bytes, size_t length, struct tv_perf_record *record)
{
    struct cursor cursor = {bytes + length - TRAILER, TRAILER, true};
    record->pid = next_u32(&cursor);
    record->tid = next_u32(&cursor);
    record->time_ns = next_u64(&cursor);
    record->cpu = next_u32(&cursor);
    (void)next_u32(&cursor);
    record->event = next_u64(&cursor);
    return cursor.whole;
}

static bool read_body(struct cursor *cursor, struct tv_perf_record *record)
{
    switch (record->type) {
    case PERF_RECORD_SAMPLE:
        read_sample(cursor, record);
        break;
    case PERF_RECORD_MMAP2:
        read_mapping(cursor, record);
        break;
    case PERF_RECORD_COMM:
        read_name(cursor, record);
        break;
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
        read_task(cursor, record);
        break;
    case PERF_RECORD_LOST:
    case PERF_RECORD_LOST_SAMPLES:
        read_lost(cursor, record);
        break;
    case PERF_RECORD_SWITCH:
        break;
    default:
        return false;
    }
    return cursor->whole;
}

bool tv_perf_record_read(const uint8_t *bytes, size_t length, struct tv_perf_record *record)
{
    struct perf_event_header header;
    if (length < sizeof header)
        return false;
    memcpy(&header, bytes, sizeof header);
    *record = (struct tv_perf_record){.type = header.type, .misc = header.misc};
    if (header.size != length)
        return false;
    struct cursor cursor = {bytes + sizeof header, length - sizeof header, true};
    if (header.type != PERF_RECORD_SAMPLE) {
        if (cursor.left < TRAILER || !read_trailer(bytes, length, record))
            return false;
        cursor.left -= TRAILER;
    }
    return read_body(&cursor, record);
}

uint64_t tv_perf_record_address(const struct tv_perf_record *record, uint32_t place)
{
    uint64_t address;
    memcpy(&address, record->sample.addresses + (size_t)place * sizeof address, sizeof address);
    return address;
}
