/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sender.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/out.h"
#include "base/source.h"
#include "cli/curl.h"
#include "cli/secret.h"
#include "readers/json/json.h"
#include "readers/trace_event/values.h"

/* After a failure of the network: so often, after 1, 2, 4, ... seconds, 30 at most. */
#define MOST_TRIES 10u
#define LONGEST_PAUSE 30u
/* The last words of a server that says no, or what it tells of a trace. */
#define LONGEST_ANSWER ((size_t)1 << 18)
/* Between two questions whether the server has read the trace. */
#define FIRST_PAUSE_MS 20u
#define LAST_PAUSE_MS 1000u
#define NO_STATUS 0

struct tv_sender {
    struct tv_curl curl;
    CURL *handle;
    const struct tv_push_settings *settings;
    char *base; /* the server's address without a slash at its end */
    char *token;
};

/* One request and what came back. */
struct upload_exchange {
    struct curl_slist *headers; /* to send */
    struct tv_source *file;     /* the body, from `at` */
    uint64_t at;
    struct tv_progress *progress;
    struct tv_error unread; /* why the file could not be read; TV_OK */
    long status;            /* NO_STATUS: the network failed */
    char location[512];
    char trace[512]; /* the header Traceview-Location */
    uint64_t offset; /* the header Upload-Offset, or UINT64_MAX */
    char answer[LONGEST_ANSWER + 1];
    size_t answer_length;
    char failure[CURL_ERROR_SIZE];
};

enum tv_status tv_sender_new(const struct tv_push_settings *settings, struct tv_sender **sender,
                             struct tv_error *err)
{
    size_t length = strlen(settings->to);
    if (strncmp(settings->to, "http://", 7) != 0 && strncmp(settings->to, "https://", 8) != 0)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--to: expected http://... or https://...");
    struct tv_sender *made = tv_alloc(1, sizeof *made);
    enum tv_status status =
        tv_secret_read(settings->token, settings->token_file, &made->token, err);
    if (status == TV_OK)
        status = tv_curl_load(&made->curl, err);
    if (status != TV_OK) {
        tv_free(made->token);
        tv_free(made);
        return status;
    }
    while (length > 0 && settings->to[length - 1] == '/')
        length--;
    made->base = memcpy(tv_alloc(length + 1, 1), settings->to, length);
    made->settings = settings;
    made->handle = made->curl.easy_init();
    if (made->handle == NULL)
        tv_memory_exhausted();
    *sender = made;
    return TV_OK;
}

void tv_sender_free(struct tv_sender *sender)
{
    sender->curl.easy_cleanup(sender->handle);
    tv_curl_unload(&sender->curl);
    tv_free(sender->token);
    tv_free(sender->base);
    tv_free(sender);
}

/* Callbacks of libcurl. */

static size_t sender_read_body(char *buffer, size_t size, size_t count, void *context)
{
    struct upload_exchange *exchange = context;
    size_t got;
    if (tv_source_read(exchange->file, exchange->at, buffer, size * count, &got,
                       &exchange->unread) != TV_OK)
        return CURL_READFUNC_ABORT;
    exchange->at += got;
    atomic_store(&exchange->progress->bytes, exchange->at);
    return got;
}

static size_t sender_take_body(char *bytes, size_t size, size_t count, void *context)
{
    struct upload_exchange *exchange = context;
    size_t length = size * count, room = LONGEST_ANSWER - exchange->answer_length;
    size_t kept = length < room ? length : room;
    memcpy(exchange->answer + exchange->answer_length, bytes, kept);
    exchange->answer_length += kept;
    return length;
}

/* "Name: value\r\n": the value, where the name is this one. */
static bool sender_is_header(struct tv_bytes line, const char *name, struct tv_bytes *value)
{
    size_t length = strlen(name);
    if (line.length <= length || line.data[length] != ':' ||
        strncasecmp((const char *)line.data, name, length) != 0)
        return false;
    struct tv_bytes rest = {line.data + length + 1, line.length - length - 1};
    if (rest.length > 0 && rest.data[rest.length - 1] == '\n')
        rest.length--;
    *value = tv_bytes_trim(rest);
    return true;
}

