/* SPDX-License-Identifier: Apache-2.0 */
/* native_stream.c - see native_stream.h. */
#include "cli/native_stream.h"

#include "base/memory.h"
#include "cli/native_lines.h"
#include "wire/method_trace.h"

#define TEXT_MOST 65535u

/* Behind a packet's u2 of 0: its kind. */
#define OP_AT 2u

struct copy {
    FILE *in, *out;
    size_t record_size;
    struct tv_native_files files;
    uint8_t *text; /* TEXT_MOST bytes */
};

/* Takes as many bytes as there are up to `size`; false: not all, and what there was is written. */
static bool take(struct copy *copy, uint8_t *bytes, size_t size)
{
    size_t got = fread(bytes, 1, size, copy->in);
    if (got < size)
        fwrite(bytes, 1, got, copy->out);
    return got == size;
}

static bool pass(struct copy *copy, uint8_t *bytes, size_t size)
{
    size_t got = fread(bytes, 1, size, copy->in);
    fwrite(bytes, 1, got, copy->out);
    return got == size;
}

static void put_method(struct copy *copy, size_t size, const void *text, size_t length)
{
    uint8_t head[TV_MT_STREAM_METHOD_HEAD];
    tv_le_put_u16(head, TV_MT_STREAM_ESCAPE);
    head[OP_AT] = TV_MT_STREAM_METHOD;
    tv_le_put_u16(head + 3, (uint16_t)size);
    fwrite(head, 1, sizeof head, copy->out);
    fwrite(text, 1, length, copy->out);
}

/* Behind the head's first three bytes. */
static bool name_method(struct copy *copy)
{
    uint8_t size[2];
    char *named = NULL;
    size_t named_length = 0;
    if (fread(size, 1, sizeof size, copy->in) < sizeof size)
        return false;
    size_t length = tv_le_get_u16(size), got = fread(copy->text, 1, length, copy->in);
    FILE *line = got == length ? open_memstream(&named, &named_length) : NULL;
    if (line) {
        tv_native_line_put(line, (struct tv_bytes){copy->text, length}, &copy->files);
        if (fclose(line) != 0 || named_length > TEXT_MOST)
            named_length = 0;
    }
    if (named_length > 0)
        put_method(copy, named_length, named, named_length);
    else
        put_method(copy, length, copy->text, got);
    tv_free(named);
    return got == length;
}

static bool pass_thread(struct copy *copy)
{
    uint8_t head[TV_MT_STREAM_THREAD_HEAD - 3];
    return pass(copy, head, sizeof head) && pass(copy, copy->text, tv_le_get_u16(head + 2));
}

/* A record, or a packet; false: the file's end, or what comes is copied as it is. */
static bool pass_next(struct copy *copy)
{
    uint8_t *bytes = copy->text;
    if (!take(copy, bytes, 3))
        return false;
    if (tv_le_get_u16(bytes) == TV_MT_STREAM_ESCAPE && bytes[OP_AT] == TV_MT_STREAM_METHOD)
        return name_method(copy);
    fwrite(bytes, 1, 3, copy->out);
    if (tv_le_get_u16(bytes) != TV_MT_STREAM_ESCAPE)
        return pass(copy, bytes, copy->record_size - 3);
    return bytes[OP_AT] == TV_MT_STREAM_THREAD && pass_thread(copy);
}

static bool read_head(struct copy *copy, uint8_t *bytes, size_t *length)
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
    struct copy copy = {.in = in, .out = out};
    uint8_t head[TV_MT_HEADER_SIZE];
    size_t length;
    if (!read_head(&copy, head, &length))
        return false;
    fwrite(head, 1, length, out);
    copy.text = tv_alloc(TEXT_MOST, 1);
    while (pass_next(&copy))
        continue;
    /* A summary, or what nobody knows. */
    while ((length = fread(copy.text, 1, TEXT_MOST, in)) > 0)
        fwrite(copy.text, 1, length, out);
    tv_free(copy.text);
    tv_native_files_release(&copy.files);
    return true;
}
