/* SPDX-License-Identifier: Apache-2.0 */
#include "base/library.h"

#include <dlfcn.h>
#include <string.h>

const char *tv_library_find(void *library, const struct tv_library_function *functions,
                            size_t count)
{
    const char *missing = NULL;
    for (size_t i = 0; i < count; i++) {
        /* POSIX: an object pointer can hold a function pointer. */
        void *found = dlsym(library, functions[i].name);
        memcpy(functions[i].place, &found, sizeof found);
        if (!found)
            missing = functions[i].name;
    }
    return missing;
}
