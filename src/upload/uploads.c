/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uploads.c - receives traces: as one PUT, or in chunks by the tus protocol.
 *
 *     PUT /NAME               create, one chunk, finish; cancelled if it breaks off
 *     POST /api/uploads       create                                      (tus)
 *     PATCH /api/uploads/ID   one chunk at Upload-Offset; finish when all bytes have arrived
 *     HEAD, DELETE            the offset to resume at; cancel
 *
 * The bytes go from the connection straight into the store, which makes them durable
 * (store/chunks.c). A finished upload becomes a trace and wakes the reading queue.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/bytes.h"
#include "base/encoding.h"
#include "base/file.h"
#include "base/memory.h"
#include "store/store.h"
#include "store/traces.h"
#include "upload/internal.h"

/* The body of one request. */
struct upload_body {
    struct tv_upload_server *server;
    struct tv_store_id upload;
    struct tv_store_chunk *chunk; /* NULL: not begun, or ended */
    bool single;                  /* it cannot be resumed: cancel it when it breaks off */
    bool finished;                /* it has become a trace */
};

/* Make the state of a body that is about to come. */
static struct upload_body *upload_body_new(struct tv_upload_server *server, bool single)
{
    struct upload_body *in = tv_alloc(1, sizeof *in);
    in->server = server;
    in->single = single;
    return in;
}

/* End the chunk and free the body. An upload that broke off and cannot be resumed is cancelled. */
static void upload_body_free(struct upload_body *in)
{
    struct tv_error err;
    uint64_t held;
    struct tv_upload_server *server = in->server;
    /* the error was already reported, or nobody is left to tell */
    if (in->chunk != NULL) {
        (void)!tv_store_chunk_end(in->chunk, &held, &err);
        server->counts.broken_uploads++;
    }
    if (!in->finished && in->single && in->upload.text[0] != '\0')
        (void)!tv_store_upload_cancel(server->store, in->upload.text, &err);
    tv_free(in);
}

/* Write bytes of the body into the store; an error ends the request. */
static enum tv_status upload_body_take(void *context, struct tv_bytes chunk,
                                       struct tv_answer *answer)
{
    assert(((struct upload_body *)context)->chunk != NULL);
    struct upload_body *in = context;
    struct tv_error err = {0};
    enum tv_store_status status = tv_store_chunk_write(in->chunk, chunk, &err);
    in->server->counts.upload_bytes += chunk.length;
    if (status == TV_STORE_OK)
        return TV_OK;
    if (status == TV_STORE_FULL)
        in->server->counts.full_disks++;
    tv_upload_refuse_store(answer, status, &err);
    return TV_ERR_IO;
}

/* Called when the body has ended, complete or not. */
static void upload_body_end_request(void *context, bool whole)
{
    (void)whole;
    upload_body_free(context);
}

/* Make it the taker of the request's body, which frees it at its end. */
static void upload_body_install(struct upload_body *in, struct tv_body *body)
{
    *body =
        (struct tv_body){.take = upload_body_take, .end = upload_body_end_request, .context = in};
}

/* End the chunk when the body is complete. False: the answer says what went wrong. */
static bool upload_body_end_chunk(struct upload_body *in, uint64_t *held, struct tv_answer *answer)
{
    assert(in->chunk != NULL);
    struct tv_error err = {0};
    enum tv_store_status status = tv_store_chunk_end(in->chunk, held, &err);
    in->chunk = NULL;
    if (status == TV_STORE_OK)
        return true;
    tv_upload_refuse_store(answer, status, &err);
    return false;
}

/* Make a trace of the upload and wake the reading queue. False: the answer says why not. */
static bool upload_body_finish(struct upload_body *in, struct tv_upload_request *req,
                               struct tv_store_id *trace, struct tv_answer *answer)
{
    assert(!in->finished);
    struct tv_upload_server *server = in->server;
    struct tv_error err = {0};
    struct tv_log_line line;
    enum tv_store_status status =
        tv_store_upload_finish(server->store, in->upload.text, trace, &err);
    if (status != TV_STORE_OK) {
        tv_upload_refuse_store(answer, status, &err);
        return false;
    }
    in->finished = true;
    server->counts.uploads++;
    tv_reading_queue_wake(server->reading);
    tv_log_begin(&line, &server->options.log, TV_LOG_INFO, "upload.done");
    tv_log_text(&line, "trace", trace->text);
    tv_log_text(&line, "client", req->peer);
    tv_log_end(&line);
    return true;
}

