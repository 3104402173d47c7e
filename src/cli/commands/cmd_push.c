/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_push.c - `push`: sends traces to an upload server and prints the address of each.
 *
 *     POST  /api/uploads            --> Location of the upload
 *     PATCH upload, Upload-Offset   --> bytes; repeated after a failure, from the offset that
 *     HEAD  upload                  <-- the server reports
 *     GET   /api/traces/ID          <-- until the trace is read, or failed
 *
 * After a failure the server alone knows how many bytes it has: a request that failed here may have
 * arrived there.  So its offset is asked for, and the tries count from 0 whenever it has grown.
 *
 * The server's answer is not trusted.  An address on another server gets neither file nor token,
 * and control characters in what is printed become question marks. */
#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/encoding.h"
#include "base/memory.h"
#include "base/out.h"
#include "base/source.h"
#include "cli/command.h"
#include "cli/input/inputs.h"
#include "cli/input/user_folder.h"
#include "cli/options.h"
#include "cli/output/curl_library.h"
#include "cli/output/message.h"
#include "readers/json/json.h"
#include "readers/trace_event/text/values.h"

/* Retries after a network failure: after 1, 2, 4, ... seconds, at most 30. */
#define MAX_TRIES 10u
#define LONGEST_PAUSE 30u
/* Largest answer of the server: an error message, or facts about a trace. */
#define LONGEST_ANSWER ((size_t)1 << 18)
/* Pauses between two queries for the state of the trace. */
#define FIRST_PAUSE_MS 20u
#define LAST_PAUSE_MS 1000u
#define NO_STATUS 0
#define UNAUTHORIZED 401

/* ---- The upload, which can be resumed (tus 1.0, docs/openapi.json) ---- */

struct upload_sender {
    struct tv_curl curl;
    CURL *handle;
    const struct tv_push_settings *settings;
    char *base; /* address of the server, without a slash at its end */
    char *token;
};

/* One request and its response. */
struct upload_exchange {
    const struct upload_sender *sender;
    struct curl_slist *headers; /* to send */
    struct tv_source *file;     /* the body, starting at `at` */
    uint64_t at;
    struct tv_progress *progress;
    struct tv_error unread; /* error while reading the file, or TV_OK */
    long status;            /* NO_STATUS: the network failed */
    char location[512];
    char trace[512]; /* the header Traceview-Location */
    uint64_t offset; /* the header Upload-Offset, or UINT64_MAX */
    char answer[LONGEST_ANSWER + 1];
    size_t answer_length;
    char failure[CURL_ERROR_SIZE];
};

/* Create a sender; the settings must outlive it.  TV_ERR_USAGE when --to is not a URL. */
static enum tv_status sender_new(const struct tv_push_settings *settings,
                                 struct upload_sender **sender, struct tv_error *err)
{
    size_t length = strlen(settings->to);
    if (strncmp(settings->to, "http://", 7) != 0 && strncmp(settings->to, "https://", 8) != 0)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET, "--to: expected http://... or https://...");
    struct upload_sender *made = tv_alloc(1, sizeof *made);
    enum tv_status status =
        tv_secret_read(settings->token, settings->token_file, &made->token, err);
    if (status == TV_OK)
        status = tv_curl_load(&made->curl, "use 'curl -T FILE URL', which cannot resume", err);
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

static void sender_free(struct upload_sender *sender)
{
    sender->curl.easy_cleanup(sender->handle);
    tv_curl_unload(&sender->curl);
    tv_free(sender->token);
    tv_free(sender->base);
    tv_free(sender);
}

/* ---- Callbacks of libcurl ---- */

/* Give libcurl the next bytes of the file. An error of reading ends the request and is kept. */
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

/* Keep the beginning of an answer; what is longer is dropped. */
static size_t sender_take_body(char *bytes, size_t size, size_t count, void *context)
{
    assert(((struct upload_exchange *)context)->answer_length <= LONGEST_ANSWER);
    struct upload_exchange *exchange = context;
    size_t length = size * count, room = LONGEST_ANSWER - exchange->answer_length;
    size_t kept = length < room ? length : room;
    memcpy(exchange->answer + exchange->answer_length, bytes, kept);
    exchange->answer_length += kept;
    return length;
}

