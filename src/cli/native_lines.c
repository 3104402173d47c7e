/* SPDX-License-Identifier: Apache-2.0 */
/* native_lines.c - see native_lines.h. */
#include "cli/native_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

/* id, class, name, signature, file */
#define FIELDS 5u
enum { NAME = 2, SIGNATURE, SOURCE };

/* False: it has another form. */
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

/* What parts fields and lines is no part of a name. */
static void native_line_put_clean(FILE *out, struct tv_bytes text)
{
    for (size_t i = 0; i < text.length; i++)
        fputc(text.data[i] < ' ' ? ' ' : text.data[i], out);
}

void tv_native_line_put(FILE *out, struct tv_bytes line, struct tv_native_files *files)
{
    struct tv_bytes fields[FIELDS];
    struct tv_native_place place;
    /* The field ends with a tab, where the number ends too. */
    if (line.length == 0 || line.data[line.length - 1] != '\n' || !native_line_split(line, fields) ||
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
