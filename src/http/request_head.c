/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_head.c - decides whether a request head can be read in one way only.
 *
 * A proxy in front of the server and the library below may read a malformed head differently: one
 * sees two requests where the other sees one, and the second request was never checked by the proxy
 * (request smuggling). So everything that RFC 9112 allows a server to refuse is refused here.
 */
#include "http/internal.h"

#include <string.h>
#include <strings.h>

#include "base/bytes.h"

/* RFC 9110, section 5.6.2: the characters of methods and header names. */
static bool head_is_token(const char *text)
{
    static const char marks[] = "!#$%&'*+-.^_`|~";
    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        char c = *text;
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && strchr(marks, c) == NULL)
            return false;
    }
    return true;
}

static bool head_is_text(const char *text)
{
    for (; *text != '\0'; text++)
        if (((uint8_t)*text < 0x20 && *text != '\t') || *text == 0x7f)
            return false;
    return true;
}

/* Check the target: no blank, no control character, and a leading slash or the "*" of OPTIONS. */
static bool head_is_target(struct tv_bytes target, const char *method)
{
    for (size_t i = 0; i < target.length; i++)
        if (target.data[i] <= ' ' || target.data[i] == 0x7f)
            return false;
    return (target.length > 0 && target.data[0] == '/') ||
           (tv_bytes_equal(target, TV_BYTES("*")) && strcmp(method, "OPTIONS") == 0);
}

/* Check the characters of a host name or address with an optional port. */
static bool head_is_host(const char *text)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "-._~:[]";
    return text[0] != '\0' && text[strspn(text, allowed)] == '\0';
}

/* Return true for a header that may not be repeated. A name that ends in '-' is a prefix. */
static bool head_is_single_header(const char *name)
{
    static const char *const names[] = {
        "Host",
        "Origin",
        "Referer",
        "Content-Length",
        "Content-Type",
        "Expect",
        "Content-Encoding",
        "Transfer-Encoding",
        "Authorization",
        "Cookie",
        "Range",
        "If-Range",
        "Forwarded",
        "X-Forwarded-",
        TV_HTTP_CSRF_HEADER,
        "Upload-",
        "Tus-",
        "Sec-Fetch-",
        "If-Modified-Since",
        "Access-Control-Request-Method",
    };
    for (size_t i = 0; i < TV_COUNT(names); i++) {
        size_t length = strlen(names[i]);
        bool beginning = names[i][length - 1] == '-';
        if (beginning ? strncasecmp(name, names[i], length) == 0 : strcasecmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

static bool head_repeats_header(const struct tv_request_head *head, size_t i)
{
    for (size_t k = i + 1; k < head->count; k++)
        if (strcasecmp(head->headers[k].name, head->headers[i].name) == 0)
            return true;
    return false;
}

/*
 * Compare the size of the head with the lines that the library parsed from it, each ended by CR LF.
 * A bare LF, a folded value, extra blanks in the request line and bytes after a NUL all make the
 * two differ.
 */
static bool head_adds_up(const struct tv_request_head *head)
{
    size_t sum = strlen(head->method) + 1 + head->target.length + 1 + strlen(head->version) + 4;
    for (size_t i = 0; i < head->count; i++) {
        const struct tv_http_header *header = &head->headers[i];
        uintptr_t name_end = (uintptr_t)header->name + strlen(header->name);
        uintptr_t value = (uintptr_t)header->value;
        if (value <= name_end || value - name_end > head->size)
            return false;
        sum += strlen(header->name) + (value - name_end) + strlen(header->value) + 2;
    }
    return sum == head->size;
}

/* Check all headers.  Some must not be repeated: two lengths of one body are how requests are
 * smuggled past a proxy. */
static bool head_headers_are_valid(const struct tv_request_head *head)
{
    for (size_t i = 0; i < head->count; i++) {
        const struct tv_http_header *header = &head->headers[i];
        if (!head_is_token(header->name) || !head_is_text(header->value) ||
            (head_is_single_header(header->name) && head_repeats_header(head, i)))
            return false;
    }
    return true;
}

/* RFC 9112, section 6.3: the length is given once, in one of two ways. */
static bool head_read_body_length(const struct tv_request *request, const char *version,
                                  uint64_t *length)
{
    const char *coding = tv_request_header(request, "Transfer-Encoding");
    const char *digits = tv_request_header(request, "Content-Length");
    *length = 0;
    if (coding != NULL) {
        *length = TV_HTTP_UNKNOWN_LENGTH;
        return digits == NULL && strcasecmp(coding, "chunked") == 0 &&
               strcmp(version, "HTTP/1.1") == 0;
    }
    return digits == NULL || (tv_parse_u64(tv_bytes_of(digits), length) && *length <= INT64_MAX);
}

bool tv_request_head_is_valid(const struct tv_request_head *head, uint64_t *length)
{
    struct tv_request request = {.headers = head->headers, .header_count = head->count};
    const char *host = tv_request_header(&request, "Host");
    return head_is_token(head->method) && head_is_target(head->target, head->method) &&
           (strcmp(head->version, "HTTP/1.1") == 0 || strcmp(head->version, "HTTP/1.0") == 0) &&
           head_headers_are_valid(head) && head_adds_up(head) && host != NULL &&
           head_is_host(host) && head_read_body_length(&request, head->version, length);
}
