/* SPDX-License-Identifier: Apache-2.0 */
/*
 * curl_library.h - libcurl, for what sends: `push`, `fleet` with a server, and webhooks of `serve`.
 *
 * The library is loaded on demand: most commands never need it, and it would pull thirty more
 * libraries into every start.
 */
#ifndef TV_CLI_OUTPUT_CURL_LIBRARY_H
#define TV_CLI_OUTPUT_CURL_LIBRARY_H

#include <curl/curl.h>

#include "base/error.h"

/* The functions of libcurl that the program calls. */
struct tv_curl {
    void *library;
    CURLcode (*global_init)(long flags);
    void (*global_cleanup)(void);
    CURL *(*easy_init)(void);
    CURLcode (*easy_setopt)(CURL *curl, CURLoption option, ...);
    CURLcode (*easy_perform)(CURL *curl);
    CURLcode (*easy_getinfo)(CURL *curl, CURLINFO info, ...);
    void (*easy_reset)(CURL *curl);
    void (*easy_cleanup)(CURL *curl);
    const char *(*easy_strerror)(CURLcode code);
    struct curl_slist *(*slist_append)(struct curl_slist *list, const char *text);
    void (*slist_free_all)(struct curl_slist *list);
};

/* Load the library.  TV_ERR_UNSUPPORTED names the packages to install when it is missing, and
 * `instead`, what else the user can do. */
enum tv_status tv_curl_load(struct tv_curl *curl, const char *instead,
                            struct tv_error *err) TV_MUST_CHECK;
void tv_curl_unload(struct tv_curl *curl);

#endif