/* Copy a header's value, unless it is too long.  Control characters become '?': what the server
 * says is printed, and a terminal would obey them. */
static void sender_copy_header(struct tv_bytes value, char *text, size_t size)
{
    if (value.length >= size)
        return;
    for (size_t i = 0; i < value.length; i++) {
        struct tv_bytes rest = {value.data + i, value.length - i};
        size_t control = tv_bytes_control(rest);
        *text++ = control > 0 ? '?' : (char)value.data[i];
        i += control > 1 ? control - 1 : 0;
    }
    *text = '\0';
}

static size_t sender_take_header(char *bytes, size_t size, size_t count, void *context)
{
    struct upload_exchange *exchange = context;
    struct tv_bytes line = {(const uint8_t *)bytes, size * count}, value;
    if (sender_is_header(line, "Location", &value))
        sender_copy_header(value, exchange->location, sizeof exchange->location);
    else if (sender_is_header(line, "Traceview-Location", &value))
        sender_copy_header(value, exchange->trace, sizeof exchange->trace);
    else if (sender_is_header(line, "Upload-Offset", &value) && !tv_parse_u64(value, &exchange->offset))
        exchange->offset = UINT64_MAX;
    return line.length;
}

/* Requests. */

static void sender_add_header(struct tv_sender *sender, struct upload_exchange *exchange, const char *name,
                       const char *value)
{
    char line[8192];
    snprintf(line, sizeof line, "%s: %s", name, value);
    struct curl_slist *longer = sender->curl.slist_append(exchange->headers, line);
    if (longer == NULL)
        tv_memory_exhausted();
    exchange->headers = longer;
}

static struct upload_exchange *sender_exchange_new(struct tv_sender *sender)
{
    struct upload_exchange *exchange = tv_alloc(1, sizeof *exchange);
    exchange->offset = UINT64_MAX;
    sender_add_header(sender, exchange, "Tus-Resumable", "1.0.0");
    if (sender->token != NULL) {
        char value[2048];
        snprintf(value, sizeof value, "Bearer %s", sender->token);
        sender_add_header(sender, exchange, "Authorization", value);
    }
    return exchange;
}

static void sender_exchange_free(struct tv_sender *sender, struct upload_exchange *exchange)
{
    sender->curl.slist_free_all(exchange->headers);
    tv_free(exchange);
}

/* Set an option that libcurl copies: a request without it would be another one. */
static void sender_set_text(struct tv_sender *sender, CURLoption option, const char *text)
{
    if (sender->curl.easy_setopt(sender->handle, option, text) == CURLE_OUT_OF_MEMORY)
        tv_memory_exhausted();
}

/* Sends what `exchange` has to `path`, from where its file stands. */
static void sender_perform(struct tv_sender *sender, struct upload_exchange *exchange, const char *method,
                    const char *path)
{
    struct tv_curl *curl = &sender->curl;
    CURL *handle = sender->handle;
    char address[2048];
    snprintf(address, sizeof address, "%s%s", path[0] == '/' ? sender->base : "", path);
    curl->easy_reset(handle);
    sender_set_text(sender, CURLOPT_URL, address);
    sender_set_text(sender, CURLOPT_PROTOCOLS_STR, "http,https");
    curl->easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl->easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, 30L);
    curl->easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl->easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, 120L);
    curl->easy_setopt(handle, CURLOPT_ERRORBUFFER, exchange->failure);
    curl->easy_setopt(handle, CURLOPT_HEADERFUNCTION, sender_take_header);
    curl->easy_setopt(handle, CURLOPT_HEADERDATA, exchange);
    curl->easy_setopt(handle, CURLOPT_WRITEFUNCTION, sender_take_body);
    curl->easy_setopt(handle, CURLOPT_WRITEDATA, exchange);
    if (sender->settings->user != NULL)
        sender_set_text(sender, CURLOPT_USERPWD, sender->settings->user);
    if (strcmp(method, "HEAD") == 0)
        curl->easy_setopt(handle, CURLOPT_NOBODY, 1L);
    if (exchange->file != NULL) {
        curl->easy_setopt(handle, CURLOPT_UPLOAD, 1L);
        curl->easy_setopt(handle, CURLOPT_READFUNCTION, sender_read_body);
        curl->easy_setopt(handle, CURLOPT_READDATA, exchange);
        curl->easy_setopt(handle, CURLOPT_INFILESIZE_LARGE,
                          (curl_off_t)(tv_source_size(exchange->file) - exchange->at));
    }
    sender_set_text(sender, CURLOPT_CUSTOMREQUEST, method);
    curl->easy_setopt(handle, CURLOPT_HTTPHEADER, exchange->headers);
    CURLcode code = curl->easy_perform(handle);
    if (code == CURLE_OK)
        curl->easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &exchange->status);
    else if (exchange->failure[0] == '\0')
        snprintf(exchange->failure, sizeof exchange->failure, "%s", curl->easy_strerror(code));
}