/* Parse "Name: value\r\n"; false when the name is another one. */
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

/* Copy the value of a header, unless it is too long. Control characters become '?', because the
 * value is printed and a terminal would obey them. */
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

/* Take a header that means something here. */
static size_t sender_take_header(char *bytes, size_t size, size_t count, void *context)
{
    struct upload_exchange *exchange = context;
    struct tv_bytes line = {(const uint8_t *)bytes, size * count}, value;
    if (sender_is_header(line, "Location", &value))
        sender_copy_header(value, exchange->location, sizeof exchange->location);
    else if (sender_is_header(line, "Traceview-Location", &value))
        sender_copy_header(value, exchange->trace, sizeof exchange->trace);
    else if (sender_is_header(line, "Upload-Offset", &value) &&
             !tv_parse_u64(value, &exchange->offset))
        exchange->offset = UINT64_MAX;
    return line.length;
}

/* ---- Requests ---- */

static void sender_add_header(struct upload_sender *sender, struct upload_exchange *exchange,
                              const char *name, const char *value)
{
    char line[8192];
    snprintf(line, sizeof line, "%s: %s", name, value);
    struct curl_slist *longer = sender->curl.slist_append(exchange->headers, line);
    if (longer == NULL)
        tv_memory_exhausted();
    exchange->headers = longer;
}

static struct upload_exchange *sender_exchange_new(struct upload_sender *sender)
{
    struct upload_exchange *exchange = tv_alloc(1, sizeof *exchange);
    exchange->sender = sender;
    exchange->offset = UINT64_MAX;
    sender_add_header(sender, exchange, "Tus-Resumable", "1.0.0");
    if (sender->token != NULL) {
        char value[2048];
        snprintf(value, sizeof value, "Bearer %s", sender->token);
        sender_add_header(sender, exchange, "Authorization", value);
    }
    return exchange;
}

static void sender_exchange_free(struct upload_sender *sender, struct upload_exchange *exchange)
{
    sender->curl.slist_free_all(exchange->headers);
    tv_free(exchange);
}

/* Set an option that libcurl copies. Running out of memory must not be ignored: the request would
 * be a different one. */
static void sender_set_text(struct upload_sender *sender, CURLoption option, const char *text)
{
    if (sender->curl.easy_setopt(sender->handle, option, text) == CURLE_OUT_OF_MEMORY)
        tv_memory_exhausted();
}

/* Send the request to `path`, with the file from its current offset. */
static void sender_perform(struct upload_sender *sender, struct upload_exchange *exchange,
                           const char *method, const char *path)
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

/* The server's own message is meant for people at its page. */
static enum tv_status sender_fail_login(const struct upload_sender *sender, struct tv_error *err)
{
    if (sender->token != NULL)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "the server does not accept the token: ask for a valid one, and check --to");
    if (sender->settings->user != NULL)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "the server does not accept the name and password of --user");
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                   "the server wants a token: use --token-file, or a line \"token = TEXT\" in the "
                   "file of options for 'push'");
}

/* Return the message of {"error":"..."}, or the network failure, as an error. */
static enum tv_status sender_fail(const struct upload_exchange *exchange, struct tv_error *err)
{
    const char *start = strstr(exchange->answer, "{\"error\":\"");
    if (exchange->status == NO_STATUS)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "%s", exchange->failure);
    if (exchange->status == UNAUTHORIZED)
        return sender_fail_login(exchange->sender, err);
    start = start != NULL ? start + 10 : "";
    return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "the server refused the request: %ld %.*s",
                   exchange->status, (int)strcspn(start, "\""), start);
}

/* Is it worth trying again later: a network failure, or a busy or full server? */
static bool sender_may_retry(const struct upload_exchange *exchange)
{
    return exchange->status == NO_STATUS || exchange->status == 423 || exchange->status == 429 ||
           exchange->status == 409 || exchange->status >= 500;
}

