/* SPDX-License-Identifier: Apache-2.0 */
#include "http/head.h"

#include <string.h>
#include <strings.h>

#include "base/bytes.h"

/* RFC 9110, section 5.6.2: what names of headers and methods consist of. */
static bool is_token(const char *text)
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

static bool is_text(const char *text)
{
    for (; *text != '\0'; text++)
        if (((uint8_t)*text < 0x20 && *text != '\t') || *text == 0x7f)
            return false;
    return true;
}

/* No blank, no control character; a slash in front, or the star of OPTIONS. */
static bool is_target(struct tv_bytes target, const char *method)
{
    for (size_t i = 0; i < target.length; i++)
        if (target.data[i] <= ' ' || target.data[i] == 0x7f)
            return false;
    return (target.length > 0 && target.data[0] == '/') ||
           (tv_bytes_equal(target, TV_BYTES("*")) && strcmp(method, "OPTIONS") == 0);
}

/* A name or an address and perhaps a port. */
static bool is_host(const char *text)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "-._~:[]";
    return text[0] != '\0' && text[strspn(text, allowed)] == '\0';
}

/* Headers that may come once; those that end in '-' are beginnings of names. */
static bool must_stand_alone(const char *name)
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
        TV_HTTP_OWN_HEADER,
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

static bool comes_again(const struct tv_head *head, size_t i)
{
    for (size_t k = i + 1; k < head->count; k++)
        if (strcasecmp(head->headers[k].name, head->headers[i].name) == 0)
            return true;
    return false;
}

/*
 * What came must be exactly the lines that the library made of it, each ended by CR and LF: lines
 * that end otherwise, values that go on in the next line, blanks too many in the first line and
 * bytes behind a NUL all make a difference between the sum of the parts and the whole.
 */
static bool adds_up(const struct tv_head *head)
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

static bool are_headers_good(const struct tv_head *head)
{
    for (size_t i = 0; i < head->count; i++) {
        const struct tv_http_header *header = &head->headers[i];
        if (!is_token(header->name) || !is_text(header->value) ||
            (must_stand_alone(header->name) && comes_again(head, i)))
            return false;
    }
    return true;
}

/* RFC 9112, section 6.3: said once, in one of two ways. */
static bool read_length(const struct tv_request *request, const char *version, uint64_t *length)
{
    const char *coding = tv_request_header(request, "Transfer-Encoding");
    const char *said = tv_request_header(request, "Content-Length");
    *length = 0;
    if (coding != NULL) {
        *length = TV_HTTP_UNKNOWN_LENGTH;
        return said == NULL && strcasecmp(coding, "chunked") == 0 &&
               strcmp(version, "HTTP/1.1") == 0;
    }
    return said == NULL || (tv_parse_u64(tv_bytes_of(said), length) && *length <= INT64_MAX);
}

bool tv_head_is_good(const struct tv_head *head, uint64_t *length)
{
    struct tv_request request = {.headers = head->headers, .header_count = head->count};
    const char *host = tv_request_header(&request, "Host");
    return is_token(head->method) && is_target(head->target, head->method) &&
           (strcmp(head->version, "HTTP/1.1") == 0 || strcmp(head->version, "HTTP/1.0") == 0) &&
           are_headers_good(head) && adds_up(head) && host != NULL && is_host(host) &&
           read_length(&request, head->version, length);
}