/* The sentence of {"error":"..."}, or what else the server said. */
static enum tv_status sender_fail(const struct upload_exchange *exchange, struct tv_error *err)
{
    const char *start = strstr(exchange->answer, "{\"error\":\"");
    if (exchange->status == NO_STATUS)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s", exchange->failure);
    start = start != NULL ? start + 10 : "";
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "the server says no: %ld %.*s", exchange->status,
                   (int)strcspn(start, "\""), start);
}

/* Whether it may go better in a while: the network, or a server that is busy or full. */
static bool sender_may_retry(const struct upload_exchange *exchange)
{
    return exchange->status == NO_STATUS || exchange->status == 423 || exchange->status == 429 ||
           exchange->status == 409 || exchange->status >= 500;
}

/* Pauses before the next try; false when there were enough. */
static bool sender_pause(unsigned *tries)
{
    unsigned seconds = *tries < 5 ? 1u << *tries : LONGEST_PAUSE;
    struct timespec pause = {.tv_sec = (time_t)seconds};
    if (++*tries > MOST_TRIES)
        return false;
    nanosleep(&pause, NULL);
    return true;
}

/* The upload. */

static void sender_add_base64(struct tv_out *out, struct tv_bytes bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < bytes.length; i += 3) {
        uint32_t bits = 0;
        for (size_t j = 0; j < 3; j++)
            bits = bits << 8 | (i + j < bytes.length ? bytes.data[i + j] : 0u);
        for (size_t j = 0; j < 4; j++)
            tv_out_char(out, i + j <= bytes.length ? digits[bits >> (18 - 6 * j) & 63] : '=');
    }
}

/* "Upload-Metadata: filename ...,label ..." */
static void sender_add_metadata(struct tv_sender *sender, struct upload_exchange *exchange, const char *name)
{
    const struct tv_words *labels = &sender->settings->labels;
    struct tv_out out;
    tv_out_init_memory(&out);
    tv_out_text(&out, "filename ");
    sender_add_base64(&out, tv_bytes_of(name));
    for (size_t i = 0; i < labels->count; i++) {
        tv_out_text(&out, ",label ");
        sender_add_base64(&out, tv_bytes_of(labels->items[i]));
    }
    tv_out_char(&out, '\0');
    sender_add_header(sender, exchange, "Upload-Metadata", (const char *)out.buffer);
    tv_out_release(&out);
}

/* One file on its way. */
struct upload_state {
    struct tv_source *file;
    const char *name;
    struct tv_progress *progress;
    char path[512];  /* where its bytes go, as the server says */
    char trace[512]; /* where its trace is, once all of it is there */
    uint64_t offset; /* so much is there */
    bool again;      /* what failed may go better in a while */
};

/* Length of "http://host:port" at the beginning of an address; 0: of another scheme, or none. */
static size_t sender_origin_length(const char *address)
{
    size_t scheme = 0;
    if (strncasecmp(address, "http://", 7) == 0)
        scheme = 7;
    else if (strncasecmp(address, "https://", 8) == 0)
        scheme = 8;
    return scheme > 0 ? scheme + strcspn(address + scheme, "/?#\\") : 0;
}

