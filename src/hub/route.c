/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/route.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"

static bool is_id(struct tv_bytes text)
{
    if (text.length != TV_STORE_ID_DIGITS)
        return false;
    for (size_t i = 0; i < text.length; i++)
        if (memchr("0123456789abcdef", text.data[i], 16) == NULL)
            return false;
    return true;
}

/* One part of a path, between two slashes, against one of the pattern's. */
static bool fits_part(struct tv_bytes pattern, struct tv_bytes part, struct tv_asked *asked)
{
    if (tv_bytes_equal(pattern, TV_BYTES("ID"))) {
        if (!is_id(part))
            return false;
        memcpy(asked->id, part.data, part.length);
        asked->id[part.length] = '\0';
        return true;
    }
    if (tv_bytes_equal(pattern, TV_BYTES("NAME"))) {
        asked->rest = part;
        return part.length > 0;
    }
    return tv_bytes_equal(pattern, part);
}

static bool fits(const char *pattern, struct tv_bytes path, struct tv_asked *asked)
{
    struct tv_bytes parts = tv_bytes_of(pattern), wanted, part;
    bool more_wanted = true, more = true;
    while (more_wanted && more) {
        more_wanted = tv_bytes_split(&parts, '/', &wanted);
        if (!more_wanted && tv_bytes_equal(wanted, TV_BYTES("REST"))) {
            asked->rest = path;
            return true;
        }
        more = tv_bytes_split(&path, '/', &part);
        if (!fits_part(wanted, part, asked))
            return false;
    }
    return more_wanted == more;
}

/* HEAD is GET but where a route has it for itself. */
static bool has_method(const struct tv_route *route, enum tv_http_method method)
{
    return route->method == method || (route->method == TV_HTTP_GET && method == TV_HTTP_HEAD);
}

/* Where any name may be put, nothing is there to have other methods. */
static bool is_any_name(const char *pattern)
{
    return strcmp(pattern, "/NAME") == 0;
}

const struct tv_route *tv_route_find(enum tv_http_method method, struct tv_bytes path,
                                     struct tv_asked *asked, char allow[64])
{
    size_t length = 0;
    allow[0] = '\0';
    for (const struct tv_route *route = tv_routes; route->path != NULL; route++) {
        if (!fits(route->path, path, asked))
            continue;
        if (has_method(route, method))
            return route;
        if (is_any_name(route->path))
            continue;
        int more = snprintf(allow + length, 64 - length, "%s%s%s", length > 0 ? ", " : "",
                            tv_http_method_name(route->method),
                            route->method == TV_HTTP_GET ? ", HEAD" : "");
        length += more > 0 && (size_t)more < 64 - length ? (size_t)more : 0;
    }
    return NULL;
}
