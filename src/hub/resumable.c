/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resumable.c - uploads that can be continued: the tus protocol 1.0 with its extensions creation,
 * creation-defer-length, expiration and termination (https://tus.io/protocols/resumable-upload).
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/encoding.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "hub/handlers.h"
#include "hub/incoming.h"

#define VERSION "1.0.0"
/* The whole Upload-Metadata header. */
#define LONGEST_METADATA 8192u

/* A header that is a number; false when it is there and is none. */
static bool read_number(const struct tv_request *request, const char *name, bool *there,
                        uint64_t *value)
{
    const char *text = tv_request_header(request, name);
    *there = text != NULL;
    return text == NULL || tv_parse_u64(tv_bytes_of(text), value);
}

/* Whether the client speaks our version; one that does not say is believed to. */
static bool speaks_our_version(struct tv_asked *asked, struct tv_answer *answer)
{
    const char *version = tv_request_header(asked->request, "Tus-Resumable");
    tv_answer_header(answer, "Tus-Resumable", VERSION);
    if (version == NULL || strcmp(version, VERSION) == 0)
        return true;
    tv_hub_refuse(answer, TV_HTTP_WRONG_CONDITION, "this server speaks version " VERSION " of tus");
    tv_answer_header(answer, "Tus-Version", VERSION);
    return false;
}

void tv_hub_upload_options(struct tv_asked *asked, struct tv_answer *answer)
{
    const uint64_t most = asked->hub->options.store.max_upload_bytes;
    answer->status = TV_HTTP_NO_CONTENT;
    tv_answer_header(answer, "Tus-Resumable", VERSION);
    tv_answer_header(answer, "Tus-Version", VERSION);
    tv_answer_header(answer, "Tus-Extension",
                     "creation,creation-defer-length,expiration,termination");
    if (most > 0)
        tv_answer_header(answer, "Tus-Max-Size", "%" PRIu64, most);
}

/* What the client says of the file: "filename BASE64,label BASE64,..." */
struct metadata {
    uint8_t *text; /* decoded values */
    struct tv_bytes name;
    struct tv_bytes labels[TV_STORE_LABELS + 1]; /* one too many is the store's to refuse */
    size_t label_count;
};

static bool read_metadata(const char *header, struct metadata *metadata)
{
    struct tv_bytes rest = tv_bytes_of(header != NULL ? header : ""), pair;
    uint8_t *to = metadata->text = tv_alloc(rest.length + 3, 1);
    while (rest.length > 0) {
        struct tv_base64 state = {0};
        size_t used;
        tv_bytes_split(&rest, ',', &pair);
        struct tv_bytes value = tv_bytes_trim(pair), key = tv_bytes_take_word(&value);
        value = tv_bytes_trim(value);
        struct tv_bytes decoded = {to, tv_base64_decode(&state, value, to, &used)};
        if (used != value.length)
            return false;
        to += decoded.length;
        if (tv_bytes_equal(key, TV_BYTES("filename")) || tv_bytes_equal(key, TV_BYTES("name")))
            metadata->name = decoded;
        else if (tv_bytes_equal(key, TV_BYTES("label")) &&
                 metadata->label_count < TV_COUNT(metadata->labels))
            metadata->labels[metadata->label_count++] = decoded;
    }
    return true;
}

/* When an upload is forgotten unless it goes on, as HTTP writes dates. */
static void add_expiry(struct tv_answer *answer, int64_t expires_ms)
{
    char text[64];
    struct tm parts;
    time_t seconds = (time_t)(expires_ms / 1000);
    if (expires_ms != TV_STORE_NEVER && gmtime_r(&seconds, &parts) != NULL &&
        strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts) > 0)
        tv_answer_header(answer, "Upload-Expires", "%s", text);
}

static void make_upload(struct tv_asked *asked, struct metadata *metadata, uint64_t bytes,
                        struct tv_answer *answer)
{
    uint8_t client[TV_TRIES_CLIENT];
    tv_tries_identify(asked->peer, client);
    const struct tv_store_new_upload upload = {
        .name = metadata->name,
        .bytes = bytes,
        .labels = metadata->labels,
        .label_count = metadata->label_count,
        .client = {client, sizeof client},
    };
    struct tv_store *store = asked->hub->store;
    struct tv_store_id uid;
    struct tv_store_upload made;
    struct tv_error err = {0};
    enum tv_store_status status = tv_store_upload_begin(store, &upload, &uid, &err);
    if (status == TV_STORE_OK)
        status = tv_store_upload_get(store, uid.text, &made, &err);
    if (status != TV_STORE_OK) {
        tv_hub_refuse_store(answer, status, &err);
        return;
    }
    answer->status = TV_HTTP_CREATED;
    tv_answer_header(answer, "Location", "/api/uploads/%s", uid.text);
    add_expiry(answer, made.expires_ms);
}

void tv_hub_upload_new(struct tv_asked *asked, struct tv_answer *answer)
{
    const struct tv_request *request = asked->request;
    struct metadata metadata = {0};
    const char *text = tv_request_header(request, "Upload-Metadata");
    const char *later = tv_request_header(request, "Upload-Defer-Length");
    uint64_t bytes = TV_STORE_SIZE_UNKNOWN;
    bool known;
    if (!speaks_our_version(asked, answer))
        return;
    if (!read_number(request, "Upload-Length", &known, &bytes) ||
        known == (later != NULL && strcmp(later, "1") == 0))
        tv_hub_refuse(answer, TV_HTTP_BAD_QUESTION,
                      "expected either Upload-Length, a number, or Upload-Defer-Length: 1");
    else if (bytes == 0)
        tv_hub_refuse(answer, TV_HTTP_WRONG_CONTENT, "the file is empty");
    else if ((text != NULL && strlen(text) > LONGEST_METADATA) || !read_metadata(text, &metadata))
        tv_hub_refuse(answer, TV_HTTP_BAD_QUESTION,
                      "Upload-Metadata: expected pairs of a key and a value in base64");
    else
        make_upload(asked, &metadata, bytes, answer);
    tv_free(metadata.text);
}

