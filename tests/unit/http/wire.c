/* SPDX-License-Identifier: Apache-2.0 */
#include "wire.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"

/* ---- The handler ---- */

static void copy_text(char *to, size_t size, const void *text, size_t length)
{
    snprintf(to, size, "%.*s", (int)length, (const char *)text);
}

static bool is_path(const struct tv_request *request, const char *path)
{
    return tv_bytes_equal(request->path, tv_bytes_of(path));
}

static void note_sent(void *context)
{
    ((struct wire *)context)->sent++;
}

/* "abc...wabc..." */
struct letters {
    struct wire *wire;
    uint64_t at, end;
    bool breaks;
};

static enum tv_status read_letters(void *context, uint8_t *buffer, size_t size, size_t *got)
{
    struct letters *letters = context;
    uint64_t left = letters->end - letters->at;
    *got = size < left ? size : (size_t)left;
    if (*got > 1000)
        *got = 1000;
    for (size_t i = 0; i < *got; i++)
        buffer[i] = (uint8_t)('a' + (letters->at + i) % 23);
    letters->at += *got;
    return letters->breaks && letters->at == letters->end ? TV_ERR_IO : TV_OK;
}

static void close_letters(void *context)
{
    struct letters *letters = context;
    letters->wire->closed++;
    free(letters);
}

static void answer_letters(struct wire *wire, struct tv_answer *answer, uint64_t end,
                           uint64_t length, bool breaks)
{
    struct letters *letters = calloc(1, sizeof *letters);
    if (letters == NULL)
        abort();
    *letters = (struct letters){wire, 0, end, breaks};
    answer->stream = (struct tv_stream){read_letters, close_letters, letters, length};
}

static void answer_source(struct tv_answer *answer)
{
    struct tv_spool *spool = tv_spool_new("large");
    struct tv_error err;
    if (tv_spool_add(spool, TV_BYTES("from a file"), &err) != TV_OK)
        abort();
    answer->source = tv_spool_finish(spool);
    answer->ranges = true;
    answer->tag = "\"f\"";
}

static void answer_special(struct wire *wire, const struct tv_request *request,
                           struct tv_answer *answer)
{
    static const uint8_t constant[] = "from the rodata";
    const char *known = tv_request_header(request, "if-none-match");
    if (is_path(request, "/constant")) {
        answer->constant = (struct tv_bytes){constant, sizeof constant - 1};
        answer->tag = "\"7\"";
        if (known != NULL && strcmp(known, "\"7\"") == 0)
            answer->status = TV_HTTP_NOT_MODIFIED;
    } else if (is_path(request, "/large")) {
        answer_source(answer);
    } else if (is_path(request, "/stream")) {
        answer_letters(wire, answer, 2500, 2500, false);
    } else if (is_path(request, "/chunks")) {
        answer_letters(wire, answer, 2500, TV_HTTP_UNKNOWN_LENGTH, false);
    } else if (is_path(request, "/broken")) {
        answer_letters(wire, answer, 2500, TV_HTTP_UNKNOWN_LENGTH, true);
    } else if (is_path(request, "/many")) {
        answer_letters(wire, answer, WIRE_LONG, WIRE_LONG, false);
    } else if (is_path(request, "/nothing")) {
        answer->status = TV_HTTP_NO_CONTENT;
        tv_answer_header(answer, "Upload-Offset", "%d", 70);
    } else {
        tv_answer_header(answer, "Location", "/%s", "a\r\nSet-Cookie: b\n");
        for (size_t i = 0; i < TV_ANSWER_HEADERS; i++)
            tv_answer_header(answer, "X-More", "%zu", i);
    }
}

static void answer_request(void *context, const struct tv_request *request,
                           struct tv_answer *answer)
{
    static const char *const special[] = {"/constant", "/large", "/stream",  "/chunks",
                                          "/broken",   "/many",  "/headers", "/nothing"};
    struct wire *wire = context;
    const char *header = tv_request_header(request, "x-test");
    pthread_mutex_lock(&wire->lock);
    wire->method = request->method;
    wire->length = request->length;
    wire->secure = request->secure;
    wire->last = request->body ? wire->taken : 0;
    copy_text(wire->path, sizeof wire->path, request->path.data, request->path.length);
    copy_text(wire->query, sizeof wire->query, request->query, request->query_length);
    copy_text(wire->peer, sizeof wire->peer, request->peer, strlen(request->peer));
    copy_text(wire->header, sizeof wire->header, header, header != NULL ? strlen(header) : 0);
    pthread_mutex_unlock(&wire->lock);
    answer->type = "text/plain";
    answer->sent = note_sent;
    wire->answered++;
    while (is_path(request, "/wait") && !wire->go)
        usleep(1000);
    for (size_t i = 0; i < TV_COUNT(special); i++) {
        if (!is_path(request, special[i]))
            continue;
        answer_special(wire, request, answer);
        return;
    }
    tv_out_text(&answer->body, "made");
}

static enum tv_status take(void *context, struct tv_bytes piece, struct tv_answer *answer)
{
    struct wire *wire = context;
    (void)answer;
    for (size_t i = 0; i < piece.length; i++)
        if (piece.data[i] != 'a' + (wire->taken + i) % 23)
            wire->wrong = true;
    wire->taken += piece.length;
    return TV_OK;
}

