/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query.h - the target of a request taken apart: "/TOKEN/api/profile?from=5&tracks=0%2C3".
 *
 * The path is compared as it came, never decoded: no percent sign or dot in it can mean anything.
 * Only names and values of parameters are decoded, where they stand.
 */
#ifndef TV_BASE_QUERY_H
#define TV_BASE_QUERY_H

#include "base/error.h"
#include "base/types.h"

/* No question of the page has more parameters. */
#define TV_QUERY_PARAMETERS 16

struct tv_query_parameter {
    struct tv_bytes name, value;
};

struct tv_query {
    struct tv_query_parameter items[TV_QUERY_PARAMETERS];
    size_t count;
};

/* Splits at the first '?': *target becomes the path, the result is what stands behind it. */
struct tv_bytes tv_target_split(struct tv_bytes *target);

/* Takes "name=value&..." apart. '%41' and '+' are decoded in place: `text` changes, and the query
 * points into it.  TV_ERR_USAGE when a name is empty or there twice, when there are too many, when
 * '%' stands before no hexadecimal number, or when a control character comes out. */
enum tv_status tv_query_parse(struct tv_query *query, uint8_t *text, size_t length,
                              struct tv_error *err) TV_MUST_CHECK;

/* Decodes '%41' of a name in a path, where it stands; '+' is one there. Errors as above. */
enum tv_status tv_query_decode_name(uint8_t *text, size_t length, struct tv_bytes *decoded,
                                    struct tv_error *err) TV_MUST_CHECK;

/* The value of a parameter, or NULL when it was not given. */
const struct tv_bytes *tv_query_find(const struct tv_query *query, const char *name);

#endif
