/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_query.c - fuzzes what the server takes apart itself: the target of a request, the names and
 * values in it, and the token in its path.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/encoding.h"
#include "viewer/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool truth)
{
    if (!truth)
        abort();
}

/* Decoded, a text is no longer and holds nothing that could end or split a line. */
static void check_part(const uint8_t *text, size_t length, struct tv_bytes part)
{
    require(part.data >= text && part.length <= length - (size_t)(part.data - text));
    for (size_t i = 0; i < part.length; i++)
        require(part.data[i] >= 0x20 && part.data[i] != 0x7f);
}

static void check_query(const uint8_t *text, size_t length, const struct tv_query *query)
{
    require(query->count <= TV_QUERY_PARAMETERS);
    for (size_t i = 0; i < query->count; i++) {
        check_part(text, length, query->items[i].name);
        check_part(text, length, query->items[i].value);
        for (size_t k = 0; k < i; k++)
            require(!tv_bytes_equal(query->items[i].name, query->items[k].name));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tv_request_auth guard = {.port = 8123, .token = "0123456789abcdef0123456789abcdef"};
    struct tv_bytes path = {data, size}, rest;
    struct tv_bytes given = tv_query_split(&path);
    if (tv_request_auth_take_token(&guard, path, &rest))
        require(rest.length == path.length - TV_TOKEN_LENGTH - 2);

    /* A block of exactly this size, so that ASan sees one byte too far. */
    uint8_t *text = malloc(given.length > 0 ? given.length : 1);
    require(text != NULL);
    if (given.length > 0)
        memcpy(text, given.data, given.length);
    struct tv_query query;
    struct tv_error err = {0};
    if (tv_query_parse(&query, text, given.length, &err) == TV_OK)
        check_query(text, given.length, &query);
    else
        require(err.status == TV_ERR_USAGE && err.message[0] != '\0');
    free(text);
    return 0;
}
