/* SPDX-License-Identifier: Apache-2.0 */
/*
 * curl.h - libcurl, loaded when it is needed: most commands never are, and it brings thirty other
 * libraries along, which would slow down every start.
 */
#ifndef TV_CLI_CURL_H
#define TV_CLI_CURL_H

#include <curl/curl.h>

#include "base/error.h"

/* The functions of libcurl that are used here, by their own names. */
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

/* TV_ERR_UNSUPPORTED, with the packages that have it, when the library is not there. */
enum tv_status tv_curl_load(struct tv_curl *curl, struct tv_error *err) TV_MUST_CHECK;
void tv_curl_unload(struct tv_curl *curl);

#endif
