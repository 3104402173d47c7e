/* SPDX-License-Identifier: Apache-2.0 */
#include "http/library.h"

#include <dlfcn.h>

#include "base/library.h"

/* The soname of versions 0.9.38 to 1.0. */
#define LIBRARY "libmicrohttpd.so.12"

struct tv_mhd tv_mhd;

enum tv_status tv_mhd_open(struct tv_error *err)
{
    static const struct tv_library_function functions[] = {
#define X(function) {#function, &tv_mhd.function},
        TV_MHD_FUNCTIONS(X)
#undef X
    };
    if (tv_mhd.MHD_start_daemon)
        return TV_OK;
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                       "%s: install libmicrohttpd12 (Debian, Ubuntu) or libmicrohttpd (Fedora)",
                       dlerror());
    const char *missing = tv_library_find(library, functions, TV_COUNT(functions));
    if (!missing)
        return TV_OK;
    tv_mhd.MHD_start_daemon = NULL;
    dlclose(library);
    return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET, LIBRARY " has no function %s", missing);
}
