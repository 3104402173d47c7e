/* SPDX-License-Identifier: Apache-2.0 */
/* native_names.c - replaces the addresses in a .trace by function names and lines.
 *
 * Only the lines of methods change. They are in the text header or, in a streamed file, in method
 * packets between the records. A new file is written beside the old one and takes its name.
 *
 *     id  class  0x11ab  signature  libx.so     -->     id  class  draw  (int)  draw.cc  42 */
#include "cli/record/native_names.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "cli/output/atomic_file.h"
#include "wire/method_trace.h"

/* ---- ELF files ---- */

static bool native_file_is_path(const char *path, struct tv_bytes wanted)
{
    return strlen(path) == wanted.length && memcmp(path, wanted.data, wanted.length) == 0;
}

/* Return the ELF file at the path; NULL when it cannot be read, or there are too many. */
static struct tv_elf *native_file_find(struct tv_native_files *files, struct tv_bytes path)
{
    struct tv_error unread = {0};
    for (size_t i = 0; i < files->count; i++)
        if (native_file_is_path(files->paths[i], path))
            return files->elfs[i];
    if (files->count == TV_NATIVE_FILES || path.length == 0)
        return NULL;
    char *name = tv_alloc(path.length + 1, 1);
    memcpy(name, path.data, path.length);
    struct tv_elf *elf = NULL;
    if (tv_elf_read(name, TV_ELF_UNMOVED, &elf, &unread) != TV_OK)
        elf = NULL;
    files->paths[files->count] = name;
    files->elfs[files->count] = elf;
    files->count++;
    return elf;
}

bool tv_native_files_place(struct tv_native_files *files, struct tv_bytes path, uint64_t address,
                           struct tv_native_place *place)
{
    struct tv_elf_place found = {.line = 0};
    struct tv_demangled written = {.name = {NULL, 0}};
    struct tv_elf *elf = native_file_find(files, path);
    if (!elf || !tv_elf_find(elf, address, &found) || found.function.length == 0)
        return false;
    if (!tv_demangler_read(&files->demangler, found.function, &written))
        written.name = found.function;
    *place = (struct tv_native_place){written.name, written.parameters, found.file, found.line};
    return true;
}

void tv_native_files_release(struct tv_native_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        tv_elf_free(files->elfs[i]);
        tv_free(files->paths[i]);
    }
    files->count = 0;
    tv_demangler_release(&files->demangler);
}

/* ---- Lines of methods ---- */

/* id, class, name, signature, file */
#define FIELDS 5u
enum { NAME = 2, SIGNATURE, SOURCE };

/* Split a method line; false when it has another form, or its name is not an address. */
static bool native_line_split(struct tv_bytes line, struct tv_bytes *fields)
{
    struct tv_bytes rest = {line.data, line.length - 1};
    bool more = true;
    for (size_t i = 0; i < FIELDS; i++) {
        if (!more)
            return false;
        more = tv_bytes_split(&rest, '\t', &fields[i]);
    }
    return !more && fields[NAME].length > 2 && memcmp(fields[NAME].data, "0x", 2) == 0;
}

/* Write a text without control characters, which would separate fields and lines. */
static void native_line_put_clean(FILE *out, struct tv_bytes text)
{
    for (size_t i = 0; i < text.length; i++)
        fputc(text.data[i] < ' ' ? ' ' : text.data[i], out);
}

/* Write a method line, which ends with a line end.  When its name is an address, write the function
 * at that address instead. */
static void native_line_put(FILE *out, struct tv_bytes line, struct tv_native_files *files)
{
    struct tv_bytes fields[FIELDS];
    struct tv_native_place place;
    /* strtoull stops at the tab after the field. */
    if (line.length == 0 || line.data[line.length - 1] != '\n' ||
        !native_line_split(line, fields) ||
        !tv_native_files_place(files, fields[SOURCE],
                               strtoull((const char *)fields[NAME].data, NULL, 16), &place)) {
        fwrite(line.data, 1, line.length, out);
        return;
    }
    fields[NAME] = place.function;
    fields[SIGNATURE] = place.parameters;
    fields[SOURCE] = place.file.length > 0 ? place.file : fields[SOURCE];
    for (size_t i = 0; i < FIELDS; i++) {
        native_line_put_clean(out, fields[i]);
        if (i + 1 < FIELDS)
            fputc('\t', out);
    }
    if (place.line > 0)
        fprintf(out, "\t%d", place.line);
    fputc('\n', out);
}

/* ---- Streamed files ---- */

/* Offset of a packet's kind, after its u2 of 0. */
#define OP_AT 2u

/* Larger than the largest packet, whose text has 65,535 bytes. */
#define WINDOW_SIZE (1u << 18)

/* A window that moves over the file. Everything before `passed` has been written or replaced; the
 * bytes from there to `at` are copied unchanged when the window moves on. */
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

