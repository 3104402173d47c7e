/* SPDX-License-Identifier: Apache-2.0 */
/*
 * curl_library.c - loads libcurl at run time (curl_library.h).
 *
 * Only `push` and the webhook of `serve` send anything, so the program does not
 * depend on libcurl; its error says which package has it, or how to do without.
 */
#include "cli/output/curl_library.h"

#include <dlfcn.h>

#include "base/library.h"

/* Either build of libcurl will do: both TLS variants export the functions used here. */
static void *curl_open_library(void)
{
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
    void *library = NULL;
    for (size_t i = 0; i < TV_COUNT(names) && library == NULL; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

/* Every function must be there: a member of *curl is never NULL after TV_OK. */
enum tv_status tv_curl_load(struct tv_curl *curl, const char *instead, struct tv_error *err)
{
    void *library = curl->library = curl_open_library();
    const struct tv_library_function functions[] = {
        {"curl_global_init", &curl->global_init},
        {"curl_global_cleanup", &curl->global_cleanup},
        {"curl_easy_init", &curl->easy_init},
        {"curl_easy_setopt", &curl->easy_setopt},
        {"curl_easy_perform", &curl->easy_perform},
        {"curl_easy_getinfo", &curl->easy_getinfo},
        {"curl_easy_reset", &curl->easy_reset},
        {"curl_easy_cleanup", &curl->easy_cleanup},
        {"curl_easy_strerror", &curl->easy_strerror},
        {"curl_slist_append", &curl->slist_append},
        {"curl_slist_free_all", &curl->slist_free_all},
    };
    bool found = library && !tv_library_find(library, functions, TV_COUNT(functions));
    if (found && curl->global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
        return TV_OK;
    if (library != NULL)
        dlclose(library);
    return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                   "libcurl not found: install libcurl4 (Debian, Ubuntu) or libcurl (Fedora), or "
                   "%s",
                   instead);
}

void tv_curl_unload(struct tv_curl *curl)
{
    curl->global_cleanup();
    dlclose(curl->library);
}