/* Sleep before the next attempt; false when there were enough attempts. */
static bool sender_pause(unsigned *tries)
{
    unsigned seconds = *tries < 5 ? 1u << *tries : LONGEST_PAUSE;
    struct timespec pause = {.tv_sec = (time_t)seconds};
    if (++*tries > MAX_TRIES)
        return false;
    nanosleep(&pause, NULL);
    return true;
}

/* ---- The upload ---- */

/* Append a whole text in Base64. */
static void sender_add_base64(struct tv_out *out, struct tv_bytes text)
{
    struct tv_base64_encoder encoder = {.count = 0};
    tv_base64_encode(&encoder, text, out);
    tv_base64_encode_finish(&encoder, out);
}

/* Add the header "Upload-Metadata: filename ...,label ...". */
static void sender_add_metadata(struct upload_sender *sender, struct upload_exchange *exchange,
                                const char *name)
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

/* The upload of one file. */
struct upload_state {
    struct tv_source *file;
    const char *name;
    struct tv_progress *progress;
    char path[512];  /* address of the upload, from the server */
    char trace[512]; /* address of the trace; "": the upload is not complete */
    uint64_t offset; /* bytes that the server has */
    bool again;      /* a failed request is worth repeating */
};

/* Return the length of "http://host:port" at the start of an address; 0 for another scheme. */
static size_t sender_origin_length(const char *address)
{
    size_t scheme = 0;
    if (strncasecmp(address, "http://", 7) == 0)
        scheme = 7;
    else if (strncasecmp(address, "https://", 8) == 0)
        scheme = 8;
    return scheme > 0 ? scheme + strcspn(address + scheme, "/?#\\") : 0;
}

/* Refuse an upload address on another server than --to: file and token must not go there. */
static enum tv_status sender_check_address(const struct upload_sender *sender, const char *address,
                                           struct tv_error *err)
{
    size_t origin = sender_origin_length(address);
    if (address[0] == '/')
        return TV_OK;
    if (address[0] == '\0')
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "the server sent no address for the upload");
    if (origin == 0)
        return tv_fail(
            err, TV_ERR_USAGE, TV_NO_OFFSET,
            "the server redirects the upload to '%s': expected http://... or https://...", address);
    if (origin != sender_origin_length(sender->base) ||
        strncasecmp(address, sender->base, origin) != 0)
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "the server redirects the upload to another server, '%s'; nothing was sent "
                       "there: use --to with that server if you trust it",
                       address);
    return TV_OK;
}

/* Create the upload on the server; one attempt. */
static enum tv_status sender_create_once(struct upload_sender *sender, struct upload_state *sending,
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
    /* Do not retry a server that was never reached: it may not exist, or its certificate may be
     * wrong. */
    sending->again = exchange->status != NO_STATUS && sender_may_retry(exchange);
    if (exchange->status != 201)
        status = sender_fail(exchange, err);
    else
        status = sender_check_address(sender, sending->path, err);
    sender_exchange_free(sender, exchange);
    return status;
}

/* Create the upload; a busy server is asked again. */
static enum tv_status sender_create(struct upload_sender *sender, struct upload_state *sending,
                                    struct tv_error *err)
{
    unsigned tries = 0;
    enum tv_status status = sender_create_once(sender, sending, err);
    while (status != TV_OK && sending->again && sender_pause(&tries))
        status = sender_create_once(sender, sending, err);
    return status;
}

/* Take the state of the upload from a response: offset, and address of the trace. */
static enum tv_status sender_take_state(const struct upload_exchange *exchange,
                                        struct upload_state *sending, struct tv_error *err)
{
    sending->again = sender_may_retry(exchange);
    if (exchange->status / 100 != 2)
        return sender_fail(exchange, err);
    uint64_t size = tv_source_size(sending->file);
    if (exchange->offset != UINT64_MAX && exchange->offset > size) {
        sending->again = false;
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "the server reports more bytes than the file has");
    }
    if (exchange->offset != UINT64_MAX && exchange->offset < size && exchange->trace[0] != '\0') {
        sending->again = false;
        return tv_fail(err, TV_ERR_IO, TV_NO_OFFSET,
                       "the server calls the upload complete, but has %" PRIu64 " of %" PRIu64
                       " bytes",
                       exchange->offset, size);
    }
    if (exchange->offset != UINT64_MAX)
        sending->offset = exchange->offset;
    assert(sending->offset <= size);
    memcpy(sending->trace, exchange->trace, sizeof sending->trace);
    return TV_OK;
}

