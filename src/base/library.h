/* SPDX-License-Identifier: Apache-2.0 */
/*
 * library.h - functions of a shared library, found while the program runs.
 *
 * A library that only some commands use is opened by those commands: loading and relocating it
 * would take longer than many commands run.
 */
#ifndef TV_BASE_LIBRARY_H
#define TV_BASE_LIBRARY_H

#include <stddef.h>

/* A function to find, and the function pointer that receives it. */
struct tv_library_function {
    const char *name;
    void *place;
};

/* Set each function pointer to the function of `library`, a handle of dlopen, or to NULL where the
 * library has none.  Return the name of a function that is missing, or NULL. */
const char *tv_library_find(void *library, const struct tv_library_function *functions,
                            size_t count);

#endif
