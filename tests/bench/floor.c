/* SPDX-License-Identifier: Apache-2.0 */
/*
 * floor.c - reads the header of a version 3 trace, and its records block by block.
 */
#include "floor.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_HEADER (16u << 20)
#define HEADER_STEP (256u << 10)

void floor_fail(const char *what)
{
    fprintf(stderr, "floor: %s\n", what);
    exit(1);
}

void *floor_new(size_t count, size_t size)
{
    void *block = calloc(count, size);

    if (!block)
        floor_fail("out of memory");
    return block;
}

static void add_method(struct floor_trace *trace, uint32_t key, struct floor_method method)
{
    uint32_t slot = floor_hash(key);

    if (trace->method_count == FLOOR_METHODS)
        floor_fail("too many methods");
    while (trace->indices[slot])
        slot = (slot + 1) % FLOOR_SLOTS;
    trace->keys[slot] = key;
    trace->methods[trace->method_count] = method;
    trace->indices[slot] = ++trace->method_count;
}

/* 0x1234, tab, class, tab, name, tab, ... */
static void read_method_line(struct floor_trace *trace, const char *line)
{
    char *text;
    uint32_t id = (uint32_t)strtoul(line, &text, 16);
    const char *end = strchr(++text, '\t');

    if (!end || !(end = strchr(end + 1, '\t')))
        floor_fail("a method line without its fields");
    add_method(trace, id >> 2, (struct floor_method){text, (uint32_t)(end - text)});
}

static void read_methods(struct floor_trace *trace, const char *end)
{
    const char *line = strstr(trace->header, "\n" TV_MT_SECTION_METHODS "\n");

    if (!line)
        floor_fail("no methods");
    line = strchr(line + 1, '\n') + 1;
    while (line < end) {
        read_method_line(trace, line);
        line = strchr(line, '\n') + 1;
    }
}

/* Reads until the header's end is there; returns the byte after it, the data header's first. */
static const char *read_header(struct floor_trace *trace)
{
    static const char mark[] = "\n" TV_MT_SECTION_END "\n";
    size_t length = 0;
    const char *end = NULL;

    trace->header = floor_new(MAX_HEADER + 1, 1);
    while (!end) {
        ssize_t read = pread(trace->fd, trace->header + length, HEADER_STEP, (off_t)length);

        if (read <= 0 || length + HEADER_STEP >= MAX_HEADER)
            floor_fail("no text header");
        length += (size_t)read;
        end = strstr(trace->header, mark);
    }
    return end + sizeof mark - 1;
}

void floor_open(struct floor_trace *trace, const char *path)
{
    uint8_t bytes[TV_MT_HEADER_SIZE];
    struct tv_mt_header header;
    const char *end;

    trace->fd = open(path, O_RDONLY);
    end = read_header(trace);
    trace->at = (uint64_t)(end - trace->header);
    if (pread(trace->fd, bytes, sizeof bytes, (off_t)trace->at) != sizeof bytes)
        floor_fail("no data header");
    header = tv_mt_get_header(bytes);
    if (header.version != TV_MT_V3 || header.record_size != TV_MT_RECORD_SIZE_V3)
        floor_fail("not of version 3 with 14-byte records");
    read_methods(trace, end - strlen(TV_MT_SECTION_END "\n"));
    trace->at += header.data_offset;
}

size_t floor_read(struct floor_trace *trace, uint8_t *block)
{
    ssize_t length = pread(trace->fd, block, FLOOR_BLOCK, (off_t)trace->at);

    if (length < (ssize_t)TV_MT_RECORD_SIZE_V3)
        return 0;
    length -= length % (ssize_t)TV_MT_RECORD_SIZE_V3;
    trace->at += (uint64_t)length;
    return (size_t)length;
}
