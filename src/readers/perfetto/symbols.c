/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbols.c - names of frames that were added to a file after it was recorded:
 *
 *     module_symbols {1 path, 2 build_id, 3 addresses {1 address, 2 lines {1 function, 2 file,
 *                     3 line}}}
 *     deobfuscation_mapping {1 package, 3 classes {1 obfuscated, 2 original, 4 methods {1, 2}}}
 *
 * These packets usually stand at the end of the file. The survey notes them before frames are read:
 *
 *     (build id, else path; address) --> lines, the innermost first: of several, the last is the
 *                                        function itself and the others are inlined into it
 *     (package; obfuscated name)     --> original names, sorted and joined by " | " where one
 *                                        stands for several that R8 merged
 *
 * A package's names are those of frames whose module has the package in its path.  In a file with
 * the names of one package they are those of all frames, because code that was compiled while the
 * program ran has no such path.
 */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "readers/perfetto/reading.h"

#define MAX_INLINED 64u
#define MAX_PACKAGES 64u
#define MAX_NAME 512u

#define SEPARATOR " | "

/* ---- Keys ---- */

/* Return the number of a key that is a number and bytes; TV_NONE: it is new and `add` is false. */
static uint32_t pf_symbol_key(struct tv_interner *keys, uint32_t owner, struct tv_bytes rest,
                              bool add)
{
    uint8_t bytes[sizeof owner + MAX_NAME];
    size_t length = rest.length < MAX_NAME ? rest.length : MAX_NAME;
    memcpy(bytes, &owner, sizeof owner);
    memcpy(bytes + sizeof owner, rest.data, length);
    struct tv_bytes key = {bytes, sizeof owner + length};
    return add ? tv_interner_add(keys, key) : tv_interner_find(keys, key);
}

/* Set the value of a key. */
static void pf_symbol_set(struct tv_pf_symbols *symbols, uint32_t key, uint32_t value)
{
    while (symbols->values.count <= key)
        *tv_table_add(&symbols->values) = (struct tv_pf_symbol_value){TV_NONE};
    symbols->values.rows[key].value = value;
}

/* Return the value of a key; TV_NONE: none. */
static uint32_t pf_symbol_get(const struct tv_pf_symbols *symbols, uint32_t key)
{
    return key < symbols->values.count ? symbols->values.rows[key].value : TV_NONE;
}

void tv_pf_symbols_init(struct tv_pf_symbols *symbols)
{
    *symbols = (struct tv_pf_symbols){.keys = tv_interner_new()};
}

void tv_pf_symbols_release(struct tv_pf_symbols *symbols)
{
    tv_interner_free(symbols->keys);
    tv_free(symbols->values.rows);
    tv_free(symbols->packages.rows);
}

/* ---- Addresses ---- */

/* Take ModuleSymbols {1 path, 2 build id, 3 address_symbols* {1 address, 2 lines*}}. Owner is the
 * build id, or the path of a module without one; the symbols stay as the message's bytes until a
 * frame asks for them. */
static void pf_add_module_symbols(struct tv_pf_reading *reading, struct tv_bytes bytes)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    struct tv_bytes module = tv_pf_find(bytes, 2).bytes;
    if (module.length == 0)
        module = tv_pf_find(bytes, 1).bytes;
    uint32_t owner = tv_interner_add(reading->blobs, module);
    while (tv_pf_next(&message, &field)) {
        uint64_t address = tv_pf_find(field.bytes, 1).value;
        if (field.number != 3)
            continue;
        uint32_t key =
            pf_symbol_key(reading->symbols.keys, owner,
                          (struct tv_bytes){(const uint8_t *)&address, sizeof address}, true);
        pf_symbol_set(&reading->symbols, key, tv_interner_add(reading->blobs, field.bytes));
        reading->symbols.has_addresses = true;
    }
}

