/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/curl.h"

#include <dlfcn.h>
#include <string.h>

/* Whichever TLS library it was built with: what is used of it is the same. */
static void *curl_open_library(void)
{
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
    void *library = NULL;
    for (size_t i = 0; i < TV_COUNT(names) && library == NULL; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

/* Object and function pointers are of one size wherever there is dlsym (POSIX). */
static bool curl_find_function(void *library, const char *name, void *place)
{
    void *symbol = dlsym(library, name);
    memcpy(place, &symbol, sizeof symbol);
    return symbol != NULL;
}

enum tv_status tv_curl_load(struct tv_curl *curl, struct tv_error *err)
{
    void *library = curl->library = curl_open_library();
    const struct {
        const char *name;
        void *place;
    } functions[] = {
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
    bool found = library != NULL;
    for (size_t i = 0; i < TV_COUNT(functions) && found; i++)
        found = curl_find_function(library, functions[i].name, functions[i].place);
    if (found && curl->global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
        return TV_OK;
    if (library != NULL)
        dlclose(library);
    return tv_fail(err, TV_ERR_UNSUPPORTED, TV_NO_OFFSET,
                   "libcurl is not there: install libcurl4 (Debian, Ubuntu) or libcurl (Fedora); "
                   "'curl -T FILE URL' does the same without resuming");
}

void tv_curl_unload(struct tv_curl *curl)
{
    curl->global_cleanup();
    dlclose(curl->library);
}
