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

struct tv_sink_buffer *tv_sink_buffer_new(struct tv_kept *to)
{
    struct tv_sink_buffer *sink = tv_recorder_pages_new(sizeof *sink);
    if (sink)
        sink->to = to;
    return sink;
}

void tv_sink_buffer_free(struct tv_sink_buffer *sink)
{
    tv_recorder_pages_free(sink, sizeof *sink);
}

int tv_sink_buffer_flush(struct tv_sink_buffer *sink)
{
    if (sink->to && sink->error == 0)
        sink->error = tv_kept_append(sink->to, sink->bytes, sink->used);
    sink->flushed += sink->used;
    sink->used = 0;
    return sink->error;
}

uint8_t *tv_sink_buffer_room(struct tv_sink_buffer *sink, size_t size)
{
    if (TV_SINK_SIZE - sink->used < size)
        tv_sink_buffer_flush(sink);
    return sink->bytes + sink->used;
}

void tv_sink_buffer_put(struct tv_sink_buffer *sink, const void *bytes, size_t size)
{
    const uint8_t *from = bytes;
    while (size > 0) {
        size_t piece = size < TV_SINK_SIZE ? size : TV_SINK_SIZE;
        memcpy(tv_sink_buffer_room(sink, piece), from, piece);
        sink->used += piece;
        from += piece;
        size -= piece;
    }
}

void tv_sink_buffer_print(struct tv_sink_buffer *sink, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length > 0)
        tv_sink_buffer_put(sink, text,
                           (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}