/* ---- PUT /NAME and PUT /: a whole file in one request, as `curl -T` sends it ---- */

/* Decode the name in the path ("app%20start.trace") into `text`. For standard input curl sends "-"
 * or no name. */
static enum tv_status put_decode_name(struct tv_bytes name, uint8_t *text, struct tv_bytes *decoded,
                                      struct tv_error *err)
{
    *decoded = TV_BYTES("standard input");
    if (name.length == 0 || tv_bytes_equal(name, TV_BYTES("-")))
        return TV_OK;
    memcpy(text, name.data, name.length);
    return tv_query_decode_name(text, name.length, decoded, err);
}

/* Split "?labels=a,b". One label more than a trace may have is returned, for the store to
 * refuse. */
static size_t put_find_labels(const struct tv_query *query, struct tv_bytes *labels)
{
    const struct tv_bytes *list = tv_query_find(query, "labels");
    struct tv_bytes rest = list != NULL ? *list : (struct tv_bytes){NULL, 0};
    size_t count = 0;
    while (rest.length > 0 && count <= TV_STORE_LABELS)
        tv_bytes_split(&rest, ',', &labels[count++]);
    return count;
}

/* Create the upload of a PUT and begin its only chunk. */
static enum tv_store_status put_begin_upload(struct tv_upload_request *req, struct tv_bytes name,
                                             const struct tv_query *query, struct upload_body *in,
                                             struct tv_error *err)
{
    struct tv_bytes labels[TV_STORE_LABELS + 1];
    const uint64_t bytes = req->http->length;
    const struct tv_store_new_upload upload = {
        .name = name,
        .bytes = bytes == TV_HTTP_UNKNOWN_LENGTH ? TV_STORE_SIZE_UNKNOWN : bytes,
        .labels = labels,
        .label_count = put_find_labels(query, labels),
        .client = {req->client, sizeof req->client},
    };
    uint64_t held;
    enum tv_store_status status =
        tv_store_upload_begin(req->server->store, &upload, &in->upload, err);
    if (status != TV_STORE_OK)
        return status;
    return tv_store_chunk_begin(req->server->store, in->upload.text, 0, &in->chunk, &held, err);
}

/* Accept the body, once the name is decoded. */
static bool put_begin_body(struct tv_upload_request *req, struct tv_bytes name,
                           const struct tv_query *query, struct tv_body *body,
                           struct tv_answer *answer)
{
    struct tv_error err = {0};
    struct upload_body *in = upload_body_new(req->server, true);
    enum tv_store_status status = put_begin_upload(req, name, query, in, &err);
    if (status == TV_STORE_OK) {
        upload_body_install(in, body);
        return true;
    }
    tv_upload_refuse_store(answer, status, &err);
    upload_body_free(in);
    return false;
}

/* Check the request before its body comes, so that curl learns of a mistake at
 * once. */
bool tv_upload_put_begin(struct tv_upload_request *req, struct tv_body *body,
                         struct tv_answer *answer)
{
    const struct tv_request *request = req->http;
    struct tv_query query;
    struct tv_error err = {0};
    struct tv_bytes name;
    bool begun = false;
    if (request->length == 0) {
        tv_upload_refuse(answer, TV_HTTP_UNPROCESSABLE, "the file is empty");
        return false;
    }
    uint8_t *text = tv_alloc(req->rest.length, 1);
    if (put_decode_name(req->rest, text, &name, &err) != TV_OK ||
        tv_query_parse(&query, request->query, request->query_length, &err) != TV_OK)
        tv_upload_refuse(answer, TV_HTTP_BAD_REQUEST, err.message);
    else
        begun = put_begin_body(req, name, &query, body, answer);
    tv_free(text);
    return begun;
}

/* Answer with the address of the trace: what a terminal shows is all that
 * somebody needs. */
