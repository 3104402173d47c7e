/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_names.c - names and lines for the addresses of a recorded native program.
 *
 * Only the lines of methods change, which are in the text header or, of a streamed file, among the
 * records: a new file is written beside the old one and takes its name.
 */
#include "cli/native_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "cli/atomic_file.h"
#include "cli/native_files.h"
#include "cli/native_lines.h"
#include "cli/native_stream.h"
#include "wire/method_trace.h"

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

/* Everything up to the end of the header; NULL: there is none. *kept: bytes that were read. */
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

static void native_names_put_header(FILE *out, const char *text, size_t length)
{
    static const char section[] = "\n" TV_MT_SECTION_METHODS "\n";
    struct tv_native_files files = {.count = 0};
    const char *methods = strstr(text, section), *end = text + length;
    const char *line = methods ? methods + sizeof section - 1 : text;
    native_names_put(out, bytes_between(text, line));
    while (line < end) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        tv_native_line_put(out, bytes_between(line, stop + 1), &files);
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

/* False: it has no text header. */
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

/* Put all names into a stream; false with errno: it is not whole.  *named: it is another trace than
 * the one read. */
static bool native_names_write(FILE *in, FILE *out, bool *named)
{
    *named = native_names_put_text_file(in, out) || (fseeko(in, 0, SEEK_SET) == 0 && tv_native_stream_put(in, out));
    return !ferror(in) && !ferror(out) && fflush(out) == 0;
}

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
