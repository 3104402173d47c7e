/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/small_body.h"

#include <string.h>

#include "base/memory.h"

struct small_body {
    size_t most, length;
    uint8_t text[];
};

static enum tv_status take(void *context, struct tv_bytes piece, struct tv_answer *answer)
{
    struct small_body *body = context;
    if (piece.length > body->most - body->length) {
        tv_hub_refuse(answer, TV_HTTP_TOO_LARGE, "more than such a request may have");
        return TV_ERR_LIMIT;
    }
    memcpy(body->text + body->length, piece.data, piece.length);
    body->length += piece.length;
    return TV_OK;
}

static void end(void *context, bool whole)
{
    struct small_body *body = context;
    (void)whole;
    explicit_bzero(body->text, body->length);
    tv_free(body);
}

bool tv_small_body_begin(struct tv_asked *asked, size_t most, struct tv_body *body,
                         struct tv_answer *answer)
{
    const uint64_t announced = asked->request->length;
    if (announced != TV_HTTP_UNKNOWN_LENGTH && announced > most) {
        tv_hub_refuse(answer, TV_HTTP_TOO_LARGE, "more than such a request may have");
        return false;
    }
    struct small_body *made = tv_alloc(sizeof *made + most, 1);
    made->most = most;
    *body = (struct tv_body){.take = take, .end = end, .context = made};
    return true;
}

struct tv_bytes tv_small_body_text(const void *context)
{
    const struct small_body *body = context;
    return (struct tv_bytes){body->text, body->length};
}
