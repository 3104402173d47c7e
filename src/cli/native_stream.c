/* SPDX-License-Identifier: Apache-2.0 */
/* native_stream.c - see native_stream.h. */
#include "cli/native_stream.h"

#include <string.h>

#include "base/memory.h"
#include "cli/native_lines.h"
#include "wire/method_trace.h"

/* Behind a packet's u2 of 0: its kind. */
#define OP_AT 2u

/* More than the largest packet, which has a text of 65,535 bytes. */
#define WINDOW_SIZE (1u << 18)

/* A window moves over the file.  What lies before `passed` has been written or replaced; what lies
 * from there to `at` is written as it is when the window moves on. */
struct stream_copy {
    FILE *in, *out;
    size_t record_size;
    struct tv_native_files files;
    uint8_t *window;
    size_t passed, at, length;
};

static void native_stream_write_passed(struct stream_copy *copy)
{
    fwrite(copy->window + copy->passed, 1, copy->at - copy->passed, copy->out);
    copy->passed = copy->at;
}

/* Have `size` bytes behind `at`; false: the file ends before them. */
static bool native_stream_have(struct stream_copy *copy, size_t size)
{
    size_t left = copy->length - copy->at;
    if (left >= size)
        return true;
    native_stream_write_passed(copy);
    memmove(copy->window, copy->window + copy->at, left);
    copy->passed = copy->at = 0;
    copy->length = left + fread(copy->window + left, 1, WINDOW_SIZE - left, copy->in);
    return copy->length >= size;
}

static bool native_stream_pass(struct stream_copy *copy, size_t size)
{
    if (!native_stream_have(copy, size))
        return false;
    copy->at += size;
    return true;
}

/* Write the packet at the window's position with another text. */
static void native_stream_replace_method(struct stream_copy *copy, size_t size, const char *text, size_t length)
{
    uint8_t head[TV_MT_STREAM_METHOD_HEAD];
    native_stream_write_passed(copy);
    tv_le_put_u16(head, TV_MT_STREAM_ESCAPE);
    head[OP_AT] = TV_MT_STREAM_METHOD;
    tv_le_put_u16(head + 3, (uint16_t)length);
    fwrite(head, 1, sizeof head, copy->out);
    fwrite(text, 1, length, copy->out);
    copy->passed = copy->at = copy->at + size;
}

/* A text that would be too long for its packet stays as it is. */
static bool native_stream_name_method(struct stream_copy *copy)
{
    if (!native_stream_have(copy, TV_MT_STREAM_METHOD_HEAD))
        return false;
    size_t length = tv_le_get_u16(copy->window + copy->at + 3);
    size_t size = TV_MT_STREAM_METHOD_HEAD + length, named_length = 0;
    if (!native_stream_have(copy, size))
        return false;
    char *named = NULL;
    FILE *line = open_memstream(&named, &named_length);
    if (line) {
        const uint8_t *text = copy->window + copy->at + TV_MT_STREAM_METHOD_HEAD;
        tv_native_line_put(line, (struct tv_bytes){text, length}, &copy->files);
        if (fclose(line) != 0)
            named_length = 0;
    }
    if (named_length > 0 && named_length <= UINT16_MAX)
        native_stream_replace_method(copy, size, named, named_length);
    else
        copy->at += size;
    tv_free(named);
    return true;
}

static bool native_stream_pass_thread(struct stream_copy *copy)
{
    return native_stream_have(copy, TV_MT_STREAM_THREAD_HEAD) &&
           native_stream_pass(copy,
                TV_MT_STREAM_THREAD_HEAD +
                    (size_t)tv_le_get_u16(copy->window + copy->at + TV_MT_STREAM_THREAD_HEAD - 2));
}

/* A record, or a packet; false: the file's end, or what comes is copied as it is. */
static bool native_stream_pass_next(struct stream_copy *copy)
{
    if (!native_stream_have(copy, 3))
        return false;
    const uint8_t *bytes = copy->window + copy->at;
    if (tv_le_get_u16(bytes) != TV_MT_STREAM_ESCAPE)
        return native_stream_pass(copy, copy->record_size);
    if (bytes[OP_AT] == TV_MT_STREAM_METHOD)
        return native_stream_name_method(copy);
    return bytes[OP_AT] == TV_MT_STREAM_THREAD && native_stream_pass_thread(copy);
}

static bool native_stream_read_head(struct stream_copy *copy, uint8_t *bytes, size_t *length)
{
    *length = fread(bytes, 1, TV_MT_HEADER_SIZE, copy->in);
    if (*length < TV_MT_HEADER_SIZE || tv_le_get_u32(bytes) != TV_MT_MAGIC)
        return false;
    struct tv_mt_header header = tv_mt_get_header(bytes);
    copy->record_size = tv_mt_record_size(tv_mt_plain_version(header.version));
    return tv_mt_is_streaming(header.version) && copy->record_size >= TV_MT_RECORD_SIZE_V2 &&
           header.data_offset == TV_MT_HEADER_SIZE &&
           (header.record_size == 0 || header.record_size == copy->record_size);
}

bool tv_native_stream_put(FILE *in, FILE *out)
{
    struct stream_copy copy = {.in = in, .out = out};
    uint8_t head[TV_MT_HEADER_SIZE];
    size_t length;
    if (!native_stream_read_head(&copy, head, &length))
        return false;
    fwrite(head, 1, length, out);
    copy.window = tv_alloc(WINDOW_SIZE, 1);
    while (native_stream_pass_next(&copy))
        continue;
    /* The end of a file that was cut off, a summary, or what nobody knows. */
    do {
        copy.at = copy.length;
    } while (native_stream_have(&copy, 1));
    tv_free(copy.window);
    tv_native_files_release(&copy.files);
    return true;
}
