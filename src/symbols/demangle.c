/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demangle.c - names of C++ through the machine's C++ library, and of Rust through
 * base/native_name.
 */
#include "symbols/demangle.h"

#include <dlfcn.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"

#define LIBRARY "libstdc++.so.6"

/* Longest name that is decoded; names of templates are long. */
#define LONGEST 4096u

/* Length of the hash that ends Rust's older names: "::h" and 16 hexadecimal digits. */
#define HASH_LENGTH 19u

void tv_demangler_prepare(void)
{
    static bool tried;
    if (!tried)
        (void)dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL); /* never closed: it stays loaded */
    tried = true;
}

static bool demangle_load_library(struct tv_demangler *demangler)
{
    if (demangler->tried)
        return demangler->demangle != NULL;
    demangler->tried = true;
    demangler->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    void *symbol = demangler->library ? dlsym(demangler->library, "__cxa_demangle") : NULL;
    memcpy(&demangler->demangle, &symbol, sizeof symbol);
    return symbol != NULL;
}

void tv_demangler_release(struct tv_demangler *demangler)
{
    tv_free(demangler->text);
    tv_free(demangler->rust);
    if (demangler->library)
        dlclose(demangler->library);
    *demangler = (struct tv_demangler){0};
}

/* Return the parenthesis that matches the one at `close`; `close` itself when there is none. */
static size_t demangle_find_parenthesis(const char *text, size_t close)
{
    size_t depth = 0;
    for (size_t i = close + 1; i-- > 0;) {
        depth += text[i] == ')';
        if (text[i] == '(' && --depth == 0)
            return i;
    }
    return close;
}

/* Return whether a name is of Rust's older mangling, which ends with the hash as an identifier of
 * 17 letters: "17h" and 16 hexadecimal digits, "E".  To the C++ library its escapes ("$LT$") are
 * letters. */
static bool demangle_is_older_rust(struct tv_bytes mangled)
{
    if (mangled.length < HASH_LENGTH + 1 || mangled.data[mangled.length - 1] != 'E')
        return false;
    const uint8_t *hash = mangled.data + mangled.length - HASH_LENGTH - 1;
    if (memcmp(hash, "17h", 3) != 0)
        return false;
    for (size_t i = 3; i < HASH_LENGTH; i++)
        if (tv_hex_digit(hash[i]) < 0)
            return false;
    return true;
}

static bool demangle_is_rust_hash(const char *text)
{
    return strncmp(text, "::h", 3) == 0 && strspn(text + 3, "0123456789abcdef") == HASH_LENGTH - 3;
}

/* Split off the parameters, which are the last parentheses; a name without them may end with a
 * hash. */
static void demangle_split_parameters(const char *text, struct tv_demangled *found)
{
    const char *clone = strstr(text, " [clone");
    size_t length = strlen(text), end = clone ? (size_t)(clone - text) : length, at = end;
    while (at > 0 && text[at - 1] != ')')
        at--;
    size_t open = at > 0 ? demangle_find_parenthesis(text, at - 1) : 0;
    if (open > 0 && strchr(text + at, ':') == NULL) {
        found->name = (struct tv_bytes){(const uint8_t *)text, open};
        found->parameters = (struct tv_bytes){(const uint8_t *)text + open, end - open};
        return;
    }
    if (end == length && length > HASH_LENGTH && demangle_is_rust_hash(text + length - HASH_LENGTH))
        end -= HASH_LENGTH;
    found->name = (struct tv_bytes){(const uint8_t *)text, end};
    found->parameters = (struct tv_bytes){NULL, 0};
}

static bool demangle_read_rust(struct tv_demangler *demangler, struct tv_bytes mangled,
                               struct tv_demangled *found)
{
    if (!demangler->rust)
        demangler->rust = tv_alloc(LONGEST, 1);
    if (mangled.length > LONGEST || !tv_native_name(mangled, demangler->rust, LONGEST))
        return false;
    found->name = tv_bytes_of(demangler->rust);
    found->parameters = (struct tv_bytes){NULL, 0};
    return true;
}

bool tv_demangler_read(struct tv_demangler *demangler, struct tv_bytes mangled,
                       struct tv_demangled *found)
{
    char name[LONGEST + 1];
    int status = -1;
    if (tv_bytes_starts_with(mangled, TV_BYTES("_R")) || demangle_is_older_rust(mangled))
        return demangle_read_rust(demangler, mangled, found);
    if (mangled.length > LONGEST || !tv_bytes_starts_with(mangled, TV_BYTES("_Z")) ||
        !demangle_load_library(demangler))
        return false;
    memcpy(name, mangled.data, mangled.length);
    name[mangled.length] = '\0';
    char *text = demangler->demangle(name, demangler->text, &demangler->size, &status);
    if (status != 0 || !text)
        return false;
    demangler->text = text;
    demangle_split_parameters(text, found);
    return true;
}
