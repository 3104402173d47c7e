/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink.c - bytes to a file in large pieces.
 */
#include "recorder/sink.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "recorder/kept.h"
#include "recorder/pages.h"

struct tv_output_buffer *tv_output_buffer_new(struct tv_output_file *to)
{
    struct tv_output_buffer *sink = tv_mmap_alloc(sizeof *sink);
    if (sink)
        sink->to = to;
    return sink;
}

void tv_output_buffer_free(struct tv_output_buffer *sink)
{
    tv_mmap_free(sink, sizeof *sink);
}

int tv_output_buffer_flush(struct tv_output_buffer *sink)
{
    if (sink->to && sink->error == 0)
        sink->error = tv_output_file_append(sink->to, sink->bytes, sink->used);
    sink->flushed += sink->used;
    sink->used = 0;
    return sink->error;
}

uint8_t *tv_output_buffer_reserve(struct tv_output_buffer *sink, size_t size)
{
    if (TV_OUTPUT_BUFFER_SIZE - sink->used < size)
        tv_output_buffer_flush(sink);
    return sink->bytes + sink->used;
}

void tv_output_buffer_put(struct tv_output_buffer *sink, const void *bytes, size_t size)
{
    const uint8_t *from = bytes;
    while (size > 0) {
        size_t piece = size < TV_OUTPUT_BUFFER_SIZE ? size : TV_OUTPUT_BUFFER_SIZE;
        memcpy(tv_output_buffer_reserve(sink, piece), from, piece);
        sink->used += piece;
        from += piece;
        size -= piece;
    }
}

void tv_output_buffer_print(struct tv_output_buffer *sink, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length > 0)
        tv_output_buffer_put(sink, text,
                           (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}