/* Make `size` bytes available at `at`; false when the file ends before them. */
static bool native_stream_have(struct stream_copy *copy, size_t size)
{
    assert(copy->passed <= copy->at && copy->at <= copy->length);
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
static void native_stream_replace_method(struct stream_copy *copy, size_t size, const char *text,
                                         size_t length)
{
    assert(copy->at + size <= copy->length);
    uint8_t head[TV_MT_STREAM_METHOD_HEAD];
    native_stream_write_passed(copy);
    tv_le_put_u16(head, TV_MT_STREAM_ESCAPE);
    head[OP_AT] = TV_MT_STREAM_METHOD;
    tv_le_put_u16(head + 3, (uint16_t)length);
    fwrite(head, 1, sizeof head, copy->out);
    fwrite(text, 1, length, copy->out);
    copy->passed = copy->at = copy->at + size;
}

/* Name the method of a packet. A text that would be too long for its packet stays as it is. */
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
        native_line_put(line, (struct tv_bytes){text, length}, &copy->files);
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
           native_stream_pass(copy, TV_MT_STREAM_THREAD_HEAD +
                                        (size_t)tv_le_get_u16(copy->window + copy->at +
                                                              TV_MT_STREAM_THREAD_HEAD - 2));
}

/* Pass one record or packet; false when the rest is to be copied unchanged. */
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

/* Read the header of a streaming file.  False: it is another file. */
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

/* Copy a streamed .trace (0xF2, 0xF3) and replace addresses in its method packets by names.  A file
 * that was cut off is copied as far as it goes.  False: the file is not a streamed trace; I/O
 * errors stay in the streams. */
static bool native_stream_put(FILE *in, FILE *out)
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
    /* Copy the rest: a cut packet, a summary or unknown data. */
    do {
        copy.at = copy.length;
    } while (native_stream_have(&copy, 1));
    tv_free(copy.window);
    tv_native_files_release(&copy.files);
    return true;
}

/* ---- Whole files ---- */

#define HEADER_LIMIT ((size_t)256 << 20)
#define PIECE ((size_t)1 << 20)

static struct tv_bytes bytes_between(const char *from, const char *to)
{
    return (struct tv_bytes){(const uint8_t *)from, (size_t)(to - from)};
}

static void native_names_put(FILE *out, struct tv_bytes text)
{
    fwrite(text.data, 1, text.length, out);
}

/* Read everything up to the end of the header; NULL when there is none. *kept: number of bytes
 * read. */
static char *native_names_read_header(FILE *in, size_t *kept, size_t *header)
{
    static const char end[] = "\n" TV_MT_SECTION_END "\n";
    char *text = NULL;
    size_t used = 0, got;
    do {
        text = tv_realloc(text, used + PIECE + 1, 1);
        got = fread(text + used, 1, PIECE, in);
        if (used == 0 && (got == 0 || text[0] != '*'))
            break;
        size_t from = used < sizeof end ? 0 : used - sizeof end;
        used += got;
        text[used] = '\0';
        const char *found = strstr(text + from, end);
        if (found) {
            *kept = used;
            *header = (size_t)(found - text) + sizeof end - 1;
            return text;
        }
    } while (got == PIECE && used < HEADER_LIMIT);
    tv_free(text);
    return NULL;
}

/* Write the header of `length` bytes, which ends with its "*end" line, with names in place of the
 * addresses in its list of methods. */
static void native_names_put_header(FILE *out, const char *text, size_t length)
{
    static const char section[] = "\n" TV_MT_SECTION_METHODS "\n";
    struct tv_native_files files = {.count = 0};
    const char *methods = strstr(text, section), *end = text + length;
    const char *line = methods ? methods + sizeof section - 1 : text;
    native_names_put(out, bytes_between(text, line));
    while (line < end) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        assert(stop); /* the header ends with a line */
        native_line_put(out, bytes_between(line, stop + 1), &files);
        line = stop + 1;
    }
    tv_native_files_release(&files);
}

static void native_names_copy_rest(FILE *in, FILE *out)
{
    char *bytes = tv_alloc(PIECE, 1);
    size_t got;
    while ((got = fread(bytes, 1, PIECE, in)) > 0)
        fwrite(bytes, 1, got, out);
    tv_free(bytes);
}

/* Write a file with a text header and names; false when it has no such header. */
static bool native_names_put_text_file(FILE *in, FILE *out)
{
    size_t kept, header;
    char *text = native_names_read_header(in, &kept, &header);
    if (!text)
        return false;
    native_names_put_header(out, text, header);
    native_names_put(out, bytes_between(text + header, text + kept));
    native_names_copy_rest(in, out);
    tv_free(text);
    return true;
}

/* Write the file with names into a stream; false with errno when it is not complete. *named: it
 * differs from the one read. */
static bool native_names_write(FILE *in, FILE *out, bool *named)
{
    *named = native_names_put_text_file(in, out) ||
             (fseeko(in, 0, SEEK_SET) == 0 && native_stream_put(in, out));
    return !ferror(in) && !ferror(out) && fflush(out) == 0;
}

/* Write the file anew with names in place of addresses.  It takes the place of the old one only if
 * it has any. */
static enum tv_status native_names_rewrite(FILE *in, const char *path, struct tv_error *err)
{
    struct tv_atomic_file file;
    enum tv_status status = tv_atomic_file_open_to_replace(&file, path, err);
    if (status != TV_OK)
        return status;
    bool named = false;
    FILE *out = tv_atomic_file_stream(&file);
    bool done = out && native_names_write(in, out, &named);
    done = out && fclose(out) == 0 && done;
    if (!done)
        status = tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", path, strerror(errno));
    if (done && named)
        return tv_atomic_file_commit(&file, err);
    tv_atomic_file_discard(&file);
    return status;
}

enum tv_status tv_native_names_resolve(const char *path, struct tv_error *err)
{
    FILE *in = fopen(path, "rb");
    if (!in)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", path, strerror(errno));
    enum tv_status status = native_names_rewrite(in, path, err);
    fclose(in);
    return status;
}
