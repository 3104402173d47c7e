/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refuse.c - answers that say no.
 */
#include "base/bytes.h"
#include "hub/context.h"

void tv_hub_refuse(struct tv_answer *answer, enum tv_http_status status, const char *sentence)
{
    answer->status = status;
    answer->type = "application/json";
    tv_out_text(&answer->body, "{\"error\":");
    tv_out_json(&answer->body, tv_bytes_of(sentence));
    tv_out_text(&answer->body, "}\n");
}

void tv_hub_refuse_store(struct tv_answer *answer, enum tv_store_status status,
                         const struct tv_error *err)
{
    static const enum tv_http_status statuses[] = {
        [TV_STORE_OK] = TV_HTTP_FAULT,
        [TV_STORE_NONE] = TV_HTTP_NOT_FOUND,
        [TV_STORE_OFFSET] = TV_HTTP_NOT_READY,
        [TV_STORE_BUSY] = TV_HTTP_LOCKED,
        [TV_STORE_TOO_LARGE] = TV_HTTP_TOO_LARGE,
        [TV_STORE_BAD] = TV_HTTP_WRONG_CONTENT,
        [TV_STORE_FULL] = TV_HTTP_NO_ROOM,
        [TV_STORE_FAILED] = TV_HTTP_FAULT,
    };
    tv_hub_refuse(answer, statuses[status], err->message);
}

void tv_hub_write_base(const struct tv_asked *asked, struct tv_out *out)
{
    const char *host = tv_request_header(asked->request, "Host");
    tv_out_text(out, asked->secure ? "https://" : "http://");
    tv_out_text(out, host != NULL ? host : "localhost");
}