void tv_upload_put(struct tv_upload_request *req, struct tv_answer *answer)
{
    struct upload_body *in = req->http->body;
    uint64_t held;
    struct tv_store_id trace;
    if (!upload_body_end_chunk(in, &held, answer) || !upload_body_finish(in, req, &trace, answer))
        return;
    answer->status = TV_HTTP_CREATED;
    answer->type = "text/plain; charset=utf-8";
    tv_upload_write_base_url(req, &answer->body);
    tv_out_format(&answer->body, "/t/%s/\n", trace.text);
    tv_answer_header(answer, "Location", "/t/%s/", trace.text);
}

/* ---- The tus protocol ---- */

/* Version 1.0 with the extensions creation, creation-defer-length, expiration and termination
 * (https://tus.io/protocols/resumable-upload). */

#define TUS_VERSION "1.0.0"
/* Maximum length of an Upload-Metadata header. */
#define LONGEST_METADATA 8192u

/* Read a header with a number. False: it is there and is no number, or too large for a length (and
 * for TV_STORE_SIZE_UNKNOWN). */
static bool tus_read_number(const struct tv_request *request, const char *name, bool *there,
                            uint64_t *value)
{
    const char *text = tv_request_header(request, name);
    *there = text != NULL;
    return text == NULL || (tv_parse_u64(tv_bytes_of(text), value) && *value <= INT64_MAX);
}

/* Return true when the client speaks our version, or does not say which. */
static bool tus_check_version(struct tv_upload_request *req, struct tv_answer *answer)
{
    const char *version = tv_request_header(req->http, "Tus-Resumable");
    tv_answer_header(answer, "Tus-Resumable", TUS_VERSION);
    if (version == NULL || strcmp(version, TUS_VERSION) == 0)
        return true;
    tv_upload_refuse(answer, TV_HTTP_PRECONDITION_FAILED,
                     "this server speaks version " TUS_VERSION " of tus");
    tv_answer_header(answer, "Tus-Version", TUS_VERSION);
    return false;
}

/* Answer which version and extensions of tus this server has. */
void tv_upload_tus_options(struct tv_upload_request *req, struct tv_answer *answer)
{
    const uint64_t most = req->server->options.store.max_upload_bytes;
    answer->status = TV_HTTP_NO_CONTENT;
    tv_answer_header(answer, "Tus-Resumable", TUS_VERSION);
    tv_answer_header(answer, "Tus-Version", TUS_VERSION);
    tv_answer_header(answer, "Tus-Extension",
                     "creation,creation-defer-length,expiration,termination");
    if (most > 0)
        tv_answer_header(answer, "Tus-Max-Size", "%" PRIu64, most);
}

/* The contents of Upload-Metadata: "filename BASE64,label BASE64,..." */
struct tus_metadata {
    uint8_t *text; /* memory of the decoded values */
    struct tv_bytes name;
    struct tv_bytes labels[TV_STORE_LABELS + 1]; /* one too many is left to the store to refuse */
    size_t label_count;
};

/* Decode the pairs; keys that nobody knows are ignored.  A decoded value is
 * shorter than its base64, so all of them fit into one buffer. */
static bool tus_read_metadata(const char *header, struct tus_metadata *metadata)
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

/* Add the time when an idle upload is dropped, in HTTP's date format. */
static void tus_add_expiry(struct tv_answer *answer, int64_t expires_ms)
{
    char text[64];
    struct tm parts;
    time_t seconds = (time_t)(expires_ms / 1000);
    if (expires_ms != TV_STORE_NEVER && gmtime_r(&seconds, &parts) != NULL &&
        strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts) > 0)
        tv_answer_header(answer, "Upload-Expires", "%s", text);
}

