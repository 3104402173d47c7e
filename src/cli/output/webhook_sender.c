/* SPDX-License-Identifier: Apache-2.0 */
/*
 * webhook_sender.c - sends change points of a fleet to an address of the user,
 * with libcurl (webhook_sender.h).
 *
 * The address may have a secret in its path or its password, so messages name
 * the host alone, and errors are printed in libcurl's general words.
 * Redirections are not followed: a body for one host would reach another.
 */
#include "cli/output/webhook_sender.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "cli/output/curl_library.h"

#define SECONDS_OF_REQUEST 10L
#define SECONDS_OF_CONNECTION 5L
#define LONGEST_URL 2000u

struct tv_webhook_sender {
    struct tv_curl curl;
    const char *url;
    char host[256];
};

/* Find the host of "https://NAME:PASSWORD@HOST:PORT/PATH". False: this is no such address. */
static bool webhook_find_host(const char *url, struct tv_bytes *host)
{
    const char *start = strncmp(url, "https://", 8) == 0  ? url + 8
                        : strncmp(url, "http://", 7) == 0 ? url + 7
                                                          : NULL;
    for (const char *at = url; *at; at++)
        if ((unsigned char)*at <= ' ' || *at == 127 || *at == '\\')
            return false;
    if (!start || strlen(url) > LONGEST_URL)
        return false;
    size_t length = strcspn(start, "/?#");
    for (size_t i = 0; i < length; i++) {
        if (start[i] != '@')
            continue;
        start += i + 1;
        length -= i + 1;
        i = SIZE_MAX; /* there may be an "@" in the password */
    }
    *host = (struct tv_bytes){(const uint8_t *)start, length};
    return length > 0 && start[0] != ':';
}

enum tv_status tv_webhook_sender_new(const char *url, struct tv_webhook_sender **sender,
                                     struct tv_error *err)
{
    struct tv_bytes host;
    if (!webhook_find_host(url, &host))
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "--fleet-webhook: expected http://... or https://...");
    struct tv_webhook_sender *made = tv_alloc(1, sizeof *made);
    enum tv_status status = tv_curl_load(&made->curl, "leave out --fleet-webhook", err);
    if (status != TV_OK) {
        tv_free(made);
        return status;
    }
    made->url = url;
    snprintf(made->host, sizeof made->host, "%.*s",
             (int)(host.length < sizeof made->host ? host.length : sizeof made->host - 1),
             (const char *)host.data);
    *sender = made;
    return TV_OK;
}

void tv_webhook_sender_free(struct tv_webhook_sender *sender)
{
    if (!sender)
        return;
    tv_curl_unload(&sender->curl);
    tv_free(sender);
}

const char *tv_webhook_sender_host(const struct tv_webhook_sender *sender)
{
    return sender->host;
}

/* The status says all that matters. */
static size_t webhook_drop_body(char *bytes, size_t size, size_t count, void *context)
{
    (void)bytes;
    (void)context;
    return size * count;
}

/* libcurl calls this about once a second; a value other than 0 ends the request. */
static int webhook_must_stop(void *context, curl_off_t to_get, curl_off_t got, curl_off_t to_send,
                             curl_off_t sent)
{
    (void)to_get;
    (void)got;
    (void)to_send;
    (void)sent;
    return atomic_load((const atomic_bool *)context);
}

/* Set what a request needs.  Options with a text can fail for lack of memory. */
static void webhook_set_options(const struct tv_webhook_sender *sender, CURL *handle,
                                struct tv_bytes body, const atomic_bool *stop)
{
    const struct tv_curl *curl = &sender->curl;
    if (curl->easy_setopt(handle, CURLOPT_URL, sender->url) == CURLE_OUT_OF_MEMORY ||
        curl->easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OUT_OF_MEMORY)
        tv_memory_exhausted();
    curl->easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl->easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, SECONDS_OF_CONNECTION);
    curl->easy_setopt(handle, CURLOPT_TIMEOUT, SECONDS_OF_REQUEST);
    curl->easy_setopt(handle, CURLOPT_WRITEFUNCTION, webhook_drop_body);
    curl->easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, webhook_must_stop);
    curl->easy_setopt(handle, CURLOPT_XFERINFODATA, stop);
    curl->easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
    curl->easy_setopt(handle, CURLOPT_POST, 1L);
    curl->easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.length);
    curl->easy_setopt(handle, CURLOPT_POSTFIELDS, body.data);
}

/* Every status from 200 to 299 means that the receiver has it.  The empty
 * header "Expect:" keeps libcurl from waiting for the receiver's consent. */
enum tv_status tv_webhook_sender_post(void *context, struct tv_bytes body, const atomic_bool *stop,
                                      struct tv_error *err)
{
    struct tv_webhook_sender *sender = context;
    struct tv_curl *curl = &sender->curl;
    assert(body.length > 0);
    CURL *handle = curl->easy_init();
    struct curl_slist *headers = curl->slist_append(NULL, "Content-Type: application/json");
    struct curl_slist *all = headers ? curl->slist_append(headers, "Expect:") : NULL;
    long answer = 0;
    if (!handle || !all)
        tv_memory_exhausted();
    webhook_set_options(sender, handle, body, stop);
    curl->easy_setopt(handle, CURLOPT_HTTPHEADER, all);
    CURLcode code = curl->easy_perform(handle);
    if (code == CURLE_OK)
        curl->easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &answer);
    curl->easy_cleanup(handle);
    curl->slist_free_all(all);
    /* Not the text of CURLOPT_ERRORBUFFER, which may have parts of the address. */
    if (code != CURLE_OK)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s", curl->easy_strerror(code));
    if (answer < 200 || answer > 299)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "the server answers %ld", answer);
    return TV_OK;
}