/* The file and the token go to the server of --to and to no other that it may name. */
static enum tv_status sender_check_address(const struct tv_sender *sender, const char *address,
                                           struct tv_error *err)
{
    size_t origin = sender_origin_length(address);
    if (address[0] == '/')
        return TV_OK;
    if (address[0] == '\0')
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "the server does not say where the file goes");
    if (origin == 0)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "the server sends the file to '%s': expected http://... or https://...",
                       address);
    if (origin != sender_origin_length(sender->base) || strncasecmp(address, sender->base, origin) != 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "the server sends the file to another one, '%s': nothing was sent there; "
                       "name that server with --to if you trust it",
                       address);
    return TV_OK;
}

/* Makes the upload at the server, once. */
static enum tv_status sender_create_once(struct tv_sender *sender, struct upload_state *sending,
                                  struct tv_error *err)
{
    struct upload_exchange *exchange = sender_exchange_new(sender);
    enum tv_status status = TV_OK;
    char length[32];
    snprintf(length, sizeof length, "%" PRIu64, tv_source_size(sending->file));
    sender_add_header(sender, exchange, "Upload-Length", length);
    sender_add_metadata(sender, exchange, sending->name);
    sender_perform(sender, exchange, "POST", "/api/uploads");
    memcpy(sending->path, exchange->location, sizeof sending->path);
    /* Whom nobody has reached yet may not be there at all, or not be believed. */
    sending->again = exchange->status != NO_STATUS && sender_may_retry(exchange);
    if (exchange->status != 201)
        status = sender_fail(exchange, err);
    else
        status = sender_check_address(sender, sending->path, err);
    sender_exchange_free(sender, exchange);
    return status;
}

static enum tv_status sender_create(struct tv_sender *sender, struct upload_state *sending,
                             struct tv_error *err)
{
    unsigned tries = 0;
    enum tv_status status = sender_create_once(sender, sending, err);
    while (status != TV_OK && sending->again && sender_pause(&tries))
        status = sender_create_once(sender, sending, err);
    return status;
}

/* What the server says of the upload: how much is there, where its trace is. */
static enum tv_status sender_take_state(const struct upload_exchange *exchange, struct upload_state *sending,
                                 struct tv_error *err)
{
    sending->again = sender_may_retry(exchange);
    if (exchange->status / 100 != 2)
        return sender_fail(exchange, err);
    if (exchange->offset != UINT64_MAX)
        sending->offset = exchange->offset;
    if (sending->offset > tv_source_size(sending->file)) {
        sending->again = false;
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "the server has more bytes than the file");
    }
    memcpy(sending->trace, exchange->trace, sizeof sending->trace);
    return TV_OK;
}

static enum tv_status sender_ask_state(struct tv_sender *sender, struct upload_state *sending,
                                struct tv_error *err)
{
    struct upload_exchange *exchange = sender_exchange_new(sender);
    sender_perform(sender, exchange, "HEAD", sending->path);
    enum tv_status status = sender_take_state(exchange, sending, err);
    sender_exchange_free(sender, exchange);
    return status;
}

/* Sends what is not there yet, in one request. */
static enum tv_status sender_send_rest(struct tv_sender *sender, struct upload_state *sending,
                                struct tv_error *err)
{
    struct upload_exchange *exchange = sender_exchange_new(sender);
    char offset[32];
    snprintf(offset, sizeof offset, "%" PRIu64, sending->offset);
    sender_add_header(sender, exchange, "Upload-Offset", offset);
    sender_add_header(sender, exchange, "Content-Type", "application/offset+octet-stream");
    exchange->file = sending->file;
    exchange->at = sending->offset;
    exchange->progress = sending->progress;
    sender_perform(sender, exchange, "PATCH", sending->path);
    enum tv_status status = sender_take_state(exchange, sending, err);
    if (exchange->unread.status != TV_OK) { /* nothing that another try would mend */
        sending->again = false;
        *err = exchange->unread;
        status = err->status;
    }
    sender_exchange_free(sender, exchange);
    return status;
}