/* Create the upload and answer with its address. */
static void tus_make_upload(struct tv_upload_request *req, struct tus_metadata *metadata,
                            uint64_t bytes, struct tv_answer *answer)
{
    const struct tv_store_new_upload upload = {
        .name = metadata->name,
        .bytes = bytes,
        .labels = metadata->labels,
        .label_count = metadata->label_count,
        .client = {req->client, sizeof req->client},
    };
    struct tv_store *store = req->server->store;
    struct tv_store_id uid;
    struct tv_store_upload made;
    struct tv_error err = {0};
    enum tv_store_status status = tv_store_upload_begin(store, &upload, &uid, &err);
    if (status == TV_STORE_OK)
        status = tv_store_upload_get(store, uid.text, &made, &err);
    if (status != TV_STORE_OK) {
        tv_upload_refuse_store(answer, status, &err);
        return;
    }
    answer->status = TV_HTTP_CREATED;
    tv_answer_header(answer, "Location", "/api/uploads/%s", uid.text);
    tus_add_expiry(answer, made.expires_ms);
}

/* Answer POST: the length is either known now or announced later. */
void tv_upload_tus_create(struct tv_upload_request *req, struct tv_answer *answer)
{
    const struct tv_request *request = req->http;
    struct tus_metadata metadata = {0};
    const char *text = tv_request_header(request, "Upload-Metadata");
    const char *later = tv_request_header(request, "Upload-Defer-Length");
    uint64_t bytes = TV_STORE_SIZE_UNKNOWN;
    bool known;
    if (!tus_check_version(req, answer))
        return;
    if (!tus_read_number(request, "Upload-Length", &known, &bytes) ||
        known == (later != NULL && strcmp(later, "1") == 0))
        tv_upload_refuse(answer, TV_HTTP_BAD_REQUEST,
                         "expected either Upload-Length, a number, or Upload-Defer-Length: 1");
    else if (bytes == 0)
        tv_upload_refuse(answer, TV_HTTP_UNPROCESSABLE, "the file is empty");
    else if ((text != NULL && strlen(text) > LONGEST_METADATA) ||
             !tus_read_metadata(text, &metadata))
        tv_upload_refuse(answer, TV_HTTP_BAD_REQUEST,
                         "Upload-Metadata: expected pairs of a key and a value in base64");
    else
        tus_make_upload(req, &metadata, bytes, answer);
    tv_free(metadata.text);
}

/* Add the headers about how far an upload is; a finished one names its trace. */
static void tus_describe_upload(const struct tv_store_upload *upload, struct tv_answer *answer)
{
    tv_answer_header(answer, "Upload-Offset", "%" PRIu64, upload->held);
    if (upload->bytes == TV_STORE_SIZE_UNKNOWN)
        tv_answer_header(answer, "Upload-Defer-Length", "1");
    else
        tv_answer_header(answer, "Upload-Length", "%" PRIu64, upload->bytes);
    if (upload->done)
        tv_answer_header(answer, "Traceview-Location", "/t/%s/", upload->trace.text);
    tus_add_expiry(answer, upload->expires_ms);
}

/* Answer where a client resumes. */
void tv_upload_tus_head(struct tv_upload_request *req, struct tv_answer *answer)
{
    struct tv_store_upload upload;
    struct tv_error err = {0};
    if (!tus_check_version(req, answer))
        return;
    enum tv_store_status status = tv_store_upload_get(req->server->store, req->id, &upload, &err);
    if (status != TV_STORE_OK) {
        tv_upload_refuse_store(answer, status, &err);
        return;
    }
    answer->status = TV_HTTP_NO_CONTENT;
    tus_describe_upload(&upload, answer);
}

/* Set the length of an upload that began without one, if the client sends it now. */
static enum tv_store_status tus_announce_length(struct tv_upload_request *req,
                                                struct tv_store_chunk *chunk, struct tv_error *err)
{
    struct tv_store_upload upload;
    uint64_t bytes;
    bool there;
    enum tv_store_status status = tv_store_upload_get(req->server->store, req->id, &upload, err);
    if (status != TV_STORE_OK || upload.bytes != TV_STORE_SIZE_UNKNOWN)
        return status;
    if (!tus_read_number(req->http, "Upload-Length", &there, &bytes) || !there)
        return TV_STORE_OK;
    return tv_store_chunk_announce(chunk, bytes, err);
}

