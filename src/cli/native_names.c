/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_names.c - names and lines for the addresses of a recorded native program.
 *
 * Only the text header changes: a new file is written beside the old one and takes its name.
 */
#include "cli/native_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "cli/native_files.h"
#include "wire/method_trace.h"

#define HEADER_LIMIT ((size_t)256 << 20)
#define PIECE ((size_t)1 << 20)
#define FIELDS 5u

static struct tv_bytes piece(const char *from, const char *to)
{
    return (struct tv_bytes){(const uint8_t *)from, (size_t)(to - from)};
}

/* id, class, name, signature, file of a method's line; false: it has another form. */
static bool split(const char *line, const char *end, struct tv_bytes *fields)
{
    for (size_t i = 0; i < FIELDS; i++) {
        const char *tab = line <= end ? memchr(line, '\t', (size_t)(end - line)) : NULL;
        if (!tab && i + 1 < FIELDS)
            return false;
        fields[i] = piece(line, tab ? tab : end);
        line = tab ? tab + 1 : end;
    }
    return fields[2].length > 2 && memcmp(fields[2].data, "0x", 2) == 0;
}

static void put(FILE *out, struct tv_bytes text)
{
    fwrite(text.data, 1, text.length, out);
}

static void put_line(FILE *out, const char *line, const char *end, struct tv_native_files *files)
{
    struct tv_bytes fields[FIELDS];
    struct tv_elf_place place = {.line = 0};
    struct tv_elf *elf = split(line, end, fields) ? tv_native_files_find(files, fields[4]) : NULL;
    /* The field ends with a tab or the line's end, where the number ends too. */
    uint64_t address = elf ? strtoull((const char *)fields[2].data, NULL, 16) : 0;
    if (!elf || !tv_elf_find(elf, address, &place) || place.function.length == 0) {
        put(out, piece(line, end + 1));
        return;
    }
    for (size_t i = 0; i < FIELDS; i++) {
        bool has_line = i == 4 && place.file.length > 0;
        put(out, i == 2 ? place.function : has_line ? place.file : fields[i]);
        if (i + 1 < FIELDS)
            fputc('\t', out);
    }
    if (place.line > 0)
        fprintf(out, "\t%d", place.line);
    fputc('\n', out);
}

/* Everything up to the end of the header; NULL: there is none. *kept: bytes that were read. */
static char *read_header(FILE *in, size_t *kept, size_t *header)
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

static void put_header(FILE *out, const char *text, size_t length)
{
    static const char section[] = "\n" TV_MT_SECTION_METHODS "\n";
    struct tv_native_files files = {.count = 0};
    const char *methods = strstr(text, section), *end = text + length;
    const char *line = methods ? methods + sizeof section - 1 : text;
    put(out, piece(text, line));
    while (line < end) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        put_line(out, line, stop, &files);
        line = stop + 1;
    }
    tv_native_files_release(&files);
}

static void copy_rest(FILE *in, FILE *out)
{
    char *bytes = tv_alloc(PIECE, 1);
    size_t got;
    while ((got = fread(bytes, 1, PIECE, in)) > 0)
        fwrite(bytes, 1, got, out);
    tv_free(bytes);
}

static enum tv_status rewrite(FILE *in, const char *path, struct tv_error *err)
{
    char part[4096];
    size_t kept, header;
    char *text = read_header(in, &kept, &header);
    if (!text)
        return TV_OK;
    int length = snprintf(part, sizeof part, "%s.part", path);
    FILE *out = length > 0 && (size_t)length < sizeof part ? fopen(part, "wb") : NULL;
    bool done = false;
    if (out) {
        put_header(out, text, header);
        put(out, piece(text + header, text + kept));
        copy_rest(in, out);
        done = !ferror(in) && !ferror(out);
        done = fclose(out) == 0 && done && rename(part, path) == 0;
    }
    tv_free(text);
    if (done)
        return TV_OK;
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", path, strerror(errno));
}

enum tv_status tv_native_names_resolve(const char *path, struct tv_error *err)
{
    FILE *in = fopen(path, "rb");
    if (!in)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s: %s", path, strerror(errno));
    enum tv_status status = rewrite(in, path, err);
    fclose(in);
    return status;
}