static enum tv_status sender_ask_state(struct upload_sender *sender, struct upload_state *sending,
                                       struct tv_error *err)
{
    struct upload_exchange *exchange = sender_exchange_new(sender);
    sender_perform(sender, exchange, "HEAD", sending->path);
    enum tv_status status = sender_take_state(exchange, sending, err);
    sender_exchange_free(sender, exchange);
    return status;
}

/* Send the remaining bytes in one request. */
static enum tv_status sender_send_rest(struct upload_sender *sender, struct upload_state *sending,
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
    if (exchange->unread.status != TV_OK) { /* another attempt would not help */
        sending->again = false;
        *err = exchange->unread;
        status = err->status;
    }
    sender_exchange_free(sender, exchange);
    return status;
}

/* Send all bytes. The number of attempts starts again whenever the server has more bytes than
 * before. */
static enum tv_status sender_send_all(struct upload_sender *sender, struct upload_state *sending,
                                      struct tv_error *err)
{
    unsigned tries = 0;
    uint64_t most = sending->offset;
    for (;;) {
        struct tv_error refused;
        enum tv_status status = sender_send_rest(sender, sending, err);
        bool again = sending->again;
        if (status == TV_OK && sending->trace[0] == '\0')
            status = tv_fail(err, TV_ERR_IO, TV_NO_OFFSET, "the server accepts no more data");
        if (status == TV_OK || !again || !sender_pause(&tries))
            return status;
        status = sender_ask_state(sender, sending, &refused);
        if (status == TV_OK && sending->trace[0] != '\0')
            return TV_OK;
        if (status != TV_OK && !sending->again) {
            *err = refused;
            return status;
        }
        if (sending->offset > most) {
            most = sending->offset;
            tries = 0;
        }
    }
}

/* Send a file.  Network failures are retried for some minutes, except when the server cannot be
 * reached at all.  *address becomes the address of the trace, which the caller frees. */
static enum tv_status sender_send(struct upload_sender *sender, struct tv_source *file,
                                  const char *name, struct tv_progress *progress, char **address,
                                  struct tv_error *err)
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

/* ---- The result ---- */

static struct tv_bytes sender_find_text(struct tv_bytes object, const char *key,
                                        struct tv_te_scratch *scratch)
{
    return tv_te_decode_text(tv_json_find(object, tv_bytes_of(key)).raw, scratch);
}

/* Evaluate the facts about a trace. TV_ERR_SYNTAX, with the server's message, when it could not
 * read the trace. *again: it has not finished yet. */
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