/* Check the headers of a chunk. */
static bool tus_check_patch(struct tv_upload_request *req, uint64_t *offset,
                            struct tv_answer *answer)
{
    const char *type = tv_request_header(req->http, "Content-Type");
    bool there;
    if (!tus_check_version(req, answer))
        return false;
    if (type == NULL || strcasecmp(type, "application/offset+octet-stream") != 0) {
        tv_upload_refuse(answer, TV_HTTP_UNSUPPORTED_TYPE,
                         "expected Content-Type: application/offset+octet-stream");
        return false;
    }
    if (!tus_read_number(req->http, "Upload-Offset", &there, offset) || !there) {
        tv_upload_refuse(answer, TV_HTTP_BAD_REQUEST, "expected Upload-Offset, a number");
        return false;
    }
    return true;
}

bool tv_upload_tus_patch_begin(struct tv_upload_request *req, struct tv_body *body,
                               struct tv_answer *answer)
{
    uint64_t offset, held = 0;
    struct tv_error err = {0};
    if (!tus_check_patch(req, &offset, answer))
        return false;
    struct upload_body *in = upload_body_new(req->server, false);
    memcpy(in->upload.text, req->id, sizeof req->id);
    enum tv_store_status status =
        tv_store_chunk_begin(req->server->store, req->id, offset, &in->chunk, &held, &err);
    if (status == TV_STORE_OK)
        status = tus_announce_length(req, in->chunk, &err);
    if (status == TV_STORE_OK) {
        upload_body_install(in, body);
        return true;
    }
    tv_upload_refuse_store(answer, status, &err);
    if (status == TV_STORE_WRONG_OFFSET)
        tv_answer_header(answer, "Upload-Offset", "%" PRIu64, held);
    upload_body_free(in);
    return false;
}

/* Answer a chunk; the last one makes a trace of the upload. */
void tv_upload_tus_patch(struct tv_upload_request *req, struct tv_answer *answer)
{
    struct upload_body *in = req->http->body;
    struct tv_store_upload upload;
    struct tv_error err = {0};
    uint64_t held;
    tv_answer_header(answer, "Tus-Resumable", TUS_VERSION);
    if (!upload_body_end_chunk(in, &held, answer))
        return;
    enum tv_store_status status = tv_store_upload_get(req->server->store, req->id, &upload, &err);
    if (status != TV_STORE_OK) {
        tv_upload_refuse_store(answer, status, &err);
        return;
    }
    if (upload.held == upload.bytes && !upload.done) {
        if (!upload_body_finish(in, req, &upload.trace, answer))
            return;
        upload.done = true;
    }
    answer->status = TV_HTTP_NO_CONTENT;
    tus_describe_upload(&upload, answer);
}

/* Answer the end of an upload that the client gives up. */
void tv_upload_tus_delete(struct tv_upload_request *req, struct tv_answer *answer)
{
    struct tv_error err = {0};
    if (!tus_check_version(req, answer))
        return;
    enum tv_store_status status = tv_store_upload_cancel(req->server->store, req->id, &err);
    if (status != TV_STORE_OK)
        tv_upload_refuse_store(answer, status, &err);
    else
        answer->status = TV_HTTP_NO_CONTENT;
}

/* ---- The sample trace ---- */

#define LABEL "sample"
#define SAMPLE_BLOCK ((size_t)256 * 1024)
/* Traces with the label that are compared. Users may give the label to their own traces. */
#define MAX_LABELLED 100u

/* Have two files the same bytes? */
static bool sample_has_same_bytes(struct tv_source *one, struct tv_source *other)
{
    struct tv_error err;
    uint64_t bytes = tv_source_size(one), at = 0;
    uint8_t *buffers = tv_alloc(2, SAMPLE_BLOCK);
    bool same = tv_source_size(other) == bytes;
    while (same && at < bytes) {
        size_t got, other_got;
        same = tv_source_read(one, at, buffers, SAMPLE_BLOCK, &got, &err) == TV_OK &&
               tv_source_read(other, at, buffers + SAMPLE_BLOCK, got, &other_got, &err) == TV_OK &&
               got > 0 && got == other_got && memcmp(buffers, buffers + SAMPLE_BLOCK, got) == 0;
        at += same ? got : 0;
    }
    tv_free(buffers);
    return same;
}

