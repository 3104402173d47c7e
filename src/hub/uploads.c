/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uploads.c - PUT /NAME, or PUT /: a whole file in one request, as `curl -T` sends it.
 */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/encoding.h"
#include "hub/handlers.h"
#include "hub/incoming.h"

/* "app%20start.trace" of the path, decoded in `text`; "-" and no name at all are what curl sends
 * for its standard input. */
static enum tv_status decode_name(struct tv_bytes name, uint8_t *text, struct tv_bytes *decoded,
                                  struct tv_error *err)
{
    *decoded = TV_BYTES("standard input");
    if (name.length == 0 || tv_bytes_equal(name, TV_BYTES("-")))
        return TV_OK;
    memcpy(text, name.data, name.length);
    return tv_query_decode_name(text, name.length, decoded, err);
}

/* Of "?labels=a,b": as many as a trace may have, and one more, which the store refuses. */
static size_t find_labels(const struct tv_query *query, struct tv_bytes *labels)
{
    const struct tv_bytes *list = tv_query_find(query, "labels");
    struct tv_bytes rest = list != NULL ? *list : (struct tv_bytes){NULL, 0};
    size_t count = 0;
    while (rest.length > 0 && count <= TV_STORE_LABELS)
        tv_bytes_split(&rest, ',', &labels[count++]);
    return count;
}

static enum tv_store_status begin_upload(struct tv_asked *asked, struct tv_bytes name,
                                         const struct tv_query *query, struct tv_incoming *incoming,
                                         struct tv_error *err)
{
    struct tv_bytes labels[TV_STORE_LABELS + 1];
    const uint64_t bytes = asked->request->length;
    uint8_t client[TV_TRIES_CLIENT];
    tv_tries_identify(asked->peer, client);
    const struct tv_store_new_upload upload = {
        .name = name,
        .bytes = bytes == TV_HTTP_UNKNOWN_LENGTH ? TV_STORE_SIZE_UNKNOWN : bytes,
        .labels = labels,
        .label_count = find_labels(query, labels),
        .client = {client, sizeof client},
    };
    uint64_t held;
    enum tv_store_status status =
        tv_store_upload_begin(asked->hub->store, &upload, &incoming->upload, err);
    if (status != TV_STORE_OK)
        return status;
    return tv_store_piece_begin(asked->hub->store, incoming->upload.text, 0, &incoming->piece,
                                &held, err);
}

/* With the name decoded. */
static bool begin_body(struct tv_asked *asked, struct tv_bytes name, const struct tv_query *query,
                       struct tv_body *body, struct tv_answer *answer)
{
    struct tv_error err = {0};
    struct tv_incoming *incoming = tv_incoming_new(asked->hub, true);
    enum tv_store_status status = begin_upload(asked, name, query, incoming, &err);
    if (status == TV_STORE_OK) {
        tv_incoming_take(incoming, body);
        return true;
    }
    tv_hub_refuse_store(answer, status, &err);
    tv_incoming_free(incoming);
    return false;
}

bool tv_hub_put_begin(struct tv_asked *asked, struct tv_body *body, struct tv_answer *answer)
{
    const struct tv_request *request = asked->request;
    struct tv_query query;
    struct tv_error err = {0};
    struct tv_bytes name;
    bool begun = false;
    if (request->length == 0) {
        tv_hub_refuse(answer, TV_HTTP_WRONG_CONTENT, "the file is empty");
        return false;
    }
    uint8_t *text = tv_alloc(asked->rest.length, 1);
    if (decode_name(asked->rest, text, &name, &err) != TV_OK ||
        tv_query_parse(&query, request->query, request->query_length, &err) != TV_OK)
        tv_hub_refuse(answer, TV_HTTP_BAD_QUESTION, err.message);
    else
        begun = begin_body(asked, name, &query, body, answer);
    tv_free(text);
    return begun;
}

void tv_hub_put(struct tv_asked *asked, struct tv_answer *answer)
{
    struct tv_incoming *incoming = asked->request->body;
    uint64_t held;
    struct tv_store_id trace;
    if (!tv_incoming_end(incoming, &held, answer) ||
        !tv_incoming_finish(incoming, asked, &trace, answer))
        return;
    answer->status = TV_HTTP_CREATED;
    answer->type = "text/plain; charset=utf-8";
    tv_hub_write_base(asked, &answer->body);
    tv_out_format(&answer->body, "/t/%s/\n", trace.text);
    tv_answer_header(answer, "Location", "/t/%s/", trace.text);
}