/* Query the state of the trace once. */
static enum tv_status sender_ask_trace(struct upload_sender *sender, const char *path, bool *again,
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

/* Wait until the server has read the trace.  TV_ERR_SYNTAX when it could not; a server that does
 * not report the state is not an error. */
static enum tv_status sender_await(struct upload_sender *sender, const char *address,
                                   struct tv_error *err)
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

/* ---- The command ---- */

static const struct tv_option push_options[] = {
    TV_OPTION("to", "URL", TV_OPTION_TEXT, push.to, "address of the server: http://host:8192/"),
    TV_OPTION("label", "TEXT", TV_OPTION_LIST, push.labels, "label for the traces (repeatable)"),
    TV_OPTION("token", "TEXT", TV_OPTION_TEXT, push.token,
              "token of the server; prefer --token-file, other users can see commands"),
    TV_OPTION("token-file", "FILE", TV_OPTION_TEXT, push.token_file,
              "read the token from the first line of a file"),
    TV_OPTION("user", "NAME:PASSWORD", TV_OPTION_TEXT, push.user,
              "name and password instead of a token"),
    TV_OPTION("q", NULL, TV_OPTION_FLAG, quiet, "print only errors: no progress"),
    TV_OPTION("help", NULL, TV_OPTION_FLAG, help, "show this help"),
    TV_OPTIONS_END,
};

/* Send one file, print the address of its trace, and wait until the server has read it. */
static enum tv_status cmd_push_file(struct upload_sender *sender,
                                    const struct tv_settings *settings, const char *path,
                                    struct tv_error *err)
{
    struct tv_source *file;
    struct tv_progress progress = {0};
    char *address = NULL;
    enum tv_status status = tv_inputs_open_argument(path, &file, err);
    if (status != TV_OK)
        return status;
    atomic_store(&progress.input_bytes, tv_source_size(file));
    atomic_store(&progress.total_bytes, tv_source_size(file));
    struct tv_meter *meter = tv_meter_start(&progress, settings->quiet);
    status = sender_send(sender, file, tv_inputs_shown_name(path), &progress, &address, err);
    tv_meter_stop(meter);
    if (status == TV_OK) {
        puts(address);
        fflush(stdout);
        status = sender_await(sender, address, err);
    }
    if (status != TV_OK)
        tv_error_prefix(err, "%s", path);
    tv_free(address);
    tv_source_free(file);
    return status;
}

static enum tv_status cmd_push_fail_unaddressed(const char *path, struct tv_error *err)
{
    return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                   "expected --to URL, or a line \"to = URL\" in %s", path);
}

/* Without --to, the user's file names the server and the token. With it the file is not read: its
 * token belongs to its own server. */
static enum tv_status cmd_push_prepare(struct tv_settings *settings, struct tv_error *err)
{
    char path[PATH_MAX], *text = NULL;
    struct stat info;
    if (settings->push.to ||
        !tv_user_folder_find(TV_USER_CONFIG, path, sizeof path - sizeof "/push"))
        return TV_OK;
    memcpy(path + strlen(path), "/push", sizeof "/push");
    if (stat(path, &info) != 0)
        return cmd_push_fail_unaddressed(path, err);
    if (info.st_uid != geteuid() || (info.st_mode & 077) != 0)
        return tv_fail(err, TV_ERR_USAGE, TV_NO_OFFSET,
                       "%s: it may hold a token, and other users can read it: chmod 600 it", path);
    enum tv_status status = tv_config_read(push_options, path, settings, &text, err);
    if (text)
        tv_words_add(&settings->owned, text);
    if (status == TV_OK && settings->push.to == NULL)
        status = cmd_push_fail_unaddressed(path, err);
    return status;
}

/* Send the files one after the other.  A file that fails does not keep the next ones from being
 * sent; the exit code is that of the last failure. */
static int cmd_push_run(const struct tv_command *command, const struct tv_settings *settings)
{
    struct upload_sender *sender = NULL;
    struct tv_error err = {0};
    const struct tv_words *files = &settings->files;
    if (settings->push.to == NULL) {
        tv_fail(&err, TV_ERR_USAGE, TV_NO_OFFSET, "expected --to URL");
        return tv_command_usage(command, &err);
    }
    if (sender_new(&settings->push, &sender, &err) != TV_OK)
        return tv_command_failed(command, &err);
    int code = TV_EXIT_OK;
    for (size_t i = 0; i < files->count; i++) {
        if (tv_inputs_is_second_half(files->items, i))
            continue;
        if (cmd_push_file(sender, settings, files->items[i], &err) != TV_OK)
            code = tv_command_failed(command, &err);
    }
    sender_free(sender);
    return code;
}

const struct tv_command tv_command_push = {
    .name = "push",
    .summary = "send traces to an upload server and print their addresses",
    .arguments = "[OPTION]... FILE...",
    .details = "An interrupted upload continues where it stopped.",
    .options = push_options,
    .min_files = 1,
    .max_files = TV_ANY_FILES,
    .prepare = cmd_push_prepare,
    .run = cmd_push_run,
};