/* Is a trace of the store the sample?  Its size is compared before its bytes. */
static bool sample_is_trace(struct tv_upload_server *server, const struct tv_store_trace *trace,
                            struct tv_source *file)
{
    struct tv_error err;
    struct tv_source *kept;
    uint64_t bytes;
    int fd;
    if (trace->bytes != tv_source_size(file) ||
        tv_store_file_open(server->store, trace->id.text, &fd, &bytes, &err) != TV_STORE_OK)
        return false;
    if (tv_source_open_fd(fd, trace->name, &kept, &err) != TV_OK)
        return false;
    bool same = sample_has_same_bytes(kept, file);
    tv_source_free(kept);
    return same;
}

/* Find the sample among the traces with its label, by comparing the bytes. */
static bool sample_find(struct tv_upload_server *server, struct tv_source *file)
{
    const struct tv_store_query query = {.label = tv_bytes_of(LABEL), .limit = MAX_LABELLED};
    struct tv_store_page page = {0};
    struct tv_arena arena;
    struct tv_error err;
    bool found = false;
    tv_arena_init(&arena);
    if (tv_store_search(server->store, &query, &arena, &page, &err) != TV_STORE_OK)
        page.count = 0;
    for (size_t i = 0; i < page.count && !found; i++) {
        found = sample_is_trace(server, &page.traces[i], file);
        if (found)
            server->sample = page.traces[i].id;
    }
    tv_arena_release(&arena);
    return found;
}

/* Copy the file into a chunk. */
static enum tv_store_status sample_copy(struct tv_store_chunk *chunk, struct tv_source *file,
                                        struct tv_error *err)
{
    uint8_t *buffer = tv_alloc(SAMPLE_BLOCK, 1);
    enum tv_store_status status = TV_STORE_OK;
    size_t got;
    for (uint64_t at = 0; at < tv_source_size(file) && status == TV_STORE_OK; at += got) {
        if (tv_source_read(file, at, buffer, SAMPLE_BLOCK, &got, err) != TV_OK)
            status = TV_STORE_FAILED;
        else
            status = tv_store_chunk_write(chunk, (struct tv_bytes){buffer, got}, err);
    }
    tv_free(buffer);
    return status;
}

/* Upload the sample and pin it. */
static enum tv_store_status sample_upload(struct tv_upload_server *server, struct tv_source *file,
                                          struct tv_error *err)
{
    const struct tv_bytes label = tv_bytes_of(LABEL);
    const struct tv_store_new_upload upload = {
        .name = tv_bytes_of("example.trace"),
        .bytes = tv_source_size(file),
        .labels = &label,
        .label_count = 1,
    };
    const bool pinned = true;
    const struct tv_store_change change = {.pinned = &pinned};
    struct tv_store_id uid;
    struct tv_store_chunk *chunk;
    uint64_t held;
    enum tv_store_status status = tv_store_upload_begin(server->store, &upload, &uid, err);
    if (status != TV_STORE_OK)
        return status;
    status = tv_store_chunk_begin(server->store, uid.text, 0, &chunk, &held, err);
    if (status == TV_STORE_OK) {
        status = sample_copy(chunk, file, err);
        enum tv_store_status ended = tv_store_chunk_end(chunk, &held, err);
        status = status == TV_STORE_OK ? ended : status;
    }
    if (status == TV_STORE_OK)
        status = tv_store_upload_finish(server->store, uid.text, &server->sample, err);
    if (status == TV_STORE_OK)
        status = tv_store_trace_change(server->store, server->sample.text, &change, err);
    return status;
}

/* A server that was started before has the sample already; a deleted one comes
 * back with the next start. */
void tv_sample_install(struct tv_upload_server *server)
{
    struct tv_source *file;
    struct tv_error err = {0};
    if (tv_source_open_file(server->options.sample, &file, &err) != TV_OK) {
        tv_error_prefix(&err, "%s", server->options.sample);
        tv_log_failure(&server->options.log, "sample.missing", NULL, &err);
        return;
    }
    if (!sample_find(server, file) && sample_upload(server, file, &err) != TV_STORE_OK)
        tv_log_failure(&server->options.log, "sample.missing", NULL, &err);
    tv_source_free(file);
}