static enum tv_status take_some(void *context, struct tv_bytes piece, struct tv_answer *answer)
{
    struct wire *wire = context;
    wire->taken += piece.length;
    if (wire->taken < 1000)
        return TV_OK;
    answer->status = TV_HTTP_INSUFFICIENT_STORAGE;
    answer->type = "application/json";
    tv_out_text(&answer->body, "{\"error\":\"the disk is full\"}");
    return TV_ERR_IO;
}

static enum tv_status take_slowly(void *context, struct tv_bytes piece, struct tv_answer *answer)
{
    struct wire *wire = context;
    wire->taking++;
    usleep(2000000);
    while (!wire->more)
        usleep(1000);
    return take(context, piece, answer);
}

static void end(void *context, bool whole)
{
    struct wire *wire = context;
    wire->ended_whole += whole;
    wire->ended++;
}

static bool begin(void *context, const struct tv_request *request, struct tv_body *body,
                  struct tv_answer *answer)
{
    struct wire *wire = context;
    wire->began++;
    if (request->query_length > 0)
        request->query[0] = '!'; /* like a handler that decodes in place */
    if (is_path(request, "/refused")) {
        answer->status = TV_HTTP_FORBIDDEN;
        answer->type = "text/plain";
        tv_out_text(&answer->body, "no");
        return false;
    }
    if (is_path(request, "/full"))
        body->take = take_some;
    else if (is_path(request, "/slow"))
        body->take = take_slowly;
    else if (is_path(request, "/taken"))
        body->take = take;
    if (body->take == NULL)
        return true;
    wire->begun++;
    body->end = end;
    body->context = wire;
    return true;
}

static void note(void *context, const struct tv_http_note *note)
{
    struct wire *wire = context;
    pthread_mutex_lock(&wire->lock);
    wire->note = *note;
    wire->note.path.data = NULL;
    wire->note.peer = NULL;
    pthread_mutex_unlock(&wire->lock);
    wire->noted++;
}

/* ---- Life cycle ---- */

int wire_make(void **state)
{
    struct wire *wire = calloc(1, sizeof *wire);
    if (wire == NULL)
        return 1;
    pthread_mutex_init(&wire->lock, NULL);
    *state = wire;
    return 0;
}

void wire_start(struct wire *wire)
{
    struct tv_handler handler = {answer_request, begin, note, wire};
    struct tv_error err = {0};
    if (tv_http_new(&wire->options, &handler, &wire->http, &err) != TV_OK ||
        tv_http_start(wire->http, &err) != TV_OK)
        fail_msg("%s", err.message);
    wire->port = tv_http_port(wire->http);
}

int wire_make_and_start(void **state)
{
    if (wire_make(state) != 0)
        return 1;
    wire_start(*state);
    return 0;
}

int wire_free(void **state)
{
    struct wire *wire = *state;
    wire->go = true;
    tv_http_free(wire->http);
    pthread_mutex_destroy(&wire->lock);
    free(wire);
    return 0;
}

/* ---- The client ---- */

int wire_try(unsigned port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    struct timeval patience = {.tv_sec = 60};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

int wire_connect(const struct wire *wire)
{
    int fd = wire_try(wire->port);
    assert_true(fd >= 0);
    return fd;
}

bool wire_send(int fd, const char *bytes, size_t length)
{
    for (size_t sent = 0; sent < length;) {
        ssize_t n = send(fd, bytes + sent, length - sent, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        sent += (size_t)n;
    }
    return true;
}

int wire_read(struct wire *wire, int fd)
{
    static const char start[] = "HTTP/1.1 ";
    char rest[4096];
    uint64_t status;
    wire->reply_length = 0;
    for (;;) {
        size_t left = sizeof wire->reply - 1 - wire->reply_length;
        ssize_t n = recv(fd, left > 0 ? wire->reply + wire->reply_length : rest,
                         left > 0 ? left : sizeof rest, 0);
        if (n <= 0)
            break;
        wire->reply_length += left > 0 ? (size_t)n : 0;
    }
    wire->reply[wire->reply_length] = '\0';
    close(fd);
    if (strncmp(wire->reply, start, sizeof start - 1) != 0 ||
        !tv_parse_u64((struct tv_bytes){(const uint8_t *)wire->reply + sizeof start - 1, 3},
                      &status))
        return 0;
    return (int)status;
}

int wire_ask_raw(struct wire *wire, const char *bytes, size_t length)
{
    int fd = wire_connect(wire);
    wire_send(fd, bytes, length);
    return wire_read(wire, fd);
}

size_t wire_head(const struct wire *wire, char *text, size_t size, const char *first,
                 const char *lines)
{
    int length =
        snprintf(text, size, "%s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nConnection: close\r\n%s\r\n",
                 first, wire->port, lines);
    assert_true((size_t)length < size);
    return (size_t)length;
}

int wire_ask(struct wire *wire, const char *method, const char *path, const char *lines)
{
    char text[4096], first[256];
    snprintf(first, sizeof first, "%s %s", method, path);
    return wire_ask_raw(wire, text, wire_head(wire, text, sizeof text, first, lines));
}

bool wire_replied(const struct wire *wire, const char *text)
{
    return strstr(wire->reply, text) != NULL;
}

char *wire_body(size_t size)
{
    char *body = malloc(size);
    assert_non_null(body);
    for (size_t i = 0; i < size; i++)
        body[i] = (char)('a' + i % 23);
    return body;
}

void wire_wait(const _Atomic size_t *counter, size_t least)
{
    while (atomic_load(counter) < least)
        usleep(1000);
}