static void describe_upload(const struct tv_store_upload *upload, struct tv_answer *answer)
{
    tv_answer_header(answer, "Upload-Offset", "%" PRIu64, upload->held);
    if (upload->bytes == TV_STORE_SIZE_UNKNOWN)
        tv_answer_header(answer, "Upload-Defer-Length", "1");
    else
        tv_answer_header(answer, "Upload-Length", "%" PRIu64, upload->bytes);
    if (upload->done)
        tv_answer_header(answer, "Traceview-Location", "/t/%s/", upload->trace.text);
    add_expiry(answer, upload->expires_ms);
}

void tv_hub_upload_head(struct tv_asked *asked, struct tv_answer *answer)
{
    struct tv_store_upload upload;
    struct tv_error err = {0};
    if (!speaks_our_version(asked, answer))
        return;
    enum tv_store_status status = tv_store_upload_get(asked->hub->store, asked->id, &upload, &err);
    if (status != TV_STORE_OK) {
        tv_hub_refuse_store(answer, status, &err);
        return;
    }
    answer->status = TV_HTTP_NO_CONTENT;
    describe_upload(&upload, answer);
}

/* The length of an upload that began without one, if the client says it now. */
static enum tv_store_status announce_length(struct tv_asked *asked, struct tv_store_piece *piece,
                                            struct tv_error *err)
{
    struct tv_store_upload upload;
    uint64_t bytes;
    bool there;
    enum tv_store_status status = tv_store_upload_get(asked->hub->store, asked->id, &upload, err);
    if (status != TV_STORE_OK || upload.bytes != TV_STORE_SIZE_UNKNOWN)
        return status;
    if (!read_number(asked->request, "Upload-Length", &there, &bytes) || !there)
        return TV_STORE_OK;
    return tv_store_piece_announce(piece, bytes, err);
}

static bool is_well_formed(struct tv_asked *asked, uint64_t *offset, struct tv_answer *answer)
{
    const char *type = tv_request_header(asked->request, "Content-Type");
    bool there;
    if (!speaks_our_version(asked, answer))
        return false;
    if (type == NULL || strcasecmp(type, "application/offset+octet-stream") != 0) {
        tv_hub_refuse(answer, TV_HTTP_WRONG_TYPE,
                      "expected Content-Type: application/offset+octet-stream");
        return false;
    }
    if (!read_number(asked->request, "Upload-Offset", &there, offset) || !there) {
        tv_hub_refuse(answer, TV_HTTP_BAD_QUESTION, "expected Upload-Offset, a number");
        return false;
    }
    return true;
}

bool tv_hub_upload_patch_begin(struct tv_asked *asked, struct tv_body *body,
                               struct tv_answer *answer)
{
    uint64_t offset, held = 0;
    struct tv_error err = {0};
    if (!is_well_formed(asked, &offset, answer))
        return false;
    struct tv_incoming *incoming = tv_incoming_new(asked->hub, false);
    memcpy(incoming->upload.text, asked->id, sizeof asked->id);
    enum tv_store_status status =
        tv_store_piece_begin(asked->hub->store, asked->id, offset, &incoming->piece, &held, &err);
    if (status == TV_STORE_OK)
        status = announce_length(asked, incoming->piece, &err);
    if (status == TV_STORE_OK) {
        tv_incoming_take(incoming, body);
        return true;
    }
    tv_hub_refuse_store(answer, status, &err);
    if (status == TV_STORE_OFFSET)
        tv_answer_header(answer, "Upload-Offset", "%" PRIu64, held);
    tv_incoming_free(incoming);
    return false;
}

void tv_hub_upload_patch(struct tv_asked *asked, struct tv_answer *answer)
{
    struct tv_incoming *incoming = asked->request->body;
    struct tv_store_upload upload;
    struct tv_error err = {0};
    uint64_t held;
    tv_answer_header(answer, "Tus-Resumable", VERSION);
    if (!tv_incoming_end(incoming, &held, answer))
        return;
    enum tv_store_status status = tv_store_upload_get(asked->hub->store, asked->id, &upload, &err);
    if (status != TV_STORE_OK) {
        tv_hub_refuse_store(answer, status, &err);
        return;
    }
    if (upload.held == upload.bytes && !upload.done) {
        if (!tv_incoming_finish(incoming, asked, &upload.trace, answer))
            return;
        upload.done = true;
    }
    answer->status = TV_HTTP_NO_CONTENT;
    describe_upload(&upload, answer);
}

void tv_hub_upload_delete(struct tv_asked *asked, struct tv_answer *answer)
{
    struct tv_error err = {0};
    if (!speaks_our_version(asked, answer))
        return;
    enum tv_store_status status = tv_store_upload_cancel(asked->hub->store, asked->id, &err);
    if (status != TV_STORE_OK)
        tv_hub_refuse_store(answer, status, &err);
    else
        answer->status = TV_HTTP_NO_CONTENT;
}
