/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demangle.h - names of C++ and Rust as they are written in a program, from those of the linker.
 *
 * Names of Rust's present mangling are read by rust.h; others by the C++ library of the machine
 * (__cxa_demangle of the ABI), which is looked for when the first such name comes:
 * who records C++ has it.  Without it names stay as they are.
 */
#ifndef TV_SYMBOLS_DEMANGLE_H
#define TV_SYMBOLS_DEMANGLE_H

#include "base/types.h"

struct tv_demangler {
    void *library; /* NULL: not loaded */
    bool tried;
    char *(*demangle)(const char *name, char *buffer, size_t *size, int *status);
    char *text;  /* of malloc, as that function wants it */
    size_t size; /* of text */
    char *rust;  /* NULL, or room for a name of Rust */
};

/* Loads the library for the whole process, before a sandbox forbids that. */
void tv_demangler_prepare(void);

/* All zeros is a new one. */
void tv_demangler_release(struct tv_demangler *demangler);

struct tv_demangled {
    struct tv_bytes name;       /* "shop::Order::pay" */
    struct tv_bytes parameters; /* "(int) const", may be empty */
};

/* False: it is no mangled name, or nobody can read it.  The texts are good until the next call. */
bool tv_demangler_read(struct tv_demangler *demangler, struct tv_bytes mangled,
                       struct tv_demangled *found);

#endif
