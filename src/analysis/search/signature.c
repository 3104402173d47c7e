/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signature.c - JVM descriptors as people read them (signature.h).
 *
 *     (Landroid/os/Bundle;[I)V     (Bundle, int[]) void
 *      '-- class, up to ';'  '-- dimensions, then a primitive type
 *
 * A text that breaks the grammar at any place is no descriptor, and is written as it is: names of
 * native functions and of other languages come here too.
 */
#include "analysis/search/signature.h"

#include <string.h>

#include "base/bytes.h"

/* Return the name of a primitive type, or NULL. */
static const char *signature_primitive(uint8_t letter)
{
    switch (letter) {
    case 'B':
        return "byte";
    case 'C':
        return "char";
    case 'D':
        return "double";
    case 'F':
        return "float";
    case 'I':
        return "int";
    case 'J':
        return "long";
    case 'S':
        return "short";
    case 'V':
        return "void";
    case 'Z':
        return "boolean";
    default:
        return NULL;
    }
}

/* Return the class of "Landroid/os/Bundle;" without its package: "Bundle". */
static struct tv_bytes signature_short_class(struct tv_bytes name)
{
    size_t from = name.length;
    while (from > 0 && name.data[from - 1] != '/' && name.data[from - 1] != '.')
        from--;
    return (struct tv_bytes){name.data + from, name.length - from};
}

/* Write the type at the front of `text` and remove it; false if there is none. */
static bool signature_write_type(struct tv_out *out, struct tv_bytes *text)
{
    size_t arrays = 0, length = 1;
    while (arrays < text->length && text->data[arrays] == '[')
        arrays++;
    if (arrays == text->length)
        return false;
    const uint8_t *first = text->data + arrays;
    const char *primitive = signature_primitive(*first);
    if (primitive) {
        tv_out_text(out, primitive);
    } else {
        const uint8_t *end = memchr(first, ';', text->length - arrays);
        if (*first != 'L' || !end)
            return false;
        length = (size_t)(end - first) + 1;
        tv_out_bytes(out, signature_short_class((struct tv_bytes){first + 1, length - 2}));
    }
    for (size_t i = 0; i < arrays; i++)
        tv_out_text(out, "[]");
    *text = (struct tv_bytes){first + length, text->length - arrays - length};
    return true;
}

/* Write a descriptor; false if the text is none, after a part of it may have been written. */
static bool signature_write_descriptor(struct tv_out *out, struct tv_bytes text)
{
    const uint8_t *close = text.length > 0 ? memchr(text.data, ')', text.length) : NULL;
    if (!close || text.data[0] != '(')
        return false;
    struct tv_bytes parameters = {text.data + 1, (size_t)(close - text.data) - 1};
    struct tv_bytes result = {close + 1, text.length - parameters.length - 2};
    tv_out_char(out, '(');
    for (bool first = true; parameters.length > 0; first = false) {
        tv_out_text(out, first ? "" : ", ");
        if (!signature_write_type(out, &parameters))
            return false;
    }
    tv_out_text(out, ") ");
    return signature_write_type(out, &result) && result.length == 0;
}

void tv_signature_write_readable(struct tv_out *out, struct tv_bytes text)
{
    struct tv_out readable;
    tv_out_init_memory(&readable);
    bool written = signature_write_descriptor(&readable, text);
    tv_out_bytes(out, written ? (struct tv_bytes){readable.buffer, readable.length} : text);
    tv_out_release(&readable);
}