uint32_t tv_pf_symbolize(struct tv_pf_reading *reading, struct tv_bytes build_id, uint64_t address,
                         const struct tv_pf_sample_frame *frame)
{
    struct tv_bytes module =
        build_id.length > 0 ? build_id : tv_interner_get(reading->chunk->texts, frame->module);
    uint32_t owner = tv_interner_find(reading->blobs, module);
    if (!reading->symbols.has_addresses || owner == TV_NONE)
        return TV_NONE;
    uint32_t key =
        pf_symbol_key(reading->symbols.keys, owner,
                      (struct tv_bytes){(const uint8_t *)&address, sizeof address}, false);
    uint32_t blob = pf_symbol_get(&reading->symbols, key), outer = TV_NONE, count = 0;
    if (blob == TV_NONE)
        return TV_NONE;
    struct tv_pf_message message = tv_pf_message_over(tv_interner_get(reading->blobs, blob));
    struct tv_protobuf_field field;
    struct tv_bytes lines[MAX_INLINED];
    while (count < MAX_INLINED && tv_pf_next(&message, &field))
        if (field.number == 2 && tv_pf_find(field.bytes, 1).bytes.length > 0)
            lines[count++] = field.bytes;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t line = tv_pf_find(lines[i], 3).value;
        struct tv_pf_sample_frame named = *frame;
        named.name = tv_pf_text(reading, tv_pf_find(lines[i], 1).bytes);
        named.file = tv_pf_text(reading, tv_pf_find(lines[i], 2).bytes);
        named.line = line <= INT32_MAX ? (int32_t)line : 0;
        named.kind = i + 1 < count ? TV_FRAME_INLINED : frame->kind;
        named.inlined = outer == TV_NONE ? 0 : outer + 1;
        outer = tv_pf_sample_frame(reading, &named);
    }
    return outer;
}

/* ---- Original names ---- */

/* Compare names byte by byte. */
static int pf_compare_names(struct tv_bytes a, struct tv_bytes b)
{
    int order = memcmp(a.data, b.data, a.length < b.length ? a.length : b.length);
    return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

/* Return where a name belongs among the sorted ones that are joined in a text. */
static size_t pf_joined_place(struct tv_bytes joined, struct tv_bytes name, bool *is_there)
{
    size_t gap = strlen(SEPARATOR), at = 0;
    *is_there = false;
    while (at < joined.length) {
        size_t end = at;
        while (end < joined.length &&
               (end + gap > joined.length || memcmp(joined.data + end, SEPARATOR, gap) != 0))
            end++;
        int order = pf_compare_names(name, (struct tv_bytes){joined.data + at, end - at});
        *is_there = order == 0;
        if (order <= 0)
            return at;
        at = end + gap;
    }
    return joined.length;
}

/* Add the original name of an obfuscated one of a package. */
static void pf_add_original(struct tv_pf_reading *reading, uint32_t package,
                            struct tv_bytes obfuscated, struct tv_bytes original)
{
    struct tv_pf_symbols *symbols = &reading->symbols;
    uint32_t key = pf_symbol_key(symbols->keys, package, obfuscated, true);
    uint32_t known = pf_symbol_get(symbols, key);
    char text[MAX_NAME];
    bool is_there;
    if (known == TV_NONE) {
        pf_symbol_set(symbols, key, tv_pf_text(reading, original));
        return;
    }
    struct tv_bytes joined = tv_interner_get(reading->chunk->texts, known);
    size_t place = pf_joined_place(joined, original, &is_there);
    if (is_there || joined.length + strlen(SEPARATOR) + original.length >= sizeof text)
        return;
    bool last = place == joined.length;
    int length = snprintf(text, sizeof text, "%.*s%s%.*s%s%.*s", (int)place,
                          (const char *)joined.data, last ? SEPARATOR : "", (int)original.length,
                          (const char *)original.data, last ? "" : SEPARATOR,
                          (int)(joined.length - place), (const char *)joined.data + place);
    pf_symbol_set(symbols, key,
                  tv_pf_text(reading, (struct tv_bytes){(uint8_t *)text, (size_t)length}));
}

/* Join a class and a member; empty: too long. */
static struct tv_bytes pf_join_member(char text[MAX_NAME], struct tv_bytes of,
                                      struct tv_bytes member)
{
    if (of.length + 1 + member.length >= MAX_NAME)
        return TV_BYTES("");
    memcpy(text, of.data, of.length);
    text[of.length] = '.';
    memcpy(text + of.length + 1, member.data, member.length);
    return (struct tv_bytes){(uint8_t *)text, of.length + 1 + member.length};
}

/* Note the original names of a class {1 obfuscated, 2 original, 4 methods} and of its methods. */
static void pf_add_class(struct tv_pf_reading *reading, uint32_t package, struct tv_bytes bytes)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    struct tv_bytes obfuscated = tv_pf_find(bytes, 1).bytes, original = tv_pf_find(bytes, 2).bytes;
    char from[MAX_NAME], to[MAX_NAME];
    if (obfuscated.length == 0 || original.length == 0)
        return;
    pf_add_original(reading, package, obfuscated, original);
    while (tv_pf_next(&message, &field)) {
        struct tv_bytes name = tv_pf_find(field.bytes, 2).bytes;
        if (field.number != 4 || name.length == 0)
            continue;
        struct tv_bytes short_name =
            pf_join_member(from, obfuscated, tv_pf_find(field.bytes, 1).bytes);
        /* A method that came from another class has that class before its name. */
        struct tv_bytes whole =
            memchr(name.data, '.', name.length) ? name : pf_join_member(to, original, name);
        if (short_name.length > 0 && whole.length > 0)
            pf_add_original(reading, package, short_name, whole);
    }
}

