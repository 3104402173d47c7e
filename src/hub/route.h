/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route.h - which handler a request is for, by its method and path.
 *
 * Paths are compared as they came, never decoded: no percent sign or dot in them means anything.
 */
#ifndef TV_HUB_ROUTE_H
#define TV_HUB_ROUTE_H

#include "hub/context.h"

struct tv_route {
    enum tv_http_method method;
    /* "/t/ID/file": ID stands for 32 hexadecimal digits, REST at the end for anything, which may be
     * empty, NAME for anything without a slash. */
    const char *path;
    enum tv_right right;
    void (*answer)(struct tv_asked *asked, struct tv_answer *answer);
    /* Who takes the body (http.h); NULL: there is none. */
    bool (*begin)(struct tv_asked *asked, struct tv_body *body, struct tv_answer *answer);
};

/* Ends with a route without a path. */
extern const struct tv_route tv_routes[];

/* Finds the route and fills asked->id and asked->rest.  NULL: none; *allow is a list of the methods
 * that the path has then, empty when there is no such path. */
const struct tv_route *tv_route_find(enum tv_http_method method, struct tv_bytes path,
                                     struct tv_asked *asked, char allow[64]);

#endif
