/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demangle.h - readable names of C++ and Rust functions, from the mangled names that the linker
 * uses.
 *
 * Both manglings of Rust are decoded by base/native_name.h. C++ is decoded by __cxa_demangle of the
 * machine's C++ library, which is loaded when the first such name comes: a machine that records C++
 * programs has it. Without the library, names stay mangled.
 */
#ifndef TV_SYMBOLS_DEMANGLE_H
#define TV_SYMBOLS_DEMANGLE_H

#include "base/native_name.h"

struct tv_demangler {
    void *library; /* NULL: not loaded */
    bool tried;
    char *(*demangle)(const char *name, char *buffer, size_t *size, int *status);
    char *text;  /* allocated by malloc, as __cxa_demangle demands */
    size_t size; /* size of text */
    char *rust;  /* NULL, or room for a decoded Rust name */
};

/* Load the library for the whole process; call this before a sandbox forbids it. */
void tv_demangler_prepare(void);

/* A demangler of zeros is ready for use. */
void tv_demangler_release(struct tv_demangler *demangler);

struct tv_demangled {
    struct tv_bytes name;       /* "shop::Order::pay" */
    struct tv_bytes parameters; /* "(int) const", may be empty */
};

/* Decode a name. Return false when it is not mangled or cannot be decoded. The texts are valid
 * until the next call. */
bool tv_demangler_read(struct tv_demangler *demangler, struct tv_bytes mangled,
                       struct tv_demangled *found);

#endif