/* Take a DeobfuscationMapping {1 package, 3 classes}; packages beyond the limit are left out. */
static void pf_add_deobfuscation(struct tv_pf_reading *reading, struct tv_bytes bytes)
{
    struct tv_pf_message message = tv_pf_message_over(bytes);
    struct tv_protobuf_field field;
    uint32_t package = tv_interner_add(reading->blobs, tv_pf_find(bytes, 1).bytes);
    size_t place = 0;
    while (place < reading->symbols.packages.count &&
           reading->symbols.packages.rows[place].value != package)
        place++;
    if (place == MAX_PACKAGES)
        return;
    if (place == reading->symbols.packages.count)
        *tv_table_add(&reading->symbols.packages) = (struct tv_pf_symbol_value){package};
    while (tv_pf_next(&message, &field))
        if (field.number == 3)
            pf_add_class(reading, package, field.bytes);
}

void tv_pf_add_symbols(struct tv_pf_reading *reading, uint64_t payload, struct tv_bytes bytes)
{
    if (payload == TV_PF_MODULE_SYMBOLS)
        pf_add_module_symbols(reading, bytes);
    else if (payload == TV_PF_DEOBFUSCATION)
        pf_add_deobfuscation(reading, bytes);
}

/* Return the original name in a package: of a method, else of its class with the method's own
 * name; TV_NONE: neither is known. */
static uint32_t pf_original_in(struct tv_pf_reading *reading, uint32_t package, uint32_t name)
{
    struct tv_pf_symbols *symbols = &reading->symbols;
    struct tv_bytes text = tv_interner_get(reading->chunk->texts, name);
    uint32_t found = pf_symbol_get(symbols, pf_symbol_key(symbols->keys, package, text, false));
    size_t dot = text.length;
    char whole[MAX_NAME];
    while (dot > 0 && text.data[dot - 1] != '.')
        dot--;
    if (found != TV_NONE || dot < 2)
        return found;
    struct tv_bytes owner = {text.data, dot - 1};
    struct tv_bytes member = {text.data + dot, text.length - dot};
    found = pf_symbol_get(symbols, pf_symbol_key(symbols->keys, package, owner, false));
    if (found == TV_NONE)
        return TV_NONE;
    struct tv_bytes joined =
        pf_join_member(whole, tv_interner_get(reading->chunk->texts, found), member);
    return joined.length > 0 ? tv_pf_text(reading, joined) : TV_NONE;
}

uint32_t tv_pf_original_name(struct tv_pf_reading *reading, uint32_t name, uint32_t module)
{
    struct tv_bytes path = tv_interner_get(reading->chunk->texts, module);
    size_t count = reading->symbols.packages.count;
    for (size_t i = 0; i < count; i++) {
        uint32_t package = reading->symbols.packages.rows[i].value;
        struct tv_bytes text = tv_interner_get(reading->blobs, package);
        /* Texts of interners end with a NUL. */
        if (count > 1 &&
            (text.length == 0 || !strstr((const char *)path.data, (const char *)text.data)))
            continue;
        uint32_t found = pf_original_in(reading, package, name);
        if (found != TV_NONE)
            return found;
    }
    return name;
}