/* All bytes, with as many tries as it takes as long as more get through than ever before. */
static enum tv_status sender_send_all(struct tv_sender *sender, struct upload_state *sending,
                               struct tv_error *err)
{
    unsigned tries = 0;
    uint64_t most = sending->offset;
    for (;;) {
        struct tv_error ignored;
        enum tv_status status = sender_send_rest(sender, sending, err);
        bool again = sending->again;
        if (status == TV_OK && sending->trace[0] == '\0')
            status = tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "the server takes no more bytes");
        if (status == TV_OK || !again || !sender_pause(&tries))
            return status;
        if (sender_ask_state(sender, sending, &ignored) == TV_OK && sending->trace[0] != '\0')
            return TV_OK;
        if (sending->offset > most) {
            most = sending->offset;
            tries = 0;
        }
    }
}

enum tv_status tv_sender_send(struct tv_sender *sender, struct tv_source *file, const char *name,
                              struct tv_progress *progress, char **address, struct tv_error *err)
{
    struct upload_state sending = {.file = file, .name = name, .progress = progress};
    enum tv_status status = sender_create(sender, &sending, err);
    if (status == TV_OK)
        status = sender_send_all(sender, &sending, err);
    if (status != TV_OK)
        return status;
    size_t size = strlen(sender->base) + strlen(sending.trace) + 1;
    *address = tv_alloc(size, 1);
    snprintf(*address, size, "%s%s", sending.trace[0] == '/' ? sender->base : "", sending.trace);
    return TV_OK;
}

/* ---- What became of it ---- */

static struct tv_bytes sender_find_text(struct tv_bytes object, const char *key,
                                        struct tv_te_scratch *scratch)
{
    return tv_te_text(tv_json_find(object, tv_bytes_of(key)).raw, scratch);
}

/* TV_ERR_SYNTAX, with what the server says, when it could not read the trace.  *again: it has not
 * tried yet. */
static enum tv_status sender_judge_trace(struct tv_bytes trace, bool *again, struct tv_error *err)
{
    struct tv_te_scratch scratch = {NULL, 0};
    enum tv_status status = TV_OK;
    struct tv_bytes state = sender_find_text(trace, "state", &scratch);
    *again = tv_bytes_equal(state, tv_bytes_of("waiting")) ||
             tv_bytes_equal(state, tv_bytes_of("reading"));
    if (tv_bytes_equal(state, tv_bytes_of("failed"))) {
        struct tv_bytes error = tv_json_find(trace, tv_bytes_of("error")).raw;
        struct tv_bytes message = sender_find_text(error, "message", &scratch);
        status = tv_fail(err, TV_ERR_SYNTAX, TV_NO_OFFSET, "the server cannot read it: %.*s",
                         (int)message.length, (const char *)message.data);
    }
    tv_te_scratch_release(&scratch);
    return status;
}

/* Asks once. */
static enum tv_status sender_ask_trace(struct tv_sender *sender, const char *path, bool *again,
                                    struct tv_error *err)
{
    struct upload_exchange *exchange = sender_exchange_new(sender);
    enum tv_status status = TV_OK;
    sender_perform(sender, exchange, "GET", path);
    *again = false;
    if (exchange->status == 200)
        status = sender_judge_trace(
            (struct tv_bytes){(const uint8_t *)exchange->answer, exchange->answer_length}, again,
            err);
    sender_exchange_free(sender, exchange);
    return status;
}

enum tv_status tv_sender_await(struct tv_sender *sender, const char *address, struct tv_error *err)
{
    char path[600];
    size_t length = strlen(address);
    while (length > 0 && address[length - 1] == '/')
        length--;
    size_t first = length;
    while (first > 0 && address[first - 1] != '/')
        first--;
    snprintf(path, sizeof path, "/api/traces/%.*s", (int)(length - first), address + first);
    bool again = true;
    enum tv_status status = sender_ask_trace(sender, path, &again, err);
    for (unsigned ms = FIRST_PAUSE_MS; again;
         ms = ms < LAST_PAUSE_MS / 2 ? 2 * ms : LAST_PAUSE_MS) {
        struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
        nanosleep(&pause, NULL);
        status = sender_ask_trace(sender, path, &again, err);
    }
    return status;
}
