/* SPDX-License-Identifier: Apache-2.0 */
#include "server/guard.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/bytes.h"
#include "base/random.h"

/* Browsers leave this port out of Host and Origin. */
#define HTTP_PORT 80

enum tv_status tv_guard_init(struct tv_guard *guard, struct tv_error *err)
{
    guard->port = 0;
    return tv_random_hex(guard->token, TV_TOKEN_LENGTH, err);
}

static bool is_name_and_port(const char *host, const char *name, uint16_t port)
{
    char wanted[32];
    snprintf(wanted, sizeof wanted, "%s:%u", name, (unsigned)port);
    return strcasecmp(host, wanted) == 0 || (port == HTTP_PORT && strcasecmp(host, name) == 0);
}

bool tv_guard_host_is_ours(const struct tv_guard *guard, const char *host)
{
    return is_name_and_port(host, "127.0.0.1", guard->port) ||
           is_name_and_port(host, "localhost", guard->port);
}

bool tv_guard_origin_is_ours(const struct tv_guard *guard, const char *origin)
{
    static const char scheme[] = "http://";
    return strncmp(origin, scheme, sizeof scheme - 1) == 0 &&
           tv_guard_host_is_ours(guard, origin + sizeof scheme - 1);
}

bool tv_guard_take_token(const struct tv_guard *guard, struct tv_bytes path, struct tv_bytes *rest)
{
    /* A slash, the token, a slash. */
    if (path.length < TV_TOKEN_LENGTH + 2)
        return false;
    const struct tv_bytes wanted = tv_bytes_of(guard->token);
    const struct tv_bytes found = {path.data + 1, TV_TOKEN_LENGTH};
    if (path.data[0] != '/' || path.data[TV_TOKEN_LENGTH + 1] != '/' ||
        !tv_secret_equal(wanted, found))
        return false;
    *rest = (struct tv_bytes){path.data + TV_TOKEN_LENGTH + 2, path.length - TV_TOKEN_LENGTH - 2};
    return true;
}

static enum tv_http_status judge(const struct tv_guard *guard, const struct tv_request *request,
                                 struct tv_bytes *rest)
{
    const char *host = tv_request_header(request, "Host");
    const char *origin = tv_request_header(request, "Origin");
    if (guard->port == 0 || host == NULL || !tv_guard_host_is_ours(guard, host))
        return TV_HTTP_FORBIDDEN;
    if (origin != NULL && !tv_guard_origin_is_ours(guard, origin))
        return TV_HTTP_FORBIDDEN;
    if (!tv_guard_take_token(guard, request->path, rest))
        return TV_HTTP_NOT_FOUND;
    return request->method <= TV_HTTP_PUT ? TV_HTTP_OK : TV_HTTP_WRONG_METHOD;
}

bool tv_guard_admit(const struct tv_guard *guard, struct tv_request *request,
                    struct tv_answer *answer)
{
    struct tv_bytes rest;
    enum tv_http_status status = judge(guard, request, &rest);
    if (status != TV_HTTP_OK) {
        answer->status = status;
        answer->type = "text/plain; charset=utf-8";
        answer->allow = status == TV_HTTP_WRONG_METHOD ? "GET, HEAD, POST, PUT" : NULL;
        tv_out_format(&answer->body, "%u\n", (unsigned)status);
        return false;
    }
    request->path = rest;
    if (request->method == TV_HTTP_HEAD)
        request->method = TV_HTTP_GET;
    return true;
}
